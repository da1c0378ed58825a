//! Memory that host and device reach, through which copies of pageable memory go. A device keeps
//! some pieces for the next copies: to allocate, map and touch a piece costs more than to fill it.

use crate::device::Core;
use crate::lane::counts::Counts;
use crate::memory::Block;
use folio_core::hal::{AllocKind, HalError};
use folio_driver::lock;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a stage. The allocator has four of them in one piece of the driver's memory.
pub(crate) const STAGE: u64 = 8 << 20;
/// Stages that a device keeps: two for each of two lanes that copy at once.
const KEPT: usize = 4;

/// The stages that no copy uses.
#[derive(Debug, Default)]
pub(crate) struct Stages(Mutex<Vec<Block>>);

impl Stages {
    fn lock(&self) -> MutexGuard<'_, Vec<Block>> {
        lock(&self.0)
    }

    /// Takes a kept stage, or allocates one.
    pub(crate) fn take(&self, core: &Core) -> Result<Block, HalError> {
        if let Some(stage) = self.lock().pop() {
            return Ok(stage);
        }
        let layout = (STAGE, 256);
        let made = core.memory.block(&core.device, AllocKind::Host, layout, "folio staging")?;
        core.counts().add(&Counts { stages: 1, ..Counts::default() });
        Ok(made)
    }

    /// Takes a stage back that neither host nor device uses.
    pub(crate) fn give(&self, core: &Core, stage: Block) {
        let mut kept = self.lock();
        if kept.len() < KEPT {
            return kept.push(stage);
        }
        drop(kept);
        core.memory.release(&core.device, stage);
    }

    /// All that are kept, when their device goes.
    pub(crate) fn drain(&mut self) -> Vec<Block> {
        std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner))
    }
}
