//! Elements of guards by their positions, and shapes.

use super::{ReadGuard, ReadRows, WriteGuard, WriteRows};
use crate::coords::{Coords, ElementIndex, row_and_column};
use crate::element::DeviceType;
use std::ops::{Index, IndexMut};

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
