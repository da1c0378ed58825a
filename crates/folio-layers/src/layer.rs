//! The wrapper that all layers share: passes each call of the HAL through a [`Hooks`].
//!
//! Objects of the wrapped backend are named by dense numbers, lanes and devices alike, so that
//! hooks keep their state in plain maps. Lanes that an operation waits for are unwrapped here.

use crate::graph::{GraphRef, LayerGraph, NodeRef};
use folio_core::hal::{
    AllocReq, Allocation, Argument, Backend, Device, DeviceInfo, Exported, Geometry, Graph,
    HalError, Head, KernelHandle, KernelSource, Lane, LaneKind, Link, Lost, MemoryInfo, Node,
    Notify, Op, PointerInfo, Tick, Timing, Unavailable, UsmAllocator, Wait,
};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// A device below a layer.
pub struct DeviceRef {
    /// Its index in [`Backend::devices`].
    pub index: u32,
    /// The device itself.
    pub inner: Arc<dyn Device>,
}

/// A lane below a layer.
pub struct LaneRef {
    /// Counted from 0 over all lanes of the layer.
    pub id: u32,
    /// Its device.
    pub device: Arc<DeviceRef>,
    /// The kind for which it was made.
    pub kind: LaneKind,
    /// The lane itself.
    pub inner: Arc<dyn Lane>,
}

/// An operation's head below a layer.
pub struct HeadRef<'a> {
    /// With waits that name lanes of the wrapped backend.
    pub inner: Head<'a>,
    /// The waits by the layer's numbers; `None`: not a lane of this layer.
    pub waits: &'a [(Option<u32>, Tick)],
    /// Of a replay, what the graph's nodes do; none if the graph is not this layer's.
    pub nodes: &'a [NodeRef],
}

/// The hooks of a layer, one for each call. The defaults pass the call on.
///
/// # Safety
/// The hooks' own use of the shared objects keeps the contract of the HAL.
#[allow(unused_variables, reason = "defaults name their parameters for the documentation")]
pub unsafe trait Hooks: Send + Sync + Sized + 'static {
    /// [`Backend::devices`].
    fn devices(&self, inner: &dyn Backend) -> Result<Vec<DeviceInfo>, Unavailable> {
        inner.devices()
    }

    /// The properties that the engine is told of a device.
    fn info(&self, info: DeviceInfo) -> DeviceInfo {
        info
    }

    /// [`Backend::open`].
    ///
    /// # Safety
    /// As there.
    unsafe fn open(
        &self,
        inner: &dyn Backend,
        index: usize,
        notify: Notify,
    ) -> Result<Arc<dyn Device>, HalError> {
        // SAFETY: the caller's promise.
        unsafe { inner.open(index, notify) }
    }

    /// [`Device::lane`]; the new lane gets number `id`.
    fn lane(
        &self,
        device: &DeviceRef,
        id: u32,
        kind: LaneKind,
        priority: i8,
    ) -> Result<Arc<dyn Lane>, HalError> {
        device.inner.lane(kind, priority)
    }

    /// [`Device::peer`].
    fn peer(&self, device: &DeviceRef, other: &DeviceRef) -> Option<Link> {
        device.inner.peer(&*other.inner)
    }

    /// [`Device::load`].
    fn load(
        &self,
        device: &DeviceRef,
        source: &KernelSource<'_>,
    ) -> Result<KernelHandle, HalError> {
        device.inner.load(source)
    }

    /// [`Device::unload`].
    fn unload(&self, device: &DeviceRef, handle: KernelHandle) {
        device.inner.unload(handle);
    }

    /// [`Device::graph`].
    fn graph(&self, device: &DeviceRef, nodes: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        device.inner.graph(nodes)
    }

    /// [`Graph::update`].
    fn update(&self, graph: &GraphRef, node: usize, op: Op<'_>) -> Result<(), HalError> {
        graph.inner.update(node, op)
    }

    /// [`UsmAllocator::alloc`].
    fn alloc(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        device.inner.usm().alloc(req)
    }

    /// [`UsmAllocator::reserve`].
    fn reserve(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        device.inner.usm().reserve(req)
    }

    /// [`UsmAllocator::map`].
    fn map(&self, device: &DeviceRef, handle: u64, bytes: Range<u64>) -> Result<(), HalError> {
        device.inner.usm().map(handle, bytes)
    }

    /// [`UsmAllocator::unmap`].
    fn unmap(&self, device: &DeviceRef, handle: u64, bytes: Range<u64>) {
        device.inner.usm().unmap(handle, bytes);
    }

    /// [`UsmAllocator::free`].
    fn free(&self, device: &DeviceRef, handle: u64) {
        device.inner.usm().free(handle);
    }

    /// [`Lane::enqueue`], with an operation of the wrapped backend.
    fn operation(&self, lane: &LaneRef, head: &HeadRef<'_>, op: Op<'_>) -> Result<(), HalError> {
        lane.inner.enqueue(&head.inner, op)
    }

    /// [`Lane::awaited`].
    fn awaited(&self, lane: &LaneRef, tick: Tick) {
        lane.inner.awaited(tick);
    }

    /// [`Lane::flush`].
    fn flush(&self, lane: &LaneRef) {
        lane.inner.flush();
    }

    /// [`Lane::drive`].
    fn drive(&self, lane: &LaneRef) {
        lane.inner.drive();
    }

    /// [`Lane::completed`].
    fn completed(&self, lane: &LaneRef) -> Result<Tick, Lost> {
        lane.inner.completed()
    }

    /// [`Lane::wait`].
    fn wait(&self, lane: &LaneRef, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        lane.inner.wait(tick, until)
    }

    /// [`Lane::failures`].
    fn failures(&self, lane: &LaneRef, sink: &mut dyn FnMut(Tick, HalError)) {
        lane.inner.failures(sink);
    }

    /// [`Lane::timing`].
    fn timing(&self, lane: &LaneRef, tick: Tick) -> Option<Timing> {
        lane.inner.timing(tick)
    }
}

