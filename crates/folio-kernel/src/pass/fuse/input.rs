//! The input of fusion: a list of nodes, knowledge of memories, and the device's facts.
//!
//! A graph fills in these values. Nothing here refers to buffers, handles or devices.

use super::cost::Costs;
use super::scope::Wishes;
use crate::ir::{Kernel, ParamId};
use std::sync::Arc;

/// A memory, by its number in [`Graph::memories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(pub u32);

impl MemoryId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A buffer or an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Its name in reports.
    pub label: String,
    /// The memory was made in the recorded block and its last handle is gone at the end of the
    /// block, so that nothing outside of these nodes can read it, and it is zero before its first
    /// write.
    pub temporary: bool,
    /// Properties of the buffer or of the pointer.
    pub wishes: Wishes,
    /// Work outside of the graph that uses it, if there is some.
    pub elsewhere: Option<Elsewhere>,
}

/// Work outside of a graph that uses one of its memories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// The name of the first of it in reports.
    pub label: String,
    /// Some of it may run before the graph's nodes. The rest runs after them.
    pub before: bool,
}

/// The box of a memory that a view argument shows, in elements, by dimension of the kernel's view
/// with dimension 0 first. Beyond the view's rank, `shape` and `extent` are 1 and `origin` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region {
    /// Of which memory.
    pub memory: MemoryId,
    /// Extent of the whole memory.
    pub shape: [u64; 3],
    /// Where the view begins.
    pub origin: [u64; 3],
    /// Extent of the view.
    pub extent: [u64; 3],
}

impl Region {
    /// All of a memory.
    pub fn whole(memory: MemoryId, shape: [u64; 3]) -> Region {
        Region { memory, shape, origin: [0; 3], extent: shape }
    }

    /// No element is in both; both are boxes of equal elements in the same shape.
    pub(crate) fn is_apart(&self, other: &Region) -> bool {
        let before = |a: &Region, b: &Region, dim: usize| {
            a.origin[dim].saturating_add(a.extent[dim]) <= b.origin[dim]
        };
        self.shape == other.shape
            && (0..3).any(|dim| before(self, other, dim) || before(other, self, dim))
    }
}

/// An argument of a kernel's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A value.
    Scalar {
        /// Its bytes.
        bytes: Vec<u8>,
        /// The value is the same in every run of the plan. Others are neither merged nor made
        /// constants.
        fixed: bool,
    },
    /// Elements of a memory.
    View {
        /// Which.
        region: Region,
        /// Properties of this access.
        wishes: Wishes,
    },
    /// The element that a reduction replaces.
    Reduce(MemoryId),
    /// Local memory, which needs no argument.
    Local,
}

impl Argument {
    /// The memory of a view or a reduction.
    pub fn memory(&self) -> Option<MemoryId> {
        match self {
            Argument::View { region, .. } => Some(region.memory),
            Argument::Reduce(memory) => Some(*memory),
            Argument::Scalar { .. } | Argument::Local => None,
        }
    }
}

/// Over what a kernel is launched, by dimension of the kernel with dimension 0 first. Beyond the
/// kernel's rank, ranges and groups are 1 and offsets are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Items.
    pub range: [u64; 3],
    /// Position of the first item.
    pub offset: [u64; 3],
    /// Items of a group. Group kernels have it; an item kernel has it where the user named one.
    pub group: Option<[u64; 3]>,
}

impl Geometry {
    /// This many items, from position 0 on.
    pub fn over(range: [u64; 3]) -> Geometry {
        Geometry { range, offset: [0; 3], group: None }
    }
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct Call {
    /// The kernel, verified.
    pub kernel: Arc<Kernel>,
    /// Over what.
    pub geometry: Geometry,
    /// By parameter.
    pub arguments: Vec<Argument>,
    /// All of its accesses are known to be in bounds, and nothing else of it can fail.
    pub infallible: bool,
    /// The views of which the launch writes each element, by whatever items, and reads none.
    pub covers: Vec<ParamId>,
}

/// By memory: how much further on its views begin than those of another question.
type Shifts = Vec<Option<[u64; 3]>>;

impl Argument {
    /// A plan for the other argument is one for this: of views, the places relative to each other
    /// count.
    fn is_planned_as(&self, other: &Argument, shifts: &mut Shifts) -> bool {
        match (self, other) {
            (
                Argument::Scalar { bytes, fixed: false },
                Argument::Scalar { bytes: others, fixed: false },
            ) => bytes.len() == others.len(),
            (Argument::View { region, wishes }, Argument::View { region: of, wishes: others }) => {
                let is_like = (region.memory, region.shape, region.extent, wishes)
                    == (of.memory, of.shape, of.extent, others);
                let begins = |dim: usize| region.origin[dim].wrapping_sub(of.origin[dim]);
                let shift = [begins(0), begins(1), begins(2)];
                let known = shifts.get_mut(region.memory.index());
                is_like && known.is_some_and(|known| *known.get_or_insert(shift) == shift)
            }
            _ => self == other,
        }
    }
}

impl Call {
    fn is_planned_as(&self, other: &Call, shifts: &mut Shifts) -> bool {
        Arc::ptr_eq(&self.kernel, &other.kernel)
            && (self.geometry, self.infallible) == (other.geometry, other.infallible)
            && self.covers == other.covers
            && self.arguments.len() == other.arguments.len()
            && (self.arguments.iter().zip(&other.arguments))
                .all(|(a, b)| a.is_planned_as(b, shifts))
    }

