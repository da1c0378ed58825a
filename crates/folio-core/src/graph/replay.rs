//! Runs by the device's own graphs: which commands of a run are one operation, and what was made of
//! them.

use super::chains::{Before, Fit, before, before_of, chains};
use super::conditional::refused;
use super::conflicts::After;
use super::profile::{Clocks, time};
use super::steps::{Step, Steps};
use super::{Executable, Inner};
use crate::call::checks_left;
use crate::engine::Engine;
use crate::engine::kernels::launch::Launch;
use crate::engine::runs::block::Block;
use crate::engine::runs::command::{Action, Command, End};
use crate::engine::runs::conditional::Conditional;
use crate::engine::runs::part::{Apart, TRACED, apart_for_good};
use crate::engine::runs::whole::{Kind, Members, NoGraph, Whole};
use crate::error::{Label, Result};
use crate::hal::Caps;
use crate::planted::Planted;
use crate::sync::Mutex;
use folio_device::Code;
use folio_kernel::checks::Check;
use std::borrow::Cow;
use std::sync::Arc;

/// What is handed to the device as one operation, by a graph of the device's own, when an
/// [`Executable`] runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replay {
    /// The run, or parts of it, where no program can tell: commands that cannot fail by themselves,
    /// if they are all commands of the run, and otherwise chains of them.
    /// These are copies and fills of the device's memory, and kernel functions in whose launches no
    /// check is left ([`KernelCall::checks`](crate::KernelCall::checks)).
    #[default]
    Parts,
    /// The run, where that is possible. All that it uses is brought before it begins. It also
    /// *fails* as a whole: if one node does, all that the graph writes counts as not written. The
    /// failure still names the node.
    Whole,
    /// Nothing: each command is submitted by itself.
    Commands,
}

/// What an executable's runs were: see [`Executable::replay_as`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayReport {
    /// Operations of the device that were replays: of runs, or of parts of them.
    pub replays: u64,
    /// Graphs of the device's that were made: for the first run that can have them, after memory
    /// was allocated anew, and after exchanges that the device's graphs cannot have.
    pub made: u64,
    /// Graphs of the device's in which nodes were exchanged, and nothing was made anew.
    pub exchanged: u64,
    /// The parts of the latest run.
    pub parts: Vec<ReplayPart>,
}

/// A part of a run: see [`ReplayReport`].
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

/// What an executable knows of its replays.
#[derive(Default)]
pub(super) struct Replays {
    how: Replay,
    of: Option<Arc<Made>>,
    /// Why exchanges are not asked of the device: it has refused one, or has no graphs.
    fixed: Option<String>,
    /// How many runs one after the other could have been one operation, and were not that time.
    missed: u8,
    report: ReplayReport,
}

/// The graphs of the device's for these commands.
struct Made {
    steps: Arc<Steps>,
    parts: Vec<Part>,
    /// What a run submits, in order.
    plan: Vec<Item>,
    /// They have not been asked of the device: most commands run once only.
    later: bool,
    /// All commands are one part, though they are no chain.
    wide: bool,
}

/// After so many runs that could not be one operation, though all of their commands can be of one,
/// chains are.
const MISSES: u8 = 3;

/// What a run submits.
enum Item {
    /// The command of this number.
    Command(u32),
    /// All commands of a part.
    Replay(Arc<Whole>),
}

/// Commands that are one operation, or are not.
struct Part {
    at: Vec<u32>,
    /// A graph of the device's was to be made.
    asked: bool,
    origin: Origin,
    made: Result<Arc<Whole>, String>,
}

/// Where the graph of a part is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It was made, if there is one.
    Made,
    /// It is that of the run before, whose commands are the same.
    Kept,
    /// It is that of the run before, in which nodes were exchanged.
    Exchanged,
    /// Nodes could not be exchanged this time.
    NotNow,
    /// The device has refused to exchange them.
    Refused,
}

