//! The loops over items that rustc makes of kernels compute with whole vectors.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::built;
use std::path::{Path, PathBuf};

/// What the compiler makes of `vectors/kernels.rs`.
fn assembly() -> String {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("vectors.s");
    let mut build = built::rustc(Path::new("tests/vectors/kernels.rs")).unwrap();
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    // As the profile of tests, but for debug assertions, with which no loop is for AVX-512.
    let flags = ["opt-level=2", "debug-assertions=off", "overflow-checks=on", "codegen-units=1"];
    build.args(flags.iter().flat_map(|flag| ["-C", flag]));
    build.args(["--crate-name", "vectors", "-C", "symbol-mangling-version=v0"]);
    build.arg(format!("--emit=asm={}", out.display()));
    built::compile(&mut build).unwrap();
    std::fs::read_to_string(out).unwrap()
}

/// The code of a kernel's loop over items for an instruction set: in the interior, if it has a
/// border.
fn code<'a>(assembly: &'a str, kernel: &str, set: &str) -> impl Iterator<Item = &'a str> {
    let interior = if BORDERED.contains(&kernel) { "Kb1_" } else { "Kb0_" };
    let set = format!("8versions{}{set}", set.len());
    let kernel = format!("7vectors{}{kernel}", kernel.len());
    let is_loop = |name: &str| [&set, &kernel, interior].iter().all(|part| name.contains(*part));
    let mut lines = assembly.lines();
    assert!(
        lines.any(|line| line.strip_suffix(':').is_some_and(is_loop)),
        "no loop of {kernel} for {set}"
    );
    lines.take_while(|line| !line.starts_with(".Lfunc_end"))
}

/// How many additions and multiplications of it are of whole vectors.
fn operations(assembly: &str, kernel: &str, set: &str, register: &str) -> usize {
    let arithmetic = |line: &&str| {
        let operation = line.split_whitespace().next().unwrap_or("");
        let kinds = ["vaddps", "vmulps", "vaddpd", "vmulpd"];
        kinds.contains(&operation) && line.contains(register)
    };
    code(assembly, kernel, set).filter(arithmetic).count()
}

/// Kernels with guards, or limits of indices.
const BORDERED: [&str; 3] = ["walled", "held", "sourced"];

/// How many operations of it are of some lanes only, or gather what lies apart.
fn in_part(assembly: &str, kernel: &str, set: &str) -> usize {
    let apart = |line: &&str| {
        let of_lanes = line.contains("{%k") && !line.contains("vblend");
        ["vgather", "vpgather", "vmaskmov"].iter().any(|name| line.contains(name)) || of_lanes
    };
    code(assembly, kernel, set).filter(apart).count()
}

#[test]
fn compile_loops_over_items_to_vectors() {
    let assembly = assembly();
    for (set, register) in [("avx2", "%ymm"), ("avx512", "%zmm")] {
        for kernel in [
            "saxpy", "smooth", "heat", "walled", "held", "sourced", "waves", "product", "pulls",
            "prices", "sum", "tiled", "nearby",
        ] {
            let count = operations(&assembly, kernel, set, register);
            println!("{kernel}, {set}: {count} operations on vectors");
            assert!(count >= 2, "{kernel}, {set}: {count} operations on vectors");
        }
        for kernel in BORDERED {
            let count = in_part(&assembly, kernel, set);
            assert_eq!(count, 0, "{kernel}, {set}: operations of a part of a vector");
        }
        // What is to be found: items one by one.
        assert_eq!(operations(&assembly, "gather", set, register), 0, "items pass for vectors");
    }
    // KRN-07: a loop that may not end is not left out, though nobody uses what it computes.
    let factor = (0x9e37_79b9_7f4a_7c15u64 as i64).to_string();
    let multiplies = |kernel| code(&assembly, kernel, "avx2").any(|line| line.contains(&factor));
    assert!(multiplies("may_not_end"), "the loop is gone");
    assert!(!multiplies("saxpy"), "the factor is everywhere");
}
