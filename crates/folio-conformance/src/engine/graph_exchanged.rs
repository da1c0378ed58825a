//! Blocks of batches that come again with other scalars, buffers and ranges: the device's graph
//! gets what has changed, and each block is one operation.

use super::graphs::{graph, numbers};
use super::rig::*;
use super::tests;
use folio::prelude::*;
use folio_core::hal::DeviceKind;
use folio_core::{
    Destination, UsmKind, UsmPtr,
    graph::{BatchReport, WhyNot},
};
use std::sync::atomic::{AtomicI32, Ordering};

tests![
    blocks_with_other_scalars_are_one_operation,
    long_blocks_with_few_changes_are_one_operation,
    blocks_with_other_buffers_are_one_operation,
    blocks_with_other_ranges_are_one_operation,
    blocks_over_parts_of_buffers_are_one_operation,
    blocks_whose_data_the_host_has_written_are_one_operation,
    an_exchange_changes_no_earlier_block,
    a_block_in_which_a_check_is_left_is_submitted_one_by_one,
    blocks_of_two_threads_have_their_own_values,
    a_block_that_was_exchanged_meanwhile_is_submitted_one_by_one,
    blocks_fail_with_the_data_that_they_use,
    graphs_are_made_for_few_blocks_of_whatever_kind,
    blocks_with_raw_commands_are_one_operation,
    blocks_whose_pointers_take_turns_have_a_graph_each,
    a_block_over_memory_that_is_gone_is_refused,
];

/// No check is left if `x` has so many elements.
#[kernel]
fn picks(i: Item, at: usize, x: In<i32>, y: InOut<i32>) {
    y[i] = y[i] + x[at];
}

/// Turns of a loop that are enough for a graph, and for the device to know how long its commands
/// take.
const TURNS: i32 = 30;

/// The ways in which the later turns of a loop ran.
struct Turns {
    replayed: u64,
    exchanged: u64,
    /// How many there were in all.
    count: i32,
}

/// Runs a block for each turn, and waits for it: until some of those turns are one operation that
/// come after the first, if the device has graphs.
fn in_turns(
    q: &Queue,
    mut block: impl FnMut(&Queue, i32) -> Result<(), Error>,
) -> Result<Turns, Stop> {
    let mut count = 0;
    let mut round = || -> Result<BatchReport, Stop> {
        for _ in 0..TURNS {
            q.batch(|q| block(q, count))?.1.wait()?;
            count += 1;
        }
        Ok(q.batch_report())
    };
    let mut before = round()?;
    for _ in 0..6 {
        let now = round()?;
        let (replayed, exchanged) =
            (now.replayed - before.replayed, now.exchanged - before.exchanged);
        if replayed > 0 {
            return Ok(Turns { replayed, exchanged, count });
        }
        before = now;
    }
    Ok(Turns { replayed: 0, exchanged: 0, count })
}

/// The device makes graphs of such blocks, runs them as one, and exchanges all of what they do. A
/// CPU is faster without, if a block has few commands.
fn has_graphs(rig: &Rig) -> Result<bool, Stop> {
    let device = rig.queue()?.device();
    let info = device.info();
    Ok(replays(rig)? && !(info.kind == DeviceKind::Cpu && info.caps.closures))
}

/// The device makes graphs of such blocks, and runs them as one.
fn replays(rig: &Rig) -> Result<bool, Stop> {
    let (q, all) = (rig.queue()?, numbers(rig, 1)?);
    let same = in_turns(&q, |q, _| {
        q.run(8, adds(1, &all[0]))?;
        q.run(8, adds(2, &all[0])).map(drop)
    })?;
    Ok(same.replayed > 0)
}

