//! Kernels as textbooks and demonstrations have them, written by the guide: each gives the same
//! bits on every device, interpreted, and on the host, and what is known of its results holds.
#![forbid(unsafe_code)]

use super::agree::*;
use crate::engine::rig::*;
use folio::prelude::*;
use folio::vector::{Vec2, Vec3};

/// What a kernel gives, the same on every device and in every form: `kernel[range](scalars; inputs;
/// outputs)`.
macro_rules! give {
    ($rig:ident, $kernel:path[$range:expr]($($value:expr),*; $($x:expr),*; $($y:ident),*)) => {{
        let args = vec![$(scalar($value),)* $($x.arg(),)* $($y.arg()),*];
        let failed = agree::<$kernel>($rig, &$range, args, |rt, q| {
            $(let mut $y = $y.buffer(rt)?;)*
            q.run($range, $kernel($($value,)* $(&$x.buffer(rt)?,)* $(&mut $y),*))?;
            Ok(vec![$(contents(&$y)?),*])
        })?;
        fine(failed)?;
        $(let mut $y = $y.buffer(&$rig.rt)?;)*
        $rig.rt.queue()?.run($range, $kernel($($value,)* $(&$x.buffer(&$rig.rt)?,)* $(&mut $y),*))?;
        ($($y.to_vec()?),*)
    }};
}

/// As `give`, where functions have other last bits on other devices: what each device gives is
/// looked at.
macro_rules! look {
    ($rig:ident, $kernel:path[$range:expr]($($value:expr),*; $($x:expr),*; $($y:ident),*), |$($given:ident),*| $seen:block) => {
        for device in $rig.rt.devices() {
            $(let mut $y = $y.buffer(&$rig.rt)?;)*
            let q = $rig.rt.queue_on(&device)?;
            q.run($range, $kernel($($value,)* $(&$x.buffer(&$rig.rt)?,)* $(&mut $y),*))?;
            $(let $given = $y.to_vec()?;)*
            $seen
        }
    };
}

/// Conway's game, on a torus.
#[kernel]
fn life(i: Item<2>, old: In<u8, 2>, new: Out<u8, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = old.shape();
    let mut around = 0;
    for dr in [rows - 1, 0, 1] {
        for dc in [columns - 1, 0, 1] {
            if dr != 0 || dc != 0 {
                around += old[((r + dr) % rows, (c + dc) % columns)];
            }
        }
    }
    new[i] = match (old[i], around) {
        (1, 2 | 3) | (0, 3) => 1,
        _ => 0,
    };
}

/// Semantics 12: a glider is itself after four steps, one cell further.
pub(super) fn gliders_glide(rig: &Rig) -> Outcome {
    let cells = [(1, 2), (2, 3), (3, 1), (3, 2), (3, 3)];
    let at = |shift: usize| {
        data([8, 9], move |k| {
            u8::from(cells.contains(&((k / 9).wrapping_sub(shift), (k % 9).wrapping_sub(shift))))
        })
    };
    let (mut x, y) = (at(0), data([8, 9], |_| 0u8));
    for _ in 0..4 {
        x.values = give!(rig, life[[8, 9]](; x; y));
    }
    ensure_eq!(x.values, at(1).values);
    Ok(())
}

