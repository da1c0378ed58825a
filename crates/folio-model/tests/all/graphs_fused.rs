//! Random graphs, fused and not: by nodes, by recording, within other graphs and as batches, with
//! temporaries, over whole buffers and parts, with exchanges between runs. The fused graph and the
//! same commands one after the other leave the same bits in every buffer that the program can read
//! (FUSE-11, FUSE-12). Bugs on purpose are found.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::planted::Planted;
use folio_core::{
    DeviceRef, Error, Executable, Graph, Result, RuntimeBuilder, Slice,
    buffer::Marks,
    error::GraphError,
    graph::{FinalizeOptions, FusionCosts, Node},
};
use folio_cpu::CpuBackend;
use folio_interp::interp::Interpreter;
use folio_model::rng::Rng;
use folio_model::suite::{Budget, cases, line};
use folio_sim::{DeviceSpec, SimBackend};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Buffers of which the program keeps handles, and those that a block makes.
const KEPT: usize = 4;
const MADE: usize = 3;

#[kernel]
fn puts(i: Item, term: i32, x: Out<i32>) {
    x[i] = term + i.index() as i32;
}

#[kernel]
fn sums(i: Item, x: In<i32>, y: In<i32>, z: Out<i32>) {
    z[i] = x[i].wrapping_mul(3) + y[i];
}

#[kernel]
fn joins(i: Item, term: i32, x: In<i32>, y: InOut<i32>) {
    y[i] = y[i].wrapping_mul(5) + x[i] + term;
}

#[kernel]
fn looks_left(i: Item, x: In<i32>, y: Out<i32>) {
    let k = i.index();
    y[i] = if k > 0 { x[k - 1] } else { 7 };
}

#[kernel]
fn diverges(i: Item, x: In<i32>, y: InOut<i32>) {
    if x[i] & 1 == 0 {
        y[i] = y[i] - x[i];
    }
}

#[kernel]
fn loops(i: Item, times: u32, x: In<i32>, y: Out<i32>) {
    let mut value = x[i];
    for k in 0..times {
        value = value.wrapping_mul(31) ^ k as i32;
    }
    y[i] = value;
}

#[kernel]
fn counts(i: Item, x: In<i32>, n: Atomic<i32>) {
    n.add(x[i] as u32 as usize % n.len(), 1);
}

#[kernel]
fn reduces(i: Item, x: In<i32>, sum: Reduce<f32, Add>) {
    sum.give(x[i] as f32 * 0.37);
}

#[kernel(group = 16)]
fn mirrors(g: Group, x: In<i32>, y: Out<i32>) {
    g.each(|i| {
        let first = i.index() - i.local_index();
        y[i] = x[first + (15 - i.local_index())] ^ 1;
    });
}

#[kernel(group = 16)]
fn scans(g: Group, x: In<i32>, y: Out<i32>) {
    let up = g.inclusive_scan::<Add>(|i| x[i] & 1023);
    g.each(|i| y[i] = up[i]);
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Puts,
    Sums,
    Joins,
    LooksLeft,
    Diverges,
    Loops,
    Counts,
    Reduces,
    Mirrors,
    Scans,
    Fill,
    Copy,
    Task,
}

/// A command over buffers by their numbers.
#[derive(Clone, Copy, Debug)]
struct Step {
    what: What,
    from: [usize; 2],
    to: usize,
    at: usize,
    n: usize,
    term: i32,
}

impl Step {
    fn random(rng: &mut Rng, len: usize) -> Step {
        use What::*;
        let often = [Puts, Sums, Sums, Joins, Joins, Diverges, Loops];
        let all = [LooksLeft, Counts, Reduces, Mirrors, Mirrors, Scans, Fill, Copy, Task];
        let what = if rng.chance(65) { rng.pick(&often) } else { rng.pick(&all) };
        let to = rng.below(KEPT + MADE);
        let mut other = || (to + rng.within(1, KEPT + MADE - 1)) % (KEPT + MADE);
        let from = [other(), other()];
        let (at, n) = match rng.below(10) {
            0 => {
                let at = rng.below(len);
                (at, rng.within(1, len - at))
            }
            1 => (0, rng.within(1, len)),
            _ => (0, len),
        };
        let by_groups = matches!(what, Mirrors | Scans);
        let (at, n) = if by_groups { (0, len) } else { (at, n) };
        Step { what, from, to, at, n, term: rng.below(1000) as i32 - 500 }
    }

    fn writes(&self, at: usize) -> bool {
        self.what != What::Reduces && self.to == at
    }

