//! Which of a device's lanes takes a kernel, and how far lanes are before one is chosen.

use crate::engine::ledger::Ledger;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::topology::Topology;
use crate::engine::plan::View;
use crate::engine::runs::command::Command;
use crate::engine::terms::access::Access;
use crate::engine::terms::lane::{COMPUTE_LANES, LANES_PER_DEVICE};
use crate::hal::Tick;
use crate::order::hazards::Outcome;
use crate::order::stamp::{LaneId, Stamp, When};
use smallvec::SmallVec;

/// Lanes with so many operations, and more, are asked once for so many how far they are.
const SHORT: usize = 16;

impl Ledger {
    /// Asks lanes how far they are, before a command is submitted. One that follows the last
    /// operation of a lane goes there, whatever the others do, and seldom asks.
    #[inline]
    pub(crate) fn look_for(&mut self, device: u16, command: &Command) {
        let follows = match command.queue.filter(|_| command.in_order) {
            Some(queue) => self.queues.get(queue).map(|queue| queue.last),
            None => {
                let first = command.accesses.first();
                first.and_then(|a| self.storages[a.storage.0].residency.hazards.writer())
            }
        };
        let Some(When::Placed(lane, tick)) = follows.map(Stamp::when) else {
            return self.look_at(device);
        };
        let state = &self.timeline.lanes[usize::from(lane.0)];
        if state.issued != tick || !computes(device, lane) {
            self.look_at(device);
        } else if state.records.len() >= SHORT && tick.is_multiple_of(SHORT as u64) {
            self.poll(lane);
        }
    }

    /// The same for a command of the host. It cannot wait on a lane: a reaper would have to be
    /// woken for what has ended and was not accounted for.
    pub(crate) fn look_for_host(&mut self, command: &Command) {
        let latest = |a: &Access| self.storages[a.storage.0].residency.latest(a);
        let stamps = command.after.iter().copied();
        let stamps: SmallVec<[Stamp; 4]> =
            stamps.chain(command.accesses.iter().filter_map(latest)).collect();
        stamps.into_iter().for_each(|stamp| self.poll_for(stamp));
    }

    /// Asks a device's lanes for kernels how far they are, before something is submitted there:
    /// short ones each time, since they may be idle by now; long ones now and then, so that what is
    /// known of them stays short.
    #[inline]
    pub(crate) fn look_at(&mut self, device: u16) {
        let first = device * LANES_PER_DEVICE;
        for lane in first..first + COMPUTE_LANES {
            let length = self.timeline.lanes[usize::from(lane)].records.len();
            if length > 0 && (length < SHORT || length.is_multiple_of(SHORT)) {
                self.poll(LaneId(lane));
            }
        }
    }
}

impl View<'_> {
    /// The lane for a kernel: where its latest dependency is the last operation; else as
    /// [`Timeline::free_lane`] says.
    pub(super) fn choose_lane(self, device: u16, accesses: &[Access], last: Stamp) -> LaneId {
        let latest = |a: &Access| self.storages[a.storage.0].residency.latest(a);
        let mut near = None;
        let stamps = std::iter::once(last).chain(accesses.iter().take(4).filter_map(latest));
        for stamp in stamps.map(|stamp| self.timeline.resolve(stamp)) {
            let When::Placed(lane, tick) = stamp.when() else { continue };
            if !computes(device, lane) {
                continue;
            }
            if self.timeline.lanes[usize::from(lane.0)].issued == tick {
                return lane;
            }
            if near.is_none() && self.timeline.outcome(stamp) == Outcome::Pending {
                near = Some((lane, tick));
            }
        }
        self.timeline.free_lane(device, near, self.topology)
    }
}

impl Timeline {
    /// An idle lane for a kernel of a device; else that of `near`, something that it has to wait
    /// for, unless much is queued behind that: a wait between lanes costs a driver two calls. Else
    /// the shortest.
    pub(crate) fn free_lane(
        &self,
        device: u16,
        near: Option<(LaneId, Tick)>,
        topology: &Topology,
    ) -> LaneId {
        const MUCH: usize = 64;
        let first = device * LANES_PER_DEVICE;
        let lanes = (first..first + COMPUTE_LANES).map(|lane| {
            let lane = topology.lane_alias[usize::from(lane)];
            (self.lanes[usize::from(lane.0)].records.len(), lane)
        });
        let best = lanes.min_by_key(|(length, _)| *length).unwrap_or((0, LaneId(first)));
        if best.0 == 0 {
            return best.1;
        }
        let behind = |lane: LaneId, tick| self.lanes[usize::from(lane.0)].issued - tick;
        let near = near.filter(|&(lane, tick)| behind(lane, tick) < (best.0 + MUCH) as u64);
        near.map_or(best.1, |(lane, _)| lane)
    }
}

