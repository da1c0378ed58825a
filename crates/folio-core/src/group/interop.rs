//! Interop tasks in command groups: commands of a driver's own, in Folio's order.

use super::{CommandGroup, EachRun, GroupWork, TaskResult};
use crate::engine::kernels::interop::{Body, Task};
use crate::engine::kernels::launch::Launch;
use crate::error::{Cause, Error, Result};
use crate::hal::{Geometry, HalError, HalErrorKind};
use crate::token::Token;
use crate::views::HostArgs;
use smallvec::SmallVec;
use std::any::{Any, TypeId};
use std::sync::Arc;

impl CommandGroup {
    /// Calls `task` with the driver's own handles, to enqueue commands: by functions of the driver
    /// or of a library over it, such as cuBLAS.
    ///
    /// `N` is what the device's backend gives: `folio_opencl::Native` or `folio_cuda::Native`. It
    /// has the queue, or stream, of the command, and the memory of `args`, which are accesses of
    /// this group, one or a tuple. What the task enqueues there comes after what the command waits
    /// for, and the command is done when that is done. No one waits on the host.
    ///
    /// The task is called once, when the command is handed over, by some thread in a call of the
    /// runtime or one of its own: often by the one that submits, before `submit` returns. It does
    /// not block, nor take a lock that a thread holds while it submits or waits, which can be a
    /// deadlock. It cannot wait for the runtime, which is [`Error::WaitInKernel`]; what it submits
    /// goes its way when the task has ended. It may return `()` or a `Result`; an error and a panic
    /// are failures of the command. A command of which a dependency has failed does not call it. In
    /// a [graph](crate::Graph) a task is described by [`each_run`](Self::each_run).
    ///
    /// # Safety
    /// What the task enqueues goes to this queue, or has ended when that is done. It reads no more
    /// than what is declared as read, and writes no more than what is declared as written; handles
    /// are used in the task only, and by what it enqueues.
    pub unsafe fn interop<N: 'static, A: HostArgs, R: TaskResult>(
        &mut self,
        args: A,
        task: impl FnOnce(&N) -> R + Send + 'static,
    ) {
        let body = Body::once(move |native| task(called_with(native)?).into_cause().map_err(told));
        self.call_with::<N>(args, body, false);
    }

    /// Calls `body` with the driver's handles `N`.
    fn call_with<N: 'static>(&mut self, args: impl HostArgs, body: Body, captures: bool) {
        let mut tokens = SmallVec::new();
        args.tokens(&mut tokens);
        let mut launch = Launch::new(Geometry::new(1, [1; 3]));
        if let Err(error) = tokens.into_iter().try_for_each(|token| self.lend(&mut launch, token)) {
            launch.recycle();
            return self.refuse(error);
        }
        let (native, name) = (TypeId::of::<N>(), std::any::type_name::<N>());
        launch.foreign = Some(Box::new(Task { native, name, body, captures }));
        self.act(GroupWork::Kernel(Some(launch)));
    }

    /// Gives a launch an access as its next parameter.
    fn lend(&self, launch: &mut Launch, token: Token) -> Result<()> {
        if token.group != self.id {
            return Err(Error::ForeignAccess { command: self.label.clone() });
        }
        launch.params.push(self.param(token.at));
        launch.tokens.push(token);
        Ok(())
    }

    /// Whether the group's device calls the task of a launch.
    pub(super) fn check_foreign(&self, launch: &Launch) -> Result<()> {
        let Some(foreign) = &launch.foreign else { return Ok(()) };
        let entry = &self.core.engine.devices[usize::from(self.device)];
        if entry.info.caps.native == Some(foreign.native) {
            return Ok(());
        }
        Err(self.unsupported(format!("interop tasks with {}", foreign.name)))
    }
}

impl EachRun<'_> {
    /// The [interop task](Self::interop) enqueues the same whenever it is called. A graph of the
    /// device's own ([`Replay`](crate::graph::Replay)) may call it once and repeat what it has
    /// enqueued, where the driver captures that: CUDA does. There the task does not wait for the
    /// stream, nor for anything else.
    ///
    /// Where it cannot be captured, a run is split at the task, which is called at each run.
    #[must_use]
    pub fn capturable(self) -> Self {
        EachRun { capturable: true, ..self }
    }

    /// As [`CommandGroup::interop`], at each run.
    ///
    /// # Safety
    /// As for [`CommandGroup::interop`], for each call. Of a [capturable](Self::capturable) task
    /// also for each repetition: what it has enqueued, and what that uses, can be repeated as long
    /// as the graph may run.
    pub unsafe fn interop<N: 'static, A: HostArgs, R: TaskResult>(
        self,
        args: A,
        task: impl Fn(&N) -> R + Send + Sync + 'static,
    ) {
        let call = move |native: &dyn Any| task(called_with(native)?).into_cause().map_err(told);
        self.group.call_with::<N>(args, Body::Again(Arc::new(call)), self.capturable);
    }
}

/// What the backend calls a task with.
fn called_with<N: 'static>(native: &dyn Any) -> std::result::Result<&N, HalError> {
    native.downcast_ref().ok_or_else(|| HalError::unsupported(std::any::type_name::<N>()))
}

/// What a task returned, for its lane to tell.
fn told(cause: Cause) -> HalError {
    let message = cause.to_string();
    match cause {
        Cause::Task(error) => HalError::new(HalErrorKind::Task(error), message),
        Cause::Backend(error) => error,
        _ => HalError::new(HalErrorKind::Driver, message),
    }
}
