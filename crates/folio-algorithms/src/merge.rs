//! Merges of what is sorted: each item finds by bisection where its part of the result begins in
//! both sequences, and merges from there.

use crate::keys::{Bits, Key, Rule, ordered};
use crate::prelude::*;
use crate::sort::Direction;
use crate::{alone, of_one_length, private, racy_whole};
use folio::hal::DeviceKind;

#[kernel]
fn merged<B: Bits, T: Value, const VALUES: usize>(
    i: Item,
    rule: Rule<B>,
    each: usize,
    a: In<B>,
    b: In<B>,
    values_of_a: In<T>,
    values_of_b: In<T>,
    y: Racy<B>,
    values: Racy<T>,
) {
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
            if VALUES != 0 {
                values[k] = values_of_a[of_a];
            }
            of_a += 1;
        } else {
            y[k] = b[of_b];
            if VALUES != 0 {
                values[k] = values_of_b[of_b];
            }
            of_b += 1;
        }
    }
}

/// Keys and their values, to read.
pub(crate) type Sorted<'a, B, T> = (Slice<'a, B>, Slice<'a, T>);

/// Merges keys and, if there are any, their values. Of equal keys those of `a` come first.
pub(crate) fn merge_pairs<B: Bits, T: DeviceType + Value>(
    q: &Queue,
    rule: Rule<B>,
    (a, values_of_a): &Sorted<'_, B, T>,
    (b, values_of_b): &Sorted<'_, B, T>,
    (y, values): (&mut SliceMut<'_, B>, &mut SliceMut<'_, T>),
) -> Result<()> {
    // Threads of a CPU merge much at a time, other devices have many items.
    let each = if q.device().info().kind == DeviceKind::Cpu { 1 << 13 } else { 16 };
    let (items, has_values) = (y.len().div_ceil(each), !values.is_empty());
    // SAFETY: an item writes its own part of the result, and none is read.
    let y = unsafe { racy_whole(y) };
    // SAFETY: as above.
    let v = unsafe { racy_whole(values) };
    if has_values {
        q.run(items, merged::<B, T, 1>(rule, each, a, b, values_of_a, values_of_b, y, v))?;
    } else {
        q.run(items, merged::<B, T, 0>(rule, each, a, b, values_of_a, values_of_b, y, v))?;
    }
    Ok(())
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
    let rule = Rule::<K::Bits>::new(K::FORMAT, direction);
    let (none, mut no_values) = (private::<u32>(&q.runtime(), 0)?, private(&q.runtime(), 0)?);
    let a = (a.reinterpret()?, none.slice([0], [0])?);
    let b = (b.reinterpret()?, none.slice([0], [0])?);
    let (mut y, mut no_values) = (y.reinterpret_mut()?, no_values.slice_mut([0], [0])?);
    merge_pairs(&alone(q, "merge")?, rule, &a, &b, (&mut y, &mut no_values))
}
