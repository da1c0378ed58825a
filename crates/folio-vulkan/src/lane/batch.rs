//! Batches: what is recorded, and submitted at once.

use super::{Awaited, LaneState, TickState, VulkanLane};
use crate::device::Core;
use crate::device::platform::driver;
use crate::device::queues::Use;
#[cfg(test)]
use crate::lane::audit::{Event, Uses};
use crate::lane::barriers::{Barrier, Hazards, Kinds, Used};
use crate::lane::counts::Counts;
use crate::lane::graph::Recording;
use crate::lane::pace::Load;
use crate::memory::Block;
use crate::memory::arena::{Piece, RECORD, Store};
use ash::vk;
use ash::vk::Handle;
use folio_core::hal::{HalError, Tick, Timing};
use folio_kernel::emit::spirv::Module;
use smallvec::SmallVec;
use std::sync::Arc;

/// Timestamps of a lane: two for each operation whose timing may be kept.
const QUERIES: u32 = 8192;

/// Commands that are submitted at once.
pub(crate) struct Batch {
    /// The command buffer that is being recorded; null until [`VulkanLane::open_now`] begins it.
    pub(crate) commands: vk::CommandBuffer,
    /// The command buffers before that, in order: the batch's own, recordings, and [`Ends`].
    ahead: SmallVec<[vk::CommandBuffer; 4]>,
    /// Its end, if it ends with a recording.
    end: Option<vk::CommandBuffer>,
    /// The batch's own command buffers.
    own: SmallVec<[vk::CommandBuffer; 2]>,
    /// The pipeline that the commands have bound last.
    bound: vk::Pipeline,
    /// Which queue it is for.
    queue: Use,
    pub(crate) first: Tick,
    pub(crate) last: Tick,
    /// The value of the semaphore that it signals.
    pub(crate) value: u64,
    pub(crate) load: Load,
    /// The batch's counts, for the device's.
    pub(crate) counts: Counts,
    /// The values of semaphores that it waits for, and the lanes that these are of.
    values: Vec<(vk::Semaphore, u64)>,
    pub(super) waits: Vec<Awaited>,
    /// Chunks of the arenas that are used up.
    pub(crate) full: [Vec<Block>; Store::COUNT],
    /// Memory that goes when it has ended.
    pub(crate) pieces: Vec<Block>,
    /// The records of launches that may fail.
    pub(crate) records: Vec<LaunchRecord>,
    pub(crate) replays: Vec<Replayed>,
    /// None where barriers follow from the edges of a graph.
    pub(crate) hazards: Option<Hazards>,
    /// The buffers that are used, where barriers follow from edges.
    pub(crate) uses: Used,
    timed: Vec<(Tick, u64, u32)>,
    /// The recorded commands, as far as barriers depend on them.
    #[cfg(test)]
    pub(crate) trail: Vec<Event>,
}

/// Where a launch says what it has done wrong, and what that means.
pub(crate) struct LaunchRecord {
    pub(crate) tick: Tick,
    pub(crate) piece: Piece,
    pub(crate) of: Arc<Module>,
}

/// A replay of a batch: what it executes, and where the records of its launches are copied to.
pub(crate) struct Replayed {
    pub(crate) tick: Tick,
    pub(crate) recording: Arc<Recording>,
    pub(crate) records: Option<Piece>,
}

/// The beginning and the end of a batch, as command buffers of a lane: for batches that have
/// nothing but recordings there.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    begin: vk::CommandBuffer,
    end: vk::CommandBuffer,
}

/// Timestamps, used in turn.
#[derive(Default)]
pub(crate) struct Queries {
    pool: Option<vk::QueryPool>,
    next: u32,
    used: u32,
}

impl Queries {
    pub(crate) fn destroy(&mut self, core: &Core) {
        if let Some(pool) = self.pool.take() {
            // SAFETY: nothing uses it any more (`VulkanLane::drop`).
            unsafe { core.device.destroy_query_pool(pool, None) };
        }
    }
}

