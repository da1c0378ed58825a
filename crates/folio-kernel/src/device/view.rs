//! Views of memory: raw pointers with shapes, read and written element by element, always within
//! bounds (semantics 7.5).

use super::verdict::{Violation, note};
use super::{In, InOut, Item, Out, Shared};
use crate::ir::{Access, Owner};
use crate::source::{Entry, ViewType};
use std::marker::PhantomData;

/// What an entry point gets for a parameter: a view's first element and shape, or a scalar's value.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The first element of the access, or the value of a scalar.
    pub first: *mut u8,
    /// Elements from one index to the next, in dimensions 0 and 1; the last dimension is dense.
    pub pitch: [usize; 2],
    /// The extent, dimension 0 first.
    pub extent: [usize; 3],
}

/// A view of elements, with the marker of its access.
#[derive(Debug)]
pub struct View<'m, P, T, const D: usize> {
    memory: Memory,
    param: usize,
    _elements: PhantomData<(&'m T, P)>,
}

/// A parameter that is a view.
pub trait ViewParam {
    /// Type of an element.
    type Element: Shared;
    /// What the body gets.
    type View<'m>;
    /// The parameter's entry in the table.
    fn entry() -> Entry;
    /// The view.
    ///
    /// # Safety
    /// The memory is live for `'m`, of this shape and type, and nobody else uses it against the
    /// access's mode; if it is written, then by items of a launch within the extent.
    unsafe fn view<'m>(memory: &Memory, param: usize) -> Self::View<'m>;
    /// A view of nothing, for probing.
    fn none<'m>() -> Self::View<'m>;
}

macro_rules! views {
    ($($name:ident: $access:ident;)*) => {$(
        impl<T: Shared, const D: usize> ViewParam for $name<T, D> {
            type Element = T;
            type View<'m> = View<'m, $name<T, D>, T, D>;
            fn entry() -> Entry {
                Entry::View(ViewType {
                    element: T::describe,
                    rank: D as u8,
                    access: Access::$access,
                    owner: Owner::Item,
                })
            }
            #[inline(always)]
            unsafe fn view<'m>(memory: &Memory, param: usize) -> Self::View<'m> {
                View { memory: *memory, param, _elements: PhantomData }
            }
            fn none<'m>() -> Self::View<'m> {
                let first = std::ptr::null_mut();
                let memory = Memory { first, pitch: [0; 2], extent: [0; 3] };
                View { memory, param: 0, _elements: PhantomData }
            }
        }
    )*};
}
views! { In: In; Out: Out; InOut: InOut; }

impl<P, T: Shared, const D: usize> View<'_, P, T, D> {
    /// Where the element is, if it is inside.
    #[inline(always)]
    fn element(&self, at: [usize; D]) -> Option<*mut T> {
        let mut inside = true;
        let mut offset = 0usize;
        for (dim, (index, extent)) in at.iter().zip(&self.memory.extent).enumerate() {
            inside &= index < extent;
            let pitch = if dim + 1 == D { 1 } else { self.memory.pitch[dim] };
            offset = offset.wrapping_add(index.wrapping_mul(pitch));
        }
        if inside {
            Some(self.memory.first.cast::<T>().wrapping_add(offset))
        } else {
            self.outside(at);
            None
        }
    }

    #[cold]
    #[inline(never)]
    fn outside(&self, at: [usize; D]) {
        note(Violation::Bounds {
            param: Some(self.param),
            index: at.iter().map(|i| *i as i64).collect(),
            extent: self.memory.extent[..D].to_vec(),
        });
    }

    #[inline(always)]
    fn get(&self, at: [usize; D]) -> T {
        match self.element(at) {
            // SAFETY: inside of live memory that nobody writes, or the item's own (`ViewParam::view`).
            Some(element) => unsafe { element.read() },
            // SAFETY: a device type's zero bytes are a value (`Shared`).
            None => unsafe { std::mem::zeroed() },
        }
    }

    #[inline(always)]
    fn set(&mut self, at: [usize; D], value: T) {
        if let Some(element) = self.element(at) {
            // SAFETY: inside of live memory, and the item's own (`ViewParam::view`).
            unsafe { element.write(value) };
        }
    }

    /// The extent.
    #[inline(always)]
    pub fn shape(&self) -> [usize; D] {
        std::array::from_fn(|dim| self.memory.extent[dim])
    }
}

