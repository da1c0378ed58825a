//! Deferral: operations that wait for a host task, for another backend, or for a lane that theirs
//! cannot wait for. They sit in slots and hold no position on any lane, so nothing queues behind
//! them. The thread that completes their last dependency places them.

use crate::engine::ledger::failures::Failed;
use crate::engine::ledger::records::Sources;
use crate::engine::ledger::timeline::{Readiness, Timeline};
use crate::engine::ledger::topology::Topology;
use crate::engine::ledger::{Body, Ledger, Leftover, NewOp, Outbox, TaskError};
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
    /// The rest of the operation while a host thread, or the thread that submitted it, is at it.
    running: Option<Box<NewOp>>,
    /// The slot is in use.
    pub(crate) live: bool,
}

impl Slot {
    /// The operation in it, unless that is on a lane or the slot is only a meeting point.
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
    pub(in crate::engine) fn tick_before(&self, stamp: Stamp) -> Option<(LaneId, u64)> {
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
    fn unblock(&mut self, id: SlotId, failure: Option<&Arc<Failure>>) {
        let slot = self.slot(id);
        if slot.failed.is_none() {
            slot.failed = failure.cloned();
        }
        slot.pending -= 1;
        if slot.pending == 0 {
            self.ready.push_back(id);
        }
    }

    /// Keeps an operation until its blockers are done.
    pub(super) fn defer(
        &mut self,
        op: NewOp,
        (blockers, failed): (&[(Stamp, Flow)], Option<Arc<Failure>>),
        topology: &Topology,
        outbox: &mut Outbox,
    ) -> Stamp {
        let id = self.new_slot();
        let slot = self.slot(id);
        slot.op = Some(Box::new(op));
        slot.failed = failed;
        let stamp = Stamp::unplaced(id, slot.generation);
        self.block(id, blockers, topology, outbox);
        stamp
    }

    /// Makes a slot wait for `blockers`, which are not done. Without any it is ready.
    fn block(
        &mut self,
        id: SlotId,
        blockers: &[(Stamp, Flow)],
        topology: &Topology,
        outbox: &mut Outbox,
    ) {
        self.slot(id).blockers.clear();
        for &(stamp, flow) in blockers {
            match stamp.when() {
                When::Done => continue,
                When::Placed(lane, tick) => {
                    self.lanes[usize::from(lane.0)].watches.push(Reverse((tick, id.0, flow)));
                    self.call_reaper(topology.key(lane).backend, outbox);
                }
                When::Unplaced(other, _) => self.slot(other).dependents.push((id, flow)),
            }
            let slot = self.slot(id);
            slot.pending += 1;
            slot.blockers.push(stamp);
        }
        if self.slot(id).pending == 0 {
            self.ready.push_back(id);
        }
    }

    /// Takes a waker to be called when `stamp` is done, unless it has it; `false` when that is done
    /// already. How wakers are made and dropped is the user's, so one that is not needed stays with
    /// the caller.
    pub(crate) fn wake_when_done(
        &mut self,
        stamp: Stamp,
        waker: &mut Option<Waker>,
        (topology, outbox): (&Topology, &mut Outbox),
    ) -> bool {
        if self.outcome(stamp) != Outcome::Pending {
            return false;
        }
        let wakers = match self.resolve(stamp).when() {
            When::Done => return false,
            When::Unplaced(slot, _) => &mut self.slot(slot).wakers,
            When::Placed(lane, tick) => {
                self.call_reaper(topology.key(lane).backend, outbox);
                self.lanes[usize::from(lane.0)].wakers.entry(tick).or_default()
            }
        };
        if !waker.as_ref().is_some_and(|new| wakers.iter().any(|w| w.will_wake(new))) {
            wakers.extend(waker.take());
        }
        true
    }

    /// A slot that waits for nothing more, and what is to be done with it.
    pub(super) fn next_ready(
        &mut self,
        topology: &Topology,
        outbox: &mut Outbox,
    ) -> Option<(SlotId, Ready)> {
        while let Some(id) = self.ready.pop_front() {
            let Some(op) = self.slot(id).op.take() else { return Some((id, Ready::Meet)) };
            let blockers = match self.slot(id).failed.is_some() {
                true => match self.unfinished_before(&op) {
                    none if none.is_empty() => return Some((id, Ready::Cancel(op))),
                    some => some,
                },
                false => match self.sort_deps(&op, topology) {
                    Readiness::Go { waits, sources } => {
                        return Some((id, Ready::Start(op, waits, sources)));
                    }
                    Readiness::Wait { blockers, failed } => {
                        self.slot(id).failed = failed;
                        blockers
                    }
                },
            };
            self.slot(id).op = Some(op);
            self.block(id, &blockers, topology, outbox);
        }
        None
    }

    /// The stamps that must be over before an operation that will not run is over.
    fn unfinished_before(&self, op: &NewOp) -> SmallVec<[(Stamp, Flow); 4]> {
        (op.deps.iter().chain(&self.wake))
            .filter(|dep| self.outcome(dep.stamp) == Outcome::Pending)
            .map(|dep| (self.resolve(dep.stamp), Flow::ORDER))
            .collect()
    }

    /// How an operation fails that a failure has reached before it could run. Memory that an
    /// earlier operation has spoilt stays so.
    pub(super) fn cancelled(&mut self, id: SlotId, op: &NewOp) -> Option<Failed> {
        let mut covers = op.deps.iter().filter(|dep| dep.flow.has(Flow::COVERS));
        let spoilt = covers.any(|dep| self.failures.spoilt(dep.stamp));
        let failure = self.slot(id).failed.clone()?;
        Some(Failed { failure, spoilt })
    }

    /// The operation of a slot has a tick now.
    pub(super) fn note_tick(
        &mut self,
        id: SlotId,
        (tick, timed): (Stamp, bool),
        topology: &Topology,
    ) {
        let slot = self.slot(id);
        slot.placed = Some(tick);
        let known = Stamp::unplaced(id, slot.generation);
        if timed {
            if self.timed.len() == MOST_TIMED {
                self.timed.pop_front();
            }
            self.timed.push_back((known, tick));
        }
        self.retarget(id, tick, topology);
    }

    /// Who waited for a slot that has a tick now, and can wait for the tick natively, need not stay
    /// deferred. They stay counted on the slot otherwise.
    fn retarget(&mut self, id: SlotId, tick: Stamp, topology: &Topology) {
        let When::Placed(lane, _) = tick.when() else { return };
        let dependents = std::mem::take(&mut self.slot(id).dependents);
        let mut stay = SmallVec::new();
        for (dependent, flow) in dependents {
            let slot = &self.slots[dependent.0 as usize];
            let native = match slot.op.as_ref().map(|op| &op.body) {
                Some(Body::Lane(own, _)) => topology.can_wait(*own, lane),
                _ => false,
            };
            // A failed operation must see the end of everything before it, and a wait for a turn
            // the end of the switch.
            if native && !flow.has(Flow::TURN) && slot.failed.is_none() {
                self.unblock(dependent, None);
            } else {
                stay.push((dependent, flow));
            }
        }
        self.slot(id).dependents = stay;
    }

    /// Slots, futures and threads that wait for ticks which are retired by now need not any more.
    pub(super) fn wake_watches(&mut self, lane: LaneId, outbox: &mut Outbox) {
        let at = usize::from(lane.0);
        let retired = self.lanes[at].retired;
        while let Some(first) = self.lanes[at].wakers.first_entry()
            && *first.key() <= retired
        {
            outbox.wakers.extend(first.remove());
        }
        while let Some(Reverse((tick, slot, flow))) = self.lanes[at].watches.peek().copied()
            && tick <= retired
        {
            self.lanes[at].watches.pop();
            let failure = match self.failures.is_empty() {
                true => None,
                false => self.failures.along(Stamp::placed(lane, tick), flow).cloned(),
            };
            self.unblock(SlotId(slot), failure.as_ref());
        }
        self.lanes[at].shrink();
    }

    /// A subscriber's note that an operation without a tick is over.
    fn completion(&self, id: SlotId, op: &NewOp, failed: bool) -> Note {
        let stamp = Stamp::unplaced(id, self.slots[id.0 as usize].generation);
        let lane = match op.body {
            Body::Lane(lane, _) => Some(lane),
            Body::Host(_) | Body::Here | Body::Nothing => None,
        };
        let (what, label, place) = (op.what, op.label.clone(), (lane, None));
        Note::Complete { what, label, stamp, place, failed, timed: false }
    }

    /// The slot's operation is over: unblocks its dependents, wakes futures, and frees the slot.
    pub(super) fn finish_slot(&mut self, id: SlotId, failed: Option<Failed>, outbox: &mut Outbox) {
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
        outbox.wakers.append(&mut wakers);
        outbox.leftovers.extend(reached.map(Leftover::Failure));
        let slot = self.slot(id);
        slot.live = false;
        slot.dependents = dependents;
        slot.wakers = wakers;
        outbox.notify |= self.waiters > 0;
        if let Some(failed) = failed {
            self.mark_failed(stamp, failed, outbox);
        }
        self.live_slots -= 1;
        if reusable {
            self.free_slots.push(id.0);
        }
    }

    /// A stamp that is done and has failed.
    pub(crate) fn failed_stamp(&mut self, failure: Arc<Failure>, outbox: &mut Outbox) -> Stamp {
        let slot = self.new_slot();
        let stamp = Stamp::unplaced(slot, self.slot(slot).generation);
        self.finish_slot(slot, Some(Failed { failure, spoilt: false }), outbox);
        stamp
    }
}

/// The next step of a slot that waits for nothing more.
pub(super) enum Ready {
    /// Its operation can be placed, or given to a host thread.
    Start(Box<NewOp>, Waits, Sources),
    /// Its operation will not run.
    Cancel(Box<NewOp>),
    /// The slot has no operation.
    Meet,
}

impl Ledger {
    /// Deals with every slot that waits for nothing more.
    pub(crate) fn settle(&mut self) {
        while let Some((id, ready)) = self.timeline.next_ready(&self.topology, &mut self.outbox) {
            match ready {
                Ready::Start(op, waits, sources) => self.start(id, op, waits, sources),
                Ready::Cancel(op) => {
                    let failed = self.timeline.cancelled(id, &op);
                    self.end_deferred(id, op, failed);
                }
                Ready::Meet => self.timeline.finish_slot(id, None, &mut self.outbox),
            }
        }
    }

