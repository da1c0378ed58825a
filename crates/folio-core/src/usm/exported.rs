//! One memory as USM of several devices, which are one device by several drivers.

use super::{Source, Usm};
use crate::element::DeviceType;
use crate::error::{Error, Result};
use crate::hal::{AllocKind, Exported, ExportedFile, HalErrorKind, MemBase, RawMemory};
use crate::runtime::DeviceRef;
use std::ffi::c_int;

#[cfg(unix)]
fn number(file: &ExportedFile) -> c_int {
    std::os::fd::AsRawFd::as_raw_fd(file)
}

#[cfg(not(unix))]
fn number(file: &ExportedFile) -> c_int {
    match *file {}
}

impl<T: DeviceType> Usm<T> {
    /// As [`Runtime::usm`](crate::Runtime::usm) of kind [`Device`](AllocKind::Device), in memory
    /// that other drivers can open: [`open_on`](Self::open_on), [`export`](Self::export). Devices
    /// that export no memory ([`Caps::exports`](crate::hal::Caps::exports)) answer
    /// [`Error::Unsupported`].
    pub fn exported(device: &DeviceRef, len: usize) -> Result<Usm<T>> {
        if !device.info().caps.exports {
            let what = "memory for other drivers".to_owned();
            return Err(Error::Unsupported { device: device.name().to_owned(), what });
        }
        let rt = device.runtime();
        rt.usm_over(device, AllocKind::Device, len, align_of::<T>(), Source::Exported)
    }

    /// This memory, which [`exported`](Self::exported) has made, as USM of a second
    /// device of the runtime that is the same GPU by another driver's API
    /// ([`keep_twins`](crate::RuntimeBuilder::keep_twins)): no byte is copied. It is there until
    /// both have been dropped and everything that uses them is done.
    ///
    /// A device of another UUID, or one whose driver does not open such memory, is
    /// [`Error::Unsupported`].
    ///
    /// # Safety
    /// Folio does not order what uses this against what uses the memory that is returned. Of two
    /// that overlap, where one writes, the later one is submitted
    /// [`after`](crate::CommandGroup::after) the event of the earlier one; a host guard is taken
    /// when the other's commands are done, and none of them runs while it is held.
    pub unsafe fn open_on(&self, device: &DeviceRef) -> Result<Usm<T>> {
        let (own, uuid) = (&self.device, device.info().uuid);
        if uuid.is_none() || uuid != own.info().uuid {
            let what = format!("memory of {}, which is another device", own.name());
            return Err(Error::Unsupported { device: device.name().to_owned(), what });
        }
        let exported = self.export()?;
        let core = self.view.storage.core.clone();
        let memory = RawMemory::File { file: number(&exported.file), bytes: exported.bytes };
        let from = Source::Raw(memory);
        let opened = device.runtime().usm_over(
            device,
            AllocKind::Device,
            self.len(),
            align_of::<T>(),
            from,
        )?;
        // Vulkan counts the users of such memory. CUDA does not say that it does.
        core.engine.keep(opened.view.storage.id, Box::new(self.view.storage.clone()));
        Ok(opened)
    }

    /// The memory, which [`exported`](Self::exported) has made, for other libraries and
    /// other processes. No command knows of what is done with it. Folio opens it again by
    /// [`from_raw`](Self::from_raw).
    pub fn export(&self) -> Result<Exported> {
        let storage = &self.view.storage;
        let name = || self.device.name().to_owned();
        let not = |what: &str| Error::Unsupported { device: name(), what: what.to_owned() };
        let MemBase::Device { handle, .. } = self.pointer.at.mem.base else {
            return Err(not("memory of the host for other drivers"));
        };
        let exported = storage.core.engine.open(self.device.at)?.usm().export(handle);
        exported.map_err(|cause| match cause.kind {
            HalErrorKind::Unsupported => not(&format!("export of {}: {cause}", storage.label)),
            _ => Error::Device { device: name(), doing: "export memory".to_owned(), cause },
        })
    }
}
