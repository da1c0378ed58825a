//! What host tasks return, and when they ran.

use super::CommandGroup;
use crate::engine::command::HostBody;
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

impl CommandGroup {
    /// The same task, which tells its event when it ran. A task that panics tells nothing.
    pub(super) fn time_task(&mut self, body: HostBody) -> HostBody {
        let timing = TaskTiming::default();
        self.rare().timing = Some(timing.clone());
        let epoch = self.core.engine.host.epoch();
        let now = move || u64::try_from((Instant::now() - epoch).as_nanos()).unwrap_or(u64::MAX);
        let queued = now();
        let started = now;
        let told = move |started| {
            let _ = timing.set(Timing { queued, started, ended: now() });
        };
        match body {
            // Of a graph's, the first run.
            HostBody::Again(body) => HostBody::Again(Arc::new(move |params| {
                let at = started();
                let result = body(params);
                told(at);
                result
            })),
            once => HostBody::once(move |params| {
                let at = started();
                let result = once.call(params);
                told(at);
                result
            }),
        }
    }
}
