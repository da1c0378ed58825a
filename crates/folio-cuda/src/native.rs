//! The objects of interop tasks: CUDA's own handles.

use crate::driver::Context;
use crate::memory::address;
use cudarc::driver::sys;
use folio_core::geom::Dims;
use folio_core::hal::Param;
use std::ffi::c_void;

/// The driver's handles, for an interop task
/// ([`CommandGroup::interop`](folio_core::CommandGroup::interop)) on a GPU. They are borrowed: the
/// task destroys none and keeps none. They are plain pointers, so that any version of any binding
/// takes them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Native {
    /// The command's `CUstream`, which is a `cudaStream_t`. Nobody else enqueues there during the
    /// task.
    pub stream: *mut c_void,
    /// The `CUcontext`, the device's primary one, in which the task is called.
    pub context: *mut c_void,
    /// The `CUdevice`.
    pub device: i32,
    /// The accesses in the order of the task's arguments.
    pub memory: Vec<NativeMemory>,
}

/// Where an access is.
#[derive(Debug)]
#[non_exhaustive]
pub struct NativeMemory {
    /// The `CUdeviceptr` of the first element that is accessed; of no meaning where none is.
    pub address: u64,
    /// Elements from one slice, and from one row, to the next.
    pub pitch: [usize; 2],
    /// Slices, rows and columns that are accessed.
    pub extent: Dims,
}

impl Native {
    pub(crate) fn new(context: &Context, stream: sys::CUstream, params: &[Param]) -> Native {
        let place = |param: &Param| {
            let [_, rows, columns] = param.dims;
            let address = address(&param.mem).wrapping_add_signed(param.ahead());
            NativeMemory { address, pitch: [rows * columns, columns], extent: param.extent }
        };
        let memory = params.iter().map(place).collect();
        let (stream, context, device) = (stream.cast(), context.raw.cast(), context.device);
        Native { stream, context, device, memory }
    }
}
