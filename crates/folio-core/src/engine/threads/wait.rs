//! Waiting: a thread that waits polls the driver itself.

use crate::engine::Engine;
use crate::engine::lanes::Lanes;
use crate::engine::ledger::slots::Slot;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::topology::Topology;
use crate::engine::ledger::{Body, Ledger};
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::error::{Error, Failure, Label, PendingWork};
use crate::foreign::in_kernel;
use crate::hal::Tick;
use crate::order::hazards::Outcome;
use crate::order::stamp::{LaneId, SlotId, Stamp, When};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Instant;

/// How many operations of its own a thread is known to have: a turn within a host task, and what a
/// subscriber or a handler does there.
const MOST_OWN: usize = 6;
type Own = [Option<(usize, SlotId)>; MOST_OWN];

/// How much of what is left a shutdown tells.
const LISTED: usize = 16;

thread_local! {
    /// The operations that this thread has to end, the latest one last: host tasks, and its own
    /// turns; each with the address of its engine. Operations that do not fit are left out.
    static OWN: Cell<Own> = const { Cell::new([None; MOST_OWN]) };
}

/// True on a thread that runs a host task of this engine.
pub(crate) fn in_task_of(engine: &Engine) -> bool {
    engine.own().next().is_some()
}

/// Says that this thread has to end an operation, until it is dropped: what waits for that cannot
/// be waited for here.
pub(crate) struct EndObligation(Own);

impl EndObligation {
    pub(crate) fn new(engine: &Engine, slot: SlotId) -> EndObligation {
        let before = OWN.get();
        let mut own = before;
        if let Some(free) = own.iter_mut().find(|own| own.is_none()) {
            *free = Some((std::ptr::from_ref(engine).addr(), slot));
        }
        OWN.set(own);
        EndObligation(before)
    }
}

impl Drop for EndObligation {
    fn drop(&mut self) {
        OWN.set(self.0);
    }
}

/// The end of a wait.
pub(crate) enum WaitEnd {
    Done,
    Failed(Arc<Failure>),
    TimedOut,
}

impl Engine {
    /// Waits for a stamp.
    pub(crate) fn wait(&self, stamp: Stamp, until: Option<Instant>) -> Result<WaitEnd, Error> {
        self.wait_checked(stamp, until, Check::All, &|_| false)
    }

    /// Waits until everything before an operation of this thread's own ([`Body::Here`]) is done.
    pub(crate) fn wait_turn(&self, stamp: Stamp) -> Result<WaitEnd, Error> {
        self.wait_checked(stamp, None, Check::Others, &|ledger| ledger.timeline.has_turn(stamp))
    }

    fn wait_checked(
        &self,
        stamp: Stamp,
        until: Option<Instant>,
        check: Check,
        here: &dyn Fn(&Ledger) -> bool,
    ) -> Result<WaitEnd, Error> {
        self.start_unstarted();
        // A wait that ends by itself holds no task up for ever.
        let mut waiting = WaitRecord::new(self, stamp, check, until.is_none());
        loop {
            let mut ledger = self.lock();
            let ended = match ledger.timeline.outcome(stamp) {
                Outcome::Fine => Some(Ok(WaitEnd::Done)),
                Outcome::Failed => {
                    let failure = ledger.timeline.failure(stamp).cloned();
                    Some(Ok(failure.map_or(WaitEnd::Done, WaitEnd::Failed)))
                }
                Outcome::Pending if here(&ledger) => Some(Ok(WaitEnd::Done)),
                Outcome::Pending => None,
            };
            let refused = || self.may_wait(&ledger, stamp, check).err().map(Err);
            let over = || until.is_some_and(|until| Instant::now() >= until);
            let timed_out = || over().then_some(Ok(WaitEnd::TimedOut));
            if let Some(ended) = ended.or_else(refused).or_else(timed_out) {
                waiting.end(&mut ledger);
                return ended;
            }
            waiting.begin(&mut ledger);
            match ledger.timeline.waits_for_tick(stamp) {
                Some((lane, tick)) => {
                    drop(ledger);
                    self.wait_on_lane(stamp, (lane, tick), until);
                }
                // A host task must end first.
                None => {
                    ledger.timeline.waiters += 1;
                    let mut ledger = self.changed.wait_until(ledger, until);
                    ledger.timeline.waiters -= 1;
                }
            }
        }
    }

