//! Heat in a plate: Jacobi steps over four memory domains that exchange their borders.
//!
//! No exchange is written down. Each domain owns a band of rows, reads its band and one row more on
//! either side, and writes its band. Pages are rows, so what moves in a step is exactly those rows
//! that a neighbour has written: the halo. The program checks that, to the byte.
#![forbid(unsafe_code)]

use folio::cpu::CpuBackend;
use folio::prelude::*;
use std::error::Error;
use std::time::Instant;

const DOMAINS: usize = 4;
const BAND: usize = 128; // rows of each domain
const ROWS: usize = DOMAINS * BAND + 2; // and a fixed row at either end
const COLUMNS: usize = 1024;
const STEPS: usize = 20;
const ROW_BYTES: usize = COLUMNS * size_of::<f32>();

/// Hot at the top, cold elsewhere.
fn plate() -> Vec<f32> {
    let mut plate = vec![0.0; ROWS * COLUMNS];
    plate[..COLUMNS].fill(100.0);
    plate
}

/// A step of one band.
fn submit(
    q: &Queue,
    band: usize,
    old: &Buffer<f32, 2>,
    new: &mut Buffer<f32, 2>,
) -> folio::Result<()> {
    let first = 1 + band * BAND;
    q.submit(|cg| {
        // Row `r` of the band is row `r + 1` of what is read.
        let old = cg.read(old.slice([first - 1, 0], [BAND + 2, COLUMNS])?);
        let new = cg.discard(new.slice_mut([first, 0], [BAND, COLUMNS])?);
        cg.host_kernel([BAND, COLUMNS], (old, new), |item, (old, mut new)| {
            let [r, c] = item.position();
            let here = old[[r + 1, c]];
            let value = if c == 0 || c == COLUMNS - 1 {
                here // the sides are fixed, too
            } else {
                0.25 * (old[[r, c]] + old[[r + 2, c]] + old[[r + 1, c - 1]] + old[[r + 1, c + 1]])
            };
            new.put(item, value);
        });
        Ok(())
    })?;
    Ok(())
}

/// The same steps, by hand.
fn by_hand() -> Vec<f32> {
    let (mut old, mut new) = (plate(), plate());
    for _ in 0..STEPS {
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

/// Rows that a step has to move: two across each of the inner borders. In addition the first step
/// brings the bands to the domains that are not the host's, and each of the two plates brings its
/// fixed last row to the last domain when it is first read there.
fn rows_to_move(step: usize) -> usize {
    let halo = 2 * (DOMAINS - 1);
    match step {
        0 => (DOMAINS - 1) * (BAND + 2),
        1 => halo + 1,
        _ => halo,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // `folio::builder` does so itself.
    #[cfg(feature = "trace")]
    folio::trace::from_environment().map_err(|why| why.to_string())?;
    let cpu = CpuBackend::builder().domains(DOMAINS).build()?;
    let rt = Runtime::builder().backend(cpu).build()?;
    let queues: Vec<Queue> =
        rt.devices().iter().map(|d| rt.queue_on(d)).collect::<Result<_, _>>()?;

    let rows = || BufferOptions::new().page([1, COLUMNS]);
    let mut old = rt.buffer_with((plate(), [ROWS, COLUMNS]), rows().label("a"))?;
    let mut new = rt.buffer_with((plate(), [ROWS, COLUMNS]), rows().label("b"))?;

    let start = Instant::now();
    let mut moved = 0;
    for step in 0..STEPS {
        for (band, q) in queues.iter().enumerate() {
            submit(q, band, &old, &mut new)?;
        }
        std::mem::swap(&mut old, &mut new);
        // Counted when planned, so there is nothing to wait for.
        let bytes = rt.counters().transfers().bytes as usize - moved;
        moved += bytes;
        if step < 4 || step + 1 == STEPS {
            println!("step {step:>2}: {bytes:>7} bytes = {:>3} rows", bytes / ROW_BYTES);
        }
        if bytes != rows_to_move(step) * ROW_BYTES {
            return Err(format!("step {step} should move {} rows", rows_to_move(step)).into());
        }
    }

    let result = old.read()?;
    println!("{STEPS} steps on {DOMAINS} domains in {:.2} ms", 1e3 * start.elapsed().as_secs_f64());
    if result[..] != by_hand()[..] {
        return Err("the result differs from the one computed by hand".into());
    }
    println!("equal to the result computed by hand, bit for bit");
    Ok(())
}
