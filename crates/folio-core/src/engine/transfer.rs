//! Bringing pages to where a command needs them: which are missing there, from where they come, by
//! which lanes; and what never held anything is zeroed.
//!
//! A page is made current on its target together with the stamp of the copy that brings it: whoever
//! uses it next waits for the copy, and for nobody else who uses it.

use super::access::{Access, Mode};
use super::lanes::{Lanes, Payload, Promise};
use super::ledger::{Body, LANES_PER_DEVICE, Ledger, NewOp, outcome};
use super::staging::Staging;
use super::stamp::{LaneId, Stamp};
use super::storage::{Fragment, StorageId};
use super::trace::Note;
use crate::error::{Cause, Label};
use crate::geom::Box3;
use crate::graph::hazards::{Brings, Deps, Outcome, add_dep};
use crate::hal::{CopyRect, FillRect, HalError, Link, MemBase};
use crate::pages::{DomainId, DomainSet, Need, Transfer};
use smallvec::{SmallVec, smallvec};
use std::collections::HashSet;
use std::sync::Arc;

/// With more fragments than this a page that is whole somewhere counts as being there only.
const MOST_FRAGMENTS: usize = 64;

/// Which way a copy takes.
enum Route {
    /// On this lane.
    Direct(LaneId),
    /// To the host on one lane, from there on the other.
    Staged(LaneId, LaneId),
    /// Both ends in host memory, and no device to copy there.
    Host,
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
        let doubted = a.mode == (Mode::Discard { whole: false }) && self.doubt(a, &pages);
        let storage = &self.storages[a.storage.0];
        if !storage.defined.uniform(&pages).is_some_and(|s| s.contains(domain)) {
            let replaced = match a.mode {
                Mode::Discard { whole: true } => storage.grid.pages_inside(&a.elements),
                _ => Box3::EMPTY,
            };
            self.zero(a.storage, (&pages, &replaced), domain, doubted, who, deps);
        }
    }

    /// A discard that may leave elements alone must not come to depend on first data that is still
    /// under way, and may fail: whole pages count as holding nothing yet, and are zeroed after it.
    fn doubt(&mut self, a: &Access, pages: &Box3) -> bool {
        let storage = &mut self.storages[a.storage.0];
        if storage.alloc(a.domain).is_none_or(|alloc| alloc.clean) {
            return false;
        }
        let mut doubted = false;
        let inside = storage.grid.pages_inside(&a.elements).intersect(pages);
        let (hazards, defined) = (&storage.hazards, &mut storage.defined);
        hazards.unsure(&inside, a.domain, |run| {
            defined.update(&run, &mut |_, set| set.without(a.domain));
            doubted = true;
        });
        doubted
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
        let lost = self.lost;
        let storage = &self.storages[id.0];
        let mut needs: SmallVec<[Need; 4]> = SmallVec::new();
        let mut runs: SmallVec<[Box3; 4]> = SmallVec::new();
        let mut gone = DomainSet::EMPTY;
        let mut need = |elements: Box3, all: DomainSet| {
            let sources = all.minus(lost);
            if sources.is_empty() {
                gone = gone.union(all);
            } else {
                needs.push(Need { elements, sources });
            }
            !sources.is_empty()
        };
        storage.tracker.visit(pages, &mut |run, set| {
            if set.is_empty() || set.contains(domain) {
                return;
            }
            let mut need = |pages: Box3, sources| {
                let comes = need(storage.grid.elements_of(&pages), sources);
                runs.extend(comes.then_some(pages));
            };
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
        let mut mixed = storage.mixed_in(pages);
        // Those that are whole somewhere are among the runs.
        mixed.retain(|number| storage.nowhere_whole(*number));
        for number in &mixed {
            let defined = storage.defined.get(storage.page_at(*number));
            for fragment in storage.mixed.get(number).into_iter().flatten() {
                let set = fragment.domains.intersect(defined);
                if !fragment.domains.contains(domain) && !set.is_empty() {
                    need(fragment.elements, set);
                }
            }
        }
        for domain in gone.iter() {
            if let Some(stamp) = self.lost_stamp.get(&domain) {
                add_dep(deps, *stamp, true);
            }
        }
        if !needs.is_empty() && !self.transfer(id, &needs, domain, who, deps) {
            return;
        }
        // By page and not by rectangle: the planner may cut a page in two.
        for run in &runs {
            self.storages[id.0].tracker.insert(run, domain);
        }
        for number in mixed {
            self.whole_again(id, number, domain);
        }
    }

    /// Plans and submits the copies for `needs`; `false` when one has failed already.
    fn transfer(
        &mut self,
        id: StorageId,
        needs: &[Need],
        domain: DomainId,
        who: For<'_>,
        deps: &mut Deps,
    ) -> bool {
        let mut plan = std::mem::take(&mut self.plan);
        let mut planner = std::mem::take(&mut self.planner);
        let bytes = self.storages[id.0].element_bytes;
        planner.plan(needs, bytes, &|from| self.link(from, domain), &mut plan);
        self.planner = planner;
        plan.sort_by_key(|t: &Transfer| t.source);
        let mut fine = true;
        for group in plan.chunk_by(|a, b| a.source == b.source) {
            let boxes: SmallVec<[Box3; 4]> = group.iter().map(|t| t.elements).collect();
            fine &= self.transfer_from(id, group[0].source, &boxes, domain, who, deps);
        }
        plan.clear();
        self.plan = plan;
        fine
    }

    /// Copies boxes of one storage from `source` to `domain`; `false` when that has failed already.
    fn transfer_from(
        &mut self,
        id: StorageId,
        source: DomainId,
        boxes: &[Box3],
        domain: DomainId,
        who: For<'_>,
        deps: &mut Deps,
    ) -> bool {
        let storage = &self.storages[id.0];
        let pitch = storage.pitch();
        let mut rects: SmallVec<[CopyRect; 2]> = SmallVec::new();
        let mut own: Deps = SmallVec::new();
        let mut promises: Vec<Promise> = Vec::new();
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
            promises.push(Promise { storage: id, pages, domain, arrival: true });
            let from = storage.rect(source, elements);
            let to = storage.rect(domain, elements);
            if let (Some((src, extent)), Some((dst, _))) = (from, to) {
                rects.push(CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent });
            }
        }
        let (moved, count) = (rects.iter().map(CopyRect::bytes).sum(), rects.len() as u64);
        let pages = count_of_pages + partly.len() as u64;
        self.count_transfer(id, who.queue, source, domain, [count, moved, pages]);
        let op = CopyJob {
            what: "transfer",
            who,
            timed: false,
            deps: own,
            storages: smallvec![id],
            promises: promises.clone(),
            staging: None,
        };
        let stamp = self.copy(op, source, domain, rects);
        add_dep(deps, stamp, true);
        if self.outcome(stamp) == Outcome::Failed {
            return false;
        }
        let (lanes, slots, failures) = (&self.lanes, &self.slots, &self.failures);
        let storage = self.storages.get_mut(id.0);
        let Some(storage) = storage else { return false };
        for (promise, elements) in promises.iter().zip(boxes) {
            let whole = storage.grid.elements_of(&promise.pages) == *elements;
            let known = &mut |s| outcome(lanes, slots, failures, s);
            let defined = storage.defined.uniform(&promise.pages);
            let held = defined.is_some_and(|set| set.contains(domain));
            let brings = if held { Brings::Data } else { Brings::FirstData };
            storage.hazards.mark_arrival(&promise.pages, domain, stamp, (whole, brings), known);
            storage.defined.update(&promise.pages, &mut |_, set| set.with(domain));
        }
        true
    }

    /// Page `number` is whole on `domain` now. Its fragments are remembered: if the copies fail,
    /// they are what there is.
    fn whole_again(&mut self, id: StorageId, number: usize, domain: DomainId) {
        let storage = &mut self.storages[id.0];
        let page = Box3::cell(storage.page_at(number));
        let Some(fragments) = storage.mixed.get_mut(&number) else { return };
        fragments.iter_mut().for_each(|f| f.domains.insert(domain));
        storage.tracker.set(&page, common(fragments));
    }

    /// Zeroes the pages that hold nothing on `domain`, other than those in `replaced`; `used`: they
    /// may be in use nevertheless.
    fn zero(
        &mut self,
        id: StorageId,
        (pages, replaced): (&Box3, &Box3),
        domain: DomainId,
        used: bool,
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
        let Some(lane) = self.lane_of(domain, who.lane) else { return };
        merge(&mut holes);
        let pitch = storage.pitch();
        let mut rects: SmallVec<[FillRect; 1]> = SmallVec::new();
        let mut promises: Vec<Promise> = Vec::new();
        let mut own: Deps = SmallVec::new();
        for hole in &holes {
            storage.hazards.order_arrivals(hole, domain, &mut own);
            if used || storage.broken {
                storage.hazards.order_all(hole, &mut own);
            }
            if let Some((dst, extent)) = storage.rect(domain, &storage.grid.elements_of(hole)) {
                rects.push(FillRect { dst, pitch, extent });
            }
            promises.push(Promise { storage: id, pages: *hole, domain, arrival: false });
        }
        let count = rects.len() as u64;
        let stamp = self.submit(NewOp {
            what: "zero fill",
            label: who.label.clone(),
            queue: who.queue,
            timed: false,
            deps: own,
            storages: smallvec![id],
            promises,
            staging: None,
            body: Body::Lane(
                lane,
                Payload::Fill { rects: rects.into_vec(), pattern: smallvec![0] },
            ),
        });
        let label = self.storages[id.0].label.clone();
        self.trace(|| Note::Zero { label, on: domain, rects: count });
        self.count(Some(id), who.queue, |c| c.zero_fills += count);
        add_dep(deps, stamp, true);
        if self.outcome(stamp) == Outcome::Failed {
            return;
        }
        let (lanes, slots, failures) = (&self.lanes, &self.slots, &self.failures);
        let Some(storage) = self.storages.get_mut(id.0) else { return };
        for hole in &holes {
            let known = &mut |s| outcome(lanes, slots, failures, s);
            storage.hazards.mark_arrival(hole, domain, stamp, (true, Brings::Zeros), known);
            storage.defined.update(hole, &mut |_, set| set.with(domain));
        }
    }

    /// Bytes that would have to be copied to a device for these accesses, and its load.
    pub(crate) fn residency(&self, device: u16, accesses: &[Access]) -> (u64, u64) {
        let domain = self.devices[usize::from(device)].domain;
        let mut elements = 0;
        for a in accesses.iter().filter(|a| !a.mode.discards()) {
            let Some(storage) = self.storages.get(a.storage.0) else { continue };
            storage.tracker.visit(&a.pages, &mut |run, set| {
                if !set.is_empty() && !set.contains(domain) {
                    let volume = storage.grid.elements_of(&run).volume();
                    elements += volume as u64 * storage.element_bytes as u64;
                }
            });
        }
        let first = usize::from(device * LANES_PER_DEVICE);
        let lanes = &self.lanes[first..first + usize::from(LANES_PER_DEVICE)];
        (elements, lanes.iter().map(|l| l.issued - l.retired).sum())
    }

    /// What a copy from one domain to another costs.
    pub(crate) fn link(&self, from: DomainId, to: DomainId) -> Link {
        let host = |d: DomainId| self.host_links.get(usize::from(d.0)).copied().unwrap_or_default();
        if from == DomainId::HOST {
            return host(to);
        }
        if to == DomainId::HOST {
            return host(from);
        }
        if let Some(link) = self.links.get(&(from, to)) {
            return *link;
        }
        let (a, b) = (host(from), host(to));
        Link {
            bytes_per_us: a.bytes_per_us.min(b.bytes_per_us),
            op_ns: a.op_ns.saturating_add(b.op_ns),
        }
    }

    /// A lane of a device that computes in `domain`: `lane` if that is one.
    fn lane_of(&self, domain: DomainId, lane: Option<LaneId>) -> Option<LaneId> {
        if let Some(lane) = lane
            && self.devices[self.device_of(lane)].domain == domain
        {
            return Some(lane);
        }
        let device = self.domain_device.get(usize::from(domain.0)).copied().flatten()?;
        Some(LaneId(device * LANES_PER_DEVICE))
    }

    fn route(&self, from: DomainId, to: DomainId) -> Route {
        let lane = |domain: DomainId, offset: u16| {
            let device = self.domain_device.get(usize::from(domain.0)).copied().flatten()?;
            let lane = LaneId(device * LANES_PER_DEVICE + offset);
            let lane = self.lane_alias[usize::from(lane.0)];
            self.table.shared(lane).map(|_| lane)
        };
        let (compute, upload, download, peer) = (0, 4, 5, 6);
        let way = if from == to {
            lane(to, compute).map(Route::Direct)
        } else if from == DomainId::HOST {
            lane(to, upload).map(Route::Direct)
        } else if to == DomainId::HOST {
            lane(from, download).map(Route::Direct)
        } else if self.links.contains_key(&(from, to)) {
            lane(to, peer).map(Route::Direct)
        } else {
            lane(from, download).zip(lane(to, upload)).map(|(down, up)| Route::Staged(down, up))
        };
        way.unwrap_or(Route::Host)
    }

    /// Submits a copy, whichever way it takes.
    pub(crate) fn copy(
        &mut self,
        job: CopyJob<'_>,
        from: DomainId,
        to: DomainId,
        rects: SmallVec<[CopyRect; 2]>,
    ) -> Stamp {
        match self.route(from, to) {
            Route::Direct(lane) => {
                self.submit(job.op(Body::Lane(lane, Payload::Copy(rects.into_vec()))))
            }
            Route::Staged(down, up) => self.copy_staged(job, (down, up), &rects),
            Route::Host => self.submit(job.op(Body::Host(Box::new(move || {
                if rects.iter().all(copy_on_host) {
                    return Ok(());
                }
                Err(Cause::Backend(HalError::unsupported("a copy without a device that can")))
            })))),
        }
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

    /// An access that discards parts of pages that are current elsewhere splits those pages.
    pub(crate) fn discard_parts(&mut self, a: &Access, border: &Box3) {
        let domain = a.domain;
        let storage = &mut self.storages[a.storage.0];
        for page in border.cells() {
            let cell = Box3::cell(page);
            let number = storage.page_number(page);
            let elements = storage.grid.elements_of(&cell);
            let covered = elements.intersect(&a.elements);
            let told = storage.tracker.uniform(&cell).unwrap_or(DomainSet::EMPTY);
            let set = told.intersect(storage.defined.get(page));
            let mut old = match storage.mixed.remove(&number) {
                Some(fragments) if fragments.len() <= MOST_FRAGMENTS || set.is_empty() => fragments,
                _ if set.is_empty() => {
                    storage.tracker.set(&cell, DomainSet::of(domain));
                    continue;
                }
                _ => vec![Fragment { elements, domains: set }],
            };
            let mut new = vec![Fragment { elements: covered, domains: DomainSet::of(domain) }];
            for fragment in old.drain(..) {
                fragment.elements.subtract(&covered, |rest| {
                    new.push(Fragment { elements: rest, domains: fragment.domains.union(set) });
                });
            }
            let here = DomainSet::of(domain).intersect(common(&new));
            storage.tracker.set(&cell, here);
            if here.is_empty() {
                storage.mixed.insert(number, new);
            }
        }
    }
}

