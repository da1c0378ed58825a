//! The cost and the gain of tracking pages: the host writes some pages, and a kernel uses all.
//!
//! By hand, the program knows which parts it has written, and uploads those.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, side};
use crate::error::Result;
use crate::hand::host::{CHUNK, loops, owned};
use crate::hand::{Arg, Call, End, Hand, Memory, Native, Rows};
use crate::record::Work;
use folio::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Pages;

/// Elements of a page of one dimension, and of a side of one of two.
const PAGE: usize = 16;
/// Pages of a side of a grid.
const SIDE: usize = 32;

#[kernel]
fn add(i: Item, x: In<f32>, y: InOut<f32>) {
    y[i] = y[i] * 0.5 + x[i];
}

#[kernel]
fn add_2d(i: Item<2>, x: In<f32, 2>, y: InOut<f32, 2>) {
    y[i] = y[i] * 0.5 + x[i];
}

loops! {
    fn add_loop(x: &[f32], y: &mut [f32]) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = *y * 0.5 + x);
    }
}

const TEXT: &str = "
KERNEL add(uint first, uint n, GLOBAL const float *RESTRICT x, GLOBAL float *RESTRICT y) {
    WITHIN(X, n);
    y[first + X] = y[first + X] * 0.5f + x[first + X];
}
";

/// A rectangle of elements: rows, columns.
type Part = [std::ops::Range<usize>; 2];

/// The host's writes, of how many rows and columns; and the columns that the kernel uses then.
struct Pattern {
    shape: [usize; 2],
    parts: Vec<Part>,
    used: std::ops::Range<usize>,
}

impl Pattern {
    fn of(case: Case) -> Pattern {
        if case.mode == "one page" {
            let n = case.size * PAGE;
            let page = case.size / 2 * PAGE..(case.size / 2 + 1) * PAGE;
            return Pattern { shape: [1, n], parts: vec![[0..1, page.clone()]], used: page };
        }
        let (n, pages) = (SIDE * PAGE, 0..SIDE);
        let span = |page: usize| page * PAGE..(page + 1) * PAGE;
        let parts = match case.mode {
            "halo" => vec![[0..1, 0..n], [n - 1..n, 0..n], [1..n - 1, 0..1], [1..n - 1, n - 1..n]],
            "stripes" => pages.step_by(2).map(|row| [span(row), 0..n]).collect(),
            _ => pages
                .flat_map(|row| (row % 2..SIDE).step_by(2).map(move |column| [row, column]))
                .map(|page| page.map(span))
                .collect(),
        };
        Pattern { shape: [n, n], parts, used: 0..n * n }
    }
}

impl Workload for Pages {
    fn name(&self) -> &'static str {
        "pages"
    }

    fn about(&self) -> &'static str {
        "the host writes pages in a pattern, and a kernel uses them"
    }

    fn unit(&self) -> &'static str {
        "pages"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["one page", "halo", "stripes", "checkerboard"]
    }

    fn sizes(&self, mode: &str, _: Site) -> Vec<usize> {
        if mode == "one page" { vec![1_000_000, 10, 1000] } else { vec![SIDE * SIDE] }
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let pattern = Arc::new(Pattern::of(case));
        let moved: usize = pattern.parts.iter().map(|[r, c]| r.len() * c.len()).sum();
        let work = Work {
            bytes: 12.0 * pattern.used.len() as f64,
            upload: 4.0 * moved as f64,
            launches: 1.0,
            working_set: 8.0 * pattern.used.len() as f64,
            ..Work::default()
        };
        let ours =
            if case.mode == "one page" { line(bench, &pattern)? } else { grid(bench, &pattern)? };
        let theirs = match &bench.hand {
            Hand::Host => host(&pattern),
            Hand::Native(native) => driver(native, &pattern)?,
        };
        Ok(bench.pair(work, ours, theirs))
    }
}

/// The value that the host writes in the n-th run.
fn value(run: usize) -> f32 {
    (run % 1000) as f32
}

