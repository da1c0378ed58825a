//! Jobs: operations as a lane keeps them until they are recorded, or done by the host.

use super::{Awaited, LaneState, TickState, VulkanLane};
use crate::device::{Core, Loaded};
use crate::kernels::threads::records;
use crate::lane::graph::Replay;
use crate::memory::Block;
use crate::memory::pageable::HostCopy;
use folio_core::hal::{
    Args, Argument, CopyRect, FillRect, Geometry, HalError, Param, Tick, Timing,
};
use folio_driver::lock;
use folio_driver::rect::span;
use std::sync::{Arc, MutexGuard};

/// An operation.
pub(crate) struct Job {
    pub(crate) tick: Tick,
    pub(crate) waits: Vec<Awaited>,
    pub(crate) timed: bool,
    pub(crate) queued: u64,
    pub(crate) work: Work,
}

/// The work of a job.
pub(crate) enum Work {
    /// Between memory that the device reaches. Such of it as was named by the host's addresses is
    /// held: they are no one else's before it goes.
    Copy {
        rects: Vec<CopyRect>,
        _held: Vec<Arc<Block>>,
    },
    /// An end at least is memory that only the host reaches.
    HostCopy(Box<HostCopy>),
    Fill(Vec<FillRect>, Vec<u8>),
    Launch(Box<Launch>),
    Replay(Replay),
    Join,
    /// The call has said why.
    Refused(HalError),
}

/// A launch, as it was asked for.
pub(crate) struct Launch {
    pub(crate) code: Loaded,
    pub(crate) geometry: Geometry,
    pub(crate) params: Vec<Param>,
    pub(crate) scalars: Vec<u8>,
    pub(crate) proved: bool,
    /// Of an opaque kernel.
    pub(crate) arguments: Vec<Argument>,
}

impl Launch {
    /// Where it has other scalars or memory, only words in the recording's memory change. The other
    /// memory of a reduction is the recording's.
    pub(crate) fn has_words(&self) -> bool {
        matches!(&self.code, Loaded::Kernel(own) if !own.reduces())
    }
}

/// The parts of a launch.
#[derive(Clone, Copy)]
pub(crate) struct LaunchRequest<'a> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) params: &'a [Param],
    pub(crate) scalars: &'a [u8],
    pub(crate) proved: bool,
    /// Of an opaque kernel.
    pub(crate) arguments: &'a [Argument],
}

impl<'a> LaunchRequest<'a> {
    pub(crate) fn new(geometry: &'a Geometry, args: &Args<'a>) -> LaunchRequest<'a> {
        let Args { params, blob: scalars, proved, arguments } = *args;
        LaunchRequest { geometry, params, scalars, proved, arguments }
    }

    /// Its arguments.
    pub(crate) fn args(&self) -> Args<'a> {
        let LaunchRequest { params, scalars: blob, proved, arguments, .. } = *self;
        Args { blob, params, proved, arguments }
    }

    /// How long the device takes for it, about.
    pub(crate) fn estimate(&self, core: &Core, code: &Loaded) -> u64 {
        let items = self.geometry.range.iter().map(|n| *n as u64).product();
        core.speed.launch(items, code.operations())
    }
}

impl Launch {
    pub(crate) fn asked(&self) -> LaunchRequest<'_> {
        let Launch { geometry, params, scalars, proved, arguments, .. } = self;
        LaunchRequest { geometry, params, scalars, proved: *proved, arguments }
    }
}

impl Work {
    pub(crate) fn copy(core: &Core, rects: &[CopyRect]) -> Work {
        let (mut found, mut held) = (rects.to_vec(), vec![]);
        let is_reached = found.iter_mut().all(|rect| {
            let [from, to] = [rect.src_pitch, rect.dst_pitch].map(|pitch| span(pitch, rect.extent));
            core.reach(&mut rect.src, from, &mut held) && core.reach(&mut rect.dst, to, &mut held)
        });
        match is_reached {
            true => Work::Copy { rects: found, _held: held },
            false => Work::HostCopy(Box::new(HostCopy::new(rects.to_vec()))),
        }
    }

