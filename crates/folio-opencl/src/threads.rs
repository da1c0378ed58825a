//! How a launch of an emitted text is cut into threads.

use crate::module::Built;
use folio_core::hal::{Geometry, HalError};
use folio_core::ir::emit::{Grid, LANES, Threads};
use folio_driver::launch::{Blocks, Fit, beyond};
use std::ops::Range;

/// Blocks of a launch, at most: drivers count them in 32 bits, and compute others than were asked
/// for beyond (PoCL 3.1).
pub(crate) const MOST_BLOCKS: u64 = 1 << 31;

/// Threads, and those of a block; the slowest dimension first.
pub(crate) struct Threaded {
    pub(crate) global: [usize; 3],
    pub(crate) local: [usize; 3],
    /// Blocks of the launch.
    pub(crate) blocks: u64,
    /// The launch, as the text is told of it.
    pub(crate) grid: Grid,
}

impl Built {
    /// The threads of a launch, as far as it is of these columns.
    pub(crate) fn threads(
        &self,
        geometry: &Geometry,
        columns: Range<u64>,
    ) -> Result<Threaded, HalError> {
        if let Some(group) =
            geometry.group.filter(|_| self.module.layout.threads == Threads::Groups)
        {
            self.check(group)?;
        }
        let fit = Fit { block: self.block, lanes: self.lanes() as u64, units: self.compute_units };
        let blocks = Blocks::new(self.module.layout.threads, &fit, geometry, columns)?;
        if blocks.total > MOST_BLOCKS {
            return Err(HalError::unsupported("a launch in more than 2^31 groups"));
        }
        let mut global = [0; 3];
        for (d, threads) in global.iter_mut().enumerate() {
            let all = blocks.count[d].checked_mul(blocks.threads[d]);
            *threads = all.and_then(|n| usize::try_from(n).ok()).ok_or_else(beyond)?;
        }
        let local = blocks.threads.map(|n| n as usize);
        Ok(Threaded { global, local, blocks: blocks.total, grid: blocks.grid })
    }

    /// Threads of a block that combines.
    pub(crate) fn lanes(&self) -> usize {
        self.most.items.clamp(1, LANES as usize)
    }
}
