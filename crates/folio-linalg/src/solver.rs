//! Solvers that never wait for the host.

use crate::prelude::*;
use crate::{Csr, Linalg, mismatch};
use folio::combine::Add;
use folio::ir::device::Combine;
use folio::{Event, Executable, Reduce, Shared};
use std::cmp::Ordering;

/// Conjugate gradients for symmetric positive definite matrices: a graph whose end the device
/// decides, where it can, and else a thread of the host.
///
/// ```
/// use folio::linalg::{ConjugateGradient, Csr, Linalg};
///
/// let rt = folio::runtime()?;
/// let linalg = Linalg::new(&rt.queue()?)?;
/// let values = [(0, 0, 4.0f64), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)];
/// let a = Csr::from_triplets(&rt, [2, 2], values)?;
/// let mut solver = ConjugateGradient::new(&linalg, a, 1e-12, 100)?;
/// let b = rt.buffer_from(&[1.0f64, 2.0])?;
/// let mut x = rt.buffer(2)?; // where it begins, and the solution
/// solver.solve(&b, &mut x)?;
/// let x = x.to_vec()?;
/// assert!((x[0] - 1.0 / 11.0).abs() < 1e-9 && (x[1] - 7.0 / 11.0).abs() < 1e-9);
/// assert_eq!(solver.iterations().get(0)?, 2);
/// # Ok::<(), folio::Error>(())
/// ```
pub struct ConjugateGradient<T: DeviceType> {
    q: Queue,
    loops: Executable,
    vectors: Vectors<T>,
    scalars: Scalars<T>,
    linalg: Linalg,
    a: Csr<T>,
    tolerance: T,
}

/// Solution, residual, direction, and the matrix's product with the direction.
struct Vectors<T: DeviceType> {
    x: Shared<T>,
    r: Shared<T>,
    p: Shared<T>,
    ap: Shared<T>,
}

/// Values that stay on the device.
struct Scalars<T: DeviceType> {
    /// The square of the residual, of this iteration and the next.
    rr: Shared<T>,
    next: Shared<T>,
    /// The product of the direction and the matrix's product with it.
    pap: Shared<T>,
    /// The square of the residual at which the loop ends.
    small: Shared<T>,
    /// 1 while the loop goes on.
    go: Shared<u32>,
    iterations: Shared<u32>,
}

#[kernel]
fn dot<T: Number>(i: Item, a: In<T>, b: In<T>, sum: Reduce<T, Add>)
where
    Add: Combine<T>,
{
    sum.give(a[i] * b[i]);
}

#[kernel]
fn residual<T: Number>(i: Item, b: In<T>, ax: In<T>, r: Out<T>, p: Out<T>) {
    let rest = b[i] - ax[i];
    r[i] = rest;
    p[i] = rest;
}

#[kernel]
fn advance<T: Number>(
    i: Item,
    rr: In<T>,
    pap: In<T>,
    p: In<T>,
    ap: In<T>,
    x: InOut<T>,
    r: InOut<T>,
) {
    let alpha = rr[0] / pap[0];
    x[i] = x[i] + alpha * p[i];
    r[i] = r[i] - alpha * ap[i];
}

#[kernel]
fn turn<T: Number>(i: Item, rr: In<T>, next: In<T>, r: In<T>, p: InOut<T>) {
    p[i] = r[i] + next[0] / rr[0] * p[i];
}

#[kernel]
fn begin<T: Number>(
    i: Item,
    tolerance: T,
    bb: In<T>,
    rr: In<T>,
    small: Out<T>,
    go: Out<u32>,
    iterations: Out<u32>,
) {
    let limit = tolerance * tolerance * bb[i];
    small[i] = limit;
    // NaN, and squares that are infinite, are not small: they come into the solution.
    go[i] = if rr[i] - limit <= T::ZERO { 0 } else { 1 };
    iterations[i] = 0;
}

#[kernel]
fn decide<T: Number>(
    i: Item,
    small: In<T>,
    next: In<T>,
    rr: Out<T>,
    go: Out<u32>,
    iterations: InOut<u32>,
) {
    rr[i] = next[i];
    go[i] = if next[i] > small[i] { 1 } else { 0 };
    iterations[i] += 1;
}

