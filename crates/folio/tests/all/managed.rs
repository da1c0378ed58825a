//! Managed pointers over simulated devices that are held and lost, and in the hands of threads.
//! MPTR-03, MPTR-04, MPTR-07
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::hal::{LaneKind, MemoryHome};
use folio::managed::{Channel, Stream};
use folio::prelude::*;
use folio::{
    Cause, Status,
    managed::{Executor, ManagedPtr},
};
use folio_sim::{DeviceSpec, SimBackend, SimHandle};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const N: usize = 64;

fn simulated(devices: usize) -> (Runtime, SimHandle) {
    let sim = SimBackend::builder().devices(devices, DeviceSpec::new()).build();
    let handle = sim.handle();
    (Runtime::builder().backend(sim).build().unwrap(), handle)
}

/// Adds to all elements, in a closure.
fn add(executor: &Executor, x: &ManagedPtr<i32>, n: i32) -> folio::managed::ManagedFuture {
    executor.submit(|cg| {
        let all = [x.len()];
        let x = cg.read_write(x);
        cg.host_kernel(all, x, move |i, mut x| x[i] += n);
        Ok(())
    })
}

/// MPTR-04: a move that fails under way, since its executor is gone.
#[test]
fn a_lost_device_gives_an_error_and_the_data_is_on_the_host() {
    let (rt, sim) = simulated(2);
    let (gone, other) = (rt.executor("sim:0").unwrap(), rt.executor("sim:1").unwrap());
    let x = rt.managed_from(vec![3; N]).unwrap();
    sim.hold(0, LaneKind::Upload);
    let put = gone.put(&x);
    let chain = put.clone().then_get(&gone, &x);
    assert!(matches!(put.event().unwrap().status(), Status::Pending));
    assert!(!x.is_accessible() && matches!(x.read(), Err(Error::Inaccessible { .. })));
    sim.lose(0);
    assert!(matches!(put.wait(), Err(Error::Failed(_))), "{put:?}");
    assert!(chain.wait().is_err());
    assert!(x.is_accessible(), "a failed move leaves it where it was");
    assert_eq!(x.read().unwrap()[..], [3; N]);
    // The executor is gone, the pointer is not.
    assert!(gone.put(&x).wait().is_err());
    assert!(add(&gone, &x, 1).wait().is_err());
    assert_eq!(x.to_vec().unwrap(), [3; N]);
    other.put(&x).then_get(&other, &x).wait().unwrap();
    assert_eq!(x.to_vec().unwrap(), [3; N]);
}

/// MPTR-04: the only copy goes with its device; a copy that the host has does not.
#[test]
fn get_from_a_lost_device_says_whether_the_data_is_lost() {
    let (rt, sim) = simulated(1);
    let gone = rt.executor("sim:0").unwrap();
    let [kept, lost] = [1, 2].map(|n| rt.managed_from(vec![n; N]).unwrap());
    gone.put(&kept).wait().unwrap();
    add(&gone, &lost, 5).wait().unwrap();
    sim.lose(0);
    assert!(matches!(lost.get().wait(), Err(Error::Failed(_))));
    match lost.get().wait() {
        Err(Error::Failed(failure)) => {
            assert!(matches!(failure.cause(), Cause::DataLost), "{failure}")
        }
        other => panic!("{other:?}"),
    }
    assert!(!lost.is_accessible() && lost.is_accessible_on(&gone), "it stayed where it was");
    kept.get().wait().unwrap();
    assert_eq!(kept.to_vec().unwrap(), [1; N]);
}

/// MPTR-04: a future that is dropped half-way goes on, and so do those that follow.
#[test]
fn futures_dropped_half_way_go_on() {
    let (rt, sim) = simulated(1);
    let gpu = rt.executor("sim:0").unwrap();
    let x = rt.managed_from(vec![1; N]).unwrap();
    for kind in [LaneKind::Upload, LaneKind::Compute, LaneKind::Download] {
        sim.hold(0, kind);
        drop(add(&gpu, &x, 1).then_get(&gpu, &x));
        assert!(!x.is_accessible(), "held before its end");
        sim.release(0, kind);
        x.get().wait().unwrap();
        assert!(x.is_accessible());
    }
    assert_eq!(x.to_vec().unwrap(), [4; N]);
    // The pointer, too.
    sim.hold(0, LaneKind::Upload);
    drop(add(&gpu, &x, 1));
    drop(x);
    sim.release(0, LaneKind::Upload);
    rt.wait().unwrap();
    drop((gpu, rt));
    assert_eq!(sim.violations(), []);
}

