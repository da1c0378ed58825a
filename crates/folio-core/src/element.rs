//! What a buffer can hold.

/// A type whose values can live in any device's memory.
///
/// # Safety
/// Every bit pattern of the type's size is a valid value (zeros in particular), there is no
/// padding, it holds no pointers or references, and its layout is the same on every device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be in a device's memory",
    label = "no device type",
    note = "device types are numbers, arrays of them, and structs with #[derive(DeviceType)]"
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
        unsafe impl DeviceType for $t {}
    )*};
}
device_types!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, f32, f64, usize, isize);
device_types!(half::f16, half::bf16);

// SAFETY: an array has no padding of its own; the rest holds because it holds for `T`.
unsafe impl<T: DeviceType, const N: usize> DeviceType for [T; N] {
    const CHECKED: () = T::CHECKED;
}

/// The bytes of a slice.
pub(crate) fn bytes_of<T: DeviceType>(slice: &[T]) -> &[u8] {
    const { T::CHECKED };
    // SAFETY: `DeviceType` has no padding (`CHECKED`), so all its bytes are initialised.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), std::mem::size_of_val(slice)) }
}
