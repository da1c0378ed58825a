//! Why something is not fused, or not internalised: values that print as sentences.

use super::cost::Balance;
use super::input::OtherWork;
use super::scope::AccessScope;
use crate::fault::VerifyError;
use std::fmt;

/// A property of an access contradicts its buffer's (FUSE-05).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an access of {access} scope to a buffer of {buffer} scope")]
pub struct Incompatible {
    /// The access's.
    pub access: AccessScope,
    /// The buffer's.
    pub buffer: AccessScope,
}

/// The access of which that is true.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{node}`, `{memory}`: {why}")]
pub struct Contradiction {
    /// The node of the access.
    pub node: String,
    /// The memory.
    pub memory: String,
    /// How.
    pub why: Incompatible,
}

/// Which of two accesses to one element comes first, and what each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hazard {
    /// The first kernel writes, the second one reads.
    ReadAfterWrite,
    /// The first kernel reads, the second one writes.
    WriteAfterRead,
    /// Both write.
    WriteAfterWrite,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Hazard::ReadAfterWrite => "the second reads what the first writes",
            Hazard::WriteAfterRead => "the second overwrites what the first reads",
            Hazard::WriteAfterWrite => "both write",
        })
    }
}

/// Two accesses that are not at one item's element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elements {
    /// One item accesses what is another item's: the distance by dimension, where it is fixed.
    Neighbour([i64; 3]),
    /// Both indices are sums of positions, but not the same ones, or not one element for each item.
    Different,
    /// An index depends on data, or on more than sums of positions.
    Unknown,
}

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elements::Neighbour(by) => {
                let last = by.iter().rposition(|n| *n != 0).map_or(1, |at| at + 1);
                let by: Vec<_> = by[..last].iter().map(|n| format!("{n:+}")).collect();
                write!(f, "at an item's neighbour ({})", by.join(", "))
            }
            Elements::Different => f.write_str("at elements that differ between them"),
            Elements::Unknown => f.write_str("at elements that are not known"),
        }
    }
}

/// Why two kernels, or a kernel and a cluster, do not share a launch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A node is no kernel of which there is IR.
    #[error("`{node}` is {what}")]
    NoIr {
        /// The node.
        node: String,
        /// Its kind.
        what: OtherWork,
    },
    /// A node that cannot be fused has to run after one of the kernels and before another.
    #[error("`{node}`, which is {what}, has to run between them")]
    Between {
        /// The node.
        node: String,
        /// Its kind.
        what: Between,
    },
    /// Their items differ.
    #[error(transparent)]
    Shapes(Shapes),
    /// A property of one of them contradicts its memory's.
    #[error(transparent)]
    Scopes(Contradiction),
    /// Both use one memory so that their order across items matters.
    #[error("`{memory}`: {why}")]
    Memory {
        /// The memory.
        memory: String,
        /// How.
        why: Sharing,
    },
    /// The launch would need more than there is.
    #[error(transparent)]
    Shortage(Shortage),
    /// The cost model says that one launch takes as long as several, or longer.
    #[error("no gain: {0}")]
    NoGain(Box<Balance>),
    /// They were not compared, since nothing connects them.
    #[error("they share no memory")]
    Unrelated,
    /// A call's arguments do not fit its kernel: the graph was filled in wrongly.
    #[error("the arguments of `{node}` do not fit its kernel")]
    Arguments {
        /// The node.
        node: String,
    },
    /// The fused kernel is not well formed. This is a mistake of fusion.
    #[error("fused, it is not well formed: {0}")]
    NotWellFormed(Box<VerifyError>),
}

impl Reason {
    /// The launch has as much as it can have.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self, Reason::Shortage(_))
    }
}

/// How the items of two kernels differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Shapes {
    /// The kernels differ in rank.
    #[error("one is launched over {first} dimensions, the other over {second}")]
    Rank {
        /// Of the first.
        first: u8,
        /// Of the second.
        second: u8,
    },
    /// The first items differ in position.
    #[error("one begins at {first:?}, the other at {second:?}")]
    Offset {
        /// Of the first.
        first: [u64; 3],
        /// Of the second.
        second: [u64; 3],
    },
    /// The groups differ in size.
    #[error("one has groups of {first:?}, the other of {second:?}")]
    Group {
        /// Of the first.
        first: [u64; 3],
        /// Of the second.
        second: [u64; 3],
    },
    /// A kernel whose range differs cannot be guarded.
    #[error("ranges of {first:?} and {second:?}, and `{kernel}` cannot be guarded: it has {has}")]
    Range {
        /// Of the first.
        first: [u64; 3],
        /// Of the second.
        second: [u64; 3],
        /// The kernel that cannot run over a part of the items.
        kernel: String,
        /// The statement that prevents it.
        has: &'static str,
    },
    /// Neither range holds the other.
    #[error("neither of the ranges {first:?} and {second:?} holds the other")]
    Ranges {
        /// Of the first.
        first: [u64; 3],
        /// Of the second.
        second: [u64; 3],
    },
    /// The fixed tree of a reduction over items would become one over groups.
    #[error("`{kernel}` reduces over items, which it cannot do in the same bits with groups")]
    Tree {
        /// The kernel that reduces.
        kernel: String,
    },
}

