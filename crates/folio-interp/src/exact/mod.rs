//! The exact values of functions, to 200 bits: what results are measured against (semantics 5.8),
//! and what the interpreter rounds. Shares nothing with the functions that kernels call.

pub mod big;
pub mod functions;

use crate::interp::float;
use folio_kernel::{Binary, Scalar, Unary};
use functions::Number;

/// The exact result of a function.
#[derive(Clone, Copy, Debug)]
pub enum Exact {
    /// A zero with a sign, an infinity, NaN, or another result at a special point.
    Special(f64),
    /// Any other number.
    Number(Number),
}

use Exact::Special;

/// A function of one float, where semantics 5.8 has it.
pub fn unary(op: Unary, x: f64) -> Option<Exact> {
    let domain = match op {
        Unary::Ln | Unary::Log2 | Unary::Log10 | Unary::Rsqrt => x >= 0.0,
        Unary::Ln1p => x >= -1.0,
        Unary::Asin | Unary::Acos => x.abs() <= 1.0,
        Unary::Sin | Unary::Cos | Unary::Tan => x.is_finite(),
        _ => !x.is_nan(),
    };
    let function = number_function(op)?;
    if !domain {
        return Some(Special(f64::NAN));
    }
    Some(match special(op, x) {
        Some(value) => Special(value),
        None => match x {
            f64::INFINITY if op == Unary::Atan => Exact::Number(functions::asin(Number::int(1))),
            f64::NEG_INFINITY if op == Unary::Atan => {
                Exact::Number(functions::asin(Number::int(-1)))
            }
            _ => Exact::Number(function(Number::float(x))),
        },
    })
}

fn number_function(op: Unary) -> Option<fn(Number) -> Number> {
    Some(match op {
        Unary::Exp => functions::exp,
        Unary::Exp2 => functions::exp2,
        Unary::ExpM1 => functions::exp_m1,
        Unary::Ln => functions::ln,
        Unary::Log2 => functions::log2,
        Unary::Log10 => functions::log10,
        Unary::Ln1p => functions::ln_1p,
        Unary::Sin => |x| functions::sin_cos(x).0,
        Unary::Cos => |x| functions::sin_cos(x).1,
        Unary::Tan => functions::tan,
        Unary::Asin => functions::asin,
        Unary::Acos => functions::acos,
        Unary::Atan => |x| functions::atan2(x, Number::int(1)),
        Unary::Sinh => functions::sinh,
        Unary::Cosh => functions::cosh,
        Unary::Tanh => functions::tanh,
        Unary::Cbrt => functions::cbrt,
        Unary::Rsqrt => |x| x.reciprocal().sqrt(),
        _ => return None,
    })
}

/// Results that need no series.
fn special(op: Unary, x: f64) -> Option<f64> {
    let odd = matches!(
        op,
        Unary::ExpM1
            | Unary::Ln1p
            | Unary::Sin
            | Unary::Tan
            | Unary::Asin
            | Unary::Atan
            | Unary::Sinh
            | Unary::Tanh
            | Unary::Cbrt
    );
    match op {
        _ if odd && x == 0.0 => Some(x),
        Unary::Rsqrt if x == 0.0 => Some(f64::INFINITY.copysign(x)),
        Unary::Rsqrt if x == f64::INFINITY => Some(0.0),
        Unary::Ln | Unary::Log2 | Unary::Log10 if x == 0.0 => Some(f64::NEG_INFINITY),
        Unary::Ln1p if x == -1.0 => Some(f64::NEG_INFINITY),
        Unary::Exp | Unary::Exp2 if x == f64::NEG_INFINITY => Some(0.0),
        Unary::ExpM1 if x == f64::NEG_INFINITY => Some(-1.0),
        Unary::Cosh if x.is_infinite() => Some(f64::INFINITY),
        Unary::Tanh if x.is_infinite() => Some(1f64.copysign(x)),
        Unary::Atan => None,
        _ if x.is_infinite() => Some(x),
        _ => None,
    }
}

