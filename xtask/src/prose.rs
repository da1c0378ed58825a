//! The rules of `cargo xtask tidy` for documents and comments: widths, sizes, links, and words that
//! name no actor.

use std::collections::{BTreeMap, BTreeSet};

use crate::lex::{self, Split};
use crate::tree::File;
use crate::wrap;

/// A line of a document is read beside code.
const DOCUMENT_COLUMNS: usize = 160;
/// A longer document is two.
const DOCUMENT_BYTES: usize = 30_000;

/// Words in whose place the actor belongs: submitter, courier, waiter, driver, kernel.
const PRONOUNS: [&str; 5] = ["whoever", "somebody", "nobody", "anybody", "everybody"];

/// How many of these words the comments of each folder may have. Numbers here only go down: a
/// note says when one can.
const MOST_PRONOUNS: &[(&str, usize)] = &[
    ("benches", 12),
    ("folio-cache", 5),
    ("folio-conformance", 43),
    ("folio-core", 70),
    ("folio-vulkan", 23),
    ("folio-cpu", 23),
    ("folio-cuda", 45),
    ("folio-interp", 2),
    ("folio-device", 7),
    ("folio-kernel", 8),
    ("folio-macros", 4),
    ("folio-model", 43),
    ("folio-opencl", 54),
    ("folio-sim", 15),
];

/// The breaches of rules in one document, by line.
pub fn of_document(file: &File, files: &[File]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    if file.text.len() > DOCUMENT_BYTES {
        found.push((0, format!("{} bytes; {DOCUMENT_BYTES} at most", file.text.len())));
    }
    let mut in_code = false;
    for (at, line) in file.text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > DOCUMENT_COLUMNS {
            found.push((at, format!("{columns} columns; {DOCUMENT_COLUMNS} at most")));
        }
        for word in PRONOUNS.iter().filter(|word| count(line, word) > 0) {
            found.push((at, format!("'{word}' names no actor")));
        }
        in_code ^= line.trim_start().starts_with("```");
        let broken = targets(line).filter(|to| !in_code && !leads(file, to, files));
        found.extend(broken.map(|to| (at, format!("the link to '{to}' leads nowhere"))));
    }
    found
}

/// The book's contents.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The pages that the book's contents do not name, or name more than once.
pub fn of_book(files: &[File]) -> Vec<String> {
    let Some(summary) = files.iter().find(|file| file.path == SUMMARY) else {
        return Vec::new();
    };
    let named: Vec<_> = summary.text.lines().flat_map(targets).collect();
    let pages = files.iter().filter(|file| is_document(file) && file.path != SUMMARY);
    let pages = pages.filter_map(|page| page.path.strip_prefix("docs/"));
    let times = |page: &str| named.iter().filter(|name| **name == page).count();
    let wrong = pages.map(|page| (page, times(page))).filter(|(_, times)| *times != 1);
    wrong.map(|(page, times)| format!("{SUMMARY}: names {page} {times} times, not once")).collect()
}

/// True for what [`of_document`] is about.
pub fn is_document(file: &File) -> bool {
    file.path.ends_with(".md")
}

/// Comments that are too wide, by line. Rows of tables cannot be wrapped.
pub fn wide_comments(text: &str, split: &Split) -> Vec<usize> {
    let is_row =
        |comment: &str| comment.trim_start().trim_start_matches(['/', '!']).starts_with(" |");
    let wide = |(line, comment): (&str, &String)| {
        !comment.trim().is_empty() && !is_row(comment) && line.chars().count() > wrap::COLUMNS
    };
    let lines = text.lines().zip(&split.comments).enumerate();
    lines.filter(|(_, both)| wide(*both)).map(|(at, _)| at).collect()
}

/// The counts of words without an actor: problems, and where fewer are there than may be.
pub fn pronouns(files: &[File]) -> (Vec<String>, Vec<String>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let comments = lex::split(&file.text).comments;
        let of_line = |line: &String| PRONOUNS.iter().map(|word| count(line, word)).sum::<usize>();
        *counts.entry(folder(&file.path)).or_default() +=
            comments.iter().map(of_line).sum::<usize>();
    }
    let most = |folder: &str| {
        let row = MOST_PRONOUNS.iter().find(|(name, _)| *name == folder);
        row.map_or(0, |(_, most)| *most)
    };
    let say = |(folder, count): (&&str, &usize), most: usize| {
        format!("{folder}: comments have {count} words such as '{}'; {most} at most", PRONOUNS[0])
    };
    let (mut problems, mut notes) = (Vec::new(), Vec::new());
    for both in &counts {
        match most(both.0) {
            most if *both.1 > most => problems.push(say(both, most)),
            most if *both.1 < most => notes.push(say(both, most) + ", which can be lowered"),
            _ => {}
        }
    }
    (problems, notes)
}