    /// The elements that an argument shows.
    pub(crate) fn region(&self, param: ParamId) -> Option<&Region> {
        match self.arguments.get(param.index())? {
            Argument::View { region, .. } => Some(region),
            _ => None,
        }
    }

    /// The memories of its views and reductions.
    pub(crate) fn memories(&self) -> impl Iterator<Item = MemoryId> {
        self.arguments.iter().filter_map(Argument::memory)
    }
}

/// The kinds of nodes without IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OtherWork {
    /// A copy.
    Copy,
    /// A fill.
    Fill,
    /// A host task.
    HostTask,
    /// A call of a library.
    Library,
    /// A kernel in a form other than the IR.
    OpaqueKernel,
    /// A hint, a barrier or an empty node.
    Marker,
}

impl std::fmt::Display for OtherWork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            OtherWork::Copy => "a copy",
            OtherWork::Fill => "a fill",
            OtherWork::HostTask => "a host task",
            OtherWork::Library => "a library call",
            OtherWork::OpaqueKernel => "a kernel without IR",
            OtherWork::Marker => "a marker",
        })
    }
}

/// The work of a node.
#[derive(Clone, Debug)]
pub enum Work {
    /// Launches a kernel of which there is IR.
    Kernel(Call),
    /// Does something else with these memories.
    Other(OtherWork, Vec<MemoryId>),
}

/// A node of a graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name in reports.
    pub label: String,
    /// Its work.
    pub work: Work,
    /// The nodes that it depends on, by number, those by its data included.
    pub after: Vec<usize>,
}

impl Node {
    /// The launch, if it is one.
    pub fn call(&self) -> Option<&Call> {
        match &self.work {
            Work::Kernel(call) => Some(call),
            Work::Other(..) => None,
        }
    }

    /// The memories that it uses, some of them repeatedly.
    pub(crate) fn memories(&self) -> impl Iterator<Item = MemoryId> {
        let (call, others) = match &self.work {
            Work::Kernel(call) => (Some(call), &[][..]),
            Work::Other(_, memories) => (None, &memories[..]),
        };
        call.into_iter().flat_map(Call::memories).chain(others.iter().copied())
    }
}

/// The input: a graph without its sub-graphs, which are fused apart.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// In the order of insertion.
    pub nodes: Vec<Node>,
    /// By number.
    pub memories: Vec<Memory>,
}

impl Graph {
    /// A plan for the other graph is one for this. They differ at most in scalars that are not
    /// [fixed](Argument::Scalar::fixed), in names, and in where all views of a memory begin
    /// together.
    pub fn is_planned_as(&self, other: &Graph) -> bool {
        let mut shifts = vec![None; self.memories.len()];
        let mut work = |pair: (&Node, &Node)| match (&pair.0.work, &pair.1.work) {
            (Work::Kernel(a), Work::Kernel(b)) => a.is_planned_as(b, &mut shifts),
            (Work::Other(a, used), Work::Other(b, others)) => a == b && used == others,
            _ => false,
        };
        let is_like = |(a, b): (&Memory, &Memory)| {
            let before = |of: &Memory| of.elsewhere.as_ref().map(|work| work.before);
            (a.temporary, a.wishes, before(a)) == (b.temporary, b.wishes, before(b))
        };
        self.nodes.len() == other.nodes.len()
            && self.memories.len() == other.memories.len()
            && self.memories.iter().zip(&other.memories).all(is_like)
            && (self.nodes.iter().zip(&other.nodes))
                .all(|(a, b)| a.after == b.after && work((a, b)))
    }

    /// Reports name the nodes and memories of both alike.
    pub fn has_names_of(&self, other: &Graph) -> bool {
        let elsewhere = |of: &Memory| of.elsewhere.as_ref().map(|work| work.label.clone());
        let memories = |of: &Graph| -> Vec<_> {
            of.memories.iter().map(|memory| (memory.label.clone(), elsewhere(memory))).collect()
        };
        let nodes = self.nodes.iter().map(|node| &node.label);
        nodes.eq(other.nodes.iter().map(|node| &node.label)) && memories(self) == memories(other)
    }
}

