//! What the library writes to standard error: the one place from which it writes at all.

use crate::foreign::InKernel;
use crate::foreign::tell;
use folio_kernel::words::Plain;
use std::io::{IsTerminal, Write as _};
use tracing::dispatcher::get_default;
use tracing::subscriber::NoSubscriber;

/// Turns hints off, such as that kernels are not optimised; failures that nothing asked for stay.
const QUIET: &str = "FOLIO_QUIET";

/// Hints are not wanted.
pub(crate) fn quiet() -> bool {
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

/// As [`hint`], from within a lane's call, which may hold the engine's locks: to standard error,
/// and to no subscriber. For layers.
#[doc(hidden)]
pub fn note(text: &str) {
    if !quiet() {
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

/// Whether a person sees standard error, on a terminal that can move its cursor.
pub(crate) fn has_terminal() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    std::io::stderr().is_terminal() && !dumb
}

/// Writes a line over the one before it on a terminal. The last of several stays.
pub(crate) fn write_over(text: &str, last: bool) {
    let text = line(text);
    let text = if last { &*text } else { text.trim_end() };
    // To the beginning of the line, and nothing behind it.
    let _ = std::io::stderr().lock().write_all(format!("\r\u{1b}[K{text}").as_bytes());
}

/// `text` on one line, whatever it contains.
fn line(text: &str) -> String {
    format!("folio: {}\n", Plain(text))
}

#[cfg(test)]
mod tests {
    /// ERR-01: a panic's message may have any number of lines, and what a terminal obeys.
    #[test]
    fn a_notice_is_one_line() {
        assert_eq!(super::line("a `b`\nc\u{1b}[31m\td"), "folio: a `b`\\nc\\u{1b}[31m\\td\n");
    }
}
