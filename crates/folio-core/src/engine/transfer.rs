//! Bringing pages to where a command needs them: which are missing there, and from where they come;
//! and what never held anything is zeroed.
//!
//! A page is made current on its target together with the stamp of the copy that brings it: whoever
//! uses it next waits for the copy, and for nobody else who uses it.

use super::access::{Access, Mode};
use super::copies::CopyJob;
use super::lanes::{Filling, Payload};
use super::ledger::{Body, LANES_PER_DEVICE, Ledger, NewOp};
use super::pieces::Fragment;
use super::storage::StorageId;
use super::trace::Note;
use crate::error::{Cause, Label};
use crate::geom::Box3;
use crate::hal::{CopyRect, FillRect, MemBase};
use crate::order::hazards::{Deps, Outcome, add_dep};
use crate::order::stamp::{LaneId, Stamp};
use crate::pages::{DomainId, DomainSet, Need, Transfer};
use smallvec::{SmallVec, smallvec};
use std::collections::HashSet;

/// What is outdated in a memory.
pub(crate) struct Outdated {
    pub(crate) needs: SmallVec<[Need; 4]>,
    /// The pages that it needs whole.
    runs: SmallVec<[Box3; 4]>,
    /// Pages that only lost devices have, and where those have them.
    pub(crate) gone: SmallVec<[Box3; 1]>,
    gone_on: DomainSet,
}

/// Whom a transfer is for.
#[derive(Clone, Copy)]
pub(crate) struct For<'a> {
    pub(crate) queue: Option<u32>,
    pub(crate) label: &'a Label,
    /// The lane of the command.
    pub(crate) lane: Option<LaneId>,
}

impl Ledger {
    /// Makes the pages of an access usable on `domain`. What the command must wait for beyond its
    /// hazards is added to `deps`.
    pub(crate) fn bring(&mut self, a: &Access, who: For<'_>, deps: &mut Deps) {
        let domain = a.domain;
        let (storage, pages) = (&self.storages[a.storage.0], a.pages);
        if pages.is_empty() {
            return;
        }
        if !a.mode.discards() {
            let here = storage.tracker.uniform(&pages).is_some_and(|s| s.contains(domain));
            if !here {
                self.bring_current(a.storage, &pages, domain, who, deps);
            }
        }
        let storage = &self.storages[a.storage.0];
        if !storage.defined.uniform(&pages).is_some_and(|s| s.contains(domain)) {
            self.complete_pieces(a, &pages, who, deps);
            let storage = &self.storages[a.storage.0];
            let replaced = match a.mode {
                Mode::Discard { whole: true } => storage.grid.pages_inside(&a.elements),
                Mode::Read | Mode::Update | Mode::Discard { whole: false } => Box3::EMPTY,
            };
            self.zero(a.storage, (&pages, &replaced, &Box3::EMPTY), domain, who, deps);
        }
    }

    /// After a copy that failed, some pieces of a page may be here and its memory not be defined.
    /// It is not zeroed then, unless all of it is discarded: what is missing is brought. A discard
    /// of a part of it counts as an update.
    fn complete_pieces(&mut self, a: &Access, pages: &Box3, who: For<'_>, deps: &mut Deps) {
        let (domain, storage) = (a.domain, &self.storages[a.storage.0]);
        let discarded = match a.mode.discards() {
            true => storage.grid.pages_inside(&a.elements),
            false => Box3::EMPTY,
        };
        let (mut undefined, on) = (Vec::new(), |f: &Fragment| f.on().contains(domain));
        storage.pieces.visit(pages, &mut |run, fragments| {
            if fragments.iter().any(on) {
                storage.defined.visit(&run, &mut |run, set: DomainSet| {
                    if !set.contains(domain) {
                        run.subtract(&discarded, |run| undefined.extend(run.cells()));
                    }
                });
            }
        });
        for page in undefined {
            let (storage, page) = (&self.storages[a.storage.0], Box3::cell(page));
            let mut writers: Deps = SmallVec::new();
            storage.hazards.read_deps(&page, domain, &mut writers);
            if writers.iter().any(|d| self.timeline.outcome(d.stamp) == Outcome::Failed) {
                // What it holds is not to be seen before all of it is written.
                continue;
            }
            if a.mode.discards() {
                deps.append(&mut writers);
                self.bring_current(a.storage, &page, domain, who, deps);
            }
            let storage = &mut self.storages[a.storage.0];
            if storage.tracker.uniform(&page).is_some_and(|set| set.contains(domain)) {
                storage.defined.update(&page, &mut |_, set| set.with(domain));
            }
        }
    }

