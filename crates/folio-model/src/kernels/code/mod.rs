//! Random code: what is made so far, phases, and what is promised to be written.

mod statements;
mod values;

use super::View;
use crate::rng::Rng;
use folio_kernel::{
    Access, Binary, Builder, Combine, Fold, Label, Owner, ParamId, Place, Query, Scalar, Type,
    Value, VarId,
};

/// The code so far.
pub(crate) struct Code {
    pub builder: Builder,
    pub rng: Rng,
    pub rank: u8,
    pub groups: bool,
    pub views: Vec<View>,
    pub reduces: Vec<(ParamId, Scalar)>,
    pub locals: Vec<(ParamId, Type)>,
    /// Slots of local memory, one for each item at least, and from one of an item to that of the
    /// next in dimension 0.
    pub slots: u32,
    row: u64,
    types: Vec<Type>,
    /// Visible values.
    known: Vec<Value>,
    vars: Vec<(VarId, Type)>,
    /// Labels around, and whether they are loops'.
    open: Vec<(Label, bool)>,
    zone: Zone,
    depth: usize,
    /// An item may have left the phase.
    parted: bool,
    /// Statements that may still be made.
    left: usize,
    /// In so many of 100 cases, what is only read is read at the own position.
    pub near: usize,
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
    pub fn new(mut builder: Builder, mut rng: Rng, rank: u8, group: Option<[u64; 3]>) -> Code {
        let mut types: Vec<Type> = vec![Scalar::U64.into(), Scalar::F32.into()];
        types.extend((0..2).map(|_| Type::from(rng.pick(&SCALARS))));
        let (a, b) = (rng.pick(&types[1..]), rng.pick(&types[1..]));
        let array = builder.types().array(a, rng.within(1, 4) as u32);
        let pair = builder.types().structure("Pair", &[("a", a), ("b", b)]);
        types.extend([array, pair]);
        let left = rng.within(3, 25);
        Code::of_types(builder, rng, rank, group, types, left)
    }

    /// Code of so many statements over these types, which the builder has, `u64` and `f32` first.
    pub fn of_types(
        builder: Builder,
        rng: Rng,
        rank: u8,
        group: Option<[u64; 3]>,
        types: Vec<Type>,
        left: usize,
    ) -> Code {
        let zone = if group.is_some() { Zone::Uniform } else { Zone::Items };
        let items = group.map_or(1, |group| group.iter().product::<u64>());
        let (slots, row) =
            if items <= 16 { (16, 4) } else { (items as u32, group.map_or(1, |g| g[1])) };
        Code {
            builder,
            rng,
            rank,
            groups: group.is_some(),
            views: vec![],
            reduces: vec![],
            locals: vec![],
            slots,
            row,
            types,
            known: vec![],
            vars: vec![],
            open: vec![],
            zone,
            depth: 0,
            parted: false,
            left,
            near: 0,
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
            (self.zone, self.parted) = (zone, false);
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
            let x = self.builder.query(Query::LocalId, 0);
            let width = self.builder.index(self.row);
            let row = self.builder.binary(Binary::Mul, x, width);
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
            (self.zone, self.parted) = (Zone::Items, false);
            self.inside(b, |code| {
                code.vars = items.to_vec();
                if code.rng.chance(30) {
                    code.together();
                }
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
        if let Some(line) = view.owner.line() {
            let own = self.builder.position(0);
            let zero = self.builder.index(0);
            let length = self.builder.extent(view.param, 1 - line as u8);
            let value = self.of_type(view.element);
            self.builder.for_range(zero, length, |b, along, _| {
                let at = if line == 0 { [own, along] } else { [along, own] };
                b.store_at(view.param, at, value);
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
}
