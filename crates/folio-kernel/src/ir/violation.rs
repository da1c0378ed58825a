//! Violations: a kernel's faults at run time that fail its command (semantics 10.1).

use crate::ir::Site;
use std::fmt;

/// The kinds of violations.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// An index beyond the extent, in some dimension.
    OutOfBounds {
        /// The parameter's name; none for an array in a variable.
        param: Option<String>,
        /// The index, by dimension.
        index: Vec<i64>,
        /// The extent, by dimension.
        extent: Vec<usize>,
    },
    /// An integer was divided by zero.
    DivisionByZero,
    /// An `assert!` did not hold, or a `panic!` was reached; the site has the message.
    Assertion,
    /// Two items of a launch wrote one element of a [`Scatter`] parameter.
    ///
    /// [`Scatter`]: https://docs.rs/folio/latest/folio/struct.Scatter.html
    WrittenTwice {
        /// The parameter's name.
        param: String,
        /// The element, by dimension.
        index: Vec<usize>,
        /// The positions of two items that wrote it, the lower one first; of items of several
        /// dimensions their numbers in row-major order, from position 0 to the launch's end.
        items: [usize; 2],
    },
    /// The driver ended a loop that had turns left. A limit of some drivers, not a kernel's fault.
    LoopEnded {
        /// Turns that the driver lets all loops of neighbouring items have together.
        most: u32,
    },
}

impl ViolationKind {
    /// Two items wrote one element; whichever of them was found first is told first.
    pub fn written_twice(param: String, index: Vec<usize>, [a, b]: [usize; 2]) -> ViolationKind {
        ViolationKind::WrittenTwice { param, index, items: [a.min(b), a.max(b)] }
    }
}

/// A violation of a launch, which fails its command: the kernel, the kind, and the place in the
/// source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The kernel's name.
    pub kernel: String,
    /// The kind.
    pub kind: ViolationKind,
    /// Where, and for assertions the message.
    pub site: Site,
}

impl Violation {
    /// Where it was and what, without the kernel's name: for messages that have said it.
    pub fn place(&self) -> impl fmt::Display {
        Place(self)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`, {}", self.kernel, Place(self))
    }
}

struct Place<'v>(&'v Violation);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { kind, site: Site { file, line, column, message }, .. } = self.0;
        if !file.is_empty() {
            write!(f, "{file}:{line}:{column}: ")?;
        }
        match kind {
            ViolationKind::OutOfBounds { param, index, extent } => {
                let what = param.as_deref().unwrap_or("an array");
                write!(f, "index {index:?} is outside of `{what}`, which has extent {extent:?}")
            }
            ViolationKind::DivisionByZero => f.write_str("an integer is divided by zero"),
            ViolationKind::Assertion => {
                f.write_str(message.as_deref().unwrap_or("assertion failed"))
            }
            ViolationKind::WrittenTwice { param, index, items: [first, second] } => write!(
                f,
                "items {first} and {second} both write `{param}` at {index:?}, and an element has one \
                 writer; with `ScatterLast` the last one writes"
            ),
            ViolationKind::LoopEnded { most } => write!(
                f,
                "a loop had turns left when the driver ended it: this driver ends all loops of \
                 an item after {most} turns together; use another device, or fewer turns a launch"
            ),
        }
    }
}

impl std::error::Error for Violation {}
