//! Parts of runs that the device does by its own graphs, without being asked.

use super::graph_wholes::{self, held};
use super::graphs::{adding, graph, numbers};
use super::rig::*;
use super::tests;
use folio_core::{CommandGroup, Error, Executable, Graph, Node, Parameter, Queue, Replay, Shared};

tests![
    chains_are_replayed_without_being_asked,
    runs_in_a_row_are_replayed,
    a_run_of_several_chains_is_one_operation,
    chains_of_which_one_may_fail_are_replayed_apart,
    a_failure_before_a_part_spreads_as_by_commands,
    commands_that_may_fail_are_of_no_part,
    exchanged_commands_are_exchanged_in_parts,
    many_exchanges_make_one_graph,
    parts_are_exchanged_between_runs_only,
    other_orders_are_other_parts,
    parts_find_stale_data_at_their_entry,
    parts_are_refused_as_their_commands_are,
    reductions_of_parts_begin_anew_in_each_run,
    temporaries_of_a_graph_share_memory,
    batches_find_the_memory_of_their_temporaries_again,
];

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
fn has_graphs(run: &Executable) -> bool {
    graph_wholes::has_graphs(&run.device()) || !whys(run).contains("graphs")
}

/// That a run had these parts, where the device has graphs.
fn ran(run: &Executable, want: &[(usize, bool)]) -> Outcome {
    if has_graphs(run) {
        ensure!(parts(run) == want, "{:?}, and not {want:?}: {}", parts(run), whys(run));
    } else {
        let report = run.replay_report();
        ensure_eq!((report.replays, report.made), (0, 0));
    }
    Ok(())
}

/// Adds a node that adds three times one buffer to another.
fn adding_up(graph: &Graph, x: &Shared<i32>, y: &Shared<i32>) -> Outcome {
    graph.add(|cg| cg.run(8, adds_up(x, y)))?;
    Ok(())
}

/// GRAPH-03: kernels, copies, fills and empty nodes, with a host task between them, on each device.
/// They are counted as by commands.
fn chains_are_replayed_without_being_asked(rig: &Rig) -> Outcome {
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
            let replays = if has_graphs(&run) { 2 * (turns - 1) } else { 0 };
            ensure_eq!((counted.replays, run.replay_report().replays), (replays, replays));
            match turn {
                1 => ensure!(whys(&run).contains("first run"), "{}", whys(&run)),
                _ => ran(&run, &[(4, true), (1, false), (2, true)])?,
            }
        }
        ensure_eq!(x[2].to_vec()?, [116; 8]);
        let (whys, want) = match has_graphs(&run) {
            true => (whys(&run), "host task"),
            false => (whys(&run), "graphs"),
        };
        ensure!(whys.contains(want), "{whys}");
    }
    Ok(())
}

/// GRAPH-03: a run waits for the one before it, which only the device can fail.
fn runs_in_a_row_are_replayed(rig: &Rig) -> Outcome {
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
    if has_graphs(&run) {
        ensure_eq!((run.replay_report().replays, run.replay_report().made), (19, 1));
    }
    Ok(())
}

/// Three chains of four commands, which were added in turns, over a buffer each.
fn three_chains(rig: &Rig) -> Result<(Queue, Executable, Vec<Shared<i32>>), Stop> {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    for step in 0..4 {
        for x in &x {
            adding(&graph, x, step)?;
        }
    }
    Ok((q, graph.finalize()?, x))
}

/// As [`ran`]. From when on a CPU has found that it takes longer for several chains as one, it does
/// these by themselves.
fn ran_unless_slow(run: &Executable, slow: &mut bool, want: &[(usize, bool)]) -> Outcome {
    *slow |= whys(run).contains("take longer");
    if *slow { Ok(()) } else { ran(run, want) }
}

/// GRAPH-03: no command of it can fail by itself. Runs in a row wait for each other.
fn a_run_of_several_chains_is_one_operation(rig: &Rig) -> Outcome {
    let (q, run, x) = three_chains(rig)?;
    let mut slow = false;
    for _ in 0..3 {
        q.run_graph(&run)?.wait()?;
    }
    ran_unless_slow(&run, &mut slow, &[(12, true)])?;
    for _ in 0..4 {
        q.run_graph(&run)?;
    }
    q.wait()?;
    ran_unless_slow(&run, &mut slow, &[(12, true)])?;
    ensure_eq!(x.iter().map(|x| x.get([5])).collect::<Result<Vec<_>, _>>()?, [43; 3]);
    Ok(())
}

