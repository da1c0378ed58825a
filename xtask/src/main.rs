//! The workspace's own commands, run as `cargo xtask COMMAND`.
//!
//! Plain Rust without dependencies, so that a fresh machine needs nothing but a toolchain.

mod args;
mod backends;
mod bench_matrix;
mod bundle;
mod cargo;
mod ci;
mod doctests;
mod examples;
mod gpu_test;
mod invariants;
mod items;
mod json;
mod junit;
mod lex;
mod loom;
mod nextest;
mod outcome;
mod process;
mod prose;
mod published;
mod runner;
mod sentences;
mod setup;
mod soak;
mod soak_state;
mod spec;
mod suites;
mod test;
mod tidy;
mod tree;
mod wrap;

use std::process::ExitCode;

/// An error, for a person to read.
type Error = String;
type Result<T> = std::result::Result<T, Error>;

const HELP: &str = "\
cargo xtask COMMAND [OPTIONS]

  test          run every test; with --setup, first install what the tests need
  ci            everything that must hold before a change is merged, with the minutes of each step
  gpu-test      the tests that use NVIDIA GPUs, packed for a machine without Rust
  bundle        what a run of a program compiles, in a file for machines without the compiler
  soak          the random suites with big counts, resumable
  bench-matrix  workloads on backends, each beside hand-written code, as a table, plots and a page
  spec          which test proves which requirement of docs/spec.md
  tidy          house rules: SAFETY comments, unfinished code, documents, sizes

`cargo xtask COMMAND --help` explains one.";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let args = args::Args::new(words);
    let (help, run): (&str, fn(args::Args) -> Result<bool>) = match name.as_str() {
        "test" => (test::HELP, test::run),
        "ci" => (ci::HELP, ci::run),
        "gpu-test" => (gpu_test::HELP, gpu_test::run),
        "bundle" => (bundle::HELP, bundle::run),
        "soak" => (soak::HELP, soak::run),
        "bench-matrix" => (bench_matrix::HELP, bench_matrix::run),
        "spec" => (spec::HELP, spec::run),
        "tidy" => (tidy::HELP, tidy::run),
        "" | "help" | "--help" | "-h" => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        other => {
            eprintln!("xtask: no command '{other}'\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    if args.wants_help() {
        println!("{help}");
        return ExitCode::SUCCESS;
    }
    match run(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("xtask {name}: {why}");
            ExitCode::from(2)
        }
    }
}
