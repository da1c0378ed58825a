//! `cargo xtask ci`: everything that must hold, with the minutes of each step.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::args::Args;
use crate::cargo::cargo;
use crate::outcome::Counts;
use crate::process;
use crate::suites::{Budget, LOOM_SECS};
use crate::test::Options;
use crate::{Result, backends, doctests, examples, loom, published, spec, test, tidy};

/// The text of `--help`.
pub const HELP: &str = "\
cargo xtask ci [OPTIONS]

Formatting, lints, every test with the budgets of continuous integration, the tests of the matrix
of benchmarks, documentation, loom models, feature builds, checks for other systems, archives for
the registry, examples, packages outside of the workspace, spec and tidy; with mdbook the documents
as a book, with cargo-deny licences and crates in two versions. A failed step does not stop the
others.
Closes with the minutes of each step and a line `N passed, N failed, N skipped`, in which a step
other than a test run counts as one.

  --quick           before a push: formatting, lints, spec, tidy, and the tests of the planner, of
                    kernels and of this program
  --only STEP       just this step; may be repeated
  --budget WHICH    time for the random suites: quick, normal or ci (default)
  --no-setup        install nothing";

/// The promise: this long on two cores, from a clean checkout.
const PROMISE: Duration = Duration::from_secs(30 * 60);

struct Run {
    root: PathBuf,
    target: PathBuf,
    budget: Budget,
    setup: bool,
}

type Step = fn(&Run) -> Result<Counts>;

const STEPS: &[(&str, Step)] = &[
    ("fmt", |run| cargo_step(run, &["fmt", "--all", "--check"])),
    ("tidy", |run| checked(tidy::report(&run.root))),
    ("spec", |run| checked(spec::report(&run.root))),
    ("clippy", |run| {
        cargo_step(run, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    }),
    ("test", tests),
    ("matrix", |run| {
        let words = ["test", "--package", "folio-bench-matrix", "--", "--show-output"];
        cargo_step(run, &words)
    }),
    ("doctest", |run| doctests::run(&run.root).map(|(_, counts)| counts)),
    ("features", features),
    ("targets", targets),
    ("published", |run| checked(published::check(&run.root, &run.target))),
    ("rustdoc", rustdoc),
    ("loom", |run| {
        let secs = if run.budget == Budget::Quick { 10 } else { LOOM_SECS };
        loom::run(&run.root, secs).map(|report| report.counts())
    }),
    ("examples", |run| examples::run(&run.root).map(|report| report.counts())),
    ("outside", outside),
    ("book", |run| with_tool(run, "mdbook", &["build", "docs"])),
    ("deny", |run| with_tool(run, "cargo-deny", &["check", "licenses", "bans", "sources"])),
];

/// The steps of `--quick`; `UNITS` comes after them.
const QUICK: &[&str] = &["fmt", "tidy", "spec", "clippy"];

/// The tests of crates that need no driver: a part of the step `test`.
const UNITS: (&str, Step) = ("units", |run| {
    let packages = ["xtask", "folio-kernel", "folio-compute-core"];
    let words: Vec<_> = packages.iter().flat_map(|name| ["--package", name]).collect();
    test::of_packages(&run.root, &run.target, &words)
});

/// The first of the steps that compile one crate after the other, and leave a processor idle.
const ONE_BY_ONE: &str = "doctest";

/// Builds what later steps run, in folders of its own: the models last, whose step begins with
/// that, so that they run alone. These steps tell of errors.
fn build_ahead(root: &Path) {
    for mut command in [examples::first(root), loom::build(root)] {
        let _ = process::capture(&mut command);
    }
}

/// Runs the steps and prints the table.
pub fn run(mut args: Args) -> Result<bool> {
    let quick = args.flag("--quick");
    let mut only = args.values("--only")?;
    let budget = args.value("--budget")?.unwrap_or_else(|| "ci".to_owned());
    let setup = !args.flag("--no-setup");
    args.finish_empty()?;
    let known = |name: &String| STEPS.iter().any(|(step, _)| step == name);
    if let Some(name) = only.iter().find(|name| !known(name)) {
        let names: Vec<_> = STEPS.iter().map(|(step, _)| *step).collect();
        return Err(format!("no step '{name}'; there are {}", names.join(", ")));
    }
    if quick {
        only.extend(QUICK.iter().map(|step| (*step).to_owned()));
    }
    let (root, target) = crate::cargo::places()?;
    let run = Run { root, target, budget: Budget::parse(Some(&budget))?, setup };
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|wanted| wanted == name);
    let rows = std::thread::scope(|scope| {
        let wanted = STEPS.iter().filter(|(name, _)| is_wanted(name));
        let each = wanted.chain(quick.then_some(&UNITS)).map(|(name, step)| {
            if *name == ONE_BY_ONE && only.is_empty() {
                scope.spawn(|| build_ahead(&run.root));
            }
            timed(name, *step, &run)
        });
        each.collect::<Vec<_>>()
    });
    Ok(table(&rows))
}

