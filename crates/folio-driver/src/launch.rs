//! Launches of emitted texts: which text computes which columns, in blocks and in grids.

use folio_core::hal::{Args, Geometry, HalError};
use folio_kernel::emit::{COMBINED, Grid, Texts, Threads, is_narrow};
use std::ops::Range;
use std::ptr::null_mut;

/// Items of a row that one thread computes, at least and at most, where threads take rows.
const RUN: [u64; 2] = [64, 16_384];
/// Such threads for each compute unit, if there are so many items: rows take differently long.
const RUNS: u64 = 8;

/// Shapes of a launch of items. 0: the usual one. 1: threads of one item each, or of a quarter of
/// the items of a row that they usually have. 2 and 3: blocks of half and of a quarter of the rows,
/// or threads of twice and of four times as many items of a row.
pub const SHAPES: u8 = 4;
/// Threads for rows in each shape, in quarters of the usual.
const ROW_THREADS: [u64; SHAPES as usize] = [4, 16, 2, 1];

/// A device's limits and choices for one text.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Threads of a block, where threads are items and no groups; the slowest dimension first.
    pub block: [u64; 3],
    /// Threads of a block that combines values.
    pub lanes: u64,
    /// Compute units.
    pub units: u64,
}

/// Blocks of threads, the slowest dimension first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Threads of a block.
    pub threads: [u64; 3],
    /// Blocks of the launch in each dimension.
    pub count: [u64; 3],
    /// Blocks of the launch.
    pub total: u64,
    /// The launch, as the text is told of it.
    pub grid: Grid,
    /// How far apart the first positions of two blocks are.
    step: [u64; 3],
}

/// Whether a launch takes a text without tests: nothing can be out of bounds, and places have 32
/// bits, as such a text computes them.
pub fn is_proved(geometry: &Geometry, args: &Args<'_>) -> bool {
    let params = args.params.iter().map(|param| param.at(null_mut()));
    args.proved && is_narrow(geometry.range, geometry.offset, params)
}

/// The parts of a launch: texts, and the columns that each computes.
pub type Parts<T> = [Option<(T, Range<u64>)>; 2];

