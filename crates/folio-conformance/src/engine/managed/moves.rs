//! Moves and tasks, and what they move.

use super::super::events::block_on;
use super::super::tests;
use super::*;
use folio_core::managed::{self, Channel, Explicit, Sequential};
use folio_core::{
    Status,
    managed::{HostExecutor, ManagedArray, ManagedVec},
};
use std::sync::Arc;

tests![
    pointers_move_whole_and_only_what_is_outdated,
    the_papers_program_with_a_chain,
    the_papers_program_with_implicit_moves,
    functions_are_the_same_as_methods,
    pointers_begin_with_what_they_are_made_of,
    pointers_of_a_device_begin_there,
    pointers_in_shared_memory_stay_there,
    shared_memory_is_out_of_reach_elsewhere,
    read_only_pointers_are_in_several_regions,
    frozen_pointers_have_one_handle,
    policies_are_types,
    channels_between_executors,
    pointers_move_between_all_devices,
    futures_are_futures,
    host_tasks_take_pointers,
    arrays_and_vectors_move,
];

const N: usize = 1024;

/// MPTR-01, MPTR-02, MPTR-03, MPTR-06
fn pointers_move_whole_and_only_what_is_outdated(rig: &Rig) -> Outcome {
    for gpu in executors(rig)? {
        let x = rig.rt.managed_from(vec![1; N])?;
        ensure!(x.is_accessible() && x.len() == N && !x.is_empty(), "a new pointer is on the host");
        let bytes = if is_away(&gpu) { (N * 4) as u64 } else { 0 };
        gpu.put(&x).wait()?;
        is_on(&x, &gpu)?;
        ensure_eq!(x.counters().host_to_device.bytes, bytes);
        gpu.put(&x).wait()?;
        ensure_eq!(x.counters().transfers().bytes, bytes, "it was there");
        gpu.get(&x).wait()?;
        is_home(&x, &[1; N])?;
        gpu.put(&x).wait()?;
        ensure_eq!(x.counters().transfers().bytes, bytes, "nothing was outdated");
        gpu.run(N, adds(1, &x)).wait()?;
        is_on(&x, &gpu)?;
        x.get().wait()?;
        ensure_eq!(x.counters().device_to_host.bytes, bytes);
        is_home(&x, &[2; N])?;
    }
    Ok(())
}

/// MPTR-02, MPTR-05
fn the_papers_program_with_a_chain(rig: &Rig) -> Outcome {
    for gpu in executors(rig)? {
        let a = rig.rt.managed::<i32>(N)?;
        let b = rig.rt.managed_in::<i32>(&gpu.allocator(), N)?;
        for (at, a) in a.discard()?.iter_mut().enumerate() {
            *a = at as i32;
        }
        let done = managed::put(&gpu, &a)
            .then_put(&gpu, &b)
            .then_async(&gpu, N, adds_up(&a, &b))
            .then_get(&gpu, (&a, &b));
        done.wait()?;
        is_home(&b, &(0..N as i32).collect::<Vec<_>>())?;
        ensure!(a.is_accessible(), "both were moved");
    }
    Ok(())
}

/// MPTR-02, MPTR-05
fn the_papers_program_with_implicit_moves(rig: &Rig) -> Outcome {
    for gpu in executors(rig)? {
        let a = rig.rt.managed_from(vec![3; N])?;
        let b = rig.rt.managed_in::<i32>(&gpu.allocator(), N)?;
        gpu.run(N, adds_up(&a, &b)).wait()?;
        is_on(&a, &gpu)?;
        b.get().wait()?;
        is_home(&b, &[3; N])?;
        is_on(&a, &gpu)?;
    }
    Ok(())
}

/// MPTR-02
fn functions_are_the_same_as_methods(rig: &Rig) -> Outcome {
    let (gpu, host) = (far(rig)?, rig.rt.host_executor()?);
    let x = rig.rt.managed_from(vec![1; N])?;
    let put = managed::put(&gpu, &x);
    let run = managed::run(&gpu, N, adds(1, &x));
    let again = managed::then_async(&run, &gpu, N, adds(1, &x));
    managed::then_get(&again, &gpu, &x).wait()?;
    put.wait()?;
    managed::run_host(&host, &x, |mut x| x[0] = 30).wait()?;
    managed::then_put(&managed::put(&gpu, &x), &host, &x).wait()?;
    managed::get(&gpu, &x).wait()?;
    ensure_eq!(x.read()?[..2], [30, 3]);
    // And as methods of executors.
    let put = gpu.put(&x);
    let run = gpu.then_async(&put, N, adds(1, &x));
    let got = gpu.then_get(&run, &x);
    let back = gpu.then_put(&got, &x);
    host.then_async(&back, &x, |mut x| x[1] += 10).wait()?;
    ensure_eq!(x.read()?[..2], [31, 14]);
    let submitted = gpu.submit(|cg| {
        cg.fill(&x, 7);
        Ok(())
    });
    submitted.then_host(&host, &x, |mut x| x[0] += 1).wait()?;
    ensure_eq!(x.read()?[..2], [8, 7]);
    Ok(())
}

