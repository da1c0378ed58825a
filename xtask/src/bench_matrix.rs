//! `cargo xtask bench-matrix`: the matrix of benchmarks, which a crate of its own measures.
//!
//! The crate takes minutes to compile. A wrong option is refused here, before that.

use crate::args::Args;
use crate::cargo::{cargo, places};
use crate::{Result, backends, process};
use std::path::Path;

/// The text of `--help`. Its lines are also the options that [`check`] knows; a test of the matrix
/// compares them with the matrix's own.
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
  --page OLD.json     write the page, table and plots of a saved run; measure nothing
  --peers             measure libraries that are installed, too: the opponents of each row
  --peer NAME         with --peers: only these, with commas between
  --peer-dir DIR      with --peers: the programs of this folder are peers as well
  --peer-seconds SECONDS  with --peers: how long a peer may take for a row; otherwise 120
  --features LIST     build with these backends only: cpu,opencl

Exit codes: 1 for a wrong result, a failed gate or a run without rows, 2 for what is not possible.";

/// The crate.
const CRATE: &str = "folio-bench-matrix";

/// Options that exclude each other.
const APART: [[&str; 2]; 3] =
    [["--quick", "--full"], ["--page", "--compare"], ["--page", "--list"]];

/// Options that are for `--peers` alone.
const OF_PEERS: [&str; 3] = ["--peer", "--peer-dir", "--peer-seconds"];

/// An option, as a line of the help has it.
struct Known {
    short: &'static str,
    long: &'static str,
    /// The kind of its value, if it takes one.
    value: Option<&'static str>,
    /// Whether it may be given several times.
    repeats: bool,
}

fn known(line: &'static str) -> Option<Known> {
    let line = line.strip_prefix("  ").filter(|line| line.starts_with('-'))?;
    let mut words = line.split_whitespace().peekable();
    let short =
        words.next_if(|word| word.ends_with(',')).map_or("", |word| word.trim_end_matches(','));
    let long = words.next()?;
    let value = words.next().filter(|word| word.starts_with(char::is_uppercase));
    Some(Known { short, long, value, repeats: !short.is_empty() })
}

/// Refuses what the matrix would refuse.
fn check(words: &[String], here: &Path) -> Result<()> {
    let mut given: Vec<&str> = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, attached) = split(word);
        let option =
            HELP.lines().filter_map(known).find(|one| [one.short, one.long].contains(&name));
        let option = option.ok_or_else(|| format!("no option '{word}' (see --help)"))?;
        let Known { long, value, repeats, .. } = option;
        if given.contains(&long) && !repeats {
            return Err(format!("{long} is given twice"));
        }
        given.push(long);
        match (value, attached) {
            (None, None) => {}
            (None, Some(_)) => return Err(format!("{long} takes no value (see --help)")),
            (Some(kind), _) => {
                let next =
                    || words.next().map(String::as_str).filter(|next| !next.starts_with('-'));
                let value = attached.or_else(next).filter(|value| !value.is_empty());
                let value = value.ok_or_else(|| format!("{long} needs a value: {long} {kind}"))?;
                if let Some(wanted) = unfit(kind, value, here) {
                    return Err(format!("{long} takes {wanted}, not '{value}'"));
                }
            }
        }
    }
    let has = |name: &str| given.contains(&name);
    if let Some([one, other]) = APART.iter().find(|[one, other]| has(one) && has(other)) {
        return Err(format!("{one} and {other} exclude each other"));
    }
    if has("--gate") && !has("--compare") {
        return Err("--gate needs the run to compare with: --compare OLD.json".to_owned());
    }
    match OF_PEERS.iter().find(|name| has(name) && !has("--peers")) {
        Some(name) => Err(format!("{name} is for --peers")),
        None => Ok(()),
    }
}

/// The name of an option and the value that is attached to it: `--out=here`, `-wstream`.
fn split(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    }
    match word.split_at_checked(2) {
        Some((name, value)) if !value.is_empty() && name.starts_with('-') => {
            (name, Some(value.strip_prefix('=').unwrap_or(value)))
        }
        _ => (word, None),
    }
}

