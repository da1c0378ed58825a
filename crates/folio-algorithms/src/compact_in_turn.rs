//! Compaction where an item takes the elements of its chunk one after the other, for CPUs: as
//! [`compact`](crate::compact), without a group's steps.

use crate::compact::is_kept;
use crate::prelude::*;

/// As [`count_kept`](crate::compact::count_kept).
#[kernel]
pub(crate) fn count_in_turn<F: Number, const CHANGES: usize>(
    i: Item,
    chunk: usize,
    keep: In<F>,
    counts: Out<u32>,
) {
    let first = i.index() * chunk;
    let mut count = 0u32;
    for at in first..(first + chunk).min(keep.len()) {
        let earlier = if CHANGES > 0 { keep[at.max(1) - 1] } else { F::ZERO };
        count += if is_kept::<F, CHANGES>(at, keep[at], earlier) { 1 } else { 0 };
    }
    counts[i] = count;
}

/// As [`move_kept`](crate::compact::move_kept).
#[kernel]
pub(crate) fn move_in_turn<T: Value, F: Number, const CHANGES: usize>(
    i: Item,
    both: u32,
    chunk: usize,
    keep: In<F>,
    starts: In<u64>,
    x: In<T>,
    y: Racy<T>,
) {
    let first = i.index() * chunk;
    let end = (first + chunk).min(x.len());
    let all = starts[starts.len() - 1] as usize;
    let mut kept = starts[i] as usize;
    let mut other = all + first - kept;
    // Other commands may have changed the flags since they were counted.
    let kept_end = starts[i.index() + 1] as usize;
    let others_end = all + end - kept_end;
    assert!(kept_end <= y.len(), "there is no room for all elements that are kept");
    for at in first..end {
        let earlier = if CHANGES > 0 { keep[at.max(1) - 1] } else { F::ZERO };
        if is_kept::<F, CHANGES>(at, keep[at], earlier) {
            if kept < kept_end {
                y[kept] = x[at];
            }
            kept += 1;
        } else if both > 0 {
            if other < others_end {
                y[other] = x[at];
            }
            other += 1;
        }
    }
}
