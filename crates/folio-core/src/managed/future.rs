//! The future of a move or a task.

use super::executor::{Executor, HostExecutor};
use super::moves::{AnyExecutor, Pointers, TaskArgs};
use super::policy::{Movement, Ordering};
use crate::call::KernelCall;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::group::TaskResult;
use crate::items::IntoItems;
use crate::views::HostArgs;
use folio_device::Kernel;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// When a move or a task is done, and how it ended. The work started when this was made: it needs
/// no poll, and dropping this has no effect on it.
///
/// It is a [`Future`] under any executor, and [`wait`](Self::wait) blocks. Clone it to continue it
/// more than once.
///
/// ```
/// # fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
/// let (gpu, a) = (rt.executor("gpu")?, rt.managed_from(vec![1.0f32; 1024])?);
/// gpu.put(&a).then_get(&gpu, &a).wait()?;
/// assert_eq!(a.read()?[0], 1.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ManagedFuture {
    /// An error: it was refused, and nothing was changed.
    pub(super) result: Result<Event>,
}

impl ManagedFuture {
    /// Waits until it is done.
    pub fn wait(&self) -> Result<()> {
        self.event()?.wait()
    }

    /// True when it is done, well or not.
    pub fn is_done(&self) -> bool {
        self.result.as_ref().map_or(true, Event::is_done)
    }

    /// Its event, after which commands over buffers can come
    /// ([`CommandGroup::after`](crate::CommandGroup::after)); or why it was refused.
    pub fn event(&self) -> Result<&Event> {
        self.result.as_ref().map_err(Error::clone)
    }

    /// Then moves `pointers` to an executor. If this fails, so does that, and nothing moves.
    pub fn then_put(self, executor: &impl AnyExecutor, pointers: impl Pointers) -> ManagedFuture {
        executor.agent().put(Some(&self), &pointers)
    }

    /// Then moves `pointers` to the host, by way of `executor`.
    pub fn then_get(self, executor: &impl AnyExecutor, pointers: impl Pointers) -> ManagedFuture {
        executor.agent().get(Some(&self), &pointers)
    }

    /// Then runs a kernel call on an executor: see [`Executor::run`].
    pub fn then_async<M: Movement, O: Ordering, K: Kernel, const D: usize>(
        self,
        executor: &Executor<M, O>,
        items: impl IntoItems<D>,
        call: KernelCall<K, D>,
    ) -> ManagedFuture {
        executor.then_async(&self, items, call)
    }

    /// Then runs a closure on the host: see [`HostExecutor::run`].
    pub fn then_host<M: Movement, O: Ordering, A, F, R>(
        self,
        executor: &HostExecutor<M, O>,
        pointers: A,
        task: F,
    ) -> ManagedFuture
    where
        A: TaskArgs,
        F: for<'v> FnOnce(<A::Accesses as HostArgs>::Views<'v>) -> R + Send + 'static,
        R: TaskResult,
    {
        executor.then_async(&self, pointers, task)
    }
}

impl Future for ManagedFuture {
    type Output = Result<()>;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.result {
            Ok(event) => Pin::new(event).poll(cx),
            Err(error) => Poll::Ready(Err(error.clone())),
        }
    }
}