    /// Copies what is outdated on `domain`.
    fn bring_current(
        &mut self,
        id: StorageId,
        pages: &Box3,
        domain: DomainId,
        who: For<'_>,
        deps: &mut Deps,
    ) {
        let Outdated { needs, runs, gone, gone_on } = self.outdated(id, pages, domain);
        if !gone.is_empty() {
            return self.lose_data(id, &gone, gone_on, deps);
        }
        if needs.is_empty() {
            return;
        }
        let stamps = self.transfer(id, &needs, domain, who, deps);
        // By page and not by rectangle: the planner may cut a page in two.
        for run in &runs {
            let storage = &mut self.storages[id.0];
            storage.tracker.insert(run, domain);
            storage.hazards.replaced(run, domain);
        }
        self.gather(id, pages, domain, &stamps);
    }

    /// What `domain` lacks of `pages`.
    pub(crate) fn outdated(&self, id: StorageId, pages: &Box3, domain: DomainId) -> Outdated {
        let lost = self.topology.lost;
        let storage = &self.storages[id.0];
        let (mut needs, mut runs, mut gone) = (SmallVec::new(), SmallVec::new(), SmallVec::new());
        let mut gone_on = DomainSet::EMPTY;
        storage.tracker.visit(pages, &mut |run, set| {
            if set.is_empty() || set.contains(domain) {
                return;
            }
            let mut need = |pages: Box3, all: DomainSet| {
                let sources = all.minus(lost);
                if sources.is_empty() {
                    gone_on = gone_on.union(all);
                    return gone.push(pages);
                }
                needs.push(Need { elements: storage.grid.elements_of(&pages), sources });
                runs.push(pages);
            };
            storage.pieces.visit(&run, &mut |run, fragments| {
                if !fragments.is_empty() {
                    return;
                }
                if !storage.tracker.is_foreign() {
                    return need(run, set);
                }
                // A user's tracker may name a domain that holds nothing: such a source is none.
                storage.defined.visit(&run, &mut |part, defined: DomainSet| {
                    let real = set.intersect(defined);
                    if !real.is_empty() {
                        storage.unheld(&part, domain, &mut |part| need(part, real));
                    }
                });
            });
        });
        // Of pages in pieces only what is missing is written, even if some domain has all of it:
        // should the copies that brought it there fail, nothing is lost.
        storage.pieces.visit(pages, &mut |run, fragments| {
            for fragment in fragments {
                let all = fragment.on();
                let sources = all.minus(lost);
                if all.is_empty() || all.contains(domain) {
                    // Nobody: who wrote it has failed, and so does this command.
                } else if sources.is_empty() {
                    gone_on = gone_on.union(all);
                    gone.push(run);
                } else {
                    let part = &fragment.elements;
                    let need = &mut |elements| needs.push(Need { elements, sources });
                    storage.grid.parts_of(&run, part, need);
                }
            }
        });
        Outdated { needs, runs, gone, gone_on }
    }

    /// What these pages held was on lost devices only, in these domains. That counts as written by
    /// somebody who has failed, so that it is told once, and ends with the next write of
    /// everything.
    fn lose_data(&mut self, id: StorageId, pages: &[Box3], on: DomainSet, deps: &mut Deps) {
        let label = self.storages[id.0].label.clone();
        let had = |at: &usize| {
            self.topology.device_lost[*at].is_some()
                && on.contains(self.topology.devices[*at].domain)
        };
        let (names, device) =
            (self.topology.device_names.clone(), (0..self.topology.devices.len()).find(had));
        let device = device.and_then(|at| names.get(at)).map_or("?", String::as_str);
        let failure = self.fail("buffer", &label, device, Cause::DataLost);
        let stamp = self.stamp_of(failure);
        let hazards = &mut self.storages[id.0].hazards;
        pages.iter().for_each(|pages| hazards.poison(pages, stamp));
        add_dep(deps, stamp, true);
    }

    /// Plans and submits the copies for `needs`.
    fn transfer(
        &mut self,
        id: StorageId,
        needs: &[Need],
        domain: DomainId,
        who: For<'_>,
        deps: &mut Deps,
    ) -> SmallVec<[Stamp; 2]> {
        let plan = self.plan(id, needs, domain);
        let mut stamps = SmallVec::new();
        for group in plan.chunk_by(|a, b| a.source == b.source) {
            let boxes: SmallVec<[Box3; 4]> = group.iter().map(|t| t.elements).collect();
            let stamp = self.transfer_from(id, group[0].source, &boxes, domain, who);
            add_dep(deps, stamp, true);
            stamps.push(stamp);
        }
        self.plan = plan;
        stamps
    }