impl Executable {
    /// What runs from now on hand to the device as one operation. At first that are
    /// [`Replay::Parts`].
    ///
    /// A run that the device does as one costs the engine as much as one command, however many it
    /// has. What an exchange changes is exchanged in the device's graphs. Where these cannot have
    /// that, the commands of the first run after it are submitted by themselves, unless the run is
    /// to be [whole](Replay::Whole). So are those of the first run of all, those of a part for
    /// which data has to be brought, or which waits for something that its first command does not
    /// wait for: otherwise a failure before the run would spread to commands that do not depend on
    /// it. [`replay_report`](Self::replay_report) tells what was done and why.
    ///
    /// ```
    /// # use folio_core::{Replay, Result, Runtime};
    /// fn copies(rt: &Runtime) -> Result<()> {
    ///     let (mut x, mut y) = (rt.buffer::<i32, 1>(4)?, rt.buffer::<i32, 1>(4)?);
    ///     let (graph, q) = (rt.graph("cpu")?, rt.queue_on("cpu")?);
    ///     graph.add(|cg| cg.fill(&mut x, 3))?;
    ///     graph.add(|cg| cg.copy(&x, &mut y))?;
    ///     let run = graph.finalize()?;
    ///     for _ in 0..10 {
    ///         q.run_graph(&run)?.wait()?;
    ///     }
    ///     assert_eq!((run.replay_report().replays, run.replay_report().made), (9, 1));
    ///     run.replay_as(Replay::Commands);
    ///     q.run_graph(&run)?;
    ///     assert_eq!(run.replay_report().replays, 9);
    ///     Ok(())
    /// }
    /// ```
    pub fn replay_as(&self, how: Replay) {
        let mut replays = self.replays().lock();
        if std::mem::replace(&mut replays.how, how) != how {
            let old = replays.of.take();
            drop(replays);
            // Its closures are the user's.
            drop(old);
        }
    }

    /// What runs have handed to the device, and why not all of it was one operation.
    pub fn replay_report(&self) -> ReplayReport {
        self.replays().lock().report.clone()
    }
}

/// The commands of one run.
pub(super) struct Commands {
    pub(super) all: Vec<Command>,
    made: Arc<Made>,
}

impl Commands {
    /// Has them timed: all of them, or those that were described so.
    pub(super) fn time(&mut self, all: bool, engine: &Engine) -> Clocks {
        let numbers = self.made.plan.iter().map(|item| match item {
            Item::Command(at) => *at,
            Item::Replay(whole) => whole.fixed.at.first().copied().unwrap_or(0),
        });
        time(&mut self.all, numbers, all, engine)
    }
}

impl Inner {
    /// The commands of a run, and replays in the place of those that the device does as one. None
    /// if a command can run only once.
    pub(super) fn commands(
        &self,
        replays: &Mutex<Replays>,
        steps: &Arc<Steps>,
        label: &Label,
    ) -> Result<Option<Commands>> {
        let made = self.made(replays, steps)?;
        let mut all = Vec::with_capacity(made.plan.len());
        for item in &made.plan {
            let command = match item {
                Item::Replay(whole) => Some(whole.command(self.device, label)),
                Item::Command(at) => steps.all[*at as usize].template.command.again(),
            };
            match command {
                Some(command) => all.push(command),
                None => return Ok(None),
            }
        }
        Ok(Some(Commands { all, made }))
    }

    /// What these commands are for the device.
    fn made(&self, replays: &Mutex<Replays>, steps: &Arc<Steps>) -> Result<Arc<Made>> {
        let (how, known, fixed, wide) = {
            let held = replays.lock();
            (held.how, held.of.clone(), held.fixed.clone(), held.missed < MISSES)
        };
        let kept = self.core.engine.plant.is(Planted::OldPart);
        let same = known.as_ref().filter(|made| Arc::ptr_eq(&made.steps, steps) || kept);
        if let Some(made) = same.filter(|made| !made.later && (wide || !made.wide)) {
            return Ok(made.clone());
        }
        let is_first = known.is_none() || same.is_none() && fixed.is_some();
        let why_first = fixed.as_deref().filter(|_| known.is_some()).unwrap_or(FIRST);
        let old = known.as_deref().filter(|made| !made.later && same.is_none() && fixed.is_none());
        let all: Vec<u32> = (0..steps.all.len() as u32).collect();
        let parts = match how {
            Replay::Commands => vec![Part::not(all, "that was asked for")],
            _ if steps.all.is_empty() => vec![],
            Replay::Parts if is_first => vec![Part::not(all, why_first)],
            Replay::Parts => self.parts(steps, wide, old)?,
            Replay::Whole => vec![self.whole(steps, all, old)?],
        };
        let later = how == Replay::Parts && is_first || parts.iter().any(Part::is_put_off);
        let plan = plan(&parts, steps.all.len());
        let is_wide = |whole: &Arc<Whole>| !whole.fixed.is_chain;
        let wide = how == Replay::Parts
            && matches!(&parts[..], [Part { made: Ok(whole), .. }] if is_wide(whole));
        let made = Arc::new(Made { steps: steps.clone(), parts, plan, later, wide });
        let count = |is: fn(Origin) -> bool| {
            let ok = made.parts.iter().filter(|part| part.made.is_ok());
            ok.filter(|part| is(part.origin)).count() as u64
        };
        let has_none = !later && count(|_| true) == 0;
        let fixes = |part: &&Part| part.origin == Origin::Refused || part.asked && has_none;
        let mut held = replays.lock();
        if let Some(part) = made.parts.iter().find(fixes) {
            let why = part.made.as_ref().err().cloned();
            held.fixed = Some(why.unwrap_or_else(|| EXCHANGED.to_owned()));
        }
        held.report.made += count(|origin| !matches!(origin, Origin::Kept | Origin::Exchanged));
        held.report.exchanged += count(|origin| origin == Origin::Exchanged);
        held.report.parts = made.parts.iter().map(|part| part.told(steps)).collect();
        let old = held.of.replace(made.clone());
        drop(held);
        // Its closures are the user's.
        drop(old);
        Ok(made)
    }

