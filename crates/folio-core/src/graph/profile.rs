//! When runs were, as a whole and by node: each operation of a timed run is timed.

use super::fuse::Ready;
use super::steps::Steps;
use super::{Executable, Node};
use crate::engine::Engine;
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::conditional::BodyTiming;
use crate::engine::runs::run::Ran;
use crate::error::{Error, GraphError, Label, Result};
use crate::group::{TaskTiming, timed_task};
use crate::hal::Timing;
use crate::order::stamp::Stamp;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Who tells when a command of a run was.
#[derive(Clone)]
pub(super) enum Clock {
    /// The lane that it went to. A copy may have gone to none.
    Lane { surely: bool },
    /// A host task.
    Task(TaskTiming),
    /// A host thread that submits the bodies of a condition.
    Bodies(BodyTiming),
    /// None: it does nothing.
    None,
}

/// By number: the commands of a run that are timed, and which of those that were submitted each is.
pub(super) type Clocks = Vec<(u32, usize, Clock)>;

/// When a command of a run was.
#[derive(Clone)]
struct Moment {
    clock: Clock,
    stamp: Stamp,
}

/// When a run was.
pub(crate) struct RunTimes {
    device: u16,
    /// Of all of its operations, if the run is timed.
    run: Option<Vec<Moment>>,
    /// By command as it was described; empty where no node is timed.
    moments: Vec<Option<Moment>>,
    /// The commands of nodes, in the order of the nodes; a node may be there several times.
    nodes: Vec<(Node, Range<usize>)>,
}

impl Executable {
    /// Has each node timed in the runs that are submitted from now on, or no more:
    /// [`Event::timing_of`](crate::Event::timing_of) then tells when a node ran, and
    /// [`Event::timing`](crate::Event::timing) when the run did. Such runs are submitted node by
    /// node, and a host thread chooses what conditions run; so they take longer.
    ///
    /// ```
    /// # use folio_core::{Result, Runtime};
    /// fn slowest(rt: &Runtime) -> Result<()> {
    ///     let (mut x, mut y) = (rt.buffer::<i32, 1>(4)?, rt.buffer::<i32, 1>(4)?);
    ///     let (graph, q) = (rt.graph("cpu")?, rt.queue_on("cpu")?);
    ///     let fill = graph.add(|cg| cg.fill(&mut x, 3))?;
    ///     let copy = graph.add(|cg| cg.copy(&x, &mut y))?;
    ///     let run = graph.finalize()?;
    ///     run.profile_nodes(true);
    ///     let event = q.run_graph(&run)?;
    ///     event.wait()?;
    ///     let [fill, copy] = [event.timing_of(fill)?, event.timing_of(copy)?];
    ///     assert!(fill.zip(copy).is_some_and(|(fill, copy)| fill.ended <= copy.started));
    ///     Ok(())
    /// }
    /// ```
    pub fn profile_nodes(&self, on: bool) {
        self.profiles().store(on, Ordering::Relaxed);
    }
}

impl Clock {
    /// Has a command timed.
    fn of(command: &mut Command, engine: &Engine) -> Clock {
        command.timed = true;
        match std::mem::replace(&mut command.action, Action::Nothing) {
            Action::Nothing => Clock::None,
            Action::Task { body, params } => {
                let (body, timing) = timed_task(body, engine.host.epoch());
                command.action = Action::Task { body, params };
                Clock::Task(timing)
            }
            Action::Conditional(node) => {
                let (node, timing) = node.timed();
                command.action = Action::Conditional(Arc::new(node));
                Clock::Bodies(timing)
            }
            action => {
                let surely = is_for_a_lane(&action);
                command.action = action;
                Clock::Lane { surely }
            }
        }
    }
}

/// A lane of the device does it. Copies may be done by another device, or by a host thread, and a
/// device may have no use for hints.
fn is_for_a_lane(action: &Action) -> bool {
    matches!(action, Action::Launch(_) | Action::Fill { .. } | Action::Replay(_))
}

/// Has commands timed, each of which is one or more by their numbers: all of them, or those that
/// were described so.
pub(super) fn time<'n>(
    commands: &mut [Command],
    numbers: impl Iterator<Item = &'n [u32]>,
    all: bool,
    engine: &Engine,
) -> Clocks {
    let mut clocks = Clocks::new();
    let timed = commands.iter_mut().zip(numbers).enumerate();
    for (item, (command, numbers)) in timed.filter(|(_, (c, _))| all || c.timed) {
        let clock = Clock::of(command, engine);
        clocks.extend(numbers.iter().map(|at| (*at, item, clock.clone())));
    }
    clocks
}

/// As [`time`], of commands that are one each.
pub(super) fn time_each(commands: &mut [Command], all: bool, engine: &Engine) -> Clocks {
    let numbers: Vec<[u32; 1]> = (0..commands.len() as u32).map(|at| [at]).collect();
    time(commands, numbers.iter().map(|at| &at[..]), all, engine)
}

