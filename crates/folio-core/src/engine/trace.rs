//! Trace spans and events, all with the target `folio`, at level `TRACE`.
//!
//! `submit` is a span: what happens on the caller's thread until the call returns. What happens
//! under a lock is noted there and told when it is free again, because a subscriber is foreign
//! code; on the thread that found it out, so order between threads is by `stamp` only: it names a
//! command in `plan`, `launch` and `complete`.

use super::Engine;
use super::ledger::{Ledger, Outbox};
use crate::error::Label;
use crate::geom::Box3;
use crate::order::hazards::Deps;
use crate::order::stamp::{LaneId, Stamp};
use crate::pages::DomainId;
use crate::panics::contain;
use crate::report::Moves;
use folio_kernel::checks::Check;
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;
use tracing::span::EnteredSpan;

/// Where an operation is: its lane, unless it is the host's, and its tick, if it has got one.
pub(crate) type Place = (Option<LaneId>, Option<u64>);

/// Something that happened.
pub(crate) enum Note {
    /// A command was accepted: what it waits for, and what must be moved for it.
    Plan {
        what: &'static str,
        label: Label,
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

/// True when somebody listens.
pub(crate) fn listening() -> bool {
    tracing::enabled!(target: "folio", tracing::Level::TRACE)
}

/// A submission, for as long as the caller is in it.
pub(crate) struct Submitting(Option<EnteredSpan>);

impl Submitting {
    pub(crate) fn new(what: &'static str, label: &Label, device: Option<&str>) -> Submitting {
        let mut span = Submitting(None);
        let device = device.unwrap_or("host");
        contain(|| {
            let entered = tracing::trace_span!(target: "folio", "submit", what, %label, device);
            span.0 = Some(entered.entered());
        });
        span
    }
}

impl Drop for Submitting {
    fn drop(&mut self) {
        contain(|| drop(self.0.take()));
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

thread_local! {
    /// This thread is in a subscriber.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

impl Engine {
    /// Tells what an outbox has noted.
    pub(crate) fn tell_all(&self, outbox: &mut Outbox) {
        let before = TELLING.replace(true);
        outbox.notes.iter().for_each(|note| contain(|| self.tell(note)));
        TELLING.set(before);
        outbox.telling = None;
    }

    /// Waits until subscribers have been told all that has been noted. One that waits has not been
    /// told the rest.
    pub(crate) fn wait_until_told(&self, until: Option<Instant>) {
        let over = || until.is_some_and(|until| Instant::now() >= until);
        while !TELLING.get() && !over() && self.lock().is_telling() {
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
            Note::Plan { what, label, stamp, accesses, after, moves, checks, fusion } => {
                let Moves { operations, bytes, pages } = moves;
                let (waits, after) = (after.len(), stamps(after));
                let (checks, fusion) = (checks.as_deref().map(lines), fusion.as_deref());
                tracing::trace!(
                    target: "folio", what, %label, ?stamp, accesses, waits, ?after, operations,
                    bytes, pages, checks, fusion, "plan"
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
