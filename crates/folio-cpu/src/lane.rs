//! Lanes: in-order queues, who may run them, and who waits for them.
//!
//! # The protocol
//!
//! A lane is in one of four states, changed only under its lock:
//!
//! - *idle*: nobody runs it. Whoever finds it idle with operations may make it running.
//! - *queued*: it is in the machine's list of lanes that wait for a thread. A thread of the pool
//!   that takes it from there makes it running; so may a waiter that gets there first, in which
//!   case the list's entry means nothing any more.
//! - *running*: one thread, its driver, takes operations from the front and runs them, without the
//!   lock. The lane becomes idle only under the lock and only when there are no operations, so an
//!   operation queued meanwhile is seen by its driver, or its queuer finds the lane idle.
//! - *parked*: its first operation waits for another lane, and the entry in that lane's list of
//!   dependents owns this lane. The lane becomes running or queued through that entry alone.
//!
//! After each operation the driver publishes `completed`, *then* takes the lock and looks for
//! dependents and sleepers. Dependents and sleepers look at `completed` under the same lock before
//! they enter themselves. Either the driver thus finds them, or they find the tick: no wake-up is
//! lost. No thread holds two locks, and no user code (closures, their drops, `Notify`) runs under
//! one.

use crate::bytes::Rect;
use crate::cost::Costs;
use crate::driver::{self, Driver};
use crate::graph::CpuGraph;
use crate::lock;
use crate::op::{Bytes, Launch, Op, Ops, Scratch, WaitFor, Work};
use crate::pool::Machine;
use folio_core::hal::{
    self, Args, Geometry, HalError, HalErrorKind, Head, KernelRef, Lane, Lost, Notify, Tick, Timing,
};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many timings are kept: what may be in flight, twice.
const TIMINGS: usize = 8192;
/// How often a waiter looks before it sleeps: a few microseconds, what a sleep would cost.
const SPINS: usize = 100;
/// How long a worker that waits inside a kernel sleeps before it looks for other work again.
const WORKER_NAP: Duration = Duration::from_micros(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Idle,
    Queued,
    Running,
    Parked,
}

/// A lane's state under its lock.
pub(crate) struct Queue {
    pub activity: Activity,
    pub ops: Ops,
    /// Put away here while nobody runs the lane.
    pub scratch: Option<Box<Scratch>>,
    /// Parked lanes and the ticks of this lane that they wait for.
    dependents: Vec<(Tick, Arc<Core>)>,
    /// The first tick that somebody sleeps for, or that a dependent waits for.
    alarm: Tick,
}

/// Lanes that a driver has to revive.
pub(crate) type Revived = SmallVec<[Arc<Core>; 4]>;

/// The state of a lane; lives as long as there is work.
pub(crate) struct Core {
    completed: AtomicU64,
    queue: Mutex<Queue>,
    wake: Condvar,
    failed: AtomicBool,
    failures: Mutex<VecDeque<(Tick, HalError)>>,
    timings: Mutex<VecDeque<(Tick, Timing)>>,
    /// The thread of the pool that ran it last.
    pub thread: AtomicUsize,
    pub notify: Notify,
    pub machine: Arc<Machine>,
}

