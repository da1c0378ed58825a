//! Colours of the terminal. Files have none.

use std::ffi::OsString;

/// Red for each line that names a failure, and for the list below it.
pub fn coloured(text: &str) -> String {
    let mut is_list = false;
    let line = |line: &str| {
        let (words, end) = line.strip_suffix('\n').map_or((line, ""), |words| (words, "\n"));
        let is_below = is_list && words.starts_with("  ");
        is_list = is_below || words.contains("FAILED");
        match is_list || words.starts_with("NO ROW") {
            true => format!("\u{1b}[1;31m{words}\u{1b}[0m{end}"),
            false => line.to_owned(),
        }
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Whether output has colours, by the variables that programs agree on: `NO_COLOR` switches them
/// off, `CLICOLOR_FORCE` on, and `CLICOLOR=0` and `TERM=dumb` off; a file has none. `folio` has the
/// same rule.
pub fn has_colours(variable: impl Fn(&str) -> Option<OsString>, is_terminal: bool) -> bool {
    let value = |name| variable(name).filter(|value| !value.is_empty());
    if value("NO_COLOR").is_some() {
        return false;
    }
    if value("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    let is_off = value("CLICOLOR").is_some_and(|value| value == "0");
    let is_dumb = value("TERM").is_some_and(|value| value == "dumb");
    is_terminal && !is_off && !is_dumb
}
