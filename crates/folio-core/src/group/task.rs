//! What host tasks return.

use crate::error::Cause;
use std::sync::Arc;

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
