//! `cargo xtask gpu-test`: packs the tests that use GPUs, most of them by CUDA, for a machine that
//! has some and no Rust.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::Args;
use crate::cargo::{self, cargo};
use crate::process::{self, Take};
use crate::suites::{self, Budget};
use crate::{Result, backends, runner};

/// The text of `--help`.
pub const HELP: &str = "\
cargo xtask gpu-test [GROUP]..

Builds the tests and benchmarks that use NVIDIA GPUs, stripped, and packs them for a machine that
has GPUs and no Rust: target/gpu-test/tests.tar.gz, with the script run.sh beside it. Copy both
there; `bash run.sh --help` says how it is told what to run. It prints one table, and ends with
failure if anything failed. On a machine with a GPU, run it where it is.

  GROUP   what to pack; default: all
          conformance  the suites of the HAL and of the engine over GPUs alone
          beside       those of the engine over GPUs and CPUs
          twins        those of the engine over GPUs by CUDA and by OpenCL
          kernels      kernels, the compiler, graphs, algorithms
          random       random kernels
          model        random programs and faults: alone, beside CPUs, beside OpenCL
          bundle       a program where NVRTC is not, by what one where it is has compiled
          opencl       GPUs by OpenCL alone: the backend, all suites, algorithms, interop, the matrix
          vulkan       GPUs by Vulkan, alone and beside CPUs, OpenCL and CUDA; needs the validation layer
          multi        several GPUs; tests that need more than there are say so
          sanitizer    compute-sanitizer's tools over a few of them, and over planted errors
          bench        the matrix of benchmarks by CUDA (builds for minutes)";

/// The groups, in the order in which they run.
const GROUPS: [&str; 12] = [
    "conformance",
    "beside",
    "twins",
    "kernels",
    "random",
    "model",
    "bundle",
    "opencl",
    "vulkan",
    "multi",
    "sanitizer",
    "bench",
];
/// The script that goes along.
const SCRIPT: &str = include_str!("gpu_test/run.sh");
/// The packages whose tests are built, beside the backends' own.
const PACKAGES: [&str; 4] =
    ["folio-conformance", "folio-model", "folio-algorithms", "folio-linalg"];
/// What they need for libraries that a GPU has.
const FEATURES: [&str; 2] = ["--features", "folio-linalg/cuda"];
/// The program of the matrix of benchmarks.
const MATRIX: &str = "folio-bench-matrix";
/// Seconds that the matrix measures, within [`LIMIT`].
const MEASURING: u64 = 150;
/// An example that is run, too.
const EXAMPLE: &str = "cuda_libraries";
/// Seconds and fewest cases of what is random, on GPUs.
const RANDOM: [(&str, u64, u64); 16] = [
    ("TWINS", 30, 10),
    ("GRAPHS_CUDA", 30, 50),
    ("GRAPHS_FUSED_CUDA", 30, 10),
    ("GRAPHS_FUSED_WIDE_CUDA", 30, 10),
    ("GRAPHS_VULKAN", 30, 20),
    ("GRAPHS_FUSED_VULKAN", 30, 10),
    ("KERNELS_CUDA", 60, 50),
    ("PROGRAMS_CUDA", 40, 100),
    ("FAULTS_CUDA", 30, 50),
    ("PROGRAMS_OPENCL", 40, 50),
    ("FAULTS_OPENCL", 30, 20),
    ("EMIT", 30, 10),
    ("KERNELS_OPENCL", 30, 30),
    ("KERNELS_VULKAN", 30, 30),
    ("PROGRAMS_VULKAN", 30, 30),
    ("FAULTS_VULKAN", 20, 10),
];
/// Set where the tests run: their first device by OpenCL has to be a GPU.
const ON_GPUS: &str = "FOLIO_TESTS_ON_GPUS";
/// The archive is to be no larger.
const MOST: u64 = 64 << 20;
/// Seconds for each test and benchmark. A test on a GPU compiles its kernels first.
const LIMIT: u64 = 240;
/// Seconds that compute-sanitizer has for each entry of `CHECKED`.
const CHECKING: u64 = 90;
/// The status of compute-sanitizer when it has found something.
const FOUND: u8 = 9;
/// Tests that compute-sanitizer looks at: their binary, and a part of their name.
const CHECKED: [(&str, &str); 5] = [
    ("folio-cuda::launch", "cuda_"),
    ("folio-cuda::graphs", "cuda_"),
    ("folio-conformance::all", "cuda_checked_kernels"),
    ("folio-conformance::all", "cuda_checked_graphs"),
    ("folio-conformance::all", "cuda_checked_fusion"),
];
/// Errors that are planted in its tests (`planted_TOOL`), so that its silence elsewhere means
/// something.
const PLANTED: &str = "folio-cuda::planted";
const TOOLS: [&str; 4] = ["memcheck", "racecheck", "initcheck", "synccheck"];

