//! The heart of Folio, free of vendor code: devices as backends present them ([`hal`]), buffers in
//! pages ([`pages`]), commands and their dependencies, and the engine that drives it all.
//!
//! Users take all this from the `folio` crate; the authors of backends depend on this crate alone.

mod foreign;
pub mod geom;
pub mod hal;
pub mod pages;
pub mod sched;

mod allocator;
#[doc(hidden)]
pub mod arguments;
pub mod buffer;
mod call;
#[cfg(feature = "watch-locks")]
#[doc(hidden)]
pub mod canary;
mod columns;
mod coords;
mod element;
mod engine;
pub mod error;
mod event;
pub mod graph;
mod group;
mod host;
mod items;
mod log;
#[cfg(loom)]
#[doc(hidden)]
pub mod loom_model;
pub mod managed;
mod marks;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(not(feature = "metrics"))]
mod metrics;
mod notice;
pub mod opaque;
mod order;
mod panics;
#[cfg(feature = "planted")]
pub mod planted;
#[cfg(not(feature = "planted"))]
mod planted;
mod prepare;
mod probe;
mod program;
mod progress;
mod queue;
mod report;
mod runtime;
mod scatter;
mod scope;
mod select;
mod spread;
mod sync;
mod token;
mod tune;
mod usm;
mod views;

#[doc(hidden)]
pub use call::ArgumentValue;
pub use call::{Argument, KernelCall, RacyMemory, RunsIn};
#[doc(hidden)]
pub use columns::length_of_columns;
pub use columns::{Columns, InColumns, InOutColumns, OutColumns};
pub use coords::Coords;
pub use element::DeviceType;
/// For what the derive of [`DeviceType`] writes.
#[doc(hidden)]
pub mod fields {
    pub use crate::element::{Checked, Field, Unchecked};
}
pub use buffer::{Buffer, BufferOptions, Contents, ReadGuard, Shared, Slice, SliceMut, WriteGuard};
pub use error::{Cause, Error, Failure, Result, Violation, ViolationKind};
pub use event::{Event, Status};
/// What kernels are: the IR (`folio-kernel`), and in [`device`](ir::device) the Rust form
/// (`folio-device`).
pub mod ir {
    pub use folio_device as device;
    #[doc(hidden)]
    pub use folio_device::host_function;
    pub use folio_kernel::*;
}
pub use folio_device::{
    Atomic, Group, GroupItem, In, InOut, InOutColumn, InOutGroup, InOutRow, Item, Local,
    LocalAtomic, Out, OutChunk, OutColumn, OutGroup, OutRow, OutTile, Private, Racy, RedBlack,
    Reduce, Scatter, ScatterLast, Tile,
};
/// What reductions and scans combine with.
pub mod combine {
    pub use folio_device::{Add, And, Max, Min, Mul, Or, Xor};
}
#[doc(hidden)]
pub use foreign::tell_within as tell_subscriber;
pub use graph::{Executable, Graph, Parameter, Recording};
pub use group::{CommandGroup, Destination, EachRun, Read, ReadWrite, TaskResult, Write};
pub use hal::Timing;
pub use half::{bf16, f16};
pub use host::HostArgument;
#[doc(hidden)]
pub use host::{HostCall, HostMemory};
pub use items::{Edge, IntoItems, Items, Margin};
pub use log::{Line, Lines, Log};
/// Whose memory is used, and how: links of devices with the host, allocators, advice, eviction, and
/// what other programs and drivers are given.
pub mod memory {
    pub use crate::allocator::{AllocatorFault, HostAllocator, HostBlock};
    pub use crate::engine::terms::evict::Evict;
    pub use crate::engine::terms::link::{Linkage, Links, NotLinked};
    pub use crate::hal::{Advice, Exported, Limits, RawMemory};
    pub use crate::usm::{Allocation, UsmRows};
}
#[doc(hidden)]
pub use notice::{hint, note};
pub use prepare::{KernelType, Preparation};
#[doc(hidden)]
pub use program::run_main;
pub use queue::Queue;
pub use report::{Counters, Moves};
pub use runtime::{DeviceRef, Runtime, RuntimeBuilder};
pub use scope::Scope;
pub use select::{DEVICE_VARIABLE, Selector};
pub use spread::{Spread, SpreadPart, SpreadRead};
pub use tune::TunedShape;
pub use usm::{Usm, UsmKind, UsmPtr};
pub use views::{
    ClosureIn, ClosureInOut, ClosureItem, ClosureOut, HostArgs, HostRead, HostWrite, KernelArgs,
};
