//! Each kind of fault arrives in the way in which a driver's would; traces say what happened.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod common;

use common::*;
use folio_core::hal::*;
use folio_layers::{
    Event, Fault, FaultHandle, Faults, Noted, OpKind, Report, Site, Trace, TraceHandle, Validate,
};
use folio_sim::{DeviceSpec, FRESH, SimBackend, SimHandle};
use std::time::{Duration, Instant};

struct Stack {
    rig: Rig,
    faults: FaultHandle,
    report: Report,
    trace: TraceHandle,
    sim: SimHandle,
}

/// Validation over faults over a trace over the device; faults are planned before it opens.
fn stack(plan: &[(Site, u64, Fault)], spec: DeviceSpec) -> Stack {
    let (faults, validate, trace) = (Faults::new(), Validate::new(), Trace::new().events());
    for (site, nth, fault) in plan {
        faults.handle().inject(*site, *nth, fault.clone());
    }
    let sim = SimBackend::builder().device(spec).build();
    let (handle, report, seen) = (faults.handle(), validate.report(), trace.handle());
    let sim_handle = sim.handle();
    let rig = rig(validate.over(faults.over(trace.over(sim))));
    Stack { rig, faults: handle, report, trace: seen, sim: sim_handle }
}

fn plain(plan: &[(Site, u64, Fault)]) -> Stack {
    stack(plan, DeviceSpec::new())
}

fn driver() -> HalErrorKind {
    HalErrorKind::Driver
}

#[test]
fn calls_that_are_no_operations_fail_at_their_nth_call() {
    let oom = HalErrorKind::OutOfMemory { asked: 16, in_use: 0, limit: 0 };
    let s = plain(&[(Site::Alloc, 2, Fault::Now(oom)), (Site::Lane, 2, Fault::Now(driver()))]);
    s.rig.alloc(0, 16);
    s.rig.lane(0);
    let error = s.rig.devices[0].usm().alloc(&request(16)).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::OutOfMemory { asked: 16, .. }));
    assert!(s.rig.devices[0].lane(LaneKind::Compute, 0).is_err());
    s.rig.alloc(0, 16);
    assert_eq!(s.faults.fired().len(), 2);
    assert_eq!(s.faults.counts()[&Site::Alloc], 3);
    assert_eq!(s.sim.counters().allocs, 2);
}

#[test]
fn discovery_and_opening_fail() {
    let faults = Faults::new();
    faults.handle().inject(Site::Devices, 1, Fault::Now(driver()));
    faults.handle().inject(Site::Open, 1, Fault::Now(driver()));
    let backend = faults.over(SimBackend::builder().build());
    assert!(backend.devices().is_err() && backend.devices().is_ok());
    // SAFETY: what is opened is not used.
    let open = || unsafe { backend.open(0, Notify::none()) };
    assert!(open().is_err() && open().is_ok());
}

/// Three operations of each kind; the ticks at which calls failed, and those that were told later.
fn operations(s: &Stack) -> (Vec<Tick>, Vec<Tick>) {
    let (lane, mem) = (s.rig.lane(0), s.rig.alloc(0, 16));
    let mut bytes = [9; 16];
    let mut now = Vec::new();
    for tick in 1..=9 {
        let out = match tick % 3 {
            0 => lane.enqueue(&head(tick, &[]), Op::Copy(&[line(host(&mut bytes), mem, 16)])),
            1 => fill(&lane, tick, &[], mem),
            _ => launch(&lane, tick, &[], &[param(mem, true, 0, 4)]),
        };
        now.extend(out.err().map(|_| tick));
    }
    assert_eq!(lane.wait(9, None), Ok(true));
    let later = failures(&lane);
    assert_eq!(failures(&lane), []);
    s.rig.free(mem);
    (now, later)
}

#[test]
fn operations_fail_in_the_call_or_later_and_their_ticks_are_reached() {
    for (site, at) in [
        (Site::Op(OpKind::Fill), [1, 4, 7]),
        (Site::Op(OpKind::Launch), [2, 5, 8]),
        (Site::Op(OpKind::Copy), [3, 6, 9]),
    ] {
        for (i, tick) in at.into_iter().enumerate() {
            let nth = i as u64 + 1;
            let s = plain(&[(site, nth, Fault::Now(driver()))]);
            assert_eq!(operations(&s), (vec![tick], vec![]));
            assert!(s.report.is_silent(), "{:?}", s.report);
            let s = plain(&[(site, nth, Fault::Later(driver()))]);
            assert_eq!(operations(&s), (vec![], vec![tick]));
            assert!(s.report.is_silent(), "{:?}", s.report);
            assert_eq!(s.sim.violations(), []);
        }
    }
}

