//! Runs: commands of a queue that are planned and placed under one hold of the ledger, so no other
//! command comes between them. Each of them may be a [list](super::list), which is one command.
//! What it waits for and what has to be moved for it is found as for any command, so a run is right
//! wherever the data are.

use crate::engine::Engine;
use crate::engine::ledger::Ledger;
use crate::engine::ledger::storages::Storages;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::pages::storage::StorageId;
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::list::List;
use crate::engine::terms::access::{Access, Missing};
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
    /// The end of the latest run, where runs do not overlap.
    pub(crate) latest: Option<&'a Mutex<Stamp>>,
    /// What counts as never written after the run.
    pub(crate) internal: &'a [StorageId],
    /// By command, for a subscriber that listens: see [`Command::fusion`].
    pub(crate) fusion: &'a [Option<Arc<str>>],
}

/// A run that was submitted.
pub(crate) struct Ran {
    /// Done when all commands are.
    pub(crate) stamp: Stamp,
    /// By command.
    pub(crate) stamps: SmallVec<[Stamp; 2]>,
}

/// Where a list runs, and what it comes after but for its data.
#[derive(Clone, Copy)]
pub(crate) struct On<'a> {
    pub(crate) queue: u32,
    pub(crate) in_order: bool,
    pub(crate) device: u16,
    pub(crate) timed: bool,
    pub(crate) label: &'a Label,
    /// See [`Command::fusion`].
    pub(crate) fusion: Option<&'a Arc<str>>,
    /// It fails with these.
    pub(crate) after: &'a [Stamp],
    pub(crate) behind: &'a [Stamp],
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
        // None of the commands is a list.
        let outdated = || Error::Actions { command: Label::NONE, actions: 0 };
        self.run(&run, commands, &order)?.ok_or_else(outdated)
    }

    /// Submits the parts of a launch as one command of a queue; nothing, if one is refused.
    pub(crate) fn run_parts(
        &self,
        (queue, in_order): (u32, bool),
        commands: &mut [Command],
    ) -> Result<Ran, Error> {
        let device = commands.iter().find_map(|command| command.device).unwrap_or(0);
        let all: Vec<u32> = (0..commands.len() as u32).collect();
        let after = vec![SmallVec::new(); commands.len()];
        let order = Order { after, first: all.clone(), last: all };
        let (after, latest, internal, fusion) = (&[][..], None, &[][..], &[][..]);
        let run = Run { queue, in_order, device, after, latest, internal, fusion };
        // None of the commands is a list.
        let outdated = || Error::Actions { command: Label::NONE, actions: 0 };
        self.run(&run, commands, &order)?.ok_or_else(outdated)
    }

    /// Submits the commands of a run; nothing, if one of them is refused. `None`, and nothing is
    /// submitted, if one is a list that is to be compiled again.
    pub(crate) fn run(
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
        let uses: Vec<Access> = accesses.copied().collect();
        let reserved = self.reserve(ledger, &uses, |ledger| {
            let mut missing = Missing::default();
            for command in &*commands {
                ledger.check(command)?;
                ledger.storages.add_missing(&command.accesses, &mut missing);
            }
            Ok(missing.tidied())
        });
        let mut ledger = match reserved {
            Ok(ledger) => ledger,
            Err(error) => {
                // Looking at the lanes may have left something to do.
                self.enter(|_| ());
                return Err(error);
            }
        };
        if commands.iter().any(|command| ledger.storages.is_outdated(command)) {
            hold.end();
            self.leave(ledger);
            return Ok(None);
        }
        ledger.traced = traced;
        let mut latest = run.latest.map(Mutex::lock);
        let before = latest.as_ref().map_or(Stamp::DONE, |latest| **latest);
        let mut running = Running::new((run, order, self.plant), before, &mut ledger);
        for (at, command) in (0..).zip(commands) {
            running.submit(at, command, &mut ledger);
        }
        let stamp = running.end(&mut ledger);
        let stamps = running.stamps;
        if let Some(latest) = &mut latest {
            **latest = stamp;
        }
        drop(latest);
        hold.end();
        self.leave(ledger);
        Ok(Some(Ran { stamp, stamps }))
    }

    /// What speaks against commands, each by itself.
    pub(crate) fn check_each<'c>(
        &self,
        mut commands: impl Iterator<Item = &'c Command>,
    ) -> Result<(), Error> {
        self.enter(|ledger| commands.try_for_each(|command| ledger.check(command)))
    }

    /// Submits a list of a block as one command of a queue. `None`, and nothing is submitted, if it
    /// is to be compiled again, or if something speaks against one of its commands.
    pub(crate) fn run_list(&self, on: On<'_>, list: &Arc<List>) -> Option<Stamp> {
        let traced = foreign::listening();
        let mut ledger = self.lock();
        let hold = Hold::begin();
        ledger.traced = traced;
        ledger.look_at(on.device);
        let straight = ledger.straight_list(on, list, self.plant);
        let stamp = match straight {
            Some((stamp, _)) => Some(stamp),
            None => ledger.general_list(on, list, self.plant),
        };
        hold.end();
        match straight {
            Some((_, lane)) if ledger.is_quiet() => {
                drop(ledger);
                self.hand_over(lane);
            }
            Some((_, lane)) => {
                ledger.outbox.drain.push(lane);
                self.leave(ledger);
            }
            None => self.leave(ledger),
        }
        stamp
    }
}

