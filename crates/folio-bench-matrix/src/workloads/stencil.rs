//! Stencils of 5 points in a plane and of 27 in space: for the interior, and in one kernel with a
//! guard. Both leave the border as it is. One of 5 points is for all, whose border goes on as it
//! ends.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, on_host, on_native, read, told};
use crate::error::Result;
use crate::hand::host::{loops, owned};
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Stencil;

const K: f32 = 0.2;

#[device_fn]
fn heat(x: f32, around: f32) -> f32 {
    x + 0.2 * (around - 4.0 * x)
}

#[kernel]
fn five(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    y[i] = heat(x[i], x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
}

#[kernel]
fn five_guarded(i: Item<2>, x: In<f32, 2>, y: InOut<f32, 2>) {
    let (r, c) = i.pos();
    if r > 0 && r + 1 < x.shape()[0] && c > 0 && c + 1 < x.shape()[1] {
        y[i] = heat(x[i], x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
    }
}

/// The border goes on as it ends.
#[kernel]
pub(super) fn five_held(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    let (above, below) = (r.max(1) - 1, (r + 1).min(rows - 1));
    let (left, right) = (c.max(1) - 1, (c + 1).min(columns - 1));
    y[i] = heat(x[i], x[(above, c)] + x[(below, c)] + x[(r, left)] + x[(r, right)]);
}

#[kernel]
fn cube(i: Item<3>, x: In<f32, 3>, y: Out<f32, 3>) {
    let (p, r, c) = i.pos();
    let mut sum = 0.0;
    for dp in 0..3 {
        for dr in 0..3 {
            for dc in 0..3 {
                sum += x[(p + dp - 1, r + dr - 1, c + dc - 1)];
            }
        }
    }
    y[i] = sum * 0.037_037_037;
}

#[kernel]
fn cube_guarded(i: Item<3>, x: In<f32, 3>, y: InOut<f32, 3>) {
    let (p, r, c) = i.pos();
    let [planes, rows, columns] = x.shape();
    if p > 0 && p + 1 < planes && r > 0 && r + 1 < rows && c > 0 && c + 1 < columns {
        let mut sum = 0.0;
        for dp in 0..3 {
            for dr in 0..3 {
                for dc in 0..3 {
                    sum += x[(p + dp - 1, r + dr - 1, c + dc - 1)];
                }
            }
        }
        y[i] = sum * 0.037_037_037;
    }
}

loops! {
    fn heat_loop(above: &[f32], x: &[f32], below: &[f32], y: &mut [f32]) {
        let n = y.len() - 1;
        let (above, x, below) = (&above[..n + 1], &x[..n + 1], &below[..n + 1]);
        for c in 1..n {
            let around = above[c] + below[c] + x[c - 1] + x[c + 1];
            y[c] = x[c] + K * (around - 4.0 * x[c]);
        }
    }
    // The first and the last column are apart.
    fn held_loop(above: &[f32], x: &[f32], below: &[f32], y: &mut [f32]) {
        let n = y.len() - 1;
        let (above, x, below) = (&above[..n + 1], &x[..n + 1], &below[..n + 1]);
        for c in 1..n {
            let around = above[c] + below[c] + x[c - 1] + x[c + 1];
            y[c] = x[c] + K * (around - 4.0 * x[c]);
        }
        for (c, left, right) in [(0, 0, 1), (n, n - 1, n)] {
            let around = above[c] + below[c] + x[left] + x[right];
            y[c] = x[c] + K * (around - 4.0 * x[c]);
        }
    }
    // Of nine rows.
    fn cube_loop(rows: [&[f32]; 9], y: &mut [f32]) {
        let n = y.len() - 1;
        let rows = rows.map(|row| &row[..n + 1]);
        for c in 1..n {
            let mut sum = 0.0;
            for row in rows {
                sum += row[c - 1];
                sum += row[c];
                sum += row[c + 1];
            }
            y[c] = sum * 0.037_037_037;
        }
    }
}

const TEXT: &str = "
KERNEL five(uint n, GLOBAL const float *RESTRICT x, GLOBAL float *RESTRICT y) {
    WITHIN(X, n - 2); WITHIN(Y, n - 2);
    size_t at = (Y + 1) * n + X + 1;
    y[at] = x[at] + 0.2f * (x[at - n] + x[at + n] + x[at - 1] + x[at + 1] - 4.0f * x[at]);
}
KERNEL five_held(uint n, GLOBAL const float *RESTRICT x, GLOBAL float *RESTRICT y) {
    WITHIN(X, n); WITHIN(Y, n);
    size_t above = Y == 0 ? 0 : Y - 1, below = Y + 1 == n ? Y : Y + 1;
    size_t left = X == 0 ? 0 : X - 1, right = X + 1 == n ? X : X + 1;
    float around = x[above * n + X] + x[below * n + X] + x[Y * n + left] + x[Y * n + right];
    y[Y * n + X] = x[Y * n + X] + 0.2f * (around - 4.0f * x[Y * n + X]);
}
KERNEL cube(uint n, GLOBAL const float *RESTRICT x, GLOBAL float *RESTRICT y) {
    WITHIN(X, n - 2); WITHIN(Y, n - 2); WITHIN(Z, n - 2);
    float sum = 0.0f;
    for (uint p = 0; p < 3; p++)
        for (uint r = 0; r < 3; r++)
            for (uint c = 0; c < 3; c++) sum += x[((Z + p) * n + Y + r) * n + X + c];
    y[((Z + 1) * n + Y + 1) * n + X + 1] = sum * 0.037037037f;
}
";

/// The shapes that are written by hand.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Plane,
    Held,
    Cube,
}

impl Shape {
    fn of(mode: &str) -> Shape {
        match mode {
            "5-point, held to the border" => Shape::Held,
            mode if mode.starts_with('5') => Shape::Plane,
            _ => Shape::Cube,
        }
    }
}

impl Workload for Stencil {
    fn name(&self) -> &'static str {
        "stencil"
    }

    fn about(&self) -> &'static str {
        "5 points in a plane, 27 in space; guards by hand: the interior, or the border apart"
    }

    fn unit(&self) -> &'static str {
        "points"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[
            "5-point",
            "5-point, guarded",
            "5-point, held to the border",
            "27-point",
            "27-point, guarded",
        ]
    }

    /// Fourth and sixth powers, for planes and cubes alike.
    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[24, 18], &[24, 18, 30], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let is_plane = case.mode.starts_with('5');
        let root = case.size.ilog2() / if is_plane { 2 } else { 3 };
        let n = 1usize << root;
        let flops = if is_plane { 7.0 } else { 28.0 };
        let work = Work {
            bytes: 8.0 * case.size as f64,
            flops: flops * case.size as f64,
            launches: 1.0,
            working_set: 8.0 * case.size as f64,
            ..Work::default()
        };
        let x = bench.floats(case.size, 1);
        let ours = ours(bench, case.mode, n, &x)?;
        let theirs = match &bench.hand {
            Hand::Host => host(Shape::of(case.mode), n, x),
            Hand::Native(native) => driver(native, Shape::of(case.mode), n, &x)?,
        };
        Ok(bench.pair(work, ours, theirs))
    }
}

