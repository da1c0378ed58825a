//! Handles that go while there is work in flight, in any order and from any thread.

use super::rig::*;
use super::tests;
use folio_core::canary::Canary;
use folio_core::{Error, Queue, Runtime, UsmKind, buffer::ViewPolicy};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

tests![
    buffers_dropped_in_flight,
    everything_dropped_in_flight,
    the_last_handle_goes_in_a_host_task,
    the_last_handle_goes_in_a_kernel,
    leaked_handles_harm_nobody,
    owners_are_dropped_in_any_order,
    owners_are_forgotten_at_any_stage,
    shutdown_refuses_and_waits,
    shutdown_reports_what_hangs,
    shutdown_from_within,
    an_idle_runtime_ends,
    a_runtime_that_has_worked_ends,
    events_outlive_everything,
    waiting_for_the_runtime,
    launches_are_counted_when_their_queue_is_gone,
];

/// Tells when the engine of a runtime is gone.
pub(super) struct Life(Arc<()>);

impl Life {
    fn over(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    pub(super) fn ends(&self) -> Outcome {
        eventually("the engine ends", || self.over())
    }
}

pub(super) fn mortal(rig: &Rig) -> Result<(Runtime, Life), Stop> {
    let life = Arc::new(());
    let (own, canary) = (life.clone(), Canary::new("the handler"));
    // The engine owns the handler.
    let handler = move |_: &_| {
        canary.runs();
        drop(own.clone());
    };
    let rt = rig.builder().on_failure(handler).build()?;
    Ok((rt, Life(life)))
}

/// A host task that waits at a gate.
fn gated(q: &Queue, gate: &Gate, x: &mut folio_core::Buffer<i32>) -> Outcome {
    let door = gate.door();
    q.submit(|cg| {
        let x = cg.read_write(x);
        cg.host_task(x, move |mut x| {
            door.pass();
            x.iter_mut().for_each(|v| *v += 1);
        });
        Ok(())
    })?;
    Ok(())
}

/// BUF-01, POL-04, ERR-04
fn buffers_dropped_in_flight(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let gate = Gate::new();
        let mut y = rig.rt.buffer::<i32, 1>(100)?;
        {
            let mut x = rig.rt.buffer_from(&[1; 100])?;
            add(&q, &mut x, 1)?;
            gated(&q, &gate, &mut x)?;
            add(&q, &mut x, 1)?;
            read_into(&q, &x, &mut y)?;
        }
        let device = q.device();
        gate.open();
        ensure_eq!(y.to_vec()?, [4; 100]);
        q.wait()?;
        drop(y);
        eventually("the memory is free", || device.budget().1 == 0)?;
    }
    Ok(())
}

/// POL-04, ERR-04: what was submitted runs to its end.
fn everything_dropped_in_flight(rig: &Rig) -> Outcome {
    let (rt, life) = mortal(rig)?;
    let (tell, told) = std::sync::mpsc::channel();
    let gate = Gate::new();
    {
        let last = rt.devices().len() - 1;
        let q = on(&rt, last)?;
        let mut x = rt.buffer_from(&[1; 100])?;
        add(&q, &mut x, 1)?;
        gated(&q, &gate, &mut x)?;
        add(&q, &mut x, 1)?;
        q.submit(|cg| {
            let x = cg.read(&x);
            cg.host_task(x, move |x| drop(tell.send(x.to_vec())));
            Ok(())
        })?;
    }
    drop(rt);
    ensure!(!life.over(), "the engine is gone and work is left");
    gate.open();
    ensure_eq!(told.recv_timeout(PATIENCE / 4).ok(), Some(vec![4; 100]));
    life.ends()
}

/// ERR-04
fn the_last_handle_goes_in_a_host_task(rig: &Rig) -> Outcome {
    let (rt, life) = mortal(rig)?;
    let gate = Gate::new();
    let (own, door) = (rt.clone(), gate.door());
    let q = on(&rt, 0)?;
    q.submit(|cg| {
        cg.host_task((), move |()| {
            door.pass();
            drop(own);
        });
        Ok(())
    })?;
    drop((q, rt));
    gate.open();
    life.ends()
}

/// ERR-04: kernels own handles, which go when the kernel does.
fn the_last_handle_goes_in_a_kernel(rig: &Rig) -> Outcome {
    rig.closures()?;
    for at in 0..rig.rt.devices().len() {
        let (rt, life) = mortal(rig)?;
        let q = on(&rt, at)?;
        let x = rt.buffer_from(&[1; 10])?.into_shared();
        let (own, kept) = (rt.clone(), x.clone());
        q.submit(|cg| {
            let x = cg.read_write(&x);
            cg.host_kernel([10], x, move |i, mut x| {
                x[i] += i32::from(own.devices().len() > 100) + kept.range()[0] as i32;
            });
            Ok(())
        })?;
        ensure_eq!(x.to_vec()?, [11; 10]);
        drop((x, q, rt));
        life.ends()?;
    }
    Ok(())
}

