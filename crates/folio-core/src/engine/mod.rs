//! The one driver of everything else: submits, places, enqueues, completes, fails. The ledger's
//! lock, the lanes' locks and all threads live here.
//!
//! The engine is nine rooms; the README beside this file says what each keeps. [`Engine`] is the
//! face that buffers, queues, graphs and USM see.

pub(crate) mod devices;
pub(crate) mod guard;
#[cfg(all(test, not(loom), not(miri)))]
mod hot_path;
pub(crate) mod kernels;
pub(crate) mod lanes;
pub(crate) mod ledger;
pub(crate) mod memory;
#[cfg(all(test, loom))]
pub(crate) mod models;
#[cfg(all(test, not(loom), not(miri)))]
pub(crate) mod null;
pub(crate) mod pages;
pub(crate) mod plan;
pub(crate) mod runs;
pub(crate) mod terms;
pub(crate) mod threads;
pub(crate) mod trace;
pub(crate) mod untold;

use crate::engine::terms::access::{Access, Missing};
use crate::engine::terms::budget::Budget;
use crate::engine::terms::evict::Evict;
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::engine::terms::link::Links;
use crate::error::{Error, Failure};
use crate::foreign;
use crate::hal::{Backend, Notify, Tick, tell_compiled};
use crate::metrics::Hold;
use crate::order::stamp::{LaneId, Stamp};
use crate::pages::PageTrackerFactory;
use crate::panics::contain;
use crate::planted::{Plant, Planted};
use crate::sync::atomic::{AtomicBool, AtomicU64};
use crate::sync::{Condvar, Mutex, MutexGuard};
use crate::tune::Tunings;
use devices::DeviceEntry;
use lanes::port::LaneTable;
use lanes::{LaneShared, Lanes};
use ledger::{Ledger, Leftover, Outbox};
use memory::allocate::Takes;
use runs::command::Command;
use std::sync::{Arc, Weak};
use threads::host::HostThreads;
use threads::reaper::Reaper;

/// Who is told of failures.
pub(crate) type Handler = Box<dyn Fn(&Arc<Failure>) + Send + Sync>;

/// The engine of one runtime.
pub(crate) struct Engine {
    pub(crate) ledger: Mutex<Ledger>,
    /// Goes with the ledger: something that a waiting thread may wait for has happened.
    pub(crate) changed: Condvar,
    pub(crate) table: Arc<LaneTable>,
    pub(crate) devices: Vec<DeviceEntry>,
    pub(crate) backends: Vec<Arc<dyn Backend>>,
    pub(crate) notifies: Vec<Notify>,
    pub(crate) reapers: Vec<Arc<Reaper>>,
    pub(crate) host: HostThreads,
    pub(crate) handler: Option<Handler>,
    /// When the engine links allocations.
    pub(crate) links: Links,
    /// For buffers that do not say.
    pub(crate) evict: Option<Evict>,
    /// A user's page trackers, for all buffers that do not choose.
    pub(crate) tracker: Option<Arc<dyn PageTrackerFactory>>,
    pub(crate) host_budget: Arc<Budget>,
    /// Why backends have no devices, or fewer.
    pub(crate) absent: Vec<String>,
    /// The user's last handle is gone.
    pub(crate) closing: AtomicBool,
    /// Which shapes launches have.
    pub(crate) tunings: Tunings,
    pub(crate) opening: Mutex<()>,
    pub(crate) allocating: Mutex<()>,
    /// Buffers and USM allocations that were ever made.
    pub(crate) storages_made: AtomicU64,
    pub(crate) plant: Plant,
    pub(crate) me: Weak<Engine>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        // The handler and the factory of trackers are the program's, and so is their drop.
        contain(|| drop(self.handler.take()));
        contain(|| drop(self.tracker.take()));
    }
}

