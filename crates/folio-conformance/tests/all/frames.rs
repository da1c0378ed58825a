//! Memory in frames: devices have memory only where pages of a buffer are. On simulated devices, on
//! CPUs by the system's own pages, and on GPUs where there are some. MEM-02
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::memory::Evict;
use folio::prelude::*;
use folio::sched::Split;
use folio_core::geom::Box3;
use folio_core::hal::{Backend, HalErrorKind, Link};
use folio_core::{BufferOptions, DeviceRef, Error, Items};
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use folio_layers::{Fault, Faults, Site, Validate};
use folio_model::interp::Interpreter;
use folio_sim::{DeviceSpec, SimBackend, SimHandle};
use std::sync::Arc;
use std::time::Instant;

#[kernel]
fn around(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    y[i] = 0.25 * (x[(r - 1, c)] + x[(r, c - 1)] + x[(r, c + 1)] + x[(r + 1, c)]);
}

#[kernel]
fn mix(i: Item<2>, x: InOut<u32, 2>) {
    let (r, c) = i.pos();
    x[i] = x[i] * 3 + (r * 5 + c) as u32;
}

#[kernel]
fn number(i: Item, by: u32, x: InOut<u32>) {
    x[i] = x[i] * 3 + i.index() as u32 + by;
}

#[kernel]
fn sum(i: Item, x: In<u32>, y: InOut<u32>) {
    y[i] += x[i];
}

/// Bytes of a frame of simulated devices.
const FRAME: u64 = 1024;

/// Simulated devices with so much memory each, in frames.
fn simulated(n: usize, memory: u64) -> (SimBackend, SimHandle) {
    let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    let spec = spec.memory(memory).frame(FRAME);
    let sim = SimBackend::builder().devices(n, spec).peers(Link::default()).build();
    let handle = sim.handle();
    (sim, handle)
}

/// A runtime over them, with the contract checked.
fn runtime(n: usize, memory: u64) -> (Runtime, SimHandle) {
    let (sim, handle) = simulated(n, memory);
    let rt = Runtime::builder().backend(Validate::new().over(sim)).build().unwrap();
    (rt, handle)
}

/// Bytes of the memory that a buffer has on a device.
fn bytes_on<T: DeviceType, const D: usize>(x: &Buffer<T, D>, device: &DeviceRef) -> u64 {
    let all = x.allocations().into_iter();
    all.filter(|alloc| alloc.device.as_ref().is_some_and(|on| on.name() == device.name()))
        .map(|alloc| alloc.bytes)
        .sum()
}

/// The address of a buffer on a device.
fn address_on<T: DeviceType, const D: usize>(x: &Buffer<T, D>, device: &DeviceRef) -> u64 {
    let all = x.allocations().into_iter();
    all.filter(|alloc| alloc.device.as_ref().is_some_and(|on| on.name() == device.name()))
        .find_map(|alloc| alloc.address)
        .unwrap()
}

/// Bytes of the frames in which elements of 4 bytes of a plate lie, byte by byte.
fn frames_of([rows, columns]: [usize; 2], elements: &[Box3], frame: u64) -> u64 {
    let mut used = vec![false; (rows * columns * 4).div_ceil(frame as usize)];
    for [_, r, c] in elements.iter().flat_map(|part| part.cells()) {
        let at = 4 * (r * columns + c);
        [at, at + 3].into_iter().for_each(|byte| used[byte / frame as usize] = true);
    }
    used.into_iter().filter(|used| *used).count() as u64 * frame
}

fn floats(n: usize) -> Vec<f32> {
    (0..n as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 12) as f32 / 1024.0).collect()
}

fn bits(x: &Buffer<f32, 2>) -> Vec<u32> {
    x.to_vec().unwrap().into_iter().map(f32::to_bits).collect()
}

