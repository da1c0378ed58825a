//! Scans: for each element, all up to it as one.
//!
//! Totals of chunks, their exclusive scan in one group, and the chunks: three launches for any
//! number of elements. Of few chunks each group scans all totals itself, which is a launch less,
//! and few elements are one launch. A group goes through its chunk tile by tile.

use crate::map::{Map, Same};
use crate::prelude::*;
use crate::scan_in_turn::{chunks_in_turn, totals_in_turn};
use crate::{apart, of_one_length, private, racy_whole, takes_in_turn};
use folio::buffer::Overwritten;

/// Items of a group that makes one value of a chunk.
pub(crate) const GROUP: usize = 256;
/// Items of a group that scans a chunk. Smaller groups wait less for each other.
pub(crate) const SCANS: usize = 128;
/// Neighbours that an item takes of a tile.
pub(crate) const EACH: usize = 8;
/// Elements of a tile.
pub(crate) const TILE: usize = SCANS * EACH;
/// Slots of an item: an odd number, so that items of a sub-group meet in no bank of a GPU.
pub(crate) const SLOTS: usize = EACH + 1;
/// Chunks at most of which each group that scans one scans all totals.
pub(crate) const FEW_CHUNKS: usize = TILE;
/// Chunks at most: one group scans their totals.
pub(crate) const CHUNKS: usize = GROUP * EACH;

#[kernel(group = 256)]
pub(crate) fn chunk_totals<U: Value, T: Number, O: Combine<T>, F: Map<U, Output = T>>(
    g: Group,
    before: F,
    chunk: usize,
    x: In<U>,
    totals: OutGroup<T>,
) {
    let first = g.index() * chunk;
    let total = g.reduce::<O>(|i| {
        let at = first + i.local_index();
        let mut sum = before.map(x[at]);
        for turn in 1..chunk / GROUP {
            sum = O::combine(sum, before.map(x[at + turn * GROUP]));
        }
        sum
    });
    totals[g] = total;
}

/// With `totals` there is a start for each chunk that `starts` has the totals of.
#[kernel(group = 128)]
pub(crate) fn scan_chunks<
    U: Value,
    T: Number,
    V: Value,
    O: Combine<T>,
    F: Map<U, Output = T>,
    H: Map<T, Output = V>,
>(
    g: Group,
    before: F,
    after: H,
    own: usize,
    chunk: usize,
    at: usize,
    totals: u32,
    x: In<U>,
    starts: In<T>,
    sums: Local<[T; SLOTS], SCANS>,
    y: Racy<V>,
) {
    let n = x.len();
    let first = (at + g.index()) * chunk;
    let end = (first + chunk).min(n);
    let values = g.private([T::ZERO; EACH]);
    let mut start = if totals > 0 { O::IDENTITY } else { starts[at + g.index()] };
    if totals > 0 {
        let earlier = g.exclusive_scan::<O>(|i| {
            let mut sum = O::IDENTITY;
            for k in 0..EACH {
                let at = i.local_index() * EACH + k;
                let value = if at < starts.len() { starts[at] } else { O::IDENTITY };
                values[i][k] = value;
                sum = O::combine(sum, value);
            }
            sum
        });
        g.each(|i| {
            let mut sum = O::combine(O::IDENTITY, earlier[i]);
            for k in 0..EACH {
                sums[i][k] = sum;
                sum = O::combine(sum, values[i][k]);
            }
        });
        start = sums[g.index() / EACH % SCANS][g.index() % EACH];
    }
    for tile in 0..(end - first + TILE - 1) / TILE {
        let base = first + tile * TILE;
        let earlier = g.exclusive_scan::<O>(|i| {
            let own_first = base + i.local_index() * EACH;
            let mut sum = O::IDENTITY;
            for k in 0..EACH {
                let at = own_first + k;
                let value = if at < n { before.map(x[at]) } else { O::IDENTITY };
                values[i][k] = value;
                sum = O::combine(sum, value);
            }
            sum
        });
        g.each(|i| {
            let mut sum = O::combine(start, earlier[i]);
            sums[i][0] = sum;
            for k in 0..EACH {
                sum = O::combine(sum, values[i][k]);
                sums[i][k + 1] = sum;
            }
        });
        g.each(|i| {
            for k in 0..EACH {
                let slot = k * SCANS + i.local_index();
                let at = base + slot;
                if at < y.len() {
                    y[at] = after.map(sums[slot / EACH][slot % EACH + own]);
                }
            }
        });
        start = sums[SCANS - 1][EACH];
    }
}

