//! The straight way of a kernel, or of a [list](super::list): over storages that are *at rest*
//! where it runs, so that there is nothing to bring, to define or to take apart, after operations
//! for which its lane can wait. One pass does what `run` does in several, and leaves the same.

use crate::engine::lanes::Payload;
use crate::engine::lanes::native::Replaying;
use crate::engine::lanes::port::LaneTable;
use crate::engine::ledger::Ledger;
use crate::engine::ledger::queues::Queues;
use crate::engine::ledger::records::{Record, Sources};
use crate::engine::ledger::storages::Storages;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::topology::Topology;
use crate::engine::pages::storage::{Life, StorageState};
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::lane_choice::computes;
use crate::engine::runs::list::List;
use crate::engine::runs::run::On;
use crate::engine::terms::access::RawMem;
use crate::engine::terms::access::{Access, Mode};
use crate::engine::terms::note::{Note, Plan};
use crate::geom::Box3;
use crate::hal::Tick;
use crate::order::hazards::{Flow, Outcome, RestingPages, tidy};
use crate::order::stamp::{LaneId, Stamp, Waits, When};
use crate::planted::{Plant, Planted};
use crate::report::Moves;
use smallvec::SmallVec;
use std::sync::Arc;

/// What a kernel waits for, as far as it is placed.
#[derive(Default)]
struct Before {
    /// The last tick on each lane.
    ticks: Waits,
    /// Those along which failure travels.
    sources: Sources,
    /// The latest of them; often there is only one.
    last: Stamp,
    /// It writes again what one of them may leave spoilt.
    covers: bool,
}

impl StorageState {
    /// What is known of all pages, if there is nothing to do before a command of this access but to
    /// wait: they are alike, current and defined where it runs, and nobody holds them.
    #[inline]
    fn at_rest(&self, a: &Access) -> Option<RestingPages<'_>> {
        let all = match a.mode {
            Mode::Read | Mode::Update => a.all,
            Mode::Discard { .. } => a.elements == Box3::whole(self.residency.grid.dims),
        };
        let fine = all && self.life == Life::Open && self.guards.is_empty();
        if !fine {
            return None;
        }
        if let Some(link) = &self.link
            && self.side(a.domain).is_some_and(|side| side != link.turn.active)
        {
            return None;
        }
        self.residency.at_rest(self.place(a.domain))
    }
}

impl Ledger {
    /// Takes a command that [`Ledger::run`] would take, if the straight way is open to it, and
    /// tells the lane that is to be drained. Otherwise nothing has changed, and the command has not
    /// been checked.
    pub(crate) fn straight(&mut self, command: &mut Command) -> Option<(Stamp, LaneId)> {
        let (Action::Launch(launch), Some(device)) = (&mut command.action, command.device) else {
            return None;
        };
        if self.shutdown || !command.after.is_empty() || !self.timeline.wake.is_empty() {
            return None;
        }
        if launch.as_ref().is_none_or(|launch| !launch.pointers().is_empty()) {
            return None;
        }
        let mut before = Before::default();
        before.add_queue((command.queue, command.in_order), &self.queues, &self.timeline)?;
        for stamp in &command.behind {
            before.add(*stamp, Flow::ORDER, &self.timeline)?;
        }
        before.add_users(&command.accesses, &self.storages, &self.timeline)?;
        let lane = before.lane(device, &self.timeline, &self.topology)?;
        // From here on there is no way back.
        let plan = if self.traced { Some(self.plan_of_straight(command)) } else { None };
        let payload = self.storages.payload(&mut command.action, &command.accesses)?;
        self.queues.count_launches(command.queue, 1);
        let stamp = self.timeline.next_stamp(lane);
        self.storages.mark_straight(&command.accesses, stamp, (&self.timeline, &self.table));
        let record = Record {
            what: "kernel",
            label: std::mem::take(&mut command.label),
            queue: command.queue,
            storages: command.accesses.iter().map(|a| a.storage).collect(),
            defines: before.covers,
            sources: before.sources,
            after: SmallVec::new(),
            slot: None,
            staging: None,
            nodes: None,
            code: payload.uses().cloned(),
        };
        if let Some(mut plan) = plan {
            plan.stamp = stamp;
            self.trace(|| Note::Plan(plan));
        }
        self.issue(lane, record, before.ticks, command.timed, payload);
        self.queues.note_stamp((command.queue, command.in_order), stamp, &self.timeline);
        #[cfg(test)]
        TAKEN.set(TAKEN.get() + 1);
        Some((stamp, lane))
    }