    /// How long the device takes for it, about.
    pub(crate) fn estimate(&self, core: &Core) -> u64 {
        let speed = &core.speed;
        let bytes = |extent: [u64; 3]| speed.bytes(extent.iter().product());
        match self {
            Work::Copy { rects, .. } => rects.iter().map(|rect| bytes(rect.extent)).sum(),
            Work::Fill(rects, _) => rects.iter().map(|rect| bytes(rect.extent)).sum(),
            Work::Launch(launch) => launch.asked().estimate(core, &launch.code),
            Work::Replay(turn) => turn.recording.estimate,
            Work::HostCopy(_) | Work::Join | Work::Refused(_) => 0,
        }
    }

    /// How many records it has.
    pub(crate) fn records(&self, core: &Core) -> usize {
        match self {
            Work::Launch(launch) => match &launch.code {
                Loaded::Kernel(function) => records(core, function, &launch.asked()),
                Loaded::Opaque(_) => 0,
            },
            _ => 0,
        }
    }

    pub(crate) fn launch(code: Loaded, geometry: &Geometry, args: &Args<'_>) -> Work {
        Work::Launch(Box::new(Launch {
            code,
            geometry: *geometry,
            params: args.params.to_vec(),
            scalars: args.blob.to_vec(),
            proved: args.proved,
            arguments: args.arguments.to_vec(),
        }))
    }
}

impl Job {
    /// A copy by the host of which parts may be under way.
    pub(super) fn has_begun(&self) -> bool {
        matches!(&self.work, Work::HostCopy(copy) if copy.has_begun())
    }
}

/// The state of the first job.
enum JobState {
    /// The job is recorded, or done.
    Taken,
    /// The job waits for something.
    Stays,
}

impl VulkanLane {
    /// Takes the jobs up to a tick as far as that goes without waiting. `host`: this thread may
    /// copy.
    pub(crate) fn progress_to(&self, tick: Tick, host: bool) {
        loop {
            let (own, waits, by_host) = {
                let state = self.lock();
                match state.pending.front() {
                    Some(job) if job.tick <= tick && !state.busy => {
                        let waits: Vec<Awaited> = job.waits.clone();
                        (job.tick, waits, matches!(job.work, Work::HostCopy(_)))
                    }
                    _ => return,
                }
            };
            let (mut values, mut held) = (vec![], false);
            for wait in &waits {
                let (lane, theirs) = wait;
                lane.progress_to(*theirs, host);
                lane.submit_to(*theirs);
                if by_host {
                    // Work of the host waits for the end, which another thread need not see.
                    lane.look();
                }
                match Self::value_of(wait) {
                    TickState::Over => {}
                    TickState::Flying(value) => values.push((lane.semaphore, value)),
                    TickState::Held => held = true,
                }
            }
            if held || self.core.lost().is_err() {
                return;
            }
            let state = self.lock();
            if state.busy || state.pending.front().is_none_or(|job| job.tick != own) {
                continue;
            }
            if let JobState::Stays = self.step(state, values, host) {
                return;
            }
        }
    }

    /// Takes the first job, whose waits are for these values.
    fn step(
        &self,
        mut state: MutexGuard<'_, LaneState>,
        values: Vec<(ash::vk::Semaphore, u64)>,
        host: bool,
    ) -> JobState {
        let Some(mut job) = state.pending.pop_front() else { return JobState::Stays };
        if let Work::HostCopy(copy) = job.work {
            job.work = Work::Join;
            return self.host_step(state, job, copy, !values.is_empty(), host);
        }
        if !values.is_empty() {
            let waits = std::mem::take(&mut job.waits);
            self.open_behind(&mut state, job.tick, waits, values);
        }
        let Job { tick, timed, queued, ref work, .. } = job;
        let estimate = work.estimate(&self.core);
        self.take(&mut state, (tick, timed.then_some(queued)), estimate, |state| {
            self.record_work(state, tick, work)
        });
        JobState::Taken
    }

