//! Which loops compilers are asked to unroll.

use crate::ir::{Body, Hop, Let, Root, Stmt, Value, walk};
use crate::op::Op;

/// Turns of a short loop that the compiler joins: docs/decisions/29-unrolled-loads.md says why 16.
pub(super) const UNROLL: u32 = 16;
/// Turns of a loop that are written down one by one, at most.
pub(super) const LISTED: u64 = 16;
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

/// A loop of few turns that is written down turn by turn: one that is short, so that loads of
/// several turns are under way; or one that indexes arrays of variables by its turn, which can be
/// in registers if each index is known, and else are in memory.
pub(super) fn is_worth_listing(turn: Value, body: &Body) -> bool {
    let (mut found, mut statements, mut is_plain) = (false, 0, true);
    walk(body, &mut |stmt| {
        statements += 1;
        is_plain &= match stmt {
            Stmt::Let(define) => define.op.is_short(),
            other => !matches!(other, Stmt::For { .. } | Stmt::Loop { .. }),
        };
        let place = match stmt {
            Stmt::Let(Let { op, .. }) => op.place(),
            Stmt::Store { place, .. } => Some(place),
            _ => None,
        };
        found |= place.is_some_and(|place| {
            matches!(place.root, Root::Var(_)) && place.path.contains(&Hop::At(turn))
        });
    });
    found || (is_plain && statements <= SHORT)
}

/// A loop of few turns that loads for loops which are written down: the next turns' loads are under
/// way while those compute.
pub(super) fn feeds_loops(body: &Body) -> bool {
    let loads = |stmt: &Stmt| {
        let Stmt::Let(Let { op: Op::Load(place), .. }) = stmt else { return false };
        matches!(place.root, Root::Element(..))
    };
    let lists = |stmt: &Stmt| match stmt {
        Stmt::For { index, body, .. } => is_worth_listing(*index, body),
        _ => false,
    };
    body.iter().any(loads) && body.iter().any(lists)
}
