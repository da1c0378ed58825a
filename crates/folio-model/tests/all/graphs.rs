//! Random programs of which parts are graphs: built by hand or by recording, within other graphs,
//! and as batches; run several times between ordinary commands and guards, with updates between
//! runs, command by command, by parts and as a whole. Compared with the same commands in turn
//! (GRAPH-01, GRAPH-03, GRAPH-07, GRAPH-08). Bugs on purpose are found.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::planted::Planted;
use folio_core::{
    DeviceRef, Executable, Graph, Node, Parameter, Replay, ReplayReport, Result, RuntimeBuilder,
};
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use folio_model::rng::Rng;
use folio_model::suite::{Budget, cases, line};
use folio_opencl::OpenClBackend;
use folio_sim::{DeviceSpec, SimBackend};
use folio_vulkan::VulkanBackend;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Elements of a buffer, and of a page; and how many buffers.
const N: usize = 24;
const PAGE: usize = 5;
const BUFFERS: usize = 5;
/// Buffers that a block makes, beside those.
const MADE: usize = 3;

const MODULUS: i64 = 1_000_003;

#[kernel]
fn turns(i: Item, factor: i64, term: i64, x: InOut<i64>) {
    x[i] = (x[i] * factor + term) % 1_000_003;
}

#[kernel]
fn joins(i: Item, term: i64, x: In<i64>, y: InOut<i64>) {
    y[i] = (y[i] * 3 + x[i] + term) % 1_000_003;
}

#[kernel]
fn puts(i: Item, term: i64, x: Out<i64>) {
    x[i] = term;
}

/// What a command does, on the elements from `at` on.
#[derive(Clone, Copy, Debug)]
enum What {
    Turns(i64),
    Joins,
    Puts,
    Fill,
    Copy,
    Task,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    what: What,
    from: usize,
    to: usize,
    at: usize,
    n: usize,
    term: i64,
    /// The command of the same block that it comes after, though no data are shared.
    after: Option<usize>,
    /// It can be described again; others are exchanged.
    updatable: bool,
    /// It uses what the block makes, and stays as it is.
    fixed: bool,
}

/// The tasks of a block, by their numbers, as they have run.
type Log = Arc<Mutex<Vec<usize>>>;

impl Step {
    fn random(rng: &mut Rng, nth: usize) -> Step {
        let what =
            [What::Turns(7), What::Turns(2), What::Joins, What::Puts, What::Fill, What::Copy];
        let what = if rng.chance(12) { What::Task } else { rng.pick(&what) };
        let to = rng.below(BUFFERS);
        let from = (to + rng.within(1, BUFFERS - 1)) % BUFFERS;
        let (at, n) = match rng.chance(50) {
            true => (0, N),
            false => {
                let at = rng.below(N);
                (at, rng.within(1, N - at))
            }
        };
        let after = (nth > 0 && rng.chance(20)).then(|| rng.below(nth));
        let term = rng.below(1000) as i64;
        Step { what, from, to, at, n, term, after, updatable: rng.chance(50), fixed: false }
    }

    /// Steps of a block. Some pass what the block makes from one to the next.
    fn block(rng: &mut Rng) -> Vec<Step> {
        let (mut steps, mut late): (Vec<Step>, Vec<Step>) = (Vec::new(), Vec::new());
        let count = rng.within(1, 12);
        while steps.len() < count {
            let nth = steps.len();
            let mut step = Step::random(rng, nth);
            if let What::Task = step.what
                && let Some(other) = steps.iter().rposition(|s| matches!(s.what, What::Task))
                && rng.chance(70)
            {
                step.after = Some(other);
            }
            if rng.chance(85) {
                steps.push(step);
                continue;
            }
            let made = BUFFERS + rng.below(MADE);
            let all = Step { at: 0, n: N, after: None, updatable: false, fixed: true, ..step };
            let what = if rng.chance(50) { What::Puts } else { What::Fill };
            steps.push(Step { what, to: made, ..all });
            let mut last = made;
            for _ in 0..rng.below(4) {
                let next = BUFFERS + (last - BUFFERS + rng.within(1, MADE - 1)) % MADE;
                steps.push(Step { what: What::Copy, from: last, to: next, ..all });
                steps.push(Step { what: What::Turns(7), from: last, to: next, ..all });
                last = next;
            }
            let joined = Step { what: What::Joins, to: rng.below(BUFFERS), ..all };
            steps.push(Step { from: last, ..joined });
            if rng.chance(50) {
                late.push(Step { from: made, ..joined });
            }
        }
        steps.append(&mut late);
        steps
    }

