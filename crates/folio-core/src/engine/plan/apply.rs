//! Carries out a [`Plan`]: submits its copies and fills, and says what the pages are from then on.

use crate::engine::lanes::{Filling, Payload};
use crate::engine::ledger::storages::Storages;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::{Body, Ledger, NewOp};
use crate::engine::pages::storage::StorageId;
use crate::engine::pages::storage::StorageState;
use crate::engine::plan::View;
use crate::engine::plan::copies::CopyJob;
use crate::engine::plan::{Copies, Plan, What};
use crate::engine::terms::access::Access;
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::engine::terms::note::Note;
use crate::error::{Cause, Label};
use crate::geom::Box3;
use crate::hal::{CopyRect, FillRect, MemBase, Side};
use crate::order::hazards::{Dep, Deps, Flow, add_dep, tidy};
use crate::order::stamp::{LaneId, Stamp};
use crate::pages::{DomainId, DomainSet};
use crate::report::{Counters, Moves};
use smallvec::{SmallVec, smallvec};
use std::collections::HashSet;

/// Whom a step is for.
#[derive(Clone, Copy)]
pub(crate) struct For<'a> {
    pub(crate) queue: Option<u32>,
    pub(crate) label: &'a Label,
    /// The lane of the command.
    pub(crate) lane: Option<LaneId>,
}

impl StorageState {
    /// Switches that have failed have changed nothing.
    pub(in crate::engine) fn heal_link(&mut self, timeline: &Timeline) {
        if let Some(link) = &mut self.link
            && let Some(before) = self.residency.take_failed_switches(&|s| timeline.outcome(s))
        {
            link.turn = before;
        }
    }

    /// Contents that failed to come are not there; see
    /// [`Residency::heal`](crate::engine::pages::residency::Residency::heal).
    pub(in crate::engine) fn heal(&mut self, pages: &Box3, timeline: &Timeline) {
        if timeline.failures.is_empty() || pages.is_empty() {
            return;
        }
        self.heal_link(timeline);
        let is_spoilt = |stamp| timeline.failures.spoilt(stamp);
        self.torn |= self.residency.heal(pages, &is_spoilt, &|s| timeline.outcome(s));
    }

    /// As [`heal`](Self::heal), for all of its pages.
    pub(in crate::engine) fn heal_all(&mut self, timeline: &Timeline) {
        self.heal(&self.residency.grid.all(), timeline);
    }
}

impl Storages {
    /// Contents of a command's memory that failed to come are not there.
    fn heal(&mut self, accesses: &[Access], raw: &[(StorageId, DomainId)], timeline: &Timeline) {
        for a in accesses {
            let storage = &mut self[a.storage.0];
            storage.heal(&storage.residency.pages(a), timeline);
        }
        for &(id, _) in raw {
            // Later this would take what a raw command writes for what a failed one has left.
            self[id.0].heal_all(timeline);
        }
    }
}

impl View<'_> {
    /// Bytes that would have to be copied to a device for these accesses; bytes that they write and
    /// that are elsewhere; and its load.
    pub(crate) fn residency(&self, device: u16, accesses: &[Access]) -> [u64; 3] {
        let domain = self.topology.devices[usize::from(device)].domain;
        let [mut moved, mut taken] = [0, 0];
        for a in accesses {
            let Some(storage) = self.storages.get(a.storage.0) else { continue };
            let there = Access { domain, place: storage.place(domain), ..*a };
            let bytes = storage.residency.elsewhere(&there, storage.element_bytes);
            (moved, taken) = (moved + bytes[0], taken + bytes[1]);
        }
        let first = usize::from(device * LANES_PER_DEVICE);
        let lanes = &self.timeline.lanes[first..first + usize::from(LANES_PER_DEVICE)];
        [moved, taken, lanes.iter().map(|l| l.issued - l.retired).sum()]
    }
}

impl Ledger {
    /// Brings what a command needs, and adds to `deps` what it comes after. A command that is known
    /// to fail needs nothing.
    pub(crate) fn prepare(
        &mut self,
        accesses: &[Access],
        raw: &[(StorageId, DomainId)],
        who: For<'_>,
        deps: &mut Deps,
    ) {
        if !self.timeline.failures.is_empty() {
            self.storages.heal(accesses, raw, &self.timeline);
            let mut before = deps.clone();
            self.storages.hazard_deps(accesses, &mut before);
            let failed = |d: &Dep| self.timeline.failures.along(d.stamp, d.flow).is_some();
            if before.iter().any(failed) {
                *deps = before;
                return;
            }
        }
        let mut plan = self.plan_of(accesses, raw, deps);
        deps.append(&mut plan.deps);
        self.apply(plan, who, deps);
        self.storages.hazard_deps(accesses, deps);
        for &(id, domain) in raw {
            self.storages[id.0].residency.arrivals(domain, deps);
        }
    }

