//! Keys as unsigned integers in the same order.

use crate::prelude::*;
use crate::sort::{Direction, Keys};
use folio::ir::device::{CastFrom, Int};
use std::ops::{BitAnd, BitXor};

/// The integers as which keys are sorted: `u32` or `u64`.
pub trait Bits: Number + Int + DeviceType + BitAnd<Output = Self> + BitXor<Output = Self> {
    /// All of the low `bits`.
    #[doc(hidden)]
    fn ones(bits: u32) -> Self;
    /// The highest of the low `bits`.
    #[doc(hidden)]
    fn sign(bits: u32) -> Self;
    /// Sorts by the low `bits`.
    #[doc(hidden)]
    fn sort(keys: Keys<Self>, q: &Queue, bits: u32) -> Result<Keys<Self>>;
}

macro_rules! bits {
    ($($bits:ident)*) => {$(
        impl Bits for $bits {
            fn ones(bits: u32) -> $bits {
                $bits::MAX >> ($bits::BITS - bits)
            }
            fn sign(bits: u32) -> $bits {
                1 << (bits - 1)
            }
            fn sort(keys: Keys<$bits>, q: &Queue, bits: u32) -> Result<Keys<$bits>> {
                keys.sort(q, bits)
            }
        }
    )*};
}
bits! { u32 u64 }

#[kernel]
fn encode_integers<T: Number, B: Bits + CastFrom<T>>(
    i: Item,
    flip: B,
    mask: B,
    x: In<T>,
    y: Out<B>,
) {
    y[i] = ((x[i] as B) ^ flip) & mask;
}

#[kernel]
fn decode_integers<T: Number + CastFrom<B>, B: Bits>(i: Item, flip: B, x: In<B>, y: Out<T>) {
    y[i] = (x[i] ^ flip) as T;
}

/// Keeps implementations of [`Key`] in this crate.
pub trait Sealed {}

/// Something that can be sorted by: integers by their value, floats in IEEE 754's total order, as
/// [`f32::total_cmp`] has it.
///
/// The sort relies on what `encode` does: a program's own types are no keys.
///
/// ```compile_fail,E0277
/// use folio::algorithms::{self, Direction, Key};
///
/// #[derive(Clone, Copy, folio::DeviceType)]
/// #[repr(C)]
/// struct Mine {
///     key: u32,
/// }
/// impl Key for Mine {
///     type Bits = u32;
///     const BITS: u32 = 32;
///     fn encode(
///         q: &folio::Queue,
///         _: Direction,
///         x: &folio::Slice<'_, Mine>,
///         y: &mut folio::Buffer<u32>,
///     ) -> folio::Result<()> {
///         Ok(())
///     }
///     fn decode(
///         q: &folio::Queue,
///         _: Direction,
///         x: &folio::Buffer<u32>,
///         y: &mut folio::SliceMut<'_, Mine>,
///     ) -> folio::Result<()> {
///         Ok(())
///     }
/// }
/// ```
pub trait Key: DeviceType + Sealed {
    /// As what they are sorted.
    #[doc(hidden)]
    type Bits: Bits;
    /// How many of its bits count.
    #[doc(hidden)]
    const BITS: u32;
    #[doc(hidden)]
    fn encode(
        q: &Queue,
        direction: Direction,
        x: &Slice<'_, Self>,
        y: &mut Buffer<Self::Bits>,
    ) -> Result<()>;
    #[doc(hidden)]
    fn decode(
        q: &Queue,
        direction: Direction,
        x: &Buffer<Self::Bits>,
        y: &mut SliceMut<'_, Self>,
    ) -> Result<()>;
}

/// The bits in which keys differ from unsigned integers in the wanted order: all bits where that is
/// turned round.
fn turned<B: Bits>(direction: Direction, bits: u32) -> B {
    match direction {
        Direction::Ascending => B::ZERO,
        Direction::Descending => B::ones(bits),
    }
}

macro_rules! integers {
    ($($ty:ident $bits:ident, $sign:expr;)*) => {$(
        impl Sealed for $ty {}
        impl Key for $ty {
            type Bits = $bits;
            const BITS: u32 = $ty::BITS;
            fn encode(
                q: &Queue,
                direction: Direction,
                x: &Slice<'_, $ty>,
                y: &mut Buffer<$bits>,
            ) -> Result<()> {
                let flip = turned::<$bits>(direction, $ty::BITS) ^ $sign;
                let mask = $bits::ones($ty::BITS);
                q.run(y.range(), encode_integers::<$ty, $bits>(flip, mask, x, y))?;
                Ok(())
            }
            fn decode(
                q: &Queue,
                direction: Direction,
                x: &Buffer<$bits>,
                y: &mut SliceMut<'_, $ty>,
            ) -> Result<()> {
                let flip = turned::<$bits>(direction, $ty::BITS) ^ $sign;
                q.run(y.range(), decode_integers::<$ty, $bits>(flip, x, y))?;
                Ok(())
            }
        }
    )*};
}
// Of signed integers the sign counts the other way round.
integers! {
    u8 u32, 0; u16 u32, 0; u32 u32, 0; u64 u64, 0; usize u64, 0;
    i8 u32, u32::sign(8); i16 u32, u32::sign(16); i32 u32, u32::sign(32);
    i64 u64, u64::sign(64); isize u64, u64::sign(64);
}

macro_rules! floats {
    ($($ty:ident $bits:ident $encode:ident $decode:ident $sign:literal;)*) => {$(
        #[kernel]
        fn $encode(i: Item, flip: $bits, x: In<$ty>, y: Out<$bits>) {
            let bits = x[i].to_bits();
            // Negative ones are in the opposite order, and before all others.
            let ordered = if bits & $sign != 0 { !bits } else { bits | $sign };
            y[i] = ordered ^ flip;
        }

        #[kernel]
        fn $decode(i: Item, flip: $bits, x: In<$bits>, y: Out<$ty>) {
            let ordered = x[i] ^ flip;
            let bits = if ordered & $sign != 0 { ordered ^ $sign } else { !ordered };
            y[i] = $ty::from_bits(bits);
        }

        impl Sealed for $ty {}
        impl Key for $ty {
            type Bits = $bits;
            const BITS: u32 = $bits::BITS;
            fn encode(
                q: &Queue,
                direction: Direction,
                x: &Slice<'_, $ty>,
                y: &mut Buffer<$bits>,
            ) -> Result<()> {
                q.run(y.range(), $encode(turned(direction, $bits::BITS), x, y))?;
                Ok(())
            }
            fn decode(
                q: &Queue,
                direction: Direction,
                x: &Buffer<$bits>,
                y: &mut SliceMut<'_, $ty>,
            ) -> Result<()> {
                q.run(y.range(), $decode(turned(direction, $bits::BITS), x, y))?;
                Ok(())
            }
        }
    )*};
}
floats! {
    f32 u32 encode_f32 decode_f32 0x8000_0000;
    f64 u64 encode_f64 decode_f64 0x8000_0000_0000_0000;
}
