//! KRN-06: a function without `#[device_fn]` is the host's.
use folio::prelude::*;

fn of_the_host(x: f32) -> f32 {
    x
}

#[kernel]
fn calls(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = of_the_host(x[i]);
}

fn main() {}
