//! KRN-02: a part of an element is changed by who owns that; that others may not is one error.
use folio::prelude::*;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    a: i32,
    b: i32,
}

#[kernel]
fn a_field(i: Item, y: InOut<Pair>) {
    y[i + 1].a = 1;
}

#[kernel]
fn adds_to_a_field(i: Item, y: InOut<Pair>) {
    y[i + 1].a += 1;
}

#[kernel]
fn a_slot(i: Item, y: InOut<[i32; 2]>) {
    y[i + 1][0] = 1;
}

#[kernel]
fn of_what_is_only_read(i: Item, x: In<Pair>, y: Out<i32>) {
    x[i].a = 1;
    y[i] = 0;
}

fn main() {}
