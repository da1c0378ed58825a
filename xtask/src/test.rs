//! `cargo xtask test`: every test, each in its own process.

use std::path::Path;

use crate::args::Args;
use crate::backends::{self, BACKENDS};
use crate::cargo::{self, TESTED};
use crate::outcome::{Counts, Report};
use crate::suites::{self, Budget};
use crate::{Result, doctests, nextest, runner, setup};

/// The text of `--help`.
pub const HELP: &str = "\
cargo xtask test [OPTIONS] [FILTER]..

Builds and runs the workspace's tests, each in its own process with a time-out, then the
documentation's examples. Uses cargo-nextest where it is installed. A backend without a device
reports `skipped: NAME: reason`. The closing line is `N passed, N failed, N skipped`.

  --setup           first install what the tests need: software drivers by the system's package
                    manager, the rest under target/. Without it nothing is installed, and what
                    is missing is named
  --dry-run         with --setup: prints what it would install, and stops
  --require NAME    fail when backend NAME was skipped or no test ran on it; may be repeated
  --budget WHICH    time for the random suites: quick, normal (default) or ci
  --runner WHICH    nextest or own; default: nextest where it is there
  FILTER            only tests whose name contains it, and no documentation examples";

/// The parts to run.
pub struct Options {
    /// Install first.
    pub setup: bool,
    /// Backends that must have run.
    pub required: Vec<String>,
    /// Time for the suites.
    pub budget: Budget,
    /// `nextest` or `own`, when chosen.
    pub runner: Option<String>,
    /// Parts of names.
    pub filters: Vec<String>,
}

/// Reads the words, runs, and prints the closing line.
pub fn run(mut args: Args) -> Result<bool> {
    let dry_run = args.flag("--dry-run");
    let options = Options {
        setup: args.flag("--setup"),
        required: args.values("--require")?,
        budget: Budget::parse(args.value("--budget")?.as_deref())?,
        runner: args.value("--runner")?,
        filters: args.finish()?,
    };
    let (root, target) = cargo::places()?;
    if dry_run {
        if !options.setup {
            return Err("--dry-run goes with --setup".to_owned());
        }
        setup::dry_run(&root, &target);
        return Ok(true);
    }
    let (mut counts, mut complaints) = workspace(&root, &target, &options)?;
    if options.filters.is_empty() {
        let (ok, documentation) = doctests::run(&root)?;
        counts += documentation;
        if !ok {
            complaints.push("documentation examples failed".to_owned());
        }
    }
    complaints.iter().for_each(|complaint| println!("error: {complaint}"));
    println!("\n{counts}");
    Ok(complaints.is_empty() && counts.failed == 0)
}

/// Runs the workspace's tests; every complaint counts as a failure.
pub fn workspace(root: &Path, target: &Path, options: &Options) -> Result<(Counts, Vec<String>)> {
    let names: Vec<_> = BACKENDS.iter().map(|backend| backend.name).collect();
    if let Some(name) = options.required.iter().find(|n| !names.contains(&n.as_str())) {
        return Err(format!("--require {name}: the backends are {}", names.join(", ")));
    }
    setup::run(root, target, options.setup)?;
    let report = tests(root, target, &TESTED, options)?;
    report.said().iter().for_each(|said| println!("{}", said.line));
    for skipped in report.skipped_backends() {
        println!("skipped: {}: {}", skipped.backend, skipped.reason);
    }
    let mut complaints = backends::check(&options.required, &report);
    if options.filters.is_empty() {
        complaints.extend(suites::check(&report.said(), options.budget));
    }
    if report.outcomes.is_empty() {
        complaints.push("no test ran".to_owned());
    }
    let failed = report.outcomes.iter().filter(|outcome| outcome.failed());
    failed.for_each(|outcome| println!("failed: {} ({:?})", outcome.name(), outcome.status));
    let mut counts = report.counts();
    counts.failed += complaints.len();
    Ok((counts, complaints))
}

/// Runs the tests of some packages that need no driver, with short budgets.
pub fn of_packages(root: &Path, target: &Path, packages: &[&str]) -> Result<Counts> {
    let options = Options {
        setup: false,
        required: Vec::new(),
        budget: Budget::Quick,
        runner: None,
        filters: Vec::new(),
    };
    let report = tests(root, target, packages, &options)?;
    let failed = report.outcomes.iter().filter(|outcome| outcome.failed());
    failed.for_each(|outcome| println!("failed: {} ({:?})", outcome.name(), outcome.status));
    Ok(report.counts())
}

fn tests(root: &Path, target: &Path, packages: &[&str], options: &Options) -> Result<Report> {
    // Examples are built and run apart, as users build them.
    let words = [packages, &["--tests"]].concat();
    let variables = suites::variables(options.budget);
    let with_nextest = match options.runner.as_deref() {
        Some("nextest") => true,
        Some("own") => false,
        Some(other) => return Err(format!("--runner is nextest or own, not '{other}'")),
        None => nextest::is_there(root),
    };
    if with_nextest {
        return nextest::run(root, target, &words, &options.filters, &variables);
    }
    let filters = &options.filters;
    let wanted =
        |test: &str| filters.is_empty() || filters.iter().any(|filter| test.contains(filter));
    let limit = |test: &str| suites::time_limit(test, options.budget);
    let plan = runner::plan(&mut runner::test_command(root, &words), wanted, limit)?;
    runner::run(&plan, &variables, &target.join("xtask"))
}
