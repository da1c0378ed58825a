//! Arrays of the crate `ndarray`: views of what a guard holds, and buffers that begin as arrays.
//!
//! ```
//! use folio::arrays::{AsArray, AsArrayMut, Arrays};
//! use ndarray::{array, Axis};
//!
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let mut x = rt.buffer_of(array![[1.0f32, 2.0], [3.0, 4.0]])?;
//! x.write()?.array_mut().column_mut(1).fill(9.0);
//! assert_eq!(x.read()?.array().sum_axis(Axis(0)), array![4.0, 18.0]);
//! q.fill(&mut x, 0.5)?;
//! assert_eq!(x.read()?.array(), array![[0.5, 0.5], [0.5, 0.5]]);
//! # Ok::<(), folio::Error>(())
//! ```

use crate::buffer::{ReadGuard, WriteGuard};
use crate::{Buffer, DeviceType, Result, Runtime};
use ndarray::{ArrayBase, ArrayView, ArrayViewMut, Data, Dim, Dimension, IntoDimension, OwnedRepr};

/// The `ndarray` dimension of a buffer's.
pub trait Dimensions<const D: usize>:
    IntoDimension<Dim = Dim<[usize; D]>> + crate::Coords<D>
{
}

impl Dimensions<1> for [usize; 1] {}
impl Dimensions<2> for [usize; 2] {}
impl Dimensions<3> for [usize; 3] {}

/// What is seen as an array.
pub trait AsArray<T, const D: usize>
where
    Dim<[usize; D]>: Dimension,
{
    /// A view of the elements. Of none, all extents are 0 where `ndarray` has no array of the
    /// shape: it multiplies those that are not 0.
    fn array(&self) -> ArrayView<'_, T, Dim<[usize; D]>>;
}

/// What is seen as an array, to write.
pub trait AsArrayMut<T, const D: usize>: AsArray<T, D>
where
    Dim<[usize; D]>: Dimension,
{
    /// A view of the elements, to write.
    fn array_mut(&mut self) -> ArrayViewMut<'_, T, Dim<[usize; D]>>;
}

macro_rules! arrays {
    ($($guard:ident)*) => {$(
        impl<T: DeviceType, const D: usize> AsArray<T, D> for $guard<T, D>
        where
            [usize; D]: Dimensions<D>,
            Dim<[usize; D]>: Dimension,
        {
            fn array(&self) -> ArrayView<'_, T, Dim<[usize; D]>> {
                // SAFETY: the guard's elements are as many as its shape says, row after row, and
                // borrowed for as long as the view.
                unsafe { ArrayView::from_shape_ptr(possible(self.shape()), self.as_ptr()) }
            }
        }
    )*};
}
arrays! { ReadGuard WriteGuard }

impl<T: DeviceType, const D: usize> AsArrayMut<T, D> for WriteGuard<T, D>
where
    [usize; D]: Dimensions<D>,
    Dim<[usize; D]>: Dimension,
{
    fn array_mut(&mut self) -> ArrayViewMut<'_, T, Dim<[usize; D]>> {
        let shape = possible(self.shape());
        // SAFETY: as in `array`; the guard is the only access, and is borrowed alone.
        unsafe { ArrayViewMut::from_shape_ptr(shape, self.as_mut_ptr()) }
    }
}

/// Buffers that begin as arrays.
pub trait Arrays {
    /// A buffer of an array's elements and shape. An array by value gives its memory to the buffer,
    /// if its elements lie row after row; otherwise, and of a view, they are copied.
    fn buffer_of<T: DeviceType, A: Elements<T, D>, const D: usize>(
        &self,
        array: A,
    ) -> Result<Buffer<T, D>>;
}

impl Arrays for Runtime {
    fn buffer_of<T: DeviceType, A: Elements<T, D>, const D: usize>(
        &self,
        array: A,
    ) -> Result<Buffer<T, D>> {
        array.buffer(self)
    }
}

/// An array that a buffer can begin as: by value, or a reference to an array or view.
pub trait Elements<T, const D: usize> {
    #[doc(hidden)]
    fn buffer(self, rt: &Runtime) -> Result<Buffer<T, D>>;
}

impl<T: DeviceType, const D: usize> Elements<T, D> for ArrayBase<OwnedRepr<T>, Dim<[usize; D]>, T>
where
    [usize; D]: Dimensions<D>,
    Dim<[usize; D]>: Dimension,
{
    fn buffer(self, rt: &Runtime) -> Result<Buffer<T, D>> {
        if !self.is_standard_layout() {
            return (&self).buffer(rt);
        }
        let (shape, len) = (shape_of(self.shape()), self.len());
        let (mut all, start) = self.into_raw_vec_and_offset();
        // An array may be the rest of a larger one.
        all.truncate(start.unwrap_or(0) + len);
        all.drain(..start.unwrap_or(0));
        rt.buffer_from((all, shape))
    }
}

impl<T: DeviceType, S: Data<Elem = T>, const D: usize> Elements<T, D>
    for &ArrayBase<S, Dim<[usize; D]>, T>
where
    [usize; D]: Dimensions<D>,
    Dim<[usize; D]>: Dimension,
{
    fn buffer(self, rt: &Runtime) -> Result<Buffer<T, D>> {
        let shape = shape_of(self.shape());
        match self.as_slice() {
            Some(all) => rt.buffer_from((all, shape)),
            None => rt.buffer_from((self.iter().copied().collect::<Vec<T>>(), shape)),
        }
    }
}

/// The shape, if arrays can have it, and otherwise another one without elements. The product of
/// extents that are not 0 is below 2^63 in each array; that of all others is 0.
fn possible<const D: usize>(shape: [usize; D]) -> [usize; D] {
    let extents = shape.iter().filter(|extent| **extent > 0);
    let product = extents.map(|extent| isize::try_from(*extent).ok());
    match product.reduce(|all, extent| all?.checked_mul(extent?)) {
        Some(None) => [0; D],
        _ => shape,
    }
}

/// The shape of an array of as many dimensions.
fn shape_of<const D: usize>(shape: &[usize]) -> [usize; D] {
    std::array::from_fn(|dim| shape[dim])
}
