//! The cost of managed pointers: the paper's chain of moves and a kernel, beside the same commands
//! over buffers. Both sides are Folio's.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, side};
use crate::error::{Error, Result};
use crate::record::Work;
use folio::managed::{ManagedPtr, put};
use folio::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// The workload.
pub struct Managed;

#[kernel]
fn next(i: Item, a: In<f32>, b: InOut<f32>) {
    b[i] = 0.5 * b[i] + a[i];
}

impl Workload for Managed {
    fn name(&self) -> &'static str {
        "managed"
    }

    fn about(&self) -> &'static str {
        "two pointers go to the device, through a kernel, and back: beside the same over buffers"
    }

    fn unit(&self) -> &'static str {
        "f32"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["chain"]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[10, 18, 22], &[10, 20, 24], 2, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let mut work = Work { launches: 1.0, ..Work::default() };
        if bench.is_gpu() {
            (work.upload, work.download) = (8.0 * case.size as f64, 4.0 * case.size as f64);
        }
        let start = bench.floats(case.size, 1);
        let (ours, theirs) = (pointers(bench, &start)?, buffers(bench, &start)?);
        Ok(Pair { against: "buffers".to_owned(), ..bench.pair(work, ours, theirs) })
    }
}

/// The host's turn: both sides write all of the first, and a part of the second.
fn turn(a: &mut [f32], b: &mut [f32]) {
    a.iter_mut().for_each(|a| *a = 0.5 * *a + 0.25);
    b.iter_mut().for_each(|b| *b *= 0.5);
}

fn pointers(bench: &Bench, start: &[f32]) -> Result<Side> {
    let n = start.len();
    let executor = bench.rt.executor(bench.device.name())?;
    let a: ManagedPtr<f32> = bench.rt.managed_from(start.to_vec())?;
    let b: ManagedPtr<f32> = bench.rt.managed_from(start.to_vec())?;
    let told = b.clone();
    let run = move |times| {
        for _ in 0..times {
            turn(&mut a.write()?, &mut b.write()?);
            put(&executor, (&a, &b))
                .then_async(&executor, n, next(&a, &b))
                .then_get(&executor, (&a, &b))
                .wait()?;
        }
        Ok(())
    };
    Ok(side(run, Box::new(move || Ok(told.read()?.to_vec().into()))))
}

fn buffers(bench: &Bench, start: &[f32]) -> Result<Side> {
    let n = start.len();
    let (q, rt) = (bench.q.clone(), bench.rt.clone());
    let both = Rc::new(RefCell::new((rt.buffer_from(start)?, rt.buffer_from(start)?)));
    let tell = both.clone();
    let run = move |times| {
        let (a, b) = &mut *both.borrow_mut();
        for _ in 0..times {
            turn(&mut a.write()?, &mut b.write()?);
            q.run(n, next(&*a, &mut *b))?;
            drop(b.read()?);
        }
        Ok(())
    };
    let told = move || match tell.try_borrow() {
        Ok(both) => Ok(both.1.to_vec()?.into()),
        Err(_) => Err(Error::NotHere("the buffers are in use".to_owned())),
    };
    Ok(side(run, Box::new(told)))
}
