//! Runs by lists: commands that the device does as one operation, by its own graphs.

use super::graphs::{adding, graph, numbers};
use super::rig::*;
use super::tests;
use folio::prelude::*;
use folio_core::{
    CommandGroup, Destination, DeviceRef, Error, Event, Executable, Graph, Parameter, Queue,
    Shared,
    graph::{Node, Replay},
};

tests![
    runs_are_cut_at_host_tasks,
    runs_in_a_row_are_lists,
    a_run_of_several_chains_is_one_list,
    a_failure_before_a_list_fails_it,
    commands_that_may_fail_are_of_no_list,
    lists_do_what_their_commands_do,
    a_list_is_one_operation_that_counts_all,
    memory_that_has_moved_is_found_by_lists,
    exchanged_commands_are_exchanged_in_lists,
    many_exchanges_make_one_list,
    lists_are_exchanged_between_runs_only,
    other_orders_are_other_lists,
    lists_are_brought_what_they_use,
    lists_are_refused_as_their_commands_are,
    lists_are_kept_until_they_end,
    reductions_of_lists_begin_anew_in_each_run,
    reductions_begin_anew_after_a_failure,
    temporaries_of_a_graph_share_memory,
    batches_find_the_memory_of_their_temporaries_again,
];

#[kernel]
fn total(i: Item, x: In<u32>, sum: Reduce<u32, Add>) {
    assert!(x[i] < 50_000);
    sum.give(x[i]);
}

/// Whether a device has graphs of its own, which then have to be used.
pub(super) fn has_graphs(device: &DeviceRef) -> bool {
    ["cpu", "cuda", "opencl", "sim", "vulkan"].iter().any(|name| device.name().starts_with(name))
}

/// For each part of the latest run, how many commands it has and whether it was one operation.
fn parts(run: &Executable) -> Vec<(usize, bool)> {
    let report = run.replay_report();
    report.parts.iter().map(|part| (part.commands, part.why_not.is_none())).collect()
}

/// The reasons of parts that were none.
fn whys(run: &Executable) -> String {
    let report = run.replay_report();
    report.parts.into_iter().filter_map(|part| part.why_not).collect::<Vec<_>>().join("; ")
}

/// Whether its device has graphs of its own, which then have to be used.
fn uses_graphs(run: &Executable) -> bool {
    has_graphs(&run.device()) || !whys(run).contains("graphs")
}

/// That a run had these parts, where the device has graphs.
fn ran(run: &Executable, want: &[(usize, bool)]) -> Outcome {
    if uses_graphs(run) {
        ensure!(parts(run) == want, "{:?}, and not {want:?}: {}", parts(run), whys(run));
    } else {
        let report = run.replay_report();
        ensure_eq!((report.replays, report.made), (0, 0));
    }
    Ok(())
}

/// That so many lists were run, and so many compiled and exchanged, where the device has graphs.
fn counted(run: &Executable, want: [u64; 3]) -> Outcome {
    let report = run.replay_report();
    let got = [report.replays, report.made, report.exchanged];
    ensure!(!uses_graphs(run) || got == want, "{got:?}, and not {want:?}: {report:?}");
    Ok(())
}

/// Adds a node that adds three times one buffer to another.
fn adding_up(graph: &Graph, x: &Shared<i32>, y: &Shared<i32>) -> Outcome {
    graph.add(|cg| cg.run(8, adds_up(x, y)))?;
    Ok(())
}

