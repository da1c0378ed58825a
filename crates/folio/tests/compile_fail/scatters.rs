//! KRN-02: an element that items scatter to has one writer, and nothing reads it.
#![forbid(unsafe_code)]
use folio::prelude::*;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    a: u32,
    b: u32,
}

#[kernel]
fn reads(i: Item, y: Scatter<u32>, z: Out<u32>) {
    z[i] = y[i];
    y[i] += 1;
}

#[kernel]
fn in_fields(i: Item, y: Scatter<Pair>) {
    y[i].a = 1;
}

#[device_fn]
fn elsewhere(y: Scatter<u32>, k: usize) {
    y[k] = 1;
}

#[kernel]
fn of_no_item(y: Scatter<u32>) {
    y[0] = 1;
}

#[kernel(group = 8)]
fn of_a_group(g: Group, y: Scatter<u32>) {
    y[0] = 1;
    g.once(|| y[1] = 2);
    let sum = g.reduce::<Add>(|i| {
        y[i] = 3;
        i.index()
    });
}

#[kernel]
fn twice(i: Item, bins: Atomic<u32>, z: InOut<u32>, y: ScatterLast<u32>) {
    bins.add(0, 1);
    z[i] += 1;
    y[i] = 1;
}

#[kernel(deny_checks)]
fn unchecked(i: Item, y: Scatter<u32>) {
    y[i] = 1;
}

#[kernel]
fn of_two_dimensions(i: Item, y: Scatter<u32, 2>) {
    y[i.index()] = 1;
}

#[kernel]
fn of_some_rank<const D: usize>(i: Item, y: Scatter<u32, D>) {
    y[i] = 1;
}

fn main() {}
