//! Linked allocations: one memory for the host and for a device that shares it.
//!
//! The pair is one *place*, the host's, whose pages are current or not whichever side used them
//! last. One side of the pair is active. A change of sides is a map or an unmap, for all of the
//! memory, and no copy. The change comes after everything that uses the storage, and everything
//! that uses the place later comes after it.
//!
//! The end of a link, when the program asks for an address, is [`pointer`](super::pointer)'s.

use crate::engine::Engine;
use crate::engine::ledger::Ledger;
use crate::engine::ledger::storages::Storages;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::pages::storage::{Alloc, Garbage, Owner, StorageId, StorageState};
use crate::engine::plan::apply::For;
use crate::engine::terms::access::Access;
use crate::engine::terms::link::{Link, Links, NotLinked};
use crate::error::Error;
use crate::hal::{AllocKind, AllocReq, Caps, HostPtr, RawMemory, Side};
use crate::order::hazards::{Deps, Outcome, tidy};
use crate::pages::{DomainId, DomainSet};

/// The facts that decide whether a device's new allocation is linked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkFacts {
    pub(crate) wanted: Links,
    /// The device shares the host's memory.
    pub(crate) unified: bool,
    /// The alignment that it needs of the host's memory, if it can map.
    pub(crate) align: Option<u64>,
    /// The storage has a link.
    pub(crate) linked: bool,
    pub(crate) lost: bool,
    pub(crate) page_locked: bool,
    /// The address of the memory on the host, if there is any, and whether it is in use.
    pub(crate) host: Option<(u64, bool)>,
}

/// The decision. Pure: equal facts give equal links.
pub(crate) fn decide(facts: &LinkFacts) -> Result<(), NotLinked> {
    let Some(align) = facts.align else { return Err(NotLinked::NotShared) };
    match facts.wanted {
        Links::Off => return Err(NotLinked::SwitchedOff),
        Links::Auto if !facts.unified => return Err(NotLinked::NotShared),
        Links::Auto | Links::On => {}
    }
    match facts.host {
        _ if facts.lost => Err(NotLinked::Lost),
        _ if facts.page_locked => Err(NotLinked::PageLocked),
        _ if facts.linked => Err(NotLinked::LinkedToAnother),
        Some((_, true)) => Err(NotLinked::InUse),
        Some((address, _)) if address % align != 0 => Err(NotLinked::Misaligned(align)),
        _ => Ok(()),
    }
}

/// A storage as it is known before memory for a device is made.
#[derive(PartialEq, Eq)]
pub(in crate::engine) struct Prospect {
    host: Option<HostPtr>,
    /// The program has the address of that.
    pointed: bool,
    changes: u64,
}

impl StorageState {
    /// Where a domain's pages are kept track of: the host, for the other side of a link.
    #[inline]
    pub(crate) fn place(&self, domain: DomainId) -> DomainId {
        match &self.link {
            Some(link) if link.device == domain => DomainId::HOST,
            _ => domain,
        }
    }

    /// Its memory on `domain` is one with that of the other side of its link.
    pub(super) fn is_linked(&self, domain: DomainId) -> bool {
        self.link.is_some_and(|link| link.joins(domain))
    }

    /// The side of a link whose turn it must be before `domain`'s memory is used; `None` if no turn
    /// is needed. Memory that the program has lent only to read is not mapped to be written.
    pub(crate) fn side(&self, domain: DomainId) -> Option<Side> {
        let link = self.link.as_ref()?;
        match (domain == link.device, domain.is_host()) {
            (true, _) => Some(Side::Device),
            (_, true) if link.pointed => None,
            (_, true) if self.only_read => Some(Side::HostReads),
            (_, true) => Some(Side::HostWrites),
            _ => None,
        }
    }

    /// Its memory on `domain` is written.
    #[inline]
    pub(crate) fn note_side(&mut self, domain: DomainId) {
        if let Some(link) = &mut self.link {
            link.turn.written |= link.device == domain;
        }
    }

    /// No command and no guard uses it.
    fn is_idle(&self) -> bool {
        self.in_use == 0 && self.guards.is_empty()
    }

