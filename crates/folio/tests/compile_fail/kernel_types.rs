//! KRN-01: rustc checks a kernel's types, once, in the user's code.
use folio::prelude::*;

#[derive(Clone, Copy, PartialEq, DeviceType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

fn of_the_host(x: f32) -> f32 {
    x
}

#[kernel]
fn mixed(i: Item, x: In<f32>, n: In<u32>, y: Out<f32>) {
    y[i] = x[i] * n[i];
}

#[kernel]
fn adds_structs(i: Item, x: In<Pair>, y: Out<Pair>) {
    y[i] = x[i] + x[i];
}

#[kernel]
fn casts_structs(i: Item, x: In<Pair>, y: Out<f32>) {
    y[i] = x[i] as f32;
}

#[kernel]
fn unknown_method(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i].wobble(2.0);
}

#[kernel]
fn assigns_parameter(i: Item, n: i32, y: Out<i32>) {
    n += 1;
    y[i] = n;
}

#[kernel]
fn strings(i: Item, x: In<String>) {}

fn main() {}
