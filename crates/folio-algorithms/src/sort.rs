//! Sorting by radix: keys as unsigned integers in the same order, and for each digit, from the
//! lowest on, a count, a scan of the counts, and a move of each key to its place. The sort is
//! stable.

use crate::keys::{Bits, Format, Key, Rule};
use crate::merge::merge_pairs;
use crate::passes::{Pairs, Passes, Way, copied};
use crate::prelude::*;
use crate::scatter::gather;
use crate::{of_32_bits, of_one_length, private};
use folio::buffer::Overwritten;
use folio::ir::device::CastFrom;

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

#[kernel]
fn keys_and_positions<K: Value>(i: Item, keys: In<K>, copies: Out<K>, y: Out<u32>) {
    copies[i] = keys[i];
    y[i] = i.index() as u32;
}

/// The number of each element's segment: how many boundaries are at it or before.
#[kernel]
fn segments<I: Number>(i: Item, bounds: In<I>, segment: Out<u32>)
where
    usize: CastFrom<I>,
{
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
    /// More keys are sorted in parts: positions of so many have 32 bits.
    most: usize,
}

/// Keys of one sort by radix at most.
const MOST: usize = u32::MAX as usize;

impl<B: Bits + CastFrom<u64>, T: DeviceType + Value> Job<'_, B, T>
where
    usize: CastFrom<B>,
{
    /// Sorts in one launch, or pass by pass.
    pub(crate) fn sort(self) -> Result<()> {
        let Job { q, rule, bits, mut keys, values, most } = self;
        // A move relies on the count before it.
        let (rt, q) = (q.runtime(), &q.undivided());
        // Without values their places have no elements.
        let mut none = private::<T>(&rt, 0)?;
        let mut values = match values {
            Some(values) => values,
            None => none.slice_mut([0], [0])?,
        };
        let sort = Parts { q, rule, bits, most };
        if keys.len() <= most {
            return sort.whole((&mut keys, &mut values));
        }
        let mut other_keys = private::<B>(&rt, keys.len())?;
        let mut other_values = private::<T>(&rt, values.len())?;
        let mut other_keys = other_keys.slice_mut([0], [keys.len()])?;
        let mut other_values = other_values.slice_mut([0], [values.len()])?;
        sort.halves((&mut keys, &mut values), (&mut other_keys, &mut other_values))
    }
}

/// A sort of parts, and merges of these.
#[derive(Clone, Copy)]
struct Parts<'a, B: Bits> {
    q: &'a Queue,
    rule: Rule<B>,
    bits: u32,
    most: usize,
}

impl<B: Bits + CastFrom<u64>> Parts<'_, B>
where
    usize: CastFrom<B>,
{
    /// Sorts by radix.
    fn whole<T: DeviceType + Value>(self, sorted: Pairs<'_, '_, B, T>) -> Result<()> {
        let Parts { q, rule, bits, .. } = self;
        let (n, is_plain) = (sorted.0.len(), sorted.1.is_empty());
        if n < 2 || bits == 0 {
            return Ok(());
        }
        let way = Way::of(q, size_of::<B>(), n);
        let passes = Passes { q, rule, bits, way };
        match (n <= way.alone(), is_plain) {
            (true, true) => passes.alone::<T, 0>(sorted),
            (true, false) => passes.alone::<T, 1>(sorted),
            (false, true) => passes.all::<T, 0>(sorted),
            (false, false) => passes.all::<T, 1>(sorted),
        }
    }

    /// Sorts halves, and merges them by way of `others`, which are as many.
    fn halves<T: DeviceType + Value>(
        self,
        (keys, values): Pairs<'_, '_, B, T>,
        (other_keys, other_values): Pairs<'_, '_, B, T>,
    ) -> Result<()> {
        let n = keys.len();
        if n <= self.most {
            return self.whole((keys, values));
        }
        let half = n / 2;
        let with_values = |of: usize| if values.is_empty() { 0 } else { of };
        let parts = [(0, half), (half, n - half)]
            .map(|(first, len)| (first, len, with_values(first), with_values(len)));
        for (first, len, first_value, values_len) in parts {
            let mut keys = keys.slice_mut([first], [len])?;
            let mut values = values.slice_mut([first_value], [values_len])?;
            let mut other_keys = other_keys.slice_mut([first], [len])?;
            let mut other_values = other_values.slice_mut([first_value], [values_len])?;
            self.halves((&mut keys, &mut values), (&mut other_keys, &mut other_values))?;
        }
        let of = |(first, len, first_value, values_len)| {
            let values = values.slice([first_value], [values_len])?;
            Ok::<_, folio::Error>((keys.slice([first], [len])?, values))
        };
        let (a, b) = (of(parts[0])?, of(parts[1])?);
        merge_pairs(self.q, self.rule, &a, &b, (&mut *other_keys, &mut *other_values))?;
        copied(self.q, other_keys, keys)?;
        copied(self.q, other_values, values)
    }
}

