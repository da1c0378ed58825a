//! Unified shared memory: allocations, raw pointers, what queues do with them, and how they become
//! buffers and buffers become them.

use super::rig::*;
use super::tests;
use folio_core::hal::{HalErrorKind, MemoryHome};
use folio_core::{
    Advice, Buffer, BufferOptions, DeviceRef, Error, Event, Queue, Usm, UsmKind, UsmPtr, UsmRows,
};

tests![
    allocations_of_every_kind,
    allocations_that_do_not_fit,
    pointers_are_found_until_they_are_freed,
    raw_copies_from_everywhere_to_everywhere,
    raw_copies_of_rows_and_slices,
    raw_fills_of_rows_and_slices,
    windows_are_copied_and_filled,
    raw_commands_wait_for_events,
    raw_writes_of_fresh_memory_stay,
    writes_by_address_of_fresh_memory_stay,
    raw_commands_of_queues_in_order,
    hints_are_commands,
    commands_keep_raw_memory,
    pointers_of_buffers_work_everywhere,
    usm_becomes_a_buffer,
    what_is_beside_a_write_by_address_is_zero,
    buffers_over_pointers,
    bad_usm_requests,
    bad_raw_commands,
    bad_buffers_over_pointers,
    bad_pointers_of_buffers,
];

