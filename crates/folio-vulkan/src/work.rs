//! Copies and fills: commands of the device, and what the host does.

use crate::barriers::{Kind, Kinds};
use crate::device::Core;
use crate::lane::{State, VulkanLane};
use crate::memory::Block;
use crate::module::Function;
use crate::queues::Use;
use ash::vk;
use folio_core::hal::{
    AllocKind, CopyRect, FillRect, Geometry, HalError, HostPtr, MemBase, MemRef, Param, Tick,
};
use folio_kernel::{Access, Builder, Kernel, Op, Owner, Scalar};
use smallvec::SmallVec;
use std::sync::Arc;

/// Regions of one command, at most.
const REGIONS: usize = 1024;
/// Bytes that go by way of memory that both reach, at a time.
const STAGE: u64 = 16 << 20;
/// Bytes of which commands fill a multiple, from such a multiple on.
const WORD: u64 = 4;
/// Bytes of patterns that are copied at once, about.
const PATTERNS: usize = 4096;

/// Contiguous bytes of a rectangle: where they are at both ends, in bytes from its own places.
#[derive(Clone, Copy)]
struct Line {
    from: u64,
    to: u64,
    bytes: u64,
}

/// How many lines a rectangle has.
fn lines(rect: &CopyRect) -> u64 {
    rect.rows()
}

fn line(rect: &CopyRect, at: u64) -> Line {
    let [slices, rows, bytes] = rect.extent;
    let count = lines(rect);
    let (per_line, rows) = match count {
        1 => (slices * rows * bytes, 1),
        _ if count == slices && rows > 1 => (rows * bytes, 1),
        _ => (bytes, rows),
    };
    let (slice, row) = (at / rows, at % rows);
    Line {
        from: rect.src.offset + slice * rect.src_pitch[0] + row * rect.src_pitch[1],
        to: rect.dst.offset + slice * rect.dst_pitch[0] + row * rect.dst_pitch[1],
        bytes: per_line,
    }
}

impl VulkanLane {
    /// Records a copy between memory of the device, of rectangles that may all be copied at once.
    pub(crate) fn copy(&self, state: &mut State, rects: &[CopyRect]) -> Result<(), HalError> {
        let ends = rects.iter().map(|rect| Ok((self.block(&rect.src)?, self.block(&rect.dst)?)));
        let ends = ends.collect::<Result<SmallVec<[_; 4]>, HalError>>()?;
        let uses = |(from, to): &(Arc<Block>, Arc<Block>)| [(from.key(), false), (to.key(), true)];
        let uses: SmallVec<[_; 8]> = ends.iter().flat_map(uses).collect();
        let batch = self.open_now(state)?;
        batch.accesses(&self.core, Kind::Transfer, &uses);
        for (rect, (from, to)) in rects.iter().zip(&ends) {
            let region = |at| {
                let line = line(rect, at);
                vk::BufferCopy::default()
                    .src_offset(from.ahead + line.from)
                    .dst_offset(to.ahead + line.to)
                    .size(line.bytes)
            };
            self.copy_regions(batch.commands, (from.buffer, to.buffer), lines(rect), region);
        }
        Ok(())
    }

    /// Records so many regions, in commands of as many as one takes.
    fn copy_regions(
        &self,
        commands: vk::CommandBuffer,
        (from, to): (vk::Buffer, vk::Buffer),
        count: u64,
        region: impl Fn(u64) -> vk::BufferCopy,
    ) {
        let mut left = 0..count;
        loop {
            let regions: Vec<_> = left.by_ref().take(REGIONS).map(&region).collect();
            if regions.is_empty() {
                return;
            }
            // SAFETY: within the buffers, without overlap (the HAL's contract); the command buffer
            // is being recorded.
            unsafe { self.core.device.cmd_copy_buffer(commands, from, to, &regions) };
        }
    }

    fn block(&self, at: &MemRef) -> Result<Arc<Block>, HalError> {
        match at.base {
            MemBase::Device { handle, .. } => self.core.memory.find(handle),
            MemBase::Host(_) => Err(HalError::unsupported("memory of the host")),
        }
    }

