//! BENCH-01: the command line, as a user types it: what is wrong is said at once, with the code 2.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::process::{Command, Output};

fn run(words: &[&str]) -> Output {
    let out = std::env::temp_dir().join(format!("folio-matrix-command-{}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_folio-bench-matrix"));
    command.arg("--out").arg(out).args(words).output().unwrap()
}

/// The exit code is 2, and the message has all of these.
fn refused(words: &[&str], said: &[&str]) {
    let output = run(words);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
    for part in said {
        assert!(text.contains(part), "{words:?}: {part}: {text}");
    }
}

#[test]
fn unknown_names_are_told_with_the_known_ones() {
    refused(&["-w", "streem"], &["no workload 'streem'", "stream", "overlap"]);
    refused(&["--peers", "--peer", "cube"], &["no peer 'cube'", "NumPy", "CUB"]);
    refused(&["-b", "metal"], &["no backend 'metal'", "cpu"]);
    refused(&["-b", "cpu:7"], &["cpu:7 has no device here"]);
    refused(&["-s", "large"], &["a size is a number, or a power of two"]);
    refused(&["-b", "cpu", "-w", "exp,scan"], &["no workload 'exp'"]);
    refused(&["-b", "cpu", "-w", "stream", "-s", "17"], &["no row", "sizes [17]"]);
}

#[test]
fn files_and_folders_are_tried_before_anything_is_measured() {
    refused(&["--compare", "none.json"], &["cannot read none.json"]);
    refused(&["--gate", "5"], &["--compare"]);
    let file = std::env::temp_dir().join(format!("folio-matrix-file-{}", std::process::id()));
    std::fs::write(&file, "{\"format\": 7}").unwrap();
    let name = file.to_str().unwrap();
    refused(&["--compare", name], &[name, "has format 7, and this program reads format 1"]);
    let below = file.join("below");
    let output = Command::new(env!("CARGO_BIN_EXE_folio-bench-matrix"));
    let output = { output }.arg("--out").arg(&below).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("cannot make the folder") && text.contains("below"), "{text}");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn the_list_has_workloads_and_devices() {
    let output = run(&["--list"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    for part in ["stream", "nstream", "out of order, usm, a wait each", "cpu:0"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
