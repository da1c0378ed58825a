//! Plans as text, without a device and without threads: what comes before a command, and what the
//! command comes after.
//!
//! A test runs commands against a ledger with two devices, `1` and `2`, beside the host, `0`. Each
//! answer is the plan of one command:
//!
//! ```text
//! zero x[0..8]@1; copy y[0..4] 0->1 after w; k after zero x@1, copy y 0->1, (r)
//! ```
//!
//! What is in brackets only comes first; from the others data travels, and so failure. `w?` is for
//! memory that `w` may have spoilt. What has ended well is not named.

#![allow(clippy::expect_used, reason = "helpers of tests may panic")]

use super::{Planning, What};
use crate::engine::kernels::launch::Launch;
use crate::engine::lanes::port::LaneTable;
use crate::engine::ledger::queues::QueueState;
use crate::engine::ledger::{DeviceFacts, Ledger};
use crate::engine::pages::storage::{Alloc, Guard, Owner, StorageId, StorageState};
use crate::engine::pages::tracker::Tracker;
use crate::engine::runs::command::{Action, Command, End, HostBody, MemRect};
use crate::engine::terms::access::RawMem;
use crate::engine::terms::access::{Access, Mode};
use crate::engine::terms::lane::WaitKey;
use crate::engine::terms::note::Note;
use crate::error::{Error, Label};
use crate::geom::{Box3, Dims, Grid};
use crate::hal::{Geometry, HalError, HalErrorKind, HostPtr, Link, Lost, Side, Tick, WaitGroup};
use crate::order::hazards::{Deps, Flow, Outcome};
use crate::order::stamp::{LaneId, SlotId, Stamp, When};
use crate::pages::{BlockTracker, DomainId};
use std::collections::HashMap;
use std::sync::Arc;

/// The plan of a command.
macro_rules! check {
    ($plan:expr, $($step:literal),+) => {
        assert_eq!($plan, [$($step),+].join("; "))
    };
}

mod coherence;
mod evict;
mod failure;
mod links;
mod order;
mod shapes;
mod usm;

/// A storage of a rig.
#[derive(Clone, Copy)]
struct Buf {
    id: StorageId,
    grid: Grid,
}

/// An access of a command, before it is known where.
#[derive(Clone, Copy)]
struct Use(Buf, Box3, Mode);

/// Elements: of one dimension `0..4`, of more `[0..2, 0..4]`.
trait Elements {
    fn elements(self) -> Box3;
}

type Range = std::ops::Range<usize>;

impl Elements for Range {
    fn elements(self) -> Box3 {
        [self].elements()
    }
}

impl<const D: usize> Elements for [Range; D] {
    fn elements(self) -> Box3 {
        let mut all = Box3 { min: [0; 3], max: [1; 3] };
        for (d, range) in self.into_iter().enumerate() {
            (all.min[3 - D + d], all.max[3 - D + d]) = (range.start, range.end);
        }
        all
    }
}

impl Buf {
    fn read(self, part: impl Elements) -> Use {
        Use(self, part.elements(), Mode::Read)
    }

    fn update(self, part: impl Elements) -> Use {
        Use(self, part.elements(), Mode::Update)
    }

    /// Written, but perhaps not all of it.
    fn discard(self, part: impl Elements) -> Use {
        Use(self, part.elements(), Mode::Discard { whole: false })
    }

    /// All of it is written.
    fn write(self, part: impl Elements) -> Use {
        Use(self, part.elements(), Mode::Discard { whole: true })
    }

    fn all(self) -> Box3 {
        Box3::whole(self.grid.dims)
    }
}

/// A ledger, and the names of what was submitted to it.
struct Rig {
    ledger: Ledger,
    names: HashMap<Stamp, String>,
    /// Of an in-order queue.
    in_order: bool,
}

impl Rig {
    /// Devices whose lanes wait for each other, and that have no way to each other's memory.
    fn new() -> Rig {
        Rig::with(true)
    }

