//! The loss of a device, and devices that hang: ERR-04. On simulated devices, which do both when
//! told.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::hal::{HalErrorKind, LaneKind, Link};
use folio_core::{
    Buffer, BufferOptions, Cause, CommandGroup, Destination, Error, Event, Failure, Queue, Runtime,
    Shared, Status,
};
use folio_sim::{Builder, DeviceSpec, SimBackend, SimHandle};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

/// How long a wait for a lost device may take.
pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// Long enough to see that somebody is not done.
const SHORT: Duration = Duration::from_millis(30);
pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) const KINDS: [LaneKind; 4] =
    [LaneKind::Compute, LaneKind::Upload, LaneKind::Download, LaneKind::Peer];

/// Devices of the kinds that differ in how waiting goes.
pub(crate) fn kinds() -> Vec<(&'static str, Builder)> {
    let two = |spec: DeviceSpec| SimBackend::builder().devices(2, spec);
    vec![
        ("plain", two(DeviceSpec::new())),
        ("links", two(DeviceSpec::new()).peers(Link::default())),
        ("no native waits", two(DeviceSpec::new().wait_group(None))),
        ("one lane", two(DeviceSpec::new().copy_lanes(false))),
        ("batches", two(DeviceSpec::new().batch(7))),
        ("few in flight", two(DeviceSpec::new().max_in_flight(2))),
        ("couriers", two(DeviceSpec::new().courier(Some(1)))),
        ("telling", two(DeviceSpec::new()).notifies(true)),
        ("telling, no native waits", two(DeviceSpec::new().wait_group(None)).notifies(true)),
    ]
}

pub(crate) fn open(builder: &Builder) -> (Runtime, SimHandle) {
    let (rt, sim, _) = open_told(builder);
    (rt, sim)
}

/// Also with the failures that are told to the handler.
fn open_told(builder: &Builder) -> (Runtime, SimHandle, Arc<Mutex<Vec<String>>>) {
    let backend = builder.clone().build();
    let sim = backend.handle();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let own = told.clone();
    let handler = move |failure: &Arc<Failure>| own.lock().unwrap().push(failure.to_string());
    let rt = Runtime::builder().backend(backend).on_failure(handler).build().unwrap();
    (rt, sim, told)
}

pub(crate) fn on(rt: &Runtime, at: usize) -> Queue {
    rt.queue_on(&rt.devices()[at]).unwrap()
}

fn try_add(q: &Queue, x: &Shared<i32>) -> Result<Event, Error> {
    let n = x.len();
    q.submit(|cg| {
        let x = cg.read_write(x);
        cg.label("add").host_kernel([n], x, |i, mut x| x[i] += 1);
        Ok(())
    })
}

fn add(q: &Queue, x: &Shared<i32>) -> Event {
    try_add(q, x).unwrap()
}

/// As [`add`], and waits; of a device that may be lost.
fn add_and_wait(q: &Queue, x: &Shared<i32>) -> Result<(), Error> {
    try_add(q, x)?.wait()
}

fn shared(rt: &Runtime) -> Shared<i32> {
    rt.buffer_from(&[1; 8]).unwrap().into_shared()
}

#[track_caller]
pub(crate) fn lost<T: std::fmt::Debug>(result: Result<T, Error>, what: &str) {
    match result {
        Err(Error::Failed(f)) => match f.cause() {
            Cause::Backend(e) => assert!(matches!(e.kind, HalErrorKind::Lost), "{what}: {f}"),
            Cause::DataLost => {}
            other => panic!("{what}: {other}"),
        },
        // It could not even be accepted.
        Err(Error::Device { cause, .. }) => {
            assert!(matches!(cause.kind, HalErrorKind::Lost), "{what}: {cause}");
        }
        other => panic!("{what}: {other:?}"),
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end. Only its waker makes it look again.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        std::thread::park_timeout(LONG);
    }
}

