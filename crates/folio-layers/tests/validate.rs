//! For each rule a planted breach that is reported under its name, and legal neighbours that are
//! not.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod common;

use common::*;
use folio_core::geom::Box3;
use folio_core::hal::*;
use folio_layers::{DeviceRef, HeadRef, Hooks, LaneRef, Layer, Report, Rule, Validate};
use folio_sim::{DeviceSpec, SimBackend};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn over(backend: impl Backend) -> (Rig, Report) {
    let validate = Validate::new();
    let report = validate.report();
    (rig(validate.over(backend)), report)
}

fn two() -> (Rig, Report) {
    over(SimBackend::builder().devices(2, DeviceSpec::new()).peers(Link::default()).build())
}

#[track_caller]
fn found(report: &Report, rules: &[Rule]) {
    let all: Vec<_> = report.violations().into_iter().map(|v| v.rule).collect();
    assert_eq!(all, rules, "{report:?}");
}

#[test]
fn ticks_with_a_gap() {
    let (rig, report) = two();
    let (lane, mem) = (rig.lane(0), rig.alloc(0, 16));
    fill(&lane, 1, &[], mem).unwrap();
    found(&report, &[]);
    let _ = fill(&lane, 3, &[], mem);
    found(&report, &[Rule::Ticks]);
}

#[test]
fn two_calls_at_once_on_a_lane() {
    // Below the layer: a fill that calls the layer's lane again, as a second thread would.
    struct Again(std::sync::Mutex<Option<Arc<dyn Lane>>>);
    struct Through(Arc<Again>);
    // SAFETY: the test's own calls keep the contract, but for the one that is found out.
    unsafe impl Hooks for Through {
        fn operation(
            &self,
            lane: &LaneRef,
            head: &HeadRef<'_>,
            op: Op<'_>,
        ) -> Result<(), HalError> {
            let outer = self.0.0.lock().unwrap().take();
            let out = lane.inner.enqueue(&head.inner, op);
            if let Some(outer) = outer {
                outer.enqueue(&common::head(head.inner.tick + 1, &[]), Op::Copy(&[]))?;
            }
            out
        }
    }
    let again = Arc::new(Again(std::sync::Mutex::new(None)));
    let sim = Arc::new(SimBackend::builder().build());
    let (rig, report) = over(Layer::new(Through(again.clone()), sim));
    let (lane, mem) = (rig.lane(0), rig.alloc(0, 16));
    *again.0.lock().unwrap() = Some(lane.clone());
    fill(&lane, 1, &[], mem).unwrap();
    found(&report, &[Rule::Concurrent]);
}

#[test]
fn waits_outside_the_group() {
    let spec = |group| DeviceSpec::new().wait_group(group);
    let builder = SimBackend::builder().device(spec(Some(0))).device(spec(Some(1)));
    let (rig, report) = over(builder.build());
    let (a, b, mem) = (rig.lane(0), rig.lane(1), rig.alloc(1, 16));
    let _ = fill(&b, 1, &[Wait { lane: &a, tick: 0 }], mem);
    found(&report, &[Rule::WaitGroup]);
    let (other, _) = two();
    let _ = fill(&b, 2, &[Wait { lane: &other.lane(0), tick: 0 }], mem);
    found(&report, &[Rule::WaitGroup, Rule::WaitGroup]);
}

#[test]
fn waits_for_what_was_not_issued() {
    let (rig, report) = two();
    let (a, b, mem) = (rig.lane(0), rig.lane(0), rig.alloc(0, 16));
    let _ = fill(&b, 1, &[Wait { lane: &a, tick: 1 }], mem);
    found(&report, &[Rule::WaitIssued]);
    let _ = a.wait(1, Some(std::time::Instant::now()));
    found(&report, &[Rule::WaitIssued, Rule::WaitIssued]);
}

#[test]
fn too_many_in_flight() {
    let (rig, report) =
        over(SimBackend::builder().device(DeviceSpec::new().max_in_flight(2)).build());
    let (lane, mem) = (rig.lane(0), rig.alloc(0, 16));
    for tick in 1..=2 {
        fill(&lane, tick, &[], mem).unwrap();
    }
    lane.wait(2, None).unwrap();
    for tick in 3..=4 {
        fill(&lane, tick, &[], mem).unwrap();
    }
    found(&report, &[]);
    fill(&lane, 5, &[], mem).unwrap();
    found(&report, &[Rule::InFlight]);
}

#[test]
fn memory_that_is_gone() {
    let (rig, report) = two();
    let (lane, mem) = (rig.lane(0), rig.alloc(0, 16));
    rig.free(mem);
    let _ = fill(&lane, 1, &[], mem);
    let _ = launch(&lane, 2, &[], &[param(mem, false, 0, 4)]);
    found(&report, &[Rule::Live, Rule::Live]);
}

