//! What a subscriber is told: OBS-01, XFER-06. In a process of its own, for all of its threads.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::{BufferOptions, Error, Event as Done, Queue, Runtime};
use folio_sim::{DeviceSpec, SimBackend};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// A span or an event.
#[derive(Clone, Debug)]
struct TraceRecord {
    /// The span's name, or the event's message.
    name: String,
    level: Level,
    span: bool,
    fields: BTreeMap<&'static str, String>,
    /// The names of the spans around it.
    within: Vec<String>,
}

impl TraceRecord {
    fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }
}

struct Fields<'a>(&'a mut BTreeMap<&'static str, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

static TOLD: Mutex<Vec<TraceRecord>> = Mutex::new(Vec::new());
static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static LISTENS: AtomicBool = AtomicBool::new(true);
/// Being told of an end takes long.
static SLOW: AtomicBool = AtomicBool::new(false);
/// Spans entered and not left, of all threads.
static INSIDE: AtomicU64 = AtomicU64::new(0);
thread_local!(static STACK: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });

struct Recorder;

fn note(name: String, metadata: &Metadata<'_>, fields: BTreeMap<&'static str, String>) {
    let within = STACK.with(|stack| stack.borrow().clone());
    let (level, span) = (*metadata.level(), metadata.is_span());
    TOLD.lock().unwrap().push(TraceRecord { name, level, span, fields, within });
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "folio" && LISTENS.load(Ordering::Relaxed)
    }
    fn register_callsite(&self, _: &'static Metadata<'static>) -> tracing::subscriber::Interest {
        tracing::subscriber::Interest::sometimes()
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = BTreeMap::new();
        span.record(&mut Fields(&mut fields));
        let name = span.metadata().name().to_owned();
        note(name.clone(), span.metadata(), fields);
        let mut names = NAMES.lock().unwrap();
        names.push(name);
        Id::from_u64(names.len() as u64)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        let name = fields.remove("message").unwrap_or_default();
        if SLOW.load(Ordering::Relaxed) && name == "complete" {
            (0..100).for_each(|_| std::thread::yield_now());
        }
        note(name, event.metadata(), fields);
    }
    fn enter(&self, span: &Id) {
        INSIDE.fetch_add(1, Ordering::Relaxed);
        let name = NAMES.lock().unwrap()[span.into_u64() as usize - 1].clone();
        STACK.with(|stack| stack.borrow_mut().push(name));
    }
    fn exit(&self, _: &Id) {
        INSIDE.fetch_sub(1, Ordering::Relaxed);
        STACK.with(|stack| stack.borrow_mut().pop());
    }
}

fn told() -> Vec<TraceRecord> {
    TOLD.lock().unwrap().clone()
}

/// Those with this name and label.
fn of(name: &str, label: &str) -> Vec<TraceRecord> {
    told().into_iter().filter(|t| t.name == name && t.get("label").contains(label)).collect()
}

#[track_caller]
fn one(name: &str, label: &str) -> TraceRecord {
    let found = of(name, label);
    assert_eq!(found.len(), 1, "{name} {label}: {found:#?}\n{:#?}", told());
    found[0].clone()
}

fn kernel(q: &Queue, label: &'static str, x: &folio_core::Shared<i32>, bad: bool) -> Done {
    let event = q.submit(|cg| {
        let x = cg.read_write(x);
        cg.label(label).host_kernel([4], x, move |i, mut x| {
            assert!(!bad, "on purpose");
            x[i] += 1;
        });
        Ok(())
    });
    event.unwrap()
}

#[track_caller]
fn eventually(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(10), "never: {what}\n{:#?}", told());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A command's launch and end, found by its stamp.
#[track_caller]
fn runs(plan: &TraceRecord, device: &str, failed: bool) {
    let with = |name: &str| {
        let same = |t: &TraceRecord| t.name == name && t.get("stamp") == plan.get("stamp");
        told().into_iter().filter(same).collect::<Vec<_>>()
    };
    let what = plan.get("what");
    eventually("its end is told", || !with("complete").is_empty());
    let (launch, complete) = (with("launch"), with("complete"));
    assert_eq!((launch.len(), complete.len()), (1, 1), "{plan:#?}");
    for (at, told) in [(&launch[0], "launch"), (&complete[0], "complete")] {
        assert_eq!((at.get("what"), at.get("device")), (what, device), "{told}");
        assert_eq!(at.get("lane").is_empty(), device == "host", "{at:?}");
    }
    assert_eq!(complete[0].get("failed"), failed.to_string());
}

