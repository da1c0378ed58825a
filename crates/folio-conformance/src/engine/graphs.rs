//! Command graphs: how they are built and recorded, and what is refused.

use super::rig::*;
use super::tests;
use folio_core::{
    Error, Graph, Parameter, Queue, Shared,
    buffer::ViewPolicy,
    error::{GraphError, Label},
    graph::{Node, NodeKind},
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

tests![
    a_graph_runs_as_often_as_asked,
    closures_and_tasks_run_at_each_run,
    graphs_by_hand_and_by_recording_are_equal,
    a_queue_that_depends_on_a_recorded_one_joins,
    an_in_order_queue_is_recorded_in_order,
    barriers_are_recorded_in_linear_space,
    cycles_are_refused_and_change_nothing,
    wrong_uses_of_graphs_are_refused,
];

/// The graph error in a result.
pub(super) fn why<T>(result: Result<T, Error>) -> Result<GraphError, Stop> {
    match result {
        Err(Error::Graph { why, .. }) => Ok(*why),
        Err(other) => Err(Stop::Failed(format!("not an error of a graph: {other}"))),
        Ok(_) => Err(Stop::Failed("it was accepted".into())),
    }
}

pub(super) fn graph(rig: &Rig) -> Result<(Queue, Graph), Stop> {
    let q = rig.queue()?;
    let graph = rig.rt.graph(&q.device())?;
    Ok((q, graph))
}

pub(super) fn numbers(rig: &Rig, n: usize) -> Result<Vec<Shared<i32>>, Stop> {
    Ok((0..n)
        .map(|_| Ok(rig.rt.buffer_from(&[1; 8])?.into_shared()))
        .collect::<Result<_, Error>>()?)
}

/// Adds a node that adds `value`.
pub(super) fn adding(graph: &Graph, x: &Shared<i32>, value: i32) -> Result<Node, Error> {
    graph.add(|cg| {
        cg.run(8, adds(value, x));
        Ok(())
    })
}

/// GRAPH-01, GRAPH-02, GRAPH-03: kernels, fills, copies and empty nodes, beside other work.
fn a_graph_runs_as_often_as_asked(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let graph = rig.rt.graph(&q.device())?;
        let (mut x, mut y) = (rig.rt.buffer_from(&[1; 8])?, rig.rt.buffer::<i32, 1>(8)?);
        let mut z = rig.rt.buffer::<i32, 1>(8)?;
        let first = graph.add(|cg| cg.run(8, adds(2, &mut x)))?;
        let copy = graph.add(|cg| cg.copy(&x, &mut y))?;
        let fill = graph.add(|cg| cg.fill(&mut z, 7))?;
        let meet = graph.add_last(|_| ())?;
        let last = graph.add_after(&[meet], |cg| cg.run(8, adds(1, &mut y)))?;
        ensure_eq!(graph.nodes(), [first, copy, fill, meet, last]);
        ensure_eq!((graph.roots(), graph.leaves()), (vec![first, fill], vec![last]));
        ensure_eq!(graph.predecessors(meet)?, [copy, fill]);
        ensure_eq!(graph.predecessors(last)?, [copy, meet]);
        ensure_eq!(graph.successors(first)?, [copy]);
        let kinds = graph.nodes().into_iter().map(|n| graph.kind(n)).collect::<Result<Vec<_>, _>>();
        let kernel = NodeKind::Kernel;
        ensure_eq!(kinds?, [kernel, NodeKind::Copy, NodeKind::Fill, NodeKind::Empty, kernel]);
        let run = graph.finalize()?;
        // The graph goes on without what has been made of it.
        graph.add(|cg| cg.fill(&mut z, 8))?;
        let again = graph.finalize()?;
        let mut want = 1;
        for n in 0..6 {
            q.run_graph(&run)?.wait()?;
            want += 2;
            ensure_eq!((y.to_vec()?, z.to_vec()?), (vec![want + 1; 8], vec![7; 8]));
            if n % 2 == 0 {
                add(&q, &mut x, 10)?;
                want += 10;
            }
        }
        q.run_graph(&again)?;
        ensure_eq!((z.to_vec()?, run.runs(), again.runs()), (vec![8; 8], 6, 1));
        q.wait()?;
    }
    Ok(())
}

