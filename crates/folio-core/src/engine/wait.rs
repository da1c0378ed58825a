//! Waiting: a thread that waits polls the driver itself.

use super::Engine;
use super::lanes::Lanes;
use super::ledger::{Body, LANES_PER_DEVICE, Ledger};
use super::slots::Slot;
use crate::error::{Error, Failure, Label, Unfinished};
use crate::hal::Tick;
use crate::order::hazards::Outcome;
use crate::order::stamp::{LaneId, SlotId, Stamp, When};
use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Instant;

/// How much of what is left a shutdown tells.
const LISTED: usize = 16;

thread_local! {
    /// The host task that this thread runs: the address of its engine, and its slot.
    static CURRENT: Cell<Option<(usize, SlotId)>> = const { Cell::new(None) };
    /// How many kernels this thread is in.
    static KERNELS: Cell<u32> = const { Cell::new(0) };
}

/// Says that this thread runs a kernel until it is dropped.
pub(crate) struct InKernel(());

impl InKernel {
    pub(crate) fn new() -> InKernel {
        KERNELS.with(|k| k.set(k.get() + 1));
        InKernel(())
    }
}

impl Drop for InKernel {
    fn drop(&mut self) {
        KERNELS.with(|k| k.set(k.get() - 1));
    }
}

/// True on a thread that runs a kernel.
pub(crate) fn in_kernel() -> bool {
    KERNELS.get() > 0
}

/// True on a thread that runs a host task of this engine.
pub(crate) fn in_task_of(engine: &Engine) -> bool {
    CURRENT.get().is_some_and(|(of, _)| of == std::ptr::from_ref(engine) as usize)
}

/// Runs `f` as host task `slot`.
pub(crate) fn as_host_task<R>(engine: &Engine, slot: SlotId, f: impl FnOnce() -> R) -> R {
    let before = CURRENT.replace(Some((std::ptr::from_ref(engine) as usize, slot)));
    let result = f();
    CURRENT.set(before);
    result
}

/// What a wait ended with.
pub(crate) enum Waited {
    Done,
    Failed(Arc<Failure>),
    TimedOut,
}

impl Engine {
    /// Waits for a stamp.
    pub(crate) fn wait(&self, stamp: Stamp, until: Option<Instant>) -> Result<Waited, Error> {
        self.wait_checked(stamp, until, true, &|_| false)
    }

    /// Waits until everything before an operation of this thread's own ([`Body::Here`]) is done.
    pub(crate) fn wait_turn(&self, stamp: Stamp) -> Result<Waited, Error> {
        self.wait_checked(stamp, None, true, &|ledger| ledger.has_turn(stamp))
    }

    fn wait_checked(
        &self,
        stamp: Stamp,
        until: Option<Instant>,
        check: bool,
        here: &dyn Fn(&Ledger) -> bool,
    ) -> Result<Waited, Error> {
        // A wait that ends by itself holds nobody up for ever.
        let mut waiting = Waiting::new(self, stamp, until.is_none());
        loop {
            let mut ledger = self.lock();
            let ended = match ledger.timeline.outcome(stamp) {
                Outcome::Fine => Some(Ok(Waited::Done)),
                Outcome::Failed => {
                    let failure = ledger.timeline.failure(stamp).cloned();
                    Some(Ok(failure.map_or(Waited::Done, Waited::Failed)))
                }
                Outcome::Pending if here(&ledger) => Some(Ok(Waited::Done)),
                Outcome::Pending => None,
            };
            let refused =
                || if check { self.may_wait(&ledger, stamp).err().map(Err) } else { None };
            let over = || until.is_some_and(|until| Instant::now() >= until);
            let timed_out = || over().then_some(Ok(Waited::TimedOut));
            if let Some(ended) = ended.or_else(refused).or_else(timed_out) {
                waiting.end(&mut ledger);
                return ended;
            }
            waiting.begin(&mut ledger);
            match ledger.waits_for_tick(stamp) {
                Some((lane, tick)) => {
                    drop(ledger);
                    self.wait_on_lane(stamp, (lane, tick), until);
                }
                // A host task must end first.
                None => {
                    ledger.waiters += 1;
                    let mut ledger = self.changed.wait_until(ledger, until);
                    ledger.waiters -= 1;
                }
            }
        }
    }

