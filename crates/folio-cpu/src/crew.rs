//! Threads that share a launch, or a graph's launches.
//!
//! # The protocol
//!
//! A driver that has a long launch, or a list of them, is its *leader*. The leader writes a [`Job`]
//! on its own stack and opens a *round* for it in one of the crew's slots. A *member* is another
//! thread that takes part. Each thread has a *seat*, a word that says in which slot it is.
//!
//! - A thread enters a slot by writing its seat, and then reads whether a round is open there. If
//!   not, it leaves at once. If one is, it is a member, and uses the job until it clears its seat.
//! - The leader closes the round when no block is left, and then reads all seats until none names
//!   the slot.
//! - Both write first and read then, sequentially consistent. A thread that the leader does not see
//!   in its seat therefore sees that the round is closed, and no member uses a job that has gone.
//! - A round that replaced another one meanwhile is as good: the thread is a member of the new one.
//!
//! # How many threads
//!
//! The rest of a launch decides, by what its blocks have taken so far: a sleeping thread is called
//! while the threads at work would be busy for longer than it takes to wake one ([`further`]). Each
//! member decides the same when it comes, so calls spread like a tree. The time of a wake is
//! measured at each wake.

use crate::pool::{LOOK, Machine, nested};
use crate::round::{End, Job, Left, Line, PARTS, Slot, Stage, nanos};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Rounds that may be open at once; a leader that finds no slot works alone.
const SLOTS: usize = 8;
/// Seats for threads of the program; without one a thread takes part in no launch.
const GUESTS: usize = 8;
/// Threads that one thread calls at a time: more would hold it up.
const FAN: usize = 2;
/// The time of waking a thread before one has been woken.
const FIRST_WAKE_NS: u64 = 10_000;
/// Bounds of it: below, clocks tell nothing; above, all threads were busy.
const WAKE_NS: std::ops::RangeInclusive<u64> = 2_000..=100_000;

/// How many threads to call to `at_work` threads, so that each thread of all has as much to do as
/// it takes to wake one. `most` may work on the launch.
fn further(left_ns: u64, at_work: usize, most: usize, wake_ns: u64) -> usize {
    let pay = usize::try_from(left_ns / wake_ns.max(1)).unwrap_or(usize::MAX);
    pay.min(most).saturating_sub(at_work).min(FAN)
}

/// A thread's place.
#[derive(Default)]
pub(crate) struct Seat {
    /// The slot that it is in, counted from 1, or 0.
    slot: AtomicUsize,
    /// The thread is awake without work, and would take part in a launch.
    pub looks: AtomicBool,
    /// A guest has it.
    taken: AtomicBool,
}

/// The state of a machine's launches that all threads share.
pub(crate) struct Crew {
    slots: Box<[Line<Slot>]>,
    /// By number of the thread, then those of guests.
    seats: Box<[Line<Seat>]>,
    /// Open rounds: where there is none, no slot is looked at.
    open: Line<AtomicUsize>,
    wake_ns: AtomicU64,
    /// Threads that were called and have not come.
    called: AtomicUsize,
    /// Threads that were called since the machine was made.
    #[cfg(test)]
    pub calls: AtomicUsize,
    /// Rounds that were opened since then.
    #[cfg(test)]
    pub rounds: AtomicUsize,
}

impl Crew {
    pub(crate) fn new(threads: usize) -> Crew {
        let parts = (threads + 1).min(PARTS);
        Crew {
            slots: (0..SLOTS).map(|_| Line(Slot::new(parts))).collect(),
            seats: (0..threads + GUESTS).map(|_| Line::default()).collect(),
            open: Line::default(),
            wake_ns: AtomicU64::new(FIRST_WAKE_NS),
            called: AtomicUsize::new(0),
            #[cfg(test)]
            calls: AtomicUsize::new(0),
            #[cfg(test)]
            rounds: AtomicUsize::new(0),
        }
    }

