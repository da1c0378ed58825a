//! Angles: the nearest quarter of a turn, and what is left, for arguments of any size.
//!
//! Of `x * 2/pi` only the remainder modulo 4 is wanted. The leading bits of `2/pi` times a great x
//! give multiples of 4, and are left out; with enough of the bits that follow, the remainder is as
//! exact as it has to be. Which ones these are depends on the exponent of x, by selects or by a
//! table, not by branches.

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

/// The part at `AT` for an `f32` of a size.
#[inline(always)]
fn part_for<const AT: usize>(size: f32) -> f64 {
    // Numbers, not places of numbers: a vector of selected places would be gathered from.
    let low =
        if size < 4_294_967_296.0 { const { parts(0)[AT] } } else { const { parts(32 - 23)[AT] } };
    let high = if size < 7.922_816_3e28 {
        const { parts(64 - 23)[AT] }
    } else {
        const { parts(96 - 23)[AT] }
    };
    if size < 18_446_744_073_709_551_616.0 { low } else { high }
}

/// Sums with these have an integer in their low bits, or are multiples of 4.
const SHIFT: f64 = 6_755_399_441_055_744.0;
const SHIFT_4: f64 = 4.0 * SHIFT;

/// The nearest number of quarters of a turn, of which the low two bits count, and the angle beyond.
#[inline(always)]
pub fn quarter(x: f32) -> (u32, f32) {
    let (x, size) = (f64::from(x), x.abs());
    let first = x * part_for::<0>(size);
    let first = first - ((first + SHIFT_4) - SHIFT_4);
    let (second, third) = (x * part_for::<1>(size), x * part_for::<2>(size));
    let shifted = (first + second + third) + SHIFT;
    let beyond = ((first - (shifted - SHIFT)) + second) + third;
    (shifted.to_bits() as u32, (beyond * std::f64::consts::FRAC_PI_2) as f32)
}

/// Arguments of which the exponents agree but for three bits share bits of `2/pi`: those that make
/// up 192 bits in fixed point, whose product with the argument has 126 bits behind the point and
/// two before it.
const TABLE: [[u64; 3]; 129] = {
    let mut table = [[0; 3]; 129];
    let mut at = 0;
    while at < 129 {
        let first = 8 * at as i32 - 54;
        table[at] = [window(first), window(first + 64), window(first + 128)];
        at += 1;
    }
    table
};

/// The words of `2/pi` for an argument whose exponent is so much above that of 1/2.
#[inline(always)]
fn words(place: u64) -> [u64; 3] {
    TABLE[(place >> 3).min(128) as usize]
}

/// The low half of a word.
#[inline(always)]
fn low(x: u64) -> u64 {
    x & 0xffff_ffff
}

/// Four words of 32 bits: the upper part of the product of a number of 64 bits and 192 bits,
/// without what is above.
#[inline(always)]
fn product(x: u64, [a, b, c]: [u64; 3]) -> [u64; 4] {
    let w = [a >> 32, low(a), b >> 32, low(b), c >> 32, low(c)];
    let (x0, x1) = (low(x), x >> 32);
    let p = [w[0] * x0, w[1] * x0, w[2] * x0, w[3] * x0, w[4] * x0];
    let q = [0, w[1] * x1, w[2] * x1, w[3] * x1, w[4] * x1, w[5] * x1];
    let column = |at: usize| low(p[at]) + low(q[at + 1]) + (p[at + 1] >> 32);
    let s3 = column(3) + (q[5] >> 32);
    let s2 = column(2) + (q[4] >> 32) + (s3 >> 32);
    let s1 = column(1) + (q[3] >> 32) + (s2 >> 32);
    let s0 = column(0) + (q[2] >> 32) + (s1 >> 32);
    [low(s0), low(s1), low(s2), low(s3)]
}

/// `2^52`
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// An integer below 2^52 as a float, less what `bias` is beyond that.
#[inline(always)]
fn float(x: u64, bias: f64) -> f64 {
    f64::from_bits(x | 0x4330_0000_0000_0000) - bias
}

/// The nearest number of quarters of a turn for |x|, of which the low two bits count, and the angle
/// beyond, as a sum of two numbers.
#[inline(always)]
pub fn quarter_wide(x: f64) -> (u64, f64, f64) {
    let size = x.abs();
    let bits = size.to_bits();
    // Arguments below 1/2 are taken as they are.
    let place = (bits >> 52).saturating_sub(1022);
    let integer = (bits & 0x000f_ffff_ffff_ffff | 0x0010_0000_0000_0000) << (place & 7);
    let [r0, r1, r2, r3] = product(integer, words(place));
    // Half a quarter more, so that cutting off is rounding.
    let top = r0 + (1 << 29);
    let quarters = top >> 30 & 3;
    let (a, b) = (float(top & 0x3fff_ffff, WHOLE + 536_870_912.0), float(r1, WHOLE));
    let (c, d) = (float(r2, WHOLE), float(r3, WHOLE));
    let (a, b) = (a * TWO_TO_MINUS[0], b * TWO_TO_MINUS[1]);
    let high = a + b;
    let lost = b - (high - a);
    let rest = lost + (c * TWO_TO_MINUS[2] + d * TWO_TO_MINUS[3]);
    let sum = high + rest;
    let (y, low) = times_quarter(sum, rest - (sum - high));
    let little = size <= std::f64::consts::FRAC_PI_4;
    let finite = if size < f64::INFINITY { y } else { f64::NAN };
    if little { (0, size, 0.0) } else { (quarters, finite, low) }
}

/// `2^-30`, `2^-62`, `2^-94`, `2^-126`.
const TWO_TO_MINUS: [f64; 4] = [
    f64::from_bits((1023 - 30) << 52),
    f64::from_bits((1023 - 62) << 52),
    f64::from_bits((1023 - 94) << 52),
    f64::from_bits((1023 - 126) << 52),
];

/// `(high + low) pi / 2` as a sum of two numbers.
#[inline(always)]
fn times_quarter(high: f64, low: f64) -> (f64, f64) {
    const LOW: f64 = 6.123_233_995_736_766e-17;
    let (product, lost) = super::pairs::product(high, std::f64::consts::FRAC_PI_2);
    (product, lost + (high * LOW + low * std::f64::consts::FRAC_PI_2))
}
