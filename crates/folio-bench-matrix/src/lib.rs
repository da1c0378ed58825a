//! The matrix of benchmarks: workloads x backends x sizes x modes, each beside hand-written code on
//! the raw API in the same run. `cargo xtask bench-matrix` runs it; `docs/guide/bench-matrix.md`
//! explains what it prints.
//!
//! [`workloads`] has a file for each workload, with its kernels by way of Folio, in rayon, and in C
//! for drivers. [`devices`] opens each device twice, [`probe`] finds what it reaches at best,
//! [`measure`] times both sides in turns and checks their results, [`run`] decides what is measured
//! and for how long. [`peers`] are the libraries that a user would take instead. [`record`] is what
//! is saved, [`compare`] what changed since a saved run, and `output` what a person sees.

pub mod bench;
pub mod compare;
pub mod devices;
pub mod error;
pub mod hand;
pub mod machine;
pub mod measure;
pub mod options;
pub mod output;
pub mod peers;
pub mod probe;
pub mod record;
pub mod run;
pub mod stats;
pub mod workloads;

#[cfg(test)]
mod tests;

use bench::Workload;
use error::Result;
use options::Options;
use record::Matrix;

/// The outcome of a run of the command.
pub struct Outcome {
    /// For standard output.
    pub text: String,
    /// There are rows, no result was wrong, and no row is over the gate.
    pub is_good: bool,
}

/// Runs the command with these workloads. Errors of its options are found before anything is
/// measured.
pub fn execute(options: &Options, registry: &[&dyn Workload]) -> Result<Outcome> {
    if options.list {
        return Ok(Outcome { text: list(options, registry)?, is_good: true });
    }
    if let Some(path) = &options.page {
        let saved = Matrix::load(path)?;
        output::files::check(&options.out)?;
        return written(&saved, options);
    }
    let saved = options.compare.as_deref().map(Matrix::load).transpose()?;
    output::files::check(&options.out)?;
    let peers = if options.peers { peers::program::all(options)? } else { Vec::new() };
    let mut matrix = run::run(options, registry, saved.as_ref())?;
    peers::challenge(&mut matrix, &peers, options);
    let outcome = written(&matrix, options)?;
    let over = options.gate.map_or(0, |percent| compare::over_gate(&matrix, percent).len());
    let has_rows = matrix.rows.iter().any(|row| !row.is_control);
    Ok(Outcome { is_good: has_rows && matrix.failed.is_empty() && over == 0, ..outcome })
}

/// Writes all files of a matrix, and says where they are.
fn written(matrix: &Matrix, options: &Options) -> Result<Outcome> {
    output::files::write_somewhere(matrix, &options.out, options.gate)?;
    let text = if options.json {
        matrix.json() + "\n"
    } else {
        let place = options.out.join("index.html");
        let table = output::table::table(matrix, options.gate);
        format!("{table}\nwritten: {}\n", place.display())
    };
    Ok(Outcome { text, is_good: true })
}

/// The workloads and devices.
fn list(options: &Options, registry: &[&dyn Workload]) -> Result<String> {
    let mut text = String::from("workloads:\n");
    for workload in options.workloads(registry)? {
        text += &format!("  {:<12} {}\n", workload.name(), workload.about());
        let modes = workload.modes().iter().filter(|mode| !mode.is_empty());
        text.extend(modes.map(|mode| format!("  {:<12}   {mode}\n", "")));
    }
    let rt = devices::runtime()?;
    let (found, left_out) = devices::find(&rt, options)?;
    text += "devices:\n";
    text.extend(found.iter().map(|d| format!("  {:<12} {}\n", d.name(), d.info().name.trim())));
    text.extend(
        left_out.iter().map(|one| format!("  {:<12} left out: {}\n", one.what, one.reason)),
    );
    Ok(text)
}