impl RunTimes {
    /// Of a run, some commands of which are timed; all of them, if `timed`.
    pub(super) fn new(device: u16, timed: bool, clocks: Clocks, ran: &Ran) -> (RunTimes, Moments) {
        let mut moments = Moments(Vec::new());
        for (at, item, clock) in clocks {
            let at = at as usize;
            moments.0.resize(moments.0.len().max(at + 1), None);
            moments.0[at] = ran.stamps.get(item).map(|stamp| Moment { clock, stamp: *stamp });
        }
        let mut seen = HashSet::new();
        let does = |moment: &&Moment| !matches!(moment.clock, Clock::None);
        let all = moments.0.iter().flatten().filter(does);
        // Commands of one operation have one stamp.
        let run = timed.then(|| all.filter(|moment| seen.insert(moment.stamp)).cloned().collect());
        (RunTimes { device, run, moments: Vec::new(), nodes: Vec::new() }, moments)
    }

    /// With the times of nodes, by what they were described as and what ran for that: of all, or of
    /// those that were described as timed.
    pub(super) fn by_node(
        mut self,
        moments: &Moments,
        (described, all): (&Steps, bool),
        ready: &Ready,
    ) -> Self {
        let is_asked = |at: usize| all || described.all[at].template.command.timed;
        self.moments = vec![None; described.all.len()];
        for (members, moment) in ready.members.iter().zip(&moments.0) {
            let asked = members.iter().filter(|at| is_asked(**at));
            asked.for_each(|at| self.moments[*at].clone_from(moment));
        }
        let own = described.all.iter().enumerate();
        let own = own.filter_map(|(at, step)| Some((step.node?, at..at + 1)));
        self.nodes.extend(own.chain(described.graphs()));
        self.nodes.sort_by_key(|(node, _)| *node);
        self
    }

    /// The times of a node's commands: of those of which all were timed.
    fn moments_of(&self, node: Node) -> impl Iterator<Item = &Moment> {
        let first = self.nodes.partition_point(|(at, _)| *at < node);
        let all = self.nodes[first..].iter().take_while(move |(at, _)| *at == node);
        let all = all.filter_map(|(_, within)| self.moments.get(within.clone()));
        all.filter(|all| all.iter().all(Option::is_some)).flatten().flatten()
    }

    /// From the first operation of the device to the last, if `is_done`.
    pub(crate) fn of_run(&self, engine: &Engine, is_done: &dyn Fn() -> bool) -> Option<Timing> {
        let all = self.run.as_ref().filter(|_| is_done())?;
        let mut whole: Option<Timing> = None;
        for ran in all.iter().map(|moment| moment.ran(self.device, engine)) {
            match ran {
                ClockReading::On(device, timing) if device == self.device => {
                    whole = Some(whole.map_or(timing, |whole| whole.and(timing)));
                }
                ClockReading::On(..) | ClockReading::Host(_) | ClockReading::Nowhere => {}
                ClockReading::Unknown => return None,
            }
        }
        whole
    }

    /// When a node was, if it has ended.
    pub(crate) fn of_node(&self, node: Node, engine: &Engine) -> Result<Option<Timing>> {
        let mut all = self.moments_of(node).peekable();
        if all.peek().is_none() {
            return Err(node.not_timed());
        }
        let mut whole: Option<Timing> = None;
        for moment in all {
            let device = &engine.devices[usize::from(self.device)];
            if !matches!(moment.clock, Clock::Task(_) | Clock::None) && !device.info.caps.timing {
                let what = "telling when commands ran".to_owned();
                return Err(Error::Unsupported { device: device.name.clone(), what });
            }
            match moment.ran(self.device, engine) {
                ClockReading::On(_, timing) | ClockReading::Host(timing) => {
                    whole = Some(whole.map_or(timing, |whole| whole.and(timing)));
                }
                ClockReading::Nowhere => {}
                ClockReading::Unknown => return Ok(None),
            }
        }
        Ok(whole)
    }
}

/// By command of a run: when it was, if it is timed.
pub(super) struct Moments(Vec<Option<Moment>>);

/// The times of a command, as far as they are known.
enum ClockReading {
    On(u16, Timing),
    Host(Timing),
    /// The command did nothing there, or another actor did it.
    Nowhere,
    /// The command has not ended, has failed, or its lane has forgotten it.
    Unknown,
}

impl Moment {
    /// In a run on this device.
    fn ran(&self, device: u16, engine: &Engine) -> ClockReading {
        match &self.clock {
            Clock::None => ClockReading::Nowhere,
            Clock::Task(timing) => {
                timing.get().map_or(ClockReading::Unknown, |timing| ClockReading::Host(*timing))
            }
            Clock::Bodies(timing) => match timing.get() {
                None => ClockReading::Unknown,
                Some(None) => ClockReading::Nowhere,
                Some(Some(timing)) => ClockReading::On(device, *timing),
            },
            Clock::Lane { .. } if self.stamp == Stamp::DONE => ClockReading::Nowhere,
            Clock::Lane { surely } => match engine.placed(self.stamp) {
                Some((_, None)) => ClockReading::Unknown,
                Some((at, Some(timing))) => ClockReading::On(at, timing),
                None if *surely => ClockReading::Unknown,
                None => ClockReading::Nowhere,
            },
        }
    }
}

impl Node {
    pub(crate) fn not_timed(self) -> Error {
        let why = GraphError::NotTimed { node: self.at as usize };
        Error::Graph { graph: Label::NONE, why: Box::new(why) }
    }
}
