//! Elements of guards by their positions, and shapes.

use super::{ReadGuard, ReadRows, WriteGuard, WriteRows, slice_of};
use crate::coords::{Coords, ElementIndex, row_and_column};
use crate::element::DeviceType;
use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, Index, IndexMut};

/// Guards that are slices.
macro_rules! slices {
    ($($guard:ident)*) => {$(
        impl<T: DeviceType, const D: usize> $guard<T, D> {
            /// The shape of the part.
            pub fn shape(&self) -> [usize; D] {
                self.held.shape()
            }
        }

        impl<T: DeviceType, const D: usize> AsRef<[T]> for $guard<T, D> {
            fn as_ref(&self) -> &[T] {
                self
            }
        }

        impl<T: DeviceType, P: ElementIndex<T, D>, const D: usize> Index<P> for $guard<T, D> {
            type Output = P::Output;
            #[inline]
            #[track_caller]
            fn index(&self, at: P) -> &P::Output {
                at.of(self, self.shape())
            }
        }

        impl<T: DeviceType, const D: usize> Deref for $guard<T, D> {
            type Target = [T];
            fn deref(&self) -> &[T] {
                let (start, len) = self.held.run();
                // SAFETY: as in `ReadRows::row`.
                unsafe { slice_of(&self.held, start, len) }
            }
        }

        impl<T: DeviceType + Debug, const D: usize> Debug for $guard<T, D> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.iter()).finish()
            }
        }

        impl<'g, T: DeviceType, const D: usize> IntoIterator for &'g $guard<T, D> {
            type Item = &'g T;
            type IntoIter = std::slice::Iter<'g, T>;
            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }
    )*};
}
slices! { ReadGuard WriteGuard }

impl<T: DeviceType, const D: usize> AsMut<[T]> for WriteGuard<T, D> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: DeviceType, P: ElementIndex<T, D>, const D: usize> IndexMut<P> for WriteGuard<T, D> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, at: P) -> &mut P::Output {
        let shape = self.shape();
        at.of_mut(self, shape)
    }
}

/// Guards that are rows.
macro_rules! rows {
    ($($guard:ident)*) => {$(
        impl<T: DeviceType, const D: usize> $guard<T, D> {
            /// The shape of the part.
            pub fn shape(&self) -> [usize; D] {
                self.0.held.shape()
            }
        }

        impl<T: DeviceType, P: Coords<D>, const D: usize> Index<P> for $guard<T, D> {
            type Output = T;
            #[inline]
            #[track_caller]
            fn index(&self, at: P) -> &T {
                let (row, column) = row_and_column(at.coords(), self.shape());
                &self.row(row).unwrap_or_default()[column]
            }
        }
    )*};
}
rows! { ReadRows WriteRows }

impl<T: DeviceType, P: Coords<D>, const D: usize> IndexMut<P> for WriteRows<T, D> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, at: P) -> &mut T {
        let (row, column) = row_and_column(at.coords(), self.shape());
        &mut self.row_mut(row).unwrap_or_default()[column]
    }
}
