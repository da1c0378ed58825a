//! Exponential and hyperbolic functions.
//!
//! `x = k ln 2 + r` with an integer k and |r| <= ln 2 / 2, and polynomials for `cosh r` and
//! `sinh r`, which make up `e^r` and `e^-r`.

use super::within;
use std::f32::consts::{LN_2, LOG2_E};

/// A sum of this and a small number has the nearest integer in its low bits.
const SHIFT: f32 = 12_582_912.0;
/// `ln 2` in two parts, of which the first has so few bits that a product with k is exact.
const LN_2_HIGH: f32 = 0.693_145_75;
const LN_2_LOW: f32 = 1.428_606_8e-6;

/// The nearest integer of a number that is small.
#[inline(always)]
fn nearest(x: f32) -> f32 {
    (x + SHIFT) - SHIFT
}

/// `2^k` for an integer from -126 to 127.
#[inline(always)]
pub(super) fn power(k: f32) -> f32 {
    f32::from_bits((k + (SHIFT + 127.0)).to_bits() << 23)
}

/// `y 2^k` for a `y` near 1, rounded once also where it is denormal.
#[inline(always)]
fn scale(y: f32, k: f32) -> f32 {
    let half = nearest(k * 0.5);
    y * power(half) * power(k - half)
}

/// k and r.
#[inline(always)]
fn reduce(x: f32) -> (f32, f32) {
    let k = nearest(x * LOG2_E);
    (k, (x - k * LN_2_HIGH) - k * LN_2_LOW)
}

/// `e^r - 1` and `e^-r - 1`.
#[inline(always)]
fn both_exp_m1_near_0(r: f32) -> (f32, f32) {
    let z = r * r;
    // (cosh r - 1) / r^2 and (sinh r - r) / r^2
    let even = poly!(z; 0.5, 0.041_666_464, 0.001_393_375_1);
    let odd = r * poly!(z; 0.166_666_67, 0.008_333_311, 0.000_198_911_03);
    (r + z * (even + odd), z * (even - odd) - r)
}

/// `e^r - 1`.
#[inline(always)]
fn exp_m1_near_0(r: f32) -> f32 {
    both_exp_m1_near_0(r).0
}

/// `e^x`.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let (k, r) = reduce(within(x, -104.0, 89.0));
    scale(1.0 + exp_m1_near_0(r), k)
}

/// `2^x`.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    let x = within(x, -151.0, 129.0);
    let k = nearest(x);
    scale(1.0 + exp_m1_near_0((x - k) * LN_2), k)
}

/// `e^x - 1`.
#[inline(always)]
pub fn exp_m1(x: f32) -> f32 {
    let (k, r) = reduce(within(x, -18.0, 89.0));
    // Half of 2^k, which for the greatest k would be too great.
    let half = power(k - 1.0);
    let y = 2.0 * (half * exp_m1_near_0(r) + (half - 0.5));
    if x.abs() < 3e-8 { x } else { y }
}

/// For hyperbolic functions: `e^r - 1` and `2^k / 4`, and the same with -k and -r.
#[inline(always)]
fn hyperbolic(x: f32) -> (f32, f32, f32, f32) {
    let (k, r) = reduce(within(x.abs(), 0.0, 89.5));
    let (above, below) = both_exp_m1_near_0(r);
    (above, power(k - 2.0), below, power(within(-k - 2.0, -126.0, 0.0)))
}

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let (above, up, below, down) = hyperbolic(x);
    let y = 2.0 * ((up * above - down * below) + (up - down));
    if x.abs() < 2e-4 { x } else { y.copysign(x) }
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    let (above, up, below, down) = hyperbolic(x);
    2.0 * ((up * above + down * below) + (up + down))
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let twice = exp_m1(2.0 * within(x.abs(), 0.0, 10.0));
    let y = twice / (twice + 2.0);
    if x.abs() < 2e-4 { x } else { y.copysign(x) }
}
