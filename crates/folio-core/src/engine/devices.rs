//! Devices: found when the runtime is made, opened on first use; and the memory on them.

use super::Engine;
use super::kernels::Kernels;
use super::lanes::LaneShared;
use super::pages::storage::{Alloc, Garbage, Owner};
use super::threads::courier::CourierSide;
use crate::engine::terms::budget::Budget;
use crate::engine::terms::lane::{COMPUTE_LANES, LANES_PER_DEVICE};
use crate::engine::terms::lender::{DEVICE_ALIGN, give_back, plain_request, refused};
use crate::engine::terms::link::NotLinked;
use crate::error::{Error, Label};
use crate::foreign;
use crate::hal::{
    AllocReq, Allocation, Device, DeviceInfo, HalError, HalErrorKind, LaneKind, MemBase, MemRef,
};
use crate::order::stamp::LaneId;
use crate::pages::DomainId;
use std::sync::{Arc, OnceLock};

/// A device of the runtime.
pub(crate) struct DeviceEntry {
    pub(crate) backend: usize,
    pub(crate) index: usize,
    /// `cpu:0`.
    pub(crate) name: String,
    pub(crate) info: DeviceInfo,
    pub(crate) domain: DomainId,
    /// That of its memory, which others may share.
    pub(crate) budget: Arc<Budget>,
    pub(crate) opened: OnceLock<Arc<dyn Device>>,
    pub(crate) kernels: Kernels,
    pub(crate) courier: Option<CourierSide>,
}

impl Engine {
    /// The budget of a device's memory.
    pub(crate) fn budget(&self, at: u16) -> &Budget {
        &self.devices[usize::from(at)].budget
    }

    /// Changes it, and lets the devices know that have that memory. Nothing is locked: they may ask
    /// their drivers.
    pub(crate) fn set_budget(&self, at: u16, bytes: u64) {
        let budget = &self.devices[usize::from(at)].budget;
        budget.set_limit(bytes);
        let theirs = self.devices.iter().filter(|entry| Arc::ptr_eq(&entry.budget, budget));
        for device in theirs.filter_map(|entry| entry.opened.get()) {
            device.usm().trim(bytes);
        }
    }

    /// The device, opened.
    #[inline]
    pub(crate) fn open(&self, at: u16) -> Result<&Arc<dyn Device>, Error> {
        match self.devices[usize::from(at)].opened.get() {
            Some(device) => Ok(device),
            None => self.open_now(at),
        }
    }

    #[cold]
    fn open_now(&self, at: u16) -> Result<&Arc<dyn Device>, Error> {
        let entry = &self.devices[usize::from(at)];
        let one_at_a_time = self.opening.lock();
        if let Some(device) = entry.opened.get() {
            return Ok(device);
        }
        let failed = |cause| {
            let (device, doing) = (entry.name.clone(), "open".to_owned());
            Error::Device { device, doing, cause }
        };
        let backend = &self.backends[entry.backend];
        let notify = self.notifies[entry.backend].clone();
        // SAFETY: the engine keeps its part of the contract.
        let device = unsafe { backend.open(entry.index, notify) }.map_err(failed)?;
        let (lanes, alias) = open_lanes(at, &*device).map_err(failed)?;
        // All or none: after an attempt that has failed half-way the next one opens another device,
        // which knows nothing of the kernels and lanes of this one.
        lanes.into_iter().for_each(|lane| self.table.set(lane));
        let links = self.peer_links(entry, &*device);
        let mut ledger = self.lock();
        let first = usize::from(at * LANES_PER_DEVICE);
        ledger.topology.lane_alias[first..first + alias.len()].copy_from_slice(&alias);
        ledger.topology.links.extend(links);
        ledger.topology.domain_device[usize::from(entry.domain.0)].get_or_insert(at);
        drop(ledger);
        let device = entry.opened.get_or_init(|| device);
        drop(one_at_a_time);
        foreign::tell(|| tracing::debug!(target: "folio", device = entry.name, "opened"));
        Ok(device)
    }

    /// The direct ways between a device's memory and those of the opened devices of its backend.
    fn peer_links(
        &self,
        entry: &DeviceEntry,
        device: &dyn Device,
    ) -> Vec<((DomainId, DomainId), crate::hal::Link)> {
        let mut links = Vec::new();
        for other in self.devices.iter().filter(|o| o.backend == entry.backend) {
            let Some(peer) = other.opened.get() else { continue };
            if other.domain == entry.domain {
                continue;
            }
            // A copy runs on the lane of its target, which reaches into the source.
            if let Some(link) = device.peer(&**peer) {
                links.push(((other.domain, entry.domain), link));
            }
            if let Some(link) = peer.peer(device) {
                links.push(((entry.domain, other.domain), link));
            }
        }
        links
    }

