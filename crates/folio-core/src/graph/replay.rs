//! Runs by lists: which commands of a run are one operation of the device, and what was compiled of
//! them.

use super::conditional::refused;
use super::conflicts::{Conflicts, Edges, merge};
use super::items::{Item, Items, cut, works};
use super::key::Key;
use super::steps::Steps;
use super::why::WhyNot;
use super::{Executable, Inner};
use crate::call::checks_left;
use crate::engine::devices::DeviceEntry;
use crate::engine::kernels::launch::Launch;
use crate::engine::plan::union::Union;
use crate::engine::runs::command::{Action, Command, End};
use crate::engine::runs::conditional::Conditional;
use crate::engine::runs::list::{Change, Exchange, List, Members};
use crate::engine::terms::access::Access;
use crate::error::{Label, Result};
use crate::planted::Planted;
use crate::sync::Mutex;
use smallvec::SmallVec;
use std::sync::Arc;

/// The operations of a device of which the runs of an [`Executable`] are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replay {
    /// Lists of commands, by graphs of the device's own. Each list is one command: it waits for
    /// what its commands wait for, all that it uses is brought before it begins, and it fails as
    /// one. A failure names the node; all that the list writes counts as not written.
    ///
    /// A run is one list, but for commands that stand between lists: host tasks, kernels in whose
    /// launches a check is left ([`KernelCall::checks`](crate::KernelCall::checks)), closures, what
    /// uses memory of another device, and conditions on which the device does not decide.
    #[default]
    Lists,
    /// Each command by itself, so that a failure is that of single commands.
    Commands,
}

/// Counts of an executable's runs: see [`Executable::replay_as`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayReport {
    /// Operations of the device that were lists.
    pub replays: u64,
    /// Lists that were compiled: for the first run, after memory was allocated anew, and after
    /// exchanges that the device's graphs cannot have.
    pub made: u64,
    /// Lists in which nodes were exchanged, and nothing was compiled.
    pub exchanged: u64,
    /// The parts of the latest run, in their order.
    pub parts: Vec<ReplayPart>,
}

/// A part of a run: a list, or commands that were submitted one by one. See [`ReplayReport`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayPart {
    /// The name of its first command.
    pub first: Label,
    /// How many it has.
    pub commands: usize,
    /// Why they were submitted one by one. None if they were one operation.
    pub why_not: Option<String>,
}

impl ReplayReport {
    /// Why the latest run was not one operation of the device; none if it was.
    pub fn why_not(&self) -> Option<&str> {
        match &self.parts[..] {
            [one] => one.why_not.as_deref(),
            [] => Some("it has not run"),
            parts => parts.iter().find_map(|part| part.why_not.as_deref()).or(Some("it has parts")),
        }
    }
}

/// The lists of an executable.
#[derive(Default)]
pub(super) struct Replays {
    how: Replay,
    of: Option<Arc<Operations>>,
    report: ReplayReport,
}

/// The operations that runs of these commands submit.
pub(super) struct Operations {
    steps: Arc<Steps>,
    how: Replay,
    pub(super) items: Items,
    parts: Vec<ReplayPart>,
    compiled: u64,
    exchanged: u64,
}

