//! What somebody writes by hand instead of an algorithm: rayon over slices.

use rayon::prelude::*;

/// Elements that a thread takes at a time.
const CHUNK: usize = 1 << 14;

/// A sum in eight lanes for each chunk, so that it has vectors.
pub fn sum(x: &[f32]) -> f32 {
    let chunk = |x: &[f32]| {
        let (eights, rest) = x.as_chunks::<8>();
        let mut lanes = [0.0; 8];
        for eight in eights {
            for (lane, x) in lanes.iter_mut().zip(eight) {
                *lane += x;
            }
        }
        lanes.iter().chain(rest).sum::<f32>()
    };
    x.par_chunks(CHUNK).map(chunk).sum()
}

/// An inclusive scan in two passes: sums of chunks, and each chunk from the sum of those before.
pub fn scan<T: Copy + Default + Send + Sync + std::ops::Add<Output = T>>(x: &[T], y: &mut [T]) {
    let add = |sum: T, x: &T| sum + *x;
    let mut starts: Vec<T> =
        x.par_chunks(CHUNK).map(|x| x.iter().fold(T::default(), add)).collect();
    let mut sum = T::default();
    for start in &mut starts {
        sum = sum + std::mem::replace(start, sum);
    }
    let chunks = y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).zip(starts);
    chunks.for_each(|((y, x), mut sum)| {
        for (y, x) in y.iter_mut().zip(x) {
            sum = sum + *x;
            *y = sum;
        }
    });
}

/// Tiles of 16 by 16.
pub fn transpose(n: usize, x: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(16 * n).enumerate().for_each(|(tile, y)| {
        for column in (0..n).step_by(16) {
            for r in 0..16 {
                for c in column..column + 16 {
                    y[r * n + c] = x[c * n + tile * 16 + r];
                }
            }
        }
    });
}

/// Floats from 0 to below 1, of a generator (SplitMix64) for each chunk.
pub fn uniform(seed: u64, y: &mut [f32]) {
    y.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, y)| {
        let mut state = seed ^ (chunk as u64) << 40;
        for y in y {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *y = ((z ^ (z >> 31)) >> 40) as f32 * (1.0 / (1 << 24) as f32);
        }
    });
}
