//! What the ledger remembers of queues.

use crate::engine::Engine;
use crate::engine::lanes::Lanes;
use crate::engine::ledger::{Ledger, Leftover, NewOp};
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::error::Failure;
use crate::hal::{Tick, Timing};
use crate::order::hazards::{Deps, Outcome};
use crate::order::stamp::{LaneId, Stamp, When};
use crate::report::Counters;
use smallvec::SmallVec;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// How many failures a queue keeps for [`Queue::wait`](crate::Queue::wait).
const MOST_UNTOLD: usize = 1000;
/// With fewer noted failures it is not worth looking which ones can still be met.
const MANY_NOTED: usize = 1024;

/// What a queue remembers.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct QueueState {
    /// The last tick of this queue on each lane.
    pub(crate) placed: SmallVec<[(LaneId, Tick); 4]>,
    pub(crate) unplaced: Vec<Stamp>,
    /// Failures that `wait` has not returned yet.
    pub(crate) failures: VecDeque<Arc<Failure>>,
    /// The ids of all failures noted that could be met again.
    pub(in crate::engine) noted: Vec<u64>,
    /// With so many of those it looks which ones can still be met.
    tidy_at: usize,
    /// The latest command of an in-order queue.
    pub(crate) last: Stamp,
    /// The latest barrier.
    pub(crate) fence: Stamp,
    pub(crate) counters: Counters,
}

impl QueueState {
    /// The stamps that it asks for.
    pub(super) fn stamps(&self) -> impl Iterator<Item = Stamp> {
        let placed = self.placed.iter().map(|(lane, tick)| Stamp::placed(*lane, *tick));
        [self.last, self.fence].into_iter().chain(self.unplaced.iter().copied()).chain(placed)
    }

    /// One of its commands has failed, by itself or because of others. `known` gives the ids of the
    /// failures that commands can still meet.
    pub(super) fn note(&mut self, failure: &Arc<Failure>, known: impl FnOnce() -> HashSet<u64>) {
        let Err(at) = self.noted.binary_search(&failure.id) else { return };
        self.noted.insert(at, failure.id);
        if self.failures.len() < MOST_UNTOLD {
            self.failures.push_back(failure.clone());
        }
        if self.noted.len() >= self.tidy_at.max(MANY_NOTED) {
            let known = known();
            self.noted.retain(|id| *id == failure.id || known.contains(id));
            self.tidy_at = 2 * self.noted.len();
        }
    }
}

impl Ledger {
    pub(crate) fn new_queue(&mut self) -> u32 {
        self.queues.insert(QueueState::default())
    }

    pub(crate) fn drop_queue(&mut self, id: u32) {
        // Operations in flight may still name the queue; its number is not given out again while
        // they do, because the state stays until they are done.
        let stamps: SmallVec<[Stamp; 4]> = self.queue_stamps(id);
        let pending = stamps.iter().any(|s| self.timeline.outcome(*s) == Outcome::Pending);
        if pending {
            self.dropped_queues.push(id);
        } else {
            self.forget_queue(id);
        }
        self.sweep_queues();
    }

    fn forget_queue(&mut self, id: u32) {
        if let Some(queue) = self.queues.remove(id) {
            self.counters.launches += queue.counters.launches;
            let untold = queue.failures.into_iter().map(Leftover::Failure);
            self.outbox.leftovers.extend(untold);
        }
    }

    /// Forgets dropped queues whose commands have ended.
    fn sweep_queues(&mut self) {
        let mut left = std::mem::take(&mut self.dropped_queues);
        left.retain(|&id| {
            let stamps: SmallVec<[Stamp; 4]> = self.queue_stamps(id);
            let pending = stamps.iter().any(|s| self.timeline.outcome(*s) == Outcome::Pending);
            if !pending {
                self.forget_queue(id);
            }
            pending
        });
        self.dropped_queues = left;
    }

    /// The stamps that together are everything submitted to a queue.
    pub(crate) fn queue_stamps(&mut self, id: u32) -> SmallVec<[Stamp; 4]> {
        let timeline = &self.timeline;
        let Some(queue) = self.queues.get_mut(id) else { return SmallVec::new() };
        queue.unplaced.retain(|s| timeline.outcome(*s) == Outcome::Pending);
        let placed = queue.placed.iter().map(|(lane, tick)| Stamp::placed(*lane, *tick));
        placed.chain(queue.unplaced.iter().copied()).collect()
    }

    /// The oldest failure of a queue that has not been returned yet.
    pub(crate) fn take_failure(&mut self, id: u32) -> Option<Arc<Failure>> {
        self.queues.get_mut(id)?.failures.pop_front()
    }

    /// What is submitted to a queue from now on comes after `stamp`.
    pub(crate) fn fence(&mut self, id: u32, stamp: Stamp) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.fence = stamp;
        }
    }

    /// A stamp for when all of `deps` are done; failed if one is.
    pub(crate) fn meet(&mut self, deps: Deps) -> Stamp {
        self.submit(NewOp { what: "event", deps, ..NewOp::default() })
    }

    /// The tick of a command, as long as it is known.
    pub(crate) fn placed_at(&self, stamp: Stamp) -> Stamp {
        match stamp.when() {
            When::Unplaced(..) => match self.timeline.resolve(stamp) {
                same if same == stamp => {
                    let known = self.timed.iter().rev().find(|(slot, _)| *slot == stamp);
                    known.map_or(stamp, |(_, placed)| *placed)
                }
                placed => placed,
            },
            _ => stamp,
        }
    }
}

impl Engine {
    /// The device that has an operation, and when it ran if that was asked for and it has ended.
    /// None if it went to no device, or that is forgotten.
    pub(crate) fn placed(&self, stamp: Stamp) -> Option<(u16, Option<Timing>)> {
        match self.enter(|ledger| ledger.placed_at(stamp)).when() {
            When::Placed(lane, tick) => {
                let timing = self.table.shared(lane)?.native.timing(tick);
                Some((lane.0 / LANES_PER_DEVICE, timing))
            }
            _ => None,
        }
    }

    /// When a timed operation ran, if it has ended.
    pub(crate) fn timing_of(&self, stamp: Stamp) -> Option<Timing> {
        self.placed(stamp)?.1
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::error::{Cause, Label};

    /// ERR-03: each failure once, and no more ids than can be met again.
    #[test]
    fn queue_notes_a_failure_once_and_forgets_ids_that_cannot_come_again() {
        let failure =
            |id| Arc::new(Failure::new(id, "kernel", Label::NONE, String::new(), Cause::DataLost));
        let mut queue = QueueState::default();
        let many = MANY_NOTED as u64;
        for id in (1..many).chain(1..many) {
            queue.note(&failure(id), || unreachable!("few are noted"));
        }
        assert_eq!(queue.failures.len(), MOST_UNTOLD);
        queue.note(&failure(many), || HashSet::from([1, 7]));
        assert_eq!(queue.noted, [1, 7, many]);
    }
}
