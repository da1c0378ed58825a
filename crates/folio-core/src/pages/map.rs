//! A value for each page of a grid, at the cost of what differs.
//!
//! Almost all buffers are alike almost everywhere: one *base* value, and some *blocks* of up to 64
//! pages that differ from it. A block is a run of the row-major order of pages: a part of a row,
//! or, where rows are short, some whole rows, or some whole planes. So blocks in order are pages
//! in order, and neighbours join into long runs again however they are stored.
//!
//! Invariant: a block is exceptional exactly when one of its pages differs from the base.

use std::ops::ControlFlow;

use super::runs::{Runs, boxes_of_span};
use super::store::{BLOCK, Body, Store};
use crate::geom::{Box3, Dims, Grid, linear};

/// A value for each page of a grid.
///
/// Ranges are cut to the grid. With `e` blocks that differ from the base and overlap the range:
///
/// * `new`, and `set` of the whole grid: constant, and frees and allocates nothing.
/// * `get`, and `set`, `update` or `visit` of one page: constant, whatever the size of the grid
///   (finding neighbours reads log64 of the number of blocks words).
/// * `visit`, `uniform` and `update` of the whole grid: `e`, not the number of pages. `visit` of
///   a part: `e`, plus one for each row of blocks in the range that has exceptions beside it.
/// * `set` and `update` of a part: the blocks in the range whose value changes.
///
/// Memory: none until a page differs; from then on an eighth of a byte for each page, and a value
/// for each page of a block that is not uniform. Storage is recycled, so that a steady state of
/// calls does not allocate.
///
/// ```
/// use folio_core::geom::Box3;
/// use folio_core::pages::PageMap;
///
/// let mut map = PageMap::new([1, 1, 1_000_000], 'a');
/// map.set(&Box3::cell([0, 0, 500]), 'b');
/// let mut runs = Vec::new();
/// map.visit(&Box3::whole([1, 1, 1000]), &mut |pages, v| runs.push((pages.volume(), v)));
/// assert_eq!(runs, [(500, 'a'), (1, 'b'), (499, 'a')]);
/// ```
#[derive(Clone, Debug)]
pub struct PageMap<V> {
    /// The grid of pages, cut into blocks: its elements are pages, its pages are blocks.
    grid: Grid,
    base: V,
    store: Store<V>,
    /// Runs of an `update`: pages, value before, value after.
    changes: Vec<(Box3, V, V)>,
}

impl<V: Copy + Eq> PageMap<V> {
    /// The map of a grid of `pages`, whose number fits `usize`, in which each page has `value`.
    pub fn new(pages: Dims, value: V) -> PageMap<V> {
        let mut block = [1; 3];
        let mut room = BLOCK;
        for d in (0..3).rev() {
            block[d] = room.min(pages[d].max(1));
            room /= block[d];
        }
        let grid = Grid::new(pages, block);
        PageMap { grid, base: value, store: Store::new(), changes: Vec::new() }
    }

    /// The number of pages in each dimension.
    pub fn dims(&self) -> Dims {
        self.grid.dims
    }

    /// The value of all pages, if no block differs from the base.
    #[inline]
    pub(crate) fn flat(&self) -> Option<V> {
        (self.store.len() == 0).then_some(self.base)
    }

    /// Gives all pages of a map that is [`flat`](Self::flat) the value `value`.
    #[inline]
    pub(crate) fn set_flat(&mut self, value: V) {
        debug_assert!(self.flat().is_some());
        self.base = value;
    }

    /// The value of `page`. A page outside the grid has the value of some other page.
    pub fn get(&self, page: Dims) -> V {
        if self.store.len() == 0 || (0..3).any(|d| page[d] >= self.grid.dims[d]) {
            return self.base;
        }
        let at = [0, 1, 2].map(|d| page[d] / self.grid.page[d]);
        match self.store.find(linear(self.grid.pages, at)).map(|s| self.store.slot(s).body) {
            None => self.base,
            Some(Body::Uniform(value)) => value,
            Some(Body::Table { table, .. }) => {
                let inner = [0, 1, 2].map(|d| page[d] % self.grid.page[d]);
                self.store.table(table)[linear(self.grid.page, inner)]
            }
        }
    }

