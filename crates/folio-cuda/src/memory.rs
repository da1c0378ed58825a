//! A device's memory.
//!
//! Device memory comes from a stream-ordered pool of our own, which keeps what is freed: an
//! allocation costs some microseconds, and nothing of the device is waited for. Where there is not
//! enough, all pools of the process give back what they keep of the device. Handles are addresses.
//!
//! To give back page-locked and managed memory the driver waits for all that is under way: 6.4 ms
//! where a GPU had so much to do. Threads of their own therefore do that.

use crate::allocations::{Allocations, Block};
use crate::driver::{Context, Relaxed, call};
use crate::frames::frame_of;
use crate::platform::attribute;
use cudarc::driver::sys;
use folio_core::hal::{
    AllocKind, AllocReq, Allocation, Calls, HalError, HostPtr, MemBase, MemRef, MemoryInfo,
    PointerInfo, RawMemory, UsmAllocator,
};
use folio_driver::{lock, memory};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// The driver's own alignment.
const ALIGNED: u64 = 256;

/// Bytes of an allocation for two pieces, and where the second begins, as aligned as the first.
fn together([first, second]: [u64; 2]) -> (u64, u64) {
    let first = first.next_multiple_of(ALIGNED);
    (first + second, first)
}

/// The address of memory.
pub(crate) fn address(mem: &MemRef) -> u64 {
    mem.offset
        + match mem.base {
            MemBase::Device { handle, .. } => handle,
            MemBase::Host(at) => at.0.expose_provenance() as u64,
        }
}

/// The pools of all runtimes of the process, each with the stream that orders it.
static POOLS: Mutex<Vec<Pool>> = Mutex::new(Vec::new());

#[derive(Clone, Copy, PartialEq)]
struct Pool {
    device: sys::CUdevice,
    raw: sys::CUmemoryPool,
    stream: sys::CUstream,
}

// SAFETY: the driver's objects may be used by any thread.
unsafe impl Send for Pool {}

/// Threads that give a device's memory back.
static FREEING: Mutex<Vec<(sys::CUdevice, JoinHandle<()>)>> = Mutex::new(Vec::new());

/// Waits until all of the device's have.
fn all_freed(device: sys::CUdevice) {
    let threads: Vec<_> = lock(&FREEING).extract_if(.., |(of, _)| *of == device).collect();
    // They do not panic.
    threads.into_iter().for_each(|(_, thread)| drop(thread.join()));
}

/// Has the device's pools give back what nobody uses.
fn trim(device: sys::CUdevice) {
    all_freed(device);
    let _relaxed = Relaxed::begin();
    for pool in lock(&POOLS).iter().filter(|pool| pool.device == device) {
        // SAFETY: a pool is among them while it lives. What cannot be given back stays.
        unsafe {
            let _ = sys::cuStreamSynchronize(pool.stream);
            let _ = sys::cuMemPoolTrimTo(pool.raw, 0);
        }
    }
}

/// Makes what needs memory, which there may be once the device's pools keep none. The context is
/// current.
pub(crate) fn with_room<T>(
    context: &Context,
    make: impl Fn() -> Result<T, HalError>,
) -> Result<T, HalError> {
    memory::with_room(make, || {
        trim(context.device);
        context.enter().map(|_calls| true)
    })
}

pub(crate) struct Memory {
    pub(crate) context: Arc<Context>,
    total: u64,
    /// The host may touch managed memory while kernels run.
    is_concurrent: bool,
    pool: sys::CUmemoryPool,
    /// Orders the pool's allocations; nothing else runs there.
    stream: sys::CUstream,
    pub(crate) live: Mutex<Allocations>,
    /// Bytes of a frame, if memory can come in frames.
    pub(crate) frame: Option<u64>,
    /// The devices that may use frames: this one first.
    pub(crate) users: Mutex<Vec<sys::CUdevice>>,
}

