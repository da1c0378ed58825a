//! Threads that share one launch.
//!
//! # The protocol
//!
//! A driver that has a long launch is its *leader*. The leader writes a [`Job`] on its own stack
//! and opens a *round* for it in one of the crew's slots. A *member* is another thread that enters
//! the round, takes blocks, and leaves. The state of a slot is one word: whether it is claimed and
//! open, how many members there may be, and how many threads are inside.
//!
//! - A thread enters by adding itself to those inside. It is a member if the round was open and had
//!   room before that; otherwise it leaves at once. A member reads the job's address afterwards,
//!   and uses the job until it leaves.
//! - The leader clears the open bit when no block is left, and then waits until no thread is
//!   inside. So no member uses a job that has gone.
//! - Every change of the word is one addition or one change of bits, so none is lost.
//! - A thread that enters a slot whose round was replaced meanwhile is inside the new round, and
//!   reads the new job's address.
//!
//! # How many threads
//!
//! What is left of a launch decides, by what its blocks have taken so far: a sleeping thread is
//! called while the threads at work would be busy for longer than it takes to wake one
//! ([`further`]). Each member decides the same when it has taken a block, so calls spread like a
//! tree. What a wake takes is measured at each wake.

use crate::lock;
use crate::pool::{LOOK, Machine, nested};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Rounds that may be open at once; a leader that finds no slot works alone.
const SLOTS: usize = 8;
/// Parts of a launch in which threads begin, at most.
const PARTS: usize = 64;
/// A thread takes blocks for about so long at a time.
const TAKE_NS: u64 = 2_500;
/// Threads that one thread calls at a time: more would hold it up.
const FAN: usize = 2;
/// What waking a thread is taken to cost before one has been woken.
const FIRST_WAKE_NS: u64 = 10_000;
/// Bounds of it: below, clocks tell nothing; above, all threads were busy.
const WAKE_NS: std::ops::RangeInclusive<u64> = 2_000..=100_000;
/// How often a leader looks for its members before it looks at the clock.
const SPINS: usize = 32;

/// A line of the cache, or two that processors load together, so that no two words share one.
#[derive(Default)]
#[repr(align(128))]
struct Line<T>(T);

/// One launch, cut into blocks.
pub(crate) struct Job<'j> {
    work: &'j (dyn Fn(usize) -> bool + Sync),
    count: usize,
    /// Threads begin in different parts, each thread in the same part of every launch: what it
    /// finds there it has left in its cache.
    parts: usize,
    next: [Line<AtomicUsize>; PARTS],
    progress: Line<Progress>,
    stopped: AtomicBool,
    /// Nanoseconds of all threads together.
    busy: AtomicU64,
    started: Instant,
}

#[derive(Default)]
struct Progress {
    done: AtomicUsize,
    /// What a block has taken; 0 while no thread knows.
    block_ns: AtomicU64,
}

