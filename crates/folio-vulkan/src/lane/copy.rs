//! Copies and fills by commands of the device. Copies by the host are in
//! [`pageable`](crate::memory::pageable).

use crate::device::queues::Use;
use crate::kernels::module::LoadedKernel;
use crate::lane::barriers::{Kind, Kinds};
use crate::lane::jobs::LaunchRequest;
use crate::lane::{LaneState, VulkanLane};
use crate::memory::Block;
use ash::vk;
use folio_core::hal::{CopyRect, FillRect, Geometry, HalError, MemBase, MemRef, Param, Tick};
use folio_driver::arguments::words;
use folio_driver::rect::Rect;
use folio_kernel::{Access, Builder, Kernel, Op, Owner, Scalar};
use smallvec::SmallVec;
use std::sync::Arc;

/// Regions of one command, at most.
pub(crate) const REGIONS: usize = 1024;
/// Bytes of which commands fill a multiple, from such a multiple on.
const WORD: u64 = 4;
/// Bytes of patterns that are copied at once, about.
const PATTERNS: usize = 4096;

impl VulkanLane {
    /// Records a copy between memory of the device, of rectangles that may all be copied at once.
    pub(crate) fn copy(&self, state: &mut LaneState, rects: &[CopyRect]) -> Result<(), HalError> {
        let ends = rects.iter().map(|rect| Ok((self.block(&rect.src)?, self.block(&rect.dst)?)));
        let ends = ends.collect::<Result<SmallVec<[_; 4]>, HalError>>()?;
        let uses = |(from, to): &(Arc<Block>, Arc<Block>)| [(from.key(), false), (to.key(), true)];
        let uses: SmallVec<[_; 8]> = ends.iter().flat_map(uses).collect();
        let batch = self.open_now(state)?;
        batch.accesses(&self.core, Kinds::of(Kind::Transfer), &uses);
        for (rect, (from, to)) in rects.iter().zip(&ends) {
            let rows = regions(&Rect::from(rect), [from.ahead, to.ahead]);
            self.copy_regions(batch.commands, (from.buffer, to.buffer), rows);
        }
        Ok(())
    }

    /// Records so many regions, in commands of as many as one takes.
    fn copy_regions(
        &self,
        commands: vk::CommandBuffer,
        (from, to): (vk::Buffer, vk::Buffer),
        mut left: impl Iterator<Item = vk::BufferCopy>,
    ) {
        loop {
            let regions: Vec<_> = left.by_ref().take(REGIONS).collect();
            if regions.is_empty() {
                return;
            }
            // SAFETY: within the buffers, without overlap (the HAL's contract); the command buffer
            // is being recorded.
            unsafe { self.core.device.cmd_copy_buffer(commands, from, to, &regions) };
        }
    }

    /// Records a copy between two buffers that nothing else in the batch uses, so many bytes ahead.
    pub(crate) fn copy_part(
        &self,
        state: &mut LaneState,
        buffers: (vk::Buffer, vk::Buffer),
        ahead: [u64; 2],
        part: &Rect,
    ) -> Result<(), HalError> {
        let commands = self.open_now(state)?.commands;
        self.copy_regions(commands, buffers, regions(part, ahead));
        Ok(())
    }

    pub(crate) fn block(&self, at: &MemRef) -> Result<Arc<Block>, HalError> {
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

    /// A command fills whole words, where patterns are such. A kernel for others needs bytes.
    fn kind_of_fill(&self, rect: &FillRect, to: &Block, pattern: &[u8]) -> Kind {
        let words = word_of(pattern).is_some() && is_aligned(rect) && to.ahead.is_multiple_of(WORD);
        match self.queue {
            Use::Compute if !words && self.core.target.capabilities.int8 => Kind::Compute,
            _ => Kind::Transfer,
        }
    }

    /// Records fills: by commands where patterns are whole words, else by a kernel.
    pub(crate) fn fill(
        &self,
        state: &mut LaneState,
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
            self.open_now(state)?.accesses(&self.core, Kinds::of(kind), &uses);
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
        state: &mut LaneState,
        (rect, to): (&FillRect, &Block),
        word: u32,
    ) -> Result<(), HalError> {
        let commands = self.open_now(state)?.commands;
        for row in Rect::from(rect).rows() {
            let (device, offset) = (&self.core.device, to.ahead + row.dst);
            // SAFETY: within the buffer, in whole words; the command buffer is being recorded.
            unsafe { device.cmd_fill_buffer(commands, to.buffer, offset, row.bytes, word) };
        }
        Ok(())
    }

    /// On a queue without kernels: by copies of a piece that has the pattern many times.
    fn fill_by_copies(
        &self,
        state: &mut LaneState,
        (rect, to): (&FillRect, &Block),
        pattern: &[u8],
    ) -> Result<(), HalError> {
        let length = pattern.len().max(1);
        let bytes = length * (PATTERNS / length).max(1);
        let source = self.piece(state, bytes.div_ceil(8))?;
        let repeated: Vec<u8> = pattern.iter().copied().cycle().take(bytes).collect();
        source.write(&words(&repeated).collect::<Vec<_>>());
        let (commands, bytes) = (self.open_now(state)?.commands, bytes as u64);
        for row in Rect::from(rect).rows() {
            let region = |nth| {
                let ahead = nth * bytes;
                vk::BufferCopy::default()
                    .src_offset(source.offset)
                    .dst_offset(to.ahead + row.dst + ahead)
                    .size(bytes.min(row.bytes - ahead))
            };
            let all = (0..row.bytes.div_ceil(bytes)).map(region);
            self.copy_regions(commands, (source.buffer, to.buffer), all);
        }
        Ok(())
    }

    /// A launch for each slice: the distance of slices need be no multiple of rows'.
    fn fill_by_kernel(
        &self,
        state: &mut LaneState,
        tick: Tick,
        (rect, to): (&FillRect, &Block),
        pattern: &[u8],
    ) -> Result<(), HalError> {
        let made = self.core.fill.get_or_init(|| {
            let kernel = fill_kernel()?;
            LoadedKernel::new(&self.core, &kernel).map(Arc::new)
        });
        let function = made.clone()?;
        let [slices, rows, bytes] = rect.extent;
        let (rows, bytes) = (rows as usize, bytes as usize);
        let pitch = if rows == 1 { bytes } else { rect.pitch[1] as usize };
        let words: Vec<u64> = words(pattern).collect();
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
            let launch = LaunchRequest {
                geometry: &Geometry::new(2, [1, rows, bytes]),
                params: &[param, of_pattern],
                scalars: &[],
                proved: true,
                arguments: &[],
            };
            // The fill has had its barrier.
            let places = [Some(to.address + offset), Some(source.address)];
            self.launch(state, tick, (&function, &launch), &places)?;
        }
        Ok(())
    }
}

/// The rows of a rectangle between buffers, so many bytes ahead.
fn regions(rect: &Rect, [from, to]: [u64; 2]) -> impl Iterator<Item = vk::BufferCopy> + use<> {
    rect.rows().map(move |row| {
        vk::BufferCopy::default()
            .src_offset(from + row.src)
            .dst_offset(to + row.dst)
            .size(row.bytes)
    })
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
