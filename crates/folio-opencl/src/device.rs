//! A device: its lanes and its allocator.

use crate::graph::OpenClGraph;
use crate::lane::OpenClLane;
use crate::memory::{is_memory_of_buffers, with_room};
use crate::module::{LoadedKernel, Target};
use crate::opaque::Opaque;
use crate::platform::{DeviceId, Found, Shared, Svm};
use folio_cache::Cache;
use folio_core::hal::{
    AllocReq, Allocation, Argument, Device, DeviceInfo, Geometry, Graph, HalError, KernelHandle,
    KernelSource, Lane, LaneKind, Link, Lost, MemoryInfo, Node, PointerInfo, Source, UsmAllocator,
};
use folio_core::ir::emit::Cut;
use folio_driver::kernels::Kernels;
use folio_driver::lock;
use folio_driver::loss::Loss;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// The state that a device and its lanes share.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: DeviceId,
    pub(crate) index: u32,
    pub(crate) info: DeviceInfo,
    pub(crate) svm: Svm,
    pub(crate) target: Target,
    pub(crate) cut: Cut,
    pub(crate) cache: Cache,
    kernels: Kernels<Loaded>,
    /// Why it is lost.
    pub(crate) loss: Loss,
    /// The device is lost, and nothing of it touches memory any more.
    gone: AtomicBool,
    lanes: Mutex<Vec<Weak<OpenClLane>>>,
}

/// The code that a handle stands for.
#[derive(Debug)]
pub(crate) enum Loaded {
    Kernel(Box<LoadedKernel>),
    /// A kernel of the user's.
    Opaque(Opaque),
}

impl Core {
    /// Kernels are given addresses, of words as well, where all devices of the context are CPUs
    /// that reach the host's memory: PoCL copies words by value for each launch, and keeps account
    /// of buffers.
    pub(crate) fn has_addresses(&self) -> bool {
        self.shared.cpus && self.cut == Cut::Cpu && self.svm == Svm::Fine
    }

    pub(crate) fn loaded(&self, handle: KernelHandle) -> Result<&Loaded, HalError> {
        self.kernels.get(handle)
    }

    /// The device takes no more. Lanes tell the loss when the device is gone.
    pub(crate) fn lose(&self, error: &HalError) {
        self.loss.lose(error.message.clone());
    }

    /// Passes on the answer of a call that is of no lane. Lanes know a loss from here on.
    pub(crate) fn told<T>(&self, answer: Result<T, HalError>) -> Result<T, HalError> {
        self.loss.told(answer)
    }

    /// The loss, as calls tell it.
    pub(crate) fn lost(&self) -> Result<(), Lost> {
        self.loss.check()
    }

    /// The loss, as lanes tell it: when what is left of the device's commands is over.
    pub(crate) fn gone(&self) -> Result<(), Lost> {
        if self.gone.load(Ordering::Acquire) { self.lost() } else { Ok(()) }
    }

    fn lanes(&self) -> MutexGuard<'_, Vec<Weak<OpenClLane>>> {
        lock(&self.lanes)
    }

    /// Whether its lanes say all that is to be said: not of one that is lost, and not gone yet.
    pub(crate) fn is_told(&self) -> bool {
        if self.lost().is_ok() || self.gone().is_err() {
            return true;
        }
        let lanes: Vec<_> = self.lanes().iter().filter_map(Weak::upgrade).collect();
        let gone = lanes.iter().all(|lane| lane.is_over());
        self.gone.fetch_or(gone, Ordering::Release);
        gone
    }
}

/// An opened device.
pub(crate) struct OpenClDevice(pub(crate) Arc<Core>);

impl OpenClDevice {
    pub(crate) fn open(
        found: &Found,
        index: u32,
        (target, cut): (Target, Cut),
        cache: Cache,
    ) -> Result<OpenClDevice, HalError> {
        let shared = found.platform.shared()?;
        let usable = found.svm != Svm::None && is_memory_of_buffers(&shared.context, found.id.0);
        Ok(OpenClDevice(Arc::new(Core {
            shared,
            id: found.id,
            index,
            info: found.info.clone(),
            svm: if usable { found.svm } else { Svm::None },
            target,
            cut,
            cache,
            kernels: Kernels::default(),
            loss: Loss::default(),
            gone: AtomicBool::new(false),
            lanes: Mutex::default(),
        })))
    }
}

// SAFETY: lanes and allocator keep the HAL's contract; see `OpenClLane` and `Memory`.
unsafe impl Device for OpenClDevice {
    fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn usm(&self) -> &dyn UsmAllocator {
        self
    }

    fn lane(&self, _: LaneKind, _: i8) -> Result<Arc<dyn Lane>, HalError> {
        self.0.lost()?;
        let lane = Arc::new(self.0.told(OpenClLane::new(self.0.clone()))?);
        self.0.lanes().push(Arc::downgrade(&lane));
        Ok(lane)
    }

    fn load(&self, source: &KernelSource<'_>) -> Result<KernelHandle, HalError> {
        self.0.lost()?;
        let core = &*self.0;
        let made = core.told(match source {
            KernelSource::Ir(kernel) => {
                LoadedKernel::new(core, kernel).map(Box::new).map(Loaded::Kernel)
            }
            KernelSource::Opaque { name, source: Source::OpenClC(text), options } => {
                with_room(|| Opaque::new(core, name, text, options)).map(Loaded::Opaque)
            }
            KernelSource::Opaque { source, .. } => Err(HalError::unsupported(source.language())),
            _ => Err(HalError::unsupported("code of this kind")),
        })?;
        core.kernels.add(made)
    }

    fn prepare(&self, handle: KernelHandle) -> Result<(), HalError> {
        match self.0.loaded(handle)? {
            Loaded::Opaque(_) => Ok(()),
            Loaded::Kernel(function) => function.prepare(&self.0),
        }
    }

    fn unload(&self, handle: KernelHandle) {
        // SAFETY: every operation that names it has ended (the engine's part of the contract).
        drop(unsafe { self.0.kernels.remove(handle) });
    }

    fn check(
        &self,
        handle: KernelHandle,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), HalError> {
        match self.0.loaded(handle)? {
            Loaded::Opaque(kernel) => {
                self.0.lost()?;
                self.0.told(kernel.check(geometry, arguments))
            }
            Loaded::Kernel(function) => function.check(&self.0, geometry),
        }
    }

    fn graph(&self, nodes: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        self.0.lost()?;
        Ok(Arc::new(self.0.told(OpenClGraph::new(&self.0, nodes))?))
    }

    fn peer(&self, other: &dyn Device) -> Option<Link> {
        let other = other.downcast_ref::<OpenClDevice>()?;
        Arc::ptr_eq(&self.0.shared, &other.0.shared).then(Link::default)
    }
}

// SAFETY: allocations are the driver's, which do not overlap and live until they are released.
unsafe impl UsmAllocator for OpenClDevice {
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        self.0.lost()?;
        self.0.told(self.0.shared.memory.alloc(&self.0, req))
    }

    fn free(&self, handle: u64) {
        self.0.shared.memory.free(&self.0, handle);
    }

    fn memory(&self) -> MemoryInfo {
        self.0.shared.memory.info(&self.0)
    }

    fn trim(&self, most: u64) {
        self.0.shared.memory.trim(&self.0, most);
    }

    fn object(&self, handle: u64) -> Option<*mut c_void> {
        self.0.shared.memory.find(handle).ok().map(|block| block.buffer.0)
    }

    fn query(&self, address: u64) -> Option<PointerInfo> {
        self.0.shared.memory.query(&self.0, address)
    }
}
