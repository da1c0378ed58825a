//! Graphs: operations that a device is told once, and does again and again.

use super::{HalError, MemRef, Op};
use std::any::Any;
use std::fmt;

/// An operation of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The operation. A [native kernel](super::KernelRef::Native) is taken by the graph, which runs
    /// it at each replay. A closure that enqueues commands is called once, where
    /// [`Caps::captures`](super::Caps::captures) is set, and is no node elsewhere; graphs are none.
    pub op: Op<'a>,
    /// The numbers of the nodes that it comes after, each less than its own.
    pub after: &'a [usize],
}

/// How a value chooses among the bodies of a [`Branch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The first body if it is not 0; otherwise the second, if there is one.
    If,
    /// The body again and again while it is not 0.
    While {
        /// At most so many times: a loop that would go on fails.
        limit: u64,
    },
    /// The body of this number, if there is one.
    Switch,
}

/// A conditional node: lists of operations among which a value chooses when the node's turn comes.
#[derive(Clone, Debug)]
pub struct Branch<'a> {
    /// How it chooses.
    pub choice: Choice,
    /// Where the value is: an unsigned integer, aligned to its size. A loop reads it before each
    /// turn.
    pub value: MemRef,
    /// The size of the value in bytes: 1, 2, 4 or 8.
    pub bytes: usize,
    /// The number by which [`HalErrorKind::Limit`](super::HalErrorKind::Limit) names it.
    pub number: u32,
    /// The lists. The nodes of one run one after the other, and do not fail by themselves.
    pub bodies: Vec<Vec<BodyNode<'a>>>,
}

/// A node of a [`Branch`]'s body.
#[derive(Clone, Debug)]
pub enum BodyNode<'a> {
    /// An operation: a copy, a fill, a launch of the device's own code, or a join.
    Op(Op<'a>),
    /// A conditional node within it.
    Branch(Branch<'a>),
}

/// A graph of one device, made by [`Device::graph`](super::Device::graph), which lanes of that
/// device [replay](Op::Replay).
///
/// # Safety
/// Keeps the contract of the [module](super).
pub unsafe trait Graph: Any + Send + Sync {
    /// Exchanges what a node does, from the next replay on. The node stays the kind of operation
    /// that it was: scalars, memory, ranges, code may be others.
    ///
    /// An exchange that the driver cannot do is
    /// [`HalErrorKind::Unsupported`](super::HalErrorKind::Unsupported). After an error it is open
    /// what the node does: such a graph is made anew.
    fn update(&self, node: usize, op: Op<'_>) -> Result<(), HalError>;

    /// Gives launches other scalars from the next replay on, by their nodes, and leaves all else as
    /// it is. False if the backend has no shorter way for one of them than
    /// [`update`](Self::update): then it is open which have theirs, and the engine updates all.
    fn set_scalars(&self, _nodes: &[(usize, &[u64])]) -> Result<bool, HalError> {
        Ok(false)
    }
}

impl fmt::Debug for dyn Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Graph")
    }
}

impl dyn Graph {
    /// The backend's own type behind the trait object.
    pub fn downcast_ref<T: Graph>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}