    /// With other values; half of the time with other places, too.
    fn exchange(&mut self, rng: &mut Rng) {
        if self.fixed {
            return;
        }
        let other = Step::random(rng, 0);
        self.term = other.term;
        if rng.chance(50) {
            (self.from, self.to, self.at, self.n) = (other.from, other.to, other.at, other.n);
        }
    }

    /// As a program without Folio does it.
    #[expect(clippy::needless_range_loop, reason = "two of the vectors by one index")]
    fn run(&self, data: &mut [Vec<i64>]) {
        for i in self.at..self.at + self.n {
            let (x, y) = (data[self.from][i], &mut data[self.to][i]);
            *y = match self.what {
                What::Turns(factor) => (*y * factor + self.term) % MODULUS,
                What::Joins => (*y * 3 + x + self.term) % MODULUS,
                What::Puts | What::Fill => self.term,
                What::Copy => x,
                What::Task => (*y + 2 * x + self.term) % MODULUS,
            };
        }
    }

    fn describe(
        &self,
        (own, all, log): (usize, &[Shared<i64>], &Log),
        cg: &mut CommandGroup,
    ) -> Result<()> {
        let Step { at, n, term, .. } = *self;
        let from = all[self.from].slice([at], [n])?;
        let mut to = all[self.to].slice_mut([at], [n])?;
        match self.what {
            What::Turns(factor) => cg.run(n, turns(factor, term, to)),
            What::Joins => cg.run(n, joins(term, &from, to)),
            What::Puts => cg.run(n, puts(term, to)),
            What::Fill => cg.fill(to, term),
            What::Copy => cg.copy(&from, to),
            What::Task => {
                let (from, to, log) = (cg.read(&from), cg.read_write(&mut to), log.clone());
                cg.repeatable_task((from, to), move |(from, mut to)| {
                    log.lock().unwrap().push(own);
                    for i in 0..n {
                        to[i] = (to[i] + 2 * from[i] + term) % MODULUS;
                    }
                });
            }
        }
        Ok(())
    }
}

/// How a block of commands is submitted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Ordinary,
    ByHand,
    Recorded,
    /// By hand, in two graphs, which are nodes of a third.
    Nested,
    Batch,
}

/// A block as it is to be run.
enum Made {
    Direct,
    Batch,
    Graph { run: Executable, nodes: Vec<Option<Node>>, values: Vec<Option<Parameter<Step>>> },
}

struct World {
    rt: Runtime,
    all: Arc<[Shared<i64>]>,
    data: Vec<Vec<i64>>,
    log: Log,
}

impl World {
    fn new(rt: Runtime, rng: &mut Rng) -> Result<World> {
        let mut data = Vec::new();
        for _ in 0..BUFFERS {
            data.push((0..N).map(|_| rng.below(1000) as i64).collect::<Vec<_>>());
        }
        let options = || BufferOptions::new().page([PAGE]);
        let all = data.iter().map(|data| Ok(rt.buffer_from_with(data, [N], options())?.share()));
        let all = all.collect::<Result<Vec<_>>>()?.into();
        data.resize(BUFFERS + MADE, vec![0; N]);
        Ok(World { rt, all, data, log: Log::default() })
    }

    /// All buffers that a block uses: those that it makes are new.
    fn with_made(&self) -> Result<Vec<Shared<i64>>> {
        let mut all = self.all.to_vec();
        for _ in 0..MADE {
            let options = BufferOptions::new().page([PAGE]);
            all.push(self.rt.buffer_with::<i64, 1>([N], options)?.share());
        }
        Ok(all)
    }

