//! Exponential and hyperbolic functions; as for `f32`, with more terms.

use super::within;
use std::f64::consts::{LN_2, LOG2_E};

/// A sum of this and a small number has the nearest integer in its low bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;
/// `ln 2` in two parts, of which the first has so few bits that a product with k is exact.
const LN_2_HIGH: f64 = 0.693_147_180_559_890_3;
const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;

/// The nearest integer of a number that is small.
#[inline(always)]
pub(super) fn nearest(x: f64) -> f64 {
    (x + SHIFT) - SHIFT
}

/// `2^k` for an integer from -1022 to 1023.
#[inline(always)]
pub(super) fn power(k: f64) -> f64 {
    f64::from_bits((k + (SHIFT + 1023.0)).to_bits() << 52)
}

/// `y 2^k` for a `y` near 1, rounded once also where it is denormal.
#[inline(always)]
pub(super) fn scale(y: f64, k: f64) -> f64 {
    let half = nearest(k * 0.5);
    y * power(half) * power(k - half)
}

/// k and r.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64) {
    let k = nearest(x * LOG2_E);
    (k, (x - k * LN_2_HIGH) - k * LN_2_LOW)
}

/// `e^r - 1` and `e^-r - 1`.
#[inline(always)]
fn both_exp_m1_near_0(r: f64) -> (f64, f64) {
    let z = r * r;
    // (cosh r - 1) / r^2 and (sinh r - r) / r^2
    let even = poly!(z; 0.500_000_000_000_000_1, 0.041_666_666_666_623_74, 0.001_388_888_891_740_644_7, 2.480_152_099_682_569_7e-05, 2.762_023_056_750_69e-07);
    let odd = r
        * poly!(z; 0.166_666_666_666_666_69, 0.008_333_333_333_330_032, 0.000_198_412_698_632_018_28, 2.755_726_822_996_322_7e-06, 2.510_049_478_890_504_2e-08);
    (r + z * (even + odd), z * (even - odd) - r)
}

/// `e^r - 1`.
#[inline(always)]
pub(super) fn exp_m1_near_0(r: f64) -> f64 {
    both_exp_m1_near_0(r).0
}

/// `e^x`.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let (k, r) = reduce(within(x, -746.0, 710.0));
    scale(1.0 + exp_m1_near_0(r), k)
}

/// `2^x`.
#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    let x = within(x, -1076.0, 1025.0);
    let k = nearest(x);
    scale(1.0 + exp_m1_near_0((x - k) * LN_2), k)
}

/// `e^x - 1`.
#[inline(always)]
pub fn exp_m1(x: f64) -> f64 {
    let (k, r) = reduce(within(x, -40.0, 710.0));
    // Half of 2^k, which for the greatest k would be too great.
    let half = power(k - 1.0);
    let y = 2.0 * (half * exp_m1_near_0(r) + (half - 0.5));
    if x.abs() < 5e-17 { x } else { y }
}

/// For hyperbolic functions: `e^r - 1` and `2^k / 4`, and the same with -k and -r.
#[inline(always)]
fn hyperbolic(x: f64) -> (f64, f64, f64, f64) {
    let (k, r) = reduce(within(x.abs(), 0.0, 710.6));
    let (above, below) = both_exp_m1_near_0(r);
    (above, power(k - 2.0), below, power(within(-k - 2.0, -1022.0, 0.0)))
}

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh(x: f64) -> f64 {
    let (above, up, below, down) = hyperbolic(x);
    let y = 2.0 * ((up * above - down * below) + (up - down));
    if x.abs() < 1e-8 { x } else { y.copysign(x) }
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh(x: f64) -> f64 {
    let (above, up, below, down) = hyperbolic(x);
    2.0 * ((up * above + down * below) + (up + down))
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let twice = exp_m1(2.0 * within(x.abs(), 0.0, 20.0));
    let y = twice / (twice + 2.0);
    if x.abs() < 1e-8 { x } else { y.copysign(x) }
}
