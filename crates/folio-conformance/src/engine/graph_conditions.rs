//! Conditional nodes of command graphs.

use super::graphs::{adding, graph, numbers, why};
use super::rig::*;
use super::tests;
use folio::prelude::*;
use folio_core::{
    BufferOptions, Cause, CommandGroup, Error, Executable, Graph, Parameter, Queue, Shared,
    error::GraphError,
    graph::{Node, NodeKind, Replay},
};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

tests![
    a_body_runs_if_its_value_is_not_zero,
    a_loop_runs_while_its_value_is_not_zero,
    a_loop_runs_while_its_value_is_in_range,
    a_loop_at_its_limit_fails,
    a_switch_runs_the_body_of_its_number,
    conditional_nodes_nest,
    later_work_comes_after_a_conditional_node,
    a_node_that_fails_in_a_body_fails_the_run,
    bodies_read_parameters,
    wrong_conditions_are_refused,
    conditions_are_nested_so_deep,
    conditional_nodes_move_what_is_elsewhere_once,
    a_loop_is_one_operation_of_a_device_that_has_conditions,
    conditions_of_the_device_choose_as_the_engine_does,
    a_loop_of_the_device_fails_at_its_limit,
    conditions_that_the_device_cannot_have_are_split,
];

/// A graph whose only node adds a value.
fn adder(rig: &Rig, q: &Queue, x: &Shared<i32>, value: i32) -> Result<Executable, Stop> {
    let body = rig.rt.graph(&q.device())?;
    adding(&body, x, value)?;
    Ok(body.finalize()?)
}

/// Adds a node that sets the first element.
pub(super) fn setting(graph: &Graph, x: &Shared<i32>, value: i32) -> Result<Node, Error> {
    graph.add(|cg| {
        cg.fill(x.slice_mut([0], [1])?, value);
        Ok(())
    })
}

/// GRAPH-05: also if/else; on every device, and by a value that a run before has written.
fn a_body_runs_if_its_value_is_not_zero(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let graph = rig.rt.graph(&q.device())?;
        let (flag, x) = (rig.rt.buffer::<u32, 1>(1)?.into_shared(), numbers(rig, 2)?);
        let (one, ten) = (adder(rig, &q, &x[0], 1)?, adder(rig, &q, &x[0], 10)?);
        let first = graph.if_(&[], &flag, &one)?;
        let second = graph.if_else(&[first], &flag, &ten, &adder(rig, &q, &x[1], 100)?)?;
        ensure_eq!((graph.kind(first)?, graph.kind(second)?), (NodeKind::If, NodeKind::If));
        ensure_eq!(graph.predecessors(second)?, [first]);
        let run = graph.finalize()?;
        q.run_graph(&run)?;
        ensure_eq!((x[0].to_vec()?, x[1].to_vec()?), (vec![1; 8], vec![101; 8]));
        q.fill(&flag, 7)?;
        q.run_graph(&run)?;
        q.run_graph(&run)?;
        ensure_eq!((x[0].to_vec()?, x[1].to_vec()?), (vec![23; 8], vec![101; 8]));
        flag.write()?[0] = 0;
        q.run_graph(&run)?;
        ensure_eq!((x[0].to_vec()?, x[1].to_vec()?), (vec![23; 8], vec![201; 8]));
        q.wait()?;
    }
    Ok(())
}

/// A graph with a loop that counts down what is in `left`, and adds 1 to `x` each time.
fn counts_down(
    rig: &Rig,
    q: &Queue,
    left: &Shared<i32>,
    x: &Shared<i32>,
    limit: u64,
) -> Result<Graph, Stop> {
    let body = rig.rt.graph(&q.device())?;
    adding(&body, x, 1)?;
    body.add(|cg| {
        cg.label("count down").run(1, adds(-1, left.slice_mut([0], [1])?));
        Ok(())
    })?;
    let graph = rig.rt.graph(&q.device())?;
    body.label("loop");
    graph.while_(&[], left.slice([0], [1])?, limit, &body.finalize()?)?;
    Ok(graph)
}

/// GRAPH-05
fn a_loop_runs_while_its_value_is_not_zero(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = numbers(rig, 2)?;
        let run = counts_down(rig, &q, &x[0], &x[1], 100)?.finalize()?;
        let mut want = 1;
        for n in [5, 0, 1, 20] {
            q.fill(&x[0], n)?;
            q.run_graph(&run)?;
            want += n;
            ensure_eq!((x[0].get([0])?, x[1].to_vec()?), (0, vec![want; 8]));
        }
        q.wait()?;
    }
    Ok(())
}

