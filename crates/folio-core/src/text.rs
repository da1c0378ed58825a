//! Names of users, of backends and of drivers, as they are shown in messages and traces.

use std::fmt::{self, Display, Formatter, Write};

/// A name in one line, whatever is in it: what ends lines, moves a terminal's cursor, or changes
/// the direction of the text around it is escaped as in Rust's literals.
pub(crate) struct Plain<'t>(pub(crate) &'t str);

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
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(all(test, not(loom)))]
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
}
