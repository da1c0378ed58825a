//! Recording: what is submitted to a queue becomes nodes of a graph, and does not run.

use super::conflicts::Edges;
use super::key::Called;
use super::template::Template;
use super::trail::Next;
use super::{Executable, Graph, GraphState, Inner, Node, NodeKind, What};
use crate::call::Passed;
use crate::engine::runs::command::{Action, Command};
use crate::error::{Error, GraphError, Label, Result};
use crate::event::Event;
use crate::group::CommandGroup;
use crate::queue::{self, Queue};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;
use std::sync::{Arc, Weak};

/// The graph that a queue's commands are recorded into, if there is one. A block's queue keeps that
/// of its block when this has ended, and so runs nothing by itself.
#[derive(Default)]
pub(crate) struct Recorder {
    /// Rises where the queue begins or ends to be recorded, under the lock: odd while it is.
    period: AtomicU64,
    graph: Mutex<Option<Arc<Inner>>>,
}

/// A time in which a queue is recorded into one graph, or into none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Period(u64);

impl Period {
    fn is_recorded(self) -> bool {
        self.0 % 2 == 1
    }
}

impl Recorder {
    #[inline]
    pub(crate) fn period(&self) -> Period {
        Period(self.period.load(Ordering::Acquire))
    }

    /// The graph. An error is that a period has ended, if it is to be in that one.
    #[inline]
    pub(crate) fn graph(&self, within: Option<Period>) -> Result<Option<Arc<Inner>>> {
        let period = self.period();
        match period.is_recorded() || within.is_some_and(|within| within != period) {
            true => self.graph_within(within),
            false => Ok(None),
        }
    }

    #[cold]
    fn graph_within(&self, within: Option<Period>) -> Result<Option<Arc<Inner>>> {
        let (graph, period) = {
            let recorded = self.graph.lock();
            (recorded.clone(), self.period())
        };
        match within.is_none_or(|within| within == period) {
            true => Ok(graph),
            false => Err(divided(graph.as_deref())),
        }
    }

    fn begin(&self, graph: &Arc<Inner>) -> Result<(), GraphError> {
        let mut recorded = self.graph.lock();
        let rises = match &*recorded {
            Some(known) if graph.once && Arc::ptr_eq(known, graph) => 2,
            Some(_) => return Err(GraphError::AlreadyRecording),
            None => 1,
        };
        *recorded = Some(graph.clone());
        self.period.fetch_add(rises, Ordering::Release);
        Ok(())
    }

    fn end(&self) {
        let graph = {
            let mut recorded = self.graph.lock();
            self.period.fetch_add(u64::from(recorded.is_some()), Ordering::Release);
            recorded.take()
        };
        // Without the lock: its nodes' closures are the user's.
        drop(graph);
    }
}

/// The error of a command that would be apart from those before it.
fn divided(graph: Option<&Inner>) -> Error {
    let why = GraphError::Divided;
    match graph {
        Some(graph) => graph.error(why),
        None => Error::Graph { graph: Label::NONE, why: Box::new(why) },
    }
}

/// A queue that is recorded into a graph.
pub(super) struct Joined {
    queue: Weak<queue::Inner>,
    pub(super) id: u32,
    /// The recording that names it. Other queues have joined by what they depend on.
    recording: Option<u64>,
    /// Its latest command, if it is in order; its latest barrier; its commands since that.
    last: Option<u32>,
    fence: Option<u32>,
    since: SmallVec<[Range<u32>; 2]>,
}

impl Joined {
    fn new(queue: &Queue, recording: Option<u64>) -> Joined {
        Joined {
            queue: Arc::downgrade(&queue.inner),
            id: queue.inner.id,
            recording,
            last: None,
            fence: None,
            since: SmallVec::new(),
        }
    }

    /// Commands that the next one comes after, and does not fail with.
    pub(super) fn before(&self) -> impl Iterator<Item = (u32, bool)> {
        self.last.into_iter().chain(self.fence).map(|at| (at, false))
    }

