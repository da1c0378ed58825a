//! Launches over four pieces of memory whose kernel does nearly nothing.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, on_host, on_native, read, told};
use crate::error::Result;
use crate::hand::host::{chain, owned};
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Arguments;

/// Items of a launch.
const ITEMS: usize = 256;

#[kernel]
fn written(i: Item, a: InOut<f32>, b: InOut<f32>, c: InOut<f32>, d: InOut<f32>) {
    a[i] = a[i] * 0.5 + 1.0;
    b[i] = b[i] * 0.5 + 1.0;
    c[i] = c[i] * 0.5 + 1.0;
    d[i] = d[i] * 0.5 + 1.0;
}

#[kernel]
fn added(i: Item, a: In<f32>, b: In<f32>, c: In<f32>, d: InOut<f32>) {
    d[i] = d[i] * 0.5 + a[i] + b[i] + c[i];
}

const TEXT: &str = "
KERNEL written(uint n, GLOBAL float *a, GLOBAL float *b, GLOBAL float *c, GLOBAL float *d) {
    WITHIN(X, n);
    a[X] = a[X] * 0.5f + 1.0f;
    b[X] = b[X] * 0.5f + 1.0f;
    c[X] = c[X] * 0.5f + 1.0f;
    d[X] = d[X] * 0.5f + 1.0f;
}
KERNEL added(uint n, GLOBAL const float *a, GLOBAL const float *b, GLOBAL const float *c,
             GLOBAL float *d) {
    WITHIN(X, n);
    d[X] = d[X] * 0.5f + a[X] + b[X] + c[X];
}
";

impl Workload for Arguments {
    fn name(&self) -> &'static str {
        "arguments"
    }

    fn about(&self) -> &'static str {
        "launches of 256 items over four pieces of memory, each behind the last, and one wait"
    }

    fn unit(&self) -> &'static str {
        "launches"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["four written", "one written, three read"]
    }

    fn sizes(&self, _: &str, _: Site) -> Vec<usize> {
        vec![100, 1000]
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let (launches, is_written) = (case.size, case.mode == "four written");
        let work = Work { launches: launches as f64, ..Work::default() };
        let start = bench.floats(ITEMS, 1);
        let theirs = match &bench.hand {
            Hand::Host => host(launches, is_written, start.clone()),
            Hand::Native(native) => driver(native, launches, is_written, &start)?,
        };
        Ok(bench.pair(work, ours(bench, launches, is_written, &start)?, theirs))
    }
}

fn ours(bench: &Bench, launches: usize, is_written: bool, start: &[f32]) -> Result<Side> {
    let make = || bench.buffer([ITEMS], start);
    let (a, b, c, d) = (make()?, make()?, make()?, make()?);
    let results = d.clone();
    Ok(bench.ours(&results, move |q| {
        (0..launches).try_for_each(|_| {
            match is_written {
                true => q.run(ITEMS, written(&a, &b, &c, &d)),
                false => q.run(ITEMS, added(&a, &b, &c, &d)),
            }
            .map(drop)
        })
    }))
}

/// A chain of rayon's tasks, one for each launch.
fn host(launches: usize, is_written: bool, start: Vec<f32>) -> Side {
    let (mut all, d) = ([(); 3].map(|()| start.clone()), owned(start));
    let tell = told(&d);
    let turn = move |(all, d): &mut (&mut [Vec<f32>; 3], &mut Vec<f32>)| {
        let [a, b, c] = &mut **all;
        if is_written {
            let next = |x: &mut [f32]| x.iter_mut().for_each(|x| *x = *x * 0.5 + 1.0);
            [a, b, c, d].into_iter().for_each(|x| next(x));
        } else {
            let read = a.iter().zip(b).zip(c);
            d.iter_mut().zip(read).for_each(|(d, ((a, b), c))| *d = *d * 0.5 + *a + *b + *c);
        }
    };
    on_host(move || chain(launches, &mut (&mut all, &mut *d.lock()), turn), tell)
}

fn driver(
    native: &Arc<dyn Native>,
    launches: usize,
    is_written: bool,
    start: &[f32],
) -> Result<Side> {
    let make = || Memory::of(native, start).map(Arc::new);
    let all = [make()?, make()?, make()?, make()?];
    let [a, b, c, d] = all.each_ref().map(Arg::from);
    let name = if is_written { "written" } else { "added" };
    let call = Call::new(native, (TEXT, name), [ITEMS], [ITEMS.into(), a, b, c, d])?;
    Ok(on_native(native, vec![call; launches], read::<f32>(&all[3], ITEMS)))
}