// SAFETY: the driver's objects may be used by any thread.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(context: Arc<Context>, total: u64) -> Result<Memory, HalError> {
        let _calls = context.enter()?;
        let concurrent = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
        let is_concurrent = attribute(context.device, concurrent) != 0;
        let (mut pool, mut stream, mut keep) = (null_mut(), null_mut(), u64::MAX);
        let props = sys::CUmemPoolProps {
            allocType: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: on_device(context.device),
            win32SecurityAttributes: null_mut(),
            maxSize: 0,
            usage: 0,
            gpuDirectRDMACapable: 0,
            reserved: [0; 53],
        };
        // SAFETY: the context is current, and the places for the answers are live.
        unsafe {
            context
                .check("cuMemPoolCreate", sys::cuMemPoolCreate(&raw mut pool, &raw const props))?;
            // From here on `drop` gives back what there is.
            let memory = |stream| Memory {
                context: context.clone(),
                total,
                is_concurrent,
                pool,
                stream,
                live: Mutex::default(),
                frame: frame_of(context.device),
                users: Mutex::new(vec![context.device]),
            };
            let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
            let kept = (&raw mut keep).cast::<c_void>();
            let set = sys::cuMemPoolSetAttribute(pool, threshold, kept);
            let made = sys::cuStreamCreateWithPriority(&raw mut stream, NON_BLOCKING, 0);
            let memory = memory(stream);
            context.check("cuMemPoolSetAttribute", set)?;
            context.check("cuStreamCreateWithPriority", made)?;
            lock(&POOLS).push(memory.of_process());
            Ok(memory)
        }
    }

    fn of_process(&self) -> Pool {
        Pool { device: self.context.device, raw: self.pool, stream: self.stream }
    }

    #[cfg(test)]
    pub(crate) fn pool(&self) -> sys::CUmemoryPool {
        self.pool
    }

    /// Lets another device use what is allocated here, before and after.
    pub(crate) fn share_with(&self, device: sys::CUdevice) -> Result<(), HalError> {
        let access = sys::CUmemAccessDesc {
            location: on_device(device),
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: one description, which is live.
        let result = unsafe { sys::cuMemPoolSetAccess(self.pool, &raw const access, 1) };
        self.context.check("cuMemPoolSetAccess", result)?;
        self.share_frames_with(device)
    }

    /// Two pieces for what a stream does, from here in its order on until [`Memory::free_in`]. The
    /// context is current.
    pub(crate) fn in_stream(
        &self,
        stream: sys::CUstream,
        [first, second]: [u64; 2],
    ) -> Result<[u64; 2], HalError> {
        let (bytes, second) = together([first, second]);
        let made = with_room(&self.context, || {
            let (mut at, size) = (0, bytes as usize);
            // SAFETY: pool and stream are live.
            let made = call("cuMemAllocFromPoolAsync", || unsafe {
                sys::cuMemAllocFromPoolAsync(&raw mut at, size, self.pool, stream)
            });
            self.context.check("cuMemAllocFromPoolAsync", made)?;
            Ok(at)
        });
        made.map(|at| [at, at + second]).map_err(|error| self.refused(bytes, error))
    }

    /// Two pieces for a graph's operation, until [`Memory::free_kept`]. The context is current.
    pub(crate) fn keep(&self, room: [u64; 2]) -> Result<[u64; 2], HalError> {
        let (bytes, second) = together(room);
        let made = with_room(&self.context, || self.device_memory(bytes as usize, false));
        made.map(|at| [at, at + second]).map_err(|error| self.refused(bytes, error))
    }

    /// Gives them back; nothing uses them any more.
    pub(crate) fn free_kept(&self, [first, _]: [u64; 2]) {
        self.free_in(self.stream, [first, 0]);
    }

    /// Gives the pieces back when the stream comes here.
    pub(crate) fn free_in(&self, stream: sys::CUstream, [first, _]: [u64; 2]) {
        // SAFETY: from `in_stream`. A failure means that the device is lost.
        let _ = unsafe { sys::cuMemFreeAsync(first, stream) };
    }

    pub(crate) fn out_of_memory(&self, asked: u64) -> HalError {
        HalError::out_of_memory(asked, lock(&self.live).in_use(), self.total)
    }

    /// With the sizes, which the driver does not tell.
    pub(crate) fn refused(&self, asked: u64, error: HalError) -> HalError {
        if memory::is_short(&error) { self.out_of_memory(asked) } else { error }
    }

    fn device_memory(&self, bytes: usize, zeroed: bool) -> Result<u64, HalError> {
        let (mut base, context) = (0, &*self.context);
        // SAFETY: pool and stream live as long as this; what the stream has done, everybody sees.
        unsafe {
            let made = call("cuMemAllocFromPoolAsync", || {
                sys::cuMemAllocFromPoolAsync(&raw mut base, bytes, self.pool, self.stream)
            });
            context.check("cuMemAllocFromPoolAsync", made)?;
            let cleared = match zeroed {
                true => {
                    let cleared = sys::cuMemsetD8Async(base, 0, bytes, self.stream);
                    context.check("cuMemsetD8Async", cleared)
                }
                false => Ok(()),
            };
            let ended =
                || context.check("cuStreamSynchronize", sys::cuStreamSynchronize(self.stream));
            if let Err(error) = cleared.and_then(|()| ended()) {
                let _ = sys::cuMemFreeAsync(base, self.stream);
                return Err(error);
            }
        }
        Ok(base)
    }

    fn host_memory(&self, bytes: usize) -> Result<u64, HalError> {
        let mut at = null_mut();
        // SAFETY: a place for the answer.
        let made = unsafe { sys::cuMemHostAlloc(&raw mut at, bytes, PORTABLE_AND_MAPPED) };
        self.context.check("cuMemHostAlloc", made)?;
        Ok(at.expose_provenance() as u64)
    }

    /// Managed memory never exceeds the device's: beyond, the driver would move pages for ever.
    fn managed_memory(&self, bytes: usize) -> Result<u64, HalError> {
        let used = lock(&self.live).on_device();
        if used.saturating_add(bytes as u64) > self.total {
            return Err(HalError::out_of_memory(bytes as u64, used, self.total));
        }
        let mut at = 0;
        // SAFETY: a place for the answer.
        let made = unsafe { sys::cuMemAllocManaged(&raw mut at, bytes, ATTACH_GLOBAL) };
        self.context.check("cuMemAllocManaged", made)?;
        Ok(at)
    }

    /// Gives memory back that nobody uses any more. The context is current.
    fn release(&self, entry: &Block) {
        let (base, stream) = (entry.base, self.stream);
        let pointer = move || std::ptr::with_exposed_provenance_mut::<c_void>(base as usize);
        // Ours, freed once, and used by nothing (the engine's part of the contract). An answer
        // other than success means that the device is lost, with its memory.
        match (entry.kind, entry.imported) {
            (AllocKind::Device, true) => {}
            (AllocKind::Device, false) if let Some(frames) = entry.frames.clone() => {
                self.aside(move || frames.release(base));
            }
            (AllocKind::Device, false) if let Some(external) = entry.external => {
                self.aside(move || {
                    // SAFETY: see above.
                    let _ = unsafe { sys::cuMemFree_v2(base) };
                    external.destroy();
                });
            }
            (AllocKind::Device, false) => {
                // SAFETY: see above.
                let _ = unsafe { sys::cuMemFreeAsync(base, stream) };
            }
            // Whoever brought it may free it when this returns.
            (AllocKind::Host, true) => {
                // SAFETY: see above.
                let _ = unsafe { sys::cuMemHostUnregister(pointer()) };
            }
            (AllocKind::Host, false) => self.aside(move || {
                // SAFETY: see above.
                let _ = unsafe { sys::cuMemFreeHost(pointer()) };
            }),
            (AllocKind::Shared, _) => self.aside(move || {
                // SAFETY: see above.
                let _ = unsafe { sys::cuMemFree_v2(base) };
            }),
        }
    }

    /// Does what the driver takes its time for, on a thread of its own.
    fn aside(&self, free: impl FnOnce() + Send + Clone + 'static) {
        let (context, here) = (self.context.clone(), free.clone());
        let work = move || {
            // Threads in calls wait for this one: it must not stay when the process ends.
            if let Some(_calls) = Calls::try_begin()
                && context.enter().is_ok()
            {
                let _relaxed = Relaxed::begin();
                free();
            }
        };
        match Builder::new().name("folio-cuda-free".to_owned()).spawn(work) {
            Ok(thread) => {
                let mut freeing = lock(&FREEING);
                freeing.retain(|(_, thread)| !thread.is_finished());
                freeing.push((self.context.device, thread));
            }
            Err(_) => here(),
        }
    }
}

