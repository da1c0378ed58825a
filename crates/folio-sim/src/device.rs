//! A simulated device: what it claims to be, and its allocator.

use crate::graph::SimGraph;
use crate::ir::IrRunner;
use crate::lane::SimLane;
use crate::shared::Core;
use crate::timeline::{LaneState, gone};
use folio_core::hal::{
    AllocReq, Allocation, Argument, Caps, Device, DeviceInfo, DeviceKind, Geometry, Graph,
    HalError, KernelHandle, KernelSource, Lane, LaneKind, Link, MemoryHome, MemoryInfo, Node,
    PointerInfo, UsmAllocator, WaitGroup,
};
use folio_core::ir::device::MOST_GROUP_BYTES;
use std::ops::Range;
use std::sync::Arc;

/// A simulated device's description. The default: 1 GiB of its own memory, all lane kinds, native
/// waits among all devices, closures, timestamps, hints, linked memory, addresses, no batching.
#[derive(Clone, Debug)]
pub struct DeviceSpec {
    home: Option<MemoryHome>,
    uuid: Option<[u8; 16]>,
    unified: bool,
    wait_group: Option<WaitGroup>,
    compute_lanes: u16,
    copy_lanes: bool,
    closures: bool,
    ir: Option<Arc<dyn IrRunner>>,
    timing: bool,
    hints: bool,
    links: bool,
    host_link: Link,
    max_in_flight: u32,
    courier: Option<u32>,
    one_at_a_time: bool,
    pub(crate) memory: u64,
    pub(crate) max_alloc: u64,
    pub(crate) addresses: bool,
    pub(crate) frame: Option<u64>,
    pub(crate) batch: u64,
    pub(crate) lose_at: Option<u64>,
    /// Kinds of lanes on which nothing ends.
    pub(crate) held: Vec<LaneKind>,
}

impl DeviceSpec {
    /// The default.
    pub fn new() -> DeviceSpec {
        DeviceSpec {
            home: None,
            uuid: None,
            unified: false,
            wait_group: Some(WaitGroup(0)),
            compute_lanes: 4,
            copy_lanes: true,
            closures: true,
            ir: None,
            timing: true,
            hints: true,
            links: true,
            host_link: Link::default(),
            max_in_flight: 4096,
            courier: None,
            one_at_a_time: false,
            memory: 1 << 30,
            max_alloc: u64::MAX,
            addresses: true,
            frame: None,
            batch: 1,
            lose_at: None,
            held: Vec::new(),
        }
    }

    /// Where its memory is. Without this each device has its own.
    pub fn home(mut self, home: MemoryHome) -> DeviceSpec {
        self.home = Some(home);
        self
    }

    /// The physical device that it says it is.
    pub fn uuid(mut self, uuid: [u8; 16]) -> DeviceSpec {
        self.uuid = Some(uuid);
        self
    }

    /// Host and device share one physical memory: every allocation has a host address.
    pub fn unified(mut self, on: bool) -> DeviceSpec {
        self.unified = on;
        self
    }

    /// Whose lanes its lanes can wait for; `None`: not even for one another.
    pub fn wait_group(mut self, group: Option<u32>) -> DeviceSpec {
        self.wait_group = group.map(WaitGroup);
        self
    }

    /// Lanes for kernels.
    pub fn compute_lanes(mut self, lanes: u16) -> DeviceSpec {
        self.compute_lanes = lanes;
        self
    }

    /// Has lanes for copies beside the compute lane.
    pub fn copy_lanes(mut self, on: bool) -> DeviceSpec {
        self.copy_lanes = on;
        self
    }

    /// Runs host closures.
    pub fn closures(mut self, on: bool) -> DeviceSpec {
        self.closures = on;
        self
    }

    /// Loads kernels in IR, which `runner` runs.
    pub fn ir(mut self, runner: Arc<dyn IrRunner>) -> DeviceSpec {
        self.ir = Some(runner);
        self
    }

    /// Keeps timestamps, in logical time.
    pub fn timing(mut self, on: bool) -> DeviceSpec {
        self.timing = on;
        self
    }

    /// Has memory that is linked with the host's.
    pub fn links(mut self, on: bool) -> DeviceSpec {
        self.links = on;
        self
    }

    /// Takes hints.
    pub fn hints(mut self, on: bool) -> DeviceSpec {
        self.hints = on;
        self
    }

    /// Its memory has addresses. Without them pointers cannot be taken or found.
    pub fn addresses(mut self, on: bool) -> DeviceSpec {
        self.addresses = on;
        self
    }

    /// Has memory in frames of so many bytes, where its memory is not the host's.
    pub fn frame(mut self, bytes: u64) -> DeviceSpec {
        self.frame = Some(bytes.max(1));
        self
    }

    /// The claimed costs of copies to and from the host.
    pub fn host_link(mut self, link: Link) -> DeviceSpec {
        self.host_link = link;
        self
    }

