//! Methods of numbers.

use crate::op::{Binary, Compare, Unary};
use crate::types::Scalar;

/// The operation of a method.
pub(super) enum Method {
    Unary(Unary),
    Binary(Binary),
    /// `a.mul_add(b, c)`
    Fma,
    /// `x.clamp(lo, hi)`
    Clamp,
    /// `1 / x`
    Recip,
    /// `x - trunc(x)`
    Fract,
    /// To bits of the same width.
    ToBits,
    /// To another float.
    To(Scalar),
    /// Of the complement.
    OfInverse(Unary),
    /// The absolute value, unsigned.
    UnsignedAbs,
    /// `a.abs_diff(b)`
    AbsDiff,
    /// `a.rem_euclid(b)`
    RemEuclid,
    /// `a.div_ceil(b)`
    DivCeil,
    /// `a.checked_add(b)`, and the others: a value, if there is one.
    Checked(Binary),
    /// `a.saturating_mul(b)`
    SatMul,
    /// `a.pow(n)`
    IntPow,
    /// `x.signum()`
    Signum,
    /// `x.powi(n)`
    Powi,
    /// `x != x`
    IsNan,
    /// A comparison of the size with infinity.
    ToInfinity(Compare),
}

/// The method with this name.
pub(super) fn find(name: &str) -> Option<Method> {
    let unary = |op| Some(Method::Unary(op));
    let binary = |op| Some(Method::Binary(op));
    match name {
        "ln" | "log2" | "log10" | "exp" | "exp2" | "sin" | "cos" | "tan" | "asin" | "acos"
        | "atan" | "sinh" | "cosh" | "tanh" | "sqrt" | "rsqrt" | "cbrt" | "floor" | "ceil"
        | "trunc" | "round" | "abs" | "count_ones" | "leading_zeros" | "trailing_zeros"
        | "reverse_bits" | "swap_bytes" | "exp_m1" | "ln_1p" => unary(Unary::of_name(name)?),
        "round_ties_even" => unary(Unary::RoundEven),
        "min" => binary(Binary::Min),
        "max" => binary(Binary::Max),
        "powf" => binary(Binary::Pow),
        "atan2" => binary(Binary::Atan2),
        "hypot" => binary(Binary::Hypot),
        "copysign" => binary(Binary::CopySign),
        "rotate_left" => binary(Binary::RotateLeft),
        "rotate_right" => binary(Binary::RotateRight),
        "wrapping_add" => binary(Binary::Add),
        "wrapping_sub" => binary(Binary::Sub),
        "wrapping_mul" => binary(Binary::Mul),
        "saturating_add" => binary(Binary::SatAdd),
        "saturating_sub" => binary(Binary::SatSub),
        "checked_add" => Some(Method::Checked(Binary::Add)),
        "checked_sub" => Some(Method::Checked(Binary::Sub)),
        "checked_mul" => Some(Method::Checked(Binary::Mul)),
        "saturating_mul" => Some(Method::SatMul),
        "mul_hi" => binary(Binary::MulHi),
        "wrapping_neg" => unary(Unary::Neg),
        "count_zeros" => Some(Method::OfInverse(Unary::CountOnes)),
        "leading_ones" => Some(Method::OfInverse(Unary::LeadingZeros)),
        "trailing_ones" => Some(Method::OfInverse(Unary::TrailingZeros)),
        "unsigned_abs" => Some(Method::UnsignedAbs),
        "abs_diff" => Some(Method::AbsDiff),
        "rem_euclid" => Some(Method::RemEuclid),
        "div_ceil" => Some(Method::DivCeil),
        "pow" | "wrapping_pow" => Some(Method::IntPow),
        "mul_add" => Some(Method::Fma),
        "clamp" => Some(Method::Clamp),
        "recip" => Some(Method::Recip),
        "fract" => Some(Method::Fract),
        "to_bits" => Some(Method::ToBits),
        "to_f32" => Some(Method::To(Scalar::F32)),
        "to_f64" => Some(Method::To(Scalar::F64)),
        "signum" => Some(Method::Signum),
        "powi" => Some(Method::Powi),
        "is_nan" => Some(Method::IsNan),
        "is_infinite" => Some(Method::ToInfinity(Compare::Eq)),
        "is_finite" => Some(Method::ToInfinity(Compare::Lt)),
        _ => None,
    }
}
