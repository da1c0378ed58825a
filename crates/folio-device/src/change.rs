//! Places that are read and then written at one index: one name for both, so that where that is not
//! possible rustc says so once.

use super::local::{Array, Once, Writes};
use super::{
    At, Elements, Group, GroupItem, In, InOut, InOutColumn, InOutGroup, InOutRow, Item, Private,
    Racy, Shared, Spot, View,
};

/// Views and arrays whose elements can be changed at an index.
///
/// # Safety
/// An implementation accesses what devices access: memory that the type's entry in the table
/// allows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be changed at an index of type `{I}`",
    label = "cannot be changed here",
    note = "`InOut` is changed at the kernel's own item only, and so is local memory in a phase; `In` is only read, and what begins with `Out` is only written"
)]
pub unsafe trait Change<I>: At<I> {
    /// `I`. Where there is no such type, nothing more is said of what is done with the index.
    type Index;
    /// The index.
    fn same(index: I) -> Self::Index;
}

/// The index of what is read and then written.
#[inline(always)]
pub fn changed<I, V: Elements + Change<I>>(_: &V, index: I) -> V::Index {
    V::same(index)
}

macro_rules! changed {
    ($([$($g:tt)*] $what:ty, $index:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<'i, T: Shared, $($g)*> Change<$index> for $what {
            type Index = $index;
            #[inline(always)]
            fn same(index: $index) -> $index {
                index
            }
        }
    )*};
}
changed! {
    [const D: usize] View<'_, InOut<T, D>, T, D>, Item<'i, D>;
    [const D: usize] View<'_, InOut<T, D>, T, D>, GroupItem<'i, D>;
    [const D: usize] View<'_, InOutGroup<T, D>, T, D>, Group<'i, D>;
    [] View<'_, InOutRow<T>, T, 2>, (Item<'i, 1>, usize);
    [] View<'_, InOutRow<T>, T, 2>, (GroupItem<'i, 1>, usize);
    [] View<'_, InOutColumn<T>, T, 2>, (usize, Item<'i, 1>);
    [] View<'_, InOutColumn<T>, T, 2>, (usize, GroupItem<'i, 1>);
    [const D: usize, I: Spot<D>] View<'_, Racy<T, D>, T, D>, I;
    [const D: usize] Private<'_, T>, GroupItem<'i, D>;
    [const N: usize, const D: usize] Array<'_, Writes, T, N>, GroupItem<'i, D>;
    [const N: usize] Array<'_, Once, T, N>, usize;
    [const N: usize] Array<'_, Once, T, N>, u32;
    [const N: usize] Array<'_, Once, T, N>, i32;
    [const N: usize] [T; N], usize;
    [const N: usize] [T; N], u32;
    [const N: usize] [T; N], i32;
}

// Errors of the implementation are reported at the index.
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const D: usize, I> Change<I> for View<'_, In<T, D>, T, D>
where
    Self: At<I>,
{
    type Index = I;
    #[inline(always)]
    fn same(index: I) -> I {
        index
    }
}
