//! The worst that safe code may do: errors, and nothing worse. BUF-07, DEP-05, ERR-04
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests, and panics on purpose")]

use folio::buffer::{Overwritten, ReclaimError, ViewPolicy};
use folio::cpu::CpuBackend;
use folio::geom::{Box3, Dims};
use folio::hal::Link;
use folio::pages::{BlockTracker, DomainId, DomainSet, PageTracker, PageTrackerFactory};
use folio::*;
use folio_sim::{DeviceSpec, SimBackend};
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;

fn cpu(domains: usize) -> Runtime {
    let backend = CpuBackend::builder().domains(domains).build().unwrap();
    Runtime::builder().backend(backend).build().unwrap()
}

/// Makes trackers by a function.
struct Trackers<F>(F);

impl<F: Fn(Dims) -> Box<dyn PageTracker> + Send + Sync> PageTrackerFactory for Trackers<F> {
    fn make(&self, pages: Dims) -> Box<dyn PageTracker> {
        (self.0)(pages)
    }
}

fn trackers<T: PageTracker + 'static>(
    make: impl Fn(Dims) -> T + Send + Sync + 'static,
) -> Arc<dyn PageTrackerFactory> {
    Arc::new(Trackers(move |pages| -> Box<dyn PageTracker> { Box::new(make(pages)) }))
}

#[test]
fn groups_cannot_be_swapped_between_runtimes() {
    let (a, b) = (cpu(1), cpu(1));
    let (qa, qb) = (a.queue().unwrap(), b.queue().unwrap());
    let mut large = a.buffer::<u64, 1>(1 << 16).unwrap();
    // The first of its runtime, as `large` is.
    let small = b.buffer_from(&[1u8; 64]).unwrap();
    let mut inner = None;
    let outer = qb.submit(|outer_group| {
        inner = Some(qa.submit(|group| {
            let x = group.read_write(&mut large);
            group.host_kernel([1 << 16], x, |i, mut x| x[i] = u64::MAX);
            std::mem::swap(group, outer_group);
            Ok(())
        }));
        Ok(())
    });
    assert!(matches!(outer, Err(Error::ForeignAccess { .. })), "{outer:?}");
    assert!(matches!(inner, Some(Err(Error::ForeignAccess { .. }))), "{inner:?}");
    assert_eq!(small.to_vec().unwrap(), [1; 64]);
}

#[test]
fn kernels_have_no_scopes() {
    let rt = cpu(1);
    let q = rt.queue().unwrap();
    let (tell, told) = std::sync::mpsc::sync_channel(1);
    let inner = rt.clone();
    let event = q.submit(|cg| {
        cg.host_kernel([1], (), move |_, ()| {
            let mut called = false;
            let refused = inner.scope(|_| called = true);
            tell.send(matches!(refused, Err(Error::WaitInKernel)) && !called).unwrap();
        });
        Ok(())
    });
    event.unwrap().wait().unwrap();
    assert!(told.recv().unwrap());
}

/// Extents whose products overflow, of nothing at all.
#[test]
fn empty_shapes_may_have_any_extents() {
    const MAX: usize = usize::MAX;
    let rt = cpu(2);
    let q = rt.queue_on("cpu:1").unwrap();
    for dims in [[0, MAX, MAX], [MAX, 0, MAX], [MAX, 0, 0], [0, 0, MAX], [1, MAX, 0]] {
        let mut x = rt.buffer::<u32, 3>(dims).unwrap();
        assert_eq!((x.len(), x.to_vec().unwrap(), x.write().unwrap().len()), (0, vec![], 0));
        let commands = [
            q.submit(|cg| {
                let x = cg.read(x.slice(dims, [0; 3])?);
                cg.host_kernel([1], x, |_, x| assert_eq!(x.get([0; 3]), None));
                Ok(())
            }),
            q.submit(|cg| {
                let x = cg.read_write(&mut x);
                cg.host_task(x, |x| assert_eq!(x.row(MAX).unwrap_or(&[]), &[0; 0]));
                Ok(())
            }),
            q.submit(|cg| {
                let x = cg.discard(&mut x);
                cg.host_kernel(dims, x, |_, _| unreachable!());
                Ok(())
            }),
            q.submit(|cg| {
                cg.fill(&mut x, 5);
                Ok(())
            }),
        ];
        commands.into_iter().for_each(|event| event.unwrap().wait().unwrap());
    }
}

