//! Operations on scalars, by their bits (semantics 3 to 5).

use super::float;
use crate::exact;
use folio_kernel::{Binary, Compare, Scalar, Unary};

/// The result of an operation, also of one with a zero divisor.
pub struct Computed {
    /// The result's bits.
    pub bits: u64,
    /// An integer was divided by zero.
    pub by_zero: bool,
}

fn int(scalar: Scalar, value: i128) -> u64 {
    value as u64 & scalar.mask()
}

fn fine(bits: u64) -> Computed {
    Computed { bits, by_zero: false }
}

/// Applies a function to floats: of `f64` to those, of `f32` to the others (semantics 2.2).
pub fn floats<const N: usize>(
    scalar: Scalar,
    bits: [u64; N],
    single: impl Fn([f32; N]) -> f32,
    double: impl Fn([f64; N]) -> f64,
) -> u64 {
    match scalar {
        Scalar::F64 => double(bits.map(f64::from_bits)).to_bits(),
        Scalar::F32 => single(bits.map(|b| f32::from_bits(b as u32))).to_bits().into(),
        // Each value of these is an `f32` exactly.
        _ => {
            let result = single(bits.map(|b| float::value(scalar, b) as f32));
            float::from_f64(scalar, result.into())
        }
    }
}

/// A function of the table in semantics 5.8: the nearest float to the exact value.
fn function(scalar: Scalar, bits: u64, op: Unary) -> u64 {
    let nearest = |x: f64, to| exact::unary(op, x).map_or(0, |exact| exact.rounded(to));
    let single = |[x]: [f32; 1]| f32::from_bits(nearest(x.into(), Scalar::F32) as u32);
    floats(scalar, [bits], single, |[x]| f64::from_bits(nearest(x, Scalar::F64)))
}

/// An operation on a single operand.
pub fn unary(op: Unary, scalar: Scalar, a: u64) -> u64 {
    if scalar.is_float() { float_unary(op, scalar, a) } else { int_unary(op, scalar, a) }
}

fn int_unary(op: Unary, scalar: Scalar, a: u64) -> u64 {
    let (x, bits) = (scalar.int(a), scalar.bits());
    match op {
        Unary::Neg => int(scalar, -x),
        Unary::Abs => int(scalar, x.abs()),
        Unary::CountOnes => a.count_ones().into(),
        Unary::LeadingZeros => (a.leading_zeros() - (64 - bits)).into(),
        Unary::TrailingZeros => a.trailing_zeros().min(bits).into(),
        Unary::ReverseBits => a.reverse_bits() >> (64 - bits),
        Unary::SwapBytes => a.swap_bytes() >> (64 - bits),
        Unary::Not => !a & scalar.mask(),
        // The rest are of floats. Emitted text gives another answer, so that what both forget is
        // found.
        _ => 0,
    }
}

fn float_unary(op: Unary, scalar: Scalar, a: u64) -> u64 {
    let sign = 1 << (scalar.bits() - 1);
    macro_rules! exact {
        ($f:ident) => {
            floats(scalar, [a], |[x]| x.$f(), |[x]| x.$f())
        };
    }
    match op {
        Unary::Neg => a ^ sign,
        Unary::Abs => a & !sign,
        Unary::Floor => exact!(floor),
        Unary::Ceil => exact!(ceil),
        Unary::Trunc => exact!(trunc),
        Unary::Round => exact!(round),
        Unary::RoundEven => exact!(round_ties_even),
        Unary::Sqrt => exact!(sqrt),
        Unary::Rsqrt
        | Unary::Cbrt
        | Unary::Exp
        | Unary::Exp2
        | Unary::ExpM1
        | Unary::Ln
        | Unary::Log2
        | Unary::Log10
        | Unary::Ln1p
        | Unary::Sin
        | Unary::Cos
        | Unary::Tan
        | Unary::Asin
        | Unary::Acos
        | Unary::Atan
        | Unary::Sinh
        | Unary::Cosh
        | Unary::Tanh => function(scalar, a, op),
        Unary::FastRecip => floats(scalar, [a], |[x]| 1.0 / x, |[x]| 1.0 / x),
        Unary::FastSqrt => exact!(sqrt),
        Unary::FastRsqrt => function(scalar, a, Unary::Rsqrt),
        Unary::FastExp2 => function(scalar, a, Unary::Exp2),
        Unary::FastLog2 => function(scalar, a, Unary::Log2),
        Unary::FastSin => function(scalar, a, Unary::Sin),
        Unary::FastCos => function(scalar, a, Unary::Cos),
        // Of integers only.
        Unary::Not
        | Unary::CountOnes
        | Unary::LeadingZeros
        | Unary::TrailingZeros
        | Unary::ReverseBits
        | Unary::SwapBytes => a,
    }
}

