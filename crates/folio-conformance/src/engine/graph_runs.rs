//! Runs of command graphs: their order, what can be exchanged between them, and batches.

use super::graphs::{adding, graph, numbers, why};
use super::rig::*;
use super::tests;
use folio_core::{
    BufferOptions, CommandGroup, Error, Event, Parameter, Queue, Shared, error::GraphError,
    graph::BatchReport,
};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

tests![
    runs_of_a_graph_do_not_overlap,
    a_run_is_one_command_of_an_in_order_queue,
    parameters_are_exchanged_between_runs,
    a_parameter_may_be_set_while_it_is_cloned,
    nodes_are_exchanged_between_runs,
    exchanged_arguments_are_checked_against_each_other,
    a_graph_within_a_graph_runs_in_its_place,
    a_failed_node_fails_its_run_only,
    a_graph_keeps_its_buffers,
    memory_that_a_run_uses_is_not_released,
    a_run_moves_what_is_elsewhere_and_no_more,
    a_batch_is_found_again,
    a_batch_that_comes_again_is_one_operation,
    what_a_known_batch_does_not_do_is_done_one_by_one,
    a_batch_with_an_error_submits_nothing,
    the_host_does_not_see_what_is_only_recorded,
    one_graph_runs_from_many_threads,
    pictures_show_nodes_and_edges,
    pictures_show_what_is_within_nodes,
];

/// GRAPH-03: even on an out-of-order queue, and without data in common.
fn runs_of_a_graph_do_not_overlap(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let inside = Arc::new(AtomicI32::new(0));
    let ends = Arc::new(AtomicUsize::new(0));
    // In the first run, the first task ends last.
    let gate = Gate::new();
    let (door, enters, counts) = (gate.door(), inside.clone(), ends.clone());
    graph.add(|cg| {
        cg.each_run().host_task((), move |()| {
            assert!(enters.fetch_add(1, Ordering::SeqCst) <= 1, "two runs at once");
            door.pass();
            enters.fetch_sub(1, Ordering::SeqCst);
            counts.fetch_add(1, Ordering::SeqCst);
        });
        Ok(())
    })?;
    let (enters, counts) = (inside.clone(), ends.clone());
    graph.add(|cg| {
        cg.each_run().host_task((), move |()| {
            assert!(enters.fetch_add(1, Ordering::SeqCst) <= 1, "two runs at once");
            enters.fetch_sub(1, Ordering::SeqCst);
            counts.fetch_add(1, Ordering::SeqCst);
        });
        Ok(())
    })?;
    let run = graph.finalize()?;
    let events: Vec<Event> = (0..4).map(|_| q.run_graph(&run)).collect::<Result<_, _>>()?;
    eventually("the free task of the first run", || ends.load(Ordering::SeqCst) == 1)?;
    ensure!(events.iter().all(is_pending), "a run has ended before its tasks");
    gate.open();
    for event in events {
        event.wait()?;
    }
    ensure_eq!(ends.load(Ordering::SeqCst), 8);
    Ok(())
}

/// GRAPH-01, GRAPH-03
fn a_run_is_one_command_of_an_in_order_queue(rig: &Rig) -> Outcome {
    let q = rig.rt.in_order_queue_on(&rig.queue()?.device())?;
    let graph = rig.rt.graph(&q.device())?;
    let x = numbers(rig, 3)?;
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    adding(&graph, &x[0], 1)?;
    graph.add(|cg| {
        cg.each_run().host_task((), move |()| {
            count.fetch_add(1, Ordering::SeqCst);
        });
        Ok(())
    })?;
    let run = graph.finalize()?;
    let gate = Gate::new();
    let (door, before) = (gate.door(), seen.clone());
    q.submit(|cg| {
        cg.host_task((), move |()| {
            door.pass();
            assert_eq!(before.load(Ordering::SeqCst), 0, "a run began early");
        });
        Ok(())
    })?;
    let event = q.run_graph(&run)?;
    let after = seen.clone();
    let last = q.submit(|cg| {
        cg.host_task((), move |()| assert_eq!(after.load(Ordering::SeqCst), 1, "a run ended late"));
        Ok(())
    })?;
    ensure!(is_pending(&event) && is_pending(&last), "a run does not wait");
    gate.open();
    last.wait()?;
    event.wait()?;
    // After an event, and failing with it.
    let bad = q.run(8, fails(2, &x[2]))?;
    let run = q.run_graph_after(&run, &[&bad])?;
    ensure_eq!(failure(run.wait())?.id(), failure(bad.wait())?.id());
    Ok(())
}