/// By memory: who uses it. Made once for a graph, so that a question about a memory looks at its
/// users, and not at all nodes.
#[derive(Clone, Debug, Default)]
pub struct Users(Vec<UsersOfMemory>);

#[derive(Clone, Debug, Default)]
struct UsersOfMemory {
    /// In order.
    nodes: Vec<usize>,
    elsewhere_before: bool,
}

impl Users {
    /// The users of a graph's memories.
    pub fn of(graph: &Graph) -> Users {
        let of_memory = |memory: &Memory| UsersOfMemory {
            nodes: vec![],
            elsewhere_before: memory.elsewhere.as_ref().is_some_and(|work| work.before),
        };
        let mut all: Vec<UsersOfMemory> = graph.memories.iter().map(of_memory).collect();
        for (at, node) in graph.nodes.iter().enumerate() {
            for memory in node.memories() {
                let Some(users) = all.get_mut(memory.index()) else { continue };
                if users.nodes.last() != Some(&at) {
                    users.nodes.push(at);
                }
            }
        }
        Users(all)
    }

    /// Nothing that may run before these nodes, and is none of them, uses a memory: what is said of
    /// its contents at the beginning holds when these begin.
    pub fn is_unused_before(&self, memory: MemoryId, nodes: &[usize]) -> bool {
        let Some(users) = self.0.get(memory.index()) else { return true };
        let end = nodes.iter().max().map_or(0, |last| last + 1);
        let mut before = users.nodes.iter().take_while(|at| **at < end);
        !users.elsewhere_before && before.all(|at| nodes.contains(at))
    }

    /// The nodes that use a memory, in order.
    pub(crate) fn of_memory(&self, memory: MemoryId) -> &[usize] {
        self.0.get(memory.index()).map_or(&[], |users| &users.nodes)
    }

    /// The first node that uses a memory and is none of these.
    pub(crate) fn other_than(&self, memory: MemoryId, nodes: &[usize]) -> Option<usize> {
        self.0.get(memory.index())?.nodes.iter().find(|at| !nodes.contains(at)).copied()
    }
}

impl Graph {
    /// A memory's name in reports.
    pub(crate) fn memory_label(&self, memory: MemoryId) -> String {
        let known = self.memories.get(memory.index()).map(|memory| memory.label.as_str());
        known
            .filter(|label| !label.is_empty())
            .map_or(format!("memory {}", memory.0), str::to_owned)
    }

    /// A node's name in reports.
    pub(crate) fn node_label(&self, node: usize) -> String {
        let known = self.nodes.get(node).map(|node| node.label.as_str());
        known.filter(|label| !label.is_empty()).map_or(format!("node {node}"), str::to_owned)
    }
}

/// Where a device can compute a kernel within another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inlining {
    /// Nowhere.
    None,
    /// For what the other one loads.
    Loads,
    /// At loads, and at stores.
    All,
}

/// A device's facts, as far as fusion depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The device can run fused kernels.
    pub fuses: bool,
    /// Where it can compute a kernel within another one.
    pub inlines: Inlining,
    /// Bytes of local memory that a group can have.
    pub local_memory: u64,
    /// Memory parameters that a kernel can have.
    pub views: usize,
    /// Statements that a fused kernel can have: compilers take more than twice the time for twice
    /// the code.
    pub statements: usize,
    /// The device's prices.
    pub costs: Costs,
}

impl Facts {
    /// The facts of CUDA devices: 48 KiB of local memory in every kernel; 4096 bytes of arguments
    /// are more than 64 views. 4096 statements are 128 kernels of 32.
    pub const GPU: Facts = Facts {
        fuses: true,
        inlines: Inlining::All,
        local_memory: 48 << 10,
        views: 64,
        statements: 4096,
        costs: Costs::GPU,
    };
}

/// How much fusion is asked for (FUSE-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Fuse what gains: never an error.
    Enable,
    /// All kernels become one launch, or it is an error.
    Require,
}

/// How to fuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// A wish or an order.
    pub mode: Mode,
    /// Work-group barriers between fused kernels (FUSE-02).
    pub insert_barriers: bool,
    /// Fixed scalars become constants where code gets better by it: loop bounds and divisors.
    pub bake: bool,
}

impl Options {
    /// Without barriers and constants.
    pub fn new(mode: Mode) -> Options {
        Options { mode, insert_barriers: false, bake: false }
    }
}

/// Mistakes that tests plant, to see that tests find them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planted {
    /// Kernels of smaller ranges run over all items.
    pub no_guards: bool,
    /// A kernel may read what another item writes before.
    pub no_read_after_write: bool,
    /// A kernel may overwrite what another item reads before.
    pub no_write_after_read: bool,
    /// Stores are forwarded to loads of other items' elements.
    pub forwards_across_items: bool,
    /// Memories are internal that are needed afterwards.
    pub nothing_is_needed: bool,
}
