//! The command line.

use crate::bench::{Effort, Workload};
use crate::error::{Error, Result};
use clap::Parser;
use std::path::PathBuf;

/// Workloads x backends x sizes x modes, each beside hand-written code in the same run.
///
/// Rounds of both sides take turns, so that drift cancels. Each result is checked before its time
/// counts. Writes a table, JSON, plots and a page. docs/guide/bench-matrix.md explains them.
#[derive(Clone, Debug, Parser)]
#[command(name = "cargo xtask bench-matrix", version, max_term_width = 100)]
pub struct Options {
    /// In 3 minutes at most, on 2 cores with cpu and opencl: few sizes, few rounds
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Every size, many rounds
    #[arg(long)]
    pub full: bool,
    /// Only these workloads; may be repeated
    #[arg(long, short, value_name = "NAME", value_delimiter = ',')]
    pub workload: Vec<String>,
    /// Only modes that contain one of these texts
    #[arg(long, short, value_name = "TEXT", value_delimiter = ',')]
    pub mode: Vec<String>,
    /// Only these backends (cpu, opencl, cuda) or devices (opencl:0); may be repeated
    #[arg(long, short, value_name = "NAME", value_delimiter = ',')]
    pub backend: Vec<String>,
    /// Only these sizes: a number, or a power of two such as 2^20; may be repeated
    #[arg(long, short, value_name = "SIZE", value_delimiter = ',', value_parser = size)]
    pub size: Vec<usize>,
    /// Print the JSON on standard output instead of the table
    #[arg(long)]
    pub json: bool,
    /// Where matrix.json, index.html, table.txt and the plots go
    #[arg(long, value_name = "DIR", default_value = "target/bench-matrix")]
    pub out: PathBuf,
    /// A saved matrix.json: show what changed beyond the noise
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,
    /// With --compare: exit code 1 if a row became slower by more than this, beyond the noise
    #[arg(long, value_name = "PERCENT", requires = "compare", value_parser = percent)]
    pub gate: Option<f64>,
    /// Seconds for everything; rows that find none left are listed as left out
    #[arg(long, value_name = "SECONDS")]
    pub budget: Option<u64>,
    /// The seed of the data
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Measure peers, too: the libraries that are installed, each row's opponents
    #[arg(long)]
    pub peers: bool,
    /// With --peers: only these peers, with commas between
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "peers")]
    pub peer: Vec<String>,
    /// With --peers: the programs of this folder are peers as well
    #[arg(long, value_name = "DIR", requires = "peers")]
    pub peer_dir: Option<PathBuf>,
    /// With --peers: how long a peer may take for a row; otherwise 120
    #[arg(long, value_name = "SECONDS", requires = "peers", default_value_t = 120)]
    pub peer_seconds: u64,
    /// List the workloads with their modes, and the devices; measure nothing
    #[arg(long)]
    pub list: bool,
    /// Write the page, the table and the plots of a saved matrix.json; measure nothing
    #[arg(long, value_name = "OLD.json", conflicts_with_all = ["compare", "list"])]
    pub page: Option<PathBuf>,
}

/// Reads a gate: with no number at all, every row would pass it.
fn percent(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
    number.ok_or_else(|| "a gate is a number of percent".to_owned())
}

/// Reads `1000`, `1_000` or `2^20`.
fn size(text: &str) -> std::result::Result<usize, String> {
    let plain = text.replace('_', "");
    let number = match plain.split_once('^') {
        Some(("2", power)) => power.parse::<u32>().ok().and_then(|power| 1usize.checked_shl(power)),
        _ => plain.parse().ok(),
    };
    number.ok_or_else(|| "a size is a number, or a power of two such as 2^20".to_owned())
}

impl Options {
    /// How much is measured.
    pub fn effort(&self) -> Effort {
        match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => Effort::Normal,
        }
    }

    /// Seconds for everything. A quick run leaves time for its last row, and to write.
    pub fn seconds(&self) -> Option<u64> {
        match (self.budget, self.effort()) {
            (Some(seconds), _) => Some(seconds),
            (_, Effort::Quick) => Some(150),
            (_, Effort::Normal) => Some(600),
            (_, Effort::Full) => None,
        }
    }

    /// The workloads asked for. Controls always are, where any other is.
    pub fn workloads<'w>(&self, all: &[&'w dyn Workload]) -> Result<Vec<&'w dyn Workload>> {
        let names = || all.iter().map(|workload| workload.name());
        if let Some(name) = self.workload.iter().find(|name| !names().any(|known| known == **name))
        {
            let known = names().map(str::to_owned).collect();
            return Err(Error::UnknownWorkload { name: name.clone(), known });
        }
        let is_wanted = |workload: &&&'w dyn Workload| {
            let all = self.workload.is_empty() || workload.is_control();
            all || self.workload.iter().any(|name| name == workload.name())
        };
        Ok(all.iter().filter(is_wanted).copied().collect())
    }

    /// True for a device of a backend asked for.
    pub fn wants_device(&self, device: &str) -> bool {
        let backend = backend(device);
        self.backend.is_empty() || self.backend.iter().any(|name| name == device || name == backend)
    }

    /// True for a mode and size asked for; `workload` decides for controls, which have their own.
    pub fn wants(&self, workload: &dyn Workload, mode: &str, size: usize) -> bool {
        if workload.is_control() {
            return true;
        }
        let mode =
            self.mode.is_empty() || self.mode.iter().any(|text| mode.contains(text.as_str()));
        mode && (self.size.is_empty() || self.size.contains(&size))
    }
}

/// `opencl` of `opencl:0`.
pub fn backend(device: &str) -> &str {
    device.split(':').next().unwrap_or(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_or_powers() {
        assert_eq!(size("1_000"), Ok(1000));
        assert_eq!(size("2^20"), Ok(1 << 20));
        for wrong in ["", "3^2", "2^64", "many", "-1"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Options::command().debug_assert();
        let parse = |words: &str| Options::try_parse_from(words.split(' '));
        assert!(parse("x --quick --full").is_err());
        assert!(parse("x --gate 5").is_err());
        assert!(parse("x --gate NaN --compare a").is_err());
        assert!(parse("x --page a --compare b").is_err());
        assert_eq!(parse("x --gate 5 --compare a").unwrap().gate, Some(5.0));
        assert_eq!(parse("x -w exp,scan -w sort").unwrap().workload, ["exp", "scan", "sort"]);
    }

    /// BENCH-01: the command checks options by its help, before this crate is compiled.
    #[test]
    fn the_help_of_the_command_has_every_option() {
        use clap::CommandFactory;
        let help = include_str!("../../../xtask/src/bench_matrix.rs");
        let line = |option: &clap::Arg| {
            let short = option.get_short().map_or(String::new(), |short| format!("-{short}, "));
            let value = option.get_action().takes_values();
            let value =
                option.get_value_names().filter(|_| value).map_or("", |names| names[0].as_str());
            format!("  {short}--{} {value}", option.get_long().unwrap_or_default())
        };
        let lines: Vec<String> = Options::command().get_arguments().map(line).collect();
        assert!(lines.len() > 10);
        for line in lines {
            assert!(help.lines().any(|of_help| of_help.starts_with(&line)), "{line}");
        }
        let of_help = help.lines().filter(|line| line.starts_with("  -")).count();
        let of_clap = Options::command().get_arguments().count();
        assert_eq!(of_help, of_clap + 1, "and --features, which is cargo's");
    }
}
