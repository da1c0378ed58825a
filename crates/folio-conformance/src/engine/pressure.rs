//! Memory pressure: copies that may go make room for memory that is asked for.

use super::rig::*;
use super::tests;
use folio_core::geom::{Box3, Dims};
use folio_core::pages::{DenseTrackers, DomainId, DomainSet, PageTracker, PageTrackerFactory};
use folio_core::{Buffer, BufferOptions, Error, Event, Queue, Runtime, memory::Evict};
use std::sync::Arc;

tests![
    a_working_set_larger_than_the_budget,
    the_least_recently_used_copy_goes,
    priorities_come_before_use,
    priorities_come_before_what_is_idle,
    what_cannot_be_waited_for_stays_and_others_go,
    refused_addresses_change_nothing,
    dirty_copies_are_written_to_the_host,
    what_may_not_go_stays,
    a_command_keeps_what_it_needs,
    copies_in_use_are_taken_over,
    a_chain_of_chunks_is_submitted_without_an_end,
    copies_of_another_size_are_waited_for,
    several_copies_are_taken_over_for_one_command,
    what_is_taken_over_reads_as_zero,
    memory_outlives_who_took_it_over,
    a_tracker_that_lies_does_not_keep_eviction_going,
];

/// Elements of a buffer, and its bytes.
const N: usize = 1024;
const BYTES: u64 = 4 * N as u64;

/// A runtime with room for so many buffers on its first device with memory of its own.
fn narrow(rig: &Rig, room: u64) -> Result<(Runtime, Queue), Stop> {
    let name = rig.separate(1)?.remove(0).device().name().to_owned();
    let rt = rig.builder().budget(&name, room * BYTES).build()?;
    let q = rt.queue_on(name.as_str())?;
    Ok((rt, q))
}

fn buffer(rt: &Runtime, value: i32, how: Option<Evict>) -> Result<Buffer<i32>, Stop> {
    let options = BufferOptions::new().label(format!("x{value}"));
    let options = how.into_iter().fold(options, |options, how| options.evict(how));
    Ok(rt.buffer_with(vec![value; N], options)?)
}

/// Has a device read a buffer.
fn read(q: &Queue, x: &Buffer<i32>) -> Result<(), Stop> {
    bring(q, &[x])?.wait()?;
    Ok(())
}

/// Whether a read of it moves nothing.
fn is_there(q: &Queue, x: &Buffer<i32>) -> Result<bool, Stop> {
    let before = x.counters().host_to_device.operations;
    read(q, x)?;
    Ok(x.counters().host_to_device.operations == before)
}

/// MEM-01: four times as many buffers as there is room for are computed with in turn.
fn a_working_set_larger_than_the_budget(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 4)?;
    let inputs: Result<Vec<_>, Stop> =
        (0..16).map(|at| buffer(&rt, at, Some(Evict::clean()))).collect();
    let inputs = inputs?;
    let mut sum = rt.buffer::<i32, 1>(N)?;
    for _ in 0..2 {
        for x in &inputs {
            q.run(N, adds_up(x, &mut sum))?;
        }
    }
    let expected =
        (0..2).flat_map(|_| 0..16).fold(0i32, |sum, x| sum.wrapping_mul(3).wrapping_add(x));
    ensure_eq!(sum.to_vec()?, vec![expected; N]);
    let all = rt.counters();
    ensure!(all.evictions >= 24 && all.evicted_bytes == all.evictions * BYTES, "{all:?}");
    ensure_eq!(all.device_to_host.operations, 1, "only the result comes back");
    Ok(())
}

/// MEM-01
fn the_least_recently_used_copy_goes(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 3)?;
    let x: Result<Vec<_>, Stop> = (0..4).map(|at| buffer(&rt, at, Some(Evict::clean()))).collect();
    let x = x?;
    for at in [0, 1, 2, 0, 3] {
        read(&q, &x[at])?;
    }
    let there: Result<Vec<bool>, Stop> =
        [0, 2, 3].map(|at| is_there(&q, &x[at])).into_iter().collect();
    ensure_eq!((there?, rt.counters().evictions), (vec![true; 3], 1));
    ensure!(!is_there(&q, &x[1])?, "the one that was not used for longest");
    Ok(())
}

/// MEM-01
fn priorities_come_before_use(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 2)?;
    let important = buffer(&rt, 0, Some(Evict::clean().priority(5)))?;
    let (a, b) = (buffer(&rt, 1, Some(Evict::clean()))?, buffer(&rt, 2, Some(Evict::clean()))?);
    for x in [&important, &a, &b] {
        read(&q, x)?;
    }
    ensure!(is_there(&q, &important)? && is_there(&q, &b)?, "{:?}", rt.counters());
    Ok(())
}

