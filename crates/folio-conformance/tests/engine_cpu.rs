//! The CPU backend under the engine's suite, with 1, 2 and 4 memory domains, bare and validated.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_conformance::engine::{Factory, run_engine};
use folio_core::hal::Backend;
use folio_cpu::CpuBackend;
use folio_layers::{Report, Validate};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Of the CPU's devices none is seen twice.
const UUID: &str = "devices with a UUID";

/// Runs the suite, bare and validated. So many cases need what there is not, for these reasons.
#[track_caller]
fn passes(build: fn() -> CpuBackend, unsupported: usize, reasons: &[&str]) {
    let reports: Arc<Mutex<Vec<Arc<Report>>>> = Arc::default();
    let own = reports.clone();
    let validated: Factory = Arc::new(move || -> Box<dyn Backend> {
        let validate = Validate::new();
        own.lock().unwrap().push(Arc::new(validate.report()));
        Box::new(validate.over(build()))
    });
    for factory in [Arc::new(move || -> Box<dyn Backend> { Box::new(build()) }), validated] {
        let summary = run_engine(factory, &[]);
        println!("{summary}");
        assert!(summary.is_ok(), "{summary}");
        let why: BTreeSet<_> = summary.unsupported.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(why, BTreeSet::from_iter(reasons.iter().copied()), "{summary}");
        assert_eq!(summary.unsupported.len(), unsupported, "{summary}");
    }
    for report in reports.lock().unwrap().iter() {
        assert!(report.is_silent(), "{report:?}");
    }
}

#[test]
fn one_domain() {
    let own = [
        "1 devices with memory of their own",
        "2 devices with memory of their own",
        "3 devices with memory of their own",
        "several devices",
        UUID,
    ];
    passes(|| CpuBackend::builder().threads(2).build().unwrap(), 33, &own);
}

#[test]
fn two_domains() {
    let own = ["2 devices with memory of their own", "3 devices with memory of their own", UUID];
    passes(|| CpuBackend::builder().domains(2).threads(2).build().unwrap(), 6, &own);
}

#[test]
fn four_domains() {
    passes(|| CpuBackend::builder().domains(4).threads(3).build().unwrap(), 1, &[UUID]);
}

#[test]
fn four_domains_through_the_host_on_one_thread() {
    passes(|| CpuBackend::builder().domains(4).threads(1).peer(false).build().unwrap(), 1, &[UUID]);
}