impl<'j> Job<'j> {
    /// `work` does not panic. It returns `false` to stop the others.
    pub(crate) fn new(
        count: usize,
        block_ns: u64,
        threads: usize,
        work: &'j (dyn Fn(usize) -> bool + Sync),
    ) -> Job<'j> {
        let parts = threads.min(count).clamp(1, PARTS);
        let progress = Progress { done: AtomicUsize::new(0), block_ns: AtomicU64::new(block_ns) };
        let job = Job {
            work,
            count,
            parts,
            next: [const { Line(AtomicUsize::new(0)) }; PARTS],
            progress: Line(progress),
            stopped: AtomicBool::new(false),
            busy: AtomicU64::new(0),
            started: Instant::now(),
        };
        for part in 0..parts {
            job.next[part].0.store(job.start(part), Ordering::Relaxed);
        }
        job
    }

    /// First block of a part.
    fn start(&self, part: usize) -> usize {
        let (each, over) = (self.count / self.parts, self.count % self.parts);
        part * each + part.min(over)
    }

    /// Blocks that a thread takes at a time: as many as it is worth to take.
    fn take(&self, part: usize) -> Option<std::ops::Range<usize>> {
        let (next, end) = (&self.next[part].0, self.start(part + 1));
        let block_ns = self.progress.0.block_ns.load(Ordering::Relaxed);
        let wanted = TAKE_NS.checked_div(block_ns).map_or(1, |n| n.max(1) as usize);
        let left = end.saturating_sub(next.load(Ordering::Relaxed));
        // Relaxed: numbers are all that is shared here; entering and leaving order the rest.
        let wanted = wanted.min(left.div_ceil(2)).max(1);
        let first = next.fetch_add(wanted, Ordering::Relaxed);
        (first < end).then(|| first..(first + wanted).min(end))
    }

    fn is_unknown(&self) -> bool {
        self.progress.0.block_ns.load(Ordering::Relaxed) == 0
    }

    /// Nanoseconds that one thread would take for what is left. While no block has ended, a block
    /// takes at least the time until now.
    fn left_ns(&self) -> u64 {
        let left = self.count.saturating_sub(self.progress.0.done.load(Ordering::Relaxed));
        let block_ns = match self.progress.0.block_ns.load(Ordering::Relaxed) {
            0 => nanos(self.started.elapsed()),
            known => known,
        };
        block_ns.saturating_mul(left as u64)
    }

    /// Takes blocks, from its own part first, until there are none, or `leaves` says so.
    fn work(&self, own: usize, mut leaves: impl FnMut(&Job<'_>) -> bool) {
        let started = Instant::now();
        let (mut ns, mut blocks) = (0, 0);
        'parts: for offset in 0..self.parts {
            let part = (own + offset) % self.parts;
            while let Some(range) = self.take(part) {
                let taken = range.len();
                for index in range {
                    if self.stopped.load(Ordering::Relaxed) {
                        break 'parts;
                    }
                    if !(self.work)(index) {
                        self.stopped.store(true, Ordering::Relaxed);
                        break 'parts;
                    }
                }
                blocks += taken as u64;
                ns = nanos(started.elapsed());
                let Line(Progress { done, block_ns }) = &self.progress;
                done.fetch_add(taken, Ordering::Relaxed);
                block_ns.store((ns / blocks).max(1), Ordering::Relaxed);
                if leaves(self) {
                    break 'parts;
                }
            }
        }
        self.busy.fetch_add(ns, Ordering::Relaxed);
    }
}

pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// How many threads to call to `at_work` threads, so that each thread of all has as much to do as
/// it takes to wake one. `most` may work on the launch.
pub(crate) fn further(left_ns: u64, at_work: usize, most: usize, wake_ns: u64) -> usize {
    let pay = usize::try_from(left_ns / wake_ns.max(1)).unwrap_or(usize::MAX);
    pay.min(most).saturating_sub(at_work).min(FAN)
}

/// The word of a slot, from its lowest bit on: threads inside, members that there may be, flags.
#[derive(Clone, Copy)]
struct State(u64);

impl State {
    const MEMBER: u64 = 1;
    const ROOM: u64 = 1 << 16;
    const CLAIMED: u64 = 1 << 32;
    const OPEN: u64 = 1 << 33;
    /// The leader sleeps until the last member has left.
    const SLEEPER: u64 = 1 << 34;
    /// Members, at most.
    const MOST: usize = 0xffff;

    fn inside(self) -> usize {
        self.0 as usize & State::MOST
    }

    fn most(self) -> usize {
        (self.0 >> 16) as usize & State::MOST
    }

    /// A thread may become a member.
    fn is_open(self) -> bool {
        self.0 & State::OPEN != 0 && self.inside() < self.most()
    }
}

/// Where a round is found.
#[derive(Default)]
struct Slot {
    state: AtomicU64,
    /// A `Job`, while the slot is open or a member is inside.
    job: AtomicPtr<()>,
    /// Tells rounds of one lane from others: its address.
    owner: AtomicUsize,
    /// The leader's place.
    sleeper: Mutex<()>,
    wake: Condvar,
}

/// What all threads of a machine know of each other's launches.
pub(crate) struct Crew {
    slots: [Line<Slot>; SLOTS],
    /// Open rounds: where there is none, no slot is looked at.
    open: Line<AtomicUsize>,
    wake_ns: AtomicU64,
    /// Threads that were called and have not come.
    called: AtomicUsize,
    /// Threads that were called since the machine was made.
    #[cfg(test)]
    pub calls: AtomicUsize,
}

impl Crew {
    pub(crate) fn new() -> Crew {
        Crew {
            slots: Default::default(),
            open: Line::default(),
            wake_ns: AtomicU64::new(FIRST_WAKE_NS),
            called: AtomicUsize::new(0),
            #[cfg(test)]
            calls: AtomicUsize::new(0),
        }
    }

    /// Nanoseconds from a call until a thread has come.
    pub(crate) fn wake_ns(&self) -> u64 {
        self.wake_ns.load(Ordering::Relaxed)
    }

