//! Containers over managed pointers: an array of a length that the compiler knows, and a vector.

use super::future::ManagedFuture;
use super::moves::AnyExecutor;
use super::pointer::ManagedPtr;
use crate::buffer::{
    AsPart, AsPartMut, BufferOptions, Part, ReadGuard, Sealed, SealedMut, SliceMut, WriteGuard,
};
use crate::element::DeviceType;
use crate::engine::terms::access::Mode;
use crate::error::Result;
use crate::geom::Box3;
use crate::marks::Marks;
use crate::runtime::Runtime;

/// A managed pointer to `N` elements.
///
/// ```
/// # use folio_core::managed::ManagedArray;
/// # fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
/// let x = ManagedArray::new(rt, [1, 2, 3])?;
/// assert_eq!(x.to_array()?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ManagedArray<T: DeviceType, const N: usize> {
    pointer: ManagedPtr<T>,
}

/// A vector that moves as a managed pointer does. Where it is accessible on the host it grows and
/// shrinks; elsewhere that is [`Error::Inaccessible`](crate::Error::Inaccessible).
///
/// Kernels and tasks see its `len` elements. It has one handle: what grows has a new allocation,
/// which other handles would not know.
///
/// ```
/// # use folio_core::managed::ManagedVec;
/// # fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
/// let mut x = ManagedVec::new(rt)?;
/// x.extend_from_slice(&[1, 2])?;
/// x.push(3)?;
/// let gpu = rt.executor("gpu")?;
/// gpu.put(&x).wait()?;
/// assert!(x.push(4).is_err());
/// x.get().wait()?;
/// assert_eq!((x.pop()?, x.len()), (Some(3), 2));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ManagedVec<T: DeviceType> {
    pointer: ManagedPtr<T>,
    len: usize,
}

impl<T: DeviceType, const N: usize> ManagedArray<T, N> {
    /// A managed array, accessible on the host.
    pub fn new(rt: &Runtime, data: [T; N]) -> Result<ManagedArray<T, N>> {
        Ok(ManagedArray { pointer: rt.managed_from(Vec::from(data))? })
    }

    fn part(&self) -> Part {
        self.pointer.part()
    }

    /// The elements' pointer.
    pub fn pointer(&self) -> &ManagedPtr<T> {
        &self.pointer
    }

    /// Copies its elements, on the host.
    pub fn to_array(&self) -> Result<[T; N]> {
        let elements = self.pointer.read()?;
        Ok(std::array::from_fn(|at| elements[at]))
    }
}

impl<T: DeviceType> ManagedVec<T> {
    /// An empty managed vector, accessible on the host.
    pub fn new(rt: &Runtime) -> Result<ManagedVec<T>> {
        Ok(ManagedVec { pointer: rt.managed(0)?, len: 0 })
    }

    /// Its elements, without what is reserved beyond.
    fn part(&self) -> Part {
        if self.len == self.capacity() {
            return self.pointer.part();
        }
        let part = Box3 { min: [0; 3], max: [1, 1, self.len] };
        let view = self.pointer.view.clone();
        Part { view, part, whole: false, marks: Marks::new(), overwritten: false }
    }

    /// How many elements it can have without a new allocation.
    pub fn capacity(&self) -> usize {
        self.pointer.len()
    }

    /// Makes room for `more` elements.
    pub fn reserve(&mut self, more: usize) -> Result<()> {
        let needed = self.len.saturating_add(more);
        if needed <= self.capacity() {
            return Ok(());
        }
        let storage = &self.pointer.view.storage;
        let runtime = Runtime { core: storage.core.clone() };
        let options = BufferOptions { label: storage.label.clone(), ..BufferOptions::new() };
        let before = self.read()?;
        let larger = runtime.managed_with(needed.max(2 * self.capacity()).max(8), options)?;
        if self.len > 0 {
            larger.discard()?[..self.len].copy_from_slice(&before);
        }
        drop(before);
        self.pointer = larger;
        Ok(())
    }

    /// Appends an element.
    pub fn push(&mut self, value: T) -> Result<()> {
        self.extend_from_slice(&[value])
    }

    /// Appends elements.
    pub fn extend_from_slice(&mut self, values: &[T]) -> Result<()> {
        self.reserve(values.len())?;
        let place =
            SliceMut::<T, 1>::new(&self.pointer.view, [0, 0, self.len], [1, 1, values.len()])?;
        WriteGuard::<T>::take(&place.part, Mode::Discard { whole: false })?.copy_from_slice(values);
        self.len += values.len();
        Ok(())
    }

    /// Removes the last element.
    pub fn pop(&mut self) -> Result<Option<T>> {
        let last = self.read()?.last().copied();
        self.len -= usize::from(last.is_some());
        Ok(last)
    }

    /// Keeps the first `len` elements, if it has more. Also where the host has no access.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

/// What both have of a pointer.
macro_rules! common {
    ($([$($g:tt)*] $of:ty, |$this:ident| $len:expr;)*) => {$(
        impl<T: DeviceType, $($g)*> $of {
            /// Number of elements.
            pub fn len(&self) -> usize {
                let $this = self;
                $len
            }

            /// True when it has no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// As [`ManagedPtr::is_accessible`].
            pub fn is_accessible(&self) -> bool {
                self.pointer.is_accessible()
            }

            /// As [`ManagedPtr::is_accessible_on`].
            pub fn is_accessible_on(&self, executor: &impl AnyExecutor) -> bool {
                self.pointer.is_accessible_on(executor)
            }

            /// As [`ManagedPtr::get`].
            pub fn get(&self) -> ManagedFuture {
                self.pointer.get()
            }

            /// As [`ManagedPtr::read`].
            pub fn read(&self) -> Result<ReadGuard<T>> {
                ReadGuard::take(&self.part())
            }

            /// As [`ManagedPtr::write`].
            pub fn write(&self) -> Result<WriteGuard<T>> {
                WriteGuard::take(&self.part(), Mode::Update)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: DeviceType, $($g)*> Sealed<T, 1> for &$of {}
        #[diagnostic::do_not_recommend]
        impl<T: DeviceType, $($g)*> SealedMut<T, 1> for &$of {}
        #[diagnostic::do_not_recommend]
        impl<T: DeviceType, $($g)*> AsPart<T, 1> for &$of {
            fn as_part(&self) -> Part {
                self.part()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: DeviceType, $($g)*> AsPartMut<T, 1> for &$of {
            fn as_part_mut(&mut self) -> Part {
                self.part()
            }
        }
    )*};
}
common! {
    [const N: usize] ManagedArray<T, N>, |_this| N;
    [] ManagedVec<T>, |this| this.len;
}
