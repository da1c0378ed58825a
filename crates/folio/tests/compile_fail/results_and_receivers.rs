//! KRN-06: what device functions do not give, and how they take `self`.
use folio::prelude::*;

#[device_fn]
fn maybe(x: u32) -> Option<u32> {
    x
}

#[device_fn]
fn text(x: u32) -> &'static str {
    x
}

#[device_fn]
fn hidden(x: u32) -> impl Copy {
    x
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    a: u32,
}

#[device_fn]
impl Pair {
    fn lent(self: &Self) -> u32 {
        self.a
    }

    fn boxed(self: Box<Self>) -> u32 {
        self.a
    }
}

#[kernel]
fn wide(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = x[i] as u128 as u32;
}

#[kernel]
fn views(i: Item, x: In<u32>, z: In<u32>, y: Out<u32>) {
    (x) = z;
    y[i] = x[i];
}

fn main() {}
