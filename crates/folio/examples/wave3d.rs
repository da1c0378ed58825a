//! A wave in a box, over all devices that there are: each computes a slab of it, and slabs exchange
//! the planes between them. The program says what a step does, and neither who does it nor what
//! moves. It writes a picture of the middle plane (`wave3d.pgm`, or the path that it is given), and
//! compares the result with that of one device, bit for bit.
//!
//! `FOLIO_CPU_DOMAINS=4` makes the CPU four devices.
#![forbid(unsafe_code)]

use folio::prelude::*;
use folio::sched::Split;
use std::error::Error;
use std::fs;

const SIZE: [usize; 3] = [48, 64, 64];
const STEPS: usize = 40;

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
                start[(z * rows + y) * columns + x] = (-far / 12.0).exp();
            }
        }
    }
    start
}

/// All steps; the values at the end, and the bytes that the last step has moved.
fn wave(
    q: &Queue,
    step: impl Fn(&Buffer<f32, 3>, &mut Buffer<f32, 3>) -> folio::Result<Event>,
) -> folio::Result<(Vec<f32>, u64)> {
    let rt = q.runtime();
    let start = drop_at_rest();
    let mut now = rt.buffer_from((&start, SIZE))?;
    let mut next = rt.buffer_from((&start, SIZE))?;
    let mut moved = 0;
    for _ in 0..STEPS {
        let before = rt.counters().transfers().bytes;
        step(&now, &mut next)?;
        moved = rt.counters().transfers().bytes - before;
        std::mem::swap(&mut now, &mut next);
    }
    Ok((now.to_vec()?, moved))
}

/// The middle plane in grey.
fn picture(values: &[f32]) -> Vec<u8> {
    let [planes, rows, columns] = SIZE;
    let plane = &values[planes / 2 * rows * columns..][..rows * columns];
    let most = plane.iter().fold(1e-9f32, |most, v| most.max(v.abs()));
    let mut file = format!("P5 {columns} {rows} 255\n").into_bytes();
    file.extend(plane.iter().map(|v| (127.5 + 127.5 * v / most) as u8));
    file
}

fn main() -> Result<(), Box<dyn Error>> {
    let rt = folio::runtime()?;
    let all = rt.queue_over(&rt.devices(), Split::rows())?;
    let one = rt.queue()?;
    let inner = Items::from(SIZE).interior(1);

    let (values, moved) = wave(&all, |now, next| all.spread(inner, advance(now, next)))?;
    let devices = all.devices().len();
    println!("{devices} devices: {moved} bytes between them in the last step");
    let (alone, _) = wave(&one, |now, next| one.run(inner, advance(now, next)))?;
    if values != alone {
        return Err("the result differs from that of one device".into());
    }

    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| std::env::temp_dir().join("wave3d.pgm").to_string_lossy().into_owned());
    fs::write(&path, picture(&values))?;
    println!("equal to one device, bit for bit; the middle plane is in {path}");
    Ok(())
}
