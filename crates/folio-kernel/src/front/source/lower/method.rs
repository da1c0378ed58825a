//! Methods of numbers.

use crate::op::{Binary, Compare, Unary};
use crate::types::Scalar;

/// The operation of a method.
pub(super) enum Method {
    Unary(Unary),
    Binary(Binary),
    /// `a.mul_add(b, c)`
    Fma,
    /// The fast form of an operation; of other floats than `f32` the operation.
    Fast(Unary),
    /// `x.fast_recip()`
    FastRecip,
    /// `a.fast_div(b)`
    FastDiv,
    /// `x.fast_exp()`
    FastExp,
    /// `x.fast_ln()`
    FastLn,
    /// `x.fast_powf(y)`
    FastPow,
    /// `x.clamp(lo, hi)`
    Clamp,
    /// `1 / x`
    Recip,
    /// `x - trunc(x)`
    Fract,
    /// To bits of the same width.
    ToBits,
    /// `a.dot4_i8(b, c)` and `a.dot4_u8(b, c)`
    Dot4,
    /// `a.total_cmp(&b).is_lt()`, and the others.
    Total(Compare),
    /// To another float.
    To(Scalar),
    /// The kind of a value that is printed.
    PrintedKind,
    /// The bits of a value that is printed, from this one on, as a `u32`.
    Printed(u64),
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
    /// `a.checked_div(b)`, `a.checked_rem(b)`
    CheckedQuotient(Binary),
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
        "checked_div" => Some(Method::CheckedQuotient(Binary::Div)),
        "checked_rem" => Some(Method::CheckedQuotient(Binary::Rem)),
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
        "mul_add" | "fast_mul_add" => Some(Method::Fma),
        "fast_sqrt" => Some(Method::Fast(Unary::Sqrt)),
        "fast_rsqrt" => Some(Method::Fast(Unary::Rsqrt)),
        "fast_exp2" => Some(Method::Fast(Unary::Exp2)),
        "fast_log2" => Some(Method::Fast(Unary::Log2)),
        "fast_sin" => Some(Method::Fast(Unary::Sin)),
        "fast_cos" => Some(Method::Fast(Unary::Cos)),
        "fast_recip" => Some(Method::FastRecip),
        "fast_div" => Some(Method::FastDiv),
        "fast_exp" => Some(Method::FastExp),
        "fast_ln" => Some(Method::FastLn),
        "fast_powf" => Some(Method::FastPow),
        "clamp" => Some(Method::Clamp),
        "recip" => Some(Method::Recip),
        "fract" => Some(Method::Fract),
        "to_bits" => Some(Method::ToBits),
        "dot4_i8" | "dot4_u8" => Some(Method::Dot4),
        "total_lt" => Some(Method::Total(Compare::Lt)),
        "total_le" => Some(Method::Total(Compare::Le)),
        "total_gt" => Some(Method::Total(Compare::Gt)),
        "total_ge" => Some(Method::Total(Compare::Ge)),
        "total_eq" => Some(Method::Total(Compare::Eq)),
        "total_ne" => Some(Method::Total(Compare::Ne)),
        "printed_kind" => Some(Method::PrintedKind),
        "printed_low" => Some(Method::Printed(0)),
        "printed_high" => Some(Method::Printed(32)),
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
