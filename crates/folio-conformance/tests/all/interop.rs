//! Interop tasks on OpenCL devices: commands by OpenCL's own functions, between those of Folio.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use cl3::command_queue::{enqueue_copy_buffer, enqueue_svm_mem_cpy};
use cl3::event::release_event;
use folio::prelude::*;
use folio::{Cause, Failure, HostArgs, Shared, graph::NodeKind};
use folio_core::hal::{Backend, HalErrorKind};
use folio_core::memory::{Linkage, Links};
use folio_cpu::CpuBackend;
use folio_layers::{Fault, FaultHandle, Faults, Site, Validate};
use folio_opencl::{Native, OpenClBackend};
use std::ptr::null;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Runs a test in runtimes of an OpenCL device and the CPU, bare and watched, with shared virtual
/// memory and without, with linked memory and without; not at all where there is no device.
#[track_caller]
fn each(test: fn(&Runtime)) {
    let builds: [fn() -> OpenClBackend; 2] =
        [|| OpenClBackend::new().with_all_svm(), OpenClBackend::without_svm];
    for build in builds {
        if let Err(why) = build().devices() {
            println!("skipped: opencl: {}", why.reason);
            return;
        }
        let validate = Validate::new();
        let report = validate.report();
        let watched: Arc<dyn Backend> = Arc::new(validate.over(build()));
        for backend in [Arc::new(build()) as Arc<dyn Backend>, watched] {
            for links in [Links::On, Links::Off] {
                let cpu = CpuBackend::builder().threads(1).build().unwrap();
                let builder = Runtime::builder().shared_backend(backend.clone()).backend(cpu);
                test(&builder.links(links).build().unwrap());
            }
        }
        assert!(report.is_silent(), "{report:?}");
    }
}

/// Copies the first access to the second, of as many elements of 4 bytes; by their addresses where
/// they have any.
fn copies(cl: &Native) -> Result<(), String> {
    let [from, to] = &cl.memory[..] else { return Err("two accesses".to_owned()) };
    let bytes = from.extent[2] * 4;
    let none = null();
    // SAFETY: so many bytes of both; the queue is the task's.
    let copied = unsafe {
        if from.address.is_null() || to.address.is_null() {
            let (queue, at) = (cl.queue, [from.offset, to.offset]);
            enqueue_copy_buffer(queue, from.buffer, to.buffer, at[0], at[1], bytes, 0, none)
        } else {
            enqueue_svm_mem_cpy(cl.queue, 0, to.address, from.address, bytes, 0, none)
        }
    };
    let event = copied.map_err(|status| format!("the copy: {status}"))?;
    // SAFETY: ours.
    unsafe { release_event(event) }.map_err(|status| format!("clReleaseEvent: {status}"))
}

/// An interop task that keeps its promise, with accesses that `made` makes.
fn interop<A: HostArgs>(
    q: &Queue,
    made: impl FnOnce(&mut CommandGroup) -> A,
    task: impl FnOnce(&Native) -> Result<(), String> + Send + 'static,
) -> folio::Result<Event> {
    q.submit(|g| {
        let accesses = made(g.label("foreign").timed());
        // SAFETY: the tasks of this file do what their accesses say, on their queue.
        unsafe { g.interop(accesses, task) };
        Ok(())
    })
}

#[kernel]
fn grow(i: Item, by: i32, x: InOut<i32>) {
    x[i] = x[i] * 3 + by;
}

/// KRN-05: what a task enqueues comes after what it reads was written, on whatever device, and
/// before who reads what it wrote; and nothing moves but that.
#[test]
fn compile_interop_opencl_is_in_order() {
    each(|rt| {
        let (gpu, cpu) = (rt.queue_on(&rt.devices()[0]).unwrap(), rt.queue_on("cpu").unwrap());
        let n = 1000usize;
        let mut x = rt.buffer_from((0..n as i32).collect::<Vec<_>>()).unwrap();
        let mut y = rt.buffer::<i32, 1>(n).unwrap();
        let mut expected = (vec![0; n], vec![0; n]);
        expected.0.iter_mut().enumerate().for_each(|(k, x)| *x = k as i32);
        for turn in 0..20 {
            let q = if turn % 4 == 3 { &cpu } else { &gpu };
            q.run(n, grow(turn, &mut x)).unwrap();
            let event = interop(
                &gpu,
                |g| {
                    let from = g.read(x.slice([10], [100]).unwrap());
                    (from, g.write(y.slice_mut([500], [100]).unwrap()))
                },
                copies,
            );
            gpu.run(n, grow(1, &mut y)).unwrap();
            expected.0.iter_mut().for_each(|x| *x = x.wrapping_mul(3).wrapping_add(turn));
            let (x, y) = (&expected.0, &mut expected.1);
            y[500..600].copy_from_slice(&x[10..110]);
            y.iter_mut().for_each(|y| *y = y.wrapping_mul(3).wrapping_add(1));
            let event = event.unwrap();
            event.wait().unwrap();
            assert!(event.timing().is_some_and(|t| t.queued <= t.ended));
        }
        let counters = rt.counters();
        assert_eq!(counters.launches, 60);
        // The CPU has changed `x` five times; `y` stays. Linked memory is mapped instead of copied.
        let times = match x.linkage(&rt.devices()[0]).unwrap() {
            Linkage::Linked => [5, 0],
            _ => [0, 5],
        };
        assert_eq!([counters.maps, counters.device_to_host.bytes / (4 * n as u64)], times);
        assert_eq!(x.to_vec().unwrap(), expected.0);
        assert_eq!(y.to_vec().unwrap(), expected.1);
    });
}

