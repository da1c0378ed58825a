//! KRN-01: enums with data are variables, matched as Rust matches them, and in no memory.
use folio::prelude::*;

#[derive(Clone, Copy, DeviceType)]
#[repr(u32)]
enum Shape {
    Circle(f32),
    Box { width: f32, height: f32 },
    Empty,
}
use Shape::Circle;

#[kernel]
fn leaves_one_out(i: Item, y: Out<f32>) {
    let shape = Shape::Circle(1.0);
    y[i] = match shape {
        Shape::Circle(radius) => radius,
        Shape::Box { width, .. } => width,
    };
}

#[kernel]
fn compares(i: Item, y: Out<f32>) {
    let shape = Shape::Empty;
    y[i] = if shape == Shape::Circle(1.0) { 1.0 } else { 2.0 };
}

#[kernel]
fn has_them_in_memory(i: Item, x: In<Shape>, y: Out<f32>) {
    y[i] = if let Shape::Circle(radius) = x[i] { radius } else { 0.0 };
}

#[kernel]
fn names_variants_alone(i: Item, y: Out<f32>) {
    y[i] = match Shape::Empty {
        Circle(radius) => radius,
        _ => 0.0,
    };
}

#[kernel]
fn has_other_fields(i: Item, y: Out<f32>) {
    let shape = Shape::Box { width: 1.0, depth: 2.0 };
    y[i] = match shape {
        Shape::Circle(radius, _) => radius,
        Shape::Ring(radius) => radius,
        _ => 0.0,
    };
}

#[derive(Clone, Copy, DeviceType)]
#[repr(u32)]
enum WithText {
    Name(&'static str),
    Number(u32),
}

fn main() {
    let rt = folio::runtime().unwrap();
    let _ = rt.buffer_from(&[Shape::Empty]);
}
