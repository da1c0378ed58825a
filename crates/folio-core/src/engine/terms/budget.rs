//! How much memory may be allocated somewhere.

use std::sync::atomic::{AtomicU64, Ordering};

/// How much may be allocated somewhere, and how much is.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: AtomicU64,
    in_use: AtomicU64,
}

impl Budget {
    pub(crate) const fn new(limit: u64) -> Budget {
        Budget { limit: AtomicU64::new(limit), in_use: AtomicU64::new(0) }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    pub(crate) fn in_use(&self) -> u64 {
        self.in_use.load(Ordering::Relaxed)
    }

    pub(crate) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Takes `bytes`; `false`, and nothing taken, when that is too much.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let limit = self.limit();
        let take = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= limit);
        self.in_use.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    pub(crate) fn give(&self, bytes: u64) {
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }
}
