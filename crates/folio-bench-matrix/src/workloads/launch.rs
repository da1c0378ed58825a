//! The cost of a launch whose kernel does nearly nothing.

use crate::bench::{Bench, Case, Pair, Side, Site, Tell, Workload, side};
use crate::error::{Error, Result};
use crate::hand::host::{chain, owned};
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use folio::{Usm, UsmKind};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The workload.
pub struct Launch;

/// Items of a launch.
const ITEMS: usize = 256;
/// Pieces of memory over which launches that are independent take turns.
const SPREAD: usize = 64;

#[kernel]
fn one(i: Item, a: InOut<f32>) {
    a[i] = a[i] + 1.0;
}

const TEXT: &str = "
KERNEL one(uint n, GLOBAL float *a) { WITHIN(X, n); a[X] = a[X] + 1.0f; }
KERNEL clear(uint n, GLOBAL float *a) { WITHIN(X, n); a[X] = 0.0f; }
KERNEL take(uint n, GLOBAL const float *a, GLOBAL float *b) { WITHIN(X, n); b[X] = a[X]; }
";

/// How launches are made.
#[derive(Clone, Copy, Default)]
struct How {
    launches: usize,
    /// By hand each is submitted on its own.
    singly: bool,
    in_order: bool,
    usm: bool,
    wait_each: bool,
}

impl How {
    /// Pieces of memory.
    fn spread(self) -> usize {
        if self.in_order { 1 } else { SPREAD.min(self.launches) }
    }
}

impl Workload for Launch {
    fn name(&self) -> &'static str {
        "launch"
    }

    fn about(&self) -> &'static str {
        "launches of 256 items: in order over one piece of memory, out of order over 64"
    }

    fn unit(&self) -> &'static str {
        "launches"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[
            "in order, buffers, one wait",
            "in order, buffers, a wait each",
            "in order, usm, one wait",
            "in order, usm, a wait each",
            "out of order, buffers, one wait",
            "out of order, buffers, a wait each",
            "out of order, usm, one wait",
            "out of order, usm, a wait each",
        ]
    }

    fn sizes(&self, _: &str, _: Site) -> Vec<usize> {
        vec![100, 1, 1000]
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let how = How {
            launches: case.size,
            singly: false,
            in_order: case.mode.starts_with("in order"),
            usm: case.mode.contains("usm"),
            wait_each: case.mode.ends_with("each"),
        };
        let ours = if how.usm { over_usm(bench, how)? } else { over_buffers(bench, how)? };
        let (work, theirs) = hand(bench, how)?;
        Ok(bench.pair(work, ours, theirs))
    }
}

fn queue(bench: &Bench, how: How) -> Result<Queue> {
    Ok(match how.in_order {
        true => bench.rt.in_order_queue_on(&bench.device)?,
        false => bench.q.clone(),
    })
}

/// Our side: `launch` submits the k-th.
fn launches(
    q: &Queue,
    how: How,
    times: usize,
    launch: impl Fn(usize) -> folio::Result<Event>,
) -> Result<()> {
    for _ in 0..times {
        for k in 0..how.launches {
            let event = launch(k)?;
            if how.wait_each {
                event.wait()?;
            }
        }
        q.wait()?;
    }
    Ok(())
}

fn over_buffers(bench: &Bench, how: How) -> Result<Side> {
    let make = |_| bench.buffer([ITEMS], &[0.0f32; ITEMS]);
    let all = (0..how.spread()).map(make).collect::<Result<Vec<Shared<f32>>>>()?;
    let (q, first) = (queue(bench, how)?, all[0].clone());
    let run = move |times| launches(&q, how, times, |k| q.run(ITEMS, one(&all[k % all.len()])));
    Ok(side(run, Box::new(move || Ok(first.to_vec()?.into()))))
}

fn over_usm(bench: &Bench, how: How) -> Result<Side> {
    let make = |_| bench.usm::<f32>(UsmKind::Device, ITEMS).map(RefCell::new);
    let all = (0..how.spread()).map(make).collect::<Result<Vec<RefCell<Usm<f32>>>>>()?;
    let (q, all, out) =
        (queue(bench, how)?, Rc::new(all), bench.buffer([ITEMS], &[0.0f32; ITEMS])?);
    let (copier, first) = (bench.q.clone(), all.clone());
    let run = move |times| {
        launches(&q, how, times, |k| q.run(ITEMS, one(&mut *all[k % all.len()].borrow_mut())))
    };
    let tell = move || {
        copier.copy(&*first[0].borrow(), &out)?;
        Ok(out.to_vec()?.into())
    };
    Ok(side(run, Box::new(tell)))
}

