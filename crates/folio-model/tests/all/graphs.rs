//! Random programs of which parts are graphs: built by hand or by recording, within other graphs,
//! and as batches; run several times between ordinary commands and guards, with updates between
//! runs. Compared with the same commands in turn (GRAPH-01, GRAPH-03, GRAPH-08).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::{DeviceRef, Executable, Graph, Node, Parameter, Result};
use folio_cpu::CpuBackend;
use folio_model::rng::Rng;
use folio_model::suite::{Budget, cases, line};
use folio_sim::{DeviceSpec, SimBackend};
use std::sync::Arc;
use std::time::Instant;

/// Elements of a buffer, and of a page; and how many buffers.
const N: usize = 24;
const PAGE: usize = 5;
const BUFFERS: usize = 5;

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
}

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
        Step { what, from, to, at, n, term, after, updatable: rng.chance(50) }
    }

    /// With other values; half of the time with other places, too.
    fn exchange(&mut self, rng: &mut Rng) {
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

    fn describe(&self, all: &[Shared<i64>], cg: &mut CommandGroup) -> Result<()> {
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
                let (from, to) = (cg.read(&from), cg.read_write(&mut to));
                cg.repeatable_task((from, to), move |(from, mut to)| {
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
        Ok(World { rt, all, data })
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
        steps: &[Step],
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
                let read = value.clone();
                let describe = move |cg: &mut CommandGroup| {
                    let step = cg.parameter(&read);
                    step.describe(&all, cg)
                };
                nodes.push(Some(graph.add_updatable(&after, describe)?));
                values.push(Some(value));
            } else {
                nodes.push(Some(graph.add_after(&after, |cg| step.describe(&self.all, cg))?));
                values.push(None);
            }
        }
        Ok(())
    }

    fn make(&self, on: &DeviceRef, way: Way, steps: &[Step], rng: &mut Rng) -> Result<Made> {
        let graph = self.rt.graph(on)?;
        let (mut nodes, mut values) = (Vec::new(), Vec::new());
        match way {
            Way::Ordinary => return Ok(Made::Direct),
            Way::Batch => return Ok(Made::Batch),
            Way::ByHand => self.by_hand(&graph, steps, &mut nodes, &mut values)?,
            Way::Nested => {
                let half = rng.below(steps.len() + 1);
                let parts = [self.rt.graph(on)?, self.rt.graph(on)?];
                for (part, steps) in parts.iter().zip([&steps[..half], &steps[half..]]) {
                    self.by_hand(part, steps, &mut nodes, &mut values)?;
                }
                let first = graph.add_graph(&[], &parts[0].finalize()?)?;
                graph.add_graph(&[first], &parts[1].finalize()?)?;
            }
            Way::Recorded => {
                let queues = [self.rt.queue_on(on)?, self.rt.in_order_queue_on(on)?];
                let named = if rng.chance(50) { &queues[..] } else { &queues[rng.below(2)..][..1] };
                let recording = graph.record(named)?;
                let mut events: Vec<Event> = Vec::new();
                for step in steps {
                    if rng.chance(5) {
                        named[0].barrier()?;
                    }
                    let event = named[rng.below(named.len())].submit(|cg| {
                        step.after.iter().for_each(|at| {
                            cg.after(&events[*at]);
                        });
                        step.describe(&self.all, cg)
                    })?;
                    nodes.push(graph.node_of(&event));
                    values.push(None);
                    events.push(event);
                }
                drop(recording);
            }
        }
        Ok(Made::Graph { run: graph.finalize()?, nodes, values })
    }

    /// One run of a block.
    fn run(&self, q: &Queue, made: &Made, steps: &[Step]) -> Result<()> {
        let submit = |q: &Queue| {
            let mut events: Vec<Event> = Vec::new();
            for step in steps {
                events.push(q.submit(|cg| {
                    step.after.iter().for_each(|at| {
                        cg.after(&events[*at]);
                    });
                    step.describe(&self.all, cg)
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
fn runtime(seed: u64) -> Result<Runtime> {
    let builder = Runtime::builder();
    match seed % 4 {
        0 | 1 => builder.backend(SimBackend::builder().devices(2, DeviceSpec::default()).build()),
        2 => builder.backend(CpuBackend::builder().threads(2).build().unwrap()),
        _ => builder.backend(CpuBackend::builder().domains(2).threads(2).build().unwrap()),
    }
    .build()
}

fn case(seed: u64) -> Result<(), String> {
    let told = |error: Error| format!("{error}");
    let mut rng = Rng::new(seed);
    let mut world = World::new(runtime(seed).map_err(told)?, &mut rng).map_err(told)?;
    let devices = world.rt.devices();
    for block in 0..rng.within(1, 4) {
        let way = [Way::Ordinary, Way::ByHand, Way::Recorded, Way::Nested, Way::Batch];
        let way = rng.pick(&way);
        let mut steps: Vec<Step> = Vec::new();
        for nth in 0..rng.within(1, 12) {
            steps.push(Step::random(&mut rng, nth));
        }
        let on = &devices[rng.below(devices.len())];
        let queue = match rng.chance(50) {
            true => world.rt.queue_on(on),
            false => world.rt.in_order_queue_on(on),
        };
        let queue = queue.map_err(told)?;
        let made = world.make(on, way, &steps, &mut rng).map_err(told)?;
        for run in 0..rng.within(1, 6) {
            let doing =
                |why: String| format!("block {block}, {way:?}, run {run}: {why}\n{steps:#?}");
            world.run(&queue, &made, &steps).map_err(told).map_err(doing)?;
            steps.iter().for_each(|step| step.run(&mut world.data));
            if rng.chance(30) {
                world.check(&mut rng).map_err(doing)?;
            }
            if rng.chance(30) {
                let (step, at) = (Step::random(&mut rng, 0), rng.below(devices.len()));
                let other = world.rt.queue_on(&devices[at]).map_err(told)?;
                other.submit(|cg| step.describe(&world.all, cg)).map_err(told)?;
                step.run(&mut world.data);
            }
            if rng.chance(15) {
                let (at, i, value) = (rng.below(BUFFERS), rng.below(N), rng.below(1000) as i64);
                world.all[at].write().map_err(told)?[i] = value;
                world.data[at][i] = value;
            }
            exchange(&made, &mut steps, &world, &mut rng).map_err(told)?;
        }
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
            (None, Some(node)) => run.update(node, |cg| step.describe(&world.all, cg))?,
            (None, None) => {}
        }
    }
    Ok(())
}

#[test]
fn suite_graphs() {
    let budget = Budget::of("GRAPHS");
    let start = Instant::now();
    let with_seed = |seed| case(seed).map_err(|why| format!("seed {seed}: {why}"));
    let (done, wrong) = cases(budget, 2, &with_seed);
    println!("{}", line("graphs", done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} cases, at least {least} asked");
}
