//! How a launch of an emitted text is cut into threads.

use crate::module::Built;
use folio_core::hal::{Geometry, HalError};
use folio_core::ir::emit::{COMBINED, Grid, LANES, Threads};
use std::ops::Range;

/// Items of a row that one thread computes, at least and at most, and threads for each unit, if
/// there are so many items: they may take differently long.
const RUN: [u64; 2] = [64, 16_384];
const MANY: u64 = 8;
/// Blocks of a launch, at most: drivers count them in 32 bits, and compute others than were asked
/// for beyond (PoCL 3.1).
pub(crate) const MOST_BLOCKS: u64 = 1 << 31;

/// Threads, and those of a block; the slowest dimension first.
pub(crate) struct Threaded {
    pub(crate) global: [usize; 3],
    pub(crate) local: [usize; 3],
    /// What the text is told of the launch.
    pub(crate) grid: Grid,
}

/// How many there are in all.
pub(crate) fn volume(dims: [u64; 3]) -> Option<u64> {
    dims.into_iter().try_fold(1, u64::checked_mul)
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
            (Threads::Items { .. }, _) => (self.block, part),
            (Threads::Rows, _) => ([1; 3], [slices, rows, self.runs(part)]),
            (Threads::Linear, _) => {
                let blocks = volume(range).ok_or_else(beyond)?.div_ceil(COMBINED);
                let lanes = self.lanes() as u64;
                ([1, 1, lanes], [1, 1, blocks.checked_mul(lanes).ok_or_else(beyond)?])
            }
            (Threads::Groups, Some(group)) => {
                self.check(group)?;
                (group.map(|n| n as u64), part)
            }
            (Threads::Groups, None) => return Err(HalError::unsupported("groups of no size")),
        };
        let items = threads.items(local);
        let blocks: [u64; 3] = std::array::from_fn(|d| blocks[d].div_ceil(items[d]));
        if volume(blocks).is_none_or(|all| all > MOST_BLOCKS) {
            return Err(HalError::unsupported("a launch in more than 2^31 groups"));
        }
        let mut global = [0; 3];
        for (d, threads) in global.iter_mut().enumerate() {
            let all = blocks[d].checked_mul(local[d]).and_then(|n| usize::try_from(n).ok());
            *threads = all.ok_or_else(beyond)?;
        }
        let first = match threads {
            Threads::Items { .. } | Threads::Rows => {
                [offset[0], offset[1], offset[2] + columns.start]
            }
            Threads::Groups | Threads::Linear => [0; 3],
        };
        let grid = Grid { first, range, offset, groups: blocks };
        Ok(Threaded { global, local: local.map(|n| n as usize), grid })
    }

    /// How many threads share a row of a launch of this size.
    fn runs(&self, range: [u64; 3]) -> u64 {
        let items = range.iter().fold(1, |n: u64, d| n.saturating_mul(*d));
        let run = items / self.compute_units.saturating_mul(MANY);
        range[2].div_ceil(run.clamp(RUN[0], RUN[1]))
    }

    /// Threads of a block that combines.
    pub(crate) fn lanes(&self) -> usize {
        self.most.items.clamp(1, LANES as usize)
    }
}
