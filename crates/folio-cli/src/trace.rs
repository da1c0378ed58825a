//! `folio trace PROGRAM`.

use crate::output::Output;
use crate::terminal::say;
use crate::{Error, interrupt};
use folio::ir::words::count;
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The events of a trace, also of one that was not closed: its program has crashed, or goes on.
pub fn read(file: &Path) -> Result<Vec<Value>, Error> {
    read_as(file, file)
}

/// The same of a file that messages call `shown`.
fn read_as(file: &Path, shown: &Path) -> Result<Vec<Value>, Error> {
    let shown = shown.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
    let closed = |text: &str| serde_json::from_str(&format!("{text}]"));
    let events = serde_json::from_str(&text).or_else(|_| closed(&text));
    // A line may be there in part, where the disk was full.
    let events = events.or_else(|why| match text.rsplit_once(",\n") {
        Some((whole, _)) => closed(whole),
        None => Err(why),
    });
    events.map_err(|error| format!("{shown}: this is no trace of Folio's: {error}").into())
}

pub fn run(out: &Path, program: &[OsString]) -> Result<ExitCode, Error> {
    let [name, words @ ..] = program else { return Err("no program".into()) };
    let shown = out.display();
    // Before the program runs, so that a place that cannot be written is told at once.
    let output = Output::beside(out)?;
    interrupt::outlive();
    let status = Command::new(name).args(words).env("FOLIO_TRACE", output.path()).status();
    let status = status.map_err(|error| format!("{}: {error}", name.display()))?;
    if !output.has_contents() {
        return Err("the program has traced nothing: build it with Folio's feature `trace`; one that begins with `Runtime::builder()` calls \
                    `folio::trace::from_environment`, and one with a `tracing` subscriber adds `folio::trace::layer` to that"
            .into());
    }
    let events = read_as(output.path(), out)?;
    output.write(serde_json::to_string(&events)?.replace("},{", "},\n{").as_bytes())?;
    output.finish()?;
    say(format_args!("{shown}: {}", count(events.len() as u64, "event")));
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
