//! How buffers are made: empty, as a copy of what the program has, or with its memory.

use super::{Buffer, BufferOptions, widen};
use crate::coords::Coords;
use crate::element::{DeviceType, bytes_of};
use crate::error::{Error, Label, Result};
use crate::geom::checked_volume;
use crate::hal::HostPtr;
use crate::pages::DomainId;
use crate::runtime::Runtime;
use sealed::Sealed;
use std::alloc::Layout;
use std::borrow::Cow;
use std::mem::ManuallyDrop;

/// Elements that a buffer can begin with: a reference to a slice, array or vector, which is copied
/// and free at once; or a `Vec` or `Box<[T]>` by value, whose memory becomes the buffer's on the
/// host, without a copy. They make a buffer in one dimension; a pair `(elements, shape)` makes one
/// of that shape, row after row.
///
/// ```
/// # fn main() -> folio_core::Result<()> {
/// # let rt = folio_core::Runtime::builder().build()?;
/// let data = vec![1.0f32; 1 << 20];
/// let copied = rt.buffer_from(&data)?; // `data` is free to change
/// let moved = rt.buffer_from(data)?; // no copy: the vector's memory is the buffer's
/// assert_eq!((copied.counters().allocations, moved.counters().allocations), (1, 0));
/// assert_eq!(copied.to_vec()?, moved.to_vec()?);
///
/// let table = rt.buffer_from((vec![1, 2, 3, 4, 5, 6], [2, 3]))?;
/// assert_eq!(table.get([1, 0])?, 4);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a buffer of `{T}` in {D} dimension(s) cannot begin with `{Self}`",
    label = "no elements of type `{T}`",
    note = "a buffer begins with `&slice`, `&array` or `&vec`, which are copied, or with a `Vec` or `Box<[T]>` by value, which is not; of other containers write `&x[..]`",
    note = "in several dimensions it begins with a pair of elements and shape: `rt.buffer_from((&data, [rows, columns]))`"
)]
pub trait Contents<T: Clone, const D: usize>: Sealed {
    /// The elements, and their shape.
    #[doc(hidden)]
    fn contents<'c>(self) -> (Cow<'c, [T]>, [usize; D])
    where
        Self: 'c;
}

/// What has elements, whichever type they are seen as. A type that has none can be a shape.
mod sealed {
    use super::Cow;

    pub trait Sealed {}

    impl<A: ?Sized> Sealed for &A {}
    impl<A: ?Sized> Sealed for &mut A {}
    impl<T> Sealed for Vec<T> {}
    impl<T> Sealed for Box<[T]> {}
    impl<T: Clone> Sealed for Cow<'_, [T]> {}
    impl<A: Sealed, S> Sealed for (A, S) {}
}

macro_rules! contents {
    ($([$($g:tt)*] $of:ty, |$data:ident| $contents:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Clone, $($g)*> Contents<T, 1> for $of {
            fn contents<'c>(self) -> (Cow<'c, [T]>, [usize; 1])
            where
                Self: 'c,
            {
                let $data = self;
                let contents: Cow<'c, [T]> = $contents;
                let len = contents.len();
                (contents, [len])
            }
        }
    )*};
}
contents! {
    [A: AsRef<[T]> + ?Sized] &A, |data| Cow::Borrowed(data.as_ref());
    [A: AsRef<[T]> + ?Sized] &mut A, |data| Cow::Borrowed((*data).as_ref());
    [] Vec<T>, |data| Cow::Owned(data);
    [] Box<[T]>, |data| Cow::Owned(data.into_vec());
    [] Cow<'_, [T]>, |data| data;
}

#[diagnostic::do_not_recommend]
impl<T: Clone, A: Contents<T, 1>, S: Coords<D>, const D: usize> Contents<T, D> for (A, S) {
    fn contents<'c>(self) -> (Cow<'c, [T]>, [usize; D])
    where
        Self: 'c,
    {
        (self.0.contents().0, self.1.coords())
    }
}

