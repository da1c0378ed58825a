//! The matrix of benchmarks: workloads x backends x sizes x modes, each beside hand-written code on
//! the raw API in the same run. `cargo xtask bench-matrix` runs it; `docs/guide/bench-matrix.md`
//! explains what it prints.
//!
//! [`workloads`] has a file for each workload, with its kernels by way of Folio, in rayon, and in C
//! for drivers. [`devices`] opens each device twice, [`probe`] finds what it reaches at best,
//! [`measure`] times both sides in turns and checks their results, [`run`] decides what is measured
//! and for how long. [`record`] is what is saved, [`compare`] what changed since a saved run, and
//! `output` what a person sees.

pub mod bench;
pub mod compare;
pub mod devices;
pub mod error;
pub mod hand;
pub mod machine;
pub mod measure;
pub mod options;
pub mod output;
pub mod probe;
pub mod record;
pub mod run;
pub mod stats;
pub mod workloads;

#[cfg(test)]
mod tests;

use bench::Workload;
use clap::Parser;
use error::Result;
use options::Options;
use record::Matrix;
use std::process::ExitCode;

/// Runs the command line with these workloads. 0: all went well; 1: a result was wrong, or a row is
/// over the gate; 2: what was asked for is not possible.
pub fn command(registry: &[&dyn Workload]) -> ExitCode {
    match execute(&Options::parse(), registry) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("bench-matrix: {why}");
            ExitCode::from(2)
        }
    }
}

/// Everything that can be wrong is found before anything is measured.
fn execute(options: &Options, registry: &[&dyn Workload]) -> Result<bool> {
    if options.list {
        print!("{}", list(options, registry)?);
        return Ok(true);
    }
    let saved = options.compare.as_deref().map(Matrix::load).transpose()?;
    output::files::check(&options.out)?;
    let matrix = run::run(options, registry, saved.as_ref())?;
    output::files::write_somewhere(&matrix, &options.out, options.gate)?;
    let table = output::table::table(&matrix, options.gate);
    if options.json {
        println!("{}", matrix.json());
    } else {
        println!("{table}");
        println!("written: {}", options.out.join("index.html").display());
    }
    let over = options.gate.map_or(0, |percent| compare::over_gate(&matrix, percent).len());
    Ok(matrix.failed.is_empty() && over == 0)
}

/// The workloads and devices.
fn list(options: &Options, registry: &[&dyn Workload]) -> Result<String> {
    let mut text = String::from("workloads:\n");
    for workload in options.workloads(registry)? {
        text += &format!("  {:<12} {}\n", workload.name(), workload.about());
        let modes = workload.modes().iter().filter(|mode| !mode.is_empty());
        text.extend(modes.map(|mode| format!("  {:<12}   {mode}\n", "")));
    }
    let rt = folio::runtime()?;
    let (found, left_out) = devices::find(&rt, options)?;
    text += "devices:\n";
    text.extend(found.iter().map(|d| format!("  {:<12} {}\n", d.name(), d.info().name.trim())));
    text.extend(left_out.iter().map(|one| format!("  {:<12} left out: {}\n", one.what, one.reason)));
    Ok(text)
}