/// GRAPH-08: a solver whose coefficients the host computes each turn.
fn blocks_with_other_scalars_are_one_operation(rig: &Rig) -> Outcome {
    let has = has_graphs(rig)?;
    for q in [rig.queue()?, rig.rt.in_order_queue_on(&rig.queue()?.device())?] {
        let all = numbers(rig, 2)?;
        let [x, y] = [&all[0], &all[1]];
        let (mut want, mut alpha, mut beta) = ([1i32, 1], 1, 2);
        let Turns { replayed, exchanged, .. } = in_turns(&q, |q, turn| {
            q.run(8, adds(alpha, x))?;
            q.run(8, adds_up(x, y))?;
            q.run(8, adds(beta, y))?;
            want[0] += alpha;
            want[1] = want[1].wrapping_mul(3).wrapping_add(want[0]).wrapping_add(beta);
            (alpha, beta) = (turn % 1000 + 3, 7 * turn + want[0] % 5);
            Ok(())
        })?;
        ensure_eq!((x.get([7])?, y.get([0])?), (want[0], want[1]));
        ensure!(!has || exchanged > 0, "{:?}", q.batch_report());
        ensure_eq!(replayed, exchanged);
        let (mut fill, mut copied) = (0, 0);
        let Turns { replayed, exchanged, .. } = in_turns(&q, |q, turn| {
            (fill, copied) = (turn, turn + 1);
            q.fill(x, fill)?;
            q.run(8, adds(1, x))?;
            q.copy(x, y).map(drop)
        })?;
        ensure_eq!((x.get([0])?, y.get([7])?), (fill + 1, copied));
        ensure_eq!(replayed, exchanged);
    }
    Ok(())
}

/// GRAPH-08: on CPUs, too.
fn long_blocks_with_few_changes_are_one_operation(rig: &Rig) -> Outcome {
    let (has, q) = (replays(rig)?, rig.queue()?);
    let all = numbers(rig, 3)?;
    let [x, y, z] = [&all[0], &all[1], &all[2]];
    let mut want = [1i32, 1, 1];
    let Turns { replayed, exchanged, .. } = in_turns(&q, |q, turn| {
        let to = if turn % 2 == 0 { y } else { z };
        q.run(8, adds(turn, x))?;
        (0..10).try_for_each(|_| q.run(8, adds(1, x)).map(drop))?;
        want[0] += turn + 10;
        want[1 + turn as usize % 2] += turn;
        q.run(8, adds(turn, to)).map(drop)
    })?;
    ensure_eq!([x.get([2])?, y.get([2])?, z.get([2])?], want);
    ensure!(!has || exchanged > 0, "{:?}", q.batch_report());
    ensure_eq!(replayed, exchanged);
    Ok(())
}

/// GRAPH-08: buffers that take turns, few of them and more than a queue knows blocks; and buffers
/// that are made anew.
fn blocks_with_other_buffers_are_one_operation(rig: &Rig) -> Outcome {
    let has = has_graphs(rig)?;
    for count in [2, 3, 11] {
        let q = rig.queue()?;
        let all = numbers(rig, count)?;
        let mut want = vec![1i32; count];
        let Turns { replayed, exchanged, .. } = in_turns(&q, |q, turn| {
            let at = |n: usize| (turn as usize + n) % count;
            q.run(8, adds(1, &all[at(0)]))?;
            q.copy(&all[at(0)], &all[at(1)])?;
            q.run(8, adds(2, &all[at(1)])).map(drop)?;
            want[at(0)] += 1;
            want[at(1)] = want[at(0)] + 2;
            Ok(())
        })?;
        let got = all.iter().map(|x| x.get([3])).collect::<Result<Vec<_>, _>>()?;
        ensure_eq!(got, want, "of {count}");
        ensure!(!has || replayed > 0, "of {count}: {:?}", q.batch_report());
        // Few have a graph each.
        let fits = if count > 8 { !has || exchanged == replayed } else { exchanged == 0 };
        ensure!(fits, "of {count}: {:?}", q.batch_report());
    }
    let q = rig.queue()?;
    let x = &numbers(rig, 1)?[0];
    let mut made = Vec::new();
    let mut at = 0;
    for turn in 0..2 * TURNS {
        let y = rig.rt.buffer::<i32, 1>(8)?.into_shared();
        q.run(8, puts(turn, &y))?.wait()?;
        let block = |q: &Queue| {
            q.run(8, adds_up(&y, x))?;
            q.run(8, adds(turn, &y)).map(drop)
        };
        q.batch(block)?.1.wait()?;
        at = (at * 3 + turn) % 1000;
        q.fill(x, at)?.wait()?;
        ensure_eq!(y.get([5])?, 2 * turn);
        // Few of them are kept.
        made.push(y);
        made.truncate(2);
    }
    let report = q.batch_report();
    ensure!(!has || report.exchanged > 0, "{report:?}");
    Ok(())
}