    /// The parts of a run, by the graphs of an earlier one where nodes can be exchanged in these.
    fn parts(&self, steps: &Steps, wide: bool, old: Option<&Made>) -> Result<Vec<Part>> {
        let parts = self.parts_but(steps, None, wide, old)?;
        let captures = |part: &Part| {
            let mut all = part.at.iter().map(|at| &steps.all[*at as usize].template.command);
            all.any(is_captured)
        };
        let refused = parts.iter().filter(|part| part.asked && captures(part));
        match refused.filter_map(|part| part.made.as_ref().err()).next() {
            // The others do without what the driver does not capture.
            Some(why) if self.captures() => self.parts_but(steps, Some(why), wide, old),
            _ => Ok(parts),
        }
    }

    fn caps(&self) -> &Caps {
        &self.core.engine.devices[usize::from(self.device)].info.caps
    }

    /// The device's graphs take what interop tasks enqueue.
    fn captures(&self) -> bool {
        self.caps().captures
    }

    /// The parts of a run, without interop tasks if they cannot be captured.
    fn parts_but(
        &self,
        steps: &Steps,
        refused: Option<&String>,
        wide: bool,
        old: Option<&Made>,
    ) -> Result<Vec<Part>> {
        let before = before(steps);
        let why_not = |step: &Step| {
            let command = &step.template.command;
            match refused.filter(|_| is_captured(command)) {
                Some(why) => Some(format!("it cannot be captured: {why}")),
                None => self.why_not(command, true).map(Cow::into_owned),
            }
        };
        let whys: Vec<Option<String>> = steps.all.iter().map(why_not).collect();
        let fits: Vec<Fit> = (steps.all.iter().zip(&whys))
            .map(|(step, why)| match (&step.template.command.action, why) {
                (_, Some(_)) | (Action::Conditional(_), _) => Fit::No,
                (Action::Nothing | Action::Hint { .. }, None) => Fit::Idle,
                (_, None) => Fit::Any,
            })
            .collect();
        let mut of: Vec<Option<usize>> = vec![None; steps.all.len()];
        let chains = chains(&before, &fits);
        let do_something = fits.iter().filter(|fit| **fit == Fit::Any).count();
        let is_chain = chains.first().is_some_and(|chain| chain.len() == steps.all.len());
        if wide && do_something > 1 && !is_chain && !fits.contains(&Fit::No) {
            let all = (0..steps.all.len() as u32).collect();
            let part = self.make((steps, &before), all, Kind::Part, old)?;
            if part.made.is_ok() || part.is_put_off() {
                return Ok(vec![part]);
            }
        }
        for (nth, chain) in chains.iter().enumerate() {
            chain.iter().for_each(|at| of[*at as usize] = Some(nth));
        }
        let mut parts: Vec<Part> = Vec::new();
        let mut chains: Vec<Option<Vec<u32>>> = chains.into_iter().map(Some).collect();
        for (at, chain) in of.into_iter().enumerate() {
            let Some(chain) = chain else {
                if let (Action::Conditional(_), None) =
                    (&steps.all[at].template.command.action, &whys[at])
                {
                    // A loop may fail, by its limit: it is an operation of its own, as without a
                    // graph of the device's.
                    parts.push(self.make((steps, &before), vec![at as u32], Kind::Whole, old)?);
                    continue;
                }
                if whys[at].is_none() && self.is_several(&steps.all[at].template.command) {
                    parts.push(self.make((steps, &before), vec![at as u32], Kind::Chain, old)?);
                    continue;
                }
                add_single(
                    &mut parts,
                    at as u32,
                    whys[at].as_ref().map(|why| named(steps, at, why)),
                );
                continue;
            };
            let Some(chain) = chains.get_mut(chain).and_then(Option::take) else { continue };
            parts.push(self.make((steps, &before), chain, Kind::Chain, old)?);
        }
        Ok(parts)
    }

