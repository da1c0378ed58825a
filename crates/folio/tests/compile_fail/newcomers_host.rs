//! KRN-06: what new users write on the host as if buffers were slices, and views memory.
use folio::prelude::*;

#[kernel]
fn fill_with(i: Item, v: f32, y: Out<f32>) {
    y[i] = v;
}

// No `#[kernel]` above it.
fn saxpy(i: Item, a: f32, x: In<f32>, mut y: InOut<f32>) {
    y[i] = a * x[i];
}

fn without_attribute(i: Item, y: OutRow<f32>) -> f32 {
    y[(i, 0)]
}

fn as_slices(x: &Buffer<f32>, y: &mut Buffer<f32>, s: Shared<f32>) {
    let first = x[0];
    y[0] = first;
    println!("{}", s[1]);
    let sum: f32 = y.iter().sum();
    let (a, b) = (y.clone(), x.clone());
}

fn arguments(q: &Queue, x: &Buffer<f32>, y: &mut Buffer<f32>, v: &Vec<f32>) -> folio::Result<()> {
    q.fill(&*y, 0.0)?;
    q.copy(&mut *y, x)?;
    q.copy(v, &mut *y)?;
    Ok(())
}

fn items(q: &Queue, y: &mut Buffer<f32>) -> folio::Result<()> {
    q.run(fill_with(1.0, &mut *y), 100)?;
    q.run(100i32, fill_with(1.0, &mut *y))?;
    q.run(0..=99, fill_with(1.0, &mut *y))?;
    q.run(100, ())?;
    Ok(())
}

fn parts(y: &Buffer<f32>) -> folio::Result<()> {
    y.slice(10..20, 10)?;
    Ok(())
}

fn main() {}