/// GRAPH-03: kernels, copies, fills and empty nodes, with a host task between them, on each device.
/// They are counted as by commands.
fn runs_are_cut_at_host_tasks(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let graph = rig.rt.graph(&q.device())?;
        let x = numbers(rig, 3)?;
        graph.add(|cg| cg.fill(&x[1], 5))?;
        graph.add(|cg| cg.copy(&x[1], &x[2]))?;
        let last = adding(&graph, &x[2], 1)?;
        let empty = graph.add_after(&[last], |_| ())?;
        let task = graph.add_after(&[empty], |cg| {
            let x = cg.read_write(&x[0]);
            cg.each_run().host_task(x, |mut x| x[0] += 1)
        })?;
        graph.add_after(&[task], |cg| cg.run(8, adds(10, &x[2])))?;
        adding(&graph, &x[2], 100)?;
        let run = graph.finalize()?;
        for turn in 1..5 {
            q.run_graph(&run)?.wait()?;
            ensure_eq!((x[0].get([0])?, x[1].get([7])?), (1 + turn, 5));
            let counted = q.counters();
            let turns = turn as u64;
            ensure_eq!(
                (counted.launches, counted.copies, counted.fills, counted.host_tasks),
                (3 * turns, turns, turns, turns)
            );
            let replays = if uses_graphs(&run) { 2 * turns } else { 0 };
            ensure_eq!((counted.replays, run.replay_report().replays), (replays, replays));
            ran(&run, &[(4, true), (1, false), (2, true)])?;
        }
        ensure_eq!(x[2].to_vec()?, [116; 8]);
        let (whys, want) = match uses_graphs(&run) {
            true => (whys(&run), "host task"),
            false => (whys(&run), "graphs"),
        };
        ensure!(whys.contains(want), "{whys}");
    }
    Ok(())
}

/// GRAPH-03: a run waits for the one before it.
fn runs_in_a_row_are_lists(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    graph.add(|cg| cg.fill(&x[0], 1))?;
    adding_up(&graph, &x[1], &x[0])?;
    adding_up(&graph, &x[0], &x[1])?;
    let run = graph.finalize()?;
    let (mut a, mut b) = (0, 1);
    for turn in 0..20 {
        let event = q.run_graph(&run)?;
        (a, b) = (3 + b, 3 * b + 3 + b);
        if turn == 0 {
            event.wait()?;
        }
        if turn % 4 == 3 {
            b = 1;
            q.run(8, puts(b, &x[1]))?.wait()?;
        }
    }
    q.wait()?;
    ensure_eq!((x[0].get([7])?, x[1].get([0])?), (a, b));
    ran(&run, &[(3, true)])?;
    counted(&run, [20, 1, 0])
}

/// GRAPH-03: no command of it can fail by itself. It waits for what one of them waits for.
fn a_run_of_several_chains_is_one_list(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    for step in 0..4 {
        for x in &x {
            adding(&graph, x, step)?;
        }
    }
    let run = graph.finalize()?;
    for _ in 0..4 {
        q.run_graph(&run)?;
    }
    q.wait()?;
    ran(&run, &[(12, true)])?;
    ensure_eq!(x.iter().map(|x| x.get([5])).collect::<Result<Vec<_>, _>>()?, [25; 3]);
    let gate = Gate::new();
    held(&q, &x[1], &gate)?;
    let event = q.run_graph(&run)?;
    ensure!(is_pending(&event), "a run does not wait");
    gate.open();
    event.wait()?;
    ran(&run, &[(12, true)])?;
    ensure_eq!(x.iter().map(|x| x.get([5])).collect::<Result<Vec<_>, _>>()?, [31, 56, 31]);
    Ok(())
}