struct Row {
    name: &'static str,
    time: Duration,
    /// What processors did for it; nothing where the system does not tell.
    work: Option<Duration>,
    counts: Counts,
}

fn timed(name: &'static str, step: Step, run: &Run) -> Row {
    println!("\n=== {name}");
    let (start, before) = (Instant::now(), process::work_of_children());
    let counts = step(run).unwrap_or_else(|why| {
        println!("error: {why}");
        one(false)
    });
    let time = start.elapsed();
    let work = process::work_of_children().zip(before).map(|(now, before)| now - before);
    let word = if counts.failed == 0 { "ok" } else { "FAILED" };
    println!("=== {name}: {word}, {:.1} min", minutes(time));
    Row { name, time, work, counts }
}

fn minutes(time: Duration) -> f64 {
    time.as_secs_f64() / 60.0
}

fn table(rows: &[Row]) -> bool {
    let mut total = Counts::default();
    let mut time = Duration::ZERO;
    println!("\n{:<10} {:>7} {:>7}  result", "step", "minutes", "cores");
    for row in rows {
        let word = if row.counts.failed == 0 { "ok" } else { "FAILED" };
        let (spent, counts) = (minutes(row.time), row.counts);
        println!("{:<10} {spent:>7.1} {:>7}  {word}: {counts}", row.name, cores(row));
        total += row.counts;
        time += row.time;
    }
    println!("{:<10} {:>7.1}", "together", minutes(time));
    if time > PROMISE {
        println!("warning: more than the {:.0} minutes promised for 2 cores", minutes(PROMISE));
    }
    println!("\n{total}");
    total.failed == 0
}

/// How many processors a step has kept busy: fewer than there are can be mended.
fn cores(row: &Row) -> String {
    let of = |work: Duration| format!("{:.1}", work.as_secs_f64() / row.time.as_secs_f64());
    row.work.map(of).unwrap_or_default()
}

/// A step that is no test run counts as one.
fn one(ok: bool) -> Counts {
    Counts { passed: usize::from(ok), failed: usize::from(!ok), skipped: 0 }
}

fn checked(result: Result<bool>) -> Result<Counts> {
    result.map(one)
}

fn cargo_step(run: &Run, words: &[&str]) -> Result<Counts> {
    checked(process::show(&mut cargo(&run.root, words)))
}

fn tests(run: &Run) -> Result<Counts> {
    let options = Options {
        setup: run.setup,
        required: backends::required(&run.root),
        budget: run.budget,
        runner: None,
        filters: Vec::new(),
    };
    let (counts, complaints) = test::workspace(&run.root, &run.target, &options)?;
    complaints.iter().for_each(|complaint| println!("error: {complaint}"));
    Ok(counts)
}

