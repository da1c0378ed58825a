//! A job in chunks: each goes up, is computed with, and comes down. Copies of some chunks can run
//! beside the kernels of others.

use crate::bench::{Bench, Case, Pair, Side, Site, Tell, Workload, side};
use crate::error::Result;
use crate::hand::host::{loops, owned};
use crate::hand::{Arg, Call, End, Hand, Memory, Native, Rows};
use crate::record::Work;
use folio::prelude::*;
use folio::{Usm, UsmKind};
use rayon::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The workload.
pub struct Overlap;

/// Chunks of a job.
const CHUNKS: usize = 16;
/// Steps of the computation: about as long as the copies of a chunk take.
const STEPS: usize = 100;

#[kernel]
fn refine(i: Item, x: In<f32>, y: Out<f32>) {
    let mut v = x[i];
    for _ in 0..100 {
        v = v * 0.999 + 0.001;
    }
    y[i] = v;
}

loops! {
    fn refine_loop(x: &[f32], y: &mut [f32]) {
        // 64 at a time, so that no value waits for itself.
        for (y, x) in y.as_chunks_mut::<64>().0.iter_mut().zip(x.as_chunks::<64>().0) {
            let mut all = *x;
            for _ in 0..STEPS {
                for v in &mut all {
                    *v = *v * 0.999 + 0.001;
                }
            }
            *y = all;
        }
    }
}

const TEXT: &str = "
KERNEL refine(uint n, GLOBAL const WIDE *RESTRICT x, GLOBAL WIDE *RESTRICT y) {
    WITHIN(X, n);
    WIDE v = x[X];
    for (int k = 0; k < 100; k++) v = v * 0.999f + 0.001f;
    y[X] = v;
}
";

impl Workload for Overlap {
    fn name(&self) -> &'static str {
        "overlap"
    }

    fn about(&self) -> &'static str {
        "16 chunks that go up, are computed with, and come down; by hand three lanes and events"
    }

    fn unit(&self) -> &'static str {
        "f32"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[""]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[20, 22], &[25, 22, 27], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let n = case.size;
        let work = Work {
            bytes: (8 * n) as f64,
            flops: (2 * STEPS * n) as f64,
            launches: CHUNKS as f64,
            upload: (4 * n) as f64,
            download: (4 * n) as f64,
            working_set: (16 * n) as f64,
        };
        let values = bench.floats(n, 1);
        let ours = ours(bench, &values)?;
        let theirs = match &bench.hand {
            Hand::Host => host(values),
            Hand::Native(native) => driver(native, &values)?,
        };
        Ok(bench.pair(work, ours, theirs))
    }
}

fn ours(bench: &Bench, values: &[f32]) -> Result<Side> {
    let len = values.len() / CHUNKS;
    let zeros = vec![0.0f32; len];
    let chunk = |values: &[f32]| -> Result<Usm<f32>> {
        let mut host = bench.usm::<f32>(UsmKind::Host, len)?;
        host.write()?.copy_from_slice(values);
        Ok(host)
    };
    let from = values.chunks(len).map(chunk).collect::<Result<Vec<_>>>()?;
    let to = (0..CHUNKS).map(|_| chunk(&zeros)).collect::<Result<Vec<_>>>()?;
    let to = Rc::new(RefCell::new(to));
    let device = || (0..CHUNKS).map(|_| bench.buffer([len], &zeros)).collect::<Result<Vec<_>>>();
    let (x, y, q, told) = (device()?, device()?, bench.q.clone(), to.clone());
    let run = move |times| {
        for _ in 0..times {
            for (k, to) in to.borrow_mut().iter_mut().enumerate() {
                q.copy(&from[k], &x[k])?;
                q.run(len, refine(&x[k], &y[k]))?;
                q.copy(&y[k], to)?;
            }
            q.wait()?;
        }
        Ok(())
    };
    let tell: Tell = Box::new(move || {
        let mut all = Vec::new();
        for to in told.borrow().iter() {
            all.extend_from_slice(&to.read()?);
        }
        Ok(all.into())
    });
    Ok(side(run, tell))
}

