//! Calls to cargo, and where it puts what it builds.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::json::Json;
use crate::tree;

/// `cargo` of the running toolchain, in the workspace's root.
pub fn cargo(root: &Path, args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root);
    command
}

/// The packages that `cargo xtask test` builds. Benchmarks have no tests; the matrix has a step of
/// its own in `cargo xtask ci`, since what both alone need takes long to compile.
pub const TESTED: [&str; 5] =
    ["--workspace", "--exclude", "folio-benches", "--exclude", "folio-bench-matrix"];

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

/// Reads the name and the file of a target of this kind out of one of cargo's messages.
pub fn executable(line: &str, kind: &str) -> Option<(String, PathBuf)> {
    let message = Json::parse(line)?;
    let target = message.get("target")?;
    let is_wanted = target.get("kind")? == &Json::List(vec![Json::Text(kind.to_owned())]);
    let file = message.text("executable")?;
    is_wanted.then(|| target.text("name").map(|name| (name.to_owned(), file.into())))?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packages that are not built with the tests have none.
    #[test]
    fn benchmarks_have_no_tests() {
        let files = tree::files(&tree::root().unwrap()).unwrap();
        let benches =
            files.iter().filter(|file| file.is_rust() && file.path.starts_with("benches"));
        assert!(benches.clone().count() > 10);
        for file in benches {
            let tests = ["#[test]", "/// ```", "//! ```"].map(|start| file.text.contains(start));
            assert_eq!(tests, [false; 3], "{}", file.path);
        }
    }

    /// A library that is not compiled for tests has none: they would never run.
    #[test]
    fn libraries_without_tests_have_none() {
        let files = tree::files(&tree::root().unwrap()).unwrap();
        let says_so = |text: &str| text.contains("[lib]") && text.contains("\ntest = false");
        let folders = files.iter().filter(|file| says_so(&file.text));
        let folders: Vec<_> = folders.filter_map(|f| f.path.strip_suffix("Cargo.toml")).collect();
        assert!(folders.len() >= 4, "{folders:?}");
        for folder in folders {
            let own = format!("{folder}src/");
            for file in files.iter().filter(|f| f.is_rust() && f.path.starts_with(&own)) {
                assert!(!file.text.contains("#[cfg(test)]"), "{}", file.path);
            }
        }
    }

    #[test]
    fn executables_are_found_in_messages() {
        let line = |kind: &str| {
            format!(
                r#"{{"executable":"/t/quickstart","target":{{"kind":["{kind}"],"name":"quickstart"}}}}"#
            )
        };
        assert_eq!(executable(&line("example"), "example").unwrap().0, "quickstart");
        assert_eq!(executable(&line("bin"), "example"), None);
    }
}
