//! The one import point for what the threads of a round share: under `cfg(loom)` its locks and
//! atomics are loom's, so that the models run the real code (see `crew::models`).

#[cfg(loom)]
use loom::sync as source;
#[cfg(not(loom))]
use std::sync as source;

use std::time::{Duration, Instant};

pub(crate) use source::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
pub(crate) use source::{Condvar, Mutex};

/// How long a thread looks for work before it sleeps: several times what waking it would take.
pub(crate) const LOOK: Duration = Duration::from_micros(50);
/// How often a thread looks for something before it looks at the clock.
pub(crate) const SPINS: usize = if cfg!(loom) { 1 } else { 32 };

/// A line of the cache, or two that processors load together, so that no two words share one.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Line<T>(pub T);

/// Stores a word before this thread loads others. Of two threads that each announce a word, and
/// then load the other's with `SeqCst`, one finds what the other has announced.
#[inline(always)]
pub(crate) fn announce(store: impl FnOnce(Ordering)) {
    store(Ordering::SeqCst);
    // Loom takes these accesses for an acquire and a release.
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// A time in which a thread looks for something. No time passes in a model: a thread that does not
/// find it at once does what it does in the end.
pub(crate) struct Spell(Instant);

impl Spell {
    pub(crate) fn of(time: Duration) -> Spell {
        Spell(Instant::now() + time)
    }

    pub(crate) fn is_over(&self) -> bool {
        cfg!(loom) || Instant::now() > self.0
    }
}
