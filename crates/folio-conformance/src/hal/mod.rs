//! Tests of the HAL's contract ([`folio_core::hal`]), written once over any backend.
//!
//! Each test gets a backend of its own, and looks at every device in it. A feature that a device
//! does not claim is *unsupported*, with the reason. A test that a backend is known to fail is
//! named with a reason, and passing it all the same is a failure: the list tells the truth.
//!
//! Tests keep to the engine's side of the contract, so a validation layer stays silent under them.

mod copies;
mod graphs;
mod launches;
mod memory;
mod order;
mod rig;

use crate::case;
pub use crate::suite::Summary;
use crate::suite::{Outcome, Stop};
use folio_core::hal::Backend;
use rig::Rig;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Makes a fresh backend for each test.
pub type Factory<'a> = &'a dyn Fn() -> Box<dyn Backend>;

type Test = (&'static str, fn(&Rig) -> Outcome);

/// All tests, by name.
const TESTS: &[&[Test]] =
    &[order::TESTS, copies::TESTS, launches::TESTS, graphs::TESTS, memory::TESTS];

/// The names of all tests.
pub fn names() -> Vec<&'static str> {
    TESTS.iter().flat_map(|group| group.iter()).map(|(name, _)| *name).collect()
}

/// Runs the suite, or the case that [`CASE_VARIABLE`](crate::CASE_VARIABLE) names. `expected` names
/// tests that fail on this backend, each with the reason.
pub fn run_hal(factory: Factory<'_>, expected: &[(&str, &str)]) -> Summary {
    let mut summary = Summary::default();
    let asked = case::asked(&mut summary);
    let is_asked = |name: &str| asked.as_ref().is_none_or(|asked| asked == name);
    for (name, test) in TESTS.iter().copied().flatten().filter(|(name, _)| is_asked(name)) {
        let outcome = catch_unwind(AssertUnwindSafe(|| test(&Rig::open(factory())?)));
        let outcome = outcome.unwrap_or_else(|_| Err(Stop::Failed("panicked".into())));
        summary.add(name, outcome, expected);
    }
    summary.check_names(&names(), expected);
    summary
}
