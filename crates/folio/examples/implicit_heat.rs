//! Implicit heat conduction in a plate of two materials, each step solved by conjugate gradients:
//! the method of the mini-app TeaLeaf, in `f64`.
//!
//! `implicit_heat [SIDE] [STEPS] [MODE]`: modes are `plain`, which submits each iteration by
//! itself, `batch`, `fused`, where an iteration is a graph whose kernels are fused, and `graph`,
//! where a node of the graph decides after each iteration whether to go on. All modes do the same
//! arithmetic, so the program checks that heat is conserved and, without a mode, that all four give
//! the same bits. Where TeaLeaf's result is known, for 10 steps of some sides, it must be equal.
#![forbid(unsafe_code)]

use folio::graph::FinalizeOptions;
use folio::prelude::*;
use std::error::Error;
use std::time::Instant;

/// Length of a side of the plate.
const LENGTH: f64 = 10.0;
/// Time that a step takes.
const STEP: f64 = 0.004;
/// Residual at which a step is solved, as a part of the residual that it begins with.
const SMALL: f64 = 1e-10;
/// Iterations of a step, at most.
const LIMIT: u64 = 10_000;
/// TeaLeaf's sum of density times heat after 10 steps, by the side.
const KNOWN: [(usize, f64); 5] = [
    (10, 157.55084183279294),
    (250, 106.27221178646569),
    (500, 99.955877498324),
    (1000, 97.27733205074998),
    (4000, 95.46235158336225),
];

/// Faces between cells of a row conduct as the mean of the cells' resistances says, times `scale`.
/// Nothing leaves the plate.
#[kernel]
fn conduct_rows(i: Item<2>, scale: f64, density: In<f64, 2>, k: Out<f64, 2>) {
    let (r, c) = i.pos();
    let n = density.shape()[1];
    let (left, right) = (density[[r, c.max(1) - 1]], density[[r, c.min(n - 1)]]);
    let inside = c > 0 && c < n;
    k[i] = if inside { scale * (left + right) / (2.0 * left * right) } else { 0.0 };
}

/// The same of faces between rows.
#[kernel]
fn conduct_columns(i: Item<2>, scale: f64, density: In<f64, 2>, k: Out<f64, 2>) {
    let (r, c) = i.pos();
    let n = density.shape()[0];
    let (above, below) = (density[[r.max(1) - 1, c]], density[[r.min(n - 1), c]]);
    let inside = r > 0 && r < n;
    k[i] = if inside { scale * (above + below) / (2.0 * above * below) } else { 0.0 };
}

/// `w = A p`, of which `p` has a cell more on each side.
#[kernel]
fn apply(i: Item<2>, kx: In<f64, 2>, ky: In<f64, 2>, p: In<f64, 2>, w: Out<f64, 2>) {
    let (r, c) = i.pos();
    let (west, east, north, south) = (kx[[r, c]], kx[[r, c + 1]], ky[[r, c]], ky[[r + 1, c]]);
    w[i] = (1.0 + (south + north) + (east + west)) * p[[r + 1, c + 1]]
        - (south * p[[r + 2, c + 1]] + north * p[[r, c + 1]])
        - (east * p[[r + 1, c + 2]] + west * p[[r + 1, c]]);
}

#[kernel]
fn dot(i: Item<2>, a: In<f64, 2>, b: In<f64, 2>, sum: Reduce<f64, Add>) {
    sum.give(a[i] * b[i]);
}

/// A step along `p`: of the solution, and of the residual.
#[kernel]
fn advance(
    i: Item<2>,
    rr: In<f64>,
    pw: In<f64>,
    p: In<f64, 2>,
    w: In<f64, 2>,
    u: InOut<f64, 2>,
    r: InOut<f64, 2>,
) {
    let alpha = rr[0] / pw[0];
    u[i] = u[i] + alpha * p[i];
    r[i] = r[i] - alpha * w[i];
}

/// The next direction.
#[kernel]
fn turn(i: Item<2>, rr: In<f64>, next: In<f64>, r: In<f64, 2>, p: InOut<f64, 2>) {
    p[i] = r[i] + next[0] / rr[0] * p[i];
}