    /// Tasks have run in the order that was asked for. Runs of a block are behind one another.
    fn check_order(&self, steps: &[Step]) -> Result<(), String> {
        self.rt.wait().map_err(|error| error.to_string())?;
        let log = std::mem::take(&mut *self.log.lock().unwrap());
        let times =
            |own: usize| -> Vec<usize> { (0..log.len()).filter(|at| log[*at] == own).collect() };
        let is_task = |at: usize| matches!(steps[at].what, What::Task);
        for (at, step) in steps.iter().enumerate().filter(|(at, _)| is_task(*at)) {
            let Some(before) = step.after.filter(|before| is_task(*before)) else { continue };
            let (first, then) = (times(before), times(at));
            if first.len() != then.len() || first.iter().zip(&then).any(|(a, b)| a > b) {
                return Err(format!("task {at} ran before {before}: {log:?}\n{steps:#?}"));
            }
        }
        Ok(())
    }

    fn check(&self, rng: &mut Rng) -> Result<(), String> {
        let at = rng.below(BUFFERS);
        let got = self.all[at].to_vec().map_err(|error| error.to_string())?;
        if got == self.data[at] {
            return Ok(());
        }
        Err(format!("buffer {at} is\n{got:?}, and not\n{:?}", self.data[at]))
    }

    /// Adds steps as nodes by hand.
    fn by_hand(
        &self,
        graph: &Graph,
        (steps, used): (&[Step], &[Shared<i64>]),
        nodes: &mut Vec<Option<Node>>,
        values: &mut Vec<Option<Parameter<Step>>>,
    ) -> Result<()> {
        let base = nodes.len();
        for step in steps {
            // What is in another graph is only before it if that is.
            let after: Vec<Node> =
                step.after.filter(|at| *at >= base).and_then(|at| nodes[at]).into_iter().collect();
            if step.updatable {
                let (value, all) = (Parameter::new(*step), self.all.clone());
                let (read, log, own) = (value.clone(), self.log.clone(), nodes.len());
                let describe = move |cg: &mut CommandGroup| {
                    let step = cg.parameter(&read);
                    step.describe((own, &all, &log), cg)
                };
                nodes.push(Some(graph.add_updatable(&after, describe)?));
                values.push(Some(value));
            } else {
                let with = (nodes.len(), used, &self.log);
                nodes.push(Some(graph.add_after(&after, |cg| step.describe(with, cg))?));
                values.push(None);
            }
        }
        Ok(())
    }

    fn make(&self, on: &DeviceRef, way: Way, steps: &[Step], rng: &mut Rng) -> Result<Made> {
        let graph = self.rt.graph(on)?;
        let (mut nodes, mut values) = (Vec::new(), Vec::new());
        let all = self.with_made()?;
        match way {
            Way::Ordinary => return Ok(Made::Direct),
            Way::Batch => return Ok(Made::Batch),
            Way::ByHand => self.by_hand(&graph, (steps, &all), &mut nodes, &mut values)?,
            Way::Nested => {
                let half = rng.below(steps.len() + 1);
                let parts = [self.rt.graph(on)?, self.rt.graph(on)?];
                for (part, steps) in parts.iter().zip([&steps[..half], &steps[half..]]) {
                    self.by_hand(part, (steps, &all), &mut nodes, &mut values)?;
                }
                let first = graph.add_graph(&[], &parts[0].finalize()?)?;
                graph.add_graph(&[first], &parts[1].finalize()?)?;
            }
            Way::Recorded => {
                let queues = [self.rt.queue_on(on)?, self.rt.in_order_queue_on(on)?];
                let named = if rng.chance(50) { &queues[..] } else { &queues[rng.below(2)..][..1] };
                let recording = graph.record(named)?;
                let mut events: Vec<Event> = Vec::new();
                for (own, step) in steps.iter().enumerate() {
                    if rng.chance(5) {
                        named[0].barrier()?;
                    }
                    let event = named[rng.below(named.len())].submit(|cg| {
                        step.after.iter().for_each(|at| {
                            cg.after(&events[*at]);
                        });
                        step.describe((own, &all, &self.log), cg)
                    })?;
                    nodes.push(graph.node_of(&event));
                    values.push(None);
                    events.push(event);
                }
                drop(recording);
            }
        }
        drop(all);
        let run = graph.finalize()?;
        Ok(Made::Graph { run, nodes, values })
    }

