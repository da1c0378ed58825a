//! The packages that go to the registry: whether each can be packed, and compiles from its archive,
//! and whether the README's program runs with nothing but the archives.

use std::path::{Path, PathBuf};
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

/// The README's program, as a package beside the archives.
const PROGRAM: &str = "program";

/// Packs every published package, and checks each as its archive has it, beside the archives of
/// the others, which need not be on the registry. Crates of others have been checked by clippy
/// before, and are not checked anew. Then runs the README's program.
pub fn check(root: &Path, target: &Path) -> Result<bool> {
    let folder = target.join("published");
    // Mostly there is none.
    let _ = std::fs::remove_dir_all(&folder);
    let packages = packages(root)?;
    let names: Vec<&str> = packages.iter().filter_map(|package| package.text("name")).collect();
    let words = ["package", "--offline", "--allow-dirty", "--quiet", "--no-verify"];
    let mut pack = cargo(root, &words);
    pack.arg("--target-dir").arg(&folder);
    if !process::show(pack.args(names.iter().flat_map(|name| ["--package", name])))? {
        return Ok(false);
    }
    let unpacked = unpack(root, &folder, &packages)?;
    for name in names {
        let mut check = cargo(&unpacked, &["check", "--offline", "--quiet", "--package", name]);
        if !process::show(check.env("CARGO_TARGET_DIR", target))? {
            return Ok(false);
        }
    }
    // In release, which the first example is built in: crates of others are there.
    let words = ["run", "--offline", "--quiet", "--release", "--package", PROGRAM];
    let said = process::capture(cargo(&unpacked, &words).env("CARGO_TARGET_DIR", target))?;
    println!("the README's program: {}", said.trim_end());
    Ok(said == "0 bytes moved\n")
}

/// The first program of a document.
fn first_program(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```rust\n")?;
    rest.split_once("```\n").map(|(program, _)| program)
}

/// Unpacks the archives beside each other, as a workspace in which they find each other: with the
/// versions of other crates that the repository has.
fn unpack(root: &Path, folder: &Path, packages: &[Json]) -> Result<PathBuf> {
    let unpacked = folder.join("unpacked");
    let failed = |error: std::io::Error| format!("{}: {error}", unpacked.display());
    std::fs::create_dir_all(&unpacked).map_err(failed)?;
    let (mut members, mut patches) = (format!("    {PROGRAM:?},\n"), String::new());
    for package in packages {
        let name = package.text("name").unwrap_or_default();
        let own = format!("{name}-{}", package.text("version").unwrap_or_default());
        let archive = folder.join("package").join(format!("{own}.crate"));
        // With times of their own all files would be older than what was checked before.
        let mut tar = Command::new("tar");
        process::capture(tar.arg("-xzmf").arg(archive).arg("-C").arg(&unpacked))?;
        members += &format!("    {own:?},\n");
        patches += &format!("{name} = {{ path = {own:?} }}\n");
    }
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\n{members}]\n\n[patch.crates-io]\n{patches}"
    );
    std::fs::write(unpacked.join("Cargo.toml"), manifest).map_err(failed)?;
    std::fs::copy(root.join("Cargo.lock"), unpacked.join("Cargo.lock")).map_err(failed)?;
    let readme = std::fs::read_to_string(root.join("README.md")).map_err(failed)?;
    let source = first_program(&readme).ok_or("the README has no program")?;
    let manifest = format!(
        "[package]\nname = {PROGRAM:?}\nedition = \"2024\"\n\n[dependencies]\nfolio = \"*\"\n"
    );
    let program = unpacked.join(PROGRAM);
    std::fs::create_dir_all(program.join("src")).map_err(failed)?;
    std::fs::write(program.join("Cargo.toml"), manifest).map_err(failed)?;
    std::fs::write(program.join("src/main.rs"), source).map_err(failed)?;
    Ok(unpacked)
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

    #[test]
    fn a_program_ends_with_its_block() {
        let text = "a\n```sh\nb\n```\n```rust\nfn main() {}\n```\n```rust\nc\n```\n";
        assert_eq!(first_program(text), Some("fn main() {}\n"));
        assert_eq!(first_program("a"), None);
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
