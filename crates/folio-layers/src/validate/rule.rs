//! The rules that the layer checks, and its findings.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A rule of the HAL's contract. The first ones bind the engine, the `Backend..` ones the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// Ticks of a lane are 1, 2, 3.
    Ticks,
    /// Operations are issued to a lane by one thread at a time.
    Concurrent,
    /// Waits name lanes of an equal wait group.
    WaitGroup,
    /// Waits name ticks that are issued; an operation's own lane only earlier ones.
    WaitIssued,
    /// No more operations in flight than the device asked for.
    InFlight,
    /// Memory references name live allocations.
    Live,
    /// ... and bytes inside them.
    Bounds,
    /// ... that the lane's device reaches.
    Reach,
    /// Rectangles and geometries are not empty and do not overflow.
    Shape,
    /// The outputs of an operation do not overlap its other operands.
    Alias,
    /// Two operations, or nodes of a graph, on the same bytes, one of them writing, are ordered.
    Race,
    /// Memory is freed once, after its users have ended.
    Free,
    /// Allocation requests are well formed.
    Request,
    /// Devices do what their caps say only.
    Caps,
    /// Completed ticks never fall, are issued, and come after what they wait for even if refused.
    BackendCompleted,
    /// Failures are told once, of issued operations, in order.
    BackendFailure,
    /// Allocations are aligned and do not overlap.
    BackendMemory,
    /// A lost device stays lost.
    BackendLoss,
}

/// A breach of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// The event that broke it.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.detail)
    }
}

/// The findings of a [`super::Validate`].
#[derive(Clone, Default)]
pub struct Report(Arc<Mutex<Vec<Violation>>>);

impl Report {
    /// Everything so far.
    pub fn violations(&self) -> Vec<Violation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Nothing so far.
    pub fn is_silent(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(super) fn add(&self, rule: Rule, detail: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Violation { rule, detail });
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.violations().iter().map(|v| v.to_string())).finish()
    }
}