    /// One run of a block.
    fn run(&self, q: &Queue, made: &Made, steps: &[Step]) -> Result<()> {
        let submit = |q: &Queue| {
            let (mut events, all): (Vec<Event>, _) = (Vec::new(), self.with_made()?);
            for (own, step) in steps.iter().enumerate() {
                events.push(q.submit(|cg| {
                    step.after.iter().for_each(|at| {
                        cg.after(&events[*at]);
                    });
                    step.describe((own, &all, &self.log), cg)
                })?);
            }
            Ok(())
        };
        match made {
            Made::Direct => submit(q),
            Made::Batch => q.batch(submit).map(drop),
            Made::Graph { run, .. } => q.run_graph(run).map(drop),
        }
    }
}

/// A runtime by a seed.
fn builder(seed: u64) -> RuntimeBuilder {
    let builder = Runtime::builder();
    match seed % 4 {
        0 | 1 => builder.backend(SimBackend::builder().devices(2, DeviceSpec::default()).build()),
        2 => builder.backend(CpuBackend::builder().threads(2).build().unwrap()),
        _ => builder.backend(CpuBackend::builder().domains(2).threads(2).build().unwrap()),
    }
}

/// What has occurred, and how often.
type Seen = Mutex<BTreeMap<&'static str, u64>>;

fn see(seen: &Seen, what: &'static str, times: u64) {
    if times > 0 {
        *seen.lock().unwrap().entry(what).or_default() += times;
    }
}

fn see_replays(seen: &Seen, how: Replay, report: &ReplayReport) {
    match how {
        Replay::Whole => see(seen, "whole runs", report.replays),
        _ => see(seen, "parts", report.replays),
    }
    for part in &report.parts {
        let why = part.why_not.as_deref().unwrap_or_default();
        see(seen, "parts that wait", why.contains("waits for").into());
        see(seen, "parts that move data", why.contains("brought").into());
    }
}

