//! KRN-06, BUF-01: what a new user does with buffers and command groups as if they were arrays.
use folio::{buffer::ViewPolicy, prelude::*};

fn whole(x: &Buffer<f32>, y: &Buffer<f32>, z: &mut Buffer<f32>, v: &[f32]) {
    let sum = x + y;
    let scaled = x * 2.0;
    let total: f32 = x.sum();
    z.copy_from_slice(v);
}

fn borrowed(rt: &Runtime) -> folio::Result<()> {
    let mut data = vec![1.0f32; 100];
    let (x, back) = rt.view(100, &mut data, ViewPolicy::Sync)?;
    Ok(())
}

fn elements(rt: &Runtime) -> folio::Result<()> {
    let flags = rt.buffer_from(&[true, false])?;
    let rows = rt.buffer_from(vec![vec![1.0f32; 4]; 4])?;
    Ok(())
}

fn closures(q: &Queue, x: &Buffer<f32>, y: &mut Buffer<f32>) -> folio::Result<()> {
    q.run(10, |i| y[i] = x[i])?;
    q.submit(|cg| {
        let (x, mut y) = (cg.read(x), cg.read_write(&mut *y));
        cg.parallel_for(10, |i| 1.0);
        y[0] = x[0];
        Ok(())
    })?;
    Ok(())
}

fn main() {}