    /// It uses a buffer that the block makes.
    fn is_of_block(&self) -> bool {
        self.from.iter().chain([&self.to]).any(|at| *at >= KEPT)
    }

    fn describe(&self, all: &Buffers, cg: &mut CommandGroup) -> Result<()> {
        let Step { at, n, term, .. } = *self;
        let part = |buffer: usize| -> Result<Slice<'_, i32, 1>> { all.of[buffer].slice([at], [n]) };
        let (x, z) = (part(self.from[0])?, part(self.from[1])?);
        let to = all.of[self.to].slice_mut([at], [n])?;
        match self.what {
            What::Puts => cg.run(n, puts(term, to)),
            What::Sums => cg.run(n, sums(&x, &z, to)),
            What::Joins => cg.run(n, joins(term, &x, to)),
            What::LooksLeft => cg.run(n, looks_left(&x, to)),
            What::Diverges => cg.run(n, diverges(&x, to)),
            What::Loops => cg.run(n, loops(term as u32 % 5, &x, to)),
            What::Counts => cg.run(n, counts(&x, to)),
            What::Reduces => cg.run(n, reduces(&x, &all.sum)),
            What::Mirrors => cg.run(n, mirrors(&x, to)),
            What::Scans => cg.run(n, scans(&x, to)),
            What::Fill => cg.fill(to, term),
            What::Copy => cg.copy(&x, to),
            What::Task => {
                let mut to = to;
                let to = cg.read_write(&mut to);
                cg.each_run().host_task(to, move |mut to| {
                    for i in 0..n {
                        to[i] = to[i].wrapping_add(term);
                    }
                });
            }
        }
        Ok(())
    }
}

/// The buffers of one of the two: those kept, then those made by a block.
struct Buffers {
    of: Vec<Shared<i32>>,
    sum: Shared<f32>,
}

impl Buffers {
    /// `internal`: the number of one of which the program says that it does not use what runs leave
    /// there.
    fn new(rt: &Runtime, data: &[Vec<i32>], internal: Option<usize>) -> Result<Buffers> {
        let of = data.iter().enumerate().map(|(at, data)| {
            let mut buffer = rt.buffer_from(data)?;
            if internal == Some(at) {
                buffer.mark(Marks::new().internal_memory());
            }
            Ok(buffer.into_shared())
        });
        Ok(Buffers { of: of.collect::<Result<_>>()?, sum: rt.buffer(1)?.into_shared() })
    }

    /// With new buffers of a block.
    fn of_block(&self, rt: &Runtime) -> Result<Buffers> {
        let mut of = self.of.clone();
        for _ in 0..MADE {
            of.push(rt.buffer(of[0].len())?.into_shared());
        }
        Ok(Buffers { of, sum: self.sum.clone() })
    }

    fn bits(&self, at: usize) -> Result<Vec<i32>> {
        match self.of.get(at) {
            Some(buffer) => buffer.to_vec(),
            None => Ok(vec![self.sum.to_vec()?[0].to_bits() as i32]),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    ByHand,
    Recorded,
    Nested,
    Batch,
}

/// A fused graph, the nodes of its steps, and the buffer of the block of which a handle is left.
struct Made {
    run: Executable,
    nodes: Vec<Option<Node>>,
    held: Option<(usize, Shared<i32>)>,
}

struct Case<'c> {
    rt: &'c Runtime,
    on: DeviceRef,
    fused: Buffers,
    plain: Buffers,
    options: FinalizeOptions,
    /// The buffer that counts as never written after a run of a graph that writes it.
    internal: Option<usize>,
    seen: &'c Seen,
}

/// What cases were.
pub type Seen = Mutex<BTreeMap<&'static str, u64>>;

pub fn note(seen: &Seen, what: &'static str, count: u64) {
    *seen.lock().unwrap().entry(what).or_default() += count;
}

impl Case<'_> {
    fn by_hand(&self, graph: &Graph, all: &Buffers, steps: &[Step]) -> Result<Vec<Option<Node>>> {
        let add = |step: &Step| graph.add(|cg| step.describe(all, cg)).map(Some);
        steps.iter().map(add).collect()
    }

