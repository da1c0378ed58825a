//! Work of the host in a stream's order: copies and fills of memory that the device cannot reach.

use crate::driver::Context;
use cudarc::driver::sys;
use folio_core::hal::{HalError, HostPtr};
use std::ffi::c_void;

/// Rows of bytes in the host's memory: slices, rows and bytes, and from one to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) at: HostPtr,
    pub(crate) pitch: [u64; 2],
}

impl Rows {
    fn row(&self, slice: u64, row: u64) -> *mut u8 {
        self.at.0.wrapping_add((slice * self.pitch[0] + row * self.pitch[1]) as usize)
    }
}

/// What a thread of the driver does when the stream comes to it.
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
        let job = Box::into_raw(Box::new(self));
        // SAFETY: `run` gets what it expects, once.
        let result = unsafe { sys::cuLaunchHostFunc(stream, Some(run), job.cast::<c_void>()) };
        context.check("cuLaunchHostFunc", result).inspect_err(|_| {
            // SAFETY: the driver did not take it.
            drop(unsafe { Box::from_raw(job) });
        })
    }

    /// # Safety
    /// As for [`Job::enqueue`], now.
    unsafe fn run(&self) {
        match self {
            Job::Copy { from, to, extent: [slices, rows, bytes] } => {
                for (slice, row) in (0..*slices).flat_map(|s| (0..*rows).map(move |r| (s, r))) {
                    let (from, to) = (from.row(slice, row), to.row(slice, row));
                    // SAFETY: the caller's promise; source and destination never overlap (`CopyRect`).
                    unsafe { from.copy_to_nonoverlapping(to, *bytes as usize) };
                }
            }
            Job::Fill { to, extent: [slices, rows, bytes], pattern } => {
                for (slice, row) in (0..*slices).flat_map(|s| (0..*rows).map(move |r| (s, r))) {
                    let to = to.row(slice, row);
                    for at in (0..*bytes as usize).step_by(pattern.len().max(1)) {
                        let len = pattern.len().min(*bytes as usize - at);
                        // SAFETY: the caller's promise; the pattern is our own.
                        unsafe { pattern.as_ptr().copy_to_nonoverlapping(to.add(at), len) };
                    }
                }
            }
        }
    }
}

unsafe extern "C" fn run(job: *mut c_void) {
    // SAFETY: `enqueue` made it, and the driver calls once.
    let job = unsafe { Box::from_raw(job.cast::<Job>()) };
    // SAFETY: the stream has come to it: `enqueue`'s promise holds. Nothing in it panics.
    unsafe { job.run() };
}