#[test]
fn rows_past_the_end_are_none() {
    let rt = cpu(1);
    let x = rt.buffer_from(&[1u32; 16]).unwrap();
    let event = rt.queue().unwrap().submit(|cg| {
        let x = cg.read(&x);
        cg.host_task(x, |x| assert!([1, 2, usize::MAX].iter().all(|row| x.row(*row).is_none())));
        Ok(())
    });
    event.unwrap().wait().unwrap();
    assert!(x.slice([0], [16]).unwrap().read_rows().unwrap().row(usize::MAX).is_none());
}

/// Columns of two shapes that interleave: each row is looked at once.
#[test]
fn many_rows_are_compared_in_one_pass() {
    let rt = cpu(1);
    let (q, rows) = (rt.queue().unwrap(), 300_000);
    let bytes = rt.buffer::<u8, 2>([rows, 4]).unwrap().into_shared();
    let words = bytes.reinterpret::<u16, 2>([rows, 2]).unwrap();
    let submit = |columns: [usize; 2]| {
        q.submit(|cg| {
            let left = cg.read_write(bytes.slice_mut([0, 0], [rows, 2])?);
            let right = cg.read_write(words.slice_mut([rows - 1, columns[0]], [1, columns[1]])?);
            let all = cg.read_write(words.slice_mut([0, 1], [rows - 1, 1])?);
            cg.host_kernel([1, 1], (left, right, all), |_, _| {});
            Ok(())
        })
    };
    submit([1, 1]).unwrap();
    assert!(matches!(submit([0, 2]), Err(Error::Aliasing { .. })));
}

/// More pages than there could be bits for.
#[test]
fn a_users_tracker_costs_no_memory_for_each_page() {
    let rt = cpu(2);
    let q = rt.queue_over(&[], sched::Locality).unwrap();
    let options = BufferOptions::new().page([1]).tracker(trackers(BlockTracker::new));
    let x = rt.buffer_with::<u8, 1>([1 << 50], options).unwrap();
    let refused = q.submit(|cg| {
        cg.prefetch(&x, Destination::Device);
        Ok(())
    });
    assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{refused:?}");
}

/// Tells events to a function.
struct Listener<F>(F);

impl<F: Fn() + Send + Sync + 'static> tracing::Subscriber for Listener<F> {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        (self.0)();
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

fn fill(q: &Queue, x: &mut Buffer<u8>, value: u8) -> Event {
    let filled = q.submit(|cg| {
        cg.fill(x, value);
        Ok(())
    });
    filled.unwrap()
}