/// GRAPH-08
fn blocks_with_other_ranges_are_one_operation(rig: &Rig) -> Outcome {
    let has = has_graphs(rig)?;
    let q = rig.queue()?;
    let all = numbers(rig, 2)?;
    let [x, y] = [&all[0], &all[1]];
    let mut want = [[1i32; 8]; 2];
    let Turns { replayed, exchanged, .. } = in_turns(&q, |q, turn| {
        let (from, n) = (turn as usize % 3, 1 + (turn as usize / 3) % 5);
        q.run(n, adds(1, x.slice_mut([from], [n])?))?;
        q.copy(x.slice([from], [n])?, y.slice_mut([from], [n])?)?;
        q.run(8, adds(1, y)).map(drop)?;
        let [x, y] = &mut want;
        x[from..from + n].iter_mut().for_each(|x| *x += 1);
        y[from..from + n].copy_from_slice(&x[from..from + n]);
        want[1].iter_mut().for_each(|y| *y += 1);
        Ok(())
    })?;
    ensure_eq!([x.to_vec()?, y.to_vec()?], want);
    ensure!(!has || exchanged > 0, "{:?}", q.batch_report());
    ensure!(!has || exchanged == replayed, "{:?}", q.batch_report());
    // With ranges that do not meet, commands come after others than before.
    for turn in 0..TURNS as usize {
        let n = 1 + turn % 7;
        q.batch(|q| {
            q.fill(x.slice_mut([0], [n])?, turn as i32)?;
            q.copy(x.slice([4], [4])?, y.slice_mut([0], [4])?)
        })?
        .1
        .wait()?;
        want[0][..n].fill(turn as i32);
        let (x, y) = want.split_at_mut(1);
        y[0][..4].copy_from_slice(&x[0][4..]);
    }
    ensure_eq!([x.to_vec()?, y.to_vec()?], want);
    Ok(())
}

/// GRAPH-08: as those of a border, also with other scalars and other parts each time. Nothing else
/// counts as written.
fn blocks_over_parts_of_buffers_are_one_operation(rig: &Rig) -> Outcome {
    let (has, exchanges) = (replays(rig)?, has_graphs(rig)?);
    let (q, options) = (rig.queue()?, BufferOptions::new().page([8]));
    let x = rig.rt.buffer_with::<i32, 1>([64], options)?.into_shared();
    let mut want = [0; 64];
    for kind in 0..3 {
        let Turns { replayed, .. } = in_turns(&q, |q, turn| {
            let (begin, step) = match kind {
                0 => (8, 1),
                1 => (8, turn),
                _ => (8 * (turn as usize % 3), 1),
            };
            q.run(8, adds(step, x.slice_mut([begin], [8])?))?;
            q.run(8, adds(2, x.slice_mut([begin], [8])?))?;
            want[begin..begin + 8].iter_mut().for_each(|x| *x += step + 2);
            Ok(())
        })?;
        let wanted = if kind == 0 { has } else { exchanges };
        ensure!(!wanted || replayed > 0, "{kind}: {:?}", q.batch_report());
        ensure_eq!(x.to_vec()?, want);
    }
    Ok(())
}

/// GRAPH-03, GRAPH-08: a time loop into which the host writes at each turn. The written data are
/// brought, once, and the block is one operation.
fn blocks_whose_data_the_host_has_written_are_one_operation(rig: &Rig) -> Outcome {
    let has = replays(rig)?;
    let q = rig.separate(1)?.remove(0);
    let all = numbers(rig, 2)?;
    let [x, y] = [&all[0], &all[1]];
    let (mut sum, mut moved) = (1, q.counters().host_to_device);
    let (mut replayed, mut last, mut turns) = (0, q.batch_report().replayed, 0);
    for turn in 0..5 * TURNS {
        x.write()?.fill(turn);
        q.batch(|q| {
            q.run(8, adds(1, x))?;
            q.run(8, adds_up(x, y))
        })?
        .1
        .wait()?;
        sum = 3i32.wrapping_mul(sum).wrapping_add(turn + 1);
        let now = q.counters().host_to_device;
        // The first one brings `y`, too.
        let bytes = if turn == 0 { 64 } else { 32 };
        ensure_eq!(now.bytes, moved.bytes + bytes);
        moved = now;
        replayed += q.batch_report().replayed - last;
        last = q.batch_report().replayed;
        turns = turn;
        if replayed > 5 {
            break;
        }
    }
    ensure_eq!((x.get([7])?, y.get([0])?), (turns + 1, sum));
    ensure!(!has || replayed > 0, "{:?}", q.batch_report());
    Ok(())
}

