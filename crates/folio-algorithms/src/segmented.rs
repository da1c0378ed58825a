//! Reductions of segments.

use crate::prelude::*;
use crate::{alone, of_one_length};
use folio::buffer::Overwritten;
use folio::ir::device::CastFrom;

/// Items of the group that folds a segment: segments of some hundred elements give each of them a
/// few.
const LANES: usize = 64;

/// Elements that an item loads before it folds the first: GPUs have them on their way together.
const BATCH: usize = 4;

#[kernel(group = 64)]
pub(crate) fn fold_segments<T: Number, O: Combine<T>, I: Number>(
    g: Group,
    offsets: In<I>,
    x: In<T>,
    y: OutGroup<T>,
) where
    usize: CastFrom<I>,
{
    let n = x.len();
    let first = offsets[g.index()] as usize;
    let end = offsets[g.index() + 1] as usize;
    assert!(first.max(end) <= n, "a segment begins or ends beyond the elements");
    let all = g.reduce::<O>(|i| {
        let mut sum = O::IDENTITY;
        let mut base = first + i.local_index();
        while base < end {
            let mut values = [O::IDENTITY; BATCH];
            for k in 0..BATCH {
                let at = base + k * LANES;
                if at < n {
                    values[k] = if at < end { x[at] } else { O::IDENTITY };
                }
            }
            for k in 0..BATCH {
                sum = O::combine(sum, values[k]);
            }
            base += BATCH * LANES;
        }
        sum
    });
    y[g] = all;
}

/// Of each segment all elements as one. Segment s has the elements from `offsets[s]` up to and
/// without `offsets[s + 1]`; there is an offset more than there are segments. Of a segment without
/// elements it is what changes nothing. An offset beyond `x` fails the command.
///
/// The order is fixed by the segment's length: lane l of 64 folds its elements l, l + 64, l + 128,
/// .. in order, beginning with what changes nothing, and the lanes are a tree (semantics 8.1). One
/// group folds a segment, so that many short segments take less time than a few long ones.
///
/// ```
/// use folio::prelude::*;
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (offsets, x) = (rt.buffer_from(&[0u32, 3, 3, 5])?, rt.buffer_from(&[1, 2, 3, 4, 5])?);
/// let mut y = rt.buffer(3)?;
/// folio::algorithms::segmented_reduce(&q, Add, &offsets, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [6, 0, 9]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn segmented_reduce<T, O, I>(
    q: &Queue,
    _: O,
    offsets: impl AsPart<I, 1>,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()>
where
    T: Number + DeviceType,
    O: Combine<T>,
    I: Number + DeviceType,
    usize: CastFrom<I>,
{
    let (offsets, x, mut y) = (offsets.slice_all(), x.slice_all(), y.slice_all_mut());
    of_one_length("segmented_reduce", offsets.len(), y.len() + 1)?;
    let items = y.len() * LANES;
    // SAFETY: there is a group for each element.
    let all = unsafe { Overwritten::new(&mut y) };
    alone(q, "segmented_reduce")?.run(items, fold_segments::<T, O, I>(&offsets, &x, all))?;
    Ok(())
}
