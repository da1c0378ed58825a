//! Memory pressure: copies of buffers that may go give way to memory that is asked for.
//!
//! Only buffers that the program has said so of, and only allocations that no guard, view or
//! pointer uses. A copy that is the only current copy of something goes only where the program
//! allows to write that to the host first.
//!
//! Copies of lower priority go first, whatever else is true of them. Among equals a copy that
//! nothing uses comes before one that commands use, whose end the submitter would wait for; among
//! those, the one that was used least recently.
//!
//! An allocation of the size that is needed is *taken over*: it goes from one storage to the other
//! as it is. Commands may use it still. The new owner's first operation there comes after them, on
//! the device, and no thread waits. Any other allocation is freed, after its last command has
//! ended.

use crate::engine::Engine;
use crate::engine::ledger::Ledger;
use crate::engine::ledger::storages::Storages;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::topology::Topology;
use crate::engine::pages::storage::{Alloc, Garbage, Life, Owner, StorageId, StorageState};
use crate::engine::terms::access::Access;
use crate::engine::terms::evict::Evict;
use crate::engine::terms::lender::Program;
use crate::engine::terms::link::NotLinked;
use crate::order::hazards::Outcome;
use crate::order::stamp::{LaneId, SlotId, Stamp};
use crate::pages::DomainId;
use smallvec::SmallVec;

/// With more operations under way on it, memory is not taken over: the submitter waits for some.
/// Each of them is told of the new owner. A device is busy with fewer.
const MOST_USERS: u32 = 64;

/// An allocation that goes from one storage to another one.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Takeover {
    pub(in crate::engine) from: StorageId,
    pub(in crate::engine) to: StorageId,
    pub(in crate::engine) domain: DomainId,
    /// Why it is not one with the memory that the new owner has on the host.
    pub(in crate::engine) apart: NotLinked,
}

/// A request for memory, and the storages that do not give way to it.
pub(in crate::engine) struct Pressure<'a> {
    /// A command that is being submitted needs them, or they were found not to be able to go.
    pub(in crate::engine) spared: SmallVec<[StorageId; 4]>,
    /// They were written to the host for this. Pages that are then still current on the device
    /// alone stay so: the copy has failed, or a user's tracker says for ever that the host has
    /// nothing.
    written: Vec<StorageId>,
    /// Only host memory of these allocators of the program helps.
    pub(in crate::engine) programs: Option<SmallVec<[Program; 1]>>,
    /// The accesses of the command that is being submitted. Frames of its storages that these do
    /// not use may give memory back, once nothing else can.
    uses: &'a [Access],
    /// Of its storages, those that were found not to give way.
    refused: Vec<StorageId>,
}

impl<'a> Pressure<'a> {
    pub(in crate::engine) fn new(
        keep: SmallVec<[StorageId; 4]>,
        uses: &'a [Access],
    ) -> Pressure<'a> {
        Pressure { spared: keep, written: Vec::new(), programs: None, uses, refused: Vec::new() }
    }

    /// A storage was found not to be able to give way.
    fn refuse(&mut self, id: StorageId) {
        self.spared.push(id);
        self.refused.push(id);
    }

    /// Its accesses of a storage on a domain.
    fn uses_of(&self, id: StorageId, domain: DomainId) -> SmallVec<[Access; 4]> {
        let of = |a: &&Access| (a.storage, a.domain) == (id, domain);
        self.uses.iter().filter(of).copied().collect()
    }
}

/// How an allocation could go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// At once.
    Free,
    /// When it has been written to the host.
    Write,
    /// When the commands that use it have ended.
    Wait,
}

/// A step on the way to room.
pub(in crate::engine) enum EvictStep {
    /// An allocation was freed.
    Freed,
    /// Frames of this storage can give memory back.
    Frames(StorageId),
    /// An allocation can be freed when this command has ended.
    Wait(StorageId, Stamp),
    /// This one can be freed when it is written to the host.
    Written(StorageId, Stamp),
    /// An allocation can be freed when its contents are on the host, where the buffer has no memory
    /// yet.
    NeedsHost(StorageId),
    /// This one cannot be freed, against what was to be expected.
    Stays(StorageId),
    /// Nothing can be freed.
    Nothing,
}

