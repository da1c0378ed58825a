//! Memory domains: what a device of this backend allocates from.
//!
//! A handle is an address. Fresh memory comes from `calloc`, so zeros cost nothing until they are
//! touched. Memory that is not freed lives as long as the machine, which every lane with work
//! keeps.

use crate::frames::{CAN, Frames};
use crate::lock;
use folio_core::hal::{
    AllocKind, AllocReq, Allocation, HalError, HalErrorKind, HostPtr, MemBase, MemRef, MemoryInfo,
    PointerInfo, RawMemory, UsmAllocator,
};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// Everything is aligned to a cache line, which is also the widest vector.
const MIN_ALIGN: u64 = 64;
/// The alignment that `calloc` gives by itself. With more, the standard allocator would zero by
/// hand and touch every page.
const CALLOC_ALIGN: usize = 16;

/// The memory of one domain.
pub(crate) struct Memory {
    limit: u64,
    /// The host can reach all of it at the same addresses, and says so.
    host_visible: bool,
    state: Mutex<Allocations>,
}

#[derive(Default)]
struct Allocations {
    in_use: u64,
    /// By address.
    entries: BTreeMap<u64, AllocEntry>,
}

struct AllocEntry {
    kind: AllocKind,
    size: u64,
    origin: Origin,
}

enum Origin {
    /// Ours: where `alloc_zeroed` put it, and how to give it back.
    Owned(HostPtr, Layout),
    /// Ours, in frames.
    InFrames(Frames),
    /// The user's; how often it was imported.
    Imported(u32),
}

impl Memory {
    pub(crate) fn new(limit: u64, host_visible: bool) -> Memory {
        Memory { limit, host_visible, state: Mutex::new(Allocations::default()) }
    }

    fn import(&self, req: &AllocReq<'_>, at: HostPtr) -> Result<Allocation, HalError> {
        if !self.host_visible && req.kind == AllocKind::Device {
            return Err(HalError::unsupported(
                "device memory of a separate domain over host memory",
            ));
        }
        let address = at.0.expose_provenance() as u64;
        let mut state = lock(&self.state);
        let entry = state.entries.entry(address).or_insert(AllocEntry {
            kind: req.kind,
            size: req.size,
            origin: Origin::Imported(0),
        });
        entry.size = entry.size.max(req.size);
        if let Origin::Imported(times) = &mut entry.origin {
            *times += 1;
        } else {
            return Err(HalError::unsupported("importing memory that this device allocated"));
        }
        Ok(Allocation { handle: address, address: Some(address), host: Some(at), zeroed: false })
    }

    fn out_of_memory(&self, asked: u64) -> HalError {
        HalError::out_of_memory(asked, lock(&self.state).in_use, self.limit)
    }

    /// Counts `size` bytes as used, if there is room.
    fn take(&self, size: u64) -> bool {
        let mut state = lock(&self.state);
        match state.in_use.checked_add(size) {
            Some(sum) if sum <= self.limit => {
                state.in_use = sum;
                true
            }
            _ => false,
        }
    }
}

