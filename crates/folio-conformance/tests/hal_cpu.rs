//! The CPU backend under the suite of the HAL's contract, with 1, 2 and 4 memory domains, bare and
//! validated.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_conformance::hal::run_hal;
use folio_core::hal::Backend;
use folio_cpu::CpuBackend;
use folio_layers::Validate;
use std::cell::RefCell;

#[track_caller]
fn passes(build: fn() -> CpuBackend, unsupported: &[&str]) {
    let reports = RefCell::new(Vec::new());
    let bare = || -> Box<dyn Backend> { Box::new(build()) };
    let validated = || -> Box<dyn Backend> {
        let validate = Validate::new();
        reports.borrow_mut().push(validate.report());
        Box::new(validate.over(build()))
    };
    let factories: [&dyn Fn() -> Box<dyn Backend>; 2] = [&bare, &validated];
    for factory in factories {
        let summary = run_hal(factory, &[]);
        println!("{summary}");
        assert!(summary.is_ok(), "{summary}");
        // Its memory is the host's already.
        let lacks =
            |(_, why): &&(&str, String)| ["graphs", "linked memory"].contains(&why.as_str());
        let (lacking, skipped): (Vec<_>, Vec<_>) = summary.unsupported.iter().partition(lacks);
        assert_eq!(lacking.len(), 6, "{summary}");
        let skipped: Vec<_> = skipped.into_iter().map(|(name, _)| *name).collect();
        assert_eq!(skipped, unsupported, "{summary}");
    }
    for report in reports.borrow().iter() {
        assert!(report.is_silent(), "{report:?}");
    }
}

#[test]
fn one_domain() {
    let one = ["devices_wait_for_each_other", "copies_between_devices", "hints_are_operations"];
    passes(|| CpuBackend::builder().threads(2).build().unwrap(), &one);
}

#[test]
fn two_domains() {
    passes(
        || CpuBackend::builder().domains(2).threads(2).build().unwrap(),
        &["hints_are_operations"],
    );
}

#[test]
fn four_domains() {
    passes(
        || CpuBackend::builder().domains(4).threads(2).build().unwrap(),
        &["hints_are_operations"],
    );
}