impl StorageState {
    /// Its memory on `domain` is of the kind that is short.
    fn helps(&self, domain: DomainId, pressure: &Pressure<'_>) -> bool {
        let Some(programs) = &pressure.programs else { return true };
        let owner = self.alloc(domain).map(|alloc| alloc.owner);
        matches!(owner, Some(Owner::Host(lender)) if lender.is_one_of(programs))
    }

    /// Its allocation on `domain` may go, now or when its commands have ended.
    fn may_give(&self, domain: DomainId) -> Option<Evict> {
        // Frames of which nothing is current give way without being asked for.
        let evict = match self.frames(domain) {
            Some(_) => self.evict.unwrap_or_default(),
            None => self.evict?,
        };
        let alloc = self.alloc(domain)?;
        let owned = match alloc.owner {
            Owner::Host(_) => domain.is_host(),
            Owner::Device(..) | Owner::Imported(..) => true,
            Owner::User => false,
        };
        let free = owned
            && self.life == Life::Open
            && self.home.is_none()
            && !alloc.pointed
            && self.guards.is_empty();
        // Of a link, the device's side over the host's memory may go; not the memory itself.
        let linked = match self.link {
            Some(link) if domain.is_host() || link.device == domain => {
                link.over_host && link.device == domain && link.host_has_it()
            }
            _ => true,
        };
        (free && linked).then_some(evict)
    }

    /// Takes its copy on `domain` away; returns the memory of that.
    fn detach(&mut self, domain: DomainId, timeline: &Timeline) -> Option<Alloc> {
        let alloc = *self.alloc(domain)?;
        if self.link.is_some_and(|link| link.device == domain) {
            self.link = None;
        } else {
            self.residency.leave_in_use(domain, &|stamp| timeline.outcome(stamp));
        }
        self.remove_alloc(domain);
        Some(alloc)
    }
}

impl Timeline {
    /// The operations under way that use `from` keep `to` alive, too. Says which they are: the
    /// latest of each lane; and how many.
    pub(in crate::engine) fn share_users(
        &mut self,
        from: StorageId,
        to: StorageId,
    ) -> (SmallVec<[Stamp; 4]>, u32) {
        let (mut users, mut count) = (SmallVec::new(), 0);
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            let mut last = None;
            for (tick, record) in (lane.retired + 1..).zip(&mut lane.records) {
                if record.storages().any(|storage| storage == from) {
                    record.share(to);
                    (last, count) = (Some(tick), count + 1);
                }
            }
            users.extend(last.map(|tick| Stamp::placed(LaneId(at as u16), tick)));
        }
        for (at, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.live) {
            let stamp = Stamp::unplaced(SlotId(at as u32), slot.generation);
            if let Some(op) = slot.operation_mut()
                && op.storages.contains(&from)
            {
                op.storages.push(to);
                users.push(stamp);
                count += 1;
            }
        }
        (users, count)
    }

    /// An operation that uses a storage and has not ended, be it only by an empty part.
    pub(in crate::engine) fn user_of(&self, id: StorageId) -> Option<Stamp> {
        let waiting = self.slots.iter().enumerate().filter(|(_, slot)| {
            slot.live && slot.operation().is_some_and(|op| op.storages.contains(&id))
        });
        let waiting = waiting.map(|(at, s)| Stamp::unplaced(SlotId(at as u32), s.generation));
        let lanes = self.lanes.iter().enumerate().flat_map(|(at, lane)| {
            let ticks = (lane.retired + 1..).zip(&lane.records);
            let uses = ticks.filter(|(_, record)| record.storages().any(|used| used == id));
            uses.map(move |(tick, _)| Stamp::placed(LaneId(at as u16), tick))
        });
        lanes.chain(waiting).find(|s| self.outcome(*s) == Outcome::Pending)
    }
}

