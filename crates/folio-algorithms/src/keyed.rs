//! Scans by key: the scan begins anew with each key that differs from the one before.
//!
//! As [`scan`](crate::scan), with the head of each run of equal keys. The total of a chunk is that
//! of its last run: groups look for it from the chunk's end on.

use crate::keyed_in_turn::runs_in_turn;
use crate::prelude::*;
use crate::scan::{CHUNKS, EACH, GROUP, SCANS, SLOTS, TILE, chunk_of};
use crate::{alone, apart, of_one_length, private, racy_whole, takes_in_turn};
use folio::{RacyMemory, buffer::Overwritten};

/// Whether a run begins at an element: where a key is another than the one before or, of `flags`,
/// where it is not 0.
#[device_fn]
pub(crate) fn is_head<K: Number>(flags: u32, at: usize, key: K, before: K) -> bool {
    if flags > 0 { key != K::ZERO } else { (at == 0) | (key != before) }
}

/// The total of the last run of each chunk, and whether this run begins in the chunk.
#[kernel(group = 256)]
fn last_runs<T: Number, O: Combine<T>, K: Number>(
    g: Group,
    chunk: usize,
    keys: In<K>,
    x: In<T>,
    totals: OutGroup<T>,
    begins: OutGroup<u32>,
) {
    let first = g.index() * chunk;
    let mut total = O::IDENTITY;
    let mut begun = 0u32;
    for tile in (0..chunk / TILE).rev() {
        let base = first + tile * TILE;
        // One more than the slot of the last head.
        let head = g.reduce::<Max>(|i| {
            let mut last = 0u32;
            for slot in (i.local_index()..TILE).step_by(GROUP) {
                let at = base + slot;
                if is_head(0, at, keys[at], keys[at.max(1) - 1]) {
                    last = slot as u32 + 1;
                }
            }
            last
        });
        let part = g.reduce::<O>(|i| {
            let mut sum = O::IDENTITY;
            for slot in (i.local_index()..TILE).step_by(GROUP) {
                if slot as u32 + 1 >= head {
                    sum = O::combine(sum, x[base + slot]);
                }
            }
            sum
        });
        total = O::combine(part, total);
        if head > 0 {
            begun = 1;
            break;
        }
    }
    totals[g] = total;
    begins[g] = begun;
}

/// `before` has the total of the last run up to and with each chunk.
#[kernel(group = 128)]
pub(crate) fn scan_runs<T: Number, O: Combine<T>, K: Number>(
    g: Group,
    flags: u32,
    own: u32,
    chunk: usize,
    at: usize,
    keys: In<K>,
    x: In<T>,
    before: In<T>,
    folds: Local<T, SCANS>,
    heads: Local<u32, SCANS>,
    sums: Local<[T; SLOTS], SCANS>,
    y: Racy<T>,
) {
    let n = x.len();
    let first = (at + g.index()) * chunk;
    let end = (first + chunk).min(n);
    let mut start = O::IDENTITY;
    if at + g.index() > 0 {
        start = before[at + g.index() - 1];
    }
    let values = g.private([T::ZERO; EACH]);
    let marks = g.private(0u32);
    let fold = g.private(T::ZERO);
    let head = g.private(0u32);
    for tile in 0..(end - first + TILE - 1) / TILE {
        let base = first + tile * TILE;
        g.each(|i| {
            let first = base + i.local_index() * EACH;
            let mut these = [K::ZERO; EACH];
            for k in 0..EACH {
                let at = first + k;
                if at < keys.len() {
                    these[k] = keys[at];
                }
                values[i][k] = if at < n { x[at] } else { O::IDENTITY };
            }
            let last = first.max(1) - 1;
            let mut key = if last < keys.len() { keys[last] } else { K::ZERO };
            let mut sum = O::IDENTITY;
            let mut bits = 0u32;
            for k in 0..EACH {
                if (first + k < n) & is_head(flags, first + k, these[k], key) {
                    bits |= 1 << k;
                    sum = O::IDENTITY;
                }
                key = these[k];
                sum = O::combine(sum, values[i][k]);
            }
            marks[i] = bits;
            folds[i] = sum;
            heads[i] = bits.min(1);
        });
        let mut step = 1;
        while step < SCANS {
            g.each(|i| {
                // Beyond all items where there is none so much earlier.
                let earlier = i.local_index() - step;
                if earlier < SCANS {
                    fold[i] = folds[earlier];
                    head[i] = heads[earlier];
                }
            });
            g.each(|i| {
                if i.local_index() >= step && heads[i] == 0 {
                    folds[i] = O::combine(fold[i], folds[i]);
                    heads[i] = head[i];
                }
            });
            step *= 2;
        }
        g.each(|i| {
            let lane = i.local_index();
            let mut sum = start;
            if lane > 0 {
                let earlier = folds[lane - 1];
                sum = if heads[lane - 1] > 0 { earlier } else { O::combine(start, earlier) };
            }
            for k in 0..EACH {
                if marks[i] >> k & 1 == 1 {
                    sum = O::IDENTITY;
                }
                let up = O::combine(sum, values[i][k]);
                sums[i][k] = if own > 0 { up } else { sum };
                sum = up;
            }
            sums[i][EACH] = sum;
        });
        g.each(|i| {
            for k in 0..EACH {
                let slot = k * SCANS + i.local_index();
                let at = base + slot;
                if at < y.len() {
                    y[at] = sums[slot / EACH][slot % EACH];
                }
            }
        });
        start = sums[SCANS - 1][EACH];
    }
}

