//! The end of operations: what completed lanes tell, how failure travels, what is given back.

use crate::engine::kernels::blame::blamed;
use crate::engine::ledger::Outbox;
use crate::engine::ledger::failures::Failed;
use crate::engine::ledger::records::{Record, Sources};
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::topology::Topology;
use crate::engine::ledger::{Ledger, Leftover};
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::engine::terms::note::Note;
use crate::error::{Cause, Failure, Label};
use crate::hal::{HalError, HalErrorKind, Lost, Tick};
use crate::order::hazards::{Flow, Outcome, add_dep};
use crate::order::stamp::{LaneId, SlotId, Stamp};
use smallvec::SmallVec;
use std::sync::Arc;

/// How many operations the loss of a device names.
const MOST_SUSPECTS: usize = 4;

impl Timeline {
    /// The failure that reaches an operation that has run, and whether it has spoilt memory by
    /// that.
    pub(super) fn failed_from(&self, sources: &Sources) -> Option<Failed> {
        if self.failures.is_empty() {
            return None;
        }
        let used = sources.uses.iter().find_map(|s| self.failures.along(*s, Flow::USES));
        let kept = || sources.keeps.iter().find_map(|s| self.failures.along(*s, Flow::KEEPS));
        let failure = used.or_else(kept)?.clone();
        Some(Failed { failure, spoilt: self.spoilt_from(sources) })
    }

    /// An operation has run on spoilt memory.
    fn spoilt_from(&self, sources: &Sources) -> bool {
        sources.iter().any(|stamp| self.failures.spoilt(stamp))
    }

    /// The failures that commands can still meet, but for losses of devices.
    pub(super) fn known_failures(&self) -> impl Iterator<Item = &Arc<Failure>> {
        self.failures.iter().chain(self.slots.iter().filter_map(|slot| slot.failed()))
    }

    /// The operation with this stamp is over, and has failed.
    pub(super) fn mark_failed(&mut self, stamp: Stamp, failed: Failed, outbox: &mut Outbox) {
        let over = self.failures.insert(stamp, failed);
        outbox.leftovers.extend(over.map(|failed| Leftover::Failure(failed.failure)));
    }

    /// Takes the next operation of a lane to be over, and its own failure, if it has one.
    pub(super) fn pop_record(
        &mut self,
        lane: LaneId,
        outbox: &mut Outbox,
    ) -> Option<(Tick, Record, Option<HalError>)> {
        let lane = &mut self.lanes[usize::from(lane.0)];
        let record = lane.records.pop_front()?;
        lane.retired += 1;
        let tick = lane.retired;
        // A tick that failed in several ways failed once.
        let mut own = None;
        while let Some((_, error)) = lane.reported.pop_front_if(|(at, _)| *at <= tick) {
            match own {
                None => own = Some(error),
                Some(_) => outbox.leftovers.push(Leftover::Error(error)),
            }
        }
        Some((tick, record, own))
    }

    /// Later operations come after everything that lanes of other devices have under way, although
    /// the lost device's own operations count as over.
    pub(super) fn outlive(&mut self, device: usize, topology: &Topology) {
        let mut wake = std::mem::take(&mut self.wake);
        wake.retain(|dep| self.outcome(dep.stamp) == Outcome::Pending);
        for (at, lane) in (0..).map(LaneId).zip(&self.lanes) {
            if topology.device_of(at) != device && !lane.idle() {
                add_dep(&mut wake, Stamp::placed(at, lane.issued), false);
            }
        }
        self.wake = wake;
    }