/// A field that no device has room for: each has memory for its own part, rounded up to frames,
/// and gets it once.
#[test]
fn a_field_of_one_and_a_half_memories_is_spread() {
    let (memory, extent) = (64 << 10, [192, 128]);
    assert_eq!(4 * extent[0] * extent[1], memory * 3 / 2);
    let (rt, sim) = runtime(2, memory as u64);
    let q = rt.queue_over(&rt.devices(), Split::rows()).unwrap();
    let mut x = rt.buffer::<u32, 2>(extent).unwrap();
    for _ in 0..10 {
        q.spread(extent, mix(&mut x)).unwrap().wait().unwrap();
    }
    for device in rt.devices() {
        assert_eq!(bytes_on(&x, &device), 4 * 96 * 128);
        assert_eq!(device.budget().1, 4 * 96 * 128);
    }
    let counts = rt.counters();
    assert_eq!((counts.frame_maps, counts.mapped_bytes), (2, memory as u64 * 3 / 2));
    assert_eq!((counts.evictions, counts.allocations), (0, 0));
    let expected = (0..extent[0] * extent[1]).map(|at| {
        let by = (at / 128 * 5 + at % 128) as u32;
        (0..10).fold(0u32, |x, _| x.wrapping_mul(3).wrapping_add(by))
    });
    assert_eq!(x.to_vec().unwrap(), expected.collect::<Vec<_>>());
    drop(x);
    rt.wait().unwrap();
    drop((q, rt));
    assert_eq!(sim.violations(), []);
}

/// Steps of a stencil over `devices`: two fields, of which no device has room for one and a half.
fn stencil(rt: &Runtime, devices: &[DeviceRef], extent: [usize; 2], frame: u64) {
    let n = devices.len();
    let q = rt.queue_over(devices, Split::rows()).unwrap();
    let one = Runtime::builder().backend(CpuBackend::new().unwrap()).build().unwrap();
    let data = floats(extent[0] * extent[1]);
    let options = || BufferOptions::new().sparse(true);
    let made = |rt: &Runtime| rt.buffer_with((data.clone(), extent), options()).unwrap();
    let begun = Instant::now();
    let (mut x, mut y) = (made(rt), made(rt));
    let (mut a, mut b) = (made(&one), made(&one));
    let items = Items::from(extent).interior(1);
    let mut maps = 0;
    for step in 0..4 {
        let parts = q.explain_spread(items, &around(&x, &mut y)).unwrap().parts;
        q.spread(items, around(&x, &mut y)).unwrap().wait().unwrap();
        one.queue().unwrap().run(items, around(&a, &mut b)).unwrap();
        if step < 2 {
            for (device, part) in devices.iter().zip(&parts) {
                let at = |d: usize| (part.offset[d], part.offset[d] + part.range[d]);
                let ((top, bottom), (left, right)) = (at(0), at(1));
                let read = [
                    Box3 { min: [0, top - 1, left], max: [1, bottom + 1, right] },
                    Box3 { min: [0, top, left - 1], max: [1, bottom, right + 1] },
                ];
                let mapped = bytes_on(&x, device);
                let least = frames_of(extent, &read, frame);
                assert_eq!(mapped, least, "step {step}, {device:?} of {n}");
            }
        }
        std::mem::swap(&mut x, &mut y);
        std::mem::swap(&mut a, &mut b);
        let now = rt.counters().frame_maps;
        assert!(step < 2 || now == maps, "frames get memory once: {now} after {maps}");
        maps = now;
    }
    println!("{extent:?} over {n} devices: {maps} maps, {:?}", begun.elapsed());
    assert_eq!(bits(&x), bits(&a));
}

#[test]
fn stencils_have_memory_for_their_parts() {
    for n in [2, 3, 5] {
        let (rt, sim) = runtime(n, 80 << 10);
        stencil(&rt, &rt.devices(), [180, 96], FRAME);
        rt.wait().unwrap();
        drop(rt);
        assert_eq!(sim.violations(), []);
    }
}

/// The same on CPUs with memory of their own: an access beyond would end the process.
#[test]
fn parts_on_cpus_have_pages_of_the_system() {
    let cpu = CpuBackend::builder().domains(3).threads(3).build().unwrap();
    let frame = cpu.devices().unwrap()[1].caps.frame;
    let Some(frame) = frame else { return println!("skipped: no frames on this system") };
    let rt = Runtime::builder().backend(cpu).build().unwrap();
    stencil(&rt, &rt.devices()[1..], [1100, 1024], frame);
}

