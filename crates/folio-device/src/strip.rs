//! Strips: neighbouring items that are computed together. A loop whose ends are the same for all
//! items runs once for a strip, and the lanes of the strip run inside of it: that loop becomes
//! vectors, where a loop inside of each item would not. What an item keeps across such loops is in
//! [`Lanes`].
//!
//! No item sees another's variables, and each does what it does in its own order, so results are
//! those of items one by one.

use super::slot::zeroed;
use super::view::outside;
use super::{At, Change, Elements, Item, Positions, Put, Shared, param::last};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Items of a strip, at most.
const MOST: usize = 128;
/// With fewer at a time nothing would be won.
const LEAST: usize = 16;
/// Memory of a variable.
const BYTES: usize = 2048;
/// Memory of an array that lanes index.
const ARRAY_BYTES: usize = 16 << 10;
/// A loop over so many elements of an array is vectors by itself.
const LONG: usize = 32;

/// Neighbours in the last dimension.
#[derive(Clone, Copy, Debug)]
pub struct Strip<'b, const D: usize> {
    first: [usize; D],
    count: usize,
    most: usize,
    _turn: PhantomData<&'b ()>,
}

/// One item of a strip.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    number: usize,
    /// Items of a strip, at most: so many words of arrays lie beside each other.
    most: usize,
}

impl Lane {
    /// So many, from this number on, of a strip of `most`.
    #[inline(always)]
    pub(super) fn each(first: usize, count: usize, most: usize) -> impl Iterator<Item = Lane> {
        (0..count).map(move |lane| Lane { number: first.wrapping_add(lane), most })
    }

    /// Its number in the strip.
    #[inline(always)]
    pub(super) fn number(self) -> usize {
        self.number
    }
}

impl<'b, const D: usize> Strip<'b, D> {
    /// Its items.
    #[inline(always)]
    pub fn lanes(self) -> impl Iterator<Item = Lane> {
        Lane::each(0, self.count, self.most)
    }

    /// An item.
    #[inline(always)]
    pub fn item(self, lane: Lane) -> Item<'b, D> {
        let mut at = self.first;
        if let Some(x) = at.last_mut() {
            // A test of this sum, in profiles that have it, would cost the vectors.
            *x = x.wrapping_add(lane.number);
        }
        Item::new(at)
    }
}

/// Positions whose items are made from it, each once.
#[derive(Debug)]
pub struct Block<'b> {
    positions: Positions,
    _turn: PhantomData<&'b ()>,
}

impl<'b> Block<'b> {
    /// Of these. The items live as long as the caller says.
    ///
    /// # Safety
    /// That of [`Positions::each`]; and the launch, or the group, goes on for as long as the items
    /// live.
    #[inline(always)]
    pub unsafe fn new(positions: Positions) -> Block<'b> {
        Block { positions, _turn: PhantomData }
    }

    /// Of a kernel that is only asked for its types. What is given shows rustc what the user means
    /// by an item.
    pub fn none<const D: usize>(_: Item<'_, D>) -> Block<'b> {
        Block { positions: Positions { min: [0; 3], max: [0; 3] }, _turn: PhantomData }
    }

    /// All items, in strips with such room for variables ([`Lanes::most`]). Where that is so little
    /// that strips are not worth it, each is one item: LLVM sees that, and keeps its variables
    /// where it keeps those of any function.
    #[inline(always)]
    pub fn strips<const D: usize>(self, rooms: &[usize]) -> Strips<'b, D> {
        let most = most(rooms).unwrap_or(1);
        let Positions { min, max } = self.positions;
        let empty = min.iter().zip(&max).any(|(first, end)| first >= end);
        let next = if empty { [max[0], 0, 0] } else { min };
        Strips { block: self.positions, next, most, _turn: PhantomData }
    }
}

/// The strips of a block. An iterator, since a closure with a body as large as a kernel's may not
/// be inlined, and would then be compiled for any processor.
#[derive(Debug)]
pub struct Strips<'b, const D: usize> {
    block: Positions,
    /// Where the next one begins.
    next: [usize; 3],
    most: usize,
    _turn: PhantomData<&'b ()>,
}

impl<'b, const D: usize> Iterator for Strips<'b, D> {
    type Item = Strip<'b, D>;