/// A line of the script's plan.
#[derive(Debug, PartialEq)]
struct Row {
    group: &'static str,
    name: String,
    /// Seconds.
    limit: u64,
    /// The exit status that is a success.
    status: u8,
    /// A program, `bin/NAME` if it is of the archive, and its words.
    command: String,
}

/// Builds, packs, and says where everything is.
pub fn run(args: Args) -> Result<bool> {
    let groups = args.finish()?;
    if let Some(other) = groups.iter().find(|group| !GROUPS.contains(&group.as_str())) {
        return Err(format!("no group '{other}'; there are {}", GROUPS.join(", ")));
    }
    let wanted = |group: &str| groups.is_empty() || groups.iter().any(|g| g == group);
    let (root, target) = cargo::places()?;
    let mut files = BTreeMap::new();
    let mut rows = Vec::new();
    if GROUPS.iter().any(|group| *group != "bench" && wanted(group)) {
        rows = tests(&root, &mut files)?;
    }
    if measured().any(|(_, group)| wanted(group)) {
        rows.extend(matrix(&root, &mut files)?);
    }
    if wanted("kernels") {
        rows.push(example(&root, &mut files)?);
    }
    rows.retain(|row| wanted(row.group));
    rows.sort_by_key(|row| GROUPS.iter().position(|group| *group == row.group));
    files.retain(|name, _| {
        rows.iter().any(|row| row.command.split(' ').any(|word| word == in_archive(name)))
    });
    pack(&target.join("gpu-test"), &rows, &files)
}

/// Where a binary comes from, by its name in the archive.
type Files = BTreeMap<String, PathBuf>;

fn file_name(binary: &str) -> String {
    binary.replace("::", ".").replace('/', ".")
}

/// Where the script, which works in the unpacked archive, finds a file.
fn in_archive(file: &str) -> String {
    format!("bin/{file}")
}

/// Builds the tests; a row for each that is CUDA's or of the group of OpenCL, and those of
/// compute-sanitizer.
fn tests(root: &Path, files: &mut Files) -> Result<Vec<Row>> {
    let packages = backends::on_gpus().map(|backend| backend.in_crate).chain(PACKAGES);
    let packages = packages.flat_map(|name| ["--package", name]);
    let words: Vec<_> = packages.chain(FEATURES).chain(["--tests"]).collect();
    let limit = |test: &str| suites::time_limit(test, Budget::Normal);
    let plan = runner::plan(&mut runner::test_command(root, &words), |_| true, limit)?;
    let mut rows = Vec::new();
    for (binary, job) in plan.each() {
        let full = format!("{} {}", binary.id, job.test);
        let group = group(&binary.id, &job.test);
        let has_row = matches!(group, "opencl" | "vulkan") || backends::is_of(&full, "cuda");
        if !has_row || binary.id == PLANTED {
            continue;
        }
        let command =
            format!("{} --exact {} --nocapture", in_archive(&file_name(&binary.id)), job.test);
        rows.push(Row { group, name: full, limit: LIMIT, status: 0, command });
    }
    // A tool that looks at nothing finds nothing.
    for (id, part) in CHECKED.into_iter().chain(TOOLS.map(|tool| (PLANTED, tool))) {
        if !plan.each().any(|(binary, job)| binary.id == id && job.test.contains(part)) {
            return Err(format!("there is no test {part} in {id}"));
        }
    }
    rows.extend(TOOLS.into_iter().flat_map(sanitizer));
    files.extend(plan.each().map(|(binary, _)| (file_name(&binary.id), binary.file.clone())));
    Ok(rows)
}

