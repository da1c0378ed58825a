//! All storages, by number: how long each of them lives, and what operations come after and leave
//! behind in them.

use crate::engine::ledger::slab::Slab;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::{Leftover, Outbox};
use crate::engine::pages::storage::{Garbage, StorageId, StorageState};
use crate::engine::terms::access::{Access, Lack, Missing, Mode, Need, RawMem};
use crate::geom::Box3;
use crate::order::hazards::{Dep, Deps, Flow, Outcome};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use crate::planted::Plant;
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

impl Storages {
    /// The memory of a temporary may be another one's.
    pub(crate) fn can_share_memory(&self, id: StorageId) -> bool {
        self.get(id.0).is_some_and(|storage| {
            storage.link.is_none() && !storage.residency.tracker().is_foreign()
        })
    }

    /// The memory that a command needs and that is not there.
    pub(crate) fn missing(&self, accesses: &[Access]) -> Missing {
        let mut missing = Missing::default();
        self.add_missing(accesses, &mut missing);
        missing.tidied()
    }

    /// Adds the memory that a command needs and that is not there.
    pub(crate) fn add_missing(&self, accesses: &[Access], missing: &mut Missing) {
        for a in accesses.iter().filter(|a| !a.elements.is_empty()) {
            let storage = &self[a.storage.0];
            let mut need = |what| missing.push(Need { storage: a.storage, domain: a.domain, what });
            match storage.alloc(a.domain) {
                None => {
                    let residency = &storage.residency;
                    let whole = residency.pages(a) == residency.grid.all();
                    need(if whole { Lack::Whole } else { Lack::Part });
                }
                Some(_) if storage.frames.is_empty() => {}
                Some(_) => storage.missing_frames(a, &mut |span| need(Lack::Frames(span))),
            }
        }
    }

    /// The storage behind raw memory, if that is USM.
    pub(in crate::engine) fn usm_of(&self, raw: &RawMem) -> Option<(StorageId, DomainId)> {
        let id = raw.storage?;
        (self[id.0].home == Some(raw.domain)).then_some((id, raw.domain))
    }

    /// A raw command uses a storage.
    pub(in crate::engine) fn note_raw(&mut self, id: StorageId, stamp: Stamp, timeline: &Timeline) {
        let Some(storage) = self.get_mut(id.0) else { return };
        // Looked through at 4, 8, 16, ..: constant cost per command.
        if storage.raw.len() >= 4 && storage.raw.len().is_power_of_two() {
            let pending = |s: &Stamp| timeline.outcome(*s) == Outcome::Pending;
            storage.raw.retain(|s| pending(s));
        }
        storage.raw.push(stamp);
    }

    /// What the accesses wait for.
    pub(crate) fn hazard_deps(&self, accesses: &[Access], deps: &mut Deps) {
        accesses.iter().for_each(|a| self[a.storage.0].residency.deps(a, deps));
    }

    /// What the pages are from now on.
    pub(crate) fn mark(&mut self, accesses: &[Access], stamp: Stamp, timeline: &Timeline) {
        let known = &|s| timeline.outcome(s);
        for a in accesses.iter().filter(|a| !a.mode.writes()) {
            self[a.storage.0].residency.mark_read(a, stamp, known);
        }
        for a in accesses.iter().filter(|a| a.mode.writes()) {
            self[a.storage.0].residency.mark_written(a, stamp, known);
        }
        for a in accesses.iter().filter(|a| a.mode.writes()) {
            self[a.storage.0].note_side(a.domain);
        }
    }

    /// Cuts the pages of a buffer: see [`Residency::cut`]. Pages that a host guard shows, and those
    /// of USM, stay as they are.
    pub(crate) fn cut(&mut self, id: StorageId, boxes: &[Box3], plant: Plant) {
        let Some(storage) = self.get_mut(id.0) else { return };
        if storage.home.is_none() && storage.guards.is_empty() {
            storage.residency.cut(boxes, plant);
        }
    }

