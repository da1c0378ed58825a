//! Launches that are recorded once and replayed, by CUDA's graphs and Vulkan's command buffers, and
//! such as are submitted together. Elsewhere the hand-written side does not record, and rows are
//! left out.

use super::launch;
use crate::bench::{Bench, Case, Counted, Pair, Side, Site, Tell, Workload, side};
use crate::error::{Error, Result};
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// The workload.
pub struct Recorded;

/// Elements of a buffer, and items of a launch.
const ITEMS: usize = 16;
/// Buffers, which launches take in turn: as many chains.
const BUFFERS: usize = 8;
/// The addends of one run and of the next.
const ADDENDS: [f32; 2] = [1.0, 1.5];

#[kernel]
fn turn(i: Item, s: f32, a: InOut<f32>) {
    a[i] = 0.5 * a[i] + s;
}

const TEXT: &str = "
KERNEL turn(uint n, float s, GLOBAL float *a) { WITHIN(X, n); a[X] = 0.5f * a[X] + s; }
";

impl Workload for Recorded {
    fn name(&self) -> &'static str {
        "recorded"
    }

    fn about(&self) -> &'static str {
        "tiny launches: independent ones against a submission each; recorded once, and replayed"
    }

    fn unit(&self) -> &'static str {
        "launches"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[
            "independent, by hand a submission each",
            "replay",
            "replay, the calls",
            "recorded anew, the calls",
        ]
    }

    fn sizes(&self, mode: &str, site: Site) -> Vec<usize> {
        if mode.starts_with("independent") {
            return vec![1000];
        }
        site.some(&[5000, 100, 1000, 10], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let Hand::Native(native) = &bench.hand else {
            return Err(Error::NotHere("by hand: rayon records no commands".to_owned()));
        };
        if case.mode.starts_with("independent") {
            return launch::against_submissions(bench, native, case.size);
        }
        let how = How {
            count: case.size,
            calls: case.mode.ends_with("calls"),
            anew: case.mode.starts_with("recorded anew"),
        };
        let start = bench.floats(BUFFERS * ITEMS, 1);
        let theirs = driver(native, how, &start)?;
        let launches = if how.calls { 0.0 } else { case.size as f64 };
        let work = Work { launches, ..Work::default() };
        Ok(bench.pair(work, ours(bench, how, &start)?, theirs))
    }
}

/// The work of a run.
#[derive(Clone, Copy)]
struct How {
    count: usize,
    /// Only the calls that submit count, not the wait.
    calls: bool,
    /// A scalar of the first launch is exchanged, and all is recorded anew.
    anew: bool,
}

/// A side that submits and waits, in turn.
fn turns(
    how: How,
    mut submit: impl FnMut() -> Result<()> + 'static,
    mut wait: impl FnMut() -> Result<()> + 'static,
    tell: Tell,
) -> Side {
    let counted = Counted::default();
    let counts = counted.clone();
    let run = move |times| {
        (0..times).try_for_each(|_| {
            counts.count(&mut submit)?;
            wait()
        })
    };
    let all = side(run, tell);
    if how.calls { all.counting(&counted) } else { all }
}

fn ours(bench: &Bench, how: How, start: &[f32]) -> Result<Side> {
    let parts = start.chunks(ITEMS).map(|part| bench.buffer([ITEMS], part));
    let all = parts.collect::<Result<Vec<Shared<f32>>>>()?;
    let (q, waits, told) = (bench.q.clone(), bench.q.clone(), all.clone());
    let (graph, [first, _]) = (bench.rt.graph(&bench.device)?, ADDENDS);
    let mut nodes = Vec::new();
    for task in 0..how.count {
        let buffer = &all[task % BUFFERS];
        nodes.push(graph.add(|group| group.run(ITEMS, turn(first, buffer)))?);
    }
    let replay = graph.finalize()?;
    let mut runs = 0;
    let submit = move || {
        runs += 1;
        if how.anew {
            let addend = ADDENDS[runs % 2];
            replay.update(nodes[0], |group| group.run(ITEMS, turn(addend, &all[0])))?;
        }
        q.run_graph(&replay)?;
        // A wait of no time has the driver given all there is.
        q.wait_timeout(Duration::ZERO).map(drop)?;
        Ok(())
    };
    let tell: Tell = Box::new(move || {
        let parts = told.iter().map(Shared::to_vec).collect::<folio::Result<Vec<_>>>()?;
        Ok(parts.concat().into())
    });
    Ok(turns(how, submit, move || Ok(waits.wait()?), tell))
}

fn driver(native: &Arc<dyn Native>, how: How, start: &[f32]) -> Result<Side> {
    let parts = start.chunks(ITEMS).map(|part| Memory::of(native, part).map(Arc::new));
    let all = parts.collect::<Result<Vec<_>>>()?;
    let [first, _] = ADDENDS;
    let call = |part: &Arc<Memory>| {
        let args = [ITEMS.into(), first.into(), Arg::from(part)];
        Call::new(native, (TEXT, "turn"), [ITEMS], args)
    };
    let chains = all.iter().map(call).collect::<Result<Vec<Call>>>()?;
    let mut calls: Vec<Call> = chains.iter().cycle().take(how.count).cloned().collect();
    let kept = native.keep(&calls, None)?;
    let (owner, waits, exchanged) = (native.clone(), native.clone(), all[0].clone());
    let mut runs = 0;
    let submit = move || {
        runs += 1;
        if how.anew {
            let addend = ADDENDS[runs % 2];
            calls[0] = calls[0].with([ITEMS.into(), addend.into(), Arg::from(&exchanged)]);
            owner.keep(&calls, Some(kept))?;
        }
        owner.replay(0, kept)
    };
    let tell: Tell = Box::new(move || {
        let parts = all.iter().map(|part| part.read::<f32>(ITEMS)).collect::<Result<Vec<_>>>()?;
        Ok(parts.concat().into())
    });
    Ok(turns(how, submit, move || waits.finish(0), tell))
}
