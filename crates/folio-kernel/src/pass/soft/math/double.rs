//! The functions of `f64`.

use super::super::code::N;
use super::turns::quarter_wide;
use super::{angle, cube_root_step, near_cube_root, product, sum, within};
use crate::types::Scalar;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, LN_2, LOG2_E, LOG10_E, PI};

// Exponential functions.

/// A sum of this and a small number has the nearest integer in its low bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;
const LN_2_HIGH: f64 = 0.693_147_180_559_890_3;
const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;

fn nearest<'c>(x: N<'c>) -> N<'c> {
    (x + SHIFT) - SHIFT
}

/// `2^k` for an integer from -1022 to 1023.
fn power<'c>(k: N<'c>) -> N<'c> {
    ((k + (SHIFT + 1023.0)).raw() << 52u64).as_bits(Scalar::F64)
}

fn scale<'c>(y: N<'c>, k: N<'c>) -> N<'c> {
    let half = nearest(k * 0.5);
    y * power(half) * power(k - half)
}

fn reduce<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
    let k = nearest(x * LOG2_E);
    (k, (x - k * LN_2_HIGH) - k * LN_2_LOW)
}

fn both_exp_m1_near_0<'c>(r: N<'c>) -> (N<'c>, N<'c>) {
    let z = r * r;
    let even = poly!(z; 0.500_000_000_000_000_1, 0.041_666_666_666_623_74, 0.001_388_888_891_740_644_7, 2.480_152_099_682_569_7e-05, 2.762_023_056_750_69e-07);
    let odd = r
        * poly!(z; 0.166_666_666_666_666_69, 0.008_333_333_333_330_032, 0.000_198_412_698_632_018_28, 2.755_726_822_996_322_7e-06, 2.510_049_478_890_504_2e-08);
    (r + z * (even + odd), z * (even - odd) - r)
}

fn exp_m1_near_0<'c>(r: N<'c>) -> N<'c> {
    both_exp_m1_near_0(r).0
}

pub fn exp<'c>(x: N<'c>) -> N<'c> {
    let (k, r) = reduce(within(x, -746.0, 710.0));
    scale(1.0 + exp_m1_near_0(r), k)
}

pub fn exp2<'c>(x: N<'c>) -> N<'c> {
    let x = within(x, -1076.0, 1025.0);
    let k = nearest(x);
    scale(1.0 + exp_m1_near_0((x - k) * LN_2), k)
}

pub fn exp_m1<'c>(x: N<'c>) -> N<'c> {
    let (k, r) = reduce(within(x, -40.0, 710.0));
    // Half of 2^k, which for the greatest k would be too great.
    let half = power(k - 1.0);
    let y = 2.0 * (half * exp_m1_near_0(r) + (half - 0.5));
    x.abs().lt(5e-17).pick(x, y)
}

fn hyperbolic<'c>(x: N<'c>) -> (N<'c>, N<'c>, N<'c>, N<'c>) {
    let (k, r) = reduce(within(x.abs(), 0.0, 710.6));
    let (above, below) = both_exp_m1_near_0(r);
    (above, power(k - 2.0), below, power(within(-k - 2.0, -1022.0, 0.0)))
}

pub fn sinh<'c>(x: N<'c>) -> N<'c> {
    let (above, up, below, down) = hyperbolic(x);
    let y = 2.0 * ((up * above - down * below) + (up - down));
    x.abs().lt(1e-8).pick(x, y.copysign(x))
}

pub fn cosh<'c>(x: N<'c>) -> N<'c> {
    let (above, up, below, down) = hyperbolic(x);
    2.0 * ((up * above + down * below) + (up + down))
}

pub fn tanh<'c>(x: N<'c>) -> N<'c> {
    let twice = exp_m1(2.0 * within(x.abs(), 0.0, 20.0));
    let y = twice / (twice + 2.0);
    x.abs().lt(1e-8).pick(x, y.copysign(x))
}

// Logarithms.

const LOG10_2_HIGH: f64 = 0.301_029_995_663_952_83;
const LOG10_2_LOW: f64 = 2.836_339_455_104_496_4e-14;
const LEAST: u64 = FRAC_1_SQRT_2.to_bits();

/// k and f of a positive number.
fn split<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
    let denormal = x.lt(f64::MIN_POSITIVE);
    let bits = denormal.pick(x * 18_014_398_509_481_984.0, x).raw();
    let above = bits - LEAST + (1023u64 << 52);
    let biased = ((above >> 52u64) | 0x4330_0000_0000_0000u64).as_bits(Scalar::F64);
    let bias = 4_503_599_627_370_496.0 + denormal.pick(x.lit(1077.0), x.lit(1023.0));
    let m = ((above & 0x000f_ffff_ffff_ffffu64) + LEAST).as_bits(Scalar::F64);
    (biased - bias, m - 1.0)
}

