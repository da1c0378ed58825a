//! Launch-wide reductions (semantics 8.4): a function of the values alone, whichever thread has
//! which of them.
//!
//! Values are numbered in row-major order and cut into chunks of 4096. A thread whose block has all
//! of a chunk computes its result alone; of chunks that several blocks share, the values are
//! gathered, and the thread that brings the last one computes the result. The thread that finishes
//! the last chunk computes the rest.

use super::combine::{Combine, tree};
use super::launched::Launched;
use super::param::last;
use super::{GroupItem, Item, ParamPtr, Positions, Reduce, Shared, View};
use folio_kernel::source::Entry;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Values of a chunk.
pub(super) const CHUNK: usize = 4096;
/// Values that are folded beside each other.
const LANES: usize = 256;

/// One reduction of a launch, shared by all who compute a part of it.
#[derive(Debug)]
pub(super) struct Reduction {
    values: usize,
    /// The results of chunks, as bits.
    results: Box<[AtomicU64]>,
    /// Chunks without a result.
    missing: AtomicUsize,
    /// By chunk that several blocks share: its values as far as they are known, and how many.
    shared: Mutex<HashMap<usize, Known>>,
}

type Known = (Box<[u64]>, usize);

fn word_of<T: Shared>(value: T) -> u64 {
    const { assert!(size_of::<T>() <= 8) };
    let mut word = 0u64;
    // SAFETY: at most 8 bytes, all initialised (`Shared` types have no padding), into a word.
    unsafe { (&raw mut word).cast::<T>().write_unaligned(value) };
    word
}

fn value_of<T: Shared>(word: u64) -> T {
    const { assert!(size_of::<T>() <= 8) };
    // SAFETY: the word holds a `T`: made by `word_of`, or zero, which is a value of every type.
    unsafe { (&raw const word).cast::<T>().read_unaligned() }
}

impl Reduction {
    pub(super) fn new(values: usize) -> Reduction {
        let chunks = values.div_ceil(CHUNK);
        Reduction {
            values,
            results: (0..chunks).map(|_| AtomicU64::new(0)).collect(),
            missing: AtomicUsize::new(chunks),
            shared: Mutex::default(),
        }
    }

    /// No value is known.
    pub(super) fn begin(&self) {
        self.missing.store(self.results.len(), Ordering::Relaxed);
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Values of a chunk: fewer in the last one.
    fn len(&self, chunk: usize) -> usize {
        CHUNK.min(self.values.saturating_sub(chunk * CHUNK))
    }

    /// Values of a chunk that others have a part of. Gives them all to the thread that brings the
    /// last.
    fn put<T: Shared>(&self, chunk: usize, first: usize, values: &[T]) -> Option<Vec<T>> {
        let len = self.len(chunk);
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, known) = shared.entry(chunk).or_insert_with(|| (vec![0; len].into(), 0));
        for (at, value) in all.iter_mut().skip(first).zip(values) {
            *at = word_of(*value);
        }
        *known += values.len();
        if *known < len {
            return None;
        }
        let (all, _) = shared.remove(&chunk)?;
        Some(all.iter().map(|word| value_of(*word)).collect())
    }

    /// A chunk's result, the last of so many that have not been counted yet. Gives the launch's to
    /// the thread that brings the last.
    fn finish<O: Combine<T>, T: Shared>(&self, chunk: usize, result: T, count: usize) -> Option<T> {
        self.results.get(chunk)?.store(word_of(result), Ordering::Relaxed);
        // Release what is stored above; acquire, for the last one, what all others have stored.
        if count == 0 || self.missing.fetch_sub(count, Ordering::AcqRel) > count {
            return None;
        }
        // A graph runs the launch again.
        self.missing.store(self.results.len(), Ordering::Relaxed);
        let results = self.results.iter().map(|word| value_of(word.load(Ordering::Relaxed)));
        let mut values: Vec<T> = results.collect();
        while values.len() > 1 {
            values = values.chunks(CHUNK).map(fold::<O, T>).collect();
        }
        values.first().copied()
    }
}

