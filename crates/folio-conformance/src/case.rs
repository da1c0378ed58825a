//! A single case by its name, in place of a suite: `FOLIO_CASE=name`.

use crate::suite::Summary;
use crate::{engine, hal};

/// The variable that names a case.
pub const CASE_VARIABLE: &str = "FOLIO_CASE";

/// How many names a message lists.
const LISTED: usize = 5;

/// The case that the environment asks for. Of a name that no suite has, the summary says so.
pub(crate) fn asked(summary: &mut Summary) -> Option<String> {
    let asked = std::env::var(CASE_VARIABLE).ok()?;
    let all = [engine::names(), hal::names()].concat();
    if !all.contains(&&*asked) {
        let near = nearest(&asked, all).join("`, `");
        let why = format!("{CASE_VARIABLE}: there is no case `{asked}`; near are `{near}`");
        summary.surprises.push(why);
    }
    summary.only = Some(asked.clone());
    Some(asked)
}

/// Names that have the text in them, and then those that take the fewest changes.
fn nearest(asked: &str, mut all: Vec<&'static str>) -> Vec<&'static str> {
    all.sort_by_key(|name| (!name.contains(asked), distance(asked, name)));
    all.truncate(LISTED);
    all
}

/// How many characters are to be added, removed or exchanged.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.bytes().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.bytes().enumerate() {
            let changed = corner + usize::from(from != to);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(a.len())
}