/// GRAPH-06, KRN-05: a task is a node of a graph. Each run calls it in its place among kernels,
/// also in the body of a condition, and it can be exchanged.
#[test]
fn compile_interop_opencl_in_a_graph() {
    each(|rt| {
        let q = rt.queue_on(&rt.devices()[0]).unwrap();
        let [x, y, z] = [1, 2, 3].map(|k| rt.buffer_from(&[k; 8]).unwrap().into_shared());
        let calls = Arc::new(AtomicUsize::new(0));
        let copy = |g: &mut CommandGroup, from: &Shared<i32>, to: &Shared<i32>| {
            let calls = calls.clone();
            let task = move |cl: &Native| {
                calls.fetch_add(1, Ordering::SeqCst);
                copies(cl)
            };
            let accesses = (g.read(from), g.write(to));
            // SAFETY: it does what its accesses say, on its queue.
            unsafe { g.each_run().interop(accesses, task) };
        };
        let (graph, body) = (rt.graph(&q.device()).unwrap(), rt.graph(&q.device()).unwrap());
        graph.add(|g| g.run(8, grow(1, &x))).unwrap();
        let node = graph.add(|g| copy(g, &x, &y)).unwrap();
        graph.add(|g| g.run(8, grow(0, &y))).unwrap();
        body.add(|g| copy(g, &y, &z)).unwrap();
        let body = body.finalize().unwrap();
        graph.if_(&[], x.slice([0], [1]).unwrap(), &body).unwrap();
        assert_eq!(graph.kind(node).unwrap(), NodeKind::Interop);
        let run = graph.finalize().unwrap();
        let before = rt.counters().launches;
        for _ in 0..3 {
            q.run_graph(&run).unwrap();
        }
        let all = || [&x, &y, &z].map(|buffer| buffer.to_vec().unwrap());
        assert_eq!(all(), [[40; 8], [120; 8], [120; 8]]);
        run.update(node, |g| copy(g, &z, &y)).unwrap();
        q.run_graph(&run).unwrap();
        assert_eq!(all(), [[121; 8], [360; 8], [360; 8]]);
        assert_eq!(calls.load(Ordering::SeqCst), 8);
        assert_eq!(rt.counters().launches - before, 16);
    });
}

fn failure(result: folio::Result<()>) -> Arc<Failure> {
    match result {
        Err(Error::Failed(failure)) => failure,
        other => unreachable!("{other:?}"),
    }
}

/// ERR-02, ERR-03: a task that fails or panics fails its command and who depends on it, and nothing
/// else.
#[test]
fn compile_interop_opencl_fails_like_a_kernel() {
    each(|rt| {
        let q = rt.queue_on(&rt.devices()[0]).unwrap();
        let (mut x, mut other) =
            (rt.buffer_from(&[1; 8]).unwrap(), rt.buffer_from(&[1; 8]).unwrap());
        let calls = Arc::new(Mutex::new(0));
        let failed = interop(&q, |g| g.read_write(&mut x), |_| Err("no luck".to_owned())).unwrap();
        let counts = calls.clone();
        let after = interop(
            &q,
            |g| g.read_write(&mut x),
            move |_| {
                *counts.lock().unwrap() += 1;
                Ok(())
            },
        );
        let cause = failure(failed.wait());
        assert!(matches!(cause.cause(), Cause::Task(_)) && cause.to_string().contains("no luck"));
        assert_eq!((cause.label(), cause.device()), ("foreign", rt.devices()[0].name()));
        assert_eq!(failure(after.unwrap().wait()).id(), cause.id());
        assert_eq!(failure(x.read().map(drop)).id(), cause.id());
        let panics = interop(&q, |g| g.discard(&mut x), |_| panic!("at a loss")).unwrap();
        let cause = failure(panics.wait());
        assert!(
            matches!(cause.cause(), Cause::Panic(_)) && cause.to_string().contains("at a loss")
        );
        q.run(8, grow(0, &mut other)).unwrap();
        assert_eq!(other.to_vec().unwrap(), [3; 8]);
    });
}

