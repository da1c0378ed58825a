//! Graphs: operations that are recorded once, in a command buffer of their own, which each replay
//! submits among the command buffers of its batch. A replay that needs no command before or behind
//! the recording begins no command buffer.
//!
//! Operations are recorded level by level, with a barrier between two levels
//! ([`barriers`](crate::lane::barriers)). Operations that are independent by the graph's edges have
//! none.
//!
//! The words of launches, the memory in which they combine, and the records of what they do wrong
//! belong to the recording. Replays do not overlap (the HAL's contract). But the next one may run
//! before the host has looked at the last: each clears the records, and copies them to memory of
//! its own batch. Where a launch gets other scalars and memory, the next replay's batch writes its
//! words over the old ones first, in the order of the lane. Another update makes other recordings:
//! of another kernel or number of blocks, of a reduction, a copy or a fill. Batches hold the one
//! that they execute.
//!
//! A replay is one operation of the batch, of the kinds and buffers of its nodes. A replay that
//! does not depend on earlier operations therefore has no barrier, nor has an operation that does
//! not depend on the replay.
//!
//! Drivers may copy a command buffer that can be submitted while it is pending. A graph therefore
//! has up to three recordings that cannot, and a replay takes one that no batch holds. While all
//! three are held, replays take a fourth that can. Each is made when a replay first needs it.

use crate::device::platform::driver;
use crate::device::queues::Use;
use crate::device::{Core, Loaded, Opened};
use crate::kernels::threads::{Patch, Words};
#[cfg(test)]
use crate::lane::audit::{Event, Uses};
use crate::lane::barriers::{Barrier, Kind, Kinds, Used, levels};
use crate::lane::batch::{Batch, LaunchRecord, Replayed};
use crate::lane::counts::Counts;
use crate::lane::jobs::{Launch, Work};
use crate::lane::{LaneState, VulkanLane};
use crate::memory::Block;
use crate::memory::arena::{Arena, Piece, RECORD, Store};
use ash::vk;
use ash::vk::Handle;
use folio_core::hal::{Calls, Graph, HalError, KernelRef, Node, Op, Tick};
use folio_driver::lock;
use folio_driver::reduce::Scratch;
use folio_kernel::emit::spirv::Module;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// A graph of this backend.
pub(crate) struct VulkanGraph {
    nodes: Mutex<Nodes>,
    /// Goes after the nodes, which hold memory of its.
    core: Arc<Opened>,
}

struct Nodes {
    all: Vec<Work>,
    /// By node: those that it comes after.
    after: Vec<Vec<usize>>,
    /// They as commands, from the first replay after a change on.
    recorded: Vec<Recorded>,
}

/// A recording, and launches whose words have changed since it was replayed last.
struct Recorded {
    recording: Arc<Recording>,
    changed: BTreeSet<usize>,
    /// The buffers that it uses, and those that it has used before its words were changed.
    uses: Arc<Used>,
}

/// A replay: the recording, what is written to it before, and what it uses.
pub(crate) struct Replay {
    pub(crate) recording: Arc<Recording>,
    patches: Vec<Patch>,
    uses: Arc<Used>,
}

/// Recordings of a graph that are submitted only when they are not pending.
const EXCLUSIVE: usize = 3;

/// A command buffer, and what its commands use.
pub(crate) struct Recording {
    core: Arc<Opened>,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    arenas: [Arena; Store::COUNT],
    scratch: Scratch<Block>,
    blocks: Vec<Block>,
    /// By node.
    records: Vec<NodeRecord>,
    /// They by their memory.
    pub(crate) runs: Vec<RecordRange>,
    /// The recording may be submitted while it is pending.
    pub(crate) is_shared: bool,
    /// The words that dispatches read, node by node.
    words: Vec<Words>,
    /// The kinds of its operations.
    kinds: Kinds,
    /// How long it runs, about.
    pub(crate) estimate: u64,
    /// The recorded commands, as far as barriers depend on them.
    #[cfg(test)]
    pub(crate) trail: Vec<Event>,
    /// Its words are not those of its nodes: a replay that was to write them has failed.
    is_stale: AtomicBool,
}