/// One group scans all elements, with as many items as there need to be.
#[kernel]
pub(crate) fn scan_few<
    U: Value,
    T: Number,
    V: Value,
    O: Combine<T>,
    F: Map<U, Output = T>,
    H: Map<T, Output = V>,
>(
    g: Group,
    before: F,
    after: H,
    own: usize,
    x: In<U>,
    y: Racy<V>,
) {
    let n = x.len();
    let values = g.private([T::ZERO; EACH]);
    let earlier = g.exclusive_scan::<O>(|i| {
        let first = i.index() * EACH;
        let mut sum = O::IDENTITY;
        for k in 0..EACH {
            let at = first + k;
            let value = if at < n { before.map(x[at]) } else { O::IDENTITY };
            values[i][k] = value;
            sum = O::combine(sum, value);
        }
        sum
    });
    g.each(|i| {
        let first = i.index() * EACH;
        let mut sum = O::combine(O::IDENTITY, earlier[i]);
        for k in 0..EACH {
            let up = O::combine(sum, values[i][k]);
            let all = if own > 0 { up } else { sum };
            let at = first + k;
            if at < y.len() {
                y[at] = after.map(all);
            }
            sum = up;
        }
    });
}

/// Elements of a chunk: as few tiles as there need to be.
pub(crate) fn chunk_of(n: usize) -> usize {
    n.div_ceil(TILE * CHUNKS).next_power_of_two() * TILE
}

/// What a scan computes: maps around it, and whether elements are part of their own result (1) or
/// not (0).
#[derive(Clone, Copy)]
struct Maps<F, H> {
    before: F,
    after: H,
    own: usize,
}

impl<F, H> Maps<F, H> {
    /// Scans at most [`CHUNKS`] elements, in one launch.
    fn scan_few<U, T, V, O>(
        self,
        q: &Queue,
        x: &Slice<'_, U>,
        y: &mut SliceMut<'_, V>,
    ) -> Result<()>
    where
        U: DeviceType + Value,
        T: Number + DeviceType,
        V: DeviceType + Value,
        O: Combine<T>,
        F: Map<U, Output = T>,
        H: Map<T, Output = V>,
    {
        let items = y.len().div_ceil(EACH);
        // SAFETY: each element is written by one item, and none is read.
        let y = unsafe { racy_whole(y) };
        let call = scan_few::<U, T, V, O, F, H>(self.before, self.after, self.own, x, y);
        q.run(Items::from(items).groups([items.max(1)]), call)?;
        Ok(())
    }