type Wait = Box<dyn FnOnce() -> Result<(), Error> + Send>;

/// Every way to wait for something on the first device, each for work of its own; and whether it
/// ends well once the device is gone. The receiver hears when all of that work is there.
fn waits(rt: &Runtime) -> (Vec<(&'static str, bool, Wait)>, mpsc::Receiver<()>) {
    let (submitted, all_there) = mpsc::channel();
    (waits_telling(rt, submitted), all_there)
}

fn waits_telling(rt: &Runtime, submitted: mpsc::Sender<()>) -> Vec<(&'static str, bool, Wait)> {
    let mut all: Vec<(&'static str, bool, Wait)> = Vec::new();
    let mut wait = |name, fine, wait: Wait| all.push((name, fine, wait));
    let (a, b) = (on(rt, 0), on(rt, 1));
    let busy = || {
        let x = shared(rt);
        (add(&a, &x), x)
    };
    let (event, _) = busy();
    wait("Event::wait", false, Box::new(move || event.wait()));
    let (event, _) = busy();
    wait("Event::wait_timeout", false, Box::new(move || event.wait_timeout(LONG).map(drop)));
    let (event, _) = busy();
    wait("an awaited event", false, Box::new(move || block_on(event)));
    let (event, _) = busy();
    let polled = move || {
        let end = Instant::now() + LONG;
        while Instant::now() < end {
            match event.status() {
                Status::Failed(error) => return Err(error),
                Status::Pending => std::thread::sleep(Duration::from_millis(1)),
                other => panic!("{other:?}"),
            }
        }
        Ok(())
    };
    wait("Event::status", false, Box::new(polled));
    let q = on(rt, 0);
    add(&q, &shared(rt));
    wait("Queue::wait", false, Box::new(move || q.wait()));
    let q = on(rt, 0);
    add(&q, &shared(rt));
    wait("Queue::wait_timeout", false, Box::new(move || q.wait_timeout(LONG).map(drop)));
    let q = on(rt, 0);
    add(&q, &shared(rt));
    let barrier = q.barrier().unwrap();
    wait("a barrier", false, Box::new(move || barrier.wait()));
    let q = rt.in_order_queue_on(&rt.devices()[0]).unwrap();
    (0..5).for_each(|_| drop(add(&q, &shared(rt))));
    wait("an in-order queue", false, Box::new(move || q.wait()));
    let (_, x) = busy();
    wait("Buffer::read", false, Box::new(move || x.read().map(drop)));
    let (_, x) = busy();
    wait("Buffer::to_vec", false, Box::new(move || x.to_vec().map(drop)));
    let (_, x) = busy();
    wait("Buffer::write", false, Box::new(move || x.write().map(drop)));
    // What overwrites needs nothing of what is there.
    let (_, x) = busy();
    wait("Buffer::discard", true, Box::new(move || x.discard().map(drop)));
    let (_, x) = busy();
    let future = x.read_async().unwrap();
    wait("ReadFuture::wait", false, Box::new(move || future.wait().map(drop)));
    let (_, x) = busy();
    let future = x.read_async().unwrap();
    wait("an awaited read", false, Box::new(move || block_on(future).map(drop)));
    let (_, x) = busy();
    let written = x.written().unwrap();
    wait("Buffer::written", false, Box::new(move || written.wait()));
    let (_, x) = busy();
    let dependent = add(&b, &x);
    wait("a dependent on another device", false, Box::new(move || dependent.wait()));
    let (event, _) = busy();
    let task = a.submit(|cg| {
        cg.after(&event).host_task((), |()| -> () { panic!("its dependency has failed") });
        Ok(())
    });
    let task = task.unwrap();
    wait("a host task", false, Box::new(move || task.wait()));
    let own = rt.clone();
    wait("Runtime::wait", true, Box::new(move || own.wait()));
    let (own, q) = (rt.clone(), a.clone());
    let scope = move || {
        let mut data = [1; 8];
        own.scope(|s| {
            let view = s.view_mut(&mut data).unwrap().into_shared();
            add(&q, &view);
            submitted.send(()).unwrap();
        })
    };
    wait("Runtime::scope", false, Box::new(scope));
    all
}

/// ERR-04, ERR-01: whatever waits for a device that hangs ends soon after its loss, with an error
/// that says so.
#[test]
fn every_wait_for_a_lost_device_ends_soon() {
    for (kind, builder) in kinds() {
        let (rt, sim, handled) = open_told(&builder);
        KINDS.iter().for_each(|lane| sim.hold(0, *lane));
        let (tell, told) = mpsc::channel();
        let (waits, submitted) = waits(&rt);
        let waiting = waits.into_iter().map(|(name, fine, wait)| {
            let tell = tell.clone();
            let run = move || {
                let result = wait();
                let _ = tell.send((name, fine, result, Instant::now()));
            };
            std::thread::spawn(run)
        });
        let threads: Vec<JoinHandle<()>> = waiting.collect();
        submitted.recv_timeout(LONG).unwrap();
        std::thread::sleep(SHORT);
        if let Ok((name, ..)) = told.try_recv() {
            panic!("{kind}: {name} did not wait");
        }
        let start = Instant::now();
        sim.lose(0);
        for _ in &threads {
            let (name, fine, result, end) = told.recv_timeout(LONG).unwrap();
            let took = end.duration_since(start);
            assert!(took < SECOND, "{kind}: {name} took {took:?}");
            match fine {
                // The loss, unless another wait has returned it before.
                true if result.is_ok() => {}
                _ => lost(result, name),
            }
        }
        threads.into_iter().for_each(|t| t.join().unwrap());
        // What comes later does not even begin to wait.
        let start = Instant::now();
        lost(add_and_wait(&on(&rt, 0), &shared(&rt)), "after the loss");
        rt.shutdown(LONG).unwrap();
        assert!(start.elapsed() < SECOND);
        // One cause, told once, whatever came of it.
        let handled = handled.lock().unwrap().clone();
        assert_eq!(handled.len(), 1, "{kind}: {handled:#?}");
        drop(rt);
        assert_eq!(sim.violations(), [], "{kind}");
    }
}

/// ERR-01: a loss names what was under way.
#[test]
fn a_loss_names_its_suspects() {
    for (kind, builder) in kinds() {
        let (rt, sim, _) = open_told(&builder);
        KINDS.iter().for_each(|lane| sim.hold(0, *lane));
        let x = shared(&rt);
        let event = on(&rt, 0).submit(|cg| {
            cg.label("culprit");
            let x = cg.read_write(&x);
            cg.host_kernel([1], x, |i, mut x| x[i] += 1);
            Ok(())
        });
        sim.lose(0);
        let told = event.unwrap().wait().unwrap_err().to_string();
        assert!(told.contains("(under way: ") && told.contains("`culprit`"), "{kind}: {told}");
    }
}

/// ERR-04: the pages of a buffer that are elsewhere too survive, the others are errors until they
/// are written, and the other device works on.
#[test]
fn pages_that_are_elsewhere_survive() {
    for (kind, builder) in kinds() {
        let (rt, sim) = open(&builder);
        let (a, b) = (on(&rt, 0), on(&rt, 1));
        let options = BufferOptions::new().page([1]);
        let x = rt.buffer_with((&[1, 2, 3, 4], [4]), options).unwrap().into_shared();
        let write = |q: &Queue, at: usize| {
            q.submit(|cg| {
                let x = cg.read_write(x.slice_mut([at], [2])?);
                cg.host_kernel([2], x, |i, mut x| x[i] *= 10);
                Ok(())
            })
            .unwrap()
        };
        write(&a, 0);
        write(&b, 2);
        // Page 1 is on the host, too.
        assert_eq!(x.slice([1], [1]).unwrap().to_vec().unwrap(), [20]);
        rt.wait().unwrap();
        sim.lose(0);
        let part = |at: usize, n: usize| x.slice([at], [n]).unwrap().to_vec();
        assert_eq!(part(1, 3).unwrap(), [20, 30, 40], "{kind}");
        let gone = part(0, 1);
        assert!(
            matches!(&gone, Err(Error::Failed(f)) if f.device() == "sim:0"),
            "{kind}: {gone:?}"
        );
        lost(gone, kind);
        lost(part(0, 4), kind);
        let read = b.submit(|cg| {
            let x = cg.read(&x);
            cg.host_kernel([1], x, |_, _| panic!("it was told lost data"));
            Ok(())
        });
        lost(read.unwrap().wait(), kind);
        write(&b, 1).wait().unwrap();
        assert_eq!(part(1, 3).unwrap(), [200, 300, 40], "{kind}");
        b.submit(|cg| {
            cg.fill(x.slice_mut([0], [1])?, 7);
            Ok(())
        })
        .unwrap();
        assert_eq!(x.to_vec().unwrap(), [7, 200, 300, 40], "{kind}");
        assert_eq!(sim.violations(), [], "{kind}");
    }
}

/// A program on two devices; each answer is right or says that a device is lost.
fn program(rt: &Runtime) -> usize {
    let options = BufferOptions::new().page([2]);
    let x = rt.buffer_with(&[0; 8], options).unwrap().into_shared();
    let mut errors = 0;
    let mut answer = |result: Result<Vec<i32>, Error>, right: &[i32]| match result {
        Ok(found) => assert_eq!(found, right),
        Err(error) => {
            lost::<()>(Err(error), "an answer");
            errors += 1;
        }
    };
    let queues = [on(rt, 0), on(rt, 1)];
    for round in 1..=4 {
        for (q, half) in queues.iter().zip([0, 4]) {
            // Opening a device or allocating there may be refused: then it has not run.
            let event = q.submit(|cg| {
                let part = cg.discard(x.slice_mut([half], [4])?);
                cg.host_kernel([4], part, move |i, mut x| x.put(i, round + half as i32));
                Ok(())
            });
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    lost::<()>(Err(error), "a submission");
                    continue;
                }
            };
            let own = x.slice([half], [4]).unwrap().to_vec();
            answer(own, &[round + half as i32; 4]);
            // Exchange between the devices, in a buffer of its own.
            let y = rt.buffer::<i32, 1>(8).unwrap().into_shared();
            let exchange = queues[1 - half / 4].submit(|cg| {
                let (x, y) = (cg.read(x.slice([half], [4])?), cg.discard(y.slice_mut([0], [4])?));
                cg.after(&event).host_kernel([4], (x, y), |i, (x, mut y)| y.put(i, x[i] + 1));
                Ok(())
            });
            if let Ok(exchange) = exchange {
                let there = y.slice([0], [4]).unwrap().to_vec();
                answer(there, &[round + half as i32 + 1; 4]);
                if let Err(error) = exchange.wait() {
                    lost::<()>(Err(error), "an exchange");
                }
            }
        }
    }
    errors
}

