//! KRN-06: what new users write in kernels, each told with what to write instead.
use folio::prelude::*;

#[derive(Clone, Copy)]
enum Mode {
    Fast,
}

macro_rules! twice {
    ($x:expr) => {
        2.0 * $x
    };
}

#[kernel]
fn neighbours(i: Item, x: In<f32>, y: Out<f32>) {
    let mut sum = 0.0;
    for d in -1..=1 {
        let k = i.index() + d;
        sum += x[k] + x[d + i.index()] + x[i + d];
    }
    y[i] = sum;
}

#[kernel]
fn of_the_host(i: Item, n: usize, x: In<f32>, y: Out<f32>) {
    let kept = vec![0.0; n];
    let part = x[..3];
    let rest = x[1..];
    let some = Some(x[i]);
    y[i] = twice!(x[i]) + kept[0];
}

#[kernel]
fn powers(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i].pow(2);
}

#[kernel]
fn modes(i: Item, y: Out<f32>) {
    let mode = Mode::Fast;
    y[i] = 1.0;
}

#[kernel(group = 64)]
fn groups(g: Group, x: In<f32>, y: Out<f32>) {
    y[g.index()] = 1.0;
}

#[kernel]
fn rows(i: Item, y: OutRow<f32, 2>) {
    for k in 0..y.shape()[1] {
        y[(i, k)] = 0.0;
    }
}

fn main() {}
