//! Calls of drivers that take themselves down when the process ends.

use std::cell::Cell;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How many threads are in calls.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// The process ends.
static OVER: AtomicBool = AtomicBool::new(false);

/// A process that ends waits no longer for calls: a kernel may take forever.
const LONG: Duration = Duration::from_secs(5);

thread_local! {
    static BEGUN: Cell<bool> = const { Cell::new(false) };
    /// Whether the thread ends the process.
    static LAST: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread is in calls of a driver, until this is dropped.
///
/// When a process ends, what libraries registered for that runs in turn, the last one first, while
/// other threads go on. A driver that takes itself down then may crash in calls of other threads.
/// A backend over such a driver holds this in each of its calls: then the end of the process waits
/// for them (five seconds at most), and threads that begin calls later stay where they are, but for
/// the one that ends the process. A thread in calls of another driver has begun already.
///
/// A thread begins calls before it takes a lock that others need in theirs. In calls it waits for
/// the driver, and for threads that end where they cannot [begin](Calls::try_begin) some: else the
/// process ends only after those seconds. So it does if a task of the program's that records
/// commands takes as long. The thread that ends the process must not wait for others that are in
/// calls.
#[must_use]
#[derive(Debug)]
pub struct Calls {
    outermost: bool,
    /// Of this thread.
    _own: PhantomData<*const ()>,
}

impl Calls {
    /// Begins calls. When the process ends, the thread stays here.
    #[inline]
    pub fn begin() -> Calls {
        Calls::try_begin().unwrap_or_else(|| {
            loop {
                thread::park();
            }
        })
    }

    /// Begins calls, unless the process ends.
    #[inline]
    pub fn try_begin() -> Option<Calls> {
        let outermost = !BEGUN.replace(true);
        if outermost {
            INSIDE.fetch_add(1, Ordering::SeqCst);
            if OVER.load(Ordering::SeqCst) && !LAST.get() {
                BEGUN.set(false);
                INSIDE.fetch_sub(1, Ordering::SeqCst);
                return None;
            }
        }
        Some(Calls { outermost, _own: PhantomData })
    }

    /// Whether the process ends. Drivers may have taken themselves down: nothing is destroyed any
    /// more.
    pub fn are_over() -> bool {
        OVER.load(Ordering::SeqCst)
    }

    /// Has the end of the process wait for calls. To be called when a device has been opened: so
    /// it comes before what its driver has registered by then.
    pub fn end_with_the_process() {
        unsafe extern "C" {
            fn atexit(call: extern "C" fn()) -> c_int;
        }
        // SAFETY: C's own function, which keeps the address of a function that stays. Refused, the
        // end goes unnoticed.
        let _ = unsafe { atexit(end) };
    }
}

impl Drop for Calls {
    #[inline]
    fn drop(&mut self) {
        if self.outermost {
            BEGUN.set(false);
            INSIDE.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

extern "C" fn end() {
    LAST.set(true);
    if OVER.swap(true, Ordering::SeqCst) {
        return;
    }
    let (begun, own) = (Instant::now(), usize::from(BEGUN.get()));
    while INSIDE.load(Ordering::SeqCst) > own && begun.elapsed() < LONG {
        thread::sleep(Duration::from_micros(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::sync::mpsc::{RecvTimeoutError, channel};

    /// The end of the process waits for calls; threads that begin some later stay where they are,
    /// but for the one that ends the process. In a process of its own, which ends.
    #[test]
    fn the_end_waits_for_calls() {
        const ALONE: &str = "FOLIO_CALLS_END";
        if std::env::var_os(ALONE).is_none() {
            let mut own = Command::new(std::env::current_exe().unwrap());
            let name = "hal::calls::tests::the_end_waits_for_calls";
            let out = own.args([name, "--exact"]).env(ALONE, "1").output().unwrap();
            let said = String::from_utf8_lossy(&out.stdout);
            assert!(out.status.success() && said.contains("1 passed"), "{said}");
            return;
        }
        let (said, heard) = channel();
        let long = {
            let said = said.clone();
            thread::spawn(move || {
                let _calls = (Calls::begin(), Calls::begin());
                said.send("begun").unwrap();
                thread::sleep(Duration::from_millis(50));
                said.send("ended").unwrap();
            })
        };
        assert_eq!(heard.recv(), Ok("begun"));
        end();
        assert_eq!(heard.try_recv(), Ok("ended"));
        long.join().unwrap();
        thread::spawn(move || {
            let _calls = Calls::begin();
            said.send("too late").unwrap();
        });
        assert_eq!(heard.recv_timeout(Duration::from_millis(100)), Err(RecvTimeoutError::Timeout));
        assert!(Calls::are_over());
        assert!(thread::spawn(|| Calls::try_begin().is_none()).join().unwrap());
        drop(Calls::begin());
        assert_eq!(INSIDE.load(Ordering::SeqCst), 0);
    }
}
