//! Where a function stands. An attribute is told nothing of what is around it, and what it writes
//! of a function cannot be in an `impl` or `trait`: rustc would report each part of it. The source
//! is looked at for this, once for each file that has an indented kernel. Where there is none to
//! look at, nothing is known, and rustc reports the parts.

use proc_macro2::{LineColumn, Span};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

/// An item whose functions are not free.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Around {
    /// `impl S { .. }`
    Impl,
    /// `impl T for S { .. }`, `trait T { .. }`
    Trait,
}

/// A block between braces.
struct Braces {
    from: LineColumn,
    to: LineColumn,
    of: Option<Around>,
}

thread_local! {
    static FILES: RefCell<HashMap<PathBuf, Vec<Braces>>> = RefCell::default();
}

/// The item around this place of the source whose functions are not free, if there is one.
pub fn around(at: Span) -> Option<Around> {
    let start = at.start();
    if start.column == 0 {
        return None;
    }
    let file = at.local_file()?;
    FILES.with_borrow_mut(|files| {
        let blocks = files.entry(file).or_insert_with_key(|file| {
            // A file that cannot be read tells nothing.
            blocks_of(&std::fs::read_to_string(file).unwrap_or_default())
        });
        innermost(blocks, start)
    })
}

fn innermost(blocks: &[Braces], at: LineColumn) -> Option<Around> {
    let within = blocks.iter().filter(|block| block.from < at && at < block.to);
    within.max_by_key(|block| block.from)?.of
}

/// How an item begins.
#[derive(Clone, Copy, PartialEq)]
enum Head {
    Impl,
    Trait,
    Other,
}

impl Head {
    /// After one more word.
    fn and(head: Option<Head>, word: &str) -> Option<Head> {
        match (head, word) {
            (None, "impl") => Some(Head::Impl),
            (None, "trait") | (Some(Head::Impl), "for") => Some(Head::Trait),
            (None, "pub" | "unsafe" | "default") => None,
            (None, _) => Some(Head::Other),
            (known, _) => known,
        }
    }

    fn around(self) -> Option<Around> {
        match self {
            Head::Impl => Some(Around::Impl),
            Head::Trait => Some(Around::Trait),
            Head::Other => None,
        }
    }
}

/// The blocks of a source: words and brackets are told apart from texts and comments.
fn blocks_of(text: &str) -> Vec<Braces> {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut place) = (0, LineColumn { line: 1, column: 0 });
    let mut blocks: Vec<Braces> = vec![];
    // By open bracket: how the item begins that is read within it; and the block, if it is one.
    let mut open: Vec<(Option<Head>, Option<usize>)> = vec![(None, None)];
    while at < chars.len() {
        let rest = &chars[at..];
        let length = match rest[0] {
            '/' | '"' | '\'' => quoted(rest, 0),
            first if first.is_alphabetic() || first == '_' => {
                let length = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
                let word: String = rest[..length].iter().collect();
                match raw(rest, &word) {
                    Some(text) => text,
                    None => {
                        if let Some((head, _)) = open.last_mut() {
                            *head = Head::and(*head, &word);
                        }
                        length
                    }
                }
            }
            bracket @ ('{' | '(' | '[') => {
                let head = open.last_mut().filter(|_| bracket == '{').and_then(|top| top.0.take());
                let block = (bracket == '{').then(|| {
                    blocks.push(Braces { from: place, to: place, of: head.and_then(Head::around) });
                    blocks.len() - 1
                });
                open.push((None, block));
                1
            }
            '}' | ')' | ']' => {
                if let Some((_, Some(block))) = open.pop() {
                    blocks[block].to = place;
                }
                1
            }
            mark => {
                if let (';', Some(top)) = (mark, open.last_mut()) {
                    top.0 = None;
                }
                1
            }
        };
        for c in &chars[at..(at + length).min(chars.len())] {
            place.column += 1;
            if *c == '\n' {
                place = LineColumn { line: place.line + 1, column: 0 };
            }
        }
        at += length;
    }
    blocks
}