impl Executable {
    /// What runs from now on hand to the device as one operation. At first that are
    /// [`Replay::Lists`].
    ///
    /// A list costs the engine as much as one command, however many it has. Exchanges between runs
    /// are exchanges in the device's graphs; where these cannot have one, they are made again.
    /// [`replay_report`](Self::replay_report) tells what was done and why.
    ///
    /// ```
    /// # use folio_core::{graph::Replay, Result, Runtime};
    /// fn copies(rt: &Runtime) -> Result<()> {
    ///     let (mut x, mut y) = (rt.buffer::<i32, 1>(4)?, rt.buffer::<i32, 1>(4)?);
    ///     let (graph, q) = (rt.graph("cpu")?, rt.queue_on("cpu")?);
    ///     graph.add(|cg| cg.fill(&mut x, 3))?;
    ///     graph.add(|cg| cg.copy(&x, &mut y))?;
    ///     let run = graph.finalize()?;
    ///     for _ in 0..10 {
    ///         q.run_graph(&run)?.wait()?;
    ///     }
    ///     assert_eq!((run.replay_report().replays, run.replay_report().made), (10, 1));
    ///     run.replay_as(Replay::Commands);
    ///     q.run_graph(&run)?;
    ///     assert_eq!(run.replay_report().replays, 10);
    ///     Ok(())
    /// }
    /// ```
    pub fn replay_as(&self, how: Replay) {
        self.replays().lock().how = how;
    }

    /// The operations of runs so far, and why a run was not one operation.
    pub fn replay_report(&self) -> ReplayReport {
        self.replays().lock().report.clone()
    }
}

impl Operations {
    /// The commands of a run. None if one can run only once.
    pub(super) fn commands(&self, label: &Label) -> Option<Vec<Command>> {
        let again = |at: u32| self.steps.all.get(at as usize)?.template.command.again();
        self.items.commands(label, again)
    }

    /// The list of these commands, if they follow one another like this.
    fn list_of(&self, (device, at): (u16, &[u32]), after: &[Vec<usize>]) -> Option<&Arc<List>> {
        let same = self.items.all.iter().find(|item| item.device == device && item.at == at)?;
        same.list.as_ref().filter(|list| list.fixed.after == after)
    }
}

impl Inner {
    /// The operations that a run of these commands submits.
    pub(super) fn made(
        &self,
        replays: &Mutex<Replays>,
        steps: &Arc<Steps>,
    ) -> Result<Arc<Operations>> {
        let (how, old) = {
            let held = replays.lock();
            (held.how, held.of.clone())
        };
        let kept = self.core.engine.plant.is(Planted::OldList);
        let is_for =
            |made: &&Arc<Operations>| made.how == how && (Arc::ptr_eq(&made.steps, steps) || kept);
        if let Some(made) = old.as_ref().filter(is_for) {
            return Ok(made.clone());
        }
        let made = Arc::new(match how {
            Replay::Commands => Operations::of_commands(steps),
            Replay::Lists => self.lists(steps, old.as_deref())?,
        });
        let mut held = replays.lock();
        held.report.made += made.compiled;
        held.report.exchanged += made.exchanged;
        let old = held.of.replace(made.clone());
        drop(held);
        // Its closures are the user's.
        drop(old);
        Ok(made)
    }

    /// The lists of commands, by those of an earlier run where nodes can be exchanged in these.
    fn lists(&self, steps: &Arc<Steps>, old: Option<&Operations>) -> Result<Operations> {
        let mut why: Vec<Option<String>> = steps
            .all
            .iter()
            .map(|step| self.why_not(&step.template.command).map(|why| why.to_string()))
            .collect();
        loop {
            let mut making = Making { graph: self, steps, old, compiled: 0, exchanged: 0 };
            match making.lists(&why)? {
                Ok(made) => return Ok(made),
                // The others do without what the driver does not capture.
                Err(refused) => why = refused,
            }
        }
    }

    /// The device of a command.
    fn device_of(&self, command: &Command) -> &DeviceEntry {
        let device = command.device.unwrap_or(self.device);
        &self.core.engine.devices[usize::from(device)]
    }