/// GRAPH-03: scalars, buffers, parts, ranges, and which kernel.
fn parameters_are_exchanged_between_runs(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 2)?;
    let (value, to) = (Parameter::new(1), Parameter::new(x[0].clone()));
    let (part, puts_it) = (Parameter::new((0usize, 8usize)), Parameter::new(false));
    let all = (value.clone(), to.clone(), part.clone(), puts_it.clone());
    let node = graph.add_updatable(&[], move |cg| {
        let (value, to) = (cg.parameter(&all.0), cg.parameter(&all.1));
        let ((at, n), puts_it) = (cg.parameter(&all.2), cg.parameter(&all.3));
        let to = to.slice_mut([at], [n])?;
        if puts_it {
            cg.run(n, puts(value, to))
        } else {
            cg.run(n, adds(value, to))
        }
        Ok(())
    })?;
    // Another node of the same parameter.
    let (other, again) = (x[1].clone(), value.clone());
    graph.add_updatable(&[node], move |cg| {
        let value = cg.parameter(&again);
        cg.run(8, adds(value, &other));
        Ok(())
    })?;
    let run = graph.finalize()?;
    q.run_graph(&run)?; // 2, 2
    value.set(10);
    q.run_graph(&run)?; // 12, 12
    part.set((6, 2));
    q.run_graph(&run)?; // 12 and 22, 22
    to.set(x[1].clone());
    q.run_graph(&run)?; // 22 and 32, of which both get 10: 32 and 42
    puts_it.set(true);
    value.set(5);
    let last = q.run_graph(&run)?; // 37 and 10
    // Too late for what has been submitted.
    value.set(1000);
    last.wait()?;
    let mut want = [12; 8];
    want[6..].fill(22);
    ensure_eq!(x[0].to_vec()?, want);
    let mut want = [37; 8];
    want[6..].fill(10);
    ensure_eq!(x[1].to_vec()?, want);
    // A value that does not fit is an error, and submits nothing.
    part.set((7, 2));
    refused!(q.run_graph(&run), Error::OutOfRange { .. });
    part.set((0, 8));
    value.set(0);
    q.run_graph(&run)?;
    ensure_eq!(x[1].to_vec()?, [0; 8]);
    Ok(())
}

/// GRAPH-03: one node, and all of a graph.
fn nodes_are_exchanged_between_runs(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    let node = adding(&graph, &x[0], 1)?;
    graph.add(|cg| cg.copy(&x[0], &x[1]))?;
    let run = graph.finalize()?;
    q.run_graph(&run)?; // 2, 2
    run.update(node, |cg| cg.run(8, adds(5, &x[2])))?;
    q.run_graph(&run)?; // 2, 2, 6
    ensure_eq!((x[0].to_vec()?, x[2].to_vec()?), (vec![2; 8], vec![6; 8]));
    let other = rig.rt.graph(&q.device())?;
    adding(&other, &x[1], 100)?;
    other.add(|cg| cg.copy(&x[1], &x[0]))?;
    run.update_from(&other)?;
    q.run_graph(&run)?; // 102, 102, 6
    let got = [0, 1, 2].map(|at| x[at].get([0]));
    ensure_eq!(got.into_iter().collect::<Result<Vec<_>, _>>()?, [102, 102, 6]);
    // The graph itself has not changed.
    q.run_graph(&graph.finalize()?)?;
    ensure_eq!((x[0].to_vec()?, x[1].to_vec()?), (vec![103; 8], vec![103; 8]));
    Ok(())
}

