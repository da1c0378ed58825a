//! KRN-01, KRN-06: a wrong argument is told what its kind of parameter takes.
use folio::prelude::*;

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

#[kernel]
fn doubles(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i] * 2.0;
}

#[kernel]
fn counts(i: Item, x: In<u32>, n: Atomic<u32>, sum: Reduce<u32, Add>) {
    n.add(x[i], 1);
    sum.give(x[i]);
}

#[kernel]
fn rows(i: Item, y: OutRow<f32>, z: OutChunk<f32, 4>) {
    for k in 0..y.shape()[1] {
        y[(i, k)] = 0.0;
    }
    z[i] = [0.0; 4];
}

#[kernel(group = 64)]
fn groups(g: Group, x: In<f32>, tile: Local<f32, 64>, y: OutGroup<f32>) {
    g.each(|i| tile[i] = x[i]);
    y[g] = tile[0];
}

#[kernel]
fn scatters(i: Item, at: In<u32>, y: Racy<f32>) {
    y[at[i]] = 1.0;
}

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let (x, n) = (rt.buffer::<f32, 1>(8)?, rt.buffer::<u32, 1>(8)?);
    let (mut y, mut v) = (rt.buffer::<f32, 1>(8)?, vec![1.0f32; 8]);
    let shared = rt.buffer::<f32, 1>(8)?.into_shared();
    // By value, by the other kind of reference, of the host.
    let _ = saxpy(2.0, x, &mut y);
    let _ = saxpy(2.0, &x, &y);
    let _ = saxpy(2.0, &v, &shared);
    let _ = doubles(&x, &mut v);
    let _ = doubles(&[1.0; 8], shared);
    // Scalars.
    let _ = saxpy(2, &x, &mut y);
    let _ = saxpy(&x, &mut y);
    // The other kinds.
    let _ = counts(&n, &n, &mut 0);
    let _ = rows(&mut y, &mut y);
    let _ = groups(&x, &y);
    let _ = scatters(&n, &mut y);
    // On the host.
    saxpy::host(8, 2.0, &v, &v)?;
    saxpy::host(8, 2.0, &n, &mut v)?;
    Ok(())
}
