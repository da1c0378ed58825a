//! Memory in frames: addresses that are reserved, and physical memory that the driver maps there,
//! a handle for each frame.
//!
//! A handle is released as soon as it is mapped: the driver keeps the memory until it is unmapped.
//! Each device that may use the memory is told to the driver for each mapping, also peers, for
//! which access to the context is not enough.

use crate::allocations::Block;
use crate::driver::{Context, Relaxed, call, check};
use crate::memory::{Memory, on_device, with_room};
use crate::platform::attribute;
use cudarc::driver::sys;
use folio_core::hal::{AllocKind, AllocReq, Allocation, HalError};
use folio_driver::lock;
use std::ops::Range;
use std::ptr::null_mut;

/// Bytes of a frame, at least. Mapping one costs the driver a few calls, whatever its size; what
/// lies beside the pages that are used is wasted.
const FRAME: u64 = 32 << 20;

/// The frames of an allocation.
#[derive(Clone)]
pub(crate) struct Frames {
    /// Bytes of one.
    pub(crate) size: u64,
    /// By frame, whether it has memory.
    backed: Vec<bool>,
}

impl Frames {
    pub(crate) fn new(size: u64, bytes: u64) -> Frames {
        Frames { size, backed: vec![false; bytes.div_ceil(size) as usize] }
    }

    /// Bytes of all frames.
    fn reserved(&self) -> u64 {
        self.backed.len() as u64 * self.size
    }

    /// Bytes of those that have memory.
    pub(crate) fn in_use(&self) -> u64 {
        self.backed.iter().filter(|backed| **backed).count() as u64 * self.size
    }

    /// Where the frames of these bytes begin.
    fn starts(&self, bytes: &Range<u64>) -> impl DoubleEndedIterator<Item = u64> + use<> {
        let size = self.size;
        (bytes.start / size..bytes.end / size).map(move |frame| frame * size)
    }

    /// Where the frames begin that have memory.
    fn all_backed(&self) -> impl Iterator<Item = u64> {
        let backed = self.backed.iter().zip(0..).filter(|(backed, _)| **backed);
        backed.map(|(_, frame): (_, u64)| frame * self.size)
    }

    /// The frames of these bytes have memory from now on, or have none.
    pub(crate) fn set(&mut self, bytes: &Range<u64>, backed: bool) {
        let frames = [bytes.start, bytes.end].map(|at| (at / self.size) as usize);
        self.backed[frames[0]..frames[1]].fill(backed);
    }

    /// Takes the memory of all frames back, and the addresses. The context is current, and nothing
    /// uses them.
    pub(crate) fn release(&self, base: u64) {
        self.all_backed().for_each(|at| unmap(base + at, self.size));
        // SAFETY: reserved once, by as many bytes, and nothing is mapped there any more. An answer
        // other than success means that the device is lost.
        let _ = unsafe { sys::cuMemAddressFree(base, self.reserved() as usize) };
    }
}

/// Takes one frame's memory back, which nothing uses. The context is current.
fn unmap(at: u64, size: u64) {
    // SAFETY: all of what one `cuMemMap` has mapped. An answer other than success means that the
    // device is lost.
    let _ = unsafe { sys::cuMemUnmap(at, size as usize) };
}

fn properties(device: sys::CUdevice) -> sys::CUmemAllocationProp {
    sys::CUmemAllocationProp {
        type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: on_device(device),
        win32HandleMetaData: null_mut(),
        allocFlags: sys::CUmemAllocationProp_st__bindgen_ty_1 {
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        },
    }
}

/// Bytes of a frame of a device's memory, if the driver maps some.
pub(crate) fn frame_of(device: sys::CUdevice) -> Option<u64> {
    let maps = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
    if attribute(device, maps) == 0 {
        return None;
    }
    let (mut bytes, properties) = (0usize, properties(device));
    let which = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED;
    // SAFETY: properties of one of the driver's devices, and a place for the answer.
    let asked =
        unsafe { sys::cuMemGetAllocationGranularity(&raw mut bytes, &raw const properties, which) };
    // Without an answer the frame is a multiple of what any device is known to have.
    let unit = check("cuMemGetAllocationGranularity", asked).map_or(1, |()| bytes.max(1));
    Some(FRAME.next_multiple_of(unit as u64))
}

/// Maps new memory at an address. The context is current.
fn map(context: &Context, at: u64, size: u64) -> Result<(), HalError> {
    let (mut handle, properties) = (0, properties(context.device));
    let bytes = size as usize;
    // SAFETY: properties of the context's device, and a place for the answer.
    let made = call("cuMemCreate", || unsafe {
        sys::cuMemCreate(&raw mut handle, bytes, &raw const properties, 0)
    });
    context.check("cuMemCreate", made)?;
    // SAFETY: a frame of our own addresses, at which nothing is mapped (the engine's part of the
    // contract), and a handle of as many bytes, which goes when it is unmapped.
    let (mapped, _) = unsafe {
        let mapped = call("cuMemMap", || sys::cuMemMap(at, bytes, 0, handle, 0));
        (mapped, sys::cuMemRelease(handle))
    };
    context.check("cuMemMap", mapped)
}