    /// A subscriber's notes that an operation of a lane is over, the members of a list first.
    fn ending(&self, at: (LaneId, Tick), record: &Record, end: (bool, bool)) -> Vec<Note> {
        let stamp = self.known_as(record.slot, Stamp::placed(at.0, at.1));
        let (what, label, (failed, timed)) = (record.what, record.label.clone(), end);
        let place = (Some(at.0), Some(at.1));
        let members = record.nodes.iter().flat_map(|list| list.members());
        let member = |(number, (what, label)): (usize, (&'static str, &Label))| Note::Member {
            what,
            label: label.clone(),
            stamp,
            number,
        };
        let all = Note::Complete { what, label, stamp, place, failed, timed };
        members.enumerate().map(member).chain([all]).collect()
    }

    /// The stamp under which others know an operation: the slot's, if it had to wait in one.
    pub(super) fn known_as(&self, slot: Option<SlotId>, stamp: Stamp) -> Stamp {
        match slot {
            Some(slot) => Stamp::unplaced(slot, self.slots[slot.0 as usize].generation),
            None => stamp,
        }
    }

    /// Operations that may have been the reason for a loss: the first ones on each lane that have
    /// not ended.
    fn suspects(&self, device: usize) -> String {
        let first = device * usize::from(LANES_PER_DEVICE);
        let lanes = self.lanes.iter().skip(first).take(LANES_PER_DEVICE.into());
        let named: SmallVec<[String; 4]> = lanes
            .flat_map(|lane| lane.records.iter().take(MOST_SUSPECTS))
            .take(MOST_SUSPECTS)
            .map(|record| match record.label == Label::NONE {
                true => record.what.to_owned(),
                false => format!("{} {}", record.what, record.label),
            })
            .collect();
        if named.is_empty() {
            return String::new();
        }
        format!(" (under way: {})", named.join(", "))
    }
}

impl Outbox {
    /// Memory, graph and code of an operation go when it has ended; few have such.
    #[cold]
    fn give_back(&mut self, record: &mut Record) {
        self.staging.extend(record.staging.take());
        let unused = record.nodes.take().and_then(Arc::into_inner);
        self.leftovers.extend(unused.map(|nodes| Leftover::Graph(Box::new(nodes))));
        let unused = record.code.take().and_then(Arc::into_inner);
        self.leftovers.extend(unused.map(Leftover::Code));
    }
}

impl Record {
    /// The name of the operation that has failed, and the cause: a node of a graph by its own name.
    fn blame(&self, error: HalError) -> (&'static str, &Label, Cause) {
        let node = self.nodes.as_ref().zip(error.node);
        let node = node.and_then(|(nodes, node)| nodes.name(node));
        let (what, label) = node.map_or((self.what, &self.label), |(w, l)| (*w, l));
        let error = blamed(error, self.code());
        let cause = match &self.nodes {
            Some(nodes) => nodes.fixed.branches.cause(error),
            None => Cause::from(error),
        };
        (what, label, cause)
    }
}

impl Ledger {
    /// Accounts for everything that has completed on a lane. True when there was something.
    pub(crate) fn poll(&mut self, lane: LaneId) -> bool {
        self.poll_up_to(lane, Tick::MAX)
    }

    fn poll_up_to(&mut self, lane: LaneId, most: Tick) -> bool {
        let at = usize::from(lane.0);
        if self.timeline.lanes[at].idle() {
            return false;
        }
        let end = match self.table.ended(lane) {
            Ok(tick) => tick.min(most),
            Err(lost) => {
                self.lose(self.topology.device_of(lane), &lost);
                return true;
            }
        };
        if end <= self.timeline.lanes[at].retired {
            return false;
        }
        self.table.failures(lane, &mut self.timeline.lanes[at].reported);
        let progress = self.retire(lane, end);
        self.settle();
        progress
    }

    /// Accounts for the operations of a lane up to `end`, which have all ended. An operation that
    /// waited for another lane is held back until that lane is accounted for so far. True when
    /// something was accounted for.
    pub(in crate::engine) fn retire(&mut self, lane: LaneId, end: Tick) -> bool {
        let at = usize::from(lane.0);
        let mut progress = false;
        while self.timeline.lanes[at].retired < end {
            let first = self.timeline.lanes[at].records.front();
            if first.is_some_and(|first| !first.after.is_empty()) {
                progress |= self.poll_waits(lane);
                if self.timeline.lanes[at].held.is_some() {
                    break;
                }
            }
            // Another lane may have told that the device is lost: then no record is left.
            let Some((tick, record, own)) = self.timeline.pop_record(lane, &mut self.outbox) else {
                break;
            };
            self.retire_one((lane, tick), record, own);
            progress = true;
        }
        self.timeline.wake_watches(lane, &mut self.outbox);
        progress
    }

