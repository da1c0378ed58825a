//! A device, opened.

use crate::arguments;
use crate::compiler::{CompiledPrograms, Compiler};
use crate::condition;
use crate::driver::{Context, Optional, Relaxed};
use crate::graph::CudaGraph;
use crate::lane::CudaLane;
use crate::memory::{Memory, with_room};
use crate::nvtx::Ranges;
use crate::platform::attribute;
use crate::program::{Loaded, Ready, Target};
use crate::timing::Clock;
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};
use folio_core::hal::{
    Argument, Calls, Device, DeviceInfo, Geometry, Graph, HalError, KernelHandle, KernelSource,
    Lane, LaneKind, Link, Node, UsmAllocator,
};
use folio_driver::kernels::Kernels;
use std::sync::Arc;

/// A copy from GPU to GPU, over NVLink or PCIe.
const NVLINK: Link = Link { bytes_per_us: 300_000, op_ns: 8_000 };
const PCIE: Link = Link { bytes_per_us: 20_000, op_ns: 8_000 };

/// The compute capability from which on there are matrix units for `f16`, `bf16` and TF32.
pub(crate) const UNITS: i32 = 8;

pub(crate) struct CudaDevice(Arc<Core>);

/// The state that lanes share with their device. Fields are dropped in this order.
pub(crate) struct Core {
    pub(crate) clock: Option<Clock>,
    /// Kernels of ours: what sets conditions, and what writes words.
    pub(crate) setter: Ready,
    pub(crate) writer: Ready,
    pub(crate) memory: Memory,
    pub(crate) context: Arc<Context>,
    pub(crate) ranges: Option<&'static Ranges>,
    info: DeviceInfo,
    pub(crate) target: Target,
    /// Emptied while the context is current.
    pub(crate) kernels: Kernels<Loaded>,
}

impl CudaDevice {
    pub(crate) fn open(
        device: sys::CUdevice,
        info: DeviceInfo,
        optional: Optional,
        kept: CompiledPrograms,
        ranges: Option<&'static Ranges>,
    ) -> Result<CudaDevice, HalError> {
        let context = Arc::new(Context::retain(device, optional)?);
        let _calls = context.enter()?;
        let _relaxed = Relaxed::begin();
        let of = |which| attribute(device, which);
        let major = of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        let minor = of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        let shared = of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        let shared = shared.max(0).cast_unsigned();
        Ok(CudaDevice(Arc::new(Core {
            clock: optional.timing.then(|| Clock::start(context.clone())).transpose()?,
            setter: condition::setter(),
            writer: arguments::writer(),
            memory: Memory::new(context.clone(), info.memory)?,
            context,
            ranges,
            target: Target {
                compiler: Compiler::new((major, minor), &info.driver, kept),
                multiprocessors: info.compute_units,
                // Since CUDA 12.1, and Volta, it is more than 4 KiB.
                argument_bytes: if optional.version >= 12_010 && major >= 7 {
                    32_764
                } else {
                    4096
                },
                shared,
                units: if major >= UNITS { shared } else { 0 },
            },
            info,
            kernels: Kernels::default(),
        })))
    }
}

// SAFETY: see `Memory` and `CudaLane`.
unsafe impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn usm(&self) -> &dyn UsmAllocator {
        &self.0.memory
    }

    fn lane(&self, _: LaneKind, priority: i8) -> Result<Arc<dyn Lane>, HalError> {
        let _calls = Calls::begin();
        let _relaxed = Relaxed::begin();
        let lane = with_room(&self.0.context, || CudaLane::new(self.0.clone(), priority))?;
        Ok(Arc::new(lane))
    }

    fn load(&self, source: &KernelSource<'_>) -> Result<KernelHandle, HalError> {
        let _calls = self.0.context.enter()?;
        let _relaxed = Relaxed::begin();
        let (context, target) = (&self.0.context, &self.0.target);
        self.0.kernels.add(with_room(context, || Loaded::new(context, target, source))?)
    }

    fn unload(&self, handle: KernelHandle) {
        // SAFETY: every operation that names it has ended (the engine's part of the contract).
        let Some(loaded) = (unsafe { self.0.kernels.remove(handle) }) else { return };
        let _calls = (Calls::begin(), self.0.context.enter());
        let _relaxed = Relaxed::begin();
        drop(loaded);
    }

    fn check(
        &self,
        handle: KernelHandle,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), HalError> {
        match self.0.kernels.get(handle)? {
            Loaded::Opaque(kernel) => {
                let _calls = self.0.context.enter()?;
                let _relaxed = Relaxed::begin();
                kernel.check(&self.0.context, geometry, arguments)
            }
            Loaded::Kernel(function) => function.check(geometry),
        }
    }

    fn graph(&self, nodes: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        let _calls = Calls::begin();
        let _relaxed = Relaxed::begin();
        let graph = with_room(&self.0.context, || CudaGraph::new(self.0.clone(), nodes))?;
        Ok(Arc::new(graph))
    }

    fn peer(&self, other: &dyn Device) -> Option<Link> {
        let other = &other.downcast_ref::<CudaDevice>()?.0;
        let (here, there) = (self.0.context.device, other.context.device);
        if here == there {
            return None;
        }
        let _calls = self.0.context.enter().ok()?;
        let mut can = 0;
        // SAFETY: devices that the driver named; a place for the answer.
        let asked = unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, here, there) };
        if asked != CUresult::CUDA_SUCCESS || can == 0 {
            return None;
        }
        let _relaxed = Relaxed::begin();
        // SAFETY: both contexts are retained.
        let enabled = unsafe { sys::cuCtxEnablePeerAccess(other.context.raw, 0) };
        let already = CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
        if ![CUresult::CUDA_SUCCESS, already].contains(&enabled) {
            return None;
        }
        // Its pool's memory, too: without this a copy would go by way of the host.
        other.memory.share_with(here).ok()?;
        let mut rank = 0;
        let which = sys::CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
        // SAFETY: as above.
        let asked = unsafe { sys::cuDeviceGetP2PAttribute(&raw mut rank, which, here, there) };
        // Rank 0 is the fastest way that the driver knows, which is NVLink where there is some.
        let fast = asked == CUresult::CUDA_SUCCESS && rank == 0;
        Some(if fast { NVLINK } else { PCIE })
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        let _calls = (Calls::begin(), self.context.enter());
        let _relaxed = Relaxed::begin();
        self.setter.unload();
        self.writer.unload();
        self.kernels.drain().for_each(drop);
    }
}

