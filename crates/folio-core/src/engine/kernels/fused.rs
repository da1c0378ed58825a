//! What devices know of fused kernels: those that they have loaded, by content, and what making
//! them has cost. Violations of a fused kernel become those of the kernels that it is made of.

use crate::engine::Engine;
use crate::engine::kernels::loaded::{LoadedKernel, LoadedTable};
use crate::error::Error;
use crate::hal::{DeviceInfo, DeviceKind, KernelSource};
use crate::probe;
use crate::sync::Mutex;
use folio_cache::Cache;
use folio_kernel::fuse::{Costs, Facts, FusedKernel};
use folio_kernel::{ContentHash, Violation, ViolationKind};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the fusion of a device's graphs has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FusionCounters {
    /// Graphs, and parts of graphs, that were planned.
    pub plans: u64,
    /// Commands that plans were asked about, each as often as it was.
    pub nodes: u64,
    /// How long that took.
    pub planning: Duration,
    /// Fused kernels that plans had.
    pub kernels: u64,
    /// Those of them whose code was there.
    pub found: u64,
    /// Those that the device has compiled. One that runs the host's code compiles none.
    pub compiled: u64,
    /// How long that took.
    pub compiling: Duration,
}

/// The fused kernels of a device.
#[derive(Default)]
pub(crate) struct FusedKernels {
    /// By all of their content, and not by its hash: a device runs what is found, and texts with
    /// one hash can be made. Held while one is compiled, so that it is compiled once.
    loaded: Mutex<LoadedTable<String>>,
    counters: Mutex<(FusionCounters, HashSet<ContentHash>)>,
    /// What the device costs, once it has been asked: as it was measured, if it was.
    costs: Mutex<Option<Costs>>,
}

/// The costs of a device of this kind.
pub(crate) fn default_costs(info: &DeviceInfo) -> Costs {
    let DeviceInfo { caps, .. } = info;
    let of_cpu = caps.closures || info.kind == DeviceKind::Cpu;
    let usual = if of_cpu { Costs::CPU } else { Costs::GPU };
    let unit_local = match caps.unit_local_memory {
        _ if of_cpu => usual.unit_local,
        0 => caps.local_memory,
        known => known,
    };
    Costs { units: info.compute_units.max(1), unit_local, ..usual }
}

/// What a plan may count on.
pub(crate) struct FusionFacts {
    pub(crate) of_plan: Facts,
    /// Code gets better by constants in it.
    pub(crate) bakes: bool,
}

/// Of which kernels a fused kernel is made. Its places begin with the number of the kernel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Blame {
    /// Their names.
    pub(crate) kernels: Vec<Arc<str>>,
    /// Names of the fused kernel's parameters, with the number of a kernel and its parameter's
    /// name.
    pub(crate) params: Vec<(String, usize, String)>,
}

/// By the name of a fused kernel as it was loaded: whom to blame, and how many devices have loaded
/// it.
static BLAME: std::sync::Mutex<Option<HashMap<String, (Blame, usize)>>> =
    std::sync::Mutex::new(None);

fn all_blame() -> std::sync::MutexGuard<'static, Option<HashMap<String, (Blame, usize)>>> {
    BLAME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// An entry of [`BLAME`], for as long as a device has the kernel loaded.
pub(crate) struct Blamed(String);

impl Blamed {
    fn new(kernel: String, blame: Blame) -> Blamed {
        let mut all = all_blame();
        let entry = all.get_or_insert_default().entry(kernel.clone()).or_insert((blame, 0));
        entry.1 += 1;
        Blamed(kernel)
    }
}

impl Drop for Blamed {
    fn drop(&mut self) {
        let mut all = all_blame();
        let Some(all) = all.as_mut() else { return };
        if let Some((_, devices)) = all.get_mut(&self.0) {
            *devices -= 1;
            if *devices == 0 {
                all.remove(&self.0);
            }
        }
    }
}

/// A violation of a fused kernel as the one of its kernel; others as they are.
pub(crate) fn blamed(violation: Arc<Violation>) -> Arc<Violation> {
    let all = all_blame();
    let known = all.as_ref().and_then(|all| all.get(&violation.kernel));
    match known.and_then(|(blame, _)| blame.of(&violation)) {
        Some(found) => Arc::new(found),
        None => violation,
    }
}

