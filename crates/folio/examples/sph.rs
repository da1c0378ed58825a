//! Smoothed particles: a column of water falls, and breaks at the wall. In each step particles are
//! sorted by the cell that they are in, so that those nearby are found in nine cells; three cells
//! of a row are one run of particles. Densities are compared with those that plain loops over all
//! pairs compute, and no particle leaves the box.
//!
//! `sph [PICTURE [PARTICLES IN A COLUMN]]`, with the feature `algorithms`.
#![forbid(unsafe_code)]

mod picture;

use folio::algorithms::{self, Direction};
use folio::prelude::*;
use std::error::Error;
use std::f32::consts::PI;

/// The box, in heights of the column.
const WIDTH: f32 = 2.0;
const HEIGHT: f32 = 1.5;
const COLUMN: f32 = 0.7;
/// How long it flows; gravity is 1.
const TIME: f32 = 2.2;
/// The speed of sound: some times that of the fall.
const SOUND: f32 = 7.0;
const VISCOSITY: f32 = 0.15;
/// How hard walls push what comes near.
const WALL: f32 = 400.0;
/// What a wall leaves of the speed towards it.
const BOUNCE: f32 = 0.3;
const PIXELS_PER_UNIT: usize = 128;
const COLOURS: [[u8; 3]; 5] =
    [[250, 250, 245], [20, 60, 130], [40, 130, 200], [130, 210, 230], [255, 120, 60]];

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Particle {
    at: [f32; 2],
    v: [f32; 2],
}

/// What does not change: how far a particle is felt, its mass, and the cells.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Water {
    reach: f32,
    mass: f32,
    dt: f32,
    rows: u32,
    columns: u32,
}

#[device_fn]
impl Water {
    fn row(self, y: f32) -> usize {
        ((y / self.reach) as usize).min(self.rows as usize - 1)
    }

    fn column(self, x: f32) -> usize {
        ((x / self.reach) as usize).min(self.columns as usize - 1)
    }

    /// The density that a particle brings to a place, by the square of how far that is.
    fn weight(self, square: f32) -> f32 {
        let h = self.reach;
        let left = (h * h - square).max(0.0) / (h * h);
        4.0 / (PI * h * h) * self.mass * left * left * left
    }

    /// How fast that changes with the distance, for forces.
    fn slope(self, far: f32) -> f32 {
        let h = self.reach;
        let left = (1.0 - far / h).max(0.0);
        -30.0 / (PI * h * h * h) * self.mass * left * left
    }

    /// The push of the two walls at the ends of a side.
    fn wall(self, at: f32, side: f32) -> f32 {
        let near = 0.3 * self.reach;
        WALL * ((near - at).max(0.0) - (at - side + near).max(0.0))
    }
}

#[kernel]
fn cells(i: Item, water: Water, particles: In<Particle>, cell: Out<u32>) {
    let [x, y] = particles[i].at;
    cell[i] = water.row(y) as u32 * water.columns + water.column(x) as u32;
}