/// What [`Runtime::buffer_with`] makes a buffer of: a shape ([`Coords`]), whose elements read as
/// zero, or elements ([`Contents`]).
#[diagnostic::on_unimplemented(
    message = "a buffer of `{T}` in {D} dimension(s) is not made of `{Self}`",
    label = "neither a shape nor elements of type `{T}`",
    note = "a shape is `n`, `[rows, columns]` or three numbers of type `usize`; elements are `&data`, a `Vec` by value, or `(&data, [rows, columns])`"
)]
pub trait Initial<T: Clone, const D: usize> {
    /// The elements, if there are any yet, and the shape.
    #[doc(hidden)]
    fn initial<'c>(self) -> (Option<Cow<'c, [T]>>, [usize; D])
    where
        Self: 'c;
}

#[diagnostic::do_not_recommend]
impl<T: Clone, C: Contents<T, D> + Sealed, const D: usize> Initial<T, D> for C {
    fn initial<'c>(self) -> (Option<Cow<'c, [T]>>, [usize; D])
    where
        Self: 'c,
    {
        let (contents, shape) = self.contents();
        (Some(contents), shape)
    }
}

macro_rules! shapes {
    ($([$($g:tt)*] $of:ty, $d:tt;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Clone, $($g)*> Initial<T, $d> for $of {
            fn initial<'c>(self) -> (Option<Cow<'c, [T]>>, [usize; $d])
            where
                Self: 'c,
            {
                (None, self.coords())
            }
        }
    )*};
}
shapes! {
    [] usize, 1;
    [const D: usize] [usize; D], D;
    [] (usize, usize), 2;
    [] (usize, usize, usize), 3;
}

