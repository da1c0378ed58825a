//! KRN-06: a struct that is no device type is one error, where the signature or the body names it.
use folio::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[kernel]
fn by_value(i: Item, p: Pair, y: Out<f32>) {
    y[i] = p.a;
}

#[kernel]
fn read(i: Item, p: In<Pair>, y: Out<f32>) {
    y[i] = p[i].a;
}

#[kernel]
fn written(i: Item, p: In<f32>, y: Out<[Pair; 2]>) {
    y[i] = [Pair { a: p[i], b: 1.0 }; 2];
}

#[kernel]
fn in_groups(g: Group, t: Local<Pair, 64>, y: Out<f32>) {
    g.each(|i| y[i] = t[i].a);
}

#[device_fn]
fn taken(p: Pair, q: (f32, Pair)) -> f32 {
    p.a + q.1.b
}

#[device_fn]
fn given(a: f32) -> Pair {
    Pair { a, b: a }
}

#[kernel]
fn made(i: Item, y: Out<f32>) {
    let p = Pair { a: 1.0, b: 2.0 };
    y[i] = p.a;
}

fn main() {}
