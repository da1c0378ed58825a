//! KRN-06: an operator of a struct is that of Rust's trait, by whatever name that is imported.
use folio::prelude::*;
use std::ops::Add as Plus;

trait Add<B = Self> {
    type Output;
    fn add(self, b: B) -> Self::Output;
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[device_fn]
impl Add for Pair {
    type Output = Pair;
    fn add(self, b: Pair) -> Pair {
        Pair { a: self.a + b.a, b: self.b + b.b }
    }
}

#[device_fn]
impl Plus<f32> for Pair {
    type Output = Pair;
    fn add(self, b: f32) -> Pair {
        Pair { a: self.a + b, b: self.b + b }
    }
}

#[kernel]
fn adds(i: Item, x: InOut<Pair>) {
    x[i] = x[i] + 1.0;
}

fn main() {}
