//! Copies between simulated devices without links: by way of the host, in chunks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::hal::{Backend, HalErrorKind, LaneKind, MemoryHome};
use folio_core::{Buffer, Cause, Destination, Error, Event, Queue, Runtime};
use folio_layers::{Fault, FaultHandle, Faults, Site};
use folio_sim::{DeviceSpec, OpKind, Script, SimBackend, SimHandle};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(20);
const CHUNK: usize = 4 << 20;
const SLOW: u64 = 10;

/// A device in the host's memory, whose budget shows the engine's own; and two with their own.
struct Rig {
    rt: Runtime,
    sim: SimHandle,
    faults: FaultHandle,
    a: Queue,
    b: Queue,
}

impl Rig {
    fn new(host_budget: u64) -> Rig {
        let sim = SimBackend::builder()
            .device(DeviceSpec::new().home(MemoryHome::Host))
            .devices(2, DeviceSpec::new())
            .script(Script::new().latency(OpKind::Copy, SLOW))
            .log(true)
            .build();
        let (handle, faults) = (sim.handle(), Faults::new());
        let plan = faults.handle();
        let backend: Arc<dyn Backend> = Arc::new(faults.over(sim));
        let rt = Runtime::builder().shared_backend(backend).budget("host", host_budget);
        let rt = rt.build().unwrap();
        let (a, b) = (rt.queue_on("sim:1").unwrap(), rt.queue_on("sim:2").unwrap());
        Rig { rt, sim: handle, faults: plan, a, b }
    }

    /// Bytes that are there on `sim:1` only.
    fn data(&self, bytes: usize) -> Buffer<u8> {
        let mut x = self.rt.buffer::<u8, 1>(bytes).unwrap();
        for (at, part) in (0..bytes).step_by(CHUNK / 2).enumerate() {
            let n = (bytes - part).min(CHUNK / 2);
            fill(&self.a, &mut x, part, n, at as u8 + 1);
        }
        self.a.wait().unwrap();
        x
    }

    /// Frees the source: what is read from now on is what was brought to `sim:2`.
    #[track_caller]
    fn only_the_copy_is_left(&self, x: &mut Buffer<u8>) {
        self.rt.wait().unwrap();
        x.release(&self.a.device()).unwrap();
    }

    fn host_memory(&self) -> u64 {
        self.rt.device("sim:0").unwrap().budget().1
    }

