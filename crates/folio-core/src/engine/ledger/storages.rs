//! All storages, by number, and how long each of them lives.

use crate::engine::ledger::slab::Slab;
use crate::engine::ledger::{Leftover, Outbox};
use crate::engine::pages::storage::{Garbage, StorageId, StorageState};
use crate::pages::DomainId;
use std::ops::{Deref, DerefMut};

/// The storages that have a handle, or that an operation under way uses.
pub(crate) struct Storages {
    states: Slab<StorageState>,
    /// How many there were.
    numbered: u32,
    /// Operations so far. Of those that went straight only some are counted.
    submissions: u64,
}

impl Deref for Storages {
    type Target = Slab<StorageState>;

    #[inline(always)] // As `Slab::index`.
    fn deref(&self) -> &Slab<StorageState> {
        &self.states
    }
}

impl DerefMut for Storages {
    #[inline(always)] // As `Slab::index`.
    fn deref_mut(&mut self) -> &mut Slab<StorageState> {
        &mut self.states
    }
}

impl Storages {
    pub(crate) const fn new() -> Storages {
        Storages { states: Slab::new(), numbered: 0, submissions: 0 }
    }

    /// Takes a new one.
    pub(in crate::engine) fn add(&mut self, state: StorageState) -> StorageId {
        self.numbered = self.numbered.wrapping_add(1);
        let number = self.numbered;
        StorageId(self.states.insert(StorageState { number, ..state }), number)
    }

    /// An operation uses these from now on.
    pub(crate) fn retain(&mut self, ids: &[StorageId]) {
        self.submissions += 1;
        for id in ids {
            let storage = &mut self.states[id.0];
            storage.in_use += 1;
            storage.used = self.submissions;
        }
    }

    /// An operation that goes straight uses this one from now on.
    #[inline(always)]
    pub(in crate::engine) fn retain_one(&mut self, id: StorageId) -> &mut StorageState {
        let storage = &mut self.states[id.0];
        storage.in_use += 1;
        if storage.evict.is_some() {
            self.submissions += 1;
            storage.used = self.submissions;
        }
        storage
    }

    /// An operation that used these is over.
    pub(crate) fn release(
        &mut self,
        ids: impl IntoIterator<Item = StorageId>,
        outbox: &mut Outbox,
    ) {
        for id in ids {
            self.states[id.0].in_use -= 1;
            self.discard_if_over(id, outbox);
        }
    }

    /// A scope or a drop has waited for long enough.
    pub(in crate::engine) fn let_go(&mut self, id: StorageId, outbox: &mut Outbox) {
        self.states[id.0].holds -= 1;
        self.discard_if_over(id, outbox);
    }

    /// Removes a storage that nothing refers to; its memory is freed when the ledger is free again.
    pub(in crate::engine) fn discard_if_over(&mut self, id: StorageId, outbox: &mut Outbox) {
        if self.states[id.0].over()
            && let Some(storage) = self.states.remove(id.0)
        {
            outbox.take_storage(storage);
        }
    }
}

impl Outbox {
    /// The memory of a storage is given back.
    fn take_storage(&mut self, storage: StorageState) {
        let bytes = storage.bytes();
        // A device's before that of the host, which it may be made over.
        for (domain, alloc) in storage.allocs.iter().enumerate().rev() {
            if let Some(alloc) = alloc {
                let domain = DomainId(domain as u8);
                self.garbage.push(Garbage { alloc: *alloc, bytes, domain });
            }
        }
        self.leftovers.extend(storage.keeper.map(Leftover::Keeper));
        if storage.residency.tracker().is_foreign() {
            self.leftovers.push(Leftover::Residency(Box::new(storage.residency)));
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::engine::pages::storage::{Alloc, Life, Owner};
    use crate::engine::pages::tracker::Tracker;
    use crate::error::Label;
    use crate::geom::Grid;
    use crate::hal::HostPtr;
    use crate::pages::BlockTracker;

    fn storage() -> StorageState {
        let grid = Grid::new([1, 1, 4], [1, 1, 4]);
        let tracker = Tracker::Own(BlockTracker::new(grid.pages));
        let mut state = StorageState::new(Label::NONE, (grid, 1), tracker, None);
        let host = HostPtr(std::ptr::without_provenance_mut(64));
        for domain in [0, 1].map(DomainId) {
            state.set_alloc(domain, Alloc::of_host(host, Owner::User, false));
        }
        state
    }

    /// Memory is freed once, when the last of handle, operations and holds is gone.
    #[test]
    fn storage_goes_with_the_last_that_refers_to_it() {
        let (mut storages, mut outbox) = (Storages::new(), Outbox::default());
        let id = storages.add(storage());
        storages.retain(&[id, id]);
        storages[id.0].holds = 1;
        storages.release([id, id], &mut outbox);
        storages.let_go(id, &mut outbox);
        assert!(storages.get(id.0).is_some(), "it has a handle");
        storages[id.0].life = Life::Dropped;
        storages.retain(&[id]);
        storages.discard_if_over(id, &mut outbox);
        assert_eq!(outbox.garbage.len(), 0, "an operation uses it");
        storages.release([id], &mut outbox);
        assert!(storages.get(id.0).is_none());
        let freed = outbox.garbage.iter().map(|garbage| garbage.domain);
        assert_eq!(freed.collect::<Vec<_>>(), [1, 0].map(DomainId), "the host's last");
    }

    #[test]
    fn number_tells_a_storage_from_an_earlier_one_of_its_index() {
        let (mut storages, mut outbox) = (Storages::new(), Outbox::default());
        let first = storages.add(StorageState { life: Life::Dropped, ..storage() });
        storages.discard_if_over(first, &mut outbox);
        let second = storages.add(storage());
        assert_eq!((first.0, first == second), (second.0, false));
    }
}
