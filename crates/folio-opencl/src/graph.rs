//! Graphs: operations that are prepared once, and enqueued one after the other by each replay.
//!
//! A lane's queue is in order, so a replay needs nothing between two nodes, whatever their edges
//! are. A launch has kernel objects of its own, whose arguments are set when the graph is made. Its
//! words, and the memory in which a reduction combines, are the node's: replays do not overlap (the
//! HAL's contract). Only the place of a launch's record, in which it says what it does wrong, is
//! the lane's, and set at each replay.
//!
//! An update prepares a node anew, and changes nothing of what was enqueued: OpenCL has copied the
//! arguments, and the lane holds the nodes of a replay until that has ended. A replay that sets the
//! places of records holds the graph's lock while it enqueues, since two lanes may do so. A replay
//! of launches without records is [kept back](crate::launch_batch) as a launch is.

use crate::cl::{Buffer, Kernel, Queue};
use crate::copy::{Commands, enqueue};
use crate::device::{Core, Loaded};
use crate::memory::{Pointer, PointerCache, SvmBlock, with_room};
use crate::module::{Arguments, Built, Way, constant, launch};
use crate::platform::Shared;
use crate::words::Words;
use folio_core::hal::{
    CopyRect, FillRect, Graph, HalError, KernelRef, MemBase, MemRef, Node, Op, Param,
};
use folio_driver::lock;
use opencl_sys::cl_event;
use smallvec::SmallVec;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard};

/// A graph of this backend.
pub(crate) struct OpenClGraph {
    /// Goes first: shared virtual memory is freed before its context.
    state: Mutex<GraphState>,
    core: Arc<Core>,
}

struct GraphState {
    nodes: Arc<Nodes>,
    /// Where the words of launches are put that replace others.
    words: Words,
}

/// The operations that a replay enqueues, in order.
#[derive(Clone)]
pub(crate) struct Nodes {
    all: Vec<Arc<Prepared>>,
    /// Launches of kernel objects, but for those of the nodes that are counted as others.
    pub(crate) launches: usize,
    /// Nodes that are not just launches without records.
    others: usize,
}

impl Nodes {
    fn new(all: Vec<Arc<Prepared>>) -> Nodes {
        let counts = all.iter().map(|node| node.launches());
        let others = counts.clone().filter(Option::is_none).count();
        let launches = counts.flatten().sum();
        Nodes { all, launches, others }
    }

    /// Exchanges one of them. Returns what it was.
    fn exchange(&mut self, node: usize, new: Arc<Prepared>) -> Option<Arc<Prepared>> {
        let at = self.all.get_mut(node)?;
        let count = |of: &Prepared| of.launches().map_or((0, 1), |launches| (launches, 0));
        let ((gone, other), (come, another)) = (count(at), count(&new));
        self.launches = self.launches - gone + come;
        self.others = self.others - other + another;
        Some(std::mem::replace(at, new))
    }

    /// Enqueues all of them, which are launches without records: the last with an event, if there
    /// is a place for that.
    pub(crate) fn enqueue(&self, queue: &Queue, last: *mut cl_event) -> Result<(), HalError> {
        let mut left = self.launches;
        for (own, node) in self.all.iter().enumerate() {
            let Prepared::Launch(launch) = &**node else { continue };
            for ready in &launch.ready {
                left = left.saturating_sub(1);
                let event = if left == 0 { last } else { null_mut() };
                let enqueue = || enqueue(queue, &ready.kernel, ready.global, ready.local, event);
                with_room(enqueue).map_err(|error| error.at_node(own))?;
            }
        }
        Ok(())
    }
}

impl Drop for Nodes {
    /// The newest first: PoCL looks for a kernel object that is released among all of its program,
    /// from the newest on.
    fn drop(&mut self) {
        self.all.drain(..).rev().for_each(drop);
    }
}

/// The operation of a node.
enum Prepared {
    Launch(Launch),
    Copy(Vec<CopyRect>),
    Fill(Vec<FillRect>, Vec<u8>),
    Join,
}

