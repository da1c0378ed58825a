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
mod buffer;
mod call;
mod coords;
mod element;
mod engine;
mod error;
mod event;
mod graph;
mod group;
mod host;
mod items;
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
mod opaque;
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
mod scope;
mod select;
mod sync;
mod token;
mod usm;
mod views;

pub use crate::engine::terms::link::{Linkage, Links, NotLinked};
pub use allocator::{AllocatorFault, HostAllocator, HostBlock};
pub use buffer::{
    AsPart, AsPartMut, Buffer, BufferOptions, Contents, HostStorage, Initial, Overwritten,
    OwnedView, Part, Policy, ReadFuture, ReadGuard, ReadRows, Reclaim, ReclaimError, Shared, Slice,
    SliceMut, ViewError, ViewOptions, ViewPolicy, WriteGuard, WriteRows,
};
#[doc(hidden)]
pub use call::ArgumentValue;
pub use call::{Argument, KernelCall, RacyMemory, RunsIn};
pub use coords::{Coords, ElementIndex};
pub use element::DeviceType;
/// For what the derive of [`DeviceType`] writes.
#[doc(hidden)]
pub mod fields {
    pub use crate::element::{Checked, Field, Unchecked};
}
pub use engine::terms::evict::Evict;
pub use error::{Cause, Error, Failure, GraphError, Label, PendingWork, Result, UseSite};
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
    Atomic, Group, GroupItem, In, InOut, InOutGroup, InOutRow, Item, Local, LocalAtomic, Out,
    OutChunk, OutGroup, OutRow, Private, Racy, Reduce,
};
/// What reductions and scans combine with.
pub mod combine {
    pub use folio_device::{Add, And, Max, Min, Mul, Or, Xor};
}
pub use folio_kernel::checks::{Check, CheckKind};
pub use folio_kernel::fuse::{AccessScope, Costs as FusionCosts, Explanation as FusionReport};
pub use folio_kernel::source::LowerError;
pub use folio_kernel::{Site, Violation, ViolationKind};
#[doc(hidden)]
pub use foreign::tell as tell_subscriber;
pub use graph::{
    BatchReport, Condition, Executable, FinalizeOptions, FusionCounters, Graph, GraphMemory, Node,
    NodeKind, NodeResult, Parameter, Recording, Replay, ReplayPart, ReplayReport, WhyNot,
};
pub use group::{CommandGroup, Destination, EachRun, Read, ReadWrite, TaskResult, Write};
pub use hal::{Exported, Image, Limits, RawMemory, Source, Timing};
pub use half::{bf16, f16};
pub use host::HostArgument;
#[doc(hidden)]
pub use host::{HostCall, HostMemory};
pub use items::{Edge, IntoItems, Items, Margin};
pub use managed::{Executor, HostExecutor, ManagedArray, ManagedFuture, ManagedPtr, ManagedVec};
pub use marks::{MarkedArgument, Marks};
#[doc(hidden)]
pub use notice::hint;
pub use opaque::{OpaqueArg, OpaqueKernel};
pub use prepare::{KernelType, Preparation};
#[doc(hidden)]
pub use program::run_main;
pub use queue::Queue;
pub use report::{Counters, Moves};
pub use runtime::{DeviceRef, Runtime, RuntimeBuilder};
pub use scope::{ReadView, Scope};
pub use select::{DEVICE_VARIABLE, Selector};
pub use usm::{Advice, Allocation, Usm, UsmKind, UsmPtr, UsmRows};
pub use views::{
    ClosureIn, ClosureInOut, ClosureItem, ClosureOut, HostArgs, HostRead, HostWrite, KernelArgs,
};