/// The address is that of all of the buffer, whatever of it has memory; a pointer has all.
#[test]
fn the_address_stays() {
    let (rt, sim) = runtime(1, 1 << 20);
    let (q, device) = (rt.queue().unwrap(), rt.devices()[0].clone());
    let n = 32 * FRAME as usize / 4;
    let mut x = rt.buffer::<u32, 1>(n).unwrap();
    q.run(n / 32, number(1, x.slice_mut(n / 2, n / 32).unwrap())).unwrap();
    let address = address_on(&x, &device);
    let page = 64 << 10;
    assert_eq!(bytes_on(&x, &device), (n as u64 * 4).min(page), "a page is the least");
    q.run(n, number(1, &mut x)).unwrap();
    assert_eq!((address_on(&x, &device), bytes_on(&x, &device)), (address, 4 * n as u64));
    let pages = BufferOptions::new().page([FRAME as usize / 4]);
    let mut y = rt.buffer_with(n, pages).unwrap();
    q.run(3, number(1, y.slice_mut(FRAME as usize / 4 - 1, 3).unwrap())).unwrap();
    let address = address_on(&y, &device);
    assert_eq!(bytes_on(&y, &device), 2 * FRAME);
    let pointer = y.pointer(&device).unwrap();
    assert_eq!(pointer.address(), Some(address));
    assert_eq!(bytes_on(&y, &device), 4 * n as u64);
    let mut expected = vec![0u32; n];
    (0..3).for_each(|at| expected[FRAME as usize / 4 - 1 + at] = at as u32 + 1);
    assert_eq!(y.to_vec().unwrap(), expected);
    drop((x, y));
    rt.wait().unwrap();
    assert_eq!((device.budget().1, sim.violations()), (0, vec![]));
}

#[test]
fn options_decide() {
    let (rt, _) = runtime(1, 1 << 20);
    let (q, device) = (rt.queue().unwrap(), rt.devices()[0].clone());
    let page = || BufferOptions::new().page([64]);
    let run = |options: BufferOptions, n: usize, used: usize| {
        let mut x = rt.buffer_with(n, options).unwrap();
        q.run(used, number(1, x.slice_mut(0, used).unwrap())).unwrap();
        let alloc = x.allocations().into_iter().find(|alloc| alloc.device.is_some()).unwrap();
        assert_eq!(alloc.bytes, bytes_on(&x, &device));
        (alloc.frame, alloc.bytes)
    };
    let frame = FRAME as usize / 4;
    assert_eq!(run(page(), 8 * frame, 64), (Some(FRAME), FRAME));
    assert_eq!(run(page(), 8 * frame - 256, 64), (None, 7 * FRAME), "it is small");
    assert_eq!(run(page(), 8 * frame, 8 * frame), (None, 8 * FRAME), "all is needed");
    assert_eq!(run(page().sparse(false), 8 * frame, 64), (None, 8 * FRAME));
    assert_eq!(run(page().sparse(true), 2 * frame, 64), (Some(FRAME), FRAME));
    assert_eq!(run(page().sparse(true), 2 * frame, 2 * frame), (Some(FRAME), 2 * FRAME));
    let plain = SimBackend::builder().devices(1, DeviceSpec::new()).build();
    let rt = Runtime::builder().backend(plain).build().unwrap();
    let mut x = rt.buffer_with(64 * frame, page().sparse(true)).unwrap();
    rt.queue().unwrap().fill(x.slice_mut(0, 64).unwrap(), 7u32).unwrap();
    let alloc = x.allocations().into_iter().find(|alloc| alloc.device.is_some()).unwrap();
    assert_eq!((alloc.frame, alloc.bytes), (None, 64 * FRAME), "the device has none");
}