/// Scans each run; `own` of 1 is inclusive, of 0 exclusive.
fn scanned<T, O, K>(
    q: &Queue,
    own: u32,
    keys: &Slice<'_, K>,
    x: &Slice<'_, T>,
    y: &mut SliceMut<'_, T>,
) -> Result<()>
where
    T: Number + DeviceType,
    O: Combine<T>,
    K: Number + DeviceType,
{
    let (n, rt, q) = (x.len(), q.runtime(), &alone(q, "scan_by_key")?);
    apart("scan by key", keys, &y.slice_all())?;
    apart("scan by key", x, &y.slice_all())?;
    let chunk = chunk_of(n);
    // The last chunk has nothing after it: its total does not count.
    let count = n.div_ceil(chunk).saturating_sub(1);
    let mut before = private::<T>(&rt, count)?;
    if count > 0 {
        let (mut totals, mut begins) = (private::<T>(&rt, count)?, private::<u32>(&rt, count)?);
        // SAFETY: there is a group for each element.
        let all = unsafe { Overwritten::new(&mut totals) };
        // SAFETY: as above.
        let heads = unsafe { Overwritten::new(&mut begins) };
        q.run(count * GROUP, last_runs::<T, O, K>(chunk, keys, x, all, heads))?;
        // SAFETY: each element is written by one item, and none is read.
        let racy = unsafe { racy_whole(&mut before) };
        let nothing = private::<T>(&rt, 0)?;
        q.run(SCANS, scan_runs::<T, O, u32>(1, 1, CHUNKS, 0, &begins, &totals, &nothing, racy))?;
    }
    if count == 0 || !takes_in_turn(q) {
        // SAFETY: a group writes elements of its own chunk, each by one item, and reads none.
        let racy = unsafe { racy_whole(y) };
        let call = scan_runs::<T, O, K>(0, own, chunk, 0, keys, x, &before, racy);
        q.run(n.div_ceil(chunk) * SCANS, call)?;
        return Ok(());
    }
    // SAFETY: an item writes elements of its own chunk, and reads none.
    let racy = unsafe { RacyMemory::new(&mut *y) };
    q.run(count, runs_in_turn::<T, O, K>(own, chunk, keys, x, &before, racy))?;
    // SAFETY: each element of the last chunk is written by one item, and none is read.
    let racy = unsafe { RacyMemory::new(y) };
    q.run(SCANS, scan_runs::<T, O, K>(0, own, chunk, count, keys, x, &before, racy))?;
    Ok(())
}

/// For each element, all of its run up to and with it as one; a run is of neighbours whose keys are
/// equal.
///
/// The order is that of [`inclusive_scan`](crate::inclusive_scan), with these differences: what is
/// before a run is not combined with it; the total of a chunk is that of its last run, of which
/// lanes fold the elements of each tile beginning with what changes nothing, the last tile first.
///
/// ```
/// use folio::prelude::*;
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (keys, x) = (rt.buffer_from(&[7u8, 7, 2, 2, 2])?, rt.buffer_from(&[3u32, 1, 4, 1, 5])?);
/// let mut y = rt.buffer(5)?;
/// folio::algorithms::inclusive_scan_by_key(&q, Add, &keys, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [3, 4, 4, 5, 10]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn inclusive_scan_by_key<T, O, K>(
    q: &Queue,
    _: O,
    keys: impl AsPart<K, 1>,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()>
where
    T: Number + DeviceType,
    O: Combine<T>,
    K: Number + DeviceType,
{
    let (keys, x, mut y) = (keys.slice_all(), x.slice_all(), y.slice_all_mut());
    of_one_length("inclusive_scan_by_key", keys.len(), x.len())?;
    of_one_length("inclusive_scan_by_key", x.len(), y.len())?;
    scanned::<T, O, K>(q, 1, &keys, &x, &mut y)
}

/// For each element, all of its run before it as one: what changes nothing for the first. As
/// [`inclusive_scan_by_key`].
///
/// ```
/// use folio::prelude::*;
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (keys, x) = (rt.buffer_from(&[7u8, 7, 2, 2, 2])?, rt.buffer_from(&[3u32, 1, 4, 1, 5])?);
/// let mut y = rt.buffer(5)?;
/// folio::algorithms::exclusive_scan_by_key(&q, Add, &keys, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [0, 3, 0, 4, 5]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn exclusive_scan_by_key<T, O, K>(
    q: &Queue,
    _: O,
    keys: impl AsPart<K, 1>,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()>
where
    T: Number + DeviceType,
    O: Combine<T>,
    K: Number + DeviceType,
{
    let (keys, x, mut y) = (keys.slice_all(), x.slice_all(), y.slice_all_mut());
    of_one_length("exclusive_scan_by_key", keys.len(), x.len())?;
    of_one_length("exclusive_scan_by_key", x.len(), y.len())?;
    scanned::<T, O, K>(q, 0, &keys, &x, &mut y)
}
