//! Losses, and lanes that wait for each other.

use super::*;
use folio_core::hal::Op;

/// A device that is lost takes nothing more at once; that it is lost is told when nothing of it
/// touches memory any more, on whatever lane: what waits for that may be given back then.
#[test]
fn a_loss_is_told_when_all_is_over() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    let (other, third) = (bench.beside(), bench.beside());
    bench.launch(256, true);
    bench.finish();
    let gate = other.gate();
    let at = vec![0.0f32; 256].leak().as_mut_ptr();
    other.copy_some(at, 256, false);
    other.lane.flush();
    bench.lane.enqueue(&bench.head(&[]), Op::Copy(&[])).unwrap();
    refuse("clEnqueueMarkerWithWaitList", 0);
    let soon = || Some(Instant::now() + Duration::from_millis(20));
    assert_eq!(bench.lane.wait(bench.last.get() + 1, soon()), Ok(false));
    was_refused();
    let head = bench.head(&[]);
    let refused = bench.lane.enqueue(&head, Op::Copy(&[])).unwrap_err();
    assert!(matches!(refused.kind, HalErrorKind::Lost), "{refused}");
    assert!(bench.device.lane(LaneKind::Compute, 0).is_err());
    for lane in [&bench, &other, &third] {
        lane.lane.flush();
        lane.lane.drive();
        assert!(lane.lane.completed().is_ok());
        assert_eq!(lane.lane.wait(lane.last.get() + 1, soon()), Ok(false));
    }
    gate.open();
    assert!(bench.lane.wait(bench.last.get() + 1, None).is_err());
    for lane in [&bench, &other, &third] {
        assert!(lane.lane.completed().is_err());
    }
    // SAFETY: nobody writes there any more, which is what this is about.
    assert!(unsafe { std::slice::from_raw_parts(at, 256) } == [2.0; 256]);
}

/// While an interop task runs on a device that is lost, that is not told: the task may enqueue
/// more.
#[test]
fn a_loss_is_not_told_during_a_task() {
    let Some(bench) = Bench::open(256) else { return };
    let other = bench.beside();
    bench.copy(&mut [1.0; 256], true);
    let told = other.task(|_, _| {
        bench.launch(256, true);
        refuse("clEnqueueMarkerWithWaitList", 0);
        bench.lane.flush();
        was_refused();
        bench.lane.flush();
        assert!(bench.lane.completed().is_ok());
        Ok(())
    });
    assert!(matches!(told, Err(error) if matches!(error.kind, HalErrorKind::Lost)));
    assert!(bench.lane.wait(bench.last.get() + 1, None).is_err());
    assert!(other.lane.completed().is_err());
}

/// A lane whose state a thread holds for as long as the driver takes holds up no other lane, not
/// even one that waited for it.
#[test]
fn a_lane_that_is_held_holds_up_no_other() {
    let Some(first) = Bench::open(256) else { return };
    first.copy(&mut [1.0; 256], true);
    let [second, third] = [first.beside(), first.beside()];
    let gate = first.gate();
    second.meet(&first.lane, first.last.get());
    let behind = second.gate();
    behind.open();
    let (own, theirs) = (second.last.get(), first.last.get());
    second.lane.flush();
    gate.open();
    behind.queue_ends();
    let (done, told) = mpsc::channel();
    let [after, free] = [&second, &third].map(|bench| bench.lane.clone());
    let within = move || {
        std::thread::spawn(move || {
            assert_eq!(after.wait(own, None), Ok(true));
            assert_eq!(free.wait(0, None), Ok(true));
            done.send(()).unwrap();
        });
        told.recv_timeout(LONG).unwrap();
    };
    WITHIN.set(Some(("clEnqueueNDRangeKernel", Box::new(within))));
    first.launch(256, true);
    assert_eq!(first.lane.wait(theirs, None), Ok(true));
}

/// A task is called while its device is there; on one that is lost it is not.
#[test]
fn no_task_is_called_on_a_lost_device() {
    let Some(bench) = Bench::open(256) else { return };
    let calls = Cell::new(0);
    let launch = || {
        let task = |_: &dyn std::any::Any| {
            calls.set(calls.get() + 1);
            Ok(())
        };
        let (kernel, geometry) = (KernelRef::Foreign(&task), Geometry::new(1, [1; 3]));
        let launched =
            bench.lane.enqueue(&bench.head(&[]), Op::Launch(kernel, &geometry, Args::new(&[])));
        (launched, calls.get())
    };
    assert!(matches!(launch(), (Ok(()), 1)));
    let device = bench.device.downcast_ref::<OpenClDevice>().unwrap();
    device.0.loss.lose("a test");
    let (refused, calls) = launch();
    assert!(matches!(refused, Err(error) if matches!(error.kind, HalErrorKind::Lost)));
    assert_eq!(calls, 1);
}

/// A driver that has no memory for a question, a mark or a flush has not lost the device: it is
/// asked again.
#[test]
fn what_is_refused_for_want_of_memory_comes_later() {
    for function in
        ["clEnqueueMarkerWithWaitList", "clGetEventInfo", "clFlush", "clEnqueueBarrierWithWaitList"]
    {
        let Some(bench) = Bench::open(256) else { return };
        let other = bench.beside();
        bench.copy(&mut [1.0; 256], true);
        refuse_for(function, 0..5, CL_OUT_OF_HOST_MEMORY);
        bench.launch(256, true);
        other.meet(&bench.lane, bench.last.get());
        other.finish();
        bench.finish();
        let left = REFUSED.take();
        assert!(left.as_ref().is_none_or(|left| left.1.end < 5), "{function}: {left:?}");
        bench.holds(1);
        assert!(bench.failures().is_empty() && other.failures().is_empty(), "{function}");
    }
}