    /// Why a command is in no list.
    pub(super) fn why_not(&self, command: &Command) -> Option<WhyNot> {
        let DeviceEntry { domain, info, .. } = self.device_of(command);
        let caps = &info.caps;
        match &command.action {
            _ if command.timed => Some(WhyNot::Timed),
            Action::Conditional(node) => self.why_no_branch(node),
            Action::Launch(Some(launch))
                if launch.foreign.is_some() && !(caps.captures && is_captured(command)) =>
            {
                Some(WhyNot::OnHost("it calls a driver"))
            }
            action if action.rects().iter().flatten().any(|at| matches!(at.end, End::Host(_))) => {
                Some(WhyNot::OnHost("it copies from the program's memory"))
            }
            Action::Task { .. } => Some(WhyNot::OnHost("it is a host task")),
            Action::Launch(Some(launch)) if let Some(fault) = can_fail(launch) => {
                Some(WhyNot::MayFail(fault))
            }
            _ => refused(command, *domain, *domain).map(WhyNot::Elsewhere),
        }
    }

    /// Why a conditional node cannot be one operation of the device. A body in which something may
    /// fail ends there, which only the engine sees in time.
    fn why_no_branch(&self, node: &Conditional) -> Option<WhyNot> {
        if !self.core.engine.devices[usize::from(self.device)].info.caps.conditions {
            return Some(WhyNot::Condition("it is a condition".into()));
        }
        if node.value.within.is_some() {
            return Some(WhyNot::Condition("it compares a number with a range".into()));
        }
        node.bodies.iter().flat_map(|commands| commands.iter()).find_map(|command| {
            let calls = matches!(&command.action, Action::Launch(Some(of)) if of.foreign.is_some());
            let why = calls.then_some(WhyNot::OnHost("it calls a driver"));
            let why = why.or_else(|| self.why_not(command))?;
            let label = command.label.as_str();
            let name = if label.is_empty() { command.action.name() } else { label };
            let why = format!("it is a condition, and of its body {name}: {why}");
            Some(WhyNot::Condition(why.into()))
        })
    }

    /// Says what a run was.
    pub(super) fn tell(&self, replays: &Mutex<Replays>, made: &Operations) {
        let report = &mut replays.lock().report;
        report.replays += made.items.all.iter().filter(|item| item.list.is_some()).count() as u64;
        report.parts.clone_from(&made.parts);
    }

    /// Says that a run was submitted node by node.
    pub(super) fn tell_profiled(&self, replays: &Mutex<Replays>, steps: &Steps) {
        let all = 0..steps.all.len() as u32;
        let part = part_of(steps, all, Some("its nodes are profiled".to_owned()));
        replays.lock().report.parts = vec![part];
    }

    /// Gives up the lists: the memory of one is elsewhere by now.
    pub(super) fn forget(&self, replays: &Mutex<Replays>) {
        let mut held = replays.lock();
        let old = held.of.take();
        drop(held);
        drop(old);
    }
}

/// Lists in the making.
struct Making<'m> {
    graph: &'m Inner,
    steps: &'m Arc<Steps>,
    old: Option<&'m Operations>,
    compiled: u64,
    exchanged: u64,
}

/// By command: why it is in no list.
type Whys = Vec<Option<String>>;

