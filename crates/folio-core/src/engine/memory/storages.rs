//! Calls of programs that concern storages, but for commands: they make, close and drop them, ask
//! which memory has what, and say what they have written themselves.

use crate::engine::Engine;
use crate::engine::ledger::storages::Storages;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::topology::Topology;
use crate::engine::ledger::{Ledger, NewOp};
use crate::engine::pages::residency::Residency;
use crate::engine::pages::storage::{Alloc, Garbage, Life, Owner, StorageId, StorageState};
use crate::engine::plan::apply::{For, zero_on_host};
use crate::engine::terms::access::{Access, Mode};
use crate::engine::terms::link::Linkage;
use crate::engine::threads::wait::WaitEnd;
use crate::error::{Cause, Error, Label};
use crate::geom::Box3;
use crate::hal::{FillRect, HalError, HalErrorKind};
use crate::order::hazards::{Deps, Outcome, tidy};
use crate::order::stamp::Stamp;
use crate::pages::{DomainId, DomainSet, PageMap};
use crate::report::Counters;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// What programs are told of an allocation.
pub(crate) struct AllocationFacts {
    pub(crate) domain: DomainId,
    pub(crate) address: Option<u64>,
    /// The engine frees it.
    pub(crate) owned: bool,
    /// How many pages are current there.
    pub(crate) current: usize,
    pub(crate) bytes: u64,
    pub(crate) frame: Option<u64>,
}

impl Engine {
    /// Takes a new storage.
    pub(crate) fn new_storage(&self, state: StorageState) -> StorageId {
        self.enter(|ledger| ledger.storages.add(state))
    }

