//! Scans: for each element, all up to it as one.

use crate::of_one_length;
use crate::prelude::*;
use crate::private;

/// Elements that a work-group scans; also how the order of combining is fixed.
const GROUP: usize = 256;

#[kernel]
fn totals<T: Number, O: Combine<T>>(g: Group, x: In<T>, totals: OutGroup<T>) {
    let total = g.reduce::<O>(|i| x[i]);
    totals[g] = total;
}

#[kernel]
fn inclusive<T: Number, O: Combine<T>>(g: Group, first: usize, x: In<T>, before: In<T>, y: Out<T>) {
    let own = g.inclusive_scan::<O>(|i| x[i]);
    let start = before[first + g.index()];
    g.each(|i| y[i] = O::combine(start, own[i]));
}

#[kernel]
fn exclusive<T: Number, O: Combine<T>>(g: Group, first: usize, x: In<T>, before: In<T>, y: Out<T>) {
    let own = g.exclusive_scan::<O>(|i| x[i]);
    let start = before[first + g.index()];
    g.each(|i| y[i] = O::combine(start, own[i]));
}

/// The items from 0 to `n` in launches of whole groups, with the first group's number: all that are
/// full, and one of what is left.
fn groups(n: usize) -> impl Iterator<Item = (usize, Items<1>)> {
    let full = n / GROUP * GROUP;
    let launches = [(0, 0..full, GROUP), (full / GROUP, full..n, n - full)];
    let some = launches.into_iter().filter(|(_, items, _)| !items.is_empty());
    some.map(|(first, items, size)| (first, Items::from(items).groups([size])))
}

/// For each group, all elements before it as one.
fn before_groups<T, O>(q: &Queue, op: O, x: &Slice<'_, T>) -> Result<Buffer<T>>
where
    T: Number + DeviceType,
    O: Combine<T>,
{
    let n = x.len();
    let rt = q.runtime();
    if n <= GROUP {
        return rt.buffer_from(&[O::IDENTITY]);
    }
    let full = n / GROUP;
    // The remaining elements have nothing after them, so that their total does not count.
    let mut own = private::<T>(&rt, n.div_ceil(GROUP))?;
    q.run(Items::from(full * GROUP).groups([GROUP]), totals::<T, O>(x, &mut own))?;
    let mut before = private(&rt, own.len())?;
    exclusive_scan(q, op, &own, &mut before)?;
    Ok(before)
}

/// For each element, all up to and with it as one.
///
/// The order is fixed by the number of elements: 256 of them are scanned as [`Group`]s do
/// (semantics 8.3), their totals are trees (8.1), of which the exclusive scan, made in the same
/// way, is combined with what is in the groups. The first group is combined with what changes
/// nothing.
///
/// ```
/// use folio::prelude::*;
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[3u32, 1, 4, 1, 5])?;
/// let mut y = rt.buffer(5)?;
/// folio::algorithms::inclusive_scan(&q, Add, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [3, 4, 8, 9, 14]);
/// folio::algorithms::inclusive_scan(&q, Max, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [3, 3, 4, 4, 5]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn inclusive_scan<T, O>(
    q: &Queue,
    op: O,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()>
where
    T: Number + DeviceType,
    O: Combine<T>,
{
    let (x, mut y) = (x.slice_all(), y.slice_all_mut());
    of_one_length("inclusive_scan", x.len(), y.len())?;
    let before = before_groups(q, op, &x)?;
    for (first, items) in groups(x.len()) {
        q.run(items, inclusive::<T, O>(first, &x, &before, &mut y))?;
    }
    Ok(())
}

/// For each element, all before it as one: what changes nothing for the first. In the order of
/// [`inclusive_scan`].
///
/// ```
/// use folio::prelude::*;
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[3u32, 1, 4, 1, 5])?;
/// let mut y = rt.buffer(5)?;
/// folio::algorithms::exclusive_scan(&q, Add, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [0, 3, 4, 8, 9]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn exclusive_scan<T, O>(
    q: &Queue,
    op: O,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()>
where
    T: Number + DeviceType,
    O: Combine<T>,
{
    let (x, mut y) = (x.slice_all(), y.slice_all_mut());
    of_one_length("exclusive_scan", x.len(), y.len())?;
    let before = before_groups(q, op, &x)?;
    for (first, items) in groups(x.len()) {
        q.run(items, exclusive::<T, O>(first, &x, &before, &mut y))?;
    }
    Ok(())
}
