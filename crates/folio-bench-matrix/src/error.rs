//! Errors, for a person to read: which thing, what was asked, what is possible.

use std::path::{Path, PathBuf};

/// An error of the command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A filter names no workload.
    #[error("no workload '{name}'; there are {}", .known.join(", "))]
    UnknownWorkload {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A filter names no peer.
    #[error("no peer '{name}'; there are {}", .known.join(", "))]
    UnknownPeer {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A filter names no backend.
    #[error("no backend '{name}'; this program is built with {}", .known.join(", "))]
    UnknownBackend {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A backend was asked for, and has no device here.
    #[error("backend {name} has no device here: {why}")]
    NoDevice {
        /// The backend.
        name: String,
        /// The backend's reason.
        why: String,
    },
    /// The filters leave nothing.
    #[error("no row of the matrix passes all filters: {filters}")]
    NothingLeft {
        /// The filters.
        filters: String,
    },
    /// A file or folder cannot be read or written.
    #[error("cannot {doing} {}: {why}", .path.display())]
    File {
        /// The failed action.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        why: std::io::Error,
    },
    /// The results could not be written where they should be.
    #[error("{why}\nwhat was measured is kept: {kept}")]
    NotWritten {
        /// The error.
        why: Box<Error>,
        /// The file that has it, or the results themselves.
        kept: String,
    },
    /// A file is not a matrix.
    #[error("{} is not a saved matrix: {why}", .path.display())]
    NotAMatrix {
        /// The file.
        path: PathBuf,
        /// The fault of its text.
        why: serde_json::Error,
    },
    /// A file has another format.
    #[error("{} has format {found}, and this program reads format {expected}: measure it anew, or use the program that wrote it", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's format.
        found: u64,
        /// Ours.
        expected: u64,
    },
    /// A call of a driver failed in hand-written code.
    #[error("by hand: {call}: {why}")]
    Driver {
        /// The call.
        call: &'static str,
        /// The driver's answer.
        why: String,
    },
    /// A row is not possible on a device.
    #[error("{0}")]
    NotHere(String),
    /// The two sides computed different things.
    #[error("wrong result at {at}: ours {ours}, by hand {theirs}")]
    Mismatch {
        /// The element.
        at: usize,
        /// Our value.
        ours: f64,
        /// The baseline's value.
        theirs: f64,
    },
    /// The two sides have different numbers of results.
    #[error("ours has {ours} results, by hand has {theirs}")]
    Lengths {
        /// Our number.
        ours: usize,
        /// The baseline's number.
        theirs: usize,
    },
    /// A side left its results as they were.
    #[error("{side} has changed no result")]
    NothingDone {
        /// The side.
        side: &'static str,
    },
    /// Folio's own.
    #[error(transparent)]
    Folio(#[from] folio::Error),
    /// A template is wrong.
    #[error("the report's template: {0}")]
    Template(#[from] minijinja::Error),
}

/// A result.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// For a call on a file.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |why| Error::File { doing, path, why }
    }

    /// The row is only left out: the device cannot do what it measures.
    pub fn is_skip(&self) -> bool {
        matches!(self, Error::NotHere(_) | Error::Folio(folio::Error::Unsupported { .. }))
    }
}
