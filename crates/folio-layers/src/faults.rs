//! Fault injection: the n-th call of a kind fails, at once or later, or takes its device with it.
//!
//! A handle counts the calls of each kind, so that a sweep first runs a program without faults and
//! then once for each call that it made. An injected failure reaches the engine in the way in which
//! a driver's would: the tick is consumed and reached, memory is not touched. For that the layer
//! issues a copy of nothing in the operation's place.

use crate::graph::GraphRef;
use crate::layer::{DeviceRef, HeadRef, Hooks, LaneRef, Layer};
use folio_core::hal::{
    AllocReq, Allocation, Backend, Device, DeviceInfo, Graph, HalError, HalErrorKind, KernelHandle,
    KernelSource, Lane, LaneKind, Lost, Node, Notify, Op, OpKind, Tick, Unavailable,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// A kind of call that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// [`Backend::devices`]; any fault makes it [`Unavailable`].
    Devices,
    /// [`Backend::open`].
    Open,
    /// [`Device::lane`].
    Lane,
    /// [`folio_core::hal::UsmAllocator::alloc`].
    Alloc,
    /// [`folio_core::hal::UsmAllocator::map`].
    Map,
    /// [`Device::load`].
    Load,
    /// [`Lane::enqueue`].
    Op(OpKind),
    /// [`Device::graph`].
    Graph,
    /// [`folio_core::hal::Graph::update`].
    Update,
    /// [`Lane::flush`].
    Flush,
    /// [`Lane::completed`].
    Completed,
    /// [`Lane::wait`].
    Wait,
    /// [`folio_core::hal::UsmAllocator::free`].
    Free,
}

impl Site {
    /// Whether a failure can show after the call.
    pub fn is_operation(self) -> bool {
        matches!(self, Site::Op(_))
    }

    /// Whether the contract knows no other failure here than the loss of the device. Any fault
    /// loses it.
    pub fn only_loses(self) -> bool {
        matches!(self, Site::Flush | Site::Completed | Site::Wait | Site::Free)
    }
}

/// The kinds of faults.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The call returns this.
    Now(HalErrorKind),
    /// The operation fails like this when it runs. Sites that are no operations fail at once.
    Later(HalErrorKind),
    /// The device is lost.
    Lose,
}

/// A planned fault.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Where.
    pub site: Site,
    /// At which call, counted from 1.
    pub nth: u64,
    /// The fault.
    pub fault: Fault,
}

/// A fault that happened.
#[derive(Clone, Debug)]
pub struct Fired {
    /// The plan of the fault.
    pub planned: Planned,
    /// The place in its backend of the device that it happened to; none for [`Site::Devices`].
    pub device: Option<u32>,
    /// The name of the operation, or of what the memory was for; empty where there is none.
    pub label: String,
}

struct LaneState {
    device: u32,
    inner: Weak<dyn Lane>,
    issued: Tick,
    /// The last tick that the engine has seen; injected failures up to here may be told.
    seen: Tick,
    failures: BTreeMap<Tick, HalError>,
}

#[derive(Default)]
struct State {
    planned: Vec<Planned>,
    counts: BTreeMap<Site, u64>,
    fired: Vec<Fired>,
    lanes: HashMap<u32, LaneState>,
    /// Takes no more operations.
    going: BTreeMap<u32, Lost>,
    /// Is gone: nothing touches memory any more, and that may be told.
    lost: BTreeMap<u32, Lost>,
    /// A lane has told so.
    told: bool,
}

impl State {
    /// The lanes of a device that are still there, and what each was given.
    fn lanes_of(&self, device: u32) -> Vec<(Arc<dyn Lane>, Tick)> {
        let lanes = self.lanes.values().filter(|lane| lane.device == device);
        lanes.filter_map(|lane| Some((lane.inner.upgrade()?, lane.issued))).collect()
    }
}

/// A layer that makes calls fail.
#[derive(Default)]
pub struct Faults(FaultHandle);

/// Plans faults, and counts calls.
#[derive(Clone, Default)]
pub struct FaultHandle(Arc<Mutex<State>>);

impl FaultHandle {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The `nth` call of `site` from the beginning, counted from 1, fails with `fault`.
    pub fn inject(&self, site: Site, nth: u64, fault: Fault) {
        self.lock().planned.push(Planned { site, nth, fault });
    }

    /// Calls so far, by kind.
    pub fn counts(&self) -> BTreeMap<Site, u64> {
        self.lock().counts.clone()
    }

    /// The faults that happened.
    pub fn fired(&self) -> Vec<Fired> {
        self.lock().fired.clone()
    }

    /// Whether [`Lane::completed`] or [`Lane::wait`] has told of a loss.
    pub fn told_of_loss(&self) -> bool {
        self.lock().told
    }

