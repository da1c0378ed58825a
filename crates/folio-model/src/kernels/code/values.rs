//! Random operations and their operands.

use super::{Code, SCALARS, Zone};
use crate::kernels::View;
use folio_kernel::{
    Access, Atomic, Binary, Combine, Fold, Op, Owner, Place, Query, Scalar, Subgroup, Type, Unary,
    Value,
};

impl Code {
    /// A value of a random type.
    pub(super) fn any(&mut self) -> Value {
        let ty = self.rng.pick(&self.types.clone());
        self.make(ty)
    }

    /// A value of this type: a known one, or a new one.
    pub(super) fn of_type(&mut self, ty: Type) -> Value {
        let fits = |value: &Value| self.builder.type_of(*value) == ty;
        let known: Vec<_> = self.known.iter().copied().filter(fits).collect();
        match self.some(&known) {
            Some(value) if self.rng.chance(65) => value,
            _ => self.make(ty),
        }
    }

    /// A new value of this type.
    fn make(&mut self, ty: Type) -> Value {
        self.depth += 1;
        let value = match ty {
            _ if self.depth > 7 => self.leaf(ty),
            Type::Scalar(scalar) => self.scalar(scalar),
            Type::Composite(_) => self.composite(ty),
        };
        self.depth -= 1;
        value
    }

    fn leaf(&mut self, ty: Type) -> Value {
        match ty.scalar() {
            Some(scalar) => {
                let bits = self.literal(scalar);
                self.builder.bits(scalar, bits)
            }
            None => self.builder.op(Op::Zero(ty)),
        }
    }

    fn literal(&mut self, scalar: Scalar) -> u64 {
        let small = self.rng.below(9) as i128 - 2;
        match self.rng.below(6) {
            0 => self.rng.next(),
            1 => self.rng.pick(&[0, u64::MAX, 1 << 63, 1 << 31, 0x7fc0_0000, 0x7c00]),
            _ if scalar.is_float() => crate::interp::float::from_int(scalar, small),
            _ => small as u64,
        }
    }

    fn composite(&mut self, ty: Type) -> Value {
        match self.rng.below(4) {
            0 => self.leaf(ty),
            1 => self.load_of(ty).unwrap_or_else(|| self.builder.op(Op::Zero(ty))),
            _ => {
                let count = self.builder.kernel().types.parts(ty);
                let part = |code: &mut Code, at| {
                    let inner = code.builder.kernel().types.part(ty, at);
                    code.of_type(inner.unwrap_or(ty))
                };
                let parts = (0..count).map(|at| part(self, at)).collect();
                self.builder.op(Op::Make(ty, parts))
            }
        }
    }

    pub(super) fn scalar(&mut self, scalar: Scalar) -> Value {
        let same = Type::from(scalar);
        match self.rng.below(12) {
            0 => self.leaf(same),
            1 | 2 => match self.load_of(same) {
                Some(value) => value,
                None => self.leaf(same),
            },
            3 => {
                let from = self.rng.pick(&SCALARS);
                let value = self.of_type(from.into());
                self.builder.cast(value, scalar)
            }
            4 => {
                let (cond, a, b) = (self.condition(), self.of_type(same), self.of_type(same));
                self.builder.op(Op::Select(cond, a, b))
            }
            5 if scalar.is_float() => {
                let (a, b, c) = (self.of_type(same), self.of_type(same), self.of_type(same));
                self.builder.op(Op::Fma(a, b, c))
            }
            5 if scalar == Scalar::U64 => self.question(),
            6 | 7 => self.unary(scalar),
            _ => self.binary(scalar),
        }
    }

    fn question(&mut self) -> Value {
        let items = [Query::Position, Query::Range, Query::Offset];
        let groups = [
            Query::LocalId,
            Query::GroupId,
            Query::GroupSize,
            Query::GroupCount,
            Query::Subgroup,
            Query::Lane,
            Query::SubgroupSize,
        ];
        let uniform = self.zone == Zone::Uniform;
        let all = items.iter().chain(if self.groups { &groups[..] } else { &[] });
        let fit: Vec<_> = all.copied().filter(|query| !uniform || query.is_uniform()).collect();
        let query = self.rng.pick(&fit);
        let dims = if query.has_dimension() { usize::from(self.rank) } else { 1 };
        let dim = self.rng.below(dims) as u8;
        self.builder.query(query, dim)
    }

