//! A simulated device's memory: bytes of the host's, with everything that makes misuse show.
//!
//! Fresh memory holds [`FRESH`], never zeros. Each allocation lies between guards. Freed memory is
//! overwritten with [`FREED`] and stays mapped in a quarantine, and handles are never used again,
//! so that use after free is found and reported and is not undefined behaviour.
//!
//! Linked memory has bytes for each side, brought over when it is switched; the host's hold
//! [`UNMAPPED`] while they are the device's, so that whoever does not map sees it.

use crate::frames::Frames;
use folio_core::hal::{
    AllocKind, AllocReq, Allocation, HalError, HalErrorKind, HostPtr, MemBase, MemRef, MemoryInfo,
    PointerInfo, RawMemory, Side,
};
use std::alloc::{Layout, alloc, dealloc};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes of fresh memory.
pub const FRESH: u8 = 0xA5;
/// The bytes of freed memory.
pub const FREED: u8 = 0xDD;
/// The bytes of the host's side of linked memory while the device has it.
pub const UNMAPPED: u8 = 0xB7;
/// How the host's memory must be aligned to be linked.
pub(crate) const LINKED_ALIGN: u64 = 64;
/// The bytes of the guards before and after an allocation.
const GUARD: u8 = 0xFD;
/// Bytes of one guard, and the least alignment.
const GUARD_SIZE: usize = 64;
/// Freed bytes that are kept.
const QUARANTINE: u64 = 32 << 20;

/// The bytes of one allocation. Shared by the table and by operations under way.
pub(crate) struct Block {
    base: *mut u8,
    size: usize,
    /// `None`: imported, owned by somebody else.
    owned: Option<(Layout, usize)>,
    /// Of linked memory, the host's side.
    host: Option<Host>,
}

/// The host's side of linked memory, and whose turn it is.
struct Host {
    bytes: Box<Block>,
    side: Mutex<Side>,
}

