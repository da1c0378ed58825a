//! What shows on the inside only: which of the driver's functions are called, and texts that it refuses.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use crate::device::{Loaded, OpenClDevice};
use crate::module::Text;
use crate::{Cache, OpenClBackend};
use folio_core::Runtime;
use folio_core::hal::{
    AllocKind, AllocReq, Args, Backend, CopyRect, Device, Foreign, Geometry, HalError,
    HalErrorKind, Head, HostPtr, KernelHandle, KernelRef, KernelSource, Lane, LaneKind, Lost,
    MemBase, MemRef, Notify, Order, Param, Tick, Wait,
};
use folio_core::ir::parse::parse;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

thread_local! {
    /// How often this thread has called each of the driver's functions.
    static CALLS: RefCell<BTreeMap<&'static str, usize>> = RefCell::default();
    /// The function that this thread does not get to, once it has called it so often.
    static REFUSED: Cell<Option<(&'static str, usize)>> = const { Cell::new(None) };
    /// So often the driver has no memory for this thread.
    static REFUSALS: Cell<usize> = const { Cell::new(0) };
}

/// Whether the driver is to say that it has no memory.
pub(crate) fn is_refused() -> bool {
    let left = REFUSALS.get();
    REFUSALS.set(left.saturating_sub(1));
    left > 0
}

/// Whether the driver refuses this call, of a function that returns a status.
pub(crate) fn refused(function: &'static str) -> Result<(), HalError> {
    match REFUSED.get() {
        Some((name, 0)) if name == function => {
            REFUSED.set(None);
            Err(HalError::new(HalErrorKind::Driver, "a test's reason"))
        }
        Some((name, calls)) if name == function => {
            REFUSED.set(Some((name, calls - 1)));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The driver's function of this name is called.
pub(crate) fn called(function: &'static str) {
    // Not while a thread ends, which takes its locals first.
    let _ = CALLS.try_with(|calls| *calls.borrow_mut().entry(function).or_default() += 1);
}

/// What this thread calls meanwhile.
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
    AllocReq { kind, size, align: 64, import: None, zeroed: false, label: "x" }
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
        let backend = OpenClBackend::new().cache(Cache::off()).as_gpus();
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

    /// Launches over all elements, of which the kernel is told to have so many.
    fn launch(&self, elements: usize, proved: bool) {
        let all = [1, 1, self.len];
        let param = Param {
            mem: self.memory,
            size: 4,
            write: true,
            dims: all,
            origin: [0; 3],
            extent: [1, 1, elements],
            index: [0; 3],
            shape: [1, 1, elements],
        };
        let (params, geometry) = ([param], Geometry::new(1, all));
        let args = Args { proved, ..Args::new(&params) };
        let kernel = KernelRef::Loaded(self.twice);
        self.lane.launch(&self.head(&[]), kernel, &geometry, &args).unwrap();
    }

    /// Empty but for what it waits for.
    fn meet(&self, lane: &Arc<dyn Lane>, tick: Tick) {
        self.lane.copy(&self.head(&[Wait { lane, tick }]), &[]).unwrap();
    }

    /// Copies between the memory and the host's, and waits.
    fn copy(&self, values: &mut [f32], up: bool) {
        let base = MemBase::Host(HostPtr(values.as_mut_ptr().cast()));
        let host = MemRef { base, offset: 0 };
        let (src, dst) = if up { (host, self.memory) } else { (self.memory, host) };
        let bytes = size_of_val(values) as u64;
        let rect = CopyRect {
            src,
            src_pitch: [bytes; 2],
            dst,
            dst_pitch: [bytes; 2],
            extent: [1, 1, bytes],
        };
        self.lane.copy(&self.head(&[]), &[rect]).unwrap();
        self.finish();
    }

    fn finish(&self) {
        assert_eq!(self.lane.wait(self.last.get(), None), Ok(true));
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

/// What 640 launches say comes with one read for each 64 of them, which nobody waits for before somebody waits for
/// the launches; and the one that went wrong is told.
#[test]
fn verdicts_cost_no_synchronisation() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [0.0; 256], true);
    // What the lane needs once.
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
        // A mark is the read, or else a marker.
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

/// The driver reads the records of launches, and does not clear them: what they say is told all the same, and not of
/// later launches.
#[test]
fn records_that_are_not_cleared() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [0.0; 256], true);
    bench.launch(256, false);
    bench.finish();
    bench.launch(255, false);
    let wrong = bench.last.get();
    REFUSED.set(Some(("clEnqueueFillBuffer", 0)));
    bench.finish();
    assert_eq!(REFUSED.get(), None);
    for _ in 0..100 {
        bench.launch(256, false);
    }
    bench.finish();
    let failures = bench.failures();
    assert!(matches!(failures[..], [(tick, _)] if tick == wrong), "{failures:?}");
}

/// Once a command has been enqueued, what fails then is no error of the call, and is told of its tick.
#[test]
fn what_was_enqueued_fails_later() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    bench.launch(256, false);
    REFUSED.set(Some(("clEnqueueReadBuffer", 0)));
    // The copy's mark reads the launch's record.
    bench.copy(&mut [0.0; 256], false);
    assert_eq!(REFUSED.get(), None);
    let failures = bench.failures();
    assert!(matches!(failures[..], [(tick, _)] if tick == bench.last.get()), "{failures:?}");
    let mut task = |_: &dyn std::any::Any| {
        REFUSED.set(Some(("clEnqueueMarkerWithWaitList", 0)));
        Ok(())
    };
    let (kernel, geometry) =
        (KernelRef::Foreign(Foreign::new(&mut task)), Geometry::new(1, [1; 3]));
    let head = Head { timed: true, ..bench.head(&[]) };
    bench.lane.launch(&head, kernel, &geometry, &Args::new(&[])).unwrap();
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
        REFUSED.set(Some((function, calls)));
        match OpenClBackend::new().devices() {
            Ok(devices) => assert!(devices.len() < all),
            Err(why) => assert!(why.reason.contains("a test's reason"), "{}", why.reason),
        }
        assert_eq!(REFUSED.get(), None);
    }
}