/// Frames give memory back when it is short: those of which nothing is current always, those whose
/// pages are current elsewhere where the program has allowed it. What only they have stays.
#[test]
fn frames_give_way() {
    let room = 16;
    for evict in [None, Some(Evict::clean()), Some(Evict::dirty())] {
        let (rt, sim) = runtime(1, room * FRAME);
        let (q, device) = (rt.queue().unwrap(), rt.devices()[0].clone());
        let frame = FRAME as usize / 4;
        let options = || {
            let options = BufferOptions::new().page([frame]).sparse(true);
            evict.iter().fold(options, |options, how| options.evict(*how))
        };
        let start: Vec<u32> = (0..12 * frame as u32).collect();
        let x = rt.buffer_with((&start, 12 * frame), options()).unwrap();
        let mut y = rt.buffer_with(12 * frame, options()).unwrap();
        // Four frames of `x` are clean, four of `y` are dirty, and four outdated.
        q.run(4 * frame, sum(x.slice(0, 4 * frame).unwrap(), y.slice_mut(0, 4 * frame).unwrap()))
            .unwrap();
        q.run(4 * frame, number(1, y.slice_mut(4 * frame, 4 * frame).unwrap())).unwrap();
        y.slice_mut(4 * frame, 4 * frame).unwrap().write().unwrap().fill(9);
        let address = address_on(&y, &device);
        assert_eq!(device.budget().1, 12 * FRAME);
        let mut z = rt.buffer_with(12 * frame, options()).unwrap();
        let wanted = match evict {
            None => 8,
            Some(evict) if evict == Evict::clean() => 12,
            Some(_) => 12,
        };
        q.run(wanted * frame, number(3, z.slice_mut(0, wanted * frame).unwrap())).unwrap();
        q.wait().unwrap();
        let refused = q.run(12 * frame, number(3, &mut z));
        assert_eq!(refused.is_err(), evict.is_none(), "{refused:?}");
        if evict.is_none() {
            assert!(matches!(refused, Err(Error::OutOfMemory { .. })));
            assert_eq!(bytes_on(&x, &device), 4 * FRAME);
        } else {
            assert_eq!(bytes_on(&x, &device), 0);
        }
        assert!(bytes_on(&y, &device) <= 4 * FRAME);
        assert_eq!(address_on(&y, &device), address);
        assert_eq!(x.to_vec().unwrap(), start);
        let mut expected = vec![0u32; 12 * frame];
        expected[..4 * frame].copy_from_slice(&start[..4 * frame]);
        expected[4 * frame..8 * frame].fill(9);
        assert_eq!(y.to_vec().unwrap(), expected);
        let counts = rt.counters();
        assert!(counts.unmapped_bytes >= 4 * FRAME, "{counts:?}");
        assert_eq!(device.budget().1, counts.mapped_bytes - counts.unmapped_bytes);
        drop((x, y, z));
        rt.wait().unwrap();
        assert_eq!((device.budget().1, sim.violations()), (0, vec![]));
    }
}

/// A window goes over a buffer that is larger than the device: what it leaves behind makes room.
#[test]
fn a_window_moves_over_a_buffer_that_does_not_fit() {
    let (rt, sim) = runtime(1, 8 * FRAME);
    let (q, device) = (rt.queue().unwrap(), rt.devices()[0].clone());
    let frame = FRAME as usize / 4;
    let options = BufferOptions::new().page([frame]).evict(Evict::clean());
    let start: Vec<u32> = (0..40 * frame as u32).collect();
    let x = rt.buffer_with((&start, 40 * frame), options).unwrap();
    let mut y = rt.buffer::<u32, 1>(4 * frame).unwrap();
    for at in 0..37 {
        let part = x.slice(at * frame, 4 * frame).unwrap();
        q.run(4 * frame, sum(part, &mut y)).unwrap();
    }
    let add = |k: usize| (0..37).map(|at| start[at * frame + k]).fold(0, u32::wrapping_add);
    assert_eq!(y.to_vec().unwrap(), (0..4 * frame).map(add).collect::<Vec<_>>());
    assert!(device.budget().1 <= 8 * FRAME);
    assert!(rt.counters().evictions > 3, "{:?}", rt.counters());
    drop((x, y));
    rt.wait().unwrap();
    assert_eq!(sim.violations(), []);
}

/// Outdated frames make room for others of their buffer, whatever its options say.
#[test]
fn frames_of_outdated_pages_make_room() {
    let (rt, sim) = runtime(2, 40 * FRAME);
    let frame = FRAME as usize / 4;
    let n = 128 * frame;
    let mut x = rt.buffer_with(n, BufferOptions::new().page([frame])).unwrap();
    let queues = [0, 1].map(|at| rt.queue_on(&rt.devices()[at]).unwrap());
    for part in 0..4 {
        let at = 32 * frame * part;
        for q in &queues {
            q.run(32 * frame, number(5, x.slice_mut(at, 32 * frame).unwrap())).unwrap();
        }
        // From here on both are outdated.
        for value in x.slice_mut(at, 32 * frame).unwrap().write().unwrap().iter_mut() {
            *value += 1;
        }
    }
    let expected = (0..n as u32).map(|at| {
        let by = at % (32 * frame as u32) + 5;
        by * 3 + by + 1
    });
    assert_eq!(x.to_vec().unwrap(), expected.collect::<Vec<_>>());
    let counts = rt.counters();
    assert_eq!((counts.mapped_bytes, counts.unmapped_bytes), (8 * 32 * FRAME, 6 * 32 * FRAME));
    drop(x);
    rt.wait().unwrap();
    assert_eq!(sim.violations(), []);
}

