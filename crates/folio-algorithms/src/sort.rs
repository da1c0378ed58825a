//! Sorting by radix: keys as unsigned integers in the same order, and for each digit, from the
//! lowest on, a count, a scan of the counts, and a move of each key to its place. The sort is
//! stable.

use crate::digits::{count, place};
use crate::keys::{Bits, Format, Key, Rule};
use crate::prelude::*;
use crate::scan::exclusive_scan;
use crate::scatter::gather;
use crate::tiles::{DIGITS, SUBGROUPS, count_chunks, place_chunks};
use crate::{of_32_bits, of_one_length, private};
use folio::hal::DeviceKind;
use folio::ir::device::CastFrom;
use folio::{DeviceRef, RacyMemory};

/// Which keys come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The least.
    Ascending,
    /// The greatest.
    Descending,
}

#[kernel]
fn positions(i: Item, y: Out<u32>) {
    y[i] = i.index() as u32;
}

/// The number of each element's segment: how many boundaries are at it or before.
#[kernel]
fn segments(i: Item, bounds: In<u32>, segment: Out<u32>) {
    let (mut low, mut high) = (0, bounds.len());
    while low < high {
        let middle = (low + high) / 2;
        if bounds[middle] as usize <= i.index() {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    segment[i] = low as u32;
}

/// Keys, and values that go along.
pub struct Job<'a, B: Bits, T: DeviceType> {
    q: &'a Queue,
    rule: Rule<B>,
    /// Of the order's integers, so many low bits count.
    bits: u32,
    keys: SliceMut<'a, B>,
    values: Option<SliceMut<'a, T>>,
}

/// Kernels of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// Each item has a chunk.
    Items {
        /// Keys of a chunk.
        chunk: usize,
    },
    /// Groups have chunks, of which they order tiles.
    Groups {
        /// Items of a group: [`SUBGROUPS`] sub-groups at most.
        items: usize,
        /// Keys of a chunk.
        chunk: usize,
        /// Tiles are large.
        large: bool,
    },
}

impl Way {
    /// The way that suits the queue's devices: counts and moves may run on different ones.
    fn of(q: &Queue, key_bytes: usize) -> Way {
        let mut ways = q.devices().into_iter().map(|device| Way::on(&device, key_bytes));
        let first = ways.next();
        let all_alike = ways.all(|way| Some(way) == first);
        first.filter(|_| all_alike).unwrap_or(Way::Items { chunk: 1 << 6 })
    }

    /// The way that suits a device.
    fn on(device: &DeviceRef, key_bytes: usize) -> Way {
        let limits = device.limits();
        let width = limits.subgroup as usize;
        match device.info().kind {
            // Threads of a CPU go through long chunks; other devices have more items, with less
            // memory for each.
            DeviceKind::Cpu if width == 1 => Way::Items { chunk: 1 << 14 },
            _ if width == 1 => Way::Items { chunk: 1 << 6 },
            _ => {
                let keys = if key_bytes > 4 { 1 << 11 } else { 1 << 12 };
                let room = keys * (key_bytes + size_of::<u32>()) + COUNTS_BYTES;
                let (items, local) = (SUBGROUPS * width, limits.local_memory as usize);
                let large = items >= 256 && limits.group_items >= 256 && local >= room;
                let items = if large { 256 } else { items.min(64) };
                Way::Groups { items, chunk: TILES_OF_A_CHUNK * items * 16, large }
            }
        }
    }

    /// Digits, and chunks of so many keys.
    fn counts(self, n: usize) -> (usize, usize) {
        match self {
            Way::Items { chunk } if chunk < 1 << 10 => (16, n.div_ceil(chunk)),
            Way::Items { chunk } | Way::Groups { chunk, .. } => (DIGITS, n.div_ceil(chunk)),
        }
    }
}

/// Tiles that a group orders one after the other: their counts are shared.
const TILES_OF_A_CHUNK: usize = 8;
/// Local memory of a tile beside its keys and their order.
const COUNTS_BYTES: usize = (SUBGROUPS + 2) * DIGITS * size_of::<u32>();

