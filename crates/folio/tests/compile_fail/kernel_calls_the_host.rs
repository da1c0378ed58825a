//! KRN-06: a function or method without `#[device_fn]` is the host's, wherever it comes from.
use folio::prelude::*;

fn of_the_host(x: f32) -> f32 {
    x
}

mod elsewhere {
    pub fn of_the_host<T>(x: T) -> T {
        x
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

impl Pair {
    fn new(a: f32) -> Pair {
        Pair { a, b: a }
    }
    fn sum(self) -> f32 {
        self.a + self.b
    }
}

#[kernel]
fn calls(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = of_the_host(x[i]);
}

#[kernel]
fn calls_by_a_path(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = elsewhere::of_the_host(x[i]);
}

#[kernel]
fn calls_the_library(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = std::cmp::max(x[i], 0);
}

#[kernel]
fn calls_methods(i: Item, x: In<Pair>, y: Out<f32>) {
    y[i] = x[i].sum();
}

#[kernel]
fn calls_associated(i: Item, x: In<f32>, y: Out<Pair>) {
    y[i] = Pair::new(x[i]);
}

#[device_fn]
fn from_device_functions(x: f32) -> f32 {
    of_the_host(x)
}

#[kernel]
fn calls_kernels(i: Item, x: In<f32>, y: Out<f32>) {
    calls(x, y);
}

#[kernel]
fn calls_variables(i: Item, x: In<f32>, y: Out<f32>) {
    let f = x[i];
    y[i] = f(1.0);
}

#[kernel]
fn calls_functions_of_numbers(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = f32::max(x[i], 0.0);
}

#[kernel]
fn makes_variants(i: Item, x: In<f32>, y: Out<f32>) {
    let kept = Err(x[i]);
    y[i] = 1.0;
}

// The import of the callee asks for a type, as `#[device_fn]` have: rustc misses an import.
#[kernel]
fn calls_nothing(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = nowhere(x[i]);
}

fn main() {}
