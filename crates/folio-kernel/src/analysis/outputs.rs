//! Shows that safe kernels write only what is their own, and that an `Out` is written as a whole
//! (KRN-02, semantics 7.2).

use crate::access::is_own;
use crate::fault::{Fault, VerifyError};
use crate::ir::{Access, Body, Hop, Kernel, Label, Owner, ParamKind, Place, Root, Stmt, Value};
use crate::linear::{self, Linear, Symbol};
use crate::op::{Op, Query};
use crate::print::head;
use crate::types::{Composite, Type, Types};

/// Checks the outputs of a verified kernel.
pub fn check(kernel: &Kernel) -> Result<(), VerifyError> {
    let forms = linear::forms(kernel);
    let mut check = Outputs {
        kernel,
        forms,
        once: false,
        breaks: vec![None; kernel.labels as usize],
        returns: None,
    };
    check.owners(&kernel.body, &mut vec![])?;
    let start = kernel.params.iter().map(|_| 0).collect();
    let end = check.body(&kernel.body, Some(start));
    let written = join(end, check.returns.take());
    for (at, param) in kernel.params.iter().enumerate() {
        let ParamKind::View { element, access: Access::Out, owner, .. } = &param.kind else {
            continue;
        };
        let whole = written.as_ref().is_none_or(|written| written[at] == WHOLE);
        if *owner != Owner::Anyone && !whole {
            let parts = written.map_or(0, |written| written[at]);
            let field = field_left(&kernel.types, *element, parts);
            let fault = Fault::NotWritten { name: param.name.clone(), owner: *owner, field };
            let at = "outputs".to_owned();
            return Err(VerifyError { kernel: kernel.name.clone(), at, fault });
        }
    }
    Ok(())
}

/// Parts of the own element that are written for sure, as bits.
type Parts = u128;
/// Parts that are told apart.
const MOST_PARTS: u64 = 127;
/// All of it. Elements of more parts count as written only as a whole or by a loop.
const WHOLE: Parts = Parts::MAX;
/// By parameter; none where nothing gets.
type State = Option<Vec<Parts>>;

fn join(a: State, b: State) -> State {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.iter().zip(&b).map(|(a, b)| a & b).collect()),
        (a, None) => a,
        (None, b) => b,
    }
}

/// So many parts from `first` on, as bits; none where there are more than bits.
fn bits(first: u64, count: u64) -> Option<Parts> {
    let end = first.checked_add(count).filter(|end| (1..=MOST_PARTS).contains(end))?;
    Some((WHOLE >> (128 - end)) & (WHOLE << first))
}

/// The first field of a struct that is not written, if another is.
fn field_left(types: &Types, element: Type, parts: Parts) -> Option<String> {
    let Some(Composite::Struct(of)) = types.get(element) else { return None };
    if parts == 0 || numbers(types, element) > MOST_PARTS {
        return None;
    }
    let mut first = 0;
    let left = of.fields.iter().find(|field| {
        let count = numbers(types, field.ty);
        let own = bits(first, count).unwrap_or(0);
        first += count;
        parts & own != own
    });
    left.map(|field| field.name.clone())
}

/// Numbers of a type.
fn numbers(types: &Types, ty: Type) -> u64 {
    let part = |at| types.part(ty, at).map_or(0, |part| numbers(types, part));
    match types.get(ty) {
        None => 1,
        Some(Composite::Array { len, .. }) => part(0).saturating_mul(u64::from(*len)),
        Some(Composite::Struct(of)) => (0..of.fields.len() as u32).map(part).sum(),
    }
}

struct Outputs<'k> {
    kernel: &'k Kernel,
    forms: Vec<Option<Linear>>,
    /// In a `once` phase.
    once: bool,
    breaks: Vec<State>,
    returns: State,
}

impl<'k> Outputs<'k> {
    fn view(&self, place: &'k Place) -> Option<(usize, Type, Access, Owner, &'k [Value])> {
        let Root::Element(param, at) = &place.root else { return None };
        match self.kernel.params.get(param.index())?.kind {
            ParamKind::View { element, access, owner, .. } => {
                Some((param.index(), element, access, owner, at))
            }
            _ => None,
        }
    }

