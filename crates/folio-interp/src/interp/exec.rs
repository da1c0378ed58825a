//! Launches, groups, items, statements.

use super::memory::{self, Val};
use super::{
    Accessed, Arg, BLOCK, Device, Failure, MOST_FAILURES, Order, Ran, Stop, Touched, Who, cpu,
    fold, scalar,
};
use folio_kernel::launch::Launch;
use folio_kernel::{
    Atomic, Binary, Body, Collision, Combine, Compare, Fold, Hop, Kernel, Label, Let, Op, ParamId,
    ParamKind, Place, Query, Root, Scalar, SiteId, Stmt, Subgroup, Type, Value, VarId,
    ViolationKind,
};

/// Runs a kernel whose arguments fit.
pub fn run(
    kernel: &Kernel,
    launch: &Launch,
    args: &mut [Arg],
    manner: Manner,
    budget: u64,
) -> Result<Ran, Stop> {
    let touched = vec![None; kernel.params.len()];
    let locals = kernel.params.iter().map(|_| vec![]).collect();
    let items = Contributions { all: kernel.params.iter().map(|_| vec![]).collect(), item: vec![] };
    let mut machine = Machine {
        kernel,
        launch,
        args,
        manner,
        locals,
        items,
        budget,
        who: Who::Group([0; 3]),
        failed: None,
        failures: vec![],
        accesses: vec![],
        touched,
    };
    if kernel.shape.groups {
        machine.groups()?;
    } else {
        machine.items()?;
    }
    for at in 0..kernel.params.len() {
        if let ParamKind::Reduce { element, combine } = kernel.params[at].kind
            && let (Some(scalar), Arg::Reduce(bytes)) = (element.scalar(), &mut machine.args[at])
        {
            let (values, size) = (&machine.items.all[at], kernel.types.layout(element).0 as usize);
            // Memory for several values gets one for each leaf.
            let result = |values: &[u64]| fold::launch(combine, scalar, values);
            let results = match bytes.len() / size.max(1) {
                0 | 1 => vec![result(values)],
                _ if kernel.shape.groups => values.clone(),
                _ => values.chunks(fold::LEAF).map(result).collect(),
            };
            for (result, bytes) in results.into_iter().zip(bytes.chunks_exact_mut(size)) {
                Val::Bits(result).write(&kernel.types, element, bytes);
            }
        }
    }
    let Machine { failures, failed, accesses, touched, .. } = machine;
    Ok(Ran { failure: failures.first().cloned(), failures, failed, accesses, touched })
}

/// How a launch runs.
#[derive(Clone, Copy)]
pub struct Manner {
    pub order: Order,
    pub device: Device,
    /// The only item of which it runs; of a kernel of groups all of its group runs.
    pub only: Option<[u64; 3]>,
}

/// The contributions of items to launch-wide reductions, by parameter.
struct Contributions {
    /// Of all items so far, or groups.
    all: Vec<Vec<u64>>,
    /// Of this item so far.
    item: Vec<Option<u64>>,
}

/// Where a body was left to.
#[derive(PartialEq)]
enum Way {
    On,
    Break(Label),
    Continue(Label),
    Return,
}

/// An item, or the group where its code is uniform.
#[derive(Clone)]
struct Item {
    values: Vec<Option<Val>>,
    vars: Vec<Val>,
    /// Position of each of the thread's items.
    positions: Vec<[u64; 3]>,
    local: [u64; 3],
    group: [u64; 3],
}

struct Machine<'r> {
    kernel: &'r Kernel,
    launch: &'r Launch,
    args: &'r mut [Arg],
    manner: Manner,
    /// By parameter: the bytes of the group's local memory.
    locals: Vec<Vec<u8>>,
    items: Contributions,
    budget: u64,
    /// Whose code runs now, and whose failed first.
    who: Who,
    failed: Option<Who>,
    failures: Vec<Failure>,
    accesses: Vec<Accessed>,
    touched: Vec<Option<Touched>>,
}

/// All positions of a box, in row-major order.
fn positions(range: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
    let [a, b, c] = range;
    (0..a).flat_map(move |x| (0..b).flat_map(move |y| (0..c).map(move |z| [x, y, z])))
}