// SAFETY: a `Block` is an address range; the operations that touch it are serialised by the
// timeline, and the host's own accesses are the engine's to order.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    fn new(size: u64, align: u64) -> Option<Block> {
        let size = usize::try_from(size).ok()?;
        let align = usize::try_from(align).ok()?.max(GUARD_SIZE);
        // The front guard is a whole alignment, so that the bytes behind it are aligned.
        let total = size.checked_add(align)?.checked_add(GUARD_SIZE)?;
        let layout = Layout::from_size_align(total, align).ok()?;
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: guard, bytes and guard lie inside the `total` bytes just allocated.
        unsafe {
            start.write_bytes(GUARD, align);
            start.add(align).write_bytes(FRESH, size);
            start.add(align + size).write_bytes(GUARD, GUARD_SIZE);
            Some(Block { base: start.add(align), size, owned: Some((layout, align)), host: None })
        }
    }

    /// Address of byte `offset`, which is at most `size`.
    pub(crate) fn at(&self, offset: u64) -> *mut u8 {
        self.base.wrapping_add(offset as usize)
    }

    /// Memory that somebody else has.
    fn imported(HostPtr(base): HostPtr, size: u64) -> Block {
        Block { base, size: size as usize, owned: None, host: None }
    }

    /// With the host's side, which is the device's until it is mapped.
    fn linked_to(mut self, host: Block) -> Block {
        if host.owned.is_none() {
            // SAFETY: both have `size` bytes, the host's as its owner has promised.
            unsafe { std::ptr::copy_nonoverlapping(host.base, self.base, self.size) };
        } else {
            host.fill(0..host.size(), UNMAPPED);
        }
        self.host = Some(Host { bytes: Box::new(host), side: Mutex::new(Side::Device) });
        self
    }

    /// Bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size as u64
    }

    /// Fills some of its bytes.
    pub(crate) fn fill(&self, bytes: Range<u64>, byte: u8) {
        // SAFETY: the allocation's bytes.
        unsafe { self.at(bytes.start).write_bytes(byte, (bytes.end - bytes.start) as usize) };
    }

    /// Some of its bytes are all this one.
    pub(crate) fn holds(&self, bytes: Range<u64>, byte: u8) -> bool {
        let len = (bytes.end - bytes.start) as usize;
        // SAFETY: these are our bytes, and they were initialised by `new`.
        let own = unsafe { std::slice::from_raw_parts(self.at(bytes.start), len) };
        own.iter().all(|b| *b == byte)
    }

    fn take_from(&self, other: &Block) {
        // SAFETY: both have `size` bytes, initialised, and are apart.
        unsafe {
            let from = std::slice::from_raw_parts(other.base, self.size);
            // Memory that is only lent is not written.
            if from != std::slice::from_raw_parts(self.base, self.size) {
                self.base.copy_from_nonoverlapping(other.base, self.size);
            }
        }
    }

    /// The host has it now.
    fn is_mapped(&self) -> bool {
        let side = |host: &Host| *host.side.lock().unwrap_or_else(PoisonError::into_inner);
        self.host.as_ref().is_some_and(|host| side(host) != Side::Device)
    }

    /// Brings the bytes over; the error says why not.
    pub(crate) fn switch(&self, to: Side) -> Result<(), String> {
        let Some(Host { bytes, side }) = &self.host else {
            return Err("memory that is not linked is switched".to_owned());
        };
        let mut side = side.lock().unwrap_or_else(PoisonError::into_inner);
        match (*side, to) {
            (Side::Device, Side::HostOverwrites) => bytes.fill(0..bytes.size(), FRESH),
            (Side::Device, Side::HostReads | Side::HostWrites) => bytes.take_from(self),
            (Side::HostReads, Side::Device) if bytes.owned.is_none() => {}
            (Side::HostReads, Side::Device) => bytes.fill(0..bytes.size(), UNMAPPED),
            (Side::HostWrites | Side::HostOverwrites, Side::Device) => {
                self.take_from(bytes);
                bytes.fill(0..bytes.size(), UNMAPPED);
            }
            (from, to) => return Err(format!("linked memory goes from {from:?} to {to:?}")),
        }
        *side = to;
        Ok(())
    }

    /// Nothing wrote next to the allocation.
    fn guards_intact(&self) -> bool {
        let host = self.host.as_ref().is_none_or(|host| host.bytes.guards_intact());
        let Some((_, front)) = self.owned else { return host };
        // SAFETY: the guards are part of our allocation; see `new`.
        let (before, after) = unsafe {
            (
                std::slice::from_raw_parts(self.base.sub(front), front),
                std::slice::from_raw_parts(self.base.add(self.size), GUARD_SIZE),
            )
        };
        host && before.iter().chain(after).all(|b| *b == GUARD)
    }

    fn poison(&self) {
        if self.owned.is_some() {
            // SAFETY: these are our bytes, given back by their user.
            unsafe { self.base.write_bytes(FREED, self.size) };
        }
    }

    fn poison_intact(&self) -> bool {
        self.owned.is_none() || self.holds(0..self.size(), FREED)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some((layout, front)) = self.owned {
            // SAFETY: allocated in `new` with this layout, `front` bytes before `base`.
            unsafe { dealloc(self.base.sub(front), layout) };
        }
    }
}

struct Entry {
    block: Arc<Block>,
    device: u32,
    kind: AllocKind,
    label: Box<str>,
    /// Of memory in frames.
    frames: Option<Frames>,
}

/// The limit of a device's memory, and the bytes in use.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) limit: u64,
    pub(crate) max_alloc: u64,
    pub(crate) in_use: u64,
    /// The host reaches this device's memory.
    pub(crate) host_visible: bool,
    /// There is linked memory.
    pub(crate) links: bool,
    /// Bytes of a frame, if there is memory in frames.
    pub(crate) frame: Option<u64>,
}

/// All memory of one backend.
pub(crate) struct Memory {
    budgets: Vec<Budget>,
    live: HashMap<u64, Entry>,
    quarantine: VecDeque<(u64, Arc<Block>)>,
    quarantined: u64,
    next: u64,
}

impl Memory {
    pub(crate) fn new(budgets: Vec<Budget>) -> Memory {
        let (live, quarantine) = (HashMap::new(), VecDeque::new());
        Memory { budgets, live, quarantine, quarantined: 0, next: 1 }
    }