fn case(rt: Runtime, seed: u64, seen: &Seen) -> Result<(), String> {
    let told = |error: Error| format!("{error}");
    let mut rng = Rng::new(seed);
    let mut world = World::new(rt, &mut rng).map_err(told)?;
    let devices = world.rt.devices();
    let queues =
        devices.iter().flat_map(|on| [world.rt.queue_on(on), world.rt.in_order_queue_on(on)]);
    let queues = queues.collect::<Result<Vec<_>>>().map_err(told)?;
    for block in 0..rng.within(1, 4) {
        let way = [Way::Ordinary, Way::ByHand, Way::Recorded, Way::Nested, Way::Batch];
        let way = rng.pick(&way);
        let mut steps = Step::block(&mut rng);
        // A loop whose blocks are of one kind.
        let is_loop = matches!(way, Way::Batch) && rng.chance(60);
        if is_loop {
            steps.retain(|step| !step.fixed && !matches!(step.what, What::Task));
            steps.iter_mut().for_each(|step| step.after = None);
        }
        let (least, most, exchanges) = if is_loop { (4, 16, 70) } else { (1, 8, 35) };
        let only_values = is_loop && rng.chance(60);
        let at = rng.below(devices.len());
        let (on, queue) = (&devices[at], &queues[2 * at + rng.below(2)]);
        let made = world.make(on, way, &steps, &mut rng).map_err(told)?;
        let how = if rng.chance(50) { Replay::Parts } else { Replay::Whole };
        if let Made::Graph { run, .. } = &made {
            run.replay_as(if rng.chance(20) { Replay::Commands } else { how });
        }
        for run in 0..rng.within(least, most) {
            let doing =
                |why: String| format!("block {block}, {way:?}, run {run}: {why}\n{steps:#?}");
            world.run(queue, &made, &steps).map_err(told).map_err(doing)?;
            steps.iter().for_each(|step| step.run(&mut world.data));
            if rng.chance(30) {
                world.check(&mut rng).map_err(doing)?;
            }
            if rng.chance(30) {
                let (step, at) = (Step::random(&mut rng, 0), rng.below(devices.len()));
                let other = world.rt.queue_on(&devices[at]).map_err(told)?;
                let log = Log::default();
                other.submit(|cg| step.describe((0, &world.all, &log), cg)).map_err(told)?;
                step.run(&mut world.data);
            }
            if rng.chance(15) {
                let (at, i, value) = (rng.below(BUFFERS), rng.below(N), rng.below(1000) as i64);
                world.all[at].write().map_err(told)?[i] = value;
                world.data[at][i] = value;
            }
            if only_values {
                for step in &mut steps {
                    step.term = if rng.chance(50) { rng.below(1000) as i64 } else { step.term };
                }
            } else if rng.chance(exchanges) {
                exchange(&made, &mut steps, &world, &mut rng).map_err(told)?;
            }
            if let Made::Direct | Made::Batch = made
                && rng.chance(30)
            {
                let order = world.check_order(&steps);
                order.map_err(|why| format!("block {block}, {way:?}, run {run}: {why}"))?;
                reorder(&mut steps, &mut rng);
            }
            if let Made::Graph { run, .. } = &made
                && rng.chance(10)
            {
                run.replay_as(rng.pick(&[Replay::Parts, Replay::Whole, Replay::Commands]));
            }
        }
        world.check_order(&steps).map_err(|why| format!("block {block}, {way:?}: {why}"))?;
        if let Made::Graph { run, .. } = &made {
            see_replays(seen, how, &run.replay_report());
            let memory = run.memory().map_err(told)?;
            see(seen, "temporaries", memory.temporaries as u64);
            see(seen, "shared memory", (memory.temporaries - memory.memories) as u64);
        }
        see(seen, "temporaries of batches", queue.batch_report().temporaries as u64);
        see(seen, "blocks as one operation", queue.batch_report().replayed);
        see(seen, "blocks with other arguments", queue.batch_report().exchanged);
        if let Made::Graph { run, .. } = &made
            && run.device().name() != on.name()
        {
            return Err("a graph of another device".to_owned());
        }
    }
    for _ in 0..2 * BUFFERS {
        world.check(&mut rng)?;
    }
    world.rt.wait().map_err(told)
}

/// Has steps come after others.
fn reorder(steps: &mut [Step], rng: &mut Rng) {
    for at in 1..steps.len() {
        if steps[at].after.is_some() {
            let tasks = (0..at).filter(|at| matches!(steps[*at].what, What::Task));
            let tasks: Vec<usize> = tasks.collect();
            let one = if tasks.is_empty() { rng.below(at) } else { rng.pick(&tasks) };
            steps[at].after = Some(one);
        }
    }
}

/// Exchanges what some steps do, by parameters or node by node.
fn exchange(made: &Made, steps: &mut [Step], world: &World, rng: &mut Rng) -> Result<()> {
    for (at, step) in steps.iter_mut().enumerate() {
        if !rng.chance(25) {
            continue;
        }
        let Made::Graph { run, nodes, values } = made else {
            step.exchange(rng);
            continue;
        };
        step.exchange(rng);
        match (&values[at], nodes[at]) {
            (Some(value), _) => value.set(*step),
            (None, Some(_)) if step.fixed => {}
            (None, Some(node)) => {
                let with = (at, &world.all[..], &world.log);
                run.update(node, |cg| step.describe(with, cg))?;
            }
            (None, None) => {}
        }
    }
    Ok(())
}

