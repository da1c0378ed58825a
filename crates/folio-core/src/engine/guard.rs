//! Accesses outside any command: guards, which users hold, on the host or where a device's memory
//! is lent, and the host's reads, which end in the call.
//!
//! An operation that conflicts with a guard is refused, since nothing waits for user code. A read
//! is an operation as others are: what conflicts with it comes after it.

use super::Engine;
use super::ledger::{Body, Ledger, NewOp};
use super::pages::storage::{Guard, Life, StorageId};
use super::plan::apply::For;
use super::terms::access::{Access, Mode};
use super::threads::wait::{Check, EndObligation, WaitEnd};
use crate::engine::terms::lender::ALIGN;
use crate::error::Error;
use crate::foreign::listening;
use crate::geom::Box3;
use crate::hal::HostPtr;
use crate::order::hazards::{Deps, Outcome, tidy};
use crate::order::stamp::{Stamp, When};
use crate::pages::DomainId;
use smallvec::{SmallVec, smallvec};

/// Where the user touches the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GuardPlace {
    /// On the host; also USM where it is, if it is `reachable` there.
    Host { reachable: bool },
    /// In a device's memory.
    Device(DomainId),
}

/// An access that has been submitted.
#[derive(Debug)]
pub(crate) struct GuardGrant {
    /// Of a guard.
    pub(crate) id: u64,
    /// When the data is there.
    pub(crate) stamp: Stamp,
    /// Where it will be.
    pub(crate) host: HostPtr,
}

/// An operation of this thread's own: over when this is dropped.
struct Turn<'e> {
    engine: &'e Engine,
    stamp: Stamp,
    ending: Option<EndObligation>,
}

impl Turn<'_> {
    fn new(engine: &Engine, stamp: Stamp) -> Turn<'_> {
        let ending = match stamp.when() {
            When::Unplaced(slot, _) => Some(EndObligation::new(engine, slot)),
            _ => None,
        };
        Turn { engine, stamp, ending }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // A subscriber that is asked here may not wait for this turn.
        let traced = listening();
        drop(self.ending.take());
        self.engine.enter_as(traced, |ledger| ledger.end_turn(self.stamp));
    }
}

impl Engine {
    /// Takes a guard over `elements`: from now on nothing that conflicts is accepted, and when the
    /// guard's stamp is done the user may touch them at that place.
    pub(crate) fn take_guard(
        &self,
        storage: StorageId,
        elements: Box3,
        mode: Mode,
        at: GuardPlace,
    ) -> Result<GuardGrant, Error> {
        self.access_by_user(storage, (elements, mode), at, Body::Nothing)
    }

    /// The error of a guard that would be refused.
    pub(crate) fn check_guard(
        &self,
        storage: StorageId,
        elements: Box3,
        mode: Mode,
        at: GuardPlace,
    ) -> Result<(), Error> {
        self.enter(|ledger| ledger.user_access(storage, (elements, mode), at).map(drop))
    }

    /// Waits until `elements` are on the host, and calls `read` with the storage's first byte
    /// there.
    pub(crate) fn read_on_host<R>(
        &self,
        storage: StorageId,
        elements: Box3,
        reachable: bool,
        read: impl FnOnce(HostPtr) -> R,
    ) -> Result<R, Error> {
        let at = GuardPlace::Host { reachable };
        let taken = self.access_by_user(storage, (elements, Mode::Read), at, Body::Here)?;
        let _turn = Turn::new(self, taken.stamp);
        match self.wait_turn(taken.stamp)? {
            WaitEnd::Failed(failure) => Err(Error::failed(failure)),
            _ => Ok(read(taken.host)),
        }
    }

