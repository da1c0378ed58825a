//! The CPU backend under the engine's suite, with 1, 2 and 4 memory domains, bare and validated.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_conformance::engine::{Factory, names, run_engine_where};
use folio_core::hal::Backend;
use folio_cpu::CpuBackend;
use folio_layers::{Report, Validate};
use std::sync::{Arc, Mutex};

/// What the engine is known to get wrong: nothing.
const EXPECTED: &[(&str, &str)] = &[];

/// Run apart: see `lies_keep_the_contract`.
const LIARS: &[&str] = &["lies_show_nothing_foreign", "reports_outside_the_question_are_cut"];

#[track_caller]
fn passes(build: fn() -> CpuBackend) {
    let reports: Arc<Mutex<Vec<Arc<Report>>>> = Arc::default();
    let own = reports.clone();
    let validated: Factory = Arc::new(move || -> Box<dyn Backend> {
        let validate = Validate::new();
        own.lock().unwrap().push(Arc::new(validate.report()));
        Box::new(validate.over(build()))
    });
    for factory in [Arc::new(move || -> Box<dyn Backend> { Box::new(build()) }), validated] {
        let summary = run_engine_where(factory, EXPECTED, &|name| !LIARS.contains(&name));
        println!("{summary}");
        assert!(summary.is_ok(), "{summary}");
        assert_eq!(
            summary.passed.len() + summary.unsupported.len() + summary.expected.len(),
            names().len() - LIARS.len()
        );
    }
    for report in reports.lock().unwrap().iter() {
        assert!(report.is_silent(), "{report:?}");
    }
}

#[test]
fn one_domain() {
    passes(|| CpuBackend::builder().threads(2).build().unwrap());
}

#[test]
fn two_domains() {
    passes(|| CpuBackend::builder().domains(2).threads(2).build().unwrap());
}

#[test]
fn four_domains() {
    passes(|| CpuBackend::builder().domains(4).threads(3).build().unwrap());
}

#[test]
fn four_domains_through_the_host_on_one_thread() {
    passes(|| CpuBackend::builder().domains(4).threads(1).peer(false).build().unwrap());
}