/// DEP-05, GRAPH-03: as at first, by whatever way they are exchanged. A refused argument changes
/// nothing.
fn exchanged_arguments_are_checked_against_each_other(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    // Copies the first half to what begins here.
    let copy = |x: &Shared<i32>, at: usize| {
        let (x, twin) = (x.clone(), x.clone());
        move |cg: &mut CommandGroup| -> Result<(), Error> {
            cg.copy(x.slice([0], [4])?, twin.slice_mut([at], [4])?);
            Ok(())
        }
    };
    let node = graph.add(copy(&x[0], 4))?;
    let at = Parameter::new(4);
    let updatable = |x: &Shared<i32>| {
        let (x, at) = (x.clone(), at.clone());
        move |cg: &mut CommandGroup| {
            let at = cg.parameter(&at);
            cg.label("slides").run(4, adds_up(x.slice([0], [4])?, x.slice_mut([at], [4])?));
            Ok(())
        }
    };
    graph.add_updatable(&[], updatable(&x[1]))?;
    let body = rig.rt.graph(&q.device())?;
    body.add_updatable(&[], updatable(&x[2]))?;
    let run = graph.finalize()?;
    let chosen = rig.rt.graph(&q.device())?;
    chosen.if_(&[], x[0].slice([0], [1])?, &body.finalize()?)?;
    let chosen = chosen.finalize()?;

    refused!(run.update(node, copy(&x[0], 3)), Error::Aliasing { .. });
    at.set(3);
    let refused = q.run_graph(&run).err().map(|error| error.to_string()).unwrap_or_default();
    ensure!(refused.contains("slides"), "{refused}");
    refused!(q.run_graph(&run), Error::Aliasing { .. });
    refused!(q.run_graph(&chosen), Error::Aliasing { .. });
    refused!(graph.add_graph(&[], &run), Error::Aliasing { .. });
    ensure_eq!((run.runs(), chosen.runs(), graph.len()), (0, 0, 2));
    ensure_eq!(x[1].to_vec()?, [1; 8]);
    at.set(4);
    q.fill(x[0].slice_mut([0], [4])?, 7)?;
    q.run_graph(&run)?;
    q.run_graph(&chosen)?;
    let got: Vec<_> = x.iter().map(|x| x.get([7])).collect::<Result<_, _>>()?;
    ensure_eq!(got, [7, 4, 4]);
    Ok(())
}

/// GRAPH-02
fn a_graph_within_a_graph_runs_in_its_place(rig: &Rig) -> Outcome {
    let (q, inner) = graph(rig)?;
    let order: Arc<std::sync::Mutex<Vec<u8>>> = Arc::default();
    let note = |name: u8| {
        let order = order.clone();
        move |()| {
            if let Ok(mut order) = order.lock() {
                order.push(name);
            }
        }
    };
    for _ in 0..3 {
        inner.add(|cg| cg.each_run().host_task((), note(1)))?;
    }
    let inner = inner.finalize()?;
    let outer = rig.rt.graph(&q.device())?;
    let before = outer.add(|cg| cg.each_run().host_task((), note(0)))?;
    let middle = outer.add_graph(&[before], &inner)?;
    let nothing = rig.rt.graph(&q.device())?.finalize()?;
    let middle = outer.add_graph(&[middle], &nothing)?;
    outer.add_after(&[middle], |cg| cg.each_run().host_task((), note(2)))?;
    let run = outer.finalize()?;
    for _ in 0..2 {
        q.run_graph(&run)?.wait()?;
    }
    // The graph still runs by itself.
    q.run_graph(&inner)?.wait()?;
    let order = order.lock().map(|order| order.clone()).unwrap_or_default();
    ensure_eq!(order, [0, 1, 1, 1, 2, 0, 1, 1, 1, 2, 1, 1, 1]);
    // By data, too.
    let x = numbers(rig, 1)?;
    let inner = rig.rt.graph(&q.device())?;
    inner.add(|cg| cg.run(8, adds(10, &x[0])))?;
    let outer = rig.rt.graph(&q.device())?;
    let fill = outer.add(|cg| cg.fill(&x[0], 1))?;
    let node = outer.add_graph(&[], &inner.finalize()?)?;
    ensure_eq!(outer.predecessors(node)?, [fill]);
    q.run_graph(&outer.finalize()?)?;
    ensure_eq!(x[0].to_vec()?, [11; 8]);
    Ok(())
}

