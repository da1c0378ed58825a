//! The objects of interop tasks: OpenCL's own handles.

use crate::device::Core;
use folio_core::geom::Dims;
use folio_core::hal::{HalError, MemBase, Param};
use opencl_sys::{cl_command_queue, cl_context, cl_device_id, cl_mem};
use std::ffi::c_void;
use std::ptr::null_mut;

/// The driver's handles, for an interop task
/// ([`CommandGroup::interop`](folio_core::CommandGroup::interop)) on an OpenCL device. They are
/// borrowed: the task releases none, and keeps none unless it retains it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Native {
    /// The command's queue, which is in order. Nobody else enqueues there during the task, but for
    /// what tells how far it is: markers, and reads and fills of Folio's own memory. Events have
    /// timestamps from the lane's first command on that is to have some, which changes its queue.
    pub queue: cl_command_queue,
    /// The context of the platform's devices.
    pub context: cl_context,
    /// The device.
    pub device: cl_device_id,
    /// The accesses in the order of the task's arguments.
    pub memory: Vec<NativeMemory>,
}

/// Where an access is.
#[derive(Debug)]
#[non_exhaustive]
pub struct NativeMemory {
    /// The buffer; null where nothing is accessed.
    pub buffer: cl_mem,
    /// Bytes from its start to the first element that is accessed.
    pub offset: usize,
    /// That element's address, where memory has one: see [`OpenClBackend`](crate::OpenClBackend).
    /// Otherwise null.
    pub address: *mut c_void,
    /// Elements from one slice, and from one row, to the next.
    pub pitch: [usize; 2],
    /// Slices, rows and columns that are accessed.
    pub extent: Dims,
}

impl Native {
    pub(crate) fn new(
        core: &Core,
        queue: cl_command_queue,
        params: &[Param],
    ) -> Result<Native, HalError> {
        let memory = params.iter().map(|param| place(core, param)).collect::<Result<_, _>>()?;
        Ok(Native { queue, context: core.shared.context.0, device: core.id.0, memory })
    }
}

fn place(core: &Core, param: &Param) -> Result<NativeMemory, HalError> {
    let [_, rows, columns] = param.dims;
    let (pitch, extent) = ([rows * columns, columns], param.extent);
    let MemBase::Device { handle, .. } = param.mem.base else {
        return Ok(NativeMemory {
            buffer: null_mut(),
            offset: 0,
            address: null_mut(),
            pitch,
            extent,
        });
    };
    let block = core.shared.memory.find(handle)?;
    let offset = param.mem.offset.wrapping_add_signed(param.ahead());
    let at = block.address.map_or(0, |address| address + offset);
    let address = std::ptr::with_exposed_provenance_mut(at as usize);
    Ok(NativeMemory { buffer: block.buffer.0, offset: offset as usize, address, pitch, extent })
}
