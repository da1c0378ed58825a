//! Calls that the driver refuses, each once, and each from then on.

use super::*;
use folio_core::hal::{DeviceKind, Node, Op};

/// A sum over all elements, by several launches.
pub(super) const TOTAL: &str = "kernel \"total\" items 1 tile 1
param p0 = \"x\" view f32 1 in item
param p1 = \"sum\" reduce f32 add
body {
    %0 u64 = query position 0 0
    %1 f32 = load p0[%0]
    contribute p1 = %1
}";

const SCALED: &str = "__kernel void scaled(__global float *x, float by, __local float *room) {
    room[get_local_id(0)] = x[get_global_id(0)];
    x[get_global_id(0)] = by * room[get_local_id(0)];
}";

/// With timestamps or with launches that are held; as if the device were a GPU or as it is.
type Form = [bool; 2];

/// How often the driver refuses a call, and with what status.
type Times = (usize, cl_int);

const ONCE: Times = (1, CL_INVALID_OPERATION);
const FOR_GOOD: Times = (usize::MAX, CL_OUT_OF_RESOURCES);

/// Some of everything that a backend does, on two lanes; what somebody was told went wrong. If that
/// is nothing, the values are right.
fn some_of_everything([timed, gpu]: Form) -> Result<(), HalError> {
    const LEN: usize = 8192;
    let backend = OpenClBackend::new().cache(Cache::off());
    let backend = if gpu { backend.as_gpus() } else { backend };
    let none = |why: Unavailable| HalError::new(HalErrorKind::Driver, why.reason.to_string());
    backend.devices().map_err(none)?;
    // SAFETY: the test keeps the HAL's contract.
    let device = unsafe { backend.open(0, Notify::none()) }?;
    let lanes = [device.lane(LaneKind::Compute, 0)?, device.lane(LaneKind::Compute, 0)?];
    let load = |text| device.load(&KernelSource::Ir(&parse(text).unwrap()));
    let (twice, total) = (load(TWICE)?, load(TOTAL)?);
    let source = Source::OpenClC(SCALED);
    let opaque = KernelSource::Opaque { name: "scaled", source, options: &[] };
    let scaled = device.load(&opaque)?;
    let usm = device.usm();
    let alloc = |zeroed| usm.alloc(&AllocReq { zeroed, ..request(4 * LEN as u64) });
    let handles = [alloc(true)?.handle, alloc(true)?.handle];
    let [x, y] = handles.map(|handle| MemBase::Device { device: 0, handle });
    let told = RefCell::new(Vec::new());
    let ticks = [Cell::new(0), Cell::new(0)];
    let head = |lane: usize| {
        ticks[lane].set(ticks[lane].get() + 1);
        let (tick, order) = (ticks[lane].get(), Order::AfterPrevious);
        Head { tick, order, waits: &[], label: "", timed }
    };
    let tell = |result: Result<(), HalError>| told.borrow_mut().extend(result.err());
    let param = |base, len| Param {
        mem: MemRef { base, offset: 0 },
        size: 4,
        write: true,
        dims: [1, 1, LEN],
        origin: [0; 3],
        extent: [1, 1, len],
        index: [0; 3],
        shape: [1, 1, len],
    };
    let launch = |kernel, args: &Args<'_>| {
        let group = (kernel == scaled).then_some([1, 1, 16]);
        let geometry = Geometry { group, ..Geometry::new(1, [1, 1, LEN]) };
        tell(lanes[0].enqueue(&head(0), Op::Launch(KernelRef::Loaded(kernel), &geometry, *args)));
    };
    let rows = |src, dst, pitch| {
        let rect = |base| MemRef { base, offset: 0 };
        let (extent, pitch) = ([1, LEN as u64 / 8, 4], [0, pitch]);
        CopyRect { src: rect(src), src_pitch: pitch, dst: rect(dst), dst_pitch: pitch, extent }
    };
    let mut values = [vec![1.0f32; LEN], vec![0.0f32; LEN]];
    let [up, down] = values.each_mut().map(|v| MemBase::Host(HostPtr(v.as_mut_ptr().cast())));
    let whole = |src, dst| CopyRect { extent: [1, 1, 4 * LEN as u64], ..rows(src, dst, 4) };
    tell(lanes[0].enqueue(&head(0), Op::Copy(&[whole(up, x)])));
    for proved in [true, false] {
        launch(twice, &Args { proved, ..Args::new(&[param(x, LEN)]) });
    }
    let arguments = [Argument::Memory(0), Argument::Value(4), Argument::Local(64)];
    let mut blob = [0; 8];
    blob[..4].copy_from_slice(&2f32.to_ne_bytes());
    let params = [param(x, LEN)];
    launch(scaled, &Args { blob: &blob, arguments: &arguments, ..Args::new(&params) });
    launch(total, &Args { proved: true, ..Args::new(&[param(x, LEN), param(y, 1)]) });
    let once = Geometry { group: Some([1, 1, 16]), ..Geometry::new(1, [1, 1, LEN]) };
    let scale = Args { blob: &blob, arguments: &arguments, ..Args::new(&params) };
    let (plain, from) = (Geometry::new(1, [1, 1, LEN]), [param(x, LEN), param(y, 1)]);
    let (double, sum) = (Args::new(&params), Args { proved: true, ..Args::new(&from) });
    let (dst, pattern) = (MemRef { base: y, offset: 12 }, 5f32.to_ne_bytes());
    let dot = [FillRect { dst, pitch: [0, 4], extent: [1, 1, 4] }];
    let kernel = KernelRef::Loaded;
    let ops = [
        Op::Launch(kernel(twice), &plain, double),
        Op::Launch(kernel(scaled), &once, scale),
        Op::Launch(kernel(total), &plain, sum),
        Op::Fill(&dot, &pattern),
    ];
    match device.graph(&ops.map(|op| Node { op, after: &[] })) {
        Ok(graph) => {
            tell(graph.update(0, ops[0]));
            tell(lanes[0].enqueue(&head(0), Op::Replay(&graph)));
        }
        refused => tell(refused.map(drop)),
    }
    let task = |_: &dyn std::any::Any| Ok(());
    let task = KernelRef::Foreign(&task);
    tell(lanes[0].enqueue(&head(0), Op::Launch(task, &Geometry::new(1, [1; 3]), Args::new(&[]))));
    lanes[0].flush();
    let waits = [Wait { lane: &lanes[0], tick: ticks[0].get() }];
    let gap = FillRect { dst: MemRef { base: y, offset: 4 }, pitch: [0, 32], extent: [1, 9, 4] };
    tell(
        lanes[1].enqueue(&Head { waits: &waits, ..head(1) }, Op::Fill(&[gap], &3f32.to_ne_bytes())),
    );
    tell(lanes[1].enqueue(
        &head(1),
        Op::Copy(&[CopyRect { dst: MemRef { base: y, offset: 8 }, ..rows(x, y, 32) }]),
    ));
    tell(lanes[1].enqueue(&head(1), Op::Copy(&[whole(y, down)])));
    for (lane, tick) in lanes.iter().zip(&ticks) {
        lane.flush();
        lane.drive();
        match lane.wait(tick.get(), Some(Instant::now() + LONG)) {
            Ok(ended) => assert!(ended, "it hangs"),
            Err(lost) => tell(Err(lost.into())),
        }
        lane.timing(tick.get());
        lane.failures(&mut |_, error| tell(Err(error)));
    }
    handles.into_iter().for_each(|handle| usm.free(handle));
    let told = told.into_inner();
    if told.is_empty() {
        let y = &values[1];
        assert_eq!((y[0], &y[1..4]), (262144.0, &[3.0, 32.0, 5.0][..]));
    }
    told.into_iter().next().map_or(Ok(()), Err)
}

