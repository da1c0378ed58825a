//! Devices, here and elsewhere.

use super::commands::Commands;
use super::lane::{Kernels, WorldLane};
use super::note::{LaneName, Note};
use super::state::{LaneState, Shared};
use super::{PATIENCE, Stay};
use folio_core::hal::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Between ranks, before anything is known of it: as a fast network, and all ranks say the same.
const NETWORK: Link = Link { bytes_per_us: 10_000, op_ns: 20_000 };

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A device of this rank, by the number that its backend has for it.
    Here(u32),
    There(Rank),
    Host,
}

/// Where memory is, for rank `me` of ranks with `each` devices.
pub(crate) fn place_of(memory: &MemRef, me: Rank, each: u32) -> Place {
    match memory.base {
        MemBase::Host(_) => Place::Host,
        MemBase::Device { device, .. } if device / each == me => Place::Here(device % each),
        MemBase::Device { device, .. } => Place::There(device / each),
    }
}

/// The devices of a backend on all ranks.
pub(crate) struct WorldBackend {
    own: Arc<Own>,
    infos: OnceLock<Result<Vec<DeviceInfo>, Unavailable>>,
}

/// The devices that this rank has.
pub(crate) struct Own {
    backend: Arc<dyn Backend>,
    pub(crate) number: u32,
    pub(crate) shared: Arc<Shared>,
    /// How many there are on each rank; 1 at least.
    pub(crate) each: OnceLock<u32>,
    opened: Mutex<HashMap<u32, Arc<dyn Device>>>,
    _stay: Arc<Stay>,
}

impl Own {
    pub(crate) fn each(&self) -> u32 {
        self.each.get().copied().unwrap_or(1)
    }

    /// An opened device of this rank.
    pub(crate) fn here(&self, device: u32) -> Option<Arc<dyn Device>> {
        self.opened().get(&device).cloned()
    }

    fn opened(&self) -> MutexGuard<'_, HashMap<u32, Arc<dyn Device>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A device of this rank, opened if it is not.
    ///
    /// # Safety
    /// As for [`Backend::open`].
    unsafe fn open(&self, device: u32, notify: Notify) -> Result<Arc<dyn Device>, HalError> {
        let mut opened = self.opened();
        if let Some(device) = opened.get(&device) {
            return Ok(device.clone());
        }
        // SAFETY: the caller's promise; each is opened once.
        let made = unsafe { self.backend.open(device as usize, notify) }?;
        opened.insert(device, made.clone());
        Ok(made)
    }
}

impl WorldBackend {
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        number: u32,
        shared: Arc<Shared>,
        stay: Arc<Stay>,
    ) -> WorldBackend {
        let (each, opened) = Default::default();
        let own = Arc::new(Own { backend, number, shared, each, opened, _stay: stay });
        own.shared.lock().backends.insert(number, Arc::downgrade(&own));
        WorldBackend { own, infos: OnceLock::new() }
    }

    /// Tells the others which devices there are, and waits for theirs.
    fn agree(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        let Own { backend, number, shared, each, .. } = &*self.own;
        let (backend, number) = (backend.devices(), *number);
        let found = backend.as_ref().map_or(&[][..], Vec::as_slice);
        let count = found.len() as u32;
        let mut state = shared.lock();
        let hello = |index, memory| (None, Note::Hello { backend: number, count, index, memory });
        if found.is_empty() {
            state.outbox.push(hello(0, 0));
        }
        let all = found.iter().enumerate().map(|(index, info)| hello(index as u32, info.memory));
        state.outbox.extend(all);
        shared.wake.notify_all();
        let mut infos: Vec<DeviceInfo> = Vec::new();
        let mut memories: Vec<u64> = found.iter().map(|info| info.memory).collect();
        for rank in (0..shared.ranks).filter(|rank| *rank != shared.me) {
            let theirs = loop {
                if let Some(why) = &state.apart {
                    return Err(Unavailable::new(&**why));
                }
                let told = state.hellos.get(&(number, rank));
                if let Some(all) =
                    told.and_then(|all| all.iter().copied().collect::<Option<Vec<_>>>())
                {
                    break all;
                }
                state = shared.wait_for(state, PATIENCE);
            };
            if theirs.len() != found.len() {
                let (me, ours, there) = (shared.me, found.len(), theirs.len());
                return Err(Unavailable::new(format!(
                    "rank {me} has {ours} devices and rank {rank} has {there}: all ranks have as many"
                )));
            }
            for (ours, theirs) in memories.iter_mut().zip(theirs) {
                *ours = (*ours).min(theirs);
            }
        }
        drop(state);
        let found = backend?;
        let _ = each.set(count.max(1));
        for rank in 0..shared.ranks {
            for (info, memory) in found.iter().zip(&memories) {
                infos.push(presented(info, (rank, shared.ranks), infos.len() as u32, *memory));
            }
        }
        Ok(infos)
    }
}

