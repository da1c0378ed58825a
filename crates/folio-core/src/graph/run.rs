//! Executables: graphs that run, and what can be exchanged between their runs.

use super::fuse::Ready;
use super::pool::{Places, Temporaries};
use super::profile::{Clocks, RunTimes, time_each};
use super::replay::Replays;
use super::steps::{Step, Steps};
use super::template::{Template, Update};
use super::{Graph, Inner, Node, NodeResult, Sub, What};
use crate::engine::Engine;
use crate::engine::pages::storage::StorageId;
use crate::engine::plan::union::Union;
use crate::engine::runs::command::Command;
use crate::engine::runs::run::{Order, Ran, Run};
use crate::error::{Error, GraphError, Label, Result};
use crate::event::Event;
use crate::foreign;
use crate::group::CommandGroup;
use crate::order::stamp::Stamp;
use crate::planted::{Plant, Planted};
use crate::queue::Queue;
use crate::runtime::DeviceRef;
use crate::sync::Mutex;
use folio_kernel::fuse::Explanation as FusionReport;
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A graph that runs, as often as asked: [`Queue::run_graph`]. Its nodes and edges are those that
/// the [`Graph`] had; what nodes do can be exchanged. Runs do not overlap each other. Handles are
/// cheap to clone, and may be used from many threads at once.
///
/// Exchanges are used by the runs that are submitted after them.
#[derive(Clone)]
pub struct Executable {
    inner: Arc<Runnable>,
}

struct Runnable {
    /// Only for errors and names: the graph may have changed.
    graph: Arc<Inner>,
    label: Label,
    state: Mutex<Runs>,
    latest: Mutex<Stamp>,
    replays: Mutex<Replays>,
    /// Runs are submitted node by node, and timed.
    profiles: AtomicBool,
}

struct Runs {
    /// As they were described.
    steps: Arc<Steps>,
    /// The commands that run in their place, if they stay as they are; see [`Inner::prepare`].
    ready: Option<Arc<Prepared>>,
    /// The steps that have been exchanged, and use other elements than the order was made for.
    exchanged: BTreeSet<usize>,
    moved: bool,
    /// By node: its steps, several of one in a graph that is a node several times. Operations for
    /// the first node that is exchanged.
    named: Option<HashMap<Node, SmallVec<[usize; 2]>>>,
    count: u64,
}

/// The commands that run.
struct Prepared {
    ready: Ready,
    temporaries: Temporaries,
    places: Places,
}

/// The new work of a step, by its position.
pub(super) type Renewed = (usize, Arc<Template>, Option<Update>);

/// The earlier work of a step.
type Replaced = (Arc<Template>, Option<Update>);

impl Executable {
    pub(super) fn new(graph: &Arc<Inner>, label: Label, steps: Steps) -> Result<Executable> {
        let (steps, exchanged) = (Arc::new(steps), BTreeSet::new());
        let (ready, moved, named, count) = (None, false, None, 0);
        let state = Mutex::new(Runs { steps, ready, exchanged, moved, named, count });
        let (graph, latest, replays) = (graph.clone(), Mutex::default(), Mutex::default());
        let profiles = AtomicBool::new(false);
        let inner = Runnable { graph, label, state, latest, replays, profiles };
        let made = Executable { inner: Arc::new(inner) };
        made.ready()?;
        Ok(made)
    }

    /// What runs, and the commands as they were described, which keep the buffers.
    fn ready(&self) -> Result<(Arc<Prepared>, Arc<Steps>)> {
        loop {
            let (steps, exchanged) = {
                let mut state = self.inner.state.lock();
                if let Some(ready) = &state.ready {
                    return Ok((ready.clone(), state.steps.clone()));
                }
                (state.sorted().clone(), state.exchanged.clone())
            };
            // Without the lock: it may compile.
            let graph = &self.inner.graph;
            let ready = graph.prepare(&steps, &exchanged);
            let mut ready = ready.map_err(|why| self.error(why))?;
            // Temporaries of the commands as they were described: these keep the buffers.
            let temporaries = graph.temporaries(&steps);
            let (pooled, places) = graph.pooled(&ready.steps, &temporaries);
            ready.steps = pooled;
            let ready = Arc::new(Prepared { ready, temporaries, places });
            let mut state = self.inner.state.lock();
            if Arc::ptr_eq(&state.steps, &steps) {
                let old = state.ready.replace(ready.clone());
                drop(state);
                drop(old);
                return Ok((ready, steps));
            }
        }
    }

