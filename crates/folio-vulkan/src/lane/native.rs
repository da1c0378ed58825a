//! The objects of interop tasks: Vulkan's own handles.

use crate::device::Core;
use ash::vk;
use folio_core::geom::Dims;
use folio_core::hal::{HalError, MemBase, Param};

/// The driver's handles, for an interop task
/// ([`CommandGroup::interop`](folio_core::CommandGroup::interop)) on a Vulkan device. They are
/// borrowed: the task destroys none, and keeps none. The task records commands, and submits
/// nothing.
#[non_exhaustive]
pub struct Native {
    /// The device, with its functions of Vulkan 1.3.
    pub device: ash::Device,
    /// The physical device.
    pub physical: vk::PhysicalDevice,
    /// The family of the queue that the commands will be submitted to.
    pub family: u32,
    /// A command buffer that is being recorded, outside of a render pass. Barriers keep earlier and
    /// later commands apart from the task's; between its own commands the task has its own.
    pub commands: vk::CommandBuffer,
    /// The accesses in the order of the task's arguments.
    pub memory: Vec<NativeMemory>,
}

/// Where an access is.
#[derive(Debug)]
#[non_exhaustive]
pub struct NativeMemory {
    /// The buffer; null where nothing is accessed.
    pub buffer: vk::Buffer,
    /// Bytes from its start to the first element that is accessed.
    pub offset: u64,
    /// That element's address on the device; 0 where nothing is accessed.
    pub address: u64,
    /// Elements from one slice, and from one row, to the next.
    pub pitch: [usize; 2],
    /// Slices, rows and columns that are accessed.
    pub extent: Dims,
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Native");
        out.field("commands", &self.commands).field("memory", &self.memory);
        out.finish_non_exhaustive()
    }
}

impl Native {
    pub(crate) fn new(
        core: &Core,
        commands: vk::CommandBuffer,
        params: &[Param],
    ) -> Result<Native, HalError> {
        let memory = params.iter().map(|param| place(core, param)).collect::<Result<_, _>>()?;
        let (device, physical) = (core.device.clone(), core.physical);
        Ok(Native { device, physical, family: core.target.families.compute, commands, memory })
    }
}

fn place(core: &Core, param: &Param) -> Result<NativeMemory, HalError> {
    let [_, rows, columns] = param.dims;
    let (pitch, extent) = ([rows * columns, columns], param.extent);
    let MemBase::Device { handle, .. } = param.mem.base else {
        return Ok(NativeMemory {
            buffer: vk::Buffer::null(),
            offset: 0,
            address: 0,
            pitch,
            extent,
        });
    };
    let block = core.memory.find(handle)?;
    let offset = param.mem.offset.wrapping_add_signed(param.ahead());
    let address = block.address + offset;
    Ok(NativeMemory { buffer: block.buffer, offset: block.ahead + offset, address, pitch, extent })
}
