//! Views of memory: raw pointers with shapes, read and written element by element, always within
//! bounds (semantics 7.5).

use super::param::{Positions, last};
use super::verdict::{Seen, note};
use super::{
    Atomic, Ends, Gaps, In, InOut, InOutColumn, InOutGroup, InOutRow, Item, Mode, Out, OutChunk,
    OutColumn, OutGroup, OutRow, OutTile, ParamPtr, Racy, Scatter, ScatterLast, Shared,
};
use folio_kernel::source::{Entry, ViewType};
use folio_kernel::{Access, Owner};
use std::marker::PhantomData;

/// A view of elements, with the marker of its access.
#[derive(Debug)]
pub struct View<'m, P, T, const D: usize> {
    /// The first element that is accessed.
    first: *mut T,
    /// Elements from one index to the next, by dimension: 1 in the last one, and so not looked at
    /// there.
    pitch: [usize; D],
    /// The accessed box: from which index on, and how far.
    low: [usize; D],
    size: [usize; D],
    /// The extents that the kernel sees.
    shape: [usize; D],
    /// All items of the block are inside: at its own position no item needs a check.
    own: bool,
    /// Nobody but this block uses the elements.
    pub(super) alone: bool,
    param: usize,
    _elements: PhantomData<(&'m T, P)>,
}

impl<P, T, const D: usize> Clone for View<'_, P, T, D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P, T, const D: usize> Copy for View<'_, P, T, D> {}

/// A parameter that is a view.
///
/// # Safety
/// Its views touch memory as its entry says, and no other.
pub unsafe trait ViewParam {
    /// Type of an element.
    type Element: Shared;
    /// The body's view.
    type View<'m>: Copy;
    /// The parameter's entry in the table.
    fn entry() -> Entry;
    /// The view for a block; `number` is the parameter's in the source.
    ///
    /// # Safety
    /// The memory is live for `'m`, of this shape and type, and no other code uses it against the
    /// access's mode; items are of the block.
    unsafe fn view<'m>(memory: &ParamPtr, number: usize, block: &Positions) -> Self::View<'m>;
    /// A view of nothing, for probing.
    fn none<'m>() -> Self::View<'m>;
}

macro_rules! views {
    ($([$($g:tt)*] $name:ty, $element:ty, $rank:tt, $access:ident $owner:ident;)*) => {$(
        // SAFETY: what a view of this marker may do says its `At`, `Put` and so on; where,
        // `View::new`.
        unsafe impl<T: Shared, $($g)*> ViewParam for $name {
            type Element = $element;
            type View<'m> = View<'m, $name, $element, $rank>;
            fn entry() -> Entry {
                Entry::View(ViewType {
                    element: <$element>::describe,
                    rank: $rank as u8,
                    access: Access::$access,
                    owner: Owner::$owner,
                    colour: None,
                })
            }
            #[inline(always)]
            unsafe fn view<'m>(memory: &ParamPtr, number: usize, block: &Positions) -> Self::View<'m> {
                View::new(memory, number, block)
            }
            fn none<'m>() -> Self::View<'m> {
                View::nothing()
            }
        }
    )*};
}
views! {
    [const D: usize] In<T, D>, T, D, In Item;
    [const D: usize] Out<T, D>, T, D, Out Item;
    [const D: usize] InOut<T, D>, T, D, InOut Item;
    [] OutRow<T>, T, 2, Out Row;
    [] InOutRow<T>, T, 2, InOut Row;
    [] OutColumn<T>, T, 2, Out Column;
    [] InOutColumn<T>, T, 2, InOut Column;
    [const N: usize, const D: usize] OutChunk<T, N, D>, [T; N], D, Out Item;
    [const D: usize] OutGroup<T, D>, T, D, Out Group;
    [const D: usize] InOutGroup<T, D>, T, D, InOut Group;
    [const R: usize, const C: usize, const D: usize] OutTile<T, R, C, D>, T, D, InOut Anyone;
    [const D: usize] Atomic<T, D>, T, D, InOut Atomic;
    [const D: usize] Racy<T, D>, T, D, InOut Anyone;
    [const D: usize] Scatter<T, D>, T, D, InOut Anyone;
    [const D: usize] ScatterLast<T, D>, T, D, InOut Anyone;
}