/// Memory of frames that a device refuses is a typed error of the call. Nothing has changed, and
/// the next call succeeds; several frames of one call come all or not at all.
#[test]
fn refused_frames_change_nothing() {
    let kinds = [
        HalErrorKind::Driver,
        HalErrorKind::OutOfMemory { asked: 1, in_use: 2, limit: 3 },
        HalErrorKind::Unsupported,
    ];
    for (kind, nth) in kinds.iter().flat_map(|kind| (1..=3).map(move |nth| (kind, nth))) {
        let (sim, handle) = simulated(1, 1 << 20);
        let faults = Faults::new();
        let faulty = faults.handle();
        let layers = Validate::new().over(faults.over(sim));
        let rt = Runtime::builder().backend(layers).build().unwrap();
        let (q, device) = (rt.queue().unwrap(), rt.devices()[0].clone());
        let frame = FRAME as usize / 4;
        let options = || BufferOptions::new().page([frame]).sparse(true).label("field");
        let mut x = rt.buffer_with(9 * frame, options()).unwrap();
        for at in [1, 5] {
            q.run(frame, number(1, x.slice_mut(at * frame, frame).unwrap())).unwrap();
        }
        q.wait().unwrap();
        let state = |x: &Buffer<u32>| {
            let counts = rt.counters();
            let all = (counts.mapped_bytes, counts.allocations, counts.launches);
            (all, device.budget(), bytes_on(x, &device))
        };
        let before = state(&x);
        // Memory that is short is asked for again once what is unused was looked for.
        let out = matches!(kind, HalErrorKind::OutOfMemory { .. });
        let done = faulty.counts()[&Site::Map];
        for again in 0..=u64::from(out) {
            faulty.inject(Site::Map, done + nth + again, Fault::Now(kind.clone()));
        }
        match (kind, q.run(9 * frame, number(2, &mut x))) {
            (HalErrorKind::OutOfMemory { .. }, Err(Error::OutOfMemory { label, .. })) => {
                assert!(label.to_string().contains("field"), "{label}");
            }
            (HalErrorKind::Driver, Err(Error::Device { doing, .. })) => {
                assert!(doing.starts_with("allocate ") && doing.contains("field"), "{doing}");
            }
            (HalErrorKind::Unsupported, Err(Error::Unsupported { what, .. })) => {
                assert!(what.contains("field"), "{what}");
            }
            (kind, other) => panic!("{kind:?}: {other:?}"),
        }
        assert_eq!(before, state(&x), "{kind:?} at {nth}");
        q.run(9 * frame, number(2, &mut x)).unwrap();
        let first = |at: usize| match at / frame {
            1 | 5 => (at % frame) as u32 + 1,
            _ => 0,
        };
        let expected = (0..9 * frame).map(|at| first(at) * 3 + at as u32 + 2);
        assert_eq!(x.to_vec().unwrap(), expected.collect::<Vec<_>>());
        drop(x);
        rt.wait().unwrap();
        assert_eq!((device.budget().1, handle.violations()), (0, vec![]));
    }
}

/// An allocation that is taken out of a buffer has all of its memory, and keeps its address.
#[test]
fn what_is_taken_out_has_all_memory() {
    let (rt, sim) = runtime(1, 1 << 20);
    let (q, device) = (rt.queue().unwrap(), rt.devices()[0].clone());
    let frame = FRAME as usize / 4;
    let options = BufferOptions::new().page([frame]).sparse(true);
    let mut x = rt.buffer_with(9 * frame, options).unwrap();
    q.run(frame, number(1, x.slice_mut(frame, frame).unwrap())).unwrap();
    let (address, contents) = (address_on(&x, &device), x.to_vec().unwrap());
    let usm = x.take_allocation(&device).unwrap();
    assert_eq!((usm.pointer().address(), device.budget().1), (Some(address), 9 * FRAME));
    assert_eq!(x.to_vec().unwrap(), contents);
    let y = usm.into_buffer();
    q.run(9 * frame, number(1, &mut x)).unwrap();
    assert_eq!(y.to_vec().unwrap(), contents);
    drop(y);
    rt.wait().unwrap();
    let bytes = bytes_on(&x, &device);
    assert_eq!(device.budget().1, bytes);
    x.to_vec().unwrap();
    x.release(&device).unwrap();
    assert_eq!((device.budget().1, sim.violations()), (0, vec![]));
}

