//! Fused kernels on devices that run the host's code. A thread takes a piece of the items and runs
//! each of the kernels on it, in turn. What a kernel leaves for the next one is still in the cache.
//! A memory that only these kernels use is scratch of the thread, and is not allocated.
//!
//! [`folio_kernel::fuse`] has shown that the results are those of the kernels one after the other:
//! at each element that one of them writes, an item or a group meets only itself.
//!
//! A kernel that others compute where they load what it gives runs before them, in each piece, for
//! the elements that these may load there ([`Code::read_box`](folio_kernel::code::Code::read_box)).

use crate::call::read_box;
use crate::engine::kernels::fused::NativeChain;
use crate::engine::kernels::launch::{Function, Launch, Scalars};
use crate::geom::{Box3, Dims};
use crate::hal::{BlockKernel, Geometry, NativeKernel, Param, ParamPtr, Verdict};
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// Bytes of all memories that a piece uses: they fit into a second-level cache. In pieces for a
/// first-level cache, calls and what begins and ends a piece cost more than that cache gains, in
/// most chains.
const PIECE_BYTES: usize = 512 << 10;
/// The same where kernels without reductions use scratch again that others have done with: about a
/// first-level cache. Ten kernels over 2^16 elements take 0.67 of the time.
const NEAR_BYTES: usize = 64 << 10;
/// With fewer items, calls cost more than the cache gains: a call of a kernel is some 30 ns.
const FEWEST_ITEMS: usize = 256;
/// More items gain nothing, however few bytes each of them uses.
const MOST_ITEMS: usize = 32768;

/// Kernel functions that run one after the other on each piece of the items.
pub(crate) struct Chain {
    stages: Vec<Stage>,
    scratch: Vec<Scratch>,
    /// By scratch: its place. Scratch that is not in use at the same time shares one.
    places: Vec<usize>,
    /// Items of a group, which stay together; ones without groups.
    group: Dims,
    /// Items of a piece, about; and of one for a first-level cache, where that pays.
    items: usize,
    near: Option<usize>,
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
    /// The numbers of these among the kernel's parameters.
    pub(crate) numbers: Vec<usize>,
    /// The stage runs for the elements that later ones load of what it gives.
    pub(crate) is_inlined: bool,
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
    /// Elements are of this stage's items, and not of the piece's.
    pub(crate) of_stage: Option<usize>,
}

impl Chain {
    /// Kernels in their order. `element_bytes` are those of the launch's parameters.
    pub(crate) fn new(
        stages: Vec<Stage>,
        scratch: Vec<Scratch>,
        (group, element_bytes): (Option<Dims>, &[usize]),
        number: u64,
    ) -> Chain {
        let places = shared(&scratch, |nth| in_use(&stages, nth));
        let mut of_places: SmallVec<[usize; 8]> = SmallVec::new();
        for (scratch, place) in scratch.iter().zip(&places) {
            of_places.resize(of_places.len().max(place + 1), 0);
            of_places[*place] = of_places[*place].max(scratch.element_bytes);
        }
        let bytes = element_bytes.iter().chain(&of_places).sum::<usize>().max(1);
        let group = group.unwrap_or([1; 3]);
        let mut chain = Chain { stages, scratch, places, group, items: 1, near: None, number };
        if of_places.len() < chain.scratch.len() && !chain.is_reaching() {
            chain.near = Some((NEAR_BYTES / bytes).clamp(FEWEST_ITEMS, MOST_ITEMS));
        }
        chain.items = match chain.is_reaching() {
            false => (PIECE_BYTES / bytes).clamp(FEWEST_ITEMS, MOST_ITEMS),
            true => {
                let (whole, items) = (chain.whole(), chain.whole().volume().max(1));
                let of_stages = chain.computed(&whole).div_ceil(items);
                (PIECE_BYTES / (bytes + of_stages)).clamp(1, MOST_ITEMS)
            }
        };
        chain
    }

    /// Stages run for what later ones load.
    fn is_reaching(&self) -> bool {
        self.stages.iter().any(|stage| stage.is_inlined)
    }

    /// The items of the launch.
    fn whole(&self) -> Box3 {
        let own = self.stages.iter().filter(|stage| !stage.is_inlined);
        own.map(|stage| Box3::whole(stage.geometry.range)).fold(Box3::EMPTY, |a, b| a.hull(&b))
    }

