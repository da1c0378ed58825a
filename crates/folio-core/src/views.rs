//! Accesses as kernels and host tasks see them.
//!
//! Kernels see views by value, made anew for each item: [`ClosureIn`] reads anywhere,
//! [`ClosureOut`] and [`ClosureInOut`] touch their own item only. An [`ClosureItem`] cannot be made
//! by users and has the rank of its launch, so no two items write one element.

mod index;

use crate::coords::Coords;
use crate::element::DeviceType;
use crate::foreign::InKernel;
use crate::geom::{Box3, Dims, linear};
use crate::group::{Read, ReadWrite, Write};
use crate::hal::{BlockKernel, ParamPtr, Verdict};
use crate::token::Token;
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, needs_drop};
use std::ops::{Index, IndexMut};
use std::panic::Location;

/// The item that a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosureItem<'k, const D: usize = 1> {
    index: [usize; D],
    _kernel: PhantomData<&'k ()>,
}

impl<const D: usize> ClosureItem<'_, D> {
    /// Its position in the launch range.
    pub fn position(self) -> [usize; D] {
        self.index
    }
}

impl ClosureItem<'_, 1> {
    /// Its position in the launch range.
    pub fn index(self) -> usize {
        self.index[0]
    }
}

/// Memory of an access: its first element, its pitches and its extent.
#[doc(hidden)]
pub struct Raw<T> {
    first: *mut T,
    pitch: [usize; 2],
    extent: Dims,
}

impl<T> Clone for Raw<T> {
    fn clone(&self) -> Raw<T> {
        *self
    }
}

impl<T> Copy for Raw<T> {}

impl<T> Raw<T> {
    /// # Safety
    /// The parameter points to live memory of its shape, which holds `T`s.
    unsafe fn new(param: &ParamPtr) -> Raw<T> {
        let (dims, extent) = (param.dims, param.extent);
        let first = param.base.cast::<T>();
        if extent.contains(&0) {
            // No memory, perhaps, and a shape whose products overflow; nothing is dereferenced.
            return Raw { first, pitch: [0; 2], extent };
        }
        let at = linear(dims, param.origin);
        Raw { first: first.wrapping_add(at), pitch: [dims[1] * dims[2], dims[2]], extent }
    }

    fn offset<const D: usize>(&self, at: [usize; D]) -> usize {
        match D {
            1 => at[0],
            2 => at[0] * self.pitch[1] + at[1],
            _ => at[0] * self.pitch[0] + at[1] * self.pitch[1] + at[2],
        }
    }

    fn contains<const D: usize>(&self, at: [usize; D]) -> bool {
        (0..D).all(|d| at[d] < self.extent[3 - D + d])
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    #[expect(clippy::panic, reason = "a kernel's index is out of bounds: the command fails")]
    fn outside<const D: usize>(&self, at: [usize; D]) -> ! {
        let (extent, place) = (&self.extent[3 - D..], Location::caller());
        panic!("{place}: index {at:?} is outside of an access of extent {extent:?}")
    }
}

/// Elements that a kernel reads.
pub struct ClosureIn<'v, T, const D: usize = 1> {
    raw: Raw<T>,
    _view: PhantomData<&'v [T]>,
}

/// Elements that a kernel writes, each item its own element.
pub struct ClosureOut<'v, T, const D: usize = 1> {
    raw: Raw<T>,
    _view: PhantomData<&'v mut [T]>,
}

/// Elements that a kernel reads and writes, each item its own element.
pub struct ClosureInOut<'v, T, const D: usize = 1> {
    raw: Raw<T>,
    _view: PhantomData<&'v mut [T]>,
}

impl<T: DeviceType, const D: usize> ClosureIn<'_, T, D> {
    /// The extent of the access.
    pub fn range(&self) -> [usize; D] {
        let mut range = [0; D];
        range.copy_from_slice(&self.raw.extent[3 - D..]);
        range
    }

    /// The element at `at`, if that is inside.
    pub fn get(&self, at: impl Coords<D>) -> Option<T> {
        let at = at.coords();
        // SAFETY: inside the access, which is live and which nobody writes while the kernel runs.
        self.raw.contains(at).then(|| unsafe { *self.raw.first.add(self.raw.offset(at)) })
    }
}

