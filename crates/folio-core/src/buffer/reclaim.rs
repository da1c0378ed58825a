//! How an owned view gives its storage back.

use crate::error::{Error, Label, Result};
use crate::event::Event;
use crate::panics::contain;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Gives back the storage of an owned view: a future, with a [`take`](Self::take) that waits.
///
/// The storage comes back when the view's last handle is gone and all commands that use it have
/// ended. If this is dropped, so is the storage then.
#[must_use = "it gives the storage back"]
pub struct Reclaim<O> {
    shared: Arc<Shared<O>>,
}

/// A storage that has come back.
#[derive(Debug)]
pub struct Reclaimed<O> {
    /// With the contents that reached it.
    pub storage: O,
    /// The error of what should have been written to it, or written back.
    pub result: Result<()>,
}

/// A view could not be made; the storage is as it was.
pub struct Refused<O> {
    /// Why.
    pub error: Error,
    /// What was to be viewed.
    pub storage: O,
}

impl<O> From<Refused<O>> for Error {
    fn from(refused: Refused<O>) -> Error {
        refused.error
    }
}

impl<O> fmt::Debug for Refused<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, f)
    }
}

impl<O> fmt::Display for Refused<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<O> std::error::Error for Refused<O> {}

/// Is told how a view ends.
pub(crate) trait Told: Send + Sync {
    fn ends_with(&self, event: Event);

    /// The view's last handle goes.
    fn has_no_handle(&self);
}

struct Shared<O> {
    label: Label,
    state: Mutex<State<O>>,
    changed: Condvar,
}

struct State<O> {
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

impl<O> Shared<O> {
    fn lock(&self) -> MutexGuard<'_, State<O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O: Send> Told for Shared<O> {
    fn ends_with(&self, event: Event) {
        self.lock().last = Last::Gone(event);
    }

    fn has_no_handle(&self) {
        self.lock().held = false;
    }
}

/// Has the storage while a view is in it. The engine drops this when the view is gone and nothing
/// uses it.
pub(crate) struct Keeper<O> {
    storage: Option<O>,
    shared: Arc<Shared<O>>,
}

impl<O> Drop for Keeper<O> {
    fn drop(&mut self) {
        let Some(storage) = self.storage.take() else { return };
        let waker = {
            let mut state = self.shared.lock();
            state.storage = Some(storage);
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
        let state = Mutex::new(State { storage: None, last: Last::Held, held: true, waker: None });
        Reclaim { shared: Arc::new(Shared { label, state, changed: Condvar::new() }) }
    }

    pub(crate) fn told(&self) -> Arc<dyn Told> {
        self.shared.clone()
    }

    /// What keeps the storage until this gets it.
    pub(crate) fn keeper(&self, storage: O) -> Keeper<O> {
        Keeper { storage: Some(storage), shared: self.shared.clone() }
    }
}

impl<O> Reclaim<O> {
    /// Waits for the storage, and takes it.
    ///
    /// [`Error::InUse`] while the view has a handle: that is to be dropped or
    /// [closed](crate::Buffer::close) first. Guards and executables that use the view are handles,
    /// too, and are to be dropped even after a `close`. [`Error::WaitInKernel`] and
    /// [`Error::WaitsForItself`] where an event's `wait` would give them. Then this can be called
    /// again. Once the storage is
    /// taken, [`Error::Freed`].
    pub fn take(&mut self) -> Result<Reclaimed<O>> {
        let label = || self.shared.label.clone();
        let event = match &self.shared.lock().last {
            Last::Held => return Err(Error::InUse { buffer: label() }),
            Last::Taken => return Err(Error::Freed { what: "storage of", label: label() }),
            Last::Gone(event) => event.clone(),
        };
        let result = match event.wait() {
            Err(error @ (Error::WaitInKernel | Error::WaitsForItself { .. })) => return Err(error),
            result => result,
        };
        // The operation that the event is of may be the last that uses the storage; the thread that
        // ends it gives the storage back once it has released the engine's lock. A handle may be
        // this thread's own: that is not waited for.
        let mut state = self.shared.lock();
        loop {
            if let Some(storage) = state.storage.take() {
                state.last = Last::Taken;
                return Ok(Reclaimed { storage, result });
            }
            if state.held {
                return Err(Error::InUse { buffer: label() });
            }
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// True when the storage is there, and [`take`](Self::take) does not wait.
    pub fn is_back(&self) -> bool {
        self.shared.lock().storage.is_some()
    }
}

impl<O> Future for Reclaim<O> {
    type Output = Reclaimed<O>;

    /// Once the storage has been taken, it is pending for ever.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Reclaimed<O>> {
        let mut state = self.shared.lock();
        let Some(storage) = state.storage.take() else {
            let waker = state.waker.replace(context.waker().clone());
            drop(state);
            drop(waker);
            return Poll::Pending;
        };
        let result = match std::mem::replace(&mut state.last, Last::Taken) {
            Last::Gone(event) => event.wait(),
            Last::Held | Last::Taken => Ok(()),
        };
        Poll::Ready(Reclaimed { storage, result })
    }
}
