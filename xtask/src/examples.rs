//! Builds the examples, the first as users do, and runs each of them.

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

/// Builds the examples, then runs each. The first program is built with the README's words, in
/// release; the others beside the tests, with what those have compiled.
pub fn run(root: &Path) -> Result<Report> {
    let first = ["build", "--release", "--example", FIRST];
    let mut examples = built(cargo(root, &first))?;
    if examples.len() != 1 {
        return Err(format!("there is no program '{FIRST}'"));
    }
    let mut others = cargo(root, &["build", "--profile", "test", "--examples"]);
    // The benchmarks' is what one of them compiles.
    others.args(TESTED);
    examples.extend(built(others)?.into_iter().filter(|(name, _)| name != FIRST));
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

/// Names and files of the examples that a command builds.
fn built(mut command: Command) -> Result<Vec<(String, PathBuf)>> {
    command.arg("--message-format=json-render-diagnostics");
    let (built, messages) = process::stream(&mut command, Take::HiddenOut)?;
    if !built {
        return Err("the examples do not build".to_owned());
    }
    Ok(messages.lines().filter_map(|line| executable(line, "example")).collect())
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
