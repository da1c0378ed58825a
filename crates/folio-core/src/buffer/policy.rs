//! What a buffer does with the program's memory, and what happens when it is dropped.

use super::reclaim::{EndListener, Reclaim, StorageOnLoan, ViewError};
use super::{Buffer, BufferOptions, StorageHandle, View, widen};
use crate::coords::Coords;
use crate::element::DeviceType;
use crate::engine::pages::storage::{Alloc, Owner};
use crate::engine::pages::tracker::leaks_inside;
use crate::error::{Error, Label, Result};
use crate::event::Event;
use crate::geom::checked_volume;
use crate::hal::HostPtr;
use crate::pages::DomainId;
use crate::queue::Queue;
use crate::runtime::Runtime;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a buffer stands to the program's memory.
///
/// A *buffer* has memory of its own. A *view* works in memory of the program, in place on devices
/// that compute in the host's memory. A *writeback* view leaves the latest contents there when it
/// is dropped, and copies only the pages that the host does not have. The drop of a *sync* one
/// waits until all commands that use it have ended; that of an *async* one returns at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Policy {
    /// Memory of its own; the drop returns at once. What the plain constructors make.
    #[default]
    AsyncBuffer,
    /// Memory of its own; the drop waits.
    SyncBuffer,
    /// Memory of the program; the drop returns at once, and writes nothing back.
    AsyncView,
    /// Memory of the program; the drop waits, and writes nothing back.
    SyncView,
    /// Memory of the program, written back; the drop returns at once, and a queue's `wait` covers
    /// the writeback.
    AsyncWritebackView,
    /// Memory of the program, written back; the drop waits for that.
    SyncWritebackView,
}

impl Policy {
    /// Its drop waits until all commands that use the buffer have ended.
    pub fn drop_blocks(self) -> bool {
        matches!(self, Policy::SyncBuffer | Policy::SyncView | Policy::SyncWritebackView)
    }

    /// Its drop leaves the latest contents in the program's memory.
    pub fn writes_back(self) -> bool {
        matches!(self, Policy::AsyncWritebackView | Policy::SyncWritebackView)
    }

    /// It works in the program's memory.
    pub fn is_view(self) -> bool {
        !matches!(self, Policy::AsyncBuffer | Policy::SyncBuffer)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sync = if self.drop_blocks() { "sync" } else { "async" };
        let writeback = if self.writes_back() { " writeback" } else { "" };
        write!(f, "{sync}{writeback} {}", if self.is_view() { "view" } else { "buffer" })
    }
}

/// A policy of a view.
#[derive(Clone, Copy, Debug)]
pub enum ViewPolicy<'q> {
    /// See [`Policy::AsyncView`].
    Async,
    /// See [`Policy::SyncView`].
    Sync,
    /// See [`Policy::AsyncWritebackView`]. The queue's `wait` covers the writeback, and returns its
    /// failure.
    AsyncWriteback(&'q Queue),
    /// See [`Policy::SyncWritebackView`].
    SyncWriteback,
}

impl<'q> ViewPolicy<'q> {
    /// The policy with options: a label, pages.
    ///
    /// ```
    /// use folio_core::{buffer::ViewPolicy, BufferOptions, Runtime};
    ///
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = Runtime::builder().build()?;
    /// let policy = ViewPolicy::Sync.with(BufferOptions::new().label("image"));
    /// let (image, mut back) = rt.view([2, 3], vec![0u8; 6], policy)?;
    /// assert_eq!(image.label(), "image");
    /// image.close()?;
    /// assert_eq!(back.take()?.len(), 6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with(self, options: BufferOptions) -> ViewOptions<'q> {
        ViewOptions { policy: self, options }
    }

    /// Without the queue.
    pub fn policy(&self) -> Policy {
        match self {
            ViewPolicy::Async => Policy::AsyncView,
            ViewPolicy::Sync => Policy::SyncView,
            ViewPolicy::AsyncWriteback(_) => Policy::AsyncWritebackView,
            ViewPolicy::SyncWriteback => Policy::SyncWritebackView,
        }
    }

    fn queue(&self) -> Option<Queue> {
        match self {
            ViewPolicy::AsyncWriteback(queue) => Some((*queue).clone()),
            _ => None,
        }
    }
}

