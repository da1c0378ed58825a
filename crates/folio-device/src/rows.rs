//! The rows in which reductions take the values of a block: neighbours, by their numbers in the
//! launch.

use super::chunk::CHUNK;
use super::param::last;
use super::reduce::LANES;
use super::{Item, Launched, Positions};
use std::ops::Range;

/// Neighbouring items, whose values are of one chunk; and of one row of lanes, where the values of
/// the block follow each other.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Number of the first of them in the launch.
    pub(super) first: usize,
    pub(super) len: usize,
    /// Position of the first of them.
    pub(super) at: [usize; 3],
}

impl Row {
    /// Calls `body` for each of them, with its number in the row.
    ///
    /// # Safety
    /// As for [`Positions::each`].
    #[inline(always)]
    pub unsafe fn each<const D: usize>(&self, mut body: impl FnMut(Item<'_, D>, usize)) {
        let [z, y, x] = self.at;
        for k in 0..self.len {
            // A test of this sum, in profiles that have it, would cost the vectors.
            body(Item::new(last([z, y, x.wrapping_add(k)])), k);
        }
    }
}

impl Launched {
    /// The rows of a block, in order. (Not by a closure: the loop over them is the caller's, with
    /// the instructions that it is compiled for.)
    #[inline(always)]
    pub fn rows(&self, block: &Positions) -> Rows<'_> {
        let places = self.places(block);
        let empty = (0..3).any(|dim| places.min[dim] >= places.max[dim]);
        let apart = self.reduces() && !self.is_run(block);
        let most = if apart { CHUNK } else { LANES };
        Rows { launch: self, at: places.min, over: empty, most, places }
    }

    /// The values of a block follow each other.
    pub(super) fn is_run(&self, block: &Positions) -> bool {
        let places = self.places(block);
        let extent = (0..3).map(|dim| places.max[dim] - places.min[dim]);
        self.numbers(&places).len() == extent.product()
    }

    /// The numbers of values from the first of these items or groups to the last.
    pub(super) fn numbers(&self, places: &Positions) -> Range<usize> {
        let grid = self.grid();
        let linear = |[z, y, x]: [usize; 3]| (z * grid[1] + y) * grid[2] + x;
        let first = linear(places.min);
        let empty = (0..3).any(|dim| places.min[dim] >= places.max[dim]);
        first..if empty { first } else { linear(places.max.map(|end| end - 1)) + 1 }
    }
}

/// See [`Launched::rows`].
#[derive(Debug)]
pub struct Rows<'l> {
    launch: &'l Launched,
    places: Positions,
    /// Where the next one begins.
    at: [usize; 3],
    over: bool,
    /// Where values begin that are not of the same row, by their number.
    most: usize,
}

impl Iterator for Rows<'_> {
    type Item = Row;

    #[inline(always)]
    fn next(&mut self) -> Option<Row> {
        if self.over {
            return None;
        }
        let Rows { launch, places: Positions { min, max }, at: [z, y, x], most, .. } = *self;
        let first = (z * launch.range[1] + y) * launch.range[2] + x;
        let len = (most - first % most).min(max[2] - x);
        let at = [z, y, x];
        let row = Row { first, len, at: std::array::from_fn(|dim| at[dim] + launch.offset[dim]) };
        self.at[2] += len;
        if self.at[2] == max[2] {
            (self.at[2], self.at[1]) = (min[2], y + 1);
            if self.at[1] == max[1] {
                (self.at[1], self.at[0]) = (min[1], z + 1);
                self.over = self.at[0] == max[0];
            }
        }
        Some(row)
    }
}
