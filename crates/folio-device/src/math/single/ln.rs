//! Logarithms.
//!
//! `x = 2^k (1 + f)` with `2/3 <= 1 + f < 4/3`, and a polynomial in f.

use super::exp::power;
use super::within;
use std::f32::consts::{LOG2_E, LOG10_E};

/// `ln 2` and `log10 2` in two parts, of which the first has so few bits that a product with k is
/// exact.
const LN_2_HIGH: f32 = 0.693_145_75;
const LN_2_LOW: f32 = 1.428_606_8e-6;
const LOG10_2_HIGH: f32 = 0.301_025_4;
const LOG10_2_LOW: f32 = 4.605_039e-6;
/// The bits of 2/3.
const TWO_THIRDS: u32 = 0x3f2a_aaab;

/// k and f of a positive number.
#[inline(always)]
fn split(x: f32) -> (f32, f32) {
    let denormal = x < f32::MIN_POSITIVE;
    let bits = (if denormal { x * 8_388_608.0 } else { x }).to_bits();
    let above = bits.wrapping_sub(TWO_THIRDS);
    let k = (above as i32 >> 23) as f32 - if denormal { 23.0 } else { 0.0 };
    let m = f32::from_bits((above & 0x007f_ffff).wrapping_add(TWO_THIRDS));
    (k, m - 1.0)
}

/// `ln(1 + f) - f`.
#[inline(always)]
fn rest(f: f32) -> f32 {
    let z = f * f;
    let tail = poly!(f; 0.333_333_34, -0.249_999_45, 0.199_999_48, -0.166_733_16, 0.142_918_67,
        -0.122_887_22, 0.109_156_55, -0.124_222, 0.113_306_18);
    f * z * tail - 0.5 * z
}

/// `y` where x is positive and finite; what logarithms are elsewhere.
#[inline(always)]
fn with_ends(x: f32, y: f32) -> f32 {
    let y = if x < f32::INFINITY { y } else { x };
    let ends = if x == 0.0 { f32::NEG_INFINITY } else { f32::NAN };
    if x > 0.0 { y } else { ends }
}

/// `ln(2^k (1 + f))`.
#[inline(always)]
fn join(k: f32, f: f32) -> f32 {
    k * LN_2_HIGH + (f + (rest(f) + k * LN_2_LOW))
}

/// The natural logarithm.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let (k, f) = split(x);
    with_ends(x, join(k, f))
}

/// The logarithm to base 2; of powers of 2 exact.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    let (k, f) = split(x);
    with_ends(x, k + (f + rest(f)) * LOG2_E)
}

/// The logarithm to base 10.
#[inline(always)]
pub fn log10(x: f32) -> f32 {
    let (k, f) = split(x);
    with_ends(x, k * LOG10_2_HIGH + ((f + rest(f)) * LOG10_E + k * LOG10_2_LOW))
}

/// `ln(1 + x)`.
#[inline(always)]
pub fn ln_1p(x: f32) -> f32 {
    let sum = 1.0 + x;
    // The rounding error of the sum.
    let lost = if x < 1.0 { x - (sum - 1.0) } else { 1.0 - (sum - x) };
    let (k, f) = split(sum);
    let f = f + lost * power(within(-k, -126.0, 126.0));
    let y = with_ends(sum, join(k, f));
    if x == 0.0 { x } else { y }
}
