//! What belongs to the user and goes at a moment that the user does not choose: captures, panics'
//! payloads, wakers. The engine lets go of them without any lock, so that they may use the runtime,
//! down to the queue on which they were. On simulated devices with planned faults.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::hal::{HalErrorKind, LaneKind};
use folio_core::{Error, Event, Queue, Runtime, Status};
use folio_layers::{Fault, FaultHandle, Faults, OpKind, Site};
use folio_sim::{DeviceSpec, SimBackend, SimHandle};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;

struct Rig {
    rt: Runtime,
    q: Queue,
    sim: SimHandle,
    faults: FaultHandle,
    later: Later,
}

/// Submits a kernel to a queue, and remembers its event.
#[derive(Clone)]
struct Later(Queue, Arc<Mutex<Vec<Event>>>);

impl Later {
    fn submit(&self) {
        let event = self.0.submit(|cg| {
            cg.host_kernel([1], (), |_, ()| {});
            Ok(())
        });
        self.1.lock().unwrap().push(event.unwrap());
    }

    /// All that were submitted ended well.
    fn finish(&self, count: usize) {
        let events = std::mem::take(&mut *self.1.lock().unwrap());
        assert_eq!(events.len(), count, "drops that submitted");
        events.iter().for_each(|event| event.wait().unwrap());
    }
}

/// Submits when it goes.
struct Goes(Later);

impl Drop for Goes {
    fn drop(&mut self) {
        self.0.submit();
    }
}

fn rig(spec: DeviceSpec) -> Rig {
    let backend = SimBackend::builder().device(spec).build();
    let (sim, faults) = (backend.handle(), Faults::new());
    let plan = faults.handle();
    let rt = Runtime::builder().backend(faults.over(backend)).build().unwrap();
    // In order, so that one command after another is on the same lane.
    let q = rt.in_order_queue_on(&rt.devices()[0]).unwrap();
    let later = Later(q.clone(), Arc::default());
    Rig { rt, q, sim, faults: plan, later }
}

/// A hang is a failure.
fn ends(f: impl FnOnce() + Send + 'static) {
    let (tell, told) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        f();
        // Nobody listens any more if this took too long.
        let _ = tell.send(());
    });
    match told.recv_timeout(Duration::from_secs(20)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("hangs"),
        _ => thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload)),
    }
}

fn failure(event: &Event) -> Arc<folio_core::Failure> {
    match event.wait() {
        Err(Error::Failed(failure)) => failure,
        other => panic!("{other:?}"),
    }
}

/// A kernel that holds `held` and does nothing.
fn hold<T: Send + Sync + 'static>(q: &Queue, held: T) -> Event {
    q.submit(|cg| {
        cg.host_kernel([1], (), move |_, ()| {
            let _ = &held;
        });
        Ok(())
    })
    .unwrap()
}

/// ERR-01: a kernel that its backend refuses has a capture that submits to the same queue.
#[test]
fn captures_of_a_refused_kernel_may_submit() {
    ends(|| {
        let rig = rig(DeviceSpec::new());
        for at in [1, 3] {
            rig.faults.inject(Site::Op(OpKind::Launch), at, Fault::Now(HalErrorKind::Driver));
        }
        for _ in 0..2 {
            assert_eq!(failure(&hold(&rig.q, Goes(rig.later.clone()))).what(), "kernel");
        }
        // The second and the fourth launch are those of the captures.
        rig.later.finish(2);
        assert_eq!(rig.faults.counts()[&Site::Op(OpKind::Launch)], 4);
        assert_eq!(rig.sim.violations(), []);
    });
}

/// ERR-01: they may panic, too; the failure is that of the launch.
#[test]
fn captures_of_a_refused_kernel_may_panic() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("in a drop"));
        }
    }
    ends(|| {
        let rig = rig(DeviceSpec::new());
        rig.faults.inject(Site::Op(OpKind::Launch), 1, Fault::Now(HalErrorKind::Driver));
        assert!(failure(&hold(&rig.q, Panics)).to_string().contains("injected"));
        hold(&rig.q, ()).wait().unwrap();
    });
}

