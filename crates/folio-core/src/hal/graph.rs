//! Graphs: operations that a device is told once, and does again and again.

use super::{HalError, Op};
use std::any::Any;

/// One operation of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// What it does. A [native kernel](super::KernelRef::Native) is taken by the graph, which runs
    /// it at each replay. A closure that enqueues commands is called once, where
    /// [`Caps::captures`](super::Caps::captures) is set, and is no node elsewhere; graphs are none.
    pub op: Op<'a>,
    /// The numbers of the nodes that it comes after, each less than its own.
    pub after: &'a [usize],
}

/// A graph of one device, made by [`Device::graph`](super::Device::graph), which lanes of that
/// device [replay](Op::Replay).
///
/// # Safety
/// Keeps the contract of the [module](super).
pub unsafe trait Graph: Any + Send + Sync {
    /// Exchanges what a node does, from the next replay on. It stays the kind of operation that it
    /// was: scalars, memory, ranges, code may be others.
    ///
    /// What the driver does not exchange is
    /// [`HalErrorKind::Unsupported`](super::HalErrorKind::Unsupported). After an error it is open
    /// what the node does: such a graph is made anew.
    fn update(&self, node: usize, op: Op<'_>) -> Result<(), HalError>;
}

impl dyn Graph {
    /// The backend's own type behind the trait object.
    pub fn downcast_ref<T: Graph>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}
