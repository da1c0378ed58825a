//! Violations in a kernel on the CPU (semantics 10): noted where they happen, on cold paths only,
//! and asked for when the block has ended.

use super::slot::{BodyResult, nothing};
use folio_kernel::Site;
use folio_kernel::source::{Function, WRITTEN_TWICE};
use folio_kernel::{Violation, ViolationKind};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

/// A violation, before names are known.
pub(super) enum Seen {
    /// An index beyond the extent of a parameter, by its number in the source; or of an array.
    Bounds {
        param: Option<usize>,
        index: Vec<i64>,
        extent: Vec<usize>,
    },
    DivisionByZero,
    Assertion(&'static str),
    /// Two items that write one element of a parameter, by its number in the source.
    WrittenTwice {
        param: usize,
        index: Vec<usize>,
        items: [usize; 2],
    },
}

/// The result of a block of a launch: nothing, or its first violation.
pub type Verdict = Result<(), Box<Violation>>;

type First = Option<(Seen, &'static Location<'static>)>;

/// The state of this thread.
#[derive(Clone, Copy, PartialEq)]
enum Watched {
    /// No kernel runs, in [`watch`].
    No,
    /// A kernel runs, and nothing is wrong so far.
    Fine,
    /// The first violation is in [`FIRST`].
    Noted,
}

thread_local! {
    static FIRST: RefCell<First> = const { RefCell::new(None) };
    static WATCHED: Cell<Watched> = const { Cell::new(Watched::No) };
}

/// Notes the first violation, with the place in the user's source that led here. Where a device
/// function is called outside of kernels, it panics.
#[cold]
#[inline(never)]
#[track_caller]
#[expect(clippy::panic, reason = "outside of kernels a device function is an ordinary function")]
pub(super) fn note(seen: impl FnOnce() -> Seen) {
    let place = Location::caller();
    match WATCHED.get() {
        Watched::Noted => {}
        Watched::Fine => {
            FIRST.set(Some((seen(), place)));
            WATCHED.set(Watched::Noted);
        }
        Watched::No => match seen() {
            Seen::Bounds { index, extent, .. } => {
                panic!("index {index:?} is out of bounds of {extent:?}")
            }
            Seen::DivisionByZero => panic!("an integer is divided by zero"),
            Seen::Assertion(message) => panic!("{message}"),
            Seen::WrittenTwice { index, items, .. } => panic!("items {items:?} write {index:?}"),
        },
    }
}

/// An assertion did not hold.
#[cold]
#[inline(never)]
#[track_caller]
pub fn assert_failed(message: &'static str) {
    note(|| Seen::Assertion(message));
}

/// The panic of a block that [`end_item`] ends.
struct Ended;

/// An assertion did not hold, in a function that a kernel calls: ends the item, and its block with
/// it, as the items of a command that has failed may run or not (semantics 10.3). Where programs do
/// not unwind, it ends the function only, which then gives zeros.
#[cold]
#[inline(never)]
#[track_caller]
pub fn end_item<T: BodyResult>(message: &'static str) -> T {
    assert_failed(message);
    if cfg!(panic = "unwind") {
        resume_unwind(Box::new(Ended));
    }
    nothing()
}

/// Runs a block of a kernel, and says what went wrong. Compiled once for all kernels. A kernel's
/// code may run another kernel, in an operator of its own for example: what went wrong in the outer
/// one stays noted.
pub fn watch(function: &Function, run: &mut dyn FnMut()) -> Verdict {
    let around = WATCHED.replace(Watched::Fine);
    let before = if around == Watched::Noted { FIRST.take() } else { None };
    // Memory that a block leaves behind when it ends early is its command's, which has failed.
    let ended = catch_unwind(AssertUnwindSafe(run));
    let noted = WATCHED.replace(around) == Watched::Noted;
    let first = if noted { FIRST.take() } else { None };
    if around == Watched::Noted {
        FIRST.set(before);
    }
    match ended {
        Err(other) if !is_end(&*other) => resume_unwind(other),
        _ => {}
    }
    match first {
        None => Ok(()),
        Some((seen, place)) => Err(Box::new(named(function, seen, place))),
    }
}

fn is_end(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Ended>()
}

#[cold]
fn named(function: &Function, seen: Seen, place: &Location<'_>) -> Violation {
    let mut site = Site {
        file: place.file().to_owned(),
        line: place.line(),
        column: place.column(),
        message: None,
    };
    let name = |at: usize| function.params.get(at).map(|name| (*name).to_owned());
    let kind = match seen {
        Seen::Bounds { param, index, extent } => {
            let param = param.and_then(name);
            ViolationKind::OutOfBounds { param, index, extent }
        }
        Seen::DivisionByZero => ViolationKind::DivisionByZero,
        Seen::WrittenTwice { param, index, items } => {
            site.message = Some(WRITTEN_TWICE.to_owned());
            ViolationKind::written_twice(name(param).unwrap_or_default(), index, items)
        }
        Seen::Assertion(message) => {
            site.message = Some(message.to_owned());
            ViolationKind::Assertion
        }
    };
    Violation { kernel: function.name.to_owned(), kind, site }
}
