//! When runs of graphs, batches and nodes were.

use super::graphs::{adding, graph, numbers, why};
use super::rig::*;
use super::tests;
use folio_core::{Error, Event, Queue, Timing, error::GraphError, graph::Replay};

tests![
    timed_runs_tell_when_they_were,
    timed_batches_tell_when_they_were,
    nodes_are_timed_on_request,
    a_timed_node_is_timed_in_each_run,
    conditions_are_timed_from_their_first_iteration_to_the_last,
    times_that_were_not_asked_for_are_refused,
];

/// The timing of what has ended; none if the device tells none.
fn timing(q: &Queue, event: &Event) -> Result<Option<Timing>, Stop> {
    event.wait()?;
    let timing = event.timing();
    ensure_eq!(timing.is_some(), q.device().info().caps.timing);
    ensure!(timing.is_none_or(|t| t.queued <= t.started && t.started <= t.ended), "{timing:?}");
    Ok(timing)
}

fn is_before(first: Option<Timing>, then: Option<Timing>) -> bool {
    first.is_some() == then.is_some()
        && first.zip(then).is_none_or(|(first, then)| first.ended <= then.started)
}

/// GRAPH-03, OBS-01: submitted, first start and last end, however a run is handed over.
fn timed_runs_tell_when_they_were(rig: &Rig) -> Outcome {
    for how in [Replay::Lists, Replay::Commands] {
        let (q, graph) = graph(rig)?;
        let x = numbers(rig, 2)?;
        adding(&graph, &x[0], 1)?;
        graph.add(|cg| cg.copy(&x[0], &x[1]))?;
        graph.add(|_| ())?;
        adding(&graph, &x[1], 1)?;
        let run = graph.finalize()?;
        run.replay_as(how);
        let mut last = None;
        for nth in 0..3 {
            let before = timing(&q, &q.timed().fill(&x[0], nth)?)?;
            let event = q.timed().run_graph(&run)?;
            let own = timing(&q, &event)?;
            let after = timing(&q, &q.timed().fill(&x[1], nth)?)?;
            ensure!(is_before(before, own), "{how:?}: {before:?}, {own:?}");
            ensure!(is_before(own, after), "{how:?}: {own:?}, {after:?}");
            ensure!(nth == 0 || is_before(last, own), "{how:?}: {last:?}, {own:?}");
            last = own;
        }
        // They are handed over as others are.
        let timed = run.replay_report();
        let event = q.run_graph(&run)?;
        event.wait()?;
        ensure_eq!(event.timing(), None);
        ensure_eq!(run.replay_report().parts, timed.parts);
        ensure_eq!(run.replay_report().made, timed.made);
    }
    Ok(())
}

/// GRAPH-08, OBS-01: blocks that are submitted one by one, and those that are one operation.
fn timed_batches_tell_when_they_were(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let x = numbers(rig, 2)?;
    let block = |q: &Queue| {
        q.copy(&x[0], &x[1])?;
        q.run(8, adds(1, &x[1]))
    };
    let mut last = None;
    for nth in 0..6 {
        let (_, event) = q.timed().batch(block)?;
        let own = timing(&q, &event)?;
        ensure!(nth == 0 || is_before(last, own), "{nth}: {last:?}, {own:?}");
        last = own;
    }
    let replayed = q.batch_report().replayed;
    let (_, event) = q.batch(block)?;
    event.wait()?;
    ensure_eq!(event.timing(), None);
    // A timed block is one operation where another one is.
    let one = q.batch_report().replayed > replayed;
    ensure_eq!(one, replayed > 0, "{:?}", q.batch_report());
    ensure_eq!(x[1].to_vec()?, [2; 8]);
    Ok(())
}

/// GRAPH-03, OBS-01: kernels, copies, tasks, empty nodes and graphs within the graph.
fn nodes_are_timed_on_request(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 2)?;
    let inner = rig.rt.graph(&q.device())?;
    let inside = [adding(&inner, &x[0], 1)?, adding(&inner, &x[0], 2)?];
    let nested = graph.add_graph(&[], &inner.finalize()?)?;
    let copy = graph.add(|cg| cg.copy(&x[0], &x[1]))?;
    let empty = graph.add_last(|_| ())?;
    let task = graph.add_last(|cg| {
        cg.each_run().host_task((), |()| ());
        Ok(())
    })?;
    let run = graph.finalize()?;
    run.profile_nodes(true);
    let told = q.device().info().caps.timing;
    let mut last_task = None;
    for nth in 0..3 {
        let event = q.run_graph(&run)?;
        event.wait()?;
        let tasks = event.timing_of(task)?;
        ensure!(tasks.is_some_and(|t| t.queued <= t.started && t.started <= t.ended), "{tasks:?}");
        ensure!(nth == 0 || is_before(last_task, tasks), "{last_task:?}, {tasks:?}");
        last_task = tasks;
        ensure_eq!(event.timing_of(empty)?, None);
        if !told {
            let refused = event.timing_of(copy);
            ensure!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
            continue;
        }
        let of = |node| event.timing_of(node);
        let [first, second] = [of(inside[0])?, of(inside[1])?];
        let [nested, copied] = [of(nested)?, of(copy)?];
        ensure!(is_before(first, second), "{first:?}, {second:?}");
        ensure!(is_before(second, copied), "{second:?}, {copied:?}");
        let ends = [nested.map(|t| t.started), nested.map(|t| t.ended)];
        ensure_eq!(ends, [first.map(|t| t.started), second.map(|t| t.ended)]);
        // The run: from the first node to the last that the device has run.
        let own = event.timing();
        let ends = [own.map(|t| t.started), own.map(|t| t.ended)];
        ensure_eq!(ends, [first.map(|t| t.started), copied.map(|t| t.ended)]);
    }
    ensure_eq!(run.replay_report().why_not(), Some("its nodes are profiled"));
    run.profile_nodes(false);
    let event = q.run_graph(&run)?;
    event.wait()?;
    ensure_eq!(why(event.timing_of(copy))?, GraphError::NotTimed { node: 1 });
    ensure_eq!(x[1].to_vec()?, [13; 8]);
    Ok(())
}