/// How many cases there were, and what occurred in them.
fn suite(name: &str, open: &(dyn Fn(u64) -> Result<Runtime> + Sync)) -> (u64, Seen) {
    let budget = Budget::of(name);
    let (start, seen) = (Instant::now(), Seen::default());
    let with_seed = |seed| {
        let rt = open(seed).map_err(|error| error.to_string())?;
        case(rt, seed, &seen).map_err(|why| format!("seed {seed}: {why}"))
    };
    let (done, wrong) = cases(budget, 2, &with_seed);
    println!("{}", line(&name.to_lowercase(), done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} cases, at least {least} asked");
    println!("{:?}", seen.lock().unwrap());
    (done, seen)
}

/// A backend's name, and how a runtime is given it.
type With = (&'static str, fn(RuntimeBuilder) -> RuntimeBuilder);

/// Over a backend alone, and beside the memories of a CPU; for all cases. Without a device of it
/// there is nothing to test.
fn over(name: &str, (backend, with): With) {
    let alone = match with(Runtime::builder()).build() {
        Ok(alone) if !alone.devices().is_empty() => alone,
        Ok(none) => return println!("skipped: {}", none.absent().join("; ")),
        Err(why) => return println!("skipped: {backend}: {why}"),
    };
    let cpu = CpuBackend::builder().domains(2).threads(1).build().unwrap();
    let beside = with(Runtime::builder().backend(cpu)).build().unwrap();
    let all = [alone, beside];
    suite(name, &|seed| Ok(all[seed as usize % all.len()].clone()));
}

/// Each process compiles three kernels for each device.
#[test]
fn suite_graphs_opencl() {
    over("GRAPHS_OPENCL", ("opencl", |builder| builder.backend(OpenClBackend::new())));
}

#[test]
fn suite_graphs_vulkan() {
    over("GRAPHS_VULKAN", ("vulkan", |builder| builder.backend(VulkanBackend::new())));
}

#[test]
fn cuda_runs_graphs() {
    over("GRAPHS_CUDA", ("cuda", |builder| builder.backend(CudaBackend::new())));
}

#[test]
fn suite_graphs() {
    let (done, seen) = suite("GRAPHS", &|seed| builder(seed).build());
    let seen = seen.lock().unwrap();
    let all = [
        "whole runs",
        "parts",
        "parts that wait",
        "parts that move data",
        "temporaries",
        "shared memory",
        "temporaries of batches",
        "blocks as one operation",
        "blocks with other arguments",
    ];
    let absent: Vec<_> = all.iter().filter(|what| !seen.contains_key(*what)).collect();
    assert!(done < 500 || absent.is_empty(), "no case of {absent:?}");
}

/// Runs cases with the bug until one shows it.
fn caught(bug: Planted) {
    let seen = Seen::default();
    let caught = (1..=1000).any(|seed| {
        // SAFETY: the bug leaves wrong numbers in buffers, within their bounds.
        let rt = unsafe { builder(seed).plant(bug) }.build().unwrap();
        case(rt, seed, &seen).is_err()
    });
    assert!(caught, "{bug:?} was not caught: {:?}", seen.lock().unwrap());
}

#[test]
fn planted_lost_edge_of_a_graph_is_caught() {
    caught(Planted::LostEdge);
}

#[test]
fn planted_part_that_waits_for_its_first_command_only_is_caught() {
    caught(Planted::FirstOnly);
}

#[test]
fn planted_stale_data_at_the_entry_of_a_part_is_caught() {
    caught(Planted::StaleEntry);
}

#[test]
fn planted_part_of_earlier_commands_is_caught() {
    caught(Planted::OldPart);
}

#[test]
fn planted_exchange_while_a_replay_is_on_its_way_is_caught() {
    caught(Planted::EarlyExchange);
}

#[test]
fn planted_block_whose_arguments_are_not_exchanged_is_caught() {
    caught(Planted::StaleScalar);
}

#[test]
fn planted_temporary_that_shares_memory_while_alive_is_caught() {
    caught(Planted::SharedAlive);
}

/// A block of three tasks, of which one comes after the first. The first one looks for a while
/// whether the second runs beside it. Returns whether it did.
fn second_runs_beside_the_first(rt: &Runtime, q: &Queue, second_is_free: bool) -> bool {
    let (ran, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (look, found, runs) = (ran.clone(), seen.clone(), ran.clone());
    let first = move |()| {
        let start = Instant::now();
        while !look.load(Ordering::SeqCst) && start.elapsed() < Duration::from_secs(2) {
            std::thread::yield_now();
        }
        found.store(look.load(Ordering::SeqCst), Ordering::SeqCst);
    };
    q.batch(|q| {
        let first = q.submit(|cg| {
            cg.host_task((), first);
            Ok(())
        })?;
        q.submit(|cg| {
            if !second_is_free {
                cg.after(&first);
            }
            cg.host_task((), move |()| runs.store(true, Ordering::SeqCst));
            Ok(())
        })?;
        q.submit(|cg| {
            if second_is_free {
                cg.after(&first);
            }
            cg.host_task((), |()| {});
            Ok(())
        })
    })
    .unwrap();
    rt.wait().unwrap();
    seen.load(Ordering::SeqCst)
}

/// A CPU's runtime with a bug, or without one.
fn one_cpu(bug: Option<Planted>) -> Runtime {
    let cpu = CpuBackend::builder().domains(1).threads(1).build().unwrap();
    let builder = Runtime::builder().backend(cpu);
    let builder = match bug {
        // SAFETY: the bugs of these tests leave another number.
        Some(bug) => unsafe { builder.plant(bug) },
        None => builder,
    };
    builder.build().unwrap()
}

/// A block of which the first command has this value; the others are always the same.
fn with_value(q: &Queue, value: i64, [x, y]: [&Shared<i64>; 2]) -> Result<()> {
    q.run(4, puts(value, x))?;
    (0..9).try_for_each(|_| q.run(4, puts(1, y)).map(drop))
}

/// GRAPH-08
#[test]
fn planted_block_with_the_values_of_an_earlier_one_is_caught() {
    let left = |bug| {
        let rt = one_cpu(bug);
        let [x, y] = [0; 2].map(|_| rt.buffer::<i64>(4).unwrap().share());
        let q = rt.queue().unwrap();
        let block = |q: &Queue, value| with_value(q, value, [&x, &y]);
        for _ in 0..50 {
            q.batch(|q| block(q, 1)).unwrap().1.wait().unwrap();
        }
        assert!(q.batch_report().replayed > 0, "{:?}", q.batch_report());
        q.batch(|q| block(q, 100)).unwrap();
        x.get([0]).unwrap()
    };
    assert_eq!((left(None), left(Some(Planted::OtherValues))), (100, 1));
}

/// GRAPH-08: the graph of a known block does something else by the time it is submitted.
#[test]
fn planted_block_of_another_version_is_caught() {
    let left = |bug| {
        let rt = one_cpu(bug);
        let [x, y] = [0; 2].map(|_| rt.buffer::<i64>(4).unwrap().share());
        let q = rt.queue().unwrap();
        let block = |q: &Queue, value| with_value(q, value, [&x, &y]);
        for value in 0..50 {
            q.batch(|q| block(q, value)).unwrap().1.wait().unwrap();
        }
        let before = q.batch_report();
        assert!(before.exchanged > 0, "{before:?}");
        q.batch(|outer| {
            block(outer, 49)?;
            q.batch(|q| block(q, 100)).map(drop)
        })
        .unwrap();
        assert_eq!(q.batch_report().exchanged, before.exchanged + 1);
        x.get([0]).unwrap()
    };
    assert_eq!((left(None), left(Some(Planted::OldVersion))), (49, 100));
}

#[test]
fn planted_order_of_another_block_is_caught() {
    for planted in [false, true] {
        let builder = Runtime::builder().backend(SimBackend::builder().build());
        let builder = match planted {
            // SAFETY: the bug leaves tasks in another order.
            true => unsafe { builder.plant(Planted::OtherStructure) },
            false => builder,
        };
        let rt = builder.build().unwrap();
        let q = rt.queue().unwrap();
        assert!(second_runs_beside_the_first(&rt, &q, true));
        assert_eq!(second_runs_beside_the_first(&rt, &q, false), planted);
    }
}