    /// A round is open.
    fn opens_one(&self) {
        self.open.0.fetch_add(1, Ordering::Relaxed);
        #[cfg(test)]
        self.rounds.fetch_add(1, Ordering::Relaxed);
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

    /// A thread has come that was called at this time. The time of a wake goes down at once: a
    /// thread also comes late because all of them were busy.
    pub(crate) fn has_come(&self, called: Instant) {
        self.called.fetch_sub(1, Ordering::Relaxed);
        let (new, old) = (nanos(called.elapsed()), self.wake_ns());
        let next = if new < old { old / 2 + new / 2 } else { old + (new - old).min(old) / 16 };
        self.wake_ns.store(next.clamp(*WAKE_NS.start(), *WAKE_NS.end()), Ordering::Relaxed);
    }

    /// A seat for a thread that is not of the pool, until it is given back.
    pub(crate) fn guest(&self, threads: usize) -> Option<&Seat> {
        let free = |seat: &&Seat| {
            !seat.taken.load(Ordering::Relaxed) && !seat.taken.swap(true, Ordering::Acquire)
        };
        self.seats.iter().skip(threads).map(|line| &line.0).find(free)
    }

    pub(crate) fn seat(&self, number: usize) -> Option<&Seat> {
        self.seats.get(number).map(|line| &line.0)
    }

    /// Threads that are in a slot, or will come without a call.
    fn members(&self, slot: usize) -> usize {
        let comes = |Line(seat): &&Line<Seat>| match seat.slot.load(Ordering::Relaxed) {
            0 => seat.looks.load(Ordering::Relaxed),
            at => at == slot + 1,
        };
        self.seats.iter().filter(comes).count() + self.called.load(Ordering::Relaxed)
    }

    /// No seat names this slot. The leader has closed the round.
    fn is_empty(&self, slot: usize) -> bool {
        self.seats.iter().all(|line| line.0.slot.load(Ordering::SeqCst) != slot + 1)
    }

    /// The leader's: waits until no member is there; `relax` lets other threads run. The leader
    /// runs no lane meanwhile: the launch would end after what that lane does, which may wait for
    /// the launch.
    fn wait_for_members(&self, (at, slot): (usize, &Slot), relax: impl Fn()) {
        let started = Instant::now();
        while !self.is_empty(at) {
            if started.elapsed() < LOOK {
                std::hint::spin_loop();
                relax();
            } else {
                slot.sleep_unless(|| self.is_empty(at));
            }
        }
    }
}

impl Seat {
    /// Enters a slot; tells the round that is open there.
    fn enter(&self, slot: &Slot, at: usize) -> Option<u64> {
        if slot.round.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.slot.store(at + 1, Ordering::SeqCst);
        match slot.round.load(Ordering::SeqCst) {
            0 => {
                self.leave(slot);
                None
            }
            round => Some(round),
        }
    }

    fn leave(&self, slot: &Slot) {
        // The leader that reads this sees what the member has computed.
        self.slot.store(0, Ordering::SeqCst);
        slot.rouse();
    }

    /// A guest does not need it any more.
    pub(crate) fn give_back(&self) {
        self.taken.store(false, Ordering::Release);
    }
}

impl Machine {
    /// Calls `work` with 0, 1, .. `count - 1`, on as many threads as pay, until all are done or one
    /// call returns `false`. `work` does not panic. `block_ns` is what one call takes, as far as
    /// the caller knows, or 0. Returns the nanoseconds of all threads together.
    pub(crate) fn share_blocks(
        self: &Arc<Machine>,
        owner: usize,
        blocks: (usize, u64),
        work: &(impl Fn(usize) -> bool + Sync),
    ) -> u64 {
        let stages = [Stage::new(blocks, self.threads.min(self.parts))];
        self.share(owner, &Job::new(work, &stages, true));
        stages[0].busy()
    }

    /// Runs a job on as many threads as pay, until all blocks have run or one ends it. `owner` is
    /// the address of the lane.
    pub(crate) fn share(self: &Arc<Machine>, owner: usize, job: &Job<'_>) {
        let slots = self.crew.slots.iter().map(|line| &line.0).enumerate();
        let mut slots = slots.filter(|_| job.is_shared() && self.may_share());
        match slots.find(|(_, slot)| slot.claim()) {
            Some((at, slot)) => self.lead(job, (at, slot), owner),
            None => job.run_alone(),
        }
    }

