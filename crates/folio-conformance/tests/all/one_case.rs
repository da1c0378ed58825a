//! One case alone, by its name in the environment; in processes of their own.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_conformance::CASE_VARIABLE;
use std::process::{Command, Output};

/// A test of this binary, with the name of a case.
fn run(test: &str, case: &str) -> Output {
    let mut own = Command::new(std::env::current_exe().unwrap());
    own.args([test, "--exact", "--nocapture"]).env(CASE_VARIABLE, case).output().unwrap()
}

#[track_caller]
fn is_run_alone(test: &str, case: &str) {
    let out = run(test, case);
    let said = String::from_utf8_lossy(&out.stdout);
    let one = format!("of {case} alone: 1 passed, 0 unsupported, 0 failed");
    assert!(out.status.success() && said.contains(&one), "{said}");
}

#[test]
fn a_case_of_each_suite_runs_alone() {
    is_run_alone("hal_cpu::one_domain", "fills_with_patterns_of_1_to_32_bytes");
    is_run_alone("engine_sim::one_device", "a_graph_runs_as_often_as_asked");
}

/// A case of one suite is none of the other.
#[test]
fn a_case_of_the_other_suite_runs_nothing() {
    let out = run("hal_cpu::one_domain", "a_graph_runs_as_often_as_asked");
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && said.contains("alone: 0 passed, 0 unsupported"), "{said}");
}

/// Near names have the text in them, or need few changes.
#[test]
fn a_case_that_there_is_not_is_a_failure_with_near_names() {
    let near = [
        ("a_graph_runs_as_often_as_told", "a_graph_runs_as_often_as_asked"),
        ("fills_with_patterns_of", "fills_with_patterns_of_1_to_32_bytes"),
    ];
    for (test, (case, near)) in
        ["hal_cpu::one_domain", "engine_sim::one_device"].into_iter().zip(near)
    {
        let out = run(test, case);
        let said = String::from_utf8_lossy(&out.stderr);
        let near = format!("there is no case `{case}`; near are `{near}`");
        assert!(!out.status.success() && said.contains(&near), "{said}");
    }
}
