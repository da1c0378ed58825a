//! Calls to cargo, and where it puts what it builds.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tree;

/// `cargo` of the running toolchain, in the workspace's root.
pub fn cargo(root: &Path, args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root);
    command
}

/// The target folder in use.
pub fn target_dir(root: &Path) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root.join(dir),
        None => root.join("target"),
    }
}

/// True when the workspace has a crate of this name.
pub fn crate_exists(root: &Path, name: &str) -> bool {
    root.join("crates").join(name).join("Cargo.toml").is_file()
}

/// The number of processors, at least one.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The root and the target folder.
pub fn places() -> crate::Result<(PathBuf, PathBuf)> {
    let root = tree::root()?;
    let target = target_dir(&root);
    Ok((root, target))
}
