//! KRN-06: what users write is in no unsafe code of the macro, strips of items included.
use folio::prelude::*;

static mut CHANGES: usize = 0;

#[kernel]
fn of_items(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[CHANGES];
}

#[kernel]
fn of_strips(i: Item, n: usize, x: In<f32>, y: Out<f32>) {
    let mut sum = 0.0;
    for k in 0..n {
        sum += x[k + CHANGES];
    }
    y[i] = sum;
}

#[kernel]
fn of_groups(g: Group, x: In<f32>, y: Out<f32>) {
    g.each(|i| y[i] = x[CHANGES]);
}

fn main() {}
