//! A lane: an in-order queue over a timeline semaphore.
//!
//! # Jobs, batches, ticks
//!
//! Each operation is a *job*. Jobs run in order. Operations of the device are recorded into the
//! open *batch*, a command buffer; operations of the host (copies from and to its memory) are done
//! by whoever drives, flushes or waits, once everything ahead has ended. A batch is submitted when
//! the lane is flushed or awaited, when the host has something to do behind it, and when it is
//! worth a submission ([`pace`]). The batch signals the next value of the lane's semaphore.
//!
//! | state of a tick | it is in |
//! | --- | --- |
//! | handed over | `pending`: the host has work ahead of it, or another lane has not submitted |
//! | recorded | `open` |
//! | submitted | `flying` |
//! | over | `done`: the device has ended, and failures are known |
//!
//! A job that waits for another lane begins a batch that waits for that lane's semaphore. The job
//! is recorded only when that lane has submitted what is waited for. The one queue of the device is
//! thus never given a wait before its signal, and comes through.
//!
//! # Locks
//!
//! A thread holds the state of one lane at a time. Questions to other lanes are asked before. A
//! wait leads to an earlier operation always, so those questions come to an end.

#[cfg(test)]
pub(crate) mod audit;
pub(crate) mod barriers;
pub(crate) mod batch;
pub(crate) mod copy;
pub(crate) mod counts;
mod foreign;
pub(crate) mod graph;
pub(crate) mod jobs;
pub(crate) mod native;
pub(crate) mod pace;
mod progress;

use crate::device::Opened;
use crate::device::platform::driver;
use crate::device::queues::Use;
use crate::kernels::threads::Words;
use crate::lane::barriers::Hazards;
use crate::lane::counts::Counts;
use crate::lane::graph::VulkanGraph;
use crate::lane::pace::Burst;
use crate::memory::Block;
use crate::memory::arena::{Arena, Store};
use ash::vk;
use batch::Batch;
use folio_core::hal::{Calls, HalError, Head, KernelRef, Lane, Lost, Op, Tick, Timing};
use folio_driver::lock;
use folio_driver::reduce::Scratch;
use folio_driver::retire::{Retired, Times};
use jobs::{Job, LaunchRequest, Work};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long a thread waits before it looks for other reasons to go on.
const PAUSE: Duration = Duration::from_millis(2);
/// The same where there is nothing to wait for.
const SHORT: Duration = Duration::from_micros(50);

/// A tick of another lane.
pub(crate) type Awaited = (Arc<VulkanLane>, Tick);

/// A lane.
pub(crate) struct VulkanLane {
    pub(crate) core: Arc<Opened>,
    own: Weak<VulkanLane>,
    pub(crate) queue: Use,
    pub(crate) semaphore: vk::Semaphore,
    state: Mutex<LaneState>,
    retired: Retired,
    /// Held by the thread that copies for the lane.
    copying: Mutex<()>,
}

/// The state of a tick.
pub(crate) enum TickState {
    /// The tick has ended.
    Over,
    /// The tick ends with this value of the semaphore.
    Flying(u64),
    /// The tick is not submitted.
    Held,
}

pub(crate) struct LaneState {
    pending: VecDeque<Job>,
    pub(crate) open: Option<Batch>,
    flying: VecDeque<Batch>,
    /// A thread that copies for the lane has taken a job.
    busy: bool,
    /// The last value that a submission signals.
    value: u64,
    issued: Tick,
    pub(crate) pool: vk::CommandPool,
    free: Vec<vk::CommandBuffer>,
    ends: Option<batch::Ends>,
    burst: Burst,
    pub(crate) arenas: [Arena; Store::COUNT],
    /// Between batches.
    hazards: Hazards,
    pub(crate) scratch: Scratch<Block>,
    /// Of a recording: where its dispatches find their words.
    pub(crate) words: Option<Vec<Words>>,
    queries: batch::Queries,
    times: Times<Timing>,
}

