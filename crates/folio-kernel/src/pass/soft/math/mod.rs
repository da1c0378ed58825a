//! The functions of semantics 5.8: those of `math` in `folio-device`, line by line, as code of the
//! IR. What is said there of errors holds here, since each operation is the same.

/// `c0 + c1 x + c2 x^2 + ..`
macro_rules! poly {
    ($x:ident; $last:expr) => { $last };
    ($x:ident; $first:expr, $($rest:expr),+) => { $first + $x * poly!($x; $($rest),+) };
}

mod double;
mod single;
mod turns;

use super::code::N;
use super::float::nearest_even;
use crate::op::{Binary, Unary};
use crate::types::Scalar;

/// A function of one number; none if the operation is no such function.
pub fn unary<'c>(op: Unary, x: N<'c>) -> Option<N<'c>> {
    let is_double = x.ty == Scalar::F64;
    let of =
        |one: fn(N<'c>) -> N<'c>, other: fn(N<'c>) -> N<'c>| if is_double { other } else { one };
    let function = match op {
        Unary::Rsqrt => |x: N<'c>| 1.0 / x.sqrt(),
        Unary::Cbrt => of(single::cbrt, double::cbrt),
        Unary::Exp => of(single::exp, double::exp),
        Unary::Exp2 => of(single::exp2, double::exp2),
        Unary::ExpM1 => of(single::exp_m1, double::exp_m1),
        Unary::Ln => of(single::ln, double::ln),
        Unary::Log2 => of(single::log2, double::log2),
        Unary::Log10 => of(single::log10, double::log10),
        Unary::Ln1p => of(single::ln_1p, double::ln_1p),
        Unary::Sin => of(single::sin, double::sin),
        Unary::Cos => of(single::cos, double::cos),
        Unary::Tan => of(single::tan, double::tan),
        Unary::Asin => of(single::asin, double::asin),
        Unary::Acos => of(single::acos, double::acos),
        Unary::Atan => of(single::atan, double::atan),
        Unary::Sinh => of(single::sinh, double::sinh),
        Unary::Cosh => of(single::cosh, double::cosh),
        Unary::Tanh => of(single::tanh, double::tanh),
        _ => return None,
    };
    Some(function(x))
}

/// A function of two numbers; none if the operation is no such function.
pub fn binary<'c>(op: Binary, x: N<'c>, y: N<'c>) -> Option<N<'c>> {
    Some(match (op, x.ty == Scalar::F64) {
        (Binary::Pow, false) => single::powf(x, y),
        (Binary::Pow, true) => double::powf(x, y),
        (Binary::Atan2, false) => single::atan2(x, y),
        (Binary::Atan2, true) => double::atan2(x, y),
        (Binary::Hypot, false) => single::hypot(x, y),
        (Binary::Hypot, true) => double::hypot(x, y),
        _ => return None,
    })
}

/// Functions of `f32` that compute in `f64`.
pub fn unary_widens(op: Unary) -> bool {
    matches!(op, Unary::Cbrt | Unary::Sin | Unary::Cos | Unary::Tan)
}

/// Functions of two `f32` that compute in `f64`.
pub fn binary_widens(op: Binary) -> bool {
    matches!(op, Binary::Pow | Binary::Atan2 | Binary::Hypot)
}

/// `x`, if it is not beyond the limits; NaN stays.
fn within<'c>(x: N<'c>, lo: f64, hi: f64) -> N<'c> {
    let x = x.lt(lo).pick(x.lit(lo), x);
    x.gt(hi).pick(x.lit(hi), x)
}

/// `y` where x is positive and finite; what logarithms are elsewhere.
fn with_ends<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
    let y = x.lt(f64::INFINITY).pick(y, x);
    let ends = x.eq(0.0).pick(x.lit(f64::NEG_INFINITY), x.nan());
    x.gt(0.0).pick(y, ends)
}

/// |x| if that is at most 1/2; else the sine of half the angle that is missing to a quarter of a turn.
fn asin_argument<'c>(x: N<'c>) -> (N<'c>, N<'c>, N<'c>) {
    let size = x.abs();
    let great = size.gt(0.5);
    let half = (1.0 - size) * 0.5;
    let z = great.pick(half, x * x);
    (great, great.pick(half.sqrt(), size), z)
}

