//! Conversions to and from the formats of 16 bits (semantics 2.2 and 4), as straight lines, each
//! with one rounding. The crate `half` rounds `f64` twice on some processors.

/// An `f16`'s bits as the same number.
#[inline(always)]
pub fn single_of_f16(bits: u16) -> f32 {
    let (sign, size) = (u32::from(bits & 0x8000) << 16, u32::from(bits & 0x7fff));
    // The exponent is moved by a product, which is exact, also from denormals.
    let finite = f32::from_bits(size << 13) * f32::from_bits(239 << 23);
    let size = if size < 0x7c00 { finite.to_bits() } else { 0x7f80_0000 | size << 13 };
    f32::from_bits(size | sign)
}

/// The nearest `f16`, by its bits.
#[inline(always)]
pub fn f16_of_single(x: f32) -> u16 {
    let bits = x.to_bits();
    let (sign, size) = ((bits >> 16) as u16 & 0x8000, bits & 0x7fff_ffff);
    // Half of the last place is added, less a bit where that is even.
    let normal = size.wrapping_add(0xfff + (size >> 13 & 1)).wrapping_sub(112 << 23) >> 13;
    // The last place of a half is that of denormals: a sum rounds to it.
    let denormal = (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let size = match size {
        0x7f80_0001.. => 0x7e00,
        0x477f_f000.. => 0x7c00,
        0x3880_0000.. => normal as u16,
        _ => denormal as u16,
    };
    size | sign
}

/// A `bf16`'s bits as the same number.
#[inline(always)]
pub fn single_of_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The nearest `bf16`, by its bits.
#[inline(always)]
pub fn bf16_of_single(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let nan = bits >> 16 | 0x40;
    (if x.is_nan() { nan } else { rounded }) as u16
}

/// A `f32` that rounds to the formats of 16 bits as the `f64` does: cut off, and odd if that lost
/// anything.
#[inline(always)]
pub fn odd_single(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    // Away from zero: one place back. `near` is not 0 then.
    let cut = near.to_bits().wrapping_sub(u32::from(back.abs() > x.abs()));
    let exact = (back == x) | x.is_nan();
    if exact { near } else { f32::from_bits(cut | 1) }
}

/// An `f64` that rounds to the formats of 16 bits as the integer does, which has this sign and
/// size.
#[inline(always)]
pub fn odd_double(negative: bool, size: u64) -> f64 {
    let low = size & 0xffff;
    let high = size >> 16 | u64::from(low != 0);
    let size = if size >> 48 == 0 { size as f64 } else { high as f64 * 65536.0 };
    if negative { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// semantics 4.4: there and back, and against the definition of rounding to nearest.
    #[test]
    fn the_nearest_number_with_16_bits() {
        type Format = (fn(u16) -> f32, fn(f32) -> u16, u16);
        let formats: [Format; 2] =
            [(single_of_f16, f16_of_single, 0x7c00), (single_of_bf16, bf16_of_single, 0x7f80)];
        for (wide, narrow, infinite) in formats {
            for bits in 0..=u16::MAX {
                let x = wide(bits);
                assert_eq!(x.is_nan(), bits & 0x7fff > infinite);
                assert!(x.is_nan() || narrow(x) == bits, "{bits:#x}");
                assert!(wide(narrow(x)).is_nan() == x.is_nan());
            }
            for bits in 0..infinite - 1 {
                let (low, high) = (f64::from(wide(bits)), f64::from(wide(bits + 1)));
                let middle = (low + high) / 2.0;
                let even = bits + (bits & 1);
                for (x, wanted) in [
                    (middle, even),
                    (middle.next_down(), bits),
                    (middle.next_up(), bits + 1),
                    (-middle, even | 0x8000),
                ] {
                    assert_eq!(narrow(odd_single(x)), wanted, "{x:e}");
                }
            }
            assert_eq!(narrow(odd_single(f64::MAX)), infinite);
            assert_eq!(narrow(odd_single(f64::INFINITY)), infinite);
            assert_eq!(narrow(odd_single(-f64::MIN_POSITIVE)), 0x8000);
        }
    }

    /// semantics 4.2: of an integer, and not of the `f32` next to it.
    #[test]
    fn integers_are_rounded_once() {
        let bf16 = |x: u64| bf16_of_single(odd_single(odd_double(false, x)));
        assert_eq!(bf16((1 << 62) + (1 << 54)), 0x5e80);
        assert_eq!(bf16((1 << 62) + (1 << 54) + 1), 0x5e81);
        assert_eq!(f16_of_single(odd_single(odd_double(true, 65_519))), 0xfbff);
        assert_eq!(f16_of_single(odd_single(odd_double(true, u64::MAX))), 0xfc00);
    }
}