/// The crate of a file.
pub fn folder(path: &str) -> &str {
    let inside = path.strip_prefix("crates/").unwrap_or(path);
    inside.split('/').next().unwrap_or(inside)
}

/// How often a word stands alone in a text, in any case.
fn count(text: &str, word: &str) -> usize {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !part(c)).filter(|w| w.eq_ignore_ascii_case(word)).count()
}

/// Where the links of a line lead, but for those to other sites.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(to, _)| to).filter(|to| !to.contains("://"))
}

/// True if a link of a document leads to a file or a folder, and to a heading if it names one.
fn leads(from: &File, to: &str, files: &[File]) -> bool {
    let (path, heading) = to.split_once('#').map_or((to, None), |(path, rest)| (path, Some(rest)));
    let mut parts: Vec<&str> = from.path.split('/').collect();
    if !path.is_empty() {
        parts.pop();
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            name => parts.push(name),
        }
    }
    let path = parts.join("/");
    let inside = format!("{path}/");
    let target = files.iter().find(|file| file.path == path);
    match (target, heading) {
        (Some(file), Some(heading)) => headings(&file.text).contains(heading),
        (Some(_), None) => true,
        (None, _) => files.iter().any(|file| file.path.starts_with(&inside)),
    }
}

/// The names by which links know a document's headings.
fn headings(text: &str) -> BTreeSet<String> {
    let name = |heading: &str| {
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
    };
    let lines = text.lines().filter(|line| line.starts_with('#'));
    lines.map(|line| name(line.trim_start_matches('#'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn documents_are_narrow_short_and_name_actors() {
        let check = |text: &str| of_document(&file("a.md", text), &[]).len();
        assert_eq!(check(&"ü".repeat(DOCUMENT_COLUMNS)), 0);
        assert_eq!(check(&"x".repeat(DOCUMENT_COLUMNS + 1)), 1);
        assert_eq!(check(&"x\n".repeat(DOCUMENT_BYTES / 2 + 1)), 1);
        assert_eq!(check("Nobody knows.\nnobody's\nbusybody"), 2);
    }

    #[test]
    fn links_lead_somewhere() {
        let other = file("docs/b.md", "# A `few` words\n");
        let good =
            "[b](../b.md) [w](../b.md#a-few-words) [f](..) [x](https://x.y) [h](#here)\n# Here\n";
        let bad = "[b](b.md) [w](../b.md#words) [h](#there)\n```\n[code](no.md)\n```\n";
        let files = [other, file("docs/c/a.md", good), file("docs/c/d.md", bad)];
        let of = |at: usize| of_document(&files[at], &files);
        assert_eq!(of(1), []);
        assert_eq!(of(2).len(), 3, "{:?}", of(2));
    }

    #[test]
    fn the_book_has_each_page_once() {
        let summary = file(SUMMARY, "- [A](a.md)\n  - [B](c/b.md)\n- [B](c/b.md)\n");
        let others = ["docs/a.md", "docs/c/b.md", "docs/d.md", "e.md", "docs/f.svg"];
        let files: Vec<_> =
            others.map(|path| file(path, "")).into_iter().chain([summary]).collect();
        let found = of_book(&files);
        assert!(found.len() == 2 && found[0].contains("c/b.md 2 times"), "{found:?}");
        assert!(found[1].contains("d.md 0 times"), "{found:?}");
    }

    #[test]
    fn comments_are_narrow() {
        let check = |text: &str| wide_comments(text, &lex::split(text));
        let wide = "x".repeat(wrap::COLUMNS);
        let text =
            format!("// {wide}\n//! | {wide} |\nlet x = \"{wide} // \";\nf(); // {wide}\n// a");
        assert_eq!(check(&text), [0, 3]);
    }

    #[test]
    fn words_are_counted_by_crate() {
        let text = "// Whoever waits, waits.\nlet nobody = \"somebody\"; // nobody\n";
        let files = [file("crates/x/src/a.rs", text), file("crates/x/src/b.rs", "// anybody")];
        let (problems, notes) = pronouns(&files);
        assert!(problems.len() == 1 && problems[0].contains("x: comments have 3"), "{problems:?}");
        assert!(notes.is_empty(), "{notes:?}");
    }
}
