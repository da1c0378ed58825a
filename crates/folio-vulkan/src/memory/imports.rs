//! Memory of the host as the device's own (`VK_EXT_external_memory_host`).

use crate::device::Core;
use crate::device::platform::{PAGE, driver};
use crate::memory::types::Purpose;
use crate::memory::{Backing, Block};
use ash::vk;
use folio_core::hal::{AllocReq, Allocation, DeviceKind, HalError, HalErrorKind, HostPtr};

/// A driver need not take every memory of the host: then others do without.
fn refused(what: &str, result: vk::Result) -> HalError {
    match result {
        vk::Result::ERROR_INVALID_EXTERNAL_HANDLE => {
            HalError::new(HalErrorKind::Unsupported, format!("{what}: {result}"))
        }
        _ => driver(what, result),
    }
}

impl Core {
    /// A buffer over memory of the host, which is aligned as the device wants it.
    pub(crate) fn import(&self, req: &AllocReq<'_>, host: HostPtr) -> Result<Allocation, HalError> {
        let Some(align) = self.target.import else {
            return Err(HalError::unsupported("memory of the host as the device's own"));
        };
        // Where the host's memory is the device's, pages around it do as well.
        let start = host.0.addr() as u64;
        let ahead = start % align;
        let whole = (ahead + req.size).next_multiple_of(align);
        // Within a page there is more than was asked for; beyond it may be nothing.
        let fits = self.info.kind == DeviceKind::Cpu || ahead == 0;
        if !fits || (whole != req.size && align > PAGE) {
            let what = format!("memory of the host that is not aligned to {align} bytes");
            return Err(HalError::unsupported(&what));
        }
        let block = self.import_whole(req, host, (ahead, whole))?;
        let made = self.memory.add(block);
        Ok(Allocation { address: made.address.filter(|_| !req.linked), ..made })
    }

    fn import_whole(
        &self,
        req: &AllocReq<'_>,
        host: HostPtr,
        (ahead, whole): (u64, u64),
    ) -> Result<Block, HalError> {
        let pages = host.0.wrapping_sub(ahead as usize).cast();
        let device = &self.device;
        let of_host = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(of_host);
        let mut found = vk::MemoryHostPointerPropertiesEXT::default();
        let Some(imports) = &self.imports else {
            return Err(HalError::unsupported("memory of the host as the device's own"));
        };
        // SAFETY: the extension is enabled; the memory is there for as long as the allocation (the
        // HAL's contract). All that is made here is given back when something fails.
        unsafe {
            let ask = imports.fp().get_memory_host_pointer_properties_ext;
            ask(device.handle(), of_host, pages, &mut found)
                .result()
                .map_err(|result| refused("vkGetMemoryHostPointerPropertiesEXT", result))?;
            let buffer = self.memory.buffer(device, whole, Some(&mut external))?;
            let needs = device.get_buffer_memory_requirements(buffer);
            let both = needs.memory_type_bits & found.memory_type_bits;
            let types = self.memory.best(both, Purpose::Host);
            let mut import = vk::ImportMemoryHostPointerInfoEXT::default()
                .handle_type(of_host)
                .host_pointer(pages);
            let mut flags = vk::MemoryAllocateFlagsInfo::default()
                .flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let wanted = vk::MemoryAllocateInfo::default()
                .allocation_size(whole)
                .memory_type_index(types.trailing_zeros().min(31))
                .push_next(&mut import)
                .push_next(&mut flags);
            let made = match types {
                0 => Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE),
                _ => device.allocate_memory(&wanted, None),
            };
            let memory = made.map_err(|result| {
                device.destroy_buffer(buffer, None);
                refused("vkAllocateMemory", result)
            })?;
            let mut block = self.memory.bound(device, (buffer, Backing::Imported(memory)), req)?;
            (block.ahead, block.host) = (ahead, Some(host));
            block.address += ahead;
            Ok(block)
        }
    }
}
