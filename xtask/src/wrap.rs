//! `cargo xtask tidy --wrap`: wraps comments that are too wide, which rustfmt leaves alone.
//!
//! Only paragraphs with such a line change. Rows of tables, headings and code in comments stay,
//! and so do comments behind code.

use crate::lex;

/// The width of a comment, as rustfmt's `max_width`.
pub const COLUMNS: usize = 100;

/// A line that is a comment and nothing else.
struct Comment<'a> {
    line: &'a str,
    indent: &'a str,
    mark: &'static str,
    text: &'a str,
}

/// A Rust source with its comments wrapped.
pub fn comments(source: &str) -> String {
    let split = lex::split(source);
    let lines: Vec<&str> = source.split('\n').collect();
    let comment = |at: usize| {
        let alone = split.code[at].trim().is_empty() && !split.comments[at].trim().is_empty();
        alone.then(|| of_line(lines[at])).flatten()
    };
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let mut block: Vec<Comment> = Vec::new();
        while let Some(next) = (at < lines.len()).then(|| comment(at)).flatten() {
            if block.first().is_some_and(|c| (c.indent, c.mark) != (next.indent, next.mark)) {
                break;
            }
            block.push(next);
            at += 1;
        }
        if block.is_empty() {
            out.push(lines[at].to_owned());
            at += 1;
        }
        wrap(&block, &mut out);
    }
    out.join("\n")
}

fn of_line(line: &str) -> Option<Comment<'_>> {
    let body = line.trim_start();
    let mark = ["///", "//!", "//"].into_iter().find(|mark| body.starts_with(mark))?;
    let text = &body[mark.len()..];
    let text = text.strip_prefix(' ').unwrap_or(text);
    Some(Comment { line, indent: &line[..line.len() - body.len()], mark, text })
}

/// Wraps the paragraphs of comments that stand together.
fn wrap(block: &[Comment], out: &mut Vec<String>) {
    let is_fence = |text: &str| text.trim_start().starts_with("```");
    let is_fixed = |c: &Comment| {
        let marked = c.mark != "//" && c.text.trim_start().starts_with(['|', '#']);
        marked || c.text.trim().is_empty() || is_fence(c.text)
    };
    let begins = |c: &Comment| match c.mark {
        "//" => c.text.starts_with("SAFETY"),
        _ => item(c.text).is_some(),
    };
    let mut in_code = false;
    let mut at = 0;
    while at < block.len() {
        in_code ^= is_fence(block[at].text);
        if in_code || is_fixed(&block[at]) {
            out.push(block[at].line.to_owned());
            at += 1;
            continue;
        }
        let more = block[at + 1..].iter().take_while(|c| !is_fixed(c) && !begins(c)).count();
        let paragraph = &block[at..=at + more];
        match paragraph.iter().any(|c| c.line.chars().count() > COLUMNS) {
            true => fill(paragraph, out),
            false => out.extend(paragraph.iter().map(|c| c.line.to_owned())),
        }
        at += paragraph.len();
    }
}

/// The mark at the beginning of a list's item.
fn item(text: &str) -> Option<&str> {
    let body = text.trim_start();
    let mark = body.split(' ').next()?;
    let number = mark.strip_suffix('.').is_some_and(|n| n.parse::<u32>().is_ok());
    let is_mark = number || ["-", "*", "+"].contains(&mark);
    is_mark.then(|| &text[..text.len() - body.len() + mark.len()])
}

fn fill(paragraph: &[Comment], out: &mut Vec<String>) {
    let Some(first) = paragraph.first() else { return };
    let lead = match item(first.text) {
        Some(lead) if first.mark != "//" => lead,
        _ => "",
    };
    let indent = &first.text[..first.text.len() - first.text.trim_start().len()];
    let start = format!("{}{} ", first.indent, first.mark);
    let (mut line, rest) = match lead {
        "" => (format!("{start}{indent}"), format!("{start}{indent}")),
        lead => (format!("{start}{lead} "), format!("{start}{}", " ".repeat(lead.len() + 1))),
    };
    let texts = paragraph.iter().enumerate();
    let texts = texts.map(|(k, c)| if k == 0 { &c.text[lead.len()..] } else { c.text }.trim());
    let text = texts.collect::<Vec<_>>().join(" ");
    let mut empty = true;
    for word in words(&text) {
        if !empty && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            out.push(std::mem::replace(&mut line, rest.clone()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(&word);
        empty = false;
    }
    out.push(line);
}

/// The words that may stand on a line of their own: no part of a link or of code, and no mark of
/// Markdown.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = word_end(rest);
        let word = &rest[..end];
        let is_mark = item(word).is_some() || word.starts_with(['#', '|', '=', '>']);
        match words.last_mut().filter(|_| is_mark) {
            Some(last) => *last = format!("{last} {word}"),
            None => words.push(word.to_owned()),
        }
        rest = rest[end..].trim_start();
    }
    words
}

fn word_end(text: &str) -> usize {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next().filter(|c| !c.is_whitespace()) {
        let from = at + c.len_utf8();
        let to = |close: char| text[from..].find(close).map(|n| from + n + close.len_utf8());
        at = match c {
            '`' => to('`').unwrap_or(from),
            '[' => to(']').unwrap_or(from),
            '(' if text[..at].ends_with(']') => to(')').unwrap_or(from),
            _ => from,
        };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, wanted: &str) {
        let wrapped = comments(source);
        assert_eq!(wrapped, wanted);
        assert_eq!(comments(&wrapped), wanted, "again");
    }

    fn long(n: usize) -> String {
        vec!["words"; n].join(" ")
    }

    #[test]
    fn wide_paragraphs_are_wrapped_and_nothing_else() {
        let (full, wide) = (long(16), long(17));
        check(&format!("//! {full}\n//! a"), &format!("//! {full}\n//! a"));
        check(
            &format!("    /// {wide}\n    /// a\n    ///\n    /// b\n    /// c\nf(); // {wide}"),
            &format!(
                "    /// {}\n    /// words words a\n    ///\n    /// b\n    /// c\nf(); // {wide}",
                long(15)
            ),
        );
        check(&format!("let s = \"\n// {wide}\n\";"), &format!("let s = \"\n// {wide}\n\";"));
    }

    #[test]
    fn lists_tables_code_and_safety_stay_what_they_are() {
        let (full, wide) = (long(15), long(17));
        check(
            &format!("/// - {wide}\n/// - b\n/// | {wide} |\n/// ```\n/// {wide}\n/// ```"),
            &format!(
                "/// - {full}\n///   words words\n/// - b\n/// | {wide} |\n/// ```\n/// {wide}\n/// ```"
            ),
        );
        check(
            &format!("// a\n// SAFETY: {wide}"),
            &format!("// a\n// SAFETY: {full}\n// words words"),
        );
    }

    #[test]
    fn links_code_and_marks_are_not_broken() {
        let split = words("a `b c` [d e](f g), (h i) 1 - 2 # x");
        assert_eq!(split, ["a", "`b c`", "[d e](f g),", "(h", "i)", "1 -", "2 #", "x"]);
    }
}