/// A backend with hooks around each call.
pub struct Layer<H> {
    hooks: Arc<H>,
    inner: Arc<dyn Backend>,
    lanes: Arc<AtomicU32>,
}

impl<H: Hooks> Layer<H> {
    /// `hooks` around `inner`.
    pub fn new(hooks: H, inner: Arc<dyn Backend>) -> Layer<H> {
        Layer { hooks: Arc::new(hooks), inner, lanes: Arc::default() }
    }
}

// SAFETY: passes every call on; what hooks change, they answer for (they are part of this crate's
// layers, or a test's own).
unsafe impl<H: Hooks> Backend for Layer<H> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        let infos = self.hooks.devices(&*self.inner)?;
        Ok(infos.into_iter().map(|info| self.hooks.info(info)).collect())
    }

    unsafe fn open(&self, index: usize, notify: Notify) -> Result<Arc<dyn Device>, HalError> {
        // SAFETY: the caller's promise, passed on; and that of the hooks.
        let inner = unsafe { self.hooks.open(&*self.inner, index, notify) }?;
        Ok(Arc::new(LayerDevice {
            info: self.hooks.info(inner.info().clone()),
            hooks: self.hooks.clone(),
            device: Arc::new(DeviceRef { index: index as u32, inner }),
            lanes: self.lanes.clone(),
        }))
    }
}

struct LayerDevice<H> {
    info: DeviceInfo,
    hooks: Arc<H>,
    device: Arc<DeviceRef>,
    lanes: Arc<AtomicU32>,
}

