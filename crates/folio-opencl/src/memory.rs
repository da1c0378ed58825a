//! Allocations: buffers, over shared virtual memory where the device has that. Freed memory of the
//! latter is kept for the next who asks ([`Pool`]).

use crate::cl::{Buffer, Context, Queue, call, memory_goes, memory_gone, run};
use crate::device::Core;
use crate::platform::{Shared, Svm};
use crate::pool::Pool;
use folio_core::hal::{
    AllocKind, AllocReq, Allocation, HalError, HalErrorKind, HostPtr, MemBase, MemoryInfo, Param,
    PointerInfo, RawMemory,
};
use folio_driver::lock;
use folio_driver::memory::{self, Handles, is_short};
use opencl_sys::{
    CL_MEM_READ_WRITE, CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_MEM_USE_HOST_PTR, CL_TRUE, cl_context,
    cl_device_id, cl_mem, cl_mem_flags,
};
use std::alloc::Layout;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// An allocation.
#[derive(Debug)]
pub(crate) struct Block {
    /// Goes first: it is over what comes below.
    pub(crate) buffer: Buffer,
    svm: Option<SvmBlock>,
    device: u32,
    kind: AllocKind,
    pub(crate) size: u64,
    /// Of it, what the device's memory is charged with: nothing if it is somebody else's.
    charged: u64,
    /// In shared virtual memory.
    pub(crate) address: Option<u64>,
    /// Where linked memory is mapped for the host.
    pub(crate) mapped: Option<Mapped>,
    /// Of linked memory that nobody else has. The pages go after the buffer.
    _pages: Option<Pages>,
}

/// Where linked memory is for the host.
#[derive(Debug)]
pub(crate) struct Mapped {
    pub(crate) at: HostPtr,
    /// The memory is mapped there, as far as the driver was told.
    pub(crate) now: AtomicBool,
}

/// The memory that a pointer argument of a kernel leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pointer {
    Buffer(cl_mem),
    /// In shared virtual memory.
    Address(u64),
}

// SAFETY: names and numbers.
unsafe impl Send for Pointer {}

impl Pointer {
    /// To nothing.
    pub(crate) const NULL: Pointer = Pointer::Buffer(null_mut());
}

/// Memory of the host.
#[derive(Debug)]
struct Pages {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: an address; whoever uses the memory answers for that.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    fn new(size: u64, align: u64) -> Option<Pages> {
        let layout = Layout::from_size_align(usize::try_from(size).ok()?, align as usize).ok()?;
        // SAFETY: the size is not 0.
        let start = unsafe { std::alloc::alloc_zeroed(layout) };
        (!start.is_null()).then_some(Pages { start, layout })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated like this; the engine frees what no operation uses any more.
        unsafe { std::alloc::dealloc(self.start, self.layout) };
    }
}

/// Shared virtual memory.
#[derive(Debug)]
pub(crate) struct SvmBlock {
    pub(crate) start: *mut c_void,
    pub(crate) bytes: u64,
    context: cl_context,
}

// SAFETY: an address and a name; whoever uses the memory answers for that.
unsafe impl Send for SvmBlock {}
// SAFETY: as above.
unsafe impl Sync for SvmBlock {}

/// NVIDIA's driver (580) loses its count of shared virtual memory when two threads ask for some at
/// once: allocations fail, and commands of other queues go wrong from then on.
static ONE_ALLOCATES: Mutex<()> = Mutex::new(());

impl SvmBlock {
    pub(crate) fn new(
        context: &Context,
        kind: cl_mem_flags,
        bytes: u64,
    ) -> Result<SvmBlock, HalError> {
        let none = || HalError::out_of_memory(bytes, 0, 0);
        let size = usize::try_from(bytes).map_err(|_| none())?;
        let _one = lock(&ONE_ALLOCATES);
        // SAFETY: a live context.
        let start = unsafe { call!(clSVMAlloc(context.0, kind, size, 0)) }?;
        if start.is_null() {
            Err(none())
        } else {
            Ok(SvmBlock { start, bytes, context: context.0 })
        }
    }
}