/// `ln(1 + f) - f`.
fn rest<'c>(f: N<'c>) -> N<'c> {
    let s = f / (2.0 + f);
    let z = s * s;
    let tail = z
        * poly!(z; 0.666_666_666_666_667, 0.399_999_999_998_994_44, 0.285_714_286_260_032_7, 0.222_222_111_302_598_78, 0.181_828_894_556_749_47, 0.153_317_106_182_107_73, 0.146_165_854_248_886_23);
    let half = 0.5 * f * f;
    s * (half + tail) - half
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
    super::with_ends(x, k + (f + rest(f)) * LOG2_E)
}

pub fn log10<'c>(x: N<'c>) -> N<'c> {
    let (k, f) = split(x);
    super::with_ends(x, k * LOG10_2_HIGH + ((f + rest(f)) * LOG10_E + k * LOG10_2_LOW))
}

pub fn ln_1p<'c>(x: N<'c>) -> N<'c> {
    let sum = 1.0 + x;
    // What the sum has lost.
    let lost = x.lt(1.0).pick(x - (sum - 1.0), 1.0 - (sum - x));
    let (k, f) = split(sum);
    let f = f + lost * power(within(-k, -1022.0, 1022.0));
    let y = super::with_ends(sum, join(k, f));
    x.eq(0.0).pick(x, y)
}

// Roots.

const TWO_TO_600: f64 = f64::from_bits((1023 + 600) << 52);

pub fn cbrt<'c>(x: N<'c>) -> N<'c> {
    let size = x.abs();
    let denormal = size.lt(f64::MIN_POSITIVE);
    let size = denormal.pick(size * 18_014_398_509_481_984.0, size);
    // Where cubes do not overflow.
    let great = size.gt(1e300);
    let size = great.pick(size * 0.125, size);
    let near = cube_root_step(size, near_cube_root(size));
    let y = cube_root_step(size, cube_root_step(size, near));
    let y = denormal.pick(y * (1.0 / 262_144.0), y);
    let y = great.pick(y * 2.0, y).copysign(x);
    (x.ne(0.0) & x.abs().lt(f64::INFINITY)).pick(y, x)
}

pub fn hypot<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
    let (a, b) = (x.abs(), y.abs());
    let swap = a.gt(b);
    let (less, more) = (swap.pick(b, a), swap.pick(a, b));
    // Where squares neither overflow nor vanish.
    let up = more.lt(1e-140).pick(x.lit(TWO_TO_600), x.lit(1.0));
    let scale = more.gt(1e140).pick(x.lit(1.0 / TWO_TO_600), up);
    let (s, t) = (less * scale, more * scale);
    let y = (s * s + t * t).sqrt() / scale;
    (a.is_infinite() | b.is_infinite()).pick(x.infinity(), y)
}

// The inverses of circular functions.

const FRAC_PI_2_LOW: f64 = 6.123_233_995_736_766e-17;
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;

fn asin_tail<'c>(z: N<'c>) -> N<'c> {
    z * poly!(z; 0.166_666_666_666_666_69, 0.074_999_999_999_984_33, 0.044_642_857_146_355_43, 0.030_381_944_138_531_247, 0.022_372_172_942_149_89, 0.017_352_392_720_869_973, 0.013_971_212_973_552_933, 0.011_479_177_415_184_906, 0.010_322_814_350_185_78, 0.005_457_506_718_640_358, 0.017_400_879_442_694_02, -0.014_851_887_071_247_204, 0.028_757_851_367_421_566)
}

pub fn asin<'c>(x: N<'c>) -> N<'c> {
    let (great, s, z) = super::asin_argument(x);
    let tail = s * asin_tail(z);
    let near_end = FRAC_PI_2 - (2.0 * (s + tail) - FRAC_PI_2_LOW);
    great.pick(near_end, s + tail).copysign(x)
}

pub fn acos<'c>(x: N<'c>) -> N<'c> {
    let (great, s, z) = super::asin_argument(x);
    let tail = s * asin_tail(z);
    let angle = (s + tail).copysign(x);
    let near_ends = x.lt(0.0).pick(PI - (2.0 * (s + tail) - PI_LOW), 2.0 * (s + tail));
    great.pick(near_ends, FRAC_PI_2 - (angle - FRAC_PI_2_LOW))
}

/// `(atan t - t) / t^3`, from `t^2` for t up to `tan(pi/8)`.
fn atan_tail<'c>(z: N<'c>) -> N<'c> {
    poly!(z; -0.333_333_333_333_333_3, 0.199_999_999_999_955_13, -0.142_857_142_846_651_8, 0.111_111_110_151_467_14, -0.090_909_045_736_690_6, 0.076_921_830_873_420_26, -0.066_645_099_898_180_45, 0.058_581_362_519_061_465, -0.050_853_834_888_428_31, 0.039_229_744_536_612_23, -0.019_174_543_572_021_332)
}

pub fn atan<'c>(x: N<'c>) -> N<'c> {
    angle(x, x.lit(1.0), atan_tail)
}

pub fn atan2<'c>(y: N<'c>, x: N<'c>) -> N<'c> {
    angle(y, x, atan_tail)
}

// Powers.

const TWO_LOG2_E: (f64, f64) = (2.885_390_081_777_926_8, 4.071_054_748_186_206_6e-17);
const THIRD: (f64, f64) = (0.333_333_333_333_333_3, 1.850_371_707_708_594e-17);

