//! Uses that managed pointers refuse, and that their data is there afterwards.

use super::super::tests;
use super::*;
use folio_core::{Error, Status};
use std::time::Duration;

tests![
    the_old_region_ends_when_the_move_is_triggered,
    moves_come_after_the_task_that_runs,
    tasks_cannot_move_pointers,
    guards_keep_pointers_where_they_are,
    a_failed_allocation_leaves_the_data_where_it_was,
    a_runtime_that_is_shut_down_moves_nothing,
    commands_of_queues_are_checked,
    nothing_follows_what_failed,
    a_failed_task_leaves_its_pointers_where_they_were,
    pointers_of_other_runtimes_are_refused,
];

const N: usize = 64;

/// A task on the host that waits at a gate, over a pointer; its future.
fn gated(
    rig: &Rig,
    gate: &Gate,
    x: &ManagedPtr<i32>,
) -> Result<folio_core::managed::ManagedFuture, Stop> {
    let (host, door) = (rig.rt.host_executor()?, gate.door());
    Ok(host.run(x, move |mut x| {
        door.pass();
        x.iter_mut().for_each(|v| *v += 1);
    }))
}

/// MPTR-03
fn the_old_region_ends_when_the_move_is_triggered(rig: &Rig) -> Outcome {
    let gpu = far(rig)?;
    let x = rig.rt.managed_from(vec![1; N])?;
    let gate = Gate::new();
    let put = gated(rig, &gate, &x)?.then_put(&gpu, &x);
    ensure!(matches!(put.event()?.status(), Status::Pending), "the task is at the gate");
    ensure!(x.is_accessible_on(&gpu), "for what comes after the move");
    if is_away(&gpu) {
        ensure!(!x.is_accessible(), "the move is triggered");
        let refused = x.read().err().map(|error| error.to_string()).unwrap_or_default();
        ensure!(refused.contains("it is on its way to"), "{refused}");
        refused!(x.write(), Error::Inaccessible { .. });
    }
    let got = put.then_get(&gpu, &x);
    if is_away(&gpu) {
        ensure!(!x.is_accessible() && !x.is_accessible_on(&gpu), "on its way back");
        refused!(x.to_vec(), Error::Inaccessible { .. });
    }
    gate.open();
    got.wait()?;
    is_home(&x, &[2; N])
}

/// MPTR-03
fn moves_come_after_the_task_that_runs(rig: &Rig) -> Outcome {
    let gpu = far(rig)?;
    let x = rig.rt.managed_from(vec![1; N])?;
    let gate = Gate::new();
    let task = gated(rig, &gate, &x)?;
    let put = gpu.put(&x);
    let got = x.get();
    ensure!(!task.is_done() && !put.is_done() && !got.is_done(), "the task is at the gate");
    gate.open();
    got.wait()?;
    is_home(&x, &[2; N])
}

/// MPTR-03
fn tasks_cannot_move_pointers(rig: &Rig) -> Outcome {
    let (gpu, host) = (far(rig)?, rig.rt.host_executor()?);
    let x = rig.rt.managed_from(vec![1; N])?;
    let other = rig.rt.managed_from(vec![1; N])?;
    let (tell, told) = std::sync::mpsc::channel();
    let own = (x.clone(), other.clone(), gpu.clone());
    let task = host.run(&x, move |mut x| {
        x[0] = 2;
        let (x, other, gpu) = own;
        let moves = [x.get(), gpu.put(&x), gpu.get(&other), gpu.run(N, adds(1, &other))];
        drop(tell.send(moves.map(|moved| moved.wait())));
    });
    task.wait()?;
    let moves = told.recv().map_err(|_| Stop::Failed("the task told nothing".into()))?;
    for moved in moves {
        refused!(moved, Error::MoveInTask { .. });
    }
    ensure_eq!(x.read()?[..2], [2, 1]);
    is_home(&other, &[1; N])
}

/// MPTR-03
fn guards_keep_pointers_where_they_are(rig: &Rig) -> Outcome {
    let gpu = far(rig)?;
    if !is_away(&gpu) {
        return Ok(());
    }
    let x = rig.rt.managed_from(vec![1; N])?;
    let reader = x.read()?;
    refused!(gpu.put(&x).wait(), Error::HostAccessHeld { .. });
    refused!(gpu.run(N, adds(1, &x)).wait(), Error::HostAccessHeld { .. });
    ensure!(x.is_accessible() && !x.is_accessible_on(&gpu), "it stayed");
    drop(reader);
    let mut writer = x.write()?;
    refused!(gpu.put(&x).wait(), Error::HostAccessHeld { .. });
    refused!(x.read(), Error::HostAccessHeld { .. });
    writer[0] = 5;
    drop(writer);
    gpu.put(&x).then_get(&gpu, &x).wait()?;
    ensure_eq!(x.read()?[..2], [5, 1]);
    // A guard that is forgotten keeps its pointer for ever, and nothing else.
    std::mem::forget(x.read()?);
    refused!(gpu.put(&x).wait(), Error::HostAccessHeld { .. });
    ensure_eq!(x.read()?[0], 5);
    Ok(())
}

