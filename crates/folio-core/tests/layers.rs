//! The layers within this crate: what lies below the public API imports nothing of it.
#![allow(clippy::expect_used, reason = "helpers of tests may panic")]

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files below the API.
const BELOW: &[&str] = &[
    "engine",
    "order",
    "pages",
    "hal",
    "sched",
    "geom.rs",
    "error.rs",
    "report.rs",
    "element.rs",
    "panics.rs",
    "sync.rs",
    "token.rs",
];

/// Modules of the API.
const API: &[&str] = &[
    "buffer", "call", "event", "graph", "group", "host", "items", "managed", "opaque", "queue",
    "runtime", "scope", "select", "usm", "views",
];

fn sources(at: &Path, out: &mut Vec<PathBuf>) {
    if at.is_file() {
        return out.push(at.to_owned());
    }
    for entry in fs::read_dir(at).expect("a source folder") {
        sources(&entry.expect("an entry").path(), out);
    }
}

#[test]
fn the_engine_imports_nothing_of_the_api() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    BELOW.iter().for_each(|below| sources(&src.join(below), &mut files));
    assert!(files.len() > 50, "{} files looked at", files.len());
    let mut found = Vec::new();
    for file in files {
        for (at, line) in fs::read_to_string(&file).expect("a source").lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if API.iter().any(|module| code.contains(&format!("crate::{module}::"))) {
                found.push(format!("{}:{}: {line}", file.display(), at + 1));
            }
        }
    }
    assert!(found.is_empty(), "imports that run upwards:\n{}", found.join("\n"));
}
