//! The functions of `f32`.

use super::super::code::N;
use super::turns::quarter;
use super::{angle, cube_root_step, near_cube_root, within};
use crate::types::Scalar;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, LOG10_E, PI};

fn double<'c>(x: N<'c>) -> N<'c> {
    x.cast(Scalar::F64)
}

fn single<'c>(x: N<'c>) -> N<'c> {
    x.cast(Scalar::F32)
}

// Exponential functions.

/// A sum of this and a small number has the nearest integer in its low bits.
const SHIFT: f64 = 12_582_912.0;
const LN_2_HIGH: f64 = 0.693_145_75;
const LN_2_LOW: f64 = 1.428_606_8e-6;

fn nearest<'c>(x: N<'c>) -> N<'c> {
    (x + SHIFT) - SHIFT
}

/// `2^k` for an integer from -126 to 127.
fn power<'c>(k: N<'c>) -> N<'c> {
    ((k + (SHIFT + 127.0)).raw() << 23u64).as_bits(Scalar::F32)
}

fn scale<'c>(y: N<'c>, k: N<'c>) -> N<'c> {
    let half = nearest(k * 0.5);
    y * power(half) * power(k - half)
}

fn reduce<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
    let k = nearest(x * f64::from(LOG2_E));
    (k, (x - k * LN_2_HIGH) - k * LN_2_LOW)
}

fn both_exp_m1_near_0<'c>(r: N<'c>) -> (N<'c>, N<'c>) {
    let z = r * r;
    let even = poly!(z; 0.5, 0.041_666_464, 0.001_393_375_1);
    let odd = r * poly!(z; 0.166_666_67, 0.008_333_311, 0.000_198_911_03);
    (r + z * (even + odd), z * (even - odd) - r)
}

fn exp_m1_near_0<'c>(r: N<'c>) -> N<'c> {
    both_exp_m1_near_0(r).0
}

pub fn exp<'c>(x: N<'c>) -> N<'c> {
    let (k, r) = reduce(within(x, -104.0, 89.0));
    scale(1.0 + exp_m1_near_0(r), k)
}

pub fn exp2<'c>(x: N<'c>) -> N<'c> {
    let x = within(x, -151.0, 129.0);
    let k = nearest(x);
    scale(1.0 + exp_m1_near_0((x - k) * f64::from(LN_2)), k)
}

pub fn exp_m1<'c>(x: N<'c>) -> N<'c> {
    let (k, r) = reduce(within(x, -18.0, 89.0));
    // Half of 2^k, which for the greatest k would be too great.
    let half = power(k - 1.0);
    let y = 2.0 * (half * exp_m1_near_0(r) + (half - 0.5));
    x.abs().lt(3e-8).pick(x, y)
}

fn hyperbolic<'c>(x: N<'c>) -> (N<'c>, N<'c>, N<'c>, N<'c>) {
    let (k, r) = reduce(within(x.abs(), 0.0, 89.5));
    let (above, below) = both_exp_m1_near_0(r);
    (above, power(k - 2.0), below, power(within(-k - 2.0, -126.0, 0.0)))
}

pub fn sinh<'c>(x: N<'c>) -> N<'c> {
    let (above, up, below, down) = hyperbolic(x);
    let y = 2.0 * ((up * above - down * below) + (up - down));
    x.abs().lt(2e-4).pick(x, y.copysign(x))
}

pub fn cosh<'c>(x: N<'c>) -> N<'c> {
    let (above, up, below, down) = hyperbolic(x);
    2.0 * ((up * above + down * below) + (up + down))
}

pub fn tanh<'c>(x: N<'c>) -> N<'c> {
    let twice = exp_m1(2.0 * within(x.abs(), 0.0, 10.0));
    let y = twice / (twice + 2.0);
    x.abs().lt(2e-4).pick(x, y.copysign(x))
}

// Logarithms.

const LOG10_2_HIGH: f64 = 0.301_025_4;
const LOG10_2_LOW: f64 = 4.605_039e-6;
/// The bits of 2/3.
const TWO_THIRDS: u64 = 0x3f2a_aaab;

/// k and f of a positive number.
fn split<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
    let denormal = x.lt(f64::from(f32::MIN_POSITIVE));
    let bits = denormal.pick(x * 8_388_608.0, x).raw();
    let above = bits - TWO_THIRDS;
    let exponent = (above.as_bits(Scalar::I32) >> 23u64).cast(Scalar::F32);
    let k = exponent - denormal.pick(x.lit(23.0), x.lit(0.0));
    let m = ((above & 0x007f_ffffu64) + TWO_THIRDS).as_bits(Scalar::F32);
    (k, m - 1.0)
}

