//! Who runs a lane, and how each operation is run.
//!
//! A lane has at most one driver (see `lane`). The driver runs the lane's operations back to back
//! and leaves when there are none, when the first one waits for another lane, or when it is for
//! somebody else: a submitting thread runs only what is known to be tiny, and little of it. Lanes
//! that its work revives it hands to the pool, except one that it may take over when its own lane
//! ends.
//!
//! Whatever a kernel, its drop or its panic's payload does, ends here: a panic becomes the
//! operation's failure.

use crate::cost::{TINY_NS, Verdict};
use crate::graph::Nodes;
use crate::job::nanos;
use crate::lane::{Activity, Core, Queue, Revived};
use crate::list::{self, Plan};
use crate::lock;
use crate::op::{Bytes, Launch, Operands, Scratch, WaitFor, Work, bytes_ns};
use crate::pool;
use crate::spread::Blocks;
use crate::trial::Way;
use folio_core::hal::{Block, HalError, NativeKernel, ParamPtr, Tick, Timing};
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// Operations that one call of `drive` runs, whatever they take: a submitter works off its own, not
/// those of all threads. Beyond these it goes on for as long as a hop to the pool would take
/// ([`TINY_NS`]).
const CALLER_BUDGET: usize = 16;
/// The time of an operation beside its kernel.
const OPERATION_NS: u64 = 100;
/// Operations after which a thread of the pool looks whether other lanes wait for it.
const POOL_BUDGET: usize = 128;

/// On whose thread a lane runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Driver {
    /// Somebody who just submitted.
    Caller,
    /// A thread of the pool.
    Pool,
    /// Somebody who waits for `tick`.
    Waiter { tick: Tick, until: Option<Instant> },
}

/// A visit of a driver.
struct Visit {
    driver: Driver,
    budget: usize,
    /// The time of the operations that it has run.
    ns: u64,
    revived: Revived,
    /// Waits that were over; dropped without a lock, since a lane may end with them.
    over: SmallVec<[WaitFor; 4]>,
}

/// The next step of a driver.
enum Next {
    /// The operation that is in the scratch now.
    Run(Verdict),
    Park(WaitFor),
    HandOver,
    Leave,
}

/// Runs `lane`, whose state under `queue` allows it.
pub(crate) fn run(lane: &Arc<Core>, queue: MutexGuard<'_, Queue>, driver: Driver) {
    let budget = match driver {
        Driver::Caller => CALLER_BUDGET,
        Driver::Pool if pool::nested() => 1,
        Driver::Pool => POOL_BUDGET,
        Driver::Waiter { .. } => usize::MAX,
    };
    let (revived, over) = (Revived::new(), SmallVec::new());
    let mut visit = Visit { driver, budget, ns: 0, revived, over };
    visit.run(lane, queue);
    if let Driver::Waiter { .. } = driver {
        visit.hand_out();
    }
    while let Some(next) = visit.revived.pop() {
        visit.hand_out();
        // Parked, and this visit's since it left the list of dependents.
        visit.run(&next, next.lock());
    }
}

/// Runs `lane`, unless somebody was faster since it was queued.
pub(crate) fn run_queued(lane: &Arc<Core>, driver: Driver) {
    let queue = lane.lock();
    if queue.activity == Activity::Queued {
        run(lane, queue, driver);
    }
}

