//! Kernels of random graphs: simple ones, which fuse, and any.

use super::generate::{Role, Store};
use crate::kernels::code::Code;
use crate::rng::Rng;
use folio_kernel::fuse::{Argument, Geometry, MemoryId, Region, Wishes};
use folio_kernel::{
    Access, Atomic, Binary, Builder, Combine, Compare, Kernel, Owner, ParamId, ParamKind, Place,
    Query, Scalar, Site, Stmt, Type, Value, VerifyError,
};

/// The memories and ranges that kernels of a graph can use.
pub(super) struct Pool {
    pub rank: u8,
    pub geometry: Geometry,
    pub stores: Vec<Store>,
    /// Memories that earlier kernels have written.
    pub written: Vec<MemoryId>,
    pub scalars: [Scalar; 2],
}

/// A kernel with arguments.
pub(super) struct Bound {
    pub kernel: Kernel,
    pub arguments: Vec<Argument>,
    /// The kernel may run over a part of the items.
    pub partial: bool,
    pub writes: Vec<MemoryId>,
}

struct Writer<'p> {
    pool: &'p Pool,
    rng: Rng,
    builder: Builder,
    arguments: Vec<Argument>,
    used: Vec<MemoryId>,
    writes: Vec<MemoryId>,
    groups: bool,
}

pub(super) fn kernel(pool: &Pool, rng: &mut Rng) -> Result<Bound, VerifyError> {
    let groups = rng.chance(35);
    let number = rng.below(100);
    let name = format!("k{number}");
    let mut builder = match groups {
        true => Builder::groups(&name, pool.rank),
        false => Builder::items(&name, pool.rank),
    };
    let at = number as u32;
    builder.at(Site { file: format!("{name}.rs"), line: at, column: 1, message: None });
    let mut inner = Rng::new(rng.next());
    let any = inner.chance(35);
    let writer = Writer {
        pool,
        rng: inner,
        builder,
        arguments: vec![],
        used: vec![],
        writes: vec![],
        groups,
    };
    if any { writer.any() } else { writer.simple() }
}

/// A view of a memory, by chance.
fn region(store: &Store, rng: &mut Rng) -> Argument {
    let Store { memory, extent, views, .. } = *store;
    let [first, second, third] = extent;
    let view = rng.below(views as usize) as u64;
    let (shape, origin) = ([first * views, second, third], [first * view, 0, 0]);
    let region = Region { memory, shape, origin, extent };
    Argument::View { region, wishes: Wishes::default() }
}

