//! Addresses of buffers' memory, for programs that use them unseen.
//!
//! Memory whose address the program has stays where it is: nothing evicts it, and it takes no turns
//! with another side. Such memory is linked only where host and device find it at one address; then
//! the link stays, without turns from there on. Otherwise the buffer *leaves its link* when the
//! program first asks for an address. The host keeps the memory, mapped, and the device gets memory
//! of its own. Nothing has changed for the program before the last step:
//!
//! 1. The host gets its turn, and commands that use the buffer end. A failed map ends this.
//! 2. Memory for the device is allocated, while the buffer is still linked.
//! 3. [`Ledger::leave_link`] takes the link apart, unless a command has used it meanwhile.
//! 4. The contents are copied to the device's memory. A failed copy is found again by the next
//!    request, since only what was brought is
//!    [`pointed`](crate::engine::pages::storage::Alloc::pointed).

use crate::engine::Engine;
use crate::engine::ledger::Ledger;
use crate::engine::memory::allocate::no_address;
use crate::engine::memory::storages::whole;
use crate::engine::pages::storage::StorageState;
use crate::engine::pages::storage::{Alloc, Garbage, Life, StorageId};
use crate::engine::plan::apply::For;
use crate::engine::terms::access::Mode;
use crate::engine::terms::link::NotLinked;
use crate::engine::threads::wait::WaitEnd;
use crate::error::{Error, Failure};
use crate::hal::Side;
use crate::order::hazards::{Deps, Outcome, tidy};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use smallvec::SmallVec;
use std::sync::Arc;

/// The next step towards an address.
enum AddressStep {
    /// The address is this allocation's, which has so many bytes.
    Address(Alloc, usize),
    /// The device needs memory.
    Missing,
    /// The memory comes in frames, of which some have none.
    Frames,
    /// The memory has no address.
    Nowhere,
    /// The memory was a device's that is lost.
    Lost(Arc<Failure>),
    /// Operations that come first, whether they fail or not.
    After(SmallVec<[Stamp; 4]>),
    /// The host gets its turn by this.
    Turn(Stamp),
    /// The buffer can leave its link, which is to this device.
    Leave(DomainId),
    /// The contents come by this.
    Bring(Stamp),
}

impl Engine {
    /// A storage's allocation on `domain`, whose address the program gets, and its bytes. The call
    /// may wait for commands that use the storage: see the module's page.
    pub(crate) fn address_of(
        &self,
        id: StorageId,
        domain: DomainId,
    ) -> Result<(Alloc, usize), Error> {
        loop {
            match self.enter(|ledger| ledger.next_to_address(id, domain))? {
                AddressStep::Address(alloc, bytes) => return Ok((alloc, bytes)),
                AddressStep::Missing => self.allocate_pointed(id, domain)?,
                AddressStep::Frames => self.back_all(id, domain)?,
                AddressStep::Nowhere => {
                    let label = self.enter(|ledger| ledger.storages[id.0].label.clone());
                    return Err(no_address(&self.domain_name(domain), &label));
                }
                AddressStep::Lost(failure) => return Err(Error::failed(failure)),
                AddressStep::After(stamps) => {
                    stamps.into_iter().try_for_each(|stamp| self.wait(stamp, None).map(drop))?;
                }
                AddressStep::Turn(stamp) => self.wait_well(stamp)?,
                AddressStep::Leave(device) => self.leave_link(id, (device, domain))?,
                AddressStep::Bring(stamp) => {
                    self.wait_well(stamp)?;
                    self.enter(|ledger| ledger.storages[id.0].point(domain));
                }
            }
        }
    }

    /// Waits for what must not fail.
    fn wait_well(&self, stamp: Stamp) -> Result<(), Error> {
        match self.wait(stamp, None)? {
            WaitEnd::Failed(failure) => Err(Error::failed(failure)),
            _ => Ok(()),
        }
    }

    /// Takes a storage's link to `device` apart, for an address on one of its sides. After an
    /// error, or if a command was quicker, nothing has changed.
    fn leave_link(
        &self,
        id: StorageId,
        (device, asked): (DomainId, DomainId),
    ) -> Result<(), Error> {
        let (bytes, label, over_host) = self.enter(|ledger| {
            let storage = &ledger.storages[id.0];
            let over_host = storage.link.is_none_or(|link| link.over_host);
            (storage.bytes(), storage.label.clone(), over_host)
        });
        let keep = || SmallVec::from_slice(&[id]);
        let own = match asked == device {
            true => Some(self.with_room(&[device], (keep(), &[]), |_| {
                self.allocate_addressed(device, bytes, &label)
            })?),
            // The device gets memory when a command next needs some.
            false => None,
        };
        let back = |own: Option<Alloc>| {
            let garbage = own.map(|alloc| Garbage { alloc, bytes, domain: device });
            garbage.into_iter().for_each(|garbage| self.free(garbage));
        };
        // From here on the host's budget counts what the device's has counted.
        let host = [DomainId::HOST];
        let charge =
            || self.with_room(&host, (keep(), &[]), |_| self.take_host(bytes, "buffer", &label));
        if !over_host && let Err(error) = charge() {
            back(own);
            return Err(error);
        }
        let left = self.enter(|ledger| ledger.leave_link(id, device, (own, over_host)));
        let budget = match left {
            true => &self.devices[usize::from(self.first_on(device))].budget,
            false => &self.host_budget,
        };
        if !over_host {
            budget.give(bytes as u64);
        }
        if !left {
            back(own);
        }
        Ok(())
    }
}

