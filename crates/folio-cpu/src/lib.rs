//! Folio's CPU backend: kernels on all cores, and CPUs that act as several devices.
//!
//! Responsible for: memory of one or several *domains* ([`Builder::domains`]), lanes that run
//! closures, copies and fills in order, the private thread pool behind them, and the decision
//! whether an operation runs on the submitting thread, on one thread of the pool, or on all.
//! Relies on the promises of [`folio_core::hal`]; never validates what the engine has validated,
//! never calls back except through [`Notify`], never touches rayon's global pool.
//!
//! Code map: `config` (builder and environment), `cores` (how many there are), `device` (backend
//! and devices), `memory` (domains), `frames` (their memory in parts), `lane` (the queue and the
//! wait protocol), `driver` (who runs a lane, and how), `op` (what is queued), `spread` (a launch
//! cut into blocks), `bytes` (copies and fills), `cost` (how long a kernel took before), `pool`
//! (threads and the lanes that are ready), `rest` (how work finds a thread), `share` (launches on
//! several threads), `crew` (the threads that share them), `job` (what they share), `round` (how
//! they take blocks of it), `bed` (where one of them sleeps), `graph` (lists of operations that run
//! as one), `list` (how such a list runs), `sync` (locks and atomics, or loom's).
//!
//! # Waiting inside a kernel
//!
//! A kernel's closure may submit work and wait for *other* lanes: no lock of this crate is held
//! while user code runs, and a waiting worker runs other lanes meanwhile. A closure that waits
//! without a deadline for its own operation, or for anything behind it, waits for ever, as a
//! thread that joins itself would.
//!
//! # Example
//!
//! ```
//! use folio_core::hal::Backend;
//! let cpu = folio_cpu::CpuBackend::builder().domains(2).build()?;
//! assert_eq!(cpu.devices().map_err(|why| why.reason)?.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Notify`]: folio_core::hal::Notify

mod bed;
mod bytes;
mod config;
mod cores;
mod cost;
mod crew;
mod device;
mod driver;
mod frames;
mod graph;
mod job;
mod lane;
mod list;
mod memory;
#[cfg(all(loom, test))]
mod models;
mod op;
mod pool;
mod rest;
mod round;
mod share;
mod spread;
mod sync;
mod trial;

pub use config::{Builder, ConfigError, GroupLimits};
pub use device::CpuBackend;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, whatever happened to an earlier holder: no user code runs under this crate's locks and
/// each of them protects a state that is whole between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
