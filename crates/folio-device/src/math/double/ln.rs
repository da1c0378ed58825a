//! Logarithms.
//!
//! `x = 2^k (1 + f)` with `1/sqrt 2 <= 1 + f < sqrt 2`, and `ln(1 + f) = 2 atanh s` with
//! `s = f / (2 + f)`.

use super::exp::power;
use super::within;
use std::f64::consts::{LOG2_E, LOG10_E};

/// `ln 2` and `log10 2` in two parts, of which the first has so few bits that a product with k is
/// exact.
const LN_2_HIGH: f64 = 0.693_147_180_559_890_3;
const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;
const LOG10_2_HIGH: f64 = 0.301_029_995_663_952_83;
const LOG10_2_LOW: f64 = 2.836_339_455_104_496_4e-14;
/// The bits of the square root of 1/2.
const LEAST: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();

/// k and f of a positive number.
#[inline(always)]
pub(super) fn split(x: f64) -> (f64, f64) {
    let denormal = x < f64::MIN_POSITIVE;
    let bits = (if denormal { x * 18_014_398_509_481_984.0 } else { x }).to_bits();
    // The exponent is made positive, and then a float by being put behind that of 2^52.
    let above = bits.wrapping_sub(LEAST).wrapping_add(1023 << 52);
    let biased = f64::from_bits(above >> 52 | 0x4330_0000_0000_0000);
    let bias = 4_503_599_627_370_496.0 + if denormal { 1077.0 } else { 1023.0 };
    let m = f64::from_bits((above & 0x000f_ffff_ffff_ffff).wrapping_add(LEAST));
    (biased - bias, m - 1.0)
}

/// `ln(1 + f) - f`.
#[inline(always)]
fn rest(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let tail = z
        * poly!(z; 0.666_666_666_666_667, 0.399_999_999_998_994_44, 0.285_714_286_260_032_7, 0.222_222_111_302_598_78, 0.181_828_894_556_749_47, 0.153_317_106_182_107_73, 0.146_165_854_248_886_23);
    let half = 0.5 * f * f;
    s * (half + tail) - half
}

/// `y` where x is positive and finite; what logarithms are elsewhere.
#[inline(always)]
fn with_ends(x: f64, y: f64) -> f64 {
    let y = if x < f64::INFINITY { y } else { x };
    let ends = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    if x > 0.0 { y } else { ends }
}

/// `ln(2^k (1 + f))`.
#[inline(always)]
fn join(k: f64, f: f64) -> f64 {
    k * LN_2_HIGH + (f + (rest(f) + k * LN_2_LOW))
}

/// The natural logarithm.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let (k, f) = split(x);
    with_ends(x, join(k, f))
}

/// The logarithm to base 2; of powers of 2 exact.
#[inline(always)]
pub fn log2(x: f64) -> f64 {
    let (k, f) = split(x);
    with_ends(x, k + (f + rest(f)) * LOG2_E)
}

/// The logarithm to base 10.
#[inline(always)]
pub fn log10(x: f64) -> f64 {
    let (k, f) = split(x);
    with_ends(x, k * LOG10_2_HIGH + ((f + rest(f)) * LOG10_E + k * LOG10_2_LOW))
}

/// `ln(1 + x)`.
#[inline(always)]
pub fn ln_1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    // The rounding error of the sum.
    let lost = if x < 1.0 { x - (sum - 1.0) } else { 1.0 - (sum - x) };
    let (k, f) = split(sum);
    let f = f + lost * power(within(-k, -1022.0, 1022.0));
    let y = with_ends(sum, join(k, f));
    if x == 0.0 { x } else { y }
}
