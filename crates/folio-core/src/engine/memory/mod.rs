//! Allocations: how they are made, moved, linked, evicted and freed, and what raw pointers name.

pub(super) mod allocate;
pub(crate) mod evict;
mod frames;
pub(crate) mod host_memory;
pub(crate) mod link;
pub(crate) mod page_lock;
pub(super) mod pointer;
pub(crate) mod storages;

use crate::engine::ledger::Ledger;
use crate::engine::ledger::storages::Storages;
use crate::engine::pages::storage::{
    Alloc, Garbage, Life, Owner, StorageId, StorageState, distance,
};
use crate::engine::terms::access::RawMem;
use crate::error::Error;
use crate::pages::DomainId;
use smallvec::SmallVec;

impl Storages {
    /// The id of the storage that has an index.
    fn id_at(&self, index: u32) -> StorageId {
        StorageId(index, self[index].number)
    }

    /// True unless the memory behind a raw pointer is known to be gone.
    pub(crate) fn is_live(&self, raw: &RawMem) -> bool {
        raw.storage.is_none_or(|id| {
            self.get(id.0).is_some_and(|storage| {
                let alloc = storage.alloc(raw.domain).map(|alloc| alloc.mem.base);
                storage.life == Life::Open && alloc == Some(raw.mem.base)
            })
        })
    }

    /// How far the memory of one storage is from that of another one, wherever both may be one
    /// memory.
    pub(crate) fn distances(&self, a: StorageId, b: StorageId) -> SmallVec<[i128; 2]> {
        let [a, b] = [a, b].map(|id| &self[id.0]);
        a.allocs().flat_map(|a| b.allocs().filter_map(move |b| distance(a, b))).collect()
    }

    /// The engine's own memory on the host that contains an address: its start and its bytes.
    pub(crate) fn host_memory_at(&self, address: u64) -> Option<(u64, u64)> {
        self.iter().find_map(|storage| {
            let alloc =
                storage.alloc(DomainId::HOST).filter(|a| matches!(a.owner, Owner::Host(_)))?;
            let (start, bytes) = (alloc.address?, storage.bytes() as u64);
            (start..start + bytes).contains(&address).then_some((start, bytes))
        })
    }
}

impl StorageState {
    /// Gives it memory that was made elsewhere. If that is clean, what it holds counts.
    pub(crate) fn adopt(&mut self, domain: DomainId, alloc: Alloc) {
        self.set_alloc(domain, alloc);
        if alloc.clean {
            self.residency.adopt(domain);
        }
    }
}

impl Ledger {
    /// Frees an allocation that is not in use and not the only one to hold a page.
    pub(crate) fn release_alloc(&mut self, id: StorageId, domain: DomainId) -> Result<(), Error> {
        self.poll_all();
        self.storages[id.0].heal_all(&self.timeline);
        let storage = &mut self.storages[id.0];
        let Some(alloc) = storage.alloc(domain).copied() else { return Ok(()) };
        if storage.in_use > 0 || storage.held(&storage.residency.grid.all(), true) {
            return Err(Error::InUse { buffer: storage.label.clone() });
        }
        let only = |storage: &StorageState| Error::OnlyCopy { buffer: storage.label.clone() };
        let lost = self.topology.lost;
        match storage.link {
            // The device's memory: the host has none to give back.
            Some(link) if domain.is_host() && !link.over_host => return Ok(()),
            // The device uses it, too.
            Some(_) if domain.is_host() => {
                return Err(Error::InUse { buffer: storage.label.clone() });
            }
            Some(link) if domain == link.device => {
                let stays = link.over_host && link.host_has_it();
                if !stays {
                    if storage.residency.rests_on(DomainId::HOST, lost) {
                        return Err(only(storage));
                    }
                    storage.residency.leave_all(DomainId::HOST);
                }
                if !link.over_host {
                    storage.remove_alloc(DomainId::HOST);
                }
                storage.link = None;
            }
            _ => {
                if storage.residency.rests_on(domain, lost) {
                    return Err(only(storage));
                }
                storage.residency.leave_all(domain);
            }
        }
        let bytes = storage.backed_bytes(domain);
        storage.remove_alloc(domain);
        self.outbox.garbage.push(Garbage { alloc, bytes, domain });
        Ok(())
    }
}
