//! Red and black cells: an item owns every other cell of the last dimension, and reads those
//! between.
//!
//! A cell's colour is the sum of its indices modulo 2. The item at position `(.., k)` owns the cell
//! of its launch's colour among `(.., 2 k)` and `(.., 2 k + 1)`, so no two items own one cell. All
//! cells that a launch writes are of its colour, and an item reads those of the other one besides
//! its own. So no item reads what another one writes.

use super::param::Positions;
use super::verdict::{Seen, note};
use super::view::{read, write};
use super::{At, Change, Item, ParamPtr, Put, RedBlack, Shared, View, ViewParam};
use folio_kernel::source::{Entry, OTHERS_CELL, ViewType};
use folio_kernel::{Access, Owner};

// SAFETY: what a view of this marker may do says its `At` and `Put`; where, `View::new`.
unsafe impl<T: Shared, const COLOUR: usize, const D: usize> ViewParam for RedBlack<T, COLOUR, D> {
    type Element = T;
    type View<'m> = View<'m, RedBlack<T, COLOUR, D>, T, D>;
    fn entry() -> Entry {
        const { assert!(COLOUR < 2, "a cell's colour is 0 or 1") };
        Entry::View(ViewType {
            element: T::describe,
            rank: D as u8,
            access: Access::InOut,
            owner: Owner::Anyone,
            colour: Some(COLOUR as u8),
        })
    }
    #[inline(always)]
    unsafe fn view<'m>(memory: &ParamPtr, number: usize, block: &Positions) -> Self::View<'m> {
        View::new(memory, number, block)
    }
    fn none<'m>() -> Self::View<'m> {
        View::nothing()
    }
}

/// The cell that an item owns.
#[inline(always)]
fn own<const COLOUR: usize, const D: usize>(item: Item<'_, D>) -> [usize; D] {
    let (mut at, mut colour) = (item.at, COLOUR);
    for before in &at[..D - 1] {
        colour = colour.wrapping_add(*before);
    }
    at[D - 1] = at[D - 1].wrapping_mul(2).wrapping_add(colour & 1);
    at
}

#[diagnostic::do_not_recommend]
// SAFETY: the item's own cell.
unsafe impl<T: Shared, const COLOUR: usize, const D: usize> At<Item<'_, D>>
    for View<'_, RedBlack<T, COLOUR, D>, T, D>
{
    #[inline(always)]
    #[track_caller]
    fn at(&self, item: Item<'_, D>) -> T {
        read(self.element(own::<COLOUR, D>(item)))
    }
}
#[diagnostic::do_not_recommend]
// SAFETY: the item's own cell.
unsafe impl<T: Shared, const COLOUR: usize, const D: usize> Put<Item<'_, D>>
    for View<'_, RedBlack<T, COLOUR, D>, T, D>
{
    #[inline(always)]
    #[track_caller]
    fn put(&mut self, item: Item<'_, D>, value: T) {
        write(self.element(own::<COLOUR, D>(item)), value);
    }
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<'i, T: Shared, const COLOUR: usize, const D: usize> Change<Item<'i, D>>
    for View<'_, RedBlack<T, COLOUR, D>, T, D>
{
    type Index = Item<'i, D>;
    #[inline(always)]
    fn same(index: Item<'i, D>) -> Item<'i, D> {
        index
    }
}

impl<T: Shared, const COLOUR: usize, const D: usize> View<'_, RedBlack<T, COLOUR, D>, T, D> {
    /// A cell of the other colour, which no item of the launch writes.
    #[inline(always)]
    #[track_caller]
    fn other(&self, at: [usize; D]) -> T {
        let sum = at.iter().fold(COLOUR, |sum, index| sum.wrapping_add(*index));
        if sum & 1 == 0 {
            note(|| Seen::Assertion(OTHERS_CELL));
            return read(None);
        }
        read(self.element(at))
    }
}

macro_rules! others {
    ($($rank:tt $index:ty, |$at:pat_param| $spot:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<T: Shared, const COLOUR: usize> At<$index>
            for View<'_, RedBlack<T, COLOUR, $rank>, T, $rank>
        {
            #[inline(always)]
            #[track_caller]
            fn at(&self, $at: $index) -> T {
                self.other($spot)
            }
        }
    )*};
}
others! {
    1 usize, |k| [k];
    2 (usize, usize), |(r, c)| [r, c];
    3 (usize, usize, usize), |(z, y, x)| [z, y, x];
}
