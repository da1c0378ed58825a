//! Sub-groups (semantics 11). Values go from lane to lane by shuffles of 32 bits, and are combined
//! in the order of 8.1 and 8.3, so bits do not depend on how a device would add them.
//!
//! A sub-group has as many threads as [`Capabilities`](super::Capabilities::subgroup) say, since
//! the pipeline is made so. A block is a row of threads along the device's first axis, of which
//! sub-groups are consecutive pieces: that is what devices are measured to do.

use super::writer::Writer;
use crate::ir::{Kernel, Let, Stmt, Value, walk};
use crate::op::{Combine, Fold, Op as IrOp, Query, Subgroup};
use crate::types::Scalar;
use rspirv::spirv::{Capability, Op, Scope, Word};

/// Something in a kernel depends on sub-groups.
pub fn uses_subgroups(kernel: &Kernel) -> bool {
    let mut uses = false;
    walk(&kernel.body, &mut |stmt| {
        let Stmt::Let(define) = stmt else { return };
        uses |= match define.op {
            IrOp::Subgroup(..) | IrOp::SubgroupFold(..) => true,
            IrOp::Query { query, .. } => {
                matches!(query, Query::Lane | Query::Subgroup | Query::SubgroupSize)
            }
            _ => false,
        };
    });
    uses
}

