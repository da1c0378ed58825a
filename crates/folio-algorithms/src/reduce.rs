//! All elements as one.

use crate::prelude::*;
use crate::scan::{GROUP, chunk_of};
use crate::{of_one_shape, private};
use folio::buffer::Overwritten;
use folio::hal::DeviceKind;

#[kernel]
fn fold<T: Number, O: Combine<T>>(i: Item, x: In<T>, y: Reduce<T, O>) {
    y.give(x[i]);
}

#[kernel]
fn dot_product<T: Number>(i: Item, x: In<T>, y: In<T>, sum: Reduce<T, Add>)
where
    Add: Combine<T>,
{
    sum.give(x[i] * y[i]);
}

#[kernel]
fn first_equal<T: Number>(i: Item, x: In<T>, wanted: In<T>, at: Reduce<u64, Min>) {
    if x[i] == wanted[0] {
        at.give(i.index() as u64);
    }
}

/// Elements that an item loads before it looks at the first: GPUs have them on their way together.
const BATCH: usize = 4;
/// Elements that a group loads at once.
const STRIDE: usize = GROUP * BATCH;

/// Of each chunk the extreme, and where it is first.
#[kernel(group = 256)]
pub(crate) fn chunk_extremes<T: Number, O: Combine<T>>(
    g: Group,
    chunk: usize,
    x: In<T>,
    extremes: OutGroup<T>,
    places: OutGroup<u64>,
) {
    let n = x.len();
    let first = g.index() * chunk;
    let bests = g.private(O::IDENTITY);
    let bests_at = g.private(u64::MAX);
    let extreme = g.reduce::<O>(|i| {
        let (mut best, mut best_at) = (O::IDENTITY, u64::MAX);
        for batch in 0..chunk / STRIDE {
            let base = first + batch * STRIDE + i.local_index();
            let mut values = [O::IDENTITY; BATCH];
            for k in 0..BATCH {
                let at = base + k * GROUP;
                if at < n {
                    values[k] = x[at];
                }
            }
            for k in 0..BATCH {
                let at = base + k * GROUP;
                let both = O::combine(best, values[k]);
                let is_first = (values[k] == best) & (best_at == u64::MAX);
                if (at < n) & ((both != best) | is_first) {
                    best = both;
                    best_at = at as u64;
                }
            }
        }
        bests[i] = best;
        bests_at[i] = best_at;
        best
    });
    let place = g.reduce::<Min>(|i| if bests[i] == extreme { bests_at[i] } else { u64::MAX });
    extremes[g] = extreme;
    places[g] = place;
}

/// The first place of the extreme of all chunks.
#[kernel(group = 256)]
fn first_extreme<T: Number, O: Combine<T>>(
    g: Group,
    extremes: In<T>,
    places: In<u64>,
    at: OutGroup<u64>,
) {
    let n = extremes.len();
    let extreme = g.reduce::<O>(|i| {
        let mut best = O::IDENTITY;
        for chunk in (i.local_index()..n).step_by(GROUP) {
            best = O::combine(best, extremes[chunk]);
        }
        best
    });
    let place = g.reduce::<Min>(|i| {
        let mut first = u64::MAX;
        for chunk in (i.local_index()..n).step_by(GROUP) {
            if extremes[chunk] == extreme {
                first = first.min(places[chunk]);
            }
        }
        first
    });
    at[g] = place;
}

/// Memory for the result of `n` elements: without any, no launch writes it.
fn result<T: DeviceType>(q: &Queue, n: usize, of_none: T) -> Result<Buffer<T>> {
    if n > 0 { q.runtime().buffer(1) } else { q.runtime().buffer_from(&[of_none]) }
}

/// All elements as one: their sum, product, least, greatest, or all their bits, in a buffer of one
/// element. Of no elements that is what changes nothing: 0, 1, the greatest, the least value.
///
/// The order is that of a [`Reduce`] parameter, so that a sum of floats has the same bits on every
/// device. A kernel with such a parameter can compute a value from each element first.
///
/// ```
/// use folio::prelude::*;
///
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[3u32, 1, 4, 1, 5])?;
/// assert_eq!(folio::algorithms::reduce(&q, Add, &x)?.to_vec()?, [14]);
/// assert_eq!(folio::algorithms::reduce(&q, Max, x.slice([0], [3])?)?.to_vec()?, [4]);
/// let image = rt.buffer_from((&[1.5f32, 2.5, 3.5, 0.5], [2, 2]))?;
/// assert_eq!(folio::algorithms::reduce(&q, Min, &image)?.get(0)?, 0.5);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn reduce<T, O, const D: usize>(q: &Queue, _: O, x: impl AsPart<T, D>) -> Result<Buffer<T>>
where
    T: Number + DeviceType,
    O: Combine<T>,
{
    let x = x.slice_all().flat()?;
    let mut y = result(q, x.len(), O::IDENTITY)?;
    if !x.is_empty() {
        // SAFETY: a reduction of some items writes its element.
        let all = unsafe { Overwritten::new(&mut y) };
        q.share(x.range(), fold::<T, O>(&x, all))?;
    }
    Ok(y)
}