    /// Which kinds of operations fill these.
    pub(crate) fn kinds_of_fill(
        &self,
        rects: &[FillRect],
        pattern: &[u8],
    ) -> Result<Kinds, HalError> {
        rects.iter().try_fold(Kinds::default(), |all, rect| {
            let to = self.block(&rect.dst)?;
            Ok(all.and(Kinds::of(self.kind_of_fill(rect, &to, pattern))))
        })
    }

    /// A command fills whole words, where patterns are such.
    fn kind_of_fill(&self, rect: &FillRect, to: &Block, pattern: &[u8]) -> Kind {
        let words = word_of(pattern).is_some() && is_aligned(rect) && to.ahead.is_multiple_of(WORD);
        match self.queue {
            Use::Compute if !words => Kind::Compute,
            _ => Kind::Transfer,
        }
    }

    /// Records fills: by commands where patterns are whole words, else by a kernel.
    pub(crate) fn fill(
        &self,
        state: &mut State,
        tick: Tick,
        rects: &[FillRect],
        pattern: &[u8],
    ) -> Result<(), HalError> {
        let places = rects.iter().map(|rect| {
            let to = self.block(&rect.dst)?;
            Ok((self.kind_of_fill(rect, &to, pattern), to))
        });
        let places = places.collect::<Result<SmallVec<[_; 4]>, HalError>>()?;
        for kind in [Kind::Compute, Kind::Transfer] {
            let own = places.iter().filter(|(own, _)| *own == kind);
            let uses: SmallVec<[_; 4]> = own.map(|(_, to)| (to.key(), true)).collect();
            self.open_now(state)?.accesses(&self.core, kind, &uses);
        }
        for (rect, (kind, to)) in rects.iter().zip(&places) {
            match (kind, word_of(pattern).filter(|_| is_aligned(rect))) {
                (Kind::Compute, _) => self.fill_by_kernel(state, tick, (rect, to), pattern)?,
                (_, Some(word)) if to.ahead.is_multiple_of(WORD) => {
                    self.fill_by_command(state, (rect, to), word)?;
                }
                _ => self.fill_by_copies(state, (rect, to), pattern)?,
            }
        }
        Ok(())
    }

    fn fill_by_command(
        &self,
        state: &mut State,
        (rect, to): (&FillRect, &Block),
        word: u32,
    ) -> Result<(), HalError> {
        let (same, commands) = (as_copy(rect), self.open_now(state)?.commands);
        for at in 0..lines(&same) {
            let line = line(&same, at);
            let (device, offset) = (&self.core.device, to.ahead + line.to);
            // SAFETY: within the buffer, in whole words; the command buffer is being recorded.
            unsafe { device.cmd_fill_buffer(commands, to.buffer, offset, line.bytes, word) };
        }
        Ok(())
    }

    /// On a queue without kernels: by copies of a piece that has the pattern many times.
    fn fill_by_copies(
        &self,
        state: &mut State,
        (rect, to): (&FillRect, &Block),
        pattern: &[u8],
    ) -> Result<(), HalError> {
        let length = pattern.len().max(1);
        let bytes = length * (PATTERNS / length).max(1);
        let source = self.piece(state, bytes.div_ceil(8))?;
        let repeated: Vec<u8> = pattern.iter().copied().cycle().take(bytes).collect();
        source.write(&words_of(&repeated));
        let (same, commands, bytes) = (as_copy(rect), self.open_now(state)?.commands, bytes as u64);
        for at in 0..lines(&same) {
            let line = line(&same, at);
            let region = |nth| {
                let ahead = nth * bytes;
                vk::BufferCopy::default()
                    .src_offset(source.offset)
                    .dst_offset(to.ahead + line.to + ahead)
                    .size(bytes.min(line.bytes - ahead))
            };
            let count = line.bytes.div_ceil(bytes);
            self.copy_regions(commands, (source.buffer, to.buffer), count, region);
        }
        Ok(())
    }

