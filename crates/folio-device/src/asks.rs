//! The questions that kernels ask items, groups and views. Each question is a function, and not a
//! method: one that a trait of the user's adds under the same name would answer in the Rust form
//! alone. For the same reason the traits are `unsafe`: an answer of a type of the user's would be
//! another one than the ends say by which indices are proved.

use super::{Array, Group, GroupItem, Item, Shared, View};

macro_rules! questions {
    ($($trait:ident $name:ident, $text:literal, $message:literal;)*) => {$(
        #[doc = concat!("What has ", $text, ".")]
        ///
        /// # Safety
        /// The answer is that of the type's own method of this name.
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "cannot be asked for this"
        )]
        pub unsafe trait $trait<A> {
            #[doc = concat!("Gives ", $text, ".")]
            fn $name(self) -> A;
        }

        #[doc = concat!("Gives ", $text, ".")]
        #[inline(always)]
        pub fn $name<A, T: $trait<A>>(of: T) -> A {
            of.$name()
        }
    )*};
}
questions! {
    Index index, "a position in one dimension", "`{Self}` has no `index` in a kernel";
    Pos pos, "a position in several dimensions", "`{Self}` has no `pos` in a kernel";
    LocalIndex local_index, "a number in a group", "`{Self}` has no `local_index` in a kernel";
    LocalPos local_pos, "a position in a group", "`{Self}` has no `local_pos` in a kernel";
    Size size, "a number of items in each dimension", "`{Self}` has no `size` in a kernel";
    Count count, "a number of groups in each dimension", "`{Self}` has no `count` in a kernel";
    SubgroupSize subgroup_size, "sub-groups of a size", "`{Self}` has no `subgroup_size` in a kernel";
    SubgroupIndex subgroup_index, "a sub-group of a number", "`{Self}` has no `subgroup_index` in a kernel";
    SubgroupLane subgroup_lane, "a number in a sub-group", "`{Self}` has no `subgroup_lane` in a kernel";
    Len len, "a number of elements", "`{Self}` has no `len` in a kernel";
    Shape shape, "an extent in each dimension", "`{Self}` has no `shape` in a kernel";
}

/// The answers, by the methods of these types.
macro_rules! answers {
    ($([$($g:tt)*] $of:ty, $trait:ident $name:ident -> $answer:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it is the type's own method.
        unsafe impl<$($g)*> $trait<$answer> for $of {
            #[inline(always)]
            fn $name(self) -> $answer {
                <$of>::$name(self)
            }
        }
    )*};
}
answers! {
    [] Item<'_, 1>, Index index -> usize;
    [] Item<'_, 2>, Pos pos -> (usize, usize);
    [] Item<'_, 3>, Pos pos -> (usize, usize, usize);
    [] Group<'_, 1>, Index index -> usize;
    [] Group<'_, 2>, Pos pos -> (usize, usize);
    [] Group<'_, 3>, Pos pos -> (usize, usize, usize);
    [const D: usize] Group<'_, D>, Size size -> [usize; D];
    [const D: usize] Group<'_, D>, Count count -> [usize; D];
    [const D: usize] Group<'_, D>, SubgroupSize subgroup_size -> usize;
    [] GroupItem<'_, 1>, Index index -> usize;
    [] GroupItem<'_, 2>, Pos pos -> (usize, usize);
    [] GroupItem<'_, 3>, Pos pos -> (usize, usize, usize);
    [] GroupItem<'_, 2>, LocalPos local_pos -> (usize, usize);
    [] GroupItem<'_, 3>, LocalPos local_pos -> (usize, usize, usize);
    [const D: usize] GroupItem<'_, D>, LocalIndex local_index -> usize;
    [const D: usize] GroupItem<'_, D>, SubgroupSize subgroup_size -> usize;
    [const D: usize] GroupItem<'_, D>, SubgroupIndex subgroup_index -> usize;
    [const D: usize] GroupItem<'_, D>, SubgroupLane subgroup_lane -> usize;
    [P, T: Shared] View<'_, P, T, 1>, Len len -> usize;
    [P, T: Shared, const D: usize] View<'_, P, T, D>, Shape shape -> [usize; D];
    [P, T: Shared, const N: usize] Array<'_, P, T, N>, Len len -> usize;
}

#[diagnostic::do_not_recommend]
// SAFETY: it is the number of elements that the type has.
unsafe impl<T: Shared, const N: usize> Len<usize> for [T; N] {
    #[inline(always)]
    fn len(self) -> usize {
        N
    }
}
