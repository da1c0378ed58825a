//! `cargo xtask bench-matrix`: the matrix of benchmarks, which a crate of its own measures.

use crate::args::Args;
use crate::cargo::{cargo, places};
use crate::{Result, process};

/// What `--help` says.
pub const HELP: &str = "\
cargo xtask bench-matrix [OPTIONS]

Workloads x backends x sizes x modes, each beside hand-written code in the same run. Writes a table,
JSON, plots and a page. docs/guide/bench-matrix.md explains them.

  --quick             few sizes: 3 minutes at most, on 2 cores with cpu and opencl
  --full              every size, many rounds
  --budget SECONDS    for everything; rows that find none left are listed
  -w, --workload NAME only these workloads (--list shows them); may be repeated
  -m, --mode TEXT     only modes that contain the text
  -b, --backend NAME  only these backends or devices: cpu, opencl:0
  -s, --size SIZE     only these sizes: 1000, 2^20
  --list              list workloads and devices; measure nothing
  --out DIR           where the files go; otherwise target/bench-matrix
  --json              print the JSON instead of the table
  --compare OLD.json  show what changed beyond the noise
  --gate PERCENT      with --compare: fail if a row became slower by more than this
  --seed N            of the data
  --features LIST     build with these of cpu, opencl, cuda and vulkan only

Exit codes: 1 for a wrong result or a failed gate, 2 for what is not possible.";

/// The crate.
const CRATE: &str = "folio-bench-matrix";

/// Runs the command in the caller's folder, so that files are where the caller says.
pub fn run(mut args: Args) -> Result<bool> {
    let features = args.value("--features")?;
    let words = args.rest();
    let (root, target) = places()?;
    let mut command = cargo(&root, &["run", "--quiet", "--release", "--package", CRATE]);
    if let Some(features) = &features {
        command.args(["--no-default-features", "--features", features]);
    }
    command.arg("--");
    if !words.iter().any(|word| word == "--out" || word.starts_with("--out=")) {
        command.arg("--out").arg(target.join("bench-matrix"));
    }
    let here = std::env::current_dir().map_err(|why| format!("no current folder: {why}"))?;
    match process::code(command.args(words).current_dir(here))? {
        0 => Ok(true),
        1 => Ok(false),
        code => Err(format!("{CRATE} ended with code {code}")),
    }
}
