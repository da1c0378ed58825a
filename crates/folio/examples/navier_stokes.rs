//! Navier and Stokes: a fluid that cannot be compressed, in layers that pass each other, which roll
//! up. A dye shows it. In each step the fluid carries its own velocity and the dye along, and then
//! a pressure takes away what would flow out of any cell.
//!
//! The program checks that next to nothing flows out of any cell, that energy is only lost, and
//! that the dye is nowhere thicker than at the start.
//!
//! `navier_stokes [PICTURE [STEPS]]`
#![forbid(unsafe_code)]

mod picture;

use folio::prelude::*;
use std::error::Error;
use std::f32::consts::TAU;

const ROWS: usize = 144;
const COLUMNS: usize = 192;
const DT: f32 = 1.5;
const VISCOSITY: f32 = 0.004;
/// Steps of Jacobi's method for the pressure: an even number.
const RELAXATIONS: usize = 30;
const COLOURS: [[u8; 3]; 5] =
    [[15, 32, 80], [30, 110, 160], [240, 240, 230], [230, 120, 50], [110, 20, 30]];

/// The place after one, in a circle.
#[device_fn]
fn after(k: usize, n: usize) -> usize {
    if k + 1 == n { 0 } else { k + 1 }
}

/// The place before one, in a circle.
#[device_fn]
fn before(k: usize, n: usize) -> usize {
    if k == 0 { n - 1 } else { k - 1 }
}

/// The sum of the four values around.
#[device_fn]
fn around(x: In<f32, 2>, r: usize, c: usize) -> f32 {
    let [rows, columns] = x.shape();
    x[(before(r, rows), c)]
        + x[(after(r, rows), c)]
        + x[(r, before(c, columns))]
        + x[(r, after(c, columns))]
}

/// A field's value between its places. Borders meet.
#[device_fn]
fn between(x: In<f32, 2>, r: f32, c: f32) -> f32 {
    let [rows, columns] = x.shape();
    let (fr, fc) = (r - r.floor(), c - c.floor());
    let r0 = (r.floor() as i32 + rows as i32) as usize % rows;
    let c0 = (c.floor() as i32 + columns as i32) as usize % columns;
    let (r1, c1) = (after(r0, rows), after(c0, columns));
    let low = x[(r0, c0)] + fc * (x[(r0, c1)] - x[(r0, c0)]);
    let high = x[(r1, c0)] + fc * (x[(r1, c1)] - x[(r1, c0)]);
    low + fr * (high - low)
}

/// Carries a field along, whose values are so far from the corners of cells, and spreads it.
#[kernel]
fn carry(
    i: Item<2>,
    dr: f32,
    dc: f32,
    viscosity: f32,
    u: In<f32, 2>,
    v: In<f32, 2>,
    x: In<f32, 2>,
    carried: Out<f32, 2>,
) {
    let (row, column) = i.pos();
    let (r, c) = (row as f32 + dr, column as f32 + dc);
    // `u` is in the middle of a cell's left side, `v` in that of its upper side.
    let (right, down) = (between(u, r - 0.5, c), between(v, r, c - 0.5));
    let spread = viscosity * (around(x, row, column) - 4.0 * x[i]);
    carried[i] = between(x, r - DT * down - dr, c - DT * right - dc) + DT * spread;
}

/// What flows out of a cell.
#[kernel]
fn outflow(i: Item<2>, u: In<f32, 2>, v: In<f32, 2>, out: Out<f32, 2>) {
    let (r, c) = i.pos();
    let [rows, columns] = u.shape();
    out[i] = u[(r, after(c, columns))] - u[i] + v[(after(r, rows), c)] - v[i];
}

#[kernel]
fn relax(i: Item<2>, out: In<f32, 2>, pressure: In<f32, 2>, better: Out<f32, 2>) {
    let (r, c) = i.pos();
    better[i] = 0.25 * (around(pressure, r, c) - out[i]);
}

#[kernel]
fn push(i: Item<2>, pressure: In<f32, 2>, u: InOut<f32, 2>, v: InOut<f32, 2>) {
    let (r, c) = i.pos();
    let [rows, columns] = u.shape();
    u[i] -= pressure[i] - pressure[(r, before(c, columns))];
    v[i] -= pressure[i] - pressure[(before(r, rows), c)];
}

#[kernel]
fn squares(i: Item<2>, u: In<f32, 2>, v: In<f32, 2>, energy: Reduce<f32, Add>) {
    energy.give(u[i] * u[i] + v[i] * v[i]);
}

