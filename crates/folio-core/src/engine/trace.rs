//! Trace spans and events, all with the target `folio`, at level `TRACE`.
//!
//! `submit` is a span: what happens on the caller's thread until the call returns. The engine notes
//! under the ledger's lock what happens there, and the thread that held the lock tells it
//! afterwards. Order between threads is by `stamp` only: it names a command in `plan`, `launch` and
//! `complete`.
//!
//! # A subscriber is foreign code
//!
//! Every call of `tracing` goes through [`tell`], questions included ([`listening`]).
//!
//! * A panic of the subscriber ends there: the engine goes on as if it had not been called.
//! * The thread holds no lock of the engine's meanwhile, so a subscriber may use the runtime.
//! * A subscriber is not told what it does itself, so it cannot call itself again without end.
//! * A subscriber may wait. The host tasks that its thread has not started yet, since they are told
//!   first, are then started by the wait ([`Engine::start_unstarted`]).

use super::Engine;
use super::ledger::{HostWork, Outbox, is_out};
use crate::engine::lanes::Lanes;
use crate::engine::terms::note::{LaneTick, Note, Plan};
use crate::foreign::{in_subscriber, tell};
use crate::hal::Timing;
use crate::order::hazards::Deps;
use crate::order::stamp::{SlotId, Stamp};
use crate::report::Moves;
use folio_kernel::checks::Check;
use std::cell::Cell;
use std::time::Instant;

thread_local! {
    /// Host tasks that this thread starts once it has told of them, and the address of their
    /// engine.
    static UNSTARTED: Cell<(usize, Vec<(SlotId, HostWork)>)> = const { Cell::new((0, Vec::new())) };
}

fn lines(checks: &[Check]) -> String {
    let lines: Vec<_> = checks.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn stamps(deps: &Deps) -> Vec<Stamp> {
    deps.iter().map(|dep| dep.stamp).collect()
}

impl Engine {
    /// Tells what an outbox has noted, before anything of it begins.
    pub(crate) fn tell_all(&self, outbox: &mut Outbox) {
        let me = std::ptr::from_ref(self).addr();
        let lend = |cell: &Cell<_>| cell.replace((me, std::mem::take(&mut outbox.host)));
        // A thread that ends has no such cell any more.
        let outer = UNSTARTED.try_with(lend);
        outbox.notes.iter().for_each(|note| tell(|| self.tell(note)));
        if let Ok(outer) = outer {
            outbox.host = UNSTARTED.replace(outer).1;
        }
        outbox.telling = None;
    }

    /// Starts the host tasks that this thread has still to start. A wait calls it, which may be a
    /// subscriber's.
    #[inline]
    pub(crate) fn start_unstarted(&self) {
        if in_subscriber() {
            self.start_now();
        }
    }

    #[cold]
    fn start_now(&self) {
        let me = std::ptr::from_ref(self).addr();
        let (engine, host) = UNSTARTED.take();
        if engine != me {
            return UNSTARTED.set((engine, host));
        }
        host.into_iter().for_each(|(slot, work)| self.start_host_task(slot, work));
    }

    /// Waits until subscribers have been told all that has been noted. A subscriber that waits has
    /// not been told the rest.
    pub(crate) fn wait_until_told(&self, until: Option<Instant>) {
        let over = || until.is_some_and(|until| Instant::now() >= until);
        let is_telling = || {
            let ledger = self.lock();
            is_out(&ledger.telling, ledger.outbox.telling.as_ref())
        };
        while !in_subscriber() && !over() && is_telling() {
            crate::sync::yield_now();
        }
    }

    /// When an operation ran that has ended, by its device's clock.
    fn times_at(&self, (lane, tick): LaneTick) -> Option<Timing> {
        self.table.shared(lane?)?.native.timing(tick?)
    }

    fn tell(&self, note: &Note) {
        let parts = |&(lane, tick): &LaneTick| {
            let at =
                lane.map(|lane| usize::from(lane.0 / crate::engine::terms::lane::LANES_PER_DEVICE));
            let device = at.map(|at| self.devices.get(at).map_or("?", |d| d.name.as_str()));
            (device.unwrap_or("host"), lane.map(|lane| lane.0), tick)
        };
        match note {
            Note::Plan(plan) => {
                let Plan {
                    what,
                    label,
                    kernel,
                    stamp,
                    accesses,
                    after,
                    moves,
                    checks,
                    fast,
                    fusion,
                } = &**plan;
                let kernel = kernel.as_deref();
                let Moves { operations, bytes, pages } = moves;
                let (waits, after) = (after.len(), stamps(after));
                let (checks, fusion) = (checks.as_deref().map(lines), fusion.as_deref());
                tracing::trace!(
                    target: "folio", what, %label, kernel, ?stamp, accesses, waits, ?after,
                    operations, bytes, pages, checks, fast, fusion, "plan"
                );
            }
            Note::Allocate { what, label, on, bytes, imported: true } => {
                let device = self.domain_name(*on);
                tracing::trace!(target: "folio", what, %label, device, bytes, "import");
            }
            Note::Allocate { what, label, on, bytes, imported: false } => {
                let device = self.domain_name(*on);
                tracing::trace!(target: "folio", what, %label, device, bytes, "allocate");
            }
            Note::Transfer { label, stamp, after, from, to, boxes, bytes, pages } => {
                let (from, to) = (self.domain_name(*from), self.domain_name(*to));
                let (rects, after) = (boxes.len(), stamps(after));
                tracing::trace!(
                    target: "folio", %label, ?stamp, ?after, from, to, rects, bytes, pages,
                    "transfer"
                );
            }
            Note::Zero { label, stamp, after, on, boxes } => {
                let (on, rects, after) = (self.domain_name(*on), boxes.len(), stamps(after));
                tracing::trace!(target: "folio", %label, ?stamp, ?after, on, rects, "zero fill");
            }
            Note::Switch { label, stamp, after, on, maps } => {
                let (on, after) = (self.domain_name(*on), stamps(after));
                tracing::trace!(target: "folio", %label, ?stamp, ?after, on, maps, "switch");
            }
            Note::Launch { what, label, stamp, place } => {
                let (device, lane, tick) = parts(place);
                tracing::trace!(
                    target: "folio", what, %label, ?stamp, device, lane, tick, "launch"
                );
            }
            Note::Complete { what, label, stamp, place, failed, timed } => {
                let (device, lane, tick) = parts(place);
                let times = if *timed { self.times_at(*place) } else { None };
                let device_begin = times.map(|times| times.started);
                let device_ns = times.map(|times| times.ended.saturating_sub(times.started));
                tracing::trace!(
                    target: "folio", what, %label, ?stamp, device, lane, tick, failed,
                    device_begin, device_ns, "complete"
                );
            }
            Note::Member { what, label, stamp, number } => {
                tracing::trace!(target: "folio", what, %label, ?stamp, number, "member");
            }
        }
    }
}