impl Runtime {
    /// A buffer of any shape: `n`, `[rows, columns]` or `(rows, columns)`, three numbers. Its
    /// elements read as zero, and nothing is allocated yet. The dimensions follow from the shape.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// use folio_core::Buffer;
    ///
    /// let line = rt.buffer::<f64, 1>(100)?;
    /// let grid: Buffer<f32, 2> = rt.buffer([30, 40])?;
    /// let cube = rt.buffer::<u8, 3>((2, 3, 4))?;
    /// assert_eq!((line.shape(), grid.shape(), cube.len()), ([100], [30, 40], 24));
    /// assert_eq!(grid.get((29, 39))?, 0.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn buffer<T: DeviceType, const D: usize>(
        &self,
        shape: impl Coords<D>,
    ) -> Result<Buffer<T, D>> {
        self.empty(shape.coords(), BufferOptions::new())
    }

    /// A buffer that begins with `data`: one dimension, or any shape by a pair `(data, shape)`. A
    /// reference is copied, and free at once; a `Vec` by value gives its memory to the buffer: see
    /// [`Contents`]. [`Error::Mismatch`] if the shape has another number of elements.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let line = rt.buffer_from(&[1, 2, 3, 4])?;
    /// let m = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
    /// assert_eq!((line.get(2)?, m.get([1, 0])?), (3, 4));
    /// let refused = rt.buffer_from((&[1, 2, 3, 4], [2, 3]));
    /// assert!(refused.is_err_and(|error| error.to_string().contains("[4] and [2, 3]")));
    /// # Ok(())
    /// # }
    /// ```
    pub fn buffer_from<T: DeviceType, const D: usize>(
        &self,
        data: impl Contents<T, D>,
    ) -> Result<Buffer<T, D>> {
        let (data, shape) = data.contents();
        self.filled(data, shape, BufferOptions::new())
    }

    /// A buffer of a shape, as by [`buffer`](Self::buffer), or of elements, as by
    /// [`buffer_from`](Self::buffer_from); with options: a label, pages, a drop that waits.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// use folio_core::{Buffer, BufferOptions};
    ///
    /// let options = BufferOptions::new().label("plate").page([1, 40]);
    /// let plate: Buffer<f32, 2> = rt.buffer_with([30, 40], options)?;
    /// assert_eq!((plate.label(), plate.page()), ("plate", [1, 1, 40]));
    ///
    /// let ends = rt.buffer_with((&[1, 2], [2, 1]), BufferOptions::new().label("ends").sync())?;
    /// assert!(ends.policy().drop_blocks());
    /// # Ok(())
    /// # }
    /// ```
    pub fn buffer_with<T: DeviceType, const D: usize>(
        &self,
        initial: impl Initial<T, D>,
        options: BufferOptions,
    ) -> Result<Buffer<T, D>> {
        match initial.initial() {
            (None, shape) => self.empty(shape, options),
            (Some(data), shape) => self.filled(data, shape, options),
        }
    }

    /// A buffer of zeros.
    fn empty<T: DeviceType, const D: usize>(
        &self,
        shape: [usize; D],
        options: BufferOptions,
    ) -> Result<Buffer<T, D>> {
        let (device, program) = (options.page_locked.clone(), options.allocator.is_some());
        if device.is_some() && program {
            let why = format!("buffer {}: its memory is an allocator's", options.label);
            return Err(Error::Configuration { what: "page-locked memory", why });
        }
        let view = self.storage::<T>(widen(shape), D, options, None)?;
        if let Some(device) = device {
            if !device.core.same(&self.core) {
                let label = Label::from(device.name());
                return Err(Error::WrongRuntime { what: "device", label, by: None });
            }
            self.core.engine.page_lock(view.storage.id, device.at)?;
        }
        let buffer = Buffer::from_view(view);
        if program && !buffer.is_empty() {
            self.core.engine.allocate(&[(buffer.view.storage.id, DomainId::HOST)])?;
        }
        Ok(buffer)
    }

    fn filled<T: DeviceType, const D: usize>(
        &self,
        data: Cow<'_, [T]>,
        shape: [usize; D],
        options: BufferOptions,
    ) -> Result<Buffer<T, D>> {
        if checked_volume(widen(shape)) != Some(data.len()) {
            return Err(Error::Mismatch {
                what: "data for buffer",
                label: options.label,
                source_extent: vec![data.len()],
                target: shape.to_vec(),
                needed: None,
            });
        }
        let elsewhere = options.page_locked.is_some() || options.allocator.is_some();
        let buffer = self.empty(shape, options)?;
        match data {
            _ if data.is_empty() => {}
            Cow::Borrowed(data) => self.copy_in(&buffer, data)?,
            Cow::Owned(data) if elsewhere => self.copy_in(&buffer, &data)?,
            Cow::Owned(data) => self.move_in(&buffer, data)?,
        }
        Ok(buffer)
    }

    /// Copies a new buffer's contents to its memory on the host.
    fn copy_in<T: DeviceType, const D: usize>(
        &self,
        buffer: &Buffer<T, D>,
        data: &[T],
    ) -> Result<()> {
        let id = buffer.view.storage.id;
        self.core.engine.allocate(&[(id, DomainId::HOST)])?;
        // SAFETY: nothing else uses the buffer yet.
        unsafe { self.core.engine.copy_in(id, bytes_of(data)) };
        Ok(())
    }

    /// Makes a vector's memory that of a new buffer on the host.
    fn move_in<T: DeviceType, const D: usize>(
        &self,
        buffer: &Buffer<T, D>,
        data: Vec<T>,
    ) -> Result<()> {
        // The layout that vectors are allocated by, so it is possible.
        let layout = Layout::array::<T>(data.capacity()).map_err(|_| Error::TooLarge {
            what: "buffer",
            label: buffer.view.storage.label.clone(),
            extent: vec![data.capacity()],
            element_bytes: size_of::<T>(),
        })?;
        let mut data = ManuallyDrop::new(data);
        let at = HostPtr(data.as_mut_ptr().cast());
        // SAFETY: the vector's memory, from the global allocator by this layout. Its elements are
        // as many as the buffer's, and have no uninitialised bytes (`DeviceType`). The vector is
        // not used again, unless this fails.
        let adopted = unsafe { self.core.engine.adopt_host(buffer.view.storage.id, at, layout) };
        if adopted.is_err() {
            drop(ManuallyDrop::into_inner(data));
        }
        adopted
    }
}