// SAFETY: allocations come from the global allocator or the system, so they are live, apart from
// each other and of the size and alignment asked for until `free`; `take` keeps the limit.
unsafe impl UsmAllocator for Memory {
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        if req.linked && !self.host_visible {
            return Err(HalError::unsupported("linked memory of a separate domain"));
        }
        match req.import {
            Some(RawMemory::Host(at)) => return self.import(req, at),
            Some(_) => return Err(HalError::unsupported("memory that is not the host's")),
            None => {}
        }
        if req.size == 0 || !req.align.is_power_of_two() {
            let what = format!("allocation of {} bytes aligned to {}", req.size, req.align);
            return Err(HalError::new(HalErrorKind::Driver, what));
        }
        let align = req.align.max(MIN_ALIGN);
        let layout = req
            .size
            .checked_add(align)
            .and_then(|padded| usize::try_from(padded).ok())
            .and_then(|padded| Layout::from_size_align(padded, CALLOC_ALIGN).ok());
        let Some(layout) = layout else { return Err(self.out_of_memory(req.size)) };
        if !self.take(req.size) {
            return Err(self.out_of_memory(req.size));
        }
        // SAFETY: the layout's size is at least `align`, not 0.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            lock(&self.state).in_use -= req.size;
            return Err(self.out_of_memory(req.size));
        }
        let skip = (start as u64).next_multiple_of(align) - start as u64;
        // At most `align - 1` bytes, and the block is `align` bytes larger than asked for.
        let user = start.wrapping_add(usize::try_from(skip).unwrap_or(0));
        let address = user.expose_provenance() as u64;
        let origin = Origin::Owned(HostPtr(start), layout);
        let entry = AllocEntry { kind: req.kind, size: req.size, origin };
        lock(&self.state).entries.insert(address, entry);
        let host = (self.host_visible || req.kind != AllocKind::Device).then_some(HostPtr(user));
        Ok(Allocation { handle: address, address: Some(address), host, zeroed: true })
    }

    fn free(&self, handle: u64) {
        let mut state = lock(&self.state);
        if let Some(AllocEntry { origin: Origin::Imported(times), .. }) =
            state.entries.get_mut(&handle)
            && *times > 1
        {
            *times -= 1;
            return;
        }
        let Some(entry) = state.entries.remove(&handle) else { return };
        match entry.origin {
            Origin::Owned(start, layout) => {
                state.in_use -= entry.size;
                drop(state);
                // SAFETY: `start` came from `alloc_zeroed` with this layout and left the table just
                // now; the engine frees only what no operation uses (contract).
                unsafe { dealloc(start.0, layout) };
            }
            Origin::InFrames(frames) => {
                state.in_use -= frames.in_use();
                drop(state);
                drop(frames);
            }
            Origin::Imported(_) => {}
        }
    }

    fn reserve(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let plain = req.import.is_none() && !req.zeroed && !req.linked && !req.exported;
        if self.host_visible || !CAN || !plain || req.kind != AllocKind::Device {
            return Err(HalError::unsupported("memory in frames"));
        }
        let frames = Frames::reserve(req.size).ok_or_else(|| self.out_of_memory(req.size))?;
        let address = frames.base().0.expose_provenance() as u64;
        if !address.is_multiple_of(req.align) {
            return Err(HalError::unsupported("frames of this alignment"));
        }
        let (kind, size, origin) = (req.kind, req.size, Origin::InFrames(frames));
        lock(&self.state).entries.insert(address, AllocEntry { kind, size, origin });
        Ok(Allocation { handle: address, address: Some(address), host: None, zeroed: false })
    }

    fn map(&self, handle: u64, bytes: Range<u64>) -> Result<(), HalError> {
        let asked = bytes.end - bytes.start;
        if !self.take(asked) {
            return Err(self.out_of_memory(asked));
        }
        let mut state = lock(&self.state);
        let done = match state.entries.get_mut(&handle).map(|entry| &mut entry.origin) {
            Some(Origin::InFrames(frames)) => frames.map(&bytes),
            _ => false,
        };
        if !done {
            state.in_use -= asked;
            drop(state);
            return Err(self.out_of_memory(asked));
        }
        Ok(())
    }

    fn unmap(&self, handle: u64, bytes: Range<u64>) {
        let mut state = lock(&self.state);
        if let Some(AllocEntry { origin: Origin::InFrames(frames), .. }) =
            state.entries.get_mut(&handle)
        {
            frames.unmap(&bytes);
            state.in_use -= bytes.end - bytes.start;
        }
    }

    fn memory(&self) -> MemoryInfo {
        MemoryInfo { total: self.limit, in_use: lock(&self.state).in_use }
    }

    fn query(&self, address: u64) -> Option<PointerInfo> {
        let state = lock(&self.state);
        let (&handle, entry) = state.entries.range(..=address).next_back()?;
        let offset = address - handle;
        let info = PointerInfo { kind: entry.kind, handle, offset, size: entry.size };
        (offset < entry.size).then_some(info)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for entry in std::mem::take(&mut lock(&self.state).entries).into_values() {
            if let Origin::Owned(start, layout) = entry.origin {
                // SAFETY: as in `free`; the machine dies with its last lane, so no operation is
                // left, and the devices that lent the memory out are gone.
                unsafe { dealloc(start.0, layout) };
            }
        }
    }
}

/// The address that a memory reference means.
pub(crate) fn resolve(mem: &MemRef) -> HostPtr {
    let start = match mem.base {
        MemBase::Host(at) => at.0,
        // Handles are exposed addresses.
        MemBase::Device { handle, .. } => {
            std::ptr::with_exposed_provenance_mut(usize::try_from(handle).unwrap_or(0))
        }
    };
    HostPtr(start.wrapping_add(usize::try_from(mem.offset).unwrap_or(0)))
}

/// The machine's memory in bytes, where the system tells.
pub(crate) fn installed() -> u64 {
    std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
            line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
        })
        .unwrap_or(isize::MAX as u64)
}
