//! The order of commands.

use super::rig::*;
use super::tests;
use folio_core::Event;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

tests![
    conflicts_run_in_submission_order,
    an_in_order_queue_is_in_order,
    barriers_come_between,
    commands_start_after_events,
    a_host_task_between_two_kernels_blocks_nobody_else,
    a_failed_task_fails_its_dependents_only,
    a_failure_is_known_on_other_lanes,
    poison_is_overwritten,
    progress_needs_nobody_to_wait,
    chains_over_devices_and_the_host,
    an_outdated_copy_is_read_before_it_is_overwritten,
];

/// DEP-01, DEP-02
fn conflicts_run_in_submission_order(rig: &Rig) -> Outcome {
    let count = rig.rt.devices().len();
    let queues = (0..count).map(|at| rig.on(at)).collect::<Result<Vec<_>, _>>()?;
    let mut x = rig.rt.buffer_from(&[1i64; 64])?;
    let mut want = 1i64;
    for n in 0..300 {
        let q = &queues[n * 7 % count];
        let (factor, term) = (n as i64 % 5 + 1, n as i64);
        q.run(64, turns(factor, term, &mut x))?;
        want = (want * factor + term) % 1_000_003;
    }
    ensure_eq!(x.to_vec()?, [want; 64]);
    Ok(())
}

/// DEP-04
fn an_in_order_queue_is_in_order(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let q = rig.rt.in_order_queue_on(&device)?;
        ensure!(q.is_in_order() && !rig.queue()?.is_in_order(), "in order?");
        let gate = Gate::new();
        let turn = Arc::new(AtomicUsize::new(0));
        let mut events: Vec<Event> = Vec::new();
        // No data in common: only the queue orders them.
        for n in 0..40 {
            if n % 3 > 0 {
                events.push(add(&q, &mut rig.rt.buffer::<i32, 1>(8)?, 1)?);
                continue;
            }
            let (turn, before, door) = (turn.clone(), events.clone(), gate.door());
            events.push(q.submit(|cg| {
                cg.host_task((), move |()| {
                    door.pass();
                    assert!(before.iter().all(Event::is_done), "task {n} does not wait");
                    assert_eq!(turn.fetch_add(3, Ordering::SeqCst), n, "out of turn");
                });
                Ok(())
            })?);
        }
        ensure!(events.iter().all(is_pending), "what follows a task does not wait");
        gate.open();
        for event in events {
            event.wait()?;
        }
        q.wait()?;
        ensure_eq!(turn.load(Ordering::SeqCst), 42);
    }
    Ok(())
}

/// DEP-04
fn barriers_come_between(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let other = rig.queue()?;
    let gate = Gate::new();
    let done = Arc::new(AtomicUsize::new(0));
    let task = |door: Option<Door>| {
        let done = done.clone();
        q.submit(|cg| {
            cg.host_task((), move |()| {
                door.iter().for_each(Door::pass);
                done.fetch_add(1, Ordering::SeqCst);
            });
            Ok(())
        })
    };
    task(Some(gate.door()))?;
    let free = task(None)?;
    let barrier = q.barrier()?;
    let (mut x, mut y) = (rig.rt.buffer::<i32, 1>(1)?, rig.rt.buffer::<i32, 1>(1)?);
    let after = add(&q, &mut x, 1)?;
    let seen = done.clone();
    let task = q.submit(|cg| {
        cg.host_task((), move |()| assert_eq!(seen.load(Ordering::SeqCst), 2));
        Ok(())
    })?;
    free.wait()?;
    // Another queue is not concerned.
    add(&other, &mut y, 1)?.wait()?;
    for event in [&barrier, &after, &task] {
        ensure!(is_pending(event), "the barrier did not wait");
    }
    gate.open();
    after.wait()?;
    task.wait()?;
    ensure!(barrier.is_done(), "what came after the barrier ran before it");
    q.wait()?;
    Ok(())
}

