//! Behaviour that shows on the inside only: which of the driver's functions are called, and texts
//! that it refuses.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use crate::cl::{Event, call, check, run};
use crate::device::OpenClDevice;
use crate::lane::OpenClLane;
use crate::platform::{Svm, find};
use crate::{Cache, Native, OpenClBackend};
use folio_core::Runtime;
use folio_core::hal::{
    AllocKind, AllocReq, Args, Argument, Backend, CopyRect, Device, FillRect, Geometry, HalError,
    HalErrorKind, Head, HostPtr, KernelHandle, KernelRef, KernelSource, Lane, LaneKind, Lost,
    MemBase, MemRef, Notify, Op, Order, Param, Side, Source, Tick, Unavailable, Wait,
};
use folio_core::ir::emit::Cut;
use folio_core::ir::parse::parse;
use opencl_sys::{
    CL_COMPLETE, CL_DEVICE_NOT_AVAILABLE, CL_INVALID_OPERATION, CL_MEM_OBJECT_ALLOCATION_FAILURE,
    CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, cl_command_queue, cl_context, cl_int,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

mod faults;
mod graph;
mod kernels;
mod launch_batch;
mod loss;
mod memory;
mod words;

/// What is kept is given back on behalf of whoever has too little, in the whole process.
static ONE_COUNTS: Mutex<()> = Mutex::new(());

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// Which calls of a function of the driver's this thread does not get to, by their numbers, and
/// what it is told.
#[derive(Clone, Debug, PartialEq)]
struct Refused(&'static str, Range<usize>, cl_int);

/// An action within a call.
type Within = (&'static str, Box<dyn FnOnce()>);

thread_local! {
    /// How often this thread has called each of the driver's functions.
    static CALLS: RefCell<BTreeMap<&'static str, usize>> = RefCell::default();
    static REFUSED: RefCell<Option<Refused>> = const { RefCell::new(None) };
    /// The action for which the next call of this function waits.
    static WITHIN: RefCell<Option<Within>> = const { RefCell::new(None) };
    /// No kernel runs in larger groups.
    pub(crate) static MOST_ITEMS: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The driver's function of this name is called, or refuses.
pub(crate) fn called(function: &'static str) -> Result<(), HalError> {
    let within = |within: &RefCell<Option<Within>>| {
        within.borrow_mut().take_if(|(name, _)| *name == function)
    };
    // Not while a thread ends, which takes its locals first.
    if let Ok(Some((_, within))) = WITHIN.try_with(within) {
        within();
    }
    let refused = REFUSED.try_with(|refused| {
        let mut refused = refused.borrow_mut();
        let Refused(_, calls, status) = refused.as_mut().filter(|r| r.0 == function)?;
        if calls.start > 0 {
            *calls = calls.start - 1..calls.end - 1;
            return None;
        }
        let status = *status;
        calls.end -= 1;
        if calls.end == 0 {
            *refused = None;
        }
        Some(check(function, status))
    });
    if let Ok(Some(refused)) = refused {
        return refused;
    }
    let _ = CALLS.try_with(|calls| *calls.borrow_mut().entry(function).or_default() += 1);
    Ok(())
}

/// The driver refuses this call of this function; call 0 is the next.
fn refuse(function: &'static str, call: usize) {
    refuse_for(function, call..call + 1, CL_INVALID_OPERATION);
}

fn refuse_for(function: &'static str, calls: Range<usize>, status: cl_int) {
    REFUSED.set(Some(Refused(function, calls, status)));
}

/// There is nothing left that it refuses.
#[track_caller]
fn was_refused() {
    assert_eq!(REFUSED.take(), None);
}

/// The calls of this thread meanwhile.
fn calls_of(run: impl FnOnce()) -> BTreeMap<&'static str, usize> {
    CALLS.take();
    run();
    CALLS.take()
}

/// An item for each element, with a test of its index where that is not proved.
const TWICE: &str = "kernel \"twice\" items 1 tile 1
param p0 = \"x\" view f32 1 inout item
body {
    %0 u64 = query position 0 0
    %1 f32 = load p0[%0]
    %2 f32 = add %1, %1
    store p0[%0] = %2
}";

fn request(size: u64) -> AllocReq<'static> {
    let kind = AllocKind::Device;
    AllocReq {
        kind,
        size,
        align: 64,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: "x",
    }
}

/// A device with a lane, memory for so many `f32`, and the kernel.
struct Bench {
    device: Arc<dyn Device>,
    lane: Arc<dyn Lane>,
    last: Cell<Tick>,
    memory: MemRef,
    len: usize,
    twice: KernelHandle,
}

impl Bench {
    /// The same device, by another lane.
    fn beside(&self) -> Bench {
        let lane = self.device.lane(LaneKind::Compute, 0).unwrap();
        let (device, last) = (self.device.clone(), Cell::new(0));
        Bench { device, lane, last, ..*self }
    }

    /// None where there is no device.
    fn open(len: usize) -> Option<Bench> {
        Bench::by(OpenClBackend::new(), len)
    }

    fn by(backend: OpenClBackend, len: usize) -> Option<Bench> {
        Bench::with(backend.as_gpus(), len)
    }

    /// As the device is.
    fn with(backend: OpenClBackend, len: usize) -> Option<Bench> {
        let backend = backend.cache(Cache::off());
        if let Err(why) = backend.devices() {
            println!("skipped: opencl: {}", why.reason);
            return None;
        }
        // SAFETY: the tests keep the HAL's contract.
        let device = unsafe { backend.open(0, Notify::none()) }.unwrap();
        let lane = device.lane(LaneKind::Compute, 0).unwrap();
        let twice = device.load(&KernelSource::Ir(&parse(TWICE).unwrap())).unwrap();
        let made = device.usm().alloc(&request(4 * len as u64)).unwrap();
        let base = MemBase::Device { device: 0, handle: made.handle };
        let memory = MemRef { base, offset: 0 };
        Some(Bench { device, lane, last: Cell::new(0), memory, len, twice })
    }

    fn head<'w>(&self, waits: &'w [Wait<'w>]) -> Head<'w> {
        self.last.set(self.last.get() + 1);
        let (tick, order) = (self.last.get(), Order::AfterPrevious);
        Head { tick, order, waits, label: "", timed: false }
    }

    /// A part of so many elements.
    fn param(&self, elements: usize) -> Param {
        Param {
            mem: self.memory,
            size: 4,
            write: true,
            dims: [1, 1, self.len],
            origin: [0; 3],
            extent: [1, 1, elements],
            index: [0; 3],
            shape: [1, 1, elements],
        }
    }

    /// Launches over all elements, of which the kernel is told to have so many.
    fn launch(&self, elements: usize, proved: bool) {
        let (params, geometry) = ([self.param(elements)], Geometry::new(1, [1, 1, self.len]));
        let args = Args { proved, ..Args::new(&params) };
        let kernel = KernelRef::Loaded(self.twice);
        self.lane.enqueue(&self.head(&[]), Op::Launch(kernel, &geometry, args)).unwrap();
        self.enqueue();
    }

    /// Enqueues the held launches.
    fn enqueue(&self) {
        self.lane.downcast_ref::<OpenClLane>().unwrap().enqueue();
    }

    /// Empty but for what it waits for.
    fn meet(&self, lane: &Arc<dyn Lane>, tick: Tick) {
        self.lane.enqueue(&self.head(&[Wait { lane, tick }]), Op::Copy(&[])).unwrap();
    }

    /// Copies between the memory and the host's, and waits.
    fn copy(&self, values: &mut [f32], up: bool) {
        self.copy_some(values.as_mut_ptr(), values.len(), up);
        self.finish();
    }

    fn copy_some(&self, at: *mut f32, len: usize, up: bool) {
        let base = MemBase::Host(HostPtr(at.cast()));
        let host = MemRef { base, offset: 0 };
        let (src, dst) = if up { (host, self.memory) } else { (self.memory, host) };
        let bytes = 4 * len as u64;
        let rect = CopyRect {
            src,
            src_pitch: [bytes; 2],
            dst,
            dst_pitch: [bytes; 2],
            extent: [1, 1, bytes],
        };
        self.lane.enqueue(&self.head(&[]), Op::Copy(&[rect])).unwrap();
    }

    fn finish(&self) {
        assert_eq!(self.lane.wait(self.last.get(), None), Ok(true));
    }

    /// By its queue.
    fn task(
        &self,
        run: impl FnOnce(cl_command_queue, cl_context) -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        let run = Cell::new(Some(run));
        let task = |native: &dyn std::any::Any| {
            let native = native.downcast_ref::<Native>().unwrap();
            run.take().unwrap()(native.queue, native.context)
        };
        let (kernel, geometry) = (KernelRef::Foreign(&task), Geometry::new(1, [1; 3]));
        self.lane.enqueue(&self.head(&[]), Op::Launch(kernel, &geometry, Args::new(&[])))
    }

    /// Later operations on this lane wait for the gate.
    fn gate(&self) -> Gate {
        let mut gate = None;
        self.task(|queue, context| {
            let mut status = 0;
            // SAFETY: a live context and queue; the event lives until it is released.
            unsafe {
                let event = Event(call!(clCreateUserEvent(context, &raw mut status))?);
                let raw = &raw const event.0;
                run!(clEnqueueBarrierWithWaitList(queue, 1, raw, null_mut()))?;
                gate = Some(Gate(event, queue as usize));
            }
            Ok(())
        })
        .unwrap();
        gate.unwrap()
    }

    fn failures(&self) -> Vec<(Tick, HalError)> {
        let mut all = Vec::new();
        self.lane.failures(&mut |tick, error| all.push((tick, error)));
        all
    }

    /// Each launch so far has doubled all values.
    #[track_caller]
    fn holds(&self, launches: i32) {
        let mut values = vec![0.0; self.len];
        self.copy(&mut values, false);
        assert!(values.iter().all(|value| *value == 2f32.powi(launches)), "{:?}", &values[..4]);
    }
}

/// A queue waits for it.
struct Gate(Event, usize);

impl Gate {
    fn open(&self) {
        // SAFETY: a live event, whose status nobody has set before.
        unsafe { run!(clSetUserEventStatus(self.0.0, CL_COMPLETE)) }.unwrap();
    }

    /// Everything that the queue has been given has ended.
    fn queue_ends(&self) {
        // SAFETY: the queue of a lane that the test has.
        unsafe { run!(clFinish(self.1 as cl_command_queue)) }.unwrap();
    }
}

/// A rectangle whose rows are apart is filled by few calls, and nothing between its rows is
/// written.
#[test]
fn fills_take_few_calls() {
    let Some(bench) = Bench::open(16 << 10) else { return };
    let rect =
        |extent, pitch, offset| FillRect { dst: MemRef { offset, ..bench.memory }, pitch, extent };
    // Slices, rows and bytes; from one to the next; the first byte; calls, at most.
    let all = [
        ([1, 100, 12], [0, 52], 8, 8),
        ([3, 100, 12], [8000, 52], 4, 3 * 8),
        ([40, 1, 12], [100, 1], 4, 7),
        ([40, 3, 12], [100, 12], 4, 7),
        ([40, 3, 12], [36, 12], 4, 1),
        ([1, 7, 13], [0, 19], 3, 4),
    ];
    for (extent, pitch, offset, most) in all {
        let mut expected = vec![1u8; 64 << 10];
        for (z, y) in (0..extent[0]).flat_map(|z| (0..extent[1]).map(move |y| (z, y))) {
            let at = (offset + z * pitch[0] + y * pitch[1]) as usize;
            let row = expected[at..at + extent[2] as usize].iter_mut();
            row.zip([7, 8, 9].into_iter().cycle()).for_each(|(byte, value)| *byte = value);
        }
        bench.copy(&mut vec![f32::from_ne_bytes([1; 4]); 16 << 10], true);
        let calls = calls_of(|| {
            let rect = rect(extent, pitch, offset);
            bench.lane.enqueue(&bench.head(&[]), Op::Fill(&[rect], &[7, 8, 9])).unwrap();
        });
        let enqueued: usize =
            calls.iter().filter(|(name, _)| name.starts_with("clEnqueue")).map(|(_, n)| n).sum();
        assert!(enqueued <= most, "{calls:?}");
        let mut values = vec![0.0f32; 16 << 10];
        bench.copy(&mut values, false);
        let found: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        assert!(found == expected, "{extent:?}");
    }
}

/// The records of 640 launches come with one read for each 64 of them, which nobody waits for
/// before somebody waits for the launches; and the one that went wrong is told.
#[test]
fn verdicts_cost_no_synchronisation() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [0.0; 256], true);
    // The objects that the lane makes once.
    bench.launch(256, false);
    bench.finish();
    for (proved, reads) in [(true, 0), (false, 9)] {
        let before = bench.last.get();
        let calls = calls_of(|| {
            for launch in 0..640 {
                let elements = if launch == 333 && !proved { 255 } else { 256 };
                bench.launch(elements, proved);
            }
        });
        let of = |function| calls.get(function).copied().unwrap_or(0);
        assert_eq!(of("clEnqueueNDRangeKernel"), 640);
        for waits in ["clWaitForEvents", "clFinish", "clFlush", "clEnqueueBarrierWithWaitList"] {
            assert_eq!(of(waits), 0, "{calls:?}");
        }
        let told = of("clEnqueueReadBuffer");
        assert!((reads..=reads + 1).contains(&told), "{calls:?}");
        assert_eq!(told, of("clEnqueueFillBuffer"), "{calls:?}");
        // A mark is the read, or else the last launch's, or a marker.
        assert!(told + of("clEnqueueMarkerWithWaitList") <= 11, "{calls:?}");
        // How far the lane is, is no question to the driver.
        let asked = calls_of(|| (0..100).for_each(|_| drop(bench.lane.completed())));
        assert!(asked.is_empty(), "{asked:?}");
        let waited = calls_of(|| bench.finish());
        assert!(waited.get("clWaitForEvents").is_none_or(|waits| *waits <= 1), "{waited:?}");
        let failures = bench.failures();
        let ticks: Vec<_> = failures.iter().map(|(tick, _)| tick - before).collect();
        assert_eq!(ticks, if proved { vec![] } else { vec![334] }, "{failures:?}");
    }
}

/// The driver reads the records of launches, and does not clear them: what they say is told all the
/// same, and not of later launches.
#[test]
fn records_that_are_not_cleared() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [0.0; 256], true);
    bench.launch(256, false);
    bench.finish();
    bench.launch(255, false);
    let wrong = bench.last.get();
    refuse("clEnqueueFillBuffer", 0);
    bench.finish();
    was_refused();
    for _ in 0..100 {
        bench.launch(256, false);
    }
    bench.finish();
    let failures = bench.failures();
    assert!(matches!(failures[..], [(tick, _)] if tick == wrong), "{failures:?}");
}