/// Steps until a point of the Mandelbrot set's plane leaves.
#[device_fn]
fn steps(c: Vec2<f32>, most: u32) -> Option<u32> {
    let mut z = Vec2::new(0.0, 0.0);
    for n in 0..most {
        if z.dot(z) > 4.0 {
            return Some(n);
        }
        z = Vec2::new(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    }
    None
}

#[kernel]
fn mandelbrot(i: Item<2>, corner: Vec2<f32>, step: f32, most: u32, image: Out<[u8; 3], 2>) {
    let (r, c) = i.pos();
    let place = corner + Vec2::new(c as f32, r as f32) * step;
    image[i] = match steps(place, most) {
        Some(n) => [(n * 7) as u8, (n * 13) as u8, 255 - n as u8],
        None => [0; 3],
    };
}

/// A ray, and how far it goes before it meets a sphere that swings.
#[device_fn]
fn scene(p: Vec3<f32>, time: f32) -> f32 {
    let sphere = (p - Vec3::new(0.0, 0.5 * time, 4.0)).length() - 1.0;
    let floor = p.y + 1.0;
    sphere.min(floor)
}

#[device_fn]
fn normal(p: Vec3<f32>, f: impl Fn(Vec3<f32>) -> f32) -> Vec3<f32> {
    let e = 0.01;
    let (x, y, z) = (Vec3::new(e, 0.0, 0.0), Vec3::new(0.0, e, 0.0), Vec3::new(0.0, 0.0, e));
    Vec3::new(f(p + x) - f(p - x), f(p + y) - f(p - y), f(p + z) - f(p - z)).normalized()
}

#[kernel]
fn march(i: Item<2>, time: f32, image: Out<f32, 2>) {
    let (rows, columns) = image.shape();
    let (r, c) = i.pos();
    let (x, y) = (c as f32 / columns as f32 - 0.5, 0.5 - r as f32 / rows as f32);
    let ray = Vec3::new(x, y, 1.0).normalized();
    let (mut far, mut hit) = (0.0f32, false);
    for _ in 0..48 {
        let gap = scene(ray * far, time);
        if gap < 1e-3 {
            hit = true;
            break;
        }
        far += gap;
    }
    let light = Vec3::new(0.5, 0.7, -0.5).normalized();
    image[i] = if hit {
        let n = normal(ray * far, |p| scene(p, time));
        n.dot(light).max(0.1)
    } else {
        0.0
    };
}

/// Images have the same bits everywhere, and something in them.
pub(super) fn images_are_drawn(rig: &Rig) -> Outcome {
    let (corner, step) = (Vec2::new(-2.0f32, -1.0), 0.1f32);
    let image = data([20, 30], |_| [0u8; 3]);
    let drawn = give!(rig, mandelbrot[[20, 30]](corner, step, 50u32; ; image));
    // The origin is in the set, and the corner leaves at once.
    ensure!(drawn[10 * 30 + 20] == [0; 3] && drawn[0] != [0; 3], "{drawn:?}");
    let image = data([16, 16], |_| 0f32);
    let drawn = give!(rig, march[[16, 16]](0.25f32; ; image));
    ensure!(drawn[8 * 16 + 8] > 0.2 && drawn[0] == 0.0, "{drawn:?}");
    Ok(())
}

/// One step of Smith-Waterman: cells of an anti-diagonal, of which the two before are known.
#[kernel]
fn diagonal(i: Item, d: usize, a: In<u8>, b: In<u8>, one: In<i32>, two: In<i32>, new: Out<i32>) {
    let r = i.index();
    let inside = r > 0 && r < d && r <= a.len() && d - r <= b.len();
    if !inside {
        new[i] = 0;
        return;
    }
    let c = d - r;
    let same = if a[r - 1] == b[c - 1] { 3 } else { -3 };
    new[i] = (two[r - 1] + same).max(one[r - 1] - 2).max(one[r] - 2).max(0);
}

/// Distance of words by insertions, deletions and changes: a row for each item, in local arrays.
#[kernel]
fn edits<const N: usize>(i: Item, to: [u8; N], words: In<[u8; N]>, y: Out<u32>) {
    let word = words[i];
    let mut row = [0u32; N];
    for k in 0..N {
        row[k] = k as u32 + 1;
    }
    for r in 0..N {
        let (mut left, mut corner) = (r as u32 + 1, r as u32);
        for c in 0..N {
            let change = corner + (word[r] != to[c]) as u32;
            corner = row[c];
            left = change.min(left + 1).min(corner + 1);
            row[c] = left;
        }
    }
    y[i] = row[N - 1];
}

/// Semantics 12: alignments and distances of words.
pub(super) fn words_are_compared(rig: &Rig) -> Outcome {
    let bytes = |text: &'static str| data([text.len()], |k| text.as_bytes()[k]);
    let (a, b) = (bytes("TGTTACGG"), bytes("GGTTGACTA"));
    let zeros = data([9], |_| 0i32);
    let (mut one, mut two, mut best) = (data([9], |_| 0i32), data([9], |_| 0i32), 0);
    for d in 2..=17usize {
        let new = give!(rig, diagonal[[9]](d; a, b, one, two; zeros));
        best = best.max(new.iter().copied().max().unwrap_or(0));
        two.values = std::mem::replace(&mut one.values, new);
    }
    ensure_eq!(best, 13);
    let words = data([3], |k| *[b"kitten!", b"sitting", b"sitten!"][k]);
    let y = data([3], |_| 0u32);
    let found = give!(rig, edits::<7>[[3]](*b"sitting"; words; y));
    ensure_eq!(found, [3, 0, 2]);
    Ok(())
}

/// One stop more in all shortest ways (Floyd and Warshall).
#[kernel]
fn stop(i: Item<2>, k: usize, old: In<u32, 2>, new: Out<u32, 2>) {
    let (a, b) = i.pos();
    new[i] = old[i].min(old[(a, k)].saturating_add(old[(k, b)]));
}

/// Ranks of pages, whose links are rows of a matrix in compressed form.
#[kernel]
fn ranks(i: Item, begins: In<u32>, from: In<u32>, links: In<u32>, old: In<f32>, new: Out<f32>) {
    let k = i.index();
    let mut sum = 0.0;
    for at in begins[k] as usize..begins[k + 1] as usize {
        let page = from[at];
        sum += old[page] / links[page] as f32;
    }
    new[i] = 0.15 / new.len() as f32 + 0.85 * sum;
}

/// The best value of things up to each weight, with one thing more.
#[kernel]
fn knapsack(i: Item, weight: usize, value: u32, old: In<u32>, new: Out<u32>) {
    let room = i.index();
    new[i] = match room.checked_sub(weight) {
        Some(rest) => old[room].max(old[rest] + value),
        None => old[room],
    };
}

/// Semantics 12: ways, ranks and bags.
pub(super) fn graphs_are_walked(rig: &Rig) -> Outcome {
    const FAR: u32 = u32::MAX;
    let ways = [0, 3, FAR, 7, 8, 0, 2, FAR, 5, FAR, 0, 1, 2, FAR, FAR, 0];
    let (mut old, new) = (data([4, 4], |k| ways[k]), data([4, 4], |_| 0u32));
    for k in 0..4usize {
        old.values = give!(rig, stop[[4, 4]](k; old; new));
    }
    ensure_eq!(old.values, [0, 3, 5, 6, 5, 0, 2, 3, 3, 6, 0, 1, 2, 5, 7, 0]);

    // 0 -> 1, 2; 1 -> 2; 2 -> 0.
    let (begins, from) = (data([4], |k| [0u32, 1, 2, 4][k]), data([4], |k| [2u32, 0, 0, 1][k]));
    let links = data([3], |k| [2u32, 1, 1][k]);
    let (mut old, new) = (data([3], |_| 1f32 / 3.0), data([3], |_| 0f32));
    for _ in 0..40 {
        old.values = give!(rig, ranks[[3]](; begins, from, links, old; new));
    }
    let wanted = [0.387_79, 0.214_81, 0.397_4];
    ensure!(old.values.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-4), "{:?}", old.values);

    let (mut old, new) = (data([11], |_| 0u32), data([11], |_| 0u32));
    for (weight, value) in [(5usize, 10u32), (4, 40), (6, 30), (3, 50)] {
        old.values = give!(rig, knapsack[[11]](weight, value; old; new));
    }
    ensure_eq!(old.values[10], 90);
    Ok(())
}

