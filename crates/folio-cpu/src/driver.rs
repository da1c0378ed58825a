//! Who runs a lane, and how each operation is run.
//!
//! A lane has at most one driver (see `lane`). It runs the lane's operations back to back and
//! leaves when there are none, when the first one waits for another lane, or when it is for
//! somebody else: a submitting thread runs only what is known to be tiny, and little of it. Lanes
//! that its work revives it hands to the pool, except one that it may take over when its own lane
//! ends.
//!
//! Whatever a kernel, its drop or its panic's payload does, ends here: a panic becomes the
//! operation's failure.

use crate::cost::{Class, Verdict};
use crate::graph::Nodes;
use crate::lane::{Core, Queue, Revived, State};
use crate::lock;
use crate::op::{Bytes, Held, Launch, Scratch, WaitFor, Work};
use crate::pool;
use crate::spread::Blocks;
use folio_core::hal::{Block, HalError, NativeKernel, ParamPtr, Tick, Timing};
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// Operations that one call of `drive` runs: a submitter works off its own, not everybody's.
const CALLER_BUDGET: usize = 16;
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

/// One visit of a driver.
struct Visit {
    driver: Driver,
    budget: usize,
    revived: Revived,
    /// Waits that were over; dropped without a lock, since a lane may end with them.
    over: SmallVec<[WaitFor; 4]>,
}

/// What a driver does next.
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
    let mut visit = Visit { driver, budget, revived: Revived::new(), over: SmallVec::new() };
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
    if queue.state == State::Queued {
        run(lane, queue, driver);
    }
}

impl Visit {
    fn run<'a>(&mut self, lane: &'a Arc<Core>, mut queue: MutexGuard<'a, Queue>) {
        queue.state = State::Running;
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
                    queue.state = State::Parked;
                    drop(queue);
                    self.hand_out();
                    if wait.lane.revive_at(wait.tick, lane) {
                        return;
                    }
                    drop(wait);
                    queue = lane.lock();
                    queue.state = State::Running;
                    scratch = queue.scratch.take().unwrap_or_default();
                }
                Next::HandOver => {
                    queue.scratch = Some(scratch);
                    queue.state = State::Queued;
                    drop(queue);
                    return lane.machine.enqueue(Arc::clone(lane));
                }
                Next::Leave => {
                    queue.ops.rewind();
                    queue.scratch = Some(scratch);
                    queue.state = State::Idle;
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
        let verdict = op.work.judge(&lane.machine.costs, scratch.sample());
        if !self.takes(lane, verdict.class) {
            return Next::HandOver;
        }
        queue.ops.pop(scratch);
        Next::Run(verdict)
    }

    fn takes(&mut self, lane: &Core, class: Class) -> bool {
        match self.driver {
            Driver::Caller => self.budget > 0 && class == Class::Tiny,
            Driver::Waiter { tick, until } => {
                let in_time = |until| class == Class::Tiny && Instant::now() < until;
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
            lane.lock().state = State::Queued;
            let machine = Arc::clone(&lane.machine);
            machine.enqueue(lane);
        }
    }
}