/// MEM-01: a copy of low priority goes while commands use it, and not an idle one of high priority.
fn priorities_come_before_what_is_idle(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 2)?;
    let important = buffer(&rt, 0, Some(Evict::clean().priority(5)))?;
    let busy = buffer(&rt, 1, Some(Evict::clean()))?;
    read(&q, &busy)?;
    read(&q, &important)?;
    let gate = Gate::new();
    let first = gated(&q, &gate)?;
    let used = q.submit(|cg| {
        cg.after(&first).read(&busy);
        Ok(())
    })?;
    let x = buffer(&rt, 2, Some(Evict::clean().priority(9)))?;
    bring(&q, &[&x])?;
    ensure!(is_pending(&used), "the gate is closed");
    ensure_eq!(rt.counters().evictions, 1);
    gate.open();
    ensure!(is_there(&q, &important)? && is_there(&q, &x)?, "{:?}", rt.counters());
    ensure!(!is_there(&q, &busy)?, "the one of lowest priority");
    Ok(())
}

/// MEM-01, DEP-04: a host task cannot wait for a command that comes after it. A copy that such a
/// command uses therefore stays, and a copy of higher priority goes.
fn what_cannot_be_waited_for_stays_and_others_go(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 2)?;
    let important = buffer(&rt, 0, Some(Evict::clean().priority(5)))?;
    let busy = buffer(&rt, 1, Some(Evict::clean()))?;
    read(&q, &busy)?;
    read(&q, &important)?;
    let gate = Gate::new();
    // Of another size, so that it takes over the memory of neither.
    let (door, p, x) = (gate.door(), rt.queue_on(&q.device())?, rt.buffer_from(&[7; N / 2])?);
    let task = q.submit(|cg| {
        cg.host_task((), move |()| {
            door.pass();
            p.submit(|cg| {
                cg.read(&x);
                Ok(())
            })
            .map(drop)
        });
        Ok(())
    })?;
    let used = q.submit(|cg| {
        cg.after(&task).read(&busy);
        Ok(())
    })?;
    gate.open();
    task.wait()?;
    used.wait()?;
    ensure_eq!(rt.counters().evictions, 1);
    ensure!(is_there(&q, &busy)?, "{:?}", rt.counters());
    Ok(())
}

/// MEM-01, ERR-01: neither does one pin the copy that it was asked of, nor does it leave memory.
fn refused_addresses_change_nothing(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 1)?;
    let device = q.device();
    let full = buffer(&rt, 0, None)?;
    read(&q, &full)?;
    let x = buffer(&rt, 1, Some(Evict::clean()))?;
    refused!(x.pointer(&device), Error::OutOfMemory { .. });
    drop(full);
    let before = rt.counters();
    let mut x = x;
    match x.pointer(&device) {
        Err(Error::Unsupported { .. }) => {
            ensure_eq!((device.budget().1, rt.counters()), (0, before));
        }
        given => {
            given?;
            x.release(&device)?;
        }
    }
    read(&q, &x)?;
    if let Err(error) = x.pointer(&device) {
        refused!(Err::<(), _>(error), Error::Unsupported { .. });
    } else {
        x.release(&device)?;
        read(&q, &x)?;
    }
    let mut y = buffer(&rt, 4, None)?;
    add(&q, &mut y, 1)?;
    ensure_eq!((y.to_vec()?, rt.counters().evictions), (vec![5; N], 1));
    ensure_eq!(x.to_vec()?, vec![1; N]);
    Ok(())
}

/// MEM-01: only where the program allows that.
fn dirty_copies_are_written_to_the_host(rig: &Rig) -> Outcome {
    for dirty in [true, false] {
        let (rt, q) = narrow(rig, 1)?;
        let how = if dirty { Evict::dirty() } else { Evict::clean() };
        let mut x = rt.buffer_with(N, BufferOptions::new().evict(how))?;
        q.run(N, puts(7, &mut x))?;
        let mut y = buffer(&rt, 1, None)?;
        let added = add(&q, &mut y, 1);
        if !dirty {
            refused!(added, Error::OutOfMemory { .. });
            continue;
        }
        added?.wait()?;
        ensure_eq!(rt.counters().evictions, 1);
        drop(y);
        ensure_eq!(x.to_vec()?, [7; N]);
        add(&q, &mut x, 1)?;
        ensure_eq!(x.to_vec()?, [8; N]);
    }
    Ok(())
}