impl Visit {
    fn run<'a>(&mut self, lane: &'a Arc<Core>, mut queue: MutexGuard<'a, Queue>) {
        queue.activity = Activity::Running;
        let mut scratch = queue.scratch.take().unwrap_or_default();
        loop {
            match self.next(lane, &mut queue, &mut scratch) {
                Next::Run(verdict) => {
                    drop(queue);
                    self.hand_out();
                    let tick = execute(lane, verdict, &mut scratch);
                    lane.complete(tick);
                    self.budget = self.budget.saturating_sub(1);
                    queue = lane.lock();
                    lane.sound_alarm(&mut queue, tick, &mut self.revived);
                }
                Next::Park(wait) => {
                    queue.scratch = Some(scratch);
                    queue.activity = Activity::Parked;
                    drop(queue);
                    self.hand_out();
                    if wait.lane.revive_at(wait.tick, lane) {
                        return;
                    }
                    drop(wait);
                    queue = lane.lock();
                    queue.activity = Activity::Running;
                    scratch = queue.scratch.take().unwrap_or_default();
                }
                Next::HandOver => {
                    queue.scratch = Some(scratch);
                    queue.activity = Activity::Queued;
                    drop(queue);
                    return lane.machine.enqueue(Arc::clone(lane));
                }
                Next::Leave => {
                    queue.ops.rewind();
                    queue.scratch = Some(scratch);
                    queue.activity = Activity::Idle;
                    return;
                }
            }
        }
    }

    /// Decides under the lane's lock; leaves the lane's state to the caller.
    fn next(&mut self, lane: &Core, queue: &mut Queue, scratch: &mut Scratch) -> Next {
        let Some(op) = queue.ops.queue.front_mut() else { return Next::Leave };
        while op.waits > 0 {
            op.waits -= 1;
            match queue.ops.waits.pop_front() {
                Some(wait) if !wait.lane.reached(wait.tick) => return Next::Park(wait),
                over => self.over.extend(over),
            }
        }
        let verdict = op.work.judge(&lane.machine.costs, scratch.samples.next());
        if !self.takes(lane, verdict) {
            return Next::HandOver;
        }
        queue.ops.pop(scratch);
        Next::Run(verdict)
    }

    fn takes(&mut self, lane: &Core, Verdict { tiny, ns, .. }: Verdict) -> bool {
        match self.driver {
            Driver::Caller => {
                self.ns = self.ns.saturating_add(ns.unwrap_or(TINY_NS) + OPERATION_NS);
                tiny && (self.budget > 0 || self.ns < TINY_NS)
            }
            Driver::Waiter { tick, until } => {
                let in_time = |until| tiny && Instant::now() < until;
                !lane.reached(tick) && until.is_none_or(in_time)
            }
            Driver::Pool => {
                if self.budget == 0 && !pool::nested() && !lane.machine.crowded() {
                    self.budget = POOL_BUDGET;
                }
                self.budget > 0
            }
        }
    }

    /// Gives the lanes that were revived to the pool. Called without a lock.
    fn hand_out(&mut self) {
        if self.revived.is_empty() && self.over.is_empty() {
            return;
        }
        self.over.clear();
        for lane in self.revived.drain(..) {
            lane.lock().activity = Activity::Queued;
            let machine = Arc::clone(&lane.machine);
            machine.enqueue(lane);
        }
    }
}

/// Runs the operation in `scratch` to its end: its closure dropped, its failure filed, its cost
/// learnt. Tells its tick.
fn execute(lane: &Core, verdict: Verdict, scratch: &mut Scratch) -> Tick {
    let Scratch { op: Some(op), operands, plan, samples } = scratch else { return 0 };
    let started = op.queued.is_some().then(Instant::now);
    let result = match &mut op.work {
        work @ Work::Replay(_) => {
            let work = std::mem::replace(work, Work::Nothing);
            replay(lane, work, verdict, (plan, samples.next()))
        }
        work => run_work(lane, work, verdict, operands),
    };
    let kernel = &mut operands.kernel;
    let result = after_drop(result, || *kernel = None);
    if let (Some(queued), Some(started)) = (op.queued, started) {
        let clock = |at| lane.machine.clock(at);
        let timing = Timing { queued, started: clock(started), ended: clock(Instant::now()) };
        lane.time(op.tick, timing);
    }
    if let Err(error) = result {
        lane.fail(op.tick, error);
    }
    op.tick
}

/// A drop is user code, too: its panic is the failure, unless the run has one.
#[inline]
fn after_drop(result: Result<(), HalError>, drop: impl FnOnce()) -> Result<(), HalError> {
    match catch_unwind(AssertUnwindSafe(drop)) {
        Ok(()) => result,
        Err(payload) if result.is_ok() => Err(HalError::panic(payload)),
        Err(payload) => {
            discard(payload);
            result
        }
    }
}

/// Replays a graph, of which this may be the last that has its closures.
#[inline(never)]
fn replay(
    lane: &Core,
    work: Work,
    all: Verdict,
    (plan, sample): (&mut Plan, bool),
) -> Result<(), HalError> {
    let result = match &work {
        Work::Replay(nodes) if all.tiny && !all.measure => run_tiny(lane, nodes, all),
        Work::Replay(nodes) => list::run(lane, nodes, plan, sample),
        _ => Ok(()),
    };
    after_drop(result, || drop(work))
}

/// Runs the nodes of a tiny graph, of which each is tiny, up to the first that fails.
fn run_tiny(lane: &Core, nodes: &Nodes, all: Verdict) -> Result<(), HalError> {
    nodes.iter().enumerate().try_for_each(|(at, node)| {
        node.begin();
        run_alone(lane, &node.work, all, &node.operands).map_err(|error| error.at_node(at))
    })
}