/// A chunk at a time for each core: copied, computed with, copied.
fn host(from: Vec<f32>) -> Side {
    let len = from.len() / CHUNKS;
    let (to, tell) = {
        let to = owned(vec![0.0f32; from.len()]);
        (to.clone(), to)
    };
    let (mut x, mut y) = (vec![0.0f32; from.len()], vec![0.0f32; from.len()]);
    let run = move |times| {
        let to = &mut to.lock()[..];
        rayon::scope(|_| {
            (0..times).for_each(|_| {
                let device = x.par_chunks_mut(len).zip(y.par_chunks_mut(len));
                let chunks = to.par_chunks_mut(len).zip(from.par_chunks(len)).zip(device);
                chunks.for_each(|((to, from), (x, y))| {
                    x.copy_from_slice(from);
                    refine_loop(x, y);
                    to.copy_from_slice(y);
                });
            })
        });
        Ok(())
    };
    side(run, Box::new(move || Ok(tell.lock().clone().into())))
}

/// A lane for each stage, and an event behind each chunk of the first two.
fn driver(native: &Arc<dyn Native>, values: &[f32]) -> Result<Side> {
    const UP: usize = 0;
    const COMPUTE: usize = 1;
    const DOWN: usize = 2;
    let (n, len) = (values.len(), values.len() / CHUNKS);
    let [from, to] = [native.host_memory(4 * n)?, native.host_memory(4 * n)?];
    // SAFETY: so many floats each, which nothing else uses.
    unsafe {
        from.cast::<f32>().copy_from_nonoverlapping(values.as_ptr(), n);
        to.write_bytes(0, 4 * n);
    }
    let device = || {
        let make = |_| Memory::of(native, &vec![0.0f32; len]).map(Arc::new);
        (0..CHUNKS).map(make).collect::<Result<Vec<_>>>()
    };
    let (x, y) = (device()?, device()?);
    let items = len / if native.is_cpu() { 16 } else { 1 };
    let args = |k: usize| [items.into(), Arg::from(&x[k]), Arg::from(&y[k])];
    let first = Call::new(native, (TEXT, "refine"), [items], args(0))?;
    let calls: Vec<Call> = (0..CHUNKS).map(|k| first.with(args(k))).collect();
    let native = native.clone();
    let run = move |times| {
        for _ in 0..times {
            let mut events = Vec::new();
            for k in 0..CHUNKS {
                let here = Rows { offset: 4 * len * k, pitch: 4 * len };
                let there = Rows { offset: 0, pitch: 4 * len };
                let ends = [(End::Device(x[k].place), there), (End::Device(y[k].place), there)];
                // SAFETY: both sides have these bytes, and we wait for the last lane.
                unsafe { native.copy(UP, ends[0], (End::Host(from), here), [1, 4 * len]) }?;
                let uploaded = native.record(UP)?;
                native.wait(COMPUTE, uploaded)?;
                native.launch(COMPUTE, &calls[k])?;
                let computed = native.record(COMPUTE)?;
                native.wait(DOWN, computed)?;
                // SAFETY: as above.
                unsafe { native.copy(DOWN, (End::Host(to), here), ends[1], [1, 4 * len]) }?;
                events.extend([uploaded, computed]);
            }
            [UP, COMPUTE, DOWN].into_iter().try_for_each(|lane| native.finish(lane))?;
            events.into_iter().for_each(|event| native.forget(event));
        }
        Ok(())
    };
    // SAFETY: so many floats, which live as long as the process; no copy is under way.
    let told = move || unsafe { std::slice::from_raw_parts(to.cast::<f32>(), n) }.to_vec();
    Ok(side(run, Box::new(move || Ok(told().into()))))
}
