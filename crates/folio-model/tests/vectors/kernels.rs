//! Kernels whose object code `vectors.rs` looks at.

use folio::prelude::*;

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

#[kernel]
fn smooth(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1];
}

#[kernel]
fn heat(i: Item<2>, k: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let around = x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)];
    y[i] = x[i] + k * (around - 4.0 * x[i]);
}

/// With a border, in its interior.
#[kernel]
fn walled(i: Item<2>, k: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    if r == 0 || c == 0 || r + 1 >= x.shape()[0] || c + 1 >= x.shape()[1] {
        y[i] = 0.0;
        return;
    }
    let around = x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)];
    y[i] = x[i] + k * (around - 4.0 * x[i]);
}

/// The same with indices that are held to it.
#[kernel]
fn held(i: Item<2>, k: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1] as i32);
    let mut sum = x[(r.saturating_sub(1), c)] + x[((r + 1).min(rows - 1), c)];
    for dc in -1..=1 {
        sum += k * x[(r, (c as i32 + dc).clamp(0, columns - 1) as usize)];
    }
    y[i] = sum;
}

/// The same with a source in the middle, and a column of another kind.
#[kernel]
fn sourced(i: Item<2>, k: f32, column: usize, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    let (above, left) = (r.saturating_sub(1), c.max(1) - 1);
    let around = x[(above, c)] + x[(r, left)] + x[(r, (c + 1).min(columns - 1))];
    let mut v = x[i] + k * (around - 3.0 * x[i]);
    if r == rows / 2 && c == columns / 2 {
        v += 10.0;
    }
    y[i] = match c {
        0 => 0.0,
        c if c == column => x[i],
        _ => v,
    };
}

#[kernel]
fn waves(i: Item, x: In<f64>, y: Out<f64>) {
    y[i] = (x[i] * 2.0).exp() + x[i];
}

/// Vectors over items, within the loop that all items have in common.
#[kernel]
fn product(i: Item<2>, a: In<f32, 2>, b: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let mut sum = 0.0;
    for k in 0..a.shape()[1] {
        sum += a[(r, k)] * b[(k, c)];
    }
    y[i] = sum;
}

/// The same, with elements of which a vector takes parts.
#[kernel]
fn pulls(i: Item, p: In<[f32; 4]>, y: Out<f32>) {
    let own = p[i];
    let mut sum = 0.0;
    for k in 0..p.len() {
        let other = p[k];
        let (x, y) = (other[0] - own[0], other[1] - own[1]);
        let far = (x * x + y * y + 1.0).sqrt();
        if far < own[2] {
            sum += other[3] / far;
        }
    }
    y[i] = sum;
}

#[device_fn]
fn normal(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.2316419 * x.abs());
    let series = 0.319_381_53
        + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429)));
    let tail = 0.398_942_28 * (-0.5 * x * x).exp() * t * series;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// Functions, many of them.
#[kernel]
fn prices(i: Item, rate: f32, spot: In<f32>, strike: In<f32>, call: Out<f32>) {
    let (s, k, v) = (spot[i], strike[i], 0.3);
    let d1 = ((s / k).ln() + rate + 0.5 * v * v) / v;
    call[i] = s * normal(d1) - k * (-rate).exp() * normal(d1 - v);
}

#[kernel]
fn sum(i: Item, x: In<f32>, sum: Reduce<f32, Add>) {
    sum.give(x[i] * 2.0);
}

/// Vectors over the items of a group, in each phase.
#[kernel(group = [16, 16])]
fn tiled(
    g: Group<2>,
    a: In<f32, 2>,
    b: In<f32, 2>,
    ta: Local<f32, 256>,
    tb: Local<f32, 256>,
    y: Out<f32, 2>,
) {
    let acc = g.private(0.0);
    for t in 0..a.shape()[1] / 16 {
        g.each(|i| {
            let ((r, k), (row, column)) = (i.local_pos(), i.pos());
            ta[i] = a[(row, t * 16 + k)];
            tb[i] = b[(t * 16 + r, column)];
        });
        g.each(|i| {
            let (r, k) = i.local_pos();
            let mut sum = acc[i];
            for j in 0..16 {
                sum += ta[r * 16 + j] * tb[j * 16 + k];
            }
            acc[i] = sum;
        });
    }
    g.each(|i| y[i] = acc[i]);
}

/// The same, with a loop that is not unrolled.
#[kernel(group = 256)]
fn nearby(g: Group, x: In<f32>, tile: Local<f32, 256>, y: Out<f32>) {
    let acc = g.private(0.0);
    for t in 0..g.count()[0] {
        g.each(|i| tile[i] = x[t * 256 + i.local_index()]);
        g.each(|i| {
            let own = x[i];
            let mut sum = acc[i];
            for j in 0..256 {
                let far = tile[j] - own;
                sum += far * far;
            }
            acc[i] = sum;
        });
    }
    g.each(|i| y[i] = acc[i]);
}

/// No vectors: whether an index is inside decides item by item.
#[kernel]
fn gather(i: Item, at: In<u32>, x: In<f32>, y: Out<f32>) {
    y[i] = x[at[i]] * 2.0 + 1.0;
}

/// Nobody uses what the loop computes, and nobody knows whether it ends.
#[kernel]
fn may_not_end(i: Item, x: In<u64>, y: Out<u64>) {
    let mut n = x[i];
    while n != 1 {
        n = n * 0x9e37_79b9_7f4a_7c15 ^ (n >> 7);
    }
    y[i] = 7;
}

fn main() -> folio::Result<()> {
    launch()
}

/// The profile of tests compiles only what a test uses.
#[test]
fn they_run() -> folio::Result<()> {
    launch()
}

fn launch() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let (x, wide, at) = (rt.buffer(100)?, rt.buffer(100)?, rt.buffer(100)?);
    let (mut y, mut wide_y) = (rt.buffer(100)?, rt.buffer(100)?);
    q.run(100, saxpy(2.0, &x, &mut y))?;
    q.run(1..99, smooth(&x, &mut y))?;
    q.run(100, waves(&wide, &mut wide_y))?;
    q.run(100, prices(0.1, &x, &x, &mut y))?;
    q.run(100, sum(&x, &mut rt.buffer(1)?))?;
    q.run(100, gather(&at, &x, &mut y))?;
    let square = rt.buffer([10, 10])?;
    let mut next = rt.buffer([10, 10])?;
    q.run([1..9, 1..9], heat(0.1, &square, &mut next))?;
    q.run([10, 10], walled(0.1, &square, &mut next))?;
    q.run([10, 10], held(0.1, &square, &mut next))?;
    q.run([10, 10], sourced(0.1, 3, &square, &mut next))?;
    q.run([10, 10], product(&square, &square, &mut next))?;
    let side = rt.buffer([32, 32])?;
    let mut tiles = rt.buffer([32, 32])?;
    q.run(Items::from([32, 32]).groups([16, 16]), tiled(&side, &side, &mut tiles))?;
    q.run(Items::from(512).groups([256]), nearby(&rt.buffer(512)?, &mut rt.buffer(512)?))?;
    q.run(100, pulls(&rt.buffer(100)?, &mut y))?;
    let (ones, mut out) = (rt.buffer_from(&[1; 100])?, rt.buffer(100)?);
    q.run(100, may_not_end(&ones, &mut out))?;
    q.wait()
}
