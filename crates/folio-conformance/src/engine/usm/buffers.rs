//! How USM becomes buffers, and buffers become USM.

use super::*;

/// USM-02, BUF-07: of fresh memory of a buffer only a part was written by way of the address.
pub(super) fn what_is_beside_a_write_by_address_is_zero(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let q = rig.rt.queue_on(&device)?;
        let mut x = rig.rt.buffer_with::<u32, 1>([6], BufferOptions::new().page([4]))?;
        let pointer = match x.pointer(&device) {
            Err(Error::Unsupported { .. }) => return unsupported("addresses"),
            other => other?,
        };
        let Some(start) = pointer.offset(4) else { return unsupported("offsets") };
        fill(&q, &[], start, [1, 1, 2], 7)?.wait()?;
        // SAFETY: the fill has written both, and nothing else uses the buffer.
        unsafe { x.assume_written([1], [2], &device)? };
        ensure_eq!(x.to_vec()?, [0, 7, 7, 0, 0, 0], "on {}", device.name());
        ensure_eq!(
            x.counters().transfers().bytes,
            if device.info().home == MemoryHome::Host { 0 } else { 16 }
        );
    }
    Ok(())
}

/// BUF-02, BUF-03: in copies, fills, queries and kernels; what it wrote is announced.
pub(super) fn pointers_of_buffers_work_everywhere(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let q = rig.rt.queue_on(&device)?;
        let mut x = rig.rt.buffer_from(&[1u32, 2, 3, 4, 5, 6, 7, 8])?;
        q.submit(|cg| {
            cg.prefetch(&x, Destination::Device);
            Ok(())
        })?
        .wait()?;
        let pointer = match x.pointer(&device) {
            Err(Error::Unsupported { .. }) => return unsupported("memory with addresses"),
            pointer => pointer?,
        };
        let Some(address) = pointer.address() else {
            return Err(Stop::Failed("a pointer without an address".into()));
        };
        let Some((found, info)) = rig.rt.query(address + 8) else {
            return Err(Stop::Failed(format!("the buffer on {device:?} is not found")));
        };
        // Devices in one memory share its allocations.
        ensure_eq!((found.info().home, info.offset), (device.info().home, 8));
        let ready = x.written()?;
        let filled = fill(&q, &[&ready], further(pointer, 4)?, [1, 1, 2], 70)?;
        let mut own = [80u32, 81];
        let host = UsmPtr::of_host(&rig.rt, own.as_mut_ptr().cast(), 8);
        let last =
            UsmPtr::of_host(&rig.rt, std::ptr::without_provenance_mut(usize::MAX), usize::MAX);
        ensure!(host.offset(9).is_none() && last.offset(1).is_none(), "places beyond memory");
        let copied = copy(&q, &[&filled], host, further(pointer, 12)?, [1, 1, 8])?;
        let raw = if device.info().caps.closures {
            q.submit(|cg| {
                cg.after(&copied).host_kernel([1], (), move |_, ()| {
                    let last = std::ptr::with_exposed_provenance_mut::<u32>(address as usize + 28);
                    // SAFETY: the buffer has eight elements there, and the commands are ordered.
                    unsafe { last.write(last.read() + 82) };
                });
                Ok(())
            })?
        } else {
            fill(&q, &[&copied], further(pointer, 28)?, [1, 1, 1], 90)?
        };
        raw.wait()?;
        // SAFETY: they have been written, and are in no other use.
        unsafe { x.assume_written([1], [4], &device)? };
        // SAFETY: as above.
        unsafe { x.assume_written([7], [1], &device)? };
        ensure_eq!(x.to_vec()?, [1, 70, 70, 80, 81, 6, 7, 90], "{device:?}");
        add_one(&q, &mut x)?;
        ensure_eq!(contents(rig, &q, &[&x.written()?], pointer, 2)?, [2, 71]);
        ensure_eq!(x.pointer(&device)?.address(), Some(address));
    }
    Ok(())
}

/// BUF-03: any kind becomes the buffer's memory on its device; nothing is copied there.
pub(super) fn usm_becomes_a_buffer(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let q = rig.rt.queue_on(&device)?;
        for kind in kinds(rig, &device)? {
            let (usm, there) = filled(rig, &q, kind, &[4; 40])?;
            let pointer = usm.pointer();
            there.wait()?;
            let before = rig.rt.counters();
            let mut x = usm.into_buffer();
            add_one(&q, &mut x)?;
            ensure_eq!(rig.rt.counters().transfers(), before.transfers());
            ensure_eq!(rig.rt.counters().allocations, before.allocations);
            ensure_eq!(contents(rig, &q, &[&x.written()?], pointer, 40)?, [5; 40]);
            if pointer.address().is_some() {
                ensure_eq!(x.pointer(&device)?.address(), pointer.address());
            }
            ensure_eq!(x.to_vec()?, [5; 40], "{kind:?} on {device:?}");
            for other in rig.rt.devices() {
                add_one(&rig.rt.queue_on(&other)?, &mut x)?;
            }
            let want = 5 + rig.rt.devices().len() as u32;
            ensure_eq!(x.to_vec()?, [want; 40]);
        }
    }
    Ok(())
}

