//! The timeline alone: dependencies, slots and records, without a ledger and without lanes.

use super::*;
use crate::engine::lanes::Payload;
use crate::engine::ledger::Leftover;
use crate::engine::ledger::failures::Failed;
use crate::engine::ledger::records::Record;
use crate::engine::ledger::slots::Ready;
use crate::engine::ledger::topology::tests::topology;
use crate::engine::terms::access::StorageId;
use crate::error::Label;
use crate::hal::{HalError, HalErrorKind};
use crate::order::hazards::{Dep, add_dep};

/// Lanes of three devices: the first two wait for each other, the third is of another backend.
const OWN: LaneId = LaneId(0);
const BESIDE: LaneId = LaneId(8);
const FAR: LaneId = LaneId(16);

struct Rig {
    timeline: Timeline,
    topology: Topology,
    outbox: Outbox,
}

impl Rig {
    fn new() -> Rig {
        let (timeline, outbox) = (Timeline::new(24, 2), Outbox::default());
        Rig { timeline, topology: topology(), outbox }
    }

    /// A new operation under way on a lane, which has nothing but these sources.
    fn issue(&mut self, lane: LaneId, sources: Sources) -> Stamp {
        let record = Record {
            what: "kernel",
            label: Label::NONE,
            queue: None,
            storages: SmallVec::new(),
            sources,
            after: SmallVec::new(),
            slot: None,
            staging: None,
            defines: false,
            nodes: None,
            code: None,
        };
        let stamp = self.timeline.next_stamp(lane);
        let state = &mut self.timeline.lanes[usize::from(lane.0)];
        state.records.push_back(record);
        state.issued += 1;
        stamp
    }

    /// The operations of a lane so far are over.
    fn retire(&mut self, lane: LaneId) {
        while self.timeline.pop_record(lane, &mut self.outbox).is_some() {}
        self.timeline.wake_watches(lane, &mut self.outbox);
    }

    fn fail(&mut self, stamp: Stamp, spoilt: bool) -> Arc<Failure> {
        let failure = Arc::new(Failure::forgotten());
        let failed = Failed { failure: failure.clone(), spoilt };
        self.timeline.mark_failed(stamp, failed, &mut self.outbox);
        failure
    }

    fn sort(&self, op: &NewOp) -> Readiness {
        self.timeline.sort_deps(op, &self.topology)
    }

    /// Defers an operation as `Ledger::submit` does.
    fn defer(&mut self, op: NewOp) -> SlotId {
        let blockers = match self.sort(&op) {
            Readiness::Wait { blockers, failed } => (blockers, failed),
            Readiness::Go { .. } => (SmallVec::new(), None),
        };
        let Rig { timeline, topology, outbox } = self;
        let stamp = timeline.defer(op, (&blockers.0, blockers.1), topology, outbox);
        let When::Unplaced(slot, _) = stamp.when() else { unreachable!("{stamp:?}") };
        slot
    }

    fn next_ready(&mut self) -> Option<(SlotId, Ready)> {
        self.timeline.next_ready(&self.topology, &mut self.outbox)
    }

    /// The slot that is ready, and whether its operation starts.
    fn ready(&mut self) -> Option<(SlotId, bool)> {
        self.next_ready().map(|(slot, ready)| (slot, matches!(ready, Ready::Start(..))))
    }
}

fn op(body: Body, deps: &[(Stamp, Flow)]) -> NewOp {
    let mut all = Deps::new();
    deps.iter().for_each(|(stamp, flow)| add_dep(&mut all, *stamp, *flow));
    NewOp { body, deps: all, ..NewOp::default() }
}

fn on(lane: LaneId, deps: &[(Stamp, Flow)]) -> NewOp {
    op(Body::Lane(lane, Payload::Copy(Vec::new())), deps)
}

fn unplaced(slot: SlotId) -> Stamp {
    Stamp::unplaced(slot, 0)
}

#[test]
fn operation_goes_where_its_lane_can_wait_for_all() {
    let mut rig = Rig::new();
    let [a, b] = [OWN, BESIDE].map(|lane| rig.issue(lane, Sources::default()));
    let Readiness::Go { waits, sources } = rig.sort(&on(OWN, &[(a, Flow::USES), (b, Flow::ORDER)]))
    else {
        panic!("it waits");
    };
    assert_eq!(waits.stamps(), [a, b]);
    assert_eq!(sources.iter().collect::<Vec<_>>(), [a], "order carries no failure");
}