/// GRAPH-03, ERR-02
fn a_failed_node_fails_its_run_only(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    let at = Parameter::new(2);
    let (bad, fails_at) = (x[0].clone(), at.clone());
    graph.add_updatable(&[], move |cg| {
        let at = cg.parameter(&fails_at);
        cg.label("the bad one").run(8, fails(at, &bad));
        Ok(())
    })?;
    graph.add(|cg| cg.run(8, adds_up(&x[0], &x[1])))?;
    adding(&graph, &x[2], 1)?;
    let run = graph.finalize()?;
    let failed = failure(q.run_graph(&run)?.wait())?;
    ensure_eq!((failed.what(), failed.label()), ("kernel", "the bad one"));
    ensure_eq!(failure(x[1].to_vec())?.id(), failed.id());
    ensure_eq!(x[2].to_vec()?, [2; 8]);
    at.set(usize::MAX);
    q.fill(&x[0], 1)?;
    q.fill(&x[1], 1)?;
    q.run_graph(&run)?.wait()?;
    ensure_eq!((x[1].to_vec()?, x[2].to_vec()?), (vec![4; 8], vec![3; 8]));
    ensure_eq!(failure(q.wait())?.id(), failed.id());
    Ok(())
}

/// POL-06, GRAPH-02: neither released nor taken out, as long as the run goes on.
fn memory_that_a_run_uses_is_not_released(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let device = q.device();
    let mut x = rig.rt.buffer_from(&[1; 8])?;
    let gate = Gate::new();
    let door = gate.door();
    graph.add(|cg| {
        let x = cg.read(&x);
        cg.each_run().host_task(x, move |_| door.pass());
        Ok(())
    })?;
    graph.add(|cg| cg.run(8, adds(1, &mut x)))?;
    let run = graph.finalize()?;
    let event = q.run_graph(&run)?;
    refused!(x.release(&device), Error::InUse { .. });
    gate.open();
    event.wait()?;
    ensure_eq!(x.to_vec()?, [2; 8]);
    Ok(())
}

/// GRAPH-02: and gives them back.
fn a_graph_keeps_its_buffers(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let mut out = rig.rt.buffer::<i32, 1>(8)?;
    let mut x = rig.rt.buffer_from(&[1; 8])?;
    graph.add(|cg| cg.run(8, adds(1, &mut x)))?;
    graph.add(|cg| cg.copy(&x, &mut out))?;
    drop(x);
    let run = graph.finalize()?;
    drop(graph);
    for n in 2..5 {
        q.run_graph(&run)?;
        ensure_eq!(out.to_vec()?, [n; 8]);
    }
    q.run_graph(&run)?;
    drop(run);
    ensure_eq!(out.to_vec()?, [5; 8]);
    Ok(())
}

/// GRAPH-03: what is moved is what the same commands would move.
fn a_run_moves_what_is_elsewhere_and_no_more(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let graph = rig.rt.graph(&q.device())?;
    let mut x = rig.rt.buffer_from(&[1; 8])?;
    graph.add(|cg| cg.run(8, adds(1, &mut x)))?;
    graph.add(|cg| cg.run(8, adds(1, &mut x)))?;
    let run = graph.finalize()?;
    for n in 0..5 {
        q.run_graph(&run)?.wait()?;
        let moves = q.counters();
        ensure_eq!((moves.host_to_device.operations, moves.launches), (1, 2 * (n + 1)));
    }
    // Another residency at the entry of a run.
    x.write()?[0] = 100;
    q.run_graph(&run)?;
    ensure_eq!((x.get([0])?, x.get([1])?), (102, 13));
    ensure_eq!(q.counters().host_to_device.operations, 2);
    Ok(())
}

/// GRAPH-08
fn a_batch_is_found_again(rig: &Rig) -> Outcome {
    for q in [rig.queue()?, rig.rt.in_order_queue_on(&rig.queue()?.device())?] {
        let (mut x, mut y) = (rig.rt.buffer_from(&[1; 8])?, rig.rt.buffer_from(&[2; 8])?);
        let told = Arc::new(AtomicI32::new(0));
        let mut want = (1, 2);
        for step in 0..6 {
            let tells = told.clone();
            let n = if step < 4 { 8 } else { 4 };
            let (_, event) = q.batch(|q| {
                let part = y.slice_mut([0], [n])?;
                q.run(n, adds_up(x.slice([0], [n])?, part))?;
                q.run(8, adds(step, &mut x))?;
                q.submit(|cg| {
                    let y = cg.read(&y);
                    cg.host_task(y, move |y| tells.store(y[0], Ordering::SeqCst));
                    Ok(())
                })
            })?;
            want = (want.0 + step, want.1 * 3 + want.0);
            event.wait()?;
            ensure_eq!(told.load(Ordering::SeqCst), want.1);
            ensure_eq!((x.get([0])?, y.get([0])?), want);
            std::mem::swap(&mut x, &mut y);
            want = (want.1, want.0);
        }
        let BatchReport { batches, found, made, evicted, commands, .. } = q.batch_report();
        ensure_eq!((batches, found, made, evicted, commands), (6, 5, 1, 0, 3));
        for n in 1..20 {
            q.batch(|q| {
                q.fill(&mut x, 0)?;
                (0..n).try_for_each(|_| q.barrier().map(drop))
            })?;
        }
        ensure_eq!(q.batch_report().evicted, 4);
        q.wait()?;
    }
    Ok(())
}