/// The nearest of some centres, and how far it is.
#[kernel]
fn nearest(i: Item, points: In<Vec2<f32>>, centres: In<Vec2<f32>>, y: Out<u32>) {
    let (mut best, mut least) = (0, f32::MAX);
    for (k, centre) in centres.iter().enumerate() {
        let away = points[i] - centre;
        let distance = away.dot(away);
        if distance < least {
            (best, least) = (k as u32, distance);
        }
    }
    y[i] = best;
}

/// Each item has a model of its own, which it fits to the samples, one after the other.
#[kernel]
fn descend(i: Item, turns: u32, x: In<f32>, y: In<f32>, models: InOut<[f32; 2]>) {
    let rate = 0.02 * (i.index() + 1) as f32;
    let [mut a, mut b] = models[i];
    for _ in 0..turns {
        for k in 0..x.len() {
            let wrong = a * x[k] + b - y[k];
            a -= rate * wrong * x[k];
            b -= rate * wrong;
        }
    }
    models[i] = [a, b];
}

/// Semantics 12: clusters and lines are found.
pub(super) fn models_are_fitted(rig: &Rig) -> Outcome {
    let points =
        data([40], |k| Vec2::new((k % 2) as f32 * 5.0 + wave(k) / 100.0, wave(k + 3) / 100.0));
    let centres = data([2], |k| Vec2::new(1.0 + 3.0 * k as f32, 0.5));
    let y = data([40], |_| 9u32);
    let found = give!(rig, nearest[[40]](; points, centres; y));
    ensure!(found.iter().enumerate().all(|(k, of)| *of as usize == k % 2), "{found:?}");

    let x = data([16], |k| k as f32 / 16.0 - 0.5);
    let y = data([16], |k| 3.0 * (k as f32 / 16.0 - 0.5) - 1.0);
    let models = data([8], |_| [0f32; 2]);
    let fitted = give!(rig, descend[[8]](400u32; x, y; models));
    let is_near = |[a, b]: &[f32; 2]| (a - 3.0).abs() < 0.05 && (b + 1.0).abs() < 0.05;
    ensure!(fitted.iter().all(is_near), "{fitted:?}");
    Ok(())
}

