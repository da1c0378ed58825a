//! What is saved: the file `matrix.json`. `docs/benchmarks/schema.json` describes it, and is made
//! of these types.

use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The format of the file. It changes with whatever a reader must know of.
pub const FORMAT: u64 = 1;

/// One run of the matrix.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    /// The format of this file.
    pub format: u64,
    /// The program that wrote it, with its version.
    pub program: String,
    /// When it began, UTC.
    pub started: String,
    /// How long all of it took, in seconds.
    pub seconds: f64,
    /// The options that it was given.
    pub options: Vec<String>,
    /// Of the data.
    pub seed: u64,
    /// The source that was measured.
    pub source: Source,
    /// The host.
    pub machine: Machine,
    /// The devices that were measured.
    pub devices: Vec<Device>,
    /// What was measured.
    pub rows: Vec<Row>,
    /// What was not, with the reason.
    pub left_out: Vec<LeftOut>,
    /// What computed something wrong, or failed. Such rows have no figure.
    pub failed: Vec<LeftOut>,
}

/// Source code and compiler.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The commit, if it is known.
    pub commit: Option<String>,
    /// There were changes besides.
    pub is_changed: bool,
    /// Of the compiler.
    pub rustc: Option<String>,
}

/// A host.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Operating system and its version.
    pub system: String,
    /// Architecture.
    pub architecture: String,
    /// The processor's name.
    pub processor: String,
    /// Threads that it runs at once.
    pub threads: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of the processor's last cache; 0 if unknown.
    pub cache: u64,
}

/// A device.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// As Folio names it, such as `opencl:0`.
    pub name: String,
    /// The backend.
    pub backend: String,
    /// The product's name.
    pub product: String,
    /// The driver and its version.
    pub driver: String,
    /// What hand-written code uses.
    pub by_hand: String,
    /// It is a processor, and its memory the host's.
    pub is_cpu: bool,
    /// Bytes of its last cache; 0 if unknown.
    pub cache: u64,
    /// What probes reached.
    pub peaks: Peaks,
}

/// What hand-written probes reached on a device, the best of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peaks {
    /// Bytes a second beyond the caches: of a triad, an update or a sum, the largest.
    pub bytes: f64,
    /// Operations on `f32` a second; a fused one counts as two.
    pub flops: f64,
    /// Launches a second, of nearly nothing, with one wait for many.
    pub launches: f64,
    /// Bytes a second from page-locked memory to the device's.
    pub upload: f64,
    /// Bytes a second from the device's memory to page-locked memory.
    pub download: f64,
    /// Bytes of each array of the bandwidth's probe.
    pub working_set: f64,
}

/// What one run of a row does, from which its part of a peak follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Bytes that must be read or written in the device's memory.
    pub bytes: f64,
    /// Operations on `f32`.
    pub flops: f64,
    /// Launches.
    pub launches: f64,
    /// Bytes to the device.
    pub upload: f64,
    /// Bytes from the device.
    pub download: f64,
    /// Bytes that are in use; bytes that fit the caches have no part of the memory's bandwidth.
    pub working_set: f64,
}

/// One row: a workload in a mode and size on a device.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// The workload's name.
    pub workload: String,
    /// How it is done.
    pub mode: String,
    /// How large it is.
    pub size: u64,
    /// What the size counts.
    pub unit: String,
    /// The device's name.
    pub device: String,
    /// What ours is compared with.
    pub against: String,
    /// Both sides are the same code.
    pub is_control: bool,
    /// Runs in a sample; times are of one.
    pub times: u64,
    /// Rounds of each pass. A pass begins anew, with fresh data, some time after the one before.
    pub passes: Vec<usize>,
    /// Nanoseconds of each round, ours.
    pub ours: Vec<f64>,
    /// Nanoseconds of each round, by hand.
    pub theirs: Vec<f64>,
    /// Median nanoseconds, ours.
    pub ours_ns: f64,
    /// Median nanoseconds, by hand.
    pub theirs_ns: f64,
    /// Ours by theirs, round by round: below 1 we are faster.
    pub ratio: Estimate,
    /// What one run does.
    pub work: Work,
    /// Our part of what probes reached.
    pub peak: Option<Part>,
    /// Against the saved run that this one was compared with.
    pub saved: Option<Saved>,
    /// By how much results may differ, by their size.
    #[serde(default)]
    pub tolerance: f64,
    /// A summary of our results after one run, which those of peers must equal.
    #[serde(default)]
    pub check: Vec<f64>,
    /// The opponents whose results agree with ours, the fastest one first.
    #[serde(default)]
    pub peers: Vec<Peer>,
}

/// A library that does the work of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// The library and its form.
    pub name: String,
    /// The library's version.
    pub version: String,
    /// Median nanoseconds of one run.
    pub ns: f64,
    /// Our time by its time: below 1 we are faster.
    pub ratio: f64,
    /// Nanoseconds of each round.
    pub samples: Vec<f64>,
}

/// A median, with an interval that holds it with 95 % probability and the medians of all passes,
/// and the middle half of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The median.
    pub median: f64,
    /// The lower end of the median's interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// A quarter of samples is below.
    pub quarter: f64,
    /// A quarter is above.
    pub three_quarters: f64,
}

/// A part of a peak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Which: `bandwidth`, `arithmetic`, `launches`, `upload`, `download`.
    pub of: String,
    /// How much of it we reach, in percent.
    pub percent: f64,
}

/// Against a saved run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saved {
    /// Our time by our saved time, with the machine's drift taken out.
    pub ours: f64,
    /// The same of the hand-written side.
    pub theirs: f64,
    /// The ratio by the saved ratio.
    pub ratio: f64,
    /// Changes up to this factor are noise.
    pub noise: f64,
    /// What changed beyond the noise.
    pub change: Change,
}

/// What changed beyond the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Change {
    /// Nothing.
    None,
    /// We are slower.
    Slower,
    /// We are faster.
    Faster,
    /// The hand-written side is slower: the machine, the driver, or the baseline itself.
    BaselineSlower,
    /// The hand-written side is faster.
    BaselineFaster,
}

/// Something without a figure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// A backend, a workload, or a row.
    pub what: String,
    /// Why.
    pub reason: String,
}

impl Row {
    /// Equal for the same row of two runs.
    pub fn key(&self) -> (&str, &str, &str, u64) {
        (&self.device, &self.workload, &self.mode, self.size)
    }
}

impl Matrix {
    /// Reads a saved one.
    pub fn load(path: &Path) -> Result<Matrix> {
        let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
        let not = |why| Error::NotAMatrix { path: path.to_owned(), why };
        // The format comes first: what else another one has is unknown.
        #[derive(Deserialize)]
        struct Head {
            format: u64,
        }
        let Head { format } = serde_json::from_str(&text).map_err(not)?;
        if format != FORMAT {
            let path = path.to_owned();
            return Err(Error::Version { path, found: format, expected: FORMAT });
        }
        serde_json::from_str(&text).map_err(not)
    }

    /// As text.
    pub fn json(&self) -> String {
        // It has neither maps with odd keys nor anything that fails to serialise.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// The schema of the file.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Matrix);
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}
