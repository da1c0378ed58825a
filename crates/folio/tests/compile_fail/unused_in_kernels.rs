//! KRN-06: what a kernel does not use is told as in every function; what the macro writes of it is
//! not.
#![deny(unused)]
#![allow(dead_code, reason = "nothing is called")]
use folio::prelude::*;

#[kernel]
fn plain(i: Item, unused: f32, x: In<f32>, y: Out<f32>) {
    let never = i.index();
    let mut once = 1.0;
    y[i] = x[i] + once;
}

#[device_fn]
fn device(x: f32, unused: f32) -> f32 {
    let never = x;
    let mut once = 1.0;
    once + x
}

#[kernel]
fn loops(i: Item, x: In<f32>, y: Out<f32>) {
    let mut sum = 0.0;
    for k in 0..x.len() {
        let never = k;
        sum += x[k];
    }
    y[i] = sum;
}

#[kernel(group = 64)]
fn groups(g: Group, unused: usize, x: In<f32>, tile: Local<f32, 64>, y: Out<f32>) {
    let kept = g.private(0.0f32);
    let never = g.private(0.0f32);
    g.each(|i| {
        tile[i] = x[i];
        kept[i] = 1.0;
    });
    g.each(|i| y[i] = tile[i] + kept[i]);
}

// All of this is used.
#[kernel]
fn used(i: Item<2>, mut k: usize, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let p = i.pos();
    let [rows, columns] = x.shape();
    let _spare = 1.0;
    let late;
    late = 2.0;
    let mut own = [0.0; 4];
    own[1] = x[(r, c)];
    k += 1;
    y[i] = own[k % 4] + late + x[(p[0], p[1])] + (rows * columns) as f32;
}

// What a user allows is allowed.
#[kernel]
#[allow(unused_variables, unused_mut, reason = "the test's")]
fn allowed(i: Item, unused: f32, y: Out<f32>) {
    let mut never = 1;
    y[i] = 1.0;
}

fn main() {}
