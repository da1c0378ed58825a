//! Parts of buffers: what accesses are made of.

use super::guard::{ReadFuture, ReadGuard, ReadRows, WriteGuard, WriteRows, run_of, vec_of};
use super::{Buffer, Shared, View, reinterpreted, widen, widen_at};
use crate::coords::Coords;
use crate::element::DeviceType;
use crate::engine::terms::access::Mode;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::geom::{Box3, Dims};
use crate::items::{Edge, Items, Margin};
use crate::marks::Marks;
use std::marker::PhantomData;

/// A box of a buffer's elements, as commands take it.
#[derive(Clone)]
pub struct Part {
    pub(crate) view: View,
    pub(crate) part: Box3,
    /// It is known to be all of the storage, and not empty.
    pub(crate) whole: bool,
    /// Those of this argument alone.
    pub(crate) marks: Marks,
    /// A kernel writes all of it: [`Overwritten`](super::Overwritten).
    pub(crate) overwritten: bool,
}

impl Part {
    fn new(view: &View, offset: Dims, extent: Dims) -> Result<Part> {
        Ok(Part {
            view: view.clone(),
            part: view.part(offset, extent)?,
            whole: false,
            marks: Marks::new(),
            overwritten: false,
        })
    }

    /// A part of this one, at `offset` from its first element.
    pub(crate) fn part(&self, offset: Dims, extent: Dims) -> Result<Part> {
        let Part { view, part, marks, overwritten, .. } = self;
        let inside = Box3::at(offset, extent)
            .filter(|inside| Box3::whole(part.extent()).contains(inside))
            .ok_or_else(|| self.outside(offset, extent))?;
        let part = inside.shifted(part.min);
        let (marks, overwritten) = (*marks, *overwritten);
        Ok(Part { view: view.clone(), part, whole: false, marks, overwritten })
    }

    fn outside(&self, offset: Dims, extent: Dims) -> Error {
        let Part { view, part, .. } = self;
        Error::OutOfRange {
            buffer: view.storage.label.clone(),
            offset: view.visible(offset),
            extent: view.visible(extent),
            range: view.visible(part.extent()),
        }
    }

    /// The same elements in one dimension, if they are contiguous in memory.
    fn flat(&self) -> Result<Part> {
        let Part { view, part, .. } = self;
        let (first, len) = run_of(view, part).ok_or_else(|| self.not_contiguous())?;
        let part = Box3 { min: [0, 0, first], max: [1, 1, first + len] };
        let (marks, overwritten) = (self.marks, self.overwritten);
        Ok(Part { view: view.flat(), part, whole: false, marks, overwritten })
    }

    /// The same elements as those of another type of their size.
    fn reinterpret<U: DeviceType, const D: usize>(&self) -> Result<Part> {
        let all = self.view.dims;
        let view = reinterpreted::<U, D>(&self.view, std::array::from_fn(|dim| all[3 - D + dim]))?;
        let Part { part, whole, marks, overwritten, .. } = *self;
        Ok(Part { view, part, whole, marks, overwritten })
    }

    pub(super) fn not_contiguous(&self) -> Error {
        let extent = self.view.visible(self.part.extent());
        Error::NotContiguous { buffer: self.view.storage.label.clone(), extent }
    }

    /// The same elements in at least as many dimensions.
    fn in_dimensions(&self, rank: usize) -> Part {
        let Part { view, part, whole, marks, overwritten } = self.clone();
        let view = View::new(view.storage, (view.dims, rank), view.element_bytes);
        Part { view, part, whole, marks, overwritten }
    }

    fn offset<const D: usize>(&self) -> [usize; D] {
        std::array::from_fn(|dim| self.part.min[3 - D + dim])
    }

    fn shape<const D: usize>(&self) -> [usize; D] {
        let extent = self.part.extent();
        std::array::from_fn(|dim| extent[3 - D + dim])
    }
}

/// A part of a buffer, to read.
pub struct Slice<'a, T: DeviceType, const D: usize = 1> {
    pub(crate) part: Part,
    _borrow: PhantomData<&'a [T]>,
}