#[kernel]
fn most(i: Item<2>, x: In<f32, 2>, most: Reduce<f32, Max>) {
    most.give(x[i].abs());
}

struct Fluid {
    u: Buffer<f32, 2>,
    v: Buffer<f32, 2>,
    dye: Buffer<f32, 2>,
    /// The values of the next step.
    next: [Buffer<f32, 2>; 3],
    out: Buffer<f32, 2>,
    pressure: [Buffer<f32, 2>; 2],
}

impl Fluid {
    /// A layer with dye goes to the right, and all else to the left.
    fn new(rt: &Runtime) -> folio::Result<Fluid> {
        let field = |of: &dyn Fn(f32, f32) -> f32| {
            let at = |k: usize| of((k / COLUMNS) as f32, (k % COLUMNS) as f32);
            let values: Vec<f32> = (0..ROWS * COLUMNS).map(at).collect();
            rt.buffer_from((values, [ROWS, COLUMNS]))
        };
        let layer = |r: f32| {
            let edge = |at: f32| ((r + 0.5 - at * ROWS as f32) / 3.0).tanh();
            0.5 * (edge(0.3) - edge(0.7))
        };
        let wave = |r: f32, c: f32| {
            let turn = TAU * c / COLUMNS as f32;
            0.04 * ((3.0 * turn).sin() + (2.0 * turn + 0.05 * r).cos())
        };
        let new = || rt.buffer([ROWS, COLUMNS]);
        Ok(Fluid {
            u: field(&|r, _| 2.0 * layer(r) - 1.0)?,
            v: field(&wave)?,
            dye: field(&|r, _| layer(r))?,
            next: [new()?, new()?, new()?],
            out: new()?,
            pressure: [new()?, new()?],
        })
    }

    fn step(&mut self, q: &Queue) -> folio::Result<()> {
        let Fluid { u, v, dye, next: [next_u, next_v, next_dye], .. } = self;
        let all = [ROWS, COLUMNS];
        q.run(all, carry(0.5, 0.0, VISCOSITY, &*u, &*v, &*u, &mut *next_u))?;
        q.run(all, carry(0.0, 0.5, VISCOSITY, &*u, &*v, &*v, &mut *next_v))?;
        q.run(all, carry(0.5, 0.5, 0.0, &*u, &*v, &*dye, &mut *next_dye))?;
        std::mem::swap(u, next_u);
        std::mem::swap(v, next_v);
        std::mem::swap(dye, next_dye);
        self.keep_volume(q)
    }

    fn keep_volume(&mut self, q: &Queue) -> folio::Result<()> {
        let Fluid { u, v, out, pressure: [pressure, better], .. } = self;
        let all = [ROWS, COLUMNS];
        q.run(all, outflow(&*u, &*v, &mut *out))?;
        for _ in 0..RELAXATIONS {
            q.run(all, relax(&*out, &*pressure, &mut *better))?;
            std::mem::swap(pressure, better);
        }
        q.run(all, push(&*pressure, u, v))?;
        Ok(())
    }

    /// Energy, and the most that flows out of a cell.
    fn measured(&mut self, q: &Queue) -> folio::Result<(f32, f32)> {
        let rt = q.runtime();
        let (mut energy, mut left) = (rt.buffer::<f32, 1>(1)?, rt.buffer::<f32, 1>(1)?);
        let all = [ROWS, COLUMNS];
        q.run(all, squares(&self.u, &self.v, &mut energy))?;
        q.run(all, outflow(&self.u, &self.v, &mut self.out))?;
        q.run(all, most(&self.out, &mut left))?;
        Ok((energy.get(0)?, left.get(0)?))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let steps = picture::size_or(150)?;
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let mut fluid = Fluid::new(&rt)?;
    for _ in 0..20 {
        fluid.keep_volume(&q)?;
    }
    let (mut energy, out) = fluid.measured(&q)?;
    println!("at the start: energy {energy:.1}, {out:.5} flows out");
    for nth in 1..=steps {
        q.batch(|q| fluid.step(q))?;
        if nth % 50 == 0 || nth == steps {
            let (now, out) = fluid.measured(&q)?;
            println!("step {nth}: energy {now:.1}, {out:.5} flows out");
            assert!(now > 0.0 && now < energy && out < 0.02);
            energy = now;
        }
    }
    let dye = fluid.dye.to_vec()?;
    assert!(dye.iter().all(|dye| (0.0..=1.0).contains(dye)));
    picture::save(&dye, COLUMNS, [0.0, 1.0], &COLOURS)
}
