//! What a buffer can hold.

use folio_device::Shared;
use folio_kernel::{Type, Types};

/// A type whose values can live in any device's memory.
///
/// # Safety
/// Every bit pattern of the type's size is a valid value (zeros in particular), there is no
/// padding, it holds no pointers or references, and its layout is the same on every device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be in a device's memory",
    label = "no device type",
    note = "device types are numbers, arrays of them, and structs with #[derive(Clone, Copy, DeviceType)] and #[repr(C)]",
    note = "for a `bool` or an enum there is its number, a `u32`; for vectors of vectors one vector of all elements, \
        `rt.buffer_from((&all, [rows, columns]))?`"
)]
pub unsafe trait DeviceType: Copy + Send + Sync + 'static {
    /// Fails to compile, once it is looked at, if the type has padding or a field without bytes;
    /// for the derive. Whatever makes a storage, or takes bytes of values, looks at it: generic
    /// structs are checked nowhere else.
    #[doc(hidden)]
    const CHECKED: () = ();
}

macro_rules! device_types {
    ($($t:ty),* $(,)?) => {$(
        // SAFETY: a plain number: no padding, no invalid bit patterns, the same everywhere.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceType for $t {}
    )*};
}
device_types!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, f32, f64, usize, isize);
device_types!(half::f16, half::bf16);

// SAFETY: an array has no padding of its own; the rest holds because it holds for `T`.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType, const N: usize> DeviceType for [T; N] {
    const CHECKED: () = T::CHECKED;
}

/// What the fields of a device type are; for the derive, which asks once.
///
/// # Safety
/// All of it is what [`DeviceType`] and [`Shared`] say of the type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a device type",
    label = "no device type",
    note = "fields are numbers, arrays of them, and structs with #[derive(Clone, Copy, DeviceType)] and #[repr(C)]",
    note = "for a `bool` or an enum there is its number, a `u32`; for a `String` or `Vec` a buffer, and where it begins in that"
)]
pub unsafe trait Field {
    /// [`DeviceType::CHECKED`]
    const CHECKED: ();
    /// [`Shared::IN_MEMORY`]
    const IN_MEMORY: bool;
    /// [`Shared::describe`]
    fn describe(types: &mut Types) -> Type;
    /// [`Shared::bits`]
    fn bits(self, all: &mut Vec<u64>);
}

// SAFETY: that is what it says.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType + Shared> Field for T {
    const CHECKED: () = <T as DeviceType>::CHECKED;
    const IN_MEMORY: bool = <T as Shared>::IN_MEMORY;
    fn describe(types: &mut Types) -> Type {
        <T as Shared>::describe(types)
    }
    fn bits(self, all: &mut Vec<u64>) {
        Shared::bits(self, all);
    }
}

/// Looks at a type's layout where it is a device type whose own fields fill it. Where it is none,
/// or where they do not, that has been told.
#[derive(Debug)]
pub struct Checked<T, const FILLED: bool>(std::marker::PhantomData<T>);

impl<T: DeviceType> Checked<T, true> {
    /// Fails to compile if there is padding, or a field without bytes.
    pub const LAYOUT: () = T::CHECKED;
}

/// Found where there is nothing to look at.
pub trait Unchecked {
    /// Nothing.
    const LAYOUT: () = ();
}

impl<T, const FILLED: bool> Unchecked for Checked<T, FILLED> {}

/// The bytes of a slice.
pub(crate) fn bytes_of<T: DeviceType>(slice: &[T]) -> &[u8] {
    const { T::CHECKED };
    // SAFETY: `DeviceType` has no padding (`CHECKED`), so all its bytes are initialised.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), std::mem::size_of_val(slice)) }
}
