//! Keeps chosen elements, without gaps.
//!
//! Each chunk counts what it keeps, one group scans the counts, and the chunks move their elements:
//! three launches, and no count of each element in memory. Of few chunks each group adds up the
//! counts itself, which is a launch less.

use crate::compact_in_turn::{count_in_turn, move_in_turn};
use crate::prelude::*;
use crate::scan::{EACH, FEW_CHUNKS, GROUP, SCANS, TILE, chunk_of};
use crate::{alone, of_one_length, private, racy_whole, takes_in_turn};
use folio::{RacyMemory, buffer::Overwritten};

/// Flags that an item loads before it looks at the first: GPUs have them on their way together.
const BATCH: usize = 16;
/// Flags that a group loads at once.
const STRIDE: usize = GROUP * BATCH;

/// Whether an element is kept: where its flag is not 0 or, with `CHANGES`, where it is another one
/// than that before.
#[device_fn]
pub(crate) fn is_kept<F: Number, const CHANGES: usize>(at: usize, flag: F, before: F) -> bool {
    if CHANGES > 0 { (at == 0) | (flag != before) } else { flag != F::ZERO }
}

#[kernel(group = 256)]
pub(crate) fn count_kept<F: Number, const CHANGES: usize>(
    g: Group,
    chunk: usize,
    keep: In<F>,
    counts: OutGroup<u32>,
) {
    let n = keep.len();
    let first = g.index() * chunk;
    let count = g.reduce::<Add>(|i| {
        let mut count = 0u32;
        for batch in 0..(chunk + STRIDE - 1) / STRIDE {
            let base = batch * STRIDE + i.local_index();
            let mut flags = [F::ZERO; BATCH];
            let mut before = [F::ZERO; BATCH];
            for k in 0..BATCH {
                let slot = base + k * GROUP;
                let at = first + slot;
                if at < n {
                    flags[k] = if slot < chunk { keep[at] } else { F::ZERO };
                    if CHANGES > 0 {
                        before[k] = keep[at.max(1) - 1];
                    }
                }
            }
            for k in 0..BATCH {
                let slot = base + k * GROUP;
                let is_here = (CHANGES == 0) | ((slot < chunk) & (first + slot < n));
                if is_here & is_kept::<F, CHANGES>(first + slot, flags[k], before[k]) {
                    count += 1;
                }
            }
        }
        count
    });
    counts[g] = count;
}

/// Where each chunk's kept elements begin, and behind these how many there are.
#[kernel(group = 256)]
pub(crate) fn start_chunks(g: Group, counts: In<u32>, starts: Racy<u64>, count: OutGroup<u64>) {
    let n = counts.len();
    let values = g.private([0u32; EACH]);
    let own = g.private(0u64);
    g.each(|i| {
        let first = i.local_index() * EACH;
        let mut sum = 0;
        for k in 0..EACH {
            let at = first + k;
            values[i][k] = if at < n { counts[at] } else { 0 };
            sum += values[i][k] as u64;
        }
        own[i] = sum;
    });
    let before = g.exclusive_scan::<Add>(|i| own[i]);
    g.each(|i| {
        let first = i.local_index() * EACH;
        let mut sum = before[i];
        for k in 0..EACH {
            let at = first + k;
            if at < n.min(starts.len()) {
                starts[at] = sum;
            }
            sum += values[i][k] as u64;
        }
    });
    let all = g.reduce::<Add>(|i| own[i]);
    count[g] = all;
    g.each(|i| {
        if i.local_index() == 0 && n < starts.len() {
            starts[n] = all;
        }
    });
}

/// What a group knows before it moves elements: where its own begin, and how many there are.
const STARTS: u32 = 0;
/// How many each chunk keeps.
const COUNTS: u32 = 1;

