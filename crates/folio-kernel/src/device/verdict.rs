//! What went wrong in a kernel on the CPU (semantics 10): noted where it happens, on cold paths
//! only, and asked for when the block has ended.

use std::cell::RefCell;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// An index beyond the extent of a parameter, by its number; or of an array.
    Bounds {
        /// The parameter; none for arrays in variables.
        param: Option<usize>,
        /// By dimension.
        index: Vec<i64>,
        /// By dimension.
        extent: Vec<usize>,
    },
    /// An integer divided by zero.
    DivisionByZero,
    /// An `assert!` or `panic!`, with its message.
    Assert(&'static str, u32),
}

/// The first violation, if there was one.
pub type Verdict = Option<Violation>;

thread_local! {
    static FIRST: RefCell<Verdict> = const { RefCell::new(None) };
}

#[cold]
#[inline(never)]
pub(super) fn note(violation: Violation) {
    FIRST.with_borrow_mut(|first| {
        first.get_or_insert(violation);
    });
}

/// An assertion did not hold.
#[cold]
#[inline(never)]
pub fn assert_failed(message: &'static str, line: u32) {
    note(Violation::Assert(message, line));
}

/// Runs part of a kernel, and says what went wrong.
pub fn watch(run: impl FnOnce()) -> Verdict {
    FIRST.take();
    run();
    FIRST.take()
}