    fn facts(&self, wanted: Links, caps: &Caps, lost: bool) -> LinkFacts {
        let alloc = self.alloc(DomainId::HOST);
        let host = alloc.and_then(|alloc| alloc.host);
        let of_device = |owner| matches!(owner, Owner::Device(..) | Owner::Imported(..));
        LinkFacts {
            page_locked: alloc.is_some_and(|alloc| of_device(alloc.owner)),
            wanted,
            unified: caps.unified,
            align: caps.links,
            linked: self.link.is_some(),
            lost,
            host: host.map(|host| (host.0 as u64, !self.is_idle())),
        }
    }
}

impl Ledger {
    /// The program's memory holds values when the program gets it back; the current ones, if it
    /// `writes` or failure has left others. What the host finds in linked memory that it has
    /// unmapped is open: that is mapped first, also where nothing can be written back. Says what
    /// must be done for all that, and fails where there are no values.
    pub(super) fn hand_back(
        &mut self,
        id: StorageId,
        writes: bool,
        queue: Option<u32>,
    ) -> (Option<Access>, Deps) {
        let mut deps = Deps::new();
        self.storages[id.0].heal_all(&self.timeline);
        let storage = &self.storages[id.0];
        let lent = storage.alloc(DomainId::HOST).is_some_and(|alloc| alloc.owner == Owner::User);
        // Where the program has lent it only to read, nothing was written.
        let link = storage.link.filter(|link| lent && link.over_host && !storage.only_read);
        if let Some(link) = link {
            let away = link.turn.active == Side::Device && link.turn.written;
            if let (true, Some(to)) = (away, storage.side(DomainId::HOST)) {
                let label = storage.label.clone();
                self.switch(id, link.device, to, For { queue, label: &label, lane: None });
            }
            // The latest change of sides may have been asked for earlier, and may still fail.
            self.storages[id.0].residency.turn_deps(&mut deps);
        }
        if !writes && !self.storages[id.0].torn {
            return (None, deps);
        }
        let (access, written) = self.write_back(id, queue);
        deps.extend(written);
        tidy(&mut deps);
        (access, deps)
    }
}

impl StorageState {
    /// Data of the device's side of its link are gone with the device.
    fn lose_link(&mut self, timeline: &Timeline) {
        self.heal_link(timeline);
        let Some(link) = self.link.take() else { return };
        if let Some(alloc) = self.alloc_mut(link.device) {
            alloc.apart = NotLinked::Lost;
        }
        // A change of sides that was under way may not have happened.
        let sure = timeline.outcome(self.residency.switch()) == Outcome::Fine;
        let current = sure && (link.host_has_it() || !link.turn.written);
        if link.over_host && (current || self.only_read) {
            self.residency.forget_switches();
        } else {
            // The memory itself stays, as long as the storage does: an access of the host's may
            // be under way that has it already.
            self.residency.lose_place(link.device);
            self.torn = true;
        }
    }
}

impl Storages {
    /// Data of the device's side of links are gone with the device; memory that the host has mapped
    /// is not. From then on it counts as what only a lost device has, unless others have it, too.
    pub(in crate::engine) fn lose_links(&mut self, device: DomainId, timeline: &Timeline) {
        let linked = |storage: &StorageState| storage.link.is_some_and(|l| l.device == device);
        let ids: Vec<u32> = self.ids().filter(|id| linked(&self[*id])).collect();
        ids.into_iter().for_each(|id| self[id].lose_link(timeline));
    }
}

impl Engine {
    /// Waits until it is known whether the latest change of sides has happened, unless this thread
    /// may not wait. If it has not, that can be done again.
    pub(crate) fn await_turn(&self, id: StorageId) {
        let stamp = self.enter(|ledger| ledger.storages[id.0].residency.switch());
        let _ = self.wait(stamp, None);
    }