/// MEM-01: what has not been said to go, what a program has the address of, and what a guard holds.
fn what_may_not_go_stays(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 1)?;
    let mut y = buffer(&rt, 1, None)?;
    let plain = buffer(&rt, 0, None)?;
    read(&q, &plain)?;
    refused!(add(&q, &mut y, 1), Error::OutOfMemory { in_use: BYTES, limit: BYTES, .. });
    drop(plain);
    let held = buffer(&rt, 2, Some(Evict::clean()))?;
    read(&q, &held)?;
    let guard = held.read()?;
    refused!(add(&q, &mut y, 1), Error::OutOfMemory { .. });
    drop(guard);
    add(&q, &mut y, 1)?;
    ensure_eq!((y.to_vec()?, rt.counters().evictions), (vec![2; N], 1));
    drop(y);
    let pointed = buffer(&rt, 3, Some(Evict::clean()))?;
    if pointed.pointer(&q.device()).is_ok() {
        read(&q, &pointed)?;
        let mut z = buffer(&rt, 4, None)?;
        refused!(add(&q, &mut z, 1), Error::OutOfMemory { .. });
    }
    ensure_eq!(held.to_vec()?, [2; N]);
    Ok(())
}

/// MEM-01: a command that needs two buffers does not take the one's memory for the other.
fn a_command_keeps_what_it_needs(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 1)?;
    let (x, mut y) = (buffer(&rt, 1, Some(Evict::clean()))?, buffer(&rt, 2, Some(Evict::clean()))?);
    refused!(q.run(N, adds_up(&x, &mut y)), Error::OutOfMemory { .. });
    read(&q, &x)?;
    refused!(q.run(N, adds_up(&x, &mut y)), Error::OutOfMemory { .. });
    ensure_eq!((x.to_vec()?, y.to_vec()?), (vec![1; N], vec![2; N]));
    Ok(())
}

/// MEM-01: memory of the same size goes over while commands use it. Nothing is allocated for that.
fn copies_in_use_are_taken_over(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 2)?;
    let x: Result<Vec<_>, Stop> = (0..8).map(|at| buffer(&rt, at, Some(Evict::clean()))).collect();
    let (x, mut sum) = (x?, rt.buffer::<i32, 1>(N)?);
    let before = rt.counters().allocations;
    for x in &x {
        // Not waited for.
        q.run(N, adds_up(x, &mut sum))?;
    }
    let expected = (0..8).fold(0, |sum, x| sum * 3 + x);
    let (all, memory) = (rt.counters(), q.device().budget());
    ensure_eq!(
        (all.evictions, all.allocations - before),
        (7, 2),
        "one for all chunks, and the sum"
    );
    ensure_eq!(memory, (2 * BYTES, 2 * BYTES));
    ensure_eq!(sum.to_vec()?, vec![expected; N]);
    Ok(())
}

/// MEM-01: chunks four times as large as the memory are submitted while the first command has not
/// begun: no submission waits for the end of another one.
fn a_chain_of_chunks_is_submitted_without_an_end(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 3)?;
    let x: Result<Vec<_>, Stop> = (0..8).map(|at| buffer(&rt, at, Some(Evict::clean()))).collect();
    let (x, mut sum) = (x?, rt.buffer::<i32, 1>(N)?);
    let gate = Gate::new();
    let first = gated(&q, &gate)?;
    let mut events = Vec::new();
    for x in &x {
        let call = adds_up(x, &mut sum);
        events.push(q.submit(|cg| {
            cg.after(&first).run(N, call);
            Ok(())
        })?);
    }
    ensure_eq!(rt.counters().evictions, 6);
    ensure!(events.iter().all(is_pending), "the gate is closed");
    gate.open();
    let expected = (0..8).fold(0, |sum, x| sum * 3 + x);
    ensure_eq!(sum.to_vec()?, vec![expected; N]);
    Ok(())
}

/// MEM-01: the submitter waits for a command that uses the copy which goes, if that does not fit.
fn copies_of_another_size_are_waited_for(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 2)?;
    let mut sum = rt.buffer::<i32, 1>(N)?;
    let of = |at: i32| {
        let n = N - at as usize;
        rt.buffer_with(vec![at; n], BufferOptions::new().evict(Evict::clean()))
    };
    let x = (0..8).map(of).collect::<folio_core::Result<Vec<Buffer<i32>>>>()?;
    for x in &x {
        // Not waited for.
        q.run(N - 7, adds_up(x, &mut sum))?;
    }
    let expected = (0..8).fold(0, |sum, x| sum * 3 + x);
    ensure_eq!(
        (sum.to_vec()?[..N - 7].to_vec(), rt.counters().evictions),
        (vec![expected; N - 7], 7)
    );
    Ok(())
}

/// Has a device read buffers, for one command, and does not wait for that.
fn bring(q: &Queue, all: &[&Buffer<i32>]) -> Result<Event, Error> {
    q.submit(|cg| {
        for x in all {
            cg.read(*x);
        }
        Ok(())
    })
}

