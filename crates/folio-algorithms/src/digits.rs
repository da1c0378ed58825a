//! A pass of a radix sort where each item has a chunk of the keys of its own: on a CPU, and where
//! items have no sub-groups.

use crate::keys::{Bits, Rule, ordered};
use crate::prelude::*;
use folio::ir::device::CastFrom;

/// Counts, for each chunk of keys, those with each digit; the counts of one digit are beside each
/// other.
#[kernel]
pub(crate) fn count<B: Bits, const RADIX: usize>(
    i: Item,
    rule: Rule<B>,
    shift: u32,
    chunk: usize,
    keys: In<B>,
    counts: Racy<u32>,
) where
    usize: CastFrom<B>,
{
    let chunks = counts.len() / RADIX;
    let first = i.index() * chunk;
    let end = (first + chunk).min(keys.len());
    let mut found = [0u32; RADIX];
    for k in first..end {
        let digit = (ordered(rule, keys[k]) >> shift) as usize & (RADIX - 1);
        found[digit] += 1;
    }
    for digit in 0..RADIX {
        counts[digit * chunks + i.index()] = found[digit];
    }
}

/// Moves each key, and with `VALUES` what belongs to it, to its place among those that have its
/// digit.
#[kernel]
pub(crate) fn place<B: Bits, T: Value, const RADIX: usize, const VALUES: usize>(
    i: Item,
    rule: Rule<B>,
    shift: u32,
    chunk: usize,
    starts: In<u32>,
    keys: In<B>,
    values: In<T>,
    placed: Racy<B>,
    placed_values: Racy<T>,
) where
    usize: CastFrom<B>,
{
    let chunks = starts.len() / RADIX;
    let first = i.index() * chunk;
    let end = (first + chunk).min(keys.len());
    let mut next = [0u32; RADIX];
    for digit in 0..RADIX {
        next[digit] = starts[digit * chunks + i.index()];
    }
    for k in first..end {
        let key = keys[k];
        let digit = (ordered(rule, key) >> shift) as usize & (RADIX - 1);
        placed[next[digit]] = key;
        if VALUES != 0 {
            placed_values[next[digit]] = values[k];
        }
        next[digit] += 1;
    }
}
