//! `ndarray` as a peer: its matrix product, and its loops over arrays on rayon's threads.

use super::protocol::Request;
use super::rust::{Form, form};
use crate::bench::floats;
use ndarray::linalg::general_mat_mul;
use ndarray::parallel::prelude::*;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, Zip, s};

const NDARRAY: [&str; 2] = ["ndarray", "0.17"];

/// Elements that one task adds.
const CHUNK: usize = 1 << 16;

/// The form of a row, if there is one.
pub(super) fn made(request: &Request) -> Option<Form> {
    let (n, seed) = (request.size as usize, request.seed);
    Some(match (&*request.workload, &*request.mode) {
        ("linear", "product f32") | ("matmul", "tiled") => {
            let [a, b] = [1, 2].map(|which| square(floats(seed, n * n, which), n));
            let (a, b) = (a?, b?);
            form(NDARRAY, vec![0.0f32; n * n], move |y| {
                if let Ok(mut y) = ArrayViewMut2::from_shape((n, n), y) {
                    general_mat_mul(1.0, &a, &b, 0.0, &mut y);
                }
            })
        }
        ("library", "sum f32") => {
            let x = Array1::from(floats(seed, n, 1));
            form(NDARRAY, vec![0.0f32], move |y| {
                let chunks = x.axis_chunks_iter(Axis(0), CHUNK).into_par_iter();
                y[0] = chunks.map(|chunk| chunk.sum()).sum();
            })
        }
        ("stream", "triad") => {
            let [x, z] = [1, 2].map(|which| Array1::from(floats(seed, n, which)));
            form(NDARRAY, vec![0.0f32; n], move |y| {
                let y = Zip::from(ArrayViewMut1::from(y));
                y.and(&x).and(&z).par_for_each(|y, x, z| *y = x + 0.4 * z);
            })
        }
        ("stencil", "5-point, held to the border") => {
            let side = n.isqrt();
            let x = square(floats(seed, n, 1), side)?;
            form(NDARRAY, vec![0.0f32; n], move |y| {
                if let Ok(y) = ArrayViewMut2::from_shape((side, side), y) {
                    heat(x.view(), y);
                }
            })
        }
        _ => return None,
    })
}

fn square(values: Vec<f32>, side: usize) -> Option<Array2<f32>> {
    Array2::from_shape_vec((side, side), values).ok()
}

fn heated(x: f32, around: f32) -> f32 {
    x + 0.2 * (around - 4.0 * x)
}

/// A step of the 5-point stencil whose border goes on as it ends.
fn heat(x: ArrayView2<'_, f32>, mut y: ArrayViewMut2<'_, f32>) {
    let last = y.nrows().saturating_sub(1);
    if last > 1 {
        Zip::from(y.slice_mut(s![1..last, 1..last]))
            .and(x.slice(s![1..last, 1..last]))
            .and(x.slice(s![..last - 1, 1..last]))
            .and(x.slice(s![2.., 1..last]))
            .and(x.slice(s![1..last, ..last - 1]))
            .and(x.slice(s![1..last, 2..]))
            .par_for_each(|y, x, above, below, left, right| {
                *y = heated(*x, above + below + left + right);
            });
    }
    for k in 0..y.nrows() {
        for (r, c) in [(0, k), (last, k), (k, 0), (k, last)] {
            let (above, below) = (r.saturating_sub(1), (r + 1).min(last));
            let (left, right) = (c.saturating_sub(1), (c + 1).min(last));
            y[(r, c)] =
                heated(x[(r, c)], x[(above, c)] + x[(below, c)] + x[(r, left)] + x[(r, right)]);
        }
    }
}
