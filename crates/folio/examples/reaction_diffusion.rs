//! Reaction and diffusion by Gray and Scott: two substances that spread, one of which feeds on the
//! other, make spots that divide. The first steps are compared with plain loops, bit for bit.
//!
//! `reaction_diffusion [PICTURE [STEPS]]`
#![forbid(unsafe_code)]

mod picture;

use folio::prelude::*;
use std::error::Error;

const ROWS: usize = 120;
const COLUMNS: usize = 160;
/// How fast the food spreads, and what feeds on it.
const SPREAD: [f32; 2] = [0.16, 0.08];
/// How fast food comes, and how fast what feeds on it goes.
const FEED: f32 = 0.037;
const KILL: f32 = 0.06;
/// Steps that are compared with plain loops.
const COMPARED: usize = 10;
const COLOURS: [[u8; 3]; 5] =
    [[5, 20, 40], [10, 80, 110], [60, 170, 150], [240, 220, 130], [250, 250, 240]];

/// A step of each cell. Borders meet.
#[kernel]
fn react(
    i: Item<2>,
    food: In<f32, 2>,
    life: In<f32, 2>,
    next_food: Out<f32, 2>,
    next_life: Out<f32, 2>,
) {
    let (r, c) = i.pos();
    let [rows, columns] = food.shape();
    let up = if r == 0 { rows - 1 } else { r - 1 };
    let down = if r + 1 == rows { 0 } else { r + 1 };
    let left = if c == 0 { columns - 1 } else { c - 1 };
    let right = if c + 1 == columns { 0 } else { c + 1 };
    let (u, v) = (food[i], life[i]);
    let du = food[(up, c)] + food[(down, c)] + food[(r, left)] + food[(r, right)] - 4.0 * u;
    let dv = life[(up, c)] + life[(down, c)] + life[(r, left)] + life[(r, right)] - 4.0 * v;
    let eaten = u * v * v;
    next_food[i] = u + SPREAD[0] * du - eaten + FEED * (1.0 - u);
    next_life[i] = v + SPREAD[1] * dv + eaten - (FEED + KILL) * v;
}

/// Food everywhere, and some squares with life.
fn start() -> [Vec<f32>; 2] {
    let (mut food, mut life) = (vec![1.0; ROWS * COLUMNS], vec![0.0; ROWS * COLUMNS]);
    for seed in 0..12 {
        let (row, column) = (seed * 53 % (ROWS - 8), seed * 97 % (COLUMNS - 8));
        for k in 0..64 {
            let at = (row + k / 8) * COLUMNS + column + k % 8;
            (food[at], life[at]) = (0.5, 0.25 + 0.001 * (k % 5) as f32);
        }
    }
    [food, life]
}

/// A step by plain loops.
fn by_hand([food, life]: &[Vec<f32>; 2]) -> [Vec<f32>; 2] {
    let change = |x: &[f32], r: usize, c: usize| {
        let at = |r: usize, c: usize| x[r % ROWS * COLUMNS + c % COLUMNS];
        at(r + ROWS - 1, c) + at(r + 1, c) + at(r, c + COLUMNS - 1) + at(r, c + 1) - 4.0 * at(r, c)
    };
    let (mut next_food, mut next_life) = (Vec::new(), Vec::new());
    for k in 0..ROWS * COLUMNS {
        let (u, v) = (food[k], life[k]);
        let [du, dv] = [food, life].map(|x| change(x, k / COLUMNS, k % COLUMNS));
        let eaten = u * v * v;
        next_food.push(u + SPREAD[0] * du - eaten + FEED * (1.0 - u));
        next_life.push(v + SPREAD[1] * dv + eaten - (FEED + KILL) * v);
    }
    [next_food, next_life]
}

fn main() -> Result<(), Box<dyn Error>> {
    let steps = picture::size_or(2500)?.max(COMPARED);
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let all = [ROWS, COLUMNS];
    let mut wanted = start();
    let [mut food, mut life] =
        [rt.buffer_from((&wanted[0], all))?, rt.buffer_from((&wanted[1], all))?];
    let (mut next_food, mut next_life) = (rt.buffer(all)?, rt.buffer(all)?);
    for nth in 1..=steps {
        q.run(all, react(&food, &life, &mut next_food, &mut next_life))?;
        std::mem::swap(&mut food, &mut next_food);
        std::mem::swap(&mut life, &mut next_life);
        if nth <= COMPARED {
            wanted = by_hand(&wanted);
        }
        if nth == COMPARED {
            assert!([food.to_vec()?, life.to_vec()?] == wanted, "not what plain loops compute");
        }
    }
    let life = life.to_vec()?;
    assert!(life.iter().all(|v| (0.0..1.0).contains(v)));
    let alive = life.iter().filter(|v| **v > 0.1).count();
    assert!(alive > 0);
    println!("{alive} of {} cells live after {steps} steps", life.len());
    picture::save(&life, COLUMNS, [0.0, 0.4], &COLOURS)
}
