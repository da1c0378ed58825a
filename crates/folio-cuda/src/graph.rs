//! Graphs: operations as nodes of the driver's, by its explicit interface, so that their parameters
//! can be exchanged.
//!
//! An operation is one node or several: a copy has one for each rectangle that the driver takes, a
//! fill one or those that double what is there, a launch those of its grids, an interop task a
//! graph of what it has enqueued ([`capture`](crate::capture)), a conditional node a kernel and the
//! driver's node ([`condition`](crate::condition)). [`Nodes`] adds them, and exchanges
//! them later, from the same code that enqueues operations ([`Way`]).

use crate::arguments::{Exchanges, GraphWords, NodeArguments, scalars_of};
use crate::capture::Captured;
use crate::copy;
use crate::device::Core;
use crate::driver::{Context, Relaxed, call};
use crate::fill;
use crate::graph_failures::{GraphFailures, Sheet};
use crate::module::Destination;
use crate::way::{Set, Start, Way, arguments};
use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::{
    self, Branch, Foreign, Graph, HalError, HalErrorKind, KernelRef, Node, Op, Param,
};
use folio_driver::lock;
use folio_driver::verdict::Verdict;
use folio_kernel::emit::Layout;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

pub(crate) type Ids = SmallVec<[sys::CUgraphNode; 2]>;

/// A graph that can be replayed.
pub(crate) struct CudaGraph {
    pub(crate) device: Arc<Core>,
    graph: sys::CUgraph,
    exec: sys::CUgraphExec,
    /// Also held in calls with either of those, which the driver wants one at a time.
    state: Mutex<GraphState>,
}

// SAFETY: the driver's objects may be used by any thread, one at a time.
unsafe impl Send for CudaGraph {}
// SAFETY: as above; `state` is locked meanwhile.
unsafe impl Sync for CudaGraph {}

#[derive(Default)]
struct GraphState {
    operations: Vec<Operation>,
    /// How many records there can be.
    most: usize,
    owned: Owned,
}

/// The memory of nodes.
#[derive(Default)]
struct Owned {
    /// The records of launches, from the first that can fail on.
    sheet: Option<Arc<Sheet>>,
    /// Memory for what launches combine, and for their words.
    kept: Vec<[u64; 2]>,
    exchanges: Exchanges,
}

/// The nodes of an operation.
#[derive(Default)]
struct Operation {
    nodes: Ids,
    /// The nodes that later operations come after.
    ends: Ids,
    /// How many commands it has. An operation without commands is a node without an effect.
    commands: usize,
    /// The number of its record.
    record: Option<usize>,
    /// Its memory, and of what size.
    scratch: Vec<([u64; 2], [u64; 2])>,
    /// The arguments of its launches of kernels in IR.
    given: SmallVec<[NodeArguments; 1]>,
    /// How often calls have given it other words and nothing else.
    other_words: u32,
}

impl CudaGraph {
    pub(crate) fn new(device: Arc<Core>, nodes: &[Node<'_>]) -> Result<CudaGraph, HalError> {
        let context = device.context.clone();
        let _calls = context.enter()?;
        if !context.optional.graphs {
            return Err(HalError::unsupported("graphs (the driver is older than CUDA 12)"));
        }
        let (mut graph, exec) = (null_mut(), null_mut());
        // SAFETY: a place for the answer.
        context.check("cuGraphCreate", unsafe { sys::cuGraphCreate(&raw mut graph, 0) })?;
        // From here on what fails gives the graph back.
        let mut made = CudaGraph { device, graph, exec, state: Mutex::default() };
        lock(&made.state).most = nodes.iter().map(|node| records(&node.op)).sum();
        nodes.iter().try_for_each(|node| made.add(node))?;
        // SAFETY: the graph is live; a place for the answer.
        let result = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut made.exec, made.graph, 0) };
        context.check("cuGraphInstantiate", result)?;
        Ok(made)
    }

    /// Adds an operation's nodes.
    fn add(&self, node: &Node<'_>) -> Result<(), HalError> {
        let mut state = lock(&self.state);
        let mut after = Ids::new();
        for &at in node.after {
            let before = state.operations.get(at);
            let before = before.ok_or_else(|| HalError::unsupported("a node after a later one"))?;
            after.extend_from_slice(&before.ends);
        }
        // The driver wants to be told once.
        after.sort_unstable();
        after.dedup();
        let which = (state.operations.len(), state.most);
        let nodes = Nodes::new(self, Action::Add(&after), &mut state, Operation::default(), which);
        let mut added = nodes.all(&node.op);
        let commands = nodes.count.get();
        if added.is_ok() && commands == 0 {
            added = nodes.nothing();
        }
        nodes.branch();
        let operation = Operation { commands, ..nodes.give_back(&mut state) };
        state.operations.push(operation);
        added
    }

    /// Memory for the words of all launches, and as many again for those that do not fit their
    /// place any more. Where there is none, they are exchanged as before.
    fn make_block(&self, state: &mut GraphState, exchanged: &Operation) {
        let operations = state.operations.iter().chain([exchanged]);
        let words: usize = operations.flat_map(|had| &had.given).map(|had| had.words.len()).sum();
        let (context, _relaxed) = (&self.device.context, Relaxed::begin());
        let writer = self.device.writer.entry(context);
        let made = writer.and_then(|_| GraphWords::new(context, &self.device.memory, 2 * words));
        state.owned.kept.extend(made.as_ref().ok().map(|(_, kept)| *kept));
        state.owned.exchanges.begin(made.ok().map(|(block, _)| block));
    }

    /// Launches it; its records are to be taken down behind it. The context is current.
    pub(crate) fn launch(&self, stream: sys::CUstream) -> Result<Option<GraphFailures>, HalError> {
        let mut state = lock(&self.state);
        let said = state.owned.sheet.as_ref().map(Sheet::next).transpose()?;
        let context = &*self.device.context;
        state.owned.exchanges.before(context, &self.device.writer, stream)?;
        // SAFETY: both are live; what nodes use is so for the replay (the caller's part of the
        // contract).
        let result = unsafe { sys::cuGraphLaunch(self.exec, stream) };
        context.check("cuGraphLaunch", result)?;
        state.owned.exchanges.behind(context, stream)?;
        Ok(said)
    }
}