    fn make(&self, way: Way, steps: &[Step], rng: &mut Rng) -> Result<Made> {
        let all = self.fused.of_block(self.rt)?;
        let graph = self.rt.graph(&self.on)?;
        let mut nodes = vec![None; steps.len()];
        match way {
            Way::ByHand | Way::Batch => nodes = self.by_hand(&graph, &all, steps)?,
            Way::Nested => {
                let half = rng.below(steps.len() + 1);
                for steps in [&steps[..half], &steps[half..]] {
                    let part = self.rt.graph(&self.on)?;
                    self.by_hand(&part, &all, steps)?;
                    graph.add_graph(&[], &part.finalize()?)?;
                }
            }
            Way::Recorded => {
                let queue = self.rt.queue_on(&self.on)?;
                let recording = graph.record(std::slice::from_ref(&queue))?;
                for (step, node) in steps.iter().zip(&mut nodes) {
                    *node = graph.node_of(&queue.submit(|cg| step.describe(&all, cg))?);
                }
                drop(recording);
            }
        }
        let held = rng.chance(30).then(|| KEPT + rng.below(MADE));
        let held = held.map(|at| (at, all.of[at].clone()));
        drop(all);
        let run = match graph.finalize_with(self.options.require_fusion()) {
            Ok(run) if rng.chance(50) => {
                note(self.seen, "required", 1);
                let report = run.fusion_report()?.unwrap();
                assert!(way == Way::Nested || report.launches_left <= 1, "{report}");
                run
            }
            Err(Error::Graph { why, .. })
                if !matches!(*why, GraphError::KernelNotSupported { .. }) =>
            {
                panic!("{why}")
            }
            _ => graph.finalize_with(self.options.enable_fusion())?,
        };
        let report = run.fusion_report()?.unwrap();
        note(self.seen, "launches", report.launches as u64);
        note(self.seen, "launches left", report.launches_left as u64);
        for memory in report.clusters.iter().flat_map(|cluster| &cluster.memories) {
            note(self.seen, memory.fate, 1);
        }
        Ok(Made { run, nodes, held })
    }

    /// Both leave the same in a buffer, or in all.
    fn compare(&self, at: usize) -> Result<Result<(), String>> {
        let (fused, plain) = (self.fused.bits(at)?, self.plain.bits(at)?);
        Ok(match fused == plain {
            true => Ok(()),
            false => {
                let k = fused.iter().zip(&plain).position(|(a, b)| a != b).unwrap_or_default();
                let (a, b) = (fused[k], plain[k]);
                Err(format!("buffer {at}: [{k}] is {a} fused, and {b} otherwise"))
            }
        })
    }

    fn block(&self, steps: &mut [Step], rng: &mut Rng) -> Result<Result<(), String>> {
        let way = rng.pick(&[Way::ByHand, Way::Recorded, Way::Recorded, Way::Nested, Way::Batch]);
        let q = self.rt.queue_on(&self.on)?;
        let made = match way {
            Way::Batch => None,
            _ => Some(self.make(way, steps, rng)?),
        };
        let mut plain = self.plain.of_block(self.rt)?;
        for run in 0..rng.within(1, 4) {
            match &made {
                Some(made) => match q.run_graph(&made.run) {
                    Ok(_) => {}
                    // Fusion is required, and a node was exchanged.
                    Err(Error::Graph { why, .. })
                        if run > 0 && matches!(*why, GraphError::KernelNotSupported { .. }) =>
                    {
                        return Ok(Ok(()));
                    }
                    Err(other) => return Err(other),
                },
                None => {
                    plain = self.plain.of_block(self.rt)?;
                    q.batch_fused(|q| {
                        let all = self.fused.of_block(self.rt)?;
                        let mut all_steps = steps.iter();
                        all_steps
                            .try_for_each(|step| q.submit(|cg| step.describe(&all, cg)).map(drop))
                    })?;
                    let report = q.batch_report();
                    note(self.seen, "launches", report.kernels as u64);
                    note(self.seen, "launches left", report.launches as u64);
                }
            }
            for step in &*steps {
                q.submit(|cg| step.describe(&plain, cg))?;
            }
            if let Some(at) = self.internal.filter(|at| steps.iter().any(|s| s.writes(*at))) {
                q.fill(&self.plain.of[at], 0)?;
                note(self.seen, "internal", 1);
            }
            let mut same = (0..=KEPT).map(|at| self.compare(at)).collect::<Result<Vec<_>>>()?;
            if let Some((at, held)) = made.as_ref().and_then(|made| made.held.as_ref()) {
                let is_same = held.to_vec()? == plain.of[*at].to_vec()?;
                same.push(if is_same { Ok(()) } else { Err(format!("made buffer {at}")) });
            }
            if let Some(why) = same.into_iter().find_map(Result::err) {
                let report = made.as_ref().map(|made| made.run.fusion_report());
                let report = report.transpose()?.flatten().map(|report| report.to_string());
                let (report, on) = (report.unwrap_or_default(), self.on.name());
                return Ok(Err(format!("{on}, {way:?}, run {run}: {why}\n{report}{steps:#?}")));
            }
            let Some(made) = &made else { continue };
            for (step, node) in steps.iter_mut().zip(&made.nodes) {
                let Some(node) = node.filter(|_| !step.is_of_block() && rng.chance(15)) else {
                    continue;
                };
                let other = Step::random(rng, self.fused.of[0].len());
                if !matches!(step.what, What::Mirrors | What::Scans) && rng.chance(50) {
                    (step.at, step.n) = (other.at, other.n);
                }
                step.term = other.term;
                made.run.update(node, |cg| step.describe(&self.fused, cg))?;
                note(self.seen, "exchanges", 1);
            }
        }
        Ok(Ok(()))
    }
}