/// Runs the operation in `scratch` to its end: its closure dropped, its failure filed, its cost
/// learnt. Tells its tick.
fn execute(lane: &Core, verdict: Verdict, scratch: &mut Scratch) -> Tick {
    let Scratch { op: Some(op), held, .. } = scratch else { return 0 };
    let started = op.queued.is_some().then(Instant::now);
    let result = match &mut op.work {
        work @ Work::Replay(_) => replay(lane, std::mem::replace(work, Work::Nothing)),
        work => run_work(lane, work, verdict, held),
    };
    let kernel = &mut held.kernel;
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
#[cold]
fn replay(lane: &Core, work: Work) -> Result<(), HalError> {
    let result = match &work {
        Work::Replay(nodes) => run_nodes(lane, nodes),
        _ => Ok(()),
    };
    after_drop(result, || drop(work))
}

/// Runs the nodes of a graph, up to the first that fails.
fn run_nodes(lane: &Core, nodes: &Nodes) -> Result<(), HalError> {
    for (at, node) in nodes.iter().enumerate() {
        let verdict = node.work.judge(&lane.machine.costs, false);
        if let Some(kernel) = &node.held.kernel {
            kernel.begin();
        }
        run_work(lane, &node.work, verdict, &node.held).map_err(|error| error.at_node(at))?;
    }
    Ok(())
}

/// Runs one operation, and learns what it costs.
#[inline(always)] // By itself it is called for each operation, and moves a result through memory.
fn run_work(lane: &Core, work: &Work, verdict: Verdict, held: &Held) -> Result<(), HalError> {
    match (work, &held.kernel) {
        (Work::Kernel(launch), Some(kernel)) => {
            if verdict.ns.is_none() {
                kernel.check_optimised();
            }
            let started = verdict.measure.then(Instant::now);
            let threads = run_kernel(lane, launch, kernel, verdict, &held.params)?;
            if let Some(started) = started {
                let ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
                let (key, items) = (launch.key, launch.geometry.items());
                lane.machine.costs.record(key, items, ns.saturating_mul(threads as u64));
            }
        }
        (Work::Bytes(bytes), _) => run_bytes(lane, bytes, verdict.class, held),
        _ => {}
    }
    Ok(())
}

/// Runs a kernel's blocks; tells how many threads could take part, or the first failure.
#[inline(always)] // As `run_work`.
fn run_kernel(
    lane: &Core,
    launch: &Launch,
    kernel: &NativeKernel,
    verdict: Verdict,
    params: &[ParamPtr],
) -> Result<usize, HalError> {
    let machine = &lane.machine;
    let run = |block| {
        let run = AssertUnwindSafe(|| {
            // SAFETY: the engine says that the parameters are live and not otherwise in use until
            // this operation's tick (contract of `hal`); the blocks of `Blocks` are disjoint.
            unsafe { kernel.run(params, &block) }
        });
        catch_unwind(run).map_err(HalError::panic)?.map_err(HalError::violation)
    };
    if verdict.class != Class::Wide {
        return run(Block::whole(launch.geometry.range)).map(|()| 1);
    }
    let wanted = verdict.blocks(machine.threads);
    let row = verdict.unit(launch.geometry.items(), machine.threads);
    let blocks = Blocks::new(&launch.geometry, [kernel.grain(), row], wanted);
    let first: Mutex<Option<HalError>> = Mutex::new(None);
    machine.for_each(blocks.count(), &|index| {
        let Err(error) = run(blocks.get(index)) else { return true };
        let later = match &mut *lock(&first) {
            none @ None => none.replace(error),
            Some(_) => Some(error),
        };
        discard(later);
        false
    });
    match lock(&first).take() {
        Some(error) => Err(error),
        None => Ok(machine.threads.min(blocks.count())),
    }
}

/// Drops something whose drop may panic; what that panic carries, and may panic again, is leaked.
pub(crate) fn discard<T>(payload: T) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}

/// Copies or fills.
fn run_bytes(lane: &Core, bytes: &Bytes, class: Class, held: &Held) {
    let pattern = held.pattern.as_slice();
    let rects = held.rects.as_slice();
    if class != Class::Wide {
        for rect in rects {
            // SAFETY: the engine says that rectangles lie in live memory, do not overlap, and are
            // not otherwise in use until this operation's tick (contract of `hal`).
            unsafe { rect.run(pattern, None) };
        }
        return;
    }
    debug_assert_eq!((rects.len(), pattern.len()), (bytes.rects, bytes.pattern));
    for rect in rects {
        lane.machine.for_each(rect.pieces(pattern.len()), &|index| {
            // SAFETY: as above; pieces are disjoint.
            unsafe { rect.run(pattern, Some(index)) };
            true
        });
    }
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
            this.enqueue(&head, Op::Launch(kernel, &geometry, &Args::new(&[]))).unwrap();
            if i % 3 > 0 {
                this.drive();
            }
        }
        assert_eq!(lanes[0].wait(20, None), Ok(true));
        assert_eq!(lanes[1].wait(20, None), Ok(true));
        assert_eq!(items.load(Ordering::Relaxed), 4000);
    }
}
