//! Graphs: operations that are recorded once, in a command buffer of their own, which each replay
//! executes among the commands of its lane.
//!
//! The words of launches, the memory in which they combine, and the records of what they do wrong
//! belong to the recording. Replays do not overlap (the HAL's contract). But the next one may run
//! before the host has looked at the last: each clears the records, and copies them to memory of
//! its own batch. Where only scalars of a launch are exchanged, the next replay's batch writes them
//! over the old ones first, in the order of the lane. Another update makes another recording;
//! batches hold the one that they execute.

use crate::arena::Arena;
use crate::device::{Core, Loaded};
use crate::lane::batch::{Batch, Said};
use crate::lane::jobs::Work;
use crate::lane::{State, VulkanLane};
use crate::memory::Block;
use crate::platform::driver;
use crate::reduce::Scratch;
use crate::threads::{Patch, Words};
use ash::vk;
use folio_core::hal::{Graph, HalError, KernelRef, Node, Op, Tick};
use folio_kernel::emit::Record;
use folio_kernel::emit::spirv::Module;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A graph of this backend.
pub(crate) struct VulkanGraph {
    core: Arc<Core>,
    nodes: Mutex<Nodes>,
}

struct Nodes {
    all: Vec<Work>,
    /// They as commands, from the first replay after a change on.
    recorded: Option<Arc<Recording>>,
    /// Launches whose scalars have changed since the last replay.
    changed: Vec<usize>,
}

/// A command buffer, and what its commands use.
pub(crate) struct Recording {
    core: Arc<Core>,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    arena: Arena,
    scratch: Scratch,
    blocks: Vec<Block>,
    records: Vec<Spot>,
    /// What dispatches read, node by node.
    words: Vec<Words>,
    /// Its words are not those of its nodes: a replay that was to write them has failed.
    is_stale: AtomicBool,
}

/// Where a node's launch says what it has done wrong, and what that means.
struct Spot {
    node: usize,
    buffer: vk::Buffer,
    offset: u64,
    of: Arc<Module>,
}

