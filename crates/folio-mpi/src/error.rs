//! Why a world cannot be joined.

use folio_core::hal::WireError;
use std::fmt;

/// A library that was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Its name, as the system's loader was asked for it.
    pub name: String,
    /// What it says of itself, or why it is of no use.
    pub found: Result<String, String>,
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Ok(words) | Err(words)) = &self.found;
        write!(f, "{}: {words}", self.name)
    }
}

/// Why a world cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no library.
    #[error(
        "no MPI ({}); install one, as the package `mpich` or `openmpi-bin`, or name it by FOLIO_MPI",
        list(.tried)
    )]
    Missing {
        /// What was looked for.
        tried: Vec<Tried>,
    },
    /// The library makes a world of its own for each process of the launcher.
    #[error(
        "the launcher has started {started} ranks, and {library} sees {seen}: it belongs to \
         another launcher; start the program by that one, or name the launcher's by FOLIO_MPI"
    )]
    OtherLauncher {
        /// Ranks that the launcher has started.
        started: u32,
        /// Ranks that the library sees.
        seen: u32,
        /// The library, by its own words.
        library: String,
    },
    /// MPI has been joined in this process before.
    #[error("MPI has been joined in this process before, which is possible once")]
    Twice,
    /// A call failed while the world was joined.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// There is no thread for messages.
    #[error("the thread for messages between ranks: {why}")]
    Thread {
        /// The system's words.
        why: String,
    },
    /// Libraries of MPI are known on Unix systems only.
    #[error("folio-mpi knows no MPI of this operating system")]
    System,
}

fn list(tried: &[Tried]) -> String {
    tried.iter().map(Tried::to_string).collect::<Vec<_>>().join("; ")
}
