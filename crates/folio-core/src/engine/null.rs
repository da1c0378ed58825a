//! Devices that do nothing, for tests of the engine alone: at once, or when the test says so.

use crate::hal::{
    AllocReq, Allocation, Backend, Caps, Device, DeviceInfo, DeviceKind, HalError, HalErrorKind,
    Head, KernelHandle, KernelRef, KernelSource, Lane, LaneKind, Lost, MemoryHome, MemoryInfo,
    Notify, Op, Order, Tick, Unavailable, UsmAllocator, Wait, WaitGroup,
};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The label of commands at which the backend panics.
pub(super) const PANICS: &str = "panics";

thread_local! {
    /// How often this thread has flushed lanes of such devices.
    pub(super) static FLUSHES: Cell<u64> = const { Cell::new(0) };
    /// How often this thread has asked such lanes how far they are.
    pub(super) static POLLS: Cell<u64> = const { Cell::new(0) };
    /// Ticks of which such lanes have heard on this thread that they are waited for.
    pub(super) static AWAITED: RefCell<Vec<Tick>> = const { RefCell::new(Vec::new()) };
    /// Kernels that this thread has unloaded from such devices.
    pub(super) static UNLOADED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// A backend of such devices, each with memory of its own.
#[derive(Clone)]
pub(crate) struct Null {
    /// How many.
    pub(super) devices: u32,
    /// They run the host's code, or else load kernels in IR.
    pub(super) closures: bool,
    /// Their lanes, in the order in which they were made, if operations end when the test says so.
    pub(super) held: Option<Arc<Mutex<Vec<Arc<LaneProgress>>>>>,
    /// See [`Caps::courier`].
    pub(super) courier: Option<u32>,
    /// See [`Caps::one_at_a_time`].
    pub(super) one_at_a_time: bool,
    /// The first device's [`Caps::batches`].
    pub(super) batches: bool,
}

impl Null {
    pub(crate) fn new(devices: u32) -> Null {
        let (courier, one_at_a_time, batches) = (None, false, false);
        Null { devices, closures: true, held: None, courier, one_at_a_time, batches }
    }

    fn info(&self, at: u32) -> DeviceInfo {
        let (closures, ir, courier) = (self.closures, !self.closures, self.courier);
        let (one_at_a_time, batches) = (self.one_at_a_time, self.batches);
        let wait_group = Some(WaitGroup(0));
        DeviceInfo {
            name: "null".into(),
            vendor: String::new(),
            driver: String::new(),
            kind: DeviceKind::Gpu,
            uuid: None,
            home: MemoryHome::Own(at),
            memory: 1 << 30,
            compute_units: 1,
            caps: Caps {
                closures,
                ir,
                courier,
                one_at_a_time,
                batches: batches && at == 0,
                wait_group,
                ..Caps::default()
            },
        }
    }

    /// The lanes that there are.
    pub(super) fn lanes(&self) -> Vec<Arc<LaneProgress>> {
        let lanes = self
            .held
            .iter()
            .flat_map(|lanes| lanes.lock().unwrap_or_else(PoisonError::into_inner).clone());
        lanes.collect()
    }
}

// SAFETY: there is no memory, and what is under way touches nothing.
unsafe impl Backend for Null {
    fn name(&self) -> &str {
        "null"
    }
    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        Ok((0..self.devices).map(|at| self.info(at)).collect())
    }
    unsafe fn open(&self, at: usize, _: Notify) -> Result<Arc<dyn Device>, HalError> {
        let (info, backend) = (self.info(at as u32), self.clone());
        Ok(Arc::new(NullDevice { info, backend, next: AtomicU64::new(1) }))
    }
}

struct NullDevice {
    info: DeviceInfo,
    backend: Null,
    /// A number for what is made next.
    next: AtomicU64,
}

// SAFETY: as above.
unsafe impl Device for NullDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn usm(&self) -> &dyn UsmAllocator {
        self
    }
    fn lane(&self, _: LaneKind, _: i8) -> Result<Arc<dyn Lane>, HalError> {
        let mut state = Arc::default();
        if let Some(lanes) = &self.backend.held {
            let mut lanes = lanes.lock().unwrap_or_else(PoisonError::into_inner);
            state = Arc::new(LaneProgress { number: lanes.len(), ..LaneProgress::default() });
            lanes.push(state.clone());
        }
        let (closures, held) = (self.info.caps.closures, self.backend.held.is_some());
        Ok(Arc::new(NullLane { state, closures, held }))
    }
    fn load(&self, _: &KernelSource<'_>) -> Result<KernelHandle, HalError> {
        Ok(KernelHandle(self.next.fetch_add(1, Ordering::Relaxed)))
    }
    fn unload(&self, KernelHandle(handle): KernelHandle) {
        UNLOADED.with_borrow_mut(|all| all.push(handle));
    }
}