/// DEP-04
fn commands_start_after_events(rig: &Rig) -> Outcome {
    let last = rig.rt.devices().len() - 1;
    let (a, b) = (rig.on(0)?, rig.on(last)?);
    for n in 0..30 {
        let gate = Gate::new();
        let mut buffers = [0, 1, 2].map(|_| rig.rt.buffer::<i32, 1>(8));
        let mut steps: Vec<Event> = Vec::new();
        for (at, (q, buffer)) in [&a, &b, &a].into_iter().zip(&mut buffers).enumerate() {
            let (before, door) = (steps.last().cloned(), gate.door());
            let call = adds(1, buffer.as_mut().map_err(|error| error.clone())?);
            steps.push(q.submit(|cg| {
                if let Some(event) = &before {
                    cg.after(event);
                }
                // The first is a task, which what follows must wait for.
                if at == 0 || n % (at + 2) == 0 {
                    cg.host_task((), move |()| {
                        door.pass();
                        assert!(before.is_none_or(|event| event.is_done()), "step {at} of {n}");
                    });
                } else {
                    cg.run(8, call);
                }
                Ok(())
            })?);
        }
        ensure!(steps.iter().all(is_pending), "steps of {n} do not wait");
        gate.open();
        steps[2].wait()?;
        ensure!(steps.iter().all(Event::is_done), "the last step of {n} came first");
    }
    Ok(())
}

/// DEP-03, DEP-04
fn a_host_task_between_two_kernels_blocks_nobody_else(rig: &Rig) -> Outcome {
    let last = rig.rt.devices().len() - 1;
    let q = rig.on(last)?;
    let mut x = rig.rt.buffer_from(&[1; 10])?;
    let mut unrelated = rig.rt.buffer_from(&[1; 10])?;
    let gate = Gate::new();
    let door = gate.door();
    add(&q, &mut x, 1)?;
    q.submit(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_task(x, move |mut x| {
            door.pass();
            x.iter_mut().for_each(|v| *v *= 10);
        });
        Ok(())
    })?;
    let second = add(&q, &mut x, 5)?;
    let mut done = Vec::new();
    for _ in 0..20 {
        done.push(add(&q, &mut unrelated, 1)?);
    }
    for event in done {
        event.wait()?;
    }
    ensure_eq!(unrelated.to_vec()?, [21; 10]);
    ensure!(is_pending(&second), "a kernel ran before the task that it depends on");
    gate.open();
    ensure_eq!(x.to_vec()?, [25; 10]);
    Ok(())
}

/// ERR-02, ERR-03
fn a_failed_task_fails_its_dependents_only(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let (q, other) = (rig.on(at)?, rig.on(at)?);
        let mut good = rig.rt.buffer_from(&[1; 4])?;
        let mut bad = rig.rt.buffer_from(&[1; 4])?;
        let mut derived = rig.rt.buffer::<i32, 1>(4)?;
        add(&q, &mut good, 1)?;
        let call = fails(2, &mut bad);
        let failed = q.submit(|cg| {
            cg.label("the bad one").run(4, call);
            Ok(())
        })?;
        let dependent = read_into(&other, &bad, &mut derived)?;
        let fine = add(&q, &mut good, 1)?;
        let root = failure(failed.wait())?;
        ensure_eq!((root.what(), root.label()), ("kernel", "the bad one"));
        ensure_eq!(root.device(), q.device().name());
        ensure_eq!(panic_message(&root).as_deref(), Some("on purpose"));
        for result in [
            dependent.wait(),
            bad.read().map(|_| ()),
            derived.to_vec().map(|_| ()),
            bad.written()?.wait(),
        ] {
            ensure_eq!(failure(result)?.id(), root.id());
        }
        fine.wait()?;
        ensure_eq!(good.to_vec()?, [3; 4]);
        ensure_eq!(failure(q.wait())?.id(), root.id());
        ensure_eq!(failure(other.wait())?.id(), root.id());
        q.wait()?;
        other.wait()?;
    }
    Ok(())
}

/// ERR-02: readers on lanes of their own of what should have been written, and of what they write.
/// Only the last is waited for.
fn a_failure_is_known_on_other_lanes(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        for turn in 0..10 {
            let (mut x, mut a) = (rig.rt.buffer::<i32, 1>(8)?, rig.rt.buffer::<i32, 1>(8)?);
            let (mut b, mut c) = (rig.rt.buffer::<i32, 1>(8)?, rig.rt.buffer::<i32, 1>(8)?);
            let first = q.run(8, fails(turn % 8, &mut x))?;
            let beside = read_into(&q, &x, &mut a)?;
            read_into(&q, &x, &mut b)?;
            let last = read_into(&q, &b, &mut c)?;
            let root = failure(last.wait())?;
            ensure_eq!(root.id(), failure(first.wait())?.id());
            ensure_eq!(root.id(), failure(beside.wait())?.id());
        }
    }
    Ok(())
}

