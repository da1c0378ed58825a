//! Builds the examples as users do, and runs each of them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::cargo::{TESTED, cargo, executable, target_dir};
use crate::outcome::{Outcome, Report, Status};
use crate::process::{self, Take};

/// An example shows something; it does not compute for minutes.
const LIMIT: Duration = Duration::from_secs(120);

/// The program that the README starts with: a package of its own, without what tests need.
const FIRST: &str = "quickstart";

/// Builds all examples in release, then runs each, the first program first.
pub fn run(root: &Path) -> Result<Report> {
    // The benchmarks' is what one of them compiles.
    let mut command = cargo(root, &["build", "--release", "--examples"]);
    command.args(TESTED).arg("--message-format=json-render-diagnostics");
    let (built, messages) = process::stream(&mut command, Take::HiddenOut)?;
    if !built {
        return Err("the examples do not build".to_owned());
    }
    let built = messages.lines().filter_map(|line| executable(line, "example"));
    let mut examples: Vec<_> = built.collect();
    examples.sort_by_key(|(name, _)| name != FIRST);
    if examples.first().is_none_or(|(name, _)| name != FIRST) {
        return Err(format!("there is no program '{FIRST}'"));
    }
    let logs = target_dir(root).join("xtask");
    std::fs::create_dir_all(&logs).map_err(|e| format!("{}: {e}", logs.display()))?;
    let mut report = Report::default();
    for (name, file) in &examples {
        let mut command = Command::new(file);
        let ended = process::watch(command.current_dir(root), LIMIT, &logs.join("example.log"))?;
        let status = match ended.status {
            None => Status::TimedOut,
            Some(status) if status.success() => Status::Passed,
            Some(_) => Status::Failed,
        };
        let secs = ended.time.as_secs_f64();
        let outcome = Outcome::new("example", name, status, secs, &ended.output);
        println!("{name}: {:?} after {secs:.2} s", outcome.status);
        if outcome.failed() || name == FIRST {
            println!("{}", outcome.output);
        }
        report.outcomes.push(outcome);
    }
    Ok(report)
}

/// The manifests of the packages under `examples`, which are no members of the workspace: as what
/// users write is none.
pub fn outside(root: &Path) -> Result<Vec<PathBuf>> {
    let folder = root.join("examples");
    let list = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let manifest = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.ok().map(|entry| entry.path().join("Cargo.toml")).filter(|path| path.exists())
    };
    let mut found: Vec<_> = list.filter_map(manifest).collect();
    found.sort();
    Ok(found)
}
