//! The least that a backend of Folio is: one device with memory of its own, which works on the
//! threads that ask for it. Copy this folder; `docs/guide/backends.md` says what to put where.

use folio_core::hal::*;
use folio_driver::host::{self, Rows};
use folio_driver::lock;
use folio_driver::retire::Retired;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::with_exposed_provenance_mut;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The backend. [`folio_core::RuntimeBuilder::backend`] takes it.
pub struct MinimalBackend;

const MEMORY: u64 = 1 << 30;

fn info() -> DeviceInfo {
    // Only what is true. Capabilities that are not named here are off.
    let mut caps = Caps::default();
    (caps.closures, caps.denormals, caps.exact_div_sqrt) = (true, true, true);
    // Kernels are the host's code, and have what that has.
    (caps.f64, caps.atomics64, caps.local_memory) = (true, true, u64::MAX);
    DeviceInfo {
        name: "the least".into(),
        vendor: "an example".into(),
        driver: env!("CARGO_PKG_VERSION").into(),
        kind: DeviceKind::Accelerator,
        uuid: None,
        home: MemoryHome::Own(0),
        memory: MEMORY,
        compute_units: 1,
        caps,
    }
}

// SAFETY: what it opens keeps the contract of `folio_core::hal`, as said below.
unsafe impl Backend for MinimalBackend {
    fn name(&self) -> &str {
        "minimal"
    }
    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        Ok(vec![info()])
    }
    unsafe fn open(&self, _: usize, _: Notify) -> Result<Arc<dyn Device>, HalError> {
        Ok(Arc::new(MinimalDevice { info: info(), live: Mutex::default() }))
    }
}

struct MinimalDevice {
    info: DeviceInfo,
    /// The allocations, by handle: their addresses, so that operations look nothing up.
    live: Mutex<HashMap<u64, Layout>>,
}

// SAFETY: see its memory and its lanes.
unsafe impl Device for MinimalDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn usm(&self) -> &dyn UsmAllocator {
        self
    }
    fn lane(&self, _: LaneKind, _: i8) -> Result<Arc<dyn Lane>, HalError> {
        Ok(Arc::new(MinimalLane::default()))
    }
}

// SAFETY: memory of the global allocator is live and apart from other memory until `free`.
unsafe impl UsmAllocator for MinimalDevice {
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        if req.import.is_some() || req.linked {
            return Err(HalError::unsupported("memory of others"));
        }
        let in_use = self.memory().in_use;
        let layout = Layout::from_size_align(req.size as usize, req.align as usize).ok();
        let layout = layout.filter(|of| (1..=MEMORY - in_use).contains(&(of.size() as u64)));
        // SAFETY: `filter` leaves no size of 0.
        let at = layout.map_or(std::ptr::null_mut(), |layout| unsafe { alloc_zeroed(layout) });
        let (Some(layout), false) = (layout, at.is_null()) else {
            return Err(HalError::out_of_memory(req.size, in_use, MEMORY));
        };
        let handle = at.expose_provenance() as u64;
        lock(&self.live).insert(handle, layout);
        // The host reaches memory of the other kinds, and a device's by copies only.
        let host = (req.kind != AllocKind::Device).then_some(HostPtr(at));
        Ok(Allocation { handle, address: None, host, zeroed: true })
    }
    fn free(&self, handle: u64) {
        if let Some(layout) = lock(&self.live).remove(&handle) {
            // SAFETY: from `alloc_zeroed` with this layout, and taken off the table just now.
            unsafe { dealloc(with_exposed_provenance_mut(handle as usize), layout) };
        }
    }
    fn memory(&self) -> MemoryInfo {
        let in_use = lock(&self.live).values().map(|layout| layout.size() as u64).sum();
        MemoryInfo { total: MEMORY, in_use }
    }
}

/// An operation, with all that it needs. The closure is dropped apart from its call, as both may
/// panic.
type Work = Box<dyn Fn() -> Result<(), HalError> + Send>;

#[derive(Default)]
struct MinimalLane {
    state: Mutex<LaneState>,
    /// The queue has grown, or a tick has ended.
    changed: Condvar,
    /// Which ticks have ended, and their failures.
    retired: Retired,
}

#[derive(Default)]
struct LaneState {
    queue: VecDeque<(Tick, Work)>,
    /// A thread runs what comes before the queue.
    busy: bool,
}

