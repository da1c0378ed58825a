//! Calls of `folio::linalg`: products, Fourier transforms, sparse products.
//!
//! By hand, a kernel copies as many bytes as the work has to move. Results are those of plain Rust.

use super::library::{Call, copy_of};
use super::matmul::by_rows;
use crate::bench::{Bench, Case, Pair, Site, Workload};
use crate::error::Result;
use crate::record::Work;
use folio::bf16;
use folio::linalg::{Csr, Linalg, Transform};
use rayon::prelude::*;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

/// The workload.
pub struct Linear;

/// Elements of a row that is transformed by itself.
const ROW: usize = 1024;

impl Workload for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn about(&self) -> &'static str {
        "calls of folio::linalg; by hand a copy of as many bytes"
    }

    fn unit(&self) -> &'static str {
        "rows"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[
            "product f32",
            "product f64",
            "product bf16",
            "transform",
            "transform of rows",
            "sparse product",
        ]
    }

    fn sizes(&self, mode: &str, site: Site) -> Vec<usize> {
        match mode {
            "sparse product" => site.powers(&[20, 16], &[20, 24], 1, 2),
            mode if mode.starts_with('t') => site.powers(&[20, 16], &[24, 20], 1, 2),
            _ => site.powers(&[9, 8, 10], &[11, 10, 12], 1, 2),
        }
    }

    fn prepare(&self, bench: &Bench, Case { mode, size: n }: Case) -> Result<Pair> {
        let (Call { bytes, ours, expected }, flops) = match mode {
            "transform" => (transform(bench, n, n)?, 5 * n * n.ilog2() as usize),
            "transform of rows" => (transform(bench, n, ROW)?, 5 * n * ROW.ilog2() as usize),
            "sparse product" => (sparse_product(bench, n)?, 10 * n),
            _ => (product(bench, mode, n)?, 2 * n * n * n),
        };
        let work = Work {
            bytes: bytes as f64,
            flops: flops as f64,
            launches: 1.0,
            working_set: bytes as f64,
            ..Work::default()
        };
        let theirs = copy_of(bench, bytes, expected)?;
        let pair = bench.pair(work, ours, theirs);
        // A library may round results to the type of its inputs, and inputs of bf16 have 8 digits.
        let tolerance = if mode == "product bf16" { 1e-2 } else { pair.tolerance };
        let scale = match mode {
            "sparse product" => 1.0,
            "transform" => (n as f64).sqrt(),
            _ => (ROW as f64).sqrt(),
        };
        Ok(Pair { against: "a copy".to_owned(), tolerance, scale, ..pair })
    }
}

/// A product of squares.
fn product(bench: &Bench, mode: &str, n: usize) -> Result<Call> {
    let [a, b] = [1, 2].map(|which| bench.floats(n * n, which));
    let linalg = Linalg::new(&bench.q)?;
    let all = [n, n];
    let half = |values: &[f32]| values.iter().map(|x| bf16::from_f32(*x)).collect::<Vec<_>>();
    let wide = |values: &[f32]| values.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
    let rounded = |values: &[f32]| half(values).into_iter().map(f32::from).collect();
    let (words, ours) = if mode == "product f64" {
        let (a, b) = (bench.buffer(all, &wide(&a))?, bench.buffer(all, &wide(&b))?);
        let c = bench.buffer(all, &vec![0.0f64; n * n])?;
        let out = c.clone();
        (6, bench.ours(&out, move |_| linalg.matmul(&a, &b, &c).map(drop)))
    } else {
        let c = bench.buffer(all, &vec![0.0f32; n * n])?;
        let out = c.clone();
        if mode == "product bf16" {
            let (a, b) = (bench.buffer(all, &half(&a))?, bench.buffer(all, &half(&b))?);
            (2, bench.ours(&out, move |_| linalg.matmul(&a, &b, &c).map(drop)))
        } else {
            let (a, b) = (bench.buffer(all, &a)?, bench.buffer(all, &b)?);
            (3, bench.ours(&out, move |_| linalg.matmul(&a, &b, &c).map(drop)))
        }
    };
    let [a, b]: [Vec<f32>; 2] =
        if mode == "product bf16" { [rounded(&a), rounded(&b)] } else { [a, b] };
    let mut expected = vec![0.0f32; n * n];
    expected.par_chunks_mut(n).zip(a.par_chunks(n)).for_each(|(y, a)| by_rows(a, &b, y));
    Ok(Call { bytes: 4 * words * n * n, ours, expected: expected.into() })
}

/// Complex transforms of rows of `length`.
fn transform(bench: &Bench, n: usize, length: usize) -> Result<Call> {
    let values = bench.floats(2 * n, 1);
    let pairs: Vec<[f32; 2]> = values.as_chunks().0.to_vec();
    let shape = [n / length, length];
    let (x, y) = (bench.buffer(shape, &pairs)?, bench.buffer(shape, &vec![[0.0f32; 2]; n])?);
    let (out, linalg) = (y.clone(), Linalg::new(&bench.q)?);
    let ours = bench.ours(&out, move |_| linalg.fft(Transform::Forward, 1, &x, &y).map(drop));
    let number = |[re, im]: &[f32; 2]| Complex::new(f64::from(*re), f64::from(*im));
    let mut all: Vec<Complex<f64>> = pairs.iter().map(number).collect();
    FftPlanner::new().plan_fft_forward(length).process(&mut all);
    let expected: Vec<f32> = all.iter().flat_map(|z| [z.re as f32, z.im as f32]).collect();
    Ok(Call { bytes: 16 * n, ours, expected: expected.into() })
}

/// The 5-point matrix of a square grid, by rows.
fn five_points(n: usize) -> (Vec<u32>, Vec<u32>, Vec<f32>) {
    let side = 1 << (n.ilog2() / 2);
    let (mut ends, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for at in 0..n {
        let (r, c) = (at / side, at % side);
        let near = [
            (r > 0, at.wrapping_sub(side), -1.0),
            (c > 0, at.wrapping_sub(1), -1.0),
            (true, at, 4.0),
            (c + 1 < side, at + 1, -1.0),
            (r + 1 < side, at + side, -1.0),
        ];
        for (_, column, value) in near.into_iter().filter(|near| near.0) {
            columns.push(column as u32);
            values.push(value);
        }
        ends.push(columns.len() as u32);
    }
    (ends, columns, values)
}

fn sparse_product(bench: &Bench, n: usize) -> Result<Call> {
    let (ends, columns, values) = five_points(n);
    let from = bench.floats(n, 1);
    let row = |ends: &[u32]| {
        let row = ends[0] as usize..ends[1] as usize;
        row.map(|k| values[k] * from[columns[k] as usize]).sum::<f32>()
    };
    let expected: Vec<f32> = ends.windows(2).map(row).collect();
    let matrix = Csr::from_rows(&bench.rt, [n, n], &ends, &columns, &values)?;
    let (x, y) = (bench.buffer([n], &from)?, bench.buffer([n], &vec![0.0f32; n])?);
    let (out, linalg) = (y.clone(), Linalg::new(&bench.q)?);
    let ours = bench.ours(&out, move |_| linalg.spmv(&matrix, &x, &y).map(drop));
    Ok(Call { bytes: 8 * columns.len() + 12 * n, ours, expected: expected.into() })
}