impl LaneState {
    /// Of a lane that has done nothing, whose semaphore has this value.
    pub(crate) fn new(pool: vk::CommandPool, value: u64) -> LaneState {
        LaneState {
            pending: VecDeque::new(),
            open: None,
            flying: VecDeque::new(),
            busy: false,
            value,
            issued: 0,
            pool,
            free: vec![],
            ends: None,
            burst: Burst::default(),
            arenas: Arena::all(),
            hazards: Hazards::default(),
            scratch: Scratch::default(),
            words: None,
            queries: batch::Queries::default(),
            times: Times::default(),
        }
    }
}

impl VulkanLane {
    pub(crate) fn new(core: Arc<Opened>, queue: Use) -> Result<Arc<VulkanLane>, HalError> {
        let (semaphore, value) = core.timeline()?;
        let pool = core.command_pool(queue).inspect_err(|_| core.keep_timeline(semaphore))?;
        core.counts().add(&Counts { lanes: 1, ..Counts::default() });
        Ok(Arc::new_cyclic(|own| VulkanLane {
            core,
            own: own.clone(),
            queue,
            semaphore,
            state: Mutex::new(LaneState::new(pool, value)),
            retired: Retired::default(),
            copying: Mutex::new(()),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, LaneState> {
        lock(&self.state)
    }

    /// How far it is, as far as known.
    pub(crate) fn done(&self) -> Tick {
        self.retired.done()
    }

    /// The state of a tick.
    pub(crate) fn known(&self, tick: Tick) -> TickState {
        if self.done() >= tick {
            return TickState::Over;
        }
        let state = self.lock();
        if state.pending.front().is_some_and(|job| job.tick <= tick) || state.busy {
            return TickState::Held;
        }
        if let Some(batch) = state.flying.iter().find(|batch| batch.last >= tick) {
            return TickState::Flying(batch.value);
        }
        match &state.open {
            Some(batch) if batch.first <= tick => TickState::Held,
            _ => TickState::Over,
        }
    }
}

// SAFETY: jobs run in order, behind what they wait for; a tick is reported when the device has
// ended what was recorded for it, and failures are known.
unsafe impl Lane for VulkanLane {
    fn enqueue(&self, head: &Head<'_>, op: Op<'_>) -> Result<(), HalError> {
        let mut waits = vec![];
        for wait in head.waits {
            let lane: Option<&VulkanLane> = wait.lane.downcast_ref();
            if let Some(lane) = lane.and_then(|lane| lane.own.upgrade())
                && lane.done() < wait.tick
            {
                waits.push((lane, wait.tick));
            }
        }
        if let Op::Launch(KernelRef::Foreign(task), _, args) = op {
            return self.foreign(head, waits, args.params, task);
        }
        let _inside = self.core.inside();
        let queued = if head.timed { self.core.now() } else { 0 };
        let is_next = |state: &LaneState| state.pending.is_empty() && !state.busy;
        if let Op::Launch(KernelRef::Loaded(handle), geometry, args) = op
            && waits.is_empty()
            && self.core.lost().is_ok()
            && let Ok(code) = self.core.loaded(handle)
        {
            // Nothing of it need be kept, if nothing is ahead.
            let launch = LaunchRequest::new(geometry, &args);
            let mut state = self.lock();
            if is_next(&state) {
                state.issued = head.tick;
                let estimate = launch.estimate(&self.core, &code);
                let when = (head.tick, head.timed.then_some(queued));
                self.take(&mut state, when, estimate, |state| {
                    self.record_launch(state, head.tick, &code, &launch)
                });
                return Ok(());
            }
        }
        let work = match op {
            Op::Copy(rects) => Work::copy(&self.core, rects),
            Op::Fill(rects, pattern) => Work::Fill(rects.to_vec(), pattern.to_vec()),
            Op::Join => Work::Join,
            Op::Launch(KernelRef::Loaded(handle), geometry, args) => {
                match self.core.loaded(handle) {
                    Ok(loaded) => Work::launch(loaded, geometry, &args),
                    Err(error) => Work::Refused(error),
                }
            }
            // The memory is mapped always, and what the device has written is seen when the tick is
            // reached.
            Op::Switch(..) => Work::Join,
            Op::Replay(graph) => match graph.downcast_ref::<VulkanGraph>() {
                Some(graph) => match self.core.told(graph.turn(self)) {
                    Ok(turn) => Work::Replay(turn),
                    Err(error) => Work::Refused(error),
                },
                None => Work::Refused(HalError::unsupported("a graph of another backend")),
            },
            _ => Work::Refused(HalError::unsupported(op.name())),
        };
        let refused = match &work {
            Work::Refused(error) => Some(error.clone()),
            _ => None,
        };
        let job = Job { tick: head.tick, waits, timed: head.timed, queued, work };
        {
            let mut state = self.lock();
            state.issued = head.tick;
            state.pending.push_back(job);
        }
        self.core.lost()?;
        self.progress_to(head.tick, false);
        refused.map_or(Ok(()), Err)
    }

    fn awaited(&self, tick: Tick) {
        let _inside = self.core.inside();
        self.progress_to(tick, false);
        self.submit_to(tick);
    }

    fn flush(&self) {
        let _inside = self.core.inside();
        self.progress_to(Tick::MAX, true);
        let mut state = self.lock();
        state.burst = Burst::default();
        self.submit(&mut state);
        self.sweep(&mut state);
    }

    fn drive(&self) {
        let _inside = self.core.inside();
        self.progress_to(Tick::MAX, true);
        let mut state = self.lock();
        let burst = state.burst;
        if state.open.as_ref().is_some_and(|batch| burst.is_enough(&batch.load)) {
            self.sweep(&mut state);
            if state.flying.is_empty() {
                self.submit(&mut state);
                state.burst.grow();
            }
        }
    }

    fn completed(&self) -> Result<Tick, Lost> {
        let _inside = self.core.inside();
        self.look();
        self.core.lost()?;
        Ok(self.done())
    }

    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        loop {
            let inside = self.core.inside();
            self.progress_to(tick, true);
            self.submit_to(tick);
            {
                let mut state = self.lock();
                state.burst = Burst::default();
                self.sweep(&mut state);
            }
            drop(inside);
            self.core.lost()?;
            if self.done() >= tick {
                return Ok(true);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            self.pause(tick, left.map_or(PAUSE, |left| left.min(PAUSE)));
        }
    }

    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        self.retired.failures(sink);
    }

    fn timing(&self, tick: Tick) -> Option<Timing> {
        if self.done() < tick {
            return None;
        }
        self.lock().times.of(tick).copied()
    }
}

impl Drop for VulkanLane {
    fn drop(&mut self) {
        // Declared first, so it goes when the lock is released: lanes that nothing else holds go by
        // this function, too.
        let mut others: Vec<Awaited> = vec![];
        if Calls::are_over() {
            return;
        }
        let _inside = self.core.inside();
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Work that is not submitted is discarded; what is recorded is not begun.
        let pending = std::mem::take(&mut state.pending);
        let core = self.core.clone();
        let (semaphores, values) = ([self.semaphore], [state.value]);
        let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is there. Submitted commands wait for earlier ones, so they end, or
        // the device is lost. Nothing uses the lane's objects after that.
        unsafe {
            let _ = core.told(
                core.device
                    .wait_semaphores(&wait, u64::MAX)
                    .map_err(|result| driver("vkWaitSemaphores", result)),
            );
            for mut batch in state.flying.drain(..).chain(state.open.take()) {
                others.append(&mut batch.waits);
                for block in batch.full.into_iter().flatten().chain(batch.pieces) {
                    core.memory.release(&core.device, block);
                }
            }
            for job in pending {
                others.extend(job.waits);
                if let Work::HostCopy(mut copy) = job.work {
                    copy.release(&core);
                }
            }
            state.arenas.iter_mut().for_each(|arena| arena.destroy(&core));
            state.scratch.drain().for_each(|block| core.memory.release(&core.device, block));
            state.queries.destroy(&core);
            core.device.destroy_command_pool(state.pool, None);
        }
        core.keep_timeline(self.semaphore);
    }
}
