//! The mathematics of `folio-device` as code of the IR: `folio-kernel` has it for devices whose own
//! arithmetic is not exact. What a CPU computes is the one source; this translates it.
//!
//! `FOLIO_BLESS=1 cargo test -p folio-macros --test soft_math` writes the generated file anew.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is a failed test")]

mod program;
mod translate;

use program::Program;
use std::path::{Path, PathBuf};

/// Functions that operations of the IR stand for, by type; the rest is generated for these.
const ROOTS: [&str; 21] = [
    "acos", "asin", "atan", "atan2", "cbrt", "cos", "cosh", "exp", "exp2", "exp_m1", "hypot", "ln",
    "ln_1p", "log10", "log2", "powf", "rsqrt", "sin", "sinh", "tan", "tanh",
];

/// Functions that are written by hand for devices: a table in memory would be slow there.
const BY_HAND: [&str; 1] = ["turns::words"];

const HEAD: &str = "\
//! Generated from `math` in `folio-device` by the test `soft_math` of `folio-macros`: change that,
//! and run the test with `FOLIO_BLESS=1`. What is said there of errors holds here, since each
//! operation is the same.
";

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn generated() -> String {
    let program = Program::read(&crates().join("folio-device/src/math"));
    let roots = ["single", "double"].into_iter().flat_map(|of| ROOTS.map(|name| [of, name]));
    HEAD.to_owned() + &translate::text(&program, roots.map(|root| root.join("::")), &BY_HAND)
}

#[test]
fn the_mathematics_of_devices_is_that_of_cpus() {
    let place = crates().join("folio-kernel/src/pass/soft/math/generated.rs");
    let text = generated();
    if std::env::var_os("FOLIO_BLESS").is_some() {
        std::fs::write(&place, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&place).unwrap();
    let differs = kept.lines().zip(text.lines()).find(|(kept, text)| kept != text);
    let again = "FOLIO_BLESS=1 cargo test -p folio-macros --test soft_math";
    assert_eq!(differs, None, "the source has changed: {again}");
    assert_eq!(kept.len(), text.len(), "the source has changed: {again}");
}