#[folio::kernel]
fn halves(i: Item, x: InOut<f32>) {
    x[i] *= 0.5;
}

/// GRAPH-05: a float that is compared; NaN is in no range.
fn a_loop_runs_while_its_value_is_in_range(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (x, times) = (rig.rt.buffer::<f32, 1>(2)?.into_shared(), numbers(rig, 1)?.remove(0));
        let body = rig.rt.graph(&q.device())?;
        adding(&body, &times, 1)?;
        body.add(|cg| cg.run(2, halves(&x)))?;
        let body = body.finalize()?;
        let made = |range: (Bound<f32>, Bound<f32>)| {
            let graph = rig.rt.graph(&q.device())?;
            graph.while_in(&[], x.slice([1], [1])?, range, 100, &body)?;
            graph.finalize()
        };
        let from = made((Bound::Included(1.0), Bound::Unbounded))?;
        let above = made((Bound::Excluded(1.0), Bound::Excluded(64.0)))?;
        let mut want = 1;
        let cases = [
            (&from, 10.0, 4, 0.625),
            (&from, 8.0, 4, 0.5),
            (&above, 8.0, 3, 1.0),
            (&above, 64.0, 0, 64.0),
            (&from, f32::INFINITY.recip(), 0, 0.0),
        ];
        for (run, start, more, end) in cases {
            q.fill(&x, start)?;
            q.run_graph(run)?;
            want += more;
            ensure_eq!((x.get([1])?, times.get([0])?), (end, want), "{start}");
        }
        q.fill(&x, f32::NAN)?;
        q.run_graph(&from)?;
        ensure_eq!((x.get([1])?.is_nan(), times.get([0])?), (true, want));
        q.wait()?;
    }
    Ok(())
}

/// GRAPH-05: an error with a type, and the next run works.
fn a_loop_at_its_limit_fails(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = numbers(rig, 3)?;
    let options = BufferOptions::new().label("value");
    x[0] = rig.rt.buffer_with(&[1; 8], options)?.into_shared();
    let graph = counts_down(rig, &q, &x[0], &x[1], 3)?;
    adding(&graph, &x[2], 1)?;
    let run = graph.finalize()?;
    q.fill(&x[0], 4)?;
    let failed = failure(q.run_graph(&run)?.wait())?;
    let cause = match failed.cause() {
        Cause::Graph(why) => GraphError::clone(why),
        other => return Err(Stop::Failed(format!("another cause: {other}"))),
    };
    let GraphError::LimitReached { command, buffer, limit } = &cause else {
        return Err(Stop::Failed(format!("another cause: {cause}")));
    };
    ensure_eq!((command.as_str(), buffer.as_str(), *limit), ("loop", "value", 3));
    ensure_eq!(failure(x[1].to_vec())?.id(), failed.id());
    ensure_eq!(failure(q.wait())?.id(), failed.id());
    // Memory that the loop does not use is there, unless both are one operation.
    match is_native(&run) {
        true => ensure_eq!(failure(x[2].to_vec())?.id(), failed.id()),
        false => ensure_eq!(x[2].to_vec()?, [2; 8]),
    }
    q.fill(&x[2], 1)?;
    q.fill(&x[0], 3)?;
    q.fill(&x[1], 0)?;
    q.run_graph(&run)?.wait()?;
    ensure_eq!(x[1].to_vec()?, [3; 8]);
    Ok(())
}

/// GRAPH-05: of a part of a buffer, and none for other values.
fn a_switch_runs_the_body_of_its_number(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let (which, x) = (rig.rt.buffer::<i64, 1>(3)?.into_shared(), numbers(rig, 1)?);
    let bodies = [1, 10, 100].map(|n| adder(rig, &q, &x[0], n));
    let bodies = bodies.into_iter().collect::<Result<Vec<_>, _>>()?;
    let node = graph.switch(&[], which.slice([1], [1])?, &bodies.iter().collect::<Vec<_>>())?;
    ensure_eq!(graph.kind(node)?, NodeKind::Switch);
    let run = graph.finalize()?;
    for (n, want) in [(0, 2), (2, 102), (1, 112), (3, 112), (-1, 112), (i64::MIN, 112)] {
        which.write()?[1] = n;
        q.run_graph(&run)?;
        ensure_eq!(x[0].to_vec()?, [want; 8]);
    }
    Ok(())
}

