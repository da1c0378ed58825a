//! What programs give to the engine beside their data, with [canaries](Canary).

use folio_core::canary::Canary;
use folio_core::geom::{Box3, Dims};
use folio_core::memory::{HostAllocator, HostBlock};
use folio_core::pages::{DenseTrackers, DomainId, DomainSet, PageTracker, PageTrackerFactory};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// The allocator of Rust programs.
pub struct Allocator(Canary);

impl Default for Allocator {
    fn default() -> Allocator {
        Allocator(Canary::new("an allocator"))
    }
}

// SAFETY: memory of the global allocator, which is free when it comes back.
unsafe impl HostAllocator for Allocator {
    fn allocate(&self, layout: Layout) -> Option<HostBlock> {
        self.0.runs();
        // SAFETY: the engine asks for no empty layout.
        let at = unsafe { alloc_zeroed(layout) };
        (!at.is_null()).then_some(HostBlock::zeroed(at))
    }

    unsafe fn deallocate(&self, at: NonNull<u8>, layout: Layout) {
        self.0.runs();
        // SAFETY: the caller's promise: `allocate` gave it, by this layout.
        unsafe { dealloc(at.as_ptr(), layout) };
    }
}

/// Makes dense trackers. Their methods run under the ledger's lock, as the trait says; they are
/// made and dropped without it.
pub struct Trackers(Canary);

impl Default for Trackers {
    fn default() -> Trackers {
        Trackers(Canary::new("a factory of trackers"))
    }
}

impl PageTrackerFactory for Trackers {
    fn make(&self, pages: Dims) -> Box<dyn PageTracker> {
        self.0.runs();
        Box::new(Tracker(DenseTrackers.make(pages), Canary::new("a tracker")))
    }
}

struct Tracker(Box<dyn PageTracker>, #[expect(dead_code, reason = "its drop is seen")] Canary);

impl PageTracker for Tracker {
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        self.0.visit(range, out);
    }

    fn uniform(&self, range: &Box3) -> Option<DomainSet> {
        self.0.uniform(range)
    }

    fn set(&mut self, range: &Box3, current: DomainSet) {
        self.0.set(range, current);
    }

    fn insert(&mut self, range: &Box3, domain: DomainId) {
        self.0.insert(range, domain);
    }

    fn remove(&mut self, range: &Box3, domain: DomainId) {
        self.0.remove(range, domain);
    }

    fn name(&self) -> &'static str {
        self.0.name()
    }
}