    /// Polls the lanes for which the next operation of a lane waited, no further than needed. A
    /// lane that does not show that tick holds the operation back. A wait leads to an operation
    /// that was placed earlier, so this recurses no deeper than there are lanes.
    fn poll_waits(&mut self, lane: LaneId) -> bool {
        let mut progress = false;
        loop {
            let wait = self.timeline.next_wait(lane);
            self.timeline.lanes[usize::from(lane.0)].held = wait;
            let Some((other, tick)) = wait else { return progress };
            progress |= self.poll_up_to(other, tick);
            if self.timeline.lanes[usize::from(other.0)].retired < tick {
                return progress;
            }
        }
    }

    fn retire_one(&mut self, at: (LaneId, Tick), record: Record, own: Option<HalError>) {
        let device = self.topology.device_of(at.0);
        let mut lost = None;
        // An earlier failure is the cause, whatever came of that here.
        let failed = match (self.timeline.failed_from(&record.sources), own) {
            (None, None) => None,
            (None, Some(error)) => {
                let failure = if let HalErrorKind::Lost = error.kind {
                    // A call was refused for it, before its lane tells.
                    lost = Some(self.topology.devices[device].domain);
                    self.note_loss(device, &error.message)
                } else {
                    let (what, label, cause) = record.blame(error);
                    let names = self.topology.device_names.clone();
                    let name = names.get(device).map_or("?", String::as_str);
                    self.fail(what, label, name, cause)
                };
                Some(Failed { failure, spoilt: record.defines })
            }
            (before, own) => {
                self.outbox.leftovers.extend(own.map(Leftover::Error));
                before
            }
        };
        self.end_placed(at, record, failed);
        // Once it counts as failed: it may have been a change of sides.
        if let Some(domain) = lost {
            self.storages.lose_links(domain, &self.timeline);
        }
    }

    /// An operation of a lane is over.
    fn end_placed(&mut self, at: (LaneId, Tick), mut record: Record, failed: Option<Failed>) {
        if self.traced {
            let end = (failed.is_some(), self.device_times);
            let notes = self.timeline.ending(at, &record, end);
            notes.into_iter().for_each(|note| self.trace(|| note));
        }
        let Ledger { storages, timeline, topology, queues, outbox, .. } = self;
        if let Some(failed) = &failed {
            timeline.mark_failed(Stamp::placed(at.0, at.1), failed.clone(), outbox);
            queues.note(record.queue, &failed.failure, (timeline, topology));
        }
        storages.release(record.storages(), outbox);
        if record.staging.is_some() || record.nodes.is_some() || record.code.is_some() {
            outbox.give_back(&mut record);
        }
        if let Some(slot) = record.slot {
            timeline.finish_slot(slot, failed, outbox);
        }
    }

    /// A new failure; the handler will be told.
    pub(crate) fn fail(
        &mut self,
        what: &'static str,
        label: &Label,
        device: &str,
        cause: Cause,
    ) -> Arc<Failure> {
        self.timeline.next_failure += 1;
        let (id, device) = (self.timeline.next_failure, device.to_owned());
        let failure = Arc::new(Failure::new(id, what, label.clone(), device, cause));
        self.outbox.reports.push(failure.clone());
        self.outbox.reporting.get_or_insert_with(|| self.reporting.clone());
        let over = self.untold.keep(failure.clone());
        self.outbox.leftovers.extend(over.into_iter().map(Leftover::Failure));
        failure
    }

    /// The failure that is the loss of a device: one, whichever thread finds it first. Data that
    /// only the device has are lost.
    pub(crate) fn loss(&mut self, device: usize, reason: &str) -> Arc<Failure> {
        let failure = self.note_loss(device, reason);
        self.storages.lose_links(self.topology.devices[device].domain, &self.timeline);
        failure
    }

    fn note_loss(&mut self, device: usize, reason: &str) -> Arc<Failure> {
        if let Some(failure) = &self.topology.device_lost[device] {
            return failure.clone();
        }
        let names = self.topology.device_names.clone();
        let name = names.get(device).map_or("?", String::as_str);
        let error = HalError::new(
            HalErrorKind::Lost,
            format!("{reason}{}", self.timeline.suspects(device)),
        );
        let failure = self.fail("device", &Label::NONE, name, Cause::Backend(error));
        self.topology.note_loss(device, failure.clone());
        failure
    }