// SAFETY: as for `Layer`.
unsafe impl<H: Hooks> Device for LayerDevice<H> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn usm(&self) -> &dyn UsmAllocator {
        self
    }

    fn lane(&self, kind: LaneKind, priority: i8) -> Result<Arc<dyn Lane>, HalError> {
        let id = self.lanes.fetch_add(1, Ordering::Relaxed);
        let inner = self.hooks.lane(&self.device, id, kind, priority)?;
        let lane = LaneRef { id, device: self.device.clone(), kind, inner };
        Ok(Arc::new(LayerLane { hooks: self.hooks.clone(), lane }))
    }

    fn load(&self, source: &KernelSource<'_>) -> Result<KernelHandle, HalError> {
        self.hooks.load(&self.device, source)
    }

    fn prepare(&self, handle: KernelHandle) -> Result<(), HalError> {
        self.device.inner.prepare(handle)
    }

    fn unload(&self, handle: KernelHandle) {
        self.hooks.unload(&self.device, handle);
    }

    fn check(
        &self,
        handle: KernelHandle,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), HalError> {
        self.device.inner.check(handle, geometry, arguments)
    }

    fn graph(&self, nodes: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        let graph = LayerGraph::new(self.hooks.clone(), self.device.clone(), nodes)?;
        Ok(Arc::new(graph))
    }

    fn peer(&self, other: &dyn Device) -> Option<Link> {
        let other = other.downcast_ref::<LayerDevice<H>>()?;
        self.hooks.peer(&self.device, &other.device)
    }
}

// SAFETY: as for `Layer`.
unsafe impl<H: Hooks> UsmAllocator for LayerDevice<H> {
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        self.hooks.alloc(&self.device, req)
    }

    fn free(&self, handle: u64) {
        self.hooks.free(&self.device, handle);
    }

    fn reserve(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        self.hooks.reserve(&self.device, req)
    }

    fn map(&self, handle: u64, bytes: Range<u64>) -> Result<(), HalError> {
        self.hooks.map(&self.device, handle, bytes)
    }

    fn unmap(&self, handle: u64, bytes: Range<u64>) {
        self.hooks.unmap(&self.device, handle, bytes);
    }

    fn memory(&self) -> MemoryInfo {
        self.device.inner.usm().memory()
    }

    fn trim(&self, most: u64) {
        self.device.inner.usm().trim(most);
    }

    fn object(&self, handle: u64) -> Option<*mut c_void> {
        self.device.inner.usm().object(handle)
    }

    fn export(&self, handle: u64) -> Result<Exported, HalError> {
        self.device.inner.usm().export(handle)
    }

    fn query(&self, address: u64) -> Option<PointerInfo> {
        self.device.inner.usm().query(address)
    }
}

struct LayerLane<H> {
    hooks: Arc<H>,
    lane: LaneRef,
}

// SAFETY: as for `Layer`.
unsafe impl<H: Hooks> Lane for LayerLane<H> {
    fn enqueue(&self, head: &Head<'_>, op: Op<'_>) -> Result<(), HalError> {
        let mut numbers = Vec::with_capacity(head.waits.len());
        let mut waits = Vec::with_capacity(head.waits.len());
        for &Wait { lane, tick } in head.waits {
            let own = lane.downcast_ref::<LayerLane<H>>().map(|l| &l.lane);
            numbers.push((own.map(|l| l.id), tick));
            waits.push(Wait { lane: own.map_or(lane, |l| &l.inner), tick });
        }
        let replayed = if let Op::Replay(graph) = op { Some(graph) } else { None };
        let ours = replayed.and_then(|graph| graph.downcast_ref::<LayerGraph<H>>());
        let nodes = ours.map(LayerGraph::nodes);
        let nodes = nodes.as_deref().map_or(&[][..], Vec::as_slice);
        let head = HeadRef { inner: Head { waits: &waits, ..*head }, waits: &numbers, nodes };
        let op = ours.map_or(op, |ours| Op::Replay(&ours.graph.inner));
        self.hooks.operation(&self.lane, &head, op)
    }

    fn awaited(&self, tick: Tick) {
        self.hooks.awaited(&self.lane, tick);
    }

    fn flush(&self) {
        self.hooks.flush(&self.lane);
    }

    fn drive(&self) {
        self.hooks.drive(&self.lane);
    }

    fn completed(&self) -> Result<Tick, Lost> {
        self.hooks.completed(&self.lane)
    }

    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        self.hooks.wait(&self.lane, tick, until)
    }

    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        self.hooks.failures(&self.lane, sink);
    }

    fn timing(&self, tick: Tick) -> Option<Timing> {
        self.hooks.timing(&self.lane, tick)
    }
}