/// The side of a cell that a line at a height crosses.
#[derive(Clone, Copy, PartialEq, DeviceType)]
#[repr(u32)]
enum Side {
    None,
    Top,
    Right,
    Bottom,
    Left,
}

#[device_fn]
fn sides(case: u32) -> (Side, Side) {
    match case {
        0 | 15 => (Side::None, Side::None),
        1 | 14 => (Side::Left, Side::Bottom),
        2 | 13 => (Side::Bottom, Side::Right),
        3 | 12 => (Side::Left, Side::Right),
        4 | 11 => (Side::Top, Side::Right),
        6 | 9 => (Side::Top, Side::Bottom),
        7 | 8 => (Side::Left, Side::Top),
        _ => (Side::Top, Side::Left),
    }
}

#[device_fn]
fn part(height: f32, from: f32, to: f32) -> f32 {
    if from == to { 0.5 } else { (height - from) / (to - from) }
}

/// Where a line crosses a side, of corners below left, below right, above right, above left.
#[device_fn]
fn crossing(side: Side, height: f32, [a, b, c, d]: [f32; 4]) -> [f32; 2] {
    match side {
        Side::None => [-1.0, -1.0],
        Side::Top => [part(height, d, c), 0.0],
        Side::Right => [1.0, part(height, c, b)],
        Side::Bottom => [part(height, a, b), 1.0],
        Side::Left => [0.0, part(height, d, a)],
    }
}

/// Where a line at a height crosses a cell.
#[kernel]
fn contour(i: Item<2>, height: f32, x: In<f32, 2>, lines: Out<[[f32; 2]; 2], 2>) {
    let (r, c) = i.pos();
    let corners = [x[(r + 1, c)], x[(r + 1, c + 1)], x[(r, c + 1)], x[(r, c)]];
    let mut case = 0;
    for (bit, corner) in corners.iter().enumerate() {
        if *corner > height {
            case |= 1 << bit;
        }
    }
    let (from, to) = sides(case);
    lines[i] = [crossing(from, height, corners), crossing(to, height, corners)];
}

/// A number that looks random, of a place.
#[device_fn]
fn hash(x: i32, y: i32) -> u32 {
    let mut h = x as u32 * 0x27d4_eb2d ^ y as u32 * 0x1656_67b1;
    h = (h ^ h >> 15) * 0x85eb_ca6b;
    h ^ h >> 13
}

/// How much a corner's slope gives a point.
#[device_fn]
fn slope([x, y]: [i32; 2], away: Vec2<f32>) -> f32 {
    match hash(x, y) & 3 {
        0 => away.x + away.y,
        1 => -away.x + away.y,
        2 => away.x - away.y,
        _ => -away.x - away.y,
    }
}

#[device_fn]
fn faded(t: f32) -> f32 {
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

/// Perlin's noise, in some octaves.
#[kernel]
fn perlin(i: Item<2>, octaves: u32, scale: f32, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let (mut p, mut sum, mut size) = (Vec2::new(c as f32, r as f32) * scale, 0.0, 0.5);
    for _ in 0..octaves {
        let (x0, y0) = (p.x.floor(), p.y.floor());
        let (fx, fy) = (p.x - x0, p.y - y0);
        let mut corners = [0.0; 4];
        for k in 0..4 {
            let (dx, dy) = (k & 1, k >> 1);
            let away = Vec2::new(fx - dx as f32, fy - dy as f32);
            corners[k as usize] = slope([x0 as i32 + dx, y0 as i32 + dy], away);
        }
        let [a, b, c, d] = corners;
        let (u, v) = (faded(fx), faded(fy));
        let (above, below) = (a + u * (b - a), c + u * (d - c));
        sum += size * (above + v * (below - above));
        size *= 0.5;
        p = p * 2.0;
    }
    y[i] = sum;
}

/// Semantics 12: lines and clouds of fields.
pub(super) fn fields_are_drawn(rig: &Rig) -> Outcome {
    let x = data([5, 5], |k| (k / 5) as f32);
    let lines = data([4, 4], |_| [[0f32; 2]; 2]);
    let found = give!(rig, contour[[4, 4]](1.25f32; x; lines));
    ensure_eq!(found[4], [[0.0, 0.25], [1.0, 0.25]]);
    ensure_eq!(found[0], [[-1.0; 2]; 2]);

    let y = data([12, 12], |_| 9f32);
    let noise = give!(rig, perlin[[12, 12]](3u32, 0.25f32; ; y));
    // Corners of the lattice are zero in each octave.
    ensure!(
        noise[0] == 0.0 && noise[4] == 0.0 && noise.iter().any(|n| n.abs() > 0.05),
        "{noise:?}"
    );
    Ok(())
}

/// The directions of a lattice of nine, and their weights.
const DIRECTIONS: [(i32, i32); 9] =
    [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)];