impl<T: Number + DeviceType> ConjugateGradient<T>
where
    Add: Combine<T>,
{
    /// A solver that ends when the residual is `tolerance` of the right side, both by the square
    /// root of the sum of squares, or after `limit` iterations.
    pub fn new(
        linalg: &Linalg,
        a: Csr<T>,
        tolerance: T,
        limit: u64,
    ) -> Result<ConjugateGradient<T>> {
        let [rows, columns] = a.shape();
        if rows != columns {
            return Err(mismatch("conjugate gradients", &[rows], &[columns]));
        }
        if tolerance.partial_cmp(&T::ZERO).is_none_or(Ordering::is_lt) {
            let (what, why) = ("tolerance", "of a solver it is 0 or more".to_owned());
            return Err(folio::Error::Configuration { what, why });
        }
        let q = linalg.queue().clone();
        let rt = q.runtime();
        let vector = || rt.buffer(rows).map(Buffer::into_shared);
        let scalar = || rt.buffer(1).map(Buffer::into_shared);
        let flag = || rt.buffer(1).map(Buffer::into_shared);
        let vectors = Vectors { x: vector()?, r: vector()?, p: vector()?, ap: vector()? };
        let scalars = Scalars {
            rr: scalar()?,
            next: scalar()?,
            pap: scalar()?,
            small: scalar()?,
            go: flag()?,
            iterations: flag()?,
        };
        let linalg = linalg.again();
        let body = rt.graph(&q.device())?;
        let recording = body.record([&q])?;
        iteration(&linalg, &a, &vectors, &scalars)?;
        drop(recording);
        let graph = rt.graph(&q.device())?;
        graph.while_(&[], &scalars.go, limit, &body.finalize()?)?;
        let loops = graph.finalize()?;
        Ok(ConjugateGradient { q, loops, vectors, scalars, linalg, a, tolerance })
    }

    /// Solves `A x = b`, beginning with what is in `x`. The event is that of the solution in `x`.
    ///
    /// One solution after the other: a solver has one set of vectors.
    pub fn solve(&mut self, b: impl AsPart<T, 1>, mut x: impl AsPartMut<T, 1>) -> Result<Event> {
        self.linalg.q = self.q.undivided();
        let ConjugateGradient { vectors, scalars, linalg, .. } = &*self;
        let q = linalg.queue();
        let (b, mut x) = (b.slice_all(), x.slice_all_mut());
        let rows = self.a.shape()[0];
        if [b.len(), x.len()] != [rows; 2] {
            return Err(mismatch("conjugate gradients", &[b.len(), x.len()], &[rows; 2]));
        }
        if rows == 0 {
            return q.barrier();
        }
        let Vectors { x: own, r, p, ap } = vectors;
        q.copy(&x, own)?;
        linalg.spmv(&self.a, own, ap)?;
        q.run(rows, residual(&b, ap, r, p))?;
        q.run(rows, dot(&b, &b, &scalars.next))?;
        q.run(rows, dot(r, r, &scalars.rr))?;
        let Scalars { rr, next, small, go, iterations, .. } = scalars;
        q.run(1, begin(self.tolerance, next, rr, small, go, iterations))?;
        q.run_graph(&self.loops)?;
        q.copy(own, &mut x)
    }

    /// How many iterations the latest solution has taken, when it is there.
    pub fn iterations(&self) -> &Shared<u32> {
        &self.scalars.iterations
    }
}

/// One iteration.
fn iteration<T: Number + DeviceType>(
    linalg: &Linalg,
    a: &Csr<T>,
    vectors: &Vectors<T>,
    scalars: &Scalars<T>,
) -> Result<()>
where
    Add: Combine<T>,
{
    let (q, rows) = (linalg.queue(), a.shape()[0]);
    let Vectors { x, r, p, ap } = vectors;
    let Scalars { rr, next, pap, small, go, iterations } = scalars;
    linalg.spmv(a, p, ap)?;
    q.run(rows, dot(p, ap, pap))?;
    q.run(rows, advance(rr, pap, p, ap, x, r))?;
    q.run(rows, dot(r, r, next))?;
    q.run(rows, turn(rr, next, r, p))?;
    q.run(1, decide(small, next, rr, go, iterations))?;
    Ok(())
}