    /// What a subscriber is told of a command that goes straight: what it would be told in general.
    #[cold]
    fn plan_of_straight(&self, command: &mut Command) -> Box<Plan> {
        let (mut deps, _) = self.deps_by_queue(command);
        self.storages.hazard_deps(&command.accesses, &mut deps);
        tidy(&mut deps);
        command.told(deps, Moves::default())
    }

    /// Takes a list as [`straight`](Self::straight) does a kernel.
    pub(in crate::engine) fn straight_list(
        &mut self,
        on: On<'_>,
        list: &Arc<List>,
        plant: Plant,
    ) -> Option<(Stamp, LaneId)> {
        let uses = list.uses.clone();
        let is_current = list.is_current() || plant.is(Planted::OldVersion);
        if self.shutdown
            || !self.timeline.wake.is_empty()
            || !is_current
            || !self.storages.is_where_it_was(list)
        {
            return None;
        }
        let (queue, mut before) = (Some(on.queue), Before::default());
        before.add_queue((queue, on.in_order), &self.queues, &self.timeline)?;
        for stamp in on.after {
            before.add(*stamp, Flow::USES, &self.timeline)?;
        }
        for stamp in on.behind {
            before.add(*stamp, Flow::ORDER, &self.timeline)?;
        }
        match plant.is(Planted::FirstOnly) {
            true => before.add_users(uses.accesses.get(..1)?, &self.storages, &self.timeline)?,
            false => before.add_users(&uses.accesses, &self.storages, &self.timeline)?,
        }
        list.fixed
            .raw
            .iter()
            .try_for_each(|raw| self.storages.is_ready_by_pointer(raw, &self.timeline))?;
        before.add(list.native.latest(), Flow::ORDER, &self.timeline)?;
        let lane = before.lane(on.device, &self.timeline, &self.topology)?;
        // From here on there is no way back.
        let plan = self.traced.then(|| self.plan_of_straight(&mut list.command_on(on)));
        self.count_list(queue, list);
        let stamp = self.timeline.next_stamp(lane);
        if let Some(mut plan) = plan {
            plan.stamp = stamp;
            self.trace(|| Note::Plan(plan));
        }
        self.storages.mark_straight(&uses.accesses, stamp, (&self.timeline, &self.table));
        for raw in &list.fixed.raw {
            if let Some((id, _)) = self.storages.usm_of(raw) {
                self.storages.note_raw(id, stamp, &self.timeline);
            }
        }
        list.native.note_latest(stamp);
        let record = Record {
            what: "graph",
            label: on.label.clone(),
            queue,
            storages: SmallVec::new(),
            defines: before.covers,
            sources: before.sources,
            after: SmallVec::new(),
            slot: None,
            staging: None,
            nodes: Some(list.clone()),
            code: None,
        };
        let payload = Payload::Replay(Some(Replaying::new(list.clone())));
        self.issue(lane, record, before.ticks, on.timed, payload);
        self.queues.note_stamp((queue, on.in_order), stamp, &self.timeline);
        #[cfg(test)]
        TAKEN.set(TAKEN.get() + 1);
        Some((stamp, lane))
    }
}

impl Before {
    /// What a command of a queue comes after by that.
    #[inline(always)]
    fn add_queue(
        &mut self,
        (queue, in_order): (Option<u32>, bool),
        queues: &Queues,
        timeline: &Timeline,
    ) -> Option<()> {
        let Some(queue) = queue.and_then(|q| queues.get(q)) else { return Some(()) };
        self.add(queue.fence, Flow::ORDER, timeline)?;
        if in_order {
            self.add(queue.last, Flow::ORDER, timeline)?;
        }
        Some(())
    }

    /// What a command with these accesses comes after, whose memory is at rest where it runs.
    #[inline(always)]
    fn add_users(
        &mut self,
        accesses: &[Access],
        storages: &Storages,
        timeline: &Timeline,
    ) -> Option<()> {
        for a in accesses {
            let storage = &storages[a.storage.0];
            let pages = storage.at_rest(a)?;
            storage.alloc(a.domain)?;
            let replaces = a.mode == Mode::Discard { whole: true };
            let (place, switch) = (storage.place(a.domain), storage.residency.switch());
            if switch != Stamp::DONE && timeline.outcome(switch) != Outcome::Fine {
                return None;
            }
            for arrival in pages.arrivals {
                match arrival.is_to(place) && !replaces {
                    true => self.add(arrival.stamp, Flow::USES, timeline)?,
                    false => (timeline.outcome(arrival.stamp) == Outcome::Fine).then_some(())?,
                }
            }
            for writer in pages.older {
                (timeline.outcome(writer.stamp) == Outcome::Fine).then_some(())?;
            }
            let flow = match a.mode {
                Mode::Discard { whole: true } => Flow::COVERS,
                Mode::Discard { whole: false } => Flow::KEEPS,
                Mode::Read | Mode::Update => Flow::USES,
            };
            for writer in pages.writers {
                if writer.domain != place && timeline.outcome(writer.stamp) != Outcome::Fine {
                    return None;
                }
                self.add(writer.stamp, flow, timeline)?;
            }
            if a.mode.writes() {
                for reader in pages.readers {
                    self.add(*reader, Flow::ORDER, timeline)?;
                }
            }
        }
        Some(())
    }

