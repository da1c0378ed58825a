//! What submissions cost the ledger, for benchmarks. Counts with the feature `metrics` only.

/// Measures how long a submission holds the ledger; nothing without the feature.
pub(crate) struct Hold {
    #[cfg(feature = "metrics")]
    since: std::time::Instant,
}

impl Hold {
    #[inline(always)]
    pub(crate) fn begin() -> Hold {
        Hold {
            #[cfg(feature = "metrics")]
            since: std::time::Instant::now(),
        }
    }

    #[inline(always)]
    pub(crate) fn end(self) {
        #[cfg(feature = "metrics")]
        HELD.fetch_add(
            self.since.elapsed().as_nanos() as u64,
            std::sync::atomic::Ordering::Relaxed,
        );
    }
}

#[cfg(feature = "metrics")]
static HELD: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// How long the submissions of this process have held a ledger.
#[cfg(feature = "metrics")]
pub fn ledger_held() -> std::time::Duration {
    std::time::Duration::from_nanos(HELD.load(std::sync::atomic::Ordering::Relaxed))
}