/// Moves the kept elements of a chunk to their places, tile by tile; with `both` the others behind
/// all that are kept. An item takes neighbours, and notes in `from` which element of the tile comes
/// at which place, so that neighbouring items move to neighbouring places: those that are kept from
/// the first slot on, the others from the last one back.
#[kernel(group = 128)]
pub(crate) fn move_kept<T: Value, F: Number, const CHANGES: usize>(
    g: Group,
    both: u32,
    known: u32,
    chunk: usize,
    keep: In<F>,
    starts: In<u64>,
    counts: In<u32>,
    x: In<T>,
    from: LocalAtomic<u32, TILE>,
    ends: Local<u32, SCANS>,
    count: Racy<u64>,
    y: Racy<T>,
) {
    let first = g.index() * chunk;
    let end = (first + chunk).min(x.len());
    let n = x.len();
    let flags = g.private(0u32);
    let sums = g.private([0u64; 3]);
    let mut all = 0;
    let mut start = 0;
    let mut kept_end = 0;
    if known == STARTS {
        // Other commands may have changed the flags since they were counted.
        let last = starts.len().max(1) - 1;
        start = starts[g.index().min(last)] as usize;
        kept_end = starts[(g.index() + 1).min(last)] as usize;
        all = starts[last] as usize;
    } else {
        g.each(|i| {
            let (mut before, mut until, mut total) = (0, 0, 0);
            for turn in 0..EACH {
                let earlier = turn * SCANS + i.local_index();
                let kept = if earlier < counts.len() { counts[earlier] as u64 } else { 0 };
                before += if earlier < g.index() { kept } else { 0 };
                until += if earlier <= g.index() { kept } else { 0 };
                total += kept;
            }
            sums[i] = [before, until, total];
        });
        start = g.reduce::<Add>(|i| sums[i][0]) as usize;
        kept_end = g.reduce::<Add>(|i| sums[i][1]) as usize;
        all = g.reduce::<Add>(|i| sums[i][2]) as usize;
        g.each(|i| {
            if i.index() < count.len() {
                count[i.index()] = all as u64;
            }
        });
    }
    let others_end = all + end - kept_end;
    assert!(kept_end <= y.len(), "there is no room for all elements that are kept");
    let values = g.private([x[first]; EACH]);
    for tile in 0..(end - first + TILE - 1) / TILE {
        let base = first + tile * TILE;
        let here = (end - base).min(TILE);
        let before = g.exclusive_scan::<Add>(|i| {
            let mut bits = 0u32;
            for k in 0..EACH {
                let at = base + i.local_index() * EACH + k;
                if at < n {
                    let earlier = if CHANGES > 0 { keep[at.max(1) - 1] } else { F::ZERO };
                    bits |= if is_kept::<F, CHANGES>(at, keep[at], earlier) { 1 << k } else { 0 };
                }
            }
            flags[i] = bits;
            bits.count_ones()
        });
        g.each(|i| {
            let mut kept = before[i];
            for k in 0..EACH {
                let slot = (i.local_index() * EACH + k) as u32;
                if flags[i] >> k & 1 == 1 {
                    from.exchange(kept % TILE as u32, slot);
                    kept += 1;
                } else if both > 0 {
                    from.exchange((TILE as u32 - 1 - slot + kept) % TILE as u32, slot);
                }
            }
            ends[i] = kept;
        });
        let kept = ends[SCANS - 1] as usize;
        g.each(|i| {
            for k in 0..EACH {
                let slot = k * SCANS + i.local_index();
                let place = if slot < kept { slot } else { TILE - 1 - slot + kept };
                let at = base + from.load(place % TILE) as usize;
                if at < n {
                    values[i][k] = if (slot < kept) | (both > 0) { x[at] } else { values[i][k] };
                }
            }
            for k in 0..EACH {
                let slot = k * SCANS + i.local_index();
                let other = all + base - start + slot - kept;
                let at = start + slot;
                if slot < kept {
                    if (at < kept_end) & (at < y.len()) {
                        y[at] = values[i][k];
                    }
                } else if (both > 0) & (slot < here) & (other < others_end) & (other < y.len()) {
                    y[other] = values[i][k];
                }
            }
        });
        start += kept;
    }
}

/// Moves to `y` what is kept, with `both` also the rest, and gives how many elements are kept.
fn moved<T: DeviceType + Value, F: Number + DeviceType, const CHANGES: usize>(
    q: &Queue,
    both: u32,
    x: &Slice<'_, T>,
    keep: &Slice<'_, F>,
    y: &mut SliceMut<'_, T>,
) -> Result<Buffer<u64>> {
    let (n, rt) = (x.len(), q.runtime());
    let mut count = private(&rt, 1)?;
    if n == 0 {
        q.fill(&mut count, 0)?;
        return Ok(count);
    }
    let (chunk, in_turn) = (chunk_of(n), takes_in_turn(q));
    let chunks = n.div_ceil(chunk);
    let known = if chunks <= FEW_CHUNKS && !in_turn { COUNTS } else { STARTS };
    let (mut counts, mut starts) = (private(&rt, chunks)?, private(&rt, chunks + 1)?);
    // SAFETY: there is an item or a group for each count.
    let all = unsafe { Overwritten::new(&mut counts) };
    if in_turn {
        q.run(chunks, count_in_turn::<F, CHANGES>(chunk, keep, all))?;
    } else {
        q.run(chunks * GROUP, count_kept::<F, CHANGES>(chunk, keep, all))?;
    }
    if known == STARTS {
        // SAFETY: each start is written by one item, so is what is behind them, and none is read.
        let racy = unsafe { racy_whole(&mut starts) };
        // SAFETY: there is one group.
        let all = unsafe { Overwritten::new(&mut count) };
        q.run(GROUP, start_chunks(&counts, racy, all))?;
    }
    // SAFETY: 32 bits can hold the count of a chunk. A group, or an item, writes from its chunk's
    // start up to the next chunk's, and as many others from there on as its chunk has elements
    // besides; its places rise, so that each is written once. No place is read.
    let racy = unsafe { RacyMemory::new(y) };
    if in_turn {
        let call = move_in_turn::<T, F, CHANGES>(both, chunk, keep, &starts, x, racy);
        q.run(chunks, call)?;
        return Ok(count);
    }
    let part = |of, len| if known == of { len } else { 0 };
    let starts = starts.slice([0], [part(STARTS, chunks + 1)])?;
    let counts = counts.slice([0], [part(COUNTS, chunks)])?;
    let mut total = count.slice_mut([0], [1 - part(STARTS, 1)])?;
    // SAFETY: one item writes the count, if it has not been written.
    let total = unsafe { racy_whole(&mut total) };
    let call =
        move_kept::<T, F, CHANGES>(both, known, chunk, keep, &starts, &counts, x, total, racy);
    q.run(chunks * SCANS, call)?;
    Ok(count)
}