/// ERR-04: kernels that go with their device.
#[test]
fn captures_on_a_lost_device_may_submit() {
    ends(|| {
        let rig = rig(DeviceSpec::new());
        rig.sim.hold(0, LaneKind::Compute);
        let event = hold(&rig.q, Goes(rig.later.clone()));
        rig.sim.lose(0);
        failure(&event);
        let events = std::mem::take(&mut *rig.later.1.lock().unwrap());
        assert_eq!(events.len(), 1);
        failure(&events[0]);
    });
}

/// ERR-03: the payload of a panic goes where nobody asked for it: with its queue, with the failures
/// that are forgotten, and where the command had failed before.
#[test]
fn payloads_of_panics_may_submit() {
    ends(|| {
        let rig = rig(DeviceSpec::new());
        let panics = |q: &Queue, goes: Later| {
            q.submit(|cg| {
                cg.host_kernel([1], (), move |_, ()| {
                    std::panic::resume_unwind(Box::new(Goes(goes.clone())));
                });
                Ok(())
            })
            .unwrap()
        };
        // Enough of them that the ledger forgets the oldest.
        let n = 67_000;
        let other = rig.rt.queue_on(&rig.rt.devices()[0]).unwrap();
        for _ in 0..n {
            failure(&panics(&other, rig.later.clone()));
        }
        drop(other);
        // One that runs although its input never came, so that its own failure is not told.
        let mut x = rig.rt.buffer_from(&[1i32; 8]).unwrap();
        let done = rig.faults.counts().get(&Site::Op(OpKind::Copy)).copied().unwrap_or(0);
        rig.faults.inject(Site::Op(OpKind::Copy), done + 1, Fault::Later(HalErrorKind::Driver));
        let goes = rig.later.clone();
        let event = rig.q.submit(|cg| {
            let x = cg.read_write(&mut x);
            cg.host_kernel([1], x, move |_, _| {
                std::panic::resume_unwind(Box::new(Goes(goes.clone())));
            });
            Ok(())
        });
        assert!(failure(&event.unwrap()).to_string().contains("injected"));
        let gone = rig.later.1.lock().unwrap().len();
        assert!(gone > 1_000, "{gone} payloads of {n} went");
        rig.later.finish(gone);
    });
}

/// Making and dropping a waker is the user's, too.
#[test]
fn wakers_may_submit() {
    static TABLE: RawWakerVTable = RawWakerVTable::new(
        |data| {
            // SAFETY: all data of this table are such pointers, alive for the length of the test.
            let (later, made) = unsafe { &*data.cast::<(Later, AtomicUsize)>() };
            made.fetch_add(1, Ordering::Relaxed);
            later.submit();
            RawWaker::new(data, &TABLE)
        },
        |_| {},
        |_| {},
        |data| {
            // SAFETY: as above.
            unsafe { &*data.cast::<(Later, AtomicUsize)>() }.0.submit();
        },
    );
    ends(|| {
        let rig = rig(DeviceSpec::new());
        rig.sim.hold(0, LaneKind::Compute);
        let data = (rig.later.clone(), AtomicUsize::new(0));
        let mut event = hold(&rig.q, ());
        // SAFETY: the table keeps the contract of a waker, for as long as `data` lives.
        let waker = unsafe { Waker::new(std::ptr::from_ref(&data).cast(), &TABLE) };
        let mut poll = || Pin::new(&mut event).poll(&mut Context::from_waker(&waker));
        assert!(poll().is_pending() && poll().is_pending());
        assert_eq!(data.1.load(Ordering::Relaxed), 2);
        rig.sim.release(0, LaneKind::Compute);
        event.wait().unwrap();
        assert!(matches!(event.status(), Status::Done));
        drop(waker);
        let submitted = rig.later.1.lock().unwrap().len();
        assert!(submitted >= 3, "{submitted}");
        rig.later.finish(submitted);
    });
}
