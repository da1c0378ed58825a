//! A sort that can be seen: numbers in a row are compared with their neighbours, those at even
//! places with the next one, then those at odd places, and so on. Each row of the picture is a pass
//! later. The last one is what Rust's sort gives, and each row has the same numbers.
//!
//! All passes are in one buffer. What a pass reads and what it writes are parts of it that do not
//! meet, so that they can be one launch's; and a pass waits for the one before, and no other.
//!
//! `sorting [PICTURE [NUMBERS]]`; `folio::algorithms::sort` is what programs sort with.
#![forbid(unsafe_code)]

mod picture;

use folio::prelude::*;
use std::error::Error;

const COLOURS: [[u8; 3]; 7] = [
    [110, 64, 170],
    [76, 110, 219],
    [26, 199, 194],
    [82, 246, 103],
    [175, 240, 91],
    [255, 140, 56],
    [255, 75, 125],
];

/// An item takes the lesser of a pair if it is the pair's first, and else the greater.
#[kernel]
fn pass(i: Item<2>, odd: usize, x: In<u32, 2>, y: Out<u32, 2>) {
    let (r, c) = i.pos();
    let last = x.shape()[1] - 1;
    y[i] = if (c + odd) % 2 == 0 {
        x[i].min(x[(r, (c + 1).min(last))])
    } else {
        x[i].max(x[(r, c.max(1) - 1)])
    };
}

/// The numbers below `n`, shuffled.
fn shuffled(n: usize) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..n as u32).collect();
    let mut state = 1u64;
    for k in (1..n).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        numbers.swap(k, (state >> 33) as usize % (k + 1));
    }
    numbers
}

fn main() -> Result<(), Box<dyn Error>> {
    let n = picture::size_or(200)?;
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let start = shuffled(n);
    // As many passes as there are numbers are always enough.
    let mut passes = rt.buffer::<u32, 2>([n + 1, n])?;
    passes.slice_mut([0, 0], [1, n])?.write()?.copy_from_slice(&start);
    let passes = passes.into_shared();
    for nth in 0..n {
        let before = passes.slice([nth, 0], [1, n])?;
        let after = passes.slice_mut([nth + 1, 0], [1, n])?;
        q.run([1, n], pass(nth % 2, before, after))?;
    }

    let rows = passes.to_vec()?;
    let mut wanted = start;
    wanted.sort_unstable();
    for (nth, row) in rows.chunks(n).enumerate() {
        let mut numbers = row.to_vec();
        numbers.sort_unstable();
        assert!(numbers == wanted, "pass {nth} has lost a number");
    }
    assert_eq!(rows[n * n..], wanted);
    let sorted = rows.chunks(n).position(|row| row.is_sorted()).unwrap_or_default();
    println!("{n} numbers are in order after {sorted} passes, and stay so");
    let shades: Vec<f32> = rows.iter().map(|v| *v as f32).collect();
    picture::save(&shades, n, [0.0, n as f32], &COLOURS)
}
