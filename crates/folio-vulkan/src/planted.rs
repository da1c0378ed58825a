//! Mistakes that tests plant in the devices of a backend.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Planted {
    /// The how manieth barrier from here on is not recorded; 0: all are.
    barrier: AtomicU64,
    /// The next submission loses the device.
    loss: AtomicBool,
}

impl Planted {
    pub(crate) fn omit_barrier(&self, nth: u64) {
        self.barrier.store(nth, Ordering::Relaxed);
    }

    pub(crate) fn lose_device(&self) {
        self.loss.store(true, Ordering::Relaxed);
    }

    /// Whether a barrier is left out, which is asked before each.
    pub(crate) fn omits(&self) -> bool {
        let next = |nth: u64| nth.checked_sub(1);
        let asked = self.barrier.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        asked == Ok(1)
    }

    /// Whether this submission loses the device.
    pub(crate) fn loses(&self) -> bool {
        self.loss.swap(false, Ordering::Relaxed)
    }
}
