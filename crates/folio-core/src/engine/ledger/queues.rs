//! What the ledger remembers of queues.

use crate::engine::Engine;
use crate::engine::lanes::Lanes;
use crate::engine::ledger::{Ledger, Leftover, NewOp, QueueState};
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::error::Failure;
use crate::hal::Timing;
use crate::order::hazards::{Deps, Outcome};
use crate::order::stamp::{Stamp, When};
use smallvec::SmallVec;
use std::sync::Arc;

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
