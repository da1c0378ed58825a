//! Graphs: what their replays do, in the order of everything else; and what happens where there are
//! none.

use super::Test;
use super::rig::{Memory, Outcome, Queue, Rig, Seat, Stop, ensure, host, line, noise, run};
use folio_core::hal::{
    Args, Block, BlockKernel, BodyNode, Branch, Choice, Geometry, Graph, HalError, HalErrorKind,
    KernelRef, LaneKind, NativeKernel, Node, Op, ParamPtr, Verdict,
};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub(super) const TESTS: &[Test] = &[
    ("replays_do_what_their_nodes_do", replays_do_what_their_nodes_do),
    ("replays_are_operations_of_their_lane", replays_are_operations_of_their_lane),
    ("lanes_wait_for_replays", lanes_wait_for_replays),
    ("updates_hold_from_the_next_replay_on", updates_hold_from_the_next_replay_on),
    ("replays_run_kernels_and_name_what_fails", replays_run_kernels_and_name_what_fails),
    ("a_refused_replay_has_its_tick", a_refused_replay_has_its_tick),
    ("conditional_nodes_choose_and_repeat", conditional_nodes_choose_and_repeat),
];

/// Long enough that a replay is under way when what follows is issued. Devices that run code of the
/// host are slower, and simulated ones may have little memory.
fn bytes(seat: &Seat<'_>) -> u64 {
    if seat.device.info().caps.closures { 64 << 10 } else { 4 << 20 }
}

/// Each device that has graphs.
fn each(rig: &Rig, test: impl Fn(Seat<'_>) -> Outcome) -> Outcome {
    let mut some = false;
    rig.each(|seat| {
        if has_graphs(&seat)? {
            some = true;
            test(seat)?;
        }
        Ok(())
    })?;
    if some { Ok(()) } else { Err(Stop::Unsupported("graphs".into())) }
}

fn has_graphs(seat: &Seat<'_>) -> Result<bool, Stop> {
    match seat.device.graph(&[Node { op: Op::Join, after: &[] }]) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind, HalErrorKind::Unsupported) => Ok(false),
        Err(other) => Err(other.into()),
    }
}

/// Copies all of `from` to `to`.
fn copies(seat: &Seat<'_>, from: &Memory<'_>, to: &Memory<'_>) -> Result<Arc<dyn Graph>, Stop> {
    let rect = [line(from.at(0), to.at(0), from.size)];
    Ok(seat.device.graph(&[Node { op: Op::Copy(&rect), after: &[] }])?)
}

fn replays_do_what_their_nodes_do(rig: &Rig) -> Outcome {
    each(rig, |seat| {
        let bytes = bytes(&seat);
        let [a, b, c] = [seat.memory(bytes)?, seat.memory(bytes)?, seat.memory(bytes)?];
        let mut queue = seat.queue(LaneKind::Compute)?;
        let first = [run(a.at(0), bytes)];
        let second = [run(b.at(0), bytes / 2)];
        let half = [line(a.at(0), b.at(bytes / 2), bytes / 2)];
        let all = [line(b.at(0), c.at(0), bytes)];
        let nodes = [
            Node { op: Op::Fill(&first, &[1, 2]), after: &[] },
            Node { op: Op::Fill(&second, &[3]), after: &[] },
            Node { op: Op::Copy(&half), after: &[0] },
            Node { op: Op::Join, after: &[1, 2] },
            Node { op: Op::Copy(&all), after: &[3] },
        ];
        let graph = seat.device.graph(&nodes)?;
        let half = bytes as usize / 2;
        let expected: Vec<u8> =
            (0..2 * half).map(|k| if k < half { 3 } else { 1 + (k % 2) as u8 }).collect();
        for _ in 0..3 {
            queue.fill(&[run(b.at(0), bytes), run(c.at(0), bytes)], &[0])?;
            queue.replay(&[], &graph)?;
            ensure!(queue.read(&c)? == expected, "the nodes' effect is not there");
        }
        ensure!(queue.failures().is_empty(), "{:?}", queue.failures());
        Ok(())
    })
}

