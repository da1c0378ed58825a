//! Random statements and operations.

use super::View;
use crate::rng::Rng;
use folio_kernel::{
    Access, Atomic, Binary, Builder, Combine, Compare, Fold, Label, Op, Owner, ParamId, Place,
    Query, Scalar, Site, Step, Stmt, Type, Unary, Value, VarId,
};

/// What is made so far.
pub(crate) struct Code {
    pub builder: Builder,
    pub rng: Rng,
    pub rank: u8,
    pub groups: bool,
    pub views: Vec<View>,
    pub reduces: Vec<(ParamId, Scalar)>,
    pub locals: Vec<(ParamId, Type)>,
    types: Vec<Type>,
    /// Visible values.
    known: Vec<Value>,
    vars: Vec<(VarId, Type)>,
    /// Labels around, and whether they are loops'.
    open: Vec<(Label, bool)>,
    zone: Zone,
    depth: usize,
    /// Statements that may still be made.
    left: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Zone {
    Uniform,
    Items,
    Once,
}

const SCALARS: [Scalar; 12] = [
    Scalar::I8,
    Scalar::U8,
    Scalar::I16,
    Scalar::U16,
    Scalar::I32,
    Scalar::U32,
    Scalar::I64,
    Scalar::U64,
    Scalar::F16,
    Scalar::Bf16,
    Scalar::F32,
    Scalar::F64,
];

impl Code {
    pub fn new(mut builder: Builder, mut rng: Rng, rank: u8, groups: bool) -> Code {
        let mut types: Vec<Type> = vec![Scalar::U64.into(), Scalar::F32.into()];
        types.extend((0..2).map(|_| Type::from(rng.pick(&SCALARS))));
        let (a, b) = (rng.pick(&types[1..]), rng.pick(&types[1..]));
        let array = builder.types().array(a, rng.within(1, 4) as u32);
        let pair = builder.types().structure("Pair", &[("a", a), ("b", b)]);
        types.extend([array, pair]);
        let left = rng.within(3, 25);
        let zone = if groups { Zone::Uniform } else { Zone::Items };
        Code {
            builder,
            rng,
            rank,
            groups,
            views: vec![],
            reduces: vec![],
            locals: vec![],
            types,
            known: vec![],
            vars: vec![],
            open: vec![],
            zone,
            depth: 0,
            left,
        }
    }

    /// Types that can be in memory shared with the host.
    pub fn memory_types(&self) -> Vec<Type> {
        let types = &self.builder.kernel().types;
        self.types.iter().copied().filter(|ty| types.shareable(*ty)).collect()
    }

    pub fn know(&mut self, value: Value) {
        self.known.push(value);
    }

    pub fn view(&mut self, name: &str, element: Type, rank: u8, access: Access, owner: Owner) {
        let param = self.builder.view(name, element, rank, access, owner);
        self.views.push(View { param, element, rank, access, owner });
    }

    /// The whole kernel.
    pub fn body(&mut self) {
        if !self.groups {
            self.variables(false);
            self.outputs();
            self.statements();
            return;
        }
        self.variables(true);
        let item_vars = self.vars.len();
        self.variables(false);
        let all = self.vars.clone();
        self.vars.truncate(item_vars);
        let uniform = self.vars.clone();
        for phase in 0..self.rng.within(1, 3) {
            self.vars.clone_from(&uniform);
            self.statements_of(2);
            self.vars = all[item_vars..].to_vec();
            self.phase(Zone::Items, phase == 0);
            if phase == 0 || self.rng.chance(30) {
                self.phase(Zone::Once, phase == 0);
            }
            if self.rng.chance(40) {
                self.collect(&uniform, &all[item_vars..]);
            }
        }
    }

    fn variables(&mut self, uniform: bool) {
        for at in 0..self.rng.within(1, 3) {
            let ty = self.rng.pick(&self.types.clone());
            let var = self.builder.var(&format!("v{at}"), ty, uniform);
            self.vars.push((var, ty));
        }
    }

    /// Runs `fill` for the inside of a statement.
    fn inside(&mut self, builder: &mut Builder, fill: impl FnOnce(&mut Code)) {
        let (known, depth) = (self.known.len(), self.depth);
        std::mem::swap(&mut self.builder, builder);
        self.depth += 1;
        fill(self);
        self.depth = depth;
        self.known.truncate(known);
        std::mem::swap(&mut self.builder, builder);
    }

