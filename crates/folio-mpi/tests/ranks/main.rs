//! Worlds of several ranks, by each library and launcher that is there.
//!
//! A test starts this program again by a launcher, and `rank` is what each of its processes runs.
//! Without a launcher `rank` is a world of one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may panic"
)]

mod cases;
mod launch;
mod program;

use folio_core::hal::Wire;

/// What a process of a world does: the case that the launching test names, or all of them.
#[test]
fn rank() -> Result<(), Box<dyn std::error::Error>> {
    let wanted = std::env::var(launch::CASE).unwrap_or_default();
    let mut wire = folio_mpi::wire().map_err(|error| error.to_string())?;
    for (name, case) in cases::CASES {
        if wanted.is_empty() || wanted == *name {
            case(&mut *wire)?;
        }
    }
    let (me, ranks) = (wire.me(), wire.ranks());
    wire.close()?;
    println!("rank {me} of {ranks} is well");
    Ok(())
}

/// A program over the devices of all ranks; without a launcher, of one.
#[test]
fn program() -> Result<(), Box<dyn std::error::Error>> {
    program::run()
}

/// DIST-04
#[test]
fn worlds_of_open_mpi() {
    launch::in_worlds(&launch::OPEN_MPI, "libmpi.so.40");
}

/// DIST-04
#[test]
fn worlds_of_mpich() {
    launch::in_worlds(&launch::MPICH, "libmpich.so.12");
}

/// DIST-04
#[test]
fn worlds_of_the_standard_interface() {
    launch::in_worlds(&launch::MPICH, &launch::standard());
}

/// Each process would be a world of its own, and compute all of it.
#[test]
fn library_of_another_launcher_is_refused() {
    let outcome = launch::run(&launch::OPEN_MPI, "libmpich.so.12", 2, "notes");
    assert!(!outcome.is_well, "{}", outcome.output);
    let words = "the launcher has started 2 ranks, and MPICH Version: ";
    assert!(outcome.output.contains(words), "{}", outcome.output);
}

#[test]
fn library_that_is_not_there_is_named() {
    let outcome = launch::run(&launch::MPICH, "libno_such_mpi.so.7", 2, "notes");
    assert!(!outcome.is_well, "{}", outcome.output);
    assert!(outcome.output.contains("libno_such_mpi.so.7"), "{}", outcome.output);
}

#[test]
fn mpi_is_joined_once() {
    let outcome = launch::run(&launch::MPICH, "libmpich.so.12", 1, launch::TWICE);
    assert!(outcome.is_well, "{}", outcome.output);
}

/// A second world in one process is an error, whatever came of the first.
#[test]
fn joined_twice() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::var(launch::CASE).as_deref() != Ok(launch::TWICE) {
        // A world without MPI may be had again and again.
        for _ in 0..2 {
            folio_mpi::wire()?.close()?;
        }
        return Ok(());
    }
    let first: Box<dyn Wire> = folio_mpi::wire()?;
    assert!(matches!(folio_mpi::wire(), Err(folio_mpi::Error::Twice)));
    first.close()?;
    assert!(matches!(folio_mpi::wire(), Err(folio_mpi::Error::Twice)));
    println!("rank 0 of 1 is well");
    Ok(())
}