/// The group of a test of a binary.
fn group(binary: &str, test: &str) -> &'static str {
    // A binary that has all tests of its crate has one module for each subject.
    let (binary, test) = match (binary.strip_suffix("::all"), test.split_once("::")) {
        (Some(package), Some((module, test))) => (&*format!("{package}::{module}"), test),
        _ => (binary, test),
    };
    let has = |what: &&str| test.contains(*what);
    match binary.split_once("::") {
        Some(
            (
                "folio-conformance",
                "hal_drivers" | "engine_drivers" | "ends" | "allocations" | "large",
            )
            | ("folio-model" | "folio-algorithms" | "folio-linalg", _),
        ) if backends::is_of(test, "vulkan") => "vulkan",
        Some((_, name)) if name.starts_with("several") => "multi",
        None if test.contains("cuda_peers") => "multi",
        Some((_, "bundle")) => "bundle",
        // Tests outside of these modules need no device.
        None if test.starts_with("tests::") => {
            let own = backends::on_gpus().find(|backend| backend.in_crate == binary);
            own.map(|backend| backend.name)
                .filter(|name| GROUPS.contains(name))
                .unwrap_or("kernels")
        }
        // Tests of contexts that come and go by thousands are for drivers that make them quickly.
        Some((_, "opencl_limited" | "opencl_programs")) if !test.starts_with("suite_") => "opencl",
        Some(("folio-conformance", "engine_drivers"))
            if test.starts_with("twins::") || test.contains("with_twins") =>
        {
            "twins"
        }
        Some((
            "folio-conformance",
            "hal_drivers" | "engine_drivers" | "raw_memory" | "opaque" | "interop" | "large"
            | "ends" | "allocations",
        ))
        | Some(("folio-algorithms" | "folio-linalg", _))
        | Some(("folio-model", "emit" | "drivers"))
            if backends::is_of(test, "opencl") =>
        {
            "opencl"
        }
        Some(("folio-conformance", "engine_drivers")) if test.contains("with_cpus") => "beside",
        Some(("folio-conformance", "hal_drivers" | "engine_drivers" | "ends")) => "conformance",
        Some(("folio-model", "emit")) => "random",
        Some(("folio-model", "drivers")) if ["kernels", "constants"].iter().any(has) => "random",
        Some(("folio-model", "drivers")) if ["programs", "faults"].iter().any(has) => "model",
        _ => "kernels",
    }
}

/// The tests that one of compute-sanitizer's tools looks at: it finds nothing, but what was planted
/// for it.
fn sanitizer(tool: &str) -> Vec<Row> {
    let row = |id: &str, tests: String, status| Row {
        group: "sanitizer",
        name: match status {
            0 => format!("{tool} {id} {tests}"),
            _ => format!("{tool} finds {tests}"),
        },
        limit: CHECKING,
        status,
        // Calls that fail are what some tests are about.
        command: format!(
            "compute-sanitizer --tool {tool} --report-api-errors no --error-exitcode {FOUND} \
             {} {tests} --nocapture --test-threads 1",
            in_archive(&file_name(id))
        ),
    };
    let clean = CHECKED.into_iter().map(|(id, tests)| row(id, tests.to_owned(), 0));
    clean.chain([row(PLANTED, format!("planted_{tool}"), FOUND)]).collect()
}

/// The backends that the matrix of benchmarks measures, and their groups.
fn measured() -> impl Iterator<Item = (&'static str, &'static str)> {
    backends::on_gpus().filter_map(|of| Some((of.name, of.measured_in?)))
}

/// Builds the matrix of benchmarks; a row for each backend.
fn matrix(root: &Path, files: &mut Files) -> Result<Vec<Row>> {
    let mut command = cargo(root, &["build", "--release", "--package", MATRIX]);
    command.arg("--message-format=json-render-diagnostics");
    let (built, messages) = process::stream(&mut command, Take::HiddenOut)?;
    let found = messages.lines().find_map(|line| cargo::executable(line, "bin"));
    let Some((name, file)) = found.filter(|_| built) else {
        return Err("the matrix of benchmarks does not build".to_owned());
    };
    let row = |(backend, group): (&str, &'static str)| {
        let options = format!("--backend {backend} --budget {MEASURING} --out {backend}");
        let command = format!("{} {options}", in_archive(&name));
        Row { group, name: format!("benches {backend}"), limit: LIMIT, status: 0, command }
    };
    let rows = measured().map(row).collect();
    files.insert(name, file);
    Ok(rows)
}