    /// Waits wherever this is called, because memory depends on it: also in a host task, where
    /// waiting for itself is a hang that no error could make sound.
    pub(crate) fn wait_anywhere(&self, stamp: Stamp) -> WaitEnd {
        loop {
            match self.wait_checked(stamp, None, Check::None, &|_| false) {
                Ok(waited) => return waited,
                Err(_) => crate::sync::yield_now(),
            }
        }
    }

    /// Waits until nothing is under way, or `until`: then the error says what is left.
    pub(crate) fn wait_idle(&self, until: Option<Instant>) -> Result<(), Error> {
        loop {
            let busy = self.enter(|ledger| {
                ledger.poll_all();
                ledger.timeline.busy()
            });
            let Some(stamp) = busy else {
                self.wait_until_told(until);
                return Ok(());
            };
            if let WaitEnd::TimedOut = self.wait(stamp, until)? {
                self.look_at_lanes();
                let (unfinished, left) = self.enter(|ledger| {
                    ledger.poll_all();
                    ledger.timeline.unfinished(&ledger.topology)
                });
                return match unfinished {
                    0 => Ok(()),
                    unfinished => Err(Error::Deadline { unfinished, left }),
                };
            }
        }
    }

    /// Waits for a tick, on behalf of a stamp, and accounts for both.
    fn wait_on_lane(&self, stamp: Stamp, (lane, tick): (LaneId, Tick), until: Option<Instant>) {
        let Some(shared) = self.table.shared(lane) else { return };
        self.hand_over_before_waiting(lane, tick, until);
        // The native lane flushes itself when it waits; lanes that it waits for may hold operations
        // back.
        for other in self.table.all().filter(|other| self.holds_back(other.id)) {
            other.native.flush();
        }
        // A full lane has not taken the operation yet: wait until it has made room.
        let reachable = tick.min(shared.enqueued());
        let asked = if reachable < tick && shared.native.completed() == Ok(reachable) {
            // Another lane must go first; the reaper or its own waiter moves it.
            crate::sync::yield_now();
            Ok(true)
        } else {
            shared.native.wait(reachable, until)
        };
        self.enter(|ledger| match asked {
            Ok(_) => ledger.poll_for(stamp),
            // Others may have accounted for all that was on the lane before it was lost: then no
            // thread would ask it again.
            Err(lost) => ledger.lose(ledger.topology.device_of(lane), &lost),
        });
    }

    /// Has all native lanes look how far they are.
    pub(crate) fn look_at_lanes(&self) {
        self.table.all().for_each(|lane| lane.native.flush());
    }

    /// Whether the native lane has to be flushed; all others are where they are given something.
    pub(super) fn holds_back(&self, lane: LaneId) -> bool {
        self.devices[usize::from(lane.0 / LANES_PER_DEVICE)].info.caps.batches
    }

    /// A kernel may not wait, and a host task not for what waits for itself, be it by way of other
    /// host tasks that wait.
    pub(crate) fn may_wait(
        &self,
        ledger: &Ledger,
        stamp: Stamp,
        check: Check,
    ) -> Result<(), Error> {
        if matches!(check, Check::None) {
            return Ok(());
        }
        if in_kernel() {
            return Err(Error::WaitInKernel);
        }
        let When::Unplaced(target, _) = stamp.when() else { return Ok(()) };
        let others = self.own().filter(|slot| check.covers(*slot, target));
        let found = others.map(|slot| (slot, ledger.timeline.descends(slot, target)));
        for (slot, through) in found {
            if let Some(through) = through {
                let (task, through) = (ledger.timeline.label_of(slot), Arc::from(through));
                return Err(Error::WaitsForItself { task, through });
            }
        }
        Ok(())
    }