const WEIGHTS: [f32; 9] = [
    4.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
];

/// A step of a fluid on a lattice (Boltzmann): particles come from the neighbours, and collide.
#[kernel]
fn collide(i: Item<2>, relax: f32, old: In<[f32; 9], 2>, new: Out<[f32; 9], 2>) {
    let (r, c) = i.pos();
    let [rows, columns] = old.shape();
    let mut come = [0.0; 9];
    let (mut mass, mut x, mut y) = (0.0, 0.0, 0.0);
    for k in 0..9 {
        let (dr, dc) = DIRECTIONS[k];
        let from =
            ((r as i32 - dr).rem_euclid(rows as i32), (c as i32 - dc).rem_euclid(columns as i32));
        come[k] = old[(from.0 as usize, from.1 as usize)][k];
        mass += come[k];
        x += come[k] * dc as f32;
        y += come[k] * dr as f32;
    }
    let (x, y) = (x / mass, y / mass);
    let speed = x * x + y * y;
    for k in 0..9 {
        let (dr, dc) = DIRECTIONS[k];
        let along = dc as f32 * x + dr as f32 * y;
        let rest = WEIGHTS[k] * mass * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * speed);
        come[k] += relax * (rest - come[k]);
    }
    new[i] = come;
}

/// A particle of a fluid.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Particle {
    place: Vec2<f32>,
    speed: Vec2<f32>,
    density: f32,
    unused: f32,
}

/// Densities of a fluid of particles (SPH).
#[kernel]
fn densities(i: Item, reach: f32, of: In<Particle>, y: Out<f32>) {
    let mut sum = 0.0;
    for other in &of {
        let away = of[i].place - other.place;
        let left = reach * reach - away.dot(away);
        if left > 0.0 {
            sum += left * left * left;
        }
    }
    y[i] = sum;
}

/// Pressure, and a step in time.
#[kernel]
fn push(i: Item, reach: f32, time: f32, old: In<Particle>, new: Out<Particle>) {
    let own = old[i];
    let mut force = Vec2::new(0.0, -1.0);
    for k in 0..old.len() {
        if k == i.index() {
            continue;
        }
        let other = old[k];
        let away = own.place - other.place;
        let far = away.length();
        if far < reach && far > 0.0 {
            let pressure = (own.density + other.density - 2.0) / (2.0 * other.density);
            force += away * (pressure * (reach - far) / far);
        }
    }
    let speed = own.speed + force * time;
    new[i] = Particle { speed, place: own.place + speed * time, ..own };
}

/// Semantics 12: mass stays in fluids.
pub(super) fn fluids_keep_their_mass(rig: &Rig) -> Outcome {
    let old = data([6, 7], |k| WEIGHTS.map(|of| of * (1.0 + wave(k) / 1000.0)));
    let new = data([6, 7], |_| [0f32; 9]);
    let mass = |of: &[[f32; 9]]| of.iter().flatten().map(|part| f64::from(*part)).sum::<f64>();
    let before = mass(&old.values);
    let after = mass(&give!(rig, collide[[6, 7]](0.8f32; old; new)));
    let stays = (before - after).abs() < 1e-4 * before;
    ensure!(stays, "{before} {after}");

    let place = |k: usize| Vec2::new((k % 4) as f32 * 0.5, (k / 4) as f32 * 0.5);
    let particle =
        |k| Particle { place: place(k), speed: Vec2::splat(0.0), density: 1.5, unused: 0.0 };
    let old = data([16], particle);
    let y = data([16], |_| 0f32);
    let dense = give!(rig, densities[[16]](0.8f32; old; y));
    let inner_is_denser = dense[5] > dense[0];
    ensure!(inner_is_denser, "{dense:?}");
    let new = data([16], particle);
    let moved = give!(rig, push[[16]](0.8f32, 0.01f32; old; new));
    ensure!(moved[0].place.x < 0.0 && moved[3].place.x > 1.5, "{moved:?}");
    Ok(())
}

