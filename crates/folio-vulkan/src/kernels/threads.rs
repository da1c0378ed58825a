//! How a launch is cut into dispatches, and what each of them is given.

use crate::device::Core;
use crate::kernels::module::{Built, LoadedKernel, sizes};
use crate::lane::barriers::{Barrier, Kind, Kinds, Used};
use crate::lane::batch::Batch;
use crate::lane::jobs::LaunchRequest;
use crate::lane::{LaneState, VulkanLane};
use crate::memory::Block;
use crate::memory::arena::Piece;
use ash::vk;
use folio_core::hal::{AllocKind, HalError, HostPtr, MemBase, Param, Tick};
use folio_driver::launch::{self, Blocks, Fit, Parts, beyond};
use folio_driver::reduce::memory_of;
use folio_kernel::emit::{Grid, Record, Reduction};
use smallvec::SmallVec;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::Arc;

impl Built {
    fn blocks(&self, launch: &LaunchRequest<'_>, columns: Range<u64>) -> Result<Blocks, HalError> {
        let fit = Fit { block: self.block, lanes: self.lanes().into(), units: 1 };
        Blocks::new(self.module.layout.threads, &fit, launch.geometry, columns)
    }
}

/// The arguments of a launch, and the beginnings of its memory.
type Passed<'p> = folio_driver::arguments::Passed<'p, u64>;

/// Buffers, and whether they are written.
type Accesses = SmallVec<[(vk::Buffer, bool); 4]>;