/// Builds the example with libraries of NVIDIA's.
fn example(root: &Path, files: &mut Files) -> Result<Row> {
    let words = ["build", "--release", "--package", "folio-cuda", "--example", EXAMPLE];
    let mut command = cargo(root, &words);
    command.arg("--message-format=json-render-diagnostics");
    let (built, messages) = process::stream(&mut command, Take::HiddenOut)?;
    let found = messages.lines().find_map(|line| cargo::executable(line, "example"));
    let Some((name, file)) = found.filter(|_| built) else {
        return Err(format!("the example {EXAMPLE} does not build"));
    };
    let command = in_archive(&name);
    files.insert(name.clone(), file);
    let name = format!("example {name}");
    Ok(Row { group: "kernels", name, limit: LIMIT, status: 0, command })
}

/// The script's input: a line for each row, its fields separated by tabs.
fn plan_text(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let Row { group, name, limit, status, command } = row;
        format!("{group}\t{limit}\t{status}\t{name}\t{command}\n")
    };
    rows.iter().map(line).collect()
}

fn variables() -> String {
    let budgets = suites::variables(Budget::Normal);
    let random = RANDOM.into_iter().flat_map(|(name, seconds, least)| {
        let secs = (format!("FOLIO_BUDGET_{name}_SECS"), seconds.to_string());
        [secs, (format!("FOLIO_MIN_{name}"), least.to_string())]
    });
    // A test that runs out of time says where.
    let always = [ON_GPUS, "FOLIO_TESTS_TELL"].map(|name| (name.to_owned(), "1".to_owned()));
    let all = budgets.into_iter().chain(random).chain(always);
    all.map(|(name, value)| format!("export {name}={value}\n")).collect()
}

