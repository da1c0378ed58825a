//! Which values are computed: those that are used, or whose computing has an effect.

use crate::ir::{Body, Hop, Kernel, Place, Root, Stmt, Value, VarId, walk};
use crate::op::{Binary, Op};

/// By value: it is used. Where accesses are checked, a load has an effect.
pub fn values(kernel: &Kernel, checked: bool) -> Vec<bool> {
    let mut live = vec![false; kernel.values.len()];
    backwards(&kernel.body, &mut live, kernel, checked);
    live
}

/// Definitions come before uses, so from the end on one pass is enough.
fn backwards(body: &Body, live: &mut [bool], kernel: &Kernel, checked: bool) {
    for stmt in body.iter().rev() {
        for used in uses(stmt, live, kernel, checked) {
            if let Some(live) = live.get_mut(used.index()) {
                *live = true;
            }
        }
        for inner in stmt.bodies() {
            backwards(inner, live, kernel, checked);
        }
    }
}

fn uses(stmt: &Stmt, live: &[bool], kernel: &Kernel, checked: bool) -> Vec<Value> {
    match stmt {
        Stmt::Let(define) => {
            let wanted = live.get(define.value.index()).is_some_and(|live| *live);
            let kept = wanted || has_effect(&define.op, kernel, checked);
            if kept { define.op.operands() } else { vec![] }
        }
        other => other.operands(),
    }
}

/// Something happens beside the result: it can fail the command, or others see it.
pub fn has_effect(op: &Op, kernel: &Kernel, checked: bool) -> bool {
    match op {
        Op::Load(place) => checked && is_indexed(place),
        Op::Atomic(..) | Op::Subgroup(..) | Op::SubgroupFold(..) => true,
        Op::Binary(Binary::Div | Binary::Rem, a, _) => {
            let scalar = kernel.type_of(*a).and_then(crate::Type::scalar);
            scalar.is_some_and(|scalar| scalar.is_int())
        }
        Op::Const(..)
        | Op::Zero(_)
        | Op::Arg(_)
        | Op::Extent(..)
        | Op::Query { .. }
        | Op::Unary(..)
        | Op::Binary(..)
        | Op::Compare(..)
        | Op::Fma(..)
        | Op::Dot4(..)
        | Op::Select(..)
        | Op::Cast(..)
        | Op::Bits(..)
        | Op::Make(..)
        | Op::Part(..) => false,
    }
}

fn is_indexed(place: &Place) -> bool {
    matches!(place.root, Root::Element(..)) || place.path.iter().any(|s| matches!(s, Hop::At(_)))
}

/// By variable: it is named anywhere.
pub fn variables(kernel: &Kernel) -> Vec<bool> {
    let mut named = vec![false; kernel.vars.len()];
    let mut see = |place: &Place| {
        if let Root::Var(VarId(var)) = place.root
            && let Some(named) = named.get_mut(var as usize)
        {
            *named = true;
        }
    };
    walk(&kernel.body, &mut |stmt| match stmt {
        Stmt::Let(define) => define.op.place().into_iter().for_each(&mut see),
        Stmt::Store { place, .. } => see(place),
        Stmt::Collect { into, .. } => see(&Place::var(*into)),
        Stmt::If { .. }
        | Stmt::For { .. }
        | Stmt::Loop { .. }
        | Stmt::Block { .. }
        | Stmt::Break(_)
        | Stmt::Continue(_)
        | Stmt::Return
        | Stmt::Phase { .. }
        | Stmt::Contribute { .. }
        | Stmt::Assert { .. } => {}
    });
    named
}