/// The work of so many launches in order, and the hand-written side of them.
pub fn by_hand(bench: &Bench, launches: usize) -> Result<(Work, Side)> {
    hand(bench, How { launches, in_order: true, ..How::default() })
}

/// Independent launches, against as many submissions by hand. Other drivers than Vulkan's are given
/// each launch on its own anyway.
pub fn against_submissions(
    bench: &Bench,
    native: &Arc<dyn Native>,
    launches: usize,
) -> Result<Pair> {
    if native.api() != "Vulkan" {
        let why = format!("by hand: {} submits each launch on its own", native.api());
        return Err(Error::NotHere(why));
    }
    let how = How { launches, singly: true, ..How::default() };
    let work = Work { launches: launches as f64, ..Work::default() };
    Ok(bench.pair(work, over_buffers(bench, how)?, driver(native, how)?))
}

fn hand(bench: &Bench, how: How) -> Result<(Work, Side)> {
    // A wait is no part of what a launch takes at best.
    let launches = if how.wait_each { 0.0 } else { how.launches as f64 };
    let work = Work { launches, ..Work::default() };
    let side = match &bench.hand {
        Hand::Host => host(how),
        Hand::Native(native) => driver(native, how)?,
    };
    Ok((work, side))
}

fn increment(a: &mut [f32]) {
    a.iter_mut().for_each(|a| *a += 1.0);
}

/// Tasks of a rayon pool, from a thread of it, where they cost least: one that spawns the next
/// where they are in order, else many beside each other, as many as there are pieces of memory.
fn host(how: How) -> Side {
    let all = owned(vec![0.0f32; ITEMS * how.spread()]);
    let tell = all.clone();
    let run = move |times| {
        let mut all = all.lock();
        let all = &mut all[..];
        rayon::scope(|_| (0..times).for_each(|_| tasks(how, all)));
        Ok(())
    };
    side(run, Box::new(move || Ok(tell.lock()[..ITEMS].to_vec().into())))
}

fn tasks(how: How, all: &mut [f32]) {
    if how.in_order && !how.wait_each {
        return chain(how.launches, all, increment);
    }
    let (mut left, at_once) = (how.launches, if how.wait_each { 1 } else { how.spread() });
    while left > 0 {
        for pieces in all.chunks_mut(ITEMS * at_once).take(left) {
            rayon::scope(|scope| {
                for piece in pieces.chunks_mut(ITEMS).take(left) {
                    left -= 1;
                    scope.spawn(move |_| increment(piece));
                }
            });
        }
    }
}

fn driver(native: &Arc<dyn Native>, how: How) -> Result<Side> {
    let make = |_| Memory::new(native, 4 * ITEMS, how.usm).map(Arc::new);
    let all = (0..how.spread()).map(make).collect::<Result<Vec<_>>>()?;
    let args = |memory: &Arc<Memory>| [Arg::from(ITEMS), Arg::from(memory)];
    let call = |name| Call::new(native, (TEXT, name), [ITEMS], args(&all[0]));
    let (first, clear) = (call("one")?, call("clear")?);
    all.iter().try_for_each(|memory| native.launch(0, &clear.with(args(memory))))?;
    let calls: Vec<Call> = all.iter().map(|memory| first.with(args(memory))).collect();
    let tell = results(native, &all[0])?;
    let native = native.clone();
    let run = move |times| {
        for _ in 0..times {
            for call in calls.iter().cycle().take(how.launches) {
                native.launch(0, call)?;
                if how.singly {
                    // Vulkan's events are values of semaphores: none is given back.
                    native.record(0)?;
                }
                if how.wait_each {
                    native.finish(0)?;
                }
            }
            native.finish(0)?;
        }
        Ok(())
    };
    Ok(side(run, tell))
}

/// Through a kernel, which reaches every kind of memory.
fn results(native: &Arc<dyn Native>, memory: &Arc<Memory>) -> Result<Tell> {
    let out = Arc::new(Memory::new(native, memory.bytes, false)?);
    let args = [ITEMS.into(), Arg::from(memory), Arg::from(&out)];
    let take = Call::new(native, (TEXT, "take"), [ITEMS], args)?;
    let native = native.clone();
    Ok(Box::new(move || {
        native.launch(0, &take)?;
        Ok(out.read::<f32>(ITEMS)?.into())
    }))
}
