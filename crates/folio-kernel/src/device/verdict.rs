//! What went wrong in a kernel on the CPU (semantics 10): noted where it happens, on cold paths
//! only, and asked for when the block has ended.

use crate::ir::Site;
use crate::source::Function;
use crate::violation::{Violation, ViolationKind};
use std::cell::RefCell;
use std::panic::Location;

/// What happened, before names are known.
pub(super) enum Seen {
    /// An index beyond the extent of a parameter, by its number in the source; or of an array.
    Bounds {
        param: Option<usize>,
        index: Vec<i64>,
        extent: Vec<usize>,
    },
    DivisionByZero,
    Assertion(&'static str),
}

/// What one block of a launch came to: nothing, or its first violation.
pub type Verdict = Result<(), Box<Violation>>;

type First = Option<(Seen, &'static Location<'static>)>;

thread_local! {
    static FIRST: RefCell<First> = const { RefCell::new(None) };
}

/// Notes the first violation, with the place in the user's source that led here.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn note(seen: impl FnOnce() -> Seen) {
    let place = Location::caller();
    FIRST.with_borrow_mut(|first| {
        first.get_or_insert_with(|| (seen(), place));
    });
}

/// An assertion did not hold.
#[cold]
#[inline(never)]
#[track_caller]
pub fn assert_failed(message: &'static str) {
    note(|| Seen::Assertion(message));
}

/// Runs a block of a kernel, and says what went wrong.
pub fn watch(function: &Function, run: impl FnOnce()) -> Verdict {
    FIRST.take();
    run();
    match FIRST.take() {
        None => Ok(()),
        Some((seen, place)) => Err(Box::new(named(function, seen, place))),
    }
}

#[cold]
fn named(function: &Function, seen: Seen, place: &Location<'_>) -> Violation {
    let mut site = Site {
        file: place.file().to_owned(),
        line: place.line(),
        column: place.column(),
        message: None,
    };
    let kind = match seen {
        Seen::Bounds { param, index, extent } => {
            let name = param.and_then(|at| function.params.get(at));
            let param = name.map(|name| (*name).to_owned());
            ViolationKind::OutOfBounds { param, index, extent }
        }
        Seen::DivisionByZero => ViolationKind::DivisionByZero,
        Seen::Assertion(message) => {
            site.message = Some(message.to_owned());
            ViolationKind::Assertion
        }
    };
    Violation { kernel: function.name.to_owned(), kind, site }
}
