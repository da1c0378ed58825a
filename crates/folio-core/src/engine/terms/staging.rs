//! Host memory that the engine uses itself: the stops on the way of data that cannot go directly.

use crate::engine::terms::budget::Budget;
use crate::engine::terms::lender::{HostMemory, give_back, take};
use crate::hal::HostPtr;
use std::sync::Arc;

/// Host memory that lives as long as the operations that hold it.
pub(crate) struct Staging {
    memory: HostMemory,
    /// The budget that it is counted against, and how many bytes.
    budget: Option<(Arc<Budget>, u64)>,
}

impl Staging {
    fn new(bytes: usize) -> Option<Staging> {
        Some(Staging { memory: take(None, bytes).ok()?, budget: None })
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
        unsafe { staging.memory.at.0.copy_from_nonoverlapping(data.as_ptr(), data.len()) };
        Some(staging)
    }

    pub(crate) fn ptr(&self) -> HostPtr {
        self.memory.at
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // SAFETY: taken in `new`; the last holder is gone.
        unsafe { give_back(self.memory.at, self.memory.lender) };
        if let Some((budget, bytes)) = &self.budget {
            budget.give(*bytes);
        }
    }
}
