//! The cost of policies: a program's own memory goes through a kernel, and comes back.
//!
//! By hand, the device's memory is there before, and the program copies to it and from it. A buffer
//! is read into a vector of its own: on a processor the code by hand makes one, too.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, side};
use crate::error::{Error, Result};
use crate::hand::host::{CHUNK, loops, owned};
use crate::hand::{Arg, Call, End, Hand, Memory, Native, Rows};
use crate::record::Work;
use folio::{buffer::ViewPolicy, prelude::*};
use rayon::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The workload.
pub struct Policies;

/// Views of a row with several.
const VIEWS: usize = 3;

#[kernel]
fn next(i: Item, a: InOut<f32>) {
    a[i] = 0.5 * a[i] + 1.0;
}

loops! {
    fn next_loop(a: &mut [f32]) {
        a.iter_mut().for_each(|a| *a = 0.5 * *a + 1.0);
    }
}

const TEXT: &str = "
KERNEL next(uint n, GLOBAL float *a) { WITHIN(X, n); a[X] = 0.5f * a[X] + 1.0f; }
";

impl Workload for Policies {
    fn name(&self) -> &'static str {
        "policies"
    }

    fn about(&self) -> &'static str {
        "memory of the program goes through a kernel and comes back, by each way to pass it"
    }

    fn unit(&self) -> &'static str {
        "f32"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[
            "async_writeback_view",
            "sync_writeback_view",
            "scope",
            "buffer",
            "three views, async",
            "three views, sync",
        ]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[18, 10, 22], &[20, 10, 24], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let bytes = 4.0 * case.size as f64;
        let mut work = Work { bytes: 2.0 * bytes, launches: 1.0, ..Work::default() };
        work.working_set = bytes;
        if bench.is_gpu() {
            (work.upload, work.download) = (bytes, bytes);
        }
        let start = bench.floats(case.size, 1);
        if let Some(how) = case.mode.strip_prefix("three views, ") {
            for part in [&mut work.bytes, &mut work.launches, &mut work.upload, &mut work.download]
            {
                *part *= VIEWS as f64;
            }
            let theirs = match &bench.hand {
                Hand::Host => host_of_three(start.clone()),
                Hand::Native(native) => driver_of_three(native, &start)?,
            };
            return Ok(bench.pair(work, three(bench, how == "async", &start), theirs));
        }
        let ours = ours(bench, case.mode, start.clone());
        let theirs = match &bench.hand {
            Hand::Host => host(start, case.mode == "buffer"),
            Hand::Native(native) => driver(native, start)?,
        };
        Ok(bench.pair(work, ours, theirs))
    }
}

/// The memory goes through the kernel once, and comes back.
fn through(bench: &(Runtime, Queue), mode: &str, mut data: Vec<f32>) -> Result<Vec<f32>> {
    let ((rt, q), n) = (bench, data.len());
    match mode {
        "async_writeback_view" => {
            let (mut x, mut back) =
                rt.view(n, data, ViewPolicy::AsyncWriteback(q)).map_err(folio::Error::from)?;
            q.run(n, next(&mut x))?;
            drop(x);
            q.wait()?;
            Ok(back.take().map_err(folio::Error::from)?)
        }
        "sync_writeback_view" => {
            let (mut x, mut back) =
                rt.view(n, data, ViewPolicy::SyncWriteback).map_err(folio::Error::from)?;
            q.run(n, next(&mut x))?;
            drop(x);
            Ok(back.take().map_err(folio::Error::from)?)
        }
        "scope" => {
            rt.scope(|scope| -> folio::Result<()> {
                let mut x = scope.view_mut(&mut data)?;
                q.run(n, next(&mut x))?;
                x.close()
            })??;
            Ok(data)
        }
        _ => {
            let mut x = rt.buffer_from(data)?;
            q.run(n, next(&mut x))?;
            Ok(x.to_vec()?)
        }
    }
}

fn ours(bench: &Bench, mode: &'static str, start: Vec<f32>) -> Side {
    let (at, all) = ((bench.rt.clone(), bench.q.clone()), owned(start));
    let tell = all.clone();
    let run = move |times| {
        for _ in 0..times {
            let data = std::mem::take(&mut *all.lock());
            *all.lock() = through(&at, mode, data)?;
        }
        Ok(())
    };
    let told = move || match &tell.lock()[..] {
        [] => Err(Error::NotHere("the memory has not come back".to_owned())),
        values => Ok(values.to_vec().into()),
    };
    side(run, Box::new(told))
}

