//! What tests share: a deterministic generator, and a picture of boxes.

use crate::geom::{Box3, Dims};

/// A small deterministic generator (SplitMix64).
pub(crate) struct Rng(u64);

impl Rng {
    /// The generator of `seed`.
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 when `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.next().checked_rem(n as u64).unwrap_or(0) as usize
    }

    /// A box in `0..dims`, sometimes one cell, sometimes all, sometimes empty or reaching out.
    pub(super) fn box_in(&mut self, dims: Dims) -> Box3 {
        match self.below(8) {
            0 => Box3::whole(dims),
            1..4 => Box3::cell(dims.map(|n| self.below(n))),
            _ => {
                let min = dims.map(|n| self.below(n + 1));
                let max = [0, 1, 2].map(|d| min[d] + self.below(dims[d] - min[d] + 2));
                Box3 { min, max }
            }
        }
    }
}

/// `n` seeds; few under Miri, which runs a thousand times slower.
pub(crate) fn seeds(n: u64) -> std::ops::Range<u64> {
    if cfg!(miri) { 0..n.min(2) } else { 0..n }
}

/// Grids of every dimensionality, blocks cut and whole, and without pages.
pub(super) const GRIDS: [Dims; 12] = [
    [1, 1, 1],
    [1, 1, 10],
    [1, 1, 64],
    [1, 1, 200],
    [1, 5, 7],
    [1, 3, 150],
    [1, 40, 3],
    [3, 4, 5],
    [9, 3, 2],
    [2, 2, 70],
    [0, 0, 0],
    [1, 0, 9],
];

/// The cells marked `1` in rows of text.
pub(super) fn picture(rows: &[&str]) -> Vec<Box3> {
    let cells = rows.iter().enumerate().flat_map(|(y, row)| {
        let marks = row.bytes().enumerate().filter(|(_, mark)| *mark == b'1');
        marks.map(move |(x, _)| Box3::cell([0, y, x]))
    });
    cells.collect()
}
