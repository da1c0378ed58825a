//! Interop tasks: closures of the user that enqueue commands by the driver's own functions. They
//! are called when their lane hands them over, under its lock. Operations that they submit stay in
//! mailboxes, which the reaper or a courier empties
//! ([`LaneShared::drain`](crate::engine::lanes::LaneShared::drain)), and they cannot wait.

use crate::foreign::InKernel;
use crate::hal::{Foreign, HalError, HalErrorKind};
use crate::sync::{OnlyMoved, under_locks};
use std::any::{Any, TypeId};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// An interop task.
pub(crate) struct Task {
    /// The type that it is called with, and its name.
    pub(crate) native: TypeId,
    pub(crate) name: &'static str,
    pub(crate) body: Body,
    /// A graph may call it once, and repeat what it has enqueued.
    pub(crate) captures: bool,
}

/// The closure that a task calls.
pub(crate) enum Body {
    /// A closure that is called once.
    Once(OnlyMoved<OnceBody>),
    /// A closure that a graph calls at each run.
    Again(Arc<AgainBody>),
}

type OnceBody = Box<dyn FnOnce(&dyn Any) -> Result<(), HalError> + Send>;
type AgainBody = dyn Fn(&dyn Any) -> Result<(), HalError> + Send + Sync;

impl Body {
    /// A closure that is called once.
    pub(crate) fn once(
        body: impl FnOnce(&dyn Any) -> Result<(), HalError> + Send + 'static,
    ) -> Body {
        Body::Once(OnlyMoved::new(Box::new(body)))
    }
}

#[cfg(not(loom))]
thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}
// The threads of a model are one thread.
#[cfg(loom)]
loom::thread_local! {
    static INSIDE: Cell<bool> = Cell::new(false);
}

/// True on a thread that is in an interop task, and so holds a lane's lock.
pub(crate) fn inside() -> bool {
    INSIDE.with(Cell::get)
}

/// Calls what does not panic, as an interop task.
pub(in crate::engine) fn within<R>(call: impl FnOnce() -> R) -> R {
    let before = INSIDE.with(|inside| inside.replace(true));
    let result = under_locks(call);
    INSIDE.with(|inside| inside.set(before));
    result
}

impl Task {
    /// The same task once more, if its closure can be called more than once.
    pub(crate) fn again(&self) -> Option<Task> {
        let Body::Again(body) = &self.body else { return None };
        let body = Body::Again(body.clone());
        Some(Task { native: self.native, name: self.name, body, captures: self.captures })
    }

    /// Calls it. What it has captured is gone then.
    pub(in crate::engine) fn call(self, native: &dyn Any) -> Result<(), HalError> {
        let _in_kernel = InKernel::new();
        within(|| {
            let result = catch_unwind(AssertUnwindSafe(|| match self.body {
                Body::Once(body) => body.into_inner()(native),
                Body::Again(body) => body(native),
            }));
            // Within, since the text of a payload is the user's code.
            result.unwrap_or_else(|payload| Err(HalError::panic(payload)))
        })
    }
}

impl Foreign for Cell<Option<Box<Task>>> {
    fn call(&self, native: &dyn Any) -> Result<(), HalError> {
        let twice = || HalError::new(HalErrorKind::Driver, "a task called twice");
        self.take().ok_or_else(twice)?.call(native)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::error::Error;
    use std::fmt;
    use std::panic::panic_any;

    #[derive(Debug)]
    struct Asks;

    impl fmt::Display for Asks {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}", inside())
        }
    }

    impl Error for Asks {}

    /// What it submits there stays in a mailbox, as what the task submits.
    #[test]
    fn text_of_a_payload_is_asked_for_within_the_task() {
        let body = Body::once(|_| panic_any(Box::new(Asks) as Box<dyn Error + Send + Sync>));
        let task = Task { native: TypeId::of::<()>(), name: "()", body, captures: false };
        let Err(HalError { kind: HalErrorKind::Panic(payload), .. }) = task.call(&()) else {
            panic!("the task does not fail")
        };
        assert_eq!(payload.message(), "true");
    }
}
