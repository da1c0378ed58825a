//! What the library writes to standard error: the one place from which it writes at all.

use crate::engine::trace::tell;
use crate::engine::wait::InKernel;
use std::fmt::Write as _;
use std::io::Write as _;
use tracing::dispatcher::get_default;
use tracing::subscriber::NoSubscriber;

/// Turns hints off, such as that kernels are not optimised; failures that nothing asked for stay.
const QUIET: &str = "FOLIO_QUIET";

/// Hints are not wanted.
fn quiet() -> bool {
    std::env::var_os(QUIET).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Says something that is no error: to a `tracing` subscriber, or else to standard error. For the
/// facade.
#[doc(hidden)]
pub fn hint(text: &str) {
    if quiet() {
        return;
    }
    let mut told = false;
    tell(|| {
        tracing::warn!(target: "folio", "{text}");
        told = !get_default(|subscriber| subscriber.is::<NoSubscriber>());
    });
    if !told {
        write(text);
    }
}

/// As [`hint`], on a thread that runs a lane: a subscriber that waits there is refused.
pub(crate) fn hint_on_a_lane(text: &str) {
    let _kernel = InKernel::new();
    hint(text);
}

/// Writes one line, with one call, so that those of several threads do not mix.
pub(crate) fn write(text: &str) {
    let line = line(text);
    // Where standard error is closed there is nobody to tell.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// `text` on one line, whatever it contains.
fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + 8);
    line.push_str("folio: ");
    for c in text.chars() {
        if c.is_control() {
            let _ = write!(line, "{}", c.escape_default());
        } else {
            line.push(c);
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    /// ERR-01: a panic's message may have any number of lines, and what a terminal obeys.
    #[test]
    fn a_notice_is_one_line() {
        assert_eq!(super::line("a `b`\nc\u{1b}[31m\td"), "folio: a `b`\\nc\\u{1b}[31m\\td\n");
    }
}