    /// Waits wherever this is called, because memory depends on it: also in a host task, where
    /// waiting for itself is a hang that no error could make sound.
    pub(crate) fn wait_anywhere(&self, stamp: Stamp) -> Waited {
        loop {
            match self.wait_checked(stamp, None, false, &|_| false) {
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
                ledger.busy()
            });
            let Some(stamp) = busy else {
                self.wait_until_told(until);
                return Ok(());
            };
            if let Waited::TimedOut = self.wait(stamp, until)? {
                self.look_at_lanes();
                let (unfinished, left) = self.enter(|ledger| {
                    ledger.poll_all();
                    ledger.unfinished()
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
        // It flushes itself when it waits; lanes that it waits for may hold operations back.
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
            // Others may have accounted for all that was on the lane before it was lost: then
            // nobody would ask it again.
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
    pub(crate) fn may_wait(&self, ledger: &Ledger, stamp: Stamp) -> Result<(), Error> {
        if in_kernel() {
            return Err(Error::WaitInKernel);
        }
        let (Some(slot), When::Unplaced(target, _)) = (self.current(), stamp.when()) else {
            return Ok(());
        };
        match ledger.descends(slot, target) {
            Some(through) => Err(Error::WaitsForItself {
                task: ledger.label_of(slot),
                through: Arc::from(through),
            }),
            None => Ok(()),
        }
    }

    /// The host task that this thread runs for this engine.
    fn current(&self) -> Option<SlotId> {
        let me = std::ptr::from_ref(self) as usize;
        CURRENT.get().filter(|(engine, _)| *engine == me).map(|(_, slot)| slot)
    }
}

/// A host task's wait, which the ledger knows of while it lasts: what waits for that task waits for
/// what the task waits for. Of two or more tasks that would wait for each other, the last one to
/// begin is refused.
///
/// What a wait is for depends on operations that were submitted before it, so a circle can only
/// close when a wait begins.
struct Waiting {
    wait: Option<(SlotId, Stamp)>,
    known: bool,
}

impl Waiting {
    fn new(engine: &Engine, stamp: Stamp, lasts: bool) -> Waiting {
        let task = engine.current().filter(|_| lasts);
        Waiting { wait: task.map(|task| (task, stamp)), known: false }
    }

    fn begin(&mut self, ledger: &mut Ledger) {
        if let Some(wait) = self.wait.filter(|_| !self.known) {
            ledger.waiting.push(wait);
            self.known = true;
        }
    }

    fn end(&mut self, ledger: &mut Ledger) {
        if let Some(wait) = self.wait.filter(|_| self.known)
            && let Some(at) = ledger.waiting.iter().rposition(|known| *known == wait)
        {
            ledger.waiting.remove(at);
        }
    }
}

impl Ledger {
    pub(crate) fn poll_all(&mut self) {
        for lane in 0..self.timeline.lanes.len() as u16 {
            self.poll(LaneId(lane));
        }
    }

    /// Something that is under way.
    fn busy(&self) -> Option<Stamp> {
        let lane = self.timeline.lanes.iter().enumerate().find(|(_, lane)| !lane.idle());
        let placed = lane.map(|(at, lane)| Stamp::placed(LaneId(at as u16), lane.issued));
        let slot = || self.timeline.slots.iter().enumerate().find(|(_, slot)| slot.live);
        let unplaced = |(at, s): (usize, &Slot)| Stamp::unplaced(SlotId(at as u32), s.generation);
        placed.or_else(|| slot().map(unplaced))
    }

    /// How much is under way, and some of it.
    pub(super) fn unfinished(&self) -> (usize, Vec<Unfinished>) {
        let on = |what, label: &Label, device: &str| Unfinished {
            what,
            label: label.clone(),
            device: device.to_owned(),
        };
        let name = |at| self.topology.device_names.get(at).map_or("?", String::as_str);
        let placed = self.timeline.lanes.iter().enumerate().flat_map(|(at, lane)| {
            let device = name(self.topology.device_of(LaneId(at as u16)));
            lane.records.iter().map(move |r| on(r.what, &r.label, device))
        });
        // Those that have a tick are among the records.
        let waiting =
            self.timeline.slots.iter().filter(|s| s.live && s.placed.is_none()).map(|slot| {
                let Some(op) = slot.operation() else { return on("barrier", &Label::NONE, "host") };
                let device = match op.body {
                    Body::Lane(lane, _) => name(self.topology.device_of(lane)),
                    Body::Host(_) | Body::Here | Body::Nothing => "host",
                };
                on(op.what, &op.label, device)
            });
        let mut left: Vec<Unfinished> = Vec::new();
        let mut count = 0;
        for one in placed.chain(waiting) {
            count += 1;
            if left.len() < LISTED {
                left.push(one);
            }
        }
        (count, left)
    }

    /// The name of the host task in a slot.
    fn label_of(&self, slot: SlotId) -> Label {
        let slot = self.timeline.slots.get(slot.0 as usize);
        slot.and_then(Slot::operation).map_or(Label::NONE, |op| op.label.clone())
    }

    /// Whether `target` waits, directly or not, for host task `slot`; by way of which other tasks.
    /// What waits for an unfinished host task is in a slot itself, so the slots' dependents, and
    /// the tasks that wait, tell all.
    fn descends(&self, slot: SlotId, target: SlotId) -> Option<Vec<Label>> {
        let mut reached_from = HashMap::from([(slot.0, slot)]);
        let mut todo = vec![slot];
        while let Some(at) = todo.pop() {
            if at == target {
                return Some(self.tasks_between(slot, target, &reached_from));
            }
            let dependents =
                self.timeline.slots.get(at.0 as usize).map(|slot| slot.dependents.iter());
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
        let slot = self.timeline.slots.get(id.0 as usize);
        slot.is_some_and(|slot| slot.generation == generation && slot.is_running())
    }
}