/// Runs one operation, and learns what it costs.
#[inline(always)] // By itself it is called for each operation, and moves a result through memory.
pub(crate) fn run_work(
    lane: &Core,
    work: &Work,
    verdict: Verdict,
    operands: &Operands,
) -> Result<(), HalError> {
    let params = operands.params.as_slice();
    match (work, &operands.kernel) {
        (Work::Kernel(launch), Some(kernel)) if verdict.tried.is_some() => {
            run_tried(lane, launch, kernel, verdict, params)
        }
        (Work::Kernel(launch), Some(kernel)) if !verdict.is_alone() => {
            run_shared(lane, launch, kernel, verdict, params)
        }
        (Work::Bytes(bytes), _) if bytes.is_wide() => {
            run_wide(lane, bytes, operands);
            Ok(())
        }
        _ => run_alone(lane, work, verdict, operands),
    }
}

/// The same on this thread alone.
#[inline(always)] // As `run_work`.
pub(crate) fn run_alone(
    lane: &Core,
    work: &Work,
    verdict: Verdict,
    operands: &Operands,
) -> Result<(), HalError> {
    match (work, &operands.kernel) {
        (Work::Kernel(launch), Some(kernel)) => {
            return run_whole(lane, launch, kernel, verdict.measure, operands.params.as_slice());
        }
        (Work::Bytes(_), _) => {
            for rect in &operands.rects {
                // SAFETY: the engine says that rectangles lie in live memory, do not overlap, and
                // are not otherwise in use until this operation's tick (contract of `hal`).
                unsafe { rect.run(&operands.pattern, None) };
            }
        }
        _ => {}
    }
    Ok(())
}

/// Runs all items of a launch as one block.
#[inline(always)] // As `run_work`.
fn run_whole(
    lane: &Core,
    launch: &Launch,
    kernel: &NativeKernel,
    measure: bool,
    params: &[ParamPtr],
) -> Result<(), HalError> {
    let started = measure.then(Instant::now);
    run_block(kernel, params, Block::whole(launch.geometry.range))?;
    if let Some(started) = started {
        let (key, items) = (launch.key, launch.geometry.items());
        lane.machine.costs.record(key, items, nanos(started.elapsed()));
    }
    Ok(())
}

/// Runs one block of a launch, which no other call is given.
#[inline(always)] // As `run_work`.
pub(crate) fn run_block(
    kernel: &NativeKernel,
    params: &[ParamPtr],
    block: Block,
) -> Result<(), HalError> {
    let run = AssertUnwindSafe(|| {
        // SAFETY: the engine says that the parameters are live and not otherwise in use until
        // this operation's tick (contract of `hal`); the caller's blocks are disjoint.
        unsafe { kernel.run(params, &block) }
    });
    catch_unwind(run).map_err(HalError::panic)?.map_err(HalError::violation)
}

/// Runs a launch of which both ways are tried, and learns how long this one takes.
#[inline(never)]
fn run_tried(
    lane: &Core,
    launch: &Launch,
    kernel: &NativeKernel,
    verdict: Verdict,
    params: &[ParamPtr],
) -> Result<(), HalError> {
    let started = Instant::now();
    match verdict.tried {
        Some(Way::Shared) => run_shared(lane, launch, kernel, verdict, params)?,
        _ => run_whole(lane, launch, kernel, true, params)?,
    }
    let (way, items) = (verdict.tried.unwrap_or(Way::Alone), launch.geometry.items());
    lane.machine.costs.tried(launch.key, items, way, nanos(started.elapsed()));
    Ok(())
}

/// Runs a kernel's blocks on as many threads as pay; tells the first failure.
#[inline(never)]
fn run_shared(
    lane: &Core,
    launch: &Launch,
    kernel: &NativeKernel,
    verdict: Verdict,
    params: &[ParamPtr],
) -> Result<(), HalError> {
    if verdict.ns.is_none() {
        kernel.check_optimised();
    }
    let (machine, items) = (&lane.machine, launch.geometry.items());
    let row = verdict.unit(items, machine.threads);
    let wanted = verdict.blocks(items, machine.threads);
    let blocks = Blocks::new(&launch.geometry, [kernel.grain(), row], wanted);
    let block_ns = verdict.ns.map_or(0, |ns| ns / blocks.count() as u64);
    let first: Mutex<Option<HalError>> = Mutex::new(None);
    let busy = machine.share_blocks(lane.address(), (blocks.count(), block_ns), &|index| {
        let Err(error) = run_block(kernel, params, blocks.get(index)) else { return true };
        let later = match &mut *lock(&first) {
            none @ None => none.replace(error),
            Some(_) => Some(error),
        };
        discard(later);
        false
    });
    if let Some(error) = lock(&first).take() {
        return Err(error);
    }
    machine.costs.record(launch.key, items, busy);
    Ok(())
}

