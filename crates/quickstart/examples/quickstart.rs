//! A first look: three kernels beside plain loops, and a stencil over two memories.
//!
//! ```sh
//! cargo run --release -p quickstart
//! FOLIO_DEVICE=cuda cargo run --release -p quickstart --features cuda
//! ```
//!
//! It fails unless results are right, and each step of the stencil moves the halo and nothing else.
#![forbid(unsafe_code)]

use folio::cpu::CpuBackend;
use folio::prelude::*;
use std::error::Error;
use std::time::Instant;

/// Elements of the vectors: 32 MiB each, which no cache holds.
const N: usize = 8 << 20;
/// The plate, one page for each row.
const ROWS: usize = 2048;
const COLUMNS: usize = 2048;
const STEPS: usize = 10;
/// Each is timed so often, and the best counts.
const ROUNDS: usize = 15;

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

#[kernel]
fn bell(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = (-x[i] * x[i]).exp();
}

/// Each element becomes the mean of its neighbours.
#[kernel]
fn heat(i: Item<2>, old: In<f32, 2>, new: Out<f32, 2>) {
    let (r, c) = i.pos();
    new[i] = 0.25 * (old[(r - 1, c)] + old[(r + 1, c)] + old[(r, c - 1)] + old[(r, c + 1)]);
}

#[folio::main] // a failure that nothing asks for is the program's
fn main() -> Result<(), Box<dyn Error>> {
    let rt = folio::runtime()?; // every backend that is compiled in
    let q = rt.queue()?; // the best device, or the one that FOLIO_DEVICE names
    println!("{} beside plain loops on one thread:\n", q.device().name());
    vectors(&rt, &q)?;
    let plate = one_memory(&rt, &q)?;
    two_memories(&plate)
}

/// Kernels over vectors.
fn vectors(rt: &Runtime, q: &Queue) -> Result<(), Box<dyn Error>> {
    let values: Vec<f32> = (0..N).map(|k| (k % 1000) as f32 / 250.0).collect();
    let x = rt.buffer_from(&values)?;
    let mut y = rt.buffer::<f32, 1>(N)?; // no memory yet; reads as zero
    let mut by_hand = vec![0.0; N];

    let ours = gb_per_s(12 * N, || q.run(N, saxpy(2.0, &x, &mut y))?.wait())?;
    let theirs = gb_per_s(12 * N, || {
        by_hand.iter_mut().zip(&values).for_each(|(y, x)| *y += 2.0 * x);
        Ok(())
    })?;
    line("saxpy", ours, theirs);
    check(&y.read()?, &by_hand, 0.0)?; // `read` waits, and brings `y` to the host

    let ours = gb_per_s(8 * N, || q.run(N, bell(&x, &mut y))?.wait())?;
    let theirs = gb_per_s(8 * N, || {
        by_hand.iter_mut().zip(&values).for_each(|(y, x)| *y = (-x * x).exp());
        Ok(())
    })?;
    line("exp(-x*x)", ours, theirs);
    check(&y.read()?, &by_hand, 1e-6)
}

/// A stencil on the queue's device, which is also what two memories are to compute.
fn one_memory(rt: &Runtime, q: &Queue) -> Result<Vec<f32>, Box<dyn Error>> {
    let [mut old, mut new] = plates(rt)?;
    let inside = Items::from([ROWS, COLUMNS]).interior(1);
    let bytes = 8 * ROWS * COLUMNS * STEPS;
    let mut result = Vec::new();
    let ours = gb_per_s(bytes, || {
        for _ in 0..STEPS {
            q.run(inside, heat(&old, &mut new))?;
            std::mem::swap(&mut old, &mut new);
        }
        q.wait()
    })?;
    let (mut a, mut b) = (hot_at_the_top(), hot_at_the_top());
    let theirs = gb_per_s(bytes, || {
        for _ in 0..STEPS {
            heat_by_hand(&a, &mut b);
            std::mem::swap(&mut a, &mut b);
        }
        result.clone_from(&a);
        Ok(())
    })?;
    line("stencil", ours, theirs);
    check(&old.read()?, &a, 0.0)?;
    Ok(result)
}