/// A block of tiny commands that the device can do as one: it returns what `x` and `y` are then.
fn tiny(q: &Queue, [x, y]: [&Shared<i32>; 2], add: i32) -> Result<(), Error> {
    q.run(8, adds(add, x))?;
    q.run(8, adds(2, y))?;
    q.copy(x, y)?;
    q.run(8, adds(3, y)).map(drop)
}

/// Runs blocks until one was one operation, if the device has graphs, and says whether.
fn replays(q: &Queue, block: &mut dyn FnMut(&Queue) -> Result<(), Error>) -> Result<bool, Stop> {
    for _ in 0..50 {
        let before = q.batch_report().replayed;
        q.batch(|q| block(q))?.1.wait()?;
        if q.batch_report().replayed > before {
            return Ok(true);
        }
    }
    // Its graphs were refused, or it has none.
    Ok(false)
}

/// GRAPH-08: a block that has been there with these arguments is one operation of the device. With
/// others, each is one operation once it has been there.
fn a_batch_that_comes_again_is_one_operation(rig: &Rig) -> Outcome {
    for q in [rig.queue()?, rig.rt.in_order_queue_on(&rig.queue()?.device())?] {
        let all = numbers(rig, 3)?;
        let [x, y, z] = [&all[0], &all[1], &all[2]];
        let mut runs = 0;
        let mut block = |q: &Queue| {
            runs += 1;
            tiny(q, [x, y], 1)
        };
        let is_one = replays(&q, &mut block)?;
        let report = q.batch_report();
        ensure!(!is_one || report.why_not.is_none() && report.commands == 4, "{report:?}");
        ensure!(is_one || report.why_not.is_some(), "{report:?}");
        let now = q.counters();
        for _ in 0..5 {
            q.batch(|q| block(q))?;
        }
        q.wait()?;
        ensure_eq!((x.get([7])?, y.get([0])?), (1 + runs, 4 + runs));
        if is_one && q.batch_report().replayed == report.replayed + 5 {
            ensure_eq!(q.counters().replays, now.replays + 5);
            ensure_eq!(q.counters().launches, now.launches + 15);
        }
        // Buffers that take turns, and another one: each of the three is its own block.
        for n in 0..30 {
            let pair = [[x, y], [y, x], [z, y]][n % 3];
            q.batch(|q| tiny(q, pair, 0))?;
        }
        let graphs = q.batch_report().graphs;
        ensure!(!is_one || graphs >= 3, "{:?}", q.batch_report());
        // In turns of three, x and y are those of the block before, and 3 more.
        let (mut at, mut want) = ([1 + runs, 4 + runs, 1], [0; 3]);
        for n in 0..30 {
            let [from, to] = [[0, 1], [1, 0], [2, 1]][n % 3];
            at[to] = at[from] + 3;
            want = at;
        }
        q.wait()?;
        ensure_eq!([x.get([0])?, y.get([0])?, z.get([0])?], want);
    }
    Ok(())
}

