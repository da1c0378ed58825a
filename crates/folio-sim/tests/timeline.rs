//! The purpose of the simulated device: that order, time and misuse show.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::geom::Box3;
use folio_core::hal::*;
use folio_core::ir::{Kernel, parse::parse};
use folio_sim::{
    Builder, DeviceSpec, FRESH, IrKernel, IrRunner, OpKind, Script, SimBackend, SimHandle,
};
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Rig {
    sim: SimHandle,
    devices: Vec<Arc<dyn Device>>,
}

fn rig(builder: Builder) -> Rig {
    let backend = builder.log(true).build();
    let n = backend.devices().unwrap().len();
    // SAFETY: tests keep the contract of the HAL, or break it where that is found out.
    let open = |i| unsafe { backend.open(i, Notify::none()) };
    let devices = (0..n).map(|i| open(i).unwrap()).collect();
    Rig { sim: backend.handle(), devices }
}

impl Rig {
    fn lane(&self, kind: LaneKind) -> Arc<dyn Lane> {
        self.devices[0].lane(kind, 0).unwrap()
    }

    fn alloc(&self, size: u64) -> u64 {
        let req = AllocReq {
            kind: AllocKind::Device,
            size,
            align: 4,
            import: None,
            zeroed: false,
            linked: false,
            exported: false,
            label: "test",
        };
        self.devices[0].usm().alloc(&req).unwrap().handle
    }

    fn rules(&self) -> Vec<&'static str> {
        self.sim.violations().into_iter().map(|v| v.rule).collect()
    }
}

fn at(handle: u64) -> MemRef {
    MemRef { base: MemBase::Device { device: 0, handle }, offset: 0 }
}

fn host(bytes: &mut [u8]) -> MemRef {
    MemRef { base: MemBase::Host(HostPtr(bytes.as_mut_ptr())), offset: 0 }
}

fn head<'a>(tick: Tick, waits: &'a [Wait<'a>]) -> Head<'a> {
    Head { tick, order: Order::AfterPrevious, waits, label: "op", timed: false }
}

fn line(src: MemRef, dst: MemRef, bytes: u64) -> CopyRect {
    let pitch = [bytes; 2];
    CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent: [1, 1, bytes] }
}