impl StorageState {
    /// The program has the address of its memory on a domain.
    fn point(&mut self, domain: DomainId) {
        let Some(alloc) = self.alloc_mut(domain) else { return };
        alloc.pointed = true;
        if let Some(link) = self.link.as_mut().filter(|link| link.joins(domain)) {
            link.pointed = true;
        }
    }
}

impl Ledger {
    fn next_to_address(&mut self, id: StorageId, domain: DomainId) -> Result<AddressStep, Error> {
        self.poll_all();
        self.storages[id.0].heal_all(&self.timeline);
        let storage = &mut self.storages[id.0];
        if storage.life != Life::Open {
            return Err(Error::ScopeEnded { label: storage.label.clone() });
        }
        let Some(alloc) = storage.alloc(domain).copied() else { return Ok(AddressStep::Missing) };
        if let Some(link) = storage.link.filter(|link| link.joins(domain)) {
            let device = storage.alloc(link.device);
            if !device.is_some_and(Alloc::has_one_address) {
                return Ok(self.next_to_leave(id, link.device));
            }
        } else if alloc.address.is_none() {
            let at = self.topology.devices.iter().position(|device| device.domain == domain);
            let lost = at.and_then(|at| self.topology.device_lost[at].clone());
            return Ok(lost.map_or(AddressStep::Nowhere, AddressStep::Lost));
        } else if alloc.apart == NotLinked::Pointed && !alloc.pointed {
            return Ok(AddressStep::Bring(self.bring(id, domain)));
        }
        // Commands may use the memory that had it while it was another storage's.
        let earlier = storage.residency.earlier(domain);
        let pending = |stamp: &Stamp| self.timeline.outcome(*stamp) == Outcome::Pending;
        let earlier: SmallVec<[Stamp; 4]> = earlier.filter(pending).collect();
        if !earlier.is_empty() {
            return Ok(AddressStep::After(earlier));
        }
        if self.storages[id.0].frames(domain).is_some_and(|frames| !frames.is_full()) {
            return Ok(AddressStep::Frames);
        }
        self.storages[id.0].point(domain);
        Ok(AddressStep::Address(alloc, self.storages[id.0].bytes()))
    }

    /// The next step towards the end of a storage's link.
    fn next_to_leave(&mut self, id: StorageId, device: DomainId) -> AddressStep {
        let storage = &self.storages[id.0];
        let away = storage.link.is_some_and(|link| link.turn.active == Side::Device);
        if let (true, Some(to)) = (away, storage.side(DomainId::HOST)) {
            let label = storage.label.clone();
            let who = For { queue: None, label: &label, lane: None };
            return AddressStep::Turn(self.switch(id, device, to, who));
        }
        let switch = storage.residency.switch();
        if self.timeline.outcome(switch) == Outcome::Pending {
            return AddressStep::Turn(switch);
        }
        match self.timeline.user_of(id) {
            Some(user) => AddressStep::After([user].into_iter().collect()),
            None => AddressStep::Leave(device),
        }
    }

    /// The host keeps linked memory, and the device gets memory of its `own`, if any. `false`, and
    /// nothing has changed, if the link is not as it was.
    fn leave_link(
        &mut self,
        id: StorageId,
        device: DomainId,
        (own, over_host): (Option<Alloc>, bool),
    ) -> bool {
        let same = matches!(self.next_to_leave(id, device), AddressStep::Leave(_));
        let storage = &mut self.storages[id.0];
        let is_it = |link: &crate::engine::terms::link::Link| {
            link.device == device && link.over_host == over_host
        };
        let link = storage.link.filter(|link| same && is_it(link) && link.host_has_it());
        let (Some(_), Some(old)) = (link, storage.alloc(device).copied()) else { return false };
        let bytes = storage.bytes();
        storage.link = None;
        storage.residency.forget_switches();
        storage.remove_alloc(device);
        if let Some(host) = storage.alloc_mut(DomainId::HOST) {
            if !over_host {
                host.owner = old.owner;
            }
            host.pointed |= own.is_none();
        }
        if over_host {
            self.outbox.garbage.push(Garbage { alloc: old, bytes, domain: device });
        }
        if let Some(alloc) = own {
            let alloc = Alloc { apart: NotLinked::Pointed, ..alloc };
            storage.set_alloc(device, alloc);
            if alloc.clean {
                storage.residency.holds(device);
            }
            self.note_memory(id, "buffer", (device, bytes), &alloc);
        }
        true
    }

    /// Brings all contents to a domain, and says when they are there.
    fn bring(&mut self, id: StorageId, domain: DomainId) -> Stamp {
        let storage = &self.storages[id.0];
        let (access, label) = (whole(id, storage, Mode::Read, domain), storage.label.clone());
        let who = For { queue: None, label: &label, lane: None };
        let mut deps = Deps::new();
        self.prepare(&[access], &[], who, &mut deps);
        tidy(&mut deps);
        self.meet(deps)
    }
}
