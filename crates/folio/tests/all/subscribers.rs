//! A `tracing` subscriber is foreign code: one that panics, and one that uses the runtime, at every
//! place where the engine calls it. OBS-01, ERR-04
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests, and panics on purpose")]

use crate::scene::play;
use folio::cpu::CpuBackend;
use folio::prelude::*;
use folio::sched::{Model, Split};
use folio::{Error, Result, buffer::ViewPolicy};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake};
use std::time::Duration;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

/// Long enough for anything.
const PATIENCE: Duration = Duration::from_secs(100);
/// The calls of a subscriber.
const CALLS: [&str; 6] = ["enabled", "new_span", "event", "enter", "exit", "try_close"];

/// The action of a subscriber at each call, by the call's name and how many there were before.
type Action = Box<dyn Fn(&str, usize) + Send + Sync>;

/// A subscriber of the whole process, which does what it is told to do.
struct Foreign;

static ACTION: Mutex<Option<Arc<Action>>> = Mutex::new(None);
static COUNTS: [AtomicUsize; CALLS.len()] = [const { AtomicUsize::new(0) }; CALLS.len()];

thread_local! {
    /// This thread is in the subscriber.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Leaves the subscriber also by a panic.
struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

fn called(call: &str) {
    let at = CALLS.iter().position(|name| *name == call).unwrap();
    let before = COUNTS[at].fetch_add(1, Ordering::Relaxed);
    assert!(!INSIDE.replace(true), "a subscriber is called by what it does itself");
    let _inside = Inside;
    let action = ACTION.lock().unwrap().clone();
    if let Some(action) = action {
        action(call, before);
    }
}

impl Subscriber for Foreign {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        if metadata.target() == "folio" {
            called("enabled");
        }
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        called("new_span");
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {
        called("event");
    }
    fn enter(&self, _: &Id) {
        called("enter");
    }
    fn exit(&self, _: &Id) {
        called("exit");
    }
    fn try_close(&self, _: Id) -> bool {
        called("try_close");
        true
    }
}

/// From now on the subscriber does this.
fn act(action: impl Fn(&str, usize) + Send + Sync + 'static) {
    COUNTS.iter().for_each(|count| count.store(0, Ordering::Relaxed));
    *ACTION.lock().unwrap() = Some(Arc::new(Box::new(action)));
}

fn cpu() -> Runtime {
    let backend = CpuBackend::builder().domains(2).build().unwrap();
    Runtime::builder().backend(backend).build().unwrap()
}

/// A host task that ends late, and leaves `value` in all of `x`.
fn fill_late(q: &Queue, x: &mut Buffer<u32>, value: u32) -> folio::Event {
    let task = q.submit(|cg| {
        let x = cg.discard(x);
        cg.host_task(x, move |mut x| {
            (0..10).for_each(|_| std::thread::yield_now());
            x.iter_mut().for_each(|x| *x = value);
        });
        Ok(())
    });
    task.unwrap()
}

fn add(q: &Queue, x: &mut Buffer<u32>, value: u32) -> folio::Event {
    let event = q.submit(|cg| {
        let x = cg.read_write(x);
        cg.host_kernel([64], x, move |i, mut x| x[i] += value);
        Ok(())
    });
    event.unwrap()
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits as an executor does, which polls only when it is woken.
fn block_on(future: impl Future<Output = Result<()>>) -> Result<()> {
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Opens devices, borrows memory in a scope, runs host tasks, has the reaper wake a future, moves
/// data between devices, fails, and ends.
fn use_everything(rt: &Runtime) {
    let queues = ["cpu:0", "cpu:1"].map(|device| rt.queue_on(device).unwrap());
    let [q, other] = &queues;
    let mut data = vec![0u32; 64];
    rt.scope(|scope| {
        let mut x = scope.view_mut(&mut data).unwrap();
        fill_late(q, &mut x, 1);
        add(other, &mut x, 10);
    })
    .unwrap();
    assert_eq!(data, [11; 64]);
    // Also where a panic leaves it.
    let left = catch_unwind(AssertUnwindSafe(|| {
        rt.scope(|scope| {
            let mut x = scope.view_mut(&mut data).unwrap();
            fill_late(q, &mut x, 1);
            panic!("the scope panics");
        })
    }));
    assert!(left.is_err() && data == [1; 64], "{data:?}");
    let data = [11; 64];
    let mut x = rt.buffer_from(&data).unwrap();
    fill_late(other, &mut x, 2);
    block_on(add(q, &mut x, 3)).unwrap();
    add(other, &mut x, 4).wait().unwrap();
    assert_eq!(x.to_vec().unwrap(), [9; 64]);
    let failing = q.submit(|cg| {
        cg.host_task((), |()| Err("on purpose"));
        Ok(())
    });
    assert!(matches!(failing.unwrap().wait(), Err(Error::Failed(_))));
    fill_late(q, &mut x, 5);
    let (y, mut back) = rt.view(64, vec![0u32; 64], ViewPolicy::SyncWriteback).unwrap();
    drop(y);
    assert_eq!(back.take().unwrap(), [0; 64]);
    rt.wait().unwrap();
    drop(x);
    rt.shutdown(PATIENCE).unwrap();
}

/// Plays a scene with the subscriber, in a process of its own.
fn with_subscriber(name: &str, scene: impl FnOnce()) {
    let output = play(&format!("subscribers::{name}"), &[("FOLIO_QUIET", Some("1"))], || {
        tracing::subscriber::set_global_default(Foreign).unwrap();
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let text = panic.payload().downcast_ref::<&str>().copied().unwrap_or_default();
            if !["the subscriber panics", "the scope panics"].contains(&text) {
                report(panic);
            }
        }));
        scene();
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// How often the subscriber was called so.
fn count(call: &str) -> usize {
    let at = CALLS.iter().position(|name| *name == call).unwrap();
    COUNTS[at].load(Ordering::Relaxed)
}

/// Whatever the subscriber does at its n-th call, or at each, scopes wait for what uses borrowed
/// memory, and nothing sleeps for ever.
#[test]
fn a_subscriber_that_panics_at_any_call_stops_nothing() {
    with_subscriber("a_subscriber_that_panics_at_any_call_stops_nothing", || {
        for call in CALLS {
            act(move |at, _| assert!(at != call, "the subscriber panics"));
            use_everything(&cpu());
            assert!(count(call) > 5, "{call}: {}", count(call));
            for n in 0..8 {
                act(move |at, before| assert!((at, before) != (call, n), "the subscriber panics"));
                use_everything(&cpu());
            }
        }
        act(|_, _| panic!("the subscriber panics"));
        use_everything(&cpu());
    });
}

/// The subscriber submits, waits, opens devices, moves data and borrows memory, at each of its
/// calls.
#[test]
fn a_subscriber_may_use_the_runtime_in_any_call() {
    with_subscriber("a_subscriber_may_use_the_runtime_in_any_call", || {
        for call in CALLS {
            let (rt, uses) = (cpu(), Arc::new(AtomicUsize::new(0)));
            let (inner, counted) = (rt.clone(), uses.clone());
            act(move |at, before| {
                if at == call && before < 40 {
                    use_inside(&inner);
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            });
            use_everything(&rt);
            assert!(uses.load(Ordering::Relaxed) > 5, "{call}");
            *ACTION.lock().unwrap() = None;
        }
    });
}

/// The calls of a subscriber to a runtime that may be shut down meanwhile.
fn use_inside(rt: &Runtime) {
    let all = || -> Result<()> {
        let q = rt.queue_on("cpu:1")?;
        let mut x = rt.buffer_from(&[1u32; 64])?;
        q.submit(|cg| {
            let x = cg.read_write(&mut x);
            cg.host_kernel([64], x, |i, mut x| x[i] += 1);
            Ok(())
        })?;
        assert_eq!(x.to_vec()?, [2; 64]);
        let mut data = [0u32; 64];
        rt.scope(|scope| {
            let mut x = scope.view_mut(&mut data)?;
            rt.queue_on("cpu:0")?.fill(&mut x, 7).map(drop)
        })??;
        assert_eq!(data, [7; 64]);
        rt.counters();
        rt.wait()
    };
    match all() {
        Ok(()) | Err(Error::ShutDown | Error::WaitInKernel) => {}
        Err(Error::Failed(why)) if why.to_string().contains("on purpose") => {}
        Err(error) => panic!("{error}"),
    }
}

#[kernel]
fn adds(i: Item, y: InOut<u32>) {
    y[i] += 1;
}

/// Queues that measure remember the times of kernels.
#[test]
fn a_subscriber_may_use_a_queue_that_measures() {
    with_subscriber("a_subscriber_may_use_a_queue_that_measures", || {
        let rt = cpu();
        let model = rt.queue_over(&rt.devices(), Model).unwrap();
        let split = rt.queue_over(&rt.devices(), Split::measured()).unwrap();
        for q in [model, split] {
            let x = Arc::new(rt.buffer_from(&[0u32; 64]).unwrap().into_shared());
            let runs = Arc::new(AtomicUsize::new(0));
            let (inner, shared, counted) = (q.clone(), x.clone(), runs.clone());
            act(move |_, _| {
                if inner.run(64, adds(&*shared)).is_ok() {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            });
            for _ in 0..10 {
                q.run(64, adds(&*x)).unwrap();
                q.spread(64, adds(&*x)).unwrap();
            }
            *ACTION.lock().unwrap() = None;
            // Threads that are still in it hold it.
            while Arc::strong_count(&runs) > 1 {
                std::thread::yield_now();
            }
            rt.wait().unwrap();
            let runs = runs.load(Ordering::Relaxed);
            assert!(runs > 20, "{runs}");
            assert_eq!(x.to_vec().unwrap(), [20 + runs as u32; 64]);
        }
    });
}
