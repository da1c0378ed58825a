//! The packages that go to the registry, and whether each can be packed and built from its archive.

use std::path::Path;
use std::process::Command;

use crate::cargo::cargo;
use crate::json::Json;
use crate::{Result, process};

/// The packages of the workspace whose manifests do not say `publish = false`, as
/// `cargo metadata` describes them.
fn packages(root: &Path) -> Result<Vec<Json>> {
    let words = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let text = process::capture(&mut cargo(root, &words))?;
    let all = Json::parse(&text).ok_or("cargo metadata wrote no JSON")?;
    let Some(Json::List(all)) = all.get("packages") else {
        return Err("cargo metadata names no packages".to_owned());
    };
    let kept = |package: &&Json| package.get("publish") == Some(&Json::Null);
    Ok(all.iter().filter(kept).cloned().collect())
}

/// Packs every published package. Cargo takes them in the order of their dependencies and builds
/// each from its archive beside the archives of the others, which need not be on the registry.
///
/// Cargo keeps archives that it has unpacked, by the folder that they come from, their names and
/// versions. So that it does not build what an earlier run has packed, the folder is another one
/// each time.
pub fn check(root: &Path) -> Result<bool> {
    let target = root.join("target").join(format!("published-{}", std::process::id()));
    let mut command: Command = cargo(root, &["package", "--offline", "--allow-dirty", "--quiet"]);
    command.arg("--target-dir").arg(&target);
    for package in packages(root)? {
        command.args(["--package", package.text("name").unwrap_or_default()]);
    }
    let shown = process::show(&mut command);
    // What stays if that fails is in the way of nothing.
    let _ = std::fs::remove_dir_all(&target);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of these belong to other packages of the registry.
    const TAKEN: [&str; 2] = ["folio-core", "folio-cli"];

    fn published() -> Vec<Json> {
        let all = packages(&crate::tree::root().unwrap()).unwrap();
        assert!(all.len() > 10, "{} packages are published", all.len());
        all
    }

    fn dependencies(package: &Json) -> &[Json] {
        let Some(Json::List(all)) = package.get("dependencies") else {
            panic!("{package:?} has no list of dependencies");
        };
        all
    }

    #[test]
    fn published_packages_have_what_the_registry_shows() {
        for package in published() {
            let name = package.text("name").unwrap();
            for key in ["description", "license", "rust_version", "readme"] {
                assert!(package.text(key).is_some_and(|text| !text.is_empty()), "{name}: {key}");
            }
            for key in ["keywords", "categories"] {
                let Some(Json::List(words)) = package.get(key) else {
                    panic!("{name} has no list of {key}");
                };
                // The registry takes five at most.
                assert!((1..=5).contains(&words.len()), "{name}: {key}");
            }
            let folder = Path::new(package.text("manifest_path").unwrap()).parent().unwrap();
            assert!(folder.join(package.text("readme").unwrap()).is_file(), "{name}: readme");
        }
    }

    #[test]
    fn published_packages_take_no_name_of_others() {
        for package in published() {
            let name = package.text("name").unwrap().to_owned();
            assert!(!TAKEN.contains(&name.as_str()), "{name}");
            assert!(name == "folio" || name.starts_with("folio-"), "{name}");
        }
    }

    /// Tests of a package use those that depend on it: by a path alone, which cargo leaves out of
    /// the archive. With a version there would be no order in which to publish them.
    #[test]
    fn published_packages_need_published_ones_only() {
        let all = published();
        let name = |json: &Json| json.text("name").unwrap().to_owned();
        let names: Vec<String> = all.iter().map(name).collect();
        for package in &all {
            for needed in dependencies(package).iter().filter(|d| d.text("path").is_some()) {
                let pair = format!("{} needs {}", name(package), name(needed));
                let has_version = needed.text("req") != Some("*");
                let is_for_tests = needed.text("kind") == Some("dev");
                assert_eq!(has_version, !is_for_tests, "{pair}");
                assert!(is_for_tests || names.contains(&name(needed)), "{pair}");
            }
        }
    }
}