/// A function of two floats, where semantics 5.8 has it.
pub fn binary(op: Binary, x: f64, y: f64) -> Option<Exact> {
    match op {
        Binary::Pow => Some(pow(x, y)),
        Binary::Atan2 => Some(atan2(x, y)),
        Binary::Hypot if x.is_infinite() || y.is_infinite() => Some(Special(f64::INFINITY)),
        Binary::Hypot if x.is_nan() || y.is_nan() => Some(Special(f64::NAN)),
        Binary::Hypot => Some(Exact::Number(functions::hypot(Number::float(x), Number::float(y)))),
        _ => None,
    }
}

fn pow(x: f64, y: f64) -> Exact {
    let whole = y.trunc() == y;
    let odd = whole && y.abs() < 9.1e15 && y as i64 & 1 == 1;
    let signed = |size: f64| Special(if odd { size.copysign(x) } else { size });
    if y == 0.0 || x == 1.0 || (x == -1.0 && y.is_infinite()) {
        return Special(1.0);
    }
    if x.is_nan() || y.is_nan() {
        return Special(f64::NAN);
    }
    if x == 0.0 || x.is_infinite() || y.is_infinite() {
        return signed(if (x.abs() > 1.0) == (y > 0.0) { f64::INFINITY } else { 0.0 });
    }
    if x < 0.0 && !whole {
        return Special(f64::NAN);
    }
    let size = functions::pow(Number::float(x), Number::float(y));
    Exact::Number(if odd && x < 0.0 { -size } else { size })
}

fn atan2(y: f64, x: f64) -> Exact {
    if x.is_nan() || y.is_nan() {
        return Special(f64::NAN);
    }
    // An infinity is a direction.
    let direction = |z: f64| if z.is_infinite() { 1f64.copysign(z) } else { 0f64.copysign(z) };
    let (y, x) = match x.is_infinite() || y.is_infinite() {
        true => (direction(y), direction(x)),
        false => (y, x),
    };
    match y == 0.0 {
        true if x.is_sign_positive() => Special(y),
        true => {
            let half = functions::atan2(Number::ZERO, Number::int(-1));
            Exact::Number(if y.is_sign_negative() { -half } else { half })
        }
        false => Exact::Number(functions::atan2(Number::float(y), Number::float(x))),
    }
}

impl Exact {
    /// The bits of the nearest float.
    pub fn rounded(&self, to: Scalar) -> u64 {
        match self {
            Special(value) => float::from_f64(to, *value),
            Exact::Number(number) if number.is_zero() => 0,
            Exact::Number(number) => {
                let (bits, exponent) = number.top();
                float::pack(
                    to,
                    number.is_negative(),
                    bits,
                    exponent.clamp(-1 << 30, 1 << 30) as i32,
                )
            }
        }
    }

    /// How far a result is from this, in units of its last place (semantics 5.8); infinite where a
    /// special result is another one.
    pub fn error(&self, of: Scalar, result: f64) -> f64 {
        let (fraction, least, greatest) = match of {
            Scalar::F32 => (23, -149, 128),
            _ => (52, -1074, 1024),
        };
        let number = match self {
            Special(value) => {
                let same =
                    value.to_bits() == result.to_bits() || (value.is_nan() && result.is_nan());
                return if same { 0.0 } else { f64::INFINITY };
            }
            Exact::Number(number) if number.is_zero() => {
                return if result.to_bits() == 0 { 0.0 } else { f64::INFINITY };
            }
            Exact::Number(number) => *number,
        };
        if result.is_nan() {
            return f64::INFINITY;
        }
        // Infinity stands where the next float would be, and for everything beyond.
        let end = Number::int(if number.is_negative() { -1 } else { 1 }).times_power(greatest);
        let beyond = number.log2() >= greatest;
        let number = if beyond { end } else { number };
        let infinity = Number::int(if result < 0.0 { -1 } else { 1 }).times_power(greatest);
        let result = if result.is_infinite() { infinity } else { Number::float(result) };
        let unit = (number.log2().min(greatest - 1) - fraction).max(least);
        (result - number).abs().times_power(-unit).near()
    }
}