/// What launches use is given back with each 256th of them, whose own event says that it has ended.
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

/// A driver refuses the text of several items for each thread: launches take the one of one item. Where there
/// is no other text the launch has failed, and says why.
#[test]
fn a_text_that_the_driver_refuses() {
    let Some(bench) = Bench::open(1 << 21) else { return };
    bench.copy(&mut vec![1.0; 1 << 21], true);
    let device = bench.device.as_any().downcast_ref::<OpenClDevice>().unwrap();
    let loaded = device.0.loaded(bench.twice).unwrap();
    let Loaded::Function(twice) = &*loaded else { panic!("it is a function") };
    let refuse = |text: &Text| {
        let error = HalError::new(HalErrorKind::Build, "the driver's reason");
        text.built.set(Err(error)).unwrap();
    };
    let (range, units) = ([1, 1, bench.len as u64], device.0.info.compute_units);
    refuse(twice.0.several(range, u64::from(units)).unwrap().0);
    bench.launch(bench.len, true);
    bench.holds(1);
    // With tests; nothing else has them.
    refuse(twice.0.text(false));
    bench.launch(bench.len, false);
    bench.launch(bench.len, true);
    bench.holds(2);
    let failures = bench.failures();
    let [(tick, error)] = &failures[..] else { panic!("{failures:?}") };
    assert!(matches!(error.kind, HalErrorKind::Build), "{error}");
    assert_eq!((*tick, &*error.message), (4, "the driver's reason"));
}

/// Whoever sees that a lane has gone on sees also that those have for which it waited, and what failed there.
#[test]
fn lanes_are_seen_after_those_that_they_waited_for() {
    let Some(first) = Bench::open(256) else { return };
    first.copy(&mut [1.0; 256], true);
    let [second, third] = [first.beside(), first.beside()];
    for turn in 1..=20 {
        first.launch(255, false);
        second.meet(&first.lane, first.last.get());
        third.meet(&second.lane, turn);
        // Nobody asks the others.
        third.finish();
        assert_eq!(second.lane.completed(), Ok(turn));
        assert_eq!(first.lane.completed(), Ok(first.last.get()));
        let failures = first.failures();
        assert!(matches!(failures[..], [(tick, _)] if tick == first.last.get()), "{failures:?}");
    }
}

/// Calls of `clSVMAlloc` and of `clSVMFree` meanwhile.
fn svm(run: impl FnOnce()) -> [usize; 2] {
    let calls = calls_of(run);
    ["clSVMAlloc", "clSVMFree"].map(|function| calls.get(function).copied().unwrap_or(0))
}

/// A device on which nothing is in use, if its memory has addresses.
fn with_addresses() -> Option<Arc<OpenClDevice>> {
    let backend = OpenClBackend::new();
    if let Err(why) = backend.devices() {
        println!("skipped: opencl: {}", why.reason);
        return None;
    }
    // SAFETY: the tests keep the HAL's contract.
    let core = unsafe { backend.open(0, Notify::none()) }.unwrap();
    let core = core.as_any().downcast_ref::<OpenClDevice>().unwrap().0.clone();
    let device = Arc::new(OpenClDevice(core));
    if device.0.svm == crate::platform::Svm::None {
        println!("skipped: opencl memory: it has no addresses");
        return None;
    }
    Some(device)
}

const MIB: u64 = 1 << 20;

/// Of what is allocated and freed again and again the driver hears once, and in the end it has all of it back.
#[test]
fn freed_memory_is_allocated_again() {
    let Some(device) = with_addresses() else { return };
    let usm = device.usm();
    let again = |sizes: &[u64]| {
        svm(|| {
            for _ in 0..100 {
                let made = sizes.iter().map(|size| usm.alloc(&request(*size)).unwrap().handle);
                let made: Vec<_> = made.collect();
                made.into_iter().for_each(|handle| usm.free(handle));
            }
        })
    };
    assert_eq!(again(&[MIB]), [1, 0]);
    assert_eq!(again(&[MIB, 3 * MIB, 7]), [2, 0]);
    // A little less is done with what is there.
    assert_eq!(again(&[3 * MIB - MIB / 4]), [0, 0]);
    assert_eq!(usm.memory().in_use, 0);
    // No more than the 4 MiB and something that were in use at once: both large pieces go.
    let all = svm(|| assert!(usm.alloc(&request(3 * MIB + MIB / 2)).is_ok()));
    assert_eq!(all, [1, 2]);
    assert_eq!(svm(|| drop(device)), [0, 2]);
}

