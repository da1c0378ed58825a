//! Values that `print!` writes: their kind, and their bits in two words.

use super::Shared;
use half::{bf16, f16};

/// The kind of a value that is printed, as its record has it.
pub mod kind {
    /// `bool`
    pub const BOOL: u32 = 0;
    /// An integer with a sign, extended to 64 bits.
    pub const SIGNED: u32 = 1;
    /// An integer without a sign.
    pub const UNSIGNED: u32 = 2;
    /// `f32`
    pub const F32: u32 = 3;
    /// `f64`
    pub const F64: u32 = 4;
    /// `f16`
    pub const F16: u32 = 5;
    /// `bf16`
    pub const BF16: u32 = 6;
}

/// A value that can be printed.
///
/// # Safety
/// Kind and bits are those that a kernel's description has of the type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed by a kernel",
    label = "no number",
    note = "print its parts: numbers and `bool`"
)]
pub unsafe trait Printed: Shared {
    /// Of [`kind`].
    const KIND: u32;
    /// Its bits, in 64.
    fn pattern(self) -> u64;
}

macro_rules! printed {
    ($($ty:ident $kind:ident |$x:ident| $pattern:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: as `Lower::printed` of `folio-kernel` has it.
        unsafe impl Printed for $ty {
            const KIND: u32 = kind::$kind;
            #[inline(always)]
            fn pattern(self) -> u64 {
                let $x = self;
                $pattern
            }
        }
    )*};
}
printed! {
    bool BOOL |x| x.into();
    i8 SIGNED |x| x as u64; i16 SIGNED |x| x as u64; i32 SIGNED |x| x as u64;
    i64 SIGNED |x| x as u64; isize SIGNED |x| x as u64;
    u8 UNSIGNED |x| x.into(); u16 UNSIGNED |x| x.into(); u32 UNSIGNED |x| x.into();
    u64 UNSIGNED |x| x; usize UNSIGNED |x| x as u64;
    f32 F32 |x| x.to_bits().into(); f64 F64 |x| x.to_bits();
    f16 F16 |x| x.to_bits().into(); bf16 BF16 |x| x.to_bits().into();
}

/// The kind of a value.
#[inline(always)]
pub fn printed_kind<T: Printed>(_: T) -> u32 {
    T::KIND
}
/// The lower bits of a value.
#[inline(always)]
pub fn printed_low<T: Printed>(x: T) -> u32 {
    x.pattern() as u32
}
/// The upper bits of a value.
#[inline(always)]
pub fn printed_high<T: Printed>(x: T) -> u32 {
    (x.pattern() >> 32) as u32
}
