//! How an owned view gives its storage back.

use crate::error::{Error, Label, Result};
use crate::event::Event;
use crate::panics::contain;
use crate::sync::{Condvar, Mutex, MutexGuard};
use std::fmt;
use std::future::Future;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Gives back the storage of an owned view: a future, with a [`take`](Self::take) that waits.
///
/// The storage comes back when the view's last handle is gone and all commands that use it have
/// ended. If this is dropped, so is the storage then.
#[must_use = "it gives the storage back"]
pub struct Reclaim<O> {
    shared: Arc<ReclaimCell<O>>,
}

/// Why a [`Reclaim`] does not give the storage back, or gives it back without all of its contents.
/// With `?` it becomes the [`Error`].
pub struct ReclaimError<O> {
    /// Why; of a storage that came back, the failure of what should have been written to it.
    pub error: Error,
    /// With the contents that reached it. `None` while a view is in it, and once it was taken.
    pub storage: Option<O>,
}

impl<O> ReclaimError<O> {
    fn without_storage(error: Error) -> ReclaimError<O> {
        ReclaimError { error, storage: None }
    }
}

/// A view could not be made; the storage is as it was.
pub struct ViewError<O> {
    /// Why.
    pub error: Error,
    /// What was to be viewed.
    pub storage: O,
}

/// Errors beside a storage: they read as the error alone, and become it.
macro_rules! reads_as_its_error {
    ($($name:ident)*) => {$(
        impl<O> From<$name<O>> for Error {
            fn from(refused: $name<O>) -> Error {
                refused.error
            }
        }

        impl<O> fmt::Debug for $name<O> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.error, f)
            }
        }

        impl<O> fmt::Display for $name<O> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.error, f)
            }
        }

        impl<O> std::error::Error for $name<O> {}
    )*};
}
reads_as_its_error!(ViewError ReclaimError);

/// Listens for the end of a view.
pub(crate) trait EndListener: Send + Sync {
    fn ends_with(&self, event: Event);

    /// The view's last handle goes.
    fn has_no_handle(&self);
}

struct ReclaimCell<O> {
    label: Label,
    state: Mutex<ReclaimState<O>>,
    changed: Condvar,
}

struct ReclaimState<O> {
    /// There when it has come back.
    storage: Option<O>,
    /// It is on its way, or has been taken.
    last: Last,
    /// A guard, an executable or another handle has the view, which may have been finished.
    held: bool,
    waker: Option<Waker>,
}

/// What became of the view.
enum Last {
    /// It is in use.
    Held,
    /// It has been finished, or its last handle is gone; and this is how it ends.
    Gone(Event),
    /// The storage has been taken.
    Taken,
}

impl<O> ReclaimCell<O> {
    fn lock(&self) -> MutexGuard<'_, ReclaimState<O>> {
        self.state.lock()
    }
}

impl<O: Send> EndListener for ReclaimCell<O> {
    fn ends_with(&self, event: Event) {
        let old = std::mem::replace(&mut self.lock().last, Last::Gone(event));
        // Without the lock: an event may be the last that keeps the runtime.
        drop(old);
    }

    fn has_no_handle(&self) {
        self.lock().held = false;
    }
}

/// A storage while others use what it owns, by pointers. To move a `Box` is to say that nothing
/// else has pointers into it; to move this is not, since it may be uninitialised as far as the
/// compiler knows.
pub(crate) struct StorageOnLoan<O>(MaybeUninit<O>);

impl<O> StorageOnLoan<O> {
    pub(crate) fn new(storage: O) -> StorageOnLoan<O> {
        StorageOnLoan(MaybeUninit::new(storage))
    }

    /// The storage where it lies.
    pub(crate) fn get_mut(&mut self) -> &mut O {
        // SAFETY: `new` has initialised it, and nothing takes it but `into_inner` and the drop.
        unsafe { self.0.assume_init_mut() }
    }

    /// The storage. Nothing may use the pointers any more.
    pub(crate) fn into_inner(self) -> O {
        let lent = ManuallyDrop::new(self);
        // SAFETY: initialised (see `get_mut`); what is left behind is not dropped.
        unsafe { lent.0.assume_init_read() }
    }
}

impl<O> Drop for StorageOnLoan<O> {
    fn drop(&mut self) {
        // SAFETY: initialised (see `get_mut`), and not used again.
        unsafe { self.0.assume_init_drop() };
    }
}

/// Has the storage while a view is in it. The engine drops this when the view is gone and nothing
/// uses it.
pub(crate) struct Keeper<O> {
    storage: Option<StorageOnLoan<O>>,
    shared: Arc<ReclaimCell<O>>,
}

impl<O> Drop for Keeper<O> {
    fn drop(&mut self) {
        let Some(storage) = self.storage.take() else { return };
        let waker = {
            let mut state = self.shared.lock();
            state.storage = Some(storage.into_inner());
            state.waker.take()
        };
        self.shared.changed.notify_all();
        if let Some(waker) = waker {
            contain(|| waker.wake());
        }
    }
}

