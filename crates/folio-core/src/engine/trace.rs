//! Trace spans and events, all with the target `folio`, at level `TRACE`.
//!
//! `submit` is a span: what happens on the caller's thread until the call returns. The engine notes
//! under the ledger's lock what happens there, and the thread that held the lock tells it
//! afterwards. So order between threads is by `stamp` only: it names a command in `plan`, `launch`
//! and `complete`.
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
use super::ledger::{HostWork, Ledger, Outbox};
use crate::error::Label;
use crate::geom::Box3;
use crate::order::hazards::Deps;
use crate::order::stamp::{LaneId, SlotId, Stamp};
use crate::pages::DomainId;
use crate::panics::contain;
use crate::report::Moves;
use folio_kernel::checks::Check;
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};
use tracing::span::Id;
use tracing::{Dispatch, Level, Span};

/// Where an operation is: its lane, unless it is the host's, and its tick, if it has got one.
pub(crate) type Place = (Option<LaneId>, Option<u64>);

/// Something that happened.
pub(crate) enum Note {
    /// A command was accepted: what it waits for, and what must be moved for it.
    Plan {
        what: &'static str,
        label: Label,
        /// The kernel, if it launches one that has a name.
        kernel: Option<Arc<str>>,
        stamp: Stamp,
        accesses: usize,
        after: Deps,
        moves: Moves,
        /// The run-time checks that are left in a launch of a `#[kernel]`.
        checks: Option<Box<[Check]>>,
        /// Which fusion it took part in, or why it did not.
        fusion: Option<Arc<str>>,
    },
    /// Memory was allocated, or a device has memory of others as its own.
    Allocate { what: &'static str, label: Label, on: DomainId, bytes: u64, imported: bool },
    /// A transfer was planned.
    Transfer {
        label: Label,
        stamp: Stamp,
        after: Deps,
        from: DomainId,
        to: DomainId,
        /// Elements.
        boxes: SmallVec<[Box3; 2]>,
        bytes: u64,
        pages: u64,
    },
    /// Memory that nobody had written is zeroed.
    Zero { label: Label, stamp: Stamp, after: Deps, on: DomainId, boxes: SmallVec<[Box3; 2]> },
    /// Linked memory is mapped for the host, or unmapped for its device.
    Switch { label: Label, stamp: Stamp, after: Deps, on: DomainId, maps: bool },
    /// An operation got its place.
    Launch { what: &'static str, label: Label, stamp: Stamp, place: Place },
    /// An operation ended, or will not run.
    Complete { what: &'static str, label: Label, stamp: Stamp, place: Place, failed: bool },
}

thread_local! {
    /// This thread is in a subscriber.
    static IN_SUBSCRIBER: Cell<bool> = const { Cell::new(false) };
    /// Host tasks that this thread starts once it has told of them, and the address of their
    /// engine.
    static UNSTARTED: Cell<(usize, Vec<(SlotId, HostWork)>)> = const { Cell::new((0, Vec::new())) };
}

/// Calls the subscriber, unless this thread is in it already. The caller holds no lock. For layers,
/// too.
pub fn tell(f: impl FnOnce()) {
    if !IN_SUBSCRIBER.replace(true) {
        contain(f);
        IN_SUBSCRIBER.set(false);
    }
}

/// True when a subscriber wants to know of submissions. The caller holds no lock.
#[inline]
pub(crate) fn listening() -> bool {
    Level::TRACE <= STATIC_MAX_LEVEL && Level::TRACE <= LevelFilter::current() && ask()
}

#[cold]
fn ask() -> bool {
    let mut listens = false;
    tell(|| listens = tracing::enabled!(target: "folio", Level::TRACE));
    listens
}

/// The span of a submission, for as long as the caller is in it.
pub(crate) struct Submitting(Option<Span>);

impl Submitting {
    pub(crate) fn new(what: &'static str, label: &Label, device: Option<&str>) -> Submitting {
        let mut span = None;
        let device = device.unwrap_or("host");
        tell(|| {
            span = Some(tracing::trace_span!(target: "folio", "submit", what, %label, device));
        });
        let span = Submitting(span);
        span.tell_of(|subscriber, id| subscriber.enter(id));
        span
    }

    /// Each call has a [`tell`] of its own. The guards of `tracing` would exit and close the span
    /// while the first panic unwinds, and a second one aborts the process.
    fn tell_of(&self, f: impl FnOnce(&Dispatch, &Id)) {
        if let Some(span) = &self.0 {
            tell(|| _ = span.with_subscriber(|(id, subscriber)| f(subscriber, id)));
        }
    }
}

impl Drop for Submitting {
    fn drop(&mut self) {
        self.tell_of(|subscriber, id| subscriber.exit(id));
        let span = self.0.take();
        tell(|| drop(span));
    }
}

fn lines(checks: &[Check]) -> String {
    let lines: Vec<_> = checks.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn stamps(deps: &Deps) -> Vec<Stamp> {
    deps.iter().map(|dep| dep.stamp).collect()
}

impl Ledger {
    pub(crate) fn trace(&mut self, note: impl FnOnce() -> Note) {
        if self.traced {
            self.outbox.notes.push(note());
            self.outbox.telling.get_or_insert_with(|| self.telling.clone());
        }
    }

    /// A thread tells what it has noted, or is about to.
    fn is_telling(&self) -> bool {
        let own = 1 + usize::from(self.outbox.telling.is_some());
        Arc::strong_count(&self.telling) > own
    }
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
        if IN_SUBSCRIBER.get() {
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

    /// Waits until subscribers have been told all that has been noted. One that waits has not been
    /// told the rest.
    pub(crate) fn wait_until_told(&self, until: Option<Instant>) {
        let over = || until.is_some_and(|until| Instant::now() >= until);
        while !IN_SUBSCRIBER.get() && !over() && self.lock().is_telling() {
            crate::sync::yield_now();
        }
    }

    fn tell(&self, note: &Note) {
        let parts = |&(lane, tick): &Place| {
            let at = lane.map(|lane| usize::from(lane.0 / super::ledger::LANES_PER_DEVICE));
            let device = at.map(|at| self.devices.get(at).map_or("?", |d| d.name.as_str()));
            (device.unwrap_or("host"), lane.map(|lane| lane.0), tick)
        };
        match note {
            Note::Plan { what, label, kernel, stamp, accesses, after, moves, checks, fusion } => {
                let kernel = kernel.as_deref();
                let Moves { operations, bytes, pages } = moves;
                let (waits, after) = (after.len(), stamps(after));
                let (checks, fusion) = (checks.as_deref().map(lines), fusion.as_deref());
                tracing::trace!(
                    target: "folio", what, %label, kernel, ?stamp, accesses, waits, ?after,
                    operations, bytes, pages, checks, fusion, "plan"
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
            Note::Complete { what, label, stamp, place, failed } => {
                let (device, lane, tick) = parts(place);
                tracing::trace!(
                    target: "folio", what, %label, ?stamp, device, lane, tick, failed, "complete"
                );
            }
        }
    }
}
