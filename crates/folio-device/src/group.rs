//! Work-groups: what their uniform code and their phases are made of. A phase is a loop over the
//! group's items, one after the other; so a group needs no threads and no barriers here.

use super::arena::{Arena, ArenaLoan};
use super::combine::{Combine, tree};
use super::launched::Launched;
use super::param::{by_dim, last};
use super::reduce::{Folding, Gives};
use super::scan::{CHUNK, Chunk, Fours, scan};
use super::{At, Elements, Item, Positions, Put, Shared};
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice::from_raw_parts_mut;

/// A work-group that a kernel computes. A group lives as long as its run, and so do its items and
/// memory. Parameters are written without its lifetime: `g: Group`, `g: Group<2>`.
#[derive(Clone, Copy, Debug)]
pub struct Group<'g, const D: usize = 1> {
    index: [usize; D],
    count: [usize; D],
    pub(super) size: [usize; D],
    /// Position of its first item.
    pub(super) first: [usize; D],
    /// Live as long as the group runs. A pointer, so that zero bytes are a group: bodies that are
    /// probed are given one.
    arena: *const Arena,
    _run: PhantomData<&'g Arena>,
}

/// With ones for the dimensions that are not there.
#[inline(always)]
pub(super) fn three<const D: usize>(of: [usize; D]) -> [usize; 3] {
    by_dim(|dim| if dim + D < 3 { 1 } else { of[dim + D - 3] })
}

impl<'g, const D: usize> Group<'g, D> {
    /// Items in each dimension.
    #[inline(always)]
    pub fn size(self) -> [usize; D] {
        self.size
    }

    /// Groups of the launch in each dimension.
    #[inline(always)]
    pub fn count(self) -> [usize; D] {
        self.count
    }

    /// Its index in each dimension.
    #[inline(always)]
    pub(super) fn at(self) -> [usize; D] {
        self.index
    }

    /// A phase: `body` for each item.
    #[inline(always)]
    pub fn each(self, body: impl Fn(GroupItem<'g, D>)) {
        self.items(body);
    }

    /// A phase of one item, the first.
    #[inline(always)]
    pub fn once(self, body: impl Fn()) {
        body();
    }

    #[inline(always)]
    fn items(self, mut body: impl FnMut(GroupItem<'g, D>)) {
        let size = three(self.size);
        // Sums that are tested, in profiles where they are, would hide from LLVM where indices end.
        let mut row = 0usize;
        for z in 0..size[0] {
            for y in 0..size[1] {
                for x in 0..size[2] {
                    let local = last([z, y, x]);
                    let at = by_dim(|dim| self.first[dim].wrapping_add(local[dim]));
                    body(GroupItem { item: Item::new(at), local, number: row.wrapping_add(x) });
                }
                row = row.wrapping_add(size[2]);
            }
        }
    }

    /// Number of items.
    #[inline(always)]
    fn len(self) -> usize {
        self.size.iter().product()
    }

    #[inline(always)]
    fn room<T>(self, len: usize) -> *mut T {
        // SAFETY: live for `'g` (`Launched::groups`).
        unsafe { &*self.arena }.room(len)
    }

    /// Local memory, all zero.
    #[inline(always)]
    pub(super) fn local<T: Shared>(self, len: usize) -> *mut T {
        let room = self.room::<T>(len);
        // SAFETY: room for so many elements; zero bytes are a value (`Shared`).
        unsafe { room.write_bytes(0, len) };
        room
    }

    /// The contributions of the group's items to a reduction: none yet.
    #[inline(always)]
    pub fn open<T: Shared, O: Combine<T>>(self, _: &Folding<'_, T, O>) -> Gives<'g, T, O> {
        let (room, len) = (self.room::<T>(self.len()), self.len());
        for at in 0..len {
            // SAFETY: room for so many elements.
            unsafe { room.add(at).write(O::IDENTITY) };
        }
        // SAFETY: written above, in memory of this group.
        unsafe { Gives::new(room) }
    }

    /// The group has run: its items' values become one (semantics 8.4).
    ///
    /// # Safety
    /// [`Group::open`] has made `gives`, of this group.
    #[inline(always)]
    pub unsafe fn close<T: Shared, O: Combine<T>>(
        self,
        folding: &mut Folding<'_, T, O>,
        gives: Gives<'g, T, O>,
    ) {
        // SAFETY: the caller's promise: so many values, which no other code uses now.
        let values = unsafe { gives.values(self.len()) };
        let (mut index, count) = (three(self.index), three(self.count));
        index[..3 - D].fill(0);
        let number = (index[0] * count[1] + index[1]) * count[2] + index[2];
        folding.group(number, tree::<O, T>(values));
    }
}

impl Group<'_, 1> {
    /// Its index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.index[0]
    }
}

impl Group<'_, 2> {
    /// Its index in each dimension.
    #[inline(always)]
    pub fn pos(self) -> (usize, usize) {
        (self.index[0], self.index[1])
    }
}