fn line(bench: &Bench, pattern: &Arc<Pattern>) -> Result<Side> {
    let n = pattern.shape[1];
    let options = || BufferOptions::new().page([PAGE]);
    let zeros = vec![0.0f32; n];
    let x = bench.rt.buffer_with(&zeros, options())?.into_shared();
    let y = bench.rt.buffer_with(&zeros, options())?.into_shared();
    let (q, out, used) = (bench.q.clone(), y.clone(), pattern.used.clone());
    let (at, len, mut runs) = (used.start, used.len(), 0);
    let run = move |times| {
        for _ in 0..times {
            runs += 1;
            x.slice_mut([at], [len])?.discard()?.fill(value(runs));
            q.run(len, add(x.slice([at], [len])?, y.slice_mut([at], [len])?))?;
            q.wait()?;
        }
        Ok(())
    };
    let tell = move || Ok(out.slice([at], [len])?.to_vec()?.into());
    Ok(side(run, Box::new(tell)))
}

fn grid(bench: &Bench, pattern: &Arc<Pattern>) -> Result<Side> {
    let shape = pattern.shape;
    let options = || BufferOptions::new().page([PAGE, PAGE]);
    let zeros = vec![0.0f32; shape[0] * shape[1]];
    let x = bench.rt.buffer_with((&zeros, shape), options())?.into_shared();
    let y = bench.rt.buffer_with((&zeros, shape), options())?.into_shared();
    let (q, out, pattern, mut runs) = (bench.q.clone(), y.clone(), pattern.clone(), 0);
    let run = move |times| {
        for _ in 0..times {
            runs += 1;
            for [rows, columns] in &pattern.parts {
                let (from, extent) = ([rows.start, columns.start], [rows.len(), columns.len()]);
                let mut part = x.slice_mut(from, extent)?;
                let mut part = part.discard_rows()?;
                (0..part.rows())
                    .filter_map(|row| part.row_mut(row).map(|row| row.fill(value(runs))))
                    .count();
            }
            q.run(shape, add_2d(&x, &y))?;
            q.wait()?;
        }
        Ok(())
    };
    Ok(side(run, Box::new(move || Ok(out.to_vec()?.into()))))
}

/// Writes a pattern into the host's memory.
fn write(pattern: &Pattern, x: &mut [f32], run: usize) {
    for [rows, columns] in &pattern.parts {
        for row in rows.clone() {
            let first = row * pattern.shape[1];
            x[first + columns.start..first + columns.end].fill(value(run));
        }
    }
}

fn host(pattern: &Arc<Pattern>) -> Side {
    let [rows, columns] = pattern.shape;
    let (mut x, y) = (vec![0.0f32; rows * columns], owned(vec![0.0f32; rows * columns]));
    let (pattern, tell, used, mut runs) = (pattern.clone(), y.clone(), pattern.used.clone(), 0);
    let told = used.clone();
    let run = move |times| {
        let mut y = y.lock();
        let y = &mut y[used.clone()];
        rayon::scope(|_| {
            for _ in 0..times {
                runs += 1;
                write(&pattern, &mut x, runs);
                let chunks = y.par_chunks_mut(CHUNK).zip(x[used.clone()].par_chunks(CHUNK));
                chunks.for_each(|(y, x)| add_loop(x, y));
            }
        });
        Ok(())
    };
    side(run, Box::new(move || Ok(tell.lock()[told.clone()].to_vec().into())))
}

fn driver(native: &Arc<dyn Native>, pattern: &Arc<Pattern>) -> Result<Side> {
    let [rows, columns] = pattern.shape;
    let mut x = vec![0.0f32; rows * columns];
    let device = Arc::new(Memory::of(native, &x)?);
    let y = Arc::new(Memory::of(native, &x)?);
    let (used, n) = (pattern.used.clone(), rows * columns);
    let args = [used.start.into(), used.len().into(), Arg::from(&device), Arg::from(&y)];
    let call = Call::new(native, (TEXT, "add"), [used.len()], args)?;
    let (native, pattern, mut runs) = (native.clone(), pattern.clone(), 0);
    let run = move |times| {
        for _ in 0..times {
            runs += 1;
            write(&pattern, &mut x, runs);
            for [rows, part] in &pattern.parts {
                let offset = 4 * (rows.start * columns + part.start);
                let at = Rows { offset, pitch: 4 * columns };
                let ends = (End::Device(device.place), End::Host(x.as_mut_ptr().cast()));
                // SAFETY: a part of both, and we wait before `x` changes.
                unsafe {
                    native.copy(0, (ends.0, at), (ends.1, at), [rows.len(), 4 * part.len()])?;
                }
            }
            native.launch(0, &call)?;
            native.finish(0)?;
        }
        Ok(())
    };
    let tell = move || Ok(y.read::<f32>(n)?[used.clone()].to_vec().into());
    Ok(side(run, Box::new(tell)))
}
