//! Products of square matrices: each element by itself, and tile by tile in local memory.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, on_host, on_native, read, told};
use crate::error::Result;
use crate::hand::host::{loops, owned};
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct MatMul;

/// The side of a tile.
const TILE: usize = 16;

#[kernel]
fn naive(i: Item<2>, a: In<f32, 2>, b: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let mut sum = 0.0;
    for k in 0..a.shape()[1] {
        sum += a[(r, k)] * b[(k, c)];
    }
    y[i] = sum;
}

#[kernel(group = [TILE, TILE])]
fn tiled(
    g: Group<2>,
    a: In<f32, 2>,
    b: In<f32, 2>,
    ta: Local<f32, 256>,
    tb: Local<f32, 256>,
    y: Out<f32, 2>,
) {
    let acc = g.private(0.0);
    for t in 0..a.shape()[1] / TILE {
        g.each(|i| {
            let ((r, k), (row, column)) = (i.local_pos(), i.pos());
            ta[i] = a[(row, t * TILE + k)];
            tb[i] = b[(t * TILE + r, column)];
        });
        g.each(|i| {
            let (r, k) = i.local_pos();
            let mut sum = acc[i];
            for j in 0..TILE {
                sum += ta[r * TILE + j] * tb[j * TILE + k];
            }
            acc[i] = sum;
        });
    }
    g.each(|i| y[i] = acc[i]);
}

loops! {
    // The loops interchanged, which vectors like.
    pub(super) fn by_rows(row: &[f32], b: &[f32], y: &mut [f32]) {
        let n = y.len();
        y.fill(0.0);
        for (k, a) in row.iter().enumerate() {
            for (y, b) in y.iter_mut().zip(&b[k * n..(k + 1) * n]) {
                *y += a * b;
            }
        }
    }
    // A band of rows, tile by tile.
    fn tiles(a: &[f32], b: &[f32], y: &mut [f32], n: usize) {
        for c in (0..n).step_by(TILE) {
            let mut acc = [[0.0f32; TILE]; TILE];
            for t in (0..n).step_by(TILE) {
                let ta: [[f32; TILE]; TILE] =
                    std::array::from_fn(|r| std::array::from_fn(|k| a[r * n + t + k]));
                let tb: [[f32; TILE]; TILE] =
                    std::array::from_fn(|r| std::array::from_fn(|k| b[(t + r) * n + c + k]));
                for r in 0..TILE {
                    for j in 0..TILE {
                        for k in 0..TILE {
                            acc[r][k] += ta[r][j] * tb[j][k];
                        }
                    }
                }
            }
            for (r, acc) in acc.iter().enumerate() {
                y[r * n + c..][..TILE].copy_from_slice(acc);
            }
        }
    }
}

const TEXT: &str = "
#define TILE 16
KERNEL naive(uint n, GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b,
             GLOBAL float *RESTRICT y) {
    WITHIN(X, n); WITHIN(Y, n);
    float sum = 0.0f;
    for (uint k = 0; k < n; k++) sum += a[Y * n + k] * b[k * n + X];
    y[Y * n + X] = sum;
}
KERNEL GROUP(TILE, TILE) tiled(uint n, GLOBAL const float *RESTRICT a,
                               GLOBAL const float *RESTRICT b, GLOBAL float *RESTRICT y) {
    LOCAL float ta[TILE][TILE];
    LOCAL float tb[TILE][TILE];
    float sum = 0.0f;
    for (uint t = 0; t < n; t += TILE) {
        ta[LY][LX] = a[Y * n + t + LX];
        tb[LY][LX] = b[(t + LY) * n + X];
        BARRIER;
        for (uint j = 0; j < TILE; j++) sum += ta[LY][j] * tb[j][LX];
        BARRIER;
    }
    y[Y * n + X] = sum;
}
";

impl Workload for MatMul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn about(&self) -> &'static str {
        "products of squares; naive on a CPU is against interchanged loops"
    }

    fn unit(&self) -> &'static str {
        "rows"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["naive", "tiled"]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[9, 8, 10], &[11, 10, 12], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let n = case.size;
        let work = Work {
            bytes: (12 * n * n) as f64,
            flops: 2.0 * (n * n * n) as f64,
            launches: 1.0,
            working_set: (12 * n * n) as f64,
            ..Work::default()
        };
        let [a, b] = [1, 2].map(|which| bench.floats(n * n, which));
        let is_tiled = case.mode == "tiled";
        let ours = ours(bench, is_tiled, n, [&a, &b])?;
        let theirs = match &bench.hand {
            Hand::Host => host(is_tiled, n, a, b),
            Hand::Native(native) => driver(native, case.mode, n, [&a, &b])?,
        };
        Ok(bench.pair(work, ours, theirs))
    }
}

fn ours(bench: &Bench, is_tiled: bool, n: usize, [a, b]: [&[f32]; 2]) -> Result<Side> {
    let (a, b) = (bench.buffer([n, n], a)?, bench.buffer([n, n], b)?);
    let y = bench.buffer([n, n], &vec![0.0f32; n * n])?;
    let out = y.clone();
    Ok(bench.ours(&out, move |q| match is_tiled {
        true => q.run([n, n], tiled(&a, &b, &y)).map(drop),
        false => q.run([n, n], naive(&a, &b, &y)).map(drop),
    }))
}

fn host(is_tiled: bool, n: usize, a: Vec<f32>, b: Vec<f32>) -> Side {
    let y = owned(vec![0.0f32; n * n]);
    let tell = told(&y);
    let work = move || {
        let mut y = y.lock();
        let rows = if is_tiled { TILE } else { 1 };
        let bands = y.par_chunks_mut(rows * n).zip(a.par_chunks(rows * n));
        bands.for_each(|(y, a)| if is_tiled { tiles(a, &b, y, n) } else { by_rows(a, &b, y) });
    };
    on_host(work, tell)
}

fn driver(native: &Arc<dyn Native>, mode: &str, n: usize, [a, b]: [&[f32]; 2]) -> Result<Side> {
    let (a, b) = (Arc::new(Memory::of(native, a)?), Arc::new(Memory::of(native, b)?));
    let y = Arc::new(Memory::of(native, &vec![0.0f32; n * n])?);
    let args = [n.into(), Arg::from(&a), Arg::from(&b), Arg::from(&y)];
    let call = Call::new(native, (TEXT, mode), [n, n], args)?;
    let call = if mode == "tiled" { call.grouped([TILE, TILE]) } else { call };
    Ok(on_native(native, vec![call], read::<f32>(&y, n * n)))
}
