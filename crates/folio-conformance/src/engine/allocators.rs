//! Memory on the host that an allocator of the program gives: it is used, and comes back once.

use super::rig::*;
use super::tests;
use crate::pool::Pool;
use folio_core::{
    Buffer, BufferOptions, Error, Queue, Runtime,
    memory::{AllocatorFault, Evict, Linkage, Links},
};
use folio_interp::rng::Rng;
use std::sync::Arc;

tests![
    buffers_have_memory_of_an_allocator,
    linked_buffers_have_memory_of_an_allocator,
    memory_of_an_allocator_comes_back_whatever_happens,
    an_allocator_that_refuses_changes_nothing,
    an_allocator_that_gave_nothing_goes_without_a_lock,
    lives_of_buffers_of_an_allocator,
];

const N: usize = 1024;
const BYTES: u64 = 4 * N as u64;

fn of(pool: &Arc<Pool>) -> BufferOptions {
    BufferOptions::new().label("x").allocator(pool.clone())
}

/// Nothing of a pool is out any more, and nothing came back twice.
fn is_back(pool: &Pool) -> Outcome {
    eventually("all memory came back", || pool.out() == 0)?;
    ensure_eq!(pool.wrong(), 0);
    Ok(())
}

/// MPTR-01, BUF-07: contents are put into the allocator's memory, devices get them from there, and
/// unwritten elements read as zero, whatever the memory held.
fn buffers_have_memory_of_an_allocator(rig: &Rig) -> Outcome {
    let pool = Pool::new(usize::MAX);
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        for round in 0..2 {
            let mut x = rig.rt.buffer_with(vec![1; N], of(&pool))?;
            let host = x.allocations().remove(0);
            ensure!(host.device.is_none() && host.owned, "{host:?}");
            ensure!(pool.has_given(host.address), "{host:?}");
            add(&q, &mut x, 1)?;
            x.write()?[0] += 5;
            add(&q, &mut x, 1)?;
            ensure_eq!((x.get(0)?, x.get(N - 1)?), (8, 3), "round {round}");
            let mut y: Buffer<i32> = rig.rt.buffer_with(N, of(&pool).page([N / 4]))?;
            ensure_eq!(y.get(N - 1)?, 0, "round {round}");
            set(&q, &mut y, N / 2, 1, 7)?;
            let mut expected = vec![0; N];
            expected[N / 2] = 7;
            ensure_eq!(y.to_vec()?, expected, "round {round}");
        }
    }
    let empty = rig.rt.buffer_with::<i32, 1>(0, of(&pool))?;
    ensure_eq!(empty.to_vec()?, []);
    ensure_eq!(pool.given(), 4 * rig.rt.devices().len(), "an empty buffer asks for none");
    drop(empty);
    rig.rt.wait()?;
    is_back(&pool)
}

/// LINK-03: a device that shares the host's memory uses the allocator's, whether its first access
/// reads or discards. The device lets go of it before it comes back.
fn linked_buffers_have_memory_of_an_allocator(rig: &Rig) -> Outcome {
    let rt = rig.builder().links(Links::On).build()?;
    let pool = Pool::new(usize::MAX);
    for device in rt.devices() {
        let q = rt.queue_on(&device)?;
        let (mut x, mut y) = (rt.buffer_with(N, of(&pool))?, rt.buffer_with(N, of(&pool))?);
        add(&q, &mut x, 3)?;
        set(&q, &mut y, 0, N, 4)?;
        ensure_eq!((x.to_vec()?, y.to_vec()?), (vec![3; N], vec![4; N]));
        for buffer in [&x, &y] {
            let host = buffer.allocations().into_iter().find(|one| one.device.is_none());
            let linked = buffer.linkage(&device)? == Linkage::Linked;
            ensure!(host.is_some_and(|host| pool.has_given(host.address)), "linked: {linked}");
        }
    }
    rt.wait()?;
    is_back(&pool)
}

/// MPTR-01, ERR-04: a buffer without elements is the last that has its allocator, and has no memory
/// of it. The pool's canary sees a lock.
fn an_allocator_that_gave_nothing_goes_without_a_lock(rig: &Rig) -> Outcome {
    let pool = Pool::new(usize::MAX);
    let x: Buffer<i32> = rig.rt.buffer_with(0, of(&pool))?;
    ensure_eq!(pool.given(), 0);
    let gone = Arc::downgrade(&pool);
    drop((pool, x));
    ensure_eq!(gone.strong_count(), 0);
    Ok(())
}

/// MPTR-01, ERR-02: with work under way, after a task that panics, and whichever handle goes first.
fn memory_of_an_allocator_comes_back_whatever_happens(rig: &Rig) -> Outcome {
    let rt = rig.builder().build()?;
    let names: Vec<String> = rt.devices().iter().map(|device| device.name().to_owned()).collect();
    let pool = Pool::new(usize::MAX);
    for name in &names {
        let q = rt.queue_on(name.as_str())?;
        let gate = Gate::new();
        let mut x = rt.buffer_with(vec![1; N], of(&pool))?;
        let first = gated(&q, &gate)?;
        let call = adds(1, &mut x);
        q.submit(|cg| {
            cg.after(&first).run(N, call);
            Ok(())
        })?;
        drop(x);
        ensure!(pool.out() > 0, "a command that has not begun uses it");
        gate.open();
        q.wait()?;
        is_back(&pool)?;
        let mut x = rt.buffer_with(vec![1; N], of(&pool))?;
        let failed = q.submit(|cg| {
            let x = cg.read_write(&mut x);
            cg.host_task(x, |_| panic!("on purpose"));
            Ok(())
        })?;
        failure(failed.wait())?;
        drop(x);
        is_back(&pool)?;
    }
    let q = rt.queue_on(names[0].as_str())?;
    let gate = Gate::new();
    let mut x = rt.buffer_with(vec![1; N], of(&pool))?;
    let y: Buffer<i32> = rt.buffer_with(N, of(&pool))?;
    let first = gated(&q, &gate)?;
    let call = adds_up(&y, &mut x);
    let last = q.submit(|cg| {
        cg.after(&first).run(N, call);
        Ok(())
    })?;
    drop((rt, q, y, last));
    gate.open();
    ensure_eq!(x.to_vec()?, vec![3; N]);
    drop(x);
    is_back(&pool)
}