/// Writes the archive and the script.
fn pack(folder: &Path, rows: &[Row], files: &Files) -> Result<bool> {
    let error = |e: std::io::Error| format!("{}: {e}", folder.display());
    let bin = folder.join("tests/bin");
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(error)?;
    }
    fs::create_dir_all(&bin).map_err(error)?;
    for (name, file) in files {
        process::capture(Command::new("strip").arg("-o").arg(bin.join(name)).arg(file))?;
    }
    fs::write(folder.join("tests/plan"), plan_text(rows)).map_err(error)?;
    fs::write(folder.join("tests/environment"), variables()).map_err(error)?;
    fs::write(folder.join("run.sh"), SCRIPT).map_err(error)?;
    let archive = folder.join("tests.tar.gz");
    let mut tar = Command::new("tar");
    process::capture(tar.arg("-czf").arg(&archive).arg("-C").arg(folder).arg("tests"))?;
    let size = fs::metadata(&archive).map_err(error)?.len();
    println!("{} tests and benchmarks, {} binaries", rows.len(), files.len());
    println!("{}: {:.1} MiB", archive.display(), size as f64 / f64::from(1 << 20));
    println!("copy it there with {}, and: bash run.sh", folder.join("run.sh").display());
    if size > MOST {
        return Err(format!("the archive is larger than {} MiB", MOST >> 20));
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_have_groups() {
        let of = |test: &str| group("folio-conformance::all", test);
        assert_eq!(of("engine_drivers::each::compile_and_pass::cuda"), "conformance");
        assert_eq!(of("engine_drivers::each::compile_and_pass_with_cpus::cuda"), "beside");
        assert_eq!(of("engine_drivers::each::compile_and_x_with_twins::cuda"), "twins");
        assert_eq!(of("engine_drivers::each::compile_and_pass::opencl_without_svm"), "opencl");
        assert_eq!(of("engine_drivers::each::compile_and_pass::vulkan"), "vulkan");
        assert_eq!(of("engine_drivers::opencl::unrolls"), "opencl");
        assert_eq!(of("engine_drivers::twins::cuda_and_x"), "twins");
        assert_eq!(of("opaque::compile_opaque_cuda"), "kernels");
        assert_eq!(of("opaque::compile_opaque_opencl"), "opencl");
        assert_eq!(of("opencl_limited::groups_have_a_limit"), "opencl");
        assert_eq!(of("opencl_programs::there_may_be"), "opencl");
        assert_ne!(of("opencl_programs::suite_cycles"), "opencl");
        assert_eq!(of("bundle::cuda_runs"), "bundle");
        assert_eq!(of("several::cuda_gpus"), "multi");
        assert_eq!(of("hal_drivers::the_contract_is_kept::opencl"), "opencl");
        assert_eq!(of("hal_drivers::the_contract_is_kept::cuda"), "conformance");
        assert_eq!(of("raw_memory::raw_addresses_of_opencl"), "opencl");
        assert_eq!(of("raw_memory::cuda_adopts_addresses"), "kernels");
        let times = ["cuda", "opencl", "vulkan"].map(|by| of(&format!("allocations::times::{by}")));
        assert_eq!(times, ["kernels", "opencl", "vulkan"]);
        let of = |test: &str| group("folio-model::all", test);
        assert_eq!(of("drivers::suite_kernels::cuda"), "random");
        assert_eq!(of("drivers::suite_programs::cuda"), "model");
        assert_eq!(of("drivers::suite_graphs::cuda"), "kernels");
        assert_eq!(of("drivers::suite_programs::opencl"), "opencl");
        assert_eq!(of("drivers::suite_faults::vulkan"), "vulkan");
        assert_eq!(of("emit::suite_emit_opencl"), "opencl");
        assert_eq!(group("folio-algorithms::algorithms", "compiled::opencl"), "opencl");
        assert_eq!(group("folio-algorithms::algorithms", "compiled::cuda"), "kernels");
        assert_eq!(group("folio-cuda", "device::tests::cuda_peers_x"), "multi");
        assert_eq!(group("folio-cuda", "launch"), "kernels");
        assert_eq!(group("folio-opencl", "tests::events_are_few"), "opencl");
        assert_eq!(group("folio-vulkan", "tests::times_are_told"), "vulkan");
        assert_ne!(group("folio-opencl", "pool::tests::as_little_goes"), "opencl");
    }

    fn row(group: &'static str, name: &str, limit: u64, status: u8, command: &str) -> Row {
        Row { group, name: name.to_owned(), limit, status, command: command.to_owned() }
    }

    /// The script tells failure, hanging, and missing devices from success, and does what it is
    /// told.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_script_tells_what_became_of_each_row() {
        let folder = std::env::temp_dir().join(format!("xtask-gpu-{}", std::process::id()));
        let rows = [
            row("conformance", "a good one", 60, 0, "env echo fine"),
            row("conformance", "a bad one", 60, 0, "env false"),
            row("kernels", "one that hangs", 1, 0, "env sleep 600"),
            row("multi", "one for two", 60, 0, "echo test x ... skipped: gpus: there is one"),
            row("sanitizer", "a planted one", 60, 1, "env false"),
            row("sanitizer", "a planted one that nobody finds", 60, 1, "env true"),
            row("bench", "one without a GPU", 60, 0, "echo skipped: cuda: no driver"),
            row("opencl", "one without OpenCL", 60, 0, "echo skipped: opencl: no driver"),
            row("twins", "a twin without OpenCL", 60, 0, "echo skipped: opencl: no driver"),
        ];
        assert!(pack(&folder, &rows, &Files::new()).unwrap());
        let run = |words: &[&str]| {
            let mut command = Command::new("bash");
            let output = command.arg(folder.join("run.sh")).args(words).current_dir(&folder);
            let output = output.output().unwrap();
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        };
        let (status, all) = run(&[]);
        assert_eq!(status, Some(1), "{all}");
        let result = |name: &str| {
            let line = all.lines().rev().find(|line| line.trim_end().ends_with(name));
            line.unwrap_or_default().split_whitespace().nth(1).unwrap_or_default().to_owned()
        };
        let results: Vec<_> = rows.iter().map(|row| result(&row.name)).collect();
        let expected = ["pass", "FAIL", "TIME-OUT", "skip", "pass", "FAIL", "FAIL", "FAIL", "skip"];
        assert_eq!(results, expected, "{all}");
        assert!(all.contains("2 passed, 5 failed, 2 skipped"), "{all}");
        assert!(folder.join("gpu-test.log").is_file());
        let (status, some) = run(&["multi"]);
        assert_eq!(status, Some(0), "{some}");
        assert!(!some.contains("a good one"), "{some}");
        let (status, late) = run(&["conformance=0"]);
        assert_eq!(status, Some(1), "{late}");
        assert!(late.contains("no-time"), "{late}");
        let (status, one) = run(&["--only", "bad", "conformance"]);
        assert_eq!(status, Some(1), "{one}");
        assert!(one.contains("0 passed, 1 failed, 0 skipped"), "{one}");
        assert_eq!(run(&["nonsense"]).0, Some(2));
        fs::remove_dir_all(folder).unwrap();
    }
}