    #[inline(always)]
    fn next(&mut self) -> Option<Strip<'b, D>> {
        let Positions { min, max } = self.block;
        let [z, y, x] = self.next;
        if z >= max[0] {
            return None;
        }
        let count = (max[2] - x).min(self.most);
        self.next = if x + count < max[2] {
            [z, y, x + count]
        } else if y + 1 < max[1] {
            [z, y + 1, min[2]]
        } else {
            [z + 1, min[1], min[2]]
        };
        Some(Strip { first: last([z, y, x]), count, most: self.most, _turn: PhantomData })
    }
}

/// How many items a strip can have, if these are its variables' numbers ([`Lanes::most`]); none if
/// so few that it is not worth it.
#[inline(always)]
pub fn most(variables: &[usize]) -> Option<usize> {
    let most = variables.iter().fold(MOST, |most, of| most.min(*of));
    (most >= LEAST).then_some(most)
}

/// A variable of each item of a strip. Its words lie apart, those of neighbours beside each other,
/// so that vectors are read and written as they are.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lanes<T: Copy>(MaybeUninit<Room<T>>);

/// Memory for many, or for one that needs more.
#[derive(Clone, Copy)]
#[repr(C)]
union Room<T: Copy> {
    many: [u8; BYTES],
    one: T,
}

impl<T: Copy> Lanes<T> {
    /// A word's size: that of a number, as far as the alignment says.
    const WORD: usize = if align_of::<T>() < 8 { align_of::<T>() } else { 8 };
    const WORDS: usize = size_of::<T>() / Self::WORD;
    /// Lanes that there is memory for: one, where strips are not worth it.
    const ROOM: usize = match size_of::<T>() {
        0 => MOST,
        size if size > BYTES / LEAST => 1,
        size => BYTES / size,
    };

    /// Of no item yet.
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "made by the macro only")]
    pub fn new() -> Lanes<T> {
        Lanes(MaybeUninit::uninit())
    }

    /// How many items it has memory for.
    #[inline(always)]
    pub fn most(&self) -> usize {
        Self::ROOM
    }

    /// An item's value.
    ///
    /// # Safety
    /// It was [`set`](Lanes::set).
    #[inline(always)]
    pub unsafe fn get(&self, lane: Lane) -> T {
        if Self::ROOM == 1 {
            // SAFETY: it was set; and there is one lane.
            return unsafe { self.0.as_ptr().cast::<T>().read() };
        }
        let mut value = MaybeUninit::<T>::uninit();
        let (from, to) = (self.0.as_ptr().cast::<u8>(), value.as_mut_ptr().cast::<u8>());
        // SAFETY: as in `set`, which has written these words.
        unsafe {
            Self::words(|word| {
                move_word(Self::WORD, from, word * Self::ROOM + lane.number, to, word)
            });
            value.assume_init()
        }
    }

    /// Gives it to an item.
    ///
    /// # Safety
    /// The lane is of a strip of at most [`Lanes::most`] items.
    #[inline(always)]
    pub unsafe fn set(&mut self, lane: Lane, value: T) {
        if Self::ROOM == 1 {
            // SAFETY: there is memory for one, which is the only lane.
            return unsafe { self.0.as_mut_ptr().cast::<T>().write(value) };
        }
        let (from, to) = ((&raw const value).cast::<u8>(), self.0.as_mut_ptr().cast::<u8>());
        // SAFETY: `value` has `WORDS` words, aligned, since a size is a multiple of its alignment;
        // and here the last one ends at `WORDS * ROOM * WORD` or before, which is at most `BYTES`.
        Self::words(|word| unsafe {
            move_word(Self::WORD, from, word, to, word * Self::ROOM + lane.number);
        });
    }

    #[inline(always)]
    fn words(each: impl FnMut(usize)) {
        (0..Self::WORDS).for_each(each);
    }
}

/// An array of each item of a strip, of which lanes index elements. An element lies beside those of
/// the neighbours, unless the array is long or large: then it is that of a strip of one.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ArrayLanes<T: Copy, const N: usize>(MaybeUninit<ArrayRoom<T, N>>);

/// Memory for many, or for one that needs more.
#[derive(Clone, Copy)]
#[repr(C)]
union ArrayRoom<T: Copy, const N: usize> {
    many: [u8; ARRAY_BYTES],
    one: [T; N],
}

impl<T: Copy, const N: usize> ArrayLanes<T, N> {
    /// Lanes that there is memory for, in whole vectors.
    const ROOM: usize = match N * size_of::<T>() {
        0 => MOST,
        size if N >= LONG || size > ARRAY_BYTES / LEAST => 1,
        size => ARRAY_BYTES / size / LEAST * LEAST,
    };

