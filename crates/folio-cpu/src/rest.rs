//! Threads that have nothing to do, and how work that is brought finds one.
//!
//! A thread is asleep, or awake. A single thread of those that look for work is the *sentinel*. A
//! thread that brings work makes it visible, changes `news`, and calls a sleeping thread only if
//! there is no sentinel.
//!
//! - A thread reads `news`, looks for work, and then waits for `news` to change. A sentinel that
//!   stops looking first gives that up, and then reads `news` once more.
//! - A thread that falls asleep first counts itself in `asleep`, and then reads `news` once more. A
//!   thread that calls takes one out of the count: so no call is for a thread that is awake.
//!
//! Each of these is announced before the other side's word is read. A bringer that finds a
//! sentinel, or no thread asleep, has therefore changed `news` before the last look of that thread.

use crate::sync::{
    AtomicBool, AtomicU64, AtomicUsize, Line, Mutex, Ordering, SPINS, Spell, announce,
};
use std::collections::VecDeque;
use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

pub(crate) struct Rest {
    /// Changes whenever there may be something new to do.
    news: Line<AtomicU64>,
    /// Whether one of the threads that look is the sentinel.
    sentinel: Line<AtomicBool>,
    /// Threads that sleep, and have not been called.
    asleep: Line<AtomicUsize>,
}

impl Rest {
    /// So many threads are asleep.
    pub(crate) fn new(asleep: usize) -> Rest {
        let asleep = Line(AtomicUsize::new(asleep));
        Rest { news: Line::default(), sentinel: Line::default(), asleep }
    }

    /// There is something new to do.
    pub(crate) fn tell(&self) {
        announce(|order| {
            self.news.0.fetch_add(1, order);
        });
    }

    pub(crate) fn news(&self) -> u64 {
        self.news.0.load(Ordering::SeqCst)
    }

    /// A thread is awake that takes what has been told.
    pub(crate) fn has_sentinel(&self) -> bool {
        self.sentinel.0.load(Ordering::SeqCst)
    }

    /// Threads that could be called, about.
    pub(crate) fn asleep(&self) -> usize {
        self.asleep.0.load(Ordering::Relaxed)
    }

    /// Takes one thread out of the count of those asleep, to call it.
    pub(crate) fn take_sleeper(&self) -> bool {
        let order = Ordering::SeqCst;
        self.asleep.0.fetch_update(order, order, |asleep| asleep.checked_sub(1)).is_ok()
    }

    /// A thread may be called.
    pub(crate) fn add_sleeper(&self) {
        announce(|order| {
            self.asleep.0.fetch_add(1, order);
        });
    }

    /// This thread sleeps from here on, unless there is news since it has seen some.
    pub(crate) fn falls_asleep(&self, seen: u64) -> bool {
        self.add_sleeper();
        self.news() == seen || !self.take_sleeper()
    }

    /// Waits so long for news; `false` if there is none.
    pub(crate) fn look(&self, seen: u64, time: Duration, relax: impl Fn()) -> bool {
        let (spell, mut is_sentinel) = (Spell::of(time), false);
        loop {
            if !is_sentinel && !self.sentinel.0.load(Ordering::Relaxed) {
                is_sentinel = !self.sentinel.0.swap(true, Ordering::SeqCst);
            }
            let changed = (0..SPINS).any(|_| {
                std::hint::spin_loop();
                self.news.0.load(Ordering::Relaxed) != seen
            });
            if changed || spell.is_over() {
                break;
            }
            relax();
        }
        if is_sentinel {
            announce(|order| self.sentinel.0.store(false, order));
        }
        self.news() != seen
    }
}

/// Work that waits for a thread: first in, first out.
pub(crate) struct Ready<T> {
    list: Mutex<VecDeque<T>>,
    /// How many are in the list.
    waiting: AtomicUsize,
}

impl<T> Default for Ready<T> {
    fn default() -> Ready<T> {
        Ready { list: Mutex::default(), waiting: AtomicUsize::new(0) }
    }
}

impl<T> Ready<T> {
    /// The bringer [tells](Rest::tell) of it then.
    pub(crate) fn push(&self, work: T) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push_back(work);
        self.waiting.store(list.len(), Ordering::SeqCst);
    }

    /// What has waited longest. None also while another thread takes some, or brings some, and will
    /// tell so.
    pub(crate) fn oldest(&self) -> Option<T> {
        if self.waiting.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let mut list = match self.list.try_lock() {
            Ok(list) => list,
            Err(TryLockError::Poisoned(list)) => list.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let oldest = list.pop_front();
        self.waiting.store(list.len(), Ordering::SeqCst);
        oldest
    }

    /// Some may wait.
    pub(crate) fn is_crowded(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0
    }
}