/// A launch: its own threads, and those that end its reductions.
#[derive(Default)]
struct Launch {
    ready: SmallVec<[Ready; 1]>,
    /// Memory that the arguments lead to.
    buffers: Vec<Buffer>,
    words: SmallVec<[Arc<SvmBlock>; 1]>,
}

/// Threads of a kernel object whose arguments are set. The slowest dimension is the first.
pub(crate) struct Ready {
    kernel: Kernel,
    global: [usize; 3],
    /// Threads of a group; none if the driver chooses.
    local: Option<[usize; 3]>,
    /// The argument that leads to the record, and what that means.
    pub(crate) record: Option<(u32, Arc<Built>)>,
}

impl Ready {
    pub(crate) fn new(kernel: Kernel, global: [usize; 3], local: Option<[usize; 3]>) -> Ready {
        Ready { kernel, global, local, record: None }
    }

    /// Enqueues them. No other thread sets arguments of the kernel: the graph is locked.
    fn enqueue(&self, commands: &mut Commands<'_>) -> Result<(), HalError> {
        if let Some((argument, _)) = &self.record {
            let (shared, queue) = (commands.shared, commands.queue);
            commands.verdicts.make_room(queue)?;
            let record = commands.verdicts.slot(shared, queue)?.0;
            Arguments::from(&self.kernel, *argument).memory(record)?;
        }
        commands.launch(&self.kernel, self.global, self.local)?;
        if let Some((_, built)) = &self.record {
            commands.verdicts.used(built.clone());
        }
        Ok(())
    }
}

impl Prepared {
    /// How many launches it is, if it is nothing else, and none of them has a record.
    fn launches(&self) -> Option<usize> {
        match self {
            Prepared::Launch(launch) => {
                let plain = launch.ready.iter().all(|ready| ready.record.is_none());
                plain.then_some(launch.ready.len())
            }
            Prepared::Join => Some(0),
            Prepared::Copy(_) | Prepared::Fill(..) => None,
        }
    }

    fn enqueue(&self, commands: &mut Commands<'_>) -> Result<(), HalError> {
        match self {
            Prepared::Launch(launch) => {
                launch.ready.iter().try_for_each(|ready| ready.enqueue(commands))
            }
            Prepared::Copy(rects) => rects.iter().try_for_each(|rect| commands.copy(rect)),
            Prepared::Fill(rects, pattern) => {
                rects.iter().try_for_each(|rect| commands.fill(rect, pattern))
            }
            Prepared::Join => Ok(()),
        }
    }
}