#[test]
fn a_failed_operation_does_not_touch_memory() {
    for fault in [Fault::Now(driver()), Fault::Later(driver())] {
        let s = plain(&[(Site::Op(OpKind::Fill), 1, fault)]);
        let (lane, mem) = (s.rig.lane(0), s.rig.alloc(0, 16));
        let _ = fill(&lane, 1, &[], mem);
        let mut out = [0; 16];
        lane.enqueue(&head(2, &[]), Op::Copy(&[line(mem, host(&mut out), 16)])).unwrap();
        lane.wait(2, None).unwrap();
        assert_eq!(out, [FRESH; 16]);
    }
}

#[test]
fn without_closures_the_operation_runs_and_fails_all_the_same() {
    let plan = [(Site::Op(OpKind::Fill), 1, Fault::Later(driver()))];
    let s = stack(&plan, DeviceSpec::new().closures(false));
    let (lane, mem) = (s.rig.lane(0), s.rig.alloc(0, 16));
    fill(&lane, 1, &[], mem).unwrap();
    lane.wait(1, None).unwrap();
    assert_eq!(failures(&lane), [1]);
}

#[test]
fn a_lost_device_is_idle_and_stays_lost() {
    let s = plain(&[(Site::Op(OpKind::Fill), 2, Fault::Lose)]);
    let (lane, mem) = (s.rig.lane(0), s.rig.alloc(0, 16));
    s.sim.hold(0, LaneKind::Compute);
    fill(&lane, 1, &[], mem).unwrap();
    let error = fill(&lane, 2, &[], mem).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::Lost));
    assert!(s.rig.devices[0].usm().alloc(&request(16)).is_err());
    // What is under way is not waited for. The operation that is left below touches nothing: it
    // only lets lanes of other devices go on.
    assert_eq!(s.sim.pending(0), 2);
    assert_eq!(lane.completed(), Ok(0));
    s.sim.release(0, LaneKind::Compute);
    s.sim.step(8);
    assert!(lane.completed().is_err() && lane.wait(1, None).is_err());
    assert_eq!(s.sim.pending(0), 0);
    s.rig.free(mem);
    assert_eq!(s.sim.live_allocations(), (0, 0));
    assert!(s.report.is_silent(), "{:?}", s.report);
}

/// The device goes at a call that says nothing of it, or is the first to say so.
#[test]
fn a_device_goes_between_operations() {
    for site in [Site::Flush, Site::Completed, Site::Wait, Site::Free] {
        assert!(site.only_loses());
        let s = plain(&[(site, 1, Fault::Lose)]);
        let (lane, mem, other) = (s.rig.lane(0), s.rig.alloc(0, 16), s.rig.alloc(0, 16));
        s.sim.hold(0, LaneKind::Compute);
        fill(&lane, 1, &[], mem).unwrap();
        match site {
            Site::Flush => lane.flush(),
            Site::Free => s.rig.free(other),
            Site::Completed => assert_eq!(lane.completed(), Ok(0)),
            _ => {
                let soon = Instant::now() + Duration::from_millis(1);
                assert_eq!(lane.wait(1, Some(soon)), Ok(false));
            }
        }
        // The lane is gone when its operations have ended.
        assert_eq!(lane.completed(), Ok(0), "{site:?}");
        s.sim.release(0, LaneKind::Compute);
        assert_eq!(s.faults.fired().len(), 1, "{site:?}");
        let error = fill(&lane, 2, &[], mem).unwrap_err();
        assert!(matches!(error.kind, HalErrorKind::Lost), "{site:?}");
        s.sim.step(8);
        assert!(lane.completed().is_err() && lane.wait(1, None).is_err(), "{site:?}");
        s.rig.free(mem);
        if site != Site::Free {
            s.rig.free(other);
        }
        assert_eq!(s.sim.live_allocations(), (0, 0), "{site:?}");
        assert!(s.report.is_silent(), "{:?}", s.report);
    }
}

#[test]
fn a_trace_holds_every_call() {
    let s = plain(&[]);
    let (a, b, mem) = (s.rig.lane(0), s.rig.lane(0), s.rig.alloc(0, 16));
    fill(&a, 1, &[], mem).unwrap();
    launch(&b, 1, &[Wait { lane: &a, tick: 1 }], &[param(mem, true, 0, 4)]).unwrap();
    b.wait(1, None).unwrap();
    s.rig.free(mem);
    let events = s.trace.events();
    assert_eq!(events.len(), 8, "{events:#?}");
    assert_eq!(events[0], Event::Open { device: 0, ok: true });
    let Event::Op(issued, Noted::Launch(_, geometry, params)) = &events[5] else {
        panic!("{events:#?}")
    };
    assert_eq!((issued.lane, issued.tick, issued.waits.as_slice()), (1, 1, &[(Some(0), 1)][..]));
    assert_eq!((geometry.items(), params.len()), (4, 1));
    assert_eq!(events[6], Event::Wait { lane: 1, tick: 1, reached: Some(true) });
    let counts = s.trace.counts();
    assert_eq!((counts.fills, counts.filled, counts.launches, counts.waits), (1, 16, 1, 1));
    s.trace.clear();
    assert!(s.trace.events().is_empty());
}