/// GRAPH-03, ERR-02: what one of them waits for may fail, and the others are not to. Where that
/// comes again and again, each chain is an operation.
fn chains_of_which_one_may_fail_are_replayed_apart(rig: &Rig) -> Outcome {
    let (q, run, x) = three_chains(rig)?;
    let mut slow = false;
    for _ in 0..2 {
        q.run_graph(&run)?.wait()?;
    }
    ran_unless_slow(&run, &mut slow, &[(12, true)])?;
    let mut want = 13;
    for turn in 0..5 {
        let gate = Gate::new();
        held(&q, &x[1], &gate)?;
        let event = q.run_graph(&run)?;
        gate.open();
        event.wait()?;
        want += 6;
        let found = x.iter().map(|x| x.get([5])).collect::<Result<Vec<_>, _>>()?;
        ensure_eq!(found, [want, 56, want]);
        let parts: &[(usize, bool)] = if turn < 3 { &[(12, false)] } else { &[(4, true); 3] };
        ran_unless_slow(&run, &mut slow, parts)?;
    }
    let bad = q.run(8, fails(2, &x[1]))?;
    let event = q.run_graph(&run)?;
    let failed = failure(bad.wait())?;
    ensure_eq!(failure(event.wait())?.id(), failed.id());
    ensure_eq!(failure(x[1].to_vec())?.id(), failed.id());
    ensure_eq!((x[0].get([5])?, x[2].get([5])?), (want + 6, want + 6));
    Ok(())
}

/// GRAPH-03, ERR-02: what has failed, or fails later, spreads to the commands that use it.
fn a_failure_before_a_part_spreads_as_by_commands(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let x = numbers(rig, 3)?;
    adding(&graph, &x[0], 1)?;
    adding_up(&graph, &x[0], &x[1])?;
    let run = graph.finalize()?;
    q.run_graph(&run)?.wait()?;
    q.run_graph(&run)?.wait()?;
    ran(&run, &[(2, true)])?;
    // The second command's input fails while the run waits for it; then before the run.
    for waits in [true, false] {
        x.iter().try_for_each(|x| q.fill(x, 1).map(drop))?;
        q.wait().or(Ok::<_, Stop>(()))?;
        let gate = Gate::new();
        held(&q, &x[1], &gate)?;
        let bad = q.run(8, fails(2, &x[1]))?;
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
        ensure_eq!(x[0].to_vec()?, [2; 8]);
        ensure_eq!(failure(x[1].to_vec())?.id(), failed.id());
        ran(&run, &[(2, false)])?;
    }
    // The first command's input fails, and all fail with it.
    x.iter().try_for_each(|x| q.fill(x, 1).map(drop))?;
    q.wait().or(Ok::<_, Stop>(()))?;
    let gate = Gate::new();
    held(&q, &x[0], &gate)?;
    let bad = q.run(8, fails(2, &x[0]))?;
    let event = q.run_graph(&run)?;
    gate.open();
    let failed = failure(event.wait())?;
    ensure_eq!(failed.id(), failure(bad.wait())?.id());
    for x in &x[..2] {
        ensure_eq!(failure(x.to_vec())?.id(), failed.id());
    }
    // The next run works.
    x.iter().try_for_each(|x| q.fill(x, 1).map(drop))?;
    q.wait().or(Ok::<_, Stop>(()))?;
    q.run_graph(&run)?.wait()?;
    ensure_eq!((x[0].to_vec()?, x[1].to_vec()?), (vec![2; 8], vec![5; 8]));
    Ok(())
}

/// GRAPH-03, ERR-02: a node fails by its own name, and nothing else with it that does not use it.
fn commands_that_may_fail_are_of_no_part(rig: &Rig) -> Outcome {
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
    ensure!(place.iter().all(|part| why.contains(part)), "{report:?}");
    q.wait().or(Ok::<_, Stop>(()))
}

