//! A graph's nodes as one job: threads stay within its round from one node to the next.
//!
//! Nodes that follow each other and depend on none of each other are a *group*. A group that is
//! worth more than one thread is a stage of the job, and nodes between two stages run on the thread
//! that ends the first. A graph therefore wakes threads once, and between two stages they wait as
//! long as one number takes to pass from one to the others. All stages are cut alike: where a
//! thread begins is what it has computed in the stage before.

use crate::cost::{SHARED_NS, Verdict, pays};
use crate::driver::{discard, run_alone, run_block, run_work};
use crate::graph::{Nodes, Prepared};
use crate::job::{self, Job, Stage, Work as _, nanos};
use crate::lane::Core;
use crate::lock;
use crate::op::Work;
use crate::spread::Blocks;
use crate::trial::{TRIED_NS, Way};
use folio_core::hal::HalError;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

/// A thread's part of a stage from which on looking at a clock costs nothing.
const MEASURED_NS: u64 = 5_000;

/// How one run of a graph is done. Kept for the next run's, for its memory.
#[derive(Default)]
pub(crate) struct Plan {
    /// The first node that is planned.
    start: usize,
    nodes: Vec<Planned>,
    steps: Vec<Round>,
    stages: Vec<Stage>,
    /// The time of all stages.
    ns: u64,
    /// Some node's time is asked for.
    measured: bool,
    /// The way of this run, where both are tried.
    tried: Option<Way>,
}

struct Planned {
    verdict: Verdict,
    /// The number of its first block in its stage.
    first: usize,
    cut: Cut,
}

/// How a node of a stage is cut.
enum Cut {
    Launch(Blocks),
    Bytes { pieces: usize },
    Whole,
}

impl Cut {
    fn count(&self) -> usize {
        match self {
            Cut::Launch(blocks) => blocks.count(),
            Cut::Bytes { pieces } => *pieces,
            Cut::Whole => 1,
        }
    }
}

/// Nodes that run on one thread, and then a stage of the nodes up to `end`.
struct Round {
    alone: Range<usize>,
    end: usize,
}

impl Round {
    fn stage(&self) -> Range<usize> {
        self.alone.end..self.end
    }
}

impl Plan {
    /// Plans the nodes from `start` on, up to the first group with an unknown node. Tells where the
    /// nodes behind the last stage begin, and where all that are planned end.
    fn make(&mut self, nodes: &Nodes, start: usize, lane: &Core, sample: bool) -> [usize; 2] {
        let threads = lane.machine.parts;
        (self.start, self.ns, self.measured) = (start, 0, sample);
        self.nodes.clear();
        self.steps.clear();
        self.stages.clear();
        let (mut from, mut at) = (start, start);
        while at < nodes.len() {
            let end = nodes.end_of_group(at);
            let Some(ns) = self.judge(nodes, at..end, lane, sample) else { break };
            if self.stage(nodes, at..end, pays(ns, threads), ns) {
                self.steps.push(Round { alone: from..at, end });
                from = end;
            }
            at = end;
        }
        self.tried = self.trial(nodes, start..at);
        if self.ns < SHARED_NS || self.tried == Some(Way::Alone) {
            self.steps.clear();
            self.stages.clear();
            from = start;
        }
        Stage::link(&mut self.stages);
        self.measured |= self.ns > MEASURED_NS * (threads * self.stages.len()) as u64;
        [from, at]
    }

    /// The way of a whole list whose stages are short.
    fn trial(&self, nodes: &Nodes, planned: Range<usize>) -> Option<Way> {
        let most = TRIED_NS * self.stages.len() as u64;
        let is_tried = planned == (0..nodes.len()) && self.ns >= SHARED_NS;
        if is_tried { nodes.trial.next(self.ns, most) } else { None }
    }

    /// The time of a group, if that is known.
    fn judge(
        &mut self,
        nodes: &Nodes,
        group: Range<usize>,
        lane: &Core,
        sample: bool,
    ) -> Option<u64> {
        let mut sum = 0u64;
        for node in &nodes[group] {
            let verdict = node.work.judge(&lane.machine.costs, sample);
            self.nodes.push(Planned { verdict, first: 0, cut: Cut::Whole });
            sum = sum.saturating_add(verdict.ns?);
        }
        Some(sum)
    }

