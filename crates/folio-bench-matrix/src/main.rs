//! The command line of `folio_bench_matrix`: `cargo xtask bench-matrix`.
//!
//! Exit codes: 0, all went well; 1, a result was wrong, a row is over the gate, or no row was
//! measured; 2, what was asked for is not possible.

use clap::Parser;
use folio_bench_matrix::output::terminal::{coloured, has_colours};
use folio_bench_matrix::{execute, options::Options, peers, workloads};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == peers::rust::WORD) {
        // The matrix that asks sees that the answers end.
        return if peers::rust::serve(std::io::stdin().lock(), std::io::stdout().lock()).is_ok() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let options = Options::parse();
    match execute(&options, workloads::ALL) {
        Ok(outcome) => {
            show(&outcome.text, !options.json);
            if outcome.is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(why) => {
            eprintln!("bench-matrix: {why}");
            ExitCode::from(2)
        }
    }
}

/// Writes to standard output: a table has its failures in red where the terminal shows colours.
fn show(text: &str, is_table: bool) {
    let mut out = std::io::stdout();
    let has_colours = is_table && has_colours(|name| std::env::var_os(name), out.is_terminal());
    let text = if has_colours { coloured(text) } else { text.to_owned() };
    // A reader such as `head` may have gone: then there is no one to tell.
    let _ = out.write_all(text.as_bytes());
}
