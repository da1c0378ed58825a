//! `folio draw`: a picture of a graph, by Graphviz.

use crate::Error;
use crate::output::Output;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// Has Graphviz's program `dot` write the picture of a DOT file, of the kind that the name of the
/// picture ends with.
pub fn run(file: &Path, out: &Path, dot: &OsStr) -> Result<(), Error> {
    let kind = out.extension().and_then(OsStr::to_str).unwrap_or("svg");
    // Whole, so that no name is taken for an option.
    let whole = |path: &Path| {
        let whole = std::path::absolute(path);
        whole.map_err(|error| format!("{}: {error}", path.display()))
    };
    let file = &whole(file)?;
    std::fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let output = Output::beside(out)?;
    let mut command = Command::new(dot);
    command.arg(format!("-T{kind}")).arg("-o").arg(output.path()).arg(file);
    // Messages of the program go where this program's errors go.
    let status = command.status().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "pictures need Graphviz, and there is no program {}: install the package `graphviz`",
            dot.display()
        ),
        _ => format!("{}: {error}", dot.display()),
    })?;
    match status.success() {
        true => output.finish(),
        false => Err(format!("{} cannot draw {}: {status}", dot.display(), file.display()).into()),
    }
}
