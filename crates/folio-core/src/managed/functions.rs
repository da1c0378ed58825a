//! The executors' methods as functions, as the paper has them, too.

use super::executor::{Executor, HostExecutor};
use super::future::ManagedFuture;
use super::moves::{AnyExecutor, Pointers, TaskArgs};
use super::policy::{Movement, Ordering};
use crate::call::KernelCall;
use crate::group::TaskResult;
use crate::items::IntoItems;
use crate::views::HostArgs;
use folio_device::Kernel;

/// Moves pointers to an executor: see [`Executor::put`].
pub fn put(executor: &impl AnyExecutor, pointers: impl Pointers) -> ManagedFuture {
    executor.agent().put(None, &pointers)
}

/// Moves pointers to the host, by way of an executor: see [`Executor::get`].
pub fn get(executor: &impl AnyExecutor, pointers: impl Pointers) -> ManagedFuture {
    executor.agent().get(None, &pointers)
}

/// As [`put`], after a future; with its failure, if it fails.
pub fn then_put(
    after: &ManagedFuture,
    executor: &impl AnyExecutor,
    pointers: impl Pointers,
) -> ManagedFuture {
    executor.agent().put(Some(after), &pointers)
}

/// As [`get`], after a future; with its failure, if it fails.
pub fn then_get(
    after: &ManagedFuture,
    executor: &impl AnyExecutor,
    pointers: impl Pointers,
) -> ManagedFuture {
    executor.agent().get(Some(after), &pointers)
}

/// Runs a kernel call, the paper's `async`: see [`Executor::run`].
pub fn run<M: Movement, O: Ordering, K: Kernel, const D: usize>(
    executor: &Executor<M, O>,
    items: impl IntoItems<D>,
    call: KernelCall<K, D>,
) -> ManagedFuture {
    executor.run(items, call)
}

/// As [`run`], after a future; with its failure, if it fails.
pub fn then_async<M: Movement, O: Ordering, K: Kernel, const D: usize>(
    after: &ManagedFuture,
    executor: &Executor<M, O>,
    items: impl IntoItems<D>,
    call: KernelCall<K, D>,
) -> ManagedFuture {
    executor.then_async(after, items, call)
}

/// Runs a closure on the host: see [`HostExecutor::run`].
pub fn run_host<M: Movement, O: Ordering, A, F, R>(
    executor: &HostExecutor<M, O>,
    pointers: A,
    task: F,
) -> ManagedFuture
where
    A: TaskArgs,
    F: for<'v> FnOnce(<A::Accesses as HostArgs>::Views<'v>) -> R + Send + 'static,
    R: TaskResult,
{
    executor.run(pointers, task)
}
