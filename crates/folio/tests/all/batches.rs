//! How often a queue's blocks are one operation, to the last of them, on a simulated device; and
//! what several threads do with graphs at once. GRAPH-03, GRAPH-08
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use folio::cpu::CpuBackend;
use folio::error::GraphError;
use folio::hal::LaneKind;
use folio::prelude::*;
use folio::{Executable, Parameter, graph::Node};
use folio_sim::{DeviceSpec, SimBackend, SimHandle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

const N: usize = 8;

#[kernel]
fn adds(i: Item, by: i32, x: InOut<i32>) {
    x[i] += by;
}

#[kernel]
fn puts(i: Item, value: i32, x: Out<i32>) {
    x[i] = value;
}

fn sim() -> (SimHandle, Runtime, Queue) {
    let backend = SimBackend::builder().device(DeviceSpec::new()).build();
    let sim = backend.handle();
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let q = rt.queue_on("sim:0").unwrap();
    (sim, rt, q)
}

fn numbers(rt: &Runtime, count: usize) -> Vec<Shared<i32>> {
    (0..count).map(|_| rt.buffer_from(&[0; N]).unwrap().into_shared()).collect()
}

/// Batches, those found, those that were one operation, of these those exchanged, and graphs.
fn counts(q: &Queue) -> [u64; 5] {
    let report = q.batch_report();
    [report.batches, report.found, report.replayed, report.exchanged, report.graphs]
}

/// The block begins as blocks of two classes do: what it has described before its commands differ
/// from the first one's is found in a list of the second one's.
#[test]
fn a_buffer_that_a_block_drops_stays_when_its_trail_goes_elsewhere() {
    let (_, rt, q) = sim();
    let [x, y, z, dropped] = <[_; 4]>::try_from(numbers(&rt, 4)).unwrap();
    let fills = |q: &Queue| {
        q.run(N, adds(1, &x))?;
        q.run(N, adds(1, &y))?;
        q.fill(&z, 3)
    };
    let add = |q: &Queue, to: &Shared<i32>| {
        q.run(N, adds(1, &x))?;
        q.run(N, adds(1, to))
    };
    for _ in 0..3 {
        q.batch(fills).unwrap().1.wait().unwrap();
    }
    for _ in 0..3 {
        let copies = |q: &Queue| add(q, &dropped).and_then(|_| q.copy(&x, &z));
        q.batch(copies).unwrap().1.wait().unwrap();
    }
    q.batch(fills).unwrap().1.wait().unwrap();
    let last = q.batch(|q| {
        add(q, &dropped)?;
        drop(dropped);
        q.copy(&x, &z)
    });
    last.unwrap().1.wait().unwrap();
    assert_eq!(z.to_vec().unwrap(), [8; N]);
}

/// From the second block on.
#[test]
fn blocks_with_other_scalars_have_one_graph() {
    let (_, rt, q) = sim();
    let all = numbers(&rt, 2);
    for turn in 0..20 {
        let block = |q: &Queue| {
            q.run(N, adds(turn, &all[0]))?;
            q.copy(&all[0], &all[1])
        };
        q.batch(block).unwrap().1.wait().unwrap();
    }
    assert_eq!(counts(&q), [20, 19, 19, 18, 1]);
    assert_eq!(q.batch_report().why_not, None);
    assert_eq!(all[1].to_vec().unwrap(), [190; N]);
}

/// GRAPH-08
#[test]
fn buffers_that_take_turns_have_a_graph_each_if_they_are_few() {
    for (count, want) in [(2, [40, 39, 39, 1, 2]), (3, [40, 39, 39, 2, 3])] {
        let (_, rt, q) = sim();
        let all = numbers(&rt, count);
        for turn in 0..40 {
            let [a, b] = [&all[turn % count], &all[(turn + 1) % count]];
            let block = |q: &Queue| {
                q.run(N, adds(1, a))?;
                q.copy(a, b)
            };
            q.batch(block).unwrap().1.wait().unwrap();
        }
        assert_eq!(counts(&q), want, "{count} buffers: {:?}", q.batch_report());
    }
    let (_, rt, q) = sim();
    let all = numbers(&rt, 12);
    for turn in 0..40 {
        let [a, b] = [&all[turn % 12], &all[(turn + 1) % 12]];
        let block = |q: &Queue| {
            q.run(N, adds(1, a))?;
            q.copy(a, b)
        };
        q.batch(block).unwrap().1.wait().unwrap();
    }
    assert_eq!(counts(&q), [40, 39, 39, 38, 1]);
}

/// Runs 100 fused blocks of two kernels on a simulated device and on a CPU: by turn, over which of
/// the buffers, from which element, and with which scalar. Compares results, plans, blocks found,
/// those exchanged, and lists that were made; the code is compiled once, if at all.
fn fused(of: impl Fn(usize) -> (usize, usize, i32), want: [u64; 4]) {
    let cpu = Runtime::builder().backend(CpuBackend::builder().domains(1).build().unwrap());
    let cpu = cpu.build().unwrap();
    let (_sim, rt, q) = sim();
    for (rt, q) in [(&rt, q), (&cpu, cpu.queue_on("cpu").unwrap())] {
        let all: Vec<Shared<i32>> =
            (0..12).map(|_| rt.buffer_from(&[0; 2 * N]).unwrap().into_shared()).collect();
        let (before, mut values) = (q.device().fusion_counters(), vec![[0; 2 * N]; 12]);
        for turn in 0..100 {
            let (at, first, by) = of(turn);
            let part = || all[at].slice_mut([first], [N]);
            let block = |q: &Queue| {
                q.run(N, adds(by, part()?))?;
                q.run(N, adds(2, part()?))
            };
            q.batch_fused(block).unwrap().1.wait().unwrap();
            values[at][first..first + N].iter_mut().for_each(|x| *x += by + 2);
        }
        for (x, want) in all.iter().zip(values) {
            assert_eq!(x.to_vec().unwrap(), want);
        }
        let (report, now) = (q.batch_report(), q.device().fusion_counters());
        let counts = [now.plans - before.plans, report.found, report.exchanged, report.graphs];
        assert_eq!(counts, want, "{}: {report:?}", q.device().name());
        assert_eq!((report.replayed, report.kernels, report.launches), (99, 2, 1));
        assert!(now.compiled - before.compiled <= 1, "{now:?}");
    }
}

/// GRAPH-08, FUSE-01
#[test]
fn fused_blocks_that_come_again_are_planned_and_made_once() {
    fused(|_| (0, 0, 1), [1, 99, 0, 1]);
}

/// GRAPH-08
#[test]
fn fused_blocks_with_other_scalars_buffers_and_ranges_are_planned_and_made_once() {
    fused(|turn| (0, 0, turn as i32), [1, 99, 98, 1]);
    fused(|turn| (turn % 12, 0, 1), [1, 99, 98, 1]);
    fused(|turn| (0, turn % 8, 1), [1, 99, 98, 1]);
    fused(|turn| (turn % 12, turn % 8, turn as i32), [1, 99, 98, 1]);
}

/// GRAPH-08, FUSE-12: what such a buffer is differs each time.
#[test]
fn fused_blocks_that_make_buffers_are_planned_and_made_once() {
    let (_sim, rt, q) = sim();
    let [x, y] = &numbers(&rt, 2)[..] else { unreachable!() };
    let before = q.device().fusion_counters();
    for turn in 0..20 {
        let block = |q: &Queue| {
            let own = rt.buffer::<i32, 1>(N)?.into_shared();
            q.run(N, puts(turn, &own))?;
            q.run(N, adds(1, &own))?;
            q.copy(&own, x)?;
            q.copy(x, y)
        };
        q.batch_fused(block).unwrap().1.wait().unwrap();
        assert_eq!(y.to_vec().unwrap(), [turn + 1; N]);
    }
    assert_eq!(counts(&q), [20, 19, 19, 18, 1], "{:?}", q.batch_report());
    // The third block and all after it are found, and ask nothing about fusion.
    let now = q.device().fusion_counters();
    assert_eq!((now.plans - before.plans, now.kernels - before.kernels), (1, 2));
    assert_eq!((q.batch_report().temporaries, q.batch_report().memories), (1, 1));
}

/// Runs a block again and again on a simulated device and on a CPU, plain and fused. The block
/// makes two buffers, and leaves its results in the two that it is given. Compares these after each
/// turn.
fn made(block: impl Fn(&Queue, i32, [Shared<i32>; 2], &[Shared<i32>]) -> folio::Result<[i32; 2]>) {
    let cpu = Runtime::builder().backend(CpuBackend::builder().domains(1).build().unwrap());
    let cpu = cpu.build().unwrap();
    let (_sim, rt, q) = sim();
    for (rt, q) in [(&rt, q), (&cpu, cpu.queue_on("cpu").unwrap())] {
        let out = numbers(rt, 2);
        for (turn, fuses) in (0..16).map(|turn| (turn % 8, turn >= 8)) {
            let own = || Ok::<_, folio::Error>(rt.buffer::<i32, 1>(N)?.into_shared());
            let of = |q: &Queue| block(q, turn, [own()?, own()?], &out);
            let (want, _) = if fuses { q.batch_fused(of) } else { q.batch(of) }.unwrap();
            for (out, want) in out.iter().zip(want) {
                let on = q.device().name().to_owned();
                assert_eq!(out.to_vec().unwrap(), [want; N], "{turn}, fuses: {fuses}, {on}");
            }
        }
    }
}

/// GRAPH-08, FUSE-12: of equal blocks, one has the memory of another one's buffers only where what
/// it reads there is what it has written.
#[test]
fn buffers_that_blocks_make_are_in_the_place_of_others_only_if_they_are_used_so() {
    // The second one is read before it is written.
    made(|q, turn, [a, b], out| {
        q.run(N, puts(turn, &a))?;
        q.run(N, adds(1, &b))?;
        q.copy(&a, &out[0])?;
        q.copy(&b, &out[1])?;
        Ok([turn, 1])
    });
    // They change their roles from turn to turn.
    made(|q, turn, own, out| {
        q.run(N, puts(turn, &own[0]))?;
        q.run(N, puts(-turn, &own[1]))?;
        let first = turn as usize % 2;
        q.copy(&own[first], &out[0])?;
        q.copy(&own[1 - first], &out[1])?;
        Ok(if first == 0 { [turn, -turn] } else { [-turn, turn] })
    });
    // Others are written in one block, and read in the part of it behind a task of the host.
    made(|q, turn, [a, b], out| {
        if turn % 2 == 0 {
            q.run(N, puts(turn, &a))?;
            q.run(N, puts(turn, &b))?;
            q.submit(|cg| {
                cg.host_task((), |()| ());
                Ok(())
            })?;
            q.barrier()?;
        }
        q.copy(&a, &out[0])?;
        q.copy(&b, &out[1])?;
        Ok(if turn % 2 == 0 { [turn; 2] } else { [0; 2] })
    });
}

/// GRAPH-08, FUSE-12: of equal blocks, the last gives a buffer that it has made to the program.
#[test]
fn a_buffer_that_a_block_makes_and_keeps_has_memory_of_its_own() {
    let (_sim, rt, q) = sim();
    let x = &numbers(&rt, 1)[0];
    let block = |q: &Queue, value| {
        let own = rt.buffer::<i32, 1>(N)?.into_shared();
        q.run(N, puts(value, &own))?;
        q.run(N, adds(1, &own))?;
        q.copy(&own, x)?;
        Ok(own)
    };
    for turn in 0..4 {
        q.batch_fused(|q| block(q, turn).map(drop)).unwrap();
    }
    let (kept, _) = q.batch_fused(|q| block(q, 4)).unwrap();
    q.batch_fused(|q| block(q, 5).map(drop)).unwrap();
    assert_eq!((kept.to_vec().unwrap(), x.to_vec().unwrap()), (vec![5; N], vec![6; N]));
}

/// GRAPH-08, FUSE-12: an equal block names other buffers where the ones before it have made theirs.
#[test]
fn buffers_in_the_place_of_those_that_blocks_make_are_used_as_they_are_named() {
    let (_sim, rt, q) = sim();
    let [x, kept] = <[_; 2]>::try_from(numbers(&rt, 2)).unwrap();
    let own = || rt.buffer::<i32, 1>(N).map(Buffer::into_shared);
    let block = |q: &Queue, value, [a, b]: [&Shared<i32>; 2]| {
        q.run(N, puts(value, a))?;
        q.run(N, adds(1, b))?;
        q.copy(b, &x).map(drop)
    };
    for fuses in [false, true] {
        let run = |of: &dyn Fn(&Queue) -> folio::Result<()>| {
            if fuses { q.batch_fused(of) } else { q.batch(of) }.unwrap();
            x.to_vec().unwrap()
        };
        let equal = |turn| {
            run(&|q| {
                let own = own()?;
                block(q, turn, [&own, &own])
            })
        };
        (0..4).for_each(|turn| assert_eq!(equal(turn), [turn + 1; N]));
        assert_eq!(run(&|q| block(q, 7, [&kept, &kept])), [8; N], "the program's own");
        assert_eq!(kept.to_vec().unwrap(), [8; N]);
        let two = run(&|q| block(q, 9, [&own()?, &own()?]));
        assert_eq!(two, [1; N], "two in the place of one");
        run(&|q| {
            let own = own()?;
            q.run(N, puts(3, &own))?;
            let refused = matches!(
                own.to_vec().unwrap_err(),
                Error::Graph { why, .. } if matches!(*why, GraphError::NotRunYet { .. })
            );
            assert!(refused, "the host reads what has not run");
            Ok(())
        });
        assert_eq!(equal(5), [6; N]);
    }
}

/// GRAPH-08: a block of ordinary commands finds memory for the buffers that it makes.
#[test]
fn blocks_that_make_buffers_are_one_operation() {
    let (_sim, rt, q) = sim();
    let x = &numbers(&rt, 1)[0];
    for turn in 0..20 {
        let block = |q: &Queue| {
            let own = rt.buffer::<i32, 1>(N)?.into_shared();
            q.run(N, puts(turn, &own))?;
            q.copy(&own, x)
        };
        q.batch(block).unwrap().1.wait().unwrap();
        assert_eq!(x.to_vec().unwrap(), [turn; N]);
    }
    assert_eq!(counts(&q), [20, 19, 19, 18, 1], "{:?}", q.batch_report());
    assert_eq!((q.batch_report().temporaries, q.batch_report().memories), (1, 1));
}

/// GRAPH-08: what is between host tasks is a list each, also where both are alike; the tasks run
/// once each.
#[test]
fn blocks_are_cut_at_host_tasks() {
    let (_sim, rt, q) = sim();
    let x = &numbers(&rt, 1)[0];
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut want = 0;
    for turn in 0..20 {
        let block = |q: &Queue| {
            q.run(N, adds(turn, x))?;
            q.run(N, adds(1, x))?;
            q.submit(|cg| {
                let (x, told) = (cg.read(x), told.clone());
                cg.host_task(x, move |x| told.lock().unwrap().push(x[0]));
                Ok(())
            })?;
            q.run(N, adds(2, x))?;
            q.run(N, adds(turn, x))
        };
        q.batch(block).unwrap().1.wait().unwrap();
        want += 2 * turn + 3;
        assert_eq!(told.lock().unwrap().pop(), Some(want - turn - 2));
    }
    assert_eq!((x.to_vec().unwrap(), told.lock().unwrap().len()), (vec![want; N], 0));
    let (report, replays) = (q.batch_report(), q.counters().replays);
    // From the second block on; the first one makes the second piece, which is as the first one.
    assert_eq!((report.found, report.graphs, report.replayed), (19, 2, 0), "{report:?}");
    assert_eq!(replays, 39);
    assert_eq!(report.why_not.unwrap().to_string(), "it is a host task");
}

/// GRAPH-08: also while the device has not run the block before.
#[test]
fn an_exchange_leaves_blocks_that_have_not_run_as_they_are() {
    let (sim, rt, q) = sim();
    let (x, outs) = (numbers(&rt, 1), numbers(&rt, 6));
    let block = |value: i32, out: &Shared<i32>| {
        let block = |q: &Queue| {
            q.run(N, puts(value, &x[0]))?;
            q.copy(&x[0], out)
        };
        q.batch(block).unwrap().1
    };
    (0..10).for_each(|value| block(value, &outs[0]).wait().unwrap());
    for out in &outs {
        q.fill(out, -1).unwrap().wait().unwrap();
    }
    let before = counts(&q);
    sim.hold(0, LaneKind::Compute);
    for (value, out) in outs.iter().enumerate() {
        block(100 + value as i32, out);
    }
    sim.step(1000);
    sim.release(0, LaneKind::Compute);
    rt.wait().unwrap();
    let got: Vec<i32> = outs.iter().map(|out| out.get([3]).unwrap()).collect();
    assert_eq!(got, [100, 101, 102, 103, 104, 105]);
    let now = counts(&q);
    assert!(now[3] >= before[3] + 6, "{:?}", q.batch_report());
    assert!(sim.violations().is_empty(), "{:?}", sim.violations());
}

/// DEP-02: a box that is refused has no other one run.
#[test]
fn boxes_are_refused_together() {
    let (_, rt, q) = sim();
    let x = rt.buffer_with(&[0i32; N], BufferOptions::new().page([1])).unwrap().into_shared();
    q.fill(&x, 1).unwrap().wait().unwrap();
    let launches = q.counters().launches;
    let mut part = x.slice_mut([6], [2]).unwrap();
    let guard = part.write().unwrap();
    let boxes = || [Items::from(0..3), Items::from(5..8)];
    let refused = q.run_each(boxes(), adds(1, &x));
    assert!(matches!(refused, Err(Error::HostAccessHeld { .. })), "{refused:?}");
    assert_eq!(q.counters().launches, launches);
    drop(guard);
    q.run_each(boxes(), adds(1, &x)).unwrap().wait().unwrap();
    assert_eq!(q.counters().launches, launches + 2);
    assert_eq!(x.to_vec().unwrap(), [2, 2, 2, 1, 1, 2, 2, 2]);
}

/// GRAPH-03: a run that is refused is none.
#[test]
fn runs_that_are_refused_do_not_count() {
    let (_, rt, q) = sim();
    let x = &numbers(&rt, 1)[0];
    let graph = rt.graph("sim:0").unwrap();
    graph.add(|cg| cg.run(N, adds(1, x))).unwrap();
    let run = graph.finalize().unwrap();
    q.run_graph(&run).unwrap().wait().unwrap();
    let guard = x.read().unwrap();
    assert!(matches!(q.run_graph(&run), Err(Error::HostAccessHeld { .. })));
    drop(guard);
    assert_eq!(run.runs(), 1);
    q.run_graph(&run).unwrap().wait().unwrap();
    assert_eq!((run.runs(), x.get([0]).unwrap()), (2, 2));
}

/// The value that a thread leaves which describes a node again while `meanwhile` runs.
fn left_by(
    meanwhile: impl FnOnce(&Queue, &Executable, Node, &Parameter<i32>, &Shared<i32>),
) -> i32 {
    let (_, rt, q) = sim();
    let x = numbers(&rt, 1).remove(0);
    let (value, waits) = (Parameter::new(0), Arc::new(AtomicBool::new(false)));
    let (begun, begin) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let graph = rt.graph("sim:0").unwrap();
    let (read, to, is_waiting, ended) =
        (value.clone(), x.clone(), waits.clone(), Mutex::new(ended));
    let describe = move |cg: &mut CommandGroup| {
        let value = cg.parameter(&read);
        cg.run(N, puts(value, &to));
        if is_waiting.swap(false, Ordering::SeqCst) {
            begun.send(()).unwrap();
            ended.lock().unwrap().recv().unwrap();
        }
        Ok(())
    };
    let node = graph.add_updatable(&[], describe).unwrap();
    let run = graph.finalize().unwrap();
    value.set(1);
    waits.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| q.run_graph(&run).unwrap().wait().unwrap());
        begin.recv().unwrap();
        meanwhile(&q, &run, node, &value, &x);
        end.send(()).unwrap();
        other.join().unwrap();
    });
    x.get([0]).unwrap()
}

/// GRAPH-03: what a thread described before an exchange does not undo that.
#[test]
fn a_later_exchange_of_another_thread_stays() {
    let updated = left_by(|_, run, node, _, x| {
        run.update(node, |cg| cg.run(N, puts(7, x))).unwrap();
    });
    let set = left_by(|q, run, _, value, _| {
        value.set(2);
        q.run_graph(run).unwrap().wait().unwrap();
    });
    assert_eq!((updated, set), (7, 2));
}