/// What a task does with the runtime: it cannot wait; what it submits, and what its captures submit
/// when they go, is done, on its own lane, too.
#[test]
fn compile_interop_opencl_may_submit() {
    struct Last(Queue, Arc<Mutex<Buffer<i32>>>);
    impl Drop for Last {
        fn drop(&mut self) {
            let _ = self.0.run(8, grow(5, &mut *self.1.lock().unwrap()));
        }
    }
    each(|rt| {
        let q = rt.in_order_queue_on(&rt.devices()[0]).unwrap();
        let shared = Arc::new(Mutex::new(rt.buffer_from(&[1; 8]).unwrap()));
        let (tell, told) = channel();
        let last = Last(q.clone(), shared.clone());
        let task = move |_: &Native| {
            let Last(q, buffer) = &last;
            let submitted = q.run(8, grow(2, &mut *buffer.lock().unwrap()));
            let waited = submitted.and_then(|event| event.wait());
            tell.send(matches!(waited, Err(Error::WaitInKernel))).unwrap();
            Ok(())
        };
        interop(&q, |_| (), task).unwrap().wait().unwrap();
        assert!(told.recv().unwrap());
        rt.wait().unwrap();
        assert_eq!(shared.lock().unwrap().to_vec().unwrap(), [(3 + 2) * 3 + 5; 8]);
    });
}

/// What cannot be is an error of the submission; the task is not called.
#[test]
fn compile_interop_opencl_refuses() {
    each(|rt| {
        let q = rt.queue_on(&rt.devices()[0]).unwrap();
        let mut x = rt.buffer_from(&[1; 8]).unwrap();
        let mut stolen = None;
        q.submit(|g| {
            stolen = Some(g.read(&x));
            Ok(())
        })
        .unwrap();
        let before = rt.counters();
        let task = |_: &Native| unreachable!("a task that was refused");
        let elsewhere = interop(&rt.queue_on("cpu").unwrap(), |g| g.read(&x), task);
        assert!(matches!(&elsewhere, Err(Error::Unsupported { .. })), "{elsewhere:?}");
        let other = q.submit(|g| {
            // SAFETY: not called.
            unsafe { g.interop((), |_: &folio_cuda::Native| ()) };
            Ok(())
        });
        assert!(
            matches!(&other, Err(Error::Unsupported { what, .. }) if what.contains("folio_cuda"))
        );
        let foreign = interop(&q, |_| stolen.unwrap(), task);
        assert!(matches!(&foreign, Err(Error::ForeignAccess { .. })), "{foreign:?}");
        let twice = interop(
            &q,
            |g| {
                let x = g.write(&mut x);
                (x, x)
            },
            task,
        );
        assert!(matches!(&twice, Err(Error::Aliasing { .. })), "{twice:?}");
        assert_eq!(rt.counters(), before);
    });
}

/// Within this everything has ended, or hangs.
const LONG: Duration = Duration::from_secs(20);

/// How often a task was called, and what it had captured was dropped.
#[derive(Default)]
struct Fate {
    calls: AtomicUsize,
    drops: AtomicUsize,
}

struct Captured(Arc<Fate>);

impl Drop for Captured {
    fn drop(&mut self) {
        self.0.drops.fetch_add(1, Ordering::Relaxed);
    }
}

/// What became of a task: its command's end, calls, and drops.
struct Watched(folio::Result<Event>, Arc<Fate>);

/// Copies from one buffer to the other on a queue, after an event if there is one.
fn watched(q: &Queue, from: &Buffer<i32>, to: &mut Buffer<i32>, after: Option<&Event>) -> Watched {
    let fate = Arc::<Fate>::default();
    let captured = Captured(fate.clone());
    let accesses = |g: &mut CommandGroup| {
        if let Some(event) = after {
            g.after(event);
        }
        (g.read(from), g.write(to))
    };
    let event = interop(q, accesses, move |cl| {
        captured.0.calls.fetch_add(1, Ordering::Relaxed);
        copies(cl)
    });
    Watched(event, fate)
}

/// The loss of the device, or of data that was there only.
#[track_caller]
fn is_lost(error: &Error) {
    let lost = match error {
        Error::Failed(failure) => match failure.cause() {
            Cause::Backend(error) => matches!(error.kind, HalErrorKind::Lost),
            cause => matches!(cause, Cause::DataLost),
        },
        Error::Device { cause, .. } => matches!(cause.kind, HalErrorKind::Lost),
        _ => false,
    };
    assert!(lost, "{error:?}");
}

