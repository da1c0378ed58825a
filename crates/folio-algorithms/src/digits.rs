//! A pass of a radix sort where each item has a chunk of the keys of its own: on a CPU, and where
//! items have no sub-groups.

use crate::keys::{Bits, Rule, ordered};
use crate::prelude::*;
use folio::ir::device::CastFrom;

/// Counts, for each chunk of keys, those with each digit; the counts of one digit are beside each
/// other. Copies the keys, if there are `copies`.
#[kernel]
pub(crate) fn count<B: Bits, const RADIX: usize>(
    i: Item,
    rule: Rule<B>,
    shift: u32,
    chunk: usize,
    keys: In<B>,
    counts: Racy<u32>,
    copies: Racy<B>,
) where
    usize: CastFrom<B>,
{
    let chunks = counts.len() / RADIX;
    let first = i.index() * chunk;
    let end = (first + chunk).min(keys.len());
    let mut found = [0u32; RADIX];
    for k in first..end {
        let key = keys[k];
        if k < copies.len() {
            copies[k] = key;
        }
        let digit = (ordered(rule, key) >> shift) as usize & (RADIX - 1);
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

/// Sorts few keys, and with `VALUES` what belongs to them, by one digit after the other: to and fro
/// between two places, without the digits that all keys share. There is one item.
#[kernel]
pub(crate) fn sort_few<B: Bits, T: Value, const VALUES: usize>(
    i: Item,
    rule: Rule<B>,
    bits: u32,
    keys: Racy<B>,
    values: Racy<T>,
    others: Racy<B>,
    other_values: Racy<T>,
) where
    usize: CastFrom<B>,
{
    let n = keys.len();
    let mut are_others = i.index() > 0;
    for shift in (0..bits).step_by(8) {
        let mut next = [0u32; 256];
        let mut digit = 0;
        for k in 0..n {
            let key = if are_others { others[k] } else { keys[k] };
            digit = (ordered(rule, key) >> shift) as usize & 255;
            next[digit] += 1;
        }
        if next[digit] < n as u32 {
            let mut start = 0;
            for digit in 0..256 {
                let count = next[digit];
                next[digit] = start;
                start += count;
            }
            for k in 0..n {
                let key = if are_others { others[k] } else { keys[k] };
                let digit = (ordered(rule, key) >> shift) as usize & 255;
                let to = next[digit];
                next[digit] += 1;
                if are_others {
                    keys[to] = key;
                    if VALUES != 0 {
                        values[to] = other_values[k];
                    }
                } else {
                    others[to] = key;
                    if VALUES != 0 {
                        other_values[to] = values[k];
                    }
                }
            }
            are_others = !are_others;
        }
    }
    if are_others {
        for k in 0..n {
            keys[k] = others[k];
            if VALUES != 0 {
                values[k] = other_values[k];
            }
        }
    }
}
