//! The command line of `folio_bench_matrix`: `cargo xtask bench-matrix`.
//!
//! Exit codes: 0, all went well; 1, a result was wrong, a row is over the gate, or no row was
//! measured; 2, what was asked for is not possible.

use clap::Parser;
use folio_bench_matrix::{execute, options::Options, workloads};
use std::process::ExitCode;

fn main() -> ExitCode {
    match execute(&Options::parse(), workloads::ALL) {
        Ok(outcome) => {
            print!("{}", outcome.text);
            if outcome.is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(why) => {
            eprintln!("bench-matrix: {why}");
            ExitCode::from(2)
        }
    }
}