    /// Bytes of memory.
    pub fn memory(mut self, bytes: u64) -> DeviceSpec {
        self.memory = bytes;
        self
    }

    /// Bytes of the largest allocation.
    pub fn max_alloc(mut self, bytes: u64) -> DeviceSpec {
        self.max_alloc = bytes;
        self
    }

    /// Holds operations back until `n` of a lane wait, or somebody flushes or waits.
    pub fn batch(mut self, n: u64) -> DeviceSpec {
        self.batch = n.max(1);
        self
    }

    /// Most unfinished operations per lane that it asks the engine for.
    pub fn max_in_flight(mut self, n: u32) -> DeviceSpec {
        self.max_in_flight = n;
        self
    }

    /// Has a courier ([`Caps::courier`]) after so many operations. Then time may be moved by that
    /// thread, too, and is no longer deterministic.
    pub fn courier(mut self, after: Option<u32>) -> DeviceSpec {
        self.courier = after;
        self
    }

    /// Whoever waits leaves its lanes to the courier ([`Caps::one_at_a_time`]).
    pub fn one_at_a_time(mut self, yes: bool) -> DeviceSpec {
        self.one_at_a_time = yes;
        self
    }

    /// Is lost in place of ending its `n`-th operation, counted from 1.
    pub fn lose_at(mut self, n: u64) -> DeviceSpec {
        self.lose_at = Some(n);
        self
    }

    pub(crate) fn host_visible(&self) -> bool {
        self.unified || self.home == Some(MemoryHome::Host)
    }

    pub(crate) fn has_links(&self) -> bool {
        self.links
    }

    pub(crate) fn home_of(&self, index: usize) -> MemoryHome {
        self.home.unwrap_or(MemoryHome::Own(index as u32))
    }

    pub(crate) fn info(&self, backend: &str, index: usize, notifies: bool) -> DeviceInfo {
        let mut caps = Caps::default();
        caps.wait_group = self.wait_group;
        caps.unified = self.host_visible();
        caps.closures = self.closures;
        caps.ir = self.ir.is_some();
        caps.subgroup = self.ir.as_ref().map_or(1, |runner| runner.subgroup());
        (caps.f64, caps.atomics64) = (true, true);
        if self.closures || caps.subgroup > 1 {
            caps.local_memory = MOST_GROUP_BYTES;
        }
        caps.conditions = true;
        caps.notifies = notifies;
        caps.compute_lanes = self.compute_lanes;
        caps.copy_lanes = self.copy_lanes;
        caps.timing = self.timing;
        caps.hints = self.hints;
        // The host's, or an interpreter's.
        (caps.denormals, caps.exact_div_sqrt) = (true, true);
        caps.links = self.links.then_some(crate::memory::LINKED_ALIGN);
        caps.frame = self.frame.filter(|_| !self.host_visible());
        caps.max_alloc = self.max_alloc;
        caps.courier = self.courier;
        caps.one_at_a_time = self.one_at_a_time;
        caps.batches = self.batch > 1;
        caps.max_in_flight = self.max_in_flight;
        caps.host_link = self.host_link;
        DeviceInfo {
            name: format!("simulated device {backend}:{index}"),
            vendor: "Folio".into(),
            driver: concat!("folio-sim ", env!("CARGO_PKG_VERSION")).into(),
            kind: DeviceKind::Simulated,
            uuid: self.uuid,
            home: self.home_of(index),
            memory: self.memory,
            compute_units: 1,
            caps,
        }
    }
}

impl Default for DeviceSpec {
    fn default() -> DeviceSpec {
        DeviceSpec::new()
    }
}

/// An opened device.
pub(crate) struct SimDevice {
    pub(crate) core: Arc<Core>,
    pub(crate) index: u32,
    pub(crate) info: DeviceInfo,
    /// How its lanes reach each device of the backend.
    pub(crate) links: Vec<Option<Link>>,
}

