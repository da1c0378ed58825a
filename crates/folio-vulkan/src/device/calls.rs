//! Calls of the driver. The process may end beside them, and the validation layer looks at them.
//!
//! NVIDIA's driver takes itself down when the process ends, and crashes in calls of other threads
//! (docs/drivers.md): a thread in this crate's calls holds [`Calls`].
//!
//! The layer (1.3.239) finds what it knows of instances and devices in one map of the process, and
//! takes no lock for that. A call therefore crashes that runs while another thread makes or
//! destroys one (docs/drivers.md). With the layer, a thread in this crate's calls holds [`CALLS`]
//! for reading, and one that makes or destroys an instance or a device holds it for writing.
//!
//! A thread takes both before any other lock of the crate. In calls it waits for the driver and for
//! threads that are in calls, too, and calls nothing of the program's: so it always comes back. A
//! device whose last handle goes while its thread is in calls is destroyed when they have ended.
//! Commands that an interop task records by itself are not guarded.

use folio_core::hal::Calls;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static CALLS: RwLock<()> = RwLock::new(());

/// The state of this thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThreadState {
    Outside,
    /// The thread holds the lock for reading.
    Inside,
    /// The thread holds the lock for writing.
    Alone,
}

type End = Box<dyn FnOnce()>;

thread_local! {
    static STATE: Cell<ThreadState> = const { Cell::new(ThreadState::Outside) };
    /// Devices that end when the calls that the thread is in have ended. Never dropped, so that a
    /// handle that goes with its thread finds it; empty whenever the thread is outside.
    static LATER: ManuallyDrop<RefCell<Vec<End>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// A thread is in calls.
#[must_use]
pub(crate) struct Inside(
    Option<RwLockReadGuard<'static, ()>>,
    #[expect(dead_code, reason = "it is held")] Calls,
);

/// No other thread is, with the layer.
#[must_use]
pub(crate) struct Alone(
    Option<RwLockWriteGuard<'static, ()>>,
    #[expect(dead_code, reason = "it is held")] Calls,
);

/// Begins calls. `looks`: the layer is on.
pub(crate) fn inside(looks: bool) -> Inside {
    let calls = Calls::begin();
    let begins = looks && STATE.get() == ThreadState::Outside;
    let lock = begins.then(|| {
        STATE.set(ThreadState::Inside);
        CALLS.read().unwrap_or_else(PoisonError::into_inner)
    });
    Inside(lock, calls)
}

/// Begins the making of an instance or a device, which no thread does in calls.
pub(crate) fn alone(looks: bool) -> Alone {
    debug_assert!(!looks || STATE.get() != ThreadState::Inside, "a device is made in calls");
    let calls = Calls::begin();
    let begins = looks && STATE.get() == ThreadState::Outside;
    let lock = begins.then(|| {
        STATE.set(ThreadState::Alone);
        CALLS.write().unwrap_or_else(PoisonError::into_inner)
    });
    Alone(lock, calls)
}

/// Ends a device: at once, or when the calls that this thread is in have ended.
pub(crate) fn end(looks: bool, ends: impl FnOnce() + 'static) {
    if looks && STATE.get() == ThreadState::Inside {
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
        STATE.set(ThreadState::Outside);
        let later = LATER.with(|later| later.take());
        if !later.is_empty() {
            let _alone = alone(true);
            later.into_iter().for_each(|ends| ends());
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if self.0.take().is_some() {
            STATE.set(ThreadState::Outside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    /// A device that ends in calls ends after the outermost of them, alone; a device that ends
    /// alone or outside ends at once.
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
        assert_eq!(STATE.get(), ThreadState::Outside);
        let expected = [
            ("device", ThreadState::Alone),
            ("of a device", ThreadState::Alone),
            ("outside", ThreadState::Alone),
            ("without the layer", ThreadState::Outside),
        ];
        assert_eq!(*seen.borrow(), expected);
    }
}
