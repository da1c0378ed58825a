//! What programs do with storages beside submitting commands: they make, close and drop them, ask
//! what is where, and say what they have written themselves.

use super::Engine;
use super::access::{Access, Mode};
use super::apply::For;
use super::failures::EpochPin;
use super::storage::{Alloc, Life, StorageId, StorageState};
use crate::error::Error;
use crate::geom::Box3;
use crate::hal::{HalError, HalErrorKind};
use crate::order::hazards::{Deps, tidy};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use crate::report::Counters;

impl Engine {
    /// Takes a new storage.
    pub(crate) fn new_storage(&self, state: StorageState) -> StorageId {
        StorageId(self.enter(|ledger| ledger.storages.insert(state)))
    }

    /// The last handle is gone. The later of this and the last operation frees the memory.
    pub(crate) fn drop_storage(&self, id: StorageId) {
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            storage.life = Life::Dropped;
            if storage.over() {
                ledger.discard_storage(id);
            }
        });
    }

    /// From now on it may be on any domain.
    pub(crate) fn unbind(&self, id: StorageId) {
        self.enter(|ledger| ledger.storages[id.0].home = None);
    }

    /// What has been moved, filled and allocated for it.
    pub(crate) fn counters_of(&self, id: StorageId) -> Counters {
        self.enter(|ledger| ledger.storages[id.0].counters)
    }

    /// Its allocation on `domain`, if there is one, and how many bytes that has.
    pub(crate) fn allocation(
        &self,
        id: StorageId,
        domain: DomainId,
    ) -> Result<Option<(Alloc, usize)>, Error> {
        self.enter(|ledger| {
            let storage = &ledger.storages[id.0];
            if storage.life != Life::Open {
                return Err(Error::ScopeEnded { label: storage.label.clone() });
            }
            Ok(storage.alloc(domain).map(|alloc| (*alloc, storage.bytes())))
        })
    }

    /// True if no allocation of it has an address that is not aligned so.
    pub(crate) fn is_aligned(&self, id: StorageId, align: u64) -> bool {
        let fits = |alloc: &Alloc| alloc.address.is_none_or(|address| address % align == 0);
        self.enter(|ledger| ledger.storages[id.0].allocs().all(|(_, alloc)| fits(alloc)))
    }

    /// Copies `data` to a new storage's memory on the host, which is there.
    ///
    /// # Safety
    /// The storage has as many bytes, and nothing uses it yet.
    pub(crate) unsafe fn copy_in(&self, id: StorageId, data: &[u8]) {
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            if let Some(host) = storage.alloc(DomainId::HOST).and_then(|a| a.host) {
                // SAFETY: the caller's promise.
                unsafe { host.0.copy_from_nonoverlapping(data.as_ptr(), data.len()) };
                storage.residency.adopt(DomainId::HOST);
            }
        });
    }

    /// Nothing may use it any more. If it `writes`, what is current is brought to the host. Says
    /// when that is done.
    pub(crate) fn close_storage(&self, id: StorageId, writes: bool) -> (Stamp, EpochPin) {
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            storage.life = storage.life.max(Life::Closed);
            if !writes {
                return (Stamp::DONE, None);
            }
            let (grid, label) = (storage.residency.grid, storage.label.clone());
            let elements = Box3::whole(grid.dims);
            let access = Access::new((id, &grid), elements, Mode::Read, DomainId::HOST);
            let mut deps = Deps::new();
            let who = For { queue: None, label: &label, lane: None };
            ledger.prepare(&[access], &[], who, &mut deps);
            tidy(&mut deps);
            (ledger.meet(deps), ledger.timeline.failures.pin())
        })
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

    /// The program has written all of an access, which nothing else uses.
    pub(crate) fn assume_written(&self, access: &Access) -> Result<(), Error> {
        let device = self.domain_name(access.domain);
        self.enter(|ledger| {
            ledger.poll_all();
            let storage = &ledger.storages[access.storage.0];
            let label = &storage.label;
            if ledger.topology.lost.contains(access.domain) {
                let cause = HalError::new(HalErrorKind::Lost, "what was written there is gone");
                let doing = format!("write buffer {label} by address");
                return Err(Error::Device { device, doing, cause });
            }
            if storage.held(&access.pages, true) {
                return Err(Error::HostAccessHeld { buffer: label.clone(), by: None });
            }
            // Should the zeros beside it fail, the pages cannot be used: what was written fails
            // with them.
            let done = ledger.surround(access);
            ledger.mark(std::slice::from_ref(access), done);
            Ok(())
        })
    }
}
