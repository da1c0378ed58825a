//! Memory that is not Folio's own: the program's from the driver or the host, and other drivers'.

use crate::allocations::Block;
use crate::memory::{Memory, PORTABLE_AND_MAPPED};
use cudarc::driver::sys;
use folio_core::hal::{AllocKind, AllocReq, Allocation, HalError, HostPtr};
use folio_driver::lock;
use std::ffi::c_void;
use std::ptr::null_mut;

impl Memory {
    /// Memory of this device that other code has from the driver.
    pub(crate) fn import_device(
        &self,
        req: &AllocReq<'_>,
        at: u64,
    ) -> Result<Allocation, HalError> {
        use sys::CUpointer_attribute as Ask;
        if req.kind != AllocKind::Device {
            return Err(HalError::unsupported("host and shared memory of somebody else"));
        }
        let (mut kind, mut device, mut context) = (0u32, -1i32, null_mut::<c_void>());
        let (mut start, mut size) = (0u64, 0usize);
        let questions = [
            (Ask::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (&raw mut kind).cast::<c_void>()),
            (Ask::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (&raw mut device).cast()),
            (Ask::CU_POINTER_ATTRIBUTE_CONTEXT, (&raw mut context).cast()),
            (Ask::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, (&raw mut start).cast()),
            (Ask::CU_POINTER_ATTRIBUTE_RANGE_SIZE, (&raw mut size).cast()),
        ];
        for (question, answer) in questions {
            // SAFETY: each place has the size of its answer; of what is no address the driver says
            // so.
            let result = unsafe { sys::cuPointerGetAttribute(answer, question, at) };
            if let Err(error) = self.context.check("cuPointerGetAttribute", result) {
                self.context.alive()?;
                return Err(HalError::unsupported(&format!("this address ({})", error.message)));
            }
        }
        // Memory of a pool is of no context.
        let foreign = !context.is_null() && context != self.context.raw.cast();
        if kind != sys::CUmemorytype::CU_MEMORYTYPE_DEVICE as u32 {
            return Err(HalError::unsupported("memory that is no device's"));
        }
        if device != self.context.device {
            return Err(HalError::unsupported("another device's memory"));
        }
        if foreign {
            return Err(HalError::unsupported("memory of another context"));
        }
        let there = (start + size as u64).saturating_sub(at);
        if there < req.size {
            let what = format!("{} bytes where {there} are", req.size);
            return Err(HalError::unsupported(&what));
        }
        let entry = Block {
            kind: req.kind,
            size: req.size,
            base: at,
            imported: true,
            frames: None,
            external: None,
        };
        lock(&self.live).add(at, entry);
        Ok(Allocation { handle: at, address: Some(at), host: None, zeroed: false })
    }

    /// Memory that another driver of the device has exported.
    #[cfg(unix)]
    pub(crate) fn open_file(
        &self,
        req: &AllocReq<'_>,
        file: std::ffi::c_int,
        bytes: u64,
    ) -> Result<Allocation, HalError> {
        use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};
        if req.kind != AllocKind::Device {
            return Err(HalError::unsupported("host and shared memory of another driver"));
        }
        if bytes < req.size || file < 0 {
            let what = format!("{} bytes where file {file} has {bytes}", req.size);
            return Err(HalError::unsupported(&what));
        }
        // SAFETY: the file descriptor is open during the call (the HAL's contract). The driver
        // closes what it takes, so that is another one.
        let own = unsafe { BorrowedFd::borrow_raw(file) }.try_clone_to_owned();
        let own = own.map_err(|error| HalError::unsupported(&format!("this file: {error}")))?;
        let wanted = sys::CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
            type_: sys::CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
            handle: sys::CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st__bindgen_ty_1 { fd: own.as_raw_fd() },
            size: bytes,
            flags: 0,
            reserved: [0; 16],
        };
        let mut raw = null_mut();
        // SAFETY: the description is complete, and the file is memory of this device (the caller's
        // promise).
        let made = unsafe { sys::cuImportExternalMemory(&raw mut raw, &raw const wanted) };
        if let Err(error) = self.context.check("cuImportExternalMemory", made) {
            self.context.alive()?;
            return Err(HalError::unsupported(&format!("this file ({})", error.message)));
        }
        // The file is the driver's now.
        let _ = own.into_raw_fd();
        let external = crate::allocations::External(raw);
        let place = sys::CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
            offset: 0,
            size: req.size,
            flags: 0,
            reserved: [0; 16],
        };
        let mut base = 0;
        // SAFETY: so many bytes of memory that has just been imported.
        let mapped = unsafe {
            sys::cuExternalMemoryGetMappedBuffer(&raw mut base, external.0, &raw const place)
        };
        if let Err(error) = self.context.check("cuExternalMemoryGetMappedBuffer", mapped) {
            external.destroy();
            return Err(error);
        }
        let external = Some(external);
        let entry =
            Block { kind: req.kind, size: req.size, base, imported: false, frames: None, external };
        lock(&self.live).add(base, entry);
        Ok(Allocation { handle: base, address: Some(base), host: None, zeroed: false })
    }

    pub(crate) fn import(&self, req: &AllocReq<'_>, at: HostPtr) -> Result<Allocation, HalError> {
        if req.kind != AllocKind::Host {
            return Err(HalError::unsupported("device memory over host memory"));
        }
        let size = usize::try_from(req.size).map_err(|_| self.out_of_memory(req.size))?;
        let (pointer, mut address) = (at.0.cast::<c_void>(), 0);
        // SAFETY: the caller's promise: `size` bytes of the host's memory, live until freed.
        unsafe {
            let registered = sys::cuMemHostRegister_v2(pointer, size, PORTABLE_AND_MAPPED);
            if let Err(error) = self.context.check("cuMemHostRegister", registered) {
                self.context.alive()?;
                return Err(HalError::unsupported(&format!(
                    "this host memory ({})",
                    error.message
                )));
            }
            let found = sys::cuMemHostGetDevicePointer_v2(&raw mut address, pointer, 0);
            if let Err(error) = self.context.check("cuMemHostGetDevicePointer", found) {
                let _ = sys::cuMemHostUnregister(pointer);
                return Err(error);
            }
        }
        let base = at.0.expose_provenance() as u64;
        let entry = Block {
            kind: req.kind,
            size: req.size,
            base,
            imported: true,
            frames: None,
            external: None,
        };
        lock(&self.live).add(address, entry);
        Ok(Allocation { handle: address, address: Some(address), host: Some(at), zeroed: false })
    }
}
