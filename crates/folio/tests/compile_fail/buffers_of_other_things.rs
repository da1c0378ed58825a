// Shapes, contents and positions that are none, each with what to write instead.
use folio::prelude::*;
use std::sync::Arc;

fn makes(rt: &Runtime, rows: u32, shared: Arc<Vec<f32>>) -> folio::Result<()> {
    rt.buffer::<f32, 1>([2, 3])?;
    rt.buffer::<f32, 1>(rows)?;
    rt.buffer::<f32, 2>([rows, 3])?;
    rt.buffer_from::<f32, 2>(&[1.0; 6])?;
    rt.buffer_from::<f32, 2>((&[1.0; 6], 6))?;
    rt.buffer_from(&shared)?;
    Ok(())
}

fn reads(x: &Buffer<f32>, grid: &Buffer<f32, 2>) -> folio::Result<()> {
    let _ = x.read()?[(1, 2)];
    let _ = grid.read()?[[1, 2, 3]];
    let _ = grid.read()?[1u32];
    grid.get(5)?;
    Ok(())
}

fn main() {}
