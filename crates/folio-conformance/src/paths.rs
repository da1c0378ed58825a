//! For a test: a path of this crate that another has, too.

/// An index.
pub const FIRST: usize = 0;

/// A kernel with the index of this crate, and then another.
#[doc(hidden)]
#[macro_export]
macro_rules! indexed_twice {
    ($other:path) => {
        #[folio::kernel]
        fn indexed_twice(i: Item, x: In<f32>, y: Out<f32>) {
            y[i] = x[$crate::paths::FIRST] + x[$other];
        }
    };
}
