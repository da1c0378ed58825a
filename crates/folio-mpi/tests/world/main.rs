//! One program over the devices of several ranks, which are threads of this process: results are
//! those of one rank, messages are the fewest, and what goes wrong is told to all.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio::sched::Split;
use folio_core::hal::Wire;
use folio_cpu::CpuBackend;
use folio_mpi::World;
use folio_sim::SimWorld;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

/// What a rank has.
struct Rank {
    world: World,
    rt: Runtime,
    q: Queue,
}

fn rank_of(sim: &SimWorld, me: u32, devices: usize, patience: Duration) -> Rank {
    let sim = sim.clone();
    let open = move || Ok::<Box<dyn Wire>, folio_mpi::Error>(Box::new(sim.wire(me)));
    let world = World::with(open, patience).unwrap();
    let cpu = CpuBackend::builder().domains(devices).threads(2).build().unwrap();
    let builder = Runtime::builder().backend(cpu).layer(|backend| world.over(backend));
    let rt = builder.build().unwrap();
    let q = rt.queue_over(&rt.devices(), Split::rows()).unwrap();
    Rank { world, rt, q }
}

/// What each rank returns.
fn each<T: Send>(sim: &SimWorld, shape: (u32, usize), act: impl Fn(&Rank) -> T + Sync) -> Vec<T> {
    each_with(sim, shape, PATIENCE, act)
}