/// Earlier operations are done by then, and a later one comes after all of it, whether it is
/// another replay or not.
fn replays_are_operations_of_their_lane(rig: &Rig) -> Outcome {
    each(rig, |seat| {
        let bytes = bytes(&seat);
        let [a, b, c] = [seat.memory(bytes)?, seat.memory(bytes)?, seat.memory(bytes)?];
        let mut queue = seat.queue(LaneKind::Compute)?;
        let [there, on] = [copies(&seat, &a, &b)?, copies(&seat, &b, &c)?];
        for turn in 0..20 {
            queue.fill(&[run(a.at(0), bytes)], &[turn])?;
            queue.replay(&[], &there)?;
            queue.fill(&[run(a.at(0), bytes)], &[99])?;
            queue.replay(&[], &on)?;
            queue.replay(&[], &there)?;
            ensure!(queue.read(&c)?.iter().all(|byte| *byte == turn), "turn {turn}: what is ahead");
            ensure!(queue.read(&b)?.iter().all(|byte| *byte == 99), "turn {turn}: what follows");
        }
        Ok(())
    })
}

fn lanes_wait_for_replays(rig: &Rig) -> Outcome {
    each(rig, |seat| {
        let bytes = bytes(&seat);
        let [a, b, c] = [seat.memory(bytes)?, seat.memory(bytes)?, seat.memory(bytes)?];
        if seat.device.info().caps.wait_group.is_none() {
            return Ok(());
        }
        let [mut one, mut other] = [seat.queue(LaneKind::Compute)?, seat.queue(LaneKind::Compute)?];
        let [there, on] = [copies(&seat, &a, &b)?, copies(&seat, &b, &c)?];
        for turn in 0..20 {
            one.fill(&[run(a.at(0), bytes)], &[turn])?;
            one.replay(&[], &there)?;
            let waits = [(&one, one.last)];
            other.replay(&waits, &on)?;
            ensure!(other.read(&c)?.iter().all(|byte| *byte == turn), "turn {turn}");
        }
        Ok(())
    })
}

fn updates_hold_from_the_next_replay_on(rig: &Rig) -> Outcome {
    each(rig, |seat| {
        let bytes = bytes(&seat);
        let [a, b, c] = [seat.memory(bytes)?, seat.memory(bytes)?, seat.memory(bytes)?];
        let (data, more) = (noise(bytes, 1), noise(bytes, 2));
        let mut queue = seat.queue(LaneKind::Compute)?;
        queue.write(&a, &data)?;
        let graph = copies(&seat, &a, &b)?;
        queue.replay(&[], &graph)?;
        let other = [line(a.at(0), c.at(0), bytes)];
        match graph.update(0, Op::Copy(&other)) {
            // Such a graph is made anew.
            Err(error) if matches!(error.kind, HalErrorKind::Unsupported) => return Ok(()),
            updated => updated?,
        }
        queue.copy(&[], &[line(host(&more), a.at(0), bytes)])?;
        queue.replay(&[], &graph)?;
        ensure!(queue.read(&b)? == data, "the replay that was under way");
        ensure!(queue.read(&c)? == more, "the next one");
        Ok(())
    })
}

/// Counts its items, or panics.
struct Counts(Arc<AtomicUsize>, Arc<AtomicBool>);

impl BlockKernel for Counts {
    unsafe fn run(&self, _: &[ParamPtr], block: &Block) -> Verdict {
        if self.1.load(Ordering::SeqCst) {
            // Not `panic!`, which would print: this one is on purpose.
            std::panic::resume_unwind(Box::new("on purpose"));
        }
        self.0.fetch_add(block.volume(), Ordering::SeqCst);
        Ok(())
    }
}

