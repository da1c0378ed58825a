//! Scopes: commands over memory that the caller has only borrowed.
//!
//! A handle can be leaked, so no destructor can promise that nobody uses borrowed memory any more.
//! A scope can: when it ends, also by a panic, every operation on its views has ended and every
//! handle to them that is left gives [`Error::ScopeEnded`](crate::Error::ScopeEnded).

use crate::buffer::{AsPart, Buffer, Part, View};
use crate::element::DeviceType;
use crate::engine::storage::{Alloc, Owner, StorageId};
use crate::engine::wait::{Waited, in_kernel};
use crate::error::{Error, Result};
use crate::geom::Box3;
use crate::hal::{HostPtr, MemBase, MemRef};
use crate::pages::DomainId;
use crate::planted::Planted;
use crate::runtime::Runtime;
use crate::sync::Mutex;
use std::marker::PhantomData;

/// Where views of borrowed memory are made; see [`Runtime::scope`].
pub struct Scope<'env> {
    runtime: Runtime,
    /// The views' storages, and whether they are written back.
    views: Mutex<Vec<(View, bool)>>,
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
        let view = self.over::<T>(slice.as_ptr().cast_mut(), slice.len(), false)?;
        Ok(ReadView { view, _elements: PhantomData })
    }

    /// A slice to read and write. What is written elsewhere is copied back when the scope ends.
    pub fn view_mut<T: DeviceType>(&self, slice: &'env mut [T]) -> Result<Buffer<T>> {
        Ok(Buffer::from_view(self.over::<T>(slice.as_mut_ptr(), slice.len(), true)?))
    }

    fn over<T: DeviceType>(&self, ptr: *mut T, len: usize, writes: bool) -> Result<View> {
        let mut options = crate::BufferOptions::new().label("view");
        // A user's could have data copied into a slice that is only to be read.
        options.own_tracker = true;
        let view = self.runtime.storage::<T>([1, 1, len], 1, options, None)?;
        let id = view.storage.id;
        view.storage.borrowed.store(true, std::sync::atomic::Ordering::Relaxed);
        let host = HostPtr(ptr.cast());
        let alloc = Alloc {
            mem: MemRef { base: MemBase::Host(host), offset: 0 },
            address: Some(ptr as u64),
            host: Some(host),
            owner: Owner::User,
            clean: true,
        };
        self.runtime.core.engine.enter(|ledger| ledger.adopt(id, DomainId::HOST, alloc));
        self.views.lock().push((view.clone(), writes));
        Ok(view)
    }

    /// Ends the views: nobody can use them from now on; waits for those who do.
    fn end(&self) -> Result<()> {
        let views = std::mem::take(&mut *self.views.lock());
        let mut result = Ok(());
        for (view, writes) in &views {
            let ended = self.end_view(view.storage.id, *writes);
            result = result.and(ended);
        }
        for (view, _) in &views {
            self.await_idle(view.storage.id);
        }
        result
    }

    fn end_view(&self, id: StorageId, writes: bool) -> Result<()> {
        let engine = &self.runtime.core.engine;
        let (stamp, _pin) = engine.close_storage(id, writes);
        if engine.plant.is(Planted::ScopeWait) {
            return Ok(());
        }
        match engine.wait_anywhere(stamp) {
            Waited::Failed(failure) => Err(Error::failed(failure)),
            _ => Ok(()),
        }
    }

    /// Waits until no operation uses a storage.
    fn await_idle(&self, id: StorageId) {
        let engine = &self.runtime.core.engine;
        if engine.plant.is(Planted::ScopeWait) {
            return;
        }
        loop {
            let deps = engine.users(id);
            let Some(deps) = deps else { return };
            for dep in deps {
                engine.wait_anywhere(dep.stamp);
            }
            std::thread::yield_now();
        }
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

impl<T: DeviceType> crate::buffer::Sealed for ReadView<T> {}
#[diagnostic::do_not_recommend]
impl<T: DeviceType> AsPart<T, 1> for &ReadView<T> {
    fn as_part(&self) -> Part {
        self.view.whole()
    }
}
