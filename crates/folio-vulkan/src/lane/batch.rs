//! Batches: what is recorded, and submitted at once.

use super::{Awaited, Known, State, VulkanLane};
use crate::arena::Piece;
use crate::device::Core;
use crate::graph::Recording;
use crate::memory::Block;
use crate::platform::driver;
use ash::vk;
use folio_core::hal::{HalError, Tick, Timing};
use folio_kernel::emit::Record;
use folio_kernel::emit::spirv::Module;
use smallvec::SmallVec;
use std::sync::Arc;

/// Timestamps of a lane.
const QUERIES: u32 = 512;

/// Commands that are submitted at once.
pub(crate) struct Batch {
    pub(crate) commands: vk::CommandBuffer,
    pub(crate) first: Tick,
    pub(crate) last: Tick,
    /// The value of the semaphore that it signals.
    pub(crate) value: u64,
    pub(crate) operations: u32,
    /// What it waits for: values of semaphores, and the lanes that these are of.
    values: Vec<(vk::Semaphore, u64)>,
    _waits: Vec<Awaited>,
    /// Chunks of the arena that are used up.
    pub(crate) full: Vec<Block>,
    /// Memory that goes when it has ended.
    pub(crate) pieces: Vec<Block>,
    /// What failed launches say.
    pub(crate) records: Vec<Said>,
    /// What its replays execute.
    pub(crate) recordings: Vec<Arc<Recording>>,
    accesses: Accesses,
    timed: Vec<(Tick, u64, u32)>,
}

/// What has been accessed since the last barrier, and whether it was written.
#[derive(Default)]
struct Accesses(SmallVec<[(vk::Buffer, bool); 8]>);

impl Accesses {
    /// Something of these is among them, so that one of the two writes it.
    fn conflict(&self, all: &[(vk::Buffer, bool)]) -> bool {
        all.iter().any(|(buffer, writes)| {
            self.0.iter().any(|(other, wrote)| other == buffer && (*writes || *wrote))
        })
    }
}

/// Where a launch says what it has done wrong, and what that means.
pub(crate) struct Said {
    pub(crate) tick: Tick,
    /// Of a replay: the node.
    pub(crate) node: Option<usize>,
    pub(crate) piece: Piece,
    pub(crate) of: Arc<Module>,
}

/// When a tick's operation ran.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    pub(crate) tick: Tick,
    pub(crate) timing: Timing,
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
    pub(crate) fn new(commands: vk::CommandBuffer, first: Tick) -> Batch {
        Batch {
            commands,
            first,
            last: first,
            value: 0,
            operations: 0,
            values: vec![],
            _waits: vec![],
            full: vec![],
            pieces: vec![],
            records: vec![],
            recordings: vec![],
            accesses: Accesses::default(),
            timed: vec![],
        }
    }

    /// A barrier, if something that was accessed since the last one is, so that one of the two
    /// writes it. Each is a buffer, and whether it is written.
    pub(crate) fn accesses(&mut self, core: &Core, all: &[(vk::Buffer, bool)]) {
        if self.accesses.conflict(all) {
            self.barrier(core);
        }
        self.accesses.0.extend_from_slice(all);
    }

    /// What comes next sees what all before has written.
    pub(crate) fn barrier(&mut self, core: &Core) {
        self.accesses.0.clear();
        let to = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
        pipeline_barrier(core, self.commands, vk::PipelineStageFlags2::ALL_COMMANDS, to);
    }

    /// A piece of memory is kept until the batch has ended.
    pub(crate) fn keep(&mut self, block: Block) {
        self.pieces.push(block);
    }

    pub(crate) fn record_of(&mut self, tick: Tick, piece: Piece, of: Arc<Module>) {
        self.records.push(Said { tick, node: None, piece, of });
    }
}

fn pipeline_barrier(
    core: &Core,
    commands: vk::CommandBuffer,
    stage: vk::PipelineStageFlags2,
    to: vk::AccessFlags2,
) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
        .dst_stage_mask(stage)
        .dst_access_mask(to)];
    let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: the command buffer is being recorded, by whoever holds its lane's state.
    unsafe { core.device.cmd_pipeline_barrier2(commands, &dependency) };
}