    /// What fusion has done, and not done, and why: prints as text, and as JSON by
    /// [`FusionReport::json`]. None if it was not asked for.
    pub fn fusion_report(&self) -> Result<Option<FusionReport>> {
        self.refresh()?;
        Ok(self.ready()?.0.ready.report.clone())
    }

    /// What runs, for Graphviz: the commands as they were described, and a box around those that
    /// are one launch, with what became of the memories that pass data between them. A note says
    /// which kernels were not fused, and why. Lines are edges that were asked for, dashes those of
    /// data.
    pub fn dot(&self) -> Result<String> {
        self.refresh()?;
        let (ready, steps) = self.ready()?;
        Ok(ready.ready.dot(&self.inner.label, &steps))
    }

    /// What runs, as JSON: as [`Graph::json`], of the commands as they were described, those of
    /// graphs within the graph among them. `command` is the same number for those that are one
    /// launch.
    pub fn json(&self) -> Result<String> {
        self.refresh()?;
        let (ready, steps) = self.ready()?;
        let device = self.inner.graph.device_name();
        Ok(ready.ready.json(&self.inner.label, &device, &steps))
    }

    /// Its temporaries, and which memory each has that commands use.
    pub(super) fn places(&self) -> Result<(Temporaries, Places)> {
        self.refresh()?;
        let (ready, _) = self.ready()?;
        Ok((ready.temporaries.clone(), ready.places.clone()))
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.inner.graph.core.engine
    }

    fn plant(&self) -> Plant {
        self.engine().plant
    }

    fn error(&self, why: GraphError) -> Error {
        Error::Graph { graph: self.inner.label.clone(), why: Box::new(why) }
    }

    pub(super) fn replays(&self) -> &Mutex<Replays> {
        &self.inner.replays
    }

    pub(super) fn profiles(&self) -> &AtomicBool {
        &self.inner.profiles
    }

    /// Its device.
    pub fn device(&self) -> DeviceRef {
        let graph = &self.inner.graph;
        DeviceRef { core: graph.core.clone(), at: graph.device }
    }

    /// How many runs have been submitted.
    pub fn runs(&self) -> u64 {
        self.inner.state.lock().count
    }

    /// Exchanges what a node does for what `build` describes: other scalars, buffers, parts and
    /// items. It stays a command of its kind with its kernel, and with as many accesses of the same
    /// modes. After an error it does what it did.
    ///
    /// The node may be of a graph within this one, and is exchanged wherever that graph is a node.
    /// A node of [`Graph::add_updatable`] does this from now on, and reads its parameters no more.
    /// Nodes in bodies of conditions are not exchanged: let them read parameters.
    pub fn update<R: NodeResult>(
        &self,
        node: Node,
        build: impl FnOnce(&mut CommandGroup) -> R,
    ) -> Result<()> {
        let (made, told) = Template::described(&self.inner.graph, |cg| build(cg).into_result())?;
        if !told.parameters.is_empty() {
            return Err(self.error(GraphError::NotUpdatable { command: made.label.clone() }));
        }
        let mut state = self.inner.state.lock();
        let all = state.steps_of(node);
        let steps = &state.steps.all;
        let differs = |at: &usize| Some((*at, made.differs(&steps[*at].template, true)?));
        let why = match all.iter().find_map(differs) {
            None if all.is_empty() => state.steps.unknown(node),
            None => {
                let made = Arc::new(made);
                let new: Vec<Renewed> = all.iter().map(|at| (*at, made.clone(), None)).collect();
                let old = state.exchange(self.plant(), &new);
                drop(state);
                drop(old);
                return Ok(());
            }
            Some((at, why)) => {
                let command = steps[at].template.called();
                GraphError::OtherShape { node: node.at as usize, command, why }
            }
        };
        drop(state);
        Err(self.error(why))
    }

