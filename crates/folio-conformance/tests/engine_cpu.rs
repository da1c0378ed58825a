//! The CPU backend under the engine's suite, with 1, 2 and 4 memory domains, bare and validated.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "all/support/mod.rs"]
mod support;

use folio_cpu::CpuBackend;
use support::passes;

#[test]
fn one_domain() {
    passes(|| CpuBackend::builder().threads(2).build().unwrap(), &[]);
}

#[test]
fn two_domains() {
    passes(|| CpuBackend::builder().domains(2).threads(2).build().unwrap(), &[]);
}

#[test]
fn four_domains() {
    passes(|| CpuBackend::builder().domains(4).threads(3).build().unwrap(), &[]);
}

#[test]
fn four_domains_through_the_host_on_one_thread() {
    let build = || CpuBackend::builder().domains(4).threads(1).peer(false).build().unwrap();
    passes(build, &[]);
}

/// Domains that say that they share the host's memory, each with its own all the same.
#[test]
fn two_domains_in_one_memory() {
    let build = || CpuBackend::builder().domains(2).threads(2).unified(true).build().unwrap();
    passes(build, &[]);
}
