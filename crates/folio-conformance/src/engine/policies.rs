//! Policies: what a buffer does with the program's memory, and what its drop does.

use super::lifetime::mortal;
use super::rig::*;
use super::tests;
use folio_core::hal::MemoryHome;
use folio_core::{
    Buffer, BufferOptions, Destination, Error, Event, Queue,
    buffer::{Policy, Reclaim, ViewPolicy},
};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

tests![
    policies_have_names,
    views_give_their_storage_back,
    async_writebacks_are_under_way_together,
    sync_drops_wait,
    a_writeback_copies_what_the_host_lacks,
    a_view_works_in_place_on_the_host,
    a_failed_kernel_gives_back_storage_and_error,
    a_leaked_view_keeps_its_storage,
    closing_returns_the_error,
    storage_is_in_use_while_a_handle_is_left,
    a_queue_of_another_runtime_writes_nothing_back,
    storage_comes_back_after_the_runtime,
    storage_comes_back_as_a_future,
    handles_of_a_view_go_in_any_order,
    raw_views,
    a_raw_view_does_not_end_while_something_has_it,
    scoped_views_follow_their_policy,
    a_leaked_view_of_a_scope_is_written_back,
    refused_views_return_their_storage,
    a_drop_that_cannot_wait_does_not,
    storage_outlives_what_is_deferred,
];

const OWNED: [Policy; 4] =
    [Policy::AsyncView, Policy::SyncView, Policy::AsyncWritebackView, Policy::SyncWritebackView];

fn chosen(policy: Policy, q: &Queue) -> ViewPolicy<'_> {
    match policy {
        Policy::SyncView => ViewPolicy::Sync,
        Policy::AsyncWritebackView => ViewPolicy::AsyncWriteback(q),
        Policy::SyncWritebackView => ViewPolicy::SyncWriteback,
        _ => ViewPolicy::Async,
    }
}

fn lend(
    q: &Queue,
    policy: Policy,
    data: Vec<i32>,
) -> Result<(Buffer<i32>, Reclaim<Vec<i32>>), Stop> {
    Ok(q.runtime().view(data.len(), data, chosen(policy, q)).map_err(Error::from)?)
}

fn on_host(q: &Queue) -> bool {
    q.device().info().home == MemoryHome::Host
}

/// POL-01, POL-02
fn policies_have_names(rig: &Rig) -> Outcome {
    let (rt, q) = (&rig.rt, rig.queue()?);
    let data = || vec![7; 6];
    let plain = rt.buffer_from(data())?;
    ensure_eq!((plain.policy(), plain.to_vec()?), (Policy::AsyncBuffer, data()));
    let buffers: [(Buffer<i32, 2>, Policy, i32); 4] = [
        (rt.buffer_with([2, 3], BufferOptions::new().sync())?, Policy::SyncBuffer, 0),
        (rt.buffer_with((&[7; 6], [2, 3]), BufferOptions::new().sync())?, Policy::SyncBuffer, 7),
        (rt.buffer([2, 3])?, Policy::AsyncBuffer, 0),
        (rt.buffer_from((data(), [2, 3]))?, Policy::AsyncBuffer, 7),
    ];
    for (x, policy, value) in buffers {
        ensure_eq!((x.policy(), x.to_vec()?), (policy, vec![value; 6]));
    }
    let views = [
        (rt.view(6, data(), ViewPolicy::Async).map_err(Error::from)?, "async view"),
        (rt.view(6, data(), ViewPolicy::Sync).map_err(Error::from)?, "sync view"),
        (
            rt.view(6, data(), ViewPolicy::AsyncWriteback(&q)).map_err(Error::from)?,
            "async writeback view",
        ),
        (
            rt.view(6, data(), ViewPolicy::SyncWriteback).map_err(Error::from)?,
            "sync writeback view",
        ),
    ];
    for ((x, mut back), name) in views {
        ensure_eq!((x.policy().to_string().as_str(), x.to_vec()?), (name, data()));
        ensure!(
            x.policy().is_view() && x.policy().writes_back() == name.contains("writeback"),
            "{name}"
        );
        drop(x);
        ensure_eq!(back.take()?, data());
    }
    Ok(())
}

