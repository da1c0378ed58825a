//! Transfers of thin rows, packed: gathered into one piece where they are, sent as one copy, and
//! scattered where they go. That is done where it is said to be quicker: a [`Link`] tells what rows
//! cost across, and [`Caps::own_link`](crate::hal::Caps::own_link) what they cost inside a memory.
//!
//! The pieces are [`temporaries`](super::temporaries), one at each end. The three operations are
//! linked by flow, so the last one stands for all, and fails if any of them fails. Like a direct
//! copy the last one also comes by itself after everything that the transfer comes after: those
//! before it count as over at once when their device is lost.

use super::access::Access;
use super::copies::{CopyJob, DOWNLOAD, Route, UPLOAD};
use super::ledger::Ledger;
use super::storage::StorageId;
use super::temporaries::{Pieces, Stop, Wanted};
use crate::hal::{CopyRect, Link, MemRef};
use crate::order::hazards::{Deps, add_dep};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use smallvec::{SmallVec, smallvec};

/// What it costs to move rows on the host where no device computes in its memory, and a thread is
/// called for that: roughly.
const THREAD: Link = Link { bytes_per_us: 4_000, op_ns: 20_000, row_ns: 10 };

/// What copies cost, as far as packing goes.
#[derive(Default)]
pub(crate) struct Packing {
    /// Those inside each memory.
    own_links: Vec<Link>,
    /// There is a link on which rows cost something.
    worth_it: bool,
}

impl Packing {
    pub(crate) fn new<'a>(own_links: Vec<Link>, links: impl Iterator<Item = &'a Link>) -> Packing {
        let mut packing = Packing { own_links, worth_it: false };
        packing.learn(links);
        packing
    }

    /// There are these links.
    pub(crate) fn learn<'a>(&mut self, mut links: impl Iterator<Item = &'a Link>) {
        self.worth_it |= links.any(|link| link.row_ns > 0);
    }
}

impl Ledger {
    /// The temporaries that transfers for these accesses could use now.
    pub(crate) fn wanted(&mut self, accesses: &[Access]) -> Wanted {
        let mut pieces = Pieces::new();
        if !self.packing.worth_it {
            return Wanted::default();
        }
        for a in accesses.iter().filter(|a| !a.mode.discards() && !a.pages.is_empty()) {
            self.heal(a.storage, &a.pages);
            let outdated = self.outdated(a.storage, &a.pages, a.domain);
            if !outdated.gone.is_empty() {
                continue;
            }
            let plan = self.plan(a.storage, &outdated.needs, a.domain);
            for group in plan.chunk_by(|a, b| a.source == b.source) {
                let boxes: SmallVec<[_; 4]> = group.iter().map(|t| t.elements).collect();
                let source = group[0].source;
                let rects = self.storages[a.storage.0].copies(source, a.domain, &boxes);
                if let Some(bytes) = self.pays(source, a.domain, &rects) {
                    pieces.extend([(source, bytes), (a.domain, bytes)]);
                }
            }
            self.plan = plan;
        }
        self.look_for(&pieces)
    }

    /// How many bytes it pays to pack for these copies.
    fn pays(&self, from: DomainId, to: DomainId, rects: &[CopyRect]) -> Option<u64> {
        let link = self.topology.link(from, to);
        if link.row_ns == 0 {
            return None;
        }
        let bytes = rects.iter().map(CopyRect::bytes).sum();
        let (ops, rows) = (rects.len() as u64, rects.iter().map(CopyRect::rows).sum());
        let inside = |domain: DomainId| {
            let at = usize::from(domain.0);
            match (self.topology.domain_device.get(at), self.packing.own_links.get(at)) {
                (Some(Some(_)), Some(own)) => own.estimate_rows_ns(bytes, ops, rows),
                _ => THREAD.estimate_rows_ns(bytes, 1, rows),
            }
        };
        let across = link.estimate_ns(bytes, 1);
        let packed = across.saturating_add(inside(from)).saturating_add(inside(to));
        (packed < link.estimate_rows_ns(bytes, ops, rows)).then_some(bytes)
    }

    /// Temporaries at both ends of these copies, if it pays to pack and they are there.
    pub(crate) fn way(
        &mut self,
        from: DomainId,
        to: DomainId,
        rects: &[CopyRect],
    ) -> Option<[Stop; 2]> {
        let bytes = self.pays(from, to, rects)?;
        self.temporaries.take((from, bytes), (to, bytes))
    }

    /// Copies by way of two temporaries.
    pub(crate) fn copy_packed(
        &mut self,
        job: CopyJob<'_>,
        [near, far]: [Stop; 2],
        (from, to): (DomainId, DomainId),
        rects: &[CopyRect],
    ) -> Stamp {
        // Until all three are submitted.
        self.retain(&[near.id, far.id]);
        self.count(job.storages.first().copied(), job.who.queue, |c| c.packed += 1);
        let (mut gather, mut scatter) = (SmallVec::new(), SmallVec::new());
        let mut bytes = 0;
        for rect in rects {
            let close = [rect.extent[1] * rect.extent[2], rect.extent[2]];
            let at = |mem: MemRef| MemRef { offset: mem.offset + bytes, ..mem };
            gather.push(CopyRect { dst: at(near.mem), dst_pitch: close, ..*rect });
            scatter.push(CopyRect { src: at(far.mem), src_pitch: close, ..*rect });
            bytes += rect.bytes();
        }
        let (src_pitch, dst_pitch) = ([bytes; 2], [bytes; 2]);
        let extent = [1, 1, bytes];
        let piece = CopyRect { src: near.mem, src_pitch, dst: far.mem, dst_pitch, extent };
        let route = self.route(from, to);
        let part = job.part(job.deps.clone(), &[near.id]);
        let gathered = self.copy_by(part, self.end_of(route, from, DOWNLOAD), gather);
        let part = job.part(smallvec![], &[near.id, far.id]).after(gathered);
        let sent = self.copy_by(part, route, smallvec![piece]);
        let part = job.part(job.deps.clone(), &[far.id]).after(sent);
        let scattered = self.copy_by(part, self.end_of(route, to, UPLOAD), scatter);
        self.release(&[near.id, far.id]);
        scattered
    }

    /// How rows are copied inside the memory at one end of a way: on its lane, if that is there; else
    /// on another one of that memory. Not on lanes for kernels, which have other things to do.
    fn end_of(&self, route: Route, domain: DomainId, offset: u16) -> Route {
        let ends = match route {
            Route::Direct(lane) => [Some(lane), None],
            Route::Staged(down, up) => [Some(down), Some(up)],
            Route::Host => [None; 2],
        };
        let there =
            |lane: &_| self.topology.devices[self.topology.device_of(*lane)].domain == domain;
        let lane = ends.into_iter().flatten().find(there);
        lane.or_else(|| self.copy_lane(domain, offset)).map_or(Route::Host, Route::Direct)
    }
}

impl CopyJob<'_> {
    /// One of the operations of a packed copy, which uses `temporaries`.
    fn part(&self, deps: Deps, temporaries: &[StorageId]) -> Self {
        let mut storages = self.storages.clone();
        storages.extend_from_slice(temporaries);
        CopyJob { deps, storages, staging: None, ..*self }
    }

    /// It needs what the one with this stamp does.
    fn after(mut self, stamp: Stamp) -> Self {
        add_dep(&mut self.deps, stamp, true);
        self
    }
}
