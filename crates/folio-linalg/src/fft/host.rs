//! Transforms on CPUs, by the crate `rustfft`.

use super::{Extents, Real, Transform};
use crate::prelude::*;
use crate::threads::on_own_threads;
use rayon::prelude::*;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};
use std::sync::Arc;

/// Plans along the dimensions, each with its dimension.
type Plans<T> = Vec<(usize, Arc<dyn Fft<T>>)>;

/// Submits a transform, if the parts have no gaps; else `false`.
pub(super) fn transform<T: Real>(
    q: &Queue,
    transform: Transform,
    extents: Extents,
    x: &Slice<'_, [T; 2], 3>,
    y: &mut SliceMut<'_, [T; 2], 3>,
) -> Result<bool> {
    let (Ok(x), Ok(mut y)) = (x.flat(), y.flat_mut()) else { return Ok(false) };
    let mut planner = FftPlanner::<T>::new();
    let mut plan = |n: usize| match transform {
        Transform::Forward => planner.plan_fft_forward(n),
        Transform::Inverse => planner.plan_fft_inverse(n),
    };
    let plans: Plans<T> = extents.axes().map(|axis| (axis, plan(extents.shape[axis]))).collect();
    q.submit(|cg| {
        let (x, y) = (cg.label("fft (rustfft)").read(&x), cg.discard(&mut y));
        cg.each_run().host_task((x, y), move |(x, mut y)| {
            y.copy_from_slice(&x);
            let all = complex(&mut y);
            let compute = |all: &mut _| {
                plans.iter().for_each(|(axis, plan)| along(extents.shape, *axis, &**plan, all));
            };
            // One line is transformed by one thread.
            match plans.iter().all(|(_, plan)| plan.len() == all.len()) {
                true => compute(all),
                false => on_own_threads(|| compute(all)),
            }
        });
        Ok(())
    })?;
    Ok(true)
}

/// Pairs as the library's numbers.
fn complex<T: Real>(pairs: &mut [[T; 2]]) -> &mut [Complex<T>] {
    let (first, len) = (pairs.as_mut_ptr(), pairs.len());
    // SAFETY: a `Complex` is two numbers in this order, with the alignment of one (`repr(C)`).
    unsafe { std::slice::from_raw_parts_mut(first.cast(), len) }
}

/// Transforms all lines along a dimension.
fn along<T: Real>([_, b, c]: [usize; 3], axis: usize, plan: &dyn Fft<T>, all: &mut [Complex<T>]) {
    let n = plan.len();
    let apart = [b * c, c, 1][axis];
    if apart == 1 {
        return all.par_chunks_mut(n).for_each(|line| plan.process(line));
    }
    // Lines one after the other, and back.
    let mut lines = vec![Complex::new(T::ZERO, T::ZERO); all.len()];
    let (from, count) = (&*all, n * apart);
    lines.par_chunks_mut(n).enumerate().for_each(|(at, line)| {
        let first = at / apart * count + at % apart;
        for (value, from) in line.iter_mut().zip(from[first..].iter().step_by(apart)) {
            *value = *from;
        }
        plan.process(line);
    });
    all.par_chunks_mut(apart).enumerate().for_each(|(row, values)| {
        let (array, k) = (row / n, row % n);
        for (at, value) in values.iter_mut().enumerate() {
            *value = lines[(array * apart + at) * n + k];
        }
    });
}