    /// Takes `device` away, after what it was given has ended: nothing touches memory afterwards.
    pub fn lose(&self, device: u32) {
        self.begin_to_lose(device);
        let lanes = self.lock().lanes_of(device);
        for (lane, issued) in lanes {
            // Lost below as well: then nothing touches memory either.
            let _ = lane.wait(issued, None);
        }
        let mut state = self.lock();
        let lost = state.going.get(&device).cloned();
        state.lost.extend(lost.map(|lost| (device, lost)));
    }

    /// `device` takes no more operations, and is lost when those that it was given have ended. They
    /// are not waited for: the engine may hold locks that their kernels want.
    fn begin_to_lose(&self, device: u32) {
        let lost = || Lost::new(format!("injected loss of device {device}"));
        self.lock().going.entry(device).or_insert_with(lost);
    }

    /// Counts a call that fails only by the loss of its device.
    fn count_loss(&self, site: Site, device: u32) {
        if self.count(site, Some(device), "").is_some() {
            self.begin_to_lose(device);
        }
    }

    /// Tells whether `device` is lost by now. Waits for nothing.
    fn lost(&self, device: u32) -> Result<(), Lost> {
        let (lost, lanes) = {
            let mut state = self.lock();
            if let Some(lost) = state.lost.get(&device).cloned() {
                state.told = true;
                return Err(lost);
            }
            let Some(lost) = state.going.get(&device) else { return Ok(()) };
            (lost.clone(), state.lanes_of(device))
        };
        let ended = |(lane, issued): &(Arc<dyn Lane>, Tick)| {
            lane.completed().map_or(true, |tick| tick >= *issued)
        };
        if !lanes.iter().all(ended) {
            return Ok(());
        }
        let mut state = self.lock();
        state.lost.insert(device, lost.clone());
        state.told = true;
        Err(lost)
    }

    /// Notes that an operation is issued now, unless its device is lost.
    fn begin(&self, lane: &LaneRef, tick: Tick) -> Result<(), HalError> {
        let mut state = self.lock();
        if let Some(lost) = state.going.get(&lane.device.index) {
            return Err(lost.clone().into());
        }
        if let Some(state) = state.lanes.get_mut(&lane.id) {
            state.issued = tick;
        }
        Ok(())
    }

    /// Counts a call; what is planned for it.
    fn count(&self, site: Site, device: Option<u32>, label: &str) -> Option<Fault> {
        let mut state = self.lock();
        let count = state.counts.entry(site).or_default();
        *count += 1;
        let nth = *count;
        let at = state.planned.iter().position(|p| p.site == site && p.nth == nth)?;
        let planned = state.planned.remove(at);
        let fault = planned.fault.clone();
        state.fired.push(Fired { planned, device, label: label.to_owned() });
        Some(fault)
    }

    /// Counts a call that is no operation; the error to return in its place.
    fn count_call(&self, site: Site, device: u32, label: &str) -> Result<(), HalError> {
        match self.count(site, Some(device), label) {
            Some(Fault::Now(kind) | Fault::Later(kind)) => return Err(injected(kind)),
            Some(Fault::Lose) => self.begin_to_lose(device),
            None => {}
        }
        self.check(device)
    }

    fn check(&self, device: u32) -> Result<(), HalError> {
        self.lock().going.get(&device).cloned().map_or(Ok(()), |lost| Err(lost.into()))
    }
}

fn injected(kind: HalErrorKind) -> HalError {
    HalError::new(kind, "injected fault")
}

/// An operation that does nothing, in place of one that fails.
fn blank(lane: &LaneRef, head: &HeadRef<'_>) -> Result<(), HalError> {
    lane.inner.enqueue(&head.inner, Op::Join)
}

impl Faults {
    /// None planned.
    pub fn new() -> Faults {
        Faults::default()
    }

    /// To plan and count.
    pub fn handle(&self) -> FaultHandle {
        self.0.clone()
    }

    /// Around this backend.
    pub fn over(self, inner: impl Backend) -> Layer<Faults> {
        Layer::new(self, Arc::new(inner))
    }

    fn plan_failure(&self, lane: &LaneRef, tick: Tick, error: Option<HalError>) {
        if let Some(state) = self.0.lock().lanes.get_mut(&lane.id) {
            match error {
                Some(error) => state.failures.insert(tick, error),
                None => state.failures.remove(&tick),
            };
        }
    }

    /// Notes what the engine is about to see.
    fn saw(&self, lane: &LaneRef, tick: Tick) {
        if let Some(state) = self.0.lock().lanes.get_mut(&lane.id) {
            state.seen = state.seen.max(tick);
        }
    }
}

// SAFETY: passes calls on, or issues operations without effect in their place.
unsafe impl Hooks for Faults {
    fn devices(&self, inner: &dyn Backend) -> Result<Vec<DeviceInfo>, Unavailable> {
        match self.0.count(Site::Devices, None, "") {
            Some(_) => Err(Unavailable::new("injected fault")),
            None => inner.devices(),
        }
    }