fn case(rt: &Runtime, seed: u64, seen: &Seen) -> Result<(), String> {
    let told = |error: Error| format!("{error}");
    let mut rng = Rng::new(seed);
    let len = rng.pick(&[16, 48, 304, 1600, 6400]);
    let random = |rng: &mut Rng| (0..len).map(|_| rng.below(2000) as i32 - 1000).collect();
    let data: Vec<Vec<i32>> = (0..KEPT).map(|_| random(&mut rng)).collect();
    let on = rt.devices()[rng.below(rt.devices().len())].clone();
    let options = FinalizeOptions::new();
    let options = if rng.chance(30) { options.insert_barriers() } else { options };
    // Where launches cost nothing, and registers do, fewer kernels share one.
    let few = FusionCosts { units: 1, unit_items: 16, ..FusionCosts::GPU };
    let rare = FusionCosts { launch_ns: 0, cache_rate: 1, registers: 4, ..few };
    let options = if rng.chance(20) { options.costs(rare) } else { options };
    let internal = rng.chance(40).then(|| rng.below(KEPT));
    let case = Case {
        rt,
        on,
        fused: Buffers::new(rt, &data, internal).map_err(told)?,
        plain: Buffers::new(rt, &data, None).map_err(told)?,
        options,
        internal,
        seen,
    };
    for _ in 0..rng.within(1, 3) {
        let mut steps: Vec<Step> = Vec::new();
        for _ in 0..rng.within(2, 10) {
            steps.push(Step::random(&mut rng, len));
        }
        case.block(&mut steps, &mut rng).map_err(told)??;
    }
    Ok(())
}

/// A builder by a number: devices that run the host's code.
pub fn builder(nth: u64) -> RuntimeBuilder {
    let builder = Runtime::builder();
    match nth % 3 {
        0 => builder.backend(SimBackend::builder().devices(2, DeviceSpec::default()).build()),
        1 => builder.backend(CpuBackend::builder().threads(2).build().unwrap()),
        _ => builder.backend(CpuBackend::builder().domains(2).threads(1).build().unwrap()),
    }
}

/// A device whose kernels are interpreted.
pub fn interpreted() -> RuntimeBuilder {
    let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    Runtime::builder().backend(SimBackend::builder().devices(1, spec).build())
}

