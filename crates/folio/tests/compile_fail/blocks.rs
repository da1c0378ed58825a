//! KRN-02: the threads of a block are a hint of kernels of items, for each dimension, and not zero.
#![forbid(unsafe_code)]
use folio::prelude::*;

#[kernel(block = 0)]
fn of_nothing(i: Item, y: Out<u32>) {
    y[i] = 1;
}

#[kernel(block = 64)]
fn of_a_plane(i: Item<2>, y: Out<u32, 2>) {
    y[i] = 1;
}

#[kernel(block = 64)]
fn of_groups(g: Group, y: Out<u32>) {
    g.each(|i| y[i] = 1);
}

#[device_fn(block = 64)]
fn of_a_function(x: u32) -> u32 {
    x
}

fn main() {}
