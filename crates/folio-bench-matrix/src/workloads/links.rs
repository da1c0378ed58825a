//! The gain of linked memory: host and device take turns with all of a buffer that is one memory.
//!
//! By hand, the program maps the driver's memory for the host, and unmaps it for the device.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, side};
use crate::error::{Error, Result};
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::memory::Linkage;
use folio::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The workload.
pub struct Links;

#[kernel]
fn next(i: Item, a: InOut<f32>) {
    a[i] = 0.5 * a[i] + 1.0;
}

const TEXT: &str = "
KERNEL next(uint n, GLOBAL float *a) { WITHIN(X, n); a[X] = 0.5f * a[X] + 1.0f; }
";

/// The host's turn.
fn turn(values: &mut [f32]) {
    values.iter_mut().for_each(|a| *a *= 0.75);
}

impl Workload for Links {
    fn name(&self) -> &'static str {
        "links"
    }

    fn about(&self) -> &'static str {
        "host and device take turns with memory that is both's"
    }

    fn unit(&self) -> &'static str {
        "f32"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["turns"]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[18, 10, 22], &[20, 10, 24], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let bytes = 4.0 * case.size as f64;
        let work = Work { launches: 1.0, working_set: bytes, ..Work::default() };
        let start = bench.floats(case.size, 1);
        let Hand::Native(native) = &bench.hand else {
            return Err(Error::NotHere("the device computes in the host's memory".to_owned()));
        };
        Ok(bench.pair(work, ours(bench, &start)?, driver(native, &start)?))
    }
}

fn ours(bench: &Bench, start: &[f32]) -> Result<Side> {
    let (q, n) = (bench.q.clone(), start.len());
    let mut x = bench.rt.buffer_from(start)?;
    // The device has memory from its first command on. Then the start again.
    q.run(n, next(&mut x))?;
    x.write()?.copy_from_slice(start);
    match x.linkage(&bench.device)? {
        Linkage::Linked => {}
        other => return Err(Error::NotHere(format!("memory is not linked: {other:?}"))),
    }
    let x = Rc::new(RefCell::new(x));
    let tell = x.clone();
    let run = move |times| {
        let mut x = x.borrow_mut();
        for _ in 0..times {
            q.run(n, next(&mut *x))?;
            turn(&mut x.write()?);
        }
        Ok(())
    };
    Ok(side(run, Box::new(move || Ok(tell.borrow().to_vec()?.into()))))
}

fn driver(native: &Arc<dyn Native>, start: &[f32]) -> Result<Side> {
    let n = start.len();
    let device = Arc::new(Memory::of(native, start)?);
    let call = Call::new(native, (TEXT, "next"), [n], [n.into(), Arg::from(&device)])?;
    let (native, told) = (native.clone(), device.clone());
    let run = move |times| {
        for _ in 0..times {
            native.launch(0, &call)?;
            let at = native.map(device.place, 4 * n)?;
            // SAFETY: so many floats, which only we use until they are unmapped.
            turn(unsafe { std::slice::from_raw_parts_mut(at.cast(), n) });
            native.unmap(device.place, at)?;
        }
        native.finish(0)
    };
    Ok(side(run, Box::new(move || Ok(told.read::<f32>(n)?.into()))))
}
