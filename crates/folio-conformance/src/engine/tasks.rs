//! Host tasks and kernels as code of the user: errors, panics, use of the runtime inside.

use super::rig::*;
use super::tests;
use folio_core::{Buffer, Cause, Error, Event, Failure, HostRead, Queue, Read, Shared};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

tests![
    tasks_return_errors,
    tasks_panic,
    kernels_panic_with_their_payload,
    indices_outside_are_failures,
    tasks_take_arrays_of_accesses,
    tasks_use_the_runtime,
    tasks_that_wait_for_themselves_are_told,
    tasks_that_wait_for_each_other_are_told,
    a_wait_with_a_limit_holds_nobody_up,
    kernels_that_wait_are_told,
    the_handler_is_told_once,
    queues_return_each_root_once,
    a_handler_may_panic_and_use_the_runtime,
];

/// ERR-01, ERR-03
fn tasks_return_errors(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let event = q.submit(|cg| {
        cg.label("parse");
        cg.host_task((), |()| -> Result<(), std::num::ParseIntError> {
            "x".parse::<i32>().map(|_| ())
        });
        Ok(())
    })?;
    let root = failure(event.wait())?;
    ensure_eq!((root.what(), root.label(), root.device()), ("host task", "parse", "host"));
    let Cause::Task(error) = root.cause() else {
        return Err(Stop::Failed(format!("{:?}", root.cause())));
    };
    ensure!(error.is::<std::num::ParseIntError>(), "{error}");
    Ok(())
}

/// ERR-01, ERR-03
fn tasks_panic(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    for _ in 0..3 {
        let event = q.submit(|cg| {
            cg.host_task((), |()| -> () { std::panic::panic_any(42u64) });
            Ok(())
        })?;
        let root = failure(event.wait())?;
        let Cause::Panic(payload) = root.cause() else {
            return Err(Stop::Failed(format!("{:?}", root.cause())));
        };
        let payload = payload.take().and_then(|p| p.downcast::<u64>().ok());
        ensure_eq!(payload.as_deref(), Some(&42));
    }
    Ok(())
}

/// ERR-01, ERR-03: small launches that run inline, and large ones on many threads.
fn kernels_panic_with_their_payload(rig: &Rig) -> Outcome {
    rig.closures()?;
    for at in 0..rig.rt.devices().len() {
        for n in [1usize, 10, 100_000] {
            let q = rig.on(at)?;
            let mut x = rig.rt.buffer_from(vec![1u8; n])?;
            let event = q.submit(|cg| {
                let x = cg.read_write(&mut x);
                cg.host_kernel([n], x, move |i, mut x| {
                    x[i] = 2;
                    if i.index() == n / 2 {
                        std::panic::panic_any((n, "payload"));
                    }
                });
                Ok(())
            })?;
            let root = failure(event.wait())?;
            let Cause::Panic(payload) = root.cause() else {
                return Err(Stop::Failed(format!("{:?}", root.cause())));
            };
            let payload = payload.take().and_then(|p| p.downcast::<(usize, &str)>().ok());
            ensure_eq!(payload.as_deref(), Some(&(n, "payload")));
            ensure_eq!(failure(x.to_vec())?.id(), root.id());
        }
    }
    Ok(())
}

/// ERR-01, KRN-03
fn indices_outside_are_failures(rig: &Rig) -> Outcome {
    rig.closures()?;
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from(&[1; 8])?;
        let mut y = rig.rt.buffer::<i32, 1>(8)?;
        let event = q.submit(|cg| {
            // The buffer is larger than the slice: an index past it must not see the rest.
            let x = cg.read(x.slice([2], [4])?);
            let y = cg.discard(&mut y);
            cg.host_kernel([8], (x, y), |i, (x, mut y)| {
                assert_eq!(x.get([4]), None);
                y.put(i, x[i]);
            });
            Ok(())
        })?;
        let root = failure(event.wait())?;
        let message = panic_message(&root).unwrap_or_default();
        ensure!(message.contains("extent [4]") && message.starts_with(file!()), "{message}");
    }
    Ok(())
}