/// The first particle of a cell, or of a later one.
#[kernel]
fn starts(i: Item, cell: In<u32>, first: Out<u32>) {
    let (mut low, mut high) = (0, cell.len());
    while low < high {
        let middle = (low + high) / 2;
        if (cell[middle] as usize) < i.index() {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    first[i] = low as u32;
}

#[kernel]
fn densities(i: Item, water: Water, first: In<u32>, particles: In<Particle>, density: Out<f32>) {
    let [x, y] = particles[i].at;
    let (row, column, columns) = (water.row(y), water.column(x), water.columns as usize);
    let mut sum = 0.0;
    for r in row.max(1) - 1..(row + 2).min(water.rows as usize) {
        let from = first[r * columns + column.max(1) - 1];
        for k in from..first[r * columns + (column + 2).min(columns)] {
            let [dx, dy] = [particles[k].at[0] - x, particles[k].at[1] - y];
            sum += water.weight(dx * dx + dy * dy);
        }
    }
    density[i] = sum;
}

/// Pressure, viscosity and gravity; then a step, which ends at the walls.
#[kernel]
fn flow(
    i: Item,
    water: Water,
    first: In<u32>,
    particles: In<Particle>,
    density: In<f32>,
    next: Out<Particle>,
) {
    let ([x, y], [vx, vy]) = (particles[i].at, particles[i].v);
    let (row, column, columns) = (water.row(y), water.column(x), water.columns as usize);
    let own = (density[i] - 1.0).max(0.0) / (density[i] * density[i]);
    let (mut ax, mut ay) = (water.wall(x, WIDTH), 1.0 + water.wall(y, HEIGHT));
    for r in row.max(1) - 1..(row + 2).min(water.rows as usize) {
        let from = first[r * columns + column.max(1) - 1];
        for k in from..first[r * columns + (column + 2).min(columns)] {
            let (other, of) = (particles[k], density[k]);
            let (dx, dy) = (other.at[0] - x, other.at[1] - y);
            let square = dx * dx + dy * dy;
            if square > 0.0 && square < water.reach * water.reach {
                let far = square.sqrt();
                let pressure = SOUND * SOUND * (own + (of - 1.0).max(0.0) / (of * of));
                let nearer = (dx * (other.v[0] - vx) + dy * (other.v[1] - vy)).min(0.0);
                let soft = square + 0.01 * water.reach * water.reach;
                let drag = -VISCOSITY * SOUND * water.reach * nearer / soft / (density[i] + of);
                let push = (pressure + drag) * water.slope(far) / far;
                ax += push * dx;
                ay += push * dy;
            }
        }
    }
    let (mut vx, mut vy) = (vx + water.dt * ax, vy + water.dt * ay);
    let (to_x, to_y) = (x + water.dt * vx, y + water.dt * vy);
    if to_x < 0.0 || to_x > WIDTH {
        vx = -BOUNCE * vx;
    }
    if to_y < 0.0 || to_y > HEIGHT {
        vy = -BOUNCE * vy;
    }
    next[i] = Particle { at: [to_x.clamp(0.0, WIDTH), to_y.clamp(0.0, HEIGHT)], v: [vx, vy] };
}

/// A dot for each particle: the brighter, the faster. Row 0 is at the top, and gravity goes down.
fn picture_of(particles: &[Particle]) -> Vec<f32> {
    let [rows, columns] = [HEIGHT, WIDTH].map(|side| (side * PIXELS_PER_UNIT as f32) as usize);
    let mut pixels = vec![0.0f32; rows * columns];
    for particle in particles {
        let [x, y] = particle.at.map(|at| (at * PIXELS_PER_UNIT as f32) as usize);
        let speed = particle.v[0].hypot(particle.v[1]);
        for (dr, dc) in (0..9).map(|k| (k / 3, k % 3)) {
            let (row, column) = ((y + dr).clamp(1, rows) - 1, (x + dc).clamp(1, columns) - 1);
            pixels[row * columns + column] = (0.6 + speed).min(2.4);
        }
    }
    pixels
}

fn main() -> Result<(), Box<dyn Error>> {
    let high = picture::size_or(32)?.max(8);
    let wide = (COLUMN * high as f32) as usize;
    let apart = 1.0 / high as f32;
    let reach = 2.4 * apart;
    let water = Water {
        reach,
        mass: apart * apart,
        dt: 0.12 * reach / SOUND,
        rows: (HEIGHT / reach).ceil() as u32,
        columns: (WIDTH / reach).ceil() as u32,
    };
    let place = |k: usize| {
        let [column, row] = [k % wide, k / wide].map(|k| (k as f32 + 0.5) * apart);
        Particle { at: [column, HEIGHT - row], v: [0.0, 0.0] }
    };
    let n = wide * high;
    let cell_count = (water.rows * water.columns) as usize;

    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let mut particles = rt.buffer_from((0..n).map(place).collect::<Vec<_>>())?;
    let mut next = rt.buffer(n)?;
    let (mut cell, mut density) = (rt.buffer(n)?, rt.buffer(n)?);
    let mut first = rt.buffer(cell_count + 1)?;
    let steps = (TIME / water.dt) as usize;
    for nth in 0..=steps {
        q.run(n, cells(water, &particles, &mut cell))?;
        algorithms::sort_by_key(&q, Direction::Ascending, &mut cell, &mut particles)?;
        q.run(cell_count + 1, starts(&cell, &mut first))?;
        q.run(n, densities(water, &first, &particles, &mut density))?;
        if nth < steps {
            q.run(n, flow(water, &first, &particles, &density, &mut next))?;
            std::mem::swap(&mut particles, &mut next);
        }
    }

    let (particles, density) = (particles.read()?, density.read()?);
    for (p, density) in particles.iter().zip(density.iter()) {
        assert!((0.0..=WIDTH).contains(&p.at[0]) && (0.0..=HEIGHT).contains(&p.at[1]));
        let square = |o: &Particle| (o.at[0] - p.at[0]).powi(2) + (o.at[1] - p.at[1]).powi(2);
        let wanted: f32 = particles.iter().map(|other| water.weight(square(other))).sum();
        assert!((density - wanted).abs() < 1e-4 * wanted, "{density}, and not {wanted}");
    }
    let densest = density.iter().fold(0.0f32, |most, of| most.max(*of));
    println!("{n} particles, {steps} steps; the density is {densest:.2} at most");
    assert!(densest < 1.5);
    picture::save(&picture_of(&particles), WIDTH as usize * PIXELS_PER_UNIT, [0.0, 2.4], &COLOURS)
}
