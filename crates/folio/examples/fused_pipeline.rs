//! Fusion of a longer program: an image pipeline of nine kernels. Two of them read neighbours, so
//! the nine become three launches, and the report says why. The pixels are those of nine launches,
//! bit for bit.
#![forbid(unsafe_code)]

use folio::prelude::*;
use folio::{Executable, graph::FinalizeOptions};

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

const SHAPE: [usize; 2] = [480, 640];

struct Images {
    input: Buffer<f32, 2>,
    output: Buffer<f32, 2>,
    brightness: Buffer<f32>,
}

/// Records the pipeline. The buffers between its kernels are made here, and gone at the end.
fn recorded(q: &Queue, of: &mut Images, options: FinalizeOptions) -> folio::Result<Executable> {
    let rt = q.runtime();
    let graph = rt.graph(&q.device())?;
    let recording = graph.record([q])?;
    let image = |name: &str| {
        let buffer = rt.buffer_with(SHAPE, BufferOptions::new().label(name));
        buffer.map(Buffer::into_shared)
    };
    let (exposed, dark, curved) = (image("exposed")?, image("dark")?, image("curved")?);
    let (rows, soft) = (image("rows")?, image("soft")?);
    let (detail, sharp) = (image("detail")?, image("sharp")?);
    q.run(SHAPE, exposes(1.5, &of.input, &exposed))?;
    q.run(SHAPE, darkens(0.05, &exposed, &dark))?;
    q.run(SHAPE, curves(&dark, &curved))?;
    q.run(SHAPE, blurs_rows(&curved, &rows))?;
    q.run(SHAPE, blurs_columns(&rows, &soft))?;
    q.run(SHAPE, subtracts(&curved, &soft, &detail))?;
    q.run(SHAPE, sharpens(0.7, &curved, &detail, &sharp))?;
    q.run(SHAPE, clamps(&sharp, &mut of.output))?;
    q.run(SHAPE, sums(&of.output, &mut of.brightness))?;
    drop((recording, exposed, dark, curved, rows, soft, detail, sharp));
    graph.finalize_with(options)
}

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let pixels: Vec<f32> = (0..SHAPE[0] * SHAPE[1]).map(|k| (k % 977) as f32 / 977.0).collect();
    let mut all = Images {
        input: rt.buffer_from((pixels, SHAPE))?,
        output: rt.buffer_with(SHAPE, BufferOptions::new().label("output"))?,
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
    assert_eq!((all.output.to_vec()?, all.brightness.to_vec()?), wanted);
    Ok(())
}