/// GRAPH-08: what begins like a known block and goes on otherwise, has other values, or has memory
/// that is elsewhere by now, does what it says. A known block beside other work does so, too.
fn what_a_known_batch_does_not_do_is_done_one_by_one(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let all = numbers(rig, 2)?;
    let [x, y] = [&all[0], &all[1]];
    let mut want = [1, 1];
    let mut known = |q: &Queue| {
        want = [want[0] + 1, want[0] + 4];
        tiny(q, [x, y], 1)
    };
    replays(&q, &mut known)?;
    // The end is missing, another one follows, a value is another, an event is kept.
    let mut kept = None;
    q.batch(|q| {
        q.run(8, adds(1, x))?;
        kept = Some(q.run(8, adds(2, y))?);
        Ok(())
    })?;
    want = [want[0] + 1, want[1] + 2];
    q.batch(|q| tiny(q, [x, y], 1).and_then(|()| q.run(8, adds(5, y)).map(drop)))?;
    want = [want[0] + 1, want[0] + 1 + 3 + 5];
    q.batch(|q| tiny(q, [x, y], 7))?;
    want = [want[0] + 7, want[0] + 7 + 3];
    q.batch(|q| {
        let first = q.run(8, adds(1, x))?;
        q.submit(|cg| {
            cg.after(&first).run(8, adds(2, y));
            Ok(())
        })?;
        q.barrier()?;
        q.run(8, adds(4, x)).map(drop)
    })?;
    want = [want[0] + 5, want[1] + 2];
    ensure_eq!([x.get([0])?, y.get([0])?], want);
    // An event of an earlier block is no event of this one.
    let kept = kept.ok_or_else(|| Stop::Failed("no event".into()))?;
    let other = q.batch(|q| {
        q.run(8, adds(1, x))?;
        q.submit(|cg| {
            cg.after(&kept).run(8, adds(2, y));
            Ok(())
        })
    });
    ensure!(other.is_err(), "an event of an earlier block was taken");
    // The host reads what a known block has written, and not within it.
    let mut seen = None;
    q.batch(|q| {
        q.run(8, adds(1, x))?;
        seen = Some(x.get([0]));
        q.run(8, adds(2, y)).map(drop)
    })?;
    want = [want[0] + 1, want[1] + 2];
    let seen = seen.ok_or_else(|| Stop::Failed("not asked".into()))?;
    ensure_eq!(why(seen.map(drop))?.to_string().contains("adds"), true);
    // An error in the middle submits nothing, and a failure before a block reaches it.
    refused!(
        q.batch(|q| {
            q.run(8, adds(1, x))?;
            q.fill(x.slice_mut([4], [5])?, 1)
        }),
        Error::OutOfRange { .. }
    );
    x.write()?[0] = 50;
    y.write()?[0] = 60;
    q.batch(|q| tiny(q, [x, y], 1))?;
    ensure_eq!([x.get([0])?, y.get([0])?, y.get([1])?], [51, 54, want[0] + 1 + 3]);
    let guard = y.read()?;
    refused!(q.batch(|q| tiny(q, [x, y], 1)), Error::HostAccessHeld { .. });
    drop(guard);
    ensure_eq!([x.get([0])?, y.get([0])?], [51, 54]);
    Ok(())
}

/// Fails unless `result` is refused since `command` is to `uses` the buffer `x`.
fn not_run<T>(result: Result<T, Error>, [command, uses]: [&str; 2]) -> Outcome {
    let Err(Error::Graph { why, .. }) = &result else {
        return Err(Stop::Failed(format!("not refused, or so: {:?}", result.err())));
    };
    match &**why {
        GraphError::NotRunYet { buffer, command: by, uses: how, .. } => {
            ensure_eq!((buffer.as_str(), by.as_str(), *how), ("x", command, uses));
        }
        other => return Err(Stop::Failed(format!("refused otherwise: {other}"))),
    }
    Ok(())
}

