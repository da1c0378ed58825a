//! Foreign code that a thread is in: kernels, and the subscriber of `tracing`, which is called here
//! and nowhere else ([`tell`]).

use crate::panics::contain;
use crate::sync::under_locks;
use std::cell::Cell;
use std::fmt::Display;
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};
use tracing::span::Id;
use tracing::{Dispatch, Level, Span};

thread_local! {
    /// How many kernels this thread is in.
    static KERNELS: Cell<u32> = const { Cell::new(0) };
    /// This thread is in a subscriber.
    static IN_SUBSCRIBER: Cell<bool> = const { Cell::new(false) };
}

/// Says that this thread runs a kernel until it is dropped.
pub(crate) struct InKernel(());

impl InKernel {
    pub(crate) fn new() -> InKernel {
        KERNELS.with(|k| k.set(k.get() + 1));
        InKernel(())
    }
}

impl Drop for InKernel {
    fn drop(&mut self) {
        KERNELS.with(|k| k.set(k.get() - 1));
    }
}

/// True on a thread that runs a kernel.
pub(crate) fn in_kernel() -> bool {
    KERNELS.get() > 0
}

/// True on a thread that is in a subscriber.
#[inline]
pub(crate) fn in_subscriber() -> bool {
    IN_SUBSCRIBER.get()
}

/// The subscriber is about to run: for tests that watch locks, which no thread may hold then.
#[inline(always)]
fn note_subscriber() {
    #[cfg(feature = "watch-locks")]
    crate::canary::note("a subscriber", "runs");
}

/// Calls the subscriber as the engine does, for layers: within calls of theirs the engine may hold
/// locks.
pub fn tell_within(f: impl FnOnce()) {
    under_locks(|| tell(f));
}

/// Calls the subscriber, unless this thread is in it already. The caller holds no lock.
pub(crate) fn tell(f: impl FnOnce()) {
    note_subscriber();
    if !IN_SUBSCRIBER.replace(true) {
        contain(f);
        IN_SUBSCRIBER.set(false);
    }
}

/// True when a subscriber wants to know of submissions. The caller holds no lock.
#[inline]
pub(crate) fn listening() -> bool {
    note_subscriber();
    Level::TRACE <= STATIC_MAX_LEVEL && Level::TRACE <= LevelFilter::current() && ask()
}

#[cold]
fn ask() -> bool {
    let mut listens = false;
    tell(|| listens = tracing::enabled!(target: "folio", Level::TRACE));
    listens
}

/// The span of a submission, for as long as the caller is in it.
pub(crate) struct Submitting(Option<Span>);

impl Submitting {
    pub(crate) fn new(what: &'static str, label: &dyn Display, device: Option<&str>) -> Submitting {
        let mut span = None;
        let device = device.unwrap_or("host");
        tell(|| {
            span = Some(tracing::trace_span!(target: "folio", "submit", what, %label, device));
        });
        let span = Submitting(span);
        span.tell_of(|subscriber, id| subscriber.enter(id));
        span
    }

    /// Each call has a [`tell`] of its own. The guards of `tracing` would exit and close the span
    /// while the first panic unwinds, and a second one aborts the process.
    fn tell_of(&self, f: impl FnOnce(&Dispatch, &Id)) {
        if let Some(span) = &self.0 {
            tell(|| _ = span.with_subscriber(|(id, subscriber)| f(subscriber, id)));
        }
    }
}

impl Drop for Submitting {
    fn drop(&mut self) {
        self.tell_of(|subscriber, id| subscriber.exit(id));
        let span = self.0.take();
        tell(|| drop(span));
    }
}
