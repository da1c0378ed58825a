//! Graphs: lists of operations that a lane runs as one of its own.
//!
//! The nodes run in their order (see `list`). A replay takes the lane's lock once, looks at no
//! edge, and allocates nothing. A replay does what the graph did when it was queued: an update
//! makes another list.

use crate::bytes::Rect;
use crate::cost::{Costs, TINY_NS, Verdict};
use crate::driver::discard;
use crate::lock;
use crate::op::{Bytes, Launch, Operands, Work};
use crate::trial::Trial;
use folio_core::hal::{Args, Geometry, Graph, HalError, HalErrorKind, KernelRef, Node, Op};
use std::ops::Deref;
use std::sync::{Arc, Mutex};

/// An operation of a graph, and what belongs to it.
pub(crate) struct Prepared {
    pub work: Work,
    pub operands: Operands,
}

impl Prepared {
    /// Its blocks run from here on.
    pub(crate) fn begin(&self) {
        if let Some(kernel) = &self.operands.kernel {
            kernel.begin();
        }
    }
}

/// The operations of a graph, in order.
#[derive(Clone)]
pub(crate) struct Nodes {
    all: Vec<Arc<Prepared>>,
    /// Where groups end: of nodes that follow each other, and depend on none of each other.
    ends: Arc<[usize]>,
    /// By times of all of them, whose kernels an update may change.
    pub trial: Arc<Trial>,
}

impl Deref for Nodes {
    type Target = [Arc<Prepared>];

    fn deref(&self) -> &[Arc<Prepared>] {
        &self.all
    }
}

impl Nodes {
    fn new(all: Vec<Arc<Prepared>>, edges: &[Node<'_>]) -> Nodes {
        Nodes { all, ends: ends(edges).into(), trial: Arc::default() }
    }

    /// The number behind the last node of this one's group.
    pub(crate) fn end_of_group(&self, node: usize) -> usize {
        self.ends.get(node).copied().unwrap_or(self.all.len())
    }

    /// How to run all of them: on the thread that submits, if they are known to be tiny together,
    /// or no longer than so many of them by themselves, which run there, too.
    pub(crate) fn judge(&self, costs: &Costs, sample: bool) -> Verdict {
        let mut sum: u64 = 0;
        for node in &self.all {
            match node.work.judge(costs, false) {
                Verdict { tiny: true, ns: Some(ns), .. } => sum = sum.saturating_add(ns),
                long => return Verdict { tiny: false, measure: false, ns: long.ns, tried: None },
            }
        }
        let tiny = sum <= self.most();
        Verdict { tiny, measure: sample && tiny, ns: Some(sum), tried: None }
    }

    /// Nanoseconds of a graph that does not take long: as two tiny operations at most, or what so
    /// many cost by themselves.
    fn most(&self) -> u64 {
        (2 * TINY_NS).max(ALONE_NS * self.all.len() as u64)
    }
}

/// The least time of a tiny operation by itself, beside its work.
const ALONE_NS: u64 = 400;

/// A graph of this backend.
pub(crate) struct CpuGraph {
    nodes: Mutex<Arc<Nodes>>,
}

impl CpuGraph {
    pub(crate) fn new(nodes: &[Node<'_>]) -> Result<CpuGraph, HalError> {
        // Kernels are taken only where all can be had.
        nodes.iter().try_for_each(|node| check(&node.op))?;
        let prepared = nodes.iter().map(|node| prepare(node.op).map(Arc::new));
        let nodes = Nodes::new(prepared.collect::<Result<_, _>>()?, nodes);
        Ok(CpuGraph { nodes: Mutex::new(Arc::new(nodes)) })
    }

    /// The current nodes.
    pub(crate) fn nodes(&self) -> Arc<Nodes> {
        lock(&self.nodes).clone()
    }
}

// SAFETY: a replay is one operation of a lane, which keeps the contract (see `lane`); its list is
// not changed by updates.
unsafe impl Graph for CpuGraph {
    fn update(&self, node: usize, op: Op<'_>) -> Result<(), HalError> {
        check(&op)?;
        let new = Arc::new(prepare(op)?);
        let mut held = lock(&self.nodes);
        let nodes = Arc::make_mut(&mut *held);
        let old = match nodes.all.get_mut(node) {
            Some(at) => std::mem::replace(at, new),
            None => new,
        };
        let is_there = node < nodes.all.len();
        drop(held);
        // Its closure is the user's.
        discard(old);
        if is_there { Ok(()) } else { Err(HalError::unsupported("a node that is not there")) }
    }
}

impl Drop for CpuGraph {
    /// Closures are the user's.
    fn drop(&mut self) {
        let nothing = Arc::new(Nodes::new(Vec::new(), &[]));
        discard(std::mem::replace(&mut *lock(&self.nodes), nothing));
    }
}

/// By node: the number behind the last one of its group.
fn ends(nodes: &[Node<'_>]) -> Vec<usize> {
    let (mut ends, mut first) = (vec![nodes.len(); nodes.len()], 0);
    for (at, node) in nodes.iter().enumerate() {
        if node.after.iter().any(|before| *before >= first) {
            ends[first..at].fill(at);
            first = at;
        }
    }
    ends
}

fn check(op: &Op<'_>) -> Result<(), HalError> {
    match op {
        Op::Copy(_) | Op::Fill(..) | Op::Join | Op::Launch(KernelRef::Native(_), ..) => Ok(()),
        _ => Err(HalError::unsupported(op.name())),
    }
}

fn prepare(op: Op<'_>) -> Result<Prepared, HalError> {
    match op {
        Op::Copy(rects) => Ok(rectangles(rects.iter().map(Rect::copy), &[])),
        Op::Fill(_, []) => Err(HalError::new(HalErrorKind::Driver, "a fill needs a pattern")),
        Op::Fill(rects, pattern) => Ok(rectangles(rects.iter().map(Rect::fill), pattern)),
        Op::Launch(KernelRef::Native(given), geometry, args) => {
            let none = || HalError::new(HalErrorKind::Driver, "no kernel");
            let kernel = given.take().ok_or_else(none)?.shared();
            Ok(launch(kernel, geometry, &args))
        }
        Op::Join => Ok(Prepared { work: Work::Nothing, operands: Operands::default() }),
        _ => Err(HalError::unsupported(op.name())),
    }
}

fn rectangles(rects: impl Iterator<Item = Rect>, pattern: &[u8]) -> Prepared {
    let (rects, pattern): (Vec<Rect>, _) = (rects.collect(), pattern.to_vec());
    let work = Work::Bytes(Bytes::of(&rects, pattern.len()));
    Prepared { work, operands: Operands { rects, pattern, ..Operands::default() } }
}

fn launch(kernel: folio_core::hal::NativeKernel, geometry: &Geometry, args: &Args<'_>) -> Prepared {
    let at = |param: &folio_core::hal::Param| param.at(crate::memory::resolve(&param.mem).0);
    let params: Vec<_> = args.params.iter().map(at).collect();
    let key = Costs::key(kernel.id());
    let work = Work::Kernel(Launch { key, geometry: *geometry, params: params.len() });
    Prepared { work, operands: Operands { kernel: Some(kernel), params, ..Operands::default() } }
}