    /// Exchanges what all nodes do for what those of another graph do, which has the same shape
    /// ([`Graph::has_shape_of`]).
    pub fn update_from(&self, graph: &Graph) -> Result<()> {
        if !graph.inner.core.same(&self.inner.graph.core) {
            let label = graph.inner.state.lock().label.clone();
            return Err(Error::WrongRuntime { what: "graph", label, by: None });
        }
        if graph.inner.device != self.inner.graph.device {
            let device = self.inner.graph.device_name();
            let other = graph.inner.device_name();
            return Err(self.error(GraphError::OtherDevice { device, what: "graph", other }));
        }
        let new = Steps::of(&graph.inner.state.lock(), graph.inner.id);
        let mut state = self.inner.state.lock();
        let (own, others) = (state.sorted().shape(), new.shape());
        if own != others {
            let same = own.iter().zip(&others).take_while(|(a, b)| a == b).count();
            // Where one of them ends, that of the other one.
            let steps = if same < own.len() { &*state.steps } else { &new };
            let node = steps.number_of(same);
            let command = steps.all.get(same).map(|step| step.template.called());
            let why = state.steps.differs(&new, same);
            drop(state);
            let command = command.unwrap_or_default();
            return Err(self.error(GraphError::OtherShape { node, command, why }));
        }
        let all = new.all.into_iter().enumerate();
        let all: Vec<_> = all.map(|(at, step)| (at, step.template, step.update)).collect();
        let old = state.exchange(self.plant(), &all);
        drop(state);
        drop(old);
        Ok(())
    }

    /// Describes the nodes again that have read parameters which have changed.
    fn refresh(&self) -> Result<()> {
        loop {
            // Without the lock: it is the user's code.
            let steps = self.inner.state.lock().steps.clone();
            let new = steps.renewed(&self.inner.graph)?;
            let known: Vec<_> =
                new.iter().map(|(at, ..)| steps.all[*at].template.clone()).collect();
            drop(steps);
            if new.is_empty() {
                return Ok(());
            }
            let mut state = self.inner.state.lock();
            let mut known = known.iter();
            // Exchanges of another thread meanwhile are newer.
            let (new, late): (Vec<Renewed>, Vec<_>) = new.into_iter().partition(|(at, ..)| {
                known.next().is_some_and(|old| Arc::ptr_eq(old, &state.steps.all[*at].template))
            });
            let old = state.exchange(self.plant(), &new);
            drop(state);
            drop(old);
            if late.is_empty() {
                return Ok(());
            }
        }
    }
}

impl Runs {
    /// Exchanges what steps do. Returns what they did and what ran, to be dropped without a lock.
    fn exchange(
        &mut self,
        plant: Plant,
        new: &[Renewed],
    ) -> (Vec<Replaced>, Option<Arc<Prepared>>) {
        let ready = if plant.is(Planted::NewPlan) { None } else { self.ready.take() };
        self.exchanged.extend(new.iter().map(|(at, ..)| *at));
        let (old, moved) = Arc::make_mut(&mut self.steps).exchange(new);
        self.moved |= moved;
        (old, ready)
    }

    /// The steps, in the order that their accesses have by now.
    fn sorted(&mut self) -> &Arc<Steps> {
        if std::mem::take(&mut self.moved) {
            Arc::make_mut(&mut self.steps).sort_again();
        }
        &self.steps
    }

    /// The steps of a node.
    fn steps_of(&mut self, node: Node) -> SmallVec<[usize; 2]> {
        let named = self.named.get_or_insert_with(|| {
            let mut named: HashMap<Node, SmallVec<[usize; 2]>> = HashMap::new();
            for (at, step) in self.steps.all.iter().enumerate() {
                step.node.into_iter().for_each(|node| named.entry(node).or_default().push(at));
            }
            named
        });
        named.get(&node).cloned().unwrap_or_default()
    }
}

impl Steps {
    /// The error of a node that none of the steps is.
    fn unknown(&self, node: Node) -> GraphError {
        let at = node.at as usize;
        let conditions = self.varying.iter().filter_map(|at| self.all.get(*at));
        let mut conditions = conditions.filter_map(|step| {
            let inner = step.template.bodies.as_ref()?.find(node)?;
            Some((inner.template.called(), step.template.called()))
        });
        match conditions.next() {
            Some((command, condition)) => GraphError::InBody { node: at, command, condition },
            None => GraphError::ForeignNode { node: at },
        }
    }

