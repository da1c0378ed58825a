//! Merges of what is sorted: each item finds by bisection where its part of the result begins in
//! both sequences, and merges from there.

use crate::keys::{Bits, Key, Rule, ordered};
use crate::of_one_length;
use crate::prelude::*;
use crate::sort::Direction;
use folio::RacyMemory;
use folio::hal::DeviceKind;

#[kernel]
fn merged<B: Bits>(i: Item, rule: Rule<B>, each: usize, a: In<B>, b: In<B>, y: Racy<B>) {
    let (first, n) = (i.index() * each, y.len());
    // How many of the first elements are of `a`: as many as are not after those of `b`.
    let mut low = if first > b.len() { first - b.len() } else { 0 };
    let mut high = first.min(a.len());
    while low < high {
        let middle = (low + high) / 2;
        if ordered(rule, a[middle]) <= ordered(rule, b[first - 1 - middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let (mut of_a, mut of_b) = (low, first - low);
    for k in first..(first + each).min(n) {
        let takes_a = if of_a >= a.len() {
            false
        } else if of_b >= b.len() {
            true
        } else {
            ordered(rule, a[of_a]) <= ordered(rule, b[of_b])
        };
        if takes_a {
            y[k] = a[of_a];
            of_a += 1;
        } else {
            y[k] = b[of_b];
            of_b += 1;
        }
    }
}

/// Merges two sequences that are in the order of `direction`, as [`sort`](crate::sort) makes it, to
/// one. `y` is as long as both. Of sequences that are in no order, the result is in none.
///
/// ```
/// use folio::algorithms::{self, Direction};
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (a, b) = (rt.buffer_from(&[1, 4, 4])?, rt.buffer_from(&[-2, 3, 4, 9])?);
/// let mut y = rt.buffer::<i32, 1>(7)?;
/// algorithms::merge(&q, Direction::Ascending, &a, &b, &mut y)?;
/// assert_eq!(y.to_vec()?, [-2, 1, 3, 4, 4, 4, 9]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn merge<K: Key>(
    q: &Queue,
    direction: Direction,
    a: impl AsPart<K, 1>,
    b: impl AsPart<K, 1>,
    mut y: impl AsPartMut<K, 1>,
) -> Result<()> {
    let (a, b, mut y) = (a.slice_all(), b.slice_all(), y.slice_all_mut());
    of_one_length("merge", a.len() + b.len(), y.len())?;
    if y.is_empty() {
        return Ok(());
    }
    // Threads of a CPU merge much at a time, other devices have many items.
    let each = if q.device().info().kind == DeviceKind::Cpu { 1 << 13 } else { 16 };
    let rule = Rule::<K::Bits>::new(K::FORMAT, direction);
    let (a, b, items) = (a.reinterpret()?, b.reinterpret()?, y.len().div_ceil(each));
    let mut y = y.reinterpret_mut()?;
    // SAFETY: an item writes its own part of the result, and none is read.
    let shared = unsafe { RacyMemory::new(&mut y) };
    q.run(items, merged::<K::Bits>(rule, each, &a, &b, shared))?;
    Ok(())
}
