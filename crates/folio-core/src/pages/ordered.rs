//! An ordered set of small numbers: which blocks of a page map are exceptional.
//!
//! A tree of 64-bit words: a bit of a level says that the word below it holds something. A word
//! means something only while its bit above is set, so clearing the root empties the whole set
//! without touching, or freeing, anything else. Every operation reads one word per level, and
//! there are log64 of the bound levels: three for 16 million pages of 64 to a block.

use super::map::step;

/// Levels that a bound of 64 bits needs.
const LEVELS: usize = 11;

/// A set of numbers below a bound.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedSet {
    /// All levels, the leaves first; the last word is the root.
    words: Vec<u64>,
    /// Where each level begins in `words`.
    starts: [usize; LEVELS],
    /// Levels in use.
    depth: usize,
}

impl OrderedSet {
    /// The empty set of numbers below `bound`.
    pub(super) fn new(bound: usize) -> OrderedSet {
        let mut starts = [0; LEVELS];
        let (mut depth, mut total, mut width) = (0, 0, bound.max(1));
        loop {
            width = width.div_ceil(64);
            starts[depth] = total;
            depth += 1;
            total += width;
            if width == 1 || depth == LEVELS {
                break;
            }
        }
        OrderedSet { words: vec![0; total], starts, depth }
    }

    /// Where the bit of `number` is at `level`: its word and its mask.
    fn place(&self, level: usize, number: usize) -> (usize, u64) {
        step();
        let bit = number >> (6 * level);
        (self.starts[level] + (bit >> 6), 1 << (bit & 63))
    }

    /// Adds `number`.
    pub(super) fn insert(&mut self, number: usize) {
        let mut stale = false;
        for level in (0..self.depth).rev() {
            let (word, bit) = self.place(level, number);
            let old = if stale { 0 } else { self.words[word] };
            stale = old & bit == 0;
            self.words[word] = old | bit;
        }
    }

    /// Takes `number` out.
    pub(super) fn remove(&mut self, number: usize) {
        for level in 0..self.depth {
            let (word, bit) = self.place(level, number);
            self.words[word] &= !bit;
            if self.words[word] != 0 {
                return;
            }
        }
    }

    /// Takes everything out, in constant time.
    pub(super) fn clear(&mut self) {
        if let Some(root) = self.words.last_mut() {
            *root = 0;
        }
    }

    /// The least number in the set that is `from` or more. `from` is below the bound.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let mut level = self.depth.checked_sub(1)?;
        // The lowest word on the way to `from` that means something.
        while level > 0 {
            let (word, bit) = self.place(level, from);
            if self.words[word] & bit == 0 {
                break;
            }
            level -= 1;
        }
        let mut ahead = u64::MAX;
        while level < self.depth {
            let (word, bit) = self.place(level, from);
            let found = self.words[word] & (ahead << bit.trailing_zeros());
            if found != 0 {
                let bit = ((from >> (6 * level)) & !63) + found.trailing_zeros() as usize;
                return Some(self.lowest_below(level, bit));
            }
            level += 1;
            ahead = u64::MAX << 1;
        }
        None
    }

    /// The least number under bit `bit` of `level`.
    fn lowest_below(&self, level: usize, bit: usize) -> usize {
        (0..level).rev().fold(bit, |bit, level| {
            step();
            (bit << 6) + self.words[self.starts[level] + bit].trailing_zeros() as usize
        })
    }

    /// Heap capacity, for tests of what is recycled.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.words.capacity()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::pages::testing::{Rng, seeds};

    #[test]
    fn equals_a_tree_set() {
        for seed in seeds(40) {
            let mut rng = Rng::new(seed);
            let bound = [1, 7, 64, 65, 4096, 4097, 300_000][rng.below(7)];
            let (mut set, mut model) = (OrderedSet::new(bound), BTreeSet::new());
            for _ in 0..400 {
                let number = rng.below(bound);
                match rng.below(20) {
                    0 => {
                        set.clear();
                        model.clear();
                    }
                    1..8 => {
                        set.remove(number);
                        model.remove(&number);
                    }
                    _ => {
                        set.insert(number);
                        model.insert(number);
                    }
                }
                let from = rng.below(bound);
                let expect = model.range(from..).next().copied();
                assert_eq!(set.next(from), expect, "seed {seed}, bound {bound}, from {from}");
            }
        }
    }
}
