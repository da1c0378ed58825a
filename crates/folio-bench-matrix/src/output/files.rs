//! The folder of a run. The folder is tried before anything is measured, so that no measurement is
//! lost.

use super::{page, plots, table};
use crate::error::{Error, Result};
use crate::record::Matrix;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Makes the folder, and sees whether files can be written there.
pub fn check(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(Error::file("make the folder", folder))?;
    let trial = folder.join(format!(".trial-{}", std::process::id()));
    File::create_new(&trial).map_err(Error::file("write to", folder))?;
    std::fs::remove_file(&trial).map_err(Error::file("write to", folder))
}

/// Writes everything. The JSON comes first: all else can be made of it.
pub fn write(matrix: &Matrix, folder: &Path, gate: Option<f64>) -> Result<()> {
    replace(folder, "matrix.json", &matrix.json())?;
    let plots = plots::plots(matrix);
    replace(folder, "table.txt", &table::table(matrix, gate))?;
    replace(folder, "index.html", &page::page(matrix, &plots)?)?;
    plots
        .iter()
        .try_for_each(|plot| replace(folder, &format!("{}.svg", plot.name), &plot.svg.file()))
}

/// As [`write()`]; where that fails, the JSON goes to the system's folder for temporary files.
pub fn write_somewhere(matrix: &Matrix, folder: &Path, gate: Option<f64>) -> Result<()> {
    write(matrix, folder, gate).map_err(|why| {
        let (place, name) = (std::env::temp_dir(), format!("matrix-{}.json", std::process::id()));
        let kept = match replace(&place, &name, &matrix.json()) {
            Ok(()) => place.join(name).display().to_string(),
            Err(_) => matrix.json(),
        };
        Error::NotWritten { why: Box::new(why), kept }
    })
}

/// Writes a file of its own and renames it, so that a file is the old one or the new one. A place
/// that is no plain file stays, and so does a file that another program has made beside it.
fn replace(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path: PathBuf = folder.join(name);
    if std::fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
        let why = std::io::Error::new(ErrorKind::InvalidInput, "this is no plain file");
        return Err(Error::file("write", &path)(why));
    }
    let new = folder.join(format!(".{name}.{}.new", std::process::id()));
    let mut file = File::create_new(&new).map_err(Error::file("write", &path))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| std::fs::rename(&new, &path));
    written.map_err(|why| {
        // The part that was written is of no use.
        let _ = std::fs::remove_file(&new);
        Error::file("write", &path)(why)
    })
}
