//! Interval analysis along the control flow, for one launch: the range of every index of every
//! access. An access that is surely in bounds needs no check; the ranges together are the accessed
//! box.
//!
//! Conditions narrow what is known in their branches, also of variables. Loops are gone through
//! until nothing changes, with bounds given up that do not settle soon.

use crate::interval::{self, Interval};
use crate::ir::{
    Body, Hop, Kernel, Label, Let, ParamId, ParamKind, Place, Root, SiteId, Stmt, Value, VarId,
};
use crate::launch::Launch;
use crate::linear::{self, Linear, Symbol};
use crate::op::{Binary, Compare, Op, Unary};
use crate::types::{Composite, Scalar};

/// The kinds of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// Loads.
    Read,
    /// Stores.
    Write,
    /// An atomic operation.
    Atomic,
}

/// One access, as the analysis saw it: a load, store, or atomic operation on a view or local
/// memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The view or local array.
    pub param: ParamId,
    /// The kind of access.
    pub does: Use,
    /// By dimension: what the index can be.
    pub indices: Vec<Interval>,
    /// By dimension: the index as a form.
    pub forms: Vec<Option<Linear>>,
    /// By dimension: the index less the start of the item's group, if that is a form without the
    /// group in it; the range of that.
    pub in_group: Vec<Option<Interval>>,
    /// All indices, those into arrays on the way included, are in bounds.
    pub proved: bool,
    /// The access was shown to be out of every item's reach.
    pub never: bool,
    /// Where it is written.
    pub site: Option<SiteId>,
}

/// An access of a variable by an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InVariable {
    /// The index is shown to be in bounds.
    pub proved: bool,
    /// Where it is written.
    pub site: Option<SiteId>,
}

/// All accesses, in the order of statements; those to arrays in variables, too, are in `arrays`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Accesses of views and local memory.
    pub accesses: Vec<Seen>,
    /// Accesses of variables by an index.
    pub arrays: Vec<InVariable>,
}

/// Analyses a verified kernel.
pub fn analyse(kernel: &Kernel, launch: &Launch) -> Found {
    let mut definitions = vec![None; kernel.values.len()];
    crate::ir::walk(&kernel.body, &mut |stmt| {
        if let Stmt::Let(define) = stmt {
            definitions[define.value.index()] = Some(&define.op);
        }
    });
    let full = |ty: &crate::Type| ty.scalar().map_or(Interval::exactly(0), Interval::of);
    let state = State {
        values: kernel.values.iter().map(full).collect(),
        vars: vec![Interval::exactly(0); kernel.vars.len()],
        version: vec![0; kernel.vars.len()],
    };
    let mut flow = Flow {
        kernel,
        launch,
        definitions,
        forms: linear::forms(kernel),
        loaded: vec![None; kernel.values.len()],
        breaks: vec![None; kernel.labels as usize],
        continues: vec![None; kernel.labels as usize],
        versions: 0,
        returns: None,
        found: None,
    };
    flow.found = Some(Found::default());
    flow.body(&kernel.body, Some(state));
    flow.found.unwrap_or_default()
}

/// The ranges of values and variables at one point.
#[derive(Clone, PartialEq)]
struct State {
    values: Vec<Interval>,
    vars: Vec<Interval>,
    /// Counts the stores to each variable, so that a loaded value speaks for its variable only
    /// until the next store.
    version: Vec<u32>,
}

impl State {
    fn join(mut self, other: &State, fresh: &mut u32) -> State {
        let pairs = self.values.iter_mut().zip(&other.values);
        pairs.chain(self.vars.iter_mut().zip(&other.vars)).for_each(|(a, b)| *a = a.join(*b));
        for (a, b) in self.version.iter_mut().zip(&other.version) {
            if a != b {
                *fresh += 1;
                *a = *fresh;
            }
        }
        self
    }

    fn same(&self, other: &State) -> bool {
        self.values == other.values && self.vars == other.vars
    }
}

/// A point that nothing reaches has no state.
type Here = Option<State>;