    /// Something that the sub-group does together, often to be seen in an output.
    pub(super) fn together(&mut self) {
        let of_items = |view: &&View| view.owner == Owner::Item && view.access != Access::In;
        let scalars = |view: &View| view.element.scalar().map(|scalar| (*view, scalar));
        let outputs: Vec<_> = self.views.iter().filter(of_items).filter_map(scalars).collect();
        let output = self.some(&outputs).filter(|_| self.rng.chance(70));
        let scalar = output.map_or_else(|| self.rng.pick(&SCALARS), |(_, scalar)| scalar);
        let op = match self.rng.below(7) {
            6 => {
                // Few values, of which some are equal.
                let (any, few) =
                    (self.of_type(Scalar::U32.into()), self.builder.int(Scalar::U32, 3));
                let few = self.builder.binary(Binary::And, any, few);
                let of = self.rng.pick(&[Scalar::U8, Scalar::U32, Scalar::U64, Scalar::F32]);
                Op::Subgroup(Subgroup::Match, vec![self.builder.cast(few, of)])
            }
            0 => {
                let op = self.rng.pick(&[Subgroup::Any, Subgroup::All]);
                Op::Subgroup(op, vec![self.condition()])
            }
            1 | 2 => {
                let op = self.rng.pick(&[Subgroup::Broadcast, Subgroup::ShuffleXor]);
                let value = match self.rng.chance(15) {
                    true => self.condition(),
                    false => self.of_type(scalar.into()),
                };
                // Lanes that there are, and any.
                let any = self.of_type(Scalar::U32.into());
                let few = self.builder.int(Scalar::U32, 3);
                let lane = match self.rng.chance(75) {
                    true => self.builder.binary(Binary::And, any, few),
                    false => any,
                };
                Op::Subgroup(op, vec![value, lane])
            }
            _ => {
                let fits = |combine: &Combine| combine.identity(scalar).is_some();
                let all: Vec<_> = Combine::ALL.iter().copied().filter(fits).collect();
                let (fold, combine) = (self.rng.pick(Fold::ALL), self.rng.pick(&all));
                Op::SubgroupFold(fold, combine, self.of_type(scalar.into()))
            }
        };
        let value = self.builder.op(op);
        self.know(value);
        if let Some((view, _)) = output
            && self.builder.type_of(value) == view.element
            && let Some(at) = self.own(view)
        {
            self.builder.store_at(view.param, at, value);
        }
    }

    fn unary(&mut self, scalar: Scalar) -> Value {
        use Unary::{
            Abs, CountOnes, LeadingZeros, Neg, Not, ReverseBits, SwapBytes, TrailingZeros,
        };
        let counts = [CountOnes, LeadingZeros, TrailingZeros];
        if scalar == Scalar::U32 && self.rng.chance(30) {
            let of = self.rng.pick(&SCALARS[..8]);
            let value = self.of_type(of.into());
            let op = self.rng.pick(&counts);
            return self.builder.unary(op, value);
        }
        let integers = [Neg, Not, ReverseBits, SwapBytes];
        let ops: Vec<_> = match scalar {
            Scalar::Bool => vec![Not],
            s if s.is_float() => {
                let wrong = |op: &Unary| *op == Not || integers[2..].contains(op);
                let all = Unary::ALL.iter().copied();
                let fast = |op: &Unary| op.is_fast() && s != Scalar::F32;
                all.filter(|op| !wrong(op) && !counts.contains(op) && !fast(op)).collect()
            }
            s if s.is_signed() => integers.iter().copied().chain([Abs]).collect(),
            _ => integers.to_vec(),
        };
        let op = self.rng.pick(&ops);
        let value = self.of_type(scalar.into());
        self.builder.unary(op, value)
    }

    pub(super) fn binary(&mut self, scalar: Scalar) -> Value {
        use Binary::{And, Div, MulHi, Or, Rem, RotateLeft, RotateRight, Shl, Shr, Xor};
        let float_only = [Binary::Pow, Binary::Atan2, Binary::Hypot, Binary::CopySign];
        let shifts = [Shl, Shr, RotateLeft, RotateRight];
        let int_only = [And, Or, Xor, Binary::SatAdd, Binary::SatSub, MulHi];
        let fits = |op: &Binary| {
            let ints = shifts.contains(op) || int_only.contains(op);
            if scalar.is_float() { !ints } else { !float_only.contains(op) }
        };
        let ops: Vec<_> = Binary::ALL.iter().copied().filter(fits).collect();
        let mut op = self.rng.pick(&ops);
        // Divisions by zero end what can be compared: seldom.
        if !scalar.is_float() && matches!(op, Div | Rem) && !self.rng.chance(20) {
            op = Binary::Add;
        }
        let a = self.of_type(scalar.into());
        let second = if shifts.contains(&op) { self.rng.pick(&SCALARS[..8]) } else { scalar };
        let b = self.of_type(second.into());
        self.builder.binary(op, a, b)
    }

