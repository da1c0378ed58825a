//! Trace events. They are noted under the ledger and told when it is free again, because a
//! subscriber is foreign code.

use super::Engine;
use super::ledger::Ledger;
use super::stamp::{LaneId, Stamp};
use crate::error::Label;
use crate::pages::DomainId;

/// Something that happened.
pub(crate) enum Note {
    /// A command was accepted.
    Submit { what: &'static str, label: Label, accesses: usize, stamp: Stamp },
    /// A transfer was planned.
    Transfer { label: Label, from: DomainId, to: DomainId, rects: u64, bytes: u64, pages: u64 },
    /// Memory that nobody had written was zeroed.
    Zero { label: Label, on: DomainId, rects: u64 },
    /// An operation got its place on a lane.
    Launch { what: &'static str, label: Label, lane: LaneId, tick: u64 },
    /// An operation ended.
    Complete { what: &'static str, label: Label, lane: LaneId, tick: u64, failed: bool },
}

/// True when somebody listens.
pub(crate) fn listening() -> bool {
    tracing::enabled!(target: "folio", tracing::Level::TRACE)
}

impl Ledger {
    pub(crate) fn trace(&mut self, note: impl FnOnce() -> Note) {
        if self.traced {
            self.outbox.notes.push(note());
        }
    }
}

impl Engine {
    pub(crate) fn tell(&self, note: &Note) {
        let device = |lane: &LaneId| {
            let at = usize::from(lane.0 / super::ledger::LANES_PER_DEVICE);
            self.devices.get(at).map_or("?", |d| d.name.as_str())
        };
        match note {
            Note::Submit { what, label, accesses, stamp } => {
                tracing::trace!(target: "folio", what, %label, accesses, ?stamp, "submit");
            }
            Note::Transfer { label, from, to, rects, bytes, pages } => {
                let (from, to) = (self.domain_name(*from), self.domain_name(*to));
                tracing::trace!(target: "folio", %label, from, to, rects, bytes, pages, "transfer");
            }
            Note::Zero { label, on, rects } => {
                let on = self.domain_name(*on);
                tracing::trace!(target: "folio", %label, on, rects, "zero fill");
            }
            Note::Launch { what, label, lane, tick } => {
                let (device, lane) = (device(lane), lane.0);
                tracing::trace!(target: "folio", what, %label, device, lane, tick, "launch");
            }
            Note::Complete { what, label, lane, tick, failed } => {
                let (device, lane) = (device(lane), lane.0);
                tracing::trace!(
                    target: "folio", what, %label, device, lane, tick, failed, "complete"
                );
            }
        }
    }
}
