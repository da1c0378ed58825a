//! Keeps chosen elements, without gaps.

use crate::prelude::*;
use crate::scan::inclusive_scan;
use crate::{of_32_bits, of_one_length, private};
use folio::RacyMemory;

#[kernel]
fn marks(i: Item, keep: In<u32>, y: Out<u32>) {
    y[i] = if keep[i] == 0 { 0 } else { 1 };
}

/// `kept` counts those that are kept up to and with each.
#[kernel]
fn moved<T: Value>(i: Item, x: In<T>, kept: In<u32>, y: Racy<T>) {
    let k = i.index();
    let before = if k == 0 { 0 } else { kept[k - 1] };
    if kept[k] != before {
        y[before] = x[i];
    }
}

/// The elements whose flags are not 0, in their order, and how many these are. The buffer is as
/// long as `x`; what is beyond the count reads as zero.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (x, keep) = (rt.buffer_from(&[1.5f32, 2.5, 3.5])?, rt.buffer_from(&[1u32, 0, 1])?);
/// let (y, count) = folio::algorithms::compact(&q, &x, &keep)?;
/// assert_eq!((y.to_vec()?, count.to_vec()?), (vec![1.5, 3.5, 0.0], vec![2]));
/// # Ok::<(), folio::Error>(())
/// ```
pub fn compact<T: DeviceType + Value>(
    q: &Queue,
    x: impl AsPart<T, 1>,
    keep: impl AsPart<u32, 1>,
) -> Result<(Buffer<T>, Buffer<u32>)> {
    let (x, keep, rt) = (x.slice_all(), keep.slice_all(), q.runtime());
    let n = x.len();
    of_one_length("compact", n, keep.len())?;
    of_32_bits::<T>("compaction of", n)?;
    let (mut y, mut count) = (private(&rt, n)?, private(&rt, 1)?);
    let Some(last) = n.checked_sub(1) else { return Ok((y, count)) };
    let (mut marked, mut kept) = (private(&rt, n)?, private(&rt, n)?);
    q.run(n, marks(&keep, &mut marked))?;
    inclusive_scan(q, Add, &marked, &mut kept)?;
    // SAFETY: the counts, which no other command has and which 32 bits can hold, rise by 1 or not
    // at all; an item writes where they rise, so that each place is written once, and none is read.
    let shared = unsafe { RacyMemory::new(&mut y) };
    q.run(n, moved::<T>(&x, &kept, shared))?;
    q.submit(|cg| {
        cg.copy(kept.slice([last], [1])?, &mut count);
        Ok(())
    })?;
    Ok((y, count))
}