/// GRAPH-05: conditions within bodies, and graphs.
fn conditional_nodes_nest(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let x = numbers(rig, 4)?;
    // Three times: sets `x[0]` to 2, counts it down, and each time adds 1 to `x[1]`.
    let inner = counts_down(rig, &q, &x[0], &x[1], 10)?.finalize()?;
    let body = rig.rt.graph(&q.device())?;
    setting(&body, &x[0], 2)?;
    body.add_graph(&[], &inner)?;
    body.if_(&[], x[3].slice([0], [1])?, &adder(rig, &q, &x[1], 100)?)?;
    body.add(|cg| {
        cg.run(1, adds(-1, x[2].slice_mut([0], [1])?));
        Ok(())
    })?;
    let outer = rig.rt.graph(&q.device())?;
    setting(&outer, &x[2], 3)?;
    outer.while_(&[], x[2].slice([0], [1])?, 3, &body.finalize()?)?;
    let run = outer.finalize()?;
    q.run_graph(&run)?;
    ensure_eq!((x[1].to_vec()?, x[2].get([0])?), (vec![307; 8], 0));
    q.fill(&x[3], 0)?;
    q.run_graph(&run)?;
    ensure_eq!(x[1].to_vec()?, [313; 8]);
    ensure!(!outer.has_shape_of(&counts_down(rig, &q, &x[2], &x[1], 3)?), "bodies make no shape");
    Ok(())
}

/// GRAPH-05, DEP-02: without waiting for it; and it comes after earlier work.
fn later_work_comes_after_a_conditional_node(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let x = numbers(rig, 3)?;
    let run = counts_down(rig, &q, &x[0], &x[1], 1000)?.finalize()?;
    let gate = Gate::new();
    let door = gate.door();
    let (count, sum) = (x[0].clone(), Arc::new(AtomicUsize::new(0)));
    q.submit(|cg| {
        let count = cg.write(&count);
        cg.host_task(count, move |mut count| {
            door.pass();
            count[0] = 50;
        });
        Ok(())
    })?;
    let mut events = Vec::new();
    for _ in 0..2 {
        events.push(q.run_graph(&run)?);
        q.copy(&x[1], &x[2])?;
        let sum = sum.clone();
        events.push(q.submit(|cg| {
            let x = cg.read(&x[2]);
            cg.host_task(x, move |x| {
                sum.fetch_add(x[7] as usize, Ordering::SeqCst);
            });
            Ok(())
        })?);
        events.push(q.fill(&x[0], 7)?);
    }
    ensure!(events.iter().all(is_pending), "a run does not wait for its turn");
    // Commands that have nothing to do with it go on.
    let other = numbers(rig, 1)?;
    q.run(8, adds(1, &other[0]))?.wait()?;
    gate.open();
    for event in events {
        event.wait()?;
    }
    ensure_eq!((sum.load(Ordering::SeqCst), x[0].get([0])?), (51 + 58, 7));
    Ok(())
}

/// GRAPH-05, ERR-02: one failure, by the name of the command that failed.
fn a_node_that_fails_in_a_body_fails_the_run(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 4)?;
    let at = Parameter::new(2);
    let body = rig.rt.graph(&q.device())?;
    let (bad, fails_at) = (x[0].clone(), at.clone());
    body.add_updatable(&[], move |cg: &mut CommandGroup| {
        let at = cg.parameter(&fails_at);
        cg.label("the bad one").run(8, fails(at, &bad));
        Ok(())
    })?;
    body.add(|cg| cg.run(8, adds_up(&x[0], &x[1])))?;
    graph.if_(&[], x[2].slice([0], [1])?, &body.finalize()?)?;
    graph.add(|cg| cg.run(8, adds_up(&x[1], &x[3])))?;
    let run = graph.finalize()?;
    let failed = failure(q.run_graph(&run)?.wait())?;
    ensure_eq!((failed.what(), failed.label()), ("kernel", "the bad one"));
    ensure_eq!(failure(x[3].to_vec())?.id(), failed.id());
    ensure_eq!(failure(q.wait())?.id(), failed.id());
    at.set(usize::MAX);
    x.iter().try_for_each(|x| q.fill(x, 1).map(drop))?;
    q.run_graph(&run)?.wait()?;
    q.wait()?;
    ensure_eq!((x[1].get([0])?, x[3].get([0])?), (4, 7));
    Ok(())
}