    /// Bytes of what stages compute for later ones in such a piece.
    fn computed(&self, piece: &Box3) -> usize {
        let items = self.items_of(piece);
        let of_stages = self.scratch.iter().filter_map(|scratch| {
            Some(items.get(scratch.of_stage?)?.volume().saturating_mul(scratch.element_bytes))
        });
        of_stages.fold(0, usize::saturating_add)
    }

    /// Pieces compute much for later stages that other pieces compute, too.
    pub(crate) fn repeats(&self) -> bool {
        let whole = self.whole();
        let extent = whole.extent();
        let Some(dim) = (0..3).find(|dim| extent[*dim] > self.group[*dim].max(1)) else {
            return false;
        };
        let middle = (extent[dim] / 2).next_multiple_of(self.group[dim].max(1));
        let (mut first, mut second) = (whole, whole);
        (first.max[dim], second.min[dim]) = (middle, middle);
        let parts = self.computed(&first).saturating_add(self.computed(&second));
        let all = self.computed(&whole);
        parts > all.saturating_add(all / 2)
    }

    /// By stage: its items in a piece. Later stages tell what those before them are to compute.
    fn items_of(&self, piece: &Box3) -> SmallVec<[Box3; 8]> {
        let mut items = SmallVec::new();
        self.find_items(piece, &mut items);
        items
    }

    /// The same, in place of what `items` had.
    fn find_items(&self, piece: &Box3, items: &mut SmallVec<[Box3; 8]>) {
        items.clear();
        items.extend(self.stages.iter().map(|stage| match stage.is_inlined {
            true => Box3::EMPTY,
            false => piece.intersect(&Box3::whole(stage.geometry.range)),
        }));
        for at in (0..self.stages.len()).rev().filter(|at| self.stages[*at].is_inlined) {
            let is_own = |place: &At| matches!(place, At::Scratch(nth) if self.scratch[*nth].of_stage == Some(at));
            let later = self.stages.iter().enumerate().skip(at + 1);
            let loads = later.flat_map(|(later, stage)| {
                let params = stage.params.iter().enumerate();
                let own = params.filter(|(_, (_, place))| is_own(place));
                own.map(move |(nth, _)| (later, stage, nth))
            });
            let loads: SmallVec<[Box3; 4]> =
                loads.map(|(later, stage, nth)| stage.loads(nth, &items[later])).collect();
            items[at] = loads.iter().fold(Box3::EMPTY, |all, more| all.hull(more));
        }
    }