    /// True for a command that is to write everything where nothing is, or over an operation that
    /// may turn out to have spoilt it.
    pub(in crate::engine) fn defines(
        &self,
        accesses: &[Access],
        deps: &Deps,
        timeline: &Timeline,
    ) -> bool {
        let over =
            |d: &Dep| d.flow.has(Flow::COVERS) && timeline.outcome(d.stamp) == Outcome::Pending;
        let mut whole = accesses.iter().filter(|a| a.mode == (Mode::Discard { whole: true }));
        whole.any(|a| {
            let residency = &self[a.storage.0].residency;
            !residency.is_defined(&residency.pages(a), a.place) || deps.iter().any(over)
        })
    }
}

impl Outbox {
    /// The memory of a storage is given back.
    fn take_storage(&mut self, storage: StorageState) {
        // A device's before that of the host, which it may be made over.
        for (domain, alloc) in storage.allocs.iter().enumerate().rev() {
            if let Some(alloc) = alloc {
                let domain = DomainId(domain as u8);
                let bytes = storage.backed_bytes(domain);
                self.garbage.push(Garbage { alloc: *alloc, bytes, domain });
            }
        }
        if !storage.keepers.is_empty() {
            self.leftovers.push(Leftover::View(Box::new(storage)));
        } else if storage.residency.tracker().is_foreign() || storage.allocator.is_some() {
            self.leftovers.push(Leftover::Storage(Box::new(storage)));
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::engine::pages::storage::{Alloc, Life, Owner};
    use crate::engine::pages::tracker::Tracker;
    use crate::error::Label;
    use crate::geom::{Box3, Grid};
    use crate::hal::HostPtr;
    use crate::order::stamp::LaneId;
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

    fn access(id: StorageId, elements: usize, mode: Mode, on: u8) -> Access {
        let grid = Grid::new([1, 1, 4], [1, 1, 4]);
        let part = Box3 { min: [0; 3], max: [1, 1, elements] };
        Access::new((id, &grid), part, mode, DomainId(on))
    }

    #[test]
    fn memory_that_is_missing_is_named_once() {
        let mut storages = Storages::new();
        let [x, y] = [(); 2].map(|()| storages.add(storage()));
        let on = |id, elements, domain| access(id, elements, Mode::Read, domain);
        let all = [on(x, 4, 1), on(x, 4, 2), on(x, 1, 2), on(y, 0, 2), on(y, 4, 3)];
        let need = |storage, domain| Need { storage, domain: DomainId(domain), what: Lack::Whole };
        assert_eq!(storages.missing(&all)[..], [need(x, 2), need(y, 3)]);
    }

    /// A discard that runs over another one may be the first to write what that one has spoilt.
    #[test]
    fn operation_defines_what_nothing_has_written_or_what_may_be_spoilt() {
        let (mut storages, mut timeline) = (Storages::new(), Timeline::new(1, 1));
        let id = storages.add(storage());
        let whole = [access(id, 4, Mode::Discard { whole: true }, 1)];
        let defines = |storages: &Storages, timeline: &Timeline, deps: &Deps| {
            storages.defines(&whole, deps, timeline)
        };
        assert!(defines(&storages, &timeline, &Deps::new()));
        let first = Stamp::placed(LaneId(0), 1);
        timeline.lanes[0].issued = 1;
        storages.mark(&whole, first, &timeline);
        assert!(!defines(&storages, &timeline, &Deps::new()));
        let mut deps = Deps::new();
        storages.hazard_deps(&whole, &mut deps);
        assert!(deps.iter().any(|dep| dep.stamp == first && dep.flow.has(Flow::COVERS)));
        assert!(defines(&storages, &timeline, &deps), "the first one may fail");
        timeline.lanes[0].retired = 1;
        assert!(!defines(&storages, &timeline, &deps));
        assert!(!storages.defines(&[access(id, 4, Mode::Read, 1)], &deps, &timeline));
    }

    #[test]
    fn operations_by_pointer_are_forgotten_when_they_have_ended() {
        let (mut storages, mut timeline) = (Storages::new(), Timeline::new(1, 1));
        let id = storages.add(storage());
        for tick in 1..=100 {
            timeline.lanes[0].issued = tick;
            storages.note_raw(id, Stamp::placed(LaneId(0), tick), &timeline);
            timeline.lanes[0].retired = tick;
        }
        assert!(storages[id.0].raw.len() < 5, "{:?}", storages[id.0].raw);
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