    pub(crate) fn alloc(
        &mut self,
        device: u32,
        req: &AllocReq<'_>,
    ) -> Result<Allocation, HalError> {
        let budget = &mut self.budgets[device as usize];
        let linked = req.linked;
        let suits = |at: HostPtr| (at.0 as u64).is_multiple_of(LINKED_ALIGN);
        let (block, charge) = match req.import {
            _ if linked && !budget.links => return Err(HalError::unsupported("linked memory")),
            Some(RawMemory::Host(at)) if linked && suits(at) => {
                let full = || HalError::out_of_memory(req.size, budget.in_use, budget.limit);
                let block = Block::new(req.size, req.align).ok_or_else(full)?;
                (block.linked_to(Block::imported(at, req.size)), 0)
            }
            Some(_) if linked => return Err(HalError::unsupported("to link this memory")),
            Some(_) if !budget.host_visible => return Err(HalError::unsupported("import")),
            Some(RawMemory::Host(at)) => (Block::imported(at, req.size), 0),
            Some(_) => return Err(HalError::unsupported("memory that is not the host's")),
            None => {
                let full = || HalError::out_of_memory(req.size, budget.in_use, budget.limit);
                let fits = budget.in_use.checked_add(req.size).is_some_and(|n| n <= budget.limit);
                if req.size > budget.max_alloc || !fits {
                    return Err(full());
                }
                let new = || Block::new(req.size, req.align).ok_or_else(full);
                let block = if linked { new()?.linked_to(new()?) } else { new()? };
                (block, req.size)
            }
        };
        if req.zeroed {
            // SAFETY: a new block of this size, or the caller's memory of it; nobody uses it yet.
            unsafe { block.base.write_bytes(0, req.size as usize) };
        }
        budget.in_use += charge;
        let base = block.host.as_ref().map_or(block.base, |host| host.bytes.base);
        let host = budget.host_visible || linked || req.kind != AllocKind::Device;
        let out = Allocation {
            handle: self.next,
            address: Some(block.base as u64),
            host: host.then_some(HostPtr(base)),
            zeroed: req.zeroed,
        };
        self.add(device, req, (block, None));
        Ok(out)
    }

    fn add(&mut self, device: u32, req: &AllocReq<'_>, (block, frames): (Block, Option<Frames>)) {
        let (kind, label) = (req.kind, req.label.into());
        self.live.insert(self.next, Entry { block: Arc::new(block), device, kind, label, frames });
        self.next += 1;
    }

    /// Addresses without memory.
    pub(crate) fn reserve(
        &mut self,
        device: u32,
        req: &AllocReq<'_>,
    ) -> Result<Allocation, HalError> {
        let Budget { limit, in_use, frame, host_visible, .. } = self.budgets[device as usize];
        let Some(frame) = frame.filter(|_| !host_visible) else {
            return Err(HalError::unsupported("memory in frames"));
        };
        let full = || HalError::out_of_memory(req.size, in_use, limit);
        let block = Block::new(req.size, req.align).ok_or_else(full)?;
        let (handle, address) = (self.next, Some(block.base as u64));
        let frames = Frames::new(&block, frame);
        self.add(device, req, (block, Some(frames)));
        Ok(Allocation { handle, address, host: None, zeroed: false })
    }

    /// Gives memory to frames, or takes it back. An inner error says what was wrong with them.
    pub(crate) fn back(
        &mut self,
        (device, handle): (u32, u64),
        bytes: &Range<u64>,
        backed: bool,
    ) -> Result<Result<(), String>, HalError> {
        let entry = self.live.get_mut(&handle).filter(|entry| entry.device == device);
        let Some(Entry { block, frames: Some(frames), .. }) = entry else {
            return Ok(Err(format!("allocation {handle} of device {device} has no frames")));
        };
        let Budget { limit, in_use, .. } = &mut self.budgets[device as usize];
        let asked = bytes.end.saturating_sub(bytes.start);
        let fits = in_use.checked_add(asked).is_some_and(|sum| sum <= *limit);
        if backed && !fits {
            return Err(HalError::out_of_memory(asked, *in_use, *limit));
        }
        let done = frames.set(block, bytes, backed);
        if done.is_ok() {
            *in_use = if backed { *in_use + asked } else { *in_use - asked };
        }
        Ok(done)
    }

    /// All of these bytes, which are in an allocation, have memory.
    pub(crate) fn is_backed(&self, handle: u64, bytes: &Range<u64>) -> bool {
        let frames = self.live.get(&handle).and_then(|entry| entry.frames.as_ref());
        frames.is_none_or(|frames| frames.are_backed(bytes))
    }

