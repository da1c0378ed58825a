//! Small changes of bodies that several passes of fusion share.

use crate::ir::{Body, Kernel, Label, Let, Place, Root, Stmt, Value};
use crate::op::{Binary, Compare, Op};
use crate::types::{Scalar, Type};

/// Calls `change` for each statement of a body and of the bodies in it, outer ones first.
pub(crate) fn walk_mut(body: &mut Body, change: &mut dyn FnMut(&mut Stmt)) {
    for stmt in body {
        change(stmt);
        for inner in stmt.bodies_mut() {
            walk_mut(inner, change);
        }
    }
}

/// Replaces each statement of a body and of the bodies in it by others; inner ones first.
pub(crate) fn replace(body: &mut Body, with: &mut dyn FnMut(Stmt, &mut Body)) {
    for mut stmt in std::mem::take(body) {
        for inner in stmt.bodies_mut() {
            replace(inner, with);
        }
        with(stmt, body);
    }
}

/// The place that a statement loads from, stores to, or uses atomically.
pub(crate) fn place(stmt: &Stmt) -> Option<&Place> {
    match stmt {
        Stmt::Store { place, .. } => Some(place),
        Stmt::Let(Let { op: Op::Load(place) | Op::Atomic(_, place, _), .. }) => Some(place),
        _ => None,
    }
}

/// As [`place`], to change.
pub(crate) fn place_mut(stmt: &mut Stmt) -> Option<&mut Place> {
    match stmt {
        Stmt::Store { place, .. } => Some(place),
        Stmt::Let(Let { op: Op::Load(place) | Op::Atomic(_, place, _), .. }) => Some(place),
        _ => None,
    }
}

/// The view or local array that a statement accesses.
pub(crate) fn accessed(stmt: &Stmt) -> Option<crate::ParamId> {
    match &place(stmt)?.root {
        Root::Element(param, _) => Some(*param),
        Root::Var(_) => None,
    }
}

/// Applies `change` to each value that a statement uses itself.
pub(crate) fn map_operands(stmt: &mut Stmt, change: &mut dyn FnMut(&mut Value)) {
    match stmt {
        Stmt::Let(define) => define.op.map(change),
        Stmt::Store { place, value, .. } => {
            place.map(change);
            change(value);
        }
        Stmt::If { cond, .. } => change(cond),
        Stmt::Assert { cond, collision, .. } => {
            change(cond);
            if let Some(collision) = collision {
                collision.map(change);
            }
        }
        Stmt::For { start, end, .. } => [start, end].into_iter().for_each(change),
        Stmt::Collect { value, .. } | Stmt::Contribute { value, .. } => change(value),
        Stmt::Block { product, .. } => {
            product.iter_mut().for_each(|product| product.map(change));
        }
        Stmt::Loop { .. }
        | Stmt::Break(_)
        | Stmt::Continue(_)
        | Stmt::Return
        | Stmt::Phase { .. } => {}
    }
}

/// A `return` outside of phases.
pub(crate) fn returns(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Return => true,
        Stmt::Phase { .. } | Stmt::Collect { .. } => false,
        other => other.bodies().into_iter().any(|body| returns(body)),
    })
}

/// Each `return` leaves a block instead.
pub(crate) fn leave(body: &mut Body, label: Label) {
    walk_mut(body, &mut |stmt| {
        if matches!(stmt, Stmt::Return) {
            *stmt = Stmt::Break(label);
        }
    });
}

/// New values of a kernel, defined in a body.
pub(crate) struct Maker<'k> {
    pub kernel: &'k mut Kernel,
    pub body: Body,
}

impl Maker<'_> {
    pub fn op(&mut self, ty: Type, op: Op) -> Value {
        let value = Value(self.kernel.values.len() as u32);
        self.kernel.values.push(ty);
        self.body.push(Stmt::Let(Let { value, op, site: None }));
        value
    }

    pub fn index(&mut self, op: Op) -> Value {
        self.op(Scalar::U64.into(), op)
    }

    pub fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        self.index(Op::Binary(op, a, b))
    }

    pub fn below(&mut self, a: Value, b: Value) -> Value {
        self.op(Scalar::Bool.into(), Op::Compare(Compare::Lt, a, b))
    }

    /// All of these.
    pub fn all(&mut self, conditions: &[Value]) -> Option<Value> {
        let (first, more) = conditions.split_first()?;
        Some(more.iter().fold(*first, |all, next| {
            self.op(Scalar::Bool.into(), Op::Binary(Binary::And, all, *next))
        }))
    }
}
