//! The machine: its threads, its memory, and the lanes that wait for a thread.
//!
//! A lane that needs a thread is put into one first-in-first-out list. A thread of the pool that
//! has nothing to do takes the oldest lane from it, or takes part in a launch that another thread
//! leads (see `crew`). Before it sleeps it looks for a short while: a program that submits one
//! short command after another finds it awake.
//!
//! # The protocol
//!
//! A thread that brings work makes it visible, changes `news`, and calls a thread only if no thread
//! looks. A looker counts itself, reads `news`, and looks at the work. When it gives up it first
//! takes itself out of the count, and then reads `news` once more. All four are sequentially
//! consistent: a looker that was in the count when work was brought sees the change of `news` in
//! its last look.

use crate::cost::Costs;
use crate::crew::Crew;
use crate::driver::{self, Driver};
use crate::lane::Core;
use crate::lock;
use crate::memory::Memory;
use rayon_core::{ThreadPool, ThreadPoolBuilder, Yield};
use std::cell::Cell;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// How long a thread looks for work before it sleeps: several times what waking it would take.
pub(crate) const LOOK: Duration = Duration::from_micros(50);
/// How often a looker looks before it looks at the clock.
const LOOKS: usize = 32;

/// What all devices of a backend share. Every lane holds it, so that neither memory nor threads
/// end before the last operation.
pub(crate) struct Machine {
    pub threads: usize,
    cores: usize,
    pub costs: Costs,
    pub memories: Box<[Memory]>,
    pub crew: Crew,
    epoch: Instant,
    /// `None` inside: the system gave no threads, and everything runs on callers' threads.
    pool: OnceLock<Option<ThreadPool>>,
    ready: Mutex<VecDeque<Arc<Core>>>,
    /// How many lanes are in `ready`.
    waiting: AtomicUsize,
    /// Without a pool: a thread works off `ready`.
    draining: AtomicBool,
    /// Changes whenever there may be something new to do.
    news: AtomicU64,
    lookers: AtomicUsize,
    /// Threads of the program that wait for a lane, and are awake.
    waiters: AtomicUsize,
    /// Threads that may look at once: they and those at work have a core each.
    most_lookers: usize,
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
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Machine {
            threads,
            cores,
            costs: Costs::new(),
            memories,
            crew: Crew::new(),
            epoch: Instant::now(),
            pool: OnceLock::new(),
            ready: Mutex::default(),
            waiting: AtomicUsize::new(0),
            draining: AtomicBool::new(false),
            news: AtomicU64::new(0),
            lookers: AtomicUsize::new(0),
            waiters: AtomicUsize::new(0),
            most_lookers: threads.min(cores - 1),
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
        let mut ready = lock(&self.ready);
        ready.push_back(lane);
        self.waiting.store(ready.len(), Ordering::SeqCst);
        drop(ready);
        if self.pool().is_none() {
            return self.drain();
        }
        self.tell();
        if self.lookers() == 0 {
            self.call();
        }
    }

    /// There is something new to do.
    pub(crate) fn tell(&self) {
        self.news.fetch_add(1, Ordering::SeqCst);
    }

    /// Threads that are awake without work.
    pub(crate) fn lookers(&self) -> usize {
        self.lookers.load(Ordering::SeqCst)
    }

    /// Threads that are awake without work, and would take part in a launch: of the pool, and of
    /// the program.
    pub(crate) fn awake(&self) -> usize {
        self.lookers.load(Ordering::Relaxed) + self.waiters.load(Ordering::Relaxed)
    }

    /// Waits a while until `done`, and takes part in launches of this lane meanwhile; `false` if
    /// the time was too short.
    pub(crate) fn watch(self: &Arc<Machine>, owner: usize, done: impl Fn() -> bool) -> bool {
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let mut started = Instant::now();
        let reached = loop {
            if (0..LOOKS).any(|_| {
                std::hint::spin_loop();
                done()
            }) {
                break true;
            }
            if self.join(owner) {
                started = Instant::now();
            } else if started.elapsed() > LOOK {
                break false;
            } else {
                self.relax();
            }
        };
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        reached
    }

