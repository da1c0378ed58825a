//! Random programs of graphs on their way: blocks are made into graphs, are run, and are exchanged.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::graphs_steps::{BUFFERS, FLAGS, Log, MADE, N, PAGE, RAW, Step, What};
use folio::prelude::*;
use folio_core::canary::Canary;
use folio_core::hal::Backend;
use folio_core::{
    DeviceRef, Executable, Graph, Parameter, Result, RuntimeBuilder, UsmKind, UsmPtr,
    error::GraphError, graph::Node,
};
use folio_cpu::CpuBackend;
use folio_model::rng::Rng;
use folio_sim::{DeviceSpec, SimBackend, SimHandle};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// How a block of commands is submitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
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
pub(crate) enum Made {
    Direct(Chosen),
    Batch(Chosen),
    Graph {
        runs: Vec<Executable>,
        /// Where each of them begins, and the end.
        cuts: Vec<usize>,
        /// Where graphs begin that are nodes of it.
        inner: Vec<usize>,
        nodes: Vec<Option<Node>>,
        values: Vec<Option<Parameter<Value>>>,
    },
}

impl Made {
    /// Where graphs begin that are nodes.
    pub(crate) fn inner(&self) -> &[usize] {
        match self {
            Made::Graph { inner, .. } => inner,
            Made::Direct(_) | Made::Batch(_) => &[],
        }
    }
}

/// Commands of a block that are submitted.
pub(crate) struct Submitted {
    pub(crate) of: Range<usize>,
    pub(crate) event: Event,
}

/// The value of a step's parameter.
pub(crate) type Value = (Step, Canary);

fn value_of(step: &Step) -> Value {
    (*step, Canary::new("a parameter's value"))
}

/// By step: the graph of a condition.
pub(crate) type Chosen = Vec<Option<Executable>>;

pub(crate) struct World {
    pub(crate) rt: Runtime,
    pub(crate) all: Arc<[Shared<i64>]>,
    /// By device: memory that pointers name.
    pub(crate) raw: Vec<[Shared<i64>; 2]>,
    /// The device of the block.
    pub(crate) at: usize,
    pub(crate) data: Vec<Vec<i64>>,
    pub(crate) log: Log,
}

/// The label of a buffer by its number.
pub(crate) fn buffer_name(at: usize) -> String {
    format!("buffer {at}")
}

impl World {
    pub(crate) fn new(rt: Runtime, rng: &mut Rng) -> Result<World> {
        let mut data = Vec::new();
        for _ in 0..BUFFERS {
            data.push((0..N).map(|_| rng.below(1000) as i64).collect::<Vec<_>>());
        }
        let options = |at: usize| BufferOptions::new().page([PAGE]).label(buffer_name(at));
        let all = data
            .iter()
            .enumerate()
            .map(|(at, data)| Ok(rt.buffer_with(data, options(at))?.into_shared()));
        let mut all = all.collect::<Result<Vec<_>>>()?;
        // What a block makes takes the place of these.
        all.resize(BUFFERS + MADE, all[0].clone());
        all.push(rt.buffer_from(&[0; N])?.into_shared());
        data.resize(RAW[1] + 1, vec![0; N]);
        let mut raw = Vec::new();
        for device in rt.devices() {
            let made = || rt.usm::<i64>(&device, UsmKind::Device, N);
            let own = [made()?, made()?].map(|made| made.into_buffer().into_shared());
            let q = rt.queue_on(&device)?;
            own.iter().try_for_each(|own| q.fill(own, 0)?.wait())?;
            raw.push(own);
        }
        Ok(World { rt, all: all.into(), raw, at: 0, data, log: Log::default() })
    }

    /// Where the memory is that pointers name.
    pub(crate) fn pointers(&self, on: &DeviceRef) -> Result<[UsmPtr; 2]> {
        let [first, second] = &self.raw[self.at];
        Ok([first.pointer(on)?, second.pointer(on)?])
    }

    /// All buffers that a block uses: those that it makes are new.
    pub(crate) fn with_made(&self) -> Result<Vec<Shared<i64>>> {
        let mut all = self.all.to_vec();
        for made in &mut all[BUFFERS..FLAGS] {
            let options = BufferOptions::new().page([PAGE]);
            *made = self.rt.buffer_with::<i64, 1>([N], options)?.into_shared();
        }
        all.extend_from_slice(&self.raw[self.at]);
        Ok(all)
    }