/// The kinds of memory that a device has: its own, and those that the host reaches if there are any.
fn kinds(rig: &Rig, device: &DeviceRef) -> Result<Vec<UsmKind>, Stop> {
    let mut kinds = vec![UsmKind::Device];
    for kind in [UsmKind::Host, UsmKind::Shared] {
        match rig.rt.usm::<u8>(device, kind, 1).map(drop) {
            Ok(()) => kinds.push(kind),
            Err(Error::Device { cause, .. }) if matches!(cause.kind, HalErrorKind::Unsupported) => {
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(kinds)
}

/// Shared memory, and the device's own where there is none.
fn nearest(rig: &Rig, device: &DeviceRef) -> Result<UsmKind, Stop> {
    let shared = kinds(rig, device)?.contains(&UsmKind::Shared);
    Ok(if shared { UsmKind::Shared } else { UsmKind::Device })
}

/// Copies raw memory.
fn copy(
    q: &Queue,
    after: &[&Event],
    from: impl Into<UsmRows>,
    to: impl Into<UsmRows>,
    extent: [usize; 3],
) -> Result<Event, Error> {
    q.submit(|cg| {
        for event in after {
            cg.after(event);
        }
        // SAFETY: the tests copy what they have written, order their commands, and keep the host's
        // memory until they are done.
        unsafe { cg.copy_raw(from, to, extent) };
        Ok(())
    })
}

/// Fills raw memory with `value`.
fn fill(
    q: &Queue,
    after: &[&Event],
    to: impl Into<UsmRows>,
    extent: [usize; 3],
    value: u32,
) -> Result<Event, Error> {
    q.submit(|cg| {
        for event in after {
            cg.after(event);
        }
        // SAFETY: as above.
        unsafe { cg.fill_raw(to, extent, value) };
        Ok(())
    })
}

/// What is behind a pointer after an event.
fn contents(
    rig: &Rig,
    q: &Queue,
    after: &[&Event],
    at: UsmPtr,
    n: usize,
) -> Result<Vec<u32>, Stop> {
    let mut out = vec![0u32; n];
    let host = rig.rt.host_pointer(out.as_mut_ptr().cast(), 4 * n);
    copy(q, after, at, host, [1, 1, 4 * n])?.wait()?;
    Ok(out)
}

/// A new allocation with these contents, and when they are there.
fn filled(rig: &Rig, q: &Queue, kind: UsmKind, data: &[u32]) -> Result<(Usm<u32>, Event), Stop> {
    let mut usm = rig.rt.usm::<u32>(&q.device(), kind, data.len())?;
    let event = q.submit(|cg| {
        cg.copy_from_slice(data, &mut usm);
        Ok(())
    })?;
    Ok((usm, event))
}

fn further(at: UsmPtr, bytes: usize) -> Result<UsmPtr, Stop> {
    at.offset(bytes).ok_or_else(|| Stop::Failed(format!("{bytes} bytes further is outside")))
}

/// USM-01: on every device; typed, aligned, used by kernels in place.
fn allocations_of_every_kind(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let device = q.device();
        for kind in kinds(rig, &device)? {
            for align in [1, 64, 4096] {
                let mut usm = rig.rt.usm_aligned::<u64>(&device, kind, 33, align)?;
                ensure_eq!((usm.len(), usm.kind(), usm.is_empty()), (33, kind, false));
                ensure_eq!(usm.device().name(), device.name());
                let pointer = usm.pointer();
                ensure_eq!(pointer.bytes_left(), 264);
                if let Some(address) = pointer.address() {
                    ensure!(address.is_multiple_of(align.max(8) as u64), "{address:#x}");
                }
                q.run(33, ramps(5, &mut usm))?;
                if kind != UsmKind::Device {
                    usm.write()?[0] = 1;
                    ensure_eq!(usm.read()?[..3], [1, 6, 7], "{kind:?} on {device:?}");
                }
                let mut out = rig.rt.buffer::<u64>(33)?;
                q.submit(|cg| {
                    cg.copy(&usm, &mut out);
                    Ok(())
                })?;
                ensure_eq!(out.to_vec()?[32], 37, "{kind:?} on {device:?}");
            }
        }
        let none = rig.rt.usm::<u8>(&device, UsmKind::Device, 0)?;
        ensure!(none.is_empty() && none.pointer().bytes_left() == 0, "not empty");
    }
    rig.rt.wait()?;
    Ok(())
}

/// USM-01, MEM-01: out of memory says how much; nothing changes.
fn allocations_that_do_not_fit(rig: &Rig) -> Outcome {
    let name = rig.queue()?.device().name().to_owned();
    for kind in kinds(rig, &rig.queue()?.device())? {
        let rt = rig.builder().budget(name.as_str(), 1000).build()?;
        let device = rt.device(name.as_str())?;
        let first = rt.usm::<u8>(&device, kind, 600)?;
        let before = rt.counters();
        match rt.usm::<u32>(&device, kind, 150).map(drop) {
            Err(Error::OutOfMemory { device, asked, in_use, limit, .. }) => {
                ensure_eq!(device, name);
                ensure_eq!((asked, in_use, limit), (600, 600, 1000), "{kind:?}");
            }
            other => return Err(Stop::Failed(format!("{other:?}"))),
        }
        ensure_eq!(rt.counters(), before);
        ensure_eq!(device.budget(), (1000, 600));
        drop(first);
        eventually("the memory is free", || device.budget().1 == 0)?;
        rt.usm::<u32>(&device, kind, 250)?;
    }
    Ok(())
}

/// USM-01: the kind and the device of a pointer.
fn pointers_are_found_until_they_are_freed(rig: &Rig) -> Outcome {
    ensure!(rig.rt.query(1).is_none(), "address 1 belongs to somebody");
    for at in 0..rig.rt.devices().len() {
        let device = rig.on(at)?.device();
        for kind in kinds(rig, &device)? {
            let usm = rig.rt.usm::<u32>(&device, kind, 25)?;
            let Some(address) = usm.pointer().address() else {
                return unsupported("memory with addresses");
            };
            let Some((found, info)) = rig.rt.query(address + 60) else {
                return Err(Stop::Failed(format!("{kind:?} of {device:?} is not found")));
            };
            ensure_eq!((found.name(), info.kind), (device.name(), kind));
            ensure_eq!(info.offset, 60);
            ensure!(info.size >= 100, "{info:?}");
            ensure_eq!(further(usm.pointer(), 60)?.address(), Some(address + 60));
            drop(usm);
            let found = rig.rt.query(address).map(|(_, info)| info.handle);
            ensure!(found != Some(info.handle), "{kind:?} of {device:?} is found though freed");
        }
    }
    Ok(())
}

/// USM-02: between all devices, and between each and the host.
fn raw_copies_from_everywhere_to_everywhere(rig: &Rig) -> Outcome {
    let count = rig.rt.devices().len();
    let data: Vec<u32> = (0..500).map(|i| i * 7 + 1).collect();
    for from in 0..count {
        for to in 0..count {
            let (a, b) = (rig.on(from)?, rig.on(to)?);
            let (source, there) = filled(rig, &a, UsmKind::Device, &data)?;
            let target = rig.rt.usm::<u32>(&b.device(), UsmKind::Device, 600)?;
            let zeroed = fill(&b, &[], target.pointer(), [1, 1, 600], 0)?;
            let (start, place) = (further(source.pointer(), 40)?, further(target.pointer(), 80)?);
            let copied = copy(&b, &[&there, &zeroed], start, place, [1, 1, 4 * 490])?;
            let found = contents(rig, &a, &[&copied], target.pointer(), 600)?;
            ensure_eq!(found[20..510], data[10..], "from {from} to {to}");
            ensure!(found[..20].iter().chain(&found[510..]).all(|v| *v == 0), "wrote beside");
        }
        // And from the host, in one allocation, and to another kind.
        let q = rig.on(from)?;
        let mut own = data.clone();
        let host = rig.rt.host_pointer(own.as_mut_ptr().cast(), 2000);
        let usm = rig.rt.usm::<u32>(&q.device(), nearest(rig, &q.device())?, 1000)?;
        let up = copy(&q, &[], host, usm.pointer(), [1, 1, 2000])?;
        let inside = copy(&q, &[&up], usm.pointer(), further(usm.pointer(), 2000)?, [1, 1, 2000])?;
        ensure_eq!(
            contents(rig, &q, &[&inside], usm.pointer(), 1000)?,
            [&data[..], &data].concat()
        );
        ensure_eq!(own, data);
    }
    ensure_eq!(rig.rt.counters().transfers().operations, 0, "raw copies are no transfers");
    ensure!(rig.rt.counters().copies > 0, "raw copies are not counted");
    Ok(())
}

/// USM-02: in two and three dimensions, with gaps.
fn raw_copies_of_rows_and_slices(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let data: Vec<u32> = (0..240).collect();
        let (source, there) = filled(rig, &q, UsmKind::Device, &data)?;
        let target = rig.rt.usm::<u32>(&q.device(), UsmKind::Device, 240)?;
        let zeroed = fill(&q, &[], target.pointer(), [1, 1, 240], 0)?;
        // 4 x 6 x 10 elements: two slices, three rows, four elements, to rows of five.
        let from = further(source.pointer(), 4 * (60 + 20 + 3))?.rows(40).slices(240);
        let to = further(target.pointer(), 4 * 7)?.rows(20).slices(80);
        let copied = copy(&q, &[&there, &zeroed], from, to, [2, 3, 16])?;
        let found = contents(rig, &q, &[&copied], target.pointer(), 240)?;
        for (i, value) in found.iter().enumerate() {
            let inside = i.checked_sub(7).and_then(|i| {
                let (slice, row, column) = (i / 20, i % 20 / 5, i % 5);
                let there = slice < 2 && row < 3 && column < 4;
                there.then_some((60 + 20 + 3 + slice * 60 + row * 10 + column) as u32)
            });
            ensure_eq!(*value, inside.unwrap_or(0), "element {i} on device {at}");
        }
        // A column of 24 rows, to where it lies close.
        let column = further(source.pointer(), 36)?.rows(40);
        let copied = copy(&q, &[&copied], column, target.pointer(), [1, 24, 4])?;
        let found = contents(rig, &q, &[&copied], target.pointer(), 24)?;
        ensure!(found.iter().enumerate().all(|(i, v)| *v == 10 * i as u32 + 9), "{found:?}");
    }
    Ok(())
}

/// USM-02
fn raw_fills_of_rows_and_slices(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let usm = rig.rt.usm::<u32>(&q.device(), UsmKind::Device, 120)?;
        let mut last = fill(&q, &[], usm.pointer(), [1, 1, 120], 7)?;
        let mut want = vec![7; 120];
        for (extent, value) in [([1, 1, 3], 1), ([1, 3, 2], 2), ([2, 2, 4], 3)] {
            let rows = further(usm.pointer(), 44)?.rows(32).slices(160);
            last = fill(&q, &[&last], rows, extent, value)?;
            for (i, want) in want.iter_mut().enumerate().skip(11) {
                let (slice, row, column) = ((i - 11) / 40, (i - 11) % 40 / 8, (i - 11) % 8);
                if slice < extent[0] && row < extent[1] && column < extent[2] {
                    *want = value;
                }
            }
        }
        ensure_eq!(contents(rig, &q, &[&last], usm.pointer(), 120)?, want, "device {at}");
        ensure_eq!(q.counters().fills, 4);
        // Elements of other sizes.
        let event = q.submit(|cg| {
            // SAFETY: nobody else uses it, and it is ordered.
            unsafe { cg.after(&last).fill_raw(usm.pointer(), [3], [1u8, 2, 3]) };
            Ok(())
        })?;
        let bytes: Vec<u8> = (contents(rig, &q, &[&event], usm.pointer(), 3)?.iter())
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        ensure_eq!(bytes[..10], [1, 2, 3, 1, 2, 3, 1, 2, 3, 0]);
    }
    Ok(())
}