/// Where a node's launch says what it has done wrong, and what that means.
struct NodeRecord {
    node: usize,
    buffer: vk::Buffer,
    offset: u64,
    /// Which it is of all, by their memory.
    nth: usize,
    of: Arc<Module>,
}

/// Records that follow one another in memory.
#[derive(Debug, PartialEq)]
pub(crate) struct RecordRange {
    buffer: vk::Buffer,
    offset: u64,
    /// The number of the first of them, and how many there are.
    first: usize,
    pub(crate) count: usize,
}

/// Bytes from a record to the next.
const STRIDE: u64 = 8 * RECORD as u64;

/// Numbers records by their memory, and says which follow one another.
fn runs(records: &mut [NodeRecord]) -> Vec<RecordRange> {
    let mut order: Vec<&mut NodeRecord> = records.iter_mut().collect();
    order.sort_by_key(|spot| (spot.buffer.as_raw(), spot.offset));
    let mut runs: Vec<RecordRange> = vec![];
    for (nth, spot) in order.into_iter().enumerate() {
        spot.nth = nth;
        let (buffer, offset) = (spot.buffer, spot.offset);
        match runs.last_mut() {
            Some(run)
                if (run.buffer, run.offset + STRIDE * run.count as u64) == (buffer, offset) =>
            {
                run.count += 1;
            }
            _ => runs.push(RecordRange { buffer, offset, first: nth, count: 1 }),
        }
    }
    runs
}

impl VulkanGraph {
    pub(crate) fn new(core: &Arc<Opened>, nodes: &[Node<'_>]) -> Result<VulkanGraph, HalError> {
        for (own, node) in nodes.iter().enumerate() {
            if node.after.iter().any(|before| *before >= own) {
                return Err(HalError::unsupported("a node after a later one"));
            }
        }
        let all = nodes.iter().map(|node| work(core, &node.op)).collect::<Result<_, _>>()?;
        let after = nodes.iter().map(|node| node.after.to_vec()).collect();
        let nodes = Mutex::new(Nodes { all, after, recorded: vec![] });
        Ok(VulkanGraph { core: core.clone(), nodes })
    }

    fn lock(&self) -> MutexGuard<'_, Nodes> {
        lock(&self.nodes)
    }

    /// The recording that a replay executes which is issued now, and the words that it writes
    /// before.
    pub(crate) fn turn(&self, lane: &VulkanLane) -> Result<Replay, HalError> {
        if !Arc::ptr_eq(&self.core, &lane.core) {
            return Err(HalError::unsupported("a graph of another device"));
        }
        self.lock().turn(lane)
    }
}

impl Nodes {
    /// A recording that can be submitted now, and what its replay writes before.
    fn turn(&mut self, lane: &VulkanLane) -> Result<Replay, HalError> {
        self.recorded.retain(|own| !own.recording.is_stale.load(Ordering::Relaxed));
        // Jobs and batches hold what they execute.
        let is_free = |own: &mut Recorded| {
            own.recording.is_shared || Arc::get_mut(&mut own.recording).is_some()
        };
        let Some(at) = self.recorded.iter_mut().position(is_free) else {
            return self.record(lane);
        };
        let Recorded { recording, changed, uses } = &mut self.recorded[at];
        let recording = recording.clone();
        if changed.is_empty() {
            return Ok(Replay { recording, patches: vec![], uses: uses.clone() });
        }
        let changed = std::mem::take(changed);
        let own = Arc::make_mut(uses);
        if let Some(patches) = recording.patches(lane, &self.all, &changed, own).transpose() {
            let uses = uses.clone();
            // A recording that is not told of its changes is not replayed again.
            let patches = patches.inspect_err(|_| self.recorded.clear())?;
            let patched = Counts { patches: changed.len() as u64, ..Counts::default() };
            lane.core.counts().add(&patched);
            return Ok(Replay { recording, patches, uses });
        }
        // Where one cannot do what its nodes do, none can.
        self.recorded.clear();
        self.record(lane)
    }