/// A device of a rank as all ranks see it: what would have them submit different commands at
/// different times is left out.
fn presented(info: &DeviceInfo, rank: (Rank, Rank), index: u32, memory: u64) -> DeviceInfo {
    let mut info = info.clone();
    if rank.1 > 1 {
        info.name = format!("{} of rank {}", info.name, rank.0);
    }
    (info.home, info.memory) = (MemoryHome::Own(index), memory);
    let caps = &mut info.caps;
    (caps.wait_group, caps.unified, caps.native) = (Some(WaitGroup(0)), false, None);
    (caps.captures, caps.conditions, caps.hints, caps.exports) = (false, false, false, false);
    (caps.compute_lanes, caps.copy_lanes) = (1, true);
    (caps.links, caps.frame, caps.budget, caps.courier) = (None, None, None, None);
    (caps.batches, caps.one_at_a_time, caps.notifies) = (false, false, true);
    (caps.shapes, caps.timing) = (1, false);
    info
}

// SAFETY: the devices keep the contract, see there.
unsafe impl Backend for WorldBackend {
    fn name(&self) -> &str {
        self.own.backend.name()
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        self.infos.get_or_init(|| self.agree()).clone()
    }

    unsafe fn open(&self, index: usize, notify: Notify) -> Result<Arc<dyn Device>, HalError> {
        let infos =
            self.devices().map_err(|why| HalError::new(HalErrorKind::Driver, why.reason))?;
        let info = infos.get(index).ok_or_else(|| HalError::unsupported("a device"))?.clone();
        let index = index as u32;
        let (rank, number) = (index / self.own.each(), index % self.own.each());
        let here = match rank == self.own.shared.me {
            // SAFETY: the caller's promise.
            true => Some(unsafe { self.own.open(number, notify.clone()) }?),
            false => None,
        };
        let (lanes, live, kernels) = Default::default();
        let own = self.own.clone();
        let next = AtomicU64::new(1);
        Ok(Arc::new(WorldDevice {
            info,
            index,
            rank,
            here,
            own,
            notify,
            lanes,
            live,
            kernels,
            next,
        }))
    }
}

/// A device of a rank.
pub(crate) struct WorldDevice {
    info: DeviceInfo,
    index: u32,
    rank: Rank,
    /// The device itself, if it is here.
    here: Option<Arc<dyn Device>>,
    own: Arc<Own>,
    notify: Notify,
    /// How many lanes of each kind there are.
    lanes: Mutex<HashMap<LaneKind, u32>>,
    /// Sizes of what is allocated elsewhere, by handle.
    live: Mutex<HashMap<u64, u64>>,
    kernels: Arc<Kernels>,
    /// For handles.
    next: AtomicU64,
}

impl WorldDevice {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn commands(&self, act: impl FnOnce(&mut Commands)) {
        let mut state = self.own.shared.lock();
        let new = || Commands::new(self.rank, self.own.shared.me);
        act(state.commands.entry((self.own.number, self.index)).or_insert_with(new));
    }

