//! Fast functions by name (semantics 5.9). The CPU computes them by its own functions, with the
//! roundings that the fast form has; those of other floats than `f32` are the functions themselves.

use super::ops::{Float, cos, exp, exp2, ln, log2, powf, recip, rsqrt, sin, sqrt};
use crate::Checked;
use std::f64::consts::{LN_2, LOG2_E};

macro_rules! same {
    ($($fast:ident $exact:ident)*) => {$(
        #[doc = concat!("`", stringify!($exact), "`, as near as semantics 5.9 says.")]
        #[inline(always)]
        pub fn $fast<T: Float>(a: T) -> T {
            $exact(a)
        }
    )*};
}
same! {
    fast_recip recip fast_sqrt sqrt fast_rsqrt rsqrt fast_exp2 exp2 fast_log2 log2
    fast_sin sin fast_cos cos
}

/// `a * b + c`, rounded once or twice.
#[inline(always)]
pub fn fast_mul_add<T: Float>(a: T, b: T, c: T) -> T {
    a.times::<Checked>(b).plus::<Checked>(c)
}
/// `a / b`, as near as semantics 5.9 says.
#[inline(always)]
pub fn fast_div<T: Float>(a: T, b: T) -> T {
    if T::FAST { a.times::<Checked>(recip(b)) } else { a.over::<Checked>(b) }
}
/// `exp`, as near as semantics 5.9 says.
#[inline(always)]
pub fn fast_exp<T: Float>(a: T) -> T {
    if T::FAST { exp2(a.times::<Checked>(T::lit(LOG2_E))) } else { exp(a) }
}
/// `ln`, as near as semantics 5.9 says.
#[inline(always)]
pub fn fast_ln<T: Float>(a: T) -> T {
    if T::FAST { log2(a).times::<Checked>(T::lit(LN_2)) } else { ln(a) }
}
/// `powf` of a number above 0, as near as semantics 5.9 says.
#[inline(always)]
pub fn fast_powf<T: Float>(a: T, b: T) -> T {
    if T::FAST { exp2(log2(a).times::<Checked>(b)) } else { powf(a, b) }
}
