//! Writes to standard output and standard error. Names in the text are of users, drivers and files,
//! so no line has characters that a terminal obeys, but for the colours from here.

use folio::ir::words::{Plain, acts};
use serde_json::Value;
use std::ffi::OsString;
use std::fmt::{Display, Write as _};
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

/// How a word looks, where there are colours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Success.
    Good,
    /// Failure.
    Bad,
}

/// Prints a line.
pub fn say(line: impl Display) {
    say_parts(&[(Tone::Plain, &line)]);
}

/// Prints a line whose words have colours, where standard output has them.
pub fn say_parts(parts: &[(Tone, &dyn Display)]) {
    static COLOURS: OnceLock<bool> = OnceLock::new();
    let colours = *COLOURS.get_or_init(|| {
        has_colours(|name| std::env::var_os(name), std::io::stdout().is_terminal())
    });
    print(&line(parts, colours));
}

/// Prints a value as JSON. Characters that JSON leaves as they are, and a terminal obeys, are only
/// in strings.
pub fn say_json(value: &Value) {
    let mut text = String::new();
    for c in format!("{value:#}\n").chars() {
        match acts(c) && c != '\n' {
            // Writing to a string does not fail.
            true => drop(write!(text, "\\u{:04x}", u32::from(c))),
            false => text.push(c),
        }
    }
    print(&text);
}

/// Tells an error. Where standard error is closed, no reader is left.
pub fn complain(error: impl Display) {
    let text = line(&[(Tone::Plain, &format_args!("folio: {error}"))], false);
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// A reader that has seen enough, as `head` has, is no failure.
fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

fn line(parts: &[(Tone, &dyn Display)], colours: bool) -> String {
    let mut text = String::new();
    for (tone, part) in parts {
        let part = Plain(&part.to_string()).to_string();
        match (colours, tone) {
            (true, Tone::Good) => text.extend(["\u{1b}[32m", &part, "\u{1b}[0m"]),
            (true, Tone::Bad) => text.extend(["\u{1b}[1;31m", &part, "\u{1b}[0m"]),
            _ => text.push_str(&part),
        }
    }
    text.push('\n');
    text
}

/// Whether output has colours, by the variables that programs agree on: `NO_COLOR` switches them
/// off, `CLICOLOR_FORCE` on, and `CLICOLOR=0` and `TERM=dumb` off; a file has none.
fn has_colours(variable: impl Fn(&str) -> Option<OsString>, terminal: bool) -> bool {
    let value = |name| variable(name).filter(|value| !value.is_empty());
    if value("NO_COLOR").is_some() {
        return false;
    }
    if value("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    let off = value("CLICOLOR").is_some_and(|value| value == "0");
    let dumb = value("TERM").is_some_and(|value| value == "dumb");
    terminal && !off && !dumb
}

/// Rows under a head, each column as wide as its widest cell. Numbers are on the right.
pub struct Table {
    head: Vec<&'static str>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
    tones: Vec<Tone>,
}

impl Table {
    /// Columns by name: with `>` before it, cells are on the right.
    pub fn new(head: &[&'static str]) -> Table {
        let right = head.iter().map(|name| name.starts_with('>')).collect();
        let head = head.iter().map(|name| name.trim_start_matches('>')).collect();
        Table { head, right, rows: Vec::new(), tones: Vec::new() }
    }

    pub fn row(&mut self, tone: Tone, cells: Vec<String>) {
        // As they are shown, so that columns are as wide as what is in them.
        let cells = cells.iter().map(|cell| Plain(cell).to_string()).collect();
        self.rows.push(cells);
        self.tones.push(tone);
    }

    pub fn say(&self) {
        let head = self.head.iter().map(|name| (*name).to_owned()).collect();
        let all = || std::iter::once(&head).chain(&self.rows);
        let width = |column: usize| {
            all().filter_map(|row: &Vec<String>| row.get(column)).map(|c| c.chars().count()).max()
        };
        let widths: Vec<_> = (0..self.head.len()).map(|at| width(at).unwrap_or(0)).collect();
        for (row, tone) in all().zip(std::iter::once(&Tone::Plain).chain(&self.tones)) {
            let cells = row.iter().zip(&widths).zip(&self.right);
            let cells = cells.map(|((cell, width), right)| match right {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            });
            let text = cells.collect::<Vec<_>>().join("  ");
            say_parts(&[(*tone, &text.trim_end())]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_act_on_terminals() {
        let name = "a\u{1b}[31m\r\u{9b}2J";
        let shown = line(&[(Tone::Plain, &name), (Tone::Bad, &"FAILED")], true);
        assert_eq!(shown, "a\\u{1b}[31m\\r\\u{9b}2J\u{1b}[1;31mFAILED\u{1b}[0m\n");
        assert_eq!(line(&[(Tone::Good, &"works")], false), "works\n");
    }

    #[test]
    fn colours_are_off_by_the_usual_variables() {
        let has = |all: &[(&str, &str)], terminal| {
            let of = |name: &str| all.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into());
            has_colours(of, terminal)
        };
        assert!(has(&[], true) && !has(&[], false));
        for off in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
            assert!(!has(&[off], true), "{off:?}");
        }
        assert!(has(&[("NO_COLOR", ""), ("CLICOLOR", "1"), ("TERM", "xterm")], true));
        assert!(has(&[("CLICOLOR_FORCE", "1")], false));
        assert!(!has(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true));
    }
}