    /// Each access of a written view is to what its owner has.
    fn owners(&mut self, body: &'k Body, path: &mut Vec<usize>) -> Result<(), VerifyError> {
        for (at, stmt) in body.iter().enumerate() {
            path.push(at);
            let (place, store) = match stmt {
                Stmt::Store { place, .. } => (Some(place), true),
                Stmt::Let(define) => match &define.op {
                    Op::Load(place) => (Some(place), false),
                    _ => (None, false),
                },
                _ => (None, false),
            };
            if let Some(place) = place
                && let Some(fault) = self.foreign(place, store)
            {
                let path: Vec<_> = path.iter().map(ToString::to_string).collect();
                let at = format!("body {}: `{}`", path.join("."), head(self.kernel, stmt));
                return Err(VerifyError { kernel: self.kernel.name.clone(), at, fault });
            }
            let before = self.once;
            self.once |= matches!(stmt, Stmt::Phase { once: true, .. });
            for inner in stmt.bodies() {
                self.owners(inner, path)?;
            }
            self.once = before;
            path.pop();
        }
        Ok(())
    }

    fn foreign(&self, place: &'k Place, store: bool) -> Option<Fault> {
        let (param, _, access, owner, at) = self.view(place)?;
        if access == Access::In || self.owns(owner, at, store) {
            return None;
        }
        Some(Fault::NotOwn { name: self.kernel.params[param].name.clone(), owner })
    }

    fn owns(&self, owner: Owner, at: &[Value], store: bool) -> bool {
        let form = |value: &Value| self.forms.get(value.index()).cloned().flatten();
        let forms: Vec<_> = at.iter().map(form).collect();
        let group = |(dim, form): (usize, &Option<Linear>)| {
            let own = Linear::symbol(Symbol::Query(Query::GroupId, dim as u8, 0));
            form.as_ref() == Some(&own)
        };
        match owner {
            Owner::Item => is_own(&forms),
            Owner::Row | Owner::Column => owner
                .line()
                .and_then(|dim| forms.get(dim))
                .is_some_and(|line| is_own(std::slice::from_ref(line))),
            // All items of a group share the slot: only one of them may write it, in a phase of its
            // own.
            Owner::Group => (self.once || !store) && forms.iter().enumerate().all(group),
            // Atomic views are only accessed atomically: the verifier sees to that.
            Owner::Atomic | Owner::Anyone => true,
        }
    }

    fn body(&mut self, body: &'k Body, mut state: State) -> State {
        for stmt in body {
            state = self.stmt(stmt, state);
        }
        state
    }

    fn leave(&mut self, label: Label, state: State) {
        let before = self.breaks[label.index()].take();
        self.breaks[label.index()] = join(before, state);
    }

    fn stmt(&mut self, stmt: &'k Stmt, state: State) -> State {
        let mut here = state?;
        match stmt {
            Stmt::Store { place, .. } => {
                if let Some((param, parts)) = self.writes(place) {
                    here[param] |= parts;
                    here[param] = self.complete(param, here[param]);
                }
                Some(here)
            }
            Stmt::If { then, otherwise, .. } => {
                let then = self.body(then, Some(here.clone()));
                let otherwise = self.body(otherwise, Some(here));
                join(then, otherwise)
            }
            Stmt::Block { label, body, .. } => {
                let end = self.body(body, Some(here));
                let left = self.breaks[label.index()].take();
                join(end, left)
            }
            Stmt::Loop { label, body } => {
                self.body(body, Some(here));
                self.breaks[label.index()].take()
            }
            Stmt::For { label, index, start, end, body } => {
                self.body(body, Some(here.clone()));
                let whole_turns = self.breaks[label.index()].take().is_none();
                if whole_turns && self.constant(*start) == Some(0) {
                    for param in self.swept(body, *index, *end) {
                        here[param] = WHOLE;
                    }
                }
                Some(here)
            }
            Stmt::Break(label) => {
                self.leave(*label, Some(here));
                None
            }
            Stmt::Continue(_) => None,
            Stmt::Return => {
                let before = self.returns.take();
                self.returns = join(before, Some(here));
                None
            }
            Stmt::Phase { body, once } => {
                let outside = self.returns.take();
                let before = std::mem::replace(&mut self.once, *once);
                let end = self.body(body, Some(here));
                self.once = before;
                let left = std::mem::replace(&mut self.returns, outside);
                join(end, left)
            }
            Stmt::Collect { body, .. } => self.body(body, Some(here)),
            _ => Some(here),
        }
    }

