//! Fused kernels on devices that run the host's code. A thread takes a piece of the items and runs
//! each of the kernels on it, in turn. What a kernel leaves for the next one is still in the cache.
//! A memory that only these kernels use is scratch of the thread, and is not allocated.
//!
//! [`folio_kernel::fuse`] has shown that the results are those of the kernels one after the other:
//! at each element that one of them writes, an item or a group meets only itself.

use crate::engine::kernels::fused::NativeChain;
use crate::engine::kernels::launch::{Function, Launch, Scalars};
use crate::geom::{Box3, Dims};
use crate::hal::{BlockKernel, Geometry, NativeKernel, Param, ParamPtr, Verdict};
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// Bytes of all memories that a piece uses: they fit into a second-level cache. In pieces for a
/// first-level cache, calls and what begins and ends a piece cost more than that cache gains.
const PIECE_BYTES: usize = 512 << 10;
/// With fewer items, calls cost more than the cache gains: a call of a kernel is some 30 ns.
const FEWEST_ITEMS: usize = 256;
/// More items gain nothing, however few bytes each of them uses.
const MOST_ITEMS: usize = 32768;

/// Kernel functions that run one after the other on each piece of the items.
pub(crate) struct Chain {
    stages: Vec<Stage>,
    scratch: Vec<Scratch>,
    /// Items of a group, which stay together; ones without groups.
    group: Dims,
    /// Items of a piece, about.
    items: usize,
    /// Of what the kernels are; equal ones take about the same time.
    number: u64,
}

/// One of the kernels, and what it is called with.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) function: Function,
    pub(crate) geometry: Geometry,
    pub(crate) scalars: Scalars,
    /// Those that are memory, and where that is.
    pub(crate) params: Vec<(Param, At)>,
}

/// Where the memory of a stage's parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// It is this parameter of the launch.
    Param(usize),
    /// It is this scratch.
    Scratch(usize),
}

/// Memory that a piece has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scratch {
    pub(crate) element_bytes: usize,
    /// It has an element for each group, and not for each item.
    pub(crate) of_groups: bool,
    /// A kernel may read elements that no kernel has written: these are zero.
    pub(crate) zeroed: bool,
}

impl Chain {
    /// Kernels in their order. `element_bytes` are those of the launch's parameters.
    pub(crate) fn new(
        stages: Vec<Stage>,
        scratch: Vec<Scratch>,
        (group, element_bytes): (Option<Dims>, &[usize]),
        number: u64,
    ) -> Chain {
        let of_scratch = scratch.iter().map(|scratch| scratch.element_bytes);
        let bytes = element_bytes.iter().copied().chain(of_scratch).sum::<usize>().max(1);
        let items = (PIECE_BYTES / bytes).clamp(FEWEST_ITEMS, MOST_ITEMS);
        Chain { stages, scratch, group: group.unwrap_or([1; 3]), items, number }
    }

    /// Bytes of the scratch of so many items, and where each begins: in lines of the cache.
    fn places(&self, items: usize) -> (SmallVec<[usize; 8]>, usize) {
        let mut end = 0;
        let places = self.scratch.iter().map(|scratch| {
            let first = end;
            end += (items * scratch.element_bytes).div_ceil(size_of::<Line>());
            first * size_of::<Line>()
        });
        (places.collect(), end)
    }
}

impl NativeChain for Chain {
    fn native(self: Arc<Self>) -> Option<NativeKernel> {
        let kernels: Option<Vec<NativeKernel>> = self.stages.iter().map(Stage::native).collect();
        let kernels = kernels?;
        let grain = kernels.iter().map(NativeKernel::grain).max().unwrap_or(1);
        Some(NativeKernel::new(Running { chain: self, kernels, grain }))
    }

    fn with_scalars(&self, mut words: &[u64]) -> Arc<dyn NativeChain> {
        let Chain { scratch, group, items, number, .. } = self;
        let mut stages = self.stages.clone();
        for stage in &mut stages {
            let count = stage.scalars.len().min(words.len());
            let (own, others) = words.split_at(count);
            stage.scalars = Scalars::from_slice(own);
            words = others;
        }
        let (scratch, group) = (scratch.clone(), *group);
        Arc::new(Chain { stages, scratch, group, items: *items, number: *number })
    }
}

impl Stage {
    fn native(&self) -> Option<NativeKernel> {
        let mut launch = Launch::new(self.geometry);
        launch.scalars.extend_from_slice(&self.scalars);
        launch.params.extend(self.params.iter().map(|(param, _)| *param));
        (self.function.native)(self.function.code, &mut launch);
        let kernel = launch.kernel.take();
        launch.recycle();
        kernel
    }
}

impl Scratch {
    /// As a parameter that a kernel finds it by, for a piece of the items.
    fn param(&self, of: &Param, base: *mut u8, piece: &Piece<'_>) -> ParamPtr {
        let Box3 { min, max } = piece.items;
        let group = if self.of_groups { piece.group } else { [1; 3] };
        // Elements at items' positions count from the offset, those of groups from 0.
        let first = if self.of_groups { [0; 3] } else { piece.offset };
        let index = std::array::from_fn(|dim| first[dim] + min[dim] / group[dim]);
        let extent = std::array::from_fn(|dim| (max[dim] - min[dim]) / group[dim]);
        ParamPtr { base, dims: extent, origin: [0; 3], extent, index, shape: of.shape }
    }
}

/// Items that are computed by all kernels before others are.
struct Piece<'c> {
    items: Box3,
    offset: Dims,
    group: Dims,
    places: &'c [usize],
}

/// A chain in one run.
struct Running {
    chain: Arc<Chain>,
    kernels: Vec<NativeKernel>,
    grain: usize,
}

