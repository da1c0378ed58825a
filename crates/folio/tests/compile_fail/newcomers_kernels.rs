//! KRN-06: what a new user wrote in kernels, each told once.
use folio::prelude::*;

#[kernel]
fn bounds_of_rust<T: Copy + std::ops::Add<Output = T>>(i: Item, x: In<T>, y: Out<T>) {
    y[i] = x[i] + x[i];
}

#[kernel]
fn literals<T: folio::Float>(i: Item, a: T, x: In<T>, y: Out<T>) {
    let mut sum = x[i] * 2.0 + T::lit(0.5);
    sum = if 1 < x[i].sqrt() { sum } else { a };
    y[i] = 0.0;
}

#[kernel]
fn adds_to_out(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] += x[i];
}

#[kernel]
fn ranges(i: Item, x: In<f32>, y: Out<f32>) {
    let n = x[0..3].len();
    let inside = (1..10).contains(&i.index()) || (0..=n).contains(&n);
    let sum = (0..x.len()).map(|k| x[k]).sum::<f32>();
    let all = 0..4;
    y[i] = sum;
}

#[kernel]
fn indexed_items(i: Item, j: In<f32, 2>, y: Out<f32>) {
    y[i] = i[0] as f32;
}

#[kernel]
fn indexed_positions(i: Item<2>, y: Out<f32, 2>) {
    let p = i.pos();
    let k = p[0];
    y[i] = i[0] as f32 + p[k] as f32;
}

#[kernel]
fn functions_of_rust(i: Item, x: In<f32>, y: Out<f32>) {
    let (a, b) = (x[i], 2.0);
    std::mem::swap(a, b);
    y[i] = std::cmp::max(x[i] as i32, 3) as f32;
}

#[kernel]
fn small_atomics(g: Group, x: In<u8>, bins: Atomic<u8>, own: LocalAtomic<u16, 8>) {
    g.each(|i| bins.add(x[i], 1));
}

#[kernel]
fn scatters(i: Item, x: In<f32>, to: In<u32>, y: Out<f32>) {
    y[to[i]] = x[i];
}

#[kernel]
fn takes_apart(i: Item, x: In<f32>, y: Out<f32>) {
    if let Some(v) = x.first() {
        y[i] = v;
    }
}

fn main() {}