struct Flow<'k> {
    kernel: &'k Kernel,
    launch: &'k Launch,
    definitions: Vec<Option<&'k Op>>,
    forms: Vec<Option<Linear>>,
    /// The variable and version that a value was loaded from.
    loaded: Vec<Option<(VarId, u32)>>,
    breaks: Vec<Here>,
    continues: Vec<Here>,
    returns: Here,
    versions: u32,
    /// None while a loop is gone through only to see what changes.
    found: Option<Found>,
}

/// Rounds after which a bound that still changes is given up.
const PATIENCE: usize = 3;

impl<'k> Flow<'k> {
    fn join(&mut self, a: Here, b: Here) -> Here {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.join(&b, &mut self.versions)),
            (a, None) => a,
            (None, b) => b,
        }
    }

    fn body(&mut self, body: &'k Body, mut state: Here) -> Here {
        for stmt in body {
            state = self.stmt(stmt, state);
        }
        state
    }

    fn stmt(&mut self, stmt: &'k Stmt, state: Here) -> Here {
        let Some(mut here) = state else {
            self.unreached(stmt);
            return None;
        };
        match stmt {
            Stmt::Let(define) => {
                self.define(define, &mut here);
                Some(here)
            }
            Stmt::Store { place, value, site } => {
                self.place(place, (Use::Write, *site), Some(&here));
                if let Root::Var(var) = place.root {
                    let known = here.values[value.index()];
                    let whole = place.path.is_empty();
                    self.set(var, if whole { Some(known) } else { None }, &mut here);
                }
                Some(here)
            }
            Stmt::If { cond, then, otherwise } => {
                let yes = self.assume(*cond, true, here.clone());
                let no = self.assume(*cond, false, here);
                let yes = self.body(then, yes);
                let no = self.body(otherwise, no);
                self.join(yes, no)
            }
            Stmt::Block { label, body, .. } => {
                let end = self.body(body, Some(here));
                let left = self.breaks[label.index()].take();
                self.join(end, left)
            }
            Stmt::Loop { label, body } => {
                self.fixpoint(*label, here, None, body);
                self.breaks[label.index()].take()
            }
            Stmt::For { label, index, start, end, body } => {
                let (from, to) = (here.values[start.index()], here.values[end.index()]);
                let turns = (from.lo < to.hi).then(|| Interval::new(from.lo, to.hi - 1));
                let done = match turns {
                    Some(range) => self.fixpoint(*label, here.clone(), Some((*index, range)), body),
                    None => {
                        body.iter().for_each(|stmt| self.unreached(stmt));
                        None
                    }
                };
                let left = self.breaks[label.index()].take();
                let ended = self.join(done, left);
                // Without a turn only if that is possible.
                let skipped = (from.hi >= to.lo).then_some(here);
                self.join(ended, skipped)
            }
            Stmt::Break(label) => {
                let before = self.breaks[label.index()].take();
                self.breaks[label.index()] = self.join(before, Some(here));
                None
            }
            Stmt::Continue(label) => {
                let before = self.continues[label.index()].take();
                self.continues[label.index()] = self.join(before, Some(here));
                None
            }
            Stmt::Return => {
                let before = self.returns.take();
                self.returns = self.join(before, Some(here));
                None
            }
            Stmt::Phase { once, body } => {
                // Other items may not run it, or leave early.
                let skipped = once.then(|| here.clone());
                let end = self.phase(body, here);
                self.join(end, skipped)
            }
            Stmt::Collect { body, into, .. } => {
                let mut end = self.phase(body, here)?;
                self.set(*into, None, &mut end);
                Some(end)
            }
            Stmt::Contribute { .. } => Some(here),
            Stmt::Assert { cond, .. } => {
                // Where it does not hold, the item takes part in later phases all the same.
                let fails = self.assume(*cond, false, here.clone());
                let before = self.returns.take();
                self.returns = self.join(before, fails);
                self.assume(*cond, true, here)
            }
        }
    }

    fn phase(&mut self, body: &'k Body, here: State) -> Here {
        let outside = self.returns.take();
        let end = self.body(body, Some(here));
        let left = std::mem::replace(&mut self.returns, outside);
        self.join(end, left)
    }

    /// Goes through a loop until what is known at its start holds for all turns; gives the state
    /// at the end of turns.
    fn fixpoint(
        &mut self,
        label: Label,
        entry: State,
        index: Option<(Value, Interval)>,
        body: &'k Body,
    ) -> Here {
        let kept = self.found.take();
        let mut start = entry;
        let mut round = 0;
        loop {
            let outer = (self.returns.clone(), self.breaks.clone(), self.continues.clone());
            let again = self.turn(label, start.clone(), index, body);
            (self.returns, self.breaks, self.continues) = outer;
            let Some(again) = again else { break };
            let next = start.clone().join(&again, &mut self.versions);
            if next.same(&start) {
                start = next;
                break;
            }
            round += 1;
            start = if round > PATIENCE { self.widen(&start, next) } else { next };
        }
        self.found = kept;
        self.turn(label, start, index, body)
    }

    fn turn(
        &mut self,
        label: Label,
        mut start: State,
        index: Option<(Value, Interval)>,
        body: &'k Body,
    ) -> Here {
        if let Some((index, range)) = index {
            start.values[index.index()] = range;
        }
        // Stores of an earlier turn are other versions.
        for version in &mut start.version {
            self.versions += 1;
            *version = self.versions;
        }
        let end = self.body(body, Some(start));
        let skipped = self.continues[label.index()].take();
        self.join(end, skipped)
    }

    fn widen(&self, before: &State, mut after: State) -> State {
        let give_up = |was: Interval, now: &mut Interval, all: Interval| {
            let lo = if now.lo < was.lo { all.lo } else { now.lo };
            let hi = if now.hi > was.hi { all.hi } else { now.hi };
            *now = Interval { lo, hi };
        };
        for (at, now) in after.vars.iter_mut().enumerate() {
            give_up(before.vars[at], now, self.full(VarId(at as u32)));
        }
        for (at, now) in after.values.iter_mut().enumerate() {
            let all = self.kernel.values[at].scalar().map_or(*now, Interval::of);
            give_up(before.values[at], now, all);
        }
        after
    }

    fn full(&self, var: VarId) -> Interval {
        let ty = self.kernel.vars[var.index()].ty;
        ty.scalar().map_or(Interval::exactly(0), Interval::of)
    }

    fn set(&mut self, var: VarId, known: Option<Interval>, state: &mut State) {
        self.versions += 1;
        state.version[var.index()] = self.versions;
        state.vars[var.index()] = known.unwrap_or(self.full(var));
    }

    fn scalar(&self, value: Value) -> Option<Scalar> {
        self.kernel.type_of(value)?.scalar()
    }

    fn define(&mut self, define: &'k Let, state: &mut State) {
        let all = self.scalar(define.value).map_or(Interval::exactly(0), Interval::of);
        let of = |value: &Value| state.values[value.index()];
        let known = match &define.op {
            Op::Const(scalar, bits) if !scalar.is_float() => Interval::exactly(scalar.int(*bits)),
            Op::Zero(ty) if ty.scalar().is_some() => Interval::exactly(0),
            Op::Arg(param) => match self.launch.scalars.get(param.index()) {
                Some(Some(value)) => Interval::exactly(*value),
                _ => all,
            },
            Op::Extent(param, dim) => {
                let extent = self.launch.extent(*param, *dim);
                extent.map_or(all, |extent| Interval::exactly(extent.into()))
            }
            Op::Query { query, dim, .. } => self.launch.query(*query, *dim).unwrap_or(all),
            Op::Unary(op, a) => match self.scalar(*a) {
                Some(scalar) if !scalar.is_float() => interval::unary(*op, scalar, of(a)),
                _ => all,
            },
            Op::Binary(op, a, b) => match self.scalar(*a) {
                Some(scalar) if !scalar.is_float() => {
                    let amount = self.scalar(*b).is_some_and(|s| s != scalar);
                    let b = of(b);
                    // The amount of a shift has a type of its own; only small ones are known.
                    if amount && b.lo < 0 { all } else { interval::binary(*op, scalar, of(a), b) }
                }
                _ => all,
            },
            Op::Compare(op, a, b) => match self.scalar(*a) {
                Some(scalar) if !scalar.is_float() => decide(*op, of(a), of(b)),
                _ => all,
            },
            Op::Select(cond, a, b) => match of(cond).single() {
                Some(0) => of(b),
                Some(_) => of(a),
                None => of(a).join(of(b)),
            },
            Op::Cast(a, to) => match self.scalar(*a) {
                Some(from) if !from.is_float() && !to.is_float() => of(a).wrapped(*to),
                _ => all,
            },
            Op::Load(place) => {
                self.place(place, (Use::Read, define.site), Some(state));
                match (&place.root, place.path.is_empty()) {
                    (Root::Var(var), true) => {
                        self.loaded[define.value.index()] =
                            Some((*var, state.version[var.index()]));
                        state.vars[var.index()]
                    }
                    _ => all,
                }
            }
            Op::Atomic(_, place, _) => {
                self.place(place, (Use::Atomic, define.site), Some(state));
                all
            }
            _ => all,
        };
        state.values[define.value.index()] = known;
    }

    /// The state where a condition has this value; none if it cannot have it.
    fn assume(&self, cond: Value, holds: bool, mut state: State) -> Here {
        let wanted = Interval::exactly(i128::from(holds));
        state.values[cond.index()] = state.values[cond.index()].meet(wanted)?;
        match self.definitions[cond.index()]? {
            Op::Unary(Unary::Not, a) => self.assume(*a, !holds, state),
            Op::Binary(Binary::And, a, b) if holds => {
                let state = self.assume(*a, true, state)?;
                self.assume(*b, true, state)
            }
            Op::Binary(Binary::Or, a, b) if !holds => {
                let state = self.assume(*a, false, state)?;
                self.assume(*b, false, state)
            }
            Op::Compare(op, a, b) if !self.scalar(*a)?.is_float() => {
                let op = if holds { *op } else { opposite(*op) };
                let (x, y) = narrow(op, state.values[a.index()], state.values[b.index()])?;
                self.narrow(*a, x, &mut state)?;
                self.narrow(*b, y, &mut state)?;
                Some(state)
            }
            _ => Some(state),
        }
    }

    fn narrow(&self, value: Value, to: Interval, state: &mut State) -> Option<()> {
        let known = &mut state.values[value.index()];
        *known = known.meet(to)?;
        if let Some((var, version)) = self.loaded[value.index()]
            && state.version[var.index()] == version
        {
            let known = &mut state.vars[var.index()];
            *known = known.meet(to)?;
        }
        // The operands, where the operation did not wrap.
        let exact = |a: &Value, by: i128, state: &State| {
            let all = self.scalar(value).map_or(Interval::exactly(0), Interval::of);
            all.contains(state.values[a.index()].plus(by))
        };
        match self.definitions[value.index()] {
            Some(Op::Binary(Binary::Add, a, b)) => {
                for (a, b) in [(a, b), (b, a)] {
                    // A known operand learns nothing, and asking on would double with each sum.
                    if state.values[a.index()].single().is_some() {
                        continue;
                    }
                    let by = state.values[b.index()].single();
                    if let Some(by) = by.filter(|by| exact(a, *by, state)) {
                        self.narrow(*a, to.plus(-by), state)?;
                    }
                }
                Some(())
            }
            Some(Op::Binary(Binary::Sub, a, b)) => {
                let by = state.values[b.index()].single();
                match by.filter(|by| exact(a, -by, state)) {
                    Some(by) => self.narrow(*a, to.plus(by), state),
                    None => Some(()),
                }
            }
            _ => Some(()),
        }
    }

    /// Notes the accesses of a statement that nothing reaches.
    fn unreached(&mut self, stmt: &'k Stmt) {
        match stmt {
            Stmt::Let(Let { op: Op::Load(place), site, .. }) => {
                self.place(place, (Use::Read, *site), None);
            }
            Stmt::Let(Let { op: Op::Atomic(_, place, _), site, .. }) => {
                self.place(place, (Use::Atomic, *site), None);
            }
            Stmt::Store { place, site, .. } => self.place(place, (Use::Write, *site), None),
            _ => stmt.bodies().into_iter().flatten().for_each(|inner| self.unreached(inner)),
        }
    }

    /// Notes an access: what it does, and where it is written.
    fn place(&mut self, place: &Place, (does, site): (Use, Option<SiteId>), state: Option<&State>) {
        if self.found.is_none() {
            return;
        }
        let arrays = self.arrays(place, state);
        match &place.root {
            Root::Var(_) => {
                let indexed = place.path.iter().any(|step| matches!(step, Hop::At(_)));
                if let (true, Some(found)) = (indexed, &mut self.found) {
                    found.arrays.push(InVariable { proved: arrays, site });
                }
            }
            Root::Element(param, at) => {
                let in_group: Vec<_> = at
                    .iter()
                    .enumerate()
                    .map(|(dim, index)| self.in_group(*index, dim as u8, state?))
                    .collect();
                let indices: Vec<_> = at
                    .iter()
                    .zip(&in_group)
                    .enumerate()
                    .map(|(dim, (index, local))| match state {
                        Some(state) => self.in_launch(self.index(*index, state), *local, dim as u8),
                        None => Interval::exactly(0),
                    })
                    .collect();
                let bound = |(dim, index): (usize, &Interval)| {
                    let extent = match self.kernel.params.get(param.index()).map(|p| &p.kind) {
                        Some(ParamKind::Local { len, .. }) => Some(u64::from(*len)),
                        _ => self.launch.extent(*param, dim as u8),
                    };
                    extent.is_some_and(|extent| index.hi < i128::from(extent))
                };
                let inside = indices.iter().enumerate().all(bound);
                let seen = Seen {
                    param: *param,
                    does,
                    forms: at.iter().map(|index| self.forms[index.index()].clone()).collect(),
                    in_group,
                    proved: state.is_none() || (inside && arrays),
                    never: state.is_none(),
                    indices,
                    site,
                };
                if let Some(found) = &mut self.found {
                    found.accesses.push(seen);
                }
            }
        }
    }

    /// The indices into arrays on the way are in bounds.
    fn arrays(&self, place: &Place, state: Option<&State>) -> bool {
        let Some(state) = state else { return true };
        let mut ty = match &place.root {
            Root::Var(var) => self.kernel.vars.get(var.index()).map(|var| var.ty),
            Root::Element(param, _) => self.kernel.elements(*param).map(|(ty, _)| ty),
        };
        place.path.iter().all(|step| {
            let Some(whole) = ty else { return false };
            match (step, self.kernel.types.get(whole)) {
                (Hop::Part(part), _) => {
                    ty = self.kernel.types.part(whole, *part);
                    true
                }
                (Hop::At(index), Some(Composite::Array { element, len })) => {
                    ty = Some(*element);
                    self.index(*index, state).hi < i128::from(*len)
                }
                (Hop::At(_), _) => false,
            }
        })
    }

    fn symbol(&self, symbol: Symbol, state: &State) -> Option<Interval> {
        match symbol {
            Symbol::Value(value) => Some(state.values[value.index()]),
            known => self.launch.symbol(known),
        }
    }

    /// The range of an index: by its operations, and by its form.
    fn index(&self, value: Value, state: &State) -> Interval {
        let known = state.values[value.index()];
        let form = self.forms[value.index()].as_ref();
        let range = form.and_then(|form| form.range(&|symbol| self.symbol(symbol, state)));
        match range.filter(|range| Interval::of(Scalar::U64).contains(*range)) {
            Some(range) => known.meet(range).unwrap_or(known),
            None => known,
        }
    }

    /// An index within the own group is within the launch.
    fn in_launch(&self, index: Interval, local: Option<Interval>, dim: u8) -> Interval {
        let size = self.launch.group.get(usize::from(dim)).map_or(0, |size| i128::from(*size));
        let inside = local.is_some_and(|local| local.lo >= 0 && local.hi < size);
        let launch = self.launch.query(crate::op::Query::Position, dim).filter(|_| inside);
        launch.and_then(|launch| index.meet(launch)).unwrap_or(index)
    }

    /// The index less the start of the item's group: `position` is the start plus the local
    /// index, and so is `offset + group_id * size`.
    fn in_group(&self, value: Value, dim: u8, state: &State) -> Option<Interval> {
        use crate::op::Query::{GroupId, LocalId, Offset, Position};
        let form = self.forms[value.index()].as_ref()?;
        let symbol = |query| Symbol::Query(query, dim, 0);
        let size = i64::try_from(*self.launch.group.get(usize::from(dim))?).ok()?;
        let one = |query| Linear::symbol(symbol(query));
        let rest = if form.factor(symbol(Position)) == 1 {
            form.plus(&one(Position), -1).plus(&one(LocalId), 1)
        } else if form.factor(symbol(GroupId)) == size && size > 0 {
            // Without an offset, or with it added.
            let rest = form.plus(&one(GroupId), -size);
            if self.launch.offset[usize::from(dim)] == 0 {
                rest
            } else {
                rest.plus(&one(Offset), -1)
            }
        } else {
            return None;
        };
        let varies = |symbol: &Symbol| match symbol {
            Symbol::Query(query, ..) => matches!(query, Position | GroupId | Offset),
            Symbol::Value(_) => true,
            _ => false,
        };
        if rest.terms.iter().any(|(symbol, _)| varies(symbol)) {
            return None;
        }
        rest.range(&|symbol| self.symbol(symbol, state))
    }
}

