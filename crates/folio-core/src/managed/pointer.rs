//! Managed pointers: handles, and how they are made.

use super::executor::{Allocator, Begins};
use super::future::ManagedFuture;
use super::moves::{Agent, AnyExecutor, reaches, refuse_in_task};
use super::whereabouts::Whereabouts;
use crate::buffer::{
    AsPart, AsPartMut, Buffer, BufferOptions, Part, ReadGuard, Sealed, SealedMut, View,
};
use crate::buffer::{WriteGuard, vec_of};
use crate::element::DeviceType;
use crate::engine::terms::access::Mode;
use crate::error::{Error, Label, Result};
use crate::event::Event;
use crate::geom::Box3;
use crate::pages::{DomainId, DomainSet};
use crate::queue::Queue;
use crate::report::Counters;
use crate::runtime::{DeviceRef, Runtime};
use crate::usm::UsmKind;
use folio_kernel::words::count;
use std::marker::PhantomData;
use std::sync::Arc;

/// What a managed pointer may be used for.
pub trait Permission: sealed::Sealed + Send + Sync + 'static {}

/// Reading and writing, in one region at a time. The default.
#[derive(Clone, Copy, Debug)]
pub struct ReadWrite;

/// Reading, in several regions at once.
#[derive(Clone, Copy, Debug)]
pub struct ReadOnly;

/// Keeps the traits to this module's types.
mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for ReadWrite {}
impl sealed::Sealed for ReadOnly {}
impl Permission for ReadWrite {}
impl Permission for ReadOnly {}

/// A shared handle to a fixed number of elements, which are accessible in one memory region at a
/// time: the host's, or that of an executor.
///
/// A move, by `put`, `get` or a task that needs the elements, is a command like any other. From the
/// moment that it is triggered the old region has no access; access where a pointer is not
/// accessible is [`Error::Inaccessible`](crate::Error::Inaccessible). That holds for every command
/// that the pointer is passed to, also on a plain queue.
///
/// It has an allocation in each region where it was accessible. Handles are cheap to clone; when
/// the last one goes, nothing waits, and the memory lives until nothing uses it.
///
/// ```
/// # fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
/// let gpu = rt.executor("gpu")?;
/// let x = rt.managed_from(vec![1.0f32; 1024])?;
/// x.write()?[0] = 2.0;
/// gpu.put(&x).wait()?;
/// assert!(x.read().is_err()); // it is on the GPU
/// x.get().wait()?;
/// assert_eq!(x.read()?[0], 2.0);
/// # Ok(())
/// # }
/// ```
pub struct ManagedPtr<T: DeviceType, U: Permission = ReadWrite> {
    pub(super) view: View,
    _elements: PhantomData<fn() -> (T, U)>,
}

impl<T: DeviceType, U: Permission> Clone for ManagedPtr<T, U> {
    fn clone(&self) -> Self {
        ManagedPtr { view: self.view.clone(), _elements: PhantomData }
    }
}

/// What a managed pointer can begin with: a `Vec` or a `Box<[T]>`, whose memory becomes the
/// pointer's on the host, or an `Arc<[T]>`, which is copied: others may read it.
pub trait OwnedData<T: DeviceType>: InitialData<T> {}

/// What [`Runtime::managed_with`] makes a pointer of: a number of elements, which read as zero, or
/// [`OwnedData`].
pub trait InitialData<T: DeviceType>: sealed::Sealed {
    #[doc(hidden)]
    fn into_buffer(self, runtime: &Runtime, options: BufferOptions) -> Result<Buffer<T>>;
}

impl sealed::Sealed for usize {}
impl<T: DeviceType> InitialData<T> for usize {
    fn into_buffer(self, runtime: &Runtime, options: BufferOptions) -> Result<Buffer<T>> {
        runtime.buffer_with(self, options)
    }
}

macro_rules! owned_data {
    ($($of:ty, |$data:ident| $contents:expr;)*) => {$(
        impl<T: DeviceType> sealed::Sealed for $of {}
        impl<T: DeviceType> OwnedData<T> for $of {}
        impl<T: DeviceType> InitialData<T> for $of {
            fn into_buffer(self, runtime: &Runtime, options: BufferOptions) -> Result<Buffer<T>> {
                let $data = self;
                runtime.buffer_with($contents, options)
            }
        }
    )*};
}
owned_data! {
    Vec<T>, |data| data;
    Box<[T]>, |data| data;
    Arc<[T]>, |data| &data[..];
}

