//! Operations on scalars, by their bits (semantics 3 to 5).

use super::float;
use folio_kernel::{Binary, Compare, Scalar, Unary};

/// What an operation with a zero divisor gives, too.
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
fn floats<const N: usize>(
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

/// A function of the table in semantics 5.8: computed with room to spare, where there is any.
fn function(scalar: Scalar, bits: u64, f: impl Fn(f64) -> f64) -> u64 {
    floats(scalar, [bits], |[x]| f(x.into()) as f32, |[x]| f(x))
}

/// One operand.
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
        _ => !a & scalar.mask(),
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
        Unary::Rsqrt => function(scalar, a, |x| 1.0 / x.sqrt()),
        Unary::Cbrt => function(scalar, a, f64::cbrt),
        Unary::Exp => function(scalar, a, f64::exp),
        Unary::Exp2 => function(scalar, a, f64::exp2),
        Unary::ExpM1 => function(scalar, a, f64::exp_m1),
        Unary::Ln => function(scalar, a, f64::ln),
        Unary::Log2 => function(scalar, a, f64::log2),
        Unary::Log10 => function(scalar, a, f64::log10),
        Unary::Ln1p => function(scalar, a, f64::ln_1p),
        Unary::Sin => function(scalar, a, f64::sin),
        Unary::Cos => function(scalar, a, f64::cos),
        Unary::Tan => function(scalar, a, f64::tan),
        Unary::Asin => function(scalar, a, f64::asin),
        Unary::Acos => function(scalar, a, f64::acos),
        Unary::Atan => function(scalar, a, f64::atan),
        Unary::Sinh => function(scalar, a, f64::sinh),
        Unary::Cosh => function(scalar, a, f64::cosh),
        Unary::Tanh => function(scalar, a, f64::tanh),
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
    let wide = |f: fn(f64, f64) -> f64| {
        let single = |[x, y]: [f32; 2]| f(x.into(), y.into()) as f32;
        floats(scalar, [a, b], single, |[x, y]| f(x, y))
    };
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
        Binary::Pow => wide(f64::powf),
        Binary::Atan2 => wide(f64::atan2),
        Binary::Hypot => wide(f64::hypot),
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
