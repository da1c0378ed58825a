//! The operations that a lane queues.

use crate::bytes::Rect;
use crate::cost::{Costs, Verdict};
use crate::graph::Nodes;
use crate::lane::Core;
use crate::list::Plan;
use folio_core::hal::{Geometry, NativeKernel, ParamPtr, Tick};
use std::collections::VecDeque;
use std::sync::Arc;

/// Copies and fills from this size on are shared.
const WIDE_BYTES: usize = 1 << 20;
/// The cost of moving memory: 8 bytes a nanosecond, and a little for each row.
const BYTES_PER_NS: usize = 8;
const ROW_NS: usize = 8;

/// An operation. The lists that belong to it lie in rings beside the queue, which operations
/// enter and leave in order, so that an operation of any size allocates nothing once the rings
/// have grown.
pub(crate) struct Op {
    pub tick: Tick,
    /// How many foreign ticks are still to be looked at.
    pub waits: usize,
    /// When it was queued, in nanoseconds, if its times are asked for.
    pub queued: Option<u64>,
    pub work: Work,
}

pub(crate) enum Work {
    /// A kernel's launch.
    Kernel(Launch),
    /// A copy, or with a pattern a fill.
    Bytes(Bytes),
    /// All nodes of a graph, as they were when this was queued.
    Replay(Arc<Nodes>),
    /// An operation that was refused: its tick is reached.
    Nothing,
}

pub(crate) struct Launch {
    /// Where [`Costs`] keeps what is known of it.
    pub key: u64,
    pub geometry: Geometry,
    pub params: usize,
}

#[derive(Default)]
pub(crate) struct Bytes {
    pub rects: usize,
    pub pattern: usize,
    /// Bytes moved in all.
    pub bytes: usize,
    /// Contiguous runs in all.
    pub rows: usize,
}

impl Bytes {
    /// Of these rectangles.
    pub(crate) fn of(rects: &[Rect], pattern: usize) -> Bytes {
        let sum = |of: fn(&Rect) -> usize| rects.iter().map(of).sum();
        Bytes { rects: rects.len(), pattern, bytes: sum(Rect::bytes), rows: sum(Rect::rows) }
    }

    /// Whether threads share it.
    pub(crate) fn is_wide(&self) -> bool {
        self.bytes >= WIDE_BYTES
    }
}

/// Nanoseconds that moving so many bytes in so many rows is taken to cost.
pub(crate) fn bytes_ns(bytes: usize, rows: usize) -> u64 {
    (bytes / BYTES_PER_NS + rows.saturating_mul(ROW_NS)) as u64
}

impl Work {
    /// How to run it. Looks at no clock.
    #[inline(always)] // For each operation; a graph's, which is the other caller, is a large one.
    pub(crate) fn judge(&self, costs: &Costs, sample: bool) -> Verdict {
        match self {
            Work::Kernel(launch) => costs.judge(launch.key, launch.geometry.items(), sample),
            Work::Bytes(b) => Verdict::of_ns(bytes_ns(b.bytes, b.rows)),
            Work::Replay(nodes) => nodes.judge(costs, sample),
            Work::Nothing => Verdict::of_ns(0),
        }
    }
}

/// A foreign tick that an operation waits for.
pub(crate) struct WaitFor {
    pub lane: Arc<Core>,
    pub tick: Tick,
}

/// The operations of a lane that nobody has started, with what belongs to them.
#[derive(Default)]
pub(crate) struct Ops {
    pub queue: VecDeque<Op>,
    pub waits: VecDeque<WaitFor>,
    pub kernels: VecDeque<NativeKernel>,
    pub params: VecDeque<ParamPtr>,
    pub rects: VecDeque<Rect>,
    pub patterns: VecDeque<u8>,
}

/// The kernel, parameters and memory of an operation.
#[derive(Default)]
pub(crate) struct Operands {
    pub kernel: Option<NativeKernel>,
    pub params: Vec<ParamPtr>,
    pub rects: Vec<Rect>,
    pub pattern: Vec<u8>,
}

impl Operands {
    /// Into how many pieces its rectangles fall.
    pub(crate) fn pieces(&self) -> usize {
        self.rects.iter().map(|rect| rect.pieces(self.pattern.len())).sum()
    }

    /// Copies or fills one of the pieces.
    ///
    /// # Safety
    /// The rectangles lie in live memory and do not overlap. No other code uses the piece's memory
    /// meanwhile.
    pub(crate) unsafe fn run_piece(&self, mut index: usize) {
        for rect in &self.rects {
            let pieces = rect.pieces(self.pattern.len());
            if index < pieces {
                // SAFETY: the caller's promise.
                return unsafe { rect.run(&self.pattern, Some(index)) };
            }
            index -= pieces;
        }
    }
}

/// The operation that is running, and what belongs to it. Whoever drives the lane has it.
#[derive(Default)]
pub(crate) struct Scratch {
    pub op: Option<Op>,
    pub operands: Operands,
    pub plan: Plan,
    pub samples: Samples,
}

/// Decides which runs are measured.
#[derive(Default)]
pub(crate) struct Samples(u64);

impl Samples {
    /// True once in 256 calls or so. Not regular: of kernels that take turns, each is measured.
    pub(crate) fn next(&mut self) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 56 == 0x5a
    }
}

fn take<T>(from: &mut VecDeque<T>, n: usize, to: &mut Vec<T>) {
    to.clear();
    to.reserve(n);
    for _ in 0..n {
        to.extend(from.pop_front());
    }
}

impl Ops {
    /// With nothing queued: lets the next operation use the start of the rings, which is likely to
    /// be in the cache, however long they have grown.
    pub(crate) fn rewind(&mut self) {
        self.queue.clear();
        self.kernels.clear();
        self.params.clear();
    }

    /// Moves the first operation, and what belongs to it, into `scratch`, which holds none.
    pub(crate) fn pop(&mut self, scratch: &mut Scratch) {
        scratch.op = self.queue.pop_front();
        let operands = &mut scratch.operands;
        match scratch.op.as_ref().map(|op| &op.work) {
            None | Some(Work::Nothing | Work::Replay(_)) => {}
            Some(Work::Kernel(launch)) => {
                operands.kernel = self.kernels.pop_front();
                take(&mut self.params, launch.params, &mut operands.params);
            }
            Some(Work::Bytes(bytes)) => {
                take(&mut self.rects, bytes.rects, &mut operands.rects);
                take(&mut self.patterns, bytes.pattern, &mut operands.pattern);
            }
        }
    }
}