impl Making<'_> {
    /// What runs submit. An inner error if the device has refused what it was to capture: what is
    /// in no list then.
    fn lists(&mut self, why: &Whys) -> Result<Result<Operations, Whys>> {
        let before = before(self.steps);
        let home = self.graph.device;
        let device = |(at, why): (u32, &Option<String>)| match why {
            None => Some(self.command(at).device.unwrap_or(home)),
            Some(_) => None,
        };
        let fits: Vec<Option<u16>> = (0..).zip(why).map(device).collect();
        let mut items = Vec::new();
        let mut alone = why.clone();
        for (at, device) in cut(&before, &fits) {
            let works = |at: &&u32| works(self.command(**at));
            let single = |device, at: &[u32]| -> Vec<Item> {
                at.iter().map(|at| Item { at: vec![*at], device, list: None }).collect()
            };
            let few = at.iter().filter(works).count() < 2 && !self.has_branch(&at);
            let Some(device) = device.filter(|_| !few) else {
                items.extend(single(home, &at));
                continue;
            };
            match self.list((device, &at), &before)? {
                Ok(list) => items.push(Item { at, device, list: Some(list) }),
                Err(refused) => {
                    let captured: Vec<u32> =
                        at.iter().copied().filter(|at| self.is_captured(*at)).collect();
                    if !captured.is_empty() {
                        for at in captured {
                            alone[at as usize] = Some(format!("it cannot be captured: {refused}"));
                        }
                        return Ok(Err(alone));
                    }
                    at.iter().for_each(|at| alone[*at as usize] = Some(refused.clone()));
                    items.extend(single(device, &at));
                }
            }
        }
        let parts = parts(self.steps, &items, &alone);
        let items = Items::new(items, &self.steps.order);
        let Making { steps, compiled, exchanged, .. } = self;
        let (steps, how) = (steps.clone(), Replay::Lists);
        let (compiled, exchanged) = (*compiled, *exchanged);
        Ok(Ok(Operations { steps, how, items, parts, compiled, exchanged }))
    }

    fn command(&self, at: u32) -> &Command {
        &self.steps.all[at as usize].template.command
    }

    fn has_branch(&self, all: &[u32]) -> bool {
        all.iter().any(|at| matches!(self.command(*at).action, Action::Conditional(_)))
    }

    fn is_captured(&self, at: u32) -> bool {
        is_captured(self.command(at))
    }

    /// The list of these commands: that of the run before, exchanged, or compiled. An inner error
    /// says why the device does not have it.
    fn list(
        &mut self,
        (device, at): (u16, &[u32]),
        before: &Before,
    ) -> Result<Result<Arc<List>, String>> {
        let within = |before: &[(u32, bool)]| -> Vec<usize> {
            before.iter().filter_map(|(from, _)| at.binary_search(from).ok()).collect()
        };
        let after: Vec<Vec<usize>> = at.iter().map(|at| within(&before[*at as usize])).collect();
        let engine = &self.graph.core.engine;
        if let Some(old) = self.old
            && let Some(list) = old.list_of((device, at), &after)
        {
            let changed = self.changed(old, at);
            if changed.is_empty() {
                return Ok(Ok(list.clone()));
            }
            let accesses = at.iter().flat_map(|at| &self.command(*at).accesses);
            let accesses = Some(Union::of(accesses));
            let exchange = Exchange { changed, accesses };
            if let Ok(list) = engine.exchange(list, exchange)? {
                self.exchanged += 1;
                return Ok(Ok(Arc::new(list)));
            }
        }
        let commands = at.iter().map(|at| self.command(*at)).collect();
        let made = engine.compile(device, Members { commands, after })?;
        self.compiled += u64::from(made.is_ok());
        Ok(made.map(Arc::new).map_err(|refused| refused.to_string()))
    }

    /// The commands of a list that do something else than those of an earlier run.
    fn changed(&self, old: &Operations, at: &[u32]) -> Vec<Change<'_>> {
        let is_same = |at: u32| {
            let Some(old) = old.steps.all.get(at as usize).map(|step| &step.template) else {
                return false;
            };
            let new = &self.steps.all[at as usize].template;
            let keys = || [old, new].map(|template| Key::of(&template.command));
            let same = |[old, new]: [Key; 2]| !new.kind.is_unknown() && old == new;
            Arc::ptr_eq(old, new) || same(keys())
        };
        let changed = at.iter().enumerate().filter(|(_, at)| !is_same(**at));
        let change = |(at, number): (usize, &u32)| Change {
            at,
            command: self.command(*number),
            scalars: None,
        };
        changed.map(change).collect()
    }
}