impl Writer<'_> {
    /// A memory that this kernel does not use yet; for reading, rather one that was written.
    fn store(&mut self, fits: impl Fn(&Store) -> bool, read: bool) -> Option<Store> {
        let free = |store: &&Store| !self.used.contains(&store.memory) && fits(store);
        let all: Vec<Store> = self.pool.stores.iter().filter(free).copied().collect();
        let recent = |store: &&Store| self.pool.written.contains(&store.memory);
        let written: Vec<Store> = all.iter().filter(recent).copied().collect();
        let of = if read && !written.is_empty() && self.rng.chance(75) { &written } else { &all };
        if of.is_empty() {
            return None;
        }
        let store = of[self.rng.below(of.len())];
        self.used.push(store.memory);
        Some(store)
    }

    fn view(&mut self, store: &Store, access: Access, owner: Owner) -> ParamId {
        let at = self.arguments.len();
        let argument = region(store, &mut self.rng);
        self.arguments.push(argument);
        if access != Access::In {
            self.writes.push(store.memory);
        }
        let element = self.element(store);
        self.builder.view(&format!("a{at}"), element, store.rank, access, owner)
    }

    /// A view, for any code.
    fn viewed(&mut self, store: &Store, access: Access, owner: Owner) -> crate::kernels::View {
        let (param, element) = (self.view(store, access, owner), self.element(store));
        crate::kernels::View { param, element, rank: store.rank, access, owner }
    }

    fn element(&mut self, store: &Store) -> Type {
        match store.parts {
            1 => store.scalar.into(),
            parts => self.builder.types().array(store.scalar, parts),
        }
    }

    fn reduce(&mut self) -> Option<(ParamId, Scalar)> {
        let store = self.store(|store| store.role == Role::Result, false)?;
        let combine = self.rng.pick(&[Combine::Add, Combine::Min, Combine::Max]);
        self.arguments.push(Argument::Reduce(store.memory));
        self.writes.push(store.memory);
        let kind = ParamKind::Reduce { element: store.scalar.into(), combine };
        Some((self.builder.param("result", kind), store.scalar))
    }

    fn scalar(&mut self, scalar: Scalar) -> Value {
        let bytes = (self.rng.below(5) as u64).to_le_bytes()[..scalar.size() as usize].to_vec();
        let fixed = self.rng.chance(60);
        self.arguments.push(Argument::Scalar { bytes, fixed });
        let at = self.arguments.len();
        self.builder.scalar(&format!("s{at}"), scalar)
    }

    fn finish(self, partial: bool) -> Result<Bound, VerifyError> {
        let Writer { builder, arguments, writes, .. } = self;
        Ok(Bound { kernel: builder.finish()?, arguments, partial, writes })
    }

    /// Any code over some memories.
    fn any(mut self) -> Result<Bound, VerifyError> {
        let [a, b] = self.pool.scalars;
        let mut types: Vec<Type> = vec![Scalar::U64.into(), Scalar::F32.into(), a.into(), b.into()];
        types.push(self.builder.types().array(a, 2));
        let group = self.pool.geometry.group.filter(|_| self.groups);
        let statements = self.rng.within(2, 10);
        let (rng, rank) = (Rng::new(self.rng.next()), self.pool.rank);
        let lent = std::mem::replace(&mut self.builder, Builder::items("", 1));
        let mut code = Code::of_types(lent, rng, rank, group, types, statements);
        code.near = 75;
        std::mem::swap(&mut self.builder, &mut code.builder);
        let scalar = self.pool.scalars[0];
        let value = self.scalar(scalar);
        code.know(value);
        for _ in 0..self.rng.within(1, 2) {
            let readable =
                |store: &Store| matches!(store.role, Role::Items | Role::Groups | Role::Rows);
            if let Some(store) = self.store(readable, true) {
                let view = self.viewed(&store, Access::In, Owner::Item);
                code.views.push(view);
            }
        }
        let groups = self.groups;
        for _ in 0..self.rng.within(1, 2) {
            let access = self.rng.pick(&[Access::Out, Access::InOut]);
            let fits = |s: &Store| match s.role {
                Role::Items => true,
                Role::Groups => groups,
                Role::Rows => !groups,
                Role::Atomic | Role::Result => false,
            };
            if let Some(store) = self.store(fits, false) {
                let owner = match store.role {
                    Role::Groups => Owner::Group,
                    Role::Rows => Owner::Row,
                    _ => Owner::Item,
                };
                let view = self.viewed(&store, access, owner);
                code.views.push(view);
            }
        }
        if self.rng.chance(15)
            && let Some(store) = self.store(|store| store.role == Role::Atomic, false)
        {
            let view = self.viewed(&store, Access::InOut, Owner::Atomic);
            code.views.push(view);
        }
        let reduces = if self.rng.chance(20) { self.reduce() } else { None };
        code.reduces.extend(reduces);
        if groups {
            let kind = ParamKind::Local { element: scalar.into(), len: code.slots };
            let param = self.builder.param("local", kind);
            self.arguments.push(Argument::Local);
            code.locals.push((param, scalar.into()));
        }
        std::mem::swap(&mut self.builder, &mut code.builder);
        code.body();
        self.builder = code.builder;
        let partial = !groups && self.rng.chance(20);
        self.finish(partial)
    }

    /// Loads of one or two memories, some operations, a store: for each item, or in phases.
    fn simple(mut self) -> Result<Bound, VerifyError> {
        let mut inputs = vec![];
        for _ in 0..self.rng.within(1, 2) {
            let readable = |store: &Store| {
                matches!(store.role, Role::Items | Role::Groups) && store.parts == 1
            };
            if let Some(store) = self.store(readable, true) {
                inputs.push((store, self.view(&store, Access::In, Owner::Item)));
            }
        }
        let access = self.rng.pick(&[Access::Out, Access::Out, Access::InOut]);
        let output = self.store(|s| s.role == Role::Items && s.parts == 1, false);
        let output = output.map(|store| (store, self.view(&store, access, Owner::Item), access));
        let result = if self.rng.chance(15) { self.reduce() } else { None };
        let atomic = if self.rng.chance(8) {
            let store = self.store(|store| store.role == Role::Atomic, false);
            store.map(|store| (store, self.view(&store, Access::InOut, Owner::Atomic)))
        } else {
            None
        };
        let by = self.scalar(Scalar::U64);
        let groups = self.groups;
        let mut builder = std::mem::replace(&mut self.builder, Builder::items("", 1));
        let plan = Simple { inputs, output, result, atomic, by, groups };
        match groups {
            true => builder.phase(|b| plan.write(b, &mut self)),
            false => plan.write(&mut builder, &mut self),
        }
        self.builder = builder;
        let partial = !groups && self.rng.chance(25);
        self.finish(partial)
    }
}

/// The parameters and variables of a simple kernel.
struct Simple {
    inputs: Vec<(Store, ParamId)>,
    output: Option<(Store, ParamId, Access)>,
    result: Option<(ParamId, Scalar)>,
    atomic: Option<(Store, ParamId)>,
    by: Value,
    groups: bool,
}

