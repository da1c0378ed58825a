//! Products on CPUs, by the crate `gemm`.

use super::{Extents, Matmul, Operands};
use crate::Element;
use crate::element::Kind;
use crate::prelude::*;
use crate::threads::on_own_threads;
use gemm::Parallelism;

/// Submits the product, if the crate takes it: numbers whose sums are of the same type, in parts
/// without gaps. Gives back the operands of others.
pub(super) fn multiply<'s, T: Element>(
    q: &Queue,
    options: Matmul,
    extents: Extents,
    mut operands: Operands<'s, T>,
) -> Result<Option<Operands<'s, T>>> {
    if !matches!(T::KIND, Kind::F32 | Kind::F64) {
        return Ok(Some(operands));
    }
    let Operands { a, b, c } = &mut operands;
    let (Ok(a), Ok(b), Ok(mut c)) = (a.flat(), b.flat(), c.flat_mut()) else {
        return Ok(Some(operands));
    };
    let product = Product { options, extents };
    q.submit(|cg| {
        let (a, b) = (cg.label("matmul (gemm)").read(&a), cg.read(&b));
        if options.beta == 0.0 {
            let c = cg.discard(&mut c);
            let task = cg.each_run();
            task.host_task((a, b, c), move |(a, b, mut c)| product.compute::<T>(&a, &b, &mut c));
        } else {
            let c = cg.read_write(&mut c);
            let task = cg.each_run();
            task.host_task((a, b, c), move |(a, b, mut c)| product.compute::<T>(&a, &b, &mut c));
        }
        Ok(())
    })?;
    Ok(None)
}

/// A product of matrices without gaps.
#[derive(Clone, Copy)]
struct Product {
    options: Matmul,
    extents: Extents,
}

/// The distances of neighbours in a column and in a row, of a matrix with rows of `columns`
/// elements, or of such a one that is transposed.
fn strides(columns: usize, is_transposed: bool) -> [isize; 2] {
    // Elements of one allocation, so that their distances fit.
    let columns = columns as isize;
    if is_transposed { [1, columns] } else { [columns, 1] }
}

impl Product {
    fn compute<T: Element>(self, a: &[T], b: &[T], c: &mut [T::Sum]) {
        let Extents { rows, columns, depth, .. } = self.extents;
        match rows.saturating_mul(columns).saturating_mul(depth) >= gemm::get_threading_threshold()
        {
            true => on_own_threads(|| self.matrices(a, b, c)),
            false => self.matrices(a, b, c),
        }
    }

    fn matrices<T: Element>(self, a: &[T], b: &[T], c: &mut [T::Sum]) {
        let Extents { rows, columns, depth, .. } = self.extents;
        let of_a = a.chunks_exact(rows * depth);
        let of_b = b.chunks_exact(depth * columns);
        for ((a, b), c) in of_a.zip(of_b).zip(c.chunks_exact_mut(rows * columns)) {
            self.matrix::<T>(a, b, c);
        }
    }

    /// One matrix of the batch.
    fn matrix<T: Element>(self, a: &[T], b: &[T], c: &mut [T::Sum]) {
        let Product { options, extents: Extents { rows, columns, depth, .. } } = self;
        let [turned_a, turned_b] = options.transposes;
        let [a_down, a_along] = strides(if turned_a { rows } else { depth }, turned_a);
        let [b_down, b_along] = strides(if turned_b { depth } else { columns }, turned_b);
        let [c_down, c_along] = strides(columns, false);
        let factor = |x: f64| <T::Sum as CastFrom<f64>>::cast_from(x);
        let (a, b) = (a.as_ptr().cast::<T::Sum>(), b.as_ptr().cast::<T::Sum>());
        // SAFETY: the slices have the extents' elements, at these strides; nothing else writes `c`.
        // `multiply` lets in those `T` only that are their own sums.
        unsafe {
            gemm::gemm(
                rows,
                columns,
                depth,
                c.as_mut_ptr(),
                c_along,
                c_down,
                options.beta != 0.0,
                a,
                a_along,
                a_down,
                b,
                b_along,
                b_down,
                factor(options.beta),
                factor(options.alpha),
                false,
                false,
                false,
                Parallelism::Rayon(0),
            );
        }
    }
}