    /// The new work of steps that have read parameters which have changed.
    pub(super) fn renewed(&self, graph: &Inner) -> Result<Vec<Renewed>> {
        let mut new = Vec::new();
        for at in self.varying.iter().copied() {
            let Step { template, update, .. } = &self.all[at];
            if let Some(bodies) = &template.bodies {
                let made = bodies.renewed(graph)?;
                new.extend(made.map(|made| (at, Arc::new(made), None)));
                continue;
            }
            let Some(update) = update.as_ref().filter(|update| update.is_due()) else { continue };
            let describe = update.describe.clone();
            let (made, told) = Template::described(graph, |cg| describe(cg))?;
            if let Some(why) = made.differs(template, false) {
                let (node, command) = (self.number_of(at), template.called());
                return Err(graph.error(GraphError::OtherShape { node, command, why }));
            }
            new.push((at, Arc::new(made), Some(Update { describe, read: told.parameters })));
        }
        Ok(new)
    }

    /// Exchanges what steps do. Returns what they did, and whether they are to be
    /// [sorted](Self::sort_again): they use other elements.
    pub(super) fn exchange(&mut self, new: &[Renewed]) -> (Vec<Replaced>, bool) {
        let mut old = Vec::with_capacity(new.len());
        let mut moved = false;
        for (at, template, update) in new {
            let Some(step) = self.all.get_mut(*at) else { continue };
            moved |= !template.uses_as(&step.template);
            let template = std::mem::replace(&mut step.template, template.clone());
            old.push((template, std::mem::replace(&mut step.update, update.clone())));
        }
        // A step that varies no more only costs a look.
        let is_new = |(at, template, update): &Renewed| {
            (update.is_some() || template.bodies.is_some())
                && self.varying.binary_search(at).is_err()
        };
        if new.iter().any(is_new) {
            self.find_varying();
        }
        (old, moved)
    }
}

impl Template {
    /// True if it uses the same elements in the same way.
    fn uses_as(&self, other: &Template) -> bool {
        let (own, others) = (&self.command.accesses, &other.command.accesses);
        own.len() == others.len()
            && own
                .iter()
                .zip(others)
                .all(|(a, b)| (a.storage, a.elements, a.mode) == (b.storage, b.elements, b.mode))
    }
}

impl Inner {
    /// An executable as a node.
    pub(super) fn as_node(&self, graph: &Executable) -> Result<What> {
        let (steps, label) = self.steps_of(graph)?;
        let all = steps.all.iter().flat_map(|step| &step.template.command.accesses);
        let accesses = Union::of(all);
        Ok(What::Graph(Arc::new(Sub { steps, label, accesses })))
    }

    /// The current commands of an executable of this graph's device, and its name.
    pub(super) fn steps_of(&self, graph: &Executable) -> Result<(Arc<Steps>, Label)> {
        graph.refresh()?;
        let (other, label) = (&graph.inner.graph, graph.inner.label.clone());
        if !other.core.same(&self.core) {
            return Err(Error::WrongRuntime { what: "graph", label, by: None });
        }
        if other.device != self.device {
            let (device, other) = (self.device_name(), other.device_name());
            return Err(self.error(GraphError::OtherDevice { device, what: "graph", other }));
        }
        Ok((graph.inner.state.lock().sorted().clone(), label))
    }

    /// Submits commands as a run on a queue. None, and nothing is submitted, if one is a list that
    /// is to be compiled again.
    pub(super) fn run(
        &self,
        queue: &Queue,
        commands: &mut [Command],
        order: &Order,
        (after, latest): (&[Stamp], Option<&Mutex<Stamp>>),
        (internal, fusion): (&[StorageId], &[Option<Arc<str>>]),
    ) -> Result<Option<(Event, Ran)>> {
        let engine = &self.core.engine;
        engine.open(self.device)?;
        let (id, in_order) = (queue.inner.id, queue.inner.in_order);
        for command in &mut *commands {
            command.queue = Some(id);
            command.arm();
        }
        let run = Run { queue: id, in_order, device: self.device, after, latest, internal, fusion };
        let ran = engine.run(&run, commands, order)?;
        Ok(ran.map(|ran| (Event::new(queue.inner.core.clone(), ran.stamp), ran)))
    }
}

