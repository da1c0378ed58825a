//! Runs of command graphs: all commands of a run are planned and placed under one hold of the
//! ledger, so no other command comes between them. What each of them waits for and what has to be
//! moved for it is found as for any command, so a run is right wherever the data are.
//!
//! Commands of a run may have become one, by a graph of the device's own: see
//! [`whole`](super::whole) and [`part`](mod@super::part).

use crate::engine::Engine;
use crate::engine::ledger::Ledger;
use crate::engine::pages::storage::StorageId;
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::part::{self, Apart, Joined};
use crate::engine::runs::whole::Whole;
use crate::engine::terms::access::Missing;
use crate::error::{Error, Label};
use crate::foreign;
use crate::geom::Box3;
use crate::metrics::Hold;
use crate::order::hazards::{Deps, Flow, add_dep};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use crate::planted::{Plant, Planted};
use crate::sync::Mutex;
use smallvec::SmallVec;
use std::collections::HashSet;
use std::sync::Arc;

/// The order of the commands of a run, which are numbered as they are submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    /// By command: the earlier ones that it follows by an edge of the graph, and whether it fails
    /// with them. Conflicts of data are not among these: the ledger knows them.
    pub(crate) after: Vec<SmallVec<[(u32, bool); 2]>>,
    /// Commands that come after no other one of the run.
    pub(crate) first: Vec<u32>,
    /// Commands whose failure no later one of the run takes over. When they have ended, all have.
    pub(crate) last: Vec<u32>,
}

/// Who runs a graph, and when.
pub(crate) struct Run<'a> {
    pub(crate) queue: u32,
    pub(crate) in_order: bool,
    pub(crate) device: u16,
    /// What the run comes after, and fails with.
    pub(crate) after: &'a [Stamp],
    /// Runs of a graph do not overlap.
    pub(crate) latest: Option<&'a Mutex<Latest>>,
    /// What counts as never written after the run.
    pub(crate) internal: &'a [StorageId],
    /// By command, for a subscriber that listens: see [`Command::fusion`].
    pub(crate) fusion: &'a [Option<Arc<str>>],
}

/// The latest run of a graph.
#[derive(Default)]
pub(crate) struct Latest {
    /// When it ends.
    end: Stamp,
    sure: Sure,
}

/// Parts that only the device can fail: a few as a list, more of them as a set.
#[derive(Clone, Default)]
pub(crate) struct Sure {
    few: SmallVec<[Stamp; 2]>,
    more: HashSet<Stamp>,
}

impl Sure {
    /// How many are looked through one by one.
    const FEW: usize = 16;

    pub(crate) fn contains(&self, stamp: Stamp) -> bool {
        self.few.contains(&stamp) || self.more.contains(&stamp)
    }

    pub(in crate::engine) fn len(&self) -> usize {
        self.few.len() + self.more.len()
    }

    /// Keeps those of which this is true.
    pub(in crate::engine) fn retain(&mut self, keeps: impl Fn(Stamp) -> bool) {
        self.few.retain(|stamp| keeps(*stamp));
        self.more.retain(|stamp| keeps(*stamp));
    }

    pub(in crate::engine) fn push(&mut self, stamp: Stamp) {
        if self.few.len() < Sure::FEW {
            self.few.push(stamp);
        } else {
            self.more.insert(stamp);
        }
    }
}

/// A run that was submitted.
pub(crate) struct Ran {
    /// Done when all commands are.
    pub(crate) stamp: Stamp,
    /// By replay: why its commands were submitted one by one, if they were.
    pub(crate) parts: Vec<Option<Apart>>,
    /// By command; empty where all of them are one operation.
    pub(crate) stamps: Vec<Option<Stamp>>,
}

impl Ran {
    /// The stamp of a command.
    pub(crate) fn stamp_of(&self, at: u32) -> Option<Stamp> {
        match self.stamps.is_empty() {
            true => Some(self.stamp),
            false => self.stamps.get(at as usize).copied().flatten(),
        }
    }
}

impl Engine {
    /// Submits commands of a queue that follow one another as they would by themselves; nothing, if
    /// one of them is refused.
    pub(crate) fn run_all(&self, queue: u32, commands: &mut [Command]) -> Result<Ran, Error> {
        let device = commands.iter().find_map(|command| command.device).unwrap_or(0);
        let after = vec![SmallVec::new(); commands.len()];
        let order = Order { after, ..Order::default() };
        let (after, latest, internal, fusion) = (&[][..], None, &[][..], &[][..]);
        let run = Run { queue, in_order: false, device, after, latest, internal, fusion };
        // No command is of a graph of the device's.
        let outdated = || Error::Actions { command: Label::NONE, actions: 0 };
        self.replay(&run, commands, &order)?.ok_or_else(outdated)
    }

