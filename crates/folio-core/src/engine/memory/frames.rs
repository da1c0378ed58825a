//! Memory in frames: devices get and give back the memory of [frames](crate::engine::pages::frames)
//! here.
//!
//! All calls for frames are made while [`Engine::allocating`] is locked, so that no two threads
//! change one frame. The ledger, which says which frames have memory, is locked before and after a
//! call and not in it: frames are entered as those with memory after the device gave it, and left
//! out before the device takes it. The storage counts as in use meanwhile, so its allocation
//! stays.

use crate::engine::Engine;
use crate::engine::ledger::Ledger;
use crate::engine::pages::storage::{Alloc, Life, Owner, StorageId, StorageState};
use crate::engine::terms::access::{Access, FrameSpan};
use crate::engine::terms::budget::Budget;
use crate::engine::terms::lender::{plain_request, refused};
use crate::engine::terms::note::Note;
use crate::error::{Error, Label};
use crate::hal::{AllocKind, UsmAllocator};
use crate::pages::DomainId;
use crate::planted::Planted;
use smallvec::SmallVec;
use std::ops::Range;

/// A device, a reserved allocation of it, and bytes of that.
type Detached = (u16, u64, Vec<Range<u64>>);

/// Without an option, memory comes in frames where a storage has at least so many of them and the
/// first command there needs a part of it. With fewer, frames that are used in part save little.
const LEAST_FRAMES: u64 = 8;
/// A storage has so many frames at most.
const MOST_FRAMES: u64 = 1 << 28;

/// Frames that have got memory, and of which the ledger does not know yet.
pub(super) struct NewFrames {
    pub(super) id: StorageId,
    pub(super) domain: DomainId,
    pub(super) spans: SmallVec<[FrameSpan; 2]>,
    pub(super) bytes: u64,
    at: u16,
    handle: u64,
    size: u64,
}

impl NewFrames {
    fn range(&self, span: FrameSpan) -> Range<u64> {
        u64::from(span.from) * self.size..u64::from(span.to) * self.size
    }
}

impl StorageState {
    /// Bytes of a frame of its memory on a device, if that is to come in frames of `frame` bytes
    /// or of none: `part` of it is needed.
    pub(super) fn wants_frames(&self, frame: Option<u64>, part: bool) -> Option<u64> {
        let count = (self.bytes() as u64).div_ceil(frame?);
        let wanted = self.sparse.unwrap_or(part && count >= LEAST_FRAMES);
        let can = self.home.is_none() && !self.residency.tracker().is_foreign();
        frame.filter(|_| wanted && can && count <= MOST_FRAMES)
    }
}

impl Engine {
    /// Bytes of a frame of a domain's memory, if it can come in frames.
    pub(super) fn frame_of(&self, domain: DomainId) -> Option<u64> {
        let device = self.devices.get(usize::from(self.first_on(domain)))?;
        device.info.caps.frame.filter(|_| !domain.is_host())
    }

    /// Asks for what frames of a storage lack. The storage is in use until this is
    /// [received](crate::engine::ledger::Ledger::receive_frames) or
    /// [undone](Self::undo_frames). `None`, if nothing is missing, or the allocation is gone.
    pub(super) fn back_frames(
        &self,
        (id, domain): (StorageId, DomainId),
        span: FrameSpan,
    ) -> Result<Option<NewFrames>, Error> {
        let found = self.enter_quietly(|ledger| {
            let storage = &mut ledger.storages[id.0];
            let (frames, alloc) = (storage.frames(domain)?, storage.alloc(domain)?);
            let Owner::Device(at, handle) = alloc.owner else { return None };
            let (size, mut spans) = (frames.size, SmallVec::new());
            frames.runs(span, false, &mut |run| spans.push(run));
            if spans.is_empty() {
                return None;
            }
            let count: u64 = spans.iter().map(|run: &FrameSpan| u64::from(run.to - run.from)).sum();
            let label = storage.label.clone();
            storage.in_use += 1;
            Some((NewFrames { id, domain, spans, bytes: count * size, at, handle, size }, label))
        });
        let Some((new, label)) = found else { return Ok(None) };
        match self.back(&new, &label) {
            Ok(()) => Ok(Some(new)),
            Err(error) => {
                self.enter_quietly(|ledger| ledger.end_use(id));
                Err(error)
            }
        }
    }

    /// Has the device back all of the spans, or none.
    fn back(&self, new: &NewFrames, label: &Label) -> Result<(), Error> {
        let usm = self.open(new.at)?.usm();
        let budget: &Budget = self.budget(new.at);
        if !budget.take(new.bytes) {
            let name = &self.devices[usize::from(new.at)].name;
            let full = (budget.in_use(), budget.limit());
            return Err(Error::OutOfMemory {
                device: name.clone(),
                what: "buffer",
                label: label.clone(),
                asked: new.bytes,
                in_use: full.0,
                limit: full.1,
            });
        }
        for (done, span) in new.spans.iter().enumerate() {
            let first = self.plant.is(Planted::FirstFrame);
            let to = if first { span.from + 1 } else { span.to };
            if let Err(cause) = usm.map(new.handle, new.range(FrameSpan { to, ..*span })) {
                new.spans[..done].iter().for_each(|span| usm.unmap(new.handle, new.range(*span)));
                budget.give(new.bytes);
                let name = &self.devices[usize::from(new.at)].name;
                let memory = (AllocKind::Device, false);
                return Err(refused((name, name), memory, ("buffer", label), new.bytes, cause));
            }
        }
        Ok(())
    }

