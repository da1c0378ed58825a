//! How a launch of an emitted text is cut into threads.

use crate::module::Built;
use folio_core::hal::{Geometry, HalError};
use folio_core::ir::emit::{COMBINED, Grid, LANES, Threads};
use std::ops::Range;

/// Threads, and those of a block; the slowest dimension first.
pub(crate) struct Threaded {
    pub(crate) global: [usize; 3],
    pub(crate) local: [usize; 3],
    /// What the text is told of the launch.
    pub(crate) grid: Grid,
}

impl Threaded {
    pub(crate) fn blocks(&self) -> [usize; 3] {
        std::array::from_fn(|d| self.global[d] / self.local[d].max(1))
    }
}

fn beyond() -> HalError {
    HalError::unsupported("a launch of this size")
}

impl Built {
    /// The threads of a launch, as far as it is of these columns.
    pub(crate) fn threads(
        &self,
        geometry: &Geometry,
        columns: Range<u64>,
    ) -> Result<Threaded, HalError> {
        let threads = self.module.layout.threads;
        let (range, offset) = (geometry.range.map(|n| n as u64), geometry.offset.map(|n| n as u64));
        let [slices, rows, _] = range;
        let part = [slices, rows, columns.end - columns.start];
        let (local, blocks) = match (threads, geometry.group) {
            (Threads::Items { .. }, _) => (self.block_of(part), part),
            (Threads::Linear, _) => {
                let items = range.iter().try_fold(1, |n: u64, d| n.checked_mul(*d));
                let blocks = items.ok_or_else(beyond)?.div_ceil(COMBINED);
                let lanes = self.lanes() as u64;
                ([1, 1, lanes], [1, 1, blocks.checked_mul(lanes).ok_or_else(beyond)?])
            }
            (Threads::Groups, Some(group)) => {
                self.most.check(group)?;
                (group.map(|n| n as u64), part)
            }
            (Threads::Groups, None) => return Err(HalError::unsupported("groups of no size")),
        };
        let items = threads.items(local);
        let blocks: [u64; 3] = std::array::from_fn(|d| blocks[d].div_ceil(items[d]));
        let mut global = [0; 3];
        for (d, threads) in global.iter_mut().enumerate() {
            let all = blocks[d].checked_mul(local[d]).and_then(|n| usize::try_from(n).ok());
            *threads = all.ok_or_else(beyond)?;
        }
        let first = match threads {
            Threads::Items { .. } => [offset[0], offset[1], offset[2] + columns.start],
            Threads::Groups | Threads::Linear => [0; 3],
        };
        let grid = Grid { first, range, offset, groups: blocks };
        Ok(Threaded { global, local: local.map(|n| n as usize), grid })
    }

    /// The threads of a block of items, of a launch of this size.
    fn block_of(&self, range: [u64; 3]) -> [u64; 3] {
        let items = range.iter().fold(1, |n: u64, d| n.saturating_mul(*d));
        let long = self.long.filter(|(long, least)| range[2] >= long[2] && items >= *least);
        long.map_or(self.block, |(long, _)| long)
    }

    /// Threads of a block that combines.
    pub(crate) fn lanes(&self) -> usize {
        self.most.items.clamp(1, LANES as usize)
    }
}