    fn scan<U, T, V, O>(self, q: &Queue, x: &Slice<'_, U>, y: &mut SliceMut<'_, V>) -> Result<()>
    where
        U: DeviceType + Value,
        T: Number + DeviceType,
        V: DeviceType + Value,
        O: Combine<T>,
        F: Map<U, Output = T>,
        H: Map<T, Output = V>,
    {
        let (n, rt, q) = (x.len(), q.runtime(), &q.undivided());
        apart("scan", x, &y.slice_all())?;
        if n <= CHUNKS {
            return self.scan_few::<U, T, V, O>(q, x, y);
        }
        let chunk = chunk_of(n);
        // The last chunk has nothing after it: its total does not count.
        let count = n.div_ceil(chunk);
        let shares = q.shares(x, chunk)?;
        let in_turn = shares.iter().any(|(q, _)| takes_in_turn(q));
        // Where a thread has a chunk, no launch writes all totals: fusion would have one thread
        // compute all of them.
        let all_totals = if in_turn { count } else { count - 1 };
        let (mut totals, mut starts) = (private::<T>(&rt, all_totals)?, private::<T>(&rt, count)?);
        for (q, own) in &shares {
            let (first, last) = (own.start / chunk, (own.end / chunk).min(count - 1));
            let x = x.slice([own.start], [own.len()])?;
            self.totals::<U, T, O>(q, chunk, &x, totals.slice_mut([first], [last - first])?)?;
        }
        if count <= FEW_CHUNKS && !in_turn && shares.len() == 1 {
            // SAFETY: a group writes elements of its own chunk, each by one item, and reads none.
            let y = unsafe { racy_whole(y) };
            let Maps { before, after, own } = self;
            let call =
                scan_chunks::<U, T, V, O, F, H>(before, after, own, chunk, 0, 1, x, &totals, y);
            q.run(count * SCANS, call)?;
            return Ok(());
        }
        let (totals, mut all) = (totals.slice([0], [all_totals])?, starts.slice_mut([0], [count])?);
        let plain = Maps { before: Same::<T>::new(), after: Same::<T>::new(), own: 0 };
        plain.scan_few::<T, T, T, O>(&shares[0].0, &totals, &mut all)?;
        for (q, own) in &shares {
            let (at, len) = ([own.start], [own.len()]);
            let starts = starts.slice([own.start / chunk], [own.len().div_ceil(chunk)])?;
            let (x, y) = (x.slice(at, len)?, y.slice_mut(at, len)?);
            self.chunks::<U, T, V, O>(q, chunk, (&x, &starts), y)?;
        }
        Ok(())
    }

    /// Computes the totals of chunks, of which there are as many as totals.
    fn totals<U, T, O>(
        self,
        q: &Queue,
        chunk: usize,
        x: &Slice<'_, U>,
        mut totals: SliceMut<'_, T>,
    ) -> Result<()>
    where
        U: DeviceType + Value,
        T: Number + DeviceType,
        O: Combine<T>,
        F: Map<U, Output = T>,
    {
        let count = totals.len();
        if count == 0 {
            return Ok(());
        }
        if takes_in_turn(q) {
            q.run(count, totals_in_turn::<U, T, O, F>(self.before, chunk, x, &mut totals))?;
            return Ok(());
        }
        // SAFETY: there is a group for each total.
        let all = unsafe { Overwritten::new(&mut totals) };
        q.run(count * GROUP, chunk_totals::<U, T, O, F>(self.before, chunk, x, all))?;
        Ok(())
    }

    /// Scans chunks, each from its start on. The last one need not be whole.
    fn chunks<U, T, V, O>(
        self,
        q: &Queue,
        chunk: usize,
        (x, starts): (&Slice<'_, U>, &Slice<'_, T>),
        mut y: SliceMut<'_, V>,
    ) -> Result<()>
    where
        U: DeviceType + Value,
        T: Number + DeviceType,
        V: DeviceType + Value,
        O: Combine<T>,
        F: Map<U, Output = T>,
        H: Map<T, Output = V>,
    {
        let Maps { before, after, own } = self;
        let (n, count) = (y.len(), starts.len());
        let at = if takes_in_turn(q) { n / chunk } else { 0 };
        if at > 0 {
            let mut y = y.slice_mut([0], [at * chunk])?;
            // SAFETY: an item writes elements of its own chunk, and reads none.
            let y = unsafe { racy_whole(&mut y) };
            q.run(at, chunks_in_turn::<U, T, V, O, F, H>(before, after, own, chunk, x, starts, y))?;
        }
        if at < count {
            let (x, starts) = (rest(x, at * chunk)?, rest(starts, at)?);
            let mut y = y.slice_mut([at * chunk], [n - at * chunk])?;
            // SAFETY: a group writes elements of its own chunk, each by one item, and reads none.
            let y = unsafe { racy_whole(&mut y) };
            let call =
                scan_chunks::<U, T, V, O, F, H>(before, after, own, chunk, 0, 0, &x, &starts, y);
            q.run((count - at) * SCANS, call)?;
        }
        Ok(())
    }
}