    fn with(waits: bool) -> Rig {
        let facts = (0..2u16).map(|at| DeviceFacts {
            domain: DomainId(at as u8 + 1),
            key: WaitKey { backend: 0, group: waits.then_some(WaitGroup(0)) },
            hints: false,
        });
        let names: Arc<[String]> = ["a", "b"].map(str::to_owned).into();
        let links = vec![Link::default(); 3];
        let table = Arc::new(LaneTable::new(2));
        let mut ledger = Ledger::new(facts.collect(), names, links, 1, table);
        ledger.topology.domain_device = vec![None, Some(0), Some(1)];
        ledger.queues.insert(QueueState::default());
        ledger.traced = true;
        Rig { ledger, names: HashMap::new(), in_order: false }
    }

    /// The devices reach each other.
    fn linked() -> Rig {
        let mut rig = Rig::new();
        let [a, b] = [DomainId(1), DomainId(2)];
        rig.ledger.topology.links.extend([((a, b), Link::default()), ((b, a), Link::default())]);
        rig
    }

    fn add(&mut self, name: &str, dims: Dims, page: Dims, home: Option<u8>) -> Buf {
        let grid = Grid::new(dims, page);
        let tracker = Tracker::Own(BlockTracker::new(grid.pages));
        let home = home.map(DomainId);
        let mut state = StorageState::new(Label::from(name), (grid, 1), tracker, home);
        for domain in (0..3).map(DomainId).filter(|d| home.is_none_or(|home| *d == home)) {
            let host = HostPtr(std::ptr::without_provenance_mut(64));
            let alloc = Alloc { host: None, ..Alloc::of_host(host, Owner::User, false) };
            state.set_alloc(domain, alloc);
        }
        Buf { id: StorageId(self.ledger.storages.insert(state), 0), grid }
    }

    /// A buffer of one dimension, of bytes, that holds nothing yet.
    fn buffer(&mut self, name: &str, len: usize, page: usize) -> Buf {
        self.add(name, [1, 1, len], [1, 1, page], None)
    }

    /// A buffer that is current on the host.
    fn filled(&mut self, name: &str, len: usize, page: usize) -> Buf {
        let buf = self.buffer(name, len, page);
        self.ledger.storages[buf.id.0].residency.adopt(DomainId::HOST);
        buf
    }

    /// As [`filled`](Self::filled), of two dimensions.
    fn filled_2d(&mut self, name: &str, dims: [usize; 2], page: [usize; 2]) -> Buf {
        let buf = self.add(name, [1, dims[0], dims[1]], [1, page[0], page[1]], None);
        self.ledger.storages[buf.id.0].residency.adopt(DomainId::HOST);
        buf
    }

    /// The plan of a kernel on a device.
    fn kernel(&mut self, name: &str, device: u8, uses: &[Use]) -> String {
        let launch = Launch::new(Geometry::new(1, [1, 1, 1]));
        self.run(name, device, uses, Action::Launch(Some(launch)))
    }

    /// The plan of a task on the host.
    fn task(&mut self, name: &str, uses: &[Use]) -> String {
        let body = HostBody::once(|_| Ok(()));
        self.run(name, 0, uses, Action::Task { body, params: Default::default() })
    }

    /// The plan of a command that only has data brought.
    fn prefetch(&mut self, name: &str, device: u8, uses: &[Use]) -> String {
        self.run(name, device, uses, Action::Nothing)
    }

    fn run(&mut self, name: &str, device: u8, uses: &[Use], action: Action) -> String {
        let domain = DomainId(device);
        let access =
            |&Use(buf, part, mode): &Use| Access::new((buf.id, &buf.grid), part, mode, domain);
        let mut command = Command::new(Some(0), self.in_order);
        command.device = device.checked_sub(1).map(u16::from);
        command.label = Label::from(name);
        command.accesses = uses.iter().map(access).collect();
        command.action = action;
        if let Err(error) = self.ledger.check(&command) {
            assert!(matches!(error, Error::HostAccessHeld { .. }), "{error}");
            return "refused".to_owned();
        }
        let place = |a: &Access| self.ledger.storages[a.storage.0].place(a.domain);
        let placed = command.accesses.iter().map(|a| Access { place: place(a), ..*a });
        let planned = self.planned(&placed.collect::<Vec<_>>());
        let told = self.submit(name, |ledger| ledger.run(&mut command));
        if self.ledger.timeline.failures.is_empty() {
            let steps = told.split("; ").map(|step| step.split(" after").next().unwrap_or(step));
            let steps: Vec<&str> = steps.take(planned.len()).collect();
            assert_eq!(steps, planned, "the plan is what is done");
        }
        told
    }

