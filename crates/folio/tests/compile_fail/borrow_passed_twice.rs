// A variable that is a `&mut` moves into a call; rustc says to pass `&mut *y`.
use folio::prelude::*;

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

fn twice(q: &Queue, x: &Buffer<f32>, y: &mut Buffer<f32>) -> folio::Result<()> {
    q.run(y.range(), saxpy(2.0, x, y))?;
    q.run(y.range(), saxpy(2.0, x, y))?;
    Ok(())
}

fn as_it_says(q: &Queue, x: &Buffer<f32>, y: &mut Buffer<f32>) -> folio::Result<()> {
    q.run(y.range(), saxpy(2.0, x, &mut *y))?;
    q.run(y.range(), saxpy(2.0, x, y))?;
    Ok(())
}

fn main() {}