impl Watched {
    /// What it captured has gone once; it was called, or its command has failed by the loss.
    /// Whether it was called.
    #[track_caller]
    fn ends(self) -> bool {
        let ended = self.0.and_then(|event| event.wait_timeout(LONG));
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        let start = Instant::now();
        while count(&self.1.drops) == 0 && start.elapsed() < LONG {
            std::thread::yield_now();
        }
        let (calls, drops) = (count(&self.1.calls), count(&self.1.drops));
        assert!(drops == 1 && calls <= 1, "called {calls} times, dropped {drops} times");
        match ended {
            Ok(ended) => assert!(ended && calls == 1, "in time: {ended}, called {calls} times"),
            Err(error) => is_lost(&error),
        }
        calls == 1
    }
}

/// A runtime of the first OpenCL device, which can be lost, and a CPU; none if there is no device.
fn that_can_be_lost() -> Option<(Runtime, FaultHandle)> {
    if let Err(why) = OpenClBackend::new().devices() {
        println!("skipped: opencl: {}", why.reason);
        return None;
    }
    let (faults, cpu) = (Faults::new(), CpuBackend::builder().threads(1).build().unwrap());
    let plan = faults.handle();
    let opencl = faults.over(OpenClBackend::new());
    Some((Runtime::builder().backend(opencl).backend(cpu).build().unwrap(), plan))
}

/// ERR-04: a task that is queued when its device is lost is not called.
#[test]
fn compile_interop_opencl_queued_at_a_loss() {
    let Some((rt, faults)) = that_can_be_lost() else { return };
    let q = rt.queue_on("opencl:0").unwrap();
    let (x, mut y) = (rt.buffer_from(&[1; 8]).unwrap(), rt.buffer_from(&[2; 8]).unwrap());
    assert!(watched(&q, &x, &mut y, None).ends());
    let (open, gate) = channel();
    let held = rt.queue_on("cpu").unwrap().submit(|g| {
        g.host_task((), move |()| gate.recv());
        Ok(())
    });
    let held = held.unwrap();
    let queued = watched(&q, &x, &mut y, Some(&held));
    let behind = watched(&q, &x, &mut y, None);
    faults.lose(0);
    let late = watched(&q, &x, &mut y, None);
    open.send(()).unwrap();
    assert_eq!([queued, behind, late].map(Watched::ends), [false; 3]);
    held.wait().unwrap();
    is_lost(&y.read().map(drop).unwrap_err());
    assert_eq!(x.to_vec().unwrap(), [1; 8]);
    rt.shutdown(LONG).unwrap();
}

/// Kernels and tasks in turn, of which the device reads what the CPU has written; which tasks were
/// called.
fn lost_on_the_way(rt: &Runtime) -> Vec<bool> {
    let [gpu, cpu] = ["opencl:0", "cpu"].map(|name| rt.queue_on(name));
    let (Ok(gpu), Ok(cpu)) = (gpu, cpu) else { return Vec::new() };
    let (mut x, mut y) = (rt.buffer_from(&[1; 8]).unwrap(), rt.buffer_from(&[2; 8]).unwrap());
    let mut tasks = Vec::new();
    for turn in 0..4 {
        let ran = if turn == 2 { &cpu } else { &gpu }.run(8, grow(turn, &mut x));
        ran.map(drop).unwrap_or_else(|error| is_lost(&error));
        tasks.push(watched(&gpu, &x, &mut y, None));
    }
    let tasks = tasks.into_iter().map(Watched::ends).collect();
    let mut fine = rt.buffer_from(&[1; 8]).unwrap();
    cpu.run(8, grow(1, &mut fine)).unwrap();
    assert_eq!(fine.to_vec().unwrap(), [4; 8]);
    tasks
}

/// ERR-04: the device is lost at each call that a program makes of it.
#[test]
fn compile_interop_opencl_lost_at_each_call() {
    let Some((rt, faults)) = that_can_be_lost() else { return };
    assert_eq!(lost_on_the_way(&rt), [true; 4]);
    drop(rt);
    let (mut called, mut refused) = (0, 0);
    let sites = faults.counts().into_iter().filter(|(site, _)| *site != Site::Devices);
    for (site, nth) in sites.flat_map(|(site, calls)| (1..=calls).map(move |nth| (site, nth))) {
        let Some((rt, faults)) = that_can_be_lost() else { return };
        faults.inject(site, nth, Fault::Lose);
        let tasks = lost_on_the_way(&rt);
        called += tasks.iter().filter(|called| **called).count();
        refused += tasks.iter().filter(|called| !**called).count();
        rt.shutdown(LONG).unwrap();
    }
    println!("{called} tasks called, {refused} not");
    assert!(called > 10 && refused > 10, "{called} called, {refused} not");
}
