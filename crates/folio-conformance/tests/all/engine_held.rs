//! What only a simulated device can show of the engine: which operations wait for which, by holding
//! lanes; and the loss of a device.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::hal::{Backend, HalErrorKind, LaneKind, Link};
use folio_core::{
    Buffer, BufferOptions, Cause, Destination, Error, Event, Queue, Runtime, Status, UsmKind,
    memory::Advice,
};
use folio_layers::{Faults, Trace, Validate};
use folio_sim::{DeviceSpec, OpKind, SimBackend, SimHandle};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(20);

fn devices(n: usize, spec: DeviceSpec) -> (Runtime, SimHandle) {
    let backend = SimBackend::builder().devices(n, spec).peers(Link::default()).log(true).build();
    let sim = backend.handle();
    (Runtime::builder().backend(backend).build().unwrap(), sim)
}

fn on(rt: &Runtime, at: usize) -> Queue {
    rt.queue_on(&rt.devices()[at]).unwrap()
}

fn add(q: &Queue, x: &mut Buffer<i32>, value: i32) -> Event {
    let n = x.len();
    q.submit(|cg| {
        let x = cg.read_write(x);
        cg.host_kernel([n], x, move |i, mut x| x[i] += value);
        Ok(())
    })
    .unwrap()
}

fn copy(q: &Queue, x: &Buffer<i32>, y: &mut Buffer<i32>) -> Event {
    let n = x.len();
    q.submit(|cg| {
        let (x, y) = (cg.read(x), cg.discard(y));
        cg.host_kernel([n], (x, y), |i, (x, mut y)| y.put(i, x[i]));
        Ok(())
    })
    .unwrap()
}

/// MEM-01: a budget that changes is told to the device, if it is open, by way of layers too.
#[test]
fn devices_are_told_of_their_budgets() {
    let sim = SimBackend::builder().devices(2, DeviceSpec::new()).build();
    let handle = sim.handle();
    let layers = Validate::new().over(Trace::new().over(Faults::new().over(sim)));
    let backend: Arc<dyn Backend> = Arc::new(layers);
    let rt = Runtime::builder().shared_backend(backend).build().unwrap();
    let q = on(&rt, 0);
    add(&q, &mut rt.buffer::<i32, 1>(16).unwrap(), 1).wait().unwrap();
    let tells = |at: usize| {
        let before = handle.counters().trims;
        rt.devices()[at].set_budget(1 << 20);
        handle.counters().trims - before
    };
    assert_eq!((tells(0), tells(1)), (1, 0));
    add(&on(&rt, 1), &mut rt.buffer::<i32, 1>(16).unwrap(), 1).wait().unwrap();
    assert_eq!((tells(0), tells(1)), (1, 1));
}

/// XFER-03, DEP-01, DEP-03: two readers of one page on different lanes, the copy slow: one copy,
/// and neither reader waits for the other.
#[test]
fn two_readers_share_one_slow_copy() {
    let (rt, sim) = devices(1, DeviceSpec::new());
    let (a, b) = (on(&rt, 0), on(&rt, 0));
    let x = rt.buffer_from(&[7; 16]).unwrap();
    let mut first = rt.buffer::<i32, 1>(16).unwrap();
    let mut second = rt.buffer::<i32, 1>(16).unwrap();
    sim.hold(0, LaneKind::Upload);
    let one = copy(&a, &x, &mut first);
    let two = copy(&b, &x, &mut second);
    assert!(!one.wait_timeout(SHORT).unwrap() && !two.wait_timeout(SHORT).unwrap());
    assert_eq!(x.counters().host_to_device.operations, 1);
    sim.release(0, LaneKind::Upload);
    two.wait().unwrap();
    one.wait().unwrap();
    assert_eq!((first.to_vec().unwrap(), second.to_vec().unwrap()), (vec![7; 16], vec![7; 16]));
    assert_eq!(sim.counters().uploaded, 64);
    assert_eq!(sim.violations(), []);
}

