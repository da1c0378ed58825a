//! KRN-06: types that do not fit are told at the operand to cast, and where structs are compared.
use folio::prelude::*;

#[derive(Clone, Copy, PartialEq, DeviceType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[kernel]
fn positions(i: Item, k: i32, at: In<u32>, x: In<f32>, y: Out<f32>) {
    let n = i.index();
    let far = n + at[i];
    let mut sum = 0;
    sum += n;
    y[i] = x[i + k] + x[i.index() - at[i]] + x[far];
}

#[kernel]
fn indices(i: Item<2>, k: i64, f: f32, x: In<f32>, m: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    y[i] = x[k] + x[f] + x[1.5] + m[(r as i32 - 1, c)];
}

#[kernel]
fn less_than_0(i: Item, x: In<f32>, y: Out<f32>) {
    let mut sum = 0.0;
    for k in -1..=1 {
        sum += x[i + k];
    }
    y[i] = sum + x[i + -1];
}

#[kernel]
fn floats(i: Item, n: In<i32>, y: Out<i32>) {
    let half: i32 = 0.5;
    y[i] = n[i] * 1.5;
    y[i] = 2.0;
}

#[kernel]
fn integers(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i] * 2;
    y[i] = i.index();
}

#[kernel]
fn conditions(i: Item, n: In<u32>, y: Out<f32>) {
    y[i] = if n[i] { 1.0 } else { 0.0 };
}

#[kernel]
fn structs(i: Item, p: In<Pair>, y: Out<u32>) {
    let (a, b) = (p[i], p[i + 1]);
    y[i] = if a == b || p[i] != p[0] { 1 } else { 0 };
}

#[kernel]
fn tuples(i: Item, x: In<f32>, z: In<[f32; 2]>, y: Out<u32>) {
    y[i] = if (x[i], 1) < (x[0], 2) && z[i] == z[0] { 1 } else { 0 };
}

fn main() {}