/// A part of a buffer, to read and write.
pub struct SliceMut<'a, T: DeviceType, const D: usize = 1> {
    pub(crate) part: Part,
    _borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T: DeviceType, const D: usize> Slice<'a, T, D> {
    pub(crate) fn new(view: &View, offset: Dims, extent: Dims) -> Result<Self> {
        Ok(Slice { part: Part::new(view, offset, extent)?, _borrow: PhantomData })
    }

    pub(crate) fn of(part: Part) -> Self {
        Slice { part, _borrow: PhantomData }
    }

    /// A part of it, at `offset` from its first element.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let x = rt.buffer_from(&[1, 2, 3, 4, 5])?;
    /// let most = x.slice([1], [4])?;
    /// assert_eq!(most.slice([1], [2])?.to_vec()?, [3, 4]);
    /// assert!(most.slice([3], [2]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn slice(&self, offset: impl Coords<D>, extent: impl Coords<D>) -> Result<Slice<'a, T, D>> {
        self.part.part(widen_at(offset.coords()), widen(extent.coords())).map(Slice::of)
    }

    /// Where it begins in its buffer.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let x = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
    /// let row = x.slice([1, 0], [1, 3])?;
    /// assert_eq!((row.offset(), row.flat()?.offset()), ([1, 0], [3]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn offset(&self) -> [usize; D] {
        self.part.offset()
    }

    /// Its elements in one dimension, row after row, without a copy: for kernels and algorithms
    /// that take one. [`Error::NotContiguous`] if there are gaps between its rows.
    pub fn flat(&self) -> Result<Slice<'a, T>> {
        self.part.flat().map(Slice::of)
    }

    /// The same elements by their bits as those of another type, which must be of the same size:
    /// see [`Buffer::reinterpret`].
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let x = rt.buffer_from(&[1.0f32, 2.0, 3.0])?;
    /// let bits = x.slice([1], [2])?.reinterpret::<u32>()?;
    /// assert_eq!(bits.to_vec()?, [2.0f32.to_bits(), 3.0f32.to_bits()]);
    /// assert!(x.slice([1], [2])?.reinterpret::<u64>().is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn reinterpret<U: DeviceType>(&self) -> Result<Slice<'a, U, D>> {
        self.part.reinterpret::<U, D>().map(Slice::of)
    }

    /// The same elements in more dimensions, without a copy: the first ones have one element. A
    /// kernel for batches of matrices takes a matrix by `x.in_dimensions::<3>()`.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let x = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
    /// assert_eq!(x.slice([0, 1], [2, 2])?.in_dimensions::<3>().shape(), [1, 2, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_dimensions<const E: usize>(&self) -> Slice<'a, T, E> {
        const { assert!(E >= D && E <= 3, "fewer dimensions, or more than three") };
        Slice::of(self.part.in_dimensions(E))
    }

    /// Both have memory in common, as parts of a shared buffer may. A command refuses to write such
    /// parts ([`Error::Aliasing`]); what takes several commands asks before the first one.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let x = rt.buffer_from(&[1, 2, 3, 4, 5])?;
    /// let (a, b) = (x.slice([0], [3])?, x.slice([3], [2])?);
    /// assert!(!a.overlaps(&b) && a.overlaps(&x.slice([2], [1])?));
    /// # Ok(())
    /// # }
    /// ```
    pub fn overlaps<U: DeviceType, const E: usize>(&self, other: &Slice<'_, U, E>) -> bool {
        let [own, others] = [&self.part, &other.part];
        own.view.storage.id == others.view.storage.id
            && own.view.shares(&own.part, &others.view, &others.part)
    }

    shaped!(|own| own.part.shape(), own.part.part.volume());

    /// Waits for its latest contents, as rows: for parts that are not contiguous in memory.
    pub fn read_rows(&self) -> Result<ReadRows<T, D>> {
        ReadRows::take(&self.part)
    }

    /// Waits for its latest contents; see [`Buffer::read`]. The part must be contiguous in memory.
    pub fn read(&self) -> Result<ReadGuard<T, D>> {
        ReadGuard::take(&self.part)
    }

    /// As [`read`](Self::read), as a future.
    pub fn read_async(&self) -> Result<ReadFuture<T, D>> {
        ReadFuture::take(&self.part)
    }

    /// Copies its latest contents into a new vector, row after row.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        vec_of(&self.part)
    }

    /// Waits for the latest value of the element at `at`, counted from the slice's first, and
    /// copies it: see [`Buffer::get`].
    pub fn get(&self, at: impl Coords<D>) -> Result<T> {
        let (at, one) = (widen_at(at.coords()), [1; 3]);
        let found = vec_of(&self.part.part(at, one)?)?;
        found.first().copied().ok_or_else(|| self.part.outside(at, one))
    }

    /// When everything submitted so far that writes it is done.
    pub fn written(&self) -> Result<Event> {
        Event::of_writers(&self.part)
    }
}