impl Core {
    pub(crate) fn new(machine: Arc<Machine>, notify: Notify) -> Core {
        Core {
            completed: AtomicU64::new(0),
            queue: Mutex::new(Queue {
                activity: Activity::Idle,
                ops: Ops::default(),
                scratch: None,
                dependents: Vec::new(),
                alarm: Tick::MAX,
            }),
            wake: Condvar::new(),
            failed: AtomicBool::new(false),
            failures: Mutex::default(),
            timings: Mutex::default(),
            thread: AtomicUsize::new(usize::MAX),
            notify,
            machine,
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Tells this lane from others while it lives.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    pub(crate) fn reached(&self, tick: Tick) -> bool {
        self.completed.load(Ordering::Acquire) >= tick
    }

    /// The driver's: `tick` has ended, its closure is dropped and its failure is filed.
    pub(crate) fn complete(&self, tick: Tick) {
        self.completed.store(tick, Ordering::Release);
        self.notify.progress();
    }

    /// The driver's, after [`Core::complete`]: wakes who sleeps and hands out who is parked for
    /// `tick` or less.
    pub(crate) fn sound_alarm(&self, queue: &mut Queue, tick: Tick, revived: &mut Revived) {
        if queue.alarm > tick {
            return;
        }
        queue.dependents.retain_mut(|(wanted, lane)| {
            let due = *wanted <= tick;
            if due {
                revived.push(Arc::clone(lane));
            }
            !due
        });
        // Sleepers that are not due enter themselves again.
        queue.alarm = queue.dependents.iter().map(|(tick, _)| *tick).min().unwrap_or(Tick::MAX);
        self.wake.notify_all();
    }

    /// Leaves `parked` to this lane until `tick` is reached; `false` when it is already.
    pub(crate) fn revive_at(self: &Arc<Core>, tick: Tick, parked: &Arc<Core>) -> bool {
        let mut queue = self.lock();
        if self.reached(tick) {
            return false;
        }
        queue.dependents.push((tick, Arc::clone(parked)));
        queue.alarm = queue.alarm.min(tick);
        // Its queuer may not have come to `drive` yet; do not depend on that.
        self.kick(queue);
        true
    }

    /// If the lane is idle but has work: to the pool.
    fn kick(self: &Arc<Core>, mut queue: MutexGuard<'_, Queue>) {
        if queue.activity == Activity::Idle && !queue.ops.queue.is_empty() {
            queue.activity = Activity::Queued;
            drop(queue);
            self.machine.enqueue(Arc::clone(self));
        }
    }

    pub(crate) fn fail(&self, tick: Tick, error: HalError) {
        lock(&self.failures).push_back((tick, error));
        self.failed.store(true, Ordering::Release);
    }

    pub(crate) fn time(&self, tick: Tick, timing: Timing) {
        let mut timings = lock(&self.timings);
        if timings.len() == TIMINGS {
            timings.pop_front();
        }
        timings.push_back((tick, timing));
    }

    /// Queues an operation; `work` adds what belongs to it to the rings. The closure is not called
    /// where the operation is refused: then one that does nothing takes its place.
    fn push(&self, head: &Head<'_>, work: impl FnOnce(&mut Ops) -> Work) -> Result<(), HalError> {
        let queued = head.timed.then(|| self.machine.clock(Instant::now()));
        let (mut queue, mut others) = (self.lock(), false);
        let ops = &mut queue.ops;
        let before = ops.waits.len();
        for wait in head.waits {
            match wait.lane.downcast_ref::<CpuLane>() {
                // In order with itself anyway.
                Some(lane) if std::ptr::eq(&*lane.core, self) => {}
                Some(lane) if lane.core.reached(wait.tick) => {}
                Some(lane) => {
                    ops.waits.push_back(WaitFor { lane: lane.core.clone(), tick: wait.tick });
                }
                None => others = true,
            }
        }
        let waits = ops.waits.len() - before;
        // Called at one place, so that it is a part of this function: what it makes is large.
        let work = if others { Work::Nothing } else { work(ops) };
        ops.queue.push_back(Op { tick: head.tick, waits, queued, work });
        drop(queue);
        if others {
            Err(HalError::unsupported("waiting for a lane of another backend"))
        } else {
            Ok(())
        }
    }

    fn wait(self: &Arc<Core>, tick: Tick, until: Option<Instant>) -> bool {
        let driver = Driver::Waiter { tick, until };
        let mut helped = false;
        if !self.reached(tick) && self.lock().activity == Activity::Queued {
            self.machine.leave_to_sentinel();
        }
        while !self.reached(tick) {
            let queue = self.lock();
            let idle = queue.activity == Activity::Idle && !queue.ops.queue.is_empty();
            let queued = queue.activity == Activity::Queued;
            // With a deadline only what is short is run here, and once.
            if if until.is_none() { idle || queued } else { idle && !helped } {
                helped = true;
                driver::run(self, queue, driver);
                continue;
            }
            drop(queue);
            if until.is_some_and(|until| Instant::now() >= until) {
                return false;
            }
            match if until.is_none() { self.machine.help() } else { None } {
                Some(true) => continue,
                Some(false) => self.sleep(tick, Some(Instant::now() + WORKER_NAP)),
                None if until.is_none() => {
                    // The operation that it waits for may be a launch that it can take part in.
                    if !self.machine.watch(self.address(), || self.reached(tick)) {
                        self.sleep(tick, until);
                    }
                }
                None if self.spin(tick) => return true,
                None => self.sleep(tick, until),
            }
        }
        true
    }

    fn spin(&self, tick: Tick) -> bool {
        (0..SPINS).any(|_| {
            std::hint::spin_loop();
            self.reached(tick)
        })
    }

    /// Sleeps until the alarm sounds or `until` has passed; or not at all.
    fn sleep(&self, tick: Tick, until: Option<Instant>) {
        let mut queue = self.lock();
        if self.reached(tick) {
            return;
        }
        queue.alarm = queue.alarm.min(tick);
        match until {
            None => drop(self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner)),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                drop(self.wake.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}

impl Drop for Core {
    /// Failures that nobody asked for may carry anything.
    fn drop(&mut self) {
        driver::discard(std::mem::take(&mut *lock(&self.failures)));
    }
}

/// A lane as the engine holds it.
pub(crate) struct CpuLane {
    core: Arc<Core>,
}

impl CpuLane {
    pub(crate) fn new(machine: Arc<Machine>, notify: Notify) -> CpuLane {
        CpuLane { core: Arc::new(Core::new(machine, notify)) }
    }

    fn rects<T>(
        &self,
        head: &Head<'_>,
        rects: &[T],
        pattern: &[u8],
        resolve: fn(&T) -> Rect,
    ) -> Result<(), HalError> {
        self.core.push(head, |ops| {
            let mut work = Bytes { rects: rects.len(), pattern: pattern.len(), ..Bytes::default() };
            for rect in rects.iter().map(resolve) {
                work.bytes += rect.bytes();
                work.rows += rect.rows();
                ops.rects.push_back(rect);
            }
            ops.patterns.extend(pattern);
            Work::Bytes(work)
        })
    }

    fn launch(
        &self,
        head: &Head<'_>,
        kernel: KernelRef<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<(), HalError> {
        let KernelRef::Native(given) = kernel else {
            return self.refuse(head, HalError::unsupported("a loaded kernel"));
        };
        // The kernel is large: it moves once, to its place.
        let mut is_there = true;
        self.core.push(head, |ops| {
            let at = ops.kernels.len();
            ops.kernels.extend(given.take());
            let Some(kernel) = ops.kernels.get(at) else {
                is_there = false;
                return Work::Nothing;
            };
            let key = Costs::key(kernel.id());
            for param in args.params {
                ops.params.push_back(param.at(crate::memory::resolve(&param.mem).0));
            }
            Work::Kernel(Launch { key, geometry: *geometry, params: args.params.len() })
        })?;
        if is_there { Ok(()) } else { Err(HalError::new(HalErrorKind::Driver, "no kernel")) }
    }
}

// SAFETY: operations run in tick order under the lane's single driver, after their waits; each is
// complete with its closure dropped and its failure filed before `completed` says so; panics are
// contained (see `driver`); memory is touched only between a call and its tick.
unsafe impl Lane for CpuLane {
    fn enqueue(&self, head: &Head<'_>, op: hal::Op<'_>) -> Result<(), HalError> {
        match op {
            hal::Op::Copy(rects) => self.rects(head, rects, &[], Rect::copy),
            hal::Op::Fill(_, []) => {
                self.refuse(head, HalError::new(HalErrorKind::Driver, "a fill needs a pattern"))
            }
            hal::Op::Fill(rects, pattern) => self.rects(head, rects, pattern, Rect::fill),
            hal::Op::Launch(kernel, geometry, args) => self.launch(head, kernel, geometry, &args),
            // Both sides of linked memory are one.
            hal::Op::Join | hal::Op::Switch(..) => self.core.push(head, |_| Work::Nothing),
            hal::Op::Replay(graph) => match graph.downcast_ref::<CpuGraph>() {
                Some(graph) => {
                    let nodes = graph.nodes();
                    self.core.push(head, |_| Work::Replay(nodes))
                }
                None => self.refuse(head, HalError::unsupported("a graph of another backend")),
            },
            _ => self.refuse(head, HalError::unsupported(op.name())),
        }
    }

    fn drive(&self) {
        let queue = self.core.lock();
        if queue.activity == Activity::Idle && !queue.ops.queue.is_empty() {
            driver::run(&self.core, queue, Driver::Caller);
        }
    }

    fn completed(&self) -> Result<Tick, Lost> {
        Ok(self.core.completed.load(Ordering::Acquire))
    }

    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        Ok(self.core.wait(tick, until))
    }

    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        while self.core.failed.load(Ordering::Acquire) {
            let mut failures = lock(&self.core.failures);
            let ended = |failure: &mut (Tick, HalError)| self.core.reached(failure.0);
            let next = failures.pop_front_if(ended);
            if failures.is_empty() {
                self.core.failed.store(false, Ordering::Release);
            }
            drop(failures);
            let Some((tick, error)) = next else { return };
            sink(tick, error);
        }
    }

    fn timing(&self, tick: Tick) -> Option<Timing> {
        let timings = lock(&self.core.timings);
        let at = timings.binary_search_by_key(&tick, |(tick, _)| *tick).ok()?;
        timings.get(at).map(|(_, timing)| *timing).filter(|_| self.core.reached(tick))
    }
}

impl Drop for CpuLane {
    /// Queued operations are still done, by the pool; nothing waits for them here.
    fn drop(&mut self) {
        self.core.kick(self.core.lock());
    }
}