/// True for the lanes on which a device runs kernels.
#[inline]
pub(super) fn computes(device: u16, lane: LaneId) -> bool {
    let first = device * LANES_PER_DEVICE;
    (first..first + COMPUTE_LANES).contains(&lane.0)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::engine::ledger::records::{Record, Sources};
    use crate::engine::ledger::storages::Storages;
    use crate::error::Label;
    use smallvec::SmallVec;
    use std::sync::Arc;

    fn topology() -> Topology {
        Topology::new(Vec::new(), Arc::new([]), Vec::new())
    }

    /// A timeline of one device whose lanes have so many operations under way.
    fn timeline(lengths: [usize; 4]) -> (Timeline, Topology) {
        let mut timeline = Timeline::new(8, 1);
        for (lane, length) in timeline.lanes.iter_mut().zip(lengths) {
            lane.issued = length as u64;
            lane.records.extend((0..length).map(|_| record()));
        }
        let topology = Topology { lane_alias: (0..8).map(LaneId).collect(), ..topology() };
        (timeline, topology)
    }

    fn record() -> Record {
        Record {
            what: "kernel",
            label: Label::NONE,
            queue: None,
            storages: SmallVec::new(),
            sources: Sources::default(),
            after: SmallVec::new(),
            slot: None,
            staging: None,
            defines: false,
            nodes: None,
            code: None,
        }
    }

    fn chosen(lengths: [usize; 4], near: Option<(u16, u64)>) -> u16 {
        let (timeline, topology) = timeline(lengths);
        let near = near.map(|(lane, tick)| (LaneId(lane), tick));
        timeline.free_lane(0, near, &topology).0
    }

    #[test]
    fn kernel_goes_to_an_idle_lane() {
        assert_eq!(chosen([3, 1, 0, 0], None), 2);
        assert_eq!(chosen([3, 1, 0, 2], Some((0, 3))), 2);
    }

    /// A wait between lanes costs a driver two calls.
    #[test]
    fn kernel_stays_behind_what_it_waits_for_unless_much_is_queued_there() {
        assert_eq!(chosen([9, 1, 2, 2], None), 1);
        assert_eq!(chosen([9, 1, 2, 2], Some((0, 9))), 0);
        assert_eq!(chosen([66, 1, 2, 2], Some((0, 2))), 0);
        assert_eq!(chosen([67, 1, 2, 2], Some((0, 2))), 1);
    }

    #[test]
    fn lane_that_is_an_alias_has_the_work_of_another_one() {
        let (timeline, mut topology) = timeline([1, 0, 0, 0]);
        topology.lane_alias[1..4].fill(LaneId(0));
        assert_eq!(timeline.free_lane(0, None, &topology), LaneId(0));
    }

    /// Two operations that follow one another stay on one lane, where no wait is needed.
    #[test]
    fn kernel_follows_the_last_operation_of_its_lane_only() {
        let (timeline, topology) = timeline([3, 0, 9, 9]);
        let storages = Storages::new();
        let view = View { storages: &storages, timeline: &timeline, topology: &topology };
        let after = |lane, tick| view.choose_lane(0, &[], Stamp::placed(LaneId(lane), tick)).0;
        assert_eq!(after(0, 3), 0, "although another lane is idle");
        assert_eq!(after(0, 2), 1, "another operation came behind it");
        assert_eq!(after(4, 1), 1, "a lane for copies");
        assert_eq!(view.choose_lane(0, &[], Stamp::DONE), LaneId(1));
    }

    #[test]
    fn lanes_for_copies_run_no_kernels() {
        let computing = (0..16).filter(|lane| computes(1, LaneId(*lane)));
        assert_eq!(computing.collect::<Vec<_>>(), [8, 9, 10, 11]);
    }
}