    /// A device is gone: everything on its lanes is over and has failed.
    pub(crate) fn lose(&mut self, device: usize, lost: &Lost) {
        let failure = self.loss(device, &lost.reason);
        self.timeline.outlive(device, &self.topology);
        let first = device as u16 * LANES_PER_DEVICE;
        for lane in (first..first + LANES_PER_DEVICE).map(LaneId) {
            self.timeline.lanes[usize::from(lane.0)].held = None;
            while let Some((tick, record, own)) = self.timeline.pop_record(lane, &mut self.outbox) {
                self.outbox.leftovers.extend(own.map(Leftover::Error));
                let spoilt = record.defines || self.timeline.spoilt_from(&record.sources);
                let failed = Failed { failure: failure.clone(), spoilt };
                self.end_placed((lane, tick), record, Some(failed));
            }
            self.timeline.wake_watches(lane, &mut self.outbox);
        }
        self.settle();
        self.outbox.notify = true;
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use crate::engine::null::Null;
    use crate::{Error, Runtime, Shared};
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    /// A tick that failed in two ways failed once, and what comes next on its lane did not.
    #[test]
    fn a_tick_fails_once() {
        let null = Null { held: Some(Arc::default()), ..Null::new(1) };
        let rt = Runtime::builder().backend(null.clone()).build().unwrap();
        let q = rt.queue_on("null:0").unwrap();
        let mut all = [rt.buffer::<u32, 1>(4).unwrap(), rt.buffer::<u32, 1>(4).unwrap()];
        let mut submit = |at: usize| {
            q.submit(|cg| {
                let x = cg.discard(&mut all[at]);
                cg.host_kernel([1], x, |_, _| {});
                Ok(())
            })
            .unwrap()
        };
        let failed = submit(0);
        let enqueued =
            |lane: &crate::engine::null::LaneProgress| lane.enqueued.load(Ordering::Acquire);
        let lane = null.lanes().into_iter().find(|lane| enqueued(lane) == 1).unwrap();
        lane.failing.lock().unwrap().extend([1, 1]);
        lane.ended.store(1, Ordering::Release);
        assert!(failed.wait().is_err());
        let fine = submit(1);
        assert_eq!(enqueued(&lane), 2, "the same lane is idle");
        lane.ended.store(2, Ordering::Release);
        fine.wait().unwrap();
    }

    /// ERR-02: a lane shows the end of an operation before the lane of what it read shows that
    /// one's. The operation is not reported before the other's failure is known, and then fails
    /// with it.
    #[test]
    fn an_operation_is_held_back_until_what_it_waited_for_is_retired() {
        let null = Null { held: Some(Arc::default()), ..Null::new(1) };
        let rt = Runtime::builder().backend(null.clone()).build().unwrap();
        let q = rt.queue_on("null:0").unwrap();
        let [x, y, z] = [0; 3].map(|_| rt.buffer::<u32, 1>(4).unwrap().into_shared());
        let copy = |from: &Shared<u32>, to: &Shared<u32>| {
            q.submit(|cg| {
                let both = (cg.read(from), cg.discard(to));
                cg.host_kernel([1], both, |_, _| {});
                Ok(())
            })
            .unwrap()
        };
        let first = q
            .submit(|cg| {
                let x = cg.discard(&x);
                cg.host_kernel([1], x, |_, _| {});
                Ok(())
            })
            .unwrap();
        // The first of these goes behind what it reads, and the next one to a lane of its own.
        let (beside, consumer) = (copy(&x, &y), copy(&x, &z));
        let enqueued =
            |lane: &crate::engine::null::LaneProgress| lane.enqueued.load(Ordering::Acquire);
        let lanes = null.lanes();
        let source = lanes.iter().find(|lane| enqueued(lane) == 2).unwrap();
        let other = lanes.iter().find(|lane| enqueued(lane) == 1).unwrap();
        other.ended.store(1, Ordering::Release);
        assert!(!consumer.is_done(), "what it read may have failed");
        source.failing.lock().unwrap().push(1);
        source.ended.store(1, Ordering::Release);
        assert!(consumer.is_done(), "nothing holds it back");
        let ids = [first, consumer].map(|event| match event.wait() {
            Err(Error::Failed(failure)) => failure.id(),
            other => panic!("{other:?}"),
        });
        assert_eq!(ids[0], ids[1]);
        source.ended.store(2, Ordering::Release);
        assert!(beside.wait().is_err());
    }
}
