//! The Mandelbrot set: how many steps each point takes to leave the circle of radius 2. Plain loops
//! that call the same function on the host count the same steps.
//!
//! `mandelbrot [PICTURE [COLUMNS]]`
#![forbid(unsafe_code)]

mod picture;

use folio::prelude::*;
use std::error::Error;

/// A point that has not left by then counts as one of the set.
const LIMIT: u32 = 500;
/// The middle of the picture, and its width: the valley of sea horses.
const MIDDLE: [f32; 2] = [-0.7463, 0.1102];
const WIDTH: f32 = 0.0105;
const COLOURS: [[u8; 3]; 6] =
    [[0, 7, 60], [32, 107, 203], [237, 255, 255], [255, 170, 0], [90, 20, 40], [0, 0, 0]];

#[device_fn]
fn steps_to_leave(x0: f32, y0: f32) -> u32 {
    let (mut x, mut y, mut steps) = (0.0, 0.0, 0);
    while steps < LIMIT && x * x + y * y < 4.0 {
        (x, y) = (x * x - y * y + x0, 2.0 * x * y + y0);
        steps += 1;
    }
    steps
}

#[kernel]
fn mandelbrot(i: Item<2>, left: f32, top: f32, pixel: f32, steps: Out<u32, 2>) {
    let (row, column) = i.pos();
    steps[i] = steps_to_leave(left + pixel * column as f32, top - pixel * row as f32);
}

fn main() -> Result<(), Box<dyn Error>> {
    let columns = picture::size_or(256)?;
    let rows = (columns * 3).div_ceil(4);
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let pixel = WIDTH / columns as f32;
    let (left, top) = (MIDDLE[0] - WIDTH / 2.0, MIDDLE[1] + pixel * rows as f32 / 2.0);
    let mut steps = rt.buffer([rows, columns])?;
    q.run(steps.range(), mandelbrot(left, top, pixel, &mut steps))?;

    let steps = steps.read()?;
    for (k, counted) in steps.iter().enumerate() {
        let (row, column) = (k / columns, k % columns);
        let wanted = steps_to_leave(left + pixel * column as f32, top - pixel * row as f32);
        assert_eq!(*counted, wanted, "row {row}, column {column}");
    }
    let stay = steps.iter().filter(|steps| **steps == LIMIT).count();
    println!("{stay} of {} points stay, as many as by plain loops", steps.len());

    let shades: Vec<f32> = steps.iter().map(|steps| (*steps as f32).ln()).collect();
    picture::save(&shades, columns, [3.5, (LIMIT as f32).ln()], &COLOURS)
}
