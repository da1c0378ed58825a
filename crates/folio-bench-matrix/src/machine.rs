//! Which machine and which source this is.

use crate::record::{Machine, Source};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

fn said(program: &str, args: &[&str]) -> Option<String> {
    let folder = env!("CARGO_MANIFEST_DIR");
    let output = Command::new(program).args(args).current_dir(folder).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// The source, by git and rustc; what they do not tell is unknown.
///
/// A program that is carried to another machine is built with `FOLIO_COMMIT` set: the commit, and
/// ` changed` behind it if the tree had changes.
pub fn source() -> Source {
    if let Some(built) = option_env!("FOLIO_COMMIT") {
        let commit = built.split(' ').next().map(str::to_owned);
        return Source {
            commit,
            is_changed: built.ends_with("changed"),
            rustc: said("rustc", &["--version"]),
        };
    }
    Source {
        commit: said("git", &["rev-parse", "HEAD"]),
        is_changed: said("git", &["status", "--porcelain"]).is_some_and(|text| !text.is_empty()),
        rustc: said("rustc", &["--version"]),
    }
}

/// The value behind `name` and a colon in one of Linux' tables.
fn value(table: &str, name: &str) -> Option<String> {
    let line = table.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Bytes of a text such as `32768K`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].chars().next() {
        Some('K' | 'k') => 1 << 10,
        Some('M') => 1 << 20,
        _ => 1,
    };
    digits.trim().parse::<u64>().ok().map(|number| number * unit)
}

/// The host. Facts that its system does not tell are empty or 0.
pub fn machine() -> Machine {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (cpu, memory) = (read("/proc/cpuinfo"), read("/proc/meminfo"));
    let caches = (0..8).map(|at| {
        bytes(&read(&format!("/sys/devices/system/cpu/cpu0/cache/index{at}/size"))).unwrap_or(0)
    });
    let kernel = read("/proc/sys/kernel/osrelease");
    Machine {
        system: format!("{} {}", std::env::consts::OS, kernel.trim()).trim().to_owned(),
        architecture: std::env::consts::ARCH.to_owned(),
        processor: value(&cpu, "model name").unwrap_or_default(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        memory: value(&memory, "MemTotal")
            .and_then(|text| bytes(&text.replace(' ', "")))
            .unwrap_or(0),
        cache: caches.max().unwrap_or(0),
    }
}

/// The time now, as `2026-11-27 01:30:00 UTC`.
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    utc(seconds)
}

/// By Hinnant's `civil_from_days`.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_827_696), "2000-02-29 12:34:56 UTC");
        assert_eq!(utc(1_795_743_000), "2026-11-27 01:30:00 UTC");
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(
            ["32768K", "8M", "512", "24600000kB"].map(bytes).map(Option::unwrap),
            [32 << 20, 8 << 20, 512, 24_600_000 << 10]
        );
        assert_eq!(bytes("none"), None);
    }
}