    /// Plans in memory that is kept for that.
    fn plan_of(
        &mut self,
        accesses: &[Access],
        raw: &[(StorageId, DomainId)],
        before: &Deps,
    ) -> Plan {
        let mut with = std::mem::take(&mut self.planning);
        with.before.clone_from(before);
        let has_home = |access: &Access| self.storages[access.storage.0].home.is_some();
        if !raw.is_empty() || accesses.iter().any(has_home) {
            self.storages.hazard_deps(accesses, &mut with.before);
        }
        let plan = self.view().plan(accesses, raw, &mut with);
        self.planning = with;
        plan
    }

    /// Submits the steps of a plan. Their stamps are added to `deps`.
    pub(crate) fn apply(&mut self, plan: Plan, who: For<'_>, deps: &mut Deps) {
        for step in plan.steps {
            let (id, on, pages) = (step.storage, step.on, step.pages);
            match step.what {
                What::Bring { whole, copies } => {
                    let copy = |mut copies: Copies| {
                        self.storages[id.0].residency.turn_deps(&mut copies.after);
                        self.copy_to(id, on, copies, who)
                    };
                    let stamps: SmallVec<[Stamp; 2]> = copies.into_iter().map(copy).collect();
                    stamps.iter().for_each(|stamp| add_dep(deps, *stamp, true));
                    let residency = &mut self.storages[id.0].residency;
                    residency.mark_current(pages.split_at(whole), on, &stamps);
                }
                What::Zero { spared, mut after } => {
                    self.storages[id.0].residency.turn_deps(&mut after);
                    let stamp = self.zero(id, (on, step.at), (&pages, &spared), after, who);
                    add_dep(deps, stamp, true);
                }
                What::Complete => self.storages[id.0].residency.mark_complete(&pages, on),
                What::Switch { to } => {
                    let stamp = self.switch(id, step.at, to, who);
                    add_dep(deps, stamp, Flow::USES | Flow::TURN);
                }
                What::Lost { from } => {
                    let stamp = self.lose_data(id, &pages, from);
                    add_dep(deps, stamp, true);
                }
            }
        }
    }

    /// The data of these pages were on lost devices only, in these domains. The pages count as
    /// written by a failed operation: so the loss is told once, and ends with the next write of all
    /// of them.
    pub(super) fn lose_data(&mut self, id: StorageId, pages: &[Box3], on: DomainSet) -> Stamp {
        let label = self.storages[id.0].label.clone();
        let names = self.topology.device_names.clone();
        let device = self.topology.lost_device_on(on).and_then(|at| names.get(at));
        let device = device.map_or("?", String::as_str);
        let failure = self.fail("buffer", &label, device, Cause::DataLost);
        let stamp = self.timeline.failed_stamp(failure, &mut self.outbox);
        self.storages[id.0].residency.poison(pages, stamp);
        stamp
    }

    /// Copies boxes of one storage to `domain`.
    fn copy_to(
        &mut self,
        id: StorageId,
        domain: DomainId,
        Copies { from, boxes, after }: Copies,
        who: For<'_>,
    ) -> Stamp {
        let storage = &self.storages[id.0];
        let rects = storage.copies(from, domain, &boxes);
        let grid = &storage.residency.grid;
        let (mut count_of_pages, mut partly) = (0, HashSet::new());
        for elements in &boxes {
            let (pages, inside) = (grid.pages_of(elements), grid.pages_inside(elements));
            count_of_pages += inside.volume() as u64;
            if inside != pages {
                pages.subtract(&inside, |b| partly.extend(b.cells()));
            }
        }
        let count = rects.len() as u64;
        let bytes = rects.iter().map(CopyRect::bytes).sum();
        let pages = count_of_pages + partly.len() as u64;
        self.count(Some(id), who.queue, |c| moves(c, from, domain).add(count, bytes, pages));
        let traced = self.traced.then(|| (self.storages[id.0].label.clone(), after.clone()));
        let before = self.outbox.notes.len();
        let op = CopyJob {
            what: "transfer",
            who,
            timed: false,
            deps: after,
            storages: smallvec![id],
            staging: None,
            defines: true,
        };
        let stamp = self.copy(op, from, domain, rects);
        if let Some((label, after)) = traced {
            let (to, boxes) = (domain, boxes.clone());
            let note = Note::Transfer { label, stamp, after, from, to, boxes, bytes, pages };
            self.outbox.notes.insert(before, note);
        }
        let timeline = &self.timeline;
        if let Some(storage) = self.storages.get_mut(id.0) {
            let known = &|s| timeline.outcome(s);
            storage.residency.mark_copied(&boxes, domain, stamp, known);
        }
        stamp
    }

