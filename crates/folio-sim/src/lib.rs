//! Simulated devices, for tests: with their own memory, late and reordered completion, batching,
//! devices that can and cannot wait for each other, memory limits, loss.
//!
//! Nothing here reads a clock (but for the deadline of a wait that nothing can end): time is
//! logical and a test that fails fails again. See `timeline` for how effects are ordered.
//!
//! This is also the template for a new backend; `README.md` says how to start from it.
//!
//! ```
//! use folio_core::hal::{Backend, LaneKind, Notify};
//! use folio_sim::{DeviceSpec, Script, SimBackend};
//!
//! let backend = SimBackend::builder()
//!     .devices(2, DeviceSpec::new().memory(1 << 20))
//!     .script(Script::new().late(3))
//!     .build();
//! let sim = backend.handle();
//! // SAFETY: nothing is given to the lane.
//! let device = unsafe { backend.open(0, Notify::none()) }?;
//! let lane = device.lane(LaneKind::Compute, 0)?;
//! assert_eq!(lane.completed()?, 0);
//! assert!(sim.violations().is_empty());
//! # Ok::<(), folio_core::hal::HalError>(())
//! ```

mod device;
mod frames;
mod graph;
mod handle;
mod ir;
mod lane;
mod memory;
mod script;
mod shared;
mod timeline;
mod wire;
mod work;

pub use device::DeviceSpec;
pub use folio_core::hal::OpKind;
pub use frames::UNBACKED;
pub use handle::{Counters, LogEntry, SimHandle, Violation};
pub use ir::{IrKernel, IrRunner};
pub use memory::{FREED, FRESH, UNMAPPED};
pub use script::Script;
pub use wire::{SimWire, SimWorld};

use device::SimDevice;
use folio_core::hal::{
    Backend, Device, DeviceInfo, HalError, HalErrorKind, Link, Notify, Unavailable,
};
use shared::{Core, Shared};
use std::sync::Arc;
use timeline::World;

/// A backend keeps a cost for each pair of its devices.
const MOST_DEVICES: usize = 1024;

/// A family of simulated devices.
pub struct SimBackend {
    core: Arc<Core>,
    /// Why it has no devices.
    unavailable: Option<Unavailable>,
    infos: Vec<DeviceInfo>,
    peers: Vec<Vec<Option<Link>>>,
}

impl SimBackend {
    /// A device of the default kind, unless told otherwise.
    pub fn builder() -> Builder {
        Builder {
            name: "sim".into(),
            specs: Vec::new(),
            left_out: 0,
            uniform: None,
            links: Vec::new(),
            script: Script::new(),
            notifies: false,
            log: false,
        }
    }

    /// To observe it and to interfere; keep one before giving the backend away.
    pub fn handle(&self) -> SimHandle {
        SimHandle(self.core.clone())
    }
}

// SAFETY: the devices keep the HAL contract; see `SimDevice`.
unsafe impl Backend for SimBackend {
    fn name(&self) -> &str {
        &self.core.name
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        self.unavailable.clone().map_or_else(|| Ok(self.infos.clone()), Err)
    }

    unsafe fn open(&self, index: usize, notify: Notify) -> Result<Arc<dyn Device>, HalError> {
        let Some(info) = self.infos.get(index).cloned() else {
            let what = format!("no device {index} among {}", self.infos.len());
            return Err(HalError::new(HalErrorKind::Driver, what));
        };
        self.core.start()?;
        self.core.shared.change(|world| {
            let device = &mut world.devices[index];
            if info.caps.notifies {
                device.notify.push(notify);
            }
            device.lost.as_ref().map_or(Ok(()), |lost| Err(timeline::gone(lost)))
        })?;
        let links = self.peers[index].clone();
        Ok(Arc::new(SimDevice { core: self.core.clone(), index: index as u32, info, links }))
    }
}

/// Describes a [`SimBackend`].
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    specs: Vec<DeviceSpec>,
    /// Devices beyond [`MOST_DEVICES`].
    left_out: usize,
    uniform: Option<Link>,
    links: Vec<(usize, usize, Link)>,
    script: Script,
    notifies: bool,
    log: bool,
}

impl Builder {
    /// The part before the colon in `sim:0`.
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.name = name.into();
        self
    }

    /// Adds a device.
    pub fn device(self, spec: DeviceSpec) -> Builder {
        self.devices(1, spec)
    }

    /// `n` more devices of this kind. A backend of more than 1024 has none, and says why.
    pub fn devices(mut self, n: usize, spec: DeviceSpec) -> Builder {
        let fit = n.min(MOST_DEVICES - self.specs.len());
        self.specs.extend(std::iter::repeat_n(spec, fit));
        self.left_out = self.left_out.saturating_add(n - fit);
        self
    }

    /// All devices reach each other's memory at this cost.
    pub fn peers(mut self, link: Link) -> Builder {
        self.uniform = Some(link);
        self
    }

    /// Lanes of device `of` reach the memory of device `other` at this cost.
    pub fn peer(mut self, of: usize, other: usize, link: Link) -> Builder {
        self.links.push((of, other, link));
        self
    }

    /// When operations end.
    pub fn script(mut self, script: Script) -> Builder {
        self.script = script;
        self
    }

    /// Tells of progress. Then a thread of the backend moves time, which is no longer
    /// deterministic.
    pub fn notifies(mut self, on: bool) -> Builder {
        self.notifies = on;
        self
    }

    /// Keeps a [`LogEntry`] of each operation.
    pub fn log(mut self, on: bool) -> Builder {
        self.log = on;
        self
    }

    /// The backend. Links of devices that there are not have no effect.
    pub fn build(mut self) -> SimBackend {
        if self.specs.is_empty() {
            self.specs.push(DeviceSpec::new());
        }
        let n = self.specs.len();
        let mut peers = vec![vec![self.uniform; n]; n];
        for (of, other, link) in self.links {
            if let Some(slot) = peers.get_mut(of).and_then(|row| row.get_mut(other)) {
                *slot = Some(link);
            }
        }
        let specs = self.specs.iter().enumerate();
        let infos = specs.map(|(i, s)| s.info(&self.name, i, self.notifies)).collect();
        let world = World::new(self.script, self.specs, self.log);
        let core = Core::new(self.name, Shared::new(world, self.notifies));
        let unavailable = (self.left_out > 0).then(|| {
            let asked = MOST_DEVICES.saturating_add(self.left_out);
            let reason = format!("{asked} devices were asked for, and {MOST_DEVICES} are possible");
            Unavailable { reason }
        });
        SimBackend { core: Arc::new(core), unavailable, infos, peers }
    }
}
