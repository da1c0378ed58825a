//! Heat in a plate over the devices of many processes, with feature `mpi`:
//! `mpirun -n 4 target/release/examples/many_machines`. Without a launcher it is the same program
//! on one rank.
//!
//! Arguments: elements of a side, steps, and `gpu` (the usual, if there are some) or `cpu`.
#![forbid(unsafe_code)]

use folio::hal::DeviceKind;
use folio::mpi::World;
use folio::prelude::*;
use folio::sched::Split;
use std::error::Error;
use std::time::Instant;

/// A step for each item that is no border.
#[kernel]
fn step(i: Item<2>, old: In<f32, 2>, new: Out<f32, 2>) {
    let (r, c) = i.pos();
    new[i] = 0.25 * (old[(r - 1, c)] + old[(r + 1, c)] + old[(r, c - 1)] + old[(r, c + 1)]);
}

/// Hot at the top, cold elsewhere.
#[kernel]
fn start(i: Item<2>, plate: Out<f32, 2>) {
    let (r, _) = i.pos();
    plate[i] = if r == 0 { 100.0 } else { 0.0 };
}

#[kernel]
fn total(i: Item<2>, plate: In<f32, 2>, sum: Reduce<f32, Add>) {
    sum.give(plate[i]);
}

/// The same steps, by hand.
fn by_hand(n: usize, steps: usize) -> Vec<f32> {
    let mut old = vec![0.0; n * n];
    old[..n].fill(100.0);
    let mut new = old.clone();
    for _ in 0..steps {
        for r in 1..n - 1 {
            for c in 1..n - 1 {
                let at = r * n + c;
                new[at] = 0.25 * (old[at - n] + old[at + n] + old[at - 1] + old[at + 1]);
            }
        }
        std::mem::swap(&mut old, &mut new);
    }
    old
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual| words.get(at).map_or(Ok(usual), |word| word.parse());
    let (n, steps): (usize, usize) = (number(0, 512)?, number(1, 50)?);

    let world = World::join()?;
    let rt = folio::builder()?.layer(|backend| world.over(backend)).build()?;
    let all = rt.devices();
    let of = |kind: &str| -> Vec<_> {
        let is_of = |device: &&folio::DeviceRef| match kind {
            "gpu" => device.info().kind == DeviceKind::Gpu,
            _ => device.name().starts_with("cpu:"),
        };
        all.iter().filter(is_of).cloned().collect()
    };
    let wanted = words.get(2).map_or("gpu", String::as_str);
    let devices = match of(wanted) {
        none if none.is_empty() => of("cpu"),
        some => some,
    };
    let q = rt.queue_over(&devices, Split::rows())?;

    let (mut old, mut new) = (rt.buffer::<f32, 2>([n, n])?, rt.buffer::<f32, 2>([n, n])?);
    q.spread([n, n], start(&mut old))?;
    q.spread([n, n], start(&mut new))?;
    let mut sum = rt.buffer::<f32, 1>(1)?;
    q.spread([n, n], total(&old, &mut sum))?;
    let before = sum.to_vec()?[0];

    let begun = Instant::now();
    for _ in 0..steps {
        q.spread(old.interior(1), step(&old, &mut new))?;
        std::mem::swap(&mut old, &mut new);
    }
    // A value of all of it, which each rank has: the end of the last step is in it.
    q.spread([n, n], total(&old, &mut sum))?;
    let after = sum.to_vec()?[0];
    let each = begun.elapsed().as_secs_f64() / steps as f64;

    let (me, ranks) = (world.me(), world.ranks());
    let (messages, bytes) =
        world.sent().iter().fold((0, 0), |(m, b), (n, bytes)| (m + n, b + bytes));
    println!(
        "rank {me} of {ranks}: {} devices, {:.1} us a step; {before} became {after}; {messages} messages, {bytes} bytes sent",
        devices.len(),
        each * 1e6
    );
    if n <= 2048 && steps <= 200 && old.to_vec()? != by_hand(n, steps) {
        return Err("the result differs from the one computed by hand".into());
    }
    drop((old, new, sum, q, devices, all, rt));
    world.leave();
    Ok(())
}