/// DEP-04: as closures of kernels do.
fn tasks_take_arrays_of_accesses(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let parts: Vec<Buffer<i32>> =
        (0..3).map(|k| Ok(rig.rt.buffer_from(&[k, 10 * k])?)).collect::<Result<_, Stop>>()?;
    let [mut a, mut b] = [rig.rt.buffer::<i32, 1>(2)?, rig.rt.buffer::<i32, 1>(2)?];
    let mut total = rig.rt.buffer::<i32, 1>(1)?;
    q.submit(|cg| {
        let parts: [_; 3] = std::array::from_fn(|k| cg.read(&parts[k]));
        let sums = [cg.write(&mut a), cg.write(&mut b)];
        let total = cg.write(&mut total);
        let none: [Read<f32>; 0] = [];
        cg.host_task((parts, sums, total, none), |(parts, mut sums, mut total, none)| {
            let _: [HostRead<'_, f32>; 0] = none;
            for (k, part) in parts.iter().enumerate() {
                sums[k % 2][0] += part[0];
                sums[k % 2][1] += part[1];
                total[0] += part[0] + part[1];
            }
        });
        Ok(())
    })?;
    ensure_eq!((a.to_vec()?, b.to_vec()?, total.to_vec()?), (vec![2, 20], vec![1, 10], vec![33]));
    let twice = q.submit(|cg| {
        let a = cg.write(&mut a);
        cg.host_task([a, a], |_| {});
        Ok(())
    });
    refused!(twice, Error::Aliasing { .. });
    Ok(())
}

/// DEP-03, DEP-04
fn tasks_use_the_runtime(rig: &Rig) -> Outcome {
    let last = rig.rt.devices().len() - 1;
    let q = rig.on(last)?;
    let mut x = rig.rt.buffer_from(&[1; 4])?;
    add(&q, &mut x, 1)?;
    let (rt, inner) = (rig.rt.clone(), q.clone());
    let (tell, told) = std::sync::mpsc::channel();
    q.submit(|cg| {
        let x = cg.read(&x);
        cg.host_task(x, move |x| -> Result<(), Error> {
            let mut own = rt.buffer_from(&x)?;
            let nested = rt.clone();
            for _ in 0..3 {
                add(&inner, &mut own, 10)?;
            }
            // A task within a task, which waits as well.
            let deeper = inner.clone();
            let event = inner.submit(|cg| {
                let own = cg.read(&own);
                cg.host_task(own, move |own| -> Result<(), Error> {
                    let mut third = nested.buffer_from(&own)?;
                    add(&deeper, &mut third, 100)?;
                    drop(tell.send(third.to_vec()?));
                    Ok(())
                });
                Ok(())
            })?;
            event.wait()
        });
        Ok(())
    })?
    .wait()?;
    ensure_eq!(told.recv().ok(), Some(vec![132; 4]));
    Ok(())
}

/// DEP-04: waiting directly on one's own descendant.
fn tasks_that_wait_for_themselves_are_told(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let x = rig.rt.buffer_from(&[1; 4])?.into_shared();
    let gate = Gate::new();
    let door = gate.door();
    let (send, receive) = std::sync::mpsc::channel::<folio_core::Event>();
    let (tell, told) = std::sync::mpsc::channel();
    let (inner, own, rt) = (q.clone(), x.clone(), rig.rt.clone());
    let task = q.submit(|cg| {
        let x = cg.read_write(&x);
        cg.host_task(x, move |_| {
            door.pass();
            for event in receive.iter() {
                drop(tell.send(event.wait()));
                drop(tell.send(event.wait_timeout(PATIENCE).map(|_| ())));
            }
            drop(tell.send(inner.wait()));
            drop(tell.send(own.read().map(|_| ())));
            drop(tell.send(own.write().map(|_| ())));
            drop(tell.send(rt.wait()));
        });
        Ok(())
    })?;
    let child = q.run(4, adds(1, &x))?;
    let grandchild = q.submit(|cg| {
        cg.after(&child).host_task((), |()| {});
        Ok(())
    })?;
    for event in [&task, &child, &grandchild] {
        drop(send.send(event.clone()));
    }
    drop(send);
    gate.open();
    let answers: Vec<_> = told.iter().collect();
    ensure_eq!(answers.len(), 10);
    for (n, answer) in answers.iter().enumerate() {
        ensure!(matches!(answer, Err(Error::WaitsForItself { .. })), "{n}: {answer:?}");
    }
    grandchild.wait()?;
    ensure_eq!(x.to_vec()?, [2; 4]);
    Ok(())
}

/// A task of a ring waits for the next task.
struct Next {
    event: Event,
    queue: Queue,
    data: Shared<i32>,
}

impl Next {
    fn wait(&self, way: usize) -> Result<(), Error> {
        match way {
            0 => self.event.wait(),
            1 => self.queue.wait(),
            2 => self.data.read().map(drop),
            3 => self.data.write().map(drop),
            _ => self.data.to_vec().map(drop),
        }
    }
}

/// Tasks that each wait for the next one, each in its way.
fn ring(rig: &Rig, ways: &[usize]) -> Outcome {
    let (tell, told) = std::sync::mpsc::channel();
    let mut tasks = Vec::new();
    for (nth, way) in ways.iter().copied().enumerate() {
        let (send, receive) = std::sync::mpsc::channel::<Next>();
        let (queue, data, tell) =
            (rig.queue()?, rig.rt.buffer_from(&[1; 4])?.into_shared(), tell.clone());
        let event = queue.submit(|cg| {
            let data = cg.read_write(&data);
            cg.label(format!("task {nth}"));
            cg.host_task(data, move |_| {
                let answer = receive.recv().map(|next| next.wait(way));
                drop(tell.send(answer));
            });
            Ok(())
        })?;
        tasks.push((send, Next { event, queue, data }));
    }
    drop(tell);
    let events: Vec<Event> = tasks.iter().map(|(_, task)| task.event.clone()).collect();
    let (sends, mut nexts): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
    nexts.rotate_left(1);
    for (send, next) in sends.iter().zip(nexts) {
        drop(send.send(next));
    }
    let mut refused = 0;
    for answer in told.iter() {
        match answer {
            Ok(Ok(())) => {}
            Ok(Err(Error::WaitsForItself { task, through })) => {
                refused += 1;
                ensure!(task.as_str().starts_with("task "), "{task}");
                ensure_eq!(through.len(), ways.len() - 1, "{ways:?}: {through:?}");
                ensure!(!through.contains(&task), "{through:?} of {task}");
            }
            other => return Err(Stop::Failed(format!("{ways:?}: {other:?}"))),
        }
    }
    ensure_eq!(refused, 1, "{ways:?}: the last one to wait is told, and the others go on");
    for event in events {
        event.wait()?;
    }
    Ok(())
}

/// DEP-04: two, and three in a ring, by any way to wait.
fn tasks_that_wait_for_each_other_are_told(rig: &Rig) -> Outcome {
    for ways in (0..5).flat_map(|a| (0..5).map(move |b| [a, b])) {
        ring(rig, &ways)?;
    }
    for ways in [[0, 0, 0], [0, 1, 4], [4, 4, 4], [2, 0, 1], [3, 4, 0]] {
        ring(rig, &ways)?;
    }
    Ok(())
}

/// DEP-04: a task may wait for one that waits for it with a limit, since that ends.
fn a_wait_with_a_limit_holds_nobody_up(rig: &Rig) -> Outcome {
    let (q, gate) = (rig.queue()?, Gate::new());
    let (door, (send, receive)) = (gate.door(), std::sync::mpsc::channel::<Event>());
    let (tell, told) = std::sync::mpsc::channel();
    let limited = q.submit(|cg| {
        cg.host_task((), move |()| {
            let answer = receive.recv().map(|event| event.wait_timeout(Duration::from_millis(20)));
            drop(tell.send(answer));
        });
        Ok(())
    })?;
    let before = limited.clone();
    let waits = q.submit(|cg| {
        cg.host_task((), move |()| {
            door.pass();
            before.wait()
        });
        Ok(())
    })?;
    drop(send.send(waits.clone()));
    gate.open();
    waits.wait()?;
    match told.recv() {
        Ok(Ok(Ok(false) | Err(Error::WaitsForItself { .. }))) => Ok(()),
        other => Err(Stop::Failed(format!("{other:?}"))),
    }
}

/// ERR-01: a kernel that waits gets an error and goes on.
fn kernels_that_wait_are_told(rig: &Rig) -> Outcome {
    rig.closures()?;
    let q = rig.queue()?;
    let gate = Gate::new();
    let door = gate.door();
    let pending = q.submit(|cg| {
        cg.host_task((), move |()| door.pass());
        Ok(())
    })?;
    let (tell, told) = std::sync::mpsc::channel();
    let (tell, event, rt) = (Mutex::new(tell), pending.clone(), rig.rt.clone());
    let kernel = q.submit(|cg| {
        cg.host_kernel([1], (), move |_, ()| {
            let tell = tell.lock().unwrap_or_else(PoisonError::into_inner);
            drop(tell.send(event.wait()));
            drop(tell.send(rt.shutdown(PATIENCE)));
        });
        Ok(())
    })?;
    kernel.wait()?;
    refused!(told.recv().unwrap_or(Ok(())), Error::WaitInKernel);
    refused!(told.recv().unwrap_or(Ok(())), Error::WaitInKernel);
    gate.open();
    pending.wait()?;
    // Nothing was shut down.
    q.submit(|_| Ok(()))?.wait()?;
    Ok(())
}

/// ERR-03
fn the_handler_is_told_once(rig: &Rig) -> Outcome {
    let seen: Arc<Mutex<Vec<Arc<Failure>>>> = Arc::default();
    let handler = seen.clone();
    let note = move |failure: &Arc<Failure>| {
        handler.lock().unwrap_or_else(PoisonError::into_inner).push(failure.clone());
    };
    let rt = rig.builder().on_failure(note).build()?;
    let q = on(&rt, 0)?;
    let mut x = rt.buffer_from(&[1; 4])?;
    let mut roots = Vec::new();
    for n in 0..3 {
        let call = fails(0, &mut x);
        let event = q.submit(|cg| {
            cg.label(format!("bad {n}")).run(1, call);
            Ok(())
        })?;
        for _ in 0..5 {
            add(&q, &mut x, 1)?;
        }
        roots.push(failure(event.wait())?.id());
        failure(x.to_vec())?;
        set(&q, &mut x, 0, 4, 0)?;
    }
    x.to_vec()?;
    rt.wait()?;
    let told = || seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    eventually("the handler is told of all", || told().len() >= 3)?;
    let mut ids: Vec<_> = told().iter().map(|f| f.id()).collect();
    ids.sort_unstable();
    ensure_eq!(ids, roots);
    Ok(())
}

/// ERR-03
fn queues_return_each_root_once(rig: &Rig) -> Outcome {
    let (q, other, third) = (rig.queue()?, rig.queue()?, rig.queue()?);
    let mut x = rig.rt.buffer_from(&[1; 4])?;
    let mut y = rig.rt.buffer_from(&[1; 4])?;
    let mut roots = Vec::new();
    for x in [&mut x, &mut y] {
        let event = q.submit(|cg| {
            let x = cg.read_write(&mut *x);
            cg.host_task(x, |_| Err("once"));
            Ok(())
        })?;
        roots.push(failure(event.wait())?.id());
        for _ in 0..4 {
            add(&other, x, 1)?;
        }
    }
    third.submit(|_| Ok(()))?;
    for q in [&q, &other] {
        let mut told = [failure(q.wait())?.id(), failure(q.wait())?.id()];
        told.sort_unstable();
        ensure_eq!(told[..], roots[..]);
        q.wait()?;
    }
    third.wait()?;
    Ok(())
}

/// ERR-01, ERR-03
fn a_handler_may_panic_and_use_the_runtime(rig: &Rig) -> Outcome {
    let slot: Arc<Mutex<Option<folio_core::Queue>>> = Arc::default();
    let (tell, told) = std::sync::mpsc::channel();
    let (tell, own) = (Mutex::new(tell), slot.clone());
    let handler = move |_: &Arc<Failure>| {
        let q = own.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let event = q.map(|q| q.submit(|_| Ok(())));
        let _ = tell.lock().unwrap_or_else(PoisonError::into_inner).send(event.is_some());
        panic!("the handler panics");
    };
    let rt = rig.builder().on_failure(handler).build()?;
    let q = on(&rt, 0)?;
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(q.clone());
    for _ in 0..2 {
        let event = q.submit(|cg| {
            cg.host_task((), |()| Err("x"));
            Ok(())
        })?;
        failure(event.wait())?;
        ensure_eq!(told.recv_timeout(PATIENCE / 4).ok(), Some(true));
    }
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = None;
    Ok(())
}