    /// All of a run, by the graph of an earlier one if nodes can be exchanged in that.
    fn whole(&self, steps: &Steps, all: Vec<u32>, old: Option<&Made>) -> Result<Part> {
        let why = steps.all.iter().enumerate().find_map(|(at, step)| {
            let why = self.why_not(&step.template.command, false)?;
            Some(named(steps, at, &why))
        });
        if let Some(why) = why {
            return Ok(Part { asked: true, ..Part::not(all, &why) });
        }
        let before = before(steps);
        let part = self.make((steps, &before), all, Kind::Whole, old)?;
        if !part.is_put_off() {
            return Ok(part);
        }
        let Part { at, origin, .. } = part;
        Ok(Part { origin, ..self.make((steps, &before), at, Kind::Whole, None)? })
    }

    /// Has the device make a graph of commands, or exchange nodes in an earlier one.
    fn make(
        &self,
        (steps, before): (&Steps, &Before),
        at: Vec<u32>,
        kind: Kind,
        old: Option<&Made>,
    ) -> Result<Part> {
        let within = |before: &[(u32, bool)]| -> Vec<usize> {
            before.iter().filter_map(|(from, _)| at.binary_search(from).ok()).collect()
        };
        let after: Vec<Vec<usize>> = at.iter().map(|at| within(&before[*at as usize])).collect();
        let known = match old.map_or(Known::Nothing, |old| old.graph_of((steps, &at), &after)) {
            Known::Nothing => None,
            Known::Graph(whole, changed) if changed.is_empty() => {
                return Ok(Part { at, asked: true, origin: Origin::Kept, made: Ok(whole) });
            }
            Known::Graph(whole, changed) => Some((whole, changed)),
            Known::Another => {
                let origin = Origin::NotNow;
                return Ok(Part { asked: true, origin, ..Part::not(at, EXCHANGED) });
            }
        };
        let exchanges = known.is_some();
        let commands = at.iter().map(|at| &steps.all[*at as usize].template.command).collect();
        let members = Members { commands, after, at: at.clone(), in_place_of: known, kind };
        let made = self.core.engine.whole(self.device, members)?;
        let origin = match &made {
            Ok(_) if exchanges => Origin::Exchanged,
            Err(NoGraph::Refused(_)) if exchanges => Origin::Refused,
            Err(NoGraph::NotNow) => Origin::NotNow,
            _ => Origin::Made,
        };
        let made = made.map(Arc::new).map_err(|why| match why {
            NoGraph::Refused(error) => error.to_string(),
            NoGraph::NotNow => EXCHANGED.to_owned(),
        });
        Ok(Part { at, asked: true, origin, made })
    }

    /// Has the device make one operation of commands that cannot fail by themselves. None if it has
    /// no such graphs.
    pub(super) fn as_block(&self, commands: &[Command], after: &After) -> Result<Option<Block>> {
        let before = before_of(after, commands.iter().map(|command| &command.accesses[..]));
        let before = before.iter().map(|edges| edges.iter().map(|(from, _)| *from as usize));
        let after = before.map(Iterator::collect).collect();
        let at = (0..commands.len() as u32).collect();
        let kind = Kind::Whole;
        let members =
            Members { commands: commands.iter().collect(), after, at, in_place_of: None, kind };
        let made = self.core.engine.whole(self.device, members)?;
        Ok(made.ok().map(Block::new))
    }

