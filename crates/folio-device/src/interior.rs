//! Guards: what keeps items at a border from reading beyond it. In the interior, where
//! [`Kernel::undecided`](super::Kernel::undecided) has found that all items are on the same side of
//! them, a comparison is a constant, and a limit leaves a position as it is: so what is computed is
//! what a kernel without guards computes.

use super::Mode;
use super::cast::{CastFrom, cast as casted};
use super::ops::{Arith, IntFunctions, clamp as clamped, max as greater, min as lesser};

/// A comparison, and what it is in the interior.
#[inline(always)]
pub fn is<M: Mode>(there: bool, here: bool) -> bool {
    if M::INTERIOR { there } else { here }
}

/// `a.min(b)`: in the interior the one of them that is the position.
#[inline(always)]
pub fn min<M: Mode, const FIRST: bool, T: Arith>(a: T, b: T) -> T {
    if M::INTERIOR { position::<FIRST, T>(a, b) } else { lesser(a, b) }
}

/// `a.max(b)`, the same.
#[inline(always)]
pub fn max<M: Mode, const FIRST: bool, T: Arith>(a: T, b: T) -> T {
    if M::INTERIOR { position::<FIRST, T>(a, b) } else { greater(a, b) }
}

#[inline(always)]
fn position<const FIRST: bool, T>(a: T, b: T) -> T {
    if FIRST { a } else { b }
}

/// `x.clamp(lo, hi)`: in the interior `x`.
#[inline(always)]
pub fn clamp<M: Mode, T: Arith>(x: T, lo: T, hi: T) -> T {
    if M::INTERIOR { x } else { clamped(x, lo, hi) }
}

/// `a.saturating_add(b)`: in the interior `a + b`.
#[inline(always)]
pub fn saturating_add<M: Mode, T: IntFunctions>(a: T, b: T) -> T {
    if M::INTERIOR { a.plus::<M>(b) } else { a.added(b) }
}

/// `a.saturating_sub(b)`: in the interior `a - b`.
#[inline(always)]
pub fn saturating_sub<M: Mode, T: IntFunctions>(a: T, b: T) -> T {
    if M::INTERIOR { a.minus::<M>(b) } else { a.without(b) }
}

/// A position as a narrower number. In the interior LLVM is told that it is small, so that
/// neighbours of the position are those of the narrow number, and what is read there lies beside
/// each other.
///
/// # Safety
/// In the interior, the position is below `SMALL`.
///
/// The macro is the only caller, and safe code cannot make it break this:
/// - It calls this only for an expression whose ends are those of one position of the launch:
///   `i.index()`, a part of `i.pos()`, or a name that cannot be assigned to. What such a question
///   gives is the type's own answer, as the traits of [`asks`](super::asks) are `unsafe`.
/// - With the call it writes `unless_small` of that position into
///   [`Kernel::undecided`](super::Kernel::undecided), which looks at all items of a block.
/// - [`run`](super::run) computes a block in the interior only where that count is 0. Anyone else
///   who runs a body in that mode needs `unsafe` for it: `Kernel` and its functions, and
///   [`Proof::new`](super::Proof::new), without which there is no body. That a user may implement
///   [`Mode`] gives no such proof; device functions have no positions.
#[inline(always)]
pub unsafe fn cast<M: Mode, B: CastFrom<usize>>(at: usize) -> B {
    if M::INTERIOR {
        // SAFETY: the caller's promise: nothing is undecided for this item's block.
        unsafe { std::hint::assert_unchecked(at < SMALL) };
    }
    casted(at)
}

/// Sums of a few such numbers are within 32 bits.
pub(super) const SMALL: usize = 1 << 28;
