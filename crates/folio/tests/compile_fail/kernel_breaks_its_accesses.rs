//! KRN-02: a kernel does what its parameters' types allow.
use folio::prelude::*;

#[kernel]
fn writes_in(i: Item, x: In<f32>) {
    x[i] = 1.0;
}

#[kernel]
fn reads_out(i: Item, y: Out<f32>) {
    y[i] = y[i] + 1.0;
}

#[kernel]
fn writes_elsewhere(i: Item, y: InOut<f32>) {
    y[i + 1] = 1.0;
}

#[kernel]
fn in_another_rank(i: Item<2>, y: InOut<f32>) {
    y[i] = 1.0;
}

fn main() {}
