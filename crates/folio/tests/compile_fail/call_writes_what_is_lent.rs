//! KRN-01, POL-05: what a kernel writes is passed to be written, and is nothing that it reads.
use folio::prelude::*;

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let (x, mut y) = (rt.buffer::<f32, 1>(8)?, rt.buffer::<f32, 1>(8)?);
    let q = rt.queue()?;
    q.run(8, saxpy(2.0, &y, &x))?;
    q.run(8, saxpy(2.0, &y, &mut y))?;
    Ok(())
}
