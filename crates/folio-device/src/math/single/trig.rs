//! Circular functions, of angles that are reduced to an eighth of a turn in `f64` (see
//! [`super::super::turns`]).

use super::super::turns::quarter;

/// Sine and cosine of |r| <= pi/4.
#[inline(always)]
fn near_0(r: f32) -> (f32, f32) {
    let z = r * r;
    let sin = poly!(z; -0.166_666_65, 0.008_332_748, -0.000_195_878_4);
    let cos = poly!(z; 0.041_666_664, -0.001_388_830_3, 0.000_024_547_892);
    (r + r * z * sin, 1.0 + z * (z * cos - 0.5))
}

/// The sine of an angle and some quarters of a turn more.
#[inline(always)]
fn sin_from(x: f32, more: u32) -> f32 {
    let (quarters, r) = quarter(x);
    let quarters = quarters.wrapping_add(more);
    let (sin, cos) = near_0(r);
    let size = if quarters & 1 == 0 { sin } else { cos };
    f32::from_bits(size.to_bits() ^ (quarters & 2) << 30)
}

/// The sine.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    let y = sin_from(x, 0);
    if x == 0.0 { x } else { y }
}

/// The cosine.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    sin_from(x, 1)
}

/// The tangent.
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    let (quarters, r) = quarter(x);
    let (sin, cos) = near_0(r);
    let odd = quarters & 1 == 1;
    let y = (if odd { -cos } else { sin }) / (if odd { sin } else { cos });
    if x == 0.0 { x } else { y }
}
