//! KRN-06: what a new user passed to kernels and made buffers of, each told once.
use folio::prelude::*;

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

#[derive(Clone, Copy)]
struct Plain {
    a: f32,
}

fn arguments(q: &Queue, rt: &Runtime) -> folio::Result<()> {
    let (x, mut y) = (rt.buffer_from(&[1.0f64; 100])?, rt.buffer::<f32, 1>(100)?);
    q.run(100, saxpy(2.0, &x, &mut y))?;
    let grid = rt.buffer::<f32, 2>([10, 10])?;
    q.run(100, saxpy(2.0, &grid, &mut y))?;
    Ok(())
}

fn dimensions(q: &Queue, x: &Buffer<f32>, y: &mut Buffer<f32>) -> folio::Result<()> {
    q.run([10, 10], saxpy(2.0, x, &mut *y))?;
    q.submit(|cg| {
        cg.run((10, 10), saxpy(2.0, x, &mut *y));
        Ok(())
    })?;
    Ok(())
}

fn elements(rt: &Runtime) -> folio::Result<()> {
    let copied = rt.buffer_from(&[Plain { a: 1.0 }; 10])?;
    let made = rt.buffer::<Plain, 1>(10)?;
    println!("{}", made.len());
    Ok(())
}

fn main() {}
