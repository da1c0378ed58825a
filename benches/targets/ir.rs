//! The time of making a kernel's IR, its text and its hash: once for each instance of a kernel.

use criterion::{Criterion, criterion_group, criterion_main};
use folio::ir::device::{Code, Kernel};
use folio::prelude::*;
use std::hint::black_box;

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

#[kernel]
fn heat(i: Item<2>, k: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    if r == 0 || c == 0 || r + 1 == x.shape()[0] || c + 1 == x.shape()[1] {
        y[i] = x[i];
        return;
    }
    let around = x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)];
    y[i] = x[i] + k * (around - 4.0 * x[i]);
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Body {
    pos: Vec3,
    mass: f32,
}

#[device_fn]
fn minus(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z }
}

#[device_fn]
fn dot(a: Vec3, b: Vec3) -> f32 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

#[kernel]
fn bodies(i: Item, softening: f32, p: In<Body>, force: Out<Vec3>) {
    let here = p[i].pos;
    let mut sum = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
    for j in 0..p.len() {
        let d = minus(p[j].pos, here);
        let r2 = dot(d, d) + softening;
        let w = p[j].mass / (r2 * r2.sqrt());
        sum.x += d.x * w;
        sum.y += d.y * w;
        sum.z += d.z * w;
    }
    force[i] = sum;
}

#[kernel(group = [8, 8])]
fn matmul(
    g: Group<2>,
    a: In<f32, 2>,
    b: In<f32, 2>,
    ta: Local<f32, 64>,
    tb: Local<f32, 64>,
    c: Out<f32, 2>,
) {
    let acc = g.private(0.0);
    for t in 0..a.shape()[1] / 8 {
        g.each(|i| {
            let ((r, k), (row, column)) = (i.local_pos(), i.pos());
            ta[i] = a[(row, t * 8 + k)];
            tb[i] = b[(t * 8 + r, column)];
        });
        g.each(|i| {
            let (r, k) = i.local_pos();
            let mut sum = acc[i];
            for j in 0..8 {
                sum += ta[r * 8 + j] * tb[j * 8 + k];
            }
            acc[i] = sum;
        });
    }
    g.each(|i| c[i] = acc[i]);
}

fn of<K: Kernel>(c: &mut Criterion) {
    let name = K::FUNCTION.name;
    let mut group = c.benchmark_group(name);
    let code = || Code::of(K::FUNCTION).expect("a kernel of the language");
    group.bench_function("IR and its analysis", |b| b.iter(code));
    let made = code();
    group.bench_function("text", |b| b.iter(|| black_box(&made.ir).to_string()));
    group.bench_function("hash", |b| b.iter(|| black_box(&made.ir).content_hash()));
    group.finish();
}

criterion_group!(ir, of::<saxpy>, of::<heat>, of::<bodies>, of::<matmul>);
criterion_main!(ir);
