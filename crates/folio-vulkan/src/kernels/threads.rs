//! How a launch is cut into dispatches, and what each of them is given.

use crate::device::Core;
use crate::kernels::module::{Built, Function, sizes};
use crate::lane::barriers::{Barrier, Kind, Kinds, Used};
use crate::lane::batch::Batch;
use crate::lane::jobs::Asked;
use crate::lane::{State, VulkanLane};
use crate::memory::Block;
use crate::memory::arena::Piece;
use ash::vk;
use folio_core::hal::{HalError, HostPtr, MemBase, Param, ParamPtr, Tick};
use folio_kernel::emit::{COMBINED, Grid, Record, Threads};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// A launch's blocks, the slowest dimension first.
struct Blocks {
    /// Threads of a block.
    threads: [u64; 3],
    /// Items of a block, of which positions are multiples.
    items: [u64; 3],
    count: [u64; 3],
    grid: Grid,
}

fn beyond() -> HalError {
    HalError::unsupported("a launch of this size")
}

fn volume(dims: [u64; 3]) -> Option<u64> {
    dims.into_iter().try_fold(1, u64::checked_mul)
}

impl Built {
    fn blocks(&self, launch: &Asked<'_>, columns: Range<u64>) -> Result<Blocks, HalError> {
        let geometry = launch.geometry;
        let (range, offset) = (geometry.range.map(|n| n as u64), geometry.offset.map(|n| n as u64));
        let part = [range[0], range[1], columns.end - columns.start];
        let threads = self.module.layout.threads;
        let (own, all) = match (threads, geometry.group) {
            (Threads::Items { .. } | Threads::Rows, _) => (self.block, part),
            (Threads::Linear, _) => {
                let blocks = volume(range).ok_or_else(beyond)?.div_ceil(COMBINED);
                let lanes = u64::from(self.lanes());
                ([1, 1, lanes], [1, 1, blocks.checked_mul(lanes).ok_or_else(beyond)?])
            }
            (Threads::Groups, Some(group)) => (group.map(|n| n as u64), part),
            (Threads::Groups, None) => return Err(HalError::unsupported("groups of no size")),
        };
        let items = threads.items(own);
        let count = std::array::from_fn(|d| all[d].div_ceil(items[d]));
        volume(count).ok_or_else(beyond)?;
        let first = match threads {
            Threads::Items { .. } | Threads::Rows => {
                [offset[0], offset[1], offset[2] + columns.start]
            }
            Threads::Groups | Threads::Linear => [0; 3],
        };
        let step = match threads {
            Threads::Items { .. } | Threads::Rows => items,
            // They are counted in blocks.
            Threads::Groups | Threads::Linear => [1; 3],
        };
        let grid = Grid { first, range, offset, groups: count };
        Ok(Blocks { threads: own, items: step, count, grid })
    }
}

/// What a launch passes: the parameters that are memory, and where each begins.
struct Passed<'p> {
    params: SmallVec<[ParamPtr; 4]>,
    addresses: SmallVec<[u64; 4]>,
    scalars: &'p [u8],
}

/// Buffers, and whether they are written.
type Accesses = SmallVec<[(vk::Buffer, bool); 4]>;

