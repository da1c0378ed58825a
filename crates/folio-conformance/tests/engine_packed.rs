//! Transfers of thin rows between simulated devices on which rows are said to be dear, or not.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::hal::{Backend, HalErrorKind, LaneKind, Link, MemoryHome};
use folio_core::{Buffer, BufferOptions, Error, Event, Queue, Runtime};
use folio_layers::{Fault, FaultHandle, Faults, Layer, Report, Site, Validate};
use folio_sim::{DeviceSpec, OpKind, SimBackend, SimHandle};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(20);
const ROWS: usize = 64;
const COLUMNS: usize = 32;
/// What a column of pages has: 64 rows of 16 bytes.
const COLUMN: u64 = 64 * 16;
/// The least bytes of a temporary.
const TEMPORARY: u64 = 64 << 10;

fn dear(row_ns: u64) -> Link {
    Link { row_ns, ..Link::default() }
}

/// How two devices reach each other, and who computes in the host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    peers: bool,
    host: bool,
    copy_lanes: bool,
    waits: bool,
}

const PLAIN: Kind = Kind { peers: true, host: true, copy_lanes: true, waits: true };

fn kinds() -> impl Iterator<Item = Kind> {
    (0..16).map(|n| Kind {
        peers: n & 1 == 0,
        host: n & 2 == 0,
        copy_lanes: n & 4 == 0,
        waits: n & 8 == 0,
    })
}

/// `sim:1` and `sim:2` have their own memory; `sim:0` computes in the host's, if anybody does.
struct Rig {
    rt: Runtime,
    sim: SimHandle,
    faults: FaultHandle,
    report: Report,
    a: Queue,
    b: Queue,
}

impl Rig {
    fn new(kind: Kind, row_ns: u64) -> Rig {
        let spec = DeviceSpec::new().host_link(dear(row_ns)).copy_lanes(kind.copy_lanes);
        let spec = spec.wait_group(kind.waits.then_some(0));
        let sim = SimBackend::builder()
            .device(spec.clone().home(MemoryHome::Host))
            .devices(2, spec)
            .log(true);
        let sim = if kind.peers { sim.peers(dear(row_ns)) } else { sim }.build();
        let (handle, faults, validate) = (sim.handle(), Faults::new(), Validate::new());
        let (plan, report) = (faults.handle(), validate.report());
        let backend: Arc<dyn Backend> = Arc::new(faults.over(sim));
        let backend: Arc<dyn Backend> = Arc::new(Layer::new(validate, backend));
        let rt = Runtime::builder().shared_backend(backend).build().unwrap();
        let on = |at: usize| rt.queue_on(&rt.devices()[at]).unwrap();
        let (a, b) = (on(1), on(2));
        if kind.host {
            let mut x = rt.buffer::<i32>(1).unwrap();
            on(0)
                .submit(|cg| {
                    cg.fill(&mut x, 1);
                    Ok(())
                })
                .unwrap()
                .wait()
                .unwrap();
        }
        Rig { rt, sim: handle, faults: plan, report, a, b }
    }

    /// Columns of pages, defined everywhere and current on `sim:1` only, as far as `written` says.
    fn data(&self, written: &[usize]) -> Buffer<i32, 2> {
        let options = BufferOptions::new().page([ROWS, 4]);
        let mut x = self.rt.buffer_from_with(&[-1; ROWS * COLUMNS], [ROWS, COLUMNS], options);
        let x = x.as_mut().unwrap();
        for q in [&self.a, &self.b] {
            update(q, x).wait().unwrap();
        }
        for column in written {
            let part = x.slice_mut([0, 4 * column], [ROWS, 4]).unwrap();
            let write = self.a.submit(|cg| {
                let part = cg.discard(part);
                cg.host_kernel([ROWS, 4], part, |i, mut x| {
                    let [row, column] = i.position();
                    x.put(i, value(row, column));
                });
                Ok(())
            });
            write.unwrap();
        }
        self.a.wait().unwrap();
        std::mem::replace(x, self.rt.buffer_with([0, 0], BufferOptions::new()).unwrap())
    }

