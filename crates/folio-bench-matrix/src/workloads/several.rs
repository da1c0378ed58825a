//! A job on all devices of a backend, beside the same on one of them. Both sides are Folio's:
//! what devices need of each other moves by itself.

mod kernels;

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, side};
use crate::error::{Error, Result};
use crate::options::backend;
use crate::record::Work;
use folio::DeviceRef;
use folio::prelude::*;
use kernels::{attract, heat};

/// The workload.
pub struct Several;

/// Steps of a run: even, so that the last one writes the first plate.
const STEPS: usize = 10;

impl Workload for Several {
    fn name(&self) -> &'static str {
        "several"
    }

    fn about(&self) -> &'static str {
        "ten steps on all devices of the backend, a part on each: beside all parts on one"
    }

    fn unit(&self) -> &'static str {
        "points"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["5-point", "bodies"]
    }

    fn sizes(&self, mode: &str, site: Site) -> Vec<usize> {
        match mode {
            "5-point" => site.powers(&[22, 18], &[28, 24], 1, 2),
            _ => site.powers(&[12, 10], &[17, 14], 1, 2),
        }
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let own = backend(bench.device.name());
        let (mut queues, mut all) = (vec![bench.q.clone()], bench.rt.devices());
        all.retain(|d| backend(d.name()) == own && d.name() != bench.device.name());
        if all.is_empty() {
            return Err(Error::NotHere(format!("{own} has one device here")));
        }
        let queue = |device: &DeviceRef| bench.rt.queue_on(device);
        queues.extend(all.iter().map(queue).collect::<folio::Result<Vec<_>>>()?);
        let one = vec![bench.q.clone()];
        let (ours, theirs) = match case.mode {
            "5-point" => (plate(bench, case.size, queues)?, plate(bench, case.size, one)?),
            _ => (bodies(bench, case.size, queues)?, bodies(bench, case.size, one)?),
        };
        let work = Work::default();
        Ok(Pair { against: "one device".to_owned(), ..bench.pair(work, ours, theirs) })
    }
}

/// Steps of `launch`, which is given a step, a queue and the part of `n` that is its device's.
fn steps(
    queues: &[Queue],
    n: usize,
    times: usize,
    launch: impl Fn(usize, &Queue, std::ops::Range<usize>) -> folio::Result<Event>,
) -> Result<()> {
    let count = queues.len();
    for step in 0..STEPS * times {
        for (at, q) in queues.iter().enumerate() {
            drop(launch(step, q, at * n / count..(at + 1) * n / count)?);
        }
    }
    Ok(queues.iter().try_for_each(Queue::wait)?)
}

/// Of so many points, a band of rows on each device.
fn plate(bench: &Bench, points: usize, queues: Vec<Queue>) -> Result<Side> {
    let n = 1usize << (points.ilog2() / 2);
    let start = bench.floats(n * n, 1);
    let make = || {
        let page = BufferOptions::new().page([1, n]);
        bench.rt.buffer_with((&start, [n, n]), page).map(Buffer::into_shared)
    };
    let both = [make()?, make()?];
    let results = both[0].clone();
    let run = move |times| {
        steps(&queues, n, times, |step, q, rows| {
            let (old, new) = (&both[step % 2], &both[1 - step % 2]);
            q.run([rows.start.max(1)..rows.end.min(n - 1), 0..n], heat(old, new))
        })
    };
    Ok(side(run, Box::new(move || Ok(results.to_vec()?.into()))))
}

/// A part of the bodies on each device, which needs all others in each step.
fn bodies(bench: &Bench, n: usize, queues: Vec<Queue>) -> Result<Side> {
    let start: Vec<[f32; 4]> = bench.floats(4 * n, 1).as_chunks().0.to_vec();
    let make = |values: &[[f32; 4]]| {
        let page = BufferOptions::new().page([n / queues.len()]);
        bench.rt.buffer_with((values, [n]), page).map(Buffer::into_shared)
    };
    let (both, speed) = ([make(&start)?, make(&start)?], make(&vec![[0.0; 4]; n])?);
    let results = speed.clone();
    let run = move |times| {
        steps(&queues, n, times, |step, q, part| {
            let (old, new) = (&both[step % 2], &both[1 - step % 2]);
            q.run(part, attract(1e-6, old, &speed, new))
        })
    };
    Ok(side(run, Box::new(move || Ok(results.to_vec()?.into()))))
}
