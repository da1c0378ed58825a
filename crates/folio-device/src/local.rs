//! Local memory: an array of each group. The allowed accesses depend on the place: an item writes
//! its own slot, and reads others in phases that do not write.

use super::atomic::{Atom, Atoms};
use super::view::outside;
use super::{At, Elements, Ends, Gaps, Group, GroupItem, Local, LocalAtomic, Put, Shared};
use folio_kernel::source::Entry;
use std::marker::PhantomData;

/// A parameter that is local memory.
///
/// # Safety
/// Its arrays have as many slots as it says.
pub unsafe trait LocalParam {
    /// The array of uniform code.
    type Array<'g>: Copy;
    /// The parameter's entry in the table.
    fn entry() -> Entry;
    /// The array of a group, all zero; `number` is the parameter's in the source.
    fn array<const D: usize>(group: Group<'_, D>, number: usize) -> Self::Array<'_>;
    /// An array of nothing, for probing.
    ///
    /// # Safety
    /// The array is not used.
    unsafe fn none<'g>() -> Self::Array<'g>;
    /// Number of slots.
    const SLOTS: usize;
    /// Whether an index may be none of a slot: not 0 then.
    #[must_use]
    fn unproved(index: Ends, gaps: &Gaps) -> usize {
        index.unless_within(0, Self::SLOTS, gaps)
    }
}

/// How many slots an array has, as the IR counts them.
fn slots<const N: usize>() -> u32 {
    const { assert!(N > 0 && N <= u32::MAX as usize, "local memory has 1 to 2^32 - 1 slots") };
    N as u32
}

/// An array of a group. `P` says what may be done with it.
#[derive(Debug)]
pub struct Array<'g, P, T, const N: usize> {
    first: *mut T,
    param: usize,
    _what: PhantomData<(&'g (), P)>,
}

impl<P, T, const N: usize> Clone for Array<'_, P, T, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P, T, const N: usize> Copy for Array<'_, P, T, N> {}

/// Of phases that read: any slot.
#[derive(Debug)]
pub enum Reads {}
/// Of phases that write: each item its own slot.
#[derive(Debug)]
pub enum Writes {}
/// Of `once` phases: any slot, read and written.
#[derive(Debug)]
pub enum Once {}
/// While the array is filled: nothing.
#[derive(Debug)]
pub enum Filled {}
/// Where it is not used but in phases.
#[derive(Debug)]
pub enum Held {}
/// Of phases: any slot, atomically.
#[derive(Debug)]
pub enum Counts {}

// SAFETY: room for `N` is taken of the group.
unsafe impl<T: Shared, const N: usize> LocalParam for Local<T, N> {
    type Array<'g> = Array<'g, Reads, T, N>;
    const SLOTS: usize = N;
    fn entry() -> Entry {
        Entry::Local(T::describe, slots::<N>())
    }
    #[inline(always)]
    fn array<const D: usize>(group: Group<'_, D>, number: usize) -> Self::Array<'_> {
        // SAFETY: the group's, with room for so many, for as long as it runs.
        unsafe { Array::new(group.local(N), number) }
    }
    unsafe fn none<'g>() -> Self::Array<'g> {
        // SAFETY: it is not used: the caller's promise.
        unsafe { Array::new(std::ptr::null_mut(), 0) }
    }
}

// SAFETY: as above.
unsafe impl<T: Atom, const N: usize> LocalParam for LocalAtomic<T, N> {
    type Array<'g> = Array<'g, Held, T, N>;
    const SLOTS: usize = N;
    fn entry() -> Entry {
        Entry::Local(T::describe, slots::<N>())
    }
    #[inline(always)]
    fn array<const D: usize>(group: Group<'_, D>, number: usize) -> Self::Array<'_> {
        // SAFETY: the group's, with room for so many, for as long as it runs.
        unsafe { Array::new(group.local(N), number) }
    }
    unsafe fn none<'g>() -> Self::Array<'g> {
        // SAFETY: it is not used: the caller's promise.
        unsafe { Array::new(std::ptr::null_mut(), 0) }
    }
}

impl<'g, P, T: Shared, const N: usize> Array<'g, P, T, N> {
    /// # Safety
    /// There are `N` initialised elements, which one group alone uses for `'g`.
    unsafe fn new(first: *mut T, param: usize) -> Self {
        Array { first, param, _what: PhantomData }
    }

    #[inline(always)]
    fn to<Q>(self) -> Array<'g, Q, T, N> {
        Array { first: self.first, param: self.param, _what: PhantomData }
    }

    /// Number of slots.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "kernels compare the length")]
    pub fn len(self) -> usize {
        N
    }

    /// Where a slot is, if there is one.
    #[inline(always)]
    #[track_caller]
    fn slot(&self, at: usize) -> Option<*mut T> {
        if at < N {
            return Some(self.first.wrapping_add(at));
        }
        outside(Some(self.param), [at], [N]);
        None
    }

