//! What a queue over several devices knows of their speeds, where its scheduler asks for that: its
//! commands are timed, and a look at those that have ended is taken before the next is placed.

use crate::buffer::StorageHandle;
use crate::engine::Engine;
use crate::geom::Box3;
use crate::order::hazards::Outcome;
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use crate::queue::Queue;
use crate::sched::{Parts, Rates, Schedule, Split, is_worth};
use std::collections::VecDeque;
use std::sync::Arc;

/// Commands whose times are waited for, at most: the oldest ones are forgotten.
const PENDING: usize = 1024;

/// A command that was submitted.
struct Submitted {
    name: Arc<str>,
    device: u16,
    items: usize,
    stamp: Stamp,
}

/// What is measured.
#[derive(Default)]
pub(crate) struct Meter {
    pub(crate) rates: Rates,
    pub(crate) schedule: Schedule,
    pending: VecDeque<Submitted>,
}

impl Meter {
    /// A timed command was submitted.
    pub(crate) fn submitted(
        &mut self,
        name: Arc<str>,
        (device, items): (u16, usize),
        stamp: Stamp,
    ) {
        if self.pending.len() >= PENDING {
            self.pending.pop_front();
        }
        self.pending.push_back(Submitted { name, device, items, stamp });
    }

    /// Takes the times of what has ended.
    pub(crate) fn look(&mut self, engine: &Engine) {
        let Meter { rates, schedule, pending } = self;
        pending.retain(|Submitted { name, device, items, stamp }| {
            if let Some(timing) = engine.timing_of(*stamp) {
                let ns = timing.ended.saturating_sub(timing.started);
                rates.note((name, *device), *items, ns);
                return false;
            }
            engine.read(|ledger| ledger.timeline.outcome(*stamp)) == Outcome::Pending
        });
        if pending.is_empty() {
            schedule.clear();
        }
    }
}

impl Queue {
    /// Items in a nanosecond of each device, for a kernel of this name: if the split goes by that,
    /// and all have run it.
    pub(super) fn speeds(&self, split: &Split, kernel: &Arc<str>) -> Option<Vec<f64>> {
        let meter = self.inner.meter.as_ref().filter(|_| split.is_measured())?;
        let mut meter = meter.lock();
        meter.look(&self.inner.core.engine);
        meter.rates.speeds(kernel, self.on_devices())
    }

    /// Whether a buffer's division is to be given up for another one.
    pub(super) fn is_worth(
        &self,
        speeds: &[f64],
        storage: &StorageHandle,
        [old, new]: [&Parts; 2],
    ) -> bool {
        let engine = &self.inner.core.engine;
        let moved = |(old, new): (&Box3, &Box3)| new.volume() - new.intersect(old).volume();
        let elements: usize = old.iter().zip(new).map(moved).sum();
        let bytes = elements as u64 * storage.element_bytes as u64;
        let domain = engine.devices[usize::from(self.on_devices()[0])].domain;
        let link = engine.enter(|ledger| ledger.topology.link(DomainId::HOST, domain));
        let [old, new] = [old, new].map(|parts| parts.iter().map(Box3::volume).collect::<Vec<_>>());
        is_worth(speeds, [&old, &new], link.estimate_ns(bytes, 1))
    }
}
