//! Tests beside the suites of the HAL and the engine.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::device::VulkanDevice;
use crate::device::platform::Found;
use crate::device::probe;
use crate::device::queues::Use;
use crate::lane::VulkanLane;
use crate::{Cache, Messages, VulkanBackend};
use folio_core::hal::{
    AllocKind, AllocReq, Allocation, Args, Argument, CopyRect, Device, FillRect, Geometry,
    HalErrorKind, Head, HostPtr, Image, KernelRef, KernelSource, Lane, LaneKind, MemBase, MemRef,
    Op, Order, Param, Source, UsmAllocator,
};
use folio_kernel::{Access, Binary, Builder, Kernel, Owner, Scalar};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

mod barriers;
mod copies;
#[cfg(unix)]
mod external;
mod faults;
mod features;
mod graph;
mod opaque;

/// The first device, with the validation layer; none where there is none, which is told.
fn found() -> Option<(Found, Messages)> {
    let backend = VulkanBackend::new().validated();
    match backend.found() {
        Ok(all) => Some((all[0].clone(), backend.messages())),
        Err(why) => {
            println!("skipped: vulkan: {}", why.reason);
            None
        }
    }
}

fn open(found: &Found) -> VulkanDevice {
    VulkanDevice::open(found, Cache::off()).unwrap()
}

fn alloc(device: &VulkanDevice, kind: AllocKind, size: u64) -> Allocation {
    let request = AllocReq {
        kind,
        size,
        align: 64,
        import: None,
        zeroed: true,
        linked: false,
        exported: false,
        label: "test",
    };
    device.alloc(&request).unwrap()
}

fn place(made: &Allocation, offset: u64) -> MemRef {
    MemRef { base: MemBase::Device { device: 0, handle: made.handle }, offset }
}

fn param(made: &Allocation, count: usize, size: u32, write: bool) -> Param {
    let dims = [1, 1, count];
    Param {
        mem: place(made, 0),
        size,
        write,
        dims,
        origin: [0; 3],
        extent: dims,
        index: [0; 3],
        shape: dims,
    }
}

/// Enqueues operations with the ticks from 1 on, and waits.
fn run(lane: &Arc<dyn Lane>, operations: &[Op<'_>]) -> Vec<(u64, folio_core::hal::HalError)> {
    for (tick, op) in (1..).zip(operations) {
        let head = Head { tick, order: Order::AfterPrevious, waits: &[], label: "", timed: false };
        lane.enqueue(&head, *op).unwrap();
    }
    assert!(lane.wait(operations.len() as u64, None).unwrap());
    let mut failures = vec![];
    lane.failures(&mut |tick, error| failures.push((tick, error)));
    failures
}

/// `y[i] = x[i] + x[i]`
fn twice() -> Kernel {
    let mut b = Builder::items("twice", 1);
    let x = b.view("x", Scalar::U32, 1, Access::In, Owner::Item);
    let y = b.view("y", Scalar::U32, 1, Access::Out, Owner::Item);
    let i = b.position(0);
    let value = b.load_at(x, [i]);
    let twice = b.binary(Binary::Add, value, value);
    b.store_at(y, [i], twice);
    b.finish().unwrap()
}

/// The layer speaks where there is a mistake, so its silence elsewhere means something.
#[test]
fn planted_mistake_is_told_by_the_validation_layer_of_vulkan() {
    // The layer says it to all backends of the process, so this has a process of its own.
    const ALONE: &str = "FOLIO_VULKAN_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let name = "tests::planted_mistake_is_told_by_the_validation_layer_of_vulkan";
        let mut own = std::process::Command::new(std::env::current_exe().unwrap());
        let out = own.args([name, "--exact", "--nocapture"]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success() && said.contains("1 passed"), "{said}");
        return said.lines().filter(|line| line.contains("skipped")).for_each(|l| println!("{l}"));
    }
    let Some((found, messages)) = found() else { return };
    let device = open(&found);
    assert_eq!(messages.all(), [] as [String; 0]);
    let made = alloc(&device, AllocKind::Device, 64);
    let block = device.0.memory.find(made.handle).unwrap();
    // SAFETY: the buffer is live; what the size violates is a rule of Vulkan's that lavapipe does
    // not rely on: no whole word is beyond the buffer.
    let filled = device.0.at_once(|commands| unsafe {
        device.0.device.cmd_fill_buffer(commands, block.buffer, 0, 7, 0);
    });
    drop(filled);
    let all = messages.all();
    assert!(all.iter().any(|message| message.contains("vkCmdFillBuffer")), "{all:?}");
}

