//! The machine: its threads, its memory, and the lanes that wait for a thread.
//!
//! A lane that needs a thread is put into one first-in-first-out list. A thread of the pool that
//! has nothing to do takes the oldest lane from it, or takes part in a launch that another thread
//! leads (see `crew`). Before it sleeps it looks for a short while: a program that submits one
//! short command after another finds it awake.
//! A lane is left for a moment to the thread that ran it last, if that looks: it has the lane's
//! memory in its cache.
//!
//! A thread of the pool is asleep, or serves: it takes lanes, takes part in launches, or looks for
//! either (see `rest`).

use crate::cost::Costs;
use crate::crew::{Crew, Seat};
use crate::driver::{self, Driver};
use crate::job::PARTS;
use crate::lane::Core;
use crate::memory::Memory;
use crate::rest::{Ready, Rest};
use crate::round::GRACE;
use crate::sync::{AtomicBool, AtomicUsize, LOOK, Line, Ordering, SPINS, Spell};
use rayon_core::{ThreadPool, ThreadPoolBuilder, Yield};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The state that all devices of a backend share. Every lane holds it, so that neither memory nor
/// threads end before the last operation.
pub(crate) struct Machine {
    pub threads: usize,
    /// Threads that share a list, at most.
    pub parts: usize,
    cores: usize,
    pub costs: Costs,
    pub memories: Box<[Memory]>,
    pub crew: Crew,
    epoch: Instant,
    /// `None` inside: the system gave no threads, and everything runs on callers' threads.
    pool: OnceLock<Option<ThreadPool>>,
    ready: Ready<Arc<Core>>,
    /// Without a pool: a thread works off `ready`.
    draining: AtomicBool,
    rest: Rest,
    /// Threads that may be awake without work: they and one of the program have a core each.
    most_lookers: usize,
    /// The thread that ran the lane that was brought last, and has its memory in its cache.
    wanted: Line<AtomicUsize>,
}

/// How deep operations may stand on one thread's stack, each run while the one below waits.
const MAX_DEPTH: u32 = 8;