    /// Of no item yet.
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "made by the macro only")]
    pub fn new() -> ArrayLanes<T, N> {
        ArrayLanes(MaybeUninit::uninit())
    }

    /// How many items it has memory for.
    #[inline(always)]
    pub fn most(&self) -> usize {
        Self::ROOM
    }

    /// Gives it to an item.
    ///
    /// # Safety
    /// The lane is of a strip of at most [`ArrayLanes::most`] items, as are all lanes that use it.
    #[inline(always)]
    pub unsafe fn set(&mut self, lane: Lane, value: [T; N]) {
        // SAFETY: the caller's promise; every element is written.
        let mut array = unsafe { self.array(lane) };
        for (index, element) in value.into_iter().enumerate() {
            array.write(index, element);
        }
    }

    /// An item's array.
    ///
    /// # Safety
    /// That of [`set`](ArrayLanes::set); and before an element is read, the array was set.
    #[inline(always)]
    pub unsafe fn array(&mut self, lane: Lane) -> LaneArray<'_, T, N> {
        LaneArray { lanes: self, lane }
    }
}

/// An array of one item of a strip. Elements are read and written where they lie.
#[derive(Debug)]
pub struct LaneArray<'l, T: Copy, const N: usize> {
    lanes: &'l mut ArrayLanes<T, N>,
    lane: Lane,
}

impl<T: Copy, const N: usize> LaneArray<'_, T, N> {
    /// Where a word of an element is, in words.
    #[inline(always)]
    fn place(&self, index: usize, word: usize) -> usize {
        (index * Lanes::<T>::WORDS + word) * self.lane.most + self.lane.number
    }

    #[inline(always)]
    fn read(&self, index: usize) -> T {
        let from = self.lanes.0.as_ptr().cast::<u8>();
        let mut value = MaybeUninit::<T>::uninit();
        let to = value.as_mut_ptr().cast::<u8>();
        // SAFETY: callers' indices are below `N`, the lane's number is below `most`, and that is at
        // most `ROOM`; so these are words that `write` has written.
        unsafe {
            Lanes::<T>::words(|word| {
                move_word(Lanes::<T>::WORD, from, self.place(index, word), to, word);
            });
            value.assume_init()
        }
    }

    #[inline(always)]
    fn write(&mut self, index: usize, value: T) {
        let from = (&raw const value).cast::<u8>();
        let to = self.lanes.0.as_mut_ptr().cast::<u8>();
        // SAFETY: as in `read`: the last word ends within the memory of all lanes, or of one.
        Lanes::<T>::words(|word| unsafe {
            move_word(Lanes::<T>::WORD, from, word, to, self.place(index, word));
        });
    }
}

// SAFETY: an element of the lane's own array.
unsafe impl<T: Shared, const N: usize> Elements for LaneArray<'_, T, N> {
    type Element = T;
}

