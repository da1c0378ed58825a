//! What host tasks return, and when they ran.

use crate::engine::runs::command::HostBody;
use crate::error::Cause;
use crate::hal::Timing;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What a host task may return.
pub trait TaskResult {
    #[doc(hidden)]
    fn into_cause(self) -> std::result::Result<(), Cause>;
}

impl TaskResult for () {
    fn into_cause(self) -> std::result::Result<(), Cause> {
        Ok(())
    }
}

/// The type `!`, which cannot be written in its place on stable Rust.
type Never = <fn() -> ! as Returns>::Output;

#[doc(hidden)]
pub trait Returns {
    type Output;
}

impl<R> Returns for fn() -> R {
    type Output = R;
}

impl TaskResult for Never {
    fn into_cause(self) -> std::result::Result<(), Cause> {
        self
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> TaskResult for std::result::Result<(), E> {
    fn into_cause(self) -> std::result::Result<(), Cause> {
        self.map_err(|error| Cause::Task(Arc::from(error.into())))
    }
}

/// When a timed host task ran: empty until it has ended.
pub(crate) type TaskTiming = Arc<OnceLock<Timing>>;

/// A task that is called once and then tells when it ran, by a clock that began at `epoch`. It is
/// queued now. A task that panics tells nothing.
pub(crate) fn timed_task(body: HostBody, epoch: Instant) -> (HostBody, TaskTiming) {
    let timing = TaskTiming::default();
    let told = timing.clone();
    let now = move || u64::try_from((Instant::now() - epoch).as_nanos()).unwrap_or(u64::MAX);
    let queued = now();
    let body = HostBody::once(move |params| {
        let started = now();
        let result = body.call(params);
        let _ = told.set(Timing { queued, started, ended: now() });
        result
    });
    (body, timing)
}