impl<T: DeviceType, const D: usize> Index<[usize; D]> for ClosureIn<'_, T, D> {
    type Output = T;
    #[inline(always)]
    #[track_caller]
    fn index(&self, at: [usize; D]) -> &T {
        if !self.raw.contains(at) {
            self.raw.outside(at);
        }
        // SAFETY: inside the access, which is live and which nobody writes while the kernel runs.
        unsafe { &*self.raw.first.add(self.raw.offset(at)) }
    }
}

impl<T: DeviceType> Index<usize> for ClosureIn<'_, T, 1> {
    type Output = T;
    #[inline(always)]
    #[track_caller]
    fn index(&self, at: usize) -> &T {
        &self[[at]]
    }
}

impl<T: DeviceType, const D: usize> Index<ClosureItem<'_, D>> for ClosureIn<'_, T, D> {
    type Output = T;
    #[inline(always)]
    #[track_caller]
    fn index(&self, item: ClosureItem<'_, D>) -> &T {
        &self[item.index]
    }
}

impl<T: DeviceType, const D: usize> ClosureOut<'_, T, D> {
    /// Writes the item's element.
    #[inline(always)]
    pub fn put(&mut self, item: ClosureItem<'_, D>, value: T) {
        // SAFETY: the launch is no larger than the access (checked at submission), so the item's
        // element is inside; no other item, and nobody else, touches it.
        unsafe { self.raw.first.add(self.raw.offset(item.index)).write(value) };
    }
}

impl<T: DeviceType, const D: usize> Index<ClosureItem<'_, D>> for ClosureInOut<'_, T, D> {
    type Output = T;
    #[inline(always)]
    #[track_caller]
    fn index(&self, item: ClosureItem<'_, D>) -> &T {
        // SAFETY: as in `ClosureOut::put`.
        unsafe { &*self.raw.first.add(self.raw.offset(item.index)) }
    }
}

impl<T: DeviceType, const D: usize> IndexMut<ClosureItem<'_, D>> for ClosureInOut<'_, T, D> {
    #[inline(always)]
    fn index_mut(&mut self, item: ClosureItem<'_, D>) -> &mut T {
        // SAFETY: as in `ClosureOut::put`.
        unsafe { &mut *self.raw.first.add(self.raw.offset(item.index)) }
    }
}

/// Memory of a kernel's arguments, resolved once per block.
///
/// # Safety
/// Implemented here only.
pub unsafe trait KernelArgs<const D: usize>: 'static {
    /// What the kernel gets.
    type Views<'v>;
    #[doc(hidden)]
    type Raw: Copy;
    #[doc(hidden)]
    fn tokens(&self, out: &mut SmallVec<[Token; 2]>);
    /// # Safety
    /// `params` are those of the tokens, from the first on.
    #[doc(hidden)]
    unsafe fn raw(params: &mut std::slice::Iter<'_, ParamPtr>) -> Option<Self::Raw>;
    /// # Safety
    /// The memory is live, and nobody else uses it against the accesses' modes.
    #[doc(hidden)]
    unsafe fn views<'v>(raw: Self::Raw) -> Self::Views<'v>;
}

