//! Memory that failure has spoilt: kernels that a device ran although what they read never came,
//! and chunks that were sent without having been received. Nothing of that is ever shown (BUF-07).
//! On simulated devices, of which fresh memory is never zero.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::hal::{HalErrorKind, LaneKind, Link};
use folio_core::{
    BufferOptions, Destination, Error, Event, Queue, Runtime, Shared, UsmKind, UsmPtr,
    buffer::ViewPolicy,
};
use folio_layers::{Fault, FaultHandle, Faults, OpKind, Site, Validate};
use folio_sim::{DeviceSpec, SimBackend, SimHandle};

const N: usize = 8;
/// What the kernels of these tests write where they write.
const NEW: i32 = 77;

struct Rig {
    rt: Runtime,
    sim: SimHandle,
    faults: FaultHandle,
}

impl Rig {
    fn new(links: bool, spec: DeviceSpec) -> Rig {
        let builder = SimBackend::builder().devices(2, spec);
        let builder = if links { builder.peers(Link::default()) } else { builder };
        let sim = builder.build();
        let (handle, faults) = (sim.handle(), Faults::new());
        let plan = faults.handle();
        let rt = Runtime::builder().backend(faults.over(sim)).build().unwrap();
        Rig { rt, sim: handle, faults: plan }
    }

    fn on(&self, device: usize) -> Queue {
        self.rt.queue_on(&self.rt.devices()[device]).unwrap()
    }

    /// The next call of this kind but `skipped` fails.
    fn fail_next(&self, site: Site, skipped: u64) {
        let done = self.faults.counts().get(&site).copied().unwrap_or(0);
        self.faults.inject(site, done + skipped + 1, Fault::Later(HalErrorKind::Driver));
    }

    /// A buffer of 1s, from the host.
    fn fresh(&self, page: usize) -> Shared<i32> {
        let options = BufferOptions::new().page([page]);
        self.rt.buffer_with(&[1; N], options).unwrap().into_shared()
    }

    /// One that holds 2s on the device of `q` only.
    fn there(&self, q: &Queue, page: usize) -> Shared<i32> {
        let x = self.fresh(page);
        q.submit(|cg| {
            let x = cg.read_write(&x);
            cg.host_kernel([N], x, |i, mut x| x[i] += 1);
            Ok(())
        })
        .unwrap()
        .wait()
        .unwrap();
        x
    }

    fn ends(self) {
        let fired = self.faults.fired().len();
        assert_eq!(fired, 1, "the fault did not happen");
        assert_eq!(self.sim.violations(), []);
    }
}

/// Writes what it read of `x` over all of `y`.
fn spread(q: &Queue, x: &Shared<i32>, y: &Shared<i32>) -> Event {
    q.submit(|cg| {
        let (x, y) = (cg.read(x), cg.read_write(y));
        cg.host_kernel([N], (x, y), |i, (x, mut y)| y[i] = x[i]);
        Ok(())
    })
    .unwrap()
}

/// Discards `n` elements of `y`, and writes every second one.
fn discard(q: &Queue, y: &Shared<i32>, n: usize) -> Event {
    q.submit(|cg| {
        let y = cg.discard(y.slice_mut([0], [n])?);
        cg.host_kernel([n], y, |i, mut y| {
            if i.index() % 2 == 0 {
                y.put(i, NEW);
            }
        });
        Ok(())
    })
    .unwrap()
}

/// What was left alone is zero or something earlier.
#[track_caller]
fn shows_nothing(y: &Shared<i32>, n: usize, what: &str) {
    let all = y.slice([0], [n]).unwrap().to_vec().unwrap();
    for (i, value) in all.iter().enumerate() {
        let right = if i % 2 == 0 { *value == NEW } else { (0..=2).contains(value) };
        assert!(right, "{what}: element {i} of {all:x?}");
    }
}

#[track_caller]
fn failed(event: &Event, what: &str) {
    match event.wait() {
        Err(Error::Failed(_)) => {}
        other => panic!("{what}: {other:?}"),
    }
}

fn kinds() -> Vec<(&'static str, DeviceSpec)> {
    let spec = DeviceSpec::new;
    vec![
        ("plain", spec()),
        ("no native waits", spec().wait_group(None)),
        ("one lane", spec().copy_lanes(false)),
        ("batches", spec().batch(3)),
    ]
}

