//! Graphs: lists of operations, done one after the other as one of a lane.

use crate::ir::IrKernel;
use crate::work::{Branched, Code, Launch, Work, drop_contained};
use folio_core::hal::{BodyNode, Branch, Graph, HalError, KernelHandle, KernelRef, Node, Op};
use std::sync::{Arc, Mutex, PoisonError};

/// Finds a loaded kernel.
type Find = dyn Fn(KernelHandle) -> Result<Arc<dyn IrKernel>, HalError> + Send + Sync;

/// A graph of a simulated device.
pub(crate) struct SimGraph {
    closures: bool,
    find: Box<Find>,
    nodes: Mutex<Vec<Work>>,
}

impl SimGraph {
    pub(crate) fn new(
        nodes: &[Node<'_>],
        closures: bool,
        find: Box<Find>,
    ) -> Result<SimGraph, HalError> {
        // Kernels are taken only where all can be had.
        nodes.iter().try_for_each(|node| check_node(&node.op, closures))?;
        let works = nodes.iter().map(|node| work(node.op, &find)).collect::<Result<_, _>>()?;
        Ok(SimGraph { closures, find, nodes: Mutex::new(works) })
    }

    /// The work of a replay that is issued now.
    pub(crate) fn replay(&self) -> Work {
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        Work::Replay(nodes.clone())
    }
}

// SAFETY: a replay has copies of the nodes, so that updates concern later ones; the rest is the
// lane's.
unsafe impl Graph for SimGraph {
    fn update(&self, node: usize, op: Op<'_>) -> Result<(), HalError> {
        check(&op, self.closures)?;
        let new = work(op, &self.find)?;
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = nodes.get_mut(node) else {
            return Err(HalError::unsupported("a node that is not there"));
        };
        let old = std::mem::replace(at, new);
        drop(nodes);
        drop_contained(old)
    }

    fn set_scalars(&self, all: &[(usize, &[u64])]) -> Result<bool, HalError> {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(all.iter().all(|(node, scalars)| {
            let Some(Work::Launch(launch)) = nodes.get_mut(*node) else { return false };
            let new = launch.with_scalars(scalars).map(Arc::new);
            new.map(|new| *launch = new).is_some()
        }))
    }
}

impl Drop for SimGraph {
    /// Closures are the user's.
    fn drop(&mut self) {
        let nodes = self.nodes.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = drop_contained(std::mem::take(nodes));
    }
}

/// Conditional nodes are made with their graph, and not exchanged.
fn check_node(op: &Op<'_>, closures: bool) -> Result<(), HalError> {
    let Op::Branch(branch) = op else { return check(op, closures) };
    branch.bodies.iter().flatten().try_for_each(|step| match step {
        BodyNode::Op(op) => check(op, closures),
        BodyNode::Branch(branch) => check_node(&Op::Branch(branch), closures),
    })
}

fn check(op: &Op<'_>, closures: bool) -> Result<(), HalError> {
    match op {
        Op::Copy(_) | Op::Fill(..) | Op::Join | Op::Launch(KernelRef::Loaded(_), ..) => Ok(()),
        Op::Launch(KernelRef::Native(_), ..) if closures => Ok(()),
        _ => Err(HalError::unsupported(op.name())),
    }
}

fn work(op: Op<'_>, find: &Find) -> Result<Work, HalError> {
    Ok(match op {
        Op::Launch(kernel, geometry, args) => {
            let code = match kernel {
                KernelRef::Loaded(handle) => Code::Ir(find(handle)?, args.blob.into(), args.proved),
                KernelRef::Native(given) => {
                    let none = || HalError::unsupported("a launch of nothing");
                    Code::Native(given.take().ok_or_else(none)?)
                }
                KernelRef::Foreign(_) => return Err(HalError::unsupported("an interop task")),
            };
            let params = args.params.to_vec();
            Work::Launch(Arc::new(Launch { code, geometry: *geometry, params }))
        }
        Op::Branch(branch) => Work::Branch(branched(branch, find)?),
        _ => Work::plain(op).ok_or_else(|| HalError::unsupported(op.name()))?,
    })
}

fn branched(branch: &Branch<'_>, find: &Find) -> Result<Branched<Work>, HalError> {
    let step = |step: &BodyNode<'_>| match step {
        BodyNode::Op(op) => work(*op, find),
        BodyNode::Branch(branch) => Ok(Work::Branch(branched(branch, find)?)),
    };
    let bodies = branch.bodies.iter().map(|body| body.iter().map(step).collect());
    let bodies = bodies.collect::<Result<_, _>>()?;
    let Branch { choice, value, bytes, number, .. } = *branch;
    Ok(Branched { choice, value, bytes, number, bodies })
}