/// POL-03, POL-05: each policy, on each device; what a plain view has written elsewhere is lost.
fn views_give_their_storage_back(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        for policy in OWNED {
            let (mut x, mut back) = lend(&q, policy, vec![1; 8])?;
            add(&q, &mut x, 2)?;
            refused!(back.take().map_err(Error::from), Error::InUse { .. });
            drop(x);
            let came = back.take()?;
            let kept = policy.writes_back() || on_host(&q);
            ensure_eq!(came, vec![if kept { 3 } else { 1 }; 8], "{policy}");
            refused!(back.take().map_err(Error::from), Error::Freed { what: "view", .. });
        }
    }
    Ok(())
}

/// A command that other commands can be made to wait for, as long as the gate is closed.
fn held(q: &Queue, gate: &Gate) -> Result<folio_core::Event, Error> {
    let door = gate.door();
    q.submit(|cg| {
        cg.host_task((), move |()| door.pass());
        Ok(())
    })
}

fn add_after(q: &Queue, x: &mut Buffer<i32>, event: &folio_core::Event) -> Outcome {
    let n = x.len();
    let call = adds(1, &mut *x);
    q.submit(|cg| {
        cg.after(event).run(n, call);
        Ok(())
    })?;
    Ok(())
}

/// POL-04: three drops, three writebacks, and no wait between them.
fn async_writebacks_are_under_way_together(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let gate = Gate::new();
        let event = held(&q, &gate)?;
        let mut backs = Vec::new();
        let before = rig.rt.counters().device_to_host.operations;
        for value in 0..3 {
            let (mut x, back) = lend(&q, Policy::AsyncWritebackView, vec![value; 64])?;
            add_after(&q, &mut x, &event)?;
            drop(x);
            backs.push(back);
        }
        let copies = if on_host(&q) { 0 } else { 3 };
        ensure_eq!(rig.rt.counters().device_to_host.operations - before, copies, "submitted");
        ensure!(backs.iter().all(|back| !back.is_back()), "none has ended");
        gate.open();
        q.wait()?;
        for (value, mut back) in (0..).zip(backs) {
            ensure_eq!(back.take()?, vec![value + 1; 64], "device {at}");
        }
    }
    Ok(())
}

/// POL-01: buffers and views alike.
fn sync_drops_wait(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        for policy in [Policy::SyncBuffer, Policy::SyncView, Policy::SyncWritebackView] {
            let gate = Gate::new();
            let event = held(&q, &gate)?;
            let (mut x, back) = match policy {
                Policy::SyncBuffer => (rig.rt.buffer_with(8, BufferOptions::new().sync())?, None),
                _ => {
                    let (x, back) = lend(&q, policy, vec![0; 8])?;
                    (x, Some(back))
                }
            };
            add_after(&q, &mut x, &event)?;
            let opened = AtomicBool::new(false);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    std::thread::sleep(Duration::from_millis(2));
                    opened.store(true, Ordering::Release);
                    gate.open();
                });
                drop(x);
            });
            ensure!(opened.load(Ordering::Acquire), "{policy}: did not wait");
            ensure!(back.is_none_or(|back| back.is_back()), "{policy}");
        }
    }
    Ok(())
}

/// POL-03: nothing, where the device has written nothing; one page of many, where it has written
/// that.
fn a_writeback_copies_what_the_host_lacks(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    for (written, count) in [(None, 0), (Some(5), 1)] {
        let policy = ViewPolicy::AsyncWriteback(&q);
        let options = BufferOptions::new().page([4]);
        let made = rig.rt.view(32, vec![1; 32], policy.with(options));
        let (mut x, mut back) = made.map_err(Error::from)?;
        let mut y = rig.rt.buffer::<i32, 1>(32)?;
        q.run(32, copies(&x, &mut y))?;
        if let Some(at) = written {
            set(&q, &mut x, at, 1, 9)?;
        }
        let before = rig.rt.counters().device_to_host;
        drop(x);
        let after = rig.rt.counters().device_to_host;
        let moved = [after.operations - before.operations, after.pages - before.pages];
        ensure_eq!(moved, [count; 2]);
        ensure!(after.bytes - before.bytes <= 16, "more than a page");
        let storage = back.take()?;
        let expected = |at: usize| if written == Some(at) { 9 } else { 1 };
        ensure_eq!(storage, (0..32).map(expected).collect::<Vec<_>>());
    }
    Ok(())
}

