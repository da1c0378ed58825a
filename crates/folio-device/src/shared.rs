//! Types whose values kernels compute with.

use folio_kernel::{Scalar, Type, Types};

/// A type that kernels can have: a number, `bool`, an array or tuple of such, or a struct with
/// `#[derive(DeviceType)]`.
///
/// # Safety
/// Zero bytes are a value of it. If `IN_MEMORY`, its layout is that of the type that `describe`
/// enters, and it has no padding.
///
/// `ASKED` is 0. A kernel's conditions write it as [`asked`], which does not compile for other
/// types: rustc says so there, once, and believes conditions in which something does not compile.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used in a kernel",
    label = "no device type",
    note = "device types are numbers, bool, arrays and tuples of them, and structs with #[derive(Clone, Copy, DeviceType)] and #[repr(C)]",
    note = "an enum: #[derive(Clone, Copy, DeviceType)] and #[repr(u32)]"
)]
pub unsafe trait Shared<const ASKED: usize = 0>: Copy + 'static {
    /// The type can be in memory that is shared with the host: no `bool`, no tuple, whose layout is
    /// Rust's, and no field without bytes, which C has none of.
    const IN_MEMORY: bool = true;

    /// Enters the type.
    fn describe(types: &mut Types) -> Type;

    /// Appends the bits of each of its numbers, in order.
    fn bits(self, all: &mut Vec<u64>);
}

/// The number in a kernel's conditions, for types that are for devices: see [`Shared`].
pub const fn asked<T: Shared>() -> usize {
    0
}

/// That a struct has no `Deref`: for the derive, with which a device type that has one does not
/// compile. Where a kernel cannot see a field, Rust would look for it behind the `Deref`, and
/// devices have the struct's.
pub trait NoDeref {}

impl<T: std::ops::Deref + ?Sized> NoDeref for T {}

macro_rules! scalars {
    ($($ty:ty = $scalar:ident $in_memory:literal, |$x:ident| $bits:expr;)*) => {$(
        // SAFETY: the same scalar.
        #[diagnostic::do_not_recommend]
        unsafe impl Shared for $ty {
            const IN_MEMORY: bool = $in_memory;
            fn describe(_: &mut Types) -> Type {
                Scalar::$scalar.into()
            }
            fn bits(self, all: &mut Vec<u64>) {
                let $x = self;
                all.push($bits);
            }
        }
    )*};
}
scalars! {
    bool = Bool false, |x| u64::from(x);
    i8 = I8 true, |x| x as u8 as u64;
    u8 = U8 true, |x| x as u64;
    i16 = I16 true, |x| x as u16 as u64;
    u16 = U16 true, |x| x as u64;
    i32 = I32 true, |x| x as u32 as u64;
    u32 = U32 true, |x| x as u64;
    i64 = I64 true, |x| x as u64;
    u64 = U64 true, |x| x;
    isize = I64 true, |x| x as u64;
    usize = U64 true, |x| x as u64;
    f32 = F32 true, |x| x.to_bits() as u64;
    f64 = F64 true, |x| x.to_bits();
}

// SAFETY: arrays follow each other's elements without gaps.
#[diagnostic::do_not_recommend]
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {
    const IN_MEMORY: bool = T::IN_MEMORY;
    fn describe(types: &mut Types) -> Type {
        const { assert!(N <= u32::MAX as usize, "an array has at most 2^32 - 1 elements") };
        let element = T::describe(types);
        types.array(element, N as u32)
    }
    fn bits(self, all: &mut Vec<u64>) {
        self.into_iter().for_each(|element| element.bits(all));
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:literal)*))*) => {$(
        // SAFETY: zero bytes are a value of each part; it is not `IN_MEMORY`.
        #[diagnostic::do_not_recommend]
        unsafe impl<$($name: Shared),*> Shared for ($($name,)*) {
            const IN_MEMORY: bool = false;
            #[expect(non_snake_case, reason = "a part is named as its type")]
            fn describe(types: &mut Types) -> Type {
                $(let $name = $name::describe(types);)*
                types.structure("tuple", &[$(($at, $name)),*])
            }
            #[expect(non_snake_case, reason = "a part is named as its type")]
            fn bits(self, all: &mut Vec<u64>) {
                let ($($name,)*) = self;
                $($name.bits(all);)*
            }
        }
    )*};
}
tuples! {
    (A "0")
    (A "0" B "1")
    (A "0" B "1" C "2")
    (A "0" B "1" C "2" D "3")
    (A "0" B "1" C "2" D "3" E "4")
    (A "0" B "1" C "2" D "3" E "4" F "5")
}