impl Storages {
    /// The storages that may give up memory on `domain`, the first to do so first, with their
    /// priorities.
    fn candidates(&self, domain: DomainId, spared: &[StorageId]) -> Vec<(i32, StorageId)> {
        let mut spared: SmallVec<[StorageId; 8]> = SmallVec::from_slice(spared);
        spared.sort_unstable();
        let ids = self.ids().map(|at| self.id_at(at));
        let mut found: Vec<_> = ids
            .filter(|id| spared.binary_search(id).is_err())
            .filter_map(|id| {
                let storage = &self[id.0];
                let evict = storage.may_give(domain)?;
                Some((evict.priority, storage.in_use > 0, storage.used, id))
            })
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(priority, _, _, id)| (priority, id)).collect()
    }

    /// How a storage's allocation on `domain` could go, if it can.
    fn way_out(
        &mut self,
        (id, domain): (StorageId, DomainId),
        (timeline, topology): (&Timeline, &Topology),
    ) -> Option<Way> {
        let storage = &mut self[id.0];
        storage.heal_all(timeline);
        // A switch may have failed, and so the memory be in use by the other side.
        let evict = storage.may_give(domain)?;
        let side = storage.link.is_some_and(|link| link.device == domain);
        let alone = match storage.frames(domain) {
            Some(_) => storage.spare_frames(domain, topology.lost, &[]).is_empty(),
            None => !side && storage.residency.rests_on(domain, topology.lost),
        };
        match alone {
            true if !evict.dirty || domain.is_host() => None,
            _ if storage.in_use > 0 => Some(Way::Wait),
            true => Some(Way::Write),
            false => Some(Way::Free),
        }
    }

    /// Whose allocation on `domain` can become that of `to` at once. Nothing, if a copy of lower
    /// priority could go in another way. The storages of `keep` keep theirs.
    pub(in crate::engine) fn giver(
        &mut self,
        (to, domain): (StorageId, DomainId),
        keep: &[StorageId],
        facts: (&Timeline, &Topology),
    ) -> Option<StorageId> {
        let mut lowest = None;
        for (priority, from) in self.candidates(domain, keep) {
            if lowest.is_some_and(|lowest| lowest < priority) {
                return None;
            }
            if self.can_take_over(from, (to, domain), facts) {
                return Some(from);
            }
            if self.way_out((from, domain), facts).is_some() {
                lowest = Some(priority);
            }
        }
        None
    }

    /// Whether an allocation may change hands, whatever is under way there: it is a device's own,
    /// as large as needed, and all that it holds is elsewhere, too, and does not come there yet.
    fn can_take_over(
        &mut self,
        from: StorageId,
        (to, domain): (StorageId, DomainId),
        (timeline, topology): (&Timeline, &Topology),
    ) -> bool {
        let lost = topology.lost;
        if domain.is_host() || lost.contains(domain) {
            return false;
        }
        self[from.0].heal_all(timeline);
        let (giver, taker) = (&self[from.0], &self[to.0]);
        let Some(alloc) = giver.may_give(domain).and(giver.alloc(domain)) else { return false };
        let fits = matches!(alloc.owner, Owner::Device(..))
            && alloc.misaligned(taker.align).is_none()
            && giver.bytes() == taker.bytes()
            && giver.frames(domain).is_none()
            && giver.in_use <= MOST_USERS
            && giver.link.is_none_or(|link| link.device != domain);
        let wants = taker.alloc(domain).is_none() && taker.home.is_none();
        let residency = &giver.residency;
        fits && wants
            && !residency.tracker().is_foreign()
            && !residency.rests_on(domain, lost)
            && residency.is_sure_without(domain, &|stamp| timeline.outcome(stamp))
    }
}

impl Ledger {
    /// Takes a step on the way to room on `domain`.
    pub(in crate::engine) fn evict_one(
        &mut self,
        domain: DomainId,
        pressure: &Pressure<'_>,
    ) -> EvictStep {
        self.poll_all();
        let mut first: Option<(i32, StorageId, Way)> = None;
        for (priority, id) in self.storages.candidates(domain, &pressure.spared) {
            if first.is_some_and(|(lowest, ..)| lowest < priority) {
                break;
            }
            if !self.storages[id.0].helps(domain, pressure) {
                continue;
            }
            match self.storages.way_out((id, domain), (&self.timeline, &self.topology)) {
                Some(Way::Free) if self.storages[id.0].frames(domain).is_some() => {
                    return EvictStep::Frames(id);
                }
                Some(Way::Free) => {
                    let alloc = self.evict_copy(id, domain);
                    let bytes = self.storages[id.0].bytes();
                    self.outbox.garbage.extend(alloc.map(|alloc| Garbage { alloc, bytes, domain }));
                    return EvictStep::Freed;
                }
                Some(Way::Write) if pressure.written.contains(&id) => {}
                Some(way) => first = first.or(Some((priority, id, way))),
                None => {}
            }
        }
        match first {
            None => self.own_frames(domain, pressure),
            Some((_, id, Way::Wait)) => self.wait_for(id),
            Some((_, id, _)) if self.storages[id.0].alloc(DomainId::HOST).is_none() => {
                EvictStep::NeedsHost(id)
            }
            Some((_, id, _)) => {
                let (_, deps) = self.write_back(id, None);
                EvictStep::Written(id, self.meet(deps))
            }
        }
    }

