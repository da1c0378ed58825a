//! Where one thread sleeps until another one has changed a word.
//!
//! The sleeper announces that it sleeps, and then looks at the word once more; the other thread
//! announces the word, and then looks whether one sleeps. One of them therefore sees the other. The
//! sleeper holds the lock from its last look on until it sleeps, so it does not miss the call.

use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, announce};
use std::sync::PoisonError;

#[derive(Default)]
pub(crate) struct Bed {
    sleeps: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Bed {
    /// Announces a word, and wakes the sleeper.
    #[inline]
    pub(crate) fn rouse(&self, store: impl FnOnce(Ordering)) {
        announce(store);
        if self.sleeps.load(Ordering::SeqCst) {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }

    /// Sleeps until [`rouse`](Self::rouse), unless there is something to do; may wake without.
    pub(crate) fn sleep_unless(&self, ready: impl Fn() -> bool) {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        announce(|order| self.sleeps.store(true, order));
        if !ready() {
            drop(self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner));
        }
        self.sleeps.store(false, Ordering::Relaxed);
    }
}
