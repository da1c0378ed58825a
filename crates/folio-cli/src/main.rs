//! The program `folio`: which devices there are, what is missing, what a program did.

mod cache;
mod devices;
mod doctor;
mod draw;
mod explain;
mod interrupt;
mod links;
mod output;
mod trace;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Devices, diagnosis, traces and caches of Folio.
#[derive(Parser)]
#[command(name = "folio", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The devices that programs find here, and why backends have none.
    Devices {
        /// As JSON.
        #[arg(long)]
        json: bool,
        /// Measures how fast bytes move between the host and each device, and between devices.
        #[arg(long)]
        measure: bool,
    },
    /// What is missing for each backend, whether the cache works, and a self-test of each device.
    Doctor {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Runs a program that is built with Folio's feature `trace`, and writes what it did over time:
    /// a file for <https://ui.perfetto.dev> and chrome://tracing.
    Trace {
        /// The file to write.
        #[arg(short, long, default_value = "trace.json")]
        out: PathBuf,
        /// The program and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<OsString>,
    },
    /// What commands in a trace moved, allocated, checked and waited for.
    Explain {
        /// A file that `folio trace` wrote.
        file: PathBuf,
        /// Only commands with this label.
        label: Option<String>,
        /// As JSON.
        #[arg(long)]
        json: bool,
        /// All of them as a graph for Graphviz: what each waited for.
        #[arg(long, conflicts_with_all = ["json", "label"])]
        dot: bool,
    },
    /// A picture of a graph in DOT (`Graph::dot`, `folio explain --dot`), by Graphviz.
    Draw {
        /// The DOT file.
        file: PathBuf,
        /// The picture to write: SVG, or what else its name ends with and Graphviz knows.
        #[arg(short, long, default_value = "graph.svg")]
        out: PathBuf,
        /// Graphviz's program.
        #[arg(long, default_value = "dot")]
        dot: OsString,
    },
    /// Packs compiled programs for machines without the compiler.
    Bundle {
        /// The file to write.
        file: PathBuf,
        /// What `FOLIO_CACHE_DIR` named when programs ran.
        #[arg(required = true)]
        directories: Vec<PathBuf>,
    },
    /// The cache of compiled programs.
    Cache {
        #[command(subcommand)]
        what: CacheCommand,
    },
}

#[derive(Subcommand)]
enum CacheCommand {
    /// What is kept, the last used first.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// How much is kept, and where.
    Size,
    /// Removes all of it.
    Clear,
}

/// What went wrong, for a person to read.
type Error = Box<dyn std::error::Error>;

/// Prints a line. A reader that has gone is no failure.
fn say(line: impl std::fmt::Display) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Devices { json, measure } => {
            devices::run(json, measure).map(|()| ExitCode::SUCCESS)
        }
        Command::Doctor { json } => doctor::run(json),
        Command::Trace { out, program } => trace::run(&out, &program),
        Command::Explain { file, dot: true, .. } => explain::dot(&file).map(|()| ExitCode::SUCCESS),
        Command::Explain { file, label, json, .. } => {
            explain::run(&file, label.as_deref(), json).map(|()| ExitCode::SUCCESS)
        }
        Command::Draw { file, out, dot } => {
            draw::run(&file, &out, &dot).map(|()| ExitCode::SUCCESS)
        }
        Command::Bundle { file, directories } => {
            cache::pack(&file, &directories).map(|()| ExitCode::SUCCESS)
        }
        Command::Cache { what } => {
            let done = match what {
                CacheCommand::List { json } => cache::list(json),
                CacheCommand::Size => cache::size(),
                CacheCommand::Clear => cache::clear(),
            };
            done.map(|()| ExitCode::SUCCESS)
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("folio: {error}");
        ExitCode::from(2)
    })
}
