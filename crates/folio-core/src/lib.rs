//! The heart of Folio, free of vendor code: devices as backends present them ([`hal`]), buffers in
//! pages ([`pages`]), commands and their dependencies, and the engine that drives it all.
//!
//! Users take all this from the `folio` crate; the authors of backends depend on this crate alone.

pub mod geom;
pub mod hal;
pub mod pages;
pub mod sched;

mod buffer;
mod element;
mod engine;
mod error;
mod event;
mod graph;
mod group;
mod queue;
mod report;
mod runtime;
mod select;
mod sync;
mod views;

/// Bugs on purpose, for tests of the tests that must find them.
#[cfg(feature = "planted")]
pub mod planted {
    use std::cell::Cell;

    thread_local! {
        /// Commands submitted by this thread are not checked for accesses that overlap.
        pub static NO_ALIAS_CHECK: Cell<bool> = const { Cell::new(false) };
    }
}

pub use buffer::{
    AsPart, AsPartMut, Buffer, BufferOptions, Part, ReadFuture, ReadGuard, Shared, Slice, SliceMut,
    WriteGuard,
};
pub use element::DeviceType;
pub use error::{Cause, Error, Failure, Label, Result};
pub use event::{Event, Status};
pub use group::{CommandGroup, Read, ReadWrite, TaskResult, Write};
pub use queue::Queue;
pub use report::{Counters, Moves};
pub use runtime::{DeviceRef, Runtime, RuntimeBuilder};
pub use select::{DEVICE_VARIABLE, Selector};
pub use views::{HostArgs, HostRead, HostWrite, In, InOut, Item, KernelArgs, Out};