/// XFER-03, DEP-03: the copy was made for the first reader, which has to wait for a host task; the
/// second one waits for the copy only.
#[test]
fn a_reader_does_not_wait_for_the_one_that_had_the_copy_made() {
    let (rt, sim) = devices(1, DeviceSpec::new());
    let (a, b) = (on(&rt, 0), on(&rt, 0));
    let x = rt.buffer_from(&[7; 16]).unwrap();
    let mut first = rt.buffer::<i32, 1>(16).unwrap();
    let mut second = rt.buffer::<i32, 1>(16).unwrap();
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let task = a.submit(|cg| {
        cg.host_task((), move |()| {
            let _ = gate.recv();
        });
        Ok(())
    });
    let task = task.unwrap();
    sim.hold(0, LaneKind::Upload);
    let one = a.submit(|cg| {
        let (x, y) = (cg.read(&x), cg.discard(&mut first));
        cg.after(&task).host_kernel([16], (x, y), |i, (x, mut y)| y.put(i, x[i]));
        Ok(())
    });
    let one = one.unwrap();
    let two = copy(&b, &x, &mut second);
    assert!(!two.wait_timeout(SHORT).unwrap(), "did not wait for the copy");
    sim.release(0, LaneKind::Upload);
    assert!(two.wait_timeout(LONG).unwrap(), "waits for the first reader");
    assert!(matches!(one.status(), Status::Pending));
    drop(open);
    assert_eq!((first.to_vec().unwrap(), second.to_vec().unwrap()), (vec![7; 16], vec![7; 16]));
    assert_eq!(x.counters().host_to_device.operations, 1);
    assert_eq!(sim.violations(), []);
}

/// USM-02: hints reach a device that takes them, in order and with their bytes.
#[test]
fn hints_reach_the_device() {
    let (rt, sim) = devices(1, DeviceSpec::new());
    let device = rt.devices().remove(0);
    let q = rt.in_order_queue_on(&device).unwrap();
    let mut usm = rt.usm::<u32>(&device, UsmKind::Shared, 100).unwrap();
    q.submit(|cg| {
        cg.fill(&mut usm, 1);
        Ok(())
    })
    .unwrap();
    q.submit(|cg| {
        cg.prefetch(usm.slice(10, 20)?, Destination::Device);
        Ok(())
    })
    .unwrap();
    q.submit(|cg| {
        // SAFETY: it is an allocation of the runtime.
        unsafe { cg.advise_raw(usm.pointer(), 12, Advice::ReadMostly) };
        Ok(())
    })
    .unwrap();
    q.wait().unwrap();
    let hints: Vec<u64> =
        sim.log().iter().filter(|e| e.op == OpKind::Hint).map(|e| e.amount).collect();
    assert_eq!((hints, sim.counters().hints), (vec![80, 12], 2));
    assert_eq!(sim.violations(), []);
}

/// DEP-03: while copies to the device are held, kernels that need none of them run.
#[test]
fn a_slow_copy_delays_its_readers_only() {
    let (rt, sim) = devices(1, DeviceSpec::new());
    let q = on(&rt, 0);
    let x = rt.buffer_from(&[7; 16]).unwrap();
    let mut y = rt.buffer::<i32, 1>(16).unwrap();
    let mut other = rt.buffer::<i32, 1>(16).unwrap();
    sim.hold(0, LaneKind::Upload);
    let waiting = copy(&q, &x, &mut y);
    for _ in 0..10 {
        assert!(
            add(&q, &mut other, 1).wait_timeout(LONG).unwrap(),
            "waits for a copy of other data"
        );
    }
    assert!(matches!(waiting.status(), Status::Pending));
    sim.release(0, LaneKind::Upload);
    waiting.wait().unwrap();
    assert_eq!(other.to_vec().unwrap(), [10; 16]);
}

/// DEP-01, DEP-03, PAGE-02: each of four kernels on four pages ends while the other three wait for
/// their data: no dependency between any two.
#[test]
fn four_pages_need_no_order() {
    let corners = [
        ([0, 0], [512, 512]),
        ([0, 512], [512, 488]),
        ([512, 0], [488, 512]),
        ([512, 512], [488, 488]),
    ];
    for free in 0..4 {
        let (rt, sim) = devices(1, DeviceSpec::new());
        let q = on(&rt, 0);
        let options = BufferOptions::new().page([512, 512]);
        let mut x = rt.buffer_with::<i32, 2>([1000, 1000], options).unwrap();
        let blockers: Vec<_> = (0..4).map(|_| rt.buffer_from(&[1]).unwrap()).collect();
        sim.hold(0, LaneKind::Upload);
        let mut events = Vec::new();
        for (n, (at, extent)) in corners.into_iter().enumerate() {
            let event = q.submit(|cg| {
                // All but one need something that does not arrive.
                if n != free {
                    cg.update_later(&blockers[n]);
                }
                let x = cg.discard(x.slice_mut(at, extent)?);
                cg.host_kernel(extent, x, move |i, mut x| x.put(i, n as i32 + 1));
                Ok(())
            });
            events.push(event.unwrap());
        }
        assert!(events[free].wait_timeout(LONG).unwrap(), "kernel {free} waits for another one");
        for (n, event) in events.iter().enumerate().filter(|(n, _)| *n != free) {
            assert!(matches!(event.status(), Status::Pending), "{n}");
        }
        sim.release(0, LaneKind::Upload);
        let all = x.to_vec().unwrap();
        assert_eq!((all[0], all[999], all[999_000], all[999_999]), (1, 2, 3, 4));
        let moved = x.counters().device_to_host;
        assert_eq!((moved.operations, moved.pages), (1, 4));
    }
}