/// The logarithm to base 2 of a positive number, as the sum of two.
fn log2_of_two<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
    let (k, f) = split(x);
    // s = f / (2 + f), and what is lost by that.
    let (below, below_low) = sum(x.lit(2.0), f);
    let s = f / below;
    let (near, near_low) = product(s, below);
    let s_low = (((f - near) - near_low) - s * below_low) / below;
    // 2 atanh s = 2 s (1 + t), where t = z / 3 + z^2 / 5 + ..
    let (z, z_low) = product(s, s);
    let z_low = z_low + 2.0 * s * s_low;
    let tail = z
        * z
        * poly!(z; 0.200_000_000_000_000_12, 0.142_857_142_856_692_54, 0.111_111_111_355_511_7, 0.090_909_041_237_722_71, 0.076_927_873_982_310_16, 0.066_429_787_175_966_76, 0.064_568_088_360_911_25);
    let (t, t_low) = product(z, x.lit(THIRD.0));
    let (t, t_low) = sum(t, tail + (t_low + (z * THIRD.1 + z_low * THIRD.0)));
    let (a, a_low) = product(s, x.lit(TWO_LOG2_E.0));
    let a_low = a_low + (s * TWO_LOG2_E.1 + s_low * TWO_LOG2_E.0);
    let (b, b_low) = product(a, t);
    let (c, c_low) = sum(a, b);
    let c_low = c_low + (a_low + (b_low + (a * t_low + a_low * t)));
    let (log, low) = sum(k, c);
    (log, low + c_low)
}

/// `2^(y log)`
fn exp2_of_product<'c>(y: N<'c>, (log, low): (N<'c>, N<'c>)) -> N<'c> {
    // Beyond that, powers of all numbers but 1 are 0 or infinite.
    let y = within(y, -1e20, 1e20);
    let (exponent, rest) = product(y, log);
    let rest = rest + y * low;
    let inside = exponent.abs().lt(1100.0);
    let exponent = within(exponent, -1100.0, 1100.0);
    let k = nearest(exponent);
    let r = (exponent - k) + inside.pick(rest, rest.lit(0.0));
    scale(1.0 + exp_m1_near_0(r * LN_2), k)
}

pub fn powf<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
    let size = x.abs();
    let result = exp2_of_product(y, log2_of_two(size));
    let end = !(size.eq(0.0) ^ y.lt(0.0));
    let end = end.pick(x.infinity(), x.lit(0.0));
    let result = (size.eq(0.0) | size.is_infinite()).pick(end, result);
    let result = (x.is_nan() | y.is_nan()).pick(x + y, result);
    super::power_ends(x, y, result)
}

// Circular functions.

/// Sine and cosine of an angle that is the sum of two numbers.
fn near_0<'c>(r: N<'c>, low: N<'c>) -> (N<'c>, N<'c>) {
    let z = r * r;
    let sin = poly!(z; -0.166_666_666_666_666_66, 0.008_333_333_333_330_946, -0.000_198_412_698_367_549_7, 2.755_731_610_068_303e-06, -2.505_113_145_542_794_6e-08, 1.591_810_123_027_412e-10);
    let cos = poly!(z; 0.041_666_666_666_666_664, -0.001_388_888_888_888_739_5, 2.480_158_729_876_343_3e-05, -2.755_731_727_056_032_6e-07, 2.087_614_602_468_974_7e-09, -1.138_261_486_855_632_5e-11);
    let half = 0.5 * z;
    let near = 1.0 - half;
    let rest = ((1.0 - near) - half) + (z * z * cos - r * low);
    (r + (r * z * sin + low * near), near + rest)
}

/// The sine of |x| and some quarters of a turn more.
fn sin_from<'c>(x: N<'c>, more: u64) -> N<'c> {
    let (quarters, r, low) = quarter_wide(x);
    let quarters = quarters + more;
    let (sin, cos) = near_0(r, low);
    let size = (quarters & 1u64).eq(0u64).pick(sin, cos);
    (size.raw() ^ ((quarters & 2u64) << 62u64)).as_bits(Scalar::F64)
}

pub fn sin<'c>(x: N<'c>) -> N<'c> {
    let y = (sin_from(x, 0).raw() ^ (x.raw() & (1u64 << 63))).as_bits(Scalar::F64);
    x.abs().lt(1e-8).pick(x, y)
}

pub fn cos<'c>(x: N<'c>) -> N<'c> {
    sin_from(x, 1)
}

pub fn tan<'c>(x: N<'c>) -> N<'c> {
    let (quarters, r, low) = quarter_wide(x);
    let (sin, cos) = near_0(r, low);
    let odd = (quarters & 1u64).eq(1u64);
    let (above, below) = (odd.pick(cos, sin), odd.pick(sin, cos));
    let sign = (x.raw() & (1u64 << 63)) ^ ((quarters & 1u64) << 63u64);
    let y = ((above / below).raw() ^ sign).as_bits(Scalar::F64);
    x.abs().lt(1e-8).pick(x, y)
}
