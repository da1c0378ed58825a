//! Roots. Those of cubes and of sums of squares in `f64`, which has room for them.

use super::super::root;

/// `1 / sqrt(x)`.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    1.0 / x.sqrt()
}

/// The cube root.
#[inline(always)]
pub fn cbrt(x: f32) -> f32 {
    let size = f64::from(x.abs());
    let near = root::cube_root_step(size, root::near_cube_root(size));
    let y = (root::cube_root_step(size, near) as f32).copysign(x);
    if (x != 0.0) & (x.abs() < f32::INFINITY) { y } else { x }
}

/// `sqrt(x^2 + y^2)`; infinite if one is, even if the other is NaN.
#[inline(always)]
pub fn hypot(x: f32, y: f32) -> f32 {
    let (a, b) = (f64::from(x), f64::from(y));
    let infinite = (x.abs() == f32::INFINITY) | (y.abs() == f32::INFINITY);
    if infinite { f32::INFINITY } else { (a * a + b * b).sqrt() as f32 }
}