    fn start(&mut self, id: SlotId, mut op: Box<NewOp>, waits: Waits, sources: Sources) {
        match std::mem::take(&mut op.body) {
            body @ Body::Lane(..) => {
                op.body = body;
                let tick = self.place(&mut op, waits, sources, Some(id));
                self.timeline.note_tick(id, (tick, op.timed), &self.topology);
                self.outbox.notify |= self.timeline.waiters > 0;
            }
            Body::Host(work) => {
                let stamp = Stamp::unplaced(id, self.timeline.slot(id).generation);
                let (what, label, place) = (op.what, &op.label, (None, None));
                self.trace(|| Note::Launch { what, label: label.clone(), stamp, place });
                self.timeline.slot(id).running = Some(op);
                self.outbox.host.push((id, work));
            }
            Body::Here => {
                self.timeline.slot(id).running = Some(op);
                self.outbox.notify |= self.timeline.waiters > 0;
            }
            Body::Nothing => self.end_deferred(id, op, None),
        }
    }

    /// An operation is over that got no tick.
    fn end_deferred(&mut self, id: SlotId, op: Box<NewOp>, failed: Option<Failed>) {
        if self.traced {
            let note = self.timeline.completion(id, &op, failed.is_some());
            self.trace(|| note);
        }
        let Ledger { storages, timeline, topology, queues, outbox, .. } = self;
        if let Some(failed) = &failed {
            queues.note(op.queue, &failed.failure, (timeline, topology));
        }
        storages.release(op.storages, outbox);
        outbox.staging.extend(op.staging);
        if !matches!(op.body, Body::Nothing) {
            outbox.leftovers.push(Leftover::Body(op.body));
        }
        timeline.finish_slot(id, failed, outbox);
    }