    #[inline(always)]
    #[track_caller]
    fn load(&self, at: usize) -> T {
        match self.slot(at) {
            // SAFETY: one of the N elements of the group's array (`new`), which are initialised.
            // Items run one after the other, in one thread.
            Some(slot) => unsafe { slot.read() },
            // SAFETY: a device type's zero bytes are a value (`Shared`).
            None => unsafe { std::mem::zeroed() },
        }
    }

    #[inline(always)]
    #[track_caller]
    fn store(&self, at: usize, value: T) {
        if let Some(slot) = self.slot(at) {
            // SAFETY: as in `load`.
            unsafe { slot.write(value) };
        }
    }
}

impl<'g, T: Shared, const N: usize> Array<'g, Reads, T, N> {
    /// In a phase that only reads it.
    #[inline(always)]
    pub fn reading(self) -> Array<'g, Reads, T, N> {
        self
    }

    /// In a phase that writes it.
    #[inline(always)]
    pub fn writing(self) -> Array<'g, Writes, T, N> {
        self.to()
    }

    /// In a phase of one item.
    #[inline(always)]
    pub fn once(self) -> Array<'g, Once, T, N> {
        self.to()
    }

    /// In what it is filled with.
    #[inline(always)]
    pub fn filled(self) -> Array<'g, Filled, T, N> {
        self.to()
    }

    /// A phase: each slot is computed by one item.
    #[inline(always)]
    pub fn fill(self, of: impl Fn(usize) -> T) {
        for at in 0..N {
            // SAFETY: one of the N slots; else as in `load`.
            unsafe { self.first.wrapping_add(at).write(of(at)) };
        }
    }
}

impl<'g, T: Shared, const N: usize> Array<'g, Held, T, N> {
    /// In a phase.
    #[inline(always)]
    pub fn counting(self) -> Array<'g, Counts, T, N> {
        self.to()
    }
}

// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<P, T: Shared, const N: usize> Elements for Array<'_, P, T, N> {
    type Element = T;
}

macro_rules! access {
    ($($what:ident $trait:ident [$($g:tt)*] $index:ty, |$at:pat_param| $slot:expr;)*) => {$(
        access! { @ $what $trait [$($g)*] $index, $at, $slot }
    )*};
    (@ $what:ident At [$($g:tt)*] $index:ty, $at:pat_param, $slot:expr) => {
        #[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<T: Shared, const N: usize, $($g)*> At<$index> for Array<'_, $what, T, N> {
            #[inline(always)]
            #[track_caller]
            fn at(&self, $at: $index) -> T {
                self.load($slot)
            }
            #[inline(always)]
            unsafe fn at_proved(&self, $at: $index) -> T {
                // SAFETY: the caller's promise: a slot; else as in `load`.
                unsafe { self.first.wrapping_add($slot).read() }
            }
        }
    };
    (@ $what:ident Put [$($g:tt)*] $index:ty, $at:pat_param, $slot:expr) => {
        #[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<T: Shared, const N: usize, $($g)*> Put<$index> for Array<'_, $what, T, N> {
            #[inline(always)]
            #[track_caller]
            fn put(&mut self, $at: $index, value: T) {
                self.store($slot, value);
            }
            #[inline(always)]
            unsafe fn put_proved(&mut self, $at: $index, value: T) {
                // SAFETY: the caller's promise: a slot; else as in `load`.
                unsafe { self.first.wrapping_add($slot).write(value) };
            }
        }
    };
}
access! {
    Reads At [] usize, |at| at;
    Reads At [] u32, |at| at as usize;
    Reads At [] i32, |at| at as usize;
    Reads At [const D: usize] GroupItem<'_, D>, |item| item.local_index();
    Writes At [const D: usize] GroupItem<'_, D>, |item| item.local_index();
    Writes Put [const D: usize] GroupItem<'_, D>, |item| item.local_index();
    Once At [] usize, |at| at;
    Once At [] u32, |at| at as usize;
    Once At [] i32, |at| at as usize;
    Once Put [] usize, |at| at;
    Once Put [] u32, |at| at as usize;
    Once Put [] i32, |at| at as usize;
}

macro_rules! atoms {
    ($([$($g:tt)*] $index:ty, |$at:pat_param| $slot:expr;)*) => {$(
        // SAFETY: the group's array, which is used by one thread.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Atom, const N: usize, $($g)*> Atoms<$index> for Array<'_, Counts, T, N> {
            #[inline(always)]
            #[track_caller]
            fn element(&self, $at: $index) -> Option<*mut T> {
                self.slot($slot)
            }
            #[inline(always)]
            fn are_alone(&self) -> bool {
                true
            }
        }
    )*};
}
atoms! {
    [] usize, |at| at;
    [] u32, |at| at as usize;
    [] i32, |at| at as usize;
    [const D: usize] GroupItem<'_, D>, |item| item.local_index();
}