    pub(super) fn note(&mut self, at: u32, in_order: bool) {
        match self.since.last_mut() {
            Some(latest) if latest.end == at => latest.end += 1,
            _ => self.since.push(at..at + 1),
        }
        if in_order {
            self.last = Some(at);
        }
    }
}

/// Nodes that an event stands for.
#[derive(Clone)]
pub(crate) struct Recorded {
    graph: Arc<Inner>,
    nodes: SmallVec<[u32; 1]>,
}

impl Recorded {
    /// Why its event cannot be waited for.
    pub(crate) fn no_event(&self) -> Error {
        self.graph.error(GraphError::OnlyRecorded)
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = Node> {
        self.nodes.iter().map(|at| self.graph.node(*at))
    }

    /// The only node, if it is of this graph.
    pub(super) fn node_in(&self, graph: &Inner) -> Option<Node> {
        match &self.nodes[..] {
            [one] if self.graph.id == graph.id => Some(graph.node(*one)),
            _ => None,
        }
    }
}

/// Records queues while it exists: what is submitted to them becomes nodes of a graph and does not
/// run. So does what is submitted to another queue and comes after the event of a recorded command.
/// Operations by [`Graph::record`].
#[must_use = "queues are recorded as long as this exists"]
pub struct Recording {
    graph: Arc<Inner>,
    number: u64,
}

impl Graph {
    /// Records queues of the graph's device until the result is dropped.
    ///
    /// Commands of an in-order queue are in order in the graph, too, and barriers come between
    /// commands of their queue. Events of recorded commands can be used by
    /// [`CommandGroup::after`], also in other queues of the device, which are recorded from then on
    /// to the end. They cannot be waited for, and the thread that called this cannot read what they
    /// write, or write what they use, until the recording has ended.
    ///
    /// ```
    /// # use folio_core::{Result, Runtime};
    /// fn example(rt: &Runtime) -> Result<()> {
    ///     let (q, mut x) = (rt.queue_on("cpu")?, rt.buffer::<i32, 1>(4)?);
    ///     let graph = rt.graph("cpu")?;
    ///     let recording = graph.record([&q])?;
    ///     q.fill(&mut x, 5)?;
    ///     drop(recording);
    ///     assert_eq!((graph.len(), x.to_vec()?), (1, vec![0; 4]));
    ///     q.run_graph(&graph.finalize()?)?;
    ///     assert_eq!(x.to_vec()?, [5; 4]);
    ///     Ok(())
    /// }
    /// ```
    pub fn record<'q>(&self, queues: impl IntoIterator<Item = &'q Queue>) -> Result<Recording> {
        Recording::of(&self.inner, &mut queues.into_iter())
    }
}

impl Recording {
    pub(super) fn of(
        graph: &Arc<Inner>,
        queues: &mut dyn Iterator<Item = &Queue>,
    ) -> Result<Recording> {
        let (number, first) = {
            let mut state = graph.state.lock();
            state.recordings += 1;
            state.next += 1;
            (state.next, state.nodes.len())
        };
        // Its drop ends what has begun.
        let recording = Recording { graph: graph.clone(), number };
        graph.core.recordings.begin(graph, number, first);
        for queue in queues {
            graph.join(queue, Some(number))?;
        }
        Ok(recording)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.graph.core.recordings.end(&self.graph, self.number);
        let ended: SmallVec<[Joined; 1]> = {
            let mut state = self.graph.state.lock();
            state.recordings -= 1;
            let (all, own) = (state.recordings == 0, Some(self.number));
            let ends = |joined: &mut Joined| all || joined.recording == own;
            state.queues.extract_if(.., ends).collect()
        };
        let is_of_block = |joined: &&Joined| self.graph.once && joined.recording.is_some();
        let others = ended.iter().filter(|joined| !is_of_block(joined));
        others.filter_map(|joined| joined.queue.upgrade()).for_each(|queue| queue.recorder.end());
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recording into graph {}", self.graph.state.lock().label)
    }
}

