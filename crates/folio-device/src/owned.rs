//! Accesses of views by those who own their elements: items of groups, rows, chunks, groups; and of
//! those that all items may touch.

use super::atomic::{Atom, Atoms};
use super::view::{read, write};
use super::{
    At, Atomic, Group, GroupItem, In, InOut, InOutColumn, InOutGroup, InOutRow, Item, Out,
    OutChunk, OutColumn, OutGroup, OutRow, Put, PutField, Racy, Shared, Spot, View,
};

macro_rules! access {
    ($($trait:ident [$($g:tt)*] $name:ty, $element:ty, $rank:tt, $index:ty,
        |$view:ident, $at:pat_param| $place:expr;)*) => {$(
        access! { @ $trait [$($g)*] $name, $element, $rank, $index, $view, $at, $place }
    )*};
    (@ At [$($g:tt)*] $name:ty, $element:ty, $rank:tt, $index:ty, $view:ident, $at:pat_param,
        $place:expr) => {
        #[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<T: Shared, $($g)*> At<$index> for View<'_, $name, $element, $rank> {
            #[inline(always)]
            #[track_caller]
            fn at(&self, $at: $index) -> $element {
                let $view = self;
                read($place)
            }
        }
    };
    (@ Put [$($g:tt)*] $name:ty, $element:ty, $rank:tt, $index:ty, $view:ident, $at:pat_param,
        $place:expr) => {
        #[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<T: Shared, $($g)*> Put<$index> for View<'_, $name, $element, $rank> {
            #[inline(always)]
            #[track_caller]
            fn put(&mut self, $at: $index, value: $element) {
                let $view = self;
                write($place, value);
            }
        }
    };
}
access! {
    Put [const D: usize] OutGroup<T, D>, T, D, Group<'_, D>, |view, group| view.element(group.at());

    At [const D: usize] InOutGroup<T, D>, T, D, Group<'_, D>, |view, group| view.element(group.at());
    Put [const D: usize] InOutGroup<T, D>, T, D, Group<'_, D>, |view, group| view.element(group.at());

    At [] In<T, 2>, T, 2, (Item<'_, 1>, usize), |view, at| view.element(at.spot());
    At [] In<T, 2>, T, 2, (GroupItem<'_, 1>, usize), |view, at| view.element(at.spot());
    At [] InOutRow<T>, T, 2, (Item<'_, 1>, usize), |view, at| view.element(at.spot());
    At [] InOutRow<T>, T, 2, (GroupItem<'_, 1>, usize), |view, at| view.element(at.spot());
    Put [] InOutRow<T>, T, 2, (Item<'_, 1>, usize), |view, at| view.element(at.spot());
    Put [] InOutRow<T>, T, 2, (GroupItem<'_, 1>, usize), |view, at| view.element(at.spot());
    Put [] OutRow<T>, T, 2, (Item<'_, 1>, usize), |view, at| view.element(at.spot());
    Put [] OutRow<T>, T, 2, (GroupItem<'_, 1>, usize), |view, at| view.element(at.spot());
    At [] In<T, 2>, T, 2, (usize, Item<'_, 1>), |view, at| view.element(at.spot());
    At [] In<T, 2>, T, 2, (usize, GroupItem<'_, 1>), |view, at| view.element(at.spot());
    At [] InOutColumn<T>, T, 2, (usize, Item<'_, 1>), |view, at| view.element(at.spot());
    At [] InOutColumn<T>, T, 2, (usize, GroupItem<'_, 1>), |view, at| view.element(at.spot());
    Put [] InOutColumn<T>, T, 2, (usize, Item<'_, 1>), |view, at| view.element(at.spot());
    Put [] InOutColumn<T>, T, 2, (usize, GroupItem<'_, 1>), |view, at| view.element(at.spot());
    Put [] OutColumn<T>, T, 2, (usize, Item<'_, 1>), |view, at| view.element(at.spot());
    Put [] OutColumn<T>, T, 2, (usize, GroupItem<'_, 1>), |view, at| view.element(at.spot());

    Put [const N: usize, const D: usize] OutChunk<T, N, D>, [T; N], D, Item<'_, D>,
        |view, item| view.own(item);
    Put [const N: usize, const D: usize] OutChunk<T, N, D>, [T; N], D, GroupItem<'_, D>,
        |view, item| view.own(item.item());
}

// An item of a group has the same elements as an item.
macro_rules! as_items {
    ($(At $at:ident;)* $(Put $put:ident;)*) => {
        $(#[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<T: Shared, const D: usize> At<GroupItem<'_, D>> for View<'_, $at<T, D>, T, D> {
            #[inline(always)]
            #[track_caller]
            fn at(&self, item: GroupItem<'_, D>) -> T {
                At::at(self, item.item())
            }
            #[inline(always)]
            unsafe fn at_proved(&self, item: GroupItem<'_, D>) -> T {
                // SAFETY: the caller's promise.
                unsafe { At::at_proved(self, item.item()) }
            }
        })*
        $(#[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<T: Shared, const D: usize> Put<GroupItem<'_, D>> for View<'_, $put<T, D>, T, D> {
            #[inline(always)]
            #[track_caller]
            fn put(&mut self, item: GroupItem<'_, D>, value: T) {
                Put::put(self, item.item(), value);
            }
            #[inline(always)]
            unsafe fn put_proved(&mut self, item: GroupItem<'_, D>, value: T) {
                // SAFETY: the caller's promise.
                unsafe { Put::put_proved(self, item.item(), value) };
            }
        })*
    };
}
as_items! { At In; At InOut; Put InOut; Put Out; }

#[diagnostic::do_not_recommend]
// SAFETY: the item's own element.
unsafe impl<T: Shared, const D: usize> PutField<GroupItem<'_, D>> for View<'_, Out<T, D>, T, D> {
    #[inline(always)]
    #[track_caller]
    fn place(&self, item: GroupItem<'_, D>) -> Option<*mut T> {
        PutField::place(self, item.item())
    }
    #[inline(always)]
    fn place_proved(&self, item: GroupItem<'_, D>) -> *mut T {
        PutField::place_proved(self, item.item())
    }
}

/// Views whose elements have slots. The trait does not depend on the index, so that at a wrong one
/// that alone is reported.
///
/// # Safety
/// An implementation accesses what devices access: memory that the type's entry in the table
/// allows.
pub unsafe trait Slots {
    /// Type of a slot.
    type Slot: Shared;
}

// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const N: usize, const D: usize> Slots
    for View<'_, OutChunk<T, N, D>, [T; N], D>
{
    type Slot = T;
}

/// Views that are written slot by slot.
///
/// # Safety
/// An implementation accesses what devices access: memory that the type's entry in the table
/// allows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not written in parts at an index of type `{I}`",
    label = "not an item's own chunk",
    note = "`OutChunk` is written at the item: `out[i] = [..]` or `out[i][k] = ..`"
)]
pub unsafe trait PutSlot<I>: Slots {
    /// Replaces one slot of the own element.
    #[track_caller]
    fn put_slot(&mut self, index: I, slot: usize, value: Self::Slot);
}

impl<T: Shared, const N: usize, const D: usize> View<'_, OutChunk<T, N, D>, [T; N], D> {
    #[inline(always)]
    #[track_caller]
    fn slot(&self, item: Item<'_, D>, slot: usize, value: T) {
        if slot >= N {
            return super::view::outside(None, [slot], [N]);
        }
        // Within the element, or null.
        let chunk = self.own(item).map(|chunk| chunk.cast::<T>().wrapping_add(slot));
        write(chunk, value);
    }
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const N: usize, const D: usize> PutSlot<Item<'_, D>>
    for View<'_, OutChunk<T, N, D>, [T; N], D>
{
    #[inline(always)]
    #[track_caller]
    fn put_slot(&mut self, item: Item<'_, D>, slot: usize, value: T) {
        self.slot(item, slot, value);
    }
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const N: usize, const D: usize> PutSlot<GroupItem<'_, D>>
    for View<'_, OutChunk<T, N, D>, [T; N], D>
{
    #[inline(always)]
    #[track_caller]
    fn put_slot(&mut self, item: GroupItem<'_, D>, slot: usize, value: T) {
        self.slot(item.item(), slot, value);
    }
}

// SAFETY: in bounds of live memory, and aligned, as its buffer is; a kernel has atomic operations
// only for it, and no other code uses it meanwhile (`ViewParam::view`).
#[diagnostic::do_not_recommend]
unsafe impl<T: Atom, const D: usize, I: Spot<D>> Atoms<I> for View<'_, Atomic<T, D>, T, D> {
    #[inline(always)]
    #[track_caller]
    fn element(&self, at: I) -> Option<*mut T> {
        View::element(self, at.spot())
    }
    #[inline(always)]
    fn are_alone(&self) -> bool {
        self.alone
    }
}

// Of `Racy`, freedom from races is the promise of who passed it.
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const D: usize, I: Spot<D>> At<I> for View<'_, Racy<T, D>, T, D> {
    #[inline(always)]
    #[track_caller]
    fn at(&self, index: I) -> T {
        read(self.element(index.spot()))
    }
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const D: usize, I: Spot<D>> Put<I> for View<'_, Racy<T, D>, T, D> {
    #[inline(always)]
    #[track_caller]
    fn put(&mut self, index: I, value: T) {
        write(self.element(index.spot()), value);
    }
}