/// The right form of such a value, if this is none.
fn unfit(kind: &str, value: &str, here: &Path) -> Option<&'static str> {
    let mut parts = value.split(',');
    let (is_fit, wanted) = match kind {
        "SECONDS" | "N" => (value.parse::<u64>().is_ok(), "a whole number"),
        "PERCENT" => {
            let number = value.parse::<f64>();
            (number.is_ok_and(|it| it.is_finite() && it >= 0.0), "a number of percent")
        }
        "SIZE" => (parts.all(is_size), "a number, or a power of two such as 2^20"),
        "LIST" => {
            let all = backends::features();
            (parts.all(|part| all.contains(&part)), "names of backends")
        }
        "OLD.json" => (here.join(value).is_file(), "a file that a run has saved"),
        _ => return None,
    };
    (!is_fit).then_some(wanted)
}

/// True for `1000`, `1_000` and `2^20`.
fn is_size(text: &str) -> bool {
    let plain = text.replace('_', "");
    match plain.strip_prefix("2^") {
        Some(power) => power.parse::<u32>().is_ok_and(|power| power < usize::BITS),
        None => plain.parse::<usize>().is_ok(),
    }
}

/// Runs the command in the caller's folder, so that files are where the caller says.
pub fn run(args: Args) -> Result<bool> {
    let here = std::env::current_dir().map_err(|why| format!("no current folder: {why}"))?;
    let words = args.rest();
    check(&words, &here)?;
    let mut args = Args::new(words);
    let features = args.value("--features")?;
    let words = args.rest();
    let (root, target) = places()?;
    // Standard output is the matrix's: with `--json` it is read by programs.
    eprintln!("cargo compiles {CRATE}, with optimisation: minutes at first, seconds later.");
    let mut command = cargo(&root, &["run", "--release", "--package", CRATE]);
    if let Some(features) = &features {
        command.args(["--no-default-features", "--features", features]);
    }
    command.arg("--");
    if !words.iter().any(|word| word == "--out" || word.starts_with("--out=")) {
        command.arg("--out").arg(target.join("bench-matrix"));
    }
    match process::code(command.args(words).current_dir(here))? {
        0 => Ok(true),
        1 => Ok(false),
        code => Err(format!("{CRATE} ended with code {code}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<()> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        check(&words, Path::new(env!("CARGO_MANIFEST_DIR")))
    }

    /// BENCH-01
    #[test]
    fn options_of_the_matrix_pass() {
        let all = [
            "",
            "--quick --json --list",
            "-w stream,tasks -wexp -w=scan --mode usm -b opencl:0 -s 2^20,1_000",
            "--budget 60 --seed=3 --out=here --features cpu,vulkan",
            "--compare Cargo.toml --gate 2.5",
            "--page Cargo.toml --out here",
            "--peers --peer cub,numpy --peer-dir src --peer-seconds 5",
        ];
        all.iter().for_each(|text| assert_eq!(checked(text), Ok(()), "{text}"));
    }

    /// BENCH-01: minutes of compiling come after this.
    #[test]
    fn a_wrong_option_is_refused_by_its_name() {
        let all = [
            ("--quik", "no option '--quik'"),
            ("stream", "no option 'stream'"),
            ("-x", "no option '-x'"),
            ("--budget", "--budget needs a value: --budget SECONDS"),
            ("--workload --quick", "--workload needs a value: --workload NAME"),
            ("--out=", "--out needs a value: --out DIR"),
            ("--budget soon", "--budget takes a whole number, not 'soon'"),
            ("--seed=-1", "--seed takes a whole number, not '-1'"),
            ("-s 2^64", "--size takes a number, or a power of two such as 2^20, not '2^64'"),
            ("--features cpu,gpu", "--features takes names of backends"),
            ("--quick=yes", "--quick takes no value"),
            ("--quick --quick", "--quick is given twice"),
            ("--quick --full", "--quick and --full exclude each other"),
            ("--page Cargo.toml --list", "--page and --list exclude each other"),
            ("--peer cub", "--peer is for --peers"),
            ("--gate 5", "--gate needs the run to compare with"),
            ("--gate NaN --compare Cargo.toml", "--gate takes a number of percent, not 'NaN'"),
            ("--compare none.json", "--compare takes a file that a run has saved"),
        ];
        for (text, expected) in all {
            let why = checked(text).expect_err(text);
            assert!(why.starts_with(expected), "{text}: {why}");
        }
    }
}
