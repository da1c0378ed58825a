//! Compaction where an item takes the elements of its chunk one after the other, for CPUs: as
//! [`compact`](crate::compact), without a group's steps.

use crate::prelude::*;

/// As [`count_kept`](crate::compact::count_kept).
#[kernel]
pub(crate) fn count_in_turn<F: Number>(i: Item, chunk: usize, keep: In<F>, counts: Out<u32>) {
    let first = i.index() * chunk;
    let mut count = 0u32;
    for at in first..(first + chunk).min(keep.len()) {
        count += if keep[at] != F::ZERO { 1 } else { 0 };
    }
    counts[i] = count;
}

/// As [`move_kept`](crate::compact::move_kept).
#[kernel]
pub(crate) fn move_in_turn<T: Value, F: Number>(
    i: Item,
    both: u32,
    chunk: usize,
    keep: In<F>,
    starts: In<u32>,
    count: In<u32>,
    x: In<T>,
    y: Racy<T>,
) {
    let first = i.index() * chunk;
    let end = (first + chunk).min(x.len());
    let all = count[0] as usize;
    let mut kept = starts[i] as usize;
    let mut other = all + first - kept;
    // Other commands may have changed the flags since they were counted.
    let next = (i.index() + 1).min(starts.len() - 1);
    let kept_end = if next > i.index() { starts[next] as usize } else { all };
    let others_end = all + end - kept_end;
    assert!(kept_end <= y.len(), "there is no room for all elements that are kept");
    for at in first..end {
        if keep[at] != F::ZERO {
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