#[test]
fn bytes_out_of_bounds() {
    let (rig, report) = two();
    let (lane, mem) = (rig.lane(0), rig.alloc(0, 16));
    let _ = lane.enqueue(&head(1, &[]), Op::Fill(&[run(mem, 17)], &[1]));
    found(&report, &[Rule::Bounds]);
    let beyond = MemRef { offset: 1, ..mem };
    let _ = launch(&lane, 2, &[], &[param(beyond, true, 0, 4)]);
    found(&report, &[Rule::Bounds, Rule::Bounds]);
}

#[test]
fn memory_that_the_device_does_not_reach() {
    let (rig, report) = two();
    let (lane, mem) = (rig.lane(0), rig.alloc(1, 16));
    let _ = fill(&lane, 1, &[], mem);
    found(&report, &[Rule::Reach]);
    assert!(rig.devices[0].peer(&*rig.devices[1]).is_some());
    fill(&lane, 2, &[], mem).unwrap();
    found(&report, &[Rule::Reach]);
}

#[test]
fn shapes_that_are_empty_or_overflow() {
    let (rig, report) = two();
    let (lane, mem) = (rig.lane(0), rig.alloc(0, 16));
    let rect = |pitch, extent| [FillRect { dst: mem, pitch, extent }];
    let _ = lane.enqueue(&head(1, &[]), Op::Fill(&rect([4; 2], [1, 0, 4]), &[1]));
    let _ = lane.enqueue(&head(2, &[]), Op::Fill(&rect([u64::MAX, 4], [3, 1, 4]), &[1]));
    let _ = lane.enqueue(&head(3, &[]), Op::Fill(&rect([4; 2], [1, 1, 4]), &[1; 3]));
    let _ = launch(&lane, 4, &[], &[param(mem, true, 3, 2)]);
    found(&report, &[Rule::Shape; 4]);
    launch(&lane, 5, &[], &[param(mem, true, 3, 0)]).unwrap();
    found(&report, &[Rule::Shape; 4]);
}

#[test]
fn operands_that_overlap() {
    let (rig, report) = two();
    let (lane, mem) = (rig.lane(0), rig.alloc(0, 64));
    let right = MemRef { offset: 16, ..mem };
    lane.enqueue(&head(1, &[]), Op::Copy(&[line(mem, right, 16)])).unwrap();
    launch(&lane, 2, &[], &[param(mem, false, 0, 4), param(mem, false, 0, 4)]).unwrap();
    launch(&lane, 3, &[], &[param(mem, true, 0, 2), param(mem, false, 2, 2)]).unwrap();
    found(&report, &[]);
    let _ = lane.enqueue(&head(4, &[]), Op::Copy(&[line(mem, right, 17)]));
    let _ = launch(&lane, 5, &[], &[param(mem, true, 0, 3), param(mem, false, 2, 2)]);
    let folded = FillRect { dst: mem, pitch: [8, 4], extent: [1, 2, 8] };
    let _ = lane.enqueue(&head(6, &[]), Op::Fill(&[folded], &[1]));
    found(&report, &[Rule::Alias; 3]);
}

/// A write on one lane and a read on another; what orders them is `edge`'s business.
fn write_then_read(edge: impl Fn(&Arc<dyn Lane>) -> Option<Tick>, order: Order) -> Report {
    let (rig, report) = two();
    let (a, b, mem) = (rig.lane(0), rig.lane(0), rig.alloc(0, 16));
    fill(&a, 1, &[], mem).unwrap();
    let tick = edge(&a);
    let waits = [Wait { lane: &a, tick: tick.unwrap_or(0) }];
    let mut out = [0; 16];
    let head = Head { order, ..head(1, &waits) };
    b.enqueue(&head, Op::Copy(&[line(mem, host(&mut out), 16)])).unwrap();
    a.wait(1, None).unwrap();
    b.wait(1, None).unwrap();
    report
}

#[test]
fn a_missing_dependency() {
    let after = Order::AfterPrevious;
    found(&write_then_read(|_| None, after), &[Rule::Race]);
    found(&write_then_read(|_| None, Order::Free), &[Rule::Race]);
    found(&write_then_read(|_| Some(1), after), &[]);
    found(&write_then_read(|_| Some(1), Order::Free), &[]);
    let by_host = |a: &Arc<dyn Lane>| {
        a.wait(1, None).unwrap();
        None
    };
    found(&write_then_read(by_host, after), &[]);
}

