//! Functions of elements, which algorithms compute as part of their own kernels.

use crate::prelude::*;
use folio::ir::device::{Called, Form, Method, Mode};

/// A function of one element: a device type with a `#[device_fn]` method `map`, for which
/// [`map!`](crate::map) implements this.
///
/// ```
/// use folio::algorithms::{self, Same};
/// use folio::prelude::*;
///
/// #[derive(Clone, Copy, DeviceType)]
/// #[repr(C)]
/// struct Scale {
///     by: f32,
/// }
///
/// #[device_fn]
/// impl Scale {
///     fn map(self, x: f32) -> f32 {
///         self.by * x
///     }
/// }
/// algorithms::map!(Scale: f32 => f32);
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[1.0f32, 2.0, 3.0])?;
/// let mut y = rt.buffer(3)?;
/// let (before, after) = (Scale { by: 2.0 }, Same::new());
/// algorithms::mapped_inclusive_scan(&q, before, Add, after, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [2.0, 6.0, 12.0]);
/// # Ok::<(), folio::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function of `{T}` for algorithms",
    label = "no `Map<{T}>`",
    note = "write a `#[device_fn] impl` with `fn map(self, x: {T})`, and `algorithms::map!({Self}: {T} => ..)`"
)]
pub trait Map<T>: DeviceType + Value {
    /// What it makes of an element.
    type Output;

    /// The macro's form of the method.
    #[doc(hidden)]
    fn device_method_map<M: Mode>(
        self,
    ) -> Form<impl Called, M, impl Method<Self, Bound = impl Fn(T) -> Self::Output>>;
}

/// Makes types with a `#[device_fn]` method `map` functions for algorithms: [`Map`].
#[macro_export]
macro_rules! map {
    ($($ty:ty: $from:ty => $to:ty),+ $(,)?) => {$(
        impl $crate::Map<$from> for $ty {
            type Output = $to;
            #[inline(always)]
            fn device_method_map<M: $crate::hidden::Mode>(
                self,
            ) -> $crate::hidden::Form<
                impl $crate::hidden::Called,
                M,
                impl $crate::hidden::Method<Self, Bound = impl Fn($from) -> $to>,
            > {
                <$ty>::device_method_map::<M>(self)
            }
        }
    )+};
}

/// The function that changes nothing.
#[derive(Clone, Copy, Debug, Default, folio_macros::DeviceType)]
#[repr(C)]
pub struct Same<T> {
    unused: T,
}

#[device_fn]
impl<T: Number> Same<T> {
    fn map(self, x: T) -> T {
        x
    }
}

impl<T: Number + DeviceType> Same<T> {
    /// The function.
    #[must_use]
    pub fn new() -> Same<T> {
        Same { unused: T::ZERO }
    }
}

impl<T: Number + DeviceType> Map<T> for Same<T> {
    type Output = T;
    #[inline(always)]
    fn device_method_map<M: Mode>(
        self,
    ) -> Form<impl Called, M, impl Method<Self, Bound = impl Fn(T) -> T>> {
        Same::<T>::device_method_map::<M>(self)
    }
}
