//! The checked-in tree: where it is and which files it has.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// The workspace's root: the first folder upwards that has this crate in it.
pub fn root() -> Result<PathBuf> {
    let start = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => std::env::current_dir().map_err(|e| format!("no current folder: {e}"))?,
    };
    start
        .ancestors()
        .find(|dir| dir.join("xtask/Cargo.toml").is_file())
        .map(Path::to_owned)
        .ok_or_else(|| format!("{} is not inside the workspace", start.display()))
}

/// A file, as a rule of text.
pub struct File {
    /// Its path from the root, with `/`.
    pub path: String,
    /// Its contents; nothing for a picture and the like.
    pub text: String,
}

impl File {
    /// True for Rust sources.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// Every file that git tracks or would track; without git, every one outside `target`.
pub fn files(root: &Path) -> Result<Vec<File>> {
    let mut paths = git_files(root).unwrap_or_default();
    if paths.is_empty() {
        walk(root, root, &mut paths).map_err(|e| format!("reading the tree: {e}"))?;
    }
    paths.sort();
    paths.dedup();
    let read = |path: String| {
        let bytes = std::fs::read(root.join(&path)).ok()?;
        Some(File { path, text: String::from_utf8(bytes).unwrap_or_default() })
    };
    Ok(paths.into_iter().filter_map(read).collect())
}

/// Writes a file beside the place and renames it: at any moment the place has the old text or the
/// new one.
pub fn replace(path: &Path, text: &str) -> Result<()> {
    let told = |e: std::io::Error| format!("{}: {e}", path.display());
    // A link stays, and leads to the new text.
    let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let fresh = place.with_extension(format!("{}.new", std::process::id()));
    let mut file = std::fs::File::create_new(&fresh).map_err(told)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| std::fs::rename(&fresh, &place));
    written.map_err(|e| {
        let _ = std::fs::remove_file(&fresh);
        told(e)
    })
}

fn git_files(root: &Path) -> Option<Vec<String>> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(list).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().map(str::to_owned).collect())
}

fn walk(root: &Path, dir: &Path, paths: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type()?.is_dir() {
            if name != "target" && name != ".git" {
                walk(root, &path, paths)?;
            }
        } else if let Ok(relative) = path.strip_prefix(root) {
            paths.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_and_walk_find_this_file() {
        let root = root().unwrap();
        let here = "xtask/src/tree.rs";
        assert!(files(&root).unwrap().iter().any(|f| f.path == here));
        let mut walked = Vec::new();
        walk(&root, &root, &mut walked).unwrap();
        assert!(walked.iter().any(|path| path == here));
        assert!(!walked.iter().any(|path| path.starts_with("target/")));
    }
}