    /// The operations of this engine that this thread has to end.
    fn own(&self) -> impl Iterator<Item = SlotId> + use<> {
        let me = std::ptr::from_ref(self).addr();
        OWN.get().into_iter().flatten().filter(move |own| own.0 == me).map(|own| own.1)
    }
}

/// The stamps that a thread must not wait for: they wait for an operation that the thread has to
/// end.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    All,
    /// The operation is such a one, and the thread waits for its turn.
    Others,
    None,
}

impl Check {
    fn covers(self, own: SlotId, target: SlotId) -> bool {
        match self {
            Check::All => true,
            Check::Others => own != target,
            Check::None => false,
        }
    }
}

/// A host task's wait, which the ledger knows of while it lasts: what waits for that task waits for
/// what the task waits for. Of two or more tasks that would wait for each other, the last one to
/// begin is refused.
///
/// The awaited stamp depends on operations that were submitted before it, so a circle can only
/// close when a wait begins.
struct WaitRecord {
    /// By each operation that the thread has to end, but for the one whose turn it waits for.
    waits: SmallVec<[(SlotId, Stamp); MOST_OWN]>,
    known: bool,
}

impl WaitRecord {
    fn new(engine: &Engine, stamp: Stamp, check: Check, lasts: bool) -> WaitRecord {
        let is_turn = |slot: &SlotId| match (check, stamp.when()) {
            (Check::Others, When::Unplaced(turn, _)) => *slot == turn,
            _ => false,
        };
        let own = engine.own().filter(|slot| lasts && !is_turn(slot));
        WaitRecord { waits: own.map(|slot| (slot, stamp)).collect(), known: false }
    }

    fn begin(&mut self, ledger: &mut Ledger) {
        if !std::mem::replace(&mut self.known, true) {
            ledger.timeline.waiting.extend_from_slice(&self.waits);
        }
    }

    fn end(&mut self, ledger: &mut Ledger) {
        if !self.known {
            return;
        }
        for wait in &self.waits {
            if let Some(at) = ledger.timeline.waiting.iter().rposition(|known| known == wait) {
                ledger.timeline.waiting.remove(at);
            }
        }
    }
}

impl Timeline {
    /// Something that is under way.
    fn busy(&self) -> Option<Stamp> {
        let lane = self.lanes.iter().enumerate().find(|(_, lane)| !lane.idle());
        let placed = lane.map(|(at, lane)| Stamp::placed(LaneId(at as u16), lane.issued));
        let slot = || self.slots.iter().enumerate().find(|(_, slot)| slot.live);
        let unplaced = |(at, s): (usize, &Slot)| Stamp::unplaced(SlotId(at as u32), s.generation);
        placed.or_else(|| slot().map(unplaced))
    }

    /// The name of the host task in a slot.
    fn label_of(&self, slot: SlotId) -> Label {
        let slot = self.slots.get(slot.0 as usize);
        slot.and_then(Slot::operation).map_or(Label::NONE, |op| op.label.clone())
    }

    /// Whether `target` waits, directly or not, for host task `slot`; by way of which other tasks.
    /// An operation that waits for an unfinished host task is in a slot itself, so the slots'
    /// dependents, and the tasks that wait, tell all.
    fn descends(&self, slot: SlotId, target: SlotId) -> Option<Vec<Label>> {
        let mut reached_from = HashMap::from([(slot.0, slot)]);
        let mut todo = vec![slot];
        while let Some(at) = todo.pop() {
            if at == target {
                return Some(self.tasks_between(slot, target, &reached_from));
            }
            let dependents = self.slots.get(at.0 as usize).map(|slot| slot.dependents.iter());
            let dependents = dependents.into_iter().flatten().map(|(dependent, _)| *dependent);
            for next in dependents.chain(self.waiting_for(at)) {
                if let Entry::Vacant(new) = reached_from.entry(next.0) {
                    new.insert(at);
                    todo.push(next);
                }
            }
        }
        None
    }

    /// The host tasks that wait for a slot.
    fn waiting_for(&self, slot: SlotId) -> impl Iterator<Item = SlotId> {
        let of_slot =
            move |stamp: &Stamp| matches!(stamp.when(), When::Unplaced(s, _) if s == slot);
        self.waiting.iter().filter(move |(_, stamp)| of_slot(stamp)).map(|(task, _)| *task)
    }