/// GRAPH-08: blocks that follow each other without a wait.
fn an_exchange_changes_no_earlier_block(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let (all, outs) = (numbers(rig, 1)?, numbers(rig, 40)?);
    let x = &all[0];
    let mut want = 1;
    for round in 0..10 {
        let mut wants = Vec::new();
        for (turn, out) in outs.iter().enumerate() {
            let by = (round * 100 + turn) as i32;
            q.batch(|q| {
                q.run(8, adds(by, x))?;
                q.run(8, adds(1, x))?;
                q.copy(x, out)
            })?;
            want += by + 1;
            wants.push(want);
        }
        let got = outs.iter().map(|out| out.get([6])).collect::<Result<Vec<_>, _>>()?;
        ensure_eq!(got, wants);
    }
    Ok(())
}

/// GRAPH-08: whether a kernel can fail depends on a scalar here.
fn a_block_in_which_a_check_is_left_is_submitted_one_by_one(rig: &Rig) -> Outcome {
    let has = has_graphs(rig)?;
    let q = rig.queue()?;
    let all = numbers(rig, 3)?;
    let [x, y, z] = [&all[0], &all[1], &all[2]];
    let block = |q: &Queue, turn: i32, at: usize| {
        q.run(8, adds(turn, x))?;
        q.run(8, picks(at, x, y))?;
        q.run(8, adds(turn, z)).map(drop)
    };
    let mut want = [1, 1];
    let Turns { replayed, exchanged, .. } = in_turns(&q, |q, turn| {
        want[0] += turn;
        want[1] += want[0];
        block(q, turn, turn as usize % 8)
    })?;
    ensure_eq!([x.get([0])?, y.get([0])?], want);
    ensure!(!has || exchanged > 0 && exchanged == replayed, "{:?}", q.batch_report());
    let (before, [x_before, z_before]) = (q.batch_report(), [x.get([0])?, z.get([0])?]);
    let event = q.batch(|q| block(q, 1000, 8))?.1;
    let failure = failure(event.wait())?;
    ensure!(failure.to_string().contains("picks"), "{failure}");
    let now = q.batch_report();
    ensure_eq!((now.replayed, now.exchanged), (before.replayed, before.exchanged));
    let told = |why: WhyNot| {
        let why = why.to_string();
        let place = ["a check is left in kernel `picks`: ", "graph_exchanged.rs:", "index of `x`"];
        place.iter().all(|part| why.contains(part))
    };
    ensure!(!has || now.why_not.clone().is_some_and(told), "{now:?}");
    // What does not use what has failed has run.
    ensure_eq!([x.get([0])?, z.get([0])?], [x_before + 1000, z_before + 1000]);
    let _ = q.wait();
    q.fill(y, 5)?.wait()?;
    let Turns { exchanged, .. } = in_turns(&q, |q, turn| block(q, 2000 + turn, 3))?;
    ensure!(!has || exchanged > 0, "{:?}", q.batch_report());
    Ok(())
}

/// GRAPH-08
fn blocks_of_two_threads_have_their_own_values(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let all = numbers(rig, 2)?;
    let turns = 200;
    let run = |x: &Shared<i32>, factor: i32| -> Result<(), Error> {
        for turn in 0..turns {
            q.batch(|q| {
                q.run(8, adds(factor * turn, x))?;
                q.run(8, adds(factor, x)).map(drop)
            })?;
        }
        Ok(())
    };
    let results = std::thread::scope(|scope| {
        let threads = [(0, 1), (1, 1000)].map(|(at, factor)| {
            let (run, x) = (&run, &all[at]);
            scope.spawn(move || run(x, factor))
        });
        threads.map(|thread| thread.join())
    });
    for result in results {
        result.map_err(|_| Stop::Failed("a panic".into()))??;
    }
    let sum = turns * (turns - 1) / 2 + turns;
    ensure_eq!([all[0].get([1])?, all[1].get([1])?], [1 + sum, 1 + 1000 * sum]);
    Ok(())
}

/// GRAPH-08: while a block is described that is known, another one exchanges what its graph does.
fn a_block_that_was_exchanged_meanwhile_is_submitted_one_by_one(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let x = &numbers(rig, 1)?[0];
    let block =
        |q: &Queue, by: i32| q.run(8, adds(by, x)).and_then(|_| q.run(8, adds(1, x)).map(drop));
    let Turns { count, .. } = in_turns(&q, |q, turn| block(q, 2 * turn))?;
    let (latest, before) = (2 * (count - 1), x.get([0])?);
    let mut inner = Ok(());
    q.batch(|outer| {
        block(outer, latest)?;
        inner = q.batch(|q| block(q, 1000)).and_then(|(_, event)| event.wait());
        Ok(())
    })?;
    inner?;
    ensure_eq!(x.get([0])?, before + latest + 1000 + 2);
    Ok(())
}