/// The result of a chunk.
fn fold<O: Combine<T>, T: Shared>(chunk: &[T]) -> T {
    let mut lanes = Lanes::<T>::new(O::IDENTITY);
    for (row, values) in chunk.chunks(LANES).enumerate() {
        lanes.add::<O>(row * LANES, values);
    }
    lanes.result::<O>(chunk.len())
}

/// The lanes of one chunk.
struct Lanes<T>([T; LANES]);

impl<T: Shared> Lanes<T> {
    fn new(any: T) -> Lanes<T> {
        Lanes([any; LANES])
    }

    /// Further values, which stay within a row of lanes.
    #[inline(always)]
    fn add<O: Combine<T>>(&mut self, first: usize, values: &[T]) {
        let lanes = self.0.iter_mut().skip(first % LANES);
        if first < LANES {
            lanes.zip(values).for_each(|(lane, value)| *lane = *value);
        } else {
            lanes.zip(values).for_each(|(lane, value)| *lane = O::combine(*lane, *value));
        }
    }

    fn result<O: Combine<T>>(&mut self, len: usize) -> T {
        tree::<O, T>(&mut self.0[..len.min(LANES)])
    }
}

/// What an item contributes with, to a value that is there for `'v` and that it alone has.
#[derive(Debug)]
pub struct Give<'v, T, O> {
    value: *mut T,
    _combine: PhantomData<(&'v (), O)>,
}

impl<T, O> Clone for Give<'_, T, O> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, O> Copy for Give<'_, T, O> {}

impl<T, O> Give<'_, T, O> {
    /// To nothing, for probing.
    ///
    /// # Safety
    /// It is not used.
    pub const unsafe fn none() -> Self {
        Give { value: std::ptr::null_mut(), _combine: PhantomData }
    }
}

impl<T: Shared, O: Combine<T>> Give<'_, T, O> {
    /// One more value.
    #[inline(always)]
    pub fn give(&self, value: T) {
        // SAFETY: the item's own value, which is there for as long as this is.
        unsafe { self.value.write(O::combine(self.value.read(), value)) };
    }
}

/// What takes the values of a row's items.
#[derive(Debug)]
pub struct Takes<'r, T, O> {
    first: *mut T,
    _combine: PhantomData<(&'r mut T, O)>,
}

impl<T, O> Clone for Takes<'_, T, O> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, O> Copy for Takes<'_, T, O> {}

impl<T: Shared, O: Combine<T>> Takes<'_, T, O> {
    /// An item's value, which has not been contributed to.
    #[inline(always)]
    pub fn value(self) -> T {
        O::IDENTITY
    }

    /// What contributes to it, while it is there.
    #[inline(always)]
    pub fn give(self, value: &mut T) -> Give<'_, T, O> {
        Give { value, _combine: PhantomData }
    }

    /// The value of an item, which has run, by its number in the row.
    ///
    /// # Safety
    /// The row that it was opened for has such a number.
    #[inline(always)]
    pub unsafe fn take(self, item: usize, value: T) {
        let to = self.first.wrapping_add(item);
        // SAFETY: of the row that it was opened for, to which nothing else adds.
        unsafe { to.write(O::combine(to.read(), value)) };
    }
}

/// The values of a group's items.
#[derive(Debug)]
pub struct Gives<'g, T, O> {
    first: *mut T,
    _combine: PhantomData<(&'g (), O)>,
}

impl<T, O> Clone for Gives<'_, T, O> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, O> Copy for Gives<'_, T, O> {}

impl<'g, T, O> Gives<'g, T, O> {
    /// # Safety
    /// There is a value for each item of a group, which uses them alone for `'g`.
    pub(super) unsafe fn new(first: *mut T) -> Self {
        Gives { first, _combine: PhantomData }
    }