impl VulkanLane {
    /// The open batch, which is begun if there is none.
    pub(crate) fn open<'s>(
        &self,
        state: &'s mut State,
        tick: Tick,
    ) -> Result<&'s mut Batch, HalError> {
        if state.open.is_none() {
            let commands = self.command_buffer(state)?;
            state.open = Some(Batch::new(commands, tick));
            // What other batches of the queue have written is seen here.
            if let Some(batch) = &mut state.open {
                batch.barrier(&self.core);
            }
        }
        state.open.as_mut().ok_or_else(|| HalError::unsupported("commands"))
    }

    /// A batch that begins behind these values.
    pub(crate) fn open_behind(
        &self,
        state: &mut State,
        tick: Tick,
        waits: Vec<Awaited>,
        values: Vec<(vk::Semaphore, u64)>,
    ) -> Result<(), HalError> {
        self.submit(state);
        let batch = self.open(state, tick)?;
        (batch._waits, batch.values) = (waits, values);
        Ok(())
    }

    fn command_buffer(&self, state: &mut State) -> Result<vk::CommandBuffer, HalError> {
        let device = &self.core.device;
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let commands = match state.free.pop() {
            Some(commands) => commands,
            None => {
                let wanted = vk::CommandBufferAllocateInfo::default()
                    .command_pool(state.pool)
                    .command_buffer_count(1);
                // SAFETY: the pool is the lane's, whose state is held.
                let made = unsafe { device.allocate_command_buffers(&wanted) }
                    .map_err(|result| driver("vkAllocateCommandBuffers", result))?;
                made.first().copied().unwrap_or_default()
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
    pub(crate) fn submit(&self, state: &mut State) {
        let Some(mut batch) = state.open.take() else { return };
        state.arena.seal(&mut batch.full);
        state.value += 1;
        batch.value = state.value;
        let submitted = self.core.told(self.submit_batch(&batch));
        if let Err(error) = submitted {
            // Nothing of it runs. Its ticks end, and the first of them tells why.
            self.fail(batch.first, error);
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
        // The host reads what it has been told has ended.
        let to = vk::AccessFlags2::HOST_READ | vk::AccessFlags2::HOST_WRITE;
        pipeline_barrier(&self.core, batch.commands, vk::PipelineStageFlags2::HOST, to);
        // SAFETY: it is being recorded, and no one else does so.
        unsafe { device.end_command_buffer(batch.commands) }
            .map_err(|result| driver("vkEndCommandBuffer", result))?;
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let at = |semaphore: vk::Semaphore, value: u64| {
            vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(value).stage_mask(all)
        };
        let waits: Vec<_> = batch.values.iter().map(|(other, value)| at(*other, *value)).collect();
        let signals = [at(self.semaphore, batch.value)];
        let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(batch.commands)];
        let submit = [vk::SubmitInfo2::default()
            .wait_semaphore_infos(&waits)
            .command_buffer_infos(&buffers)
            .signal_semaphore_infos(&signals)];
        let queue = self.core.queue();
        // SAFETY: the queue is held; the commands are complete, and refer to memory and code that
        // stay until their ticks are reached (the HAL's contract, and the batch's own); the lanes
        // whose semaphores are waited for are held by the batch.
        unsafe { device.queue_submit2(*queue, &submit, vk::Fence::null()) }
            .map_err(|result| driver("vkQueueSubmit2", result))
    }

    /// Notes when an operation begins; for [`end_time`](Self::end_time).
    pub(crate) fn begin_time(&self, state: &mut State) -> Option<u32> {
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
        let own = state.queries.next;
        state.queries.next = (own + 2) % QUERIES;
        state.queries.used += 2;
        let batch = state.open.as_mut()?;
        batch.barrier(&self.core);
        // SAFETY: the command buffer is being recorded; the two are of no operation that is under
        // way.
        unsafe {
            device.cmd_reset_query_pool(batch.commands, pool, own, 2);
            let all = vk::PipelineStageFlags2::ALL_COMMANDS;
            device.cmd_write_timestamp2(batch.commands, all, pool, own);
        }
        Some(own)
    }

    pub(crate) fn end_time(&self, state: &mut State, (tick, queued): (Tick, u64), own: u32) {
        let Some(pool) = state.queries.pool else { return };
        let Some(batch) = state.open.as_mut() else { return };
        batch.barrier(&self.core);
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        // SAFETY: as above.
        unsafe { self.core.device.cmd_write_timestamp2(batch.commands, all, pool, own + 1) };
        batch.timed.push((tick, queued, own));
    }

    /// What a batch that has ended has left: failures, times, and memory to be used again.
    pub(crate) fn retire(&self, state: &mut State, batch: Batch) {
        let mut replay = None;
        for Said { tick, node, piece, of } in &batch.records {
            let record = Record(piece.read());
            let Some(violation) = of.points.violation(&record) else { continue };
            let error = HalError::violation(Box::new(violation));
            match node {
                // A replay fails with the first of its nodes.
                Some(_) if replay == Some(*tick) => {}
                Some(node) => {
                    replay = Some(*tick);
                    self.fail(*tick, error.at_node(*node));
                }
                None => self.fail(*tick, error),
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
            state.note_time(Timed { tick: *tick, timing });
        }
        for block in batch.pieces {
            self.core.memory.release(&self.core.device, block);
        }
        state.arena.recycle(&self.core, batch.full);
        state.free.push(batch.commands);
        self.ended(batch.last);
    }

    /// A wait as a batch has it.
    pub(crate) fn value_of(wait: &Awaited) -> Known {
        wait.0.known(wait.1)
    }
}

impl State {
    pub(crate) fn note_time(&mut self, timed: Timed) {
        if self.timed.len() == super::TIMINGS {
            self.timed.pop_front();
        }
        self.timed.push_back(timed);
    }
}

impl VulkanLane {
    pub(crate) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.lock()
    }

    /// The batch that is being recorded.
    pub(crate) fn open_now<'s>(&self, state: &'s mut State) -> Result<&'s mut Batch, HalError> {
        state.open.as_mut().ok_or_else(|| HalError::unsupported("commands without a batch"))
    }

    /// A batch for a part of a job that has been taken, whose tick does not end with it.
    pub(crate) fn open_for_part(
        &self,
        state: &mut State,
        tick: Tick,
    ) -> Result<vk::CommandBuffer, HalError> {
        let batch = self.open(state, tick.saturating_sub(1))?;
        Ok(batch.commands)
    }

    /// A piece of the arena, for the batch that is being recorded.
    pub(crate) fn piece(&self, state: &mut State, words: usize) -> Result<Piece, HalError> {
        let mut full = vec![];
        let piece = state.arena.take(&self.core, words, &mut full);
        match &mut state.open {
            Some(batch) => batch.full.extend(full),
            None => state.arena.recycle(&self.core, full),
        }
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle;

    /// Barriers are only between operations of which one writes what the other accesses: before
    /// which of these there is one.
    #[test]
    fn barriers_are_between_operations_that_depend_on_each_other() {
        let [a, b] = [1, 2].map(vk::Buffer::from_raw);
        // Memory that others have, too, may be any of its kind.
        let others = vk::Buffer::null();
        let operations = [
            (&[(a, true)][..], false),
            (&[(b, true)], false),
            // A read of what was written; two reads.
            (&[(a, false)], true),
            (&[(a, false), (b, false)], false),
            // A write of what was read; a write of what nothing has accessed since.
            (&[(b, true)], true),
            (&[(a, true)], false),
            (&[(a, true)], true),
            (&[(others, true)], false),
            (&[(others, false)], true),
            (&[(b, true)], false),
        ];
        let mut accesses = Accesses::default();
        for (at, (operation, is_behind_a_barrier)) in operations.into_iter().enumerate() {
            let conflict = accesses.conflict(operation);
            assert_eq!(conflict, is_behind_a_barrier, "operation {at}");
            if conflict {
                accesses.0.clear();
            }
            accesses.0.extend_from_slice(operation);
        }
    }
}