/// A command that waits for another lane does so though it fails itself, and though the queue
/// refuses to: later commands rely on that.
#[test]
fn who_fails_waits_all_the_same() {
    let Some(first) = Bench::open(256) else { return };
    first.copy(&mut [1.0; 256], true);
    let second = first.beside();
    refuse("clEnqueueBarrierWithWaitList", 0);
    first.launch(256, true);
    let waits = calls_of(|| second.meet(&first.lane, first.last.get()));
    was_refused();
    assert_eq!(waits.get("clWaitForEvents"), Some(&1), "{waits:?}");
    second.holds(1);
    first.launch(256, true);
    let waits = [Wait { lane: &first.lane, tick: first.last.get() }];
    let calls = calls_of(|| {
        let failed = KernelRef::Loaded(KernelHandle(u64::MAX));
        let (geometry, args) = (Geometry::new(1, [1; 3]), Args::new(&[]));
        second.lane.enqueue(&second.head(&waits), Op::Launch(failed, &geometry, args)).unwrap();
    });
    assert_eq!(calls.get("clEnqueueBarrierWithWaitList"), Some(&1), "{calls:?}");
    assert_eq!(calls.get("clEnqueueNDRangeKernel"), None, "{calls:?}");
    second.holds(2);
}

/// An enqueued command that the driver refuses since the device is gone is the loss of it, which is
/// told when it is over.
#[test]
fn a_device_that_is_not_available_is_lost() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    refuse_for("clEnqueueNDRangeKernel", 0..1, CL_DEVICE_NOT_AVAILABLE);
    bench.launch(256, true);
    was_refused();
    assert!(bench.failures().iter().all(|(_, e)| !matches!(e.kind, HalErrorKind::Lost)));
    assert!(bench.lane.wait(bench.last.get(), None).is_err());
    assert!(bench.lane.enqueue(&bench.head(&[]), Op::Copy(&[])).is_err());
}

/// The device is also lost for its lanes if somebody else is told so: who allocates, loads, or asks
/// about a launch.
#[test]
fn a_loss_that_calls_of_the_device_are_told() {
    const ONE: &str = "__kernel void one(__global float *x) { x[get_global_id(0)] = 1.0f; }";
    let allocates = |bench: &Bench| bench.device.usm().alloc(&request(64 << 20)).err();
    let loads = |bench: &Bench| bench.device.load(&KernelSource::Ir(&parse(TWICE).unwrap())).err();
    let source = KernelSource::Opaque { name: "one", source: Source::OpenClC(ONE), options: &[] };
    let names = |bench: &Bench| bench.device.load(&source).err();
    let asks = |bench: &Bench, kernel| {
        bench.device.check(kernel, &Geometry::new(1, [1; 3]), &[Argument::Memory(0)]).err()
    };
    let starts = |bench: &Bench| bench.device.lane(LaneKind::Compute, 0).err();
    type Calls<'c> = &'c dyn Fn(&Bench, KernelHandle) -> Option<HalError>;
    let all: [(&str, Calls<'_>); 5] = [
        ("clCreateBuffer", &|bench, _| allocates(bench)),
        ("clBuildProgram", &|bench, _| loads(bench)),
        ("clCreateKernel", &|bench, _| names(bench)),
        ("clSetKernelArg", &asks),
        ("clCreateCommandQueue", &|bench, _| starts(bench)),
    ];
    for (function, call) in all {
        let Some(bench) = Bench::open(256) else { return };
        let one = bench.device.load(&source).unwrap();
        refuse_for(function, 0..1, CL_DEVICE_NOT_AVAILABLE);
        let told = call(&bench, one);
        was_refused();
        assert!(told.is_some_and(|error| matches!(error.kind, HalErrorKind::Lost)), "{function}");
        assert!(bench.lane.enqueue(&bench.head(&[]), Op::Copy(&[])).is_err(), "{function}");
        assert!(bench.lane.wait(bench.last.get(), None).is_err(), "{function}");
    }
}

/// A download of which the driver refuses to say that it begins is under way: what it writes is
/// uploaded after that.
#[test]
fn a_download_that_is_not_flushed_is_waited_for() {
    let Some(first) = Bench::open(256) else { return };
    first.copy(&mut [1.0; 256], true);
    let second = first.beside();
    let gate = first.gate();
    let at = vec![0.0f32; 256].leak().as_mut_ptr();
    refuse("clFlush", 0);
    first.copy_some(at, 256, false);
    was_refused();
    WITHIN.set(Some(("clWaitForEvents", Box::new(move || gate.open()))));
    let calls = calls_of(|| second.copy_some(at, 256, true));
    assert_eq!(calls.get("clWaitForEvents"), Some(&1), "{calls:?}");
    second.holds(0);
    first.finish();
    assert!(first.failures().is_empty() && second.failures().is_empty());
}

/// A queue that refuses to wait for another lane, and a driver that does not wait for it either,
/// lose nothing: what somebody waits for is over all the same, or will be.
#[test]
fn a_wait_that_is_refused_is_no_loss() {
    let Some(first) = Bench::open(256) else { return };
    first.copy(&mut [1.0; 256], true);
    let second = first.beside();
    first.launch(256, true);
    let within = || refuse("clWaitForEvents", 0);
    WITHIN.set(Some(("clWaitForEvents", Box::new(within))));
    refuse("clEnqueueBarrierWithWaitList", 0);
    second.meet(&first.lane, first.last.get());
    was_refused();
    second.launch(256, true);
    second.holds(2);
    assert!(second.failures().is_empty());
}