/// POL-03: host tasks, and devices that compute in the host's memory, see the program's own
/// pointer.
fn a_view_works_in_place_on_the_host(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let data = vec![1; 1000];
        let address = data.as_ptr() as usize;
        let before = rig.rt.counters();
        let (mut x, mut back) = lend(&q, Policy::SyncWritebackView, data)?;
        if on_host(&q) {
            add(&q, &mut x, 1)?;
        }
        let (tell, told) = std::sync::mpsc::channel();
        q.submit(|cg| {
            let x = cg.read(&x);
            cg.host_task(x, move |x| {
                let _ = tell.send(x.to_vec().len());
            });
            Ok(())
        })?;
        ensure_eq!(told.recv().ok(), Some(1000));
        drop(x);
        let storage = back.take()?;
        ensure_eq!(storage.as_ptr() as usize, address);
        let after = rig.rt.counters();
        ensure_eq!(after.transfers(), before.transfers(), "device {at}");
        ensure_eq!(after.allocations, before.allocations, "device {at}");
    }
    Ok(())
}

/// POL-05, ERR-02: the storage comes back with its old contents where nothing was written, and the
/// error with it.
fn a_failed_kernel_gives_back_storage_and_error(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        for policy in OWNED {
            let (mut x, mut back) = lend(&q, policy, vec![1; 8])?;
            q.run(8, fails(3, &mut x))?;
            drop(x);
            let (came, root) = failed_storage(back.take())?;
            ensure_eq!(panic_message(&root).as_deref(), Some("on purpose"), "{policy}");
            ensure!(came.iter().all(|v| (1..=2).contains(v)), "{came:?}");
            let _ = q.wait();
        }
    }
    Ok(())
}

/// POL-05: what is leaked stays, and nothing waits for it.
fn a_leaked_view_keeps_its_storage(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    for policy in OWNED {
        let (mut x, mut back) = lend(&q, policy, vec![1; 8])?;
        add(&q, &mut x, 1)?;
        std::mem::forget(x);
        refused!(back.take().map_err(Error::from), Error::InUse { .. });
        q.wait()?;
        refused!(back.take().map_err(Error::from), Error::InUse { .. });
    }
    let (x, back) = lend(&q, Policy::AsyncView, vec![1; 8])?;
    std::mem::forget(back);
    drop(x);
    Ok(())
}

/// POL-04, ERR-02
fn closing_returns_the_error(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        for policy in OWNED {
            let (mut x, mut back) = lend(&q, policy, vec![1; 8])?;
            add(&q, &mut x, 1)?;
            x.close()?;
            back.take()?;
            let (mut x, _back) = lend(&q, policy, vec![1; 8])?;
            q.run(8, fails(3, &mut x))?;
            failure(x.close())?;
            let _ = q.wait();
        }
        let mut x = rig.rt.buffer_from(&[1; 8])?;
        q.run(8, fails(3, &mut x))?;
        let event = x.finish();
        failure(event.wait())?;
        let _ = q.wait();
    }
    Ok(())
}

/// POL-04, POL-05
fn storage_comes_back_after_the_runtime(rig: &Rig) -> Outcome {
    for policy in OWNED {
        let rt = rig.builder().build()?;
        let q = on(&rt, 0)?;
        let (mut x, mut back) = lend(&q, policy, vec![1; 8])?;
        add(&q, &mut x, 1)?;
        drop((q, rt, x));
        let kept = policy.writes_back() || on_host(&rig.queue()?);
        ensure_eq!(back.take()?, vec![if kept { 2 } else { 1 }; 8], "{policy}");
    }
    Ok(())
}

/// POL-05: the view, what gives its storage back, its command's event, its queue and its runtime.
fn handles_of_a_view_go_in_any_order(rig: &Rig) -> Outcome {
    for (nth, order) in orders(vec![0, 1, 2, 3, 4]).into_iter().enumerate().step_by(5) {
        let (rt, life) = mortal(rig)?;
        let q = on(&rt, nth % rt.devices().len())?;
        let (mut x, back) = lend(&q, OWNED[nth / 5 % 4], vec![1; 8])?;
        let event = add(&q, &mut x, 1)?;
        let mut handles: [Option<Box<dyn std::any::Any>>; 5] = [
            Some(Box::new(x)),
            Some(Box::new(back)),
            Some(Box::new(event)),
            Some(Box::new(q)),
            Some(Box::new(rt)),
        ];
        order.iter().for_each(|at| handles[*at] = None);
        life.ends()?;
    }
    Ok(())
}

