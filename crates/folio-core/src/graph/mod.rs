//! Command graphs: commands that are described once and run as often as asked.
//!
//! A [`Graph`] is added to, by hand or by recording queues, and knows its edges. Finalizing makes
//! an [`Executable`] of it: its commands as one list in an order that fits the edges. A run submits
//! the list to the engine in one go (`engine::runs`), which plans what has to be moved, as for any
//! command. So a run is right wherever the data are and beside any other work, and what it costs is
//! the engine's work for each command without that of describing and checking it.

mod batch;
mod blocks;
mod boxes;
mod conditional;
mod conflicts;
mod exchange;
pub(crate) mod fuse;
mod internal;
mod items;
mod key;
mod node;
mod order;
mod parameter;
mod picture;
mod pieces;
mod pool;
mod profile;
mod record;
mod recordings;
mod replay;
mod run;
mod state;
mod steps;
mod store;
mod template;
mod temporaries;
mod trail;
mod why;

pub use batch::BatchReport;
pub(crate) use batch::Batches;
pub use conditional::{Compared, Condition};
pub use fuse::{FinalizeOptions, FusionCounters};
pub(crate) use key::Called;
pub use node::{Node, NodeKind, NodeResult};
pub(crate) use parameter::Changes;
pub use parameter::Parameter;
pub use pool::GraphMemory;
pub(crate) use profile::RunTimes;
pub use record::Recording;
pub(crate) use record::{Period, Recorded, Recorder};
pub(crate) use recordings::Recordings;
pub use replay::{Replay, ReplayPart, ReplayReport};
pub use run::Executable;
pub use why::WhyNot;

pub use folio_kernel::fuse::{AccessScope, Costs as FusionCosts, Explanation as FusionReport};

use crate::error::{Error, GraphError, Label, Result};
use crate::event::Event;
use crate::group::{CommandGroup, Several};
use crate::pages::DomainId;
use crate::runtime::{Core, DeviceRef, Runtime};
use crate::select::Selector;
use crate::sync::Mutex;
use crate::token::GroupId;
use folio_kernel::words::count;
use fuse::Plans;
use smallvec::SmallVec;
use state::{GraphState, NodeState, Sub, What};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use steps::Steps;
use template::{Template, Update};

/// A graph of commands of one device, which can be changed. [`finalize`](Self::finalize) makes of
/// it what can run. Handles are cheap to clone, and may be used from many threads at once.
///
/// Nodes that use the same elements are in the order in which they were added, if one of them
/// writes; everything else runs as soon as its edges allow. A graph keeps its buffers alive.
///
/// ```
/// # use folio_core::{Result, Runtime};
/// fn squares(rt: &Runtime) -> Result<()> {
///     let (mut x, mut y) = (rt.buffer::<i32, 1>(4)?, rt.buffer::<i32, 1>(4)?);
///     let graph = rt.graph("cpu")?;
///     let fill = graph.add(|cg| cg.fill(&mut x, 3))?;
///     let copy = graph.add(|cg| cg.copy(&x, &mut y))?;
///     assert_eq!(graph.predecessors(copy)?, [fill]); // they use `x`
///     let executable = graph.finalize()?;
///     let q = rt.queue_on("cpu")?;
///     for _ in 0..10 {
///         q.run_graph(&executable)?;
///     }
///     assert_eq!(y.to_vec()?, [3; 4]);
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Graph {
    pub(crate) inner: Arc<Inner>,
}

/// A graph, as its handles and the queues that are recorded into it hold it.
pub(crate) struct Inner {
    pub(crate) core: Arc<Core>,
    pub(crate) device: u16,
    id: u64,
    /// Its commands run only once: what is called needs not be `Fn`.
    once: bool,
    /// Plans of a queue's blocks outlive the block.
    plans: Arc<Plans>,
    state: Mutex<GraphState>,
}

impl Inner {
    fn new(core: Arc<Core>, device: u16) -> Arc<Inner> {
        Inner::over(core, device, false, Arc::default())
    }

    fn over(core: Arc<Core>, device: u16, once: bool, plans: Arc<Plans>) -> Arc<Inner> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new(Inner { core, device, id, once, plans, state: Mutex::default() })
    }

    fn error(&self, why: GraphError) -> Error {
        let graph = self.state.lock().label.clone();
        Error::Graph { graph, why: Box::new(why) }
    }

    /// The position of a node of this graph.
    fn place(&self, state: &GraphState, node: Node) -> Result<u32, GraphError> {
        if node.graph == self.id && (node.at as usize) < state.len() {
            return Ok(node.at);
        }
        Err(GraphError::ForeignNode { node: node.at as usize })
    }

    fn node(&self, at: u32) -> Node {
        Node { graph: self.id, at }
    }

    /// Where its device's commands use memory.
    fn domain(&self) -> DomainId {
        self.core.engine.devices[usize::from(self.device)].domain
    }

    fn device_name(&self) -> String {
        self.core.engine.devices[usize::from(self.device)].name.clone()
    }
}