/// MPTR-04, MPTR-07, MEM-01
fn a_failed_allocation_leaves_the_data_where_it_was(rig: &Rig) -> Outcome {
    let gpu = far(rig)?;
    if !is_away(&gpu) {
        return Ok(());
    }
    let device = gpu.device();
    let (limit, _) = device.budget();
    let [x, y] = [1, 2].map(|n| rig.rt.managed_from(vec![n; N]));
    let (x, y) = (x?, y?);
    device.set_budget(16);
    refused!(gpu.put((&x, &y)).wait(), Error::OutOfMemory { .. });
    let chain = gpu.put(&x).then_async(&gpu, N, adds(1, &x)).then_get(&gpu, &x);
    refused!(chain.wait(), Error::OutOfMemory { .. });
    refused!(gpu.run(N, adds(1, &x)).wait(), Error::OutOfMemory { .. });
    let made = rig.rt.managed_in::<i32>(&gpu.allocator(), N);
    refused!(made, Error::OutOfMemory { .. });
    is_home(&x, &[1; N])?;
    is_home(&y, &[2; N])?;
    device.set_budget(limit);
    gpu.put((&x, &y)).then_async(&gpu, N, adds_up(&x, &y)).then_get(&gpu, &y).wait()?;
    is_home(&y, &[7; N])
}

/// MPTR-04
fn a_runtime_that_is_shut_down_moves_nothing(rig: &Rig) -> Outcome {
    let rt = rig.builder().build()?;
    let device = &rt.devices()[0];
    let (gpu, x) = (rt.executor(device)?, rt.managed_from(vec![1; N])?);
    rt.shutdown(Duration::from_secs(20))?;
    refused!(gpu.put(&x).wait(), Error::ShutDown);
    refused!(gpu.put(&x).then_get(&gpu, &x).wait(), Error::ShutDown);
    ensure!(x.is_accessible(), "it stayed");
    Ok(())
}

/// MPTR-03: pointers mix with buffers, and are checked as elsewhere.
fn commands_of_queues_are_checked(rig: &Rig) -> Outcome {
    let gpu = far(rig)?;
    let q = rig.rt.queue_on(&gpu.device())?;
    let x = rig.rt.managed_from(vec![1; N])?;
    let mut y = rig.rt.buffer_from(&[10; N])?;
    if is_away(&gpu) {
        refused!(q.run(N, adds(1, &x)), Error::Inaccessible { .. });
        refused!(q.copy(&x, &mut y), Error::Inaccessible { .. });
        refused!(q.fill(&x, 3), Error::Inaccessible { .. });
        is_home(&x, &[1; N])?;
    }
    let task = |x: &ManagedPtr<i32>| {
        q.submit(|cg| {
            let x = cg.read_write(x);
            cg.host_task(x, |mut x| x[0] += 1);
            Ok(())
        })
    };
    task(&x)?.wait()?;
    let put = gpu.put(&x);
    if is_away(&gpu) {
        refused!(task(&x), Error::Inaccessible { .. });
    }
    q.run(N, adds_up(&x, &mut y))?;
    q.copy(&y, &x)?;
    put.wait()?;
    x.get().wait()?;
    ensure_eq!(x.read()?[..2], [32, 31]);
    Ok(())
}

/// MPTR-04
fn nothing_follows_what_failed(rig: &Rig) -> Outcome {
    let gpu = far(rig)?;
    let host = rig.rt.host_executor()?;
    let x = rig.rt.managed_from(vec![1; N])?;
    let failed = host.run((), |()| Err::<(), _>("on purpose"));
    let put = failed.clone().then_put(&gpu, &x);
    let got = put.clone().then_get(&gpu, &x);
    let ran = failed.clone().then_async(&gpu, N, adds(1, &x));
    let root = failure(failed.wait())?.id();
    for next in [&put, &got, &ran] {
        ensure_eq!(failure(next.wait())?.id(), root);
    }
    ensure!(x.is_accessible(), "it stayed");
    // The task's output is unknown, as of any failed command.
    drop(x.discard()?);
    gpu.put(&x).then_get(&gpu, &x).wait()?;
    Ok(())
}

/// MPTR-04
fn a_failed_task_leaves_its_pointers_where_they_were(rig: &Rig) -> Outcome {
    let gpu = far(rig)?;
    let [x, y] = [1, 2].map(|n| rig.rt.managed_from(vec![n; N]));
    let (x, y) = (x?, y?);
    failure(gpu.run(N, fails(3, &x)).wait())?;
    ensure!(x.is_accessible(), "the move was part of the task");
    failure(x.read())?;
    x.discard()?.fill(4);
    gpu.put((&x, &y)).wait()?;
    failure(gpu.run(N, fails(3, &x)).wait())?;
    is_on(&y, &gpu)?;
    gpu.get(&y).wait()?;
    is_home(&y, &[2; N])
}

/// MPTR-04
fn pointers_of_other_runtimes_are_refused(rig: &Rig) -> Outcome {
    let other = rig.builder().build()?;
    let (gpu, x) = (far(rig)?, other.managed_from(vec![1; N])?);
    refused!(gpu.put(&x).wait(), Error::WrongRuntime { .. });
    refused!(gpu.run(N, adds(1, &x)).wait(), Error::WrongRuntime { .. });
    refused!(other.managed_in::<i32>(&gpu.allocator(), N), Error::WrongRuntime { .. });
    ensure!(!x.is_accessible_on(&gpu), "of another runtime");
    is_home(&x, &[1; N])
}
