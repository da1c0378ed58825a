//! Command graphs: how they are built and recorded, that they run again and again, and what can be
//! exchanged between runs.

use super::rig::*;
use super::tests;
use folio_core::{
    BatchReport, Error, Event, Graph, GraphError, Node, NodeKind, Parameter, Queue, Shared,
    ViewPolicy,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

tests![
    a_graph_runs_as_often_as_asked,
    closures_and_tasks_run_at_each_run,
    graphs_by_hand_and_by_recording_are_equal,
    a_queue_that_depends_on_a_recorded_one_joins,
    an_in_order_queue_is_recorded_in_order,
    barriers_are_recorded_in_linear_space,
    cycles_are_refused_and_change_nothing,
    wrong_uses_of_graphs_are_refused,
    runs_of_a_graph_do_not_overlap,
    a_run_is_one_command_of_an_in_order_queue,
    parameters_are_exchanged_between_runs,
    nodes_are_exchanged_between_runs,
    a_graph_within_a_graph_runs_in_its_place,
    a_failed_node_fails_its_run_only,
    a_graph_keeps_its_buffers,
    a_run_moves_what_is_elsewhere_and_no_more,
    a_batch_is_found_again,
    a_batch_with_an_error_submits_nothing,
    one_graph_runs_from_many_threads,
    pictures_show_nodes_and_edges,
];

/// The graph error in a result.
fn why<T>(result: Result<T, Error>) -> Result<GraphError, Stop> {
    match result {
        Err(Error::Graph { why, .. }) => Ok(*why),
        Err(other) => Err(Stop::Failed(format!("not an error of a graph: {other}"))),
        Ok(_) => Err(Stop::Failed("it was accepted".into())),
    }
}

fn graph(rig: &Rig) -> Result<(Queue, Graph), Stop> {
    let q = rig.queue()?;
    let graph = rig.rt.graph(&q.device())?;
    Ok((q, graph))
}

fn numbers(rig: &Rig, n: usize) -> Result<Vec<Shared<i32>>, Stop> {
    Ok((0..n).map(|_| Ok(rig.rt.buffer_from(&[1; 8])?.share())).collect::<Result<_, Error>>()?)
}

/// Adds a node that adds `value`.
fn adding(graph: &Graph, x: &Shared<i32>, value: i32) -> Result<Node, Error> {
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
        let (mut x, mut y) = (rig.rt.buffer_from(&[1; 8])?, rig.rt.buffer::<i32>(8)?);
        let mut z = rig.rt.buffer::<i32>(8)?;
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
    let mut sum = rig.rt.buffer::<i32>(1)?;
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    graph.add(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_kernel([8], x, |i, mut x| x[i] *= 2);
        Ok(())
    })?;
    graph.add(|cg| {
        let (x, sum) = (cg.read(&x), cg.write(&mut sum));
        cg.repeatable_task((x, sum), move |(x, mut sum)| {
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
            cg.repeatable_task((), move |()| {
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
        ensure_eq!(refused, GraphError::Cycle { from, to });
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

/// GRAPH-02: the table of errors.
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
    ensure!(
        once.to_string().contains("`once`") && once.to_string().contains("repeatable_task"),
        "{once}"
    );
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
    // What was refused has left nothing.
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

/// GRAPH-03: even on an out-of-order queue, and without data in common.
fn runs_of_a_graph_do_not_overlap(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let inside = Arc::new(AtomicI32::new(0));
    let ends = Arc::new(AtomicUsize::new(0));
    // In the first run, the first task ends last.
    let gate = Gate::new();
    let (door, enters, counts) = (gate.door(), inside.clone(), ends.clone());
    graph.add(|cg| {
        cg.repeatable_task((), move |()| {
            assert!(enters.fetch_add(1, Ordering::SeqCst) <= 1, "two runs at once");
            door.pass();
            enters.fetch_sub(1, Ordering::SeqCst);
            counts.fetch_add(1, Ordering::SeqCst);
        });
        Ok(())
    })?;
    let (enters, counts) = (inside.clone(), ends.clone());
    graph.add(|cg| {
        cg.repeatable_task((), move |()| {
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
        cg.repeatable_task((), move |()| {
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
        inner.add(|cg| cg.repeatable_task((), note(1)))?;
    }
    let inner = inner.finalize()?;
    let outer = rig.rt.graph(&q.device())?;
    let before = outer.add(|cg| cg.repeatable_task((), note(0)))?;
    let middle = outer.add_graph(&[before], &inner)?;
    let nothing = rig.rt.graph(&q.device())?.finalize()?;
    let middle = outer.add_graph(&[middle], &nothing)?;
    outer.add_after(&[middle], |cg| cg.repeatable_task((), note(2)))?;
    let run = outer.finalize()?;
    for _ in 0..2 {
        q.run_graph(&run)?.wait()?;
    }
    // It still runs by itself.
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

/// GRAPH-02: and gives them back.
fn a_graph_keeps_its_buffers(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let mut out = rig.rt.buffer::<i32>(8)?;
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
        ensure_eq!((batches, found, made, evicted, commands), (6, 4, 2, 0, 3));
        for n in 1..20 {
            q.batch(|q| {
                q.fill(x.slice_mut([0], [n.min(8)])?, 0)
                    .and_then(|_| (8..n).try_for_each(|_| q.barrier().map(drop)))
            })?;
        }
        ensure_eq!(q.batch_report().evicted, 5);
        q.wait()?;
    }
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
    // One that is refused when the block is submitted.
    let shared = x.share();
    let guard = shared.read()?;
    let y = numbers(rig, 1)?;
    let result = q.batch(|q| {
        q.fill(&y[0], 9)?;
        q.fill(&shared, 9)
    });
    refused!(result, Error::HostAccessHeld { .. });
    drop(guard);
    ensure_eq!((y[0].to_vec()?, shared.to_vec()?), (vec![1; 8], vec![1; 8]));
    // What a block makes and drops lives as long as it is used.
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
  n0 [label="0: fill `clear \\\\ it`"];
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
