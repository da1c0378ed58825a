//! Products of matrices.

#[cfg(feature = "cpu")]
mod host;
mod own;

use crate::prelude::*;
use crate::{Choice, Element, Library, Linalg, mismatch};

/// What is computed: `alpha * A * B + beta * C`, of `A` and `B` or of them transposed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Matmul {
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) transposes: [bool; 2],
}

impl Default for Matmul {
    fn default() -> Matmul {
        Matmul::new()
    }
}

impl Matmul {
    /// `A * B`.
    pub fn new() -> Matmul {
        Matmul { alpha: 1.0, beta: 0.0, transposes: [false; 2] }
    }

    /// The factor of the product, rounded to the type of the sums.
    #[must_use]
    pub fn alpha(self, alpha: f64) -> Matmul {
        Matmul { alpha, ..self }
    }

    /// The factor of what is in `C`, rounded to the type of the sums. With 0, `C` is not read, so
    /// that NaN in it does not matter.
    #[must_use]
    pub fn beta(self, beta: f64) -> Matmul {
        Matmul { beta, ..self }
    }

    /// `A` is passed transposed: its columns are the rows of the product.
    #[must_use]
    pub fn transpose_a(mut self) -> Matmul {
        self.transposes[0] = true;
        self
    }

    /// `B` is passed transposed: its rows are the columns of the product.
    #[must_use]
    pub fn transpose_b(mut self) -> Matmul {
        self.transposes[1] = true;
        self
    }
}

/// The extents of a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    pub(crate) batches: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) depth: usize,
}

impl Extents {
    fn of(a: [usize; 3], b: [usize; 3], c: [usize; 3], options: Matmul) -> Result<Extents> {
        let turned = |[_, r, c]: [usize; 3], yes| if yes { [c, r] } else { [r, c] };
        let [rows, depth] = turned(a, options.transposes[0]);
        let [depth_of_b, columns] = turned(b, options.transposes[1]);
        if depth != depth_of_b || a[0] != b[0] {
            return Err(mismatch("matmul", &a, &b));
        }
        let [batches, ..] = a;
        if c != [batches, rows, columns] {
            return Err(mismatch("matmul", &[batches, rows, columns], &c));
        }
        Ok(Extents { batches, rows, columns, depth })
    }

    fn is_empty(self) -> bool {
        self.batches * self.rows * self.columns == 0
    }
}

/// The operands of a product, as batches.
pub(crate) struct Operands<'s, T: Element> {
    pub(crate) a: Slice<'s, T, 3>,
    pub(crate) b: Slice<'s, T, 3>,
    pub(crate) c: SliceMut<'s, T::Sum, 3>,
}

impl Linalg {
    /// Writes the product of `a` and `b` to `c`. In three dimensions the first counts the matrices
    /// of a batch. Returns which code computes it.
    ///
    /// The own kernel adds each element's products in order, each with one rounding.
    ///
    /// ```
    /// let rt = folio::runtime()?;
    /// let linalg = folio::linalg::Linalg::new(&rt.queue()?)?;
    /// let a = rt.buffer_from((&[1.0f32, 2.0, 3.0, 4.0], [2, 1, 2]))?; // two matrices of one row
    /// let b = rt.buffer_from((&[5.0f32, 6.0, 7.0, 8.0], [2, 2, 1]))?;
    /// let mut c = rt.buffer([2, 1, 1])?;
    /// linalg.matmul(&a, &b, &mut c)?;
    /// assert_eq!(c.to_vec()?, [17.0, 53.0]);
    /// # Ok::<(), folio::Error>(())
    /// ```
    pub fn matmul<T: Element, const D: usize>(
        &self,
        a: impl AsPart<T, D>,
        b: impl AsPart<T, D>,
        c: impl AsPartMut<T::Sum, D>,
    ) -> Result<Library> {
        self.matmul_with(Matmul::new(), a, b, c)
    }

    /// As [`matmul`](Self::matmul), with factors, and of transposed matrices.
    ///
    /// ```
    /// use folio::linalg::{Linalg, Matmul};
    ///
    /// let rt = folio::runtime()?;
    /// let linalg = Linalg::new(&rt.queue()?)?;
    /// let a = rt.buffer_from((&[1.0f32, 2.0, 3.0], [3, 1]))?;
    /// let mut c = rt.buffer_from((&[10.0f32], [1, 1]))?;
    /// let options = Matmul::new().transpose_a().alpha(2.0).beta(0.5);
    /// linalg.matmul_with(options, &a, &a, &mut c)?;
    /// assert_eq!(c.to_vec()?, [33.0]);
    /// # Ok::<(), folio::Error>(())
    /// ```
    pub fn matmul_with<T: Element, const D: usize>(
        &self,
        options: Matmul,
        a: impl AsPart<T, D>,
        b: impl AsPart<T, D>,
        mut c: impl AsPartMut<T::Sum, D>,
    ) -> Result<Library> {
        let (a, b, mut c) = (a.slice_all(), b.slice_all(), c.slice_all_mut());
        let (a, b, c) = (a.in_dimensions(), b.in_dimensions(), c.in_dimensions_mut());
        let extents = Extents::of(a.shape(), b.shape(), c.shape(), options)?;
        if extents.is_empty() {
            return Ok(Library::Own);
        }
        self.multiply(options, extents, Operands { a, b, c })
    }

    fn multiply<T: Element>(
        &self,
        options: Matmul,
        extents: Extents,
        operands: Operands<'_, T>,
    ) -> Result<Library> {
        if self.choice == Choice::Own || extents.depth == 0 {
            own::multiply(&self.q, options, extents, operands)?;
            return Ok(Library::Own);
        }
        #[cfg(feature = "cuda")]
        let operands = match &self.cuda {
            Some(cuda) => match cuda.multiply(&self.q, options, extents, operands)? {
                None => return Ok(Library::CuBlas),
                Some(operands) => operands,
            },
            None => operands,
        };
        #[cfg(feature = "cpu")]
        let operands = match self.is_on_host() {
            true => match host::multiply(&self.q, options, extents, operands)? {
                None => return Ok(Library::Gemm),
                Some(operands) => operands,
            },
            false => operands,
        };
        self.without_library("matmul")?;
        own::multiply(&self.q, options, extents, operands)?;
        Ok(Library::Own)
    }
}
