//! Angles: the nearest quarter of a turn, and what is left, for arguments of any size; see
//! `math::turns`.

use super::super::code::N;
use super::product;
use crate::types::Scalar;
use std::f64::consts::FRAC_PI_2;

/// The bits of `2/pi` behind the point.
const TWO_OVER_PI: [u64; 20] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
];

/// 64 bits of `2/pi`, from the one of weight `2^-first` on.
const fn window(first: i32) -> u64 {
    let (word, bit) = ((first - 1).div_euclid(64), (first - 1).rem_euclid(64));
    let high = if word >= 0 { TWO_OVER_PI[word as usize] } else { 0 };
    let low = if word >= -1 { TWO_OVER_PI[(word + 1) as usize] } else { 0 };
    if bit == 0 { high } else { high << bit | low >> (64 - bit) }
}

/// `count` bits of `2/pi`, from the one of weight `2^-first` on, as a number.
const fn part(first: i32, count: u32) -> f64 {
    let last = first + count as i32 - 1;
    (window(first) >> (64 - count)) as f64 * f64::from_bits(((1023 - last) as u64) << 52)
}

/// The bits of `2/pi` for `f32` arguments that are less than `2^(least + 55)`, and multiples of
/// `2^least` unless that is 1. Products of the first two parts with 24 bits are exact.
const fn parts(least: i32) -> [f64; 3] {
    let first = if least > 2 { least - 1 } else { 1 };
    [part(first, 29), part(first + 29, 29), part(first + 58, 53)]
}

/// One of these parts for an `f32` of a size.
fn part_for<'c>(at: usize, size: N<'c>, wide: N<'c>) -> N<'c> {
    let lit = |least: i32| wide.lit(parts(least)[at]);
    let low = size.lt(4_294_967_296.0).pick(lit(0), lit(32 - 23));
    let high = size.lt(f64::from(7.922_816_3e28f32)).pick(lit(64 - 23), lit(96 - 23));
    size.lt(18_446_744_073_709_551_616.0).pick(low, high)
}

const SHIFT: f64 = 6_755_399_441_055_744.0;
const SHIFT_4: f64 = 4.0 * SHIFT;

/// The nearest number of quarters of a turn, of which the low two bits count, and the angle beyond.
pub fn quarter<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
    let (wide, size) = (x.cast(Scalar::F64), x.abs());
    let first = wide * part_for(0, size, wide);
    let first = first - ((first + SHIFT_4) - SHIFT_4);
    let second = wide * part_for(1, size, wide);
    let third = wide * part_for(2, size, wide);
    let shifted = (first + second + third) + SHIFT;
    let beyond = ((first - (shifted - SHIFT)) + second) + third;
    (shifted.raw().cast(Scalar::U32), (beyond * FRAC_PI_2).cast(Scalar::F32))
}

fn low<'c>(x: N<'c>) -> N<'c> {
    x & 0xffff_ffffu64
}

/// Four words of 32 bits: the upper part of the product of a number of 64 bits and 192 bits,
/// without what is above.
fn upper<'c>(x: N<'c>, [a, b, c]: [N<'c>; 3]) -> [N<'c>; 4] {
    let w = [a >> 32u64, low(a), b >> 32u64, low(b), c >> 32u64, low(c)];
    let (x0, x1) = (low(x), x >> 32u64);
    let p = [w[0] * x0, w[1] * x0, w[2] * x0, w[3] * x0, w[4] * x0];
    let q = [x.of_bits(0), w[1] * x1, w[2] * x1, w[3] * x1, w[4] * x1, w[5] * x1];
    let column = |at: usize| low(p[at]) + low(q[at + 1]) + (p[at + 1] >> 32u64);
    let s3 = column(3) + (q[5] >> 32u64);
    let s2 = column(2) + (q[4] >> 32u64) + (s3 >> 32u64);
    let s1 = column(1) + (q[3] >> 32u64) + (s2 >> 32u64);
    let s0 = column(0) + (q[2] >> 32u64) + (s1 >> 32u64);
    [low(s0), low(s1), low(s2), low(s3)]
}

