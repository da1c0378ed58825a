//! Graphs: operations that a device is told once, and does again and again.

use super::{Args, CopyRect, FillRect, Geometry, HalError, KernelHandle};
use std::any::Any;

/// What a node does, as the operation of the same name does it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum NodeOp<'a> {
    /// [`Lane::copy`](super::Lane::copy).
    Copy(&'a [CopyRect]),
    /// [`Lane::fill`](super::Lane::fill), with its pattern.
    Fill(&'a [FillRect], &'a [u8]),
    /// [`Lane::launch`](super::Lane::launch) of what the device has loaded.
    Launch(KernelHandle, &'a Geometry, &'a Args<'a>),
    /// Nothing: a place where others meet.
    Join,
}

/// One operation of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// What it does.
    pub op: NodeOp<'a>,
    /// The numbers of the nodes that it comes after, each less than its own.
    pub after: &'a [usize],
}

/// A graph of one device, made by [`Device::graph`](super::Device::graph), which lanes of that device
/// [replay](super::Lane::replay).
///
/// # Safety
/// Keeps the contract of the [module](super).
pub unsafe trait Graph: Send + Sync + 'static {
    /// Exchanges what a node does, from the next replay on. It stays the kind of operation that it was: scalars, memory,
    /// ranges, code may be others.
    ///
    /// What the driver does not exchange is [`HalErrorKind::Unsupported`](super::HalErrorKind::Unsupported). After
    /// an error it is open what the node does: such a graph is made anew.
    fn update(&self, node: usize, op: NodeOp<'_>) -> Result<(), HalError>;

    /// For backends that look for their own types behind a trait object.
    fn as_any(&self) -> &dyn Any;
}