fn fill(
    lane: &Arc<dyn Lane>,
    tick: Tick,
    waits: &[Wait<'_>],
    handle: u64,
    byte: u8,
) -> Result<(), HalError> {
    let rect = FillRect { dst: at(handle), pitch: [4; 2], extent: [1, 1, 4] };
    lane.enqueue(&head(tick, waits), Op::Fill(&[rect], &[byte]))
}

fn soon() -> Option<Instant> {
    Some(Instant::now() + Duration::from_millis(20))
}

/// Fills on the compute lane, reads on the download lane; with or without the edge between them.
fn produce_and_consume(rig: &Rig, edge: bool) -> [u8; 4] {
    let (compute, download) = (rig.lane(LaneKind::Compute), rig.lane(LaneKind::Download));
    let memory = rig.alloc(4);
    let mut out = [0; 4];
    fill(&compute, 1, &[], memory, 7).unwrap();
    let waits = [Wait { lane: &compute, tick: 1 }];
    let waits = if edge { &waits[..] } else { &[] };
    download.enqueue(&head(1, waits), Op::Copy(&[line(at(memory), host(&mut out), 4)])).unwrap();
    assert_eq!(download.wait(1, None), Ok(true));
    out
}

#[test]
fn a_missing_edge_shows_as_wrong_data() {
    let slow = || SimBackend::builder().script(Script::new().latency(OpKind::Fill, 10));
    assert_eq!(produce_and_consume(&rig(slow()), true), [7; 4]);
    assert_eq!(produce_and_consume(&rig(slow()), false), [FRESH; 4]);
    let seeds = |seed| SimBackend::builder().script(Script::new().seed(seed));
    let outcomes: Vec<_> = (0..16).map(|s| produce_and_consume(&rig(seeds(s)), false)).collect();
    assert!(outcomes.contains(&[7; 4]) && outcomes.contains(&[FRESH; 4]), "{outcomes:?}");
}

#[test]
fn equal_seeds_execute_equally() {
    let run = |seed| {
        let rig = rig(SimBackend::builder().script(Script::new().seed(seed).jitter(5)));
        let lanes: Vec<_> = (0..4).map(|_| rig.lane(LaneKind::Compute)).collect();
        let memory = rig.alloc(4);
        for tick in 1..=8 {
            for (i, lane) in lanes.iter().enumerate() {
                fill(lane, tick, &[], memory, i as u8).unwrap();
            }
        }
        for lane in &lanes {
            assert_eq!(lane.wait(8, None), Ok(true));
        }
        rig.sim.log()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn time_passes_by_looking_and_shows_in_steps() {
    let rig = rig(SimBackend::builder().script(Script::new().late(3).visible_every(5)));
    let (lane, memory) = (rig.lane(LaneKind::Compute), rig.alloc(4));
    fill(&lane, 1, &[], memory, 1).unwrap();
    let seen: Vec<_> = (0..6).map(|_| lane.completed().unwrap()).collect();
    assert_eq!(seen, [0, 0, 0, 0, 1, 1]);
    assert_eq!(rig.sim.log()[0].time, 4);
    assert_eq!(rig.sim.now(), 6);
}

#[test]
fn a_batch_is_held_back_until_it_is_full_or_flushed() {
    let rig = rig(SimBackend::builder().device(DeviceSpec::new().batch(3)));
    let (lane, memory) = (rig.lane(LaneKind::Compute), rig.alloc(4));
    fill(&lane, 1, &[], memory, 1).unwrap();
    fill(&lane, 2, &[], memory, 1).unwrap();
    rig.sim.step(100);
    assert_eq!(lane.completed(), Ok(0));
    fill(&lane, 3, &[], memory, 1).unwrap();
    rig.sim.step(100);
    assert_eq!(lane.completed(), Ok(3));
    fill(&lane, 4, &[], memory, 1).unwrap();
    lane.flush();
    rig.sim.step(100);
    assert_eq!(lane.completed(), Ok(4));
}

#[test]
fn a_held_lane_ends_nothing_until_it_is_released() {
    let rig = rig(SimBackend::builder());
    let (copy, compute) = (rig.lane(LaneKind::Upload), rig.lane(LaneKind::Compute));
    let memory = rig.alloc(4);
    rig.sim.hold(0, LaneKind::Upload);
    fill(&copy, 1, &[], memory, 1).unwrap();
    fill(&compute, 1, &[Wait { lane: &copy, tick: 1 }], memory, 2).unwrap();
    rig.sim.step(100);
    assert_eq!((copy.completed(), compute.completed()), (Ok(0), Ok(0)));
    assert_eq!(compute.wait(1, soon()), Ok(false));
    assert_eq!(rig.sim.pending(0), 2);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| compute.wait(1, None));
        rig.sim.release(0, LaneKind::Upload);
        assert_eq!(waiter.join().unwrap(), Ok(true));
    });
}

