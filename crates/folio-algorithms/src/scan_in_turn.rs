//! Chunks of a scan where an item takes one element after the other, for CPUs: in the order of
//! [`scan`](crate::scan), without a group's steps.

use crate::map::Map;
use crate::prelude::*;
use crate::scan::{EACH, GROUP, SCANS, TILE};

/// As [`chunk_totals`](crate::scan::chunk_totals).
#[kernel]
pub(crate) fn totals_in_turn<U: Value, T: Number, O: Combine<T>, F: Map<U, Output = T>>(
    i: Item,
    before: F,
    chunk: usize,
    x: In<U>,
    totals: Out<T>,
) {
    let first = i.index() * chunk;
    let mut lanes = [T::ZERO; GROUP];
    for lane in 0..GROUP {
        lanes[lane] = before.map(x[first + lane]);
    }
    for turn in 1..chunk / GROUP {
        for lane in 0..GROUP {
            lanes[lane] = O::combine(lanes[lane], before.map(x[first + turn * GROUP + lane]));
        }
    }
    let mut gap = GROUP / 2;
    while gap > 0 {
        for lane in 0..gap {
            lanes[lane] = O::combine(lanes[lane], lanes[lane + gap]);
        }
        gap /= 2;
    }
    totals[i] = lanes[0];
}

/// As [`scan_chunks`](crate::scan::scan_chunks), of chunks that are whole.
#[kernel]
pub(crate) fn chunks_in_turn<
    U: Value,
    T: Number,
    V: Value,
    O: Combine<T>,
    F: Map<U, Output = T>,
    H: Map<T, Output = V>,
>(
    i: Item,
    before: F,
    after: H,
    own: usize,
    chunk: usize,
    x: In<U>,
    starts: In<T>,
    y: Racy<V>,
) {
    let first = i.index() * chunk;
    let mut start = starts[i];
    for tile in 0..chunk / TILE {
        let base = first + tile * TILE;
        let mut folds = [T::ZERO; SCANS];
        for item in 0..SCANS {
            let mut sum = O::IDENTITY;
            for k in 0..EACH {
                sum = O::combine(sum, before.map(x[base + item * EACH + k]));
            }
            folds[item] = sum;
        }
        let mut step = 1;
        while step < SCANS {
            let earlier = folds;
            for item in step..SCANS {
                // The remainder bounds the index: then no check of it is left.
                folds[item] = O::combine(earlier[(item - step) % SCANS], earlier[item]);
            }
            step *= 2;
        }
        let mut earlier = O::IDENTITY;
        for item in 0..SCANS {
            let mut sum = O::combine(start, earlier);
            earlier = folds[item];
            for k in 0..EACH {
                let up = O::combine(sum, before.map(x[base + item * EACH + k]));
                let all = if own > 0 { up } else { sum };
                y[base + item * EACH + k] = after.map(all);
                sum = up;
            }
            folds[item] = sum;
        }
        start = folds[SCANS - 1];
    }
}