/// `ln(1 + f) - f`.
fn rest<'c>(f: N<'c>) -> N<'c> {
    let z = f * f;
    let tail = poly!(f; 0.333_333_34, -0.249_999_45, 0.199_999_48, -0.166_733_16, 0.142_918_67,
        -0.122_887_22, 0.109_156_55, -0.124_222, 0.113_306_18);
    f * z * tail - 0.5 * z
}

fn join<'c>(k: N<'c>, f: N<'c>) -> N<'c> {
    k * LN_2_HIGH + (f + (rest(f) + k * LN_2_LOW))
}

pub fn ln<'c>(x: N<'c>) -> N<'c> {
    let (k, f) = split(x);
    super::with_ends(x, join(k, f))
}

pub fn log2<'c>(x: N<'c>) -> N<'c> {
    let (k, f) = split(x);
    super::with_ends(x, k + (f + rest(f)) * f64::from(LOG2_E))
}

pub fn log10<'c>(x: N<'c>) -> N<'c> {
    let (k, f) = split(x);
    let low = (f + rest(f)) * f64::from(LOG10_E) + k * LOG10_2_LOW;
    super::with_ends(x, k * LOG10_2_HIGH + low)
}

pub fn ln_1p<'c>(x: N<'c>) -> N<'c> {
    let sum = 1.0 + x;
    // What the sum has lost.
    let lost = x.lt(1.0).pick(x - (sum - 1.0), 1.0 - (sum - x));
    let (k, f) = split(sum);
    let f = f + lost * power(within(-k, -126.0, 126.0));
    let y = super::with_ends(sum, join(k, f));
    x.eq(0.0).pick(x, y)
}

// Roots, in `f64`.

pub fn cbrt<'c>(x: N<'c>) -> N<'c> {
    let size = double(x.abs());
    let near = cube_root_step(size, near_cube_root(size));
    let y = single(cube_root_step(size, near)).copysign(x);
    (x.ne(0.0) & x.abs().lt(f64::INFINITY)).pick(y, x)
}

pub fn hypot<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
    let (a, b) = (double(x), double(y));
    let infinite = x.is_infinite() | y.is_infinite();
    infinite.pick(x.infinity(), single((a * a + b * b).sqrt()))
}

// The inverses of circular functions.

const FRAC_PI_2_LOW: f64 = -4.371_139e-8;
const PI_LOW: f64 = -8.742_278e-8;
const FRAC_PI_4_LOW: f64 = -2.185_569_4e-8;

fn asin_tail<'c>(z: N<'c>) -> N<'c> {
    z * poly!(z; 0.166_666_67, 0.075_000_95, 0.044_599_4, 0.031_100_663, 0.017_149_238, 0.033_690_847)
}

pub fn asin<'c>(x: N<'c>) -> N<'c> {
    let (great, s, z) = super::asin_argument(x);
    let tail = s * asin_tail(z);
    let near_end = f64::from(FRAC_PI_2) - (2.0 * (s + tail) - FRAC_PI_2_LOW);
    great.pick(near_end, s + tail).copysign(x)
}

pub fn acos<'c>(x: N<'c>) -> N<'c> {
    let (great, s, z) = super::asin_argument(x);
    let tail = s * asin_tail(z);
    let angle = (s + tail).copysign(x);
    let left = f64::from(PI) - (2.0 * (s + tail) - PI_LOW);
    let near_ends = x.lt(0.0).pick(left, 2.0 * (s + tail));
    great.pick(near_ends, f64::from(FRAC_PI_2) - (angle - FRAC_PI_2_LOW))
}

pub fn atan<'c>(x: N<'c>) -> N<'c> {
    let size = x.abs();
    // Above tan(pi/8) and tan(3 pi/8), the angle beyond pi/4 and pi/2.
    let (some, more) = (size.gt(0.414_213_57), size.gt(2.414_213_7));
    let above = more.pick(x.lit(-1.0), size - 1.0);
    let below = more.pick(size, size + 1.0);
    let (above, below) = (some.pick(above, size), some.pick(below, x.lit(1.0)));
    let t = above / below;
    let z = t * t;
    let tail =
        t * z * poly!(z; -0.333_333_34, 0.199_995_4, -0.142_639_46, 0.107_436_32, -0.064_515_97);
    let eighths = some.pick(x.lit(1.0), x.lit(0.0));
    let eighths = more.pick(x.lit(2.0), eighths);
    let turned = eighths * f64::from(FRAC_PI_4);
    (turned + (t + (tail + eighths * FRAC_PI_4_LOW))).copysign(x)
}