/// The facade must build with any choice of backends: none, each by itself, and all. All backends
/// are looked at each time, so that no choice compiles what they share anew.
fn features(run: &Run) -> Result<Counts> {
    let each = backends::features();
    let all = each.join(",");
    let backends = backends::behind_features();
    for chosen in [""].into_iter().chain(each.iter().copied()).chain([&*all, "cpu,trace"]) {
        let mut command = cargo(&run.root, &["clippy", "--package", "folio"]);
        command.args(backends.iter().flat_map(|name| ["--package", name]));
        command.args(["--lib", "--no-default-features", "--features"]);
        let of_folio = chosen.split_terminator(',').map(|name| format!("folio/{name}"));
        command.arg(of_folio.collect::<Vec<_>>().join(","));
        if !process::show(command.args(["--", "-D", "warnings"]))? {
            return Ok(one(false));
        }
    }
    // Not built by anything else here but an example outside of the workspace.
    let words = ["clippy", "--package", "folio-opencl", "--lib", "--features", "ocl"];
    let mut command = cargo(&run.root, &words);
    checked(process::show(command.args(["--", "-D", "warnings"])))
}

/// Systems, and a kind of processors, that no test here runs on: what programs link is checked for
/// them, at least.
const ELSEWHERE: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// The facade with all backends must compile for other systems, where their libraries are there.
fn targets(run: &Run) -> Result<Counts> {
    let mut counts = Counts::default();
    for target in ELSEWHERE {
        if run.setup {
            // Without a network there may be none, which the next look tells.
            let _ = process::capture(Command::new("rustup").args(["target", "add", target]));
        }
        let words = ["--print", "target-libdir", "--target", target];
        let folder = process::capture(Command::new("rustc").args(words))?;
        if !Path::new(folder.trim()).exists() {
            println!("skipped: `rustup target add {target}` has what is missing");
            counts.skipped += 1;
            continue;
        }
        let words = ["check", "--target", target, "--package", "folio", "--features"];
        let features = backends::features().join(",");
        counts += checked(process::show(cargo(&run.root, &words).arg(features)))?;
    }
    Ok(counts)
}

/// Packages under `examples`, which are outside of the workspace: formatting, lints, tests.
fn outside(run: &Run) -> Result<Counts> {
    let mut counts = Counts::default();
    for manifest in examples::outside(&run.root)? {
        println!("{}", manifest.display());
        let step = |words: &[&str], more: &[&str]| {
            let mut command = cargo(&run.root, words);
            // The next command with the same features and profile finds what this one has built.
            command.env("CARGO_TARGET_DIR", &run.target);
            command.arg("--manifest-path").arg(&manifest);
            process::show(command.args(more))
        };
        let ok = step(&["fmt"], &["--check"])?
            && step(&["clippy", "--all-targets"], &["--", "-D", "warnings"])?
            && step(&["test"], &[])?;
        counts += one(ok);
    }
    Ok(counts)
}

/// Runs a program that a machine may lack: nothing here installs it, for it takes minutes.
fn with_tool(run: &Run, tool: &str, words: &[&str]) -> Result<Counts> {
    if process::capture(Command::new(tool).arg("--version")).is_err() {
        println!("skipped: there is no {tool}; `cargo install {tool}` has it");
        return Ok(Counts { skipped: 1, ..Counts::default() });
    }
    checked(process::show(Command::new(tool).args(words).current_dir(&run.root)))
}