impl<P, T: Shared, const D: usize> View<'_, P, T, D> {
    pub(super) fn new(memory: &ParamPtr, param: usize, block: &Positions) -> Self {
        const {
            assert!(
                T::IN_MEMORY,
                "a view's elements have no bool, no tuple and no enum with data in them"
            )
        };
        let ParamPtr { base, dims, origin, extent, index, shape } = *memory;
        let pitch = [dims[1].wrapping_mul(dims[2]), dims[2], 1];
        let at = origin.iter().zip(&pitch).map(|(at, pitch)| at.wrapping_mul(*pitch));
        let first = base.cast::<T>().wrapping_add(at.fold(0, usize::wrapping_add));
        // Without elements its shape may be one whose products overflow; nothing is dereferenced.
        let empty = extent.contains(&0);
        let size = if empty { [0; D] } else { last(extent) };
        let inside = |dim: usize| {
            let low = index[dim] <= block.min[dim];
            low && block.max[dim] - index[dim].min(block.max[dim]) <= extent[dim]
        };
        let own = !empty && (3 - D..3).all(inside);
        let (pitch, low, shape) = (last(pitch), last(index), last(shape));
        View { first, pitch, low, size, shape, own, alone: false, param, _elements: PhantomData }
    }

    /// A view of nothing.
    pub(super) fn nothing() -> Self {
        let (base, none) = (std::ptr::null_mut(), [0; 3]);
        let memory =
            ParamPtr { base, dims: none, origin: none, extent: none, index: none, shape: none };
        View::new(&memory, 0, &Positions { min: none, max: none })
    }

    /// The parameter's number in the source.
    pub(super) fn number(&self) -> usize {
        self.param
    }

    /// How many elements are accessed.
    pub(super) fn elements(&self) -> usize {
        self.size.iter().product()
    }

    /// The same indices, of elements that lie there, row by row.
    ///
    /// # Safety
    /// They are live, as many as the view has, and for as long as this is used no other code uses
    /// them.
    pub(super) unsafe fn of_copy(&self, first: *mut T) -> Self {
        let mut pitch = [1; D];
        for dim in (1..D).rev() {
            pitch[dim - 1] = pitch[dim] * self.size[dim];
        }
        View { first, pitch, alone: true, ..*self }
    }

    /// Where the first element is, if there is one.
    pub(super) fn first(&self) -> Option<*mut T> {
        (!self.size.contains(&0)).then_some(self.first)
    }

    /// Where an element is, if it is accessed.
    #[inline(always)]
    #[track_caller]
    pub(super) fn element(&self, at: [usize; D]) -> Option<*mut T> {
        let mut inside = true;
        let mut offset = 0usize;
        for (dim, index) in at.iter().enumerate() {
            let from = index.wrapping_sub(self.low[dim]);
            inside &= from < self.size[dim];
            offset = offset.wrapping_add(self.ahead(dim, from));
        }
        if inside {
            Some(self.first.wrapping_add(offset))
        } else {
            outside(Some(self.param), at, self.shape);
            None
        }
    }

    /// Where an element is that is accessed.
    #[inline(always)]
    fn inside(&self, at: [usize; D]) -> *mut T {
        let ahead = |dim: usize| self.ahead(dim, at[dim].wrapping_sub(self.low[dim]));
        self.first.wrapping_add((0..D).map(ahead).fold(0, usize::wrapping_add))
    }

    /// Elements to what is so far ahead in a dimension.
    #[inline(always)]
    fn ahead(&self, dim: usize, by: usize) -> usize {
        if dim + 1 < D { by.wrapping_mul(self.pitch[dim]) } else { by }
    }

    /// Of `most` elements of a row, how many are before the shape, where the others are, and how
    /// many of these there are; none where all are outside of the shape. An index may be before the
    /// first one: it has wrapped.
    #[inline(always)]
    #[track_caller]
    fn run(&self, mut at: [usize; D], most: usize) -> Option<(usize, *mut T, usize)> {
        let columns = self.shape[D - 1];
        let before = match at[D - 1] < columns {
            true => 0,
            false => at[D - 1].wrapping_neg(),
        };
        if at[D - 2] >= self.shape[D - 2] || before >= most {
            return None;
        }
        at[D - 1] = at[D - 1].wrapping_add(before);
        let len = (most - before).min(columns.checked_sub(at[D - 1])?);
        let mut last = at;
        last[D - 1] += len.checked_sub(1)?;
        let first = self.element(at)?;
        self.element(last).map(|_| (before, first, len))
    }

    /// Reads elements that are beside each other into a row, which has zeros where there are none.
    #[inline(always)]
    #[track_caller]
    pub(super) fn copy_row(&self, at: [usize; D], row: &mut [T])
    where
        Self: At<[usize; D]>,
    {
        if let Some((before, first, len)) = self.run(at, row.len()) {
            let row = &mut row[before..][..len];
            // SAFETY: as in `read`: the first and the last of them are accessed, so all are, and a
            // row's elements follow each other.
            unsafe { row.as_mut_ptr().copy_from_nonoverlapping(first, len) };
        }
    }

    /// Writes elements that are beside each other, where there are such.
    ///
    /// # Safety
    /// They are the caller's alone, as those of [`Put`] are.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn write_row(&self, at: [usize; D], row: &[T]) {
        if let Some((before, first, len)) = self.run(at, row.len()) {
            let row = &row[before..][..len];
            // SAFETY: the caller's promise; the first and the last are accessed, so all are.
            unsafe { first.copy_from_nonoverlapping(row.as_ptr(), len) };
        }
    }

    /// How many dimensions of an index are not shown to be inside of what is accessed.
    #[inline(always)]
    #[must_use]
    pub fn unproved(self, index: [Ends; D], gaps: &Gaps) -> usize {
        let dims = index.iter().zip(self.low.iter().zip(&self.size));
        dims.map(|(ends, (low, size))| ends.unless_within(*low, *size, gaps)).sum()
    }

    /// Where the item's own element is.
    #[inline(always)]
    #[track_caller]
    pub(super) fn own(&self, item: Item<'_, D>) -> Option<*mut T> {
        if !self.own {
            return self.element(item.at);
        }
        Some(self.inside(item.at))
    }

    /// The extent.
    #[inline(always)]
    pub fn shape(self) -> [usize; D] {
        self.shape
    }
}

