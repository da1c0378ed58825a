//! Runs by the device's own graphs: a whole run is one operation.

use super::conditional::refused;
use super::conflicts::Conflicts;
use super::fuse::Ready;
use super::steps::Steps;
use super::{Executable, Inner};
use crate::engine::command::{Action, Command, End};
use crate::engine::replay::Run;
use crate::engine::whole::Whole;
use crate::error::{Label, Result};
use crate::event::Event;
use crate::order::stamp::Stamp;
use crate::queue::Queue;
use crate::sync::Mutex;
use std::sync::Arc;

/// How often a run tries to make a graph that another thread's work outdates at once.
const TRIES: usize = 3;

/// What an executable has done as a whole: see [`Executable::run_whole`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WholeReport {
    /// Runs that were one operation of the device.
    pub runs: u64,
    /// Graphs of the device's that were made: for the first run, after nodes were exchanged, and
    /// after memory was allocated anew.
    pub made: u64,
    /// Why runs are submitted command by command, if they are.
    pub why_not: Option<String>,
}

/// What an executable has of whole runs.
#[derive(Default)]
pub(super) struct Wholes {
    wanted: bool,
    of: Option<Made>,
    report: WholeReport,
}

/// A graph of the device's, or none, and the commands of which it was made.
#[derive(Clone)]
struct Made {
    steps: Arc<Steps>,
    whole: Option<Arc<Whole>>,
}

impl Executable {
    /// Whether runs are handed to the device as a whole, as one operation of a graph of its own,
    /// where that is possible. They are not at first.
    ///
    /// Such a run costs the engine as much as one command, however many it has. All that it uses is
    /// brought before it begins. It also *fails* as a whole: if one node does, all that the graph
    /// writes counts as not written. The failure still names the node.
    ///
    /// Kernels, copies and fills over memory of the graph's device can be parts of such a run. With
    /// other nodes, with commands that are timed, and on devices without graphs, runs are submitted
    /// command by command; [`whole_report`](Self::whole_report) says why.
    ///
    /// ```
    /// # use folio_core::{Result, Runtime};
    /// fn squares(rt: &Runtime) -> Result<()> {
    ///     let mut x = rt.buffer::<i32>(4)?;
    ///     let graph = rt.graph("cpu")?;
    ///     graph.add(|cg| cg.fill(&mut x, 3))?;
    ///     let run = graph.finalize()?;
    ///     run.run_whole(true);
    ///     for _ in 0..10 {
    ///         rt.queue_on("cpu")?.run_graph(&run)?;
    ///     }
    ///     assert_eq!((run.whole_report().runs, run.whole_report().made), (10, 1));
    ///     Ok(())
    /// }
    /// ```
    pub fn run_whole(&self, wanted: bool) {
        self.wholes().lock().wanted = wanted;
    }

    /// What has become of [`run_whole`](Self::run_whole).
    pub fn whole_report(&self) -> WholeReport {
        self.wholes().lock().report.clone()
    }
}

impl Inner {
    /// Submits a run as a whole, if that is wanted and possible.
    pub(super) fn run_whole(
        &self,
        queue: &Queue,
        (wholes, label): (&Mutex<Wholes>, &Label),
        Ready { steps, internal, fusion, .. }: &Ready,
        (after, latest): (&[Stamp], &Mutex<Stamp>),
    ) -> Result<Option<Event>> {
        if !wholes.lock().wanted {
            return Ok(None);
        }
        let engine = &self.core.engine;
        engine.open(self.device)?;
        let (id, in_order) = (queue.inner.id, queue.inner.in_order);
        let latest = Some(latest);
        let run = Run { queue: id, in_order, device: self.device, after, latest, internal, fusion };
        for _ in 0..TRIES {
            let Some(whole) = self.whole_of(wholes, steps)? else { return Ok(None) };
            if let Some((stamp, pin)) = engine.replay_whole(&run, &whole, label)? {
                wholes.lock().report.runs += 1;
                return Ok(Some(Event::new(queue.inner.core.clone(), stamp, pin)));
            }
            let old = wholes.lock().of.take();
            drop(old);
        }
        Ok(None)
    }

    /// The device's graph of these commands; none where there is none.
    fn whole_of(&self, wholes: &Mutex<Wholes>, steps: &Arc<Steps>) -> Result<Option<Arc<Whole>>> {
        let known = wholes.lock().of.clone();
        if let Some(Made { whole, .. }) = known.filter(|made| Arc::ptr_eq(&made.steps, steps)) {
            return Ok(whole);
        }
        let made = match self.why_not_whole(steps) {
            Some(why) => Err(why),
            None => self.make_whole(steps)?,
        };
        let (whole, why_not) = match made {
            Ok(whole) => (Some(Arc::new(whole)), None),
            Err(why) => (None, Some(why)),
        };
        let mut held = wholes.lock();
        held.report.made += u64::from(whole.is_some());
        held.report.why_not = why_not;
        let old = held.of.replace(Made { steps: steps.clone(), whole: whole.clone() });
        drop(held);
        // Its closures are the user's.
        drop(old);
        Ok(whole)
    }

    fn make_whole(&self, steps: &Steps) -> Result<Result<Whole, String>> {
        let again = steps.all.iter().map(|step| step.template.command.again());
        let Some(mut commands) = again.collect::<Option<Vec<Command>>>() else {
            return Ok(Err("a command can run only once".to_owned()));
        };
        commands.iter_mut().for_each(Command::arm);
        let mut conflicts = Conflicts::default();
        let after: Vec<Vec<usize>> = (commands.iter().zip(&steps.order.after).enumerate())
            .map(|(at, (command, edges))| {
                let mut after: Vec<usize> = edges.iter().map(|(from, _)| *from as usize).collect();
                conflicts.add(at as u32, &command.accesses, &mut |from, _| {
                    after.push(from as usize);
                });
                after.sort_unstable();
                after.dedup();
                after
            })
            .collect();
        let made = self.core.engine.whole(self.device, commands, &after)?;
        Ok(made.map_err(|error| error.to_string()))
    }

    /// Which command cannot be a part of a whole run, and why.
    fn why_not_whole(&self, steps: &Steps) -> Option<String> {
        let why = |command: &Command| match &command.action {
            _ if command.timed => Some("it is timed"),
            Action::Conditional(_) => Some("it is a condition"),
            Action::Launch(Some(launch)) if launch.foreign.is_some() => Some("it calls a driver"),
            Action::Copy { from, to }
                if matches!(from.end, End::Host(_)) || matches!(to.end, End::Host(_)) =>
            {
                Some("it copies from the program's memory")
            }
            Action::Task { .. } => Some("it is a host task"),
            _ => refused(command, self.domain(), self.domain()),
        };
        steps.all.iter().find_map(|step| {
            let why = why(&step.template.command)?;
            Some(format!("{}: {why}", step.template.called()))
        })
    }
}