/// ERR-04, ERR-02: a device is lost in place of each of its operations in turn. No hang, no wrong
/// answer, nothing leaked, and the contract is kept.
#[test]
fn a_loss_at_any_operation_is_survived() {
    let mut failing = 0;
    for links in [false, true] {
        for at in 1..40 {
            let builder = SimBackend::builder()
                .device(DeviceSpec::new().lose_at(at))
                .device(DeviceSpec::new());
            let builder = if links { builder.peers(Link::default()) } else { builder };
            let (rt, sim) = open(&builder);
            let start = Instant::now();
            failing += usize::from(program(&rt) > 0);
            rt.shutdown(LONG).unwrap();
            assert!(start.elapsed() < SECOND, "{at}: {:?}", start.elapsed());
            drop(rt);
            eventually("everything is given back", || sim.live_allocations() == (0, 0));
            assert_eq!(sim.violations(), [], "lost at {at}");
        }
    }
    assert!(failing > 20, "only {failing} programs met the loss");
}

#[track_caller]
pub(crate) fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// ERR-04: operations that the device has not taken yet when it is lost touch nothing that has been
/// given back meanwhile.
#[test]
fn what_was_held_back_touches_no_freed_memory() {
    let spec = DeviceSpec::new().max_in_flight(2);
    let (rt, sim) = open(&SimBackend::builder().devices(2, spec));
    let q = on(&rt, 0);
    sim.hold(0, LaneKind::Compute);
    for _ in 0..20 {
        add(&q, &shared(&rt));
    }
    sim.lose(0);
    lost(q.wait(), "the queue");
    // All their buffers are gone, and so is the memory.
    eventually("the memory is free", || rt.devices()[0].budget().1 == 0);
    for _ in 0..20 {
        lost(add_and_wait(&q, &shared(&rt)), "later");
    }
    rt.shutdown(LONG).unwrap();
    assert_eq!(sim.violations(), []);
}

