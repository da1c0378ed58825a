//! The one import point for locks, atomics and cells that threads share: under `cfg(loom)` they
//! are loom's, so that its models run the real code.
//!
//! A panic in a holder does not poison a lock, because everything that locks guard is left
//! consistent before foreign code runs.

#[cfg(loom)]
use loom::sync as source;
#[cfg(not(loom))]
use std::sync as source;

use std::ops::{Deref, DerefMut};
use std::sync::{PoisonError, TryLockError};
use std::time::Instant;

#[cfg(loom)]
pub(crate) use loom::thread::yield_now;
#[cfg(not(loom))]
pub(crate) use std::thread::yield_now;

pub(crate) mod atomic {
    pub(crate) use super::source::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering, fence};
}

/// A cell whose users synchronise by other means; loom watches that they do.
#[cfg(loom)]
pub(crate) use loom::cell::UnsafeCell;

/// A cell whose users synchronise by other means; loom watches that they do.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// A mutex without poisoning.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(source::Mutex<T>);

/// A lock that its thread holds.
pub(crate) struct MutexGuard<'a, T> {
    // Goes first: the count is never less than what is held.
    guard: source::MutexGuard<'a, T>,
    held: Held,
}

impl<'a, T> MutexGuard<'a, T> {
    #[inline]
    fn new(guard: source::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard { guard, held: Held::new() }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Counts a lock of the thread, where tests watch them.
struct Held(());

#[cfg(all(feature = "watch-locks", not(loom)))]
thread_local! {
    static HELD: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many locks of the engine this thread holds.
#[cfg(feature = "watch-locks")]
pub(crate) fn locks_held() -> usize {
    #[cfg(loom)]
    return 0;
    #[cfg(not(loom))]
    HELD.get()
}

impl Held {
    #[inline(always)]
    fn new() -> Held {
        #[cfg(all(feature = "watch-locks", not(loom)))]
        HELD.set(HELD.get() + 1);
        Held(())
    }
}

impl Drop for Held {
    #[inline(always)]
    fn drop(&mut self) {
        #[cfg(all(feature = "watch-locks", not(loom)))]
        HELD.set(HELD.get() - 1);
    }
}

/// Calls code of the program's that may run under the locks that this thread holds, since it does
/// nothing that would wait for them: they do not count meanwhile. The call does not panic.
#[inline(always)]
pub(crate) fn under_locks<R>(call: impl FnOnce() -> R) -> R {
    #[cfg(all(feature = "watch-locks", not(loom)))]
    let held = HELD.replace(0);
    let result = call();
    #[cfg(all(feature = "watch-locks", not(loom)))]
    HELD.set(held);
    result
}

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Mutex<T> {
        Mutex(source::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        #[cfg(test)]
        LOCKS.set(LOCKS.get() + 1);
        MutexGuard::new(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `None` when somebody has it locked.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        #[cfg(test)]
        LOCKS.set(LOCKS.get() + 1);
        match self.0.try_lock() {
            Ok(guard) => Some(MutexGuard::new(guard)),
            Err(TryLockError::Poisoned(poisoned)) => Some(MutexGuard::new(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(test)]
thread_local! {
    /// How many locks this thread has taken, or tried to.
    pub(crate) static LOCKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// A condition variable without poisoning.
#[derive(Debug, Default)]
pub(crate) struct Condvar(source::Condvar);

impl Condvar {
    pub(crate) fn new() -> Condvar {
        Condvar(source::Condvar::new())
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Waits for a notification, or until `until` has passed.
    pub(crate) fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        until: Option<Instant>,
    ) -> MutexGuard<'a, T> {
        let MutexGuard { guard, held } = guard;
        drop(held);
        MutexGuard::new(match until {
            None => self.0.wait(guard).unwrap_or_else(PoisonError::into_inner),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                self.0.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
            }
        })
    }
}

/// A value that is only ever moved, so that threads may share what it is in.
pub(crate) struct OnlyMoved<T>(T);

// SAFETY: no method takes `&self`, so threads that share it do not reach the value.
unsafe impl<T> Sync for OnlyMoved<T> {}

impl<T> OnlyMoved<T> {
    pub(crate) fn new(value: T) -> OnlyMoved<T> {
        OnlyMoved(value)
    }

    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}
