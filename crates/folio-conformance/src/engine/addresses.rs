//! Addresses of linked memory: where host and device find it at one, that is given; otherwise the
//! buffer leaves its link, once.

use super::links::{N, Pages, linking};
use super::rig::*;
use super::tests;
use super::usm::{copy, fill};
use folio_core::hal::MemoryHome;
use folio_core::{
    Buffer, BufferOptions, Destination, DeviceRef, Error, Event, Queue, Runtime, UsmPtr,
    buffer::ViewPolicy,
    memory::{Evict, Linkage, Links, NotLinked},
};

tests![
    pointers_of_linked_buffers_work_everywhere,
    an_address_costs_one_copy,
    runs_go_on_when_an_address_was_given,
    views_write_back_what_was_written_by_address,
    guards_stay_where_an_address_is_given,
    an_address_waits_for_commands_in_flight,
    an_address_that_does_not_fit_changes_nothing,
    linked_memory_with_an_address_stays,
    the_hosts_side_has_an_address,
];

/// The pointer of a linked buffer.
fn pointer(x: &Buffer<i32>, device: &DeviceRef) -> Result<UsmPtr, Stop> {
    match x.pointer(device) {
        Err(Error::Unsupported { .. }) => unsupported("linked memory with addresses"),
        pointer => {
            let pointer = pointer?;
            ensure!(pointer.address().is_some(), "a pointer without an address");
            Ok(pointer)
        }
    }
}

/// The contents behind a pointer after an event.
fn behind(
    (rt, q): (&Runtime, &Queue),
    after: &[&Event],
    at: UsmPtr,
    n: usize,
) -> Result<Vec<i32>, Stop> {
    let mut out = vec![0i32; n];
    let host = UsmPtr::of_host(rt, out.as_mut_ptr().cast(), 4 * n);
    copy(q, after, at, host, [1, 1, 4 * n])?.wait()?;
    Ok(out)
}

/// Host and device are still one after an address was given: they find the memory at the same.
fn is_linked(x: &Buffer<i32>, q: &Queue) -> Result<bool, Stop> {
    match x.linkage(&q.device())? {
        Linkage::Linked => Ok(true),
        Linkage::NotLinked(NotLinked::Pointed) => Ok(false),
        other => Err(Stop::Failed(format!("{other:?}"))),
    }
}

/// BUF-02, BUF-03, LINK-02: in copies, fills and queries; and the address stays.
fn pointers_of_linked_buffers_work_everywhere(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let device = q.device();
        let mut x = rt.buffer_from(&[1, 2, 3, 4, 5, 6, 7, 8])?;
        add(q, &mut x, 1)?;
        ensure_eq!(x.linkage(&device)?, Linkage::Linked);
        let at = pointer(&x, &device)?;
        ensure_eq!(behind((&rt, q), &[&x.written()?], at, 8)?, [2, 3, 4, 5, 6, 7, 8, 9]);
        let found = at.address().and_then(|address| rt.query(address + 8));
        ensure_eq!(found.map(|(_, info)| info.offset), Some(8));
        let Some(second) = at.offset(4) else { return unsupported("offsets") };
        fill(q, &[&x.written()?], second, [1, 1, 2], 70)?.wait()?;
        // SAFETY: the fill has written both, and nothing else uses the buffer.
        unsafe { x.assume_written([1], [2], &device)? };
        ensure_eq!(x.to_vec()?, [2, 70, 70, 5, 6, 7, 8, 9]);
        add(q, &mut x, 1)?;
        x.write()?[0] = 100;
        add(q, &mut x, 1)?;
        let wanted = [101, 72, 72, 7, 8, 9, 10, 11];
        ensure_eq!(behind((&rt, q), &[&x.written()?], at, 8)?, wanted);
        ensure_eq!(x.to_vec()?, wanted);
        ensure_eq!(pointer(&x, &device)?.address(), at.address());
        ensure_eq!(x.get(7)?, 11);
    }
    Ok(())
}

