//! Queues as the ledger remembers them.

use crate::engine::Engine;
use crate::engine::lanes::Lanes;
use crate::engine::ledger::slab::Slab;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::topology::Topology;
use crate::engine::ledger::{Ledger, Leftover, NewOp, Outbox};
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::error::Failure;
use crate::hal::{Tick, Timing};
use crate::order::hazards::{Deps, Outcome};
use crate::order::stamp::{LaneId, Stamp, When};
use crate::report::Counters;
use smallvec::SmallVec;
use std::collections::{HashSet, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// How many failures a queue keeps for [`Queue::wait`](crate::Queue::wait).
const MOST_UNTOLD: usize = 1000;
/// With fewer noted failures it is not worth looking which ones can still be met.
const MANY_NOTED: usize = 1024;

/// A queue's commands and failures, as far as something can ask for them.
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

    /// A command of the queue has failed, by itself or because of others. `known` gives the ids of
    /// the failures that commands can still meet.
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

/// All queues, by number.
pub(crate) struct Queues {
    states: Slab<QueueState>,
    /// Queues without a handle whose commands are under way.
    dropped: Vec<u32>,
    /// Launches of no queue, and of those that are gone.
    other_launches: u64,
}

impl Deref for Queues {
    type Target = Slab<QueueState>;

    #[inline]
    fn deref(&self) -> &Slab<QueueState> {
        &self.states
    }
}

impl DerefMut for Queues {
    #[inline]
    fn deref_mut(&mut self) -> &mut Slab<QueueState> {
        &mut self.states
    }
}

impl Queues {
    pub(crate) const fn new() -> Queues {
        Queues { states: Slab::new(), dropped: Vec::new(), other_launches: 0 }
    }

    /// A new one.
    pub(crate) fn open(&mut self) -> u32 {
        self.states.insert(QueueState::default())
    }

    /// The last handle of a queue is gone. Operations in flight may still name it. Its number is
    /// given out again only when all of them are done.
    pub(crate) fn close(&mut self, id: u32, timeline: &Timeline, outbox: &mut Outbox) {
        let mut dropped = std::mem::take(&mut self.dropped);
        dropped.push(id);
        dropped.retain(|id| {
            let stamps = self.stamps_of(*id, timeline);
            let pending = stamps.iter().any(|s| timeline.outcome(*s) == Outcome::Pending);
            if !pending && let Some(queue) = self.states.remove(*id) {
                self.other_launches += queue.counters.launches;
                outbox.leftovers.extend(queue.failures.into_iter().map(Leftover::Failure));
            }
            pending
        });
        self.dropped = dropped;
    }

    /// Counts launches in one place, which is the queue's if there is one: queues are used by one
    /// thread each, as a rule, and their launches are many.
    #[inline]
    pub(crate) fn count_launches(&mut self, id: Option<u32>, launches: u64) {
        match id.and_then(|id| self.states.get_mut(id)) {
            Some(queue) => queue.counters.launches += launches,
            None => self.other_launches += launches,
        }
    }

    /// The launches of all queues, and of none.
    pub(super) fn launches(&self) -> u64 {
        let own = self.states.iter().map(|queue| queue.counters.launches);
        self.other_launches + own.sum::<u64>()
    }

    /// A command of this queue has failed, by itself or because of others.
    pub(super) fn note(
        &mut self,
        id: Option<u32>,
        failure: &Arc<Failure>,
        (timeline, topology): (&Timeline, &Topology),
    ) {
        let Some(queue) = id.and_then(|id| self.states.get_mut(id)) else { return };
        queue.note(failure, || {
            let devices = topology.device_lost.iter().flatten();
            timeline.known_failures().chain(devices).map(|failure| failure.id).collect()
        });
    }

    /// The stamps that together are everything submitted to a queue.
    pub(crate) fn stamps_of(&mut self, id: u32, timeline: &Timeline) -> SmallVec<[Stamp; 4]> {
        let Some(queue) = self.states.get_mut(id) else { return SmallVec::new() };
        queue.unplaced.retain(|s| timeline.outcome(*s) == Outcome::Pending);
        let placed = queue.placed.iter().map(|(lane, tick)| Stamp::placed(*lane, *tick));
        placed.chain(queue.unplaced.iter().copied()).collect()
    }

    /// The oldest failure of a queue that has not been returned yet.
    pub(crate) fn take_failure(&mut self, id: u32) -> Option<Arc<Failure>> {
        self.states.get_mut(id)?.failures.pop_front()
    }

    /// Commands that are submitted to a queue from now on come after `stamp`.
    pub(crate) fn fence(&mut self, id: u32, stamp: Stamp) {
        if let Some(queue) = self.states.get_mut(id) {
            queue.fence = stamp;
        }
    }
}

impl Queues {
    /// A queue's latest command has this stamp.
    #[inline]
    pub(crate) fn note_stamp(
        &mut self,
        (queue, in_order): (Option<u32>, bool),
        stamp: Stamp,
        timeline: &Timeline,
    ) {
        let Some(state) = queue.and_then(|id| self.get_mut(id)) else { return };
        if in_order {
            state.last = stamp;
        }
        match stamp.when() {
            When::Done => {}
            When::Placed(lane, tick) => match state.placed.iter_mut().find(|(l, _)| *l == lane) {
                Some((_, t)) => *t = tick,
                None => state.placed.push((lane, tick)),
            },
            When::Unplaced(..) => {
                let len = state.unplaced.len();
                state.unplaced.push(stamp);
                // Looked through at 64, 128, ..: constant cost per command.
                if len >= 64 && len.is_power_of_two() {
                    let pending = |s: &Stamp| timeline.outcome(*s) == Outcome::Pending;
                    state.unplaced.retain(pending);
                }
            }
        }
    }
}

impl Timeline {
    /// The tick of a command, as long as it is known.
    pub(super) fn placed_at(&self, stamp: Stamp) -> Stamp {
        match stamp.when() {
            When::Unplaced(..) => match self.resolve(stamp) {
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

impl Ledger {
    /// A stamp for when all of `deps` are done; failed if one is.
    pub(crate) fn meet(&mut self, deps: Deps) -> Stamp {
        self.submit(NewOp { what: "event", deps, ..NewOp::default() })
    }
}

impl Engine {
    /// The device that has an operation, and when it ran if that was asked for and it has ended.
    /// None if it went to no device, or that is forgotten.
    pub(crate) fn placed(&self, stamp: Stamp) -> Option<(u16, Option<Timing>)> {
        match self.read(|ledger| ledger.timeline.placed_at(stamp)).when() {
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

    /// A dropped queue keeps its number for as long as its commands are under way.
    #[test]
    fn number_of_a_dropped_queue_comes_again_when_its_commands_have_ended() {
        let (mut queues, mut timeline) = (Queues::new(), Timeline::new(1, 1));
        timeline.lanes[0].issued = 2;
        let [first, second] = [queues.open(), queues.open()];
        for (queue, tick) in [(first, 1), (second, 2)] {
            queues[queue].placed.push((LaneId(0), tick));
        }
        let mut outbox = Outbox::default();
        queues.count_launches(Some(first), 3);
        queues.count_launches(None, 1);
        queues.close(first, &timeline, &mut outbox);
        assert_ne!(queues.open(), first);
        timeline.lanes[0].retired = 1;
        queues.close(second, &timeline, &mut outbox);
        assert_eq!(queues.launches(), 4, "the launches of the first one stay");
        assert_eq!(queues.open(), first);
        assert_eq!(queues.stamps_of(second, &timeline)[..], [Stamp::placed(LaneId(0), 2)]);
    }

    /// By lane the latest tick stands for all; of slots those that have not ended are kept.
    #[test]
    fn queue_notes_the_latest_tick_of_a_lane_and_slots_under_way() {
        let (mut queues, mut timeline) = (Queues::new(), Timeline::new(2, 1));
        let queue = queues.open();
        let mut note = |timeline: &Timeline, in_order, stamp| {
            queues.note_stamp((Some(queue), in_order), stamp, timeline);
        };
        let at = |lane, tick| Stamp::placed(LaneId(lane), tick);
        [at(0, 1), at(1, 1), at(0, 2)].into_iter().for_each(|at| note(&timeline, false, at));
        let mut outbox = Outbox::default();
        for _ in 0..200 {
            let slot = timeline.new_slot();
            let stamp = Stamp::unplaced(slot, timeline.slot(slot).generation);
            note(&timeline, true, stamp);
            timeline.finish_slot(slot, None, &mut outbox);
        }
        assert_eq!(queues[queue].placed[..], [(LaneId(0), 2), (LaneId(1), 1)]);
        assert!(queues[queue].unplaced.len() < 64 + 64);
        assert!(matches!(queues[queue].last.when(), When::Unplaced(..)));
    }

    #[test]
    fn failures_of_a_queue_are_taken_in_order() {
        let mut queues = Queues::new();
        let queue = queues.open();
        for id in [3, 1, 3] {
            let failure = Failure::new(id, "kernel", Label::NONE, String::new(), Cause::DataLost);
            queues[queue].note(&Arc::new(failure), HashSet::new);
        }
        let mut next = || queues.take_failure(queue).map(|failure| failure.id);
        assert_eq!([next(), next(), next()], [Some(3), Some(1), None]);
    }
}
