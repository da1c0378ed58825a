//! Memory of devices and of the host, and the host's copies between them.
//!
//! An allocation is one buffer, of memory that `gpu-allocator` manages.
//!
//! Which type of memory is for what, [`types`] says.
//!
//! Addresses of the device are those of buffers, so kernels need no descriptors.

pub(crate) mod arena;
#[cfg(unix)]
pub(crate) mod external;
pub(crate) mod imports;
pub(crate) mod pageable;
pub(crate) mod stages;
pub(crate) mod types;

use crate::device::Core;
use crate::device::names::Names;
use crate::device::platform::{Found, driver};
use crate::memory::types::{Purpose, best};
use ash::vk;
use folio_core::hal::{
    AllocKind, AllocReq, Allocation, HalError, HalErrorKind, HostPtr, MemBase, MemRef, MemoryInfo,
    PointerInfo, RawMemory,
};
use folio_driver::lock;
use folio_driver::memory::Handles;
use gpu_allocator::vulkan::{
    AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationError, AllocationSizes, MemoryLocation};
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Bytes of the pieces in which memory is asked of the driver; larger allocations have their own.
const PIECE: u64 = 32 << 20;
/// Allocations from so many bytes on have memory of their own.
const LARGE: u64 = 16 << 20;

/// A buffer and its memory.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) buffer: vk::Buffer,
    pub(crate) address: u64,
    /// Bytes of the buffer before it.
    pub(crate) ahead: u64,
    pub(crate) size: u64,
    pub(crate) host: Option<HostPtr>,
    kind: AllocKind,
    backing: Backing,
}

impl Block {
    /// The host's address of what programs know by that: of what is the host's. Drivers may map it
    /// elsewhere for the device.
    fn of_host(&self) -> Option<u64> {
        match (self.kind, self.host) {
            (AllocKind::Host | AllocKind::Shared, Some(HostPtr(at))) => {
                Some(at.expose_provenance() as u64)
            }
            _ => None,
        }
    }

    /// The address that programs know it by.
    fn known_by(&self) -> u64 {
        self.of_host().unwrap_or(self.address)
    }
}

/// Handles of allocations by the addresses that programs know them by. An address of the host's and
/// one of the device's may be the same number.
#[derive(Default)]
struct Addresses {
    host: BTreeMap<u64, u64>,
    device: BTreeMap<u64, u64>,
}

impl Addresses {
    /// Where a block belongs.
    fn of(&mut self, block: &Block) -> &mut BTreeMap<u64, u64> {
        if block.of_host().is_some() { &mut self.host } else { &mut self.device }
    }
}

/// The start and the handle of what begins at an address, or is the next below it.
fn below(all: &BTreeMap<u64, u64>, address: u64) -> Option<(u64, u64)> {
    all.range(..=address).next_back().map(|(start, handle)| (*start, *handle))
}

/// Where a buffer's memory is from.
#[derive(Debug)]
pub(crate) enum Backing {
    Managed(gpu_allocator::vulkan::Allocation),
    /// Its own, which other drivers can open.
    #[cfg_attr(not(unix), expect(dead_code, reason = "what is exported is a file"))]
    Exported(vk::DeviceMemory),
    /// Somebody else's, which stays when this goes.
    Imported(vk::DeviceMemory),
}

/// The uses of all buffers.
pub(crate) const USES: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// All memory of a device.
pub(crate) struct Memory {
    allocator: ManuallyDrop<Mutex<Allocator>>,
    blocks: RwLock<Handles<u64, Arc<Block>>>,
    addresses: Mutex<Addresses>,
    /// Freed, and looked at by somebody at that moment.
    leaving: Mutex<Vec<Arc<Block>>>,
    next: AtomicU64,
    in_use: AtomicU64,
    total: u64,
    unified: bool,
    names: Names,
    properties: vk::PhysicalDeviceMemoryProperties,
    /// The families of queues that use all buffers, if there are two.
    families: Option<[u32; 2]>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("in_use", &self.in_use).finish_non_exhaustive()
    }
}

fn allocation(asked: u64, in_use: u64, total: u64, error: &AllocationError) -> HalError {
    match error {
        AllocationError::OutOfMemory => HalError::out_of_memory(asked, in_use, total),
        other => HalError::new(HalErrorKind::Driver, format!("memory: {other}")),
    }
}