impl Group<'_, 3> {
    /// Its index in each dimension.
    #[inline(always)]
    pub fn pos(self) -> (usize, usize, usize) {
        (self.index[0], self.index[1], self.index[2])
    }
}

/// An item of a work-group, in a phase.
#[derive(Clone, Copy, Debug)]
pub struct GroupItem<'g, const D: usize = 1> {
    pub(super) item: Item<'g, D>,
    pub(super) local: [usize; D],
    /// Its number in the group, in row-major order.
    pub(super) number: usize,
}

impl<'g, const D: usize> GroupItem<'g, D> {
    /// The item by its position in the launch.
    #[inline(always)]
    pub(super) fn item(self) -> Item<'g, D> {
        self.item
    }

    /// Its number in the group: row-major order of local positions.
    #[inline(always)]
    pub fn local_index(self) -> usize {
        self.number
    }
}

/// The item of a phase, as functions take it.
#[doc(hidden)]
#[inline(always)]
pub fn item_of<const D: usize>(of: GroupItem<'_, D>) -> Item<'_, D> {
    of.item()
}

macro_rules! positions {
    ($($rank:literal $tuple:ty: $($dim:literal)*;)*) => {$(
        impl GroupItem<'_, $rank> {
            /// Its position in the launch.
            #[inline(always)]
            pub fn pos(self) -> $tuple {
                self.item.pos()
            }

            /// Its position in the group.
            #[inline(always)]
            pub fn local_pos(self) -> $tuple {
                ($(self.local[$dim],)*)
            }
        }
    )*};
}
positions! { 2 (usize, usize): 0 1; 3 (usize, usize, usize): 0 1 2; }

impl GroupItem<'_, 1> {
    /// Its position in the launch.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.item.index()
    }
}

/// Values that the items of a group keep between phases. An item has its own.
#[derive(Debug)]
pub struct Private<'g, T> {
    first: *mut T,
    _group: PhantomData<&'g ()>,
}

impl<T> Private<'_, T> {
    /// Of a value for each item.
    #[inline(always)]
    fn new(first: *mut T) -> Self {
        Private { first, _group: PhantomData }
    }
}

impl<T> Clone for Private<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Private<'_, T> {}

// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared> Elements for Private<'_, T> {
    type Element = T;
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const D: usize> At<GroupItem<'_, D>> for Private<'_, T> {
    #[inline(always)]
    fn at(&self, item: GroupItem<'_, D>) -> T {
        // SAFETY: a value for each item of the group (`Room`), of which this is one: all that has
        // items or values of a group lives as long as that runs, so nothing has those of two.
        unsafe { self.first.add(item.number).read() }
    }
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const D: usize> Put<GroupItem<'_, D>> for Private<'_, T> {
    #[inline(always)]
    fn put(&mut self, item: GroupItem<'_, D>, value: T) {
        // SAFETY: as above.
        unsafe { self.first.add(item.number).write(value) };
    }
}

/// Memory for values of a group's items: of one place in the source, taken at its first use in the
/// group and used again at each further one.
#[derive(Debug)]
pub struct Room<T>(Cell<*mut T>);

impl<T: Shared> Room<T> {
    /// No memory yet.
    ///
    /// # Safety
    /// A single group uses it, for one of its methods, at one place.
    #[inline(always)]
    pub const unsafe fn new() -> Room<T> {
        Room(Cell::new(std::ptr::null_mut()))
    }
}

/// The macro's forms of the group's methods that need memory.
impl<'g, const D: usize> Group<'g, D> {
    #[inline(always)]
    fn values<T: Shared>(self, room: &Room<T>, of: impl Fn(GroupItem<'g, D>) -> T) -> *mut T {
        if room.0.get().is_null() {
            room.0.set(self.room(self.len()));
        }
        let first = room.0.get();
        // SAFETY: room for a value of each item.
        self.items(|item| unsafe { first.add(item.number).write(of(item)) });
        first
    }

    /// The inclusive scan of what items give. There is room for a value before the first.
    #[inline(always)]
    fn scanned<O: Combine<T>, T: Shared>(
        self,
        room: &Room<T>,
        of: impl Fn(GroupItem<'g, D>) -> T,
    ) -> *mut T {
        // Two rows of whole chunks, each with one before it.
        let len = self.len();
        let row = len.div_ceil(CHUNK) + 1;
        if room.0.get().is_null() {
            room.0.set(self.room::<Chunk<T>>(2 * row).cast());
        }
        let first = room.0.get().wrapping_add(CHUNK);
        let other = first.wrapping_add(row * CHUNK);
        let mut fours = Fours::<O, T>::new();
        // SAFETY: room for a value of each item.
        self.items(|item| unsafe { first.add(item.number).write(fours.next(of(item))) });
        // SAFETY: what is left of the last chunk.
        (len..(row - 1) * CHUNK).for_each(|at| unsafe { first.add(at).write(O::NEUTRAL) });
        // SAFETY: two rows, of which the first was written above. A room is of one place in the
        // source; who still has what was there before has a `Private`, which is not used while
        // these are.
        let (fours, free) = unsafe {
            let free = from_raw_parts_mut(other.cast::<MaybeUninit<Chunk<T>>>(), row - 1);
            (from_raw_parts_mut(first.cast::<Chunk<T>>(), row - 1), free)
        };
        if scan::<O, T>(fours, free) { other } else { first }
    }

    /// A value for each item.
    #[inline(always)]
    pub fn private<T: Shared>(self, room: &Room<T>, value: T) -> Private<'g, T> {
        Private::new(self.values(room, |_| value))
    }

    /// The items' values as one (semantics 8.2).
    #[inline(always)]
    pub fn reduce<O: Combine<T>, T: Shared>(
        self,
        room: &Room<T>,
        of: impl Fn(GroupItem<'g, D>) -> T,
    ) -> T {
        let first = self.values(room, of);
        // SAFETY: written above, as many. A room is of one place in the source, which has no values
        // now.
        tree::<O, T>(unsafe { from_raw_parts_mut(first, self.len()) })
    }

    /// For each item the values up to and with its own as one (semantics 8.3).
    #[inline(always)]
    pub fn inclusive_scan<O: Combine<T>, T: Shared>(
        self,
        room: &Room<T>,
        of: impl Fn(GroupItem<'g, D>) -> T,
    ) -> Private<'g, T> {
        Private::new(self.scanned::<O, T>(room, of))
    }

    /// For each item the values before its own as one (semantics 8.3).
    #[inline(always)]
    pub fn exclusive_scan<O: Combine<T>, T: Shared>(
        self,
        room: &Room<T>,
        of: impl Fn(GroupItem<'g, D>) -> T,
    ) -> Private<'g, T> {
        let first = self.scanned::<O, T>(room, of).wrapping_sub(1);
        // SAFETY: the room before the first value. Each item then has the value before its own.
        unsafe { first.write(O::IDENTITY) };
        Private::new(first)
    }
}

/// The groups of a block, one after the other. An iterator, since a closure with a body as large as
/// a kernel's may not be inlined, and would then be compiled for any processor.
#[derive(Debug)]
pub struct Groups<'l, const D: usize> {
    launch: &'l Launched,
    places: Positions,
    /// The next one.
    next: [usize; 3],
    count: [usize; D],
    size: [usize; D],
    arena: ArenaLoan,
}

impl<'l, const D: usize> Iterator for Groups<'l, D> {
    type Item = Group<'l, D>;

    #[inline(always)]
    fn next(&mut self) -> Option<Group<'l, D>> {
        let (Positions { min, max }, at @ [z, y, x]) = (self.places, self.next);
        if z >= max[0] {
            return None;
        }
        self.next = if x + 1 < max[2] {
            [z, y, x + 1]
        } else if y + 1 < max[1] {
            [z, y + 1, min[2]]
        } else {
            [z + 1, min[1], min[2]]
        };
        // SAFETY: the groups before have ended.
        unsafe { self.arena.reset() };
        let Launched { offset, group, .. } = self.launch;
        let first = last(by_dim(|dim| offset[dim] + at[dim] * group[dim]));
        let (index, arena, _run) = (last(at), &raw const *self.arena, PhantomData);
        Some(Group { index, count: self.count, size: self.size, first, arena, _run })
    }
}

impl Launched {
    /// The groups of a block, for the loop around a group kernel's body. `own` is the kernel's size
    /// of groups, if it has one: loops over so many items are compiled for that number.
    ///
    /// # Safety
    /// Only what runs a launch makes groups, and each once. A group, and all that is made of it, is
    /// used no more when the next one is made, or the iterator is dropped.
    #[inline(always)]
    pub unsafe fn groups<const D: usize>(&self, block: &Positions, own: &[usize]) -> Groups<'_, D> {
        let places = self.places(block);
        let (count, size) = (last(self.grid()), last(self.group));
        let size = match <[usize; D]>::try_from(own) {
            Ok(own) => {
                assert_eq!(own, size, "a launch has the kernel's own groups");
                own
            }
            Err(_) => size,
        };
        let empty = places.min.iter().zip(&places.max).any(|(first, end)| first >= end);
        let next = if empty { places.max } else { places.min };
        Groups { launch: self, places, next, count, size, arena: ArenaLoan::new() }
    }
}
