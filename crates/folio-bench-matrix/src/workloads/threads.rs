//! Submission from several threads, each with a queue and data of its own.

use crate::bench::{Bench, Case, Pair, Side, Site, Tell, Workload, side};
use crate::error::Result;
use crate::hand::host::{chain, owned};
use crate::hand::{Arg, Call, Hand, LANES, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Threads;

/// Launches of each thread.
const LAUNCHES: usize = 500;
/// Items of a launch.
const ITEMS: usize = 16;

#[kernel]
fn one(i: Item, a: InOut<f32>) {
    a[i] = a[i] + 1.0;
}

const TEXT: &str = "KERNEL one(uint n, GLOBAL float *a) { WITHIN(X, n); a[X] = a[X] + 1.0f; }";

impl Workload for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn about(&self) -> &'static str {
        "500 launches from each of 1, 2 and 4 threads, with a queue each"
    }

    fn unit(&self) -> &'static str {
        "threads"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[""]
    }

    fn sizes(&self, _: &str, _: Site) -> Vec<usize> {
        vec![1, 2, 4]
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let work = Work { launches: (LAUNCHES * case.size) as f64, ..Work::default() };
        let theirs = match &bench.hand {
            Hand::Host => host(case.size),
            Hand::Native(native) => driver(native, case.size)?,
        };
        Ok(bench.pair(work, ours(bench, case.size)?, theirs))
    }
}

/// Runs something for each of these on a thread of its own.
fn on_threads<T: Send>(each: &mut [T], work: impl Fn(&mut T) -> Result<()> + Sync) -> Result<()> {
    if let [one] = each {
        return work(one);
    }
    std::thread::scope(|scope| {
        let all: Vec<_> = each.iter_mut().map(|one| scope.spawn(|| work(one))).collect();
        // A panic of a thread is one of this thread.
        all.into_iter().try_for_each(|one| match one.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

fn ours(bench: &Bench, threads: usize) -> Result<Side> {
    let make = |_| {
        let q = bench.rt.queue_on(&bench.device)?;
        Ok((q, bench.buffer([ITEMS], &[0.0f32; ITEMS])?))
    };
    let mut all = (0..threads).map(make).collect::<Result<Vec<(Queue, Shared<f32>)>>>()?;
    let told: Vec<Shared<f32>> = all.iter().map(|(_, a)| a.clone()).collect();
    let run = move |times| {
        on_threads(&mut all, |(q, a)| {
            for _ in 0..times {
                (0..LAUNCHES).try_for_each(|_| q.run(ITEMS, one(&*a)).map(drop))?;
                q.wait()?;
            }
            Ok(())
        })
    };
    let tell: Tell = Box::new(move || {
        let parts = told.iter().map(Shared::to_vec).collect::<folio::Result<Vec<_>>>()?;
        Ok(parts.concat().into())
    });
    Ok(side(run, tell))
}

/// Each thread spawns a chain of tasks into rayon's pool, and waits for it.
fn host(threads: usize) -> Side {
    let all = owned(vec![0.0f32; ITEMS * threads]);
    let tell = all.clone();
    let run = move |times| {
        let mut all = all.lock();
        let mut each: Vec<&mut [f32]> = all.chunks_mut(ITEMS).collect();
        on_threads(&mut each, |a| {
            for _ in 0..times {
                chain(LAUNCHES, *a, |a| a.iter_mut().for_each(|a| *a += 1.0));
            }
            Ok(())
        })
    };
    side(run, Box::new(move || Ok(tell.lock().clone().into())))
}

/// Each thread has a command queue or stream, and a kernel of its own.
fn driver(native: &Arc<dyn Native>, threads: usize) -> Result<Side> {
    assert!(threads <= LANES, "a lane for each thread");
    let make = |lane| {
        let a = Arc::new(Memory::of(native, &[0.0f32; ITEMS])?);
        let call = Call::new(native, (TEXT, "one"), [ITEMS], [ITEMS.into(), Arg::from(&a)])?;
        Ok((lane, a, call))
    };
    let mut all = (0..threads).map(make).collect::<Result<Vec<_>>>()?;
    let told: Vec<Arc<Memory>> = all.iter().map(|(_, a, _)| a.clone()).collect();
    let native = native.clone();
    let run = move |times| {
        on_threads(&mut all, |(lane, _, call)| {
            native.enter()?;
            for _ in 0..times {
                (0..LAUNCHES).try_for_each(|_| native.launch(*lane, call))?;
                native.finish(*lane)?;
            }
            Ok(())
        })
    };
    let tell: Tell = Box::new(move || {
        let parts = told.iter().map(|a| a.read::<f32>(ITEMS)).collect::<Result<Vec<_>>>()?;
        Ok(parts.concat().into())
    });
    Ok(side(run, tell))
}
