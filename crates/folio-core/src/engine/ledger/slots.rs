//! Deferral: operations that wait for a host task, for another backend, or for a lane that theirs
//! cannot wait for. They sit in slots and hold no position on any lane, so nothing queues
//! behind them; whoever completes their last dependency places them.

use crate::engine::ledger::failures::Failed;
use crate::engine::ledger::records::Sources;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::{Body, Ledger, Leftover, NewOp, Sorted, TaskError};
use crate::engine::terms::lane::WaitKey;
use crate::engine::terms::note::Note;
use crate::error::Failure;
use crate::order::hazards::{Flow, Outcome};
use crate::order::stamp::{LaneId, SlotId, Stamp, Waits, When};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::sync::Arc;
use std::task::Waker;

/// How many timed commands are remembered.
const MOST_TIMED: usize = 4096;

/// A deferred operation, a host task, or a meeting point of others.
pub(crate) struct Slot {
    pub(crate) generation: u32,
    /// How many things it still waits for.
    pending: u32,
    /// Some of those things, for threads that wait.
    blockers: SmallVec<[Stamp; 4]>,
    /// Who waits for it, and what travels there.
    pub(crate) dependents: SmallVec<[(SlotId, Flow); 2]>,
    pub(crate) wakers: Vec<Waker>,
    /// The failure that reached it.
    failed: Option<Arc<Failure>>,
    /// Its tick, once it has one.
    pub(crate) placed: Option<Stamp>,
    /// Boxed: it is large, and most slots are free most of the time.
    op: Option<Box<NewOp>>,
    /// What is left of the operation while a host thread, or the thread that submitted it, is at
    /// it.
    running: Option<Box<NewOp>>,
    /// It is in use.
    pub(crate) live: bool,
}

impl Slot {
    /// What it holds, unless that is on a lane or the slot is only a meeting point.
    pub(crate) fn operation(&self) -> Option<&NewOp> {
        self.op.as_deref().or(self.running.as_deref())
    }

    /// As [`operation`](Self::operation).
    pub(in crate::engine) fn operation_mut(&mut self) -> Option<&mut NewOp> {
        self.op.as_deref_mut().or(self.running.as_deref_mut())
    }
}

impl Slot {
    /// The stamps that it will ask for.
    pub(super) fn depends_on(&self) -> impl Iterator<Item = Stamp> {
        self.op.iter().flat_map(|op| &op.deps).map(|dep| dep.stamp)
    }

    /// A thread is at its operation, or may be.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The failure that reached it.
    pub(crate) fn failed(&self) -> Option<&Arc<Failure>> {
        self.failed.as_ref()
    }
}

impl Timeline {
    pub(crate) fn new_slot(&mut self) -> SlotId {
        self.live_slots += 1;
        if let Some(id) = self.free_slots.pop() {
            let slot = self.slot(SlotId(id));
            slot.live = true;
            return SlotId(id);
        }
        self.slots.push(Slot {
            generation: 0,
            pending: 0,
            blockers: SmallVec::new(),
            dependents: SmallVec::new(),
            wakers: Vec::new(),
            failed: None,
            placed: None,
            op: None,
            running: None,
            live: true,
        });
        SlotId((self.slots.len() - 1) as u32)
    }

    pub(crate) fn slot(&mut self, id: SlotId) -> &mut Slot {
        &mut self.slots[id.0 as usize]
    }

    /// The tick of a stamp, or of something that it waits for.
    pub(super) fn tick_before(&self, stamp: Stamp) -> Option<(LaneId, u64)> {
        let mut stamp = self.resolve(stamp);
        loop {
            match stamp.when() {
                When::Done => return None,
                When::Placed(lane, tick) => return Some((lane, tick)),
                When::Unplaced(slot, _) => {
                    let blockers = &self.slots.get(slot.0 as usize)?.blockers;
                    let pending = |s: &&Stamp| self.outcome(**s) == Outcome::Pending;
                    stamp = self.resolve(*blockers.iter().find(pending)?);
                }
            }
        }
    }

    /// A tick that a native lane must show as reached before `stamp` can be, if there is one.
    pub(crate) fn waits_for_tick(&self, stamp: Stamp) -> Option<(LaneId, u64)> {
        self.tick_before(stamp).map(|at| self.holder(at))
    }