/// GRAPH-03, ERR-02: what fails before a list or beside it, and is used by one of its commands,
/// fails the list: nothing that it writes can be read. The next run works.
fn a_failure_before_a_list_fails_it(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    adding(&graph, &x[0], 1)?;
    adding_up(&graph, &x[0], &x[1])?;
    let run = graph.finalize()?;
    q.run_graph(&run)?.wait()?;
    for (at, waits) in [(1, true), (1, false), (0, true), (0, false)] {
        x.iter().try_for_each(|x| q.fill(x, 1).map(drop))?;
        q.wait().or(Ok::<_, Stop>(()))?;
        let gate = Gate::new();
        held(&q, &x[at], &gate)?;
        let bad = q.run(8, fails(2, &x[at]))?;
        let event = match waits {
            true => q.run_graph(&run)?,
            false => {
                gate.open();
                failure(bad.wait())?;
                q.run_graph(&run)?
            }
        };
        gate.open();
        let failed = failure(bad.wait())?;
        ensure_eq!(failure(event.wait())?.id(), failed.id());
        ensure_eq!(failure(x[1].to_vec())?.id(), failed.id());
        match (at, uses_graphs(&run)) {
            (1, false) => ensure_eq!(x[0].to_vec()?, [2; 8]),
            _ => ensure_eq!(failure(x[0].to_vec())?.id(), failed.id()),
        }
        ensure_eq!(x[2].to_vec()?, [1; 8]);
        ran(&run, &[(2, true)])?;
    }
    x.iter().try_for_each(|x| q.fill(x, 1).map(drop))?;
    q.wait().or(Ok::<_, Stop>(()))?;
    q.run_graph(&run)?.wait()?;
    ensure_eq!((x[0].to_vec()?, x[1].to_vec()?), (vec![2; 8], vec![5; 8]));
    Ok(())
}

/// GRAPH-03, ERR-02: a node fails by its own name, and nothing else with it that does not use it.
fn commands_that_may_fail_are_of_no_list(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    adding(&graph, &x[0], 1)?;
    adding(&graph, &x[0], 1)?;
    graph.add(|cg| cg.label("the bad one").run(8, fails(2, &x[2])))?;
    adding_up(&graph, &x[0], &x[1])?;
    let run = graph.finalize()?;
    for _ in 0..3 {
        let failed = failure(q.run_graph(&run)?.wait())?;
        ensure_eq!((failed.what(), failed.label()), ("kernel", "the bad one"));
        q.fill(&x[2], 1)?.wait()?;
    }
    ensure_eq!((x[0].to_vec()?, x[1].to_vec()?), (vec![7; 8], vec![76; 8]));
    ran(&run, &[(3, true), (1, false)])?;
    let report = run.replay_report();
    let why = report.parts.iter().find(|part| part.first.as_str() == "the bad one");
    let why = why.and_then(|part| part.why_not.as_deref()).unwrap_or_default();
    let place = ["a check is left in kernel `fails`: ", ".rs:", "on purpose"];
    let is_told = place.iter().all(|part| why.contains(part));
    ensure!(is_told || !uses_graphs(&run), "{report:?}");
    q.wait().or(Ok::<_, Stop>(()))
}

/// GRAPH-03: kernels, copies, fills, empty nodes, graphs; beside other work, on each device, with
/// values that are exchanged.
fn lists_do_what_their_commands_do(rig: &Rig) -> Outcome {
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
        let run = graph.finalize()?;
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
        ensure!(!uses_graphs(&run) || run.replay_report().why_not().is_none(), "{}", whys(&run));
        counted(&run, [4, 1, 1])?;
        let before = run.replay_report().replays;
        run.replay_as(Replay::Commands);
        q.run_graph(&run)?;
        ensure_eq!((x[0].get([3])?, x[2].get([7])?), (117, 2004));
        ensure_eq!(run.replay_report().replays, before);
    }
    Ok(())
}

/// GRAPH-03: and of an in-order queue one command; what is moved is what the commands would move.
fn a_list_is_one_operation_that_counts_all(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let graph = rig.rt.graph(&q.device())?;
    let x = numbers(rig, 2)?;
    adding(&graph, &x[0], 1)?;
    adding(&graph, &x[0], 1)?;
    graph.add(|cg| cg.copy(&x[0], &x[1]))?;
    let run = graph.finalize()?;
    for launches in [2, 4] {
        q.run_graph(&run)?.wait()?;
        let moves = q.counters();
        ensure_eq!((moves.host_to_device.operations, moves.launches), (1, launches));
        ensure_eq!((moves.copies, moves.fills), (launches / 2, 0));
    }
    // What the host changes is noticed.
    x[0].write()?[0] = 50;
    q.run_graph(&run)?;
    ensure_eq!((x[1].get([0])?, x[1].get([1])?), (52, 7));
    ensure_eq!(q.counters().host_to_device.operations, 2);
    ran(&run, &[(3, true)])?;
    counted(&run, [3, 1, 0])
}

