//! Keys as unsigned integers in the same order: by their bits, of which a rule says how they differ
//! from such integers. Kernels apply the rule where they read a digit, so keys keep their bits.

use crate::prelude::*;
use crate::sort::{Direction, Job};
use folio::ir::device::Int;
use std::ops::{BitAnd, BitXor};

/// The integers as which keys are sorted: those of the size of a key.
pub trait Bits: Number + Int + DeviceType + BitAnd<Output = Self> + BitXor<Output = Self> {
    /// How many bits it has.
    #[doc(hidden)]
    const WIDTH: u32;
    /// The highest bit.
    #[doc(hidden)]
    const SIGN: Self;
    /// All bits.
    #[doc(hidden)]
    const ONES: Self;
    /// Sorts keys and their values.
    #[doc(hidden)]
    fn sort<T: DeviceType + Value>(job: Job<'_, Self, T>) -> Result<()>;
}

macro_rules! bits {
    ($($bits:ident)*) => {$(
        impl Bits for $bits {
            const WIDTH: u32 = $bits::BITS;
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            const ONES: $bits = $bits::MAX;
            fn sort<T: DeviceType + Value>(job: Job<'_, $bits, T>) -> Result<()> {
                job.sort()
            }
        }
    )*};
}
bits! { u8 u16 u32 u64 }

/// How bits of keys become integers in the wanted order: `negative` is exchanged where the sign is
/// set, then `flip` everywhere.
#[derive(Clone, Copy, Debug, folio_macros::DeviceType)]
#[repr(C)]
pub struct Rule<B> {
    sign: B,
    negative: B,
    flip: B,
}

/// The integer of a key.
#[device_fn]
pub(crate) fn ordered<B: Bits>(rule: Rule<B>, key: B) -> B {
    let turned = if key & rule.sign == B::ZERO { key } else { key ^ rule.negative };
    turned ^ rule.flip
}

/// What bits of a type mean.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// An integer without a sign.
    Unsigned,
    /// An integer in two's complement.
    Signed,
    /// A float in IEEE 754's total order.
    Float,
}

impl<B: Bits> Rule<B> {
    pub(crate) fn new(format: Format, direction: Direction) -> Rule<B> {
        let flip = match direction {
            Direction::Ascending => B::ZERO,
            Direction::Descending => B::ONES,
        };
        // Of signed keys the sign counts the other way round, and negative floats are in the
        // opposite order.
        let (negative, sign) = match format {
            Format::Unsigned => (B::ZERO, B::ZERO),
            Format::Signed => (B::ZERO, B::SIGN),
            Format::Float => (B::ONES ^ B::SIGN, B::SIGN),
        };
        Rule { sign: B::SIGN, negative, flip: flip ^ sign }
    }
}

/// Keeps implementations of [`Key`] in this crate.
pub trait Sealed {}

/// Something that can be sorted by: integers by their value, floats in IEEE 754's total order, as
/// [`f32::total_cmp`] has it.
///
/// The sort relies on what the bits mean: a program's own types are no keys.
///
/// ```compile_fail,E0277
/// use folio::algorithms::{Format, Key};
///
/// #[derive(Clone, Copy, folio::DeviceType)]
/// #[repr(C)]
/// struct Mine {
///     key: u32,
/// }
/// impl Key for Mine {
///     type Bits = u32;
///     const FORMAT: Format = Format::Unsigned;
/// }
/// ```
pub trait Key: DeviceType + Value + Sealed {
    /// As what they are sorted.
    #[doc(hidden)]
    type Bits: Bits;
    /// What the bits mean.
    #[doc(hidden)]
    const FORMAT: Format;
}

macro_rules! keys {
    ($($ty:ident $bits:ident $format:ident;)*) => {$(
        impl Sealed for $ty {}
        impl Key for $ty {
            type Bits = $bits;
            const FORMAT: Format = Format::$format;
        }
    )*};
}
keys! {
    u8 u8 Unsigned; u16 u16 Unsigned; u32 u32 Unsigned; u64 u64 Unsigned; usize u64 Unsigned;
    i8 u8 Signed; i16 u16 Signed; i32 u32 Signed; i64 u64 Signed; isize u64 Signed;
    f32 u32 Float; f64 u64 Float;
}
