//! Kernels with loops for strips of items whose names are hidden, behind positions that are made of
//! them, by other variables (KRN-01, KRN-03): positions keep what they mean.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::shadow_unrelated, reason = "that is what is tested")]

use folio::prelude::*;

/// Far outside of every buffer.
const FAR: usize = 1 << 40;

#[kernel]
fn by_a_let(i: Item, n: usize, m: usize, x: In<f32>, y: InOut<f32>) {
    let d = i.index() + n;
    let n = m;
    let mut s = 0.0;
    for _ in 0..40 {
        s += x[d];
    }
    y[i] = s + (n - m) as f32;
}

#[kernel]
fn by_the_loops_end(i: Item, n: usize, x: In<f32>, y: InOut<f32>) {
    let d = i.index() + n;
    let n = 40;
    let mut s = 0.0;
    for _ in 0..n {
        s += x[d];
    }
    y[i] = s;
}

#[kernel]
fn by_a_loop(i: Item, n: usize, m: usize, x: In<f32>, y: InOut<f32>) {
    let mut s = 0.0;
    for k in 0..n {
        let d = i.index() + k;
        for k in 0..m {
            s += x[d] + (k - k) as f32;
        }
    }
    y[i] = s;
}

#[kernel]
fn by_a_phase(g: Group, n: usize, m: usize, x: In<f32>, y: InOut<f32>) {
    let t = n + 1;
    g.each(|i| {
        let d = i.index() + t;
        let t = m;
        let mut s = 0.0;
        for _ in 0..40 {
            s += x[d];
        }
        y[i] = s + (t - m) as f32;
    });
}

/// The first of two names has ends, and the other has none.
#[kernel]
fn by_a_part(i: Item, a: usize, n: usize, x: In<f32>, y: InOut<f32>) {
    let (a, b) = (i.index() + a - a, x[i]);
    let c = a;
    let mut s = 0.0;
    for _ in 0..n {
        s += x[c];
    }
    y[i] = s + b;
}

#[kernel]
fn by_a_part_of_a_phase(g: Group, a: usize, n: usize, x: In<f32>, y: InOut<f32>) {
    g.each(|i| {
        let (a, b) = (i.index() + a - a, x[i]);
        let c = a;
        let mut s = 0.0;
        for _ in 0..n {
            s += x[c];
        }
        y[i] = s + b;
    });
}

/// The second of two names is `mut`.
#[kernel]
fn of_one_that_changes(i: Item, n: usize, x: In<f32>, y: InOut<f32>) {
    let (r, mut s) = (i.index(), 0.0f32);
    let base = r + n - n;
    for _ in 0..n {
        s += x[base];
    }
    y[i] = s;
}

#[test]
fn positions_keep_what_they_mean() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let x: Vec<f32> = (0..1100u16).map(f32::from).collect();
    let x = rt.buffer_from(&x).unwrap();
    let mut y = rt.buffer_from(&[0f32; 1024]).unwrap();
    let is = |y: &Buffer<f32>, expected: fn(f32) -> f32| {
        let expected: Vec<f32> = (0..1024u16).map(|k| expected(f32::from(k))).collect();
        assert_eq!(y.to_vec().unwrap(), expected);
    };
    let groups = || Items::from(1024).groups([128]);
    for m in [3, FAR] {
        q.run(1024, by_a_let(2, m, &x, &mut y)).unwrap();
        is(&y, |k| 40.0 * (k + 2.0));
        q.run(groups(), by_a_phase(1, m, &x, &mut y)).unwrap();
        is(&y, |k| 40.0 * (k + 2.0));
        q.run(1024, by_a_part(m, 20, &x, &mut y)).unwrap();
        is(&y, |k| 21.0 * k);
        q.run(groups(), by_a_part_of_a_phase(m, 20, &x, &mut y)).unwrap();
        is(&y, |k| 21.0 * k);
    }
    q.run(1024, by_the_loops_end(2, &x, &mut y)).unwrap();
    is(&y, |k| 40.0 * (k + 2.0));
    q.run(1024, by_a_loop(2, 20, &x, &mut y)).unwrap();
    is(&y, |k| 20.0 * (2.0 * k + 1.0));
    q.run(1024, by_a_loop(2, 1 << 10, &x, &mut y)).unwrap();
    is(&y, |k| 1024.0 * (2.0 * k + 1.0));
    q.run(1024, of_one_that_changes(20, &x, &mut y)).unwrap();
    is(&y, |k| 20.0 * k);
}