/// GRAPH-03: a graph of the device's names memory; memory that was released is allocated anew, and
/// so is the graph.
fn memory_that_has_moved_is_found_by_lists(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let graph = rig.rt.graph(&q.device())?;
    let mut x = rig.rt.buffer_from(&[1; 8])?;
    let mut y = rig.rt.buffer::<i32, 1>(8)?;
    graph.add(|cg| cg.copy(&x, &mut y))?;
    graph.add(|cg| cg.run(8, adds(1, &mut y)))?;
    let run = graph.finalize()?;
    q.run_graph(&run)?.wait()?;
    q.run_graph(&run)?.wait()?;
    counted(&run, [2, 1, 0])?;
    ensure_eq!(y.to_vec()?, [2; 8]);
    x.release(&q.device())?;
    // Something else may be where it was.
    let other = rig.rt.buffer_from(&[9; 8])?;
    q.submit(|cg| {
        cg.prefetch(&other, Destination::Device);
        Ok(())
    })?;
    q.run_graph(&run)?.wait()?;
    ensure_eq!(y.to_vec()?, [2; 8]);
    counted(&run, [3, 2, 0])
}

/// GRAPH-03: runs that were submitted before keep what they have; the next one is by the same graph
/// of the device's, in which nodes have been exchanged.
fn exchanged_commands_are_exchanged_in_lists(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let (x, value) = (numbers(rig, 2)?, Parameter::new(1));
    let (to, by) = (x[0].clone(), value.clone());
    graph.add_updatable(&[], move |cg: &mut CommandGroup| {
        let by = cg.parameter(&by);
        cg.run(8, adds(by, &to));
        Ok(())
    })?;
    graph.add(|cg| cg.copy(&x[0], &x[1]))?;
    let run = graph.finalize()?;
    let mut want = 1;
    for round in 1..4 {
        for turn in 0..3 {
            let gate = Gate::new();
            if turn == 2 {
                held(&q, &x[0], &gate)?;
                want = 50;
            }
            let event = q.run_graph(&run)?;
            want += round;
            if turn == 2 {
                value.set(round + 1);
                gate.open();
            }
            event.wait()?;
            ensure_eq!(x[1].to_vec()?, [want; 8]);
            ran(&run, &[(2, true)])?;
        }
        if uses_graphs(&run) {
            let report = run.replay_report();
            ensure_eq!((report.made, report.exchanged), (1, round as u64 - 1));
        }
    }
    run.replay_as(Replay::Commands);
    q.run_graph(&run)?;
    ensure_eq!(x[1].to_vec()?, [want + 4; 8]);
    ran(&run, &[(2, false)])
}

/// A queue, a graph's nodes, its executable, and buffers.
type Chain = (Queue, [Node; 2], Executable, Vec<Shared<i32>>);

/// A chain of two commands over the first two of four buffers, all of which are on the device.
fn chain(rig: &Rig) -> Result<Chain, Stop> {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 4)?;
    x.iter().try_for_each(|x| q.run(8, adds(0, x)).map(drop))?;
    // What both take is known: one that was interrupted when it first ran seems long.
    let spare = numbers(rig, 2)?;
    (0..8).try_for_each(|_| q.run(8, adds_up(&spare[0], &spare[1])).map(drop))?;
    q.wait()?;
    let first = adding(&graph, &x[0], 0)?;
    let second = graph.add(|cg| cg.run(8, adds_up(&x[0], &x[1])))?;
    let run = graph.finalize()?;
    q.run_graph(&run)?.wait()?;
    Ok((q, [first, second], run, x))
}