    /// The last handle is gone. The later of this and the last operation frees the memory, unless
    /// the caller still holds it.
    pub(crate) fn drop_storage(&self, id: StorageId, hold: bool) {
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            storage.life = Life::Dropped;
            storage.holds += u32::from(hold);
            ledger.storages.discard_if_over(id, &mut ledger.outbox);
        });
    }

    /// The storage, which may be lent only to be read, stays until [`let_go`](Self::let_go).
    pub(crate) fn hold(&self, id: StorageId, only_read: bool) {
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            (storage.holds, storage.only_read) = (storage.holds + 1, only_read);
        });
    }

    pub(crate) fn let_go(&self, id: StorageId) {
        let torn = self.enter(|ledger| ledger.storages[id.0].torn(&ledger.timeline));
        torn.iter().for_each(zero_on_host);
        self.enter(|ledger| ledger.storages.let_go(id, &mut ledger.outbox));
    }

    /// Gives the program's memory back. Nothing uses the storage any more.
    pub(crate) fn give_back(&self, storage: Box<StorageState>) {
        let torn = storage.torn(&self.lock().timeline);
        torn.iter().for_each(zero_on_host);
    }

    /// `keeper` is dropped when the storage is gone.
    pub(crate) fn keep(&self, id: StorageId, keeper: Box<dyn Send>) {
        self.enter(|ledger| ledger.storages[id.0].keepers.push(keeper));
    }

    /// From now on it may be on any domain.
    pub(crate) fn unbind(&self, id: StorageId) {
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            storage.home = None;
            // The program may have its address.
            storage.allocs.iter_mut().flatten().for_each(|alloc| alloc.pointed = true);
        });
    }

    /// The counts of transfers, fills and allocations for it.
    pub(crate) fn counters_of(&self, id: StorageId) -> Counters {
        self.enter(|ledger| ledger.storages[id.0].counters)
    }

    /// Its allocations.
    pub(crate) fn allocations(&self, id: StorageId) -> Vec<AllocationFacts> {
        self.enter(|ledger| {
            ledger.poll_all();
            ledger.storages[id.0].heal_all(&ledger.timeline);
            let storage = &ledger.storages[id.0];
            let facts = |(domain, alloc): (DomainId, &Alloc)| AllocationFacts {
                domain,
                address: alloc.address,
                owned: storage.owns(domain),
                current: storage.residency.current_pages(storage.place(domain)),
                bytes: storage.backed_bytes(domain) as u64,
                frame: storage.frames(domain).map(|frames| frames.size),
            };
            storage.allocs().map(facts).collect()
        })
    }

    /// Moves the allocation of `from` on a domain to `to`, a new storage of that domain only, with
    /// all contents.
    pub(crate) fn take_allocation(
        &self,
        from: StorageId,
        to: StorageId,
        domain: DomainId,
        device: &str,
    ) -> Result<Alloc, Error> {
        self.enter(|ledger| {
            ledger.poll_all();
            ledger.storages[from.0].heal_all(&ledger.timeline);
        });
        // The contents come to it first.
        let ledger = self.lock();
        let all = whole(from, &ledger.storages[from.0], Mode::Read, domain);
        let mut ledger = self.reserve(ledger, &[all], |ledger| {
            let storage = &ledger.storages[from.0];
            let access = whole(from, storage, Mode::Read, domain);
            let label = storage.label.clone();
            match storage.alloc(domain) {
                _ if storage.life != Life::Open => Err(Error::ScopeEnded { label }),
                _ if !storage.guards.is_empty() => Err(Error::InUse { buffer: label }),
                Some(alloc) if alloc.owner == Owner::User || storage.is_linked(domain) => {
                    let what = format!("taking memory of buffer {label} that is not its own");
                    Err(Error::Unsupported { device: device.to_owned(), what })
                }
                _ if storage.residency.rests_on(domain, ledger.topology.lost) => {
                    Err(Error::OnlyCopy { buffer: label })
                }
                _ => Ok(ledger.storages.missing(&[access])),
            }
        })?;
        let storage = &ledger.storages[from.0];
        let label = storage.label.clone();
        let access = whole(from, storage, Mode::Read, domain);
        let mut deps = Deps::new();
        let who = For { queue: None, label: &label, lane: None };
        ledger.prepare(&[access], &[], who, &mut deps);
        tidy(&mut deps);
        let stamp = ledger.meet(deps);
        let outbox = std::mem::take(&mut ledger.outbox);
        drop(ledger);
        self.deliver(outbox);
        if let WaitEnd::Failed(failure) = self.wait(stamp, None)? {
            return Err(Error::failed(failure));
        }
        self.enter(|ledger| {
            ledger.poll_all();
            let lost = ledger.topology.lost;
            let storage = &mut ledger.storages[from.0];
            let buffer = storage.label.clone();
            let Some(alloc) = storage.alloc(domain).copied() else {
                return Err(Error::InUse { buffer });
            };
            let idle = storage.in_use == 0 && storage.guards.is_empty();
            let gave = storage.frames(domain).is_some_and(|frames| !frames.is_full());
            if !idle || gave || storage.is_linked(domain) {
                return Err(Error::InUse { buffer });
            }
            if storage.residency.rests_on(domain, lost) {
                return Err(Error::OnlyCopy { buffer });
            }
            storage.residency.leave_all(domain);
            let frames = storage.frames.extract_if(.., |frames| frames.domain == domain);
            let frames: Vec<_> = frames.collect();
            storage.remove_alloc(domain);
            let keepers = storage.device_keepers();
            let alloc = Alloc { clean: true, ..alloc };
            ledger.storages[to.0].adopt(domain, alloc);
            ledger.storages[to.0].frames = frames;
            ledger.storages[to.0].keepers = keepers;
            Ok(alloc)
        })
    }

    /// Moves the allocation of `from`, which is USM of this domain, to `to`.
    pub(crate) fn give_allocation(
        &self,
        from: StorageId,
        to: StorageId,
        domain: DomainId,
        device: &str,
    ) -> Result<(), Error> {
        self.enter(|ledger| {
            ledger.poll_all();
            let timeline = &ledger.timeline;
            let usm = &mut ledger.storages[from.0];
            usm.raw.retain(|stamp| timeline.outcome(*stamp) == Outcome::Pending);
            let idle = usm.in_use == 0 && usm.guards.is_empty() && usm.raw.is_empty();
            let Some(alloc) = usm.alloc(domain).copied().filter(|_| idle) else {
                return Err(Error::InUse { buffer: usm.label.clone() });
            };
            let buffer = &ledger.storages[to.0];
            if buffer.life != Life::Open {
                return Err(Error::ScopeEnded { label: buffer.label.clone() });
            }
            if buffer.alloc(domain).is_some() || buffer.is_linked(domain) {
                let (buffer, device) = (buffer.label.clone(), device.to_owned());
                return Err(Error::HasMemory { buffer, device });
            }
            // A view of another type may be in a graph, or in the group that is being described.
            if let Some(at) = alloc.misaligned(buffer.align) {
                let (label, align) = (buffer.label.clone(), buffer.align as usize);
                return Err(Error::Misaligned { what: "allocation for buffer", label, at, align });
            }
            let keeps = !ledger.storages[from.0].keepers.is_empty();
            let buffer = &ledger.storages[to.0];
            if keeps && !buffer.keepers.is_empty() {
                let what = format!("two allocations of other owners in buffer {}", buffer.label);
                return Err(Error::Unsupported { device: device.to_owned(), what });
            }
            let usm = &mut ledger.storages[from.0];
            usm.remove_alloc(domain);
            let keepers = usm.device_keepers();
            let buffer = &mut ledger.storages[to.0];
            buffer.keepers.extend(keepers);
            // The program may have its address.
            buffer.set_alloc(domain, Alloc { pointed: true, ..alloc });
            // The memory holds values of the program.
            buffer.residency.holds(domain);
            Ok(())
        })
    }

    /// How its memory on the host stands to that on `domain`.
    pub(crate) fn linkage(&self, id: StorageId, domain: DomainId) -> Linkage {
        self.enter(|ledger| {
            let storage = &ledger.storages[id.0];
            match storage.alloc(domain) {
                None => Linkage::Undecided,
                Some(_) if storage.is_linked(domain) => Linkage::Linked,
                Some(alloc) => Linkage::NotLinked(alloc.apart),
            }
        })
    }

    /// The program will see it by elements that are aligned so, too. `false`: it cannot, since an
    /// allocation is not.
    pub(crate) fn align(&self, id: StorageId, align: u64) -> bool {
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            let fits = storage.allocs().all(|(_, alloc)| alloc.misaligned(align).is_none());
            if fits {
                storage.align = storage.align.max(align);
            }
            fits
        })
    }

    /// Copies `data` to a new storage's memory on the host, which is there.
    ///
    /// # Safety
    /// The storage has as many bytes, and nothing uses it yet.
    pub(crate) unsafe fn copy_in(&self, id: StorageId, data: &[u8]) {
        let host = self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            let host = storage.alloc(DomainId::HOST).and_then(|a| a.host);
            // The storage is not evicted meanwhile.
            storage.in_use += u32::from(host.is_some());
            host
        });
        let Some(host) = host else { return };
        // SAFETY: the caller's promise; memory in use stays.
        unsafe { host.0.copy_from_nonoverlapping(data.as_ptr(), data.len()) };
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            storage.in_use -= 1;
            storage.residency.adopt(DomainId::HOST);
        });
    }

    /// Nothing may use it any more. If it `writes`, what is current is brought to the host. Says
    /// when that is done.
    pub(crate) fn close_storage(&self, id: StorageId, writes: bool) -> Stamp {
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            storage.life = storage.life.max(Life::Closed);
            let (_, deps) = ledger.hand_back(id, writes, None);
            if deps.is_empty() {
                return Stamp::DONE;
            }
            ledger.meet(deps)
        })
    }

    /// The program is done with it. If it `writes`, what is current is brought to the host, for
    /// this queue. Says when that is done and nothing that was submitted uses it any more.
    pub(crate) fn finish_storage(&self, id: StorageId, writes: bool, queue: Option<u32>) -> Stamp {
        self.enter(|ledger| {
            let storage = &ledger.storages[id.0];
            if storage.life != Life::Open {
                return Stamp::DONE;
            }
            let label = storage.label.clone();
            let (access, mut deps) = ledger.hand_back(id, writes, queue);
            ledger.storages[id.0].residency.users(&mut deps);
            tidy(&mut deps);
            let (what, storages) = ("end of buffer", smallvec![id]);
            let op = NewOp { what, label, queue, deps, storages, ..NewOp::default() };
            let stamp = ledger.submit(op);
            let Ledger { storages, timeline, queues, .. } = ledger;
            storages.mark(access.as_slice(), stamp, timeline);
            queues.note_stamp((queue, false), stamp, timeline);
            stamp
        })
    }

    /// The stamp of an end that is none: the program still has the buffer elsewhere.
    pub(crate) fn refuse_end(&self, label: &Label) -> Stamp {
        self.enter(|ledger| {
            let cause = Cause::Task(Arc::new(Error::InUse { buffer: label.clone() }));
            let failure = ledger.fail("end of buffer", label, "host", cause);
            ledger.timeline.failed_stamp(failure, &mut ledger.outbox)
        })
    }

    /// Waits until no operation uses a storage, which is [held](Self::hold).
    pub(crate) fn await_idle(&self, id: StorageId) {
        while let Some(deps) = self.users(id) {
            for dep in deps {
                self.wait_anywhere(dep.stamp);
            }
            crate::sync::yield_now();
        }
    }

    /// Its memory on the host is the program's alone again: no device has that as its own any more.
    /// Nothing uses the storage, nor will.
    pub(crate) fn end_import(&self, id: StorageId) {
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            let bytes = storage.bytes();
            let Some(link) = storage.link.take_if(|link| link.over_host) else { return };
            let Some(alloc) = storage.alloc(link.device).copied() else { return };
            storage.remove_alloc(link.device);
            ledger.outbox.garbage.push(Garbage { alloc, bytes, domain: link.device });
        });
    }

    /// The operations that use it; `None` if there are none.
    pub(crate) fn users(&self, id: StorageId) -> Option<Deps> {
        self.enter(|ledger| {
            ledger.poll_all();
            let storage = &ledger.storages[id.0];
            let mut deps = Deps::new();
            if storage.in_use > 0 {
                storage.residency.users(&mut deps);
            }
            (storage.in_use > 0).then_some(deps)
        })
    }

    /// The program has written all of an access by its address, and nothing else uses that.
    pub(crate) fn assume_written(&self, access: &Access) -> Result<(), Error> {
        // A refused call gets no memory, either.
        self.enter(|ledger| {
            ledger.poll_all();
            ledger.storages.check_assumed(access, &ledger.topology)
        })?;
        self.address_of(access.storage, access.domain)?;
        self.enter(|ledger| {
            ledger.poll_all();
            ledger.storages.check_assumed(access, &ledger.topology)?;
            let place = ledger.storages[access.storage.0].place(access.domain);
            let access = Access { place, ..*access };
            // Should the zeros beside it fail, the pages cannot be used: what was written fails
            // with them.
            let done = ledger.surround(&access);
            ledger.storages.mark(&[access], done, &ledger.timeline);
            Ok(())
        })
    }
}

