//! Boxes of elements that carry a value, found by what they overlap.
//!
//! A few boxes are a list. More of them are in maps by their first corner, a map for each size, so
//! that a box is compared with its neighbours and not with all others. Boxes of one map reach
//! equally far, to a factor of two, along the first dimension in which they are longer than 1.

use crate::geom::{Box3, Dims};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// How many boxes are a list: most memories have no more.
const LISTED: usize = 16;

/// By first corner, and by a number of their own: last corners, and values.
type Sorted<T> = BTreeMap<(Dims, u32), (Dims, T)>;

/// Boxes, each with a value.
pub(super) struct Boxes<T> {
    listed: Vec<(Box3, T)>,
    /// By dimension and binary logarithm of the length there.
    sorted: Vec<((usize, u32), Sorted<T>)>,
    next: u32,
    /// How many have been compared with others: the cost of making a graph.
    pub(super) compared: u64,
}

impl<T> Default for Boxes<T> {
    fn default() -> Boxes<T> {
        Boxes { listed: Vec::new(), sorted: Vec::new(), next: 0, compared: 0 }
    }
}

/// The map that a box belongs to.
fn class(of: &Box3) -> (usize, u32) {
    let extent = of.extent();
    let dim = (0..2).find(|dim| extent[*dim] > 1).unwrap_or(2);
    (dim, extent[dim].max(1).ilog2())
}

/// Between which first corners the boxes of a map lie that overlap this one.
fn corners((dim, log): (usize, u32), of: &Box3) -> [Dims; 2] {
    // The longest box of the map begins so far before its last element.
    let reach = (usize::MAX >> (usize::BITS - 1 - log)) - 1;
    let (mut low, mut high) = ([0; 3], [usize::MAX; 3]);
    for d in 0..=dim {
        low[d] = of.min[d];
        high[d] = of.max[d].saturating_sub(1);
    }
    low[dim] = low[dim].saturating_sub(reach);
    [low, high]
}

impl<T: Copy> Boxes<T> {
    /// Adds a box.
    pub(super) fn insert(&mut self, at: Box3, value: T) {
        if self.listed.len() < LISTED {
            return self.listed.push((at, value));
        }
        let class = class(&at);
        let known = self.sorted.iter().position(|(of, _)| *of == class);
        let map = known.unwrap_or_else(|| {
            self.sorted.push((class, Sorted::new()));
            self.sorted.len() - 1
        });
        self.sorted[map].1.insert((at.min, self.next), (at.max, value));
        self.next = self.next.wrapping_add(1);
    }

    /// Shows the boxes that overlap this one, until `found` returns false.
    pub(super) fn find(&mut self, of: &Box3, mut found: impl FnMut(&Box3, T) -> bool) {
        for (at, value) in &self.listed {
            self.compared += 1;
            if at.overlaps(of) && !found(at, *value) {
                return;
            }
        }
        for (class, map) in &self.sorted {
            let [low, high] = corners(*class, of);
            for ((min, _), (max, value)) in map.range((low, 0)..=(high, u32::MAX)) {
                self.compared += 1;
                let at = Box3 { min: *min, max: *max };
                if at.overlaps(of) && !found(&at, *value) {
                    return;
                }
            }
        }
    }

    /// Cuts a box out of those that it overlaps, and for which `is_cut` returns true.
    pub(super) fn cut(&mut self, hole: &Box3, mut is_cut: impl FnMut(T) -> bool) {
        let mut left: SmallVec<[(Box3, T); 4]> = SmallVec::new();
        let mut cut = |at: &Box3, value: T| {
            let cut = at.overlaps(hole) && is_cut(value);
            if cut {
                at.subtract(hole, |part| left.push((part, value)));
            }
            cut
        };
        self.compared += self.listed.len() as u64;
        self.listed.retain(|(at, value)| !cut(at, *value));
        for (class, map) in &mut self.sorted {
            let [low, high] = corners(*class, hole);
            let mut gone: SmallVec<[(Dims, u32); 4]> = SmallVec::new();
            for (key, (max, value)) in map.range((low, 0)..=(high, u32::MAX)) {
                self.compared += 1;
                if cut(&Box3 { min: key.0, max: *max }, *value) {
                    gone.push(*key);
                }
            }
            for key in gone {
                map.remove(&key);
            }
        }
        left.into_iter().for_each(|(part, value)| self.insert(part, value));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A box, by numbers that look random.
    fn some(seed: &mut u64) -> Box3 {
        let mut next = |most: u64| {
            *seed =
                seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            (*seed >> 33) as usize % most as usize
        };
        let min = [next(3), next(6), next(40)];
        let long = [next(2), next(3), next(20)];
        Box3 { min, max: std::array::from_fn(|d| min[d] + 1 + long[d]) }
    }

    #[test]
    fn boxes_are_found_and_cut_as_a_list_of_elements_would_be() {
        let (mut boxes, mut seed) = (Boxes::default(), 7);
        // By element: the values there.
        let mut cells: BTreeMap<Dims, Vec<u32>> = BTreeMap::new();
        for value in 0..400 {
            let (at, hole) = (some(&mut seed), some(&mut seed));
            boxes.insert(at, value);
            at.cells().for_each(|cell| cells.entry(cell).or_default().push(value));
            let mut found: Vec<u32> = Vec::new();
            boxes.find(&hole, |_, value| {
                found.push(value);
                true
            });
            let mut want: Vec<u32> = hole
                .cells()
                .flat_map(|cell| cells.get(&cell).cloned().unwrap_or_default())
                .collect();
            for list in [&mut found, &mut want] {
                list.sort_unstable();
                list.dedup();
            }
            assert_eq!(found, want, "{hole:?}");
            let even = |value: u32| value.is_multiple_of(2);
            if value.is_multiple_of(3) {
                boxes.cut(&hole, even);
                for cell in hole.cells() {
                    cells.entry(cell).or_default().retain(|value| !even(*value));
                }
            }
        }
    }
}
