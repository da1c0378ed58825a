//! Elements of views by their positions, and shapes.

use super::{ClosureIn, ClosureInOut, ClosureItem, ClosureOut, HostRead, HostWrite};
use crate::coords::{Coords, ElementIndex, row_and_column};
use crate::element::DeviceType;
use std::ops::{Index, IndexMut};

macro_rules! shapes {
    ($($view:ident)*) => {$(
        impl<T: DeviceType, const D: usize> $view<'_, T, D> {
            /// The shape of the access.
            pub fn shape(&self) -> [usize; D] {
                std::array::from_fn(|dim| self.raw.extent[3 - D + dim])
            }
        }
    )*};
}
shapes! { ClosureIn ClosureOut ClosureInOut HostRead HostWrite }

impl ClosureItem<'_, 2> {
    /// Its position in the launch range.
    pub fn pos(self) -> (usize, usize) {
        self.position().into()
    }
}

impl ClosureItem<'_, 3> {
    /// Its position in the launch range.
    pub fn pos(self) -> (usize, usize, usize) {
        self.position().into()
    }
}

macro_rules! tuples {
    ($($position:ty, $rank:literal;)*) => {$(
        impl<T: DeviceType> Index<$position> for ClosureIn<'_, T, $rank> {
            type Output = T;
            #[inline(always)]
            #[track_caller]
            fn index(&self, at: $position) -> &T {
                &self[at.coords()]
            }
        }
    )*};
}
tuples! {
    (usize, usize), 2;
    (usize, usize, usize), 3;
}

/// Views of host tasks that are slices.
macro_rules! slices {
    ($($view:ident)*) => {$(
        impl<T: DeviceType> AsRef<[T]> for $view<'_, T, 1> {
            fn as_ref(&self) -> &[T] {
                self
            }
        }

        impl<T: DeviceType, P: ElementIndex<T, 1>> Index<P> for $view<'_, T, 1> {
            type Output = P::Output;
            #[track_caller]
            fn index(&self, at: P) -> &P::Output {
                at.of(self, self.shape())
            }
        }
    )*};
}
slices! { HostRead HostWrite }

impl<T: DeviceType> AsMut<[T]> for HostWrite<'_, T, 1> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: DeviceType, P: ElementIndex<T, 1>> IndexMut<P> for HostWrite<'_, T, 1> {
    #[track_caller]
    fn index_mut(&mut self, at: P) -> &mut P::Output {
        let shape = self.shape();
        at.of_mut(self, shape)
    }
}

/// Those that are rows.
macro_rules! rows {
    ($($view:ident, $rank:literal;)*) => {$(
        impl<T: DeviceType, P: Coords<$rank>> Index<P> for $view<'_, T, $rank> {
            type Output = T;
            #[track_caller]
            fn index(&self, at: P) -> &T {
                let (row, column) = row_and_column(at.coords(), self.shape());
                &self.row(row).unwrap_or_default()[column]
            }
        }
    )*};
}
rows! {
    HostRead, 2;
    HostRead, 3;
    HostWrite, 2;
    HostWrite, 3;
}

macro_rules! written_rows {
    ($($rank:literal)*) => {$(
        impl<T: DeviceType, P: Coords<$rank>> IndexMut<P> for HostWrite<'_, T, $rank> {
            #[track_caller]
            fn index_mut(&mut self, at: P) -> &mut T {
                let (row, column) = row_and_column(at.coords(), self.shape());
                &mut self.row_mut(row).unwrap_or_default()[column]
            }
        }
    )*};
}
written_rows! { 2 3 }
