//! KRN-02, KRN-06: what red and black cells and columns are not, with what to write.
#![forbid(unsafe_code)]
use folio::prelude::*;

#[kernel]
fn writes_others(i: Item<2>, y: RedBlack<f32, 0>) {
    let (r, k) = i.pos();
    y[(r, k)] = 1.0;
}

#[kernel]
fn of_a_line(i: Item, y: RedBlack<f32, 0>) {
    y[i] = 1.0;
}

#[kernel]
fn third_colour(i: Item<2>, y: RedBlack<f32, 2>) {
    y[i] = 1.0;
}

fn launched(q: &Queue, y: &mut Buffer<f32, 2>) {
    q.run(y.half(), third_colour(y));
}

#[derive(Clone, Copy, DeviceType, Columns)]
#[repr(C)]
struct Pair {
    a: u32,
    b: u32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Plain {
    a: u32,
}

#[derive(Clone, Copy, Columns)]
struct Generic<T> {
    a: T,
}

#[derive(Clone, Copy, Columns)]
struct Pairs(u32, u32);

#[device_fn]
fn sum(of: Pair) -> u32 {
    of.a + of.b
}

#[kernel]
fn whole(i: Item, p: InColumns<Pair>, y: Out<u32>) {
    y[i] = sum(p);
}

#[kernel]
fn no_column(i: Item, p: InColumns<Pair>, y: Out<u32>) {
    y[i] = p[i].c;
}

#[kernel]
fn written(i: Item, p: InColumns<Pair>) {
    p[i].a = 1;
}

#[kernel]
fn in_part(i: Item, p: OutColumns<Pair>) {
    p[i].a = 1;
}

#[kernel]
fn without(i: Item, p: InColumns<Plain>, y: Out<u32>) {
    y[i] = p[i].a;
}

fn main() {}