/// BUF-07: a kernel ran although the copy for it had failed; another one has spread that. A discard
/// that comes when this is known, of whole pages or of a part of one, shows nothing of it.
#[test]
fn what_ran_on_memory_without_its_data_is_not_shown() {
    for (kind, spec) in kinds() {
        for page in [2, N] {
            let rig = Rig::new(false, spec.clone());
            let q = rig.on(0);
            let (x, y, z) = (rig.fresh(page), rig.there(&q, page), rig.there(&q, page));
            rig.fail_next(Site::Op(OpKind::Copy), 0);
            let (first, second) = (spread(&q, &x, &y), spread(&q, &y, &z));
            failed(&first, kind);
            failed(&second, kind);
            for (y, n) in [(&y, N), (&z, N), (&z, 4)] {
                let event = discard(&q, y, n);
                event.wait().unwrap_or_else(|e| panic!("{kind}: a discard fails with it: {e}"));
                shows_nothing(y, n, kind);
            }
            rig.ends();
        }
    }
}

/// BUF-07: the same, where the discards are submitted before anybody knows: they fail with it or
/// show nothing.
#[test]
fn what_will_have_run_on_memory_without_its_data_is_not_shown() {
    for (kind, spec) in kinds() {
        for (page, n) in [(2, N), (N, N), (N, 4)] {
            let rig = Rig::new(false, spec.clone());
            let q = rig.on(0);
            let (x, y, z) = (rig.fresh(page), rig.there(&q, page), rig.there(&q, page));
            // Somebody else's work is not touched by it.
            let other = rig.there(&q, page);
            let lane = if kind == "one lane" { LaneKind::Compute } else { LaneKind::Upload };
            rig.sim.hold(0, lane);
            rig.fail_next(Site::Op(OpKind::Copy), 0);
            let sources = [spread(&q, &x, &y), spread(&q, &y, &z)];
            let fine = discard(&q, &other, N);
            let discards = [discard(&q, &y, n), discard(&q, &z, n), discard(&q, &z, n)];
            rig.sim.release(0, lane);
            sources.iter().for_each(|event| failed(event, kind));
            fine.wait().unwrap();
            shows_nothing(&other, N, kind);
            for (event, y) in discards.iter().zip([&y, &z, &z]) {
                // A part of a page may be fine, and the rest of it poison still.
                if event.wait().is_ok() && n == N {
                    shows_nothing(y, n, kind);
                }
            }
            // Now that it is known nobody fails any more.
            for y in [&y, &z] {
                discard(&q, y, N).wait().unwrap();
                shows_nothing(y, N, kind);
            }
            rig.ends();
        }
    }
}

/// BUF-07: a command that is to write everything fails and leaves memory in which nothing was; what
/// was copied from there and spread is not shown.
#[test]
fn what_was_to_be_written_first_and_was_not_is_not_shown() {
    for links in [false, true] {
        let rig = Rig::new(links, DeviceSpec::new());
        let (a, b) = (rig.on(0), rig.on(1));
        let (x, z) = (rig.rt.buffer::<i32, 1>(N).unwrap().into_shared(), rig.there(&b, N));
        rig.sim.hold(0, LaneKind::Compute);
        rig.fail_next(Site::Op(OpKind::Fill), 0);
        let fill = a.submit(|cg| {
            cg.fill(&x, 5);
            Ok(())
        });
        let spread = spread(&b, &x, &z);
        let late = discard(&b, &z, N);
        rig.sim.release(0, LaneKind::Compute);
        failed(&fill.unwrap(), "the fill");
        failed(&spread, "the kernel");
        if late.wait().is_ok() {
            shows_nothing(&z, N, "submitted before");
        }
        discard(&b, &z, N).wait().unwrap();
        shows_nothing(&z, N, "submitted after");
        rig.ends();
    }
}

/// BUF-07: a command that is cancelled leaves what was spoilt before it as it was: spoilt.
#[test]
fn what_a_cancelled_command_leaves_is_not_shown() {
    let rig = Rig::new(false, DeviceSpec::new());
    let q = rig.on(0);
    let (x, y) = (rig.fresh(N), rig.there(&q, N));
    rig.sim.hold(0, LaneKind::Upload);
    rig.fail_next(Site::Op(OpKind::Copy), 0);
    let spread = spread(&q, &x, &y);
    let task = q.submit(|cg| {
        cg.host_task((), |()| panic!("planned"));
        Ok(())
    });
    let cancelled = q.submit(|cg| {
        cg.after(task.as_ref().unwrap()).fill(&y, 5);
        Ok(())
    });
    failed(task.as_ref().unwrap(), "the task");
    rig.sim.release(0, LaneKind::Upload);
    failed(&spread, "the kernel");
    failed(&cancelled.unwrap(), "the fill");
    discard(&q, &y, N).wait().unwrap();
    shows_nothing(&y, N, "after a cancelled fill");
    rig.ends();
}