impl VulkanLane {
    /// A launch, of which some parameters are at these addresses and not where they say: of memory
    /// that nothing else uses, or that has had its barrier.
    pub(crate) fn launch(
        &self,
        state: &mut State,
        tick: Tick,
        (function, launch): (&Function, &Asked<'_>),
        others: &[Option<u64>],
    ) -> Result<(), HalError> {
        let core = &*self.core;
        if let Some(group) = launch.geometry.group {
            function.check_group(core, group)?;
        }
        let (mut passed, mut accesses) = (Passed::new(launch), Accesses::new());
        self.pass(launch, others, &mut passed, &mut accesses)?;
        self.open_now(state)?.accesses(core, Kinds::of(Kind::Compute), &accesses);
        for (built, columns) in parts(core, function, launch).into_iter().flatten() {
            self.part(state, tick, (launch, built), columns, &mut passed)?;
        }
        Ok(())
    }

    /// What a launch passes, and which buffers it uses. In place: both are large.
    fn pass(
        &self,
        launch: &Asked<'_>,
        others: &[Option<u64>],
        passed: &mut Passed<'_>,
        accesses: &mut Accesses,
    ) -> Result<(), HalError> {
        for (at, param) in launch.params.iter().enumerate() {
            passed.params.push(placed(param));
            if let Some(address) = others.get(at).copied().flatten() {
                passed.addresses.push(address);
                continue;
            }
            match self.param_block(param)? {
                Some(block) => {
                    passed.addresses.push(block.address + param.mem.offset);
                    accesses.push((block.key(), param.write));
                }
                None => passed.addresses.push(0),
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
        state: &mut State,
        tick: Tick,
        (launch, built): (&Asked<'_>, &Built),
        columns: Range<u64>,
        passed: &mut Passed<'_>,
    ) -> Result<(), HalError> {
        let blocks = built.blocks(launch, columns)?;
        let count = volume(blocks.count).ok_or_else(beyond)?;
        let reductions = &built.module.reductions;
        if count <= 1 || reductions.is_empty() {
            return self.dispatches(state, tick, built, &blocks, passed);
        }
        let mut rooms = vec![];
        for reduction in reductions {
            let memory = built.module.layout.pointers.iter().position(|at| *at == reduction.param);
            let Some(memory) = memory else { continue };
            let bytes = |values: u64| values.checked_mul(reduction.bytes.into()).ok_or_else(beyond);
            let first = state.scratch.take(&self.core, bytes(count)?)?;
            let second = state.scratch.take(&self.core, bytes(count.div_ceil(COMBINED))?)?;
            let (Some(param), Some(address)) =
                (passed.params.get_mut(memory), passed.addresses.get_mut(memory))
            else {
                continue;
            };
            let place = param.start();
            param.origin = [0; 3];
            let end = std::mem::replace(address, first.address);
            rooms.push((first, second, (end, place)));
        }
        // The memory may be that of the launch before.
        self.open_now(state)?.barrier(&self.core, BETWEEN_DISPATCHES);
        self.dispatches(state, tick, built, &blocks, passed)?;
        for (at, (mut from, mut into, (end, place))) in rooms.into_iter().enumerate() {
            // A result that nobody wants has no place.
            let mut left = if end == 0 { 1 } else { count };
            while left > 1 {
                let next = left.div_ceil(COMBINED);
                let (target, first) = if next == 1 { (end, place) } else { (into.address, 0) };
                let words = [from.address, target, left, first];
                self.finish(state, built, at + 1, &words, next)?;
                std::mem::swap(&mut from, &mut into);
                left = next;
            }
            let mut much = state.scratch.keep(from);
            much.extend(state.scratch.keep(into));
            let batch = self.open_now(state)?;
            much.into_iter().for_each(|block| batch.keep(block));
        }
        Ok(())
    }

    /// One pass of the end of a reduction.
    fn finish(
        &self,
        state: &mut State,
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
        state: &mut State,
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
        blocks.dispatches(core, |grid, count| {
            passed.words(built, record, &grid, &mut words);
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

    /// What the dispatches of a launch read in place of the words of a recorded one, and which
    /// buffers they use. Nothing if the two differ by more than words.
    pub(crate) fn patches(
        &self,
        (function, launch): (&Function, &Asked<'_>),
        recorded: &[Words],
        uses: &mut Used,
    ) -> Result<Option<Vec<Patch>>, HalError> {
        let mut passed = Passed::new(launch);
        let mut accesses = Accesses::new();
        self.pass(launch, &[], &mut passed, &mut accesses)?;
        uses.add(&accesses);
        let (mut all, mut left, mut same) = (vec![], recorded.iter(), true);
        let mut words: SmallVec<[u64; 32]> = SmallVec::new();
        for (built, columns) in parts(&self.core, function, launch).into_iter().flatten() {
            let blocks = built.blocks(launch, columns)?;
            let pipeline = built.pipeline(&self.core, 0, sizes(blocks.threads))?;
            blocks.dispatches(&self.core, |grid, count| {
                let own = left.next();
                let own = own.filter(|own| (own.pipeline, own.count) == (pipeline, count));
                same &= own.is_some();
                if let Some(Words { buffer, offset, record, .. }) = own {
                    passed.words(built, *record, &grid, &mut words);
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

impl<'p> Passed<'p> {
    fn new(launch: &Asked<'p>) -> Passed<'p> {
        let (params, addresses) = (SmallVec::new(), SmallVec::new());
        Passed { params, addresses, scalars: launch.scalars }
    }

    /// What a dispatch reads, whose record is there.
    fn words(&self, built: &Built, record: u64, grid: &Grid, words: &mut SmallVec<[u64; 32]>) {
        words.clear();
        words.extend_from_slice(&self.addresses);
        words.push(record);
        built.module.layout.fill(grid, &self.params, self.scalars, words);
    }
}

/// The modules of a launch, and which columns each computes.
fn parts<'f>(
    core: &Core,
    function: &'f Function,
    launch: &Asked<'_>,
) -> [Option<(&'f Built, Range<u64>)>; 2] {
    let proved = launch.proved && !core.target.checked;
    let chosen = function.chosen(core, launch.geometry, proved);
    let from = chosen.tiled.map_or(0, |(_, columns)| columns);
    let rest = from..launch.geometry.range[2] as u64;
    [chosen.tiled.map(|(tiled, columns)| (tiled, 0..columns)), chosen.rest.map(|own| (own, rest))]
}

/// How many records a launch has.
pub(crate) fn records(core: &Core, function: &Function, launch: &Asked<'_>) -> usize {
    let parts = parts(core, function, launch).into_iter().flatten();
    parts.filter(|(built, _)| built.module.layout.verdict).count()
}

impl Blocks {
    /// In as many dispatches as the device needs: the grid of each, and its blocks by the device's
    /// axes.
    fn dispatches(
        &self,
        core: &Core,
        mut each: impl FnMut(Grid, [u32; 3]) -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        let [x, y, z] = core.target.most_blocks;
        let most = [z, y, x];
        if self.count.iter().zip(most).all(|(count, most)| (1..=most).contains(count)) {
            let [z, y, x] = self.count.map(|count| count as u32);
            return each(self.grid, [x, y, z]);
        }
        let steps = |d: usize| (0..self.count[d]).step_by(most[d].max(1) as usize);
        for slice in steps(0) {
            for row in steps(1) {
                for column in steps(2) {
                    let begin = [slice, row, column];
                    let mut grid = self.grid;
                    let ahead = begin.iter().zip(self.items).map(|(begin, items)| begin * items);
                    grid.first.iter_mut().zip(ahead).for_each(|(first, ahead)| *first += ahead);
                    let now = |d: usize| (self.count[d] - begin[d]).min(most[d]) as u32;
                    each(grid, [now(2), now(1), now(0)])?;
                }
            }
        }
        Ok(())
    }
}

/// A parameter whose address says where it begins.
fn placed(param: &Param) -> ParamPtr {
    param.at(std::ptr::null_mut())
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
