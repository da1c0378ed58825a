//! The rooms of the crate, as its first page tells of them: which imports which.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The rooms, each with those that it may import: the rows of the table in `lib.rs`.
fn allowed(page: &str) -> Vec<(String, BTreeSet<String>)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("//! | `"));
    let room = |row: &str| {
        let cells: Vec<&str> = row.split('|').collect();
        let [name, _, imports, _] = cells[..] else { return None };
        let names = |cell: &str| cell.split(['`', ',']).map(str::trim).map(str::to_owned).collect();
        let imports: Vec<String> = names(imports);
        let imports = imports.into_iter().filter(|name| !name.is_empty()).collect();
        Some((name.trim().trim_end_matches('`').to_owned(), imports))
    };
    rows.filter_map(room).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|file| file.extension().is_some_and(|e| e == "rs"));
    files.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

/// The names behind `crate::` in a source, but for its comments and its tests.
fn imports(text: &str) -> Vec<String> {
    let product = text.split("#[cfg(test)]").next().unwrap();
    let code: Vec<&str> = product.lines().map(|line| line.split("//").next().unwrap()).collect();
    let code = code.join("\n");
    let name = |path: &str| {
        path.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned()
    };
    let paths = code.split("crate::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
        Some(several) => several.split('}').next().unwrap().split(',').map(name).collect(),
        None => vec![name(rest)],
    });
    paths.filter(|name| !name.is_empty()).collect()
}

#[test]
fn rooms_import_what_they_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allowed = allowed(&std::fs::read_to_string(root.join("lib.rs")).unwrap());
    assert_eq!(allowed.len(), 6, "{allowed:?}");
    // A name that two rooms have (`names`) is the first one's: the other is not named beyond its
    // room.
    let mut room_of = BTreeMap::new();
    for (room, _) in &allowed {
        room_of.insert(room.clone(), room.clone());
        for entry in std::fs::read_dir(root.join(room)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            room_of.entry(name.trim_end_matches(".rs").to_owned()).or_insert(room.clone());
        }
    }
    let is_type = |name: &str| name.starts_with(char::is_uppercase);
    let mut seen = BTreeSet::new();
    for (room, may) in &allowed {
        for file in sources(&root.join(room)) {
            for name in imports(&std::fs::read_to_string(&file).unwrap()) {
                let from = match is_type(&name) && name != "Builder" {
                    true => "ir",
                    false => room_of.get(&name).unwrap_or_else(|| panic!("{name} in {file:?}")),
                };
                assert!(from == room || may.contains(from), "{file:?} imports {name} of {from}");
                seen.insert((room.clone(), from.to_owned()));
            }
        }
    }
    let unused = |(room, may): &(String, BTreeSet<String>)| {
        may.iter().filter(|of| !seen.contains(&(room.clone(), (*of).clone()))).count()
    };
    assert_eq!(allowed.iter().map(unused).sum::<usize>(), 0, "rows allow what no room imports");
}

#[test]
fn imports_are_found() {
    let text = "use crate::{outputs, verify};\n// crate::no\nlet x = crate::Type::U8;\n\
        #[cfg(test)]\nuse crate::parse::parse;";
    assert_eq!(imports(text), ["outputs", "verify", "Type"]);
}
