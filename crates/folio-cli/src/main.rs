//! The program `folio`: which devices there are, what is missing, what a program did.

mod cache;
mod devices;
mod doctor;
mod draw;
mod explain;
mod interrupt;
mod links;
mod output;
mod replay;
mod report;
mod terminal;
mod trace;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

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
        /// Writes a file to send along with a question: the machine, its devices, what was found.
        /// Names of people, machines and home folders are not in it.
        #[arg(long, value_name = "FILE")]
        report: Option<PathBuf>,
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
    /// The commands in a trace: a table, and what each moved, allocated, checked and waited for.
    Explain {
        /// A file that `folio trace` wrote.
        file: PathBuf,
        #[command(flatten)]
        wish: explain::Wish,
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
    /// Runs a launch again that failed where `FOLIO_CAPSULE` named a folder: item by item, on the
    /// processor. Says which item fails and where, and compares bits with those of the device.
    Replay {
        /// A capsule, or a folder of capsules.
        path: PathBuf,
        /// Runs this item alone, and shows the memory that it reads and writes: `3`, `3,4`.
        #[arg(long, value_name = "POSITION", value_parser = replay::position)]
        item: Option<replay::Position>,
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
    /// Removes all of it, or what was not used for a while. Asks before it does.
    Clear {
        /// Only programs that were not used for so long: `90m`, `12h`, `30d`.
        #[arg(long, value_name = "AGE", value_parser = cache::age)]
        older_than: Option<Duration>,
        /// Does not ask.
        #[arg(long)]
        yes: bool,
    },
}

/// An error, for a person to read.
type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Devices { json, measure } => {
            devices::run(json, measure).map(|()| ExitCode::SUCCESS)
        }
        Command::Doctor { json, report } => doctor::run(json, report.as_deref()),
        Command::Trace { out, program } => trace::run(&out, &program),
        Command::Explain { file, wish } => explain::run(&file, &wish).map(|()| ExitCode::SUCCESS),
        Command::Draw { file, out, dot } => {
            draw::run(&file, &out, &dot).map(|()| ExitCode::SUCCESS)
        }
        Command::Replay { path, item } => replay::run(&path, item.as_ref()),
        Command::Bundle { file, directories } => {
            cache::pack(&file, &directories).map(|()| ExitCode::SUCCESS)
        }
        Command::Cache { what } => {
            let done = match what {
                CacheCommand::List { json } => cache::list(json),
                CacheCommand::Size => cache::size(),
                CacheCommand::Clear { older_than, yes } => cache::clear(older_than, yes),
            };
            done.map(|()| ExitCode::SUCCESS)
        }
    };
    done.unwrap_or_else(|error| {
        terminal::complain(error);
        ExitCode::from(2)
    })
}
