//! Graphs below a layer. The work of their nodes is noted, so that hooks see what a replay does.

use crate::layer::{DeviceRef, Hooks};
use folio_core::hal::{
    BodyNode, CopyRect, FillRect, Geometry, Graph, HalError, Hint, KernelHandle, KernelRef, MemRef,
    Node, Op, Param, Side,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A graph below a layer.
pub struct GraphRef {
    /// Its device.
    pub device: Arc<DeviceRef>,
    /// The graph itself.
    pub inner: Arc<dyn Graph>,
}

/// The code of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launched {
    /// Code of the host.
    Native,
    /// A kernel that the device has loaded.
    Loaded(KernelHandle),
    /// A task that enqueues commands of the driver's own.
    Foreign,
}

impl Launched {
    pub(crate) fn of(kernel: KernelRef<'_>) -> Launched {
        match kernel {
            KernelRef::Native(_) => Launched::Native,
            KernelRef::Loaded(handle) => Launched::Loaded(handle),
            KernelRef::Foreign(_) => Launched::Foreign,
        }
    }
}

/// The work of an operation, or of a graph's node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noted {
    /// [`Op::Copy`].
    Copy(Vec<CopyRect>),
    /// [`Op::Fill`].
    Fill(Vec<FillRect>, Vec<u8>),
    /// [`Op::Launch`], with its memory.
    Launch(Launched, Geometry, Vec<Param>),
    /// [`Op::Hint`].
    Hint(MemRef, u64, Hint),
    /// [`Op::Switch`].
    Switch(MemRef, u64, Side),
    /// [`Op::Replay`]: the work of the nodes.
    Replay(Vec<Noted>),
    /// [`Op::Branch`]: where its value is, the bytes of that, and what all bodies may do.
    Branch(MemRef, u64, Vec<Noted>),
    /// [`Op::Join`].
    Join,
}

impl Noted {
    /// Of a replay, the work is that of these nodes.
    pub(crate) fn of(op: Op<'_>, nodes: &[NodeRef]) -> Noted {
        match op {
            Op::Copy(rects) => Noted::Copy(rects.to_vec()),
            Op::Fill(rects, pattern) => Noted::Fill(rects.to_vec(), pattern.to_vec()),
            Op::Launch(kernel, geometry, args) => {
                Noted::Launch(Launched::of(kernel), *geometry, args.params.to_vec())
            }
            Op::Hint(mem, bytes, hint) => Noted::Hint(mem, bytes, hint),
            Op::Switch(mem, bytes, to) => Noted::Switch(mem, bytes, to),
            Op::Replay(_) => Noted::Replay(nodes.iter().map(|node| node.does.clone()).collect()),
            Op::Branch(branch) => {
                let step = |step: &BodyNode<'_>| match step {
                    BodyNode::Op(op) => Noted::of(*op, &[]),
                    BodyNode::Branch(branch) => Noted::of(Op::Branch(branch), &[]),
                };
                let steps = branch.bodies.iter().flatten().map(step).collect();
                Noted::Branch(branch.value, branch.bytes as u64, steps)
            }
            Op::Join => Noted::Join,
        }
    }
}

/// A node of a graph below a layer.
#[derive(Clone, Debug)]
pub struct NodeRef {
    /// The node's work.
    pub does: Noted,
    /// The numbers of the nodes that it comes after.
    pub after: Vec<usize>,
    /// The numbers of all nodes that have ended when it begins, as bits.
    ended: Vec<u64>,
}

impl NodeRef {
    /// Nodes as they are given, each of which knows those before it.
    fn all(nodes: &[Node<'_>]) -> Vec<NodeRef> {
        let mut all: Vec<NodeRef> = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.iter().enumerate() {
            let mut ended = vec![0; at.div_ceil(64)];
            for before in node.after.iter().filter_map(|before| Some((*before, all.get(*before)?)))
            {
                ended[before.0 / 64] |= 1 << (before.0 % 64);
                ended.iter_mut().zip(&before.1.ended).for_each(|(all, its)| *all |= its);
            }
            all.push(NodeRef { does: Noted::of(node.op, &[]), after: node.after.to_vec(), ended });
        }
        all
    }

    /// True if that node has ended when this one begins, because it says so or others in between
    /// do.
    pub fn comes_after(&self, other: usize) -> bool {
        self.ended.get(other / 64).is_some_and(|bits| bits >> (other % 64) & 1 == 1)
    }
}

/// A graph of a layer.
pub(crate) struct LayerGraph<H> {
    hooks: Arc<H>,
    pub(crate) graph: GraphRef,
    nodes: Mutex<Vec<NodeRef>>,
}

impl<H: Hooks> LayerGraph<H> {
    pub(crate) fn new(
        hooks: Arc<H>,
        device: Arc<DeviceRef>,
        nodes: &[Node<'_>],
    ) -> Result<LayerGraph<H>, HalError> {
        let inner = hooks.graph(&device, nodes)?;
        let nodes = Mutex::new(NodeRef::all(nodes));
        Ok(LayerGraph { hooks, graph: GraphRef { device, inner }, nodes })
    }

    /// The graph's nodes; no thread exchanges them meanwhile.
    pub(crate) fn nodes(&self) -> MutexGuard<'_, Vec<NodeRef>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: as for `Layer`.
unsafe impl<H: Hooks> Graph for LayerGraph<H> {
    fn update(&self, node: usize, op: Op<'_>) -> Result<(), HalError> {
        let mut nodes = self.nodes();
        self.hooks.update(&self.graph, node, op)?;
        if let Some(noted) = nodes.get_mut(node) {
            noted.does = Noted::of(op, &[]);
        }
        Ok(())
    }
}
