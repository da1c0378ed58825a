//! The angle of a point.

use super::pairs;
use std::f64::consts::FRAC_PI_4;

/// The rounding error of the constant.
const FRAC_PI_4_LOW: f64 = 3.061_616_997_868_383e-17;

/// The angle of the point (`x`, `y`); `series` gives `(atan t - t) / t^3` from `t^2` for t up to
/// `tan(pi/8)`.
#[inline(always)]
pub fn angle(y: f64, x: f64, series: impl Fn(f64) -> f64) -> f64 {
    let (rise, run) = (y.abs(), x.abs());
    let steep = rise > run;
    // Two infinities are the diagonal; at the origin the signs decide; great numbers have room for
    // a sum.
    let corner = (rise == f64::INFINITY) & (run == f64::INFINITY);
    let great = (rise > 1e300) | (run > 1e300);
    let scale = if great { 0.25 } else { 1.0 };
    let (rise, run) = (rise * scale, run * scale);
    let (rise, run) = if corner { (1.0, 1.0) } else { (rise, run) };
    let (less, more) = if steep { (run, rise) } else { (rise, run) };
    let more = if (more == 0.0) & (less == 0.0) { 1.0 } else { more };
    // Beyond pi/8, the angle from pi/4.
    let beyond = less > more * 0.414_213_562_373_095;
    let (above, below) = if beyond { (less - more, less + more) } else { (less, more) };
    let t = above / below;
    let z = t * t;
    let tail = t * z * series(z);
    // The number of eighths of a turn, and the angle t added or subtracted.
    let (eighths, sign) = (if beyond { 1.0 } else { 0.0 }, 1.0);
    let (eighths, sign) = if steep { (2.0 - eighths, -sign) } else { (eighths, sign) };
    let left = x.is_sign_negative();
    let (eighths, sign) = if left { (4.0 - eighths, -sign) } else { (eighths, sign) };
    let (high, low) = pairs::sum(eighths * FRAC_PI_4, sign * t);
    (high + (low + (sign * tail + eighths * FRAC_PI_4_LOW))).copysign(y)
}