    /// Something that slot `id` waited for is done.
    pub(super) fn unblock(&mut self, id: SlotId, failure: Option<&Arc<Failure>>) {
        let slot = self.slot(id);
        if slot.failed.is_none() {
            slot.failed = failure.cloned();
        }
        slot.pending -= 1;
        if slot.pending == 0 {
            self.ready.push_back(id);
        }
    }
}

impl Ledger {
    /// Keeps an operation until its blockers are done.
    pub(super) fn defer(
        &mut self,
        op: NewOp,
        blockers: SmallVec<[(Stamp, Flow); 4]>,
        failed: Option<Arc<Failure>>,
    ) -> Stamp {
        let id = self.timeline.new_slot();
        let slot = self.timeline.slot(id);
        slot.op = Some(Box::new(op));
        slot.failed = failed;
        let stamp = Stamp::unplaced(id, slot.generation);
        self.block(id, &blockers);
        if self.timeline.slot(id).pending == 0 {
            self.timeline.ready.push_back(id);
            self.settle();
        }
        stamp
    }

    /// Makes a slot wait for `blockers`, which are not done.
    fn block(&mut self, id: SlotId, blockers: &[(Stamp, Flow)]) {
        self.timeline.slot(id).blockers.clear();
        for &(stamp, flow) in blockers {
            match stamp.when() {
                When::Done => continue,
                When::Placed(lane, tick) => self.watch(id, lane, tick, flow),
                When::Unplaced(other, _) => self.timeline.slot(other).dependents.push((id, flow)),
            }
            let slot = self.timeline.slot(id);
            slot.pending += 1;
            slot.blockers.push(stamp);
        }
    }

    fn watch(&mut self, id: SlotId, lane: LaneId, tick: u64, flow: Flow) {
        self.timeline.lanes[usize::from(lane.0)].watches.push(Reverse((tick, id.0, flow)));
        self.call_reaper(lane);
    }

    /// Somebody waits for a tick of `lane`.
    fn call_reaper(&mut self, lane: LaneId) {
        let WaitKey { backend, .. } = self.topology.key(lane);
        self.reaper_idle[usize::from(backend)] = false;
        self.outbox.reapers |= 1 << backend;
    }

    /// Takes a waker to be called when `stamp` is done, unless it has it; `false` when that is done
    /// already. How wakers are made and dropped is the user's, so one that is not needed stays with
    /// the caller.
    pub(crate) fn wake_when_done(&mut self, stamp: Stamp, waker: &mut Option<Waker>) -> bool {
        if self.timeline.outcome(stamp) != Outcome::Pending {
            return false;
        }
        let wakers = match self.timeline.resolve(stamp).when() {
            When::Done => return false,
            When::Unplaced(slot, _) => &mut self.timeline.slot(slot).wakers,
            When::Placed(lane, tick) => {
                self.call_reaper(lane);
                self.timeline.lanes[usize::from(lane.0)].wakers.entry(tick).or_default()
            }
        };
        if !waker.as_ref().is_some_and(|new| wakers.iter().any(|w| w.will_wake(new))) {
            wakers.extend(waker.take());
        }
        true
    }

    /// Deals with every slot that waits for nothing more.
    pub(crate) fn settle(&mut self) {
        while let Some(id) = self.timeline.ready.pop_front() {
            self.settle_one(id);
        }
    }

    fn settle_one(&mut self, id: SlotId) {
        let Some(op) = self.timeline.slot(id).op.take() else {
            self.finish_slot(id, None);
            return;
        };
        if self.timeline.slot(id).failed.is_none() {
            match self.timeline.sort_deps(&op, &self.topology) {
                Sorted::Go { waits, sources } => return self.start(id, op, waits, sources),
                Sorted::Wait { blockers, failed } => {
                    let slot = self.timeline.slot(id);
                    slot.failed = failed;
                    slot.op = Some(op);
                    self.block(id, &blockers);
                }
            }
        } else {
            // It will not run; it is over when everything that it waits for is over.
            let pending: SmallVec<[(Stamp, Flow); 4]> = (op.deps.iter().chain(&self.timeline.wake))
                .filter(|d| self.timeline.outcome(d.stamp) == Outcome::Pending)
                .map(|d| (self.timeline.resolve(d.stamp), Flow::ORDER))
                .collect();
            if pending.is_empty() {
                self.cancel(id, op);
                return;
            }
            self.timeline.slot(id).op = Some(op);
            self.block(id, &pending);
        }
        if self.timeline.slot(id).pending == 0 {
            self.timeline.ready.push_back(id);
        }
    }