impl Batch {
    /// Nothing but a command buffer.
    pub(crate) fn new(commands: vk::CommandBuffer, queue: Use, first: Tick) -> Batch {
        Batch {
            commands,
            ahead: SmallVec::new(),
            end: None,
            own: SmallVec::new(),
            bound: vk::Pipeline::null(),
            queue,
            first,
            last: first,
            value: 0,
            load: Load::default(),
            counts: Counts::default(),
            values: vec![],
            waits: vec![],
            full: Default::default(),
            pieces: vec![],
            records: vec![],
            replays: vec![],
            hazards: None,
            uses: Used::default(),
            timed: vec![],
            #[cfg(test)]
            trail: vec![],
        }
    }

    /// A barrier before an operation of these kinds, if it depends on an earlier one. Each is a
    /// buffer, and whether it is written.
    pub(crate) fn accesses(&mut self, core: &Core, kinds: Kinds, all: &[(vk::Buffer, bool)]) {
        if let Some(barrier) = self.before(kinds, all) {
            self.barrier(core, barrier);
        }
        #[cfg(test)]
        self.trail.push(Event::operation(kinds, Uses::Buffers(all.to_vec())));
    }

    /// Notes an operation. Returns the barrier that it needs before it.
    fn before(&mut self, kinds: Kinds, all: &[(vk::Buffer, bool)]) -> Option<Barrier> {
        match self.hazards.as_mut() {
            Some(hazards) => hazards.before(kinds, all),
            None => {
                self.uses.add(all);
                None
            }
        }
    }

    /// Later operations are behind all earlier ones.
    fn clear_hazards(&mut self) {
        if let Some(hazards) = &mut self.hazards {
            hazards.clear();
        }
    }

    /// All that comes next sees what all before has written.
    fn full_barrier(&mut self, core: &Core) {
        self.clear_hazards();
        self.barrier(core, Barrier::FULL);
    }

    pub(crate) fn barrier(&mut self, core: &Core, barrier: Barrier) {
        if self.note_barrier(core, barrier) {
            pipeline_barrier_of(core, self.commands, self.queue, barrier);
        }
    }

    /// Counts a barrier. False if a test has planted its loss.
    fn note_barrier(&mut self, _core: &Core, _barrier: Barrier) -> bool {
        #[cfg(test)]
        {
            if _core.shared.planted.omits() {
                return false;
            }
            self.trail.push(Event::Barrier(_barrier));
        }
        self.counts.barriers += 1;
        true
    }

    /// A barrier around what is not Folio's: commands of any kind.
    pub(crate) fn barrier_of_all(&mut self, core: &Core) {
        self.clear_hazards();
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let (reads, writes) = (vk::AccessFlags2::MEMORY_READ, vk::AccessFlags2::MEMORY_WRITE);
        pipeline_barrier(core, self.commands, (all, writes), (all, reads | writes));
        self.counts.barriers += 1;
        #[cfg(test)]
        self.trail.push(Event::Barrier(Barrier::FULL));
        self.bound = vk::Pipeline::null();
    }

    /// Binds a pipeline, if it is not the one that is bound.
    pub(crate) fn bind(&mut self, core: &Core, pipeline: vk::Pipeline) {
        if self.bound == pipeline {
            return;
        }
        self.bound = pipeline;
        self.counts.binds += 1;
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the command buffer is being recorded; the pipeline is of this device.
        unsafe { core.device.cmd_bind_pipeline(self.commands, point, pipeline) };
    }

    /// Executes what others recorded, behind all so far.
    fn continue_behind(
        &mut self,
        core: &Core,
        recorded: vk::CommandBuffer,
        ends: Ends,
    ) -> Result<(), HalError> {
        if !self.commands.is_null() {
            // SAFETY: it is being recorded, by the thread that holds its lane's state.
            unsafe { core.device.end_command_buffer(self.commands) }
                .map_err(|result| driver("vkEndCommandBuffer", result))?;
            let own = std::mem::take(&mut self.commands);
            self.ahead.push(own);
            self.own.push(own);
        } else if self.ahead.is_empty() {
            self.ahead.push(ends.begin);
        }
        self.ahead.push(recorded);
        self.end = Some(ends.end);
        self.bound = vk::Pipeline::null();
        Ok(())
    }

    /// A piece of memory is kept until the batch has ended.
    pub(crate) fn keep(&mut self, block: Block) {
        self.pieces.push(block);
    }

