//! The end of a run: everything is read, waited for and dropped, and what is left is noted.

use super::{Outcome, PendingStep, Record, Runner, Seen, idle, lock, views};
use crate::handle::Handle;
use crate::live::Live;
use crate::program::{Action, BufferSpec, Memory, View, What};
use crate::typed::{self, Digest};
use crate::world::{ReportedFailure, World, Wrap};
use folio_core::geom::Box3;
use folio_core::{Event, Result, Runtime, Status};
use folio_layers::Report;
use folio_sim::SimHandle;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError, mpsc};
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
        let read = handle.and_then(|_| self.read(&view, false));
        Some((Outcome::of(&read), read.map(|(data, _)| data).unwrap_or_default()))
    }

    /// Reads everything, waits for everything, drops everything, and looks for what is left.
    pub(super) fn finish(self, all: &mut Vec<PendingStep>, record: &mut Record) {
        // The buffers before anything else is waited for. Borrowed memory is back with its owner.
        for (spec, buffer) in self.program.buffers.iter().zip(&self.buffers) {
            if spec.memory == Memory::Borrowed {
                lock(buffer).take();
            }
        }
        record.finals = (0..self.buffers.len())
            .map(|at| match self.buffer(at)? {
                Handle::U32(_) | Handle::U64(_) => self.last_look(at),
                Handle::Usm(_) | Handle::Lent(_) => None,
            })
            .collect();
        for pending in all.iter_mut() {
            if let Some(event) = &pending.event {
                let waited = event.wait();
                pending.seen.end = Outcome::of(&waited);
                let sticky = match event.status() {
                    Status::Failed(error) => Outcome::from_error(&error),
                    Status::Done => Outcome::Fine,
                    _ => Outcome::Other("pending after a wait".to_owned()),
                };
                if sticky != pending.seen.end {
                    let now = (&pending.seen.end, sticky);
                    record
                        .wrong
                        .push(format!("step {}: wait and status: {now:?}", pending.seen.id));
                }
            }
            if let Some(digest) = &pending.digest {
                pending.seen.digest = digest.load(Ordering::SeqCst);
            }
        }
        for at in 0..self.buffers.len() {
            if record.finals[at].is_none() {
                record.finals[at] = self.last_look(at);
            }
        }
        let moved = |at| self.buffer(at).map(|handle| handle.moves());
        record.moved = (0..self.buffers.len()).map(moved).collect();
        self.last_views(all, record);
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
        match idle(&self.world.rt) {
            None => record.wrong.push("runtime wait: no failure of a command".to_owned()),
            Some(untold) => {
                let mut told = record.queues.iter().flatten().filter(|(id, _)| untold.contains(id));
                let again =
                    told.next().map(|told| format!("runtime wait: {told:?}, which a queue told"));
                record.wrong.extend(again);
            }
        }
        let sums = self.world.sim.as_ref().map(|s| (self.world.rt.counters(), s.counters()));
        record.sums = sums;
        record.steps = all.drain(..).map(|d| d.seen).collect();
        let Runner { world, buffers, events, kept, wrap, .. } = self;
        drop((buffers, events, kept));
        leaks(&world.live, world.sim.as_ref(), Some(&world.rt), record);
        let World { rt, queues, sim, reports, told, .. } = world;
        drop((rt, queues));
        broken(sim.as_ref(), &reports, record);
        await_reports(&told, wrap, record);
    }

    /// Drops everything at once. Submitted commands run to their ends all the same: a last command
    /// comes after all others, and its captured values go when it has run, or never will.
    pub(super) fn abandon(self, all: Vec<PendingStep>, record: &mut Record) {
        let by_address = |d: &&PendingStep| self.uses_usm_by_address(d.seen.id);
        // Each of them, whether or not another has failed.
        let needed = all.iter().filter(by_address).filter_map(|d| d.event.as_ref());
        let waited: Vec<Result<()>> = needed.map(Event::wait).collect();
        let Runner { world, buffers, events, kept, program, wrap, coming, .. } = self;
        let (last, over) = mpsc::channel::<()>();
        let submitted = world.queues[0].submit(|cg| {
            all.iter().filter_map(|d| d.event.as_ref()).for_each(|event| {
                cg.after(event);
            });
            cg.host_task((), move |()| drop(last));
            Ok(())
        });
        let failed = waited.into_iter().filter_map(Result::err).chain(submitted.err());
        let wrong = failed.filter(|_| !wrap.fails());
        record.wrong.extend(wrong.map(|error| error.to_string()));
        let lent: Vec<Option<Handle>> = (buffers.into_iter())
            .map(|b| b.into_inner().unwrap_or_else(PoisonError::into_inner))
            .map(|handle| handle.filter(|h| matches!(h, Handle::Lent(_))))
            .collect();
        let coming = coming.into_inner().unwrap_or_else(PoisonError::into_inner);
        let digests = all.into_iter().map(|PendingStep { seen, digest, .. }| (seen, digest));
        let steps: Vec<(Seen, Option<Digest>)> = digests.collect();
        drop(events);
        let World { rt, queues, sim, reports, told, live, .. } = world;
        drop((rt, queues));
        if !ends(&over, sim.as_ref()) {
            record.wrong.push("what was submitted has not ended".to_owned());
            // Somebody may use it still.
            std::mem::forget(kept);
            return;
        }
        for (mut seen, digest) in steps {
            seen.digest = digest.map_or(0, |digest| digest.load(Ordering::SeqCst));
            views::take_coming(&kept, &coming, &mut seen);
            record.steps.push(seen);
        }
        record.backs = (0..program.buffers.len()).map(|at| views::take(&kept, at)).collect();
        for (at, handle) in lent.into_iter().enumerate() {
            let BufferSpec { ty, dims, .. } = program.buffers[at];
            let view = View { buffer: at, ty, dims, part: Box3::whole(dims) };
            let read = handle.map(|handle| typed::read::<u64>(&handle, &view));
            record.finals.push(read.and_then(|r| Some((Outcome::Fine, r.ok()?.0))));
        }
        drop(kept);
        leaks(&live, sim.as_ref(), None, record);
        broken(sim.as_ref(), &reports, record);
        await_reports(&told, wrap, record);
    }
}

