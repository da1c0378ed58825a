//! Runs the loom models: every interleaving of small concurrent protocols.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::cargo::target_dir;
use crate::outcome::{Report, Status, lines};
use crate::runner;
use crate::suites::GRACE;

/// The packages that have models.
const PACKAGES: [&str; 2] = ["folio-compute-core", "folio-cpu"];

/// Packages that models hardly run, and that take long to compile.
const NOT_OPTIMISED: [&str; 5] =
    ["folio-device", "folio-kernel", "regex-automata", "regex-syntax", "tracing-subscriber"];

/// Builds the models under `--cfg loom`, apart from everything else.
fn tests(root: &Path) -> Command {
    let mut command = runner::test_command(root, &["--release", "--lib"]);
    command.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    for package in NOT_OPTIMISED {
        command.arg("--config").arg(format!("profile.release.package.{package}.opt-level=0"));
    }
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    command.env("RUSTFLAGS", format!("{flags} --cfg loom").trim());
    command.env("CARGO_TARGET_DIR", target_dir(root).join("loom"));
    // Models take their time to go from thread to thread, whatever the compiler does.
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    command
}

/// Builds what [`run`] runs.
pub fn build(root: &Path) -> Command {
    let mut command = tests(root);
    command.arg("--no-run");
    command
}

/// Shares out the seconds. A model whose time is over before it has seen every interleaving is no
/// failure, but it is named.
pub fn run(root: &Path, secs: u64) -> Result<Report> {
    let mut command = tests(root);
    let is_model = |test: &str| crate::suites::leaf(test).starts_with("loom_");
    let plan = runner::plan(&mut command, is_model, |_| Duration::from_secs(secs) + GRACE)?;
    let has_model = |package: &&&str| plan.each().any(|(binary, _)| binary.id == **package);
    if let Some(package) = PACKAGES.iter().find(|package| !has_model(package)) {
        return Err(format!("{package} has no test named loom_..."));
    }
    let each = (secs / plan.jobs.len() as u64).max(1);
    println!("{} models, {each} s for each", plan.jobs.len());
    let variables = [("LOOM_MAX_DURATION".to_owned(), each.to_string())];
    let report = runner::run(&plan, &variables, &target_dir(root).join("xtask"))?;
    let extents = extents(&report);
    print!("{}", summary(&extents));
    for (name, _) in extents.iter().filter(|(_, extent)| extent.is_none()) {
        println!("error: {name} does not say whether it looked at every interleaving");
    }
    Ok(Report { runner_failed: extents.iter().any(|(_, extent)| extent.is_none()), ..report })
}

/// How far a model got.
#[derive(Clone, Debug, PartialEq)]
enum Extent {
    /// Every interleaving, within its bound of preemptions.
    Complete,
    /// Its time was over before; what it said.
    Cut(String),
}

/// The reported extent of each model that ended well; a model that reports none is a mistake.
fn extents(report: &Report) -> Vec<(String, Option<Extent>)> {
    let ended = report.outcomes.iter().filter(|o| o.status == Status::Passed);
    ended.map(|o| (o.name().to_owned(), lines(&o.output).find_map(parse))).collect()
}

fn parse(line: &str) -> Option<Extent> {
    let rest = line.strip_prefix("model ")?;
    if rest.starts_with("complete:") {
        return Some(Extent::Complete);
    }
    rest.strip_prefix("cut short ").map(|how| Extent::Cut(how.to_owned()))
}

fn summary(extents: &[(String, Option<Extent>)]) -> String {
    let complete = extents.iter().filter(|(_, e)| *e == Some(Extent::Complete)).count();
    let cut = extents.iter().filter_map(|(name, extent)| match extent {
        Some(Extent::Cut(how)) => Some(format!("  CUT SHORT: {name}, {how}\n")),
        _ => None,
    });
    let cut: Vec<String> = cut.collect();
    format!("models: {complete} complete, {} cut short by their time\n{}", cut.len(), cut.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;

    #[test]
    fn models_that_did_not_end_are_named() {
        let outcome = |name, output| Outcome::new("core", name, Status::Passed, 1.0, output);
        let failed = Outcome::new("core", "loom_d", Status::Failed, 1.0, "");
        let outcomes = vec![
            outcome("loom_a", "model complete: 7 interleavings in 0.1 s\n"),
            outcome("loom_b", "test loom_b ... model cut short after 99 interleavings in 9.0 s\n"),
            outcome("loom_c", "ok\n"),
            failed,
        ];
        let extents = extents(&Report { outcomes, ..Report::default() });
        assert_eq!(extents.len(), 3);
        assert_eq!(extents[2].1, None);
        let text = summary(&extents);
        assert!(text.starts_with("models: 1 complete, 1 cut short"), "{text}");
        assert!(text.contains("CUT SHORT: core loom_b, after 99 interleavings"), "{text}");
    }
}