/// GRAPH-03, GRAPH-05: parameters of nodes in bodies, and of bodies in bodies.
fn bodies_read_parameters(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 2)?;
    let value = Parameter::new(5);
    let body = rig.rt.graph(&q.device())?;
    let (to, by) = (x[0].clone(), value.clone());
    body.add_updatable(&[], move |cg: &mut CommandGroup| {
        let by = cg.parameter(&by);
        cg.run(8, adds(by, &to));
        Ok(())
    })?;
    let outer = rig.rt.graph(&q.device())?;
    outer.if_(&[], x[1].slice([0], [1])?, &body.finalize()?)?;
    graph.if_(&[], x[1].slice([0], [1])?, &outer.finalize()?)?;
    let run = graph.finalize()?;
    q.run_graph(&run)?;
    value.set(100);
    let last = q.run_graph(&run)?;
    value.set(1000);
    last.wait()?;
    ensure_eq!(x[0].to_vec()?, [106; 8]);
    q.run_graph(&run)?;
    ensure_eq!(x[0].to_vec()?, [1106; 8]);
    Ok(())
}

/// GRAPH-05, GRAPH-02: what cannot be a condition, or in a body.
fn wrong_conditions_are_refused(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 2)?;
    let body = adder(rig, &q, &x[0], 1)?;
    ensure_eq!(why(graph.if_(&[], &x[1], &body))?, GraphError::ConditionSize { elements: 8 });
    let none = x[1].slice([3], [0])?;
    ensure_eq!(why(graph.if_(&[], none, &body))?, GraphError::ConditionSize { elements: 0 });
    let task = rig.rt.graph(&q.device())?;
    task.add(|cg| cg.label("tells").each_run().host_task((), |()| {}))?;
    let task = task.finalize()?;
    let refused = why(graph.while_(&[], x[1].slice([0], [1])?, 1, &task))?;
    ensure!(
        matches!(&refused, GraphError::NotInBody { command, .. } if command.as_str() == "tells"),
        "{refused}"
    );
    ensure!(refused.to_string().contains("host task"), "{refused}");
    let other = rig.builder().build()?;
    let alien = other.buffer_from(&[1i32])?;
    refused!(graph.if_(&[], &alien, &body), Error::WrongRuntime { what: "buffer", .. });
    let theirs = other.graph(&other.devices()[0])?.finalize()?;
    let value = x[1].slice([0], [1])?;
    refused!(graph.if_(&[], value, &theirs), Error::WrongRuntime { what: "graph", .. });
    ensure!(graph.is_empty(), "what was refused has left something");
    let node = graph.if_(&[], x[1].slice([0], [1])?, &body)?;
    let run = graph.finalize()?;
    let shape = why(run.update(node, |cg| cg.fill(&x[0], 1)))?;
    ensure!(matches!(shape, GraphError::OtherShape { .. }), "{shape}");
    let inner = rig.rt.graph(&q.device())?;
    let within = setting(&inner, &x[0], 1)?;
    let middle = rig.rt.graph(&q.device())?;
    middle.if_(&[], x[1].slice([0], [1])?, &inner.finalize()?)?;
    let outer = rig.rt.graph(&q.device())?;
    outer.if_(&[], x[1].slice([0], [1])?, &middle.finalize()?)?;
    let inside = why(outer.finalize()?.update(within, |cg| cg.fill(&x[0], 1)))?;
    ensure!(
        matches!(&inside, GraphError::InBody { node: 0, condition, .. } if condition.as_str() == "if"),
        "{inside}"
    );
    ensure!(inside.to_string().contains("add_updatable"), "{inside}");
    let guard = x[0].write()?;
    refused!(q.run_graph(&run), Error::HostAccessHeld { .. });
    drop(guard);
    q.run_graph(&run)?.wait()?;
    Ok(())
}