    /// Takes the builder out, for its methods that take closures.
    fn lend(&mut self) -> Builder {
        std::mem::replace(&mut self.builder, Builder::items("", 1))
    }

    fn phase(&mut self, zone: Zone, outputs: bool) {
        let mut builder = self.lend();
        let open = std::mem::take(&mut self.open);
        let fill = |b: &mut Builder| {
            self.zone = zone;
            self.inside(b, |code| {
                if outputs {
                    code.outputs();
                }
                code.own_local();
                let many = code.rng.within(1, 6);
                code.statements_of(many);
            });
            self.zone = Zone::Uniform;
        };
        match zone {
            Zone::Once => builder.once_phase(fill),
            _ => builder.phase(fill),
        }
        self.open = open;
        self.builder = builder;
    }

    /// Each item writes its own slot of local memory; it is read in uniform code only, so that no
    /// phase has a race.
    fn own_local(&mut self) {
        if self.zone != Zone::Items {
            return;
        }
        for (param, ty) in self.locals.clone() {
            let (x, size) = (self.builder.query(Query::LocalId, 0), 4);
            let four = self.builder.index(size);
            let row = self.builder.binary(Binary::Mul, x, four);
            let y = match self.rank {
                1 => self.builder.index(0),
                _ => self.builder.query(Query::LocalId, 1),
            };
            let at = self.builder.binary(Binary::Add, row, y);
            let value = self.of_type(ty);
            self.builder.store_at(param, [at], value);
        }
    }

    fn collect(&mut self, uniform: &[(VarId, Type)], items: &[(VarId, Type)]) {
        let fold = self.rng.pick(&[Fold::Reduce, Fold::Inclusive, Fold::Exclusive]);
        let of = if fold == Fold::Reduce { uniform } else { items };
        let fits = |(var, ty): &(VarId, Type)| Some((*var, ty.scalar()?));
        let fitting: Vec<_> = of.iter().filter_map(fits).collect();
        let Some(first) = fitting.first().copied() else { return };
        let (var, scalar) = first;
        let combine = self.rng.pick(&[Combine::Add, Combine::Mul, Combine::Min, Combine::Max]);
        let mut builder = self.lend();
        builder.collect(fold, combine, var, |b| {
            let mut value = Value(0);
            self.zone = Zone::Items;
            self.inside(b, |code| {
                code.vars = items.to_vec();
                value = code.of_type(scalar.into());
            });
            self.zone = Zone::Uniform;
            value
        });
        self.builder = builder;
    }

    /// Writes all that is promised to be written.
    fn outputs(&mut self) {
        for view in self.views.clone() {
            if view.access == Access::Out {
                self.write_whole(view);
            }
        }
    }

    /// The indices that an item owns, where it owns any here.
    fn own(&mut self, view: View) -> Option<Vec<Value>> {
        let query = match (view.owner, self.zone) {
            (Owner::Item, Zone::Items | Zone::Once) => Query::Position,
            (Owner::Group, Zone::Once) => Query::GroupId,
            _ => return None,
        };
        Some((0..view.rank).map(|dim| self.builder.query(query, dim)).collect())
    }

    fn write_whole(&mut self, view: View) {
        if view.owner == Owner::Row {
            let row = self.builder.position(0);
            let zero = self.builder.index(0);
            let width = self.builder.extent(view.param, 1);
            let value = self.of_type(view.element);
            self.builder.for_range(zero, width, |b, column, _| {
                b.store_at(view.param, [row, column], value);
            });
            return;
        }
        let Some(at) = self.own(view) else { return };
        let parts = self.builder.kernel().types.parts(view.element);
        if parts > 0 && self.rng.chance(40) {
            for part in 0..parts {
                let place = Place::element(view.param, at.clone()).part(part);
                let ty = self.builder.kernel().types.part(view.element, part);
                let value = self.of_type(ty.unwrap_or(view.element));
                self.builder.store(place, value);
            }
        } else {
            let value = self.of_type(view.element);
            self.builder.store_at(view.param, at, value);
        }
    }

    fn statements(&mut self) {
        while self.left > 0 {
            self.statement();
        }
    }

    fn statements_of(&mut self, many: usize) {
        for _ in 0..many.min(self.left) {
            self.statement();
        }
    }