impl Drop for SvmBlock {
    fn drop(&mut self) {
        memory_goes();
        let _one = lock(&ONE_ALLOCATES);
        // SAFETY: allocated in this context, which outlives the memory (`Shared`); the engine frees
        // what no operation uses any more, and a lane its own behind a mark.
        let _ = unsafe { call!(clSVMFree(self.context, self.start)) };
    }
}

/// Whether a buffer over shared virtual memory is that memory. OpenCL means it so; on NVIDIA's
/// driver (580) it is a copy, where a context has several devices.
pub(crate) fn is_memory_of_buffers(context: &Context, device: cl_device_id) -> bool {
    const ROOM: usize = 64;
    let look = || -> Result<bool, HalError> {
        let queue = Queue::new(context, device, false)?;
        let region = SvmBlock::new(context, CL_MEM_READ_WRITE, ROOM as u64)?;
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        // SAFETY: so many bytes, which live longer than the buffer.
        let buffer = unsafe { Buffer::over(context, flags, ROOM, region.start) }?;
        let shows = |value: u8| -> Result<bool, HalError> {
            let (mut seen, none) = ([0u8; ROOM], null());
            let (pattern, to) = ((&raw const value).cast::<c_void>(), seen.as_mut_ptr().cast());
            // SAFETY: all of a live buffer, and of the memory; the pattern is copied in the call,
            // and the second command has ended when it returns.
            unsafe {
                run!(clEnqueueFillBuffer(
                    queue.0,
                    buffer.0,
                    pattern,
                    1,
                    0,
                    ROOM,
                    0,
                    none,
                    null_mut()
                ))?;
                queue.marker()?.wait()?;
                run!(clEnqueueSVMMemcpy(
                    queue.0,
                    CL_TRUE,
                    to,
                    region.start,
                    ROOM,
                    0,
                    none,
                    null_mut()
                ))?;
            }
            Ok(seen == [value; ROOM])
        };
        let shown = shows(0x5a).and_then(|shown| Ok(shown && shows(0xa5)?));
        if shown.is_err() && queue.finish().is_err() {
            // The memory may still be written.
            std::mem::forget(region);
        }
        shown
    };
    look().unwrap_or(false)
}

/// The allocations of a platform's devices, and whether they stay when they go.
#[derive(Debug)]
pub(crate) struct Memory(Mutex<MemoryState>, AtomicBool);

impl Drop for Memory {
    fn drop(&mut self) {
        if *self.1.get_mut() {
            std::mem::forget(std::mem::take(&mut *self.lock()));
        }
    }
}

#[derive(Debug, Default)]
struct MemoryState {
    last: u64,
    blocks: Handles<u64, Arc<Block>>,
    /// By device, whose memory is for that device alone.
    pools: HashMap<u32, Pool<SvmBlock>>,
}

impl MemoryState {
    fn find(&self, handle: u64) -> Result<&Arc<Block>, HalError> {
        let unknown = || format!("there is no allocation {handle}");
        let found = self.blocks.get(&handle);
        found.ok_or_else(|| HalError::new(HalErrorKind::Driver, unknown()))
    }

    /// The pointer to an allocation: its address, if that is asked for and it has one. The pointer
    /// lives as long as the launch that uses it: the engine frees what no operation uses.
    fn pointer(&self, handle: u64, address: bool) -> Result<Pointer, HalError> {
        #[cfg(test)]
        LOOKED_UP.set(LOOKED_UP.get() + 1);
        let block = self.find(handle)?;
        let address = block.address.filter(|_| address).map(Pointer::Address);
        Ok(address.unwrap_or(Pointer::Buffer(block.buffer.0)))
    }
}

