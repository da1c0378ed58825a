//! `folio trace PROGRAM`.

use crate::{Error, say};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The events of a trace, also of one that was not closed: its program has crashed, or goes on.
pub fn read(file: &Path) -> Result<Vec<Value>, Error> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
    let events = serde_json::from_str(&text).or_else(|_| serde_json::from_str(&format!("{text}]")));
    events.map_err(|error| format!("{shown}: this is no trace of Folio's: {error}").into())
}

pub fn run(out: &Path, program: &[OsString]) -> Result<ExitCode, Error> {
    let [name, words @ ..] = program else { return Err("no program".into()) };
    let shown = out.display();
    // Made here, so that a place that cannot be written is told before the program runs, and the
    // program may run in another folder.
    fs::write(out, "").map_err(|error| format!("{shown}: {error}"))?;
    let file = fs::canonicalize(out).map_err(|error| format!("{shown}: {error}"))?;
    let status = Command::new(name).args(words).env("FOLIO_TRACE", &file).status();
    let status = status.map_err(|error| format!("{}: {error}", name.display()))?;
    if fs::metadata(&file).is_ok_and(|about| about.len() == 0) {
        let _ = fs::remove_file(&file);
        return Err("the program has traced nothing: build it with Folio's feature `trace`; one that begins with `Runtime::builder()` calls \
                    `folio::trace::from_environment`, and one with a `tracing` subscriber adds `folio::trace::layer` to that"
            .into());
    }
    let events = read(&file)?;
    let text = serde_json::to_string(&events)?.replace("},{", "},\n{");
    fs::write(&file, text).map_err(|error| format!("{shown}: {error}"))?;
    say(format_args!("{shown}: {} events", events.len()));
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