/// The same steps on two devices with a memory each, a half of the plate on each.
fn two_memories(wanted: &[f32]) -> Result<(), Box<dyn Error>> {
    let cpu = CpuBackend::builder().domains(2).build()?;
    let rt = Runtime::builder().backend(cpu).build()?;
    let queues = [rt.queue_on("cpu:0")?, rt.queue_on("cpu:1")?];
    let halves = [1..ROWS / 2, ROWS / 2..ROWS - 1];
    let [mut old, mut new] = plates(&rt)?;
    let halo = 2 * (COLUMNS - 2) * size_of::<f32>();
    println!("\nThe same stencil over two memories, half of the plate in each:\n");

    let mut moved = Vec::new();
    for _ in 0..ROUNDS * STEPS {
        let before = rt.counters().transfers().bytes;
        for (q, rows) in queues.iter().zip(&halves) {
            // Nothing is said about copies: the kernel's indices say what it reads.
            q.run([rows.clone(), 1..COLUMNS - 1], heat(&old, &mut new))?;
        }
        std::mem::swap(&mut old, &mut new);
        moved.push(rt.counters().transfers().bytes - before);
    }
    let [first, second, rest @ ..] = &moved[..] else { return Err("too few steps".into()) };
    println!("  brought to the second memory by the first two steps {:>12} bytes", first + second);
    println!("  moved by each step after, a row in each direction   {:>12} bytes", rest[0]);
    println!("  of a plate of                                       {:>12} bytes", 4 * old.len());
    if let Some(bytes) = rest.iter().find(|bytes| **bytes != halo as u64) {
        return Err(format!("a step moved {bytes} bytes, and the halo has {halo}").into());
    }
    check(&old.read()?, wanted, 0.0)?;
    println!("  the result has the same bits");
    Ok(())
}

/// Two plates in pages of a row.
fn plates(rt: &Runtime) -> folio::Result<[Buffer<f32, 2>; 2]> {
    let rows = || BufferOptions::new().page([1, COLUMNS]);
    let plate = || rt.buffer_with((hot_at_the_top(), [ROWS, COLUMNS]), rows()); // not copied
    Ok([plate()?, plate()?])
}

fn hot_at_the_top() -> Vec<f32> {
    let mut plate = vec![0.0; ROWS * COLUMNS];
    plate[..COLUMNS].fill(100.0);
    plate
}

fn heat_by_hand(old: &[f32], new: &mut [f32]) {
    let row = |r: usize| &old[r * COLUMNS..(r + 1) * COLUMNS];
    for r in 1..ROWS - 1 {
        let (above, here, below) = (row(r - 1), row(r), row(r + 1));
        let new = &mut new[r * COLUMNS..(r + 1) * COLUMNS];
        for c in 1..COLUMNS - 1 {
            new[c] = 0.25 * (above[c] + below[c] + here[c - 1] + here[c + 1]);
        }
    }
}

/// The best of some rounds of what moves so many bytes.
fn gb_per_s(bytes: usize, mut run: impl FnMut() -> folio::Result<()>) -> folio::Result<f64> {
    let mut best = 0.0f64;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run()?;
        best = best.max(bytes as f64 / start.elapsed().as_secs_f64() / 1e9);
    }
    Ok(best)
}

fn line(what: &str, ours: f64, theirs: f64) {
    let times = ours / theirs;
    println!("  {what:<10} {ours:>7.1} GB/s   plain loop {theirs:>6.1} GB/s   {times:>5.1} times");
}

/// Both are equal, up to so much.
fn check(ours: &[f32], by_hand: &[f32], most: f32) -> Result<(), Box<dyn Error>> {
    let differs = |(a, b): (&f32, &f32)| (a - b).abs() > most;
    match ours.iter().zip(by_hand).position(differs) {
        Some(at) => Err(format!("element {at} is {}, not {}", ours[at], by_hand[at]).into()),
        None => Ok(()),
    }
}
