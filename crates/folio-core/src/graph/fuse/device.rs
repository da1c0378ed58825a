//! A device as fusion sees it: facts and costs, and the fused kernels that are loaded there.

use crate::engine::Engine;
use crate::engine::kernels::blame::Blame;
use crate::engine::kernels::fused::{FusedKernels, FusionCounters};
use crate::engine::kernels::loaded::LoadedKernel;
use crate::error::Error;
use crate::hal::{DeviceInfo, DeviceKind, KernelSource};
use crate::probe;
use folio_cache::Cache;
use folio_kernel::ContentHash;
use folio_kernel::fuse::{Costs, Facts, FusedKernel, Inlining};
use std::sync::Arc;
use std::time::Instant;

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

/// Properties that a plan may count on.
pub(crate) struct FusionFacts {
    pub(crate) of_plan: Facts,
    /// Code gets better by constants in it.
    pub(crate) bakes: bool,
}

impl Engine {
    /// Properties of a device that fusion may count on.
    pub(crate) fn fusion_facts(&self, at: u16) -> FusionFacts {
        let info = &self.devices[usize::from(at)].info;
        let caps = &info.caps;
        let fuses = caps.closures || caps.ir;
        let costs = self.fusion_costs(at, &Cache::from_environment);
        let inlines = if caps.closures { Inlining::Loads } else { Inlining::All };
        let of_plan = Facts { fuses, inlines, views: caps.max_params, costs, ..Facts::GPU };
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

    /// The cost of fusion on a device so far.
    pub(crate) fn fusion_counters(&self, at: u16) -> FusionCounters {
        self.fused(at).counters.lock().0
    }

    /// A fused kernel runs as the host's code. Returns a number of what it is.
    pub(crate) fn count_chain(&self, at: u16, key: ContentHash) -> u64 {
        let mut counted = self.fused(at).counters.lock();
        let is_new = counted.1.insert(key);
        counted.0.kernels += 1;
        counted.0.found += u64::from(!is_new);
        key.0 as u64
    }

    /// A fused kernel was made whose code its plan has.
    pub(crate) fn count_found(&self, at: u16) {
        let mut counted = self.fused(at).counters.lock();
        counted.0.kernels += 1;
        counted.0.found += 1;
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
        let blame = Some(Blame { kernel: kernel.name, ..blame });
        let kernel = Arc::new(LoadedKernel::new(device, handle, blame));
        loaded.add(key, &kernel);
        Ok(kernel)
    }
}
