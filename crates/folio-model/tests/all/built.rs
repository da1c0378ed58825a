//! Programs that tests compile with the crates that the tests are built of: cargo says where these
//! are, and only the program is compiled.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The crates that programs use.
const CRATES: [&str; 2] = ["folio", "folio_model"];

/// Each crate's library, as cargo has it for the tests; an error says what went wrong.
fn libraries() -> Result<&'static [String; 2], &'static str> {
    static FOUND: OnceLock<Result<[String; 2], String>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref().map_err(String::as_str)
}

fn find() -> Result<[String; 2], String> {
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    // With the features of what `cargo xtask test` builds: there, this finds all of it built.
    build.args(["test", "--no-run", "--quiet", "--offline", "--workspace", "--test", "leaks"]);
    build.args(["--exclude", "folio-benches", "--exclude", "folio-bench-matrix"]);
    let ran = build.args(["--message-format", "json"]).output();
    let ran = ran.map_err(|error| format!("{build:?}: {error}"))?;
    if !ran.status.success() {
        return Err(format!("{build:?}:\n{}", String::from_utf8_lossy(&ran.stderr)));
    }
    let messages = String::from_utf8_lossy(&ran.stdout).replace("\\\\", "/");
    let of = |name: &str| {
        let start = format!("/deps/lib{name}-");
        let is_library = |word: &&str| word.contains(&start) && word.ends_with(".rlib");
        messages.split('"').find(is_library).map(str::to_owned)
    };
    match CRATES.map(of) {
        [Some(folio), Some(model)] => Ok([folio, model]),
        found => Err(format!("{found:?} of {CRATES:?}:\n{messages}")),
    }
}

/// The compiler, told of all but the program's own flags.
pub fn rustc(program: &Path) -> Result<Command, String> {
    let mut command = Command::new("rustc");
    command.arg(program).args(["--edition", "2024", "-C", "lto=off", "-C", "embed-bitcode=no"]);
    for (name, library) in CRATES.iter().zip(libraries()?) {
        let folder = library.rsplit_once('/').map_or(".", |(folder, _)| folder);
        command.arg("--extern").arg(format!("{name}={library}"));
        command.arg("-L").arg(format!("dependency={folder}"));
    }
    // As what it is linked with has been compiled.
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    command.args(flags.split_whitespace());
    Ok(command)
}

/// Runs the compiler; an error is what it said.
pub fn compile(command: &mut Command) -> Result<(), String> {
    let ran = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match ran.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
    }
}
