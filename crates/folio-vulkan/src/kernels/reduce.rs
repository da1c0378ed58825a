//! Memory in which launch-wide reductions are combined. A lane is in order, so the next launch uses
//! the same.

use crate::device::Core;
use crate::memory::Block;
use folio_core::hal::{AllocKind, HalError};

/// Bytes that a lane keeps for the next launch.
const KEPT: u64 = 4 << 20;

/// Pieces that a lane has and does not use in the launch that it records; the smallest first.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Vec<Block>);

impl Scratch {
    /// A piece with room for so many bytes.
    pub(crate) fn take(&mut self, core: &Core, bytes: u64) -> Result<Block, HalError> {
        if let Some(at) = self.0.iter().position(|piece| piece.size >= bytes) {
            return Ok(self.0.remove(at));
        }
        let beyond = || HalError::unsupported("a reduction of this size");
        let bytes = bytes.checked_next_power_of_two().ok_or_else(beyond)?.max(4096);
        core.memory.block(&core.device, AllocKind::Device, (bytes, 256), "folio reduction")
    }

    /// For a later launch; those that are too much are returned, and go when this one has ended.
    pub(crate) fn keep(&mut self, piece: Block) -> Vec<Block> {
        let at = self.0.partition_point(|other| other.size < piece.size);
        self.0.insert(at, piece);
        let mut much = vec![];
        while self.0.iter().map(|piece| piece.size).sum::<u64>() > KEPT {
            much.extend(self.0.pop());
        }
        much
    }

    /// Gives all back. Nothing uses any of it.
    pub(crate) fn destroy(&mut self, core: &Core) {
        for block in self.0.drain(..) {
            core.memory.release(&core.device, block);
        }
    }
}
