//! Sorting by radix: keys as unsigned integers in the same order, and for each digit, from the
//! lowest on, a count, a scan of the counts, and a move of each key to its place. The sort is
//! stable.

use crate::counts::{Count, fits};
use crate::keys::{Bits, Format, Key, Rule};
use crate::merge::merge_pairs;
use crate::passes::{Pairs, Passes, Way, copied};
use crate::prelude::*;
use crate::scatter::gather;
use crate::{alone, apart, of_one_length, private};
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
fn positions<C: Count>(i: Item, y: Out<C>) {
    y[i] = i.index() as C;
}

#[kernel]
fn keys_and_positions<K: Value, C: Count>(i: Item, keys: In<K>, copies: Out<K>, y: Out<C>) {
    copies[i] = keys[i];
    y[i] = i.index() as C;
}

/// The number of each element's segment: how many boundaries are at it or before.
#[kernel]
fn segments<I: Number, S: Count>(i: Item, bounds: In<I>, segment: Out<S>)
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
    segment[i] = low as S;
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
    sorted::<K, u32>(&alone(q, "sort")?, direction, &mut keys.slice_all_mut(), None)
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
    let keys = keys.slice_all();
    fits::<u32, K>("sort of", keys.len())?;
    let mut order = q.runtime().buffer(keys.len())?;
    put_order(q, direction, keys, (&mut order).slice_all_mut(), MOST)?;
    Ok(order)
}

/// As [`sort_order`], into memory of the program's, which is as long as the keys. Indices that are
/// `u64` take any number of keys.
///
/// ```
/// use folio::algorithms::{self, Direction};
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[20i64, 10, 30, 10])?;
/// let mut order = rt.buffer::<u64, 1>(4)?;
/// algorithms::sort_order_into(&q, Direction::Descending, &x, &mut order)?;
/// assert_eq!(order.to_vec()?, [2, 0, 1, 3]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn sort_order_into<K: Key, C: Count>(
    q: &Queue,
    direction: Direction,
    keys: impl AsPart<K, 1>,
    mut order: impl AsPartMut<C, 1>,
) -> Result<()> {
    let (keys, order) = (keys.slice_all(), order.slice_all_mut());
    of_one_length("sort_order_into", keys.len(), order.len())?;
    fits::<C, K>("sort of", keys.len())?;
    put_order(q, direction, keys, order, MOST)
}

/// Sorts a copy of the keys in parts of `most` at most, and positions along with it.
fn put_order<K: Key, C: Count>(
    q: &Queue,
    direction: Direction,
    keys: Slice<'_, K>,
    mut order: SliceMut<'_, C>,
    most: usize,
) -> Result<()> {
    let (n, q) = (keys.len(), &alone(q, "sort_order")?);
    if n == 0 {
        return Ok(());
    }
    let mut own = private::<K>(&q.runtime(), n)?;
    // SAFETY: there is an item for each element.
    let (copies, all) = unsafe { (Overwritten::new(&mut own), Overwritten::new(&mut order)) };
    q.run(n, keys_and_positions::<K, C>(&keys, copies, all))?;
    let mut own = own.reinterpret::<K::Bits, 1>(n)?;
    let (rule, bits) = (Rule::new(K::FORMAT, direction), K::Bits::WIDTH);
    let keys = own.slice_mut([0], [n])?;
    K::Bits::sort(Job { q, rule, bits, keys, values: Some(order), most })
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
    let (keys, values) = (keys.slice_all_mut(), values.slice_all_mut());
    of_one_length("sort_by_key", values.len(), keys.len())?;
    put_by_key(&alone(q, "sort_by_key")?, direction, keys, values, MOST)
}

/// Sorts keys, and values along with them, whose numbers have 32 bits if they are `most` at most.
fn put_by_key<K: Key, T: DeviceType + Value>(
    q: &Queue,
    direction: Direction,
    mut keys: SliceMut<'_, K>,
    values: SliceMut<'_, T>,
    most: usize,
) -> Result<()> {
    // A constant, so that the sort is not compiled for values that it never moves.
    if const { size_of::<T>() <= MOVED_BYTES } {
        sorted(q, direction, &mut keys, Some(values))
    } else if keys.len() <= most {
        sort_then_move::<K, T, u32>(q, direction, keys, values)
    } else {
        sort_then_move::<K, T, u64>(q, direction, keys, values)
    }
}

/// Sorts the keys and the values' numbers, and then moves the values.
fn sort_then_move<K: Key, T: DeviceType + Value, C: Count>(
    q: &Queue,
    direction: Direction,
    mut keys: SliceMut<'_, K>,
    mut values: SliceMut<'_, T>,
) -> Result<()>
where
    usize: CastFrom<C>,
{
    let (rt, q) = (q.runtime(), &q.undivided());
    apart("sort_by_key", &keys.slice_all(), &values.slice_all())?;
    let (mut order, mut before) = (private::<C>(&rt, keys.len())?, private(&rt, values.len())?);
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
    let (offsets, keys) = (offsets.slice_all(), keys.slice_all_mut());
    put_segments(&alone(q, "sort_segments")?, direction, &offsets, keys, MOST)
}

