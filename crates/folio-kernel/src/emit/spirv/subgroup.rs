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
            let alone = self.asm.u32(1 << 8);
            let own = if op == Subgroup::Match { alone } else { value };
            return self.is(define.value, own);
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
            Subgroup::Match => self.matched(of, value),
        };
        self.is(define.value, result);
    }

    /// An operation on numbers of 32 bits.
    fn word_of(&mut self, op: Op, values: &[Word]) -> Word {
        let ty = self.asm.int(32);
        self.asm.of(op, ty, values)
    }

    /// The lanes for which a condition holds, in words of 32 lanes.
    fn ballot(&mut self, condition: Word) -> Vec<Word> {
        self.asm.needs(Capability::GroupNonUniformBallot);
        let (scope, word) = (self.asm.u32(Scope::Subgroup as u32), self.asm.int(32));
        let four = [super::assembly::id(word), super::assembly::literal(4)];
        let four = self.asm.global(Op::TypeVector, None, four.to_vec());
        let votes = self.asm.of(Op::GroupNonUniformBallot, four, &[scope, condition]);
        let part = |w: &mut Self, at| {
            let at = super::assembly::literal(at);
            w.asm.op(Op::CompositeExtract, word, vec![super::assembly::id(votes), at])
        };
        (0..self.width.div_ceil(32)).map(|at| part(self, at)).collect()
    }

    /// The bits of a value in words of 32.
    fn words_of(&mut self, of: Scalar, value: Word) -> Vec<Word> {
        match (of, of.bits()) {
            (Scalar::Bool, _) => vec![self.cast(of, value, Scalar::U32)],
            (_, 64) => {
                let bits = self.bits(of, value, Scalar::U64);
                let up = self.asm.u32(32);
                let high = self.same(Op::ShiftRightLogical, Scalar::U64, &[bits, up]);
                [bits, high].map(|half| self.cast(Scalar::U64, half, Scalar::U32)).to_vec()
            }
            (_, width) => {
                let raw = match width {
                    8 => Scalar::U8,
                    16 => Scalar::U16,
                    _ => Scalar::U32,
                };
                let bits = self.bits(of, value, raw);
                vec![self.cast(raw, bits, Scalar::U32)]
            }
        }
    }

    /// The lanes that have equal bits, in words of 32 lanes: a ballot for each bit.
    fn equals(&mut self, of: Scalar, value: Word) -> Vec<Word> {
        let (yes, bool) = (self.asm.constant(Scalar::Bool, 1), self.asm.bool());
        let mut same = self.ballot(yes);
        let count = if of == Scalar::Bool { 1 } else { of.bits() };
        let words = self.words_of(of, value);
        let (zero, one) = (self.asm.u32(0), self.asm.u32(1));
        for bit in 0..count {
            let at = self.asm.u32(bit % 32);
            let word = words.get(bit as usize / 32).copied().unwrap_or(zero);
            let word = self.word_of(Op::ShiftRightLogical, &[word, at]);
            let own = self.word_of(Op::BitwiseAnd, &[word, one]);
            let is_set = self.asm.of(Op::INotEqual, bool, &[own, zero]);
            let votes = self.ballot(is_set);
            let own = self.word_of(Op::ISub, &[zero, own]);
            for (same, votes) in same.iter_mut().zip(votes) {
                let other = self.word_of(Op::BitwiseXor, &[votes, own]);
                let equal = self.word_of(Op::Not, &[other]);
                *same = self.word_of(Op::BitwiseAnd, &[*same, equal]);
            }
        }
        same
    }

    /// The result of a [`Subgroup::Match`].
    fn matched(&mut self, of: Scalar, value: Word) -> Word {
        let same = self.equals(of, value);
        let (zero, one, ones) = (self.asm.u32(0), self.asm.u32(1), self.asm.u32(u32::MAX));
        let (lane, bool) = (self.lane(), self.asm.bool());
        let bits = [self.asm.u32(31), self.asm.u32(5)];
        let within = self.word_of(Op::BitwiseAnd, &[lane, bits[0]]);
        let own_word = self.word_of(Op::ShiftRightLogical, &[lane, bits[1]]);
        let ahead = self.word_of(Op::ShiftLeftLogical, &[one, within]);
        let ahead = self.word_of(Op::ISub, &[ahead, one]);
        let (mut before, mut count, mut first) = (zero, zero, zero);
        for (at, same) in same.into_iter().enumerate().rev() {
            let at = self.asm.u32(at as u32);
            let is_own = self.asm.of(Op::IEqual, bool, &[own_word, at]);
            let is_ahead = self.asm.of(Op::UGreaterThan, bool, &[own_word, at]);
            let mask = self.word_of(Op::Select, &[is_ahead, ones, zero]);
            let mask = self.word_of(Op::Select, &[is_own, ahead, mask]);
            let masked = self.word_of(Op::BitwiseAnd, &[same, mask]);
            let (masked, all) = (self.ones(masked), self.ones(same));
            before = self.word_of(Op::IAdd, &[before, masked]);
            count = self.word_of(Op::IAdd, &[count, all]);
            // The ones below the lowest bit are as many as its number.
            let negated = self.word_of(Op::ISub, &[zero, same]);
            let lowest = self.word_of(Op::BitwiseAnd, &[same, negated]);
            let below = self.word_of(Op::ISub, &[lowest, one]);
            let number = self.ones(below);
            let base = self.word_of(Op::ShiftLeftLogical, &[at, bits[1]]);
            let number = self.word_of(Op::IAdd, &[base, number]);
            let has_some = self.asm.of(Op::INotEqual, bool, &[same, zero]);
            first = self.word_of(Op::Select, &[has_some, number, first]);
        }
        let shifts = [self.asm.u32(8), self.asm.u32(16)];
        let count = self.word_of(Op::ShiftLeftLogical, &[count, shifts[0]]);
        let first = self.word_of(Op::ShiftLeftLogical, &[first, shifts[1]]);
        let result = self.word_of(Op::BitwiseOr, &[before, count]);
        self.word_of(Op::BitwiseOr, &[result, first])
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
