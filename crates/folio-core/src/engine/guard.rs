//! Host guards: the host's own accesses, outside any command.

use super::Engine;
use super::access::{Access, Mode};
use super::failures::EpochPin;
use super::ledger::NewOp;
use super::staging::ALIGN;
use super::storage::{Guard, StorageId};
use super::transfer::For;
use super::wait::Waited;
use crate::error::Error;
use crate::geom::Box3;
use crate::hal::HostPtr;
use crate::order::hazards::{Deps, Outcome, tidy};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use smallvec::{SmallVec, smallvec};

/// A guard that has been taken: nothing that conflicts with it can be submitted.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) id: u64,
    /// When the data is there.
    pub(crate) stamp: Stamp,
    pub(crate) pin: EpochPin,
    /// Where it will be.
    pub(crate) host: HostPtr,
}

impl Engine {
    /// Takes a guard over `elements`: from now on nothing that conflicts is accepted, and when the
    /// guard's stamp is done the host may touch them. `reachable`: so may it USM, where it is.
    pub(crate) fn take_guard(
        &self,
        storage: StorageId,
        elements: Box3,
        mode: Mode,
        reachable: bool,
    ) -> Result<Taken, Error> {
        let traced = super::trace::listening();
        let mut found = None;
        let mut ledger = self.reserve(self.lock(), |ledger| {
            if ledger.shutdown {
                return Err(Error::ShutDown);
            }
            let state = &ledger.storages[storage.0];
            if state.closed {
                return Err(Error::ScopeEnded { label: state.label.clone() });
            }
            let domain = state.home.unwrap_or(DomainId::HOST);
            if state.home.is_some() && !reachable {
                return Err(Error::NotAccessible {
                    label: state.label.clone(),
                    home: self.domain_name(domain),
                    device: "the host".to_owned(),
                });
            }
            let access = Access::new((storage, &state.grid), elements, mode, domain);
            if state.held(&access.pages, mode.writes()) {
                return Err(Error::HostAccessHeld { buffer: state.label.clone(), by: None });
            }
            found = Some(access);
            Ok(ledger.missing(&[access]))
        })?;
        let Some(access) = found else { return Err(Error::ShutDown) };
        let (domain, pages) = (access.domain, access.pages);
        ledger.traced = traced;
        let mut before: Deps = SmallVec::new();
        let accesses = [access];
        ledger.hazard_deps(&accesses, &mut before);
        for dep in &before {
            let stamp = ledger.timeline.resolve(dep.stamp);
            // What has ended already needs no waiting.
            if let Some(lane) = stamp.lane() {
                ledger.poll(lane);
            }
            if ledger.timeline.outcome(stamp) == Outcome::Pending
                && let Err(error) = self.may_wait(&ledger, stamp)
            {
                let outbox = std::mem::take(&mut ledger.outbox);
                drop(ledger);
                self.deliver(outbox);
                return Err(error);
            }
        }
        let label = ledger.storages[storage.0].label.clone();
        let mut deps: Deps = SmallVec::new();
        let who = For { queue: None, label: &label, lane: None };
        ledger.prepare(&accesses, who, &mut deps);
        ledger.tracker_panics(&accesses, &label, &mut deps);
        tidy(&mut deps);
        ledger.next_guard += 1;
        let id = ledger.next_guard;
        ledger.storages[storage.0].guards.push(Guard { id, pages, writes: mode.writes() });
        let storages = smallvec![storage];
        let stamp =
            ledger.submit(NewOp { what: "host access", deps, storages, ..NewOp::default() });
        ledger.mark(&accesses, stamp);
        let pin = ledger.timeline.failures.pin();
        let host = ledger.storages[storage.0].alloc(domain).and_then(|a| a.host);
        let outbox = std::mem::take(&mut ledger.outbox);
        drop(ledger);
        self.deliver(outbox);
        // No elements: any aligned address.
        let host = host.unwrap_or(HostPtr(std::ptr::without_provenance_mut(ALIGN)));
        Ok(Taken { id, stamp, pin, host })
    }

    /// Gives a guard back.
    pub(crate) fn give_guard(&self, storage: StorageId, id: u64) {
        self.enter(|ledger| {
            if let Some(state) = ledger.storages.get_mut(storage.0) {
                state.guards.retain(|g| g.id != id);
            }
        });
    }

    /// Waits until a guard's data is there.
    pub(crate) fn wait_guard(&self, taken: &Taken) -> Result<(), Error> {
        match self.wait(taken.stamp, None)? {
            Waited::Failed(failure) => Err(Error::Failed(failure)),
            _ => Ok(()),
        }
    }

    /// How people call a domain.
    pub(crate) fn domain_name(&self, domain: DomainId) -> String {
        if domain == DomainId::HOST {
            return "the host".to_owned();
        }
        let device = self.devices.iter().find(|d| d.domain == domain);
        device.map_or_else(|| "?".to_owned(), |d| d.name.clone())
    }
}
