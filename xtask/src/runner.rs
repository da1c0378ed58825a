//! Runs each test in a process of its own, with a time-out: the stand-in for cargo-nextest.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::cargo::{cargo, cores};
use crate::json::Json;
use crate::outcome::{Outcome, Report, Status};
use crate::process::{self, Take};
use crate::{Result, suites};

/// A test binary.
#[derive(Debug, PartialEq)]
pub struct Binary {
    /// Its package and, for an integration test, its name, as nextest writes them.
    pub id: String,
    /// The folder of its package.
    pub dir: PathBuf,
    /// The file to run.
    pub file: PathBuf,
}

/// A test to run.
pub struct Job {
    binary: usize,
    /// Its path in the binary.
    pub test: String,
    /// How long it may take.
    pub limit: Duration,
}

/// Binaries and their tests.
pub struct Plan {
    binaries: Vec<Binary>,
    /// The tests to run.
    pub jobs: Vec<Job>,
    ignored: usize,
    libraries: String,
}

/// Builds tests (`cargo test --no-run` with these words) and lists them.
pub fn plan(
    command: &mut Command,
    wanted: impl Fn(&str) -> bool,
    limit: impl Fn(&str) -> Duration,
) -> Result<Plan> {
    command.args(["--no-run", "--message-format=json-render-diagnostics"]);
    let (built, messages) = process::stream(command, Take::HiddenOut)?;
    if !built {
        return Err("the tests do not build".to_owned());
    }
    let binaries: Vec<Binary> = messages.lines().filter_map(binary).collect();
    let mut plan = Plan { libraries: libraries(), binaries, jobs: Vec::new(), ignored: 0 };
    for (at, binary) in plan.binaries.iter().enumerate() {
        let ignored = list(&plan, binary, &["--ignored"])?;
        let all = list(&plan, binary, &[])?;
        for test in all.into_iter().filter(|test| wanted(test)) {
            if ignored.contains(&test) {
                plan.ignored += 1;
            } else {
                plan.jobs.push(Job { binary: at, limit: limit(&test), test });
            }
        }
    }
    Ok(plan)
}

/// Reads the test binary out of one of cargo's messages, if it tells of one.
fn binary(line: &str) -> Option<Binary> {
    let message = Json::parse(line)?;
    let is_test = message.get("profile")?.get("test") == Some(&Json::Bool(true));
    if message.text("reason") != Some("compiler-artifact") || !is_test {
        return None;
    }
    let file = PathBuf::from(message.text("executable")?);
    let dir = Path::new(message.text("manifest_path")?).parent()?.to_owned();
    let target = message.get("target")?;
    let package = package_name(message.text("package_id")?)?;
    let kind = match target.get("kind")? {
        Json::List(kinds) => kinds.first().cloned()?,
        _ => return None,
    };
    let name = target.text("name")?;
    let id = match kind {
        Json::Text(kind) if kind == "test" => format!("{package}::{name}"),
        Json::Text(kind) if kind == "bin" => format!("{package}::bin/{name}"),
        _ => package,
    };
    Some(Binary { id, dir, file })
}

/// The name in a package id: `path+file:///a/folio-core#0.1.0` or `...#name@0.1.0`.
fn package_name(id: &str) -> Option<String> {
    let (path, tail) = id.rsplit_once('#')?;
    match tail.split_once('@') {
        Some((name, _)) => Some(name.to_owned()),
        None => path.rsplit('/').next().map(str::to_owned),
    }
}

/// Where the standard library's shared objects are: tests of procedural macros need them.
fn libraries() -> String {
    let folder = process::capture(Command::new("rustc").args(["--print", "target-libdir"]));
    folder.map(|path| path.trim().to_owned()).unwrap_or_default()
}

impl Plan {
    /// Binary and test of a job.
    pub fn name(&self, job: &Job) -> String {
        format!("{} {}", self.binaries[job.binary].id, job.test)
    }

    /// Every job with its binary.
    pub fn each(&self) -> impl Iterator<Item = (&Binary, &Job)> {
        self.jobs.iter().map(|job| (&self.binaries[job.binary], job))
    }

    fn command(&self, binary: &Binary) -> Command {
        let mut command = Command::new(&binary.file);
        command.current_dir(&binary.dir);
        // The variables that cargo sets when it runs a test.
        command.env("CARGO_MANIFEST_DIR", &binary.dir);
        let package = binary.id.split("::").next().unwrap_or(&binary.id);
        command.env("CARGO_PKG_NAME", package);
        // A test compiles its programs in each run; tests of the cache name theirs.
        command.env("FOLIO_CACHE", "off");
        let variable = if cfg!(target_os = "macos") {
            "DYLD_FALLBACK_LIBRARY_PATH"
        } else {
            "LD_LIBRARY_PATH"
        };
        if cfg!(unix) {
            let before = std::env::var(variable).unwrap_or_default();
            command.env(variable, format!("{}:{before}", self.libraries));
        }
        command
    }
}