// SAFETY: operations end in the lane's order, and each tick is reached. See `run`.
unsafe impl Lane for MinimalLane {
    fn enqueue(&self, head: &Head<'_>, op: Op<'_>) -> Result<(), HalError> {
        let work: Work = match op {
            Op::Copy(rects) => {
                let rects = rects.to_vec();
                Box::new(move || rects.iter().try_for_each(copy))
            }
            Op::Fill(rects, pattern) => {
                let (rects, pattern) = (rects.to_vec(), pattern.to_vec());
                Box::new(move || rects.iter().try_for_each(|rect| fill(rect, &pattern)))
            }
            Op::Launch(KernelRef::Native(kernel), geometry, args) => {
                let (kernel, params) = (kernel.take(), args.params.to_vec());
                let block = Block::whole(geometry.range);
                Box::new(move || launch(kernel.as_ref(), &params, &block))
            }
            Op::Join => Box::new(|| Ok(())),
            other => return self.refuse(head, HalError::unsupported(other.name())),
        };
        lock(&self.state).queue.push_back((head.tick, work));
        self.changed.notify_all(); // A thread in `wait` may have to run it.
        Ok(())
    }
    fn drive(&self) {
        drop(self.run());
    }
    fn completed(&self) -> Result<Tick, Lost> {
        Ok(self.retired.done())
    }
    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        loop {
            let state = self.run();
            let left = until.map_or(Duration::MAX, |until| until.duration_since(Instant::now()));
            if self.retired.done() >= tick || left.is_zero() {
                return Ok(self.retired.done() >= tick);
            }
            drop(self.changed.wait_timeout(state, left)); // Another thread is at it.
        }
    }
    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        self.retired.failures(sink);
    }
}

impl MinimalLane {
    /// Runs what is queued, in order and without a lock, unless another thread does. Not called by
    /// `enqueue`: there the engine holds a lock, and what a kernel drops may submit to this lane.
    fn run(&self) -> MutexGuard<'_, LaneState> {
        let mut state = lock(&self.state);
        while !state.busy
            && let Some((tick, work)) = state.queue.pop_front()
        {
            state.busy = true;
            drop(state);
            let ran = catch_unwind(AssertUnwindSafe(&work)).unwrap_or_else(panicked);
            let gone = catch_unwind(AssertUnwindSafe(|| drop(work))).or_else(panicked);
            if let Err(error) = ran.and(gone) {
                self.retired.fail(tick, error);
            }
            state = lock(&self.state);
            self.retired.ended(tick);
            state.busy = false;
            self.changed.notify_all();
        }
        state
    }
}

fn panicked(payload: Box<dyn std::any::Any + Send>) -> Result<(), HalError> {
    Err(HalError::panic(payload))
}

fn copy(r: &CopyRect) -> Result<(), HalError> {
    let (from, to) = (rows(r.src, r.src_pitch), rows(r.dst, r.dst_pitch));
    // SAFETY: the engine gives rectangles in live memory that do not overlap.
    unsafe { host::copy(&from, &to, r.extent) };
    Ok(())
}

fn fill(r: &FillRect, pattern: &[u8]) -> Result<(), HalError> {
    // SAFETY: as for `copy`: the rows are live, and only this operation uses them.
    unsafe { host::fill(&rows(r.dst, r.pitch), r.extent, pattern) };
    Ok(())
}

fn launch(kernel: Option<&NativeKernel>, params: &[Param], block: &Block) -> Result<(), HalError> {
    let kernel = kernel.ok_or_else(|| HalError::unsupported("no kernel"))?;
    let params: Vec<_> = params.iter().map(|p| p.at(address(p.mem))).collect();
    // SAFETY: the engine gives live memory, and what uses it meanwhile does so as declared.
    unsafe { kernel.run(&params, block) }.map_err(HalError::violation)
}

fn rows(at: MemRef, pitch: [u64; 2]) -> Rows {
    Rows { at: HostPtr(address(at)), pitch }
}

fn address(at: MemRef) -> *mut u8 {
    let base = match at.base {
        MemBase::Host(HostPtr(base)) => base,
        MemBase::Device { handle, .. } => with_exposed_provenance_mut(handle as usize),
    };
    base.wrapping_add(at.offset as usize)
}
