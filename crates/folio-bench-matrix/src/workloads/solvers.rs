//! Solvers as graphs: 100 steps of implicit and explicit methods on a square grid.
//!
//! By hand, a kernel copies as many bytes as the steps have to move, each on its own. Results are
//! those of plain Rust.

use super::library::{Call, copy_of};
use super::stencil::five_held;
use crate::bench::{Bench, Case, Pair, Site, Workload};
use crate::error::Result;
use crate::record::Work;
use folio::prelude::*;
use folio::{Executable, graph::FinalizeOptions};

/// The workload.
pub struct Solvers;

/// Steps of a run: an even number, so that the last one writes where the first one has read.
const STEPS: usize = 100;

/// `w = A p` for the inner points, where `p` has a border of zeros, and the product of both.
#[kernel]
fn applied(i: Item<2>, p: In<f32, 2>, w: Out<f32, 2>, pw: Reduce<f32, Add>) {
    let (r, c) = i.pos();
    let middle = p[(r + 1, c + 1)];
    let around = p[(r, c + 1)] + p[(r + 2, c + 1)] + p[(r + 1, c)] + p[(r + 1, c + 2)];
    let value = 4.0 * middle - around;
    w[i] = value;
    pw.give(middle * value);
}

#[kernel]
fn started(
    i: Item<2>,
    b: In<f32, 2>,
    u: Out<f32, 2>,
    r: Out<f32, 2>,
    p: Out<f32, 2>,
    rr: Reduce<f32, Add>,
) {
    u[i] = 0.0;
    r[i] = b[i];
    p[i] = b[i];
    rr.give(b[i] * b[i]);
}

#[kernel]
fn advanced(
    i: Item<2>,
    rr: In<f32>,
    pw: In<f32>,
    p: In<f32, 2>,
    w: In<f32, 2>,
    u: InOut<f32, 2>,
    r: InOut<f32, 2>,
    next: Reduce<f32, Add>,
) {
    let alpha = rr[0] / pw[0];
    u[i] = u[i] + alpha * p[i];
    let rest = r[i] - alpha * w[i];
    r[i] = rest;
    next.give(rest * rest);
}

#[kernel]
fn turned(i: Item<2>, rr: In<f32>, next: In<f32>, r: In<f32, 2>, p: InOut<f32, 2>) {
    p[i] = r[i] + next[0] / rr[0] * p[i];
}

impl Workload for Solvers {
    fn name(&self) -> &'static str {
        "solvers"
    }

    fn about(&self) -> &'static str {
        "100 steps of heat and of conjugate gradients as graphs; by hand a copy of as many bytes"
    }

    fn unit(&self) -> &'static str {
        "points"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["heat, 100 steps", "conjugate gradients, 100 steps"]
    }

    /// Even powers: squares.
    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[16, 12, 20], &[16, 20, 22], 1, 2)
    }

    fn prepare(&self, bench: &Bench, Case { mode, size }: Case) -> Result<Pair> {
        let (start, side) = (bench.floats(size, 1), 1 << (size.ilog2() / 2));
        let Call { bytes, ours, expected } = match mode {
            "heat, 100 steps" => heat(bench, &start, side)?,
            _ => gradients(bench, &start, side)?,
        };
        let work = Work {
            bytes: bytes as f64,
            launches: STEPS as f64,
            working_set: 12.0 * size as f64,
            ..Work::default()
        };
        let theirs = copy_of(bench, bytes, expected)?;
        let pair = bench.pair(work, ours, theirs);
        // Rounding errors grow with the steps of conjugate gradients.
        Ok(Pair { against: "a copy".to_owned(), tolerance: 1e-2, ..pair })
    }
}

/// A graph of all that a closure submits.
fn graph(bench: &Bench, submit: impl FnOnce(&Queue) -> folio::Result<()>) -> Result<Executable> {
    let graph = bench.rt.graph(&bench.device)?;
    let recording = graph.record(std::slice::from_ref(&bench.q))?;
    submit(&bench.q)?;
    drop(recording);
    Ok(graph.finalize_with(FinalizeOptions::new().enable_fusion())?)
}

