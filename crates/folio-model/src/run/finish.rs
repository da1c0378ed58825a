//! The end of a run: everything is read, waited for and dropped, and what is left is noted.

use super::{Doing, Outcome, Record, Runner, lock};
use crate::handle::Handle;
use crate::program::View;
use crate::world::{Told, World};
use folio_core::Status;
use folio_core::geom::Box3;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

impl Runner<'_> {
    /// All of a buffer; USM becomes one first, so that it can be read from wherever it is.
    fn last_look(&self, at: usize) -> Option<(Outcome, Vec<u64>)> {
        let handle = match lock(&self.buffers[at]).take()? {
            usm @ Handle::Usm(_) => usm.adopt()?,
            other => Ok(other),
        };
        if let Ok(handle) = &handle {
            *lock(&self.buffers[at]) = Some(handle.clone());
        }
        let spec = &self.program.buffers[at];
        let part = Box3::whole(spec.dims);
        let view = View { buffer: at, ty: spec.ty, dims: spec.dims, part };
        let read = handle.and_then(|_| self.read(&view));
        Some((Outcome::of(&read), read.map(|(data, _)| data).unwrap_or_default()))
    }

    /// Reads everything, waits for everything, drops everything, and looks for what is left.
    pub(super) fn finish(self, all: &mut Vec<Doing>, record: &mut Record) {
        // The buffers before anything else is waited for.
        record.finals = (0..self.buffers.len())
            .map(|at| match self.buffer(at)? {
                Handle::U32(_) | Handle::U64(_) => self.last_look(at),
                Handle::Usm(_) | Handle::Lent(_) => None,
            })
            .collect();
        for doing in all.iter_mut() {
            if let Some(event) = &doing.event {
                let waited = event.wait();
                doing.seen.end = Outcome::of(&waited);
                let sticky = match event.status() {
                    Status::Failed(error) => Outcome::from_error(&error),
                    Status::Done => Outcome::Fine,
                    _ => Outcome::Other("pending after a wait".to_owned()),
                };
                if sticky != doing.seen.end {
                    let now = (&doing.seen.end, sticky);
                    record.wrong.push(format!("step {}: wait and status: {now:?}", doing.seen.id));
                }
            }
            if let Some(digest) = &doing.digest {
                doing.seen.digest = digest.load(Ordering::SeqCst);
            }
        }
        for at in 0..self.buffers.len() {
            if record.finals[at].is_none() {
                record.finals[at] = self.last_look(at);
            }
        }
        for queue in &self.world.queues {
            let mut told = Vec::new();
            while let Err(error) = queue.wait() {
                match Outcome::from_error(&error) {
                    Outcome::Failed(id, label) if told.len() < 1000 => told.push((id, label)),
                    other => {
                        record.wrong.push(format!("queue wait: {other:?}"));
                        break;
                    }
                }
            }
            record.queues.push(told);
        }
        if let Err(error) = self.world.rt.wait() {
            record.wrong.push(format!("runtime wait: {error}"));
        }
        let sums = self.world.sim.as_ref().map(|s| (self.world.rt.counters(), s.counters()));
        record.sums = sums;
        record.steps = all.drain(..).map(|d| d.seen).collect();
        let Runner { world, buffers, events, kept, .. } = self;
        drop((buffers, events, kept));
        leaks(&world, record);
        let World { rt, queues, sim, reports, told, .. } = world;
        drop((rt, queues));
        if let Some(sim) = &sim {
            record.wrong.extend(sim.violations().iter().map(|v| format!("simulator: {v}")));
        }
        for report in reports {
            record.wrong.extend(report.violations().iter().map(|v| format!("validate: {v}")));
        }
        await_reports(&told, record);
    }
}

/// Whoever notices a failure tells of it when it holds no lock any more: soon after.
fn await_reports(told: &Mutex<Vec<Told>>, record: &mut Record) {
    let finals = record.finals.iter().flatten().map(|(call, _)| call);
    let ends = record.steps.iter().flat_map(|s| [&s.call, &s.end]).chain(finals);
    let failed: Vec<u64> = ends
        .filter_map(|end| match end {
            Outcome::Failed(id, _) => Some(*id),
            _ => None,
        })
        .collect();
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        record.told = lock(told).clone();
        let all = failed.iter().all(|id| record.told.iter().any(|t| t.0 == *id));
        if all || Instant::now() > until {
            return;
        }
        std::thread::yield_now();
    }
}

/// All memory of devices comes back: soon, since other threads may be giving it back.
fn leaks(world: &World, record: &mut Record) {
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        let sim = world.sim.as_ref().map_or(0, |s| s.live_allocations().0);
        let budgets: u64 = world.rt.devices().iter().map(|d| d.budget().1).sum();
        if sim == 0 && budgets == 0 {
            return;
        }
        if Instant::now() > until {
            let labels = world.sim.as_ref().map(|s| s.live_labels());
            record.wrong.push(format!("leaked {budgets} bytes, {sim} allocations: {labels:?}"));
            return;
        }
        std::thread::yield_now();
    }
}
