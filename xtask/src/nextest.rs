//! Runs the tests with cargo-nextest where it is installed.

use std::path::{Path, PathBuf};

use crate::cargo::cargo;
use crate::outcome::Report;
use crate::process::{self, Take};
use crate::{Result, junit};

/// The profile of `.config/nextest.toml` that keeps outputs in a JUnit file.
const PROFILE: &str = "ci";

/// True when cargo-nextest can be called.
pub fn is_there(root: &Path) -> bool {
    process::capture(&mut cargo(root, &["nextest", "--version"])).is_ok()
}

/// Runs the workspace's tests whose names contain a filter.
pub fn run(
    root: &Path,
    target: &Path,
    words: &[&str],
    filters: &[String],
    variables: &[(String, String)],
) -> Result<Report> {
    let files = junit_files(root, target);
    for file in &files {
        // A file of an earlier run must not be read as this one's; mostly it is not there.
        let _ = std::fs::remove_file(file);
    }
    let mut command = cargo(root, &["nextest", "run", "--profile", PROFILE, "--no-fail-fast"]);
    command.args(["--color", "never", "--no-tests", "pass"]).args(words).args(filters);
    command.args(["--test-threads", &at_once().to_string()]);
    // OpenCL's software driver takes a second to optimise a kernel, of which the suites have a
    // thousand; the matrix and the examples run optimised ones.
    command.env("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable");
    command.envs(variables.iter().map(|(k, v)| (k, v)));
    let (ok, shown) = process::stream(&mut command, Take::ShownErrors)?;
    let summary = shown.lines().rev().find_map(summary);
    let text = files.iter().find_map(|file| std::fs::read_to_string(file).ok());
    match (text, summary) {
        (Some(text), Some(summary)) => {
            let outcomes = junit::parse(&text);
            // Where the two disagree something was lost; that is a failure, not a guess.
            let lost = outcomes.len() != summary.ran;
            // Tests that a filter left out are skipped to nextest; they are none of ours.
            let ignored = if filters.is_empty() { summary.skipped } else { 0 };
            Ok(Report { outcomes, ignored, runner_failed: !ok || lost })
        }
        (None, Some(Summary { ran: 0, .. })) if ok => Ok(Report::default()),
        _ => Err("the tests do not build, or nextest could not run them".to_owned()),
    }
}

/// Tests at once: half as many more than there are processors, since many wait for others.
fn at_once() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    processors + processors.div_ceil(2)
}

fn junit_files(root: &Path, target: &Path) -> Vec<PathBuf> {
    let inside = format!("nextest/{PROFILE}/junit.xml");
    vec![target.join(&inside), root.join("target").join(&inside)]
}

#[derive(Debug, PartialEq)]
struct Summary {
    ran: usize,
    skipped: usize,
}

/// Reads `Summary [ 1.2s] 5 tests run: 4 passed, 1 failed, 2 skipped`.
fn summary(line: &str) -> Option<Summary> {
    let (_, rest) = line.trim().strip_prefix("Summary [")?.split_once(']')?;
    let (run, rest) = rest.split_once(" run:")?;
    let number = |text: &str| text.split_whitespace().next()?.split('/').next()?.parse().ok();
    let skipped = rest.split(',').find(|part| part.trim_end().ends_with("skipped"));
    Some(Summary { ran: number(run)?, skipped: skipped.and_then(number).unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_read() {
        let line = "     Summary [   1.2s] 5 tests run: 4 passed (1 slow), 1 failed, 2 skipped";
        assert_eq!(summary(line), Some(Summary { ran: 5, skipped: 2 }));
        let line = "     Summary [   0.1s] 1 test run: 1 passed, 0 skipped";
        assert_eq!(summary(line), Some(Summary { ran: 1, skipped: 0 }));
        assert_eq!(summary("a Summary"), None);
    }
}