impl Engine {
    /// Locks the ledger.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.try_lock().unwrap_or_else(|| {
            pages::tracker::refuse_inside();
            self.ledger.lock()
        })
    }

    /// Reads the ledger. No subscriber is asked and nothing is delivered, so the caller may hold a
    /// lock.
    pub(crate) fn read<R>(&self, f: impl FnOnce(&Ledger) -> R) -> R {
        f(&self.lock())
    }

    /// Does something with the ledger, and afterwards what it left to be done. The caller holds no
    /// lock: the subscriber is asked whether it listens.
    pub(crate) fn enter<R>(&self, f: impl FnOnce(&mut Ledger) -> R) -> R {
        self.enter_as(foreign::listening(), f)
    }

    /// As [`enter`](Self::enter), by a caller that has asked whether the subscriber listens.
    pub(crate) fn enter_as<R>(&self, traced: bool, f: impl FnOnce(&mut Ledger) -> R) -> R {
        let mut ledger = self.lock();
        ledger.traced = traced;
        let result = f(&mut ledger);
        self.leave(ledger);
        result
    }

    /// Unlocks the ledger, and does what it left to be done.
    fn leave(&self, mut ledger: MutexGuard<'_, Ledger>) {
        if ledger.timeline.failures.is_crowded() {
            let Ledger { storages, timeline, queues, .. } = &mut *ledger;
            timeline.thin_failures(storages, queues);
        }
        if !ledger.outbox.is_routine() {
            let mut outbox = std::mem::take(&mut ledger.outbox);
            if self.plant.is(Planted::DropsUnderLock) {
                outbox.leftovers.retain(Leftover::is_view);
            }
            drop(ledger);
            return self.deliver(outbox);
        }
        let drain = std::mem::take(&mut ledger.outbox.drain);
        let notify = std::mem::take(&mut ledger.outbox.notify);
        drop(ledger);
        self.deliver_routine(&drain, notify);
    }

    fn deliver_routine(&self, drain: &[LaneId], notify: bool) {
        if notify {
            self.changed.notify_all();
        }
        for lane in drain {
            self.hand_over(*lane);
        }
        tell_compiled();
    }

    /// Does what the ledger left to be done. Called without any lock.
    pub(crate) fn deliver(&self, mut outbox: Outbox) {
        if !outbox.notes.is_empty() {
            // Before anything of it can end.
            self.tell_all(&mut outbox);
        }
        self.deliver_routine(&outbox.drain, outbox.notify);
        for (slot, work) in outbox.host {
            self.start_host_task(slot, work);
        }
        for backend in 0..self.reapers.len() {
            if outbox.reapers & (1 << backend) != 0 {
                self.wake_reaper(backend);
            }
        }
        for garbage in outbox.garbage {
            self.free(garbage);
        }
        drop(outbox.staging);
        // The program may wait for these in code of its own that comes next.
        let (views, leftovers): (Vec<_>, Vec<_>) =
            outbox.leftovers.into_iter().partition(Leftover::is_view);
        for view in views {
            contain(|| {
                if let Leftover::View(storage) = view {
                    self.give_back(storage);
                }
            });
        }
        for failure in outbox.reports {
            self.report(&failure);
        }
        for leftover in leftovers {
            contain(|| drop(leftover));
        }
        for waker in outbox.wakers {
            contain(|| waker.wake());
        }
    }

    /// Hands a lane's operations to the backend. Operations that a full lane leaves are the
    /// reaper's.
    pub(crate) fn drain(&self, lane: LaneId) {
        let Some(shared) = self.table.shared(lane) else { return };
        if shared.drain(&*self.table, shared.mailbox.pushed()) {
            self.wake_reaper_of(lane);
        }
    }

    /// As [`drain`](Self::drain), if no other thread is at it.
    pub(crate) fn try_drain(&self, lane: LaneId) -> bool {
        self.try_drain_until(lane, |shared| shared.mailbox.pushed())
    }

    fn try_drain_until(&self, lane: LaneId, until: impl Fn(&LaneShared) -> Tick) -> bool {
        let Some(shared) = self.table.shared(lane) else { return true };
        let drained = shared.try_drain(&*self.table, until(shared));
        if drained == Some(true) {
            self.wake_reaper_of(lane);
        }
        drained.is_some()
    }

    fn wake_reaper_of(&self, lane: LaneId) {
        // Lanes wait for lanes of their own backend only.
        let device = &self.devices[usize::from(lane.0 / LANES_PER_DEVICE)];
        self.wake_reaper(device.backend);
    }

    #[cold]
    fn span(&self, command: &Command) -> foreign::Submitting {
        let device = command.device.map(|at| self.devices[usize::from(at)].name.as_str());
        foreign::Submitting::new(command.action.name(), &command.label, device)
    }

    /// Submits a command: checks it, reserves its memory, and hands it over.
    pub(crate) fn submit(&self, command: &mut Command) -> Result<Stamp, Error> {
        let traced = foreign::listening();
        let _span = traced.then(|| self.span(command));
        let mut ledger = self.lock();
        let hold = Hold::begin();
        if ledger.traced != traced {
            ledger.traced = traced;
        }
        match command.device {
            Some(device) => ledger.look_for(device, command),
            None => ledger.look_for_host(command),
        }
        if let Some((stamp, lane)) = ledger.straight(command) {
            hold.end();
            if ledger.is_quiet() {
                drop(ledger);
                self.hand_over(lane);
            } else {
                ledger.outbox.drain.push(lane);
                self.leave(ledger);
            }
            return Ok(stamp);
        }
        self.submit_from(ledger, hold, command)
    }

    /// Allocates until `missing` names nothing. The closure checks what the caller is about to do,
    /// each time anew, since the ledger is unlocked while memory is made. Where memory is short,
    /// what these accesses use does not give way.
    pub(crate) fn reserve<'a>(
        &'a self,
        mut ledger: MutexGuard<'a, Ledger>,
        uses: &[Access],
        mut missing: impl FnMut(&Ledger) -> Result<Missing, Error>,
    ) -> Result<MutexGuard<'a, Ledger>, Error> {
        loop {
            let missing = missing(&ledger)?;
            if missing.is_empty() {
                return Ok(ledger);
            }
            drop(ledger);
            self.allocate_for(&missing, uses, Takes::InUse)?;
            ledger = self.lock();
        }
    }

    /// The general way. Apart, so that the straight one is short and in one piece: next to a driver
    /// whose code fills the caches, what a submission costs is what it touches.
    #[inline(never)]
    fn submit_from<'a>(
        &'a self,
        ledger: MutexGuard<'a, Ledger>,
        hold: Hold,
        command: &mut Command,
    ) -> Result<Stamp, Error> {
        let traced = ledger.traced;
        let ledger = self.reserve(ledger, &command.accesses, |ledger| {
            ledger.check(command)?;
            Ok(ledger.storages.missing(&command.accesses))
        });
        let mut ledger = match ledger {
            Ok(ledger) => ledger,
            Err(error) => {
                // Looking at the lanes may have left something to do.
                self.enter(|_| ());
                return Err(error);
            }
        };
        ledger.traced = traced;
        let stamp = ledger.run(command);
        hold.end();
        self.leave(ledger);
        Ok(stamp)
    }
}

impl Ledger {
    /// Nothing is to be done when it is free again.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.outbox.is_empty() && !self.timeline.failures.is_crowded()
    }
}

impl Outbox {
    fn is_empty(&self) -> bool {
        self.is_routine() && self.drain.is_empty() && !self.notify
    }

    /// True when there was nothing to do but lanes to drain.
    fn is_routine(&self) -> bool {
        self.host.is_empty()
            && self.wakers.is_empty()
            && self.garbage.is_empty()
            && self.reports.is_empty()
            && self.leftovers.is_empty()
            && self.staging.is_empty()
            && self.notes.is_empty()
            && self.reapers == 0
    }
}