/// USM-02: the safe form, in two and three dimensions.
fn windows_are_copied_and_filled(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let data: Vec<u32> = (0..60).collect();
        let (source, _) = filled(rig, &q, UsmKind::Device, &data)?;
        let mut target = rig.rt.usm::<u32>(&q.device(), UsmKind::Device, 24)?;
        q.submit(|cg| {
            let from = source.window([3, 4, 5], [1, 1, 2], [2, 2, 3])?;
            cg.copy(from, target.window_mut([2, 3, 4], [0, 1, 1], [2, 2, 3])?);
            Ok(())
        })?;
        q.submit(|cg| {
            cg.fill(target.window_mut([6, 4], [2, 0], [3, 1])?, 99);
            Ok(())
        })?;
        let mut out = rig.rt.buffer::<u32>(24)?;
        q.submit(|cg| {
            cg.copy(&target, &mut out);
            Ok(())
        })?;
        let want = [
            [0, 0, 0, 0],
            [0, 27, 28, 29],
            [99, 32, 33, 34],
            [99, 0, 0, 0],
            [99, 47, 48, 49],
            [0, 52, 53, 54],
        ];
        ensure_eq!(out.to_vec()?, want.concat(), "device {at}");
        refused!(source.window([7, 9], [0, 0], [1, 1]), Error::Reinterpret { .. });
        refused!(source.window([6, 10], [5, 0], [2, 1]), Error::OutOfRange { .. });
        refused!(target.window_mut([usize::MAX, 24], [0, 0], [1, 1]), Error::Reinterpret { .. });
    }
    Ok(())
}