impl Memory {
    /// Lets the lanes of these devices use frames, all of which have memory.
    fn set_access(&self, devices: &[sys::CUdevice], at: u64, bytes: u64) -> Result<(), HalError> {
        let access = |device: &sys::CUdevice| sys::CUmemAccessDesc {
            location: on_device(*device),
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        let all: Vec<sys::CUmemAccessDesc> = devices.iter().map(access).collect();
        // SAFETY: whole mappings, one after the other, and descriptions that are live.
        let set = call("cuMemSetAccess", || unsafe {
            sys::cuMemSetAccess(at, bytes as usize, all.as_ptr(), all.len())
        });
        self.context.check("cuMemSetAccess", set)
    }

    /// Maps memory for frames from `base` on, all of it or none. The context is current.
    fn back(
        &self,
        (base, frames): (u64, &Frames),
        bytes: &Range<u64>,
        devices: &[sys::CUdevice],
    ) -> Result<(), HalError> {
        let mut mapped = bytes.start;
        let made = frames.starts(bytes).try_for_each(|at| {
            map(&self.context, base + at, frames.size)?;
            mapped = at + frames.size;
            Ok(())
        });
        let length = bytes.end - bytes.start;
        let made = made.and_then(|()| self.set_access(devices, base + bytes.start, length));
        if made.is_err() {
            let done = bytes.start..mapped;
            frames.starts(&done).for_each(|at| unmap(base + at, frames.size));
        }
        made
    }

    /// Lets another device use frames, those that have memory and those that get some later.
    pub(crate) fn share_frames_with(&self, device: sys::CUdevice) -> Result<(), HalError> {
        let mut users = lock(&self.users);
        if users.contains(&device) {
            return Ok(());
        }
        let live: Vec<(u64, Frames)> = lock(&self.live).in_frames().collect();
        for (base, frames) in live {
            for at in frames.all_backed() {
                self.set_access(&[device], base + at, frames.size)?;
            }
        }
        users.push(device);
        Ok(())
    }

    pub(crate) fn reserve_frames(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let plain = req.import.is_none() && !req.zeroed && !req.linked && !req.exported;
        let frame = self.frame.filter(|_| plain && req.kind == AllocKind::Device);
        let Some(frame) = frame else { return Err(HalError::unsupported("memory in frames")) };
        let _calls = self.context.enter()?;
        let _relaxed = Relaxed::begin();
        let frames = Frames::new(frame, req.size);
        let (mut base, reserved) = (0, frames.reserved() as usize);
        // SAFETY: a place for the answer.
        let made = call("cuMemAddressReserve", || unsafe {
            sys::cuMemAddressReserve(&raw mut base, reserved, 0, 0, 0)
        });
        self.context
            .check("cuMemAddressReserve", made)
            .map_err(|error| self.refused(req.size, error))?;
        if !base.is_multiple_of(req.align.max(1)) {
            frames.release(base);
            return Err(HalError::unsupported("frames of this alignment"));
        }
        let (kind, size, frames) = (req.kind, req.size, Some(frames));
        let entry = Block { kind, size, base, imported: false, frames, external: None };
        lock(&self.live).add(base, entry);
        Ok(Allocation { handle: base, address: Some(base), host: None, zeroed: false })
    }

    pub(crate) fn map_frames(&self, handle: u64, bytes: &Range<u64>) -> Result<(), HalError> {
        let frames = lock(&self.live).frames_at(handle).cloned();
        let Some(frames) = frames else { return Err(HalError::unsupported("memory in frames")) };
        let _calls = self.context.enter()?;
        let _relaxed = Relaxed::begin();
        // No peer is let in meanwhile: it would miss these frames.
        let users = lock(&self.users);
        with_room(&self.context, || self.back((handle, &frames), bytes, &users))
            .map_err(|error| self.refused(bytes.end - bytes.start, error))?;
        lock(&self.live).back(handle, bytes, true);
        Ok(())
    }

    pub(crate) fn unmap_frames(&self, handle: u64, bytes: &Range<u64>) {
        let frames = lock(&self.live).frames_at(handle).cloned();
        let Some(frames) = frames else { return };
        let _users = lock(&self.users);
        // Of a lost device nothing can be given back.
        if let Ok(_calls) = self.context.enter() {
            let _relaxed = Relaxed::begin();
            frames.starts(bytes).for_each(|at| unmap(handle + at, frames.size));
        }
        lock(&self.live).back(handle, bytes, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted() {
        let mut frames = Frames::new(10, 45);
        assert_eq!((frames.reserved(), frames.in_use()), (50, 0));
        frames.set(&(10..40), true);
        frames.set(&(20..30), false);
        assert_eq!(frames.in_use(), 20);
        assert_eq!(frames.all_backed().collect::<Vec<_>>(), [10, 30]);
        assert_eq!(frames.starts(&(20..50)).collect::<Vec<_>>(), [20, 30, 40]);
    }
}