#[test]
fn a_lost_device_ends_nothing_and_drops_everything() {
    let builder = SimBackend::builder().devices(2, DeviceSpec::new()).peers(Link::default());
    let rig = rig(builder);
    let (lost, healthy) =
        (rig.lane(LaneKind::Compute), rig.devices[1].lane(LaneKind::Peer, 0).unwrap());
    struct Holds(#[allow(dead_code, reason = "counted")] Arc<()>);
    impl BlockKernel for Holds {
        unsafe fn run(&self, _: &[ParamPtr], _: &Box3) -> Verdict {
            Ok(())
        }
    }
    let token = Arc::new(());
    let kernel = KernelRef::Native(&Cell::new(Some(NativeKernel::new(Holds(token.clone())))));
    let geometry = Geometry::new(1, [1; 3]);
    lost.enqueue(&head(1, &[]), Op::Launch(kernel, &geometry, Args::new(&[]))).unwrap();
    let (mut source, mut out) = ([1u8; 4], [0u8; 4]);
    let host_to_host = [line(host(&mut source), host(&mut out), 4)];
    healthy.enqueue(&head(1, &[Wait { lane: &lost, tick: 1 }]), Op::Copy(&host_to_host)).unwrap();
    rig.sim.lose(0);
    assert_eq!(Arc::strong_count(&token), 1);
    assert!(lost.completed().is_err() && lost.wait(1, None).is_err());
    assert!(
        matches!(rig.devices[0].lane(LaneKind::Compute, 0), Err(e) if matches!(e.kind, HalErrorKind::Lost))
    );
    // A wait for what was lost ends: what that means is the engine's business.
    assert_eq!(healthy.wait(1, None), Ok(true));
    healthy.failures(&mut |tick, error| panic!("{tick}: {error}"));
    assert_eq!(out, [1; 4]);
    // A kernel that comes too late is left to whoever brought it.
    let late = Cell::new(Some(NativeKernel::new(Holds(token.clone()))));
    let late = KernelRef::Native(&late);
    lost.enqueue(&head(2, &[]), Op::Launch(late, &geometry, Args::new(&[]))).unwrap_err();
    assert_eq!(Arc::strong_count(&token), 2);
}

#[test]
fn a_refused_kernel_is_left() {
    let rig = rig(SimBackend::builder().device(DeviceSpec::new().closures(false)));
    let lane = rig.lane(LaneKind::Compute);
    let geometry = Geometry::new(1, [1; 3]);
    let kernel = Cell::new(Some(NativeKernel::new(Stray(0))));
    let given = KernelRef::Native(&kernel);
    let refused = lane.enqueue(&head(1, &[]), Op::Launch(given, &geometry, Args::new(&[])));
    assert!(matches!(refused, Err(e) if matches!(e.kind, HalErrorKind::Unsupported)));
    assert!(kernel.take().is_some());
    assert_eq!(lane.wait(1, None), Ok(true));
}

#[test]
fn loss_comes_at_the_scripted_operation() {
    let rig = rig(SimBackend::builder().device(DeviceSpec::new().lose_at(3)));
    let (lane, memory) = (rig.lane(LaneKind::Compute), rig.alloc(4));
    for tick in 1..=4 {
        fill(&lane, tick, &[], memory, 1).unwrap();
    }
    assert_eq!(lane.wait(2, None), Ok(true));
    assert!(lane.wait(3, None).is_err());
    assert_eq!(rig.sim.counters().fills, 2);
}

#[test]
fn memory_has_a_limit_and_is_never_zero() {
    let rig = rig(SimBackend::builder().device(DeviceSpec::new().memory(100)));
    let first = rig.alloc(60);
    let usm = rig.devices[0].usm();
    let req = AllocReq {
        kind: AllocKind::Device,
        size: 41,
        align: 1,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: "",
    };
    let error = usm.alloc(&req).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::OutOfMemory { asked: 41, in_use: 60, limit: 100 }));
    assert_eq!(rig.sim.live_allocations(), (1, 60));
    assert_eq!(rig.sim.live_labels(), ["test"]);
    usm.free(first);
    assert!(usm.alloc(&req).is_ok());
}

#[test]
fn misuse_of_memory_is_reported_and_harmless() {
    let rig = rig(SimBackend::builder().devices(2, DeviceSpec::new()));
    let (lane, memory) = (rig.lane(LaneKind::Compute), rig.alloc(4));
    let mut big = [0u8; 8];
    let beyond = lane.enqueue(&head(1, &[]), Op::Copy(&[line(host(&mut big), at(memory), 8)]));
    assert!(matches!(beyond.unwrap_err().kind, HalErrorKind::Driver));
    fill(&lane, 2, &[], memory, 1).unwrap();
    rig.devices[0].usm().free(memory);
    assert_eq!(lane.wait(2, None), Ok(true));
    assert!(fill(&lane, 3, &[], memory, 1).is_err());
    rig.devices[0].usm().free(memory);
    let far = rig.devices[1].lane(LaneKind::Compute, 0).unwrap();
    let unreachable = rig.alloc(4);
    assert!(fill(&far, 1, &[], unreachable, 1).is_err());
    let expect = [
        "memory is live and in bounds",
        "memory is freed after its users have ended",
        "memory is live until its users have ended",
        "memory is live and in bounds",
        "memory is used inside its bounds",
        "memory is reachable",
    ];
    assert_eq!(rig.rules(), expect);
    // Refused ticks are reached all the same.
    assert_eq!(lane.wait(3, None), Ok(true));
}

