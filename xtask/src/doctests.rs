//! Runs the documentation's examples and counts them.

use std::path::Path;

use crate::Result;
use crate::cargo::{TESTED, cargo};
use crate::outcome::Counts;
use crate::process::{self, Take};

/// Runs every crate's doc tests; their harness has no time-outs.
pub fn run(root: &Path) -> Result<(bool, Counts)> {
    let mut command = cargo(root, &["test", "--doc", "--no-fail-fast"]);
    // `folio` runs the examples of the macros, which need it.
    command.args(TESTED).args(["--exclude", "folio-macros"]);
    let (ok, text) = process::stream(&mut command, Take::ShownOut)?;
    let mut counts = Counts::default();
    text.lines().filter_map(result_line).for_each(|c| counts += c);
    if !ok && counts.failed == 0 {
        counts.failed = 1;
    }
    Ok((ok, counts))
}

/// Reads `test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; ...`.
fn result_line(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("test result: ")?;
    let number = |word: &str| {
        let part = rest.split([';', '.']).find(|part| part.trim().ends_with(word))?;
        part.split_whitespace().next()?.parse().ok()
    };
    Some(Counts {
        passed: number("passed")?,
        failed: number("failed")?,
        skipped: number("ignored")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_read() {
        let line = "test result: FAILED. 5 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out";
        assert_eq!(result_line(line), Some(Counts { passed: 5, failed: 2, skipped: 1 }));
        assert_eq!(result_line("test a ... ok"), None);
    }
}