/// USM-02, DEP-04: out of order, what is to come after is said with events; a failure travels there.
fn raw_commands_wait_for_events(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let (usm, there) = filled(rig, &q, nearest(rig, &q.device())?, &[1, 2, 3, 4])?;
    let gate = Gate::new();
    let door = gate.door();
    let task = q.submit(|cg| {
        cg.host_task((), move |()| door.pass());
        Ok(())
    })?;
    let free = fill(&q, &[&there], usm.pointer(), [1, 1, 1], 5)?;
    let held = fill(&q, &[&task, &free], usm.pointer(), [1, 1, 2], 6)?;
    let hint = q.submit(|cg| {
        // SAFETY: it is an allocation of the runtime.
        unsafe { cg.after(&held).prefetch_raw(usm.pointer(), 16) };
        Ok(())
    })?;
    free.wait()?;
    ensure!(is_pending(&held) && is_pending(&hint), "did not wait");
    gate.open();
    hint.wait()?;
    ensure_eq!(contents(rig, &q, &[&held], usm.pointer(), 4)?, [6, 6, 3, 4]);
    let failed = q.submit(|cg| {
        cg.label("root").host_task((), |()| -> Result<(), std::io::Error> {
            Err(std::io::Error::other("on purpose"))
        });
        Ok(())
    })?;
    let dependent = fill(&q, &[&failed], usm.pointer(), [1, 1, 4], 9)?;
    ensure_eq!(failure(dependent.wait())?.label(), "root");
    ensure_eq!(contents(rig, &q, &[], usm.pointer(), 4)?, [6, 6, 3, 4]);
    refused!(q.wait(), Error::Failed(_));
    q.wait()?;
    Ok(())
}

/// USM-01, USM-02: memory reads as zero until it is written, no matter how it is written first.
fn raw_writes_of_fresh_memory_stay(rig: &Rig) -> Outcome {
    for (at, device) in rig.rt.devices().iter().enumerate() {
        let q = rig.rt.queue_on(device)?;
        for kind in kinds(rig, device)? {
            let mut usm = rig.rt.usm::<u32>(device, kind, 4)?;
            let written = fill(&q, &[], usm.pointer(), [1, 1, 2], 7)?;
            let call = adds(1, &mut usm);
            let read = q.submit(|cg| {
                cg.after(&written).run(4, call);
                Ok(())
            })?;
            let found = contents(rig, &q, &[&read], usm.pointer(), 4)?;
            ensure_eq!(found, [8, 8, 1, 1], "{kind:?} on device {at}");
        }
    }
    Ok(())
}