#[test]
fn ticks_and_waits_are_checked() {
    let rig = rig(SimBackend::builder().device(DeviceSpec::new().wait_group(None)));
    let (a, b) = (rig.lane(LaneKind::Compute), rig.lane(LaneKind::Upload));
    let memory = rig.alloc(4);
    assert!(fill(&a, 2, &[], memory, 1).is_err());
    assert!(fill(&a, 2, &[Wait { lane: &b, tick: 0 }], memory, 1).is_err());
    assert!(fill(&a, 3, &[Wait { lane: &a, tick: 3 }], memory, 1).is_err());
    let expect = ["ticks are consecutive", "waits stay in a wait group", "waits name issued ticks"];
    assert_eq!(rig.rules(), expect);
}

/// Looks at its own lane; run by a look, it would wait for itself.
struct Looks(Arc<dyn Lane>, std::sync::mpsc::SyncSender<Result<Tick, Lost>>);

impl BlockKernel for Looks {
    unsafe fn run(&self, _: &[ParamPtr], _: &Box3) -> Verdict {
        self.1.send(self.0.completed()).unwrap();
        Ok(())
    }
}

#[test]
fn kernels_run_where_the_caller_holds_no_lock() {
    type Call = fn(&Rig, &Arc<dyn Lane>);
    let calls: [Call; 4] = [
        |_, lane| lane.drive(),
        |_, lane| lane.flush(),
        |rig, _| rig.sim.step(1),
        |_, lane| assert_eq!(lane.wait(1, None), Ok(true)),
    ];
    for call in calls {
        let rig = rig(SimBackend::builder().script(Script::new().latency(OpKind::Launch, 5)));
        let (lane, copies) = (rig.lane(LaneKind::Compute), rig.lane(LaneKind::Upload));
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let kernel =
            KernelRef::Native(&Cell::new(Some(NativeKernel::new(Looks(lane.clone(), tell)))));
        let geometry = Geometry::new(1, [1; 3]);
        let args = Args::new(&[]);
        lane.enqueue(&head(1, &[]), Op::Launch(kernel, &geometry, args)).unwrap();
        fill(&copies, 1, &[], rig.alloc(4), 1).unwrap();
        // Looks let time come to the kernel, where it stands still; what ends before it ends.
        let seen: Vec<_> = (0..9).map(|_| lane.completed()).collect();
        assert_eq!((seen, rig.sim.now()), (vec![Ok(0); 9], 6));
        assert_eq!(copies.completed(), Ok(1));
        call(&rig, &lane);
        assert_eq!((lane.completed(), told.try_recv().unwrap()), (Ok(1), Ok(0)));
    }
}

/// Writes one `u32` at an index that its parameter may not have.
struct Stray(usize);

impl BlockKernel for Stray {
    unsafe fn run(&self, params: &[ParamPtr], _: &Box3) -> Verdict {
        // SAFETY: the guards around a simulated allocation are mapped; that is what is tested.
        unsafe { params[0].base.cast::<u32>().wrapping_add(self.0).write(1) };
        Ok(())
    }
}

#[test]
fn writes_beside_an_allocation_are_found_when_it_is_freed() {
    let rig = rig(SimBackend::builder());
    let (lane, memory) = (rig.lane(LaneKind::Compute), rig.alloc(8));
    let dims = [1, 1, 2];
    let param = Param {
        mem: at(memory),
        size: 4,
        write: true,
        dims,
        origin: [0; 3],
        extent: dims,
        index: [0; 3],
        shape: dims,
    };
    let geometry = Geometry::new(1, [1; 3]);
    let kernel = KernelRef::Native(&Cell::new(Some(NativeKernel::new(Stray(2)))));
    lane.enqueue(&head(1, &[]), Op::Launch(kernel, &geometry, Args::new(&[param]))).unwrap();
    assert_eq!(lane.wait(1, None), Ok(true));
    rig.devices[0].usm().free(memory);
    assert_eq!(rig.rules(), ["memory is used inside its bounds"]);
}