/// `x^y` from `|x|^y`: signs, and where there is no number or always 1.
fn power_ends<'c>(x: N<'c>, y: N<'c>, result: N<'c>) -> N<'c> {
    let whole = nearest_even(y).eq(y);
    let half = y * 0.5;
    let odd = whole & nearest_even(half).ne(half);
    let no_number = x.lt(0.0) & x.gt(f64::NEG_INFINITY) & !whole;
    let signed = odd.pick(result.copysign(x), result);
    let defined = no_number.pick(x.nan(), signed);
    let one = y.eq(0.0) | x.eq(1.0) | (x.abs().eq(1.0) & y.is_infinite());
    one.pick(x.lit(1.0), defined)
}

/// The cube root of a normal number but for some percent: its exponent divided by 3.
fn near_cube_root<'c>(x: N<'c>) -> N<'c> {
    let third = ((x.raw() >> 32u64) * 0xaaaa_aaabu64) >> 33u64;
    ((third + 715_094_163u64) << 32u64).as_bits(Scalar::F64)
}

/// Halley's step: an error of e becomes one of 2/3 e^3.
fn cube_root_step<'c>(x: N<'c>, t: N<'c>) -> N<'c> {
    let cube = t * t * t;
    t - t * ((cube - x) / (cube + cube + x))
}

/// `a + b` and what it has lost, where `|a| >= |b|` or `a` is 0.
fn sum<'c>(a: N<'c>, b: N<'c>) -> (N<'c>, N<'c>) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// `a * b` and what it has lost, where nothing overflows or becomes denormal.
fn product<'c>(a: N<'c>, b: N<'c>) -> (N<'c>, N<'c>) {
    let halves = |x: N<'c>| {
        let high = (x.raw() & 0xffff_ffff_f800_0000u64).as_bits(Scalar::F64);
        (high, x - high)
    };
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    let product = a * b;
    (product, (((a1 * b1 - product) + a1 * b2) + a2 * b1) + a2 * b2)
}

/// The angle of the point (`x`, `y`) of `f64`; `series` gives `(atan t - t) / t^3` from `t^2` for t
/// up to `tan(pi/8)`.
fn angle<'c>(y: N<'c>, x: N<'c>, series: impl Fn(N<'c>) -> N<'c>) -> N<'c> {
    const FRAC_PI_4_LOW: f64 = 3.061_616_997_868_383e-17;
    let lit = |number| x.lit(number);
    let (rise, run) = (y.abs(), x.abs());
    let steep = rise.gt(run);
    let corner = rise.is_infinite() & run.is_infinite();
    let great = rise.gt(1e300) | run.gt(1e300);
    let scale = great.pick(lit(0.25), lit(1.0));
    let (rise, run) = (rise * scale, run * scale);
    let (rise, run) = (corner.pick(lit(1.0), rise), corner.pick(lit(1.0), run));
    let (less, more) = (steep.pick(run, rise), steep.pick(rise, run));
    let more = (more.eq(0.0) & less.eq(0.0)).pick(lit(1.0), more);
    // Beyond pi/8, the angle from pi/4.
    let beyond = less.gt(more * 0.414_213_562_373_095);
    let (above, below) = (beyond.pick(less - more, less), beyond.pick(less + more, more));
    let t = above / below;
    let z = t * t;
    let tail = t * z * series(z);
    // So many eighths of a turn, and the angle t added or subtracted.
    let (eighths, sign) = (beyond.pick(lit(1.0), lit(0.0)), lit(1.0));
    let (eighths, sign) = (steep.pick(2.0 - eighths, eighths), steep.pick(-sign, sign));
    let left = x.is_negative();
    let (eighths, sign) = (left.pick(4.0 - eighths, eighths), left.pick(-sign, sign));
    let (high, low) = sum(eighths * std::f64::consts::FRAC_PI_4, sign * t);
    (high + (low + (sign * tail + eighths * FRAC_PI_4_LOW))).copysign(y)
}