    /// Leads a round in a slot that this thread has claimed. Returns when no other thread uses the
    /// job.
    fn lead(self: &Arc<Machine>, job: &Job<'_>, (at, slot): (usize, &Slot), owner: usize) {
        let round = slot.open(job, owner);
        self.crew.opens_one();
        self.tell();
        // A thread comes to see how long the first block takes.
        if job.is_unknown() && self.crew.members(at) == 0 {
            self.call();
        }
        let (thread, most) = (self.number().unwrap_or(self.threads - 1), job.most());
        let part = slot.enter_part(thread, most).unwrap_or(thread % most);
        let mut goes_on = |left: Option<Left>| {
            match left {
                Some(left) => self.call_further(at, job, left),
                None => self.relax(),
            }
            false
        };
        while let End::Waits(stage) = slot.work(job, (round, part), &mut goes_on) {
            slot.sleep_unless(|| slot.is_past(stage));
        }
        slot.close();
        self.crew.open.0.fetch_sub(1, Ordering::Relaxed);
        self.crew.wait_for_members((at, slot), || self.relax());
        // Release: a thread that claims the slot next comes after this round.
        slot.claimed.store(false, Ordering::Release);
    }

    /// Takes part in an open round, of `owner` alone if it is not 0, from `seat`; `false` if there
    /// is none in which there is something to do soon.
    pub(crate) fn join(self: &Arc<Machine>, seat: &Seat, number: usize, owner: usize) -> bool {
        if self.crew.open.0.load(Ordering::Relaxed) == 0 || seat.slot.load(Ordering::Relaxed) != 0 {
            return false;
        }
        let slots = self.crew.slots.iter().map(|line| &line.0).enumerate();
        let fits = |slot: &Slot| owner == 0 || slot.owner.load(Ordering::Relaxed) == owner;
        { slots }
            .filter(|(_, slot)| fits(slot) && slot.has_blocks())
            .any(|(at, slot)| self.join_at(seat, number, (at, slot), fits))
    }

    fn join_at(
        self: &Arc<Machine>,
        seat: &Seat,
        number: usize,
        (at, slot): (usize, &Slot),
        fits: impl Fn(&Slot) -> bool,
    ) -> bool {
        let Some(round) = seat.enter(slot, at) else { return false };
        // Another lane's round may have replaced the one that was looked at. A thread of the
        // program runs none of its blocks: it may hold a lock that they take.
        if !fits(slot) {
            seat.leave(slot);
            return false;
        }
        let address = slot.job.load(Ordering::Relaxed).cast::<Job<'_>>();
        // SAFETY: this thread's seat named the slot before it read that a round is open there. The
        // leader stored the address before it opened the round, and keeps the job until it has
        // closed the round and then found no seat that names the slot (`lead`).
        let job = unsafe { &*address };
        let mut first = true;
        if job.is_unknown() {
            self.call_further(at, job, job.whole());
        }
        let end = slot.join(job, (round, number), &mut |left| {
            match left {
                Some(left) if std::mem::take(&mut first) => self.call_further(at, job, left),
                Some(_) => {}
                None => self.relax(),
            }
            // A lane that no thread runs needs this one more than the launch does, and so does the
            // operation that this one waits for.
            self.crowded() || nested()
        });
        seat.leave(slot);
        !matches!(end, End::Waits(_) | End::Full)
    }

