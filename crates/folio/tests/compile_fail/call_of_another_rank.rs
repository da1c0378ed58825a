//! KRN-01: arguments have the dimensions of their parameters, and launches those of the item.
use folio::prelude::*;

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let x = rt.buffer::<f32, 2>([8, 8])?;
    let mut y = rt.buffer::<f32, 1>(8)?;
    let q = rt.queue()?;
    q.run(8, saxpy(2.0, &x, &mut y))?;
    let x = rt.buffer::<f32, 1>(8)?;
    q.run([8, 8], saxpy(2.0, &x, &mut y))?;
    Ok(())
}