/// GRAPH-01, GRAPH-08, ERR-01: in a block, and as long as a thread records, it neither reads what
/// has been recorded as written, nor writes what has been recorded as used. Nothing changes.
fn the_host_does_not_see_what_is_only_recorded(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let x = rig.rt.buffer_with(&[1; 8], BufferOptions::new().label("x"))?.into_shared();
    let mut y = rig.rt.buffer_from(&[2; 8])?;
    let refusals = |x: &Shared<i32>, [writer, reader]: [&str; 2]| -> Outcome {
        // The first half is written, the second one is read.
        not_run(x.read(), [writer, "write"])?;
        not_run(x.to_vec(), [writer, "write"])?;
        not_run(x.get([1]), [writer, "write"])?;
        not_run(x.slice([0], [2])?.read(), [writer, "write"])?;
        not_run(x.slice_mut([4], [2])?.write(), [reader, "read"])?;
        ensure_eq!((x.get([5])?, x.slice([4], [4])?.read()?.to_vec()), (1, vec![1; 4]));
        // Another thread sees what is there.
        let other = x.clone();
        let seen = std::thread::spawn(move || other.to_vec()).join();
        ensure_eq!(seen.map_err(|_| Stop::Failed("a panic".into()))??, vec![1; 8]);
        Ok(())
    };
    let ((), event) = q.batch(|q| {
        q.fill(x.slice_mut([0], [4])?, 5)?;
        q.run(4, copies(x.slice([4], [4])?, y.slice_mut([0], [4])?))?;
        Ok(())
    })?;
    event.wait()?;
    ensure_eq!((x.get([0])?, y.get([0])?), (5, 1));
    q.fill(&x, 1)?;
    let mut checked = Ok(());
    q.batch(|q| {
        q.fill(x.slice_mut([0], [4])?, 5)?;
        q.run(4, copies(x.slice([4], [4])?, y.slice_mut([0], [4])?))?;
        checked = refusals(&x, ["fill", "copies"]);
        Ok(())
    })?;
    checked?;
    ensure_eq!(x.to_vec()?, [5, 5, 5, 5, 1, 1, 1, 1]);
    q.fill(&x, 1)?;
    let graph = rig.rt.graph(&q.device())?;
    let recording = graph.record([&q])?;
    q.submit(|cg| {
        cg.label("five").fill(x.slice_mut([0], [4])?, 5);
        Ok(())
    })?;
    q.run(4, copies(x.slice([4], [4])?, y.slice_mut([0], [4])?))?;
    refusals(&x, ["five", "copies"])?;
    drop(recording);
    x.write()?[4] = 3;
    q.run_graph(&graph.finalize()?)?;
    ensure_eq!((x.to_vec()?, y.get([0])?), (vec![5, 5, 5, 5, 3, 1, 1, 1], 3));
    Ok(())
}

/// GRAPH-08
fn a_batch_with_an_error_submits_nothing(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = rig.rt.buffer_from(&[1; 8])?;
    let before = rig.rt.counters();
    let result = q.batch(|q| {
        q.run(8, adds(1, &mut x))?;
        q.fill(x.slice_mut([4], [5])?, 1)
    });
    refused!(result, Error::OutOfRange { .. });
    ensure_eq!((rig.rt.counters(), q.batch_report().batches), (before, 0));
    // A command that is refused when the block is submitted.
    let shared = x.into_shared();
    let guard = shared.read()?;
    let y = numbers(rig, 1)?;
    let result = q.batch(|q| {
        q.fill(&y[0], 9)?;
        q.fill(&shared, 9)
    });
    refused!(result, Error::HostAccessHeld { .. });
    drop(guard);
    ensure_eq!((y[0].to_vec()?, shared.to_vec()?), (vec![1; 8], vec![1; 8]));
    // A buffer that a block makes and drops lives as long as it is used.
    let (_, event) = q.batch(|q| {
        let mut temporary = rig.rt.buffer_from(&[4; 8])?;
        q.run(8, adds(1, &mut temporary))?;
        q.copy(&temporary, &shared)
    })?;
    event.wait()?;
    ensure_eq!(shared.to_vec()?, [5; 8]);
    Ok(())
}

/// GRAPH-03
fn one_graph_runs_from_many_threads(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 2)?;
    adding(&graph, &x[0], 1)?;
    graph.add(|cg| cg.run(8, adds_up(&x[0], &x[1])))?;
    graph.add(|cg| cg.run(8, puts(0, &x[1])))?;
    let run = graph.finalize()?;
    let queues = [q.clone(), rig.queue()?, rig.rt.in_order_queue_on(&q.device())?];
    std::thread::scope(|scope| {
        let runs = queues.iter().map(|q| {
            let run = run.clone();
            scope.spawn(move || (0..20).try_for_each(|_| q.run_graph(&run).map(drop)))
        });
        let runs: Vec<_> = runs.collect();
        runs.into_iter().all(|run| matches!(run.join(), Ok(Ok(()))))
    })
    .then_some(())
    .ok_or_else(|| Stop::Failed("a thread failed".into()))?;
    for queue in &queues {
        queue.wait()?;
    }
    ensure_eq!((x[0].to_vec()?, x[1].to_vec()?, run.runs()), (vec![61; 8], vec![0; 8], 60));
    Ok(())
}