    /// Calls sleeping threads to a round, if what is left is worth that.
    fn call_further(self: &Arc<Machine>, at: usize, job: &Job<'_>, left: Left) {
        if self.asleep() == 0 {
            return;
        }
        let at_work = 1 + self.crew.members(at);
        let (ns, wake_ns) = (job.ns_of(left, at_work), self.crew.wake_ns());
        for _ in 0..further(ns, at_work, job.most(), wake_ns) {
            self.call();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Costs;
    use crate::lane::CpuLane;
    use crate::trial::Way;
    use folio_core::hal::{
        Args, Block, BlockKernel, Geometry, Head, KernelRef, Lane, NativeKernel, Notify, Op, Order,
        ParamPtr, Verdict,
    };
    use std::cell::Cell;
    use std::time::Duration;

    /// Takes no time; notes how many threads had been called when its first block ran.
    struct Notes(Arc<Machine>, Arc<AtomicUsize>);

    impl BlockKernel for Notes {
        unsafe fn run(&self, _: &[ParamPtr], _: &Block) -> Verdict {
            let calls = 1 + self.0.crew.calls.load(Ordering::Relaxed);
            let _ = self.1.compare_exchange(0, calls, Ordering::Relaxed, Ordering::Relaxed);
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

        /// A launch; a launch that is not tiny runs on this thread, which waits. Returns the calls
        /// of it.
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

    /// BACK-05
    #[test]
    fn a_tiny_launch_that_is_known_calls_no_thread() {
        for threads in THREADS {
            let mut bench = Bench::new(threads);
            (0..4).for_each(|_| bench.machine.costs.record(bench.key(), 1024, 500));
            assert_eq!((0..100).map(|_| bench.run(1024)).sum::<usize>(), 0, "{threads}");
        }
    }

    /// BACK-05
    #[test]
    fn an_unknown_launch_calls_one_thread_before_its_first_block_has_ended() {
        let first = |threads, items| {
            let mut bench = Bench::new(threads);
            bench.run(items);
            bench.noted.load(Ordering::Relaxed) - 1
        };
        for threads in THREADS {
            assert_eq!(first(threads, 16), 0, "{threads}: one block");
            for items in [1024, 1 << 20] {
                // The thread that was called may come before this one goes on, and call others.
                assert!((0..20).any(|_| first(threads, items) == 1), "{threads} {items}");
            }
        }
    }

    /// BACK-05
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

    /// BACK-05: also where each thread has one block.
    #[test]
    fn sleeping_threads_are_called_to_blocks_that_no_thread_has_begun() {
        let left = |blocks, parts, at_work| Left { stage: 0, blocks, parts }.of_all(at_work, 4);
        assert_eq!([left(0, 16, 1), left(3, 16, 1), left(3, 16, 16)], [60, 63, 48]);
        assert_eq!([left(0, 0, 1), left(2, 1, 5)], [0, 2]);
        let machine = Arc::new(Machine::new(16, Box::default()));
        let take_time = |_| {
            let started = Instant::now();
            while started.elapsed() < Duration::from_micros(500) {}
            true
        };
        let busy = machine.share_blocks(1, (16, 500_000), &take_time);
        assert!(busy >= 16 * 500_000, "{busy}");
        let calls = machine.crew.calls.load(Ordering::Relaxed);
        assert!((2..=16).contains(&calls), "{calls}");
    }

    /// BACK-05
    #[test]
    fn an_estimate_ten_times_too_high_comes_down_and_no_thread_is_called() {
        for threads in THREADS {
            // A run may be interrupted.
            let right = (0..20).any(|_| {
                let mut bench = Bench::new(threads);
                (0..4).for_each(|_| bench.machine.costs.record(bench.key(), 1 << 16, 30_000));
                // Without optimisation a block that does nothing takes a microsecond.
                bench.machine.crew.wake_ns.store(*WAKE_NS.end(), Ordering::Relaxed);
                let calls: usize = (0..8).map(|_| bench.run(1 << 16)).sum();
                let ns = bench.machine.costs.judge(bench.key(), 1 << 16, false).ns;
                calls == 0 && ns.is_some_and(|ns| ns < 20_000)
            });
            assert!(right, "{threads}");
        }
    }

    /// BACK-05
    #[test]
    fn a_launch_that_sharing_makes_slower_ends_alone_and_calls_no_thread() {
        for (alone, shared, rounds) in [(20_000, 50_000, 0), (20_000, 10_000, 20)] {
            let mut bench = Bench::new(16);
            let (machine, key) = (bench.machine.clone(), bench.key());
            let tried = |way, ns| machine.costs.tried(key, 1 << 16, way, ns);
            machine.costs.record(key, 1 << 16, 20_000);
            (0..4).for_each(|_| tried(Way::Alone, alone));
            (0..4).for_each(|_| tried(Way::Shared, shared));
            let before = machine.crew.rounds.load(Ordering::Relaxed);
            let mut run = || {
                (0..2).for_each(|_| machine.costs.record(key, 1 << 16, 20_000));
                tried(Way::Shared, shared);
                bench.run(1 << 16)
            };
            let calls: usize = (0..20).map(|_| run()).sum();
            assert_eq!(machine.crew.rounds.load(Ordering::Relaxed) - before, rounds);
            assert!(rounds > 0 || calls == 0, "{calls}");
        }
    }

    #[test]
    fn each_block_runs_once_with_many_leaders_and_members() {
        for threads in [2, 3, 16] {
            let machine = Arc::new(Machine::new(threads, Box::default()));
            let blocks: Vec<AtomicUsize> = (0..257).map(|_| AtomicUsize::new(0)).collect();
            let lead = |count: usize| {
                let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                machine.share_blocks(1, (count, count as u64 % 3 * 50_000), &|index| {
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
                scope.spawn(|| (0..300).filter(|_| machine.watch(1, || false)).count());
            });
            let all: usize = blocks.iter().map(|done| done.load(Ordering::Relaxed)).sum();
            let wanted: usize =
                (0..4).flat_map(|t| (0..300).map(move |n| 1 + (n * 7 + t) % 257)).sum();
            assert_eq!(all, wanted);
        }
    }

    #[test]
    fn a_thread_whose_part_is_taken_begins_in_one_that_has_no_thread() {
        let slot = Slot::new(4);
        let enter = |thread| slot.enter_part(thread, 4);
        assert_eq!([1, 5, 3, 3, 0].map(enter), [Some(1), Some(0), Some(3), Some(2), None]);
        assert_eq!(Slot::new(64).enter_part(63, 64), Some(63));
        assert_eq!(Slot::new(64).enter_part(63, 1), Some(0));
    }

    /// Notes whether the leader runs it while it leads.
    struct OnTop {
        machine: Arc<Machine>,
        leader: usize,
        leads: Arc<AtomicBool>,
        noted: Arc<AtomicBool>,
    }

    impl BlockKernel for OnTop {
        unsafe fn run(&self, _: &[ParamPtr], _: &Block) -> Verdict {
            let is_leader = self.machine.number() == Some(self.leader);
            self.noted.fetch_or(is_leader && self.leads.load(Ordering::Relaxed), Ordering::Relaxed);
            Ok(())
        }
    }

    #[test]
    fn a_leader_that_waits_for_a_member_runs_no_lane() {
        let machine = Arc::new(Machine::new(2, Box::default()));
        let lane = CpuLane::new(machine.clone(), Notify::none());
        let [began, leads, noted] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
        let bring = |leader| {
            let order = Order::AfterPrevious;
            let head = Head { tick: 1, order, waits: &[], label: "", timed: false };
            let (machine, leads, noted) = (machine.clone(), leads.clone(), noted.clone());
            let on_top = OnTop { machine, leader, leads, noted };
            let kernel = KernelRef::Native(&Cell::new(Some(NativeKernel::new(on_top))));
            let geometry = Geometry::new(1, [1, 1, 1]);
            lane.enqueue(&head, Op::Launch(kernel, &geometry, &Args::new(&[]))).unwrap();
            lane.drive();
        };
        machine.on_pool(|| {
            let leader = machine.number().unwrap();
            leads.store(true, Ordering::Relaxed);
            machine.share_blocks(1, (2, 0), &|_| {
                if machine.number() == Some(leader) {
                    while !began.load(Ordering::Acquire) {
                        std::hint::spin_loop();
                    }
                    return true;
                }
                bring(leader);
                began.store(true, Ordering::Release);
                let end = Instant::now() + 100 * LOOK;
                while !noted.load(Ordering::Relaxed) && Instant::now() < end {}
                true
            });
            leads.store(false, Ordering::Relaxed);
        });
        assert_eq!(lane.wait(1, None), Ok(true));
        assert!(!noted.load(Ordering::Relaxed));
    }

    #[test]
    fn a_leader_that_sleeps_is_woken_by_the_last_member() {
        let machine = Arc::new(Machine::new(3, Box::default()));
        let leader = std::thread::current().id();
        for count in (2..6).cycle().take(400) {
            let ran = AtomicUsize::new(0);
            machine.share_blocks(1, (count, 0), &|index| {
                // The leader has no more blocks before the others have ended theirs.
                let is_leader = std::thread::current().id() == leader;
                let end = Instant::now() + LOOK * if is_leader { 0 } else { index as u32 };
                while Instant::now() < end {}
                ran.fetch_add(1, Ordering::Relaxed);
                true
            });
            assert_eq!(ran.load(Ordering::Relaxed), count);
        }
    }

    #[test]
    fn a_block_that_says_so_stops_the_others() {
        let machine = Arc::new(Machine::new(4, Box::default()));
        let ran = AtomicUsize::new(0);
        machine.share_blocks(1, (1000, 0), &|index| {
            ran.fetch_add(1, Ordering::Relaxed);
            index != 3
        });
        assert!((1..1000).contains(&ran.load(Ordering::Relaxed)));
    }

    #[test]
    fn what_waking_takes_goes_down_at_once_and_up_slowly() {
        let crew = Crew::new(2);
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
