//! Which stamps have failed, for as long as anybody can ask.
//!
//! A failed stamp is asked for by what the ledger keeps (hazards, slots, records, queues), which a
//! sweep can look through, and by handles outside of it: events, guards. Those are counted in
//! *epochs*: everything submitted in one epoch shares an [`EpochPin`], which handles hold and
//! operations name by its number. When a sweep finds a stamp nowhere, and nobody holds the pin of
//! its epoch, it forgets the stamp. Before the first failure there is no pin, and nothing is
//! counted.

use crate::engine::ledger::{Ledger, Leftover};
use crate::error::Failure;
use crate::order::hazards::Flow;
use crate::order::stamp::Stamp;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Held by a handle: the failures of its epoch are not forgotten. Taken under the same lock as the
/// stamp for which it is. `None`: of the time before the first failure, which is never forgotten.
pub(crate) type EpochPin = Option<Arc<u32>>;

/// Failures of one epoch, about; a handle that is kept for ever keeps no more than these.
const EPOCH: usize = 256;
/// Fewer are not worth looking through everything.
const FEW: usize = 1024;

/// How something has failed.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub(crate) failure: Arc<Failure>,
    /// The memory that it should have written may hold what is no value of anything: it has run on
    /// such memory, or has left as it was what it should have been the first to write.
    pub(crate) spoilt: bool,
}

/// The failed stamps.
pub(crate) struct Failures {
    known: HashMap<Stamp, (Failed, u32)>,
    pin: EpochPin,
    /// Earlier epochs that were held when last looked at.
    past: Vec<Arc<u32>>,
    /// Failures in this epoch.
    new: usize,
    sweep_at: usize,
}

