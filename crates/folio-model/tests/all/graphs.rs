//! Random programs of which parts are graphs: built by hand or by recording, within other graphs,
//! and as batches; run several times between ordinary commands and guards, with updates between
//! runs, command by command, by parts and as a whole. Compared with the same commands in turn
//! (GRAPH-01, GRAPH-03, GRAPH-07, GRAPH-08). Bugs on purpose are found.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::graphs_chosen::{Choice, Kind, by_pointer, chosen};
use crate::vulkan;
use folio::prelude::*;
use folio_core::planted::Planted;
use folio_core::{
    DeviceRef, Executable, Graph, GraphError, Node, Parameter, Replay, ReplayReport, Result,
    RuntimeBuilder, UsmKind, UsmPtr,
};
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use folio_model::rng::Rng;
use folio_model::suite::{Budget, cases, line};
use folio_opencl::OpenClBackend;
use folio_sim::{DeviceSpec, SimBackend};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Elements of a buffer, and of a page; and how many buffers.
pub(crate) const N: usize = 24;
const PAGE: usize = 5;
pub(crate) const BUFFERS: usize = 5;
/// Buffers that a block makes, beside those.
const MADE: usize = 3;
/// Behind these: what conditions read, and two that are named by pointers, too.
pub(crate) const FLAGS: usize = BUFFERS + MADE;
pub(crate) const RAW: [usize; 2] = [FLAGS + 1, FLAGS + 2];

const MODULUS: i64 = 1_000_003;

#[kernel]
pub(crate) fn turns(i: Item, factor: i64, term: i64, x: InOut<i64>) {
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
pub(crate) enum What {
    Turns(i64),
    Joins,
    Puts,
    Fill,
    Copy,
    Task,
    /// Brings what a later command may use.
    Prefetch,
    /// A copy of all, by pointers.
    RawCopy(Option<[UsmPtr; 2]>),
    Chosen(Choice),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) what: What,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) at: usize,
    pub(crate) n: usize,
    pub(crate) term: i64,
    /// The command of the same block that it comes after, though no data are shared.
    pub(crate) after: Option<usize>,
    /// It can be described again; others are exchanged.
    pub(crate) updatable: bool,
    /// It uses what the block makes, and stays as it is.
    pub(crate) fixed: bool,
    /// A barrier of its queue comes before it.
    pub(crate) barrier: bool,
}

/// The tasks of a block, by their numbers, as they have run.
type Log = Arc<Mutex<Vec<usize>>>;

impl Step {
    /// Over all of the first two buffers.
    pub(crate) fn of(what: What) -> Step {
        let (after, updatable, fixed, barrier) = (None, false, false, false);
        Step { what, from: 1, to: 0, at: 0, n: N, term: 0, after, updatable, fixed, barrier }
    }

