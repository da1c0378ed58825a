//! Handles of managed pointers that go, or are forgotten, at any time.

use super::super::tests;
use super::*;
use folio_core::{
    Error, Runtime,
    managed::{ManagedArray, ManagedFuture, ManagedVec},
};
use std::mem::forget;

tests![
    pointers_dropped_in_flight_leave_no_memory,
    handles_go_in_any_order,
    forgotten_handles_hold_up_nothing,
];

const N: usize = 100;

/// MPTR-04
fn pointers_dropped_in_flight_leave_no_memory(rig: &Rig) -> Outcome {
    for gpu in executors(rig)? {
        let device = gpu.device();
        {
            let x = rig.rt.managed_from(vec![1; N])?;
            let y = rig.rt.managed_in::<i32>(&gpu.allocator(), N)?;
            drop(gpu.put(&x).then_async(&gpu, N, adds_up(&x, &y)).then_get(&gpu, (&x, &y)));
        }
        gpu.queue().wait()?;
        eventually("the memory is free", || device.budget().1 == 0)?;
    }
    Ok(())
}

/// A handle that a program may hold while work is under way.
enum Handle {
    Runtime(#[expect(dead_code, reason = "dropped")] Runtime),
    Executor(#[expect(dead_code, reason = "dropped")] Executor),
    Pointer(#[expect(dead_code, reason = "dropped")] ManagedPtr<i32>),
    Future(#[expect(dead_code, reason = "dropped")] ManagedFuture),
}

/// MPTR-04: all orders, with and without work under way at the time; the runtime first, too.
fn handles_go_in_any_order(rig: &Rig) -> Outcome {
    let orders = (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).filter(|(a, b)| a != b);
    for ((first, second), waits) in orders.flat_map(|order| [(order, false), (order, true)]) {
        let rt = rig.builder().build()?;
        let gpu = rt.executor(far(rig)?.device().name())?;
        let device = far(rig)?.device();
        let x = rt.managed_from(vec![1; N])?;
        let done = gpu.put(&x).then_async(&gpu, N, adds(1, &x)).then_get(&gpu, &x);
        if waits {
            done.wait()?;
        }
        let mut handles = vec![
            Some(Handle::Runtime(rt)),
            Some(Handle::Executor(gpu)),
            Some(Handle::Pointer(x)),
            Some(Handle::Future(done)),
        ];
        handles[first] = None;
        handles[second] = None;
        drop(handles);
        ensure_eq!(device.budget().1, 0, "another runtime's");
    }
    Ok(())
}

/// MPTR-04: each handle, before and after its work is done.
fn forgotten_handles_hold_up_nothing(rig: &Rig) -> Outcome {
    let gpu = far(rig)?;
    for waits in [false, true] {
        let work = || -> Result<(ManagedPtr<i32>, ManagedFuture), Stop> {
            let x = rig.rt.managed_from(vec![1; N])?;
            let done = gpu.put(&x).then_async(&gpu, N, adds(1, &x)).then_get(&gpu, &x);
            if waits {
                done.wait()?;
            }
            Ok((x, done))
        };
        let (x, done) = work()?;
        forget(done);
        x.get().wait()?;
        is_home(&x, &[2; N])?;
        let (x, done) = work()?;
        forget(x.clone());
        forget(x);
        done.wait()?;
        let (x, done) = work()?;
        forget((gpu.clone(), gpu.allocator(), rig.rt.host_executor()?, done.clone()));
        done.wait()?;
        forget((x.read()?, x.to_vec()?));
        refused!(x.write(), Error::HostAccessHeld { .. });
        forget(ManagedArray::new(&rig.rt, [1, 2])?);
        let mut v = ManagedVec::new(&rig.rt)?;
        v.push(1)?;
        forget(gpu.run(1, adds(1, &v)));
        forget(v);
        let Ok(frozen) = rig.rt.managed_from(vec![1; N])?.freeze() else {
            return Err(Stop::Failed("it has one handle".into()));
        };
        forget(gpu.put(&frozen));
        forget(frozen);
    }
    // A program goes on.
    let x = rig.rt.managed_from(vec![1; N])?;
    gpu.run(N, adds(1, &x)).then_get(&gpu, &x).wait()?;
    is_home(&x, &[2; N])
}