/// How a view is made: a [`ViewPolicy`], or one [with](ViewPolicy::with) options.
pub struct ViewOptions<'q> {
    policy: ViewPolicy<'q>,
    options: BufferOptions,
}

impl<'q> From<ViewPolicy<'q>> for ViewOptions<'q> {
    fn from(policy: ViewPolicy<'q>) -> ViewOptions<'q> {
        policy.with(BufferOptions::new())
    }
}

/// Memory of the program that a view can own until it gives it back.
///
/// # Safety
/// `as_mut_ptr` gives the start of `len` initialised elements. They stay where they are when the
/// owner is moved, and nothing reads, writes or frees them but by way of the owner, for as long as
/// that exists.
#[diagnostic::on_unimplemented(
    message = "a view cannot own `{Self}`",
    label = "no owner of its elements",
    note = "a view owns a `Vec` or a `Box<[T]>` until it gives it back; of data that are borrowed, views are made in a \
        scope: `rt.scope(|scope| {{ let x = scope.view_mut(&mut data)?; .. }})?`"
)]
pub unsafe trait HostStorage: Send + 'static {
    /// What it holds.
    type Element: DeviceType;

    /// Its first element.
    fn as_mut_ptr(&mut self) -> *mut Self::Element;

    /// How many it holds.
    fn len(&self) -> usize;

    /// True if that is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

// SAFETY: a vector's elements are on the heap, and are the vector's alone.
unsafe impl<T: DeviceType> HostStorage for Vec<T> {
    type Element = T;

    fn as_mut_ptr(&mut self) -> *mut T {
        Vec::as_mut_ptr(self)
    }

    fn len(&self) -> usize {
        Vec::len(self)
    }
}

// SAFETY: as above. The engine moves a storage that is in use only as a `StorageOnLoan`, which
// leaves pointers into a box valid.
unsafe impl<T: DeviceType> HostStorage for Box<[T]> {
    type Element = T;

    fn as_mut_ptr(&mut self) -> *mut T {
        <[T]>::as_mut_ptr(self)
    }

    fn len(&self) -> usize {
        <[T]>::len(self)
    }
}

/// What the last handle of a storage has to do when it goes.
pub(crate) struct End {
    pub(crate) policy: Policy,
    queue: Option<Queue>,
    told: Option<Arc<dyn EndListener>>,
    /// Nothing but the caller's promise keeps the memory.
    raw: bool,
    /// That is done.
    ended: AtomicBool,
}

impl StorageHandle {
    pub(crate) fn policy(&self) -> Policy {
        self.end.as_ref().map_or(Policy::AsyncBuffer, |end| end.policy)
    }

    /// Writes back what is to be, and says when that is done and nothing uses the storage any more;
    /// the first time that it is called.
    fn finish(&self, end: &End) -> Option<Event> {
        if end.ended.swap(true, Ordering::Relaxed) {
            return None;
        }
        let queue = end.queue.as_ref().map(|queue| queue.inner.id);
        let writes = end.policy.writes_back();
        let stamp = self.core.engine.finish_storage(self.id, writes, queue);
        let event = Event::new(self.core.clone(), stamp);
        if let Some(told) = &end.told {
            told.ends_with(event.clone());
        }
        Some(event)
    }
}

impl Drop for StorageHandle {
    fn drop(&mut self) {
        if leaks_inside() {
            return;
        }
        if let Some(told) = self.end.as_ref().and_then(|end| end.told.as_ref()) {
            told.has_no_handle();
        }
        let blocks = self.policy().drop_blocks();
        if blocks {
            self.core.engine.await_turn(self.id);
        }
        let event = self.end.as_ref().and_then(|end| self.finish(end));
        self.core.engine.drop_storage(self.id, blocks);
        if let Some(event) = event.filter(|_| blocks) {
            // In a kernel, or in a task that the buffer's commands depend on, nobody can wait.
            if event.wait_untold() {
                self.core.engine.await_idle(self.id);
            }
        }
        if blocks {
            self.core.engine.let_go(self.id);
        }
    }
}

