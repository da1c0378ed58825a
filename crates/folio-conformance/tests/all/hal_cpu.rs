//! The CPU backend under the suite of the HAL's contract, with 1, 2 and 4 memory domains, bare and
//! validated.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::hal;
use folio_cpu::CpuBackend;

#[track_caller]
fn passes(build: fn() -> CpuBackend, unsupported: &[&str]) {
    hal::passes(build, &[], |summary| {
        let skipped: Vec<_> = summary.unsupported.iter().map(|(name, _)| *name).collect();
        assert_eq!(skipped, unsupported, "{summary}");
    });
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
