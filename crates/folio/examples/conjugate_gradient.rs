//! Conjugate gradients for Poisson's equation: one graph with a `while` node, beside the same
//! solver submitted step by step.
//!
//! The solver stops when the residual is small, which only the device knows. Step by step, the host
//! reads a flag after each iteration, and waits for it. In the graph the flag is the condition of a
//! `while` node, and the host submits one run. Both do the same operations in the same order, so
//! the program checks that their results have the same bits. The picture has the solution.
//!
//! `conjugate_gradient [PICTURE [SIDE]]`
#![forbid(unsafe_code)]

mod picture;

use folio::prelude::*;
use std::error::Error;
use std::time::Instant;

/// When to stop: the square of the residual.
const SMALL: f32 = 1e-6;
/// Iterations that are more than enough.
const LIMIT: u64 = 1000;
const COLOURS: [[u8; 3]; 5] =
    [[20, 60, 140], [120, 180, 220], [245, 245, 240], [240, 150, 90], [140, 20, 40]];

/// `ap = A p`: four times each cell, less its neighbours. Cells beyond the border are 0.
#[kernel]
fn laplace(i: Item<2>, p: In<f32, 2>, ap: Out<f32, 2>) {
    let (row, column) = i.pos();
    let mut sum = 4.0 * p[i];
    if row > 0 {
        sum -= p[[row - 1, column]];
    }
    if row + 1 < p.shape()[0] {
        sum -= p[[row + 1, column]];
    }
    if column > 0 {
        sum -= p[[row, column - 1]];
    }
    if column + 1 < p.shape()[1] {
        sum -= p[[row, column + 1]];
    }
    ap[i] = sum;
}

#[kernel]
fn dot(i: Item<2>, a: In<f32, 2>, b: In<f32, 2>, sum: Reduce<f32, Add>) {
    sum.give(a[i] * b[i]);
}

/// A step along `p`: of the solution, and of the residual.
#[kernel]
fn step(
    i: Item<2>,
    rr: In<f32>,
    pap: In<f32>,
    p: In<f32, 2>,
    ap: In<f32, 2>,
    x: InOut<f32, 2>,
    r: InOut<f32, 2>,
) {
    let alpha = rr[0] / pap[0];
    x[i] = x[i] + alpha * p[i];
    r[i] = r[i] - alpha * ap[i];
}

/// The next direction.
#[kernel]
fn turn(i: Item<2>, rr: In<f32>, next: In<f32>, r: In<f32, 2>, p: InOut<f32, 2>) {
    p[i] = r[i] + next[0] / rr[0] * p[i];
}

/// Whether to go on, and how often it has gone on.
#[kernel]
fn decide(i: Item, small: f32, next: In<f32>, rr: Out<f32>, go: Out<u32>, iterations: InOut<u32>) {
    rr[i] = next[i];
    go[i] = if next[i] > small { 1 } else { 0 };
    iterations[i] += 1;
}

/// By how much the equation of any cell is off, by plain loops.
fn residual(x: &[f32], side: usize) -> f32 {
    let off = |k: usize| {
        let (row, column) = (k / side, k % side);
        let at = |is_inside: bool, k: usize| if is_inside { x[k] } else { 0.0 };
        let left = at(column > 0, k.wrapping_sub(1)) + at(column + 1 < side, k + 1);
        let above = at(row > 0, k.wrapping_sub(side)) + at(row + 1 < side, k + side);
        4.0 * x[k] - left - above
    };
    let off = sources(side).into_iter().enumerate().map(|(k, given)| (off(k) - given).abs());
    off.reduce(f32::max).unwrap_or_default()
}

struct Solver {
    /// Rows and columns of the grid.
    side: usize,
    x: Buffer<f32, 2>,
    r: Buffer<f32, 2>,
    p: Buffer<f32, 2>,
    ap: Buffer<f32, 2>,
    /// Scalars, which stay on the device.
    rr: Buffer<f32>,
    pap: Buffer<f32>,
    next: Buffer<f32>,
    go: Buffer<u32>,
    iterations: Buffer<u32>,
}

/// Some cells give, and some take.
fn sources(side: usize) -> Vec<f32> {
    let mut source = vec![0.0; side * side];
    for (row, column, given) in [(1, 2, 1.0), (2, 1, -1.0), (3, 4, 0.7), (4, 3, -0.7), (4, 1, 0.4)]
    {
        source[side * row / 5 * side + side * column / 5] = given;
    }
    source
}

