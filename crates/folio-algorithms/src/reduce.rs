//! All elements as one.

use crate::of_one_shape;
use crate::prelude::*;

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
    let mut y = q.runtime().buffer_from(&[O::IDENTITY])?;
    q.run(x.range(), fold::<T, O>(&x, &mut y))?;
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
    let mut sum = q.runtime().buffer_from(&[<Add as Combine<T>>::IDENTITY])?;
    q.run(x.range(), dot_product::<T>(&x, &y, &mut sum))?;
    Ok(sum)
}

fn arg<T, O, const D: usize>(q: &Queue, op: O, x: Slice<'_, T, D>) -> Result<Buffer<u64>>
where
    T: Number + DeviceType,
    O: Combine<T>,
{
    let x = x.flat()?;
    let wanted = reduce(q, op, &x)?;
    let mut at = q.runtime().buffer_from(&[u64::MAX])?;
    q.run(x.range(), first_equal::<T>(&x, &wanted, &mut at))?;
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