impl Runtime {
    /// A managed pointer to `len` elements, which read as zero; accessible on the host, where
    /// memory is allocated when it is first used.
    pub fn managed<T: DeviceType>(&self, len: usize) -> Result<ManagedPtr<T>> {
        self.managed_with(len, BufferOptions::new())
    }

    /// A managed pointer to elements that the program has: see [`OwnedData`].
    pub fn managed_from<T: DeviceType>(&self, data: impl OwnedData<T>) -> Result<ManagedPtr<T>> {
        self.managed_with(data, BufferOptions::new())
    }

    /// A managed pointer to so many elements, as by [`managed`](Self::managed), or to elements that
    /// the program has, as by [`managed_from`](Self::managed_from); with options: a label, pages.
    pub fn managed_with<T: DeviceType>(
        &self,
        initial: impl InitialData<T>,
        options: BufferOptions,
    ) -> Result<ManagedPtr<T>> {
        Ok(ManagedPtr::begin(initial.into_buffer(self, options)?, DomainId::HOST, None))
    }

    /// A managed pointer that begins where an [`Allocator`] says, with memory there at once: on a
    /// device, in memory that a device and the host share, or in memory of the program's own
    /// allocator. It reads as zero.
    ///
    /// ```
    /// # fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
    /// let gpu = rt.executor("gpu")?;
    /// let x = rt.managed_in::<f32>(&gpu.allocator(), 1024)?;
    /// assert!(x.is_accessible_on(&gpu));
    /// # Ok(())
    /// # }
    /// ```
    pub fn managed_in<T: DeviceType>(
        &self,
        allocator: impl Into<Allocator>,
        len: usize,
    ) -> Result<ManagedPtr<T>> {
        match allocator.into().0 {
            Begins::On(queue, domain) => self.managed_on(queue, domain, len),
            Begins::Shared(device) => self.managed_shared(&device, len),
            Begins::With(program) => {
                let options = BufferOptions { allocator: Some(program), ..BufferOptions::new() };
                self.managed_with(len, options)
            }
        }
    }

    fn managed_on<T: DeviceType>(
        &self,
        queue: Queue,
        domain: DomainId,
        len: usize,
    ) -> Result<ManagedPtr<T>> {
        if !queue.inner.core.same(&self.core) {
            let label = Label::from(queue.device().name());
            return Err(Error::WrongRuntime { what: "allocator", label, by: None });
        }
        let buffer = self.buffer::<T, 1>(len)?;
        if len > 0 {
            self.core.engine.allocate(&[(buffer.view.storage.id, domain)])?;
        }
        Ok(ManagedPtr::begin(buffer, domain, Some(queue)))
    }

    /// The device's tasks and the host use the memory where it is, in the order of a buffer's.
    fn managed_shared<T: DeviceType>(
        &self,
        device: &DeviceRef,
        len: usize,
    ) -> Result<ManagedPtr<T>> {
        if !device.core.same(&self.core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "allocator", label, by: None });
        }
        let view = self.usm::<T>(device, UsmKind::Shared, len)?.view;
        let domain = self.core.engine.devices[usize::from(device.at)].domain;
        let region = DomainSet::of(domain).with(DomainId::HOST);
        Ok(ManagedPtr::of(view, Whereabouts::new(region, None)))
    }
}

impl<T: DeviceType> ManagedPtr<T> {
    /// Of a buffer that nothing has used.
    fn begin(buffer: Buffer<T>, at: DomainId, mover: Option<Queue>) -> ManagedPtr<T> {
        ManagedPtr::of(buffer.view.clone(), Whereabouts::new(DomainSet::of(at), mover))
    }

    fn of(view: View, whereabouts: Whereabouts) -> ManagedPtr<T> {
        view.storage.managed.get_or_init(|| Box::new(whereabouts));
        ManagedPtr { view, _elements: PhantomData }
    }