    /// A host task has ended.
    pub(crate) fn host_done(&mut self, id: SlotId, result: Result<(), TaskError>) {
        let Some(op) = self.timeline.slot(id).running.take() else { return };
        let failure = result.err().map(|error| match error {
            TaskError::Own(cause) => self.fail(op.what, &op.label, "host", cause),
            TaskError::Known(failure) => failure,
        });
        self.end_deferred(id, op, failure.map(|failure| Failed { failure, spoilt: false }));
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
        ledger.timeline.finish_slot(id, None, &mut ledger.outbox);
        assert_eq!(ledger.timeline.new_slot(), id);
        ledger.timeline.slot(id).generation = Stamp::GENERATIONS - 1;
        let last = Stamp::unplaced(id, Stamp::GENERATIONS - 1);
        assert_eq!(ledger.timeline.outcome(last), Outcome::Pending);
        ledger.timeline.finish_slot(id, None, &mut ledger.outbox);
        for stamp in [first, last] {
            assert_eq!(ledger.timeline.outcome(stamp), Outcome::Fine);
        }
        assert_ne!(ledger.timeline.new_slot(), id);
    }

    /// The tick that a slot waits for is found through other slots; there may be none.
    #[test]
    fn tick_before_a_slot_is_that_of_its_first_pending_blocker() {
        let mut timeline = Timeline::new(1, 1);
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
        let mut timeline = Timeline::new(1, 1);
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