/// A run that is being submitted.
struct Running<'r> {
    run: &'r Run<'r>,
    order: &'r Order,
    plant: Plant,
    /// What the first commands come after: by the queue, and the latest run.
    before: [Stamp; 2],
    /// By command, of those so far.
    stamps: SmallVec<[Stamp; 2]>,
}

impl<'r> Running<'r> {
    fn new(
        (run, order, plant): (&'r Run<'r>, &'r Order, Plant),
        latest: Stamp,
        ledger: &mut Ledger,
    ) -> Running<'r> {
        let state = ledger.queues.get_mut(run.queue);
        let queue =
            state.map_or(Stamp::DONE, |queue| if run.in_order { queue.last } else { queue.fence });
        Running { run, order, plant, before: [queue, latest], stamps: SmallVec::new() }
    }

    /// Submits the next command, which has this number.
    fn submit(&mut self, at: u32, command: &mut Command, ledger: &mut Ledger) {
        self.link(at, command);
        if ledger.traced {
            command.fusion = self.run.fusion.get(at as usize).cloned().flatten();
        }
        let list = match &command.action {
            Action::Replay(list) => Some(list.clone()),
            _ => None,
        };
        let straight = match &list {
            Some(list) => {
                let on = On {
                    queue: self.run.queue,
                    in_order: false,
                    device: command.device.unwrap_or(self.run.device),
                    timed: command.timed,
                    label: &command.label,
                    fusion: command.fusion.as_ref(),
                    after: &command.after,
                    behind: &command.behind,
                };
                ledger.straight_list(on, list, self.plant)
            }
            None => ledger.straight(command),
        };
        let stamp = match straight {
            Some((stamp, lane)) => {
                if !ledger.outbox.drain.contains(&lane) {
                    ledger.outbox.drain.push(lane);
                }
                stamp
            }
            None => {
                let latest = list.iter().map(|list| list.native.latest());
                command.behind.extend(latest.filter(|latest| *latest != Stamp::DONE));
                let stamp = ledger.run(command);
                list.iter().for_each(|list| list.native.note_latest(stamp));
                stamp
            }
        };
        self.stamps.push(stamp);
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
            let Some(stamp) = self.stamps.get(*before as usize).copied() else { continue };
            if *uses { command.after.push(stamp) } else { command.behind.push(stamp) }
        }
    }

    /// The stamp that is done when all commands are.
    fn end(&self, ledger: &mut Ledger) -> Stamp {
        let mut ends = Deps::new();
        for at in &self.order.last {
            let stamp = self.stamps.get(*at as usize).copied().unwrap_or(Stamp::DONE);
            let is_first = self.order.last.first() == Some(at);
            let forgets = is_first && self.plant.is(Planted::LostFailure);
            add_dep(&mut ends, stamp, if forgets { Flow::ORDER } else { Flow::USES });
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
        let Ledger { storages, timeline, queues, .. } = ledger;
        queues.note_stamp((Some(self.run.queue), self.run.in_order), end, timeline);
        storages.forget(self.run.internal, timeline);
        end
    }
}

impl Ledger {
    /// Takes a block's list as one command, as any other one. Nothing, if it is to be compiled
    /// again, or if it is refused.
    fn general_list(&mut self, on: On<'_>, list: &Arc<List>, plant: Plant) -> Option<Stamp> {
        let mut command = list.command_on(on);
        let is_current = list.is_current() || plant.is(Planted::OldVersion);
        let is_there = is_current && self.storages.is_where_it_was(list);
        if !is_there
            || !self.storages.missing(&command.accesses).is_empty()
            || self.check(&command).is_err()
        {
            return None;
        }
        let stamp = self.run(&mut command);
        list.native.note_latest(stamp);
        Some(stamp)
    }
}

impl Storages {
    /// What these memories hold is gone. They count as never written, but for pages that a host
    /// guard shows.
    pub(in crate::engine) fn forget(&mut self, all: &[StorageId], timeline: &Timeline) {
        let known = &|stamp| timeline.outcome(stamp);
        for id in all {
            let Some(storage) = self.get_mut(id.0) else { continue };
            let mut free: SmallVec<[Box3; 2]> = SmallVec::new();
            storage
                .unheld(&storage.residency.grid.all(), DomainId::HOST, &mut |part| free.push(part));
            free.iter().for_each(|pages| storage.residency.forget(pages, known));
        }
    }
}
