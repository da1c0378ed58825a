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

use clap::Parser;
use std::process::ExitCode;

/// Runs the command line with these workloads. 0: all went well; 1: a result was wrong, or the gate
/// failed; 2: what was asked for is not possible.
pub fn command(registry: &[&dyn bench::Workload]) -> ExitCode {
    let options = options::Options::parse();
    match run::run(&options, registry, None) {
        Ok(m) => { println!("{}", m.json()); ExitCode::SUCCESS }
        Err(why) => { eprintln!("bench-matrix: {why}"); ExitCode::from(2) }
    }
}
