//! Runs of command graphs as one operation of the device.

use super::graphs::{adding, graph, numbers};
use super::rig::*;
use super::tests;
use folio::prelude::*;
use folio_core::{
    CommandGroup, Destination, DeviceRef, Error, Event, Executable, Graph, NodeKind, Parameter,
    Queue, Replay, Shared,
};

tests![
    whole_runs_do_what_their_commands_do,
    a_whole_run_is_one_operation_that_counts_all,
    a_whole_run_fails_by_the_name_of_its_node,
    memory_that_has_moved_is_found_by_whole_runs,
    what_cannot_run_as_a_whole_runs_by_commands,
    whole_runs_keep_their_graph_until_they_end,
    reductions_of_whole_runs_begin_anew,
];

#[kernel]
fn total(i: Item, x: In<u32>, sum: Reduce<u32, Add>) {
    assert!(x[i] < 50_000);
    sum.give(x[i]);
}

/// GRAPH-03: what a launch combines is not that of an earlier run, also after one that failed
/// half-way.
fn reductions_of_whole_runs_begin_anew(rig: &Rig) -> Outcome {
    for (at, n) in (0..rig.rt.devices().len()).flat_map(|at| [(at, 4), (at, 10_000)]) {
        let q = rig.on(at)?;
        let graph = rig.rt.graph(&q.device())?;
        let mut x = rig.rt.buffer_from(vec![1u32; n])?;
        let sum = rig.rt.buffer::<u32, 1>(1)?.into_shared();
        graph.add(|cg| cg.run(n, total(&x, &sum)))?;
        let run = whole(&graph)?;
        for turn in 1..=3 {
            q.run_graph(&run)?;
            ensure_eq!((turn, sum.get(0)?), (turn, n as u32));
            q.fill(x.slice_mut([n - 1], [1])?, 60_000)?;
            let failed = q.run_graph(&run)?.wait();
            ensure!(failed.is_err(), "an assertion that does not hold is no failure");
            let _ = q.wait();
            q.fill(x.slice_mut([n - 1], [1])?, 1)?;
        }
    }
    Ok(())
}

/// A graph whose runs are whole, where the device has graphs.
fn whole(graph: &Graph) -> Result<Executable, Error> {
    let run = graph.finalize()?;
    run.replay_as(Replay::Whole);
    Ok(run)
}

/// Whether a device has graphs of its own, which then have to be used.
pub(super) fn has_graphs(device: &DeviceRef) -> bool {
    ["cpu", "cuda", "opencl", "sim", "vulkan"].iter().any(|name| device.name().starts_with(name))
}

/// That so many runs were whole, by one graph of the device's with so many exchanges; or none were,
/// since the device has none.
fn ran_whole(run: &Executable, runs: u64, exchanges: u64) -> Outcome {
    let report = run.replay_report();
    match report.why_not() {
        None => ensure_eq!((report.replays, report.made, report.exchanged), (runs, 1, exchanges)),
        Some(why) => {
            ensure!(!has_graphs(&run.device()) && why.contains("graphs"), "{why}");
            ensure_eq!((report.replays, report.made), (0, 0));
        }
    }
    Ok(())
}

