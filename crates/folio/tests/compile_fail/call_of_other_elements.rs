//! KRN-01: arguments have the elements of their parameters.
use folio::prelude::*;

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let x = rt.buffer::<i32, 1>(8)?;
    let mut y = rt.buffer::<f32, 1>(8)?;
    rt.queue()?.run(8, saxpy(2.0, &x, &mut y))?;
    Ok(())
}
