//! `cargo xtask bundle`: records what a run of a program compiles, and packs it.

use std::path::Path;
use std::process::Command;

use crate::args::Args;
use crate::cargo::{self, cargo};
use crate::{Result, process};

/// The text of `--help`.
pub const HELP: &str = "\
cargo xtask bundle FILE -- PROGRAM [WORD]..

Runs PROGRAM with an empty cache of compiled kernels (FOLIO_CACHE_DIR), and packs what it has compiled
into FILE, which the same program can load on a machine that has a driver and no compiler:
CudaBackend::new().bundle(..). The run must launch every kernel that will be needed, on the kind of
device that will be there. Outside of this workspace: FOLIO_CACHE_DIR, and `folio bundle` (folio-cli),
which also packs several directories into one file.";

/// Runs the program, then the packer.
pub fn run(mut args: Args) -> Result<bool> {
    let program = args.after_dashes();
    let files = args.finish()?;
    let ([file], [name, words @ ..]) = (&*files, &*program) else {
        return Err("it takes a file, `--`, and a program (see --help)".to_owned());
    };
    let (root, target) = cargo::places()?;
    let folder = target.join("bundle");
    if !recorded(Command::new(name).args(words), &folder)? {
        return Ok(false);
    }
    let file = std::path::absolute(file).map_err(|e| format!("{file}: {e}"))?;
    let run = ["run", "--quiet", "--package", "folio-compute-cli", "--no-default-features"];
    let words = [&run[..], &["--", "bundle"]].concat();
    process::show(cargo(&root, &words).arg(file).arg(folder))
}

/// Runs a program with an empty cache there; whether it went well. The program has to compile
/// something.
fn recorded(program: &mut Command, folder: &Path) -> Result<bool> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    if !process::show(program.env("FOLIO_CACHE_DIR", folder).env_remove("FOLIO_CACHE"))? {
        return Ok(false);
    }
    match folder.exists() {
        true => Ok(true),
        false => Err("the program has compiled nothing".to_owned()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A program has an empty cache, where it is told, whatever the environment says; one that
    /// fails is told, and one that compiles nothing.
    #[test]
    fn runs_are_recorded() {
        let folder = std::env::temp_dir().join(format!("folio-recorded-{}", std::process::id()));
        let shell = |text: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", text]).env("FOLIO_CACHE", "off").env("FOLIO_CACHE_DIR", "/nowhere");
            recorded(&mut shell, &folder)
        };
        let compiles = "test -z \"$FOLIO_CACHE\" && mkdir \"$FOLIO_CACHE_DIR\"";
        // The second time, what the first has left is gone.
        assert_eq!([shell(compiles), shell(compiles)], [Ok(true), Ok(true)]);
        assert!(folder.exists());
        assert_eq!(shell("exit 3"), Ok(false));
        assert_eq!(shell("true"), Err("the program has compiled nothing".to_owned()));
        assert!(!folder.exists());
    }
}
