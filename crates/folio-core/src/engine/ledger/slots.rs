//! Deferral: operations that wait for a host task, for another backend, or for a lane that theirs
//! cannot wait for. They sit in slots and hold no position on any lane, so nothing queues
//! behind them; whoever completes their last dependency places them.

use crate::engine::ledger::failures::Failed;
use crate::engine::ledger::records::Sources;
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
    pub(crate) fn depends_on(&self) -> impl Iterator<Item = Stamp> {
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

impl Ledger {
    pub(crate) fn new_slot(&mut self) -> SlotId {
        self.timeline.live_slots += 1;
        if let Some(id) = self.timeline.free_slots.pop() {
            let slot = self.slot(SlotId(id));
            slot.live = true;
            return SlotId(id);
        }
        self.timeline.slots.push(Slot {
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
        SlotId((self.timeline.slots.len() - 1) as u32)
    }

    pub(crate) fn slot(&mut self, id: SlotId) -> &mut Slot {
        &mut self.timeline.slots[id.0 as usize]
    }

    /// Keeps an operation until its blockers are done.
    pub(crate) fn defer(
        &mut self,
        op: NewOp,
        blockers: SmallVec<[(Stamp, Flow); 4]>,
        failed: Option<Arc<Failure>>,
    ) -> Stamp {
        let id = self.new_slot();
        let slot = self.slot(id);
        slot.op = Some(Box::new(op));
        slot.failed = failed;
        let stamp = Stamp::unplaced(id, slot.generation);
        self.block(id, &blockers);
        if self.slot(id).pending == 0 {
            self.timeline.ready.push_back(id);
            self.settle();
        }
        stamp
    }

    /// Makes a slot wait for `blockers`, which are not done.
    fn block(&mut self, id: SlotId, blockers: &[(Stamp, Flow)]) {
        self.slot(id).blockers.clear();
        for &(stamp, flow) in blockers {
            match stamp.when() {
                When::Done => continue,
                When::Placed(lane, tick) => self.watch(id, lane, tick, flow),
                When::Unplaced(other, _) => self.slot(other).dependents.push((id, flow)),
            }
            let slot = self.slot(id);
            slot.pending += 1;
            slot.blockers.push(stamp);
        }
    }

    /// A tick that a native lane must show as reached before `stamp` can be, if there is one.
    pub(crate) fn waits_for_tick(&self, stamp: Stamp) -> Option<(LaneId, u64)> {
        self.tick_before(stamp).map(|at| self.timeline.holder(at))
    }

    /// The tick of a stamp, or of something that it waits for.
    pub(in crate::engine) fn tick_before(&self, stamp: Stamp) -> Option<(LaneId, u64)> {
        let mut stamp = self.timeline.resolve(stamp);
        loop {
            match stamp.when() {
                When::Done => return None,
                When::Placed(lane, tick) => return Some((lane, tick)),
                When::Unplaced(slot, _) => {
                    let blockers = &self.timeline.slots.get(slot.0 as usize)?.blockers;
                    let pending = |s: &&Stamp| self.timeline.outcome(**s) == Outcome::Pending;
                    stamp = self.timeline.resolve(*blockers.iter().find(pending)?);
                }
            }
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
            When::Unplaced(slot, _) => &mut self.slot(slot).wakers,
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

    /// Something that slot `id` waited for is done.
    pub(crate) fn unblock(&mut self, id: SlotId, failure: Option<&Arc<Failure>>) {
        let slot = self.slot(id);
        if slot.failed.is_none() {
            slot.failed = failure.cloned();
        }
        slot.pending -= 1;
        if slot.pending == 0 {
            self.timeline.ready.push_back(id);
        }
    }

    /// Deals with every slot that waits for nothing more.
    pub(crate) fn settle(&mut self) {
        while let Some(id) = self.timeline.ready.pop_front() {
            self.settle_one(id);
        }
    }

    fn settle_one(&mut self, id: SlotId) {
        let Some(op) = self.slot(id).op.take() else {
            self.finish_slot(id, None);
            return;
        };
        if self.slot(id).failed.is_none() {
            match self.sort_deps(&op) {
                Sorted::Go { waits, sources } => return self.start(id, op, waits, sources),
                Sorted::Wait { blockers, failed } => {
                    let slot = self.slot(id);
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
            self.slot(id).op = Some(op);
            self.block(id, &pending);
        }
        if self.slot(id).pending == 0 {
            self.timeline.ready.push_back(id);
        }
    }

    fn start(&mut self, id: SlotId, mut op: Box<NewOp>, waits: Waits, sources: Sources) {
        if let Body::Lane(..) = op.body {
            let stamp = self.place(&mut op, waits, sources, Some(id));
            self.slot(id).placed = Some(stamp);
            if op.timed {
                let known = Stamp::unplaced(id, self.slot(id).generation);
                if self.timed.len() == MOST_TIMED {
                    self.timed.pop_front();
                }
                self.timed.push_back((known, stamp));
            }
            self.outbox.notify |= self.waiters > 0;
            return self.retarget(id, stamp);
        }
        match std::mem::replace(&mut op.body, Body::Nothing) {
            Body::Host(work) => {
                let stamp = Stamp::unplaced(id, self.slot(id).generation);
                let (what, label) = (op.what, &op.label);
                self.trace(|| Note::Launch {
                    what,
                    label: label.clone(),
                    stamp,
                    place: (None, None),
                });
                self.slot(id).running = Some(op);
                self.outbox.host.push((id, work));
            }
            Body::Here => {
                self.slot(id).running = Some(op);
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
        let dependents = std::mem::take(&mut self.slot(id).dependents);
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
                self.unblock(dependent, None);
            } else {
                stay.push((dependent, flow));
            }
        }
        self.slot(id).dependents = stay;
    }

    /// A deferred operation will not run. Memory that somebody before it has spoilt stays so.
    fn cancel(&mut self, id: SlotId, op: Box<NewOp>) {
        let failure = self.slot(id).failed.clone();
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
        let Some(op) = self.slot(id).running.take() else { return };
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
        let slot = self.slot(id);
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
        let stamp = Stamp::unplaced(id, self.slot(id).generation);
        let (what, label) = (op.what, &op.label);
        let lane = match op.body {
            Body::Lane(lane, _) => Some(lane),
            Body::Host(_) | Body::Here | Body::Nothing => None,
        };
        self.trace(|| {
            let (label, place) = (label.clone(), (lane, None));
            Note::Complete { what, label, stamp, place, failed }
        });
    }

    /// The slot's operation is over: tells everybody and frees the slot.
    pub(crate) fn finish_slot(&mut self, id: SlotId, failed: Option<Failed>) {
        let slot = self.slot(id);
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
            self.unblock(dependent, travels.map(|failed| &failed.failure));
        }
        self.outbox.wakers.append(&mut wakers);
        self.outbox.leftovers.extend(reached.map(Leftover::Failure));
        let slot = self.slot(id);
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
        let id = ledger.new_slot();
        let first = Stamp::unplaced(id, 0);
        ledger.finish_slot(id, None);
        assert_eq!(ledger.new_slot(), id);
        ledger.slot(id).generation = Stamp::GENERATIONS - 1;
        let last = Stamp::unplaced(id, Stamp::GENERATIONS - 1);
        assert_eq!(ledger.timeline.outcome(last), Outcome::Pending);
        ledger.finish_slot(id, None);
        for stamp in [first, last] {
            assert_eq!(ledger.timeline.outcome(stamp), Outcome::Fine);
        }
        assert_ne!(ledger.new_slot(), id);
    }
}
