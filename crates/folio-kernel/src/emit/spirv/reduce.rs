//! Launch-wide reductions (semantics 8.4), as in C: an item kernel with any is computed in blocks
//! of 4096 items in row-major order, each of which leaves one value; a group kernel leaves one
//! value for each group. A second entry for each reduction makes one value of each 4096.

use super::super::Reduction;
use super::super::abi::{COMBINED, LANES, Word as ArgumentWord};
use super::super::phases::reductions;
use super::super::unroll::is_worth_unrolling;
use super::body::returns;
use super::memory::At;
use super::writer::Writer;
use crate::ir::{ParamId, ParamKind, Value};
use crate::op::{Combine, Query};
use crate::types::Scalar;
use rspirv::spirv::{Op, StorageClass, Word};

impl Writer<'_> {
    fn wide(&mut self, op: Op, a: Word, b: Word) -> Word {
        let ty = self.asm.int(64);
        self.asm.of(op, ty, &[a, b])
    }

    /// A thread's value for each reduction, beginning with the identity.
    pub fn clear_own_values(&mut self) {
        for (param, of, combine) in reductions(self.kernel) {
            let identity = self.asm.constant(of, combine.identity(of).unwrap_or_default());
            let own = match self.own.get(param.index()).copied().flatten() {
                Some(own) => own,
                None => {
                    let ty = self.asm.scalar(of);
                    self.local(ty)
                }
            };
            self.set(own, identity);
            if let Some(known) = self.own.get_mut(param.index()) {
                *known = Some(own);
            }
        }
    }

    fn own_value(&mut self, param: ParamId, of: Scalar) -> (Word, Word) {
        let ty = self.asm.scalar(of);
        let pointer = self.own.get(param.index()).copied().flatten().unwrap_or(0);
        (pointer, self.get(ty, pointer))
    }

    pub fn contribute(&mut self, param: ParamId, value: Value) {
        let kind = self.kernel.params.get(param.index()).map(|param| &param.kind);
        let Some(ParamKind::Reduce { element, combine }) = kind else { return };
        let (of, combine) = (element.scalar().unwrap_or(Scalar::U64), *combine);
        let value = self.value(value);
        let (pointer, own) = self.own_value(param, of);
        let sum = self.combine(combine, of, own, value);
        self.set(pointer, sum);
    }

    /// An element of the values of a reduction.
    fn result(&mut self, param: ParamId, of: Scalar, index: Word, value: Word) {
        let base = self.base(param);
        let size = self.asm.u64(of.size());
        let bytes = self.wide(Op::IMul, index, size);
        let address = self.wide(Op::IAdd, base, bytes);
        self.store_scalar(&At::address(address), of, value);
    }

    fn is_first(&mut self) -> Word {
        let (thread, zero, bool) = (self.thread(), self.asm.u32(0), self.asm.bool());
        self.asm.of(Op::IEqual, bool, &[thread, zero])
    }

    /// At the end of a group: its results.
    pub fn group_results(&mut self) {
        let group = self.linear_group();
        for (param, of, combine) in reductions(self.kernel) {
            let thread = self.thread();
            let (_, own) = self.own_value(param, of);
            self.set_of_all(of, thread, own);
            self.barrier();
            self.tree(combine, of);
            let first = self.is_first();
            self.when(first, |w| {
                let zero = w.asm.u32(0);
                let value = w.get_of_all(of, zero);
                w.result(param, of, group, value);
            });
            self.barrier();
        }
    }

    /// The group's number in row-major order.
    fn linear_group(&mut self) -> Word {
        let mut index = self.query(Query::GroupId, 0, 0);
        for dim in 1..self.kernel.shape.rank {
            let count = self.query(Query::GroupCount, dim, 0);
            let group = self.query(Query::GroupId, dim, 0);
            let row = self.wide(Op::IMul, index, count);
            index = self.wide(Op::IAdd, row, group);
        }
        index
    }

    /// An array of the group for each lane.
    fn lanes(&mut self, of: Scalar) -> Word {
        let (ty, len) = (self.asm.stored(of), self.asm.u32(LANES));
        let array = self.asm.array(ty, len);
        let own = self.asm.shared(array);
        self.uses.push(own);
        own
    }

    fn lane_at(lanes: Word, lane: Word) -> At {
        At::Variable(StorageClass::Workgroup, lanes, vec![lane])
    }

    /// An item kernel in blocks of items.
    pub fn linear_kernel(&mut self) {
        let (kernel, reduces) = (self.kernel, reductions(self.kernel));
        let first = self.word(ArgumentWord::First(2));
        let block = self.block_on(0);
        let lanes: Vec<_> = reduces.iter().map(|(_, of, _)| self.lanes(*of)).collect();
        let mut items = self.query(Query::Range, 0, 0);
        for dim in 1..kernel.shape.rank {
            let range = self.query(Query::Range, dim, 0);
            items = self.wide(Op::IMul, items, range);
        }
        let number = self.wide(Op::IAdd, first, block);
        let combined = self.asm.u64(COMBINED);
        let from = self.wide(Op::IMul, number, combined);
        let count = self.wide(Op::ISub, items, from);
        let end = self.end_of_block(count);
        let mut sums = vec![];
        for (_, of, _) in &reduces {
            let ty = self.asm.scalar(*of);
            sums.push(self.local(ty));
        }
        self.each_lane(end, |w, lane| {
            for ((_, of, combine), sum) in reduces.iter().zip(&sums) {
                let identity = combine.identity(*of).unwrap_or_default();
                let identity = w.asm.constant(*of, identity);
                w.set(*sum, identity);
            }
            let step = w.asm.u32(LANES);
            // A block has 16 values for each lane.
            let turns = (None, w.few_turns(is_worth_unrolling(&kernel.body)));
            let bounds = (lane, end, step);
            w.repeated(turns, Scalar::U32, bounds, Op::ULessThan, |w, turn| {
                w.linear_positions(from, turn);
                w.clear_variables();
                w.clear_own_values();
                // The loop around is none that code of an item can name.
                let open = std::mem::take(&mut w.open);
                let falls = match returns(&kernel.body) {
                    true => w.blocked(None, |w| w.body(&kernel.body)),
                    false => w.body(&kernel.body),
                };
                w.open = open;
                if falls {
                    for ((param, of, combine), sum) in reduces.iter().zip(&sums) {
                        let ty = w.asm.scalar(*of);
                        let before = w.get(ty, *sum);
                        let (_, own) = w.own_value(*param, *of);
                        let both = w.combine(*combine, *of, before, own);
                        w.set(*sum, both);
                    }
                }
                falls
            });
            for (((_, of, _), sum), lanes) in reduces.iter().zip(&sums).zip(&lanes) {
                let ty = w.asm.scalar(*of);
                let value = w.get(ty, *sum);
                w.store_scalar(&Self::lane_at(*lanes, lane), *of, value);
            }
        });
        for ((param, of, combine), lanes) in reduces.iter().zip(lanes) {
            self.tree_of_lanes(lanes, *of, *combine, end);
            let first = self.is_first();
            self.when(first, |w| {
                let zero = w.asm.u32(0);
                let value = w.load_at(&Self::lane_at(lanes, zero), (*of).into());
                w.result(*param, *of, number, value);
            });
        }
    }

    /// The position of an item by its number.
    fn linear_positions(&mut self, from: Word, turn: Word) {
        let wide = self.asm.int(64);
        let turn = self.asm.of(Op::UConvert, wide, &[turn]);
        let mut rest = self.wide(Op::IAdd, from, turn);
        for dim in (0..self.kernel.shape.rank).rev() {
            let offset = self.query(Query::Offset, dim, 0);
            let mut inside = rest;
            if dim > 0 {
                let range = self.query(Query::Range, dim, 0);
                inside = self.wide(Op::UMod, rest, range);
                rest = self.wide(Op::UDiv, rest, range);
            }
            let own = self.wide(Op::IAdd, offset, inside);
            if let Some(position) = self.positions.get_mut(usize::from(dim)) {
                *position = Some(own);
            }
        }
    }

    /// How many values a block has, `u32`.
    fn end_of_block(&mut self, count: Word) -> Word {
        let (bool, narrow) = (self.asm.bool(), self.asm.int(32));
        let (most, whole) = (self.asm.u64(COMBINED), self.asm.u32(COMBINED as u32));
        let less = self.asm.of(Op::ULessThan, bool, &[count, most]);
        let count = self.asm.of(Op::UConvert, narrow, &[count]);
        self.asm.of(Op::Select, narrow, &[less, count, whole])
    }

    /// A loop over the lanes that have values, each of one thread.
    fn each_lane(&mut self, end: Word, turn: impl FnOnce(&mut Self, Word)) {
        let (thread, threads) = (self.thread(), self.asm.threads());
        let (bool, narrow, most) = (self.asm.bool(), self.asm.int(32), self.asm.u32(LANES));
        let less = self.asm.of(Op::ULessThan, bool, &[end, most]);
        let lanes = self.asm.of(Op::Select, narrow, &[less, end, most]);
        self.counted(Scalar::U32, (thread, lanes, threads), |w, lane| {
            turn(w, lane);
            true
        });
    }

    /// The tree over the lanes that have values, of which there are `end` at most.
    fn tree_of_lanes(&mut self, lanes: Word, of: Scalar, combine: Combine, end: Word) {
        self.barrier();
        let (thread, threads) = (self.thread(), self.asm.threads());
        let (bool, narrow) = (self.asm.bool(), self.asm.int(32));
        let (zero, half) = (self.asm.u32(0), self.asm.u32(LANES / 2));
        let goes_on = |w: &mut Self, gap| w.asm.of(Op::UGreaterThan, bool, &[gap, zero]);
        self.shifted(half, Op::ShiftRightLogical, goes_on, |w, gap| {
            w.counted(Scalar::U32, (thread, gap, threads), |w, lane| {
                let other = w.asm.of(Op::IAdd, narrow, &[lane, gap]);
                let there = w.asm.of(Op::ULessThan, bool, &[other, end]);
                w.when(there, |w| {
                    let a = w.load_at(&Self::lane_at(lanes, lane), of.into());
                    let b = w.load_at(&Self::lane_at(lanes, other), of.into());
                    let both = w.combine(combine, of, a, b);
                    w.store_scalar(&Self::lane_at(lanes, lane), of, both);
                });
                true
            });
            w.barrier();
        });
    }

    /// An entry that makes one value of each 4096, the first at a place in the results.
    pub fn finish_kernel(&mut self, of: Scalar, combine: Combine) {
        let [values, results, count, place] = [0, 1, 2, 3].map(|at| self.plain_word(at));
        let block = self.block_on(0);
        let lanes = self.lanes(of);
        let combined = self.asm.u64(COMBINED);
        let from = self.wide(Op::IMul, block, combined);
        let count = self.wide(Op::ISub, count, from);
        let end = self.end_of_block(count);
        let ty = self.asm.scalar(of);
        let sum = self.local(ty);
        self.each_lane(end, |w, lane| {
            let first = w.value_at(values, from, lane, of);
            w.set(sum, first);
            let (step, narrow) = (w.asm.u32(LANES), w.asm.int(32));
            let second = w.asm.of(Op::IAdd, narrow, &[lane, step]);
            let (turns, bounds) = ((None, w.few_turns(true)), (second, end, step));
            w.repeated(turns, Scalar::U32, bounds, Op::ULessThan, |w, turn| {
                let value = w.value_at(values, from, turn, of);
                let before = w.get(ty, sum);
                let both = w.combine(combine, of, before, value);
                w.set(sum, both);
                true
            });
            let value = w.get(ty, sum);
            w.store_scalar(&Self::lane_at(lanes, lane), of, value);
        });
        self.tree_of_lanes(lanes, of, combine, end);
        let first = self.is_first();
        self.when(first, |w| {
            let zero = w.asm.u32(0);
            let value = w.load_at(&Self::lane_at(lanes, zero), of.into());
            let index = w.wide(Op::IAdd, place, block);
            let size = w.asm.u64(of.size());
            let bytes = w.wide(Op::IMul, index, size);
            let address = w.wide(Op::IAdd, results, bytes);
            w.store_scalar(&At::address(address), of, value);
        });
    }

    fn value_at(&mut self, values: Word, from: Word, turn: Word, of: Scalar) -> Word {
        let wide = self.asm.int(64);
        let turn = self.asm.of(Op::UConvert, wide, &[turn]);
        let index = self.wide(Op::IAdd, from, turn);
        let size = self.asm.u64(of.size());
        let bytes = self.wide(Op::IMul, index, size);
        let address = self.wide(Op::IAdd, values, bytes);
        self.load_at(&At::address(address), of.into())
    }
}

/// The entries that follow, for each reduction.
pub fn finish(writer: &Writer<'_>, name: &str) -> Vec<(Reduction, Scalar, Combine)> {
    let each = |(param, of, combine): (ParamId, Scalar, Combine)| {
        let entry = format!("{name}_finish_p{}", param.0);
        (Reduction { param, bytes: of.size() as u32, entry }, of, combine)
    };
    reductions(writer.kernel).into_iter().map(each).collect()
}
