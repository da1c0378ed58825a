//! Kernels that drivers compile: counted, told to `tracing`, and shown where the program asks for
//! that.
//!
//! A compiler runs where a backend first needs the code, often under a lock. The thread that called
//! the compiler therefore notes the work, and tells it when that holds no lock of the engine's any
//! more.

use crate::foreign;
use crate::progress::{self, UnderWay};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// The most compilations that are noted until they are told.
const MOST_NOTED: usize = 64;

thread_local! {
    /// How many this thread has compiled.
    static COMPILED: Cell<u64> = const { Cell::new(0) };
    static NOTED: RefCell<Vec<Compiled>> = const { RefCell::new(Vec::new()) };
}

/// A compilation.
struct Compiled {
    device: String,
    kernel: String,
    time: Duration,
}

/// Runs a driver's compiler. Backends call this around what takes its time, and not around what a
/// cache has: so a program can be told why it waits, and [`prepare`](crate::DeviceRef::prepare)
/// counts.
pub fn compiling<R>(device: &str, kernel: &str, make: impl FnOnce() -> R) -> R {
    let running = Running::begin(device, kernel);
    let made = make();
    drop(running);
    made
}

/// While a compiler runs.
struct Running<'n> {
    device: &'n str,
    kernel: &'n str,
    begun: Instant,
    _shown: Option<UnderWay>,
}

impl Running<'_> {
    fn begin<'n>(device: &'n str, kernel: &'n str) -> Running<'n> {
        let shown = progress::begin(device, kernel);
        Running { device, kernel, begun: Instant::now(), _shown: shown }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // A thread that ends notes nothing more.
        let _ = COMPILED.try_with(|count| count.set(count.get() + 1));
        let _ = NOTED.try_with(|noted| {
            let Ok(mut noted) = noted.try_borrow_mut() else { return };
            if noted.len() < MOST_NOTED {
                let (device, kernel) = (self.device.to_owned(), self.kernel.to_owned());
                noted.push(Compiled { device, kernel, time: self.begun.elapsed() });
            }
        });
    }
}

/// How many programs this thread has compiled.
pub(crate) fn compiled_here() -> u64 {
    COMPILED.try_with(Cell::get).unwrap_or(0)
}

/// Tells what this thread has compiled. Called without any lock: a subscriber is foreign code.
#[inline]
pub(crate) fn tell() {
    let noted = NOTED.try_with(|noted| match noted.try_borrow_mut() {
        Ok(mut noted) if !noted.is_empty() => std::mem::take(&mut *noted),
        _ => Vec::new(),
    });
    let Ok(noted) = noted else { return };
    for Compiled { device, kernel, time } in noted {
        let microseconds = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        foreign::tell(|| {
            tracing::debug!(target: "folio", device, kernel, microseconds, "compiled");
        });
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn compilations_are_counted_by_thread_and_noted_once() {
        let before = compiled_here();
        assert_eq!(compiling("device", "first", || compiling("device", "inner", || 7)), 7);
        std::thread::scope(|scope| {
            scope.spawn(|| compiling("device", "of another thread", || ()));
        });
        assert_eq!(compiled_here(), before + 2);
        let noted = || NOTED.with_borrow(Vec::len);
        assert_eq!(noted(), 2);
        tell();
        assert_eq!(noted(), 0);
    }

    #[test]
    fn a_compiler_that_panics_is_not_under_way_any_more() {
        let before = compiled_here();
        let caught = std::panic::catch_unwind(|| compiling("device", "bad", || panic!("no")));
        assert!(caught.is_err());
        assert_eq!(compiled_here(), before + 1);
        tell();
    }
}