impl Runtime {
    /// An empty graph of commands of a device.
    pub fn graph(&self, on: impl Into<Selector>) -> Result<Graph> {
        let device = self.device(on)?;
        Ok(Graph { inner: Inner::new(device.core, device.at) })
    }
}

impl Graph {
    /// Names it, for errors and pictures.
    pub fn label(&self, label: impl Into<Arc<str>>) -> &Graph {
        self.inner.state.lock().label = Label::from(label);
        self
    }

    /// Its device.
    pub fn device(&self) -> DeviceRef {
        DeviceRef { core: self.inner.core.clone(), at: self.inner.device }
    }

    /// Adds a node that does what `build` describes, as for
    /// [`Queue::submit`](crate::Queue::submit); it may return `()`, too. Host tasks and interop
    /// tasks are those that each run calls: [`CommandGroup::each_run`]. A group that does nothing
    /// is an empty node.
    pub fn add<R: NodeResult>(&self, build: impl FnOnce(&mut CommandGroup) -> R) -> Result<Node> {
        self.add_after(&[], build)
    }

    /// As [`add`](Self::add), with edges from other nodes: it fails if one of them does.
    pub fn add_after<R: NodeResult>(
        &self,
        after: &[Node],
        build: impl FnOnce(&mut CommandGroup) -> R,
    ) -> Result<Node> {
        let mut group = Template::group(&self.inner, |cg| build(cg).into_result())?;
        let (what, told) = match group.take_several()? {
            Some(several) => (self.nodes_of(several, &group)?, group.take_rare()),
            None => {
                let (made, told) = Template::of_group(&self.inner, group)?;
                (What::One(Arc::new(made), None), told)
            }
        };
        if !told.parameters.is_empty() {
            let command = what.called();
            return Err(self.inner.error(GraphError::NotUpdatable { command }));
        }
        self.push(what, after, &told.follows)
    }

    /// The commands of a launch that takes several: a graph, which is one node.
    fn nodes_of(&self, several: Several, group: &CommandGroup) -> Result<What> {
        let Inner { core, device, .. } = &*self.inner;
        let part = Graph { inner: Inner::new(core.clone(), *device) };
        part.label(several.kernel());
        let empty = || CommandGroup::new(core, *device, GroupId::next());
        for mut own in several.groups(&Runtime { core: core.clone() }, &empty)? {
            group.describe_part(&mut own);
            let (made, _) = Template::of_group(&part.inner, own)?;
            part.push(What::One(Arc::new(made), None), &[], &[])?;
        }
        self.inner.as_node(&part.finalize()?)
    }

    /// As [`add`](Self::add), behind all nodes that have no successors.
    pub fn add_last<R: NodeResult>(
        &self,
        build: impl FnOnce(&mut CommandGroup) -> R,
    ) -> Result<Node> {
        let leaves = self.leaves();
        self.add_after(&leaves, build)
    }

    /// As [`add_after`](Self::add_after), of a node that is described again when a
    /// [`Parameter`] has changed that `build` has read by [`CommandGroup::parameter`]. It may then
    /// use other scalars, buffers, parts and items, and run another kernel, but stays a node of its
    /// kind.
    pub fn add_updatable(
        &self,
        after: &[Node],
        build: impl Fn(&mut CommandGroup) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Node> {
        let (made, told) = Template::described(&self.inner, |cg| build(cg))?;
        let update = Update { describe: Arc::new(build), read: told.parameters };
        self.push(What::One(Arc::new(made), Some(update)), after, &told.follows)
    }

    /// Adds a node that is all of another graph, as that is now. Its first nodes come after what
    /// this comes after, and what comes after this comes after its last.
    pub fn add_graph(&self, after: &[Node], graph: &Executable) -> Result<Node> {
        let what = self.inner.as_node(graph)?;
        self.push(what, after, &[])
    }

    fn push(&self, what: What, after: &[Node], follows: &[Recorded]) -> Result<Node> {
        let inner = &self.inner;
        let mut state = inner.state.lock();
        let placed = (|| {
            if !state.queues.is_empty() {
                return Err(GraphError::BeingRecorded);
            }
            let after = after.iter().copied();
            let after = after.chain(follows.iter().flat_map(|recorded| recorded.nodes()));
            after.map(|node| Ok((inner.place(&state, node)?, true))).collect()
        })();
        let placed: Result<SmallVec<[(u32, bool); 8]>, _> = placed;
        match placed {
            Ok(after) => {
                let at = state.push(what, &after, false);
                drop(state);
                Ok(inner.node(at))
            }
            Err(why) => {
                // Before the node, whose closures are the user's.
                drop(state);
                Err(inner.error(why))
            }
        }
    }

    /// Adds an edge: `to` starts after `from`, and fails if that does. An edge that would close a
    /// cycle is an error, and leaves the graph as it was.
    pub fn make_edge(&self, from: Node, to: Node) -> Result<()> {
        let inner = &self.inner;
        let mut state = inner.state.lock();
        let made = (|| {
            if !state.queues.is_empty() {
                return Err(GraphError::BeingRecorded);
            }
            let (from, to) = (inner.place(&state, from)?, inner.place(&state, to)?);
            if (from >= to || state.backward) && state.leads(to, from) {
                let names = [from, to].map(|at| state.nodes[at as usize].what.called());
                return Err(GraphError::Cycle { from: from as usize, to: to as usize, names });
            }
            state.backward |= from > to;
            state.ask(from, to);
            Ok(())
        })();
        drop(state);
        made.map_err(|why| inner.error(why))
    }

    /// How many nodes it has.
    pub fn len(&self) -> usize {
        self.inner.state.lock().nodes.len()
    }

    /// True without nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its nodes, in the order in which they were added.
    pub fn nodes(&self) -> Vec<Node> {
        (0..self.len() as u32).map(|at| self.inner.node(at)).collect()
    }

    /// The nodes without predecessors.
    pub fn roots(&self) -> Vec<Node> {
        let state = self.inner.state.lock();
        let all = state.nodes.iter().enumerate().filter(|(_, node)| node.before.is_empty());
        all.map(|(at, _)| self.inner.node(at as u32)).collect()
    }

    /// The nodes without successors.
    pub fn leaves(&self) -> Vec<Node> {
        let mut state = self.inner.state.lock();
        state.leaves().iter().map(|at| self.inner.node(*at)).collect()
    }

    fn of_node<R>(&self, node: Node, f: impl FnOnce(&NodeState) -> R) -> Result<R> {
        let state = self.inner.state.lock();
        let found = self.inner.place(&state, node).map(|at| f(&state.nodes[at as usize]));
        drop(state);
        found.map_err(|why| self.inner.error(why))
    }

    /// The nodes from which edges lead to this one: those asked for, and those of data.
    pub fn predecessors(&self, node: Node) -> Result<Vec<Node>> {
        let from = |state: &NodeState| state.before.iter().map(|edge| edge.from).collect();
        self.of_node(node, from).map(|all| self.sorted(all))
    }

    /// The nodes to which edges lead from this one.
    pub fn successors(&self, node: Node) -> Result<Vec<Node>> {
        self.of_node(node, |state| state.successors.to_vec()).map(|all| self.sorted(all))
    }

    fn sorted(&self, mut all: Vec<u32>) -> Vec<Node> {
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|at| self.inner.node(at)).collect()
    }

