//! Transforms of real numbers. A row of an even length is that of half as many complex numbers,
//! whose transform has the frequencies of both halves. The other dimensions are transformed at
//! the frequencies from 0 to the middle alone.

use super::own::{scratch, times};
use super::tables::{FINE, Roots};
use super::{Extents, Real, Transform};
use crate::prelude::*;
use crate::{Library, Linalg, mismatch};

#[kernel]
fn widened<T: Number>(i: Item<3>, x: In<T, 3>, y: Out<[T; 2], 3>) {
    y[i] = [x[i], T::ZERO];
}

/// Neighbours as one complex number.
#[kernel]
fn paired<T: Number>(i: Item<3>, x: In<T, 3>, y: Out<[T; 2], 3>) {
    let (a, b, c) = i.pos();
    y[i] = [x[(a, b, 2 * c)], x[(a, b, 2 * c + 1)]];
}

/// The frequencies of real numbers, of those of their pairs.
#[kernel]
fn untangled<T: Number>(
    i: Item<3>,
    half: T,
    fine: In<[T; 2]>,
    coarse: In<[T; 2]>,
    x: In<[T; 2], 3>,
    y: Out<[T; 2], 3>,
) {
    let (a, b, k) = i.pos();
    let n = x.shape()[2];
    let (p, q) = (x[(a, b, k % n)], x[(a, b, (n - k) % n)]);
    let (even, odd) = ([p[0] + q[0], p[1] - q[1]], [p[1] + q[1], q[0] - p[0]]);
    // At the end the root is -1, and no rounding: the frequency is real.
    let root = times(fine[k % FINE], coarse[k / FINE]);
    let turned = if k == n { [T::ZERO - odd[0], T::ZERO - odd[1]] } else { times(odd, root) };
    y[i] = [half * (even[0] + turned[0]), half * (even[1] + turned[1])];
}

/// Twice the frequencies of pairs, of those of real numbers. Imaginary parts of the first and of
/// the last one are left out.
#[kernel]
fn tangled<T: Number>(
    i: Item<3>,
    fine: In<[T; 2]>,
    coarse: In<[T; 2]>,
    x: In<[T; 2], 3>,
    y: Out<[T; 2], 3>,
) {
    let (a, b, k) = i.pos();
    let n = y.shape()[2];
    let (mut p, mut q) = (x[(a, b, k)], x[(a, b, n - k)]);
    if k == 0 {
        p = [p[0], T::ZERO];
        q = [q[0], T::ZERO];
    }
    let (even, gap) = ([p[0] + q[0], p[1] - q[1]], [p[0] - q[0], p[1] + q[1]]);
    let root = times(fine[k % FINE], coarse[k / FINE]);
    let odd = times(gap, [root[0], T::ZERO - root[1]]);
    y[i] = [even[0] - odd[1], even[1] + odd[0]];
}

/// The real and the imaginary parts, beside each other.
#[kernel]
fn unpaired<T: Number>(i: Item<3>, x: In<[T; 2], 3>, y: Out<T, 3>) {
    let (a, b, c) = i.pos();
    y[i] = x[(a, b, c / 2)][c % 2];
}

/// The frequencies that are not there are the conjugates of those on the other side of 0.
#[kernel]
fn completed<T: Number>(i: Item<3>, x: In<[T; 2], 3>, y: Out<[T; 2], 3>) {
    let (a, b, c) = i.pos();
    let columns = y.shape()[2];
    let is_there = c < x.shape()[2];
    let value = x[(a, b, if is_there { c } else { columns - c })];
    y[i] = if is_there { value } else { [value[0], T::ZERO - value[1]] };
}

#[kernel]
fn narrowed<T: Number>(i: Item<3>, x: In<[T; 2], 3>, y: Out<T, 3>) {
    y[i] = x[i][0];
}

/// The shape of frequencies: of the last dimension those from 0 to the middle.
fn half<const D: usize>(mut shape: [usize; D]) -> [usize; D] {
    if let Some(last) = shape.last_mut() {
        *last = *last / 2 + 1;
    }
    shape
}

impl Linalg {
    /// Writes the forward transform of real numbers to `y`, whose last extent is that of `x`,
    /// halved, and 1: the other frequencies are conjugates of these. As
    /// [`fft`](Self::fft) in everything else.
    ///
    /// ```
    /// let rt = folio::runtime()?;
    /// let linalg = folio::linalg::Linalg::new(&rt.queue()?)?;
    /// let x = rt.buffer_from(&[1.0f32, 2.0, 3.0, 4.0])?;
    /// let mut y = rt.buffer(3)?;
    /// linalg.fft_real(1, &x, &mut y)?;
    /// assert_eq!(y.to_vec()?, [[10.0, 0.0], [-2.0, 2.0], [-2.0, 0.0]]);
    /// # Ok::<(), folio::Error>(())
    /// ```
    pub fn fft_real<T: Real, const D: usize>(
        &self,
        dimensions: usize,
        x: impl AsPart<T, D>,
        mut y: impl AsPartMut<[T; 2], D>,
    ) -> Result<Library> {
        let (x, mut y) = (x.slice_all(), y.slice_all_mut());
        if y.shape() != half(x.shape()) {
            return Err(mismatch("fft_real", &half(x.shape()), &y.shape()));
        }
        let extents = Extents::of(x.in_dimensions::<3>().shape(), dimensions, D)?;
        if x.is_empty() {
            return Ok(Library::Own);
        }
        let (x, mut y) = (x.in_dimensions(), y.in_dimensions_mut());
        let q = &self.q.undivided();
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.nvidia()
            && cuda.transform_real(q, extents, &x, &mut y)?
        {
            return Ok(Library::CuFft);
        }
        let others = extents.others(y.shape());
        if others.axes().next().is_none() {
            return self.rows(q, &x, &mut y);
        }
        let between = scratch(self, y.shape())?;
        self.rows(q, &x, &mut between.slice_mut([0; 3], y.shape())?)?;
        let between = between.slice([0; 3], y.shape())?;
        self.complex(q, Transform::Forward, others, &between, &mut y)
    }

