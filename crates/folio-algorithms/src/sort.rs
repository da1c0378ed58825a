//! Sorting by radix: keys as unsigned integers in the same order, and for each digit, from the
//! lowest on, a count, a scan of the counts, and a move of each key to its place. The sort is
//! stable.

use crate::keys::{Bits, Key};
use crate::prelude::*;
use crate::scan::exclusive_scan;
use crate::{of_32_bits, of_one_length, private};
use folio::RacyMemory;
use folio::hal::DeviceKind;
use folio::ir::device::CastFrom;

/// Which keys come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The least.
    Ascending,
    /// The greatest.
    Descending,
}

/// Counts, for each chunk of keys, those with each digit; the counts of one digit are beside each
/// other.
#[kernel]
fn count<B: Bits, const RADIX: usize>(
    i: Item,
    shift: u32,
    chunk: usize,
    keys: In<B>,
    counts: Racy<u32>,
) where
    usize: CastFrom<B>,
{
    let chunks = counts.len() / RADIX;
    let first = i.index() * chunk;
    let end = (first + chunk).min(keys.len());
    let mut found = [0u32; RADIX];
    for k in first..end {
        let digit = (keys[k] >> shift) as usize & (RADIX - 1);
        found[digit] += 1;
    }
    for digit in 0..RADIX {
        counts[digit * chunks + i.index()] = found[digit];
    }
}

/// Moves each key to its place among those that have its digit.
#[kernel]
fn place<B: Bits, const RADIX: usize>(
    i: Item,
    shift: u32,
    chunk: usize,
    starts: In<u32>,
    keys: In<B>,
    placed: Racy<B>,
) where
    usize: CastFrom<B>,
{
    let chunks = starts.len() / RADIX;
    let first = i.index() * chunk;
    let end = (first + chunk).min(keys.len());
    let mut next = [0u32; RADIX];
    for digit in 0..RADIX {
        next[digit] = starts[digit * chunks + i.index()];
    }
    for k in first..end {
        let key = keys[k];
        let digit = (key >> shift) as usize & (RADIX - 1);
        placed[next[digit]] = key;
        next[digit] += 1;
    }
}

/// The same with where each key was.
#[kernel]
fn place_with_order<B: Bits, const RADIX: usize>(
    i: Item,
    shift: u32,
    chunk: usize,
    starts: In<u32>,
    keys: In<B>,
    order: In<u32>,
    placed: Racy<B>,
    placed_order: Racy<u32>,
) where
    usize: CastFrom<B>,
{
    let chunks = starts.len() / RADIX;
    let first = i.index() * chunk;
    let end = (first + chunk).min(keys.len());
    let mut next = [0u32; RADIX];
    for digit in 0..RADIX {
        next[digit] = starts[digit * chunks + i.index()];
    }
    for k in first..end {
        let key = keys[k];
        let digit = (key >> shift) as usize & (RADIX - 1);
        placed[next[digit]] = key;
        placed_order[next[digit]] = order[k];
        next[digit] += 1;
    }
}

#[kernel]
fn positions(i: Item, y: Out<u32>) {
    y[i] = i.index() as u32;
}

#[kernel]
fn gathered<T: Value>(i: Item, at: In<u32>, x: In<T>, y: Out<T>) {
    y[i] = x[at[i]];
}

/// Keys on their way, in memory of the sort's own, and where they were.
#[derive(Debug)]
pub struct Keys<B: Bits> {
    keys: Buffer<B>,
    order: Option<Buffer<u32>>,
}

impl<B: Bits> Keys<B>
where
    usize: CastFrom<B>,
{
    /// Sorts by the low `bits`.
    pub(crate) fn sort(self, q: &Queue, bits: u32) -> Result<Keys<B>> {
        // Threads of a CPU go through long chunks; other devices have more items, with less memory
        // for each.
        match q.device().info().kind {
            DeviceKind::Cpu => self.passes::<256>(q, bits, 1 << 14),
            _ => self.passes::<16>(q, bits, 1 << 6),
        }
    }

    fn passes<const RADIX: usize>(self, q: &Queue, bits: u32, chunk: usize) -> Result<Keys<B>> {
        let (n, rt) = (self.keys.len(), q.runtime());
        let chunks = n.div_ceil(chunk);
        let mut counts = private::<u32>(&rt, RADIX * chunks)?;
        let mut starts = private::<u32>(&rt, RADIX * chunks)?;
        let mut from = self;
        let order = from.order.as_ref().map(|_| private(&rt, n)).transpose()?;
        let mut to = Keys { keys: private(&rt, n)?, order };
        for shift in (0..bits).step_by(RADIX.ilog2() as usize) {
            // SAFETY: an item writes what is its own modulo the number of chunks, and nothing is
            // read.
            let shared = unsafe { RacyMemory::new(&mut counts) };
            q.run(chunks, count::<B, RADIX>(shift, chunk, &from.keys, shared))?;
            exclusive_scan(q, Add, &counts, &mut starts)?;
            // SAFETY: there are fewer than 2^32 keys, and no command writes them since they were
            // counted. From each start on there is therefore room for the keys of this chunk and
            // digit, and for no others; each place is written once, and none is read.
            let placed = unsafe { RacyMemory::new(&mut to.keys) };
            match (&from.order, &mut to.order) {
                (Some(order), Some(placed_order)) => {
                    // SAFETY: as above.
                    let placed_order = unsafe { RacyMemory::new(placed_order) };
                    let call = place_with_order::<B, RADIX>(
                        shift,
                        chunk,
                        &starts,
                        &from.keys,
                        order,
                        placed,
                        placed_order,
                    );
                    q.run(chunks, call)?;
                }
                _ => {
                    q.run(chunks, place::<B, RADIX>(shift, chunk, &starts, &from.keys, placed))?;
                }
            }
            std::mem::swap(&mut from, &mut to);
        }
        Ok(from)
    }
}

