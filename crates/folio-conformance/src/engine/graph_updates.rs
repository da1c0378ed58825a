//! Exchanges between the runs of a graph, and their limits.

use super::graph_conditions::setting;
use super::graphs::{adding, graph, numbers, why};
use super::rig::*;
use super::tests;
use folio_core::{
    DeviceRef, Error, Event, Parameter, Shared, UsmKind, UsmPtr, error::GraphError, graph::Replay,
};
use std::thread::ScopedJoinHandle;

tests![
    usm_pointers_are_exchanged_by_parameters,
    nodes_of_graphs_within_a_graph_are_exchanged,
    an_update_ends_what_a_parameter_does,
    what_cannot_be_exchanged_is_named,
    threads_build_one_graph,
    threads_exchange_and_run_one_graph,
];

/// GRAPH-03: raw copies and fills, whose ends are parameters.
fn usm_pointers_are_exchanged_by_parameters(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let device = q.device();
    let all = (0..3).map(|_| rig.rt.usm::<u32>(&device, UsmKind::Device, 8));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let of = |at: usize| all[at].pointer();
    let (from, to) = (Parameter::new(of(0)), Parameter::new(of(1)));
    let value = Parameter::new(7u32);
    let (reads, fills) = (from.clone(), value.clone());
    let first = graph.add_updatable(&[], move |cg| {
        let (at, value) = (cg.parameter(&reads), cg.parameter(&fills));
        // SAFETY: all of an allocation, which the test keeps; nothing else uses it meanwhile.
        unsafe { cg.fill_raw(at, [1, 1, 8], value) };
        Ok(())
    })?;
    let ends = (from.clone(), to.clone());
    graph.add_updatable(&[first], move |cg| {
        let (from, to) = (cg.parameter(&ends.0), cg.parameter(&ends.1));
        // SAFETY: as above, after the fill.
        unsafe { cg.copy_raw(from, to, [1, 1, 32]) };
        Ok(())
    })?;
    let run = graph.finalize()?;
    let contents = |after: &Event| -> Result<Vec<[u32; 8]>, Stop> {
        let mut got = Vec::new();
        for at in 0..3 {
            let mut out = [0u32; 8];
            let host = UsmPtr::of_host(&rig.rt, out.as_mut_ptr().cast(), 32);
            let event = q.submit(|cg| {
                // SAFETY: both have so many bytes, and this function waits.
                unsafe { cg.after(after).copy_raw(of(at), host, [1, 1, 32]) };
                Ok(())
            })?;
            event.wait()?;
            got.push(out);
        }
        Ok(got)
    };
    for how in [Replay::Lists, Replay::Commands] {
        run.replay_as(how);
        for at in 0..3 {
            from.set(of(at));
            to.set(of((at + 1) % 3));
            for again in 0..3 {
                let put = 10 * at as u32 + again;
                value.set(put);
                let got = contents(&q.run_graph(&run)?)?;
                ensure_eq!((got[at], got[(at + 1) % 3]), ([put; 8], [put; 8]), "{how:?}");
            }
        }
    }
    // A pointer whose memory is gone is refused, and nothing runs.
    let gone = rig.rt.usm::<u32>(&device, UsmKind::Device, 8)?;
    to.set(gone.pointer());
    drop(gone);
    let runs = contents(&q.barrier()?)?;
    let freed = q.run_graph(&run);
    ensure!(matches!(freed, Err(Error::Freed { .. })), "{freed:?}");
    ensure_eq!(contents(&q.barrier()?)?, runs);
    to.set(of(0));
    from.set(of(1));
    value.set(5);
    ensure_eq!(contents(&q.run_graph(&run)?)?[..2], [[5; 8]; 2]);
    Ok(())
}

/// GRAPH-03: by the nodes of the graph within; in all places, where it is a node several times.
fn nodes_of_graphs_within_a_graph_are_exchanged(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    let innermost = rig.rt.graph(&q.device())?;
    let deep = adding(&innermost, &x[0], 1)?;
    let inner = rig.rt.graph(&q.device())?;
    let node = adding(&inner, &x[1], 1)?;
    inner.add_graph(&[], &innermost.finalize()?)?;
    let inner = inner.finalize()?;
    graph.add_graph(&[], &inner)?;
    let copy = graph.add(|cg| cg.copy(&x[0], &x[2]))?;
    graph.add_graph(&[copy], &inner)?;
    let run = graph.finalize()?;
    let run_all = || -> Result<[i32; 3], Stop> {
        q.run_graph(&run)?;
        Ok([x[0].get([0])?, x[1].get([0])?, x[2].get([0])?])
    };
    ensure_eq!(run_all()?, [3, 3, 2]);
    run.update(deep, |cg| cg.run(8, adds(10, &x[0])))?;
    ensure_eq!(run_all()?, [23, 5, 13]);
    run.update(node, |cg| cg.run(8, adds(100, &x[1])))?;
    ensure_eq!(run_all()?, [43, 205, 33]);
    // A run that was made of the graph within before does as before.
    q.run_graph(&inner)?;
    ensure_eq!((x[0].get([0])?, x[1].get([0])?), (44, 206));
    let refused = why(run.update(node, |cg| cg.fill(&x[1], 1)))?;
    ensure!(matches!(refused, GraphError::OtherShape { node: 0, .. }), "{refused}");
    ensure_eq!(run_all()?, [64, 406, 54]);
    Ok(())
}