/// MPTR-01
fn pointers_begin_with_what_they_are_made_of(rig: &Rig) -> Outcome {
    let vector = vec![1, 2, 3];
    let at = vector.as_ptr();
    let x = rig.rt.managed_from(vector)?;
    ensure_eq!(x.read()?.as_ptr(), at, "the vector's memory is the pointer's");
    let boxed: Box<[i32]> = Box::new([4, 5]);
    is_home(&rig.rt.managed_from(boxed)?, &[4, 5])?;
    let shared: Arc<[i32]> = Arc::from([6, 7]);
    let y = rig.rt.managed_from(shared.clone())?;
    y.write()?[0] = 60;
    ensure_eq!((&shared[..], &y.read()?[..]), (&[6, 7][..], &[60, 7][..]));
    let z = rig.rt.managed::<i32>(3)?;
    is_home(&z, &[0; 3])?;
    ensure_eq!(z.get().wait()?, (), "it never left");
    let none = rig.rt.managed::<i32>(0)?;
    far(rig)?.put(&none).then_get(&far(rig)?, &none).wait()?;
    is_home(&none, &[])
}

/// A pointer in memory that an executor's device and the host share, where the device has such.
fn in_shared_memory(rig: &Rig, gpu: &Executor) -> Result<Option<ManagedPtr<i32>>, Stop> {
    match rig.rt.managed_in::<i32>(&gpu.shared_allocator(), N) {
        Ok(x) => Ok(Some(x)),
        // USM-01: what a device lacks is told as such.
        Err(Error::Unsupported { what, .. }) if what.contains("Shared") => Ok(None),
        Err(other) => Err(other.into()),
    }
}

/// MPTR-06: shared memory is a region of its own: the device and the host have access, use the same
/// memory in the order of submission, and nothing moves.
fn pointers_in_shared_memory_stay_there(rig: &Rig) -> Outcome {
    for gpu in executors(rig)? {
        let Some(x) = in_shared_memory(rig, &gpu)? else { continue };
        let host = rig.rt.host_executor()?;
        ensure!(x.is_accessible() && x.is_accessible_on(&gpu), "both at once");
        ensure!(x.is_accessible_on(&host), "the host's executor, too");
        ensure_eq!(x.to_vec()?, [0; N]);
        x.write()?[1] = 5;
        let at = x.read()?.as_ptr();
        let done = gpu.put(&x).then_async(&gpu, N, adds(1, &x)).then_get(&gpu, &x);
        ensure!(x.is_accessible() && x.is_accessible_on(&gpu), "no move takes access away");
        done.wait()?;
        ensure_eq!((x.read()?.as_ptr(), &x.read()?[..3]), (at, &[1, 6, 1][..]));
        host.run(&x, |mut x| x[2] = 9).then_put(&gpu, &x).wait()?;
        let q = rig.rt.queue_on(&gpu.device())?;
        q.run(N, adds(1, &x))?;
        x.get().wait()?;
        ensure_eq!((x.read()?.as_ptr(), &x.read()?[..3]), (at, &[2, 7, 10][..]));
        ensure_eq!((x.counters().transfers().bytes, x.counters().allocations), (0, 1));
        // Memory under a guard is not written meanwhile.
        let guard = x.write()?;
        refused!(gpu.run(N, adds(1, &x)).wait(), Error::HostAccessHeld { .. });
        drop(guard);
        let explicit = managed::Executor::<Explicit>::on(&rig.rt, &gpu.device())?;
        explicit.run(N, adds(1, &x)).wait()?;
        ensure_eq!(x.read()?[..3], [3, 8, 11]);
        let mut from = vec![0u8; 4 * N];
        from[0] = 77;
        Channel::new(managed::Stream(&from[..]), &gpu).send(&x).wait()?;
        ensure_eq!(x.read()?[..3], [77, 0, 0]);
    }
    Ok(())
}

