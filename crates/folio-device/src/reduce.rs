//! Launch-wide reductions (semantics 8.4): a function of the values alone, whichever thread has
//! which of them.
//!
//! Values are numbered in row-major order and cut into chunks of 4096. A thread whose block has all
//! of a chunk computes its result alone. Of a chunk that several blocks share, or parts of a block,
//! each writes its values into the chunk's memory, and counts them when it leaves the chunk; who
//! counts the last ones computes the result. The thread that finishes the last chunk computes the
//! rest.

use super::chunk::{CHUNK, SharedChunks};
use super::combine::{Combine, tree};
use super::launched::Launched;
use super::rows::Row;
use super::versions::Instructions;
use super::{GroupItem, ParamPtr, Positions, Reduce, Shared, View};
use folio_kernel::source::Entry;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Values that are folded beside each other.
pub(super) const LANES: usize = 256;

/// One reduction of a launch, shared by all who compute a part of it.
#[derive(Debug)]
pub(super) struct Reduction {
    values: usize,
    /// The results of chunks, or the values of groups, are what the launch leaves.
    leaves: bool,
    /// The results of chunks, as bits.
    results: Box<[AtomicU64]>,
    /// Chunks without a result.
    missing: AtomicUsize,
    /// Those that several blocks share.
    shared: SharedChunks,
}

pub(super) fn word_of<T: Shared>(value: T) -> u64 {
    const { assert!(size_of::<T>() <= 8) };
    let mut word = 0u64;
    // SAFETY: at most 8 bytes, all initialised (`Shared` types have no padding), into a word.
    unsafe { (&raw mut word).cast::<T>().write_unaligned(value) };
    word
}

pub(super) fn value_of<T: Shared>(word: u64) -> T {
    const { assert!(size_of::<T>() <= 8) };
    // SAFETY: the word holds a `T`: made by `word_of`, or zero, which is a value of every type.
    unsafe { (&raw const word).cast::<T>().read_unaligned() }
}

impl Reduction {
    pub(super) fn new(values: usize) -> Reduction {
        let chunks = values.div_ceil(CHUNK);
        Reduction {
            values,
            leaves: false,
            results: (0..chunks).map(|_| AtomicU64::new(0)).collect(),
            missing: AtomicUsize::new(chunks),
            shared: SharedChunks::new(chunks),
        }
    }

    /// See [`Launched::leaving`].
    pub(super) fn leave(&mut self) {
        self.leaves = true;
    }

    /// No value is known.
    pub(super) fn begin(&self) {
        self.missing.store(self.results.len(), Ordering::Relaxed);
        self.shared.clear();
    }

    /// Values of a chunk: fewer in the last one.
    fn len(&self, chunk: usize) -> usize {
        CHUNK.min(self.values.saturating_sub(chunk * CHUNK))
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
        reduced::<O, T>(results.collect())
    }
}

/// The one value that is left of values.
pub(super) fn reduced<O: Combine<T>, T: Shared>(mut values: Vec<T>) -> Option<T> {
    while values.len() > 1 {
        values = values.chunks(CHUNK).map(fold::<O, T>).collect();
    }
    values.first().copied()
}