/// An access to all of a storage.
pub(in crate::engine) fn whole(
    id: StorageId,
    storage: &StorageState,
    mode: Mode,
    domain: DomainId,
) -> Access {
    let access = storage.access(id, Box3::whole(storage.residency.grid.dims), mode, domain);
    Access { place: storage.place(domain), ..access }
}

impl StorageState {
    /// The parts of the program's memory that may hold what a device's fresh memory held, by copies
    /// that failed. They are to be zeroed before the program sees them. Of memory that operations
    /// use: none.
    fn torn(&self, timeline: &Timeline) -> Vec<FillRect> {
        let lent = self.alloc(DomainId::HOST).is_some_and(|alloc| alloc.owner == Owner::User);
        let mut torn = Vec::new();
        if !lent || self.only_read || self.in_use > 0 || timeline.failures.is_empty() {
            return torn;
        }
        let Residency { grid, hazards, defined, spoilt_on_host, .. } = &self.residency;
        let pitch = self.pitch();
        let mut note = |elements: &Box3| {
            let rect = self.rect(DomainId::HOST, elements);
            torn.extend(rect.map(|(dst, extent)| FillRect { dst, pitch, extent }));
        };
        let is_spoilt = |stamp| timeline.failures.spoilt(stamp);
        hazards.spoilt_memory(&grid.all(), DomainId::HOST, &is_spoilt, |pages| {
            note(&grid.elements_of(pages));
        });
        for elements in spoilt_on_host {
            defined.visit(&grid.pages_of(elements), &mut |pages, on| {
                if !on.contains(DomainId::HOST) {
                    note(&grid.elements_of(&pages).intersect(elements));
                }
            });
        }
        torn
    }

