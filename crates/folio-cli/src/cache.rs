//! The cache of compiled programs, and bundles of what is in it.

use crate::Error;
use crate::output::Output;
use crate::terminal::{Table, Tone, say, say_json};
use folio::ir::words::{bytes, count};
use folio_cache::{Bundle, Cache};
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The cache that programs use, and where it is.
fn cache() -> Result<(Cache, PathBuf), Error> {
    let cache = Cache::from_environment();
    let directory = cache.directory().map(Path::to_owned);
    let directory = directory.ok_or("the cache is switched off, or there is no place for it")?;
    Ok((cache, directory))
}

fn entries() -> Result<(Vec<folio_cache::Entry>, PathBuf), Error> {
    let (cache, directory) = cache()?;
    let entries = cache.entries().map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok((entries, directory))
}

pub fn list(json: bool) -> Result<(), Error> {
    let (entries, directory) = entries()?;
    let age = |used| SystemTime::now().duration_since(used).unwrap_or_default();
    if json {
        let all = entries.iter().map(|entry| {
            let (seconds, bytes) = (age(entry.used).as_secs(), entry.bytes);
            json!({
                "kind": entry.kind, "name": entry.name, "version": entry.version, "bytes": bytes,
                "seconds_since_use": seconds,
            })
        });
        let all: Vec<_> = all.collect();
        say_json(&json!({"directory": directory.display().to_string(), "programs": all}));
        return Ok(());
    }
    let mut table = Table::new(&["kernel", "backend", "version", ">size", ">last used"]);
    for entry in &entries {
        let (name, kind, version) = (&entry.name, &entry.kind, &entry.version);
        let [name, kind, version] = [name, kind, version].map(String::clone);
        table.row(Tone::Plain, vec![name, kind, version, bytes(entry.bytes), ago(age(entry.used))]);
    }
    if !entries.is_empty() {
        table.say();
    }
    say(format_args!("{} in {}", programs(entries.len()), directory.display()));
    Ok(())
}

fn programs(number: usize) -> String {
    count(number as u64, "program")
}

/// How long something is past.
fn ago(age: Duration) -> String {
    let units = [("day", 86_400), ("hour", 3600), ("minute", 60)];
    let unit = units.into_iter().find(|(_, seconds)| age.as_secs() >= *seconds);
    unit.map_or("just now".to_owned(), |(unit, seconds)| {
        format!("{} ago", count(age.as_secs() / seconds, unit))
    })
}

/// An age as a user writes it: a number, and `m`, `h` or `d`.
pub fn age(text: &str) -> Result<Duration, String> {
    let units = [('m', 60), ('h', 3600), ('d', 86_400)];
    let told = units.into_iter().find_map(|(unit, seconds)| {
        let number = text.strip_suffix(unit)?.parse::<u64>().ok()?;
        number.checked_mul(seconds).map(Duration::from_secs)
    });
    told.ok_or_else(|| "an age is a number of minutes, hours or days: `90m`, `12h`, `30d`".into())
}

pub fn size() -> Result<(), Error> {
    let (entries, directory) = entries()?;
    let all = entries.iter().map(|entry| entry.bytes).sum();
    say(format_args!("{}, {} in {}", programs(entries.len()), bytes(all), directory.display()));
    Ok(())
}

pub fn clear(older_than: Option<Duration>, yes: bool) -> Result<(), Error> {
    let (cache, directory) = cache()?;
    let shown = directory.display();
    if !yes && !is_confirmed(&format!("remove compiled programs from {shown}?"))? {
        say("nothing removed");
        return Ok(());
    }
    let gone = cache.clear_unused_for(older_than.unwrap_or_default());
    let gone = gone.map_err(|error| format!("{shown}: {error}"))?;
    say(format_args!("{} removed from {shown}", programs(gone)));
    Ok(())
}

/// Asks a person. Without a terminal no person can answer, and nothing is done.
fn is_confirmed(question: &str) -> Result<bool, Error> {
    if !std::io::stdin().is_terminal() {
        return Err(format!("{question} No terminal is there to ask: say `--yes`").into());
    }
    say(format_args!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes)))
}

/// Several directories: of several kinds of device.
pub fn pack(file: &Path, directories: &[PathBuf]) -> Result<(), Error> {
    let mut bundle = Bundle::default();
    for directory in directories {
        // SAFETY: no driver runs it here. Who loads the bundle says whom he trusts.
        let more = unsafe { Cache::at(directory) }.bundle();
        bundle = bundle.with(&more.map_err(|error| format!("{}: {error}", directory.display()))?);
    }
    if bundle.is_empty() {
        return Err("no compiled program is there".into());
    }
    let packed = bundle.to_bytes();
    let output = Output::beside(file)?;
    output.write(&packed)?;
    output.finish()?;
    let (number, size) = (programs(bundle.len()), bytes(packed.len() as u64));
    say(format_args!("{}: {number}, {size}", file.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_and_told() {
        let read = |text| age(text).ok().map(|age| age.as_secs());
        assert_eq!(["90m", "12h", "30d"].map(read), [Some(5400), Some(43_200), Some(2_592_000)]);
        for wrong in ["", "5", "m", "-1d", "1w", "99999999999999999999d", "18446744073709551615d"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        let told = [0, 59, 60, 7200, 86_400 * 3].map(|seconds| ago(Duration::from_secs(seconds)));
        assert_eq!(told, ["just now", "just now", "1 minute ago", "2 hours ago", "3 days ago"]);
    }
}
