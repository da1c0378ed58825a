//! The names of an element: numbers, tuples of them, items.

use super::{GroupItem, Item};

/// A name of an element of `D` dimensions.
///
/// # Safety
/// An implementation accesses what devices access: memory that the type's entry in the table
/// allows.
#[diagnostic::on_unimplemented(
    message = "an index of type `{Self}` names no element in {D} dimension(s)",
    label = "no index of {D} dimension(s)",
    note = "an index is a number (1D), a tuple of `usize` (2D, 3D), or the item"
)]
pub unsafe trait Spot<const D: usize>: Copy {
    /// The index in each dimension.
    fn spot(self) -> [usize; D];
}

macro_rules! spots {
    ($([$($g:tt)*] $index:ty, $rank:tt, |$at:pat_param| $spot:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<$($g)*> Spot<$rank> for $index {
            #[inline(always)]
            fn spot(self) -> [usize; $rank] {
                let $at = self;
                $spot
            }
        }
    )*};
}
spots! {
    [] usize, 1, |k| [k];
    [] u32, 1, |k| [k as usize];
    [] i32, 1, |k| [k as usize];
    [const D: usize] [usize; D], D, |at| at;
    [] (usize, usize), 2, |(r, c)| [r, c];
    [] (usize, usize, usize), 3, |(z, y, x)| [z, y, x];
    [const D: usize] Item<'_, D>, D, |item| item.at;
    [const D: usize] GroupItem<'_, D>, D, |item| item.item().at;
    [] (Item<'_, 1>, usize), 2, |(row, c)| [row.at[0], c];
    [] (GroupItem<'_, 1>, usize), 2, |(row, c)| [row.item().at[0], c];
    [] (usize, Item<'_, 1>), 2, |(r, column)| [r, column.at[0]];
    [] (usize, GroupItem<'_, 1>), 2, |(r, column)| [r, column.item().at[0]];
}