/// BUF-03: over what somebody else owns, whole or from somewhere in the middle, given as current or
/// as empty; over the host's memory too.
pub(super) fn buffers_over_pointers(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let q = rig.rt.queue_on(&device)?;
        for kind in kinds(rig, &device)? {
            let data: Vec<u32> = (0..32).collect();
            let (usm, there) = filled(rig, &q, kind, &data)?;
            there.wait()?;
            let part = further(usm.pointer(), 32)?;
            let before = rig.rt.counters();
            // SAFETY: `usm` lives longer, and is not used meanwhile.
            let mut x = unsafe { part.buffer::<u32>(&rig.rt, 16, true)? };
            add_one(&q, &mut x)?;
            ensure_eq!(rig.rt.counters().transfers(), before.transfers());
            let want: Vec<u32> = (9..25).collect();
            ensure_eq!(x.to_vec()?, want, "{kind:?} on {device:?}");
            x.written()?.wait()?;
            drop(x);
            let found = contents(rig, &q, &[], usm.pointer(), 32)?;
            ensure_eq!((found[7], found[8], found[23], found[24]), (7, 9, 24, 24));
            // Empty: it reads as zero, wherever.
            // SAFETY: as above.
            let x = unsafe { usm.pointer().buffer::<u32>(&rig.rt, 32, false)? };
            ensure_eq!(x.to_vec()?, [0; 32]);
            // SAFETY: as above.
            let mut x = unsafe { part.buffer::<u32>(&rig.rt, 4, false)? };
            add_one(&q, &mut x)?;
            ensure_eq!(x.to_vec()?, [1; 4]);
            rig.rt.wait()?;
        }
        let mut own = vec![5u32; 8];
        let host = UsmPtr::of_host(&rig.rt, own.as_mut_ptr().cast(), 32);
        // SAFETY: `own` lives longer, and is not used meanwhile.
        let mut x = unsafe { host.buffer::<u32>(&rig.rt, 8, true)? };
        add_one(&q, &mut x)?;
        q.submit(|cg| {
            cg.prefetch(&x, Destination::Host);
            Ok(())
        })?
        .wait()?;
        drop(x);
        ensure_eq!(own, [6; 8]);
    }
    Ok(())
}

/// DEP-05: one command that names memory twice, by way of what it belongs to and of a buffer over a
/// pointer to it, or of two such buffers.
pub(super) fn memory_of_two_owners_in_one_command(rig: &Rig) -> Outcome {
    let over = |at: UsmPtr, len: usize| {
        // SAFETY: what the memory belongs to lives longer, and no two commands that use it run at
        // the same time.
        unsafe { at.buffer::<i32>(&rig.rt, len, true) }
    };
    for device in rig.rt.devices() {
        let q = rig.rt.queue_on(&device)?;
        for kind in kinds(rig, &device)? {
            let mut usm = rig.rt.usm::<i32>(&device, kind, 16)?;
            let mut x = over(further(usm.pointer(), 16)?, 8)?;
            let mut y = over(further(usm.pointer(), 40)?, 4)?;
            // The buffer is elements 4 to 12 of the whole, the other one 10 to 14.
            refused!(q.run(8, copies(usm.slice(0, 8)?, &mut x)), Error::Aliasing { .. });
            refused!(q.run(8, copies(&x, usm.slice_mut(8, 8)?)), Error::Aliasing { .. });
            let (last, to_last) = (usm.slice(11, 1)?, x.slice_mut([7], [1])?);
            refused!(q.run(1, copies(last, to_last)), Error::Aliasing { .. });
            refused!(q.run(4, copies(x.slice([4], [4])?, &mut y)), Error::Aliasing { .. });
            refused!(q.run(2, copies(&y, x.slice_mut([6], [2])?)), Error::Aliasing { .. });
            // Elements 7 and 11, in two rows.
            let column = |at: usize, x: &mut Buffer<i32>| {
                q.submit(|cg| {
                    cg.read(usm.window([4, 4], [1, 3], [2, 1])?);
                    cg.fill(x.slice_mut([at], [1])?, 1);
                    Ok(())
                })
            };
            for at in [3, 7] {
                refused!(column(at, &mut x), Error::Aliasing { .. });
            }
            column(5, &mut x)?.wait()?;
            // Where they do not meet, or nothing is written.
            q.run(4, copies(usm.slice(0, 4)?, &mut x))?.wait()?;
            q.run(4, copies(&x, usm.slice_mut(12, 4)?))?.wait()?;
            q.run(2, copies(&y, x.slice_mut([4], [2])?))?.wait()?;
            q.submit(|cg| {
                cg.read(&x);
                cg.read(&usm);
                cg.prefetch(&y, Destination::Device);
                Ok(())
            })?;
            rig.rt.wait()?;
        }
    }
    let mut own = vec![1i32; 8];
    let at = UsmPtr::of_host(&rig.rt, own.as_mut_ptr().cast(), 32);
    let (x, mut y) = (over(at, 6)?, over(further(at, 8)?, 6)?);
    let q = rig.queue()?;
    refused!(q.run(6, copies(&x, &mut y)), Error::Aliasing { .. });
    q.run(2, copies(&x, y.slice_mut([4], [2])?))?.wait()?;
    rig.rt.wait()?;
    drop((x, y, own));
    Ok(())
}

