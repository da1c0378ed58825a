//! Host memory that the engine owns: the host allocations of buffers, and the stops on the way of
//! data that cannot go directly.

use super::devices::Budget;
use crate::hal::HostPtr;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::Arc;

/// Alignment of the engine's host memory: a cache line, and the widest vector.
pub(crate) const ALIGN: usize = 64;

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), ALIGN).ok()
}

/// Zeroed host memory; `None` when there is not enough. Large requests cost nothing until touched.
pub(crate) fn host_alloc(bytes: usize) -> Option<HostPtr> {
    let layout = layout(bytes)?;
    // SAFETY: the layout's size is not 0.
    let ptr = unsafe { alloc_zeroed(layout) };
    (!ptr.is_null()).then_some(HostPtr(ptr))
}

/// Gives memory of [`host_alloc`] back.
///
/// # Safety
/// `ptr` came from `host_alloc(bytes)`, is freed once, and nobody uses it any more.
pub(crate) unsafe fn host_free(ptr: HostPtr, bytes: usize) {
    if let Some(layout) = layout(bytes) {
        // SAFETY: the caller's promise; the layout is the one that it was allocated with.
        unsafe { dealloc(ptr.0, layout) };
    }
}

/// Host memory that lives as long as the operations that hold it.
pub(crate) struct Staging {
    ptr: HostPtr,
    bytes: usize,
    /// What it is counted against.
    budget: Option<Arc<Budget>>,
}

impl Staging {
    fn new(bytes: usize) -> Option<Staging> {
        Some(Staging { ptr: host_alloc(bytes)?, bytes, budget: None })
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
        staging.budget = Some(budget.clone());
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
        // SAFETY: allocated in `new` with this size; the last holder is gone.
        unsafe { host_free(self.ptr, self.bytes) };
        if let Some(budget) = &self.budget {
            budget.give(self.bytes as u64);
        }
    }
}