    /// Reports disjoint boxes that cover `range` exactly, each with the value of its pages, in
    /// row-major order of their first pages.
    ///
    /// Pages of equal value are joined into the longest runs along the last dimension; runs that
    /// are as wide as the range are joined with equal neighbours in the other dimensions. So a
    /// range of one value is reported as one box.
    pub fn visit(&self, range: &Box3, f: &mut impl FnMut(Box3, V)) {
        let mut runs = Runs::new();
        let _ = self.pieces(range, &mut |at, value| {
            runs.push(at, value, f);
            ControlFlow::Continue(())
        });
        runs.finish(f);
    }

    /// The value of all pages of `range`, if it has pages and they are alike.
    pub fn uniform(&self, range: &Box3) -> Option<V> {
        if self.store.len() == 0 {
            step();
            let some = |d: usize| range.min[d] < range.max[d].min(self.grid.dims[d]);
            return (some(0) && some(1) && some(2)).then_some(self.base);
        }
        let mut found = None;
        let all_alike = self.pieces(range, &mut |_, value| {
            if *found.get_or_insert(value) == value {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        if all_alike.is_continue() { found } else { None }
    }

    /// Gives each page of `range` the value `value`.
    pub fn set(&mut self, range: &Box3, value: V) {
        let all = Box3::whole(self.grid.dims);
        let range = range.intersect(&all);
        if range.is_empty() {
        } else if range == all {
            self.base = value;
            self.store.clear();
        } else if value == self.base {
            self.write_exceptional(&range, value, true);
        } else {
            for at in self.grid.pages_of(&range).cells() {
                self.write_block(at, &range, value);
            }
        }
    }

    /// Visits `range` as [`PageMap::visit`] does and gives the pages of each box the value that
    /// `f` returns.
    ///
    /// `f` is called once for each box and sees each page once, with the value before the update.
    /// What it returns must depend on the value alone (the box is there so that pages can be
    /// counted): if it does not, each page gets one of the values that `f` returned for pages of
    /// equal value.
    pub fn update(&mut self, range: &Box3, f: &mut impl FnMut(Box3, V) -> V) {
        let mut changes = std::mem::take(&mut self.changes);
        changes.clear();
        self.visit(range, &mut |at, value| changes.push((at, value, f(at, value))));
        if let Some(&(_, _, first)) = changes.first() {
            if changes.iter().all(|&(_, _, new)| new == first) {
                if changes.len() > 1 || changes[0].1 != first {
                    self.set(range, first);
                }
            } else if range.contains(&Box3::whole(self.grid.dims)) {
                self.remap(&changes);
            } else {
                for (at, _, new) in changes.iter().filter(|(_, old, new)| old != new) {
                    self.set(at, *new);
                }
            }
        }
        self.changes = changes;
    }

    /// Applies the changes of an update of the whole grid. The base is mapped like any value, so
    /// that ordinary blocks stay ordinary and are not looked at.
    fn remap(&mut self, changes: &[(Box3, V, V)]) {
        let mut base = self.base;
        for &(at, old, new) in changes {
            if old != new {
                self.write_exceptional(&at, new, false);
            }
            if old == self.base {
                base = new;
            }
        }
        self.base = base;
        for slot in (0..self.store.len()).rev() {
            self.tidy(slot);
        }
    }

    /// Restores the invariant for `slot`, whose values or whose base changed.
    fn tidy(&mut self, slot: usize) {
        step();
        let only = match self.store.slot(slot).body {
            Body::Uniform(value) => Some(value),
            Body::Table { table, .. } => {
                let at = self.block_pages(self.store.slot(slot).block);
                let (mut differs, mut alike) = (0, true);
                let (values, first) = (self.store.table(table), self.store.table(table)[0]);
                for cell in Box3::whole(at.extent()).cells() {
                    let value = values[linear(self.grid.page, cell)];
                    differs += usize::from(value != self.base);
                    alike &= value == first;
                }
                self.store.set_differs(slot, differs);
                alike.then_some(first)
            }
        };
        match only {
            Some(value) if value == self.base => self.store.remove(slot),
            Some(value) => self.store.make_uniform(slot, value),
            None => {}
        }
    }

    /// Writes `value` to the pages of `range` that are in exceptional blocks.
    fn write_exceptional(&mut self, range: &Box3, value: V, drop_clean: bool) {
        let over = self.grid.pages_of(range);
        let mut from = 0;
        while let Some((position, slot)) = self.next_exceptional(&over, from) {
            self.write_slot(slot, range, value);
            if drop_clean {
                self.drop_clean(slot);
            }
            from = position + 1;
        }
    }

    /// Writes `value`, which is not the base, to the pages of `range` in the block at `at`.
    fn write_block(&mut self, at: Dims, range: &Box3, value: V) {
        let block = linear(self.grid.pages, at);
        if let Some(slot) = self.store.find(block) {
            self.write_slot(slot, range, value);
            return self.drop_clean(slot);
        }
        let slot = self.store.insert(self.grid.count(), block, Body::Uniform(self.base));
        self.write_slot(slot, range, value);
    }

    /// Writes `value` to the pages of `range` in the block of `slot`.
    fn write_slot(&mut self, slot: usize, range: &Box3, value: V) {
        let pages = self.block_pages(self.store.slot(slot).block);
        let part = pages.intersect(range);
        if part == pages {
            return self.store.make_uniform(slot, value);
        }
        let (filled, differs) = match self.store.slot(slot).body {
            Body::Uniform(old) if old == value => return,
            Body::Uniform(old) => (old, if old == self.base { 0 } else { pages.volume() }),
            Body::Table { differs, .. } => (value, differs),
        };
        let table = self.store.make_table(slot, filled, differs);
        let (base, shape) = (self.base, self.grid.page);
        let values = self.store.table_mut(table);
        let (mut was, mut is) = (0, 0);
        for page in part.cells() {
            step();
            let inner = [0, 1, 2].map(|d| page[d] - pages.min[d]);
            let cell = &mut values[linear(shape, inner)];
            was += usize::from(*cell != base);
            is += usize::from(value != base);
            *cell = value;
        }
        self.store.set_differs(slot, differs + is - was);
    }

    /// Makes the block of `slot` ordinary if all of its pages have the base value.
    fn drop_clean(&mut self, slot: usize) {
        let clean = match self.store.slot(slot).body {
            Body::Uniform(value) => value == self.base,
            Body::Table { differs, .. } => differs == 0,
        };
        if clean {
            self.store.remove(slot);
        }
    }

    /// Reports the pieces of `range` as they are stored, in row-major order.
    fn pieces(
        &self,
        range: &Box3,
        out: &mut impl FnMut(Box3, V) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let range = range.intersect(&Box3::whole(self.grid.dims));
        if range.is_empty() {
            return ControlFlow::Continue(());
        }
        if self.store.len() == 0 {
            step();
            return out(range, self.base);
        }
        let over = self.grid.pages_of(&range);
        let (extent, end) = (over.extent(), over.volume());
        let mut from = 0;
        while from < end {
            let next = self.next_exceptional(&over, from);
            let gap_end = next.map_or(end, |(position, _)| position);
            let mut flow = ControlFlow::Continue(());
            boxes_of_span(extent, from, gap_end, |blocks| {
                step();
                let pages = self.grid.elements_of(&blocks.shifted(over.min));
                if flow.is_continue() {
                    flow = out(pages.intersect(&range), self.base);
                }
            });
            flow?;
            if let Some((_, slot)) = next {
                self.pieces_of_block(slot, &range, out)?;
            }
            from = gap_end + 1;
        }
        ControlFlow::Continue(())
    }

    /// Reports the pieces of `range` in the block of `slot`.
    fn pieces_of_block(
        &self,
        slot: usize,
        range: &Box3,
        out: &mut impl FnMut(Box3, V) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let pages = self.block_pages(self.store.slot(slot).block);
        let part = pages.intersect(range);
        let table = match self.store.slot(slot).body {
            Body::Uniform(value) => return out(part, value),
            Body::Table { table, .. } => self.store.table(table),
        };
        for (z, y) in
            (part.min[0]..part.max[0]).flat_map(|z| (part.min[1]..part.max[1]).map(move |y| (z, y)))
        {
            let start = linear(self.grid.page, [z - pages.min[0], y - pages.min[1], 0]);
            let cells = &table[start + part.min[2] - pages.min[2]..][..part.extent()[2]];
            let mut x = part.min[2];
            for run in cells.chunk_by(|a, b| a == b) {
                step();
                let next = x + run.len();
                out(Box3 { min: [z, y, x], max: [z + 1, y + 1, next] }, run[0])?;
                x = next;
            }
        }
        ControlFlow::Continue(())
    }

    /// The pages of block number `block`.
    fn block_pages(&self, block: usize) -> Box3 {
        self.grid.elements_of(&Box3::cell(coordinates(self.grid.pages, block)))
    }

    /// The first exceptional block of `over` from its row-major position `from` on: its position
    /// in `over` and its slot.
    fn next_exceptional(&self, over: &Box3, from: usize) -> Option<(usize, usize)> {
        let extent = over.extent();
        if from >= over.volume() {
            return None;
        }
        let start = coordinates(extent, from);
        let mut at = [0, 1, 2].map(|d| over.min[d] + start[d]);
        loop {
            // Most ranges are one block, and most blocks that are asked for are exceptional.
            if let Some(slot) = self.store.find(linear(self.grid.pages, at)) {
                let inner = [0, 1, 2].map(|d| at[d] - over.min[d]);
                return Some((linear(extent, inner), slot));
            }
            if extent == [1, 1, 1] {
                return None;
            }
            let next = self.store.next(linear(self.grid.pages, at))?;
            at = first_inside(over, coordinates(self.grid.pages, next))?;
        }
    }

    /// Heap capacities, for tests of what is recycled.
    #[cfg(test)]
    fn capacities(&self) -> ([usize; 5], usize) {
        (self.store.capacities(), self.changes.capacity())
    }
}

/// Where position `at` of a row-major array of `dims` is; `dims` has no 0.
fn coordinates(dims: Dims, at: usize) -> Dims {
    let rows = at / dims[2];
    [rows / dims[1], rows % dims[1], at % dims[2]]
}

/// The first cell of `range`, in row-major order, that is `at` or comes after it.
fn first_inside(range: &Box3, at: Dims) -> Option<Dims> {
    let (min, max) = (range.min, range.max);
    let [mut z, mut y, mut x] = at;
    if z < min[0] {
        return Some(min);
    }
    if y < min[1] {
        (y, x) = (min[1], min[2]);
    }
    if x < min[2] {
        x = min[2];
    }
    if x >= max[2] {
        (y, x) = (y + 1, min[2]);
    }
    if y >= max[1] {
        (z, y, x) = (z + 1, min[1], min[2]);
    }
    (z < max[0]).then_some([z, y, x])
}

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// How many steps this thread has taken.
#[cfg(test)]
pub(crate) fn steps_taken() -> u64 {
    STEPS.with(std::cell::Cell::get)
}

/// Counts one elementary step, in tests only.
#[inline(always)]
pub(super) fn step() {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;
