//! KRN-06: a value of another type is one error, which suggests a cast of that value.

use folio::prelude::*;

#[kernel]
fn element(i: Item, x: In<u32>, y: Out<f32>) {
    y[i] = x[i];
}

#[kernel]
fn neighbour(i: Item, x: In<u32>, y: Out<f32>) {
    y[i] = x[i + 1];
}

#[kernel]
fn variable(i: Item, x: In<u32>, y: Out<f32>) {
    let v: f32 = x[i];
    y[i] = v + 1.0;
}

#[kernel]
fn gathered(i: Item, at: In<u32>, x: In<u32>, y: Out<f32>) {
    y[i] = x[at[i]];
}

fn main() {}
