//! Managed pointers: moves, tasks, futures, misuse, streams.
//!
//! A device with memory of its own is *away*; where there is none, tests show that nothing moves.

mod life;
mod misuse;
mod moves;
mod streams;

use super::rig::*;
use folio_core::hal::MemoryHome;
use folio_core::{
    Error,
    managed::{Executor, ManagedPtr},
};

pub(super) const TESTS: &[&[super::Test]] =
    &[moves::TESTS, misuse::TESTS, life::TESTS, streams::TESTS];

/// An executor of each device.
fn executors(rig: &Rig) -> Result<Vec<Executor>, Stop> {
    Ok(rig.rt.devices().iter().map(|device| rig.rt.executor(device)).collect::<Result<_, _>>()?)
}

/// True when a device has memory of its own.
fn is_away(executor: &Executor) -> bool {
    executor.device().info().home != MemoryHome::Host
}

/// An executor of a device with memory of its own, or of the first device.
fn far(rig: &Rig) -> Result<Executor, Stop> {
    let all = executors(rig)?;
    match all.iter().find(|executor| is_away(executor)).or(all.first()) {
        Some(executor) => Ok(executor.clone()),
        None => unsupported("devices"),
    }
}

/// That a pointer is on an executor, and on the host only if that is the same memory.
fn is_on(x: &ManagedPtr<i32>, executor: &Executor) -> Outcome {
    ensure!(x.is_accessible_on(executor), "not on {executor:?}");
    ensure_eq!(x.is_accessible(), !is_away(executor));
    if is_away(executor) {
        refused!(x.read(), Error::Inaccessible { .. });
        refused!(x.write(), Error::Inaccessible { .. });
        refused!(x.discard(), Error::Inaccessible { .. });
        refused!(x.to_vec(), Error::Inaccessible { .. });
    } else {
        x.read()?;
    }
    Ok(())
}

/// That a pointer is on the host, with these elements.
fn is_home(x: &ManagedPtr<i32>, elements: &[i32]) -> Outcome {
    ensure!(x.is_accessible(), "not on the host");
    ensure_eq!(x.read()?[..], *elements);
    Ok(())
}
