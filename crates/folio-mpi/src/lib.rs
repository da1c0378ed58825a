//! Messages between the ranks of a world, over an MPI that is opened at run time.
//!
//! No header, no compiler wrapper and no library is needed to build this crate. [`wire`](wire())
//! looks for what the launcher (`mpirun`, `mpiexec`, `srun`) belongs to: a library with the
//! standard ABI of MPI 5, MPICH and what has its ABI, or Open MPI. A program that no launcher has
//! started is a world of one rank, and needs no MPI. A [`World`] is over such a wire: the devices
//! of all ranks as those of one machine.
//!
//! ```
//! let wire = folio_mpi::wire()?;
//! println!("rank {} of {}", wire.me(), wire.ranks());
//! wire.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `FOLIO_MPI` names another library, by a path or by a name that the system's loader finds;
//! it is then opened whether or not there is a launcher.

mod alone;
mod error;
mod launcher;
#[cfg(unix)]
mod library;
#[cfg(unix)]
mod wire;
mod world;

pub use alone::Alone;
pub use error::{Error, Tried};
pub use launcher::Launcher;
pub use world::World;

use folio_core::hal::Wire;

/// Joins the world that this process was started in. The thread that calls this makes all calls of
/// what it returns. MPI can be joined once in a process.
///
/// # Errors
/// [`Error::Missing`] if a launcher has started this process and no library of MPI is there;
/// [`Error::OtherLauncher`] if the library is not the launcher's, so that each process would be a
/// world of its own; [`Error::Twice`] if MPI has been joined before, here or by another library.
pub fn wire() -> Result<Box<dyn Wire>, Error> {
    let (launcher, named) = (Launcher::of_this_process(), launcher::named());
    if launcher.is_none() && named.is_none() {
        return Ok(Box::new(Alone::new()));
    }
    join(launcher, named)
}

#[cfg(unix)]
fn join(launcher: Option<Launcher>, named: Option<String>) -> Result<Box<dyn Wire>, Error> {
    library::join(launcher.as_ref(), named)
}

#[cfg(not(unix))]
fn join(_: Option<Launcher>, _: Option<String>) -> Result<Box<dyn Wire>, Error> {
    Err(Error::System)
}

/// What `folio doctor` says of MPI on this machine: each library that was looked for, and its own
/// description of itself, or why it cannot be opened. Nothing is joined.
#[cfg(unix)]
pub fn libraries() -> Vec<Tried> {
    library::describe(launcher::named())
}
