//! Host guards.

use super::rig::*;
use super::tests;
use folio_core::{Buffer, BufferOptions, Destination, Error};
use std::sync::atomic::{AtomicBool, Ordering};

tests![
    guards_keep_conflicting_commands_out,
    guards_know_pages,
    a_second_reader_is_let_in,
    vectors_are_read_in_order_and_refuse_nobody,
    guards_see_and_leave_the_latest,
    overwriting_guards_bring_nothing,
    guards_may_outlive_their_buffer,
    leaked_guards_harm_nobody,
    parts_tell_their_shape,
    parts_are_taken_again,
    a_refused_read_allocates_nothing,
];

fn one_page(rig: &Rig) -> Result<Buffer<i32>, Stop> {
    Ok(rig.rt.buffer_from(&[1, 2, 3, 4])?)
}

/// DEP-04, ERR-01
fn guards_keep_conflicting_commands_out(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut x = one_page(rig)?;
        let mut y = rig.rt.buffer::<i32, 1>(4)?;
        let before = rig.rt.counters();
        let reader = x.read()?;
        refused!(add(&q, &mut x, 1), Error::HostAccessHeld { .. });
        refused!(x.write(), Error::HostAccessHeld { .. });
        refused!(x.discard(), Error::HostAccessHeld { .. });
        ensure_eq!(rig.rt.counters(), before, "a refused command left something");
        read_into(&q, &x, &mut y)?.wait()?;
        drop(reader);
        let writer = x.write()?;
        refused!(add(&q, &mut x, 1), Error::HostAccessHeld { .. });
        refused!(read_into(&q, &x, &mut y), Error::HostAccessHeld { .. });
        refused!(x.read(), Error::HostAccessHeld { .. });
        refused!(x.read_async(), Error::HostAccessHeld { .. });
        drop(writer);
        add(&q, &mut x, 1)?;
        ensure_eq!((x.to_vec()?, y.to_vec()?), (vec![2, 3, 4, 5], vec![1, 2, 3, 4]));
    }
    Ok(())
}

/// DEP-01, PAGE-02
fn guards_know_pages(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let options = BufferOptions::new().page([2]);
    let x = rig.rt.buffer_with((&[1, 2, 3, 4, 5, 6], [6]), options)?.into_shared();
    let mut guard = x.slice_mut([2], [2])?.write()?;
    let task = |at: usize| q.run(1, adds(10, x.slice_mut([at], [1])?));
    for at in [0, 1, 4, 5] {
        task(at)?;
    }
    for at in [2, 3] {
        refused!(task(at), Error::HostAccessHeld { .. });
    }
    ensure_eq!(&guard[..], [3, 4]);
    guard[0] = 30;
    drop(guard);
    ensure_eq!(x.to_vec()?, [11, 12, 30, 4, 15, 16]);
    Ok(())
}

/// DEP-04
fn a_second_reader_is_let_in(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = one_page(rig)?;
    add(&q, &mut x, 1)?;
    let (first, second) = (x.read()?, x.read()?);
    let third = x.read_async()?.wait()?;
    ensure_eq!(&first[..], &second[..]);
    drop(first);
    ensure_eq!(&third[..], [2, 3, 4, 5]);
    refused!(add(&q, &mut x, 1), Error::HostAccessHeld { .. });
    drop((second, third));
    add(&q, &mut x, 1)?.wait()?;
    Ok(())
}

/// DEP-02: `to_vec` of other threads holds nothing, and sees what was there when it was called.
fn vectors_are_read_in_order_and_refuse_nobody(rig: &Rig) -> Outcome {
    const WRITES: i32 = 300;
    let devices = rig.rt.devices().len();
    let x = rig.rt.buffer_from(&[0; 64])?.into_shared();
    let done = AtomicBool::new(false);
    let poll = || -> Outcome {
        let mut last = 0;
        loop {
            let over = done.load(Ordering::Acquire);
            let seen = x.to_vec()?;
            ensure!(seen.iter().all(|v| *v == seen[0]), "between two writes: {seen:?}");
            ensure!(seen[0] >= last, "{} after {last}", seen[0]);
            last = seen[0];
            if over {
                ensure_eq!(last, WRITES);
                return Ok(());
            }
        }
    };
    let queues = (0..devices).map(|at| rig.on(at)).collect::<Result<Vec<_>, _>>()?;
    let (written, seen) = std::thread::scope(|scope| {
        let pollers = [scope.spawn(poll), scope.spawn(poll)];
        let write = |n: i32| queues[n as usize % devices].run(64, adds(1, &x)).map(drop);
        let written = (0..WRITES).try_for_each(write);
        done.store(true, Ordering::Release);
        (written, pollers.map(|poller| poller.join()))
    });
    written?;
    for seen in seen {
        seen.unwrap_or_else(|_| Err(Stop::Failed("a thread panicked".into())))?;
    }
    Ok(())
}

