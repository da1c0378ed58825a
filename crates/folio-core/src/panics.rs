//! Where panics of foreign code end: handlers, wakers, destructors of what users gave.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs foreign code. A panic ends here, and its payload is dropped.
pub(crate) fn contain(f: impl FnOnce()) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(f)) else { return };
    // The payload's drop is foreign code, too. If that panics as well, the second payload is
    // leaked.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}