    /// The pages of a storage, apart where one may come to the host and the other fail.
    fn pages_by_fate(&self, lost: DomainSet, timeline: &Timeline) -> Vec<SmallVec<[Box3; 2]>> {
        let Residency { grid, hazards, .. } = &self.residency;
        let mut parts = hazards.by_fate(&grid.all(), &|stamp| timeline.outcome(stamp));
        if lost.is_empty() {
            return parts;
        }
        for at in 0..parts.len() {
            let gone = self.only_on_lost(&parts[at], DomainId::HOST, lost);
            if gone.is_empty() {
                continue;
            }
            let mut is_gone = PageMap::new(grid.pages, false);
            gone.iter().for_each(|pages| is_gone.set(pages, true));
            let mut left: SmallVec<[Box3; 2]> = SmallVec::new();
            for pages in &parts[at] {
                is_gone.visit(pages, &mut |run, gone| {
                    if !gone {
                        left.push(run)
                    }
                });
            }
            parts[at] = left;
            parts.push(gone);
        }
        parts
    }
}

impl Storages {
    /// The error where a program cannot have written what it says.
    fn check_assumed(&self, access: &Access, topology: &Topology) -> Result<(), Error> {
        let storage = &self[access.storage.0];
        let label = &storage.label;
        if storage.life != Life::Open {
            return Err(Error::ScopeEnded { label: label.clone() });
        }
        if topology.lost.contains(access.domain) {
            let cause = HalError::new(HalErrorKind::Lost, "what was written there is gone");
            let doing = format!("write buffer {label} by address");
            let device = topology.domain_name(access.domain);
            return Err(Error::Device { device, doing, cause });
        }
        if storage.held(&storage.residency.pages(access), true) {
            return Err(Error::HostAccessHeld { buffer: label.clone(), by: None });
        }
        Ok(())
    }
}

impl Ledger {
    /// Brings what is current to the host, and says what must be done for that. Pages with
    /// different fates are brought apart: what is well comes also if the rest fails.
    pub(super) fn write_back(
        &mut self,
        id: StorageId,
        queue: Option<u32>,
    ) -> (Option<Access>, Deps) {
        let storage = &self.storages[id.0];
        let label = storage.label.clone();
        let elements = Box3::whole(storage.residency.grid.dims);
        let access = storage.access(id, elements, Mode::Read, DomainId::HOST);
        let mut deps = Deps::new();
        let who = For { queue, label: &label, lane: None };
        for pages in self.storages[id.0].pages_by_fate(self.topology.lost, &self.timeline) {
            let storage = &self.storages[id.0];
            let part = |pages: &Box3| {
                let elements = storage.residency.grid.elements_of(pages);
                storage.access(id, elements, Mode::Read, DomainId::HOST)
            };
            let parts: SmallVec<[Access; 2]> = pages.iter().map(part).collect();
            // By itself: a command of which one part is known to fail brings nothing.
            let mut own = Deps::new();
            self.prepare(&parts, &[], who, &mut own);
            deps.append(&mut own);
        }
        tidy(&mut deps);
        (Some(access), deps)
    }
}
