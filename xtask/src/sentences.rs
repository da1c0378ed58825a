//! How the sentences of comments begin. A sentence whose first word stands for a noun of the
//! sentence before makes the reader look back.

use std::collections::BTreeMap;

use crate::lex;
use crate::prose::folder;
use crate::tree::File;

/// First words that stand for something else.
const VAGUE: [&str; 6] = ["what", "it", "those", "one", "so", "these"];

/// Of 1,000 sentences so many may begin so.
const MOST: usize = 70;

/// A folder with fewer sentences is too small for a share.
const FEWEST: usize = 20;

/// A sentence of a comment.
struct Sentence {
    /// Its line, from 1 on.
    line: usize,
    text: String,
}

impl Sentence {
    fn is_vague(&self) -> bool {
        let first = self.text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        first.is_some_and(|first| VAGUE.iter().any(|word| word.eq_ignore_ascii_case(first)))
    }
}

/// Sentences, and how many of them are vague.
#[derive(Clone, Copy, Default)]
struct Count {
    sentences: usize,
    vague: usize,
}

impl Count {
    fn share(self) -> usize {
        (1000 * self.vague).div_ceil(self.sentences.max(1))
    }
}

/// The vague sentences of the files whose path has this in it, with their places.
pub fn vague(files: &[File], within: &str) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.is_rust() && file.path.contains(within)) {
        let vague = of_source(&file.text).into_iter().filter(Sentence::is_vague);
        found.extend(vague.map(|found| format!("{}:{}: {}", file.path, found.line, found.text)));
    }
    found
}

/// Folders whose share is too high.
pub fn check(files: &[File]) -> Vec<String> {
    let counts = by_folder(files);
    let high = counts.iter().filter(|(_, of)| of.sentences >= FEWEST && of.share() > MOST);
    high.map(|(folder, count)| {
        format!(
            "{folder}: {} of 1,000 sentences in comments begin with a word such as '{}' ({} of \
             {}); {MOST} at most",
            count.share(),
            VAGUE[0],
            count.vague,
            count.sentences
        )
    })
    .collect()
}

fn by_folder(files: &[File]) -> BTreeMap<&str, Count> {
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let count = counts.entry(folder(&file.path)).or_default();
        for sentence in of_source(&file.text) {
            count.sentences += 1;
            count.vague += usize::from(sentence.is_vague());
        }
    }
    counts
}

/// The sentences of a source's comments.
fn of_source(text: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let (mut paragraph, mut in_code, mut mark) = (Vec::new(), false, "");
    let split = lex::split(text);
    let comments = split.comments.iter().map(|line| line.trim());
    for (at, (line, code)) in comments.zip(&split.code).enumerate() {
        let words = line.trim_start_matches(['/', '!']);
        let marked = &line[..line.len() - words.len()];
        let (words, other) = (words.trim(), !code.trim().is_empty() || marked != mark);
        mark = marked;
        in_code ^= words.starts_with("```");
        let is_prose = !in_code && !words.is_empty() && !words.starts_with(['|', '`', '#']);
        // An item of a list is a paragraph of its own.
        if other || !is_prose || words.starts_with(['*', '-']) {
            of_paragraph(&std::mem::take(&mut paragraph), &mut sentences);
        }
        if is_prose {
            paragraph.extend(words.split_whitespace().map(|word| (at + 1, word)));
        }
    }
    of_paragraph(&paragraph, &mut sentences);
    sentences
}

/// The sentences of a paragraph, whose words have the numbers of their lines.
fn of_paragraph(words: &[(usize, &str)], out: &mut Vec<Sentence>) {
    for sentence in words.split_inclusive(|(_, word)| word.ends_with(['.', '!', '?'])) {
        let text = sentence.iter().map(|(_, word)| *word).collect::<Vec<_>>().join(" ");
        if let Some((line, _)) = sentence.first()
            && text.contains(char::is_alphanumeric)
        {
            out.push(Sentence { line: *line, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (usize, usize) {
        let sentences = of_source(text);
        (sentences.len(), sentences.iter().filter(|sentence| sentence.is_vague()).count())
    }

    #[test]
    fn sentences_end_with_points_and_paragraphs() {
        assert_eq!(of("// A lane. It waits,\n// so it sleeps. What\n// for?\n"), (3, 2));
        assert_eq!(of("/// One thing\n///\n/// Those\nfn f() {} // So what\n"), (3, 3));
        assert_eq!(of("//! * [`it`]: a name\n//! * These\n"), (2, 2));
    }

    #[test]
    fn code_and_tables_have_no_sentences() {
        assert_eq!(of("/// ```\n/// one();\n/// ```\n// | what | it |\n# so\n"), (0, 0));
        assert_eq!(of("let what = \"It is. So\";\n"), (0, 0));
    }

    #[test]
    fn vague_sentences_have_places() {
        let text = "// A lane\n// waits. It\n// sleeps.".to_owned();
        let files = [File { path: "crates/x/a.rs".to_owned(), text }];
        assert_eq!(vague(&files, "x/a"), ["crates/x/a.rs:2: It sleeps."]);
        assert!(vague(&files, "y/").is_empty());
    }

    #[test]
    fn shares_are_counted_by_folder() {
        let file = |path: &str, text: String| File { path: path.to_owned(), text };
        let some = "// A noun.\n\n".repeat(17);
        let files = [
            file("crates/x/src/a.rs", some.clone() + "// It.\n\n// So.\n\n// One.\n"),
            file("crates/y/src/a.rs", some + "// It.\n"),
            file("crates/z/src/a.rs", "// It.\n".to_owned()),
        ];
        let problems = check(&files);
        assert!(problems.len() == 1 && problems[0].contains("x: 150 of 1,000"), "{problems:?}");
    }
}