    /// Wakes a thread of the pool.
    pub(crate) fn call(self: &Arc<Machine>) {
        let Some(pool) = self.pool() else { return };
        self.crew.calls_one();
        let (machine, called) = (Arc::clone(self), Instant::now());
        pool.spawn(move || {
            machine.crew.has_come(called);
            machine.serve();
        });
    }

    /// Lanes wait for a thread.
    pub(crate) fn crowded(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// A launch of this thread may be shared with others.
    pub(crate) fn may_share(&self) -> bool {
        DEPTH.get() < MAX_DEPTH && self.pool().is_some()
    }

    /// This thread's number, below the number of threads. A thread of the program has the last one:
    /// it works where the last thread of the pool would.
    pub(crate) fn number(&self) -> usize {
        let of_pool = self.pool().and_then(ThreadPool::current_thread_index);
        of_pool.unwrap_or(self.threads - 1)
    }

    /// What a thread of the pool does that was called.
    fn serve(self: &Arc<Machine>) {
        if nested() {
            // The operation below waits for this thread.
            self.serve_one();
            return;
        }
        loop {
            let seen = self.news.load(Ordering::SeqCst);
            if !self.serve_one() && !self.look(seen) {
                return;
            }
        }
    }

    fn serve_one(self: &Arc<Machine>) -> bool {
        let Some(lane) = self.oldest() else { return self.join(0) };
        // Its bringer may have counted on this thread for more than one lane.
        if self.crowded() && self.lookers() == 0 {
            self.call();
        }
        driver::run_queued(&lane, Driver::Pool);
        true
    }

    fn oldest(&self) -> Option<Arc<Core>> {
        if self.waiting.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let mut ready = lock(&self.ready);
        let lane = ready.pop_front();
        self.waiting.store(ready.len(), Ordering::SeqCst);
        lane
    }

    /// Waits a while for `news` to change; `false` if it did not, and this thread may sleep.
    fn look(&self, seen: u64) -> bool {
        let others = self.lookers.fetch_add(1, Ordering::SeqCst);
        let end = (others < self.most_lookers).then(|| Instant::now() + LOOK);
        while let Some(end) = end {
            let changed = (0..LOOKS).any(|_| {
                std::hint::spin_loop();
                self.news.load(Ordering::Relaxed) != seen
            });
            if changed || Instant::now() > end {
                break;
            }
            self.relax();
        }
        self.lookers.fetch_sub(1, Ordering::SeqCst);
        self.news.load(Ordering::SeqCst) != seen
    }

    /// Lets other threads of the pool run where there is no core for each. Elsewhere it does not: a
    /// thread that gives its core away may not get it back for milliseconds.
    pub(crate) fn relax(&self) {
        if self.threads > self.cores {
            std::thread::yield_now();
        }
    }

    /// Without a pool: works off all lanes, unless a thread does already.
    fn drain(&self) {
        while !self.draining.swap(true, Ordering::SeqCst) {
            while let Some(lane) = self.oldest() {
                driver::run_queued(&lane, Driver::Pool);
            }
            self.draining.store(false, Ordering::SeqCst);
            if self.waiting.load(Ordering::SeqCst) == 0 {
                return;
            }
        }
    }

    /// On a thread of the pool: runs something else that is ready; `false` when there is nothing.
    /// `None` elsewhere. Starts no pool.
    pub(crate) fn help(self: &Arc<Machine>) -> Option<bool> {
        let pool = self.pool.get()?.as_ref()?;
        pool.current_thread_index()?;
        if DEPTH.get() >= MAX_DEPTH {
            return Some(false);
        }
        nest(|| Some(self.serve_one() || pool.yield_now() == Some(Yield::Executed)))
    }
}
