//! What a launch is to the kernel that computes it: where it begins, its groups, its reductions.

use super::chunk::CHUNK;
use super::reduce::Reduction;
use super::tally::Tallies;
use super::{Counted, ParamPtr, Positions};

/// A launch. Three dimensions, the slowest first; ones where a launch has fewer.
#[derive(Debug, Default)]
pub struct Launched {
    /// Position of the first item.
    pub offset: [usize; 3],
    /// Items.
    pub range: [usize; 3],
    /// Items of a group; 1 for item kernels.
    pub group: [usize; 3],
    /// By parameter of that kind: what its values come to.
    reductions: Vec<Reduction>,
    /// The arrays in which it only counts.
    tallies: Tallies,
}

/// Items of a leaf of a reduction's tree (semantics 8.4).
pub const LEAF: usize = CHUNK;

/// Items, or groups, that a launch with reductions may have: the CPU has a word for each 4096 of
/// them.
pub const MOST_REDUCED: usize = 1 << (usize::BITS - 24);

/// Bytes that a group may take on the CPU, for its items' variables and what they combine: each of
/// its threads keeps memory for one group.
pub const MOST_GROUP_BYTES: u64 = 256 << 20;

impl Launched {
    /// A launch, with so many reductions, of which no value is known yet.
    pub fn new(
        offset: [usize; 3],
        range: [usize; 3],
        group: [usize; 3],
        reductions: usize,
    ) -> Launched {
        let mut launch = Launched { offset, range, group, ..Launched::plain() };
        let grid = launch.grid();
        let values = grid.iter().product();
        launch.reductions = (0..reductions).map(|_| Reduction::new(values)).collect();
        launch
    }

    /// The same, whose reductions leave a value for each leaf of their trees: of each group, or of
    /// 4096 items.
    pub fn leaving(mut self) -> Launched {
        self.reductions.iter_mut().for_each(Reduction::leave);
        self
    }

    /// Of which a kernel of items without reductions needs to know nothing.
    pub const fn plain() -> Launched {
        let (offset, range, group) = ([0; 3], [0; 3], [1; 3]);
        Launched { offset, range, group, reductions: vec![], tallies: Tallies::none() }
    }

    /// The same of a kernel that counts in these arrays, in copies where they are worth it.
    /// `elements` tells how many elements a parameter has that is memory.
    pub fn counting(
        mut self,
        counted: &[Counted],
        elements: impl Fn(usize) -> Option<usize>,
    ) -> Launched {
        self.tallies = Tallies::new(counted, self.items(), elements);
        self
    }

    /// Of such a kernel it is the same as [`Launched::plain`].
    pub fn counts_in_place(&self) -> bool {
        self.tallies.is_empty()
    }

    fn items(&self) -> usize {
        self.range.iter().fold(1, |items, size| items.saturating_mul(*size))
    }

    /// The same launch begins once more, though an earlier one may have stopped half-way.
    pub fn begin(&self) {
        self.reductions.iter().for_each(Reduction::begin);
        self.tallies.begin();
    }

    /// The arrays that have copies.
    pub(super) fn tallies(&self) -> &Tallies {
        &self.tallies
    }

    /// A block was computed.
    ///
    /// # Safety
    /// `memory` is that of the launch, and only its other blocks use it, each of which is told of
    /// once.
    pub(super) unsafe fn computed(&self, block: &Positions, memory: &[ParamPtr]) {
        if !self.tallies.is_empty() {
            // SAFETY: the caller's promise.
            unsafe { self.tallies.computed(block, self.items(), memory) };
        }
    }

    /// Groups; items for item kernels.
    pub(super) fn grid(&self) -> [usize; 3] {
        std::array::from_fn(|dim| self.range[dim] / self.group[dim].max(1))
    }

    /// Where blocks of items in one dimension should begin: so that no two share what is reduced
    /// together.
    pub fn grain(&self) -> usize {
        let alone = !self.reductions.is_empty() && self.group == [1; 3];
        if alone { CHUNK } else { 1 }
    }

    /// It has reductions.
    pub(super) fn reduces(&self) -> bool {
        !self.reductions.is_empty()
    }

    /// One of its reductions.
    pub(super) fn reduction(&self, at: usize) -> Option<&Reduction> {
        self.reductions.get(at)
    }

    /// The groups of a block, or its items for item kernels: the first, and one past the last.
    pub(super) fn places(&self, block: &Positions) -> Positions {
        let of = |at: [usize; 3]| {
            std::array::from_fn(|dim| {
                at[dim].wrapping_sub(self.offset[dim]) / self.group[dim].max(1)
            })
        };
        Positions { min: of(block.min), max: of(block.max) }
    }
}