/// GRAPH-03: other scalars and other buffers in each run are exchanged in one graph of the
/// device's. Where a run has not been handed over when the next one is submitted, it keeps what it
/// had.
fn many_exchanges_make_one_list(rig: &Rig) -> Outcome {
    for waits in [true, false] {
        let (q, [first, second], run, x) = chain(rig)?;
        let mut want = [1, 4, 1, 1];
        for turn in 1..20 {
            let (at, n) = (2 * (turn % 2), turn as i32);
            run.update(first, |cg| cg.run(8, adds(n, &x[at])))?;
            run.update(second, |cg| cg.run(8, adds_up(&x[at], &x[at + 1])))?;
            let event = q.run_graph(&run)?;
            if waits {
                event.wait()?;
            }
            want[at] += n;
            want[at + 1] = i32::wrapping_add(want[at + 1].wrapping_mul(3), want[at]);
        }
        for (x, want) in x.iter().zip(want) {
            ensure_eq!(x.to_vec()?, [want; 8]);
        }
        if waits {
            counted(&run, [20, 1, 19])?;
        }
    }
    Ok(())
}

/// GRAPH-03: a run that waits does not do what was exchanged for the next one.
fn lists_are_exchanged_between_runs_only(rig: &Rig) -> Outcome {
    let (q, [first, _], run, x) = chain(rig)?;
    q.run_graph(&run)?.wait()?;
    let gate = Gate::new();
    held(&q, &x[0], &gate)?;
    let mut want = [50, x[1].get([0])?];
    let mut events = Vec::new();
    for n in [1, 10, 100] {
        run.update(first, |cg| cg.run(8, adds(n, &x[0])))?;
        events.push(q.run_graph(&run)?);
        want = [want[0] + n, 3 * want[1] + want[0] + n];
    }
    gate.open();
    events.iter().try_for_each(|event| event.wait())?;
    ensure_eq!([x[0].get([7])?, x[1].get([7])?], want);
    Ok(())
}

/// GRAPH-03: after an exchange by which commands follow one another otherwise, the list is compiled
/// again.
fn other_orders_are_other_lists(rig: &Rig) -> Outcome {
    let (q, [_, second], run, x) = chain(rig)?;
    let mut want = [1, 4, 1];
    for from in [0, 2, 2, 0, 0] {
        run.update(second, |cg| cg.run(8, adds_up(&x[from], &x[1])))?;
        q.run_graph(&run)?.wait()?;
        want[1] = 3 * want[1] + want[from];
        ensure_eq!(x[1].to_vec()?, [want[1]; 8]);
        ran(&run, &[(2, true)])?;
    }
    counted(&run, [6, 3, 0])
}

/// GRAPH-03: data that are elsewhere are brought before the list, once.
fn lists_are_brought_what_they_use(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let graph = rig.rt.graph(&q.device())?;
    let x = numbers(rig, 2)?;
    adding(&graph, &x[0], 1)?;
    adding_up(&graph, &x[0], &x[1])?;
    let run = graph.finalize()?;
    q.run_graph(&run)?.wait()?;
    for at in [1, 0, 1] {
        x[at].write()?.fill(10);
        let before = q.counters();
        let other = x[1 - at].get([0])?;
        // The second one finds them there.
        q.run_graph(&run)?;
        q.run_graph(&run)?.wait()?;
        ran(&run, &[(2, true)])?;
        let [was, is] = [before, q.counters()].map(|counts| counts.host_to_device);
        ensure_eq!((is.operations, is.bytes), (was.operations + 1, was.bytes + 32));
        let [a, b] = if at == 0 { [10, other] } else { [other, 10] };
        let b = 3 * (3 * b + a + 1) + a + 2;
        ensure_eq!((x[0].get([3])?, x[1].get([3])?), (a + 2, b));
    }
    // Also data that are still to be written elsewhere.
    for at in [1, 0] {
        let gate = Gate::new();
        let [a, b] = [x[0].get([3])?, x[1].get([3])?];
        held(&q, &x[at], &gate)?;
        let event = q.run_graph(&run)?;
        gate.open();
        event.wait()?;
        let [a, b] = if at == 0 { [50, b] } else { [a, 50] };
        ensure_eq!((x[0].get([3])?, x[1].get([3])?), (a + 1, 3 * b + a + 1));
        ran(&run, &[(2, true)])?;
    }
    Ok(())
}

