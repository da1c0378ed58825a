//! Which traits of this crate who writes no `unsafe` may implement.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

/// Traits that a program may implement, and why it says nothing by that which is believed.
const SAFE: &[(&str, &str)] = &[
    ("IndexOutside", "no type is, so that rustc tells of a view outside of a kernel"),
    ("NoDeref", "the derive asks for it, and rustc refuses it beside a `Deref`"),
    ("__Host", "all types are; it gives what is not `Callable`"),
];

/// The names of the public traits in a file, and whether each is `unsafe`.
fn traits_of(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.lines().filter_map(|line| {
        let line = line.trim_start().strip_prefix("pub ")?;
        let (line, is_unsafe) = match line.strip_prefix("unsafe ") {
            Some(line) => (line, true),
            None => (line, false),
        };
        let end = |c: char| !(c.is_alphanumeric() || c == '_' || c == '$');
        Some((line.strip_prefix("trait ")?.split(end).next()?, is_unsafe))
    })
}

/// KRN-03: what a body runs by, or a table is made by, is believed without a check. A trait of
/// these is `unsafe`, or is named above.
#[test]
fn traits_by_which_bodies_run_are_unsafe() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut safe, mut count) = (vec![], 0);
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        let text = fs::read_to_string(file).unwrap();
        for (name, is_unsafe) in traits_of(&text) {
            count += 1;
            if !is_unsafe {
                safe.push(name.to_owned());
            }
        }
    }
    safe.sort();
    safe.dedup();
    assert!(count > 30, "{count} traits are found");
    assert_eq!(safe, SAFE.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

#[test]
fn a_safe_trait_is_found() {
    let text =
        "pub trait At<I>: Elements {\n    pub unsafe trait Put {\ntrait Own {\npub fn f() {}";
    assert_eq!(traits_of(text).collect::<Vec<_>>(), [("At", false), ("Put", true)]);
}
