//! Places: where they are, and how they are accessed.

use super::super::abi::{Fails, Word as ArgumentWord};
use super::assembly::{id, literal};
use super::fails::Check;
use super::writer::Writer;
use crate::ir::{Access, Hop, Let, ParamId, ParamKind, Place, Root, SiteId, Value};
use crate::op::Op as IrOp;
use crate::types::{Composite, Scalar, Type};
use rspirv::dr::Operand;
use rspirv::spirv::{MemoryAccess, Op, StorageClass, Word};

/// A place in the module.
pub struct Spot {
    pub at: At,
    pub ty: Type,
    pub checks: Vec<Check>,
}

/// Where a place is.
#[derive(Clone)]
pub enum At {
    /// A part of a variable of the function or of memory of the group, by indices.
    Variable(StorageClass, Word, Vec<Word>),
    /// In memory of the device.
    Address(Address),
}

/// A place in memory of the device.
#[derive(Clone, Copy)]
pub struct Address {
    base: Word,
    /// Bytes from there.
    bytes: u64,
    /// No other thread of the launch stores there, or loads what this one stores. Barriers then
    /// have nothing to order, and compilers may move the access. Barriers between commands order
    /// private accesses, too (Vulkan's memory model), so that what earlier commands have stored is
    /// seen.
    private: bool,
}

impl Address {
    /// The address so many bytes behind.
    pub fn behind(self, bytes: u64) -> Address {
        Address { bytes: self.bytes.wrapping_add(bytes), ..self }
    }

    /// The same with another base.
    pub fn at(self, base: Word) -> Address {
        Address { base, ..self }
    }

    pub fn base(self) -> Word {
        self.base
    }
}

impl At {
    /// An address in memory that threads share.
    pub fn address(base: Word) -> At {
        At::behind(base, 0)
    }

    /// The same, of so many bytes behind it.
    pub fn behind(base: Word, bytes: u64) -> At {
        At::Address(Address { base, bytes, private: false })
    }
}