/// MPTR-06, MPTR-04: what cannot reach it is refused, and it stays.
fn shared_memory_is_out_of_reach_elsewhere(rig: &Rig) -> Outcome {
    let all = executors(rig)?;
    for gpu in all.iter().filter(|gpu| is_away(gpu)) {
        let Some(x) = in_shared_memory(rig, gpu)? else { continue };
        x.write()?.fill(3);
        for other in all.iter().filter(|other| !other.shares_memory_with(gpu)) {
            ensure!(!x.is_accessible_on(other), "{other:?}");
            refused!(other.put(&x).wait(), Error::Inaccessible { .. });
            refused!(other.run(N, adds(1, &x)).wait(), Error::Inaccessible { .. });
            refused!(Channel::new(gpu, other).send(&x).wait(), Error::Inaccessible { .. });
            let bytes = vec![0u8; 4 * N];
            let sent = Channel::new(managed::Stream(&bytes[..]), other).send(&x);
            refused!(sent.wait(), Error::Inaccessible { .. });
        }
        ensure!(x.is_accessible() && x.is_accessible_on(gpu), "it has not moved");
        ensure_eq!(x.to_vec()?, [3; N]);
        ensure_eq!(x.counters().transfers().bytes, 0);
    }
    let far = far(rig)?;
    let other = rig.builder().build()?;
    refused!(other.managed_in::<i32>(&far.shared_allocator(), N), Error::WrongRuntime { .. });
    Ok(())
}

/// MPTR-01
fn pointers_of_a_device_begin_there(rig: &Rig) -> Outcome {
    for gpu in executors(rig)? {
        let x = rig.rt.managed_in::<i32>(&gpu.allocator(), N)?;
        ensure_eq!((x.counters().allocations, x.counters().zero_fills), (1, 0));
        is_on(&x, &gpu)?;
        x.get().wait()?;
        is_home(&x, &[0; N])?;
        ensure_eq!(x.counters().transfers().bytes, 0, "nothing was written");
    }
    Ok(())
}

/// MPTR-07
fn read_only_pointers_are_in_several_regions(rig: &Rig) -> Outcome {
    let Ok(x) = rig.rt.managed_from(vec![5; N])?.freeze() else {
        return Err(Stop::Failed("it has one handle".into()));
    };
    let all = executors(rig)?;
    for gpu in &all {
        gpu.put(&x).wait()?;
    }
    ensure!(x.is_accessible(), "the host has access");
    ensure!(all.iter().all(|gpu| x.is_accessible_on(gpu)), "all have access");
    let moved = x.counters().transfers();
    let guard = x.read()?;
    for gpu in &all {
        let y = rig.rt.managed::<i32>(N)?;
        gpu.run(N, copies(&x, &y)).then_get(gpu, &y).wait()?;
        is_home(&y, &[5; N])?;
        gpu.put(&x).then_get(gpu, &x).wait()?;
    }
    ensure_eq!(guard[N - 1], 5);
    ensure_eq!(x.counters().transfers(), moved, "it was everywhere");
    let host = rig.rt.host_executor()?;
    host.run(&x, |x| assert_eq!(x[0], 5)).wait()?;
    Ok(())
}

/// MPTR-07
fn frozen_pointers_have_one_handle(rig: &Rig) -> Outcome {
    let x = rig.rt.managed_from(vec![1, 2])?;
    let other = x.clone();
    let Err(x) = x.freeze() else { return Err(Stop::Failed("another handle writes".into())) };
    drop(other);
    let guard = x.write()?;
    let Err(x) = x.freeze() else { return Err(Stop::Failed("a guard writes".into())) };
    drop(guard);
    let Ok(x) = x.freeze() else { return Err(Stop::Failed("nobody else has it".into())) };
    ensure_eq!(x.read()?[..], [1, 2]);
    Ok(())
}

/// MPTR-06
fn policies_are_types(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let strict = Executor::<Explicit, Sequential>::on(&rig.rt, &device)?;
        ensure!(strict.queue().is_in_order(), "each after the one before");
        let x = rig.rt.managed_from(vec![1; N])?;
        if strict.device().info().home != folio_core::hal::MemoryHome::Host {
            refused!(strict.run(N, adds(1, &x)).wait(), Error::Inaccessible { .. });
            is_home(&x, &[1; N])?;
        }
        let put = strict.put(&x);
        strict.run(N, adds(1, &x));
        strict.run(N, adds(1, &x)).then_get(&strict, &x).wait()?;
        ensure!(matches!(put.event()?.status(), Status::Done), "the first comes first");
        is_home(&x, &[3; N])?;
    }
    let host = HostExecutor::<Explicit, Sequential>::of(&rig.rt)?;
    let (gpu, x) = (far(rig)?, rig.rt.managed_from(vec![1; N])?);
    gpu.put(&x).wait()?;
    let ran = host.run(&x, |mut x| x[0] = 2).wait();
    if is_away(&gpu) {
        refused!(ran, Error::Inaccessible { .. });
    }
    host.get(&x).then_host(&host, &x, |mut x| x[0] = 9).wait()?;
    ensure_eq!(x.read()?[..2], [9, 1]);
    Ok(())
}