    /// Submits the commands of a run; nothing, if one of them is refused. A replay stands where its
    /// first command would. `None`, and nothing is submitted, if one is of a graph that is to be
    /// made again.
    pub(crate) fn replay(
        &self,
        run: &Run<'_>,
        commands: &mut [Command],
        order: &Order,
    ) -> Result<Option<Ran>, Error> {
        let traced = foreign::listening();
        let mut ledger = self.lock();
        let hold = Hold::begin();
        ledger.look_at(run.device);
        let accesses = commands.iter().flat_map(|command| &command.accesses);
        let keep: Vec<StorageId> = accesses.map(|access| access.storage).collect();
        let reserved = self.reserve(ledger, &keep, |ledger| {
            let mut missing = Missing::new();
            for command in &*commands {
                ledger.check_in_run(command)?;
                missing.extend(ledger.missing(&command.accesses));
            }
            missing.sort_unstable();
            missing.dedup();
            Ok(missing)
        });
        let mut ledger = match reserved {
            Ok(ledger) => ledger,
            Err(error) => {
                // Looking at the lanes may have left something to do.
                self.enter(|_| ());
                return Err(error);
            }
        };
        if commands.iter().any(|command| ledger.is_outdated(command)) {
            hold.end();
            self.leave(ledger);
            return Ok(None);
        }
        ledger.traced = traced;
        let mut latest = run.latest.map(Mutex::lock);
        let which = (run, order, self.plant);
        let mut running = Running::new(which, latest.as_deref(), &mut ledger);
        commands.iter_mut().for_each(|command| running.submit(command, &mut ledger));
        let end = running.end(&mut ledger);
        let Running { parts, sure, stamps, .. } = running;
        if let Some(latest) = &mut latest {
            **latest = Latest { end, sure };
        }
        drop(latest);
        hold.end();
        self.leave(ledger);
        Ok(Some(Ran { stamp: end, parts, stamps }))
    }
}

/// A run that is being submitted.
struct Running<'r> {
    run: &'r Run<'r>,
    order: &'r Order,
    plant: Plant,
    /// What the first commands come after: by the queue, and the latest run.
    before: [Stamp; 2],
    /// By command, of those so far. Empty until the first of several operations.
    stamps: Vec<Option<Stamp>>,
    /// The operation that all commands are.
    all: Option<Stamp>,
    /// The next command that has no stamp.
    next: usize,
    parts: Vec<Option<Apart>>,
    /// Those of the latest run, while this one is submitted, and its own.
    known: Sure,
    sure: Sure,
}

impl<'r> Running<'r> {
    fn new(
        (run, order, plant): (&'r Run<'r>, &'r Order, Plant),
        latest: Option<&Latest>,
        ledger: &mut Ledger,
    ) -> Running<'r> {
        let state = ledger.queues.get_mut(run.queue);
        let queue =
            state.map_or(Stamp::DONE, |queue| if run.in_order { queue.last } else { queue.fence });
        let before = [queue, latest.map_or(Stamp::DONE, |latest| latest.end)];
        let known = latest.map(|latest| latest.sure.clone()).unwrap_or_default();
        let (stamps, parts, sure) = (Vec::new(), Vec::new(), Sure::default());
        Running { run, order, plant, before, stamps, all: None, next: 0, parts, known, sure }
    }

    /// Submits the next command, or those that a replay stands for.
    fn submit(&mut self, command: &mut Command, ledger: &mut Ledger) {
        while self.stamps.get(self.next).is_some_and(Option::is_some) {
            self.next += 1;
        }
        let at = self.next as u32;
        let Action::Replay(whole) = &command.action else {
            return self.submit_one(at, command, ledger);
        };
        let whole = whole.clone();
        self.link(at, command);
        if whole.fixed.members.is_empty() {
            if ledger.traced {
                let all: Vec<&str> = self.run.fusion.iter().flatten().map(|text| &**text).collect();
                command.fusion = (!all.is_empty()).then(|| all.join("\n").into());
            }
            let stamp = ledger.run(command);
            self.parts.push(None);
            return self.note_all(&whole, stamp);
        }
        match ledger.join(command, &whole, &|stamp| self.known.contains(stamp), self.plant) {
            Ok(Joined { stamp, sure, brought }) => {
                for stamp in brought.into_iter().chain(sure.then_some(stamp)) {
                    self.known.push(stamp);
                    self.sure.push(stamp);
                }
                self.parts.push(None);
                self.note_all(&whole, stamp);
            }
            Err(why) => {
                self.parts.push(Some(why));
                let timed = command.timed;
                for (at, mut command) in part::again(&whole) {
                    command.queue = Some(self.run.queue);
                    command.timed = timed;
                    self.submit_one(at, &mut command, ledger);
                }
            }
        }
    }