    /// The parts of an `Out`'s own element that a store writes.
    fn writes(&self, place: &'k Place) -> Option<(usize, Parts)> {
        let (param, element, access, owner, _) = self.view(place)?;
        // A single item of the group writes the group's slot, and no other slot.
        let counts = match owner {
            Owner::Item => !self.once,
            Owner::Group => true,
            Owner::Row | Owner::Column | Owner::Atomic | Owner::Anyone => false,
        };
        if access != Access::Out || !counts {
            return None;
        }
        if place.path.is_empty() {
            return Some((param, WHOLE));
        }
        let types = &self.kernel.types;
        let fine = self.is_fine(element);
        if !fine && place.path.len() > 1 {
            return None;
        }
        let size = |ty| if fine { numbers(types, ty) } else { 1 };
        let (mut ty, mut first) = (element, 0u64);
        for step in &place.path {
            let part = match step {
                Hop::Part(part) => *part,
                Hop::At(index) => u32::try_from(self.constant(*index)?).ok()?,
            };
            let mut before = (0..part).map(|at| types.part(ty, at));
            first = before.try_fold(first, |sum, ty| Some(sum + size(ty?)))?;
            ty = types.part(ty, part)?;
        }
        Some((param, bits(first, size(ty))?))
    }

    /// Parts that are all that there are, are the whole.
    fn complete(&self, param: usize, parts: Parts) -> Parts {
        let ParamKind::View { element, .. } = self.kernel.params[param].kind else { return parts };
        let types = &self.kernel.types;
        let count = match self.is_fine(element) {
            true => numbers(types, element),
            false => types.parts(element).into(),
        };
        if bits(0, count) == Some(parts) { WHOLE } else { parts }
    }

    /// Each number of such an element is a part. Of larger ones the element's own parts are.
    fn is_fine(&self, element: Type) -> bool {
        numbers(&self.kernel.types, element) <= MOST_PARTS
    }

    fn constant(&self, value: Value) -> Option<i64> {
        let form = self.forms.get(value.index())?.as_ref()?;
        form.terms.is_empty().then_some(form.constant)
    }

    /// The parameters of which a loop from 0 writes every slot of the own chunk, or the own row or
    /// column.
    fn swept(&self, body: &'k Body, index: Value, end: Value) -> Vec<usize> {
        let mut swept = vec![];
        for stmt in body {
            // Beyond this, a turn may end before it stores.
            let straight = matches!(stmt, Stmt::Let(_) | Stmt::Store { .. });
            if !straight && leaves(stmt) {
                break;
            }
            let Stmt::Store { place, .. } = stmt else { continue };
            let Some((param, element, Access::Out, owner, at)) = self.view(place) else { continue };
            let chunk = match (place.path.as_slice(), self.kernel.types.get(element)) {
                ([Hop::At(slot)], Some(Composite::Array { len, .. })) => {
                    let all = self.constant(end).is_some_and(|end| end >= i64::from(*len));
                    owner == Owner::Item && !self.once && *slot == index && all
                }
                _ => false,
            };
            let line = owner.line().is_some_and(|own| {
                let along = 1 - own;
                let extent = Symbol::Extent(crate::ParamId(param as u32), along as u8);
                place.path.is_empty()
                    && at.get(along) == Some(&index)
                    && self.forms[end.index()].as_ref() == Some(&Linear::symbol(extent))
            });
            if chunk || line {
                swept.push(param);
            }
        }
        swept
    }
}

/// A statement after which the next one may not be reached: a way leads out of all of it.
fn leaves(stmt: &Stmt) -> bool {
    fn out(stmt: &Stmt, inside: &mut Vec<Label>) -> bool {
        match stmt {
            Stmt::Break(label) | Stmt::Continue(label) => return !inside.contains(label),
            Stmt::Return => return true,
            Stmt::For { label, .. } | Stmt::Loop { label, .. } | Stmt::Block { label, .. } => {
                inside.push(*label);
            }
            _ => {}
        }
        stmt.bodies().into_iter().flatten().any(|stmt| out(stmt, inside))
    }
    out(stmt, &mut vec![])
}
