//! Parts of buffers: what accesses are made of.

use super::guard::{ReadFuture, ReadGuard, ReadRows, WriteGuard, WriteRows};
use super::{Buffer, Shared, View};
use crate::element::DeviceType;
use crate::engine::access::Mode;
use crate::error::Result;
use crate::event::Event;
use crate::geom::{Box3, Dims};
use std::marker::PhantomData;

/// A box of a buffer's elements, as commands take it.
#[derive(Clone)]
pub struct Part {
    pub(crate) view: View,
    pub(crate) part: Box3,
}

impl Part {
    fn new(view: &View, offset: Dims, extent: Dims) -> Result<Part> {
        Ok(Part { view: view.clone(), part: view.part(offset, extent)? })
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

impl<T: DeviceType, const D: usize> Slice<'_, T, D> {
    pub(crate) fn new(view: &View, offset: Dims, extent: Dims) -> Result<Self> {
        Ok(Slice { part: Part::new(view, offset, extent)?, _borrow: PhantomData })
    }

    /// Waits for its latest contents, as rows: for parts that are not contiguous in memory.
    pub fn read_rows(&self) -> Result<ReadRows<T>> {
        ReadRows::take(&self.part)
    }

    /// Waits for its latest contents; see [`Buffer::read`]. The part must be contiguous in memory.
    pub fn read(&self) -> Result<ReadGuard<T>> {
        ReadGuard::take(&self.part)
    }

    /// As [`read`](Self::read), as a future.
    pub fn read_async(&self) -> Result<ReadFuture<T>> {
        ReadFuture::take(&self.part)
    }

    /// Copies its latest contents into a new vector, row after row.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        Ok(ReadRows::take_briefly(&self.part)?.to_vec())
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

    /// Gives the host the only access, as rows: for parts that are not contiguous in memory.
    pub fn write_rows(&mut self) -> Result<WriteRows<T>> {
        WriteRows::take(&self.part, Mode::Update)
    }

    /// As [`write_rows`](Self::write_rows), without bringing what was there.
    pub fn overwrite_rows(&mut self) -> Result<WriteRows<T>> {
        WriteRows::take(&self.part, Mode::Discard { whole: false })
    }

    /// Waits for its latest contents and gives the host the only access; see [`Buffer::write`].
    /// The part must be contiguous in memory.
    pub fn write(&mut self) -> Result<WriteGuard<T>> {
        WriteGuard::take(&self.part, Mode::Update)
    }

    /// As [`write`](Self::write), without bringing what was there.
    pub fn overwrite(&mut self) -> Result<WriteGuard<T>> {
        WriteGuard::take(&self.part, Mode::Discard { whole: false })
    }
}

/// What a command can read elements of type `T` from: a buffer, a shared one, a slice.
pub trait AsPart<T: DeviceType, const D: usize>: sealed::Sealed {
    #[doc(hidden)]
    fn as_part(&self) -> Part;
}

/// What a command can write elements of type `T` to: `&mut` a buffer or slice, or a shared one.
pub trait AsPartMut<T: DeviceType, const D: usize>: sealed::Sealed {
    #[doc(hidden)]
    fn as_part_mut(&mut self) -> Part;
}

/// Keeps the traits to this crate's types.
pub(crate) mod sealed {
    pub trait Sealed {}
}

fn whole(view: &View) -> Part {
    Part { view: view.clone(), part: Box3::whole(view.dims) }
}

impl<T: DeviceType, const D: usize> sealed::Sealed for &Buffer<T, D> {}
impl<T: DeviceType, const D: usize> AsPart<T, D> for &Buffer<T, D> {
    fn as_part(&self) -> Part {
        whole(&self.view)
    }
}

impl<T: DeviceType, const D: usize> sealed::Sealed for &mut Buffer<T, D> {}
impl<T: DeviceType, const D: usize> AsPartMut<T, D> for &mut Buffer<T, D> {
    fn as_part_mut(&mut self) -> Part {
        whole(&self.view)
    }
}

impl<T: DeviceType, const D: usize> sealed::Sealed for &Shared<T, D> {}
impl<T: DeviceType, const D: usize> AsPart<T, D> for &Shared<T, D> {
    fn as_part(&self) -> Part {
        whole(&self.view)
    }
}
impl<T: DeviceType, const D: usize> AsPartMut<T, D> for &Shared<T, D> {
    fn as_part_mut(&mut self) -> Part {
        whole(&self.view)
    }
}

impl<T: DeviceType, const D: usize> sealed::Sealed for Slice<'_, T, D> {}
impl<T: DeviceType, const D: usize> AsPart<T, D> for Slice<'_, T, D> {
    fn as_part(&self) -> Part {
        self.part.clone()
    }
}

impl<T: DeviceType, const D: usize> sealed::Sealed for SliceMut<'_, T, D> {}
impl<T: DeviceType, const D: usize> AsPart<T, D> for SliceMut<'_, T, D> {
    fn as_part(&self) -> Part {
        self.part.clone()
    }
}
impl<T: DeviceType, const D: usize> AsPartMut<T, D> for SliceMut<'_, T, D> {
    fn as_part_mut(&mut self) -> Part {
        self.part.clone()
    }
}