/// The sum of the products of elements at the same place, in the order of [`reduce`].
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[1.0f64, 2.0, 3.0])?;
/// assert_eq!(folio::algorithms::dot(&q, &x, &x)?.to_vec()?, [14.0]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn dot<T, const D: usize>(
    q: &Queue,
    x: impl AsPart<T, D>,
    y: impl AsPart<T, D>,
) -> Result<Buffer<T>>
where
    T: Number + DeviceType,
    Add: Combine<T>,
{
    let (x, y) = (x.slice_all(), y.slice_all());
    of_one_shape("dot", x.shape(), y.shape())?;
    let (x, y) = (x.flat()?, y.flat()?);
    let mut sum = result(q, x.len(), <Add as Combine<T>>::IDENTITY)?;
    if !x.is_empty() {
        // SAFETY: a reduction of some items writes its element.
        let all = unsafe { Overwritten::new(&mut sum) };
        q.share(x.range(), dot_product::<T>(&x, &y, all))?;
    }
    Ok(sum)
}

/// In two launches, the first of which reads each element once; of one chunk it is the only one.
fn arg_in_groups<T, O>(q: &Queue, x: &Slice<'_, T>, at: &mut Buffer<u64>) -> Result<()>
where
    T: Number + DeviceType,
    O: Combine<T>,
{
    let (rt, chunk) = (q.runtime(), chunk_of(x.len()));
    let count = x.len().div_ceil(chunk);
    let (mut extremes, mut places) = (private::<T>(&rt, count)?, private(&rt, count)?);
    // SAFETY: each launch has a group for each element.
    let best = unsafe { Overwritten::new(&mut extremes) };
    // SAFETY: as above.
    let at = unsafe { Overwritten::new(at) };
    if count == 1 {
        q.run(GROUP, chunk_extremes::<T, O>(chunk, x, best, at))?;
        return Ok(());
    }
    // SAFETY: as above.
    let of_chunks = unsafe { Overwritten::new(&mut places) };
    q.run(count * GROUP, chunk_extremes::<T, O>(chunk, x, best, of_chunks))?;
    q.run(GROUP, first_extreme::<T, O>(&extremes, &places, at))?;
    Ok(())
}

fn arg<T, O, const D: usize>(q: &Queue, op: O, x: Slice<'_, T, D>) -> Result<Buffer<u64>>
where
    T: Number + DeviceType,
    O: Combine<T>,
{
    let (x, q) = (x.flat()?, &q.undivided());
    let mut at = result(q, x.len(), u64::MAX)?;
    // Threads of a CPU read at the rate of memory, and the second time from the cache. Devices that
    // share a launch keep to what they have.
    let reads_twice = q.device().info().kind == DeviceKind::Cpu || q.split().is_some();
    match reads_twice {
        _ if x.is_empty() => {}
        true => {
            let wanted = reduce(q, op, &x)?;
            // SAFETY: a reduction of some items writes its element.
            let all = unsafe { Overwritten::new(&mut at) };
            q.share(x.range(), first_equal::<T>(&x, &wanted, all))?;
        }
        false => arg_in_groups::<T, O>(q, &x, &mut at)?,
    }
    Ok(at)
}

/// Where the first of the least elements is, counted row after row; `u64::MAX` if there is none, or
/// nothing but NaN.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from(&[3, 1, 4, 1])?;
/// assert_eq!(folio::algorithms::arg_min(&q, &x)?.to_vec()?, [1]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn arg_min<T, const D: usize>(q: &Queue, x: impl AsPart<T, D>) -> Result<Buffer<u64>>
where
    T: Number + DeviceType,
    Min: Combine<T>,
{
    arg(q, Min, x.slice_all())
}

/// Where the first of the greatest elements is; see [`arg_min`].
pub fn arg_max<T, const D: usize>(q: &Queue, x: impl AsPart<T, D>) -> Result<Buffer<u64>>
where
    T: Number + DeviceType,
    Max: Combine<T>,
{
    arg(q, Max, x.slice_all())
}
