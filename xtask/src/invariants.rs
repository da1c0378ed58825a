//! Whether the tests that `docs/ARCHITECTURE.md` names for its invariants are there.

use std::collections::BTreeSet;

use crate::tree::File;

/// Where the invariants are.
pub const PLACE: &str = "docs/ARCHITECTURE.md";

/// What is wrong between the numbered invariants and `tests`, the names of all tests.
///
/// In an invariant, each word in code style is an example (`stencil`), a page of the guide
/// (`errors.md`), or, if it has an underscore, the name of a test. There is one of these at least.
pub fn problems(files: &[File], tests: &BTreeSet<String>) -> Vec<String> {
    let text = files.iter().find(|file| file.path == PLACE).map(|file| file.text.as_str());
    let invariants = numbered(section(text.unwrap_or_default()));
    if invariants.is_empty() {
        return vec![format!("{PLACE} has no numbered invariants")];
    }
    let mut problems = Vec::new();
    for (number, line) in invariants {
        let words: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
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

/// Lines `12. text`, with their numbers.
fn numbered(text: &str) -> Vec<(u32, &str)> {
    let number = |line: &'_ str| line.split_once(". ").and_then(|(n, _)| n.parse().ok());
    text.lines().filter_map(|line| Some((number(line)?, line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_tests_must_be_there() {
        let text = "# A\n1. `not_here`\n## Invariants\n\n1. A. `a_test`, in `Type` of `crate::x_y`.\n\
                    2. B. `gone_test`\n3. C.\n4. D. The example `heat`.\n- `no_number`\n## B\n5. E.\n";
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let files = [file(PLACE, text), file("crates/folio/examples/heat.rs", "")];
        let tests = BTreeSet::from(["a_test".to_owned()]);
        let found = problems(&files, &tests);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("invariant 2") && found[0].contains("gone_test"));
        assert!(found[1].contains("invariant 3") && found[1].contains("no test"));
        assert_eq!(problems(&[], &tests).len(), 1);
    }
}
