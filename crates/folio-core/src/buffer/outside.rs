//! What buffers have not, and slices have: rustc refuses it, and says what to write.

use super::{Buffer, Shared};
use crate::element::DeviceType;
use crate::group::{Read, ReadWrite, Write};
use std::ops::{Add, Div, Index, IndexMut, Mul, Sub};

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
    message = "a buffer is no slice, as its data may be elsewhere",
    label = "read or write it first",
    note = "write `x.read()?.iter()`, `x.to_vec()?`, or to change it `for v in &mut x.write()?`, \
        `x.discard()?.copy_from_slice(&v)`",
    note = "a sum or a maximum on the device is a `Reduce` of a kernel, or in `folio::algorithms`"
)]
pub trait IsSlice {}

/// What is computed with a buffer as a whole: nothing.
#[diagnostic::on_unimplemented(
    message = "buffers are computed with in kernels, not as a whole",
    label = "no operator of buffers",
    note = "write a kernel, `#[kernel] fn add(i: Item, x: In<f32>, y: In<f32>, z: Out<f32>) {{ z[i] = x[i] + y[i]; }}`, and run \
        it: `q.run(z.range(), add(&x, &y, &mut z))?`"
)]
pub trait Operand<B> {
    #[doc(hidden)]
    fn never<R>(self) -> R;
}

/// What can be copied by `clone`.
#[diagnostic::on_unimplemented(
    message = "a buffer is not cloned",
    label = "one buffer, one owner",
    note = "for several owners of one buffer: `let x = x.into_shared();`, whose handles are cloned; for another buffer with the \
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
                Self: IsSlice,
            {
                [].iter()
            }

            /// There is none: read it first.
            #[doc(hidden)]
            pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T>
            where
                Self: IsSlice,
            {
                [].iter_mut()
            }

            /// There is none: a kernel with a `Reduce` sums.
            #[doc(hidden)]
            pub fn sum<S: Default>(&self) -> S
            where
                Self: IsSlice,
            {
                S::default()
            }

            /// There is none: write it first.
            #[doc(hidden)]
            pub fn copy_from_slice(&mut self, _: &[T])
            where
                Self: IsSlice,
            {
            }
        }

        outside!(@ $of: Add add, Sub sub, Mul mul, Div div);
    )*};
    (@ $of:ident: $($operator:ident $function:ident),*) => {$(
        impl<T: DeviceType, B: Operand<Self>, const D: usize> $operator<B> for &$of<T, D> {
            type Output = $of<T, D>;
            fn $function(self, b: B) -> $of<T, D> {
                b.never()
            }
        }

        impl<T: DeviceType, B: Operand<Self>, const D: usize> $operator<B> for $of<T, D> {
            type Output = $of<T, D>;
            fn $function(self, b: B) -> $of<T, D> {
                b.never()
            }
        }
    )*};
}
outside!(Buffer Shared);

impl<T: DeviceType, const D: usize> Buffer<T, D> {
    /// There is none: make it shared by [`into_shared`](Buffer::into_shared), or copy it.
    #[doc(hidden)]
    #[allow(clippy::should_implement_trait, reason = "so that its bound is what is missing")]
    pub fn clone(&self) -> Self
    where
        Self: Cloned,
    {
        Cloned::never(self)
    }
}

/// What indexes an access of a command group: nothing, since the command has not run.
#[diagnostic::on_unimplemented(
    message = "an access of a command group has no elements",
    label = "index the view of it",
    note = "the action is given a view of each access: `cg.host_kernel([n], (x, y), |i, (x, mut y)| y[i] = x[i])`",
    note = "a kernel needs no accesses: `q.run(n, f(&x, &mut y))?`, where `f` is a function with `#[kernel]`"
)]
pub trait IndexOfAccess<A> {
    #[doc(hidden)]
    fn never<R>(self) -> R;
}

macro_rules! access {
    ($($of:ident)*) => {$(
        impl<T, I: IndexOfAccess<Self>, const D: usize> Index<I> for $of<T, D> {
            type Output = T;
            fn index(&self, index: I) -> &T {
                index.never()
            }
        }

        impl<T, I: IndexOfAccess<Self>, const D: usize> IndexMut<I> for $of<T, D> {
            fn index_mut(&mut self, index: I) -> &mut T {
                index.never()
            }
        }
    )*};
}
access!(Read ReadWrite Write);