#[test]
fn a_missing_write_after_read() {
    let (rig, report) = two();
    let (a, b, mem) = (rig.lane(0), rig.lane(0), rig.alloc(0, 16));
    launch(&a, 1, &[], &[param(mem, false, 0, 4)]).unwrap();
    launch(&b, 1, &[], &[param(mem, false, 0, 4)]).unwrap();
    launch(&b, 2, &[], &[param(mem, true, 0, 4)]).unwrap();
    found(&report, &[Rule::Race]);
}

#[test]
fn neighbours_do_not_race_and_order_is_transitive() {
    let (rig, report) = two();
    let (a, b, c, mem) = (rig.lane(0), rig.lane(0), rig.lane(0), rig.alloc(0, 16));
    launch(&a, 1, &[], &[param(mem, true, 0, 2)]).unwrap();
    launch(&b, 1, &[], &[param(mem, true, 2, 2)]).unwrap();
    let right = MemRef { offset: 8, ..mem };
    let mut out = [0; 8];
    let rects = [line(right, host(&mut out), 8)];
    c.enqueue(&head(1, &[Wait { lane: &b, tick: 1 }]), Op::Copy(&rects)).unwrap();
    // `a` waits for `c`, which waited for `b`: then it may write all of it.
    launch(&a, 2, &[Wait { lane: &c, tick: 1 }], &[param(mem, true, 0, 4)]).unwrap();
    found(&report, &[]);
    a.wait(2, None).unwrap();
    rig.free(mem);
    found(&report, &[]);
}

#[test]
fn free_before_the_end_and_twice() {
    let (rig, report) = two();
    let (lane, mem) = (rig.lane(0), rig.alloc(0, 16));
    fill(&lane, 1, &[], mem).unwrap();
    rig.free(mem);
    found(&report, &[Rule::Free]);
    rig.free(mem);
    found(&report, &[Rule::Free, Rule::Free]);
}

#[test]
fn requests_for_nothing() {
    let (rig, report) = two();
    let _ = rig.devices[0].usm().alloc(&request(0));
    let _ = rig.devices[0].usm().alloc(&AllocReq { align: 3, ..request(16) });
    found(&report, &[Rule::Request, Rule::Request]);
}

#[test]
fn what_the_device_does_not_claim() {
    let (rig, report) =
        over(SimBackend::builder().device(DeviceSpec::new().closures(false)).build());
    let _ = launch(&rig.lane(0), 1, &[], &[]);
    let _ = rig.devices[0].usm().alloc(&AllocReq { exported: true, ..request(16) });
    found(&report, &[Rule::Caps, Rule::Caps]);
}

/// A backend that lies: `completed` and allocations and failures pass through these.
#[derive(Default)]
struct Lies {
    completed: AtomicU64,
    misaligned: AtomicU64,
    twice: bool,
    lost_once: AtomicU64,
    /// The backend refuses an operation that waits for another lane, and does not wait.
    forgets: bool,
}

// SAFETY: it only lies, and calls nothing.
unsafe impl Hooks for Lies {
    fn operation(&self, lane: &LaneRef, head: &HeadRef<'_>, op: Op<'_>) -> Result<(), HalError> {
        if !self.forgets || head.inner.waits.is_empty() {
            return lane.inner.enqueue(&head.inner, op);
        }
        lane.inner.refuse(&Head { waits: &[], ..head.inner }, HalError::unsupported("a lie"))
    }

    fn completed(&self, lane: &LaneRef) -> Result<Tick, Lost> {
        if self.lost_once.swap(0, Ordering::Relaxed) != 0 {
            return Err(Lost::new("a lie"));
        }
        let tick = lane.inner.completed()?;
        Ok(tick.wrapping_add(self.completed.fetch_add(1, Ordering::Relaxed)))
    }

    fn alloc(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let mut made = device.inner.usm().alloc(req)?;
        made.address = made.address.map(|a| a + self.misaligned.load(Ordering::Relaxed));
        Ok(made)
    }

    fn failures(&self, lane: &LaneRef, sink: &mut dyn FnMut(Tick, HalError)) {
        if self.twice {
            sink(1, HalError::unsupported("a lie"));
        }
        lane.inner.failures(sink);
    }
}

fn lying(lies: Lies) -> (Rig, Report) {
    over(Layer::new(lies, Arc::new(SimBackend::builder().build())))
}

#[test]
fn a_backend_that_completes_what_was_not_issued_or_goes_back() {
    let (rig, report) = lying(Lies::default());
    let (lane, mem) = (rig.lane(0), rig.alloc(0, 16));
    lane.completed().unwrap();
    found(&report, &[]);
    lane.completed().unwrap();
    found(&report, &[Rule::BackendCompleted]);
    let (rig, report) = lying(Lies { completed: AtomicU64::new(u64::MAX), ..Lies::default() });
    let lane = rig.lane(0);
    fill(&lane, 1, &[], rig.alloc(0, 16)).unwrap();
    lane.wait(1, None).unwrap();
    // 1, less 1.
    assert_eq!(lane.completed(), Ok(0));
    found(&report, &[Rule::BackendCompleted]);
    rig.free(mem);
}