    /// Where the needs of `domain` are served from, by source. Put it back where it lay, for the
    /// next one.
    pub(crate) fn plan(
        &mut self,
        id: StorageId,
        needs: &[Need],
        domain: DomainId,
    ) -> Vec<Transfer> {
        let mut plan = std::mem::take(&mut self.plan);
        let mut planner = std::mem::take(&mut self.planner);
        let bytes = self.storages[id.0].element_bytes;
        planner.plan(needs, bytes, &|from| self.topology.link(from, domain), &mut plan);
        self.planner = planner;
        plan.sort_by_key(|t: &Transfer| t.source);
        plan
    }

    /// Copies boxes of one storage from `source` to `domain`.
    fn transfer_from(
        &mut self,
        id: StorageId,
        source: DomainId,
        boxes: &[Box3],
        domain: DomainId,
        who: For<'_>,
    ) -> Stamp {
        let storage = &self.storages[id.0];
        let rects = storage.copies(source, domain, boxes);
        let mut own: Deps = SmallVec::new();
        let (mut count_of_pages, mut partly) = (0, HashSet::new());
        for elements in boxes {
            let pages = storage.grid.pages_of(elements);
            storage.hazards.read_deps(&pages, source, &mut own);
            storage.hazards.order_arrivals(&pages, domain, &mut own);
            if storage.broken || storage.tracker.is_foreign() {
                // A user's tracker may have called pages outdated that are in use.
                storage.hazards.order_all(&pages, &mut own);
            }
            let inside = storage.grid.pages_inside(elements);
            count_of_pages += inside.volume() as u64;
            if inside != pages {
                pages.subtract(&inside, |b| partly.extend(b.cells()));
            }
        }
        let count = rects.len() as u64;
        let moved = rects.iter().map(CopyRect::bytes).sum();
        let pages = count_of_pages + partly.len() as u64;
        self.count_transfer(id, who.queue, source, domain, [count, moved, pages]);
        let op = CopyJob {
            what: "transfer",
            who,
            timed: false,
            deps: own,
            storages: smallvec![id],
            staging: None,
            defines: true,
        };
        let stamp = self.copy(op, source, domain, rects);
        let timeline = &self.timeline;
        let Some(storage) = self.storages.get_mut(id.0) else { return stamp };
        for elements in boxes {
            let pages = storage.grid.pages_of(elements);
            let whole = storage.grid.elements_of(&pages) == *elements;
            let known = &mut |s| timeline.outcome(s);
            storage.hazards.mark_arrival(&pages, domain, stamp, (whole, true), known);
            storage.defined.update(&pages, &mut |_, set| set.with(domain));
        }
        stamp
    }