/// Up to a column the text for several items, then the text for each. `several` and `each` make
/// them ready, if they are needed; where `several` gives none, the other text computes all.
pub fn parts<'t, T, U>(
    texts: &'t Texts<T>,
    geometry: &Geometry,
    (units, proved): (u64, bool),
    several: impl FnOnce(&'t T) -> Option<U>,
    each: impl FnOnce(&'t T) -> Result<U, HalError>,
) -> Result<Parts<U>, HalError> {
    let range = geometry.range.map(|n| n as u64);
    let tiled = texts.several(range, units).filter(|_| proved && geometry.shape != 1);
    let tiled = tiled.and_then(|(text, columns)| Some((several(text)?, 0..columns)));
    let rest = tiled.as_ref().map_or(0, |(_, columns)| columns.end)..range[2];
    let is_left = tiled.is_none() || !rest.is_empty();
    let rest = is_left.then(|| Ok::<_, HalError>((each(texts.text(proved))?, rest))).transpose()?;
    Ok([tiled, rest])
}

/// The product, if it can be counted.
pub fn volume(dims: [u64; 3]) -> Option<u64> {
    dims.into_iter().try_fold(1, u64::checked_mul)
}

/// The error of a launch whose threads cannot be counted.
pub fn beyond() -> HalError {
    HalError::unsupported("a launch of this size")
}

impl Blocks {
    /// The blocks of a launch, as far as it is of these columns.
    pub fn new(
        threads: Threads,
        fit: &Fit,
        geometry: &Geometry,
        columns: Range<u64>,
    ) -> Result<Blocks, HalError> {
        let (range, offset) = (geometry.range.map(|n| n as u64), geometry.offset.map(|n| n as u64));
        let part = [range[0], range[1], columns.end - columns.start];
        let (block, all) = match (threads, geometry.group) {
            (Threads::Items { .. }, _) => (shaped(fit.block, geometry.shape), part),
            (Threads::Rows, _) => {
                ([1; 3], [range[0], range[1], runs(part, fit.units, geometry.shape)])
            }
            (Threads::Linear, _) => {
                let blocks = volume(range).ok_or_else(beyond)?.div_ceil(COMBINED);
                let all = blocks.checked_mul(fit.lanes).ok_or_else(beyond)?;
                ([1, 1, fit.lanes], [1, 1, all])
            }
            (Threads::Groups, Some(group)) => (group.map(|n| n as u64), part),
            (Threads::Groups, None) => return Err(HalError::unsupported("groups of no size")),
        };
        let items = threads.items(block);
        let count = std::array::from_fn(|d| all[d].div_ceil(items[d]));
        let (first, step) = match threads {
            Threads::Items { .. } | Threads::Rows => {
                ([offset[0], offset[1], offset[2] + columns.start], items)
            }
            // Their first position is a block's number.
            Threads::Groups | Threads::Linear => ([0; 3], [1; 3]),
        };
        let total = volume(count).ok_or_else(beyond)?;
        let grid = Grid { first, range, offset, groups: count };
        Ok(Blocks { threads: block, count, total, grid, step })
    }

    /// Gives `each` the launch in grids of at most so many blocks: what the text is told of the
    /// grid, and its blocks.
    pub fn split(
        &self,
        most: [u64; 3],
        mut each: impl FnMut(&Grid, [u64; 3]) -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        if (0..3).all(|d| (1..=most[d]).contains(&self.count[d])) {
            return each(&self.grid, self.count);
        }
        let steps = |d: usize| (0..self.count[d]).step_by(most[d].max(1) as usize);
        for slice in steps(0) {
            for row in steps(1) {
                for column in steps(2) {
                    let begin = [slice, row, column];
                    let mut grid = self.grid;
                    grid.first = std::array::from_fn(|d| grid.first[d] + begin[d] * self.step[d]);
                    each(&grid, std::array::from_fn(|d| (self.count[d] - begin[d]).min(most[d])))?;
                }
            }
        }
        Ok(())
    }
}

/// A block in this shape. Its columns stay: some texts are for so many.
fn shaped(mut block: [u64; 3], shape: u8) -> [u64; 3] {
    for _ in 1..shape.min(SHAPES) {
        if let Some(rows) = block[..2].iter_mut().find(|rows| **rows > 1) {
            *rows /= 2;
        }
    }
    block
}

/// How many threads share a row of a launch of this size.
fn runs(range: [u64; 3], units: u64, shape: u8) -> u64 {
    let items = range.iter().fold(1, |n: u64, d| n.saturating_mul(*d));
    let threads = ROW_THREADS.get(usize::from(shape)).unwrap_or(&ROW_THREADS[0]);
    let run = items / (units.saturating_mul(RUNS).saturating_mul(*threads) / 4).max(1);
    range[2].div_ceil(run.clamp(RUN[0], RUN[1]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;
    use folio_core::hal::{MemBase, MemRef, Param};

    const FIT: Fit = Fit { block: [1, 4, 32], lanes: 256, units: 4 };

    fn blocks(threads: Threads, geometry: &Geometry) -> Result<Blocks, HalError> {
        Blocks::new(threads, &FIT, geometry, 0..geometry.range[2] as u64)
    }

    #[test]
    fn blocks_hold_all_items() {
        let items = Geometry { offset: [0, 0, 7], ..Geometry::new(3, [2, 9, 100]) };
        let groups = Geometry { group: Some([1, 3, 50]), ..items };
        for (threads, geometry, count, first) in [
            (Threads::Items { tile: 1 }, items, [2, 3, 4], [0, 0, 7]),
            (Threads::Items { tile: 4 }, items, [2, 3, 1], [0, 0, 7]),
            (Threads::Rows, items, [2, 9, 2], [0, 0, 7]),
            (Threads::Groups, groups, [2, 3, 2], [0; 3]),
            (Threads::Linear, items, [1, 1, 1], [0; 3]),
        ] {
            let made = blocks(threads, &geometry).unwrap();
            assert_eq!((made.count, made.grid.first), (count, first), "{threads:?}");
            assert_eq!(made.total, count.iter().product::<u64>());
        }
        assert!(blocks(Threads::Groups, &items).is_err());
        assert!(blocks(Threads::Linear, &Geometry::new(3, [1 << 40, 1 << 40, 1])).is_err());
    }

    #[test]
    fn grids_cover_the_blocks_once() {
        let geometry = Geometry { offset: [0, 5, 0], ..Geometry::new(3, [2, 40, 1000]) };
        let made = blocks(Threads::Items { tile: 1 }, &geometry).unwrap();
        assert_eq!(made.count, [2, 10, 32]);
        let (mut seen, mut firsts) = (0, vec![]);
        let mut note = |grid: &Grid, count: [u64; 3]| {
            seen += count.iter().product::<u64>();
            firsts.push(grid.first);
            Ok(())
        };
        made.split([2, 4, 32], &mut note).unwrap();
        assert_eq!(seen, made.total);
        assert_eq!(firsts, [[0, 5, 0], [0, 21, 0], [0, 37, 0]]);
        let mut grids = 0;
        made.split([65_535; 3], |grid, count| {
            grids += 1;
            assert_eq!((*grid, count), (made.grid, made.count));
            Ok(())
        })
        .unwrap();
        assert_eq!(grids, 1);
    }

    /// What is proved to be in bounds is tested all the same, where places need more than 31 bits.
    #[test]
    fn large_launches_are_tested() {
        let of = |columns| Param {
            mem: MemRef { base: MemBase::Device { device: 0, handle: 1 }, offset: 0 },
            size: 1,
            write: false,
            dims: [1, 1, columns],
            origin: [0; 3],
            extent: [1, 1, columns],
            index: [0; 3],
            shape: [1, 1, columns],
        };
        for (items, elements, proved, is) in [
            (100, 100, true, true),
            (100, 100, false, false),
            (100, 1 << 31, true, false),
            (1 << 31, 100, true, false),
        ] {
            let params = [of(elements)];
            let args = Args { proved, ..Args::new(&params) };
            assert_eq!(
                is_proved(&Geometry::new(3, [1, 1, items]), &args),
                is,
                "{items} {elements}"
            );
        }
    }

    #[test]
    fn long_rows_are_shared_by_threads() {
        assert_eq!(runs([1, 1, 10], 4, 0), 1);
        assert_eq!(runs([1, 1, 64 * 32], 4, 0), 32);
        assert_eq!(runs([1, 1, 1 << 30], 4, 0), (1 << 30) / 16_384);
        assert_eq!(runs([1000, 1, 64], 0, 0), 1);
        assert_eq!([0, 1, 2, 3].map(|shape| runs([1, 1, 1 << 16], 4, shape)), [32, 128, 16, 8]);
        // A shape that there is not is the usual one.
        assert_eq!(runs([1, 1, 1 << 16], 4, SHAPES), 32);
    }

    #[test]
    fn shapes_cut_rows_of_blocks() {
        let of = |block| [0, 1, 2, 3].map(|shape| shaped(block, shape));
        assert_eq!(of([1, 8, 32]), [[1, 8, 32], [1, 8, 32], [1, 4, 32], [1, 2, 32]]);
        assert_eq!(of([2, 4, 32]), [[2, 4, 32], [2, 4, 32], [1, 4, 32], [1, 2, 32]]);
        assert_eq!(of([1, 1, 256]), [[1, 1, 256]; 4]);
        // All items are computed in every shape.
        for shape in 0..SHAPES {
            let geometry = Geometry { shape, ..Geometry::new(3, [3, 37, 100]) };
            let fit = Fit { block: [2, 4, 32], ..FIT };
            let threads = Threads::Items { tile: 1 };
            let made = Blocks::new(threads, &fit, &geometry, 0..100).unwrap();
            let items = threads.items(made.threads);
            assert!((0..3).all(|d| made.count[d] * items[d] >= geometry.range[d] as u64));
            assert!((0..3).all(|d| (made.count[d] - 1) * items[d] < geometry.range[d] as u64));
        }
    }
}