impl Memory {
    pub(crate) fn new(
        found: &Found,
        device: &ash::Device,
        names: &Names,
    ) -> Result<Memory, HalError> {
        let instance = &found.shared.instance;
        let create = AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device: found.physical,
            debug_settings: Default::default(),
            buffer_device_address: true,
            allocation_sizes: AllocationSizes::new(PIECE, PIECE),
        };
        let allocator =
            Allocator::new(&create).map_err(|error| allocation(0, 0, found.info.memory, &error))?;
        // SAFETY: the physical device is of this instance.
        let properties = unsafe { instance.get_physical_device_memory_properties(found.physical) };
        Ok(Memory {
            allocator: ManuallyDrop::new(Mutex::new(allocator)),
            blocks: RwLock::default(),
            addresses: Mutex::default(),
            leaving: Mutex::default(),
            next: AtomicU64::new(1),
            in_use: AtomicU64::new(0),
            total: found.info.memory,
            unified: found.info.caps.unified,
            names: names.clone(),
            properties,
            families: found.target.families.both(),
        })
    }

    fn allocator(&self) -> MutexGuard<'_, Allocator> {
        lock(&self.allocator)
    }

    /// Of those types of memory, the best ones for a purpose.
    pub(crate) fn best(&self, of: u32, purpose: Purpose) -> u32 {
        best(&self.properties, of, purpose)
    }

    /// The purpose of bulk data.
    pub(crate) fn bulk(&self) -> Purpose {
        if self.unified { Purpose::Both } else { Purpose::Bulk }
    }

    /// A buffer of so many bytes, without memory.
    pub(crate) fn buffer(
        &self,
        device: &ash::Device,
        size: u64,
        external: Option<&mut vk::ExternalMemoryBufferCreateInfo<'_>>,
    ) -> Result<vk::Buffer, HalError> {
        let mut create = vk::BufferCreateInfo::default().size(size).usage(USES);
        if let Some(families) = &self.families {
            create =
                create.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(families);
        }
        if let Some(external) = external {
            create = create.push_next(external);
        }
        // SAFETY: the device is there; the description is complete.
        unsafe { device.create_buffer(&create, None) }
            .map_err(|result| driver("vkCreateBuffer", result))
    }

    pub(crate) fn out_of_memory(&self, asked: u64) -> HalError {
        HalError::out_of_memory(asked, self.in_use.load(Ordering::Relaxed), self.total)
    }

    /// A buffer at the start of memory that is for it alone; both go if that fails.
    pub(crate) fn bound(
        &self,
        device: &ash::Device,
        (buffer, backing): (vk::Buffer, Backing),
        req: &AllocReq<'_>,
    ) -> Result<Block, HalError> {
        let (Backing::Exported(memory) | Backing::Imported(memory)) = backing else {
            return Err(HalError::unsupported("memory of the allocator on its own"));
        };
        self.names.set(buffer, req.label);
        self.names.set(memory, req.label);
        let (kind, size) = (req.kind, req.size);
        let block = Block { buffer, address: 0, ahead: 0, size, host: None, kind, backing };
        // SAFETY: the memory is for this buffer, and bound to it once.
        if let Err(result) = unsafe { device.bind_buffer_memory(buffer, memory, 0) } {
            self.release(device, block);
            return Err(driver("vkBindBufferMemory", result));
        }
        let of = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: the buffer has memory, and was made to have an address.
        let address = unsafe { device.get_buffer_device_address(&of) };
        Ok(Block { address, ..block })
    }

    /// A buffer of so many bytes.
    pub(crate) fn block(
        &self,
        device: &ash::Device,
        kind: AllocKind,
        layout: (u64, u64),
        label: &str,
    ) -> Result<Block, HalError> {
        let purpose = match kind {
            AllocKind::Device => self.bulk(),
            AllocKind::Host | AllocKind::Shared => Purpose::Host,
        };
        self.block_for(device, (kind, purpose), layout, label)
    }

    /// A buffer of so many bytes for the words of launches.
    pub(crate) fn arguments(
        &self,
        device: &ash::Device,
        layout: (u64, u64),
        label: &str,
    ) -> Result<Block, HalError> {
        let kind = AllocKind::Host;
        let made = self.block_for(device, (kind, Purpose::Arguments), layout, label);
        match made {
            // There may be little of the device's memory that is mapped.
            Err(error) if matches!(error.kind, HalErrorKind::OutOfMemory { .. }) => {
                self.block(device, kind, layout, label)
            }
            made => made,
        }
    }

    fn block_for(
        &self,
        device: &ash::Device,
        (kind, purpose): (AllocKind, Purpose),
        (size, align): (u64, u64),
        label: &str,
    ) -> Result<Block, HalError> {
        // Commands fill whole words.
        let buffer = self.buffer(device, size.next_multiple_of(4), None)?;
        // SAFETY: the buffer is this device's.
        let mut requirements = unsafe { device.get_buffer_memory_requirements(buffer) };
        requirements.alignment = requirements.alignment.max(align);
        requirements.memory_type_bits = self.best(requirements.memory_type_bits, purpose);
        let scheme = match size >= LARGE {
            true => AllocationScheme::DedicatedBuffer(buffer),
            false => AllocationScheme::GpuAllocatorManaged,
        };
        let wanted = AllocationCreateDesc {
            name: label,
            requirements,
            // Any of those types, which the choice above has left.
            location: MemoryLocation::Unknown,
            linear: true,
            allocation_scheme: scheme,
        };
        self.names.set(buffer, label);
        let memory = self.allocate(&wanted).map_err(|error| {
            // SAFETY: nothing uses the buffer.
            unsafe { device.destroy_buffer(buffer, None) };
            let in_use = self.in_use.load(Ordering::Relaxed);
            allocation(size, in_use, self.total, &error)
        })?;
        // SAFETY: the memory is for this buffer, and bound to it once.
        let bound = unsafe { device.bind_buffer_memory(buffer, memory.memory(), memory.offset()) };
        // The host leaves bulk data of a discrete device alone, also where it could reach it: reads
        // across the bus are slow.
        let mapped = memory.mapped_ptr().filter(|_| purpose != Purpose::Bulk);
        let host = mapped.map(|at| HostPtr(at.as_ptr().cast()));
        let backing = Backing::Managed(memory);
        let block = Block { buffer, address: 0, ahead: 0, size, host, kind, backing };
        if let Err(result) = bound {
            self.release(device, block);
            return Err(driver("vkBindBufferMemory", result));
        }
        let of = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: the buffer has memory, and was made to have an address.
        let address = unsafe { device.get_buffer_device_address(&of) };
        if !address.is_multiple_of(align.max(1)) {
            self.release(device, block);
            // There is none that begins at such a multiple.
            return Err(self.out_of_memory(size));
        }
        Ok(Block { address, ..block })
    }

    /// Memory of the allocator, which is named: as its buffer if that has it alone.
    fn allocate(
        &self,
        wanted: &AllocationCreateDesc<'_>,
    ) -> Result<gpu_allocator::vulkan::Allocation, AllocationError> {
        let mut allocator = self.allocator();
        let made = allocator.allocate(wanted)?;
        let name = match wanted.allocation_scheme {
            AllocationScheme::GpuAllocatorManaged => "folio memory",
            _ => wanted.name,
        };
        // SAFETY: the memory is only named. The allocator, which is locked, is what frees it.
        self.names.set(unsafe { made.memory() }, name);
        Ok(made)
    }

    /// Gives a block back that nothing uses any more.
    pub(crate) fn release(&self, device: &ash::Device, block: Block) {
        // SAFETY: the caller's promise.
        unsafe { device.destroy_buffer(block.buffer, None) };
        match block.backing {
            // The call fails for memory of another allocator only.
            Backing::Managed(memory) => drop(self.allocator().free(memory)),
            // SAFETY: as above; what others have of it stays.
            Backing::Exported(memory) | Backing::Imported(memory) => unsafe {
                device.free_memory(memory, None);
            },
        }
    }

    fn addresses(&self) -> MutexGuard<'_, Addresses> {
        lock(&self.addresses)
    }

    pub(crate) fn find(&self, handle: u64) -> Result<Arc<Block>, HalError> {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        let unknown = || HalError::new(HalErrorKind::Driver, format!("no memory {handle}"));
        blocks.get(&handle).cloned().ok_or_else(unknown)
    }

    pub(crate) fn add(&self, block: Block) -> Allocation {
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        let (address, host) = (block.known_by(), block.host);
        self.in_use.fetch_add(block.counted(), Ordering::Relaxed);
        self.addresses().of(&block).insert(address, handle);
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        blocks.insert(handle, Arc::new(block));
        Allocation { handle, address: Some(address), host, zeroed: false }
    }

    /// How many allocations there are, and their bytes: none when all has been given back.
    #[cfg(test)]
    pub(crate) fn report(&self) -> (usize, u64) {
        let report = self.allocator().generate_report();
        (report.allocations.len(), report.total_allocated_bytes)
    }

    /// Gives back all that is left, and what the driver has given.
    ///
    /// # Safety
    /// Nothing uses any of it, now or later, and this is called once.
    pub(crate) unsafe fn destroy(&mut self, device: &ash::Device) {
        let blocks = std::mem::take(self.blocks.get_mut().unwrap_or_else(PoisonError::into_inner));
        let leaving = self.leaving.get_mut().unwrap_or_else(PoisonError::into_inner);
        let all = blocks.into_values().chain(leaving.drain(..));
        let all: Vec<_> = all.filter_map(Arc::into_inner).collect();
        for block in all {
            self.release(device, block);
        }
        // SAFETY: once, says the caller.
        unsafe { ManuallyDrop::drop(&mut self.allocator) };
    }
}

