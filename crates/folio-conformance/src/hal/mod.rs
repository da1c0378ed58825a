//! Tests of the HAL's contract ([`folio_core::hal`]), written once over any backend.
//!
//! Each test gets a backend of its own, and looks at every device in it. What a device does not
//! claim is *unsupported*, with the reason. A test that a backend is known to fail is named with a
//! reason, and passing it all the same is a failure: the list tells the truth.
//!
//! Tests keep to the engine's side of the contract, so a validation layer stays silent under them.

mod copies;
mod launches;
mod memory;
mod order;
mod rig;

use folio_core::hal::Backend;
use rig::{Outcome, Rig, Stop};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Makes a fresh backend for each test.
pub type Factory<'a> = &'a dyn Fn() -> Box<dyn Backend>;

type Test = (&'static str, fn(&Rig) -> Outcome);

/// All tests, by name.
const TESTS: &[&[Test]] = &[order::TESTS, copies::TESTS, launches::TESTS, memory::TESTS];

/// The names of all tests.
pub fn names() -> Vec<&'static str> {
    TESTS.iter().flat_map(|group| group.iter()).map(|(name, _)| *name).collect()
}

/// How a suite went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Tests that passed.
    pub passed: Vec<&'static str>,
    /// Tests of what the backend does not claim, with the reason.
    pub unsupported: Vec<(&'static str, String)>,
    /// Tests that failed as expected, with the failure.
    pub expected: Vec<(&'static str, String)>,
    /// Tests that failed, with the failure.
    pub failed: Vec<(&'static str, String)>,
    /// Expectations that did not come true: the test passed, or there is none of that name.
    pub surprises: Vec<String>,
}

impl Summary {
    /// Nothing failed and nothing passed that should not.
    pub fn is_ok(&self) -> bool {
        self.failed.is_empty() && self.surprises.is_empty()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { passed, unsupported, expected, failed, surprises } = self;
        write!(f, "{} passed, {} unsupported, ", passed.len(), unsupported.len())?;
        writeln!(f, "{} failed as expected, {} failed", expected.len(), failed.len())?;
        for (kind, list) in
            [("unsupported", unsupported), ("expected", expected), ("FAILED", failed)]
        {
            for (name, why) in list {
                writeln!(f, "  {kind} {name}: {why}")?;
            }
        }
        surprises.iter().try_for_each(|what| writeln!(f, "  SURPRISE {what}"))
    }
}

/// Runs the suite. `expected` names tests that fail on this backend, each with the reason.
pub fn run_hal(factory: Factory<'_>, expected: &[(&str, &str)]) -> Summary {
    let mut summary = Summary::default();
    for (name, test) in TESTS.iter().flat_map(|group| group.iter()) {
        let outcome = catch_unwind(AssertUnwindSafe(|| test(&Rig::open(factory())?)));
        let outcome = outcome.unwrap_or_else(|_| Err(Stop::Failed("panicked".into())));
        let excuse = expected.iter().find(|(n, _)| n == name);
        match (outcome, excuse) {
            (Ok(()), None) => summary.passed.push(name),
            (Ok(()), Some((_, why))) => {
                summary.surprises.push(format!("{name} passed, expected to fail: {why}"));
            }
            (Err(Stop::Unsupported(why)), _) => summary.unsupported.push((name, why)),
            (Err(Stop::Failed(why)), None) => summary.failed.push((name, why)),
            (Err(Stop::Failed(why)), Some(_)) => summary.expected.push((name, why)),
        }
    }
    let known = names();
    for (name, _) in expected.iter().filter(|(n, _)| !known.contains(n)) {
        summary.surprises.push(format!("there is no test {name}"));
    }
    summary
}