// SAFETY: the driver runs nodes in the order of their edges; what the graph owns of them lives as
// long as it, and lanes hold it until a replay has ended.
unsafe impl Graph for CudaGraph {
    fn update(&self, node: usize, op: Op<'_>) -> Result<(), HalError> {
        let _calls = self.device.context.enter()?;
        let mut state = lock(&self.state);
        let most = state.most;
        let Some(operation) = state.operations.get_mut(node) else {
            return Err(HalError::unsupported("a node that the graph does not have"));
        };
        let operation = std::mem::take(operation);
        if state.owned.exchanges.wants_block(operation.other_words) {
            self.make_block(&mut state, &operation);
        }
        let before = operation.commands;
        let nodes = Nodes::new(self, Action::Exchange, &mut state, operation, (node, most));
        let done = nodes.all(&op);
        let count = nodes.count.get();
        state.operations[node] = nodes.give_back(&mut state);
        done?;
        match count == before {
            true => Ok(()),
            false => Err(other_commands(before, count)),
        }
    }

    fn set_scalars(&self, nodes: &[(usize, &[u64])]) -> Result<bool, HalError> {
        let mut state = lock(&self.state);
        let GraphState { operations, owned, .. } = &mut *state;
        let Some(block) = &mut owned.exchanges.block else { return Ok(false) };
        Ok(nodes.iter().all(|(node, scalars)| match operations.get_mut(*node) {
            Some(Operation { given, .. }) if !given.is_empty() => {
                given.iter_mut().all(|given| given.set_scalars(block, scalars))
            }
            _ => false,
        }))
    }
}

/// How many records an operation can have: one for each launch, and for each loop.
fn records(op: &Op<'_>) -> usize {
    fn within(branch: &Branch<'_>) -> usize {
        let steps = branch.bodies.iter().flatten().map(|step| match step {
            hal::BodyNode::Op(_) => 1,
            hal::BodyNode::Branch(branch) => within(branch),
        });
        1 + steps.sum::<usize>()
    }
    match op {
        Op::Branch(branch) => within(branch),
        _ => 1,
    }
}

#[cold]
fn other_commands(before: usize, now: usize) -> HalError {
    HalError::unsupported(&format!("exchanging {before} commands of the driver for {now}"))
}

impl Drop for CudaGraph {
    fn drop(&mut self) {
        let Ok(_calls) = self.device.context.enter() else { return };
        // SAFETY: ours, and no replay is under way: its lane would hold this.
        unsafe {
            if !self.exec.is_null() {
                let _ = sys::cuGraphExecDestroy(self.exec);
            }
            let _ = sys::cuGraphDestroy(self.graph);
        }
        for pieces in std::mem::take(&mut lock(&self.state).owned.kept) {
            self.device.memory.free_kept(pieces);
        }
    }
}