fn rustdoc(run: &Run) -> Result<Counts> {
    let before = std::env::var("RUSTDOCFLAGS").unwrap_or_default();
    let mut command = cargo(&run.root, &["doc", "--workspace", "--no-deps"]);
    checked(process::show(command.env("RUSTDOCFLAGS", format!("{before} -D warnings").trim())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::TESTED;
    use crate::suites;

    fn row(failed: usize) -> Row {
        let counts = Counts { passed: 2, failed, skipped: 1 };
        Row { name: "test", time: Duration::from_secs(90), work: None, counts }
    }

    /// BACK-01: a backend and what it needs come with its feature, and only then.
    #[test]
    fn backends_come_with_their_features() {
        let root = crate::tree::root().unwrap();
        let tree = |more: &[&str]| {
            let words = ["tree", "--package", "folio", "--edges", "normal", "--prefix", "none"];
            let mut command = cargo(&root, &words);
            process::capture(command.args(["--no-default-features", "--offline"]).args(more))
                .unwrap()
        };
        let (bare, cpu) = (tree(&[]), tree(&["--features", "cpu"]));
        for crate_of_cpu in ["folio-cpu ", "rayon-core "] {
            assert!(!bare.contains(crate_of_cpu) && cpu.contains(crate_of_cpu), "{crate_of_cpu}");
        }
        for backend in backends::on_gpus() {
            let with = tree(&["--features", backend.name]);
            for of_feature in backend.brings {
                let there = |tree: &str| tree.contains(&format!("{of_feature} "));
                assert!(!there(&cpu) && there(&with), "{of_feature}");
            }
        }
        assert!(bare.contains("folio-compute-core "), "{bare}");
        // Few crates to build: each line names one, and says so if it has been named before.
        let crates = cpu.lines().filter(|line| !line.trim().is_empty() && !line.ends_with("(*)"));
        let crates: std::collections::BTreeSet<_> = crates.collect();
        assert!((10..60).contains(&crates.len()), "{} crates: {cpu}", crates.len());
    }

    /// BACK-02: who tests a backend compiles no more than the suite needs.
    #[test]
    fn the_suite_brings_no_model_and_no_backend() {
        let root = crate::tree::root().unwrap();
        let words = ["tree", "--package", "folio-conformance", "--edges", "normal", "--offline"];
        let tree = process::capture(&mut cargo(&root, &words)).unwrap();
        assert!(tree.contains("folio-interp "), "{tree}");
        // The layers come with `folio`, which keeps launches that fail by one of them.
        for other in ["folio-model ", "folio-cpu ", "folio-opencl "] {
            assert!(!tree.contains(other), "{other}: {tree}");
        }
    }

    /// The matrix's tests come after the others, with the same features of what both use: none of
    /// it is built again.
    #[test]
    fn the_matrix_finds_the_crates_of_the_tests_built() {
        let root = crate::tree::root().unwrap();
        let features = |of: &[&str]| {
            let words = ["tree", "--offline", "--edges", "normal,build,dev", "--prefix", "none"];
            let mut command = cargo(&root, &words);
            let tree = process::capture(command.args(["--format", "{p} {f}"]).args(of)).unwrap();
            let lines = tree.lines().map(|line| line.trim_end_matches("(*)").trim_end().to_owned());
            lines.collect::<std::collections::BTreeSet<_>>()
        };
        let (matrix, tested) = (features(&["--package", "folio-bench-matrix"]), features(&TESTED));
        let shared = |line: &&String| {
            let name = line.split(' ').next().unwrap_or_default();
            let long = ["cudarc", "half", "syn", "zerocopy"].contains(&name);
            long || name.starts_with("folio") && name != "folio-bench-matrix"
        };
        let (matrix, tested): (Vec<_>, Vec<_>) =
            (matrix.iter().filter(shared).collect(), tested.iter().filter(shared).collect());
        assert!(matrix.len() > 15, "{matrix:?}");
        let again: Vec<_> = matrix.iter().filter(|line| !tested.contains(line)).collect();
        assert!(again.is_empty(), "built twice: {again:#?}");
    }

    #[test]
    fn a_failure_in_any_step_fails_the_whole() {
        assert!(table(&[row(0), row(0)]));
        assert!(!table(&[row(0), row(1)]));
    }

    #[test]
    fn the_suites_fit_into_the_promise() {
        let all = suites::SUITES.iter().map(|suite| suite.share(Budget::Ci).secs).sum::<u64>();
        assert!(all + LOOM_SECS < PROMISE.as_secs() / 2, "builds need the other half");
    }
}