    /// Submits an access of the user's. With [`Body::Here`] it is the caller's to end, otherwise a
    /// guard.
    fn access_by_user(
        &self,
        storage: StorageId,
        (elements, mode): (Box3, Mode),
        at: GuardPlace,
        body: Body,
    ) -> Result<GuardGrant, Error> {
        let traced = listening();
        let mut ledger = self.lock();
        let access = ledger.user_access(storage, (elements, mode), at)?;
        let mut may_wait = self.may_wait_for(&mut ledger, &access);
        // A thread that may not wait gets no memory, either.
        if may_wait.is_ok() && !ledger.storages.missing(&[access]).is_empty() {
            ledger = self.reserve(ledger, &[access], |ledger| {
                ledger.user_access(storage, (elements, mode), at)?;
                Ok(ledger.storages.missing(&[access]))
            })?;
            may_wait = self.may_wait_for(&mut ledger, &access);
        }
        if let Err(error) = may_wait {
            let outbox = std::mem::take(&mut ledger.outbox);
            drop(ledger);
            self.deliver(outbox);
            return Err(error);
        }
        let pages = ledger.storages[storage.0].residency.pages(&access);
        let (domain, accesses) = (access.domain, [access]);
        ledger.traced = traced;
        let label = ledger.storages[storage.0].label.clone();
        let mut deps: Deps = SmallVec::new();
        let who = For { queue: None, label: &label, lane: None };
        ledger.prepare(&accesses, &[], who, &mut deps);
        ledger.tracker_panics(&accesses, &label, &mut deps);
        tidy(&mut deps);
        ledger.next_guard += 1;
        let id = ledger.next_guard;
        let body_here = matches!(body, Body::Here);
        if !body_here {
            ledger.storages[storage.0].guards.push(Guard {
                id,
                domain,
                pages,
                writes: mode.writes(),
            });
        }
        let (what, storages) = ("host access", smallvec![storage]);
        let stamp = ledger.submit(NewOp { what, deps, storages, body, ..NewOp::default() });
        let Ledger { storages, timeline, .. } = &mut *ledger;
        storages.mark(&accesses, stamp, timeline);
        let host = ledger.storages[storage.0].alloc(domain).and_then(|a| a.host);
        let outbox = std::mem::take(&mut ledger.outbox);
        drop(ledger);
        // Who is told of it may not wait for it either.
        let slot = match (body_here, stamp.when()) {
            (true, When::Unplaced(slot, _)) => Some(slot),
            _ => None,
        };
        let ending = slot.map(|slot| EndObligation::new(self, slot));
        self.deliver(outbox);
        drop(ending);
        // No elements: any aligned address.
        let host = host.unwrap_or(HostPtr(std::ptr::without_provenance_mut(ALIGN)));
        Ok(GuardGrant { id, stamp, host })
    }