/// The integral of a function (Simpson).
#[device_fn]
fn integral(from: f64, to: f64, n: u32, f: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / (2 * n) as f64;
    let mut sum = f(from) + f(to);
    for k in 1..2 * n {
        sum += f(from + k as f64 * step) * if k % 2 == 1 { 4.0 } else { 2.0 };
    }
    sum * step / 3.0
}

/// Where a function is zero (Newton), if that is found.
#[device_fn]
fn root(mut x: f64, f: impl Fn(f64) -> (f64, f64)) -> Option<f64> {
    for _ in 0..50 {
        let (value, slope) = f(x);
        if value.abs() < 1e-12 {
            return Some(x);
        }
        x -= value / slope;
    }
    None
}

/// A step of Runge and Kutta.
#[device_fn]
fn advance(y: [f64; 2], h: f64, f: impl Fn([f64; 2]) -> [f64; 2]) -> [f64; 2] {
    let k1 = f(y);
    let k2 = f([y[0] + h / 2.0 * k1[0], y[1] + h / 2.0 * k1[1]]);
    let k3 = f([y[0] + h / 2.0 * k2[0], y[1] + h / 2.0 * k2[1]]);
    let k4 = f([y[0] + h * k3[0], y[1] + h * k3[1]]);
    let mut next = y;
    for k in 0..2 {
        next[k] += h / 6.0 * (k1[k] + 2.0 * k2[k] + 2.0 * k3[k] + k4[k]);
    }
    next
}

#[kernel]
fn recipes(i: Item, x: In<f64>, y: Out<[f64; 3]>) {
    let a = x[i];
    let area = integral(0.0, a, 20, |t| t * t * t - a * t);
    let third = root(1.0, |t| (t * t * t - a, 3.0 * t * t)).unwrap_or(-1.0);
    let mut swing = [a, 0.0];
    for _ in 0..100 {
        swing = advance(swing, 0.01, |y: [f64; 2]| [y[1], -y[0]]);
    }
    y[i] = [area, third, swing[0]];
}

/// Greatest common divisors, lengths of Collatz's sequences, and bits that differ.
#[kernel]
fn integers(i: Item, a: In<u64>, b: In<u64>, y: Out<[u64; 3]>) {
    let (mut x, mut z) = (a[i], b[i]);
    while z != 0 {
        (x, z) = (z, x % z);
    }
    let (mut n, mut length) = (a[i], 0);
    while n > 1 && length < 1000 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        length += 1;
    }
    y[i] = [x, length, (a[i] ^ b[i]).count_ones() as u64];
}

/// Semantics 12: recipes for numbers.
pub(super) fn numbers_are_found(rig: &Rig) -> Outcome {
    let x = data([5], |k| 1.0 + k as f64 / 2.0);
    let y = data([5], |_| [0f64; 3]);
    let found = give!(rig, recipes[[5]](; x; y));
    for (a, [area, third, swing]) in x.values.iter().zip(found) {
        let wanted = [a.powi(4) / 4.0 - a.powi(3) / 2.0, a.cbrt(), a * 1f64.cos()];
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        ensure!(near(area, wanted[0]) && near(third, wanted[1]) && near(swing, wanted[2]), "{a}");
    }
    let (a, b) = (data([4], |k| [27u64, 1, 360, 97][k]), data([4], |k| [18u64, 1, 84, 13][k]));
    let y = data([4], |_| [0u64; 3]);
    let found = give!(rig, integers[[4]](; a, b; y));
    ensure_eq!(found, [[9, 111, 2], [1, 0, 0], [12, 19, 5], [1, 118, 4]]);
    Ok(())
}

/// A cell's median of nine, by a network.
#[kernel]
fn median(i: Item<2>, x: In<u8, 2>, y: Out<u8, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = x.shape();
    let mut v = [0u8; 9];
    for k in 0..9 {
        v[k] = x[((r + k / 3).clamp(1, rows) - 1, (c + k % 3).clamp(1, columns) - 1)];
    }
    for turn in 0..9 {
        for k in (turn % 2..8).step_by(2) {
            (v[k], v[k + 1]) = (v[k].min(v[k + 1]), v[k].max(v[k + 1]));
        }
    }
    y[i] = v[4];
}

