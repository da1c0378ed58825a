//! Raw memory: copies and fills by pointers, their order, and what they write.

use super::*;

/// USM-02: between all devices, and between each and the host.
pub(super) fn raw_copies_from_everywhere_to_everywhere(rig: &Rig) -> Outcome {
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
        let host = UsmPtr::of_host(&rig.rt, own.as_mut_ptr().cast(), 2000);
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
pub(super) fn raw_copies_of_rows_and_slices(rig: &Rig) -> Outcome {
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
pub(super) fn raw_fills_of_rows_and_slices(rig: &Rig) -> Outcome {
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
pub(super) fn windows_are_copied_and_filled(rig: &Rig) -> Outcome {
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
        let mut out = rig.rt.buffer::<u32, 1>(24)?;
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

/// USM-02, DEP-04: out of order, what is to come after is said with events; a failure travels
/// there.
pub(super) fn raw_commands_wait_for_events(rig: &Rig) -> Outcome {
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
pub(super) fn raw_writes_of_fresh_memory_stay(rig: &Rig) -> Outcome {
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
pub(super) fn writes_by_address_of_fresh_memory_stay(rig: &Rig) -> Outcome {
    let mut seen = false;
    for device in rig.rt.devices() {
        let q = rig.rt.queue_on(&device)?;
        for kind in kinds(rig, &device)?.into_iter().filter(|kind| *kind != UsmKind::Device) {
            let mut usm = rig.rt.usm::<u32>(&device, kind, 4)?;
            let Some(address) = usm.pointer().address() else { continue };
            seen = true;
            let words = std::ptr::with_exposed_provenance_mut::<u32>(address as usize);
            // SAFETY: the host reaches memory of this kind, which has four elements, and nobody
            // else knows of it yet.
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
    if seen { Ok(()) } else { unsupported("addresses that the host reaches") }
}

/// USM-02: in order, nothing needs to be said.
pub(super) fn raw_commands_of_queues_in_order(rig: &Rig) -> Outcome {
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