/// Whatever the driver refuses, once: nothing panics or hangs, all objects are given back, and
/// either somebody is told or the values are right.
#[test]
fn each_call_may_be_refused() {
    is_survived([false, true], ONCE);
}

#[test]
fn each_call_may_be_refused_with_timestamps() {
    is_survived([true, true], ONCE);
}

#[test]
fn each_call_may_be_refused_by_a_cpu() {
    is_survived([false, false], ONCE);
}

#[test]
fn each_call_may_be_refused_by_a_cpu_with_timestamps() {
    is_survived([true, false], ONCE);
}

/// The same if it refuses that from then on.
#[test]
fn each_call_may_be_refused_for_good() {
    is_survived([false, true], FOR_GOOD);
}

#[test]
fn each_call_may_be_refused_for_good_with_timestamps() {
    is_survived([true, true], FOR_GOOD);
}

#[test]
fn each_call_may_be_refused_for_good_by_a_cpu() {
    is_survived([false, false], FOR_GOOD);
}

#[test]
fn each_call_may_be_refused_for_good_by_a_cpu_with_timestamps() {
    is_survived([true, false], FOR_GOOD);
}

/// Each function refuses so many calls, the first or a later one of them.
fn is_survived(form: Form, (times, status): Times) {
    let _one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(devices) = OpenClBackend::new().devices() else {
        return println!("skipped: opencl: no device");
    };
    if !form[1] && devices[0].kind != DeviceKind::Cpu {
        return println!("skipped: opencl addresses: the device is no CPU");
    }
    let leaves_nothing = |calls: &BTreeMap<&'static str, usize>, what: &str| {
        let of =
            |names: &[&str]| -> usize { names.iter().filter_map(|name| calls.get(name)).sum() };
        for (made, released) in [
            (&["clCreateContext"][..], "clReleaseContext"),
            (&["clCreateCommandQueue"], "clReleaseCommandQueue"),
            (&["clCreateBuffer", "clCreateSubBuffer"], "clReleaseMemObject"),
            (&["clSVMAlloc"], "clSVMFree"),
            (&["clCreateProgramWithSource"], "clReleaseProgram"),
            (&["clCreateKernel"], "clReleaseKernel"),
        ] {
            assert_eq!(of(made), of(&[released]), "{what}: {made:?} of {calls:?}");
        }
    };
    let calls = calls_of(|| some_of_everything(form).unwrap());
    leaves_nothing(&calls, "nothing");
    let (mut told, mut untold) = (0, 0);
    for (function, count) in calls {
        if function.starts_with("clRelease") || function == "clSVMFree" {
            continue;
        }
        for call in (0..count).step_by(count.div_ceil(3)) {
            let mut result = Ok(());
            refuse_for(function, call..call.saturating_add(times), status);
            let calls = calls_of(|| result = some_of_everything(form));
            // How often it asks how far something is depends on that.
            if REFUSED.take().is_none_or(|left| left.1.start == 0) {
                *if result.is_err() { &mut told } else { &mut untold } += 1;
            }
            leaves_nothing(&calls, &format!("{times} from call {call} of {function} on"));
        }
    }
    println!("{told} told, {untold} of no consequence");
    assert!(told >= 40, "{told}");
}