/// Once a command has been enqueued, what fails then is no error of the call, and is told of its
/// tick.
#[test]
fn what_was_enqueued_fails_later() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    bench.launch(256, false);
    refuse("clEnqueueReadBuffer", 0);
    // The copy's mark reads the launch's record.
    bench.copy(&mut [0.0; 256], false);
    was_refused();
    let failures = bench.failures();
    assert!(matches!(failures[..], [(tick, _)] if tick == bench.last.get()), "{failures:?}");
    let task = |_: &dyn std::any::Any| {
        refuse("clEnqueueMarkerWithWaitList", 0);
        Ok(())
    };
    let (kernel, geometry) = (KernelRef::Foreign(&task), Geometry::new(1, [1; 3]));
    let head = Head { timed: true, ..bench.head(&[]) };
    bench.lane.enqueue(&head, Op::Launch(kernel, &geometry, Args::new(&[]))).unwrap();
    bench.finish();
    let failures = bench.failures();
    assert!(matches!(failures[..], [(tick, _)] if tick == bench.last.get()), "{failures:?}");
    bench.launch(256, false);
    bench.holds(2);
}

/// A device that does not say what it is is none; if that leaves none, its reason is told.
#[test]
fn devices_that_do_not_say_what_they_are() {
    if Bench::open(1).is_none() {
        return;
    }
    let all = OpenClBackend::new().devices().unwrap().len();
    // Whether it is there comes first, in two calls.
    for (function, calls) in [("clGetDeviceIDs", 0), ("clGetDeviceInfo", 2)] {
        refuse(function, calls);
        match OpenClBackend::new().devices() {
            Ok(devices) => assert!(devices.len() < all),
            Err(why) => assert!(why.reason.contains("CL_INVALID_OPERATION"), "{}", why.reason),
        }
        was_refused();
    }
}

/// The objects of launches are given back with each 256th of them, whose own event says that it has
/// ended.
#[test]
fn events_are_few() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [0.0; 256], true);
    let calls = calls_of(|| {
        (0..2560).for_each(|_| bench.launch(256, true));
        bench.finish();
    });
    let of = |function| calls.get(function).copied().unwrap_or(0);
    // And one for the wait.
    assert!(of("clEnqueueMarkerWithWaitList") <= 1, "{calls:?}");
    assert!((10..=12).contains(&of("clReleaseEvent")), "{calls:?}");
}