    /// Makes another recording.
    fn record(&mut self, lane: &VulkanLane) -> Result<Replay, HalError> {
        let exclusive = self.recorded.iter().filter(|own| !own.recording.is_shared).count();
        let is_shared = exclusive == EXCLUSIVE;
        let (recording, uses) = Recording::new(lane, (&self.all, &self.after), is_shared)?;
        let (recording, uses) = (Arc::new(recording), Arc::new(uses));
        let turn = Replay { recording: recording.clone(), patches: vec![], uses: uses.clone() };
        self.recorded.push(Recorded { recording, changed: BTreeSet::new(), uses });
        Ok(turn)
    }
}

/// The change of a recording by an update.
enum Change {
    Nothing,
    /// The words of a launch, unless that has other blocks by now.
    Words,
    Commands,
}

impl Change {
    fn of(old: &Work, new: &Work) -> Change {
        let same = match (old, new) {
            (Work::Launch(old), Work::Launch(new)) => return Change::of_launch(old, new),
            (Work::Copy { rects: old, .. }, Work::Copy { rects: new, .. }) => old == new,
            (Work::Fill(old, from), Work::Fill(new, to)) => (old, from) == (new, to),
            (Work::Join, Work::Join) => true,
            _ => false,
        };
        if same { Change::Nothing } else { Change::Commands }
    }

    fn of_launch(old: &Launch, new: &Launch) -> Change {
        let (Loaded::Kernel(own), Loaded::Kernel(other)) = (&old.code, &new.code) else {
            return Change::Commands;
        };
        if !Arc::ptr_eq(own, other) || old.params.len() != new.params.len() {
            return Change::Commands;
        }
        let is_same = (old.geometry, old.proved) == (new.geometry, new.proved)
            && (&old.params, &old.scalars) == (&new.params, &new.scalars);
        match is_same {
            true => Change::Nothing,
            false if new.has_words() => Change::Words,
            false => Change::Commands,
        }
    }
}

// SAFETY: a replay executes commands that nobody changes; the rest is the lane's.
unsafe impl Graph for VulkanGraph {
    fn update(&self, node: usize, op: Op<'_>) -> Result<(), HalError> {
        // Before the lock: recordings go under it.
        let _inside = self.core.inside();
        let new = work(&self.core, &op)?;
        let mut nodes = self.lock();
        let none = || HalError::unsupported("a node that is not there");
        let old = nodes.all.get_mut(node).ok_or_else(none)?;
        let change = Change::of(old, &new);
        *old = new;
        match change {
            Change::Nothing => {}
            Change::Words => nodes.recorded.iter_mut().for_each(|own| {
                own.changed.insert(node);
            }),
            Change::Commands => nodes.recorded.clear(),
        }
        Ok(())
    }