/// Three words of 64 bits of `2/pi`, from the one of weight `2^-(8 place - 54)` on, for places up
/// to 128.
fn window_at<'c>(place: N<'c>) -> [N<'c>; 3] {
    // One zero word ahead, so that no bit is before the first word.
    let first = (place << 3u64) + (64u64 - 55);
    let (word, bit) = (first >> 6u64, first & 63u64);
    let list = |at: i64| match usize::try_from(at - 1) {
        Ok(at) => TWO_OVER_PI.get(at).copied().unwrap_or(0),
        Err(_) => 0,
    };
    // Selected by the bits of the word's number, the last first.
    let chosen = |ahead: i64| {
        let mut all: Vec<N<'c>> = (0..32).map(|at| place.of_bits(list(at + ahead))).collect();
        for level in 0..5u64 {
            let high = (word & (1u64 << level)).ne(0u64);
            all = all.chunks(2).map(|pair| high.pick(pair[1], pair[0])).collect();
        }
        all[0]
    };
    let words: [N<'c>; 4] = [0, 1, 2, 3].map(chosen);
    let spill = |x: N<'c>| (x >> 1u64) >> (bit.of_bits(63) - bit);
    let joined = |at: usize| (words[at] << bit) | spill(words[at + 1]);
    [joined(0), joined(1), joined(2)]
}

/// An integer below 2^52 as a float, less `offset`.
fn float<'c>(x: N<'c>, offset: f64) -> N<'c> {
    (x | 0x4330_0000_0000_0000u64).as_bits(Scalar::F64) - (4_503_599_627_370_496.0 + offset)
}

/// The nearest number of quarters of a turn for |x|, of which the low two bits count, and the angle
/// beyond, as a sum of two numbers.
pub fn quarter_wide<'c>(x: N<'c>) -> (N<'c>, N<'c>, N<'c>) {
    let size = x.abs();
    let bits = size.raw();
    // Arguments below 1/2 are taken as they are.
    let field = bits >> 52u64;
    let place = field.lt(1022u64).pick(field.of_bits(0), field - 1022u64);
    let integer = ((bits & 0x000f_ffff_ffff_ffffu64) | 0x0010_0000_0000_0000u64) << (place & 7u64);
    let row = place >> 3u64;
    let row = row.gt(128u64).pick(row.of_bits(128), row);
    let [r0, r1, r2, r3] = upper(integer, window_at(row));
    // Half a quarter more, so that cutting off is rounding.
    let top = r0 + (1u64 << 29);
    let quarters = (top >> 30u64) & 3u64;
    let (a, b) = (float(top & 0x3fff_ffffu64, 536_870_912.0), float(r1, 0.0));
    let (c, d) = (float(r2, 0.0), float(r3, 0.0));
    let (a, b) = (a * TWO_TO_MINUS[0], b * TWO_TO_MINUS[1]);
    let high = a + b;
    let lost = b - (high - a);
    let rest = lost + (c * TWO_TO_MINUS[2] + d * TWO_TO_MINUS[3]);
    let sum = high + rest;
    let (y, low) = times_quarter(sum, rest - (sum - high));
    let little = size.le(std::f64::consts::FRAC_PI_4);
    let finite = size.lt(f64::INFINITY).pick(y, y.nan());
    let zero = x.lit(0.0);
    (little.pick(quarters.of_bits(0), quarters), little.pick(size, finite), little.pick(zero, low))
}

/// `2^-30`, `2^-62`, `2^-94`, `2^-126`.
const TWO_TO_MINUS: [f64; 4] = [
    f64::from_bits((1023 - 30) << 52),
    f64::from_bits((1023 - 62) << 52),
    f64::from_bits((1023 - 94) << 52),
    f64::from_bits((1023 - 126) << 52),
];

/// `(high + low) pi / 2` as a sum of two numbers.
fn times_quarter<'c>(high: N<'c>, low: N<'c>) -> (N<'c>, N<'c>) {
    const LOW: f64 = 6.123_233_995_736_766e-17;
    let (near, lost) = product(high, high.lit(FRAC_PI_2));
    (near, lost + (high * LOW + low * FRAC_PI_2))
}