    /// One launch for each slice: the distance of slices need be no multiple of rows'.
    fn fill_by_kernel(
        &self,
        state: &mut State,
        tick: Tick,
        (rect, to): (&FillRect, &Block),
        pattern: &[u8],
    ) -> Result<(), HalError> {
        let made = self.core.fill.get_or_init(|| {
            let kernel = fill_kernel()?;
            Function::new(&self.core, &kernel).map(Arc::new)
        });
        let function = made.clone()?;
        let [slices, rows, bytes] = rect.extent;
        let (rows, bytes) = (rows as usize, bytes as usize);
        let pitch = if rows == 1 { bytes } else { rect.pitch[1] as usize };
        let words = words_of(pattern);
        let source = self.piece(state, words.len())?;
        source.write(&words);
        for slice in 0..slices {
            let offset = rect.dst.offset + slice * rect.pitch[0];
            let param = Param {
                mem: MemRef { base: rect.dst.base, offset },
                size: 1,
                write: true,
                dims: [1, rows, pitch],
                origin: [0; 3],
                extent: [1, rows, bytes],
                index: [0; 3],
                shape: [1, rows, bytes],
            };
            let len = pattern.len();
            let of_pattern = Param {
                write: false,
                dims: [1, 1, len],
                extent: [1, 1, len],
                shape: [1, 1, len],
                ..param
            };
            let geometry = Geometry::new(2, [1, rows, bytes]);
            let launch = crate::lane::jobs::Launch {
                code: crate::device::Loaded::Function(function.clone()),
                geometry,
                params: vec![param, of_pattern],
                scalars: vec![],
                proved: true,
                arguments: vec![],
            };
            // The fill has had its barrier.
            let places = [Some(to.address + offset), Some(source.address)];
            self.launch(state, tick, (&function, &launch), &places)?;
        }
        Ok(())
    }
}

/// Bytes as words, the last one filled up with zeros.
fn words_of(bytes: &[u8]) -> Vec<u64> {
    let mut words = vec![0; bytes.len().div_ceil(8)];
    for (at, byte) in bytes.iter().enumerate() {
        words[at / 8] |= u64::from(*byte) << (8 * (at % 8));
    }
    words
}

/// The lines of a fill are those of a copy onto itself.
fn as_copy(rect: &FillRect) -> CopyRect {
    CopyRect {
        src: rect.dst,
        src_pitch: rect.pitch,
        dst: rect.dst,
        dst_pitch: rect.pitch,
        extent: rect.extent,
    }
}

/// `to[row, column] = pattern[column % length]`
fn fill_kernel() -> Result<Kernel, HalError> {
    let mut b = Builder::items("fill", 2);
    let to = b.view("to", Scalar::U8, 2, Access::Out, Owner::Item);
    let pattern = b.view("pattern", Scalar::U8, 1, Access::In, Owner::Item);
    let (row, column) = (b.position(0), b.position(1));
    let length = b.op(Op::Extent(pattern, 0));
    let at = b.binary(folio_kernel::Binary::Rem, column, length);
    let byte = b.load_at(pattern, [at]);
    b.store_at(to, [row, column], byte);
    b.finish().map_err(|error| HalError::unsupported(&error.to_string()))
}

/// A pattern that is one word, repeated.
fn word_of(pattern: &[u8]) -> Option<u32> {
    let word: [u8; 4] =
        std::array::from_fn(|at| pattern.get(at % pattern.len().max(1)).copied().unwrap_or(0));
    let repeats = pattern.iter().enumerate().all(|(at, byte)| *byte == word[at % 4]);
    (repeats && (4usize.is_multiple_of(pattern.len().max(1)) || pattern.len().is_multiple_of(4)))
        .then(|| u32::from_le_bytes(word))
}