impl VulkanGraph {
    pub(crate) fn new(core: &Arc<Core>, nodes: &[Node<'_>]) -> Result<VulkanGraph, HalError> {
        for (own, node) in nodes.iter().enumerate() {
            if node.after.iter().any(|before| *before >= own) {
                return Err(HalError::unsupported("a node after a later one"));
            }
        }
        let all = nodes.iter().map(|node| work(core, &node.op)).collect::<Result<_, _>>()?;
        let nodes = Mutex::new(Nodes { all, recorded: None, changed: vec![] });
        Ok(VulkanGraph { core: core.clone(), nodes })
    }

    fn lock(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which recording there is.
    #[cfg(test)]
    pub(crate) fn recorded(&self) -> Option<Arc<Recording>> {
        self.lock().recorded.clone()
    }

    /// What a replay that is issued now executes, and what it writes before.
    pub(crate) fn recording(
        &self,
        lane: &VulkanLane,
    ) -> Result<(Arc<Recording>, Vec<Patch>), HalError> {
        if !Arc::ptr_eq(&self.core, &lane.core) {
            return Err(HalError::unsupported("a graph of another device"));
        }
        let mut nodes = self.lock();
        let changed = std::mem::take(&mut nodes.changed);
        let recorded = nodes.recorded.take();
        if let Some(recording) = recorded.filter(|own| !own.is_stale.load(Ordering::Relaxed))
            && let Some(patches) = recording.patches(lane, &nodes.all, &changed)?
        {
            nodes.recorded = Some(recording.clone());
            return Ok((recording, patches));
        }
        let recording = Arc::new(Recording::new(lane, &nodes.all)?);
        Ok((nodes.recorded.insert(recording).clone(), vec![]))
    }
}

/// Two launches that differ by scalars only, of which no other memory than that of their words is
/// the recording's.
fn differ_by_scalars(old: &Work, new: &Work) -> bool {
    let (Work::Launch(old), Work::Launch(new)) = (old, new) else { return false };
    let (Loaded::Function(own), Loaded::Function(other)) = (&old.code, &new.code) else {
        return false;
    };
    Arc::ptr_eq(own, other)
        && !own.reduces()
        && old.scalars.len() == new.scalars.len()
        && (old.geometry, &old.params, old.proved) == (new.geometry, &new.params, new.proved)
}

// SAFETY: a replay executes commands that nobody changes; the rest is the lane's.
unsafe impl Graph for VulkanGraph {
    fn update(&self, node: usize, op: Op<'_>) -> Result<(), HalError> {
        let new = work(&self.core, &op)?;
        let mut nodes = self.lock();
        let none = || HalError::unsupported("a node that is not there");
        let old = nodes.all.get_mut(node).ok_or_else(none)?;
        let stays = differ_by_scalars(old, &new);
        *old = new;
        match stays {
            true if nodes.changed.contains(&node) => {}
            true => nodes.changed.push(node),
            false => nodes.recorded = None,
        }
        Ok(())
    }
}

/// An operation as a lane has it. What the host does is no node.
fn work(core: &Core, op: &Op<'_>) -> Result<Work, HalError> {
    match op {
        Op::Copy(rects) => match Work::copy(rects) {
            Work::HostCopy(_) => Err(HalError::unsupported("a copy by the host in a graph")),
            copy => Ok(copy),
        },
        Op::Fill(rects, pattern) => Ok(Work::Fill(rects.to_vec(), pattern.to_vec())),
        Op::Join => Ok(Work::Join),
        Op::Launch(KernelRef::Loaded(handle), geometry, args) => {
            Ok(Work::launch(core.loaded(*handle)?, geometry, args))
        }
        Op::Launch(..) | Op::Hint(..) | Op::Switch(..) | Op::Branch(_) | Op::Replay(_) => {
            Err(HalError::unsupported(op.name()))
        }
    }
}

impl Recording {
    fn new(lane: &VulkanLane, nodes: &[Work]) -> Result<Recording, HalError> {
        let core = lane.core.clone();
        let pool = core.command_pool()?;
        let mut state = State::new(pool, 0);
        let done = begin(&core, pool).and_then(|commands| {
            (state.open, state.words) = (Some(Batch::new(commands, 0)), Some(vec![]));
            let mut all = nodes.iter().enumerate();
            all.try_for_each(|(own, node)| {
                // Its number stands for a tick.
                let done = lane.record_work(&mut state, own as Tick, node);
                done.map_err(|error| error.at_node(own))
            })?;
            // SAFETY: it is being recorded, by this call.
            unsafe { core.device.end_command_buffer(commands) }
                .map_err(|result| driver("vkEndCommandBuffer", result))
        });
        let batch = state.open.take().unwrap_or(Batch::new(vk::CommandBuffer::null(), 0));
        let spot = |said: Said| Spot {
            node: usize::try_from(said.tick).unwrap_or(usize::MAX),
            buffer: said.piece.buffer,
            offset: said.piece.offset,
            of: said.of,
        };
        // What has failed goes here.
        let made = Recording {
            pool,
            commands: batch.commands,
            arena: std::mem::take(&mut state.arena),
            scratch: std::mem::take(&mut state.scratch),
            blocks: batch.full.into_iter().chain(batch.pieces).collect(),
            records: batch.records.into_iter().map(spot).collect(),
            words: state.words.take().unwrap_or_default(),
            is_stale: AtomicBool::new(false),
            core,
        };
        done.map(|()| made)
    }

    /// What makes it a recording of these nodes, of which some launches have other scalars; nothing
    /// if that cannot be.
    fn patches(
        &self,
        lane: &VulkanLane,
        nodes: &[Work],
        changed: &[usize],
    ) -> Result<Option<Vec<Patch>>, HalError> {
        let mut all = vec![];
        for node in changed {
            let from = self.words.partition_point(|words| words.tick < *node as Tick);
            let own = self.words.get(from..).unwrap_or_default();
            let own = own.split(|words| words.tick != *node as Tick).next().unwrap_or_default();
            let Some(Work::Launch(launch)) = nodes.get(*node) else { return Ok(None) };
            let Loaded::Function(function) = &launch.code else { return Ok(None) };
            let Some(patches) = lane.patches((function, launch), own)? else { return Ok(None) };
            all.extend(patches);
        }
        Ok(Some(all))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let core = &self.core;
        for block in self.blocks.drain(..) {
            core.memory.release(&core.device, block);
        }
        self.arena.destroy(core);
        self.scratch.destroy(core);
        // SAFETY: batches that execute it hold it until they have ended.
        unsafe { core.device.destroy_command_pool(self.pool, None) };
    }
}

/// A command buffer that others execute, more than one of which may be pending.
fn begin(core: &Core, pool: vk::CommandPool) -> Result<vk::CommandBuffer, HalError> {
    let wanted = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(1);
    // SAFETY: the pool is the caller's.
    let made = unsafe { core.device.allocate_command_buffers(&wanted) }
        .map_err(|result| driver("vkAllocateCommandBuffers", result))?;
    let commands = made.first().copied().unwrap_or_default();
    let inherited = vk::CommandBufferInheritanceInfo::default();
    let begin = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)
        .inheritance_info(&inherited);
    // SAFETY: it is new.
    unsafe { core.device.begin_command_buffer(commands, &begin) }
        .map_err(|result| driver("vkBeginCommandBuffer", result))?;
    Ok(commands)
}

impl VulkanLane {
    /// Records a replay, behind what makes the recording that of its nodes.
    pub(crate) fn replay(
        &self,
        state: &mut State,
        tick: Tick,
        (recording, patches): (&Arc<Recording>, &[Patch]),
    ) -> Result<(), HalError> {
        self.replay_patched(state, tick, (recording, patches)).inspect_err(|_| {
            recording.is_stale.fetch_or(!patches.is_empty(), Ordering::Relaxed);
        })
    }

