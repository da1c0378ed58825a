//! KRN-02: what a name does not tell of an index, types do: an item has its own elements alone.
use folio::prelude::*;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    a: i32,
    b: i32,
}

#[device_fn]
fn other(n: usize) -> usize {
    n + 1
}

#[kernel]
fn writes(i: Item, y: InOut<i32>, z: Out<i32>) {
    let k = other(i.index());
    y[k] = 1;
    z[k] = 1;
}

#[kernel]
fn reads(i: Item, y: InOut<i32>) {
    let k = other(i.index());
    y[i] = y[k];
}

#[kernel]
fn adds(i: Item, y: InOut<i32>) {
    let k = other(i.index());
    y[k] += 1;
}

#[kernel]
fn parts(i: Item, y: InOut<Pair>, z: OutChunk<i32, 4>) {
    let k = other(i.index());
    y[k].a = 1;
    z[k][0] = 1;
    z[i] = [1; 4];
}

#[kernel]
fn rows(i: Item, y: InOutRow<i32>) {
    let k = other(i.index());
    y[(k, 0)] = 1;
}

#[kernel]
fn columns(i: Item, y: InOutColumn<i32>) {
    let k = other(i.index());
    y[(0, k)] = 1;
}

#[kernel]
fn rows_of_columns(i: Item, y: InOutColumn<i32>) {
    y[(i, 0)] = 1;
}

#[kernel]
fn fields(i: Item, y: Out<Pair>) {
    let k = other(i.index());
    y[k].a = 1;
}

#[kernel]
fn groups(g: Group, y: InOutGroup<i32>) {
    let k = other(g.index());
    y[k] = 1;
}

#[kernel]
fn another_rank<const D: usize>(i: Item, x: In<i32, D>, y: InOut<i32>) {
    y[i] = x[i];
}

fn main() {}