/// Where all fragments are.
fn common(fragments: &[Fragment]) -> DomainSet {
    let sets = fragments.iter().map(|f| f.domains);
    sets.reduce(DomainSet::intersect).unwrap_or(DomainSet::EMPTY)
}

/// A copy on its way to be submitted.
pub(crate) struct CopyJob<'a> {
    pub(crate) what: &'static str,
    pub(crate) who: For<'a>,
    pub(crate) timed: bool,
    pub(crate) deps: Deps,
    pub(crate) storages: SmallVec<[StorageId; 4]>,
    pub(crate) promises: Vec<Promise>,
    pub(crate) staging: Option<Arc<Staging>>,
}

impl CopyJob<'_> {
    fn op(self, body: Body) -> NewOp {
        NewOp {
            what: self.what,
            label: self.who.label.clone(),
            queue: self.who.queue,
            timed: self.timed,
            deps: self.deps,
            storages: self.storages,
            promises: self.promises,
            staging: self.staging,
            body,
        }
    }
}

/// Copies between two places in host memory; `false` if they are not.
fn copy_on_host(rect: &CopyRect) -> bool {
    let (MemBase::Host(src), MemBase::Host(dst)) = (rect.src.base, rect.dst.base) else {
        return false;
    };
    let [slices, rows, bytes] = rect.extent;
    for slice in 0..slices {
        for row in 0..rows {
            let from = rect.src.offset + slice * rect.src_pitch[0] + row * rect.src_pitch[1];
            let to = rect.dst.offset + slice * rect.dst_pitch[0] + row * rect.dst_pitch[1];
            // SAFETY: the engine checked the rectangle against both allocations, keeps them
            // alive, and lets nobody else write the one or use the other meanwhile.
            unsafe {
                let (from, to) = (src.0.add(from as usize), dst.0.add(to as usize));
                from.copy_to_nonoverlapping(to, bytes as usize);
            }
        }
    }
    true
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
