//! `cargo xtask bundle`: records what a run of a program compiles, and packs it.

use std::process::Command;

use crate::args::Args;
use crate::cargo::{self, cargo};
use crate::{Result, process};

/// What `--help` says.
pub const HELP: &str = "\
cargo xtask bundle FILE -- PROGRAM [WORD]..

Runs PROGRAM with an empty cache of compiled kernels (FOLIO_CACHE_DIR), and packs what it has compiled
into FILE, which the same program can load on a machine that has a driver and no compiler:
CudaBackend::new().bundle(..). The run must launch every kernel that will be needed, on the kind of
device that will be there. Outside of this workspace: FOLIO_CACHE_DIR, and the program folio-bundle of
folio-cache, which also packs several directories into one file.";

/// Runs the program, then the packer.
pub fn run(mut args: Args) -> Result<bool> {
    let program = args.after_dashes();
    let files = args.finish()?;
    let ([file], [name, words @ ..]) = (&*files, &*program) else {
        return Err("it takes a file, `--`, and a program (see --help)".to_owned());
    };
    let (root, target) = cargo::places()?;
    let folder = target.join("bundle");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let mut recorded = Command::new(name);
    recorded.args(words).env("FOLIO_CACHE_DIR", &folder).env_remove("FOLIO_CACHE");
    if !process::show(&mut recorded)? {
        return Ok(false);
    }
    let file = std::path::absolute(file).map_err(|e| format!("{file}: {e}"))?;
    let words = ["run", "--quiet", "--package", "folio-cache", "--bin", "folio-bundle", "--"];
    process::show(cargo(&root, &words).arg(file).arg(folder))
}