impl Operations {
    /// Each command by itself.
    fn of_commands(steps: &Arc<Steps>) -> Operations {
        let item = |at| Item { at: vec![at], device: 0, list: None };
        let items = (0..steps.all.len() as u32).map(item);
        let parts = match steps.all.is_empty() {
            true => vec![],
            false => {
                let all = 0..steps.all.len() as u32;
                vec![part_of(steps, all, Some("that was asked for".to_owned()))]
            }
        };
        let items = Items { all: items.collect(), order: steps.order.clone() };
        let (steps, how) = (steps.clone(), Replay::Commands);
        Operations { steps, how, items, parts, compiled: 0, exchanged: 0 }
    }
}

/// The report of a run: lists, and the commands between them.
fn parts(steps: &Steps, items: &[Item], why: &Whys) -> Vec<ReplayPart> {
    let mut parts: Vec<ReplayPart> = Vec::new();
    for group in items.chunk_by(|a, b| a.list.is_none() && b.list.is_none()) {
        let at = || group.iter().flat_map(|item| item.at.iter().copied());
        let why = match group {
            [Item { list: Some(_), .. }] => None,
            _ => {
                let why = at().find_map(|at| Some((at, why[at as usize].as_ref()?)));
                let named = |(at, why): (u32, &String)| {
                    format!("{}: {why}", steps.all[at as usize].template.called())
                };
                Some(why.map_or_else(|| NO_LIST.to_owned(), named))
            }
        };
        parts.push(part_of(steps, at(), why));
    }
    parts
}

fn part_of(
    steps: &Steps,
    mut at: impl Iterator<Item = u32>,
    why_not: Option<String>,
) -> ReplayPart {
    let first = at.next().and_then(|at| steps.all.get(at as usize));
    let first = first.map(|step| step.template.called());
    let commands = usize::from(first.is_some()) + at.count();
    ReplayPart { first: first.unwrap_or_default(), commands, why_not }
}

const NO_LIST: &str = "a list has two commands or more";

/// By command: those that it comes after, by edges or by data, and whether it fails with them.
pub(super) type Before = Vec<SmallVec<[(u32, bool); 4]>>;

/// The commands that each command comes after.
pub(super) fn before(steps: &Steps) -> Before {
    let accesses = steps.all.iter().map(|step| &step.template.command.accesses[..]);
    before_of(&steps.order.after, accesses)
}

/// As [`before`], of commands with these edges and accesses.
pub(super) fn before_of<'a>(
    after: impl IntoIterator<Item = &'a Edges>,
    accesses: impl Iterator<Item = &'a [Access]>,
) -> Before {
    let mut conflicts = Conflicts::default();
    let all = after.into_iter().zip(accesses).enumerate().map(|(at, (edges, accesses))| {
        let mut before: SmallVec<[(u32, bool); 4]> = SmallVec::new();
        before.extend(edges.iter().copied());
        conflicts.add(at as u32, accesses, &mut |from, uses| {
            before.push((from, uses));
        });
        merge(&mut before);
        before
    });
    all.collect()
}

/// The command is an interop task that may be called once for many runs.
fn is_captured(command: &Command) -> bool {
    let Action::Launch(Some(launch)) = &command.action else { return false };
    launch.foreign.as_ref().is_some_and(|task| task.captures)
}

/// Why a kernel may fail by itself, if it may.
pub(super) fn can_fail(launch: &Launch) -> Option<Arc<str>> {
    can_fail_with(launch, &launch.scalars)
}

/// As [`can_fail`], with these scalars.
pub(super) fn can_fail_with(launch: &Launch, scalars: &[u64]) -> Option<Arc<str>> {
    if launch.foreign.is_some() {
        // Work that it has enqueued does not call it again.
        return None;
    }
    if launch.opaque.is_some() {
        return Some("what it does is not known".into());
    }
    if let Some(fused) = &launch.fused {
        return fused.fails.clone();
    }
    let Some(function) = &launch.function else { return Some("a closure may panic".into()) };
    let check = checks_left(function.code, &launch.geometry, &launch.params, scalars)?;
    let why = format!("a check is left in kernel `{}`: {}", function.code.name, check.brief());
    Some(why.into())
}