impl Running {
    /// Items of a piece of a block: whole groups, and contiguous in the order of items.
    fn extent(&self, block: Dims) -> Dims {
        let Chain { group, items, .. } = *self.chain;
        let mut extent: Dims = std::array::from_fn(|dim| group[dim].min(block[dim]));
        for dim in (0..3).rev() {
            let others = extent.iter().product::<usize>() / extent[dim].max(1);
            let unit = match group {
                [1, 1, 1] if self.grain > 1 => rows_of(self.grain, others),
                // Whole vectors.
                [_, _, 1] if dim == 2 => 64,
                _ => group[dim].max(1),
            };
            extent[dim] = evenly(block[dim], (items / others.max(1)).max(1), unit);
            if extent[dim] < block[dim] {
                break;
            }
        }
        extent
    }

    /// # Safety
    /// As [`BlockKernel::run`], for the piece; the scratch is as long as [`Chain::places`] says for
    /// its items, and no other code uses it.
    unsafe fn piece(&self, params: &[ParamPtr], piece: &Piece<'_>, scratch: *mut u8) -> Verdict {
        let chain = &*self.chain;
        let at = |nth: usize| scratch.wrapping_add(piece.places[nth]);
        for (nth, memory) in chain.scratch.iter().enumerate().filter(|(_, memory)| memory.zeroed) {
            let bytes = piece.items.volume() * memory.element_bytes;
            // SAFETY: the caller's promise: it is that long.
            unsafe { at(nth).write_bytes(0, bytes) };
        }
        for (stage, kernel) in chain.stages.iter().zip(&self.kernels) {
            let items = piece.items.intersect(&Box3::whole(stage.geometry.range));
            if items.is_empty() {
                continue;
            }
            let given = stage.params.iter().map(|(param, place)| match *place {
                At::Param(nth) => {
                    param.at(params.get(nth).map_or(std::ptr::null_mut(), |p| p.base))
                }
                At::Scratch(nth) => chain.scratch[nth].param(param, at(nth), piece),
            });
            let given: SmallVec<[ParamPtr; 8]> = given.collect();
            // SAFETY: the parameters are the kernel's, at the launch's memory or in scratch of this
            // piece's elements, which the kernel accesses no others of (`fuse::Home`). Fusion has
            // shown that pieces do not meet; the rest is the caller's promise.
            unsafe { kernel.run(&given, &items)? };
        }
        Ok(())
    }
}

impl BlockKernel for Running {
    unsafe fn run(&self, params: &[ParamPtr], block: &Box3) -> Verdict {
        let chain = &*self.chain;
        let extent = self.extent(block.extent());
        let (places, lines) = chain.places(extent.iter().product());
        let mut scratch = Lent::of(lines);
        let offset = chain.stages.first().map_or([0; 3], |stage| stage.geometry.offset);
        let steps = |dim: usize| (block.min[dim]..block.max[dim]).step_by(extent[dim].max(1));
        for x in steps(0) {
            for y in steps(1) {
                for z in steps(2) {
                    let (min, group) = ([x, y, z], chain.group);
                    let end = |dim: usize| (min[dim] + extent[dim]).min(block.max[dim]);
                    let items = Box3 { min, max: std::array::from_fn(end) };
                    let piece = Piece { items, offset, group, places: &places };
                    // SAFETY: the caller's promise; pieces are parts of the block. The scratch is
                    // this call's, and as long as a whole piece needs.
                    unsafe { self.piece(params, &piece, scratch.start())? };
                }
            }
        }
        Ok(())
    }

    fn begin(&self) {
        self.kernels.iter().for_each(NativeKernel::begin);
    }

    fn grain(&self) -> usize {
        self.grain
    }

    fn number(&self) -> u64 {
        self.chain.number
    }
}

/// How many of `all` a piece has: whole units, about `wanted`, and in each piece as many. What
/// begins and ends a piece costs as much for a short last one.
fn evenly(all: usize, wanted: usize, unit: usize) -> usize {
    let wanted = wanted.next_multiple_of(unit);
    let pieces = all.saturating_add(wanted / 2) / wanted;
    all.div_ceil(pieces.max(1)).next_multiple_of(unit).min(all)
}

/// How many rows of so many items are a multiple of what is reduced together; 1 where that would be
/// too many.
fn rows_of(grain: usize, items: usize) -> usize {
    let common = 1 << (grain | items.max(1)).trailing_zeros();
    if grain / common * items <= MOST_ITEMS { grain / common } else { 1 }
}

/// A line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "memory of kernels, which use its address")] [u8; 64]);

thread_local! {
    /// What a thread computes pieces in, kept for the next ones.
    static LINES: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// A thread's scratch, for the length of a call.
struct Lent(Vec<Line>);

impl Lent {
    fn of(lines: usize) -> Lent {
        // A thread that is ending has none, and a call within another one finds it taken.
        let mut all = LINES.try_with(Cell::take).unwrap_or_default();
        if all.len() < lines {
            all.resize(lines, Line([0; 64]));
        }
        Lent(all)
    }

    fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let _ = LINES.try_with(|kept| kept.set(std::mem::take(&mut self.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_block_are_about_as_long_as_each_other() {
        assert_eq!([25, 8, 12, 13, 1, 0].map(|rows| evenly(rows, 8, 1)), [9, 8, 6, 7, 1, 0]);
        assert_eq!([1000, 65, 64, 100_000].map(|n| evenly(n, 8192, 64)), [1000, 65, 64, 8384]);
        assert_eq!(evenly(1 << 20, 5000, 4096), 8192);
        assert_eq!(evenly(usize::MAX, 8192, 64) % 64, 0);
    }
}
