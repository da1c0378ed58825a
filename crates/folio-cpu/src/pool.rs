//! The machine: its threads, its memory, and the lanes that wait for a thread.
//!
//! A lane that needs a thread is put into one first-in-first-out list, and the pool gets an
//! anonymous job that takes *the oldest* lane from it. (Rayon's own order would let a lane that
//! puts itself back starve the others.)

use crate::cost::Costs;
use crate::driver::{self, Driver};
use crate::lane::Core;
use crate::lock;
use crate::memory::Memory;
use rayon_core::{ThreadPool, ThreadPoolBuilder, Yield, join};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

/// What all devices of a backend share. Every lane holds it, so that neither memory nor threads
/// end before the last operation.
pub(crate) struct Machine {
    pub threads: usize,
    pub costs: Costs,
    pub memories: Box<[Memory]>,
    epoch: Instant,
    /// `None` inside: the system gave no threads, and everything runs on callers' threads.
    pool: OnceLock<Option<ThreadPool>>,
    ready: Mutex<Ready>,
}

#[derive(Default)]
struct Ready {
    lanes: VecDeque<Arc<Core>>,
    /// Without a pool: somebody is at it.
    draining: bool,
}

/// How deep operations may stand on one thread's stack, each run while the one below waits.
const MAX_DEPTH: u32 = 8;

thread_local! {
    /// How many operations on this thread's stack wait for the pool, and let it run others.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// True while this thread works on something else inside an operation: what it starts then should
/// be short, since that operation's end waits for it.
pub(crate) fn nested() -> bool {
    DEPTH.get() > 0
}

/// `inside` does not panic.
fn nest<R>(inside: impl FnOnce() -> R) -> R {
    DEPTH.set(DEPTH.get() + 1);
    let result = inside();
    DEPTH.set(DEPTH.get() - 1);
    result
}

impl Machine {
    pub(crate) fn new(threads: usize, memories: Box<[Memory]>) -> Machine {
        Machine {
            threads,
            costs: Costs::new(),
            memories,
            epoch: Instant::now(),
            pool: OnceLock::new(),
            ready: Mutex::default(),
        }
    }

    /// A machine that never gets threads.
    #[cfg(test)]
    pub(crate) fn without_threads() -> Machine {
        let machine = Machine::new(1, Box::new([Memory::new(1 << 20, true)]));
        machine.pool.get_or_init(|| None);
        machine
    }

    fn pool(&self) -> Option<&ThreadPool> {
        let start = || {
            ThreadPoolBuilder::new()
                .num_threads(self.threads)
                .thread_name(|i| format!("folio-cpu-{i}"))
                .build()
                .ok()
        };
        self.pool.get_or_init(start).as_ref()
    }

    /// Nanoseconds since the machine was made.
    pub(crate) fn clock(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.epoch).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Gives `lane`, which is marked as queued, to the pool.
    pub(crate) fn enqueue(self: &Arc<Machine>, lane: Arc<Core>) {
        lock(&self.ready).lanes.push_back(lane);
        match self.pool() {
            Some(pool) => {
                let machine = Arc::clone(self);
                pool.spawn(move || machine.run_oldest());
            }
            None => self.drain(),
        }
    }

    /// Somebody is waiting for a thread.
    pub(crate) fn crowded(&self) -> bool {
        !lock(&self.ready).lanes.is_empty()
    }

    fn run_oldest(&self) {
        let oldest = lock(&self.ready).lanes.pop_front();
        if let Some(lane) = oldest {
            driver::run_queued(&lane, Driver::Pool);
        }
    }

    fn drain(&self) {
        if std::mem::replace(&mut lock(&self.ready).draining, true) {
            return;
        }
        loop {
            let mut ready = lock(&self.ready);
            let Some(lane) = ready.lanes.pop_front() else {
                ready.draining = false;
                return;
            };
            drop(ready);
            driver::run_queued(&lane, Driver::Pool);
        }
    }

    /// On a thread of the pool: runs something else that is ready; `false` when there is nothing.
    /// `None` elsewhere. Starts no pool.
    pub(crate) fn help(&self) -> Option<bool> {
        let pool = self.pool.get()?.as_ref()?;
        if DEPTH.get() >= MAX_DEPTH {
            return pool.current_thread_index().map(|_| false);
        }
        nest(|| pool.yield_now()).map(|yielded| yielded == Yield::Executed)
    }

    /// Calls `work` with 0, 1, .. `count - 1`, on all threads, until all are done or one call
    /// returns `false`. `work` does not panic.
    pub(crate) fn for_each(&self, count: usize, work: &(dyn Fn(usize) -> bool + Sync)) {
        let next = AtomicUsize::new(0);
        let take_some = || {
            loop {
                // Relaxed: the numbers are all that is shared here; `join` orders the rest.
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return;
                }
                if !work(index) {
                    next.store(count, Ordering::Relaxed);
                    return;
                }
            }
        };
        match self.pool() {
            Some(pool) if count > 1 && self.threads > 1 && DEPTH.get() < MAX_DEPTH => {
                let times = self.threads.min(count);
                if pool.current_thread_index().is_some() {
                    return fan(times, &take_some);
                }
                // Whoever waits is awake, and would only sleep until others have done all of it.
                pool.in_place_scope(|others| {
                    others.spawn(|_| fan(times - 1, &take_some));
                    take_some();
                });
            }
            _ => take_some(),
        }
    }
}

/// Calls `f` up to `times` times at once. Needs no memory but the stack.
fn fan(times: usize, f: &(dyn Fn() + Sync)) {
    if times <= 1 {
        f();
    } else {
        nest(|| join(|| fan(times / 2, f), || fan(times - times / 2, f)));
    }
}
