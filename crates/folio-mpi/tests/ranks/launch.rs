//! Starts this test program in several ranks.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the case that a process runs.
pub const CASE: &str = "FOLIO_MPI_CASE";

/// The case of `program`.
pub const PROGRAM: &str = "program";

/// The case of `joined_twice`.
pub const TWICE: &str = "twice";

/// A program that starts ranks.
pub struct Launch {
    program: &'static str,
    words: &'static [&'static str],
}

/// Open MPI's; it counts the machine's processors, and does not like to run as root.
pub const OPEN_MPI: Launch = Launch {
    program: "mpirun.openmpi",
    words: &[
        "--oversubscribe",
        "--allow-run-as-root",
        "--mca",
        "btl_base_warn_component_unused",
        "0",
    ],
};

/// MPICH's.
pub const MPICH: Launch = Launch { program: "mpiexec.mpich", words: &[] };

/// How a world has ended.
pub struct Outcome {
    pub is_well: bool,
    pub output: String,
}

/// Runs each case, and a program, in worlds of 1, 2 and 4 ranks.
pub fn in_worlds(launch: &Launch, library: &str) {
    for (ranks, case) in [1, 2, 4].into_iter().flat_map(|ranks| [(ranks, ""), (ranks, PROGRAM)]) {
        let outcome = run(launch, library, ranks, case);
        assert!(outcome.is_well, "{ranks} ranks: {}", outcome.output);
        for me in 0..ranks {
            let line = format!("rank {me} of {ranks} is well");
            assert!(outcome.output.contains(&line), "no '{line}' in {}", outcome.output);
        }
    }
}

/// Runs a case, or all of them, in one world.
pub fn run(launch: &Launch, library: &str, ranks: u32, case: &str) -> Outcome {
    let test = match case {
        TWICE => "joined_twice",
        PROGRAM => "program",
        _ => "rank",
    };
    let program = std::env::current_exe().expect("a program knows its file");
    let mut command = Command::new(launch.program);
    command.args(launch.words).args(["-n", &ranks.to_string()]).arg(program);
    command.args(["--exact", test, "--nocapture", "--test-threads", "1"]);
    command.env("FOLIO_MPI", library).env(CASE, case).stdin(Stdio::null());
    let ended = command.output();
    let ended = ended.unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo xtask test --setup` installs it", launch.program)
    });
    let text = [ended.stdout, ended.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    Outcome { is_well: ended.status.success(), output: text.concat() }
}

/// The library with the standard interface, which `cargo xtask test --setup` has unpacked into the
/// target folder.
pub fn standard() -> String {
    let program = std::env::current_exe().expect("a program knows its file");
    let target = program.ancestors().find(|folder| folder.join("mpich").is_dir());
    let found = target.and_then(|target| in_wheel(&target.join("mpich")));
    let found = found.unwrap_or_else(|| {
        panic!("no libmpi_abi.so.1 under target/mpich; `cargo xtask test --setup` unpacks it")
    });
    found.to_string_lossy().into_owned()
}

fn in_wheel(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let mut inside = files.map(|entry| entry.path().join("data/lib/libmpi_abi.so.1"));
    inside.find(|library| library.is_file())
}