/// USM-01, USM-02: what no command knows of, too. The memory is zero from the first.
fn writes_by_address_of_fresh_memory_stay(rig: &Rig) -> Outcome {
    let mut seen = false;
    for device in rig.rt.devices() {
        let q = rig.rt.queue_on(&device)?;
        for kind in kinds(rig, &device)?.into_iter().filter(|kind| *kind != UsmKind::Device) {
            let mut usm = rig.rt.usm::<u32>(&device, kind, 4)?;
            let Some(address) = usm.pointer().address() else { continue };
            seen = true;
            let words = std::ptr::with_exposed_provenance_mut::<u32>(address as usize);
            // SAFETY: the host reaches memory of this kind, which has four elements, and nobody else
            // knows of it yet.
            let fresh = unsafe {
                let fresh = [words.read(), words.add(3).read()];
                words.add(1).write(7);
                fresh
            };
            ensure_eq!(fresh, [0; 2], "{kind:?} on {}", device.name());
            q.run(4, adds(1, &mut usm))?;
            ensure_eq!(*usm.read()?, [1, 8, 1, 1], "{kind:?} on {}", device.name());
        }
    }
    ensure_eq!(rig.rt.counters().zero_fills, 0);
    if seen { Ok(()) } else { unsupported("addresses") }
}

/// USM-02, BUF-07: of fresh memory of a buffer only a part was written by way of the address.
fn what_is_beside_a_write_by_address_is_zero(rig: &Rig) -> Outcome {
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

/// USM-02: in order, nothing needs to be said.
fn raw_commands_of_queues_in_order(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let q = rig.rt.in_order_queue_on(&device)?;
        let a = rig.rt.usm::<u32>(&device, UsmKind::Device, 100)?;
        let b = rig.rt.usm::<u32>(
            &device,
            *kinds(rig, &device)?.last().unwrap_or(&UsmKind::Device),
            100,
        )?;
        let last = 40;
        for round in 0..=last {
            fill(&q, &[], a.pointer(), [1, 1, 100], round)?;
            copy(&q, &[], a.pointer(), b.pointer(), [1, 1, 400])?;
            copy(&q, &[], b.pointer(), a.pointer(), [1, 25, 4])?;
            q.submit(|cg| {
                // SAFETY: it is an allocation of the runtime.
                unsafe { cg.advise_raw(a.pointer(), 400, Advice::PreferDevice) };
                Ok(())
            })?;
        }
        ensure_eq!(contents(rig, &q, &[], b.pointer(), 100)?, [last; 100]);
    }
    Ok(())
}

/// USM-02: prefetches and advice are counted commands, typed and raw.
fn hints_are_commands(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (mut usm, _) = filled(rig, &q, nearest(rig, &q.device())?, &[1; 64])?;
        let before = q.counters();
        q.submit(|cg| {
            cg.prefetch(&usm);
            Ok(())
        })?;
        let advice = [
            Advice::ReadMostly,
            Advice::PreferDevice,
            Advice::PreferHost,
            Advice::UsedByDevice,
            Advice::Nothing,
        ];
        for advice in advice {
            q.submit(|cg| {
                cg.advise(usm.slice(8, 16)?, advice);
                Ok(())
            })?;
            q.submit(|cg| {
                cg.advise(usm.window([8, 8], [1, 1], [3, 2])?, advice);
                Ok(())
            })?
            .wait()?;
        }
        let filled = q.submit(|cg| {
            cg.fill(&mut usm, 2);
            Ok(())
        })?;
        ensure_eq!(q.counters().hints - before.hints, 11);
        ensure_eq!(rig.rt.counters().hints, 11 * (at as u64 + 1));
        ensure_eq!(contents(rig, &q, &[&filled], usm.pointer(), 64)?[63], 2);
        q.submit(|cg| {
            cg.prefetch(usm.slice(3, 0)?);
            Ok(())
        })?
        .wait()?;
    }
    let q = rig.separate(1)?.remove(0);
    let mut x = paged(&rig.rt, &[1, 2, 3, 4])?;
    q.submit(|cg| {
        cg.prefetch(x.slice([1], [2])?);
        Ok(())
    })?;
    ensure_eq!(x.counters().host_to_device.pages, 2);
    add(&q, &mut x, 1)?;
    ensure_eq!(x.counters().host_to_device.pages, 4);
    ensure_eq!(x.to_vec()?, [2, 3, 4, 5]);
    Ok(())
}

