//! Memory of other libraries as buffers.

use crate::buffer::HostStorage;
use crate::{Buffer, DeviceType};
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

/// A buffer that is read and never written: what takes `&Buffer` takes this, too. Imports of memory
/// that must not be written make it ([`dlpack`](crate::dlpack), [`arrow`](crate::arrow)).
pub struct ReadOnly<T: DeviceType, const D: usize = 1>(Buffer<T, D>);

impl<T: DeviceType, const D: usize> ReadOnly<T, D> {
    pub(crate) fn new(buffer: Buffer<T, D>) -> ReadOnly<T, D> {
        ReadOnly(buffer)
    }
}

impl<T: DeviceType, const D: usize> Deref for ReadOnly<T, D> {
    type Target = Buffer<T, D>;

    fn deref(&self) -> &Buffer<T, D> {
        &self.0
    }
}

/// Elements in the host's memory, which a view owns together with what keeps them.
pub(crate) struct OwnedElements<T, O> {
    at: usize,
    len: usize,
    pub(crate) owner: O,
    _elements: PhantomData<fn() -> T>,
}

impl<T, O> OwnedElements<T, O> {
    /// # Safety
    /// `at` is the address of `len` initialised, aligned elements, unless there are none. They stay
    /// until the owner is dropped. Nothing else uses them meanwhile, but to read, and that only if
    /// the view is never written.
    pub(crate) unsafe fn new(at: usize, len: usize, owner: O) -> OwnedElements<T, O> {
        OwnedElements { at, len, owner, _elements: PhantomData }
    }
}

// SAFETY: the promise of `new`.
unsafe impl<T: DeviceType, O: Send + 'static> HostStorage for OwnedElements<T, O> {
    type Element = T;

    fn as_mut_ptr(&mut self) -> *mut T {
        match self.len {
            0 => NonNull::dangling().as_ptr(),
            _ => std::ptr::with_exposed_provenance_mut(self.at),
        }
    }

    fn len(&self) -> usize {
        self.len
    }
}
