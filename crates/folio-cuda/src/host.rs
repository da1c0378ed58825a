//! Work of the host in a stream's order: copies and fills of memory that the device cannot reach.

use crate::driver::{Context, End, call};
use cudarc::driver::sys;
use folio_core::hal::HalError;
use folio_driver::host::{self, Rows};
use std::ffi::c_void;
use std::sync::Arc;

/// The job of a thread of the driver when the stream comes to it.
pub(crate) enum Job {
    Copy { from: Rows, to: Rows, extent: [u64; 3] },
    Fill { to: Rows, extent: [u64; 3], pattern: Vec<u8> },
}

impl Job {
    /// Puts it into a stream of the current context.
    ///
    /// # Safety
    /// When the stream comes to it, the memory that it names is live, and nobody else uses it
    /// against its mode until it has ended.
    pub(crate) unsafe fn enqueue(
        self,
        context: &Context,
        stream: sys::CUstream,
    ) -> Result<(), HalError> {
        // A job is not done when the device is lost: its memory may be somebody else's.
        let job = Box::into_raw(Box::new((self, context.end.clone())));
        // SAFETY: `run` gets what it expects, once.
        let result = call("cuLaunchHostFunc", || unsafe {
            sys::cuLaunchHostFunc(stream, Some(run), job.cast::<c_void>())
        });
        context.check("cuLaunchHostFunc", result).inspect_err(|_| {
            // SAFETY: the driver did not take it.
            drop(unsafe { Box::from_raw(job) });
        })
    }

    /// # Safety
    /// As for [`Job::enqueue`], now.
    unsafe fn run(&self) {
        match self {
            // SAFETY: the caller's promise; source and destination never overlap (`CopyRect`).
            Job::Copy { from, to, extent } => unsafe { host::copy(from, to, *extent) },
            // SAFETY: the caller's promise.
            Job::Fill { to, extent, pattern } => unsafe { host::fill(to, *extent, pattern) },
        }
    }
}

unsafe extern "C" fn run(job: *mut c_void) {
    // SAFETY: `enqueue` made it, and the driver calls once.
    let both = unsafe { Box::from_raw(job.cast::<(Job, Arc<End>)>()) };
    let (job, end) = &*both;
    // SAFETY: the stream has come to it: `enqueue`'s promise holds. Nothing in it panics.
    end.work(|| unsafe { job.run() });
}