trait NeedsMore {
    fn update_later(&mut self, x: &Buffer<i32>);
}

impl NeedsMore for folio_core::CommandGroup {
    /// One more access, which the kernel does not look at.
    fn update_later(&mut self, x: &Buffer<i32>) {
        let _ = self.read(x);
    }
}

/// ERR-04: waits end, other devices live on, what is elsewhere too survives, what was there only is
/// an error until it is overwritten.
#[test]
fn a_lost_device_takes_only_its_own() {
    let (rt, sim) = devices(2, DeviceSpec::new());
    let (a, b) = (on(&rt, 0), on(&rt, 1));
    let mut only = rt.buffer_from(&[1; 8]).unwrap();
    let mut both = rt.buffer_from(&[1; 8]).unwrap();
    let elsewhere = rt.buffer_from(&[5; 8]).unwrap();
    let mut sink = rt.buffer::<i32, 1>(8).unwrap();
    add(&a, &mut only, 1).wait().unwrap();
    add(&a, &mut both, 1).wait().unwrap();
    assert_eq!(both.to_vec().unwrap(), [2; 8]);
    copy(&a, &elsewhere, &mut sink).wait().unwrap();
    sim.hold(0, LaneKind::Compute);
    let mut pending = rt.buffer_from(&[1; 8]).unwrap();
    let hangs = add(&a, &mut pending, 1);
    let start = Instant::now();
    let waiter = std::thread::spawn({
        let hangs = hangs.clone();
        move || hangs.wait()
    });
    std::thread::sleep(SHORT);
    sim.lose(0);
    let lost = |result: Result<(), Error>| match result {
        Err(Error::Failed(f)) => match f.cause() {
            Cause::Backend(e) => assert!(matches!(e.kind, HalErrorKind::Lost), "{f}"),
            Cause::DataLost => {}
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    };
    lost(waiter.join().unwrap());
    assert!(start.elapsed() < Duration::from_secs(5), "the wait did not return soon");
    lost(a.wait());
    lost(pending.to_vec().map(|_| ()));
    // Work on the other device goes on, with what survives.
    assert_eq!(both.to_vec().unwrap(), [2; 8]);
    add(&b, &mut both, 1).wait().unwrap();
    assert_eq!((both.to_vec().unwrap(), elsewhere.to_vec().unwrap()), (vec![3; 8], vec![5; 8]));
    // What was there only.
    lost(only.to_vec().map(|_| ()));
    lost(add(&b, &mut only, 1).wait());
    b.submit(|cg| {
        cg.fill(&mut only, 4);
        Ok(())
    })
    .unwrap();
    assert_eq!(only.to_vec().unwrap(), [4; 8]);
    // The device itself refuses.
    let mut fresh = rt.buffer_from(&[1; 8]).unwrap();
    let refused = a.submit(|cg| {
        let x = cg.read_write(&mut fresh);
        cg.host_kernel([8], x, |i, mut x| x[i] += 1);
        Ok(())
    });
    if let Ok(event) = refused {
        lost(event.wait());
    }
    rt.shutdown(LONG).unwrap();
}

/// ERR-04: an idle device is lost, and nobody was waiting.
#[test]
fn a_device_lost_while_idle_is_noticed() {
    let (rt, sim) = devices(2, DeviceSpec::new());
    let (a, b) = (on(&rt, 0), on(&rt, 1));
    let mut only = rt.buffer_from(&[1; 8]).unwrap();
    add(&a, &mut only, 1).wait().unwrap();
    sim.lose(0);
    assert!(only.to_vec().is_err(), "data of a lost device");
    assert!(add(&b, &mut only, 1).wait().is_err(), "data of a lost device");
    assert!(rt.wait().is_ok());
}