/// What a scope's thread says when it returns.
type Ended = (std::thread::Result<Result<(), Error>>, [i32; 8]);

/// A scope in a thread, over storage that device 0 is to write; `panics` in the scope if asked.
fn scope_on(rt: &Runtime, panics: bool) -> mpsc::Receiver<Ended> {
    let (tell, told) = mpsc::channel();
    let (submitted, there) = mpsc::channel();
    let rt = rt.clone();
    std::thread::spawn(move || {
        let mut data = [1; 8];
        let q = on(&rt, 0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            rt.scope(|s| {
                let view = s.view_mut(&mut data).unwrap().into_shared();
                add(&q, &view);
                submitted.send(()).unwrap();
                // Also a leaked handle does not keep it from being written, nor from being awaited.
                std::mem::forget(view);
                assert!(!panics, "in the scope");
            })
        }));
        let _ = tell.send((result, data));
    });
    there.recv_timeout(LONG).unwrap();
    told
}

/// ERR-04, POL-05: borrowed storage is not handed back while a device that hangs could still write
/// it: not at the end of the scope, and not by a panic in it.
#[test]
fn borrowed_storage_is_kept_from_a_device_that_hangs() {
    for (kind, builder) in kinds() {
        for lane in [LaneKind::Upload, LaneKind::Compute, LaneKind::Download] {
            for panics in [false, true] {
                for loses in [false, true] {
                    let (rt, sim) = open(&builder);
                    // Without lanes for copies all of them are the compute lane.
                    let lane = if kind == "one lane" { LaneKind::Compute } else { lane };
                    sim.hold(0, lane);
                    let told = scope_on(&rt, panics);
                    assert!(told.recv_timeout(SHORT / 3).is_err(), "{kind}: {lane:?}: handed back");
                    let start = Instant::now();
                    if loses {
                        sim.lose(0);
                    } else {
                        sim.release(0, lane);
                    }
                    let (result, data) = told.recv_timeout(LONG).unwrap();
                    assert!(start.elapsed() < SECOND, "{kind}: {:?}", start.elapsed());
                    assert_eq!(result.is_err(), panics, "{kind}");
                    match (loses, result) {
                        (true, Ok(result)) => lost(result, kind),
                        (false, Ok(result)) => {
                            result.unwrap();
                            assert_eq!(data, [2; 8], "{kind}");
                        }
                        (_, Err(_)) => {}
                    }
                    rt.shutdown(LONG).unwrap();
                    sim.step(100);
                    assert_eq!(sim.violations(), [], "{kind}");
                }
            }
        }
    }
}

