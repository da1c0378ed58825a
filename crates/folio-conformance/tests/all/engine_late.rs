//! Lanes that show their ends late, one at a time: an operation is reported after every tick that
//! it waited for, on whatever lane (ERR-02). On simulated devices, whose lanes do that when told.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::hal::{HalErrorKind, Link};
use folio_core::{Error, Event, Queue, Runtime, Shared};
use folio_layers::{Fault, Faults, OpKind, Site, Validate};
use folio_sim::{DeviceSpec, Script, SimBackend};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// More lanes than two devices have.
const LANES: usize = 16;
/// Steps by which a lane is late.
const LATE: u64 = 200;

/// Two devices, of whose lanes one is late.
fn backend(late: usize, notifies: bool) -> SimBackend {
    let mut lags = [0; LANES];
    lags[late] = LATE;
    let devices = SimBackend::builder().devices(2, DeviceSpec::new()).peers(Link::default());
    devices.notifies(notifies).script(Script::new().lags(&lags)).build()
}

struct Awake(Thread);

impl Wake for Awake {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// How a program comes to know that something is done.
const WAYS: [fn(Event) -> Result<(), Error>; 3] = [
    |event| event.wait(),
    |event| {
        while !event.is_done() {
            std::thread::yield_now();
        }
        event.wait()
    },
    |event| {
        let waker = Waker::from(Arc::new(Awake(std::thread::current())));
        let mut event = pin!(event);
        loop {
            match event.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(result) => return result,
                Poll::Pending => std::thread::park(),
            }
        }
    },
];

fn on(rt: &Runtime, at: usize) -> Queue {
    rt.queue_on(&rt.devices()[at]).unwrap()
}

fn page(rt: &Runtime) -> Shared<i32> {
    rt.buffer([8]).unwrap().into_shared()
}

fn write(q: &Queue, x: &Shared<i32>) -> Event {
    q.submit(|cg| {
        let x = cg.discard(x);
        cg.host_kernel([8], x, |i, mut x| x.put(i, 1));
        Ok(())
    })
    .unwrap()
}

fn copy(q: &Queue, x: &Shared<i32>, y: &Shared<i32>) -> Event {
    q.submit(|cg| {
        let both = (cg.read(x), cg.discard(y));
        cg.host_kernel([8], both, |i, (x, mut y)| y.put(i, x[i]));
        Ok(())
    })
    .unwrap()
}

/// ERR-02: a kernel fails, and two others on lanes of their own have read what it should have
/// written, one on its device and one on another. Whichever lane is late, and however the program
/// asks: a reader is not reported as done before it has failed with the same root.
#[test]
fn a_failure_is_known_before_what_it_spoils_is_reported() {
    for late in 0..LANES {
        for (notifies, ask) in [false, true].into_iter().flat_map(|n| WAYS.map(|ask| (n, ask))) {
            let (faults, validate) = (Faults::new(), Validate::new());
            let (plan, report) = (faults.handle(), validate.report());
            let backend = faults.over(validate.over(backend(late, notifies)));
            let rt = Runtime::builder().backend(backend).build().unwrap();
            let [x, a, b, c] = [0; 4].map(|_| page(&rt));
            plan.inject(Site::Op(OpKind::Launch), 1, Fault::Later(HalErrorKind::Driver));
            let first = write(&on(&rt, 0), &x);
            let beside = copy(&on(&rt, 0), &x, &a);
            let readers = [copy(&on(&rt, 0), &x, &b), copy(&on(&rt, 1), &x, &c)];
            let failed = |result| match result {
                Err(Error::Failed(failure)) => failure.id(),
                other => panic!("lane {late} is late: {other:?}"),
            };
            let ids = readers.map(|event| failed(ask(event)));
            assert_eq!(ids, [failed(first.wait()); 2], "lane {late} is late");
            assert_eq!(failed(beside.wait()), ids[0]);
            assert_eq!(plan.fired().len(), 1);
            assert_eq!(report.violations(), []);
        }
    }
}

/// DEP-02: readers on lanes of their own, and a command that overwrites what they have read. No
/// data go from one to the other: still, the readers are done when it is.
#[test]
fn readers_are_done_before_what_overwrites_their_data_is() {
    for late in 0..LANES {
        for (notifies, ask) in [false, true].into_iter().flat_map(|n| WAYS.map(|ask| (n, ask))) {
            let rt = Runtime::builder().backend(backend(late, notifies)).build().unwrap();
            let (q, [x, a, b]) = (on(&rt, 0), [0; 3].map(|_| page(&rt)));
            let before = [write(&q, &x), copy(&q, &x, &a), copy(&q, &x, &b)];
            ask(write(&q, &x)).unwrap();
            assert!(before.iter().all(Event::is_done), "lane {late} is late");
        }
    }
}

/// ERR-02: what was overwritten as a whole on one device is well, also for a command that writes a
/// part of it on another device, whose memory a failed command has spoilt, and for its readers.
#[test]
fn a_part_is_written_where_a_failed_command_was() {
    for late in 0..LANES {
        for (notifies, whole) in [(false, true), (true, true), (false, false), (true, false)] {
            let faults = Faults::new();
            let plan = faults.handle();
            let faulty = faults.over(backend(late, notifies));
            let rt = Runtime::builder().backend(faulty).build().unwrap();
            let x = rt.buffer_from(&[1i32; 8]).unwrap().into_shared();
            write(&on(&rt, 0), &x).wait().unwrap();
            plan.inject(Site::Op(OpKind::Copy), 1, Fault::Later(HalErrorKind::Driver));
            let spoils = on(&rt, 1).submit(|cg| {
                let x = cg.read_write(&x);
                cg.host_kernel([8], x, |i, mut x| x[i] += 1);
                Ok(())
            });
            let over = if whole { write(&on(&rt, 0), &x) } else { on(&rt, 0).fill(&x, 7).unwrap() };
            let part = on(&rt, 1).fill(x.slice_mut([3], [2]).unwrap(), 9).unwrap();
            let mut y = rt.buffer::<i32, 1>(8).unwrap();
            let reads = on(&rt, 1).copy(&x, &mut y).unwrap();
            let place = format!("late {late}, notifies {notifies}, whole {whole}");
            assert!(spoils.unwrap().wait().is_err() && !plan.fired().is_empty(), "{place}");
            over.wait().expect(&place);
            part.wait().expect(&place);
            reads.wait().expect(&place);
            let rest = if whole { x.read().unwrap()[0] } else { 7 };
            let wanted = [rest, rest, rest, 9, 9, rest, rest, rest];
            assert_eq!(*x.read().unwrap(), wanted, "{place}");
            assert_eq!(y.to_vec().unwrap(), wanted, "{place}");
        }
    }
}