    pub(crate) fn record_of(&mut self, tick: Tick, piece: Piece, of: Arc<Module>) {
        self.records.push(LaunchRecord { tick, piece, of });
    }
}

type Scope = (vk::PipelineStageFlags2, vk::AccessFlags2);

fn pipeline_barrier_of(core: &Core, commands: vk::CommandBuffer, queue: Use, barrier: Barrier) {
    let [from, to] = [barrier.from, barrier.to].map(|kinds| queue.kinds(kinds));
    let (stages, uses) = (to.stages(), to.accesses());
    pipeline_barrier(core, commands, (from.stages(), from.writes()), (stages, uses));
}

/// The host reads what it has been told has ended.
fn host_barrier(core: &Core, commands: vk::CommandBuffer) {
    let uses = vk::AccessFlags2::HOST_READ | vk::AccessFlags2::HOST_WRITE;
    let to = (vk::PipelineStageFlags2::HOST, uses);
    let from = (vk::PipelineStageFlags2::ALL_COMMANDS, vk::AccessFlags2::MEMORY_WRITE);
    pipeline_barrier(core, commands, from, to);
}

fn pipeline_barrier(core: &Core, commands: vk::CommandBuffer, from: Scope, to: Scope) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(from.0)
        .src_access_mask(from.1)
        .dst_stage_mask(to.0)
        .dst_access_mask(to.1)];
    let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: the command buffer is being recorded, by the thread that holds its lane's state.
    unsafe { core.device.cmd_pipeline_barrier2(commands, &dependency) };
}