/// `CU_STREAM_NON_BLOCKING`: not ordered with the default stream.
pub(crate) const NON_BLOCKING: u32 = 1;
/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`, and the same for registering.
pub(crate) const PORTABLE_AND_MAPPED: u32 = 1 | 2;
/// `CU_MEM_ATTACH_GLOBAL`.
const ATTACH_GLOBAL: u32 = 1;

pub(crate) fn location(type_: sys::CUmemLocationType, id: i32) -> sys::CUmemLocation {
    let id = sys::CUmemLocation_st__bindgen_ty_1 { id };
    sys::CUmemLocation { type_, __bindgen_anon_1: id }
}

pub(crate) fn on_device(device: sys::CUdevice) -> sys::CUmemLocation {
    location(sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, device)
}

// SAFETY: allocations are the driver's, so they are live and apart until they are freed.
unsafe impl UsmAllocator for Memory {
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let _calls = self.context.enter()?;
        let _relaxed = Relaxed::begin();
        match req.import {
            Some(RawMemory::Host(at)) => return self.import(req, at),
            Some(RawMemory::Address(at)) => return self.import_device(req, at),
            #[cfg(unix)]
            Some(RawMemory::File { file, bytes }) => return self.open_file(req, file, bytes),
            Some(_) => return Err(HalError::unsupported("memory of this kind")),
            None => {}
        }
        if req.kind == AllocKind::Shared && !self.is_concurrent {
            return Err(HalError::unsupported("memory that host and device use at the same time"));
        }
        let more = if req.align > ALIGNED { req.align } else { 0 };
        let padded = req.size.checked_add(more).and_then(|n| usize::try_from(n).ok());
        let Some(padded) = padded else { return Err(self.out_of_memory(req.size)) };
        let made = with_room(&self.context, || match req.kind {
            AllocKind::Device => self.device_memory(padded, req.zeroed),
            AllocKind::Host => self.host_memory(padded),
            AllocKind::Shared => self.managed_memory(padded),
        });
        let base = made.map_err(|error| self.refused(req.size, error))?;
        let address = base.next_multiple_of(req.align.max(1));
        let host = (req.kind != AllocKind::Device)
            .then(|| HostPtr(std::ptr::with_exposed_provenance_mut(address as usize)));
        if let (true, Some(HostPtr(at))) = (req.zeroed, host) {
            // SAFETY: the host reaches all of it, and nobody uses it yet.
            unsafe { at.write_bytes(0, req.size as usize) };
        }
        let entry = Block {
            kind: req.kind,
            size: req.size,
            base,
            imported: false,
            frames: None,
            external: None,
        };
        lock(&self.live).add(address, entry);
        let zeroed = req.zeroed;
        Ok(Allocation { handle: address, address: Some(address), host, zeroed })
    }

    fn free(&self, handle: u64) {
        let Some(entry) = lock(&self.live).remove(handle) else { return };
        // Of a lost device nothing can be given back.
        if let Ok(_calls) = self.context.enter() {
            let _relaxed = Relaxed::begin();
            self.release(&entry);
        }
    }

    fn reserve(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        self.reserve_frames(req)
    }

    fn map(&self, handle: u64, bytes: Range<u64>) -> Result<(), HalError> {
        self.map_frames(handle, &bytes)
    }

    fn unmap(&self, handle: u64, bytes: Range<u64>) {
        self.unmap_frames(handle, &bytes);
    }

    fn memory(&self) -> MemoryInfo {
        MemoryInfo { total: self.total, in_use: lock(&self.live).in_use() }
    }

    /// What the pool has beyond that, it gives back now, and after this whenever somebody waits for
    /// the device.
    fn trim(&self, most: u64) {
        let Ok(_calls) = self.context.enter() else { return };
        let _relaxed = Relaxed::begin();
        let mut keep = most;
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: pool and stream live as long as this, and the value is live. What cannot be given
        // back stays.
        unsafe {
            let kept = (&raw mut keep).cast::<c_void>();
            let _ = sys::cuMemPoolSetAttribute(self.pool, threshold, kept);
            let _ = sys::cuStreamSynchronize(self.stream);
            let _ = sys::cuMemPoolTrimTo(self.pool, usize::try_from(most).unwrap_or(usize::MAX));
        }
    }

    fn query(&self, address: u64) -> Option<PointerInfo> {
        lock(&self.live).around(address)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let gone = self.of_process();
        lock(&POOLS).retain(|pool| *pool != gone);
        let Ok(_calls) = self.context.enter() else { return };
        let _relaxed = Relaxed::begin();
        let live = std::mem::take(&mut *lock(&self.live));
        live.each().for_each(|entry| self.release(entry));
        all_freed(self.context.device);
        // SAFETY: no lane is left (each holds the device), so nothing uses pool and stream; a null
        // stream was never made. The frees come first.
        unsafe {
            if !self.stream.is_null() {
                let _ = sys::cuStreamSynchronize(self.stream);
                let _ = sys::cuStreamDestroy_v2(self.stream);
            }
            let _ = sys::cuMemPoolDestroy(self.pool);
        }
    }
}
