//! Histograms: how often each index is there. Groups count in local memory, in as many copies as
//! have room there, and add what they have counted to the result.

use crate::counts::{Count, fits};
use crate::prelude::*;
use crate::{alone, apart, private};
use folio::hal::DeviceKind;
use folio::ir::device::{CastFrom, Int};

/// Counters of an item or a group: of a byte, in a little memory, and in much.
const BYTE: usize = 256;
const FEW: usize = 2048;
const MANY: usize = 8192;
/// Items of a group.
const GROUP: usize = 256;
/// Elements of an item, of which it has four under way at a time.
const EACH: usize = 64;

/// The bin of an index: what is not in the range of bins stays outside, or goes to the nearest one.
#[device_fn]
fn bin_of<T: Number + Int>(x: T, last: u64, clamps: u32) -> usize
where
    u64: CastFrom<T>,
{
    let at = if clamps == 0 {
        x as u64
    } else if x < T::ZERO {
        0
    } else {
        (x as u64).min(last)
    };
    at as usize
}

/// Counts where counters of one item are not in another's way, and where there are many.
#[kernel]
fn count_each<T: Number + Int>(i: Item, clamps: u32, last: u64, x: In<T>, counts: Atomic<u32>)
where
    u64: CastFrom<T>,
{
    counts.add(bin_of(x[i], last, clamps), 1);
}

/// Counts a chunk in two arrays of the item's own, in turns: a counter that is needed again at once
/// is not waited for.
#[kernel]
fn count_chunks<T: Number + Int, const SLOTS: usize>(
    i: Item,
    clamps: u32,
    last: u64,
    chunk: usize,
    x: In<T>,
    counts: Atomic<u32>,
) where
    u64: CastFrom<T>,
{
    let (n, bins) = (x.len(), counts.len());
    let first = i.index() * chunk;
    let end = (first + chunk).min(n);
    let (mut one, mut other) = ([0u32; SLOTS], [0u32; SLOTS]);
    for k in (first..end).step_by(2) {
        let bin = bin_of(x[k], last, clamps);
        if bin < bins {
            one[bin] += 1;
        } else {
            counts.add(bin, 1);
        }
        if k + 1 < end {
            let bin = bin_of(x[k + 1], last, clamps);
            if bin < bins {
                other[bin] += 1;
            } else {
                counts.add(bin, 1);
            }
        }
    }
    for bin in 0..bins {
        let sum = one[bin] + other[bin];
        if sum != 0 {
            counts.add(bin, sum);
        }
    }
}

#[kernel(group = GROUP)]
fn count_groups<T: Number + Int, const SLOTS: usize>(
    g: Group,
    clamps: u32,
    last: u64,
    x: In<T>,
    own: LocalAtomic<u32, SLOTS>,
    counts: Atomic<u32>,
) where
    u64: CastFrom<T>,
{
    let (n, bins) = (x.len(), counts.len());
    let copies = (SLOTS / bins).min(GROUP / 32);
    let first = g.index() * (GROUP * EACH);
    let end = (first + GROUP * EACH).min(n);
    // Of an item's first element of four under way, which are then seen to be inside.
    let end_of_four = end.max(3 * GROUP) - 3 * GROUP;
    g.each(|i| {
        let copy = i.local_index() / 32 % copies * bins;
        let mut at = first + i.local_index();
        while at < end_of_four {
            let mut some = [T::ZERO; 4];
            for k in 0..4 {
                some[k] = x[at + k * GROUP];
            }
            for k in 0..4 {
                let bin = bin_of(some[k], last, clamps);
                // An index without a bin fails at the bins, whose number the failure tells.
                if bin < bins {
                    own.add(copy + bin, 1);
                } else {
                    counts.add(bin, 1);
                }
            }
            at += 4 * GROUP;
        }
        while at < end {
            let bin = bin_of(x[at], last, clamps);
            if bin < bins {
                own.add(copy + bin, 1);
            } else {
                counts.add(bin, 1);
            }
            at += GROUP;
        }
    });
    g.each(|i| {
        let mut bin = i.local_index();
        while bin < bins {
            let mut sum = 0;
            for copy in 0..copies {
                sum += own.load(copy * bins + bin);
            }
            if sum != 0 {
                counts.add(bin, sum);
            }
            bin += GROUP;
        }
    });
}