    fn statement(&mut self) {
        self.left = self.left.saturating_sub(1);
        match self.rng.below(16) {
            0..=4 => {
                let value = self.any();
                self.know(value);
            }
            5 | 6 => self.set_variable(),
            7 | 8 => self.store(),
            9 | 10 if self.depth < 4 => self.branch(),
            11 if self.depth < 4 => self.counted(),
            12 if self.depth < 4 => self.nested(),
            13 => self.exit(),
            14 => self.rare(),
            _ => {
                let value = self.memory();
                self.know(value);
            }
        }
    }

    fn set_variable(&mut self) {
        let writable = self.zone != Zone::Once;
        let Some((var, ty)) = self.some(&self.vars.clone()).filter(|_| writable) else { return };
        let (place, ty) = self.within(Place::var(var), ty);
        let value = self.of_type(ty);
        self.builder.store(place, value);
    }

    fn some<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        if of.is_empty() { None } else { Some(self.rng.pick(of)) }
    }

    /// A place in a place, sometimes by an index that may be out of bounds.
    fn within(&mut self, mut place: Place, mut ty: Type) -> (Place, Type) {
        while self.builder.kernel().types.parts(ty) > 0 && self.rng.chance(60) {
            let parts = self.builder.kernel().types.parts(ty);
            let is_array = matches!(
                self.builder.kernel().types.get(ty),
                Some(folio_kernel::Composite::Array { .. })
            );
            let part = self.rng.below(parts as usize) as u32;
            let next = self.builder.kernel().types.part(ty, part);
            if is_array && self.rng.chance(60) {
                let index = self.index_below(u64::from(parts));
                place.path.push(Step::At(index));
            } else {
                place.path.push(Step::Part(part));
            }
            ty = next.unwrap_or(ty);
        }
        (place, ty)
    }

    fn store(&mut self) {
        let writes = |view: &View| view.access != Access::In && view.owner != Owner::Atomic;
        let views: Vec<_> = self.views.iter().copied().filter(writes).collect();
        let Some(view) = self.some(&views) else { return };
        if view.owner == Owner::Row {
            return self.write_whole(view);
        }
        let Some(at) = self.own(view) else { return };
        let (place, ty) = self.within(Place::element(view.param, at), view.element);
        let value = self.of_type(ty);
        self.builder.store(place, value);
    }

    fn branch(&mut self) {
        let cond = self.condition();
        let mut builder = self.lend();
        let (mut then, mut otherwise) = (true, self.rng.chance(40));
        // Both closures need the generator: one after the other.
        let code = std::cell::RefCell::new(&mut *self);
        let fill = |go: &mut bool, b: &mut Builder| {
            if *go {
                let mut code = code.borrow_mut();
                code.inside(b, |code| {
                    let many = code.rng.within(1, 3);
                    code.statements_of(many);
                });
            }
        };
        builder.if_else(cond, |b| fill(&mut then, b), |b| fill(&mut otherwise, b));
        self.builder = builder;
    }

    fn condition(&mut self) -> Value {
        let scalar = self.rng.pick(&[Scalar::U64, Scalar::F32, Scalar::U64]);
        let (a, b) = (self.of_type(scalar.into()), self.of_type(scalar.into()));
        let op = self.rng.pick(Compare::ALL);
        self.builder.compare(op, a, b)
    }

    fn counted(&mut self) {
        let scalar = self.rng.pick(&[Scalar::U64, Scalar::I32, Scalar::U8]);
        let start = self.rng.below(3) as i128;
        let start = self.builder.int(scalar, start);
        let end = match self.rng.chance(70) {
            true => {
                let end = self.rng.below(5) as i128;
                self.builder.int(scalar, end)
            }
            false => {
                let any = self.of_type(scalar.into());
                let mask = self.builder.int(scalar, 3);
                self.builder.binary(Binary::And, any, mask)
            }
        };
        let mut builder = self.lend();
        builder.for_range(start, end, |b, index, label| {
            self.inside(b, |code| {
                code.know(index);
                code.looped(label, true);
            });
        });
        self.builder = builder;
    }

    fn looped(&mut self, label: Label, is_loop: bool) {
        self.open.push((label, is_loop));
        let many = self.rng.within(1, 3);
        self.statements_of(many);
        self.open.pop();
    }