/// Whether to go on, and how often it has gone on.
#[kernel]
fn decide(i: Item, end: In<f64>, next: In<f64>, rr: Out<f64>, go: Out<u32>, done: InOut<u32>) {
    rr[i] = next[i];
    go[i] = if next[i] > end[i] { 1 } else { 0 };
    done[i] += 1;
}

/// The residual at the start of a step, which is `u - A u`.
#[kernel]
fn subtract(i: Item<2>, u: In<f64, 2>, w: In<f64, 2>, r: Out<f64, 2>) {
    r[i] = u[i] - w[i];
}

#[kernel]
fn copy_in(i: Item<2>, from: In<f64, 2>, to: Out<f64, 2>) {
    to[i] = from[i];
}

#[kernel]
fn set_goal(i: Item, rr: In<f64>, end: Out<f64>, go: Out<u32>) {
    end[i] = rr[i] * (SMALL * SMALL);
    go[i] = if rr[i] > 0.0 { 1 } else { 0 };
}

struct Plate {
    side: usize,
    density: Buffer<f64, 2>,
    kx: Buffer<f64, 2>,
    ky: Buffer<f64, 2>,
    u: Buffer<f64, 2>,
    r: Buffer<f64, 2>,
    w: Buffer<f64, 2>,
    /// With a cell more on each side.
    p: Buffer<f64, 2>,
    /// Scalars, which stay on the device.
    rr: Buffer<f64>,
    pw: Buffer<f64>,
    next: Buffer<f64>,
    end: Buffer<f64>,
    go: Buffer<u32>,
    done: Buffer<u32>,
}

impl Plate {
    /// A dense cold plate, with a thin path through it whose one end is hot.
    fn new(q: &Queue, side: usize) -> folio::Result<Plate> {
        let rt = q.runtime();
        let grid = |shape| rt.buffer::<f64, 2>(shape);
        let (mut density, mut energy) = (vec![100.0; side * side], vec![1e-4; side * side]);
        let mut region = |x: [f64; 2], y: [f64; 2], heat: f64| {
            let cells = |[from, to]: [f64; 2]| {
                let cell = |at: f64| (at / LENGTH * side as f64) as usize;
                cell(from)..cell(to)
            };
            for row in cells(y) {
                for column in cells(x) {
                    (density[row * side + column], energy[row * side + column]) = (0.1, heat);
                }
            }
        };
        region([0.0, 1.0], [1.0, 2.0], 25.0);
        region([1.0, 6.0], [1.0, 2.0], 0.1);
        region([5.0, 6.0], [1.0, 8.0], 0.1);
        region([5.0, 10.0], [7.0, 8.0], 0.1);
        let heat: Vec<f64> = density.iter().zip(&energy).map(|(d, e)| d * e).collect();
        let plate = |data| rt.buffer_from((data, [side, side]));
        let (density, u) = (plate(density)?, plate(heat)?);
        let (mut kx, mut ky) = (grid([side, side + 1])?, grid([side + 1, side])?);
        let scale = STEP / (LENGTH / side as f64).powi(2);
        q.run(kx.range(), conduct_rows(scale, &density, &mut kx))?;
        q.run(ky.range(), conduct_columns(scale, &density, &mut ky))?;
        let (r, w) = (grid([side, side])?, grid([side, side])?);
        let p = grid([side + 2, side + 2])?;
        let (rr, pw, next, end) = (rt.buffer(1)?, rt.buffer(1)?, rt.buffer(1)?, rt.buffer(1)?);
        let (go, done) = (rt.buffer(1)?, rt.buffer(1)?);
        Ok(Plate { side, density, kx, ky, u, r, w, p, rr, pw, next, end, go, done })
    }

    /// Begins a step: the first direction is the residual.
    fn start(&mut self, q: &Queue) -> folio::Result<()> {
        let Plate { side, kx, ky, u, r, w, p, rr, end, go, .. } = self;
        let all = [*side, *side];
        q.run(all, copy_in(&*u, p.slice_mut([1, 1], all)?))?;
        q.run(all, apply(&*kx, &*ky, &*p, &mut *w))?;
        q.run(all, subtract(&*u, &*w, &mut *r))?;
        q.run(all, copy_in(&*r, p.slice_mut([1, 1], all)?))?;
        q.run(all, dot(&*r, &*r, &mut *rr))?;
        q.run(1, set_goal(&*rr, end, go))?;
        Ok(())
    }

