//! Names and numbers in messages: what is counted, sizes, times. Every crate of Folio writes them
//! so.

use std::fmt::{self, Display, Formatter, Write};

/// A name in one line, whatever is in it: what ends lines, moves a terminal's cursor, or changes
/// the direction of the text around it is escaped as in Rust's literals.
pub struct Plain<'t>(pub &'t str);

impl Display for Plain<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match acts(c) {
            true => Display::fmt(&c.escape_default(), f),
            false => f.write_char(c),
        })
    }
}

/// Whether a character does something to the text around it: controls, separators of lines, marks
/// of direction.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A number of things: `1 page`, `2 pages`, `3 copies`.
pub fn count(number: u64, one: &str) -> String {
    if number == 1 {
        return format!("1 {one}");
    }
    let vowel = |stem: &str| stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    match one.strip_suffix('y').filter(|stem| !vowel(stem)) {
        Some(stem) => format!("{number} {stem}ies"),
        None if one.ends_with(['s', 'x']) || one.ends_with("ch") => format!("{number} {one}es"),
        None => format!("{number} {one}s"),
    }
}

/// A name with its article: `a kernel`, `an update`.
pub fn article(name: &str) -> String {
    let an = name.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {name}", if an { "an" } else { "a" })
}

/// Smaller sizes are told exactly.
const EXACT_BYTES: u64 = 10_000;

/// A size in bytes: `1 byte`, `4096 bytes`, `1.5 MiB`, `256 TiB`.
pub fn bytes(number: u64) -> String {
    if number < EXACT_BYTES {
        return count(number, "byte");
    }
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (number.ilog2() / 10) as usize;
    let size = number as f64 / (1u64 << (10 * power)) as f64;
    format!("{} {}", decimal(size), units[power - 1])
}

/// A time in nanoseconds: `850 ns`, `1.25 us`, `12.4 s`.
pub fn nanoseconds(number: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us")];
    let unit = units.into_iter().find(|(one, _)| number >= *one);
    let (one, unit) = unit.unwrap_or((1.0, "ns"));
    format!("{} {unit}", decimal(number / one))
}

/// A number with three digits that count, and none behind the point that is zero: `0.125`, `1.5`,
/// `12.4`, `1024`.
pub fn decimal(number: f64) -> String {
    let digits = match number.abs() {
        small if small < 1.0 => 3,
        small if small < 10.0 => 2,
        small if small < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{number:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_text_is_escaped_and_nothing_else() {
        let plain = |text: &str| Plain(text).to_string();
        for same in ["", "x", "größe of x̂ 🚀", r#"C:\a "b" `c`"#] {
            assert_eq!(plain(same), same);
        }
        assert_eq!(plain("a\nb\r\t\0"), r"a\nb\r\t\u{0}");
        assert_eq!(plain("\u{1b}[2J\u{9b}31m\u{7f}"), r"\u{1b}[2J\u{9b}31m\u{7f}");
        assert_eq!(plain("a\u{2028}b\u{202e}c\u{2066}"), r"a\u{2028}b\u{202e}c\u{2066}");
    }

    #[test]
    fn one_thing_is_singular_and_all_others_plural() {
        let all = [(0, "page"), (1, "page"), (2, "page"), (3, "copy"), (2, "launch"), (2, "way")];
        let texts = ["0 pages", "1 page", "2 pages", "3 copies", "2 launches", "2 ways"];
        assert_eq!(all.map(|(number, one)| count(number, one)), texts);
        assert_eq!(["kernel", "update"].map(article), ["a kernel", "an update"]);
    }

    #[test]
    fn sizes_have_the_largest_unit_and_few_digits() {
        let all = [0, 1, 4096, 9999, 10_240, 10_000, 1 << 20, 3 << 19, 1 << 48, u64::MAX];
        let texts = [
            "0 bytes",
            "1 byte",
            "4096 bytes",
            "9999 bytes",
            "10 KiB",
            "9.77 KiB",
            "1 MiB",
            "1.5 MiB",
            "256 TiB",
            "16 EiB",
        ];
        assert_eq!(all.map(bytes), texts);
    }

    #[test]
    fn times_have_the_largest_unit_and_few_digits() {
        let all = [0.0, 850.0, 1250.0, 12_416_798.3, 2e9, 0.12];
        let texts = ["0 ns", "850 ns", "1.25 us", "12.4 ms", "2 s", "0.12 ns"];
        assert_eq!(all.map(nanoseconds), texts);
        assert_eq!([1e-9, 99.96, 1024.0].map(decimal), ["0", "100", "1024"]);
    }
}