// SAFETY: lanes and allocator keep the HAL contract; see `SimLane` and the allocator below.
unsafe impl Device for SimDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn usm(&self) -> &dyn UsmAllocator {
        self
    }

    fn lane(&self, kind: LaneKind, _priority: i8) -> Result<Arc<dyn Lane>, HalError> {
        let id = self.core.shared.change(|world| {
            let device = &world.devices[self.index as usize];
            if let Some(lost) = &device.lost {
                return Err(gone(lost));
            }
            let held = device.spec.held.contains(&kind);
            world.lanes.push(LaneState::new(self.index, kind, held));
            Ok(world.lanes.len() - 1)
        })?;
        let caps = &self.info.caps;
        let (group, closures) = (caps.wait_group, caps.closures);
        Ok(Arc::new(SimLane { core: self.core.clone(), device: self.index, id, group, closures }))
    }

    fn load(&self, source: &KernelSource<'_>) -> Result<KernelHandle, HalError> {
        let runner = self.core.shared.change(|world| {
            let device = &world.devices[self.index as usize];
            match &device.lost {
                Some(lost) => Err(gone(lost)),
                None => Ok(device.spec.ir.clone()),
            }
        })?;
        let (Some(runner), KernelSource::Ir(kernel)) = (runner, source) else {
            return Err(HalError::unsupported("such a kernel"));
        };
        let kernel = runner.load(kernel)?;
        Ok(self.core.shared.change(|world| world.load(self.index, kernel)))
    }

    fn unload(&self, handle: KernelHandle) {
        self.core.shared.change(|world| world.unload(self.index, handle));
    }

    fn check(
        &self,
        handle: KernelHandle,
        geometry: &Geometry,
        _: &[Argument],
    ) -> Result<(), HalError> {
        let loaded = self.core.shared.change(|world| world.loaded(self.index, handle))?;
        loaded.check(geometry)
    }

    fn graph(&self, nodes: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        let (core, index) = (self.core.clone(), self.index);
        let find = move |handle| core.shared.change(|world| world.loaded(index, handle));
        Ok(Arc::new(SimGraph::new(nodes, self.info.caps.closures, Box::new(find))?))
    }

    fn peer(&self, other: &dyn Device) -> Option<Link> {
        let other = other.downcast_ref::<SimDevice>()?;
        if !Arc::ptr_eq(&self.core, &other.core) {
            return None;
        }
        let link = self.links[other.index as usize]?;
        self.core.shared.change(|world| world.peers.insert((self.index, other.index)));
        Some(link)
    }
}

// SAFETY: blocks come from the host's allocator, so they do not overlap, and stay valid until
// `free` (and longer: see `memory`).
unsafe impl UsmAllocator for SimDevice {
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        self.core.shared.change(|world| {
            if let Some(lost) = &world.devices[self.index as usize].lost {
                return Err(gone(lost));
            }
            if req.size == 0 || !req.align.is_power_of_two() {
                return Err(world.violate("requests are well formed", format!("{req:?}")));
            }
            let mut out = world.memory.alloc(self.index, req)?;
            if !world.devices[self.index as usize].spec.addresses {
                out.address = None;
            }
            world.counters.allocs += 1;
            Ok(out)
        })
    }

    fn free(&self, handle: u64) {
        self.core.shared.change(|world| {
            let lost = world.devices[self.index as usize].lost.is_some();
            let user = world.user_of(self.index, handle).filter(|_| !lost);
            if let Some((lane, tick)) = user {
                let what = format!("allocation {handle} is used by tick {tick} of lane {lane}");
                world.violate("memory is freed after its users have ended", what);
            }
            match world.memory.free(self.index, handle) {
                Ok(()) => world.counters.frees += 1,
                Err(what) => drop(world.violate("memory is used inside its bounds", what)),
            }
            for what in world.memory.sweep(None) {
                world.violate("freed memory is not touched", what);
            }
        });
    }

    fn reserve(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        self.core.shared.change(|world| {
            if let Some(lost) = &world.devices[self.index as usize].lost {
                return Err(gone(lost));
            }
            let mut out = world.memory.reserve(self.index, req)?;
            if !world.devices[self.index as usize].spec.addresses {
                out.address = None;
            }
            world.counters.allocs += 1;
            Ok(out)
        })
    }

    fn map(&self, handle: u64, bytes: Range<u64>) -> Result<(), HalError> {
        self.core.shared.change(|world| {
            if let Some(lost) = &world.devices[self.index as usize].lost {
                return Err(gone(lost));
            }
            let done = world.memory.back((self.index, handle), &bytes, true)?;
            done.map_err(|what| world.violate("frames get memory once", what))
        })
    }

    fn unmap(&self, handle: u64, bytes: Range<u64>) {
        self.core.shared.change(|world| {
            let lost = world.devices[self.index as usize].lost.is_some();
            let user = world.user_of_bytes(self.index, handle, &bytes).filter(|_| !lost);
            if let Some((lane, tick)) = user {
                let what = format!(
                    "{bytes:?} of allocation {handle} is used by tick {tick} of lane {lane}"
                );
                world.violate("memory is freed after its users have ended", what);
            }
            if let Ok(Err(what)) = world.memory.back((self.index, handle), &bytes, false) {
                world.violate("frames get memory once", what);
            }
        });
    }

    fn memory(&self) -> MemoryInfo {
        self.core.shared.lock().memory.info(self.index)
    }

    /// Nothing is kept.
    fn trim(&self, _: u64) {
        self.core.shared.change(|world| world.counters.trims += 1);
    }

    fn query(&self, address: u64) -> Option<PointerInfo> {
        let world = self.core.shared.lock();
        let addresses = world.devices[self.index as usize].spec.addresses;
        if addresses { world.memory.query(self.index, address) } else { None }
    }
}
