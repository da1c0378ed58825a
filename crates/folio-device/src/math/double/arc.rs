//! The inverses of circular functions.

use std::f64::consts::{FRAC_PI_2, PI};

/// The rounding errors of the constants.
const FRAC_PI_2_LOW: f64 = 6.123_233_995_736_766e-17;
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;

/// `(asin x - x) / x`, from `x^2` up to 1/4.
#[inline(always)]
fn asin_tail(z: f64) -> f64 {
    z * poly!(z; 0.166_666_666_666_666_69, 0.074_999_999_999_984_33, 0.044_642_857_146_355_43, 0.030_381_944_138_531_247, 0.022_372_172_942_149_89, 0.017_352_392_720_869_973, 0.013_971_212_973_552_933, 0.011_479_177_415_184_906, 0.010_322_814_350_185_78, 0.005_457_506_718_640_358, 0.017_400_879_442_694_02, -0.014_851_887_071_247_204, 0.028_757_851_367_421_566)
}

/// |x| if that is at most 1/2; else the sine of half the angle that is missing to a quarter of a turn.
#[inline(always)]
fn asin_argument(x: f64) -> (bool, f64, f64) {
    let size = x.abs();
    let great = size > 0.5;
    let half = (1.0 - size) * 0.5;
    let z = if great { half } else { x * x };
    (great, if great { half.sqrt() } else { size }, z)
}

/// The arc sine.
#[inline(always)]
pub fn asin(x: f64) -> f64 {
    let (great, s, z) = asin_argument(x);
    let tail = s * asin_tail(z);
    let y = if great { FRAC_PI_2 - (2.0 * (s + tail) - FRAC_PI_2_LOW) } else { s + tail };
    y.copysign(x)
}

/// The arc cosine.
#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let (great, s, z) = asin_argument(x);
    let tail = s * asin_tail(z);
    let angle = (s + tail).copysign(x);
    let near_ends = if x < 0.0 { PI - (2.0 * (s + tail) - PI_LOW) } else { 2.0 * (s + tail) };
    if great { near_ends } else { FRAC_PI_2 - (angle - FRAC_PI_2_LOW) }
}

/// `(atan t - t) / t^3`, from `t^2` for t up to `tan(pi/8)`.
#[inline(always)]
fn atan_tail(z: f64) -> f64 {
    poly!(z; -0.333_333_333_333_333_3, 0.199_999_999_999_955_13, -0.142_857_142_846_651_8, 0.111_111_110_151_467_14, -0.090_909_045_736_690_6, 0.076_921_830_873_420_26, -0.066_645_099_898_180_45, 0.058_581_362_519_061_465, -0.050_853_834_888_428_31, 0.039_229_744_536_612_23, -0.019_174_543_572_021_332)
}

/// The arc tangent.
#[inline(always)]
pub fn atan(x: f64) -> f64 {
    super::super::arc::angle(x, 1.0, atan_tail)
}

/// The angle of the point (`x`, `y`).
#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    super::super::arc::angle(y, x, atan_tail)
}
