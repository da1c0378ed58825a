//! How buffers are made: empty, as a copy of what the program has, or with its memory.

use super::{Buffer, BufferOptions, widen};
use crate::coords::Coords;
use crate::element::{DeviceType, bytes_of};
use crate::error::{Error, Label, Result};
use crate::geom::checked_volume;
use crate::hal::HostPtr;
use crate::pages::DomainId;
use crate::runtime::Runtime;
use std::alloc::Layout;
use std::borrow::Cow;
use std::mem::ManuallyDrop;

/// What a buffer can begin with: a reference to a slice, array or vector, which is copied and free
/// at once; or a `Vec` or `Box<[T]>` by value, whose memory becomes the buffer's on the host,
/// without a copy.
///
/// ```
/// # fn main() -> folio_core::Result<()> {
/// # let rt = folio_core::Runtime::builder().build()?;
/// let data = vec![1.0f32; 1 << 20];
/// let copied = rt.buffer_from(&data)?; // `data` is free to change
/// let moved = rt.buffer_from(data)?; // no copy: the vector's memory is the buffer's
/// assert_eq!((copied.counters().allocations, moved.counters().allocations), (1, 0));
/// assert_eq!(copied.to_vec()?, moved.to_vec()?);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a buffer of `{T}` cannot begin with `{Self}`",
    label = "no slice, array or vector of `{T}`",
    note = "a buffer begins with `&slice`, `&array` or `&vec`, which are copied, or with a `Vec` or `Box<[T]>` by value, which is not; of other containers write `&x[..]`"
)]
pub trait Contents<T: Clone> {
    #[doc(hidden)]
    fn contents<'c>(self) -> Cow<'c, [T]>
    where
        Self: 'c;
}

macro_rules! contents {
    ($([$($g:tt)*] $of:ty, |$data:ident| $contents:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Clone, $($g)*> Contents<T> for $of {
            fn contents<'c>(self) -> Cow<'c, [T]>
            where
                Self: 'c,
            {
                let $data = self;
                $contents
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

impl Runtime {
    /// A buffer of `len` elements in one dimension, which read as zero. Nothing is allocated yet.
    ///
    /// Of several dimensions, [`zeros`](Self::zeros) makes one.
    pub fn buffer<T: DeviceType>(&self, len: impl Coords<1>) -> Result<Buffer<T>> {
        self.zeros(len)
    }

    /// A buffer of any shape: `n`, `[rows, columns]` or `(rows, columns)`, three numbers. Its
    /// elements read as zero, and nothing is allocated yet. The dimensions follow from the shape.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// use folio_core::Buffer;
    ///
    /// let grid: Buffer<f32, 2> = rt.zeros([30, 40])?;
    /// let cube = rt.zeros::<u8, 3>((2, 3, 4))?;
    /// assert_eq!((grid.shape(), cube.len()), ([30, 40], 24));
    /// assert_eq!(grid.get((29, 39))?, 0.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn zeros<T: DeviceType, const D: usize>(
        &self,
        shape: impl Coords<D>,
    ) -> Result<Buffer<T, D>> {
        self.buffer_with(shape, BufferOptions::new())
    }

    /// A buffer in one dimension that begins with `data`. A reference is copied, and free at once;
    /// a `Vec` by value gives its memory to the buffer: see [`Contents`].
    pub fn buffer_from<T: DeviceType>(&self, data: impl Contents<T>) -> Result<Buffer<T>> {
        let data = data.contents();
        let len = data.len();
        self.filled(data, [len], BufferOptions::new())
    }

    /// As [`buffer_from`](Self::buffer_from), in any shape, row after row. [`Error::Mismatch`] if
    /// the shape has another number of elements.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let m = rt.buffer_from_shape([2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(m.get([1, 0])?, 4);
    /// let refused = rt.buffer_from_shape([2, 3], &[1, 2, 3, 4]);
    /// assert!(refused.is_err_and(|error| error.to_string().contains("[4] and [2, 3]")));
    /// # Ok(())
    /// # }
    /// ```
    pub fn buffer_from_shape<T: DeviceType, const D: usize>(
        &self,
        shape: impl Coords<D>,
        data: impl Contents<T>,
    ) -> Result<Buffer<T, D>> {
        self.filled(data.contents(), shape.coords(), BufferOptions::new())
    }

    /// As [`zeros`](Self::zeros), with options: a label, pages.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// use folio_core::{Buffer, BufferOptions};
    ///
    /// let options = BufferOptions::new().label("plate").page([1, 40]);
    /// let plate: Buffer<f32, 2> = rt.buffer_with([30, 40], options)?;
    /// assert_eq!((plate.label(), plate.page()), ("plate", [1, 1, 40]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn buffer_with<T: DeviceType, const D: usize>(
        &self,
        shape: impl Coords<D>,
        options: BufferOptions,
    ) -> Result<Buffer<T, D>> {
        let (device, program) = (options.page_locked.clone(), options.allocator.is_some());
        if device.is_some() && program {
            let why = format!("buffer {}: its memory is an allocator's", options.label);
            return Err(Error::Configuration { what: "page-locked memory", why });
        }
        let view = self.storage::<T>(widen(shape.coords()), D, options, None)?;
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

    /// As [`buffer_from_shape`](Self::buffer_from_shape), with options.
    pub fn buffer_from_with<T: DeviceType, const D: usize>(
        &self,
        data: impl Contents<T>,
        shape: impl Coords<D>,
        options: BufferOptions,
    ) -> Result<Buffer<T, D>> {
        self.filled(data.contents(), shape.coords(), options)
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
        let buffer = self.buffer_with(shape, options)?;
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
