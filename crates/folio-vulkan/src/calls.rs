//! Calls of the driver while the validation layer looks at them.
//!
//! The layer (1.3.239) finds what it knows of a device in a map that all devices of the process
//! share, and takes no lock for that. So a call crashes that runs while another thread makes or
//! destroys any device (docs/drivers.md). With the layer, a thread in this crate's calls holds
//! [`CALLS`] for reading, and one that makes or destroys a device holds it for writing. Without the
//! layer nothing is held.
//!
//! A thread takes it before any other lock of the crate. While it holds it, it waits for the driver
//! and for threads that hold it, too, and calls nothing of the program's: so it always comes back.
//! Commands that an interop task records by itself are not guarded.

use std::cell::Cell;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static CALLS: RwLock<()> = RwLock::new(());

thread_local! {
    /// This thread holds it.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A thread is in calls.
#[must_use]
pub(crate) struct Inside(Option<RwLockReadGuard<'static, ()>>);

/// No other thread is.
#[must_use]
pub(crate) struct Alone(Option<RwLockWriteGuard<'static, ()>>);

/// Begins calls. `looks`: the layer is on.
pub(crate) fn inside(looks: bool) -> Inside {
    let begins = looks && !INSIDE.get();
    INSIDE.set(INSIDE.get() || begins);
    Inside(begins.then(|| CALLS.read().unwrap_or_else(PoisonError::into_inner)))
}

/// Begins the making or the end of a device.
pub(crate) fn alone(looks: bool) -> Alone {
    let begins = looks && !INSIDE.get();
    INSIDE.set(INSIDE.get() || begins);
    Alone(begins.then(|| CALLS.write().unwrap_or_else(PoisonError::into_inner)))
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.0.take().is_some() {
            INSIDE.set(false);
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if self.0.take().is_some() {
            INSIDE.set(false);
        }
    }
}