    /// Zeroes the pages that hold nothing on `domain`, other than those in `replaced`, and but for
    /// the elements in `spared`.
    fn zero(
        &mut self,
        id: StorageId,
        (pages, replaced, spared): (&Box3, &Box3, &Box3),
        domain: DomainId,
        who: For<'_>,
        deps: &mut Deps,
    ) {
        let storage = &self.storages[id.0];
        let mut holes: SmallVec<[Box3; 4]> = SmallVec::new();
        storage.defined.visit(pages, &mut |run, set: DomainSet| {
            if !set.contains(domain) {
                run.subtract(replaced, |part| holes.push(part));
            }
        });
        if holes.is_empty() {
            return;
        }
        merge(&mut holes);
        let pitch = storage.pitch();
        let mut rects: Vec<FillRect> = Vec::new();
        let mut own: Deps = SmallVec::new();
        if storage.home.is_some() {
            // Raw commands use it, too. Those that the program lets run beside this command do not
            // touch what it touches; but this touches everything.
            deps.iter().for_each(|d| add_dep(&mut own, d.stamp, false));
            storage.raw.iter().for_each(|stamp| add_dep(&mut own, *stamp, false));
        }
        for hole in &holes {
            storage.hazards.order_arrivals(hole, domain, &mut own);
            if storage.broken {
                storage.hazards.order_all(hole, &mut own);
            }
            storage.grid.elements_of(hole).subtract(spared, |part| {
                let rect = storage.rect(domain, &part);
                rects.extend(rect.map(|(dst, extent)| FillRect { dst, pitch, extent }));
            });
        }
        let count = rects.len() as u64;
        let body = match self.topology.lane_of(domain, who.lane) {
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
        let stamp = self.submit(NewOp {
            what: "zero fill",
            label: who.label.clone(),
            queue: who.queue,
            timed: false,
            deps: own,
            storages: smallvec![id],
            staging: None,
            defines: true,
            body,
        });
        let label = self.storages[id.0].label.clone();
        self.trace(|| Note::Zero { label, on: domain, rects: count });
        self.count(Some(id), who.queue, |c| c.zero_fills += count);
        add_dep(deps, stamp, true);
        let timeline = &self.timeline;
        let Some(storage) = self.storages.get_mut(id.0) else { return };
        for hole in &holes {
            let known = &mut |s| timeline.outcome(s);
            storage.hazards.mark_arrival(hole, domain, stamp, (true, false), known);
            storage.defined.update(hole, &mut |_, set| set.with(domain));
        }
    }

    /// Memory of USM that is used raw is defined first, as nobody sees what becomes of it then.
    /// Adds to `deps` what must be done before.
    pub(crate) fn define(
        &mut self,
        (id, domain): (StorageId, DomainId),
        who: For<'_>,
        deps: &mut Deps,
    ) {
        let storage = &self.storages[id.0];
        if storage.home != Some(domain) {
            return;
        }
        let all = storage.grid.all();
        // Later this would take what a raw command writes for what a failed one has left.
        self.heal(id, &all);
        self.zero(id, (&all, &Box3::EMPTY, &Box3::EMPTY), domain, who, deps);
        self.storages[id.0].hazards.order_arrivals(&all, domain, deps);
    }

    /// Something that nobody sees has written all of an access: what is beside it, in pages that
    /// hold nothing else where it is, is zeroed. Says when that is done: whoever uses the pages
    /// relies on it.
    pub(crate) fn surround(&mut self, a: &Access) -> Stamp {
        self.heal(a.storage, &a.pages);
        let label = self.storages[a.storage.0].label.clone();
        let who = For { queue: None, label: &label, lane: None };
        let inside = self.storages[a.storage.0].grid.pages_inside(&a.elements);
        let mut deps = Deps::new();
        self.zero(a.storage, (&a.pages, &inside, &a.elements), a.domain, who, &mut deps);
        deps.first().map_or(Stamp::DONE, |dep| dep.stamp)
    }

    /// Bytes that would have to be copied to a device for these accesses; bytes that they write and
    /// that are elsewhere; and its load.
    pub(crate) fn residency(&self, device: u16, accesses: &[Access]) -> [u64; 3] {
        let domain = self.topology.devices[usize::from(device)].domain;
        let [mut moved, mut taken] = [0, 0];
        for a in accesses {
            let Some(storage) = self.storages.get(a.storage.0) else { continue };
            storage.tracker.visit(&a.pages, &mut |run, set| {
                if !set.is_empty() && !set.contains(domain) {
                    let volume = storage.grid.elements_of(&run).volume();
                    let bytes = volume as u64 * storage.element_bytes as u64;
                    moved += if a.mode.discards() { 0 } else { bytes };
                    taken += if a.mode.writes() { bytes } else { 0 };
                }
            });
        }
        let first = usize::from(device * LANES_PER_DEVICE);
        let lanes = &self.timeline.lanes[first..first + usize::from(LANES_PER_DEVICE)];
        [moved, taken, lanes.iter().map(|l| l.issued - l.retired).sum()]
    }

    fn count_transfer(
        &mut self,
        id: StorageId,
        queue: Option<u32>,
        from: DomainId,
        to: DomainId,
        [ops, bytes, pages]: [u64; 3],
    ) {
        let label = self.storages[id.0].label.clone();
        self.trace(|| Note::Transfer { label, from, to, rects: ops, bytes, pages });
        self.count(Some(id), queue, |c| {
            let moves = match (from == DomainId::HOST, to == DomainId::HOST) {
                (true, _) => &mut c.host_to_device,
                (_, true) => &mut c.device_to_host,
                _ => &mut c.device_to_device,
            };
            moves.add(ops, bytes, pages);
        });
    }
}

/// Zeroes a part of host memory.
fn zero_on_host(rect: &FillRect) {
    let MemBase::Host(base) = rect.dst.base else { return };
    let [slices, rows, bytes] = rect.extent;
    for slice in 0..slices {
        for row in 0..rows {
            let at = rect.dst.offset + slice * rect.pitch[0] + row * rect.pitch[1];
            // SAFETY: the engine made the rectangle from the allocation, which it keeps alive, and
            // lets nobody else use it meanwhile.
            unsafe { base.0.add(at as usize).write_bytes(0, bytes as usize) };
        }
    }
}

/// Joins boxes that touch, one pass per neighbour.
fn merge(boxes: &mut SmallVec<[Box3; 4]>) {
    let mut out: SmallVec<[Box3; 4]> = SmallVec::new();
    for b in boxes.drain(..) {
        match out.last_mut().and_then(|last| last.joined(&b).map(|j| (last, j))) {
            Some((last, joined)) => *last = joined,
            None => out.push(b),
        }
    }
    *boxes = out;
}
