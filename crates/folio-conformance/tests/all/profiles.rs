//! The kernels of the suite without optimisation: like the optimised ones they leave the
//! interpreter's bits, so both forms of builds agree (semantics 12.2). The program says on standard
//! error, once, why it is slow.

use std::process::Command;

/// Compiles the suite anew, and nothing else. ERR-01: one line for thousands of kernels, and none
/// in a build with optimisation, of the same tests.
#[test]
fn compile_the_suite_without_optimisation() {
    let mut run = Command::new(env!("CARGO"));
    run.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("FOLIO_QUIET");
    // With the features of what `cargo xtask test` builds: others would compile all crates anew.
    run.args(["test", "--workspace", "--quiet", "--offline", "--test", "engine_cpu"]);
    run.args(["--exclude", "folio-benches", "--exclude", "folio-bench-matrix"]);
    run.args(["--config", "profile.test.package.folio-conformance.opt-level=0"]);
    run.args(["--", "one_domain", "--exact"]);
    // Whether a graph is short is measured, and one that is interrupted seems long: seldom thrice.
    let mut ran = run.output().expect("cargo");
    for _ in 0..2 {
        if !ran.status.success() {
            ran = run.output().expect("cargo");
        }
    }
    let (said, errors) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.contains("1 passed"), "{said}\n{errors}");
    let slow = errors.lines().filter(|line| line.contains("compiled without optimisation")).count();
    assert_eq!(slow, 1, "{errors}");
}