    /// The waiting host tasks on the way from `slot`, which is none of them, to `target`.
    fn tasks_between(
        &self,
        slot: SlotId,
        target: SlotId,
        reached_from: &HashMap<u32, SlotId>,
    ) -> Vec<Label> {
        let mut tasks = Vec::new();
        let mut at = target;
        while at != slot {
            if self.waiting.iter().any(|(task, _)| *task == at) {
                tasks.insert(0, self.label_of(at));
            }
            let Some(before) = reached_from.get(&at.0) else { break };
            at = *before;
        }
        tasks
    }

    /// Whether it is a thread's turn to do an operation of its own.
    fn has_turn(&self, stamp: Stamp) -> bool {
        let When::Unplaced(id, generation) = stamp.when() else { return false };
        let slot = self.slots.get(id.0 as usize);
        slot.is_some_and(|slot| slot.generation == generation && slot.is_running())
    }
}

impl Ledger {
    /// Polls the lane on which a stamp is, or on which something is that it waits for.
    pub(crate) fn poll_for(&mut self, stamp: Stamp) {
        if let Some((lane, _)) = self.timeline.tick_before(stamp) {
            self.poll(lane);
        }
    }

    /// Polls all lanes.
    pub(crate) fn poll_all(&mut self) {
        for lane in 0..self.timeline.lanes.len() as u16 {
            self.poll(LaneId(lane));
        }
    }
}

impl Timeline {
    /// How much is under way, and some of it.
    pub(in crate::engine) fn unfinished(&self, topology: &Topology) -> (usize, Vec<PendingWork>) {
        let on = |what, label: &Label, device: &str| PendingWork {
            what,
            label: label.clone(),
            device: device.to_owned(),
        };
        let name = |at| topology.device_names.get(at).map_or("?", String::as_str);
        let placed = self.lanes.iter().enumerate().flat_map(|(at, lane)| {
            let device = name(topology.device_of(LaneId(at as u16)));
            lane.records.iter().map(move |r| on(r.what, &r.label, device))
        });
        // Slots that have a tick are among the records.
        let waiting = self.slots.iter().filter(|s| s.live && s.placed.is_none()).map(|slot| {
            let Some(op) = slot.operation() else { return on("barrier", &Label::NONE, "host") };
            let device = match op.body {
                Body::Lane(lane, _) => name(topology.device_of(lane)),
                Body::Host(_) | Body::Here | Body::Nothing => "host",
            };
            on(op.what, &op.label, device)
        });
        let mut left: Vec<PendingWork> = Vec::new();
        let mut count = 0;
        for one in placed.chain(waiting) {
            count += 1;
            if left.len() < LISTED {
                left.push(one);
            }
        }
        (count, left)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::order::hazards::Flow;

    /// A task's wait for what comes after the task is found, also by way of another task's wait.
    #[test]
    fn slot_that_waits_for_a_task_descends_from_it() {
        let mut timeline = Timeline::new(1, 1);
        let [task, next, other] = [(); 3].map(|()| timeline.new_slot());
        timeline.slot(task).dependents.push((next, Flow::ORDER));
        assert_eq!(timeline.descends(task, next), Some(vec![]));
        assert_eq!(timeline.descends(task, other), None);
        timeline.waiting.push((other, Stamp::unplaced(next, 0)));
        assert_eq!(timeline.descends(task, other), Some(vec![Label::NONE]));
        assert_eq!(timeline.descends(other, task), None);
    }

    #[test]
    fn busy_names_what_has_not_ended() {
        let mut timeline = Timeline::new(2, 1);
        assert_eq!(timeline.busy(), None);
        let slot = timeline.new_slot();
        assert_eq!(timeline.busy(), Some(Stamp::unplaced(slot, 0)));
        timeline.lanes[1].issued = 3;
        assert_eq!(timeline.busy(), Some(Stamp::placed(LaneId(1), 3)));
    }
}
