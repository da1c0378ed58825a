//! A kernel's phases and reductions, as targets ask for them before they write.

use crate::ir::{Access, Body, Kernel, ParamId, ParamKind, Place, Root, Stmt, walk};
use crate::op::{Combine, Op};
use crate::types::Scalar;

/// Uniform code sees memory that phases write.
pub(super) fn looks(kernel: &Kernel, stmt: &Stmt) -> bool {
    let Stmt::Let(define) = stmt else { return false };
    let Op::Load(Place { root: Root::Element(param, _), .. }) = define.op else { return false };
    match kernel.params.get(param.index()).map(|param| &param.kind) {
        Some(ParamKind::View { access, .. }) => *access != Access::In,
        Some(ParamKind::Local { .. }) => true,
        _ => false,
    }
}

/// A phase in which items touch nothing that others may: it needs no barriers.
pub(super) fn is_private(kernel: &Kernel, body: &Body) -> bool {
    let mut private = true;
    walk(body, &mut |stmt| {
        private &= match stmt {
            Stmt::Store { place, .. } => matches!(place.root, Root::Var(_)),
            Stmt::Let(define) => !matches!(define.op, Op::Atomic(..)) && !looks(kernel, stmt),
            Stmt::Contribute { .. } => false,
            _ => true,
        };
    });
    private
}

/// Uniform code in a body does so.
pub(super) fn looks_within(kernel: &Kernel, body: &Body) -> bool {
    body.iter().any(|stmt| looks_in(kernel, stmt))
}

/// Uniform code in a statement does so.
pub(super) fn looks_in(kernel: &Kernel, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Phase { .. } | Stmt::Collect { .. } => false,
        other => {
            looks(kernel, other) || other.bodies().iter().any(|body| looks_within(kernel, body))
        }
    }
}

/// A kernel contributes to launch-wide reductions: which.
pub fn reductions(kernel: &Kernel) -> Vec<(ParamId, Scalar, Combine)> {
    let reduce = |(at, param): (usize, &crate::ir::Param)| match param.kind {
        ParamKind::Reduce { element, combine } => {
            Some((ParamId(at as u32), element.scalar()?, combine))
        }
        _ => None,
    };
    kernel.params.iter().enumerate().filter_map(reduce).collect()
}