/// GRAPH-03
fn an_update_ends_what_a_parameter_does(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 1)?;
    let value = Parameter::new(1);
    let (to, reads) = (x[0].clone(), value.clone());
    let node = graph.add_updatable(&[], move |cg| {
        let value = cg.parameter(&reads);
        cg.run(8, adds(value, &to));
        Ok(())
    })?;
    let run = graph.finalize()?;
    q.run_graph(&run)?; // 2
    // It would be described once only.
    let refused = why(run.update(node, |cg| {
        let value = cg.parameter(&value);
        cg.run(8, adds(value, &x[0]));
    }))?;
    ensure!(matches!(refused, GraphError::NotUpdatable { .. }), "{refused}");
    value.set(10);
    q.run_graph(&run)?; // 12
    run.update(node, |cg| cg.run(8, adds(100, &x[0])))?;
    value.set(1000);
    q.run_graph(&run)?; // 112
    ensure_eq!(x[0].to_vec()?, [112; 8]);
    // The graph's own node still reads it.
    q.run_graph(&graph.finalize()?)?;
    ensure_eq!(x[0].to_vec()?, [1112; 8]);
    Ok(())
}

/// GRAPH-02, GRAPH-03: a parameter that makes another kind of a node, graphs of another shape and
/// of another runtime. Errors name the node by the number that it has in its graph.
fn what_cannot_be_exchanged_is_named(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 2)?;
    let inner = rig.rt.graph(&q.device())?;
    (0..3).try_for_each(|_| adding(&inner, &x[1], 1).map(drop))?;
    graph.add_graph(&[], &inner.finalize()?)?;
    let fills = Parameter::new(false);
    let (to, reads) = (x[0].clone(), fills.clone());
    let node = graph.add_updatable(&[], move |cg| {
        cg.label("either");
        if cg.parameter(&reads) {
            cg.fill(&to, 7);
        } else {
            cg.run(8, adds(1, &to));
        }
        Ok(())
    })?;
    let last = setting(&graph, &x[1], 5)?;
    let run = graph.finalize()?;
    q.run_graph(&run)?;
    fills.set(true);
    let refused = why(q.run_graph(&run))?;
    let named = |refused: &GraphError, at: usize, name: &str| {
        matches!(refused, GraphError::OtherShape { node, command, .. }
            if *node == at && command.as_str() == name)
    };
    ensure!(named(&refused, 1, "either"), "{refused}");
    fills.set(false);
    q.run_graph(&run)?;
    ensure_eq!((x[0].get([0])?, x[1].get([1])?, run.runs()), (3, 7, 2));
    ensure_eq!(graph.nodes()[1..], [node, last]);

    // Another one, whose last node is a copy.
    let other = rig.rt.graph(&q.device())?;
    other.add_graph(&[], &inner.finalize()?)?;
    adding(&other, &x[0], 1)?;
    other.add(|cg| cg.copy(&x[0], &x[1]))?;
    let refused = why(run.update_from(&other))?;
    ensure!(named(&refused, 2, "fill"), "{refused}");
    let text = refused.to_string();
    ensure!(text.ends_with("cannot be exchanged: it is a fill, and not a copy"), "{text}");
    // And one that goes on where this one ends.
    let longer = rig.rt.graph(&q.device())?;
    longer.add_graph(&[], &inner.finalize()?)?;
    adding(&longer, &x[0], 1)?;
    setting(&longer, &x[1], 5)?;
    longer.add(|cg| cg.label("more").fill(&x[1], 5))?;
    let refused = why(run.update_from(&longer))?;
    ensure!(named(&refused, 3, "more"), "{refused}");
    let text = refused.to_string();
    ensure!(text.ends_with("the other graph goes on where this one has ended"), "{text}");

    let apart = rig.builder().build()?;
    let (theirs, y) = (apart.graph(q.device().name())?, apart.buffer_from(&[1; 8])?.into_shared());
    adding(theirs.label("theirs"), &y, 1)?;
    let refused = run.update_from(&theirs);
    ensure!(
        matches!(&refused, Err(Error::WrongRuntime { what: "graph", label, .. })
            if label.as_str() == "theirs"),
        "{refused:?}"
    );
    q.run_graph(&run)?;
    ensure_eq!(x[0].get([0])?, 4);
    Ok(())
}

