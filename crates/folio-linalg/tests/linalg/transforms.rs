//! Fourier transforms.

use super::{Rig, tame};
use folio::linalg::{Choice, Transform};
use folio::prelude::*;
use folio_model::rng::Rng;
use std::f64::consts::TAU;

const BOTH: [Transform; 2] = [Transform::Forward, Transform::Inverse];

/// The transform along one dimension, by its definition.
fn along(all: &[[f64; 2]], shape: [usize; 3], axis: usize, sign: f64) -> Vec<[f64; 2]> {
    let apart = [shape[1] * shape[2], shape[2], 1][axis];
    let n = shape[axis];
    let one = |at: usize| {
        let (k, first) = (at / apart % n, at - at / apart % n * apart);
        (0..n).fold([0.0; 2], |sum, j| {
            let (sin, cos) = (sign * TAU * (j * k % n) as f64 / n as f64).sin_cos();
            let [re, im] = all[first + j * apart];
            [sum[0] + re * cos - im * sin, sum[1] + re * sin + im * cos]
        })
    };
    (0..all.len()).map(one).collect()
}

fn plain(
    all: &[[f64; 2]],
    shape: [usize; 3],
    dimensions: usize,
    which: Transform,
) -> Vec<[f64; 2]> {
    let sign = if which == Transform::Forward { -1.0 } else { 1.0 };
    (3 - dimensions..3).fold(all.to_vec(), |all, axis| along(&all, shape, axis, sign))
}

fn is_near(is: &[[f32; 2]], wanted: &[[f64; 2]], what: &str) {
    let most = wanted.iter().flatten().fold(1.0f64, |most, x| most.max(x.abs()));
    assert_eq!(is.len(), wanted.len(), "{what}");
    for (at, (is, wanted)) in is.iter().zip(wanted).enumerate() {
        let far = (0..2).map(|k| (f64::from(is[k]) - wanted[k]).abs()).fold(0.0, f64::max);
        assert!(far <= 4e-6 * most, "{what}: {is:?}, not {wanted:?}, at {at}");
    }
}

fn pairs(rng: &mut Rng, n: usize) -> Vec<[f64; 2]> {
    tame(rng, 2 * n).chunks(2).map(|pair| [pair[0], pair[1]]).collect()
}

fn narrow(all: &[[f64; 2]]) -> Vec<[f32; 2]> {
    all.iter().map(|x| x.map(|x| x as f32)).collect()
}

pub fn transforms_are_sums(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(21);
    // All remainders of passes, each dimension, and lengths that are no power of two.
    let shapes = [
        ([1, 1, 1], 1),
        ([1, 3, 2], 1),
        ([2, 1, 64], 1),
        ([1, 2, 128], 1),
        ([1, 1, 1024], 1),
        ([1, 3, 15], 1),
        ([3, 4, 32], 2),
        ([2, 6, 5], 2),
        ([16, 8, 4], 3),
        ([3, 1, 7], 3),
        ([0, 1, 7], 1),
    ];
    for (turn, (shape, dimensions)) in shapes.into_iter().enumerate() {
        let n = shape.iter().product();
        if rig.is_slow && n > 100 {
            continue;
        }
        let which = BOTH[turn % 2];
        let all = pairs(&mut rng, n);
        let wanted = plain(&all, shape, dimensions, which);
        let x = rig.rt.buffer_from((&narrow(&all), shape))?;
        for choice in rig.choices() {
            let mut y = rig.rt.buffer(shape)?;
            let used = rig.by(choice).fft(which, dimensions, &x, &mut y)?;
            is_near(&y.to_vec()?, &wanted, &format!("{shape:?} by {used}"));
        }
    }
    Ok(())
}

/// Rows of even and odd lengths, one, two and none; each dimension.
pub fn real_numbers_have_half_of_the_frequencies(rig: &Rig) -> folio::Result<()> {
    let shapes = [
        ([1, 2, 8], 1),
        ([1, 1, 1], 1),
        ([2, 1, 2], 1),
        ([1, 4, 5], 2),
        ([2, 3, 6], 2),
        ([3, 2, 6], 3),
        ([2, 4, 7], 3),
        ([0, 4, 6], 2),
        ([1, 1, 1 << 14], 1),
        ([2, 16, 200], 2),
    ];
    for (shape, dimensions) in shapes {
        let n: usize = shape.iter().product();
        if rig.is_slow && n > 40 {
            continue;
        }
        for choice in rig.choices() {
            reals(rig, choice, shape, dimensions)?;
        }
    }
    Ok(())
}

