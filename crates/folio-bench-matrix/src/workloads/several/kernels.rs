//! Kernels of which each device computes a band: one needs its neighbours' borders, and one needs
//! everything. `folio-conformance` counts the bytes that they move.

use folio::prelude::*;

/// Heat in a plate whose outermost rows and columns stay as they are.
#[kernel]
pub fn heat(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    if c == 0 || c + 1 == x.shape()[1] {
        y[i] = x[i];
    } else {
        y[i] = 0.25 * (x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
    }
}

/// A step of bodies (position and mass) that attract each other.
#[kernel]
pub fn attract(i: Item, dt: f32, p: In<[f32; 4]>, v: InOut<[f32; 4]>, out: Out<[f32; 4]>) {
    let at = p[i];
    let mut sum_x = 0.0;
    let mut sum_y = 0.0;
    let mut sum_z = 0.0;
    for j in 0..p.len() {
        let other = p[j];
        let x = other[0] - at[0];
        let y = other[1] - at[1];
        let z = other[2] - at[2];
        let near = 1.0 / (x * x + y * y + z * z + 1e-4).sqrt();
        let pull = other[3] * near * near * near;
        sum_x += x * pull;
        sum_y += y * pull;
        sum_z += z * pull;
    }
    let before = v[i];
    let now = [before[0] + dt * sum_x, before[1] + dt * sum_y, before[2] + dt * sum_z, 0.0];
    v[i] = now;
    out[i] = [at[0] + dt * now[0], at[1] + dt * now[1], at[2] + dt * now[2], at[3]];
}