fn orders(of: Vec<usize>) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![of];
    }
    let first = |at: &usize| {
        let rest = orders(of.iter().copied().filter(|other| other != at).collect());
        let at = *at;
        rest.into_iter().map(move |mut order| {
            order.insert(0, at);
            order
        })
    };
    of.iter().flat_map(first).collect()
}

/// POL-05
fn storage_comes_back_as_a_future(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (mut x, back) = lend(&q, Policy::AsyncWritebackView, vec![1; 8])?;
        let mut back = pin!(back);
        let context = &mut Context::from_waker(Waker::noop());
        ensure!(back.as_mut().poll(context).is_pending(), "the buffer is there");
        add(&q, &mut x, 1)?;
        drop(x);
        let mut storage = None;
        eventually("the storage comes back", || {
            if let Poll::Ready(back) = back.as_mut().poll(context) {
                storage = Some(back);
            }
            storage.is_some()
        })?;
        ensure_eq!(storage.transpose()?, Some(vec![2; 8]), "device {at}");
    }
    Ok(())
}

/// POL-05: for which the caller answers.
fn raw_views(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut data = [[1; 4]; 2];
        for policy in OWNED {
            // SAFETY: `data` lives on, and is not touched before the event is done.
            let x = unsafe {
                rig.rt.view_raw([2, 4], data.as_mut_ptr().cast::<i32>(), chosen(policy, &q))
            };
            let mut x = x?;
            q.run([2, 4], adds_2(1, &mut x))?;
            x.close()?;
        }
        let expected = if on_host(&q) { 5 } else { 3 };
        ensure_eq!(data, [[expected; 4]; 2], "device {at}");
    }
    let null = std::ptr::null_mut::<i32>();
    // SAFETY: it is refused.
    let refused = unsafe { rig.rt.view_raw(4, null, ViewPolicy::Sync) };
    refused!(refused, Error::Misaligned { .. });
    // SAFETY: there are no elements.
    unsafe { rig.rt.view_raw(0, null, ViewPolicy::Sync) }?;
    Ok(())
}

/// POL-02, POL-05: the end of the scope waits, whatever the policy.
fn scoped_views_follow_their_policy(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        for policy in OWNED {
            let mut data = [1; 8];
            rig.rt.scope(|scope| -> Outcome {
                let mut x = scope.view_mut_with([2, 4], &mut data, chosen(policy, &q))?;
                ensure_eq!(x.policy(), policy);
                q.run([2, 4], adds_2(1, &mut x))?;
                let before = rig.rt.counters().device_to_host.operations;
                drop(x);
                let copies = rig.rt.counters().device_to_host.operations - before;
                ensure_eq!(copies, u64::from(policy.writes_back() && !on_host(&q)), "{policy}");
                Ok(())
            })??;
            let kept = policy.writes_back() || on_host(&q);
            ensure_eq!(data, [if kept { 2 } else { 1 }; 8], "{policy}, device {at}");
        }
    }
    let mut data = [1; 8];
    rig.rt.scope(|scope| {
        let refused = scope.view_mut_with([3, 3], &mut data, ViewPolicy::Sync);
        refused!(refused, Error::Mismatch { .. });
        Ok(())
    })?
}

/// POL-05
fn a_leaked_view_of_a_scope_is_written_back(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        for policy in [Policy::AsyncWritebackView, Policy::SyncWritebackView] {
            let mut data = [1; 8];
            rig.rt.scope(|scope| -> Outcome {
                let mut x = scope.view_mut_with(8, &mut data, chosen(policy, &q))?;
                add(&q, &mut x, 1)?;
                std::mem::forget(x);
                Ok(())
            })??;
            ensure_eq!(data, [2; 8], "{policy}, device {at}");
        }
    }
    Ok(())
}

/// POL-05
fn refused_views_return_their_storage(rig: &Rig) -> Outcome {
    let Err(refused) = rig.rt.view([2, 2], vec![1, 2, 3], ViewPolicy::Async) else {
        return Err(Stop::Failed("a view of another shape".into()));
    };
    ensure_eq!(refused.storage, [1, 2, 3]);
    ensure!(matches!(refused.error, Error::Mismatch { .. }), "{refused}");
    Ok(())
}

