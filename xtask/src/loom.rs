//! Runs the core's loom models: every interleaving of small concurrent protocols.

use std::path::Path;
use std::time::Duration;

use crate::Result;
use crate::cargo::target_dir;
use crate::outcome::Report;
use crate::runner;
use crate::suites::GRACE;

/// Builds the core under `--cfg loom` apart from everything else and shares out the seconds.
pub fn run(root: &Path, secs: u64, min: u64) -> Result<Report> {
    let words = ["--package", "folio-core", "--release", "--lib"];
    let mut command = runner::test_command(root, &words);
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    command.env("RUSTFLAGS", format!("{flags} --cfg loom").trim());
    command.env("CARGO_TARGET_DIR", target_dir(root).join("loom"));
    let is_model = |test: &str| crate::suites::leaf(test).starts_with("loom_");
    let plan = runner::plan(&mut command, is_model, |_| Duration::from_secs(secs) + GRACE)?;
    if plan.jobs.is_empty() {
        return Err("folio-core has no test named loom_...".to_owned());
    }
    let each = (secs / plan.jobs.len() as u64).max(1);
    println!("{} models, {each} s for each", plan.jobs.len());
    let variables = [
        ("FOLIO_BUDGET_LOOM_SECS", each.to_string()),
        ("FOLIO_MIN_LOOM", min.to_string()),
        // Loom's own limit, for models that do not set one.
        ("LOOM_MAX_DURATION", each.to_string()),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value));
    runner::run(&plan, &variables, &target_dir(root).join("xtask"))
}
