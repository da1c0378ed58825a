//! The fixed orders of reductions and scans (semantics 8).

use super::scalar::binary;
use folio_kernel::{Combine, Fold, Scalar};

fn op(combine: Combine, scalar: Scalar, a: u64, b: u64) -> u64 {
    binary(combine.binary(), scalar, a, b).bits
}

fn identity(combine: Combine, scalar: Scalar) -> u64 {
    combine.identity(scalar).unwrap_or(0)
}

/// semantics 8.1
pub fn tree(combine: Combine, scalar: Scalar, values: &[u64]) -> u64 {
    let mut x = values.to_vec();
    let mut s = x.len().next_power_of_two();
    while s > 1 {
        s /= 2;
        for i in 0..s {
            if i + s < x.len() {
                x[i] = op(combine, scalar, x[i], x[i + s]);
            }
        }
        x.truncate(s);
    }
    x.first().copied().unwrap_or(identity(combine, scalar))
}

/// semantics 8.3
pub fn scan(fold: Fold, combine: Combine, scalar: Scalar, values: &[u64]) -> Vec<u64> {
    let mut x = values.to_vec();
    let mut d = 1;
    while d < x.len() {
        let before = x.clone();
        for i in d..x.len() {
            x[i] = op(combine, scalar, before[i - d], before[i]);
        }
        d *= 2;
    }
    if fold == Fold::Exclusive {
        x.insert(0, identity(combine, scalar));
        x.pop();
    }
    x
}

/// semantics 11.2: what each lane of a sub-group gets.
pub fn subgroup(fold: Fold, combine: Combine, scalar: Scalar, values: &[u64]) -> Vec<u64> {
    match fold {
        Fold::Reduce => vec![tree(combine, scalar, values); values.len()],
        _ => scan(fold, combine, scalar, values),
    }
}

/// Values of a leaf of a launch-wide reduction.
pub const LEAF: usize = 4096;

/// semantics 8.4, of the items' or groups' values in row-major order.
pub fn launch(combine: Combine, scalar: Scalar, values: &[u64]) -> u64 {
    let mut values = values.to_vec();
    if values.is_empty() {
        return identity(combine, scalar);
    }
    while values.len() > 1 {
        let block = |block: &[u64]| {
            let lane = |l: usize| {
                let mut own = block.iter().skip(l).step_by(256).copied();
                let first = own.next()?;
                Some(own.fold(first, |a, b| op(combine, scalar, a, b)))
            };
            let lanes: Vec<_> = (0..256).filter_map(lane).collect();
            tree(combine, scalar, &lanes)
        };
        values = values.chunks(LEAF).map(block).collect();
    }
    values[0]
}

/// Adds a contribution of an item.
pub fn add(combine: Combine, scalar: Scalar, so_far: Option<u64>, value: u64) -> u64 {
    op(combine, scalar, so_far.unwrap_or(identity(combine, scalar)), value)
}