impl Queue {
    /// The graph that a group becomes a node of, if it does. A queue that depends on a recorded
    /// command is recorded from then on.
    #[inline]
    pub(crate) fn recorder_of(&self, group: &CommandGroup) -> Result<Option<Arc<Inner>>> {
        match (self.recorder()?, group.follows_recorded()) {
            (None, Some(follows)) => self.recorder_after(follows),
            (graph, _) => Ok(graph),
        }
    }

    #[cold]
    fn recorder_after(&self, recorded: &Recorded) -> Result<Option<Arc<Inner>>> {
        let graph = &recorded.graph;
        graph.join(self, None)?;
        Ok(Some(graph.clone()))
    }

    /// That there is something to wait for.
    pub(crate) fn refuse_wait(&self) -> Result<()> {
        self.refuse_recorded(&"wait", GraphError::WaitWhileRecording)
    }

    /// That its commands are not recorded, nor those of a block that has ended.
    pub(super) fn refuse_recorded(
        &self,
        what: &'static &'static str,
        why: GraphError,
    ) -> Result<()> {
        let Some(graph) = self.recorder()? else { return Ok(()) };
        let open = graph.check_open(&graph.state.lock(), || Label::of(what));
        Err(graph.error(open.err().unwrap_or(why)))
    }
}

impl Inner {
    /// That a queue is of the graph's device. Others that it has take part in what is spread.
    pub(super) fn check_queue(&self, queue: &Queue) -> Result<()> {
        if !queue.inner.core.same(&self.core) {
            let label = Label::from(format!("of {}", queue.device().name()));
            return Err(Error::WrongRuntime { what: "queue", label, by: None });
        }
        if queue.inner.devices.contains(&self.device) {
            return Ok(());
        }
        let names: Vec<String> =
            queue.devices().iter().map(|device| device.name().to_owned()).collect();
        let (device, other) = (self.device_name(), names.join(", "));
        Err(self.error(GraphError::OtherDevice { device, what: "queue", other }))
    }

    fn join(self: &Arc<Self>, queue: &Queue, recording: Option<u64>) -> Result<()> {
        self.check_queue(queue)?;
        let joined = {
            // Held until both know it, so that the end of the recording finds the queue.
            let mut state = self.state.lock();
            if recording.is_none() && state.recordings == 0 {
                Err(GraphError::OnlyRecorded)
            } else {
                let begun = queue.inner.recorder.begin(self);
                begun.map(|()| state.queues.push(Joined::new(queue, recording)))
            }
        };
        joined.map_err(|why| self.error(why))
    }

    /// Completes the command that a group describes for a node.
    #[inline]
    pub(crate) fn finish(&self, group: &mut CommandGroup, command: &mut Command) -> Result<()> {
        Template::finish(group, command, !self.once)
    }