    /// A node as it is now.
    pub fn kind(&self, node: Node) -> Result<NodeKind> {
        self.of_node(node, |state| state.what.kind())
    }

    /// The name of a node's command.
    pub fn label_of(&self, node: Node) -> Result<Label> {
        self.of_node(node, |state| state.what.label().clone())
    }

    /// The node of a command that was recorded, by its event. None for other events, and for one of
    /// several commands.
    pub fn node_of(&self, event: &Event) -> Option<Node> {
        event.recorded()?.node_in(&self.inner)
    }

    /// Whether both have the same nodes, of the same kinds and kernels and with the same accesses,
    /// and the same edges between them; however they were made. Buffers, ranges and scalars may be
    /// others.
    pub fn has_shape_of(&self, other: &Graph) -> bool {
        if Arc::ptr_eq(&self.inner, &other.inner) {
            return true;
        }
        self.shape() == other.shape()
    }

    fn shape(&self) -> Vec<(Vec<String>, Vec<u32>)> {
        let state = self.inner.state.lock();
        let of = |node: &NodeState| {
            let what = match &node.what {
                What::One(template, _) => vec![template.shape()],
                What::Graph(sub) => sub.steps.shape(),
            };
            let mut before: Vec<u32> = node.before.iter().map(|edge| edge.from).collect();
            before.sort_unstable();
            before.dedup();
            (what, before)
        };
        state.nodes.iter().map(of).collect()
    }

    /// What can run: the graph as it is now. The graph stays as it is, and can be changed and
    /// finalized again.
    pub fn finalize(&self) -> Result<Executable> {
        self.finalize_with(FinalizeOptions::new())
    }

    /// As [`finalize`](Self::finalize), with options: kernels that can be one launch may become
    /// one.
    ///
    /// ```
    /// # use folio_core::{graph::FinalizeOptions, Result, Runtime};
    /// fn squares(rt: &Runtime) -> Result<()> {
    ///     let (mut x, graph) = (rt.buffer::<i32, 1>(4)?, rt.graph("cpu")?);
    ///     graph.add(|cg| cg.fill(&mut x, 3))?;
    ///     let executable = graph.finalize_with(FinalizeOptions::new().enable_fusion())?;
    ///     if let Some(report) = executable.fusion_report()? {
    ///         println!("{report}"); // 0 launches became 0
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn finalize_with(&self, options: FinalizeOptions) -> Result<Executable> {
        let mut state = self.inner.state.lock();
        let (label, mut steps) = (state.label.clone(), Steps::of(&state, self.inner.id));
        let owned = temporaries::owned(&steps, self.inner.core.engine.plant);
        state.owned.extend(&owned);
        steps.owned.extend(owned);
        drop(state);
        steps.wish(options);
        Executable::new(&self.inner, label, steps)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.inner.state.lock();
        let device = self.inner.device_name();
        let nodes = count(state.nodes.len() as u64, "node");
        write!(f, "Graph {} on {device} with {nodes}", state.label)
    }
}