#[cfg(test)]
thread_local! {
    /// How often this thread has looked up what leads to an allocation.
    pub(crate) static LOOKED_UP: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many allocations a lane remembers.
const KNOWN: u64 = 64;

/// The pointers of a lane's launches, by the last digits of handles, so that they need not be
/// looked up each time.
#[derive(Debug)]
pub(crate) struct PointerCache {
    of: [Option<(u64, Pointer)>; KNOWN as usize],
    /// How much memory was [gone](memory_gone) then.
    gone: u64,
}

impl Default for PointerCache {
    fn default() -> PointerCache {
        PointerCache { of: [None; KNOWN as usize], gone: 0 }
    }
}

impl PointerCache {
    /// The memory of parameters, none where nothing is accessed; by addresses or by names, as all
    /// of a lane's launches.
    pub(crate) fn pointers(
        &mut self,
        memory: &Memory,
        params: &[Param],
        addresses: bool,
        mut each: impl FnMut(Pointer),
    ) -> Result<(), HalError> {
        let now = memory_gone();
        if std::mem::replace(&mut self.gone, now) != now {
            self.of.fill(None);
        }
        let mut state = None;
        for param in params {
            each(match param.mem.base {
                MemBase::Device { handle, .. } => match &mut self.of[(handle % KNOWN) as usize] {
                    Some((known, to)) if *known == handle => *to,
                    place => {
                        let state = state.get_or_insert_with(|| memory.lock());
                        place.insert((handle, state.pointer(handle, addresses)?)).1
                    }
                },
                MemBase::Host(HostPtr(at)) if at.is_null() => Pointer::NULL,
                _ => return Err(HalError::unsupported("a parameter in the host's memory")),
            });
        }
        Ok(())
    }
}

impl Memory {
    pub(crate) fn new() -> Memory {
        Memory(Mutex::default(), AtomicBool::new(false))
    }

    /// Somebody has left while commands were under way: what there is stays for as long as the
    /// process.
    pub(crate) fn stays(&self) {
        self.1.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        lock(&self.0)
    }

    /// The allocation of a handle.
    pub(crate) fn find(&self, handle: u64) -> Result<Arc<Block>, HalError> {
        self.lock().find(handle).cloned()
    }

    /// Does something with what is known of a device's memory.
    fn pool<T>(&self, core: &Core, run: impl FnOnce(&mut Pool<SvmBlock>) -> T) -> T {
        run(self.lock().pools.entry(core.index).or_default())
    }

    pub(crate) fn info(&self, core: &Core) -> MemoryInfo {
        let in_use = self.pool(core, |pool| pool.in_use());
        MemoryInfo { total: core.info.memory, in_use }
    }

    pub(crate) fn alloc(&self, core: &Core, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let block = match req.import {
            _ if req.linked => self.linked(core, req)?,
            Some(memory) => over(core, req, memory)?,
            None => self.fresh(core, req)?,
        };
        let host = block.svm.as_ref().filter(|_| req.kind != AllocKind::Device);
        let mapped = block.mapped.as_ref().map(|mapped| mapped.at);
        let (address, host) = (block.address, host.and(block.address));
        let mut state = self.lock();
        state.last += 1;
        let handle = state.last;
        state.blocks.insert(handle, Arc::new(block));
        let host = host.map(|at| HostPtr(std::ptr::with_exposed_provenance_mut(at as usize)));
        let host = host.or(mapped);
        Ok(Allocation { handle, address, host, zeroed: req.zeroed })
    }

    fn fresh(&self, core: &Core, req: &AllocReq<'_>) -> Result<Block, HalError> {
        if req.kind != AllocKind::Device && core.svm != Svm::Fine {
            return Err(HalError::unsupported("memory that host and device reach"));
        }
        // Drivers align to what a type of OpenCL needs, at most; for more there must be room, or
        // luck where there cannot be. Where memory has no addresses nobody sees how it is aligned.
        let (room, most) = (req.size.saturating_add(req.align), core.info.caps.max_alloc);
        if req.size > most || room > core.info.memory {
            return Err(self.too_much(core, req));
        }
        let room = room.min(most);
        let plain = req.kind == AllocKind::Device;
        let fine = if plain { 0 } else { CL_MEM_SVM_FINE_GRAIN_BUFFER };
        let (has_svm, limit) = (core.svm != Svm::None, core.info.memory);
        let kept = || self.pool(core, |pool| pool.take_kept(room, limit));
        let mut kept = if has_svm && plain { kept() } else { None };
        let charged = match &kept {
            Some(region) => region.bytes,
            None => {
                let bytes = if has_svm { room } else { req.size };
                self.take(core, req, bytes)?;
                bytes
            }
        };
        let region = || SvmBlock::new(&core.shared.context, CL_MEM_READ_WRITE | fine, charged);
        let block = |svm| Block::new(core, req, svm, charged);
        let fresh = || has_svm.then(region).transpose().and_then(block);
        let made = with_room(|| match kept.take() {
            Some(region) => block(Some(region)),
            None => fresh(),
        });
        made.map_err(|error| {
            self.pool(core, |pool| pool.give(charged));
            if is_short(&error) { self.too_much(core, req) } else { error }
        })
    }

    /// A buffer over the host's memory, or over shared virtual memory that the host reaches:
    /// mapped, it is there, and nowhere else (OpenCL's `CL_MEM_USE_HOST_PTR`).
    fn linked(&self, core: &Core, req: &AllocReq<'_>) -> Result<Block, HalError> {
        let unlinked = || HalError::unsupported("to link this memory");
        let align = core.info.caps.links.ok_or_else(unlinked)?;
        if req.size > core.info.caps.max_alloc {
            return Err(self.too_much(core, req));
        }
        if req.import.is_none() && core.svm == Svm::Fine {
            // Host and device find it at one address.
            let shared = AllocReq { kind: AllocKind::Shared, linked: false, ..*req };
            let block = self.fresh(core, &shared)?;
            let mapped = block.address.map(|address| {
                let at = std::ptr::with_exposed_provenance_mut(address as usize);
                Mapped { at: HostPtr(at), now: AtomicBool::new(false) }
            });
            return Ok(Block { mapped, ..block });
        }
        let (at, pages) = match req.import {
            Some(RawMemory::Host(at)) if (at.0.addr() as u64).is_multiple_of(align) => (at, None),
            Some(_) => return Err(unlinked()),
            None => {
                self.take(core, req, req.size)?;
                match Pages::new(req.size, req.align.max(align)) {
                    Some(pages) => (HostPtr(pages.start), Some(pages)),
                    None => {
                        self.pool(core, |pool| pool.give(req.size));
                        return Err(self.too_much(core, req));
                    }
                }
            }
        };
        let charged = if pages.is_some() { req.size } else { 0 };
        let (context, flags) = (&core.shared.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR);
        // SAFETY: so many bytes, which live as long as the block does, or as who has them promises.
        let made = with_room(|| unsafe {
            Buffer::over(context, flags, req.size as usize, at.0.cast::<c_void>())
        });
        let buffer = made.map_err(|error| {
            self.pool(core, |pool| pool.give(charged));
            if is_short(&error) { self.too_much(core, req) } else { error }
        })?;
        let (device, kind, size) = (core.index, req.kind, req.size);
        let mapped = Some(Mapped { at, now: AtomicBool::new(false) });
        let (svm, address, _pages) = (None, None, pages);
        Ok(Block { buffer, svm, device, kind, size, charged, address, mapped, _pages })
    }

    fn too_much(&self, core: &Core, req: &AllocReq<'_>) -> HalError {
        let MemoryInfo { total, in_use } = self.info(core);
        let (room, most) = (req.size.saturating_add(req.align), core.info.caps.max_alloc);
        let limit = if room > most { total.min(most) } else { total };
        HalError::out_of_memory(req.size, in_use, limit)
    }

    /// Drivers allocate late, and say that there is too little only when it is used.
    fn take(&self, core: &Core, req: &AllocReq<'_>, bytes: u64) -> Result<(), HalError> {
        let taken = self.pool(core, |pool| pool.take(bytes, core.info.memory));
        // Nothing is locked while the driver frees.
        drop(self.pool(core, Pool::beyond));
        if taken { Ok(()) } else { Err(self.too_much(core, req)) }
    }

    /// Holds no more than this from now on, as far as what is in use allows.
    pub(crate) fn trim(&self, core: &Core, most: u64) {
        let gone = self.pool(core, |pool| {
            pool.trim(most);
            pool.beyond()
        });
        drop(gone);
    }

    fn all_kept(&self) -> Vec<SvmBlock> {
        self.lock().pools.values_mut().flat_map(Pool::all).collect()
    }

    pub(crate) fn free(&self, core: &Core, handle: u64) {
        let Some(block) = self.lock().blocks.remove(&handle) else { return };
        block.unmap(core);
        let charged = block.charged;
        // The driver frees memory that a command still has.
        let region = Arc::into_inner(block).and_then(Block::into_svm);
        let gone = self.pool(core, |pool| {
            pool.give(charged);
            region.into_iter().for_each(|region| pool.keep(region.bytes, region));
            pool.beyond()
        });
        drop(gone);
    }

    pub(crate) fn query(&self, core: &Core, address: u64) -> Option<PointerInfo> {
        let state = self.lock();
        state.blocks.iter().find_map(|(handle, block)| {
            let offset = address.checked_sub(block.address?)?;
            let Block { kind, size, device, .. } = **block;
            let inside = offset < size && device == core.index;
            inside.then_some(PointerInfo { kind, handle: *handle, offset, size })
        })
    }
}

/// All runtimes' memory of OpenCL's devices.
static ALL: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Memory that is kept here may be given back for others.
pub(crate) fn add(memory: &Arc<Shared>) {
    let mut all = lock(&ALL);
    all.retain(|shared| shared.strong_count() > 0);
    all.push(Arc::downgrade(memory));
}

/// Gives the drivers what is kept of freed memory, and says whether that was any.
fn give_back() -> bool {
    let all = lock(&ALL).clone();
    let all: Vec<_> = all.iter().filter_map(Weak::upgrade).collect();
    let kept: Vec<_> = all.iter().flat_map(|shared| shared.memory.all_kept()).collect();
    !kept.is_empty()
}

/// Makes an object of the driver, for which there may be room once no runtime keeps any memory.
pub(crate) fn with_room<T>(make: impl FnMut() -> Result<T, HalError>) -> Result<T, HalError> {
    memory::with_room(make, || Ok(give_back()))
}

/// A block over memory that somebody else has allocated in the context.
fn over(core: &Core, req: &AllocReq<'_>, memory: RawMemory) -> Result<Block, HalError> {
    let context = &core.shared.context;
    let beyond = |_| HalError::unsupported("memory of this size");
    let size = usize::try_from(req.size).map_err(beyond)?;
    let (buffer, address) = match memory {
        _ if req.kind != AllocKind::Device => {
            return Err(HalError::unsupported("host and shared memory of somebody else"));
        }
        RawMemory::Address(address) if core.svm != Svm::None => {
            let at = std::ptr::with_exposed_provenance_mut(address as usize);
            let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
            // SAFETY: so many bytes of the context's shared virtual memory, which whoever had this
            // asked for keeps for as long as it is used.
            (unsafe { Buffer::over(context, flags, size, at) }?, Some(address))
        }
        RawMemory::Object(object) => (Buffer::shared(context, object, size)?, None),
        RawMemory::Address(_) => {
            let what = "an address of somebody else's where memory has none";
            return Err(HalError::unsupported(what));
        }
        _ => return Err(HalError::unsupported("memory of this kind, of somebody else")),
    };
    let (svm, device, kind, size, charged) = (None, core.index, req.kind, req.size, 0);
    Ok(Block { buffer, svm, device, kind, size, charged, address, mapped: None, _pages: None })
}

impl Block {
    /// Unmaps what is still mapped: PoCL keeps some memory for a mapping whose buffer is released.
    fn unmap(&self, core: &Core) {
        let Some(mapped) = self.mapped.as_ref().filter(|m| m.now.load(Ordering::Relaxed)) else {
            return;
        };
        let Ok(queue) = Queue::new(&core.shared.context, core.id.0, false) else { return };
        let (buffer, at, none) = (self.buffer.0, mapped.at.0.cast::<c_void>(), null_mut());
        // SAFETY: a live buffer that is mapped there, and that nothing uses any more (`free`).
        let unmapped =
            unsafe { run!(clEnqueueUnmapMemObject(queue.0, buffer, at, 0, null(), none)) };
        if unmapped.is_ok() {
            let _ = queue.finish();
        }
    }

    fn new(
        core: &Core,
        req: &AllocReq<'_>,
        svm: Option<SvmBlock>,
        charged: u64,
    ) -> Result<Block, HalError> {
        let (mut flags, mut at) = (CL_MEM_READ_WRITE, null_mut());
        if let Some(region) = &svm {
            let ahead = region.start.expose_provenance().wrapping_neg() & (req.align as usize - 1);
            // No luck.
            if (ahead as u64).saturating_add(req.size) > region.bytes {
                return Err(HalError::out_of_memory(req.size, 0, 0));
            }
            at = region.start.wrapping_byte_add(ahead);
            flags |= CL_MEM_USE_HOST_PTR;
        }
        let beyond = |_| HalError::out_of_memory(req.size, 0, 0);
        let bytes = usize::try_from(req.size).map_err(beyond)?;
        // SAFETY: without an address, nothing of anybody's; else so many bytes that live as long as
        // the block.
        let buffer = unsafe { Buffer::over(&core.shared.context, flags, bytes, at) }?;
        let address = svm.as_ref().map(|_| at.expose_provenance() as u64);
        let (device, kind, size) = (core.index, req.kind, req.size);
        let (mapped, _pages) = (None, None);
        let block = Block { buffer, svm, device, kind, size, charged, address, mapped, _pages };
        if req.zeroed { block.cleared(core) } else { Ok(block) }
    }

    /// Memory that can be allocated again.
    fn into_svm(self) -> Option<SvmBlock> {
        let Block { buffer, svm, kind, .. } = self;
        drop(buffer);
        svm.filter(|_| kind == AllocKind::Device)
    }

    /// Made all zeros, which is waited for.
    fn cleared(self, core: &Core) -> Result<Block, HalError> {
        let queue = Queue::new(&core.shared.context, core.id.0, false)?;
        let (zero, size) = (0u8, self.size as usize);
        let pattern = (&raw const zero).cast::<c_void>();
        // SAFETY: all of a live buffer; the pattern is copied in the call.
        unsafe {
            let (none, event) = (null(), null_mut());
            run!(clEnqueueFillBuffer(queue.0, self.buffer.0, pattern, 1, 0, size, 0, none, event))?;
        }
        let ended = queue.marker().and_then(|event| event.wait());
        if ended.is_err() && queue.finish().is_err() {
            // The memory may still be written.
            std::mem::forget(self);
            ended?;
            return Err(HalError::new(HalErrorKind::Driver, "memory that may still be written"));
        }
        ended.map(|()| self)
    }

    /// A block that no handle leads to.
    pub(crate) fn of(buffer: Buffer, size: u64) -> Block {
        let (svm, address, charged, mapped) = (None, None, 0, None);
        let (device, kind) = (u32::MAX, AllocKind::Device);
        Block { buffer, svm, device, kind, size, charged, address, mapped, _pages: None }
    }
}