/// GRAPH-02: an error names the command that is refused, and nothing is submitted.
fn lists_are_refused_as_their_commands_are(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 2)?;
    adding(&graph, &x[0], 1)?;
    graph.add(|cg| cg.label("up").run(8, adds_up(&x[0], &x[1])))?;
    let run = graph.finalize()?;
    q.run_graph(&run)?.wait()?;
    q.run_graph(&run)?.wait()?;
    let guard = x[1].write()?;
    match q.run_graph(&run) {
        Err(Error::HostAccessHeld { by: Some(by), .. }) => ensure_eq!(by.command.as_str(), "up"),
        other => return Err(Stop::Failed(format!("{other:?}"))),
    }
    drop(guard);
    ensure_eq!(x[0].to_vec()?, [3; 8]);
    q.run_graph(&run)?.wait()?;
    ensure_eq!((x[0].to_vec()?, x[1].get([0])?), (vec![4; 8], (3 * (3 + 2) + 3) * 3 + 4));
    Ok(())
}

/// GRAPH-03, GRAPH-02: on queues of both kinds, behind what has not begun, without its handles.
fn lists_are_kept_until_they_end(rig: &Rig) -> Outcome {
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
        let run = graph.finalize()?;
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

/// GRAPH-03: over many chunks of values.
fn reductions_of_lists_begin_anew_in_each_run(rig: &Rig) -> Outcome {
    const N: usize = 20_000;
    for how in [Replay::Lists, Replay::Commands] {
        let (q, graph) = graph(rig)?;
        let (x, sum) =
            (rig.rt.buffer::<i32, 1>(N)?.into_shared(), rig.rt.buffer::<i32, 1>(1)?.into_shared());
        graph.add(|cg| cg.run(N, adds(1, &x)))?;
        graph.add(|cg| cg.run(N, sums_up(&x, &sum)))?;
        let run = graph.finalize()?;
        run.replay_as(how);
        for turn in 1..6 {
            q.run_graph(&run)?.wait()?;
            ensure_eq!((sum.get([0])?, x.get([N - 1])?), (turn * N as i32, turn));
        }
        let replays = if how == Replay::Lists && uses_graphs(&run) { 5 } else { 0 };
        ensure_eq!(run.replay_report().replays, replays);
    }
    Ok(())
}

/// GRAPH-03: what a launch combines is not that of an earlier run, also after one that failed
/// half-way.
fn reductions_begin_anew_after_a_failure(rig: &Rig) -> Outcome {
    for (at, n) in (0..rig.rt.devices().len()).flat_map(|at| [(at, 4), (at, 10_000)]) {
        let q = rig.on(at)?;
        let graph = rig.rt.graph(&q.device())?;
        let mut x = rig.rt.buffer_from(vec![1u32; n])?;
        let sum = rig.rt.buffer::<u32, 1>(1)?.into_shared();
        graph.add(|cg| cg.run(n, total(&x, &sum)))?;
        let run = graph.finalize()?;
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

/// GRAPH-07: as far as their lifetimes do not meet, and it is counted.
fn temporaries_of_a_graph_share_memory(rig: &Rig) -> Outcome {
    const N: usize = 1000;
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (graph, out) = (rig.rt.graph(&q.device())?, rig.rt.buffer::<i32, 1>(N)?.into_shared());
        let all = (0..6).map(|_| Ok(rig.rt.buffer::<i32, 1>(N)?.into_shared()));
        let all: Vec<Shared<i32>> = all.collect::<Result<_, Error>>()?;
        // This one is used until the end, and that one is of another size.
        let (long, small) = (
            rig.rt.buffer::<i32, 1>(N)?.into_shared(),
            rig.rt.buffer::<i32, 1>(N / 2)?.into_shared(),
        );
        graph.add(|cg| cg.fill(&long, 5))?;
        graph.add(|cg| cg.run(N / 2, puts(9, &small)))?;
        graph.add(|cg| cg.copy(&long, &all[0]))?;
        for pair in all.windows(2) {
            graph.add(|cg| cg.copy(&pair[0], &pair[1]))?;
            graph.add(|cg| cg.run(N, adds(1, &pair[1])))?;
        }
        graph.add(|cg| cg.copy(&all[5], &out))?;
        graph.add(|cg| cg.run(N, adds_up(&long, &out)))?;
        let part = out.slice_mut([0], [N / 2])?;
        graph.add(|cg| cg.copy(&small, part))?;
        drop((all, long, small));
        let run = graph.finalize()?;
        let memory = run.memory()?;
        let unshared = 4 * (7 * N + N / 2) as u64;
        ensure_eq!((memory.temporaries, memory.memories), (8, 4));
        ensure_eq!((memory.bytes, memory.unshared_bytes), (0, unshared));
        let before = rig.rt.counters().allocations;
        for _ in 0..3 {
            q.run_graph(&run)?.wait()?;
        }
        ensure_eq!((out.get([0])?, out.get([N - 1])?), (9, 35));
        let bytes = 4 * (3 * N + N / 2) as u64;
        ensure_eq!(run.memory()?.bytes, bytes);
        // And what is read at the end.
        let made = rig.rt.counters().allocations - before;
        ensure!((4..=6).contains(&made), "{made} allocations");
    }
    Ok(())
}

/// GRAPH-07, GRAPH-08: blocks that make, use and drop buffers allocate nothing after the first.
fn batches_find_the_memory_of_their_temporaries_again(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let out = rig.rt.buffer_from(&[1; 64])?.into_shared();
    let block = |q: &folio_core::Queue, n: usize| {
        let (mut a, mut b) = (rig.rt.buffer::<i32, 1>(n)?, rig.rt.buffer::<i32, 1>(n)?);
        q.copy(&out.slice([0], [n])?, &mut a)?;
        q.run(n, adds(1, &mut a))?;
        q.copy(&a, &mut b)?;
        q.run(n, adds(1, &mut b))?;
        q.copy(&b, out.slice_mut([0], [n])?)
    };
    for turn in 0..10 {
        let before = rig.rt.counters().allocations;
        q.batch(|q| block(q, 64))?.1.wait()?;
        let made = rig.rt.counters().allocations - before;
        ensure!(turn == 0 || made == 0, "turn {turn} has made {made} allocations");
    }
    ensure_eq!(out.to_vec()?, [21; 64]);
    let report = q.batch_report();
    ensure_eq!((report.temporaries, report.memories, report.bytes), (2, 2, 2 * 4 * 64));
    // Memory that is not used goes; what is kept is bounded.
    for n in 1..60 {
        q.batch(|q| block(q, n))?;
        ensure!(q.batch_report().memories <= 16, "{:?}", q.batch_report());
    }
    q.wait()?;
    ensure_eq!((out.get([0])?, out.get([63])?), (21 + 2 * 59, 21));
    // A buffer of which the program has a handle is none.
    let mut kept = rig.rt.buffer::<i32, 1>(64)?;
    q.batch(|q| {
        kept = rig.rt.buffer::<i32, 1>(64)?;
        q.fill(&mut kept, 3)
    })?;
    q.batch(|q| block(q, 64))?;
    ensure_eq!(kept.to_vec()?, [3; 64]);
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