    /// The steps of a plan that is not applied.
    fn planned(&self, accesses: &[Access]) -> Vec<String> {
        let mut text = Vec::new();
        for step in self.ledger.view().plan(accesses, &[], &mut Planning::default()).steps {
            let storage = &self.ledger.storages[step.storage.0];
            let (label, on) = (&storage.label, step.on.0);
            match step.what {
                What::Bring { copies, .. } => text.extend(copies.iter().map(|copies| {
                    let parts = self.parts(label, &copies.boxes);
                    format!("copy {}{parts} {}->{on}", label.as_str(), copies.from.0)
                })),
                What::Zero { .. } => {
                    let elements = |pages| storage.residency.grid.elements_of(pages);
                    let boxes: Vec<Box3> = step.pages.iter().map(elements).collect();
                    let parts = self.parts(label, &boxes);
                    text.push(format!("zero {}{parts}@{on}", label.as_str()));
                }
                What::Switch { to } => {
                    let what = if to == Side::Device { "unmap" } else { "map" };
                    text.push(format!("{what} {}@{}", label.as_str(), step.at.0));
                }
                What::Complete | What::Lost { .. } => {}
            }
        }
        text
    }

    /// What comes before what `run` submits, and what that comes after.
    fn submit(&mut self, name: &str, run: impl FnOnce(&mut Ledger) -> Stamp) -> String {
        self.ledger.outbox.notes.clear();
        let stamp = run(&mut self.ledger);
        let mut text = Vec::new();
        let mut own = None;
        for note in std::mem::take(&mut self.ledger.outbox.notes) {
            match note {
                Note::Plan(plan) => own = Some(plan.after),
                Note::Transfer { label, stamp, after, from, to, boxes, .. } => {
                    let what = format!("copy {}{}", label.as_str(), self.parts(&label, &boxes));
                    let way = format!("{}->{}", from.0, to.0);
                    text.push(format!("{what} {way}{}", self.after(&after)));
                    self.names.insert(stamp, format!("copy {} {way}", label.as_str()));
                }
                Note::Zero { label, stamp, after, on, boxes } => {
                    let parts = self.parts(&label, &boxes);
                    let what = format!("zero {}{parts}@{}", label.as_str(), on.0);
                    text.push(format!("{what}{}", self.after(&after)));
                    self.names.insert(stamp, format!("zero {}@{}", label.as_str(), on.0));
                }
                Note::Switch { label, stamp, after, on, maps } => {
                    let what = format!("{} {}", if maps { "map" } else { "unmap" }, label.as_str());
                    text.push(format!("{what}@{}{}", on.0, self.after(&after)));
                    self.names.insert(stamp, what);
                }
                _ => {}
            }
        }
        let after = own.unwrap_or_default();
        text.push(format!("{name}{}", self.after(&after)));
        self.names.insert(stamp, name.to_owned());
        text.join("; ")
    }

    fn parts(&self, label: &Label, boxes: &[Box3]) -> String {
        let storage = self.ledger.storages.iter().find(|s| s.label == *label).expect("it is there");
        let dims = storage.residency.grid.dims;
        let first = (0..2).find(|&d| dims[d] > 1).unwrap_or(2);
        let part = |part: &Box3| {
            let ranges = (first..3).map(|d| format!("{}..{}", part.min[d], part.max[d]));
            ranges.collect::<Vec<_>>().join(",")
        };
        let parts: Vec<String> = boxes.iter().map(part).collect();
        format!("[{}]", parts.join(" + "))
    }

    fn after(&self, deps: &Deps) -> String {
        let mut names: Vec<String> = Vec::new();
        for dep in deps {
            let stamp = dep.stamp;
            let outcome = self.ledger.timeline.outcome(stamp);
            if outcome == Outcome::Fine {
                continue;
            }
            let name = self.names.get(&stamp).cloned();
            let name = name.unwrap_or_else(|| match self.ledger.timeline.failure(stamp) {
                Some(failure) => format!("loss of {}", failure.label()),
                None => "?".to_owned(),
            });
            let failed = if outcome == Outcome::Failed { "failed " } else { "" };
            names.push(match dep.flow {
                flow if flow.has(Flow::USES) => format!("{failed}{name}"),
                flow if flow.has(Flow::KEEPS) => format!("{failed}{name}?"),
                _ => format!("({failed}{name})"),
            });
        }
        names.sort();
        names.dedup();
        if names.is_empty() { String::new() } else { format!(" after {}", names.join(", ")) }
    }

