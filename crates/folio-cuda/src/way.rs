//! Where commands of the driver go: into a stream, or into a graph that a stream replays.

use crate::device::Core;
use crate::driver::{Context, call};
use crate::graph::Nodes;
use crate::memory::Memory;
use crate::program::Entry;
use cudarc::driver::sys;
use folio_core::hal::HalError;
use folio_kernel::emit::Layout;
use smallvec::SmallVec;
use std::ffi::c_void;
use std::ptr::null_mut;

/// Where commands go.
#[derive(Clone, Copy)]
pub(crate) enum Way<'w> {
    Stream(sys::CUstream),
    /// Into an operation of a graph.
    Graph(&'w Nodes<'w>),
}

/// Threads to start. Shapes have the fastest dimension first.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Start {
    pub(crate) entry: Entry,
    pub(crate) blocks: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
}

/// Rows to fill with a value of 1, 2 or 4 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Set {
    pub(crate) at: u64,
    pub(crate) pitch: usize,
    pub(crate) value: u32,
    /// Bytes of the value.
    pub(crate) size: u32,
    /// Values of a row.
    pub(crate) width: usize,
    pub(crate) rows: usize,
}

/// Pointers to arguments: to the first, if there is one, and to the others.
pub(crate) fn arguments(first: Option<*const u64>, rest: &[u64]) -> SmallVec<[*mut c_void; 8]> {
    let rest = rest.iter().map(std::ptr::from_ref);
    first.into_iter().chain(rest).map(|argument| argument.cast_mut().cast()).collect()
}

impl<'w> Way<'w> {
    /// The stream, for `what` graphs do not have.
    pub(crate) fn stream(self, what: &str) -> Result<sys::CUstream, HalError> {
        match self {
            Way::Stream(stream) => Ok(stream),
            Way::Graph(_) => Err(HalError::unsupported(&format!("{what} in a graph"))),
        }
    }

    /// Two pieces of memory for what comes next, until [`Way::free`]. The context is current.
    pub(crate) fn scratch(self, memory: &Memory, room: [u64; 2]) -> Result<[u64; 2], HalError> {
        match self {
            Way::Stream(stream) => memory.in_stream(stream, room),
            Way::Graph(nodes) => nodes.scratch(room),
        }
    }

    /// Gives them back, when it is their turn. A graph keeps what it has.
    pub(crate) fn free(self, memory: &Memory, pieces: [u64; 2]) {
        if let Way::Stream(stream) = self {
            memory.free_in(stream, pieces);
        }
    }

    /// Starts a kernel.
    ///
    /// # Safety
    /// The arguments are what the entry has; the driver copies them. What the kernel does is right
    /// when it is its turn.
    #[inline]
    pub(crate) unsafe fn start(
        self,
        context: &Context,
        start: &Start,
        arguments: *mut *mut c_void,
    ) -> Result<(), HalError> {
        let Start { entry, blocks: [gx, gy, gz], block: [bx, by, bz], shared } = *start;
        match self {
            Way::Stream(stream) => {
                let (entry, none) = (entry.0, null_mut());
                // SAFETY: the caller's promise.
                let result = unsafe {
                    sys::cuLaunchKernel(
                        entry, gx, gy, gz, bx, by, bz, shared, stream, arguments, none,
                    )
                };
                context.check("cuLaunchKernel", result)
            }
            // SAFETY: the caller's promise.
            Way::Graph(nodes) => unsafe { nodes.start(context, start, arguments) },
        }
    }

    /// What launches kernels in IR reads their words from memory.
    pub(crate) fn by_address(self) -> Option<&'w Core> {
        match self {
            Way::Stream(_) => None,
            Way::Graph(nodes) => nodes.by_address().then_some(&*nodes.of.device),
        }
    }

    /// Starts a kernel in IR.
    ///
    /// # Safety
    /// As for [`start`](Self::start): words, if there are some, are its first argument, by value
    /// or by address as the layout says, and all of `rest` follow.
    #[inline]
    pub(crate) unsafe fn launch(
        self,
        context: &Context,
        start: &Start,
        (words, rest): (&[u64], &[u64]),
        layout: Option<&Layout>,
    ) -> Result<(), HalError> {
        if let Way::Graph(nodes) = self {
            // SAFETY: the caller's promise.
            return unsafe { nodes.launch(context, start, (words, rest), layout) };
        }
        let mut arguments = arguments(words.first().map(std::ptr::from_ref), rest);
        // SAFETY: the caller's promise; only graphs have words by address.
        unsafe { self.start(context, start, arguments.as_mut_ptr()) }
    }

    /// Copies a rectangle.
    ///
    /// # Safety
    /// When it is its turn, the memory is live and nobody else uses it against its mode.
    pub(crate) unsafe fn copy(
        self,
        context: &Context,
        copy: &sys::CUDA_MEMCPY3D,
    ) -> Result<(), HalError> {
        match self {
            Way::Stream(stream) if copy.Height == 1 && copy.Depth == 1 => {
                // SAFETY: the caller's promise.
                let result = call("cuMemcpyAsync", || unsafe {
                    sys::cuMemcpyAsync(copy.dstDevice, copy.srcDevice, copy.WidthInBytes, stream)
                });
                context.check("cuMemcpyAsync", result)
            }
            Way::Stream(stream) => {
                // SAFETY: the caller's promise.
                let result = unsafe { sys::cuMemcpy3DAsync_v2(copy, stream) };
                context.check("cuMemcpy3DAsync", result)
            }
            // SAFETY: the caller's promise.
            Way::Graph(nodes) => unsafe { nodes.copy(context, copy) },
        }
    }

    /// Fills rows.
    ///
    /// # Safety
    /// As for [`Way::copy`].
    pub(crate) unsafe fn set(self, context: &Context, set: &Set) -> Result<(), HalError> {
        let Set { at, pitch, value, size, width, rows } = *set;
        let stream = match self {
            Way::Stream(stream) => stream,
            // SAFETY: the caller's promise.
            Way::Graph(nodes) => return unsafe { nodes.set(context, set) },
        };
        let (byte, short) = (value as u8, value as u16);
        // SAFETY: the caller's promise.
        let result = unsafe {
            match (size, rows) {
                (1, 1) => sys::cuMemsetD8Async(at, byte, width, stream),
                (1, _) => sys::cuMemsetD2D8Async(at, pitch, byte, width, rows, stream),
                (2, 1) => sys::cuMemsetD16Async(at, short, width, stream),
                (2, _) => sys::cuMemsetD2D16Async(at, pitch, short, width, rows, stream),
                (_, 1) => sys::cuMemsetD32Async(at, value, width, stream),
                _ => sys::cuMemsetD2D32Async(at, pitch, value, width, rows, stream),
            }
        };
        context.check("cuMemsetAsync", result)
    }
}
