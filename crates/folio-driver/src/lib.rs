//! The parts that backends over drivers have in common, whichever driver it is.
//!
//! A backend calls its driver; the parts around these calls are here, each testable without a
//! device. No part knows a driver, and no part keeps a thread but those that [copy](host).
//!
//! | module | noun | what a backend does with it |
//! | --- | --- | --- |
//! | [`rect`] | [`Rect`](rect::Rect) | joins rows of copies and fills, and cuts large ones into parts |
//! | [`host`] | [`Rows`](host::Rows) | copies and fills memory of the host, by several threads |
//! | [`launch`] | [`Blocks`](launch::Blocks) | cuts a launch of an emitted text into blocks and grids |
//! | [`arguments`] | [`Passed`](arguments::Passed) | collects what a launch passes to its kernel |
//! | [`reduce`] | [`Scratch`](reduce::Scratch) | combines the values of launch-wide reductions |
//! | [`verdict`] | [`Verdict`](verdict::Verdict) | reads what a launch has done wrong |
//! | [`retire`] | [`Retired`](retire::Retired) | reports ticks in order, and each failure once |
//! | [`kernels`] | [`Kernels`](kernels::Kernels) | finds loaded code by its handle, without a lock |
//! | [`loss`] | [`Loss`](loss::Loss) | remembers why a device is lost |
//! | [`library`] | [`Missing`](library::Missing) | says why there is no driver |
//! | [`memory`] | [`Handles`](memory::Handles) | finds allocations; asks twice where memory is short |
//!
//! A lane that does its work at once shows most of what a lane is made of:
//!
//! ```
//! use folio_core::hal::{HalError, Tick};
//! use folio_driver::retire::Retired;
//!
//! struct MyLane {
//!     retired: Retired,
//! }
//!
//! impl MyLane {
//!     fn enqueue(&self, tick: Tick, work: impl FnOnce() -> Result<(), HalError>) {
//!         if let Err(error) = work() {
//!             self.retired.fail(tick, error);
//!         }
//!         // The failure is known before the tick is reported.
//!         self.retired.ended(tick);
//!     }
//! }
//!
//! let lane = MyLane { retired: Retired::default() };
//! lane.enqueue(1, || Ok(()));
//! lane.enqueue(2, || Err(HalError::unsupported("this work")));
//! assert_eq!(lane.retired.done(), 2);
//!
//! let mut failures = vec![];
//! lane.retired.failures(&mut |tick, error| failures.push((tick, error.to_string())));
//! assert_eq!(failures.len(), 1);
//! assert_eq!(failures[0].0, 2);
//! ```

pub mod arguments;
pub mod host;
pub mod kernels;
pub mod launch;
pub mod library;
pub mod loss;
pub mod memory;
pub mod rect;
pub mod reduce;
pub mod retire;
pub mod verdict;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose holders leave nothing half-done, so that a panic of one spoils nothing.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