/// ERR-02: a kernel that fails by itself spoils nothing: a discard behind it is as good as ever,
/// known or not.
#[test]
fn failure_of_ones_own_spoils_nothing() {
    let rig = Rig::new(false, DeviceSpec::new());
    let q = rig.on(0);
    let y = rig.there(&q, N);
    for known in [false, true] {
        rig.sim.hold(0, LaneKind::Compute);
        let fails = q
            .submit(|cg| {
                let y = cg.read_write(&y);
                cg.host_kernel([N], y, |_, _| panic!("planned"));
                Ok(())
            })
            .unwrap();
        if known {
            rig.sim.release(0, LaneKind::Compute);
            failed(&fails, "the kernel");
        }
        let (fills, late) = (rig.rt.counters().zero_fills, discard(&q, &y, N));
        rig.sim.release(0, LaneKind::Compute);
        late.wait().unwrap();
        assert_eq!(rig.rt.counters().zero_fills, fills, "nothing is to be zeroed");
        shows_nothing(&y, N, "after a panic");
    }
    assert_eq!(rig.sim.violations(), []);
}

/// BUF-07, XFER-05: a chunk that was not received is sent all the same: what was in its stop
/// before. That is some other chunk, and is not shown where it went.
#[test]
fn a_chunk_that_never_came_is_not_shown() {
    const CHUNK: usize = (4 << 20) / 4;
    for known in [false, true] {
        let rig = Rig::new(false, DeviceSpec::new());
        let (a, b) = (rig.on(0), rig.on(1));
        let n = 6 * CHUNK;
        let (from, to) = (rig.rt.buffer::<i32, 1>(n).unwrap(), rig.rt.buffer::<i32, 1>(n).unwrap());
        let (from, to) = (from.into_shared(), to.into_shared());
        for (q, x, more) in [(&a, &from, 1000), (&b, &to, 1)] {
            let written = q.submit(|cg| {
                let x = cg.discard(x);
                cg.host_kernel([n], x, move |i, mut x| {
                    x.put(i, more * (1 + (i.index() / CHUNK) as i32))
                });
                Ok(())
            });
            written.unwrap().wait().unwrap();
        }
        rig.sim.hold(1, LaneKind::Upload);
        // Down, up, down, up, ..: a chunk that goes where another one was.
        rig.fail_next(Site::Op(OpKind::Copy), 10);
        let copy = b.submit(|cg| {
            cg.copy(&from, &to);
            Ok(())
        });
        let copy = copy.unwrap();
        if known {
            rig.sim.release(1, LaneKind::Upload);
            failed(&copy, "the copy");
        }
        let late = discard(&b, &to, n);
        rig.sim.release(1, LaneKind::Upload);
        failed(&copy, "the copy");
        if late.wait().is_err() {
            assert!(!known, "what came later fails, too");
            discard(&b, &to, n).wait().unwrap();
        }
        let all = to.to_vec().unwrap();
        for (i, value) in all.iter().enumerate() {
            let (old, new) = (1 + (i / CHUNK) as i32, 1000 * (1 + (i / CHUNK) as i32));
            let right = if i % 2 == 0 { *value == NEW } else { [0, old, new].contains(value) };
            assert!(right, "known {known}: element {i} is {value}");
        }
        rig.ends();
    }
}

/// BUF-07, USM-02: what is beside a write by address could not be zeroed. The page cannot be shown
/// then, nor may what was written pass for never written.
#[test]
fn a_write_by_address_fails_with_the_zeros_beside_it() {
    for later in [false, true] {
        let rig = Rig::new(false, DeviceSpec::new());
        let device = rig.rt.devices()[0].clone();
        let mut x = rig.rt.buffer::<i32, 1>([N]).unwrap();
        x.pointer(&device).unwrap();
        let fault = if later { Fault::Later } else { Fault::Now };
        rig.faults.inject(Site::Op(OpKind::Fill), 1, fault(HalErrorKind::Driver));
        // SAFETY: simulated memory holds some value of every element, and nothing else uses it.
        unsafe { x.assume_written([2], [N - 2], &device).unwrap() };
        // Whether that has failed is known already, or is not.
        for _ in 0..2 {
            let read = x.to_vec();
            assert!(matches!(read, Err(Error::Failed(_))), "{read:x?}");
        }
        let x = x.into_shared();
        discard(&rig.on(0), &x, N).wait().unwrap();
        shows_nothing(&x, N, "overwritten");
        rig.ends();
    }
}

