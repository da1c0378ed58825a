//! Structs of arrays: what `derive(Columns)` of `folio` implements.

use crate::error::{Error, Label, Result};
use crate::runtime::Runtime;
use std::marker::PhantomData;

/// A struct whose values are kept as columns, a buffer for each field. It is derived.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no columns",
    note = "write `#[derive(Columns)]` on the struct"
)]
pub trait Columns: Sized {
    /// The buffers, by the names of the fields.
    type Buffers;

    /// Columns of so many zeros.
    fn empty(rt: &Runtime, len: usize) -> Result<Self::Buffers>;

    /// The columns of these values.
    fn of_rows(rt: &Runtime, rows: &[Self]) -> Result<Self::Buffers>;

    /// The values, as [`Buffer::to_vec`](crate::Buffer::to_vec) gives them. Columns of different
    /// lengths are [`Error::Mismatch`].
    fn rows(of: &Self::Buffers) -> Result<Vec<Self>>;

    /// An item for each value.
    fn range(of: &Self::Buffers) -> [usize; 1];
}

/// The number of values of columns, of which each has so many elements. For the derive: fields of
/// [`Columns::Buffers`] are the program's, which may exchange one.
#[doc(hidden)]
pub fn length_of_columns(columns: &[usize]) -> Result<usize> {
    let first = columns.first().copied().unwrap_or(0);
    match columns.iter().find(|len| **len != first) {
        None => Ok(first),
        Some(other) => Err(Error::Mismatch {
            what: "columns",
            label: Label::NONE,
            source_extent: vec![first],
            target: vec![*other],
            needed: None,
        }),
    }
}

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<T>(PhantomData<T>);
    )*};
}
parameters! {
    /// A kernel's parameter: the [`Columns`] of a struct, each an [`In`](crate::In).
    InColumns;
    /// A kernel's parameter: the [`Columns`] of a struct, each an [`Out`](crate::Out).
    OutColumns;
    /// A kernel's parameter: the [`Columns`] of a struct, each an [`InOut`](crate::InOut).
    InOutColumns;
}