    fn set_scalars(&self, all: &[(usize, &[u64])]) -> Result<bool, HalError> {
        let mut nodes = self.lock();
        let Nodes { all: works, recorded, .. } = &mut *nodes;
        for (node, scalars) in all {
            match works.get_mut(*node) {
                Some(Work::Launch(launch)) if launch.has_words() => {
                    launch.scalars.clear();
                    launch.scalars.extend(scalars.iter().flat_map(|word| word.to_ne_bytes()));
                    recorded.iter_mut().for_each(|own| {
                        own.changed.insert(*node);
                    });
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// An operation as a lane has it. The work of the host is no node.
fn work(core: &Core, op: &Op<'_>) -> Result<Work, HalError> {
    match op {
        Op::Copy(rects) => match Work::copy(core, rects) {
            Work::HostCopy(_) => Err(HalError::unsupported("a copy by the host in a graph")),
            copy => Ok(copy),
        },
        Op::Fill(rects, pattern) => Ok(Work::Fill(rects.to_vec(), pattern.to_vec())),
        Op::Join => Ok(Work::Join),
        Op::Launch(KernelRef::Loaded(handle), geometry, args) => {
            Ok(Work::launch(core.loaded(*handle)?, geometry, args))
        }
        _ => Err(HalError::unsupported(op.name())),
    }
}

impl Recording {
    /// The recording, and what it uses.
    fn new(
        lane: &VulkanLane,
        (nodes, after): (&[Work], &[Vec<usize>]),
        is_shared: bool,
    ) -> Result<(Recording, Used), HalError> {
        let core = lane.core.clone();
        let pool = core.command_pool(Use::Compute)?;
        let mut state = LaneState::new(pool, 0);
        let done = begin(&core, pool, is_shared).and_then(|commands| {
            state.open = Some(Batch::new(commands, Use::Compute, 0));
            state.words = Some(vec![]);
            let kinds = record(lane, &mut state, nodes, after)?;
            // SAFETY: it is being recorded, by this call.
            unsafe { core.device.end_command_buffer(commands) }
                .map_err(|result| driver("vkEndCommandBuffer", result))?;
            Ok(kinds)
        });
        let none = || Batch::new(vk::CommandBuffer::null(), Use::Compute, 0);
        let batch = state.open.take().unwrap_or_else(none);
        core.counts().add(&Counts { recordings: 1, ..batch.counts });
        let spot = |said: LaunchRecord| NodeRecord {
            node: usize::try_from(said.tick).unwrap_or(usize::MAX),
            buffer: said.piece.buffer,
            offset: said.piece.offset,
            nth: 0,
            of: said.of,
        };
        // A replay fails with the first of its nodes.
        let mut records: Vec<NodeRecord> = batch.records.into_iter().map(spot).collect();
        records.sort_by_key(|spot| spot.node);
        let runs = runs(&mut records);
        let mut words = state.words.take().unwrap_or_default();
        words.sort_by_key(|words| words.tick);
        let mut uses = batch.uses;
        words.iter().for_each(|words| uses.add(&[(words.buffer, false)]));
        runs.iter().for_each(|run| uses.add(&[(run.buffer, true)]));
        // A recording that has failed goes here.
        let made = Recording {
            pool,
            commands: batch.commands,
            arenas: std::mem::replace(&mut state.arenas, Arena::all()),
            scratch: std::mem::take(&mut state.scratch),
            blocks: batch.full.into_iter().flatten().chain(batch.pieces).collect(),
            records,
            runs,
            is_shared,
            words,
            kinds: *done.as_ref().unwrap_or(&Kinds::ALL),
            #[cfg(test)]
            trail: batch.trail,
            estimate: nodes.iter().map(|node| node.estimate(&core)).sum(),
            is_stale: AtomicBool::new(false),
            core,
        };
        done.map(|_| (made, uses))
    }

    /// The failure of a replay, if it has left one in these records: that of the first of its
    /// nodes.
    pub(crate) fn failure(&self, records: &Piece) -> Option<HalError> {
        self.records.iter().find_map(|spot| {
            let error = records.part(spot.nth)?.failure(&spot.of)?;
            Some(error.at_node(spot.node))
        })
    }

    /// The patches that make it a recording of these nodes, of which some launches have other
    /// words; nothing if that cannot be.
    fn patches(
        &self,
        lane: &VulkanLane,
        nodes: &[Work],
        changed: &BTreeSet<usize>,
        uses: &mut Used,
    ) -> Result<Option<Vec<Patch>>, HalError> {
        let mut all = vec![];
        for node in changed {
            let from = self.words.partition_point(|words| words.tick < *node as Tick);
            let own = self.words.get(from..).unwrap_or_default();
            let own = own.split(|words| words.tick != *node as Tick).next().unwrap_or_default();
            let Some(Work::Launch(launch)) = nodes.get(*node) else { return Ok(None) };
            let Loaded::Kernel(function) = &launch.code else { return Ok(None) };
            let patches = lane.patches((function, &launch.asked()), own, uses)?;
            let Some(patches) = patches else { return Ok(None) };
            all.extend(patches);
        }
        Ok(Some(all))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if Calls::are_over() {
            return;
        }
        let core = &self.core;
        let _inside = core.inside();
        for block in self.blocks.drain(..).chain(self.scratch.drain()) {
            core.memory.release(&core.device, block);
        }
        self.arenas.iter_mut().for_each(|arena| arena.destroy(core));
        // SAFETY: batches that execute it hold it until they have ended.
        unsafe { core.device.destroy_command_pool(self.pool, None) };
    }
}

/// Records nodes level by level, each behind those that it comes after, and says what they are.
fn record(
    lane: &VulkanLane,
    state: &mut LaneState,
    nodes: &[Work],
    after: &[Vec<usize>],
) -> Result<Kinds, HalError> {
    let kinds = nodes
        .iter()
        .enumerate()
        .map(|(own, node)| lane.kinds(node).map_err(|error: HalError| error.at_node(own)));
    let kinds = kinds.collect::<Result<Vec<Kinds>, HalError>>()?;
    let all: Vec<(Kinds, &[usize])> =
        kinds.into_iter().zip(after.iter().map(Vec::as_slice)).collect();
    let records = nodes.iter().map(|node| node.records(&lane.core)).sum();
    if records > 0 {
        lane.make_room_for_records(state, records)?;
    }
    let (order, levels) = levels(&all);
    let (mut order, mut before) = (order.into_iter(), None);
    let mut recorded = Kinds::default();
    for (kinds, count) in levels {
        recorded = recorded.and(kinds);
        if let Some(from) = before.replace(kinds) {
            lane.open_now(state)?.barrier(&lane.core, Barrier { from, to: kinds });
        }
        order.by_ref().take(count).try_for_each(|own| {
            #[cfg(test)]
            lane.open_now(state)?.trail.push(Event::operation(all[own].0, Uses::Node(own)));
            // Its number stands for a tick.
            let done = lane.record_work(state, own as Tick, &nodes[own]);
            done.map_err(|error| error.at_node(own))
        })?;
    }
    Ok(recorded)
}

/// A command buffer that is submitted again and again, if it is shared also while it is pending.
fn begin(
    core: &Core,
    pool: vk::CommandPool,
    is_shared: bool,
) -> Result<vk::CommandBuffer, HalError> {
    let wanted = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(vk::CommandBufferLevel::PRIMARY)
        .command_buffer_count(1);
    // SAFETY: the pool is the caller's.
    let made = unsafe { core.device.allocate_command_buffers(&wanted) }
        .map_err(|result| driver("vkAllocateCommandBuffers", result))?;
    let commands = made.first().copied().unwrap_or_default();
    core.name(commands, "folio graph");
    let flags = match is_shared {
        true => vk::CommandBufferUsageFlags::SIMULTANEOUS_USE,
        false => vk::CommandBufferUsageFlags::empty(),
    };
    let begin = vk::CommandBufferBeginInfo::default().flags(flags);
    // SAFETY: it is new.
    unsafe { core.device.begin_command_buffer(commands, &begin) }
        .map_err(|result| driver("vkBeginCommandBuffer", result))?;
    Ok(commands)
}

impl VulkanLane {
    /// Records a replay, behind what makes the recording that of its nodes.
    pub(crate) fn replay(
        &self,
        state: &mut LaneState,
        tick: Tick,
        turn: &Replay,
    ) -> Result<(), HalError> {
        self.replay_patched(state, tick, turn).inspect_err(|_| {
            turn.recording.is_stale.fetch_or(!turn.patches.is_empty(), Ordering::Relaxed);
        })
    }

    fn replay_patched(
        &self,
        state: &mut LaneState,
        tick: Tick,
        turn: &Replay,
    ) -> Result<(), HalError> {
        let Replay { recording, patches, uses } = turn;
        let (core, records, runs) = (&*self.core, &recording.records, &recording.runs);
        if self.queue != Use::Compute {
            return Err(HalError::unsupported("a replay on a lane that copies"));
        }
        let copies = match records.len() {
            0 => None,
            some => Some(self.records(state, some)?),
        };
        let (device, transfer) = (&core.device, Kinds::of(Kind::Transfer));
        let patches = joined(patches);
        let mut written = Used::default();
        patches.iter().for_each(|patch| written.add(&[(patch.buffer, true)]));
        runs.iter().for_each(|run| written.add(&[(run.buffer, true)]));
        self.accesses_of(state, transfer, &written)?;
        for Patch { buffer, offset, bytes } in patches {
            let commands = self.open_now(state)?.commands;
            // SAFETY: it is being recorded; the words are the recording's, which the batch holds.
            unsafe { device.cmd_update_buffer(commands, buffer, offset, &bytes) };
        }
        for RecordRange { buffer, offset, count, .. } in runs {
            let (commands, bytes) = (self.open_now(state)?.commands, STRIDE * *count as u64);
            // SAFETY: it is being recorded; records are the recording's, which the batch holds.
            unsafe { device.cmd_fill_buffer(commands, *buffer, *offset, bytes, 0) };
        }
        self.accesses_of(state, recording.kinds, uses)?;
        let replayed = Replayed { tick, recording: recording.clone(), records: copies };
        self.open(state, tick).replays.push(replayed);
        self.continue_behind(state, recording.commands, uses.all().is_none())?;
        let Some(copies) = copies else { return Ok(()) };
        let mut read = Used::default();
        runs.iter().for_each(|run| read.add(&[(run.buffer, false)]));
        self.accesses_of(state, transfer, &read)?;
        for RecordRange { buffer, offset, first, count } in runs {
            let commands = self.open_now(state)?.commands;
            let region = [vk::BufferCopy::default()
                .src_offset(*offset)
                .dst_offset(copies.offset + STRIDE * *first as u64)
                .size(STRIDE * *count as u64)];
            // SAFETY: as above; the other records are the batch's.
            unsafe { device.cmd_copy_buffer(commands, *buffer, copies.buffer, &region) };
        }
        Ok(())
    }

    /// Which kinds of operations a node is.
    fn kinds(&self, work: &Work) -> Result<Kinds, HalError> {
        Ok(match work {
            Work::Copy { .. } => Kinds::of(Kind::Transfer),
            Work::Fill(rects, pattern) => self.kinds_of_fill(rects, pattern)?,
            Work::Launch(_) => Kinds::of(Kind::Compute),
            Work::HostCopy(_) | Work::Replay(..) | Work::Join | Work::Refused(_) => {
                Kinds::default()
            }
        })
    }
}

/// Bytes of one command that writes what it has with it, at most: a limit of Vulkan's.
const UPDATE: usize = 65536;

/// Patches, those that follow one another as one.
fn joined(patches: &[Patch]) -> Vec<Patch> {
    let mut all: Vec<Patch> = vec![];
    for Patch { buffer, offset, bytes } in patches.iter().filter(|patch| !patch.bytes.is_empty()) {
        match all.last_mut() {
            Some(last) if last.buffer == *buffer && last.takes(*offset, bytes.len(), UPDATE) => {
                last.bytes.resize((*offset - last.offset) as usize, 0);
                last.bytes.extend_from_slice(bytes);
            }
            _ => all.push(Patch { buffer: *buffer, offset: *offset, bytes: bytes.clone() }),
        }
    }
    all
}
