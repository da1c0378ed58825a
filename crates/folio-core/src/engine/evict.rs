//! Memory pressure: copies of buffers that may go give way to memory that is asked for.
//!
//! Only buffers that the program has said so of, and only allocations that no guard, view or
//! pointer uses. One that holds the only current copy of something goes only where the program
//! allows to write that to the host first.
//!
//! An allocation of the size that is needed is *taken over*: it goes from one storage to the other
//! as it is. Commands may use it still. What the new owner does there first comes after them, on
//! the device, and no thread waits. Any other allocation is freed, after its last command has
//! ended.

use super::Engine;
use super::devices::Takes;
use super::ledger::Ledger;
use super::storage::{Alloc, Garbage, Life, Owner, StorageId, StorageState};
use super::wait::Waited;
use crate::hal::Side;
use crate::order::hazards::Outcome;
use crate::order::stamp::{LaneId, SlotId, Stamp};
use crate::pages::DomainId;
use smallvec::SmallVec;

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

/// With more operations under way on it, memory is not taken over: the submitter waits for some.
/// Each of them is told of the new owner. A device is busy with fewer.
const MOST_USERS: u32 = 64;

/// An allocation that goes from one storage to another one.
#[derive(Clone, Copy)]
pub(super) struct Takeover {
    pub(super) from: StorageId,
    pub(super) to: StorageId,
    pub(super) domain: DomainId,
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
        let ids = self.storages.ids().map(|at| self.storage_at(at)).filter(|id| !keep.contains(id));
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
        let bytes = self.storages[id.0].bytes();
        let alloc = self.detach(id, domain);
        self.outbox.garbage.extend(alloc.map(|alloc| Garbage { alloc, bytes, domain }));
    }

    /// Takes a storage's copy on `domain` away; says which memory that was.
    fn detach(&mut self, id: StorageId, domain: DomainId) -> Option<Alloc> {
        let (storage, timeline) = (&mut self.storages[id.0], &self.timeline);
        let alloc = *storage.alloc(domain)?;
        if storage.link.is_some_and(|link| link.device == domain) {
            storage.link = None;
        } else {
            storage.residency.leave_in_use(domain, &|stamp| timeline.outcome(stamp));
        }
        storage.remove_alloc(domain);
        storage.apart.retain(|(at, _)| *at != domain);
        let bytes = storage.bytes() as u64;
        self.count(Some(id), None, |c| {
            c.evictions += 1;
            c.evicted_bytes += bytes;
        });
        Some(alloc)
    }

    /// Whose allocation on `domain` can become that of `to` at once: one that no command uses, if
    /// there is one. The storages of `keep` keep theirs.
    pub(super) fn giver(
        &mut self,
        to: StorageId,
        domain: DomainId,
        keep: &[StorageId],
    ) -> Option<StorageId> {
        let mut found = None;
        for from in self.candidates(domain, keep) {
            if !self.can_take_over(&Takeover { from, to, domain }) {
                continue;
            }
            if self.storages[from.0].in_use == 0 {
                return Some(from);
            }
            found = found.or(Some(from));
        }
        found
    }

    /// Whether an allocation may change hands, whatever is under way there: it is a device's own,
    /// as large as needed, and all that it holds is elsewhere, too, and does not come there yet.
    fn can_take_over(&mut self, Takeover { from, to, domain }: &Takeover) -> bool {
        let (domain, lost) = (*domain, self.topology.lost);
        if domain.is_host() || lost.contains(domain) {
            return false;
        }
        let all = self.storages[from.0].residency.grid.all();
        self.heal(*from, &all);
        let (giver, taker) = (&self.storages[from.0], &self.storages[to.0]);
        let Some(alloc) = giver.may_give(domain).and(giver.alloc(domain)) else { return false };
        let fits = matches!(alloc.owner, Owner::Device(..))
            && alloc.misaligned(taker.align).is_none()
            && giver.bytes() == taker.bytes()
            && giver.in_use <= MOST_USERS
            && giver.link.is_none_or(|link| link.device != domain);
        let wants = taker.alloc(domain).is_none() && taker.home.is_none();
        let residency = &giver.residency;
        fits && wants
            && !residency.tracker().is_foreign()
            && !residency.rests_on(domain, lost)
            && residency.is_sure_without(domain, &|stamp| self.timeline.outcome(stamp))
    }

    /// Gives one storage's allocation to the other. `false`, and nothing has changed, if that is
    /// not possible any more.
    pub(super) fn take_over(&mut self, takeover: &Takeover) -> bool {
        if !self.can_take_over(takeover) {
            return false;
        }
        let Takeover { from, to, domain } = *takeover;
        let users = self.share_users(from, to);
        let Some(alloc) = self.detach(from, domain) else { return false };
        let taker = &mut self.storages[to.0];
        // It holds what is no value of the taker.
        taker.set_alloc(domain, Alloc { clean: false, ..alloc });
        taker.residency.come_after(domain, &users);
        true
    }

    /// The operations under way that use `from` keep `to` alive, too. Says which they are: the
    /// latest of each lane.
    fn share_users(&mut self, from: StorageId, to: StorageId) -> SmallVec<[Stamp; 4]> {
        let (mut users, mut count) = (SmallVec::new(), 0);
        for (at, lane) in self.timeline.lanes.iter_mut().enumerate() {
            let mut last = None;
            for (tick, record) in (lane.retired + 1..).zip(&mut lane.records) {
                if record.storages().any(|storage| storage == from) {
                    record.share(to);
                    (last, count) = (Some(tick), count + 1);
                }
            }
            users.extend(last.map(|tick| Stamp::placed(LaneId(at as u16), tick)));
        }
        for (at, slot) in self.timeline.slots.iter_mut().enumerate().filter(|(_, slot)| slot.live) {
            let stamp = Stamp::unplaced(SlotId(at as u32), slot.generation);
            if let Some(op) = slot.operation_mut()
                && op.storages.contains(&from)
            {
                op.storages.push(to);
                users.push(stamp);
                count += 1;
            }
        }
        self.storages[to.0].in_use += count;
        users
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
                    if self.allocate_for(&[(id, DomainId::HOST)], keep, Takes::Idle).is_ok() {
                        return true;
                    }
                }
                Step::Nothing => {}
            }
        }
        false
    }
}
