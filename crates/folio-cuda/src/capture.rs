//! The commands of an interop task, as a graph: the driver captures them on a stream of its own.
//!
//! Nothing runs meanwhile. A command that the driver cannot capture, such as a wait for the stream,
//! spoils the capture: then the task is no node, and the engine calls it at each run.

use crate::driver::Context;
use crate::memory::NON_BLOCKING;
use crate::native::Native;
use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::{Foreign, HalError, Param};
use std::ptr::null_mut;

/// Commands that were captured.
pub(crate) struct Captured<'c> {
    context: &'c Context,
    pub(crate) graph: sys::CUgraph,
}

impl Captured<'_> {
    /// Calls a task. The context is current, and is so again.
    pub(crate) fn of<'c>(
        context: &'c Context,
        task: &dyn Foreign,
        params: &[Param],
    ) -> Result<Captured<'c>, HalError> {
        let stream = Stream::begin(context)?;
        let called = task.call(&Native::new(context, stream.raw, params));
        // The task may have entered another context.
        let entered = context.enter();
        let captured = stream.end();
        let _calls = called.and(entered)?;
        captured
    }

    /// True if the task has enqueued nothing.
    pub(crate) fn is_empty(&self) -> Result<bool, HalError> {
        let mut count = 0;
        // SAFETY: a live graph; a place for the answer, and none for the nodes.
        let result = unsafe { sys::cuGraphGetNodes(self.graph, null_mut(), &raw mut count) };
        self.context.check("cuGraphGetNodes", result)?;
        Ok(count == 0)
    }
}

impl Drop for Captured<'_> {
    fn drop(&mut self) {
        // SAFETY: ours; graphs that have it have a copy.
        let _ = unsafe { sys::cuGraphDestroy(self.graph) };
    }
}

/// A stream from which the driver captures.
struct Stream<'c> {
    context: &'c Context,
    raw: sys::CUstream,
}

impl<'c> Stream<'c> {
    fn begin(context: &'c Context) -> Result<Stream<'c>, HalError> {
        let mut raw = null_mut();
        // SAFETY: a place for the answer.
        let made = unsafe { sys::cuStreamCreate(&raw mut raw, NON_BLOCKING) };
        context.check("cuStreamCreate", made)?;
        let stream = Stream { context, raw };
        // Libraries may allocate, and ask about other streams.
        let relaxed = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: a live stream, on which nothing is.
        let begun = unsafe { sys::cuStreamBeginCapture_v2(raw, relaxed) };
        context.check("cuStreamBeginCapture", begun)?;
        Ok(stream)
    }

    /// Ends the capture.
    fn end(self) -> Result<Captured<'c>, HalError> {
        let (context, mut graph) = (self.context, null_mut());
        // SAFETY: a live stream, which is being captured from; a place for the answer.
        let ended = unsafe { sys::cuStreamEndCapture(self.raw, &raw mut graph) };
        match ended {
            CUresult::CUDA_SUCCESS if !graph.is_null() => Ok(Captured { context, graph }),
            CUresult::CUDA_SUCCESS => Err(HalError::unsupported("a capture of nothing")),
            other => {
                let told = context.check("cuStreamEndCapture", other);
                let why = told.err().map(|error| error.message.to_string()).unwrap_or_default();
                Err(HalError::unsupported(&format!("what it does ({why})")))
            }
        }
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        let (mut status, mut graph) =
            (sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, null_mut());
        // SAFETY: ours; nothing is on it. A capture that has not ended ends here: a place for the
        // answers.
        unsafe {
            let asked = sys::cuStreamIsCapturing(self.raw, &raw mut status);
            let none = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
            if asked == CUresult::CUDA_SUCCESS && status != none {
                let _ = sys::cuStreamEndCapture(self.raw, &raw mut graph);
                if !graph.is_null() {
                    let _ = sys::cuGraphDestroy(graph);
                }
            }
            let _ = sys::cuStreamDestroy_v2(self.raw);
        }
    }
}