/// Memory of frames goes back while operations use others of the allocation, and not that of frames
/// that they use.
#[test]
fn frames_go_back_that_no_operation_uses() {
    const FRAME: u64 = 64;
    let param = |handle: u64, row: usize| Param {
        mem: at(handle),
        size: 4,
        write: true,
        dims: [1, 4, 16],
        origin: [0, row, 0],
        extent: [1, 1, 16],
        index: [0; 3],
        shape: [1, 4, 16],
    };
    let geometry = Geometry::new(1, [1; 3]);
    for launches in [false, true] {
        let rig = rig(SimBackend::builder().device(DeviceSpec::new().frame(FRAME)));
        let usm = rig.devices[0].usm();
        let (kind, size, label) = (AllocKind::Device, 4 * FRAME, "test");
        let req = AllocReq {
            kind,
            size,
            align: 4,
            import: None,
            zeroed: false,
            linked: false,
            exported: false,
            label,
        };
        let handle = usm.reserve(&req).unwrap().handle;
        usm.map(handle, 0..4 * FRAME).unwrap();
        rig.sim.hold(0, LaneKind::Compute);
        let lane = rig.lane(LaneKind::Compute);
        if launches {
            let kernel = KernelRef::Native(&Cell::new(Some(NativeKernel::new(Stray(0)))));
            let params = [param(handle, 1)];
            lane.enqueue(&head(1, &[]), Op::Launch(kernel, &geometry, Args::new(&params))).unwrap();
        } else {
            // Bytes of frames 0 and 2.
            let pitch = [4 * FRAME, 2 * FRAME];
            let rect = FillRect { dst: at(handle), pitch, extent: [1, 2, 4] };
            lane.enqueue(&head(1, &[]), Op::Fill(&[rect], &[7])).unwrap();
        }
        usm.unmap(handle, 3 * FRAME..4 * FRAME);
        let free = if launches { 2 } else { 1 };
        usm.unmap(handle, free * FRAME..(free + 1) * FRAME);
        assert_eq!(rig.rules(), [""; 0]);
        let used = 3 - free;
        usm.unmap(handle, used * FRAME..(used + 1) * FRAME);
        assert_eq!(rig.rules(), ["memory is freed after its users have ended"]);
        rig.sim.release(0, LaneKind::Compute);
    }
}

#[test]
fn writes_to_freed_memory_are_found() {
    let rig = rig(SimBackend::builder().device(DeviceSpec::new().unified(true)));
    let req = AllocReq {
        kind: AllocKind::Device,
        size: 8,
        align: 4,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: "",
    };
    let usm = rig.devices[0].usm();
    let made = usm.alloc(&req).unwrap();
    usm.free(made.handle);
    // SAFETY: freed simulated memory stays mapped in the quarantine; that is what is tested.
    unsafe { made.host.unwrap().0.write(1) };
    assert_eq!(rig.rules(), ["freed memory is not touched"]);
}

#[test]
fn devices_that_there_are_not_are_neither_lost_nor_held() {
    let rig = rig(SimBackend::builder());
    rig.sim.lose(99);
    rig.sim.hold(99, LaneKind::Compute);
    rig.sim.release(99, LaneKind::Compute);
    let (lane, memory) = (rig.lane(LaneKind::Compute), rig.alloc(8));
    let rect = FillRect { dst: at(memory), pitch: [8; 2], extent: [1, 1, 8] };
    lane.enqueue(&head(1, &[]), Op::Fill(&[rect], &[7])).unwrap();
    assert_eq!(lane.wait(1, None), Ok(true));
    rig.devices[0].usm().free(memory);
    assert!(rig.rules().is_empty());
}

/// Kernels that do nothing.
#[derive(Debug)]
struct Idle;