fn opposite(op: Compare) -> Compare {
    match op {
        Compare::Eq => Compare::Ne,
        Compare::Ne => Compare::Eq,
        Compare::Lt => Compare::Ge,
        Compare::Le => Compare::Gt,
        Compare::Gt => Compare::Le,
        Compare::Ge => Compare::Lt,
    }
}

fn decide(op: Compare, a: Interval, b: Interval) -> Interval {
    let (yes, no) = (narrow(op, a, b).is_some(), narrow(opposite(op), a, b).is_some());
    Interval::new(i128::from(!no), i128::from(yes))
}

/// The ranges that remain of two operands where a comparison holds; none if it cannot.
fn narrow(op: Compare, a: Interval, b: Interval) -> Option<(Interval, Interval)> {
    let ordered = |a: Interval, b: Interval, gap: i128| {
        let a = a.meet(Interval { lo: a.lo, hi: a.hi.min(b.hi - gap) })?;
        let b = b.meet(Interval { lo: b.lo.max(a.lo + gap), hi: b.hi })?;
        (a.lo <= a.hi && b.lo <= b.hi).then_some((a, b))
    };
    let without = |a: Interval, b: Interval| match b.single() {
        Some(x) if a.single() == Some(x) => None,
        Some(x) if a.lo == x => Some(Interval { lo: x + 1, hi: a.hi }),
        Some(x) if a.hi == x => Some(Interval { lo: a.lo, hi: x - 1 }),
        _ => Some(a),
    };
    match op {
        Compare::Eq => a.meet(b).map(|both| (both, both)),
        Compare::Ne => Some((without(a, b)?, without(b, a)?)),
        Compare::Lt => ordered(a, b, 1),
        Compare::Le => ordered(a, b, 0),
        Compare::Gt => ordered(b, a, 1).map(|(b, a)| (a, b)),
        Compare::Ge => ordered(b, a, 0).map(|(b, a)| (a, b)),
    }
}
