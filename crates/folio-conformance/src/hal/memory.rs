//! Allocations.

use super::Test;
use super::rig::{Outcome, Rig, ensure, line, noise, unsupported};
use folio_core::hal::{
    Advice, AllocKind, AllocReq, HalError, HalErrorKind, Hint, HostPtr, LaneKind, RawMemory, Side,
};

pub(super) const TESTS: &[Test] = &[
    ("allocations_are_aligned_and_apart", allocations_are_aligned_and_apart),
    ("too_much_is_out_of_memory", too_much_is_out_of_memory),
    ("freed_memory_is_used_again", freed_memory_is_used_again),
    ("memory_is_accounted_for", memory_is_accounted_for),
    ("zeroed_means_zeros", zeroed_means_zeros),
    ("host_addresses_are_the_allocation", host_addresses_are_the_allocation),
    ("pointers_are_found", pointers_are_found),
    ("every_kind_is_usm", every_kind_is_usm),
    ("hints_are_operations", hints_are_operations),
    ("linked_memory_changes_sides", linked_memory_changes_sides),
    ("memory_of_the_host_is_linked", memory_of_the_host_is_linked),
];

fn request(size: u64, align: u64) -> AllocReq<'static> {
    AllocReq {
        kind: AllocKind::Device,
        size,
        align,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: "conformance",
    }
}

fn allocations_are_aligned_and_apart(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let usm = seat.device.usm();
        let mut all = Vec::new();
        let mut wrong = None;
        for shift in 0..=12 {
            for size in [1, 3, 64, 1000] {
                let made = usm.alloc(&request(size, 1 << shift))?;
                let at = made.address.or(made.host.map(|h| h.0 as u64));
                if at.is_some_and(|at| at % (1 << shift) != 0) {
                    wrong = Some(format!("{made:?} is not aligned to {}", 1 << shift));
                }
                all.push((made.handle, at, size));
            }
        }
        for (i, a) in all.iter().enumerate() {
            for b in &all[..i] {
                let meets = matches!((a.1, b.1), (Some(x), Some(y)) if x < y + b.2 && y < x + a.2);
                if a.0 == b.0 || meets {
                    wrong = Some(format!("{a:?} and {b:?} are one"));
                }
            }
        }
        all.iter().for_each(|(handle, ..)| usm.free(*handle));
        ensure!(wrong.is_none(), "{wrong:?}");
        Ok(())
    })
}

fn too_much_is_out_of_memory(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let usm = seat.device.usm();
        for size in [1 << 62, u64::MAX, u64::MAX - 4095] {
            match usm.alloc(&request(size, 64)).map_err(|e| e.kind) {
                Err(HalErrorKind::OutOfMemory { asked, .. }) if asked == size => {}
                Ok(made) => {
                    usm.free(made.handle);
                    ensure!(false, "there are {size} bytes");
                }
                other => ensure!(false, "{size} bytes: {other:?}"),
            }
        }
        let memory = seat.memory(128)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        queue.write(&memory, &noise(128, 4))?;
        ensure!(queue.read(&memory)? == noise(128, 4), "the device does not work afterwards");
        Ok(())
    })
}

fn freed_memory_is_used_again(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        // Where there is little, many times what there is.
        let piece = (seat.device.info().memory / 4).clamp(1 << 10, 1 << 18);
        let mut queue = seat.queue(LaneKind::Compute)?;
        for round in 0..64 {
            let memory = seat.memory(piece)?;
            let data = noise(256, round);
            let some = [super::rig::line(super::rig::host(&data), memory.at(piece - 256), 256)];
            queue.copy(&[], &some)?;
            queue.finish()?;
        }
        Ok(())
    })
}

fn memory_is_accounted_for(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let usm = seat.device.usm();
        let before = usm.memory();
        let memory = seat.memory(1 << 16)?;
        let during = usm.memory();
        ensure!(during.in_use >= before.in_use + (1 << 16), "{before:?}, then {during:?}");
        ensure!(during.total >= during.in_use, "{during:?}");
        drop(memory);
        let after = usm.memory();
        ensure!(after.in_use == before.in_use, "{before:?}, in the end {after:?}");
        Ok(())
    })
}

