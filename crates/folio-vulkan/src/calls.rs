//! Calls of the driver, beside which nothing else may happen.
//!
//! When the process ends, what libraries registered for that runs in turn, the last one first, while
//! other threads go on. NVIDIA's driver takes itself down then, and crashes in calls of other
//! threads (docs/drivers.md). So [`notice_the_end`] registers [`stop`], which comes before the
//! driver's: it waits for the threads in this crate's calls, and those that come later stay where
//! they are.
//!
//! The validation layer (1.3.239) finds what it knows of instances and devices in one map of the
//! process, and takes no lock for that. So a call crashes that runs while another thread makes or
//! destroys one (docs/drivers.md). With the layer, a thread in calls holds [`CALLS`] for reading,
//! and one that makes or destroys an instance or a device holds it for writing.
//!
//! A thread begins calls before it takes any other lock of the crate. In them it waits for the
//! driver and for threads that are in calls, too, and calls nothing of the program's: so it always
//! comes back. A device whose last handle goes while its thread is in calls is destroyed when they
//! have ended. Commands that an interop task records by itself are not guarded.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

static CALLS: RwLock<()> = RwLock::new(());

/// How many threads are in calls.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// The process ends.
static ENDS: AtomicBool = AtomicBool::new(false);

/// A process that ends waits no longer for calls: a kernel may take forever.
const LONG: Duration = Duration::from_secs(5);

/// What this thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outside,
    /// It is in calls, and holds the lock for reading with the layer.
    Inside,
    /// It holds the lock for writing.
    Alone,
}

type End = Box<dyn FnOnce()>;

thread_local! {
    static STATE: Cell<State> = const { Cell::new(State::Outside) };
    /// It ends the process.
    static LAST: Cell<bool> = const { Cell::new(false) };
    /// What ends when the calls that it is in have ended. Never dropped, so that a handle that goes
    /// with its thread finds it; empty whenever the thread is outside.
    static LATER: ManuallyDrop<RefCell<Vec<End>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// A thread is in calls; the outermost of them says so.
struct Calls;

impl Calls {
    fn begin(state: State) -> Option<Calls> {
        if STATE.get() != State::Outside {
            return None;
        }
        INSIDE.fetch_add(1, Ordering::SeqCst);
        if ENDS.load(Ordering::SeqCst) && !LAST.get() {
            INSIDE.fetch_sub(1, Ordering::SeqCst);
            loop {
                thread::park();
            }
        }
        STATE.set(state);
        Some(Calls)
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        STATE.set(State::Outside);
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A thread is in calls.
#[must_use]
pub(crate) struct Inside(Option<(Option<RwLockReadGuard<'static, ()>>, Calls)>);

/// No other thread is, with the layer.
#[must_use]
pub(crate) struct Alone {
    // In the order in which they end.
    _lock: Option<RwLockWriteGuard<'static, ()>>,
    _calls: Option<Calls>,
}

/// Begins calls. `looks`: the layer is on.
pub(crate) fn inside(looks: bool) -> Inside {
    Inside(Calls::begin(State::Inside).map(|calls| {
        let lock = looks.then(|| CALLS.read().unwrap_or_else(PoisonError::into_inner));
        (lock, calls)
    }))
}

/// Begins the making of an instance or a device, which no thread does in calls.
pub(crate) fn alone(looks: bool) -> Alone {
    debug_assert!(!looks || STATE.get() != State::Inside, "a device is made in calls");
    let calls = Calls::begin(if looks { State::Alone } else { State::Inside });
    let begins = looks && calls.is_some();
    let lock = begins.then(|| CALLS.write().unwrap_or_else(PoisonError::into_inner));
    Alone { _lock: lock, _calls: calls }
}

/// Ends a device: at once, or when the calls that this thread is in have ended.
pub(crate) fn end(looks: bool, ends: impl FnOnce() + 'static) {
    if looks && STATE.get() == State::Inside {
        return LATER.with(|later| later.borrow_mut().push(Box::new(ends)));
    }
    let _alone = alone(looks);
    ends();
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.0.take().is_none() {
            return;
        }
        let later = LATER.with(|later| later.take());
        if !later.is_empty() {
            let _alone = alone(true);
            later.into_iter().for_each(|ends| ends());
        }
    }
}

/// The process ends, and the driver may have taken itself down: nothing is destroyed any more.
pub(crate) fn over() -> bool {
    ENDS.load(Ordering::SeqCst)
}

/// Has the end of the process wait for calls. To be called once the driver is there, so that it
/// comes before the driver's.
pub(crate) fn notice_the_end() {
    static ONCE: Once = Once::new();
    unsafe extern "C" {
        fn atexit(call: extern "C" fn()) -> c_int;
    }
    ONCE.call_once(|| {
        // SAFETY: C's own function, which keeps the address of a function that stays. Refused, the
        // end goes unnoticed.
        let _ = unsafe { atexit(stop) };
    });
}

extern "C" fn stop() {
    LAST.set(true);
    ENDS.store(true, Ordering::SeqCst);
    let (begun, own) = (Instant::now(), usize::from(STATE.get() != State::Outside));
    while INSIDE.load(Ordering::SeqCst) > own && begun.elapsed() < LONG {
        thread::sleep(Duration::from_micros(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::rc::Rc;
    use std::sync::mpsc::{RecvTimeoutError, channel};

    /// What ends in calls ends after the outermost of them, alone; what ends alone or outside, at
    /// once.
    #[test]
    fn what_ends_in_calls_ends_after_them() {
        let seen = Rc::new(RefCell::new(vec![]));
        let note = |name: &'static str| {
            let seen = seen.clone();
            move || seen.borrow_mut().push((name, STATE.get()))
        };
        let outer = inside(true);
        end(true, note("device"));
        let nested = inside(true);
        let again = note("of a device");
        end(true, move || end(true, again));
        drop(nested);
        assert!(seen.borrow().is_empty());
        drop(outer);
        end(true, note("outside"));
        end(false, note("without the layer"));
        assert_eq!(STATE.get(), State::Outside);
        let expected = [
            ("device", State::Alone),
            ("of a device", State::Alone),
            ("outside", State::Alone),
            ("without the layer", State::Inside),
        ];
        assert_eq!(*seen.borrow(), expected);
    }

    /// The end of the process waits for calls; threads that begin some later stay where they are,
    /// but for the one that ends the process. In a process of its own, which ends.
    #[test]
    fn the_end_waits_for_calls() {
        const ALONE: &str = "FOLIO_CALLS_END";
        if std::env::var_os(ALONE).is_none() {
            let mut own = Command::new(std::env::current_exe().unwrap());
            let own =
                own.args(["calls::tests::the_end_waits_for_calls", "--exact"]).env(ALONE, "1");
            let out = own.output().unwrap();
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
            return;
        }
        let (said, heard) = channel();
        let long = {
            let said = said.clone();
            thread::spawn(move || {
                let _calls = (inside(false), inside(false));
                said.send("begun").unwrap();
                thread::sleep(Duration::from_millis(50));
                said.send("ended").unwrap();
            })
        };
        assert_eq!(heard.recv(), Ok("begun"));
        stop();
        assert_eq!(heard.try_recv(), Ok("ended"));
        long.join().unwrap();
        thread::spawn(move || {
            let _calls = inside(false);
            said.send("too late").unwrap();
        });
        assert_eq!(heard.recv_timeout(Duration::from_millis(100)), Err(RecvTimeoutError::Timeout));
        assert!(over());
        drop(inside(false));
        assert_eq!(INSIDE.load(Ordering::SeqCst), 0);
    }
}