    /// A device of this rank that is as this one.
    fn alike(&self) -> Result<Arc<dyn Device>, HalError> {
        // SAFETY: what is asked of it are properties; its memory and lanes are used by the device
        // of the world that stands for it.
        unsafe { self.own.open(self.index % self.own.each(), self.notify.clone()) }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// SAFETY: a device here is the rank's own, whose contract is passed on, but for copies that are
// messages: see `WorldLane`. One elsewhere has no memory and no work but these.
unsafe impl Device for WorldDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn usm(&self) -> &dyn UsmAllocator {
        self
    }

    fn lane(&self, kind: LaneKind, priority: i8) -> Result<Arc<dyn Lane>, HalError> {
        let nth = {
            let mut lanes = lock(&self.lanes);
            let count = lanes.entry(kind).or_default();
            *count += 1;
            *count - 1
        };
        let name = LaneName::new(self.own.number, self.index, kind, nth);
        // What goes to the host goes to all ranks, and what comes from peers may be a message.
        let direct = matches!(kind, LaneKind::Compute | LaneKind::Upload);
        let own = match &self.here {
            Some(here) if direct => Some(here.lane(kind, priority)?),
            _ => None,
        };
        let state =
            LaneState::new((self.rank, self.here.is_none()), self.notify.clone(), own.clone());
        self.own.shared.lock().lanes.insert(name, state);
        let (world, kernels) = (self.own.clone(), self.kernels.clone());
        Ok(Arc::new(WorldLane { name, rank: self.rank, own, world, kernels }))
    }

    fn load(&self, source: &KernelSource<'_>) -> Result<KernelHandle, HalError> {
        let handle = match &self.here {
            Some(here) => here.load(source)?,
            None => KernelHandle(self.number()),
        };
        self.kernels.loaded(handle, source);
        Ok(handle)
    }

    fn prepare(&self, handle: KernelHandle) -> Result<(), HalError> {
        self.here.as_ref().map_or(Ok(()), |here| here.prepare(handle))
    }

    fn unload(&self, handle: KernelHandle) {
        self.kernels.unloaded(handle);
        if let Some(here) = &self.here {
            here.unload(handle);
        }
    }

    fn check(
        &self,
        handle: KernelHandle,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), HalError> {
        self.here.as_ref().map_or(Ok(()), |here| here.check(handle, geometry, arguments))
    }

    fn peer(&self, other: &dyn Device) -> Option<Link> {
        let other = other.downcast_ref::<WorldDevice>()?;
        if self.rank != other.rank {
            return Some(NETWORK);
        }
        // All ranks have equal devices, so their own ones answer for those of others.
        let (one, other) = (self.alike().ok()?, other.alike().ok()?);
        one.peer(&*other)
    }
}

// SAFETY: handles here are the device's own; elsewhere they name nothing.
unsafe impl UsmAllocator for WorldDevice {
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        if req.kind != AllocKind::Device || req.import.is_some() || req.linked || req.exported {
            return Err(HalError::unsupported(
                "memory that is not a device's own, over many ranks",
            ));
        }
        let handle = match &self.here {
            Some(here) => here.usm().alloc(req)?.handle,
            None => {
                let mut live = lock(&self.live);
                let (in_use, total) = (live.values().sum::<u64>(), self.info.memory);
                if req.size > total.saturating_sub(in_use) {
                    return Err(HalError::out_of_memory(req.size, in_use, total));
                }
                let handle = self.number();
                live.insert(handle, req.size);
                handle
            }
        };
        self.commands(|commands| commands.allocated(handle));
        // A fill that one rank may leave out and another may not would be another command.
        Ok(Allocation { handle, address: None, host: None, zeroed: req.zeroed })
    }

    fn free(&self, handle: u64) {
        self.commands(|commands| commands.freed(handle));
        match &self.here {
            Some(here) => here.usm().free(handle),
            None => drop(lock(&self.live).remove(&handle)),
        }
    }

    fn memory(&self) -> MemoryInfo {
        match &self.here {
            Some(here) => here.usm().memory(),
            None => MemoryInfo { total: self.info.memory, in_use: lock(&self.live).values().sum() },
        }
    }

    fn trim(&self, most: u64) {
        if let Some(here) = &self.here {
            here.usm().trim(most);
        }
    }
}