/// POL-01, DEP-04: a task that drops a buffer whose commands depend on the task does not wait for
/// itself.
fn a_drop_that_cannot_wait_does_not(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (gate, x) = (
            Gate::new(),
            rig.rt.buffer_with::<i32, 1>(8, BufferOptions::new().sync())?.into_shared(),
        );
        let (door, last) = (gate.door(), x.clone());
        let task = q.submit(|cg| {
            cg.host_task((), move |()| {
                door.pass();
                drop(last);
            });
            Ok(())
        })?;
        let call = adds(1, &x);
        let added = q.submit(|cg| {
            cg.after(&task).run(8, call);
            Ok(())
        })?;
        drop(x);
        gate.open();
        task.wait()?;
        added.wait()?;
    }
    Ok(())
}

/// POL-04: the storage comes back after the last command that uses it, wherever that waits.
fn storage_outlives_what_is_deferred(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let gate = Gate::new();
        let event = held(&q, &gate)?;
        let (mut x, mut back) = lend(&q, Policy::AsyncView, vec![1; 8])?;
        let mut y = rig.rt.buffer::<i32, 1>(8)?;
        add_after(&q, &mut x, &event)?;
        q.run(8, copies(&x, &mut y))?;
        drop(x);
        ensure!(!back.is_back(), "it is in use");
        gate.open();
        ensure_eq!(y.to_vec()?, [2; 8], "device {at}");
        back.take()?;
    }
    Ok(())
}

/// POL-05, ERR-01: a guard or an executable of this very thread is not waited for.
fn storage_is_in_use_while_a_handle_is_left(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    for policy in OWNED {
        let (x, mut back) = lend(&q, policy, vec![1; 8])?;
        let guard = x.read()?;
        x.close()?;
        refused!(back.take().map_err(Error::from), Error::InUse { .. });
        ensure_eq!(guard.to_vec(), [1; 8]);
        drop(guard);
        ensure_eq!(back.take()?, [1; 8]);
        if policy.writes_back() {
            // No graph keeps such a view.
            continue;
        }
        let (x, mut back) = lend(&q, policy, vec![1; 8])?;
        let graph = rig.rt.graph(&q.device())?;
        graph.add(|cg| {
            cg.prefetch(&x, Destination::Device);
            Ok(())
        })?;
        let run = graph.finalize()?;
        x.close()?;
        refused!(back.take().map_err(Error::from), Error::InUse { .. });
        drop((run, graph));
        back.take()?;
    }
    Ok(())
}

/// POL-01, ERR-01
fn a_queue_of_another_runtime_writes_nothing_back(rig: &Rig) -> Outcome {
    let theirs = on(&rig.builder().build()?, 0)?;
    let Err(back) = rig.rt.view(8, vec![1; 8], ViewPolicy::AsyncWriteback(&theirs)) else {
        return Err(Stop::Failed("a queue of another runtime was taken".into()));
    };
    ensure_eq!(back.storage, [1; 8]);
    refused!(Err::<(), _>(back.error), Error::WrongRuntime { .. });
    let mut data = vec![1; 8];
    rig.rt.scope(|scope| -> Outcome {
        let policy = ViewPolicy::AsyncWriteback(&theirs);
        refused!(scope.view_mut_with(8, &mut data, policy), Error::WrongRuntime { .. });
        Ok(())
    })?
}

/// POL-05, ERR-01
fn a_raw_view_does_not_end_while_something_has_it(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let in_use = |event: Event| -> Outcome {
        let failed = failure(event.wait())?;
        ensure!(failed.to_string().contains("in use"), "{failed}");
        let _ = rig.rt.wait();
        Ok(())
    };
    let mut data = [1; 8];
    let at = data.as_mut_ptr();
    // SAFETY: `data` lives on, and is not touched before all views are gone.
    let view = || unsafe { rig.rt.view_raw::<i32, 1>(8, at, ViewPolicy::Async) };
    let x = view()?;
    let guard = x.read()?;
    in_use(x.finish())?;
    drop(guard);
    let x = view()?;
    let graph = rig.rt.graph(&q.device())?;
    graph.add(|cg| {
        cg.prefetch(&x, Destination::Device);
        Ok(())
    })?;
    let run = graph.finalize()?;
    in_use(x.finish())?;
    q.run_graph(&run)?.wait()?;
    drop((run, graph));
    let x = view()?;
    let graph = rig.rt.graph(&q.device())?;
    graph.add(|cg| {
        cg.prefetch(&x, Destination::Device);
        Ok(())
    })?;
    let run = graph.finalize()?;
    q.run_graph(&run)?.wait()?;
    drop((run, graph, x.read()?));
    x.finish().wait()?;
    ensure_eq!(data, [1; 8]);
    Ok(())
}