/// A buffer of twice a GPU's memory, of which a tenth is touched.
#[test]
fn cuda_a_buffer_of_twice_the_memory_works() {
    let Some((rt, devices, frame)) = gpus(1) else { return };
    let device = &devices[0];
    let q = rt.queue_on(device).unwrap();
    // Elements of 4 bytes: twice the memory.
    let n = (device.info().memory / 2) as usize;
    let page = frame as usize / 4;
    let mut x = rt.buffer_with(n, BufferOptions::new().page([page])).unwrap();
    // Windows that together are a tenth of the buffer.
    let (windows, width) = (80, n / 800);
    let at = |window: usize| n / windows * window + 1234;
    for by in [1, 2] {
        for window in 0..windows {
            let part = x.slice_mut(at(window), width).unwrap();
            q.run(width, number(by, part)).unwrap();
        }
    }
    q.wait().unwrap();
    let frames = |window: usize| {
        let (from, to) = (4 * at(window) as u64, 4 * (at(window) + width) as u64);
        to.div_ceil(frame) - from / frame
    };
    let used: u64 = (0..windows).map(frames).sum();
    assert_eq!(bytes_on(&x, device), used * frame);
    assert_eq!(rt.counters().frame_maps, windows as u64);
    let address = address_on(&x, device);
    // The host has no room for all of the buffer: a part comes by way of another one.
    let some = 1 << 16;
    let mut part = rt.buffer::<u32, 1>(some).unwrap();
    for window in [0, 17, windows - 1] {
        for first in [0, width - some] {
            q.copy(x.slice(at(window) + first, some).unwrap(), &mut part).unwrap();
            let value = |k: u32| k.wrapping_add(1).wrapping_mul(3).wrapping_add(k).wrapping_add(2);
            let expected = (first as u32..(first + some) as u32).map(value);
            assert!(part.to_vec().unwrap().into_iter().eq(expected), "window {window}");
        }
    }
    assert_eq!(address_on(&x, device), address);
    drop((x, part));
    rt.wait().unwrap();
    assert_eq!(device.budget().1, 0);
}

/// CUDA's devices, if there are so many that have frames.
fn gpus(count: usize) -> Option<(Runtime, Vec<DeviceRef>, u64)> {
    let backend = CudaBackend::new();
    let found = match backend.devices() {
        Ok(devices) => devices,
        Err(why) => {
            println!("skipped: cuda: {}", why.reason);
            return None;
        }
    };
    let frame = found.first().and_then(|info| info.caps.frame);
    let Some(frame) = frame.filter(|_| found.len() >= count) else {
        println!("skipped: cuda: {count} devices with frames");
        return None;
    };
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let devices = rt.devices();
    Some((rt, devices, frame))
}

/// Peers reach the frames of each other.
#[test]
fn cuda_a_field_is_spread_over_gpus() {
    let Some((rt, devices, frame)) = gpus(2) else { return };
    for n in 2..=devices.len() {
        stencil(&rt, &devices[..n], [12_000, 8192], frame);
    }
}

/// What frames cost: for each size, the time of all calls for so much memory.
#[test]
fn cuda_times_of_frames() {
    let Some((rt, devices, frame)) = gpus(1) else { return };
    let q = rt.queue_on(&devices[0]).unwrap();
    for frames in [8, 32, 128] {
        for sparse in [true, false] {
            let n = frames * frame as usize / 4;
            let options = BufferOptions::new().page([frame as usize / 4]).sparse(sparse);
            let mut x = rt.buffer_with(n, options).unwrap();
            let begun = Instant::now();
            q.run(n, number(1, &mut x)).unwrap();
            let asked = begun.elapsed();
            q.wait().unwrap();
            let first = begun.elapsed();
            let begun = Instant::now();
            (0..100).for_each(|_| drop(q.run(n, number(1, &mut x)).unwrap()));
            q.wait().unwrap();
            let later = begun.elapsed() / 100;
            println!("{frames} frames, sparse {sparse}: {asked:?}, {first:?}; then {later:?} each");
            assert_eq!(bytes_on(&x, &devices[0]), frames as u64 * frame);
        }
    }
}
