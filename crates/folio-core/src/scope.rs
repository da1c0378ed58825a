//! Scopes: commands over memory that the caller has only borrowed.
//!
//! A handle can be leaked, so no destructor can promise that nobody uses borrowed memory any more.
//! A scope can: when it ends, also by a panic, every operation on its views has ended and every
//! handle to them that is left gives [`Error::ScopeEnded`](crate::Error::ScopeEnded).

use crate::buffer::{AsPart, Buffer, End, Part, Policy, View, ViewPolicy, view_over, widen};
use crate::coords::Coords;
use crate::element::DeviceType;
use crate::engine::pages::storage::StorageId;
use crate::engine::threads::wait::WaitEnd;
use crate::error::{Error, Label, Result};
use crate::foreign::in_kernel;
use crate::geom::{Box3, checked_volume};
use crate::planted::Planted;
use crate::runtime::Runtime;
use crate::sync::Mutex;
use std::marker::PhantomData;

/// Where views of borrowed memory are made; see [`Runtime::scope`].
pub struct Scope<'env> {
    runtime: Runtime,
    /// The views' storages, which the scope holds, and whether they are written back. A view is
    /// here until nothing uses it any more, so that the scope's drop ends what a panic has left.
    views: Mutex<Vec<(StorageId, bool)>>,
    _env: PhantomData<&'env mut &'env ()>,
}

/// A buffer over memory that is only read.
pub struct ReadView<T: DeviceType> {
    view: View,
    _elements: PhantomData<fn() -> T>,
}

impl Runtime {
    /// Runs `f` with a scope, in which slices of the caller can be used in place of buffers. When
    /// `scope` returns, everything that used them has ended, and what was written to a
    /// [`view_mut`](Scope::view_mut) is in its slice.
    ///
    /// An error is that of the first view whose contents could not be brought back. In a kernel,
    /// which cannot wait, it is [`Error::WaitInKernel`], and `f` is not called. A host task that
    /// submits something in a scope that depends on the task itself waits for ever, as a thread
    /// that joins itself does.
    pub fn scope<'env, R>(&self, f: impl FnOnce(&Scope<'env>) -> R) -> Result<R> {
        if in_kernel() {
            return Err(Error::WaitInKernel);
        }
        let scope =
            Scope { runtime: self.clone(), views: Mutex::new(Vec::new()), _env: PhantomData };
        let result = f(&scope);
        scope.end()?;
        Ok(result)
    }
}

impl<'env> Scope<'env> {
    /// A slice to read. The host's memory is used in place by devices that compute there, and
    /// copied from for others.
    pub fn view<T: DeviceType>(&self, slice: &'env [T]) -> Result<ReadView<T>> {
        let view = self.over::<T>(slice.as_ptr().cast_mut(), [1, 1, slice.len()], 1, None)?;
        Ok(ReadView { view, _elements: PhantomData })
    }

    /// A slice to read and write. What is written elsewhere is copied back when the buffer is
    /// dropped or the scope ends; the drop does not wait.
    pub fn view_mut<T: DeviceType>(&self, slice: &'env mut [T]) -> Result<Buffer<T>> {
        let end = End::new(Policy::AsyncWritebackView, None, None);
        let len = slice.len();
        Ok(Buffer::from_view(self.over::<T>(slice.as_mut_ptr(), [1, 1, len], 1, Some(end))?))
    }

    /// As [`view_mut`](Self::view_mut), in any shape and by a policy. The end of the scope waits
    /// whatever the policy; it writes back only if the policy does.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// use folio_core::buffer::ViewPolicy;
    ///
    /// let mut data = vec![0.0f32; 12];
    /// rt.scope(|scope| {
    ///     let x = scope.view_mut_with([3, 4], &mut data, ViewPolicy::SyncWriteback)?;
    ///     // .. commands that use `x` ..
    ///     x.close() // waits, and returns the error that a drop cannot return
    /// })?
    /// # }
    /// ```
    pub fn view_mut_with<T: DeviceType, const D: usize>(
        &self,
        shape: impl Coords<D>,
        slice: &'env mut [T],
        policy: ViewPolicy<'_>,
    ) -> Result<Buffer<T, D>> {
        let shape = shape.coords();
        if checked_volume(widen(shape)) != Some(slice.len()) {
            return Err(Error::Mismatch {
                what: "storage of view",
                label: Label::NONE,
                source_extent: vec![slice.len()],
                target: shape.to_vec(),
                needed: None,
            });
        }
        let end = Some(End::of(policy));
        Ok(Buffer::from_view(self.over::<T>(slice.as_mut_ptr(), widen(shape), D, end)?))
    }

    fn over<T: DeviceType>(
        &self,
        ptr: *mut T,
        dims: [usize; 3],
        rank: usize,
        end: Option<End>,
    ) -> Result<View> {
        let mut options = crate::BufferOptions::new().label("view");
        // A user's could have data copied into a slice that is only to be read.
        options.own_tracker = true;
        let lent_to_write = end.is_some();
        let writes = end.as_ref().is_some_and(|end| end.policy.writes_back());
        // SAFETY: the slice's elements. It is borrowed for as long as the scope lasts, whose end
        // waits until nothing uses the view.
        let view = unsafe { view_over(&self.runtime, (dims, rank), ptr, options, end)? };
        view.storage.borrowed.store(true, std::sync::atomic::Ordering::Relaxed);
        self.runtime.core.engine.hold(view.storage.id, !lent_to_write);
        self.views.lock().push((view.storage.id, writes));
        Ok(view)
    }

    /// Ends the views: nothing can use them from now on; waits for what does.
    fn end(&self) -> Result<()> {
        let views = self.views.lock().clone();
        let mut result = Ok(());
        for (view, writes) in views {
            result = result.and(self.end_view(view, writes));
        }
        loop {
            let Some((view, _)) = self.views.lock().last().copied() else { return result };
            self.await_idle(view);
            self.views.lock().pop();
            self.runtime.core.engine.let_go(view);
        }
    }

    fn end_view(&self, id: StorageId, writes: bool) -> Result<()> {
        let engine = &self.runtime.core.engine;
        engine.await_turn(id);
        let stamp = engine.close_storage(id, writes);
        if engine.plant.is(Planted::ScopeWait) {
            return Ok(());
        }
        match engine.wait_anywhere(stamp) {
            WaitEnd::Failed(failure) => Err(Error::failed(failure)),
            _ => Ok(()),
        }
    }

    /// Waits until no operation uses a storage. Then no device has its memory as its own any more,
    /// also if a handle of the view is still there.
    fn await_idle(&self, id: StorageId) {
        let engine = &self.runtime.core.engine;
        if engine.plant.is(Planted::ScopeWait) {
            return;
        }
        engine.await_idle(id);
        engine.end_import(id);
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        // After a panic in the scope's closure; otherwise there is nothing left.
        let _ = self.end();
    }
}

impl<T: DeviceType> ReadView<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        Box3::whole(self.view.dims).volume()
    }

    /// Its shape.
    pub fn shape(&self) -> [usize; 1] {
        [self.len()]
    }

    /// True when it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: DeviceType> crate::buffer::Sealed<T, 1> for &ReadView<T> {}
#[diagnostic::do_not_recommend]
impl<T: DeviceType> AsPart<T, 1> for &ReadView<T> {
    fn as_part(&self) -> Part {
        self.view.whole()
    }
}