pub fn atan2<'c>(y: N<'c>, x: N<'c>) -> N<'c> {
    // Where quotients neither overflow nor vanish.
    single(angle(double(y), double(x), |z| {
        poly!(z; -0.333_333_317_6, 0.199_995_402_2, -0.142_639_463_6, 0.107_436_316_3,
                -0.064_515_972_59)
    }))
}

// Powers: logarithm and exponential in `f64`.

const SHIFT_WIDE: f64 = 6_755_399_441_055_744.0;

/// The logarithm to base 2 of a positive number, with 40 bits.
fn log2_wide<'c>(x: N<'c>) -> N<'c> {
    let middle = (std::f64::consts::SQRT_2 * 0.5).to_bits();
    let above = x.raw() - middle + (1023u64 << 52);
    let k = ((above >> 52u64) | 0x4330_0000_0000_0000u64).as_bits(Scalar::F64)
        - (4_503_599_627_370_496.0 + 1023.0);
    let m = (above & 0x000f_ffff_ffff_ffffu64) + middle;
    let f = m.as_bits(Scalar::F64) - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let tail = poly!(z; 0.666_666_666_673_754_5, 0.399_999_987_968_486_75, 0.285_717_546_357_327_6,
        0.221_913_944_931_750_58, 0.193_627_768_367_475_33);
    k + (2.0 * s + s * z * tail) * std::f64::consts::LOG2_E
}

/// `2^x`, with 30 bits.
fn exp2_wide<'c>(x: N<'c>) -> N<'c> {
    let x = within(x, -200.0, 200.0);
    let shifted = x + (SHIFT_WIDE + 1023.0);
    let r = (x - (shifted - (SHIFT_WIDE + 1023.0))) * std::f64::consts::LN_2;
    let tail = poly!(r; 0.500_000_001_4, 0.166_666_666_8, 0.041_666_464_01, 0.008_333_310_824,
        0.001_393_375_139, 0.000_198_911_034_2);
    (1.0 + (r + r * r * tail)) * (shifted.raw() << 52u64).as_bits(Scalar::F64)
}

pub fn powf<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
    let size = x.abs();
    let log = log2_wide(double(size));
    let log = size.gt(0.0).pick(log, log.lit(f64::NEG_INFINITY));
    let log = size.lt(f64::INFINITY).pick(log, log.infinity());
    let result = single(exp2_wide(double(y) * log));
    let result = x.is_nan().pick(x, result);
    super::power_ends(x, y, result)
}

// Circular functions.

fn near_0<'c>(r: N<'c>) -> (N<'c>, N<'c>) {
    let z = r * r;
    let sin = poly!(z; -0.166_666_65, 0.008_332_748, -0.000_195_878_4);
    let cos = poly!(z; 0.041_666_664, -0.001_388_830_3, 0.000_024_547_892);
    (r + r * z * sin, 1.0 + z * (z * cos - 0.5))
}

fn sin_from<'c>(x: N<'c>, more: u64) -> N<'c> {
    let (quarters, r) = quarter(x);
    let quarters = quarters + more;
    let (sin, cos) = near_0(r);
    let size = (quarters & 1u64).eq(0u64).pick(sin, cos);
    (size.raw() ^ ((quarters & 2u64) << 30u64)).as_bits(Scalar::F32)
}

pub fn sin<'c>(x: N<'c>) -> N<'c> {
    let y = sin_from(x, 0);
    x.eq(0.0).pick(x, y)
}

pub fn cos<'c>(x: N<'c>) -> N<'c> {
    sin_from(x, 1)
}

pub fn tan<'c>(x: N<'c>) -> N<'c> {
    let (quarters, r) = quarter(x);
    let (sin, cos) = near_0(r);
    let odd = (quarters & 1u64).eq(1u64);
    let y = odd.pick(-cos, sin) / odd.pick(sin, cos);
    x.eq(0.0).pick(x, y)
}