/// GRAPH-03: runs that were submitted before keep what they have; the next one is by the same graph
/// of the device's, in which nodes have been exchanged.
fn exchanged_commands_are_exchanged_in_parts(rig: &Rig) -> Outcome {
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
            // The host has written what the last one uses: some devices have to be brought it.
            if turn < 2 {
                ran(&run, &[(2, (round, turn) != (1, 0))])?;
            }
        }
        if has_graphs(&run) {
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
fn many_exchanges_make_one_graph(rig: &Rig) -> Outcome {
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
        if waits && has_graphs(&run) {
            let report = run.replay_report();
            ensure_eq!((report.replays, report.made, report.exchanged), (19, 1, 18));
        }
    }
    Ok(())
}

/// GRAPH-03: a run that waits does not do what was exchanged for the next one.
fn parts_are_exchanged_between_runs_only(rig: &Rig) -> Outcome {
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

/// GRAPH-03: after an exchange by which commands follow one another otherwise, they are other
/// parts.
fn other_orders_are_other_parts(rig: &Rig) -> Outcome {
    let (q, [_, second], run, x) = chain(rig)?;
    let mut want = [1, 4, 1];
    let mut runs = |from: usize, ran_as: &[(usize, bool)]| -> Outcome {
        run.update(second, |cg| cg.run(8, adds_up(&x[from], &x[1])))?;
        q.run_graph(&run)?.wait()?;
        want[1] = 3 * want[1] + want[from];
        ensure_eq!(x[1].to_vec()?, [want[1]; 8]);
        ran(&run, ran_as)
    };
    let (apart, together) = ([(2, false)], [(2, true)]);
    runs(0, &together)?;
    runs(2, &apart)?;
    runs(2, &together)?;
    runs(0, &apart)?;
    runs(0, &together)?;
    if has_graphs(&run) {
        ensure_eq!(run.replay_report().made, 3);
    }
    Ok(())
}

/// GRAPH-03: data that are elsewhere are brought before the part. While they are still to be
/// written, by what may fail, only the first of a chain can wait for them.
fn parts_find_stale_data_at_their_entry(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let graph = rig.rt.graph(&q.device())?;
    let x = numbers(rig, 2)?;
    adding(&graph, &x[0], 1)?;
    adding_up(&graph, &x[0], &x[1])?;
    let run = graph.finalize()?;
    q.run_graph(&run)?.wait()?;
    q.run_graph(&run)?.wait()?;
    ran(&run, &[(2, true)])?;
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
        if has_graphs(&run) {
            ensure_eq!(q.counters().replays, before.replays + 2);
        }
        let [a, b] = if at == 0 { [10, other] } else { [other, 10] };
        let b = 3 * (3 * b + a + 1) + a + 2;
        ensure_eq!((x[0].get([3])?, x[1].get([3])?), (a + 2, b));
    }
    for (at, together) in [(1, false), (0, true)] {
        let gate = Gate::new();
        let [a, b] = [x[0].get([3])?, x[1].get([3])?];
        held(&q, &x[at], &gate)?;
        let event = q.run_graph(&run)?;
        gate.open();
        event.wait()?;
        let [a, b] = if at == 0 { [50, b] } else { [a, 50] };
        ensure_eq!((x[0].get([3])?, x[1].get([3])?), (a + 1, 3 * b + a + 1));
        ran(&run, &[(2, together)])?;
        ensure!(together || !has_graphs(&run) || whys(&run).contains("brought"), "{}", whys(&run));
    }
    q.run_graph(&run)?.wait()?;
    ran(&run, &[(2, true)])
}

/// GRAPH-02: an error names the command that is refused, and nothing is submitted.
fn parts_are_refused_as_their_commands_are(rig: &Rig) -> Outcome {
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

/// GRAPH-03: over many chunks of values.
fn reductions_of_parts_begin_anew_in_each_run(rig: &Rig) -> Outcome {
    const N: usize = 20_000;
    for how in [Replay::Parts, Replay::Whole, Replay::Commands] {
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
        let replays = match how {
            Replay::Parts if has_graphs(&run) => 4,
            Replay::Whole if has_graphs(&run) => 5,
            _ => 0,
        };
        ensure_eq!(run.replay_report().replays, replays);
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