    /// Why a command cannot be of an operation of several; or of one whose commands cannot fail.
    pub(super) fn why_not(&self, command: &Command, surely: bool) -> Option<Cow<'static, str>> {
        let why = match &command.action {
            _ if command.timed => Some("it is timed"),
            Action::Conditional(node) => return self.why_no_branch(node).map(Cow::Owned),
            Action::Launch(Some(launch))
                if launch.foreign.is_some() && !(self.captures() && is_captured(command)) =>
            {
                Some("it calls a driver")
            }
            Action::Copy { from, to }
                if matches!(from.end, End::Host(_)) || matches!(to.end, End::Host(_)) =>
            {
                Some("it copies from the program's memory")
            }
            Action::Task { .. } => Some("it is a host task"),
            _ => refused(command, self.domain(), self.domain()),
        };
        match &command.action {
            _ if why.is_some() => why.map(Cow::Borrowed),
            Action::Launch(Some(launch)) if surely => can_fail(launch).map(|why| why.text()),
            Action::Launch(Some(launch)) if keeps_values(launch) => {
                let why = can_fail(launch)?.text();
                Some(Cow::Owned(format!("it combines values, and may fail: {why}")))
            }
            _ => None,
        }
    }

    /// The device does it by several operations: kernels that combine values follow a reduction.
    fn is_several(&self, command: &Command) -> bool {
        let reduces = |launch: &Launch| launch.reduces();
        matches!(&command.action, Action::Launch(Some(launch)) if reduces(launch))
            && !self.caps().closures
    }

    /// Why a conditional node cannot be one operation of the device. A body in which something may
    /// fail ends there, which only the engine sees in time.
    fn why_no_branch(&self, node: &Conditional) -> Option<String> {
        if !self.caps().conditions {
            return Some("it is a condition".to_owned());
        }
        node.bodies.iter().flat_map(|commands| commands.iter()).find_map(|command| {
            let calls = matches!(&command.action, Action::Launch(Some(of)) if of.foreign.is_some());
            let why = calls.then_some(Cow::Borrowed("it calls a driver"));
            let why = why.or_else(|| self.why_not(command, true))?;
            let label = command.label.as_str();
            let name = if label.is_empty() { command.action.name() } else { label };
            Some(format!("it is a condition, and of its body {name}: {why}"))
        })
    }

    /// Says what has become of a run.
    pub(super) fn tell(&self, replays: &Mutex<Replays>, run: &Commands, parts: &[Option<Apart>]) {
        let made = &run.made;
        let mut held = replays.lock();
        let Replays { report, of, missed, .. } = &mut *held;
        report.replays += parts.iter().filter(|why| why.is_none()).count() as u64;
        if !of.as_ref().is_some_and(|of| Arc::ptr_eq(of, made)) {
            return;
        }
        if made.wide {
            match parts.first() {
                Some(Some(why)) if *why != TRACED => *missed = missed.saturating_add(1),
                Some(Some(_)) | None => {}
                Some(None) => *missed = 0,
            }
        }
        let replayed = made.parts.iter().zip(&mut report.parts);
        let replayed = replayed.filter(|(part, _)| part.made.is_ok()).map(|(_, told)| told);
        for (told, why) in replayed.zip(parts) {
            if told.why_not.as_deref() != *why {
                told.why_not = why.map(str::to_owned);
            }
        }
    }

    /// Says that a run was submitted node by node.
    pub(super) fn tell_profiled(&self, replays: &Mutex<Replays>, steps: &Steps) {
        let part = Part::not((0..steps.all.len() as u32).collect(), "its nodes are profiled");
        replays.lock().report.parts = vec![part.told(steps)];
    }

    /// Gives up the device's graphs: the memory of one is elsewhere by now.
    pub(super) fn forget(&self, replays: &Mutex<Replays>) {
        let mut held = replays.lock();
        let old = held.of.take();
        drop(held);
        drop(old);
    }
}

/// What there is of an earlier run for commands.
enum Known {
    /// A graph of the device's, and which of its nodes do something else by now.
    Graph(Arc<Whole>, Vec<usize>),
    /// They follow one another otherwise by now.
    Another,
    /// Nothing that the device had made.
    Nothing,
}

impl Made {
    /// The graph of commands that follow one another like this.
    fn graph_of(&self, (steps, at): (&Steps, &[u32]), after: &[Vec<usize>]) -> Known {
        // Parts stand in the order of their first commands.
        let nth = self.parts.partition_point(|part| part.at.first() < at.first());
        let part = self.parts.get(nth).filter(|part| part.asked && part.at == at);
        let same = self.steps.all.len() == steps.all.len();
        match part.filter(|_| same).map(|part| &part.made) {
            Some(Err(_)) => Known::Nothing,
            Some(Ok(whole)) if whole.fixed.after == after => {
                let differs = |at: u32| {
                    let [own, old] = [steps, &self.steps].map(|steps| &steps.all[at as usize]);
                    !Arc::ptr_eq(&own.template, &old.template)
                };
                let changed = at.iter().enumerate().filter(|(_, at)| differs(**at));
                Known::Graph(whole.clone(), changed.map(|(node, _)| node).collect())
            }
            _ => Known::Another,
        }
    }
}