/// MPTR-04: a task after a failure that is known does not make unknown what it would have written.
#[test]
fn tasks_after_known_failures_leave_the_data() {
    let (rt, _sim) = simulated(1);
    let (gpu, host) = (rt.executor("sim:0").unwrap(), rt.host_executor().unwrap());
    let x = rt.managed_from(vec![1; N]).unwrap();
    let failed = host.run((), |()| Err::<(), _>("on purpose"));
    assert!(failed.wait().is_err());
    let task = failed.then_host(&host, &x, |mut x| x[0] = 9);
    let next = task.clone().then_put(&gpu, &x);
    for refused in [task.event(), next.event()] {
        assert!(matches!(refused, Err(Error::Failed(_))), "{refused:?}");
    }
    assert_eq!(x.to_vec().unwrap(), [1; N]);
}

/// MPTR-03: a move that was overtaken does not count any more.
#[test]
fn the_latest_move_counts() {
    let (rt, sim) = simulated(2);
    let [a, b] = ["sim:0", "sim:1"].map(|name| rt.executor(name).unwrap());
    let x = rt.managed_from(vec![1; N]).unwrap();
    sim.hold(0, LaneKind::Upload);
    let slow = a.put(&x);
    b.put(&x).wait().unwrap();
    assert!(x.is_accessible_on(&b) && !x.is_accessible_on(&a) && !x.is_accessible());
    x.get().wait().unwrap();
    assert!(x.is_accessible() && !slow.is_done());
    sim.release(0, LaneKind::Upload);
    slow.wait().unwrap();
    assert!(x.is_accessible() && !x.is_accessible_on(&a), "a move that ends late");
}

/// MPTR-06: chunks of a stream are on their way while the stream reads the next one.
#[test]
fn chunks_of_streams_overlap() {
    let (rt, sim) = simulated(1);
    let gpu = rt.executor("sim:0").unwrap();
    let options = BufferOptions::new().page([16]);
    let x = rt.managed_with::<u8>(64, options).unwrap();
    // A reader, and how many chunks were under way at each read.
    struct Watched<'s>(&'s SimHandle, Vec<usize>);
    impl std::io::Read for Watched<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
            self.1.push(self.0.pending(0));
            bytes.fill(self.1.len() as u8);
            Ok(bytes.len())
        }
    }
    sim.hold(0, LaneKind::Upload);
    let mut watched = Watched(&sim, Vec::new());
    std::thread::scope(|scope| {
        let released = scope.spawn(|| {
            // Two chunks are on their way, and the third waits.
            while sim.pending(0) < 2 {
                std::thread::yield_now();
            }
            sim.release(0, LaneKind::Upload);
        });
        Channel::new(Stream(&mut watched), &gpu).chunk_bytes(16).send(&x).wait().unwrap();
        released.join().unwrap();
    });
    assert_eq!(watched.1.len(), 4);
    assert_eq!(watched.1[..2], [0, 1], "the second was read while the first was on its way");
    x.get().wait().unwrap();
    assert_eq!(x.to_vec().unwrap(), [1, 2, 3, 4].map(|n| [n; 16]).concat());
    assert_eq!(sim.violations(), []);
}