fn is_aligned(rect: &FillRect) -> bool {
    let [slices, rows, bytes] = rect.extent;
    let mut all = vec![rect.dst.offset, bytes];
    all.extend((rows > 1).then_some(rect.pitch[1]));
    all.extend((slices > 1).then_some(rect.pitch[0]));
    all.iter().all(|n| n.is_multiple_of(WORD))
}

/// A copy with an end in the host's memory, as far as it has come.
pub(crate) struct HostCopy {
    rects: Vec<CopyRect>,
    rect: usize,
    /// The next line, and where in it to go on.
    line: u64,
    byte: u64,
    stage: Option<Stage>,
}

/// Bytes on their way, in memory that both reach.
struct Stage {
    block: Block,
    /// To the host: where they belong.
    lands: Vec<(*mut u8, u64, u64)>,
}

// SAFETY: addresses of the host's memory, which stays until the tick is reached (the HAL's
// contract), and which whoever runs the copy uses in the lane's order.
unsafe impl Send for HostCopy {}

/// One end of a line.
enum End {
    Host(*mut u8),
    Device(Arc<Block>),
}

impl HostCopy {
    pub(crate) fn new(rects: Vec<CopyRect>) -> HostCopy {
        HostCopy { rects, rect: 0, line: 0, byte: 0, stage: None }
    }

    /// Gives back what it used on the way.
    pub(crate) fn release(&mut self, core: &Core) {
        if let Some(stage) = self.stage.take() {
            core.memory.release(&core.device, stage.block);
        }
    }