// SAFETY: addresses are made up, and no code uses them.
unsafe impl UsmAllocator for NullDevice {
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let handle = self.next.fetch_add(req.size, Ordering::Relaxed) << 12;
        Ok(Allocation { handle, address: Some(handle), host: None, zeroed: true })
    }
    fn free(&self, _: u64) {}
    fn memory(&self) -> MemoryInfo {
        MemoryInfo { total: 1 << 30, in_use: 0 }
    }
}

/// How far a lane is.
#[derive(Default)]
pub(super) struct LaneProgress {
    pub(super) enqueued: AtomicU64,
    pub(super) ended: AtomicU64,
    /// What it has been given ends once it is flushed.
    pub(super) ends_flushed: AtomicBool,
    /// Operations that fail, if the lane is held.
    pub(super) failing: Mutex<Vec<Tick>>,
    /// What each operation waits for, by lane, its own one included, if the lane is held.
    pub(super) waits: Mutex<Vec<Vec<(usize, Tick)>>>,
    /// Its place among the lanes.
    number: usize,
}

/// The place of a lane among all that were made.
pub(super) fn number(lane: &dyn Lane) -> usize {
    let lane = lane.downcast_ref::<NullLane>();
    lane.map_or(usize::MAX, |lane| lane.state.number)
}

struct NullLane {
    state: Arc<LaneProgress>,
    closures: bool,
    held: bool,
}

impl NullLane {
    fn take(&self, head: &Head<'_>) -> Result<(), HalError> {
        if self.held {
            let wait = |wait: &Wait<'_>| (number(&**wait.lane), wait.tick);
            let mut waits: Vec<(usize, Tick)> = head.waits.iter().map(wait).collect();
            if head.order == Order::AfterPrevious {
                waits.push((self.state.number, head.tick - 1));
            }
            waits.sort_unstable();
            self.state.waits.lock().unwrap_or_else(PoisonError::into_inner).push(waits);
        } else {
            self.state.ended.store(head.tick, Ordering::Release);
        }
        self.state.enqueued.store(head.tick, Ordering::Release);
        assert_ne!(head.label, PANICS, "a fault of the backend");
        Ok(())
    }
}

// SAFETY: as above.
unsafe impl Lane for NullLane {
    fn enqueue(&self, head: &Head<'_>, op: Op<'_>) -> Result<(), HalError> {
        if let Op::Launch(kernel, _, args) = op {
            match kernel {
                KernelRef::Native(kernel) => assert!(kernel.take().is_some() && self.closures),
                KernelRef::Foreign(task) => assert!(task.call(&()).is_ok()),
                KernelRef::Loaded(_) => {
                    assert_eq!((args.blob, self.closures), (&[7; 8][..], false));
                }
            }
        }
        self.take(head)
    }
    fn awaited(&self, tick: Tick) {
        AWAITED.with_borrow_mut(|all| all.push(tick));
    }
    fn flush(&self) {
        FLUSHES.set(FLUSHES.get() + 1);
        if self.state.ends_flushed.load(Ordering::Acquire) {
            self.state.ended.store(self.state.enqueued.load(Ordering::Acquire), Ordering::Release);
        }
    }
    fn completed(&self) -> Result<Tick, Lost> {
        POLLS.set(POLLS.get() + 1);
        Ok(self.state.ended.load(Ordering::Acquire))
    }
    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        loop {
            if self.state.ended.load(Ordering::Acquire) >= tick {
                return Ok(true);
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(false);
            }
            std::thread::yield_now();
        }
    }
    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        if self.held {
            let ended = self.state.ended.load(Ordering::Acquire);
            let mut failing = self.state.failing.lock().unwrap_or_else(PoisonError::into_inner);
            failing.sort_unstable();
            let later = failing.partition_point(|tick| *tick <= ended);
            failing.drain(..later).for_each(|tick| {
                sink(tick, HalError::new(HalErrorKind::Driver, "on purpose"));
            });
        }
    }
}