/// How many times a run has lists compiled that another thread's work outdates at once.
const TRIES: usize = 4;

impl Queue {
    /// Runs a graph of this queue's device: all of its commands, as one command of the queue. The
    /// event is that of all of them.
    ///
    /// A run comes after earlier runs of the same graph, and for data after whatever was submitted
    /// before it. An error means that nothing has been submitted. If the queue is being recorded,
    /// the graph becomes a node.
    pub fn run_graph(&self, graph: &Executable) -> Result<Event> {
        self.run_graph_after(graph, &[])
    }

    /// As [`run_graph`](Self::run_graph), after events: the run fails if one of them does.
    pub fn run_graph_after(&self, graph: &Executable, after: &[&Event]) -> Result<Event> {
        let of = &graph.inner.graph;
        of.check_queue(self)?;
        if let Some(recorder) = self.recorder()? {
            return recorder.record_graph(self, graph, after);
        }
        let mut stamps: SmallVec<[Stamp; 2]> = SmallVec::new();
        for event in after {
            if !event.core.same(&of.core) {
                let label = Label::NONE;
                return Err(Error::WrongRuntime { what: "event", label, by: None });
            }
            event.submitted()?;
            stamps.push(event.stamp);
        }
        graph.refresh()?;
        // The description keeps the buffers until the ledger does.
        let (ready, described) = graph.ready()?;
        let count = || graph.inner.state.lock().count += 1;
        let (steps, replays) = (&ready.ready.steps, graph.replays());
        let internal = &ready.ready.internal[..];
        let profiles = graph.profiles().load(Ordering::Relaxed);
        let (engine, timed) = (&of.core.engine, self.is_timed() || profiles);
        let with_times = |event: Event, clocks: Clocks, ran: &Ran| {
            if clocks.is_empty() {
                return event;
            }
            let (times, moments) = RunTimes::new(of.device, timed, clocks, ran);
            event.of_run(times.by_node(&moments, (&described, profiles), &ready.ready))
        };
        // All have been checked for this.
        let once = || Error::Actions { command: graph.inner.label.clone(), actions: 0 };
        for _ in 0..if profiles { 0 } else { TRIES } {
            let made = of.made(replays, steps).map_err(|why| named(why, steps, of))?;
            let mut run = made.commands(&graph.inner.label).ok_or_else(once)?;
            let clocks = made.items.time(&mut run, timed, engine);
            let when = (&stamps[..], Some(&graph.inner.latest));
            let fusion = match foreign::listening() {
                true => made.items.fusion(&ready.ready.fusion),
                false => Vec::new(),
            };
            let ran = of.run(self, &mut run, &made.items.order, when, (internal, &fusion));
            if let Some((event, ran)) = ran.map_err(|why| named(why, steps, of))? {
                count();
                of.tell(replays, &made);
                return Ok(with_times(event, clocks, &ran));
            }
            of.forget(replays);
        }
        let all = steps.all.iter().map(|step| step.template.command.again());
        let mut commands = all.collect::<Option<Vec<Command>>>().ok_or_else(once)?;
        let clocks = time_each(&mut commands, timed, engine);
        let when = (&stamps[..], Some(&graph.inner.latest));
        let kept = (internal, &ready.ready.fusion[..]);
        let ran = of.run(self, &mut commands, &steps.order, when, kept)?;
        let (event, ran) = ran.ok_or_else(once)?;
        count();
        if profiles {
            of.tell_profiled(replays, steps);
        }
        Ok(with_times(event, clocks, &ran))
    }
}

/// An error of a list as that of the command which it is about.
#[cold]
fn named(error: Error, steps: &Steps, graph: &Inner) -> Error {
    let commands = steps.all.iter().map(|step| &step.template.command);
    graph.core.engine.check_each(commands).err().unwrap_or(error)
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.inner.state.lock();
        let (count, runs) = (state.steps.all.len(), state.count);
        write!(f, "Executable of graph {} with {count} commands, {runs} runs", self.inner.label)
    }
}
