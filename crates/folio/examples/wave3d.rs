//! A wave in a box, over all devices that there are: each computes a slab of it, and slabs exchange
//! the planes between them. The program says what a step does, and neither who does it nor what
//! moves. It writes a picture of the middle plane, and compares the result with that of one device,
//! bit for bit.
//!
//! `wave3d [PICTURE [STEPS]]`; `FOLIO_CPU_DOMAINS=4` makes the CPU four devices.
#![forbid(unsafe_code)]

mod picture;

use folio::prelude::*;
use folio::sched::Split;
use std::error::Error;

const SIZE: [usize; 3] = [16, 96, 128];
const COLOURS: [[u8; 3]; 3] = [[10, 60, 130], [245, 245, 245], [170, 40, 30]];

/// A step in time: `next` holds the values before the last ones, and then the next ones.
#[kernel]
fn advance(i: Item<3>, now: In<f32, 3>, next: InOut<f32, 3>) {
    let (z, y, x) = i.pos();
    let around = now[(z - 1, y, x)]
        + now[(z + 1, y, x)]
        + now[(z, y - 1, x)]
        + now[(z, y + 1, x)]
        + now[(z, y, x - 1)]
        + now[(z, y, x + 1)];
    next[i] = 2.0 * now[i] - next[i] + 0.2 * (around - 6.0 * now[i]);
}

/// A drop beside the middle.
fn drop_at_rest() -> Vec<f32> {
    let mut start = vec![0.0; SIZE.iter().product()];
    let [planes, rows, columns] = SIZE;
    for z in 0..planes {
        for y in 0..rows {
            for x in 0..columns {
                let far = [(z, planes / 2), (y, rows / 3), (x, columns / 2)];
                let far: f32 = far.iter().map(|(at, of)| at.abs_diff(*of).pow(2) as f32).sum();
                start[(z * rows + y) * columns + x] = (-far / 25.0).exp();
            }
        }
    }
    start
}

/// All steps; the values at the end, and the bytes that the last step has moved.
fn wave(
    q: &Queue,
    steps: usize,
    step: impl Fn(&Buffer<f32, 3>, &mut Buffer<f32, 3>) -> folio::Result<Event>,
) -> folio::Result<(Vec<f32>, u64)> {
    let rt = q.runtime();
    let start = drop_at_rest();
    let mut now = rt.buffer_from((&start, SIZE))?;
    let mut next = rt.buffer_from((&start, SIZE))?;
    let mut moved = 0;
    for _ in 0..steps {
        let before = rt.counters().transfers().bytes;
        step(&now, &mut next)?;
        moved = rt.counters().transfers().bytes - before;
        std::mem::swap(&mut now, &mut next);
    }
    Ok((now.to_vec()?, moved))
}

fn main() -> Result<(), Box<dyn Error>> {
    let steps = picture::size_or(170)?;
    let rt = folio::runtime()?;
    let all = rt.queue_over(&rt.devices(), Split::rows())?;
    let one = rt.queue()?;
    let inner = Items::from(SIZE).interior(1);

    let (values, moved) = wave(&all, steps, |now, next| all.spread(inner, advance(now, next)))?;
    let devices = all.devices().len();
    println!("{devices} devices: {moved} bytes between them in the last step");
    let (alone, _) = wave(&one, steps, |now, next| one.run(inner, advance(now, next)))?;
    if values != alone {
        return Err("the result differs from that of one device".into());
    }

    println!("equal to one device, bit for bit; the picture has the middle plane");
    let [planes, rows, columns] = SIZE;
    let plane = &values[planes / 2 * rows * columns..][..rows * columns];
    let most = plane.iter().fold(1e-9f32, |most, v| most.max(v.abs()));
    // Small waves are seen, too.
    let shades: Vec<f32> = plane.iter().map(|v| (v / most).cbrt()).collect();
    picture::save(&shades, columns, [-1.0, 1.0], &COLOURS)
}