    /// Has the device do what comes next, behind all that it was given: of this tick, and, if that
    /// is timed, queued at this time.
    pub(super) fn take(
        &self,
        state: &mut LaneState,
        (tick, queued): (Tick, Option<u64>),
        estimate: u64,
        record: impl FnOnce(&mut LaneState) -> Result<(), HalError>,
    ) {
        self.open(state, tick);
        let time = queued.and_then(|queued| Some((queued, self.begin_time(state)?)));
        if let Err(error) = self.core.told(record(state)) {
            self.retired.fail(tick, error);
        }
        if let Some((queued, own)) = time {
            self.end_time(state, (tick, queued), own);
        }
        let batch = self.open(state, tick);
        batch.last = tick;
        batch.load.add(estimate);
        if batch.load.is_enough() {
            self.submit(state);
        }
    }

    /// Records commands into what is open.
    pub(crate) fn record_work(
        &self,
        state: &mut LaneState,
        tick: Tick,
        work: &Work,
    ) -> Result<(), HalError> {
        match work {
            Work::Copy { rects, .. } => self.copy(state, rects),
            Work::Fill(rects, pattern) => self.fill(state, tick, rects, pattern),
            Work::Launch(launch) => self.record_launch(state, tick, &launch.code, &launch.asked()),
            Work::Replay(turn) => self.replay(state, tick, turn),
            Work::HostCopy(_) | Work::Join | Work::Refused(_) => Ok(()),
        }
    }

    /// Records a launch into what is open.
    pub(super) fn record_launch(
        &self,
        state: &mut LaneState,
        tick: Tick,
        code: &Loaded,
        launch: &LaunchRequest<'_>,
    ) -> Result<(), HalError> {
        match code {
            Loaded::Kernel(function) => self.launch(state, tick, (function, launch), &[]),
            Loaded::Opaque(opaque) => self.launch_opaque(state, (opaque, launch)),
        }
    }

    /// A copy of the host's: done by this thread, from when everything ahead has ended.
    fn host_step(
        &self,
        mut state: MutexGuard<'_, LaneState>,
        job: Job,
        mut copy: Box<HostCopy>,
        waits: bool,
        host: bool,
    ) -> JobState {
        self.submit(&mut state);
        self.sweep(&mut state);
        let begins = copy.has_begun() || (!waits && state.flying.is_empty());
        if !host || !begins {
            state.pending.push_front(Job { work: Work::HostCopy(copy), ..job });
            return JobState::Stays;
        }
        state.busy = true;
        drop(state);
        let _copying = lock(&self.copying);
        let done = copy.run(self, job.tick);
        let mut state = self.lock();
        state.busy = false;
        match done {
            // The device is at work for it.
            Ok(None) => {
                state.pending.push_front(Job { work: Work::HostCopy(copy), ..job });
                return JobState::Stays;
            }
            Ok(Some(started)) if job.timed => {
                let (queued, ended) = (job.queued.min(started), self.core.now());
                let timing = Timing { queued, started, ended };
                state.times.note(job.tick, timing);
            }
            Ok(Some(_)) => {}
            Err(error) => {
                let told = self.core.told::<()>(Err(error));
                told.unwrap_or_else(|error| self.retired.fail(job.tick, error));
            }
        }
        self.retired.ended(job.tick);
        JobState::Taken
    }

    /// A tick ends with what was submitted last.
    pub(super) fn end_with_last(&self, state: &mut LaneState, tick: Tick) {
        match state.flying.back_mut() {
            Some(batch) => batch.last = tick,
            None => self.retired.ended(tick),
        }
    }
}
