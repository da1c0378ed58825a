//! Whole programs over a backend: what the engine promises to users ([`folio_core`]), by results
//! and counters. Written once; nothing in it knows which backend runs.
//!
//! Each test gets a `Rig` with a runtime of its own, on a thread of its own, which is given up on
//! after a while: a hang is a failure. A test that needs devices that are not there is
//! *unsupported*. A test that is known to fail is named with a reason, and passing it all the same
//! is a failure.

#![allow(clippy::panic, reason = "kernels and tasks of the tests panic on purpose")]

mod addresses;
mod allocators;
mod bounds;
mod choice;
mod events;
mod fusion;
mod fusion_refused;
mod fusion_rows;
mod graph_conditions;
mod graph_exchanged;
mod graph_lists;
mod graph_runs;
mod graph_times;
mod graph_updates;
mod graphs;
mod guards;
mod input;
mod kernels;
mod lifetime;
mod links;
mod managed;
mod marks;
mod order;
mod policies;
mod pressure;
mod refused;
mod rig;
mod scopes;
mod steps;
mod tasks;
mod threads;
mod trackers;
mod transfers;
mod usm;
mod writebacks;

use crate::case;
pub use crate::suite::Summary;
use crate::suite::{Outcome, Stop};
use folio_core::canary;
use folio_core::hal::Backend;
use rig::{PATIENCE, Rig};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};

/// Makes a fresh backend for each runtime.
pub type Factory = Arc<dyn Fn() -> Box<dyn Backend> + Send + Sync>;

type Test = (&'static str, fn(&Rig) -> Outcome);

/// Names tests by their functions.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(super) const TESTS: &[$crate::engine::Test] = &[$((stringify!($name), $name)),*];
    };
}
use tests;

/// All tests, by name.
const TESTS: &[&[Test]] = &[
    transfers::TESTS,
    order::TESTS,
    events::TESTS,
    tasks::TESTS,
    guards::TESTS,
    choice::TESTS,
    bounds::TESTS,
    lifetime::TESTS,
    threads::TESTS,
    input::TESTS,
    kernels::TESTS,
    refused::TESTS,
    scopes::TESTS,
    policies::TESTS,
    writebacks::TESTS,
    links::TESTS,
    addresses::TESTS,
    pressure::TESTS,
    allocators::TESTS,
    trackers::TESTS,
    usm::TESTS,
    graphs::TESTS,
    graph_runs::TESTS,
    graph_exchanged::TESTS,
    graph_conditions::TESTS,
    graph_lists::TESTS,
    graph_times::TESTS,
    graph_updates::TESTS,
    fusion::TESTS,
    fusion_refused::TESTS,
    fusion_rows::TESTS,
    marks::TESTS,
];

fn all() -> impl Iterator<Item = Test> {
    TESTS.iter().chain(managed::TESTS).copied().flatten().copied()
}

/// The names of all tests.
pub fn names() -> Vec<&'static str> {
    all().map(|(name, _)| name).collect()
}

/// The names of those of kernel functions.
pub fn kernel_names() -> Vec<&'static str> {
    kernels::TESTS.iter().map(|(name, _)| *name).collect()
}

/// Runs the suite, or the case that [`CASE_VARIABLE`](crate::CASE_VARIABLE) names. `expected` names
/// tests that fail on this backend, each with the reason.
///
/// ```
/// use folio_conformance::engine::run_engine;
/// use folio_sim::SimBackend;
/// use std::sync::Arc;
///
/// let summary = run_engine(Arc::new(|| Box::new(SimBackend::builder().build())), &[]);
/// assert!(summary.is_ok(), "{summary}");
/// ```
pub fn run_engine(factory: Factory, expected: &[(&str, &str)]) -> Summary {
    run_engine_where(factory, expected, &|_| true)
}

/// As [`run_engine`], for the tests with `wanted` names only.
pub fn run_engine_where(
    factory: Factory,
    expected: &[(&str, &str)],
    wanted: &dyn Fn(&str) -> bool,
) -> Summary {
    let mut summary = Summary::default();
    let asked = case::asked(&mut summary);
    for (name, test) in all() {
        if wanted(name) && asked.as_ref().is_none_or(|asked| asked == name) {
            summary.add(name, run_one(&factory, test), expected);
        }
    }
    summary.check_names(&names(), expected);
    summary
}

fn run_one(factory: &Factory, test: fn(&Rig) -> Outcome) -> Outcome {
    let (tell, told) = mpsc::channel();
    let factory = factory.clone();
    let body = move || {
        let run = || test(&Rig::open(factory)?);
        let outcome = catch_unwind(AssertUnwindSafe(run));
        // Nobody listens if the test took too long.
        let _ = tell.send(outcome.unwrap_or_else(|payload| {
            let message = folio_core::hal::PanicPayload::new(payload);
            Err(Stop::Failed(format!("panicked: {}", message.message())))
        }));
    };
    if let Err(error) = std::thread::Builder::new().name("conformance".into()).spawn(body) {
        return Err(Stop::Failed(format!("no thread: {error}")));
    }
    let outcome = told.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(Stop::Failed("hangs".into())));
    match canary::noted().pop() {
        Some(note) => Err(Stop::Failed(note)),
        None => outcome,
    }
}