macro_rules! indexed {
    ($($index:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: as an array has it.
        unsafe impl<T: Shared, const N: usize> At<$index>
            for LaneArray<'_, T, N>
        {
            #[inline(always)]
            #[track_caller]
            fn at(&self, index: $index) -> T {
                if (index as usize) < N {
                    return self.read(index as usize);
                }
                outside(None, [index as usize], [N]);
                zeroed()
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: as an array has it.
        unsafe impl<T: Shared, const N: usize> Put<$index>
            for LaneArray<'_, T, N>
        {
            #[inline(always)]
            #[track_caller]
            fn put(&mut self, index: $index, value: T) {
                match (index as usize) < N {
                    true => self.write(index as usize, value),
                    false => outside(None, [index as usize], [N]),
                }
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: as an array has it.
        unsafe impl<T: Shared, const N: usize> Change<$index>
            for LaneArray<'_, T, N>
        {
            type Index = $index;
            #[inline(always)]
            fn same(index: $index) -> $index {
                index
            }
        }
    )*};
}
indexed! { usize u32 i32 }

/// Copies a word of so many bytes, which may be padding, from one place to another, counted in
/// words.
///
/// # Safety
/// Both are live memory, aligned for such words.
#[inline(always)]
unsafe fn move_word(size: usize, from: *const u8, at: usize, to: *mut u8, place: usize) {
    macro_rules! moved {
        ($word:ty) => {{
            let from = from.cast::<MaybeUninit<$word>>().wrapping_add(at);
            // SAFETY: the caller's promise.
            unsafe { to.cast::<MaybeUninit<$word>>().wrapping_add(place).write(from.read()) }
        }};
    }
    match size {
        8 => moved!(u64),
        4 => moved!(u32),
        2 => moved!(u16),
        _ => moved!(u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane_of(number: usize, most: usize) -> Lane {
        Lane { number, most }
    }

    /// What is set is what is there, for each lane that there can be.
    fn keeps<T: Copy + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> T) {
        let mut lanes = Lanes::new();
        let count = lanes.most().min(MOST);
        for lane in 0..count {
            // SAFETY: there is memory for it.
            unsafe { lanes.set(lane_of(lane, count), value(lane)) };
        }
        for lane in 0..count {
            // SAFETY: it was set.
            assert_eq!(unsafe { lanes.get(lane_of(lane, count)) }, value(lane));
        }
    }

    #[test]
    fn lanes_keep_values_of_every_size() {
        keeps(|k| k as u8);
        keeps(|k| k % 3 == 0);
        keeps(|k| k as f32);
        keeps(|k| k as u64);
        keeps(|k| [k as u16; 3]);
        keeps(|k| [k as f32, 1.0, 2.0, k as f32 + 3.0]);
        keeps(|k| (k, k % 2 == 0, k as u16));
        keeps(|k| (k as u128, 1u8));
        keeps(|k| [k as u64; BYTES / 8]);
        keeps(|_| ());
        keeps(|k| [k as u64; BYTES / 8 + 1]);
        assert_eq!(Lanes::<[u8; 2 * BYTES]>::new().most(), 1);
    }

    #[test]
    fn arrays_of_lanes_are_those_of_each_item() {
        let mut lanes = ArrayLanes::<[f32; 2], 3>::new();
        let count = lanes.most().min(MOST);
        assert_eq!(count, MOST);
        let of = |lane: usize, k: usize| [(lane * 8 + k) as f32, 0.5];
        for lane in 0..count {
            // SAFETY: there is memory for it, and then it is set.
            let mut array = unsafe {
                lanes.set(lane_of(lane, count), [0, 1, 2].map(|k| of(lane, k)));
                lanes.array(lane_of(lane, count))
            };
            array.put(1u32, [7.0, lane as f32]);
        }
        for lane in 0..count {
            // SAFETY: it was set.
            let array = unsafe { lanes.array(lane_of(lane, count)) };
            let all = [0, 1, 2usize].map(|k| array.at(k));
            assert_eq!(all, [of(lane, 0), [7.0, lane as f32], of(lane, 2)]);
        }
        let mut large = ArrayLanes::<f64, 1000>::new();
        assert_eq!(large.most(), 1);
        // SAFETY: there is memory for one.
        let mut one = unsafe {
            large.set(lane_of(0, 1), [1.0; 1000]);
            large.array(lane_of(0, 1))
        };
        one.put(999usize, 2.0);
        assert_eq!([one.at(998i32), one.at(999i32)], [1.0, 2.0]);
        let outside = std::panic::AssertUnwindSafe(|| one.at(1000usize));
        assert!(std::panic::catch_unwind(outside).is_err());
    }

    #[test]
    fn strips_are_all_items_once() {
        let block = Positions { min: [1, 5, 7], max: [3, 6, 30] };
        for most in [1, 4, 16, 23, 128] {
            let (mut one, mut other) = (vec![], vec![]);
            // SAFETY: nothing is launched, and nothing written by these items.
            let strips = unsafe {
                block.each::<3>(|item| one.push(item.pos()));
                Block::new(block).strips::<3>(&[most])
            };
            for strip in strips {
                assert!(strip.count <= if most < LEAST { 1 } else { most });
                other.extend(strip.lanes().map(|lane| strip.item(lane).pos()));
            }
            assert_eq!(one, other);
        }
    }

    #[test]
    fn nothing_has_no_strips() {
        for dim in 0..3 {
            let mut max = [4; 3];
            max[dim] = 2;
            // SAFETY: as above.
            let block = unsafe { Block::new(Positions { min: [2; 3], max }) };
            let mut strips = block.strips::<3>(&[16]);
            assert!(strips.next().is_none());
        }
    }

    #[test]
    fn large_variables_make_short_strips_or_none() {
        assert_eq!(most(&[]), Some(MOST));
        assert_eq!(most(&[Lanes::<f64>::new().most(), 4096]), Some(MOST));
        assert_eq!(most(&[Lanes::<[f64; 8]>::new().most()]), Some(32));
        assert_eq!(most(&[512, Lanes::<[f64; 17]>::new().most()]), None);
    }
}