/// GRAPH-04
fn pictures_show_nodes_and_edges(rig: &Rig) -> Outcome {
    let (_q, graph) = graph(rig)?;
    let x = numbers(rig, 1)?;
    graph.label("say \"hi\"\n");
    let first = graph.add(|cg| cg.label("clear \\ it").fill(&x[0], 0))?;
    adding(&graph, &x[0], 1)?;
    graph.add_after(&[first], |_| ())?;
    let text = r#"digraph "say \"hi\"\\n" {
  node [shape=box];
  n0 [label="0: fill `clear \\ it`"];
  n1 [label="1: kernel `adds`"];
  n0 -> n1 [style=dashed];
  n2 [label="2: empty node"];
  n0 -> n2;
}
"#;
    ensure_eq!(graph.dot(), text);
    let json = graph.json();
    let wants = [
        r#""name":"say \"hi\"\\n""#,
        r#"{"node":1,"kind":"kernel","name":"adds","after":[0],"data":[0]}"#,
        r#"{"node":2,"kind":"empty node","name":"","after":[0],"data":[]}"#,
    ];
    for want in wants {
        ensure!(json.contains(want), "{json} has no {want}");
    }
    Ok(())
}

/// GRAPH-04: graphs within the graph, and bodies of conditions within those.
fn pictures_show_what_is_within_nodes(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 1)?;
    let body = rig.rt.graph(&q.device())?;
    body.add(|cg| cg.label("clear").fill(&x[0], 0))?;
    adding(&body, &x[0], 1)?;
    let inner = rig.rt.graph(&q.device())?;
    let value = x[0].slice([0], [1])?;
    inner.label("inner").while_(&[], value, 3, &body.finalize()?)?;
    graph.add_graph(&[], &inner.finalize()?)?;
    let text = r#"digraph "" {
  node [shape=box];
  subgraph cluster_n0 {
  n0 [label="0: graph `inner`"];
  subgraph cluster_n0_0 {
  label="";
  subgraph cluster_n0_0_0 {
  n0_0_0 [label="while"];
  subgraph cluster_n0_0_0_0 {
  label="while not 0";
  n0_0_0_0_0 [label="fill `clear`"];
  n0_0_0 -> n0_0_0_0_0 [style=dotted];
  n0_0_0_0_1 [label="kernel `adds`"];
  n0_0_0_0_0 -> n0_0_0_0_1 [style=dashed];
  }
  }
  n0 -> n0_0_0 [style=dotted];
  }
  }
}
"#;
    ensure_eq!(graph.dot(), text);
    let inside = concat!(
        r#""bodies":[{"name":"while not 0","nodes":["#,
        r#"{"node":0,"kind":"fill","name":"clear","after":[],"data":[]},"#,
        r#"{"node":1,"kind":"kernel","name":"adds","after":[0],"data":[0]}]}]"#
    );
    let json = graph.json();
    let node =
        r#"{"node":0,"kind":"graph","name":"inner","after":[],"data":[],"bodies":[{"name":"","#;
    ensure!(json.contains(node) && json.contains(inside), "{json}");
    // The run is the list of all commands.
    let run = graph.finalize()?;
    let dot = run.dot()?;
    ensure!(dot.contains("n0_0_1 [label=\"kernel `adds`\"]"), "{dot}");
    let json = run.json()?;
    let node = r#"{"node":0,"kind":"while","name":"","after":[],"data":[],"command":0,"bodies":"#;
    ensure!(json.contains(node) && json.contains(inside), "{json}");
    Ok(())
}

/// Sets the parameter of which it is the value, when it is cloned.
struct Setter {
    parameter: Arc<OnceLock<Parameter<Setter>>>,
    clones: usize,
}

impl Clone for Setter {
    fn clone(&self) -> Setter {
        let (parameter, clones) = (self.parameter.clone(), self.clones + 1);
        if let Some(itself) = parameter.get() {
            itself.set(Setter { parameter: parameter.clone(), clones });
        }
        Setter { parameter, clones }
    }
}

/// GRAPH-03: the clone of a value is the program's code, and runs without a lock.
fn a_parameter_may_be_set_while_it_is_cloned(_: &Rig) -> Outcome {
    let cell = Arc::new(OnceLock::new());
    let parameter = Parameter::new(Setter { parameter: cell.clone(), clones: 0 });
    ensure!(cell.set(parameter.clone()).is_ok(), "set before");
    ensure_eq!((parameter.get().clones, parameter.get().clones), (1, 2));
    Ok(())
}