    /// Nothing of the contract was broken.
    #[track_caller]
    fn is_clean(&self, what: &str) {
        assert_eq!(self.sim.violations(), [], "{what}");
        assert!(self.report.is_silent(), "{what}: {:?}", self.report);
    }

    /// What is allocated in the memory of a device.
    fn in_use(&self, at: usize) -> u64 {
        self.rt.devices()[at].budget().1
    }

    #[track_caller]
    fn eventually(&self, what: &str, fine: impl Fn(&Rig) -> bool) {
        let start = Instant::now();
        while !fine(self) {
            assert!(start.elapsed() < LONG, "{what}: {:?}", self.sim.live_labels());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn value(row: usize, column: usize) -> i32 {
    (100 * row + column) as i32
}

fn update(q: &Queue, x: &Buffer<i32, 2>) -> Event {
    q.submit(|cg| {
        cg.update(x);
        Ok(())
    })
    .unwrap()
}

fn update_host(q: &Queue, x: &Buffer<i32, 2>) -> Event {
    q.submit(|cg| {
        cg.update_host(x);
        Ok(())
    })
    .unwrap()
}

/// And waits.
fn fill(q: &Queue, x: &mut Buffer<i32>) -> Result<(), Error> {
    let event = q.submit(|cg| {
        cg.fill(x, 7);
        Ok(())
    });
    event.and_then(|event| event.wait())
}

/// The buffer holds what [`Rig::data`] made.
#[track_caller]
fn is_right(x: &Buffer<i32, 2>, written: &[usize], what: &str) {
    let all = x.to_vec().unwrap_or_else(|e| panic!("{what}: {e}"));
    for (at, found) in all.iter().enumerate() {
        let (row, column) = (at / COLUMNS, at % COLUMNS);
        let new = written.contains(&(column / 4));
        let wanted = if new { value(row, column % 4) } else { -1 };
        assert_eq!(*found, wanted, "{what}: {row}, {column}");
    }
}

/// XFER-04: where rows are dear many of them are gathered, sent in one copy and scattered, whatever
/// the way; and counted as one operation. Where they are not they are sent as they are.
#[test]
fn thin_rows_are_packed_where_that_is_quicker() {
    for kind in kinds() {
        for (row_ns, packed) in [(0, 0), (10, 0), (10_000, 1)] {
            let what = format!("{kind:?}, {row_ns} ns");
            let rig = Rig::new(kind, row_ns);
            let columns = [1, 3, 4];
            let mut x = rig.data(&columns);
            let (before, sim) = (rig.rt.counters(), rig.sim.counters());
            update(&rig.b, &x).wait().unwrap();
            let moved = rig.rt.counters();
            let operations = if packed == 1 { 1 } else { 2 };
            let by = moved.device_to_device;
            assert_eq!(by.operations - before.device_to_device.operations, operations, "{what}");
            assert_eq!(by.bytes - before.device_to_device.bytes, 3 * COLUMN, "{what}");
            assert_eq!(by.pages - before.device_to_device.pages, 3, "{what}");
            assert_eq!(moved.packed - before.packed, packed, "{what}");
            assert_eq!((x.counters().packed, rig.b.counters().packed), (packed, packed), "{what}");
            let done = rig.sim.counters();
            let across =
                if kind.peers { done.peer - sim.peer } else { done.uploaded - sim.uploaded };
            assert_eq!(across, 3 * COLUMN, "{what}");
            assert_eq!(done.local - sim.local, 2 * packed * 3 * COLUMN, "{what}");
            // What is read now came that way.
            rig.rt.wait().unwrap();
            x.release(&rig.a.device()).unwrap();
            is_right(&x, &columns, &what);
            rig.is_clean(&what);
        }
    }
}

/// XFER-04: also to and from the host: by a device in its memory, or else by a thread.
#[test]
fn thin_rows_are_packed_on_the_host() {
    for kind in kinds() {
        let what = format!("{kind:?}");
        let rig = Rig::new(kind, 10_000);
        let mut x = rig.data(&[2]);
        update_host(&rig.a, &x).wait().unwrap();
        let moved = x.counters();
        assert_eq!((moved.packed, moved.device_to_host.operations), (1, 1), "{what}");
        x.release(&rig.a.device()).unwrap();
        is_right(&x, &[2], &what);
        // And up again: the first time all of it comes, in one piece; then a column.
        update(&rig.a, &x).wait().unwrap();
        assert_eq!(x.counters().packed, 1, "{what}");
        let part = x.slice_mut([0, 20], [ROWS, 4]).unwrap();
        let write = rig.a.submit(|cg| {
            let part = cg.read_write(part);
            cg.host_task(part, |mut part| {
                for row in 0..ROWS {
                    let elements = part.row_mut(row).unwrap().iter_mut().enumerate();
                    elements.for_each(|(column, element)| *element = value(row, column));
                }
            });
            Ok(())
        });
        write.unwrap().wait().unwrap();
        let before = x.counters().host_to_device;
        update(&rig.a, &x).wait().unwrap();
        let moved = x.counters();
        assert_eq!((moved.packed, moved.host_to_device.operations - before.operations), (2, 1));
        assert_eq!(moved.host_to_device.bytes - before.bytes, COLUMN, "{what}");
        let mut y = rig.rt.buffer_with::<i32, 2>([ROWS, COLUMNS], BufferOptions::new()).unwrap();
        let copy = rig.a.submit(|cg| {
            let (x, y) = (cg.read(&x), cg.discard(&mut y));
            cg.host_kernel([ROWS, COLUMNS], (x, y), |i, (x, mut y)| y.put(i, x[i]));
            Ok(())
        });
        copy.unwrap().wait().unwrap();
        is_right(&y, &[2, 5], &what);
        rig.is_clean(&what);
    }
}

/// XFER-04: what is one row already is not packed, however dear rows are.
#[test]
fn one_row_is_never_packed() {
    let rig = Rig::new(PLAIN, u64::MAX / 4096);
    // All columns together are one piece.
    let x = rig.data(&[0, 1, 2, 3, 4, 5, 6, 7]);
    update(&rig.b, &x).wait().unwrap();
    // So are rows that are whole, and a part of a single one.
    let options = || BufferOptions::new().page([8, COLUMNS]);
    let y = rig.rt.buffer_from_with(&[3; ROWS * COLUMNS], [ROWS, COLUMNS], options()).unwrap();
    update(&rig.b, &y).wait().unwrap();
    let options = BufferOptions::new().page([1, 4]);
    let z = rig.rt.buffer_from_with(&[3; COLUMNS], [1, COLUMNS], options).unwrap();
    let one = rig.b.submit(|cg| {
        cg.update(z.slice([0, 4], [1, 4])?);
        Ok(())
    });
    one.unwrap().wait().unwrap();
    assert_eq!(rig.rt.counters().device_to_device.operations, 1);
    assert_eq!(rig.rt.counters().packed, 0);
    rig.is_clean("one row");
}

/// XFER-04, DEP-03: kernels that are under way at both ends do not hold the rows up.
#[test]
fn packing_waits_for_no_kernel() {
    for peers in [false, true] {
        let rig = Rig::new(Kind { peers, ..PLAIN }, 10_000);
        let x = rig.data(&[1]);
        (0..3).for_each(|device| rig.sim.hold(device, LaneKind::Compute));
        assert!(update(&rig.b, &x).wait_for(LONG).unwrap());
        assert_eq!(x.counters().packed, 1);
        (0..3).for_each(|device| rig.sim.release(device, LaneKind::Compute));
        is_right(&x, &[1], "kernels are held");
        rig.is_clean("kernels are held");
    }
}

/// XFER-04, ERR-02: any operation of a packed transfer fails, in the call or later: so does the
/// event. The source keeps its data, nobody sees what came of it, and the next attempt succeeds.
#[test]
fn a_packed_transfer_fails_as_one() {
    for kind in [PLAIN, Kind { waits: false, ..PLAIN }, Kind { peers: false, ..PLAIN }] {
        let operations = if kind.peers { 3 } else { 4 };
        for (later, nth) in
            [false, true].into_iter().flat_map(|l| (1..=operations).map(move |n| (l, n)))
        {
            let what = format!("{kind:?}: {nth}, later {later}");
            let rig = Rig::new(kind, 10_000);
            let mut x = rig.data(&[1, 4]);
            let error = HalErrorKind::Driver;
            let fault = if later { Fault::Later(error) } else { Fault::Now(error) };
            let before = rig.faults.counts()[&Site::Copy];
            rig.faults.inject(Site::Copy, before + nth, fault);
            match update(&rig.b, &x).wait_for(LONG) {
                Err(Error::Failed(failure)) => assert_eq!(failure.what(), "transfer", "{what}"),
                other => panic!("{what}: {other:?}"),
            }
            assert_eq!(rig.faults.fired().len(), 1, "{what}");
            assert!(rig.b.wait().is_err(), "{what}");
            rig.rt.wait().unwrap();
            update(&rig.b, &x).wait().unwrap();
            assert_eq!(x.counters().packed, 2, "{what}");
            rig.rt.wait().unwrap();
            x.release(&rig.a.device()).unwrap();
            is_right(&x, &[1, 4], &what);
            rig.is_clean(&what);
        }
    }
}

/// XFER-04, ERR-04: either device goes while its rows are gathered, sent, or scattered. Memory stays as
/// long as the other one uses it, and is given back.
#[test]
fn a_device_that_is_lost_ends_a_packed_transfer() {
    let stages = [(1, LaneKind::Download), (2, LaneKind::Peer), (2, LaneKind::Upload)];
    let mut held = 0;
    for (peers, lost) in [(true, 1), (true, 2), (false, 1), (false, 2)] {
        for (device, lane) in stages {
            let kind = Kind { peers, ..PLAIN };
            let what = format!("{kind:?}: {lost} is lost, {device} holds {lane:?}");
            let rig = Rig::new(kind, 10_000);
            let x = rig.data(&[1, 4]);
            let mut others = [(); 2].map(|()| rig.rt.buffer::<i32>(8).unwrap());
            let [y, z] = &mut others;
            fill(&rig.a, y).and(fill(&rig.b, z)).unwrap();
            rig.sim.hold(device, lane);
            let event = update(&rig.b, &x);
            assert_eq!(x.counters().packed, 1, "{what}");
            if event.wait_for(SHORT).unwrap() {
                // That lane has no part in it.
                continue;
            }
            held += 1;
            rig.sim.lose(lost);
            // It is still at work, on memory that must be there.
            std::thread::sleep(Duration::from_millis(1));
            rig.sim.release(device, lane);
            match event.wait_for(LONG) {
                // The rows were on their way into the other one's memory.
                Ok(true) => assert_eq!((lost, device), (1, 2), "{what}"),
                Err(Error::Failed(_)) => assert!((lost, device) != (1, 2), "{what}"),
                other => panic!("{what}: {other:?}"),
            }
            // The other one goes on.
            assert_eq!(fill(&rig.a, y).is_err(), lost == 1, "{what}");
            assert_eq!(fill(&rig.b, z).is_err(), lost == 2, "{what}");
            if (lost, device) != (1, 1) {
                is_right(&x, &[1, 4], &what);
            }
            drop((x, others));
            rig.eventually(&what, |rig| rig.in_use(1) + rig.in_use(2) == 0);
            rig.is_clean(&what);
        }
    }
    assert_eq!(held, 8);
}

/// XFER-04, MEM-01: temporaries are counted. What there is no memory for, at either end, is sent as it is:
/// nothing fails, and nothing is kept of the attempt.
#[test]
fn without_memory_rows_are_sent_as_they_are() {
    for (small, host) in [(1, true), (2, true), (0, true), (1, false)] {
        let what = format!("{small} is small");
        let rig = Rig::new(Kind { host, ..PLAIN }, 10_000);
        let x = rig.data(&[1]);
        let bytes = [0, 1, 2].map(|at| rig.in_use(at));
        rig.rt.devices()[small].set_budget(bytes[small] + TEMPORARY - 1);
        let send = |x| if small == 0 { update_host(&rig.a, x) } else { update(&rig.b, x) };
        send(&x).wait().unwrap();
        assert_eq!((x.counters().packed, x.counters().transfers().pages), (0, 1 + 16), "{what}");
        assert_eq!([0, 1, 2].map(|at| rig.in_use(at)), bytes, "{what}");
        is_right(&x, &[1], &what);
        rig.is_clean(&what);
    }
    let rig = Rig::new(PLAIN, 10_000);
    let x = rig.data(&[1]);
    let bytes = [1, 2].map(|at| rig.in_use(at));
    for at in [1, 2] {
        rig.rt.devices()[at].set_budget(bytes[at - 1] + TEMPORARY);
    }
    rig.sim.hold(2, LaneKind::Peer);
    let event = update(&rig.b, &x);
    assert_eq!([1, 2].map(|at| rig.in_use(at)), bytes.map(|bytes| bytes + TEMPORARY));
    rig.sim.release(2, LaneKind::Peer);
    event.wait().unwrap();
    assert_eq!(x.counters().packed, 1);
    // They are in the way of something that matters.
    let more = rig.rt.usm::<u8>(&rig.a.device(), folio_core::UsmKind::Device, TEMPORARY as usize);
    more.unwrap();
    is_right(&x, &[1], "just enough");
    rig.is_clean("just enough");
}

/// XFER-04: a temporary is used again when it is free, by whatever fits, and not before; and given
/// back when nothing goes on.
#[test]
fn temporaries_are_used_again() {
    let rig = Rig::new(PLAIN, 10_000);
    let bytes = [1, 2].map(|at| {
        let x = rig.data(&[]);
        (x, rig.in_use(at))
    });
    drop(bytes);
    let all: Vec<_> = (1..6).map(|n| rig.data(&(0..n).collect::<Vec<_>>())).collect();
    let before = [1, 2].map(|at| rig.in_use(at));
    let made = rig.rt.counters().allocations;
    // As long as this is under way nothing is given back.
    rig.sim.hold(0, LaneKind::Compute);
    let mut y = rig.rt.buffer::<i32>(1).unwrap();
    let on_host = rig.rt.queue_on(&rig.rt.devices()[0]).unwrap();
    on_host
        .submit(|cg| {
            cg.fill(&mut y, 1);
            Ok(())
        })
        .unwrap();
    for x in &all[..3] {
        update(&rig.b, x).wait().unwrap();
    }
    assert_eq!(rig.rt.counters().packed, 3);
    assert_eq!(rig.rt.counters().allocations - made, 1 + 2, "y and two temporaries");
    rig.sim.hold(2, LaneKind::Peer);
    let events = [3, 4].map(|at| update(&rig.b, &all[at]));
    assert_eq!(rig.rt.counters().allocations - made, 1 + 4, "two at a time");
    rig.sim.release(2, LaneKind::Peer);
    events.iter().for_each(|event| event.wait().unwrap());
    assert_eq!([1, 2].map(|at| rig.in_use(at)), before.map(|bytes| bytes + 2 * TEMPORARY));
    rig.sim.release(0, LaneKind::Compute);
    rig.eventually("they are given back", |rig| [1, 2].map(|at| rig.in_use(at)) == before);
    for (n, x) in all.iter().enumerate() {
        is_right(x, &(0..=n).collect::<Vec<_>>(), "used again");
    }
    rig.is_clean("used again");
    let Rig { rt, sim, a, b, .. } = rig;
    drop((all, y, on_host, a, b, rt));
    let start = Instant::now();
    while sim.live_allocations() != (0, 0) {
        assert!(start.elapsed() < LONG, "{:?}", sim.live_labels());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// XFER-04: the rows are gathered before they are sent, and sent before they are scattered.
#[test]
fn gathered_sent_and_scattered_in_turn() {
    let rig = Rig::new(PLAIN, 10_000);
    let x = rig.data(&[1]);
    let before = rig.sim.log().len();
    update(&rig.b, &x).wait().unwrap();
    let steps: Vec<_> = rig.sim.log()[before..]
        .iter()
        .filter(|e| e.op == OpKind::Copy)
        .map(|e| (e.device, e.kind, e.amount))
        .collect();
    let right =
        [(1, LaneKind::Download, COLUMN), (2, LaneKind::Peer, COLUMN), (2, LaneKind::Peer, COLUMN)];
    assert_eq!(steps, right);
}
