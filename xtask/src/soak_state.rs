//! The state of a soak, as a text file that a later run goes on from.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::{Result, tree};

/// A process of a soak.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The first case's seed; case k has seed + k.
    pub seed: u64,
    /// Cases run.
    pub cases: u64,
    /// Seconds.
    pub secs: f64,
    /// Whether it succeeded.
    pub ok: bool,
    /// The revision that ran.
    pub revision: String,
}

impl Step {
    fn write(&self) -> String {
        let Step { seed, cases, secs, ok, revision } = self;
        format!("{seed} {cases} {secs:.1} {} {revision}\n", if *ok { "ok" } else { "failed" })
    }

    fn read(line: &str) -> Option<Step> {
        let mut words = line.split_whitespace();
        Some(Step {
            seed: words.next()?.parse().ok()?,
            cases: words.next()?.parse().ok()?,
            secs: words.next()?.parse().ok()?,
            ok: words.next()? == "ok",
            revision: words.next()?.to_owned(),
        })
    }
}

/// The steps of one test.
pub struct Progress {
    /// Binary and test.
    pub name: String,
    file: PathBuf,
    /// Oldest first.
    pub steps: Vec<Step>,
    /// The test has no more cases than it has run.
    pub exhausted: bool,
}

impl Progress {
    /// Reads what is there; nothing is an empty progress.
    pub fn open(dir: &Path, name: &str) -> Result<Progress> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let file = dir.join(format!("{}.txt", name.chars().map(plain).collect::<String>()));
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let steps = text.lines().map(|line| {
            Step::read(line).ok_or_else(|| format!("{}: cannot read '{line}'", file.display()))
        });
        let steps = steps.collect::<Result<Vec<_>>>()?;
        Ok(Progress { name: name.to_owned(), file, steps, exhausted: false })
    }

    /// Adds a step and saves.
    pub fn add(&mut self, step: Step) -> Result<()> {
        self.steps.push(step);
        let text: String = self.steps.iter().map(Step::write).collect();
        tree::replace(&self.file, &text)
    }

    /// Where the output of a failure is kept.
    pub fn failure_file(&self, seed: u64) -> PathBuf {
        self.file.with_extension(format!("failed-{seed}.log"))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.steps.clear();
    }

    /// Cases that succeeded.
    pub fn cases(&self) -> u64 {
        self.steps.iter().filter(|step| step.ok).map(|step| step.cases).sum()
    }

    /// The first seed not yet done. A failed step is done again: that is how a repair is seen.
    pub fn next_seed(&self, first: u64) -> u64 {
        let last = self.steps.iter().rev().find(|step| step.ok);
        last.map_or(first, |step| step.seed + step.cases)
    }

    /// The last step failed.
    pub fn is_failed(&self) -> bool {
        self.steps.last().is_some_and(|step| !step.ok)
    }

    /// A row of the report.
    fn row(&self, wanted: u64) -> String {
        let secs: f64 = self.steps.iter().map(|step| step.secs).sum();
        let state = match (self.is_failed(), self.exhausted || self.cases() >= wanted) {
            (true, _) => "**failed**",
            (_, true) => "done",
            _ => "under way",
        };
        let first = self.steps.first().map_or(0, |step| step.seed);
        let next = self.next_seed(first);
        let mut revisions: Vec<&str> = self.steps.iter().map(|s| s.revision.as_str()).collect();
        revisions.dedup();
        format!(
            "| {} | {} | {:.1} | {:.0} | {first}..{next} | {} | {state} |\n",
            self.name,
            self.cases(),
            secs / 60.0,
            self.cases() as f64 / secs.max(0.1),
            revisions.join(" "),
        )
    }

    fn repeat(&self) -> Option<String> {
        let last = self.steps.last().filter(|step| !step.ok)?;
        let test = self.name.rsplit(' ').next().unwrap_or(&self.name);
        Some(format!(
            "- {}: `FOLIO_SEED={} FOLIO_SOAK_CASES={} cargo xtask test --runner own {test}`\n",
            self.name, last.seed, last.cases
        ))
    }
}

/// The report, in Markdown.
pub fn report(all: &[(Progress, u64)]) -> String {
    let mut text = String::from(
        "# Soak\n\n| test | cases | minutes | cases/s | seeds | revisions | state |\n\
         | --- | ---: | ---: | ---: | --- | --- | --- |\n",
    );
    for (progress, wanted) in all {
        text.push_str(&progress.row(*wanted));
    }
    let repeats: String = all.iter().filter_map(|(progress, _)| progress.repeat()).collect();
    if !repeats.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\nTo see a failure again:\n\n{repeats}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(seed: u64, cases: u64, ok: bool) -> Step {
        Step { seed, cases, secs: 60.0, ok, revision: "abc".to_owned() }
    }

    #[test]
    fn progress_is_saved_and_resumed() {
        let dir = std::env::temp_dir().join(format!("xtask-soak-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut progress = Progress::open(&dir, "a::b suite_programs").unwrap();
        assert_eq!(progress.next_seed(7), 7);
        progress.add(step(7, 100, true)).unwrap();
        progress.add(step(107, 100, false)).unwrap();
        let again = Progress::open(&dir, "a::b suite_programs").unwrap();
        assert_eq!(again.steps, progress.steps);
        assert_eq!((again.cases(), again.next_seed(7), again.is_failed()), (100, 107, true));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn the_report_tells_how_to_repeat_a_failure() {
        let dir = std::env::temp_dir();
        let mut progress = Progress::open(&dir, "never saved suite_programs").unwrap();
        progress.steps = vec![step(1, 600, true), step(601, 600, false)];
        let text = report(&[(progress, 1000)]);
        assert!(text.contains("| 600 | 2.0 | 5 | 1..601 | abc | **failed** |"), "{text}");
        assert!(text.contains("FOLIO_SEED=601 FOLIO_SOAK_CASES=600"), "{text}");
    }

    #[test]
    fn a_broken_file_is_an_error() {
        assert_eq!(Step::read("1 2 x ok abc"), None);
        assert_eq!(Step::read("1 2 3.0 ok"), None);
    }
}
