//! Launches, and graphs of them, on as many threads as pay (see `crew` for how they share one).
//!
//! # How many threads
//!
//! The rest of a launch decides, by what its blocks have taken so far: a sleeping thread is called
//! while the threads at work would be busy for longer than it takes to wake one ([`further`]). Each
//! member decides the same when it comes, so calls spread like a tree. The time of a wake is
//! measured at each wake.

use crate::crew::Seat;
use crate::job::{Job, Left, Stage};
use crate::pool::{Machine, nested};
use crate::round::{End, Slot};
use crate::sync::Ordering;
use std::sync::Arc;

/// Threads that one thread calls at a time: more would hold it up.
const FAN: usize = 2;

/// How many threads to call to `at_work` threads, so that each thread of all has as much to do as
/// it takes to wake one. `most` may work on the launch.
fn further(left_ns: u64, at_work: usize, most: usize, wake_ns: u64) -> usize {
    let pay = usize::try_from(left_ns / wake_ns.max(1)).unwrap_or(usize::MAX);
    pay.min(most).saturating_sub(at_work).min(FAN)
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
        let mut slots = self.crew.slots().filter(|_| job.is_shared() && self.may_share());
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
        let thread = self.number().unwrap_or(self.threads - 1);
        slot.lead(job, (round, thread), &mut |left: Option<Left>| {
            match left {
                Some(left) => self.call_further(at, job, left),
                None => self.relax(),
            }
            false
        });
        self.crew.closes_one((at, slot), || self.relax());
    }

    /// Takes part in an open round, of `owner` alone if it is not 0, from `seat`; `false` if there
    /// is none in which there is something to do soon.
    pub(crate) fn join(self: &Arc<Machine>, seat: &Seat, number: usize, owner: usize) -> bool {
        if !self.crew.is_open() || seat.is_in_slot() {
            return false;
        }
        let fits = |slot: &Slot| owner == 0 || slot.owner.load(Ordering::Relaxed) == owner;
        { self.crew.slots() }
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
        let Some(member) = seat.enter(slot, at) else { return false };
        // Another lane's round may have replaced the one that was looked at. A thread of the
        // program runs none of its blocks: it may hold a lock that they take.
        if !fits(slot) {
            return false;
        }
        let (job, mut first) = (member.job(), true);
        if job.is_unknown() {
            self.call_further(at, job, job.whole());
        }
        let end = slot.join(job, (member.round, number), &mut |left| {
            match left {
                Some(left) if std::mem::take(&mut first) => self.call_further(at, job, left),
                Some(_) => {}
                None => self.relax(),
            }
            // A lane that no thread runs needs this one more than the launch does, and so does the
            // operation that this one waits for.
            self.crowded() || nested()
        });
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
    use crate::sync::{AtomicBool, AtomicUsize, LOOK};
    use crate::trial::Way;
    use folio_core::hal::{
        Args, Block, BlockKernel, Geometry, Head, KernelRef, Lane, NativeKernel, Notify, Op, Order,
        ParamPtr, Verdict,
    };
    use std::cell::Cell;
    use std::time::{Duration, Instant};

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
            self.lane.enqueue(&head, Op::Launch(kernel, &geometry, Args::new(&[]))).unwrap();
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
                bench.machine.crew.wakes_slowly();
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
            lane.enqueue(&head, Op::Launch(kernel, &geometry, Args::new(&[]))).unwrap();
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
}