/// The elements from one on.
fn rest<'a, T: DeviceType>(x: &Slice<'a, T>, first: usize) -> Result<Slice<'a, T>> {
    x.slice([first], [x.len() - first])
}

/// For each element, all up to and with it as one.
///
/// The order is fixed by the number of elements. Up to 2,048 elements are one tile. More are cut
/// into chunks of 1,024 elements, or of the least power of two more with which there are at most
/// 2,048 chunks, and a chunk into tiles of 1,024. The total of a chunk: of 256 lanes, lane l folds
/// the elements l, l + 256, l + 512, .. in order, and the lanes are a tree (semantics 8.1). The
/// totals before each chunk are an exclusive scan in the order of this page. In a tile, each item
/// folds 8 neighbours, beginning with what changes nothing; the items are scanned as in semantics
/// 8.3. An item then begins with all before the tile, combined with the items before it, and folds
/// its 8 neighbours into that.
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
    _: O,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()>
where
    T: Number + DeviceType,
    O: Combine<T>,
{
    let (x, mut y) = (x.slice_all(), y.slice_all_mut());
    of_one_length("inclusive_scan", x.len(), y.len())?;
    Maps { before: Same::new(), after: Same::new(), own: 1 }.scan::<T, T, T, O>(q, &x, &mut y)
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
    _: O,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()>
where
    T: Number + DeviceType,
    O: Combine<T>,
{
    let (x, mut y) = (x.slice_all(), y.slice_all_mut());
    of_one_length("exclusive_scan", x.len(), y.len())?;
    Maps { before: Same::new(), after: Same::new(), own: 0 }.scan::<T, T, T, O>(q, &x, &mut y)
}

/// An [`inclusive_scan`] of `before.map(x)`, of which `after.map` makes each result: with the bits
/// of a kernel before the scan and one after it, in the scan's launches and without their arrays.
///
/// [`Map`] says how functions are written.
pub fn mapped_inclusive_scan<U, T, V, O>(
    q: &Queue,
    before: impl Map<U, Output = T>,
    _: O,
    after: impl Map<T, Output = V>,
    x: impl AsPart<U, 1>,
    mut y: impl AsPartMut<V, 1>,
) -> Result<()>
where
    U: DeviceType + Value,
    T: Number + DeviceType,
    V: DeviceType + Value,
    O: Combine<T>,
{
    let (x, mut y) = (x.slice_all(), y.slice_all_mut());
    of_one_length("mapped_inclusive_scan", x.len(), y.len())?;
    Maps { before, after, own: 1 }.scan::<U, T, V, O>(q, &x, &mut y)
}

/// As [`mapped_inclusive_scan`], of all elements before each.
pub fn mapped_exclusive_scan<U, T, V, O>(
    q: &Queue,
    before: impl Map<U, Output = T>,
    _: O,
    after: impl Map<T, Output = V>,
    x: impl AsPart<U, 1>,
    mut y: impl AsPartMut<V, 1>,
) -> Result<()>
where
    U: DeviceType + Value,
    T: Number + DeviceType,
    V: DeviceType + Value,
    O: Combine<T>,
{
    let (x, mut y) = (x.slice_all(), y.slice_all_mut());
    of_one_length("mapped_exclusive_scan", x.len(), y.len())?;
    Maps { before, after, own: 0 }.scan::<U, T, V, O>(q, &x, &mut y)
}
