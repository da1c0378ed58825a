//! Shapes and positions, as programs write them; and what indexes the host's views of data.

use sealed::Sealed;
use std::ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// A shape or a position: a number for each of `D` dimensions, the slowest first. It is written `n`
/// in one dimension, `[rows, columns]` or `(rows, columns)` in two, and as three numbers in three.
///
/// ```
/// # fn main() -> folio_core::Result<()> {
/// # let rt = folio_core::Runtime::builder().build()?;
/// let grid = rt.buffer_from((&[1, 2, 3, 4, 5, 6], (2, 3)))?;
/// assert_eq!(grid.shape(), [2, 3]);
/// assert_eq!((grid.get([1, 0])?, grid.get((1, 2))?), (4, 6));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no shape or position of {D} dimension(s)",
    label = "expected {D} number(s) of type `usize`",
    note = "write `n` in one dimension, `[rows, columns]` or `(rows, columns)` in two, three numbers in three",
    note = "a part is where it begins and how far it reaches: `x.slice([10], [5])?` for 10 to 15"
)]
pub trait Coords<const D: usize>: Copy + Sealed {
    #[doc(hidden)]
    fn coords(self) -> [usize; D];
}

mod sealed {
    pub trait Sealed {}
}

impl Sealed for usize {}
impl Coords<1> for usize {
    #[inline(always)]
    fn coords(self) -> [usize; 1] {
        [self]
    }
}

impl<const D: usize> Sealed for [usize; D] {}
impl<const D: usize> Coords<D> for [usize; D] {
    #[inline(always)]
    fn coords(self) -> [usize; D] {
        self
    }
}

impl Sealed for (usize, usize) {}
impl Coords<2> for (usize, usize) {
    #[inline(always)]
    fn coords(self) -> [usize; 2] {
        self.into()
    }
}

impl Sealed for (usize, usize, usize) {}
impl Coords<3> for (usize, usize, usize) {
    #[inline(always)]
    fn coords(self) -> [usize; 3] {
        self.into()
    }
}

/// What indexes elements on the host that lie one after the other: a position (see [`Coords`]), or
/// as with slices a number or a range, which count the elements of all rows.
///
/// ```
/// # fn main() -> folio_core::Result<()> {
/// # let rt = folio_core::Runtime::builder().build()?;
/// let mut m = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
/// let mut guard = m.write()?;
/// guard[[0, 2]] = 30;
/// assert_eq!((guard[(0, 2)], guard[2], &guard[3..5]), (30, 30, &[4, 5][..]));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "data in {D} dimension(s) cannot be indexed by `{Self}`",
    label = "no position, number or range",
    note = "write `[row, column]` or `(row, column)` in two dimensions, three numbers in three; a number or a range of `usize` counts elements, row after row"
)]
pub trait ElementIndex<T, const D: usize>: Sealed {
    /// An element, or several.
    type Output: ?Sized;
    #[doc(hidden)]
    #[track_caller]
    fn of(self, elements: &[T], shape: [usize; D]) -> &Self::Output;
    #[doc(hidden)]
    #[track_caller]
    fn of_mut(self, elements: &mut [T], shape: [usize; D]) -> &mut Self::Output;
}

/// Indices of slices.
macro_rules! places {
    ($($index:ty => $output:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, const D: usize> ElementIndex<T, D> for $index {
            type Output = $output;
            #[inline]
            fn of(self, elements: &[T], _: [usize; D]) -> &$output {
                &elements[self]
            }
            #[inline]
            fn of_mut(self, elements: &mut [T], _: [usize; D]) -> &mut $output {
                &mut elements[self]
            }
        }
    )*};
}
places! {
    usize => T;
    Range<usize> => [T];
    RangeInclusive<usize> => [T];
    RangeFrom<usize> => [T];
    RangeTo<usize> => [T];
    RangeToInclusive<usize> => [T];
    RangeFull => [T];
    (Bound<usize>, Bound<usize>) => [T];
}

/// Positions.
macro_rules! positions {
    ($([$($g:tt)*] $position:ty, $rank:tt;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, $($g)*> ElementIndex<T, $rank> for $position {
            type Output = T;
            #[inline]
            fn of(self, elements: &[T], shape: [usize; $rank]) -> &T {
                let (row, column) = row_and_column(self.coords(), shape);
                &elements[row * shape[$rank - 1] + column]
            }
            #[inline]
            fn of_mut(self, elements: &mut [T], shape: [usize; $rank]) -> &mut T {
                let (row, column) = row_and_column(self.coords(), shape);
                &mut elements[row * shape[$rank - 1] + column]
            }
        }
    )*};
}
positions! {
    [const D: usize] [usize; D], D;
    [] (usize, usize), 2;
    [] (usize, usize, usize), 3;
}

macro_rules! sealed {
    ($($range:ty),*) => { $(impl Sealed for $range {})* };
}
sealed!(Range<usize>, RangeInclusive<usize>, RangeFrom<usize>, RangeTo<usize>);
sealed!(RangeToInclusive<usize>, RangeFull, (Bound<usize>, Bound<usize>));

/// The row that a position is in, counted through all slices, and its place there. Panics, as
/// slices do, if it is outside.
#[inline]
#[track_caller]
pub(crate) fn row_and_column<const D: usize>(at: [usize; D], shape: [usize; D]) -> (usize, usize) {
    if (0..D).any(|dim| at[dim] >= shape[dim]) {
        outside(at, shape);
    }
    let row = (0..D - 1).fold(0, |row, dim| row * shape[dim] + at[dim]);
    (row, at[D - 1])
}

#[cold]
#[inline(never)]
#[track_caller]
#[expect(clippy::panic, reason = "as slices do")]
fn outside<const D: usize>(at: [usize; D], shape: [usize; D]) -> ! {
    panic!("position {at:?} is outside of a shape of {shape:?}")
}
