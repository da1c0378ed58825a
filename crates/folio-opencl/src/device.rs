//! A device: its lanes and its allocator.

use crate::graph::OpenClGraph;
use crate::lane::OpenClLane;
use crate::memory::{is_memory_of_buffers, with_room};
use crate::module::{Function, Target};
use crate::opaque::Opaque;
use crate::platform::{DeviceId, Found, Shared, Svm};
use folio_cache::Cache;
use folio_core::hal::{
    AllocReq, Allocation, Argument, Device, DeviceInfo, Geometry, Graph, HalError, HalErrorKind,
    KernelHandle, KernelSource, Lane, LaneKind, Link, Lost, MemoryInfo, Node, PointerInfo, Source,
    UsmAllocator,
};
use folio_core::ir::emit::Cut;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// What a device and its lanes share.
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
    pub(crate) lost: OnceLock<Lost>,
    /// It is lost, and nothing of it touches memory any more.
    gone: AtomicBool,
    lanes: Mutex<Vec<Weak<OpenClLane>>>,
}

/// What a handle stands for.
#[derive(Debug)]
pub(crate) enum Loaded {
    Function(Box<Function>),
    /// A kernel of the user's.
    Opaque(Opaque),
}

/// What is loaded, by the numbers of handles, which do not come again. A launch looks a number up
/// without a lock. Shelf `s` has room for `2^s`.
#[derive(Debug)]
struct Kernels<T> {
    shelves: [OnceLock<Box<[AtomicPtr<T>]>>; SHELVES],
    /// How many numbers have been given.
    count: Mutex<u64>,
}

/// Room for 16 million kernels.
const SHELVES: usize = 24;

/// The shelf of a number, and its place there.
fn place(number: u64) -> (usize, usize) {
    let shelf = number.saturating_add(1).ilog2();
    (shelf as usize, (number.saturating_add(1) - (1 << shelf)) as usize)
}

impl<T> Kernels<T> {
    fn new() -> Kernels<T> {
        Kernels { shelves: [const { OnceLock::new() }; SHELVES], count: Mutex::new(0) }
    }

    fn place(&self, number: u64) -> Option<&AtomicPtr<T>> {
        let (shelf, at) = place(number);
        self.shelves.get(shelf)?.get()?.get(at)
    }

    fn get(&self, number: u64) -> Option<&T> {
        let at = self.place(number)?.load(Ordering::Acquire);
        // SAFETY: null, or from `add`; `remove` takes it back when nothing uses this number any
        // more, which its caller promises.
        unsafe { at.as_ref() }
    }

    /// None if there is no room.
    fn add(&self, loaded: T) -> Option<u64> {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, (shelf, _)) = (*count, place(*count));
        let places = || (0..1usize << shelf).map(|_| AtomicPtr::default()).collect();
        self.shelves.get(shelf)?.get_or_init(places);
        self.place(number)?.store(Box::into_raw(Box::new(loaded)), Ordering::Release);
        *count += 1;
        Some(number)
    }

    /// Drops what a number stands for.
    ///
    /// # Safety
    /// No reference that [`get`](Self::get) has given for this number is used any more.
    unsafe fn remove(&self, number: u64) {
        let Some(place) = self.place(number) else { return };
        let at = place.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if !at.is_null() {
            // SAFETY: `add` made it from a box, and the swap has taken it once; the caller's
            // promise.
            drop(unsafe { Box::from_raw(at) });
        }
    }
}

impl<T> Drop for Kernels<T> {
    fn drop(&mut self) {
        for number in 0..*self.count.get_mut().unwrap_or_else(PoisonError::into_inner) {
            // SAFETY: `&mut self`: there are no references.
            unsafe { self.remove(number) };
        }
    }
}

impl Core {
    /// Kernels are given addresses, of words as well, where all devices of the context are CPUs
    /// that reach the host's memory: PoCL copies words by value for each launch, and keeps account
    /// of buffers.
    pub(crate) fn has_addresses(&self) -> bool {
        self.shared.cpus && self.cut == Cut::Cpu && self.svm == Svm::Fine
    }

    pub(crate) fn loaded(&self, handle: KernelHandle) -> Result<&Loaded, HalError> {
        let unknown = || HalError::new(HalErrorKind::Driver, "a kernel that is not loaded");
        self.kernels.get(handle.0).ok_or_else(unknown)
    }

    /// It takes no more. That is told when it is gone.
    pub(crate) fn lose(&self, error: &HalError) {
        let _ = self.lost.set(Lost::new(error.message.clone()));
    }

    /// What a call says that is of no lane. If that is a loss, the lanes know it from here on.
    pub(crate) fn told<T>(&self, answer: Result<T, HalError>) -> Result<T, HalError> {
        answer.inspect_err(|error| {
            if matches!(error.kind, HalErrorKind::Lost) {
                self.lose(error);
            }
        })
    }

    /// What calls say.
    pub(crate) fn lost(&self) -> Result<(), Lost> {
        self.lost.get().cloned().map_or(Ok(()), Err)
    }

    /// What lanes say: a loss is told when what is left of the device's commands is over.
    pub(crate) fn gone(&self) -> Result<(), Lost> {
        if self.gone.load(Ordering::Acquire) { self.lost() } else { Ok(()) }
    }

    fn lanes(&self) -> MutexGuard<'_, Vec<Weak<OpenClLane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
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
            kernels: Kernels::new(),
            lost: OnceLock::new(),
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
                Function::new(core, kernel).map(Box::new).map(Loaded::Function)
            }
            KernelSource::Opaque { name, source: Source::OpenClC(text), options } => {
                with_room(|| Opaque::new(core, name, text, options)).map(Loaded::Opaque)
            }
            KernelSource::Opaque { source, .. } => Err(HalError::unsupported(source.language())),
            _ => Err(HalError::unsupported("code of this kind")),
        })?;
        let full = || HalError::unsupported("more kernels");
        core.kernels.add(made).map(KernelHandle).ok_or_else(full)
    }

    fn prepare(&self, handle: KernelHandle) -> Result<(), HalError> {
        match self.0.loaded(handle)? {
            Loaded::Opaque(_) => Ok(()),
            Loaded::Function(function) => function.prepare(&self.0),
        }
    }

    fn unload(&self, handle: KernelHandle) {
        // SAFETY: every operation that names it has ended (the engine's part of the contract).
        unsafe { self.0.kernels.remove(handle.0) };
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
            Loaded::Function(function) => function.check(&self.0, geometry),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers have places of their own, shelf after shelf; what is not there is not found.
    #[test]
    fn kernels_have_places_of_their_own() {
        let places = (0..5000).map(place).collect::<Vec<_>>();
        assert_eq!(places[..4], [(0, 0), (1, 0), (1, 1), (2, 0)]);
        assert!(places.is_sorted() && places.windows(2).all(|two| two[0] != two[1]));
        assert!(places.iter().all(|(shelf, at)| *at < 1 << shelf));
        let kernels = Kernels::new();
        for number in 0..100 {
            assert_eq!(kernels.get(number), None);
            assert_eq!(kernels.add(number.to_string()), Some(number));
        }
        assert!((0..100).all(|number| kernels.get(number) == Some(&number.to_string())));
        for number in [100, 5000, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            assert_eq!(kernels.get(number), None);
        }
        for _ in 0..2 {
            // SAFETY: nothing of it is borrowed.
            unsafe { kernels.remove(7) };
        }
        assert_eq!((kernels.get(7), kernels.get(8)), (None, Some(&"8".to_owned())));
        assert_eq!(kernels.add("new".to_owned()), Some(100), "numbers do not come again");
    }
}
