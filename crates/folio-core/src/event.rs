//! Events: when a command is done, and how it ended.

use crate::buffer::Part;
use crate::engine::lanes::Lanes;
use crate::engine::ledger::Ledger;
use crate::engine::runs::command::Command;
use crate::engine::terms::access::{Access, Mode};
use crate::engine::threads::wait::WaitEnd;
use crate::error::{Error, Failure, Result};
use crate::graph::{Node, Recorded, RunTimes};
use crate::group::TaskTiming;
use crate::hal::Timing;
use crate::order::hazards::{Deps, Flow, Outcome, add_dep};
use crate::order::stamp::{LaneId, Stamp};
use crate::pages::DomainId;
use crate::panics::contain;
use crate::runtime::{Core, DeviceRef};
use smallvec::SmallVec;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// When a command is done. Cheap to clone; sticky: it says the same for ever. Dropping it has no
/// effect on the command. It is a future, too, under any executor.
#[derive(Clone)]
pub struct Event {
    pub(crate) core: Arc<Core>,
    pub(crate) stamp: Stamp,
    device: Option<u16>,
    rare: Option<Rare>,
}

/// What few events have.
#[derive(Clone)]
enum Rare {
    /// Of a timed host task.
    Task(TaskTiming),
    /// Its command was not submitted.
    Recorded(Recorded),
    /// Of a run that is timed, or some of whose nodes are.
    Run(Arc<RunTimes>),
    /// Of a timed launch in parts.
    Parts(Arc<[Stamp]>),
}

/// How a command stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Status {
    /// Not done.
    Pending,
    /// Done and well.
    Done,
    /// It failed, or something that it depends on did.
    Failed(Error),
}

impl Event {
    pub(crate) fn new(core: Arc<Core>, stamp: Stamp) -> Event {
        Event { core, stamp, device: None, rare: None }
    }

    /// Of a command that was submitted; of a timed host task with its timing.
    #[inline]
    pub(crate) fn of_command(
        core: Arc<Core>,
        stamp: Stamp,
        command: &mut Command,
        task: Option<TaskTiming>,
    ) -> Event {
        Event { core, stamp, device: command.device, rare: task.map(Rare::Task) }
    }

    /// Of a command that runs on a device.
    pub(crate) fn on(self, device: Option<u16>) -> Event {
        Event { device, ..self }
    }

    /// Of a command that is in a graph.
    pub(crate) fn of_recorded(core: Arc<Core>, recorded: Recorded) -> Event {
        let rare = Some(Rare::Recorded(recorded));
        Event { rare, ..Event::new(core, Stamp::DONE) }
    }

    /// Of a run that is timed, or some of whose nodes are.
    pub(crate) fn of_run(self, times: RunTimes) -> Event {
        Event { rare: Some(Rare::Run(Arc::new(times))), ..self }
    }

    /// Of a timed launch in parts.
    pub(crate) fn of_parts(self, parts: Vec<Stamp>) -> Event {
        Event { rare: Some(Rare::Parts(parts.into())), ..self }
    }

    /// The recorded command that it is of.
    pub(crate) fn recorded(&self) -> Option<&Recorded> {
        match &self.rare {
            Some(Rare::Recorded(recorded)) => Some(recorded),
            _ => None,
        }
    }

    /// That the command was submitted: else nothing can be waited for.
    pub(crate) fn submitted(&self) -> Result<()> {
        self.recorded().map_or(Ok(()), |recorded| Err(recorded.no_event()))
    }

    /// The device that the command was given to: the queue's, or the one that its scheduler chose.
    /// `None` for host tasks, barriers, and events of several commands.
    pub fn device(&self) -> Option<DeviceRef> {
        self.device.map(|at| DeviceRef { core: self.core.clone(), at })
    }

    /// When all of these are done.
    pub(crate) fn of_all(core: &Arc<Core>, mut events: SmallVec<[Event; 6]>) -> Event {
        if events.len() == 1
            && let Some(event) = events.pop()
        {
            return event;
        }
        let mut deps = Deps::new();
        events.iter().for_each(|event| add_dep(&mut deps, event.stamp, Flow::USES));
        let stamp = core.engine.enter(|ledger| ledger.meet(deps));
        Event::new(core.clone(), stamp)
    }

    /// When the current writers of a part are done.
    pub(crate) fn of_writers(part: &Part) -> Result<Event> {
        let storage = &part.view.storage;
        let (elements, _) = part.view.in_storage(&part.part);
        let access = Access::new((storage.id, &storage.grid), elements, Mode::Read, DomainId::HOST);
        let stamp = storage.core.engine.enter(|ledger| {
            let mut deps = Deps::new();
            ledger.storages.hazard_deps(&[access], &mut deps);
            ledger.meet(deps)
        });
        Ok(Event::new(storage.core.clone(), stamp))
    }

    /// How it stands. Does not wait.
    pub fn status(&self) -> Status {
        if let Err(error) = self.submitted() {
            return Status::Failed(error);
        }
        match self.end() {
            None => Status::Pending,
            Some(None) => Status::Done,
            Some(Some(failure)) => Status::Failed(Error::failed(failure)),
        }
    }

    /// Whether it has ended well, if it has ended. That does not count as telling of a failure.
    pub(crate) fn ended_well(&self) -> Option<bool> {
        self.end().map(|failure| failure.is_none())
    }

    /// As [`ended_well`](Self::ended_well), as far as is known: no device is asked.
    pub(crate) fn known_to_end_well(&self) -> Option<bool> {
        match self.core.engine.enter(|ledger| ledger.timeline.outcome(self.stamp)) {
            Outcome::Pending => None,
            outcome => Some(matches!(outcome, Outcome::Fine)),
        }
    }