fn list(plan: &Plan, binary: &Binary, more: &[&str]) -> Result<Vec<String>> {
    let mut command = plan.command(binary);
    let text = process::capture(command.args(["--list", "--format", "terse"]).args(more))?;
    Ok(text.lines().filter_map(|l| l.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Runs the plan: ordinary tests side by side, then the suites one at a time, so that their
/// counts do not depend on their neighbours.
pub fn run(plan: &Plan, variables: &[(String, String)], logs: &Path) -> Result<Report> {
    std::fs::create_dir_all(logs).map_err(|e| format!("{}: {e}", logs.display()))?;
    let (alone, beside): (Vec<&Job>, Vec<&Job>) =
        plan.jobs.iter().partition(|job| suites::is_suite(&job.test));
    let mut report = Report { ignored: plan.ignored, ..Report::default() };
    for (jobs, workers) in [(beside, cores()), (alone, 1)] {
        report.outcomes.extend(run_jobs(plan, &jobs, workers, variables, logs)?);
    }
    Ok(report)
}

fn run_jobs(
    plan: &Plan,
    jobs: &[&Job],
    workers: usize,
    variables: &[(String, String)],
    logs: &Path,
) -> Result<Vec<Outcome>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Outcome>> = Mutex::new(Vec::new());
    let work = |worker: usize| -> Result<()> {
        let log = logs.join(format!("test-{}-{worker}.log", std::process::id()));
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = run_one(plan, job, variables, &log)?;
            let mut done = done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            tell(&outcome);
            done.push(outcome);
        }
        // Only a scratch file is left behind if this fails.
        let _ = std::fs::remove_file(&log);
        Ok(())
    };
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            (0..workers.min(jobs.len())).map(|w| scope.spawn(move || work(w))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().map_err(|_| "a runner thread panicked".to_owned())?
        })
    })?;
    Ok(done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

/// Runs one test.
pub fn run_one(
    plan: &Plan,
    job: &Job,
    variables: &[(String, String)],
    log: &Path,
) -> Result<Outcome> {
    let binary = &plan.binaries[job.binary];
    let mut command = plan.command(binary);
    command.args(["--exact", &job.test, "--nocapture"]);
    command.envs(variables.iter().map(|(k, v)| (k, v)));
    let ended = process::watch(&mut command, job.limit, log)?;
    let status = match ended.status {
        None => Status::TimedOut,
        Some(status) if status.success() => Status::Passed,
        Some(_) => Status::Failed,
    };
    Ok(Outcome::new(&binary.id, &job.test, status, ended.time.as_secs_f64(), &ended.output))
}

/// A line for each test; the output of those that failed.
fn tell(outcome: &Outcome) {
    let word = match outcome.status {
        Status::Passed => "pass",
        Status::Skipped => "skip",
        Status::Failed => "FAIL",
        Status::TimedOut => "TIME-OUT",
    };
    println!("{word:>8} {:8.3} s  {}", outcome.secs, outcome.name());
    if outcome.failed() {
        println!("--- output of {}\n{}---", outcome.name(), outcome.output);
    }
}

/// The command that builds tests, with its words.
pub fn test_command(root: &Path, words: &[&str]) -> Command {
    let mut command = cargo(root, &["test"]);
    command.args(words);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &str, test: bool) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"path+file:///w/crates/folio-core#0.1.0",
            "manifest_path":"/w/crates/folio-core/Cargo.toml","executable":"/t/a-1",
            "target":{{"kind":["{kind}"],"name":"pages"}},"profile":{{"test":{test}}}}}"#
        )
        .replace('\n', " ")
    }

    #[test]
    fn test_binaries_are_found_in_messages() {
        assert_eq!(binary(&message("lib", true)).unwrap().id, "folio-core");
        assert_eq!(binary(&message("test", true)).unwrap().id, "folio-core::pages");
        assert_eq!(binary(&message("bin", true)).unwrap().dir, Path::new("/w/crates/folio-core"));
        assert_eq!(binary(&message("lib", false)), None);
        assert_eq!(binary(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(binary("not a message"), None);
    }

    #[test]
    fn package_ids_have_names() {
        assert_eq!(package_name("path+file:///w/xtask#0.1.0").as_deref(), Some("xtask"));
        assert_eq!(
            package_name("path+file:///w/benches#folio-benches@0.1.0").as_deref(),
            Some("folio-benches")
        );
    }
}