    /// A thread is called.
    pub(crate) fn calls_one(&self) {
        self.called.fetch_add(1, Ordering::Relaxed);
        #[cfg(test)]
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// A thread has come that was called at this time. What waking takes goes down at once: a
    /// thread also comes late because all of them were busy.
    pub(crate) fn has_come(&self, called: Instant) {
        self.called.fetch_sub(1, Ordering::Relaxed);
        let (new, old) = (nanos(called.elapsed()), self.wake_ns());
        let next = if new < old { old / 2 + new / 2 } else { old + (new - old).min(old) / 16 };
        self.wake_ns.store(next.clamp(*WAKE_NS.start(), *WAKE_NS.end()), Ordering::Relaxed);
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().map(|line| &line.0)
    }
}

impl Machine {
    /// Calls `work` with 0, 1, .. `count - 1`, on as many threads as pay, until all are done or one
    /// call returns `false`. `work` does not panic. `block_ns` is what one call takes, as far as
    /// the caller knows, or 0. `owner` is the address of the lane. Returns the nanoseconds of all
    /// threads together.
    pub(crate) fn share(
        self: &Arc<Machine>,
        owner: usize,
        (count, block_ns): (usize, u64),
        work: &(dyn Fn(usize) -> bool + Sync),
    ) -> u64 {
        let job = Job::new(count, block_ns, self.threads, work);
        let members = self.threads.min(count).saturating_sub(1);
        if members > 0 && self.may_share() {
            self.lead(&job, owner, members);
        } else {
            job.work(0, |_| false);
        }
        job.busy.into_inner()
    }

    /// Leads a round. Returns when no other thread uses the job.
    fn lead(self: &Arc<Machine>, job: &Job<'_>, owner: usize, members: usize) {
        let own = self.number();
        let Some(slot) = self.crew.slots().find(|slot| slot.claim()) else {
            return job.work(own, |_| false);
        };
        let at = std::ptr::from_ref(job).cast::<()>().cast_mut();
        slot.job.store(at, Ordering::Relaxed);
        slot.owner.store(owner, Ordering::Relaxed);
        self.crew.open.0.fetch_add(1, Ordering::Relaxed);
        let room = members.min(State::MOST) as u64 * State::ROOM;
        // Release: a member that enters sees the job.
        slot.state.fetch_or(State::OPEN | room, Ordering::Release);
        self.tell();
        // One thread comes to see how long the first block takes.
        if job.is_unknown() && self.lookers() == 0 {
            self.call();
        }
        job.work(own, |job| {
            self.call_further(slot, job);
            false
        });
        slot.state.fetch_and(!State::OPEN, Ordering::AcqRel);
        self.crew.open.0.fetch_sub(1, Ordering::Relaxed);
        slot.wait_for_members(|| self.relax(), || self.help() == Some(true));
        // Release: who claims the slot next comes after this round.
        slot.state.fetch_and(State::MOST as u64, Ordering::Release);
    }

    /// Takes part in an open round, of `owner` alone if it is not 0; `false` if there is none.
    pub(crate) fn join(self: &Arc<Machine>, owner: usize) -> bool {
        if self.crew.open.0.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let fits = |slot: &&Slot| owner == 0 || slot.owner.load(Ordering::Relaxed) == owner;
        let Some(slot) = self.crew.slots().filter(fits).find(|slot| slot.enter()) else {
            return false;
        };
        let at = slot.job.load(Ordering::Relaxed).cast::<Job<'_>>();
        // SAFETY: this thread is inside the round. Its leader stored the address before it opened
        // the round, and keeps the job until no member is inside (`lead`).
        let job = unsafe { &*at };
        self.call_further(slot, job);
        job.work(self.number(), |job| {
            self.call_further(slot, job);
            // A lane that no thread runs needs this one more than the launch does, and so does the
            // operation that this one waits for.
            self.crowded() || nested()
        });
        slot.leave();
        true
    }

    /// Calls sleeping threads to a round, if what is left of it is worth that.
    fn call_further(self: &Arc<Machine>, slot: &Slot, job: &Job<'_>) {
        let state = State(slot.state.load(Ordering::Relaxed));
        if !state.is_open() {
            return;
        }
        let (at_work, most) = (1 + state.inside(), 1 + state.most());
        let coming = self.crew.called.load(Ordering::Relaxed) + self.awake();
        for _ in 0..further(job.left_ns(), at_work + coming, most, self.crew.wake_ns()) {
            self.call();
        }
    }
}

impl Slot {
    fn claim(&self) -> bool {
        let is_free = |state| state & State::CLAIMED == 0;
        is_free(self.state.load(Ordering::Relaxed))
            && is_free(self.state.fetch_or(State::CLAIMED, Ordering::Acquire))
    }

