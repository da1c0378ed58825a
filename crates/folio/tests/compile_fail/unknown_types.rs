//! KRN-01: a type that there is not is one error, wherever a kernel has it.
use folio::prelude::*;

#[kernel]
fn of_elements(i: Item, x: In<Nowhere>, y: Out<f32>) {
    y[i] = 1.0;
}

#[kernel]
fn of_arrays(i: Item, y: InOut<[Nothing; 2]>) {}

#[kernel]
fn of_local_memory(g: Group, tile: Local<Nobody, 16>, y: InOut<f32>) {}

#[kernel]
fn of_scalars(i: Item, by: Never, y: Out<f32>) {
    y[i] = 1.0;
}

#[kernel]
fn of_casts(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i] as Naught;
}

#[device_fn]
fn of_functions(x: Nought) -> f32 {
    1.0
}

fn main() {}