/// Edges of an image (Sobel), by a function of the view.
#[device_fn]
fn weighted(x: In<f32, 2>, r: usize, c: usize, weights: [[f32; 3]; 3]) -> f32 {
    let mut sum = 0.0;
    for (dr, row) in weights.iter().enumerate() {
        for (dc, weight) in row.iter().enumerate() {
            sum += weight * x[(r + dr - 1, c + dc - 1)];
        }
    }
    sum
}

const SOBEL: [[f32; 3]; 3] = [[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]];

#[kernel]
fn edges(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = x.shape();
    if r == 0 || c == 0 || r + 1 == rows || c + 1 == columns {
        y[i] = 0.0;
        return;
    }
    let mut turned = [[0.0f32; 3]; 3];
    for a in 0..3 {
        for b in 0..3 {
            turned[b][a] = SOBEL[a][b];
        }
    }
    y[i] = weighted(x, r, c, SOBEL).hypot(weighted(x, r, c, turned));
}

/// A point between pixels.
#[kernel]
fn zoomed(i: Item<2>, scale: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = x.shape();
    let at = |k: usize, most: usize| {
        let place = (k as f32 * scale).min((most - 1) as f32);
        (place as usize, place.fract())
    };
    let ((r0, fr), (c0, fc)) = (at(r, rows), at(c, columns));
    let (r1, c1) = ((r0 + 1).min(rows - 1), (c0 + 1).min(columns - 1));
    let mixed = |a: f32, b: f32, t: f32| a + (b - a) * t;
    y[i] = mixed(mixed(x[(r0, c0)], x[(r0, c1)], fc), mixed(x[(r1, c0)], x[(r1, c1)], fc), fr);
}

/// Semantics 12: images are filtered.
pub(super) fn images_are_filtered(rig: &Rig) -> Outcome {
    let x = data([6, 7], |k| (noise(k) % 251) as u8);
    let y = data([6, 7], |_| 0u8);
    let found = give!(rig, median[[6, 7]](; x; y));
    let mut around: Vec<_> = (0..9).map(|k| x.values[(1 + k / 3) * 7 + 2 + k % 3]).collect();
    around.sort_unstable();
    ensure_eq!(found[2 * 7 + 3], around[4]);
    let x = data([5, 5], |k| if k % 5 > 1 { 1f32 } else { 0.0 });
    let y = data([5, 5], |_| 9f32);
    let found = give!(rig, edges[[5, 5]](; x; y));
    ensure_eq!(found[10..15], [0.0, 4.0, 4.0, 0.0, 0.0]);
    let y = data([9, 9], |_| 9f32);
    let found = give!(rig, zoomed[[9, 9]](0.5f32; x; y));
    ensure_eq!(found[..9], [0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]);
    Ok(())
}

/// Rows become parts of one (softmax).
#[kernel]
fn softmax(i: Item, x: InOutRow<f32>) {
    let columns = x.shape()[1];
    let mut most = f32::MIN;
    for c in 0..columns {
        most = most.max(x[(i, c)]);
    }
    let mut sum = 0.0;
    for c in 0..columns {
        x[(i, c)] = (x[(i, c)] - most).exp();
        sum += x[(i, c)];
    }
    for c in 0..columns {
        x[(i, c)] /= sum;
    }
}

/// A system of equations of three diagonals for each row (Thomas).
#[kernel]
fn solved<const N: usize>(i: Item, diagonals: [f64; 3], right: In<[f64; N]>, y: Out<[f64; N]>) {
    let [below, own, above] = diagonals;
    let mut x = right[i];
    let mut upper = [0.0; N];
    upper[0] = above / own;
    x[0] /= own;
    for k in 1..N {
        let pivot = own - below * upper[k - 1];
        upper[k] = above / pivot;
        x[k] = (x[k] - below * x[k - 1]) / pivot;
    }
    for k in (0..N - 1).rev() {
        x[k] -= upper[k] * x[k + 1];
    }
    y[i] = x;
}

/// Where a number would be among sorted ones.
#[kernel]
fn places(i: Item, sorted: In<i32>, x: In<i32>, y: Out<u32>) {
    let (mut from, mut to) = (0, sorted.len());
    while from < to {
        let middle = (from + to) / 2;
        if sorted[middle] < x[i] { from = middle + 1 } else { to = middle }
    }
    y[i] = from as u32;
}