/// ERR-02
fn poison_is_overwritten(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut x = rig.rt.buffer_from(&[1; 4])?;
        let result: Result<(), &str> = Err("no");
        q.submit(|cg| {
            let x = cg.write(&mut x);
            cg.host_task(x, move |_| result);
            Ok(())
        })?;
        let root = failure(x.read().map(|_| ()))?;
        ensure_eq!((root.what(), root.device()), ("host task", "host"));
        // An update of poisoned data is poisoned itself.
        let update = add(&q, &mut x, 1)?;
        ensure_eq!(failure(update.wait())?.id(), root.id());
        set(&q, &mut x, 0, 4, 6)?;
        ensure_eq!(x.to_vec()?, [6; 4]);
        q.submit(|cg| {
            cg.host_task((), |()| -> Result<(), std::io::Error> { Ok(()) });
            Ok(())
        })?
        .wait()?;
        ensure_eq!(failure(q.wait())?.id(), root.id());
        q.wait()?;
    }
    Ok(())
}

/// DEP-03: nobody waits for the runtime; a channel tells.
fn progress_needs_nobody_to_wait(rig: &Rig) -> Outcome {
    let count = rig.rt.devices().len();
    let mut x = rig.rt.buffer_from(&[0; 8])?;
    for n in 0..2 * count {
        add(&rig.on(n % count)?, &mut x, 1)?;
    }
    let (tell, told) = std::sync::mpsc::channel();
    rig.queue()?.submit(|cg| {
        let x = cg.read(&x);
        cg.host_task(x, move |x| tell.send(x[0]));
        Ok(())
    })?;
    match told.recv_timeout(PATIENCE / 4) {
        Ok(value) => ensure_eq!(value, 2 * count as i32),
        Err(_) => ensure!(false, "nothing happens unless somebody waits"),
    }
    Ok(())
}

/// DEP-02, DEP-03, DEP-04
fn chains_over_devices_and_the_host(rig: &Rig) -> Outcome {
    let count = rig.rt.devices().len();
    let queues = (0..count).map(|at| rig.on(at)).collect::<Result<Vec<_>, _>>()?;
    let mut x = rig.rt.buffer_from(&[0i64; 16])?;
    let mut want = 0i64;
    for n in 0..200i64 {
        let q = &queues[n as usize % count];
        if n % 4 == 3 {
            q.submit(|cg| {
                let x = cg.read_write(&mut x);
                cg.host_task(x, move |mut x| x.iter_mut().for_each(|v| *v = *v * 3 % 1009 + n));
                Ok(())
            })?;
            want = want * 3 % 1009 + n;
        } else {
            q.run(16, turns(5, n, &mut x))?;
            want = (want * 5 + n) % 1_000_003;
        }
        if n % 50 == 49 {
            x.write()?.iter_mut().for_each(|v| *v += 1);
            want += 1;
        }
    }
    ensure_eq!(x.to_vec()?, [want; 16]);
    Ok(())
}

/// DEP-02: a copy out of memory ends before what writes that memory next begins.
fn an_outdated_copy_is_read_before_it_is_overwritten(rig: &Rig) -> Outcome {
    let queues = rig.separate(2)?;
    let mut x = rig.rt.buffer_from(&[0; 2000])?;
    let mut y = rig.rt.buffer::<i32, 1>(2000)?;
    let mut sum = rig.rt.buffer_from(&[0i32; 2000])?;
    let mut want = 0i32;
    for n in 1..60 {
        q_fill(&queues[0], &mut x, n)?;
        read_into(&queues[1], &x, &mut y)?;
        queues[1].run(2000, adds_up(&y, &mut sum))?;
        want = want.wrapping_mul(3).wrapping_add(n);
    }
    ensure_eq!(sum.to_vec()?, vec![want; 2000]);
    Ok(())
}

fn q_fill(q: &folio_core::Queue, x: &mut folio_core::Buffer<i32>, n: i32) -> Outcome {
    q.submit(|cg| {
        cg.fill(x, n);
        Ok(())
    })?;
    Ok(())
}