    /// Makes this thread a member, if the slot is open.
    fn enter(&self) -> bool {
        if !State(self.state.load(Ordering::Relaxed)).is_open() {
            return false;
        }
        // Acquire: a member sees the job.
        let is_member = State(self.state.fetch_add(State::MEMBER, Ordering::Acquire)).is_open();
        if !is_member {
            self.leave();
        }
        is_member
    }

    fn leave(&self) {
        // Release: the leader sees what this member has computed.
        let before = State(self.state.fetch_sub(State::MEMBER, Ordering::Release));
        if before.inside() == 1 && before.0 & State::SLEEPER != 0 {
            // The leader holds this lock from its last look on until it sleeps.
            drop(lock(&self.sleeper));
            self.wake.notify_all();
        }
    }

    fn is_empty(&self) -> bool {
        State(self.state.load(Ordering::Acquire)).inside() == 0
    }

    /// Waits until no member is inside. `relax` lets other threads run, `other` does something else
    /// meanwhile, if it can.
    fn wait_for_members(&self, relax: impl Fn(), other: impl Fn() -> bool) {
        let started = Instant::now();
        loop {
            if (0..SPINS).any(|_| {
                std::hint::spin_loop();
                self.is_empty()
            }) {
                return;
            }
            if started.elapsed() > LOOK {
                break;
            }
            relax();
        }
        while !self.is_empty() {
            if other() {
                continue;
            }
            let guard = lock(&self.sleeper);
            let before = State(self.state.fetch_or(State::SLEEPER, Ordering::AcqRel));
            if before.inside() > 0 {
                // Awake now and then: there may be something else to do.
                let nap = Duration::from_micros(200);
                drop(self.wake.wait_timeout(guard, nap).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Costs;
    use crate::lane::CpuLane;
    use folio_core::hal::{
        Args, Block, BlockKernel, Geometry, Head, KernelRef, Lane, NativeKernel, Notify, Op, Order,
        ParamPtr, Verdict,
    };
    use std::cell::Cell;

    /// Takes no time; notes how many threads had been called when its first block ran.
    struct Notes(Arc<Machine>, Arc<AtomicUsize>);

    impl BlockKernel for Notes {
        unsafe fn run(&self, _: &[ParamPtr], _: &Block) -> Verdict {
            self.1.fetch_max(1 + self.0.crew.calls.load(Ordering::Relaxed), Ordering::Relaxed);
            Ok(())
        }
    }

    struct Bench {
        machine: Arc<Machine>,
        lane: CpuLane,
        tick: u64,
        noted: Arc<AtomicUsize>,
    }

    impl Bench {
        fn new(threads: usize) -> Bench {
            let machine = Arc::new(Machine::new(threads, Box::default()));
            let lane = CpuLane::new(machine.clone(), Notify::none());
            Bench { machine, lane, tick: 0, noted: Arc::default() }
        }

        fn key(&self) -> u64 {
            Costs::key(self.kernel().id())
        }

        fn kernel(&self) -> NativeKernel {
            NativeKernel::new(Notes(self.machine.clone(), self.noted.clone()))
        }

        fn calls(&self) -> usize {
            self.machine.crew.calls.load(Ordering::Relaxed)
        }

        /// One launch; what is not tiny runs on this thread, which waits. Returns the calls of it.
        fn run(&mut self, items: usize) -> usize {
            let before = self.calls();
            self.tick += 1;
            let order = Order::AfterPrevious;
            let head = Head { tick: self.tick, order, waits: &[], label: "", timed: false };
            let kernel = KernelRef::Native(&Cell::new(Some(self.kernel())));
            let geometry = Geometry::new(1, [1, 1, items]);
            self.lane.enqueue(&head, Op::Launch(kernel, &geometry, &Args::new(&[]))).unwrap();
            if self.machine.costs.judge(self.key(), items, false).tiny {
                self.lane.drive();
            }
            assert_eq!(self.lane.wait(self.tick, None), Ok(true));
            self.calls() - before
        }
    }

    const THREADS: [usize; 3] = [2, 16, 64];

    #[test]
    fn a_tiny_launch_that_is_known_calls_no_thread() {
        for threads in THREADS {
            let mut bench = Bench::new(threads);
            (0..4).for_each(|_| bench.machine.costs.record(bench.key(), 1024, 500));
            assert_eq!((0..100).map(|_| bench.run(1024)).sum::<usize>(), 0, "{threads}");
        }
    }

    #[test]
    fn an_unknown_launch_calls_one_thread_before_its_first_block_has_ended() {
        for threads in THREADS {
            for items in [16, 1024, 1 << 20] {
                let mut bench = Bench::new(threads);
                let calls = bench.run(items);
                let first = bench.noted.load(Ordering::Relaxed) - 1;
                assert!(items > 16 || calls == 0, "{threads} {items}: {calls}");
                assert!(first <= calls && calls <= threads, "{threads} {items}: {first} {calls}");
            }
        }
        // The first block alone: none follows that could be shared.
        let job = Job::new(2, 0, 64, &|_| true);
        assert!(job.is_unknown());
        assert_eq!(job.take(0), Some(0..1));
    }

    #[test]
    fn as_many_threads_are_called_as_pay() {
        // Threads that work in the end, if each call is answered at once.
        let grown = |left_ns, most, wake_ns| {
            let mut at_work = 1;
            loop {
                match further(left_ns, at_work, most, wake_ns) {
                    0 => return at_work,
                    more => at_work += more,
                }
            }
        };
        assert_eq!(grown(9_999, 64, 10_000), 1);
        assert_eq!(grown(30_000, 64, 10_000), 3);
        assert_eq!(grown(100_000, 64, 10_000), 10);
        assert_eq!(grown(100_000, 4, 10_000), 4);
        assert_eq!(grown(u64::MAX, 4096, 1), 4096);
        assert_eq!(grown(0, 64, 0), 1);
        // No thread calls more than a few.
        assert_eq!(further(u64::MAX, 1, 4096, 10_000), FAN);
    }

    #[test]
    fn an_estimate_ten_times_too_high_comes_down_and_no_thread_is_called() {
        for threads in THREADS {
            // A run may be interrupted.
            let right = (0..20).any(|_| {
                let mut bench = Bench::new(threads);
                (0..4).for_each(|_| bench.machine.costs.record(bench.key(), 1 << 16, 80_000));
                // Without optimisation a block that does nothing takes a microsecond.
                bench.machine.crew.wake_ns.store(*WAKE_NS.end(), Ordering::Relaxed);
                let calls: usize = (0..8).map(|_| bench.run(1 << 16)).sum();
                let ns = bench.machine.costs.judge(bench.key(), 1 << 16, false).ns;
                calls == 0 && ns.is_some_and(|ns| ns < 40_000)
            });
            assert!(right, "{threads}");
        }
    }

    #[test]
    fn each_block_is_run_once_whoever_leads_and_joins() {
        for threads in [2, 3, 16] {
            let machine = Arc::new(Machine::new(threads, Box::default()));
            let blocks: Vec<AtomicUsize> = (0..257).map(|_| AtomicUsize::new(0)).collect();
            let lead = |count: usize| {
                let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                machine.share(1, (count, count as u64 % 3 * 50_000), &|index| {
                    done[index].fetch_add(1, Ordering::Relaxed);
                    blocks[index].fetch_add(1, Ordering::Relaxed);
                    true
                });
                assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == 1), "{count}");
            };
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    scope.spawn(move || (0..300).for_each(|n| lead(1 + (n * 7 + thread) % 257)));
                }
                scope.spawn(|| (0..3000).filter(|_| machine.join(1)).count());
            });
            let all: usize = blocks.iter().map(|done| done.load(Ordering::Relaxed)).sum();
            let wanted: usize =
                (0..4).flat_map(|t| (0..300).map(move |n| 1 + (n * 7 + t) % 257)).sum();
            assert_eq!(all, wanted);
        }
    }

    #[test]
    fn a_block_that_says_so_stops_the_others() {
        let machine = Arc::new(Machine::new(4, Box::default()));
        let ran = AtomicUsize::new(0);
        machine.share(1, (1000, 0), &|index| {
            ran.fetch_add(1, Ordering::Relaxed);
            index != 3
        });
        assert!((1..1000).contains(&ran.load(Ordering::Relaxed)));
    }

    #[test]
    fn what_waking_takes_goes_down_at_once_and_up_slowly() {
        let crew = Crew::new();
        let come = |ago: Duration| {
            crew.calls_one();
            let called = Instant::now().checked_sub(ago);
            called.into_iter().for_each(|called| crew.has_come(called));
            crew.wake_ns()
        };
        assert!(come(Duration::from_secs(1)) < 2 * FIRST_WAKE_NS * 1000);
        assert!((0..40).map(|_| come(Duration::from_secs(1))).max() <= Some(*WAKE_NS.end()));
        assert!((0..20).map(|_| come(Duration::ZERO)).min() < Some(FIRST_WAKE_NS));
        assert_eq!(crew.called.load(Ordering::Relaxed), 0);
    }
}