/// ERR-04, POL-04: with a device that hangs, every handle can be dropped without waiting. The
/// engine ends once the device is lost.
#[test]
fn dropping_waits_for_no_device() {
    for (kind, builder) in kinds() {
        let backend = builder.build();
        let sim = backend.handle();
        let life = Arc::new(());
        let own = life.clone();
        let rt = Runtime::builder().backend(backend).on_failure(move |_| drop(own.clone()));
        let rt = rt.build().unwrap();
        KINDS.iter().for_each(|lane| sim.hold(0, *lane));
        let (tell, told) = mpsc::channel();
        let dropping = std::thread::spawn(move || {
            let (a, b) = (on(&rt, 0), on(&rt, 1));
            let x = shared(&rt);
            let events = [add(&a, &x), add(&b, &x), add(&a, &x), a.barrier().unwrap()];
            let slice = x.slice([0], [4]).unwrap();
            let read = slice.read_async().unwrap();
            let y = shared(&rt);
            let upload = b.submit(|cg| {
                cg.copy(&x, &y);
                Ok(())
            });
            let start = Instant::now();
            drop((read, upload, events));
            drop((x, y));
            drop((a, b));
            drop(rt);
            let _ = tell.send(start.elapsed());
        });
        let took = told.recv_timeout(LONG).unwrap_or_else(|_| panic!("{kind}: a drop hangs"));
        assert!(took < SECOND, "{kind}: {took:?}");
        dropping.join().unwrap();
        assert!(Arc::strong_count(&life) > 1, "{kind}: the engine is gone and work is left");
        sim.lose(0);
        eventually("the engine ends", || Arc::strong_count(&life) == 1);
        eventually("everything is given back", || sim.live_allocations() == (0, 0));
        assert_eq!(sim.violations(), [], "{kind}");
    }
}