    /// Makes a stage of a group that takes so long in all, if it is worth more than one thread.
    fn stage(&mut self, nodes: &Nodes, group: Range<usize>, parts: usize, ns: u64) -> bool {
        if parts < 2 {
            return false;
        }
        let mut count = 0;
        for at in group.clone() {
            let planned = &mut self.nodes[at - self.start];
            let share = planned.verdict.share_of(ns, parts);
            planned.first = count;
            planned.cut = cut(&nodes[at], planned.verdict, share);
            count += planned.cut.count();
        }
        if count < 2 {
            return false;
        }
        self.measured |= group.into_iter().any(|at| self.node(at).verdict.measure);
        self.ns = self.ns.saturating_add(ns);
        self.stages.push(Stage::new((count, (ns / count as u64).max(1)), parts));
        true
    }

    fn node(&self, at: usize) -> &Planned {
        &self.nodes[at - self.start]
    }
}

/// Cuts a node for so many threads.
fn cut(Prepared { work, operands, .. }: &Prepared, verdict: Verdict, threads: usize) -> Cut {
    match (work, &operands.kernel) {
        (Work::Kernel(launch), Some(kernel)) => {
            let geometry = &launch.geometry;
            let unit = [kernel.grain(), verdict.unit(geometry.items(), threads)];
            Cut::Launch(Blocks::new(geometry, unit, verdict.blocks_of_stage(threads)))
        }
        (Work::Bytes(bytes), _) if bytes.is_wide() => Cut::Bytes { pieces: operands.pieces() },
        _ => Cut::Whole,
    }
}

/// A job of the planned nodes.
struct List<'l> {
    lane: &'l Core,
    nodes: &'l Nodes,
    plan: &'l Plan,
    failure: Mutex<Option<HalError>>,
}

impl List<'_> {
    fn fails(&self, node: usize, error: HalError) -> bool {
        let later = match &mut *lock(&self.failure) {
            none @ None => none.replace(error.at_node(node)),
            Some(_) => Some(error),
        };
        discard(later);
        false
    }

    /// Runs nodes on this thread.
    fn alone(&self, mut nodes: Range<usize>) -> bool {
        nodes.all(|at| {
            let (node, mut verdict) = (&self.nodes[at], self.plan.node(at).verdict);
            // What threads have shared may have taken longer.
            verdict.measure |= self.plan.tried.is_some() && verdict.ns > Some(SHARED_NS);
            node.begin();
            let result = run_alone(self.lane, &node.work, verdict, &node.operands);
            result.map_or_else(|error| self.fails(at, error), |()| true)
        })
    }

    fn run_block(&self, at: usize, block: usize) -> Result<(), HalError> {
        let (Prepared { work, operands, .. }, planned) = (&*self.nodes[at], self.plan.node(at));
        match (&planned.cut, &operands.kernel) {
            (Cut::Launch(blocks), Some(kernel)) => {
                run_block(kernel, operands.params.as_slice(), blocks.get(block))
            }
            (Cut::Bytes { .. }, _) => {
                // SAFETY: as for a copy by itself (`driver`); pieces are disjoint.
                unsafe { operands.run_piece(block) };
                Ok(())
            }
            _ => run_alone(self.lane, work, planned.verdict, operands),
        }
    }

    /// Learns what the stages have taken: of nodes that run at once, what they were taken to cost
    /// tells whose time was whose.
    fn learn(&self) {
        for (step, stage) in self.plan.steps.iter().zip(&self.plan.stages) {
            let ns_of = |at: usize| self.plan.node(at).verdict.ns.unwrap_or(0).max(1);
            let all: u64 = step.stage().map(ns_of).sum();
            for at in step.stage() {
                if let Work::Kernel(launch) = &self.nodes[at].work {
                    let ns = u128::from(stage.busy()) * u128::from(ns_of(at)) / u128::from(all);
                    let ns = u64::try_from(ns).unwrap_or(u64::MAX);
                    self.lane.machine.costs.record(launch.key, launch.geometry.items(), ns);
                }
            }
        }
    }
}