    #[track_caller]
    fn gives_back(&self, bytes: u64) {
        let start = Instant::now();
        while self.host_memory() != bytes {
            assert!(start.elapsed() < LONG, "{} bytes are kept", self.host_memory());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn fill(q: &Queue, x: &mut Buffer<u8>, at: usize, n: usize, value: u8) {
    q.submit(|cg| {
        cg.fill(x.slice_mut([at], [n])?, value);
        Ok(())
    })
    .unwrap();
}

fn update(q: &Queue, x: &Buffer<u8>) -> Event {
    q.submit(|cg| {
        cg.prefetch(x, Destination::Device);
        Ok(())
    })
    .unwrap()
}

/// The data is what [`Rig::data`] made, read by a copy from the device of `q`.
#[track_caller]
fn is_right(x: &Buffer<u8>) {
    let all = x.to_vec().unwrap();
    let right = all.iter().enumerate().all(|(i, v)| *v == (i / (CHUNK / 2)) as u8 + 1);
    assert!(right, "wrong data");
}

/// XFER-05, XFER-06: chunk k + 1 is received while chunk k is sent; one transfer is counted, and
/// its chunks.
#[test]
fn a_chunk_is_received_while_another_one_is_sent() {
    let rig = Rig::new(u64::MAX);
    let chunks = 6;
    let bytes = chunks * CHUNK - 1000;
    let mut x = rig.data(bytes);
    update(&rig.b, &x).wait().unwrap();
    let log = rig.sim.log();
    let ends = |device, kind| -> Vec<u64> {
        let of =
            |e: &&folio_sim::LogEntry| e.op == OpKind::Copy && e.device == device && e.kind == kind;
        log.iter().filter(of).map(|e| e.time).collect()
    };
    let (received, sent) = (ends(1, LaneKind::Download), ends(2, LaneKind::Upload));
    assert_eq!((received.len(), sent.len()), (chunks, chunks));
    for k in 0..chunks {
        assert!(received[k] + SLOW <= sent[k], "chunk {k} was sent before it was there");
        if k + 1 < chunks {
            let (begun, ended) = (sent[k] - SLOW, sent[k]);
            let next = (received[k + 1] - SLOW, received[k + 1]);
            assert!(begun < next.1 && next.0 < ended, "chunk {} does not overlap", k + 1);
        }
    }
    let moved = x.counters();
    assert_eq!((moved.device_to_device.operations, moved.chunks), (1, chunks as u64));
    assert_eq!(moved.transfers().bytes, bytes as u64);
    assert_eq!(rig.b.counters().chunks, chunks as u64);
    assert_eq!(rig.rt.counters().device_to_device, moved.device_to_device);
    rig.gives_back(0);
    rig.only_the_copy_is_left(&mut x);
    is_right(&x);
    assert_eq!(rig.sim.violations(), []);
}

/// XFER-05: any half of any chunk fails, in the call or later: so does the event, with that cause;
/// the source keeps its data, nothing is kept of the way, and the next attempt succeeds.
#[test]
fn a_chunk_that_fails_fails_the_copy_and_nothing_else() {
    for later in [false, true] {
        for nth in 1..=6 {
            let rig = Rig::new(u64::MAX);
            let mut x = rig.data(2 * CHUNK + 100);
            let kind = HalErrorKind::Driver;
            let fault = if later { Fault::Later(kind) } else { Fault::Now(kind) };
            rig.faults.inject(Site::Op(OpKind::Copy), nth, fault);
            match update(&rig.b, &x).wait_timeout(LONG) {
                Err(Error::Failed(failure)) => {
                    assert!(matches!(failure.cause(), Cause::Backend(_)), "{failure}");
                    assert_eq!(failure.what(), "transfer");
                }
                other => panic!("copy {nth}, later {later}: {other:?}"),
            }
            rig.rt.wait().unwrap();
            rig.gives_back(0);
            update(&rig.b, &x).wait().unwrap();
            rig.gives_back(0);
            rig.only_the_copy_is_left(&mut x);
            is_right(&x);
            assert_eq!(rig.sim.violations(), []);
        }
    }
}

/// XFER-05, ERR-04: either device goes while chunks are on their way.
#[test]
fn a_device_that_is_lost_on_the_way_ends_the_copy() {
    for lost in [1, 2] {
        let rig = Rig::new(u64::MAX);
        let x = rig.data(6 * CHUNK);
        rig.sim.hold(2, LaneKind::Upload);
        let event = update(&rig.b, &x);
        assert!(!event.wait_timeout(Duration::from_millis(20)).unwrap());
        assert!(rig.host_memory() > 0, "nothing is on its way");
        rig.sim.lose(lost);
        rig.sim.release(2, LaneKind::Upload);
        assert!(matches!(event.wait_timeout(LONG), Err(Error::Failed(_))), "device {lost} is gone");
        rig.gives_back(0);
        if lost == 2 {
            is_right(&x);
        }
        // The other one goes on.
        let other = if lost == 1 { &rig.b } else { &rig.a };
        let mut y = rig.rt.buffer::<u8, 1>(100).unwrap();
        fill(other, &mut y, 0, 100, 7);
        assert_eq!(y.to_vec().unwrap(), [7; 100]);
        drop((x, y));
        assert_eq!(rig.sim.violations(), []);
    }
}

/// XFER-05, MEM-01: the way needs memory on the host. With little it is slower; with none the copy
/// fails, says so, and the data stays.
#[test]
fn the_way_is_within_the_hosts_budget() {
    let rig = Rig::new(CHUNK as u64 + 1);
    let x = rig.data(5 * CHUNK);
    update(&rig.b, &x).wait().unwrap();
    assert_eq!(x.counters().chunks, 5);
    rig.gives_back(0);
    let rig = Rig::new(CHUNK as u64 - 1);
    let x = rig.data(2 * CHUNK);
    match update(&rig.b, &x).wait() {
        Err(Error::Failed(failure)) => match failure.cause() {
            Cause::Backend(error) => match error.kind {
                HalErrorKind::OutOfMemory { asked, limit, .. } => {
                    assert_eq!((asked, limit), (CHUNK as u64, CHUNK as u64 - 1));
                }
                ref other => panic!("{other:?}"),
            },
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    }
    rig.gives_back(0);
    rig.rt.device("sim:0").unwrap().set_budget(u64::MAX);
    update(&rig.b, &x).wait().unwrap();
    is_right(&x);
    assert_eq!(rig.sim.violations(), []);
}