    /// Asks for memory on a device that is one with the host's; or says why that is not to be. The
    /// memory is to be given to [`commit_link`](StorageState::commit_link). Where the program has
    /// or wants an address, host and device must find it at one.
    pub(super) fn allocate_linked(
        &self,
        id: StorageId,
        domain: DomainId,
        pointed: bool,
    ) -> Result<Result<(Alloc, Prospect), NotLinked>, Error> {
        let at = self.first_on(domain);
        let caps = &self.devices[usize::from(at)].info.caps;
        let (prospect, bytes, label) = {
            let ledger = self.lock();
            let storage = &ledger.storages[id.0];
            let lost = ledger.topology.lost.contains(domain);
            if let Err(why) = decide(&storage.facts(self.links, caps, lost)) {
                return Ok(Err(why));
            }
            (storage.prospect(), storage.bytes(), storage.label.clone())
        };
        let request = AllocReq {
            kind: AllocKind::Device,
            size: bytes as u64,
            align: crate::engine::terms::lender::DEVICE_ALIGN,
            import: prospect.host.map(RawMemory::Host),
            zeroed: false,
            linked: true,
            exported: false,
            label: label.as_str(),
        };
        let alloc = match self.device_alloc(at, request, "buffer", &label) {
            Ok(alloc) => alloc,
            Err(Error::Unsupported { .. }) => return Ok(Err(NotLinked::Refused)),
            Err(error) => return Err(error),
        };
        let one = alloc.has_one_address();
        let why = match alloc.host {
            None => NotLinked::Refused,
            Some(_) if !one && (pointed || prospect.pointed) => NotLinked::Pointed,
            Some(_) => {
                let address = alloc.address.filter(|_| one);
                return Ok(Ok((Alloc { address, ..alloc }, prospect)));
            }
        };
        self.free(Garbage { alloc, bytes, domain });
        Ok(Err(why))
    }
}

impl StorageState {
    fn prospect(&self) -> Prospect {
        let alloc = self.alloc(DomainId::HOST);
        let pointed = alloc.is_some_and(|alloc| alloc.pointed);
        let host = alloc.and_then(|alloc| alloc.host);
        Prospect { host, pointed, changes: self.residency.changes() }
    }

    /// Links it to a device by its new allocation there. `false`, and nothing has changed,
    /// if the host's memory has been used meanwhile.
    pub(super) fn commit_link(
        &mut self,
        domain: DomainId,
        alloc: Alloc,
        prospect: &Prospect,
        lost: DomainSet,
    ) -> bool {
        let host = prospect.host;
        let same = self.prospect() == *prospect
            && (host.is_none() || self.is_idle())
            && self.link.is_none()
            && !lost.contains(domain);
        if !same {
            return false;
        }
        self.set_alloc(domain, alloc);
        self.link = Some(Link::new(domain, host.is_some()));
        if host.is_none()
            && let Some(mapped) = alloc.host
        {
            self.set_alloc(DomainId::HOST, Alloc::of_host(mapped, Owner::User, alloc.clean));
            if alloc.clean {
                self.residency.holds(DomainId::HOST);
            }
        }
        true
    }
}

impl Ledger {
    /// Counts memory of the host that a device could not use as its own.
    pub(super) fn stay_apart(&mut self, id: StorageId, domain: DomainId, why: NotLinked) {
        let host = self.storages[id.0].alloc(DomainId::HOST);
        let has_memory = host.is_some_and(|alloc| alloc.host.is_some());
        if !domain.is_host() && has_memory && why.is_refusal() {
            self.count(Some(id), None, |c| c.refused_imports += 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FITS: LinkFacts = LinkFacts {
        page_locked: false,
        wanted: Links::Auto,
        unified: true,
        align: Some(64),
        linked: false,
        lost: false,
        host: None,
    };

    /// LINK-02: each condition, and its reason.
    #[test]
    fn links_are_decided_by_facts() {
        let cases = [
            (FITS, Ok(())),
            (LinkFacts { host: Some((128, false)), ..FITS }, Ok(())),
            (LinkFacts { wanted: Links::Off, ..FITS }, Err(NotLinked::SwitchedOff)),
            (LinkFacts { unified: false, ..FITS }, Err(NotLinked::NotShared)),
            (LinkFacts { unified: false, wanted: Links::On, ..FITS }, Ok(())),
            (LinkFacts { align: None, wanted: Links::On, ..FITS }, Err(NotLinked::NotShared)),
            (LinkFacts { linked: true, ..FITS }, Err(NotLinked::LinkedToAnother)),
            (LinkFacts { page_locked: true, ..FITS }, Err(NotLinked::PageLocked)),
            (LinkFacts { lost: true, ..FITS }, Err(NotLinked::Lost)),
            (LinkFacts { host: Some((128, true)), ..FITS }, Err(NotLinked::InUse)),
            (LinkFacts { host: Some((96, false)), ..FITS }, Err(NotLinked::Misaligned(64))),
        ];
        for (facts, decision) in cases {
            assert_eq!(decide(&facts), decision, "{facts:?}");
        }
    }
}