impl<'r> Machine<'r> {
    /// A box of the kernel's rank; the other dimensions have one.
    fn shape(&self, of: [u64; 3]) -> [u64; 3] {
        let rank = usize::from(self.kernel.shape.rank);
        std::array::from_fn(|dim| if dim < rank { of[dim] } else { 1 })
    }

    /// Where among the launch's items the item of this position is.
    fn place(&self, position: [u64; 3]) -> [u64; 3] {
        let rank = usize::from(self.kernel.shape.rank);
        let at = |dim: usize| position[dim].wrapping_sub(self.launch.offset[dim]);
        std::array::from_fn(|dim| if dim < rank { at(dim) } else { 0 })
    }

    fn fresh(&self) -> Item {
        let vars = self.kernel.vars.iter();
        Item {
            values: vec![None; self.kernel.values.len()],
            vars: vars.map(|var| Val::zero(&self.kernel.types, var.ty)).collect(),
            positions: vec![[0; 3]],
            local: [0; 3],
            group: [0; 3],
        }
    }

    fn items(&mut self) -> Result<(), Stop> {
        let last = usize::from(self.kernel.shape.rank) - 1;
        let tile = u64::from(self.kernel.shape.tile);
        let offset = self.launch.offset;
        let mut threads = self.shape(self.launch.range);
        threads[last] /= tile;
        let mut threads: Vec<_> = match self.manner.only {
            Some(item) => vec![self.place(item)],
            None => positions(threads).collect(),
        };
        if self.manner.order == Order::Backward {
            threads.reverse();
        }
        for thread in threads {
            let mut item = self.fresh();
            let (block, lane) = (thread[last] / BLOCK, thread[last] % BLOCK);
            let position = |copy: u64| {
                let mut at = thread;
                if tile > 1 {
                    at[last] = block * BLOCK * tile + copy * BLOCK + lane;
                }
                std::array::from_fn(|dim| at[dim] + offset[dim])
            };
            item.positions = (0..tile).map(position).collect();
            self.items.item = vec![None; self.kernel.params.len()];
            self.who = Who::Item(item.positions[0]);
            self.body(&self.kernel.body, &mut item)?;
            self.contributed();
        }
        if self.manner.order == Order::Backward {
            self.items.all.iter_mut().for_each(|values| values.reverse());
        }
        Ok(())
    }

    /// An item's contributions are complete.
    fn contributed(&mut self) {
        for (at, param) in self.kernel.params.iter().enumerate() {
            if let ParamKind::Reduce { element, combine } = param.kind {
                let scalar = element.scalar().unwrap_or(Scalar::U64);
                let value = self.items.item[at].or(combine.identity(scalar)).unwrap_or(0);
                self.items.all[at].push(value);
            }
        }
    }

