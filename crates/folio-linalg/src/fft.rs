//! Fourier transforms.

#[cfg(feature = "cpu")]
mod host;
mod own;
mod real;
mod tables;

pub(crate) use tables::Tables;

use crate::prelude::*;
use crate::{Element, Library, Linalg, mismatch};

/// The sign of the exponent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transform {
    /// `exp(-2 pi i j k / n)`.
    Forward,
    /// `exp(2 pi i j k / n)`, without a division by `n`.
    Inverse,
}

/// The real numbers of transforms: `f32`, `f64`. A complex number is `[re, im]`.
pub trait Real: Element<Sum = Self> + Float + Host {}

impl Real for f32 {}
impl Real for f64 {}

/// What the host's library asks of a number.
#[cfg(feature = "cpu")]
#[doc(hidden)]
pub trait Host: rustfft::FftNum {}
#[cfg(feature = "cpu")]
impl<T: rustfft::FftNum> Host for T {}

/// What the host's library asks of a number: there is none.
#[cfg(not(feature = "cpu"))]
#[doc(hidden)]
pub trait Host {}
#[cfg(not(feature = "cpu"))]
impl<T> Host for T {}

/// A transform of some dimensions of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    pub(crate) shape: [usize; 3],
    /// The first dimension that is transformed, and the first one after it that is not.
    pub(crate) first: usize,
    pub(crate) end: usize,
}

impl Extents {
    fn of(shape: [usize; 3], dimensions: usize, rank: usize) -> Result<Extents> {
        if dimensions == 0 || dimensions > rank {
            let why = format!("{dimensions} dimensions of {rank}");
            return Err(folio::Error::Configuration { what: "transform", why });
        }
        Ok(Extents { shape, first: 3 - dimensions, end: 3 })
    }

    /// Rows alone.
    fn of_rows(shape: [usize; 3]) -> Extents {
        Extents { shape, first: 2, end: 3 }
    }

    /// Another array, without its rows.
    fn others(self, shape: [usize; 3]) -> Extents {
        Extents { shape, end: 2, ..self }
    }

    /// The dimensions that are transformed, the last one first.
    pub(crate) fn axes(self) -> impl Iterator<Item = usize> {
        (self.first..self.end).rev().filter(move |axis| self.shape[*axis] > 1)
    }
}

impl Linalg {
    /// Writes the Fourier transform of the last `dimensions` dimensions of `x` to `y`; the others
    /// count the arrays of a batch. Neither direction divides: one after the other gives `x` times
    /// the number of elements of an array.
    ///
    /// The first call for a shape makes tables or the library's plan, and may wait for that.
    ///
    /// ```
    /// use folio::linalg::{Linalg, Transform};
    ///
    /// let rt = folio::runtime()?;
    /// let linalg = Linalg::new(&rt.queue()?)?;
    /// let x = rt.buffer_from(&[[1.0f64, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])?;
    /// let mut y = rt.buffer(4)?;
    /// linalg.fft(Transform::Forward, 1, &x, &mut y)?;
    /// assert_eq!(y.to_vec()?, [[1.0, 0.0]; 4]);
    /// # Ok::<(), folio::Error>(())
    /// ```
    pub fn fft<T: Real, const D: usize>(
        &self,
        transform: Transform,
        dimensions: usize,
        x: impl AsPart<[T; 2], D>,
        mut y: impl AsPartMut<[T; 2], D>,
    ) -> Result<Library> {
        let (x, mut y) = (x.slice_all(), y.slice_all_mut());
        let (x, mut y) = (x.in_dimensions(), y.in_dimensions_mut());
        if x.shape() != y.shape() {
            return Err(mismatch("fft", &x.shape(), &y.shape()));
        }
        let extents = Extents::of(x.shape(), dimensions, D)?;
        if y.is_empty() {
            return Ok(Library::Own);
        }
        self.complex(&self.q.undivided(), transform, extents, &x, &mut y)
    }

    /// Submits the transform of what is not empty.
    fn complex<T: Real>(
        &self,
        q: &Queue,
        transform: Transform,
        extents: Extents,
        x: &Slice<'_, [T; 2], 3>,
        y: &mut SliceMut<'_, [T; 2], 3>,
    ) -> Result<Library> {
        #[cfg(feature = "cpu")]
        if self.choice != crate::Choice::Own
            && self.is_on_host()
            && host::transform(q, transform, extents, x, &mut *y)?
        {
            return Ok(Library::RustFft);
        }
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.nvidia()
            && cuda.transform(q, transform, extents, x, &mut *y)?
        {
            return Ok(Library::CuFft);
        }
        self.without_library("fft")?;
        own::transform(self, q, transform, extents, x, y)?;
        Ok(Library::Own)
    }
}