/// The result of a chunk.
fn fold<O: Combine<T>, T: Shared>(chunk: &[T]) -> T {
    match Instructions::best() {
        // SAFETY: the processor has them (`Instructions::limit`).
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 | Instructions::Avx512 => unsafe { fold_by_avx2::<O, T>(chunk) },
        _ => fold_by_any::<O, T>(chunk),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fold_by_avx2<O: Combine<T>, T: Shared>(chunk: &[T]) -> T {
    fold_by_any::<O, T>(chunk)
}

#[inline(always)]
fn fold_by_any<O: Combine<T>, T: Shared>(chunk: &[T]) -> T {
    let mut lanes = Lanes::<T>::new(O::IDENTITY);
    let (first, others) = chunk.split_at(LANES.min(chunk.len()));
    lanes.0[..first.len()].copy_from_slice(first);
    for rows in others.chunks(4 * LANES) {
        match <&[T; 4 * LANES]>::try_from(rows) {
            Ok(rows) => lanes.add_four::<O>(rows),
            Err(_) => rows.chunks(LANES).for_each(|row| lanes.add::<O>(row)),
        }
    }
    lanes.result::<O>(chunk.len())
}

/// The lanes of one chunk.
struct Lanes<T>([T; LANES]);

impl<T: Shared> Lanes<T> {
    fn new(any: T) -> Lanes<T> {
        Lanes([any; LANES])
    }

    /// A value for each of the first lanes.
    #[inline(always)]
    fn add<O: Combine<T>>(&mut self, values: &[T]) {
        let lanes = self.0.iter_mut().zip(values);
        lanes.for_each(|(lane, value)| *lane = O::combine(*lane, *value));
    }

    /// Four for each lane, which is loaded and stored once.
    #[inline(always)]
    fn add_four<O: Combine<T>>(&mut self, values: &[T; 4 * LANES]) {
        for (k, lane) in self.0.iter_mut().enumerate() {
            let two = O::combine(O::combine(*lane, values[k]), values[k + LANES]);
            *lane = O::combine(O::combine(two, values[k + 2 * LANES]), values[k + 3 * LANES]);
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
    /// The chunk that the block shares and is at, if it is at one.
    at: Option<Visit<T>>,
    _combine: PhantomData<O>,
}

/// A block is at a chunk that it shares.
struct Visit<T> {
    chunk: usize,
    /// The chunk's values.
    first: *mut T,
    /// Values that the block has written and not counted.
    count: usize,
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
    /// The memory is live for `'l`, of one `T` or more, where the launch
    /// [leaves](Launched::leaving) more of as many, and no other code uses it. It is opened for
    /// rows of this block, for each once.
    pub unsafe fn new(
        number: usize,
        memory: &ParamPtr,
        launch: &'l Launched,
        block: &Positions,
    ) -> Self {
        let view = View::<(), T, 1>::new(memory, 0, block);
        let Range { start: first, end } = launch.numbers(&launch.places(block));
        let reduction = launch.reduction(number);
        let values = reduction.map_or(0, |reduction| reduction.values);
        // Where the block is no run of values, every chunk is shared.
        let last = if end == values { end.div_ceil(CHUNK) } else { end / CHUNK };
        let alone = if launch.is_run(block) { first.div_ceil(CHUNK)..last } else { 0..0 };
        Folding {
            reduction,
            element: view.first(),
            alone,
            done: 0,
            lanes: Lanes::new(O::IDENTITY),
            at: None,
            _combine: PhantomData,
        }
    }

    /// What takes the values of a row's items: the lanes, or the memory of a chunk that is shared.
    /// A lane begins as what changes no item's value, since those have begun so, too.
    #[inline(always)]
    pub fn open(&mut self, row: &Row) -> Takes<'_, T, O> {
        let (chunk, at) = (row.first / CHUNK, row.first % CHUNK);
        let to = match self.reduction {
            Some(reduction) if !self.alone.contains(&chunk) => {
                let first = self.visit(reduction, chunk).wrapping_add(at);
                // SAFETY: the chunk is one of the launch's, whose rows these are (`new`), and has
                // memory for each of its values. A row's are of one chunk, and no other block
                // writes these.
                let values = unsafe { std::slice::from_raw_parts_mut(first, row.len) };
                values.fill(O::IDENTITY);
                values
            }
            _ => {
                let lanes = &mut self.lanes.0[at % LANES..][..row.len];
                if at < LANES {
                    lanes.fill(O::IDENTITY);
                }
                lanes
            }
        };
        Takes { first: to.as_mut_ptr(), _combine: PhantomData }
    }

    /// The row's items have run.
    #[inline(always)]
    pub fn close(&mut self, row: &Row) {
        let (chunk, at) = (row.first / CHUNK, row.first % CHUNK);
        if let Some(visit) = self.at.as_mut().filter(|visit| visit.chunk == chunk) {
            visit.count += row.len;
            return;
        }
        let Some(reduction) = self.reduction else { return };
        let len = reduction.len(chunk);
        if at + row.len == len {
            let result = self.lanes.result::<O>(len);
            self.done += 1;
            let all = self.done == self.alone.len();
            self.finish(reduction, chunk, result, if all { self.done } else { 0 });
        }
    }

    /// Goes to a chunk that it shares, and tells where its values are.
    #[inline(always)]
    fn visit(&mut self, reduction: &'l Reduction, chunk: usize) -> *mut T {
        match &self.at {
            Some(visit) if visit.chunk == chunk => visit.first,
            _ => self.go(reduction, chunk),
        }
    }

    #[inline(never)]
    fn go(&mut self, reduction: &'l Reduction, chunk: usize) -> *mut T {
        self.leave();
        let first = reduction.shared.enter(chunk);
        self.at = Some(Visit { chunk, first, count: 0 });
        first
    }

    /// Counts what it has written of a chunk that it shares.
    fn leave(&mut self) {
        let (Some(reduction), Some(Visit { chunk, count, first })) =
            (self.reduction, self.at.take())
        else {
            return;
        };
        let len = reduction.len(chunk);
        if let Some(memory) = reduction.shared.leave(chunk, count, len) {
            // SAFETY: each value was written before it was counted (`SharedChunks::leave`), and no
            // thread writes one again: `memory`, which is this thread's, is what `first` points to.
            let all = unsafe { std::slice::from_raw_parts(first, len) };
            self.finish(reduction, chunk, fold::<O, T>(all), 1);
            drop(memory);
        }
    }

    /// All rows of the block have run.
    pub fn end(mut self) {
        self.leave();
    }

    /// The value of a group, by its number.
    pub(super) fn group(&mut self, number: usize, value: T) {
        if self.leaves() {
            return self.put(number, value);
        }
        let row = Row { first: number, len: 1, at: [0; 3] };
        // SAFETY: the row has one number.
        unsafe { self.open(&row).take(0, value) };
        self.close(&row);
    }

    fn finish(&self, reduction: &Reduction, chunk: usize, result: T, count: usize) {
        if reduction.leaves {
            self.put(chunk, result);
        } else if let Some(result) = reduction.finish::<O, T>(chunk, result, count) {
            self.put(0, result);
        }
    }

    fn leaves(&self) -> bool {
        self.reduction.is_some_and(|reduction| reduction.leaves)
    }

    /// Writes the result, or that of a leaf.
    fn put(&self, at: usize, value: T) {
        if let Some(element) = self.element {
            // SAFETY: in bounds of live memory (`new`), which has an element for each leaf where
            // they are left. A leaf has one last value, and so has the launch: no other thread
            // writes the element.
            unsafe { element.wrapping_add(at).write(value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combine::Add;
    use crate::ends::tests::block;

    /// What values come to that two of these parts after the other contribute.
    fn sum(range: [usize; 2], parts: &[Positions]) -> f32 {
        let all = block([0, 0], range);
        let launch = Launched::new(all.min, all.max, [1; 3], 1);
        let mut total = 0.0f32;
        let (base, dims) = ((&raw mut total).cast(), [1; 3]);
        let memory =
            ParamPtr { base, dims, origin: [0; 3], extent: dims, index: [0; 3], shape: dims };
        launch.begin();
        for part in parts {
            // SAFETY: the memory is `total`, which is not used meanwhile.
            let mut folding = unsafe { Folding::<f32, Add>::new(0, &memory, &launch, part) };
            for row in launch.rows(part) {
                let takes = folding.open(&row);
                for k in 0..row.len {
                    let number = (row.first + k) as f32;
                    // SAFETY: the row has such a number.
                    unsafe { takes.take(k, 1.0 / (number * 0.37 + 1.0)) };
                }
                folding.close(&row);
            }
            folding.end();
        }
        let open = launch.reduction(0).map(|reduction| reduction.shared.len());
        assert_eq!(open, Some(0), "a chunk waits for values");
        total
    }

    /// In whatever parts a launch is computed, sums have the same bits.
    #[test]
    fn parts_of_a_block_come_to_what_the_whole_does() {
        for range in [[70, 300], [1, 10_000], [3000, 7], [9, 9]] {
            let [rows, columns] = range;
            let whole = sum(range, &[block([0, 0], range)]);
            let parts = [
                block([1, 1], [rows - 1, columns - 1]),
                block([0, 0], [1, columns]),
                block([1, 0], [rows - 1, 1]),
                block([1, columns - 1], [rows - 1, columns]),
                block([rows - 1, 0], [rows, columns]),
            ];
            if rows > 1 {
                assert_eq!(sum(range, &parts).to_bits(), whole.to_bits(), "{range:?}");
            }
            let middle = columns / 2;
            let halves = [block([0, middle], range), block([0, 0], [rows, middle])];
            assert_eq!(sum(range, &halves).to_bits(), whole.to_bits(), "{range:?}");
        }
    }
}
