//! One launch over several devices beside one device: `cargo bench -p folio-benches --bench
//! spread`. Arguments: the backend whose devices are taken (`cuda`), the side of the stencil's
//! plate on each device, and the bodies. Each row says whether the results have the same bits.

use folio::prelude::*;
use folio::sched::Split;
use folio::{DeviceRef, Queue, Runtime};
use std::time::Instant;

const STEPS: usize = 40;

#[kernel]
fn step(i: Item<2>, old: In<f32, 2>, new: Out<f32, 2>) {
    let (r, c) = i.pos();
    new[i] = 0.25 * (old[(r - 1, c)] + old[(r + 1, c)] + old[(r, c - 1)] + old[(r, c + 1)]);
}

#[kernel]
fn total(i: Item, x: In<f32>, sum: Reduce<f32, Add>) {
    sum.give(x[i]);
}

#[kernel]
fn pull(i: Item, at: In<[f32; 4]>, force: Out<[f32; 4]>) {
    let own = at[i];
    let mut sum = [0.0f32; 4];
    for k in 0..at.len() {
        let other = at[k];
        let (x, y, z) = (other[0] - own[0], other[1] - own[1], other[2] - own[2]);
        let square = x * x + y * y + z * z + 0.01;
        let weight = other[3] / (square * square.sqrt());
        sum[0] += x * weight;
        sum[1] += y * weight;
        sum[2] += z * weight;
    }
    force[i] = sum;
}

/// Seconds of a step and a digest of what was computed.
type Timed = (f64, u64);

/// A work on a queue of so many devices.
type Work<'w> = &'w dyn Fn(&Queue, usize) -> folio::Result<Timed>;

fn digest(values: impl IntoIterator<Item = u32>) -> u64 {
    values.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Heat in a plate of so many rows and columns.
fn stencil(rt: &Runtime, q: &Queue, [rows, columns]: [usize; 2]) -> folio::Result<Timed> {
    let start: Vec<f32> = (0..rows * columns).map(|k| (k % 1009) as f32).collect();
    let (mut old, mut new) =
        (rt.buffer_from((&start, [rows, columns]))?, rt.buffer_from((&start, [rows, columns]))?);
    let inner = old.interior(1);
    let mut run = |steps: usize| -> folio::Result<f64> {
        let began = Instant::now();
        for _ in 0..steps {
            q.spread(inner, step(&old, &mut new))?;
            std::mem::swap(&mut old, &mut new);
        }
        q.wait()?;
        Ok(began.elapsed().as_secs_f64() / steps as f64)
    };
    run(4)?;
    let time = run(STEPS)?;
    Ok((time, digest(old.to_vec()?.into_iter().step_by(997).map(f32::to_bits))))
}

fn sum(rt: &Runtime, q: &Queue, count: usize) -> folio::Result<Timed> {
    let mut x = rt.buffer::<f32, 1>([count])?;
    q.spread([count], ones(&mut x))?;
    let mut out = rt.buffer::<f32, 1>([1])?;
    let mut run = |turns: usize| -> folio::Result<f64> {
        let began = Instant::now();
        for _ in 0..turns {
            q.spread([count], total(&x, &mut out))?;
        }
        q.wait()?;
        Ok(began.elapsed().as_secs_f64() / turns as f64)
    };
    run(1)?;
    let time = run(3)?;
    Ok((time, digest(out.to_vec()?.into_iter().map(f32::to_bits))))
}

#[kernel]
fn ones(i: Item, x: Out<f32>) {
    x[i] = 1.0 / (1.0 + i.index() as f32);
}

fn bodies(rt: &Runtime, q: &Queue, count: usize) -> folio::Result<Timed> {
    let at: Vec<[f32; 4]> =
        (0..count).map(|k| [7, 11, 13, 17].map(|m| (k * m % 1009) as f32 * 1e-3)).collect();
    let (at, mut force) = (rt.buffer_from(&at)?, rt.buffer::<[f32; 4], 1>([count])?);
    let mut run = |turns: usize| -> folio::Result<f64> {
        let began = Instant::now();
        for _ in 0..turns {
            q.spread([count], pull(&at, &mut force))?;
        }
        q.wait()?;
        Ok(began.elapsed().as_secs_f64() / turns as f64)
    };
    run(1)?;
    let time = run(4)?;
    Ok((time, digest(force.to_vec()?.into_iter().flatten().map(f32::to_bits))))
}

fn main() -> folio::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let number = |nth: usize, default: usize| {
        words.get(nth).and_then(|word| word.parse().ok()).unwrap_or(default)
    };
    let rt = folio::runtime()?;
    let wanted = words.first().map_or("", String::as_str);
    let devices: Vec<DeviceRef> =
        rt.devices().into_iter().filter(|device| device.name().starts_with(wanted)).collect();
    let (side, count) = (number(1, 2048), number(2, 8192));
    println!("{} devices", devices.len());
    let works: [(&str, Work<'_>); 4] = [
        ("stencil, a plate for each device", &|q, n| stencil(&rt, q, [n * side + 2, side])),
        ("stencil, one plate", &|q, _| stencil(&rt, q, [side + 2, side])),
        ("sum", &|q, _| sum(&rt, q, side * side / 16)),
        ("bodies", &|q, _| bodies(&rt, q, count)),
    ];
    for (name, work) in works {
        let mut one: Option<Timed> = None;
        for n in (0..).map(|power| 1 << power).take_while(|n| *n <= devices.len()) {
            let q = rt.queue_over(&devices[..n], Split::rows())?;
            let (time, bits) = work(&q, n)?;
            let (first, of_one) = *one.get_or_insert((time, bits));
            let scaled = if name.ends_with("each device") { 1.0 } else { n as f64 };
            println!(
                "{name}: {n} devices {:.1} us, efficiency {:.2}{}",
                time * 1e6,
                first / time / scaled,
                if bits == of_one || scaled != n as f64 { "" } else { ", OTHER BITS" }
            );
        }
    }
    Ok(())
}