/// Sorts keys where they are, and values along with them.
fn sorted<K: Key, T: DeviceType + Value>(
    q: &Queue,
    direction: Direction,
    keys: &mut SliceMut<'_, K>,
    values: Option<SliceMut<'_, T>>,
) -> Result<()> {
    let (rule, bits) = (Rule::new(K::FORMAT, direction), K::Bits::WIDTH);
    K::Bits::sort(Job { q, rule, bits, keys: keys.reinterpret_mut()?, values, most: MOST })
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
    let mut own = private::<K>(&rt, keys.len())?;
    // SAFETY: there is an item for each element.
    let (copies, all) = unsafe { (Overwritten::new(&mut own), Overwritten::new(&mut order)) };
    q.run(keys.len(), keys_and_positions::<K>(&keys, copies, all))?;
    let mut own = own.reinterpret::<K::Bits, 1>(keys.len())?;
    let (whole, bits) = ([keys.len()], K::Bits::WIDTH);
    let (keys, values) = (own.slice_mut([0], whole)?, Some(order.slice_mut([0], whole)?));
    K::Bits::sort(Job {
        q,
        rule: Rule::new(K::FORMAT, direction),
        bits,
        keys,
        values,
        most: MOST,
    })?;
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
    if size_of::<T>() <= MOVED_BYTES || keys.len() > MOST {
        return sorted(q, direction, &mut keys, Some(values));
    }
    let (rt, q) = (q.runtime(), &q.undivided());
    let (mut order, mut before) = (private(&rt, keys.len())?, private(&rt, values.len())?);
    // SAFETY: there is an item for each element.
    let all = unsafe { Overwritten::new(&mut order) };
    q.run(keys.len(), positions(all))?;
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
pub fn sort_segments<K: Key, I>(
    q: &Queue,
    direction: Direction,
    offsets: impl AsPart<I, 1>,
    mut keys: impl AsPartMut<K, 1>,
) -> Result<()>
where
    I: Number + DeviceType,
    usize: CastFrom<I>,
{
    let (offsets, mut keys) = (offsets.slice_all(), keys.slice_all_mut());
    let (n, q) = (keys.len(), &q.undivided());
    let mut segment = private(&q.runtime(), n)?;
    // SAFETY: there is an item for each element.
    let all = unsafe { Overwritten::new(&mut segment) };
    q.run(n, segments::<I>(&offsets, all))?;
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
        most: MOST,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use folio_cpu::CpuBackend;
    use folio_sim::{DeviceSpec, SimBackend};

    /// Sorts in parts of `most` keys at most, with or without values, and gives what is wrong.
    fn in_parts(rt: &folio::Runtime, n: usize, most: usize, direction: Direction) -> Result<bool> {
        let q = rt.queue()?;
        let keys: Vec<u16> = (0..n).map(|k| (k * 7919 % 251) as u16).collect();
        let values: Vec<u32> = (0..n as u32).collect();
        let (mut x, mut y) = (rt.buffer_from(&keys)?, rt.buffer_from(&values)?);
        let mut alone = rt.buffer_from(&keys)?;
        let rule = Rule::new(Format::Unsigned, direction);
        let (keys_part, values_part) = (x.slice_mut([0], [n])?, y.slice_mut([0], [n])?);
        let values_part = Some(values_part);
        Job { q: &q, rule, bits: 16, keys: keys_part, values: values_part, most }.sort()?;
        let keys_part = alone.slice_mut([0], [n])?;
        Job::<u16, u32> { q: &q, rule, bits: 16, keys: keys_part, values: None, most }.sort()?;
        let mut wanted = values;
        wanted.sort_by_key(|at| {
            let key = i32::from(keys[*at as usize]);
            if direction == Direction::Ascending { key } else { -key }
        });
        let in_order: Vec<u16> = wanted.iter().map(|at| keys[*at as usize]).collect();
        Ok(x.to_vec()? == in_order && alone.to_vec()? == in_order && y.to_vec()? == wanted)
    }

    /// As more than 2^32 keys are sorted: parts, in several levels, of one key and of many.
    #[test]
    fn many_keys_are_sorted_in_parts() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let cpu = folio::Runtime::builder().backend(CpuBackend::builder().threads(2).build()?);
        let spec = DeviceSpec::new();
        let sim = folio::Runtime::builder().backend(SimBackend::builder().device(spec).build());
        for rt in [cpu.build()?, sim.build()?] {
            for (n, most) in [(2, 1), (5, 1), (3000, 1000), (3000, 2999), (50_001, 20_000)] {
                for direction in [Direction::Ascending, Direction::Descending] {
                    assert!(in_parts(&rt, n, most, direction)?, "{n} in parts of {most}");
                }
            }
        }
        Ok(())
    }
}