macro_rules! kernel_arg {
    ($access:ident, $view:ident, $rank:ident of $launch:ident: $($ranks:ident)+) => {
        // SAFETY: the view does what the access's mode allows. One that writes has the launch's
        // rank.
        unsafe impl<T: DeviceType, $(const $ranks: usize),+> KernelArgs<$launch>
            for $access<T, $rank>
        {
            type Views<'v> = $view<'v, T, $rank>;
            type Raw = Raw<T>;
            fn tokens(&self, out: &mut SmallVec<[Token; 2]>) {
                out.push(self.token);
            }
            unsafe fn raw(params: &mut std::slice::Iter<'_, ParamPtr>) -> Option<Raw<T>> {
                // SAFETY: the parameter belongs to this access of `T`s.
                params.next().map(|param| unsafe { Raw::new(param) })
            }
            unsafe fn views<'v>(raw: Raw<T>) -> $view<'v, T, $rank> {
                $view { raw, _view: PhantomData }
            }
        }
    };
}
kernel_arg!(Read, ClosureIn, E of D: E D);
kernel_arg!(Write, ClosureOut, D of D: D);
kernel_arg!(ReadWrite, ClosureInOut, D of D: D);

// SAFETY: nothing is accessed.
unsafe impl<const D: usize> KernelArgs<D> for () {
    type Views<'v> = ();
    type Raw = ();
    fn tokens(&self, _: &mut SmallVec<[Token; 2]>) {}
    unsafe fn raw(_: &mut std::slice::Iter<'_, ParamPtr>) -> Option<()> {
        Some(())
    }
    unsafe fn views<'v>((): ()) -> Self::Views<'v> {}
}

// SAFETY: each element keeps the contract.
unsafe impl<const D: usize, A: KernelArgs<D>, const N: usize> KernelArgs<D> for [A; N] {
    type Views<'v> = [A::Views<'v>; N];
    type Raw = [Option<A::Raw>; N];
    fn tokens(&self, out: &mut SmallVec<[Token; 2]>) {
        self.iter().for_each(|a| a.tokens(out));
    }
    unsafe fn raw(params: &mut std::slice::Iter<'_, ParamPtr>) -> Option<Self::Raw> {
        // SAFETY: the parameters follow each other in the order of the tokens.
        let raw = std::array::from_fn(|_| unsafe { A::raw(params) });
        raw.iter().all(Option::is_some).then_some(raw)
    }
    #[expect(clippy::unreachable, reason = "`raw` gives no array with a hole")]
    unsafe fn views<'v>(raw: Self::Raw) -> Self::Views<'v> {
        raw.map(|r| match r {
            // SAFETY: the caller's promise.
            Some(r) => unsafe { A::views(r) },
            None => unreachable!(),
        })
    }
}

macro_rules! tuples {
    ($($name:ident),+) => {
        // SAFETY: each element keeps the contract, and the parameters follow each other.
        #[allow(non_snake_case, reason = "the type parameters name the values")]
        unsafe impl<const D: usize, $($name: KernelArgs<D>),+> KernelArgs<D> for ($($name,)+) {
            type Views<'v> = ($($name::Views<'v>,)+);
            type Raw = ($($name::Raw,)+);
            fn tokens(&self, out: &mut SmallVec<[Token; 2]>) {
                let ($($name,)+) = self;
                $($name.tokens(out);)+
            }
            unsafe fn raw(params: &mut std::slice::Iter<'_, ParamPtr>) -> Option<Self::Raw> {
                // SAFETY: the caller's promise, element by element.
                unsafe { Some(($($name::raw(params)?,)+)) }
            }
            unsafe fn views<'v>(raw: Self::Raw) -> Self::Views<'v> {
                let ($($name,)+) = raw;
                // SAFETY: the caller's promise.
                unsafe { ($($name::views($name),)+) }
            }
        }

        // SAFETY: as above.
        #[allow(non_snake_case, reason = "the type parameters name the values")]
        unsafe impl<$($name: HostArgs),+> HostArgs for ($($name,)+) {
            type Views<'v> = ($($name::Views<'v>,)+);
            fn tokens(&self, out: &mut SmallVec<[Token; 2]>) {
                let ($($name,)+) = self;
                $($name.tokens(out);)+
            }
            unsafe fn take<'v>(params: &mut std::slice::Iter<'_, ParamPtr>) -> Self::Views<'v> {
                // SAFETY: the caller's promise, element by element.
                unsafe { ($($name::take(params),)+) }
            }
        }
    };
}
tuples!(A);
tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, E);
tuples!(A, B, C, E, F);
tuples!(A, B, C, E, F, G);
tuples!(A, B, C, E, F, G, H);
tuples!(A, B, C, E, F, G, H, I);

