//! KRN-02: a scatter by another name has no claims, and is not written.
#![forbid(unsafe_code)]
use folio::prelude::{In, Item, kernel};
use folio::{Racy as Scatter, Scatter as Racy};

#[kernel]
fn unclaimed(i: Item, at: In<u32>, y: Racy<u32>) {
    y[at[i]] = 1;
}

#[kernel]
fn claimed(i: Item, at: In<u32>, y: Scatter<u32>) {
    y[at[i]] = 1;
}

fn main() {}
