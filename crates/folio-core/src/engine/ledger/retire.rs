//! The end of operations: what completed lanes tell, how failure travels, what is given back.

use crate::engine::kernels::blame::blamed;
use crate::engine::ledger::Outbox;
use crate::engine::ledger::failures::Failed;
use crate::engine::ledger::records::{Record, Sources};
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::{Ledger, Leftover};
use crate::engine::terms::note::Note;
use crate::error::{Cause, Failure, Label};
use crate::hal::{HalError, HalErrorKind, Lost, Tick};
use crate::order::hazards::{Flow, Outcome, add_dep};
use crate::order::stamp::{LaneId, SlotId, Stamp};
use crate::pages::DomainId;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::sync::Arc;

/// How many operations the loss of a device names.
const MOST_SUSPECTS: usize = 4;

impl Timeline {
    /// The failure that reaches an operation that has run.
    fn failure_from(&self, sources: &Sources) -> Option<Arc<Failure>> {
        let used = sources.uses.iter().find_map(|s| self.failures.along(*s, Flow::USES));
        let kept = || sources.keeps.iter().find_map(|s| self.failures.along(*s, Flow::KEEPS));
        used.or_else(kept).cloned()
    }

    fn spoilt_from(&self, sources: &Sources) -> bool {
        sources.iter().any(|stamp| self.failures.spoilt(stamp))
    }

    /// The stamp under which others know an operation: the slot's, if it had to wait in one.
    pub(super) fn known_as(&self, slot: Option<SlotId>, stamp: Stamp) -> Stamp {
        match slot {
            Some(slot) => Stamp::unplaced(slot, self.slots[slot.0 as usize].generation),
            None => stamp,
        }
    }

    /// What may have been the reason for a loss: the first operations on each lane that have not
    /// ended.
    fn suspects(&self, device: usize) -> String {
        let first = device * usize::from(crate::engine::terms::lane::LANES_PER_DEVICE);
        let lanes =
            self.lanes.iter().skip(first).take(crate::engine::terms::lane::LANES_PER_DEVICE.into());
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
    /// What few operations hold goes when they have ended.
    #[cold]
    fn give_back(&mut self, record: &mut Record) {
        self.staging.extend(record.staging.take());
        let unused = record.nodes.take().and_then(Arc::into_inner);
        self.leftovers.extend(unused.map(|nodes| Leftover::Graph(Box::new(nodes))));
        let unused = record.code.take().and_then(Arc::into_inner);
        self.leftovers.extend(unused.map(Leftover::Code));
    }
}

impl Ledger {
    /// Accounts for everything that has completed on a lane. True when there was something.
    pub(crate) fn poll(&mut self, lane: LaneId) -> bool {
        self.poll_up_to(lane, Tick::MAX)
    }

    /// Polls the lane on which a stamp is, or on which something is that it waits for.
    pub(crate) fn poll_for(&mut self, stamp: Stamp) {
        if let Some((lane, _)) = self.timeline.tick_before(stamp) {
            self.poll(lane);
        }
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
        self.table.failures(lane, &mut self.timeline.lanes[at].told);
        let progress = self.retire(lane, end);
        self.settle();
        progress
    }