impl Failures {
    pub(crate) fn new() -> Failures {
        Failures { known: HashMap::new(), pin: None, past: Vec::new(), new: 0, sweep_at: FEW }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(crate) fn contains_key(&self, stamp: &Stamp) -> bool {
        self.known.contains_key(stamp)
    }

    pub(crate) fn get(&self, stamp: &Stamp) -> Option<&Arc<Failure>> {
        self.known.get(stamp).map(|(failed, _)| &failed.failure)
    }

    /// The failure that travels from `stamp` along such a dependency.
    pub(crate) fn along(&self, stamp: Stamp, flow: Flow) -> Option<&Arc<Failure>> {
        let (failed, _) = self.known.get(&stamp)?;
        flow.carries(failed.spoilt).then_some(&failed.failure)
    }

    /// True of a stamp that has failed and spoilt memory.
    pub(crate) fn spoilt(&self, stamp: Stamp) -> bool {
        self.known.get(&stamp).is_some_and(|(failed, _)| failed.spoilt)
    }

    /// Something submitted in `epoch` has failed.
    pub(crate) fn insert(&mut self, stamp: Stamp, failed: Failed, epoch: u32) {
        self.known.insert(stamp, (failed, epoch));
        self.new += 1;
    }

    /// For a handle of what is submitted under this hold of the ledger lock.
    pub(crate) fn pin(&self) -> EpochPin {
        self.pin.clone()
    }

    /// The number of the present epoch; it does not change while the ledger is held.
    pub(crate) fn epoch(&self) -> u32 {
        self.pin.as_deref().copied().unwrap_or(0)
    }

    /// True when [`Ledger::tidy_failures`] has something to do.
    pub(crate) fn due(&self) -> bool {
        self.new >= if self.pin.is_none() { 1 } else { EPOCH }
    }

    fn next_epoch(&mut self) {
        let next = Arc::new(self.epoch() + 1);
        self.past.extend(self.pin.replace(next));
        self.new = 0;
    }

    /// Takes out what is not `used` and belongs to an epoch that nobody holds.
    fn sweep(&mut self, used: &HashSet<Stamp>) -> Vec<Leftover> {
        // A pin is cloned from a handle or, under the lock, from `pin`: one that is ours alone
        // stays so.
        self.past.retain(|epoch| Arc::strong_count(epoch) > 1);
        let (past, now) = (&self.past, self.epoch());
        let held =
            |of: u32| of == 0 || of == now || past.binary_search_by_key(&of, |e| **e).is_ok();
        let over =
            |stamp: &Stamp, known: &mut (Failed, u32)| !held(known.1) && !used.contains(stamp);
        let over = self.known.extract_if(over);
        let over = over.map(|(_, (failed, _))| Leftover::Failure(failed.failure)).collect();
        self.known.shrink_to(FEW);
        over
    }
}

impl Ledger {
    /// Called when nothing holds stamps but the ledger itself and handles with pins.
    pub(crate) fn tidy_failures(&mut self) {
        self.timeline.failures.next_epoch();
        if self.timeline.failures.known.len() < self.timeline.failures.sweep_at {
            return;
        }
        let (known, mut used, mut seen) = (&self.timeline.failures.known, HashSet::new(), 0);
        let mut look = |stamp: Stamp| {
            seen += 1;
            if known.contains_key(&stamp) {
                used.insert(stamp);
            }
        };
        self.storages.iter().for_each(|storage| storage.residency.each_source(&mut look));
        self.timeline
            .lanes
            .iter()
            .flat_map(|l| &l.records)
            .flat_map(|r| r.sources.iter())
            .for_each(&mut look);
        self.timeline.slots.iter().flat_map(|slot| slot.depends_on()).for_each(&mut look);
        for queue in self.queues.iter() {
            [queue.last, queue.fence].into_iter().for_each(&mut look);
            queue.unplaced.iter().for_each(|stamp| look(*stamp));
            queue.placed.iter().for_each(|&(lane, tick)| look(Stamp::placed(lane, tick)));
        }
        let over = self.timeline.failures.sweep(&used);
        self.outbox.leftovers.extend(over);
        // So that looking costs a constant for each failure.
        self.timeline.failures.sweep_at = FEW.max(2 * self.timeline.failures.known.len()).max(seen);
        let stamps = self.timeline.failures.known.values().map(|(failed, _)| &failed.failure);
        let slots = self.timeline.slots.iter().filter_map(|slot| slot.failed());
        let devices = self.topology.device_lost.iter().flatten();
        let alive: HashSet<u64> = stamps.chain(slots).chain(devices).map(|f| f.id).collect();
        self.queues.iter_mut().for_each(|queue| queue.noted.retain(|id| alive.contains(id)));
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::error::{Cause, Label};
    use crate::hal::HalError;
    use crate::order::stamp::LaneId;

    fn failure(id: u64) -> Failed {
        let cause = Cause::Backend(HalError::unsupported("anything"));
        let failure = Arc::new(Failure::new(id, "kernel", Label::NONE, String::new(), cause));
        Failed { failure, spoilt: false }
    }

    #[test]
    fn failures_live_as_long_as_somebody_can_ask() {
        let mut failures = Failures::new();
        let stamp = |tick| Stamp::placed(LaneId(0), tick);
        let mut tick = 0;
        let mut fail = |failures: &mut Failures| {
            tick += 1;
            failures.insert(stamp(tick), failure(tick), failures.epoch());
            tick
        };
        assert!(!failures.due() && failures.pin().is_none());
        let first = fail(&mut failures);
        assert!(failures.due());
        failures.next_epoch();
        let (held, pin) = (fail(&mut failures), failures.pin());
        failures.next_epoch();
        let (used, forgotten) = (fail(&mut failures), fail(&mut failures));
        assert!(!failures.due());
        failures.next_epoch();
        let present = fail(&mut failures);
        let of = HashSet::from([stamp(used)]);
        drop(failures.sweep(&of));
        let known = |failures: &Failures, tick| failures.get(&stamp(tick)).is_some();
        assert!([first, held, used, present].iter().all(|t| known(&failures, *t)));
        assert!(!known(&failures, forgotten));
        drop(pin);
        failures.next_epoch();
        drop(failures.sweep(&of));
        assert!([first, used].iter().all(|t| known(&failures, *t)));
        assert!(![held, present].iter().any(|t| known(&failures, *t)));
    }
}