    /// Makes nodes of groups; of none, if one is refused.
    pub(crate) fn record(
        self: &Arc<Self>,
        queue: &Queue,
        groups: &mut [CommandGroup],
    ) -> Result<Event> {
        let mut made: SmallVec<[(Template, Vec<Recorded>); 1]> = SmallVec::new();
        let is_one = groups.len() == 1;
        for group in groups {
            let mut command = Command::new(None, false);
            self.finish(group, &mut command)?;
            if self.once && is_one && group.is_plain() {
                let mut state = self.state.lock();
                if let Some(next) = state.follow(queue, &command, &[]) {
                    return Ok(self.recorded(self.go_on(&mut state, next, (command, group))));
                }
            }
            let template = Template::of(command, group);
            let told = group.take_rare();
            if !self.once {
                template.check(self)?;
                if !told.parameters.is_empty() {
                    let command = template.label.clone();
                    return Err(self.error(GraphError::NotUpdatable { command }));
                }
            }
            made.push((template, told.follows));
        }
        let mut nodes = SmallVec::new();
        let mut state = self.state.lock();
        let checked = (|| {
            let command =
                || made.first().map_or(Label::NONE, |(template, _)| template.label.clone());
            self.check_open(&state, command)?;
            let follows = made.iter().flat_map(|(_, follows)| follows);
            let mut follows = follows.flat_map(|recorded| recorded.nodes());
            follows.try_for_each(|node| self.place(&state, node).map(drop))
        })();
        if let Err(why) = checked {
            // Before the nodes, whose closures are the user's.
            drop(state);
            return Err(self.error(why));
        }
        for (template, follows) in made {
            let after = follows.iter().flat_map(|recorded| recorded.nodes.iter().copied());
            let after: SmallVec<[(u32, bool); 4]> = after.map(|at| (at, true)).collect();
            nodes.push(self.add(&mut state, queue, template, after));
        }
        drop(state);
        Ok(Event::of_recorded(self.core.clone(), Recorded { graph: self.clone(), nodes }))
    }

    /// That something runs what is added: of a block that has ended nothing does.
    fn check_open(
        &self,
        state: &GraphState,
        command: impl FnOnce() -> Label,
    ) -> Result<(), GraphError> {
        match self.once && state.recordings == 0 {
            true => Err(GraphError::BlockEnded { command: command() }),
            false => Ok(()),
        }
    }

    /// Goes on along the trail by the command of a group. Returns its number.
    fn go_on(
        &self,
        state: &mut GraphState,
        next: Next,
        (command, group): (Command, &mut CommandGroup),
    ) -> u32 {
        match next {
            Next::Same(at) => {
                state.keep(group.leases().drain(..));
                if let Action::Launch(Some(launch)) = command.action {
                    launch.recycle();
                }
                at
            }
            Next::Own(at) => {
                state.add_own(Arc::new(Template::of(command, group)));
                at
            }
        }
    }

    /// Adds a command of a recorded queue: along the trail, or as a node.
    fn add(
        &self,
        state: &mut GraphState,
        queue: &Queue,
        mut template: Template,
        after: SmallVec<[(u32, bool); 4]>,
    ) -> u32 {
        let follows = self.once && template.marks.is_empty();
        let next = follows.then(|| state.follow(queue, &template.command, &after)).flatten();
        match next {
            Some(Next::Same(at)) => {
                state.keep(template.leases.drain(..));
                at
            }
            Some(Next::Own(at)) => {
                state.add_own(Arc::new(template));
                at
            }
            None => self.push_of(state, queue, What::One(Arc::new(template), None), after),
        }
    }

    /// The event of a node.
    fn recorded(self: &Arc<Self>, at: u32) -> Event {
        let recorded = Recorded { graph: self.clone(), nodes: smallvec![at] };
        Event::of_recorded(self.core.clone(), recorded)
    }

    /// The event of a kernel call that is the next command of a known block. It takes the buffers
    /// of the arguments.
    pub(crate) fn follow_call(
        self: &Arc<Self>,
        queue: &Queue,
        called: Called<'_>,
        given: &mut SmallVec<[Passed; 4]>,
    ) -> Option<Event> {
        let mut state = self.state.lock();
        let of = (self.device, self.domain(), &*self.core);
        let at = state.follow_call(queue, of, called, given)?;
        state.keep(given.drain(..).map(|passed| passed.part.view.storage));
        drop(state);
        Some(self.recorded(at))
    }

    /// Adds a node of a recorded queue.
    fn push_of(
        &self,
        state: &mut GraphState,
        queue: &Queue,
        what: What,
        mut after: SmallVec<[(u32, bool); 4]>,
    ) -> u32 {
        let id = queue.inner.id;
        let joined = state.queues.iter().position(|joined| joined.id == id);
        after.extend(joined.iter().flat_map(|at| state.queues[*at].before()));
        let at = state.push(what, &after, self.once);
        if let Some(joined) = joined {
            state.queues[joined].note(at, queue.inner.in_order);
        }
        at
    }