fn heat(bench: &Bench, start: &[f32], side: usize) -> Result<Call> {
    let all = [side, side];
    let b = bench.buffer(all, start)?;
    let (x, y) = (bench.buffer(all, start)?, bench.buffer(all, start)?);
    let out = x.clone();
    let run = graph(bench, |q| {
        q.copy(&b, &x)?;
        for _ in 0..STEPS / 2 {
            q.run(all, five_held(&x, &y))?;
            q.run(all, five_held(&y, &x))?;
        }
        Ok(())
    })?;
    let ours = bench.ours(&out, move |q| q.run_graph(&run).map(drop));
    let mut x: Vec<f64> = start.iter().map(|x| f64::from(*x)).collect();
    (0..STEPS).for_each(|_| x = heated(&x, side));
    Ok(Call { bytes: 8 * STEPS * start.len(), ours, expected: narrow(&x).into() })
}

fn narrow(values: &[f64]) -> Vec<f32> {
    values.iter().map(|value| *value as f32).collect()
}

/// A step of heat, whose border goes on as it ends.
fn heated(x: &[f64], side: usize) -> Vec<f64> {
    let last = side - 1;
    let at = |r: usize, c: usize| x[r * side + c];
    let point = |k: usize| {
        let (r, c) = (k / side, k % side);
        let around = at(r.max(1) - 1, c) + at((r + 1).min(last), c);
        let around = around + at(r, c.max(1) - 1) + at(r, (c + 1).min(last));
        x[k] + 0.2 * (around - 4.0 * x[k])
    };
    (0..x.len()).map(point).collect()
}

fn gradients(bench: &Bench, start: &[f32], side: usize) -> Result<Call> {
    let (all, zeros) = ([side, side], vec![0.0f32; start.len()]);
    let plane = || bench.buffer(all, &zeros);
    let (b, u, r, w) = (bench.buffer(all, start)?, plane()?, plane()?, plane()?);
    let bordered = [side + 2, side + 2];
    let p = bench.buffer(bordered, &vec![0.0f32; bordered[0] * bordered[1]])?;
    let one = || bench.buffer([1], &[0.0f32]);
    let (pw, mut rr, mut next) = (one()?, one()?, one()?);
    let out = u.clone();
    let run = graph(bench, |q| {
        q.run(all, started(&b, &u, &r, p.slice_mut([1, 1], all)?, &rr))?;
        for _ in 0..STEPS {
            q.run(all, applied(&p, &w, &pw))?;
            q.run(all, advanced(&rr, &pw, p.slice([1, 1], all)?, &w, &u, &r, &next))?;
            q.run(all, turned(&rr, &next, &r, p.slice_mut([1, 1], all)?))?;
            std::mem::swap(&mut rr, &mut next);
        }
        Ok(())
    })?;
    let ours = bench.ours(&out, move |q| q.run_graph(&run).map(drop));
    let expected = narrow(&solved(start, side)).into();
    Ok(Call { bytes: 44 * STEPS * start.len(), ours, expected })
}

/// Conjugate gradients by plain Rust.
fn solved(start: &[f32], side: usize) -> Vec<f64> {
    let mut r: Vec<f64> = start.iter().map(|x| f64::from(*x)).collect();
    let (mut u, mut p) = (vec![0.0; r.len()], r.clone());
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut rr = dot(&r, &r);
    for _ in 0..STEPS {
        let w = neighbours(&p, side);
        let alpha = rr / dot(&p, &w);
        u.iter_mut().zip(&p).for_each(|(u, p)| *u += alpha * p);
        r.iter_mut().zip(&w).for_each(|(r, w)| *r -= alpha * w);
        let next = dot(&r, &r);
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + next / rr * *p);
        rr = next;
    }
    u
}

/// Four times each point without its neighbours.
fn neighbours(p: &[f64], side: usize) -> Vec<f64> {
    let at = |is_there: bool, k: usize| if is_there { p[k] } else { 0.0 };
    let point = |k: usize| {
        let (r, c) = (k / side, k % side);
        let up = at(r > 0, k.wrapping_sub(side)) + at(r + 1 < side, k + side);
        4.0 * p[k] - up - at(c > 0, k.wrapping_sub(1)) - at(c + 1 < side, k + 1)
    };
    (0..p.len()).map(point).collect()
}
