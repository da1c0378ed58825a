//! KRN-06: what a new user called and compared in kernels, without the source of the library.
use folio::prelude::*;

#[derive(Clone, Copy, PartialEq, DeviceType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

impl std::ops::Add for Pair {
    type Output = Pair;
    fn add(self, other: Pair) -> Pair {
        Pair { a: self.a + other.a, b: self.b + other.b }
    }
}

fn helper(a: f32) -> f32 {
    a * 2.0
}

#[kernel]
fn calls(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = helper(x[i]);
}

#[kernel]
fn compares(i: Item, x: In<Pair>, y: Out<u32>) {
    y[i] = if x[i] == x[0] { 1 } else { 0 };
}

#[kernel]
fn adds(i: Item, x: In<Pair>, y: Out<Pair>) {
    y[i] = x[i] + x[0];
}

#[kernel]
fn least(i: Item, x: In<f32>, bins: Atomic<f32>) {
    bins.min(0, x[i]);
}

fn main() {}
