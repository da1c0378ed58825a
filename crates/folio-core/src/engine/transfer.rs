//! Bringing pages to where a command needs them: which are missing there, from where they come, by
//! which lanes; and what never held anything is zeroed.
//!
//! A page is made current on its target together with the stamp of the copy that brings it: whoever
//! uses it next waits for the copy, and for nobody else who uses it.

use super::access::{Access, Mode};
use super::lanes::{Payload, Promise};
use super::ledger::{Body, LANES_PER_DEVICE, Ledger, NewOp, outcome};
use super::staging::Staging;
use super::stamp::{LaneId, Stamp};
use super::storage::{Fragment, StorageId};
use crate::error::Label;
use crate::geom::Box3;
use crate::graph::hazards::{Deps, Outcome, add_dep};
use crate::hal::{CopyRect, FillRect, Link, MemBase, MemRef};
use crate::pages::{DomainId, DomainSet, Need, Transfer};
use smallvec::{SmallVec, smallvec};
use std::collections::HashSet;
use std::sync::Arc;

/// How much of a staged copy is under way through one piece of host memory, and how many pieces.
const CHUNK: usize = 4 << 20;
const PIECES: usize = 4;

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
    /// The lane of the command, for fills.
    pub(crate) lane: Option<LaneId>,
}