#[inline(always)]
pub(super) fn read<T: Shared>(element: Option<*mut T>) -> T {
    match element {
        // SAFETY: inside of live memory that no code writes, or the item's own (`ViewParam::view`).
        Some(element) => unsafe { element.read() },
        // SAFETY: a device type's zero bytes are a value (`Shared`).
        None => unsafe { std::mem::zeroed() },
    }
}

#[inline(always)]
pub(super) fn write<T: Shared>(element: Option<*mut T>, value: T) {
    if let Some(element) = element {
        // SAFETY: inside of live memory, and the item's own (`ViewParam::view`).
        unsafe { element.write(value) };
    }
}

impl<P, T: Shared> View<'_, P, T, 1> {
    /// Number of elements.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "kernels compare the length")]
    pub fn len(self) -> usize {
        self.shape[0]
    }
}

/// Views and arrays, which have elements.
///
/// # Safety
/// An implementation accesses what devices access: memory that the type's entry in the table
/// allows.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot be indexed in a kernel")]
pub unsafe trait Elements {
    /// Type of an element.
    type Element: Copy;
}

/// Views and arrays whose elements can be read at an index.
///
/// # Safety
/// An implementation accesses what devices access: memory that the type's entry in the table
/// allows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read at an index of type `{I}`",
    label = "cannot be read here",
    note = "`In` is read at a number (1D), a tuple of `usize` (2D, 3D) or the item; `InOut` at the item only; `Out` not at all; local memory at a number, and in a phase that writes it at the item only"
)]
pub unsafe trait At<I>: Elements {
    /// The element.
    #[track_caller]
    fn at(&self, index: I) -> Self::Element;

    /// The element, of which it is known that it is accessed.
    ///
    /// # Safety
    /// The index is inside.
    #[track_caller]
    #[inline(always)]
    unsafe fn at_proved(&self, index: I) -> Self::Element {
        self.at(index)
    }
}

/// Views and arrays whose elements can be written at an index.
///
/// # Safety
/// An implementation accesses what devices access: memory that the type's entry in the table
/// allows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written at an index of type `{I}`",
    label = "cannot be written here",
    note = "`Out` and `InOut` are written at the kernel's own item only, and so is local memory in a phase; `In` is not written"
)]
pub unsafe trait Put<I>: Elements {
    /// Replaces the element.
    #[track_caller]
    fn put(&mut self, index: I, value: Self::Element);