/// POL-05
fn leaked_handles_harm_nobody(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let rt = rig.builder().build()?;
        let q = on(&rt, at)?;
        let mut x = rt.buffer_from(&[1; 100])?;
        std::mem::forget(add(&q, &mut x, 1)?);
        std::mem::forget(x.slice_mut([0], [50])?);
        std::mem::forget(x.read_async()?);
        let mut y = rt.buffer::<i32, 1>(100)?;
        read_into(&q, &x, &mut y)?;
        std::mem::forget(x);
        ensure_eq!(y.to_vec()?, [2; 100]);
        std::mem::forget(q);
        std::mem::forget(rt);
    }
    Ok(())
}

/// The handles that a program may own: dropped where they are taken away.
type Owned = Vec<Option<Box<dyn Any>>>;

/// The number of owners.
const OWNERS: usize = 10;

/// A runtime and all that can be had of it, with a command under way that waits at the gate.
fn owned(rig: &Rig, gate: &Gate) -> Result<(Owned, Life), Stop> {
    let (rt, life) = mortal(rig)?;
    let q = on(&rt, rt.devices().len() - 1)?;
    let mut x = rt.buffer_from(&[1; 100])?;
    gated(&q, gate, &mut x)?;
    let (event, shared) = (add(&q, &mut x, 1)?, x.into_shared());
    let graph = rt.graph(q.device().name())?;
    let (call, node) = (adds(1, &shared), shared.clone());
    graph.add(|cg| {
        cg.run(100, call);
        Ok(())
    })?;
    let run = graph.finalize()?;
    let ran = q.run_graph(&run)?;
    let usm = rt.usm::<i32>(&q.device(), UsmKind::Device, 100).ok();
    let view = rt.view(100, vec![1; 100], ViewPolicy::Async).map_err(Error::from)?;
    let all: [Box<dyn Any>; OWNERS] = [
        Box::new(rt),
        Box::new(q),
        Box::new(shared),
        Box::new(node),
        Box::new(event),
        Box::new(ran),
        Box::new(graph),
        Box::new(run),
        Box::new(usm),
        Box::new(view),
    ];
    Ok((all.map(Some).into(), life))
}

/// POL-04, ERR-04: each of them first, the runtime too. Then the others go: forwards while work is
/// under way, and backwards while it ends.
fn owners_are_dropped_in_any_order(rig: &Rig) -> Outcome {
    for (first, ends) in (0..OWNERS).flat_map(|first| [(first, false), (first, true)]) {
        let gate = Gate::new();
        let (mut all, life) = owned(rig, &gate)?;
        all[first] = None;
        if ends {
            gate.open();
            all.reverse();
        }
        all.into_iter().for_each(drop);
        gate.open();
        life.ends()?;
    }
    Ok(())
}

/// POL-05, ERR-04: each of them, before and after its work is done. The rest goes on.
fn owners_are_forgotten_at_any_stage(rig: &Rig) -> Outcome {
    for (at, waits) in (0..OWNERS).flat_map(|at| [(at, false), (at, true)]) {
        let gate = Gate::new();
        let (mut all, life) = owned(rig, &gate)?;
        if waits {
            gate.open();
        }
        std::mem::forget(all[at].take());
        drop(all);
        gate.open();
        drop(life);
    }
    let (q, mut x) = (rig.queue()?, rig.rt.buffer_from(&[1; 100])?);
    add(&q, &mut x, 1)?;
    ensure_eq!(x.to_vec()?, [2; 100]);
    Ok(())
}

/// ERR-04
fn shutdown_refuses_and_waits(rig: &Rig) -> Outcome {
    let rt = rig.builder().build()?;
    let q = on(&rt, 0)?;
    let mut x = rt.buffer_from(&[1; 100])?;
    let event = add(&q, &mut x, 1)?;
    rt.shutdown(PATIENCE)?;
    ensure!(event.is_done(), "shutdown did not wait");
    refused!(add(&q, &mut x, 1), Error::ShutDown);
    refused!(q.submit(|_| Ok(())), Error::ShutDown);
    refused!(q.barrier(), Error::ShutDown);
    refused!(x.read(), Error::ShutDown);
    refused!(x.write(), Error::ShutDown);
    event.wait()?;
    q.wait()?;
    rt.wait()?;
    rt.shutdown(Duration::ZERO)?;
    Ok(())
}

