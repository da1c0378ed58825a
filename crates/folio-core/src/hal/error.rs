//! How a backend says that something went wrong.

use crate::panics::contain;
use folio_kernel::Violation;
use folio_kernel::words::bytes;
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Why a backend has no devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// For a person: what is missing.
    pub reason: String,
}

impl Unavailable {
    /// With this reason.
    pub fn new(reason: impl Into<String>) -> Unavailable {
        Unavailable { reason: reason.into() }
    }
}

/// The device is gone: nothing more of it will end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The driver's message.
    pub reason: Arc<str>,
}

impl Lost {
    /// With this reason.
    pub fn new(reason: impl Into<Arc<str>>) -> Lost {
        Lost { reason: reason.into() }
    }
}

/// The payload of a panic. The payload itself can be taken once.
#[derive(Clone)]
pub struct PanicPayload {
    message: Arc<str>,
    payload: Arc<Mutex<Option<Box<dyn Any + Send>>>>,
}

impl PanicPayload {
    /// Keeps what `catch_unwind` caught.
    pub fn new(payload: Box<dyn Any + Send>) -> PanicPayload {
        let message = if let Some(s) = payload.downcast_ref::<&'static str>() {
            Arc::from(*s)
        } else if let Some(s) = payload.downcast_ref::<String>() {
            Arc::from(s.as_str())
        } else {
            Arc::from(other_message(&*payload))
        };
        PanicPayload { message, payload: Arc::new(Mutex::new(Some(payload))) }
    }

    /// The panic's message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The payload, for `resume_unwind`; `None` when somebody took it before.
    pub fn take(&self) -> Option<Box<dyn Any + Send>> {
        self.payload.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for PanicPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PanicPayload").field(&self.message).finish()
    }
}

/// The message for a payload that is no text: a number, or an error of the user's. The type of any
/// other payload has no name at run time.
fn other_message(payload: &(dyn Any + Send)) -> String {
    macro_rules! told {
        ($($number:ty)*) => {
            $(if let Some(number) = payload.downcast_ref::<$number>() {
                return format!("the payload is the `{}` {number}", stringify!($number));
            })*
        };
    }
    told! { bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 }
    let error = payload.downcast_ref::<Box<dyn Error + Send + Sync>>();
    let mut text = None;
    if let Some(error) = error {
        // The error's text is foreign code.
        contain(|| text = Some(error.to_string()));
    }
    text.unwrap_or_else(|| "the payload is neither text, number nor error".to_owned())
}

/// The kind of a backend's failure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HalErrorKind {
    /// Not enough memory.
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes in use, where known.
        in_use: u64,
        /// Bytes there are, where known.
        limit: u64,
    },
    /// The device is gone.
    Lost,
    /// The backend cannot do this.
    Unsupported,
    /// Code did not compile or load; the message is the log.
    Build,
    /// A kernel was launched with arguments that are not its own.
    Arguments,
    /// An interop task returned this.
    Task(Arc<dyn std::error::Error + Send + Sync>),
    /// Code of a kernel panicked.
    Panic(PanicPayload),
    /// A kernel did what it must not.
    Violation(Arc<Violation>),
    /// A loop of a [`Branch`](super::Branch) would have gone on after its last turn: its number.
    Limit(u32),
    /// The driver refused or failed an operation.
    Driver,
}

/// A backend's failure: a kind, and what the driver said.
#[derive(Clone, Debug)]
pub struct HalError {
    /// The kind of error.
    pub kind: HalErrorKind,
    /// In the driver's words.
    pub message: Arc<str>,
    /// Of a [replay](super::Op::Replay): the node that failed, where the backend knows it.
    pub node: Option<u32>,
}

impl HalError {
    /// A failure of this kind.
    pub fn new(kind: HalErrorKind, message: impl Into<Arc<str>>) -> HalError {
        HalError { kind, message: message.into(), node: None }
    }

    /// The same, of this node of a graph.
    #[must_use]
    pub fn at_node(self, node: usize) -> HalError {
        HalError { node: u32::try_from(node).ok(), ..self }
    }

    /// The loop of this number has reached its limit.
    pub fn limit(number: u32) -> HalError {
        HalError::new(HalErrorKind::Limit(number), "a loop has reached its limit")
    }

    /// The backend cannot do `what`.
    pub fn unsupported(what: &str) -> HalError {
        HalError::new(HalErrorKind::Unsupported, format!("not supported: {what}"))
    }

    /// A device has no groups that are so large: `limit` says what it has, of `most` items.
    pub fn large_group(
        group: impl fmt::Display,
        most: usize,
        limit: impl fmt::Display,
    ) -> HalError {
        let fitting = 1 << most.clamp(1, 256).ilog2();
        let message = format!(
            "a group of {group} is not supported ({limit}); smaller ones are, `#[kernel(group = {fitting})]`, or of a \
             launch `Items::from(n).groups([{fitting}])`"
        );
        HalError::new(HalErrorKind::Unsupported, message)
    }

    /// Not enough memory.
    pub fn out_of_memory(asked: u64, in_use: u64, limit: u64) -> HalError {
        HalError::new(HalErrorKind::OutOfMemory { asked, in_use, limit }, "out of memory")
    }

    /// A kernel's code panicked.
    pub fn panic(payload: Box<dyn Any + Send>) -> HalError {
        let payload = PanicPayload::new(payload);
        let message = payload.message.clone();
        HalError::new(HalErrorKind::Panic(payload), message)
    }

    /// A kernel did what it must not.
    pub fn violation(violation: Box<Violation>) -> HalError {
        let message = violation.to_string();
        HalError::new(HalErrorKind::Violation(Arc::from(violation)), message)
    }
}

impl From<Lost> for HalError {
    fn from(lost: Lost) -> HalError {
        HalError::new(HalErrorKind::Lost, lost.reason)
    }
}

impl fmt::Display for HalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            // Of memory whose size nobody knows.
            HalErrorKind::OutOfMemory { asked: 0, .. } => f.write_str(&self.message),
            HalErrorKind::OutOfMemory { asked, in_use, limit } => {
                let [asked, in_use, limit] = [*asked, *in_use, *limit].map(bytes);
                write!(f, "out of memory: asked for {asked}, {in_use} of {limit} in use")
            }
            HalErrorKind::Lost => write!(f, "device lost: {}", self.message),
            HalErrorKind::Unsupported
            | HalErrorKind::Arguments
            | HalErrorKind::Task(_)
            | HalErrorKind::Limit(_)
            | HalErrorKind::Violation(_) => f.write_str(&self.message),
            HalErrorKind::Build => write!(f, "build failed: {}", self.message),
            HalErrorKind::Panic(_) => write!(f, "panicked: {}", self.message),
            HalErrorKind::Driver => write!(f, "driver error: {}", self.message),
        }
    }
}

impl Error for HalError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_group_is_told_with_one_that_fits() {
        for (most, fitting) in [(1024, 256), (256, 256), (63, 32), (1, 1), (0, 1)] {
            let error = HalError::large_group("1048576 items", most, "the device has 1024 at most");
            let text = format!(
                "a group of 1048576 items is not supported (the device has 1024 at most); smaller ones are, \
                 `#[kernel(group = {fitting})]`, or of a launch `Items::from(n).groups([{fitting}])`"
            );
            assert!(matches!(error.kind, HalErrorKind::Unsupported), "{error}");
            assert_eq!(&*error.message, text);
        }
    }
}
