//! A program over the devices of all ranks of a launcher's world.

use folio::prelude::*;
use folio::sched::Split;
use folio_cpu::CpuBackend;
use folio_mpi::World;

const N: usize = 60;

#[kernel]
fn start(i: Item<2>, u: Out<f32, 2>) {
    let (r, c) = i.pos();
    u[i] = (r * 31 + c * 7) as f32 / 64.0;
}

#[kernel]
fn step(i: Item<2>, u: In<f32, 2>, v: Out<f32, 2>) {
    let (r, c) = i.pos();
    v[i] = 0.25 * (u[(r - 1, c)] + u[(r + 1, c)] + u[(r, c - 1)] + u[(r, c + 1)]);
}

#[kernel]
fn total(i: Item<2>, u: In<f32, 2>, sum: Reduce<f32, Add>) {
    sum.give(u[i]);
}

/// Steps of a stencil, and the sum of all.
fn steps(rt: &Runtime) -> folio::Result<(Vec<f32>, f32)> {
    let q = rt.queue_over(&rt.devices(), Split::rows())?;
    let (mut u, mut v) = (rt.buffer::<f32, 2>([N, N])?, rt.buffer::<f32, 2>([N, N])?);
    q.spread([N, N], start(&mut u))?;
    q.spread([N, N], start(&mut v))?;
    for _ in 0..10 {
        q.spread(u.interior(1), step(&u, &mut v))?;
        std::mem::swap(&mut u, &mut v);
    }
    let mut sum = rt.buffer::<f32, 1>(1)?;
    q.spread([N, N], total(&u, &mut sum))?;
    Ok((u.to_vec()?, sum.to_vec()?[0]))
}

/// The same on the ranks of the world as on this one alone.
pub fn run() -> Result<(), Box<dyn std::error::Error>> {
    let cpu = || CpuBackend::builder().domains(2).threads(2).build();
    let alone = steps(&Runtime::builder().backend(cpu()?).build()?)?;
    let world = World::join()?;
    let rt = Runtime::builder().backend(cpu()?).layer(|backend| world.over(backend)).build()?;
    assert_eq!(rt.devices().len(), 2 * world.ranks() as usize);
    assert!(steps(&rt)? == alone, "rank {} has another result", world.me());
    let (me, ranks) = (world.me(), world.ranks());
    drop(rt);
    world.leave();
    println!("rank {me} of {ranks} is well");
    Ok(())
}
