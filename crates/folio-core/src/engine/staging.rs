//! Host memory that the engine owns: the host allocations of buffers, and the stops on the way of
//! data that cannot go directly.

use super::devices::Budget;
use crate::hal::HostPtr;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::Arc;

/// The least alignment of a buffer's memory on the host: a cache line, and the widest vector.
pub(crate) const ALIGN: usize = 64;

/// What is allocated is aligned to more, so that devices that share the host's memory can use it:
/// PoCL asks for this much.
const ALLOCATED: usize = 128;

/// Zeroed host memory, and the layout to free it by; `None` when there is not enough. Large
/// requests cost nothing until touched.
pub(crate) fn host_alloc(bytes: usize) -> Option<(HostPtr, Layout)> {
    let layout = Layout::from_size_align(bytes.max(1), ALLOCATED).ok()?;
    // SAFETY: the layout's size is not 0.
    let ptr = unsafe { alloc_zeroed(layout) };
    (!ptr.is_null()).then_some((HostPtr(ptr), layout))
}

/// Gives host memory back.
///
/// # Safety
/// `ptr` came from the global allocator by this layout, is freed once, and nothing uses it any
/// more.
pub(crate) unsafe fn host_free(ptr: HostPtr, layout: Layout) {
    // SAFETY: the caller's promise.
    unsafe { dealloc(ptr.0, layout) };
}

/// Host memory that lives as long as the operations that hold it.
pub(crate) struct Staging {
    ptr: HostPtr,
    layout: Layout,
    /// What it is counted against, and how many bytes.
    budget: Option<(Arc<Budget>, u64)>,
}

impl Staging {
    fn new(bytes: usize) -> Option<Staging> {
        let (ptr, layout) = host_alloc(bytes)?;
        Some(Staging { ptr, layout, budget: None })
    }

    /// Zeroed memory of `bytes`, if they are within the budget and there.
    pub(crate) fn within(budget: &Arc<Budget>, bytes: usize) -> Option<Staging> {
        if !budget.take(bytes as u64) {
            return None;
        }
        let staging = Staging::new(bytes);
        if staging.is_none() {
            budget.give(bytes as u64);
        }
        let mut staging = staging?;
        staging.budget = Some((budget.clone(), bytes as u64));
        Some(staging)
    }

    /// A copy of `data`.
    pub(crate) fn of(data: &[u8]) -> Option<Staging> {
        let staging = Staging::new(data.len())?;
        // SAFETY: fresh memory of that size, ours alone.
        unsafe { staging.ptr.0.copy_from_nonoverlapping(data.as_ptr(), data.len()) };
        Some(staging)
    }

    pub(crate) fn ptr(&self) -> HostPtr {
        self.ptr
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` by this layout; the last holder is gone.
        unsafe { host_free(self.ptr, self.layout) };
        if let Some((budget, bytes)) = &self.budget {
            budget.give(*bytes);
        }
    }
}
