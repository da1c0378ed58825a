//! The functions of semantics 5.8 by their series.

use super::big::Big;
use std::sync::LazyLock;

/// Numbers in which results are right to more than 200 bits.
pub type Number = Big<4>;
/// Numbers that hold the bits before and behind the point of any float times `2 / pi`.
type Long = Big<22>;

fn int(value: i64) -> Number {
    Number::int(value)
}

/// `atan(1 / n)`, or `atanh(1 / n)`.
fn arc_of_reciprocal<const N: usize>(n: u64, hyperbolic: bool) -> Big<N> {
    let mut power = Big::int(1).over(n);
    let mut sum = power;
    for k in 1.. {
        power = power.over(n).over(n);
        let term = power.over(2 * k + 1);
        if term.is_zero() || term.log2() < -(64 * N as i64) - 8 {
            break;
        }
        sum = if hyperbolic || k % 2 == 0 { sum + term } else { sum - term };
    }
    sum
}

/// Machin's formula.
fn pi<const N: usize>() -> Big<N> {
    let (fifth, small) = (arc_of_reciprocal(5, false), arc_of_reciprocal::<N>(239, false));
    fifth * Big::int(16) - small.times_power(2)
}

static HALF_PI: LazyLock<Number> = LazyLock::new(|| pi::<4>().times_power(-1));
static TWO_OVER_PI: LazyLock<Long> = LazyLock::new(|| pi::<22>().reciprocal().times_power(1));
static LN_2: LazyLock<Number> = LazyLock::new(|| arc_of_reciprocal(3, true).times_power(1));
static LN_10: LazyLock<Number> =
    LazyLock::new(|| *LN_2 * int(3) + arc_of_reciprocal(9, true).times_power(1));

/// `x + x^2 / 2! + x^3 / 3! + ..`, for small x.
fn exp_m1_series(x: Number, terms: u64) -> Number {
    let mut sum = int(1);
    for k in (2..=terms).rev() {
        sum = int(1) + (x * sum).over(k);
    }
    x * sum
}

/// `e^x`; of great x, something great.
pub fn exp(x: Number) -> Number {
    if x.near().abs() > 1e6 {
        return int(1).times_power(if x.is_negative() { -1_000_000 } else { 1_000_000 });
    }
    let k = (x.near() / std::f64::consts::LN_2).round() as i64;
    let r = (x - *LN_2 * int(k)).times_power(-8);
    let mut y = int(1) + exp_m1_series(r, 24);
    for _ in 0..8 {
        y = y * y;
    }
    y.times_power(k)
}

/// `e^x - 1`
pub fn exp_m1(x: Number) -> Number {
    if x.is_zero() || x.log2() < -10 { exp_m1_series(x, 28) } else { exp(x) - int(1) }
}

/// `2^x`
pub fn exp2(x: Number) -> Number {
    exp(x * *LN_2)
}

/// `x - x^2 / 2 + x^3 / 3 - ..`, for small x.
fn ln_1p_series(x: Number, terms: u64) -> Number {
    let mut sum = Number::ZERO;
    for k in (1..=terms).rev() {
        sum = int(1).over(k) - x * sum;
    }
    x * sum
}

/// The natural logarithm of a positive number.
pub fn ln(x: Number) -> Number {
    let k = x.log2();
    let near = x.times_power(-k).near().ln() + k as f64 * std::f64::consts::LN_2;
    let near = Number::float(near);
    near + ln_1p_series(x * exp(-near) - int(1), 7)
}

/// `ln(1 + x)`
pub fn ln_1p(x: Number) -> Number {
    if x.is_zero() || x.log2() < -20 { ln_1p_series(x, 14) } else { ln(int(1) + x) }
}

/// The logarithm to base 2.
pub fn log2(x: Number) -> Number {
    ln(x) * LN_2.reciprocal()
}

/// The logarithm to base 10.
pub fn log10(x: Number) -> Number {
    ln(x) * LN_10.reciprocal()
}

/// Sine and cosine.
pub fn sin_cos(x: Number) -> (Number, Number) {
    let (quarters, r) = match x.is_zero() || x.log2() < -1 {
        true => (0, x),
        false => {
            let (quarters, beyond) = (x.resized() * *TWO_OVER_PI).quarters();
            (quarters, beyond.resized() * *HALF_PI)
        }
    };
    let z = r * r;
    let series = |first: u64| {
        let mut sum = int(1);
        for k in (1..30).rev() {
            sum = int(1) - (z * sum).over((2 * k - 1 + first) * (2 * k + first));
        }
        sum
    };
    let (sin, cos) = (r * series(1), series(0));
    match quarters {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The tangent.
pub fn tan(x: Number) -> Number {
    let (sin, cos) = sin_cos(x);
    sin * cos.reciprocal()
}

/// The angle of the point (`x`, `y`), which is not the origin.
pub fn atan2(y: Number, x: Number) -> Number {
    // Both so that the floats near them say something.
    let scale = match (x.is_zero(), y.is_zero()) {
        (true, _) => y.log2(),
        (_, true) => x.log2(),
        _ => x.log2().max(y.log2()),
    };
    let (y, x) = (y.times_power(-scale), x.times_power(-scale));
    let near = Number::float(y.near().atan2(x.near()));
    let (sin, cos) = sin_cos(near);
    let t = (y * cos - x * sin) * (x * cos + y * sin).reciprocal();
    let z = t * t;
    near + t * (int(1) - z * (int(1).over(3) - z * (int(1).over(5) - z.over(7))))
}

/// The arc sine.
pub fn asin(x: Number) -> Number {
    atan2(x, ((int(1) - x) * (int(1) + x)).sqrt())
}

/// The arc cosine.
pub fn acos(x: Number) -> Number {
    atan2(((int(1) - x) * (int(1) + x)).sqrt(), x)
}

/// The hyperbolic sine.
pub fn sinh(x: Number) -> Number {
    let above = exp_m1(x.abs());
    let size = (above + above * (above + int(1)).reciprocal()).times_power(-1);
    if x.is_negative() { -size } else { size }
}

/// The hyperbolic cosine.
pub fn cosh(x: Number) -> Number {
    let above = exp(x);
    (above + above.reciprocal()).times_power(-1)
}

/// The hyperbolic tangent.
pub fn tanh(x: Number) -> Number {
    let above = exp_m1(x.times_power(1));
    above * (above + int(2)).reciprocal()
}

/// The cube root.
pub fn cbrt(x: Number) -> Number {
    let size = exp(ln(x.abs()).over(3));
    if x.is_negative() { -size } else { size }
}

/// `|x|^y`, of an x that is not 0.
pub fn pow(x: Number, y: Number) -> Number {
    exp(y * ln(x.abs()))
}

/// `sqrt(x^2 + y^2)`
pub fn hypot(x: Number, y: Number) -> Number {
    (x * x + y * y).sqrt()
}