fn each_with<T: Send>(
    sim: &SimWorld,
    (ranks, devices): (u32, usize),
    patience: Duration,
    act: impl Fn(&Rank) -> T + Sync,
) -> Vec<T> {
    std::thread::scope(|scope| {
        let start = |me| {
            let act = &act;
            scope.spawn(move || {
                let rank = rank_of(sim, me, devices, patience);
                let result = act(&rank);
                let Rank { world, rt, q } = rank;
                drop((q, rt));
                world.leave();
                result
            })
        };
        let all: Vec<_> = (0..ranks).map(start).collect();
        all.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

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

/// Some steps of a stencil over `n` squared, and the sum of all.
fn stencil(rank: &Rank, n: usize, steps: usize) -> folio::Result<(Vec<f32>, f32)> {
    let Rank { rt, q, .. } = rank;
    let (mut u, mut v) = (rt.buffer::<f32, 2>([n, n])?, rt.buffer::<f32, 2>([n, n])?);
    q.spread([n, n], start(&mut u))?;
    q.spread([n, n], start(&mut v))?;
    for _ in 0..steps {
        q.spread(u.interior(1), step(&u, &mut v))?;
        std::mem::swap(&mut u, &mut v);
    }
    let mut sum = rt.buffer::<f32, 1>(1)?;
    q.spread([n, n], total(&u, &mut sum))?;
    Ok((u.to_vec()?, sum.to_vec()?[0]))
}

/// DIST-04
#[test]
fn results_are_those_of_one_rank() {
    let alone = &each(&SimWorld::new(1), (1, 1), |rank| stencil(rank, 40, 5).unwrap())[0];
    for (ranks, devices) in [(2, 1), (3, 1), (2, 2), (4, 1)] {
        for sim in [SimWorld::new(ranks), SimWorld::new(ranks).late(20).seed(7)] {
            let all = each(&sim, (ranks, devices), |rank| stencil(rank, 40, 5).unwrap());
            assert!(all.iter().all(|one| one == alone), "{ranks} ranks with {devices} devices");
        }
    }
}

/// A step sends the rows beside the borders and nothing else. DIST-04
#[test]
fn steps_send_their_halos() {
    let n = 64;
    let sent = |steps| {
        each(&SimWorld::new(3), (3, 1), |rank| {
            let Rank { rt, q, world } = rank;
            let (mut u, mut v) = (rt.buffer::<f32, 2>([n, n])?, rt.buffer::<f32, 2>([n, n])?);
            q.spread([n, n], start(&mut u))?;
            q.spread([n, n], start(&mut v))?;
            for _ in 0..steps {
                q.spread(u.interior(1), step(&u, &mut v))?;
                std::mem::swap(&mut u, &mut v);
            }
            rt.wait()?;
            Ok::<_, folio::Error>(world.sent())
        })
    };
    let (few, many) = (sent(4), sent(14));
    for (rank, (few, many)) in few.into_iter().zip(many).enumerate() {
        let (few, many) = (few.unwrap(), many.unwrap());
        for other in 0..3 {
            let [messages, bytes] = [many[other].0 - few[other].0, many[other].1 - few[other].1];
            let rows = if rank.abs_diff(other) == 1 { 10 } else { 0 };
            assert_eq!(messages, rows, "{rank} to {other}");
            assert!(bytes <= rows * 4 * n as u64, "{rank} to {other}: {bytes}");
        }
    }
}

#[kernel]
fn scaled(i: Item, by: u32, x: InOut<u32>) {
    x[i] = x[i].wrapping_mul(by).wrapping_add(i.index() as u32);
}

/// Host, devices and closures in turn: what each of them reads is what was written last.
#[test]
fn hosts_and_devices_take_turns() {
    let n = 1000;
    let work = |rank: &Rank| {
        let Rank { rt, q, .. } = rank;
        let mut x = rt.buffer_from((0..n as u32).collect::<Vec<_>>())?;
        let mut y = rt.buffer::<u32, 1>(n)?;
        q.spread(n, scaled(3, &mut x))?;
        x.write()?[17] = 5;
        let last = rt.queue_on(rt.devices().last().unwrap())?;
        last.run(n, scaled(7, &mut x))?;
        q.copy(&x, &mut y)?;
        q.fill(x.slice_mut([10], [20])?, 9)?;
        q.spread(n, scaled(5, &mut x))?;
        let read: u32 = x.read()?.iter().fold(0, |sum, x| sum.wrapping_add(*x));
        q.spread(n, scaled(read, &mut y))?;
        Ok::<_, folio::Error>((x.to_vec()?, y.to_vec()?, read))
    };
    let alone = &each(&SimWorld::new(1), (1, 1), |rank| work(rank).unwrap())[0];
    for (ranks, devices) in [(2, 1), (2, 2), (3, 1)] {
        let all = each(&SimWorld::new(ranks), (ranks, devices), |rank| work(rank).unwrap());
        assert!(all.iter().all(|one| one == alone), "{ranks} ranks with {devices} devices");
    }
}

#[kernel]
fn fails_at(i: Item, at: usize, x: InOut<u32>) {
    assert!(i.index() != at);
    x[i] += 1;
}

/// A kernel that fails on one rank fails on all of them; other buffers are well.
#[test]
fn failures_are_those_of_all_ranks() {
    let all = each(&SimWorld::new(3), (3, 1), |rank| {
        let Rank { rt, q, .. } = rank;
        let [mut x, mut y] = [1, 2].map(|n| rt.buffer_from(vec![n; 300]).unwrap());
        let failed = q.spread(300, fails_at(150, &mut x)).unwrap().wait();
        q.spread(300, scaled(1, &mut y)).unwrap();
        (failed.is_err(), x.to_vec().is_err(), y.to_vec().unwrap()[299])
    });
    assert_eq!(all, [(true, true, 301); 3]);
}

/// Ranks that do not do the same are told so, all of them. DIST-05
#[test]
fn ranks_that_do_another_thing_are_told() {
    let all = each(&SimWorld::new(3), (3, 1), |rank| {
        let Rank { rt, q, world } = rank;
        let mut x = rt.buffer_from(vec![1; 300]).unwrap();
        for k in 0..10 {
            let by = if world.me() == 1 && k == 6 { 8 } else { k };
            q.spread(300, scaled(by, &mut x)).unwrap();
        }
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            match q.spread(300, scaled(3, &mut x)).and_then(|_| x.to_vec()) {
                Ok(_) => std::thread::sleep(Duration::from_millis(50)),
                Err(error) => return (error.to_string(), begun.elapsed()),
            }
        }
        ("nothing".to_owned(), begun.elapsed())
    });
    for (why, after) in all {
        assert!(why.contains("does not do the same"), "{why}");
        assert!(after < Duration::from_secs(5), "{after:?}");
    }
}

/// A rank that dies is an error on the others, which end in order. DIST-05
#[test]
fn a_rank_that_dies_is_told_of() {
    let sim = SimWorld::new(3);
    let all = each_with(&sim, (3, 1), Duration::from_secs(1), |rank| {
        let Rank { rt, q, world } = rank;
        let mut x = rt.buffer_from(vec![1; 300]).unwrap();
        q.spread(300, scaled(3, &mut x)).unwrap().wait().unwrap();
        if world.me() == 2 {
            sim.kill(2);
            return String::new();
        }
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            if let Err(error) = q.spread(300, scaled(3, &mut x)).and_then(|_| x.to_vec()) {
                return error.to_string();
            }
        }
        "nothing".to_owned()
    });
    for why in &all[..2] {
        assert!(why.contains("rank 2"), "{why}");
    }
}

/// Ranks with other devices have no world.
#[test]
fn ranks_have_as_many_devices() {
    let sim = SimWorld::new(2);
    std::thread::scope(|scope| {
        for me in 0..2 {
            let sim = sim.clone();
            scope.spawn(move || {
                let open = move || Ok::<Box<dyn Wire>, folio_mpi::Error>(Box::new(sim.wire(me)));
                let world = World::with(open, PATIENCE).unwrap();
                let cpu = CpuBackend::builder().domains(1 + me as usize).build().unwrap();
                let over = world.over(Arc::new(cpu));
                let why = over.devices().unwrap_err().reason;
                assert!(why.contains("all ranks have as many"), "{why}");
                drop(over);
                world.leave();
            });
        }
    });
}