/// A histogram to be made.
struct Job<'a, T: DeviceType> {
    q: &'a Queue,
    clamps: u32,
    last: u64,
    x: &'a Slice<'a, T>,
    counts: &'a mut Buffer<u32>,
}

impl<T> Job<'_, T>
where
    T: Number + Int + DeviceType,
    u64: CastFrom<T>,
{
    fn by_items<const SLOTS: usize>(self) -> Result<()> {
        let Job { q, clamps, last, x, counts } = self;
        let chunk = (SLOTS * 8).max(1 << 14);
        let call = count_chunks::<T, SLOTS>(clamps, last, chunk, x, counts);
        q.run(x.len().div_ceil(chunk), call)?;
        Ok(())
    }

    fn by_groups<const SLOTS: usize>(self) -> Result<()> {
        let Job { q, clamps, last, x, counts } = self;
        let items = Items::from(x.len().div_ceil(GROUP * EACH) * GROUP);
        q.run(items, count_groups::<T, SLOTS>(clamps, last, x, counts))?;
        Ok(())
    }
}

/// Adds the counts of a part of the elements.
#[kernel]
fn add_counts<C: Count>(i: Item, part: In<u32>, counts: InOut<C>) {
    counts[i] += part[i] as C;
}

/// Counts at most `u32::MAX` elements.
fn count<T>(q: &Queue, x: &Slice<'_, T>, clamps: u32, counts: &mut Buffer<u32>) -> Result<()>
where
    T: Number + Int + DeviceType,
    u64: CastFrom<T>,
{
    let (n, bins) = (x.len(), counts.len());
    // By a command, so that each run of a graph counts anew.
    q.fill(&mut *counts, 0)?;
    let (limits, last) = (q.device().limits(), (bins as u64).wrapping_sub(1));
    // Where a CPU has sub-groups, compilers of its shaders take minutes for an item's large arrays.
    let is_cpu = q.device().info().kind == DeviceKind::Cpu && limits.subgroup == 1;
    let has_room = |slots: usize| {
        limits.local_memory >= 4 * slots as u64 && limits.group_items >= GROUP as u64
    };
    let job = Job { q, clamps, last, x, counts };
    match bins {
        1..=BYTE if is_cpu => job.by_items::<BYTE>(),
        1..=FEW if is_cpu => job.by_items::<FEW>(),
        1..=MANY if is_cpu => job.by_items::<MANY>(),
        1..=FEW if has_room(FEW) => job.by_groups::<FEW>(),
        1..=MANY if has_room(MANY) => job.by_groups::<MANY>(),
        _ => q.run(n, count_each::<T>(clamps, last, x, job.counts)).map(drop),
    }
}

fn counted<T, const D: usize>(
    q: &Queue,
    x: Slice<'_, T, D>,
    bins: usize,
    clamps: u32,
) -> Result<Buffer<u32>>
where
    T: Number + Int + DeviceType,
    u64: CastFrom<T>,
{
    let x = x.flat()?;
    fits::<u32, T>("histogram of", x.len())?;
    let mut counts = q.runtime().buffer(bins)?;
    count(&alone(q, "histogram")?, &x, clamps, &mut counts)?;
    Ok(counts)
}

/// Counts in parts of `most` elements, whose counts have 32 bits: not every device adds integers of
/// 64 bits in one step.
fn summed<T, C: Count, const D: usize>(
    q: &Queue,
    x: Slice<'_, T, D>,
    mut counts: SliceMut<'_, C>,
    clamps: u32,
    most: usize,
) -> Result<()>
where
    T: Number + Int + DeviceType,
    u64: CastFrom<T>,
{
    let (x, bins, q) = (x.flat()?, counts.len(), &alone(q, "histogram")?);
    fits::<C, T>("histogram of", x.len())?;
    apart("histogram", &x, &counts.slice_all())?;
    let mut part = private(&q.runtime(), bins)?;
    q.fill(&mut counts, C::ZERO)?;
    for first in (0..x.len()).step_by(most) {
        let len = most.min(x.len() - first);
        count(q, &x.slice([first], [len])?, clamps, &mut part)?;
        q.run(bins, add_counts::<C>(&part, &mut counts))?;
    }
    Ok(())
}

/// Elements of a part at most: a count of them has 32 bits.
const MOST: usize = u32::MAX as usize;

/// How often each index below `bins` is an element of `x`. An index outside fails the command, with
/// the index and the number of bins.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[3u8, 1, 3, 0])?;
/// assert_eq!(folio::algorithms::bincount(&q, &x, 5)?.to_vec()?, [1, 1, 0, 2, 0]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn bincount<T, const D: usize>(
    q: &Queue,
    x: impl AsPart<T, D>,
    bins: usize,
) -> Result<Buffer<u32>>
where
    T: Number + Int + DeviceType,
    u64: CastFrom<T>,
{
    counted(q, x.slice_all(), bins, 0)
}

