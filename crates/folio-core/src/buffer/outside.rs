//! What buffers have not, and slices have: rustc refuses it, and says what to write.

use super::{Buffer, Shared};
use crate::element::DeviceType;
use std::ops::{Index, IndexMut};

/// What indexes a buffer: nothing, since its data may be elsewhere.
#[diagnostic::on_unimplemented(
    message = "a buffer is not indexed on the host, as its data may be elsewhere",
    label = "read it first",
    note = "write `x.read()?[0]`, `x.get(0)?`, or to change it `x.write()?[0] = ..`; several at once: `let x = x.read()?;`"
)]
pub trait IndexOfBuffer<B> {
    #[doc(hidden)]
    fn never<R>(self) -> R;
}

/// What a slice has, and a buffer has not.
#[diagnostic::on_unimplemented(
    message = "a buffer has no `iter`, as its data may be elsewhere",
    label = "read it first",
    note = "write `x.read()?.iter()`, `x.to_vec()?`, or to change it `for v in &mut x.write()?`"
)]
pub trait Iterated {}

/// What can be copied by `clone`.
#[diagnostic::on_unimplemented(
    message = "a buffer is not cloned",
    label = "one buffer, one owner",
    note = "for several owners of one buffer: `let x = x.share();`, whose handles are cloned; for another buffer with the \
        same data: `q.copy(&x, &mut y)?`, or `rt.buffer_from(x.to_vec()?)?`"
)]
pub trait Cloned {
    #[doc(hidden)]
    fn never<R>(&self) -> R;
}

macro_rules! outside {
    ($($of:ident)*) => {$(
        impl<T: DeviceType, I: IndexOfBuffer<Self>, const D: usize> Index<I> for $of<T, D> {
            type Output = T;
            fn index(&self, index: I) -> &T {
                index.never()
            }
        }

        impl<T: DeviceType, I: IndexOfBuffer<Self>, const D: usize> IndexMut<I> for $of<T, D> {
            fn index_mut(&mut self, index: I) -> &mut T {
                index.never()
            }
        }

        impl<T: DeviceType, const D: usize> $of<T, D> {
            /// There is none: read it first.
            #[doc(hidden)]
            pub fn iter(&self) -> std::slice::Iter<'_, T>
            where
                Self: Iterated,
            {
                [].iter()
            }

            /// There is none: read it first.
            #[doc(hidden)]
            pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T>
            where
                Self: Iterated,
            {
                [].iter_mut()
            }
        }
    )*};
}
outside!(Buffer Shared);

impl<T: DeviceType, const D: usize> Buffer<T, D> {
    /// There is none: [share](Buffer::share) it, or copy it.
    #[doc(hidden)]
    #[allow(clippy::should_implement_trait, reason = "so that its bound is what is missing")]
    pub fn clone(&self) -> Self
    where
        Self: Cloned,
    {
        Cloned::never(self)
    }
}