/// Sorts segments, which have numbers of 32 bits where there are `most` at most.
fn put_segments<K: Key, I>(
    q: &Queue,
    direction: Direction,
    offsets: &Slice<'_, I>,
    keys: SliceMut<'_, K>,
    most: usize,
) -> Result<()>
where
    I: Number + DeviceType,
    usize: CastFrom<I>,
{
    match offsets.len() <= most {
        true => by_segment::<K, I, u32>(q, direction, offsets, keys),
        false => by_segment::<K, I, u64>(q, direction, offsets, keys),
    }
}

/// Sorts by key, and then by segment, in which the order by key stays.
fn by_segment<K: Key, I, S: Bits + Count>(
    q: &Queue,
    direction: Direction,
    offsets: &Slice<'_, I>,
    mut keys: SliceMut<'_, K>,
) -> Result<()>
where
    I: Number + DeviceType,
    usize: CastFrom<I>,
{
    let (n, q) = (keys.len(), &q.undivided());
    let mut segment = private::<S>(&q.runtime(), n)?;
    // SAFETY: there is an item for each element.
    let all = unsafe { Overwritten::new(&mut segment) };
    q.run(n, segments::<I, S>(offsets, all))?;
    let mut segment = segment.slice_mut([0], [n])?;
    sorted(q, direction, &mut keys, Some(segment.flat_mut()?))?;
    let bits = usize::BITS - offsets.len().leading_zeros();
    let rule = Rule::new(Format::Unsigned, Direction::Ascending);
    let values = Some(keys.reinterpret_mut::<K::Bits>()?);
    S::sort(Job { q, rule, bits, keys: segment, values, most: MOST })
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
    /// Orders of `u64`, and segments with numbers of 64 bits, beside those of 32 bits.
    #[test]
    fn numbers_of_64_bits_order_like_those_of_32()
    -> std::result::Result<(), Box<dyn std::error::Error>> {
        let cpu = folio::Runtime::builder().backend(CpuBackend::builder().threads(2).build()?);
        let spec = DeviceSpec::new();
        let sim = folio::Runtime::builder().backend(SimBackend::builder().device(spec).build());
        for rt in [cpu.build()?, sim.build()?] {
            let q = rt.queue()?;
            for (n, most) in [(0, 1), (1, 1), (3000, 1000), (50_001, 20_000)] {
                let keys: Vec<i16> = (0..n).map(|k| (k * 7919 % 251) as i16 - 100).collect();
                let x = rt.buffer_from(&keys)?;
                let mut order = rt.buffer::<u64, 1>(n)?;
                put_order(
                    &q,
                    Direction::Ascending,
                    (&x).slice_all(),
                    (&mut order).slice_all_mut(),
                    most,
                )?;
                let mut wanted: Vec<u64> = (0..n as u64).collect();
                wanted.sort_by_key(|at| keys[*at as usize]);
                assert_eq!(order.to_vec()?, wanted, "{n} in parts of {most}");

                let values: Vec<[u64; 2]> = (0..n as u64).map(|k| [k, !k]).collect();
                let (mut y, mut moved) = (rt.buffer_from(&keys)?, rt.buffer_from(&values)?);
                let (all, values) = (y.slice_mut([0], [n])?, moved.slice_mut([0], [n])?);
                // None may have numbers of 32 bits.
                put_by_key(&q, Direction::Ascending, all, values, 0)?;
                assert!(y.to_vec()?.is_sorted(), "{n} keys");
                let wanted: Vec<_> = wanted.iter().map(|k| [*k, !*k]).collect();
                assert_eq!(moved.to_vec()?, wanted, "values of {n}");

                let mut bounds: Vec<u32> = (0..40).map(|k| k * n as u32 / 40).collect();
                bounds.dedup();
                let offsets = rt.buffer_from(&bounds)?;
                let mut y = rt.buffer_from(&keys)?;
                let (few, all) = (bounds.len() - 1, y.slice_mut([0], [n])?);
                put_segments(&q, Direction::Descending, &(&offsets).slice_all(), all, few)?;
                let mut wanted = keys;
                bounds.push(n as u32);
                for ends in bounds.windows(2) {
                    wanted[ends[0] as usize..ends[1] as usize].sort_by(|a, b| b.cmp(a));
                }
                assert_eq!(y.to_vec()?, wanted, "{few} segments of {n}");
            }
        }
        Ok(())
    }
}