    /// Gives linked memory to another side.
    pub(in crate::engine) fn switch(
        &mut self,
        id: StorageId,
        device: DomainId,
        to: Side,
        who: For<'_>,
    ) -> Stamp {
        let storage = &self.storages[id.0];
        let (label, bytes) = (storage.label.clone(), storage.bytes() as u64);
        let lane = self.topology.lane_of(device, who.lane);
        let (Some(lane), Some(mem)) = (lane, storage.alloc(device).map(|alloc| alloc.mem)) else {
            return self.nowhere("switch", who.label, [1; 3]);
        };
        let mut after = Deps::new();
        storage.residency.all_deps(&mut after);
        tidy(&mut after);
        let maps = to != Side::Device;
        self.count(Some(id), who.queue, |c| *if maps { &mut c.maps } else { &mut c.unmaps } += 1);
        let traced = self.traced.then(|| after.clone());
        let before = self.outbox.notes.len();
        let stamp = self.submit(NewOp {
            what: if maps { "map" } else { "unmap" },
            label: who.label.clone(),
            queue: who.queue,
            deps: after,
            storages: smallvec![id],
            body: Body::Lane(lane, Payload::Switch(Box::new((mem, bytes, to)))),
            ..NewOp::default()
        });
        if let Some(after) = traced {
            let note = Note::Switch { label, stamp, after, on: device, maps };
            self.outbox.notes.insert(before, note);
        }
        let (storage, timeline) = (&mut self.storages[id.0], &self.timeline);
        if let Some(link) = &mut storage.link {
            let before = link.switched(to);
            storage.residency.mark_switched(stamp, before, &|s| timeline.outcome(s));
        }
        stamp
    }

    /// Zeroes `pages` of a domain in the memory of `at`, but for the elements in `spared`.
    fn zero(
        &mut self,
        id: StorageId,
        (domain, at): (DomainId, DomainId),
        (pages, spared): (&[Box3], &Box3),
        after: Deps,
        who: For<'_>,
    ) -> Stamp {
        let storage = &self.storages[id.0];
        let pitch = storage.pitch();
        let mut boxes: SmallVec<[Box3; 2]> = SmallVec::new();
        for hole in pages {
            let elements = storage.residency.grid.elements_of(hole);
            elements.subtract(spared, |part| boxes.push(part));
        }
        let rects = boxes.iter().filter_map(|part| {
            let (dst, extent) = storage.rect(at, part)?;
            Some(FillRect { dst, pitch, extent })
        });
        let rects: Vec<FillRect> = rects.collect();
        let count = rects.len() as u64;
        let body = match self.topology.lane_of(at, who.lane) {
            Some(lane) => {
                let filling = Filling { rects, pattern: smallvec![0] };
                Body::Lane(lane, Payload::Fill(Box::new(filling)))
            }
            // Host memory that a failed copy may have spoilt, and no device to do it.
            None => Body::Host(Box::new(move || {
                rects.iter().for_each(zero_on_host);
                Ok(())
            })),
        };
        let traced = self.traced.then(|| (storage.label.clone(), after.clone()));
        let before = self.outbox.notes.len();
        let stamp = self.submit(NewOp {
            what: "zero fill",
            label: who.label.clone(),
            queue: who.queue,
            timed: false,
            deps: after,
            storages: smallvec![id],
            staging: None,
            defines: true,
            nodes: None,
            body,
        });
        if let Some((label, after)) = traced {
            let note = Note::Zero { label, stamp, after, on: domain, boxes };
            self.outbox.notes.insert(before, note);
        }
        self.count(Some(id), who.queue, |c| c.zero_fills += count);
        let timeline = &self.timeline;
        if let Some(storage) = self.storages.get_mut(id.0) {
            storage.note_side(at);
            storage.residency.mark_zeroed(pages, domain, stamp, &|s| timeline.outcome(s));
        }
        stamp
    }

    /// The program has written all of an access. Zeroes what lies beside it, and says when that is
    /// done: later uses of the pages depend on it.
    pub(crate) fn surround(&mut self, a: &Access) -> Stamp {
        let storage = &mut self.storages[a.storage.0];
        storage.heal(&storage.residency.pages(a), &self.timeline);
        let label = self.storages[a.storage.0].label.clone();
        let who = For { queue: None, label: &label, lane: None };
        let mut deps = Deps::new();
        let plan = self.view().plan_surroundings(a);
        self.apply(plan, who, &mut deps);
        deps.first().map_or(Stamp::DONE, |dep| dep.stamp)
    }
}

/// The counter of transfers of a direction.
fn moves(counters: &mut Counters, from: DomainId, to: DomainId) -> &mut Moves {
    match (from == DomainId::HOST, to == DomainId::HOST) {
        (true, _) => &mut counters.host_to_device,
        (_, true) => &mut counters.device_to_host,
        (false, false) => &mut counters.device_to_device,
    }
}

/// Zeroes a part of host memory.
pub(in crate::engine) fn zero_on_host(rect: &FillRect) {
    let MemBase::Host(base) = rect.dst.base else { return };
    let [slices, rows, bytes] = rect.extent;
    for slice in 0..slices {
        for row in 0..rows {
            let at = rect.dst.offset + slice * rect.pitch[0] + row * rect.pitch[1];
            // SAFETY: the engine made the rectangle from the allocation, which it keeps alive, and
            // lets no other operation use it meanwhile.
            unsafe { base.0.add(at as usize).write_bytes(0, bytes as usize) };
        }
    }
}
