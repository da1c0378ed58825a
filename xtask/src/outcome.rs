//! The outcome of each test, by nextest or by xtask.

use crate::backends::{self, Skipped};
use crate::suites::{self, Said};

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Ran and succeeded.
    Passed,
    /// Ran and failed.
    Failed,
    /// Stopped after its time.
    TimedOut,
    /// Succeeded by saying `skipped: BACKEND: reason`.
    Skipped,
}

/// A test's outcome.
#[derive(Debug)]
pub struct Outcome {
    name: String,
    /// How it ended.
    pub status: Status,
    /// Seconds.
    pub secs: f64,
    /// Everything it wrote.
    pub output: String,
}

impl Outcome {
    /// A test of a binary; one that passed and said that it was skipped counts as skipped.
    pub fn new(binary: &str, test: &str, status: Status, secs: f64, output: &str) -> Outcome {
        let said_so = lines(output).any(|line| backends::parse_skipped(line).is_some());
        let status = match status {
            Status::Passed if said_so => Status::Skipped,
            other => other,
        };
        Outcome { name: format!("{binary} {test}"), status, secs, output: output.to_owned() }
    }

    /// Binary and test.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True unless it passed or was skipped.
    pub fn failed(&self) -> bool {
        matches!(self.status, Status::Failed | Status::TimedOut)
    }
}

/// The lines of a test's output, without the harness's `test NAME ... ` before the first of them.
pub fn lines(output: &str) -> impl Iterator<Item = &str> {
    output.lines().map(|line| {
        match line.strip_prefix("test ").and_then(|l| l.split_once(" ... ")) {
            Some((_, rest)) => rest,
            None => line,
        }
    })
}

/// How many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Succeeded.
    pub passed: usize,
    /// Did not.
    pub failed: usize,
    /// Ignored, or without a device.
    pub skipped: usize,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// A whole run.
#[derive(Debug, Default)]
pub struct Report {
    /// Each test that ran.
    pub outcomes: Vec<Outcome>,
    /// Tests with an `ignore` attribute.
    pub ignored: usize,
    /// The runner itself reported a failure, whatever the outcomes say.
    pub runner_failed: bool,
}

impl Report {
    /// The numbers.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { skipped: self.ignored, ..Counts::default() };
        for outcome in &self.outcomes {
            match outcome.status {
                Status::Passed => counts.passed += 1,
                Status::Skipped => counts.skipped += 1,
                Status::Failed | Status::TimedOut => counts.failed += 1,
            }
        }
        // A runner that fails without a failed test (a binary that cannot be listed) still counts.
        if self.runner_failed && counts.failed == 0 {
            counts.failed = 1;
        }
        counts
    }

    /// The reports of the suites.
    pub fn said(&self) -> Vec<Said> {
        let all = self.outcomes.iter().flat_map(|o| lines(&o.output));
        all.filter_map(suites::parse_line).collect()
    }

    /// The backends without a device, each reason once.
    pub fn skipped_backends(&self) -> Vec<Skipped> {
        let all = self.outcomes.iter().flat_map(|o| lines(&o.output));
        let mut skipped: Vec<_> = all.filter_map(backends::parse_skipped).collect();
        skipped.sort();
        skipped.dedup();
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_lines() {
        let new = |test, status, output| Outcome::new("b", test, status, 0.0, output);
        let report = Report {
            outcomes: vec![
                new("a", Status::Passed, "suite programs: 7 cases in 1.0 s\n"),
                new("b", Status::Passed, "test b ... skipped: cuda: none\nok\n"),
                new("c", Status::Failed, "skipped: cuda: none"),
                new("d", Status::TimedOut, ""),
            ],
            ignored: 2,
            runner_failed: true,
        };
        assert_eq!(report.counts().to_string(), "1 passed, 2 failed, 3 skipped");
        assert_eq!(report.said()[0].cases, 7);
        assert_eq!(report.skipped_backends().len(), 1);
    }

    #[test]
    fn a_failing_runner_is_never_silent() {
        let report = Report { runner_failed: true, ..Report::default() };
        assert_eq!(report.counts().failed, 1);
    }
}