/// Also by opening a device while another one is opened.
#[test]
fn a_subscriber_may_use_the_runtime() {
    let rt = cpu(2);
    let (inner, calls) = (rt.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = calls.clone();
    let listener = Listener(move || {
        if counted.fetch_add(1, Ordering::Relaxed) < 10 {
            let q = inner.queue_on("cpu:1").unwrap();
            let mut x = inner.buffer(10).unwrap();
            fill(&q, &mut x, 3).wait().unwrap();
        }
    });
    tracing::subscriber::with_default(listener, || {
        let mut x = rt.buffer(10).unwrap();
        fill(&rt.queue_on("cpu:0").unwrap(), &mut x, 3).wait().unwrap();
    });
    assert!(calls.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_subscriber_that_panics_stops_nothing() {
    let rt = cpu(2);
    let q = rt.queue_on("cpu:1").unwrap();
    let mut x = rt.buffer::<u8, 1>(10).unwrap();
    let listener = Listener(|| panic!("the subscriber panics"));
    tracing::subscriber::with_default(listener, || {
        q.submit(|cg| {
            let x = cg.read_write(&mut x);
            cg.host_task(x, |mut x| x[0] = 3);
            Ok(())
        })
        .unwrap();
        assert!(q.wait_timeout(Duration::from_secs(10)).unwrap());
    });
    assert_eq!(x.to_vec().unwrap()[0], 3);
}

/// A tracker that does something at each question, and when it goes.
struct Does<F: Fn(&str)>(BlockTracker, F);

impl<F: Fn(&str) + Send> PageTracker for Does<F> {
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        self.1("visit");
        self.0.visit(range, out);
    }
    fn set(&mut self, range: &Box3, current: DomainSet) {
        self.0.set(range, current);
    }
    fn insert(&mut self, range: &Box3, domain: DomainId) {
        self.0.insert(range, domain);
    }
    fn remove(&mut self, range: &Box3, domain: DomainId) {
        self.0.remove(range, domain);
    }
    fn name(&self) -> &'static str {
        "does"
    }
}

impl<F: Fn(&str)> Drop for Does<F> {
    fn drop(&mut self) {
        self.1("drop");
    }
}

fn does(action: impl Fn(&str) + Clone + Send + Sync + 'static) -> BufferOptions {
    let make = move |pages| Does(BlockTracker::new(pages), action.clone());
    BufferOptions::new().tracker(trackers(make))
}

/// A tracker goes when no lock is held.
#[test]
fn a_tracker_may_use_the_runtime_and_panic_when_it_goes() {
    let rt = cpu(1);
    let (inner, dropped) = (rt.clone(), Arc::new(AtomicUsize::new(0)));
    let count = dropped.clone();
    let options = does(move |what| {
        if what == "drop" {
            inner.counters();
            count.fetch_add(1, Ordering::Relaxed);
            panic!("the tracker panics");
        }
    });
    for n in 0..10 {
        let mut x = rt.buffer_with([100_000], options.clone()).unwrap();
        for value in 0..3 {
            fill(&rt.queue().unwrap(), &mut x, value);
        }
        if n % 2 == 0 {
            rt.wait().unwrap();
        }
    }
    rt.wait().unwrap();
    rt.counters();
    assert_eq!((dropped.load(Ordering::Relaxed), rt.devices()[0].budget().1), (10, 0));
}

/// Its contract forbids it; the command fails, and nothing hangs.
#[test]
fn a_tracker_that_calls_the_runtime_is_told() {
    let rt = cpu(1);
    let (inner, asked) = (rt.clone(), Arc::new(AtomicUsize::new(0)));
    let ask = asked.clone();
    let options = does(move |what| {
        if what == "visit" && ask.swap(1, Ordering::Relaxed) == 0 {
            inner.counters();
        }
    });
    let mut x: Buffer<u8> = rt.buffer_with([100], options).unwrap();
    asked.store(0, Ordering::Relaxed);
    let command = rt.queue().unwrap().submit(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_kernel([100], x, |i, mut x| x[i] += 1);
        Ok(())
    });
    let failed = command.unwrap().wait();
    assert!(matches!(&failed, Err(Error::Failed(f)) if f.what() == "page tracker"), "{failed:?}");
}

#[test]
fn a_tracker_that_panics_fails_host_guards() {
    let rt = cpu(1);
    let options = does(|what| assert!(what != "visit", "the tracker panics"));
    let x = rt.buffer_with(&[1; 10], options).unwrap();
    for failed in [x.to_vec().err(), x.read().err()] {
        assert!(matches!(failed, Some(Error::Failed(_))), "{failed:?}");
    }
}

struct WaitsAtTheEnd(Runtime, std::sync::mpsc::Sender<Result<()>>);

