//! KRN-02: a scatter by another name has no claims, and is not written.
#![forbid(unsafe_code)]
use folio::prelude::{Buffer, In, Item, Queue, kernel};
use folio::{Racy as Scatter, Scatter as Racy};

#[kernel]
fn unclaimed(i: Item, at: In<u32>, y: Racy<u32>) {
    y[at[i]] = 1;
}

#[kernel]
fn claimed(i: Item, at: In<u32>, y: Scatter<u32>) {
    y[at[i]] = 1;
}

fn passed(q: &Queue, at: &Buffer<u32>, y: &mut Buffer<u32>) {
    q.run(1, claimed(at, y));
}

fn main() {}