impl Ledger {
    /// Makes the pages of an access usable on `domain`. What the command must wait for beyond its
    /// hazards is added to `deps`.
    pub(crate) fn bring(&mut self, a: &Access, who: For<'_>, deps: &mut Deps) {
        let domain = a.domain;
        let storage = &self.storages[a.storage.0];
        let pages = storage.grid.pages_of(&a.elements);
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
            self.zero(a, &pages, who, deps);
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
        let mixed = storage.mixed_in(pages);
        storage.tracker.visit(pages, &mut |run, set| {
            let run = run.intersect(pages);
            if !set.is_empty() && !set.contains(domain) && !run.is_empty() {
                storage.without(run, &mixed, |run| {
                    let comes = need(storage.grid.elements_of(&run), set);
                    runs.extend(comes.then_some(run));
                });
            }
        });
        // Of those only what is missing is written, even if some domain has all of it: should that
        // copy have failed, nothing is lost.
        for number in &mixed {
            for fragment in storage.mixed.get(number).into_iter().flatten() {
                if !fragment.on().contains(domain) {
                    need(fragment.elements, fragment.on());
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
        let mut promises: SmallVec<[Promise; 1]> = SmallVec::new();
        let (mut count_of_pages, mut partly) = (0, HashSet::new());
        for elements in boxes {
            let pages = storage.grid.pages_of(elements);
            storage.hazards.read_deps(&pages, source, &mut own);
            storage.hazards.order_arrivals(&pages, domain, &mut own);
            if storage.broken {
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
            storage.hazards.mark_copy(&promise.pages, domain, stamp, whole, known);
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
        // One that was on lost devices only does not come.
        let comes = |f: &&mut Fragment| {
            !f.domains.contains(domain) && !f.on().minus(self.lost).is_empty()
        };
        fragments.iter_mut().filter(comes).for_each(|f| f.arriving.insert(domain));
        storage.tracker.set(&page, common(fragments));
    }

    /// Zeroes what the pages of an access do not hold where it is, other than what it replaces.
    fn zero(&mut self, a: &Access, pages: &Box3, who: For<'_>, deps: &mut Deps) {
        let (id, domain) = (a.storage, a.domain);
        let grid = self.storages[id.0].grid;
        let replaced = match a.mode {
            Mode::Discard { whole: true } => grid.pages_inside(&a.elements),
            _ => Box3::EMPTY,
        };
        let discarded = if a.mode.discards() { a.elements } else { Box3::EMPTY };
        let storage = &self.storages[id.0];
        let mut holes: SmallVec<[Box3; 4]> = SmallVec::new();
        storage.defined.visit(pages, &mut |run, set: DomainSet| {
            if !set.contains(domain) {
                run.subtract(&replaced, |part| holes.push(part));
            }
        });
        if holes.is_empty() {
            return;
        }
        merge(&mut holes);
        let pitch = storage.pitch();
        let mut rects: SmallVec<[FillRect; 1]> = SmallVec::new();
        // Of which something was left alone that may be a failed command's.
        let mut unsure: SmallVec<[Box3; 1]> = SmallVec::new();
        let mut promises: SmallVec<[Promise; 1]> = SmallVec::new();
        let mut own: Deps = SmallVec::new();
        for hole in &holes {
            storage.hazards.order_arrivals(hole, domain, &mut own);
            if storage.broken {
                storage.hazards.order_all(hole, &mut own);
            }
            let mut fill = |elements: &Box3| {
                if let Some((dst, extent)) =
                    storage.rect(domain, elements).filter(|_| !elements.is_empty())
                {
                    rects.push(FillRect { dst, pitch, extent });
                }
            };
            let mixed = storage.mixed_in(hole);
            storage.without(*hole, &mixed, |run| fill(&storage.grid.elements_of(&run)));
            // After a copy that failed, the fragments that were there are there still.
            for number in &mixed {
                let mut kept = false;
                for f in storage.mixed.get(number).into_iter().flatten() {
                    let here = f.on().contains(domain);
                    fill(&if here { f.elements.intersect(&discarded) } else { f.elements });
                    kept |= here && !discarded.contains(&f.elements);
                }
                unsure.extend(kept.then(|| Box3::cell(storage.page_at(*number))));
            }
            promises.push(Promise { storage: id, pages: *hole, domain, arrival: false });
        }
        let count = rects.len() as u64;
        let body = match who.lane {
            _ if rects.is_empty() => Body::Nothing,
            Some(lane) => Body::Lane(lane, Payload::Fill { rects, pattern: smallvec![0] }),
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
            promises,
            staging: None,
            body,
        });
        self.count(Some(id), who.queue, |c| c.zero_fills += count);
        add_dep(deps, stamp, true);
        if self.outcome(stamp) == Outcome::Failed {
            return;
        }
        let (lanes, slots, failures) = (&self.lanes, &self.slots, &self.failures);
        let Some(storage) = self.storages.get_mut(id.0) else { return };
        for hole in &holes {
            let known = &mut |s| outcome(lanes, slots, failures, s);
            storage.hazards.mark_arrival(hole, domain, stamp, true, known);
            storage.defined.update(hole, &mut |_, set| set.with(domain));
        }
        for page in &unsure {
            storage.defined.update(page, &mut |_, set: DomainSet| set.without(domain));
        }
    }

    /// Bytes that would have to be copied to a device for these accesses, and its load.
    pub(crate) fn residency(&self, device: u16, accesses: &[Access]) -> (u64, u64) {
        let domain = self.devices[usize::from(device)].domain;
        let mut elements = 0;
        for a in accesses.iter().filter(|a| !a.mode.discards()) {
            let Some(storage) = self.storages.get(a.storage.0) else { continue };
            storage.tracker.visit(&storage.grid.pages_of(&a.elements), &mut |run, set| {
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

    fn route(&self, from: DomainId, to: DomainId) -> Route {
        let lane = |domain: DomainId, offset: u16| {
            let device = self.domain_device.get(usize::from(domain.0)).copied().flatten()?;
            let lane = LaneId(device * LANES_PER_DEVICE + offset);
            Some(self.lane_alias[usize::from(lane.0)])
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
            Route::Direct(lane) => self.submit(job.op(Body::Lane(lane, Payload::Copy(rects)))),
            Route::Staged(down, up) => self.copy_staged(job, down, up, rects),
            Route::Host => self.submit(job.op(Body::Host(Box::new(move || {
                rects.iter().for_each(copy_on_host);
                Ok(())
            })))),
        }
    }

    /// Copies by way of the host, in pieces, so that one piece comes while another one goes.
    fn copy_staged(
        &mut self,
        job: CopyJob<'_>,
        down: LaneId,
        up: LaneId,
        rects: SmallVec<[CopyRect; 2]>,
    ) -> Stamp {
        let mut pieces: Vec<CopyRect> = Vec::new();
        rects.iter().for_each(|r| cut(r, CHUNK as u64, &mut pieces));
        let mut stops: SmallVec<[(Arc<Staging>, Stamp); PIECES]> = SmallVec::new();
        let mut last = Stamp::DONE;
        let count = pieces.len();
        for (at, piece) in pieces.into_iter().enumerate() {
            let free = if stops.len() < PIECES {
                let Some(staging) = Staging::new(CHUNK.min(rects_bytes(&rects)).max(1)) else {
                    return self.failed_stamp(job.what, job.who.label, "host", piece.bytes());
                };
                stops.push((Arc::new(staging), Stamp::DONE));
                Stamp::DONE
            } else {
                stops[at % PIECES].1
            };
            let staging = stops[at % PIECES].0.clone();
            let stop = MemRef { base: MemBase::Host(staging.ptr()), offset: 0 };
            let tight = [piece.extent[1] * piece.extent[2], piece.extent[2]];
            let mut deps = job.deps.clone();
            add_dep(&mut deps, free, false);
            let to_host = CopyRect { dst: stop, dst_pitch: tight, ..piece };
            let body = Body::Lane(down, Payload::Copy(smallvec![to_host]));
            let first = self.submit(job.part(deps, body, SmallVec::new(), staging.clone()));
            let mut deps = job.deps.clone();
            add_dep(&mut deps, first, true);
            // So that the failure of any piece is the failure of the last one.
            add_dep(&mut deps, last, true);
            let from_host = CopyRect { src: stop, src_pitch: tight, ..piece };
            let body = Body::Lane(up, Payload::Copy(smallvec![from_host]));
            let promises = if at + 1 == count { job.promises.clone() } else { SmallVec::new() };
            last = self.submit(job.part(deps, body, promises, staging));
            stops[at % PIECES].1 = last;
        }
        last
    }

    fn count_transfer(
        &mut self,
        id: StorageId,
        queue: Option<u32>,
        from: DomainId,
        to: DomainId,
        [ops, bytes, pages]: [u64; 3],
    ) {
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
            let set = storage.tracker.uniform(&cell).unwrap_or(DomainSet::EMPTY);
            let mut old = match storage.mixed.remove(&number) {
                Some(fragments) if fragments.len() <= MOST_FRAGMENTS || set.is_empty() => fragments,
                _ if set.is_empty() => {
                    storage.tracker.set(&cell, DomainSet::of(domain));
                    continue;
                }
                _ => {
                    let (lanes, slots, failures) = (&self.lanes, &self.slots, &self.failures);
                    let known = &mut |s| outcome(lanes, slots, failures, s);
                    let arriving = storage.hazards.arriving(page, known).intersect(set);
                    vec![Fragment { elements, domains: set.minus(arriving), arriving }]
                }
            };
            let here = DomainSet::of(domain);
            let mut new =
                vec![Fragment { elements: covered, domains: here, arriving: DomainSet::EMPTY }];
            for fragment in old.drain(..) {
                let arriving = fragment.arriving.union(set.minus(fragment.domains));
                fragment.elements.subtract(&covered, |elements| {
                    new.push(Fragment { elements, arriving, ..fragment });
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
    let sets = fragments.iter().map(Fragment::on);
    sets.reduce(DomainSet::intersect).unwrap_or(DomainSet::EMPTY)
}

/// A copy on its way to be submitted.
pub(crate) struct CopyJob<'a> {
    pub(crate) what: &'static str,
    pub(crate) who: For<'a>,
    pub(crate) timed: bool,
    pub(crate) deps: Deps,
    pub(crate) storages: SmallVec<[StorageId; 4]>,
    pub(crate) promises: SmallVec<[Promise; 1]>,
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

    fn part(
        &self,
        deps: Deps,
        body: Body,
        promises: SmallVec<[Promise; 1]>,
        staging: Arc<Staging>,
    ) -> NewOp {
        NewOp {
            what: self.what,
            label: self.who.label.clone(),
            queue: self.who.queue,
            timed: self.timed,
            deps,
            storages: self.storages.clone(),
            promises,
            staging: Some(staging),
            body,
        }
    }
}

fn rects_bytes(rects: &[CopyRect]) -> usize {
    rects.iter().map(|r| r.bytes() as usize).sum()
}

/// Cuts a rectangle into pieces of at most `most` bytes.
fn cut(rect: &CopyRect, most: u64, out: &mut Vec<CopyRect>) {
    if rect.bytes() <= most {
        out.push(*rect);
        return;
    }
    // The slowest dimension with more than one step.
    let d = (0..3).find(|&d| rect.extent[d] > 1).unwrap_or(2);
    let (src_step, dst_step) = match d {
        0 => (rect.src_pitch[0], rect.dst_pitch[0]),
        1 => (rect.src_pitch[1], rect.dst_pitch[1]),
        _ => (1, 1),
    };
    let step = rect.bytes() / rect.extent[d];
    let at_once = (most / step).max(1);
    let mut at = 0;
    while at < rect.extent[d] {
        let mut piece = *rect;
        piece.extent[d] = at_once.min(rect.extent[d] - at);
        piece.src.offset += at * src_step;
        piece.dst.offset += at * dst_step;
        cut(&piece, most, out);
        at += at_once;
    }
}

/// Copies between two places in host memory.
fn copy_on_host(rect: &CopyRect) {
    let (MemBase::Host(src), MemBase::Host(dst)) = (rect.src.base, rect.dst.base) else { return };
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
}

/// Zeroes a part of host memory.
fn zero_on_host(rect: &FillRect) {
    let MemBase::Host(base) = rect.dst.base else { return };
    let [slices, rows, bytes] = rect.extent;
    for slice in 0..slices {
        for row in 0..rows {
            let at = rect.dst.offset + slice * rect.pitch[0] + row * rect.pitch[1];
            // SAFETY: the rectangle lies in the allocation, which the engine keeps alive and keeps
            // others away from meanwhile.
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