/// GRAPH-03: kernels, copies, fills, empty nodes, graphs; beside other work, on each device, with
/// values that are exchanged.
fn whole_runs_do_what_their_commands_do(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let graph = rig.rt.graph(&q.device())?;
        let (x, value) = (numbers(rig, 3)?, Parameter::new(2));
        let (to, by) = (x[0].clone(), value.clone());
        graph.add_updatable(&[], move |cg: &mut CommandGroup| {
            let by = cg.parameter(&by);
            cg.run(8, adds(by, &to));
            Ok(())
        })?;
        let inner = rig.rt.graph(&q.device())?;
        inner.add(|cg| cg.copy(&x[0], &x[1]))?;
        adding(&inner, &x[1], 10)?;
        let middle = graph.add_graph(&[], &inner.finalize()?)?;
        graph.add_after(&[middle], |_| ())?;
        let part = x[2].slice_mut([0], [4])?;
        graph.add(|cg| cg.fill(part, 5))?;
        let node = adding(&graph, &x[2], 1)?;
        let run = whole(&graph)?;
        for turn in 0..3 {
            q.run_graph(&run)?; // 3, 13, 6 and 2
            q.run(8, adds(1, &x[0]))?; // and one more each time
            ensure_eq!(x[1].get([7])?, 13 + 3 * turn);
        }
        ensure_eq!((x[0].get([3])?, x[2].get([0])?, x[2].get([7])?), (10, 6, 4));
        value.set(100);
        run.update(node, |cg| cg.run(8, adds(1000, &x[2])))?;
        let last = q.run_graph(&run)?;
        value.set(7);
        last.wait()?;
        ensure_eq!((x[0].get([3])?, x[1].get([3])?, x[2].get([0])?), (110, 120, 1005));
        ran_whole(&run, 4, 1)?;
        let before = run.replay_report().replays;
        run.replay_as(Replay::Commands);
        q.run_graph(&run)?;
        ensure_eq!((x[0].get([3])?, x[2].get([7])?), (117, 2004));
        ensure_eq!(run.replay_report().replays, before);
    }
    Ok(())
}

/// GRAPH-03: and of an in-order queue one command; what is moved is what the commands would move.
fn a_whole_run_is_one_operation_that_counts_all(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let graph = rig.rt.graph(&q.device())?;
    let x = numbers(rig, 2)?;
    adding(&graph, &x[0], 1)?;
    adding(&graph, &x[0], 1)?;
    graph.add(|cg| cg.copy(&x[0], &x[1]))?;
    let run = whole(&graph)?;
    for launches in [2, 4] {
        q.run_graph(&run)?.wait()?;
        let moves = q.counters();
        ensure_eq!((moves.host_to_device.operations, moves.launches), (1, launches));
        ensure_eq!((moves.copies, moves.fills), (launches / 2, 0));
    }
    // A change by the host is noticed.
    x[0].write()?[0] = 50;
    q.run_graph(&run)?;
    ensure_eq!((x[1].get([0])?, x[1].get([1])?), (52, 7));
    ensure_eq!(q.counters().host_to_device.operations, 2);
    ran_whole(&run, 3, 0)
}

/// GRAPH-03, ERR-02: all that it writes counts as not written, and the next run works.
fn a_whole_run_fails_by_the_name_of_its_node(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    let at = Parameter::new(2);
    let (bad, fails_at) = (x[0].clone(), at.clone());
    adding(&graph, &x[2], 1)?;
    graph.add_updatable(&[], move |cg: &mut CommandGroup| {
        let at = cg.parameter(&fails_at);
        cg.label("the bad one").run(8, fails(at, &bad));
        Ok(())
    })?;
    graph.add(|cg| cg.run(8, adds_up(&x[0], &x[1])))?;
    let run = whole(&graph)?;
    let failed = failure(q.run_graph(&run)?.wait())?;
    ensure_eq!((failed.what(), failed.label()), ("kernel", "the bad one"));
    ensure_eq!(failure(x[1].to_vec())?.id(), failed.id());
    if run.replay_report().why_not().is_none() {
        ensure_eq!(failure(x[2].to_vec())?.id(), failed.id());
    }
    ensure_eq!(failure(q.wait())?.id(), failed.id());
    at.set(usize::MAX);
    x.iter().try_for_each(|x| q.fill(x, 1).map(drop))?;
    q.run_graph(&run)?.wait()?;
    ensure_eq!((x[1].to_vec()?, x[2].to_vec()?), (vec![4; 8], vec![2; 8]));
    ran_whole(&run, 2, 1)
}