/// The action on nodes.
#[derive(Clone, Copy)]
enum Action<'n> {
    /// They are added, the first of each branch after these.
    Add(&'n [sys::CUgraphNode]),
    /// The nodes get other parameters, one after the other.
    Exchange,
}

/// An operation's nodes, as its commands come.
pub(crate) struct Nodes<'n> {
    pub(crate) of: &'n CudaGraph,
    /// To which they are added: the graph's own, or that of a conditional node's body.
    pub(crate) graph: sys::CUgraph,
    step: Action<'n>,
    both: RefCell<(Owned, Operation)>,
    /// The operation's number.
    number: usize,
    /// Operations of the graph.
    most: usize,
    /// Commands that have come, launches of kernels in IR among them, and pieces of memory that
    /// were asked for.
    count: Cell<usize>,
    launches: Cell<usize>,
    pieces: Cell<usize>,
    /// The last node of this branch.
    last: Cell<Option<sys::CUgraphNode>>,
}

impl<'n> Nodes<'n> {
    fn new(
        of: &'n CudaGraph,
        step: Action<'n>,
        state: &mut GraphState,
        operation: Operation,
        (number, most): (usize, usize),
    ) -> Nodes<'n> {
        let both = RefCell::new((std::mem::take(&mut state.owned), operation));
        let [count, launches, pieces] = [0; 3].map(Cell::new);
        let (graph, last) = (of.graph, Cell::new(None));
        Nodes { of, graph, step, both, number, most, count, launches, pieces, last }
    }

    /// Ends: what the graph owns goes back, and the operation is returned.
    fn give_back(self, state: &mut GraphState) -> Operation {
        let (owned, operation) = self.both.into_inner();
        state.owned = owned;
        operation
    }

    /// Adds what `add` does to the graph of a body, behind these nodes. Returns the last ones.
    pub(crate) fn within(
        &self,
        graph: sys::CUgraph,
        after: &Ids,
        add: impl FnOnce(&Nodes<'_>) -> Result<(), HalError>,
    ) -> Result<Ids, HalError> {
        let owned = std::mem::take(&mut self.both.borrow_mut().0);
        let both = RefCell::new((owned, Operation::default()));
        let ([count, launches, pieces], last) = ([0; 3].map(Cell::new), Cell::new(None));
        let (of, number, most, step) = (self.of, self.number, self.most, Action::Add(after));
        let nodes = Nodes { of, graph, step, both, number, most, count, launches, pieces, last };
        let added = add(&nodes);
        nodes.branch();
        let (owned, operation) = nodes.both.into_inner();
        self.both.borrow_mut().0 = owned;
        added.map(|()| if operation.nodes.is_empty() { after.clone() } else { operation.ends })
    }

    /// They are added, and not exchanged.
    pub(crate) fn adds(&self) -> bool {
        matches!(self.step, Action::Add(_))
    }

    /// All commands of an operation.
    pub(crate) fn all(&self, op: &Op<'_>) -> Result<(), HalError> {
        let (context, way) = (&*self.of.device.context, Way::Graph(self));
        match *op {
            Op::Copy(rects) => rects.iter().try_for_each(|rect| {
                self.branch();
                // SAFETY: the caller's part of the contract: live memory, ordered by edges.
                unsafe { copy::enqueue(context, way, None, rect) }
            }),
            Op::Fill(rects, pattern) => rects.iter().try_for_each(|rect| {
                self.branch();
                // SAFETY: as above.
                unsafe { fill::enqueue(context, way, rect, pattern) }
            }),
            Op::Launch(KernelRef::Loaded(handle), geometry, args) => {
                let to = Destination { context, memory: &self.of.device.memory, way };
                let loaded = self.of.device.kernels.get(handle)?;
                let record = |points: &_| self.record(Verdict::Points(Arc::clone(points)));
                loaded.launch(to, geometry, &args, record)
            }
            Op::Launch(KernelRef::Foreign(task), _, args) => self.capture(task, args.params),
            Op::Branch(branch) => self.condition(branch),
            Op::Join => Ok(()),
            _ => Err(HalError::unsupported(op.name())),
        }
    }

    /// The next node does not come after the last.
    fn branch(&self) {
        self.both.borrow_mut().1.ends.extend(self.last.take());
    }

    /// The address of a record, and what it says.
    pub(crate) fn record(&self, says: Verdict) -> Result<u64, HalError> {
        let (owned, operation) = &mut *self.both.borrow_mut();
        let sheet = match &owned.sheet {
            Some(sheet) => sheet,
            None => {
                let sheet = Sheet::new(self.of.device.context.clone(), self.most)?;
                owned.sheet.insert(Arc::new(sheet))
            }
        };
        let (at, address) = sheet.record(operation.record, (says, self.number))?;
        operation.record = Some(at);
        Ok(address)
    }

    /// Memory for what comes next: what the operation had before, if that is large enough.
    pub(crate) fn scratch(&self, room: [u64; 2]) -> Result<[u64; 2], HalError> {
        let (owned, operation) = &mut *self.both.borrow_mut();
        let at = self.pieces.replace(self.pieces.get() + 1);
        let had = operation.scratch.get_mut(at);
        if let Some((pieces, size)) = &had
            && size.iter().zip(room).all(|(has, wants)| *has >= wants)
        {
            return Ok(*pieces);
        }
        let pieces = self.of.device.memory.keep(room)?;
        owned.kept.push(pieces);
        match had {
            Some(had) => *had = (pieces, room),
            None => operation.scratch.push((pieces, room)),
        }
        Ok(pieces)
    }

    /// A command: a node that is added, or the next one that is there and gets other parameters.
    pub(crate) fn command(
        &self,
        call: &str,
        add: impl FnOnce(*mut sys::CUgraphNode, *const sys::CUgraphNode, usize) -> CUresult,
        exchange: impl FnOnce(sys::CUgraphNode) -> CUresult,
    ) -> Result<(), HalError> {
        let context = &*self.of.device.context;
        let operation = &mut self.both.borrow_mut().1;
        let count = self.count.get();
        self.count.set(count + 1);
        match self.step {
            Action::Add(first) => {
                let last = self.last.get();
                let after = last.as_ref().map_or(first, std::slice::from_ref);
                let mut node = null_mut();
                context.check(call, add(&raw mut node, after.as_ptr(), after.len()))?;
                operation.nodes.push(node);
                self.last.set(Some(node));
                Ok(())
            }
            Action::Exchange => {
                let before = operation.nodes.len();
                let node = operation.nodes.get(count);
                let node = *node.ok_or_else(|| other_commands(before, count + 1))?;
                context.check(call, exchange(node)).map_err(|error| match error.kind {
                    HalErrorKind::Lost => error,
                    // The driver has limits of its own here.
                    _ => HalError::unsupported(&format!("this exchange ({})", error.message)),
                })
            }
        }
    }

    /// The commands of an interop task, as one node.
    fn capture(&self, task: &dyn Foreign, params: &[Param]) -> Result<(), HalError> {
        if let Action::Exchange = self.step {
            return Err(HalError::unsupported("exchanging what an interop task has enqueued"));
        }
        let captured = Captured::of(&self.of.device.context, task, params)?;
        if captured.is_empty()? {
            return Ok(());
        }
        let graph = self.graph;
        self.command(
            "cuGraphAddChildGraphNode",
            // SAFETY: a place for the answer; nodes of this graph, which copies what was captured.
            |node, after, n| unsafe {
                sys::cuGraphAddChildGraphNode(node, graph, after, n, captured.graph)
            },
            |_| CUresult::CUDA_SUCCESS,
        )
    }

    /// A node that does nothing.
    fn nothing(&self) -> Result<(), HalError> {
        let graph = self.graph;
        self.command(
            "cuGraphAddEmptyNode",
            // SAFETY: a place for the answer; nodes of this graph.
            |node, after, n| unsafe { sys::cuGraphAddEmptyNode(node, graph, after, n) },
            |_| CUresult::CUDA_SUCCESS,
        )
    }

    /// Launches of this operation read their words from the graph's block.
    pub(crate) fn by_address(&self) -> bool {
        let (owned, operation) = &*self.both.borrow();
        !self.adds() && owned.exchanges.has_block(operation.other_words)
    }

    /// A launch of a kernel in IR. A node that is given what it has is left alone.
    ///
    /// # Safety
    /// As for [`Way::launch`].
    pub(crate) unsafe fn launch(
        &self,
        context: &Context,
        start: &Start,
        (words, rest): (&[u64], &[u64]),
        layout: Option<&Layout>,
    ) -> Result<(), HalError> {
        let in_block = layout.filter(|layout| !layout.by_value);
        let by_value = in_block.is_none();
        let place = in_block.map(|_| self.place(words)).transpose()?;
        let scalars = in_block.map(scalars_of).unwrap_or_default();
        let address = match (&place, &self.both.borrow().0.exchanges.block) {
            (Some(place), Some(block)) => block.address(place),
            _ => 0,
        };
        let (words_of, rest_of) = (words.into(), rest.into());
        let given = NodeArguments { start: *start, words: words_of, rest: rest_of, place, scalars };
        if self.has(given) {
            self.count.set(self.count.get() + 1);
            return Ok(());
        }
        let first = if by_value { words.first() } else { Some(&address) };
        let first = first.filter(|_| !words.is_empty()).map(std::ptr::from_ref);
        let mut arguments = arguments(first, rest);
        // SAFETY: the caller's promise; an address is that of the words in the block.
        unsafe { self.start(context, start, arguments.as_mut_ptr()) }
    }

    /// Where the next launch's words are in the block, which has them from the next replay on.
    fn place(&self, words: &[u64]) -> Result<Range<usize>, HalError> {
        let (owned, operation) = &mut *self.both.borrow_mut();
        let had = operation.given.get(self.launches.get()).and_then(|had| had.place.clone());
        let put = owned.exchanges.block.as_mut().and_then(|block| block.put(had, words));
        put.ok_or_else(|| HalError::unsupported("exchanging so many words"))
    }

    /// The next launch is given this. True if its node already has it, or reads what has changed.
    fn has(&self, given: NodeArguments) -> bool {
        let (owned, operation) = &mut *self.both.borrow_mut();
        let at = self.launches.replace(self.launches.get() + 1);
        let Some(had) = operation.given.get_mut(at).filter(|_| !self.adds()) else {
            operation.given.push(given);
            return false;
        };
        let other_words = had.words != given.words;
        let same_node = had.is_same_but_for_words(&given);
        let by_call = same_node && other_words && given.place.is_none();
        *had = given;
        if by_call {
            operation.other_words += 1;
            owned.exchanges.call();
        }
        same_node && !by_call
    }

    /// A launch.
    ///
    /// # Safety
    /// As for [`Way::start`].
    pub(crate) unsafe fn start(
        &self,
        context: &Context,
        start: &Start,
        arguments: *mut *mut c_void,
    ) -> Result<(), HalError> {
        let params = sys::CUDA_KERNEL_NODE_PARAMS {
            func: start.entry.0,
            gridDimX: start.blocks[0],
            gridDimY: start.blocks[1],
            gridDimZ: start.blocks[2],
            blockDimX: start.block[0],
            blockDimY: start.block[1],
            blockDimZ: start.block[2],
            sharedMemBytes: start.shared,
            kernelParams: arguments,
            extra: null_mut(),
            kern: null_mut(),
            ctx: context.raw,
        };
        let (graph, exec, params) = (self.graph, self.of.exec, &raw const params);
        self.command(
            "cuGraph..KernelNode",
            // SAFETY: the caller's promise; a place for the answer; nodes of this graph.
            |node, after, n| unsafe { sys::cuGraphAddKernelNode_v2(node, graph, after, n, params) },
            |node| {
                // SAFETY: as above; made of this graph.
                call("cuGraphExecKernelNodeSetParams", || unsafe {
                    sys::cuGraphExecKernelNodeSetParams_v2(exec, node, params)
                })
            },
        )
    }

    /// A copy.
    ///
    /// # Safety
    /// As for [`Way::copy`].
    pub(crate) unsafe fn copy(
        &self,
        context: &Context,
        copy: &sys::CUDA_MEMCPY3D,
    ) -> Result<(), HalError> {
        let (graph, exec, context) = (self.graph, self.of.exec, context.raw);
        self.command(
            "cuGraph..MemcpyNode",
            // SAFETY: the caller's promise; a place for the answer; nodes of this graph.
            |node, after, n| unsafe {
                sys::cuGraphAddMemcpyNode(node, graph, after, n, copy, context)
            },
            // SAFETY: as above; made of this graph.
            |node| unsafe { sys::cuGraphExecMemcpyNodeSetParams(exec, node, copy, context) },
        )
    }

    /// A fill.
    ///
    /// # Safety
    /// As for [`Way::set`].
    pub(crate) unsafe fn set(&self, context: &Context, set: &Set) -> Result<(), HalError> {
        let Set { at, pitch, value, size, width, rows } = *set;
        let params = sys::CUDA_MEMSET_NODE_PARAMS {
            dst: at,
            pitch,
            value,
            elementSize: size,
            width,
            height: rows,
        };
        let (graph, exec, context) = (self.graph, self.of.exec, context.raw);
        let params = &raw const params;
        self.command(
            "cuGraph..MemsetNode",
            // SAFETY: the caller's promise; a place for the answer; nodes of this graph.
            |node, after, n| unsafe {
                sys::cuGraphAddMemsetNode(node, graph, after, n, params, context)
            },
            // SAFETY: as above; made of this graph.
            |node| unsafe { sys::cuGraphExecMemsetNodeSetParams(exec, node, params, context) },
        )
    }
}