/// How two kernels use one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Sharing {
    /// Two kernels access one memory so that their order across items matters.
    #[error("{hazard}, {elements}")]
    Conflict {
        /// The accesses, in their order.
        hazard: Hazard,
        /// Where.
        elements: Elements,
    },
    /// As before, but a barrier within the group is enough.
    #[error("{hazard}, in one group; `insert_barriers` makes that right")]
    Barrier {
        /// The accesses, in their order.
        hazard: Hazard,
    },
    /// One of the kernels uses atomic operations on a memory that the other one uses.
    #[error("atomic operations of one, and accesses of the other")]
    Atomics,
    /// Different parts of a memory, or the same part as other elements, which may overlap.
    #[error("{hazard}, by views that may overlap")]
    Views {
        /// The accesses, in their order.
        hazard: Hazard,
    },
    /// The result of a reduction is complete only when the launch ends.
    #[error("the result of a reduction, which the other kernel uses")]
    Result,
}

/// What a launch can have no more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Shortage {
    /// More views than a kernel of this device can have.
    #[error("{needed} views, and a kernel can have {available}")]
    Views {
        /// How many.
        needed: usize,
        /// How many there may be.
        available: usize,
    },
    /// More local memory than there is.
    #[error("{needed} bytes of local memory, and a group can have {available}")]
    LocalMemory {
        /// Bytes.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
    /// More statements than a fused kernel should have.
    #[error("{needed} statements, and a fused kernel has {most} at most")]
    Statements {
        /// How many.
        needed: usize,
        /// How many there may be.
        most: usize,
    },
}

/// Work between two kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Between {
    /// Work of which there is no IR.
    Other(OtherWork),
    /// A kernel of another cluster.
    Kernel,
}

impl fmt::Display for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Between::Other(what) => what.fmt(f),
            Between::Kernel => f.write_str("a kernel of another launch"),
        }
    }
}

/// Why a memory that a cluster uses stays in memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// It is not a temporary, and no property says that its contents are not needed afterwards.
    #[error("its contents are needed afterwards")]
    Needed,
    /// Another node uses it.
    #[error("`{node}` uses it, too")]
    UsedBy {
        /// The node.
        node: String,
    },
    /// Properties of its accesses differ, or some have none.
    #[error("its accesses have different access scopes")]
    Scopes,
    /// Accesses by different views.
    #[error("its accesses differ in range, offset, dimensions or type")]
    Views,
    /// An item accesses several elements of it, or different kernels access different ones.
    #[error("it is not shown that each element is accessed by one work-item or group")]
    NotShown,
    /// Atomic operations.
    #[error("it is accessed by atomic operations")]
    Atomic,
    /// An access may be out of bounds, which only a view of memory can say.
    #[error("an access of it may be out of bounds")]
    Bounds,
    /// Local memory is too small.
    #[error("it needs {needed} bytes of local memory, of which {available} are left")]
    LocalMemory {
        /// Bytes.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
    /// Contents from before are needed in local memory, and they are not those of the items.
    #[error("its earlier contents are needed")]
    Contents,
}

/// A property that the analysis has shown to be wrong (FUSE-11).
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("`{memory}` has {scope} scope, but `{kernel}` accesses it {elements}")]
pub struct Refutation {
    /// The memory.
    pub memory: String,
    /// The scope that the property says.
    pub scope: AccessScope,
    /// The kernel that accesses it otherwise.
    pub kernel: String,
    /// How.
    pub elements: Elements,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FuseError {
    /// The device cannot fuse: `FeatureNotSupported`.
    #[error("the device does not fuse kernels")]
    Device,
    /// All kernels should be one launch, and cannot: `KernelNotSupported`.
    #[error("`{first}` and `{second}` cannot be one launch: {reason}")]
    Kernels {
        /// A kernel.
        first: String,
        /// Another one.
        second: String,
        /// Why.
        reason: Box<Reason>,
    },
    /// Properties contradict each other: `Invalid`, under `Require` only.
    #[error(transparent)]
    Scopes(Contradiction),
    /// A property is wrong: `Invalid`, under `Require` only.
    #[error(transparent)]
    Refuted(Refutation),
    /// Nodes depend on each other in a circle, or on nodes that are not there.
    #[error("`{node}` depends on itself or on a node that is not there")]
    Order {
        /// A node.
        node: String,
    },
}