#[test]
fn operation_waits_for_lanes_of_others_and_for_turns() {
    let mut rig = Rig::new();
    let [own, far] = [OWN, FAR].map(|lane| rig.issue(lane, Sources::default()));
    let blockers = |rig: &Rig, op: &NewOp| match rig.sort(op) {
        Readiness::Wait { blockers, failed: None } => blockers.to_vec(),
        _ => panic!("it goes, or fails"),
    };
    let both = on(OWN, &[(own, Flow::USES), (far, Flow::ORDER)]);
    assert_eq!(blockers(&rig, &both), [(far, Flow::ORDER)]);
    let turn = on(OWN, &[(own, Flow::TURN)]);
    assert_eq!(blockers(&rig, &turn), [(own, Flow::TURN)]);
    let on_host = op(Body::Nothing, &[(own, Flow::USES)]);
    assert_eq!(blockers(&rig, &on_host), [(own, Flow::USES)]);
}

/// ERR-02: failure reaches an operation along what it uses, and is known before it runs.
#[test]
fn operation_of_a_failed_one_waits_for_all_else() {
    let mut rig = Rig::new();
    let [a, b] = [OWN, OWN].map(|lane| rig.issue(lane, Sources::default()));
    rig.timeline.lanes[0].retired = 1;
    let failure = rig.fail(a, false);
    let Readiness::Wait { blockers, failed } =
        rig.sort(&on(OWN, &[(a, Flow::USES), (b, Flow::USES)]))
    else {
        panic!("it goes");
    };
    assert_eq!(blockers[..], [(b, Flow::USES)]);
    assert!(failed.is_some_and(|failed| Arc::ptr_eq(&failed, &failure)));
    assert!(matches!(rig.sort(&on(OWN, &[(a, Flow::ORDER)])), Readiness::Go { .. }));
    rig.topology.note_loss(0, failure);
    assert!(matches!(rig.sort(&on(OWN, &[])), Readiness::Wait { failed: Some(_), .. }));
    assert!(matches!(rig.sort(&on(BESIDE, &[])), Readiness::Go { .. }));
}

#[test]
fn deferred_operation_starts_when_its_last_blocker_ends() {
    let mut rig = Rig::new();
    let [own, far] = [OWN, FAR].map(|lane| rig.issue(lane, Sources::default()));
    let slot = rig.defer(on(OWN, &[(own, Flow::USES), (far, Flow::USES)]));
    assert_eq!(rig.outbox.reapers, 1 << 1, "the reaper of what it waits for");
    assert_eq!(rig.ready(), None);
    rig.retire(FAR);
    let Some((ready, Ready::Start(_, waits, _))) = rig.next_ready() else { panic!("it waits") };
    assert_eq!((ready, waits.stamps()), (slot, &[own][..]));
    assert_eq!(rig.ready(), None);
}

#[test]
fn cancelled_operation_ends_after_everything_before_it() {
    let mut rig = Rig::new();
    let [a, b, far] = [OWN, OWN, FAR].map(|lane| rig.issue(lane, Sources::default()));
    let op = || on(OWN, &[(a, Flow::COVERS), (b, Flow::ORDER), (far, Flow::USES)]);
    let slot = rig.defer(op());
    rig.fail(a, true);
    rig.fail(far, false);
    rig.timeline.lanes[0].retired = 1;
    rig.retire(FAR);
    assert_eq!(rig.ready(), None, "b is under way");
    rig.retire(OWN);
    let Some((ready, Ready::Cancel(op))) = rig.next_ready() else { panic!("it starts") };
    assert_eq!(ready, slot);
    let failed = rig.timeline.cancelled(slot, &op);
    assert!(failed.is_some_and(|failed| failed.spoilt), "memory that a has spoilt stays so");
}

#[test]
fn slot_that_gets_a_tick_releases_what_can_wait_for_it() {
    let mut rig = Rig::new();
    let first = rig.timeline.new_slot();
    let after = [(unplaced(first), Flow::USES)];
    let turn = [(unplaced(first), Flow::TURN)];
    let near = rig.defer(on(BESIDE, &after));
    let others = [on(FAR, &after), op(Body::Here, &after), on(OWN, &turn)];
    let others = others.map(|op| rig.defer(op));
    assert_eq!(rig.ready(), None);
    let tick = rig.issue(OWN, Sources::default());
    rig.timeline.note_tick(first, (tick, true), &rig.topology);
    assert_eq!(rig.timeline.resolve(unplaced(first)), tick);
    assert_eq!(rig.timeline.placed_at(unplaced(first)), tick);
    assert_eq!(rig.ready(), Some((near, true)));
    assert_eq!(rig.ready(), None);
    let stay = rig.timeline.slot(first).dependents.iter().map(|(slot, _)| *slot);
    assert_eq!(stay.collect::<Vec<_>>(), others);
}