/// Sorts keys as they are now; with their order, if that is wanted.
fn sorted<K: Key>(
    q: &Queue,
    direction: Direction,
    keys: &Slice<'_, K>,
    with_order: bool,
) -> Result<Keys<K::Bits>> {
    let (n, rt) = (keys.len(), q.runtime());
    of_32_bits::<K>("sort of", n)?;
    let mut own = private(&rt, n)?;
    K::encode(q, direction, keys, &mut own)?;
    let mut order = with_order.then(|| private(&rt, n)).transpose()?;
    if let Some(order) = &mut order {
        q.run(n, positions(order))?;
    }
    K::Bits::sort(Keys { keys: own, order }, q, K::BITS)
}

/// Sorts keys where they are. Needs memory for two further copies of them, of 32 or 64 bits each,
/// and an eighth of that for counts.
///
/// ```
/// use folio::algorithms::{self, Direction};
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let mut x = rt.buffer_from(&[0.0, f32::NAN, -0.0, -1.0])?;
/// algorithms::sort(&q, Direction::Ascending, &mut x)?;
/// assert_eq!(x.to_vec()?[..3], [-1.0, -0.0, 0.0]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn sort<K: Key>(q: &Queue, direction: Direction, mut keys: impl AsPartMut<K, 1>) -> Result<()> {
    let mut keys = keys.slice_all_mut();
    let Keys { keys: sorted, .. } = sorted(q, direction, &keys.slice_all(), false)?;
    K::decode(q, direction, &sorted, &mut keys)
}

/// Where each key of the sorted keys is: what to [`gather`] by. Of equal keys the first comes
/// first.
///
/// ```
/// use folio::algorithms::{self, Direction};
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[20i64, 10, 30, 10])?;
/// let order = algorithms::sort_order(&q, Direction::Descending, &x)?;
/// assert_eq!(order.to_vec()?, [2, 0, 1, 3]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn sort_order<K: Key>(
    q: &Queue,
    direction: Direction,
    keys: impl AsPart<K, 1>,
) -> Result<Buffer<u32>> {
    let Keys { order, .. } = sorted(q, direction, &keys.slice_all(), true)?;
    order.map_or_else(|| q.runtime().buffer(0), Ok)
}

/// Sorts keys where they are, and brings values, which may be of any type, into the same order.
/// Values of equal keys stay in theirs. Needs memory as [`sort_order`], and for a copy of the
/// values.
///
/// ```
/// use folio::algorithms::{self, Direction};
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let mut keys = rt.buffer_from(&[2u8, 1, 2, 0])?;
/// let mut values = rt.buffer_from(&[[20.0f32, 0.5], [10.0, 0.5], [21.0, 0.5], [0.0, 0.5]])?;
/// algorithms::sort_by_key(&q, Direction::Ascending, &mut keys, &mut values)?;
/// assert_eq!(keys.to_vec()?, [0, 1, 2, 2]);
/// assert_eq!(values.to_vec()?, [[0.0, 0.5], [10.0, 0.5], [20.0, 0.5], [21.0, 0.5]]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn sort_by_key<K: Key, T: DeviceType + Value>(
    q: &Queue,
    direction: Direction,
    mut keys: impl AsPartMut<K, 1>,
    mut values: impl AsPartMut<T, 1>,
) -> Result<()> {
    let (mut keys, mut values) = (keys.slice_all_mut(), values.slice_all_mut());
    of_one_length("sort_by_key", values.len(), keys.len())?;
    let Keys { keys: sorted, order } = sorted(q, direction, &keys.slice_all(), true)?;
    let mut before = q.runtime().buffer(values.len())?;
    q.submit(|cg| {
        cg.copy(&values, &mut before);
        Ok(())
    })?;
    K::decode(q, direction, &sorted, &mut keys)?;
    if let Some(order) = order {
        gather(q, &order, &before, &mut values)?;
    }
    Ok(())
}

/// `y[i] = x[at[i]]`. An index beyond `x` fails the command.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (at, x) = (rt.buffer_from(&[2u32, 0, 2])?, rt.buffer_from(&[0.5, 1.5, 2.5])?);
/// let mut y = rt.buffer::<f64, 1>(3)?;
/// folio::algorithms::gather(&q, &at, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [2.5, 0.5, 2.5]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn gather<T: DeviceType + Value>(
    q: &Queue,
    at: impl AsPart<u32, 1>,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()> {
    let (at, x, mut y) = (at.slice_all(), x.slice_all(), y.slice_all_mut());
    of_one_length("gather", at.len(), y.len())?;
    q.run(y.range(), gathered::<T>(&at, &x, &mut y))?;
    Ok(())
}
