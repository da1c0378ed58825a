//! The macros' output names Rust's library by a path that a program cannot give to a crate of its
//! own, as `extern crate self as core` would.

use std::path::Path;
use std::{fs, io};

fn visit(folder: &Path, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            visit(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path)?;
            let code = |line: &&str| !line.trim_start().starts_with("//");
            let names = |line: &str| line.contains("::core::") || line.contains("::std::");
            let lines = text.lines().filter(code).filter(|line| names(line));
            found.extend(lines.map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }
    Ok(())
}

#[test]
fn the_librarys_name_is_ours() {
    let mut found = Vec::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found).unwrap();
    // `rust` of Folio is the library.
    assert!(found.is_empty(), "use `::folio::ir::device::rust`: {found:#?}");
}
