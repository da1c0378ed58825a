//! Unified shared memory: allocations, hints, and what the other files have at hand.

mod buffers;
mod raw;
mod refused;

use super::rig::*;
use super::tests;
use buffers::*;
use folio_core::hal::MemoryHome;
use folio_core::{
    Buffer, BufferOptions, Destination, DeviceRef, Error, Event, Executable, Queue, Usm, UsmKind,
    UsmPtr,
    memory::{Advice, UsmRows},
};
use raw::*;
use refused::*;

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
    allocations_are_listed,
    an_allocation_is_taken_out,
    an_allocation_is_given,
    what_is_beside_a_write_by_address_is_zero,
    buffers_over_pointers,
    memory_of_two_owners_in_one_command,
    bad_usm_requests,
    tasks_over_usm_that_has_moved_on,
    misaligned_memory_is_not_given,
    bad_raw_commands,
    bad_buffers_over_pointers,
    bad_pointers_of_buffers,
];

/// The kinds of memory that a device has: its own, and those that the host reaches if there are
/// any.
fn kinds(rig: &Rig, device: &DeviceRef) -> Result<Vec<UsmKind>, Stop> {
    let mut kinds = vec![UsmKind::Device];
    for kind in [UsmKind::Host, UsmKind::Shared] {
        match rig.rt.usm::<u8>(device, kind, 1).map(drop) {
            Ok(()) => kinds.push(kind),
            // USM-01: what a device lacks is told as such.
            Err(Error::Unsupported { what, .. }) if what.contains(&format!("{kind:?}")) => {}
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
pub(super) fn copy(
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
pub(super) fn fill(
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

/// The contents behind a pointer after an event.
fn contents(
    rig: &Rig,
    q: &Queue,
    after: &[&Event],
    at: UsmPtr,
    n: usize,
) -> Result<Vec<u32>, Stop> {
    let mut out = vec![0u32; n];
    let host = UsmPtr::of_host(&rig.rt, out.as_mut_ptr().cast(), 4 * n);
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

fn add_one(q: &Queue, x: &mut Buffer<u32>) -> Result<Event, Error> {
    q.run(x.len(), adds(1, x))
}

/// USM-01: on every device; typed, aligned, used by kernels in place.
fn allocations_of_every_kind(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let device = q.device();
        for kind in kinds(rig, &device)? {
            for align in [1, 64, 4096] {
                let mut usm = Usm::<u64>::aligned(&device, kind, 33, align)?;
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
                let mut out = rig.rt.buffer::<u64, 1>(33)?;
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

/// USM-02: prefetches and advice are counted commands, typed and raw.
fn hints_are_commands(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (mut usm, _) = filled(rig, &q, nearest(rig, &q.device())?, &[1; 64])?;
        let before = q.counters();
        q.submit(|cg| {
            cg.prefetch(&usm, Destination::Device);
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
            cg.prefetch(usm.slice(3, 0)?, Destination::Device);
            Ok(())
        })?
        .wait()?;
    }
    let q = rig.separate(1)?.remove(0);
    let mut x = paged(&rig.rt, &[1, 2, 3, 4])?;
    q.submit(|cg| {
        cg.prefetch(x.slice([1], [2])?, Destination::Device);
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
        let host = UsmPtr::of_host(&rig.rt, out.as_mut_ptr().cast(), 200);
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