/// Also of memory that was used before.
fn zeroed_means_zeros(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        for zeroed in [false, true, false, true] {
            let memory = seat.memory_for(&AllocReq { zeroed, ..request(1 << 12, 64) })?;
            ensure!(memory.given.zeroed || !zeroed, "zeros were asked for: {:?}", memory.given);
            let mut queue = seat.queue(LaneKind::Compute)?;
            let found = queue.read(&memory)?;
            let zeros = found.iter().all(|b| *b == 0);
            ensure!(zeros || !memory.given.zeroed, "memory said to be zeroed is not");
            queue.write(&memory, &noise(1 << 12, 1))?;
        }
        Ok(())
    })
}

fn host_addresses_are_the_allocation(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(256)?;
        let Some(address) = memory.given.host else { return Ok(()) };
        let mut queue = seat.queue(LaneKind::Compute)?;
        queue.write(&memory, &noise(256, 8))?;
        // SAFETY: the allocation has 256 bytes there, and nothing writes them now.
        let seen = unsafe { std::slice::from_raw_parts(address.0, 256) };
        ensure!(seen == noise(256, 8), "the host sees other bytes at {address:?}");
        Ok(())
    })
}

/// USM-01: device, host and shared memory, which lanes copy from and to, which is found by its
/// address, and which the host reaches unless it is the device's.
fn every_kind_is_usm(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let device = seat.memory(256)?;
        for kind in [AllocKind::Device, AllocKind::Host, AllocKind::Shared] {
            let memory = seat.memory_of(kind, 256)?;
            let mut queue = seat.queue(LaneKind::Compute)?;
            queue.write(&memory, &noise(256, 3))?;
            queue.copy(&[], &[line(memory.at(0), device.at(0), 256)])?;
            ensure!(queue.read(&device)? == noise(256, 3), "{kind:?} to the device");
            queue.copy(&[], &[line(device.at(0), memory.at(128), 128)])?;
            let expect = [&noise(256, 3)[..128], &noise(256, 3)[..128]].concat();
            ensure!(queue.read(&memory)? == expect, "the device to {kind:?}");
            let usm = seat.device.usm();
            let found = memory.given.address.and_then(|address| usm.query(address + 255));
            if let Some(found) = found {
                let right = found.handle == memory.given.handle && found.offset == 255;
                ensure!(right && found.kind == kind, "{kind:?}: {found:?}");
            }
            let Some(host) = memory.given.host else {
                ensure!(kind == AllocKind::Device, "the host does not reach {kind:?}");
                continue;
            };
            let known = memory.given.address.filter(|_| kind != AllocKind::Device);
            let is_hosts = known.is_none_or(|address| address == host.0 as u64);
            ensure!(is_hosts, "{kind:?} is known by {known:?}, and the host has it at {host:?}");
            // SAFETY: the allocation has 256 bytes there, and nothing writes them now.
            let seen = unsafe { std::slice::from_raw_parts(host.0, 256) };
            ensure!(seen == expect, "the host sees other bytes in {kind:?}");
        }
        Ok(())
    })
}

/// USM-02: a hint has a tick like any operation, and touches no data.
fn hints_are_operations(rig: &Rig) -> Outcome {
    if !rig.devices.iter().any(|d| d.info().caps.hints) {
        return unsupported("hints");
    }
    rig.each(|seat| {
        if !seat.device.info().caps.hints {
            return Ok(());
        }
        for kind in [AllocKind::Device, AllocKind::Host, AllocKind::Shared] {
            let memory = seat.memory_of(kind, 256)?;
            let mut queue = seat.queue(LaneKind::Compute)?;
            queue.write(&memory, &noise(256, 5))?;
            for hint in [
                Hint::Prefetch,
                Hint::Advise(Advice::ReadMostly),
                Hint::Advise(Advice::PreferDevice),
                Hint::Advise(Advice::PreferHost),
                Hint::Advise(Advice::UsedByDevice),
                Hint::Advise(Advice::Nothing),
            ] {
                queue.hint(memory.at(64), 128, hint)?;
                queue.finish()?;
            }
            ensure!(queue.read(&memory)? == noise(256, 5), "a hint changed {kind:?} memory");
            ensure!(queue.failures().is_empty(), "a hint about {kind:?} memory failed");
        }
        Ok(())
    })
}

/// The host's view of a linked allocation.
fn seen<'m>(memory: &'m mut super::rig::Memory<'_>) -> Result<&'m mut [u8], super::rig::Stop> {
    let Some(host) = memory.given.host else { return Err(no_address()) };
    // SAFETY: the allocation has so many bytes there, which are mapped for the host as long as
    // these are used.
    Ok(unsafe { std::slice::from_raw_parts_mut(host.0, memory.size as usize) })
}