/// MPTR-01, ERR-01: what was asked for is named, and nothing has changed.
fn an_allocator_that_refuses_changes_nothing(rig: &Rig) -> Outcome {
    let (pool, before) = (Pool::new(1), rig.rt.counters());
    pool.refuse(true);
    let asked = |made: Result<(), Error>| {
        refused!(
            made,
            Error::Allocator { asked: BYTES, align: 128, fault: AllocatorFault::Refused, .. }
        );
        Ok(())
    };
    asked(rig.rt.buffer_with(vec![1; N], of(&pool)).map(drop))?;
    asked(rig.rt.buffer_with::<i32, 1>(N, of(&pool)).map(drop))?;
    asked(rig.rt.managed_in::<i32>(&pool, N).map(drop))?;
    ensure_eq!((rig.rt.counters(), pool.given()), (before, 0));
    pool.refuse(false);
    let x = rig.rt.managed_in::<i32>(&pool, N)?;
    asked(rig.rt.managed_with::<i32>(N, of(&pool)).map(drop))?;
    let gpu = rig.rt.executor(&rig.queue()?.device())?;
    gpu.run(N, adds(1, &x)).then_get(&gpu, &x).wait()?;
    ensure_eq!(x.to_vec()?, vec![1; N]);
    drop(x);
    is_back(&pool)
}

/// A buffer and what it holds.
type Live = (Buffer<i32>, Vec<i32>);

/// MPTR-01, MEM-01: buffers are made, used and dropped at random, with a pool that is short of
/// memory and refuses at times, and budgets that have copies evicted. Each has its values, and each
/// piece of memory comes back once.
fn lives_of_buffers_of_an_allocator(rig: &Rig) -> Outcome {
    for seed in 0..4 {
        let rng = &mut Rng::new(seed);
        let pool = Pool::new(4);
        let mut builder = rig.builder().budget("host", 6 * BYTES);
        builder = builder.links(if seed % 2 == 0 { Links::Off } else { Links::On });
        let rt = builder.build()?;
        let queues = rt.devices().into_iter().map(|device| rt.queue_on(&device));
        let queues = queues.collect::<Result<Vec<_>, _>>()?;
        let mut live: Vec<Live> = Vec::new();
        for step in 0..60 {
            let done = step_of_a_life(rng, (&rt, &pool), &queues, &mut live);
            if let Err(Stop::Failed(why)) = done {
                return Err(Stop::Failed(format!("seed {seed}, step {step}: {why}")));
            }
            ensure_eq!(pool.wrong(), 0, "seed {seed}, step {step}");
        }
        pool.refuse(false);
        drop(queues);
        while !live.is_empty() {
            live.swap_remove(rng.below(live.len()));
        }
        unless_short(rt.wait())?;
        is_back(&pool)?;
    }
    Ok(())
}

fn step_of_a_life(
    rng: &mut Rng,
    (rt, pool): (&Runtime, &Arc<Pool>),
    queues: &[Queue],
    live: &mut Vec<Live>,
) -> Outcome {
    let choice = rng.below(8);
    if choice == 0 || live.is_empty() {
        let how = if rng.chance(50) { Evict::clean() } else { Evict::dirty() };
        let options = if rng.chance(80) { of(pool) } else { BufferOptions::new() }.evict(how);
        let value = rng.below(100) as i32;
        let made = match rng.chance(50) {
            true => rt.buffer_with(vec![value; N], options).map(|x| (x, vec![value; N])),
            false => rt.buffer_with(N, options).map(|x| (x, vec![0; N])),
        };
        live.extend(unless_short(made)?);
        return Ok(());
    }
    let at = rng.below(live.len());
    let (x, expected) = &mut live[at];
    let q = &queues[rng.below(queues.len())];
    match choice {
        1 | 2 => {
            if unless_short(add(q, x, 1))?.is_some() {
                expected.iter_mut().for_each(|value| *value += 1);
            }
        }
        3 => {
            if let Some(mut guard) = unless_short(x.write())? {
                guard[at] = -1;
                expected[at] = -1;
            }
        }
        4 => {
            if let Some(found) = unless_short(x.to_vec())? {
                ensure_eq!(found, *expected);
            }
        }
        5 => drop(live.swap_remove(at)),
        6 => match x.release(&q.device()) {
            Ok(()) | Err(Error::InUse { .. } | Error::OnlyCopy { .. }) => {}
            Err(other) => drop(unless_short::<()>(Err(other))?),
        },
        _ => pool.refuse(rng.chance(30)),
    }
    Ok(())
}

/// The result, unless memory was short.
fn unless_short<T>(result: Result<T, Error>) -> Result<Option<T>, Stop> {
    match result {
        Ok(done) => Ok(Some(done)),
        Err(Error::OutOfMemory { .. } | Error::Allocator { .. }) => Ok(None),
        // A copy by way of the host takes memory of the host's budget when it begins. Its data are
        // lost then, and each use of them says so.
        Err(other) if other.to_string().contains("out of memory") => Ok(None),
        Err(other) => Err(other.into()),
    }
}