impl Simple {
    fn write(&self, b: &mut Builder, of: &mut Writer<'_>) {
        let rank = of.pool.rank;
        let own: Vec<Value> = (0..rank).map(|dim| b.position(dim)).collect();
        let mut values = vec![];
        for (store, param) in &self.inputs {
            let at = self.place(b, of, store, *param, &own);
            values.push(b.load_at(*param, at));
        }
        if of.rng.chance(10) {
            self.leave(b, of, &own);
        }
        let Some((store, param, access)) = self.output else {
            self.rest(b, values.first().copied());
            return;
        };
        let scalar = store.scalar;
        if access == Access::InOut {
            values.push(b.load_at(param, own.clone()));
        }
        let mut sum = b.cast(self.by, scalar);
        for value in values {
            let value = b.cast(value, scalar);
            let op = of.rng.pick(&[Binary::Add, Binary::Sub, Binary::Mul, Binary::Min]);
            sum = b.binary(op, sum, value);
        }
        match of.rng.below(6) {
            // Twice, of which only the second counts.
            0 => {
                b.store_at(param, own.clone(), sum);
                let sum = b.binary(Binary::Add, sum, sum);
                b.store_at(param, own, sum);
            }
            // In some items only, or in turns.
            1 if access == Access::InOut => {
                let two = b.index(2);
                let odd = b.binary(Binary::Rem, own[0], two);
                let zero = b.index(0);
                let cond = b.compare(Compare::Ne, odd, zero);
                b.if_then(cond, |b| b.store_at(param, own, sum));
            }
            2 if access == Access::InOut => {
                let zero = b.index(0);
                b.for_range(zero, self.by, |b, _, _| {
                    let old = b.load_at(param, own.clone());
                    let new = b.binary(Binary::Add, old, sum);
                    b.store_at(param, own, new);
                });
            }
            _ => b.store_at(param, own, sum),
        }
        self.rest(b, Some(sum));
    }

    /// Where an input is read: mostly at the item's own element.
    fn place(
        &self,
        b: &mut Builder,
        of: &mut Writer<'_>,
        store: &Store,
        param: ParamId,
        own: &[Value],
    ) -> Vec<Value> {
        let one = b.index(1);
        if store.role == Role::Groups {
            return (0..store.rank)
                .map(|dim| match self.groups {
                    true => b.query(Query::GroupId, dim),
                    false => b.index(0),
                })
                .collect();
        }
        match of.rng.below(10) {
            // The neighbour, held to the last.
            0 => {
                let next = b.binary(Binary::Add, own[0], one);
                let extent = b.extent(param, 0);
                let last = b.binary(Binary::Sub, extent, one);
                let next = b.binary(Binary::Min, next, last);
                [&[next], &own[1..]].concat()
            }
            // The neighbour, perhaps out of bounds.
            1 if of.rng.chance(30) => {
                let next = b.binary(Binary::Add, own[0], one);
                [&[next], &own[1..]].concat()
            }
            // Reversed in the group.
            1..=3 if self.groups => (0..store.rank)
                .map(|dim| {
                    let (size, local) =
                        (b.query(Query::GroupSize, dim), b.query(Query::LocalId, dim));
                    let start = b.binary(Binary::Sub, own[usize::from(dim)], local);
                    let last = b.binary(Binary::Sub, size, one);
                    let place = b.binary(Binary::Sub, last, local);
                    b.binary(Binary::Add, start, place)
                })
                .collect(),
            _ => own.to_vec(),
        }
    }

    /// Some items end here, or fail.
    fn leave(&self, b: &mut Builder, of: &mut Writer<'_>, own: &[Value]) {
        if self.output.is_some_and(|(_, _, access)| access == Access::Out) {
            return;
        }
        let limit = b.index(2);
        let cond = b.compare(Compare::Lt, own[0], limit);
        if of.rng.chance(15) {
            let message = Some("too far".to_owned());
            let site = Site { file: "leave.rs".to_owned(), line: 1, column: 2, message };
            b.assert(cond, site);
        } else {
            b.if_else(cond, |_| (), |b| b.push(Stmt::Return));
        }
    }

    fn rest(&self, b: &mut Builder, value: Option<Value>) {
        if let (Some((param, scalar)), Some(value)) = (self.result, value) {
            let value = b.cast(value, scalar);
            b.push(Stmt::Contribute { param, value });
        }
        if let (Some((store, param)), Some(value)) = (self.atomic, value) {
            let value = b.cast(value, store.scalar);
            let zero = b.index(0);
            b.atomic(Atomic::Add, Place::element(param, [zero]), &[value]);
        }
    }
}