/// Where closures are kernels: a graph keeps them, runs them at each replay, and drops them. A node
/// that fails fails its replay only, which says which node it was.
fn replays_run_kernels_and_name_what_fails(rig: &Rig) -> Outcome {
    each(rig, |seat| {
        if !seat.device.info().caps.closures {
            return Ok(());
        }
        let mut queue = seat.queue(LaneKind::Compute)?;
        let (items, fails) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let kernel = |fails: &Arc<AtomicBool>| {
            Cell::new(Some(NativeKernel::new(Counts(items.clone(), fails.clone()))))
        };
        let [first, second, other] = [kernel(&Arc::default()), kernel(&fails), kernel(&fails)];
        let (geometry, args) = (Geometry::new(1, [1, 1, 100]), Args::new(&[]));
        let launch = |kernel| Op::Launch(KernelRef::Native(kernel), &geometry, args);
        let nodes = [
            Node { op: launch(&first), after: &[] },
            Node { op: Op::Join, after: &[0] },
            Node { op: launch(&second), after: &[1] },
        ];
        let graph = seat.device.graph(&nodes)?;
        ensure!(first.take().is_none() && second.take().is_none(), "kernels are not taken");
        for _ in 0..3 {
            queue.replay(&[], &graph)?;
        }
        queue.finish()?;
        ensure!(items.load(Ordering::SeqCst) == 600, "{items:?} items and not 600");
        fails.store(true, Ordering::SeqCst);
        queue.replay(&[], &graph)?;
        let tick = queue.last;
        queue.finish()?;
        let told = queue.failures();
        let named = matches!(&told[..], [(at, error)] if *at == tick && error.node == Some(2));
        ensure!(named, "{told:?}");
        fails.store(false, Ordering::SeqCst);
        graph.update(2, launch(&other))?;
        let before = items.load(Ordering::SeqCst);
        queue.replay(&[], &graph)?;
        queue.finish()?;
        ensure!(queue.failures().is_empty(), "a failure stays");
        ensure!(items.load(Ordering::SeqCst) - before == 200, "a replay after one that failed");
        drop(graph);
        ensure!(Arc::strong_count(&fails) == 1, "closures are not dropped with their graph");
        Ok(())
    })
}

/// No graph of anybody's.
struct Nobodys;

// SAFETY: it touches nothing.
unsafe impl Graph for Nobodys {
    fn update(&self, _: usize, _: Op<'_>) -> Result<(), HalError> {
        Err(HalError::unsupported("this"))
    }
}

/// Where there are no graphs, none is made, and what is replayed is refused; its tick is reached
/// all the same, after what is ahead, and those that follow are what they are.
fn a_refused_replay_has_its_tick(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        if has_graphs(&seat)? {
            return Ok(());
        }
        let (memory, graph) = (seat.memory(64)?, Arc::new(Nobodys) as Arc<dyn Graph>);
        let mut queue: Queue = seat.queue(LaneKind::Compute)?;
        queue.fill(&[run(memory.at(0), 64)], &[1])?;
        let refused = queue.replay(&[], &graph);
        let unsupported =
            refused.is_err_and(|error| matches!(error.kind, HalErrorKind::Unsupported));
        ensure!(unsupported, "it was replayed");
        queue.finish()?;
        queue.fill(&[run(memory.at(0), 32)], &[2])?;
        let read = queue.read(&memory)?;
        ensure!(read == [[2; 32], [1; 32]].concat(), "{read:?}");
        Ok(())
    })
}