    /// Gives back what no storage was told of.
    pub(super) fn undo_frames(&self, new: &NewFrames) {
        if let Ok(device) = self.open(new.at) {
            self.unback(
                device.usm(),
                (new.at, new.handle),
                new.spans.iter().map(|s| new.range(*s)),
            );
        }
        self.enter_quietly(|ledger| ledger.end_use(new.id));
    }

    fn unback(
        &self,
        usm: &dyn UsmAllocator,
        (at, handle): (u16, u64),
        ranges: impl Iterator<Item = Range<u64>>,
    ) {
        for range in ranges {
            self.budget(at).give(range.end - range.start);
            usm.unmap(handle, range);
        }
    }

    /// Gives back frames of a storage that can go, other than those of `uses`. `false`: there are
    /// none.
    pub(super) fn give_back_frames(
        &self,
        id: StorageId,
        domain: DomainId,
        uses: &[Access],
    ) -> bool {
        let traced = crate::foreign::listening();
        let one_at_a_time = self.allocating.lock();
        let found = self.enter_quietly(|ledger| {
            ledger.traced = traced;
            ledger.detach_frames(id, domain, uses)
        });
        let gives = found.is_some();
        if let Some((at, handle, ranges)) = found {
            if let Ok(device) = self.open(at) {
                self.unback(device.usm(), (at, handle), ranges.into_iter());
            }
            self.enter_quietly(|ledger| ledger.end_use(id));
        }
        drop(one_at_a_time);
        self.enter(|_| ());
        gives
    }

    /// Does something with the ledger, and leaves in the outbox what is to be done.
    fn enter_quietly<R>(&self, f: impl FnOnce(&mut Ledger) -> R) -> R {
        // The caller holds a lock, and delivers the outbox when it has let go.
        f(&mut self.lock())
    }

    /// Addresses for a storage's memory on a domain, which comes in frames.
    pub(super) fn reserve_frames(
        &self,
        domain: DomainId,
        bytes: usize,
        label: &Label,
    ) -> Result<Alloc, Error> {
        let at = self.first_on(domain);
        let req = plain_request(bytes, label);
        let device = self.open(at)?;
        let entry = &self.devices[usize::from(at)];
        match device.usm().reserve(&req) {
            Ok(made) => Ok(entry.alloc_of(at, &made, false)),
            Err(cause) => {
                let memory = (AllocKind::Device, false);
                Err(refused((&entry.name, &entry.name), memory, ("buffer", label), req.size, cause))
            }
        }
    }
}

impl Ledger {
    /// A use of a storage that no operation stands for is over.
    fn end_use(&mut self, id: StorageId) {
        self.storages[id.0].in_use -= 1;
        self.storages.discard_if_over(id, &mut self.outbox);
    }

    /// A storage's frames have got memory.
    pub(super) fn receive_frames(&mut self, new: &NewFrames) {
        let NewFrames { id, domain, bytes, .. } = *new;
        let storage = &mut self.storages[id.0];
        if let Some(frames) = storage.frames_mut(domain) {
            new.spans.iter().for_each(|span| frames.set(*span, true));
        }
        let label = storage.label.clone();
        let (what, on, imported) = ("frames of buffer", domain, false);
        self.trace(|| Note::Allocate { what, label, on, bytes, imported });
        let runs = new.spans.len() as u64;
        self.count(Some(id), None, |c| {
            c.frame_maps += runs;
            c.mapped_bytes += bytes;
        });
        self.end_use(id);
    }

    /// Says which frames of a storage can give memory back: from now on they have none, and the
    /// storage is in use until [`end_use`](Self::end_use).
    fn detach_frames(
        &mut self,
        id: StorageId,
        domain: DomainId,
        uses: &[Access],
    ) -> Option<Detached> {
        let spare = self.spare_frames(id, domain, uses);
        let storage = self.storages.get_mut(id.0).filter(|_| !spare.is_empty())?;
        let Owner::Device(at, handle) = storage.alloc(domain)?.owner else { return None };
        let frames = storage.frames(domain)?;
        let ranges: Vec<Range<u64>> = spare.iter().map(|span| frames.bytes(*span)).collect();
        storage.give_back(domain, &spare);
        storage.in_use += 1;
        let bytes = ranges.iter().map(|range| range.end - range.start).sum::<u64>();
        self.count(Some(id), None, |c| {
            c.evictions += 1;
            c.evicted_bytes += bytes;
            c.unmapped_bytes += bytes;
        });
        Some((at, handle, ranges))
    }

    /// The frames of a storage that can give memory back now, other than those of `uses`.
    pub(super) fn spare_frames(
        &self,
        id: StorageId,
        domain: DomainId,
        uses: &[Access],
    ) -> Vec<FrameSpan> {
        let Some(storage) = self.storages.get(id.0) else { return Vec::new() };
        let pointed = storage.alloc(domain).is_none_or(|alloc| alloc.pointed);
        let idle = storage.in_use == 0 && storage.guards.is_empty() && storage.home.is_none();
        match idle && !pointed && storage.life == Life::Open {
            true => storage.spare_frames(domain, self.topology.lost, uses),
            false => Vec::new(),
        }
    }
}