/// There and back.
fn reals(rig: &Rig, choice: Choice, shape: [usize; 3], dimensions: usize) -> folio::Result<()> {
    let (linalg, n) = (rig.by(choice), shape.iter().product());
    let numbers: Vec<f32> = tame(&mut Rng::new(22), n).into_iter().map(|x| x as f32).collect();
    let x = rig.rt.buffer_from((&numbers, shape))?;
    let half = [shape[0], shape[1], shape[2] / 2 + 1];
    let mut y = rig.rt.buffer::<[f32; 2], 3>(half)?;
    let used = linalg.fft_real(dimensions, &x, &mut y)?;
    let wide: Vec<[f64; 2]> = numbers.iter().map(|x| [f64::from(*x), 0.0]).collect();
    let what = format!("{shape:?} by {used}");
    if n < 10_000 {
        let whole = plain(&wide, shape, dimensions, Transform::Forward);
        let rows = whole.chunks(shape[2]).flat_map(|row| row[..half[2]].iter().copied());
        is_near(&y.to_vec()?, &rows.collect::<Vec<_>>(), &what);
    }
    let mut back = rig.rt.buffer::<f32, 3>(shape)?;
    linalg.fft_real_inverse(dimensions, &y, &mut back)?;
    let many: usize = shape[3 - dimensions..].iter().product();
    for (is, was) in back.to_vec()?.iter().zip(&numbers) {
        assert!((is / many as f32 - was).abs() < 1e-5, "{is} / {many}, not {was}: {what}");
    }
    Ok(())
}

/// Frequencies of no real numbers: the real part of what they are the transform of.
pub fn frequencies_need_not_be_those_of_real_numbers(rig: &Rig) -> folio::Result<()> {
    for columns in [4, 5] {
        let half = columns / 2 + 1;
        let all = pairs(&mut Rng::new(24), 2 * half);
        let x = rig.rt.buffer_from((&narrow(&all), [2, half]))?;
        let mut whole = vec![[0.0; 2]; 2 * columns];
        for (at, value) in whole.iter_mut().enumerate() {
            let (row, k) = (at / columns, at % columns);
            let other = || all[(2 - row) % 2 * half + columns - k];
            *value = if k < half { all[row * half + k] } else { [other()[0], -other()[1]] };
        }
        let wanted = plain(&whole, [1, 2, columns], 2, Transform::Inverse);
        for choice in rig.choices() {
            let mut y = rig.rt.buffer::<f32, 2>([2, columns])?;
            rig.by(choice).fft_real_inverse(2, &x, &mut y)?;
            for (is, [wanted, _]) in y.to_vec()?.into_iter().zip(&wanted) {
                assert!((f64::from(is) - wanted).abs() < 1e-5, "{is}, not {wanted}");
            }
        }
    }
    Ok(())
}

/// Rows of parts are further apart than they are long.
pub fn parts_are_transformed_in_place_of_them(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(23);
    let all = pairs(&mut rng, 6 * 10);
    let x = rig.rt.buffer_from((&narrow(&all), [6, 10]))?;
    let mut y = rig.rt.buffer_from((&[[7.0f32; 2]; 60], [6, 10]))?;
    let parts = (x.slice([1, 1], [3, 8])?, y.slice_mut([2, 2], [3, 8])?);
    rig.by(Choice::Auto).fft(Transform::Forward, 1, parts.0, parts.1)?;
    let inner: Vec<[f64; 2]> = (1..4).flat_map(|r| all[r * 10 + 1..r * 10 + 9].to_vec()).collect();
    let inner = plain(&inner, [1, 3, 8], 1, Transform::Forward);
    let mut wanted = vec![[7.0; 2]; 60];
    for (row, values) in inner.chunks(8).enumerate() {
        wanted[(row + 2) * 10 + 2..][..8].copy_from_slice(values);
    }
    is_near(&y.to_vec()?, &wanted, "a part");
    Ok(())
}

pub fn a_graph_repeats_a_transform(rig: &Rig) -> folio::Result<()> {
    for choice in rig.choices() {
        let linalg = rig.by(choice);
        let x = rig.rt.buffer_from(&[[1.0f32, 0.0], [2.0, 0.0], [0.0, 1.0]])?.into_shared();
        let y = rig.rt.buffer::<[f32; 2], 1>(3)?.into_shared();
        let graph = rig.rt.graph(&rig.q.device())?;
        let recording = graph.record([&rig.q])?;
        linalg.fft(Transform::Forward, 1, &x, &y)?;
        linalg.fft(Transform::Inverse, 1, &y, &x)?;
        drop(recording);
        let run = graph.finalize()?;
        rig.q.run_graph(&run)?;
        rig.q.run_graph(&run)?;
        is_near(&x.to_vec()?, &[[9.0, 0.0], [18.0, 0.0], [0.0, 9.0]], "two runs");
    }
    Ok(())
}

pub fn what_does_not_fit_is_refused(rig: &Rig) -> folio::Result<()> {
    let linalg = rig.by(Choice::Auto);
    let x = rig.rt.buffer::<[f32; 2], 2>([2, 4])?;
    let mut y = rig.rt.buffer::<[f32; 2], 2>([2, 5])?;
    let refused = linalg.fft(Transform::Forward, 1, &x, &mut y);
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    let mut y = rig.rt.buffer::<[f32; 2], 2>([2, 4])?;
    for dimensions in [0, 3] {
        let refused = linalg.fft(Transform::Forward, dimensions, &x, &mut y);
        assert!(matches!(refused, Err(Error::Configuration { .. })), "{refused:?}");
    }
    let numbers = rig.rt.buffer::<f32, 2>([2, 4])?;
    let refused = linalg.fft_real(1, &numbers, &mut y);
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    Ok(())
}
