//! Host tasks: how they are described, what they return, and when they ran.

use super::{CommandGroup, GroupWork};
use crate::engine::runs::command::HostBody;
use crate::error::Cause;
use crate::hal::{ParamPtr, Timing};
use crate::views::HostArgs;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

impl CommandGroup {
    /// Runs `task` once on a thread of the host, with the accesses' data in the host's memory.
    /// `args` are accesses of this group: one, an array of them, or a tuple.
    ///
    /// The task may block and may use the runtime. It may return `()` or a `Result`, or not at all;
    /// an error and a panic are failures of the command. In a [graph](crate::Graph) a task is
    /// described by [`each_run`](Self::each_run).
    pub fn host_task<A, F, R>(&mut self, args: A, task: F)
    where
        A: HostArgs,
        F: for<'v> FnOnce(A::Views<'v>) -> R + Send + 'static,
        R: TaskResult,
    {
        let body = move |params: &[ParamPtr]| {
            // SAFETY: the engine gives the parameters in the order of the tokens, has brought their
            // data, and keeps all others away while the task runs.
            let views = unsafe { A::views(params) };
            task(views).into_cause()
        };
        self.act_on_host(&args, HostBody::once(body));
    }

    /// For a task that each run of a [graph](crate::Graph) calls: its closure is `Fn` in place of
    /// `FnOnce`.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// # if rt.devices().is_empty() { return Ok(()) }
    /// let mut x = rt.buffer_from(&[0u32; 4])?;
    /// let graph = rt.graph("cpu")?;
    /// graph.add(|cg| {
    ///     let x = cg.read_write(&mut x);
    ///     cg.each_run().host_task(x, |mut x| x[0] += 1);
    /// })?;
    /// let run = graph.finalize()?;
    /// let q = rt.queue_on("cpu")?;
    /// q.run_graph(&run)?;
    /// q.run_graph(&run)?.wait()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn each_run(&mut self) -> EachRun<'_> {
        EachRun { group: self, capturable: false }
    }

    fn act_on_host(&mut self, args: &impl HostArgs, body: HostBody) {
        let mut tokens = SmallVec::new();
        args.tokens(&mut tokens);
        self.act(GroupWork::Task { body, args: tokens });
    }
}

/// Tasks that each run of a graph calls; see [`CommandGroup::each_run`].
pub struct EachRun<'g> {
    pub(super) group: &'g mut CommandGroup,
    /// The device's own graph may call an interop task once and repeat what it enqueues.
    pub(super) capturable: bool,
}

impl EachRun<'_> {
    /// As [`CommandGroup::host_task`], at each run.
    pub fn host_task<A, F, R>(self, args: A, task: F)
    where
        A: HostArgs,
        F: for<'v> Fn(A::Views<'v>) -> R + Send + Sync + 'static,
        R: TaskResult,
    {
        let body = move |params: &[ParamPtr]| {
            // SAFETY: as in `CommandGroup::host_task`, at each call.
            let views = unsafe { A::views(params) };
            task(views).into_cause()
        };
        self.group.act_on_host(&args, HostBody::Again(Arc::new(body)));
    }
}

/// What a host task may return.
pub trait TaskResult {
    #[doc(hidden)]
    fn into_cause(self) -> std::result::Result<(), Cause>;
}

impl TaskResult for () {
    fn into_cause(self) -> std::result::Result<(), Cause> {
        Ok(())
    }
}

/// The type `!`, which cannot be written in its place on stable Rust.
type Never = <fn() -> ! as Returns>::Output;

#[doc(hidden)]
pub trait Returns {
    type Output;
}

impl<R> Returns for fn() -> R {
    type Output = R;
}

impl TaskResult for Never {
    fn into_cause(self) -> std::result::Result<(), Cause> {
        self
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> TaskResult for std::result::Result<(), E> {
    fn into_cause(self) -> std::result::Result<(), Cause> {
        self.map_err(|error| Cause::Task(Arc::from(error.into())))
    }
}

/// When a timed host task ran: empty until it has ended.
pub(crate) type TaskTiming = Arc<OnceLock<Timing>>;

/// A task that is called once and then tells when it ran, by a clock that began at `epoch`. It is
/// queued now. A task that panics tells nothing.
pub(crate) fn timed_task(body: HostBody, epoch: Instant) -> (HostBody, TaskTiming) {
    let timing = TaskTiming::default();
    let told = timing.clone();
    let now = move || u64::try_from((Instant::now() - epoch).as_nanos()).unwrap_or(u64::MAX);
    let queued = now();
    let body = HostBody::once(move |params| {
        let started = now();
        let result = body.call(params);
        let _ = told.set(Timing { queued, started, ended: now() });
        result
    });
    (body, timing)
}