/// A closure as a kernel of blocks.
pub(crate) struct ClosureKernel<F, A, const D: usize> {
    f: ManuallyDrop<F>,
    _args: PhantomData<fn(A)>,
}

impl<F, A, const D: usize> ClosureKernel<F, A, D> {
    pub(crate) fn new(f: F) -> Self {
        ClosureKernel { f: ManuallyDrop::new(f), _args: PhantomData }
    }
}

impl<F, A, const D: usize> Drop for ClosureKernel<F, A, D> {
    fn drop(&mut self) {
        // The kernel ends when its captures are dropped, and so they cannot wait for it either.
        let _in_kernel = needs_drop::<F>().then(InKernel::new);
        // SAFETY: dropped here only, and not used again.
        unsafe { ManuallyDrop::drop(&mut self.f) };
    }
}

impl<F, A, const D: usize> BlockKernel for ClosureKernel<F, A, D>
where
    A: KernelArgs<D>,
    F: for<'v> Fn(ClosureItem<'v, D>, A::Views<'v>) + Send + Sync + 'static,
{
    unsafe fn run(&self, params: &[ParamPtr], block: &Box3) -> Verdict {
        let _in_kernel = InKernel::new();
        // SAFETY: the engine gives the parameters in the order of the tokens.
        let Some(raw) = (unsafe { A::raw(&mut params.iter()) }) else { return Ok(()) };
        for z in block.min[0]..block.max[0] {
            for y in block.min[1]..block.max[1] {
                for x in block.min[2]..block.max[2] {
                    let mut index = [0; D];
                    index.copy_from_slice(&[z, y, x][3 - D..]);
                    // SAFETY: the caller keeps others away; items write their own elements only.
                    let views = unsafe { A::views(raw) };
                    (self.f)(ClosureItem { index, _kernel: PhantomData }, views);
                }
            }
        }
        Ok(())
    }
}

/// What a host task gets: an access, an array of accesses that are alike, or a tuple of such.
///
/// # Safety
/// Implemented here only.
pub unsafe trait HostArgs: 'static {
    /// What the task sees.
    type Views<'v>;
    #[doc(hidden)]
    fn tokens(&self, out: &mut SmallVec<[Token; 2]>);
    /// # Safety
    /// `params` are those of the tokens from the first on; their memory is live and nobody else
    /// uses it against the accesses' modes.
    #[doc(hidden)]
    unsafe fn take<'v>(params: &mut std::slice::Iter<'_, ParamPtr>) -> Self::Views<'v>;
    /// # Safety
    /// As [`HostArgs::take`].
    #[doc(hidden)]
    unsafe fn views<'v>(params: &[ParamPtr]) -> Self::Views<'v> {
        // SAFETY: the caller's promise.
        unsafe { Self::take(&mut params.iter()) }
    }
}

// SAFETY: nothing is accessed.
unsafe impl HostArgs for () {
    type Views<'v> = ();
    fn tokens(&self, _: &mut SmallVec<[Token; 2]>) {}
    unsafe fn take<'v>(_: &mut std::slice::Iter<'_, ParamPtr>) -> Self::Views<'v> {}
}

// SAFETY: each element keeps the contract.
unsafe impl<A: HostArgs, const N: usize> HostArgs for [A; N] {
    type Views<'v> = [A::Views<'v>; N];
    fn tokens(&self, out: &mut SmallVec<[Token; 2]>) {
        self.iter().for_each(|a| a.tokens(out));
    }
    unsafe fn take<'v>(params: &mut std::slice::Iter<'_, ParamPtr>) -> Self::Views<'v> {
        // SAFETY: the caller's promise, element by element: the parameters follow each other in the
        // order of the tokens.
        std::array::from_fn(|_| unsafe { A::take(params) })
    }
}