fn ours(bench: &Bench, mode: &str, n: usize, x: &[f32]) -> Result<Side> {
    let zeros = vec![0.0f32; x.len()];
    let within = move || 1..n - 1;
    if mode.starts_with('5') {
        let (x, y) = (bench.buffer([n, n], x)?, bench.buffer([n, n], &zeros)?);
        let out = y.clone();
        return Ok(match mode {
            "5-point" => {
                bench.ours(&out, move |q| q.run([within(), within()], five(&x, &y)).map(drop))
            }
            "5-point, guarded" => {
                bench.ours(&out, move |q| q.run([n, n], five_guarded(&x, &y)).map(drop))
            }
            _ => bench.ours(&out, move |q| q.run([n, n], five_held(&x, &y)).map(drop)),
        });
    }
    let (x, y) = (bench.buffer([n, n, n], x)?, bench.buffer([n, n, n], &zeros)?);
    let out = y.clone();
    Ok(match mode {
        "27-point" => {
            bench.ours(&out, move |q| q.run([within(), within(), within()], cube(&x, &y)).map(drop))
        }
        _ => bench.ours(&out, move |q| q.run([n, n, n], cube_guarded(&x, &y)).map(drop)),
    })
}

fn host(shape: Shape, n: usize, x: Vec<f32>) -> Side {
    let y = owned(vec![0.0f32; x.len()]);
    let tell = told(&y);
    let work = move || {
        let mut y = y.lock();
        let inside = |at: usize| (1..n - 1).contains(&at);
        let row = |r: usize| &x[r * n..(r + 1) * n];
        y.par_chunks_mut(n).enumerate().with_min_len(8).for_each(|(r, y)| match shape {
            Shape::Plane if inside(r) => heat_loop(row(r - 1), row(r), row(r + 1), y),
            Shape::Held => held_loop(row(r.max(1) - 1), row(r), row((r + 1).min(n - 1)), y),
            Shape::Cube if inside(r / n) && inside(r % n) => {
                let at = |k: usize| row((r / n + k / 3 - 1) * n + r % n + k % 3 - 1);
                cube_loop(std::array::from_fn(at), y);
            }
            Shape::Plane | Shape::Cube => {}
        });
    };
    on_host(work, tell)
}

fn driver(native: &Arc<dyn Native>, shape: Shape, n: usize, x: &[f32]) -> Result<Side> {
    let len = x.len();
    let x = Arc::new(Memory::of(native, x)?);
    let y = Arc::new(Memory::of(native, &vec![0.0f32; len])?);
    let args = [n.into(), Arg::from(&x), Arg::from(&y)];
    let call = match shape {
        Shape::Plane => Call::new(native, (TEXT, "five"), [n - 2; 2], args)?,
        Shape::Held => Call::new(native, (TEXT, "five_held"), [n; 2], args)?,
        Shape::Cube => Call::new(native, (TEXT, "cube"), [n - 2; 3], args)?,
    };
    Ok(on_native(native, vec![call], read::<f32>(&y, len)))
}