impl job::Work for List<'_> {
    fn run(&self, stage: usize, block: usize) -> bool {
        let Some(step) = self.plan.steps.get(stage) else { return false };
        let has = |at: &usize| self.plan.node(*at).first <= block;
        let Some(at) = step.stage().rev().find(has) else { return false };
        let result = self.run_block(at, block - self.plan.node(at).first);
        result.map_or_else(|error| self.fails(at, error), |()| true)
    }

    fn prepare(&self, stage: usize) -> bool {
        let Some(step) = self.plan.steps.get(stage) else { return false };
        let goes_on = self.alone(step.alone.clone());
        if goes_on {
            self.nodes[step.stage()].iter().for_each(|node| node.begin());
        }
        goes_on
    }
}

/// Runs the nodes of a graph, up to the first that fails.
pub(crate) fn run(
    lane: &Core,
    nodes: &Nodes,
    plan: &mut Plan,
    sample: bool,
) -> Result<(), HalError> {
    let (mut start, started) = (0, Instant::now());
    while start < nodes.len() {
        let [last, end] = plan.make(nodes, start, lane, sample);
        run_planned(lane, nodes, plan, last..end)?;
        start = nodes.end_of_group(end);
        // A node of this group is unknown: its first blocks tell how many threads it is worth.
        for at in end..start {
            let node = &nodes[at];
            let verdict = node.work.judge(&lane.machine.costs, sample);
            node.begin();
            run_work(lane, &node.work, verdict, &node.operands)
                .map_err(|error| error.at_node(at))?;
        }
    }
    if let Some(way) = plan.tried {
        nodes.trial.record(way, nanos(started.elapsed()));
    }
    Ok(())
}