/// OBS-01, XFER-06
#[test]
fn a_subscriber_is_told_of_everything() {
    tracing::subscriber::set_global_default(Recorder).unwrap();
    let backend = SimBackend::builder().devices(2, DeviceSpec::new()).build();
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let (a, b) = (rt.queue_on("sim:0").unwrap(), rt.queue_on("sim:1").unwrap());
    let options = || BufferOptions::new().label("data");
    let x = rt.buffer_with((&[1, 2, 3, 4], [4]), options()).unwrap().into_shared();

    // The host's memory, at once.
    let host = one("allocate", "data");
    assert!(!host.span && host.level == Level::TRACE);
    assert_eq!((host.get("device"), host.get("bytes")), ("the host", "16"));
    assert_eq!(host.get("what"), "buffer");

    // One command: a span around memory, plan, transfer and launch.
    kernel(&a, "first", &x, false).wait().unwrap();
    let submit = one("submit", "first");
    assert!(submit.span && submit.within.is_empty());
    assert_eq!((submit.get("what"), submit.get("device")), ("kernel", "sim:0"));
    let memory = of("allocate", "data");
    assert_eq!(memory[1].within, ["submit"]);
    assert_eq!((memory[1].get("device"), memory[1].get("bytes")), ("sim:0", "16"));
    let transfer = one("transfer", "data");
    assert_eq!((transfer.get("from"), transfer.get("to")), ("the host", "sim:0"));
    assert_eq!((transfer.get("rects"), transfer.get("bytes")), ("1", "16"));
    let plan = one("plan", "first");
    assert_eq!(plan.within, ["submit"]);
    assert_eq!((plan.get("operations"), plan.get("bytes"), plan.get("pages")), ("1", "16", "1"));
    assert_eq!((plan.get("accesses"), plan.get("what")), ("1", "kernel"));
    runs(&plan, "sim:0", false);

    // Nothing to move for the second; a host task; another device, by way of the host.
    kernel(&a, "second", &x, false).wait().unwrap();
    let plan = one("plan", "second");
    assert_eq!((plan.get("operations"), plan.get("bytes")), ("0", "0"));
    runs(&plan, "sim:0", false);
    let look = a.submit(|cg| {
        let x = cg.read(&x);
        cg.label("look").host_task(x, |x| assert_eq!(x.to_vec(), [3, 4, 5, 6]));
        Ok(())
    });
    look.unwrap().wait().unwrap();
    assert_eq!(one("submit", "look").get("device"), "host");
    runs(&one("plan", "look"), "host", false);
    kernel(&b, "third", &x, false).wait().unwrap();
    runs(&one("plan", "third"), "sim:1", false);

    // What nobody wrote.
    let y =
        rt.buffer_with::<i32, 1>([4], BufferOptions::new().label("fresh")).unwrap().into_shared();
    kernel(&a, "fourth", &y, false).wait().unwrap();
    assert_eq!(one("zero fill", "fresh").get("on"), "sim:0");
    // A read of the host moves as well.
    assert_eq!(y.to_vec().unwrap(), [1; 4]);
    assert_eq!(one("transfer", "fresh").get("to"), "the host");

    // A failure, what depends on it, and what was never begun.
    kernel(&a, "bad", &x, true).wait().unwrap_err();
    runs(&one("plan", "bad"), "sim:0", true);
    let error = told().into_iter().find(|t| t.level == Level::ERROR).unwrap();
    assert!(error.name.contains("kernel `bad` on sim:0 failed: panicked: on purpose"), "{error:?}");
    let never = a.submit(|cg| {
        let x = cg.read(&x);
        cg.label("never").host_task(x, |_| -> () { panic!("it ran") });
        Ok(())
    });
    never.unwrap().wait().unwrap_err();
    let plan = one("plan", "never");
    let same = |name: &str| {
        let all = of(name, "never").into_iter();
        all.filter(|t| t.get("stamp") == plan.get("stamp")).collect::<Vec<_>>()
    };
    eventually("the end of what never began", || same("complete").len() == 1);
    assert_eq!(same("complete")[0].get("failed"), "true");
    assert_eq!(of("launch", "never").len(), 0, "it was begun, or data was moved for it");

    // What is refused is a span without a plan.
    let refused = a.submit(|cg| {
        cg.label("refused").after(&rt.queue().unwrap().barrier().unwrap());
        let x = cg.discard(&x);
        cg.host_kernel([5], x, |_, _| {});
        Ok(())
    });
    assert!(matches!(refused, Err(Error::LaunchTooLarge { .. })));
    assert_eq!(of("plan", "refused").len(), 0);

    // Each plan's command has ended once, each launch has one end.
    rt.wait().unwrap();
    let count = |name: &str| told().iter().filter(|t| t.name == name).count();
    assert!(count("complete") >= count("launch"));
    // Also by another thread, which takes its time.
    SLOW.store(true, Ordering::Relaxed);
    for _ in 0..20 {
        let before = of("complete", "task").len();
        let task = a.submit(|cg| {
            cg.label("task").host_task((), |()| {});
            Ok(())
        });
        task.unwrap();
        rt.wait().unwrap();
        assert_eq!(of("complete", "task").len(), before + 1);
    }
    SLOW.store(false, Ordering::Relaxed);
    for launch in told().iter().filter(|t| t.name == "launch") {
        let same = |t: &&TraceRecord| {
            t.name == "complete"
                && ["lane", "tick", "stamp"].iter().all(|f| t.get(f) == launch.get(f))
        };
        assert_eq!(told().iter().filter(same).count(), 1, "{launch:#?}");
    }
    let counters = rt.counters();
    let all = told();
    let moved = all.iter().filter(|t| t.name == "transfer");
    let moved: u64 = moved.map(|t| t.get("bytes").parse::<u64>().unwrap()).sum();
    assert_eq!(moved, counters.transfers().bytes);
    assert_eq!(INSIDE.load(Ordering::Relaxed), 0, "a span was not left");

    // Nobody listens: nothing is told.
    LISTENS.store(false, Ordering::Relaxed);
    let before = told().len();
    kernel(&a, "unheard", &y, false).wait().unwrap();
    rt.shutdown(Duration::from_secs(10)).unwrap();
    assert_eq!(told().len(), before);
}