impl<T: DeviceType, const D: usize> Buffer<T, D> {
    /// How it stands to the program's memory.
    pub fn policy(&self) -> Policy {
        self.view.storage.policy()
    }

    /// Ends the buffer, and says when that is done: when a writeback view has left its contents in
    /// the program's memory, and no command uses the buffer any more. Does not wait, whatever the
    /// policy.
    ///
    /// The event has the error that a drop cannot return. Of a [raw view](Runtime::view_raw) that
    /// something else still has, such as a guard or an executable, it has [`Error::InUse`] in a
    /// [`Cause::Task`](crate::Cause::Task): the memory is not the program's again.
    pub fn finish(self) -> Event {
        let storage = &self.view.storage;
        let plain = || End::new(Policy::AsyncBuffer, None, None);
        let event = match &storage.end {
            Some(end) => storage.finish(end),
            None => storage.finish(&plain()),
        };
        let raw = storage.end.as_ref().is_some_and(|end| end.raw);
        if raw && Arc::strong_count(storage) > 1 {
            let stamp = storage.core.engine.refuse_end(&storage.label);
            return Event::new(storage.core.clone(), stamp);
        }
        event.unwrap_or_else(|| Event::done(storage.core.clone()))
    }

    /// Ends the buffer, and waits until that is done, as [`finish`](Self::finish) says. Afterwards
    /// nothing uses the program's memory that it was a view of.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let data = vec![1.0f32; 100];
    /// let (x, mut back) = rt.view(100, data, folio_core::buffer::ViewPolicy::SyncWriteback)?;
    /// x.close()?;
    /// assert_eq!(back.take()?.len(), 100);
    /// # Ok(())
    /// # }
    /// ```
    pub fn close(self) -> Result<()> {
        self.finish().wait()
    }
}

impl End {
    pub(crate) fn of(policy: ViewPolicy<'_>) -> End {
        End::new(policy.policy(), policy.queue(), None)
    }

    /// Of a buffer with memory of its own whose drop waits.
    pub(crate) fn that_waits() -> End {
        End::new(Policy::SyncBuffer, None, None)
    }

    pub(crate) fn new(
        policy: Policy,
        queue: Option<Queue>,
        told: Option<Arc<dyn EndListener>>,
    ) -> End {
        End { policy, queue, told, raw: false, ended: AtomicBool::new(false) }
    }
}

/// A view of `ptr`, of this shape, that ends as `end` says.
///
/// # Safety
/// The memory has as many initialised elements. Nothing else uses it until the storage is gone, or
/// what keeps it from that has been told.
pub(crate) unsafe fn view_over<T: DeviceType>(
    rt: &Runtime,
    (dims, rank): ([usize; 3], usize),
    ptr: *mut T,
    options: BufferOptions,
    end: Option<End>,
) -> Result<View> {
    let other_memory = [
        (options.page_locked.is_some(), "page-locked memory"),
        (options.allocator.is_some(), "memory of an allocator"),
    ];
    if let Some((_, what)) = other_memory.into_iter().find(|(wanted, _)| *wanted) {
        let why = format!("view {}: it has the program's memory", options.label);
        return Err(Error::Configuration { what, why });
    }
    if let Some(queue) = end.as_ref().and_then(|end| end.queue.as_ref())
        && !queue.inner.core.same(&rt.core)
    {
        let label = Label::NONE;
        return Err(Error::WrongRuntime { what: "queue of a writeback view", label, by: None });
    }
    let mut view = rt.storage::<T>(dims, rank, options, None)?;
    if let Some(storage) = Arc::get_mut(&mut view.storage) {
        storage.end = end.map(Box::new);
    }
    let host = HostPtr(ptr.cast());
    let alloc = Alloc::of_host(host, Owner::User, true);
    rt.core.engine.enter(|ledger| ledger.storages[view.storage.id.0].adopt(DomainId::HOST, alloc));
    Ok(view)
}