    /// Tasks have run in the order that was asked for. Runs of a block are behind one another.
    pub(crate) fn check_order(&self, steps: &[Step]) -> Result<(), String> {
        self.rt.wait().map_err(|error| error.to_string())?;
        let log = std::mem::take(&mut *self.log.ran.lock().unwrap());
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

    pub(crate) fn check(&self, rng: &mut Rng) -> Result<(), String> {
        let at = rng.below(BUFFERS);
        let got = self.all[at].to_vec().map_err(|error| error.to_string())?;
        if got == self.data[at] {
            return Ok(());
        }
        Err(format!("buffer {at} is\n{got:?}, and not\n{:?}", self.data[at]))
    }

    /// Adds steps as nodes by hand.
    pub(crate) fn by_hand(
        &self,
        graph: &Graph,
        (steps, used, chosen): (&[Step], &[Shared<i64>], &Chosen),
        nodes: &mut Vec<Option<Node>>,
        values: &mut Vec<Option<Parameter<Value>>>,
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
                let (value, all) = (Parameter::new(value_of(step)), self.all.clone());
                let (read, log, own) = (value.clone(), self.log.clone(), nodes.len());
                let canary = Canary::new("a function that describes a node");
                let describe = move |cg: &mut CommandGroup| {
                    canary.runs();
                    let (step, _canary) = cg.parameter(&read);
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

    pub(crate) fn chosen(&self, on: &DeviceRef, steps: &[Step]) -> Result<Chosen> {
        let made = steps.iter().map(|step| match step.what {
            What::Chosen(choice) => choice.made(&self.rt, on, &self.all).map(Some),
            _ => Ok(None),
        });
        made.collect()
    }

    pub(crate) fn make(
        &self,
        on: &DeviceRef,
        way: Way,
        steps: &[Step],
        rng: &mut Rng,
    ) -> Result<Made> {
        let graph = self.rt.graph(on)?;
        let (mut nodes, mut values, mut inner) = (Vec::new(), Vec::new(), Vec::new());
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
                    return Ok(Made::Graph { runs, cuts, inner, nodes, values });
                }
                inner = cuts;
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
        let cuts = vec![0, steps.len()];
        Ok(Made::Graph { runs, cuts, inner, nodes, values })
    }

    /// Submits a step behind those of its block.
    pub(crate) fn submit(
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

    /// One run of a block. What of it is submitted is added to `done`.
    pub(crate) fn run(
        &self,
        q: &Queue,
        made: &Made,
        steps: &[Step],
        done: &mut Vec<Submitted>,
    ) -> Result<()> {
        let submit = |q: &Queue, chosen: &Chosen, done: &mut Vec<Submitted>| {
            let (mut events, all): (Vec<Event>, _) = (Vec::new(), self.with_made()?);
            for (own, step) in steps.iter().enumerate() {
                if step.barrier {
                    q.barrier()?;
                }
                let event = self.submit(q, (own, step), (&all, chosen), &events)?;
                done.push(Submitted { of: own..own + 1, event: event.clone() });
                events.push(event);
            }
            Ok(())
        };
        match made {
            Made::Direct(chosen) => submit(q, chosen, done)?,
            Made::Batch(chosen) => {
                let ((), event) = q.batch(|q| submit(q, chosen, &mut Vec::new()))?;
                done.push(Submitted { of: 0..steps.len(), event });
            }
            Made::Graph { runs, cuts, .. } => {
                for (run, of) in runs.iter().zip(cuts.windows(2)) {
                    let after: Vec<&Event> = done.last().iter().map(|last| &last.event).collect();
                    let event = q.run_graph_after(run, &after)?;
                    done.push(Submitted { of: of[0]..of[1], event });
                }
            }
        }
        Ok(())
    }
}

/// The backends of a runtime, and a handle of the simulated devices.
pub(crate) type Backends = (Vec<Arc<dyn Backend>>, Option<SimHandle>);

/// Those of a seed.
pub(crate) fn backends(seed: u64) -> Backends {
    match seed % 4 {
        0 | 1 => {
            let sim = SimBackend::builder().devices(2, DeviceSpec::default()).build();
            let handle = sim.handle();
            (vec![Arc::new(sim)], Some(handle))
        }
        2 => (vec![Arc::new(CpuBackend::builder().threads(2).build().unwrap())], None),
        _ => (vec![Arc::new(CpuBackend::builder().domains(2).threads(2).build().unwrap())], None),
    }
}

/// A runtime by a seed.
pub(crate) fn builder(seed: u64) -> RuntimeBuilder {
    let (backends, _) = backends(seed);
    backends.into_iter().fold(Runtime::builder(), RuntimeBuilder::shared_backend)
}

/// What has occurred, and how often.
pub(crate) type Seen = Arc<Mutex<BTreeMap<&'static str, u64>>>;

pub(crate) fn see(seen: &Seen, what: &'static str, times: u64) {
    if times > 0 {
        *seen.lock().unwrap().entry(what).or_default() += times;
    }
}

/// Has steps come after others.
pub(crate) fn reorder(steps: &mut [Step], rng: &mut Rng) {
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
pub(crate) fn exchange(
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
        step.exchange(rng);
        let Made::Graph { values, .. } = made else { continue };
        see(seen, "updates within graphs", (way == Way::Nested && values[at].is_none()).into());
        renew(made, (at, step), world)?;
    }
    Ok(())
}

/// Has a node of a graph do what its step is now.
pub(crate) fn renew(made: &Made, (at, step): (usize, &Step), world: &World) -> Result<()> {
    let Made::Graph { runs, nodes, values, .. } = made else { return Ok(()) };
    match (&values[at], nodes[at]) {
        (Some(value), _) => value.set(value_of(step)),
        (None, Some(node)) if !step.fixed => {
            let with = (at, &world.all[..], &world.log);
            let mut done = Ok(());
            for run in runs {
                done = run.update(node, |cg| step.describe(with, cg));
                // It is a node of one of them.
                if !why(&done, |why| matches!(why, GraphError::ForeignNode { .. })) {
                    break;
                }
            }
            done?;
        }
        _ => {}
    }
    Ok(())
}

/// Exchanges all that a graph does for what another one of the same shape does; or nothing, where
/// other places lead to another shape.
pub(crate) fn exchange_all(
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
pub(crate) fn why(done: &Result<()>, is: impl Fn(&GraphError) -> bool) -> bool {
    matches!(done, Err(Error::Graph { why, .. }) if is(why))
}