    /// Remembers the loss of a device, if that is why a call was refused: it is no source from then
    /// on. Called without any lock.
    pub(crate) fn noting_loss<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(Error::Device { device, cause, .. }) = &result
            && let HalErrorKind::Lost = cause.kind
            && let Some(at) = self.devices.iter().position(|entry| entry.name == *device)
        {
            // Operations under way there end when its lanes say so.
            self.enter(|ledger| ledger.loss(at, &cause.message));
        }
        result
    }

    /// The device that allocates in a domain.
    pub(super) fn first_on(&self, domain: DomainId) -> u16 {
        self.devices.iter().position(|d| d.domain == domain).unwrap_or_default() as u16
    }

    /// Memory for a whole storage on one domain.
    pub(crate) fn allocate_one(
        &self,
        domain: DomainId,
        bytes: usize,
        what: &'static str,
        label: &Label,
    ) -> Result<Alloc, Error> {
        if domain.is_host() {
            return self.host_alloc(None, bytes, what, label);
        }
        let req = plain_request(bytes, label);
        self.device_alloc(self.first_on(domain), req, what, label)
    }

    /// Memory of a device, within its budget.
    pub(crate) fn device_alloc(
        &self,
        at: u16,
        req: AllocReq<'_>,
        what: &'static str,
        label: &Label,
    ) -> Result<Alloc, Error> {
        let entry = &self.devices[usize::from(at)];
        self.alloc_within((&entry.budget, &entry.name), at, req, what, label)
    }

    /// Memory that a device's driver makes, within a budget: that of its own memory, or the host's.
    /// Memory that is imported was allocated already, and is in no budget.
    pub(super) fn alloc_within(
        &self,
        (budget, whose): (&Budget, &str),
        at: u16,
        req: AllocReq<'_>,
        what: &'static str,
        label: &Label,
    ) -> Result<Alloc, Error> {
        let device = self.open(at)?;
        let entry = &self.devices[usize::from(at)];
        let asked = req.size;
        let out = |in_use, limit| Error::OutOfMemory {
            device: whose.to_owned(),
            what,
            label: label.clone(),
            asked,
            in_use,
            limit,
        };
        if asked > entry.info.caps.max_alloc {
            return Err(out(entry.budget.in_use(), entry.info.caps.max_alloc));
        }
        let (kind, imported) = (req.kind, req.import.is_some());
        if !imported && !budget.take(asked) {
            return Err(out(budget.in_use(), budget.limit()));
        }
        let req = AllocReq { size: asked.max(1), align: req.align.max(DEVICE_ALIGN), ..req };
        match device.usm().alloc(&req) {
            Ok(made) => Ok(entry.alloc_of(at, &made, imported)),
            Err(cause) => {
                budget.give(if imported { 0 } else { asked });
                Err(refused((whose, &entry.name), (kind, imported), (what, label), asked, cause))
            }
        }
    }

    /// Gives memory back to its allocator.
    pub(crate) fn free(&self, garbage: Garbage) {
        match garbage.alloc.owner {
            Owner::User => {}
            Owner::Host(lender) => {
                if let MemBase::Host(ptr) = garbage.alloc.mem.base {
                    // SAFETY: it is this lender's (`host_alloc`, `adopt_host`); the ledger gives an
                    // allocation away once, when no operation and no handle uses it any more.
                    unsafe { give_back(ptr, lender) };
                    self.host_budget.give(garbage.bytes as u64);
                }
            }
            Owner::Imported(at, handle) => {
                if let Some(device) = self.devices[usize::from(at)].opened.get() {
                    device.usm().free(handle);
                }
            }
            Owner::Device(at, handle) => {
                let entry = &self.devices[usize::from(at)];
                if let Some(device) = entry.opened.get() {
                    device.usm().free(handle);
                    let of_host = garbage.domain.is_host();
                    let budget = if of_host { &self.host_budget } else { &entry.budget };
                    budget.give(garbage.bytes as u64);
                }
            }
        }
    }
}

impl DeviceEntry {
    /// Memory that the device, which is the runtime's `at`th, has given, or has imported.
    pub(super) fn alloc_of(&self, at: u16, made: &Allocation, imported: bool) -> Alloc {
        // Memory in the host's own domain is used by other backends too.
        let base = match made.host.filter(|_| self.domain.is_host()) {
            Some(host) => MemBase::Host(host),
            None => MemBase::Device { device: self.index as u32, handle: made.handle },
        };
        let owner = match imported {
            true => Owner::Imported(at, made.handle),
            false => Owner::Device(at, made.handle),
        };
        let (address, host, clean) = (made.address, made.host, made.zeroed);
        let (pointed, apart) = (false, NotLinked::Usm);
        let mem = MemRef { base, offset: 0 };
        Alloc { mem, address, host, owner, clean, pointed, apart }
    }
}

/// Makes the lanes of a device; says which lane does the work of which.
fn open_lanes(at: u16, device: &dyn Device) -> Result<(Vec<LaneShared>, Vec<LaneId>), HalError> {
    let caps = &device.info().caps;
    let first = at * LANES_PER_DEVICE;
    let mut alias: Vec<LaneId> = (first..first + LANES_PER_DEVICE).map(LaneId).collect();
    let mut lanes = Vec::new();
    let copies = [LaneKind::Upload, LaneKind::Download, LaneKind::Peer];
    let computes = caps.compute_lanes.clamp(1, COMPUTE_LANES);
    for offset in 0..LANES_PER_DEVICE {
        let copy = offset.checked_sub(COMPUTE_LANES).and_then(|c| copies.get(usize::from(c)));
        let kind = match copy {
            None if offset < computes => LaneKind::Compute,
            Some(kind) if caps.copy_lanes => *kind,
            _ => {
                alias[usize::from(offset)] = LaneId(first);
                continue;
            }
        };
        let native = device.lane(kind, 0)?;
        lanes.push(LaneShared::new(LaneId(first + offset), native, caps.max_in_flight));
    }
    Ok((lanes, alias))
}