/// A node that fills a byte of `to` by what a value chooses.
fn choosing(
    seat: &Seat<'_>,
    choice: Choice,
    (value, bytes): (&Memory<'_>, usize),
    to: &Memory<'_>,
    bodies: u8,
) -> Result<Option<Arc<dyn Graph>>, Stop> {
    let rect = [run(to.at(0), 1)];
    let patterns: Vec<[u8; 1]> = (1..=bodies).map(|k| [k]).collect();
    let bodies = patterns.iter().map(|pattern| vec![BodyNode::Op(Op::Fill(&rect, pattern))]);
    let value = value.at(8);
    let branch = Branch { choice, value, bytes, number: 0, bodies: bodies.collect() };
    match seat.device.graph(&[Node { op: Op::Branch(&branch), after: &[] }]) {
        Ok(graph) => Ok(Some(graph)),
        // The driver's conditional nodes have no such bodies.
        Err(error) if matches!(error.kind, HalErrorKind::Unsupported) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

/// Of values of each size; loops, their limits, and nodes within bodies. Where a device has none,
/// it says so.
fn conditional_nodes_choose_and_repeat(rig: &Rig) -> Outcome {
    each(rig, |seat| {
        let [value, to] = [seat.memory(16)?, seat.memory(16)?];
        let mut queue = seat.queue(LaneKind::Compute)?;
        let has = seat.device.info().caps.conditions;
        for bytes in [1, 2, 4, 8] {
            for (choice, bodies) in [(Choice::If, 1), (Choice::If, 2), (Choice::Switch, 3)] {
                let made = choosing(&seat, choice, (&value, bytes), &to, bodies)?;
                ensure!(has || made.is_none(), "a condition that the device does not tell of");
                let needed = has && choice == Choice::If && bodies == 1;
                ensure!(made.is_some() || !needed, "no condition of {bytes} bytes");
                let Some(graph) = made else { continue };
                let high = 0x80 << (8 * (bytes - 1));
                for number in [0, 1, 2, 3, high] {
                    let mut words = noise(16, bytes as u8);
                    words[8..8 + bytes].copy_from_slice(&u64::to_le_bytes(number)[..bytes]);
                    queue.write(&value, &words)?;
                    queue.fill(&[run(to.at(0), 16)], &[0])?;
                    queue.replay(&[], &graph)?;
                    let chosen = match choice {
                        Choice::Switch => number.saturating_add(1),
                        _ => 1 + u64::from(number == 0),
                    };
                    let want = if chosen <= u64::from(bodies) { chosen } else { 0 };
                    let got = queue.read(&to)?[0];
                    ensure!(u64::from(got) == want, "{choice:?} of {number}: {got}, not {want}");
                }
            }
        }
        if has { loops(&seat, &mut queue) } else { Ok(()) }
    })
}

/// A body that moves two lists on by one, until the first of one list is 0: so the first of the
/// other is how often that was. Within it, a node of its own.
fn loops(seat: &Seat<'_>, queue: &mut Queue) -> Outcome {
    let [flags, counts, spare] = [seat.memory(16)?, seat.memory(16)?, seat.memory(16)?];
    let on = |list: &Memory<'_>| {
        [[line(list.at(1), spare.at(0), 15)], [line(spare.at(0), list.at(0), 15)]]
    };
    let ([away, back], [there, home]) = (on(&flags), on(&counts));
    let mark = [run(counts.at(15), 1)];
    for (limit, turns) in [(5, 0u8), (5, 3), (3, 3), (2, 3), (0, 0), (0, 1)] {
        let copy = |rect| BodyNode::Op(Op::Copy(rect));
        let marks = Branch {
            choice: Choice::If,
            value: flags.at(1),
            bytes: 1,
            number: 1,
            bodies: vec![vec![BodyNode::Op(Op::Fill(&mark, &[77]))]],
        };
        let body = vec![
            BodyNode::Branch(marks),
            copy(&away),
            copy(&back),
            BodyNode::Op(Op::Join),
            copy(&there),
            copy(&home),
        ];
        let (choice, bodies) = (Choice::While { limit }, vec![body]);
        let branch = Branch { choice, value: flags.at(0), bytes: 1, number: 4, bodies };
        let nodes =
            [Node { op: Op::Join, after: &[] }, Node { op: Op::Branch(&branch), after: &[0] }];
        let graph = seat.device.graph(&nodes)?;
        for _ in 0..2 {
            let list: Vec<u8> = (0..16).map(|k| u8::from(k < turns)).collect();
            queue.write(&flags, &list)?;
            queue.write(&counts, &(0..16).collect::<Vec<u8>>())?;
            queue.replay(&[], &graph)?;
            let tick = queue.last;
            let (counts, told) = (queue.read(&counts)?, queue.failures());
            let done = u64::from(turns).min(limit);
            ensure!(u64::from(counts[0]) == done, "{limit}, {turns}: {} turns", counts[0]);
            // The node within saw another turn to come, of all but the last.
            let marked = if turns > 1 && done > 0 { 77 } else { 15 };
            ensure!(done == 0 || counts[15] == marked, "{limit}, {turns}: {}", counts[15]);
            let reached = |error: &HalError| {
                matches!(error.kind, HalErrorKind::Limit(4)) && error.node == Some(1)
            };
            match &told[..] {
                [] => ensure!(u64::from(turns) <= limit, "the limit {limit} was not told"),
                [(at, error)] => {
                    ensure!(*at == tick && reached(error) && u64::from(turns) > limit, "{told:?}");
                }
                _ => return Err(Stop::Failed(format!("{told:?}"))),
            }
        }
    }
    Ok(())
}
