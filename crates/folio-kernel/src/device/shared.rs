//! Types whose values kernels compute with.

use crate::types::{Scalar, Type, Types};

/// A type that kernels can have: a number, `bool`, an array or tuple of such, or a struct with
/// `#[derive(DeviceType)]`.
///
/// # Safety
/// Its layout is that of the type that `describe` enters, and zero bytes are a value of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used in a kernel",
    label = "no device type",
    note = "device types are numbers, bool, arrays and tuples of them, and structs with #[derive(DeviceType)]"
)]
pub unsafe trait Shared: Copy + 'static {
    /// Enters the type.
    fn describe(types: &mut Types) -> Type;

    /// The bits of a scalar.
    fn bits(self) -> u64 {
        0
    }
}

macro_rules! scalars {
    ($($ty:ty = $scalar:ident, |$x:ident| $bits:expr;)*) => {$(
        // SAFETY: the same scalar.
        unsafe impl Shared for $ty {
            fn describe(_: &mut Types) -> Type {
                Scalar::$scalar.into()
            }
            fn bits(self) -> u64 {
                let $x = self;
                $bits
            }
        }
    )*};
}
scalars! {
    bool = Bool, |x| u64::from(x);
    i8 = I8, |x| x as u8 as u64;
    u8 = U8, |x| x as u64;
    i16 = I16, |x| x as u16 as u64;
    u16 = U16, |x| x as u64;
    i32 = I32, |x| x as u32 as u64;
    u32 = U32, |x| x as u64;
    i64 = I64, |x| x as u64;
    u64 = U64, |x| x;
    isize = I64, |x| x as u64;
    usize = U64, |x| x as u64;
    f32 = F32, |x| x.to_bits() as u64;
    f64 = F64, |x| x.to_bits();
}

// SAFETY: arrays follow each other's elements without gaps.
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {
    fn describe(types: &mut Types) -> Type {
        let element = T::describe(types);
        types.array(element, N as u32)
    }
}