/// GRAPH-02: what calls the user's code does so at each run.
fn closures_and_tasks_run_at_each_run(rig: &Rig) -> Outcome {
    rig.closures()?;
    let (q, graph) = graph(rig)?;
    let mut x = rig.rt.buffer_from(&[1; 8])?;
    let mut sum = rig.rt.buffer::<i32, 1>(1)?;
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    graph.add(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_kernel([8], x, |i, mut x| x[i] *= 2);
        Ok(())
    })?;
    graph.add(|cg| {
        let (x, sum) = (cg.read(&x), cg.write(&mut sum));
        cg.each_run().host_task((x, sum), move |(x, mut sum)| {
            count.fetch_add(1, Ordering::Relaxed);
            sum[0] = x.iter().sum();
        });
        Ok(())
    })?;
    let run = graph.finalize()?;
    for n in 1..5 {
        q.run_graph(&run)?;
        ensure_eq!((sum.to_vec()?, calls.load(Ordering::Relaxed)), (vec![8 << n], n));
    }
    drop((run, graph));
    q.wait()?;
    ensure_eq!(Arc::strong_count(&calls), 1);
    Ok(())
}

/// GRAPH-01
fn graphs_by_hand_and_by_recording_are_equal(rig: &Rig) -> Outcome {
    let (q, by_hand) = graph(rig)?;
    let recorded = rig.rt.graph(&q.device())?;
    let (x, y) = (numbers(rig, 2)?, numbers(rig, 2)?);
    adding(&by_hand, &x[0], 1)?;
    by_hand.add(|cg| cg.copy(&x[0], &x[1]))?;
    by_hand.add(|cg| cg.fill(&x[0], 5))?;
    let recording = recorded.record([&q])?;
    let events = [q.run(8, adds(1, &y[0]))?, q.copy(&y[0], &y[1])?, q.fill(&y[0], 5)?];
    drop(recording);
    ensure_eq!(recorded.node_of(&events[1]), Some(recorded.nodes()[1]));
    ensure!(by_hand.has_shape_of(&recorded), "{} is not {}", by_hand.json(), recorded.json());
    // Nothing has run yet.
    ensure_eq!(y[0].to_vec()?, [1; 8]);
    for graph in [&by_hand, &recorded] {
        q.run_graph(&graph.finalize()?)?;
    }
    ensure_eq!((x[0].to_vec()?, x[1].to_vec()?), (y[0].to_vec()?, y[1].to_vec()?));
    ensure_eq!((x[0].to_vec()?, x[1].to_vec()?), (vec![5; 8], vec![2; 8]));
    adding(&recorded, &y[0], 1)?;
    ensure!(!by_hand.has_shape_of(&recorded), "a node more makes no difference");
    let other = rig.rt.graph(&q.device())?;
    adding(&other, &x[0], 1)?;
    other.add(|cg| cg.copy(&x[0], &x[1]))?;
    other.add(|cg| cg.fill(&y[0], 5))?;
    ensure!(!by_hand.has_shape_of(&other), "an edge less makes no difference");
    Ok(())
}

/// GRAPH-01: transitive recording, which ends with the recording.
fn a_queue_that_depends_on_a_recorded_one_joins(rig: &Rig) -> Outcome {
    let (a, graph) = graph(rig)?;
    let (b, c) = (rig.queue()?, rig.queue()?);
    let x = numbers(rig, 3)?;
    let recording = graph.record([&a, &c])?;
    let first = a.run(8, adds(1, &x[0]))?;
    // Not recorded yet.
    b.run(8, adds(1, &x[1]))?.wait()?;
    let joined = b.submit(|cg| {
        cg.after(&first).run(8, adds(10, &x[1]));
        Ok(())
    })?;
    b.run(8, adds(100, &x[1]))?;
    c.run(8, adds(1, &x[2]))?;
    ensure_eq!(why(b.wait())?, GraphError::WaitWhileRecording);
    ensure_eq!(why(joined.wait())?, GraphError::OnlyRecorded);
    ensure!(!joined.is_done() && joined.timing().is_none(), "a recorded command has ended");
    drop(recording);
    b.run(8, adds(1000, &x[1]))?.wait()?;
    ensure_eq!((graph.len(), x[1].to_vec()?), (4, vec![1002; 8]));
    let nodes = graph.nodes();
    ensure_eq!(graph.predecessors(nodes[1])?, [nodes[0]]);
    a.run_graph(&graph.finalize()?)?;
    let got = [0, 1, 2].map(|at| x[at].get([0]));
    ensure_eq!(got.into_iter().collect::<Result<Vec<_>, _>>()?, [2, 1112, 2]);
    // The recording is over: nothing can come after its commands.
    let late = b.submit(|cg| {
        cg.after(&first);
        Ok(())
    });
    ensure_eq!(why(late)?, GraphError::OnlyRecorded);
    Ok(())
}