/// Rows of elements that a host task reads.
pub struct HostRead<'v, T, const D: usize = 1> {
    raw: Raw<T>,
    _view: PhantomData<&'v [T]>,
}

/// Rows of elements that a host task reads and writes.
pub struct HostWrite<'v, T, const D: usize = 1> {
    raw: Raw<T>,
    _view: PhantomData<&'v mut [T]>,
}

// SAFETY: a view of `T`s that may be used from any thread.
unsafe impl<T: DeviceType, const D: usize> Send for HostRead<'_, T, D> {}
// SAFETY: as above.
unsafe impl<T: DeviceType, const D: usize> Sync for HostRead<'_, T, D> {}
// SAFETY: as above; writing takes `&mut`.
unsafe impl<T: DeviceType, const D: usize> Send for HostWrite<'_, T, D> {}
// SAFETY: as above.
unsafe impl<T: DeviceType, const D: usize> Sync for HostWrite<'_, T, D> {}

fn row_at<T>(raw: &Raw<T>, row: usize) -> Option<(*mut T, usize)> {
    let [slices, rows, columns] = raw.extent;
    let slice = row.checked_div(rows).filter(|slice| *slice < slices)?;
    let first = if columns == 0 {
        std::ptr::NonNull::dangling().as_ptr()
    } else {
        raw.first.wrapping_add(slice * raw.pitch[0] + row % rows * raw.pitch[1])
    };
    Some((first, columns))
}

macro_rules! host_view {
    ($view:ident) => {
        impl<T: DeviceType, const D: usize> $view<'_, T, D> {
            /// The extent of the access.
            pub fn range(&self) -> [usize; D] {
                let mut range = [0; D];
                range.copy_from_slice(&self.raw.extent[3 - D..]);
                range
            }

            /// Number of rows, in all slices together.
            pub fn rows(&self) -> usize {
                self.raw.extent[0] * self.raw.extent[1]
            }

            /// Row `index`, counted through all slices; a 1D access is one row.
            pub fn row(&self, index: usize) -> Option<&[T]> {
                let (first, len) = row_at(&self.raw, index)?;
                // SAFETY: a row of the access: live, and nobody writes it without `&mut self`.
                Some(unsafe { std::slice::from_raw_parts(first, len) })
            }
        }
    };
}
host_view!(HostRead);
host_view!(HostWrite);

impl<T: DeviceType, const D: usize> HostWrite<'_, T, D> {
    /// Row `index` to write.
    pub fn row_mut(&mut self, index: usize) -> Option<&mut [T]> {
        let (first, len) = row_at(&self.raw, index)?;
        // SAFETY: a row of the access: live, ours alone by `&mut self`.
        Some(unsafe { std::slice::from_raw_parts_mut(first, len) })
    }
}

impl<T: DeviceType> std::ops::Deref for HostRead<'_, T, 1> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.row(0).unwrap_or(&[])
    }
}

impl<T: DeviceType> std::ops::Deref for HostWrite<'_, T, 1> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.row(0).unwrap_or(&[])
    }
}

impl<T: DeviceType> std::ops::DerefMut for HostWrite<'_, T, 1> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.row_mut(0).unwrap_or(&mut [])
    }
}

macro_rules! host_arg {
    ($access:ident, $view:ident) => {
        // SAFETY: the view does what the access's mode allows.
        unsafe impl<T: DeviceType, const D: usize> HostArgs for $access<T, D> {
            type Views<'v> = $view<'v, T, D>;
            fn tokens(&self, out: &mut SmallVec<[Token; 2]>) {
                out.push(self.token);
            }
            unsafe fn take<'v>(params: &mut std::slice::Iter<'_, ParamPtr>) -> $view<'v, T, D> {
                let Some(param) = params.next() else { unreachable!() };
                // SAFETY: the caller's promise.
                $view { raw: unsafe { Raw::new(param) }, _view: PhantomData }
            }
        }
    };
}
host_arg!(Read, HostRead);
host_arg!(Write, HostWrite);
host_arg!(ReadWrite, HostWrite);