/// DEP-02, PAGE-03
fn guards_see_and_leave_the_latest(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut x = paged(&rig.rt, &[0i32; 8])?;
        for n in 0..10 {
            set(&q, &mut x, 0, 4, n)?;
            {
                let mut part = x.slice_mut([2], [4])?;
                let mut guard = part.write()?;
                ensure_eq!(guard[0], n, "device {at}");
                guard[1] = 100 + n;
                guard[3] = 200 + n;
            }
            add(&q, &mut x, 1)?;
            let all = x.read()?;
            ensure_eq!((all[0], all[3], all[5]), (n + 1, 101 + n, 201 + n), "device {at}");
        }
    }
    Ok(())
}

/// XFER-01, BUF-07
fn overwriting_guards_bring_nothing(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let mut x = rig.rt.buffer::<i32, 1>(4)?;
    set(&q, &mut x, 0, 4, 7)?;
    x.discard()?.copy_from_slice(&[1, 2, 3, 4]);
    ensure_eq!(x.counters().device_to_host.bytes, 0);
    add(&q, &mut x, 1)?;
    ensure_eq!(x.to_vec()?, [2, 3, 4, 5]);
    Ok(())
}

/// POL-04, POL-05
fn guards_may_outlive_their_buffer(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = one_page(rig)?;
    add(&q, &mut x, 1)?;
    let reader = x.read()?;
    drop((x, q));
    ensure_eq!(&reader[..], [2, 3, 4, 5]);
    Ok(())
}

/// POL-05
fn leaked_guards_harm_nobody(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = one_page(rig)?;
    std::mem::forget(x.read()?);
    refused!(add(&q, &mut x, 1), Error::HostAccessHeld { .. });
    let mut y = rig.rt.buffer::<i32, 1>(4)?;
    read_into(&q, &x, &mut y)?;
    drop(x);
    ensure_eq!(y.to_vec()?, [1, 2, 3, 4]);
    Ok(())
}

/// PAGE-02
fn parts_tell_their_shape(rig: &Rig) -> Outcome {
    let data: Vec<i32> = (0..60).collect();
    let mut x = rig.rt.buffer_from((&data, [3, 4, 5]))?;
    let slice = x.slice([1, 1, 1], [2, 3, 2])?;
    ensure_eq!((slice.range(), slice.len(), slice.is_empty()), ([2, 3, 2], 12, false));
    let rows = slice.read_rows()?;
    ensure_eq!((rows.rows(), rows.len(), rows.is_empty()), (6, 12, false));
    ensure_eq!((0..rows.rows()).filter_map(|r| rows.row(r)).flatten().count(), rows.len());
    ensure!(rows.row(rows.rows()).is_none(), "there is a row after the last");
    drop(rows);
    let mut empty = x.slice_mut([0, 0, 0], [3, 0, 5])?;
    ensure_eq!((empty.range(), empty.len(), empty.is_empty()), ([3, 0, 5], 0, true));
    let rows = empty.write_rows()?;
    ensure_eq!((rows.rows(), rows.len(), rows.is_empty()), (0, 0, true));
    Ok(())
}

/// DEP-05: parts and buffers are taken by reference, too, and may be used again.
fn parts_are_taken_again(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = one_page(rig)?;
    let mut low = x.slice_mut([0], [2])?;
    for _ in 0..2 {
        q.run(2, adds(10, &mut low))?;
    }
    q.submit(|cg| {
        cg.prefetch(&low, Destination::Device);
        Ok(())
    })?;
    let (mut unique, mut y) = (&mut x, rig.rt.buffer::<i32, 1>(4)?);
    q.submit(|cg| {
        cg.copy(&unique, &mut y);
        Ok(())
    })?;
    add(&q, unique, 1)?;
    q.run(4, adds(1, &mut unique))?;
    ensure_eq!((unique.to_vec()?, y.to_vec()?), (vec![23, 24, 5, 6], vec![21, 22, 3, 4]));
    Ok(())
}

/// DEP-04, ERR-01: a task that may not wait for a buffer gets no memory for it on the host.
fn a_refused_read_allocates_nothing(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let (x, gate) = (rig.rt.buffer::<i32, 1>(1000)?.into_shared(), Gate::new());
    let (door, mine) = (gate.door(), x.clone());
    let task = q.submit(|cg| {
        cg.host_task((), move |()| {
            door.pass();
            mine.to_vec().map(drop)
        });
        Ok(())
    })?;
    q.submit(|cg| {
        cg.after(&task).run(1000, puts(5, &x));
        Ok(())
    })?;
    gate.open();
    let failed = failure(task.wait())?;
    ensure!(failed.to_string().contains("own completion"), "{failed}");
    ensure_eq!(x.counters().allocations, 1, "the device's");
    ensure!(q.wait().is_err(), "the kernel fails with the task");
    Ok(())
}