impl Block {
    /// A key of memory: different for memory that does not overlap. All that others have, too, may
    /// overlap.
    pub(crate) fn key(&self) -> vk::Buffer {
        match self.backing {
            Backing::Managed(_) => self.buffer,
            Backing::Exported(_) | Backing::Imported(_) => vk::Buffer::null(),
        }
    }

    #[cfg(unix)]
    pub(crate) fn backing(&self) -> &Backing {
        &self.backing
    }

    /// Bytes of the device's memory that it has.
    fn counted(&self) -> u64 {
        if matches!(self.backing, Backing::Imported(_)) { 0 } else { self.size }
    }
}

impl Core {
    pub(crate) fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        if req.linked && self.info.caps.links.is_none() {
            return Err(HalError::unsupported("linked memory"));
        }
        if req.size > self.info.caps.max_alloc {
            let in_use = self.memory.in_use.load(Ordering::Relaxed);
            return Err(HalError::out_of_memory(req.size, in_use, self.info.caps.max_alloc));
        }
        match req.import {
            None => {}
            Some(RawMemory::Host(host)) => return self.import(req, host),
            #[cfg(unix)]
            Some(RawMemory::File { file, bytes }) => {
                let block = self.opened_block(req, file, bytes)?;
                return Ok(self.memory.add(block));
            }
            Some(_) => return Err(HalError::unsupported("memory of others")),
        }
        let block = match req.exported {
            #[cfg(unix)]
            true => self.exported_block(req)?,
            _ => self.memory.block(&self.device, req.kind, (req.size, req.align), req.label)?,
        };
        let host = block.host;
        let mut made = self.memory.add(block);
        // Whose turn it is with what is linked, the host knows by its address only.
        made.address = made.address.filter(|_| !req.linked);
        if req.zeroed {
            match host {
                // SAFETY: so many bytes are mapped, and nobody knows of them yet.
                Some(HostPtr(at)) => unsafe { at.write_bytes(0, req.size as usize) },
                None => {
                    if let Err(error) = self.clear(made.handle) {
                        self.free_memory(made.handle);
                        return Err(error);
                    }
                }
            }
            made.zeroed = true;
        }
        Ok(made)
    }

    pub(crate) fn free_memory(&self, handle: u64) {
        let mut blocks = self.memory.blocks.write().unwrap_or_else(PoisonError::into_inner);
        let Some(block) = blocks.remove(&handle) else { return };
        drop(blocks);
        self.memory.addresses().of(&block).remove(&block.known_by());
        self.memory.in_use.fetch_sub(block.counted(), Ordering::Relaxed);
        // Who looks at a block right now lets go of it soon.
        let mut leaving = lock(&self.memory.leaving);
        leaving.push(block);
        let (gone, stay): (Vec<_>, Vec<_>) =
            leaving.drain(..).partition(|block| Arc::strong_count(block) == 1);
        *leaving = stay;
        drop(leaving);
        for block in gone.into_iter().filter_map(Arc::into_inner) {
            self.memory.release(&self.device, block);
        }
    }

    pub(crate) fn memory_info(&self) -> MemoryInfo {
        MemoryInfo { total: self.memory.total, in_use: self.memory.in_use.load(Ordering::Relaxed) }
    }

    pub(crate) fn pointer_info(&self, address: u64) -> Option<PointerInfo> {
        let addresses = self.memory.addresses();
        let found = [below(&addresses.host, address), below(&addresses.device, address)];
        drop(addresses);
        found.into_iter().flatten().find_map(|(start, handle)| {
            let block = self.memory.find(handle).ok()?;
            let (kind, offset, size) = (block.kind, address - start, block.size);
            (offset < size).then_some(PointerInfo { kind, handle, offset, size })
        })
    }

    /// Whether the device reaches so many bytes from a place on. If they are named by an address of
    /// the host's they are named by their allocation from here on, which is held.
    pub(crate) fn reach(&self, at: &mut MemRef, bytes: u64, held: &mut Vec<Arc<Block>>) -> bool {
        let MemBase::Host(HostPtr(base)) = at.base else { return true };
        let address = (base.addr() as u64).wrapping_add(at.offset);
        let Some((start, handle)) = below(&self.memory.addresses().host, address) else {
            return false;
        };
        let (Ok(block), offset) = (self.memory.find(handle), address - start) else {
            return false;
        };
        if bytes > block.size.saturating_sub(offset) {
            return false;
        }
        // Lanes ask for the handle only.
        *at = MemRef { base: MemBase::Device { device: 0, handle }, offset };
        held.push(block);
        true
    }
}