    pub(crate) fn random(rng: &mut Rng, nth: usize) -> Step {
        let what =
            [What::Turns(7), What::Turns(2), What::Joins, What::Puts, What::Fill, What::Copy];
        let what = match rng.below(100) {
            0..12 => What::Task,
            12..15 => What::Prefetch,
            _ => rng.pick(&what),
        };
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
        let (updatable, barrier) = (rng.chance(50), rng.chance(3));
        Step { what, from, to, at, n, term, after, updatable, fixed: false, barrier }
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
            match rng.below(100) {
                0..75 => steps.push(step),
                75..82 => steps.extend(chosen(rng)),
                82..85 => steps.extend(by_pointer(rng, nth)),
                _ => {}
            }
            if steps.len() > nth {
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
        if self.to == FLAGS {
            self.term = other.term % 4;
            return;
        }
        self.term = other.term;
        if rng.chance(50) {
            (self.from, self.to, self.at, self.n) = (other.from, other.to, other.at, other.n);
        }
    }

    /// As a program without Folio does it.
    #[expect(clippy::needless_range_loop, reason = "two of the vectors by one index")]
    pub(crate) fn run(&self, data: &mut [Vec<i64>]) {
        if let What::Chosen(choice) = self.what {
            return choice.run(data);
        }
        for i in self.at..self.at + self.n {
            let (x, y) = (data[self.from][i], &mut data[self.to][i]);
            *y = match self.what {
                What::Turns(factor) => (*y * factor + self.term) % MODULUS,
                What::Joins => (*y * 3 + x + self.term) % MODULUS,
                What::Puts | What::Fill => self.term,
                What::Copy | What::RawCopy(_) => x,
                What::Task => (*y + 2 * x + self.term) % MODULUS,
                What::Prefetch | What::Chosen(_) => *y,
            };
        }
    }

    pub(crate) fn describe(
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
            What::Prefetch => cg.prefetch(&from),
            // SAFETY: both hold so many elements, which the program uses on this device only; the
            // commands before and after it that use them are in order.
            What::RawCopy(Some([from, to])) => unsafe { cg.copy_raw(from, to, [1, 1, 8 * N]) },
            // A condition is a graph.
            What::RawCopy(None) | What::Chosen(_) => {}
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
    /// By hand, in several graphs, which are nodes of another one, or of one of them.
    Nested,
    /// By hand, in several graphs, which run one behind the other.
    Split,
    Batch,
}

/// A block as it is to be run.
enum Made {
    Direct(Chosen),
    Batch(Chosen),
    Graph { runs: Vec<Executable>, nodes: Vec<Option<Node>>, values: Vec<Option<Parameter<Step>>> },
}

/// By step: the graph of a condition.
type Chosen = Vec<Option<Executable>>;

struct World {
    rt: Runtime,
    all: Arc<[Shared<i64>]>,
    /// By device: memory that pointers name.
    raw: Vec<[Shared<i64>; 2]>,
    /// The device of the block.
    at: usize,
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
        let mut all = all.collect::<Result<Vec<_>>>()?;
        // What a block makes takes the place of these.
        all.resize(BUFFERS + MADE, all[0].clone());
        all.push(rt.buffer_from(&[0; N])?.share());
        data.resize(RAW[1] + 1, vec![0; N]);
        let mut raw = Vec::new();
        for device in rt.devices() {
            let made = || rt.usm::<i64>(&device, UsmKind::Device, N);
            let own = [made()?, made()?].map(|made| made.into_buffer().share());
            let q = rt.queue_on(&device)?;
            own.iter().try_for_each(|own| q.fill(own, 0)?.wait())?;
            raw.push(own);
        }
        Ok(World { rt, all: all.into(), raw, at: 0, data, log: Log::default() })
    }

    /// Where the memory is that pointers name.
    fn pointers(&self, on: &DeviceRef) -> Result<[UsmPtr; 2]> {
        let [first, second] = &self.raw[self.at];
        Ok([first.pointer(on)?, second.pointer(on)?])
    }

    /// All buffers that a block uses: those that it makes are new.
    fn with_made(&self) -> Result<Vec<Shared<i64>>> {
        let mut all = self.all.to_vec();
        for made in &mut all[BUFFERS..FLAGS] {
            let options = BufferOptions::new().page([PAGE]);
            *made = self.rt.buffer_with::<i64, 1>([N], options)?.share();
        }
        all.extend_from_slice(&self.raw[self.at]);
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
        (steps, used, chosen): (&[Step], &[Shared<i64>], &Chosen),
        nodes: &mut Vec<Option<Node>>,
        values: &mut Vec<Option<Parameter<Step>>>,
    ) -> Result<()> {
        let base = nodes.len();
        for step in steps {
            // What is in another graph is only before it if that is.
            let after: Vec<Node> =
                step.after.filter(|at| *at >= base).and_then(|at| nodes[at]).into_iter().collect();
            if let Some(chosen) = &chosen[nodes.len()] {
                nodes.push(Some(graph.add_graph(&after, chosen)?));
                values.push(None);
            } else if step.updatable {
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

    fn chosen(&self, on: &DeviceRef, steps: &[Step]) -> Result<Chosen> {
        let made = steps.iter().map(|step| match step.what {
            What::Chosen(choice) => choice.made(&self.rt, on, &self.all).map(Some),
            _ => Ok(None),
        });
        made.collect()
    }

    fn make(&self, on: &DeviceRef, way: Way, steps: &[Step], rng: &mut Rng) -> Result<Made> {
        let graph = self.rt.graph(on)?;
        let (mut nodes, mut values) = (Vec::new(), Vec::new());
        let all = self.with_made()?;
        let chosen = self.chosen(on, steps)?;
        match way {
            Way::Ordinary => return Ok(Made::Direct(chosen)),
            Way::Batch => return Ok(Made::Batch(chosen)),
            Way::ByHand => self.by_hand(&graph, (steps, &all, &chosen), &mut nodes, &mut values)?,
            Way::Nested | Way::Split => {
                let mut cuts: Vec<usize> =
                    (0..rng.within(1, 4)).map(|_| rng.below(steps.len() + 1)).collect();
                cuts.extend([0, steps.len()]);
                cuts.sort_unstable();
                let mut runs: Vec<Executable> = Vec::new();
                for cut in cuts.windows(2) {
                    let part = self.rt.graph(on)?;
                    let deeper = way == Way::Nested && rng.chance(30);
                    if let Some(before) = runs.pop_if(|_| deeper) {
                        part.add_graph(&[], &before)?;
                    }
                    let with = (&steps[cut[0]..cut[1]], &all[..], &chosen);
                    let own = self.rt.graph(on)?;
                    self.by_hand(&own, with, &mut nodes, &mut values)?;
                    let before = part.leaves();
                    part.add_graph(&before, &own.finalize()?)?;
                    runs.push(part.finalize()?);
                }
                if way == Way::Split {
                    return Ok(Made::Graph { runs, nodes, values });
                }
                runs.iter().try_for_each(|run| {
                    let before = graph.leaves();
                    graph.add_graph(&before, run).map(drop)
                })?;
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
                    let q = &named[rng.below(named.len())];
                    let event = self.submit(q, (own, step), (&all, &chosen), &events)?;
                    nodes.push(graph.node_of(&event));
                    values.push(None);
                    events.push(event);
                }
                drop(recording);
            }
        }
        drop(all);
        let runs = vec![graph.finalize()?];
        Ok(Made::Graph { runs, nodes, values })
    }

    /// Submits a step behind those of its block.
    fn submit(
        &self,
        q: &Queue,
        (own, step): (usize, &Step),
        (all, chosen): (&[Shared<i64>], &Chosen),
        events: &[Event],
    ) -> Result<Event> {
        let after: Vec<&Event> = step.after.iter().map(|at| &events[*at]).collect();
        if let Some(chosen) = &chosen[own] {
            return q.run_graph_after(chosen, &after);
        }
        q.submit(|cg| {
            after.iter().for_each(|event| {
                cg.after(event);
            });
            step.describe((own, all, &self.log), cg)
        })
    }

    /// One run of a block.
    fn run(&self, q: &Queue, made: &Made, steps: &[Step]) -> Result<()> {
        let submit = |q: &Queue, chosen: &Chosen| {
            let (mut events, all): (Vec<Event>, _) = (Vec::new(), self.with_made()?);
            for (own, step) in steps.iter().enumerate() {
                if step.barrier {
                    q.barrier()?;
                }
                events.push(self.submit(q, (own, step), (&all, chosen), &events)?);
            }
            Ok(())
        };
        match made {
            Made::Direct(chosen) => submit(q, chosen),
            Made::Batch(chosen) => q.batch(|q| submit(q, chosen)).map(drop),
            Made::Graph { runs, .. } => {
                let mut last: Option<Event> = None;
                for run in runs {
                    let after: Vec<&Event> = last.iter().collect();
                    last = Some(q.run_graph_after(run, &after)?);
                }
                Ok(())
            }
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
        let way = [Way::Ordinary, Way::ByHand, Way::Recorded, Way::Nested, Way::Split, Way::Batch];
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
        world.at = at;
        for step in &mut steps {
            if let What::RawCopy(pointers) = &mut step.what {
                *pointers = Some(world.pointers(on).map_err(told)?);
            }
        }
        see_steps(seen, way, &steps);
        let mut made = world.make(on, way, &steps, &mut rng).map_err(told)?;
        let how = if rng.chance(50) { Replay::Parts } else { Replay::Whole };
        if let Made::Graph { runs, .. } = &made {
            let how = if rng.chance(20) { Replay::Commands } else { how };
            runs.iter().for_each(|run| run.replay_as(how));
        }
        let times = if rng.chance(4) { rng.within(9, 64) } else { rng.within(least, most) };
        see(seen, "many runs", (times > most).into());
        for run in 0..times {
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
                exchange(&mut made, (way, on), &mut steps, &world, (&mut rng, seen))
                    .map_err(told)?;
            }
            if let Made::Direct(_) | Made::Batch(_) = made
                && rng.chance(30)
            {
                let order = world.check_order(&steps);
                order.map_err(|why| format!("block {block}, {way:?}, run {run}: {why}"))?;
                reorder(&mut steps, &mut rng);
            }
            if let Made::Graph { runs, .. } = &made
                && rng.chance(10)
            {
                let how = rng.pick(&[Replay::Parts, Replay::Whole, Replay::Commands]);
                runs.iter().for_each(|run| run.replay_as(how));
            }
        }
        world.check_order(&steps).map_err(|why| format!("block {block}, {way:?}: {why}"))?;
        let runs = if let Made::Graph { runs, .. } = &made { &runs[..] } else { &[] };
        for run in runs {
            see_replays(seen, how, &run.replay_report());
            let memory = run.memory().map_err(told)?;
            see(seen, "temporaries", memory.temporaries as u64);
            see(seen, "shared memory", (memory.temporaries - memory.memories) as u64);
        }
        see(seen, "temporaries of batches", queue.batch_report().temporaries as u64);
        see(seen, "blocks as one operation", queue.batch_report().replayed);
        see(seen, "blocks with other arguments", queue.batch_report().exchanged);
        if runs.iter().any(|run| run.device().name() != on.name()) {
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
        if steps[at].after.is_some() && !steps[at].fixed {
            let tasks = (0..at).filter(|at| matches!(steps[*at].what, What::Task));
            let tasks: Vec<usize> = tasks.collect();
            let one = if tasks.is_empty() { rng.below(at) } else { rng.pick(&tasks) };
            steps[at].after = Some(one);
        }
    }
}

/// Exchanges what some steps do, by parameters or node by node.
fn exchange(
    made: &mut Made,
    (way, on): (Way, &DeviceRef),
    steps: &mut [Step],
    world: &World,
    (rng, seen): (&mut Rng, &Seen),
) -> Result<()> {
    if way == Way::ByHand && rng.chance(25) {
        return exchange_all(made, on, steps, world, (rng, seen));
    }
    for (at, step) in steps.iter_mut().enumerate() {
        if !rng.chance(25) {
            continue;
        }
        let Made::Graph { runs, nodes, values } = made else {
            step.exchange(rng);
            continue;
        };
        step.exchange(rng);
        match (&values[at], nodes[at]) {
            (Some(value), _) => value.set(*step),
            (None, Some(_)) if step.fixed => {}
            (None, Some(node)) => {
                let with = (at, &world.all[..], &world.log);
                see(seen, "updates within graphs", (way == Way::Nested).into());
                let mut done = Ok(());
                for run in runs.iter() {
                    done = run.update(node, |cg| step.describe(with, cg));
                    // It is a node of one of them.
                    if !why(&done, |why| matches!(why, GraphError::ForeignNode { .. })) {
                        break;
                    }
                }
                done?;
            }
            (None, None) => {}
        }
    }
    Ok(())
}

/// Exchanges all that a graph does for what another one of the same shape does; or nothing, where
/// other places lead to another shape.
fn exchange_all(
    made: &mut Made,
    on: &DeviceRef,
    steps: &mut [Step],
    world: &World,
    (rng, seen): (&mut Rng, &Seen),
) -> Result<()> {
    let Made::Graph { runs, values, .. } = made else { return Ok(()) };
    let (graph, all, mut new) = (world.rt.graph(on)?, world.with_made()?, steps.to_vec());
    for step in &mut new {
        if rng.chance(50) {
            step.exchange(rng);
        }
    }
    let (chosen, mut nodes, mut read) = (world.chosen(on, &new)?, Vec::new(), Vec::new());
    world.by_hand(&graph, (&new, &all, &chosen), &mut nodes, &mut read)?;
    let done = runs[0].update_from(&graph);
    if why(&done, |why| matches!(why, GraphError::OtherShape { .. })) {
        return Ok(());
    }
    done?;
    see(seen, "updates of a whole graph", 1);
    steps.copy_from_slice(&new);
    *values = read;
    Ok(())
}

/// It is this error of a graph.
fn why(done: &Result<()>, is: impl Fn(&GraphError) -> bool) -> bool {
    matches!(done, Err(Error::Graph { why, .. }) if is(why))
}

/// Counts what steps are.
fn see_steps(seen: &Seen, way: Way, steps: &[Step]) {
    see(seen, "graphs one behind the other", (way == Way::Split).into());
    for step in steps {
        see(seen, "barriers in batches", (way == Way::Batch && step.barrier).into());
        match step.what {
            What::Prefetch => see(seen, "prefetches", 1),
            What::RawCopy(_) => see(seen, "copies by pointers", 1),
            What::Chosen(Choice { kind: Kind::While, .. }) => see(seen, "loops", 1),
            What::Chosen(_) => see(seen, "conditions", 1),
            _ => {}
        }
    }
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

/// Over a backend alone, or over two, and beside the memories of a CPU; for all cases. Without a
/// device of each there is nothing to test.
fn over(name: &str, (backend, with): With) {
    let alone = match with(Runtime::builder()).build() {
        Ok(alone) if alone.absent().is_empty() => alone,
        Ok(none) => return println!("skipped: {}", none.absent().join("; ")),
        Err(why) => return println!("skipped: {backend}: {why}"),
    };
    let cpu = CpuBackend::builder().domains(2).threads(1).build().unwrap();
    let beside = with(Runtime::builder().backend(cpu)).build().unwrap();
    let all = [alone, beside];
    let (done, seen) = suite(name, &|seed| Ok(all[seed as usize % all.len()].clone()));
    let seen = seen.lock().unwrap();
    let absent: Vec<_> =
        ["whole runs", "parts"].into_iter().filter(|w| !seen.contains_key(w)).collect();
    assert!(done < 100 || absent.is_empty(), "no case of {absent:?}");
}

/// Each process compiles three kernels for each device.
#[test]
fn suite_graphs_opencl() {
    over("GRAPHS_OPENCL", ("opencl", |builder| builder.backend(OpenClBackend::new())));
}

#[test]
fn suite_graphs_vulkan() {
    over("GRAPHS_VULKAN", ("vulkan", |builder| builder.backend(vulkan::validated())));
    vulkan::is_silent();
}

#[test]
fn cuda_runs_graphs() {
    over("GRAPHS_CUDA", ("cuda", |builder| builder.backend(CudaBackend::new())));
}

/// On one GPU by both, where there is that.
#[test]
fn cuda_and_vulkan_run_graphs() {
    let both = |builder: RuntimeBuilder| {
        builder.keep_twins().backend(CudaBackend::new()).backend(vulkan::validated())
    };
    over("GRAPHS_VULKAN", ("cuda and vulkan", both));
    vulkan::is_silent();
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
        "many runs",
        "graphs one behind the other",
        "updates within graphs",
        "updates of a whole graph",
        "prefetches",
        "copies by pointers",
        "conditions",
        "loops",
        "barriers in batches",
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
