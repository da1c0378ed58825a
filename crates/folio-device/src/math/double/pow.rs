//! Powers.
//!
//! The error of the logarithm is multiplied by up to 1000, so it is computed as the sum of two
//! numbers.

use super::super::pairs::{product, sum};
use super::exp::{exp_m1_near_0, nearest, scale};
use super::ln::split;
use super::{round_ties_even, within};
use std::f64::consts::LN_2;

/// `2 / ln 2` and 1/3 as sums of two numbers.
const TWO_LOG2_E: (f64, f64) = (2.885_390_081_777_926_8, 4.071_054_748_186_206_6e-17);
const THIRD: (f64, f64) = (0.333_333_333_333_333_3, 1.850_371_707_708_594e-17);

/// The logarithm to base 2 of a positive number, as the sum of two.
#[inline(always)]
fn log2(x: f64) -> (f64, f64) {
    let (k, f) = split(x);
    // s = f / (2 + f), and what is lost by that.
    let (below, below_low) = sum(2.0, f);
    let s = f / below;
    let (near, near_low) = product(s, below);
    let s_low = (((f - near) - near_low) - s * below_low) / below;
    // 2 atanh s = 2 s (1 + t), where t = z / 3 + z^2 / 5 + ..
    let (z, z_low) = product(s, s);
    let z_low = z_low + 2.0 * s * s_low;
    let tail = z
        * z
        * poly!(z; 0.200_000_000_000_000_12, 0.142_857_142_856_692_54, 0.111_111_111_355_511_7, 0.090_909_041_237_722_71, 0.076_927_873_982_310_16, 0.066_429_787_175_966_76, 0.064_568_088_360_911_25);
    let (t, t_low) = product(z, THIRD.0);
    let (t, t_low) = sum(t, tail + (t_low + (z * THIRD.1 + z_low * THIRD.0)));
    let (a, a_low) = product(s, TWO_LOG2_E.0);
    let a_low = a_low + (s * TWO_LOG2_E.1 + s_low * TWO_LOG2_E.0);
    let (b, b_low) = product(a, t);
    let (c, c_low) = sum(a, b);
    let c_low = c_low + (a_low + (b_low + (a * t_low + a_low * t)));
    let (log, low) = sum(k, c);
    (log, low + c_low)
}

/// `2^(y log)`
#[inline(always)]
fn exp2_of_product(y: f64, (log, low): (f64, f64)) -> f64 {
    // Beyond that, powers of all numbers but 1 are 0 or infinite.
    let y = within(y, -1e20, 1e20);
    let (exponent, rest) = product(y, log);
    let rest = rest + y * low;
    let inside = exponent.abs() < 1100.0;
    let exponent = within(exponent, -1100.0, 1100.0);
    let k = nearest(exponent);
    let r = (exponent - k) + if inside { rest } else { 0.0 };
    scale(1.0 + exp_m1_near_0(r * LN_2), k)
}

/// `x^y`.
#[inline(always)]
pub fn powf(x: f64, y: f64) -> f64 {
    let size = x.abs();
    let result = exp2_of_product(y, log2(size));
    let end = if (size == 0.0) == (y < 0.0) { f64::INFINITY } else { 0.0 };
    let result = if (size == 0.0) | (size == f64::INFINITY) { end } else { result };
    let result = if x.is_nan() | y.is_nan() { x + y } else { result };
    let whole = round_ties_even(y) == y;
    let half = y * 0.5;
    let odd = whole & (round_ties_even(half) != half);
    let no_number = (x < 0.0) & (x > f64::NEG_INFINITY) & !whole;
    let signed = if odd { result.copysign(x) } else { result };
    let defined = if no_number { f64::NAN } else { signed };
    if (y == 0.0) | (x == 1.0) | ((size == 1.0) & (y.abs() == f64::INFINITY)) {
        1.0
    } else {
        defined
    }
}