    fn groups(&mut self) -> Result<(), Stop> {
        let (size, range) = (self.shape(self.launch.group), self.shape(self.launch.range));
        let count = std::array::from_fn(|dim| range[dim] / size[dim]);
        let only = self.manner.only.map(|item| {
            let at = self.place(item);
            std::array::from_fn(|dim| at[dim] / size[dim])
        });
        let all = only.is_none().then(|| positions(count)).into_iter().flatten();
        for group in only.into_iter().chain(all) {
            for (at, param) in self.kernel.params.iter().enumerate() {
                if let ParamKind::Local { element, len } = param.kind {
                    let bytes = self.kernel.types.layout(element).0 as usize * len as usize;
                    self.locals[at] = vec![0; bytes];
                }
            }
            let mut shared = self.fresh();
            shared.group = group;
            let member = |local: [u64; 3]| {
                let at = |dim: usize| self.launch.offset[dim] + group[dim] * size[dim] + local[dim];
                let mut item = shared.clone();
                item.local = local;
                item.positions = vec![std::array::from_fn(at)];
                item
            };
            let mut members: Vec<_> = positions(size).map(member).collect();
            let before: Vec<_> = self.items.all.iter().map(Vec::len).collect();
            let mut mine = vec![vec![None; self.kernel.params.len()]; members.len()];
            self.uniform(&self.kernel.body, &mut shared, &mut members, &mut mine)?;
            for item in mine {
                self.items.item = item;
                self.contributed();
            }
            // The group's items give one value together.
            for (at, before) in before.into_iter().enumerate() {
                if let ParamKind::Reduce { element, combine } = self.kernel.params[at].kind {
                    let values = self.items.all[at].split_off(before);
                    let scalar = element.scalar().unwrap_or(Scalar::U64);
                    self.items.all[at].push(fold::tree(combine, scalar, &values));
                }
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Stop> {
        self.budget = self.budget.checked_sub(1).ok_or(Stop::Budget)?;
        Ok(())
    }

    /// Uniform code: phases are run for all members, the rest for the group.
    fn uniform(
        &mut self,
        body: &Body,
        shared: &mut Item,
        members: &mut [Item],
        mine: &mut [Vec<Option<u64>>],
    ) -> Result<Way, Stop> {
        for stmt in body {
            self.step()?;
            self.who = Who::Group(shared.group);
            let way = match stmt {
                Stmt::Phase { once, body } => {
                    let count = if *once { 1 } else { members.len() };
                    self.phase(body, shared, &mut members[..count], mine)?;
                    Way::On
                }
                Stmt::Collect { fold, combine, body, value, into } => {
                    self.phase(body, shared, members, mine)?;
                    self.collect(*fold, *combine, *value, *into, shared, members);
                    Way::On
                }
                Stmt::If { cond, then, otherwise } => {
                    let branch = if self.bool(*cond, shared) { then } else { otherwise };
                    self.uniform(branch, shared, members, mine)?
                }
                Stmt::For { .. } | Stmt::Loop { .. } | Stmt::Block { .. } => {
                    self.nested(stmt, shared, &mut |machine, body, shared| {
                        machine.uniform(body, shared, members, mine)
                    })?
                }
                other => self.simple(other, shared)?,
            };
            if way != Way::On {
                return Ok(way);
            }
        }
        Ok(Way::On)
    }

    fn phase(
        &mut self,
        body: &[Stmt],
        shared: &Item,
        members: &mut [Item],
        mine: &mut [Vec<Option<u64>>],
    ) -> Result<(), Stop> {
        for member in &mut *members {
            // Uniform values are seen by all; the item's own stay.
            member.values.clone_from(&shared.values);
            for (at, var) in self.kernel.vars.iter().enumerate() {
                if var.uniform {
                    member.vars[at].clone_from(&shared.vars[at]);
                }
            }
        }
        // Up to where sub-groups do something together every item arrives (semantics 11.3): one
        // after the other.
        let mut rest = body;
        loop {
            let together = rest.iter().position(|stmt| meeting(stmt).is_some());
            let (alone, after) = rest.split_at(together.unwrap_or(rest.len()));
            let mut all: Vec<_> = members.iter_mut().zip(&mut *mine).collect();
            if self.manner.order == Order::Backward {
                all.reverse();
            }
            for (member, mine) in all {
                self.items.item = std::mem::take(mine);
                self.who = Who::Item(member.positions[0]);
                self.body(alone, member)?;
                *mine = std::mem::take(&mut self.items.item);
            }
            let Some(define) = after.first().and_then(meeting) else { return Ok(()) };
            self.step()?;
            for subgroup in members.chunks_mut(self.manner.device.width as usize) {
                self.meet(define, subgroup);
            }
            rest = &after[1..];
        }
    }

    /// An operation that the items of a sub-group do together.
    fn meet(&self, define: &Let, items: &mut [Item]) {
        let of = |value: Value| items.iter().map(|item| self.bits(value, item)).collect::<Vec<_>>();
        let results = match &define.op {
            Op::SubgroupFold(fold, combine, a) => {
                fold::subgroup(*fold, *combine, self.scalar(*a), &of(*a))
            }
            Op::Subgroup(op, args) => {
                let own = of(args[0]);
                let other = args.get(1).map_or(own.clone(), |lane| of(*lane));
                (0..own.len()).map(|at| lane(*op, &own, at, other[at])).collect()
            }
            _ => return,
        };
        for (item, result) in items.iter_mut().zip(results) {
            item.values[define.value.index()] = Some(Val::Bits(result));
        }
    }

    fn collect(
        &self,
        fold: Fold,
        combine: Combine,
        value: Value,
        into: VarId,
        shared: &mut Item,
        members: &mut [Item],
    ) {
        let scalar = self.scalar(value);
        let values: Vec<_> = members.iter().map(|member| self.bits(value, member)).collect();
        if fold == Fold::Reduce {
            shared.vars[into.index()] = Val::Bits(fold::tree(combine, scalar, &values));
            return;
        }
        let results = fold::scan(fold, combine, scalar, &values);
        for (member, result) in members.iter_mut().zip(results) {
            member.vars[into.index()] = Val::Bits(result);
        }
    }

    /// A loop or block, whose body `run` runs.
    fn nested(
        &mut self,
        stmt: &Stmt,
        item: &mut Item,
        run: &mut dyn FnMut(&mut Self, &Body, &mut Item) -> Result<Way, Stop>,
    ) -> Result<Way, Stop> {
        match stmt {
            Stmt::Block { label, body, .. } => match run(self, body, item)? {
                Way::Break(to) if to == *label => Ok(Way::On),
                way => Ok(way),
            },
            Stmt::Loop { label, body } => loop {
                self.step()?;
                match run(self, body, item)? {
                    Way::On => {}
                    Way::Continue(to) if to == *label => {}
                    Way::Break(to) if to == *label => return Ok(Way::On),
                    way => return Ok(way),
                }
            },
            Stmt::For { label, index, start, end, body } => {
                let scalar = self.scalar(*start);
                let (from, to) =
                    (scalar.int(self.bits(*start, item)), scalar.int(self.bits(*end, item)));
                for at in from..to {
                    self.step()?;
                    let bits = at as u64 & scalar.mask();
                    item.values[index.index()] = Some(Val::Bits(bits));
                    match run(self, body, item)? {
                        Way::On => {}
                        Way::Continue(to) if to == *label => {}
                        Way::Break(to) if to == *label => return Ok(Way::On),
                        way => return Ok(way),
                    }
                }
                Ok(Way::On)
            }
            _ => Ok(Way::On),
        }
    }

    /// The code of one item.
    fn body(&mut self, body: &[Stmt], item: &mut Item) -> Result<Way, Stop> {
        for stmt in body {
            self.step()?;
            let way = match stmt {
                Stmt::If { cond, then, otherwise } => {
                    let branch = if self.bool(*cond, item) { then } else { otherwise };
                    self.body(branch, item)?
                }
                Stmt::For { .. } | Stmt::Loop { .. } | Stmt::Block { .. } => {
                    self.nested(stmt, item, &mut |machine, body, item| machine.body(body, item))?
                }
                other => self.simple(other, item)?,
            };
            if way != Way::On {
                return Ok(way);
            }
        }
        Ok(Way::On)
    }

    /// A statement without bodies.
    fn simple(&mut self, stmt: &Stmt, item: &mut Item) -> Result<Way, Stop> {
        match stmt {
            Stmt::Let(define) => {
                let value = self.op(&define.op, define.site, item);
                item.values[define.value.index()] = Some(value);
            }
            Stmt::Store { place, value, site } => {
                let value = self.get(*value, item);
                self.update(place, *site, item, |_, old| *old = value);
            }
            Stmt::Contribute { param, value } => {
                if let ParamKind::Reduce { combine, .. } = self.kernel.params[param.index()].kind {
                    let (scalar, value) = (self.scalar(*value), self.bits(*value, item));
                    let own = &mut self.items.item[param.index()];
                    *own = Some(fold::add(combine, scalar, *own, value));
                }
            }
            Stmt::Assert { cond, site, collision } if !self.bool(*cond, item) => {
                let kind = match collision {
                    None => ViolationKind::Assertion,
                    Some(Collision { param, index, items }) => {
                        let number = |value: &Value| self.bits(*value, item) as usize;
                        let param = self.kernel.params[param.index()].name.clone();
                        let index = index.iter().map(number).collect();
                        ViolationKind::written_twice(
                            param,
                            index,
                            [0, 1].map(|k| number(&items[k])),
                        )
                    }
                };
                self.fail(kind, Some(*site));
                return Ok(Way::Return);
            }
            Stmt::Break(label) => return Ok(Way::Break(*label)),
            Stmt::Continue(label) => return Ok(Way::Continue(*label)),
            Stmt::Return => return Ok(Way::Return),
            _ => {}
        }
        Ok(Way::On)
    }

    fn fail(&mut self, kind: ViolationKind, site: Option<SiteId>) {
        let site = site.and_then(|site| self.kernel.sites.get(site.index()).cloned());
        let failure = Failure { kind, site };
        self.failed.get_or_insert(self.who);
        if self.failures.len() < MOST_FAILURES && !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }

    fn scalar(&self, value: Value) -> Scalar {
        self.kernel.type_of(value).and_then(Type::scalar).unwrap_or(Scalar::U64)
    }

    #[expect(clippy::expect_used, reason = "this is a test's oracle, of verified kernels")]
    fn get(&self, value: Value, item: &Item) -> Val {
        item.values[value.index()].clone().expect("a verified kernel defines values before")
    }

    fn bits(&self, value: Value, item: &Item) -> u64 {
        self.get(value, item).bits()
    }

    fn bool(&self, value: Value, item: &Item) -> bool {
        self.bits(value, item) == 1
    }

    fn op(&mut self, op: &Op, site: Option<SiteId>, item: &mut Item) -> Val {
        let types = &self.kernel.types;
        let bits = |value: &Value| self.bits(*value, item);
        match op {
            Op::Const(_, bits) => Val::Bits(*bits),
            Op::Zero(ty) => Val::zero(types, *ty),
            Op::Arg(param) => {
                match (&self.kernel.params[param.index()].kind, &self.args[param.index()]) {
                    (ParamKind::Scalar(ty), Arg::Scalar(bytes)) => Val::read(types, *ty, bytes),
                    _ => Val::Bits(0),
                }
            }
            Op::Extent(param, dim) => Val::Bits(self.extent(*param)[usize::from(*dim)]),
            Op::Query { query, dim, copy } => {
                Val::Bits(self.query(*query, usize::from(*dim), usize::from(*copy), item))
            }
            Op::Unary(op, a) => {
                let (scalar, a) = (self.scalar(*a), bits(a));
                let own =
                    self.manner.device.cpu_functions.then(|| cpu::unary(*op, scalar, a)).flatten();
                Val::Bits(own.unwrap_or_else(|| scalar::unary(*op, scalar, a)))
            }
            Op::Binary(op, a, b) => {
                let shifts = matches!(
                    op,
                    Binary::Shl | Binary::Shr | Binary::RotateLeft | Binary::RotateRight
                );
                // Low bits of a negative amount count as those of its two's complement.
                let second = if shifts { self.scalar(*b).int(bits(b)) as u64 } else { bits(b) };
                let (scalar, a) = (self.scalar(*a), bits(a));
                if self.manner.device.cpu_functions
                    && let Some(own) = cpu::binary(*op, scalar, a, second)
                {
                    return Val::Bits(own);
                }
                let computed = scalar::binary(*op, scalar, a, second);
                if computed.by_zero {
                    self.fail(ViolationKind::DivisionByZero, site);
                }
                Val::Bits(computed.bits)
            }
            Op::Compare(op, a, b) => {
                Val::Bits(scalar::compare(*op, self.scalar(*a), bits(a), bits(b)).into())
            }
            Op::Fma(a, b, c) => Val::Bits(scalar::fma(self.scalar(*a), bits(a), bits(b), bits(c))),
            Op::Dot4(a, b, c) => {
                Val::Bits(scalar::dot4(self.scalar(*c), bits(a), bits(b), bits(c)))
            }
            Op::Select(cond, a, b) => self.get(if bits(cond) == 1 { *a } else { *b }, item),
            Op::Cast(a, to) => Val::Bits(scalar::cast(self.scalar(*a), bits(a), *to)),
            Op::Bits(a, _) => Val::Bits(bits(a)),
            Op::Make(_, parts) => {
                Val::Parts(parts.iter().map(|part| self.get(*part, item)).collect())
            }
            Op::Part(a, part) => match self.get(*a, item) {
                Val::Parts(mut parts) => parts.swap_remove(*part as usize),
                scalar => scalar,
            },
            Op::Load(place) => self.update(place, site, item, |_, _| ()),
            Op::Atomic(op, place, args) => {
                let args: Vec<_> = args.iter().map(bits).collect();
                self.update(place, site, item, |ty, old| {
                    let scalar = ty.scalar().unwrap_or(Scalar::U64);
                    *old = Val::Bits(atomic(*op, scalar, old.bits(), &args));
                })
            }
            // Sub-groups have met before: these are directly in phases.
            Op::Subgroup(..) | Op::SubgroupFold(..) => Val::Bits(0),
        }
    }

    fn query(&self, query: Query, dim: usize, copy: usize, item: &Item) -> u64 {
        let Launch { range, offset, group, .. } = self.launch;
        let size = self.shape(*group);
        let within = (item.local[0] * size[1] + item.local[1]) * size[2] + item.local[2];
        match query {
            Query::Position => item.positions[copy][dim],
            Query::LocalId => item.local[dim],
            Query::GroupId => item.group[dim],
            Query::GroupSize => group[dim],
            Query::GroupCount => range[dim] / group[dim],
            Query::Range => range[dim],
            Query::Offset => offset[dim],
            Query::Lane => within % self.manner.device.width,
            Query::SubgroupSize => self.manner.device.width,
            Query::Subgroup => within / self.manner.device.width,
        }
    }

    fn extent(&self, param: ParamId) -> Vec<u64> {
        match (&self.kernel.params[param.index()].kind, &self.args[param.index()]) {
            (ParamKind::Local { len, .. }, _) => vec![u64::from(*len)],
            (_, Arg::View { extent, .. }) => extent.clone(),
            _ => vec![],
        }
    }

    /// Changes what is at a place, and gives what was there before; zero and no change if an index
    /// is out of bounds (semantics 7.5).
    fn update(
        &mut self,
        place: &Place,
        site: Option<SiteId>,
        item: &mut Item,
        change: impl FnOnce(Type, &mut Val),
    ) -> Val {
        self.touch(place, item);
        let (ty, at) = match self.find(place, item) {
            Ok(found) => found,
            Err((ty, kind)) => {
                self.fail(kind, site);
                return Val::zero(&self.kernel.types, ty);
            }
        };
        let types = &self.kernel.types;
        match place.root {
            Root::Var(var) => {
                let path: Vec<u64> = place.path.iter().map(|step| self.part(step, item)).collect();
                let mut value = &mut item.vars[var.index()];
                for at in path {
                    value = match value {
                        Val::Parts(parts) => &mut parts[at as usize],
                        bits => bits,
                    };
                }
                let old = value.clone();
                change(ty, value);
                old
            }
            Root::Element(param, _) => {
                let bytes = match &mut self.args[param.index()] {
                    Arg::View { bytes, .. } => bytes,
                    _ => &mut self.locals[param.index()],
                };
                let old = Val::read(types, ty, &bytes[at..]);
                let mut new = old.clone();
                change(ty, &mut new);
                if new != old {
                    new.write(types, ty, &mut bytes[at..]);
                }
                self.note(place, site, ty, [&old, &new], item);
                old
            }
        }
    }

    /// Keeps an access of the item that runs alone.
    fn note(
        &mut self,
        place: &Place,
        site: Option<SiteId>,
        ty: Type,
        [old, new]: [&Val; 2],
        item: &Item,
    ) {
        let Root::Element(param, at) = &place.root else { return };
        let is_it = self.manner.only == Some(item.positions[0]);
        if !is_it || self.accesses.len() >= MOST_FAILURES {
            return;
        }
        let types = &self.kernel.types;
        self.accesses.push(Accessed {
            site: site.and_then(|site| self.kernel.sites.get(site.index()).cloned()),
            param: self.kernel.params[param.index()].name.clone(),
            index: at.iter().map(|index| self.bits(*index, item)).collect(),
            old: old.shown(types, ty),
            new: (new != old).then(|| new.shown(types, ty)),
        });
    }

    /// Notes which element is accessed.
    fn touch(&mut self, place: &Place, item: &Item) {
        let Root::Element(param, at) = &place.root else { return };
        let at: Vec<_> = at.iter().map(|index| self.bits(*index, item)).collect();
        let touched = &mut self.touched[param.index()];
        let all = touched.get_or_insert_with(|| at.iter().map(|i| (*i, *i)).collect());
        for ((lo, hi), i) in all.iter_mut().zip(&at) {
            (*lo, *hi) = ((*lo).min(*i), (*hi).max(*i));
        }
    }

    /// Which part a step takes.
    fn part(&self, step: &Hop, item: &Item) -> u64 {
        match step {
            Hop::Part(part) => u64::from(*part),
            Hop::At(index) => self.bits(*index, item),
        }
    }

    /// The type of a place, and the offset of its bytes in its variable or argument; or the
    /// violation.
    fn find(&self, place: &Place, item: &Item) -> Result<(Type, usize), (Type, ViolationKind)> {
        let types = &self.kernel.types;
        let mut wrong = None;
        let (mut ty, mut at) = match &place.root {
            Root::Var(var) => (self.kernel.vars[var.index()].ty, 0),
            Root::Element(param, indices) => {
                let name = &self.kernel.params[param.index()].name;
                let ty = self.kernel.elements(*param).map_or(Scalar::U64.into(), |(ty, _)| ty);
                let extent = self.extent(*param);
                let index: Vec<_> = indices.iter().map(|i| self.bits(*i, item)).collect();
                let mut linear = 0u64;
                for (i, n) in index.iter().zip(&extent) {
                    if i >= n {
                        wrong = Some((Some(name.clone()), index.clone(), extent.clone()));
                    }
                    linear = linear.wrapping_mul(*n).wrapping_add(*i);
                }
                (ty, (linear as usize).wrapping_mul(types.layout(ty).0 as usize))
            }
        };
        for step in &place.path {
            let (part, count) = (self.part(step, item), u64::from(types.parts(ty)));
            if part >= count {
                wrong = wrong.or(Some((None, vec![part], vec![count])));
            }
            // All parts of what can be indexed are alike: the type is right in any case.
            let found = memory::part(types, ty, if part < count { part as u32 } else { 0 });
            let (inner, offset) = found.unwrap_or((ty, 0));
            ty = inner;
            at = at.wrapping_add(offset);
        }
        match wrong {
            None => Ok((ty, at)),
            Some((param, index, extent)) => {
                let index = index.into_iter().map(|i| i as i64).collect();
                let extent = extent.into_iter().map(|n| n as usize).collect();
                Err((ty, ViolationKind::OutOfBounds { param, index, extent }))
            }
        }
    }
}

/// The definition in this statement, if sub-groups compute it together.
fn meeting(stmt: &Stmt) -> Option<&Let> {
    match stmt {
        Stmt::Let(define) if matches!(define.op, Op::Subgroup(..) | Op::SubgroupFold(..)) => {
            Some(define)
        }
        _ => None,
    }
}

/// The result of the lane `at` from the values of its sub-group (semantics 11.2).
fn lane(op: Subgroup, values: &[u64], at: usize, other: u64) -> u64 {
    let own = values[at];
    let of = |lane: u64| values.get(lane as usize).copied().unwrap_or(own);
    match op {
        Subgroup::Any => values.contains(&1).into(),
        Subgroup::All => (!values.contains(&0)).into(),
        Subgroup::Broadcast => of(other),
        Subgroup::ShuffleXor => of(at as u64 ^ other),
        Subgroup::Match => {
            let equal = |values: &[u64]| values.iter().filter(|x| **x == own).count() as u64;
            let first = values.iter().position(|x| *x == own).unwrap_or(at) as u64;
            equal(&values[..at]) | equal(values) << 8 | first << 16
        }
    }
}

/// The value that an atomic operation leaves behind (semantics 9.1).
fn atomic(op: Atomic, scalar: Scalar, old: u64, args: &[u64]) -> u64 {
    let with = |op| scalar::binary(op, scalar, old, args[0]).bits;
    match op {
        Atomic::Load => old,
        Atomic::Add => with(Binary::Add),
        Atomic::Sub => with(Binary::Sub),
        Atomic::Min => with(Binary::Min),
        Atomic::Max => with(Binary::Max),
        Atomic::And => with(Binary::And),
        Atomic::Or => with(Binary::Or),
        Atomic::Xor => with(Binary::Xor),
        Atomic::Exchange => args[0],
        Atomic::CompareExchange if scalar::compare(Compare::Eq, scalar, old, args[0]) => args[1],
        Atomic::CompareExchange => old,
    }
}