    /// A node behind all commands of a queue since its last barrier, which later ones come after.
    pub(crate) fn record_barrier(self: &Arc<Self>, queue: &Queue) -> Result<Event> {
        let mut state = self.state.lock();
        if let Err(why) = self.check_open(&state, || Label::of(&"barrier")) {
            drop(state);
            return Err(self.error(why));
        }
        let id = queue.inner.id;
        let template = Arc::new(Template::nothing(NodeKind::Barrier));
        let joined = state.queues.iter().position(|joined| joined.id == id);
        let mut after = Edges::new();
        if let Some(joined) = joined {
            let joined = &mut state.queues[joined];
            after.extend(joined.since.drain(..).flatten().map(|at| (at, true)));
            if after.is_empty() {
                after.extend(joined.fence.map(|at| (at, false)));
            }
        }
        let at = state.follow_barrier(&after, &template);
        let at = at.unwrap_or_else(|| state.push(What::One(template, None), &after, self.once));
        if let Some(joined) = joined {
            let joined = &mut state.queues[joined];
            joined.fence = Some(at);
            joined.last = joined.last.and(Some(at));
        }
        drop(state);
        Ok(self.recorded(at))
    }

    /// Makes a node of all of a graph.
    pub(super) fn record_graph(
        self: &Arc<Self>,
        queue: &Queue,
        graph: &Executable,
        after: &[&Event],
    ) -> Result<Event> {
        let what = self.as_node(graph)?;
        let mut state = self.state.lock();
        let placed = (|| {
            self.check_open(&state, || what.called())?;
            let mut places = SmallVec::new();
            for event in after {
                let Some(recorded) = event.recorded() else {
                    let command = what.label().clone();
                    return Err(GraphError::OutsideEvent { command });
                };
                for node in recorded.nodes() {
                    places.push((self.place(&state, node)?, true));
                }
            }
            Ok(places)
        })();
        let after = match placed {
            Ok(after) => after,
            Err(why) => {
                // Before the node, whose closures are the user's.
                drop(state);
                return Err(self.error(why));
            }
        };
        let nodes = smallvec![self.push_of(&mut state, queue, what, after)];
        drop(state);
        Ok(Event::of_recorded(self.core.clone(), Recorded { graph: self.clone(), nodes }))
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use crate::Runtime;
    use crate::engine::null::Null;

    /// GRAPH-08: what another thread adds to a block that has ended would be in the next one.
    #[test]
    fn a_block_that_has_ended_takes_nothing() {
        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        let q = rt.queue_on("null:0").unwrap();
        let of = rt.graph("null:0").unwrap();
        of.add(|cg| {
            cg.prefetch(&rt.buffer::<u32, 1>(4)?, crate::Destination::Device);
            Ok(())
        })
        .unwrap();
        let run = of.finalize().unwrap();
        let block = Inner::over(q.inner.core.clone(), 0, true, Arc::default());
        let recording = Recording::of(&block, &mut std::iter::once(&q)).unwrap();
        assert!(block.record_barrier(&q).is_ok());
        assert!(block.record_graph(&q, &run, &[]).is_ok());
        drop(recording);
        let nodes = block.state.lock().nodes.len();
        let late = [block.record_barrier(&q), block.record_graph(&q, &run, &[])];
        for refused in late {
            let is_ended = |why: &GraphError| matches!(why, GraphError::BlockEnded { .. });
            assert!(
                matches!(&refused, Err(Error::Graph { why, .. }) if is_ended(why)),
                "{refused:?}"
            );
        }
        assert_eq!(block.state.lock().nodes.len(), nodes);
    }

    /// GRAPH-01: of commands that rely on each other, none is left out where a recording begins or
    /// ends between them.
    #[test]
    fn an_undivided_queue_is_of_one_recording_or_of_none() {
        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        let (q, graph) = (rt.queue_on("null:0").unwrap(), rt.graph("null:0").unwrap());
        let x = rt.buffer::<u32, 1>(4).unwrap().into_shared();
        let other = rt.graph("null:0").unwrap();
        other.add(|cg| cg.fill(&x, 1)).unwrap();
        let run = other.finalize().unwrap();
        let assert_refused = |q: &Queue| {
            let (count, nodes) = (q.counters().fills, graph.len());
            let all = [
                q.fill(&x, 2),
                q.undivided().fill(&x, 2),
                q.timed().fill(&x, 2),
                q.submit(|_| Ok(())),
                q.run_graph(&run),
                q.barrier(),
                q.batch(|_| Ok(())).map(|(_, event)| event),
            ];
            for refused in all {
                let why = refused.err().map(|error| error.to_string()).unwrap_or_default();
                assert!(why.contains("between commands that rely on each other"), "{why}");
            }
            assert_eq!((q.counters().fills, graph.len()), (count, nodes));
        };
        let before = q.undivided();
        before.fill(&x, 1).unwrap();
        let recording = graph.record([&q]).unwrap();
        let within = q.undivided();
        within.fill(&x, 2).unwrap();
        within.barrier().unwrap();
        assert_refused(&before);
        drop(recording);
        [&before, &within].into_iter().for_each(assert_refused);
        let again = graph.record([&q]).unwrap();
        [&before, &within].into_iter().for_each(assert_refused);
        drop(again);
        let count = q.counters().fills;
        q.undivided().fill(&x, 3).unwrap();
        assert_eq!((q.counters().fills, graph.len()), (count + 1, 2));
        for _ in 0..3 {
            q.batch(|q| q.undivided().fill(&x, 4)).unwrap();
        }
        assert_eq!(q.batch_report().found, 2);
    }

    /// GRAPH-08: nothing runs by itself that a block's queue takes, also after the block.
    #[test]
    fn a_queue_whose_block_has_ended_refuses_everything() {
        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        let q = rt.queue_on("null:0").unwrap();
        let x = rt.buffer::<u32, 1>(4).unwrap().into_shared();
        let graph = rt.graph("null:0").unwrap();
        graph.add(|cg| cg.fill(&x, 1)).unwrap();
        let run = graph.finalize().unwrap();
        let held = Arc::new(());
        let mut kept: Option<Queue> = None;
        let failed = q.batch(|q| {
            let (of_task, _) = (held.clone(), kept.insert(q.clone()));
            q.submit(|cg| {
                cg.host_task((), move |()| drop(of_task));
                Ok(())
            })?;
            q.wait()
        });
        let why = |result: Result<()>| match result {
            Err(Error::Graph { why, .. }) => *why,
            other => unreachable!("{other:?}"),
        };
        assert_eq!(why(failed.map(drop)), GraphError::WaitWhileRecording);
        assert_eq!(Arc::strong_count(&held), 1, "what did not run is kept");
        let (block, _) = q.batch(|q| q.fill(&x, 1).map(|_| q.clone())).unwrap();
        let count = q.counters().fills;
        for block in [&block, kept.as_ref().unwrap()] {
            let late = [
                block.fill(&x, 2).map(drop),
                block.timed().fill(&x, 2).map(drop),
                block.submit(|_| Ok(())).map(drop),
                block.run_graph(&run).map(drop),
                block.barrier().map(drop),
                block.batch(|_| Ok(())).map(drop),
                block.wait(),
            ];
            for refused in late {
                let refused = why(refused);
                assert!(matches!(refused, GraphError::BlockEnded { .. }), "{refused}");
            }
        }
        // The queue of which it was a block goes on.
        q.fill(&x, 3).unwrap();
        q.batch(|q| q.fill(&x, 4)).unwrap();
        assert_eq!((q.counters().fills, block.counters().fills), (count + 2, 0));
    }
}