impl IrRunner for Idle {
    fn load(&self, _: &Kernel) -> Result<Arc<dyn IrKernel>, HalError> {
        Ok(Arc::new(Idle))
    }
}

impl IrKernel for Idle {
    unsafe fn run(&self, _: &Geometry, _: &[u8], _: &[ParamPtr], _: bool) -> Result<(), HalError> {
        Ok(())
    }
}

#[test]
fn unloading_what_is_under_way_is_a_violation() {
    let spec = DeviceSpec::new().closures(false).ir(Arc::new(Idle));
    let rig = rig(SimBackend::builder().device(spec));
    let (lane, device) = (rig.lane(LaneKind::Compute), &rig.devices[0]);
    let kernel = parse("kernel \"idle\" items 1 tile 1\nbody {\n}").unwrap();
    let load = || device.load(&KernelSource::Ir(&kernel)).unwrap();
    let launch = |tick, handle| {
        let (geometry, args) = (Geometry::new(1, [1; 3]), Args::new(&[]));
        let op = Op::Launch(KernelRef::Loaded(handle), &geometry, args);
        lane.enqueue(&head(tick, &[]), op).unwrap();
    };
    let (first, second) = (load(), load());
    launch(1, first);
    assert!(lane.wait(1, None).unwrap());
    device.unload(first);
    assert_eq!(rig.rules(), [""; 0]);
    rig.sim.hold(0, LaneKind::Compute);
    launch(2, second);
    device.unload(second);
    assert_eq!(rig.rules(), ["what is launched stays loaded until it has ended"]);
    assert_eq!((rig.sim.counters().loads, rig.sim.counters().unloads), (2, 2));
    rig.sim.release(0, LaneKind::Compute);
    device.unload(second);
    assert_eq!(rig.rules()[1..], ["what is unloaded was loaded"]);
}

/// Numbers of the script and the builder may be as large as they like: time saturates, and at its
/// end everything ends and is seen.
#[test]
fn the_largest_numbers_are_the_end_of_time() {
    const MAX: u64 = u64::MAX;
    let scripts = [
        Script::new().late(MAX),
        Script::new().jitter(MAX).seed(3),
        Script::new().late(MAX).jitter(MAX).overlap(true),
        Script::new().late(MAX - 1).visible_every(MAX - 1),
        Script::new().late(MAX - 2).visible_every(4),
        Script::new().visible_every(MAX),
        Script::new().lags(&[MAX, MAX, 1]),
        Script::new().latency(OpKind::Fill, MAX).lags(&[1; 4]),
    ];
    for script in scripts {
        let spec = DeviceSpec::new().memory(MAX).max_alloc(MAX).batch(MAX).lose_at(MAX);
        let rig = rig(SimBackend::builder().script(script.clone()).device(spec));
        let (lane, memory) = (rig.lane(LaneKind::Compute), rig.alloc(64));
        (1..=3).for_each(|tick| fill(&lane, tick, &[], memory, 1).unwrap());
        assert!(lane.wait(3, None).unwrap(), "{script:?}");
        // Also of what begins at the end.
        (4..=5).for_each(|tick| fill(&lane, tick, &[], memory, 2).unwrap());
        lane.flush();
        rig.sim.step(3);
        assert!(lane.wait(5, None).unwrap(), "{script:?}");
        assert_eq!((lane.completed().unwrap(), rig.rules()), (5, vec![]), "{script:?}");
    }
}

/// A backend does not begin to make more devices than it can keep.
#[test]
fn too_many_devices_are_a_reason_and_no_panic() {
    let backend = SimBackend::builder().devices(3, DeviceSpec::new());
    let backend =
        backend.devices(usize::MAX, DeviceSpec::new()).devices(usize::MAX, DeviceSpec::new());
    let Err(why) = backend.build().devices() else { panic!("there are devices") };
    assert!(why.reason.contains("1024 are possible"), "{}", why.reason);
    let most = SimBackend::builder().devices(1024, DeviceSpec::new()).build();
    assert_eq!(most.devices().unwrap().len(), 1024);
}