    fn iteration(&mut self, q: &Queue) -> folio::Result<()> {
        let Plate { side, kx, ky, u, r, w, p, rr, pw, next, end, go, done, .. } = self;
        let all = [*side, *side];
        q.run(all, apply(&*kx, &*ky, &*p, &mut *w))?;
        q.run(all, dot(p.slice([1, 1], all)?, &*w, &mut *pw))?;
        q.run(all, advance(&*rr, &*pw, p.slice([1, 1], all)?, &*w, u, &mut *r))?;
        q.run(all, dot(&*r, &*r, &mut *next))?;
        q.run(all, turn(&*rr, &*next, &*r, p.slice_mut([1, 1], all)?))?;
        q.run(1, decide(&*end, &*next, rr, go, done))?;
        Ok(())
    }

    fn heat(&self) -> folio::Result<f64> {
        Ok(self.u.read()?.iter().sum())
    }

    /// What TeaLeaf's summary calls *U*.
    fn summary(&self) -> folio::Result<f64> {
        let (density, u) = (self.density.read()?, self.u.read()?);
        let all: f64 = density.iter().zip(u.iter()).map(|(density, u)| density * u).sum();
        Ok(all * (LENGTH / self.side as f64).powi(2))
    }
}

/// The outcome of a run.
struct Outcome {
    bits: Vec<u64>,
    iterations: u32,
    seconds: f64,
}

fn simulate(q: &Queue, side: usize, steps: usize, mode: &str) -> Result<Outcome, Box<dyn Error>> {
    let mut plate = Plate::new(q, side)?;
    let before = plate.heat()?;
    // The iteration as a graph, and the whole step as one.
    let body = q.runtime().graph(&q.device())?;
    let recording = body.record([q])?;
    plate.iteration(q)?;
    drop(recording);
    let fused = body.finalize_with(FinalizeOptions::new().enable_fusion())?;
    let solve = q.runtime().graph(&q.device())?;
    solve.while_(&[], &plate.go, LIMIT, &body.finalize()?)?;
    let solve = solve.finalize()?;
    let begin = Instant::now();
    for _ in 0..steps {
        plate.start(q)?;
        if mode == "graph" {
            q.run_graph(&solve)?;
            continue;
        }
        while plate.go.get([0])? != 0 {
            match mode {
                "plain" => plate.iteration(q)?,
                "batch" => drop(q.batch(|q| plate.iteration(q))?),
                "fused" => drop(q.run_graph(&fused)?),
                _ => return Err(format!("no mode '{mode}'").into()),
            }
        }
    }
    let iterations = plate.done.get([0])?;
    let seconds = begin.elapsed().as_secs_f64();
    let after = plate.heat()?;
    if iterations == 0 || (after - before).abs() > 1e-9 * before {
        return Err(format!("heat was {before}, and is {after}").into());
    }
    let summary = plate.summary()?;
    let known = KNOWN.iter().find(|(known, _)| (*known, 10) == (side, steps));
    if let Some((_, known)) = known.filter(|(_, known)| (summary / known - 1.0).abs() > 1e-8) {
        return Err(format!("the summary is {summary}, where TeaLeaf's is {known}").into());
    }
    let bits = plate.u.read()?.iter().map(|u| u.to_bits()).collect();
    Ok(Outcome { bits, iterations, seconds })
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |nth: usize, default| words.get(nth).map_or(Ok(default), |word| word.parse());
    let (side, steps) = (number(0, 48usize)?, number(1, 3usize)?);
    let modes = words.get(2).map_or(vec!["plain", "batch", "graph", "fused"], |mode| vec![mode]);
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    simulate(&q, 10, 10, "plain")?;
    let mut first: Option<Outcome> = None;
    for mode in modes {
        let run = simulate(&q, side, steps, mode)?;
        let each = run.seconds * 1e6 / f64::from(run.iterations);
        println!(
            "{mode:>5}: {} iterations, {:.3} s, {each:.1} us each",
            run.iterations, run.seconds
        );
        if first.as_ref().is_some_and(|first| first.bits != run.bits) {
            return Err(format!("{mode} gives other bits").into());
        }
        first.get_or_insert(run);
    }
    Ok(())
}