/// That what waited for a tick has ended is no word of the tick's own lane, which may not have
/// looked.
#[test]
fn a_lane_that_is_behind_what_another_has_shown_is_legal() {
    let (rig, report) = lying(Lies { completed: AtomicU64::new(u64::MAX), ..Lies::default() });
    let (a, b, mem) = (rig.lane(0), rig.lane(0), rig.alloc(0, 16));
    fill(&a, 1, &[], mem).unwrap();
    fill(&b, 1, &[Wait { lane: &a, tick: 1 }], mem).unwrap();
    b.wait(1, None).unwrap();
    // 1, less 1.
    assert_eq!(a.completed(), Ok(0));
    found(&report, &[]);
    rig.free(mem);
    found(&report, &[]);
}

#[test]
fn a_backend_whose_refused_operations_do_not_wait() {
    let sim = SimBackend::builder().devices(2, DeviceSpec::new()).build();
    sim.handle().hold(0, LaneKind::Compute);
    let (rig, report) = over(Layer::new(Lies { forgets: true, ..Lies::default() }, Arc::new(sim)));
    let (a, b, mem) = (rig.lane(0), rig.lane(1), [rig.alloc(0, 16), rig.alloc(1, 16)]);
    fill(&a, 1, &[], mem[0]).unwrap();
    assert!(fill(&b, 1, &[Wait { lane: &a, tick: 1 }], mem[1]).is_err());
    found(&report, &[]);
    assert_eq!(b.wait(1, None), Ok(true));
    found(&report, &[Rule::BackendCompleted]);
}

/// The layer waits for what a refused operation should have waited for, and that runs a kernel.
#[test]
fn kernels_in_waits_of_the_layer_may_use_it() {
    struct Forgets;
    // SAFETY: as for `Lies`.
    unsafe impl Hooks for Forgets {
        fn operation(
            &self,
            lane: &LaneRef,
            head: &HeadRef<'_>,
            op: Op<'_>,
        ) -> Result<(), HalError> {
            Lies { forgets: true, ..Lies::default() }.operation(lane, head, op)
        }
    }
    struct Uses(Arc<dyn Lane>, Arc<AtomicU64>);
    impl BlockKernel for Uses {
        unsafe fn run(&self, _: &[ParamPtr], _: &Box3) -> Verdict {
            self.0.flush();
            self.1.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }
    let sim = SimBackend::builder().devices(2, DeviceSpec::new()).build();
    let handle = sim.handle();
    let (rig, report) = over(Layer::new(Forgets, Arc::new(sim)));
    let (a, b, mem, runs) = (rig.lane(0), rig.lane(1), rig.alloc(1, 16), Arc::default());
    let kernel = NativeKernel::new(Uses(b.clone(), Arc::clone(&runs)));
    let (kernel, geometry) = (Cell::new(Some(kernel)), Geometry::new(1, [1, 1, 1000]));
    let op = Op::Launch(KernelRef::Native(&kernel), &geometry, Args::new(&[]));
    handle.hold(0, LaneKind::Compute);
    a.enqueue(&head(1, &[]), op).unwrap();
    assert!(fill(&b, 1, &[Wait { lane: &a, tick: 1 }], mem).is_err());
    while b.completed() == Ok(0) {}
    handle.release(0, LaneKind::Compute);
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    assert_eq!(b.wait(1, None), Ok(true));
    assert!(runs.load(Ordering::Relaxed) > 0);
    found(&report, &[]);
}

#[test]
fn a_backend_that_tells_a_failure_twice() {
    let (rig, report) = lying(Lies { twice: true, ..Lies::default() });
    let lane = rig.lane(0);
    fill(&lane, 1, &[], rig.alloc(0, 16)).unwrap();
    lane.wait(1, None).unwrap();
    assert_eq!(failures(&lane), [1]);
    found(&report, &[]);
    assert_eq!(failures(&lane), [1]);
    found(&report, &[Rule::BackendFailure]);
}

#[test]
fn a_backend_that_misplaces_memory() {
    let (rig, report) = lying(Lies { misaligned: AtomicU64::new(4), ..Lies::default() });
    rig.alloc(0, 16);
    found(&report, &[Rule::BackendMemory]);
}

#[test]
fn a_backend_whose_lost_device_comes_back() {
    let (rig, report) = lying(Lies { lost_once: AtomicU64::new(1), ..Lies::default() });
    let lane = rig.lane(0);
    assert!(lane.completed().is_err());
    found(&report, &[]);
    assert!(lane.completed().is_ok());
    found(&report, &[Rule::BackendLoss]);
}