impl VulkanLane {
    /// The open batch, a new one if there is none. The batch sees what other batches of the queue
    /// have written.
    pub(crate) fn open<'s>(&self, state: &'s mut LaneState, tick: Tick) -> &'s mut Batch {
        let LaneState { open, hazards, .. } = state;
        open.get_or_insert_with(|| {
            let mut batch = Batch::new(vk::CommandBuffer::null(), self.queue, tick);
            batch.hazards = Some(std::mem::take(hazards));
            batch.clear_hazards();
            // By its first command buffer.
            batch.note_barrier(&self.core, Barrier::FULL);
            batch
        })
    }

    /// A batch that begins behind these values.
    pub(crate) fn open_behind(
        &self,
        state: &mut LaneState,
        tick: Tick,
        waits: Vec<Awaited>,
        values: Vec<(vk::Semaphore, u64)>,
    ) {
        self.submit(state);
        let batch = self.open(state, tick);
        (batch.waits, batch.values) = (waits, values);
    }

    /// A command buffer that is being recorded.
    fn command_buffer(
        &self,
        state: &mut LaneState,
        flags: vk::CommandBufferUsageFlags,
    ) -> Result<vk::CommandBuffer, HalError> {
        let device = &self.core.device;
        let begin = vk::CommandBufferBeginInfo::default().flags(flags);
        let commands = match state.free.pop() {
            Some(commands) => commands,
            None => {
                let wanted = vk::CommandBufferAllocateInfo::default()
                    .command_pool(state.pool)
                    .command_buffer_count(1);
                // SAFETY: the pool is the lane's, whose state is held.
                let made = unsafe { device.allocate_command_buffers(&wanted) }
                    .map_err(|result| driver("vkAllocateCommandBuffers", result))?;
                let commands = made.first().copied().unwrap_or_default();
                self.core.name(commands, "folio batch");
                commands
            }
        };
        // SAFETY: it is not pending: it is new, or its batch has ended. Beginning it resets it.
        unsafe { device.begin_command_buffer(commands, &begin) }
            .map_err(|result| driver("vkBeginCommandBuffer", result))?;
        Ok(commands)
    }

    /// Submits what is open if it has something of a tick up to this one.
    pub(crate) fn submit_to(&self, tick: Tick) {
        let mut state = self.lock();
        if state.open.as_ref().is_some_and(|batch| batch.first <= tick) {
            self.submit(&mut state);
        }
    }

    /// Submits what is open.
    pub(crate) fn submit(&self, state: &mut LaneState) {
        // A batch without commands waits and signals by what it begins with.
        let needs = |batch: &Batch| batch.commands.is_null() && batch.end.is_none();
        let begun = match state.open.as_ref().is_some_and(needs) {
            true => self.open_now(state).map(drop),
            false => Ok(()),
        };
        let Some(mut batch) = state.open.take() else { return };
        for (arena, full) in state.arenas.iter_mut().zip(&mut batch.full) {
            arena.seal(full);
        }
        state.hazards = batch.hazards.take().unwrap_or_default();
        #[cfg(test)]
        self.core.note(&mut batch.trail);
        batch.counts.submissions += 1;
        self.core.counts().add(&batch.counts);
        state.value += 1;
        batch.value = state.value;
        let submitted = self.core.told(begun.and_then(|()| self.submit_batch(&batch)));
        if let Err(error) = submitted {
            // Nothing of it runs. Its ticks end, and the first of them tells why.
            self.retired.fail(batch.first, error);
            let (semaphore, value) = (self.semaphore, batch.value);
            let signal = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(value);
            let behind = state.flying.back().map(|batch| batch.value);
            if let Some(value) = behind {
                let (semaphores, values) = ([semaphore], [value]);
                let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
                // SAFETY: the semaphore is the lane's.
                let _ = unsafe { self.core.device.wait_semaphores(&wait, u64::MAX) };
            }
            // SAFETY: no submission that signals a value as high as this is pending.
            let _ = unsafe { self.core.device.signal_semaphore(&signal) };
        }
        state.flying.push_back(batch);
    }

    fn submit_batch(&self, batch: &Batch) -> Result<(), HalError> {
        let device = &self.core.device;
        #[cfg(test)]
        if self.core.shared.planted.loses() {
            return Err(driver("vkQueueSubmit2", vk::Result::ERROR_DEVICE_LOST));
        }
        let end = match batch.end.filter(|_| batch.commands.is_null()) {
            Some(end) => end,
            None => {
                host_barrier(&self.core, batch.commands);
                // SAFETY: it is being recorded, and no one else does so.
                unsafe { device.end_command_buffer(batch.commands) }
                    .map_err(|result| driver("vkEndCommandBuffer", result))?;
                batch.commands
            }
        };
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let at = |semaphore: vk::Semaphore, value: u64| {
            vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(value).stage_mask(all)
        };
        let waits: Vec<_> = batch.values.iter().map(|(other, value)| at(*other, *value)).collect();
        let signals = [at(self.semaphore, batch.value)];
        let all = batch.ahead.iter().chain([&end]);
        let buffer =
            |own: &vk::CommandBuffer| vk::CommandBufferSubmitInfo::default().command_buffer(*own);
        let buffers: SmallVec<[_; 4]> = all.map(buffer).collect();
        let submit = [vk::SubmitInfo2::default()
            .wait_semaphore_infos(&waits)
            .command_buffer_infos(&buffers)
            .signal_semaphore_infos(&signals)];
        let queue = self.core.queue(self.queue);
        // SAFETY: the queue is held; the commands are complete, and refer to memory and code that
        // stay until their ticks are reached (the HAL's contract, and the batch's own); the lanes
        // whose semaphores are waited for are held by the batch.
        unsafe { device.queue_submit2(*queue, &submit, vk::Fence::null()) }
            .map_err(|result| driver("vkQueueSubmit2", result))
    }

    /// Notes when an operation begins; for [`end_time`](Self::end_time).
    pub(crate) fn begin_time(&self, state: &mut LaneState) -> Option<u32> {
        let device = &self.core.device;
        let pool = match state.queries.pool {
            Some(pool) => pool,
            None => {
                let create = vk::QueryPoolCreateInfo::default()
                    .query_type(vk::QueryType::TIMESTAMP)
                    .query_count(QUERIES);
                // SAFETY: the device is there, and the description complete.
                let made = unsafe { device.create_query_pool(&create, None) }.ok()?;
                self.core.name(made, "folio times");
                *state.queries.pool.insert(made)
            }
        };
        if !self.core.info.caps.timing || state.queries.used + 2 > QUERIES {
            return None;
        }
        self.open_now(state).ok()?;
        let own = state.queries.next;
        state.queries.next = (own + 2) % QUERIES;
        state.queries.used += 2;
        let batch = state.open.as_mut()?;
        batch.barrier_of_all(&self.core);
        // SAFETY: the command buffer is being recorded; the two are of no operation that is under
        // way. Queues for copies have no command for a reset; such devices let the host do it.
        unsafe {
            match self.queue {
                Use::Compute => device.cmd_reset_query_pool(batch.commands, pool, own, 2),
                Use::Copies => device.reset_query_pool(pool, own, 2),
            }
            let all = vk::PipelineStageFlags2::ALL_COMMANDS;
            device.cmd_write_timestamp2(batch.commands, all, pool, own);
        }
        Some(own)
    }

    pub(crate) fn end_time(&self, state: &mut LaneState, (tick, queued): (Tick, u64), own: u32) {
        let Some(pool) = state.queries.pool else { return };
        let Ok(batch) = self.open_now(state) else {
            state.queries.used -= 2;
            return;
        };
        batch.barrier_of_all(&self.core);
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        // SAFETY: as above.
        unsafe { self.core.device.cmd_write_timestamp2(batch.commands, all, pool, own + 1) };
        batch.timed.push((tick, queued, own));
    }

    /// The remains of a batch that has ended: failures, times, and memory to be used again.
    pub(crate) fn retire(&self, state: &mut LaneState, batch: Batch) {
        for LaunchRecord { tick, piece, of } in &batch.records {
            if let Some(error) = piece.failure(of) {
                self.retired.fail(*tick, error);
            }
        }
        for Replayed { tick, recording, records } in &batch.replays {
            if let Some(error) = records.and_then(|records| recording.failure(&records)) {
                self.retired.fail(*tick, error);
            }
        }
        for (tick, queued, own) in &batch.timed {
            state.queries.used -= 2;
            let Some(pool) = state.queries.pool else { continue };
            let mut times = [0u64; 2];
            let flags = vk::QueryResultFlags::TYPE_64;
            // SAFETY: the queries are the batch's, which has ended.
            let read =
                unsafe { self.core.device.get_query_pool_results(pool, *own, &mut times, flags) };
            if read.is_err() {
                continue;
            }
            let [started, ended] = times.map(|ticks| self.core.nanoseconds(ticks));
            let timing = Timing { queued: (*queued).min(started), started, ended };
            state.times.note(*tick, timing);
        }
        for block in batch.pieces {
            self.core.memory.release(&self.core.device, block);
        }
        for (arena, full) in state.arenas.iter_mut().zip(batch.full) {
            arena.recycle(&self.core, full);
        }
        let last = Some(batch.commands).filter(|commands| !commands.is_null());
        state.free.extend(batch.own.into_iter().chain(last));
        // A thread that is told of the end finds recordings free.
        drop(batch.replays);
        self.retired.ended(batch.last);
    }

    /// A wait as a batch has it.
    pub(crate) fn value_of(wait: &Awaited) -> TickState {
        wait.0.known(wait.1)
    }
}

