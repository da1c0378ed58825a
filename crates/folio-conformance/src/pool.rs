//! An allocator of the program that keeps count: what it gives comes back once.

use folio_core::canary::Canary;
use folio_core::memory::{HostAllocator, HostBlock};
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many pieces of memory, of which each second one holds zeros and each other one what no buffer
/// may show.
pub struct Pool {
    room: usize,
    refuses: AtomicBool,
    /// Memory that is out.
    live: Mutex<BTreeMap<usize, Layout>>,
    given: AtomicUsize,
    wrong: AtomicUsize,
    canary: Canary,
}

impl Pool {
    /// A pool with room for so many pieces.
    pub fn new(room: usize) -> Arc<Pool> {
        let (refuses, live) = (AtomicBool::new(false), Mutex::default());
        let [given, wrong] = [0; 2].map(AtomicUsize::new);
        Arc::new(Pool { room, refuses, live, given, wrong, canary: Canary::new("an allocator") })
    }

    /// From now on it refuses, or gives again.
    pub fn refuse(&self, refuses: bool) {
        self.refuses.store(refuses, Ordering::SeqCst);
    }

    /// Pieces that were given so far.
    pub fn given(&self) -> usize {
        self.given.load(Ordering::SeqCst)
    }

    /// Pieces that are out.
    pub fn out(&self) -> usize {
        self.live().len()
    }

    /// Pieces that came back twice, or by another layout than they were given for.
    pub fn wrong(&self) -> usize {
        self.wrong.load(Ordering::SeqCst)
    }

    /// An address is that of a piece that is out.
    pub fn has_given(&self, address: Option<u64>) -> bool {
        address.is_some_and(|address| self.live().contains_key(&(address as usize)))
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<usize, Layout>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: memory of the global allocator, which is freed when it comes back for the first time.
unsafe impl HostAllocator for Pool {
    fn allocate(&self, layout: Layout) -> Option<HostBlock> {
        self.canary.runs();
        let mut live = self.live();
        if self.refuses.load(Ordering::SeqCst) || live.len() == self.room {
            return None;
        }
        let zeroed = self.given.fetch_add(1, Ordering::SeqCst) % 2 == 1;
        // SAFETY: the engine asks for no empty layout.
        let at = unsafe { if zeroed { alloc_zeroed(layout) } else { alloc(layout) } };
        live.insert(at.addr(), layout);
        if zeroed {
            return Some(HostBlock::zeroed(at));
        }
        // SAFETY: there are so many bytes.
        unsafe { at.write_bytes(0xa5, layout.size()) };
        Some(HostBlock::unknown(at))
    }

    unsafe fn deallocate(&self, at: NonNull<u8>, layout: Layout) {
        self.canary.runs();
        if self.live().remove(&at.addr().get()) == Some(layout) {
            // SAFETY: it was allocated by this layout, and was out until now.
            unsafe { dealloc(at.as_ptr(), layout) };
        } else {
            self.wrong.fetch_add(1, Ordering::SeqCst);
        }
    }
}