impl Writer<'_> {
    pub fn add(&mut self, a: Word, b: Word) -> Word {
        let ty = self.asm.int(64);
        self.asm.of(Op::IAdd, ty, &[a, b])
    }

    fn less(&mut self, a: Word, b: Word) -> Word {
        let ty = self.asm.bool();
        self.asm.of(Op::ULessThan, ty, &[a, b])
    }

    pub fn times(&mut self, a: Word, bytes: u64) -> Word {
        if bytes == 1 {
            return a;
        }
        let (ty, by) = (self.asm.int(64), self.asm.u64(bytes));
        self.asm.of(Op::IMul, ty, &[a, by])
    }

    /// A word of a view in one of its dimensions.
    pub fn view_word(
        &mut self,
        param: ParamId,
        word: fn(u32, u8) -> ArgumentWord,
        rank: u8,
        dim: u8,
    ) -> Word {
        let at = self.number(param);
        self.word(word(at, 3 - rank.min(3) + dim))
    }

    /// The extent of a view, as the kernel sees it.
    pub fn extent(&mut self, param: ParamId, dim: u8) -> Word {
        let rank = self.kernel.elements(param).map_or(1, |(_, rank)| rank);
        self.view_word(param, ArgumentWord::Shape, rank, dim)
    }

    /// The address of the element of a view whose indices are 0, which need not be there; of a
    /// reduction, its values'.
    pub fn base(&mut self, param: ParamId) -> Word {
        if let Some(known) = self.bases.get(param.index()).copied().flatten() {
            return known;
        }
        let (ty, rank) = match self.kernel.params.get(param.index()).map(|param| &param.kind) {
            Some(ParamKind::View { element, rank, .. }) => (*element, *rank),
            Some(ParamKind::Reduce { element, .. }) => (*element, 0),
            _ => (Scalar::U8.into(), 0),
        };
        let size = self.kernel.types.layout(ty).0;
        // The first element that is accessed has the lowest indices.
        let mut start = self.word(ArgumentWord::Start(self.number(param)));
        for dim in 0..rank {
            let low = self.view_word(param, ArgumentWord::Low, rank, dim);
            let term = if dim + 1 == rank {
                low
            } else {
                let pitch = self.view_word(param, ArgumentWord::Pitch, rank, dim);
                self.first_of(Op::IMul, &[low, pitch])
            };
            start = self.first_of(Op::ISub, &[start, term]);
        }
        let allocation = self.allocation(param);
        let own = self.first(|w| {
            let bytes = w.times(start, size);
            w.add(allocation, bytes)
        });
        if let Some(base) = self.bases.get_mut(param.index()) {
            *base = Some(own);
        }
        own
    }

    pub fn spot(&mut self, place: &Place, site: Option<SiteId>) -> Spot {
        let (mut spot, param) = match &place.root {
            Root::Var(var) => {
                let pointer = self.var(var.index());
                let ty = self.kernel.vars.get(var.index()).map_or(Scalar::U64.into(), |v| v.ty);
                let at = At::Variable(StorageClass::Function, pointer, vec![]);
                (Spot { at, ty, checks: vec![] }, None)
            }
            Root::Element(param, at) => (self.element(*param, at, site), Some(*param)),
        };
        for step in &place.path {
            match step {
                Hop::Part(part) => spot = self.part(spot, *part),
                Hop::At(index) => {
                    let len = u64::from(self.kernel.types.parts(spot.ty));
                    let literal = self.literals.get(index.index()).copied().flatten();
                    let at = self.value(*index);
                    self.check_slot(&mut spot, param, (at, literal), len, site);
                    if len == 1 {
                        // NVIDIA's driver leaves out stores to the only element at an index
                        // that it finds to be zero (docs/drivers.md).
                        spot = self.part(spot, 0);
                        continue;
                    }
                    let element = self.kernel.types.part(spot.ty, 0).unwrap_or(spot.ty);
                    spot.at = self.slot(spot.at, element, at);
                    spot.ty = element;
                }
            }
        }
        spot
    }

    /// A part that is known.
    fn part(&mut self, spot: Spot, part: u32) -> Spot {
        let ty = self.kernel.types.part(spot.ty, part).unwrap_or(spot.ty);
        let at = match spot.at {
            At::Variable(class, base, mut indices) => {
                indices.push(self.asm.u32(part));
                At::Variable(class, base, indices)
            }
            At::Address(of) => {
                let bytes = of.bytes + self.offset(spot.ty, part);
                At::Address(Address { bytes, ..of })
            }
        };
        Spot { at, ty, checks: spot.checks }
    }

    /// Bytes from the start of a composite to a part.
    fn offset(&self, ty: Type, part: u32) -> u64 {
        match self.kernel.types.get(ty) {
            Some(Composite::Struct(s)) => s.fields.get(part as usize).map_or(0, |f| f.offset),
            Some(Composite::Array { element, .. }) => {
                self.kernel.types.layout(*element).0 * u64::from(part)
            }
            None => 0,
        }
    }

    /// An element of an array.
    fn slot(&mut self, at: At, element: Type, index: Word) -> At {
        match at {
            At::Variable(class, base, mut indices) => {
                indices.push(self.narrowed(index));
                At::Variable(class, base, indices)
            }
            At::Address(of) => {
                let ahead = self.times(index, self.kernel.types.layout(element).0);
                let base = self.add(of.base, ahead);
                At::Address(Address { base, ..of })
            }
        }
    }

    /// An index of 64 bits into what has less than 2^32 elements: what it is computed of can be
    /// narrow, too.
    fn narrowed(&mut self, index: Word) -> Word {
        let ty = self.asm.int(32);
        self.asm.of(Op::UConvert, ty, &[index])
    }

    fn element(&mut self, param: ParamId, values: &[Value], site: Option<SiteId>) -> Spot {
        let ty = self.kernel.elements(param).map_or(Scalar::U64.into(), |(ty, _)| ty);
        let at: Vec<_> = values.iter().map(|value| self.value(*value)).collect();
        let kind = self.kernel.params.get(param.index()).map(|param| &param.kind);
        if let (Some(ParamKind::Local { len, .. }), Some(index)) = (kind, at.first()) {
            let base = self.bases.get(param.index()).copied().flatten().unwrap_or(0);
            let place = self.narrowed(*index);
            let place = At::Variable(StorageClass::Workgroup, base, vec![place]);
            let mut spot = Spot { at: place, ty, checks: vec![] };
            let known = values.first().and_then(|at| self.literals.get(at.index()).copied());
            let index = (*index, known.flatten());
            self.check_slot(&mut spot, Some(param), index, u64::from(*len), site);
            return spot;
        }
        if let Some(address) = self.stepped(param, values) {
            return Spot { at: At::Address(address), ty, checks: vec![] };
        }
        let (rank, word, bool) = (at.len() as u8, self.asm.int(64), self.asm.bool());
        let mut number: Option<Word> = None;
        let mut inside: Option<Word> = None;
        for (dim, index) in (0..rank).zip(&at) {
            if self.form.checked {
                let low = self.view_word(param, ArgumentWord::Low, rank, dim);
                let from = self.asm.of(Op::ISub, word, &[*index, low]);
                let size = self.view_word(param, ArgumentWord::Size, rank, dim);
                let holds = self.less(from, size);
                inside = Some(match inside {
                    None => holds,
                    Some(before) => self.asm.of(Op::LogicalAnd, bool, &[before, holds]),
                });
            }
            let term = if dim + 1 == rank {
                *index
            } else {
                let pitch = self.view_word(param, ArgumentWord::Pitch, rank, dim);
                self.asm.of(Op::IMul, word, &[*index, pitch])
            };
            number = Some(number.map_or(term, |before| self.add(before, term)));
        }
        let mut checks = vec![];
        if let Some(holds) = inside {
            let extent = (0..rank).map(|dim| self.extent(param, dim)).collect();
            let point = self.point(Fails::Bounds(Some(param), rank), site);
            checks.push(Check { holds, point, index: at, extent });
        }
        let base = self.base(param);
        let size = self.kernel.types.layout(ty).0;
        let ahead = number.map(|number| self.times(number, size));
        let base = ahead.map_or(base, |ahead| self.add(base, ahead));
        let address = Address { base, bytes: 0, private: self.is_private(param) };
        self.note_element(param, values, address, size);
        Spot { at: At::Address(address), ty, checks }
    }

    /// No thread sees what another does to a view. A kernel does not store to an `In`, which
    /// overlaps with no other view that is written (semantics 7.6). Of what items own, each item of
    /// an item kernel has its own; a group kernel's barriers are believed to be there for a reason.
    fn is_private(&self, param: ParamId) -> bool {
        let kind = self.kernel.params.get(param.index()).map(|param| &param.kind);
        let Some(ParamKind::View { access, owner, .. }) = kind else { return false };
        let owned = owner.is_of_items() && !self.kernel.shape.groups;
        *access == Access::In || owned
    }

    /// An index into an array whose length is known.
    fn check_slot(
        &mut self,
        spot: &mut Spot,
        param: Option<ParamId>,
        (index, known): (Word, Option<u64>),
        len: u64,
        site: Option<SiteId>,
    ) {
        if !self.form.checked || known.is_some_and(|index| index < len) {
            return;
        }
        let len = self.asm.u64(len);
        let holds = self.less(index, len);
        let point = self.point(Fails::Bounds(param, 1), site);
        spot.checks.push(Check { holds, point, index: vec![index], extent: vec![len] });
    }

    // Accesses.

    /// The pointer to a scalar.
    pub fn pointer(&mut self, at: &At, scalar: Scalar) -> Word {
        match at {
            At::Variable(_, base, indices) if indices.is_empty() => *base,
            At::Variable(class, base, indices) => {
                let ty = match class {
                    StorageClass::Function => self.asm.scalar(scalar),
                    _ => self.asm.stored(scalar),
                };
                let pointer = self.asm.pointer(*class, ty);
                let mut operands = vec![*base];
                operands.extend(indices);
                self.asm.of(Op::AccessChain, pointer, &operands)
            }
            At::Address(place) => {
                let bits = scalar.bits().max(8);
                let pointer = self.asm.device_pointer(bits);
                self.pointer_of(place, pointer)
            }
        }
    }

    /// The pointer to a float that is added to as one.
    pub fn float_pointer(&mut self, place: &Address, scalar: Scalar) -> Word {
        let float = self.asm.scalar(scalar);
        let pointer = self.asm.pointer(StorageClass::PhysicalStorageBuffer, float);
        self.pointer_of(place, pointer)
    }

    fn pointer_of(&mut self, Address { base, bytes, .. }: &Address, pointer: Word) -> Word {
        let address = match bytes {
            0 => *base,
            bytes => {
                let bytes = self.asm.u64(*bytes);
                self.add(*base, bytes)
            }
        };
        self.asm.of(Op::ConvertUToPtr, pointer, &[address])
    }

    /// How a scalar is accessed: others in the group may do so, too, but where it is private.
    fn access(at: &At, scalar: Scalar) -> Vec<Operand> {
        match at {
            At::Variable(StorageClass::Function, ..) => vec![],
            At::Variable(..) => vec![Operand::MemoryAccess(MemoryAccess::NON_PRIVATE_POINTER)],
            At::Address(Address { private, .. }) => {
                let shared = MemoryAccess::ALIGNED | MemoryAccess::NON_PRIVATE_POINTER;
                let how = if *private { MemoryAccess::ALIGNED } else { shared };
                vec![Operand::MemoryAccess(how), literal(scalar.size() as u32)]
            }
        }
    }

    /// The word that is computed with, of a word as groups and devices store it.
    pub fn loaded_bits(&mut self, scalar: Scalar, word: Word) -> Word {
        let (ty, stored) = (self.asm.scalar(scalar), self.asm.stored(scalar));
        match scalar {
            Scalar::Bool => {
                let zero = self.asm.u32(0);
                self.asm.of(Op::INotEqual, ty, &[word, zero])
            }
            Scalar::F32 | Scalar::F64 => self.asm.bitcast(stored, word, ty),
            _ => word,
        }
    }

    pub fn stored_bits(&mut self, scalar: Scalar, value: Word) -> Word {
        let (own, ty) = (self.asm.scalar(scalar), self.asm.stored(scalar));
        match scalar {
            Scalar::Bool => {
                let (one, zero) = (self.asm.u32(1), self.asm.u32(0));
                self.asm.of(Op::Select, ty, &[value, one, zero])
            }
            Scalar::F32 | Scalar::F64 => self.asm.bitcast(own, value, ty),
            _ => value,
        }
    }

    fn load_scalar(&mut self, at: &At, scalar: Scalar) -> Word {
        let pointer = self.pointer(at, scalar);
        let mut operands = vec![id(pointer)];
        operands.extend(Self::access(at, scalar));
        let in_function = matches!(at, At::Variable(StorageClass::Function, ..));
        let ty = match in_function {
            true => self.asm.scalar(scalar),
            false => self.asm.stored(scalar),
        };
        let word = self.asm.op(Op::Load, ty, operands);
        if in_function { word } else { self.loaded_bits(scalar, word) }
    }

    pub fn store_scalar(&mut self, at: &At, scalar: Scalar, value: Word) {
        let in_function = matches!(at, At::Variable(StorageClass::Function, ..));
        let word = if in_function { value } else { self.stored_bits(scalar, value) };
        let pointer = self.pointer(at, scalar);
        let mut operands = vec![id(pointer), id(word)];
        operands.extend(Self::access(at, scalar));
        self.asm.act(Op::Store, operands);
    }

    /// A part of a composite, where it is.
    fn part_at(&mut self, at: &At, ty: Type, part: u32) -> At {
        let spot = Spot { at: at.clone(), ty, checks: vec![] };
        self.part(spot, part).at
    }

    /// The value at a place, part by part.
    pub fn load_at(&mut self, at: &At, ty: Type) -> Word {
        if let Some(scalar) = ty.scalar() {
            return self.load_scalar(at, scalar);
        }
        let whole = self.type_of(ty);
        if let At::Variable(StorageClass::Function, base, indices) = at {
            let pointer = self.whole(StorageClass::Function, *base, indices, whole);
            return self.get(whole, pointer);
        }
        let parts: Vec<_> = (0..self.kernel.types.parts(ty))
            .map(|part| {
                let own = self.part_at(at, ty, part);
                let of = self.kernel.types.part(ty, part).unwrap_or(ty);
                self.load_at(&own, of)
            })
            .collect();
        self.asm.of(Op::CompositeConstruct, whole, &parts)
    }

    pub fn store_at(&mut self, at: &At, ty: Type, value: Word) {
        if let Some(scalar) = ty.scalar() {
            return self.store_scalar(at, scalar, value);
        }
        if let At::Variable(StorageClass::Function, base, indices) = at {
            let whole = self.type_of(ty);
            let pointer = self.whole(StorageClass::Function, *base, indices, whole);
            return self.set(pointer, value);
        }
        for part in 0..self.kernel.types.parts(ty) {
            let own = self.part_at(at, ty, part);
            let of = self.kernel.types.part(ty, part).unwrap_or(ty);
            let word = self.type_of(of);
            let value = self.asm.op(Op::CompositeExtract, word, vec![id(value), literal(part)]);
            self.store_at(&own, of, value);
        }
    }

    fn whole(&mut self, class: StorageClass, base: Word, indices: &[Word], ty: Word) -> Word {
        if indices.is_empty() {
            return base;
        }
        let pointer = self.asm.pointer(class, ty);
        let mut operands = vec![base];
        operands.extend(indices);
        self.asm.of(Op::AccessChain, pointer, &operands)
    }

    pub fn load(&mut self, define: &Let, place: &Place) {
        let spot = self.spot(place, define.site);
        if !self.is_live(define.value) {
            return self.guarded(&spot.checks, |_| ());
        }
        let ty = spot.ty;
        let value = self.guarded_value(&spot, ty, |w| w.load_at(&spot.at, ty));
        self.is(define.value, value);
    }

    pub fn store(&mut self, place: &Place, value: Value, site: Option<SiteId>) {
        let spot = self.spot(place, site);
        let value = self.value(value);
        let checks = spot.checks.clone();
        self.guarded(&checks, |w| w.store_at(&spot.at, spot.ty, value));
    }

    pub fn atomic(&mut self, define: &Let, place: &Place) {
        let IrOp::Atomic(op, _, args) = &define.op else { return };
        let spot = self.spot(place, define.site);
        let args: Vec<_> = args.iter().map(|arg| self.value(*arg)).collect();
        let scalar = self.scalar(define.value);
        let value = self
            .guarded_value(&spot, scalar.into(), |w| w.atomically(*op, scalar, &spot.at, &args));
        self.is(define.value, value);
    }
}
