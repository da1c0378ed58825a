//! The same commands submitted in each way that there is: one by one, as a block that comes again,
//! with the same scalars and with others, and as a graph; plain and fused. On any device.

use folio::graph::FinalizeOptions;
use folio::prelude::*;
use folio_core::{Error, Executable, Result, graph::Replay};
use std::time::{Duration, Instant};

/// Runs before that: the first ones compile kernels, plan, and have the device make its graphs.
const WARM: usize = 20;

#[kernel]
fn step(i: Item, s: f32, x: InOut<f32>) {
    x[i] = 0.5 * x[i] + s;
}

#[kernel]
fn diffuse(i: Item<2>, s: f32, a: In<f32, 2>, b: Out<f32, 2>) {
    let (r, c) = i.pos();
    let [rows, columns] = a.shape();
    let (up, down) = (r.max(1) - 1, (r + 1).min(rows - 1));
    let (left, right) = (c.max(1) - 1, (c + 1).min(columns - 1));
    let around = a[[up, c]] + a[[down, c]] + a[[r, left]] + a[[r, right]];
    b[i] = a[i] + s * (around - 4.0 * a[i]);
}

#[kernel]
fn sum(i: Item, x: In<f32>, total: Reduce<f32, Add>) {
    total.give(x[i]);
}

#[kernel]
fn scaled(i: Item, s: f32, total: In<f32>, x: InOut<f32>) {
    x[i] = s * x[i] + total[0] * 1e-9;
}

#[kernel]
fn product(i: Item, s: f32, a: In<f32>, b: In<f32>, y: Out<f32>) {
    y[i] = s * a[i] * b[i];
}

/// `w = A p`, of the Laplacian.
#[kernel]
fn apply(i: Item<2>, p: In<f32, 2>, w: Out<f32, 2>) {
    let (r, c) = i.pos();
    let around = p[[r, c + 1]] + p[[r + 2, c + 1]] + p[[r + 1, c]] + p[[r + 1, c + 2]];
    w[i] = 4.01 * p[[r + 1, c + 1]] - around;
}

#[kernel]
fn dot(i: Item<2>, a: In<f32, 2>, b: In<f32, 2>, total: Reduce<f32, Add>) {
    total.give(a[i] * b[i]);
}

#[kernel]
fn advance(
    i: Item<2>,
    rr: In<f32>,
    pw: In<f32>,
    p: In<f32, 2>,
    w: In<f32, 2>,
    u: InOut<f32, 2>,
    r: InOut<f32, 2>,
) {
    let alpha = rr[0] / (pw[0] + 1e-30);
    u[i] = u[i] + alpha * p[i];
    r[i] = r[i] - alpha * w[i];
}

#[kernel]
fn turn(i: Item<2>, rr: In<f32>, next: In<f32>, r: In<f32, 2>, p: InOut<f32, 2>) {
    p[i] = r[i] + next[0] / (rr[0] + 1e-30) * p[i];
}

#[kernel]
fn keep(i: Item, next: In<f32>, rr: Out<f32>) {
    rr[i] = next[i];
}

/// Commands that a program submits again and again, with a scalar.
pub struct Work {
    /// Name of it.
    pub name: String,
    submit: Submit,
}

type Submit = Box<dyn Fn(&Queue, f32) -> Result<()>>;

impl Work {
    fn new(name: String, submit: impl Fn(&Queue, f32) -> Result<()> + 'static) -> Work {
        Work { name, submit: Box::new(submit) }
    }
}

fn filled(rt: &Runtime, n: usize) -> Result<Shared<f32>> {
    Ok(rt.buffer_from(vec![0.5; n])?.into_shared())
}

fn plane(rt: &Runtime, [rows, columns]: [usize; 2]) -> Result<Shared<f32, 2>> {
    Ok(rt.buffer_from((vec![0.5; rows * columns], [rows, columns]))?.into_shared())
}

/// So many tiny kernels, one behind the other.
fn chain(rt: &Runtime, count: usize) -> Result<Work> {
    let x = filled(rt, 64)?;
    Ok(Work::new(format!("chain of {count} tiny kernels"), move |q, s| {
        (0..count).try_for_each(|_| q.run(64, step(s, &x)).map(drop))
    }))
}

fn heat(rt: &Runtime) -> Result<Work> {
    let (a, b) = (plane(rt, [256, 256])?, plane(rt, [256, 256])?);
    Ok(Work::new("100 steps of heat, 256 x 256".to_owned(), move |q, s| {
        for _ in 0..50 {
            q.run([256, 256], diffuse(s * 0.1, &a, &b))?;
            q.run([256, 256], diffuse(s * 0.1, &b, &a))?;
        }
        Ok(())
    }))
}

