//! Devices on which nothing ends while a test looks, and short names for the commands of tests.

use crate::book::Book;
use folio::prelude::*;
use folio_core::hal::{LaneKind, Link};
use folio_core::{Executable, Graph, graph::Node, memory::Links};
use folio_layers::{Layer, Report, Validate};
use folio_sim::{Builder, DeviceSpec, SimBackend, SimHandle};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

/// Elements of each buffer.
pub const N: usize = 8;

pub type Numbers = Shared<i32>;

/// Compares lines of text; a failure shows the text as it is.
macro_rules! check {
    ($text:expr, $($line:literal),* $(,)?) => {{
        let (text, want) = (&$text, [$($line),*].join("\n"));
        assert!(*text == want, "\n{text}\n\nis not\n\n{want}\n");
    }};
}

/// Simulated devices under a book, a runtime, and a queue of the first device.
pub struct Scene {
    pub rt: Runtime,
    pub q: Queue,
    pub book: Book,
    sim: SimHandle,
    report: Report,
    devices: u32,
}

impl Scene {
    /// One device.
    pub fn new() -> Scene {
        Scene::over(1, SimBackend::builder().device(DeviceSpec::new()))
    }

    /// Devices without a way to each other's memory.
    pub fn of(devices: u32) -> Scene {
        let all = SimBackend::builder().devices(devices as usize, DeviceSpec::new());
        Scene::over(devices, all)
    }

    /// Devices that copy from each other.
    pub fn linked(devices: u32) -> Scene {
        let all = SimBackend::builder().devices(devices as usize, DeviceSpec::new());
        Scene::over(devices, all.peers(Link::default()))
    }

    /// Devices whose lanes do not wait for each other's.
    pub fn apart(devices: u32) -> Scene {
        let groups = (0..devices).map(|at| DeviceSpec::new().wait_group(Some(at)));
        Scene::over(devices, groups.fold(SimBackend::builder(), Builder::device))
    }

    fn over(devices: u32, builder: Builder) -> Scene {
        let (sim, book, validate) = (builder.build(), Book::default(), Validate::new());
        let (handle, report) = (sim.handle(), validate.report());
        let backend = validate.over(Layer::new(book.clone(), Arc::new(sim)));
        let rt = Runtime::builder().backend(backend).links(Links::Off).build().unwrap();
        let q = rt.queue_on("sim:0").unwrap();
        Scene { rt, q, book, sim: handle, report, devices }
    }

    /// A queue of a device.
    pub fn on(&self, device: usize) -> Queue {
        self.rt.queue_on(&format!("sim:{device}")[..]).unwrap()
    }

    /// A queue of the first device whose commands come one after the other.
    pub fn in_order(&self) -> Queue {
        self.rt.in_order_queue_on("sim:0").unwrap()
    }

    /// Runs an executable.
    pub fn go(&self, run: &Executable) {
        drop(self.q.run_graph(run).unwrap());
    }

    /// Which buffers have contents in the end.
    pub fn states(&self, all: &[&Numbers]) -> String {
        let state = |x: &&Numbers| {
            let name = x.label();
            match x.to_vec() {
                Ok(all) => format!("{name}: {}", all[0]),
                Err(Error::Failed(_)) => format!("{name}: failed"),
                Err(other) => format!("{name}: {other}"),
            }
        };
        let text = all.iter().map(state).collect::<Vec<_>>().join("\n");
        self.end();
        text
    }

    /// Buffers of ones, current on the host.
    pub fn buffers<const K: usize>(&self, names: [&str; K]) -> [Numbers; K] {
        names.map(|name| {
            let options = BufferOptions::new().label(name);
            self.rt.buffer_with((&[1; N], [N]), options).unwrap().into_shared()
        })
    }

    /// A buffer that nothing has written.
    pub fn fresh(&self, name: &str) -> Numbers {
        self.rt.buffer_with(N, BufferOptions::new().label(name)).unwrap().into_shared()
    }

    /// As [`buffers`](Self::buffers), current on the first device.
    pub fn present<const K: usize>(&self, names: [&str; K]) -> [Numbers; K] {
        let all = self.buffers(names);
        all.iter().for_each(|x| drop(self.q.run(N, adds(0, x)).unwrap()));
        self.rt.wait().unwrap();
        all
    }

    /// A graph of the first device.
    pub fn graph(&self, build: impl FnOnce(&Graph)) -> Graph {
        let graph = self.rt.graph("sim:0").unwrap();
        build(&graph);
        graph
    }

    /// An executable of such a graph.
    pub fn made(&self, build: impl FnOnce(&Graph)) -> Executable {
        self.graph(build).finalize().unwrap()
    }

    /// As [`made`](Self::made), for another device.
    pub fn made_on(&self, device: usize, build: impl FnOnce(&Graph)) -> Executable {
        let graph = self.rt.graph(&format!("sim:{device}")[..]).unwrap();
        build(&graph);
        graph.finalize().unwrap()
    }

    /// An executable that has run twice, so that nothing of it is new.
    pub fn warm(&self, build: impl FnOnce(&Graph)) -> Executable {
        let run = self.made(build);
        for _ in 0..2 {
            self.q.run_graph(&run).unwrap().wait().unwrap();
        }
        run
    }

    /// What the lanes are given by `act`. Nothing ends before all of it is submitted.
    pub fn held(&self, act: impl FnOnce()) -> String {
        self.hold(true);
        self.book.clear();
        act();
        self.hold(false);
        self.end();
        self.book.text()
    }