impl Part {
    fn not(at: Vec<u32>, why: &str) -> Part {
        Part { at, asked: false, origin: Origin::Made, made: Err(why.to_owned()) }
    }

    /// Its commands are submitted by themselves this time, and have a graph the next.
    fn is_put_off(&self) -> bool {
        self.made.is_err() && matches!(self.origin, Origin::NotNow | Origin::Refused)
    }

    fn told(&self, steps: &Steps) -> ReplayPart {
        let first = self.at.first().and_then(|at| steps.all.get(*at as usize));
        ReplayPart {
            first: first.map(|step| step.template.called()).unwrap_or_default(),
            commands: self.at.len(),
            why_not: self.made.as_ref().err().cloned(),
        }
    }
}

/// What a run of so many commands submits: a replay stands where its first command does.
fn plan(parts: &[Part], commands: usize) -> Vec<Item> {
    let mut plan: Vec<Option<Item>> = (0..commands as u32).map(Item::Command).map(Some).collect();
    for part in parts {
        let Ok(whole) = &part.made else { continue };
        part.at.iter().for_each(|at| plan[*at as usize] = None);
        if let Some(first) = part.at.first() {
            plan[*first as usize] = Some(Item::Replay(whole.clone()));
        }
    }
    plan.into_iter().flatten().collect()
}

/// A command that is of no chain, and why.
fn add_single(parts: &mut Vec<Part>, at: u32, why: Option<String>) {
    match parts.last_mut() {
        Some(Part { at: all, asked: false, made: Err(known), .. })
            if all.last() == at.checked_sub(1).as_ref() =>
        {
            all.push(at);
            if let Some(why) = why.filter(|_| known == NO_CHAIN) {
                *known = why;
            }
        }
        _ => {
            let why = why.unwrap_or_else(|| NO_CHAIN.to_owned());
            parts.push(Part::not(vec![at], &why));
        }
    }
}

const FIRST: &str = "it is the first run";
const EXCHANGED: &str = "nodes were exchanged, which its graph cannot have this time";
const NO_CHAIN: &str = "no other command comes after it alone";

/// A kernel of the host that keeps what its blocks have combined until all have: if one fails, the
/// next run of the same kernel would find that.
fn keeps_values(launch: &Launch) -> bool {
    let function = launch.function.filter(|_| launch.loaded.is_none());
    function
        .is_some_and(|function| function.code.reductions > 0 || !function.code.counted.is_empty())
}

/// It is an interop task that may be called once for many runs.
fn is_captured(command: &Command) -> bool {
    let Action::Launch(Some(launch)) = &command.action else { return false };
    launch.foreign.as_ref().is_some_and(|task| task.captures)
}

fn named(steps: &Steps, at: usize, why: &str) -> String {
    format!("{}: {why}", steps.all[at].template.called())
}

/// Why a kernel may fail by itself.
pub(super) enum Fault<'l> {
    Known(Apart),
    Check(&'l Code, Check),
}

impl Fault<'_> {
    /// As it is for this launch.
    fn text(&self) -> Cow<'static, str> {
        match self {
            Fault::Known(why) => Cow::Borrowed(why),
            Fault::Check(code, check) => {
                Cow::Owned(format!("a check is left in kernel `{}`: {check}", code.name))
            }
        }
    }

    /// The same for all launches of the kernel in which that check is left.
    pub(super) fn apart(&self) -> Apart {
        match self {
            Fault::Known(why) => why,
            Fault::Check(code, check) => apart_for_good(format!(
                "a check is left in kernel `{}`: {}",
                code.name,
                check.brief()
            )),
        }
    }
}

/// Why a kernel may fail by itself, if it may.
pub(super) fn can_fail(launch: &Launch) -> Option<Fault<'_>> {
    can_fail_with(launch, &launch.scalars)
}

/// As [`can_fail`], with these scalars.
pub(super) fn can_fail_with<'l>(launch: &'l Launch, scalars: &[u64]) -> Option<Fault<'l>> {
    if launch.foreign.is_some() {
        // What it has enqueued does not call it again.
        return None;
    }
    if launch.opaque.is_some() {
        return Some(Fault::Known("what it does is not known"));
    }
    if let Some(fused) = &launch.fused {
        return fused.fails.map(Fault::Known);
    }
    let Some(function) = &launch.function else {
        return Some(Fault::Known("a closure may panic"));
    };
    let check = checks_left(function.code, &launch.geometry, &launch.params, scalars)?;
    Some(Fault::Check(function.code, check))
}
