//! Nodes of graphs: what they are called by, and what they are.

use crate::error::{Error, Result};
use std::fmt;

/// The result of a closure that describes a node: `()`, or a `Result`.
pub trait NodeResult {
    #[doc(hidden)]
    fn into_result(self) -> Result<()>;
}

impl NodeResult for () {
    fn into_result(self) -> Result<()> {
        Ok(())
    }
}

impl<R> NodeResult for Result<R, Error> {
    fn into_result(self) -> Result<()> {
        self.map(drop)
    }
}

/// A node of a [`Graph`](crate::Graph), and of what is made of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Node {
    pub(super) graph: u64,
    pub(super) at: u32,
}

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum NodeKind {
    /// Only a point in the order.
    Empty,
    /// A barrier of a recorded queue.
    Barrier,
    /// A kernel.
    Kernel,
    /// A copy.
    Copy,
    /// A fill.
    Fill,
    /// A hint about USM: a prefetch, or advice.
    Hint,
    /// Brings data of a buffer somewhere.
    Prefetch,
    /// A host task.
    HostTask,
    /// A task that calls a driver, or a library over it.
    Interop,
    /// All of another graph.
    Graph,
    /// A choice of two graphs, or none.
    If,
    /// A graph again and again.
    While,
    /// A choice of several graphs.
    Switch,
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NodeKind::Empty => "empty node",
            NodeKind::Barrier => "barrier",
            NodeKind::Kernel => "kernel",
            NodeKind::Copy => "copy",
            NodeKind::Fill => "fill",
            NodeKind::Hint => "hint",
            NodeKind::Prefetch => "prefetch",
            NodeKind::HostTask => "host task",
            NodeKind::Interop => "interop task",
            NodeKind::Graph => "graph",
            NodeKind::If => "if",
            NodeKind::While => "while",
            NodeKind::Switch => "switch",
        })
    }
}
