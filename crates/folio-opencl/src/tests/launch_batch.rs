//! Launches that are held, to be enqueued together.

use super::faults::TOTAL;
use super::*;
use crate::lane::FLUSH_EVERY;
use crate::launch_batch::{FEW, MOST};
use folio_core::hal::DeviceKind;
use folio_core::hal::Op;

/// Launches are enqueued when there are many, when something else is, or when the lane is flushed;
/// the first at once, and those after it in pairs, in fours, and so on. A launch that the driver
/// refuses then fails, and no other.
#[test]
fn launches_are_held_until_they_are_many() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    let (params, geometry) = ([bench.param(256)], Geometry::new(1, [1, 1, 256]));
    let launch = |proved| {
        let (args, kernel) =
            (Args { proved, ..Args::new(&params) }, KernelRef::Loaded(bench.twice));
        bench.lane.enqueue(&bench.head(&[]), Op::Launch(kernel, &geometry, args)).unwrap();
    };
    let launched =
        |run: &dyn Fn()| calls_of(run).get("clEnqueueNDRangeKernel").copied().unwrap_or(0);
    // Both texts are there from here on, and what comes next does not end before the gate is open.
    [true, false].into_iter().for_each(launch);
    bench.finish();
    let gate = bench.gate();
    let batches = bench.device.info().caps.batches;
    let most = if bench.device.info().kind == DeviceKind::Cpu { MOST } else { FEW };
    let mut together = 1;
    while together < most {
        assert_eq!(launched(&|| (1..together).for_each(|_| launch(true))), 0, "{together}");
        assert_eq!(launched(&|| launch(true)), together);
        together *= 2;
    }
    assert_eq!(launched(&|| (1..most).for_each(|k| launch(k % 2 == 0))), 0);
    assert_eq!(launched(&|| launch(true)), most);
    assert_eq!(launched(&|| launch(false)), 0);
    assert_eq!(launched(&|| bench.lane.drive()), usize::from(!batches));
    assert_eq!(launched(&|| bench.lane.flush()), usize::from(batches));
    launch(true);
    gate.open();
    assert_eq!(launched(&|| bench.finish()), 1);
    // All has ended.
    bench.copy(&mut [1.0; 256], true);
    assert_eq!(launched(&|| launch(true)), 1);
    launch(true);
    let begun = calls_of(|| bench.lane.drive());
    assert_eq!(begun.get("clFlush"), Some(&1), "what was not held is begun: {begun:?}");
    assert_eq!(begun.contains_key("clEnqueueNDRangeKernel"), !batches, "{begun:?}");
    bench.finish();
    assert_eq!(launched(&|| launch(true)), 1);
    assert_eq!(launched(&|| [true; 2].into_iter().for_each(launch)), 2);
    launch(true);
    launch(false);
    refuse("clEnqueueNDRangeKernel", 1);
    let mut values = [0.0; 256];
    // A refused copy is not counted.
    assert_eq!(launched(&|| bench.copy(&mut values.clone(), false)), 1);
    was_refused();
    bench.copy(&mut values, false);
    assert_eq!(values, [2f32.powi(6); 256]);
    let failures = bench.failures();
    assert_eq!(failures.iter().map(|(tick, _)| *tick).collect::<Vec<_>>(), [bench.last.get() - 2]);
}

/// Where the lane holds launches back, a driver begins with the rest of a stream that nobody waits
/// for; elsewhere with all that there is, each time.
#[test]
fn streams_are_begun() {
    let Some(bench) = Bench::open(256) else { return };
    let (params, geometry) = ([bench.param(256)], Geometry::new(1, [1, 1, 256]));
    let fill = FillRect { dst: bench.memory, pitch: [1024; 2], extent: [1, 1, 1024] };
    // The text is made, and begun with; and the device is not known to have nothing to do.
    bench.launch(256, true);
    bench.lane.flush();
    let gate = bench.gate();
    bench.lane.flush();
    let calls = calls_of(|| {
        for _ in 0..FLUSH_EVERY {
            let args = Args { proved: true, ..Args::new(&params) };
            let (fill, kernel) = ([fill], KernelRef::Loaded(bench.twice));
            bench.lane.enqueue(&bench.head(&[]), Op::Fill(&fill, &[0; 4])).unwrap();
            bench.lane.enqueue(&bench.head(&[]), Op::Launch(kernel, &geometry, args)).unwrap();
            bench.lane.drive();
        }
    });
    let of = |function| calls.get(function).copied().unwrap_or(0);
    let all = FLUSH_EVERY as usize;
    let (begun, launched) =
        if bench.device.info().caps.batches { (2, all - 1) } else { (all, all) };
    assert_eq!([of("clFlush"), of("clEnqueueNDRangeKernel")], [begun, launched], "{calls:?}");
    gate.open();
    bench.copy(&mut [0.0; 256], false);
}

