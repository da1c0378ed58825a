//! Floats by their definition: a number is a sign, an integer and a power of two, and a format is
//! a width of exponent and fraction. Rounding to any format is one function.

use folio_kernel::Scalar;

/// Bits of the exponent and of the fraction.
fn format(scalar: Scalar) -> (u32, u32) {
    match scalar {
        Scalar::F16 => (5, 10),
        Scalar::Bf16 => (8, 7),
        Scalar::F32 => (8, 23),
        _ => (11, 52),
    }
}

/// The value of a float's bits; each is an `f64` exactly.
pub fn value(scalar: Scalar, bits: u64) -> f64 {
    let (exponent_bits, fraction_bits) = format(scalar);
    if scalar == Scalar::F64 {
        return f64::from_bits(bits);
    }
    let negative = bits >> (exponent_bits + fraction_bits) & 1 == 1;
    let exponent = (bits >> fraction_bits) as i32 & ((1 << exponent_bits) - 1);
    let fraction = bits & ((1 << fraction_bits) - 1);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let size = match exponent {
        e if e == (1 << exponent_bits) - 1 && fraction != 0 => f64::NAN,
        e if e == (1 << exponent_bits) - 1 => f64::INFINITY,
        0 => fraction as f64 * power(1 - bias - fraction_bits as i32),
        e => (fraction | 1 << fraction_bits) as f64 * power(e - bias - fraction_bits as i32),
    };
    if negative { -size } else { size }
}

/// Two to a power for which that is a normal `f64`.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `±number * 2^exponent`, rounded to nearest, ties to even.
pub(crate) fn pack(scalar: Scalar, negative: bool, number: u128, exponent: i32) -> u64 {
    let (exponent_bits, fraction_bits) = format(scalar);
    let sign = u64::from(negative) << (exponent_bits + fraction_bits);
    if number == 0 {
        return sign;
    }
    let bias = (1i32 << (exponent_bits - 1)) - 1;
    let top = 127 - number.leading_zeros() as i32 + exponent;
    // The weight of the last bit that there is room for.
    let last = (top - fraction_bits as i32).max(1 - bias - fraction_bits as i32);
    let drop = last - exponent;
    let mut kept = match drop {
        ..=0 => number << -drop,
        1..=127 => number >> drop,
        _ => 0,
    };
    if drop > 0 {
        let rest = if drop > 127 { number } else { number & ((1 << drop) - 1) };
        let half = if drop > 128 { u128::MAX } else { 1u128 << (drop - 1) };
        let beyond = rest > half && drop <= 128;
        if beyond || (rest == half && drop <= 128 && kept & 1 == 1) {
            kept += 1;
        }
    }
    // A carry into the next power of two, or from denormal to normal, is right by itself.
    let implicit = 1u128 << fraction_bits;
    let biased = if kept < implicit { 0 } else { last + fraction_bits as i32 + bias };
    let carried = i32::from(kept == implicit << 1);
    let fraction = (kept & (implicit - 1)) as u64;
    let biased = biased + carried;
    let infinite = (1 << exponent_bits) - 1;
    if biased >= infinite {
        return sign | (infinite as u64) << fraction_bits;
    }
    sign | (biased as u64) << fraction_bits | fraction
}

/// An integer as a float.
pub fn from_int(scalar: Scalar, value: i128) -> u64 {
    pack(scalar, value < 0, value.unsigned_abs(), 0)
}

/// An `f64` as another format.
pub fn from_f64(scalar: Scalar, value: f64) -> u64 {
    let (exponent_bits, fraction_bits) = format(scalar);
    let bits = value.to_bits();
    let negative = bits >> 63 == 1;
    let infinite = (1u64 << exponent_bits) - 1;
    let sign = u64::from(negative) << (exponent_bits + fraction_bits);
    match bits >> 52 & 0x7ff {
        _ if scalar == Scalar::F64 => bits,
        0x7ff if bits << 12 != 0 => infinite << fraction_bits | 1 << (fraction_bits - 1),
        0x7ff => sign | infinite << fraction_bits,
        0 => pack(scalar, negative, u128::from(bits << 12 >> 12), -1074),
        e => {
            let number = bits << 12 >> 12 | 1 << 52;
            pack(scalar, negative, number.into(), e as i32 - 1075)
        }
    }
}

/// A float as an integer of `to`'s range (semantics 4.3).
pub fn to_int(value: f64, to: Scalar) -> i128 {
    let (lo, hi) = to.limits().unwrap_or((0, 0));
    // This conversion rounds towards zero, saturates, and makes NaN 0.
    (value as i128).clamp(lo, hi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// semantics 4.2, 4.4: against the conversions that Rust has.
    #[test]
    fn conversions_are_those_of_rust() {
        let mut rng = Rng::new(7);
        for _ in 0..200_000 {
            let bits = rng.next();
            let x = f64::from_bits(bits);
            let near = f64::from_bits((bits & 0x800f_ffff_ffff_ffff) | (0x36 + bits % 10) << 56);
            for x in [x, near, f64::from(f32::from_bits(bits as u32))] {
                let (ours, rust) = (from_f64(Scalar::F32, x), x as f32);
                assert!(rust.is_nan() || ours == u64::from(rust.to_bits()), "{x:e}");
            }
            let int = bits as i64 >> rng.below(64);
            assert_eq!(from_int(Scalar::F32, int.into()), u64::from((int as f32).to_bits()));
            assert_eq!(from_int(Scalar::F64, (bits >> 3).into()), ((bits >> 3) as f64).to_bits());
            let single = f32::from_bits(bits as u32);
            assert!(single.is_nan() || value(Scalar::F32, bits & 0xffff_ffff) == f64::from(single));
        }
    }

    /// semantics 2.2: the half-precision formats, at points known from their definitions.
    #[test]
    fn half_formats_are_their_definitions() {
        for bits in 0..=u16::MAX {
            for scalar in [Scalar::F16, Scalar::Bf16] {
                let x = value(scalar, bits.into());
                let back = from_f64(scalar, x);
                assert!(x.is_nan() || back == u64::from(bits), "{scalar} {bits:#x}");
            }
            let single = f32::from_bits(u32::from(bits) << 16);
            let ours = value(Scalar::Bf16, bits.into());
            assert!(single.is_nan() && ours.is_nan() || ours == f64::from(single));
        }
        assert_eq!(value(Scalar::F16, 0x3c00), 1.0);
        assert_eq!(value(Scalar::F16, 0x7bff), 65504.0);
        assert_eq!(value(Scalar::F16, 1), power(-24));
        assert_eq!(from_f64(Scalar::F16, 65519.0), 0x7bff);
        assert_eq!(from_f64(Scalar::F16, 65520.0), 0x7c00);
        // Just above the tie between two neighbours: one rounding goes up, two would not.
        let tie = 1.0 + power(-11);
        assert_eq!(from_f64(Scalar::F16, tie), 0x3c00);
        assert_eq!(from_f64(Scalar::F16, tie + power(-40)), 0x3c01);
        assert_eq!(from_int(Scalar::Bf16, (1 << 62) + (1 << 54) + 1), 0x5e81);
    }
}
