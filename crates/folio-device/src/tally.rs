//! Small arrays in which a launch only counts. Threads that add to one array would pass its cache
//! lines to each other, and each addition would wait for the one before. So each block adds to a
//! copy that no other block uses meanwhile, and the thread that ends the last block combines the
//! copies with what was in the array.
//!
//! No program can see that: what was there before is asked by no item ([`Counted`]), operations
//! on one location may have any order (semantics 9.2), and of integers they give the same in each.
//! A launch that fails leaves the array as it likes (semantics 10.3); then its copies are dropped.

use super::combine::{Add, And, Combine, Max, Min, Or, Xor};
use super::{Launched, ParamPtr, Positions, Shared, View};
use folio_kernel::code::Counted;
use folio_kernel::{self as ir, Scalar};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of an array that has copies, at most: the size of a near cache.
const MOST: usize = 1 << 16;
/// Items for each element without which copies are not worth it: what one costs to make and to
/// combine.
const ITEMS: usize = 4;
/// Nor with fewer items than that, since copies take memory.
const LEAST: usize = 256;

/// Memory of a copy: on cache lines of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "memory for others")] [u64; 8]);

type Copied = Box<[Line]>;

/// An array of a launch that has copies.
#[derive(Debug)]
struct Tally {
    of: Counted,
    elements: usize,
    /// Those that no block uses.
    copies: Mutex<Vec<Copied>>,
}

/// The arrays of a launch that have copies.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    all: Vec<Tally>,
    /// Items that are computed.
    done: AtomicUsize,
}

impl Tallies {
    pub(super) const fn none() -> Tallies {
        Tallies { all: vec![], done: AtomicUsize::new(0) }
    }

    /// Those for which copies are worth it; `elements` tells how many elements a parameter has that
    /// is memory.
    pub(super) fn new(
        counted: &[Counted],
        items: usize,
        elements: impl Fn(usize) -> Option<usize>,
    ) -> Tallies {
        let all = counted.iter().filter_map(|of| {
            let elements = elements(of.memory)?;
            let small = elements.checked_mul(of.bytes())? <= MOST;
            let often = items >= LEAST && items / ITEMS >= elements && elements > 0;
            let copies = Mutex::default();
            (small && often).then(|| Tally { of: of.clone(), elements, copies })
        });
        Tallies { all: all.collect(), done: AtomicUsize::new(0) }
    }

    /// No item is computed, and no copy says anything.
    pub(super) fn begin(&self) {
        self.done.store(0, Ordering::Relaxed);
        self.all.iter().for_each(|tally| tally.copies().clear());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A block was computed, of a launch of so many items. Whoever computed the last one combines.
    ///
    /// # Safety
    /// `memory` is that of the launch, and only its other blocks use it, each of which is told of
    /// once.
    pub(super) unsafe fn computed(&self, block: &Positions, all: usize, memory: &[ParamPtr]) {
        let sizes = block.min.iter().zip(&block.max).map(|(first, end)| end - first);
        let block: usize = sizes.product();
        // What others have put into copies is there to be read: they have counted after that.
        if self.done.fetch_add(block, Ordering::AcqRel).wrapping_add(block) == all {
            self.done.store(0, Ordering::Relaxed);
            for tally in &self.all {
                if let Some(memory) = memory.get(tally.of.memory) {
                    // SAFETY: the caller's promise; all blocks have been computed.
                    unsafe { tally.collect(memory) };
                }
            }
        }
    }

    /// A copy of this array, of so many elements of so many bytes, if it has copies.
    #[inline(never)]
    fn lend(&self, memory: usize, elements: usize, bytes: usize) -> Option<(&Tally, Copied)> {
        let tally = self.all.iter().find(|tally| tally.of.memory == memory)?;
        let fits = tally.elements == elements && tally.of.bytes() == bytes;
        fits.then(|| (tally, tally.take()))
    }
}

impl Tally {
    fn copies(&self) -> MutexGuard<'_, Vec<Copied>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy that no thread uses; a new one says nothing.
    fn take(&self) -> Copied {
        if let Some(copy) = self.copies().pop() {
            return copy;
        }
        let identity = self.of.combine.identity(self.of.scalar).unwrap_or(0);
        let word = if self.of.scalar.bits() == 32 { identity << 32 | identity } else { identity };
        let lines = (self.elements * self.of.bytes()).div_ceil(size_of::<Line>());
        vec![Line([word; 8]); lines].into_boxed_slice()
    }

