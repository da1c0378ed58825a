//! What shows on the inside only: which of the driver's functions are called, and texts that it refuses.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use crate::device::{Loaded, OpenClDevice};
use crate::module::Text;
use crate::{Cache, OpenClBackend};
use folio_core::hal::{
    AllocKind, AllocReq, Args, Backend, CopyRect, Device, Geometry, HalError, HalErrorKind, Head,
    HostPtr, KernelHandle, KernelRef, KernelSource, Lane, LaneKind, MemBase, MemRef, Notify, Order,
    Param, Tick, Wait,
};
use folio_core::ir::parse::parse;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

thread_local! {
    /// How often this thread has called each of the driver's functions.
    static CALLS: RefCell<BTreeMap<&'static str, usize>> = RefCell::default();
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
        let size = 4 * len as u64;
        let kind = AllocKind::Device;
        let wanted = AllocReq { kind, size, align: 64, import: None, zeroed: false, label: "x" };
        let made = device.usm().alloc(&wanted).unwrap();
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