impl<T: DeviceType, const D: usize> SliceMut<'_, T, D> {
    pub(crate) fn new(view: &View, offset: Dims, extent: Dims) -> Result<Self> {
        Ok(SliceMut { part: Part::new(view, offset, extent)?, _borrow: PhantomData })
    }

    pub(crate) fn of(part: Part) -> Self {
        SliceMut { part, _borrow: PhantomData }
    }

    /// A part of it, to read: see [`Slice::slice`].
    pub fn slice(&self, offset: impl Coords<D>, extent: impl Coords<D>) -> Result<Slice<'_, T, D>> {
        self.part.part(widen_at(offset.coords()), widen(extent.coords())).map(Slice::of)
    }

    /// A part of it, to write: see [`Slice::slice`].
    pub fn slice_mut(
        &mut self,
        offset: impl Coords<D>,
        extent: impl Coords<D>,
    ) -> Result<SliceMut<'_, T, D>> {
        self.part.part(widen_at(offset.coords()), widen(extent.coords())).map(SliceMut::of)
    }

    /// Where it begins in its buffer.
    pub fn offset(&self) -> [usize; D] {
        self.part.offset()
    }

    /// Its elements in one dimension, to write: see [`Slice::flat`].
    pub fn flat_mut(&mut self) -> Result<SliceMut<'_, T>> {
        self.part.flat().map(SliceMut::of)
    }

    /// The same elements as those of another type, to write: see [`Slice::reinterpret`].
    pub fn reinterpret_mut<U: DeviceType>(&mut self) -> Result<SliceMut<'_, U, D>> {
        self.part.reinterpret::<U, D>().map(SliceMut::of)
    }

    /// The same elements in more dimensions, to write: see [`Slice::in_dimensions`].
    pub fn in_dimensions_mut<const E: usize>(&mut self) -> SliceMut<'_, T, E> {
        const { assert!(E >= D && E <= 3, "fewer dimensions, or more than three") };
        SliceMut::of(self.part.in_dimensions(E))
    }

    shaped!(|own| own.part.shape(), own.part.part.volume());

    /// Gives the host the only access, as rows: for parts that are not contiguous in memory.
    pub fn write_rows(&mut self) -> Result<WriteRows<T, D>> {
        WriteRows::take(&self.part, Mode::Update)
    }

    /// As [`write_rows`](Self::write_rows), without bringing what was there.
    pub fn discard_rows(&mut self) -> Result<WriteRows<T, D>> {
        WriteRows::take(&self.part, Mode::Discard { whole: false })
    }

    /// Waits for its latest contents and gives the host the only access; see [`Buffer::write`].
    /// The part must be contiguous in memory.
    pub fn write(&mut self) -> Result<WriteGuard<T, D>> {
        WriteGuard::take(&self.part, Mode::Update)
    }

    /// As [`write`](Self::write), without bringing what was there.
    pub fn discard(&mut self) -> Result<WriteGuard<T, D>> {
        WriteGuard::take(&self.part, Mode::Discard { whole: false })
    }
}

/// What a command can read elements of type `T` from: a buffer, a shared one, a view, USM, a slice,
/// by reference or, for slices, by value.
#[diagnostic::on_unimplemented(
    message = "a command cannot read elements of type `{T}` in {D} dimension(s) from `{Self}`",
    label = "this is read: pass `&x`, a buffer of these elements and dimensions",
    note = "it can from `&buffer`, `&shared` and `slice`; `x.flat()` gives the elements of any buffer in one dimension",
    note = "of the host's own data: `cg.copy_from_slice(&values, &mut x)` in a `q.submit`, `rt.buffer_from(&values)?`, `x.to_vec()?`"
)]
pub trait AsPart<T, const D: usize>: sealed::Sealed<T, D> {
    #[doc(hidden)]
    fn as_part(&self) -> Part;

