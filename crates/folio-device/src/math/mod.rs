//! The functions of semantics 5.7 and 5.8, written so that a loop over them becomes vectors.
//!
//! - **No branches, no calls, no fused operations.** Each function is a straight line of `+ - * /`,
//!   square roots, comparisons, selects and operations on bits, and always inlined. A compiler may
//!   therefore turn a loop over items into vectors of any width, and since nothing is fused or
//!   reordered, the bits are the same for every instruction set. `mul_add` is not used: where a
//!   processor has no such instruction, it is a slow call.
//! - **No library functions**, also not those for rounding: on plain x86-64 `floor` is a call.
//! - **The whole range.** Arguments of any size, denormals, infinities, zeros of both signs and NaN
//!   take the same way, and what is special is selected in the end. Compute first, select then: an
//!   expression that stands in one arm of an `if` only may stay a branch, and tables in it keep the
//!   loop from becoming vectors.
//!
//! [`single`] and [`double`] have the same functions for `f32` and `f64`. Some of the former
//! compute in `f64` inside, where that is cheaper than making up for lost bits: powers, `atan2`,
//! roots, and the reduction of angles.
//!
//! The polynomials interpolate at Chebyshev nodes; their coefficients were computed with 60 digits
//! and rounded. Their errors are below a quarter of the last place; what is left are errors of
//! rounding.
//!
//! # Errors
//!
//! In units of the last place. The limits, and what was measured, are in `docs/semantics.md`,
//! section 5.8. `folio-model/tests/all/math.rs` measures them against exact values;
//! `tests/math.rs` here compares instruction sets, and looks for vectors in the compiler's output.
//! `benches/math.rs` measures them beside the system's.

/// `c0 + c1 x + c2 x^2 + ..`
macro_rules! poly {
    ($x:ident; $last:expr) => { $last };
    ($x:ident; $first:expr, $($rest:expr),+) => { $first + $x * poly!($x; $($rest),+) };
}

mod arc;
pub(crate) mod narrow;
mod pairs;
mod root;
mod round;
mod turns;

pub mod double;
pub mod single;