/// Drops something whose drop may panic; what that panic carries, and may panic again, is leaked.
pub(crate) fn discard<T>(payload: T) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}

/// Copies or fills on as many threads as pay.
fn run_wide(lane: &Core, bytes: &Bytes, operands: &Operands) {
    debug_assert_eq!((operands.rects.len(), operands.pattern.len()), (bytes.rects, bytes.pattern));
    let pieces = operands.pieces();
    let piece_ns = bytes_ns(bytes.bytes, bytes.rows) / pieces.max(1) as u64;
    lane.machine.share_blocks(lane.address(), (pieces, piece_ns), &|index| {
        // SAFETY: as of a copy on one thread; pieces are disjoint.
        unsafe { operands.run_piece(index) };
        true
    });
}

#[cfg(test)]
mod tests {
    use crate::lane::CpuLane;
    use crate::pool::Machine;
    use folio_core::hal::Op;
    use folio_core::hal::{
        Args, Block, BlockKernel, Geometry, Head, KernelRef, Lane, NativeKernel, Notify, Order,
        ParamPtr, Verdict, Wait,
    };
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::{self, ThreadId};
    use std::time::{Duration, Instant};

    struct Slow(Arc<AtomicUsize>);

    impl BlockKernel for Slow {
        unsafe fn run(&self, _: &[ParamPtr], block: &Block) -> Verdict {
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(30) {}
            self.0.fetch_add(block.volume(), Ordering::Relaxed);
            Ok(())
        }
    }

    /// Counts the runs on other threads.
    struct Hops(ThreadId, Arc<AtomicUsize>);

    impl BlockKernel for Hops {
        unsafe fn run(&self, _: &[ParamPtr], _: &Block) -> Verdict {
            self.1.fetch_add(usize::from(thread::current().id() != self.0), Ordering::Relaxed);
            Ok(())
        }
    }

    /// A submitter works off many short operations, if all of them take less than to wake a thread
    /// for them.
    #[test]
    fn no_thread_is_woken_for_many_short_operations() {
        let machine = Arc::new(Machine::new(2, Box::default()));
        let lane = CpuLane::new(machine.clone(), Notify::none());
        let (here, hops) = (thread::current().id(), Arc::new(AtomicUsize::new(0)));
        let kernel = || NativeKernel::new(Hops(here, hops.clone()));
        let key = crate::cost::Costs::key(kernel().id());
        let round = |round: u64| {
            // The cost is known, whatever interrupted a run that was measured.
            (0..100).for_each(|_| machine.costs.record(key, 1, 1));
            let before = hops.load(Ordering::Relaxed);
            for tick in 40 * round + 1..=40 * round + 40 {
                let order = Order::AfterPrevious;
                let head = Head { tick, order, waits: &[], label: "", timed: false };
                let kernel = KernelRef::Native(&Cell::new(Some(kernel())));
                let geometry = Geometry::new(1, [1, 1, 1]);
                lane.enqueue(&head, Op::Launch(kernel, &geometry, Args::new(&[]))).unwrap();
            }
            lane.drive();
            assert_eq!(lane.wait(40 * round + 40, None), Ok(true));
            hops.load(Ordering::Relaxed) - before
        };
        // Now and then a run is measured, and may be interrupted meanwhile.
        assert!((0..20).any(|nth| round(nth) == 0), "a thread was woken in each round");
    }

    #[test]
    fn without_threads_submitters_and_waiters_do_everything() {
        let machine = Arc::new(Machine::without_threads());
        let lane = || -> Arc<dyn Lane> { Arc::new(CpuLane::new(machine.clone(), Notify::none())) };
        let lanes = [lane(), lane()];
        let items = Arc::new(AtomicUsize::new(0));
        for i in 0..40 {
            let (tick, this, other) = (i / 2 + 1, &lanes[i % 2], &lanes[1 - i % 2]);
            let waits = [Wait { lane: other, tick: i.div_ceil(2) as u64 }];
            let order = Order::AfterPrevious;
            let head = Head { tick: tick as u64, order, waits: &waits, label: "", timed: false };
            let kernel =
                KernelRef::Native(&Cell::new(Some(NativeKernel::new(Slow(items.clone())))));
            let geometry = Geometry::new(1, [1, 1, 100]);
            this.enqueue(&head, Op::Launch(kernel, &geometry, Args::new(&[]))).unwrap();
            if i % 3 > 0 {
                this.drive();
            }
        }
        assert_eq!(lanes[0].wait(20, None), Ok(true));
        assert_eq!(lanes[1].wait(20, None), Ok(true));
        assert_eq!(items.load(Ordering::Relaxed), 4000);
    }
}
