//! Conversions to and from the formats of 16 bits: those of `math::narrow` in `folio-device`.

use super::code::N;
use crate::types::Scalar;

/// An `f16` or `bf16` as the same number.
pub fn widened<'c>(x: N<'c>) -> N<'c> {
    let bits = x.raw().cast(Scalar::U32);
    if x.ty == Scalar::Bf16 {
        return (bits << 16u64).as_bits(Scalar::F32);
    }
    let (sign, size) = ((bits & 0x8000u64) << 16u64, bits & 0x7fffu64);
    // Normal numbers get another exponent; of denormals the leading bit is found.
    let normal = (size << 13u64) + (112u64 << 23);
    let up = size.unary(crate::op::Unary::LeadingZeros) - 21u64;
    let denormal = ((size << up) << 13u64) + ((up.of_bits(113) - up - 1u64) << 23u64);
    let infinite = (size << 13u64) | 0x7f80_0000u64;
    let finite = size.lt(0x400u64).pick(denormal, normal);
    let finite = size.eq(0u64).pick(size, finite);
    let size = size.lt(0x7c00u64).pick(finite, infinite);
    (size | sign).as_bits(Scalar::F32)
}

/// The nearest `f16` or `bf16` to an `f32`.
pub fn narrowed<'c>(x: N<'c>, to: Scalar) -> N<'c> {
    let bits = x.raw();
    let narrow = if to == Scalar::Bf16 {
        let rounded = (bits + ((bits >> 16u64) & 1u64) + 0x7fffu64) >> 16u64;
        x.is_nan().pick((bits >> 16u64) | 0x40u64, rounded)
    } else {
        let (sign, size) = ((bits >> 16u64) & 0x8000u64, bits & 0x7fff_ffffu64);
        // Half of the last place is added, less a bit where that is even.
        let odd = (size >> 13u64) & 1u64;
        let normal = (size + odd + 0xfffu64 - (112u64 << 23)) >> 13u64;
        // Denormals: the significand in units of their last place.
        let down = size.of_bits(126) - (size >> 23u64);
        let down = down.gt(31u64).pick(down.of_bits(31), down);
        let significand = (size & 0x007f_ffffu64) | 0x0080_0000u64;
        let kept = significand >> down;
        let lost = significand & ((down.of_bits(1) << down) - 1u64);
        let half = down.of_bits(1) << (down - 1u64);
        let up = lost.gt(half) | (lost.eq(half) & (kept & 1u64).ne(0u64));
        let denormal = kept + up.cast(Scalar::U32);
        let finite = size.ge(0x3880_0000u64).pick(normal, denormal);
        let finite = size.ge(0x477f_f000u64).pick(size.of_bits(0x7c00), finite);
        size.gt(0x7f80_0000u64).pick(size.of_bits(0x7e00), finite) | sign
    };
    narrow.cast(Scalar::U16).as_bits(to)
}

/// An `f32` that rounds to the formats of 16 bits as the `f64` does: cut off, and odd if that lost
/// anything.
pub fn odd_single<'c>(x: N<'c>) -> N<'c> {
    let near = x.cast(Scalar::F32);
    let back = near.cast(Scalar::F64);
    let cut = near.raw() - back.abs().gt(x.abs()).cast(Scalar::U32);
    let exact = back.eq(x) | x.is_nan();
    exact.pick(near, (cut | 1u64).as_bits(Scalar::F32))
}

/// An integer to `bf16` or `f16`: all bits that rounding does not see are one.
pub fn of_integer<'c>(x: N<'c>, to: Scalar) -> N<'c> {
    let wide = match x.ty.is_signed() {
        true => x.cast(Scalar::I64).as_bits(Scalar::U64),
        false => x.cast(Scalar::U64),
    };
    let negative = match x.ty.is_signed() {
        true => (wide >> 63u64).ne(0u64),
        false => wide.lt(0u64),
    };
    let size = negative.pick(wide.of_bits(0) - wide, wide);
    // 24 bits are exact in `f32`; of more, the last says that there were others.
    let leading = size.leading_zeros();
    let long = leading.lt(40u64);
    let drop = long.pick(leading.of_bits(40) - leading, leading.of_bits(0));
    let lost = (size & ((drop.of_bits(1) << drop) - 1u64)).ne(0u64);
    let kept = ((size >> drop) | lost.cast(Scalar::U64)) << drop;
    let single = kept.cast(Scalar::F32);
    narrowed(negative.pick(single.negated(), single), to)
}
