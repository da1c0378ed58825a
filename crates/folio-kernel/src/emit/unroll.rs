//! Which loops compilers are asked to unroll.

use crate::ir::{Body, Let, Stmt};
use crate::op::Op;

/// Turns of a short loop that the compiler joins: docs/decisions/29-unrolled-loads.md says why 16.
pub(super) const UNROLL: u32 = 16;
/// Statements of such a loop, at most.
const SHORT: usize = 64;

/// A loop without another one and without branches, which loads something, and is short enough for
/// a compiler to write it down so many times: mathematical functions are long.
pub(super) fn is_worth_unrolling(body: &Body) -> bool {
    let straight = |stmt: &Stmt| match stmt {
        Stmt::Let(define) => define.op.is_short(),
        other => matches!(other, Stmt::Store { .. } | Stmt::Contribute { .. }),
    };
    let loads = |stmt: &Stmt| matches!(stmt, Stmt::Let(Let { op: Op::Load(_), .. }));
    body.len() <= SHORT && body.iter().all(straight) && body.iter().any(loads)
}
