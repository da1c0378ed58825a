//! Refused uses of USM, raw memory, and buffers over it.

use super::*;

/// USM-01, ERR-01
pub(super) fn bad_usm_requests(rig: &Rig) -> Outcome {
    let device = rig.queue()?.device();
    let before = (rig.rt.counters(), device.budget().1);
    for align in [0, 3, 48, usize::MAX] {
        let made = Usm::<u8>::aligned(&device, UsmKind::Device, 8, align);
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
pub(super) fn bad_raw_commands(rig: &Rig) -> Outcome {
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
        cg.fill(&mut rig.rt.buffer::<u8, 1>(1)?, 1);
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
            cg.prefetch(&elsewhere, Destination::Device);
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
pub(super) fn bad_buffers_over_pointers(rig: &Rig) -> Outcome {
    let device = rig.queue()?.device();
    let usm = rig.rt.usm::<u32>(&device, nearest(rig, &device)?, 8)?;
    let at = usm.pointer();
    let before = rig.rt.counters();
    let over = |at: UsmPtr, len: usize| {
        // SAFETY: `usm` lives longer than what is made here, which is dropped at once.
        unsafe { at.buffer::<u32>(&rig.rt, len, false) }.map(drop)
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
pub(super) fn bad_pointers_of_buffers(rig: &Rig) -> Outcome {
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
    let (guard, before) = (x.read()?, rig.rt.counters());
    refused!(written(&mut x, 0, 1, &device), Error::HostAccessHeld { .. });
    ensure_eq!(rig.rt.counters(), before, "nothing is allocated for what is refused");
    drop(guard);
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

/// A graph whose task writes USM that the host reaches; and the USM.
fn with_task(rig: &Rig, q: &Queue, kind: UsmKind) -> Result<Option<(Executable, Usm<u32>)>, Stop> {
    let mut usm = rig.rt.usm::<u32>(&q.device(), kind, 8)?;
    let graph = rig.rt.graph(&q.device())?;
    let described = graph.add(|cg| {
        let x = cg.write(&mut usm);
        cg.each_run().host_task(x, |mut x| x[0] = 5);
        Ok(())
    });
    match described {
        Err(Error::NotAccessible { .. }) => return Ok(None),
        other => other?,
    };
    let run = graph.finalize()?;
    q.run_graph(&run)?.wait()?;
    Ok(Some((run, usm)))
}

/// USM-01, GRAPH-03, ERR-01: a graph's task does not get memory that the host does not reach.
pub(super) fn tasks_over_usm_that_has_moved_on(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    for kind in kinds(rig, &q.device())? {
        let Some((run, usm)) = with_task(rig, &q, kind)? else { continue };
        let mut x = rig.rt.buffer::<u32, 1>(8)?;
        x.give_allocation(usm).map_err(|(error, _)| error)?;
        refused!(q.run_graph(&run), Error::NotAccessible { .. });
        ensure_eq!(x.to_vec()?, [0; 8], "what it held does not count");
        let Some((run, usm)) = with_task(rig, &q, kind)? else { continue };
        let mut x = usm.into_buffer();
        ensure_eq!(x.to_vec()?[0], 5);
        refused!(q.run_graph(&run), Error::NotAccessible { .. });
        x.release(&q.device())?;
        refused!(q.run_graph(&run), Error::NotAccessible { .. });
        ensure_eq!(x.to_vec()?[0], 5);
        let _again = x.take_allocation(&q.device())?;
        refused!(q.run_graph(&run), Error::NotAccessible { .. });
    }
    Ok(())
}

/// BUF-03, ERR-01: a graph has a view of the buffer by a type that needs more than its present one.
pub(super) fn misaligned_memory_is_not_given(rig: &Rig) -> Outcome {
    let other = rig.separate(1)?.remove(0);
    let on_host = |device: &DeviceRef| device.info().home == MemoryHome::Host;
    let Some(device) = rig.rt.devices().into_iter().find(on_host) else {
        return unsupported("a device in the host's memory");
    };
    let q = rig.rt.queue_on(&device)?;
    // Memory of vectors is aligned as the allocator likes.
    let vectors: Vec<Vec<u8>> = (0..64).map(|_| vec![3; 256]).collect();
    let odd = vectors.into_iter().find(|v| !v.as_ptr().addr().is_multiple_of(64));
    let Some(odd) = odd else { return unsupported("vectors that are not aligned to 64 bytes") };
    let mut given = rig.rt.buffer_from(odd)?;
    other.submit(|cg| {
        cg.prefetch(&given, Destination::Device);
        Ok(())
    })?;
    other.wait()?;
    let usm = given.take_allocation(&q.device())?;
    let mut x = rig.rt.buffer::<Wide, 1>(4)?;
    let graph = rig.rt.graph(&q.device())?;
    graph.add(|cg| {
        let x = cg.write(&mut x);
        cg.each_run().host_task(x, |mut x| x[0] = Wide { values: [1; 8] });
        Ok(())
    })?;
    let run = graph.finalize()?;
    let mut bytes: Buffer<u8> = x.reinterpret(256)?;
    let Err((error, usm)) = bytes.give_allocation(usm) else {
        return Err(Stop::Failed("misaligned memory was given".into()));
    };
    refused!(Err::<(), _>(error), Error::Misaligned { align: 64, .. });
    q.run_graph(&run)?.wait()?;
    ensure_eq!(bytes.to_vec()?[0], 1);
    // A buffer of bytes takes it.
    let mut bytes = rig.rt.buffer::<u8, 1>(256)?;
    bytes.give_allocation(usm).map_err(|(error, _)| error)?;
    Ok(())
}

#[derive(Clone, Copy, folio::DeviceType)]
#[repr(C, align(64))]
struct Wide {
    values: [u64; 8],
}