fn fan(rt: &Runtime, n: usize) -> Result<Work> {
    let pairs = (0..8).map(|_| Ok((filled(rt, n)?, filled(rt, 1)?)));
    let pairs = pairs.collect::<Result<Vec<_>>>()?;
    Ok(Work::new(format!("fan of 8 sums and updates, {n}"), move |q, s| {
        pairs.iter().try_for_each(|(x, total)| q.run(n, sum(x, total)).map(drop))?;
        pairs.iter().try_for_each(|(x, total)| q.run(n, scaled(s, total, x)).map(drop))
    }))
}

fn four(rt: &Runtime, n: usize) -> Result<Work> {
    let [x, y, out] = [filled(rt, n)?, filled(rt, n)?, filled(rt, n)?];
    let rt = rt.clone();
    Ok(Work::new(format!("four kernels over {n}"), move |q, s| {
        let (mut a, mut b, mut c) = (rt.buffer(n)?, rt.buffer(n)?, rt.buffer(n)?);
        q.run(n, product(s, &x, &y, &mut a))?;
        q.run(n, product(s, &a, &x, &mut b))?;
        q.run(n, product(s, &b, &a, &mut c))?;
        q.run(n, product(s, &c, &b, &out)).map(drop)
    }))
}

fn gradients(rt: &Runtime, side: usize) -> Result<Work> {
    let all = [side, side];
    let (u, r, w) = (plane(rt, all)?, plane(rt, all)?, plane(rt, all)?);
    let p = plane(rt, [side + 2, side + 2])?;
    let [rr, pw, next] = [filled(rt, 1)?, filled(rt, 1)?, filled(rt, 1)?];
    Ok(Work::new(format!("an iteration of conjugate gradients, {side} x {side}"), move |q, _| {
        let inside = || p.slice([1, 1], all);
        q.run(all, apply(&p, &w))?;
        q.run(all, dot(inside()?, &w, &pw))?;
        q.run(all, advance(&rr, &pw, inside()?, &w, &u, &r))?;
        q.run(all, dot(&r, &r, &next))?;
        q.run(all, turn(&rr, &next, &r, p.slice_mut([1, 1], all)?))?;
        q.run(1, keep(&next, &rr)).map(drop)
    }))
}

/// All of it.
pub fn works(rt: &Runtime) -> Result<Vec<Work>> {
    Ok(vec![
        chain(rt, 10)?,
        chain(rt, 100)?,
        heat(rt)?,
        fan(rt, 1 << 12)?,
        fan(rt, 1 << 20)?,
        four(rt, 1 << 16)?,
        gradients(rt, 256)?,
    ])
}

/// A way in which commands are submitted, and its time with the wait, in the middle of many.
pub type Way = (&'static str, Duration);

fn median(count: usize, once: &mut dyn FnMut(f32) -> Result<()>) -> Result<Duration> {
    (0..WARM).try_for_each(|_| once(1.0))?;
    let mut all = Vec::with_capacity(count);
    for nth in 0..count {
        let started = Instant::now();
        once(1.0 - nth as f32 * 1e-6)?;
        all.push(started.elapsed());
    }
    all.sort_unstable();
    Ok(all.get(count / 2).copied().unwrap_or_default())
}

fn graph(q: &Queue, work: &Work, options: FinalizeOptions) -> Result<Executable> {
    let graph = q.runtime().graph(&q.device())?;
    let recording = graph.record(std::slice::from_ref(q))?;
    (work.submit)(q, 1.0)?;
    drop(recording);
    graph.finalize_with(options)
}

/// The times of the ways that are chosen, each the median of so many. A device without fusion has
/// no fused ones.
pub fn times(
    q: &Queue,
    work: &Work,
    (is_chosen, count): (&dyn Fn(&str) -> bool, usize),
) -> Result<Vec<Way>> {
    let submit = |q: &Queue, s| (work.submit)(q, s);
    let ran = |event: folio_core::Event| event.wait();
    let run = |graph: &Executable| ran(q.run_graph(graph)?);
    let mut all = Vec::new();
    let mut time = |way: &'static str, once: &mut dyn FnMut(f32) -> Result<()>| -> Result<()> {
        if is_chosen(way) {
            all.push((way, median(count, once)?));
        }
        Ok(())
    };
    let plain = graph(q, work, FinalizeOptions::new())?;
    time("graph", &mut |_| run(&plain))?;
    plain.replay_as(Replay::Commands);
    time("commands", &mut |_| run(&plain))?;
    time("one by one", &mut |_| submit(q, 1.0).and_then(|()| q.wait()))?;
    time("batch", &mut |_| ran(q.batch(|q| submit(q, 1.0))?.1))?;
    time("other scalars", &mut |s| ran(q.batch(|q| submit(q, s))?.1))?;
    let fused = match graph(q, work, FinalizeOptions::new().enable_fusion()) {
        Err(Error::Unsupported { .. }) => return Ok(all),
        other => other?,
    };
    time("fused graph", &mut |_| run(&fused))?;
    time("fused batch", &mut |_| ran(q.batch_fused(|q| submit(q, 1.0))?.1))?;
    time("fused, other scalars", &mut |s| ran(q.batch_fused(|q| submit(q, s))?.1))?;
    Ok(all)
}
