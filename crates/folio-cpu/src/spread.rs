//! A launch cut into blocks.

use folio_core::geom::Dims;
use folio_core::hal::{Block, Geometry};

/// A launch range as a list of disjoint blocks that is never written down. Every block is
/// contiguous in the order of items, and made of whole work-groups where there are any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    range: Dims,
    /// Items that stay together.
    unit: Dims,
    /// Such units in each dimension.
    units: Dims,
    /// Blocks in each dimension.
    parts: Dims,
}

impl Blocks {
    /// About `wanted` blocks, at least one and fewer than twice as many: the slowest dimension is
    /// cut first, and the next one only where that gave too few. In the last dimension, `row` items
    /// stay together; what has one dimension is cut at multiples of `grain`, too.
    pub(crate) fn new(geometry: &Geometry, [grain, row]: [usize; 2], wanted: usize) -> Blocks {
        let mut unit = match (geometry.group, geometry.range) {
            (Some(group), _) => group,
            (None, [1, 1, _]) => [1, 1, row.next_multiple_of(grain.max(1))],
            (None, [1, rows, items]) => [1, rows_of(grain, items, rows / wanted.max(1)), row],
            (None, _) => [1, 1, row],
        };
        let (mut units, mut parts) = ([1; 3], [1; 3]);
        let mut missing = wanted.max(1);
        for d in 0..3 {
            unit[d] = unit[d].max(1);
            units[d] = geometry.range[d].div_ceil(unit[d]).max(1);
            parts[d] = units[d].min(missing);
            missing = missing.div_ceil(parts[d]);
        }
        Blocks { range: geometry.range, unit, units, parts }
    }

    pub(crate) fn count(&self) -> usize {
        self.parts[0] * self.parts[1] * self.parts[2]
    }

    /// Block `index`, which is below `count`.
    pub(crate) fn get(&self, index: usize) -> Block {
        let [_, b, c] = self.parts;
        let at = [index / (b * c), index / c % b, index % c];
        let mut block = Block::EMPTY;
        for (d, part) in at.into_iter().enumerate() {
            block.min[d] = self.start(d, part);
            block.max[d] = self.start(d, part + 1);
        }
        block
    }

    /// The first item of part `i` of dimension `d`. Twice as many parts have these borders, too,
    /// but for one unit: what a thread computes of a launch is near to what it computed before.
    fn start(&self, d: usize, i: usize) -> usize {
        let (each, over) = (self.units[d] / self.parts[d], self.units[d] % self.parts[d]);
        (i * each + i * over / self.parts[d]).saturating_mul(self.unit[d]).min(self.range[d])
    }
}

/// How many rows of so many items are a multiple of what is reduced together; 1 where `most` are
/// fewer.
fn rows_of(grain: usize, items: usize, most: usize) -> usize {
    let common = 1 << (grain | items.max(1)).trailing_zeros();
    if grain / common <= most { grain / common } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use folio_core::geom::{Box3, linear};

    fn blocks(range: Dims, group: Option<Dims>, wanted: usize) -> Vec<Block> {
        let blocks = Blocks::new(&Geometry { group, ..Geometry::new(3, range) }, [1, 1], wanted);
        (0..blocks.count()).map(|i| blocks.get(i)).collect()
    }

    #[test]
    fn blocks_hold_every_item_once_and_are_contiguous() {
        let shapes = Box3 { min: [1; 3], max: [5, 8, 12] };
        for range in shapes.cells() {
            for wanted in 1..20 {
                let mut next = 0;
                let all = blocks(range, None, wanted);
                assert!(!all.is_empty() && all.len() < 2 * wanted, "{range:?} {wanted}");
                for block in &all {
                    for item in block.cells() {
                        assert_eq!(linear(range, item), next, "{range:?} {wanted} {block:?}");
                        next += 1;
                    }
                }
                assert_eq!(next, range[0] * range[1] * range[2]);
            }
        }
    }

    #[test]
    fn groups_stay_whole() {
        for block in blocks([4, 6, 40], Some([2, 3, 8]), 16) {
            let extent = block.extent();
            assert!(!block.is_empty());
            for d in 0..3 {
                assert_eq!((block.min[d] % [2, 3, 8][d], extent[d] % [2, 3, 8][d]), (0, 0));
            }
        }
    }

    #[test]
    fn one_dimension_is_cut_where_the_kernel_wants() {
        for (items, count) in [(4096, 1), (4097, 2), (1 << 16, 16), ((1 << 22) + 5, 32)] {
            let blocks = Blocks::new(&Geometry::new(1, [1, 1, items]), [4096, 16], 32);
            assert_eq!(blocks.count(), count);
            let mut next = 0;
            for block in (0..count).map(|at| blocks.get(at)) {
                assert_eq!((block.min[2], next % 4096), (next, 0), "{items}");
                next = block.max[2];
            }
            assert_eq!(next, items);
        }
        let rows = Blocks::new(&Geometry::new(2, [1, 8, 100]), [4096, 16], 8);
        assert_eq!(rows.count(), 8);
    }

    #[test]
    fn two_dimensions_are_cut_where_the_kernel_wants_if_threads_get_enough() {
        let firsts = |range, wanted| {
            let blocks = Blocks::new(&Geometry::new(2, range), [4096, 16], wanted);
            let linear = |block: Block| linear(range, block.min);
            (0..blocks.count()).map(|at| linear(blocks.get(at))).collect::<Vec<_>>()
        };
        assert!(firsts([1, 512, 512], 60).iter().all(|first| first % 4096 == 0));
        assert_eq!(firsts([1, 512, 512], 60).len(), 60);
        // 512 rows would have to stay together.
        assert_eq!(firsts([1, 1000, 1000], 64).len(), 64);
        assert_eq!(firsts([1, 8, 512], 8).len(), 8);
    }

    #[test]
    fn rows_are_cut_between_vectors() {
        for (range, count) in
            [([1, 1, 100], 7), ([1, 1, 16], 1), ([1, 3, 100], 9), ([1, 8, 100], 8)]
        {
            let blocks = Blocks::new(&Geometry::new(2, range), [1, 16], 8);
            assert_eq!(blocks.count(), count, "{range:?}");
            assert!((0..count).all(|at| blocks.get(at).min[2].is_multiple_of(16)), "{range:?}");
        }
    }

    #[test]
    fn thin_shapes_are_cut_where_they_are_long() {
        assert_eq!(blocks([1, 1, 1 << 40], None, 8).len(), 8);
        assert_eq!(blocks([1, 1 << 40, 1], None, 8).len(), 8);
        assert_eq!(blocks([1 << 40, 1, 1], None, 8).len(), 8);
        assert_eq!(blocks([3, 1 << 40, 1], None, 8).len(), 9);
        assert_eq!(blocks([1, 1, usize::MAX], None, 8).last().map(|b| b.max[2]), Some(usize::MAX));
    }
}
