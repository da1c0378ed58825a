//! The gain of a graph: the same tiny tasks run again and again, described once.
//!
//! By hand, the program has its launches ready, with their arguments, and knows their order.

use crate::bench::{Bench, Case, Pair, Side, Site, Tell, Workload, side};
use crate::error::Result;
use crate::hand::host::owned;
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Graphs;

/// Elements of a buffer, and items of a task.
const ITEMS: usize = 16;
/// Buffers, which tasks take in turn: as many chains.
const BUFFERS: usize = 8;

#[kernel]
fn next(i: Item, a: InOut<f32>) {
    a[i] = 0.5 * a[i] + 1.0;
}

const TEXT: &str = "
KERNEL next(uint n, GLOBAL float *a) { WITHIN(X, n); a[X] = 0.5f * a[X] + 1.0f; }
";

impl Workload for Graphs {
    fn name(&self) -> &'static str {
        "graphs"
    }

    fn about(&self) -> &'static str {
        "tasks of 16 items over 8 buffers, by replay of a graph, in batches, and one by one"
    }

    fn unit(&self) -> &'static str {
        "tasks"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["replay", "batch", "one by one"]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        // Multiples of the buffers.
        site.some(&[128, 16, 1024], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let work = Work { launches: case.size as f64, ..Work::default() };
        let start = bench.floats(BUFFERS * ITEMS, 1);
        let ours = ours(bench, case, &start)?;
        let theirs = match &bench.hand {
            Hand::Host => host(case.size, start),
            Hand::Native(native) => driver(native, case.size, &start)?,
        };
        Ok(bench.pair(work, ours, theirs))
    }
}

fn ours(bench: &Bench, case: Case, start: &[f32]) -> Result<Side> {
    let parts = start.chunks(ITEMS).map(|part| bench.buffer([ITEMS], part));
    let all = parts.collect::<Result<Vec<Shared<f32>>>>()?;
    let (q, told, count) = (bench.q.clone(), all.clone(), case.size);
    let graph = bench.rt.graph(&bench.device)?;
    for task in 0..count {
        graph.add(|group| group.run(ITEMS, next(&all[task % BUFFERS])))?;
    }
    let replay = graph.finalize()?;
    let each = move |q: &Queue| {
        (0..count).try_for_each(|task| q.run(ITEMS, next(&all[task % BUFFERS])).map(drop))
    };
    let once: Box<dyn Fn() -> folio::Result<()>> = match case.mode {
        "replay" => {
            let q = q.clone();
            Box::new(move || q.run_graph(&replay).map(drop))
        }
        "batch" => {
            let q = q.clone();
            Box::new(move || q.batch(|q| each(q)).map(drop))
        }
        _ => {
            let q = q.clone();
            Box::new(move || each(&q))
        }
    };
    let run = move |times| {
        for _ in 0..times {
            once()?;
            q.wait()?;
        }
        Ok(())
    };
    let tell: Tell = Box::new(move || {
        let parts = told.iter().map(Shared::to_vec).collect::<folio::Result<Vec<_>>>()?;
        Ok(parts.concat().into())
    });
    Ok(side(run, tell))
}

/// A task of rayon's for each, level by level, from a thread of its pool.
fn host(count: usize, start: Vec<f32>) -> Side {
    let all = owned(start);
    let tell = all.clone();
    let run = move |times| {
        let all = &mut all.lock()[..];
        rayon::scope(|_| {
            for _ in 0..times * count / BUFFERS {
                rayon::scope(|scope| {
                    for part in all.chunks_mut(ITEMS) {
                        scope.spawn(|_| part.iter_mut().for_each(|a| *a = 0.5 * *a + 1.0));
                    }
                });
            }
        });
        Ok(())
    };
    side(run, Box::new(move || Ok(tell.lock().clone().into())))
}

fn driver(native: &Arc<dyn Native>, count: usize, start: &[f32]) -> Result<Side> {
    let parts = start.chunks(ITEMS).map(|part| Memory::of(native, part).map(Arc::new));
    let all = parts.collect::<Result<Vec<_>>>()?;
    let call = |part: &Arc<Memory>| {
        Call::new(native, (TEXT, "next"), [ITEMS], [ITEMS.into(), Arg::from(part)])
    };
    let calls = all.iter().map(call).collect::<Result<Vec<Call>>>()?;
    let owner = native.clone();
    let run = move |times| {
        for _ in 0..times {
            calls.iter().cycle().take(count).try_for_each(|call| owner.launch(0, call))?;
            owner.finish(0)?;
        }
        Ok(())
    };
    let tell: Tell = Box::new(move || {
        let parts = all.iter().map(|part| part.read::<f32>(ITEMS)).collect::<Result<Vec<_>>>()?;
        Ok(parts.concat().into())
    });
    Ok(side(run, tell))
}