    /// Transforms rows of real numbers.
    fn rows<T: Real>(
        &self,
        q: &Queue,
        x: &Slice<'_, T, 3>,
        y: &mut SliceMut<'_, [T; 2], 3>,
    ) -> Result<Library> {
        let [planes, rows, columns] = x.shape();
        let is_even = columns.is_multiple_of(2);
        let shape = [planes, rows, if is_even { columns / 2 } else { columns }];
        let [before, after] = [scratch::<T>(self, shape)?, scratch(self, shape)?];
        match is_even {
            true => q.run(shape, paired(x, &before))?,
            false => q.run(shape, widened(x, &before))?,
        };
        let (from, mut to) = (before.slice([0; 3], shape)?, after.slice_mut([0; 3], shape)?);
        let used = self.complex(q, Transform::Forward, Extents::of_rows(shape), &from, &mut to)?;
        if is_even {
            let Roots { fine, coarse } = self.tables.roots(&q.runtime(), columns)?;
            let half = <T as CastFrom<f64>>::cast_from(0.5);
            q.run(y.shape(), untangled(half, &fine, &coarse, &after, y))?;
        } else {
            q.copy(after.slice([0; 3], y.shape())?, y)?;
        }
        Ok(used)
    }

    /// Writes the inverse transform of the frequencies of real numbers to `y`: see
    /// [`fft_real`](Self::fft_real), which it reverses but for a factor.
    ///
    /// ```
    /// let rt = folio::runtime()?;
    /// let linalg = folio::linalg::Linalg::new(&rt.queue()?)?;
    /// let x = rt.buffer_from(&[[10.0f64, 0.0], [-2.0, 2.0], [-2.0, 0.0]])?;
    /// let mut y = rt.buffer(4)?;
    /// linalg.fft_real_inverse(1, &x, &mut y)?;
    /// assert_eq!(y.to_vec()?, [4.0, 8.0, 12.0, 16.0]);
    /// # Ok::<(), folio::Error>(())
    /// ```
    pub fn fft_real_inverse<T: Real, const D: usize>(
        &self,
        dimensions: usize,
        x: impl AsPart<[T; 2], D>,
        mut y: impl AsPartMut<T, D>,
    ) -> Result<Library> {
        let (x, mut y) = (x.slice_all(), y.slice_all_mut());
        if x.shape() != half(y.shape()) {
            return Err(mismatch("fft_real_inverse", &x.shape(), &half(y.shape())));
        }
        let extents = Extents::of(y.in_dimensions_mut::<3>().shape(), dimensions, D)?;
        if y.is_empty() {
            return Ok(Library::Own);
        }
        let (x, mut y) = (x.in_dimensions(), y.in_dimensions_mut());
        let q = &self.q.undivided();
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.nvidia()
            && cuda.transform_to_real(q, extents, &x, &mut y)?
        {
            return Ok(Library::CuFft);
        }
        let others = extents.others(x.shape());
        if others.axes().next().is_none() {
            return self.rows_back(q, &x, &mut y);
        }
        let between = scratch(self, x.shape())?;
        let mut to = between.slice_mut([0; 3], x.shape())?;
        self.complex(q, Transform::Inverse, others, &x, &mut to)?;
        self.rows_back(q, &between.slice([0; 3], x.shape())?, &mut y)
    }

    /// Transforms rows of frequencies to real numbers.
    fn rows_back<T: Real>(
        &self,
        q: &Queue,
        x: &Slice<'_, [T; 2], 3>,
        y: &mut SliceMut<'_, T, 3>,
    ) -> Result<Library> {
        let [planes, rows, columns] = y.shape();
        let is_even = columns.is_multiple_of(2);
        let shape = [planes, rows, if is_even { columns / 2 } else { columns }];
        let [before, after] = [scratch(self, shape)?, scratch(self, shape)?];
        if is_even {
            let Roots { fine, coarse } = self.tables.roots(&q.runtime(), columns)?;
            q.run(shape, tangled(&fine, &coarse, x, &before))?;
        } else {
            q.run(shape, completed(x, &before))?;
        }
        let (from, mut to) = (before.slice([0; 3], shape)?, after.slice_mut([0; 3], shape)?);
        let used = self.complex(q, Transform::Inverse, Extents::of_rows(shape), &from, &mut to)?;
        match is_even {
            true => q.run(y.shape(), unpaired(&after, y))?,
            false => q.run(y.shape(), narrowed(&after, y))?,
        };
        Ok(used)
    }
}