    fn wait_for(&self, id: StorageId) -> EvictStep {
        let user = self.timeline.user_of(id);
        user.map_or(EvictStep::Stays(id), |user| EvictStep::Wait(id, user))
    }

    /// A step on the way to frames of the command's own storages that it does not use.
    fn own_frames(&mut self, domain: DomainId, pressure: &Pressure<'_>) -> EvictStep {
        for a in pressure.uses.iter().filter(|a| a.domain == domain) {
            let id = a.storage;
            let storage = &mut self.storages[id.0];
            let gives = storage.frames(domain).is_some() && storage.may_give(domain).is_some();
            if !gives || pressure.refused.contains(&id) {
                continue;
            }
            storage.heal_all(&self.timeline);
            let uses = pressure.uses_of(id, domain);
            let spare = storage.spare_frames(domain, self.topology.lost, &uses);
            match (spare.is_empty(), storage.in_use > 0) {
                (true, _) => {}
                (false, false) => return EvictStep::Frames(id),
                (false, true) => return self.wait_for(id),
            }
        }
        EvictStep::Nothing
    }

    /// Takes a storage's copy on `domain` away, and counts that.
    fn evict_copy(&mut self, id: StorageId, domain: DomainId) -> Option<Alloc> {
        let storage = &mut self.storages[id.0];
        let alloc = storage.detach(domain, &self.timeline)?;
        let bytes = storage.bytes() as u64;
        self.count(Some(id), None, |c| {
            c.evictions += 1;
            c.evicted_bytes += bytes;
        });
        Some(alloc)
    }

    /// Gives one storage's allocation to the other. `false`, and nothing has changed, if that is
    /// not possible any more.
    pub(in crate::engine) fn take_over(&mut self, takeover: &Takeover) -> bool {
        let Takeover { from, to, domain, apart } = *takeover;
        let facts = (&self.timeline, &self.topology);
        if !self.storages.can_take_over(from, (to, domain), facts) {
            return false;
        }
        let (users, count) = self.timeline.share_users(from, to);
        self.storages[to.0].in_use += count;
        let Some(alloc) = self.evict_copy(from, domain) else { return false };
        let taker = &mut self.storages[to.0];
        // The memory holds no value of the taker.
        taker.set_alloc(domain, Alloc { clean: false, apart, ..alloc });
        taker.residency.come_after(domain, &users);
        true
    }
}

impl Engine {
    /// Frees a copy on one of these domains, or waits until that gets on. `false`: nothing can be
    /// freed.
    pub(in crate::engine) fn evict(
        &self,
        domains: &[DomainId],
        pressure: &mut Pressure<'_>,
    ) -> bool {
        domains.iter().any(|domain| {
            match self.enter(|ledger| ledger.evict_one(*domain, pressure)) {
                EvictStep::Nothing => return false,
                EvictStep::Freed => {}
                EvictStep::Frames(id) => {
                    let uses = pressure.uses_of(id, *domain);
                    if !self.give_back_frames(id, *domain, &uses) {
                        pressure.refuse(id);
                    }
                }
                // Refused in a kernel, and in a task that is in the way itself: others may go.
                EvictStep::Wait(id, stamp) => {
                    if self.wait(stamp, None).is_err() {
                        pressure.refuse(id);
                    }
                }
                EvictStep::Written(id, stamp) => {
                    pressure.written.push(id);
                    if self.wait(stamp, None).is_err() {
                        pressure.spared.push(id);
                    }
                }
                EvictStep::NeedsHost(id) => {
                    let mut keep = pressure.spared.clone();
                    keep.push(id);
                    if self.allocate_beside((id, DomainId::HOST), keep).is_err() {
                        pressure.spared.push(id);
                    }
                }
                EvictStep::Stays(id) => pressure.refuse(id),
            }
            true
        })
    }
}