    /// How it has ended, with its failure if it has one.
    fn end(&self) -> Option<Option<Arc<Failure>>> {
        let mut asked = None;
        loop {
            let (end, lane) = self.look();
            // A thread that asks is interested: a backend may hold work back until it is told.
            // Another lane may hold back what that has ended.
            let shared = lane.filter(|lane| asked != Some(*lane));
            let Some(shared) = shared.and_then(|lane| self.core.engine.table.shared(lane)) else {
                return end;
            };
            asked = lane;
            shared.native.flush();
        }
    }

    /// How it has ended, and the lane that must make progress if it has not.
    fn look(&self) -> (Option<Option<Arc<Failure>>>, Option<LaneId>) {
        self.core.engine.enter(|ledger| {
            ledger.poll_for(self.stamp);
            match ledger.timeline.outcome(self.stamp) {
                Outcome::Pending => {
                    (None, ledger.timeline.waits_for_tick(self.stamp).map(|(lane, _)| lane))
                }
                Outcome::Fine => (Some(None), None),
                Outcome::Failed => (Some(ledger.timeline.failure(self.stamp).cloned()), None),
            }
        })
    }

    /// True when it is done, well or not. That a command has failed counts as told only by
    /// [`status`](Self::status), [`wait`](Self::wait) and the like.
    pub fn is_done(&self) -> bool {
        self.recorded().is_none() && self.end().is_some()
    }

    /// Waits until it is done.
    pub fn wait(&self) -> Result<()> {
        self.submitted()?;
        match self.core.engine.wait(self.stamp, None)? {
            WaitEnd::Failed(failure) => Err(Error::failed(failure)),
            _ => Ok(()),
        }
    }

    /// Waits, and leaves a failure untold. `false` where it cannot wait.
    pub(crate) fn wait_untold(&self) -> bool {
        self.recorded().is_none() && self.core.engine.wait(self.stamp, None).is_ok()
    }

    /// One that is done.
    pub(crate) fn done(core: Arc<Core>) -> Event {
        Event::new(core, Stamp::DONE)
    }

    /// Waits until it is done (`true`) or the time is over (`false`).
    pub fn wait_timeout(&self, time: Duration) -> Result<bool> {
        self.submitted()?;
        let until = Instant::now().checked_add(time);
        match self.core.engine.wait(self.stamp, until)? {
            WaitEnd::Done => Ok(true),
            WaitEnd::Failed(failure) => Err(Error::failed(failure)),
            WaitEnd::TimedOut => Ok(false),
        }
    }

    /// When it ran on its device, if that was asked for (`CommandGroup::timed`, `Queue::timed`), it
    /// has ended, and the device can tell. A host task is timed by the host's clock: it is queued
    /// when it is submitted, starts when its data has come and it is called, and ends when it
    /// returns. Times of different clocks (of two devices, of a device and the host) are not
    /// comparable. `None` if it was not asked for.
    ///
    /// Of a run or a batch that was submitted through a timed queue, it is what the device did for
    /// it: queued and started with the first operation, and ended with the last. Host tasks, and
    /// what other devices copy, are left out. A run or a batch that was submitted through a queue
    /// which is not timed has none; its timed nodes have [`timing_of`](Self::timing_of).
    ///
    /// Of a launch that several devices share ([`Queue::spread`](crate::Queue::spread)), it is that
    /// of the part which took longest.
    pub fn timing(&self) -> Option<Timing> {
        match &self.rare {
            Some(Rare::Parts(parts)) => {
                let times = parts.iter().map(|part| self.core.engine.timing_of(*part));
                let times: Option<SmallVec<[Timing; 8]>> = times.collect();
                times?.into_iter().max_by_key(|time| time.ended.saturating_sub(time.started))
            }
            Some(Rare::Task(task)) => task.get().copied(),
            Some(Rare::Run(times)) => times.of_run(&self.core.engine, &|| self.is_done()),
            _ => self.core.engine.timing_of(self.stamp),
        }
    }

    /// When a node of a graph ran in the run that this is the event of, if it has ended there. The
    /// run's nodes are timed if its executable [profiles](crate::Executable::profile_nodes) them;
    /// a node always is that was described as [timed](crate::CommandGroup::timed). It is none, too,
    /// of a node that does nothing. Where a node ran several times in the run, or is a graph, it
    /// is from the first to the last. Fused kernels have the time of their launch.
    ///
    /// # Errors
    /// [`GraphError::NotTimed`](crate::error::GraphError::NotTimed) if the node is not timed, or
    /// not of that run; [`Error::Unsupported`] if the device tells no times.
    pub fn timing_of(&self, node: Node) -> Result<Option<Timing>> {
        match &self.rare {
            Some(Rare::Run(times)) => times.of_node(node, &self.core.engine),
            _ => Err(node.not_timed()),
        }
    }
}

impl Future for Event {
    type Output = Result<()>;
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if let Err(error) = self.submitted() {
            return Poll::Ready(Err(error));
        }
        let mut waker = Some(cx.waker().clone());
        let failure = self.core.engine.enter(|ledger| {
            ledger.poll_for(self.stamp);
            let Ledger { timeline, topology, outbox, .. } = ledger;
            if timeline.wake_when_done(self.stamp, &mut waker, (topology, outbox)) {
                return Poll::Pending;
            }
            Poll::Ready(timeline.failure(self.stamp).cloned())
        });
        contain(|| drop(waker));
        failure.map(|failure| failure.map_or(Ok(()), |failure| Err(Error::failed(failure))))
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event({:?})", self.stamp)
    }
}
