//! Many tiny tasks that depend on each other by what they access.

use crate::bench::{Bench, Case, Pair, Side, Site, Tell, Workload, side};
use crate::error::Result;
use crate::hand::host::owned;
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Tasks;

/// Elements of a buffer, and items of a task.
const ITEMS: usize = 16;
/// Tasks of a chain.
const LINKS: usize = 16;
/// Steps of a stencil, of which two go forth and back.
const STEPS: usize = 8;

#[kernel]
fn next(i: Item, a: InOut<f32>) {
    a[i] = 0.5 * a[i] + 1.0;
}

#[kernel]
fn mean_of_three(i: Item, a: In<f32>, b: In<f32>, c: In<f32>, to: Out<f32>) {
    to[i] = 0.25 * a[i] + 0.5 * b[i] + 0.25 * c[i];
}

#[kernel]
fn join(i: Item, a: InOut<f32>, b: In<f32>) {
    a[i] = 0.5 * a[i] + 0.5 * b[i] + 0.125;
}

const TEXT: &str = "
KERNEL next(uint n, GLOBAL float *a) { WITHIN(X, n); a[X] = 0.5f * a[X] + 1.0f; }
KERNEL mean_of_three(uint n, GLOBAL const float *a, GLOBAL const float *b, GLOBAL const float *c,
                     GLOBAL float *to) {
    WITHIN(X, n);
    to[X] = 0.25f * a[X] + 0.5f * b[X] + 0.25f * c[X];
}
KERNEL join(uint n, GLOBAL float *a, GLOBAL const float *b) {
    WITHIN(X, n);
    a[X] = 0.5f * a[X] + 0.5f * b[X] + 0.125f;
}
";

/// A task: which kernel, over which buffers of two sets of `n`.
#[derive(Clone, Copy)]
enum Task {
    Next(usize),
    Mean([usize; 3], usize),
    Join(usize, usize),
}

/// Tasks that may run beside each other, level by level.
fn levels(mode: &str, n: usize) -> Vec<Vec<Task>> {
    match mode {
        "chains" => (0..LINKS).map(|_| (0..n).map(Task::Next).collect()).collect(),
        "stencil" => (0..STEPS)
            .map(|step| {
                let (from, to) = if step % 2 == 0 { (0, n) } else { (n, 0) };
                let around = |b: usize| [(b + n - 1) % n, b, (b + 1) % n].map(|b| from + b);
                (0..n).map(|b| Task::Mean(around(b), to + b)).collect()
            })
            .collect(),
        _ => {
            let strides = (0..n.ilog2()).map(|level| 1 << level);
            let level = |stride: usize| {
                (0..n).step_by(2 * stride).map(|b| Task::Join(b, b + stride)).collect()
            };
            strides.map(level).collect()
        }
    }
}

impl Workload for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn about(&self) -> &'static str {
        "chains, stencils and trees of tasks of 16 items over 8 and 64 buffers"
    }

    fn unit(&self) -> &'static str {
        "buffers"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["chains", "stencil", "tree"]
    }

    fn sizes(&self, _: &str, _: Site) -> Vec<usize> {
        vec![64, 8]
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let levels = levels(case.mode, case.size);
        let count = levels.iter().map(Vec::len).sum::<usize>();
        let work = Work { launches: count as f64, ..Work::default() };
        let start = bench.floats(2 * case.size * ITEMS, 1);
        let ours = ours(bench, levels.concat(), &start)?;
        let theirs = match &bench.hand {
            Hand::Host => host(levels, start),
            Hand::Native(native) => driver(native, &levels.concat(), &start)?,
        };
        Ok(bench.pair(work, ours, theirs))
    }
}

fn ours(bench: &Bench, tasks: Vec<Task>, start: &[f32]) -> Result<Side> {
    let parts = start.chunks(ITEMS).map(|part| bench.buffer([ITEMS], part));
    let all = parts.collect::<Result<Vec<Shared<f32>>>>()?;
    let (q, told) = (bench.q.clone(), all.clone());
    let run = move |times| {
        for _ in 0..times {
            for task in &tasks {
                drop(match *task {
                    Task::Next(a) => q.run(ITEMS, next(&all[a]))?,
                    Task::Mean([a, b, c], to) => {
                        q.run(ITEMS, mean_of_three(&all[a], &all[b], &all[c], &all[to]))?
                    }
                    Task::Join(a, b) => q.run(ITEMS, join(&all[a], &all[b]))?,
                });
            }
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

/// The elements of a buffer, which tasks of a level reach by its number.
struct Cells(*mut f32);
// SAFETY: within a level no task writes what another one uses; levels come one after the other.
unsafe impl Sync for Cells {}

impl Cells {
    fn run(&self, task: Task) {
        // SAFETY: buffers are within the vector, and apart (see above).
        let part = |b: usize| unsafe { std::slice::from_raw_parts(self.0.add(b * ITEMS), ITEMS) };
        // SAFETY: as above.
        let part_mut =
            |b: usize| unsafe { std::slice::from_raw_parts_mut(self.0.add(b * ITEMS), ITEMS) };
        match task {
            Task::Next(a) => part_mut(a).iter_mut().for_each(|a| *a = 0.5 * *a + 1.0),
            Task::Mean(from, to) => {
                let [a, b, c] = from.map(part);
                let to = part_mut(to).iter_mut().zip(a).zip(b).zip(c);
                to.for_each(|(((to, a), b), c)| *to = 0.25 * a + 0.5 * b + 0.25 * c);
            }
            Task::Join(a, b) => {
                let (a, b) = (part_mut(a), part(b));
                a.iter_mut().zip(b).for_each(|(a, b)| *a = 0.5 * *a + 0.5 * b + 0.125);
            }
        }
    }
}

/// A task of rayon's for each, level by level, from a thread of its pool.
fn host(levels: Vec<Vec<Task>>, start: Vec<f32>) -> Side {
    let all = owned(start);
    let tell = all.clone();
    let run = move |times| {
        let mut all = all.lock();
        let cells = Cells(all.as_mut_ptr());
        rayon::scope(|_| {
            for level in (0..times).flat_map(|_| &levels) {
                rayon::scope(|scope| {
                    level.iter().for_each(|task| scope.spawn(|_| cells.run(*task)));
                });
            }
        });
        Ok(())
    };
    side(run, Box::new(move || Ok(tell.lock().clone().into())))
}

fn driver(native: &Arc<dyn Native>, tasks: &[Task], start: &[f32]) -> Result<Side> {
    let parts = start.chunks(ITEMS).map(|part| Memory::of(native, part).map(Arc::new));
    let all = parts.collect::<Result<Vec<_>>>()?;
    let call = |task: &Task| {
        let at = |b: usize| Arg::from(&all[b]);
        let items = [ITEMS];
        match *task {
            Task::Next(a) => Call::new(native, (TEXT, "next"), items, [ITEMS.into(), at(a)]),
            Task::Mean([a, b, c], to) => {
                let args = [ITEMS.into(), at(a), at(b), at(c), at(to)];
                Call::new(native, (TEXT, "mean_of_three"), items, args)
            }
            Task::Join(a, b) => {
                Call::new(native, (TEXT, "join"), items, [ITEMS.into(), at(a), at(b)])
            }
        }
    };
    let calls = tasks.iter().map(call).collect::<Result<Vec<Call>>>()?;
    let owner = native.clone();
    let run = move |times| {
        for _ in 0..times {
            calls.iter().try_for_each(|call| owner.launch(0, call))?;
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