    /// Replaces the element, of which it is known that it is accessed.
    ///
    /// # Safety
    /// The index is inside.
    #[track_caller]
    #[inline(always)]
    unsafe fn put_proved(&mut self, index: I, value: Self::Element) {
        self.put(index, value);
    }
}

/// `v[index]`
#[inline(always)]
#[track_caller]
pub fn at<I, V: Elements + At<I>>(v: &V, index: I) -> V::Element {
    v.at(index)
}

/// `v[index] = value`
#[inline(always)]
#[track_caller]
pub fn put<I, V: Elements + Put<I>>(v: &mut V, index: I, value: V::Element) {
    v.put(index, value);
}

/// `v[index]`, where [`Kernel::unproved`](super::Kernel::unproved) looks at this index.
///
/// # Safety
/// In the mode [`Proved`](super::Proved), the index is inside.
#[inline(always)]
#[track_caller]
pub unsafe fn at_proved<M: Mode, I, V: Elements + At<I>>(v: &V, index: I) -> V::Element {
    // SAFETY: the caller's promise.
    if M::PROVED { unsafe { v.at_proved(index) } } else { v.at(index) }
}

/// `v[index] = value`, where [`Kernel::unproved`](super::Kernel::unproved) looks at this index.
///
/// # Safety
/// In the mode [`Proved`](super::Proved), the index is inside.
#[inline(always)]
#[track_caller]
pub unsafe fn put_proved<M: Mode, I, V: Elements + Put<I>>(v: &mut V, index: I, value: V::Element) {
    // SAFETY: the caller's promise.
    if M::PROVED { unsafe { v.put_proved(index, value) } } else { v.put(index, value) }
}

/// Views whose own element is a struct that is written field by field.
///
/// # Safety
/// An implementation gives the address of an element that devices write at such an index.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not written in fields at an index of type `{I}`",
    label = "not an item's own element",
    note = "`Out` is written at the kernel's own item: `out[i] = ..` or `out[i].field = ..`"
)]
pub unsafe trait PutField<I>: Elements {
    /// Where the element is, if it is accessed.
    #[track_caller]
    fn place(&self, index: I) -> Option<*mut Self::Element>;

    /// Where the element is, of which it is known that it is accessed.
    fn place_proved(&self, index: I) -> *mut Self::Element;
}

/// `v[index].field = value`
///
/// # Safety
/// `field` gives the address of a field of the element that it is given.
#[inline(always)]
#[track_caller]
pub unsafe fn put_field<I, F: Shared, V: Elements + PutField<I>>(
    v: &mut V,
    index: I,
    field: impl FnOnce(*mut V::Element) -> *mut F,
    value: F,
) {
    write(v.place(index).map(field), value);
}

/// `v[index].field = value`, where [`Kernel::unproved`](super::Kernel::unproved) looks at this
/// index.
///
/// # Safety
/// As for [`put_field`]; in the mode [`Proved`](super::Proved), the index is inside.
#[inline(always)]
#[track_caller]
pub unsafe fn put_field_proved<M: Mode, I, F: Shared, V: Elements + PutField<I>>(
    v: &mut V,
    index: I,
    field: impl FnOnce(*mut V::Element) -> *mut F,
    value: F,
) {
    let place = if M::PROVED { Some(v.place_proved(index)) } else { v.place(index) };
    write(place.map(field), value);
}

// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<P, T: Shared, const D: usize> Elements for View<'_, P, T, D> {
    type Element = T;
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const D: usize> At<Item<'_, D>> for View<'_, In<T, D>, T, D> {
    #[inline(always)]
    #[track_caller]
    fn at(&self, item: Item<'_, D>) -> T {
        read(self.own(item))
    }
    #[inline(always)]
    unsafe fn at_proved(&self, item: Item<'_, D>) -> T {
        // SAFETY: the caller's promise; else as in `read`.
        unsafe { self.inside(item.at).read() }
    }
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const D: usize> At<Item<'_, D>> for View<'_, InOut<T, D>, T, D> {
    #[inline(always)]
    #[track_caller]
    fn at(&self, item: Item<'_, D>) -> T {
        read(self.own(item))
    }
    #[inline(always)]
    unsafe fn at_proved(&self, item: Item<'_, D>) -> T {
        // SAFETY: the caller's promise; else as in `read`.
        unsafe { self.inside(item.at).read() }
    }
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const D: usize> Put<Item<'_, D>> for View<'_, InOut<T, D>, T, D> {
    #[inline(always)]
    #[track_caller]
    fn put(&mut self, item: Item<'_, D>, value: T) {
        write(self.own(item), value);
    }
    #[inline(always)]
    unsafe fn put_proved(&mut self, item: Item<'_, D>, value: T) {
        // SAFETY: the caller's promise; else as in `write`.
        unsafe { self.inside(item.at).write(value) };
    }
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const D: usize> Put<Item<'_, D>> for View<'_, Out<T, D>, T, D> {
    #[inline(always)]
    #[track_caller]
    fn put(&mut self, item: Item<'_, D>, value: T) {
        write(self.own(item), value);
    }
    #[inline(always)]
    unsafe fn put_proved(&mut self, item: Item<'_, D>, value: T) {
        // SAFETY: the caller's promise; else as in `write`.
        unsafe { self.inside(item.at).write(value) };
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: the item's own element.
unsafe impl<T: Shared, const D: usize> PutField<Item<'_, D>> for View<'_, Out<T, D>, T, D> {
    #[inline(always)]
    #[track_caller]
    fn place(&self, item: Item<'_, D>) -> Option<*mut T> {
        self.own(item)
    }
    #[inline(always)]
    fn place_proved(&self, item: Item<'_, D>) -> *mut T {
        self.inside(item.at)
    }
}

macro_rules! numbers {
    ($($index:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<T: Shared> At<$index> for View<'_, In<T, 1>, T, 1> {
            #[inline(always)]
            #[track_caller]
            fn at(&self, index: $index) -> T {
                read(self.element([index as usize]))
            }
            #[inline(always)]
            unsafe fn at_proved(&self, index: $index) -> T {
                // SAFETY: the caller's promise; else as in `read`.
                unsafe { self.inside([index as usize]).read() }
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<T: Shared, const N: usize> At<$index> for [T; N] {
            #[inline(always)]
            #[track_caller]
            fn at(&self, index: $index) -> T {
                match self.get(index as usize) {
                    Some(element) => *element,
                    None => {
                        outside(None, [index as usize], [N]);
                        // SAFETY: a device type's zero bytes are a value (`Shared`).
                        unsafe { std::mem::zeroed() }
                    }
                }
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it is what devices have at such an index, as `ViewParam` says.
        unsafe impl<T: Shared, const N: usize> Put<$index> for [T; N] {
            #[inline(always)]
            #[track_caller]
            fn put(&mut self, index: $index, value: T) {
                match self.get_mut(index as usize) {
                    Some(element) => *element = value,
                    None => outside(None, [index as usize], [N]),
                }
            }
        }
    )*};
}
numbers! { usize u32 i32 }

/// Takes values, so that what is around them can stay in registers.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn outside<const D: usize>(param: Option<usize>, at: [usize; D], extent: [usize; D]) {
    note(|| Seen::Bounds {
        param,
        index: at.iter().map(|i| *i as i64).collect(),
        extent: extent.to_vec(),
    });
}

// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const N: usize> Elements for [T; N] {
    type Element = T;
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared, const D: usize> At<[usize; D]> for View<'_, In<T, D>, T, D> {
    #[inline(always)]
    #[track_caller]
    fn at(&self, at: [usize; D]) -> T {
        read(self.element(at))
    }
}
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared> At<(usize, usize)> for View<'_, In<T, 2>, T, 2> {
    #[inline(always)]
    #[track_caller]
    fn at(&self, (r, c): (usize, usize)) -> T {
        read(self.element([r, c]))
    }
    #[inline(always)]
    unsafe fn at_proved(&self, (r, c): (usize, usize)) -> T {
        // SAFETY: the caller's promise; else as in `read`.
        unsafe { self.inside([r, c]).read() }
    }
}
#[diagnostic::do_not_recommend]
// SAFETY: it is what devices have at such an index, as `ViewParam` says.
unsafe impl<T: Shared> At<(usize, usize, usize)> for View<'_, In<T, 3>, T, 3> {
    #[inline(always)]
    #[track_caller]
    fn at(&self, (z, y, x): (usize, usize, usize)) -> T {
        read(self.element([z, y, x]))
    }
    #[inline(always)]
    unsafe fn at_proved(&self, (z, y, x): (usize, usize, usize)) -> T {
        // SAFETY: the caller's promise; else as in `read`.
        unsafe { self.inside([z, y, x]).read() }
    }
}