impl Drop for WaitsAtTheEnd {
    fn drop(&mut self) {
        let _ = self.1.send(self.0.wait());
    }
}

/// The kernel ends when they are gone.
#[test]
fn what_a_kernel_captured_cannot_wait_either() {
    let (tell, told) = std::sync::mpsc::channel();
    for items in [1, 100_000] {
        let rt = cpu(1);
        let captured = WaitsAtTheEnd(rt.clone(), tell.clone());
        let event = rt.queue().unwrap().submit(|cg| {
            let captured = std::sync::Mutex::new(captured);
            cg.host_kernel([items], (), move |_, ()| {
                let _ = &captured;
            });
            Ok(())
        });
        assert!(event.unwrap().wait_timeout(Duration::from_secs(10)).unwrap());
        let answer = told.recv().unwrap();
        assert!(matches!(answer, Err(Error::WaitInKernel)), "{answer:?}");
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload panics");
    }
}

#[test]
fn a_failure_whose_payload_panics_ends_quietly() {
    let rt = cpu(1);
    let event = rt.queue().unwrap().submit(|cg| {
        cg.host_task((), |()| std::panic::panic_any(Bomb));
        Ok(())
    });
    let Err(Error::Failed(failure)) = event.unwrap().wait() else { unreachable!() };
    drop(rt);
    while Arc::strong_count(&failure) > 1 {
        std::thread::yield_now();
    }
    // This is the last one.
    drop(failure);
}

struct Unheard;

impl std::task::Wake for Unheard {
    fn wake(self: Arc<Self>) {}
}

/// Each with a waker of its own, all on one lane, behind one kernel: no look at all of them for
/// each.
#[test]
fn futures_cost_the_same_however_many_wait() {
    let rt = cpu(1);
    let q = rt.queue().unwrap();
    let (open, mut x) = (Arc::new(AtomicUsize::new(0)), rt.buffer::<u8, 1>(1000).unwrap());
    let gate = open.clone();
    let submit = |x: &mut Buffer<u8>, gate: Option<Arc<AtomicUsize>>| {
        let event = q.submit(|cg| {
            let x = cg.read_write(x);
            cg.host_kernel([1000], x, move |_, _| {
                while gate.as_ref().is_some_and(|gate| gate.load(Ordering::Relaxed) == 0) {
                    std::thread::yield_now();
                }
            });
            Ok(())
        });
        event.unwrap()
    };
    submit(&mut x, Some(gate));
    let mut events: Vec<Event> = (0..300_000).map(|_| submit(&mut x, None)).collect();
    let start = std::time::Instant::now();
    for event in &mut events {
        let waker = Arc::new(Unheard).into();
        let polled = std::pin::Pin::new(event).poll(&mut std::task::Context::from_waker(&waker));
        assert!(polled.is_pending());
    }
    let polling = start.elapsed();
    open.store(1, Ordering::Relaxed);
    rt.wait().unwrap();
    assert!(polling < Duration::from_secs(10), "{polling:?}");
}

static PANICS_WHEN_DROPPED: RawWakerVTable = RawWakerVTable::new(
    |data| RawWaker::new(data, &PANICS_WHEN_DROPPED),
    |_| {},
    |_| {},
    |_| panic!("the waker panics"),
);