    /// All of them.
    ///
    /// # Safety
    /// There are so many, they are live, and no other code uses them meanwhile.
    pub(super) unsafe fn values<'v>(self, len: usize) -> &'v mut [T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.first, len) }
    }

    /// None, for probing.
    ///
    /// # Safety
    /// It is not used.
    pub unsafe fn none() -> Self {
        // SAFETY: it is not used: the caller's promise.
        unsafe { Gives::new(std::ptr::null_mut()) }
    }

    /// That of one item of the group.
    #[inline(always)]
    pub fn of<const D: usize>(self, item: GroupItem<'g, D>) -> Give<'g, T, O> {
        let value = self.first.wrapping_add(item.local_index());
        Give { value, _combine: PhantomData }
    }

    /// That of the group's first item.
    #[inline(always)]
    pub fn first(self) -> Give<'g, T, O> {
        Give { value: self.first, _combine: PhantomData }
    }
}

/// What one block adds to a reduction.
pub struct Folding<'l, T, O> {
    reduction: Option<&'l Reduction>,
    /// Where the result goes.
    element: Option<*mut T>,
    /// Chunks of which the block has all values, in their order.
    alone: Range<usize>,
    /// Of them, those that have a result. They are counted together: all threads share the count.
    done: usize,
    lanes: Lanes<T>,
    row: [T; LANES],
    _combine: PhantomData<O>,
}

/// A parameter that is a reduction.
///
/// # Safety
/// Memory that is passed for it is of such a value.
pub unsafe trait ReduceParam {
    /// Type of the value.
    type Value: Shared;
    /// What values are combined with.
    type Combine: Combine<Self::Value>;
    /// The parameter's entry in the table.
    fn entry() -> Entry {
        Entry::Reduce(Self::Value::describe, <Self::Combine as super::Combining>::COMBINE)
    }
}

// SAFETY: what is passed for it is of its `T`.
unsafe impl<T: Shared, O: Combine<T>> ReduceParam for Reduce<T, O> {
    type Value = T;
    type Combine = O;
}

impl<'l, T: Shared, O: Combine<T>> Folding<'l, T, O> {
    /// Of a block of a launch; `number` is the reduction's among the kernel's.
    ///
    /// # Safety
    /// The memory is live for `'l`, of one `T` or more, and no other code uses it.
    pub unsafe fn new(
        number: usize,
        memory: &ParamPtr,
        launch: &'l Launched,
        block: &Positions,
    ) -> Self {
        let view = View::<(), T, 1>::new(memory, 0, block);
        let (grid, places) = (launch.grid(), launch.places(block));
        let linear = |[z, y, x]: [usize; 3]| (z * grid[1] + y) * grid[2] + x;
        let extent: [usize; 3] = std::array::from_fn(|dim| places.max[dim] - places.min[dim]);
        let volume: usize = extent.iter().product();
        let first = linear(places.min);
        let end = match volume {
            0 => first,
            _ => linear(places.max.map(|end| end - 1)) + 1,
        };
        let reduction = launch.reduction(number);
        let values = reduction.map_or(0, |reduction| reduction.values);
        // Where the block is no run of values, every chunk is shared.
        let last = if end == values { end.div_ceil(CHUNK) } else { end / CHUNK };
        let alone = if end - first == volume { first.div_ceil(CHUNK)..last } else { 0..0 };
        Folding {
            reduction,
            element: view.first(),
            alone,
            done: 0,
            lanes: Lanes::new(O::IDENTITY),
            row: [O::IDENTITY; LANES],
            _combine: PhantomData,
        }
    }