    /// Where each scratch begins for such items, and how many lines of the cache all have.
    fn places(&self, items: impl Fn(&Scratch) -> usize) -> (SmallVec<[usize; 8]>, usize) {
        let mut lines: SmallVec<[usize; 8]> = SmallVec::new();
        for (scratch, place) in self.scratch.iter().zip(&self.places) {
            let own = (items(scratch) * scratch.element_bytes).div_ceil(size_of::<Line>());
            lines.resize(lines.len().max(place + 1), 0);
            lines[*place] = lines[*place].max(own);
        }
        let mut end = 0;
        for lines in &mut lines {
            let first = end;
            end += *lines;
            *lines = first * size_of::<Line>();
        }
        (self.places.iter().map(|place| lines[*place]).collect(), end)
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
        let Chain { ref scratch, ref places, group, items, near, number, .. } = *self;
        let mut stages = self.stages.clone();
        for stage in &mut stages {
            let count = stage.scalars.len().min(words.len());
            let (own, others) = words.split_at(count);
            stage.scalars = Scalars::from_slice(own);
            words = others;
        }
        let (scratch, places) = (scratch.clone(), places.clone());
        Arc::new(Chain { stages, scratch, places, group, items, near, number })
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

    /// The elements of the `nth` of its memories that some of its items may load.
    fn loads(&self, nth: usize, items: &Box3) -> Box3 {
        let (Some(number), false) = (self.numbers.get(nth), items.is_empty()) else {
            return Box3::EMPTY;
        };
        let (code, mut geometry) = (self.function.code, self.geometry);
        // Analyses know groups of a whole launch only.
        if geometry.group.is_none() {
            geometry.offset = std::array::from_fn(|dim| geometry.offset[dim] + items.min[dim]);
            geometry.range = items.extent();
        }
        let params: SmallVec<[Param; 8]> = self.params.iter().map(|(param, _)| *param).collect();
        read_box(code, *number, &geometry, (&params, &self.scalars))
    }
}

impl Scratch {
    /// As a parameter that a kernel finds it by, for a piece of the items.
    fn param(&self, of: &Param, base: *mut u8, piece: &Piece) -> ParamPtr {
        let Box3 { min, max } = piece.items;
        let group = if self.of_groups { piece.group } else { [1; 3] };
        // Elements at items' positions count from the offset, those of groups from 0.
        let first = if self.of_groups { [0; 3] } else { piece.offset };
        // A division takes as long as some vectors of items.
        let groups = |items: usize, dim: usize| match group[dim] {
            1 => items,
            group => items / group,
        };
        let index = std::array::from_fn(|dim| first[dim] + groups(min[dim], dim));
        let extent = std::array::from_fn(|dim| groups(max[dim] - min[dim], dim));
        ParamPtr { base, dims: extent, origin: [0; 3], extent, index, shape: of.shape }
    }
}

/// Items that are computed by all kernels before others are.
struct Piece {
    items: Box3,
    offset: Dims,
    group: Dims,
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
        let Chain { group, items, near, .. } = *self.chain;
        let items = near.filter(|_| self.grain == 1).unwrap_or(items);
        let mut extent: Dims = std::array::from_fn(|dim| group[dim].min(block[dim]));
        for dim in (0..3).rev() {
            let others = extent.iter().product::<usize>() / extent[dim].max(1);
            let unit = match group {
                [1, 1, 1] if self.chain.is_reaching() => 1,
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
    /// As [`BlockKernel::run`], for the piece.
    unsafe fn piece(&self, piece: &Piece, work: &mut Work) -> Verdict {
        let chain = &*self.chain;
        chain.find_items(&piece.items, &mut work.items);
        let items = &work.items;
        let of_stage = |memory: &Scratch| memory.of_stage.and_then(|at| items.get(at)).copied();
        let count = |memory: &Scratch| of_stage(memory).unwrap_or(piece.items).volume();
        let (places, lines) = chain.places(count);
        let scratch = work.scratch.with_room(lines);
        let at = |nth: usize| scratch.wrapping_add(places[nth]);
        for (nth, memory) in chain.scratch.iter().enumerate().filter(|(_, memory)| memory.zeroed) {
            let bytes = count(memory) * memory.element_bytes;
            // SAFETY: there is room for as many, from that place on.
            unsafe { at(nth).write_bytes(0, bytes) };
        }
        let mut rest = work.given.as_mut_slice();
        for ((stage, kernel), items) in chain.stages.iter().zip(&self.kernels).zip(items) {
            let given = rest.split_off_mut(..stage.params.len()).unwrap_or_default();
            if items.is_empty() {
                continue;
            }
            for ((param, place), given) in stage.params.iter().zip(&mut *given) {
                let At::Scratch(nth) = *place else {
                    continue;
                };
                let memory = &chain.scratch[nth];
                let of_stage = of_stage(memory);
                let of_stage = of_stage.map(|items| Piece { items, offset: [0; 3], group: [1; 3] });
                *given = memory.param(param, at(nth), of_stage.as_ref().unwrap_or(piece));
            }
            // SAFETY: the parameters are the kernel's, at the launch's memory or in scratch of this
            // piece's elements, which the kernel accesses no others of (`fuse::Home`), or of those
            // that it may load (`Stage::loads`). Scratch at one place is not in use at the same
            // time (`shared`). Fusion has shown that pieces do not meet; the rest is the caller's
            // promise.
            unsafe { kernel.run(given, items)? };
        }
        Ok(())
    }
}

/// What the pieces of a block are computed with, one after the other.
struct Work {
    /// The parameters of all stages. Those in scratch are the piece's.
    given: Vec<ParamPtr>,
    /// By stage.
    items: SmallVec<[Box3; 8]>,
    scratch: ThreadLines,
}

impl Work {
    fn new(chain: &Chain, params: &[ParamPtr]) -> Work {
        let all = chain.stages.iter().flat_map(|stage| &stage.params);
        let given = all.map(|(param, place)| match *place {
            At::Param(nth) => param.at(params.get(nth).map_or(std::ptr::null_mut(), |p| p.base)),
            At::Scratch(_) => param.at(std::ptr::null_mut()),
        });
        Work { given: given.collect(), items: SmallVec::new(), scratch: ThreadLines::take() }
    }
}

impl BlockKernel for Running {
    unsafe fn run(&self, params: &[ParamPtr], block: &Box3) -> Verdict {
        let chain = &*self.chain;
        let extent = self.extent(block.extent());
        let mut work = Work::new(chain, params);
        let own = chain.stages.iter().find(|stage| !stage.is_inlined);
        let offset = own.map_or([0; 3], |stage| stage.geometry.offset);
        let steps = |dim: usize| (block.min[dim]..block.max[dim]).step_by(extent[dim].max(1));
        for x in steps(0) {
            for y in steps(1) {
                for z in steps(2) {
                    let (min, group) = ([x, y, z], chain.group);
                    let end = |dim: usize| (min[dim] + extent[dim]).min(block.max[dim]);
                    let items = Box3 { min, max: std::array::from_fn(end) };
                    // SAFETY: the caller's promise; pieces are parts of the block.
                    unsafe { self.piece(&Piece { items, offset, group }, &mut work)? };
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

/// The first and the last of the stages that use a scratch.
fn in_use(stages: &[Stage], nth: usize) -> (usize, usize) {
    let uses = |stage: &Stage| stage.params.iter().any(|(_, at)| *at == At::Scratch(nth));
    let first = stages.iter().position(uses).unwrap_or(0);
    (first, stages.iter().rposition(uses).unwrap_or(first))
}

/// The place of each scratch: that of another which no stage uses from the first use of this one
/// on. What is zeroed, or has elements of a stage's items, has a place for itself.
fn shared(scratch: &[Scratch], in_use: impl Fn(usize) -> (usize, usize)) -> Vec<usize> {
    // By place: the stage that uses it last.
    let mut last: SmallVec<[usize; 8]> = SmallVec::new();
    let mut order: SmallVec<[usize; 8]> = (0..scratch.len()).collect();
    order.sort_by_key(|nth| in_use(*nth).0);
    let mut places = vec![0; scratch.len()];
    for nth in order {
        let (first, end) = in_use(nth);
        let is_apart = scratch[nth].zeroed || scratch[nth].of_stage.is_some();
        let free = last.iter().position(|last| !is_apart && *last < first);
        places[nth] = free.unwrap_or(last.len());
        last.resize(last.len().max(places[nth] + 1), 0);
        last[places[nth]] = if is_apart { usize::MAX } else { end };
    }
    places
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
struct ThreadLines(Vec<Line>);

impl ThreadLines {
    fn take() -> ThreadLines {
        // A thread that is ending has none, and a call within another one finds it taken.
        ThreadLines(LINES.try_with(Cell::take).unwrap_or_default())
    }

    /// Its start, with room for so many lines.
    fn with_room(&mut self, lines: usize) -> *mut u8 {
        if self.0.len() < lines {
            self.0.resize(lines, Line([0; 64]));
        }
        self.0.as_mut_ptr().cast()
    }
}

impl Drop for ThreadLines {
    fn drop(&mut self) {
        let _ = LINES.try_with(|kept| kept.set(std::mem::take(&mut self.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_that_is_not_in_use_at_the_same_time_shares_a_place() {
        let plain = Scratch { element_bytes: 4, of_groups: false, zeroed: false, of_stage: None };
        let zeroed = Scratch { zeroed: true, ..plain };
        let chain = |nth: usize| (nth, nth + 1);
        assert_eq!(shared(&[plain; 5], chain), [0, 1, 0, 1, 0]);
        assert_eq!(shared(&[plain, zeroed, plain, plain], chain), [0, 1, 0, 2]);
        // In use throughout; in another order than the stages'.
        assert_eq!(shared(&[plain; 3], |nth| (0, 3 - nth)), [0, 1, 2]);
        assert_eq!(shared(&[plain; 3], |nth| (2 - nth, 2 - nth)), [0, 0, 0]);
        assert!(shared(&[], chain).is_empty());
    }

    #[test]
    fn pieces_of_a_block_are_about_as_long_as_each_other() {
        assert_eq!([25, 8, 12, 13, 1, 0].map(|rows| evenly(rows, 8, 1)), [9, 8, 6, 7, 1, 0]);
        assert_eq!([1000, 65, 64, 100_000].map(|n| evenly(n, 8192, 64)), [1000, 65, 64, 8384]);
        assert_eq!(evenly(1 << 20, 5000, 4096), 8192);
        assert_eq!(evenly(usize::MAX, 8192, 64) % 64, 0);
    }
}