    /// Gives memory back; the error says what was wrong with it.
    pub(crate) fn free(&mut self, device: u32, handle: u64) -> Result<(), String> {
        let owned = self.live.get(&handle).is_some_and(|e| e.device == device);
        let Some(entry) = owned.then(|| self.live.remove(&handle)).flatten() else {
            return Err(format!("device {device} has no live allocation {handle} to free"));
        };
        let Entry { block, label, frames, .. } = entry;
        let unbacked = frames.as_ref().is_none_or(|frames| frames.are_intact(&block));
        let intact = block.guards_intact() && unbacked;
        if block.owned.is_some() {
            block.poison();
            let lent = block.host.as_ref().is_some_and(|host| host.bytes.owned.is_none());
            let charged = frames.map_or(block.size(), |frames| frames.in_use());
            self.budgets[device as usize].in_use -= if lent { 0 } else { charged };
            self.quarantined += block.size as u64;
            self.quarantine.push_back((handle, block));
        }
        if intact { Ok(()) } else { Err(format!("writes beside allocation {handle} {label:?}")) }
    }

    /// Looks for writes to freed memory, and forgets the oldest of it above `keep` bytes.
    pub(crate) fn sweep(&mut self, keep: Option<u64>) -> Vec<String> {
        let mut wrong = Vec::new();
        let keep = keep.unwrap_or(QUARANTINE);
        while self.quarantined > keep {
            let Some((handle, block)) = self.quarantine.pop_front() else { break };
            self.quarantined -= block.size as u64;
            if !block.poison_intact() {
                wrong.push(format!("freed allocation {handle} was written"));
            }
        }
        wrong
    }

    /// The block of `handle` and the device that owns it, if `span` bytes from `offset` are in it.
    pub(crate) fn find(
        &self,
        device: u32,
        handle: u64,
        offset: u64,
        span: u64,
    ) -> Result<&Arc<Block>, String> {
        let Some(entry) = self.live.get(&handle).filter(|e| e.device == device) else {
            let when = if handle < self.next { "freed" } else { "unknown" };
            return Err(format!("allocation {handle} of device {device} is {when}"));
        };
        match offset.checked_add(span) {
            Some(end) if end <= entry.block.size as u64 => Ok(&entry.block),
            _ => Err(format!(
                "{span} bytes at {offset} are not in the {} bytes of allocation {handle} {:?}",
                entry.block.size, entry.label
            )),
        }
    }

    pub(crate) fn info(&self, device: u32) -> MemoryInfo {
        let budget = &self.budgets[device as usize];
        MemoryInfo { total: budget.limit, in_use: budget.in_use }
    }

    pub(crate) fn query(&self, device: u32, address: u64) -> Option<PointerInfo> {
        self.live.iter().filter(|(_, e)| e.device == device).find_map(|(handle, e)| {
            let offset = address.checked_sub(e.block.base as u64)?;
            let size = e.block.size as u64;
            (offset < size).then_some(PointerInfo { kind: e.kind, handle: *handle, offset, size })
        })
    }

    /// Number and bytes of live allocations.
    pub(crate) fn live(&self) -> (usize, u64) {
        (self.live.len(), self.live.values().map(|e| e.block.size as u64).sum())
    }

    /// The labels of live allocations, in the order of allocation.
    pub(crate) fn labels(&self) -> Vec<String> {
        let mut all: Vec<_> = self.live.iter().collect();
        all.sort_by_key(|(handle, _)| **handle);
        all.into_iter().map(|(_, e)| e.label.to_string()).collect()
    }
}

/// Turns a reference into an address, keeping its block alive in `pins`. Checked before.
pub(crate) fn address(
    memory: &Memory,
    mem: &MemRef,
    span: u64,
    pins: &mut Vec<Arc<Block>>,
) -> Result<*mut u8, HalError> {
    match mem.base {
        MemBase::Host(HostPtr(base)) => Ok(base.wrapping_add(mem.offset as usize)),
        MemBase::Device { device, handle } => {
            let block = memory
                .find(device, handle, mem.offset, span)
                .map_err(|what| HalError::new(HalErrorKind::Driver, what))?;
            if block.is_mapped() {
                let what = format!("allocation {handle} of device {device} is mapped for the host");
                return Err(HalError::new(HalErrorKind::Driver, what));
            }
            pins.push(block.clone());
            Ok(block.at(mem.offset))
        }
    }
}