    /// A block, or a loop that is left when a variable of its own has counted to 3.
    fn nested(&mut self) {
        if self.rng.chance(50) {
            let mut builder = self.lend();
            builder.scope(|b, label| self.inside(b, |code| code.looped(label, false)));
            self.builder = builder;
            return;
        }
        let uniform = self.zone == Zone::Uniform;
        if self.zone == Zone::Once {
            return;
        }
        let count = self.builder.var("count", Scalar::U64, uniform);
        let zero = self.builder.index(0);
        self.builder.set(count, zero);
        let mut builder = self.lend();
        let cond = |b: &mut Builder| {
            let (now, three, one) = (b.get(count), b.index(3), b.index(1));
            let go = b.compare(Compare::Lt, now, three);
            let next = b.binary(Binary::Add, now, one);
            b.set(count, next);
            go
        };
        builder.while_loop(cond, |b, label| {
            self.inside(b, |code| {
                let now = code.builder.get(count);
                code.know(now);
                code.looped(label, true);
            });
        });
        self.builder = builder;
    }

    /// Leaves something, under a condition.
    fn exit(&mut self) {
        let Some((label, is_loop)) = self.some(&self.open.clone()) else {
            // Before outputs are written this would be refused; they are written first.
            if self.zone != Zone::Uniform && self.rng.chance(50) {
                let cond = self.condition();
                self.builder.if_then(cond, |b| b.push(Stmt::Return));
            }
            return;
        };
        let repeats = is_loop && self.rng.chance(50);
        let stmt = if repeats { Stmt::Continue(label) } else { Stmt::Break(label) };
        let cond = self.condition();
        self.builder.if_then(cond, |b| b.push(stmt));
    }

    /// Contributions, assertions, and what there is in phases only.
    fn rare(&mut self) {
        match self.rng.below(3) {
            0 if self.zone != Zone::Uniform => {
                if let Some((param, scalar)) = self.some(&self.reduces.clone()) {
                    let value = self.of_type(scalar.into());
                    self.builder.push(Stmt::Contribute { param, value });
                }
            }
            1 if self.rng.chance(30) => {
                let cond = self.condition();
                let site = Site { file: "k.rs".into(), line: 1, column: 1, message: None };
                self.builder.assert(cond, site);
            }
            _ => {}
        }
    }

    /// A value of a random type.
    fn any(&mut self) -> Value {
        let ty = self.rng.pick(&self.types.clone());
        self.make(ty)
    }

    /// A value of this type: a known one, or a new one.
    fn of_type(&mut self, ty: Type) -> Value {
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

    fn scalar(&mut self, scalar: Scalar) -> Value {
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
        let groups = [Query::LocalId, Query::GroupId, Query::GroupSize, Query::GroupCount];
        let uniform = self.zone == Zone::Uniform;
        let all = items.iter().chain(if self.groups { &groups[..] } else { &[] });
        let fit: Vec<_> = all.copied().filter(|query| !uniform || query.is_uniform()).collect();
        let query = self.rng.pick(&fit);
        let dim = self.rng.below(usize::from(self.rank)) as u8;
        self.builder.query(query, dim)
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
                all.filter(|op| !wrong(op) && !counts.contains(op)).collect()
            }
            s if s.is_signed() => integers.iter().copied().chain([Abs]).collect(),
            _ => integers.to_vec(),
        };
        let op = self.rng.pick(&ops);
        let value = self.of_type(scalar.into());
        self.builder.unary(op, value)
    }

    fn binary(&mut self, scalar: Scalar) -> Value {
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
    fn index_below(&mut self, n: u64) -> Value {
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
        match (view.access, view.owner) {
            (Access::In, _) => Some((0..view.rank).map(|dim| self.anywhere(view, dim)).collect()),
            (Access::InOut, Owner::Item | Owner::Group) => self.own(view),
            (Access::InOut, Owner::Row) => {
                let row = self.builder.position(0);
                Some(vec![row, self.anywhere(view, 1)])
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
    fn memory(&mut self) -> Value {
        let atomic = |view: &&View| view.owner == Owner::Atomic;
        if let Some(view) = self.views.iter().find(atomic).copied()
            && self.zone != Zone::Uniform
            && self.rng.chance(40)
        {
            // Those of which the result does not depend on the order.
            let op = self.rng.pick(&[Atomic::Add, Atomic::Min, Atomic::Max, Atomic::Xor]);
            let at = self.anywhere(view, 0);
            let value = self.of_type(view.element);
            return self.builder.atomic(op, Place::element(view.param, [at]), &[value]);
        }
        if self.zone == Zone::Uniform
            && let Some((param, ty)) = self.some(&self.locals.clone())
        {
            let at = self.index_below(16);
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