#[cfg(test)]
mod tests {
    use super::{CudaDevice, NVLINK, PCIE};
    use crate::CudaBackend;
    use crate::driver::Relaxed;
    use crate::memory::on_device;
    use cudarc::driver::sys::{self, CUmemAccess_flags as Access, CUresult};
    use folio_core::hal::{Backend, Device, Notify};
    use std::sync::Arc;

    /// How the first may use what the second allocates.
    fn access(first: &CudaDevice, second: &CudaDevice) -> Access {
        let mut access = Access::CU_MEM_ACCESS_FLAGS_PROT_READ;
        let (pool, place) = (second.0.memory.pool(), on_device(first.0.context.device));
        // SAFETY: a live pool, a place that is one of the driver's devices, and one for the answer.
        let asked = unsafe {
            sys::cuMemPoolGetAccess(&raw mut access, pool, (&raw const place).cast_mut())
        };
        assert_eq!(asked, CUresult::CUDA_SUCCESS);
        access
    }

    /// Without access to the other's context *and* its pool a copy goes by way of the host, at a
    /// tenth of its speed, and is right all the same: so it is asked for here.
    #[test]
    fn cuda_peers_may_use_what_pools_allocate() {
        let backend = CudaBackend::new();
        match backend.devices() {
            Ok(found) if found.len() > 1 => {}
            Ok(_) => return println!("skipped: gpus: there is one"),
            Err(why) => return println!("skipped: cuda: {}", why.reason),
        }
        // SAFETY: nothing is allocated, and no lane is made.
        let opened = [0, 1].map(|at| unsafe { backend.open(at, Notify::none()) }.unwrap());
        let of = |device: &Arc<dyn Device>| {
            let device: &CudaDevice = device.downcast_ref().unwrap();
            CudaDevice(device.0.clone())
        };
        let [first, second] = [of(&opened[0]), of(&opened[1])];
        let mut can = 0;
        let (here, there) = (first.0.context.device, second.0.context.device);
        // SAFETY: devices that the driver named; a place for the answer.
        let asked = unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, here, there) };
        assert_eq!(asked, CUresult::CUDA_SUCCESS);
        assert_eq!(access(&first, &second), Access::CU_MEM_ACCESS_FLAGS_PROT_NONE);
        if can == 0 {
            assert!(first.peer(&second).is_none());
            return println!("skipped: gpus: the first two have no path to each other");
        }
        let link = first.peer(&second).unwrap();
        assert_eq!(access(&first, &second), Access::CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        // An ability of NVLink alone tells which of the two it is, apart from the driver's ranking.
        let mut atomics = 0;
        let what = sys::CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED;
        // SAFETY: as above.
        let asked = unsafe { sys::cuDeviceGetP2PAttribute(&raw mut atomics, what, here, there) };
        assert_eq!(asked, CUresult::CUDA_SUCCESS);
        assert_eq!(link, if atomics == 1 { NVLINK } else { PCIE });
        let _calls = first.0.context.enter().unwrap();
        let _relaxed = Relaxed::begin();
        // SAFETY: both contexts are retained.
        let again = unsafe { sys::cuCtxEnablePeerAccess(second.0.context.raw, 0) };
        assert_eq!(again, CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    }
}