/// POL-06: each allocation, whose it is, and what is current there.
pub(super) fn allocations_are_listed(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let mut x = rig.rt.buffer_with(vec![1; 8], BufferOptions::new().page([2]))?;
    ensure_eq!(x.allocations().len(), 1);
    set(&q, &mut x, 2, 2, 9)?.wait()?;
    let all = x.allocations();
    ensure_eq!(all.len(), 2);
    let (host, device) = (&all[0], &all[1]);
    ensure_eq!((host.device.is_none(), host.owned, host.current, host.pages), (true, true, 3, 4));
    let named = device.device.as_ref().map(|device| device.name().to_owned());
    ensure_eq!((named.as_deref(), device.current), (Some(q.device().name()), 1));
    let mut data = vec![1; 8];
    rig.rt.scope(|scope| -> Outcome {
        let view = scope.view_mut(&mut data)?;
        ensure!(!view.allocations()[0].owned, "the program's");
        Ok(())
    })?
}

/// POL-06, BUF-02: as USM, at the same place; the buffer goes on without it.
pub(super) fn an_allocation_is_taken_out(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let mut x = rig.rt.buffer_from(&[1; 8])?;
    add(&q, &mut x, 1)?;
    q.wait()?;
    let before = rig.rt.counters();
    refused!(x.take_allocation(&q.device()), Error::OnlyCopy { .. });
    ensure_eq!(rig.rt.counters(), before);
    ensure_eq!(x.to_vec()?, [2; 8]);
    let address = x.allocations()[1].address;
    let usm = x.take_allocation(&q.device())?;
    ensure_eq!((usm.len(), usm.pointer().address()), (8, address));
    ensure_eq!(x.allocations().len(), 1);
    add(&q, &mut x, 1)?;
    ensure_eq!(x.to_vec()?, [3; 8]);
    // The USM holds the data that were brought there last; and it is a buffer again.
    ensure_eq!(usm.into_buffer().to_vec()?, [2; 8]);
    // Contents that are not there come first.
    let mut y = rig.rt.buffer_from(&[5; 8])?;
    ensure_eq!(y.take_allocation(&q.device())?.into_buffer().to_vec()?, [5; 8]);
    ensure_eq!(y.to_vec()?, [5; 8]);
    Ok(())
}

/// POL-06, BUF-03: memory of the program's choice becomes a buffer's.
pub(super) fn an_allocation_is_given(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let usm = |n| rig.rt.usm::<i32>(&q.device(), UsmKind::Device, n);
    let mut x = rig.rt.buffer_from(&[1; 8])?;
    let short = x.give_allocation(usm(7)?);
    ensure!(matches!(&short, Err((Error::Mismatch { .. }, usm)) if usm.len() == 7), "{short:?}");
    let mine = usm(8)?;
    let address = mine.pointer().address();
    x.give_allocation(mine).map_err(|(error, _)| error)?;
    let before = rig.rt.counters().allocations;
    add(&q, &mut x, 1)?;
    ensure_eq!(x.to_vec()?, [2; 8]);
    ensure_eq!(rig.rt.counters().allocations, before, "it has the memory");
    let all = x.allocations();
    ensure!(all.iter().any(|a| a.address == address && a.owned), "{all:?}");
    let again = x.give_allocation(usm(8)?);
    ensure!(matches!(again, Err((Error::HasMemory { .. }, _))), "{again:?}");
    // A buffer that is under way is not given.
    let mut busy = usm(8)?;
    let gate = Gate::new();
    let door = gate.door();
    let held = q.submit(|cg| {
        cg.host_task((), move |()| door.pass());
        Ok(())
    })?;
    q.submit(|cg| {
        cg.after(&held).copy_from_slice(&[3; 8], &mut busy);
        Ok(())
    })?;
    let mut y = rig.rt.buffer::<i32, 1>(8)?;
    let Err((error, busy)) = y.give_allocation(busy) else {
        return Err(Stop::Failed("memory in use was given".into()));
    };
    refused!(Err::<(), _>(error), Error::InUse { .. });
    gate.open();
    q.wait()?;
    y.give_allocation(busy).map_err(|(error, _)| error)?;
    ensure_eq!(y.to_vec()?, [0; 8], "what it holds does not count");
    Ok(())
}