#[test]
fn failure_of_a_slot_travels_along_flow_only() {
    let mut rig = Rig::new();
    let first = rig.timeline.new_slot();
    let after = |flow| op(Body::Nothing, &[(unplaced(first), flow)]);
    let [uses, order] = [Flow::USES, Flow::ORDER].map(|flow| rig.defer(after(flow)));
    let failed = Failed { failure: Arc::new(Failure::forgotten()), spoilt: false };
    rig.timeline.waiters = 1;
    rig.timeline.finish_slot(first, Some(failed), &mut rig.outbox);
    assert!(rig.outbox.notify);
    assert_eq!(rig.timeline.outcome(unplaced(first)), Outcome::Failed);
    assert_eq!([rig.ready(), rig.ready()], [Some((uses, false)), Some((order, true))]);
}

/// A tick that failed in several ways failed once, by the first. The others may have a payload of
/// the user's, which is dropped without the lock.
#[test]
fn record_comes_with_its_own_failure() {
    let mut rig = Rig::new();
    let _ = [OWN; 2].map(|lane| rig.issue(lane, Sources::default()));
    let errors = ["one", "two"].map(|text| (1, HalError::new(HalErrorKind::Driver, text)));
    rig.timeline.lanes[0].reported.extend(errors);
    let mut next = || {
        let (tick, _, own) = rig.timeline.pop_record(OWN, &mut rig.outbox)?;
        Some((tick, own.map(|error| error.message)))
    };
    assert_eq!(next(), Some((1, Some("one".into()))));
    assert_eq!(next(), Some((2, None)));
    assert_eq!(next(), None);
    assert!(matches!(&rig.outbox.leftovers[..], [Leftover::Error(two)] if &*two.message == "two"));
}

#[test]
fn operation_fails_with_what_it_used_and_with_spoilt_memory_that_it_kept() {
    let mut rig = Rig::new();
    let [used, kept] = [OWN, OWN].map(|lane| rig.issue(lane, Sources::default()));
    let reached = |rig: &Rig, stamp, flow| {
        let mut sources = Sources::default();
        sources.add(stamp, flow);
        rig.timeline.failed_from(&sources).map(|failed| failed.spoilt)
    };
    assert_eq!(reached(&rig, used, Flow::USES), None);
    rig.fail(used, false);
    rig.fail(kept, true);
    assert_eq!(reached(&rig, used, Flow::USES), Some(false));
    assert_eq!(reached(&rig, used, Flow::KEEPS), None);
    assert_eq!(reached(&rig, kept, Flow::KEEPS), Some(true));
}

/// Memory of a lost device's operations may still be in use.
#[test]
fn operations_after_a_loss_come_after_what_is_under_way_elsewhere() {
    let mut rig = Rig::new();
    let [_, beside, far] = [OWN, BESIDE, FAR].map(|lane| rig.issue(lane, Sources::default()));
    rig.timeline.outlive(0, &rig.topology);
    let wake = |rig: &Rig| rig.timeline.wake.iter().map(|dep| dep.stamp).collect::<Vec<_>>();
    assert_eq!(wake(&rig), [beside, far]);
    rig.retire(BESIDE);
    rig.timeline.outlive(2, &rig.topology);
    assert_eq!(wake(&rig), [far, Stamp::placed(OWN, 1)]);
    assert!(rig.timeline.wake.iter().all(|dep: &Dep| dep.flow == Flow::ORDER));
}

#[test]
fn user_of_a_storage_is_on_a_lane_or_in_a_slot() {
    let mut rig = Rig::new();
    let [x, y] = [1, 2].map(|at| StorageId(at, 0));
    let tick = rig.issue(OWN, Sources::default());
    rig.timeline.lanes[0].records[0].storages.push(x);
    let slot =
        rig.defer(NewOp { storages: [y].into_iter().collect(), ..on(FAR, &[(tick, Flow::USES)]) });
    assert_eq!(rig.timeline.user_of(x), Some(tick));
    assert_eq!(rig.timeline.user_of(y), Some(unplaced(slot)));
    let (users, count) = rig.timeline.share_users(y, x);
    assert_eq!((&users[..], count), (&[unplaced(slot)][..], 1));
    rig.retire(OWN);
    assert_eq!(rig.timeline.user_of(x), Some(unplaced(slot)), "it is a user of both by now");
}

#[test]
fn held_lane_leads_to_the_tick_that_holds_it() {
    let mut rig = Rig::new();
    let _ = [OWN, BESIDE].map(|lane| rig.issue(lane, Sources::default()));
    rig.timeline.lanes[0].records[0].after.push(Stamp::placed(BESIDE, 1));
    assert_eq!(rig.timeline.next_wait(OWN), Some((BESIDE, 1)));
    rig.timeline.lanes[0].held = Some((BESIDE, 1));
    assert_eq!(rig.timeline.holder((OWN, 1)), (BESIDE, 1));
    rig.retire(BESIDE);
    assert_eq!(rig.timeline.next_wait(OWN), None);
    assert_eq!(rig.timeline.holder((OWN, 1)), (OWN, 1));
}
