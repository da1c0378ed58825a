//! Chunks of a scan by key where an item takes one element after the other, for CPUs: in the order
//! of [`keyed`](crate::keyed), without a group's steps.

use crate::keyed::is_head;
use crate::prelude::*;
use crate::scan::{EACH, SCANS, TILE};

/// As [`scan_runs`](crate::keyed::scan_runs), of chunks that are whole.
#[kernel]
pub(crate) fn runs_in_turn<T: Number, O: Combine<T>, K: Number>(
    i: Item,
    own: u32,
    chunk: usize,
    keys: In<K>,
    x: In<T>,
    before: In<T>,
    y: Racy<T>,
) {
    let first = i.index() * chunk;
    let mut start = O::IDENTITY;
    let mut key = keys[first];
    if first > 0 {
        start = before[i.index() - 1];
        key = keys[first - 1];
    }
    for tile in 0..chunk / TILE {
        let base = first + tile * TILE;
        let mut folds = [T::ZERO; SCANS];
        let mut heads = [0u32; SCANS];
        let mut last = key;
        for item in 0..SCANS {
            let mut sum = O::IDENTITY;
            for k in 0..EACH {
                let at = base + item * EACH + k;
                if is_head(0, at, keys[at], last) {
                    heads[item] = 1;
                    sum = O::IDENTITY;
                }
                last = keys[at];
                sum = O::combine(sum, x[at]);
            }
            folds[item] = sum;
        }
        let mut step = 1;
        while step < SCANS {
            let earlier = folds;
            let begun = heads;
            for item in step..SCANS {
                if begun[item] == 0 {
                    folds[item] = O::combine(earlier[item - step], earlier[item]);
                    heads[item] = begun[item - step];
                }
            }
            step *= 2;
        }
        let mut sum = start;
        for item in 0..SCANS {
            if item > 0 {
                let earlier = folds[item - 1];
                sum = if heads[item - 1] > 0 { earlier } else { O::combine(start, earlier) };
            }
            for k in 0..EACH {
                let at = base + item * EACH + k;
                if is_head(0, at, keys[at], key) {
                    sum = O::IDENTITY;
                }
                key = keys[at];
                let up = O::combine(sum, x[at]);
                y[at] = if own > 0 { up } else { sum };
                sum = up;
            }
        }
        start = sum;
    }
}