/// GRAPH-08
fn blocks_fail_with_the_data_that_they_use(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let all = numbers(rig, 2)?;
    let [x, y] = [&all[0], &all[1]];
    let block =
        |q: &Queue, by: i32| q.run(8, adds(by, x)).and_then(|_| q.run(8, adds(by, y)).map(drop));
    let Turns { count, .. } = in_turns(&q, block)?;
    let sum: i32 = (0..count).sum();
    let bad = q.run(8, fails(2, x))?;
    let event = q.batch(|q| block(q, 500))?.1;
    ensure_eq!(failure(event.wait())?.id(), failure(bad.wait())?.id());
    // A block that is one operation fails as one.
    match q.batch_report().why_not {
        None => ensure!(y.get([0]).is_err(), "it was written by a block that has failed"),
        Some(_) => ensure_eq!(y.get([0])?, 1 + sum + 500),
    }
    let _ = q.wait();
    [x, y].into_iter().try_for_each(|x| q.fill(x, 0).map(drop))?;
    for by in 0..10 {
        q.batch(|q| block(q, by))?.1.wait()?;
    }
    ensure_eq!((x.get([0])?, y.get([0])?), (45, 45));
    Ok(())
}

/// GRAPH-08: a block of which the queue cannot tell that it comes again has no graph each time.
fn graphs_are_made_for_few_blocks_of_whatever_kind(rig: &Rig) -> Outcome {
    let has = has_graphs(rig)?;
    let all = numbers(rig, 2)?;
    let [x, y] = [&all[0], &all[1]];
    let (inner, within) = graph(rig)?;
    drop(inner);
    within.add(|cg| cg.fill(y, 3))?;
    let within = within.finalize()?;
    let told = AtomicI32::new(0);
    type Kind<'k> = (&'k str, bool, &'k dyn Fn(&Queue) -> Result<(), Error>);
    let kinds: [Kind<'_>; 7] = [
        ("a barrier", true, &|q| q.barrier().map(drop)),
        ("an empty group", true, &|q| q.submit(|_| Ok(())).map(drop)),
        ("an event", true, &|q| {
            let first = q.run(8, adds(1, x))?;
            let after = q.submit(|cg| {
                cg.after(&first).run(8, adds(1, y));
                Ok(())
            });
            after.map(drop)
        }),
        ("several boxes", true, &|q| {
            let boxes = [Items::from(0..3), Items::from(5..8)];
            q.run_each(boxes, adds(1, x)).map(drop)
        }),
        ("a prefetch", true, &|q| {
            let fetch = q.submit(|cg| {
                cg.prefetch(x, Destination::Device);
                Ok(())
            });
            fetch.map(drop)
        }),
        ("a graph", true, &|q| q.run_graph(&within).map(drop)),
        ("a label", false, &|q| {
            let name = format!("turn {}", told.fetch_add(1, Ordering::Relaxed));
            let labelled = q.submit(|cg| {
                cg.label(name).run(8, adds(1, x));
                Ok(())
            });
            labelled.map(drop)
        }),
    ];
    for (what, follows, kind) in kinds {
        let q = rig.queue()?;
        q.wait()?;
        let block = |q: &Queue, turn: i32| {
            q.run(8, adds(turn, x))?;
            kind(q)?;
            q.run(8, adds(2, x)).map(drop)
        };
        let mut graphs = Vec::new();
        for turn in 0..2 * TURNS {
            q.batch(|q| block(q, turn))?.1.wait()?;
            graphs.push(q.batch_report().graphs);
        }
        let report = q.batch_report();
        ensure_eq!(graphs[TURNS as usize], report.graphs, "{what}: {report:?}");
        ensure!(!has || !follows || report.exchanged > 0, "{what}: {report:?}");
        ensure!(follows || report.replayed == 0, "{what}: {report:?}");
        ensure!(follows || report.why_not.is_some(), "{what}: {report:?}");
    }
    Ok(())
}

/// The eight elements that a pointer names.
fn contents(rig: &Rig, q: &Queue, from: UsmPtr) -> Result<[i32; 8], Stop> {
    let mut out = [0; 8];
    let host = UsmPtr::of_host(&rig.rt, out.as_mut_ptr().cast(), 32);
    let event = q.submit(|cg| {
        // SAFETY: both have so many bytes, and this function waits. The queue is in order.
        unsafe { cg.copy_raw(from, host, [32]) };
        Ok(())
    })?;
    event.wait()?;
    Ok(out)
}