/// Polls until the result is there.
fn polled<T>(future: impl Future<Output = T>) -> T {
    // SAFETY: its functions use no data.
    let waker = unsafe { Waker::new(std::ptr::null(), &PANICS_WHEN_DROPPED) };
    let waker = ManuallyDrop::new(waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

/// ERR-04, POL-03: a waker that panics when it is dropped takes no result and no storage with it.
#[test]
fn wakers_that_panic_when_dropped_take_nothing_with_them() {
    let rt = cpu(1);
    let q = rt.queue().unwrap();
    for policy in [ViewPolicy::SyncWriteback, ViewPolicy::AsyncWriteback(&q)] {
        let (mut view, back) = rt.view(64, vec![1u32; 64], policy).unwrap();
        let filled = q.fill(&mut view, 7).unwrap();
        polled(filled.clone()).unwrap();
        polled(filled).unwrap();
        drop(view);
        assert_eq!(polled(back).unwrap(), [7; 64]);
    }
    let failing = q.submit(|cg| {
        cg.host_task((), |()| Err("on purpose"));
        Ok(())
    });
    assert!(matches!(polled(failing.unwrap()), Err(Error::Failed(_))));
}

/// Adds 1 to all elements.
fn add_one(q: &Queue, x: &mut Buffer<i32>) -> Result<Event> {
    q.submit(|cg| {
        let x = cg.read_write(x);
        cg.host_kernel([8], x, |i, mut x| x[i] += 1);
        Ok(())
    })
}

/// BUF-07, POL-03: a device is lost, and another one runs kernels on what never came from there.
/// The program's memory has nothing of that when it comes back: values, or zeros.
#[test]
fn memory_that_comes_back_after_a_loss_has_nothing_of_fresh_memory() {
    let mut failed = 0;
    for at in (1..4).cycle().take(48) {
        let sim = SimBackend::builder().device(DeviceSpec::new().lose_at(at));
        let sim = sim.device(DeviceSpec::new()).peers(Link::default()).build();
        let rt = Runtime::builder().backend(sim).build().unwrap();
        let queues = [0, 1].map(|at| rt.queue_on(&rt.devices()[at]).unwrap());
        let (mut x, mut back) = rt.view(8, vec![1; 8], ViewPolicy::SyncWriteback).unwrap();
        let added = queues.iter().all(|q| add_one(q, &mut x).is_ok());
        drop(x);
        let came = match back.take() {
            Ok(came) => came,
            Err(ReclaimError { storage, .. }) => storage.unwrap(),
        };
        assert!(came.iter().all(|x| (0..4).contains(x)), "lost at {at}: {came:?}");
        failed += usize::from(added && came != [3; 8]);
        let mut data = [1; 8];
        let _ = rt.scope(|scope| {
            let mut x = scope.view_mut(&mut data)?;
            queues.iter().try_for_each(|q| add_one(q, &mut x).map(drop))
        });
        assert!(data.iter().all(|x| (0..4).contains(x)), "lost at {at}: {data:?}");
    }
    assert!(failed > 0, "no loss was met");
}

#[kernel]
fn fails_at_once(i: Item, y: Out<i32>) {
    assert!(i.index() > 8, "on purpose");
    y[i] = 1;
}

/// BUF-07, POL-03: what a launch was to overwrite as a whole is not zeroed before. If it fails, the
/// program's memory has nothing of the device's fresh memory.
#[test]
fn memory_that_was_to_be_overwritten_comes_back_without_fresh_memory() {
    for turn in 0..64 {
        let rt = Runtime::builder().backend(SimBackend::builder().build()).build().unwrap();
        let q = rt.queue_on(&rt.devices()[0]).unwrap();
        let policy = if turn % 2 == 0 { ViewPolicy::Async } else { ViewPolicy::SyncWriteback };
        let (mut x, mut back) = rt.view(8, vec![1; 8], policy).unwrap();
        // SAFETY: each launch that does not fail writes every element, and reads none.
        let all = unsafe { Overwritten::new(&mut x) };
        let failing = q.run(8, fails_at_once(all)).unwrap();
        let read = x.to_vec();
        if turn % 4 < 2 {
            failing.wait().unwrap_err();
        }
        drop(x);
        let came = match back.take() {
            Ok(came) => came,
            Err(ReclaimError { storage, .. }) => storage.unwrap(),
        };
        assert!(came.iter().all(|x| [0, 1].contains(x)), "turn {turn}: {came:?} {read:?}");
    }
}