/// How often each thread does what it does.
const TURNS: usize = 30;

/// The results of threads, one by one.
fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, Stop>>) -> Result<T, Stop> {
    thread.join().unwrap_or_else(|_| Err(Stop::Failed("a thread panicked".into())))
}

/// GRAPH-01: by hand and by recording, while others finalize and run what there is.
fn threads_build_one_graph(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let (x, device) = (numbers(rig, 4)?, q.device());
    // Not while a queue is recorded.
    let by_hand = |x: &Shared<i32>| -> Result<usize, Stop> {
        let mut added = 0;
        for _ in 0..TURNS {
            match adding(&graph, x, 1) {
                Ok(_) => added += 1,
                other => ensure_eq!(why(other)?, GraphError::BeingRecorded),
            }
        }
        Ok(added)
    };
    let recorded = |x: &Shared<i32>| -> Result<usize, Stop> {
        let q = rig.rt.queue_on(&device)?;
        for _ in 0..TURNS / 3 {
            let recording = graph.record([&q])?;
            q.run(8, adds(1, x))?;
            drop(recording);
        }
        Ok(TURNS / 3)
    };
    let runs = || -> Outcome {
        let q = rig.rt.queue_on(&device)?;
        for _ in 0..TURNS {
            q.run_graph(&graph.finalize()?)?.wait()?;
        }
        Ok(())
    };
    let counts = std::thread::scope(|scope| {
        let threads = [
            scope.spawn(|| by_hand(&x[0])),
            scope.spawn(|| by_hand(&x[1])),
            scope.spawn(|| recorded(&x[2])),
            scope.spawn(|| recorded(&x[3])),
        ];
        let running = scope.spawn(runs);
        let counts = threads.map(joined).into_iter().collect::<Result<Vec<usize>, Stop>>();
        joined(running).and(counts)
    })?;
    ensure_eq!(graph.len(), counts.iter().sum::<usize>());
    let before = x.iter().map(|x| x.get([0])).collect::<Result<Vec<_>, _>>()?;
    q.run_graph(&graph.finalize()?)?;
    for ((x, before), count) in x.iter().zip(before).zip(counts) {
        ensure_eq!(x.to_vec()?, [before + count as i32; 8]);
    }
    Ok(())
}

/// GRAPH-03: each run does what one of the exchanges has said.
fn threads_exchange_and_run_one_graph(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 2)?;
    let node = adding(&graph, &x[0], 1)?;
    let value = Parameter::new(1);
    let (to, reads) = (x[1].clone(), value.clone());
    graph.add_updatable(&[], move |cg| {
        let value = cg.parameter(&reads);
        cg.run(8, adds(value, &to));
        Ok(())
    })?;
    let run = graph.finalize()?;
    let runs = |device: &DeviceRef| -> Outcome {
        let q = rig.rt.queue_on(device)?;
        (0..TURNS).try_for_each(|_| q.run_graph(&run).map(drop))?;
        Ok(q.wait()?)
    };
    let device = q.device();
    std::thread::scope(|scope| {
        let running = [scope.spawn(|| runs(&device)), scope.spawn(|| runs(&device))];
        let updates = scope.spawn(|| -> Outcome {
            for n in 0..TURNS {
                run.update(node, |cg| cg.run(8, adds(1 + n as i32 % 2, &x[0])))?;
            }
            Ok(())
        });
        let sets = scope.spawn(|| -> Outcome {
            (0..TURNS).for_each(|n| value.set(1 + n as i32 % 2));
            Ok(())
        });
        running.into_iter().chain([updates, sets]).try_for_each(joined)
    })?;
    let all = 2 * TURNS as i32;
    for x in &x {
        let got = x.to_vec()?;
        let is_of_runs = (1 + all..=1 + 2 * all).contains(&got[0]);
        ensure!(is_of_runs && got.iter().all(|at| *at == got[0]), "{got:?} of {all} runs");
    }
    let before = [x[0].get([0])?, x[1].get([0])?];
    run.update(node, |cg| cg.run(8, adds(100, &x[0])))?;
    value.set(1000);
    q.run_graph(&run)?;
    ensure_eq!([x[0].get([0])?, x[1].get([0])?], [before[0] + 100, before[1] + 1000]);
    ensure_eq!(run.runs(), 1 + all as u64);
    Ok(())
}