    /// Accounts for the operations of a lane up to `end`, which have all ended. One that waited for
    /// another lane is held back until that lane is accounted for so far. True when something was
    /// accounted for.
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
            // One of those lanes may have told that the device is lost: then none is left.
            let Some(mut record) = self.timeline.lanes[at].records.pop_front() else { break };
            let tick = self.timeline.lanes[at].retired + 1;
            // A tick that failed in several ways failed once.
            let mut own = None;
            while let Some(told) = self.timeline.lanes[at].told.pop_front_if(|(t, _)| *t <= tick) {
                own.get_or_insert(told);
            }
            self.timeline.lanes[at].retired = tick;
            self.retire_one(lane, tick, &mut record, own.map(|(_, error)| error));
            progress = true;
        }
        self.wake_watches(lane);
        self.timeline.lanes[at].shrink();
        progress
    }

    /// Polls the lanes for which the next operation of a lane waited, no further than needed. One
    /// that does not show that tick holds the operation back. A wait leads to an operation that was
    /// placed earlier, so this recurses no deeper than there are lanes.
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

    fn retire_one(&mut self, lane: LaneId, tick: Tick, record: &mut Record, own: Option<HalError>) {
        // What failed before it is the cause, whatever came of that here.
        let before = match self.timeline.failures.is_empty() {
            true => None,
            false => self.timeline.failure_from(&record.sources),
        };
        // Who has run on spoilt memory has spoilt its own.
        let mut spoilt = before.is_some() && self.timeline.spoilt_from(&record.sources);
        let mut lost = None;
        let failure = match (before, own) {
            (Some(before), own) => {
                self.outbox.leftovers.extend(own.map(Leftover::Error));
                Some(before)
            }
            (None, own) => own.map(|error| {
                spoilt = record.defines;
                if let HalErrorKind::Lost = error.kind {
                    // A call was refused for it, before its lane tells.
                    let device = self.topology.device_of(lane);
                    lost = Some(self.topology.devices[device].domain);
                    return self.note_loss(device, &error.message);
                }
                let names = self.topology.device_names.clone();
                let device = names.get(self.topology.device_of(lane)).map_or("?", String::as_str);
                // A node of a graph fails by its own name.
                let node = record.nodes.as_ref().zip(error.node);
                let node = node.and_then(|(nodes, node)| nodes.name(node));
                let (what, label) = node.map_or((record.what, &record.label), |(w, l)| (*w, l));
                let error = blamed(error, record.code());
                let cause = match &record.nodes {
                    Some(nodes) => nodes.fixed.branches.cause(error),
                    None => Cause::from(error),
                };
                self.fail(what, label, device, cause)
            }),
        };
        if let Some(failure) = &failure {
            let stamp = Stamp::placed(lane, tick);
            let failed = Failed { failure: failure.clone(), spoilt };
            self.mark_failed(stamp, failed);
            self.note(record.queue, failure);
        }
        // Now that this counts as failed: it may have been a change of sides.
        lost.into_iter().for_each(|domain| self.lose_links(domain));
        self.trace_end(lane, tick, record, failure.is_some());
        self.release_of(record);
        if record.staging.is_some() || record.nodes.is_some() || record.code.is_some() {
            self.outbox.give_back(record);
        }
        if let Some(slot) = record.slot {
            self.finish_slot(slot, failure.map(|failure| Failed { failure, spoilt }));
        }
    }

    fn trace_end(&mut self, lane: LaneId, tick: Tick, record: &Record, failed: bool) {
        if self.traced {
            let stamp = self.timeline.known_as(record.slot, Stamp::placed(lane, tick));
            let (what, label) = (record.what, record.label.clone());
            let place = (Some(lane), Some(tick));
            let timed = self.device_times;
            let members = record.nodes.iter().flat_map(|list| list.members());
            for (number, (what, label)) in members.enumerate() {
                let label = label.clone();
                self.trace(|| Note::Member { what, label, stamp, number });
            }
            self.trace(|| Note::Complete { what, label, stamp, place, failed, timed });
        }
    }

    fn wake_watches(&mut self, lane: LaneId) {
        let at = usize::from(lane.0);
        let retired = self.timeline.lanes[at].retired;
        while let Some(first) = self.timeline.lanes[at].wakers.first_entry()
            && *first.key() <= retired
        {
            self.outbox.wakers.extend(first.remove());
        }
        while let Some(Reverse((tick, slot, flow))) =
            self.timeline.lanes[at].watches.peek().copied()
        {
            if tick > retired {
                break;
            }
            self.timeline.lanes[at].watches.pop();
            let failure = match self.timeline.failures.is_empty() {
                true => None,
                false => self.timeline.failures.along(Stamp::placed(lane, tick), flow).cloned(),
            };
            self.timeline.unblock(SlotId(slot), failure.as_ref());
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

    /// What has this stamp is over, and has failed.
    pub(super) fn mark_failed(&mut self, stamp: Stamp, failed: Failed) {
        let over = self.timeline.failures.insert(stamp, failed);
        self.outbox.leftovers.extend(over.map(|failed| Leftover::Failure(failed.failure)));
    }

    /// A command of this queue has failed, by itself or because of others.
    pub(crate) fn note(&mut self, queue: Option<u32>, failure: &Arc<Failure>) {
        let Some(queue) = queue.and_then(|q| self.queues.get_mut(q)) else { return };
        let (timeline, topology) = (&self.timeline, &self.topology);
        queue.note(failure, || {
            let slots = timeline.slots.iter().filter_map(|slot| slot.failed());
            let devices = topology.device_lost.iter().flatten();
            let known = timeline.failures.iter().chain(slots).chain(devices);
            known.map(|failure| failure.id).collect()
        });
    }

    /// The failure that is the loss of a device: one, whoever finds it first. What only the device
    /// has is lost.
    pub(crate) fn loss(&mut self, device: usize, reason: &str) -> Arc<Failure> {
        let failure = self.note_loss(device, reason);
        self.lose_links(self.topology.devices[device].domain);
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
        let domain = self.topology.devices[device].domain;
        if domain != DomainId::HOST {
            self.topology.lost.insert(domain);
        }
        self.topology.device_lost[device] = Some(failure.clone());
        failure
    }

    /// A device is gone: everything on its lanes is over and has failed.
    pub(crate) fn lose(&mut self, device: usize, lost: &Lost) {
        let failure = self.loss(device, &lost.reason);
        let mut wake = std::mem::take(&mut self.timeline.wake);
        wake.retain(|d| self.timeline.outcome(d.stamp) == Outcome::Pending);
        for (at, lane) in self.timeline.lanes.iter().enumerate() {
            let lane_id = LaneId(at as u16);
            if self.topology.device_of(lane_id) != device && !lane.idle() {
                add_dep(&mut wake, Stamp::placed(lane_id, lane.issued), false);
            }
        }
        self.timeline.wake = wake;
        let first = device as u16 * crate::engine::terms::lane::LANES_PER_DEVICE;
        for lane in first..first + crate::engine::terms::lane::LANES_PER_DEVICE {
            self.lose_lane(LaneId(lane), &failure);
        }
        self.settle();
        self.outbox.notify = true;
    }

    fn lose_lane(&mut self, lane: LaneId, failure: &Arc<Failure>) {
        let at = usize::from(lane.0);
        self.timeline.lanes[at].held = None;
        let records: SmallVec<[Record; 4]> = self.timeline.lanes[at].records.drain(..).collect();
        for mut record in records {
            self.timeline.lanes[at].retired += 1;
            let stamp = Stamp::placed(lane, self.timeline.lanes[at].retired);
            let spoilt = record.defines || self.timeline.spoilt_from(&record.sources);
            let failed = Failed { failure: failure.clone(), spoilt };
            self.mark_failed(stamp, failed.clone());
            self.note(record.queue, failure);
            self.trace_end(lane, self.timeline.lanes[at].retired, &record, true);
            self.release_of(&record);
            self.outbox.give_back(&mut record);
            if let Some(slot) = record.slot {
                self.finish_slot(slot, Some(failed));
            }
        }
        self.wake_watches(lane);
        self.timeline.lanes[at].shrink();
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
        let given = |lane: &crate::engine::null::State| lane.given.load(Ordering::Acquire);
        let lane = null.lanes().into_iter().find(|lane| given(lane) == 1).unwrap();
        lane.failing.lock().unwrap().extend([1, 1]);
        lane.ended.store(1, Ordering::Release);
        assert!(failed.wait().is_err());
        let fine = submit(1);
        assert_eq!(given(&lane), 2, "the same lane is idle");
        lane.ended.store(2, Ordering::Release);
        fine.wait().unwrap();
    }

    /// ERR-02: a lane shows the end of an operation before the lane of what it read shows that
    /// one's. It is not reported before the other's failure is known, and then fails with it.
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
        let given = |lane: &crate::engine::null::State| lane.given.load(Ordering::Acquire);
        let lanes = null.lanes();
        let source = lanes.iter().find(|lane| given(lane) == 2).unwrap();
        let other = lanes.iter().find(|lane| given(lane) == 1).unwrap();
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
