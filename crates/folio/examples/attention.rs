//! `softmax(q k^T) v` in one kernel of tiles, without the scores in memory; beside a host's loops.
//!
//! `cargo run --release --example attention [heads] [length]`; `FOLIO_DEVICE=cuda` and the like
//! choose the device.

use folio::prelude::*;
use std::time::Instant;

/// Queries of a group.
const ROWS: usize = 64;
/// Keys of a step.
const KEYS: usize = 64;
/// Elements of a head.
const WIDTH: usize = 64;
/// No score is less.
const LEAST: f32 = -1.0e30;

#[kernel(group = [1, 16, 16])]
fn attention(
    g: Group<3>,
    q: In<f32, 3>,
    k: In<f32, 3>,
    v: In<f32, 3>,
    scale: f32,
    out: OutTile<f32, ROWS, WIDTH, 3>,
) {
    let (head, row, _) = g.pos();
    let queries = q.tile::<ROWS, WIDTH>((head, row * ROWS, 0));
    let mut most = Tile::<f32, ROWS, 1>::fill(LEAST);
    let mut total = Tile::<f32, ROWS, 1>::zero();
    let mut sum = Tile::<f32, ROWS, WIDTH>::zero();
    let count = k.shape()[1];
    for step in 0..count.div_ceil(KEYS) {
        let first = step * KEYS;
        let keys = k.tile_transposed::<WIDTH, KEYS>((head, 0, first));
        let mut scores = Tile::<f32, ROWS, KEYS>::zero();
        scores.add_product(&queries, &keys);
        let scores =
            scores.map_indexed(|(_, c), x| if first + c < count { x * scale } else { LEAST });
        let above = most.zip(&scores.reduce_rows::<Max>(), |a, b| a.max(b));
        let factor = most.zip(&above, |before, now| (before - now).exp());
        let powers = scores.zip(&above, |x, most| (x - most).exp());
        total = total.zip(&factor, |x, f| x * f).zip(&powers.reduce_rows::<Add>(), |x, y| x + y);
        sum = sum.zip(&factor, |x, f| x * f);
        let values = v.tile::<KEYS, WIDTH>((head, first, 0));
        sum.add_product(&powers, &values);
        most = above;
    }
    out.put(g, sum.zip(&total, |x, total| x / total));
}

/// One row, by the definition.
fn row_of(q: &[f32], k: &[f32], v: &[f32], scale: f32) -> Vec<f32> {
    let dot = |key: &[f32]| q.iter().zip(key).map(|(q, k)| q * k).sum::<f32>() * scale;
    let scores: Vec<f32> = k.chunks_exact(WIDTH).map(dot).collect();
    let most = scores.iter().copied().fold(LEAST, f32::max);
    let powers: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
    let total: f32 = powers.iter().sum();
    let column = |c| {
        powers.iter().zip(v.chunks_exact(WIDTH)).map(|(p, v): (&f32, &[f32])| p * v[c]).sum::<f32>()
    };
    (0..WIDTH).map(|c| column(c) / total).collect()
}

fn main() -> folio::Result<()> {
    let mut given = std::env::args().skip(1).filter_map(|of| of.parse::<usize>().ok());
    let (heads, n) = (given.next().unwrap_or(2), given.next().unwrap_or(200));
    let shape = [heads, n, WIDTH];
    let rt = folio::runtime()?;
    let queue = rt.queue()?;
    let made = |seed: u32| {
        let number = |k: usize| (k as u32 ^ seed).wrapping_mul(0x9e37_79b1) >> 8;
        let values: Vec<f32> =
            (0..heads * n * WIDTH).map(|k| number(k) as f32 / (1 << 24) as f32 - 0.5).collect();
        rt.buffer_from((&values, shape))
    };
    let (q, k, v) = (made(1)?, made(2)?, made(3)?);
    let mut out = rt.buffer::<f32, 3>(shape)?;
    let scale = 1.0 / (WIDTH as f32).sqrt();
    let items = [heads, n.div_ceil(ROWS) * 16, 16];
    queue.run(items, attention(&q, &k, &v, scale, &mut out))?;
    queue.wait()?;
    let start = Instant::now();
    queue.run(items, attention(&q, &k, &v, scale, &mut out))?;
    queue.wait()?;
    let took = start.elapsed();
    let products = 4.0 * (heads * n * n * WIDTH) as f64;
    let rate = products / took.as_secs_f64() / 1.0e9;
    println!("{heads} heads of {n} x {WIDTH}: {took:.1?}, {rate:.0} GFLOP/s");

    let (q, k, v, out) = (q.to_vec()?, k.to_vec()?, v.to_vec()?, out.to_vec()?);
    let head = |of: &[f32], row: usize| of[row / n * n * WIDTH..][..n * WIDTH].to_vec();
    for row in (0..heads * n).step_by(1 + heads * n / 64) {
        let own = row * WIDTH..(row + 1) * WIDTH;
        let wanted = row_of(&q[own.clone()], &head(&k, row), &head(&v, row), scale);
        let near = wanted.iter().zip(&out[own]).all(|(a, b)| (a - b).abs() < 1.0e-4);
        assert!(near, "row {row}");
    }
    Ok(())
}