impl<O: Send + 'static> Reclaim<O> {
    /// Of the storage of a view that is being made.
    pub(crate) fn new(label: Label) -> Reclaim<O> {
        let state =
            Mutex::new(ReclaimState { storage: None, last: Last::Held, held: true, waker: None });
        Reclaim { shared: Arc::new(ReclaimCell { label, state, changed: Condvar::new() }) }
    }

    pub(crate) fn told(&self) -> Arc<dyn EndListener> {
        self.shared.clone()
    }

    /// What keeps the storage until this gets it.
    pub(crate) fn keeper(&self, storage: StorageOnLoan<O>) -> Keeper<O> {
        Keeper { storage: Some(storage), shared: self.shared.clone() }
    }
}

impl<O> Reclaim<O> {
    /// Waits for the storage, and takes it. If what should have been written to it failed, the
    /// storage comes back within the [`ReclaimError`].
    ///
    /// [`Error::InUse`] while the view has a handle: that is to be dropped or
    /// [closed](crate::Buffer::close) first. Guards and executables that use the view are handles,
    /// too, and are to be dropped even after a `close`. [`Error::WaitInKernel`] and
    /// [`Error::WaitsForItself`] where an event's `wait` would give them. Then this can be called
    /// again. Once the storage is taken, [`Error::Freed`].
    pub fn take(&mut self) -> Result<O, ReclaimError<O>> {
        let label = || self.shared.label.clone();
        let refused = |error| Err(ReclaimError::without_storage(error));
        let event = match &self.shared.lock().last {
            Last::Held => return refused(Error::InUse { buffer: label() }),
            Last::Taken => return refused(Error::Freed { what: "view", label: label() }),
            Last::Gone(event) => event.clone(),
        };
        let result = match event.wait() {
            Err(error @ (Error::WaitInKernel | Error::WaitsForItself { .. })) => {
                return refused(error);
            }
            result => result,
        };
        // The operation that the event is of may be the last that uses the storage; the thread that
        // ends it gives the storage back once it has released the engine's lock. A handle may be
        // this thread's own: that is not waited for.
        let mut state = self.shared.lock();
        loop {
            if let Some(storage) = state.storage.take() {
                let last = std::mem::replace(&mut state.last, Last::Taken);
                drop(state);
                drop(last);
                return came_back(storage, result);
            }
            if state.held {
                return refused(Error::InUse { buffer: label() });
            }
            state = self.shared.changed.wait_until(state, None);
        }
    }

    /// True when the storage is there, and [`take`](Self::take) does not wait.
    pub fn is_back(&self) -> bool {
        self.shared.lock().storage.is_some()
    }
}

/// The storage, or the failure with the storage: who takes the one cannot lose the other.
fn came_back<O>(storage: O, result: Result<()>) -> Result<O, ReclaimError<O>> {
    match result {
        Ok(()) => Ok(storage),
        Err(error) => Err(ReclaimError { error, storage: Some(storage) }),
    }
}

impl<O> Future for Reclaim<O> {
    type Output = Result<O, ReclaimError<O>>;

    /// Once the storage has been taken, it is pending for ever.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // How wakers and events are made and dropped is foreign code: not under the lock. A waker
        // that panics when it is dropped takes no storage with it.
        let waker = context.waker().clone();
        let mut state = self.shared.lock();
        let Some(storage) = state.storage.take() else {
            let old = state.waker.replace(waker);
            drop(state);
            contain(|| drop(old));
            return Poll::Pending;
        };
        let last = std::mem::replace(&mut state.last, Last::Taken);
        drop(state);
        contain(|| drop(waker));
        let result = match last {
            Last::Gone(event) => event.wait(),
            Last::Held | Last::Taken => Ok(()),
        };
        Poll::Ready(came_back(storage, result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// POL-03: a storage is moved while others write by pointers into it, which no box may be. It
    /// is dropped once, unless it is taken.
    #[test]
    fn pointers_into_a_lent_box_outlive_its_moves() {
        let counted = Arc::new(());
        let boxed: Box<[Arc<()>]> = vec![counted.clone(), Arc::new(())].into();
        let mut lent = StorageOnLoan::new(boxed);
        let at = lent.get_mut().as_mut_ptr();
        let moved = Box::new(Some(lent));
        // SAFETY: the first element of the box, which nothing else uses meanwhile.
        drop(unsafe { at.replace(Arc::new(())) });
        assert_eq!(Arc::strong_count(&counted), 1);
        // SAFETY: as above.
        drop(unsafe { at.replace(counted.clone()) });
        let back = (*moved).map(StorageOnLoan::into_inner);
        assert!(back.is_some_and(|back| Arc::ptr_eq(&back[0], &counted)));
        assert_eq!(Arc::strong_count(&counted), 1);
        drop(StorageOnLoan::new(Box::new(counted.clone())));
        assert_eq!(Arc::strong_count(&counted), 1);
    }
}
