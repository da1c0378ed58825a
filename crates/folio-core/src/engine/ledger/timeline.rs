//! When things are done: the lanes, the slots of what is not on a lane yet, and what has failed.

use crate::engine::ledger::failures::Failures;
use crate::engine::ledger::records::{LaneState, Sources};
use crate::engine::ledger::slots::Slot;
use crate::engine::ledger::topology::Topology;
use crate::engine::ledger::{Body, NewOp, Outbox};
use crate::error::Failure;
use crate::hal::Tick;
use crate::order::hazards::{Deps, Flow, Outcome};
use crate::order::stamp::{LaneId, SlotId, Stamp, Waits, When};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;

/// The state of each [`Stamp`]: lanes, slots and failures.
pub(crate) struct Timeline {
    pub(crate) lanes: Vec<LaneState>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) free_slots: Vec<u32>,
    pub(crate) live_slots: usize,
    /// Slots whose last dependency has ended and that are to be placed.
    pub(crate) ready: VecDeque<SlotId>,
    /// Stamps that ended in failure.
    pub(crate) failures: Failures,
    pub(crate) next_failure: u64,
    /// The unfinished operations of lost devices. They count as ended, but their memory may still
    /// be in use, so every later operation is ordered after them.
    pub(crate) wake: Deps,
    /// The ticks of the latest timed commands that had to wait in a slot.
    pub(crate) timed: VecDeque<(Stamp, Stamp)>,
    /// The host tasks that wait, and for what.
    pub(crate) waiting: Vec<(SlotId, Stamp)>,
    /// Threads that sleep until a slot ends or gets its turn.
    pub(crate) waiters: u32,
    /// A reaper that may sleep until it is called, by backend.
    pub(crate) reaper_idle: Vec<bool>,
}

/// How an operation stands to its dependencies.
pub(crate) enum Readiness {
    /// Its lane can wait for what is left of them.
    Go { waits: Waits, sources: Sources },
    /// The blockers must be done first.
    Wait { blockers: SmallVec<[(Stamp, Flow); 4]>, failed: Option<Arc<Failure>> },
}

impl Timeline {
    /// A timeline of so many lanes, on which nothing has happened, and as many reapers as backends.
    pub(crate) fn new(lanes: usize, backends: usize) -> Timeline {
        Timeline {
            lanes: (0..lanes).map(|_| LaneState::new()).collect(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            live_slots: 0,
            ready: VecDeque::new(),
            failures: Failures::new(),
            next_failure: 0,
            wake: Deps::new(),
            timed: VecDeque::new(),
            waiting: Vec::new(),
            waiters: 0,
            reaper_idle: vec![true; backends],
        }
    }

    /// How a stamp stands, as far as the ledger knows.
    #[inline]
    pub(crate) fn outcome(&self, stamp: Stamp) -> Outcome {
        let done = match stamp.when() {
            When::Done => return Outcome::Fine,
            When::Placed(lane, tick) => self.lanes[usize::from(lane.0)].retired >= tick,
            When::Unplaced(slot, generation) => {
                self.slots[slot.0 as usize].generation != generation
            }
        };
        match (done, self.failures.is_empty()) {
            (false, _) => Outcome::Pending,
            (true, true) => Outcome::Fine,
            (true, false) if self.failures.contains(stamp) => Outcome::Failed,
            (true, false) => Outcome::Fine,
        }
    }

    /// The failure of a stamp that is done.
    pub(crate) fn failure(&self, stamp: Stamp) -> Option<&Arc<Failure>> {
        self.failures.get(stamp)
    }

    /// The stamp that an unplaced one has become, if it has a tick now.
    pub(crate) fn resolve(&self, stamp: Stamp) -> Stamp {
        match stamp.when() {
            When::Unplaced(slot, generation) => match self.slots.get(slot.0 as usize) {
                Some(s) if s.generation == generation => s.placed.unwrap_or(stamp),
                _ => stamp,
            },
            _ => stamp,
        }
    }

    /// A tick of another lane that is not retired, and for which a lane's next operation waited.
    pub(super) fn next_wait(&self, lane: LaneId) -> Option<(LaneId, Tick)> {
        let first = self.lanes[usize::from(lane.0)].records.front()?;
        first.after.iter().find_map(|stamp| match stamp.when() {
            When::Placed(other, tick) => {
                (self.lanes[usize::from(other.0)].retired < tick).then_some((other, tick))
            }
            _ => None,
        })
    }

    /// The tick that must be retired before one of a lane can be: its own, or one that holds the
    /// lane back, which was placed earlier.
    pub(crate) fn holder(&self, mut at: (LaneId, Tick)) -> (LaneId, Tick) {
        let pending =
            |(lane, tick): &(LaneId, Tick)| self.lanes[usize::from(lane.0)].retired < *tick;
        while let Some(held) = self.lanes[usize::from(at.0.0)].held.filter(pending) {
            at = held;
        }
        at
    }

    /// The stamp of the next operation of a lane.
    pub(crate) fn next_stamp(&self, lane: LaneId) -> Stamp {
        Stamp::placed(lane, self.lanes[usize::from(lane.0)].issued + 1)
    }

    /// The stamps that an operation has to wait for, and how.
    pub(super) fn sort_deps(&self, op: &NewOp, topology: &Topology) -> Readiness {
        let mut waits = Waits::default();
        let mut sources = Sources::default();
        let mut blocked = false;
        let mut failed = None;
        let own = match &op.body {
            Body::Lane(lane, _) => {
                failed = topology.device_lost[topology.device_of(*lane)].clone();
                Some(*lane)
            }
            _ => None,
        };
        for dep in op.deps.iter().chain(&self.wake) {
            match self.outcome(dep.stamp) {
                Outcome::Fine => continue,
                Outcome::Failed => {
                    if failed.is_none() {
                        failed = self.failures.along(dep.stamp, dep.flow).cloned();
                    }
                    continue;
                }
                Outcome::Pending => {}
            }
            let stamp = self.resolve(dep.stamp);
            match (stamp.when(), own) {
                (When::Placed(lane, tick), Some(own))
                    if !dep.flow.has(Flow::TURN) && topology.can_wait(own, lane) =>
                {
                    waits.add(lane, tick);
                }
                _ => blocked = true,
            }
            sources.add(stamp, dep.flow);
        }
        if !blocked && failed.is_none() {
            return Readiness::Go { waits, sources };
        }
        // A failed operation will not run; but it counts as done only when everything before it
        // is done, or those who come after it would not wait for that.
        let native = |stamp: Stamp| match (stamp.when(), own) {
            (When::Placed(lane, _), Some(own)) => topology.can_wait(own, lane),
            _ => false,
        };
        let blockers = (op.deps.iter().chain(&self.wake))
            .filter(|d| self.outcome(d.stamp) == Outcome::Pending)
            .map(|d| (self.resolve(d.stamp), d.flow))
            .filter(|(stamp, flow)| failed.is_some() || flow.has(Flow::TURN) || !native(*stamp))
            .collect();
        Readiness::Wait { blockers, failed }
    }

    /// Calls the reaper of a backend, which may sleep.
    pub(super) fn call_reaper(&mut self, backend: u16, outbox: &mut Outbox) {
        self.reaper_idle[usize::from(backend)] = false;
        outbox.reapers |= 1 << backend;
    }
}

#[cfg(all(test, not(loom)))]
#[path = "timeline_tests.rs"]
mod tests;
