//! `cargo xtask soak`: the suites with big counts, by hand, over hours if need be.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::args::Args;
use crate::cargo::{self, TESTED};
use crate::outcome::{Outcome, Status};
use crate::runner::{self, Job, Plan};
use crate::soak_state::{self, Progress, Step};
use crate::suites::{self, SUITES, Suite};
use crate::{Result, loom, process, tree};

/// The text of `--help`.
pub const HELP: &str = "\
cargo xtask soak [OPTIONS]

Runs every suite_ test until it has done its big count, in steps; after each step the progress is
saved under target/soak/, and the next call goes on from there. A failure stops its test, keeps
the output, and is tried again by the next call. Writes target/soak/report.md.

  --suite NAME      only this suite (programs, faults, programs_opencl, faults_opencl,
                    cycles_opencl, emit, nvrtc, kernels, source, math, order, loom); may be repeated
  --cases N         instead of the suites' own big counts
  --step N          cases of one step
  --minutes N       start no further step after so long; for loom, the time of all models
                    (60 by default)
  --seed N          first seed of a fresh start (default 1)
  --restart         forget the progress";

/// No step takes this long unless it hangs.
const STEP_LIMIT: Duration = Duration::from_secs(4 * 3600);

struct Wish {
    suites: Vec<String>,
    cases: Option<u64>,
    step: Option<u64>,
    minutes: Option<u64>,
    seed: u64,
    restart: bool,
}

impl Wish {
    fn has(&self, name: &str) -> bool {
        self.suites.is_empty() || self.suites.iter().any(|s| s.eq_ignore_ascii_case(name))
    }
}

/// Runs the command.
pub fn run(mut args: Args) -> Result<bool> {
    let wish = Wish {
        suites: args.values("--suite")?,
        cases: args.number("--cases")?,
        step: args.number("--step")?,
        minutes: args.number("--minutes")?,
        seed: args.number("--seed")?.unwrap_or(1),
        restart: args.flag("--restart"),
    };
    args.finish_empty()?;
    let known = |name: &str| SUITES.iter().any(|s| s.name.eq_ignore_ascii_case(name));
    if let Some(name) = wish.suites.iter().find(|name| !known(name) && *name != "loom") {
        return Err(format!("no suite '{name}'"));
    }
    let (root, target) = cargo::places()?;
    let dir = target.join("soak");
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut ok = true;
    if SUITES.iter().any(|suite| wish.has(suite.name)) {
        ok &= soak_suites(&root, &dir, &wish)?;
    }
    if wish.has("loom") {
        let counts = loom::run(&root, wish.minutes.unwrap_or(60) * 60)?.counts();
        println!("loom: {counts}");
        ok &= counts.failed == 0;
    }
    Ok(ok)
}

fn soak_suites(root: &Path, dir: &Path, wish: &Wish) -> Result<bool> {
    let wanted = |test: &str| suites::of_test(test).is_some_and(|suite| wish.has(suite.name));
    let mut command = runner::test_command(root, &[&TESTED[..], &["--tests"]].concat());
    let plan = runner::plan(&mut command, wanted, |_| STEP_LIMIT)?;
    if plan.jobs.is_empty() {
        return Err("no test of these suites is there".to_owned());
    }
    let revision = revision(root);
    let start = Instant::now();
    let mut all = Vec::new();
    for job in &plan.jobs {
        let Some(suite) = suites::of_test(&job.test) else { continue };
        let mut progress = Progress::open(dir, &plan.name(job))?;
        if wish.restart {
            progress.clear();
        }
        let goal = wish.cases.unwrap_or(suite.soak);
        let soaking = Soaking { plan: &plan, job, suite, wish, goal, revision: &revision, dir };
        let in_time = || wish.minutes.is_none_or(|m| start.elapsed().as_secs() < m * 60);
        while progress.cases() < goal && !progress.exhausted && in_time() {
            soaking.step(&mut progress)?;
            if progress.is_failed() {
                break;
            }
        }
        all.push((progress, goal));
    }
    let report = soak_state::report(&all);
    let file = dir.join("report.md");
    tree::replace(&file, &report)?;
    println!("\n{report}\n{}", file.display());
    Ok(!all.iter().any(|(progress, _)| progress.is_failed()))
}

/// The values that stay the same for all steps of one test.
struct Soaking<'a> {
    plan: &'a Plan,
    job: &'a Job,
    suite: &'a Suite,
    wish: &'a Wish,
    goal: u64,
    revision: &'a str,
    dir: &'a Path,
}

impl Soaking<'_> {
    fn step(&self, progress: &mut Progress) -> Result<()> {
        let seed = progress.next_seed(self.wish.seed);
        let step = self.wish.step.unwrap_or(self.suite.soak_step);
        let step = step.min(self.goal - progress.cases()).max(1);
        let variables = [("FOLIO_SOAK_CASES", step), ("FOLIO_SEED", seed)];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_string()));
        // Another suite may be soaked beside this one.
        let log = self.dir.join(format!("step.{}.log", self.suite.name));
        let outcome = runner::run_one(self.plan, self.job, &variables, &log)?;
        let cases = said_cases(&outcome).filter(|_| outcome.status == Status::Passed);
        if cases.is_none() {
            let kept = progress.failure_file(seed);
            let saved = std::fs::write(&kept, &outcome.output);
            saved.map_err(|e| format!("{}: {e}", kept.display()))?;
            println!("{}\nkept in {}", outcome.output, kept.display());
        }
        // A suite that stops by itself before its count has no further cases.
        progress.exhausted = cases.is_some_and(|cases| cases < step);
        let (ok, revision) = (cases.is_some(), self.revision.to_owned());
        let cases = cases.unwrap_or(step);
        progress.add(Step { seed, cases, secs: outcome.secs, ok, revision })?;
        let word = if ok { "ok" } else { "FAILED" };
        println!("{}: {} of {}, {word}", progress.name, progress.cases(), self.goal);
        Ok(())
    }
}

fn said_cases(outcome: &Outcome) -> Option<u64> {
    let said = outcome.output.lines().filter_map(suites::parse_line);
    said.map(|said| said.cases).reduce(|a, b| a + b)
}

fn revision(root: &Path) -> String {
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--dirty"]).current_dir(root);
    process::capture(&mut git).map_or("unknown".to_owned(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_come_from_the_suites_own_line() {
        let outcome = |text| Outcome::new("b", "suite_programs", Status::Passed, 1.0, text);
        let line = "suite programs: 5 cases in 1.0 s, 0 divergences (seed 1)\n";
        assert_eq!(said_cases(&outcome(line)), Some(5));
        assert_eq!(said_cases(&outcome("running 1 test\n")), None);
    }
}