/// USM-02: memory that a kernel has spoilt is zeroed for the next command that uses it, all of it;
/// so not while a raw command is at work in another part.
#[test]
fn zeroing_waits_for_raw_commands() {
    let sim = SimBackend::builder().devices(1, DeviceSpec::new()).build();
    let (handle, faults, validate) = (sim.handle(), Faults::new(), Validate::new());
    let (plan, report) = (faults.handle(), validate.report());
    let backend = validate.over(faults.over(sim));
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let q = rt.queue().unwrap();
    let mut usm = rt.usm::<i32>(&q.device(), UsmKind::Shared, N).unwrap();
    plan.inject(Site::Op(OpKind::Copy), 1, Fault::Later(HalErrorKind::Driver));
    let x = rt.buffer_from(&[1; N]).unwrap();
    let spoils = q.submit(|cg| {
        let (x, y) = (cg.read(&x), cg.read_write(&mut usm));
        cg.host_kernel([N], (x, y), |i, (x, mut y)| y[i] = x[i]);
        Ok(())
    });
    failed(&spoils.unwrap(), "it ran on what never came");
    handle.hold(0, LaneKind::Compute);
    let half = usm.pointer().offset(2 * N).unwrap();
    let raw = q.submit(|cg| {
        // SAFETY: nobody else uses these elements.
        unsafe { cg.fill_raw(half, [N / 2], 5) };
        Ok(())
    });
    let tracked = q.submit(|cg| {
        let x = cg.discard(usm.slice_mut(0, N / 2)?);
        cg.host_kernel([N / 2], x, |i, mut x| x.put(i, NEW));
        Ok(())
    });
    handle.release(0, LaneKind::Compute);
    raw.unwrap().wait().unwrap();
    tracked.unwrap().wait().unwrap();
    rt.wait().unwrap();
    assert_eq!(rt.counters().zero_fills, 1);
    assert_eq!(report.violations(), []);
}

/// USM-02: what a raw command writes into memory that a kernel has spoilt stays: that memory is
/// zeroed before.
#[test]
fn raw_writes_of_spoilt_memory_stay() {
    let rig = Rig::new(false, DeviceSpec::new());
    let q = rig.on(0);
    let mut usm = rig.rt.usm::<i32>(&q.device(), UsmKind::Shared, N).unwrap();
    rig.fail_next(Site::Op(OpKind::Copy), 0);
    let x = rig.fresh(N);
    let spoils = q.submit(|cg| {
        let (x, y) = (cg.read(&x), cg.read_write(&mut usm));
        cg.host_kernel([N], (x, y), |i, (x, mut y)| y[i] = x[i]);
        Ok(())
    });
    failed(&spoils.unwrap(), "it ran on what never came");
    let half = usm.pointer().offset(2 * N).unwrap();
    let raw = q.submit(|cg| {
        // SAFETY: nobody else uses these elements.
        unsafe { cg.fill_raw(half, [N / 2], 5) };
        Ok(())
    });
    raw.unwrap().wait().unwrap();
    let heals = q.submit(|cg| {
        let x = cg.discard(usm.slice_mut(0, N / 2)?);
        cg.host_kernel([N / 2], x, |i, mut x| x.put(i, NEW));
        Ok(())
    });
    heals.unwrap().wait().unwrap();
    let mut out = [0i32; N / 2];
    let host = UsmPtr::of_host(&rig.rt, out.as_mut_ptr().cast(), 2 * N);
    let shown = q.submit(|cg| {
        // SAFETY: `out` lives until this is waited for, and nobody else uses it.
        unsafe { cg.copy_raw(half, host, [2 * N]) };
        Ok(())
    });
    shown.unwrap().wait().unwrap();
    assert_eq!(out, [5; N / 2]);
    rig.ends();
}

