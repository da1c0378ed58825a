//! Circular functions, of angles that are reduced to an eighth of a turn (see
//! [`super::super::turns`]).

use super::super::turns::quarter_wide;

/// Sine and cosine of an angle that is the sum of two numbers.
#[inline(always)]
fn near_0(r: f64, low: f64) -> (f64, f64) {
    let z = r * r;
    let sin = poly!(z; -0.166_666_666_666_666_66, 0.008_333_333_333_330_946, -0.000_198_412_698_367_549_7, 2.755_731_610_068_303e-06, -2.505_113_145_542_794_6e-08, 1.591_810_123_027_412e-10);
    let cos = poly!(z; 0.041_666_666_666_666_664, -0.001_388_888_888_888_739_5, 2.480_158_729_876_343_3e-05, -2.755_731_727_056_032_6e-07, 2.087_614_602_468_974_7e-09, -1.138_261_486_855_632_5e-11);
    let half = 0.5 * z;
    let near = 1.0 - half;
    let rest = ((1.0 - near) - half) + (z * z * cos - r * low);
    (r + (r * z * sin + low * near), near + rest)
}

/// The sine of |x| and some quarters of a turn more.
#[inline(always)]
fn sin_from(x: f64, more: u64) -> f64 {
    let (quarters, r, low) = quarter_wide(x);
    let quarters = quarters + more;
    let (sin, cos) = near_0(r, low);
    let size = if quarters & 1 == 0 { sin } else { cos };
    let sign = (quarters & 2) << 62;
    f64::from_bits(size.to_bits() ^ sign)
}

/// The sine.
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    let sign = x.to_bits() & 1 << 63;
    let y = f64::from_bits(sin_from(x, 0).to_bits() ^ sign);
    if x.abs() < 1e-8 { x } else { y }
}

/// The cosine.
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    sin_from(x, 1)
}

/// The tangent.
#[inline(always)]
pub fn tan(x: f64) -> f64 {
    let (quarters, r, low) = quarter_wide(x);
    let (sin, cos) = near_0(r, low);
    let odd = quarters & 1 == 1;
    let (above, below) = if odd { (cos, sin) } else { (sin, cos) };
    let sign = x.to_bits() & 1 << 63 ^ (quarters & 1) << 63;
    let y = f64::from_bits((above / below).to_bits() ^ sign);
    if x.abs() < 1e-8 { x } else { y }
}