    /// An error if this thread may not wait for what an access of the host's comes after.
    fn may_wait_for(&self, ledger: &mut Ledger, access: &Access) -> Result<(), Error> {
        let mut before: Deps = SmallVec::new();
        ledger.storages.hazard_deps(std::slice::from_ref(access), &mut before);
        before.iter().try_for_each(|dep| {
            let stamp = ledger.timeline.resolve(dep.stamp);
            // Operations that have ended need no waiting.
            if let Some(lane) = stamp.lane() {
                ledger.poll(lane);
            }
            match ledger.timeline.outcome(stamp) {
                Outcome::Pending => self.may_wait(ledger, stamp, Check::All),
                Outcome::Fine | Outcome::Failed => Ok(()),
            }
        })
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
    pub(crate) fn wait_guard(&self, taken: &GuardGrant) -> Result<(), Error> {
        match self.wait(taken.stamp, None)? {
            WaitEnd::Failed(failure) => Err(Error::failed(failure)),
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

impl Ledger {
    /// An access of the user's, if nothing speaks against it.
    fn user_access(
        &self,
        storage: StorageId,
        (elements, mode): (Box3, Mode),
        at: GuardPlace,
    ) -> Result<Access, Error> {
        if self.shutdown {
            return Err(Error::ShutDown);
        }
        let state = &self.storages[storage.0];
        if state.life != Life::Open {
            return Err(Error::ScopeEnded { label: state.label.clone() });
        }
        let (domain, is_there) = match at {
            GuardPlace::Host { reachable } => {
                (state.home.unwrap_or(DomainId::HOST), state.home.is_none() || reachable)
            }
            GuardPlace::Device(domain) => (domain, state.home.is_none_or(|home| home == domain)),
        };
        if !is_there {
            return Err(Error::NotAccessible {
                label: state.label.clone(),
                home: self.topology.domain_name(state.home.unwrap_or(DomainId::HOST)),
                device: match at {
                    GuardPlace::Host { .. } => "the host".to_owned(),
                    GuardPlace::Device(domain) => self.topology.domain_name(domain),
                },
            });
        }
        if state.held(&state.residency.grid.pages_of(&elements), mode.writes()) {
            return Err(Error::HostAccessHeld { buffer: state.label.clone(), by: None });
        }
        Ok(state.access(storage, elements, mode, domain))
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use crate::engine::null::Null;
    use crate::{Buffer, BufferOptions, Event, Queue, Result, Runtime, Shared, Status};
    use std::sync::mpsc::{Sender, channel};

    /// A read of a whole buffer that has been submitted, and not ended.
    fn reading(x: &Shared<u32>) -> Result<GuardGrant> {
        let storage = &x.view.storage;
        let elements = Box3::whole(storage.grid.dims);
        let at = GuardPlace::Host { reachable: false };
        storage.core.engine.access_by_user(storage.id, (elements, Mode::Read), at, Body::Here)
    }

    fn write(q: &Queue, x: &Shared<u32>, page: usize) -> Result<Event> {
        q.submit(|cg| {
            let x = cg.read_write(x.slice_mut([page], [1])?);
            cg.host_kernel([1], x, |_, _| {});
            Ok(())
        })
    }

    /// A host task that writes the first page of `x`, and waits for the event that it is sent.
    fn gated(q: &Queue, x: &Shared<u32>) -> Result<(Event, Sender<Event>)> {
        let (send, receive) = channel::<Event>();
        let task = q.submit(|cg| {
            let x = cg.write(x.slice_mut([0], [1])?);
            cg.host_task(x, move |_| receive.recv().map_or(Ok(()), |event| event.wait()));
            Ok(())
        })?;
        Ok((task, send))
    }

    fn pages(rt: &Runtime) -> Result<Buffer<u32>> {
        rt.buffer_with(&[0; 2], BufferOptions::new().page([1]))
    }

    /// DEP-02: what is submitted while a thread reads comes after that, and is not refused.
    #[test]
    fn a_write_during_a_read_comes_after_it() {
        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        let (q, x) = (rt.queue().unwrap(), pages(&rt).unwrap().into_shared());
        let engine = &x.view.storage.core.engine;
        let taken = reading(&x).unwrap();
        assert!(matches!(engine.wait_turn(taken.stamp), Ok(WaitEnd::Done)));
        let written = write(&q, &x, 1).unwrap();
        assert!(matches!(written.status(), Status::Pending));
        engine.enter(|ledger| ledger.end_turn(taken.stamp));
        written.wait().unwrap();
        // Ended before its turn has come, it ends when that comes.
        let (task, send) = gated(&q, &x).unwrap();
        let taken = reading(&x).unwrap();
        engine.enter(|ledger| ledger.end_turn(taken.stamp));
        let written = write(&q, &x, 1).unwrap();
        assert!(matches!(written.status(), Status::Pending));
        drop(send);
        written.wait().unwrap();
        task.wait().unwrap();
    }

    /// DEP-04: a read by a thread that waits for a task is something for which that task cannot
    /// wait.
    #[test]
    fn a_task_cannot_wait_for_what_comes_after_a_read_of_its_own_data() {
        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        let (q, x) = (rt.queue().unwrap(), pages(&rt).unwrap().into_shared());
        let (task, send) = gated(&q, &x).unwrap();
        let taken = reading(&x).unwrap();
        // It needs nothing of the task's but by way of the read.
        let written = write(&q, &x, 1).unwrap();
        send.send(written.clone()).unwrap();
        let Err(Error::Failed(failure)) = task.wait() else { panic!("it waits for itself") };
        assert!(failure.to_string().contains("own completion"), "{failure}");
        // The read fails with it, and what comes after goes on.
        let engine = &x.view.storage.core.engine;
        assert!(matches!(engine.wait_turn(taken.stamp), Ok(WaitEnd::Failed(_))));
        engine.enter(|ledger| ledger.end_turn(taken.stamp));
        written.wait().unwrap();
    }
}
