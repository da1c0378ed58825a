//! KRN-03: a program's own crate named `core` changes nothing of what the macros write.
#![forbid(unsafe_code)]

extern crate self as core;

use folio::prelude::*;

/// The module that loops would run over if the macros believed this crate.
pub mod iter {
    #[allow(non_snake_case, reason = "named like the trait")]
    /// Not the trait.
    pub mod Iterator {
        /// Another range.
        pub fn rev<R>(_: R) -> std::ops::Range<usize> {
            60..61
        }
    }
}

#[kernel]
fn sums(i: Item, n: usize, x: In<u64>, y: Out<u64>) {
    let mut sum = 0;
    for k in (0..n).rev() {
        sum += x[k];
    }
    y[i] = sum;
}

#[test]
fn a_programs_own_core_is_not_the_macros() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let x = rt.buffer_from(vec![1u64, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let mut y = rt.buffer::<u64, 1>(1).unwrap();
    q.run(1, sums(8, &x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [36]);
}