/// Two operands; `amount` is the second of a shift or rotation, by its low bits.
pub fn binary(op: Binary, scalar: Scalar, a: u64, b: u64) -> Computed {
    if scalar.is_float() {
        return fine(float_binary(op, scalar, a, b));
    }
    let (x, y) = (scalar.int(a), scalar.int(b));
    let (bits, (lo, hi)) = (scalar.bits(), scalar.limits().unwrap_or((0, 0)));
    // Widths are powers of two (`bool` is not shifted).
    let amount = (b % u64::from(bits)) as u32;
    let rotate = |left: u32| (a << left | a >> ((bits - left) % bits)) & scalar.mask();
    fine(match op {
        Binary::Add => int(scalar, x + y),
        Binary::Sub => int(scalar, x - y),
        Binary::Mul => a.wrapping_mul(b) & scalar.mask(),
        Binary::Div | Binary::Rem if y == 0 => return Computed { bits: 0, by_zero: true },
        Binary::Div => int(scalar, x / y),
        Binary::Rem => int(scalar, x % y),
        Binary::Min => int(scalar, x.min(y)),
        Binary::Max => int(scalar, x.max(y)),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => a << amount & scalar.mask(),
        Binary::Shr => int(scalar, x >> amount),
        Binary::RotateLeft => rotate(amount),
        Binary::RotateRight => rotate((bits - amount) % bits),
        Binary::SatAdd => int(scalar, (x + y).clamp(lo, hi)),
        Binary::SatSub => int(scalar, (x - y).clamp(lo, hi)),
        Binary::MulHi if scalar.is_signed() => int(scalar, (x * y) >> bits),
        Binary::MulHi => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        // Of floats only.
        Binary::Pow | Binary::Atan2 | Binary::Hypot | Binary::CopySign => a,
    })
}

fn float_binary(op: Binary, scalar: Scalar, a: u64, b: u64) -> u64 {
    let sign = 1 << (scalar.bits() - 1);
    let nearest = |x: f64, y: f64, to| exact::binary(op, x, y).map_or(0, |exact| exact.rounded(to));
    match op {
        Binary::Add => floats(scalar, [a, b], |[x, y]| x + y, |[x, y]| x + y),
        Binary::Sub => floats(scalar, [a, b], |[x, y]| x - y, |[x, y]| x - y),
        Binary::Mul => floats(scalar, [a, b], |[x, y]| x * y, |[x, y]| x * y),
        Binary::Div => floats(scalar, [a, b], |[x, y]| x / y, |[x, y]| x / y),
        Binary::Rem => floats(scalar, [a, b], |[x, y]| x % y, |[x, y]| x % y),
        Binary::Min => {
            if lesser(scalar, a, b) {
                a
            } else {
                b
            }
        }
        Binary::Max => {
            if lesser(scalar, a ^ sign, b ^ sign) {
                a
            } else {
                b
            }
        }
        Binary::Pow | Binary::Atan2 | Binary::Hypot => {
            let single =
                |[x, y]: [f32; 2]| f32::from_bits(nearest(x.into(), y.into(), Scalar::F32) as u32);
            floats(scalar, [a, b], single, |[x, y]| f64::from_bits(nearest(x, y, Scalar::F64)))
        }
        Binary::CopySign => a & !sign | b & sign,
        // Of integers only.
        _ => a,
    }
}

/// `a` is the minimum of both (semantics 5.5).
fn lesser(scalar: Scalar, a: u64, b: u64) -> bool {
    let (x, y) = (float::value(scalar, a), float::value(scalar, b));
    y.is_nan() || x < y || (x == y && x.is_sign_negative())
}

/// `a * b + c`, rounded once, or as semantics 2.2 says.
pub fn fma(scalar: Scalar, a: u64, b: u64, c: u64) -> u64 {
    floats(scalar, [a, b, c], |[x, y, z]| x.mul_add(y, z), |[x, y, z]| x.mul_add(y, z))
}

/// The products of four bytes, added to `c`.
pub fn dot4(scalar: Scalar, a: u64, b: u64, c: u64) -> u64 {
    let byte = if scalar.is_signed() { Scalar::I8 } else { Scalar::U8 };
    let part = |word: u64, at: u32| byte.int(word >> (8 * at) & 0xff);
    let products = (0..4).map(|at| part(a, at) * part(b, at));
    int(scalar, scalar.int(c) + products.sum::<i128>())
}

/// A comparison.
pub fn compare(op: Compare, scalar: Scalar, a: u64, b: u64) -> bool {
    fn holds<T: PartialOrd>(op: Compare, a: T, b: T) -> bool {
        match op {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
        }
    }
    match scalar.is_float() {
        true => holds(op, float::value(scalar, a), float::value(scalar, b)),
        false => holds(op, scalar.int(a), scalar.int(b)),
    }
}

/// A conversion (semantics 4).
pub fn cast(from: Scalar, a: u64, to: Scalar) -> u64 {
    match (from.is_float(), to.is_float()) {
        (false, false) => int(to, from.int(a)),
        (false, true) => float::from_int(to, from.int(a)),
        (true, false) => int(to, float::to_int(float::value(from, a), to)),
        (true, true) => float::from_f64(to, float::value(from, a)),
    }
}