/// ERR-04
fn shutdown_reports_what_hangs(rig: &Rig) -> Outcome {
    let rt = rig.builder().build()?;
    let q = on(&rt, 0)?;
    let gate = Gate::new();
    let mut x = rt.buffer_from(&[1; 100])?;
    gated(&q, &gate, &mut x)?;
    let last = add(&q, &mut x, 1)?;
    match rt.shutdown(Duration::from_millis(2)) {
        Err(Error::Deadline { unfinished, .. }) => ensure!(unfinished >= 2, "{unfinished}"),
        other => return Err(Stop::Failed(format!("{other:?}"))),
    }
    refused!(add(&q, &mut x, 1), Error::ShutDown);
    gate.open();
    rt.shutdown(PATIENCE)?;
    ensure!(last.is_done(), "shutdown did not wait");
    Ok(())
}

/// ERR-04, DEP-04: a host task shuts its runtime down; it cannot wait for itself.
fn shutdown_from_within(rig: &Rig) -> Outcome {
    let rt = rig.builder().build()?;
    let q = on(&rt, 0)?;
    let own = rt.clone();
    let (tell, told) = std::sync::mpsc::channel();
    q.submit(|cg| {
        cg.host_task((), move |()| drop(tell.send(own.shutdown(PATIENCE))));
        Ok(())
    })?
    .wait()?;
    match told.recv_timeout(PATIENCE / 4) {
        Ok(Err(Error::WaitsForItself { .. } | Error::Deadline { .. })) => {}
        other => return Err(Stop::Failed(format!("{other:?}"))),
    }
    refused!(q.submit(|_| Ok(())), Error::ShutDown);
    rt.shutdown(PATIENCE)?;
    Ok(())
}

/// ERR-04
fn an_idle_runtime_ends(rig: &Rig) -> Outcome {
    let (rt, life) = mortal(rig)?;
    let q = on(&rt, 0)?;
    drop((q, rt));
    life.ends()
}

/// ERR-04: the threads that look after work leave, whatever ends last.
fn a_runtime_that_has_worked_ends(rig: &Rig) -> Outcome {
    for task_last in [false, true] {
        let (rt, life) = mortal(rig)?;
        let gate = Gate::new();
        {
            for at in 0..rt.devices().len() {
                let q = on(&rt, at)?;
                let mut x = rt.buffer_from(&[1; 100])?;
                add(&q, &mut x, 1)?.wait()?;
            }
            let mut x = rt.buffer_from(&[1; 100])?;
            gated(&on(&rt, 0)?, &gate, &mut x)?;
            if !task_last {
                gate.open();
                x.to_vec()?;
            }
        }
        drop(rt);
        // Long enough for the threads to have gone to sleep.
        std::thread::sleep(Duration::from_millis(50));
        gate.open();
        life.ends()?;
    }
    Ok(())
}

/// ERR-03, ERR-04
fn events_outlive_everything(rig: &Rig) -> Outcome {
    let rt = rig.builder().build()?;
    let q = on(&rt, 0)?;
    let gate = Gate::new();
    let mut x = rt.buffer_from(&[1; 100])?;
    gated(&q, &gate, &mut x)?;
    let event = add(&q, &mut x, 1)?;
    let failed = q.submit(|cg| {
        cg.host_task((), |()| Err("x"));
        Ok(())
    })?;
    drop((x, q, rt));
    gate.open();
    event.wait()?;
    failure(failed.wait())?;
    Ok(())
}

/// DEP-04, ERR-03
fn waiting_for_the_runtime(rig: &Rig) -> Outcome {
    let gate = Gate::new();
    let mut x = rig.rt.buffer_from(&[1; 100])?;
    let mut events = Vec::new();
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        gated(&q, &gate, &mut x)?;
        events.push(add(&q, &mut x, 1)?);
    }
    gate.open();
    rig.rt.wait()?;
    ensure!(events.iter().all(|e| e.is_done()), "work is left");
    Ok(())
}

/// OBS-01: a queue counts its launches, and the runtime those of all queues, also of those that
/// went while their commands were under way.
fn launches_are_counted_when_their_queue_is_gone(rig: &Rig) -> Outcome {
    let before = rig.rt.counters().launches;
    let mut x = rig.rt.buffer::<u64, 1>(4)?;
    for (round, wait) in [(0, true), (1, false)] {
        let q = rig.queue()?;
        for _ in 0..3 {
            q.run(4, adds(1, &mut x))?;
        }
        ensure_eq!(q.counters().launches, 3);
        if wait {
            q.wait()?;
        }
        drop(q);
        ensure_eq!(rig.rt.counters().launches - before, 3 * (round + 1));
    }
    ensure_eq!(x.to_vec()?, [6; 4]);
    rig.rt.wait()?;
    // Others make room for what is forgotten.
    drop(rig.queue()?);
    ensure_eq!(rig.rt.counters().launches - before, 6);
    Ok(())
}
