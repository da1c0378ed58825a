//! Managed pointers: data that is accessible in one memory region at a time, and is moved by the
//! program.
//!
//! This is a thin layer over buffers, commands and events, after the paper P0567: a pointer is a
//! buffer that knows where it is accessible, a move is a command that brings the whole of it to a
//! device or to the host, and the future of a move is that command's event. The engine moves only
//! bytes that are outdated, orders what conflicts, and keeps memory alive; this module decides who
//! *may* access (`whereabouts`) and adds nothing else. So pointers mix with buffers, kernels and
//! host tasks.
//!
//! | to | use |
//! | --- | --- |
//! | make a pointer | [`Runtime::managed`](crate::Runtime::managed), [`managed_from`](crate::Runtime::managed_from), [`managed_in`](crate::Runtime::managed_in) |
//! | make an executor | [`Runtime::executor`](crate::Runtime::executor), [`host_executor`](crate::Runtime::host_executor) |
//! | move | [`put`], [`get`], [`then_put`], [`then_get`]: functions, and methods of executors and futures |
//! | run | [`Executor::run`], [`HostExecutor::run`], [`ManagedFuture::then_async`] |
//! | choose how | [`Implicit`], [`Explicit`]; [`ByAccess`], [`Sequential`] |
//! | stream | [`Channel`] |

mod channel;
mod containers;
mod executor;
mod functions;
mod future;
mod moves;
mod pointer;
mod policy;
mod streams;
pub(crate) mod whereabouts;

pub use channel::Channel;
pub use containers::{ManagedArray, ManagedVec};
pub use executor::{Allocator, Executor, HostExecutor};
pub use functions::{get, put, run, run_host, then_async, then_get, then_put};
pub use future::ManagedFuture;
pub use moves::{AnyExecutor, Pointers, TaskArgs};
pub use pointer::{InitialData, ManagedPtr, OwnedData, Permission, ReadOnly, ReadWrite};
pub use policy::{ByAccess, Explicit, Implicit, Movement, Ordering, Sequential};
pub use streams::{AsyncStream, Stream};