fn label<'a>(cg: &'a mut CommandGroup, name: &str) -> &'a mut CommandGroup {
    cg.label(name)
}

/// ERR-04, ERR-01: a shutdown says what hangs, where, and by which name; what does not depend on it
/// ends; and a later call ends well when the device is gone.
#[test]
fn a_shutdown_says_what_hangs() {
    for (kind, builder) in kinds() {
        let (rt, sim) = open(&builder);
        let (a, b) = (on(&rt, 0), on(&rt, 1));
        let x = shared(&rt);
        let y = shared(&rt);
        // Opened, and with its memory.
        add(&a, &x).wait().unwrap();
        add(&b, &y).wait().unwrap();
        sim.hold(0, LaneKind::Compute);
        let held = a.submit(|cg| {
            let x = cg.read_write(&x);
            label(cg, "stuck").host_kernel([8], x, |i, mut x| x[i] += 1);
            Ok(())
        });
        let (held, open) = (held.unwrap(), AtomicBool::new(false));
        let open = Arc::new(open);
        let gate = open.clone();
        let task = a.submit(|cg| {
            label(cg, "patient").host_task((), move |()| {
                while !gate.load(Ordering::Acquire) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            Ok(())
        });
        let waiting = b.submit(|cg| {
            cg.after(task.as_ref().unwrap());
            label(cg, "behind").host_kernel([1], (), |_, ()| {});
            Ok(())
        });
        let fine = add(&b, &y);
        let start = Instant::now();
        let error = rt.shutdown(SHORT).unwrap_err();
        assert!(start.elapsed() < SECOND, "{kind}");
        let text = error.to_string();
        for what in ["kernel `stuck` on sim:0", "host task `patient` on host", "`behind` on sim:1"]
        {
            assert!(text.contains(what), "{kind}: no {what} in: {text}");
        }
        match error {
            Error::Deadline { unfinished, left } => {
                assert_eq!((unfinished, left.len()), (3, 3), "{kind}: {left:?}");
            }
            other => panic!("{kind}: {other:?}"),
        }
        assert!(fine.is_done() && !held.is_done(), "{kind}");
        open.store(true, Ordering::Release);
        waiting.unwrap().wait().unwrap();
        match rt.shutdown(SHORT) {
            Err(Error::Deadline { unfinished: 1, left }) => {
                assert_eq!((left[0].what, left[0].label.as_str()), ("kernel", "stuck"));
                assert_eq!(left[0].device, "sim:0");
            }
            other => panic!("{kind}: {other:?}"),
        }
        sim.lose(0);
        rt.shutdown(SECOND).unwrap();
        lost(held.wait(), kind);
    }
}

/// ERR-04: a device is lost while many threads use both.
#[test]
fn a_loss_amid_many_threads() {
    for (kind, builder) in kinds() {
        let (rt, sim) = open(&builder);
        let done = AtomicBool::new(false);
        let shared_one: Vec<Shared<i32>> = (0..4).map(|_| shared(&rt)).collect();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (rt, shared_one, done) = (&rt, &shared_one, &done);
                scope.spawn(move || {
                    let queues = [on(rt, 0), on(rt, 1)];
                    let mut n = 0;
                    while !done.load(Ordering::Relaxed) {
                        if let Err(error) = try_add(&queues[n % 2], &shared_one[(n + thread) % 4]) {
                            lost::<()>(Err(error), "a submission");
                        }
                        n += 1;
                        if n % 16 == 0 {
                            let _ = queues[n / 16 % 2].wait();
                        }
                    }
                });
            }
            std::thread::sleep(SHORT);
            sim.lose(0);
            std::thread::sleep(SHORT);
            done.store(true, Ordering::Relaxed);
        });
        let start = Instant::now();
        rt.wait().unwrap();
        assert!(start.elapsed() < SECOND, "{kind}: {:?}", start.elapsed());
        // The other device is as good as new.
        let y = shared(&rt);
        add_and_wait(&on(&rt, 1), &y).unwrap();
        assert_eq!(y.to_vec().unwrap(), [2; 8]);
        let mut fresh: Buffer<i32> = rt.buffer(8).unwrap();
        fresh.discard().unwrap().fill(3);
        assert_eq!(fresh.to_vec().unwrap(), [3; 8]);
        drop((shared_one, y, fresh));
        rt.shutdown(LONG).unwrap();
        assert_eq!(sim.violations(), [], "{kind}");
    }
}

