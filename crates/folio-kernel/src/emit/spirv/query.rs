//! Where an item is, and the scalars of the call.

use super::super::abi::Word as ArgumentWord;
use super::writer::Writer;
use crate::ir::{ParamId, ParamKind};
use crate::op::Query;
use crate::types::{Composite, Scalar, Type};
use rspirv::spirv::{BuiltIn, Op, Word};

impl Writer<'_> {
    /// A component of what tells where a thread is, as `u64`; loaded when the function begins.
    fn told(&mut self, builtin: BuiltIn, axis: u32) -> Word {
        self.first(|w| {
            let variable = w.asm.builtin(builtin);
            let (narrow, wide) = (w.asm.int(32), w.asm.int(64));
            let index = w.asm.u32(axis);
            let pointer = w.asm.pointer(rspirv::spirv::StorageClass::Input, narrow);
            let at = w.asm.of(Op::AccessChain, pointer, &[variable, index]);
            let word = w.asm.of(Op::Load, narrow, &[at]);
            w.asm.of(Op::UConvert, wide, &[word])
        })
    }

    /// The index of the thread in its block along an axis.
    pub fn thread_on(&mut self, axis: u32) -> Word {
        match self.in_rows {
            true => self.thread_of_row(axis),
            false => self.told(BuiltIn::LocalInvocationId, axis),
        }
    }

    /// The same where a block is a row of threads.
    fn thread_of_row(&mut self, axis: u32) -> Word {
        let thread = self.thread();
        self.first(|w| {
            let (narrow, wide) = (w.asm.int(32), w.asm.int(64));
            let mut rest = thread;
            for inner in 0..axis {
                let size = w.asm.size(inner);
                rest = w.asm.of(Op::UDiv, narrow, &[rest, size]);
            }
            if axis + 1 < u32::from(w.kernel.shape.rank) {
                let size = w.asm.size(axis);
                rest = w.asm.of(Op::UMod, narrow, &[rest, size]);
            }
            w.asm.of(Op::UConvert, wide, &[rest])
        })
    }

    /// The index of the block in the grid.
    pub fn block_on(&mut self, axis: u32) -> Word {
        self.told(BuiltIn::WorkgroupId, axis)
    }

    /// Threads of a block along an axis.
    pub fn size_on(&mut self, axis: u32) -> Word {
        self.first(|w| {
            let (size, wide) = (w.asm.size(axis), w.asm.int(64));
            w.asm.of(Op::UConvert, wide, &[size])
        })
    }

    /// The thread among those of its block, in row-major order: `u32`.
    pub fn thread(&mut self) -> Word {
        self.first(|w| {
            let variable = w.asm.builtin(BuiltIn::LocalInvocationIndex);
            let narrow = w.asm.int(32);
            w.asm.of(Op::Load, narrow, &[variable])
        })
    }

    /// Of numbers of 64 bits, when the function begins.
    pub fn first_of(&mut self, op: Op, values: &[Word]) -> Word {
        self.first(|w| {
            let ty = w.asm.int(64);
            w.asm.of(op, ty, values)
        })
    }

    /// An answer.
    pub fn query(&mut self, query: Query, dim: u8, copy: u8) -> Word {
        let axis = self.axis(dim);
        match query {
            Query::Range => self.launch_word(ArgumentWord::Range, dim),
            Query::Offset => self.launch_word(ArgumentWord::Offset, dim),
            Query::GroupCount => self.launch_word(ArgumentWord::Groups, dim),
            Query::LocalId => self.thread_on(axis),
            Query::GroupSize => self.size_on(axis),
            Query::GroupId => {
                let first = self.launch_word(ArgumentWord::First, dim);
                let block = self.block_on(axis);
                self.first_of(Op::IAdd, &[first, block])
            }
            Query::Position => self.position(dim, copy),
            Query::Lane | Query::SubgroupSize | Query::Subgroup => self.subgroup_query(query),
        }
    }

    fn position(&mut self, dim: u8, copy: u8) -> Word {
        if let Some(known) = self.positions.get(usize::from(dim)).copied().flatten() {
            return known;
        }
        let axis = self.axis(dim);
        if self.kernel.shape.groups {
            let group = self.query(Query::GroupId, dim, 0);
            let (size, local) = (self.size_on(axis), self.thread_on(axis));
            let offset = self.launch_word(ArgumentWord::Offset, dim);
            let start = self.first_of(Op::IMul, &[group, size]);
            let inside = self.first_of(Op::IAdd, &[start, local]);
            return self.first_of(Op::IAdd, &[inside, offset]);
        }
        let own = self.item_position(dim);
        if copy == 0 || axis != 0 {
            return own;
        }
        let (size, copy) = (self.size_on(axis), self.asm.u64(copy.into()));
        let ahead = self.first_of(Op::IMul, &[size, copy]);
        self.first_of(Op::IAdd, &[own, ahead])
    }

    /// The position of an item kernel's thread, or of the first of its items.
    pub fn item_position(&mut self, dim: u8) -> Word {
        let axis = self.axis(dim);
        let tile = if axis == 0 { self.kernel.shape.tile.max(1) } else { 1 };
        let first = self.launch_word(ArgumentWord::First, dim);
        let (block, size, thread) = (self.block_on(axis), self.size_on(axis), self.thread_on(axis));
        let tile = self.asm.u64(tile.into());
        let items = self.first_of(Op::IMul, &[size, tile]);
        let start = self.first_of(Op::IMul, &[block, items]);
        let inside = self.first_of(Op::IAdd, &[start, thread]);
        self.first_of(Op::IAdd, &[first, inside])
    }

    /// A scalar parameter.
    pub fn argument(&mut self, param: ParamId) -> Word {
        let Some(ParamKind::Scalar(ty)) = self.kernel.params.get(param.index()).map(|p| &p.kind)
        else {
            return self.asm.u64(0);
        };
        let (ty, at) = (*ty, self.number(param));
        self.argument_at(ty, at, 0)
    }

    /// The value so many bytes into the words of a scalar parameter.
    fn argument_at(&mut self, ty: Type, number: u32, bytes: u64) -> Word {
        let Some(scalar) = ty.scalar() else {
            let offsets: Vec<(Type, u64)> = match self.kernel.types.get(ty) {
                Some(Composite::Struct(s)) => s.fields.iter().map(|f| (f.ty, f.offset)).collect(),
                Some(Composite::Array { element, len }) => {
                    let size = self.kernel.types.layout(*element).0;
                    (0..u64::from(*len)).map(|at| (*element, at * size)).collect()
                }
                None => vec![],
            };
            let parts: Vec<_> =
                offsets.iter().map(|(of, at)| self.argument_at(*of, number, bytes + at)).collect();
            let whole = self.type_of(ty);
            return self.asm.of(Op::CompositeConstruct, whole, &parts);
        };
        let word = self.word(ArgumentWord::Scalar(number + (bytes / 8) as u32));
        let down = self.asm.u32(8 * (bytes % 8) as u32);
        let wide = self.asm.int(64);
        let word = self.asm.of(Op::ShiftRightLogical, wide, &[word, down]);
        match scalar {
            Scalar::Bool => {
                let (mask, bool) = (self.asm.u64(1), self.asm.bool());
                let zero = self.asm.u64(0);
                let bit = self.asm.of(Op::BitwiseAnd, wide, &[word, mask]);
                self.asm.of(Op::INotEqual, bool, &[bit, zero])
            }
            Scalar::F64 => self.bits(Scalar::U64, word, Scalar::F64),
            Scalar::F32 => {
                let narrow = self.cast(Scalar::U64, word, Scalar::U32);
                self.bits(Scalar::U32, narrow, Scalar::F32)
            }
            _ => {
                let own = match scalar.bits() {
                    8 => Scalar::U8,
                    16 => Scalar::U16,
                    32 => Scalar::U32,
                    _ => Scalar::U64,
                };
                self.cast(Scalar::U64, word, own)
            }
        }
    }
}
