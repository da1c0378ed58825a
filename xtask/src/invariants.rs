//! Whether the tests that documents name are there: those of the invariants in
//! `docs/ARCHITECTURE.md`, and those of the rows in `docs/drivers.md`.

use std::collections::BTreeSet;

use crate::tree::File;

/// Where the invariants are.
pub const PLACE: &str = "docs/ARCHITECTURE.md";

/// Where it stands what drivers do wrong.
const DRIVERS: &str = "docs/drivers.md";

/// The contradictions between documents and `tests`, the names of all tests.
pub fn problems(files: &[File], tests: &BTreeSet<String>) -> Vec<String> {
    let mut problems = of_invariants(files, tests);
    problems.extend(of_drivers(files, tests));
    problems
}

/// The last cell of a row names tests, in code style; `-` says that there is none.
fn of_drivers(files: &[File], tests: &BTreeSet<String>) -> Vec<String> {
    let text = files.iter().find(|file| file.path == DRIVERS).map_or("", |file| &file.text);
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with("| ")) {
        let cell = line.rsplit('|').nth(1).unwrap_or_default().trim();
        if ["shown by", "---", "-"].contains(&cell) {
            continue;
        }
        let named: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        if named.is_empty() || !named.iter().all(|name| tests.contains(*name)) {
            problems.push(format!("{DRIVERS}:{}: names no test, or one that is not there", at + 1));
        }
    }
    problems
}

/// In an invariant, each word in code style is an example (`stencil`), a page of the guide
/// (`errors.md`), or, if it has an underscore, the name of a test. There is one of these at least.
fn of_invariants(files: &[File], tests: &BTreeSet<String>) -> Vec<String> {
    let text = files.iter().find(|file| file.path == PLACE).map(|file| file.text.as_str());
    let invariants = numbered(section(text.unwrap_or_default()));
    if invariants.is_empty() {
        return vec![format!("{PLACE} has no numbered invariants")];
    }
    let mut problems = Vec::new();
    for (number, text) in invariants {
        let words: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        let shown = |word: &&str| {
            let ends = [format!("/examples/{word}.rs"), format!("/guide/{word}")];
            files.iter().any(|f| ends.iter().any(|end| f.path.ends_with(end.as_str())))
        };
        let (shown, rest): (Vec<&str>, Vec<&str>) = words.into_iter().partition(shown);
        let named: Vec<&str> = rest.into_iter().filter(|word| is_test_name(word)).collect();
        for name in named.iter().filter(|name| !tests.contains(**name)) {
            problems.push(format!("invariant {number} of {PLACE} names `{name}`, not a test"));
        }
        if named.is_empty() && shown.is_empty() {
            problems.push(format!("invariant {number} of {PLACE} names no test"));
        }
    }
    problems
}

fn is_test_name(word: &str) -> bool {
    let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    word.contains('_') && word.chars().all(part)
}

/// The text from `## Invariants` to the next heading of its level.
fn section(text: &str) -> &str {
    let start = text.split_once("\n## Invariants\n").map_or("", |(_, rest)| rest);
    start.split("\n## ").next().unwrap_or(start)
}

/// Lines `12. text`, with their numbers and the indented lines behind them.
fn numbered(text: &str) -> Vec<(u32, String)> {
    let number = |line: &'_ str| line.split_once(". ").and_then(|(n, _)| n.parse().ok());
    let mut all: Vec<(u32, String)> = Vec::new();
    for line in text.lines() {
        match (number(line), all.last_mut()) {
            (Some(n), _) => all.push((n, line.to_owned())),
            (None, Some((_, text))) if line.starts_with(' ') => {
                text.push('\n');
                text.push_str(line);
            }
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_tests_must_be_there() {
        let text = "# A\n1. `not_here`\n## Invariants\n\n1. A. `a_test`, in `Type` of `crate::x_y`.\n\
                    2. B.\n   `gone_test`\n3. C.\n4. D. The example `heat`.\n- `no_number`\n## B\n5. E.\n";
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let files = [file(PLACE, text), file("crates/folio/examples/heat.rs", "")];
        let tests = BTreeSet::from(["a_test".to_owned()]);
        let found = problems(&files, &tests);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("invariant 2") && found[0].contains("gone_test"));
        assert!(found[1].contains("invariant 3") && found[1].contains("no test"));
        assert_eq!(problems(&[], &tests).len(), 1);
    }

    #[test]
    fn drivers_name_tests() {
        let rows = [
            "| symptom | handled in | shown by |",
            "| --- | --- | --- |",
            "| a | `b` | `a_test` |",
            "| c | `d` | - |",
            "| e | `a_test` | `gone_test` |",
            "| f | `a_test` | |",
        ];
        let files = [File { path: DRIVERS.to_owned(), text: rows.join("\n") }];
        let found = of_drivers(&files, &BTreeSet::from(["a_test".to_owned()]));
        let places: Vec<_> = found.iter().filter_map(|found| found.split(':').nth(1)).collect();
        assert_eq!(places, ["5", "6"], "{found:?}");
    }
}