impl Writer<'_> {
    /// Computed when the function begins, of `u32`.
    fn first_u32(&mut self, op: Op, a: Word, b: Word) -> Word {
        self.first(|w| {
            let ty = w.asm.int(32);
            w.asm.of(op, ty, &[a, b])
        })
    }

    /// The thread's number in its sub-group: `u32`.
    fn lane(&mut self) -> Word {
        let (thread, mask) = (self.thread(), self.asm.u32(self.width - 1));
        self.first_u32(Op::BitwiseAnd, thread, mask)
    }

    /// How many threads its sub-group has: `u32`. The last of a group may have fewer.
    fn lane_count(&mut self) -> Word {
        let (thread, lane, width) = (self.thread(), self.lane(), self.asm.u32(self.width));
        let before = self.first_u32(Op::ISub, thread, lane);
        let threads = self.asm.threads();
        let rest = self.first_u32(Op::ISub, threads, before);
        self.first(|w| {
            let (ty, bool) = (w.asm.int(32), w.asm.bool());
            let fewer = w.asm.of(Op::ULessThan, bool, &[rest, width]);
            w.asm.of(Op::Select, ty, &[fewer, rest, width])
        })
    }

    /// A kernel's query of its sub-group.
    pub fn subgroup_query(&mut self, query: Query) -> Word {
        let number = match query {
            Query::SubgroupSize => return self.asm.u64(self.width.into()),
            Query::Lane if self.width == 1 => return self.asm.u64(0),
            Query::Lane => self.lane(),
            _ => {
                let (thread, by) = (self.thread(), self.asm.u32(self.width.trailing_zeros()));
                self.first_u32(Op::ShiftRightLogical, thread, by)
            }
        };
        self.first(|w| {
            let wide = w.asm.int(64);
            w.asm.of(Op::UConvert, wide, &[number])
        })
    }

    /// The lanes are together again, wherever their ways have led them before.
    fn meet(&mut self) -> Word {
        self.asm.needs(Capability::GroupNonUniform);
        let (scope, relaxed) = (self.asm.u32(Scope::Subgroup as u32), self.asm.u32(0));
        let operands = [scope, scope, relaxed].map(super::assembly::id);
        self.asm.act(Op::ControlBarrier, operands.to_vec());
        scope
    }

    /// The value that a lane has: it must be one of the sub-group's, or nothing is known of it.
    fn shuffled(&mut self, of: Scalar, value: Word, lane: Word) -> Word {
        let raw = match of.bits() {
            8 => Scalar::U8,
            16 => Scalar::U16,
            64 => Scalar::U64,
            _ => Scalar::U32,
        };
        let raw = if of == Scalar::Bool { Scalar::U32 } else { raw };
        let bits = match of {
            Scalar::Bool => self.cast(of, value, raw),
            _ => self.bits(of, value, raw),
        };
        let moved = if raw == Scalar::U64 {
            self.of_halves(bits, |w, high, low| {
                let (high, low) = (w.shuffled_word(high, lane), w.shuffled_word(low, lane));
                w.joined(high, low)
            })
        } else {
            let word = self.cast(raw, bits, Scalar::U32);
            let word = self.shuffled_word(word, lane);
            self.cast(Scalar::U32, word, raw)
        };
        match of {
            Scalar::Bool => self.cast(raw, moved, of),
            _ => self.bits(raw, moved, of),
        }
    }

    fn shuffled_word(&mut self, word: Word, lane: Word) -> Word {
        self.asm.needs(Capability::GroupNonUniformShuffle);
        let (scope, ty) = (self.asm.u32(Scope::Subgroup as u32), self.asm.int(32));
        self.asm.of(Op::GroupNonUniformShuffle, ty, &[scope, word, lane])
    }

    /// A lane's number modulo the width: `u32`.
    fn wrapped(&mut self, lane: Word) -> Word {
        let (ty, mask) = (self.asm.int(32), self.asm.u32(self.width - 1));
        self.asm.of(Op::BitwiseAnd, ty, &[lane, mask])
    }

    /// The value of a lane, or the own one if there is no such lane.
    fn of_lane(&mut self, of: Scalar, value: Word, lane: Word) -> Word {
        let (lanes, bool) = (self.lane_count(), self.asm.bool());
        let wrapped = self.wrapped(lane);
        let other = self.shuffled(of, value, wrapped);
        let is_there = self.asm.of(Op::ULessThan, bool, &[lane, lanes]);
        self.pick(of, [is_there, other, value])
    }

    /// An operation of a sub-group.
    pub fn subgroup(&mut self, define: &Let, op: Subgroup, args: &[Value]) {
        let Some(own) = args.first() else { return };
        let (of, value) = (self.scalar(*own), self.value(*own));
        if self.width == 1 {
            return self.is(define.value, value);
        }
        let other = args.get(1).map(|other| self.value(*other)).unwrap_or(value);
        let scope = self.meet();
        let vote = |w: &mut Self, op| {
            w.asm.needs(Capability::GroupNonUniformVote);
            let bool = w.asm.bool();
            w.asm.of(op, bool, &[scope, value])
        };
        let result = match op {
            Subgroup::Any => vote(self, Op::GroupNonUniformAny),
            Subgroup::All => vote(self, Op::GroupNonUniformAll),
            Subgroup::Broadcast => self.of_lane(of, value, other),
            Subgroup::ShuffleXor => {
                let (ty, lane) = (self.asm.int(32), self.lane());
                let lane = self.asm.of(Op::BitwiseXor, ty, &[lane, other]);
                self.of_lane(of, value, lane)
            }
        };
        self.is(define.value, result);
    }

    /// A reduction or scan of a sub-group.
    pub fn subgroup_fold(&mut self, define: &Let, fold: Fold, combine: Combine, a: Value) {
        let (of, value) = (self.scalar(a), self.value(a));
        let identity = self.asm.constant(of, combine.identity(of).unwrap_or_default());
        if self.width == 1 {
            let own = if fold == Fold::Exclusive { identity } else { value };
            return self.is(define.value, own);
        }
        self.meet();
        let result = match fold {
            Fold::Reduce => {
                let sum = self.subgroup_tree(combine, of, value);
                let zero = self.asm.u32(0);
                self.shuffled(of, sum, zero)
            }
            Fold::Inclusive => self.subgroup_scan(combine, of, value),
            Fold::Exclusive => {
                let sum = self.subgroup_scan(combine, of, value);
                let before = self.lane_ahead(of, sum, 1);
                let (lane, zero, bool) = (self.lane(), self.asm.u32(0), self.asm.bool());
                let first = self.asm.of(Op::IEqual, bool, &[lane, zero]);
                self.pick(of, [first, identity, before])
            }
        };
        self.is(define.value, result);
    }

    /// semantics 8.1: what is right in lane 0.
    fn subgroup_tree(&mut self, combine: Combine, of: Scalar, value: Word) -> Word {
        let (lane, lanes) = (self.lane(), self.lane_count());
        let (ty, bool) = (self.asm.int(32), self.asm.bool());
        let (mut sum, mut gap) = (value, self.width / 2);
        while gap > 0 {
            let by = self.asm.u32(gap);
            let other = self.asm.of(Op::IAdd, ty, &[lane, by]);
            let wrapped = self.wrapped(other);
            let behind = self.shuffled(of, sum, wrapped);
            let both = self.combine(combine, of, sum, behind);
            let first = self.asm.of(Op::ULessThan, bool, &[lane, by]);
            let is_there = self.asm.of(Op::ULessThan, bool, &[other, lanes]);
            let takes = self.asm.of(Op::LogicalAnd, bool, &[first, is_there]);
            sum = self.pick(of, [takes, both, sum]);
            gap /= 2;
        }
        sum
    }

    /// semantics 8.3: the inclusive scan.
    fn subgroup_scan(&mut self, combine: Combine, of: Scalar, value: Word) -> Word {
        let (lane, bool) = (self.lane(), self.asm.bool());
        let (mut sum, mut step) = (value, 1);
        while step < self.width {
            let before = self.lane_ahead(of, sum, step);
            let both = self.combine(combine, of, before, sum);
            let by = self.asm.u32(step);
            let late = self.asm.of(Op::UGreaterThanEqual, bool, &[lane, by]);
            sum = self.pick(of, [late, both, sum]);
            step *= 2;
        }
        sum
    }

    /// The value of the lane so many ahead, modulo the width.
    fn lane_ahead(&mut self, of: Scalar, value: Word, step: u32) -> Word {
        let (ty, lane, by) = (self.asm.int(32), self.lane(), self.asm.u32(step));
        let other = self.asm.of(Op::ISub, ty, &[lane, by]);
        let wrapped = self.wrapped(other);
        self.shuffled(of, value, wrapped)
    }
}
