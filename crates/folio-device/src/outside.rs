//! Views outside of kernels, where they have no elements: rustc refuses the index, and says why.

use super::{
    Atomic, In, InOut, InOutColumn, InOutGroup, InOutRow, Out, OutChunk, OutColumn, OutGroup,
    OutRow, Racy, RedBlack, Scatter, ScatterLast,
};
use std::ops::{Index, IndexMut};

/// Indices of a view of type `V` outside of a kernel: none.
#[diagnostic::on_unimplemented(
    message = "a view is indexed in kernels only, and this function is none",
    label = "no `#[kernel]`",
    note = "write `#[kernel]` above the function, or `#[device_fn]` if kernels are to call it"
)]
pub trait IndexOutside<V> {
    /// Gives whatever is asked for, which nothing can: there is no such index.
    fn never<R>(self) -> R;
}

macro_rules! outside {
    ($([$($g:tt)*] $name:ty;)*) => {$(
        impl<T, I: IndexOutside<Self>, $($g)*> Index<I> for $name {
            type Output = T;
            fn index(&self, index: I) -> &T {
                index.never()
            }
        }

        impl<T, I: IndexOutside<Self>, $($g)*> IndexMut<I> for $name {
            fn index_mut(&mut self, index: I) -> &mut T {
                index.never()
            }
        }
    )*};
}
outside! {
    [const D: usize] In<T, D>;
    [const D: usize] Out<T, D>;
    [const D: usize] InOut<T, D>;
    [] OutRow<T>;
    [] InOutRow<T>;
    [] OutColumn<T>;
    [] InOutColumn<T>;
    [const N: usize, const D: usize] OutChunk<T, N, D>;
    [const D: usize] OutGroup<T, D>;
    [const D: usize] InOutGroup<T, D>;
    [const D: usize] Atomic<T, D>;
    [const D: usize] Racy<T, D>;
    [const COLOUR: usize, const D: usize] RedBlack<T, COLOUR, D>;
    [const D: usize] Scatter<T, D>;
    [const D: usize] ScatterLast<T, D>;
}