/// What is asked for as zeros is zeros, also where something else was before.
#[test]
fn memory_that_is_allocated_again_is_zeroed() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    let MemBase::Device { handle, .. } = bench.memory.base else { unreachable!() };
    bench.device.usm().free(handle);
    let request = AllocReq { zeroed: true, ..request(4 * 256) };
    let mut made = None;
    let asked = svm(|| made = Some(bench.device.usm().alloc(&request).unwrap()));
    let made = made.unwrap();
    assert!(made.address.is_none() || asked == [0, 0]);
    let base = MemBase::Device { device: 0, handle: made.handle };
    let bench = Bench { memory: MemRef { base, offset: 0 }, ..bench };
    let mut values = [2.0; 256];
    bench.copy(&mut values, false);
    assert_eq!(values, [0.0; 256]);
}

/// What a command still holds that is being enqueued nobody else gets; nor is what a lost device may still use freed.
#[test]
fn memory_that_is_held_is_not_allocated_again() {
    let Some(device) = with_addresses() else { return };
    let usm = device.usm();
    let first = usm.alloc(&request(MIB)).unwrap();
    let held = device.0.shared.memory.find(first.handle).unwrap();
    let mut second = None;
    let again = svm(|| {
        usm.free(first.handle);
        second = Some(usm.alloc(&request(MIB)).unwrap());
    });
    let second = second.unwrap();
    assert_eq!(again, [1, 0]);
    assert_ne!(first.address, second.address);
    assert_eq!(svm(|| drop(held)), [0, 1]);
    device.0.lost.set(Lost::new("a test")).unwrap();
    assert_eq!(svm(|| usm.free(second.handle)), [0, 0]);
}

/// A driver that has no more memory is asked again when nothing is kept; what fails then leaves no trace.
#[test]
fn what_is_kept_is_given_back_where_memory_is_short() {
    let Some(device) = with_addresses() else { return };
    let usm = device.usm();
    let some = [8, 2].map(|size| usm.alloc(&request(size * MIB)).unwrap().handle);
    assert_eq!(svm(|| some.iter().for_each(|handle| usm.free(*handle))), [0, 0]);
    // The larger piece goes so that no more is held than was in use; the other one, because it is refused.
    REFUSALS.set(1);
    let mut made = None;
    assert_eq!(svm(|| made = Some(usm.alloc(&request(3 * MIB)).unwrap())), [1, 2]);
    let before = usm.memory();
    REFUSALS.set(2);
    let error = usm.alloc(&request(3 * MIB)).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::OutOfMemory { asked, .. } if asked == 3 * MIB));
    assert_eq!(usm.memory(), before);
    usm.free(made.unwrap().handle);
    assert_eq!(usm.memory().in_use, 0);
}

/// The same by buffers of a runtime, which read as zero each time.
#[test]
fn buffers_come_and_go() {
    if with_addresses().is_none() {
        return;
    }
    let rt = Runtime::builder().backend(OpenClBackend::new()).build().unwrap();
    let q = rt.queue().unwrap();
    let asked = svm(|| {
        for turn in 0..100 {
            let mut x = rt.buffer::<u32>(10_000).unwrap();
            q.submit(|g| {
                g.fill(x.slice_mut([1], [500])?, turn);
                Ok(())
            })
            .unwrap();
            let values = x.to_vec().unwrap();
            assert_eq!(values[..2], [0, turn]);
            assert!(values[501..].iter().all(|value| *value == 0));
            drop(x);
            while q.device().budget().1 > 0 {
                std::thread::yield_now();
            }
        }
    });
    // One more to see what buffers over such memory are, in each context.
    assert_eq!(asked[0], 2);
}

/// A task is called while its device is there; on one that is lost it is not.
#[test]
fn no_task_is_called_on_a_lost_device() {
    let Some(bench) = Bench::open(256) else { return };
    let mut calls = 0;
    let mut launch = || {
        let mut task = |_: &dyn std::any::Any| {
            calls += 1;
            Ok(())
        };
        let (kernel, geometry) =
            (KernelRef::Foreign(Foreign::new(&mut task)), Geometry::new(1, [1; 3]));
        let launched = bench.lane.launch(&bench.head(&[]), kernel, &geometry, &Args::new(&[]));
        (launched, calls)
    };
    assert!(matches!(launch(), (Ok(()), 1)));
    let device = bench.device.as_any().downcast_ref::<OpenClDevice>().unwrap();
    device.0.lost.set(Lost::new("a test")).unwrap();
    let (refused, calls) = launch();
    assert!(matches!(refused, Err(error) if matches!(error.kind, HalErrorKind::Lost)));
    assert_eq!(calls, 1);
}