/// The price of an option to buy (Black and Scholes).
#[kernel]
fn prices(i: Item, rate: f32, spread: f32, asked: In<f32>, years: In<f32>, y: Out<f32>) {
    // The normal distribution, by Abramowitz and Stegun.
    let below = |d: f32| {
        let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
        let terms = [1.330_274_4, -1.821_256, 1.781_477_9, -0.356_563_78, 0.319_381_53];
        let mut sum = 0.0;
        for term in terms {
            sum = (sum + term) * k;
        }
        let tail = 0.398_942_3 * (-0.5 * d * d).exp() * sum;
        if d > 0.0 { 1.0 - tail } else { tail }
    };
    let (price, root) = (100.0f32, spread * years[i].sqrt());
    let d1 = ((price / asked[i]).ln() + (rate + 0.5 * spread * spread) * years[i]) / root;
    y[i] = price * below(d1) - asked[i] * (-rate * years[i]).exp() * below(d1 - root);
}

/// A turn in space.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Turn {
    axis: Vec3<f32>,
    real: f32,
}

#[device_fn]
impl Turn {
    fn about(axis: Vec3<f32>, angle: f32) -> Turn {
        let (sin, cos) = (0.5 * angle).sin_cos();
        Turn { axis: axis * sin, real: cos }
    }
    fn reversed(self) -> Turn {
        Turn { axis: -self.axis, ..self }
    }
    fn of(self, v: Vec3<f32>) -> Vec3<f32> {
        let twice = self.axis.cross(v) * 2.0;
        v + twice * self.real + self.axis.cross(twice)
    }
}

#[kernel]
fn turned(i: Item, axis: Vec3<f32>, x: In<Vec3<f32>>, y: Out<Vec3<f32>>, back: Out<Vec3<f32>>) {
    let turn = Turn::about(axis, i.index() as f32);
    let there = turn.of(x[i]);
    y[i] = there;
    back[i] = turn.reversed().of(there);
}

/// Semantics 12: rows, systems, prices and turns.
pub(super) fn tables_are_computed(rig: &Rig) -> Outcome {
    let right = data([3], |k| [k as f64, 1.0, -2.0, 4.0]);
    let y = data([3], |_| [0f64; 4]);
    let found = give!(rig, solved::<4>[[3]]([1.0f64, 4.0, 2.0]; right; y));
    for (x, right) in found.iter().zip(&right.values) {
        let back = [0, 1, 2, 3].map(|k: usize| {
            let side = |at: Option<usize>| at.and_then(|at| x.get(at)).copied().unwrap_or(0.0);
            side(k.checked_sub(1)) + 4.0 * x[k] + 2.0 * side(Some(k + 1))
        });
        ensure!(back.iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-12), "{x:?}");
    }
    let (sorted, x) = (data([6], |k| 3 * k as i32), data([5], |k| 4 * k as i32 - 1));
    let y = data([5], |_| 9u32);
    ensure_eq!(give!(rig, places[[5]](; sorted, x; y)), [0, 1, 3, 4, 5]);

    let x = data([3, 4], |k| k as f32 * 0.5);
    look!(rig, softmax[[3]](; ; x), |shares| {
        let is_whole = |row: &[f32]| (row.iter().sum::<f32>() - 1.0).abs() < 1e-6;
        ensure!(shares.chunks(4).all(is_whole), "{shares:?}");
    });
    let (asked, years) = (data([2], |k| [95f32, 110.0][k]), data([2], |_| 1f32));
    let y = data([2], |_| 0f32);
    look!(rig, prices[[2]](0.05f32, 0.2f32; asked, years; y), |found| {
        let near = |found: f32, wanted: f32| (found - wanted).abs() < 1e-2;
        ensure!(near(found[0], 13.346_5) && near(found[1], 6.040_1), "{found:?}");
    });

    let axis = Vec3::new(0.6f32, 0.0, 0.8);
    let x = data([4], |k| Vec3::new(k as f32, 1.0, -2.0));
    let (y, back) = (data([4], |_| axis), data([4], |_| axis));
    look!(rig, turned[[4]](axis; x; y, back), |there, here| {
        let near = |a: &Vec3<f32>, b: &Vec3<f32>| (*a - *b).length() < 1e-5;
        ensure!(x.values.iter().zip(&here).all(|(a, b)| near(a, b)), "{here:?}");
        let long = |a: &Vec3<f32>, b: &Vec3<f32>| (a.length() - b.length()).abs() < 1e-5;
        ensure!(x.values.iter().zip(&there).all(|(a, b)| long(a, b)), "{there:?}");
    });
    Ok(())
}