/// Zeros, by a command: runs of a graph may keep fewer elements than those before.
fn zeros<T: DeviceType + Value>(q: &Queue, n: usize) -> Result<Buffer<T>> {
    let mut y = private(&q.runtime(), n)?;
    q.fill(&mut y, folio::ir::device::zeroed())?;
    Ok(y)
}

/// The elements whose flags are not 0, in their order, and how many these are. The buffer is as
/// long as `x`; what is beyond the count reads as zero. Flags are of any type of numbers; with `u8`
/// least is read.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (x, keep) = (rt.buffer_from(&[1.5f32, 2.5, 3.5])?, rt.buffer_from(&[1u8, 0, 1])?);
/// let (y, count) = folio::algorithms::compact(&q, &x, &keep)?;
/// assert_eq!((y.to_vec()?, count.to_vec()?), (vec![1.5, 3.5, 0.0], vec![2]));
/// # Ok::<(), folio::Error>(())
/// ```
pub fn compact<T: DeviceType + Value, F: Number + DeviceType>(
    q: &Queue,
    x: impl AsPart<T, 1>,
    keep: impl AsPart<F, 1>,
) -> Result<(Buffer<T>, Buffer<u64>)> {
    let (x, keep, q) = (x.slice_all(), keep.slice_all(), &alone(q, "compact")?);
    of_one_length("compact", x.len(), keep.len())?;
    let mut y = zeros(q, x.len())?;
    let count = compact_into(q, &x, &keep, &mut y)?;
    Ok((y, count))
}

/// As [`compact`], to memory of the program's, whose elements beyond the count stay as they are. If
/// there are too few, the command fails.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (x, keep) = (rt.buffer_from(&[1.5f32, 2.5, 3.5])?, rt.buffer_from(&[1u8, 0, 1])?);
/// let mut y = rt.buffer_from(&[9.0f32; 4])?;
/// let count = folio::algorithms::compact_into(&q, &x, &keep, &mut y)?;
/// assert_eq!((y.to_vec()?, count.to_vec()?), (vec![1.5, 3.5, 9.0, 9.0], vec![2]));
/// # Ok::<(), folio::Error>(())
/// ```
pub fn compact_into<T: DeviceType + Value, F: Number + DeviceType>(
    q: &Queue,
    x: impl AsPart<T, 1>,
    keep: impl AsPart<F, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<Buffer<u64>> {
    let (x, keep) = (x.slice_all(), keep.slice_all());
    of_one_length("compact", x.len(), keep.len())?;
    moved::<T, F, 0>(&alone(q, "compact")?, 0, &x, &keep, &mut y.slice_all_mut())
}

/// The elements whose flags are not 0, and behind them the others, both in their order; gives how
/// many the first are.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (x, keep) = (rt.buffer_from(&[1, 2, 3, 4])?, rt.buffer_from(&[0u8, 1, 0, 1])?);
/// let mut y = rt.buffer(4)?;
/// let count = folio::algorithms::partition(&q, &x, &keep, &mut y)?;
/// assert_eq!((y.to_vec()?, count.to_vec()?), (vec![2, 4, 1, 3], vec![2]));
/// # Ok::<(), folio::Error>(())
/// ```
pub fn partition<T: DeviceType + Value, F: Number + DeviceType>(
    q: &Queue,
    x: impl AsPart<T, 1>,
    keep: impl AsPart<F, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<Buffer<u64>> {
    let (x, keep, mut y) = (x.slice_all(), keep.slice_all(), y.slice_all_mut());
    of_one_length("partition", x.len(), keep.len())?;
    of_one_length("partition", x.len(), y.len())?;
    moved::<T, F, 0>(&alone(q, "partition")?, 1, &x, &keep, &mut y)
}

/// Of equal neighbours the first, and how many elements these are: of sorted elements each value
/// once. What is beyond the count reads as zero. No NaN is equal to another.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (y, count) = folio::algorithms::unique(&q, &rt.buffer_from(&[1, 1, 2, 1, 1, 1])?)?;
/// assert_eq!((y.to_vec()?, count.to_vec()?), (vec![1, 2, 1, 0, 0, 0], vec![3]));
/// # Ok::<(), folio::Error>(())
/// ```
pub fn unique<T: Number + DeviceType>(
    q: &Queue,
    x: impl AsPart<T, 1>,
) -> Result<(Buffer<T>, Buffer<u64>)> {
    let (x, q) = (x.slice_all(), &alone(q, "unique")?);
    let mut y = zeros(q, x.len())?;
    let count = moved::<T, T, 1>(q, 0, &x, &x, &mut y.slice_mut([0], [x.len()])?)?;
    Ok((y, count))
}