/// As [`bincount`], but indices outside count in the nearest bin: negative ones in the first, those
/// that are too large in the last.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[-5i64, 1, 700, 0])?;
/// assert_eq!(folio::algorithms::histogram(&q, &x, 3)?.to_vec()?, [2, 1, 1]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn histogram<T, const D: usize>(
    q: &Queue,
    x: impl AsPart<T, D>,
    bins: usize,
) -> Result<Buffer<u32>>
where
    T: Number + Int + DeviceType,
    u64: CastFrom<T>,
{
    counted(q, x.slice_all(), bins, 1)
}

/// As [`bincount`], into memory of the program's, which has as many elements as there are bins, and
/// is overwritten. Counts that are `u64` take any number of elements.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[3u8, 1, 3, 0])?;
/// let mut counts = rt.buffer::<u64, 1>(5)?;
/// folio::algorithms::bincount_into(&q, &x, &mut counts)?;
/// assert_eq!(counts.to_vec()?, [1, 1, 0, 2, 0]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn bincount_into<T, C: Count, const D: usize>(
    q: &Queue,
    x: impl AsPart<T, D>,
    mut counts: impl AsPartMut<C, 1>,
) -> Result<()>
where
    T: Number + Int + DeviceType,
    u64: CastFrom<T>,
{
    summed(q, x.slice_all(), counts.slice_all_mut(), 0, MOST)
}

/// As [`histogram`], into memory of the program's: see [`bincount_into`].
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[-5i64, 1, 700, 0])?;
/// let mut counts = rt.buffer::<u64, 1>(3)?;
/// folio::algorithms::histogram_into(&q, &x, &mut counts)?;
/// assert_eq!(counts.to_vec()?, [2, 1, 1]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn histogram_into<T, C: Count, const D: usize>(
    q: &Queue,
    x: impl AsPart<T, D>,
    mut counts: impl AsPartMut<C, 1>,
) -> Result<()>
where
    T: Number + Int + DeviceType,
    u64: CastFrom<T>,
{
    summed(q, x.slice_all(), counts.slice_all_mut(), 1, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use folio_cpu::CpuBackend;
    use folio_sim::{DeviceSpec, SimBackend};

    /// As more than 2^32 elements are counted: in parts, the last of which is shorter.
    #[test]
    fn many_elements_are_counted_in_parts() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let cpu = folio::Runtime::builder().backend(CpuBackend::builder().threads(2).build()?);
        let spec = DeviceSpec::new();
        let sim = folio::Runtime::builder().backend(SimBackend::builder().device(spec).build());
        for rt in [cpu.build()?, sim.build()?] {
            let q = rt.queue()?;
            for (n, most, bins) in [(0, 1, 3), (5, 1, 3), (3000, 1000, 251), (3001, 1000, 9000)] {
                let x: Vec<i32> = (0..n).map(|k| k * 7919 % 251 - 5).collect();
                let mut wanted = vec![0; bins];
                for x in &x {
                    wanted[(*x).clamp(0, bins as i32 - 1) as usize] += 1;
                }
                let x = rt.buffer_from(&x)?;
                // What is there before does not count.
                let mut counts = rt.buffer_from(vec![77u64; bins])?;
                summed(&q, (&x).slice_all(), (&mut counts).slice_all_mut(), 1, most)?;
                assert_eq!(counts.to_vec()?, wanted, "{n} in parts of {most}");
            }
        }
        Ok(())
    }
}