/// USM-01: a handle that goes takes nothing from the commands under way.
fn commands_keep_raw_memory(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let q = rig.rt.in_order_queue_on(&device)?;
        let mut out = vec![0u32; 50];
        let host = rig.rt.host_pointer(out.as_mut_ptr().cast(), 200);
        let gate = Gate::new();
        let door = gate.door();
        q.submit(|cg| {
            cg.host_task((), move |()| door.pass());
            Ok(())
        })?;
        let (before, pointer) = (device.budget().1, {
            let usm = rig.rt.usm::<u32>(&device, UsmKind::Device, 50)?;
            fill(&q, &[], usm.pointer(), [1, 1, 50], 3)?;
            copy(&q, &[], usm.pointer(), host, [1, 1, 200])?;
            usm.pointer()
        });
        ensure!(device.budget().1 > before, "freed under its commands");
        refused!(fill(&q, &[], pointer, [1, 1, 1], 4), Error::Freed { .. });
        gate.open();
        q.wait()?;
        ensure_eq!(out, [3; 50]);
        eventually("the memory is free", || device.budget().1 == before)?;
    }
    Ok(())
}

/// BUF-02, BUF-03: in copies, fills, queries and kernels; what it wrote is announced.
fn pointers_of_buffers_work_everywhere(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let q = rig.rt.queue_on(&device)?;
        let mut x = rig.rt.buffer_from(&[1u32, 2, 3, 4, 5, 6, 7, 8])?;
        q.submit(|cg| {
            cg.update(&x);
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
        let host = rig.rt.host_pointer(own.as_mut_ptr().cast(), 8);
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

fn add_one(q: &Queue, x: &mut Buffer<u32>) -> Result<Event, Error> {
    q.run(x.len(), adds(1, x))
}

/// BUF-03: any kind becomes the buffer's memory on its device; nothing is copied there.
fn usm_becomes_a_buffer(rig: &Rig) -> Outcome {
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
fn buffers_over_pointers(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let q = rig.rt.queue_on(&device)?;
        for kind in kinds(rig, &device)? {
            let data: Vec<u32> = (0..32).collect();
            let (usm, there) = filled(rig, &q, kind, &data)?;
            there.wait()?;
            let part = further(usm.pointer(), 32)?;
            let before = rig.rt.counters();
            // SAFETY: `usm` lives longer, and is not used meanwhile.
            let mut x = unsafe { rig.rt.buffer_over::<u32>(part, 16, true)? };
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
            let x = unsafe { rig.rt.buffer_over::<u32>(usm.pointer(), 32, false)? };
            ensure_eq!(x.to_vec()?, [0; 32]);
            // SAFETY: as above.
            let mut x = unsafe { rig.rt.buffer_over::<u32>(part, 4, false)? };
            add_one(&q, &mut x)?;
            ensure_eq!(x.to_vec()?, [1; 4]);
            rig.rt.wait()?;
        }
        let mut own = vec![5u32; 8];
        let host = rig.rt.host_pointer(own.as_mut_ptr().cast(), 32);
        // SAFETY: `own` lives longer, and is not used meanwhile.
        let mut x = unsafe { rig.rt.buffer_over::<u32>(host, 8, true)? };
        add_one(&q, &mut x)?;
        q.submit(|cg| {
            cg.update_host(&x);
            Ok(())
        })?
        .wait()?;
        drop(x);
        ensure_eq!(own, [6; 8]);
    }
    Ok(())
}

/// USM-01, ERR-01
fn bad_usm_requests(rig: &Rig) -> Outcome {
    let device = rig.queue()?.device();
    let before = (rig.rt.counters(), device.budget().1);
    for align in [0, 3, 48, usize::MAX] {
        let made = rig.rt.usm_aligned::<u8>(&device, UsmKind::Device, 8, align);
        refused!(made, Error::Configuration { what: "alignment", .. });
    }
    for len in [usize::MAX, usize::MAX / 4, isize::MAX as usize / 4 + 1] {
        refused!(rig.rt.usm::<u32>(&device, UsmKind::Host, len), Error::TooLarge { .. });
    }
    refused!(rig.rt.usm::<[u8; 0]>(&device, UsmKind::Host, 4), Error::Configuration { .. });
    let theirs: DeviceRef = rig.builder().build()?.devices().remove(0);
    let made = rig.rt.usm::<u8>(&theirs, UsmKind::Device, 8);
    refused!(made, Error::WrongRuntime { what: "device", .. });
    ensure_eq!((rig.rt.counters(), device.budget().1), before);
    Ok(())
}

/// USM-02, ERR-01: each an error, and the memory is as before.
fn bad_raw_commands(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let (usm, there) = filled(rig, &q, nearest(rig, &q.device())?, &[1, 2, 3, 4, 5, 6, 7, 8])?;
    there.wait()?;
    let at = usm.pointer();
    let other = rig.rt.usm::<u32>(&q.device(), nearest(rig, &q.device())?, 8)?;
    let to = other.pointer();
    ensure!(at.offset(33).is_none() && at.offset(usize::MAX).is_none(), "past the end");
    let end = further(at, 32)?;
    ensure_eq!(end.bytes_left(), 0);
    let before = rig.rt.counters();
    const MAX: usize = usize::MAX;
    for extent in [[1, 1, 33], [1, 2, 17], [2, 2, 9], [1, 1, MAX / 2]] {
        refused!(copy(&q, &[], at, to, extent), Error::OutOfRange { .. });
        refused!(copy(&q, &[], to, at, extent), Error::OutOfRange { .. });
    }
    for extent in [[1, 2, MAX], [MAX, MAX, MAX], [2, MAX, 3]] {
        refused!(copy(&q, &[], at, to, extent), Error::TooLarge { .. });
    }
    refused!(copy(&q, &[], end, to, [1, 1, 1]), Error::OutOfRange { .. });
    refused!(copy(&q, &[], at.rows(20), to, [1, 2, 16]), Error::OutOfRange { .. });
    refused!(copy(&q, &[], at.rows(3), to, [1, 2, 4]), Error::Configuration { what: "pitch", .. });
    let slices = at.rows(8).slices(11);
    refused!(copy(&q, &[], slices, to, [2, 2, 4]), Error::Configuration { what: "pitch", .. });
    refused!(copy(&q, &[], at.rows(MAX), to, [1, 3, 4]), Error::TooLarge { .. });
    refused!(fill(&q, &[], at, [1, 1, 9], 0), Error::OutOfRange { .. });
    refused!(fill(&q, &[], at, [1, 1, MAX / 2], 0), Error::TooLarge { .. });
    refused!(fill(&q, &[], further(at, 2)?, [1, 1, 1], 0), Error::Misaligned { align: 4, .. });
    refused!(fill(&q, &[], at.rows(10), [1, 2, 2], 0), Error::Misaligned { at: 10, .. });
    let event = q.submit(|cg| {
        // SAFETY: it is refused.
        unsafe { cg.prefetch_raw(at, 33) };
        Ok(())
    });
    refused!(event, Error::OutOfRange { .. });
    let event = q.submit(|cg| {
        // SAFETY: it is refused.
        unsafe { cg.advise_raw(end, 1, Advice::ReadMostly) };
        Ok(())
    });
    refused!(event, Error::OutOfRange { .. });
    let buffer = rig.rt.buffer_from(&[1u32])?;
    let event = q.submit(|cg| {
        cg.advise(&buffer, Advice::ReadMostly);
        Ok(())
    });
    refused!(event, Error::Configuration { what: "advice", .. });
    let event = q.submit(|cg| {
        // SAFETY: it is refused.
        unsafe { cg.copy_raw(at, to, [4]) };
        cg.fill(&mut rig.rt.buffer::<u8>(1)?, 1);
        Ok(())
    });
    refused!(event, Error::Actions { actions: 2, .. });
    // Of another runtime.
    let theirs = rig.builder().build()?;
    let foreign = theirs.usm::<u32>(&theirs.devices()[0], UsmKind::Device, 8)?;
    let wrong = foreign.pointer();
    refused!(copy(&q, &[], wrong, to, [1, 1, 4]), Error::WrongRuntime { what: "pointer", .. });
    refused!(copy(&q, &[], at, wrong, [1, 1, 4]), Error::WrongRuntime { what: "pointer", .. });
    refused!(fill(&q, &[], wrong, [1, 1, 1], 0), Error::WrongRuntime { what: "pointer", .. });
    // Of another device: fills and hints are for the queue's own.
    if let Ok(queues) = rig.separate(2) {
        let elsewhere = rig.rt.usm::<u32>(&queues[1].device(), UsmKind::Device, 8)?;
        let (q, at) = (&queues[0], elsewhere.pointer());
        refused!(fill(q, &[], at, [1, 1, 1], 0), Error::NotAccessible { .. });
        let event = q.submit(|cg| {
            // SAFETY: it is refused.
            unsafe { cg.prefetch_raw(at, 4) };
            Ok(())
        });
        refused!(event, Error::NotAccessible { .. });
        let event = q.submit(|cg| {
            cg.prefetch(&elsewhere);
            Ok(())
        });
        refused!(event, Error::NotAccessible { .. });
    }
    // Nothing is legal.
    copy(&q, &[], end, to, [1, 1, 0])?.wait()?;
    fill(&q, &[], end, [1, 0, 4], 0)?.wait()?;
    // Freed.
    drop(other);
    refused!(copy(&q, &[], at, to, [1, 1, 4]), Error::Freed { .. });
    refused!(copy(&q, &[], to, at, [1, 1, 4]), Error::Freed { .. });
    refused!(fill(&q, &[], to, [1, 1, 1], 0), Error::Freed { .. });
    ensure_eq!(rig.rt.counters().copies, before.copies);
    ensure_eq!(rig.rt.counters().fills, before.fills);
    ensure_eq!(rig.rt.counters().hints, before.hints);
    ensure_eq!(contents(rig, &q, &[], at, 8)?, [1, 2, 3, 4, 5, 6, 7, 8]);
    q.wait()?;
    Ok(())
}

/// BUF-03, ERR-01
fn bad_buffers_over_pointers(rig: &Rig) -> Outcome {
    let device = rig.queue()?.device();
    let usm = rig.rt.usm::<u32>(&device, nearest(rig, &device)?, 8)?;
    let at = usm.pointer();
    let before = rig.rt.counters();
    let over = |at: UsmPtr, len: usize| {
        // SAFETY: `usm` lives longer than what is made here, which is dropped at once.
        unsafe { rig.rt.buffer_over::<u32>(at, len, false) }.map(drop)
    };
    refused!(over(at, 9), Error::Configuration { what: "buffer over USM", .. });
    refused!(over(further(at, 4)?, 8), Error::Configuration { what: "buffer over USM", .. });
    refused!(over(at, usize::MAX), Error::TooLarge { .. });
    refused!(over(further(at, 2)?, 1), Error::Misaligned { align: 4, .. });
    let theirs = rig.builder().build()?;
    let foreign = theirs.usm::<u32>(&theirs.devices()[0], UsmKind::Device, 8)?;
    refused!(over(foreign.pointer(), 8), Error::WrongRuntime { what: "pointer", .. });
    over(at, 0)?;
    over(at, 8)?;
    drop(usm);
    refused!(over(at, 8), Error::Freed { .. });
    ensure_eq!(rig.rt.counters(), before);
    Ok(())
}

/// BUF-03, ERR-01
fn bad_pointers_of_buffers(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let device = q.device();
    let theirs: DeviceRef = rig.builder().build()?.devices().remove(0);
    let mut x = rig.rt.buffer_from(&[1u32, 2, 3])?;
    refused!(x.pointer(&theirs), Error::WrongRuntime { what: "device", .. });
    refused!(x.release(&theirs), Error::WrongRuntime { what: "device", .. });
    // SAFETY: these are refused.
    let written = |x: &mut Buffer<u32>, at, n, device: &DeviceRef| unsafe {
        x.assume_written([at], [n], device)
    };
    refused!(written(&mut x, 0, 1, &theirs), Error::WrongRuntime { what: "device", .. });
    refused!(written(&mut x, 2, 2, &device), Error::OutOfRange { .. });
    refused!(written(&mut x, usize::MAX, 2, &device), Error::OutOfRange { .. });
    ensure_eq!(x.to_vec()?, [1, 2, 3]);
    match x.pointer(&device) {
        Err(Error::Unsupported { .. }) => {
            // Without addresses: and the buffer works.
            add_one(&q, &mut x)?;
            ensure_eq!(x.to_vec()?, [2, 3, 4]);
            return Ok(());
        }
        found => found.map(drop)?,
    }
    let guard = x.read()?;
    refused!(written(&mut x, 0, 1, &device), Error::HostAccessHeld { .. });
    drop(guard);
    if let Ok(mut queues) = rig.separate(1) {
        let device = queues.remove(0).device();
        let pointer = x.pointer(&device)?;
        x.release(&device)?;
        refused!(
            fill(&q, &[], pointer, [1, 1, 1], 0),
            Error::Freed { .. } | Error::NotAccessible { .. }
        );
        let event = copy(&q, &[], pointer, pointer, [1, 1, 4]);
        refused!(event, Error::Freed { .. });
    }
    ensure_eq!(x.to_vec()?, [1, 2, 3]);
    Ok(())
}