    /// All of it as a slice, which has a range and can be passed more than once: for functions that
    /// take whatever a command can read.
    ///
    /// ```
    /// use folio_core::{buffer::AsPart, Destination, Event, Queue, Result};
    ///
    /// fn prefetch(q: &Queue, x: impl AsPart<f32, 1>) -> Result<Option<Event>> {
    ///     let x = x.slice_all();
    ///     if x.is_empty() {
    ///         return Ok(None);
    ///     }
    ///     let command = q.submit(|cg| {
    ///         cg.prefetch(&x, Destination::Device);
    ///         Ok(())
    ///     });
    ///     command.map(Some)
    /// }
    /// ```
    fn slice_all(&self) -> Slice<'_, T, D>
    where
        T: DeviceType,
    {
        Slice { part: self.as_part(), _borrow: PhantomData }
    }
}

/// What a command can write elements of type `T` to: `&mut` a buffer, USM or slice, or a shared
/// one.
///
/// Passing a `&mut` reference that is a variable *moves* it, as into every generic function. To use
/// it again afterwards, pass a fresh one:
///
/// ```
/// use folio_core::{Buffer, Queue, Result};
///
/// fn double(q: &Queue, x: &mut Buffer<f32>) -> Result<()> {
///     let items = x.range();
///     q.submit(|cg| {
///         let x = cg.read_write(&mut *x); // not `cg.read_write(x)`
///         cg.host_kernel(items, x, |i, mut x| x[i] *= 2.0);
///         Ok(())
///     })?;
///     println!("{:?}", x.to_vec()?);
///     Ok(())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a command cannot write elements of type `{T}` in {D} dimension(s) to `{Self}`",
    label = "this is written: pass `&mut x`, a buffer of these elements and dimensions",
    note = "it can to `&mut buffer`, `&shared` and `slice_mut`; `x.flat_mut()` gives the elements of any buffer in one dimension"
)]
pub trait AsPartMut<T, const D: usize>: sealed::SealedMut<T, D> {
    #[doc(hidden)]
    fn as_part_mut(&mut self) -> Part;

    /// All of it as a slice; see [`AsPart::slice_all`].
    fn slice_all_mut(&mut self) -> SliceMut<'_, T, D>
    where
        T: DeviceType,
    {
        SliceMut { part: self.as_part_mut(), _borrow: PhantomData }
    }
}

/// Keeps the traits to this crate's implementations: a part is memory without a type, and who gives
/// it says of which elements it is, and whether it may be written. So a seal names the elements,
/// too: a type of this crate is no part of a program's own elements.
pub(crate) mod sealed {
    pub trait Sealed<T, const D: usize> {}
    pub trait SealedMut<T, const D: usize> {}
}

/// References to references stand for what they refer to. All buffers are of device types, and
/// their references do not ask again: rustc would say of each call what it says of a kernel's type.
macro_rules! readable {
    ($of:ident: $($part:ty),+ => |$this:ident| $make:expr) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: $of, const D: usize> sealed::Sealed<T, D> for $part {}
        #[diagnostic::do_not_recommend]
        impl<T: $of, const D: usize> AsPart<T, D> for $part {
            fn as_part(&self) -> Part {
                let $this = self;
                $make
            }
        }
    )+};
}

/// As [`readable`].
macro_rules! writable {
    ($of:ident: $($part:ty),+ => |$this:ident| $make:expr) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: $of, const D: usize> sealed::SealedMut<T, D> for $part {}
        #[diagnostic::do_not_recommend]
        impl<T: $of, const D: usize> AsPartMut<T, D> for $part {
            fn as_part_mut(&mut self) -> Part {
                let $this = self;
                $make
            }
        }
    )+};
}

readable!(Sized: &Buffer<T, D>, &&Buffer<T, D>, &mut Buffer<T, D>, &&mut Buffer<T, D> => |it| it.view.whole());
writable!(Sized: &mut Buffer<T, D>, &mut &mut Buffer<T, D> => |it| it.view.whole());
readable!(Sized: &Shared<T, D>, &&Shared<T, D>, &mut Shared<T, D> => |it| it.view.whole());
writable!(Sized: &Shared<T, D>, &&Shared<T, D>, &mut Shared<T, D> => |it| it.view.whole());
readable!(DeviceType: Slice<'_, T, D>, &Slice<'_, T, D> => |it| it.part.clone());
readable!(DeviceType: SliceMut<'_, T, D>, &SliceMut<'_, T, D>, &mut SliceMut<'_, T, D> => |it| it.part.clone());
writable!(DeviceType: SliceMut<'_, T, D>, &mut SliceMut<'_, T, D> => |it| it.part.clone());