/// The measured values are plausible: doubles are there, since they keep denormals.
#[test]
fn floats_of_vulkan_are_measured() {
    let Some((found, messages)) = found() else { return };
    println!("{:?}, denormals {}", found.target.capabilities, found.target.denormals);
    assert_eq!(found.info.caps.denormals, found.target.denormals);
    assert!(found.info.caps.exact_div_sqrt);
    // Measured again, the same.
    let mut again = found.clone();
    again.target.capabilities.base.f64 = true;
    probe::measure(&mut again).unwrap();
    assert_eq!(again.target.capabilities.exact, found.target.capabilities.exact);
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// CACHE-01: what a driver has compiled is found by the next process, if the driver tells it.
#[test]
fn pipelines_of_vulkan_are_kept() {
    let Some((found, messages)) = found() else { return };
    let directory = std::env::temp_dir().join(format!("folio-vulkan-{}", std::process::id()));
    let compiled = || {
        // SAFETY: the test's own directory.
        let cache = unsafe { Cache::at(&directory) };
        let device = VulkanDevice::open(&found, cache.clone()).unwrap();
        device.load(&KernelSource::Ir(&twice())).unwrap();
        cache
    };
    let first = compiled();
    let kept = first.entries().unwrap().len() as u64;
    assert_eq!((first.counts().found, first.counts().made), (0, 1));
    assert!(kept <= 1);
    let second = compiled().counts();
    assert_eq!((second.found, second.made), (kept, 1 - kept));
    std::fs::remove_dir_all(&directory).ok();
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// Patterns and places that are no whole words.
#[test]
fn fills_of_vulkan_are_of_any_size() {
    let Some((found, messages)) = found() else { return };
    let device = open(&found);
    let patterns: [&[u8]; 6] =
        [&[7], &[1, 2], &[1, 2, 3], &[1, 2, 3, 4], &[9; 16], &[1, 2, 3, 4, 5]];
    // A queue that only copies has no kernel for it.
    // Nor has a device without bytes.
    let mut without = found.clone();
    without.target.capabilities.int8 = false;
    let without = open(&without);
    for (device, queue, by_kernels) in [
        (&device, Use::Compute, true),
        (&device, Use::Copies, false),
        (&without, Use::Compute, false),
    ] {
        let before = device.0.counts().get();
        for pattern in patterns {
            for offset in [0, 1, 4, 6] {
                fills(device, queue, pattern, offset);
            }
        }
        let done = device.0.counts().get() - before;
        assert_eq!(done.dispatches > 0, by_kernels);
    }
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

fn fills(device: &VulkanDevice, queue: Use, pattern: &[u8], offset: u64) {
    let lane: Arc<dyn Lane> = VulkanLane::new(device.0.clone(), queue).unwrap();
    let made = alloc(device, AllocKind::Host, 4096);
    let bytes = 12 * pattern.len() as u64;
    let (pitch, extent) =
        ([1000, 100], [2, 3, bytes.min(96 / pattern.len() as u64 * pattern.len() as u64)]);
    let rect = FillRect { dst: place(&made, offset), pitch, extent };
    assert!(run(&lane, &[Op::Fill(&[rect], pattern)]).is_empty());
    // SAFETY: the allocation has so many bytes, and the lane has ended.
    let found = unsafe { std::slice::from_raw_parts(made.host.unwrap().0, 4096) };
    let mut wanted = vec![0u8; 4096];
    for slice in 0..extent[0] {
        for row in 0..extent[1] {
            for column in 0..extent[2] {
                let at = offset + slice * pitch[0] + row * pitch[1] + column;
                wanted[at as usize] = pattern[column as usize % pattern.len()];
            }
        }
    }
    assert!(found == wanted, "{queue:?}: {pattern:?} at {offset}");
    device.free(made.handle);
}

/// Where the host does not reach the device's memory, copies go in pieces by way of such as both
/// do.
#[test]
fn copies_of_vulkan_are_staged_on_discrete_devices() {
    let backend = VulkanBackend::new().validated().as_discrete();
    let found = match backend.found() {
        Ok(all) => all[0].clone(),
        Err(why) => return println!("skipped: vulkan: {}", why.reason),
    };
    let device = open(&found);
    // Several pieces, the last of which is not whole; rows with gaps at one end.
    const ROWS: u64 = 3001;
    const BYTES: u64 = 12_345;
    let made = alloc(&device, AllocKind::Device, ROWS * BYTES);
    assert_eq!(made.host, None);
    let mut from: Vec<u8> = (0..ROWS * BYTES).map(|at| (at * 7 + at / 251) as u8).collect();
    let mut to = vec![0u8; (ROWS * (BYTES + 100)) as usize];
    let host = |at: &mut [u8]| MemRef { base: MemBase::Host(HostPtr(at.as_mut_ptr())), offset: 0 };
    let whole = [ROWS * BYTES, BYTES];
    let gaps = [ROWS * (BYTES + 100), BYTES + 100];
    let extent = [1, ROWS, BYTES];
    let up = CopyRect {
        src: host(&mut from),
        src_pitch: whole,
        dst: place(&made, 0),
        dst_pitch: whole,
        extent,
    };
    let down = CopyRect {
        src: place(&made, 0),
        src_pitch: whole,
        dst: host(&mut to),
        dst_pitch: gaps,
        extent,
    };
    let lane = device.lane(LaneKind::Upload, 0).unwrap();
    assert!(run(&lane, &[Op::Copy(&[up]), Op::Copy(&[down])]).is_empty());
    let rows = from.chunks(BYTES as usize).zip(to.chunks(BYTES as usize + 100));
    assert!(rows.into_iter().all(|(from, to)| *from == to[..BYTES as usize]));
    drop(lane);
    // The buffer, and two stages for the next copies.
    assert_eq!(device.0.memory.report().0, 3);
    assert!(backend.messages().all().is_empty(), "{:?}", backend.messages().all());
}

/// More blocks than a dispatch can have, and reductions of several passes.
#[test]
fn launches_of_vulkan_are_cut_into_dispatches() {
    let Some((mut found, messages)) = found() else { return };
    found.target.most_blocks = [16, 2, 2];
    let device = open(&found);
    const COUNT: usize = 100_000;
    let [x, y] = [(); 2].map(|()| alloc(&device, AllocKind::Host, 4 * COUNT as u64));
    // SAFETY: the allocation has so many numbers, and nobody uses them.
    let numbers = unsafe { std::slice::from_raw_parts_mut(x.host.unwrap().0.cast::<u32>(), COUNT) };
    (0..).zip(&mut *numbers).for_each(|(at, number)| *number = at);
    let handle = device.load(&KernelSource::Ir(&twice())).unwrap();
    let lane = device.lane(LaneKind::Compute, 0).unwrap();
    let geometry = Geometry::new(1, [1, 1, COUNT]);
    for proved in [false, true] {
        let params = [param(&x, COUNT, 4, false), param(&y, COUNT, 4, true)];
        let args = Args { proved, ..Args::new(&params) };
        let lane = device.lane(LaneKind::Compute, 0).unwrap();
        assert!(run(&lane, &[Op::Launch(KernelRef::Loaded(handle), &geometry, args)]).is_empty());
        // SAFETY: as above; the lane has ended.
        let found = unsafe { std::slice::from_raw_parts(y.host.unwrap().0.cast::<u32>(), COUNT) };
        assert!((0..).zip(found).all(|(at, number)| *number == 2 * at));
    }
    drop(lane);
    let text = "kernel \"sum\" items 1 tile 1\nparam p0 = \"x\" view u32 1 in item\n\
        param p1 = \"sum\" reduce u32 add\nbody {\n%0 u64 = query position 0 0\n\
        %1 u32 = load p0[%0]\ncontribute p1 = %1\n}";
    let kernel = folio_kernel::parse::parse(text).unwrap();
    let handle = device.load(&KernelSource::Ir(&kernel)).unwrap();
    let lane = device.lane(LaneKind::Compute, 0).unwrap();
    let params = [param(&x, COUNT, 4, false), param(&y, 1, 4, true)];
    let args = Args::new(&params);
    let launch = Op::Launch(KernelRef::Loaded(handle), &geometry, args);
    assert!(run(&lane, &[launch, launch]).is_empty());
    // SAFETY: as above.
    let found = unsafe { y.host.unwrap().0.cast::<u32>().read() };
    assert_eq!(found, (0..COUNT as u32).fold(0, u32::wrapping_add));
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// A kernel in SPIR-V finds its arguments by the words that its push constant leads to (KRN-05).
#[test]
fn opaque_kernels_of_vulkan_are_given_words() {
    let Some((found, messages)) = found() else { return };
    let device = open(&found);
    // An emitted one: two addresses, that of its record, and the words that it reads.
    let module = folio_kernel::emit::spirv::emit(
        &twice(),
        folio_kernel::emit::spirv::Form { checked: false },
        &found.target.capabilities,
    )
    .unwrap();
    let bytes: Vec<u8> = module.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let load = |name: &str, bytes: &[u8]| {
        // SAFETY: the emitter's module, or what is refused at its first word.
        let source = Source::SpirV(unsafe { Image::new(bytes) });
        device.load(&KernelSource::Opaque { name, source, options: &[] })
    };
    let error = load("nothing", &bytes).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::Build), "{error:?}");
    assert!(error.message.contains(&module.entry), "{error}");
    assert!(matches!(load("x", b"no code.").unwrap_err().kind, HalErrorKind::Build));
    let handle = load(&module.entry, &bytes).unwrap();
    const COUNT: usize = 1000;
    let [x, y] = [(); 2].map(|()| alloc(&device, AllocKind::Host, 4 * COUNT as u64));
    // SAFETY: the allocation has so many numbers, and nobody uses them.
    let numbers = unsafe { std::slice::from_raw_parts_mut(x.host.unwrap().0.cast::<u32>(), COUNT) };
    (0..).zip(&mut *numbers).for_each(|(at, number)| *number = at);
    let params = [param(&x, COUNT, 4, false), param(&y, COUNT, 4, true)];
    let grid = folio_kernel::emit::Grid {
        first: [0; 3],
        range: [1, 1, COUNT as u64],
        offset: [0; 3],
        groups: [0; 3],
    };
    let mut words = vec![0u64];
    let pointers: Vec<_> = params.iter().map(|param| param.at(std::ptr::null_mut())).collect();
    module.layout.fill(&grid, &pointers, &[], &mut words);
    let scalars: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut arguments = vec![Argument::Memory(0), Argument::Memory(1)];
    arguments.extend(words.iter().map(|_| Argument::Value(8)));
    let geometry = Geometry { group: Some([1, 1, 8]), ..Geometry::new(1, [1, 1, COUNT]) };
    let args = Args { blob: &scalars, arguments: &arguments, ..Args::new(&params) };
    device.check(handle, &geometry, &arguments).unwrap();
    let local = [Argument::Local(8)];
    let error = device.check(handle, &geometry, &local).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::Arguments), "{error:?}");
    let lane = device.lane(LaneKind::Compute, 0).unwrap();
    assert!(run(&lane, &[Op::Launch(KernelRef::Loaded(handle), &geometry, args)]).is_empty());
    // SAFETY: as above; the lane has ended.
    let found = unsafe { std::slice::from_raw_parts(y.host.unwrap().0.cast::<u32>(), COUNT) };
    assert!((0..).zip(found).all(|(at, number)| *number == 2 * at));
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// A closure records commands between those of the lane (USM-01).
#[test]
fn tasks_record_commands_of_vulkan() {
    let Some((found, messages)) = found() else { return };
    let device = open(&found);
    let [x, y] = [(); 2].map(|()| alloc(&device, AllocKind::Host, 400));
    let params = [param(&x, 100, 4, false), param(&y, 100, 4, true)];
    let copies = |any: &dyn std::any::Any| {
        let native: &crate::Native = any.downcast_ref().unwrap();
        let [from, to] = &native.memory[..] else { unreachable!() };
        let region =
            ash::vk::BufferCopy { src_offset: from.offset, dst_offset: to.offset, size: 400 };
        // SAFETY: so many bytes of both; the command buffer is being recorded.
        unsafe {
            let commands = native.commands;
            native.device.cmd_copy_buffer(commands, from.buffer, to.buffer, &[region]);
        }
        Ok(())
    };
    let fails = |_: &dyn std::any::Any| Err(folio_core::hal::HalError::unsupported("it"));
    let (geometry, args) = (Geometry::new(1, [1, 1, 1]), Args::new(&params));
    let fill = FillRect { dst: place(&x, 0), pitch: [400; 2], extent: [1, 1, 400] };
    let rects = [fill];
    let lane = device.lane(LaneKind::Compute, 0).unwrap();
    let failures = run(
        &lane,
        &[
            Op::Fill(&rects, &[7, 1, 2, 3]),
            Op::Launch(KernelRef::Foreign(&copies), &geometry, args),
            Op::Launch(KernelRef::Foreign(&fails), &geometry, args),
            Op::Fill(&rects, &[0; 4]),
        ],
    );
    assert!(matches!(&failures[..], [(3, _)]), "{failures:?}");
    // SAFETY: the allocation has so many bytes, and the lane has ended.
    let found = unsafe { std::slice::from_raw_parts(y.host.unwrap().0, 400) };
    assert!(found.chunks(4).all(|word| word == [7, 1, 2, 3]));
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// With the validation layer, devices come and go on some threads while others use theirs: the
/// layer by itself would crash (docs/drivers.md).
#[test]
fn devices_of_vulkan_come_and_go_beside_calls() {
    let Some((found, messages)) = found() else { return };
    // Some drivers take a good part of a second for a device.
    let start = Instant::now();
    let come_and_go = || {
        for turn in 0..100 {
            let three = [(); 3].map(|()| open(&found));
            drop(three);
            if turn >= 5 && start.elapsed() > Duration::from_secs(20) {
                break;
            }
        }
    };
    let is_over = AtomicBool::new(false);
    let call = || {
        let device = open(&found);
        let lane = device.lane(LaneKind::Compute, 0).unwrap();
        while !is_over.load(Ordering::Relaxed) {
            let made = alloc(&device, AllocKind::Host, 4096);
            assert!(lane.completed().is_ok());
            device.free(made.handle);
        }
    };
    std::thread::scope(|scope| {
        let coming = [(); 4].map(|()| scope.spawn(come_and_go));
        (0..4).for_each(|_| drop(scope.spawn(call)));
        let ended: Vec<_> = coming.into_iter().map(|thread| thread.join()).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
    });
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// Bytes of memory that the process has.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages * 4096
}

/// A launch that is said to be proved reads beyond its argument, though not beyond its memory. The
/// debugging mode finds it, with the index; without, nothing is tested.
#[test]
fn planted_overrun_of_vulkan_is_found_when_no_proof_is_believed() {
    if found().is_none() {
        return;
    }
    let mut b = Builder::items("picks", 1);
    let at = b.view("at", Scalar::U32, 1, Access::In, Owner::Item);
    let x = b.view("x", Scalar::U32, 1, Access::In, Owner::Item);
    let y = b.view("y", Scalar::U32, 1, Access::Out, Owner::Item);
    let i = b.position(0);
    let index = b.load_at(at, [i]);
    let index = b.cast(index, Scalar::U64);
    let value = b.load_at(x, [index]);
    b.store_at(y, [i], value);
    let kernel = b.finish().unwrap();
    for checked in [false, true] {
        let backend = VulkanBackend::new().validated();
        let backend = if checked { backend.checked() } else { backend };
        let device = open(&backend.found().unwrap()[0].clone());
        let [at, x, y] = [(); 3].map(|()| alloc(&device, AllocKind::Host, 4 * 200));
        let number = |made: &Allocation, nth: usize| {
            // SAFETY: the allocation has so many numbers, and the lane has ended.
            unsafe { made.host.unwrap().0.cast::<u32>().add(nth) }
        };
        // SAFETY: as above; nothing uses them yet.
        unsafe {
            number(&at, 7).write(150);
            number(&x, 150).write(9);
        }
        let handle = device.load(&KernelSource::Ir(&kernel)).unwrap();
        let lane = device.lane(LaneKind::Compute, 0).unwrap();
        let params =
            [(&at, false), (&x, false), (&y, true)].map(|(made, w)| param(made, 100, 4, w));
        let (geometry, args) = (Geometry::new(1, [1, 1, 100]), Args::new(&params));
        let args = Args { proved: true, ..args };
        let launch = Op::Launch(KernelRef::Loaded(handle), &geometry, args);
        let failures = run(&lane, &[launch]);
        // SAFETY: as above.
        let picked = unsafe { number(&y, 7).read() };
        match checked {
            false => assert!(failures.is_empty() && picked == 9, "{failures:?}, {picked}"),
            true => {
                let told = failures[0].1.to_string();
                assert!(failures.len() == 1 && picked == 0, "{failures:?}, {picked}");
                assert!(told.contains("150") && told.contains('x'), "{told}");
            }
        }
        assert!(backend.messages().all().is_empty(), "{:?}", backend.messages().all());
    }
}

/// Devices, memory, kernels and lanes come and go: nothing of theirs stays (QUAL-03).
#[test]
fn suite_cycles_vulkan() {
    let Some((found, messages)) = found() else { return };
    let asked = std::env::var("FOLIO_SOAK_CASES").ok().and_then(|n| n.parse().ok());
    let of_gpu = std::env::var_os("FOLIO_TESTS_ON_GPUS").is_some();
    let cycles: u64 = asked.unwrap_or(if of_gpu { 60 } else { 1000 });
    let (start, mut early) = (Instant::now(), 0);
    for cycle in 0..cycles {
        let device = open(&found);
        let [x, y] = [(); 2].map(|()| alloc(&device, AllocKind::Device, 4096));
        let handle = device.load(&KernelSource::Ir(&twice())).unwrap();
        let lane = device.lane(LaneKind::Compute, 0).unwrap();
        let params = [param(&x, 1000, 4, false), param(&y, 1000, 4, true)];
        let (geometry, args) = (Geometry::new(1, [1, 1, 1000]), Args::new(&params));
        let launch = Op::Launch(KernelRef::Loaded(handle), &geometry, args);
        assert!(run(&lane, &[launch, launch]).is_empty());
        drop(lane);
        device.unload(handle);
        [x, y].iter().for_each(|made| device.free(made.handle));
        assert_eq!(device.0.memory.report().0, 0, "cycle {cycle}");
        if cycle == cycles / 4 {
            early = resident();
        }
    }
    let grown = resident().saturating_sub(early);
    println!(
        "suite cycles_vulkan: {cycles} cases in {:.1} s, 0 divergences (seed 1)",
        start.elapsed().as_secs_f64()
    );
    println!("{grown} bytes more at the end than after a quarter");
    assert!(grown < 64 << 20, "{grown} bytes more");
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}
