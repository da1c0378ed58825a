//! Powers: logarithm and exponential in `f64`, so that the error of the one is not multiplied.

use super::super::round::double::within;
use super::round_ties_even;
use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// A sum of this and a small number has the nearest integer in its low bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// The logarithm to base 2 of a positive number, with 40 bits.
#[inline(always)]
fn log2(x: f64) -> f64 {
    let above = x.to_bits().wrapping_sub((SQRT_2 * 0.5).to_bits()).wrapping_add(1023 << 52);
    let k =
        f64::from_bits(above >> 52 | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let m = (above & 0x000f_ffff_ffff_ffff).wrapping_add((SQRT_2 * 0.5).to_bits());
    let f = f64::from_bits(m) - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let tail = poly!(z; 0.666_666_666_673_754_5, 0.399_999_987_968_486_75, 0.285_717_546_357_327_6,
        0.221_913_944_931_750_58, 0.193_627_768_367_475_33);
    k + (2.0 * s + s * z * tail) * LOG2_E
}

/// `2^x`, with 30 bits.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    let x = within(x, -200.0, 200.0);
    let shifted = x + (SHIFT + 1023.0);
    let r = (x - (shifted - (SHIFT + 1023.0))) * LN_2;
    let tail = poly!(r; 0.500_000_001_4, 0.166_666_666_8, 0.041_666_464_01, 0.008_333_310_824,
        0.001_393_375_139, 0.000_198_911_034_2);
    (1.0 + (r + r * r * tail)) * f64::from_bits(shifted.to_bits() << 52)
}

/// `x^y`.
#[inline(always)]
pub fn powf(x: f32, y: f32) -> f32 {
    let size = x.abs();
    let log = log2(f64::from(size));
    let log = if size > 0.0 { log } else { f64::NEG_INFINITY };
    let log = if size < f32::INFINITY { log } else { f64::INFINITY };
    let result = exp2(f64::from(y) * log) as f32;
    let result = if x.is_nan() { x } else { result };
    let whole = round_ties_even(y) == y;
    let half = y * 0.5;
    let odd = whole & (round_ties_even(half) != half);
    let no_number = (x < 0.0) & (x > f32::NEG_INFINITY) & !whole;
    let signed = if odd { result.copysign(x) } else { result };
    let defined = if no_number { f32::NAN } else { signed };
    if (y == 0.0) | (x == 1.0) | ((size == 1.0) & (y.abs() == f32::INFINITY)) {
        1.0
    } else {
        defined
    }
}
