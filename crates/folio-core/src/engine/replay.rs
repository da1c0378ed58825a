//! Runs of command graphs: all commands of a run are planned and placed under one hold of the
//! ledger, so no other command comes between them. What each of them waits for and what has to be
//! moved for it is found as for any command, so a run is right wherever the data are.

use super::command::Command;
use super::ledger::Ledger;
use super::storage::StorageId;
use super::{Engine, Missing, trace};
use crate::error::Error;
use crate::geom::Box3;
use crate::metrics::Hold;
use crate::order::hazards::{Deps, Flow, add_dep};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
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
    /// The end of the latest run: runs of a graph do not overlap.
    pub(crate) latest: Option<&'a Mutex<Stamp>>,
    /// What counts as never written after the run.
    pub(crate) internal: &'a [StorageId],
    /// By command, for a subscriber that listens: see [`Command::fusion`].
    pub(crate) fusion: &'a [Option<Arc<str>>],
}

impl Engine {
    /// Submits the commands of a run; nothing, if one of them is refused. Returns a stamp that is
    /// done when all are.
    pub(crate) fn replay(
        &self,
        run: &Run<'_>,
        commands: &mut [Command],
        order: &Order,
    ) -> Result<(Stamp, super::failures::EpochPin), Error> {
        let traced = trace::listening();
        let mut ledger = self.lock();
        let hold = Hold::begin();
        ledger.look_at(run.device);
        let accesses = commands.iter().flat_map(|command| &command.accesses);
        let keep: Vec<StorageId> = accesses.map(|access| access.storage).collect();
        let reserved = self.reserve(ledger, &keep, |ledger| {
            let mut missing = Missing::new();
            for command in &*commands {
                ledger.check(command)?;
                for need in ledger.missing(&command.accesses) {
                    if !missing.contains(&need) {
                        missing.push(need);
                    }
                }
            }
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
        ledger.traced = traced;
        if traced {
            for (command, fusion) in commands.iter_mut().zip(run.fusion) {
                command.fusion.clone_from(fusion);
            }
        }
        let state = ledger.queues.get_mut(run.queue);
        let before =
            state.map_or(Stamp::DONE, |queue| if run.in_order { queue.last } else { queue.fence });
        let mut latest = run.latest.map(Mutex::lock);
        let before = [before, latest.as_deref().copied().unwrap_or(Stamp::DONE)];
        for at in &order.first {
            let Some(command) = commands.get_mut(*at as usize) else { continue };
            command.after.extend_from_slice(run.after);
            command.behind.extend(before.into_iter().filter(|stamp| *stamp != Stamp::DONE));
        }
        let mut stamps: Vec<Stamp> = Vec::with_capacity(commands.len());
        for (command, after) in commands.iter_mut().zip(&order.after) {
            for (before, uses) in after {
                let Some(stamp) = stamps.get(*before as usize) else { continue };
                if *uses { command.after.push(*stamp) } else { command.behind.push(*stamp) }
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
            stamps.push(stamp);
        }
        let mut ends = Deps::new();
        for at in &order.last {
            let stamp = stamps.get(*at as usize).copied().unwrap_or(Stamp::DONE);
            add_dep(&mut ends, stamp, Flow::USES);
        }
        if commands.is_empty() {
            run.after.iter().for_each(|stamp| add_dep(&mut ends, *stamp, Flow::USES));
            before.iter().for_each(|stamp| add_dep(&mut ends, *stamp, Flow::ORDER));
        }
        let end = match &ends[..] {
            [] => Stamp::DONE,
            [one] if one.flow == Flow::USES => one.stamp,
            _ => ledger.meet(ends),
        };
        ledger.note_in_queue(Some(run.queue), end, run.in_order);
        ledger.forget(run.internal);
        if let Some(latest) = &mut latest {
            **latest = end;
        }
        drop(latest);
        let pin = ledger.timeline.failures.pin();
        hold.end();
        self.leave(ledger);
        Ok((end, pin))
    }
}

impl Ledger {
    /// What these memories hold is gone. They count as never written, but for pages that a host
    /// guard shows.
    pub(super) fn forget(&mut self, all: &[StorageId]) {
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