/// LINK-02, XFER-06: of the contents; asked for again it costs nothing. All memory comes back.
fn an_address_costs_one_copy(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for (q, fresh) in queues.iter().flat_map(|q| [(q, false), (q, true)]) {
        let device = q.device();
        let in_use = device.budget().1;
        let mut x = if fresh { rt.buffer(N)? } else { rt.buffer_from(&[0; N])? };
        add(q, &mut x, 5)?;
        let before = rt.counters();
        let at = pointer(&x, &device)?;
        let after = rt.counters();
        let new = u64::from(!is_linked(&x, q)?);
        ensure_eq!(after.transfers().bytes - before.transfers().bytes, new * 4 * N as u64);
        ensure_eq!(after.host_to_device.operations - before.host_to_device.operations, new);
        ensure_eq!(after.allocations - before.allocations, new);
        ensure_eq!(pointer(&x, &device)?.address(), at.address());
        ensure_eq!(rt.counters(), after);
        add(q, &mut x, 1)?;
        ensure_eq!(x.to_vec()?, vec![6; N]);
        ensure_eq!(behind((&rt, q), &[&x.written()?], at, N)?, vec![6; N]);
        drop(x);
        rt.wait()?;
        eventually("the memory is free", || device.budget().1 == in_use)?;
    }
    Ok(())
}

/// BUF-02, GRAPH-01: a graph that names the buffer finds its memory, before and afterwards.
fn runs_go_on_when_an_address_was_given(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let mut x = rt.buffer_from(&[0; 8])?;
        let graph = rt.graph(&q.device())?;
        graph.add(|cg| cg.run(8, adds(1, &mut x)))?;
        graph.add(|cg| cg.run(8, adds(2, &mut x)))?;
        graph.add(|cg| {
            let x = cg.read_write(&mut x);
            cg.each_run().host_task(x, |mut x| x.iter_mut().for_each(|x| *x += 10));
            Ok(())
        })?;
        let run = graph.finalize()?;
        q.run_graph(&run)?;
        q.run_graph(&run)?;
        let at = pointer(&x, &q.device())?;
        ensure_eq!(behind((&rt, q), &[&x.written()?], at, 8)?, [26; 8]);
        let kernels = rt.graph(&q.device())?;
        for _ in 0..3 {
            kernels.add(|cg| cg.run(8, adds(1, &mut x)))?;
        }
        let kernels = kernels.finalize()?;
        for _ in 0..4 {
            q.run_graph(&run)?;
            q.run_graph(&kernels)?;
        }
        ensure_eq!(x.to_vec()?, [26 + 4 * 16; 8]);
        ensure_eq!(pointer(&x, &q.device())?.address(), at.address());
    }
    Ok(())
}

/// POL-03, LINK-03: the program's memory is the program's again, with the latest contents.
fn views_write_back_what_was_written_by_address(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let (device, data) = (q.device(), Pages::new());
        let (address, in_use) = (data.address(), device.budget().1);
        let (mut x, mut back) = rt.view(N, data, ViewPolicy::SyncWriteback).map_err(Error::from)?;
        add(q, &mut x, 1)?;
        let at = pointer(&x, &device)?;
        fill(q, &[&x.written()?], at, [1, 1, 2], 70)?.wait()?;
        // SAFETY: the fill has written both, and nothing else uses the view.
        unsafe { x.assume_written([0], [2], &device)? };
        drop(x);
        let data = back.take()?;
        let elements = data.elements();
        ensure_eq!((data.address(), &elements[..3]), (address, &[70, 70, 2][..]));
        ensure!(elements[3..].iter().all(|x| *x == 2), "{:?}", &elements[..9]);
        eventually("the memory is free", || device.budget().1 == in_use)?;
    }
    Ok(())
}

/// LINK-04: what a guard shows stays where it is.
fn guards_stay_where_an_address_is_given(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let mut x = rt.buffer_from(&[1; 100])?;
        add(q, &mut x, 1)?;
        let guard = x.read()?;
        let at = pointer(&x, &q.device())?;
        ensure_eq!(behind((&rt, q), &[&x.written()?], at, 100)?, [2; 100]);
        refused!(add(q, &mut x, 1), Error::HostAccessHeld { .. });
        ensure_eq!(guard[..], [2; 100]);
        drop(guard);
        add(q, &mut x, 1)?;
        ensure_eq!(x.to_vec()?, [3; 100]);
    }
    Ok(())
}

/// DEP-02: of what was submitted before, nothing is lost.
fn an_address_waits_for_commands_in_flight(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let mut x = rt.buffer_from(&[0; 1000])?;
        for _ in 0..20 {
            add(q, &mut x, 1)?;
        }
        q.submit(|cg| {
            let x = cg.read_write(&mut x);
            cg.host_task(x, |mut x| {
                x.iter_mut().for_each(|x| *x += 100);
                Ok::<(), Error>(())
            });
            Ok(())
        })?;
        add(q, &mut x, 1)?;
        let at = pointer(&x, &q.device())?;
        ensure_eq!(behind((&rt, q), &[&x.written()?], at, 1000)?, [121; 1000]);
        ensure_eq!(x.to_vec()?, [121; 1000]);
    }
    Ok(())
}

