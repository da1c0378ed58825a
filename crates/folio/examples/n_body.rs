//! Two galaxies that meet: each body is drawn by each other one. The picture is a long exposure.
//! Energy and momentum at the end are those of the start, up to the steps' own errors.
//!
//! `n_body [PICTURE [BODIES]]`
#![forbid(unsafe_code)]

mod picture;

use folio::prelude::*;
use std::error::Error;

const STEPS: usize = 300;
const DT: f32 = 0.0075;
/// Bodies closer than that draw each other less.
const SOFT: f32 = 0.1;
/// Masses of a galaxy's core, and of all of its other bodies.
const CORE: f32 = 1.0;
const DISC: f32 = 0.1;
const PLATE: [usize; 2] = [192, 256];
const PIXELS_PER_UNIT: f32 = 52.0;
const COLOURS: [[u8; 3]; 5] =
    [[2, 2, 12], [40, 20, 90], [170, 60, 120], [255, 190, 120], [255, 255, 245]];

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Body {
    at: [f32; 3],
    mass: f32,
}

#[kernel]
fn kick(i: Item, dt: f32, bodies: In<Body>, v: InOut<[f32; 3]>) {
    let [x, y, z] = bodies[i].at;
    let (mut ax, mut ay, mut az) = (0.0, 0.0, 0.0);
    for k in 0..bodies.len() {
        let other = bodies[k];
        let (dx, dy, dz) = (other.at[0] - x, other.at[1] - y, other.at[2] - z);
        let square = dx * dx + dy * dy + dz * dz + SOFT * SOFT;
        let pull = other.mass / (square * square.sqrt());
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
    let [vx, vy, vz] = v[i];
    v[i] = [vx + dt * ax, vy + dt * ay, vz + dt * az];
}

#[kernel]
fn drift(i: Item, dt: f32, v: In<[f32; 3]>, bodies: InOut<Body>) {
    let ([x, y, z], [vx, vy, vz]) = (bodies[i].at, v[i]);
    bodies[i].at = [x + dt * vx, y + dt * vy, z + dt * vz];
}

/// Each body lights the pixel that it is at.
#[kernel]
fn expose(i: Item, bodies: In<Body>, plate: Atomic<u32, 2>) {
    let [rows, columns] = plate.shape();
    let [x, y, _] = bodies[i].at;
    let row = (y * PIXELS_PER_UNIT + rows as f32 / 2.0).floor() as i32;
    let column = (x * PIXELS_PER_UNIT + columns as f32 / 2.0).floor() as i32;
    if row >= 0 && row < rows as i32 && column >= 0 && column < columns as i32 {
        plate.add((row as usize, column as usize), 1);
    }
}

/// A galaxy: a core, and bodies that go round it.
fn galaxy(bodies: usize, at: [f32; 3], v: [f32; 3], tilt: f32) -> Vec<(Body, [f32; 3])> {
    let mut all = vec![(Body { at, mass: CORE }, v)];
    for k in 1..bodies {
        let part = k as f32 / bodies as f32;
        let (radius, angle) = (0.15 + 0.55 * part.sqrt(), 2.399_963 * k as f32);
        let square = radius * radius + SOFT * SOFT;
        let speed = radius * ((CORE + DISC * part) / (square * square.sqrt())).sqrt();
        let ((sin, cos), (up, flat)) = (angle.sin_cos(), tilt.sin_cos());
        let turned = |x: f32, y: f32, of: [f32; 3]| [of[0] + x, of[1] + y * flat, of[2] + y * up];
        let body = Body { at: turned(radius * cos, radius * sin, at), mass: DISC / bodies as f32 };
        all.push((body, turned(-speed * sin, speed * cos, v)));
    }
    all
}

/// Energy, momentum in each direction, and the sum of the momenta's sizes.
fn conserved(bodies: &[Body], v: &[[f32; 3]]) -> (f64, [f64; 3], f64) {
    let (mut energy, mut momentum, mut sizes) = (0.0, [0.0; 3], 0.0);
    for (k, (body, v)) in bodies.iter().zip(v).enumerate() {
        let mass = f64::from(body.mass);
        let v = v.map(f64::from);
        let square: f64 = v.iter().map(|v| v * v).sum();
        energy += 0.5 * mass * square;
        sizes += mass * square.sqrt();
        momentum = [0, 1, 2].map(|d| momentum[d] + mass * v[d]);
        for other in &bodies[..k] {
            let far = [0, 1, 2].map(|d| f64::from(body.at[d]) - f64::from(other.at[d]));
            let square = far.iter().map(|d| d * d).sum::<f64>() + f64::from(SOFT * SOFT);
            energy -= mass * f64::from(other.mass) / square.sqrt();
        }
    }
    (energy, momentum, sizes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let n = picture::size_or(768)?.max(2);
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let left = galaxy(n / 2, [-1.1, -0.45, 0.0], [0.55, 0.12, 0.0], 0.5);
    let right = galaxy(n - n / 2, [1.1, 0.45, 0.1], [-0.55, -0.12, 0.0], -0.9);
    let (start, speeds): (Vec<_>, Vec<_>) = left.into_iter().chain(right).unzip();
    let mut bodies = rt.buffer_from(&start)?;
    let mut v = rt.buffer_from(&speeds)?;
    let mut plate = rt.buffer::<u32, 2>(PLATE)?;
    for _ in 0..STEPS {
        q.batch(|q| {
            q.run(n, kick(DT / 2.0, &bodies, &mut v))?;
            q.run(n, drift(DT, &v, &mut bodies))?;
            q.run(n, kick(DT / 2.0, &bodies, &mut v))?;
            q.run(n, expose(&bodies, &mut plate))
        })?;
    }

    let (before, at_start, _) = conserved(&start, &speeds);
    let (energy, momentum, sizes) = conserved(&bodies.read()?, &v.read()?);
    println!("energy {before:.4} before, {energy:.4} after");
    assert!((energy - before).abs() < 0.01 * before.abs());
    for (now, then) in momentum.iter().zip(at_start) {
        assert!((now - then).abs() < 1e-4 * sizes, "{momentum:?}, and not {at_start:?}");
    }
    let shades: Vec<f32> = plate.read()?.iter().map(|count| (1.0 + *count as f32).ln()).collect();
    picture::save(&shades, PLATE[1], [0.0, 4.5], &COLOURS)
}