/// Runs all stages, and then the nodes that are left, on this thread.
fn run_planned(
    lane: &Core,
    nodes: &Nodes,
    plan: &Plan,
    last: Range<usize>,
) -> Result<(), HalError> {
    let list = List { lane, nodes, plan, failure: Mutex::new(None) };
    if !plan.stages.is_empty() && list.prepare(0) {
        lane.machine.share(lane.address(), &Job::new(&list, &plan.stages, plan.measured));
        if plan.measured && lock(&list.failure).is_none() {
            list.learn();
        }
    }
    if lock(&list.failure).is_none() {
        list.alone(last);
    }
    lock(&list.failure).take().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Costs;
    use crate::graph::CpuGraph;
    use crate::lane::CpuLane;
    use crate::pool::Machine;
    use folio_core::hal::{
        Args, Block, BlockKernel, Geometry, Graph, Head, KernelRef, Lane, NativeKernel, Node,
        Notify, Op, Order, ParamPtr, Verdict,
    };
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::time::Duration;

    /// By node: the items that have run, and how many of them ran too early.
    struct Board {
        items: Vec<usize>,
        done: Vec<AtomicUsize>,
        early: AtomicUsize,
        /// A block of this node panics.
        panics: AtomicUsize,
        /// Microseconds of a block.
        takes: AtomicU64,
    }

    /// A node that comes after all items of another one.
    struct Stamp(Arc<Board>, usize, Option<usize>);

    impl BlockKernel for Stamp {
        unsafe fn run(&self, _: &[ParamPtr], block: &Block) -> Verdict {
            let Stamp(board, node, after) = self;
            let done = |node: usize| board.done[node].load(Ordering::Relaxed);
            let is_early = after.is_some_and(|after| done(after) != board.items[after]);
            board.early.fetch_add(usize::from(is_early), Ordering::Relaxed);
            let takes = Duration::from_micros(board.takes.load(Ordering::Relaxed));
            let started = Instant::now();
            while started.elapsed() < takes {}
            let panics = *node == board.panics.load(Ordering::Relaxed);
            assert!(!panics || block.min != [0; 3], "as told");
            board.done[*node].fetch_add(block.volume(), Ordering::Relaxed);
            Ok(())
        }

        fn number(&self) -> u64 {
            self.1 as u64
        }
    }

    struct Bench {
        machine: Arc<Machine>,
        lane: CpuLane,
        graph: Arc<dyn Graph>,
        nodes: Arc<Nodes>,
        board: Arc<Board>,
        ns: Vec<u64>,
        tick: u64,
    }

    impl Bench {
        /// A graph of nodes of so many items, of which each takes so long and comes after another.
        fn new(threads: usize, nodes: &[(usize, u64, Option<usize>)]) -> Bench {
            let machine = Arc::new(Machine::new(threads, Box::default()));
            let lane = CpuLane::new(machine.clone(), Notify::none());
            let board = Arc::new(Board {
                items: nodes.iter().map(|node| node.0).collect(),
                done: nodes.iter().map(|_| AtomicUsize::new(0)).collect(),
                early: AtomicUsize::new(0),
                panics: AtomicUsize::new(usize::MAX),
                takes: AtomicU64::new(0),
            });
            let kernel = |at: usize| NativeKernel::new(Stamp(board.clone(), at, nodes[at].2));
            let kernels: Vec<_> = (0..nodes.len()).map(|at| Cell::new(Some(kernel(at)))).collect();
            let geometry: Vec<_> =
                nodes.iter().map(|node| Geometry::new(1, [1, 1, node.0])).collect();
            let args = Args::new(&[]);
            let list: Vec<_> = (0..nodes.len())
                .map(|at| Node {
                    op: Op::Launch(KernelRef::Native(&kernels[at]), &geometry[at], args),
                    after: nodes[at].2.as_slice(),
                })
                .collect();
            let graph = CpuGraph::new(&list).unwrap();
            let ns = nodes.iter().map(|node| node.1).collect();
            let (nodes, graph) = (graph.nodes(), Arc::new(graph));
            Bench { machine, lane, graph, nodes, board, ns, tick: 0 }
        }

        /// The nodes take as long as they are said to, and all of them long.
        fn knows(&self) {
            (0..2).for_each(|_| self.nodes.trial.record(Way::Alone, 1 << 40));
            for (at, node) in self.nodes.iter().enumerate() {
                let Some(kernel) = &node.operands.kernel else { continue };
                let key = Costs::key(kernel.id());
                let items = self.board.items[at];
                (0..40).for_each(|_| self.machine.costs.record(key, items, self.ns[at]));
            }
        }

        /// Runs once; tells the rounds and calls of it.
        fn run(&mut self) -> (usize, usize) {
            let counts = |machine: &Machine| {
                let [rounds, calls] = [&machine.crew.rounds, &machine.crew.calls];
                (rounds.load(Ordering::Relaxed), calls.load(Ordering::Relaxed))
            };
            self.board.done.iter().for_each(|done| done.store(0, Ordering::Relaxed));
            let before = counts(&self.machine);
            self.tick += 1;
            let head = Head {
                tick: self.tick,
                order: Order::AfterPrevious,
                waits: &[],
                label: "",
                timed: false,
            };
            self.lane.enqueue(&head, Op::Replay(&self.graph)).unwrap();
            assert_eq!(self.lane.wait(self.tick, None), Ok(true));
            let after = counts(&self.machine);
            (after.0 - before.0, after.1 - before.1)
        }

        fn is_done(&self) -> bool {
            let done = self.board.done.iter().map(|done| done.load(Ordering::Relaxed));
            done.eq(self.board.items.iter().copied())
                && self.board.early.load(Ordering::Relaxed) == 0
        }
    }

    const THREADS: [usize; 4] = [2, 3, 16, 64];
    /// The time of the wide nodes of these tests, as a machine knows it: shared without a trial.
    const WIDE: u64 = 100_000;

    /// Wide nodes, each after the one before, and small ones between them.
    fn chain(len: usize) -> Vec<(usize, u64, Option<usize>)> {
        let node = |at: usize| match at % 4 {
            3 => (1, 50, at.checked_sub(1)),
            _ => (4096, WIDE, at.checked_sub(1)),
        };
        (0..len).map(node).collect()
    }

    /// BACK-05
    #[test]
    fn a_run_of_known_nodes_is_one_round_in_which_each_node_comes_after_the_one_before() {
        for threads in THREADS {
            let mut bench = Bench::new(threads, &chain(11));
            for _ in 0..50 {
                bench.knows();
                let (rounds, calls) = bench.run();
                assert_eq!(rounds, 1, "{threads}");
                // Each thread is called once, and again only where it has waited in vain.
                assert!(calls <= 2 * threads, "{threads}: {calls}");
                assert!(bench.is_done(), "{threads}");
            }
        }
    }

    /// BACK-05
    #[test]
    fn small_nodes_open_no_round_and_call_no_thread() {
        for threads in THREADS {
            let small: Vec<_> = (0..64).map(|at: usize| (1, 700, at.checked_sub(1))).collect();
            let mut bench = Bench::new(threads, &small);
            bench.knows();
            assert_eq!(bench.run().0, 0, "{threads}");
            assert!(bench.is_done());
        }
    }

    /// BACK-05
    #[test]
    fn a_list_that_sharing_makes_slower_ends_on_one_thread_and_calls_none() {
        let short: Vec<_> = (0..6).map(|at: usize| (4096, 20_000, at.checked_sub(1))).collect();
        for (shared, rounds) in [(200_000, 0), (50_000, 20)] {
            let mut bench = Bench::new(16, &short);
            for _ in 0..4 {
                bench.nodes.trial.record(Way::Alone, 120_000);
                bench.nodes.trial.record(Way::Shared, shared);
            }
            bench.knows();
            let run = |bench: &mut Bench| {
                bench.nodes.trial.record(Way::Shared, shared);
                bench.run()
            };
            let ran: Vec<_> = (0..20).map(|_| run(&mut bench)).collect();
            assert_eq!(ran.iter().map(|ran| ran.0).sum::<usize>(), rounds);
            assert!(rounds > 0 || ran.iter().all(|ran| ran.1 == 0), "{ran:?}");
            assert!(bench.is_done());
        }
    }

    #[test]
    fn unknown_nodes_run_by_themselves_and_are_known_then() {
        for threads in THREADS {
            let mut bench = Bench::new(threads, &chain(5));
            assert_eq!(bench.run().0, 4, "{threads}");
            assert!(bench.is_done());
            assert!(bench.run().0 <= 1, "{threads}");
            assert!(bench.is_done());
        }
    }

    #[test]
    fn what_a_node_takes_is_learnt_within_a_round() {
        let mut bench = Bench::new(2, &chain(3));
        bench.knows();
        bench.board.takes.store(200, Ordering::Relaxed);
        let ns = |bench: &Bench| {
            let of = |node: &Arc<Prepared>| node.work.judge(&bench.machine.costs, false).ns;
            bench.nodes.iter().filter_map(of).min()
        };
        assert_eq!(ns(&bench), Some(WIDE));
        assert_eq!([bench.run().0, bench.run().0, bench.run().0], [1; 3]);
        assert!(ns(&bench) >= Some(400_000), "{:?}", ns(&bench));
    }

    #[test]
    fn nodes_that_depend_on_none_of_each_other_are_one_stage() {
        let nodes = [
            (4096, WIDE, None),
            (1, 50, None),
            (4096, 3 * WIDE, None),
            (64, WIDE, Some(2)),
            (512, WIDE, Some(0)),
            (4096, WIDE, Some(4)),
        ];
        let mut bench = Bench::new(4, &nodes);
        let ends: Vec<_> = (0..6).map(|at| bench.nodes.end_of_group(at)).collect();
        assert_eq!(ends, [3, 3, 3, 5, 5, 6]);
        bench.knows();
        let mut plan = Plan::default();
        assert_eq!(plan.make(&bench.nodes, 0, &lane_core(&bench), false), [6, 6]);
        assert_eq!(plan.stages.len(), 3);
        for _ in 0..50 {
            bench.knows();
            assert_eq!(bench.run().0, 1);
            assert!(bench.is_done());
        }
    }

    fn lane_core(bench: &Bench) -> Core {
        Core::new(bench.machine.clone(), Notify::none())
    }

    #[test]
    fn a_panic_in_any_node_ends_the_run_and_is_told_of_that_node() {
        for threads in THREADS {
            let mut bench = Bench::new(threads, &chain(8));
            for at in (0..8).cycle().take(40) {
                bench.knows();
                bench.board.panics.store(at, Ordering::Relaxed);
                bench.run();
                let mut failures = vec![];
                bench.lane.failures(&mut |tick, error| failures.push((tick, error.node)));
                assert_eq!(failures, [(bench.tick, Some(at as u32))], "{threads}");
                let done = |node: usize| bench.board.done[node].load(Ordering::Relaxed);
                assert!((at + 1..8).all(|later| done(later) == 0), "{threads}");
            }
            bench.board.panics.store(usize::MAX, Ordering::Relaxed);
            bench.knows();
            bench.run();
            assert!(bench.is_done());
        }
    }
}
