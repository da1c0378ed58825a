//! Memory for several drivers of one device: exported as a file descriptor, and opened from one
//! (`VK_KHR_external_memory_fd`).
//!
//! Each allocation is a `VkDeviceMemory` of its own, of which the buffer is at the start. The
//! device that opens it must choose the type of memory that the exporter has chosen, and
//! `memory_of_files` chooses for both. Allocations are not dedicated: the other driver would have
//! to be told.

use crate::device::Core;
use crate::device::extensions::has_extension;
use crate::device::platform::driver;
use crate::memory::{Backing, Block, USES};
use ash::vk;
use folio_core::hal::{AllocKind, AllocReq, Exported, HalError, HalErrorKind};
use std::ffi::c_int;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};

const FILE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;

/// Whether buffers like Folio's can be exported and opened without an allocation that is dedicated
/// to them.
pub(crate) fn is_offered(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    use vk::ExternalMemoryFeatureFlags as Can;
    let asked = vk::PhysicalDeviceExternalBufferInfo::default().usage(USES).handle_type(FILE);
    let mut found = vk::ExternalBufferProperties::default();
    // SAFETY: the device is of this instance, and of version 1.3.
    unsafe {
        instance.get_physical_device_external_buffer_properties(physical, &asked, &mut found);
    }
    let can = found.external_memory_properties.external_memory_features;
    has_extension(instance, physical, ash::khr::external_memory_fd::NAME)
        && can.contains(Can::EXPORTABLE | Can::IMPORTABLE)
        && !can.contains(Can::DEDICATED_ONLY)
}

fn unsupported() -> HalError {
    HalError::unsupported("memory that several drivers share")
}

impl Core {
    /// Memory that can be exported.
    pub(crate) fn exported_block(&self, req: &AllocReq<'_>) -> Result<Block, HalError> {
        if self.files.is_none() || req.kind != AllocKind::Device {
            return Err(unsupported());
        }
        self.made(req, None)
    }

    /// Memory that a driver of the same device has exported.
    pub(crate) fn opened_block(
        &self,
        req: &AllocReq<'_>,
        file: c_int,
        bytes: u64,
    ) -> Result<Block, HalError> {
        if self.files.is_none() || req.kind != AllocKind::Device {
            return Err(unsupported());
        }
        // SAFETY: the file descriptor is open during the call (the HAL's contract).
        let borrowed = (file >= 0).then(|| unsafe { BorrowedFd::borrow_raw(file) });
        // The driver takes what it is given, and closes it.
        let own = borrowed.map(|file| file.try_clone_to_owned());
        match own {
            Some(Ok(own)) => self.made(req, Some((own, bytes))),
            Some(Err(error)) => Err(HalError::unsupported(&format!("this file: {error}"))),
            None => Err(HalError::unsupported("memory of no file")),
        }
    }

    /// A buffer with memory of its own: new, or another's of so many bytes.
    fn made(&self, req: &AllocReq<'_>, from: Option<(OwnedFd, u64)>) -> Result<Block, HalError> {
        let device = &self.device;
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(FILE);
        let size = req.size.next_multiple_of(4);
        let buffer = self.memory.buffer(device, size, Some(&mut external))?;
        // SAFETY: the buffer is this device's.
        let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
        let bytes = from.as_ref().map_or(needs.size, |(_, bytes)| *bytes);
        let memory = match bytes < needs.size {
            true => Err(HalError::unsupported(&format!("{} bytes where {bytes} are", needs.size))),
            false => self.memory_of_files(needs.memory_type_bits, bytes, from),
        };
        let memory = memory.inspect_err(|_| {
            // SAFETY: nothing uses the buffer.
            unsafe { device.destroy_buffer(buffer, None) };
        })?;
        self.memory.bound(device, (buffer, memory), req)
    }

    /// New memory of one of those types, or what a file is.
    fn memory_of_files(
        &self,
        types: u32,
        bytes: u64,
        from: Option<(OwnedFd, u64)>,
    ) -> Result<Backing, HalError> {
        let types = self.memory.best(types, self.memory.bulk());
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(FILE);
        let mut flags =
            vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let wanted = vk::MemoryAllocateInfo::default()
            .allocation_size(bytes)
            .memory_type_index(types.trailing_zeros().min(31))
            .push_next(&mut flags);
        let Some((file, _)) = from else {
            // SAFETY: the device is there; the description is complete.
            let made = unsafe { self.device.allocate_memory(&wanted.push_next(&mut export), None) };
            let memory = made.map_err(|result| match driver("vkAllocateMemory", result) {
                HalError { kind: HalErrorKind::OutOfMemory { .. }, .. } => {
                    self.memory.out_of_memory(bytes)
                }
                other => other,
            })?;
            return Ok(Backing::Exported(memory));
        };
        let mut import =
            vk::ImportMemoryFdInfoKHR::default().handle_type(FILE).fd(file.as_raw_fd());
        // SAFETY: as above. The file is memory of this device, which the caller promises.
        let made = unsafe { self.device.allocate_memory(&wanted.push_next(&mut import), None) };
        match made {
            Ok(memory) => {
                // The file is the driver's now.
                let _ = file.into_raw_fd();
                Ok(Backing::Imported(memory))
            }
            Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE) => {
                Err(HalError::unsupported("this file, which is no memory of the device"))
            }
            Err(result) => Err(driver("vkAllocateMemory", result)),
        }
    }

    /// A file descriptor of an allocation's memory.
    pub(crate) fn export(&self, handle: u64) -> Result<Exported, HalError> {
        let block = self.memory.find(handle)?;
        let (Some(files), Backing::Exported(memory)) = (&self.files, block.backing()) else {
            return Err(HalError::unsupported("memory that was not made for other drivers"));
        };
        let asked = vk::MemoryGetFdInfoKHR::default().memory(*memory).handle_type(FILE);
        // SAFETY: the memory was made to be exported so, and is there while the block is.
        let file = unsafe { files.get_memory_fd(&asked) }
            .map_err(|result| driver("vkGetMemoryFdKHR", result))?;
        // SAFETY: the buffer is this device's, and there while the block is.
        let needs = unsafe { self.device.get_buffer_memory_requirements(block.buffer) };
        // SAFETY: the driver has just opened it for this call.
        Ok(Exported { file: unsafe { OwnedFd::from_raw_fd(file) }, bytes: needs.size })
    }
}