impl Runner<'_> {
    /// A step that uses USM which only its handle keeps.
    fn uses_usm_by_address(&self, id: u32) -> bool {
        let usm = |(view, _): &(View, bool)| {
            matches!(self.program.buffers[view.buffer].memory, Memory::Usm(..))
        };
        self.program.steps.iter().filter(|step| step.id == id).any(|step| match &step.what {
            What::Submit { action: action @ Action::RawRun { .. }, .. } => {
                action.raw().iter().any(usm)
            }
            _ => false,
        })
    }
}

/// Waits until the other end of a channel is gone; `false` after some patience. Simulated devices
/// go on by themselves meanwhile, as real ones do: nobody who is left would wait for them.
fn ends(over: &mpsc::Receiver<()>, sim: Option<&SimHandle>) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while over.recv_timeout(Duration::from_millis(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
        if Instant::now() > until {
            return false;
        }
        if let Some(sim) = sim {
            sim.step(20);
        }
    }
    true
}

/// Whoever watches over contracts has seen it broken.
fn broken(sim: Option<&SimHandle>, reports: &[Report], record: &mut Record) {
    if let Some(sim) = sim {
        record.wrong.extend(sim.violations().iter().map(|v| format!("simulator: {v}")));
    }
    for report in reports {
        record.wrong.extend(report.violations().iter().map(|v| format!("validate: {v}")));
    }
}

/// Whoever notices a failure tells of it when it holds no lock any more: soon after.
fn await_reports(told: &Mutex<Vec<ReportedFailure>>, wrap: &dyn Wrap, record: &mut Record) {
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
        let mut all = failed.iter().all(|id| record.told.iter().any(|t| t.id == *id));
        all &= !(wrap.told() && record.told.is_empty());
        if all || Instant::now() > until {
            return;
        }
        std::thread::yield_now();
    }
}

/// All memory of devices comes back: soon, since other threads may be giving it back.
fn leaks(live: &Live, sim: Option<&SimHandle>, rt: Option<&Runtime>, record: &mut Record) {
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        let mut out = live.labels();
        out.extend(sim.into_iter().flat_map(SimHandle::live_labels));
        let budgets: u64 = rt.map_or(0, |rt| rt.devices().iter().map(|d| d.budget().1).sum());
        if out.is_empty() && budgets == 0 {
            return;
        }
        if Instant::now() > until {
            record.wrong.push(format!("leaked {budgets} bytes, allocations: {out:?}"));
            return;
        }
        std::thread::yield_now();
    }
}