impl VulkanLane {
    /// A launch, of which some parameters are at these addresses and not where they say: of memory
    /// that nothing else uses, or that has had its barrier.
    pub(crate) fn launch(
        &self,
        state: &mut LaneState,
        tick: Tick,
        (function, launch): (&LoadedKernel, &LaunchRequest<'_>),
        others: &[Option<u64>],
    ) -> Result<(), HalError> {
        let core = &*self.core;
        if let Some(group) = launch.geometry.group {
            function.check_group(core, group)?;
        }
        let (mut passed, mut accesses) = (Passed::new(launch.scalars), Accesses::new());
        self.pass(launch, others, &mut passed, &mut accesses)?;
        self.open_now(state)?.accesses(core, Kinds::of(Kind::Compute), &accesses);
        for (built, columns) in parts(core, function, launch)?.into_iter().flatten() {
            self.part(state, tick, (launch, built), columns, &mut passed)?;
        }
        Ok(())
    }

    /// The arguments of a launch, and the buffers that it uses. In place: both are large.
    fn pass(
        &self,
        launch: &LaunchRequest<'_>,
        others: &[Option<u64>],
        passed: &mut Passed<'_>,
        accesses: &mut Accesses,
    ) -> Result<(), HalError> {
        for (at, param) in launch.params.iter().enumerate() {
            passed.params.push(param.at(null_mut()));
            if let Some(address) = others.get(at).copied().flatten() {
                passed.pointers.push(address);
                continue;
            }
            match self.param_block(param)? {
                Some(block) => {
                    passed.pointers.push(block.address + param.mem.offset);
                    accesses.push((block.key(), param.write));
                }
                None => passed.pointers.push(0),
            }
        }
        Ok(())
    }

    /// Where a parameter is; nowhere if nothing of it is accessed.
    fn param_block(&self, param: &Param) -> Result<Option<Arc<Block>>, HalError> {
        match param.mem.base {
            MemBase::Device { handle, .. } => self.core.memory.find(handle).map(Some),
            MemBase::Host(HostPtr(at)) if at.is_null() => Ok(None),
            MemBase::Host(_) => Err(HalError::unsupported("a parameter in memory of the host")),
        }
    }

    /// A launch, as far as it is of these columns.
    fn part(
        &self,
        state: &mut LaneState,
        tick: Tick,
        (launch, built): (&LaunchRequest<'_>, &Built),
        columns: Range<u64>,
        passed: &mut Passed<'_>,
    ) -> Result<(), HalError> {
        let (core, blocks) = (&*self.core, built.blocks(launch, columns)?);
        let reductions = &built.module.reductions;
        if blocks.total <= 1 || reductions.is_empty() {
            return self.dispatches(state, tick, built, &blocks, passed);
        }
        let memory = |reduction: &Reduction| memory_of(&built.module.layout, reduction.param);
        if passed.leaves(memory(&reductions[0])?) {
            return self.dispatches(state, tick, built, &blocks, passed);
        }
        let mut rooms = vec![];
        for reduction in reductions {
            let memory = memory(reduction)?;
            let room = state.scratch.room(blocks.total, reduction.bytes.into(), |bytes| {
                let layout = (bytes, 256);
                core.memory.block(&core.device, AllocKind::Device, layout, "folio reduction")
            })?;
            let end = passed.redirect(memory, room.first().address)?;
            rooms.push((room, end));
        }
        // The memory may be that of the launch before.
        self.open_now(state)?.barrier(core, BETWEEN_DISPATCHES);
        self.dispatches(state, tick, built, &blocks, passed)?;
        for (at, (room, (end, place))) in rooms.into_iter().enumerate() {
            // A result that nobody wants has no place.
            let values = if end == 0 { 1 } else { blocks.total };
            room.passes(values, |from, into, [left, next]| {
                let (target, first) = into.map_or((end, place), |into| (into.address, 0));
                let words = [from.address, target, left, first];
                self.finish(state, built, at + 1, &words, next)
            })?;
            let gone = state.scratch.keep(room);
            let batch = self.open_now(state)?;
            gone.into_iter().for_each(|block| batch.keep(block));
        }
        Ok(())
    }

    /// A pass of the end of a reduction.
    fn finish(
        &self,
        state: &mut LaneState,
        built: &Built,
        entry: usize,
        words: &[u64],
        blocks: u64,
    ) -> Result<(), HalError> {
        let core = &*self.core;
        if blocks > core.target.most_blocks[0] {
            return Err(beyond());
        }
        let pipeline = built.pipeline(core, entry, [built.lanes(), 1, 1])?;
        let piece = self.piece(state, words.len())?;
        piece.write(words);
        let batch = self.open_now(state)?;
        batch.barrier(core, BETWEEN_DISPATCHES);
        dispatch(core, batch, pipeline, piece.address, [blocks as u32, 1, 1]);
        Ok(())
    }

    /// The kernel's own blocks, in as many dispatches as the device needs.
    fn dispatches(
        &self,
        state: &mut LaneState,
        tick: Tick,
        built: &Built,
        blocks: &Blocks,
        passed: &Passed<'_>,
    ) -> Result<(), HalError> {
        let core = &*self.core;
        let pipeline = built.pipeline(core, 0, sizes(blocks.threads))?;
        let record = match built.module.layout.verdict {
            true => {
                let piece = self.records(state, 1)?;
                piece.write(&[0; Record::WORDS]);
                self.open_now(state)?.record_of(tick, piece, built.module.clone());
                piece.address
            }
            false => 0,
        };
        let mut words: SmallVec<[u64; 32]> = SmallVec::new();
        blocks.split(most_blocks(core), |grid, count| {
            let count = sizes(count);
            fill(passed, built, record, grid, &mut words);
            let piece = self.piece(state, words.len())?;
            piece.write(&words);
            if let Some(all) = &mut state.words {
                let Piece { buffer, offset, .. } = piece;
                all.push(Words { tick, pipeline, count, record, buffer, offset });
            }
            dispatch(core, self.open_now(state)?, pipeline, piece.address, count);
            Ok(())
        })
    }

    /// The words that the dispatches of a launch read in place of those of a recorded launch, and
    /// the buffers that they use. Nothing if the two differ by more than words.
    pub(crate) fn patches(
        &self,
        (function, launch): (&LoadedKernel, &LaunchRequest<'_>),
        recorded: &[Words],
        uses: &mut Used,
    ) -> Result<Option<Vec<Patch>>, HalError> {
        let mut passed = Passed::new(launch.scalars);
        let mut accesses = Accesses::new();
        self.pass(launch, &[], &mut passed, &mut accesses)?;
        uses.add(&accesses);
        let (mut all, mut left, mut same) = (vec![], recorded.iter(), true);
        let mut words: SmallVec<[u64; 32]> = SmallVec::new();
        for (built, columns) in parts(&self.core, function, launch)?.into_iter().flatten() {
            let blocks = built.blocks(launch, columns)?;
            let pipeline = built.pipeline(&self.core, 0, sizes(blocks.threads))?;
            blocks.split(most_blocks(&self.core), |grid, count| {
                let count = sizes(count);
                let own = left.next();
                let own = own.filter(|own| (own.pipeline, own.count) == (pipeline, count));
                same &= own.is_some();
                if let Some(Words { buffer, offset, record, .. }) = own {
                    fill(&passed, built, *record, grid, &mut words);
                    let bytes = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                    all.push(Patch { buffer: *buffer, offset: *offset, bytes });
                }
                Ok(())
            })?;
        }
        Ok(Some(all).filter(|_| same && left.next().is_none()))
    }
}

/// Between dispatches that share memory of the lane's own.
const BETWEEN_DISPATCHES: Barrier =
    Barrier { from: Kinds::of(Kind::Compute), to: Kinds::of(Kind::Compute) };

/// A recorded dispatch, and where it reads its words.
pub(crate) struct Words {
    pub(crate) tick: Tick,
    pipeline: vk::Pipeline,
    count: [u32; 3],
    /// The address of its record.
    record: u64,
    pub(crate) buffer: vk::Buffer,
    offset: u64,
}

/// Bytes that take the place of others before a replay.
pub(crate) struct Patch {
    pub(crate) buffer: vk::Buffer,
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Patch {
    /// More bytes follow at once, within so many; or behind what fills up its piece.
    pub(crate) fn takes(&self, offset: u64, more: usize, most: usize) -> bool {
        let end = self.offset + self.bytes.len() as u64;
        offset >= end && offset < end + 16 && (offset - self.offset) as usize + more <= most
    }
}

/// Writes the words of a dispatch, whose record is there.
fn fill(
    passed: &Passed<'_>,
    built: &Built,
    record: u64,
    grid: &Grid,
    words: &mut SmallVec<[u64; 32]>,
) {
    words.clear();
    words.extend_from_slice(&passed.pointers);
    words.push(record);
    built.module.layout.fill(grid, &passed.params, passed.scalars, words);
}

/// The modules of a launch, and which columns each computes.
fn parts<'f>(
    core: &Core,
    function: &'f LoadedKernel,
    launch: &LaunchRequest<'_>,
) -> Result<Parts<&'f Built>, HalError> {
    let proved = launch.proved && !core.target.checked;
    let units = u64::from(core.info.compute_units);
    launch::parts(&function.texts, launch.geometry, (units, proved), Some, Ok)
}

/// Blocks of a dispatch at most, the slowest dimension first.
fn most_blocks(core: &Core) -> [u64; 3] {
    let [x, y, z] = core.target.most_blocks;
    [z, y, x]
}

/// How many records a launch has.
pub(crate) fn records(core: &Core, function: &LoadedKernel, launch: &LaunchRequest<'_>) -> usize {
    let parts = parts(core, function, launch).into_iter().flatten().flatten();
    parts.filter(|(built, _)| built.module.layout.verdict).count()
}

pub(crate) fn dispatch(
    core: &Core,
    batch: &mut Batch,
    pipeline: vk::Pipeline,
    address: u64,
    [x, y, z]: [u32; 3],
) {
    batch.bind(core, pipeline);
    batch.counts.dispatches += 1;
    let (device, commands) = (&core.device, batch.commands);
    let stage = vk::ShaderStageFlags::COMPUTE;
    // SAFETY: the command buffer is being recorded; the pipeline is of this device and takes one
    // address, that of its words, which stay until the batch has ended.
    unsafe {
        device.cmd_push_constants(commands, core.layout, stage, 0, &address.to_ne_bytes());
        device.cmd_dispatch(commands, x, y, z);
    }
}