/// GRAPH-01: also where no data are shared.
fn an_in_order_queue_is_recorded_in_order(rig: &Rig) -> Outcome {
    let q = rig.rt.in_order_queue_on(&rig.queue()?.device())?;
    let graph = rig.rt.graph(&q.device())?;
    let turn = Arc::new(AtomicUsize::new(0));
    let recording = graph.record([&q])?;
    for n in 0..10 {
        let turn = turn.clone();
        q.submit(|cg| {
            cg.each_run().host_task((), move |()| {
                assert_eq!(turn.fetch_add(1, Ordering::SeqCst) % 10, n, "out of turn");
            });
            Ok(())
        })?;
    }
    drop(recording);
    let nodes = graph.nodes();
    for pair in nodes.windows(2) {
        ensure_eq!(graph.predecessors(pair[1])?, [pair[0]]);
    }
    let run = graph.finalize()?;
    for _ in 0..3 {
        q.run_graph(&run)?;
    }
    q.wait()?;
    ensure_eq!(turn.load(Ordering::SeqCst), 30);
    Ok(())
}

/// GRAPH-02: N commands and barriers in turn have 2 N edges.
fn barriers_are_recorded_in_linear_space(rig: &Rig) -> Outcome {
    const N: usize = 1000;
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 2)?;
    let recording = graph.record([&q])?;
    for n in 0..N {
        q.fill(&x[n % 2], n as i32)?;
        q.barrier()?;
    }
    drop(recording);
    let mut edges = 0;
    for node in graph.nodes() {
        edges += graph.predecessors(node)?.len();
    }
    // Each after the first comes after the one before; fills also after the last of their buffer.
    ensure_eq!((graph.len(), edges), (2 * N, 2 * N - 1 + N - 2));
    q.run_graph(&graph.finalize()?)?;
    ensure_eq!((x[0].get([0])?, x[1].get([0])?), (N as i32 - 2, N as i32 - 1));
    Ok(())
}

/// GRAPH-02
fn cycles_are_refused_and_change_nothing(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 4)?;
    let nodes: Vec<Node> = (0..4).map(|at| adding(&graph, &x[at], 1)).collect::<Result<_, _>>()?;
    // Against the order in which they were added.
    graph.make_edge(nodes[3], nodes[1])?;
    graph.make_edge(nodes[1], nodes[0])?;
    let before = graph.dot();
    for (from, to) in [(0, 3), (0, 0), (1, 3), (0, 1)] {
        let refused = why(graph.make_edge(nodes[from], nodes[to]))?;
        let names = || [Label::from("adds"), Label::from("adds")];
        ensure_eq!(refused, GraphError::Cycle { from, to, names: names() });
    }
    ensure_eq!(graph.dot(), before);
    // An edge of data closes one, too.
    let user = graph.add(|cg| cg.copy(&x[0], &x[2]))?;
    ensure!(graph.make_edge(user, nodes[0]).is_err(), "a cycle by way of data");
    ensure_eq!(graph.roots(), [nodes[2], nodes[3]]);
    q.run_graph(&graph.finalize()?)?;
    let got = [0, 1, 2, 3].map(|at| x[at].get([0]));
    ensure_eq!(got.into_iter().collect::<Result<Vec<_>, _>>()?, [2; 4]);
    Ok(())
}

