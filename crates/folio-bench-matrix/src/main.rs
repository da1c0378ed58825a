//! The command: see `folio_bench_matrix`.

use std::process::ExitCode;

fn main() -> ExitCode {
    folio_bench_matrix::command(folio_bench_matrix::workloads::ALL)
}