    /// The operation comes after `stamp`; `None` if a lane cannot see to that.
    #[inline(always)]
    fn add(&mut self, stamp: Stamp, flow: Flow, timeline: &Timeline) -> Option<()> {
        if stamp == Stamp::DONE || stamp == self.last {
            return Some(());
        }
        self.add_pending(stamp, flow, timeline)
    }

    #[inline]
    fn add_pending(&mut self, stamp: Stamp, flow: Flow, timeline: &Timeline) -> Option<()> {
        match timeline.outcome(stamp) {
            Outcome::Fine => return Some(()),
            Outcome::Failed => return (flow == Flow::ORDER).then_some(()),
            Outcome::Pending => {}
        }
        if flow.has(Flow::USES) {
            self.last = stamp;
        }
        self.covers |= flow.has(Flow::COVERS);
        let stamp = timeline.resolve(stamp);
        let When::Placed(lane, tick) = stamp.when() else { return None };
        self.ticks.add(lane, tick);
        let sources = &mut self.sources;
        let known = match flow.has(Flow::USES) {
            true => sources.uses.contains(&stamp),
            false => sources.iter().any(|known| known == stamp),
        };
        if !known {
            sources.add(stamp, flow);
        }
        Some(())
    }

    /// The lane of a device for a kernel that comes after these, if it can wait for them.
    #[inline(always)]
    fn lane(&self, device: u16, timeline: &Timeline, topology: &Topology) -> Option<LaneId> {
        let is_tail = |&(lane, tick): &(LaneId, Tick)| {
            computes(device, lane) && timeline.lanes[usize::from(lane.0)].issued == tick
        };
        let lane = match self.ticks.iter().find(|at| is_tail(at)) {
            Some((lane, _)) => lane,
            None => {
                let near = self.ticks.iter().find(|(lane, _)| computes(device, *lane));
                timeline.free_lane(device, near, topology)
            }
        };
        let waits = self.ticks.iter().all(|(other, _)| topology.can_wait(lane, other));
        (topology.device_lost[usize::from(device)].is_none() && waits).then_some(lane)
    }
}

impl Storages {
    /// Nothing is to be brought or waited for in the memory that a pointer names, but what the
    /// program sees to.
    #[cold]
    fn is_ready_by_pointer(&self, raw: &RawMem, timeline: &Timeline) -> Option<()> {
        if !self.is_live(raw) {
            return None;
        }
        let Some((id, domain)) = self.usm_of(raw) else { return Some(()) };
        let storage = &self[id.0];
        let pages = storage.residency.at_rest(storage.place(domain))?;
        let has_ended = |stamp: Stamp| timeline.outcome(stamp) == Outcome::Fine;
        pages.arrivals.iter().all(|arrival| has_ended(arrival.stamp)).then_some(())
    }

    /// What memories are from now on that an operation uses.
    #[inline(always)]
    fn mark_straight(
        &mut self,
        accesses: &[Access],
        stamp: Stamp,
        (timeline, table): (&Timeline, &LaneTable),
    ) {
        let known = &|s| timeline.outcome(s);
        for a in accesses {
            let storage = self.retain_one(a.storage);
            if storage.evict.is_some() && storage.residency.is_under_pressure() {
                table.expect_wait_for(stamp);
            }
            let writes = a.mode.writes().then(|| storage.place(a.domain));
            storage.residency.mark_at_rest(stamp, writes, known);
            if writes.is_some() {
                storage.note_side(a.domain);
            }
        }
    }
}

#[cfg(test)]
thread_local! {
    /// How often a thread's commands went straight.
    static TAKEN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[cfg(all(test, not(loom), not(miri)))]
#[path = "straight_tests.rs"]
mod tests;