    /// Goes on, where everything that was submitted has ended: true if it is done, false if the
    /// device has something to do for it.
    pub(crate) fn run(&mut self, lane: &VulkanLane, tick: Tick) -> Result<bool, HalError> {
        self.land(lane);
        while let Some(rect) = self.rects.get(self.rect).copied() {
            let (from, to) = (end(lane, &rect.src)?, end(lane, &rect.dst)?);
            match (from, to) {
                (End::Host(from), End::Host(to)) => self.by_host(&rect, from, to),
                (End::Host(from), End::Device(to)) => {
                    self.stage_up((lane, tick), &rect, from, &to)?;
                    return Ok(false);
                }
                (End::Device(from), End::Host(to)) => {
                    self.stage_down((lane, tick), &rect, &from, to)?;
                    return Ok(false);
                }
                (End::Device(_), End::Device(_)) => {
                    let mut state = lane.state();
                    lane.open_for_part(&mut state, tick)?;
                    lane.copy(&mut state, std::slice::from_ref(&rect))?;
                    self.next_rect();
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn next_rect(&mut self) {
        self.rect += 1;
        (self.line, self.byte) = (0, 0);
    }

    /// All of a rectangle, whose two ends are mapped.
    fn by_host(&mut self, rect: &CopyRect, from: *mut u8, to: *mut u8) {
        for at in 0..lines(rect) {
            let line = line(rect, at);
            let (from, to) =
                (from.wrapping_add(line.from as usize), to.wrapping_add(line.to as usize));
            // SAFETY: both are within memory that is there, do not overlap, and nobody else uses
            // them against the operation (the HAL's contract); what the device has written is
            // visible, since its batches have ended.
            unsafe { std::ptr::copy_nonoverlapping(from, to, line.bytes as usize) };
        }
        self.next_rect();
    }

    /// The next part of a rectangle, of so many bytes at most: its lines, and how many bytes.
    fn part(&mut self, rect: &CopyRect) -> (Vec<Line>, u64) {
        let (mut part, mut bytes) = (vec![], 0);
        while self.line < lines(rect) && bytes < STAGE && part.len() < REGIONS {
            let whole = line(rect, self.line);
            let left = whole.bytes - self.byte;
            let now = left.min(STAGE - bytes);
            part.push(Line { from: whole.from + self.byte, to: whole.to + self.byte, bytes: now });
            bytes += now;
            if now == left {
                (self.line, self.byte) = (self.line + 1, 0);
            } else {
                self.byte += now;
            }
        }
        if self.line == lines(rect) {
            self.next_rect();
        }
        (part, bytes)
    }

    /// Memory for so many bytes on their way.
    fn stage(&mut self, lane: &VulkanLane, bytes: u64) -> Result<(), HalError> {
        if self.stage.as_ref().is_some_and(|stage| stage.block.size < bytes) {
            self.release(&lane.core);
        }
        if self.stage.is_none() {
            let (memory, device) = (&lane.core.memory, &lane.core.device);
            let block = memory.block(device, AllocKind::Host, (bytes, 256), "folio staging")?;
            self.stage = Some(Stage { block, lands: vec![] });
        }
        Ok(())
    }

    fn stage_up(
        &mut self,
        (lane, tick): (&VulkanLane, Tick),
        rect: &CopyRect,
        from: *mut u8,
        to: &Arc<Block>,
    ) -> Result<(), HalError> {
        let (part, bytes) = self.part(rect);
        self.stage(lane, bytes)?;
        let none = || HalError::unsupported("memory without an address of the host");
        let stage = self.stage.as_ref().ok_or_else(none)?;
        let base = stage.block.host.ok_or_else(none)?.0;
        let (mut at, mut regions) = (0, vec![]);
        for line in part {
            let source = from.wrapping_add(line.from as usize);
            // SAFETY: the host's memory is there (the HAL's contract); the stage has room, and the
            // device does not use it now.
            unsafe {
                let target = base.wrapping_add(at as usize);
                std::ptr::copy_nonoverlapping(source, target, line.bytes as usize);
            }
            regions.push(
                vk::BufferCopy::default().src_offset(at).dst_offset(line.to).size(line.bytes),
            );
            at += line.bytes;
        }
        let mut state = lane.state();
        let commands = lane.open_for_part(&mut state, tick)?;
        // SAFETY: within both buffers; the stage stays until this has ended (`run`).
        unsafe {
            let (from, to) = (stage.block.buffer, to.buffer);
            lane.core.device.cmd_copy_buffer(commands, from, to, &regions);
        }
        Ok(())
    }

    fn stage_down(
        &mut self,
        (lane, tick): (&VulkanLane, Tick),
        rect: &CopyRect,
        from: &Arc<Block>,
        to: *mut u8,
    ) -> Result<(), HalError> {
        let (part, bytes) = self.part(rect);
        self.stage(lane, bytes)?;
        let Some(stage) = &mut self.stage else { return Ok(()) };
        let (mut at, mut regions) = (0, vec![]);
        for line in part {
            regions.push(
                vk::BufferCopy::default().src_offset(line.from).dst_offset(at).size(line.bytes),
            );
            stage.lands.push((to.wrapping_add(line.to as usize), at, line.bytes));
            at += line.bytes;
        }
        let mut state = lane.state();
        let commands = lane.open_for_part(&mut state, tick)?;
        // SAFETY: as above.
        unsafe {
            let (from, to) = (from.buffer, stage.block.buffer);
            lane.core.device.cmd_copy_buffer(commands, from, to, &regions);
        }
        Ok(())
    }

    /// What has come from the device goes where it belongs.
    fn land(&mut self, _: &VulkanLane) {
        let Some(stage) = &mut self.stage else { return };
        let Some(HostPtr(base)) = stage.block.host else { return };
        for (to, at, bytes) in stage.lands.drain(..) {
            // SAFETY: the host's memory is there (the HAL's contract); the device has ended.
            unsafe {
                let from = base.wrapping_add(at as usize);
                std::ptr::copy_nonoverlapping(from, to, bytes as usize);
            }
        }
    }
}

/// Where a place is: by an address of the host if there is one.
fn end(lane: &VulkanLane, at: &MemRef) -> Result<End, HalError> {
    match at.base {
        MemBase::Host(HostPtr(base)) => Ok(End::Host(base)),
        MemBase::Device { .. } => {
            let block = lane.block(at)?;
            Ok(match block.host {
                Some(HostPtr(base)) => End::Host(base),
                None => End::Device(block),
            })
        }
    }
}