/// GRAPH-02: the table of errors. Errors of conditions are in `graph_conditions`.
fn wrong_uses_of_graphs_are_refused(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let other = rig.rt.graph(&q.device())?;
    let x = numbers(rig, 2)?;
    let node = adding(&graph, &x[0], 1)?;
    let theirs = adding(&other, &x[0], 1)?;
    adding(&other, &x[0], 1)?;
    let run = graph.finalize()?;

    let foreign = GraphError::ForeignNode { node: 0 };
    ensure_eq!(why(graph.make_edge(node, theirs))?, foreign);
    ensure_eq!(why(graph.add_after(&[theirs], |_| ()))?, foreign);
    ensure_eq!(why(graph.predecessors(theirs))?, foreign);
    ensure_eq!(why(run.update(theirs, |cg| cg.fill(&x[0], 1)))?, foreign);

    let done = q.fill(&x[1], 0)?;
    let outside = why(graph.add(|cg| {
        cg.label("late").after(&done);
        Ok(())
    }))?;
    ensure!(matches!(outside, GraphError::OutsideEvent { .. }), "{outside}");
    let once = why(graph.add(|cg| cg.label("once").host_task((), |()| ())))?;
    let instead = matches!(&once, GraphError::NotRepeatable { what: "host task", command, instead }
        if command.as_str() == "once" && *instead == "each_run().host_task");
    ensure!(instead, "{once}");
    let parameter = Parameter::new(1);
    let fixed = why(graph.add(|cg| {
        let value = cg.parameter(&parameter);
        cg.fill(&x[0], value);
    }))?;
    ensure!(matches!(fixed, GraphError::NotUpdatable { .. }), "{fixed}");
    let lent = rig.rt.view([8], vec![1; 8], ViewPolicy::SyncWriteback);
    let mut lent = lent.map_err(|refused| refused.error)?;
    let back = why(graph.add(|cg| cg.fill(&mut lent.0, 1)))?;
    ensure!(matches!(back, GraphError::WrittenBack { .. }), "{back}");

    let shape = why(run.update(node, |cg| cg.fill(&x[0], 1)))?;
    ensure!(matches!(shape, GraphError::OtherShape { node: 0, .. }), "{shape}");
    ensure!(why(run.update(node, |cg| cg.run(8, puts(1, &x[0]))))? != shape, "{shape}");
    let all = why(run.update_from(&other))?;
    ensure!(matches!(all, GraphError::OtherShape { node: 1, .. }), "{all}");

    let recording = graph.record([&q])?;
    ensure_eq!(why(graph.record([&q]))?, GraphError::AlreadyRecording);
    ensure_eq!(why(other.record([&q]))?, GraphError::AlreadyRecording);
    ensure_eq!(why(q.batch(|_| Ok(())))?, GraphError::AlreadyRecording);
    ensure_eq!(why(adding(&graph, &x[0], 1))?, GraphError::BeingRecorded);
    ensure_eq!(why(graph.make_edge(node, node))?, GraphError::BeingRecorded);
    ensure_eq!(why(q.wait())?, GraphError::WaitWhileRecording);
    let event = q.run_graph(&run)?;
    ensure_eq!(why(event.wait())?, GraphError::OnlyRecorded);
    ensure_eq!(graph.kind(graph.nodes()[1])?, NodeKind::Graph);
    drop(recording);
    // Refused commands have left nothing.
    ensure_eq!((graph.len(), other.len()), (2, 2));
    adding(&graph, &x[0], 1)?;
    q.wait()?;

    if let Ok(two) = rig.separate(2) {
        let theirs = two.into_iter().find(|queue| queue.device().name() != q.device().name());
        let theirs = theirs.ok_or_else(|| Stop::Failed("no other device".into()))?;
        for result in [
            graph.record([&theirs]).map(drop),
            theirs.run_graph(&run).map(drop),
            rig.rt.graph(&theirs.device())?.add_graph(&[], &run).map(drop),
        ] {
            let refused = why(result)?;
            ensure!(matches!(refused, GraphError::OtherDevice { .. }), "{refused}");
        }
    }
    let other_rt = rig.builder().build()?;
    let alien = other_rt.queue_on(&other_rt.devices()[0])?;
    refused!(alien.run_graph(&run), Error::WrongRuntime { what: "queue", .. });
    refused!(graph.record([&alien]), Error::WrongRuntime { what: "queue", .. });
    let guard = x[0].write()?;
    refused!(q.run_graph(&run), Error::HostAccessHeld { .. });
    drop(guard);
    q.run_graph(&run)?.wait()?;
    Ok(())
}