    fn submit_one(&mut self, at: u32, command: &mut Command, ledger: &mut Ledger) {
        self.link(at, command);
        if ledger.traced {
            command.fusion = self.run.fusion.get(at as usize).cloned().flatten();
        }
        let stamp = match ledger.straight(command) {
            Some((stamp, lane)) => {
                if !ledger.outbox.drain.contains(&lane) {
                    ledger.outbox.drain.push(lane);
                }
                stamp
            }
            None => ledger.run(command),
        };
        self.note(at, stamp);
    }

    /// Says what the command of a number comes after, but for its data.
    fn link(&self, at: u32, command: &mut Command) {
        if self.order.first.binary_search(&at).is_ok() {
            command.after.extend_from_slice(self.run.after);
            command.behind.extend(self.before.into_iter().filter(|s| *s != Stamp::DONE));
        }
        if self.plant.is(Planted::LostEdge) {
            return;
        }
        let edges = self.order.after.get(at as usize).into_iter().flatten();
        for (before, uses) in edges {
            let Some(stamp) = self.stamps.get(*before as usize).copied().flatten() else {
                continue;
            };
            if *uses { command.after.push(stamp) } else { command.behind.push(stamp) }
        }
    }

    fn note_all(&mut self, whole: &Arc<Whole>, stamp: Stamp) {
        if whole.fixed.at.len() == self.order.after.len() {
            self.all = Some(stamp);
            return;
        }
        whole.fixed.at.iter().for_each(|at| self.note(*at, stamp));
    }

    fn note(&mut self, at: u32, stamp: Stamp) {
        if self.stamps.is_empty() {
            self.stamps.resize(self.order.after.len(), None);
        }
        if let Some(known) = self.stamps.get_mut(at as usize) {
            *known = Some(stamp);
        }
    }

    /// The stamp that is done when all commands are.
    fn end(&self, ledger: &mut Ledger) -> Stamp {
        let mut ends = Deps::new();
        match self.all {
            Some(stamp) => add_dep(&mut ends, stamp, Flow::USES),
            None => self.order.last.iter().for_each(|at| {
                let stamp = self.stamps.get(*at as usize).copied().flatten();
                let stamp = stamp.unwrap_or(Stamp::DONE);
                let is_first = self.order.last.first() == Some(at);
                let forgets = is_first && self.plant.is(Planted::LostFailure);
                let flow = if forgets { Flow::ORDER } else { Flow::USES };
                add_dep(&mut ends, stamp, flow);
            }),
        }
        if self.order.after.is_empty() {
            self.run.after.iter().for_each(|stamp| add_dep(&mut ends, *stamp, Flow::USES));
            self.before.iter().for_each(|stamp| add_dep(&mut ends, *stamp, Flow::ORDER));
        }
        let end = match &ends[..] {
            [] => Stamp::DONE,
            [one] if one.flow == Flow::USES => one.stamp,
            _ => ledger.meet(ends),
        };
        ledger.note_in_queue(Some(self.run.queue), end, self.run.in_order);
        ledger.forget(self.run.internal);
        end
    }
}

impl Ledger {
    /// What these memories hold is gone. They count as never written, but for pages that a host
    /// guard shows.
    pub(in crate::engine) fn forget(&mut self, all: &[StorageId]) {
        let timeline = &self.timeline;
        let known = &|stamp| timeline.outcome(stamp);
        for id in all {
            let Some(storage) = self.storages.get_mut(id.0) else { continue };
            let mut free: SmallVec<[Box3; 2]> = SmallVec::new();
            storage
                .unheld(&storage.residency.grid.all(), DomainId::HOST, &mut |part| free.push(part));
            free.iter().for_each(|pages| storage.residency.forget(pages, known));
        }
    }
}