/// GRAPH-05: the data of bodies are brought before the node, and stay.
fn conditional_nodes_move_what_is_elsewhere_once(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let x = numbers(rig, 2)?;
    let run = counts_down(rig, &q, &x[0], &x[1], 100)?.finalize()?;
    // A device that decides by itself does not tell how many launches that were.
    run.replay_as(Replay::Commands);
    q.fill(&x[0], 20)?;
    for launches in [40, 40] {
        q.run_graph(&run)?.wait()?;
        let moves = q.counters();
        ensure_eq!((moves.host_to_device.operations, moves.launches), (1, launches));
    }
    ensure_eq!(x[1].to_vec()?, [21; 8]);
    Ok(())
}

/// GRAPH-05, ERR-01
fn conditions_are_nested_so_deep(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 2)?;
    let mut run = adder(rig, &q, &x[0], 1)?;
    for _ in 0..64 {
        let outer = rig.rt.graph(&q.device())?;
        outer.if_(&[], x[1].slice([0], [1])?, &run)?;
        run = outer.finalize()?;
    }
    let deeper = why(graph.if_(&[], x[1].slice([0], [1])?, &run))?;
    ensure!(matches!(&deeper, GraphError::NotInBody { .. }), "{deeper}");
    ensure!(deeper.to_string().contains("64 deep"), "{deeper}");
    q.run_graph(&run)?.wait()?;
    ensure_eq!(x[0].to_vec()?, [2; 8]);
    Ok(())
}

/// Whether the device has decided in the latest run, which was the graph's only node.
fn is_native(run: &Executable) -> bool {
    run.replay_report().why_not().is_none()
}

/// GRAPH-05, GRAPH-03: a loop of ten turns is one operation, and of one list with what comes before
/// and behind it. Elsewhere the report says why.
fn a_loop_is_one_operation_of_a_device_that_has_conditions(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = numbers(rig, 2)?;
        let run = counts_down(rig, &q, &x[0], &x[1], 10)?.finalize()?;
        for turn in 1..=4 {
            q.fill(&x[0], 10)?;
            let before = q.counters().replays;
            q.run_graph(&run)?.wait()?;
            ensure_eq!((x[0].get([0])?, x[1].to_vec()?), (0, vec![1 + 10 * turn; 8]));
            let replays = u64::from(is_native(&run));
            ensure_eq!(q.counters().replays - before, replays);
        }
        ensure_eq!(is_native(&run), q.device().info().caps.conditions);
        if !is_native(&run) {
            let report = run.replay_report();
            let why = report.why_not().unwrap_or_default();
            ensure!(why.contains("condition") || why.contains("graphs"), "{why}");
            continue;
        }
        ensure_eq!((run.replay_report().replays, run.replay_report().made), (4, 1));
        // Within a run that is one operation.
        let graph = counts_down(rig, &q, &x[0], &x[1], 10)?;
        adding(&graph, &x[1], 100)?;
        let run = graph.finalize()?;
        q.fill(&x[0], 10)?;
        let before = q.counters().replays;
        q.run_graph(&run)?.wait()?;
        ensure_eq!((x[1].to_vec()?, q.counters().replays - before), (vec![151; 8], 1));
    }
    Ok(())
}

/// GRAPH-05: with copies and fills in bodies, two bodies, numbers, values of all sizes, and nodes
/// in bodies; and after an exchange.
fn conditions_of_the_device_choose_as_the_engine_does(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let x = numbers(rig, 5)?;
    let small = rig.rt.buffer::<u8, 1>(3)?.into_shared();
    let wide = rig.rt.buffer::<i64, 1>(2)?.into_shared();
    let by = Parameter::new(1);
    let [one, ten, hundred] = [1, 10, 100].map(|n| adder(rig, &q, &x[0], n));
    let [one, ten, hundred] = [one?, ten?, hundred?];
    let body = rig.rt.graph(&q.device())?;
    let (to, read) = (x[1].clone(), by.clone());
    body.add_updatable(&[], move |cg: &mut CommandGroup| {
        let by = cg.parameter(&read);
        cg.run(8, adds(by, &to));
        Ok(())
    })?;
    body.if_else(&[], small.slice([1], [1])?, &one, &ten)?;
    body.switch(&[], wide.slice([1], [1])?, &[&one, &ten, &hundred])?;
    body.add(|cg| cg.copy(&x[1], &x[2]))?;
    body.add(|cg| cg.fill(&x[4], 9))?;
    body.add(|cg| {
        cg.run(1, adds(-1, x[3].slice_mut([0], [1])?));
        Ok(())
    })?;
    let graph = rig.rt.graph(&q.device())?;
    graph.while_(&[], x[3].slice([0], [1])?, 20, &body.finalize()?)?;
    let run = graph.finalize()?;
    let (mut sums, mut own) = (1, 1);
    for (turn, (flag, number)) in
        [(0, 0), (1, 1), (128, 2), (0, 3), (255, -1), (1, i64::MIN)].into_iter().enumerate()
    {
        small.write()?[1] = flag;
        wide.write()?[1] = number;
        x[3].write()?[0] = turn as i32;
        by.set(1 + turn as i32 / 3);
        q.run_graph(&run)?.wait()?;
        let chosen = [1, 10, 100].get(number as usize).copied().unwrap_or(0);
        sums += turn as i32 * (chosen + if flag == 0 { 10 } else { 1 });
        own += turn as i32 * (1 + turn as i32 / 3);
        ensure_eq!((x[0].to_vec()?, x[1].to_vec()?), (vec![sums; 8], vec![own; 8]));
        if turn > 0 {
            ensure_eq!((x[2].to_vec()?, x[4].to_vec()?), (vec![own; 8], vec![9; 8]));
        }
    }
    Ok(())
}

