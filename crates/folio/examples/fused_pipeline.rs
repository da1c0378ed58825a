//! Fusion of a longer program: an image pipeline of nine kernels. Two of them read neighbours, so
//! the nine become three launches, and the report says why. The pixels are those of nine launches,
//! bit for bit. The left half of the picture is as it was.
//!
//! `fused_pipeline [PICTURE [COLUMNS]]`
#![forbid(unsafe_code)]

mod picture;

use folio::prelude::*;
use folio::{Executable, graph::FinalizeOptions};
use std::error::Error;

#[kernel]
fn exposes(i: Item<2>, by: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    y[i] = x[i] * by;
}

#[kernel]
fn darkens(i: Item<2>, black: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    y[i] = (x[i] - black).max(0.0);
}

#[kernel]
fn curves(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    y[i] = x[i] / (1.0 + x[i]);
}

/// A mean of each pixel and its neighbours in the row.
#[kernel]
fn blurs_rows(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let left = if c > 0 { x[(r, c - 1)] } else { x[i] };
    let right = if c + 1 < x.shape()[1] { x[(r, c + 1)] } else { x[i] };
    y[i] = (left + x[i] + right) / 3.0;
}

/// The same in the column.
#[kernel]
fn blurs_columns(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let up = if r > 0 { x[(r - 1, c)] } else { x[i] };
    let down = if r + 1 < x.shape()[0] { x[(r + 1, c)] } else { x[i] };
    y[i] = (up + x[i] + down) / 3.0;
}

#[kernel]
fn subtracts(i: Item<2>, x: In<f32, 2>, soft: In<f32, 2>, detail: Out<f32, 2>) {
    detail[i] = x[i] - soft[i];
}

#[kernel]
fn sharpens(i: Item<2>, by: f32, x: In<f32, 2>, detail: In<f32, 2>, y: Out<f32, 2>) {
    y[i] = x[i] + by * detail[i];
}

#[kernel]
fn clamps(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    y[i] = x[i].max(0.0).min(1.0);
}

#[kernel]
fn sums(i: Item<2>, x: In<f32, 2>, sum: Reduce<f32, Add>) {
    sum.give(x[i]);
}

const COLOURS: [[u8; 3]; 4] = [[10, 10, 20], [90, 70, 80], [200, 170, 120], [255, 250, 235]];

struct Images {
    shape: [usize; 2],
    input: Buffer<f32, 2>,
    output: Buffer<f32, 2>,
    brightness: Buffer<f32>,
}

/// Records the pipeline. The buffers between its kernels are made here, and gone at the end.
fn recorded(q: &Queue, of: &mut Images, options: FinalizeOptions) -> folio::Result<Executable> {
    let (rt, shape) = (q.runtime(), of.shape);
    let graph = rt.graph(&q.device())?;
    let recording = graph.record([q])?;
    let image = |name: &str| {
        let buffer = rt.buffer_with(shape, BufferOptions::new().label(name));
        buffer.map(Buffer::into_shared)
    };
    let (exposed, dark, curved) = (image("exposed")?, image("dark")?, image("curved")?);
    let (rows, soft) = (image("rows")?, image("soft")?);
    let (detail, sharp) = (image("detail")?, image("sharp")?);
    q.run(shape, exposes(1.5, &of.input, &exposed))?;
    q.run(shape, darkens(0.05, &exposed, &dark))?;
    q.run(shape, curves(&dark, &curved))?;
    q.run(shape, blurs_rows(&curved, &rows))?;
    q.run(shape, blurs_columns(&rows, &soft))?;
    q.run(shape, subtracts(&curved, &soft, &detail))?;
    q.run(shape, sharpens(0.7, &curved, &detail, &sharp))?;
    q.run(shape, clamps(&sharp, &mut of.output))?;
    q.run(shape, sums(&of.output, &mut of.brightness))?;
    drop((recording, exposed, dark, curved, rows, soft, detail, sharp));
    graph.finalize_with(options)
}

/// Hills in mist: each row of hills is darker than the one behind it. A grain lies over all.
fn scene([rows, columns]: [usize; 2]) -> Vec<f32> {
    let pixel = |k: usize| {
        let (y, x) = ((k / columns) as f32 / rows as f32, (k % columns) as f32 / columns as f32);
        let top = |hill: f32| {
            let at = x * (3.0 + 2.0 * hill) + 1.7 * hill * hill;
            0.15 + 0.16 * hill + 0.05 * (at * 2.1).sin() + 0.02 * (at * 7.3 + hill).sin()
        };
        let hill = (0..5).rev().find(|hill| y > top(*hill as f32)).unwrap_or(-1);
        let grain = ((k as u32).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32 - 0.5;
        0.8 - 0.15 * (hill + 1) as f32 + 0.1 * y + 0.04 * grain
    };
    (0..rows * columns).map(pixel).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let columns = picture::size_or(256)?;
    let shape = [(columns * 3).div_ceil(4), columns];
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let before = scene(shape);
    let mut all = Images {
        shape,
        input: rt.buffer_from((&before, shape))?,
        output: rt.buffer_with(shape, BufferOptions::new().label("output"))?,
        brightness: rt.buffer(1)?,
    };

    let plain = recorded(&q, &mut all, FinalizeOptions::new())?;
    q.run_graph(&plain)?.wait()?;
    let wanted = (all.output.to_vec()?, all.brightness.to_vec()?);
    let launches = rt.counters().launches;

    let fused = recorded(&q, &mut all, FinalizeOptions::new().enable_fusion())?;
    q.fill(&mut all.output, 0.0)?;
    q.run_graph(&fused)?.wait()?;
    if let Some(report) = fused.fusion_report()? {
        print!("{}: {report}", q.device().name());
        assert_eq!((report.launches, report.launches_left), (9, 3));
    }
    assert!((launches, rt.counters().launches - launches) == (9, 3));
    let (after, brightness) = (all.output.to_vec()?, all.brightness.to_vec()?);
    assert!((&after, brightness) == (&wanted.0, wanted.1));
    let halves = before.iter().zip(&after).enumerate();
    let pixels = halves.map(|(k, (old, new))| if k % columns < columns / 2 { old } else { new });
    let pixels: Vec<f32> = pixels.copied().collect();
    picture::save(&pixels, columns, [0.0, 1.0], &COLOURS)
}