    fn start(&mut self, id: SlotId, mut op: Box<NewOp>, waits: Waits, sources: Sources) {
        if let Body::Lane(..) = op.body {
            let stamp = self.place(&mut op, waits, sources, Some(id));
            self.timeline.slot(id).placed = Some(stamp);
            if op.timed {
                let known = Stamp::unplaced(id, self.timeline.slot(id).generation);
                if self.timeline.timed.len() == MOST_TIMED {
                    self.timeline.timed.pop_front();
                }
                self.timeline.timed.push_back((known, stamp));
            }
            self.outbox.notify |= self.waiters > 0;
            return self.retarget(id, stamp);
        }
        match std::mem::replace(&mut op.body, Body::Nothing) {
            Body::Host(work) => {
                let stamp = Stamp::unplaced(id, self.timeline.slot(id).generation);
                let (what, label) = (op.what, &op.label);
                self.trace(|| Note::Launch {
                    what,
                    label: label.clone(),
                    stamp,
                    place: (None, None),
                });
                self.timeline.slot(id).running = Some(op);
                self.outbox.host.push((id, work));
            }
            Body::Here => {
                self.timeline.slot(id).running = Some(op);
                self.outbox.notify |= self.waiters > 0;
            }
            Body::Lane(..) | Body::Nothing => {
                self.trace_over(id, &op, false);
                self.release(&op.storages);
                self.finish_slot(id, None);
            }
        }
    }

    /// Slot `id` has a tick now: who waited for the slot and can wait for the tick natively need
    /// not stay deferred. They stay counted on the slot otherwise.
    fn retarget(&mut self, id: SlotId, stamp: Stamp) {
        let When::Placed(lane, _) = stamp.when() else { return };
        let key = self.topology.key(lane);
        let dependents = std::mem::take(&mut self.timeline.slot(id).dependents);
        let mut stay = SmallVec::new();
        for (dependent, flow) in dependents {
            let native =
                match self.timeline.slots[dependent.0 as usize].op.as_ref().map(|op| &op.body) {
                    Some(Body::Lane(own, _)) => {
                        *own == lane || self.topology.key(*own).can_wait_for(key)
                    }
                    _ => false,
                };
            // One that has failed must see the end of everything before it, and who waits for a
            // turn that of the switch.
            if native
                && !flow.has(Flow::TURN)
                && self.timeline.slots[dependent.0 as usize].failed.is_none()
            {
                self.timeline.unblock(dependent, None);
            } else {
                stay.push((dependent, flow));
            }
        }
        self.timeline.slot(id).dependents = stay;
    }

    /// A deferred operation will not run. Memory that somebody before it has spoilt stays so.
    fn cancel(&mut self, id: SlotId, op: Box<NewOp>) {
        let failure = self.timeline.slot(id).failed.clone();
        let covers = op.deps.iter().filter(|dep| dep.flow.has(Flow::COVERS));
        let spoilt = covers.into_iter().any(|dep| self.timeline.failures.spoilt(dep.stamp));
        if let Some(failure) = &failure {
            self.note(op.queue, failure);
        }
        self.trace_over(id, &op, true);
        self.release(&op.storages);
        self.outbox.staging.extend(op.staging);
        self.outbox.leftovers.push(Leftover::Body(op.body));
        self.finish_slot(id, failure.map(|failure| Failed { failure, spoilt }));
    }

    /// A host task has ended.
    pub(crate) fn host_done(&mut self, id: SlotId, result: Result<(), TaskError>) {
        let Some(op) = self.timeline.slot(id).running.take() else { return };
        let failure = result.err().map(|error| match error {
            TaskError::Own(cause) => self.fail(op.what, &op.label, "host", cause),
            TaskError::Known(failure) => failure,
        });
        if let Some(failure) = &failure {
            self.note(op.queue, failure);
        }
        self.trace_over(id, &op, failure.is_some());
        self.release(&op.storages);
        self.finish_slot(id, failure.map(|failure| Failed { failure, spoilt: false }));
        self.settle();
    }

    /// A thread has done an operation of its own, or does not wait for its turn any more.
    pub(crate) fn end_turn(&mut self, stamp: Stamp) {
        let When::Unplaced(id, generation) = stamp.when() else { return };
        let slot = self.timeline.slot(id);
        if slot.generation != generation {
            return;
        }
        match &mut slot.op {
            // Over when everything before it is.
            Some(op) => op.body = Body::Nothing,
            None => self.host_done(id, Ok(())),
        }
    }