impl Blame {
    fn of(&self, violation: &Violation) -> Option<Violation> {
        let mut found = violation.clone();
        let (at, file) = violation.site.file.split_once(':')?;
        let at: usize = at.parse().ok()?;
        found.kernel = self.kernels.get(at)?.to_string();
        file.clone_into(&mut found.site.file);
        if let ViolationKind::OutOfBounds { param: Some(name), .. } = &mut found.kind {
            let mut all = self.params.iter();
            if let Some((.., own)) = all.find(|(of, kernel, _)| of == name && *kernel == at) {
                name.clone_from(own);
            }
        }
        Some(found)
    }
}

impl Engine {
    /// What fusion may count on at a device.
    pub(crate) fn fusion_facts(&self, at: u16) -> FusionFacts {
        let info = &self.devices[usize::from(at)].info;
        let caps = &info.caps;
        let fuses = caps.closures || caps.ir;
        let costs = self.fusion_costs(at, &Cache::from_environment);
        let of_plan = Facts { fuses, views: caps.max_params, costs, ..Facts::GPU };
        let local_memory = if caps.closures { of_plan.local_memory } else { caps.local_memory };
        FusionFacts { of_plan: Facts { local_memory, ..of_plan }, bakes: !caps.closures }
    }

    /// What plans go by: what was measured on this machine, by this process or an earlier one, or
    /// else usual costs. The disk is asked once.
    pub(crate) fn fusion_costs(&self, at: u16, cache: &dyn Fn() -> Cache) -> Costs {
        let info = &self.devices[usize::from(at)].info;
        let mut costs = self.fused(at).costs.lock();
        *costs.get_or_insert_with(|| {
            probe::remembered(info, &cache()).unwrap_or_else(|| default_costs(info))
        })
    }

    /// Later plans go by these.
    pub(crate) fn set_fusion_costs(&self, at: u16, costs: Costs) {
        *self.fused(at).costs.lock() = Some(costs);
    }

    /// Plans so many nodes, and counts that.
    pub(crate) fn timed_plan<R>(&self, (at, nodes): (u16, usize), plan: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = plan();
        let mut counted = self.fused(at).counters.lock();
        counted.0.plans += 1;
        counted.0.nodes += nodes as u64;
        counted.0.planning += start.elapsed();
        drop(counted);
        result
    }

    fn fused(&self, at: u16) -> &FusedKernels {
        &self.devices[usize::from(at)].kernels.fused
    }

    /// What fusion has cost on a device.
    pub(crate) fn fusion_counters(&self, at: u16) -> FusionCounters {
        self.fused(at).counters.lock().0
    }

    /// A fused kernel runs as the host's code. Returns a number of what it is.
    pub(crate) fn count_chain(&self, at: u16, fused: &FusedKernel) -> u64 {
        let key = fused.key();
        let mut counted = self.fused(at).counters.lock();
        let is_new = counted.1.insert(key);
        counted.0.kernels += 1;
        counted.0.found += u64::from(!is_new);
        key.0 as u64
    }

    /// A fused kernel of a device, which compiles it if its content is new there.
    pub(crate) fn load_fused(
        &self,
        at: u16,
        fused: &FusedKernel,
        blame: Blame,
    ) -> Result<Arc<LoadedKernel>, Error> {
        // Its violations name the kernels that it is made of, so these are of its content, too.
        let key = format!("{}{blame:?}", fused.kernel);
        let entry = &self.devices[usize::from(at)];
        let device = self.open(at)?;
        let mut loaded = entry.kernels.fused.loaded.lock();
        let known = loaded.find(&key);
        let count = |compiling: Option<Instant>| {
            let mut counted = entry.kernels.fused.counters.lock();
            counted.0.kernels += 1;
            counted.0.found += u64::from(compiling.is_none());
            counted.0.compiled += u64::from(compiling.is_some());
            counted.0.compiling += compiling.map(|start| start.elapsed()).unwrap_or_default();
        };
        if let Some(known) = known {
            count(None);
            return Ok(known);
        }
        let mut kernel = (*fused.kernel).clone();
        let number = ContentHash::of(key.as_bytes()).0 as u64;
        kernel.name = format!("{} #{number:016x}", kernel.name);
        let start = Instant::now();
        let made = device.load(&KernelSource::Ir(&kernel)).map_err(|cause| {
            let doing = format!("load fused kernel `{}`", fused.kernel.name);
            Error::Device { device: entry.name.clone(), doing, cause }
        });
        let handle = match made {
            Ok(handle) => handle,
            Err(error) => {
                // Who is told of a loss may load a kernel.
                drop(loaded);
                return self.noting_loss(Err(error));
            }
        };
        count(Some(start));
        let blamed = Some(Blamed::new(kernel.name, blame));
        let kernel = Arc::new(LoadedKernel::new(device, handle, blamed));
        loaded.add(key, &kernel);
        Ok(kernel)
    }
}
