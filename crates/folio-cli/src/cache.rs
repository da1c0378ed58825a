//! The cache of compiled programs, and bundles of what is in it.

use crate::output::Output;
use crate::{Error, say};
use folio_cache::{Bundle, Cache};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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
    let age = |used| SystemTime::now().duration_since(used).unwrap_or_default().as_secs();
    if json {
        let all = entries.iter().map(|entry| {
            let (seconds, bytes) = (age(entry.used), entry.bytes);
            json!({"kind": entry.kind, "version": entry.version, "bytes": bytes, "seconds_since_use": seconds})
        });
        let all: Vec<_> = all.collect();
        let all = json!({"directory": directory.display().to_string(), "programs": all});
        say(format_args!("{all:#}"));
        return Ok(());
    }
    say(format_args!("{:<10} {:<8} {:>10} {:>14}", "backend", "version", "bytes", "last used"));
    for entry in &entries {
        let (minutes, bytes) = (age(entry.used) / 60, entry.bytes);
        let row = format!("{:<10} {:<8} {bytes:>10}", entry.kind, entry.version);
        say(format_args!("{row} {minutes:>6} min ago"));
    }
    say(format_args!("{} programs in {}", entries.len(), directory.display()));
    Ok(())
}

pub fn size() -> Result<(), Error> {
    let (entries, directory) = entries()?;
    let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    say(format_args!("{} programs, {bytes} bytes in {}", entries.len(), directory.display()));
    Ok(())
}

pub fn clear() -> Result<(), Error> {
    let (cache, directory) = cache()?;
    let gone = cache.clear().map_err(|error| format!("{}: {error}", directory.display()))?;
    say(format_args!("{gone} programs removed from {}", directory.display()));
    Ok(())
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
    let bytes = bundle.to_bytes();
    let output = Output::beside(file)?;
    output.write(&bytes)?;
    output.finish()?;
    say(format_args!("{}: {} programs, {} bytes", file.display(), bundle.len(), bytes.len()));
    Ok(())
}
