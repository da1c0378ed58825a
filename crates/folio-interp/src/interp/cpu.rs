//! The functions of semantics 5.8 as the CPU computes them: the same code, called for one number at
//! a time. Kernels that call them are therefore compared bit by bit, too; that the code keeps its
//! limits is shown elsewhere.

use super::scalar::floats;
use folio_device::ops;
use folio_kernel::{Binary, Scalar, Unary};

/// A function of one; none where all devices compute the same.
pub fn unary(op: Unary, scalar: Scalar, a: u64) -> Option<u64> {
    macro_rules! of {
        ($($op:ident $name:ident)*) => {
            match op {
                $(Unary::$op => Some(floats(scalar, [a], |[x]| ops::$name(x), |[x]| ops::$name(x))),)*
                _ => None,
            }
        };
    }
    of! {
        Exp exp Exp2 exp2 ExpM1 exp_m1 Ln ln Log2 log2 Log10 log10 Ln1p ln_1p Sin sin Cos cos Tan tan
        Asin asin Acos acos Atan atan Sinh sinh Cosh cosh Tanh tanh Cbrt cbrt Rsqrt rsqrt
        FastRsqrt rsqrt FastExp2 exp2 FastLog2 log2 FastSin sin FastCos cos
    }
}

/// A function of two.
pub fn binary(op: Binary, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    let of = |single: fn(f32, f32) -> f32, double: fn(f64, f64) -> f64| {
        Some(floats(scalar, [a, b], |[x, y]| single(x, y), |[x, y]| double(x, y)))
    };
    match op {
        Binary::Pow if scalar.is_float() => of(ops::powf, ops::powf),
        Binary::Atan2 => of(ops::atan2, ops::atan2),
        Binary::Hypot => of(ops::hypot, ops::hypot),
        _ => None,
    }
}