impl<B: Bits, T: DeviceType + Value> Job<'_, B, T>
where
    usize: CastFrom<B>,
{
    /// Sorts, pass by pass: in memory of the sort's own, which no other command changes between a
    /// count and the move that relies on it, and in the last pass to where the keys belong.
    pub(crate) fn sort(self) -> Result<()> {
        match &self.values {
            Some(_) => self.passes::<1>(),
            None => self.passes::<0>(),
        }
    }

    fn passes<const VALUES: usize>(self) -> Result<()> {
        let Job { q, rule, bits, keys, values } = self;
        // A move relies on the count before it.
        let (n, rt, q) = (keys.len(), q.runtime(), &q.undivided());
        if n < 2 {
            return Ok(());
        }
        // Kernels without values have one that they leave alone.
        let (mut none, values_len) = (private::<T>(&rt, 1)?, if VALUES == 0 { 1 } else { n });
        let values = match values {
            Some(values) => values,
            None => none.slice_mut([0], [1])?,
        };
        let own = || Ok::<_, folio::Error>((private::<B>(&rt, n)?, private::<T>(&rt, values_len)?));
        let ((mut one, mut one_values), (mut two, mut two_values)) = (own()?, own()?);
        let (all, all_values) = ([n], [values_len]);
        let mut from = (one.slice_mut([0], all)?, one_values.slice_mut([0], all_values)?);
        let mut to = (two.slice_mut([0], all)?, two_values.slice_mut([0], all_values)?);
        let mut sorted = (keys, values);
        copied(q, &sorted.0, &mut from.0)?;
        copied(q, &sorted.1, &mut from.1)?;
        let way = Way::of(q, size_of::<B>());
        let (radix, chunks) = way.counts(n);
        let mut counts = private::<u32>(&rt, radix * chunks)?;
        let mut starts = private::<u32>(&rt, radix * chunks)?;
        let step = radix.ilog2();
        for shift in (0..bits).step_by(step as usize) {
            let pass = Pass { q, rule, shift, way };
            pass.count(&from.0.slice_all(), &mut counts)?;
            exclusive_scan(q, Add, &counts, &mut starts)?;
            if shift + step < bits {
                pass.place::<T, VALUES>(&starts, &from, &mut to)?;
                std::mem::swap(&mut from, &mut to);
            } else {
                pass.place::<T, VALUES>(&starts, &from, &mut sorted)?;
            }
        }
        Ok(())
    }
}

fn copied<T: DeviceType>(
    q: &Queue,
    from: &SliceMut<'_, T>,
    to: &mut SliceMut<'_, T>,
) -> Result<()> {
    q.submit(|cg| {
        cg.copy(from, to);
        Ok(())
    })?;
    Ok(())
}

/// Keys and their values.
type Pairs<'a, B, T> = (SliceMut<'a, B>, SliceMut<'a, T>);

/// Orders keys by one digit.
struct Pass<'a, B: Bits> {
    q: &'a Queue,
    rule: Rule<B>,
    shift: u32,
    way: Way,
}

impl<B: Bits> Pass<'_, B>
where
    usize: CastFrom<B>,
{
    fn count(&self, keys: &Slice<'_, B>, counts: &mut Buffer<u32>) -> Result<()> {
        let Pass { q, rule, shift, way } = *self;
        let (radix, chunks) = way.counts(keys.len());
        // SAFETY: an item or a group writes what is its own modulo the number of chunks, and
        // nothing is read.
        let shared = unsafe { RacyMemory::new(counts) };
        match way {
            Way::Items { chunk } if radix == 16 => {
                q.run(chunks, count::<B, 16>(rule, shift, chunk, keys, shared))?
            }
            Way::Items { chunk } => {
                q.run(chunks, count::<B, DIGITS>(rule, shift, chunk, keys, shared))?
            }
            Way::Groups { items, chunk, .. } => {
                let launch = Items::from(chunks * items).groups([items]);
                q.run(launch, count_chunks::<B>(rule, shift, chunk, keys, shared))?
            }
        };
        Ok(())
    }

    fn place<T: DeviceType + Value, const VALUES: usize>(
        &self,
        starts: &Buffer<u32>,
        (keys, values): &Pairs<'_, B, T>,
        (placed, placed_values): &mut Pairs<'_, B, T>,
    ) -> Result<()> {
        let Pass { q, rule, shift, way } = *self;
        let (radix, chunks) = way.counts(keys.len());
        // SAFETY: there are fewer than 2^32 keys, in memory of the sort's own, which no command has
        // written since they were counted: where this runs, the count has run, since the queue is
        // not divided. From each start on there is therefore room for the keys
        // of this chunk and digit, and for no others; each place is written once, and none is read.
        let placed = unsafe { RacyMemory::new(placed) };
        // SAFETY: as above: values are placed as their keys are, and without `VALUES` none is.
        let others = unsafe { RacyMemory::new(placed_values) };
        match way {
            Way::Items { chunk } if radix == 16 => q.run(
                chunks,
                place::<B, T, 16, VALUES>(rule, shift, chunk, starts, keys, values, placed, others),
            )?,
            Way::Items { chunk } => q.run(
                chunks,
                place::<B, T, DIGITS, VALUES>(
                    rule, shift, chunk, starts, keys, values, placed, others,
                ),
            )?,
            Way::Groups { items, chunk, large } => {
                let launch = Items::from(chunks * items).groups([items]);
                if large && size_of::<B>() > 4 {
                    q.run(
                        launch,
                        place_chunks::<B, T, 2048, 8, VALUES>(
                            rule, shift, chunk, starts, keys, values, placed, others,
                        ),
                    )?
                } else if large {
                    q.run(
                        launch,
                        place_chunks::<B, T, 4096, 16, VALUES>(
                            rule, shift, chunk, starts, keys, values, placed, others,
                        ),
                    )?
                } else {
                    q.run(
                        launch,
                        place_chunks::<B, T, 1024, 16, VALUES>(
                            rule, shift, chunk, starts, keys, values, placed, others,
                        ),
                    )?
                }
            }
        };
        Ok(())
    }
}

