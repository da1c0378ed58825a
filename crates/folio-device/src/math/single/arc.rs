//! The inverses of circular functions.

use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The rounding errors of the constants.
const FRAC_PI_2_LOW: f32 = -4.371_139e-8;
const PI_LOW: f32 = -8.742_278e-8;
const FRAC_PI_4_LOW: f32 = -2.185_569_4e-8;

/// `(asin x - x) / x`, from `x^2` up to 1/4.
#[inline(always)]
fn asin_tail(z: f32) -> f32 {
    z * poly!(z; 0.166_666_67, 0.075_000_95, 0.044_599_4, 0.031_100_663, 0.017_149_238, 0.033_690_847)
}

/// |x| if that is at most 1/2; else the sine of half the angle that is missing to a quarter of a turn.
#[inline(always)]
fn asin_argument(x: f32) -> (bool, f32, f32) {
    let size = x.abs();
    let great = size > 0.5;
    let half = (1.0 - size) * 0.5;
    let z = if great { half } else { x * x };
    (great, if great { half.sqrt() } else { size }, z)
}

/// The arc sine.
#[inline(always)]
pub fn asin(x: f32) -> f32 {
    let (great, s, z) = asin_argument(x);
    let tail = s * asin_tail(z);
    let y = if great { FRAC_PI_2 - (2.0 * (s + tail) - FRAC_PI_2_LOW) } else { s + tail };
    y.copysign(x)
}

/// The arc cosine.
#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let (great, s, z) = asin_argument(x);
    let tail = s * asin_tail(z);
    let angle = (s + tail).copysign(x);
    let near_ends = if x < 0.0 { PI - (2.0 * (s + tail) - PI_LOW) } else { 2.0 * (s + tail) };
    if great { near_ends } else { FRAC_PI_2 - (angle - FRAC_PI_2_LOW) }
}

/// The arc tangent.
#[inline(always)]
pub fn atan(x: f32) -> f32 {
    let size = x.abs();
    // Above tan(pi/8) and tan(3 pi/8), the angle beyond pi/4 and pi/2.
    let (some, more) = (size > 0.414_213_57, size > 2.414_213_7);
    let above = if more { -1.0 } else { size - 1.0 };
    let below = if more { size } else { size + 1.0 };
    let (above, below) = if some { (above, below) } else { (size, 1.0) };
    let t = above / below;
    let z = t * t;
    let tail =
        t * z * poly!(z; -0.333_333_34, 0.199_995_4, -0.142_639_46, 0.107_436_32, -0.064_515_97);
    let eighths = if some { 1.0 } else { 0.0 };
    let eighths = if more { 2.0 } else { eighths };
    (eighths * FRAC_PI_4 + (t + (tail + eighths * FRAC_PI_4_LOW))).copysign(x)
}

/// The angle of the point (`x`, `y`).
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    // Where quotients neither overflow nor vanish.
    super::super::arc::angle(y.into(), x.into(), |z| {
        poly!(z; -0.333_333_317_6, 0.199_995_402_2, -0.142_639_463_6, 0.107_436_316_3,
                -0.064_515_972_59)
    }) as f32
}