/// How long a comment, text or character is that begins here; a text ends with so many `#`.
fn quoted(rest: &[char], marks: usize) -> usize {
    let until = |end: &str, from: usize| {
        let end: Vec<char> = end.chars().collect();
        let found = rest[from..].windows(end.len()).position(|part| part == end);
        found.map_or(rest.len(), |found| from + found + end.len())
    };
    match rest {
        ['/', '/', ..] => until("\n", 2),
        ['/', '*', ..] => {
            let (mut depth, mut at) = (0, 0);
            while at < rest.len() {
                match rest[at..] {
                    ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
                    ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
                    _ => at += 1,
                }
                if depth == 0 {
                    break;
                }
            }
            at
        }
        ['"', ..] if marks > 0 => until(&format!("\"{}", "#".repeat(marks)), 1),
        ['"', ..] => escaped(rest, '"'),
        ['\'', '\\', ..] => escaped(rest, '\''),
        ['\'', _, '\'', ..] => 3,
        _ => 1,
    }
}

/// Up to this mark, but for those behind a backslash.
fn escaped(rest: &[char], end: char) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != end {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// How long a text is that begins with a word: `r"..."`, `br#"..."#`.
fn raw(rest: &[char], word: &str) -> Option<usize> {
    if !["r", "b", "c", "br", "cr"].contains(&word) {
        return None;
    }
    let begin = word.len();
    let marks = rest[begin..].iter().take_while(|c| **c == '#').count();
    let text = &rest[begin + marks..];
    if text.first() != Some(&'"') {
        return None;
    }
    let length = match (word.contains('r'), marks) {
        // Without marks, a raw text ends where it can.
        (true, 0) => 2 + text[1..].iter().take_while(|c| **c != '"').count(),
        (_, marks) => quoted(text, marks),
    };
    Some(begin + marks + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_impls_and_traits_are_told_from_free_ones() {
        let text = r##"
            use a::b;
            #[derive(Clone)] pub struct S { x: f32 } // impl {
            impl<T> S { #[kernel] fn a1() {} fn method(&self) -> impl Fn() { #[kernel] fn free1() {} } }
            unsafe impl T for S where S: Copy { #[kernel] fn t1() {} }
            pub trait T { #[kernel] fn t2() {} }
            mod inner { #[kernel] fn free2() {} impl S { const N: [u8; { 1 }] = [1]; #[kernel] fn a2() {} } }
            fn f(x: impl Copy) -> impl Copy { #[kernel] fn free3() {} call(|| { #[kernel] fn free4() {} }) }
            const C: () = { impl S { #[kernel] fn a3() {} } }; /* impl S { /* { */ */
            macro_rules! m { ($name:ident) => { #[kernel] fn free5() {} } }
            const D: &str = "impl S { \" {"; const E: char = '{'; const F: &str = r#"impl S { " "#;
            const G: &[u8] = br"impl \"; const H: char = '\''; fn g<'a>(x: &'a u8) { #[kernel] fn free6() {} }
            impl<'a> S { #[kernel] fn a4() {} }
            #[kernel] fn free7() {}
        "##;
        let (blocks, mut seen) = (blocks_of(text), 0);
        for (line, text) in text.lines().enumerate() {
            for (column, _) in text.match_indices("#[kernel] fn ") {
                let name = &text[column + 13..];
                let wanted = match &name[..1] {
                    "a" => Some(Around::Impl),
                    "t" => Some(Around::Trait),
                    _ => None,
                };
                let at = LineColumn { line: line + 1, column };
                assert_eq!(innermost(&blocks, at), wanted, "{name}");
                seen += 1;
            }
        }
        assert_eq!(seen, 13);
    }

    #[test]
    fn what_is_not_closed_is_no_panic() {
        for text in
            ["impl S { \"", "/* {", "'", "'\\", "r#\"", "}}})", "b'", "r", "\"\\", "fn f() { '"]
        {
            blocks_of(text);
        }
    }
}