/// Fills the first of these, has a kernel change it, and copies it to the second.
fn by_pointers(
    q: &Queue,
    value: i32,
    [from, to]: [UsmPtr; 2],
    x: &Shared<i32>,
) -> Result<(), Error> {
    q.submit(|cg| {
        // SAFETY: all of an allocation of eight elements. The queue is in order.
        unsafe { cg.fill_raw(from, [8], value) };
        Ok(())
    })?;
    q.run(8, adds(1, x))?;
    q.submit(|cg| {
        // SAFETY: as above; the two do not overlap.
        unsafe { cg.copy_raw(from, to, [32]) };
        Ok(())
    })
    .map(drop)
}

/// GRAPH-08: raw copies and fills between kernels, also over the same memory.
fn blocks_with_raw_commands_are_one_operation(rig: &Rig) -> Outcome {
    let has = has_graphs(rig)?;
    let q = rig.rt.in_order_queue_on(&rig.queue()?.device())?;
    let x = &numbers(rig, 1)?[0];
    let made = || rig.rt.usm::<i32>(&q.device(), UsmKind::Device, 8);
    let (mut a, b) = (made()?, made()?);
    let [from, to] = [a.pointer(), b.pointer()];
    let (mut last, mut count) = (0, 0);
    let Turns { replayed, exchanged, .. } = in_turns(&q, |q, turn| {
        by_pointers(q, turn, [from, to], x)?;
        (last, count) = (turn, count + 1);
        Ok(())
    })?;
    ensure_eq!(contents(rig, &q, to)?, [last; 8]);
    ensure_eq!(x.to_vec()?, vec![1 + count; 8]);
    ensure!(!has || exchanged > 0, "{:?}", q.batch_report());
    ensure!(!has || exchanged == replayed, "{:?}", q.batch_report());
    let mut want = 0;
    let Turns { replayed, .. } = in_turns(&q, |q, turn| {
        q.submit(|cg| {
            // SAFETY: as in `by_pointers`.
            unsafe { cg.fill_raw(from, [8], 5) };
            Ok(())
        })?;
        q.run(8, adds(turn, a.slice_mut(0, 8)?))?;
        want = 5 + turn;
        let copied = q.submit(|cg| {
            // SAFETY: as in `by_pointers`.
            unsafe { cg.copy_raw(from, to, [32]) };
            Ok(())
        });
        copied.map(drop)
    })?;
    ensure_eq!(contents(rig, &q, to)?, [want; 8]);
    ensure!(!has || replayed > 0, "{:?}", q.batch_report());
    Ok(())
}

/// GRAPH-08
fn blocks_whose_pointers_take_turns_have_a_graph_each(rig: &Rig) -> Outcome {
    let has = has_graphs(rig)?;
    let q = rig.rt.in_order_queue_on(&rig.queue()?.device())?;
    let x = &numbers(rig, 1)?[0];
    let made = || rig.rt.usm::<i32>(&q.device(), UsmKind::Device, 8);
    let (a, b) = (made()?, made()?);
    let mut all = [a.pointer(), b.pointer()];
    for turn in 0..TURNS {
        q.batch(|q| by_pointers(q, 7 + turn % 2, all, x))?.1.wait()?;
        ensure_eq!(contents(rig, &q, all[1])?, [7 + turn % 2; 8], "turn {turn}");
        all.reverse();
    }
    let report = q.batch_report();
    ensure!(!has || report.replayed > TURNS as u64 / 2 && report.graphs == 2, "{report:?}");
    Ok(())
}

/// GRAPH-08: a graph of the device's is no reason to use memory that is gone.
fn a_block_over_memory_that_is_gone_is_refused(rig: &Rig) -> Outcome {
    let q = rig.rt.in_order_queue_on(&rig.queue()?.device())?;
    let x = &numbers(rig, 1)?[0];
    let made = || rig.rt.usm::<i32>(&q.device(), UsmKind::Device, 8);
    let (a, b) = (made()?, made()?);
    let all = [a.pointer(), b.pointer()];
    let mut count = 0;
    in_turns(&q, |q, turn| {
        count += 1;
        by_pointers(q, turn, all, x)
    })?;
    drop(b);
    let before = q.batch_report().replayed;
    refused!(q.batch(|q| by_pointers(q, 3, all, x)), Error::Freed { .. });
    ensure_eq!(q.batch_report().replayed, before);
    q.wait()?;
    ensure_eq!(x.to_vec()?, vec![1 + count; 8]);
    Ok(())
}