impl VulkanLane {
    #[cfg(test)]
    pub(crate) fn state(&self) -> std::sync::MutexGuard<'_, LaneState> {
        self.lock()
    }

    /// The open batch, of which a command buffer is being recorded.
    pub(crate) fn open_now<'s>(&self, state: &'s mut LaneState) -> Result<&'s mut Batch, HalError> {
        let none = || HalError::unsupported("commands without a batch");
        if state.open.as_ref().ok_or_else(none)?.commands.is_null() {
            let once = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
            let commands = self.command_buffer(state, once)?;
            let batch = state.open.as_mut().ok_or_else(none)?;
            if batch.ahead.is_empty() {
                pipeline_barrier_of(&self.core, commands, self.queue, Barrier::FULL);
            }
            batch.commands = commands;
            batch.counts.begun += 1;
        }
        state.open.as_mut().ok_or_else(none)
    }

    /// The lane's, recorded when it first needs them. They may be under way several times.
    fn ends(&self, state: &mut LaneState) -> Result<Ends, HalError> {
        if let Some(ends) = state.ends {
            return Ok(ends);
        }
        let device = &self.core.device;
        let mut recorded = |record: &dyn Fn(vk::CommandBuffer)| -> Result<_, HalError> {
            let often = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
            let commands = self.command_buffer(state, often)?;
            record(commands);
            // SAFETY: it is being recorded, by the thread that holds its lane's state.
            unsafe { device.end_command_buffer(commands) }
                .map_err(|result| driver("vkEndCommandBuffer", result))?;
            Ok(commands)
        };
        let begins = |own| pipeline_barrier_of(&self.core, own, self.queue, Barrier::FULL);
        let begin = recorded(&begins)?;
        let end = recorded(&|own| host_barrier(&self.core, own))?;
        Ok(*state.ends.insert(Ends { begin, end }))
    }

    /// Submits a part of a job that has been taken, as a batch of its own, with which its tick does
    /// not end. Returns the value that it signals.
    pub(crate) fn submit_part(
        &self,
        tick: Tick,
        record: impl FnOnce(&mut LaneState) -> Result<(), HalError>,
    ) -> Result<u64, HalError> {
        let mut state = self.lock();
        self.open(&mut state, tick).last = tick.saturating_sub(1);
        let recorded = record(&mut state);
        self.submit(&mut state);
        recorded.map(|()| state.value)
    }

    /// Whether the batch that signals this value has ended, as far as the lane has looked.
    pub(crate) fn has_passed(&self, value: u64) -> bool {
        self.lock().flying.front().is_none_or(|batch| batch.value > value)
    }

    /// A barrier before an operation that uses what a recording does, if it depends on an earlier
    /// one: where that is too much, behind everything.
    pub(crate) fn accesses_of(
        &self,
        state: &mut LaneState,
        kinds: Kinds,
        uses: &Used,
    ) -> Result<(), HalError> {
        let none = || HalError::unsupported("commands without a batch");
        let batch = state.open.as_mut().ok_or_else(none)?;
        let barrier = match uses.all() {
            Some([]) => return Ok(()),
            Some(all) => batch.before(kinds, all),
            None => {
                batch.clear_hazards();
                Some(Barrier::FULL)
            }
        };
        if let Some(barrier) = barrier {
            self.open_now(state)?.barrier(&self.core, barrier);
        }
        #[cfg(test)]
        if let Some(batch) = &mut state.open {
            let buffers = uses.all().map(|all| Uses::Buffers(all.to_vec()));
            batch.trail.push(Event::operation(kinds, buffers.unwrap_or(Uses::Everything)));
        }
        Ok(())
    }

    /// Executes what others recorded, behind all so far; `apart`: and before all that comes.
    pub(crate) fn continue_behind(
        &self,
        state: &mut LaneState,
        recorded: vk::CommandBuffer,
        apart: bool,
    ) -> Result<(), HalError> {
        let ends = self.ends(state)?;
        let none = || HalError::unsupported("commands without a batch");
        let batch = state.open.as_mut().ok_or_else(none)?;
        batch.continue_behind(&self.core, recorded, ends)?;
        if apart {
            self.open_now(state)?.full_barrier(&self.core);
        }
        Ok(())
    }

    /// A piece for words, for the batch that is being recorded.
    pub(crate) fn piece(&self, state: &mut LaneState, words: usize) -> Result<Piece, HalError> {
        self.piece_of(state, Store::Words, words)
    }

    /// A piece for so many records.
    pub(crate) fn records(&self, state: &mut LaneState, count: usize) -> Result<Piece, HalError> {
        self.piece_of(state, Store::Records, count * RECORD)
    }

    /// Has the next records, so many, follow one another.
    pub(crate) fn make_room_for_records(
        &self,
        state: &mut LaneState,
        count: usize,
    ) -> Result<(), HalError> {
        let (mut full, arena) = (vec![], &mut state.arenas[Store::Records as usize]);
        let made = arena.make_room(&self.core, (8 * RECORD * count) as u64, &mut full);
        self.note_full(state, Store::Records, full);
        made
    }

    /// Chunks that are used up go with the batch that uses them.
    fn note_full(&self, state: &mut LaneState, of: Store, full: Vec<Block>) {
        match &mut state.open {
            Some(batch) => batch.full[of as usize].extend(full),
            None => state.arenas[of as usize].recycle(&self.core, full),
        }
    }

    fn piece_of(&self, state: &mut LaneState, of: Store, words: usize) -> Result<Piece, HalError> {
        let (mut full, arena) = (vec![], &mut state.arenas[of as usize]);
        let piece = arena.take(&self.core, words, &mut full);
        self.note_full(state, of, full);
        piece
    }
}