    /// As [`held`](Self::held), and what they are given only then stands below a line.
    pub fn through(&self, act: impl FnOnce()) -> String {
        self.held(|| {
            act();
            // A thread that waits hands over what another one was about to.
            assert!(!self.q.wait_timeout(Duration::ZERO).unwrap());
            self.book.note("(all ends)");
        })
    }

    /// As [`held`](Self::held), while a subscriber listens to all that this thread submits.
    pub fn heard(&self, act: impl FnOnce()) -> String {
        self.held(|| tracing::subscriber::with_default(Listener, act))
    }

    /// How many operations of each kind `act` leads to.
    pub fn tally(&self, act: impl FnOnce()) -> String {
        self.book.clear();
        act();
        self.end();
        self.book.tally()
    }

    fn hold(&self, on: bool) {
        let kinds = [LaneKind::Compute, LaneKind::Upload, LaneKind::Download, LaneKind::Peer];
        for device in 0..self.devices {
            for kind in kinds {
                match on {
                    true => self.sim.hold(device, kind),
                    false => self.sim.release(device, kind),
                }
            }
        }
    }

    /// Waits for everything; failures of work are the test's.
    fn end(&self) {
        drop(self.rt.wait());
        assert!(self.report.is_silent(), "{:?}", self.report);
        assert_eq!(self.sim.violations(), []);
    }
}

/// A subscriber that wants all of Folio's events.
struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "folio"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn event(&self, _: &tracing::Event<'_>) {}
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[kernel]
pub fn adds(i: Item, n: i32, x: InOut<i32>) {
    x[i] += n;
}

#[kernel]
pub fn adds_up(i: Item, x: In<i32>, y: InOut<i32>) {
    y[i] = y[i].wrapping_mul(3).wrapping_add(x[i]);
}

#[kernel]
pub fn joins(i: Item, x: In<i32>, y: In<i32>, z: Out<i32>) {
    z[i] = x[i].wrapping_add(y[i]);
}

/// A check is left in it.
#[kernel]
pub fn fails_at(i: Item, at: usize, x: InOut<i32>) {
    if i.index() == at {
        panic!("on purpose");
    }
    x[i] = x[i];
}

#[kernel]
pub fn sums(i: Item, x: In<i32>, sum: Reduce<i32, Add>) {
    sum.give(x[i]);
}

/// Where commands go: a queue, which runs them, or a graph, as its nodes.
pub trait Commands {
    type Submitted;

    fn put(&self, build: impl FnOnce(&mut CommandGroup)) -> Self::Submitted;

    /// Adds `n` to each element.
    fn bump(&self, n: i32, x: &Numbers) -> Self::Submitted {
        self.put(|cg| cg.run(N, adds(n, x)))
    }

    /// As [`bump`](Self::bump), of a part.
    fn bump_part(&self, n: i32, x: &Numbers, part: Range<usize>) -> Self::Submitted {
        let len = part.len();
        self.put(|cg| cg.run(len, adds(n, x.slice_mut([part.start], [len]).unwrap())))
    }

    /// Reads `x` and changes `y`.
    fn mix(&self, x: &Numbers, y: &Numbers) -> Self::Submitted {
        self.put(|cg| cg.run(N, adds_up(x, y)))
    }

    /// Reads `x` and `y`, and writes all of `z`.
    fn merge(&self, x: &Numbers, y: &Numbers, z: &Numbers) -> Self::Submitted {
        self.put(|cg| cg.run(N, joins(x, y, z)))
    }

    /// Fills `x`.
    fn set(&self, x: &Numbers, value: i32) -> Self::Submitted {
        self.put(|cg| cg.fill(x, value))
    }

    /// Copies `x` to `y`.
    fn copy_to(&self, x: &Numbers, y: &Numbers) -> Self::Submitted {
        self.put(|cg| cg.copy(x, y))
    }

    /// A kernel in which a check is left. It fails at an element that there is.
    fn check_at(&self, at: usize, x: &Numbers) -> Self::Submitted {
        self.put(|cg| cg.run(N, fails_at(at, x)))
    }

    /// A closure, which changes `x`.
    fn closure(&self, x: &Numbers) -> Self::Submitted {
        self.put(|cg| {
            let x = cg.read_write(x);
            cg.host_kernel([N], x, |i, mut x| x[i] += 1);
        })
    }

    /// The sum of `x`.
    fn total(&self, x: &Numbers, sum: &Numbers) -> Self::Submitted {
        self.put(|cg| cg.run(N, sums(x, sum.slice_mut([0], [1]).unwrap())))
    }

    /// A host task that changes `x`. It notes its name.
    fn task(&self, book: &Book, name: &'static str, x: &Numbers) -> Self::Submitted {
        let book = book.clone();
        self.put(|cg| {
            let x = cg.read_write(x);
            cg.each_run().host_task(x, move |_| book.note(format!("task {name}")));
        })
    }
}

impl Commands for Graph {
    type Submitted = Node;

    fn put(&self, build: impl FnOnce(&mut CommandGroup)) -> Node {
        self.add(build).unwrap()
    }
}

impl Commands for Queue {
    type Submitted = Event;

    fn put(&self, build: impl FnOnce(&mut CommandGroup)) -> Event {
        self.submit(|cg| {
            build(cg);
            Ok(())
        })
        .unwrap()
    }
}