/// Sorts keys where they are, and values along with them.
fn sorted<K: Key, T: DeviceType + Value>(
    q: &Queue,
    direction: Direction,
    keys: &mut SliceMut<'_, K>,
    values: Option<SliceMut<'_, T>>,
) -> Result<()> {
    of_32_bits::<K>("sort of", keys.len())?;
    let rule = Rule::new(K::FORMAT, direction);
    K::Bits::sort(Job { q, rule, bits: K::Bits::WIDTH, keys: keys.reinterpret_mut()?, values })
}

/// Sorts keys where they are, as they are when the sort begins. Needs memory for two copies of
/// them, and for counts.
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
    sorted::<K, u32>(q, direction, &mut keys.slice_all_mut(), None)
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
    let (keys, rt, q) = (keys.slice_all(), q.runtime(), &q.undivided());
    of_32_bits::<K>("sort of", keys.len())?;
    let mut order = rt.buffer(keys.len())?;
    if keys.is_empty() {
        return Ok(order);
    }
    let mut own = private(&rt, keys.len())?;
    q.submit(|cg| {
        cg.copy(&keys, &mut own);
        Ok(())
    })?;
    q.run(keys.len(), positions(&mut order))?;
    let whole = [keys.len()];
    let order_slice = order.slice_mut([0], whole)?;
    sorted(q, direction, &mut own.slice_mut([0], whole)?, Some(order_slice))?;
    Ok(order)
}

/// Sorts keys where they are, and brings values, which may be of any type, into the same order.
/// Values of equal keys stay in theirs. Needs memory for two copies of both, and for counts.
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
    if size_of::<T>() <= MOVED_BYTES {
        return sorted(q, direction, &mut keys, Some(values));
    }
    of_32_bits::<K>("sort of", keys.len())?;
    let (rt, q) = (q.runtime(), &q.undivided());
    let (mut order, mut before) = (private(&rt, keys.len())?, private(&rt, values.len())?);
    q.run(order.len(), positions(&mut order))?;
    sorted(q, direction, &mut keys, Some(order.slice_mut([0], [values.len()])?))?;
    q.submit(|cg| {
        cg.copy(&values, &mut before);
        Ok(())
    })?;
    gather(q, &order, &before, &mut values)
}

/// Values of more bytes are moved once, when their order is known.
const MOVED_BYTES: usize = 8;

/// Sorts each segment where it is: segment `k` is from `offsets[k]` to `offsets[k + 1]`. What is
/// before the first offset, or behind the last one, is a segment, too. Offsets that do not ascend
/// order the keys in some way.
///
/// ```
/// use folio::algorithms::{self, Direction};
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let mut x = rt.buffer_from(&[3, 1, 2, 9, 8, 7, 6])?;
/// let offsets = rt.buffer_from(&[0u32, 3, 5, 7])?;
/// algorithms::sort_segments(&q, Direction::Ascending, &offsets, &mut x)?;
/// assert_eq!(x.to_vec()?, [1, 2, 3, 8, 9, 6, 7]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn sort_segments<K: Key>(
    q: &Queue,
    direction: Direction,
    offsets: impl AsPart<u32, 1>,
    mut keys: impl AsPartMut<K, 1>,
) -> Result<()> {
    let (offsets, mut keys) = (offsets.slice_all(), keys.slice_all_mut());
    let (n, q) = (keys.len(), &q.undivided());
    of_32_bits::<K>("sort of", n)?;
    let mut segment = private(&q.runtime(), n)?;
    q.run(n, segments(&offsets, &mut segment))?;
    // By key, and then by segment, in which the order by key stays.
    let mut segment = segment.slice_mut([0], [n])?;
    sorted(q, direction, &mut keys, Some(segment.flat_mut()?))?;
    let bits = usize::BITS - offsets.len().leading_zeros();
    let rule = Rule::new(Format::Unsigned, Direction::Ascending);
    <u32 as Bits>::sort(Job {
        q,
        rule,
        bits,
        keys: segment,
        values: Some(keys.reinterpret_mut::<K::Bits>()?),
    })
}
