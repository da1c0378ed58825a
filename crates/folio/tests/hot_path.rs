//! Submitting a tiny kernel takes nothing from the heap, once warm. One test in a process of its
//! own, because the allocations of all threads are counted.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod counting;

use counting::{ALLOCATIONS, four, one, runtime};
use folio::prelude::*;
use std::sync::atomic::Ordering;

/// Now and then another thread lends a hand and keeps the memory of the launch that it hands over:
/// more often beside other work (8 were seen), but far from each time.
const HANDS: usize = 50;

/// How often `rounds` submissions allocate after a warm-up.
fn allocations(q: &Queue, rounds: usize, mut submit: impl FnMut()) -> usize {
    // Outstanding commands take memory; waiting now and then keeps that below what the warm-up had.
    let mut run = |rounds: usize, outstanding: usize| {
        for n in 0..rounds {
            submit();
            if n % outstanding == 0 {
                q.wait().unwrap();
            }
        }
        q.wait().unwrap();
    };
    run(5000, 100);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    run(rounds, 16);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// A dependent chain over one buffer.
fn over_one_buffer() {
    for domains in [1, 2] {
        let rt = runtime(domains);
        let q = rt.queue_on(&rt.devices()[domains - 1]).unwrap();
        let mut x = rt.buffer::<u32, 1>(1).unwrap();
        let count = allocations(&q, 1000, || one(&q, &mut x));
        assert_eq!(x.to_vec().unwrap(), [6000]);
        assert!(count <= HANDS, "{count} allocations in 1000 submissions, {domains} domains");
    }
}

fn over_four_buffers() {
    for domains in [1, 2] {
        let rt = runtime(domains);
        let q = rt.queue_on(&rt.devices()[domains - 1]).unwrap();
        let mut all: [Buffer<u32>; 4] = std::array::from_fn(|_| rt.buffer(1).unwrap());
        let count = allocations(&q, 1000, || four(&q, &mut all));
        assert_eq!(all[3].to_vec().unwrap(), [6000]);
        assert!(count <= HANDS, "{count} allocations in 1000 submissions, {domains} domains");
    }
}

#[kernel]
fn counts(i: Item, by: u32, y: InOut<u32>) {
    y[i] += by;
}

#[kernel]
fn sums<T: Number>(i: Item, by: T, a: In<T>, b: In<T>, c: InOut<T>, d: Out<T>) {
    c[i] += a[i] + by;
    d[i] = b[i];
}

/// Kernels that are looked up in a static, and by their type.
fn of_kernels() {
    for domains in [1, 2] {
        let rt = runtime(domains);
        let q = rt.queue_on(&rt.devices()[domains - 1]).unwrap();
        let mut y = rt.buffer::<u32, 1>(1).unwrap();
        let count = allocations(&q, 1000, || drop(q.run(1, counts(2, &mut y)).unwrap()));
        assert_eq!(y.to_vec().unwrap(), [12_000]);
        assert!(count <= HANDS, "{count} allocations in 1000 launches, {domains} domains");
        let [a, b] = std::array::from_fn(|n| rt.buffer_from(&[n as u32]).unwrap());
        let (mut c, mut d) = (rt.buffer(1).unwrap(), y);
        let count = allocations(&q, 1000, || {
            q.run(1, sums(1, &a, &b, &mut c, &mut d)).unwrap();
        });
        assert_eq!([c, d].map(|buffer| buffer.to_vec().unwrap()), [[6000], [1]]);
        assert!(count <= HANDS, "{count} allocations in 1000 launches, {domains} domains");
    }
}

/// GRAPH-08: blocks that come again, of two commands and of more than a submitter runs of a lane.
/// They have ended when they have been submitted: no other thread was woken for them.
fn of_batches() {
    let rt = runtime(1);
    let q = rt.queue_on(&rt.devices()[0]).unwrap();
    for tasks in [2, 10, 40] {
        let all: Vec<Shared<u32>> = (0..8).map(|_| rt.buffer(1).unwrap().into_shared()).collect();
        let (before, mut late) = (q.batch_report(), 0);
        let (mut blocks, mut warm) = (0, 0);
        let count = allocations(&q, 1000, || {
            if blocks == 5000 {
                warm = q.batch_report().replayed;
            }
            blocks += 1;
            let add = |q: &Queue, n: usize| q.run(1, counts(2, &all[n % 8])).map(drop);
            let ((), event) = q.batch(|q| (0..tasks).try_for_each(|n| add(q, n))).unwrap();
            late += usize::from(!matches!(event.status(), Status::Done));
        });
        // A kernel that is interrupted while it is measured seems long, and a few blocks that have
        // it are submitted one by one.
        let apart = 1000 - (q.batch_report().replayed - warm) as usize;
        let sum: u32 = all.iter().map(|x| x.get([0]).unwrap()).sum();
        assert_eq!(sum, 12_000 * tasks as u32);
        let most = HANDS + 16 * tasks * apart;
        assert!(count <= most, "{count} allocations in 1000 blocks of {tasks}, {apart} apart");
        assert!(late <= HANDS, "{late} of 6000 blocks of {tasks} had not ended");
        let now = q.batch_report();
        let replayed = now.replayed - before.replayed;
        assert!(replayed as usize >= 6000 - HANDS, "{replayed} of 6000 were one: {now:?}");
        // An operation for each of these.
        assert!(q.counters().replays == now.replayed, "{:?}", q.counters());
    }
}

/// GRAPH-03: a run that is one operation takes as much from the heap with many nodes as with few.
fn of_graphs() {
    let rt = runtime(1);
    let q = rt.queue_on(&rt.devices()[0]).unwrap();
    for buffers in [1, 8] {
        let taken = [10, 100, 929].map(|nodes| {
            let all: Vec<Shared<u32>> =
                (0..buffers).map(|_| rt.buffer(1).unwrap().into_shared()).collect();
            let graph = rt.graph(&rt.devices()[0]).unwrap();
            for n in 0..nodes {
                graph.add(|cg| cg.run(1, counts(2, &all[n % buffers]))).unwrap();
            }
            let run = graph.finalize().unwrap();
            let count = allocations(&q, 1000, || drop(q.run_graph(&run).unwrap()));
            let sum: u32 = all.iter().map(|x| x.get([0]).unwrap()).sum();
            assert_eq!(sum, 12_000 * nodes as u32);
            assert_eq!(run.replay_report().why_not(), None, "{nodes} nodes, {buffers} buffers");
            count
        });
        // A part that takes longer meets more hands: less than one more in each of 1000 runs.
        let more = taken.map(|count| count.saturating_sub(taken[0]));
        assert!(more.iter().all(|more| *more < 500), "{taken:?} allocations, {buffers} buffers");
    }
}

/// DEP-02
#[test]
fn submitting_allocates_nothing() {
    over_one_buffer();
    over_four_buffers();
    of_kernels();
    of_batches();
    of_graphs();
}
