//! Finds the functions of a Rust source: names, lines, comments and test attributes.

use crate::lex::{self, Split};

/// A function, as far as its text tells.
#[derive(Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Index of the line with `fn`.
    pub line: usize,
    /// Lines from `fn` to the closing brace.
    pub lines: usize,
    /// Whether it has a test attribute.
    pub is_test: bool,
    /// Whether it has an `ignore` attribute.
    pub ignored: bool,
    /// Comments above and inside it.
    pub comments: String,
}

/// Every function that has a body.
pub fn functions(split: &Split) -> Vec<Function> {
    let mut found = Vec::new();
    for (line, code) in split.code.iter().enumerate() {
        for column in words(code, "fn") {
            if let Some(function) = function_at(split, line, column) {
                found.push(function);
            }
        }
    }
    found
}

/// Columns (in bytes) where the word stands alone.
pub fn words(code: &str, word: &str) -> Vec<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(|at| !code[..*at].ends_with(part) && !code[at + word.len()..].starts_with(part))
        .collect()
}

fn function_at(split: &Split, line: usize, column: usize) -> Option<Function> {
    let rest = split.code[line][column + 2..].trim_start();
    let part = |c: &char| c.is_alphanumeric() || *c == '_' || *c == '$';
    let name: String = rest.chars().take_while(part).collect();
    if name.is_empty() {
        return None;
    }
    let end = body_end(split, line, column)?;
    let first = first_line(split, line);
    let attributes = split.code[first..=line].join("\n");
    Some(Function {
        name,
        line,
        lines: end - line + 1,
        is_test: attributes.contains("#[test]") || attributes.contains("::test]"),
        ignored: attributes.contains("#[ignore"),
        comments: split.comments[first..=end].join("\n"),
    })
}

/// The first of the comment and attribute lines directly above.
fn first_line(split: &Split, line: usize) -> usize {
    let leads = |above: &usize| {
        let code = split.code[*above].trim();
        let comment = split.comments[*above].trim();
        let inner = comment.starts_with("//!");
        (code.is_empty() && !comment.is_empty() && !inner) || code.starts_with("#[")
    };
    (0..line).rev().take_while(leads).last().unwrap_or(line)
}

/// The line where the body's braces close; `None` for a declaration.
fn body_end(split: &Split, line: usize, column: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut inside = 0usize;
    for (at, code) in split.code.iter().enumerate().skip(line) {
        let from = if at == line { column } else { 0 };
        for c in code[from..].chars() {
            match c {
                '(' | '[' if depth == 0 => inside += 1,
                ')' | ']' if depth == 0 => inside = inside.saturating_sub(1),
                ';' if depth == 0 && inside == 0 => return None,
                '{' if inside == 0 => depth += 1,
                '}' if inside == 0 => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// The functions of a text.
pub fn functions_of(text: &str) -> Vec<Function> {
    functions(&lex::split(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
//! Module words.

/// Above.
#[test]
#[ignore = \"slow\"]
fn one(a: [u8; 2]) {
    // Inside.
    if true { let f = \"}\"; }
}
// Apart.

#[test]
fn two() {}
trait T { fn declared(&self); fn given(&self) { } }
type F = fn(u8) -> u8;
";

    #[test]
    fn finds_functions_with_their_comments() {
        let found = functions_of(SOURCE);
        let names: Vec<_> = found.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["one", "two", "given"]);
        assert_eq!((found[0].line, found[0].lines), (5, 4));
        assert!(found[0].is_test && found[0].ignored);
        assert!(found[0].comments.contains("Above") && found[0].comments.contains("Inside"));
        assert!(!found[0].comments.contains("Module"));
        assert!(found[1].is_test && !found[1].ignored && !found[1].comments.contains("Apart"));
        assert!(!found[2].is_test);
    }
}