    /// An index: mostly below `n`, sometimes anything.
    pub(super) fn index_below(&mut self, n: u64) -> Value {
        let any = self.of_type(Scalar::U64.into());
        match self.rng.below(20) {
            0 => any,
            1..=4 => {
                let at = self.rng.below(n as usize) as u64;
                self.builder.index(at)
            }
            5..=9 if n.is_power_of_two() => {
                let mask = self.builder.index(n - 1);
                self.builder.binary(Binary::And, any, mask)
            }
            _ => {
                let n = self.builder.index(n);
                self.builder.binary(Binary::Rem, any, n)
            }
        }
    }

    /// A load of this type, if there is something to load.
    fn load_of(&mut self, ty: Type) -> Option<Value> {
        let of_type: Vec<_> = self.vars.iter().filter(|var| var.1 == ty).map(|var| var.0).collect();
        let views: Vec<_> = self.views.iter().filter(|view| view.element == ty).copied().collect();
        if let Some(var) = self.some(&of_type).filter(|_| self.rng.chance(50)) {
            return Some(self.builder.get(var));
        }
        let view = self.some(&views)?;
        let at = self.readable(view)?;
        Some(self.builder.load_at(view.param, at))
    }

    /// Indices at which a view may be read.
    fn readable(&mut self, view: View) -> Option<Vec<Value>> {
        let near = view.rank == self.rank && self.zone != Zone::Uniform && self.near > 0;
        match (view.access, view.owner) {
            (Access::In, _) if near && self.rng.chance(self.near) => {
                Some((0..view.rank).map(|dim| self.builder.position(dim)).collect())
            }
            // The item's own row.
            (Access::In, _) if self.near > 0 && view.rank == 2 && self.rank == 1 => {
                let zone = self.zone != Zone::Uniform;
                let row = if zone { self.builder.position(0) } else { self.anywhere(view, 0) };
                Some(vec![row, self.anywhere(view, 1)])
            }
            (Access::In, _) => Some((0..view.rank).map(|dim| self.anywhere(view, dim)).collect()),
            (Access::InOut, Owner::Item | Owner::Group) => self.own(view),
            (Access::InOut, Owner::Row) => {
                let row = self.builder.position(0);
                Some(vec![row, self.anywhere(view, 1)])
            }
            (Access::InOut, Owner::Column) => {
                let column = self.builder.position(0);
                Some(vec![self.anywhere(view, 0), column])
            }
            _ => None,
        }
    }

    /// An index into a view: guarded by its extent, near the own position, or anything.
    fn anywhere(&mut self, view: View, dim: u8) -> Value {
        let any = self.of_type(Scalar::U64.into());
        match self.rng.below(12) {
            0 => any,
            1 if self.zone != Zone::Uniform && dim < self.rank => {
                let (own, by) = (self.builder.position(dim), self.rng.below(3) as i128 - 1);
                let by = self.builder.int(Scalar::U64, by);
                self.builder.binary(Binary::Add, own, by)
            }
            2..=6 => {
                let extent = self.builder.extent(view.param, dim);
                let one = self.builder.index(1);
                let last = self.builder.binary(Binary::Sub, extent, one);
                self.builder.binary(Binary::Min, any, last)
            }
            _ => {
                let extent = self.builder.extent(view.param, dim);
                self.builder.binary(Binary::Rem, any, extent)
            }
        }
    }

    /// Something out of memory: a part of an element, of local memory, or an atomic operation.
    pub(super) fn memory(&mut self) -> Value {
        let atomic = |view: &&View| view.owner == Owner::Atomic;
        if let Some(view) = self.views.iter().find(atomic).copied()
            && self.zone != Zone::Uniform
            && self.rng.chance(40)
        {
            // Operations whose results do not depend on the order.
            let op = self.rng.pick(&[Atomic::Add, Atomic::Min, Atomic::Max, Atomic::Xor]);
            let at = self.anywhere(view, 0);
            let value = self.of_type(view.element);
            return self.builder.atomic(op, Place::element(view.param, [at]), &[value]);
        }
        if self.zone == Zone::Uniform
            && let Some((param, ty)) = self.some(&self.locals.clone())
        {
            let at = self.index_below(u64::from(self.slots));
            let (place, _) = self.within(Place::element(param, [at]), ty);
            return self.builder.load(place);
        }
        if let Some(view) = self.some(&self.views.clone())
            && let Some(at) = self.readable(view)
        {
            let (place, _) = self.within(Place::element(view.param, at), view.element);
            return self.builder.load(place);
        }
        match self.some(&self.vars.clone()) {
            Some((var, ty)) => {
                let (place, _) = self.within(Place::var(var), ty);
                self.builder.load(place)
            }
            None => self.any(),
        }
    }
}