/// An owned view, and what gives the storage back.
pub type OwnedView<O, const D: usize> = (Buffer<<O as HostStorage>::Element, D>, Reclaim<O>);

impl Runtime {
    /// A buffer that works in `storage`, which it owns until the [`Reclaim`] gives it back. The
    /// [`ViewPolicy`] says whether its drop waits, and whether it writes back what the host does
    /// not have. Options, such as a label, are added by [`ViewPolicy::with`].
    ///
    /// After an error, [`ViewError`] has the storage.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// # let Ok(q) = rt.queue() else { return Ok(()) };
    /// use folio_core::buffer::ViewPolicy;
    ///
    /// let policy = ViewPolicy::AsyncWriteback(&q);
    /// let (x, mut x_back) = rt.view(8, vec![0.0f32; 8], policy)?;
    /// let (mut y, mut y_back) = rt.view([2, 4], vec![0.0f32; 8], policy)?;
    /// q.fill(&mut y, 1.0)?;
    /// drop((x, y)); // does not wait: both are written back at the same time
    /// q.wait()?;
    /// assert_eq!(x_back.take()?, [0.0; 8]);
    /// assert_eq!(y_back.take()?, [1.0; 8]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn view<'q, O: HostStorage, const D: usize>(
        &self,
        shape: impl Coords<D>,
        storage: O,
        policy: impl Into<ViewOptions<'q>>,
    ) -> Result<OwnedView<O, D>, ViewError<O>> {
        let ViewOptions { policy, options } = policy.into();
        let shape = shape.coords();
        if checked_volume(widen(shape)) != Some(storage.len()) {
            let error = Error::Mismatch {
                what: "storage of view",
                label: options.label,
                source_extent: vec![storage.len()],
                target: shape.to_vec(),
                needed: None,
            };
            return Err(ViewError { error, storage });
        }
        // From here on it is not moved by itself.
        let mut storage = StorageOnLoan::new(storage);
        let ptr = storage.get_mut().as_mut_ptr();
        let reclaim = Reclaim::new(options.label.clone());
        let end = End::new(policy.policy(), policy.queue(), Some(reclaim.told()));
        // SAFETY: the storage's own promise: its elements are there and its alone until it is given
        // back, which the keeper does when the engine drops it, after all uses.
        let view = unsafe { view_over(self, (widen(shape), D), ptr, options, Some(end)) };
        match view {
            Ok(view) => {
                let keeper = Box::new(reclaim.keeper(storage));
                self.core.engine.keep(view.storage.id, keeper);
                Ok((Buffer::from_view(view), reclaim))
            }
            Err(error) => Err(ViewError { error, storage: storage.into_inner() }),
        }
    }

    /// A buffer that works in memory for which the caller answers.
    ///
    /// # Safety
    /// `ptr` is the start of as many initialised, aligned elements as the shape has. Nothing else
    /// uses them until the buffer and everything that was made of it are gone and all commands that
    /// use it have ended: until the drop returns, if the policy is a sync one and the drop is not
    /// in a kernel or host task; or until the event of [`finish`](Buffer::finish) is done, and does
    /// not say [`Error::InUse`]. What is made of the buffer, and keeps it, are guards, graphs,
    /// executables, and the handles of an [`into_shared`](Buffer::into_shared).
    pub unsafe fn view_raw<'q, T: DeviceType, const D: usize>(
        &self,
        shape: impl Coords<D>,
        ptr: *mut T,
        policy: impl Into<ViewOptions<'q>>,
    ) -> Result<Buffer<T, D>> {
        let ViewOptions { policy, options } = policy.into();
        let shape = shape.coords();
        if checked_volume(widen(shape)) != Some(0) && (ptr.is_null() || !ptr.is_aligned()) {
            return Err(Error::Misaligned {
                what: "view",
                label: options.label,
                at: ptr as u64,
                align: align_of::<T>(),
            });
        }
        let end = End { raw: true, ..End::of(policy) };
        // SAFETY: the caller's promise.
        let view = unsafe { view_over(self, (widen(shape), D), ptr, options, Some(end)) };
        Ok(Buffer::from_view(view?))
    }
}
