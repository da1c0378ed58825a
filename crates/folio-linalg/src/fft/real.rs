//! Transforms of real numbers: as complex ones, of which half is redundant.

use super::{Real, Transform};
use crate::prelude::*;
use crate::{Library, Linalg, mismatch};

#[kernel]
fn widened<T: Number>(i: Item<3>, x: In<T, 3>, y: Out<[T; 2], 3>) {
    y[i] = [x[i], T::ZERO];
}

/// The frequencies that are not there are the conjugates of those on the other side of 0.
#[kernel]
fn completed<T: Number>(i: Item<3>, first: usize, x: In<[T; 2], 3>, y: Out<[T; 2], 3>) {
    let (a, b, c) = i.pos();
    let mut value = [T::ZERO; 2];
    if c < x.shape()[2] {
        value = x[(a, b, c)];
    } else {
        let [planes, rows, columns] = y.shape();
        let plane = if first == 0 { (planes - a) % planes } else { a };
        let row = if first <= 1 { (rows - b) % rows } else { b };
        let other = x[(plane, row, columns - c)];
        value = [other[0], T::ZERO - other[1]];
    }
    y[i] = value;
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
        let mut wide = self.q.runtime().buffer::<[T; 2], D>(x.shape())?;
        let mut all = self.q.runtime().buffer::<[T; 2], D>(x.shape())?;
        if !x.is_empty() {
            let (x, mut wide) = (x.in_dimensions::<3>(), wide.slice_mut([0; D], x.shape())?);
            let mut wide = wide.in_dimensions_mut::<3>();
            self.q.run(x.range(), widened(&x, &mut wide))?;
        }
        let used = self.fft(Transform::Forward, dimensions, &wide, &mut all)?;
        if !y.is_empty() && !x.is_empty() {
            self.q.copy(all.slice([0; D], y.shape())?, &mut y)?;
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
        let shape = y.shape();
        let mut all = self.q.runtime().buffer::<[T; 2], D>(shape)?;
        let mut out = self.q.runtime().buffer::<[T; 2], D>(shape)?;
        if !y.is_empty() {
            let (x, mut all) = (x.in_dimensions::<3>(), all.slice_mut([0; D], shape)?);
            let mut all = all.in_dimensions_mut::<3>();
            let first = 3usize.saturating_sub(dimensions);
            self.q.run(all.range(), completed(first, &x, &mut all))?;
        }
        let used = self.fft(Transform::Inverse, dimensions, &all, &mut out)?;
        if !y.is_empty() {
            let (out, mut y) =
                (out.slice([0; D], shape)?.in_dimensions::<3>(), y.in_dimensions_mut::<3>());
            self.q.run(y.range(), narrowed(&out, &mut y))?;
        }
        Ok(used)
    }
}