pub fn suite(
    name: &str,
    least: &[&'static str],
    case: &(dyn Fn(u64, &Seen) -> Result<(), String> + Sync),
) {
    let budget = Budget::of(name);
    let (start, seen) = (Instant::now(), Seen::default());
    let with_seed = |seed| case(seed, &seen).map_err(|why| format!("seed {seed}: {why}"));
    let (done, wrong) = cases(budget, 2, &with_seed);
    println!("{}", line(&name.to_lowercase(), done, start.elapsed(), wrong.len(), budget.seed));
    println!("{:?}", seen.lock().unwrap());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let asked = budget.cases.unwrap_or(budget.least);
    assert!(done >= asked, "{done} cases, at least {asked} asked");
    if done >= 200 {
        let seen = seen.lock().unwrap();
        let absent: Vec<_> = least.iter().filter(|what| !seen.contains_key(*what)).collect();
        assert!(absent.is_empty(), "no case of {absent:?}");
    }
}

const ALL: &[&str] =
    &["required", "register", "local", "forwarded", "memory", "exchanges", "internal"];

/// FUSE-11, FUSE-12
#[test]
fn suite_graphs_fused() {
    suite("GRAPHS_FUSED", ALL, &|seed, seen| {
        let builder = if seed.is_multiple_of(4) { interpreted() } else { builder(seed) };
        let rt = builder.build().map_err(|error| error.to_string())?;
        case(&rt, seed, seen)?;
        rt.wait().map_err(|error| error.to_string())
    });
}

/// The suite on the devices of a driver: each case compiles kernels.
pub(crate) fn over(name: &str, builder: RuntimeBuilder) {
    let rt = builder.build().unwrap();
    suite(name, &[], &|seed, seen| case(&rt, seed, seen));
}

/// FUSE-01, GRAPH-01: of a graph within a graph, fusion looks at what is in that, however many such
/// graphs there are.
#[test]
fn plans_of_twice_the_graphs_within_a_graph_look_at_twice_the_nodes() {
    let cpu = CpuBackend::builder().domains(1).threads(1).build().unwrap();
    let rt = Runtime::builder().backend(cpu).build().unwrap();
    let device = rt.device("cpu").unwrap();
    let [x, y] = std::array::from_fn(|_| rt.buffer::<i32, 1>(1064).unwrap().into_shared());
    let looked_at = |count: usize| {
        let graph = rt.graph("cpu").unwrap();
        for nth in 0..count {
            // Equal graphs would be planned once.
            let (inner, n) = (rt.graph("cpu").unwrap(), 64 + nth);
            inner.add(|cg| cg.run(n, joins(1, &x, &y))).unwrap();
            inner.add(|cg| cg.run(n, joins(2, &x, &y))).unwrap();
            graph.add_graph(&[], &inner.finalize().unwrap()).unwrap();
            graph.add(|cg| cg.fill(&x, 1)).unwrap();
        }
        let before = device.fusion_counters();
        let made = graph.finalize_with(FinalizeOptions::new().enable_fusion()).unwrap();
        let report = made.fusion_report().unwrap().unwrap();
        assert_eq!((report.launches, report.launches_left), (2 * count, count));
        let now = device.fusion_counters();
        assert_eq!(now.plans - before.plans, count as u64 + 1);
        now.nodes - before.nodes
    };
    let [once, twice] = [500, 1000].map(looked_at);
    assert!(twice <= 2 * once + 10 && twice <= 6 * 1000, "{once}, {twice} nodes");
}

/// Runs cases with the bug until one shows it.
fn caught(bug: Planted, builder: impl Fn(u64) -> RuntimeBuilder) {
    let seen = Seen::default();
    let caught = (1..=600).any(|seed| {
        // SAFETY: the bug leaves wrong numbers in buffers, within their bounds.
        let rt = unsafe { builder(seed).plant(bug) }.build().unwrap();
        let found = case(&rt, seed, &seen);
        // It may be what some command has failed with.
        let _ = rt.wait();
        found.is_err()
    });
    assert!(caught, "{bug:?} was not caught: {:?}", seen.lock().unwrap());
}

fn plan(planted: folio_kernel::fuse::Planted) -> Planted {
    Planted::Fusion(planted)
}

#[test]
fn planted_temporary_with_a_handle_is_caught() {
    caught(Planted::HeldBuffer, builder);
}

#[test]
fn planted_temporary_that_the_next_run_reads_is_caught() {
    caught(Planted::LastRun, builder);
}

/// FUSE-06
#[test]
fn planted_contents_of_internal_memory_after_a_run_are_caught() {
    caught(Planted::InternalMemory, builder);
}

#[test]
fn planted_plan_of_earlier_arguments_is_caught() {
    caught(Planted::NewPlan, builder);
}

#[test]
fn planted_read_of_a_neighbour_in_a_fused_graph_is_caught() {
    let bug = folio_kernel::fuse::Planted { no_read_after_write: true, ..Default::default() };
    caught(plan(bug), builder);
}

#[test]
fn planted_write_before_a_neighbour_reads_in_a_fused_graph_is_caught() {
    let bug = folio_kernel::fuse::Planted { no_write_after_read: true, ..Default::default() };
    caught(plan(bug), builder);
}

#[test]
fn planted_internal_memory_that_is_needed_is_caught() {
    let bug = folio_kernel::fuse::Planted { nothing_is_needed: true, ..Default::default() };
    caught(plan(bug), |_| interpreted());
}

#[test]
fn planted_missing_guard_in_a_fused_graph_is_caught() {
    let bug = folio_kernel::fuse::Planted { no_guards: true, ..Default::default() };
    caught(plan(bug), |_| interpreted());
}

#[test]
fn planted_forwarding_across_items_in_a_fused_graph_is_caught() {
    let bug = folio_kernel::fuse::Planted { forwards_across_items: true, ..Default::default() };
    caught(plan(bug), |_| interpreted());
}

#[test]
fn planted_reordered_host_task_is_caught() {
    caught(Planted::TaskOrder, builder);
}