    fn replay_patched(
        &self,
        state: &mut State,
        tick: Tick,
        (recording, patches): (&Arc<Recording>, &[Patch]),
    ) -> Result<(), HalError> {
        let (core, records) = (&*self.core, &recording.records);
        let copies = match records.len() {
            0 => None,
            some => Some(self.piece(state, Record::WORDS * some)?),
        };
        let batch = self.open_now(state)?;
        batch.barrier(core);
        let (device, commands) = (&core.device, batch.commands);
        let bytes = 8 * Record::WORDS as u64;
        for Patch { buffer, offset, bytes } in patches.iter().filter(|p| !p.bytes.is_empty()) {
            // SAFETY: it is being recorded; the words are the recording's, which the batch holds.
            unsafe { device.cmd_update_buffer(commands, *buffer, *offset, bytes) };
        }
        for spot in records {
            // SAFETY: it is being recorded; the record is the recording's, which the batch holds.
            unsafe { device.cmd_fill_buffer(commands, spot.buffer, spot.offset, bytes, 0) };
        }
        batch.barrier(core);
        // SAFETY: it is being recorded, and the other one is complete; it stays, with all that it
        // uses, until the batch has ended.
        unsafe { device.cmd_execute_commands(commands, &[recording.commands]) };
        batch.barrier(core);
        for (own, spot) in records.iter().enumerate() {
            let Some(piece) = copies.as_ref().and_then(|all| all.part(own)) else { continue };
            let region = [vk::BufferCopy::default()
                .src_offset(spot.offset)
                .dst_offset(piece.offset)
                .size(bytes)];
            // SAFETY: as above; the other record is the batch's.
            unsafe { device.cmd_copy_buffer(commands, spot.buffer, piece.buffer, &region) };
            let (node, of) = (Some(spot.node), spot.of.clone());
            batch.records.push(Said { tick, node, piece, of });
        }
        batch.recordings.push(recording.clone());
        Ok(())
    }
}