/// ERR-04, XFER-04: a loss that a call reports, before any lane does, is remembered: the device is
/// no source from then on, and the loss is told once.
#[test]
fn a_loss_that_an_allocation_reports_is_remembered() {
    for (kind, builder) in kinds() {
        let (rt, sim, told) = open_told(&builder);
        let (a, b) = (on(&rt, 0), on(&rt, 1));
        let x = rt.buffer_from(&[1; 64]).unwrap().into_shared();
        add(&b, &x).wait().unwrap();
        let bring = |q: &Queue| {
            q.submit(|cg| {
                cg.prefetch(&x, Destination::Device);
                Ok(())
            })
        };
        bring(&a).unwrap().wait().unwrap();
        sim.lose(0);
        let y = rt.buffer::<i32, 1>(64).unwrap().into_shared();
        for _ in 0..2 {
            match try_add(&a, &y) {
                Err(Error::Device { cause, .. }) => {
                    assert!(matches!(cause.kind, HalErrorKind::Lost), "{kind}: {cause}");
                }
                other => panic!("{kind}: {other:?}"),
            }
        }
        assert_eq!(x.to_vec().unwrap(), [2; 64], "{kind}");
        let usm = rt.usm::<u32>(&rt.devices()[0], folio_core::UsmKind::Device, 4);
        assert!(matches!(usm, Err(Error::Device { .. })), "{kind}");
        assert!(add_and_wait(&a, &x).is_err(), "{kind}");
        assert_eq!(told.lock().unwrap().len(), 1, "{kind}: {told:?}");
    }
}
