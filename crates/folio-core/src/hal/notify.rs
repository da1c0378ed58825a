//! How a backend tells the engine that there is progress.

use crate::sync::atomic::{AtomicBool, Ordering, fence};
use std::fmt;
use std::sync::Arc;

/// Called by a backend, from any of its threads, after a lane made progress. Cheap when nobody
/// waits: one atomic load.
#[derive(Clone)]
pub struct Notify(Arc<Inner>);

struct Inner {
    armed: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Notify {
    /// `wake` runs at most once per [`Notify::arm`]. It must be short and must not block.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Notify {
        Notify(Arc::new(Inner { armed: AtomicBool::new(false), wake: Box::new(wake) }))
    }

    /// One that tells nobody.
    pub fn none() -> Notify {
        Notify::new(|| {})
    }

    /// Asks for the next progress to be told. Whoever arms must look at the lanes once more
    /// before sleeping: progress made before is not told again.
    pub fn arm(&self) {
        self.0.armed.store(true, Ordering::Relaxed);
        // Orders the store before the caller's look at the lanes: see `progress`.
        fence(Ordering::SeqCst);
    }

    /// There is progress. Call it after the progress is visible through
    /// [`completed`](super::Lane::completed), holding no lock that `completed` takes.
    pub fn progress(&self) {
        // Two fences: the caller's store of its progress and this load, against the engine's
        // store in `arm` and its look at the progress. One of the two sees the other.
        fence(Ordering::SeqCst);
        if self.0.armed.load(Ordering::Relaxed) && self.0.armed.swap(false, Ordering::AcqRel) {
            (self.0.wake)();
        }
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").field("armed", &self.0.armed).finish()
    }
}