/// USM-02, BUF-07: what raw commands write between a command that spoils the memory and the news of
/// that goes with it: the memory is zeroed, and what was spoilt is not shown. Whoever comes after
/// the command by its event fails, too.
#[test]
fn raw_writes_before_a_failure_is_known_are_zeroed_with_it() {
    for by_event in [false, true] {
        let rig = Rig::new(false, DeviceSpec::new());
        let q = rig.rt.in_order_queue_on(&rig.rt.devices()[0]).unwrap();
        let mut usm = rig.rt.usm::<i32>(&q.device(), UsmKind::Shared, N).unwrap();
        let x = rig.fresh(N);
        rig.sim.hold(0, LaneKind::Upload);
        rig.fail_next(Site::Op(OpKind::Copy), 0);
        let spoils = q.submit(|cg| {
            let (x, y) = (cg.read(&x), cg.read_write(&mut usm));
            cg.host_kernel([N], (x, y), |i, (x, mut y)| y[i] = x[i]);
            Ok(())
        });
        let spoils = spoils.unwrap();
        let half = usm.pointer().offset(2 * N).unwrap();
        let raw = q.submit(|cg| {
            if by_event {
                cg.after(&spoils);
            }
            // SAFETY: after the kernel, in the queue's order, nobody else uses these elements.
            unsafe { cg.fill_raw(half, [N / 2], 5) };
            Ok(())
        });
        rig.sim.release(0, LaneKind::Upload);
        failed(&spoils, "it ran on what never came");
        let raw = raw.unwrap().wait();
        assert_eq!(raw.is_err(), by_event, "{raw:?}");
        let heals = q.submit(|cg| {
            let x = cg.discard(usm.slice_mut(0, N / 2)?);
            cg.host_kernel([N / 2], x, |i, mut x| x.put(i, NEW));
            Ok(())
        });
        heals.unwrap().wait().unwrap();
        let mut out = [1i32; N / 2];
        let host = UsmPtr::of_host(&rig.rt, out.as_mut_ptr().cast(), 2 * N);
        let shown = q.submit(|cg| {
            // SAFETY: `out` lives until this is waited for, and nobody else uses it.
            unsafe { cg.copy_raw(half, host, [2 * N]) };
            Ok(())
        });
        shown.unwrap().wait().unwrap();
        assert_eq!(out, [0; N / 2]);
        rig.ends();
    }
}

/// Aligned as links need it.
#[repr(align(4096))]
struct Aligned([i32; N]);

/// POL-03, BUF-07: a device has unmapped the memory of a view, and mapping it for the host fails
/// while nothing waits for that. It is done again when the view ends.
#[test]
fn a_view_comes_back_though_a_map_has_failed() {
    let driver = HalErrorKind::Driver;
    for fault in [Fault::Now(driver.clone()), Fault::Later(driver)] {
        let rig = Rig::new(false, DeviceSpec::new().unified(true).links(true));
        let q = rig.on(0);
        let mut room = Box::new(Aligned([1; N]));
        let (at, policy) = (room.0.as_mut_ptr(), ViewPolicy::Sync);
        // SAFETY: the view is dropped before the memory is used again, and its drop waits.
        let mut x = unsafe { rig.rt.view_raw([N], at, policy) }.unwrap();
        q.submit(|cg| {
            let x = cg.read_write(&mut x);
            cg.host_kernel([N], x, |i, mut x| x[i] += 1);
            Ok(())
        })
        .unwrap();
        rig.faults.inject(Site::Op(OpKind::Switch), 1, fault);
        let update = q.submit(|cg| {
            cg.prefetch(&x, Destination::Host);
            Ok(())
        });
        drop(x);
        assert!(update.unwrap().wait().is_err());
        assert_eq!(room.0, [2; N]);
        rig.ends();
    }
}

/// POL-02, POL-03: what a device has unmapped is mapped before a view gives its memory back, also
/// if what should be written back has failed: the host finds in it what was there, and no garbage.
#[test]
fn a_view_comes_back_mapped_though_its_contents_have_failed() {
    for policy in [ViewPolicy::Sync, ViewPolicy::SyncWriteback] {
        let rig = Rig::new(false, DeviceSpec::new().unified(true).links(true));
        let q = rig.on(0);
        let mut room = Box::new(Aligned([1; N]));
        let at = room.0.as_mut_ptr();
        // SAFETY: the view is dropped before the memory is used again, and its drop waits.
        let mut x = unsafe { rig.rt.view_raw([N], at, policy) }.unwrap();
        let fails = q.submit(|cg| {
            let x = cg.read_write(x.slice_mut(0, 2)?);
            cg.host_kernel([2], x, |_, _| panic!("on purpose"));
            Ok(())
        });
        // What has failed comes neither to another device nor to the host.
        let other = rig.on(1);
        let fill = other.submit(|cg| {
            cg.fill(x.slice_mut(4, 1)?, NEW);
            Ok(())
        });
        let read = q.submit(|cg| {
            let x = cg.read(&x);
            cg.host_task(x, |_| {});
            Ok(())
        });
        let write = q.submit(|cg| {
            let x = cg.discard(x.slice_mut(1, 2)?);
            cg.host_kernel([2], x, |i, mut x| x.put(i, NEW));
            Ok(())
        });
        drop(x);
        // The failure may have cost the contents of the page, which are zero then.
        assert!(room.0[3..].iter().all(|x| [0, 1].contains(x)), "{policy:?}: {:?}", room.0);
        for event in [fails, fill, read, write] {
            let _ = event.unwrap().wait();
        }
        drop((rig.rt, q, other));
        assert_eq!(rig.sim.violations(), []);
    }
}