fn no_address() -> super::rig::Stop {
    HalError::new(HalErrorKind::Driver, "linked memory without an address on the host").into()
}

/// Device and host use linked memory in turn, each finds what the other has left, and it stays
/// where it is.
fn linked_memory_changes_sides(rig: &Rig) -> Outcome {
    if !rig.devices.iter().any(|d| d.info().caps.links.is_some()) {
        return unsupported("linked memory");
    }
    rig.each(|seat| {
        if seat.device.info().caps.links.is_none() {
            return Ok(());
        }
        let size = 5000;
        let mut memory = seat.memory_for(&AllocReq { linked: true, ..request(size, 64) })?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        for round in 0..3 {
            queue.write(&memory, &noise(size, round))?;
            queue.switch(&memory, Side::HostReads)?;
            ensure!(*seen(&mut memory)? == *noise(size, round), "the host sees other bytes");
            queue.switch(&memory, Side::Device)?;
            ensure!(queue.read(&memory)? == noise(size, round), "to look has changed something");
            queue.switch(&memory, Side::HostWrites)?;
            let bytes = seen(&mut memory)?;
            ensure!(*bytes == *noise(size, round), "the host sees other bytes, to write");
            bytes[..100].copy_from_slice(&noise(100, 77));
            queue.switch(&memory, Side::Device)?;
            let expect = [noise(100, 77), noise(size, round)[100..].to_vec()].concat();
            ensure!(queue.read(&memory)? == expect, "the device sees other bytes");
            queue.switch(&memory, Side::HostOverwrites)?;
            seen(&mut memory)?.copy_from_slice(&noise(size, 33));
            queue.switch(&memory, Side::Device)?;
            ensure!(queue.read(&memory)? == noise(size, 33), "the device sees older bytes");
        }
        ensure!(queue.failures().is_empty(), "an operation has failed");
        Ok(())
    })
}

/// Memory of the host that is aligned as the device says is what linked memory is over: the device
/// begins with what it holds, and the host finds there what the device has written. Other memory,
/// if it is refused, is so by its kind.
fn memory_of_the_host_is_linked(rig: &Rig) -> Outcome {
    if !rig.devices.iter().any(|d| d.info().caps.links.is_some()) {
        return unsupported("linked memory");
    }
    rig.each(|seat| {
        let Some(align) = seat.device.info().caps.links else { return Ok(()) };
        let (size, before) = (4096, seat.device.usm().memory().in_use);
        let mut room = vec![0u8; size + align as usize];
        let ahead = room.as_ptr().align_offset(align as usize);
        let host = &mut room[ahead..][..size];
        host.copy_from_slice(&noise(size as u64, 6));
        let at = HostPtr(host.as_mut_ptr());
        let over = |at| AllocReq {
            linked: true,
            exported: false,
            import: Some(RawMemory::Host(at)),
            ..request(size as u64, align)
        };
        let mut memory = seat.memory_for(&over(at))?;
        ensure!(memory.given.host == Some(at), "{:?} is over {at:?}", memory.given);
        ensure!(seat.device.usm().memory().in_use == before, "the device is charged with it");
        let mut queue = seat.queue(LaneKind::Compute)?;
        ensure!(queue.read(&memory)? == noise(size as u64, 6), "the device sees other bytes");
        queue.write(&memory, &noise(size as u64, 7))?;
        queue.switch(&memory, Side::HostReads)?;
        ensure!(*seen(&mut memory)? == *noise(size as u64, 7), "the host sees other bytes");
        queue.switch(&memory, Side::Device)?;
        drop((queue, memory));
        let beside = HostPtr(at.0.wrapping_add(1));
        let refused = seat.device.usm().alloc(&AllocReq { size: 64, ..over(beside) });
        match refused.map(|made| seat.device.usm().free(made.handle)) {
            Err(error) if !matches!(error.kind, HalErrorKind::Unsupported) => Err(error.into()),
            _ => Ok(()),
        }
    })
}

fn pointers_are_found(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(256)?;
        let Some(address) = memory.given.address else { return Ok(()) };
        let usm = seat.device.usm();
        let Some(found) = usm.query(address + 100) else {
            return unsupported("queries of pointers");
        };
        let right = found.handle == memory.given.handle && found.offset == 100 && found.size >= 256;
        ensure!(right && found.kind == AllocKind::Device, "{found:?}");
        ensure!(usm.query(1).is_none(), "address 1 belongs to somebody");
        Ok(())
    })
}