    unsafe fn open(
        &self,
        inner: &dyn Backend,
        index: usize,
        notify: Notify,
    ) -> Result<Arc<dyn Device>, HalError> {
        self.0.count_call(Site::Open, index as u32, "")?;
        // SAFETY: the caller's promise.
        unsafe { inner.open(index, notify) }
    }

    fn lane(
        &self,
        device: &DeviceRef,
        id: u32,
        kind: LaneKind,
        priority: i8,
    ) -> Result<Arc<dyn Lane>, HalError> {
        self.0.count_call(Site::Lane, device.index, "")?;
        let lane = device.inner.lane(kind, priority)?;
        let (inner, failures) = (Arc::downgrade(&lane), BTreeMap::new());
        let state = LaneState { device: device.index, inner, issued: 0, seen: 0, failures };
        self.0.lock().lanes.insert(id, state);
        Ok(lane)
    }

    fn alloc(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        self.0.count_call(Site::Alloc, device.index, req.label)?;
        device.inner.usm().alloc(req)
    }

    fn reserve(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        self.0.count_call(Site::Alloc, device.index, req.label)?;
        device.inner.usm().reserve(req)
    }

    fn map(&self, device: &DeviceRef, handle: u64, bytes: Range<u64>) -> Result<(), HalError> {
        self.0.count_call(Site::Map, device.index, "")?;
        device.inner.usm().map(handle, bytes)
    }

    fn load(
        &self,
        device: &DeviceRef,
        source: &KernelSource<'_>,
    ) -> Result<KernelHandle, HalError> {
        self.0.count_call(Site::Load, device.index, "")?;
        device.inner.load(source)
    }

    fn graph(&self, device: &DeviceRef, nodes: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        self.0.count_call(Site::Graph, device.index, "")?;
        device.inner.graph(nodes)
    }

    fn update(&self, graph: &GraphRef, node: usize, op: Op<'_>) -> Result<(), HalError> {
        self.0.count_call(Site::Update, graph.device.index, "")?;
        graph.inner.update(node, op)
    }

    fn operation(&self, lane: &LaneRef, head: &HeadRef<'_>, op: Op<'_>) -> Result<(), HalError> {
        let fault = self.0.count(Site::Op(op.kind()), Some(lane.device.index), head.inner.label);
        if matches!(fault, Some(Fault::Lose)) {
            self.0.begin_to_lose(lane.device.index);
        }
        if let Err(lost) = self.0.begin(lane, head.inner.tick) {
            // Lanes of devices that live may wait for this tick.
            let _ = blank(lane, head);
            return Err(lost);
        }
        // Before it can end: who sees that it has ended must find its failure.
        let tick = head.inner.tick;
        if let Some(Fault::Later(kind)) = &fault {
            self.plan_failure(lane, tick, Some(injected(kind.clone())));
        }
        let out =
            if fault.is_some() { blank(lane, head) } else { lane.inner.enqueue(&head.inner, op) };
        match fault {
            Some(Fault::Now(kind)) => Err(injected(kind)),
            Some(Fault::Later(_)) => out.inspect_err(|_| self.plan_failure(lane, tick, None)),
            _ => out,
        }
    }

    fn free(&self, device: &DeviceRef, handle: u64) {
        self.0.count_loss(Site::Free, device.index);
        device.inner.usm().free(handle);
    }

    fn flush(&self, lane: &LaneRef) {
        self.0.count_loss(Site::Flush, lane.device.index);
        lane.inner.flush();
    }

    fn completed(&self, lane: &LaneRef) -> Result<Tick, Lost> {
        self.0.count_loss(Site::Completed, lane.device.index);
        self.0.lost(lane.device.index)?;
        let tick = lane.inner.completed()?;
        self.saw(lane, tick);
        Ok(tick)
    }

    fn wait(&self, lane: &LaneRef, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        let device = lane.device.index;
        self.0.count_loss(Site::Wait, device);
        self.0.lost(device)?;
        let reached = lane.inner.wait(tick, until)?;
        self.0.lost(device)?;
        if reached {
            self.saw(lane, tick);
        }
        Ok(reached)
    }

    fn failures(&self, lane: &LaneRef, sink: &mut dyn FnMut(Tick, HalError)) {
        let mut all = BTreeMap::new();
        if let Some(state) = self.0.lock().lanes.get_mut(&lane.id) {
            let later = state.failures.split_off(&(state.seen + 1));
            all = std::mem::replace(&mut state.failures, later);
        }
        lane.inner.failures(&mut |tick, error| {
            all.insert(tick, error);
        });
        all.into_iter().for_each(|(tick, error)| sink(tick, error));
    }
}