impl Solver {
    fn new(rt: &Runtime, side: usize) -> folio::Result<Solver> {
        let grid = || rt.buffer::<f32, 2>([side, side]);
        let (rr, pap, next) = (rt.buffer(1)?, rt.buffer(1)?, rt.buffer(1)?);
        let (go, iterations) = (rt.buffer(1)?, rt.buffer(1)?);
        Ok(Solver {
            side,
            x: grid()?,
            r: grid()?,
            p: grid()?,
            ap: grid()?,
            rr,
            pap,
            next,
            go,
            iterations,
        })
    }

    /// From `x = 0`: the sources are all residual.
    fn start(&mut self, q: &Queue) -> folio::Result<()> {
        let side = self.side;
        let source = sources(side);
        q.fill(&mut self.x, 0.0)?;
        self.r.write()?.copy_from_slice(&source);
        q.copy(&self.r, &mut self.p)?;
        q.run([side, side], dot(&self.r, &self.r, &mut self.rr))?;
        q.fill(&mut self.go, 1)?;
        q.fill(&mut self.iterations, 0)?;
        Ok(())
    }

    fn iteration(&mut self, q: &Queue) -> folio::Result<()> {
        let Solver { side, x, r, p, ap, rr, pap, next, go, iterations } = self;
        let all = [*side, *side];
        q.run(all, laplace(&*p, &mut *ap))?;
        q.run(all, dot(&*p, &*ap, &mut *pap))?;
        q.run(all, step(&*rr, &*pap, &*p, &*ap, x, &mut *r))?;
        q.run(all, dot(&*r, &*r, &mut *next))?;
        q.run(all, turn(&*rr, &*next, &*r, p))?;
        q.run(1, decide(SMALL, &*next, rr, go, iterations))?;
        Ok(())
    }

    fn solution(&self) -> folio::Result<(Vec<u32>, u32)> {
        let bits = self.x.to_vec()?.into_iter().map(f32::to_bits).collect();
        Ok((bits, self.iterations.get([0])?))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let side = picture::size_or(96)?.max(5);
    let mut solver = Solver::new(&rt, side)?;

    solver.start(&q)?;
    let begin = Instant::now();
    while solver.go.get([0])? != 0 {
        solver.iteration(&q)?;
    }
    let by_step = solver.solution()?;
    println!("step by step: {} iterations, {:?}", by_step.1, begin.elapsed());

    // The same function, recorded.
    let body = rt.graph(&q.device())?;
    let recording = body.record([&q])?;
    solver.iteration(&q)?;
    drop(recording);
    let graph = rt.graph(&q.device())?;
    graph.while_(&[], &solver.go, LIMIT, &body.finalize()?)?;
    let solve = graph.finalize()?;

    solver.start(&q)?;
    let begin = Instant::now();
    q.run_graph(&solve)?.wait()?;
    println!("one graph:    {} iterations, {:?}", solver.iterations.get([0])?, begin.elapsed());
    if by_step.1 < 10 || solver.solution()? != by_step {
        return Err("the graph's solution is not that of the solver step by step".into());
    }
    println!("the solutions have the same bits");

    // The second run: a device that has conditions of its own reads the flag itself, and the run is
    // one operation. Elsewhere a host thread reads it.
    solver.start(&q)?;
    q.run_graph(&solve)?.wait()?;
    if solver.solution()? != by_step {
        return Err("the second run's solution is another one".into());
    }
    let report = solve.replay_report();
    println!("by the device: {}", report.why_not().unwrap_or("the whole solver"));
    let by_device = report.why_not().is_none();
    if by_device != q.device().info().caps.conditions {
        return Err(format!("not what the guide says of conditions: {report:?}").into());
    }

    let x = solver.x.to_vec()?;
    let most = residual(&x, side);
    println!("no cell's equation is off by more than {most:.1e}");
    if most > 1e-3 {
        return Err("that is no solution".into());
    }
    let shades: Vec<f32> = x.iter().map(|v| v.signum() * v.abs().sqrt()).collect();
    picture::save(&shades, side, [-0.7, 0.7], &COLOURS)
}