/// A launch for which others are about to wait has an event, without a marker; they do not wait for
/// what comes behind it.
#[test]
fn what_is_awaited_has_an_event_of_its_own() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    let (params, geometry) = ([bench.param(256)], Geometry::new(1, [1, 1, 256]));
    let launch = || {
        let args = Args { proved: true, ..Args::new(&params) };
        let kernel = KernelRef::Loaded(bench.twice);
        bench.lane.enqueue(&bench.head(&[]), Op::Launch(kernel, &geometry, args)).unwrap();
    };
    // The first goes at once, and the second is held.
    (0..2).for_each(|_| launch());
    let tick = bench.last.get();
    let calls = calls_of(|| bench.lane.awaited(tick));
    assert_eq!(calls.get("clEnqueueNDRangeKernel"), Some(&1), "{calls:?}");
    let again = calls_of(|| [tick - 1, tick, tick + 1].iter().for_each(|t| bench.lane.awaited(*t)));
    assert!(again.is_empty(), "{again:?}");
    let gate = bench.gate();
    launch();
    let other = bench.beside();
    let meets = calls_of(|| other.meet(&bench.lane, tick));
    for calls in [calls, meets] {
        assert!(!calls.contains_key("clEnqueueMarkerWithWaitList"), "{calls:?}");
    }
    other.finish();
    assert_eq!(bench.lane.wait(tick, None), Ok(true));
    assert_eq!(bench.lane.completed(), Ok(tick));
    gate.open();
    bench.holds(3);
    assert!(bench.failures().is_empty());
}

/// A lane that has been given nothing since it was flushed is marked at its end: one look shows
/// that all is over.
#[test]
fn lanes_at_rest_are_marked_at_their_end() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    let gate = bench.gate();
    let marked = |run: &dyn Fn()| calls_of(run).contains_key("clEnqueueMarkerWithWaitList");
    let launch_and_flush = || {
        bench.launch(256, true);
        bench.lane.flush();
    };
    assert!(marked(&launch_and_flush));
    assert!(!marked(&launch_and_flush), "there is a mark, and more may come");
    assert!(marked(&|| bench.lane.flush()));
    assert!(!marked(&|| bench.lane.flush()));
    gate.open();
    gate.queue_ends();
    bench.lane.flush();
    assert_eq!(bench.lane.completed(), Ok(bench.last.get()));
    bench.holds(2);
}

/// A sum of all elements, in several launches.
fn sums(len: usize) -> Option<(Bench, impl Fn(&Bench))> {
    let bench = Bench::open(len)?;
    bench.copy(&mut vec![1.0; len], true);
    let kernel = bench.device.load(&KernelSource::Ir(&parse(TOTAL).unwrap())).unwrap();
    let made = bench.device.usm().alloc(&request(64)).unwrap();
    let mem = MemRef { base: MemBase::Device { device: 0, handle: made.handle }, offset: 0 };
    let sum = move |bench: &Bench| {
        let one = Param { dims: [1; 3], extent: [1; 3], shape: [1; 3], ..bench.param(1) };
        let params = [Param { write: false, ..bench.param(len) }, Param { mem, ..one }];
        let (head, kernel) = (bench.head(&[]), KernelRef::Loaded(kernel));
        let args = Args { proved: true, ..Args::new(&params) };
        bench
            .lane
            .enqueue(&head, Op::Launch(kernel, &Geometry::new(1, [1, 1, len]), args))
            .unwrap();
    };
    Some((bench, sum))
}

/// The memory of a sum is there for as long as one of its launches may run, whichever call the
/// driver refuses. The sum fails once, and where its first launch is refused the others are not
/// enqueued.
#[test]
fn sums_are_enqueued_whole_or_fail_once() {
    for (function, call, launches) in [
        ("clSetKernelArg", 0, 0),
        ("clSetKernelArg", 3, 1),
        ("clSetKernelArg", 4, 1),
        ("clEnqueueNDRangeKernel", 0, 0),
        ("clEnqueueNDRangeKernel", 1, 1),
    ] {
        let Some((bench, sum)) = sums(65536) else { return };
        refuse_for(function, call..call + 2, CL_INVALID_OPERATION);
        let calls = calls_of(|| {
            sum(&bench);
            bench.finish();
        });
        REFUSED.take();
        let launched = calls.get("clEnqueueNDRangeKernel").copied().unwrap_or(0);
        assert_eq!(launched, launches, "{function} {call}: {calls:?}");
        let ticks: Vec<_> = bench.failures().iter().map(|(tick, _)| *tick).collect();
        assert_eq!(ticks, [bench.last.get()], "{function} {call}");
    }
}

/// A launch that is held when the device is lost by another lane has failed, and is not told as
/// done.
#[test]
fn what_is_held_on_a_loss_has_failed() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    let (other, third) = (bench.beside(), bench.beside());
    // Something is under way, so that the loss is not over at once.
    let gate = other.gate();
    let mut values = [0.0; 256];
    other.copy_some(values.as_mut_ptr(), 256, false);
    other.lane.flush();
    let (params, geometry) = ([bench.param(256)], Geometry::new(1, [1, 1, 256]));
    let args = Args { proved: true, ..Args::new(&params) };
    // The first at once, then two together; and fewer than four.
    for _ in 0..6 {
        let kernel = KernelRef::Loaded(bench.twice);
        bench.lane.enqueue(&bench.head(&[]), Op::Launch(kernel, &geometry, args)).unwrap();
    }
    third.launch(256, true);
    refuse("clEnqueueMarkerWithWaitList", 0);
    third.lane.flush();
    was_refused();
    let soon = Instant::now() + Duration::from_millis(50);
    let mut failed = Vec::new();
    let mut is_told = |ended: Result<bool, Lost>| {
        failed.extend(bench.failures());
        assert!(ended != Ok(true) || failed.len() == 3, "{ended:?}, {failed:?}");
    };
    is_told(bench.lane.wait(bench.last.get(), Some(soon)));
    gate.open();
    is_told(bench.lane.wait(bench.last.get(), None));
    // By then nobody writes to the values; whether that was in time is not known.
    let _ = other.lane.wait(other.last.get(), None);
}