    /// What takes the values of a row's items: the lanes, or a row for those who put a chunk
    /// together. A lane begins as what changes no item's value, since those have begun so, too.
    #[inline(always)]
    pub fn open(&mut self, row: &Row) -> Takes<'_, T, O> {
        let at = row.first % CHUNK;
        let to = match self.alone.contains(&(row.first / CHUNK)) {
            true => &mut self.lanes.0[at % LANES..][..row.len],
            false => &mut self.row[..row.len],
        };
        if at < LANES || !self.alone.contains(&(row.first / CHUNK)) {
            to.fill(O::IDENTITY);
        }
        Takes { first: to.as_mut_ptr(), _combine: PhantomData }
    }

    /// The row's items have run.
    #[inline(always)]
    pub fn close(&mut self, row: &Row) {
        let (chunk, at) = (row.first / CHUNK, row.first % CHUNK);
        let Some(reduction) = self.reduction else { return };
        if !self.alone.contains(&chunk) {
            if let Some(all) = reduction.put(chunk, at, &self.row[..row.len]) {
                self.finish(reduction, chunk, fold::<O, T>(&all), 1);
            }
            return;
        }
        let len = reduction.len(chunk);
        if at + row.len == len {
            let result = self.lanes.result::<O>(len);
            self.done += 1;
            let all = self.done == self.alone.len();
            self.finish(reduction, chunk, result, if all { self.done } else { 0 });
        }
    }

    /// The value of a group, by its number.
    pub(super) fn group(&mut self, number: usize, value: T) {
        let row = Row { first: number, len: 1, at: [0; 3] };
        // SAFETY: the row has one number.
        unsafe { self.open(&row).take(0, value) };
        self.close(&row);
    }

    fn finish(&self, reduction: &Reduction, chunk: usize, result: T, count: usize) {
        if let (Some(result), Some(element)) =
            (reduction.finish::<O, T>(chunk, result, count), self.element)
        {
            // SAFETY: in bounds of live memory (`new`); there is one last chunk, so no other thread
            // writes.
            unsafe { element.write(result) };
        }
    }
}

/// Neighbouring items, whose values are of one row of lanes.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Number of the first of them in the launch.
    pub(super) first: usize,
    pub(super) len: usize,
    /// Position of the first of them.
    pub(super) at: [usize; 3],
}

impl Row {
    /// Calls `body` for each of them, with its number in the row.
    ///
    /// # Safety
    /// As for [`Positions::each`].
    #[inline(always)]
    pub unsafe fn each<const D: usize>(&self, mut body: impl FnMut(Item<'_, D>, usize)) {
        let [z, y, x] = self.at;
        for k in 0..self.len {
            // A test of this sum, in profiles that have it, would cost the vectors.
            body(Item::new(last([z, y, x.wrapping_add(k)])), k);
        }
    }
}

impl Launched {
    /// The rows of a block, in order. (Not by a closure: the loop over them is the caller's, with
    /// the instructions that it is compiled for.)
    #[inline(always)]
    pub fn rows(&self, block: &Positions) -> Rows<'_> {
        let places = self.places(block);
        let empty = (0..3).any(|dim| places.min[dim] >= places.max[dim]);
        Rows { launch: self, at: places.min, over: empty, places }
    }
}

/// See [`Launched::rows`].
#[derive(Debug)]
pub struct Rows<'l> {
    launch: &'l Launched,
    places: Positions,
    /// Where the next one begins.
    at: [usize; 3],
    over: bool,
}

impl Iterator for Rows<'_> {
    type Item = Row;

    #[inline(always)]
    fn next(&mut self) -> Option<Row> {
        if self.over {
            return None;
        }
        let Rows { launch, places: Positions { min, max }, at: [z, y, x], .. } = *self;
        let first = (z * launch.range[1] + y) * launch.range[2] + x;
        let len = (LANES - first % LANES).min(max[2] - x);
        let at = [z, y, x];
        let row = Row { first, len, at: std::array::from_fn(|dim| at[dim] + launch.offset[dim]) };
        self.at[2] += len;
        if self.at[2] == max[2] {
            (self.at[2], self.at[1]) = (min[2], y + 1);
            if self.at[1] == max[1] {
                (self.at[1], self.at[0]) = (min[1], z + 1);
                self.over = self.at[0] == max[0];
            }
        }
        Some(row)
    }
}