    fn stamp(&self, name: &str) -> Stamp {
        let found = self.names.iter().filter(|(_, known)| *known == name).map(|(s, _)| *s);
        found.max().expect("it was submitted")
    }

    /// An operation ends, and with it all before it on its lane.
    fn ends(&mut self, name: &str) {
        self.end(name, None);
    }

    /// An operation ends, and has failed.
    fn fails(&mut self, name: &str) {
        self.end(name, Some(HalError::unsupported("it failed")));
    }

    /// An operation is refused: its device is lost.
    fn finds_loss(&mut self, name: &str) {
        self.end(name, Some(HalError::new(HalErrorKind::Lost, "gone")));
    }

    fn end(&mut self, name: &str, error: Option<HalError>) {
        let stamp = self.stamp(name);
        match self.ledger.timeline.resolve(stamp).when() {
            When::Done => {}
            When::Placed(lane, tick) => {
                let reported = &mut self.ledger.timeline.lanes[usize::from(lane.0)].reported;
                reported.extend(error.map(|error| (tick, error)));
                self.retire(lane, tick);
                self.ledger.settle();
            }
            When::Unplaced(slot, _) => {
                let cause = error.map(crate::error::Cause::Backend);
                self.ledger
                    .host_done(SlotId(slot.0), cause.map_or(Ok(()), |cause| Err(cause.into())));
            }
        }
        assert_ne!(self.ledger.timeline.outcome(stamp), Outcome::Pending, "{name} has not ended");
    }

    fn all_ends(&mut self) {
        for lane in 0..self.ledger.timeline.lanes.len() {
            let issued = self.ledger.timeline.lanes[lane].issued;
            self.retire(LaneId(lane as u16), issued);
        }
        self.ledger.settle();
    }

    /// A lane ends up to a tick, after what its operations use on other lanes.
    fn retire(&mut self, lane: LaneId, tick: Tick) {
        self.ledger.retire(lane, tick);
        while let Some((source, own)) = self.ledger.timeline.lanes[usize::from(lane.0)].held {
            self.retire(source, own);
            self.ledger.retire(lane, tick);
        }
    }

    fn is_deferred(&self, name: &str) -> bool {
        self.ledger.timeline.resolve(self.stamp(name)).lane().is_none()
    }

    fn has_failed(&self, name: &str) -> bool {
        self.ledger.timeline.outcome(self.stamp(name)) == Outcome::Failed
    }

    /// The plan of a fill of all of a storage by its address.
    fn raw(&mut self, name: &str, device: u8, buf: Buf) -> String {
        let domain = DomainId(device);
        let mem = self.ledger.storages[buf.id.0].alloc(domain).expect("it is there").mem;
        let end = End::Raw(RawMem { mem, domain, storage: Some(buf.id) });
        let extent = [1, 1, buf.all().volume() as u64];
        let to = MemRect { end, offset: 0, pitch: [0; 2], extent };
        self.run(name, device, &[], Action::Fill { to, pattern: [1].into_iter().collect() })
    }

    /// What is done when the program says that it has written something.
    fn assume_written(&mut self, name: &str, device: u8, Use(buf, part, mode): Use) -> String {
        let access = Access::new((buf.id, &buf.grid), part, mode, DomainId(device));
        self.submit(name, |ledger| {
            let stamp = ledger.surround(&access);
            ledger.storages.mark(&[access], stamp, &ledger.timeline);
            stamp
        })
    }

    /// A device is lost.
    fn lose(&mut self, device: u8) {
        self.ledger.lose(usize::from(device) - 1, &Lost::new("gone"));
    }

    fn hold(&mut self, buf: Buf, part: impl Elements, writes: bool) {
        let pages = buf.grid.pages_of(&part.elements());
        self.ledger.storages[buf.id.0].guards.push(Guard {
            id: 1,
            domain: DomainId::HOST,
            pages,
            writes,
        });
    }
}