thread_local! {
    /// How many operations on this thread's stack wait for the pool, and let it run others.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// This thread serves.
    static SERVES: Cell<bool> = const { Cell::new(false) };
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
            parts: threads.min(PARTS),
            cores,
            costs: Costs::new(),
            memories,
            crew: Crew::new(threads),
            epoch: Instant::now(),
            pool: OnceLock::new(),
            ready: Ready::default(),
            draining: AtomicBool::new(false),
            rest: Rest::new(threads),
            wanted: Line(AtomicUsize::new(usize::MAX)),
            most_lookers: threads.min(cores - 1),
        }
    }

    /// The same, where a thread of the program takes part while it waits, and threads beyond the
    /// processors share nothing: each would wait for another.
    pub(crate) fn of_program(self) -> Machine {
        let helped = if self.threads > 1 { self.threads + 1 } else { 1 };
        Machine { parts: helped.min(self.cores).min(PARTS), ..self }
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
        self.wanted.0.store(lane.thread.load(Ordering::Relaxed), Ordering::Relaxed);
        self.ready.push(lane);
        if self.pool().is_none() {
            return self.drain();
        }
        self.tell_of_lanes();
    }

    /// Finds a thread for a lane that waits.
    fn tell_of_lanes(self: &Arc<Machine>) {
        self.rest.tell();
        if !self.rest.has_sentinel() {
            self.call();
        }
    }

    /// Leaves lanes to a thread of the pool for a while, if one is awake without work: it may have
    /// their memory in its cache.
    pub(crate) fn leave_to_sentinel(&self) {
        if self.crowded() && self.rest.has_sentinel() {
            let spell = Spell::of(GRACE);
            while self.crowded() && !spell.is_over() {
                std::hint::spin_loop();
            }
            // That thread has the lane in its hand, and looks at it next.
            (0..SPINS).for_each(|_| std::hint::spin_loop());
        }
    }

    /// A round is open.
    pub(crate) fn tell(&self) {
        self.rest.tell();
    }

    /// Threads of the pool that could be called.
    pub(crate) fn asleep(&self) -> usize {
        self.rest.asleep()
    }

    /// Wakes a thread of the pool, if one is asleep.
    pub(crate) fn call(self: &Arc<Machine>) {
        let Some(pool) = self.pool() else { return };
        if !self.rest.take_sleeper() {
            return;
        }
        self.crew.calls_one();
        let (machine, called) = (Arc::clone(self), Instant::now());
        pool.spawn(move || {
            machine.crew.has_come(called);
            machine.serve();
        });
    }

    /// Waits a while until `done`, and takes part in launches of this lane meanwhile; `false` if
    /// the time was too short. For threads that are not of the pool.
    pub(crate) fn watch(self: &Arc<Machine>, owner: usize, done: impl Fn() -> bool) -> bool {
        let seat = self.crew.guest(self.threads);
        seat.inspect(|seat| seat.looks.store(true, Ordering::Relaxed));
        let mut started = Instant::now();
        let reached = loop {
            if (0..SPINS).any(|_| {
                std::hint::spin_loop();
                done()
            }) {
                break true;
            }
            if seat.is_some_and(|seat| self.join(seat, self.threads - 1, owner)) {
                started = Instant::now();
            } else if started.elapsed() > LOOK {
                break false;
            } else {
                self.relax();
            }
        };
        seat.inspect(|seat| {
            seat.looks.store(false, Ordering::Relaxed);
            seat.give_back();
        });
        reached
    }

    /// Lanes wait for a thread.
    pub(crate) fn crowded(&self) -> bool {
        self.ready.is_crowded()
    }

    /// A launch of this thread may be shared with others.
    pub(crate) fn may_share(&self) -> bool {
        DEPTH.get() < MAX_DEPTH && self.pool().is_some()
    }

    /// The number of this thread, if it is one of the pool.
    pub(crate) fn number(&self) -> Option<usize> {
        self.pool.get()?.as_ref()?.current_thread_index()
    }

    /// The work of a thread of the pool that was called.
    fn serve(self: &Arc<Machine>) {
        let number = self.number().unwrap_or(0);
        let Some(seat) = self.crew.seat(number) else { return };
        if nested() || SERVES.get() {
            return self.serve_within(seat, number);
        }
        SERVES.set(true);
        loop {
            let seen = self.rest.news();
            if self.serve_one(seat, number) || self.look(seat, seen) {
                continue;
            }
            seat.looks.store(false, Ordering::Relaxed);
            if self.rest.falls_asleep(seen) {
                break;
            }
        }
        SERVES.set(false);
    }

    /// A thread that waits inside an operation has taken the call of one that is asleep still: that
    /// one is counted again first, so that it can be called for what is brought from here on. Work
    /// that was brought before is looked for after that. The operation below waits for this thread,
    /// so it does one thing.
    fn serve_within(self: &Arc<Machine>, seat: &Seat, number: usize) {
        self.rest.add_sleeper();
        let one = || self.serve_one(seat, number);
        // A kernel that uses rayon waits without a depth.
        let _ = if nested() { one() } else { nest(one) };
    }

    fn serve_one(self: &Arc<Machine>, seat: &Seat, number: usize) -> bool {
        if self.crowded() {
            self.leave_to_wanted(number);
        }
        let Some(lane) = self.ready.oldest() else { return self.join(seat, number, 0) };
        // Its bringer may have counted on this thread for more than one lane.
        if self.crowded() {
            self.tell_of_lanes();
        }
        seat.looks.store(false, Ordering::Relaxed);
        lane.thread.store(number, Ordering::Relaxed);
        driver::run_queued(&lane, Driver::Pool);
        true
    }

    /// Leaves the lane that was brought last to the thread that ran it before, for a while, if that
    /// is awake without work.
    fn leave_to_wanted(&self, number: usize) {
        let wanted = self.wanted.0.load(Ordering::Relaxed);
        let Some(seat) = self.crew.seat(wanted).filter(|_| wanted < self.threads) else { return };
        let is_there = || wanted != number && seat.looks.load(Ordering::Relaxed) && self.crowded();
        if is_there() {
            let spell = Spell::of(GRACE);
            while is_there() && !spell.is_over() {
                std::hint::spin_loop();
            }
        }
    }

    /// Waits a while for news; `false` if there is none.
    fn look(&self, seat: &Seat, seen: u64) -> bool {
        if self.threads - self.asleep().min(self.threads) > self.most_lookers {
            return false;
        }
        seat.looks.store(true, Ordering::Relaxed);
        self.rest.look(seen, LOOK, || self.relax())
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
            while let Some(lane) = self.ready.oldest() {
                driver::run_queued(&lane, Driver::Pool);
            }
            self.draining.store(false, Ordering::SeqCst);
            if self.ready.is_empty() {
                return;
            }
        }
    }

    /// On a thread of the pool.
    #[cfg(test)]
    pub(crate) fn on_pool<R: Send>(&self, run: impl FnOnce() -> R + Send) -> R {
        self.pool().expect("tests have threads").install(run)
    }

    /// On a thread of the pool: runs something else that is ready; `false` when there is nothing.
    /// `None` elsewhere. Starts no pool.
    pub(crate) fn help(self: &Arc<Machine>) -> Option<bool> {
        let pool = self.pool.get()?.as_ref()?;
        pool.current_thread_index()?;
        if DEPTH.get() >= MAX_DEPTH {
            return Some(false);
        }
        let number = pool.current_thread_index()?;
        let one = || self.crew.seat(number).is_some_and(|seat| self.serve_one(seat, number));
        nest(|| Some(one() || pool.yield_now() == Some(Yield::Executed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::CpuLane;
    use folio_core::hal::{
        Args, Block, BlockKernel, Geometry, Head, KernelRef, Lane, NativeKernel, Notify, Op, Order,
        ParamPtr, Verdict,
    };

    /// Notes how many threads could be called meanwhile, and serves so many times more inside.
    struct Serves(Arc<Machine>, usize, Arc<AtomicUsize>);

    impl BlockKernel for Serves {
        unsafe fn run(&self, _: &[ParamPtr], _: &Block) -> Verdict {
            let Serves(machine, more, noted) = self;
            noted.store(machine.asleep(), Ordering::Relaxed);
            if *more > 0 {
                bring(machine, *more - 1, noted);
                // The call of a thread that is asleep is taken by this one.
                assert!(machine.rest.take_sleeper());
                machine.serve();
            }
            Ok(())
        }
    }

    /// A lane that waits for a thread, of which none is called.
    fn bring(machine: &Arc<Machine>, more: usize, noted: &Arc<AtomicUsize>) {
        let asleep = machine.asleep();
        (0..asleep).for_each(|_| assert!(machine.rest.take_sleeper()));
        let lane = CpuLane::new(machine.clone(), Notify::none());
        let order = Order::AfterPrevious;
        let head = Head { tick: 1, order, waits: &[], label: "", timed: false };
        let serves = Serves(machine.clone(), more, noted.clone());
        let kernel = KernelRef::Native(&Cell::new(Some(NativeKernel::new(serves))));
        let geometry = Geometry::new(1, [1, 1, 1]);
        lane.enqueue(&head, Op::Launch(kernel, &geometry, Args::new(&[]))).unwrap();
        drop(lane);
        (0..asleep).for_each(|_| machine.rest.add_sleeper());
    }

    #[test]
    fn a_thread_that_serves_within_an_operation_leaves_the_others_to_be_called() {
        for (waits, more) in [(true, 0), (true, 2), (false, 1), (false, 3)] {
            let machine = Arc::new(Machine::new(2, Box::default()));
            let noted = Arc::new(AtomicUsize::new(usize::MAX));
            machine.on_pool(|| {
                // This thread was called.
                assert!(machine.rest.take_sleeper());
                bring(&machine, more, &noted);
                if waits {
                    assert!(machine.rest.take_sleeper());
                    nest(|| machine.serve());
                    machine.rest.add_sleeper();
                } else {
                    machine.serve();
                }
            });
            assert_eq!((noted.load(Ordering::Relaxed), machine.asleep()), (1, 2), "{more}");
            assert!(machine.ready.is_empty());
        }
    }
}