/// MPTR-01, MPTR-02: one pointer, many threads: nothing is lost, and nothing hangs.
#[test]
fn threads_share_a_pointer() {
    const EACH: i32 = 200;
    for home in [None, Some(MemoryHome::Host)] {
        let spec = || home.map_or(DeviceSpec::new(), |home| DeviceSpec::new().home(home));
        let sim = SimBackend::builder().device(DeviceSpec::new()).device(spec()).build();
        let rt = Runtime::builder().backend(sim).build().unwrap();
        let x = rt.managed_from(vec![0; N]).unwrap();
        std::thread::scope(|scope| {
            for at in 0..4 {
                let (x, rt) = (x.clone(), &rt);
                scope.spawn(move || {
                    let gpu = rt.executor(&rt.devices()[at % 2]).unwrap();
                    let host = rt.host_executor().unwrap();
                    for n in 0..EACH {
                        // Another thread's guard may hold it.
                        let added = || match n % 3 {
                            0 => host.run(&x, |mut x| x.iter_mut().for_each(|v| *v += 1)),
                            _ => add(&gpu, &x, 1),
                        };
                        while let Err(error) = added().event().map(drop) {
                            assert!(matches!(error, Error::HostAccessHeld { .. }), "{error}");
                        }
                        drop(x.get());
                        match x.read() {
                            Ok(seen) => assert!(seen.iter().all(|v| *v == seen[0]), "torn"),
                            Err(Error::Inaccessible { .. } | Error::HostAccessHeld { .. }) => {}
                            Err(other) => panic!("{other}"),
                        }
                    }
                });
            }
        });
        rt.wait().unwrap();
        x.get().wait().unwrap();
        assert_eq!(x.to_vec().unwrap(), [4 * EACH; N]);
    }
}

/// MPTR-03: kernels, and the handler of failures, may ask where a pointer is.
#[test]
fn code_that_the_engine_calls_may_ask() {
    let asked = Arc::new(AtomicUsize::new(0));
    let pointer: Arc<Mutex<Option<ManagedPtr<i32>>>> = Arc::default();
    let (count, of) = (asked.clone(), pointer.clone());
    let ask = move || {
        if let Some(x) = of.lock().unwrap().clone() {
            let _ = (x.is_accessible(), x.to_vec());
            count.fetch_add(1, Ordering::Relaxed);
        }
    };
    let in_handler = ask.clone();
    let cpu = folio::cpu::CpuBackend::builder().domains(2).threads(1).build().unwrap();
    let rt = Runtime::builder().backend(cpu).on_failure(move |_| in_handler()).build().unwrap();
    let gpu = rt.executor("cpu:1").unwrap();
    let x = rt.managed_from(vec![1; N]).unwrap();
    *pointer.lock().unwrap() = Some(x.clone());
    for fails in [false, true] {
        let (ask, x) = (ask.clone(), x.clone());
        let ran = gpu.submit(|cg| {
            let y = cg.read_write(&x);
            cg.host_kernel([1], y, move |i, mut y| {
                ask();
                assert!(!fails, "on purpose");
                y[i] = 2;
            });
            Ok(())
        });
        assert_eq!(ran.wait().is_err(), fails);
    }
    pointer.lock().unwrap().take();
    assert!(asked.load(Ordering::Relaxed) >= 3, "two kernels, and the handler");
}

/// MPTR-01, GRAPH-08: what a block is to write to a managed pointer is not read before it has run.
#[test]
fn a_block_is_not_read_by_a_managed_pointer_either() {
    let cpu = folio::cpu::CpuBackend::builder().domains(1).build().unwrap();
    let rt = Runtime::builder().backend(cpu).build().unwrap();
    let q = rt.queue().unwrap();
    let x = rt.managed_from(vec![1; N]).unwrap();
    let refused = |error: Error| match error {
        Error::Graph { why, .. } => matches!(*why, folio::error::GraphError::NotRunYet { .. }),
        _ => false,
    };
    let ((), event) = q
        .batch(|q| {
            q.submit(|cg| {
                let x = cg.read_write(&x);
                cg.host_kernel(N, x, |i, mut x| x[i] += 1);
                Ok(())
            })?;
            assert!(refused(x.read().unwrap_err()) && refused(x.to_vec().unwrap_err()));
            assert!(refused(x.write().unwrap_err()));
            Ok(())
        })
        .unwrap();
    event.wait().unwrap();
    assert_eq!(x.to_vec().unwrap(), [2; N]);
}
