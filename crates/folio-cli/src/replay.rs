//! Launches that were kept when they failed, run again by the interpreter.

use crate::Error;
use crate::terminal::{Tone, say, say_parts};
use folio::ir::Site;
use folio_interp::interp::{Accessed, Who};
use folio_interp::replay::{Compared, Replayed, replay};
use folio_layers::Capsule;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A position, as `3` or `3,4`.
pub fn position(text: &str) -> Result<Position, String> {
    let numbers = text.split(',').map(|number| number.trim().parse::<u64>());
    let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().map_err(|why| why.to_string())?;
    match numbers.len() {
        1..=3 => Ok(Position(numbers)),
        _ => Err("1 to 3 numbers with commas".to_owned()),
    }
}

/// The position of an item.
#[derive(Clone, Debug)]
pub struct Position(Vec<u64>);

/// Replays a capsule, or all of a folder. The exit code is 1 where an item fails or bits differ.
pub fn run(path: &Path, item: Option<&Position>) -> Result<ExitCode, Error> {
    let is_folder = fs::metadata(path).is_ok_and(|about| about.is_dir());
    let files = if is_folder { capsules(path)? } else { vec![path.to_owned()] };
    let mut clean = true;
    for (nth, file) in files.iter().enumerate() {
        let told = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
        let capsule = Capsule::read(file).map_err(|why| told(&why))?;
        if nth > 0 {
            say("");
        }
        introduce(file, &capsule);
        let item = item.map(|item| item.0.as_slice());
        let replayed = replay(&capsule, item).map_err(|why| told(&why))?;
        tell(&replayed);
        let differs = replayed.compared.iter().any(|of| of.different > 0);
        clean &= replayed.failed.is_none() && !differs;
    }
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn capsules(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let told = |why: std::io::Error| format!("{}: {why}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        if path.extension().is_some_and(|kind| kind == "capsule") {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(format!("{}: there are no capsules", folder.display()).into());
    }
    files.sort();
    Ok(files)
}

/// Dimensions without the leading ones that the kernel does not have.
fn shown(dims: [u64; 3], rank: usize) -> String {
    let own: Vec<String> = dims.iter().skip(3 - rank.clamp(1, 3)).map(u64::to_string).collect();
    own.join(" x ")
}

fn introduce(file: &Path, capsule: &Capsule) {
    let Capsule { device, label, failure, kernel, range, group, .. } = capsule;
    let rank = usize::from(kernel.shape.rank);
    let mut line = format!("{}: kernel `{}` on {device}", file.display(), kernel.name);
    // Writing to a string does not fail.
    if !label.is_empty() {
        let _ = write!(line, ", `{label}`");
    }
    let _ = write!(line, ", {} items", shown(*range, rank));
    if let Some(group) = group {
        let _ = write!(line, " in groups of {}", shown(*group, rank));
    }
    say(line);
    say(format_args!("  device: {failure}"));
}

fn place(site: Option<&Site>) -> String {
    site.map_or(String::new(), |site| format!("{}:{}:{}: ", site.file, site.line, site.column))
}

fn tell(replayed: &Replayed) {
    let Replayed { failed, violation, failures, accesses, compared } = replayed;
    for Accessed { site, param, index, old, new } in accesses {
        let at = place(site.as_ref());
        match new {
            Some(new) => say(format_args!("  {at}{param}{index:?} = {new} (was {old})")),
            None => say(format_args!("  {at}{param}{index:?} is {old}")),
        }
    }
    let who = failed.map(|who| match who {
        Who::Item([i, j, k]) => format!("item [{i}, {j}, {k}]"),
        Who::Group([i, j, k]) => format!("group [{i}, {j}, {k}]"),
    });
    match (who, violation) {
        (None, _) => say_parts(&[(Tone::Good, &"  replay: no item fails")]),
        (Some(who), None) => say_parts(&[(Tone::Bad, &format_args!("  replay: {who} fails"))]),
        (Some(who), Some(violation)) => {
            let how = violation.place();
            say_parts(&[(Tone::Bad, &format_args!("  replay: {who} fails: {how}"))]);
        }
    }
    if *failures > 1 {
        say(format_args!("  {failures} different failures of all items"));
    }
    for Compared { param, equal, left, different, first } in compared {
        let mut line = format!("  `{param}`: {equal} elements with the device's bits");
        if *left > 0 {
            let _ = write!(line, ", {left} that the device did not write");
        }
        if *different > 0 {
            let _ = write!(line, ", {different} with other bits");
        }
        if let Some((index, device, own)) = first {
            let _ = write!(line, ": {index:?}, device {}, replay {}", hex(device), hex(own));
        }
        say(line);
    }
}

/// The bytes of an element as a number, the last byte first.
fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().rev().map(|byte| format!("{byte:02x}"));
    digits.fold("0x".to_owned(), |text, byte| text + &byte)
}
