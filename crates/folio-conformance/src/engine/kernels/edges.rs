//! The suite's computations at the edges of their types: NaN of several kinds, infinities,
//! denormals, both zeros, the least and the greatest numbers, and the largest indices (semantics 3,
//! 5, 7.3, 8).
#![forbid(unsafe_code)]

use super::agree::*;
use super::bounds;
use super::code::{at_distance, beyond_an_array, gathers};
use super::computations::algebra;
use super::group_code::dot;
use super::groups::{dots, folds_of, histograms_of, sorts, statistics_of, tiles};
use crate::engine::rig::*;
use folio_core::{bf16, f16};

const FINITE: [f32; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    f32::MIN_POSITIVE,
    1e-45,
    -1.1e-38,
    f32::MAX,
    f32::MIN,
    f32::EPSILON,
    16_777_217.0,
    -3.0e19,
];

fn finite(k: usize) -> f32 {
    FINITE[(k * 7 + k / 12) % 12]
}

/// Sums of these stay finite.
fn small(k: usize) -> f32 {
    FINITE[(k * 5 + k / 7) % 7]
}

fn zeros(_: usize) -> f32 {
    -0.0
}

/// Every fifth is no number, quiet or signalling, of either sign.
fn any(k: usize) -> f32 {
    let others =
        [0x7fc0_0000, 0xff80_0000, 0x7fa0_1234, 0x7f80_0000, 0xffff_ffff].map(f32::from_bits);
    if k % 5 == 3 { others[k / 5 % 5] } else { finite(k) }
}

fn wide(k: usize) -> f64 {
    let edges = [5e-324, -0.0, f64::MAX, 2.0, f64::MIN_POSITIVE, f64::EPSILON, f64::MIN];
    if k.is_multiple_of(3) { edges[k / 3 % 7] } else { any(k).into() }
}

/// Computations of floats.
pub(super) fn floats_at_their_edges(rig: &Rig) -> Outcome {
    let double: fn(usize) -> f64 = |k| finite(k).into();
    for (single, double) in [(finite as Floats, double), (any, wide)] {
        lines(rig, single)?;
        planes(rig, single)?;
        bodies(rig, single)?;
        algebra(rig, double, single)?;
        tiles(rig, single)?;
    }
    at_type(rig, f16::from_f32(-2.0), |k| f16::from_bits((k * 2_221) as u16))?;
    at_type(rig, bf16::from_f32(-2.0), |k| bf16::from_bits((k * 2_221) as u16))
}

/// Sums and scans of floats, some of which are no numbers; all of -0 is -0.
pub(super) fn folds_at_their_edges(rig: &Rig) -> Outcome {
    for of in [small as Floats, zeros, finite, any] {
        dots(rig, &[3, 5000], &[7], of)?;
        folds_of(rig, &[1, 7, 31], of, whole)?;
    }
    for at in 0..rig.rt.devices().len() {
        let (x, y) = (rig.rt.buffer_from(&[-0f32; 300])?, rig.rt.buffer_from(&[1f32; 300])?);
        let mut sum = rig.rt.buffer::<f32, 1>(1)?;
        rig.on(at)?.run(300, dot(&x, &y, &mut sum))?;
        ensure_eq!(sum.to_vec()?[0].to_bits(), (-0f32).to_bits());
    }
    Ok(())
}

fn whole(k: usize) -> u32 {
    [0, 1, u32::MAX, 1 << 31, (1 << 31) - 1, 32, 31][(k * 5 + k / 7) % 7]
}

fn signed(k: usize) -> i32 {
    [0, 1, -1, i32::MIN, i32::MAX, 32, -33][(k * 5 + k / 7) % 7]
}

/// Integers in what wraps, compares, shifts and counts.
pub(super) fn integers_at_their_edges(rig: &Rig) -> Outcome {
    sorts(rig, whole)?;
    histograms_of(rig, whole)?;
    statistics_of(rig, signed)?;
    at_type(rig, i32::MIN, signed)?;
    at_type(rig, u32::MAX, whole)?;
    at_type(rig, -1i64, |k| [i64::MIN, i64::MAX, 0, -1][k * 3 / 2 % 4])?;
    at_type(rig, u64::MAX, |k| [0, 1, u64::MAX, 1 << 63][k * 3 / 2 % 4])
}

/// The largest index of a view is within it, and the largest of its type is not, nor is any that
/// wraps.
pub(super) fn the_largest_indices(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from(&[1.0f32, 2.0, 3.0])?;
        let mut y = rig.rt.buffer::<f32, 1>(1)?;
        q.run(1, gathers(&rig.rt.buffer_from(&[2])?, &x, &mut y))?;
        ensure_eq!(y.to_vec()?, [3.0]);
        for index in [3, i32::MAX, i32::MIN, -1] {
            let event = q.run(1, gathers(&rig.rt.buffer_from(&[index])?, &x, &mut y))?;
            let wanted = ("x".to_owned(), vec![index.into()], vec![3]);
            ensure_eq!(bounds(event.wait())?, wanted);
        }
        let n = rig.rt.buffer_from(&[5, 6, 7])?;
        let mut o = paged(&rig.rt, &[0; 3])?;
        for by in [3, u32::MAX as usize, 1 << 32, usize::MAX >> 1, usize::MAX - 2] {
            let event = q.run(2..3, at_distance(by, &n, &mut o))?;
            let index = (by as i64).wrapping_add(2);
            ensure_eq!(bounds(event.wait())?, ("x".to_owned(), vec![index], vec![3]));
        }
        // Around the end of all numbers, and back.
        q.run(2..3, at_distance(usize::MAX, &n, &mut o))?;
        ensure_eq!(o.slice([2], [1])?.to_vec()?, [6]);
        // A number in an array is not looked at when it runs; one beyond it is.
        let mut l = rig.rt.buffer::<i32, 1>(1)?;
        q.run(1, beyond_an_array(&rig.rt.buffer_from(&[4])?, &mut l))?;
        ensure_eq!(l.to_vec()?, [7]);
        let event = q.run(1, beyond_an_array(&rig.rt.buffer_from(&[3])?, &mut l))?;
        ensure_eq!(bounds(event.wait())?, (String::new(), vec![3], vec![3]));
    }
    Ok(())
}