/// MEM-01: each of what a command needs takes over memory of its own, or none does.
fn several_copies_are_taken_over_for_one_command(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 2)?;
    let x: Result<Vec<_>, Stop> = (0..4).map(|at| buffer(&rt, at, Some(Evict::clean()))).collect();
    let x = x?;
    let before = rt.counters().allocations;
    for pair in [[&x[0], &x[1]], [&x[2], &x[3]], [&x[0], &x[1]]] {
        bring(&q, &pair)?;
    }
    let all = rt.counters();
    ensure_eq!((all.evictions, all.allocations - before), (4, 2));
    refused!(bring(&q, &[&x[0], &x[2], &x[3]]), Error::OutOfMemory { .. });
    for (at, x) in x.iter().enumerate() {
        let mut y = rt.buffer::<i32, 1>(N)?;
        ensure_eq!(x.to_vec()?, vec![at as i32; N]);
        bring(&q, &[x])?;
        add(&q, &mut y, 1)?;
        ensure_eq!(y.to_vec()?, vec![1; N]);
    }
    Ok(())
}

/// MEM-01: nothing of another buffer's is to be seen in memory that was taken over.
fn what_is_taken_over_reads_as_zero(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 1)?;
    let x = buffer(&rt, 5, Some(Evict::clean()))?;
    let mut y = rt.buffer::<i32, 1>(N)?;
    bring(&q, &[&x])?;
    // Half of it is written; the other half was never.
    q.run(N / 2, puts(7, y.slice_mut(0, N / 2)?))?;
    let expected: Vec<i32> = (0..N).map(|at| if at < N / 2 { 7 } else { 0 }).collect();
    ensure_eq!((y.to_vec()?, rt.counters().evictions), (expected, 1));
    ensure_eq!(x.to_vec()?, vec![5; N]);
    Ok(())
}

/// MEM-01: memory that was taken over is freed after the last command that uses it, be that
/// one of the buffer that had it before.
fn memory_outlives_who_took_it_over(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 2)?;
    let (x, mut sum) = (buffer(&rt, 5, Some(Evict::clean()))?, rt.buffer::<i32, 1>(N)?);
    let gate = Gate::new();
    let (first, call) = (gated(&q, &gate)?, adds_up(&x, &mut sum));
    q.submit(|cg| {
        cg.after(&first).run(N, call);
        Ok(())
    })?;
    let y = buffer(&rt, 6, Some(Evict::clean()))?;
    bring(&q, &[&y])?;
    ensure_eq!(rt.counters().evictions, 1);
    drop(y);
    let in_use = q.device().budget().1;
    gate.open();
    ensure_eq!((sum.to_vec()?, in_use), (vec![5; N], 2 * BYTES));
    drop((x, sum));
    // Another thread may free it.
    let device = q.device();
    eventually("the memory is free", || device.budget().1 == 0)?;
    Ok(())
}

/// Says that the host has nothing.
struct NeverOnHost(Box<dyn PageTracker>);

struct NeverOnHosts;

impl PageTrackerFactory for NeverOnHosts {
    fn make(&self, pages: Dims) -> Box<dyn PageTracker> {
        Box::new(NeverOnHost(DenseTrackers.make(pages)))
    }
}

impl PageTracker for NeverOnHost {
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        let devices = |set: DomainSet| (1..64).map(DomainId).filter(move |d| set.contains(*d));
        self.0.visit(range, &mut |run, set| out(run, devices(set).collect()));
    }
    fn set(&mut self, range: &Box3, current: DomainSet) {
        self.0.set(range, current);
    }
    fn insert(&mut self, range: &Box3, domain: DomainId) {
        self.0.insert(range, domain);
    }
    fn remove(&mut self, range: &Box3, domain: DomainId) {
        self.0.remove(range, domain);
    }
    fn name(&self) -> &'static str {
        "never on the host"
    }
}

/// MEM-01, PAGE-05: what it says to be only on a device is written to the host once.
fn a_tracker_that_lies_does_not_keep_eviction_going(rig: &Rig) -> Outcome {
    let (rt, q) = narrow(rig, 1)?;
    let options = BufferOptions::new().evict(Evict::dirty()).tracker(Arc::new(NeverOnHosts));
    let mut x = rt.buffer_with(N, options)?;
    q.run(N, puts(7, &mut x))?.wait()?;
    let mut y = buffer(&rt, 1, None)?;
    refused!(add(&q, &mut y, 1), Error::OutOfMemory { .. });
    ensure_eq!(rt.counters().evictions, 0);
    Ok(())
}
