//! The backend and its devices.

use crate::config::{Builder, ConfigError, GroupLimits};
use crate::frames::{CAN, FRAME};
use crate::graph::CpuGraph;
use crate::lane::CpuLane;
use crate::memory::{self, Memory};
use crate::pool::Machine;
use folio_core::hal::{
    Backend, Caps, Device, DeviceInfo, DeviceKind, Graph, HalError, HalErrorKind, Lane, LaneKind,
    Link, MemoryHome, Node, Notify, Unavailable, UsmAllocator, WaitGroup,
};
use std::sync::Arc;

/// A copy within the machine's memory, on one core.
const LINK: Link = Link { bytes_per_us: 8_000, op_ns: 200 };

/// The CPU as a backend: one device, or several with separate memory.
pub struct CpuBackend {
    name: String,
    peer: bool,
    infos: Vec<DeviceInfo>,
    machine: Arc<Machine>,
}

impl CpuBackend {
    /// As the environment says: `FOLIO_CPU_DOMAINS` devices (1) and a pool of `FOLIO_CPU_THREADS`
    /// threads (one for each core).
    pub fn new() -> Result<CpuBackend, ConfigError> {
        Builder::from_env()?.build()
    }

    /// A backend with settings of its own, whatever the environment says.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn from_builder(builder: Builder) -> CpuBackend {
        let memory = builder.memory_limit.unwrap_or_else(memory::installed);
        let (model, vendor) = processor();
        let info = |index: usize| {
            let host = index == 0;
            let unified = host || builder.unified;
            let suffix = if builder.domains > 1 { format!(" #{index}") } else { String::new() };
            DeviceInfo {
                name: format!("{model}{suffix}"),
                vendor: vendor.clone(),
                driver: format!("folio-cpu {}", env!("CARGO_PKG_VERSION")),
                kind: DeviceKind::Cpu,
                uuid: None,
                home: u32::try_from(index)
                    .ok()
                    .filter(|_| !host)
                    .map_or(MemoryHome::Host, MemoryHome::Own),
                memory,
                compute_units: u32::try_from(builder.threads / builder.domains)
                    .map_or(1, |n| n.max(1)),
                caps: caps(unified, memory, builder.group_limits),
            }
        };
        let infos: Vec<DeviceInfo> = (0..builder.domains).map(info).collect();
        let memories = infos.iter().map(|info| Memory::new(memory, info.caps.unified)).collect();
        let machine = Arc::new(Machine::new(builder.threads, memories).of_program());
        CpuBackend { name: builder.name, peer: builder.peer, infos, machine }
    }
}

fn caps(unified: bool, memory: u64, limits: GroupLimits) -> Caps {
    let mut caps = Caps::default();
    caps.wait_group = Some(WaitGroup(0));
    caps.unified = unified;
    // The host's memory is any other memory, and mapping it is nothing.
    caps.links = unified.then_some(1);
    caps.frame = (CAN && !unified).then_some(FRAME);
    caps.closures = true;
    caps.notifies = true;
    caps.copy_lanes = true;
    caps.timing = true;
    (caps.denormals, caps.exact_div_sqrt) = (true, true);
    caps.max_alloc = memory;
    (caps.f64, caps.atomics64) = (true, true);
    (caps.group_items, caps.local_memory) = (limits.items, limits.local_memory);
    caps.max_params = usize::from(u16::MAX);
    caps.host_link = LINK;
    caps
}

/// Model and vendor, where the system tells.
fn processor() -> (String, String) {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let find = |key: &str| {
        text.lines()
            .find(|line| line.starts_with(key))
            .and_then(|line| line.split_once(':'))
            .map(|(_, value)| value.trim().to_owned())
    };
    let model = find("model name").unwrap_or_else(|| format!("{} CPU", std::env::consts::ARCH));
    (model, find("vendor_id").unwrap_or_else(|| "unknown".to_owned()))
}

// SAFETY: its devices keep the contract, see `CpuDevice`.
unsafe impl Backend for CpuBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        Ok(self.infos.clone())
    }

    unsafe fn open(&self, index: usize, notify: Notify) -> Result<Arc<dyn Device>, HalError> {
        let Some(info) = self.infos.get(index).cloned() else {
            let what = format!("there is no device {index}, only 0 to {}", self.infos.len() - 1);
            return Err(HalError::new(HalErrorKind::Driver, what));
        };
        let machine = Arc::clone(&self.machine);
        Ok(Arc::new(CpuDevice { index, info, notify, machine, peer: self.peer }))
    }
}

/// An opened domain.
struct CpuDevice {
    index: usize,
    info: DeviceInfo,
    notify: Notify,
    machine: Arc<Machine>,
    peer: bool,
}

// SAFETY: see the implementations for `Memory` and `CpuLane`.
unsafe impl Device for CpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn usm(&self) -> &dyn UsmAllocator {
        // There is one memory per device (`from_builder`).
        &self.machine.memories[self.index]
    }

    fn lane(&self, _: LaneKind, _: i8) -> Result<Arc<dyn Lane>, HalError> {
        Ok(Arc::new(CpuLane::new(Arc::clone(&self.machine), self.notify.clone())))
    }

    fn graph(&self, nodes: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        Ok(Arc::new(CpuGraph::new(nodes)?))
    }

    fn peer(&self, other: &dyn Device) -> Option<Link> {
        let other = other.downcast_ref::<CpuDevice>()?;
        (self.peer && Arc::ptr_eq(&self.machine, &other.machine)).then_some(LINK)
    }
}
