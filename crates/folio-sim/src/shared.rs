//! The lock around a [`World`], and who drives it.
//!
//! Without notifications the threads that look at a lane drive time; with them a thread of the
//! backend does, and looking is only looking. Either way one operation runs at a time, without the
//! lock: `World::running` stands for it, and time stands still meanwhile.
//!
//! Foreign code (kernels, and the drop of what they own) runs only in calls during which the caller
//! holds no lock: `drive`, `flush`, `wait`. Whoever merely looks, with `completed`, may hold one
//! that a kernel wants; when foreign code is due, time stands still for lookers until another call
//! comes.

use crate::timeline::World;
use crate::work::drop_contained;
use folio_core::hal::{HalError, HalErrorKind, Lost, Tick};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

type Guard<'a> = MutexGuard<'a, World>;

pub(crate) struct Shared {
    /// A thread of the backend drives time.
    pub(crate) threaded: bool,
    world: Mutex<World>,
    /// Something changed: progress, new work, a release, a loss.
    moved: Condvar,
}

impl Shared {
    pub(crate) fn new(world: World, threaded: bool) -> Shared {
        Shared { threaded, world: Mutex::new(world), moved: Condvar::new() }
    }

    pub(crate) fn lock(&self) -> Guard<'_> {
        // Nothing that can panic runs under the lock; a poisoned world would still be whole.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the world and wakes whoever waits for a change.
    pub(crate) fn change<R>(&self, f: impl FnOnce(&mut World) -> R) -> R {
        let mut world = self.lock();
        let out = f(&mut world);
        let litter = std::mem::take(&mut world.litter);
        drop(world);
        self.moved.notify_all();
        // Closures of lost operations: nobody is left to be told of a panic in their drop.
        let _ = drop_contained(litter);
        out
    }

    fn sleep<'a>(&self, world: Guard<'a>) -> Guard<'a> {
        self.moved.wait(world).unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends everything that is due now; without `foreign` code only up to where that is due.
    fn settle<'a>(&'a self, mut world: Guard<'a>, foreign: bool) -> Guard<'a> {
        loop {
            world.start_ready();
            if !foreign && world.foreign_due() {
                break;
            }
            let job = world.take_due();
            let litter = std::mem::take(&mut world.litter);
            if job.is_none() && litter.is_empty() {
                break;
            }
            world.running = Some(thread::current().id());
            drop(world);
            let _ = drop_contained(litter);
            let outcome = job.map(|job| job.run());
            world = self.lock();
            world.running = None;
            if let Some(outcome) = outcome {
                world.finish(outcome);
            }
        }
        world.publish();
        self.moved.notify_all();
        world
    }

    /// A step of time, if it is the callers who drive it, for one who may hold locks.
    pub(crate) fn look(&self) {
        self.pass(false, |world| if world.foreign_due() { 0 } else { 1 });
    }

    /// A step of time, if it is the callers who drive it.
    pub(crate) fn step(&self) {
        self.pass(true, |_| 1);
    }

    /// Ends what is due now, if it is the callers who drive time.
    pub(crate) fn catch_up(&self) {
        self.pass(true, |_| 0);
    }

    fn pass(&self, foreign: bool, steps: impl FnOnce(&mut World) -> u64) {
        if self.threaded {
            return;
        }
        let mut world = self.lock();
        if world.running.is_none() {
            world.now = world.now.saturating_add(steps(&mut world));
            drop(self.settle(world, foreign));
        }
    }

    /// As [`folio_core::hal::Lane::wait`]. Logical time is free: a clock is only read where
    /// nothing can move.
    pub(crate) fn wait(
        &self,
        lane: usize,
        tick: Tick,
        until: Option<Instant>,
    ) -> Result<bool, Lost> {
        let mut world = self.lock();
        loop {
            if let Some(lost) = world.lost(lane) {
                return Err(lost.clone());
            }
            world.show(lane);
            if world.lanes[lane].visible >= tick {
                return Ok(true);
            }
            if !self.threaded
                && world.running.is_none()
                && let Some(next) = world.next_event()
            {
                world.now = next.max(world.now);
                world = self.settle(world, true);
                continue;
            }
            let Some(until) = until else {
                world = self.sleep(world);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            let slept = self.moved.wait_timeout(world, left);
            world = slept.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes a device away once it executes nothing.
    pub(crate) fn lose(&self, device: u32) {
        let mut world = self.lock();
        while world.running.is_some_and(|id| id != thread::current().id()) {
            world = self.sleep(world);
        }
        drop(world);
        self.change(|world| world.lose(device, "on request"));
    }

    /// The life of the backend's thread.
    fn tick(&self) {
        let mut world = self.lock();
        while !world.stop {
            let told = world.take_progress();
            if !told.is_empty() {
                drop(world);
                told.iter().for_each(|notify| notify.progress());
                world = self.lock();
            } else if let Some(next) = world.next_event() {
                world.now = next.max(world.now);
                world = self.settle(world, true);
            } else {
                world = self.sleep(world);
            }
        }
    }
}

/// The state that backend, devices, lanes and handles share; the last of them ends the thread.
pub(crate) struct Core {
    pub(crate) name: String,
    pub(crate) shared: Arc<Shared>,
    ticker: Mutex<Option<JoinHandle<()>>>,
}

impl Core {
    pub(crate) fn new(name: String, shared: Shared) -> Core {
        Core { name, shared: Arc::new(shared), ticker: Mutex::new(None) }
    }

    /// Starts the thread that notifications need.
    pub(crate) fn start(&self) -> Result<(), HalError> {
        let mut ticker = self.ticker.lock().unwrap_or_else(PoisonError::into_inner);
        if self.shared.threaded && ticker.is_none() {
            let shared = self.shared.clone();
            let thread = thread::Builder::new().name(format!("{}-time", self.name));
            let spawned = thread.spawn(move || shared.tick());
            *ticker = Some(
                spawned
                    .map_err(|e| HalError::new(HalErrorKind::Driver, format!("no thread: {e}")))?,
            );
        }
        Ok(())
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.shared.change(|world| world.stop = true);
        let ticker = self.ticker.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // A kernel may own the last handle: then this is the thread itself.
        if let Some(thread) = ticker.filter(|t| t.thread().id() != thread::current().id()) {
            // The thread contains panics; there is nothing to learn from its result.
            let _ = thread.join();
        }
    }
}