/// GRAPH-03: without asking for that at each run.
fn a_timed_node_is_timed_in_each_run(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    if !q.device().info().caps.timing {
        return unsupported("devices that tell when commands ran");
    }
    let x = numbers(rig, 1)?;
    let plain = adding(&graph, &x[0], 1)?;
    let timed = graph.add(|cg| cg.timed().run(8, adds(1, &x[0])))?;
    let task = graph.add_last(|cg| {
        cg.timed().each_run().host_task((), |()| ());
        Ok(())
    })?;
    let run = graph.finalize()?;
    let mut last = [None; 2];
    for nth in 0..4 {
        let event = q.run_graph(&run)?;
        event.wait()?;
        let own = [event.timing_of(timed)?, event.timing_of(task)?];
        ensure!(own[0].is_some() && own[1].is_some(), "{own:?}");
        ensure!(nth == 0 || is_before(last[0], own[0]), "{last:?}, {own:?}");
        ensure!(nth == 0 || is_before(last[1], own[1]), "{last:?}, {own:?}");
        last = own;
        ensure_eq!(event.timing(), None);
        ensure_eq!(why(event.timing_of(plain))?, GraphError::NotTimed { node: 0 });
    }
    Ok(())
}

/// GRAPH-05, OBS-01: by the device's clock, also where a host thread chooses what runs.
fn conditions_are_timed_from_their_first_iteration_to_the_last(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    if !q.device().info().caps.timing {
        return unsupported("devices that tell when commands ran");
    }
    let x = numbers(rig, 2)?;
    let body = rig.rt.graph(&q.device())?;
    adding(&body, &x[0], -1)?;
    adding(&body, &x[1], 1)?;
    let first = graph.add(|cg| cg.fill(&x[0], 5))?;
    let value = x[0].slice([0], [1])?;
    let node = graph.while_(&[], value, 10, &body.finalize()?)?;
    let last = graph.add(|cg| cg.copy(&x[1], &x[0]))?;
    let run = graph.finalize()?;
    for profiles in [true, false] {
        run.profile_nodes(profiles);
        for _ in 0..3 {
            let event = q.timed().run_graph(&run)?;
            let all = timing(&q, &event)?;
            if !profiles {
                continue;
            }
            let [first, own, last] =
                [event.timing_of(first)?, event.timing_of(node)?, event.timing_of(last)?];
            ensure!(is_before(first, own) && own.is_some(), "{first:?}, {own:?}");
            ensure!(is_before(own, last), "{own:?}, {last:?}");
            let ends = [all.map(|t| t.started), all.map(|t| t.ended)];
            ensure_eq!(ends, [first.map(|t| t.started), last.map(|t| t.ended)]);
        }
    }
    // A loop that does nothing.
    let none = rig.rt.graph(&q.device())?;
    none.add(|cg| cg.fill(&x[0], 0))?;
    let idle = none.while_(&[], x[0].slice([0], [1])?, 10, &body.finalize()?)?;
    let run = none.finalize()?;
    run.profile_nodes(true);
    let event = q.run_graph(&run)?;
    timing(&q, &event)?;
    event.timing_of(idle)?;
    Ok(())
}

/// GRAPH-02
fn times_that_were_not_asked_for_are_refused(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 1)?;
    let node = adding(&graph, &x[0], 1)?;
    let other = rig.rt.graph(&q.device())?;
    let theirs = adding(&other, &x[0], 1)?;
    let run = graph.finalize()?;
    let not_timed = GraphError::NotTimed { node: 0 };
    // The run is timed, and its nodes are not.
    let event = q.timed().run_graph(&run)?;
    ensure_eq!(why(event.timing_of(node))?, not_timed);
    let event = q.timed().fill(&x[0], 1)?;
    ensure_eq!(why(event.timing_of(node))?, not_timed);
    run.profile_nodes(true);
    let event = q.run_graph(&run)?;
    ensure_eq!(why(event.timing_of(theirs))?, not_timed);
    event.wait()?;
    Ok(())
}