    /// The same elements, only to be read from now on, in several regions at once. If there are
    /// other handles, or guards, this one comes back.
    ///
    /// ```
    /// # fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
    /// let table = rt.managed_from(vec![1, 2, 3])?;
    /// let Ok(table) = table.freeze() else { return Ok(()) };
    /// rt.executor("gpu")?.put(&table).wait()?;
    /// assert_eq!(table.read()?[1], 2); // the host still has access
    /// # Ok(())
    /// # }
    /// ```
    pub fn freeze(self) -> std::result::Result<ManagedPtr<T, ReadOnly>, ManagedPtr<T>> {
        if Arc::strong_count(&self.view.storage) > 1 {
            return Err(self);
        }
        if let Some(managed) = self.view.storage.managed.get() {
            managed.freeze();
        }
        Ok(ManagedPtr { view: self.view, _elements: PhantomData })
    }

    /// Gives the host the only access while the guard lives: moves are refused meanwhile
    /// ([`Error::HostAccessHeld`](crate::Error::HostAccessHeld)).
    pub fn write(&self) -> Result<WriteGuard<T>> {
        WriteGuard::take(&self.part(), Mode::Update)
    }

    /// As [`write`](Self::write), without bringing what was there: what is not written reads as
    /// zero or as an earlier value. It also heals what a failed task has left.
    pub fn discard(&self) -> Result<WriteGuard<T>> {
        WriteGuard::take(&self.part(), Mode::Discard { whole: false })
    }
}

impl<T: DeviceType, U: Permission> ManagedPtr<T, U> {
    pub(super) fn part(&self) -> Part {
        self.view.whole()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        Box3::whole(self.view.dims).volume()
    }

    /// True when it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name it was given, or an empty string.
    pub fn label(&self) -> &str {
        self.view.storage.label.as_str()
    }

    /// What has been moved, filled and allocated for it.
    pub fn counters(&self) -> Counters {
        self.view.storage.core.engine.counters_of(self.view.storage.id)
    }

    /// True when the host may access it now: no move is under way, and the last one was to the
    /// host's memory.
    pub fn is_accessible(&self) -> bool {
        self.view.storage.managed.get().is_some_and(|managed| managed.is_on_host())
    }

    /// True when a task that is submitted now may access it on an executor without a move: it is
    /// there, or on its way there.
    pub fn is_accessible_on(&self, executor: &impl AnyExecutor) -> bool {
        let (agent, storage) = (executor.agent(), &self.view.storage);
        agent.queue.inner.core.same(&storage.core)
            && reaches(storage, agent.on_host, agent.domain())
            && storage.managed.get().is_some_and(|managed| managed.is_at(agent.domain()))
    }

    /// Moves it to the host, by way of the executor where it is.
    pub fn get(&self) -> ManagedFuture {
        let mover = self.view.storage.managed.get().and_then(|managed| managed.mover());
        match mover {
            Some(queue) => Agent { queue, on_host: false }.get(None, &self),
            // It never left.
            None => {
                let here = refuse_in_task(&self.view.storage);
                ManagedFuture { result: here.and_then(|()| Event::of_writers(&self.part())) }
            }
        }
    }

    /// Keeps it on the host, to be read, while the guard lives.
    pub fn read(&self) -> Result<ReadGuard<T>> {
        ReadGuard::take(&self.part())
    }

    /// Copies its elements into a new vector, on the host.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        vec_of(&self.part())
    }
}

impl<T: DeviceType, U: Permission> std::fmt::Debug for ManagedPtr<T, U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let elements = count(self.len() as u64, "element");
        write!(f, "ManagedPtr {} of {elements}", self.view.storage.label)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceType, U: Permission> Sealed<T, 1> for &ManagedPtr<T, U> {}
#[diagnostic::do_not_recommend]
impl<T: DeviceType> SealedMut<T, 1> for &ManagedPtr<T> {}
#[diagnostic::do_not_recommend]
impl<T: DeviceType, U: Permission> AsPart<T, 1> for &ManagedPtr<T, U> {
    fn as_part(&self) -> Part {
        self.part()
    }
}
#[diagnostic::do_not_recommend]
impl<T: DeviceType> AsPartMut<T, 1> for &ManagedPtr<T> {
    fn as_part_mut(&mut self) -> Part {
        self.part()
    }
}