impl OpenClGraph {
    pub(crate) fn new(core: &Arc<Core>, nodes: &[Node<'_>]) -> Result<OpenClGraph, HalError> {
        let (mut words, mut known) = (Words::default(), PointerCache::default());
        let mut prepare = |node: &Node<'_>| prepare(core, (&mut words, &mut known), &node.op);
        let nodes = nodes.iter().map(|node| prepare(node).map(Arc::new));
        let nodes = Arc::new(Nodes::new(nodes.collect::<Result<_, _>>()?));
        Ok(OpenClGraph { state: Mutex::new(GraphState { nodes, words }), core: core.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, GraphState> {
        lock(&self.state)
    }

    /// Whether it is of this device.
    pub(crate) fn is_of(&self, core: &Arc<Core>) -> bool {
        Arc::ptr_eq(&self.core, core)
    }

    /// Enqueues what its nodes do.
    pub(crate) fn replay(&self, commands: &mut Commands<'_>) -> Result<(), HalError> {
        let state = self.lock();
        let nodes = &state.nodes;
        // Enqueued nodes use what they have, also if the rest is refused.
        commands.kept.push(Box::new(nodes.clone()));
        commands.weight += (nodes.all.len() as u64).saturating_sub(1);
        if nodes.others == 0 && commands.hold(nodes) {
            return Ok(());
        }
        commands.is_replay = true;
        nodes.all.iter().enumerate().try_for_each(|(own, node)| {
            commands.verdicts.begin_node(own);
            node.enqueue(commands).map_err(|error| error.at_node(own))
        })
    }
}

// SAFETY: a replay is one operation of a lane, which keeps the contract (see `lane`). The lane
// holds the nodes that it has enqueued until the replay has ended, and an update changes none of
// them.
unsafe impl Graph for OpenClGraph {
    fn update(&self, node: usize, op: Op<'_>) -> Result<(), HalError> {
        self.core.lost()?;
        let mut state = self.lock();
        let GraphState { nodes, words } = &mut *state;
        if node >= nodes.all.len() {
            return Err(HalError::unsupported("a node that is not there"));
        }
        let new = prepare(&self.core, (words, &mut PointerCache::default()), &op);
        let new = Arc::new(self.core.told(new)?);
        let old = Arc::make_mut(nodes).exchange(node, new);
        drop(state);
        drop(old);
        Ok(())
    }
}

/// A launch that is being prepared.
pub(crate) struct LaunchBuilder<'m> {
    core: &'m Core,
    words: &'m mut Words,
    known: &'m mut PointerCache,
    launch: Launch,
}

impl LaunchBuilder<'_> {
    pub(crate) fn shared(&self) -> &Shared {
        &self.core.shared
    }

    /// Parts of buffers begin at multiples of so many bytes.
    pub(crate) fn part_align(&self) -> u64 {
        self.core.target.part_align as u64
    }

    /// The memory that parameters lead to.
    pub(crate) fn pointers(
        &mut self,
        params: &[Param],
        each: impl FnMut(Pointer),
    ) -> Result<(), HalError> {
        let (memory, addresses) = (&self.core.shared.memory, self.core.has_addresses());
        self.known.pointers(memory, params, addresses, each)
    }

    /// Where the launch finds words that are not passed by value.
    pub(crate) fn words(&mut self, words: &[u64]) -> Result<Pointer, HalError> {
        let shared = &self.core.shared;
        if !self.core.has_addresses() {
            let made = constant(shared, words)?;
            let to = Pointer::Buffer(made.0);
            self.keep([made]);
            return Ok(to);
        }
        // Launches hold the memory that has theirs.
        let at = self.words.put(shared, &mut vec![], words)?;
        self.launch.words.extend(self.words.chunk().cloned());
        Ok(Pointer::Address(at))
    }

    /// Further threads of the launch, behind those that there are.
    pub(crate) fn add(&mut self, ready: Ready) {
        self.launch.ready.push(ready);
    }

    /// Arguments lead to these.
    pub(crate) fn keep(&mut self, buffers: impl IntoIterator<Item = Buffer>) {
        self.launch.buffers.extend(buffers);
    }
}

/// Prepares a node. The work of the host is no node.
fn prepare(
    core: &Core,
    (words, known): (&mut Words, &mut PointerCache),
    op: &Op<'_>,
) -> Result<Prepared, HalError> {
    match op {
        Op::Copy(rects) => {
            let mut ends = rects.iter().flat_map(|rect| [&rect.src, &rect.dst]);
            on_device(ends.all(is_of_device), op)?;
            Ok(Prepared::Copy(rects.to_vec()))
        }
        Op::Fill(rects, pattern) => {
            on_device(rects.iter().all(|rect| is_of_device(&rect.dst)), op)?;
            Ok(Prepared::Fill(rects.to_vec(), pattern.to_vec()))
        }
        Op::Join => Ok(Prepared::Join),
        Op::Launch(KernelRef::Loaded(handle), geometry, args) => {
            let mut making = LaunchBuilder { core, words, known, launch: Launch::default() };
            match core.loaded(*handle)? {
                Loaded::Kernel(function) => {
                    let texts = function.texts(core, geometry, args)?;
                    launch(texts, Way::Graph(&mut making), geometry, args)?;
                }
                Loaded::Opaque(kernel) => kernel.prepare(&mut making, geometry, args)?,
            }
            Ok(Prepared::Launch(making.launch))
        }
        _ => Err(HalError::unsupported(op.name())),
    }
}

fn is_of_device(at: &MemRef) -> bool {
    matches!(at.base, MemBase::Device { .. })
}

fn on_device(is: bool, op: &Op<'_>) -> Result<(), HalError> {
    let refused =
        || HalError::unsupported(&format!("a {} of the host's memory in a graph", op.name()));
    if is { Ok(()) } else { Err(refused()) }
}
