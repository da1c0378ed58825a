//! Heat in a plate: Jacobi steps over four memory domains that exchange their borders.
//!
//! No exchange is written down, and no domain is named: `spread` gives each device a band of rows,
//! and what a band reads follows from the kernel. So what moves in a step is what a neighbour has
//! written of the rows beside a band: the halo. The program checks that, to the byte.
//!
//! `stencil [PICTURE [STEPS]]`
#![forbid(unsafe_code)]

mod picture;

use folio::cpu::CpuBackend;
use folio::prelude::*;
use folio::sched::Split;
use std::error::Error;
use std::time::Instant;

const DOMAINS: usize = 4;
const BAND: usize = 48; // rows of each domain
const ROWS: usize = DOMAINS * BAND + 2; // and a fixed row at either end
const COLUMNS: usize = 256;
const INNER: usize = COLUMNS - 2; // the sides are fixed, too
const COLOURS: [[u8; 3]; 4] = [[10, 10, 40], [140, 30, 90], [250, 130, 40], [255, 250, 190]];

/// A step for each item that is no border.
#[kernel]
fn step(i: Item<2>, old: In<f32, 2>, new: Out<f32, 2>) {
    let (r, c) = i.pos();
    new[i] = 0.25 * (old[(r - 1, c)] + old[(r + 1, c)] + old[(r, c - 1)] + old[(r, c + 1)]);
}

/// Hot at the top, cold elsewhere, but for rings, across the bands.
fn plate() -> Vec<f32> {
    let mut plate = vec![0.0; ROWS * COLUMNS];
    for (centre, radius) in [(40, 20), (100, 36), (190, 56)] {
        for (k, heat) in plate.iter_mut().enumerate() {
            let (down, right) = ((k / COLUMNS).abs_diff(97), (k % COLUMNS).abs_diff(centre));
            if (down * down + right * right).isqrt().abs_diff(radius) < 4 {
                *heat = 100.0;
            }
        }
    }
    plate[..COLUMNS].fill(100.0);
    plate
}

/// The same steps, by hand.
fn by_hand(steps: usize) -> Vec<f32> {
    let (mut old, mut new) = (plate(), plate());
    for _ in 0..steps {
        for r in 1..ROWS - 1 {
            for c in 1..COLUMNS - 1 {
                let at = r * COLUMNS + c;
                new[at] =
                    0.25 * (old[at - COLUMNS] + old[at + COLUMNS] + old[at - 1] + old[at + 1]);
            }
        }
        std::mem::swap(&mut old, &mut new);
    }
    old
}

/// Elements that a step has to move: two rows across each of the inner borders. In addition the
/// first step brings the bands to the domains that are not the host's, and each of the two plates
/// brings its fixed sides there, and its fixed last row to the last domain, when it is first read.
fn elements_to_move(step: usize) -> usize {
    let (others, halo) = (DOMAINS - 1, 2 * (DOMAINS - 1) * INNER);
    match step {
        0 => others * ((BAND + 2) * INNER + 2 * BAND),
        1 => halo + others * 2 * BAND + INNER,
        _ => halo,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // `folio::builder` does so itself.
    #[cfg(feature = "trace")]
    folio::trace::from_environment().map_err(|why| why.to_string())?;
    let steps = picture::size_or(60)?;
    let cpu = CpuBackend::builder().domains(DOMAINS).build()?;
    let rt = Runtime::builder().backend(cpu).build()?;
    let q = rt.queue_over(&rt.devices(), Split::rows())?;

    let mut old = rt.buffer_from((plate(), [ROWS, COLUMNS]))?;
    let mut new = rt.buffer_from((plate(), [ROWS, COLUMNS]))?;
    let inner = old.interior(1);
    println!("{}", q.explain_spread(inner, &step(&old, &mut new))?);

    let start = Instant::now();
    let mut moved = 0;
    for nth in 0..steps {
        q.spread(inner, step(&old, &mut new))?;
        std::mem::swap(&mut old, &mut new);
        // Counted when planned, so there is nothing to wait for.
        let bytes = rt.counters().transfers().bytes as usize - moved;
        moved += bytes;
        if nth < 4 || nth + 1 == steps {
            println!("step {nth:>2}: {bytes:>7} bytes");
        }
        let wanted = elements_to_move(nth) * size_of::<f32>();
        if bytes != wanted {
            return Err(format!("step {nth} should move {wanted} bytes, and not {bytes}").into());
        }
    }

    let result = old.read()?;
    println!("{steps} steps on {DOMAINS} domains in {:.2} ms", 1e3 * start.elapsed().as_secs_f64());
    if result[..] != by_hand(steps)[..] {
        return Err("the result differs from the one computed by hand".into());
    }
    println!("equal to the result computed by hand, bit for bit");
    picture::save(&result, COLUMNS, [0.0, 100.0], &COLOURS)
}