/// MEM-01, ERR-01: the buffer is as linked as before.
fn an_address_that_does_not_fit_changes_nothing(rig: &Rig) -> Outcome {
    const BYTES: u64 = 4 * N as u64;
    for q in linking(rig)?.1 {
        let name = q.device().name().to_owned();
        let rt = rig.builder().links(Links::On).budget(&name, BYTES).build()?;
        let q = rt.queue_on(name.as_str())?;
        let mut x = rt.buffer(N)?;
        add(&q, &mut x, 3)?;
        let before = rt.counters();
        match x.pointer(&q.device()) {
            // Both find it at one address.
            Ok(_) => continue,
            refused => refused!(refused, Error::OutOfMemory { in_use: BYTES, limit: BYTES, .. }),
        }
        ensure_eq!(x.linkage(&q.device())?, Linkage::Linked);
        ensure_eq!(rt.counters().transfers(), before.transfers());
        ensure_eq!(rt.counters().allocations, before.allocations);
        ensure_eq!((x.to_vec()?, q.device().budget().1), (vec![3; N], BYTES));
        add(&q, &mut x, 1)?;
        q.device().set_budget(2 * BYTES);
        let at = pointer(&x, &q.device())?;
        // Memory that was for both is the host's now.
        ensure_eq!(q.device().budget().1, BYTES);
        ensure_eq!(behind((&rt, &q), &[&x.written()?], at, N)?, vec![4; N]);
        ensure_eq!(x.to_vec()?, vec![4; N]);
    }
    Ok(())
}

/// MEM-01, LINK-02: it is not evicted, until the program gives it back.
fn linked_memory_with_an_address_stays(rig: &Rig) -> Outcome {
    const BYTES: u64 = 4 * N as u64;
    for q in linking(rig)?.1 {
        let name = q.device().name().to_owned();
        let rt = rig.builder().links(Links::On).budget(&name, BYTES).build()?;
        let (q, how) = (rt.queue_on(name.as_str())?, Evict::dirty());
        let options = BufferOptions::new().evict(how);
        let mut x = rt.buffer_with(&[1; N], options)?;
        add(&q, &mut x, 1)?;
        ensure_eq!((x.linkage(&q.device())?, q.device().budget().1), (Linkage::Linked, 0));
        let at = pointer(&x, &q.device())?;
        if is_linked(&x, &q)? {
            continue;
        }
        let mut y = rt.buffer::<i32, 1>(N)?;
        refused!(add(&q, &mut y, 1), Error::OutOfMemory { in_use: BYTES, .. });
        ensure_eq!(behind((&rt, &q), &[&x.written()?], at, N)?, vec![2; N]);
        x.release(&q.device())?;
        add(&q, &mut y, 1)?;
        ensure_eq!((x.to_vec()?, y.to_vec()?), (vec![2; N], vec![1; N]));
    }
    Ok(())
}

/// BUF-02, LINK-02: by the host's address, too, a program finds the contents at any time.
fn the_hosts_side_has_an_address(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    let host = rt.devices().into_iter().find(|d| d.info().home == MemoryHome::Host);
    let Some(host) = host else {
        return unsupported("a device in the host's memory beside one that links");
    };
    let h = rt.queue_on(&host)?;
    for q in &queues {
        for first in [true, false] {
            let mut x = rt.buffer_from(&[1; 100])?;
            if first {
                add(q, &mut x, 1)?;
                ensure_eq!(x.linkage(&q.device())?, Linkage::Linked);
            } else {
                x.write()?.fill(2);
            }
            let at = pointer(&x, &host)?;
            ensure_eq!(x.allocations()[0].address, at.address());
            ensure_eq!(behind((&rt, &h), &[&x.written()?], at, 100)?, [2; 100]);
            add(q, &mut x, 1)?;
            is_linked(&x, q)?;
            q.submit(|cg| {
                cg.prefetch(&x, Destination::Host);
                Ok(())
            })?
            .wait()?;
            ensure_eq!(behind((&rt, &h), &[&x.written()?], at, 100)?, [3; 100]);
            fill(&h, &[&x.written()?], at, [1, 1, 2], 70)?.wait()?;
            // SAFETY: the fill has written both, and nothing else uses the buffer.
            unsafe { x.assume_written([0], [2], &host)? };
            add(q, &mut x, 1)?;
            ensure_eq!(x.to_vec()?[..3], [71, 71, 4]);
            ensure_eq!(x.pointer(&host)?.address(), at.address());
        }
    }
    Ok(())
}
