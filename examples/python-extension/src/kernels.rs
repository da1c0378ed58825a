//! The kernels.

use folio::prelude::*;

#[kernel]
pub fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

#[kernel]
pub fn heat(i: Item<2>, rate: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let mut value = x[i];
    if r > 0 && c > 0 && r + 1 < x.shape()[0] && c + 1 < x.shape()[1] {
        let around = x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)];
        value += rate * (around - 4.0 * value);
    }
    y[i] = value;
}
