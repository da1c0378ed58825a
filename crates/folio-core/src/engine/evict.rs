//! Memory pressure: copies of buffers that may go give way to memory that is asked for.
//!
//! Only buffers that the program has said so of, and only allocations that no command, guard, view
//! or pointer uses. One that holds the only current copy of something goes only where the program
//! allows to write that to the host first.

use super::Engine;
use super::ledger::Ledger;
use super::storage::{Garbage, Life, Owner, StorageId, StorageState};
use super::wait::Waited;
use crate::hal::Side;
use crate::order::hazards::Outcome;
use crate::order::stamp::{LaneId, SlotId, Stamp};
use crate::pages::DomainId;

/// What may happen to a buffer's copies when memory is short.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Evict {
    pub(crate) priority: i32,
    pub(crate) dirty: bool,
}

impl Evict {
    /// Copies that are current elsewhere, too, may be freed: those that were used least recently
    /// first.
    pub fn clean() -> Evict {
        Evict::default()
    }

    /// As [`clean`](Self::clean), and copies of devices that are the only current ones may be
    /// written to the host and then be freed.
    pub fn dirty() -> Evict {
        Evict { priority: 0, dirty: true }
    }

    /// Buffers of lower priority give way first, whenever they were used.
    #[must_use]
    pub fn priority(self, priority: i32) -> Evict {
        Evict { priority, ..self }
    }
}

/// A step on the way to room.
enum Step {
    /// An allocation was freed.
    Freed,
    /// One can be freed when this command has ended.
    Wait(Stamp),
    /// This one can be freed when it is written to the host.
    Written(StorageId, Stamp),
    /// One can be freed when its contents are on the host, where the buffer has no memory yet.
    NeedsHost(StorageId),
    /// Nothing can be freed.
    Nothing,
}

impl StorageState {
    /// Its allocation on `domain` may go, now or when its commands have ended.
    fn may_give(&self, domain: DomainId) -> Option<Evict> {
        let evict = self.evict?;
        let alloc = self.alloc(domain)?;
        let owned = match alloc.owner {
            Owner::Host(_) => domain.is_host(),
            Owner::Device(..) => true,
            Owner::User => false,
        };
        let free = owned
            && self.life == Life::Open
            && self.home.is_none()
            && !self.pointed
            && self.guards.is_empty();
        // Of a link, the device's side over the host's memory may go; not the memory itself.
        let linked = match self.link {
            Some(link) if domain.is_host() || link.device == domain => {
                link.over_host && link.device == domain && link.turn.active != Side::Device
            }
            _ => true,
        };
        (free && linked).then_some(evict)
    }
}

impl Ledger {
    /// The storages that may give up memory on `domain`, the first to do so first.
    fn candidates(&self, domain: DomainId, keep: &[StorageId]) -> Vec<StorageId> {
        let ids = self.storages.ids().map(StorageId).filter(|id| !keep.contains(id));
        let mut found: Vec<_> = ids
            .filter_map(|id| {
                let storage = &self.storages[id.0];
                let evict = storage.may_give(domain)?;
                Some((evict.priority, storage.used, id))
            })
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, _, id)| id).collect()
    }

    fn evict_one(&mut self, domain: DomainId, keep: &[StorageId], written: &[StorageId]) -> Step {
        self.poll_all();
        let (mut busy, mut dirty) = (None, None);
        for id in self.candidates(domain, keep) {
            let all = self.storages[id.0].residency.grid.all();
            self.heal(id, &all);
            let storage = &self.storages[id.0];
            if storage.may_give(domain).is_none() {
                // A switch has failed, and so the memory is in use by the other side.
                continue;
            }
            if storage.in_use > 0 {
                busy = busy.or(Some(id));
                continue;
            }
            let side = storage.link.is_some_and(|link| link.device == domain);
            if !side && storage.residency.rests_on(domain, self.topology.lost) {
                let dirtied = storage.evict.is_some_and(|evict| evict.dirty) && !domain.is_host();
                // A user's tracker may say for ever that the host has nothing.
                let lies = storage.residency.tracker().is_foreign() && written.contains(&id);
                if dirtied && !lies {
                    dirty = dirty.or(Some(id));
                }
                continue;
            }
            self.free_copy(id, domain);
            return Step::Freed;
        }
        match (dirty, busy) {
            (Some(id), _) if self.storages[id.0].alloc(DomainId::HOST).is_none() => {
                Step::NeedsHost(id)
            }
            (Some(id), _) => {
                let (_, deps) = self.write_back(id, None);
                Step::Written(id, self.meet(deps))
            }
            (None, Some(id)) => self.user_of(id).map_or(Step::Nothing, Step::Wait),
            (None, None) => Step::Nothing,
        }
    }

    /// An operation that uses a storage and has not ended, be it only by an empty part.
    pub(super) fn user_of(&self, id: StorageId) -> Option<Stamp> {
        let waiting = self.timeline.slots.iter().enumerate().filter(|(_, slot)| {
            slot.live && slot.operation().is_some_and(|op| op.storages.contains(&id))
        });
        let waiting = waiting.map(|(at, s)| Stamp::unplaced(SlotId(at as u32), s.generation));
        let lanes = self.timeline.lanes.iter().enumerate().flat_map(|(at, lane)| {
            let ticks = (lane.retired + 1..).zip(&lane.records);
            let uses = ticks.filter(|(_, record)| record.storages().any(|used| used == id));
            uses.map(move |(tick, _)| Stamp::placed(LaneId(at as u16), tick))
        });
        lanes.chain(waiting).find(|s| self.timeline.outcome(*s) == Outcome::Pending)
    }

    fn free_copy(&mut self, id: StorageId, domain: DomainId) {
        let storage = &mut self.storages[id.0];
        let Some(alloc) = storage.alloc(domain).copied() else { return };
        if storage.link.is_some_and(|link| link.device == domain) {
            storage.link = None;
        } else {
            storage.residency.leave(domain);
        }
        storage.remove_alloc(domain);
        storage.apart.retain(|(at, _)| *at != domain);
        let bytes = storage.bytes();
        self.outbox.garbage.push(Garbage { alloc, bytes, domain });
        self.count(Some(id), None, |c| {
            c.evictions += 1;
            c.evicted_bytes += bytes as u64;
        });
    }
}

impl Engine {
    /// Frees a copy on one of these domains, or waits until that gets on. `false`: nothing can be
    /// freed. The storages of `keep` keep theirs: a command that is being submitted needs them.
    /// `written`: those that were written to the host for the same allocation.
    pub(super) fn evict(
        &self,
        domains: &[DomainId],
        keep: &[StorageId],
        written: &mut Vec<StorageId>,
    ) -> bool {
        for domain in domains {
            match self.enter(|ledger| ledger.evict_one(*domain, keep, written)) {
                Step::Freed => return true,
                // Refused in a kernel, and in a task that is in the way itself.
                Step::Wait(stamp) => {
                    if self.wait(stamp, None).is_ok() {
                        return true;
                    }
                }
                Step::Written(id, stamp) => {
                    written.push(id);
                    if let Ok(Waited::Done) = self.wait(stamp, None) {
                        return true;
                    }
                }
                Step::NeedsHost(id) => {
                    if self.allocate_for(&[(id, DomainId::HOST)], keep).is_ok() {
                        return true;
                    }
                }
                Step::Nothing => {}
            }
        }
        false
    }
}