/// MPTR-06, MPTR-07, XFER-05
fn channels_between_executors(rig: &Rig) -> Outcome {
    let all = executors(rig)?;
    let host = rig.rt.host_executor()?;
    for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        let x = rig.rt.managed_from(vec![1; N])?;
        a.run(N, adds(1, &x)).wait()?;
        let (channel, before) = (Channel::new(a, b), rig.rt.counters());
        channel.send(&x).wait()?;
        is_on(&x, b)?;
        let moved = rig.rt.counters();
        if channel.is_direct()? {
            ensure_eq!(moved.chunks, before.chunks, "a direct path goes nowhere else");
        } else {
            ensure!(moved.chunks > before.chunks, "there is no direct path");
        }
        if !a.shares_memory_with(b) {
            refused!(channel.send(&x).wait(), Error::Inaccessible { .. });
            is_on(&x, b)?;
        }
        Channel::new(b, &host).send(&x).wait()?;
        is_home(&x, &[2; N])?;
    }
    Ok(())
}

/// MPTR-02: without the host between.
fn pointers_move_between_all_devices(rig: &Rig) -> Outcome {
    let all = executors(rig)?;
    let x = rig.rt.managed_from(vec![0; N])?;
    let mut last = None;
    for gpu in all.iter().cycle().take(2 * all.len() + 1) {
        last = Some(gpu.run(N, adds(1, &x)));
    }
    if let Some(last) = last {
        last.wait()?;
    }
    x.get().wait()?;
    is_home(&x, &[2 * all.len() as i32 + 1; N])
}

/// MPTR-02: under an executor that polls only when it is woken; detached when dropped.
fn futures_are_futures(rig: &Rig) -> Outcome {
    for gpu in executors(rig)? {
        let x = rig.rt.managed_from(vec![1; N])?;
        let y = rig.rt.managed::<i32>(N)?;
        block_on(async {
            gpu.put((&x, &y)).await?;
            gpu.run(N, copies(&x, &y)).await?;
            gpu.get([&x, &y]).await
        })??;
        is_home(&y, &[1; N])?;
        drop(gpu.put(&x));
        drop(gpu.run(N, adds(1, &x)));
        let fork = gpu.run(N, adds(1, &x));
        drop(fork.clone());
        let both = [fork.clone().then_get(&gpu, &x), fork.then_get(&gpu, &x)];
        for one in both {
            block_on(one)??;
        }
        is_home(&x, &[3; N])?;
    }
    Ok(())
}

/// MPTR-02
fn host_tasks_take_pointers(rig: &Rig) -> Outcome {
    let (gpu, host) = (far(rig)?, rig.rt.host_executor()?);
    let [x, y] = [1, 2].map(|n| rig.rt.managed_from(vec![n; N]));
    let (x, y) = (x?, y?);
    gpu.put((&x, &y))
        .then_host(&host, (&x, &y), |(mut x, y)| x[0] = y[0] * 10)
        .then_host(&host, [&x, &y], |[x, mut y]| y[1] = x[0])
        .then_host(&host, (), |()| ())
        .wait()?;
    ensure_eq!((x.read()?[0], y.read()?[1]), (20, 20));
    Ok(())
}

/// MPTR-06
fn arrays_and_vectors_move(rig: &Rig) -> Outcome {
    for gpu in executors(rig)? {
        let x = ManagedArray::new(&rig.rt, [1, 2, 3])?;
        gpu.run(x.len(), adds(10, &x)).then_get(&gpu, &x).wait()?;
        ensure_eq!(x.to_array()?, [11, 12, 13]);
        let mut v = ManagedVec::new(&rig.rt)?;
        for n in 0..20 {
            v.push(n)?;
        }
        ensure!(v.capacity() >= 20 && v.len() == 20, "{v:?}");
        gpu.run(v.len(), adds(100, &v)).wait()?;
        ensure!(v.is_accessible_on(&gpu), "a task puts it");
        if is_away(&gpu) {
            refused!(v.push(1), Error::Inaccessible { .. });
            refused!(v.pop(), Error::Inaccessible { .. });
            refused!(v.reserve(100), Error::Inaccessible { .. });
            ensure_eq!(v.len(), 20);
        }
        v.get().wait()?;
        ensure_eq!(v.pop()?, Some(119));
        v.truncate(2);
        v.extend_from_slice(&[7; 30])?;
        ensure_eq!(v.read()?[..4], [100, 101, 7, 7]);
        v.write()?[0] = 1;
        gpu.run(v.len(), adds(1, &v)).then_get(&gpu, &v).wait()?;
        ensure_eq!((v.len(), v.read()?[0], v.read()?[31]), (32, 2, 8));
        v.truncate(0);
        ensure_eq!((v.pop()?, v.is_empty()), (None, true));
    }
    Ok(())
}