/// GRAPH-05, ERR-02: by its name, also within another loop; and the next run works.
fn a_loop_of_the_device_fails_at_its_limit(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let x = numbers(rig, 3)?;
    let inner = counts_down(rig, &q, &x[0], &x[1], 3)?.finalize()?;
    let body = rig.rt.graph(&q.device())?;
    body.add_graph(&[], &inner)?;
    body.add(|cg| {
        cg.run(1, adds(-1, x[2].slice_mut([0], [1])?));
        Ok(())
    })?;
    body.label("outer");
    let graph = rig.rt.graph(&q.device())?;
    graph.while_(&[], x[2].slice([0], [1])?, 2, &body.finalize()?)?;
    let run = graph.finalize()?;
    let limit_of = |left: i32, times: i32| -> Result<Option<(String, u64)>, Stop> {
        for x in &x {
            q.fill(x, 0)?;
        }
        q.fill(&x[0], left)?;
        q.fill(&x[2], times)?;
        let Err(failed) = q.run_graph(&run)?.wait() else { return Ok(None) };
        let failed = failure(Err::<(), _>(failed))?;
        ensure_eq!((failed.what(), failed.label()), ("conditional node", "outer"));
        ensure_eq!(failure(q.wait())?.id(), failed.id());
        ensure_eq!(failure(x[1].to_vec())?.id(), failed.id());
        match failed.cause() {
            Cause::Graph(why) => match &**why {
                GraphError::LimitReached { command, limit, .. } => {
                    Ok(Some((command.to_string(), *limit)))
                }
                other => Err(Stop::Failed(format!("{other}"))),
            },
            other => Err(Stop::Failed(format!("another cause: {other}"))),
        }
    };
    for _ in 0..3 {
        ensure_eq!(limit_of(3, 2)?, None);
        ensure_eq!(x[1].to_vec()?, [3; 8]);
        let name = |limit: Option<(String, u64)>| limit.map(|(name, n)| (name.contains("loop"), n));
        ensure_eq!(name(limit_of(4, 1)?), Some((true, 3)));
        ensure_eq!(name(limit_of(2, 3)?), Some((false, 2)));
    }
    Ok(())
}

/// GRAPH-05: a body in which a command may fail ends there, so the engine decides.
fn conditions_that_the_device_cannot_have_are_split(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let x = numbers(rig, 2)?;
    let body = rig.rt.graph(&q.device())?;
    body.add(|cg| cg.label("may fail").run(8, fails(usize::MAX, &x[0])))?;
    let graph = rig.rt.graph(&q.device())?;
    graph.if_(&[], x[1].slice([0], [1])?, &body.finalize()?)?;
    let run = graph.finalize()?;
    for _ in 0..3 {
        q.run_graph(&run)?.wait()?;
    }
    let report = run.replay_report();
    ensure_eq!(report.replays, 0);
    let why = report.why_not().unwrap_or_default();
    let has_conditions = why.contains("of its body");
    ensure!(!has_conditions || why.contains("may fail"), "{why}");
    ensure!(why.contains("condition") || why.contains("graphs"), "{why}");
    Ok(())
}