/// GRAPH-03: a graph of the device's names memory; memory that was released is allocated anew, and
/// so is the graph.
fn memory_that_has_moved_is_found_by_whole_runs(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let graph = rig.rt.graph(&q.device())?;
    let mut x = rig.rt.buffer_from(&[1; 8])?;
    let mut y = rig.rt.buffer::<i32, 1>(8)?;
    graph.add(|cg| cg.copy(&x, &mut y))?;
    let run = whole(&graph)?;
    q.run_graph(&run)?.wait()?;
    q.run_graph(&run)?.wait()?;
    ran_whole(&run, 2, 0)?;
    ensure_eq!(y.to_vec()?, [1; 8]);
    x.release(&q.device())?;
    // Something else may be where it was.
    let other = rig.rt.buffer_from(&[9; 8])?;
    q.submit(|cg| {
        cg.prefetch(&other, Destination::Device);
        Ok(())
    })?;
    q.run_graph(&run)?.wait()?;
    ensure_eq!(y.to_vec()?, [1; 8]);
    if run.replay_report().why_not().is_none() {
        ensure_eq!(run.replay_report().replays, 3);
    }
    Ok(())
}

/// GRAPH-03: and says why.
fn what_cannot_run_as_a_whole_runs_by_commands(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 1)?;
    adding(&graph, &x[0], 1)?;
    let node = graph.add(|cg| cg.label("tells").each_run().host_task((), |()| {}))?;
    ensure_eq!(graph.kind(node)?, NodeKind::HostTask);
    let run = whole(&graph)?;
    q.run_graph(&run)?;
    q.run_graph(&run)?;
    ensure_eq!(x[0].to_vec()?, [3; 8]);
    let report = run.replay_report();
    let why = report.why_not().unwrap_or_default();
    ensure!(why.contains("tells") && why.contains("host task"), "{why}");
    ensure_eq!((report.replays, report.made, run.runs()), (0, 0, 2));
    // Errors are those of any run, and submit nothing.
    let other = rig.rt.graph(&q.device())?;
    adding(&other, &x[0], 1)?;
    let run = whole(&other)?;
    let guard = x[0].write()?;
    refused!(q.run_graph(&run), Error::HostAccessHeld { .. });
    drop(guard);
    q.run_graph(&run)?;
    let guard = x[0].write()?;
    refused!(q.run_graph(&run), Error::HostAccessHeld { .. });
    drop(guard);
    ensure_eq!(x[0].to_vec()?, [4; 8]);
    ran_whole(&run, 1, 0)
}

/// GRAPH-03, GRAPH-02: on queues of both kinds, behind what has not begun, without its handles.
fn whole_runs_keep_their_graph_until_they_end(rig: &Rig) -> Outcome {
    for in_order in [false, true] {
        let q = match in_order {
            true => rig.rt.in_order_queue_on(&rig.queue()?.device())?,
            false => rig.queue()?,
        };
        let x = numbers(rig, 1)?;
        let gate = Gate::new();
        held(&q, &x[0], &gate)?;
        let graph = rig.rt.graph(&q.device())?;
        adding(&graph, &x[0], 1)?;
        adding(&graph, &x[0], 10)?;
        let run = whole(&graph)?;
        let events: Vec<Event> = (0..3).map(|_| q.run_graph(&run)).collect::<Result<_, _>>()?;
        drop((graph, run));
        ensure!(events.iter().all(is_pending), "a run does not wait");
        gate.open();
        for event in events {
            event.wait()?;
        }
        ensure_eq!(x[0].to_vec()?, [83; 8]);
    }
    Ok(())
}

/// A host task that sets all to 50 when the gate opens.
pub(super) fn held(q: &Queue, x: &Shared<i32>, gate: &Gate) -> Result<(), Error> {
    let door = gate.door();
    q.submit(|cg| {
        let x = cg.write(x);
        cg.host_task(x, move |mut x| {
            door.pass();
            x.fill(50);
        });
        Ok(())
    })?;
    Ok(())
}