    /// An operation without a tick is over.
    fn trace_over(&mut self, id: SlotId, op: &NewOp, failed: bool) {
        let stamp = Stamp::unplaced(id, self.timeline.slot(id).generation);
        let (what, label) = (op.what, &op.label);
        let lane = match op.body {
            Body::Lane(lane, _) => Some(lane),
            Body::Host(_) | Body::Here | Body::Nothing => None,
        };
        self.trace(|| {
            let (label, place) = (label.clone(), (lane, None));
            Note::Complete { what, label, stamp, place, failed, timed: false }
        });
    }

    /// The slot's operation is over: tells everybody and frees the slot.
    pub(super) fn finish_slot(&mut self, id: SlotId, failed: Option<Failed>) {
        let slot = self.timeline.slot(id);
        let stamp = Stamp::unplaced(id, slot.generation);
        slot.generation += 1;
        // Stamps are never reused: one whose generations are used up is not given out again.
        let reusable = slot.generation < Stamp::GENERATIONS;
        slot.placed = None;
        let reached = slot.failed.take();
        slot.blockers.clear();
        let mut dependents = std::mem::take(&mut slot.dependents);
        let mut wakers = std::mem::take(&mut slot.wakers);
        for (dependent, flow) in dependents.drain(..) {
            let travels = failed.as_ref().filter(|failed| flow.carries(failed.spoilt));
            self.timeline.unblock(dependent, travels.map(|failed| &failed.failure));
        }
        self.outbox.wakers.append(&mut wakers);
        self.outbox.leftovers.extend(reached.map(Leftover::Failure));
        let slot = self.timeline.slot(id);
        slot.live = false;
        slot.dependents = dependents;
        slot.wakers = wakers;
        self.outbox.notify |= self.waiters > 0;
        if let Some(failed) = failed {
            self.mark_failed(stamp, failed);
        }
        self.timeline.live_slots -= 1;
        if reusable {
            self.timeline.free_slots.push(id.0);
        }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::engine::lanes::port::LaneTable;

    #[test]
    fn generations_do_not_come_again() {
        let table = Arc::new(LaneTable::new(0));
        let mut ledger = Ledger::new(Vec::new(), Arc::new([]), Vec::new(), 0, table);
        let id = ledger.timeline.new_slot();
        let first = Stamp::unplaced(id, 0);
        ledger.finish_slot(id, None);
        assert_eq!(ledger.timeline.new_slot(), id);
        ledger.timeline.slot(id).generation = Stamp::GENERATIONS - 1;
        let last = Stamp::unplaced(id, Stamp::GENERATIONS - 1);
        assert_eq!(ledger.timeline.outcome(last), Outcome::Pending);
        ledger.finish_slot(id, None);
        for stamp in [first, last] {
            assert_eq!(ledger.timeline.outcome(stamp), Outcome::Fine);
        }
        assert_ne!(ledger.timeline.new_slot(), id);
    }

    /// What a slot waits for is found through other slots, and ends on a lane or nowhere.
    #[test]
    fn tick_before_a_slot_is_that_of_its_first_pending_blocker() {
        let mut timeline = Timeline::new(1);
        let [first, second] = [(); 2].map(|()| timeline.new_slot());
        let stamp = |slot| Stamp::unplaced(slot, 0);
        timeline.slot(second).blockers.push(stamp(first));
        assert_eq!(timeline.tick_before(stamp(second)), None);
        timeline.lanes[0].issued = 2;
        timeline.lanes[0].retired = 1;
        let blockers = [1, 2].map(|tick| Stamp::placed(LaneId(0), tick));
        timeline.slot(first).blockers.extend(blockers);
        assert_eq!(timeline.tick_before(stamp(second)), Some((LaneId(0), 2)));
    }

    #[test]
    fn slot_is_ready_when_the_last_blocker_ends_and_keeps_the_first_failure() {
        let mut timeline = Timeline::new(1);
        let slot = timeline.new_slot();
        timeline.slot(slot).pending = 2;
        let failure = |_| Some(Arc::new(Failure::forgotten()));
        let [first, second] = [(); 2].map(failure);
        timeline.unblock(slot, first.as_ref());
        assert!(timeline.ready.is_empty());
        timeline.unblock(slot, second.as_ref());
        assert_eq!(timeline.ready, [slot]);
        let kept = timeline.slot(slot).failed.as_ref().zip(first.as_ref());
        assert!(kept.is_some_and(|(kept, first)| Arc::ptr_eq(kept, first)));
    }
}