    /// Nobody uses a copy any more.
    #[inline(never)]
    fn give(&self, copy: Copied) {
        self.copies().push(copy);
    }

    /// Combines all copies with what is in the array.
    ///
    /// # Safety
    /// It is the memory of the array, and no other code uses it.
    unsafe fn collect(&self, memory: &ParamPtr) {
        let copies = std::mem::take(&mut *self.copies());
        let collect = match self.of.scalar {
            Scalar::I32 => Tally::collect_as::<i32>,
            Scalar::U32 => Tally::collect_as::<u32>,
            Scalar::I64 => Tally::collect_as::<i64>,
            Scalar::U64 => Tally::collect_as::<u64>,
            _ => return,
        };
        // SAFETY: the caller's promise; the elements are of this type.
        unsafe { collect(self, memory, &copies) };
    }

    /// # Safety
    /// As for `collect`, of elements of this type.
    unsafe fn collect_as<T: Shared>(&self, memory: &ParamPtr, copies: &[Copied])
    where
        Add: Combine<T>,
        Min: Combine<T>,
        Max: Combine<T>,
        And: Combine<T>,
        Or: Combine<T>,
        Xor: Combine<T>,
    {
        let all: fn(&mut [T], &[T]) = match self.of.combine {
            ir::Combine::Add => combine_all::<Add, T>,
            ir::Combine::Min => combine_all::<Min, T>,
            ir::Combine::Max => combine_all::<Max, T>,
            ir::Combine::And => combine_all::<And, T>,
            ir::Combine::Or => combine_all::<Or, T>,
            ir::Combine::Xor => combine_all::<Xor, T>,
            ir::Combine::Mul => return,
        };
        let [_, rows, columns] = memory.extent;
        if memory.extent.iter().product::<usize>() != self.elements {
            return;
        }
        for row in 0..self.elements / columns.max(1) {
            let [z, y, x] = memory.origin;
            let (z, y) = (z + row / rows.max(1), y + row % rows.max(1));
            let first = (z * memory.dims[1] + y) * memory.dims[2] + x;
            // SAFETY: a row of the view, which is live and which no other code uses.
            let into = unsafe {
                std::slice::from_raw_parts_mut(memory.base.cast::<T>().add(first), columns)
            };
            for copy in copies {
                // SAFETY: `take` made memory for all elements, all of whose bytes are set.
                let from = unsafe {
                    let first = copy.as_ptr().cast::<T>().add(row * columns);
                    std::slice::from_raw_parts(first, columns)
                };
                all(into, from);
            }
        }
    }
}

fn combine_all<O: Combine<T>, T: Copy>(into: &mut [T], from: &[T]) {
    into.iter_mut().zip(from).for_each(|(into, from)| *into = O::combine(*into, *from));
}

/// A copy that is a block's until it is closed, if the array has copies.
#[derive(Debug)]
pub struct Tallied<'l>(Option<(&'l Tally, Copied)>);

impl<'l> Tallied<'l> {
    /// Of the array that is at this place among the parameters that are memory.
    #[inline(always)]
    pub fn of<P, T: Shared, const D: usize>(
        view: &View<'_, P, T, D>,
        memory: usize,
        launch: &'l Launched,
    ) -> Self {
        let tallies = launch.tallies();
        match tallies.is_empty() {
            true => Tallied(None),
            false => Tallied(tallies.lend(memory, view.elements(), size_of::<T>())),
        }
    }

    /// Where the block's items count.
    #[inline(always)]
    pub fn view<'t, P, T: Shared, const D: usize>(
        &'t mut self,
        view: View<'t, P, T, D>,
    ) -> View<'t, P, T, D> {
        match &mut self.0 {
            // SAFETY: a copy has as many elements (`lend`), and is this block's alone for as long
            // as it is borrowed.
            Some((_, copy)) => unsafe { view.of_copy(copy.as_mut_ptr().cast()) },
            None => view,
        }
    }

    /// The block was computed.
    #[inline(always)]
    pub fn close(self) {
        if let Some((tally, copy)) = self.0 {
            tally.give(copy);
        }
    }
}
