//! The CPU backend under the engine's suite, with 1, 2 and 4 memory domains, bare and validated.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "all/support/mod.rs"]
mod support;

use folio_conformance::engine::run_engine_where;
use folio_cpu::CpuBackend;
use std::sync::Arc;
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

/// POL-05, ERR-04, MEM-01: what valgrind looks at (CONTRIBUTING.md): handles that are dropped and
/// forgotten in any order, panics, scopes and views, memory that goes from buffer to buffer.
#[test]
#[ignore = "for valgrind: the other tests here have all of these cases, and more"]
fn what_handles_leave_behind() {
    const PARTS: [&str; 12] = [
        "drop",
        "forg",
        "leak",
        "any_order",
        "panic",
        "scope",
        "view",
        "outlive",
        "last_handle",
        "over",
        "runtime",
        "shutdown",
    ];
    let wanted = |name: &str| PARTS.iter().any(|part| name.contains(part));
    let build = || CpuBackend::builder().domains(2).threads(2).build().unwrap();
    let summary = run_engine_where(Arc::new(move || Box::new(build())), &[], &wanted);
    assert!(summary.is_ok(), "{summary}");
    println!("{summary}");
}