impl<P, T: Shared> View<'_, P, T, 1> {
    /// Number of elements.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "kernels compare the length")]
    pub fn len(&self) -> usize {
        self.memory.extent[0]
    }
}

/// What has elements.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot be indexed in a kernel")]
pub trait Elements {
    /// Type of an element.
    type Element: Copy;
}

/// What can be read at an index.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read at an index of type `{I}`",
    label = "cannot be read here",
    note = "`In` is read at a number (1D), a tuple of `usize` (2D, 3D) or the item; `InOut` at the item only; `Out` not at all"
)]
pub trait At<I>: Elements {
    /// The element.
    fn at(&self, index: I) -> Self::Element;
}

/// What can be written at an index.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written at an index of type `{I}`",
    label = "cannot be written here",
    note = "`Out` and `InOut` are written at the kernel's own item only; `In` is not written"
)]
pub trait Put<I>: Elements {
    /// Replaces the element.
    fn put(&mut self, index: I, value: Self::Element);
}

/// `v[index]`
#[inline(always)]
pub fn at<I, V: Elements + At<I>>(v: &V, index: I) -> V::Element {
    v.at(index)
}

/// `v[index] = value`
#[inline(always)]
pub fn put<I, V: Elements + Put<I>>(v: &mut V, index: I, value: V::Element) {
    v.put(index, value);
}

/// `v[index]`, to be changed in part: read, changed by `f`, and written.
#[inline(always)]
pub fn at_mut<I: Copy, V: Elements + At<I> + Put<I>>(
    v: &mut V,
    index: I,
    f: impl FnOnce(&mut V::Element),
) {
    let mut element = v.at(index);
    f(&mut element);
    v.put(index, element);
}

impl<P, T: Shared, const D: usize> Elements for View<'_, P, T, D> {
    type Element = T;
}
impl<T: Shared, const D: usize> At<Item<D>> for View<'_, In<T, D>, T, D> {
    #[inline(always)]
    fn at(&self, item: Item<D>) -> T {
        self.get(item.at)
    }
}
impl<T: Shared, const D: usize> At<Item<D>> for View<'_, InOut<T, D>, T, D> {
    #[inline(always)]
    fn at(&self, item: Item<D>) -> T {
        self.get(item.at)
    }
}
impl<T: Shared, const D: usize> Put<Item<D>> for View<'_, InOut<T, D>, T, D> {
    #[inline(always)]
    fn put(&mut self, item: Item<D>, value: T) {
        self.set(item.at, value);
    }
}
impl<T: Shared, const D: usize> Put<Item<D>> for View<'_, Out<T, D>, T, D> {
    #[inline(always)]
    fn put(&mut self, item: Item<D>, value: T) {
        self.set(item.at, value);
    }
}

macro_rules! numbers {
    ($($index:ident)*) => {$(
        impl<T: Shared> At<$index> for View<'_, In<T, 1>, T, 1> {
            #[inline(always)]
            fn at(&self, index: $index) -> T {
                self.get([index as usize])
            }
        }
        impl<T: Shared, const N: usize> At<$index> for [T; N] {
            #[inline(always)]
            fn at(&self, index: $index) -> T {
                match self.get(index as usize) {
                    Some(element) => *element,
                    None => {
                        outside(index as i64, N);
                        // SAFETY: a device type's zero bytes are a value (`Shared`).
                        unsafe { std::mem::zeroed() }
                    }
                }
            }
        }
        impl<T: Shared, const N: usize> Put<$index> for [T; N] {
            #[inline(always)]
            fn put(&mut self, index: $index, value: T) {
                match self.get_mut(index as usize) {
                    Some(element) => *element = value,
                    None => outside(index as i64, N),
                }
            }
        }
    )*};
}
numbers! { usize u32 i32 }

#[cold]
#[inline(never)]
fn outside(index: i64, len: usize) {
    note(Violation::Bounds { param: None, index: vec![index], extent: vec![len] });
}

impl<T: Shared, const N: usize> Elements for [T; N] {
    type Element = T;
}
impl<T: Shared> At<(usize, usize)> for View<'_, In<T, 2>, T, 2> {
    #[inline(always)]
    fn at(&self, (r, c): (usize, usize)) -> T {
        self.get([r, c])
    }
}
impl<T: Shared> At<(usize, usize, usize)> for View<'_, In<T, 3>, T, 3> {
    #[inline(always)]
    fn at(&self, (z, y, x): (usize, usize, usize)) -> T {
        self.get([z, y, x])
    }
}