/// Three views at once, dropped together. Asynchronous ones come back beside each other.
fn three(bench: &Bench, is_async: bool, start: &[f32]) -> Side {
    let (rt, q, n) = (bench.rt.clone(), bench.q.clone(), start.len());
    let all = Rc::new(RefCell::new(vec![start.to_vec(); VIEWS]));
    let tell = all.clone();
    let run = move |times| {
        for _ in 0..times {
            let (mut views, mut backs) = (Vec::new(), Vec::new());
            for data in all.borrow_mut().drain(..) {
                let (mut x, back) = match is_async {
                    true => rt
                        .view(n, data, ViewPolicy::AsyncWriteback(&q))
                        .map_err(folio::Error::from)?,
                    false => {
                        rt.view(n, data, ViewPolicy::SyncWriteback).map_err(folio::Error::from)?
                    }
                };
                q.run(n, next(&mut x))?;
                views.push(x);
                backs.push(back);
            }
            drop(views);
            q.wait()?;
            for mut back in backs {
                all.borrow_mut().push(back.take().map_err(folio::Error::from)?);
            }
        }
        Ok(())
    };
    let told = move || match tell.borrow().first() {
        Some(values) => Ok(values.clone().into()),
        None => Err(Error::NotHere("the memory has not come back".to_owned())),
    };
    side(run, Box::new(told))
}

fn host_of_three(start: Vec<f32>) -> Side {
    let n = start.len();
    let all = owned(start.repeat(VIEWS));
    let tell = all.clone();
    let run = move |times| {
        let all = &mut all.lock()[..];
        rayon::scope(|_| {
            (0..times).for_each(|_| all.par_chunks_mut(CHUNK).for_each(next_loop));
        });
        Ok(())
    };
    side(run, Box::new(move || Ok(tell.lock()[..n].to_vec().into())))
}

/// Each on a lane of its own.
fn driver_of_three(native: &Arc<dyn Native>, start: &[f32]) -> Result<Side> {
    let n = start.len();
    let make = |_| {
        let device = Arc::new(Memory::of(native, start)?);
        let call = Call::new(native, (TEXT, "next"), [n], [n.into(), Arg::from(&device)])?;
        Ok((device, call))
    };
    let devices = (0..VIEWS).map(make).collect::<Result<Vec<(Arc<Memory>, Call)>>>()?;
    let all = Rc::new(RefCell::new(vec![start.to_vec(); VIEWS]));
    let (native, tell) = (native.clone(), all.clone());
    let run = move |times| {
        let mut all = all.borrow_mut();
        let rows = Rows { offset: 0, pitch: 4 * n };
        for _ in 0..times {
            for (lane, (data, (device, call))) in all.iter_mut().zip(&devices).enumerate() {
                let (host, there) =
                    (End::Host(data.as_mut_ptr().cast()), End::Device(device.place));
                // SAFETY: so many bytes on both sides, and we wait before anything else uses them.
                unsafe { native.copy(lane, (there, rows), (host, rows), [1, 4 * n]) }?;
                native.launch(lane, call)?;
                // SAFETY: as above.
                unsafe { native.copy(lane, (host, rows), (there, rows), [1, 4 * n]) }?;
            }
            (0..VIEWS).try_for_each(|lane| native.finish(lane))?;
        }
        Ok(())
    };
    Ok(side(run, Box::new(move || Ok(tell.borrow()[0].clone().into()))))
}

/// On a processor the kernel runs where the memory is. The result may be asked for as a copy.
fn host(start: Vec<f32>, is_copied: bool) -> Side {
    let all = owned(start);
    let tell = all.clone();
    let run = move |times| {
        let all = &mut *all.lock();
        rayon::scope(|_| {
            for _ in 0..times {
                all.par_chunks_mut(CHUNK).for_each(next_loop);
                if is_copied {
                    *all = all.to_vec();
                }
            }
        });
        Ok(())
    };
    side(run, Box::new(move || Ok(tell.lock().clone().into())))
}

fn driver(native: &Arc<dyn Native>, start: Vec<f32>) -> Result<Side> {
    let n = start.len();
    let device = Arc::new(Memory::of(native, &start)?);
    let call = Call::new(native, (TEXT, "next"), [n], [n.into(), Arg::from(&device)])?;
    let (native, all) = (native.clone(), owned(start));
    let tell = all.clone();
    let run = move |times| {
        let mut all = all.lock();
        let rows = Rows { offset: 0, pitch: 4 * n };
        let (host, there) = (End::Host(all.as_mut_ptr().cast()), End::Device(device.place));
        for _ in 0..times {
            // SAFETY: so many bytes on both sides, and we wait before anything else uses them.
            unsafe { native.copy(0, (there, rows), (host, rows), [1, 4 * n]) }?;
            native.launch(0, &call)?;
            // SAFETY: as above.
            unsafe { native.copy(0, (host, rows), (there, rows), [1, 4 * n]) }?;
            native.finish(0)?;
        }
        Ok(())
    };
    Ok(side(run, Box::new(move || Ok(tell.lock().clone().into()))))
}
