//! Roots.

use super::super::root;

const TWO_TO_600: f64 = f64::from_bits((1023 + 600) << 52);

/// `1 / sqrt(x)`.
#[inline(always)]
pub fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// The cube root.
#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    let size = x.abs();
    let denormal = size < f64::MIN_POSITIVE;
    let size = if denormal { size * 18_014_398_509_481_984.0 } else { size };
    // Where cubes do not overflow.
    let great = size > 1e300;
    let size = if great { size * 0.125 } else { size };
    let near = root::cube_root_step(size, root::near_cube_root(size));
    let y = root::cube_root_step(size, root::cube_root_step(size, near));
    let y = if denormal { y / 262_144.0 } else { y };
    let y = (if great { y * 2.0 } else { y }).copysign(x);
    if (x != 0.0) & (x.abs() < f64::INFINITY) { y } else { x }
}

/// `sqrt(x^2 + y^2)`; infinite if one is, even if the other is NaN.
#[inline(always)]
pub fn hypot(x: f64, y: f64) -> f64 {
    let (a, b) = (x.abs(), y.abs());
    let (less, more) = if a > b { (b, a) } else { (a, b) };
    // Where squares neither overflow nor vanish.
    let up = if more < 1e-140 { TWO_TO_600 } else { 1.0 };
    let scale = if more > 1e140 { 1.0 / TWO_TO_600 } else { up };
    let (s, t) = (less * scale, more * scale);
    let y = (s * s + t * t).sqrt() / scale;
    if (a == f64::INFINITY) | (b == f64::INFINITY) { f64::INFINITY } else { y }
}
